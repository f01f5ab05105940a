//! Translations to C and Rust. That they mean the same as the source is tested by running them (`rsan/tests/translated`); here
//! is how they look.

use rsan_lang::emit::{Options, print, print_rust};
use rsan_lang::{Format, parse};
use rsan_model::{Domain, Instr, Program, RmwOp, Source, ThreadId};

fn program(format: Format, text: &str) -> Program {
    let source = Source::new("test", text);
    parse(&source, format).unwrap_or_else(|e| panic!("{}", e.render(&source, false)))
}

fn translated(format: Format, text: &str) -> String {
    print(&program(format, text), Options::default()).expect("it can be written in C")
}

fn in_rust(format: Format, text: &str) -> String {
    print_rust(&program(format, text), Options::default()).expect("it can be written in Rust")
}

/// The lines, without indentation and places.
fn code(text: &str) -> Vec<&str> {
    let strip = |line| str::split(line, "//").next().unwrap_or(line).trim();
    text.lines().map(strip).filter(|l| !l.is_empty()).collect()
}

#[track_caller]
fn assert_has(text: &str, lines: &[&str]) {
    let code = code(text);
    let found = code.windows(lines.len()).any(|window| window == lines);
    assert!(found, "no {lines:#?} in\n{text}");
}

#[test]
fn control_flow_is_structured_again() {
    let text = translated(
        Format::CLitmus,
        "C t\n{}\nP0 (atomic_int* x) {\n  int r = 0;\n  while (r < 3) {\n    if (r == 1) { r = 2; } else { r = 3; }\n    *x = r;\n  }\n  \
         do { r = atomic_load_explicit(x, memory_order_relaxed); } while (r == 0);\n}\n",
    );
    assert_has(
        &text,
        &[
            "while (r < 3) {",
            "if (r == 1) {",
            "r = 2;",
            "} else {",
            "r = 3;",
            "}",
            "*(volatile int *)&x = r;",
            "}",
        ],
    );
    assert!(!text.contains("goto"), "{text}");
}

#[test]
fn jumps_that_are_no_statement_are_gotos() {
    let text = translated(
        Format::Tpl,
        "max_value 1;\nglobal x;\nfn f {\n    local r;\n    goto middle;\n    top: x.store(1, rel);\n    \
         middle: r = x.load(acq);\n    if (r == 0) goto top;\n}\n",
    );
    assert!(text.contains("goto label_"), "{text}");
    assert!(!text.contains("ROUNDS"), "the loop can be left\n{text}");
}

#[test]
fn values_keep_their_domain() {
    let text = translated(
        Format::Tpl,
        "max_value 2;\nglobal x;\nfn f {\n    local r;\n    r = FADD(x, -1);\n    r = r + 1;\n    x.store(r);\n}\n",
    );
    assert_has(
        &text,
        &[
            "r = wrap(atomic_fetch_add_explicit(&x, 2, memory_order_relaxed));",
            "r = wrap(r + 1);",
            "atomic_store_explicit(&x, r, memory_order_relaxed);",
        ],
    );
    let text = translated(
        Format::CLitmus,
        "C t\n{}\nP0 (atomic_int* x) {\n  int r = 1;\n  r = r + 1;\n  r = r == 1 && r < 2;\n}\n",
    );
    assert_has(
        &text,
        &["r = (int)((long long)r + 1);", "r = (r == 1) && (r < 2);"],
    );
}

#[test]
fn names_that_c_has_are_changed() {
    let text = translated(
        Format::Tpl,
        "max_value 1;\nglobal y1, int, top;\nfn main {\n    local top2;\n    top2 = y1.load(acq);\n    \
         int.store(top2, rel);\n    top.store(1, rel);\n}\n",
    );
    assert_has(
        &text,
        &[
            "static atomic_int y1_ = 0;",
            "static atomic_int int_ = 0;",
            "static atomic_int top = 0;",
        ],
    );
    assert!(
        text.contains("static void *main_(void *unused) {"),
        "{text}"
    );
}

#[test]
fn what_c_does_not_have_is_refused() {
    let text = "max_value 2;\nglobal x;\nfn f {\n    FADD(x, 1);\n}\n";
    let mut or = program(Format::Tpl, text);
    for instr in &mut or.threads[0].code {
        if let Instr::Rmw { op, .. } = instr {
            *op = RmwOp::Or;
        }
    }
    let error = print(&or, Options::default()).expect_err("3 is no power of two");
    assert!(error.to_string().contains("from 0 to 2"), "{error}");
    or.domain = Domain::Modulo(4);
    assert!(print(&or, Options::default()).is_ok());
    let mut join = program(Format::Tpl, text);
    join.threads[0].code.insert(0, Instr::Join(ThreadId(0)));
    join.threads[0].spans.insert(0, Default::default());
    assert!(print(&join, Options::default()).is_err());
}

#[test]
fn control_flow_is_structured_in_rust() {
    let text = in_rust(
        Format::CLitmus,
        "C t\n{}\nP0 (atomic_int* x) {\n  int r = 0;\n  while (r < 3) {\n    if (r == 1) { r = 2; } else { r = 3; }\n    *x = r;\n  }\n  \
         do { r = atomic_load_explicit(x, memory_order_relaxed); } while (r == 0);\n}\n",
    );
    assert_has(
        &text,
        &[
            "while r < 3 {",
            "if r == 1 {",
            "r = 2;",
            "} else {",
            "r = 3;",
            "}",
            "plain(&x).write(r);",
            "}",
            "loop {",
            "r = x.load(Ordering::Relaxed);",
            "if !(r == 0) {",
            "break;",
            "}",
            "}",
        ],
    );
}

#[test]
fn jumps_that_are_no_statement_of_rust_are_flat_code() {
    let text = in_rust(
        Format::Tpl,
        "max_value 1;\nglobal x;\nfn f {\n    local r;\n    goto middle;\n    top: x.store(1, rel);\n    \
         middle: r = x.load(acq);\n    if (r == 0) goto top;\n}\n",
    );
    assert_has(
        &text,
        &[
            "let mut next = 0;",
            "'body: loop {",
            "match next {",
            "0 => {",
        ],
    );
    assert!(!text.contains("ROUNDS"), "the loop can be left\n{text}");
}

#[test]
fn values_keep_their_domain_and_type_in_rust() {
    let text = in_rust(
        Format::Tpl,
        "max_value 2;\nglobal x;\nfn f {\n    local r;\n    r = FADD(x, -1);\n    r = r + 1;\n    x.store(r);\n}\n",
    );
    assert_has(
        &text,
        &[
            "r = wrap(i64::from(x.fetch_add(2, Ordering::Relaxed) as u32));",
            "r = wrap(i64::from(r + 1));",
            "x.store(r, Ordering::Relaxed);",
        ],
    );
    let text = in_rust(
        Format::CLitmus,
        "C t\n{}\nP0 (atomic_int* x) {\n  int r = 1;\n  r = r + 1;\n  r = r == 1 && r < 2;\n  if (r) { r = !r + (r < 1); }\n}\n",
    );
    assert_has(
        &text,
        &[
            "r = (i64::from(r) + 1) as i32;",
            "r = i32::from((r == 1) && (r < 2));",
            "if r != 0 {",
            "r = i32::from(!(r != 0)) + i32::from(r < 1);",
        ],
    );
}

#[test]
fn names_that_rust_has_are_changed() {
    let text = in_rust(
        Format::Tpl,
        "max_value 1;\nglobal y1, match, a;\nfn main {\n    local seen;\n    seen = y1.load(acq);\n    \
         match.store(seen, rel);\n    a.store(1, rel);\n}\n",
    );
    assert_has(
        &text,
        &[
            "static y1: AtomicI32 = AtomicI32::new(0);",
            "static match_: AtomicI32 = AtomicI32::new(0);",
            "static a_: AtomicI32 = AtomicI32::new(0);",
        ],
    );
    assert!(text.contains("fn main_() {"), "{text}");
    assert!(text.contains("let mut seen_: i32 = 0;"), "{text}");
}
