//! Small straight-line programs with forward branches, and their SC semantics.

use crate::{Access, Effect};
use rsan_model::{CasStrength, FenceOrd, LocId, ReadOrd, RmwOrd, ThreadId, Value, WriteOrd};

/// One-element lists of values, for waits.
pub(super) static SINGLE: [[Value; 1]; 10] = [[-1], [0], [1], [2], [3], [4], [5], [6], [7], [8]];

pub(super) fn single(value: Value) -> &'static [Value] {
    let position = usize::try_from(value + 1).expect("small values only");
    &SINGLE[position]
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    Access {
        loc: LocId,
        access: Access<'static>,
        operand: Operand,
        dst: usize,
    },
    /// Waits for the value in a register.
    WaitReg {
        loc: LocId,
        reg: usize,
        ord: ReadOrd,
    },
    Fence(FenceOrd),
    /// Non-atomic access to a location that is never atomic.
    Plain {
        loc: LocId,
        write: bool,
    },
    /// Non-atomic write to an atomic location.
    Init {
        loc: LocId,
        value: Value,
    },
    Spawn(ThreadId),
    Join(ThreadId),
    /// Skips instructions when the register is (or is not) equal to the value.
    Branch {
        reg: usize,
        value: Value,
        equal: bool,
        skip: usize,
    },
}

/// What a write writes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operand {
    Value(Value),
    /// The old value plus this.
    Add(Value),
}

pub(super) const REGISTERS: usize = 4;

#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) threads: Vec<Vec<Op>>,
    pub(super) text: String,
}

/// What an access did: its effect, and the value it read or found.
pub(super) type Outcome = (Effect, Value);

/// What an access can do when the location holds `old`; nothing if it blocks.
pub(super) fn outcomes(access: &Access<'_>, operand: Operand, old: Value) -> Vec<Outcome> {
    let value = match operand {
        Operand::Value(value) => value,
        Operand::Add(value) => old + value,
    };
    match *access {
        Access::Load(ord) => vec![(Effect::Read(ord), old)],
        Access::Store(ord) => vec![(Effect::Write { value, ord }, old)],
        Access::Rmw(ord) => vec![(Effect::Rmw { value, ord }, old)],
        Access::Cas {
            expected,
            ord,
            fail,
            strength,
        } => {
            let mut all = Vec::new();
            if old == expected {
                all.push((Effect::Rmw { value, ord }, old));
            }
            if old != expected || strength == CasStrength::Weak {
                all.push((Effect::Read(fail), old));
            }
            all
        }
        Access::Wait { values, ord } if values.contains(&old) => vec![(Effect::Read(ord), old)],
        Access::Bcas { expected, ord } if old == expected => {
            vec![(Effect::Rmw { value, ord }, old)]
        }
        Access::Wait { .. } | Access::Bcas { .. } => Vec::new(),
    }
}

impl Program {
    /// Reads `op; op || op`. Registers may be left out, and so may stored values (1). Locations are single letters.
    pub(super) fn parse(text: &str) -> Self {
        let threads = text
            .split("||")
            .map(|thread| thread.split(';').map(parse_op).collect())
            .collect();
        Self {
            threads,
            text: text.to_owned(),
        }
    }

    /// One more than the largest location.
    pub(super) fn locations(&self) -> usize {
        let loc = |op: &Op| match *op {
            Op::Access { loc, .. } | Op::WaitReg { loc, .. } => loc.index() + 1,
            Op::Plain { loc, .. } | Op::Init { loc, .. } => loc.index() + 1,
            Op::Fence(_) | Op::Spawn(_) | Op::Join(_) | Op::Branch { .. } => 0,
        };
        self.threads.iter().flatten().map(loc).max().unwrap_or(0)
    }

    /// Whether another thread creates this one.
    pub(super) fn is_spawned(&self, thread: ThreadId) -> bool {
        let spawns = |op: &Op| matches!(op, Op::Spawn(child) if *child == thread);
        self.threads.iter().flatten().any(spawns)
    }
}

fn read_ord(text: &str) -> ReadOrd {
    match text {
        "rlx" => ReadOrd::Relaxed,
        "acq" => ReadOrd::Acquire,
        "sc" => ReadOrd::SeqCst,
        _ => panic!("read order {text}"),
    }
}

fn write_ord(text: &str) -> WriteOrd {
    match text {
        "rlx" => WriteOrd::Relaxed,
        "rel" => WriteOrd::Release,
        "sc" => WriteOrd::SeqCst,
        _ => panic!("write order {text}"),
    }
}

fn rmw_ord(text: &str) -> RmwOrd {
    match text {
        "rlx" => RmwOrd::Relaxed,
        "acq" => RmwOrd::Acquire,
        "rel" => RmwOrd::Release,
        "ar" => RmwOrd::AcqRel,
        "sc" => RmwOrd::SeqCst,
        _ => panic!("rmw order {text}"),
    }
}

fn fence_ord(text: &str) -> FenceOrd {
    match text {
        "acq" => FenceOrd::Acquire,
        "rel" => FenceOrd::Release,
        "acqrel" => FenceOrd::AcqRel,
        "sc" => FenceOrd::SeqCst,
        _ => panic!("fence order {text}"),
    }
}

fn location(text: &str) -> LocId {
    let position = "xyzwsvuabc".find(text).expect("a known location");
    LocId::new(position)
}

fn register(text: &str) -> Option<usize> {
    text.strip_prefix('r')?.parse().ok()
}

fn parse_op(text: &str) -> Op {
    let mut words = text.split_whitespace().collect::<Vec<_>>();
    let mut name = words.remove(0).split('.');
    let (kind, ord) = (name.next().unwrap_or(""), name.next().unwrap_or(""));
    let number = |text: &str| text.parse::<Value>().expect("a number");
    let thread = |text: &str| ThreadId(number(text) as u32);
    match kind {
        "fence" => return Op::Fence(fence_ord(ord)),
        "fork" => return Op::Spawn(thread(words[0])),
        "join" => return Op::Join(thread(words[0])),
        "beq" | "bne" => {
            return Op::Branch {
                reg: register(words[0]).expect("a register"),
                value: number(words[1]),
                equal: kind == "beq",
                skip: number(words[2]) as usize,
            };
        }
        _ => {}
    }
    let dst = match register(words[0]) {
        Some(reg) => {
            words.remove(0);
            reg
        }
        None => 0,
    };
    let loc = location(words[0]);
    let argument = |i: usize| words.get(i).map_or(1, |word| number(word));
    match kind {
        "init" => Op::Init {
            loc,
            value: argument(1),
        },
        "wait" if register(words[1]).is_some() => Op::WaitReg {
            loc,
            reg: register(words[1]).expect("a register"),
            ord: read_ord(ord),
        },
        _ => {
            let (access, operand) = parse_access(kind, ord, name.next(), &argument);
            Op::Access {
                loc,
                access,
                operand,
                dst,
            }
        }
    }
}

/// An access from its name, its orders and its arguments.
fn parse_access(
    kind: &str,
    ord: &str,
    fail: Option<&str>,
    argument: &dyn Fn(usize) -> Value,
) -> (Access<'static>, Operand) {
    match kind {
        "ld" => (Access::Load(read_ord(ord)), Operand::Value(0)),
        "st" => (Access::Store(write_ord(ord)), Operand::Value(argument(1))),
        "xchg" => (Access::Rmw(rmw_ord(ord)), Operand::Value(argument(1))),
        "fadd" => (Access::Rmw(rmw_ord(ord)), Operand::Add(argument(1))),
        "scas" | "wcas" => {
            let access = Access::Cas {
                expected: argument(1),
                ord: rmw_ord(ord),
                fail: read_ord(fail.expect("a failure order")),
                strength: if kind == "scas" {
                    CasStrength::Strong
                } else {
                    CasStrength::Weak
                },
            };
            (access, Operand::Value(argument(2)))
        }
        "bcas" => {
            let access = Access::Bcas {
                expected: argument(1),
                ord: rmw_ord(ord),
            };
            (access, Operand::Value(argument(2)))
        }
        "wait" => {
            let access = Access::Wait {
                values: single(argument(1)),
                ord: read_ord(ord),
            };
            (access, Operand::Value(0))
        }
        _ => panic!("operation {kind}"),
    }
}
