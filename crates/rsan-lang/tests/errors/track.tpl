max_value 3;
global x;
track z: 1;
track x: 9;
fn f { skip; }
