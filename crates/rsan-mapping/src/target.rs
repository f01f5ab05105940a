//! A machine, and which of the mappings in use is meant.

use rsan_model::machine::Machine;
use std::fmt;
use std::str::FromStr;

/// What a program is compiled for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Target {
    /// The machine.
    pub machine: Machine,
    /// ARMv8: acquire loads are `ldapr`. A seq_cst load is `ldar` all the same.
    pub rcpc: bool,
    /// ARMv8: how read-modify-writes are done.
    pub rmws: Rmws,
    /// x86: how seq_cst stores are done.
    pub x86_store: X86Store,
    /// Power: where the fence of seq_cst accesses is.
    pub power_sync: PowerSync,
    /// Power: what follows an acquire load.
    pub power_acquire: PowerAcquire,
    /// A weak compare-and-swap may fail for no reason even where it is an instruction that does not. So it is in C, and a
    /// program is compared with itself on two machines by what it is in C.
    pub spurious: bool,
}

/// How read-modify-writes are done.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Rmws {
    /// Load exclusive, store exclusive, again if it failed.
    Exclusives,
    /// One instruction (`ldadd`, `swp`, `cas`).
    Instructions,
}

/// How x86 does seq_cst stores.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum X86Store {
    /// `xchg`
    Xchg,
    /// `mov; mfence`
    Mfence,
}

/// Where Power has the `sync` of seq_cst accesses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PowerSync {
    /// Before the access.
    Leading,
    /// After the access.
    Trailing,
}

/// What makes a load of Power acquire.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PowerAcquire {
    /// A branch that depends on it, and `isync`.
    Isync,
    /// `lwsync`
    Lwsync,
}

impl Target {
    /// The mapping that compilers use without further options: for ARMv8 `ldar` and exclusives (its first version), for x86
    /// `xchg`, for Power leading `sync` and `isync`.
    pub fn new(machine: Machine) -> Self {
        Self {
            machine,
            rcpc: false,
            rmws: Rmws::Exclusives,
            x86_store: X86Store::Xchg,
            power_sync: PowerSync::Leading,
            power_acquire: PowerAcquire::Isync,
            spurious: false,
        }
    }

    /// All mappings for a machine, the one of [`Target::new`] first.
    pub fn variants(machine: Machine) -> Vec<Self> {
        let first = Self::new(machine);
        match machine {
            Machine::Sc | Machine::Armv7 | Machine::Riscv => vec![first],
            Machine::X86 => [X86Store::Xchg, X86Store::Mfence]
                .map(|x86_store| Self { x86_store, ..first })
                .to_vec(),
            Machine::Armv8 => [Rmws::Exclusives, Rmws::Instructions]
                .into_iter()
                .flat_map(|rmws| {
                    [false, true].map(|rcpc| Self {
                        rcpc,
                        rmws,
                        ..first
                    })
                })
                .collect(),
            Machine::Power => [PowerSync::Leading, PowerSync::Trailing]
                .into_iter()
                .flat_map(|power_sync| {
                    [PowerAcquire::Isync, PowerAcquire::Lwsync].map(|power_acquire| Self {
                        power_sync,
                        power_acquire,
                        ..first
                    })
                })
                .collect(),
        }
    }

    /// All mappings for all machines.
    pub fn all() -> Vec<Self> {
        Machine::ALL.into_iter().flat_map(Self::variants).collect()
    }
}

impl fmt::Display for Target {
    /// The machine's name, and what differs from [`Target::new`]: `armv8+rcpc+lse`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = Self::new(self.machine);
        let options = [
            (self.rcpc != first.rcpc, "rcpc"),
            (self.rmws != first.rmws, "lse"),
            (self.x86_store != first.x86_store, "mfence"),
            (self.power_sync != first.power_sync, "trailing"),
            (self.power_acquire != first.power_acquire, "lwsync"),
        ];
        let mut name = self.machine.name().to_owned();
        for (_, option) in options.into_iter().filter(|(differs, _)| *differs) {
            name.push('+');
            name.push_str(option);
        }
        f.pad(&name)
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let machine: Machine = text.split('+').next().unwrap_or_default().parse()?;
        let mut words: Vec<&str> = text.split('+').collect();
        words.sort_unstable();
        let same = |target: &Self| {
            let name = target.to_string();
            let mut known: Vec<&str> = name.split('+').collect();
            known.sort_unstable();
            known == words
        };
        let variants = Self::variants(machine);
        variants.iter().copied().find(same).ok_or_else(|| {
            let names: Vec<String> = variants.iter().map(Self::to_string).collect();
            format!("unknown target `{text}` (known: {})", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_targets() {
        for target in Target::all() {
            assert_eq!(target.to_string().parse(), Ok(target));
        }
        assert_eq!(
            "armv8+lse+rcpc".parse::<Target>(),
            "armv8+rcpc+lse".parse::<Target>()
        );
        let error = "x86+lse".parse::<Target>().expect_err("no such variant");
        assert_eq!(error, "unknown target `x86+lse` (known: x86, x86+mfence)");
    }
}
