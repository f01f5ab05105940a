//! Random automata against all computations of the operational machine, and broken rules against both.

mod fences;
mod mutants;
mod oracle;

use crate::compiled::Compiled;
use crate::fences::FenceSet;
use crate::limits::Limits;
use crate::mutation::Mutation;
use crate::prefilter::Prefilter;
use crate::search::{Found, Search};
use crate::witness;
use rsan_model::automata::{Automata, Automaton, ControlState, Op, StateId, Transition};
use rsan_model::{BinOp, Domain, Expr, RegId, Span};
use rsan_random::Random;

/// Whether the search finds a program robust. A broken rule may let it find what the machine does not do, which is a panic.
fn is_robust(automata: &Automata, mutation: Mutation) -> bool {
    let mut compiled = Compiled::new(automata);
    compiled.mutation = mutation;
    let prefilter = Prefilter::broken(automata, mutation);
    let limits = Limits {
        workers: 1,
        ..Limits::default()
    };
    let mut search = Search::new(&compiled, &prefilter, &limits).expect("the program begins");
    search.put(&FenceSet::default());
    match search.run() {
        Found::Nothing => true,
        Found::Attacks(attacks) => {
            witness::computation(automata, &attacks[0]);
            false
        }
        other => panic!("{other:?}"),
    }
}

/// A random program: two or three threads of a few accesses of two or three addresses, some of them computed, some under
/// the lock, with fences, locked instructions and branches.
fn generate(random: &mut Random) -> Automata {
    let threads = 2 + random.below(3) / 2;
    let length = if threads == 2 { 4 } else { 3 };
    let addresses = 2 + random.below(2);
    let threads = (0..threads).map(|number| {
        let mut builder = Builder::new(random, addresses);
        let mut left = 2 + builder.random.below(length - 1);
        if builder.random.below(2) == 0 {
            builder.store_then_load(number);
            left -= 2;
        }
        while left > 0 {
            left -= builder.statement(left);
        }
        builder.thread(number)
    });
    program(threads.collect())
}

/// A random program: two threads, with accesses before, under and after a lock that they make themselves; some do it wrong.
fn generate_with_lock(random: &mut Random) -> Automata {
    let threads = (0..2).map(|number| {
        let mut builder = Builder::new(random, 2);
        let before = builder.random.below(2);
        (0..before).for_each(|_| builder.access());
        builder.grab();
        (0..1 + builder.random.below(2)).for_each(|_| builder.access());
        builder.give();
        (0..builder.random.below(2)).for_each(|_| builder.access());
        builder.thread(number)
    });
    program(threads.collect())
}

/// Where the lock of [`generate_with_lock`] is.
const LOCK: i64 = 9;

fn program(threads: Vec<Automaton>) -> Automata {
    Automata {
        name: "random".to_owned(),
        source: None,
        domain: Domain::Int32,
        threads,
        memory: Vec::new(),
        names: Vec::new(),
    }
}

struct Builder<'a> {
    random: &'a mut Random,
    addresses: usize,
    states: u32,
    transitions: Vec<Transition>,
}

impl<'a> Builder<'a> {
    fn new(random: &'a mut Random, addresses: usize) -> Self {
        Self {
            random,
            addresses,
            states: 1,
            transitions: Vec::new(),
        }
    }

    fn thread(self, number: usize) -> Automaton {
        let state = |s| ControlState {
            name: format!("s{s}"),
            fenceable: true,
        };
        Automaton {
            name: format!("t{number}"),
            states: (0..self.states).map(state).collect(),
            initial: StateId(0),
            registers: vec![("a".to_owned(), 0), ("b".to_owned(), 0)],
            transitions: self.transitions,
        }
    }

    /// Takes the lock, nearly always as it should.
    fn grab(&mut self) {
        let addr = || Expr::Const(LOCK);
        let reg = RegId::new(0);
        let free = binary(BinOp::Eq, register(0), 0);
        let mistake = self.random.below(12);
        if mistake != 0 && self.random.below(2) == 0 {
            let accept = Some(free).filter(|_| mistake != 1);
            let value = Some(Expr::Const(1));
            let (reg, addr) = (Some(reg), addr());
            return self.then(Op::Update {
                reg,
                addr,
                accept,
                value,
            });
        }
        if mistake != 0 {
            self.then(Op::Lock);
        }
        let (accept, value) = (None, Expr::Const(1));
        self.then(Op::Read {
            reg,
            addr: addr(),
            accept,
        });
        if mistake != 1 {
            self.then(Op::Check(free));
        }
        let addr = addr();
        self.then(Op::Write { addr, value });
        if mistake != 0 {
            self.then(Op::Unlock);
        }
    }

    /// Gives it back, nearly always.
    fn give(&mut self) {
        let value = match self.random.below(12) {
            0 => return,
            1 => Expr::Const(2),
            _ => Expr::Const(0),
        };
        let addr = Expr::Const(LOCK);
        self.then(Op::Write { addr, value });
    }

    /// One step from the last state to a new one.
    fn then(&mut self, op: Op) {
        let from = self.states - 1;
        self.states += 1;
        self.add(from, from + 1, op);
    }

    fn add(&mut self, from: u32, to: u32, op: Op) {
        self.transitions.push(Transition {
            from: StateId(from),
            to: StateId(to),
            op,
            span: Span::default(),
        });
    }

    /// What attacks begin with.
    fn store_then_load(&mut self, number: usize) {
        let address = |n: usize| Expr::Const((n % 2) as i64);
        self.then(Op::Write {
            addr: address(number),
            value: Expr::Const(1),
        });
        self.then(Op::Read {
            reg: RegId::new(0),
            addr: address(number + 1),
            accept: None,
        });
    }

    /// Adds a statement; how many accesses it has.
    fn statement(&mut self, left: usize) -> usize {
        match self.random.below(12) {
            0 => {
                self.then(Op::Fence);
                0
            }
            1 | 2 => {
                // A section.
                self.then(Op::Lock);
                let inside = 1 + self.random.below(left.min(2));
                (0..inside).for_each(|_| self.access());
                self.then(Op::Unlock);
                inside
            }
            3 => {
                // What follows happens only if a register has some value.
                let value = self.random.below(3);
                let is = binary(BinOp::Eq, register(self.random.below(2)), value as i64);
                self.then(Op::Check(is));
                0
            }
            4 => {
                let addr = self.address();
                let old = self.random.below(2);
                self.then(Op::Update {
                    reg: Some(RegId::new(old)),
                    addr,
                    accept: None,
                    value: Some(binary(BinOp::Add, register(old), 1)),
                });
                1
            }
            _ => {
                self.access();
                1
            }
        }
    }

    fn access(&mut self) {
        let addr = self.address();
        let op = if self.random.below(2) == 0 {
            Op::Read {
                reg: RegId::new(self.random.below(2)),
                addr,
                accept: None,
            }
        } else {
            let value = match self.random.below(4) {
                0 => register(self.random.below(2)),
                _ => Expr::Const(1 + self.random.below(2) as i64),
            };
            Op::Write { addr, value }
        };
        self.then(op);
    }

    fn address(&mut self) -> Expr {
        match self.random.below(6) {
            0 => register(self.random.below(2)),
            _ => Expr::Const(self.random.below(self.addresses) as i64),
        }
    }
}

/// Programs for rules that random ones seldom meet, in the language of automata, and whether they are robust.
const HANDMADE: [(&str, bool); 5] = [
    // Only a branch that is never taken writes address 3; what lies behind the fence does not matter.
    (
        "thread attacker\ninitial 0\ntransition 0 1 write 1 1\ntransition 1 2 read a 3\ntransition 2 3 mfence\n\
     transition 3 4 read b 2\nend\nthread helper\ninitial 0\ntransition 0 1 check == a 5\n\
     transition 1 2 write 1 3\ntransition 0 2 check != a 5\ntransition 2 3 write 1 2\ntransition 3 4 mfence\n\
     transition 4 5 read b 1\nend\n",
        true,
    ),
    // The attacker comes to its load only with the newer of its delayed stores to 3.
    (
        "thread attacker\ninitial 0\ntransition 0 1 write 1 1\ntransition 1 2 write 1 3\ntransition 2 3 write 2 3\n\
     transition 3 4 read a 3\ntransition 4 5 check == a 2\ntransition 5 6 read b 2\nend\n\
     thread helper\ninitial 0\ntransition 0 1 write 1 2\ntransition 1 2 mfence\ntransition 2 3 read b 1\nend\n",
        false,
    ),
    // The attacker reads at an address that the helper tells it.
    (
        "thread attacker\ninitial 0\ntransition 0 1 read p 5\ntransition 1 2 check == p 2\ntransition 2 3 write 1 1\n\
     transition 3 4 read a p\nend\nthread helper\ninitial 0\ntransition 0 1 write 2 5\ntransition 1 2 write 1 2\n\
     transition 2 3 mfence\ntransition 3 4 read b 1\nend\n",
        false,
    ),
    // 9 looks like a lock, but nobody waits until it is free.
    (
        "thread attacker\ninitial 0\ntransition 0 1 lock\ntransition 1 2 write 1 9\ntransition 2 3 unlock\n\
     transition 3 4 write 1 1\ntransition 4 5 read a 2\ntransition 5 6 write 0 9\nend\n\
     thread helper\ninitial 0\ntransition 0 1 lock\ntransition 1 2 write 1 9\ntransition 2 3 unlock\n\
     transition 3 4 write 1 2\ntransition 4 5 mfence\ntransition 5 6 read b 1\ntransition 6 7 write 0 9\nend\n",
        false,
    ),
    // The attacker stores at 2, too, but later.
    (
        "thread attacker\ninitial 0\ntransition 0 1 write 1 1\ntransition 1 2 write 1 3\ntransition 2 3 read a 2\n\
     transition 3 4 write 5 2\nend\nthread helper\ninitial 0\ntransition 0 1 write 1 2\ntransition 1 2 mfence\n\
     transition 2 3 read b 1\nend\n",
        false,
    ),
];

fn handmade() -> Vec<(Automata, bool)> {
    let parse = |(text, robust): &(&str, bool)| {
        let source = rsan_model::Source::new("handmade", *text);
        let automata = rsan_lang::parse_automata(&source).expect("the program is right");
        (automata, *robust)
    };
    HANDMADE.iter().map(parse).collect()
}

fn register(number: usize) -> Expr {
    Expr::Reg(RegId::new(number))
}

fn binary(op: BinOp, left: Expr, right: i64) -> Expr {
    Expr::Binary(op, Box::new(left), Box::new(Expr::Const(right)))
}

/// Automata in a short form, for messages: a line for each transition.
fn shown(automata: &Automata) -> String {
    let mut out = String::new();
    for thread in &automata.threads {
        out.push_str(&format!("{}:\n", thread.name));
        for t in &thread.transitions {
            out.push_str(&format!("  {} {} {:?}\n", t.from.0, t.to.0, t.op));
        }
    }
    out
}
