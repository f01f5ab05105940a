max_value 3;
global x, y;
na d;
fn f {
	local r;
	r = d.load();
	x.nastore(1);
	FADD(d, 1);
}
