//! Trencher's automata.

use rsan_lang::{looks_like_automata, parse_automata};
use rsan_model::automata::Op;
use rsan_model::{BinOp, Expr, RegId, Source};

const GOOD: &str = "# comment\nthread t0\ninitial q0\n\
    transition q0 q1 read r + a 1\ntransition\tq1\tq2\twrite  * r 2   5\n  # inside\n\
    transition q2 q3 mfence\ntransition q3 q3 check ! == r -3\ntransition q3 q0 local r && r 1\nend\n\n\
    thread t1\ninitial x\ntransition x y lock\ntransition y x unlock\ntransition x x noop\nend\n";

fn errors(text: &str) -> Vec<(usize, String)> {
    let source = Source::new("a.txt", text);
    let found = parse_automata(&source).expect_err("has errors");
    found
        .iter()
        .map(|d| (source.line_column(d.span.start).0, d.message.clone()))
        .collect()
}

#[test]
fn automata_are_read() {
    let automata = parse_automata(&Source::new("dir/a.txt", GOOD)).expect("is right");
    assert!(looks_like_automata(GOOD));
    assert_eq!(automata.name, "a");
    let [first, second] = &automata.threads[..] else {
        panic!("two threads");
    };
    assert_eq!(first.states.len(), 4);
    assert_eq!(first.registers.len(), 2);
    let sum = |r: u32| {
        Expr::Binary(
            BinOp::Add,
            Box::new(Expr::Reg(RegId(r))),
            Box::new(Expr::Const(1)),
        )
    };
    let read = Op::Read {
        reg: RegId(0),
        addr: sum(1),
        accept: None,
    };
    assert_eq!(first.transitions[0].op, read);
    assert_eq!(first.transitions[2].op, Op::Fence);
    assert_eq!(second.initial.0, 0);
    let ops: Vec<&Op> = second.transitions.iter().map(|t| &t.op).collect();
    assert_eq!(ops, [&Op::Lock, &Op::Unlock, &Op::Noop]);
}

#[test]
fn every_wrong_line_is_named() {
    let text = "thread t\ninitial q0 extra\ntransition q0 q1 jump\ntransition q0\ntransition q0 q1 read 5 0\n\
        transition q0 q1 write + 1\ntransition q0 q1 check 99999999999\nnonsense\nthread u\nend\ninitial q\n";
    let found = errors(text);
    let expected = [
        (2, "`extra` is too much here"),
        (3, "unknown instruction `jump`"),
        (4, "expected the control state that it enters"),
        (5, "expected a register, not `5`"),
        (6, "expected an expression"),
        (7, "`99999999999` is not an integer of 32 bits"),
        (8, "unknown line `nonsense`"),
        (9, "thread `t` has no `end`"),
        (11, "`initial` outside a thread"),
    ];
    let found: Vec<(usize, &str)> = found.iter().map(|(l, m)| (*l, m.as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
fn what_is_missing_is_said() {
    assert_eq!(
        errors("# nothing\n")[0].1,
        "there is no thread in this text"
    );
    assert_eq!(
        errors("thread t\ninitial q\n")[0].1,
        "thread `t` has no `end`"
    );
    assert_eq!(
        errors("thread t\nend\n")[0].1,
        "thread `t` has no initial state"
    );
    let twice = "thread t\ninitial q\nend\nthread t\ninitial q\nend\n";
    assert_eq!(errors(twice)[0].1, "there are two threads `t`");
    let deep = format!(
        "thread t\ninitial q\ntransition q q check {}1\nend\n",
        "! ".repeat(100)
    );
    assert_eq!(errors(&deep)[0].1, "this expression is too deep");
}

/// Cuts and doublings of a good text: never a panic, and places inside the text.
#[test]
fn damaged_texts_are_refused_in_place() {
    for start in 0..GOOD.len() {
        for length in [1, 3, 9] {
            let end = (start + length).min(GOOD.len());
            let without = format!("{}{}", &GOOD[..start], &GOOD[end..]);
            let twice = format!("{}{}", &GOOD[..end], &GOOD[start..]);
            for text in [without, twice] {
                let source = Source::new("a.txt", &*text);
                if let Err(found) = parse_automata(&source) {
                    assert!(found.iter().all(|d| d.span.end as usize <= text.len()));
                    assert!(!found.render(&source, false).is_empty());
                }
            }
        }
    }
}
