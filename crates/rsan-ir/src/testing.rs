//! Modules from a compact notation, for tests.
//!
//! A line is `fn NAME`, a label `l:`, or an instruction: `R x acq`, `W x rel`, `U x sc` (an RMW), `C x sc` (a compare-exchange), `F sc`, `M dmb ish`,
//! `call f`, `goto a b` (to any of them), `if a b` (to `a` if the compare-exchange before it succeeded). Locations are globals; `x+8` is a
//! part of one, `x[]` an unknown part, `*x` what a pointer stored in `x` points to. Without an order accesses are relaxed; `na` is plain.

use crate::module::{
    Access, Block, BlockId, Callee, Function, FunctionId, Global, GlobalId, Instr, Module, Op,
    Order, Value, ValueId,
};
use crate::port::Question;
use rsan_model::machine::Machine;

/// The module of a text.
pub(crate) fn module(text: &str) -> Module {
    let mut module = Module::default();
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("fn ") {
            module.functions.push(Function {
                name: name.into(),
                title: name.into(),
                ..Function::default()
            });
        }
    }
    let mut current: Option<usize> = None;
    let mut body: Vec<&str> = Vec::new();
    for line in text
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty())
        .chain(["fn "])
    {
        if line.starts_with("fn ") || line == "fn" {
            if let Some(index) = current {
                fill(&mut module, index, &body);
            }
            body.clear();
            current = Some(current.map_or(0, |c| c + 1));
        } else {
            body.push(line);
        }
    }
    module
}

/// The question of whether all functions of a module but those called `main` can move from one machine to another.
pub(crate) fn question(module: &Module, from: Machine, to: Machine) -> Question {
    let threads = module.functions.iter().filter(|f| f.name.starts_with('t'));
    Question {
        from,
        to,
        threads: threads.map(|f| f.name.clone()).collect(),
        rcpc: false,
        race_free: false,
    }
}

fn fill(module: &mut Module, index: usize, body: &[&str]) {
    let mut labels: Vec<(&str, usize)> = Vec::new();
    let mut groups: Vec<Vec<&str>> = vec![Vec::new()];
    for line in body {
        let ended = groups.last().and_then(|g| g.last());
        let ended = ended.is_some_and(|l| l.starts_with("goto ") || l.starts_with("if "));
        if let Some(label) = line.strip_suffix(':') {
            if !groups.last().is_some_and(Vec::is_empty) {
                groups.push(Vec::new());
            }
            labels.push((label, groups.len() - 1));
        } else {
            if ended {
                groups.push(Vec::new());
            }
            groups.last_mut().expect("one is there").push(line);
        }
    }
    let find = |label: &str| {
        let at = labels.iter().find(|(l, _)| *l == label);
        BlockId(at.unwrap_or_else(|| panic!("no label {label}")).1 as u32)
    };
    let count = groups.len();
    let mut number = 0;
    for (at, group) in groups.iter().enumerate() {
        let mut block = Block::default();
        let mut jumped = false;
        for line in group {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[0] {
                "goto" => {
                    block.successors = words[1..].iter().map(|l| find(l)).collect();
                    jumped = true;
                }
                "if" => {
                    block.successors = words[1..].iter().map(|l| find(l)).collect();
                    block.on_success = block.instrs.last().map(|i: &Instr| i.number);
                    jumped = true;
                }
                "ret" => jumped = true,
                _ => {
                    let op = op(module, index, &words, &mut number, &mut block.instrs);
                    block.instrs.push(Instr {
                        number,
                        op,
                        place: None,
                        inlined: Vec::new(),
                    });
                    number += 1;
                }
            }
        }
        if !jumped && at + 1 < count {
            block.successors = vec![BlockId(at as u32 + 1)];
        }
        block.end = number;
        number += 1;
        module.functions[index].blocks.push(block);
    }
}

fn op(
    module: &mut Module,
    index: usize,
    words: &[&str],
    number: &mut u32,
    before: &mut Vec<Instr>,
) -> Op {
    let order = match words
        .get(2)
        .copied()
        .filter(|_| !["M", "call"].contains(&words[0]))
    {
        Some("na") => Order::Plain,
        None => Order::Relaxed,
        Some(word) => parse_order(word),
    };
    let mut access = || {
        let pointer = pointer(module, index, words[1], number, before);
        Access {
            pointer,
            size: 4,
            order,
            volatile: false,
            kind: None,
        }
    };
    match words[0] {
        "R" => Op::Load(access()),
        "W" => Op::Store {
            access: access(),
            value: None,
        },
        "U" => Op::Update {
            access: access(),
            value: None,
            failure: None,
        },
        "C" => {
            let failure = match order {
                Order::SeqCst => Order::SeqCst,
                Order::Acquire | Order::AcqRel => Order::Acquire,
                _ => Order::Relaxed,
            };
            Op::Update {
                access: access(),
                value: None,
                failure: Some(failure),
            }
        }
        "F" => Op::Fence(parse_order(words[1])),
        "M" => Op::MachineFence(words[1..].join(" ")),
        "call" => {
            let f = module.functions.iter().position(|f| f.name == words[1]);
            let callee = match f {
                Some(f) => f,
                None => {
                    let name = words[1].to_string();
                    module.functions.push(Function {
                        title: name.clone(),
                        name,
                        ..Function::default()
                    });
                    module.functions.len() - 1
                }
            };
            let arguments = words[2..]
                .iter()
                .map(|w| Some(pointer(module, index, w, number, before)))
                .collect();
            Op::Call {
                callee: Callee::Direct(FunctionId(callee as u32)),
                arguments,
            }
        }
        word => panic!("no instruction {word}"),
    }
}

fn parse_order(word: &str) -> Order {
    match word {
        "acq" => Order::Acquire,
        "rel" => Order::Release,
        "ar" => Order::AcqRel,
        "sc" => Order::SeqCst,
        "rlx" => Order::Relaxed,
        word => panic!("no order {word}"),
    }
}

fn pointer(
    module: &mut Module,
    index: usize,
    text: &str,
    number: &mut u32,
    before: &mut Vec<Instr>,
) -> ValueId {
    let push = |module: &mut Module, value: Value| {
        let values = &mut module.functions[index].values;
        let known = values.iter().position(|v| *v == value);
        let at = known.unwrap_or_else(|| {
            values.push(value);
            values.len() - 1
        });
        ValueId(at as u32)
    };
    if let Some(name) = text.strip_prefix('&') {
        let f = module
            .functions
            .iter()
            .position(|f| f.name == name)
            .expect("a function");
        return push(module, Value::Function(FunctionId(f as u32)));
    }
    if let Some(held) = text.strip_prefix('*') {
        let pointer = pointer(module, index, held, number, before);
        let access = Access {
            pointer,
            size: 8,
            order: Order::Relaxed,
            volatile: false,
            kind: None,
        };
        before.push(Instr {
            number: *number,
            op: Op::Load(access),
            place: None,
            inlined: Vec::new(),
        });
        *number += 1;
        return push(module, Value::Result(*number - 1));
    }
    let (name, offset) = match text.split_once(['+', '[']) {
        Some((name, "]")) => (name, Some(None)),
        Some((name, by)) => (name, Some(Some(by.parse().expect("a number")))),
        None => (text, None),
    };
    let known = module.globals.iter().position(|g| g.name == name);
    let global = known.unwrap_or_else(|| {
        module.globals.push(Global {
            name: name.into(),
            title: String::new(),
            constant: false,
            thread_local: false,
            internal: true,
            functions: Vec::new(),
            globals: Vec::new(),
        });
        module.globals.len() - 1
    });
    let base = push(module, Value::Global(GlobalId(global as u32)));
    match offset {
        None => base,
        Some(by) => push(module, Value::Offset(base, by)),
    }
}
