max_value 3;
global x, y;
na d;
fn f {
	local r;
	if (r) { skip; } else if (r) { skip; }
}
