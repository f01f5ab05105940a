//! What is known of a program: its functions, their control flow, and what they do to memory.
//!
//! A module is what a reader of LLVM's IR leaves of it: values only as far as they say where a pointer comes from,
//! instructions only as far as they touch memory, order it, or call. It is plain data, and travels as JSON, without what is empty.

use serde::{Deserialize, Serialize};

/// What is false is not written: most flags are.
fn is_not(flag: &bool) -> bool {
    !flag
}

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// For slices.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index!(
    /// A function of a module.
    FunctionId
);
index!(
    /// A global variable of a module.
    GlobalId
);
index!(
    /// A value of a function.
    ValueId
);
index!(
    /// A basic block of a function; the first one is the entry.
    BlockId
);

/// A program, or a part of one.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Module {
    /// Files that it was read from.
    pub name: String,
    /// Its functions, declarations included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<Function>,
    /// Its global variables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub globals: Vec<Global>,
    /// Source files; places index here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<File>,
    /// Access types of type-based alias information; accesses index here. The first one of a chain is what was accessed, `parent` leads to
    /// what it is a kind of; two types alias if one is an ancestor of the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<AccessType>,
}

/// A source file, as debug information names it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct File {
    /// The folder of the compilation; empty if unknown.
    pub directory: String,
    /// Its name, possibly relative to the folder.
    pub name: String,
}

/// A type of type-based alias information.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AccessType {
    /// Its name: `int`, `omnipotent char`.
    pub name: String,
    /// What it is a kind of.
    pub parent: Option<u32>,
}

/// A line of a source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Place {
    /// An index into [`Module::files`].
    pub file: u32,
    /// From 1.
    pub line: u32,
    /// From 1; 0 if unknown.
    pub column: u32,
}

/// A global variable.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Global {
    /// Its name.
    pub name: String,
    /// Its name for people; empty if it is the same.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Never written.
    #[serde(default, skip_serializing_if = "is_not")]
    pub constant: bool,
    /// Each thread has its own.
    #[serde(default, skip_serializing_if = "is_not")]
    pub thread_local: bool,
    /// No other module can name it.
    #[serde(default, skip_serializing_if = "is_not")]
    pub internal: bool,
    /// Functions whose addresses its initial value holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<FunctionId>,
    /// Globals whose addresses its initial value holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub globals: Vec<GlobalId>,
}

/// A function.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Function {
    /// Its name in the object file.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// No other module can name it.
    #[serde(default, skip_serializing_if = "is_not")]
    pub internal: bool,
    /// Number of its parameters.
    pub parameters: u32,
    /// Where it is defined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Values that pointers come from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Value>,
    /// Its blocks; empty for a declaration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<Block>,
    /// Of a declaration: it neither reads nor writes memory that its caller can see.
    #[serde(default, skip_serializing_if = "is_not")]
    pub pure: bool,
}

/// Where a pointer, or an integer that may become one, comes from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Value {
    /// A parameter of the function.
    Parameter(u32),
    /// A variable of the function's frame: a new one in each call.
    Alloca,
    /// A global's address.
    Global(GlobalId),
    /// A function's address.
    Function(FunctionId),
    /// Another one moved by so many bytes; by an unknown number if `None`.
    Offset(ValueId, Option<i64>),
    /// One of several (`phi`, `select`).
    OneOf(Vec<ValueId>),
    /// What a load, an atomic RMW or a call gives: the instruction of this number.
    Result(u32),
    /// No address.
    Constant,
    /// Could be anything: made from an integer, taken from a vector.
    Unknown,
}

/// A basic block.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Block {
    /// What it does, in order. Only instructions that matter are here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instrs: Vec<Instr>,
    /// Where it may go on; empty if it returns or cannot end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub successors: Vec<BlockId>,
    /// It branches on whether the compare-exchange of this number succeeded: the first successor is where it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_success: Option<u32>,
    /// It returns this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<ValueId>,
    /// Its terminator's number.
    pub end: u32,
}

/// An instruction.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Instr {
    /// Its number: the how-many-th instruction of the function it is, in the order of the IR, from 0. An edit names it by that.
    pub number: u32,
    /// What it does.
    pub op: Op,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Functions that it was inlined from, the innermost first: their names and the place of the call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inlined: Vec<Inlined>,
}

/// A call that the compiler replaced by the function's body.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Inlined {
    /// The function whose body it is.
    pub function: String,
    /// Where it was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Place>,
}

/// What an instruction does.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Op {
    /// A load.
    Load(Access),
    /// A store; `value` is what is stored if it may be a pointer.
    Store {
        /// Where and how.
        access: Access,
        /// What.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<ValueId>,
    },
    /// An atomic read-modify-write.
    Update {
        /// Where and how.
        access: Access,
        /// What is stored if it may be a pointer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<ValueId>,
        /// Its order if it fails: a compare-exchange. It may fail.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<Order>,
    },
    /// A fence between threads. Fences against signal handlers only are not here.
    Fence(Order),
    /// A fence of the machine itself, by an intrinsic or inline assembly: `dmb ish`, `mfence`, `sync`; in small letters.
    MachineFence(String),
    /// Several bytes are read or written (`memcpy`, `memset`): plain accesses.
    Bulk {
        /// Written.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<ValueId>,
        /// Read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<ValueId>,
    },
    /// A call.
    Call {
        /// Whom.
        callee: Callee,
        /// Its arguments; `None` for what can be no pointer.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        arguments: Vec<Option<ValueId>>,
    },
    /// Assembly that is not understood.
    Assembly(String),
}

/// Whom a call calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Callee {
    /// This function.
    Direct(FunctionId),
    /// What this value points to.
    Indirect(ValueId),
}

/// An access to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Access {
    /// Where.
    pub pointer: ValueId,
    /// How many bytes; 0 if unknown.
    pub size: u32,
    /// Its order.
    pub order: Order,
    /// Marked `volatile`.
    #[serde(default, skip_serializing_if = "is_not")]
    pub volatile: bool,
    /// An index into [`Module::types`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<u32>,
}

/// The order of an access or fence, as LLVM has it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Order {
    /// Not atomic.
    Plain,
    /// `unordered` (Java) or `monotonic`.
    Relaxed,
    /// `acquire`
    Acquire,
    /// `release`
    Release,
    /// `acq_rel`
    AcqRel,
    /// `seq_cst`
    SeqCst,
}

/// A change of a module, made by LLVM where it was read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Edit {
    /// Name of the function.
    pub function: String,
    /// The instruction, by its number.
    pub number: u32,
    /// What to do there.
    pub change: Change,
}

/// What an edit does.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Change {
    /// A fence right before it.
    FenceBefore(Order),
    /// A fence right after it.
    FenceAfter(Order),
    /// A fence of the machine right before it: `dmb ishst`.
    MachineFenceBefore(String),
    /// The same right after it.
    MachineFenceAfter(String),
    /// This order for the access (of a compare-exchange: on success; the failure's is raised as far as needed).
    Order(Order),
}
