//! Edits: what a changed module has when it is read again.

use crate::common::{Folder, data, has_llvm, read, reader};
use rsan_ir::module::{Access, Change, Edit, Function, Module, Op, Order};
use rsan_llvm::{Error, Form};
use std::path::PathBuf;

fn edit(function: &str, number: u32, change: Change) -> Edit {
    Edit {
        function: function.to_owned(),
        number,
        change,
    }
}

fn patched(name: &str, source: &str, edits: &[Edit], form: Form) -> Result<Module, Error> {
    let folder = Folder::new(name);
    let output = folder.0.join("changed");
    reader().patch(&data(source), edits, &output, form, &mut || true)?;
    read(&[output]).map(|read| read.module)
}

fn function<'m>(module: &'m Module, name: &str) -> &'m Function {
    let found = module.functions.iter().find(|f| f.name == name);
    found.expect("the function")
}

/// The kinds of operations of a function's blocks, in order.
fn shape(module: &Module, name: &str) -> Vec<Vec<String>> {
    let word = |op: &Op| match op {
        Op::Load(Access { order, .. }) => format!("load {order:?}"),
        Op::Store { access, .. } => format!("store {:?}", access.order),
        Op::Update {
            access, failure, ..
        } => match failure {
            Some(failure) => format!("exchange {:?} {failure:?}", access.order),
            None => format!("update {:?}", access.order),
        },
        Op::Fence(order) => format!("fence {order:?}"),
        Op::MachineFence(name) => name.clone(),
        Op::Bulk { .. } => "bulk".to_owned(),
        Op::Call { .. } => "call".to_owned(),
        Op::Assembly(text) => text.clone(),
    };
    let blocks = function(module, name).blocks.iter();
    blocks
        .map(|block| block.instrs.iter().map(|instr| word(&instr.op)).collect())
        .collect()
}

#[test]
fn fences_are_put_before_and_after() {
    if !has_llvm() {
        return;
    }
    let edits = [
        edit("accesses", 7, Change::FenceBefore(Order::SeqCst)),
        edit(
            "accesses",
            8,
            Change::MachineFenceAfter("dmb ishst".to_owned()),
        ),
        edit("accesses", 10, Change::FenceAfter(Order::Release)),
        edit(
            "accesses",
            10,
            Change::MachineFenceBefore("fence rw,w".to_owned()),
        ),
    ];
    for form in [Form::Text, Form::Bitcode] {
        let module = patched("fences", "orders.ll", &edits, form).expect("changed");
        let shape = shape(&module, "accesses");
        assert_eq!(
            shape[0][7..],
            [
                "fence SeqCst",
                "store Plain",
                "store Release",
                "dmb ishst",
                "store SeqCst",
                "fence rw,w",
                "store Plain",
                "fence Release"
            ]
        );
    }
}

#[test]
fn orders_are_raised() {
    if !has_llvm() {
        return;
    }
    let edits = [
        edit("accesses", 0, Change::Order(Order::Acquire)),
        edit("accesses", 1, Change::Order(Order::Relaxed)),
        edit("accesses", 7, Change::Order(Order::Release)),
        edit("updates", 0, Change::Order(Order::AcqRel)),
        edit("updates", 2, Change::Order(Order::SeqCst)),
        edit("fences", 0, Change::Order(Order::SeqCst)),
        edit("fences", 0, Change::FenceAfter(Order::Acquire)),
    ];
    let module = patched("orders", "orders.ll", &edits, Form::Bitcode).expect("changed");
    let accesses = shape(&module, "accesses");
    assert_eq!(accesses[0][..2], ["load Acquire", "load Relaxed"]);
    assert_eq!(accesses[0][7], "store Release");
    let updates = shape(&module, "updates");
    assert_eq!(updates[0][0], "update AcqRel");
    assert_eq!(updates[0][2], "exchange SeqCst SeqCst");
    let fences = shape(&module, "fences");
    assert_eq!(
        fences[0][..3],
        ["fence SeqCst", "fence Acquire", "fence Release"]
    );
}

/// Functions of the same name in several files are told apart by their units.
#[test]
fn several_files_become_one() {
    if !has_llvm() {
        return;
    }
    let folder = Folder::new("several");
    let output = folder.0.join("all.bc");
    let files = [data("first.ll"), data("second.ll")];
    let change = |unit, order| (unit, edit("helper", 0, Change::FenceBefore(order)));
    let edits = [change(0, Order::Acquire), change(1, Order::Release)];
    let patch =
        |files: &[PathBuf]| reader().patch_all(files, &edits, &output, Form::Bitcode, &mut || true);
    patch(&files).expect("changed");
    let module = read(std::slice::from_ref(&output))
        .expect("it is read")
        .module;
    let fences = module.functions.iter().map(|f| shape(&module, &f.name));
    let fences: Vec<_> = fences
        .filter(|shape| shape.len() == 1 && shape[0].len() == 2)
        .collect();
    assert_eq!(
        fences,
        [
            [["fence Acquire", "store Plain"]],
            [["fence Release", "store Plain"]]
        ]
    );

    let twice = [data("first.ll"), data("first.ll")];
    let error = patch(&twice).expect_err("defined twice").to_string();
    assert!(error.contains("multiply defined"), "{error}");
}

/// A function that passes may not touch stays one.
#[test]
fn attributes_survive() {
    if !has_llvm() {
        return;
    }
    let folder = Folder::new("attributes");
    let output = folder.0.join("changed.ll");
    let edits = [edit("wait", 1, Change::FenceAfter(Order::SeqCst))];
    let source = data("unoptimised.ll");
    reader()
        .patch(&source, &edits, &output, Form::Text, &mut || true)
        .expect("changed");
    let text = std::fs::read_to_string(&output).expect("a file");
    assert!(
        text.contains("optnone") && text.contains("fence seq_cst"),
        "{text}"
    );
    let module = read(&[output]).expect("it is read").module;
    assert_eq!(
        shape(&module, "wait")[1],
        ["exchange Acquire Relaxed", "fence SeqCst"]
    );
}

/// What comes after a call that ends a block is the beginning of both blocks that it leads to.
#[test]
fn after_an_invoke_is_at_both_ends() {
    if !has_llvm() {
        return;
    }
    let edits = [edit("thrown", 0, Change::FenceAfter(Order::SeqCst))];
    let module = patched("invoke", "calls.ll", &edits, Form::Text).expect("changed");
    let shape = shape(&module, "thrown");
    assert_eq!(shape[1], ["fence SeqCst", "store Plain"]);
    assert_eq!(shape[2], ["fence SeqCst", "call"]);
}

#[test]
fn edits_that_cannot_be_made_are_refused() {
    if !has_llvm() {
        return;
    }
    let refused = |source: &str, change: Edit| {
        let error = patched("refused", source, &[change], Form::Text).expect_err("refused");
        assert!(matches!(error, Error::Edit { .. }), "{error}");
        error.to_string()
    };
    let order = |function, number, order| edit(function, number, Change::Order(order));
    let text = refused("orders.ll", order("nobody", 0, Order::SeqCst));
    assert!(text.contains("no such function"), "{text}");
    let text = refused("orders.ll", order("fences", 99, Order::SeqCst));
    assert!(text.contains("no such instruction"), "{text}");
    let text = refused("orders.ll", order("accesses", 0, Order::Release));
    assert!(text.contains("a load cannot be release"), "{text}");
    let text = refused("pointers.ll", order("unaligned", 0, Order::Acquire));
    assert!(text.contains("not aligned to its 8 bytes"), "{text}");
    let text = refused("pointers.ll", order("unaligned", 1, Order::Acquire));
    assert!(text.contains("cannot be atomic"), "{text}");
    let text = refused(
        "orders.ll",
        edit("accesses", 11, Change::FenceAfter(Order::SeqCst)),
    );
    assert!(text.contains("nothing comes after it"), "{text}");
    let fence = Change::MachineFenceBefore("ret; bogus".to_owned());
    let text = refused("orders.ll", edit("accesses", 0, fence));
    assert!(text.contains("is no fence"), "{text}");
}
