//! C litmus tests: expressions, control flow, local variables.

use crate::interpreter::{End, ends, only_end, read};
use rsan_lang::Format;
use rsan_model::{Instr, Program};

/// The program of one process with the parameters `x`, `y` (atomic) and `d` (plain).
fn body(text: &str) -> Program {
    let text = format!("C t\n{{}}\nP0 (atomic_int* x, atomic_int* y, int* d) {{ {text} }}");
    read(&text, Format::CLitmus)
}

/// The final value of the local `r`.
fn result(text: &str) -> i32 {
    let end = only_end(&body(&format!("int r; {text}")));
    let value = end.iter().find_map(|v| v.strip_prefix("0:r="));
    value.expect("a local r").parse().expect("a number")
}

#[test]
fn operators_and_their_precedence() {
    for (text, value) in [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("7 - 2 - 1", 4),
        ("-7 / 2", -3),
        ("-7 % 3", -1),
        ("1 << 3 | 1", 9),
        ("6 & 3 == 3", 0),
        ("6 ^ 3", 5),
        ("~0", -1),
        ("!5 + 1", 1),
        ("1 < 2 == 1", 1),
        ("3 >= 3 && 2 != 2", 0),
        ("0 || 2", 1),
        ("1 ? 2 : 3", 2),
        ("0 ? 1 : 0 ? 2 : 3", 3),
        ("(int) 4 + (bool) 7", 5),
        ("+3", 3),
        ("010 + 0x10", 24),
        ("-2147483648 + 1", -2_147_483_647),
        ("(1, 2)", 2),
        ("true + true", 2),
    ] {
        assert_eq!(result(&format!("r = {text};")), value, "{text}");
        let through_variables = format!("int one = 1; r = one * ({text});");
        assert_eq!(result(&through_variables), value, "{text}");
    }
}

#[test]
fn the_right_side_of_a_lazy_operator_is_left_alone() {
    for text in [
        "z != 0 && 4 / z == 1",
        "z == 0 || 4 / z == 1",
        "z ? 4 / z : 0",
    ] {
        let program = body(&format!("int z = 0; int r = {text};"));
        assert!(!ends(&program).contains(&End::Trap), "{text}");
    }
    assert!(ends(&body("int z = 0; int r = 4 / z;")).contains(&End::Trap));
}

#[test]
fn accesses_behind_lazy_operators_happen_only_when_needed() {
    let count = |text: &str| {
        let text = format!("atomic_store(y, 1); int r = {text};");
        let end = only_end(&body(&text));
        (end[0].clone(), end.last().cloned().expect("a local"))
    };
    let step = "atomic_fetch_add(x, 1) == 0";
    for (text, x, r) in [
        (format!("atomic_load(y) == 1 && {step}"), 1, 1),
        (format!("atomic_load(y) == 0 && {step}"), 0, 0),
        (format!("atomic_load(y) == 1 || {step}"), 0, 1),
        (format!("!(atomic_load(y) == 0 || {step})"), 1, 0),
        (
            "atomic_load(y) ? 5 : atomic_fetch_add(x, 1)".to_owned(),
            0,
            5,
        ),
        (format!("(atomic_load(y) == 1 && {step}) + 1"), 1, 2),
    ] {
        assert_eq!(
            count(&text),
            (format!("x={x}"), format!("0:r={r}")),
            "{text}"
        );
    }
}

#[test]
fn assignments_are_expressions() {
    assert_eq!(result("int s; r = s = 3; r += s;"), 6);
    assert_eq!(
        result("r = 5; r -= 2; r *= 4; r /= 3; r %= 3; r <<= 2; r |= 3; r &= 5; r ^= 1; r >>= 1;"),
        2
    );
    assert_eq!(result("int i = 3; r = i++ * 10 + 0 * i;"), 30);
    assert_eq!(result("int i = 3; r = --i * 10;"), 20);
    assert_eq!(
        result("for (r = 0, d[0] = 1; r < 4; r++, *d += 2) ; r = *d;"),
        9
    );
}

#[test]
fn loops_with_break_and_continue() {
    assert_eq!(result("while (r < 10) { r++; if (r == 4) break; }"), 4);
    assert_eq!(result("do r += 3; while (r < 7);"), 9);
    let odd = "for (int i = 0; i < 6; ++i) { if (i % 2 == 0) continue; r += i; }";
    assert_eq!(result(odd), 1 + 3 + 5);
    assert_eq!(
        result("do { r++; if (r == 2) continue; } while (r < 2);"),
        2
    );
    assert_eq!(result("for (;;) { if (++r == 3) break; }"), 3);
    let nested = "while (1) { while (1) { r++; break; } if (r > 2) { break; } }";
    assert_eq!(result(nested), 3);
}

#[test]
fn chains_of_else_if() {
    for (value, expected) in [(0, 10), (1, 11), (2, 12), (3, 13)] {
        let text = format!(
            "int v = {value}; if (v == 0) r = 10; else if (v == 1) r = 11; else if (v == 2) {{ r = 12; }} else r = 13;"
        );
        assert_eq!(result(&text), expected);
    }
    assert_eq!(result("if (1) if (0) r = 1; else r = 2;"), 2);
}

#[test]
fn spinning_on_a_load_in_the_condition() {
    let program = read(
        "C t\n{}\n\
         P0 (atomic_int* x) { while (atomic_load_explicit(x, memory_order_acquire) != 1) {} }\n\
         P1 (atomic_int* x) { atomic_store(x, 1); }",
        Format::CLitmus,
    );
    assert_eq!(program.threads[0].code.len(), 3);
    assert_eq!(only_end(&program), ["x=1"]);
}

#[test]
fn return_ends_the_process() {
    assert_eq!(result("r = 1; return; r = 2;"), 1);
}

#[test]
fn assertions_and_assumptions() {
    assert!(ends(&body("assert(1 == 2);")).contains(&End::AssertionFailed));
    assert_eq!(result("assume(r == 1); r = 5;"), 0);
    assert!(ends(&body("assert(atomic_load(x) == 0 && *d == 0);")).len() == 1);
}

#[test]
fn scopes() {
    assert_eq!(
        result("int a = 1; { int a = 2; r = a; } r = 10 * r + a;"),
        21
    );
    assert_eq!(
        result("for (int i = 0; i < 2; i++) r += 1; for (int i = 5; i < 6; i++) r += i;"),
        7
    );
    let program = body("{ int t = 1; } { int t = 2; } { int t[2]; }");
    let names: Vec<&str> = program.threads[0]
        .registers
        .iter()
        .map(|r| r.name.as_str())
        .collect();
    assert_eq!(names, ["t", "t[0]", "t[1]"]);
}

#[test]
fn a_variable_without_a_value_starts_at_zero_each_time() {
    assert_eq!(
        result("for (int i = 0; i < 3; i++) { int t; t += 1; r += t; }"),
        3
    );
    assert_eq!(result("{ int t = 5; } int t; r = t;"), 0);
}

#[test]
fn local_arrays() {
    assert_eq!(
        result("int a[3] = {1, 2}; r = a[0] + 10 * a[1] + 100 * a[2];"),
        21
    );
    let dynamic =
        "int a[3]; for (int i = 0; i < 3; i++) a[i] = i + 1; int j = 2; r = a[j] * a[j - 1];";
    assert_eq!(result(dynamic), 6);
    assert_eq!(
        result("int a[] = {4, 5}; a[1] += 2; r = a[1]++; r = r * 10 + a[1];"),
        78
    );
    for wild in [
        "int i = 2; int a[2]; a[i] = 1;",
        "int i = -1; int a[2]; int r = a[i];",
    ] {
        assert!(ends(&body(wild)).contains(&End::Trap), "{wild}");
    }
}

#[test]
fn booleans_hold_zero_or_one() {
    assert_eq!(result("bool b = 5; r = b;"), 1);
    assert_eq!(result("_Bool b; b = 4; b += 3; r = b;"), 1);
    assert_eq!(
        result("atomic_store(x, 8); bool b = atomic_load(x); r = b;"),
        1
    );
}

#[test]
fn temporaries_have_names_that_no_source_can_spell() {
    let program = body("int r = atomic_load(x) + atomic_load(y); r = *d + *d;");
    let names: Vec<&str> = program.threads[0]
        .registers
        .iter()
        .map(|r| r.name.as_str())
        .collect();
    assert_eq!(names, ["r", "%1", "%2"]);
}

#[test]
fn each_instruction_knows_the_call_it_comes_from() {
    let program = body("int r = atomic_load(x) + *d; if (r == 1) { *d = 2; }");
    let source = program.source.as_ref().expect("a source");
    let texts: Vec<&str> = program.threads[0]
        .spans
        .iter()
        .map(|s| source.slice(*s))
        .collect();
    assert_eq!(
        texts,
        [
            "atomic_load(x)",
            "*d",
            "int r = atomic_load(x) + *d",
            "r == 1",
            "*d = 2"
        ]
    );
}

#[test]
fn comments_and_parenthesised_dereferences_are_told_apart() {
    assert_eq!(
        result("*d = 4; r = (*d) + 1; (* a comment *) /* another */ r++; // and one more\n"),
        6
    );
}

#[test]
fn constant_conditions_cost_nothing() {
    let program = body("while (1) { atomic_store(x, 1); }");
    assert!(matches!(
        program.threads[0].code[..],
        [Instr::Store { .. }, Instr::Jump(rsan_model::Pc(0))]
    ));
}
