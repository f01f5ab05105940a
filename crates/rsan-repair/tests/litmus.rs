//! Known programs and what their cheapest repairs are.

use rsan_lang::{Format, mini};
use rsan_model::{Instr, Model, Program, Source, Verdict};
use rsan_repair::{Kind, Repair, Scope, Synthesis, Target, cheapest, sites};
use rsan_verify::{Options, verify};

fn read(path: &str) -> Program {
    let full = format!("{}/../../litmus/{path}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(full).expect("a program of the corpus");
    let source = Source::new(path, text);
    let format = Format::detect(path, &source.text).expect("a known language");
    rsan_lang::parse(&source, format).expect("a program")
}

fn synthesis(path: &str, model: Model, target: Target) -> Synthesis {
    let program = read(path);
    let sites = sites(&program, model, &Scope::default(), target);
    let options = Options {
        workers: 1,
        ..Options::new(model)
    };
    cheapest(&program, &sites, &options, &mut |_, _| {}).expect("the program suits the model")
}

fn repair(path: &str, model: Model, target: Target) -> Repair {
    match synthesis(path, model, target) {
        Synthesis::Repair(repair) => *repair,
        other => panic!("{path}: {other:?}"),
    }
}

/// Each change as `thread: what it becomes`.
fn changes(repair: &Repair) -> Vec<String> {
    let describe = |c: &rsan_repair::Proved| {
        let new = match &c.site.options[c.option].instr {
            Instr::Load { ord, .. } | Instr::Wait { ord, .. } => format!("{ord} load"),
            Instr::Store { ord, .. } => format!("{ord} store"),
            Instr::Rmw { ord, .. } | Instr::Bcas { ord, .. } | Instr::Cas { ord, .. } => {
                format!("{ord} update")
            }
            Instr::Fence(ord) => format!("{ord} fence"),
            other => panic!("{other:?}"),
        };
        let thread = c.site.thread;
        match c.site.kind {
            Kind::Insert => format!("{thread}: + {new}"),
            Kind::Raise => format!("{thread}: {new}"),
        }
    };
    repair.changes.iter().map(describe).collect()
}

/// Checks cost and changes of a repair.
fn expect(path: &str, model: Model, target: Target, cost: u64, wanted: &[&str]) {
    let repair = repair(path, model, target);
    let found = (repair.cost, changes(&repair));
    let wanted: Vec<String> = wanted.iter().map(|w| (*w).to_owned()).collect();
    assert_eq!(found, (cost, wanted), "{path} {model} {target}");
}

const TWO_FENCES: &[&str] = &["T0: + seq_cst fence", "T1: + seq_cst fence"];

#[test]
fn message_passing_gets_a_release_and_an_acquire() {
    let path = "basic/mp-rlx.litmus";
    let pair = ["T0: release store", "T1: acquire load"];
    for model in [Model::Rc20, Model::C20] {
        expect(path, model, Target::Armv8, 3, &pair);
        expect(path, model, Target::RiscV, 4, &pair);
        expect(path, model, Target::X86, 0, &pair);
    }
    expect(path, Model::Ra, Target::Armv8, 0, &[]);
}

#[test]
fn store_buffering_gets_fences_or_seq_cst_accesses() {
    let path = "kernels/dekker-ra.litmus";
    expect(path, Model::Ra, Target::Armv8, 10, TWO_FENCES);
    expect(path, Model::Rc20, Target::Armv8, 10, TWO_FENCES);
    expect(path, Model::C20, Target::RiscV, 8, TWO_FENCES);
    let accesses = [
        "T0: seq_cst store",
        "T0: seq_cst load",
        "T1: seq_cst store",
        "T1: seq_cst load",
    ];
    expect(path, Model::C20, Target::Armv8, 2, &accesses);
    expect(path, Model::C20, Target::X86, 16, &accesses);
}

#[test]
fn two_writes_each_and_independent_reads() {
    let path = "basic/2+2w-ra.litmus";
    expect(path, Model::Ra, Target::Armv8, 10, TWO_FENCES);
    expect(path, Model::Rc20, Target::RiscV, 8, TWO_FENCES);
    expect(
        path,
        Model::C20,
        Target::Armv8,
        0,
        &[
            "T0: seq_cst store",
            "T0: seq_cst store",
            "T1: seq_cst store",
            "T1: seq_cst store",
        ],
    );
    let path = "basic/iriw-ra.litmus";
    let readers = ["T1: + seq_cst fence", "T2: + seq_cst fence"];
    expect(path, Model::Ra, Target::Armv8, 10, &readers);
    expect(path, Model::Rc20, Target::Armv8, 10, &readers);
    expect(path, Model::C20, Target::RiscV, 8, &readers);
}

#[test]
fn locks() {
    let four = [
        "T0: + seq_cst fence",
        "T0: + seq_cst fence",
        "T1: + seq_cst fence",
        "T1: + seq_cst fence",
    ];
    expect(
        "locks/peterson-ra.litmus",
        Model::Ra,
        Target::Armv8,
        20,
        &four,
    );
    expect(
        "locks/peterson-ra.litmus",
        Model::Rc20,
        Target::RiscV,
        16,
        &four,
    );
    let entry_and_exit = [
        "T0: acquire load",
        "T0: release store",
        "T1: acquire load",
        "T1: release store",
    ];
    for model in [Model::Rc20, Model::C20] {
        expect(
            "locks/dekker-relaxed.litmus",
            model,
            Target::Armv8,
            6,
            &entry_and_exit,
        );
    }
    expect(
        "locks/dekker-relaxed.litmus",
        Model::Ra,
        Target::Armv8,
        0,
        &[],
    );
}

#[test]
fn load_buffering_needs_nothing() {
    for model in [Model::Ra, Model::Rc20, Model::C20] {
        expect("basic/lb-rlx.litmus", model, Target::Armv8, 0, &[]);
    }
}

#[test]
fn a_race_that_no_order_ends_is_beyond_repair() {
    let text = "C Race\n{}\nP0 (int* d) { *d = 1; }\nP1 (int* d) { *d = 2; }\nexists (d=1)\n";
    let program = rsan_lang::parse(&Source::new("race", text), Format::CLitmus).expect("a program");
    let model = Model::C20;
    let sites = sites(&program, model, &Scope::default(), Target::Armv8);
    let answer = cheapest(&program, &sites, &Options::new(model), &mut |_, _| {});
    assert!(
        matches!(answer, Ok(Synthesis::Impossible(..))),
        "{answer:?}"
    );
}

/// Why clauses are not always about all subsets: under RA, too, the order of fences can be observed.
#[test]
fn an_sc_fence_of_ra_can_add_a_violation() {
    let robust = |fence: &str| {
        let text =
            format!("{fence}; ld.acq r0 x || st.rel x 1; ld.acq r0 y || st.rel y 1; {fence}");
        let program = mini::parse(&Source::new("fences", text)).expect("a program");
        let outcome = verify(&program, &Options::new(Model::Ra), &mut |_| {});
        outcome.expect("the program suits the model").verdict == Verdict::Robust
    };
    assert!(robust("fence.acqrel"));
    assert!(!robust("fence.sc"));
}
