//! Random programs for all machines.

use super::shape::{Barrier, Dependency, Item, Shape, Source};
use crate::Random;
use rsan_model::machine::Acquire;

/// A random program: two to four threads, at most eight accesses of two or three locations, every store with a value of its own.
pub fn random_shape(random: &mut Random) -> Shape {
    let threads = random.weighted(&[0, 0, 6, 3, 1]);
    let locations = random.between(2, 3);
    let mut maker = Maker {
        // Some kinds of things are left out altogether: inclusions hold for programs without them.
        swaps: random.chance(30),
        orders: random.chance(40),
        rcsc: random.chance(50),
        light: random.chance(50),
        isync: random.chance(50),
        value: 0,
        locations,
    };
    let accesses = match threads {
        2 => 2..=4,
        3 => 1..=3,
        _ => 1..=2,
    };
    let thread = |_| {
        let n = random.between(*accesses.start(), *accesses.end());
        maker.thread(random, n)
    };
    Shape {
        locations,
        threads: (0..threads).map(thread).collect(),
    }
}

struct Maker {
    swaps: bool,
    orders: bool,
    rcsc: bool,
    light: bool,
    isync: bool,
    value: i32,
    locations: usize,
}

impl Maker {
    fn thread(&mut self, random: &mut Random, accesses: usize) -> Vec<Item> {
        let mut items = Vec::new();
        let mut registers = 0;
        for access in 0..accesses {
            if access > 0 && random.chance(30) {
                items.push(Item::Fence(self.barrier(random)));
            }
            let item = self.access(random, registers);
            registers += usize::from(!matches!(item, Item::Write { .. }));
            items.push(item);
        }
        items
    }

    fn barrier(&self, random: &mut Random) -> Barrier {
        match self.light {
            true => random.pick(&[
                Barrier::Full,
                Barrier::Light,
                Barrier::Loads,
                Barrier::Stores,
            ]),
            false => Barrier::Full,
        }
    }

    fn access(&mut self, random: &mut Random, registers: usize) -> Item {
        let loc = random.below(self.locations);
        let source = self.source(random, registers);
        let ordered = self.orders && random.chance(40);
        let acquire = match (ordered, self.rcsc && random.chance(60)) {
            (false, _) => Acquire::No,
            (true, false) => Acquire::Pc,
            (true, true) => Acquire::Sc,
        };
        match random.weighted(&[45, 45, if self.swaps { 30 } else { 0 }]) {
            0 => Item::Read {
                loc,
                acquire,
                source: source.filter(|s| s.kind != Dependency::Data),
            },
            1 => {
                self.value += 1;
                Item::Write {
                    loc,
                    value: self.value,
                    release: ordered,
                    source,
                }
            }
            _ => {
                self.value += 1;
                Item::Swap {
                    loc,
                    value: self.value,
                    acquire,
                    release: self.orders && random.chance(40),
                    single: random.chance(50),
                }
            }
        }
    }

    fn source(&self, random: &mut Random, registers: usize) -> Option<Source> {
        if registers == 0 || random.chance(50) {
            return None;
        }
        let kinds = [
            Dependency::Addr,
            Dependency::Data,
            Dependency::Ctrl,
            Dependency::CtrlIsync,
        ];
        let kinds = if self.isync { &kinds } else { &kinds[..3] };
        Some(Source {
            register: random.below(registers),
            kind: random.pick(kinds),
        })
    }
}
