max_value 3;
global x, y;
na d;
fn f {
	local r;
	r = z.load();
	s = 1;
	r = t + 1;
	r.store(1);
}
