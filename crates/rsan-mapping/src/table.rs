//! The tables: one row for each operation and order.

use crate::{PowerAcquire, PowerSync, Rmws, Target, X86Store};
use rsan_model::machine::{Acquire, Fence, Kinds, Machine, Strength};
use rsan_model::{FenceOrd, ReadOrd, RmwOrd, WriteOrd};

/// How a target does each operation. Plain accesses are done as relaxed ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Table {
    /// Loads: relaxed, acquire, seq_cst.
    pub load: [Load; 3],
    /// Stores: relaxed, release, seq_cst.
    pub store: [Store; 3],
    /// Read-modify-writes: relaxed, acquire, release, acq_rel, seq_cst.
    pub rmw: [Rmw; 5],
    /// Compare-and-swaps, in the same orders.
    pub cas: [Rmw; 5],
    /// Fences: acquire, release, acq_rel, seq_cst. `None` is no instruction.
    pub fence: [Option<Fence>; 4],
}

/// A load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Load {
    /// A fence before it.
    pub before: Option<Fence>,
    /// The load.
    pub strength: Strength,
    /// What follows it.
    pub after: After,
}

/// A store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Store {
    /// A fence before it.
    pub before: Option<Fence>,
    /// The store.
    pub strength: Strength,
    /// It is an exchange whose result is not used.
    pub exchange: bool,
    /// A fence after it.
    pub after: Option<Fence>,
}

/// A read-modify-write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rmw {
    /// A fence before it.
    pub before: Option<Fence>,
    /// How it reads and writes.
    pub form: Form,
    /// Its read.
    pub read: Strength,
    /// Its write.
    pub write: Strength,
    /// What follows it.
    pub after: After,
}

/// How a read-modify-write reads and writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// One instruction.
    Instruction,
    /// Load exclusive and store exclusive; the latter's status on success.
    Exclusives(i32),
}

/// What follows a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum After {
    /// Nothing.
    Nothing,
    /// A fence.
    Fence(Fence),
    /// A branch that depends on the value, to the next instruction, and a fence.
    BranchAndFence(Fence),
}

const PLAIN: Strength = Strength {
    acquire: Acquire::No,
    release: false,
};
const ACQUIRE: Strength = Strength {
    acquire: Acquire::Sc,
    release: false,
};
const ACQUIRE_PC: Strength = Strength {
    acquire: Acquire::Pc,
    release: false,
};
const RELEASE: Strength = Strength {
    acquire: Acquire::No,
    release: true,
};
const BOTH: Strength = Strength {
    acquire: Acquire::Sc,
    release: true,
};

const DMB: Fence = Fence::Dmb(Kinds::All);
const DMB_LD: Fence = Fence::Dmb(Kinds::Reads);
const FENCE_R_RW: Fence = riscv(Kinds::Reads, Kinds::All);
const FENCE_RW_W: Fence = riscv(Kinds::All, Kinds::Writes);
const FENCE_RW_RW: Fence = riscv(Kinds::All, Kinds::All);

const fn riscv(before: Kinds, after: Kinds) -> Fence {
    Fence::Riscv { before, after }
}

const fn load(before: Option<Fence>, strength: Strength, after: After) -> Load {
    Load {
        before,
        strength,
        after,
    }
}

const fn store(before: Option<Fence>, strength: Strength, after: Option<Fence>) -> Store {
    Store {
        before,
        strength,
        exchange: false,
        after,
    }
}

/// A read-modify-write that is one instruction, without fences.
const fn instruction(read: Strength, write: Strength) -> Rmw {
    Rmw {
        before: None,
        form: Form::Instruction,
        read,
        write,
        after: After::Nothing,
    }
}

/// One by exclusive accesses, without fences.
const fn exclusives(read: Strength, write: Strength) -> Rmw {
    Rmw {
        form: Form::Exclusives(0),
        ..instruction(read, write)
    }
}

/// One by plain exclusive accesses between fences.
const fn fenced(before: Option<Fence>, success: i32, after: After) -> Rmw {
    Rmw {
        before,
        form: Form::Exclusives(success),
        after,
        ..instruction(PLAIN, PLAIN)
    }
}

/// No fences at all.
const SC: Table = Table {
    load: [load(None, PLAIN, After::Nothing); 3],
    store: [store(None, PLAIN, None); 3],
    rmw: [instruction(PLAIN, PLAIN); 5],
    cas: [instruction(PLAIN, PLAIN); 5],
    fence: [None; 4],
};

/// `mov`, `lock`-prefixed instructions, `mfence`.
const fn x86(seq_cst: X86Store) -> Table {
    let mov = store(None, PLAIN, None);
    let seq_cst = match seq_cst {
        X86Store::Xchg => Store {
            exchange: true,
            ..mov
        },
        X86Store::Mfence => store(None, PLAIN, Some(Fence::Mfence)),
    };
    Table {
        store: [mov, mov, seq_cst],
        fence: [None, None, None, Some(Fence::Mfence)],
        ..SC
    }
}

/// `ldr`, `ldar` or `ldapr`, `str`, `stlr`, `dmb ishld`, `dmb ish`; `ldxr`, `ldaxr`, `stxr`, `stlxr` or `ldadd` and its
/// like with the suffixes `a`, `l`, `al`.
fn armv8(rcpc: bool, rmws: Rmws) -> Table {
    let acquire = if rcpc { ACQUIRE_PC } else { ACQUIRE };
    let row = |read, write| match rmws {
        Rmws::Exclusives => exclusives(read, write),
        Rmws::Instructions => instruction(read, write),
    };
    let rmw = [
        row(PLAIN, PLAIN),
        row(ACQUIRE, PLAIN),
        row(PLAIN, RELEASE),
        row(ACQUIRE, RELEASE),
        row(ACQUIRE, RELEASE),
    ];
    Table {
        load: [
            load(None, PLAIN, After::Nothing),
            load(None, acquire, After::Nothing),
            load(None, ACQUIRE, After::Nothing),
        ],
        store: [
            store(None, PLAIN, None),
            store(None, RELEASE, None),
            store(None, RELEASE, None),
        ],
        rmw,
        cas: rmw,
        fence: [Some(DMB_LD), Some(DMB), Some(DMB), Some(DMB)],
    }
}

/// `ldr`, `str`, `ldrex`, `strex`, `dmb`.
const ARMV7: Table = {
    let dmb = After::Fence(DMB);
    let rmw = [
        fenced(None, 0, After::Nothing),
        fenced(None, 0, dmb),
        fenced(Some(DMB), 0, After::Nothing),
        fenced(Some(DMB), 0, dmb),
        fenced(Some(DMB), 0, dmb),
    ];
    Table {
        load: [
            load(None, PLAIN, After::Nothing),
            load(None, PLAIN, dmb),
            load(None, PLAIN, dmb),
        ],
        store: [
            store(None, PLAIN, None),
            store(Some(DMB), PLAIN, None),
            store(Some(DMB), PLAIN, Some(DMB)),
        ],
        rmw,
        cas: rmw,
        fence: [Some(DMB); 4],
    }
};

/// Table A.6 of the manual; AMOs, and `lr`/`sc` for compare-and-swap. An AMO's bits are those of its read and its write.
const RISCV: Table = Table {
    load: [
        load(None, PLAIN, After::Nothing),
        load(None, PLAIN, After::Fence(FENCE_R_RW)),
        load(Some(FENCE_RW_RW), PLAIN, After::Fence(FENCE_R_RW)),
    ],
    store: [
        store(None, PLAIN, None),
        store(Some(FENCE_RW_W), PLAIN, None),
        store(Some(FENCE_RW_W), PLAIN, None),
    ],
    rmw: [
        instruction(PLAIN, PLAIN),
        instruction(ACQUIRE, ACQUIRE),
        instruction(RELEASE, RELEASE),
        instruction(BOTH, BOTH),
        instruction(BOTH, BOTH),
    ],
    cas: [
        exclusives(PLAIN, PLAIN),
        exclusives(ACQUIRE, PLAIN),
        exclusives(PLAIN, RELEASE),
        exclusives(ACQUIRE, RELEASE),
        exclusives(BOTH, RELEASE),
    ],
    fence: [
        Some(FENCE_R_RW),
        Some(FENCE_RW_W),
        Some(Fence::RiscvTso),
        Some(FENCE_RW_RW),
    ],
};

/// `lwz`, `stw`, `lwarx`, `stwcx.`, `sync`, `lwsync`, `isync`. The branch before the `isync` of a read-modify-write is the one
/// that ends its loop: the loop ends when the pair of accesses is done, so it waits for the value that was read.
const fn power(place: PowerSync, acquire: PowerAcquire) -> Table {
    const SYNC: Option<Fence> = Some(Fence::Sync);
    const LWSYNC: Option<Fence> = Some(Fence::Lwsync);
    let acquire = match acquire {
        PowerAcquire::Isync => After::BranchAndFence(Fence::Isync),
        PowerAcquire::Lwsync => After::Fence(Fence::Lwsync),
    };
    let sync = After::Fence(Fence::Sync);
    let (sc_load, sc_store, sc_rmw) = match place {
        PowerSync::Leading => (
            load(SYNC, PLAIN, acquire),
            store(SYNC, PLAIN, None),
            fenced(SYNC, 1, acquire),
        ),
        PowerSync::Trailing => (
            load(None, PLAIN, sync),
            store(LWSYNC, PLAIN, SYNC),
            fenced(LWSYNC, 1, sync),
        ),
    };
    let rmw = [
        fenced(None, 1, After::Nothing),
        fenced(None, 1, acquire),
        fenced(LWSYNC, 1, After::Nothing),
        fenced(LWSYNC, 1, acquire),
        sc_rmw,
    ];
    Table {
        load: [
            load(None, PLAIN, After::Nothing),
            load(None, PLAIN, acquire),
            sc_load,
        ],
        store: [
            store(None, PLAIN, None),
            store(LWSYNC, PLAIN, None),
            sc_store,
        ],
        rmw,
        cas: rmw,
        fence: [LWSYNC, LWSYNC, LWSYNC, SYNC],
    }
}

impl Table {
    /// The table of a target.
    pub fn of(target: &Target) -> Self {
        match target.machine {
            Machine::Sc => SC,
            Machine::X86 => x86(target.x86_store),
            Machine::Armv8 => armv8(target.rcpc, target.rmws),
            Machine::Armv7 => ARMV7,
            Machine::Riscv => RISCV,
            Machine::Power => power(target.power_sync, target.power_acquire),
        }
    }

    /// The row of a load.
    pub fn load(&self, ord: ReadOrd) -> Load {
        match ord {
            ReadOrd::Relaxed => self.load[0],
            ReadOrd::Acquire => self.load[1],
            ReadOrd::SeqCst => self.load[2],
        }
    }

    /// The row of a store.
    pub fn store(&self, ord: WriteOrd) -> Store {
        match ord {
            WriteOrd::Relaxed => self.store[0],
            WriteOrd::Release => self.store[1],
            WriteOrd::SeqCst => self.store[2],
        }
    }

    /// The row of a read-modify-write that always writes.
    pub fn rmw(&self, ord: RmwOrd) -> Rmw {
        self.rmw[rmw_row(ord)]
    }

    /// The row of a compare-and-swap.
    pub fn cas(&self, ord: RmwOrd) -> Rmw {
        self.cas[rmw_row(ord)]
    }

    /// The row of a fence.
    pub fn fence(&self, ord: FenceOrd) -> Option<Fence> {
        match ord {
            FenceOrd::Acquire => self.fence[0],
            FenceOrd::Release => self.fence[1],
            FenceOrd::AcqRel => self.fence[2],
            FenceOrd::SeqCst => self.fence[3],
        }
    }
}

fn rmw_row(ord: RmwOrd) -> usize {
    match ord {
        RmwOrd::Relaxed => 0,
        RmwOrd::Acquire => 1,
        RmwOrd::Release => 2,
        RmwOrd::AcqRel => 3,
        RmwOrd::SeqCst => 4,
    }
}
