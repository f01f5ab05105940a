max_value 3;
global x, y;
na d;
fn f {
	local r;
	r = CAS(x, 0, 1, acq);
}
