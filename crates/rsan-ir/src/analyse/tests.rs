use super::analyse;
use crate::module::{Module, Op, Order};
use crate::port::{Answer, Refusal};
use crate::testing::{module, question};
use rsan_model::machine::Machine::{self, Armv7, Armv8, Power, Riscv, Sc, X86};

fn ask(module: &Module, from: Machine, to: Machine) -> Answer {
    analyse(module, &question(module, from, to), &mut || true).expect("it has threads")
}

fn warnings(text: &str, from: Machine, to: Machine) -> usize {
    ask(&module(text), from, to).warnings.len()
}

fn robust(text: &str, pairs: &[(Machine, Machine)]) {
    for (from, to) in pairs {
        assert_eq!(warnings(text, *from, *to), 0, "{from} to {to}: {text}");
    }
}

fn broken(text: &str, pairs: &[(Machine, Machine)]) {
    for (from, to) in pairs {
        assert_ne!(warnings(text, *from, *to), 0, "{from} to {to}: {text}");
    }
}

const TO_ALL: [(Machine, Machine); 5] = [
    (Sc, X86),
    (Sc, Armv8),
    (Sc, Armv7),
    (Sc, Riscv),
    (Sc, Power),
];
const FROM_X86: [(Machine, Machine); 4] = [(X86, Armv8), (X86, Armv7), (X86, Riscv), (X86, Power)];

#[test]
fn store_buffering_needs_a_full_fence() {
    let plain = "fn t0\nW x\nR y\nfn t1\nW y\nR x";
    broken(plain, &TO_ALL);
    // x86 shows it, too: nothing is lost by moving on.
    robust(plain, &FROM_X86);
    let fenced = "fn t0\nW x\nF sc\nR y\nfn t1\nW y\nF sc\nR x";
    robust(fenced, &TO_ALL);
    robust(fenced, &FROM_X86);
    let strong = "fn t0\nW x sc\nR y sc\nfn t1\nW y sc\nR x sc";
    robust(strong, &TO_ALL);
    robust(strong, &FROM_X86);
    let weak = "fn t0\nW x rel\nR y acq\nfn t1\nW y rel\nR x acq";
    broken(weak, &[(Sc, X86), (Sc, Riscv), (Sc, Armv7), (Sc, Power)]);
    // `stlr` and a later `ldar` stay in order.
    robust(weak, &[(Sc, Armv8)]);
}

#[test]
fn ldapr_may_overtake_stlr() {
    let text = module("fn t0\nW x rel\nR y acq\nfn t1\nW y rel\nR x acq");
    let mut asked = question(&text, Sc, Armv8);
    asked.rcpc = true;
    let answer = analyse(&text, &asked, &mut || true).expect("it has threads");
    assert_eq!(answer.warnings.len(), 2);
}

#[test]
fn message_passing_is_fine_on_x86_only() {
    let plain = "fn t0\nW x\nW y\nfn t1\nR y\nR x";
    robust(plain, &[(Sc, X86)]);
    broken(plain, &[(Sc, Armv8), (Sc, Armv7), (Sc, Riscv), (Sc, Power)]);
    broken(plain, &FROM_X86);
    let ordered = "fn t0\nW x\nW y rel\nfn t1\nR y acq\nR x";
    robust(
        ordered,
        &[(Sc, Armv8), (Sc, Armv7), (Sc, Riscv), (X86, Armv8)],
    );
}

#[test]
fn one_location_is_coherent_everywhere() {
    robust("fn t0\nW x\nR x\nW x\nfn t1\nR x\nR x\nW x", &TO_ALL);
}

#[test]
fn a_cycle_needs_a_way_back() {
    // Nobody reads y and then x.
    robust("fn t0\nW x\nW y\nfn t1\nR x\nR y", &[(Sc, X86)]);
    robust("fn t0\nW x\nR z\nfn t1\nR x\nW w", &TO_ALL);
}

#[test]
fn instances_of_one_function_meet() {
    broken(
        "fn t0\nU x\nl:\nW y\nR z\nW z\nR y\ngoto l end\nend:\nret",
        &[(Sc, Armv8)],
    );
}

#[test]
fn fields_of_one_object_are_different_locations() {
    broken("fn t0\nW x\nW x+8\nfn t1\nR x+8\nR x", &[(X86, Armv8)]);
    robust("fn t0\nW x+4\nW x+4\nfn t1\nR x+4\nR x+4", &[(X86, Armv8)]);
}

#[test]
fn machine_fences_count_on_their_machine() {
    let text = "fn t0\nW x\nM dmb ishst\nW y\nfn t1\nR y\nM dmb ishld\nR x";
    robust(text, &[(Sc, Armv8), (X86, Armv8)]);
    broken(text, &[(Sc, Armv7), (Sc, Riscv)]);
    broken(
        "fn t0\nW x\nM mfence\nR y\nfn t1\nW y\nM mfence\nR x",
        &[(X86, Armv8)],
    );
    robust(
        "fn t0\nW x\nM mfence\nR y\nfn t1\nW y\nM mfence\nR x",
        &[(Sc, X86)],
    );
}

#[test]
fn a_compare_exchange_is_a_fence_on_x86_and_only_where_it_writes_on_armv7() {
    let text = "fn t0\nW x\nC z sc\nR y\nfn t1\nW y\nC z sc\nR x";
    robust(text, &[(Sc, X86)]);
    broken(
        "fn t0\nW x\nC z rlx\nR y\nfn t1\nW y\nC z rlx\nR x",
        &[(Sc, Armv7), (X86, Armv8)],
    );
    // The way on is open only for who succeeded.
    let success =
        "fn t0\nW x\nl:\nC z rel\nif end l\nend:\nR y\nfn t1\nW y\nm:\nC z rel\nif go m\ngo:\nR x";
    let to = |text: &str| {
        let answer = ask(&module(text), Sc, Armv7);
        let is_load = |w: &&crate::port::Warning| w.second.what == "load";
        answer
            .warnings
            .iter()
            .filter(is_load)
            .filter(|w| w.first.what == "store")
            .count()
    };
    assert_eq!(to(success), 0);
    assert_ne!(to(&success.replace("if end l", "goto end l")), 0);
}

#[test]
fn the_path_without_a_fence_counts() {
    let text = "fn t0\nW x\ngoto a b\na:\nF sc\nb:\nR y\nfn t1\nW y\nF sc\nR x";
    broken(text, &[(Sc, X86)]);
}

#[test]
fn calls_are_followed() {
    let text = "fn t0\nW x\ncall f\nR y\nfn t1\nW y\ncall f\nR x\nfn f\nF sc";
    robust(text, &TO_ALL);
    let recursive =
        "fn t0\nW x\ncall f\nR y\nfn t1\nW y\ncall f\nR x\nfn f\ngoto a b\na:\ncall f\nb:\nR z";
    broken(recursive, &[(Sc, X86)]);
}

#[test]
fn a_first_write_is_not_ordered_by_armv8_either() {
    robust("fn t0\nW x\nW y\nfn t1\nW y\nW x", &[(Armv8, Armv7)]);
    broken("fn t0\nR x\nW y\nfn t1\nR y\nW x", &[(Armv8, Armv7)]);
}

#[test]
fn a_release_fence_is_weaker_on_riscv() {
    let text = "fn t0\nW x\nF rel\nR y\nfn t1\nW y\nF rel\nR x";
    broken(text, &[(Armv8, Riscv)]);
    robust(text, &[(Sc, Armv8)]);
}

#[test]
fn refusals() {
    let m = module("fn t0\nW x");
    let mut asked = question(&m, Armv8, X86);
    assert_eq!(analyse(&m, &asked, &mut || true), Err(Refusal::NotWeaker));
    asked = question(&m, X86, Armv8);
    asked.threads = vec!["nobody".into()];
    let refused = Err(Refusal::UnknownThread("nobody".into()));
    assert_eq!(analyse(&m, &asked, &mut || true), refused);
    asked.threads.clear();
    assert_eq!(analyse(&m, &asked, &mut || true), Err(Refusal::NoThreads));
    asked.threads = vec!["t0".into()];
    assert_eq!(analyse(&m, &asked, &mut || false), Err(Refusal::Stopped));
}

#[test]
fn threads_are_found_and_main_is_alone_before_and_after() {
    let text = "fn main\nW x\nW y\ncall pthread_create h zero &w zero\nR z\ncall pthread_join *h\nR y\nR x\nfn w\nW x\nF sc\nW y\nR z";
    let m = module(text);
    let mut asked = question(&m, X86, Armv8);
    asked.threads.clear();
    let answer = analyse(&m, &asked, &mut || true).expect("it starts threads");
    assert_eq!(answer.warnings, []);
    assert_eq!(answer.threads.len(), 2);
    assert!(
        answer.threads[0]
            .reason
            .starts_with("started once by pthread_create")
    );
    let unjoined = text.replace("call pthread_join *h\n", "");
    let answer = analyse(&module(&unjoined), &asked, &mut || true).expect("it starts threads");
    assert_eq!(answer.warnings.len(), 1, "{:#?}", answer.warnings);
}

#[test]
fn cycles_lead_through_starts_and_joins() {
    let reader = "fn v\nR y\nR x\n";
    let main = |text: &str| format!("fn main\ncall pthread_create g zero &v zero\n{text}\n");
    let start = "call pthread_create h zero &w zero";
    let join = "call pthread_join *h";
    // What is written before a start is before all that the new thread writes, and that is before what follows the join.
    let started = main(&format!("W x\n{start}")) + reader + "fn w\nW y";
    let joined = main(&format!("{start}\n{join}\nW y")) + reader + "fn w\nW x";
    let by_a_third =
        main(start) + reader + "fn w\nW x\ncall pthread_create k zero &u zero\nfn u\nW y";
    let in_turn = main(&format!(
        "{start}\n{join}\ncall pthread_create k zero &u zero"
    )) + reader
        + "fn w\nW x\nfn u\nW y";
    // Without a join between, nothing orders the two.
    let apart = module(&in_turn.replace(&format!("{join}\n"), ""));
    let mut asked = question(&apart, X86, Armv8);
    asked.threads.clear();
    let answer = analyse(&apart, &asked, &mut || true).expect("it starts threads");
    assert_eq!(answer.warnings, []);
    for text in [started, joined, by_a_third, in_turn] {
        let answer = analyse(&module(&text), &asked, &mut || true).expect("it starts threads");
        assert_eq!(answer.warnings.len(), 1, "{text}: {:#?}", answer.warnings);
        let ordered = module(&text.replace("R y", "R y acq"));
        let answer = analyse(&ordered, &asked, &mut || true).expect("it starts threads");
        assert_eq!(answer.warnings, [], "{text}");
    }
}

#[test]
fn what_waits_is_no_proof() {
    let text = "fn main\ncall pthread_create g zero &v zero\ncall sem_wait s\nW y\nfn v\nW x\ncall sem_post s";
    let m = module(text);
    let mut asked = question(&m, X86, Armv8);
    asked.threads.clear();
    let answer = analyse(&m, &asked, &mut || true).expect("it starts threads");
    assert_eq!(answer.warnings, []);
    let unsound: Vec<&str> = answer
        .assumptions
        .iter()
        .filter(|known| known.unsound)
        .map(|known| known.message.as_str())
        .collect();
    assert!(
        unsound.len() == 1 && unsound[0].starts_with("`sem_wait`"),
        "{unsound:?}"
    );
}

#[test]
fn a_compare_exchange_that_fails_more_strongly_is_as_strong_as_that() {
    // One instruction with both orders, `casal`, for success with acquire and failure with seq_cst: ARMv8 keeps the store before it.
    let text = module("fn t0\nC x acq\nR y\nfn t1\nW y\nC x acq");
    let mut strong = text.clone();
    for instr in strong.functions[1]
        .blocks
        .iter_mut()
        .flat_map(|b| &mut b.instrs)
    {
        if let Op::Update { failure, .. } = &mut instr.op {
            *failure = Some(Order::SeqCst);
        }
    }
    let warnings = |m: &Module| ask(m, Armv8, Armv7).warnings.len();
    assert_eq!((warnings(&text), warnings(&strong)), (0, 1));
}

#[test]
fn a_warning_says_what_closes_the_cycle() {
    let answer = ask(
        &module("fn t0\nW x\nW y\nfn t1\nR y\nF sc\nR x"),
        X86,
        Armv8,
    );
    let [warning] = &answer.warnings[..] else {
        panic!("{answer:#?}")
    };
    assert_eq!(
        (
            warning.first.object.as_str(),
            warning.second.object.as_str()
        ),
        ("`x`", "`y`")
    );
    let [(a, b)] = &warning.partners[..] else {
        panic!("{warning:#?}")
    };
    assert_eq!((a.object.as_str(), b.object.as_str()), ("`y`", "`x`"));
    assert_eq!(warning.because, Vec::<String>::new());
    assert_eq!(warning.ordered, "x86 performs stores in program order");
}

#[test]
fn a_lock_protects() {
    let locked = "fn t0\ncall pthread_mutex_lock m\nW x na\nW y na\ncall pthread_mutex_unlock m\nfn t1\ncall pthread_mutex_lock m\nR y na\nR x na\ncall pthread_mutex_unlock m";
    robust(
        locked,
        &[
            (Sc, X86),
            (Sc, Armv8),
            (Sc, Armv7),
            (Sc, Riscv),
            (X86, Armv8),
        ],
    );
    // Another lock does not, nor does one that only one path takes.
    broken(
        &locked.replace(
            "fn t1\ncall pthread_mutex_lock m",
            "fn t1\ncall pthread_mutex_lock n",
        ),
        &[(X86, Armv8)],
    );
    let sometimes = locked
        .replace("fn t1\n", "fn t1\ngoto a b\na:\n")
        .replace("\nR y", "\nb:\nR y");
    broken(&sometimes, &[(X86, Armv8)]);
    // What is outside is not protected.
    let outside =
        "fn t0\nW x\ncall pthread_mutex_lock m\nW y\ncall pthread_mutex_unlock m\nfn t1\nR y\nR x";
    broken(outside, &[(X86, Armv8)]);
    let handed_on = "fn t0\nW x\ncall pthread_mutex_lock m\nW y\ncall pthread_mutex_unlock m\nfn t1\ncall pthread_mutex_lock m\nR y\ncall pthread_mutex_unlock m\nR x";
    robust(handed_on, &[(Sc, Armv8), (X86, Armv8), (Sc, Armv7)]);
    // A cycle by way of a lock needs the other thread's order all the same.
    let third = format!("{handed_on}\nW z\nfn t2\nR z\nR x\nW x");
    broken(&third, &[(X86, Armv8)]);
}

#[test]
fn a_handle_that_is_written_again_is_not_waited_for() {
    let text = "fn main\ncall pthread_create h zero &v zero\ncall pthread_create h zero &w zero\ncall pthread_join *h\nR y\nR x\nfn v\nW x\nF sc\nW y\nfn w\nR z";
    let m = module(text);
    let mut asked = question(&m, X86, Armv8);
    asked.threads.clear();
    let answer = analyse(&m, &asked, &mut || true).expect("it starts threads");
    assert_eq!(answer.warnings.len(), 1, "{:#?}", answer.warnings);
    let apart = text.replacen("create h", "create g", 1);
    let apart = apart.replace("R y", "call pthread_join *g\nR y");
    let answer = analyse(&module(&apart), &asked, &mut || true).expect("it starts threads");
    assert_eq!(answer.warnings, []);
    let array = apart
        .replace("create g", "create g[]")
        .replace("*g\n", "*g[]\n");
    let answer = analyse(&module(&array), &asked, &mut || true).expect("it starts threads");
    assert_eq!(answer.warnings.len(), 1, "{:#?}", answer.warnings);
}

#[test]
fn without_data_races_only_atomic_accesses_count() {
    let mut m = module("fn t0\nW x\nW y\nfn t1\nR y\nR x");
    let mut asked = question(&m, X86, Armv8);
    asked.race_free = true;
    let count = |m: &Module, asked: &crate::port::Question| {
        analyse(m, asked, &mut || true)
            .expect("it has threads")
            .warnings
            .len()
    };
    assert_eq!(count(&m, &asked), 2);
    for (f, i) in [(0, 0), (1, 1)] {
        match &mut m.functions[f].blocks[0].instrs[i].op {
            Op::Load(access) | Op::Store { access, .. } => access.order = Order::Plain,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(count(&m, &asked), 0);
    asked.race_free = false;
    assert_eq!(count(&m, &asked), 2);
}
