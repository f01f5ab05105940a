//! Absurd input gets a refusal with a place, soon and cheaply.

use rsan_lang::{Format, parse};
use rsan_model::Source;

fn refused(text: &str, format: Format, because: &str) {
    let source = Source::new("absurd", text);
    let errors = parse(&source, format).expect_err("refused");
    let message = &errors.first().message;
    assert!(message.contains(because), "{message}");
    assert!(errors.first().span.end as usize <= text.len());
    assert!(errors.render(&source, false).len() < 20_000);
}

fn c(body: &str) -> String {
    format!("C t\n{{}}\nP0 (atomic_int* x, int* d) {{ {body} }}")
}

fn tpl(body: &str) -> String {
    format!("global x; fn f {{ local r; {body} }}")
}

#[test]
fn texts_that_are_too_long() {
    let text = " ".repeat((1 << 20) + 1);
    for format in Format::ALL {
        refused(&text, format, "longer than");
    }
}

#[test]
fn ten_thousand_threads() {
    let processes: String = (0..10_000).map(|i| format!("P{i} () {{ }}\n")).collect();
    refused(
        &format!("C t\n{{}}\n{processes}"),
        Format::CLitmus,
        "too many processes",
    );
    let functions: String = (0..10_000)
        .map(|i| format!("fn f{i} {{ skip; }}"))
        .collect();
    refused(
        &format!("global x; {functions}"),
        Format::Tpl,
        "too many threads",
    );
    refused(
        &vec!["fence.sc"; 10_000].join(" || "),
        Format::Mini,
        "too many threads",
    );
}

#[test]
fn deep_nesting() {
    let n = 100_000;
    let nested = |open: &str, middle: &str, close: &str| {
        format!("{}{middle}{}", open.repeat(n), close.repeat(n))
    };
    for text in [
        format!("int r = {};", nested("(", "1", ")")),
        format!("int r = {};", nested("!", "1", "")),
        format!("int r = {};", nested("-", "1", "")),
        format!("int r = {};", nested("(int)", "1", "")),
        format!("int r = {};", nested("1 ? 1 : ", "1", "")),
        format!("int r = {};", nested("1 ? ", "1", ": 1")),
        format!("int r; {};", nested("r = ", "1", "")),
        format!("int r = {};", nested("d[", "1", "]")),
        format!("int r = {};", nested("f(", "1", ")")),
        nested("{", "", "}"),
        nested("if (1) ", ";", ""),
        nested("while (1) ", ";", ""),
        nested("do ", ";", " while (1);"),
        nested("for (;;) ", ";", ""),
        nested("if (1) ; else { ", ";", "}"),
    ] {
        let text = c(&text);
        refused(
            &text[..text.len().min(1 << 20)],
            Format::CLitmus,
            "levels deep",
        );
    }
    let condition = format!("{}\nexists {}", c(""), nested("(", "x=1", ")"));
    refused(&condition, Format::CLitmus, "levels deep");
    let negations = format!("{}\nexists {}", c(""), nested("~", "x=1", ""));
    refused(&negations, Format::CLitmus, "levels deep");
    let implications = format!("{}\nexists {}", c(""), nested("x=1 => ", "x=1", ""));
    refused(&implications, Format::CLitmus, "levels deep");
    for text in [
        format!("r = {};", nested("(", "1", ")")),
        format!("r = {};", nested("!", "1", "")),
        format!("r = {};", nested("r[", "1", "]")),
        nested("if (r) {", "skip;", "}"),
        nested("while (r) {", "skip;", "}"),
        nested("oneof({", "skip;", "});"),
    ] {
        let text = tpl(&text);
        refused(&text[..text.len().min(1 << 20)], Format::Tpl, "levels deep");
    }
}

#[test]
fn long_chains_of_operators() {
    let sum = vec!["r"; 100_000].join(" + ");
    refused(
        &c(&format!("int r = 0; r = {sum};")),
        Format::CLitmus,
        "levels",
    );
    refused(&tpl(&format!("r = {sum};")), Format::Tpl, "levels");
    let lazy = vec!["atomic_load(x)"; 10_000].join(" && ");
    refused(&c(&format!("int r = {lazy};")), Format::CLitmus, "levels");
}

#[test]
fn enormous_arrays() {
    for text in [
        "C t\n{ int a[1000000000]; }\nP0 () { }",
        "C t\n{}\nP0 (atomic_int a[1000000000]) { }",
        "C t\n{}\nP0 () { int a[1000000000]; }",
        "C t\n{}\nP0 () { int a[0]; }",
        "C t\n{}\nP0 () { int a[-1]; }",
    ] {
        refused(text, Format::CLitmus, "between 1 and 1024 elements");
    }
    let two = "C t\n{ int a[600]; int b[600]; }\nP0 () { }";
    refused(two, Format::CLitmus, "too many shared locations");
    let two = "C t\n{}\nP0 () { int a[600]; int b[600]; }";
    refused(two, Format::CLitmus, "too many local variables");
    let values = vec!["1"; 5_000].join(",");
    let text = format!("C t\n{{}}\nP0 () {{ int a[] = {{ {values} }}; }}");
    refused(&text, Format::CLitmus, "too many array elements");
}

#[test]
fn many_variables() {
    let names: Vec<String> = (0..5_000).map(|i| format!("v{i}")).collect();
    let list = names.join(", ");
    refused(
        &c(&format!("int {list};")),
        Format::CLitmus,
        "too many local variables",
    );
    refused(
        &format!("global {list}; fn f {{ skip; }}"),
        Format::Tpl,
        "too many global",
    );
    let locals = format!("global x; fn f {{ local {list}; skip; }}");
    refused(&locals, Format::Tpl, "too many local variables");
    let stores: Vec<String> = names.iter().map(|v| format!("st.rlx {v} 1")).collect();
    refused(&stores.join(";"), Format::Mini, "too many locations");
    refused("ld.rlx r4000000000 x", Format::Mini, "last register");
}

#[test]
fn long_threads() {
    let n = 20_000;
    refused(
        &c(&"*d=1;".repeat(n)),
        Format::CLitmus,
        "too many instructions",
    );
    refused(
        &tpl(&"fence;".repeat(n)),
        Format::Tpl,
        "too many instructions",
    );
    refused(
        &"fence.sc;".repeat(n),
        Format::Mini,
        "too many instructions",
    );
    let writes = "int a[1000]; int i; ".to_owned() + &"a[i] = 1; ".repeat(n);
    refused(&c(&writes), Format::CLitmus, "too many instructions");
}

#[test]
fn large_numbers() {
    for number in [
        "2147483648",
        "9223372036854775807",
        "99999999999999999999",
        "0xFFFFFFFF",
    ] {
        refused(
            &c(&format!("int r = {number};")),
            Format::CLitmus,
            "32 bits",
        );
        refused(&tpl(&format!("r = {number};")), Format::Tpl, "32 bits");
        refused(&format!("st.rlx x {number}"), Format::Mini, "32 bits");
    }
    refused(
        "max_value 2147483647; global x; fn f { skip; }",
        Format::Tpl,
        "largest value",
    );
    refused(
        "max_value 0; global x; fn f { skip; }",
        Format::Tpl,
        "largest value",
    );
    refused(
        "C t\n{ x=3000000000; }\nP0 () { }",
        Format::CLitmus,
        "32 bits",
    );
}

#[test]
fn large_loop_counts_are_only_numbers_here() {
    let source = Source::new("loop", c("for (int i = 0; i < 1000000000; i++) ;"));
    let program = parse(&source, Format::CLitmus).expect("accepted");
    assert!(program.threads[0].code.len() < 10);
}

#[test]
fn many_errors_are_cut_short() {
    let source = Source::new("errors", c(&"nobody = 1; ".repeat(1_000)));
    let errors = parse(&source, Format::CLitmus).expect_err("refused");
    assert_eq!(errors.iter().count(), 20);
    let source = Source::new("errors", tpl(&"nobody = 1; ".repeat(1_000)));
    let errors = parse(&source, Format::Tpl).expect_err("refused");
    assert_eq!(errors.iter().count(), 20);
}
