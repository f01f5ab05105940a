//! A module of LLVM, its functions and their blocks.

use crate::context::Context;
use crate::ffi::{self, BlockRef, LayoutRef, MachineRef, ModuleRef, ValueRef};
use crate::library::Library;
use crate::ty::Type;
use crate::value::Value;
use std::ffi::{CStr, CString, c_char};

/// The variable that lists functions that run before `main`.
const CONSTRUCTORS: &str = "llvm.global_ctors";

/// A module. It belongs to a context, and is freed when it is dropped.
pub struct Module<'c> {
    context: &'c Context<'c>,
    raw: ModuleRef,
}

impl<'c> Module<'c> {
    pub(crate) fn new(context: &'c Context<'_>, raw: ModuleRef) -> Self {
        Self { context, raw }
    }

    /// The context it was read in.
    pub fn context(&self) -> &'c Context<'c> {
        self.context
    }

    fn library(&self) -> &'c Library {
        self.context.library()
    }

    /// Checks that it is well-formed, as LLVM's passes expect.
    ///
    /// # Errors
    /// LLVM's message.
    pub fn verify(&self) -> Result<(), String> {
        let mut message: *mut c_char = std::ptr::null_mut();
        // SAFETY: the module is alive.
        let broken = unsafe {
            (self.library().api.verify_module)(self.raw, ffi::RETURN_STATUS, &mut message)
        };
        let text = self.context.take(message);
        (broken == 0).then_some(()).ok_or(text)
    }

    /// Adds what another module of the same context has.
    ///
    /// # Errors
    /// LLVM's message: both define the same symbol.
    pub fn link(&mut self, other: Module<'c>) -> Result<(), String> {
        let other = std::mem::ManuallyDrop::new(other);
        // SAFETY: both are alive and of one context; the other one is LLVM's from now on.
        let failed = unsafe { (self.library().api.link_modules)(self.raw, other.raw) };
        (failed == 0)
            .then_some(())
            .ok_or_else(|| self.context.errors())
    }

    /// Runs passes of LLVM, as `opt -passes=` names them. The module is borrowed mutably because handles of what a pass removes must not
    /// be left.
    ///
    /// # Errors
    /// LLVM's message: it does not know a pass.
    pub fn run_passes(&mut self, passes: &CStr) -> Result<(), String> {
        let api = &self.library().api;
        // SAFETY: the module is alive, the name is NUL-terminated, no target machine is needed; an error's message is the caller's.
        unsafe {
            let options = (api.pass_options_create)();
            let error = (api.run_passes)(self.raw, passes.as_ptr(), MachineRef::NULL, options);
            (api.pass_options_dispose)(options);
            let Some(error) = error.get() else {
                return Ok(());
            };
            let message = (api.error_message)(error);
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            (api.error_message_dispose)(message);
            Err(text)
        }
    }

    /// Adds an attribute to a function, or removes it.
    pub fn set_attribute(&mut self, function: &str, attribute: &str, set: bool) {
        let api = &self.library().api;
        // SAFETY: a name with its length.
        let kind = unsafe { (api.attribute_kind)(attribute.as_ptr().cast(), attribute.len()) };
        let found = self.functions().find(|value| value.name() == function);
        if let Some(function) = found.filter(|_| kind != 0) {
            self.set(function, kind, set);
        }
    }

    /// Adds an attribute to every function that is defined here, or removes it.
    pub fn set_attribute_everywhere(&mut self, attribute: &str, set: bool) {
        let api = &self.library().api;
        // SAFETY: a name with its length.
        let kind = unsafe { (api.attribute_kind)(attribute.as_ptr().cast(), attribute.len()) };
        if kind != 0 {
            let defined = self.functions().filter(|value| !value.is_declaration());
            defined.for_each(|function| self.set(function, kind, set));
        }
    }

    /// Adds an attribute to functions that are defined here, by their names.
    pub fn set_attribute_where(&mut self, attribute: &str, wanted: impl Fn(&str) -> bool) {
        let api = &self.library().api;
        // SAFETY: a name with its length.
        let kind = unsafe { (api.attribute_kind)(attribute.as_ptr().cast(), attribute.len()) };
        let is_wanted = |value: &Value<'_>| !value.is_declaration() && wanted(&value.name());
        if kind != 0 {
            let wanted = self.functions().filter(is_wanted);
            wanted.for_each(|function| self.set(function, kind, true));
        }
    }

    fn set(&self, function: Value<'_>, kind: u32, set: bool) {
        let api = &self.library().api;
        // SAFETY: a function of the module, and an attribute without a value.
        unsafe {
            match set {
                true => {
                    let attribute = (api.attribute_create)(self.context.raw(), kind, 0);
                    (api.attribute_add)(function.raw, ffi::FUNCTION_INDEX, attribute);
                }
                false => (api.attribute_remove)(function.raw, ffi::FUNCTION_INDEX, kind),
            }
        }
    }

    /// Adds an attribute that LLVM has as text to functions that are defined here, by their names.
    pub fn set_text_attribute(&mut self, attribute: &str, wanted: impl Fn(&str) -> bool) {
        let api = &self.library().api;
        let (start, length) = (attribute.as_ptr().cast(), attribute.len() as u32);
        let is_wanted = |value: &Value<'_>| !value.is_declaration() && wanted(&value.name());
        for function in self.functions().filter(is_wanted) {
            // SAFETY: a function of the module, a name with its length, and no value.
            unsafe {
                let context = self.context.raw();
                let attribute = (api.attribute_create_text)(context, start, length, start, 0);
                (api.attribute_add)(function.raw, ffi::FUNCTION_INDEX, attribute);
            }
        }
    }

    /// What it is for: a processor and a system.
    pub fn triple(&self) -> String {
        // SAFETY: the module is alive and owns the string.
        let text = unsafe { CStr::from_ptr((self.library().api.triple)(self.raw)) };
        text.to_string_lossy().into_owned()
    }

    /// Gives each function a section of its own, so that the linker leaves out what nobody calls.
    pub fn sections_per_function(&mut self) {
        let api = &self.library().api;
        let bare = |function: &Value<'_>| {
            // SAFETY: a function of the module; null if it has no section.
            !function.is_declaration() && unsafe { (api.section)(function.raw) }.is_null()
        };
        for function in self.functions().filter(bare) {
            let Ok(section) = CString::new(format!(".text.{}", function.name())) else {
                continue;
            };
            // SAFETY: as above; LLVM copies the name.
            unsafe { (api.set_section)(function.raw, section.as_ptr()) };
        }
    }

    /// Puts functions that run before `main` where loaders look for them. A target machine of the C API puts them into a section that some linkers leave
    /// alone.
    pub fn constructors_in_array(&mut self) {
        let api = &self.library().api;
        let Some(list) = self.globals().find(|value| value.name() == CONSTRUCTORS) else {
            return;
        };
        // Elements are a priority, a function, and what it belongs to.
        let elements = list.initializer().into_iter().flat_map(Value::operands);
        let functions = elements.filter_map(|element| element.operand(1));
        let functions: Vec<_> = functions.map(|value| (value.raw, value.ty().raw)).collect();
        for (function, pointer) in functions {
            // SAFETY: a function of the module and its type; LLVM copies the names.
            unsafe {
                let entry = (api.global_add)(self.raw, pointer, c"rsan.constructor".as_ptr());
                (api.set_initializer)(entry, function);
                (api.set_section)(entry, c".init_array.0".as_ptr());
                (api.set_linkage)(entry, ffi::linkage::INTERNAL);
            }
        }
        // SAFETY: a global of the module that nothing refers to.
        unsafe { (api.global_delete)(list.raw) };
    }

    pub(crate) fn raw(&self) -> ModuleRef {
        self.raw
    }

    /// As text.
    pub fn print(&self) -> String {
        // SAFETY: the module is alive.
        let text = unsafe { (self.library().api.print_module)(self.raw) };
        self.context.take(text)
    }

    /// As bitcode.
    pub fn bitcode(&self) -> Vec<u8> {
        let api = &self.library().api;
        // SAFETY: the module is alive, and the buffer is read before it is disposed of.
        unsafe {
            let buffer = (api.write_bitcode)(self.raw);
            let (start, size) = ((api.buffer_start)(buffer), (api.buffer_size)(buffer));
            let bytes = std::slice::from_raw_parts(start.cast::<u8>(), size).to_vec();
            (api.buffer_dispose)(buffer);
            bytes
        }
    }

    /// Sizes of types.
    pub fn layout(&self) -> Layout<'_> {
        // SAFETY: the module is alive and owns the layout.
        let raw = unsafe { (self.library().api.data_layout)(self.raw) };
        let library = self.library();
        Layout { library, raw }
    }

    /// Its functions, in order.
    pub fn functions(&self) -> impl Iterator<Item = Value<'_>> {
        let api = &self.library().api;
        // SAFETY: the module is alive.
        let first = unsafe { (api.first_function)(self.raw) };
        self.list(first, api.next_function)
    }

    /// Its global variables, in order.
    pub fn globals(&self) -> impl Iterator<Item = Value<'_>> {
        let api = &self.library().api;
        // SAFETY: the module is alive.
        let first = unsafe { (api.first_global)(self.raw) };
        self.list(first, api.next_global)
    }

    /// Its aliases, in order.
    pub fn aliases(&self) -> impl Iterator<Item = Value<'_>> {
        let api = &self.library().api;
        // SAFETY: the module is alive.
        let first = unsafe { (api.first_alias)(self.raw) };
        self.list(first, api.next_alias)
    }

    fn list(
        &self,
        first: ValueRef,
        next: unsafe extern "C" fn(ValueRef) -> ValueRef,
    ) -> impl Iterator<Item = Value<'_>> {
        // SAFETY: each is of the list that `next` goes along.
        std::iter::successors(first.get(), move |raw| unsafe { next(*raw) }.get())
            .filter_map(|raw| self.context.value(raw))
    }

    /// The number that this kind of metadata has.
    pub(crate) fn metadata_kind(&self, name: &str) -> u32 {
        let length = u32::try_from(name.len()).unwrap_or(0);
        // SAFETY: a name with its length.
        unsafe {
            (self.library().api.metadata_kind_id)(self.context.raw(), name.as_ptr().cast(), length)
        }
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: values borrow the module, so none is left.
        unsafe { (self.library().api.module_dispose)(self.raw) };
    }
}

/// Sizes of types in memory.
#[derive(Clone, Copy)]
pub struct Layout<'m> {
    library: &'m Library,
    raw: LayoutRef,
}

impl Layout<'_> {
    /// Bytes of a pointer.
    pub fn pointer_size(&self) -> u64 {
        // SAFETY: the layout is its module's, which is alive.
        u64::from(unsafe { (self.library.api.pointer_size)(self.raw) })
    }

    /// How many bytes a store writes; `None` if that depends on the machine.
    pub fn store_size(&self, ty: Type<'_>) -> Option<u64> {
        // SAFETY: sized and not scalable, which is what the function demands.
        ty.has_size()
            .then(|| unsafe { (self.library.api.store_size)(self.raw, ty.raw) })
    }

    /// How far elements of an array are apart.
    pub fn stride(&self, ty: Type<'_>) -> Option<u64> {
        // SAFETY: as above.
        ty.has_size()
            .then(|| unsafe { (self.library.api.abi_size)(self.raw, ty.raw) })
    }

    /// Where a field of a struct is.
    pub fn field(&self, ty: Type<'_>, index: u32) -> Option<u64> {
        let known = ty.has_size() && index < ty.fields()?;
        // SAFETY: a struct of known size with such a field.
        known.then(|| unsafe { (self.library.api.offset_of_element)(self.raw, ty.raw, index) })
    }
}

/// A basic block.
#[derive(Clone, Copy)]
pub struct Block<'m> {
    pub(crate) library: &'m Library,
    pub(crate) raw: BlockRef,
}

impl PartialEq for Block<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl<'m> Block<'m> {
    /// Its instructions, in order.
    pub fn instructions(self) -> impl Iterator<Item = Value<'m>> {
        let api = &self.library.api;
        // SAFETY: the block is alive as long as its module.
        let first = unsafe { (api.first_instruction)(self.raw) };
        let next = api.next_instruction;
        // SAFETY: each is an instruction of this block.
        std::iter::successors(first.get(), move |raw| unsafe { next(*raw) }.get())
            .filter_map(move |raw| Value::new(self.library, raw))
    }

    /// Its last instruction.
    pub fn terminator(self) -> Option<Value<'m>> {
        // SAFETY: the block is alive as long as its module.
        Value::new(self.library, unsafe {
            (self.library.api.terminator)(self.raw)
        })
    }

    /// Where it may go on.
    pub fn successors(self) -> Vec<Self> {
        let api = &self.library.api;
        let Some(end) = self.terminator() else {
            return Vec::new();
        };
        // SAFETY: the instruction ends a block, and there are so many.
        let count = unsafe { (api.successor_count)(end.raw) };
        let successor = |index| Block {
            library: self.library,
            // SAFETY: as above.
            raw: unsafe { (api.successor)(end.raw, index) },
        };
        (0..count).map(successor).collect()
    }
}
