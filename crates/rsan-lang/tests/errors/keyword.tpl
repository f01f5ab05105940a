global wait;
fn f { skip; }
