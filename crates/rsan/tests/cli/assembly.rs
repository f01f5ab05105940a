//! Litmus tests of machines: assembly, and C with `--arch`.

use crate::common::{Run, root, rsan};
use crate::contract::with_stdin;
use serde_json::Value;

fn run(args: &[&str]) -> Run {
    let output = rsan(&root()).args(args).output();
    Run::from(output.expect("rsan starts"))
}

fn litmus(args: &[&str]) -> Run {
    run(&[&["litmus"][..], args].concat())
}

/// A test of the corpus.
fn hardware(test: &str) -> String {
    format!("litmus/hardware/{test}.litmus")
}

/// Runs a test that is given on standard input.
fn answer(text: &str) -> Run {
    with_stdin(&["litmus", "-"], text.as_bytes())
}

#[test]
fn a_test_is_answered_by_the_model_of_its_machine() {
    for (test, allowed) in [
        ("aarch64/SB+dmb.sy+dmb.sy", false),
        ("aarch64/SB+rel-acqpc+rel-acqpc", true),
        ("arm/IRIW+addr+addr", true),
        ("x86/SB+po+po", true),
        ("x86/MP+po+po", false),
        ("riscv/SB+fence.tso+fence.tso", true),
        ("ppc/IRIW+sync+sync", false),
    ] {
        let run = litmus(&[&hardware(test)]);
        assert_eq!(run.code, i32::from(!allowed), "{test}\n{}", run.stderr);
        let sc = litmus(&["--model", "sc", &hardware(test)]);
        assert_eq!(sc.code, 1, "{test}");
    }
}

#[test]
fn the_document_names_the_machine() {
    let run = litmus(&["--format", "json", &hardware("ppc/SB+sync+sync")]);
    let document: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(document["model"], "power");
    assert_eq!(document["litmus"]["condition"]["observation"], "Never");
    let states = document["litmus"]["states"].as_array().expect("states");
    assert_eq!(states.len(), 3);
}

#[test]
fn models_of_other_machines_are_refused() {
    let arm = hardware("aarch64/SB+po+po");
    for (args, part) in [
        (
            &["--model", "x86"][..],
            "use `--model armv8` or `--model sc`",
        ),
        (
            &["--model", "c20"][..],
            "use `--model armv8` or `--model sc`",
        ),
        (&["--arch", "armv8"][..], "this one is assembly of ARMv8"),
    ] {
        let run = litmus(&[args, &[&*arm][..]].concat());
        assert_eq!(run.code, 2, "{args:?}");
        assert!(run.stderr.contains(part), "{}", run.stderr);
    }
    let c = "litmus/basic/sb-ra.litmus";
    let run = litmus(&["--model", "armv8", c]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("`--arch armv8` compiles this test"),
        "{}",
        run.stderr
    );
    let run = litmus(&["--model", "arm", c]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("armv8"), "{}", run.stderr);
}

#[test]
fn c_tests_are_compiled() {
    let mp = "litmus/basic/mp-rlx.litmus";
    let observed = |arch: &str, test: &str| {
        let run = litmus(&["--format", "json", "--arch", arch, test]);
        let document: Value = serde_json::from_str(&run.stdout).expect("JSON");
        assert_eq!(document["litmus"]["arch"], arch);
        document["litmus"]["condition"]["observation"].clone()
    };
    for (arch, expected) in [
        ("x86", "Never"),
        ("sc", "Never"),
        ("armv8", "Sometimes"),
        ("armv7", "Sometimes"),
        ("riscv", "Sometimes"),
        ("power", "Sometimes"),
    ] {
        assert_eq!(observed(arch, mp), expected, "{arch}");
    }
    for arch in [
        "armv8",
        "armv8+rcpc",
        "armv8+lse",
        "power+trailing",
        "x86+mfence",
    ] {
        assert_eq!(
            observed(arch, "litmus/basic/mp-ra.litmus"),
            "Never",
            "{arch}"
        );
    }
    let run = litmus(&["--arch", "armv8+mfence", mp]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("armv8+rcpc"), "{}", run.stderr);
}

#[test]
fn other_commands_point_to_litmus() {
    for command in ["verify", "fence"] {
        let run = run(&[command, &hardware("aarch64/SB+po+po")]);
        assert_eq!(run.code, 2, "{command}");
        assert!(run.stderr.contains("`rsan litmus`"), "{}", run.stderr);
    }
}

#[test]
fn what_is_wrong_is_shown_in_its_line() {
    let unknown = answer("PPC a\n{ }\n P0 ;\n frob r1 ;\nexists (x=1)\n");
    assert_eq!(unknown.code, 2);
    assert!(
        unknown.stderr.contains("unknown instruction `FROB`"),
        "{}",
        unknown.stderr
    );
    assert!(unknown.stderr.contains("<stdin>:4:2"), "{}", unknown.stderr);
    let nowhere = answer("AArch64 a\n{ 0:X1=5; }\n P0 ;\n LDR W0,[X1] ;\nexists (0:X0=1)\n");
    assert_eq!(nowhere.code, 2);
    assert!(
        nowhere.stderr.contains("there is no location"),
        "{}",
        nowhere.stderr
    );
    assert!(nowhere.stderr.contains("<stdin>:4:2"), "{}", nowhere.stderr);
}

#[test]
fn a_cut_loop_leaves_the_answer_open() {
    let text =
        "AArch64 spin\n{ 0:X1=x; }\n P0 ;\n L: LDR W0,[X1] ;\n CBZ W0,L ;\nexists (0:X0=1)\n";
    assert_eq!(answer(text).code, 3);
}

#[test]
fn addresses_are_shown_as_names() {
    let text = "AArch64 p\n{ 0:X1=p; p=x; }\n P0 ;\n LDR X0,[X1] ;\nexists (0:X0=x)\n";
    let run = answer(text);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("*>0:X0=x;"), "{}", run.stdout);
    assert!(
        run.stdout.contains("Condition exists (0:X0=x)"),
        "{}",
        run.stdout
    );
}
