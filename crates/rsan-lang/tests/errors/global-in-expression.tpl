max_value 3;
global x, y;
na d;
fn f {
	local r;
	r = x + 1;
	if (y) { skip; }
}
