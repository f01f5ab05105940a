//! Applies edits to a module: fences, and stronger orders.

use crate::assembly::is_full_barrier;
use crate::context::Context;
use crate::error::{Error, Place};
use crate::ffi::{BuilderRef, TypeRef, ValueRef, type_kind, value_kind};
use crate::input;
use crate::module::{Block, Module};
use crate::opcode::Opcode;
use crate::read::{self, function::numbered};
use crate::value::{Value, ask};
use crate::weak;
use rsan_ir::module::{Change, Edit, Order};
use std::collections::HashMap;
use std::ffi::{CStr, c_int};
use std::path::Path;

/// Reads files, applies edits to their modules, and joins these to one. An edit comes with the number of its module, as
/// [`crate::Read::unit_of`] has it.
///
/// # Errors
/// What reading can say, [`Error::Edit`], and [`Error::Corrupt`] for a module that cannot be joined with those before it.
pub fn files<'c>(
    context: &'c Context<'_>,
    files: &[impl AsRef<Path>],
    edits: &[(u32, Edit)],
    begin: &mut dyn FnMut(&str),
) -> Result<Module<'c>, Error> {
    let mut joined: Option<Module<'c>> = None;
    let mut unit = 0;
    for file in files {
        for piece in input::pieces(&file.as_ref().display().to_string())? {
            begin(&piece.name);
            let prepared = read::parse(context, &piece)?;
            let own = edits.iter().filter(|(of, _)| *of == unit);
            let own: Vec<Edit> = own.map(|(_, edit)| edit.clone()).collect();
            apply(&prepared.module, &own)?;
            let module = prepared.restore();
            match &mut joined {
                Some(joined) => joined.link(module).map_err(|message| Error::Corrupt {
                    file: piece.name,
                    message: format!("it cannot be joined with the other files: {message}"),
                })?,
                None => joined = Some(module),
            }
            unit += 1;
        }
    }
    joined.ok_or(Error::Empty {
        file: String::new(),
        message: "no files".to_owned(),
    })
}

/// Applies edits, and checks the module afterwards. Numbers of instructions are those of the module as it was before.
///
/// # Errors
/// [`Error::Edit`] for the first edit that cannot be made. The module is of no use then.
pub fn apply(module: &Module<'_>, edits: &[Edit]) -> Result<(), Error> {
    let functions: HashMap<String, Value<'_>> = module
        .functions()
        .map(|value| (value.name(), value))
        .collect();
    let mut bodies: HashMap<&str, Vec<Value<'_>>> = HashMap::new();
    let mut places = Vec::new();
    for edit in edits {
        let refused = |message: &str| refuse(edit, message);
        let function = functions
            .get(&edit.function)
            .ok_or_else(|| refused("there is no such function"))?;
        let body = bodies
            .entry(&edit.function)
            .or_insert_with(|| numbered(*function));
        let place = body
            .get(edit.number as usize)
            .ok_or_else(|| refused("there is no such instruction"))?;
        places.push(*place);
    }
    let builder = Builder::new(module);
    // What is replaced because its order cannot be set: later edits find the new one.
    let mut replaced = HashMap::new();
    for (edit, at) in edits.iter().zip(places) {
        let at = *replaced.get(&at).unwrap_or(&at);
        let blocks = || functions[&edit.function].blocks().collect();
        match &edit.change {
            Change::FenceBefore(order) => builder.fence(at, *order),
            Change::MachineFenceBefore(name) => builder.machine_fence(at, name),
            Change::FenceAfter(order) => after(at, blocks).and_then(|places| {
                places
                    .into_iter()
                    .try_for_each(|at| builder.fence(at, *order))
            }),
            Change::MachineFenceAfter(name) => after(at, blocks).and_then(|places| {
                places
                    .into_iter()
                    .try_for_each(|at| builder.machine_fence(at, name))
            }),
            Change::Order(order) => builder
                .raise(at, *order)
                .map(|new| replaced.extend(new.map(|new| (at, new)))),
        }
        .map_err(|message| refuse(edit, &message))?;
    }
    let context = edits.first().map(place);
    module.verify().map_err(|message| Error::Edit {
        place: context.unwrap_or(Place {
            function: String::new(),
            number: 0,
        }),
        message: format!("LLVM does not accept the changed module: {message}"),
    })
}

fn place(edit: &Edit) -> Place {
    Place {
        function: edit.function.clone(),
        number: edit.number,
    }
}

fn refuse(edit: &Edit, message: &str) -> Error {
    Error::Edit {
        place: place(edit),
        message: message.to_owned(),
    }
}

/// The instructions before which something has to stand in order to come right after this one: the next one, or, if it ends a block, the
/// first ones of all blocks that it may lead to.
fn after<'m>(
    at: Value<'m>,
    blocks: impl FnOnce() -> Vec<Block<'m>>,
) -> Result<Vec<Value<'m>>, String> {
    let next = ask!(at, next_instruction);
    if let Some(next) = Value::new(at.library, next) {
        return Ok(vec![next]);
    }
    let block = blocks()
        .into_iter()
        .find(|block| block.terminator() == Some(at))
        .ok_or("it is not in its function")?;
    let successors = block.successors();
    if successors.is_empty() {
        return Err("nothing comes after it".to_owned());
    }
    successors.into_iter().map(begin).collect()
}

/// Where code may stand first in a block.
fn begin(block: Block<'_>) -> Result<Value<'_>, String> {
    let first = block
        .instructions()
        .find(|value| !value.is(Opcode::Phi) && !value.is(Opcode::LandingPad))
        .ok_or("a block without instructions comes after it")?;
    let printed = first.print();
    match printed.contains("catchswitch") || printed.contains("pad within") {
        true => Err(
            "a handler of exceptions comes after it that begins with no place for a fence"
                .to_owned(),
        ),
        false => Ok(first),
    }
}

fn number(order: Order) -> c_int {
    match order {
        Order::Plain => 0,
        Order::Relaxed => 2,
        Order::Acquire => 4,
        Order::Release => 5,
        Order::AcqRel => 6,
        Order::SeqCst => 7,
    }
}

const PLAIN_UPDATE: &str = "a read-modify-write cannot be plain";
/// Before this version `LLVMSetOrdering` takes a read-modify-write for a store.
const SETS_UPDATES: u32 = 19;

/// Sets the order of a load, store or compare-exchange.
fn set(module: &Module<'_>, at: Value<'_>, order: Order) -> Result<(), String> {
    let name = name(order);
    if at.is(Opcode::Load) || at.is(Opcode::Store) {
        let load = at.is(Opcode::Load);
        let what = if load { "load" } else { "store" };
        let possible = match order {
            Order::Plain | Order::Relaxed | Order::SeqCst => true,
            Order::Acquire => load,
            Order::Release => !load,
            Order::AcqRel => false,
        };
        if !possible {
            return Err(format!("a {what} cannot be {name}"));
        }
        if order != Order::Plain {
            can_be_atomic(module, at)?;
        }
        ask!(at, set_ordering, number(order));
        return Ok(());
    }
    if !at.is(Opcode::CompareExchange) {
        return Err("it is no access and no fence, and has no order".to_owned());
    }
    if order == Order::Plain {
        return Err(PLAIN_UPDATE.to_owned());
    }
    ask!(at, set_success_ordering, number(order));
    // A failed one is a load; as strong as the success asks for on that side.
    let wanted = match order {
        Order::SeqCst => Order::SeqCst,
        Order::Acquire | Order::AcqRel => Order::Acquire,
        Order::Plain | Order::Relaxed | Order::Release => Order::Relaxed,
    };
    if at
        .failure_ordering()
        .is_some_and(|now| now < number(wanted))
    {
        ask!(at, set_failure_ordering, number(wanted));
    }
    Ok(())
}

/// LLVM's atomic accesses are of integers, pointers and floating-point numbers, and rsan makes only aligned ones.
fn can_be_atomic(module: &Module<'_>, at: Value<'_>) -> Result<(), String> {
    let content = match at.is(Opcode::Load) {
        true => at,
        false => at.operand(0).ok_or("it stores nothing")?,
    };
    let ty = content.ty();
    let scalar = matches!(ty.kind(), type_kind::INTEGER | type_kind::POINTER)
        || (type_kind::HALF..=type_kind::DOUBLE).contains(&ty.kind());
    let size = module.layout().store_size(ty).unwrap_or(0);
    let whole = ty
        .int_width()
        .is_none_or(|bits| u64::from(bits) == size * 8);
    if !scalar || !whole || !size.is_power_of_two() || size > 16 {
        return Err(format!(
            "an access of {size} bytes of this type cannot be atomic"
        ));
    }
    match at.alignment().is_some_and(|bytes| u64::from(bytes) >= size) {
        true => Ok(()),
        false => Err(format!(
            "it cannot be atomic: it is not aligned to its {size} bytes"
        )),
    }
}

fn name(order: Order) -> &'static str {
    match order {
        Order::Plain => "plain",
        Order::Relaxed => "relaxed",
        Order::Acquire => "acquire",
        Order::Release => "release",
        Order::AcqRel => "acq_rel",
        Order::SeqCst => "seq_cst",
    }
}

/// Puts fences before inline assembly that is one, in a module for x86-64: the sanitizer does not see assembly.
pub(crate) fn fences_at_assembly(module: &Module<'_>) {
    let blocks = module.functions().flat_map(Value::blocks);
    let instructions = blocks.flat_map(Block::instructions);
    let is_barrier = |value: &Value<'_>| {
        let callee = value.callee();
        let text = callee.filter(|callee| callee.kind() == value_kind::ASSEMBLY);
        text.is_some_and(|text| is_full_barrier(&text.print()))
    };
    let barriers: Vec<_> = instructions.filter(is_barrier).collect();
    let builder = Builder::new(module);
    for barrier in barriers {
        // Only weaker orders are refused.
        let _ = builder.fence(barrier, Order::SeqCst);
    }
}

/// Puts instructions into a module.
pub(crate) struct Builder<'m> {
    module: &'m Module<'m>,
    raw: BuilderRef,
}

impl<'m> Builder<'m> {
    pub(crate) fn new(module: &'m Module<'_>) -> Self {
        let context = module.context();
        // SAFETY: the context is alive.
        let raw = unsafe { (context.library().api.builder_create)(context.raw()) };
        Self { module, raw }
    }

    /// The type of functions that take and return nothing.
    fn plain_function(&self) -> TypeRef {
        let context = self.module.context();
        let api = &context.library().api;
        // SAFETY: the context is alive; there are no parameters.
        unsafe { (api.function_type)((api.void_type)(context.raw()), std::ptr::null_mut(), 0, 0) }
    }

    fn build_call(&self, before: Value<'_>, function: ValueRef) {
        let api = &self.module.context().library().api;
        // SAFETY: the instruction is in a function of the module; the function takes no arguments.
        unsafe {
            (api.builder_before)(self.raw, before.raw);
            (api.build_call)(
                self.raw,
                self.plain_function(),
                function,
                std::ptr::null_mut(),
                0,
                c"".as_ptr(),
            );
        }
    }

    /// A call of a function of another module, which takes and returns nothing.
    pub(crate) fn call(&self, before: Value<'_>, name: &CStr) {
        let function = self.foreign(name, self.plain_function());
        self.build_call(behind_phis(before), function);
    }

    /// The same with an argument.
    pub(crate) fn call_with(&self, before: Value<'_>, name: &CStr, argument: Value<'_>) {
        let context = self.module.context();
        let api = &context.library().api;
        let before = behind_phis(before);
        let mut parameter = argument.ty().raw;
        // SAFETY: the context is alive; one parameter.
        let ty = unsafe {
            let nothing = (api.void_type)(context.raw());
            (api.function_type)(nothing, &raw mut parameter, 1, 0)
        };
        let function = self.foreign(name, ty);
        let mut argument = argument.raw;
        // SAFETY: the instruction is in a function of the module, and so is the argument, which has the parameter's type.
        unsafe {
            (api.builder_before)(self.raw, before.raw);
            (api.build_call)(self.raw, ty, function, &raw mut argument, 1, c"".as_ptr());
        }
    }

    /// Stores of zeros to a variable of so many bytes, right behind the `alloca` that makes it.
    pub(crate) fn clear(&self, variable: Value<'_>, bytes: u64) {
        let Some(next) = Value::new(variable.library, ask!(variable, next_instruction)) else {
            return;
        };
        let context = self.module.context();
        let api = &context.library().api;
        let words = (0..bytes / 8).map(|word| (8 * word, 64));
        let rest = (bytes / 8 * 8..bytes).map(|at| (at, 8));
        // SAFETY: the instruction is in a function of the module, the context is alive, and the stores stay inside of the variable.
        unsafe {
            let integer = |bits| (api.int_type)(context.raw(), bits);
            (api.builder_before)(self.raw, next.raw);
            for (at, bits) in words.chain(rest) {
                let mut index = (api.int_value)(integer(64), at, 0);
                let name = c"".as_ptr();
                let place =
                    (api.build_gep)(self.raw, integer(8), variable.raw, &raw mut index, 1, name);
                let zero = (api.int_value)(integer(bits), 0, 0);
                (api.set_alignment)((api.build_store)(self.raw, zero, place), 1);
            }
        }
    }

    /// A call in the place of a compare-exchange, of a function of another module that returns the same.
    pub(crate) fn call_for_compare_exchange(&self, at: Value<'_>, name: &CStr) {
        let Some(parts) = weak::Parts::of(at) else {
            return;
        };
        let context = self.module.context();
        let api = &context.library().api;
        let mut arguments: Vec<ValueRef> = parts.operands.iter().map(|value| value.raw).collect();
        let mut types: Vec<TypeRef> = parts.operands.iter().map(|value| value.ty().raw).collect();
        // SAFETY: the context is alive, and as many parameters as are said. The instruction is in a function of the module, and so are its
        // operands, which have the parameters' types; the call has the instruction's type, so its users can have it instead.
        unsafe {
            let number = (api.int32_type)(context.raw());
            types.extend([number; 2]);
            arguments.extend(parts.orders.map(|order| (api.int_value)(number, order, 0)));
            let ty = (api.function_type)(parts.result, types.as_mut_ptr(), 5, 0);
            let function = self.foreign(name, ty);
            (api.builder_before)(self.raw, at.raw);
            let call = (api.build_call)(
                self.raw,
                ty,
                function,
                arguments.as_mut_ptr(),
                5,
                c"".as_ptr(),
            );
            (api.replace_uses)(at.raw, call);
            (api.erase)(at.raw);
        }
    }

    /// A function of another module.
    fn foreign(&self, name: &CStr, ty: TypeRef) -> ValueRef {
        let same = |value: &Value<'_>| value.name().as_bytes() == name.to_bytes();
        if let Some(known) = self.module.functions().find(same) {
            return known.raw;
        }
        let api = &self.module.context().library().api;
        // SAFETY: LLVM copies the name.
        unsafe { (api.function_add)(self.module.raw(), name.as_ptr(), ty) }
    }

    fn fence(&self, before: Value<'_>, order: Order) -> Result<(), String> {
        let before = behind_phis(before);
        if matches!(order, Order::Plain | Order::Relaxed) {
            return Err(format!("a fence cannot be {}", name(order)));
        }
        let api = &self.module.context().library().api;
        // SAFETY: the instruction is in a function of the module.
        unsafe {
            (api.builder_before)(self.raw, before.raw);
            (api.build_fence)(self.raw, number(order), 0, c"".as_ptr());
        }
        Ok(())
    }

    /// A fence of the machine is assembly that the compiler moves no access across.
    fn machine_fence(&self, before: Value<'_>, text: &str) -> Result<(), String> {
        let known = text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || " ,.".contains(c));
        if !known || text.is_empty() {
            return Err(format!("`{text}` is no fence"));
        }
        let before = behind_phis(before);
        let context = self.module.context();
        let api = &context.library().api;
        let clobbers = "~{memory}";
        // SAFETY: strings with their lengths, which LLVM copies.
        let assembly = unsafe {
            (api.inline_assembly)(
                self.plain_function(),
                text.as_ptr().cast(),
                text.len(),
                clobbers.as_ptr().cast(),
                clobbers.len(),
                1,
                0,
                0,
                0,
            )
        };
        self.build_call(before, assembly);
        Ok(())
    }

    /// Sets an order; gives what now stands for the instruction, if it had to be replaced.
    fn raise(&self, at: Value<'m>, order: Order) -> Result<Option<Value<'m>>, String> {
        if at.is(Opcode::Fence) {
            self.fence(at, order)?;
            return Ok(self.replace(at));
        }
        if !at.is(Opcode::AtomicRmw) {
            return set(self.module, at, order).map(|()| None);
        }
        if order == Order::Plain {
            return Err(PLAIN_UPDATE.to_owned());
        }
        if at.library.version().major >= SETS_UPDATES {
            ask!(at, set_ordering, number(order));
            return Ok(None);
        }
        self.update(at, order).map(Some)
    }

    /// The same read-modify-write with another order.
    fn update(&self, old: Value<'m>, order: Order) -> Result<Value<'m>, String> {
        if old.is_volatile() {
            return Err(
                "this version of LLVM cannot change a volatile read-modify-write".to_owned(),
            );
        }
        let operands = old.operand(0).zip(old.operand(1));
        let (pointer, value) = operands.ok_or("it has no operands")?;
        let (operation, single) = (
            ask!(old, rmw_operation),
            c_int::from(old.is_single_thread()),
        );
        let api = &self.module.context().library().api;
        // SAFETY: operands of an instruction of the module, before which the new one stands; then nobody uses the old one.
        let new = unsafe {
            (api.builder_before)(self.raw, old.raw);
            let new = (api.build_rmw)(
                self.raw,
                operation,
                pointer.raw,
                value.raw,
                number(order),
                single,
            );
            (api.replace_uses)(old.raw, new);
            (api.erase)(old.raw);
            new
        };
        Value::new(old.library, new).ok_or_else(|| "LLVM did not build it".to_owned())
    }

    /// Removes a fence, and gives the one that stands right before it.
    fn replace(&self, old: Value<'m>) -> Option<Value<'m>> {
        let api = &self.module.context().library().api;
        // SAFETY: the fence is in a block, and no one uses it.
        let new = unsafe {
            let new = (api.previous_instruction)(old.raw);
            (api.erase)(old.raw);
            new
        };
        Value::new(old.library, new)
    }
}

/// The first place at or behind an instruction where code may stand.
fn behind_phis(mut at: Value<'_>) -> Value<'_> {
    while at.is(Opcode::Phi) || at.is(Opcode::LandingPad) {
        let next = ask!(at, next_instruction);
        match Value::new(at.library, next) {
            Some(next) => at = next,
            None => break,
        }
    }
    at
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `new`.
        unsafe { (self.module.context().library().api.builder_dispose)(self.raw) };
    }
}
