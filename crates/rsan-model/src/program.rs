//! Programs: a fixed set of threads over shared locations, each a flat list of instructions.
//!
//! Readers lower structured control flow to [`Instr::Branch`], [`Instr::Jump`] and [`Instr::Choose`]. Every
//! engine interprets this one form, so a construct exists when it is here, and nowhere else.

use crate::{
    Condition, Domain, Instr, LocId, Model, Observable, Pc, Source, Span, ThreadId, Value,
};

/// A program over shared memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// Its name: the litmus header, or the file's stem.
    pub name: String,
    /// Where it was read from; `None` for programs that were built in memory.
    pub source: Option<Source>,
    /// How values wrap.
    pub domain: Domain,
    /// The shared locations; the elements of an array are consecutive.
    pub locations: Vec<Location>,
    /// The threads.
    pub threads: Vec<Thread>,
    /// Values that the user asks to track one by one (`track` lines of TPL).
    pub tracked: Vec<(LocId, Track)>,
    /// The final condition, if any.
    pub condition: Option<Condition>,
    /// What `locations [..]` adds to the observed final state.
    pub observed: Vec<Observable>,
}

/// A shared location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// Its name as the user wrote it (`x`, `flag[1]`).
    pub name: String,
    /// Whether it is atomic.
    pub kind: LocKind,
    /// Its initial value.
    pub init: Value,
}

/// Whether accesses to a location may race.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LocKind {
    /// Declared atomic. Plain accesses to it are allowed (initialisation) and race-checked.
    Atomic,
    /// Plain memory: conflicting accesses that are not ordered by happens-before are a data race.
    Plain,
}

/// Which values of a location a `track` line names.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Track {
    /// Every value.
    All,
    /// These.
    Values(Vec<Value>),
}

/// A thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    /// Its name (`P0`, or the TPL function).
    pub name: String,
    /// How it starts.
    pub start: Start,
    /// Its registers; [`RegId`](crate::RegId) indexes here.
    pub registers: Vec<Register>,
    /// Its instructions; [`Pc`] indexes here. Running off the end is the same as [`Instr::Halt`].
    pub code: Vec<Instr>,
    /// Where each instruction stands in the source; as long as `code`.
    pub spans: Vec<Span>,
}

/// How a thread comes to run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Start {
    /// From the beginning.
    Initial,
    /// By an [`Instr::Spawn`] of another thread.
    Spawned,
}

/// A register (local variable).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Register {
    /// Its name; compiler temporaries have names that no source can spell.
    pub name: String,
    /// Its initial value.
    pub init: Value,
}

impl Thread {
    /// The instruction at `pc`; past the end it is [`Instr::Halt`].
    pub fn instr(&self, pc: Pc) -> &Instr {
        self.code.get(pc.index()).unwrap_or(&Instr::Halt)
    }

    /// Where the instruction at `pc` stands.
    pub fn span(&self, pc: Pc) -> Span {
        self.spans.get(pc.index()).copied().unwrap_or_default()
    }

    /// Calls `f` for every place that an instruction of it may go to, other than the next one.
    pub fn for_each_target(&mut self, f: impl Fn(&mut Pc)) {
        for instr in &mut self.code {
            match instr {
                Instr::Branch {
                    then, otherwise, ..
                } => {
                    f(then);
                    f(otherwise);
                }
                Instr::Jump(to) => f(to),
                Instr::Choose(to) => to.iter_mut().for_each(&f),
                _ => {}
            }
        }
    }

    /// The initial values of its registers.
    pub fn initial_registers(&self) -> Vec<Value> {
        self.registers.iter().map(|r| r.init).collect()
    }
}

impl Program {
    /// A program without threads, to be filled in.
    pub fn new(name: impl Into<String>, domain: Domain) -> Self {
        Self {
            name: name.into(),
            source: None,
            domain,
            locations: Vec::new(),
            threads: Vec::new(),
            tracked: Vec::new(),
            condition: None,
            observed: Vec::new(),
        }
    }

    /// Every instruction of every thread.
    pub fn instructions(&self) -> impl Iterator<Item = (ThreadId, Pc, &Instr)> {
        self.threads.iter().enumerate().flat_map(|(t, thread)| {
            thread
                .code
                .iter()
                .enumerate()
                .map(move |(pc, instr)| (ThreadId::new(t), Pc::new(pc), instr))
        })
    }

    /// The location's name as the user wrote it.
    pub fn location_name(&self, loc: LocId) -> &str {
        &self.locations[loc.index()].name
    }

    /// The program with every order raised to the weakest that `model` knows: under RA all accesses
    /// release and acquire; elsewhere nothing changes.
    pub fn for_model(&self, model: Model) -> Self {
        let mut program = self.clone();
        if model == Model::Ra {
            for thread in &mut program.threads {
                thread
                    .code
                    .iter_mut()
                    .for_each(Instr::raise_to_release_acquire);
            }
        }
        program
    }
}
