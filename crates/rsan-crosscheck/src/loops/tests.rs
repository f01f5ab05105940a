use super::{Answer, Difference, Expected, Form, Looping};
use crate::Profile;
use rsan_model::{BinOp, Expr, Instr, Program, RegId, Source};

/// A program in the compact notation, with all that waits as the shortest loops.
fn program(text: &str) -> Looping {
    let program: Program = rsan_lang::mini::parse(&Source::new("test", text)).expect("it is one");
    let forms = program.threads.iter();
    let forms = forms.map(|t| vec![Form::Short; t.code.len()]).collect();
    Looping { program, forms }
}

/// The thread goes back from its end to `to` unless a register has a value.
fn round(mut looping: Looping, t: usize, to: usize, register: usize, value: i64) -> Looping {
    let thread = &mut looping.program.threads[t];
    let register = Expr::Reg(RegId::new(register));
    let passes = Expr::Binary(BinOp::Eq, register.into(), Expr::Const(value).into());
    thread.code.push(Instr::Assume(passes));
    thread.spans.push(rsan_model::Span::default());
    looping.forms[t].push(Form::Back(to));
    looping
}

fn expected(looping: &Looping) -> Expected {
    let expected = Expected::of(looping).expect("the engines agree");
    expected.expect("it is small")
}

#[test]
fn a_stale_load_before_a_wait_is_weak() {
    let looping = program("st.rlx y 1; st.rlx x 1 || ld.rlx r0 x; ld.rlx r1 y; wait.rlx y 1");
    assert_eq!(expected(&looping).weak, Some(true));
    assert_eq!(expected(&looping).deadlock, Some(false));
}

#[test]
fn a_swap_of_the_same_value_in_the_past_is_weak() {
    let text = "st.rlx x 0; st.rel y 1 || ld.rlx r0 y; bne r0 1 1; scas.rel.rlx r1 x 0 2";
    assert_eq!(expected(&program(text)).weak, Some(true));
}

#[test]
fn one_of_five_readers_races() {
    let reader = |c: char, ord: &str| format!("nld r0 d; st.{ord} {c} 1");
    let readers: Vec<String> = "abce".chars().map(|c| reader(c, "rel")).collect();
    let writer = "wait.acq a 1; wait.acq b 1; wait.acq c 1; wait.acq e 1; wait.acq f 1; nst d 1";
    let others = readers.join(" || ");
    for (ord, race) in [("rel", false), ("rlx", true)] {
        let text = format!("{others} || {} || {writer}", reader('f', ord));
        assert_eq!(expected(&program(&text)).race, race, "{ord}");
    }
}

#[test]
fn what_a_round_in_vain_reads_does_not_count() {
    // Store buffering, if the first thread's read of `y` counts: it never reads 2.
    let text = "st.rel x 1; ld.acq r0 y || st.rel y 1; ld.acq r0 x";
    assert_eq!(expected(&program(text)).weak, Some(true));
    let waiting = round(program(text), 0, 1, 0, 2);
    assert_eq!(expected(&waiting).weak, Some(false));
    assert_eq!(expected(&waiting).deadlock, Some(true));
    // Nor does it when the thread gets out in the end.
    let waiting = round(program(text), 0, 1, 0, 1);
    assert_eq!(expected(&waiting).weak, Some(false));
    assert_eq!(expected(&waiting).deadlock, Some(false));
}

#[test]
fn what_the_last_round_reads_counts() {
    // Both words of the last round, of which the first may be stale.
    let text = "st.rlx x 1; st.rlx y 1 || ld.rlx r0 y; ld.rlx r1 x; ld.rlx r2 y";
    let looping = round(program(text), 1, 1, 2, 1);
    assert_eq!(expected(&looping).weak, Some(true));
    let text = "st.rlx x 1; st.rel y 1 || ld.acq r0 y; ld.rlx r1 x; ld.rlx r2 y";
    let looping = round(program(text), 1, 1, 2, 1);
    assert_eq!(expected(&looping).weak, Some(false));
}

/// An answer that is a proof.
fn robust() -> Answer {
    Answer {
        verdict: "robust".to_owned(),
        complete: true,
        weak: false,
        race: false,
        deadlock: false,
        reason: String::new(),
        executions: 1,
        excess: 0,
    }
}

#[test]
fn a_stale_load_that_a_swap_corrects_is_no_difference() {
    // The load of x may be stale, and the swap fails then.
    let is = |difference, thread: &str| {
        let looping = program(&format!("for.rlx r0 x 2; st.rlx y 1 || {thread}"));
        let expected = expected(&looping);
        assert_eq!(expected.weak, Some(true), "{thread}");
        let found = expected.difference(&looping, &robust());
        assert_eq!(found, Some(difference), "{thread}");
    };
    let test = "wait.rlx y 1; ld.rlx r0 x; bne r0 0 1; scas.rlx.rlx r1 x 0 1";
    is(Difference::Corrected, test);
    // Somebody looks at what the load has read, or at what the swap has.
    is(Difference::WeakMissed, &format!("{test}; st.rlx z r0"));
    is(Difference::WeakMissed, &format!("{test}; st.rlx z r1"));
    // The thread knows less than after the load, or is elsewhere.
    let weaker = test.replace("ld.rlx", "ld.acq");
    is(Difference::WeakMissed, &weaker);
    let later = test.replace("bne r0 0 1", "bne r0 0 2");
    is(Difference::WeakMissed, &format!("{later}; st.rlx z 1"));
    // The load that the swap stands for would try it.
    is(
        Difference::WeakMissed,
        &test.replace("bne r0 0", "beq r0 3"),
    );
    // Another load is stale, too.
    is(
        Difference::WeakMissed,
        &test.replace("; ld", "; ld.rlx r2 x; ld"),
    );
}

#[test]
fn the_loops_as_they_are_written_show_what_is_in_vain() {
    let text = "st.rel x 1; ld.acq r0 y || st.rel y 1; ld.acq r0 x";
    let waiting = round(program(text), 0, 1, 0, 2);
    let written = super::written::as_written(&waiting);
    let found = super::expect::search(&written, rsan_verify::Property::Robust, false);
    assert_eq!(found, Some("weak-behaviour"));
}

#[test]
fn the_same_seed_gives_the_same_file() {
    for (seed, &profile) in Profile::LOOPS.iter().enumerate() {
        let [one, two] = [(); 2].map(|()| Looping::generate(seed as u64, profile));
        assert_eq!(one, two);
        assert_eq!(one.in_c(), two.in_c());
    }
}

#[test]
fn smaller_programs_have_an_answer_too() {
    for (seed, &profile) in Profile::LOOPS.iter().enumerate() {
        let looping = Looping::generate(100 + seed as u64, profile);
        for smaller in looping.candidates() {
            assert!(Expected::of(&smaller).is_ok(), "{smaller:?}");
            assert!(smaller.in_c().contains("int main"));
        }
    }
}
