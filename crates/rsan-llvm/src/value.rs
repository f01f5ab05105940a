//! Values of LLVM: functions, globals, constants, instructions. A method that is not defined for a kind of value looks at the kind first.

use crate::context::take;
use crate::ffi::{self, MetadataRef, ValueRef, value_kind};
use crate::library::Library;
use crate::module::Block;
use crate::opcode::Opcode;
use crate::ty::Type;
use std::ffi::{c_char, c_int};
use std::hash::{Hash, Hasher};

/// A value.
#[derive(Clone, Copy)]
pub struct Value<'m> {
    pub(crate) library: &'m Library,
    pub(crate) raw: ValueRef,
}

impl PartialEq for Value<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl Eq for Value<'_> {}

impl Hash for Value<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.raw.hash(state);
    }
}

/// Calls a function of the table with a handle.
macro_rules! ask {
    ($object:expr, $function:ident $(, $argument:expr)*) => {{
        let object = $object;
        // SAFETY: a handle is valid as long as its lifetime says; methods that are not for all kinds of values look at the kind before.
        unsafe { (object.library.api.$function)(object.raw $(, $argument)*) }
    }};
}
pub(crate) use ask;

impl<'m> Value<'m> {
    pub(crate) fn new(library: &'m Library, raw: ValueRef) -> Option<Self> {
        raw.get().map(|raw| Self { library, raw })
    }

    fn with(self, raw: ValueRef) -> Option<Self> {
        Self::new(self.library, raw)
    }

    pub(crate) fn kind(self) -> c_int {
        value_kind::of(ask!(self, value_kind), self.library.version().major)
    }

    /// Its name; empty if it has none.
    pub fn name(self) -> String {
        let mut length = 0;
        let start = ask!(self, value_name, &mut length);
        // SAFETY: the name lives as long as the value; it is copied at once.
        unsafe { text(start, length) }
    }

    /// Its type.
    pub fn ty(self) -> Type<'m> {
        let raw = ask!(self, type_of);
        let library = self.library;
        Type { library, raw }
    }

    /// As LLVM prints it.
    pub fn print(self) -> String {
        let text = ask!(self, print_value);
        // SAFETY: made for us.
        unsafe { take(self.library, text) }
    }

    /// What instruction, or expression of constants, it is.
    pub fn opcode(self) -> Option<Opcode> {
        match self.kind() {
            value_kind::INSTRUCTION => Some(Opcode::of(ask!(self, opcode))),
            value_kind::EXPRESSION => Some(Opcode::of(ask!(self, const_opcode))),
            _ => None,
        }
    }

    /// Whether it is an instruction with this opcode.
    pub(crate) fn is(self, opcode: Opcode) -> bool {
        self.kind() == value_kind::INSTRUCTION && self.opcode() == Some(opcode)
    }

    /// How many operands it has: of instructions and constants; others have none.
    pub fn operand_count(self) -> u32 {
        let has = matches!(
            self.kind(),
            value_kind::INSTRUCTION
                | value_kind::EXPRESSION
                | value_kind::ARRAY
                | value_kind::STRUCT
                | value_kind::VECTOR
                | value_kind::POINTER_AUTHENTICATION
        );
        match has {
            true => u32::try_from(ask!(self, operand_count)).unwrap_or(0),
            false => 0,
        }
    }

    /// An operand.
    pub fn operand(self, index: u32) -> Option<Self> {
        (index < self.operand_count()).then(|| self.with(ask!(self, operand, index)))?
    }

    /// All of them.
    pub fn operands(self) -> impl Iterator<Item = Self> {
        (0..self.operand_count()).filter_map(move |index| self.with(ask!(self, operand, index)))
    }

    /// An integer, if it is one of at most 64 bits.
    pub fn integer(self) -> Option<i64> {
        let small = self.kind() == value_kind::INT && self.ty().int_width()? <= 64;
        small.then(|| ask!(self, const_int))
    }

    /// The type that a `getelementptr` goes through.
    pub(crate) fn gep_source(self) -> Option<Type<'m>> {
        let raw = (self.opcode()? == Opcode::GetElementPtr)
            .then(|| ask!(self, gep_source_type))?
            .get()?;
        let library = self.library;
        Some(Type { library, raw })
    }

    /// What an alias stands for.
    pub(crate) fn aliasee(self) -> Option<Self> {
        (self.kind() == value_kind::ALIAS).then(|| self.with(ask!(self, aliasee)))?
    }

    /// Whether it is a function or global without a body or value.
    pub fn is_declaration(self) -> bool {
        self.is_global() && ask!(self, is_declaration) != 0
    }

    fn is_global(self) -> bool {
        let kinds = [
            value_kind::FUNCTION,
            value_kind::GLOBAL,
            value_kind::ALIAS,
            value_kind::IFUNC,
        ];
        kinds.contains(&self.kind())
    }

    pub(crate) fn linkage(self) -> c_int {
        match self.is_global() {
            true => ask!(self, linkage),
            false => ffi::linkage::INTERNAL,
        }
    }

    /// Whether it is a global that is never written.
    pub fn is_constant_global(self) -> bool {
        self.kind() == value_kind::GLOBAL && ask!(self, is_global_constant) != 0
    }

    /// Whether it is a global of which each thread has its own.
    pub fn is_thread_local(self) -> bool {
        self.kind() == value_kind::GLOBAL && ask!(self, is_thread_local) != 0
    }

    /// The initial value of a global.
    pub fn initializer(self) -> Option<Self> {
        (self.kind() == value_kind::GLOBAL).then(|| self.with(ask!(self, initializer)))?
    }

    /// Parameters of a function.
    pub fn parameters(self) -> Vec<Self> {
        if self.kind() != value_kind::FUNCTION {
            return Vec::new();
        }
        let count = ask!(self, parameter_count);
        let parameter = |index| self.with(ask!(self, parameter, index));
        (0..count).filter_map(parameter).collect()
    }

    /// The value of an attribute of a function or of a call, by its name; 0 if it has none.
    pub fn attribute(self, name: &str) -> Option<u64> {
        let api = &self.library.api;
        // SAFETY: a name with its length.
        let kind = unsafe { (api.attribute_kind)(name.as_ptr().cast(), name.len()) };
        if kind == 0 {
            return None;
        }
        let attribute = match self.kind() {
            value_kind::FUNCTION => ask!(self, function_attribute, ffi::FUNCTION_INDEX, kind),
            value_kind::INSTRUCTION if self.opcode()?.is_call() => {
                ask!(self, call_attribute, ffi::FUNCTION_INDEX, kind)
            }
            _ => return None,
        };
        // SAFETY: an attribute of this value.
        Some(unsafe { (api.attribute_value)(attribute.get()?) })
    }

    /// Blocks of a function, the entry first.
    pub fn blocks(self) -> impl Iterator<Item = Block<'m>> {
        let api = &self.library.api;
        let first = match self.kind() {
            value_kind::FUNCTION => ask!(self, first_block).get(),
            _ => None,
        };
        // SAFETY: each is a block of the function.
        std::iter::successors(first, move |raw| unsafe { (api.next_block)(*raw) }.get()).map(
            move |raw| Block {
                library: self.library,
                raw,
            },
        )
    }

    /// Whom a call calls.
    pub fn callee(self) -> Option<Self> {
        self.opcode()?
            .is_call()
            .then(|| self.with(ask!(self, called_value)))?
    }

    /// The arguments of a call.
    pub fn arguments(self) -> Vec<Self> {
        let count = match self.opcode().is_some_and(Opcode::is_call) {
            true => ask!(self, argument_count),
            false => 0,
        };
        let argument = |index| self.with(ask!(self, operand, index));
        (0..count).filter_map(argument).collect()
    }

    /// What a `phi` may be.
    pub fn incoming(self) -> Vec<Self> {
        let count = match self.is(Opcode::Phi) {
            true => ask!(self, incoming_count),
            false => 0,
        };
        let value = |index| self.with(ask!(self, incoming_value, index));
        (0..count).filter_map(value).collect()
    }

    /// The first index of an `extractvalue`.
    pub fn first_index(self) -> Option<u32> {
        if !self.is(Opcode::ExtractValue) || ask!(self, index_count) == 0 {
            return None;
        }
        let indices = ask!(self, indices);
        // SAFETY: there is at least one.
        Some(unsafe { *indices })
    }

    /// Whether an access is marked `volatile`.
    pub fn is_volatile(self) -> bool {
        self.is_access() && ask!(self, is_volatile) != 0
    }

    /// Whether it reads or writes memory by itself.
    pub fn is_access(self) -> bool {
        let accesses = [
            Opcode::Load,
            Opcode::Store,
            Opcode::AtomicRmw,
            Opcode::CompareExchange,
        ];
        accesses.into_iter().any(|opcode| self.is(opcode))
    }

    /// Whether an atomic access is only so against signal handlers.
    pub fn is_single_thread(self) -> bool {
        self.is_access() && ask!(self, is_single_thread) != 0
    }

    /// Whether a compare-exchange may fail for no reason.
    pub fn is_weak(self) -> bool {
        self.is(Opcode::CompareExchange) && ask!(self, is_weak) != 0
    }

    /// The order of an access as LLVM numbers it; of a compare-exchange that of success.
    pub(crate) fn ordering(self) -> Option<c_int> {
        match self.is(Opcode::CompareExchange) {
            true => Some(ask!(self, success_ordering)),
            false => self.is_access().then(|| ask!(self, ordering)),
        }
    }

    /// Whether it is a read-modify-write that machines do in a loop: other than exchange, addition, subtraction, and, or, exclusive
    /// or, maximum and minimum.
    pub(crate) fn is_loop(self) -> bool {
        const NAND: c_int = 4;
        const LAST_OF_INTEGERS: c_int = 10;
        self.is(Opcode::AtomicRmw) && {
            let operation = ask!(self, rmw_operation);
            operation == NAND || !(0..=LAST_OF_INTEGERS).contains(&operation)
        }
    }

    /// The order of a compare-exchange that fails.
    pub(crate) fn failure_ordering(self) -> Option<c_int> {
        self.is(Opcode::CompareExchange)
            .then(|| ask!(self, failure_ordering))
    }

    /// Bytes that a load or store is aligned to.
    pub(crate) fn alignment(self) -> Option<u32> {
        (self.is(Opcode::Load) || self.is(Opcode::Store)).then(|| ask!(self, alignment))
    }

    /// The type of a variable on the stack, which an `alloca` makes.
    pub(crate) fn allocated_type(self) -> Option<Type<'m>> {
        let raw = self
            .is(Opcode::Alloca)
            .then(|| ask!(self, allocated_type))?;
        let library = self.library;
        raw.get().map(|raw| Type { library, raw })
    }

    /// `Some(true)` for an `icmp eq`, `Some(false)` for an `icmp ne`.
    pub(crate) fn is_equality(self) -> Option<bool> {
        if !self.is(Opcode::ICmp) {
            return None;
        }
        match ask!(self, icmp_predicate) {
            ffi::ICMP_EQ => Some(true),
            ffi::ICMP_NE => Some(false),
            _ => None,
        }
    }

    /// Metadata of an instruction.
    pub(crate) fn metadata(self, kind: u32) -> Option<Self> {
        (self.kind() == value_kind::INSTRUCTION)
            .then(|| self.with(ask!(self, metadata_of, kind)))?
    }

    /// Operands of a node of metadata; `None` where it has none.
    pub(crate) fn node(self) -> Option<Vec<Option<Self>>> {
        if self.kind() != value_kind::METADATA || ask!(self, is_md_node).get().is_none() {
            return None;
        }
        let count = ask!(self, md_operand_count) as usize;
        let mut operands = vec![ValueRef::NULL; count];
        ask!(self, md_operands, operands.as_mut_ptr());
        Some(operands.into_iter().map(|raw| self.with(raw)).collect())
    }

    /// A string of metadata.
    pub(crate) fn string(self) -> Option<String> {
        if self.kind() != value_kind::METADATA || ask!(self, is_md_string).get().is_none() {
            return None;
        }
        let mut length = 0;
        let start = ask!(self, md_string, &mut length);
        // SAFETY: lives as long as the context; copied at once.
        Some(unsafe { text(start, length as usize) })
    }

    /// The debug location of an instruction.
    pub(crate) fn debug_location(self) -> Option<MetadataRef> {
        (self.kind() == value_kind::INSTRUCTION).then(|| ask!(self, debug_location).get())?
    }

    /// The debug information of a function.
    pub(crate) fn subprogram(self) -> Option<MetadataRef> {
        (self.kind() == value_kind::FUNCTION).then(|| ask!(self, subprogram).get())?
    }
}

/// # Safety
/// `length` bytes are there, or `start` is null.
pub(crate) unsafe fn text(start: *const c_char, length: usize) -> String {
    if start.is_null() {
        return String::new();
    }
    // SAFETY: as the caller says.
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), length) };
    String::from_utf8_lossy(bytes).into_owned()
}
