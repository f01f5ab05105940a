//! A target machine: writes object files.

use crate::ffi::{self, BufferRef, MachineRef, TargetRef};
use crate::library::Library;
use crate::module::Module;
use std::ffi::{CString, c_char, c_int};

/// How much a target machine optimises.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effort {
    /// Not at all.
    None,
    /// As compilers do by default.
    Default,
}

/// Code for x86-64 that can be linked into anything.
pub struct Machine<'l> {
    library: &'l Library,
    raw: MachineRef,
}

impl<'l> Machine<'l> {
    /// One for a triple. What a processor has beyond the least is said by the attributes of functions.
    ///
    /// # Errors
    /// LLVM's message: the library has no such target.
    pub fn new(library: &'l Library, triple: &str, effort: Effort) -> Result<Self, String> {
        let api = &library.api;
        for begin in [
            api.x86_info,
            api.x86_target,
            api.x86_machine_code,
            api.x86_printer,
            api.x86_parser,
        ] {
            let begin = begin.ok_or("this LLVM has no target x86")?;
            // SAFETY: has no precondition, and may be called again.
            unsafe { begin() };
        }
        let name = CString::new(triple).map_err(|error| error.to_string())?;
        let mut target = TargetRef::NULL;
        let mut message: *mut c_char = std::ptr::null_mut();
        // SAFETY: a NUL-terminated triple, and places for the answer.
        let failed = unsafe { (api.target_from_triple)(name.as_ptr(), &mut target, &mut message) };
        if failed != 0 {
            // SAFETY: LLVM made the message for us.
            return Err(unsafe { crate::context::take(library, message) });
        }
        let level: c_int = match effort {
            Effort::None => 0,
            Effort::Default => ffi::CODEGEN_DEFAULT,
        };
        // SAFETY: a target of this library, NUL-terminated strings, and numbers of its enumerations.
        let raw = unsafe {
            (api.machine_create)(
                target,
                name.as_ptr(),
                c"x86-64".as_ptr(),
                c"".as_ptr(),
                level,
                ffi::RELOC_PIC,
                ffi::CODE_MODEL_DEFAULT,
            )
        };
        let raw = raw.get().ok_or("LLVM makes no machine for this target")?;
        Ok(Self { library, raw })
    }

    /// A module as an object file.
    ///
    /// # Errors
    /// LLVM's message.
    pub fn emit(&self, module: &mut Module<'_>) -> Result<Vec<u8>, String> {
        let api = &self.library.api;
        let mut buffer = BufferRef::NULL;
        let mut message: *mut c_char = std::ptr::null_mut();
        // SAFETY: machine and module are alive; the buffer is read before it is disposed of.
        unsafe {
            let failed = (api.machine_emit)(
                self.raw,
                module.raw(),
                ffi::OBJECT_FILE,
                &mut message,
                &mut buffer,
            );
            if failed != 0 {
                return Err(crate::context::take(self.library, message));
            }
            let (start, size) = ((api.buffer_start)(buffer), (api.buffer_size)(buffer));
            let bytes = std::slice::from_raw_parts(start.cast::<u8>(), size).to_vec();
            (api.buffer_dispose)(buffer);
            Ok(bytes)
        }
    }
}

impl Drop for Machine<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `new`.
        unsafe { (self.library.api.machine_dispose)(self.raw) };
    }
}
