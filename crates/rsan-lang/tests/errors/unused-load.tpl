max_value 3;
global x, y;
na d;
fn f {
	local r;
	x.load();
}
