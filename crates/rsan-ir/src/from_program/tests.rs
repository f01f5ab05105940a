use super::*;
use rsan_lang::mini;
use rsan_model::{Expr, RegId, Source};

fn module(text: &str) -> Module {
    let program = mini::parse(&Source::new("test.mini", text)).expect("a program");
    from_program(&program).expect("a module")
}

/// The blocks: numbers of instructions, successors.
fn blocks(function: &Function) -> Vec<(Vec<u32>, Vec<u32>)> {
    let numbers = |b: &Block| b.instrs.iter().map(|i| instruction(i.number).0).collect();
    let successors = |b: &Block| b.successors.iter().map(|s| s.0).collect();
    let blocks = function.blocks.iter();
    blocks.map(|b| (numbers(b), successors(b))).collect()
}

#[test]
fn straight_code_is_one_block_and_the_end() {
    let module = module("st.rel x 1; ld.acq r0 y || st.rlx y 1");
    assert_eq!(module.functions.len(), 2);
    let first = &module.functions[0];
    assert_eq!(blocks(first), [(vec![0, 1], vec![1]), (vec![], vec![])]);
    let Op::Store { access, .. } = &first.blocks[0].instrs[0].op else {
        panic!("a store");
    };
    assert_eq!(access.order, Order::Release);
    assert_eq!(
        first.values[access.pointer.index()],
        Value::Global(GlobalId(0))
    );
}

#[test]
fn branches_and_waits_are_blocks() {
    let module = module("ld.rlx r0 x; bne r0 0 1; st.rlx y 1; wait.acq z 1; st.rlx w 1");
    let expected = [
        (vec![0], vec![2, 1]),
        (vec![2], vec![2]),
        (vec![3], vec![3, 2]),
        (vec![4], vec![4]),
        (vec![], vec![]),
    ];
    assert_eq!(blocks(&module.functions[0]), expected);
}

#[test]
fn a_blocking_compare_and_swap_ends_when_it_succeeds() {
    let module = module("bcas.acq l 0 1; st.rel l 0");
    let first = &module.functions[0].blocks[0];
    assert_eq!(first.on_success, Some(0));
    assert_eq!(first.successors, [BlockId(1), BlockId(0)]);
}

#[test]
fn what_an_index_chooses_between_is_one_global() {
    let source = Source::new(
        "test.mini",
        "ld.rlx r0 a; ld.rlx r1 b; ld.rlx r2 c; ld.rlx r3 d",
    );
    let mut program = mini::parse(&source).expect("a program");
    let model::Instr::Load { place, .. } = &mut program.threads[0].code[1] else {
        panic!("a load");
    };
    *place = model::Place::Element {
        base: LocId(1),
        len: 2,
        index: Expr::Reg(RegId(0)),
    };
    let module = from_program(&program).expect("a module");
    let names: Vec<&str> = module.globals.iter().map(|g| g.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "d"]);
    let values = &module.functions[0].values;
    assert!(values.contains(&Value::Offset(ValueId(1), None)));
    assert!(values.contains(&Value::Offset(ValueId(1), Some(4))));
    assert!(values.contains(&Value::Global(GlobalId(2))));
}

#[test]
fn threads_that_start_others_are_refused() {
    let source = Source::new("test.mini", "st.rlx x 1; spawn 1 || st.rlx x 1");
    let program = mini::parse(&source).expect("a program");
    assert_eq!(from_program(&program), Err((ThreadId(0), Pc(1))));
}
