// Robust (read-modify-writes order everything), with more states than anybody waits for.
max_value 255;
global a, b, c, d;

fn p0 { while (1) { FADD(a, 1, acq, rel); FADD(b, 3, acq, rel); } }
fn p1 { while (1) { FADD(b, 1, acq, rel); FADD(c, 3, acq, rel); } }
fn p2 { while (1) { FADD(c, 1, acq, rel); FADD(d, 3, acq, rel); } }
fn p3 { while (1) { FADD(d, 1, acq, rel); FADD(a, 3, acq, rel); } }
