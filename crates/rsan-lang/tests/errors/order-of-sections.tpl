global x;
max_value 3;
fn f { skip; }
