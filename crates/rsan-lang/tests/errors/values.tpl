max_value 3;
global x=4;
fn f { skip; }
