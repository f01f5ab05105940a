global x, x;
fn f { local r, r; skip; }
fn f { skip; }
