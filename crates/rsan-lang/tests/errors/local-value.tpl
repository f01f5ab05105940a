global x;
fn f { local r = 1; skip; }
