max_value 3;
global x, y;
na d;
fn f {
	local r;
	L: skip;
	L: skip;
	goto M;
	if (r) goto N;
}
