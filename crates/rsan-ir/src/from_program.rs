//! A litmus test as a module: each thread is a function that threads run, each location a global variable.
//!
//! Instructions have the numbers that [`number`] gives. An operation that blocks is a loop that ends when it succeeds, and
//! an assertion or assumption a branch to the end. Functions have the names of the threads, made different if they are not.

use crate::module::{
    Access, Block, BlockId, File, Function, Global, GlobalId, Instr, Module, Op, Order, Place,
    Value, ValueId,
};
use rsan_model::{
    self as model, FenceOrd, LocId, Pc, Program, ReadOrd, RmwOrd, ThreadId, WriteOrd,
};
use std::collections::BTreeSet;

/// The number of the instruction at `pc`. Odd numbers are those of the ends of blocks: one more than their last instruction's.
pub fn number(pc: Pc) -> u32 {
    2 * pc.0
}

/// The instruction with a number, or the one before the end of the block with that number.
pub fn instruction(number: u32) -> Pc {
    Pc(number / 2)
}

/// Size of a location.
const BYTES: u32 = 4;

/// The program as a module.
///
/// # Errors
/// The first instruction that spawns or joins a thread: there the functions do not run any number of times in parallel.
pub fn from_program(program: &Program) -> Result<Module, (ThreadId, Pc)> {
    let spawns =
        |instr: &model::Instr| matches!(instr, model::Instr::Spawn(_) | model::Instr::Join(_));
    if let Some((thread, pc, _)) = program.instructions().find(|(_, _, i)| spawns(i)) {
        return Err((thread, pc));
    }
    let memory = Memory::of(program);
    let source = program.source.as_ref();
    let mut module = Module {
        name: source.map_or(&program.name, |s| &s.name).clone(),
        globals: memory.globals(program),
        files: source
            .map(|s| File {
                directory: String::new(),
                name: s.name.clone(),
            })
            .into_iter()
            .collect(),
        ..Module::default()
    };
    let mut names = BTreeSet::new();
    for thread in &program.threads {
        let mut name = thread.name.clone();
        while !names.insert(name.clone()) {
            name.push('\'');
        }
        module
            .functions
            .push(Translation::new(program, thread, &memory).function(name));
    }
    Ok(module)
}

/// Which global each location is in, and where.
struct Memory {
    /// The first location of the global of each location.
    first: Vec<usize>,
}

impl Memory {
    /// Locations that an index can choose between are one global.
    fn of(program: &Program) -> Self {
        let mut first: Vec<usize> = (0..program.locations.len()).collect();
        for (_, _, instr) in program.instructions() {
            let Some(model::Place::Element { base, len, .. }) = instr.place() else {
                continue;
            };
            let (low, high) = (base.index(), base.index() + *len as usize);
            let start = first[low];
            // What began inside of the range belongs to it, and so do all that began there with it.
            for at in &mut first {
                if (low..high).contains(at) || *at == start {
                    *at = start;
                }
            }
        }
        Self { first }
    }

    fn globals(&self, program: &Program) -> Vec<Global> {
        let firsts = self
            .first
            .iter()
            .enumerate()
            .filter(|(l, first)| l == *first);
        firsts
            .map(|(l, _)| Global {
                name: program.location_name(LocId::new(l)).to_owned(),
                title: String::new(),
                constant: false,
                thread_local: false,
                internal: true,
                functions: Vec::new(),
                globals: Vec::new(),
            })
            .collect()
    }

    /// The global of a location, and its offset there.
    fn global(&self, loc: usize) -> (GlobalId, usize) {
        let first = self.first[loc];
        let before = self.first[..first].iter().enumerate();
        let number = before.filter(|(l, first)| l == *first).count();
        (GlobalId(number as u32), loc - first)
    }
}

struct Translation<'p> {
    program: &'p Program,
    thread: &'p model::Thread,
    memory: &'p Memory,
    values: Vec<Value>,
    /// The first instructions of the blocks; the last one is the end.
    leaders: Vec<usize>,
}

impl<'p> Translation<'p> {
    fn new(program: &'p Program, thread: &'p model::Thread, memory: &'p Memory) -> Self {
        Self {
            program,
            thread,
            memory,
            values: Vec::new(),
            leaders: leaders(thread),
        }
    }

    fn function(mut self, name: String) -> Function {
        let blocks = (0..self.leaders.len()).map(|b| self.block(b)).collect();
        Function {
            title: name.clone(),
            name,
            internal: false,
            parameters: 0,
            place: None,
            values: self.values,
            blocks,
            pure: false,
        }
    }

    fn block(&mut self, index: usize) -> Block {
        let from = self.leaders[index];
        let Some(&to) = self.leaders.get(index + 1) else {
            return Block {
                end: number(Pc::new(from)) + 1,
                ..Block::default()
            };
        };
        let instrs = (from..to).filter_map(|pc| self.instr(pc)).collect();
        let last = to - 1;
        let mut successors: Vec<BlockId> = Vec::new();
        for pc in self.successors(last) {
            let block = self.block_at(pc);
            if !successors.contains(&block) {
                successors.push(block);
            }
        }
        Block {
            instrs,
            successors,
            on_success: self.on_success(last),
            returns: None,
            end: number(Pc::new(last)) + 1,
        }
    }

    /// Where control goes from an instruction that ends a block.
    fn successors(&self, pc: usize) -> Vec<usize> {
        let end = self.thread.code.len();
        match &self.thread.code[pc] {
            model::Instr::Wait { .. } | model::Instr::Bcas { .. } => vec![pc + 1, pc],
            model::Instr::Assert(_) | model::Instr::Assume(_) => vec![pc + 1, end],
            model::Instr::Halt => vec![end],
            instr => {
                let next = instr.successors(Pc::new(pc));
                next.into_iter().map(|pc| pc.index().min(end)).collect()
            }
        }
    }

    fn block_at(&self, pc: usize) -> BlockId {
        let number = self.leaders.binary_search(&pc);
        BlockId(number.expect("targets begin blocks") as u32)
    }

    /// The compare-and-swap on whose success the instruction that ends a block branches.
    fn on_success(&self, pc: usize) -> Option<u32> {
        let code = &self.thread.code;
        match &code[pc] {
            model::Instr::Bcas { .. } => Some(number(Pc::new(pc))),
            model::Instr::Branch {
                cond: model::Expr::Reg(tested),
                then,
                otherwise,
            } if then != otherwise => {
                let before = pc.checked_sub(1)?;
                // A block of its own could be entered by a jump.
                let same_block = !self.leaders.contains(&pc);
                let model::Instr::Cas { success, .. } = &code[before] else {
                    return None;
                };
                (same_block && *success == Some(*tested)).then(|| number(Pc::new(before)))
            }
            _ => None,
        }
    }

    fn instr(&mut self, pc: usize) -> Option<Instr> {
        let op = match &self.thread.code[pc] {
            model::Instr::Load { place, ord, .. } | model::Instr::Wait { place, ord, .. } => {
                Op::Load(self.access(place, read_order(*ord)))
            }
            model::Instr::PlainLoad { place, .. } => Op::Load(self.access(place, Order::Plain)),
            model::Instr::Store { place, ord, .. } => Op::Store {
                access: self.access(place, write_order(*ord)),
                value: None,
            },
            model::Instr::PlainStore { place, .. } => Op::Store {
                access: self.access(place, Order::Plain),
                value: None,
            },
            model::Instr::Rmw { place, ord, .. } => Op::Update {
                access: self.access(place, rmw_order(*ord)),
                value: None,
                failure: None,
            },
            model::Instr::Cas {
                place, ord, fail, ..
            } => Op::Update {
                access: self.access(place, rmw_order(*ord)),
                value: None,
                failure: Some(read_order(*fail)),
            },
            model::Instr::Bcas { place, ord, .. } => Op::Update {
                access: self.access(place, rmw_order(*ord)),
                value: None,
                failure: Some(Order::Relaxed),
            },
            model::Instr::Fence(ord) => Op::Fence(fence_order(*ord)),
            model::Instr::Assign { .. }
            | model::Instr::Branch { .. }
            | model::Instr::Jump(_)
            | model::Instr::Choose(_)
            | model::Instr::Assert(_)
            | model::Instr::Assume(_)
            | model::Instr::Observe(_)
            | model::Instr::Spawn(_)
            | model::Instr::Join(_)
            | model::Instr::Halt => return None,
        };
        Some(Instr {
            number: number(Pc::new(pc)),
            op,
            place: self.place(pc),
            inlined: Vec::new(),
        })
    }

    fn place(&self, pc: usize) -> Option<Place> {
        let source = self.program.source.as_ref()?;
        let (line, column) = source.line_column(self.thread.span(Pc::new(pc)).start);
        Some(Place {
            file: 0,
            line: line as u32,
            column: column as u32,
        })
    }

    fn access(&mut self, place: &model::Place, order: Order) -> Access {
        let (loc, known) = match place {
            model::Place::Loc(loc) => (loc.index(), true),
            model::Place::Element { base, index, .. } => match index.as_const() {
                Some(n) => (base.index() + n.max(0) as usize, true),
                None => (base.index(), false),
            },
        };
        let (global, offset) = self.memory.global(loc.min(self.memory.first.len() - 1));
        let base = self.value(Value::Global(global));
        let pointer = if !known {
            self.value(Value::Offset(base, None))
        } else if offset > 0 {
            let bytes = (offset * BYTES as usize) as i64;
            self.value(Value::Offset(base, Some(bytes)))
        } else {
            base
        };
        Access {
            pointer,
            size: BYTES,
            order,
            volatile: false,
            kind: None,
        }
    }

    /// The number of a value, which may be there already.
    fn value(&mut self, value: Value) -> ValueId {
        let known = self.values.iter().position(|v| *v == value);
        let number = known.unwrap_or_else(|| {
            self.values.push(value);
            self.values.len() - 1
        });
        ValueId(number as u32)
    }
}

/// Where blocks begin, and the end of the code.
fn leaders(thread: &model::Thread) -> Vec<usize> {
    let end = thread.code.len();
    let mut leaders = BTreeSet::from([0, end]);
    for (pc, instr) in thread.code.iter().enumerate() {
        match instr {
            model::Instr::Wait { .. } | model::Instr::Bcas { .. } => leaders.extend([pc, pc + 1]),
            model::Instr::Assert(_)
            | model::Instr::Assume(_)
            | model::Instr::Halt
            | model::Instr::Branch { .. }
            | model::Instr::Jump(_)
            | model::Instr::Choose(_) => {
                let targets = instr.successors(Pc::new(pc));
                leaders.extend(targets.iter().map(|to| to.index().min(end)));
                leaders.insert(pc + 1);
            }
            _ => {}
        }
    }
    leaders.into_iter().collect()
}

fn read_order(ord: ReadOrd) -> Order {
    rmw_order(ord.into())
}

fn write_order(ord: WriteOrd) -> Order {
    rmw_order(ord.into())
}

fn rmw_order(ord: RmwOrd) -> Order {
    match ord {
        RmwOrd::Relaxed => Order::Relaxed,
        RmwOrd::Acquire => Order::Acquire,
        RmwOrd::Release => Order::Release,
        RmwOrd::AcqRel => Order::AcqRel,
        RmwOrd::SeqCst => Order::SeqCst,
    }
}

fn fence_order(ord: FenceOrd) -> Order {
    match ord {
        FenceOrd::Acquire => Order::Acquire,
        FenceOrd::Release => Order::Release,
        FenceOrd::AcqRel => Order::AcqRel,
        FenceOrd::SeqCst => Order::SeqCst,
    }
}

#[cfg(test)]
mod tests;
