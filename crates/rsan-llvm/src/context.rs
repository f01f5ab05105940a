//! A context of LLVM: owns all that is read in it.

use crate::ffi::{ContextRef, DiagnosticRef, SEVERITY_ERROR, ValueRef};
use crate::library::Library;
use crate::module::Module;
use crate::value::Value;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};

/// A context of LLVM.
pub struct Context<'l> {
    raw: ContextRef,
    /// At a fixed address: LLVM has it.
    state: Box<State<'l>>,
}

/// What the handler of diagnostics needs.
struct State<'l> {
    library: &'l Library,
    /// What LLVM said of the file that is being read.
    errors: RefCell<Vec<String>>,
}

impl<'l> Context<'l> {
    /// A new one.
    pub fn new(library: &'l Library) -> Self {
        // SAFETY: has no precondition.
        let raw = unsafe { (library.api.context_create)() };
        let errors = RefCell::default();
        let state = Box::new(State { library, errors });
        let data: *const State<'l> = &raw const *state;
        // SAFETY: the context is new, and the box lives until after it is disposed of.
        unsafe { (library.api.set_diagnostic_handler)(raw, note, data.cast_mut().cast()) };
        Self { raw, state }
    }

    /// The library it belongs to.
    pub fn library(&self) -> &'l Library {
        self.state.library
    }

    pub(crate) fn raw(&self) -> ContextRef {
        self.raw
    }

    /// Parses IR, textual or bitcode, and checks it.
    ///
    /// # Errors
    /// LLVM's message.
    pub fn parse(&self, name: &str, bytes: &[u8]) -> Result<Module<'_>, String> {
        let name = CString::new(name.replace('\0', "?")).map_err(|error| error.to_string())?;
        self.state.errors.borrow_mut().clear();
        let api = &self.state.library.api;
        let mut raw = crate::ffi::ModuleRef::NULL;
        let mut message: *mut c_char = std::ptr::null_mut();
        // SAFETY: the bytes are copied; parsing takes the buffer.
        let failed = unsafe {
            let buffer = (api.buffer_copy)(bytes.as_ptr().cast(), bytes.len(), name.as_ptr());
            (api.parse_ir)(self.raw, buffer, &mut raw, &mut message)
        };
        if failed != 0 {
            return Err(self.said(message));
        }
        let raw = raw.get().ok_or_else(|| self.said(message))?;
        let module = Module::new(self, raw);
        module.verify()?;
        Ok(module)
    }

    /// LLVM's message; it may have come by the handler.
    fn said(&self, message: *mut c_char) -> String {
        let text = self.take(message);
        let errors = self.state.errors.borrow();
        match (text.trim(), &errors[..]) {
            ("", []) => "no reason given".to_owned(),
            ("", errors) => errors.join("; "),
            (text, _) => text.to_owned(),
        }
    }

    /// What LLVM said last, by the handler.
    pub(crate) fn errors(&self) -> String {
        self.said(std::ptr::null_mut())
    }

    /// A string of LLVM's, freed.
    pub(crate) fn take(&self, message: *mut c_char) -> String {
        // SAFETY: LLVM made it for the caller, who has it once.
        unsafe { take(self.state.library, message) }
    }

    pub(crate) fn value(&self, raw: ValueRef) -> Option<Value<'_>> {
        Value::new(self.state.library, raw)
    }
}

impl Drop for Context<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `new`; modules borrow the context, so none is left.
        unsafe { (self.state.library.api.context_dispose)(self.raw) };
    }
}

/// # Safety
/// Null, or a string that LLVM made for its caller and that is not used afterwards.
pub(crate) unsafe fn take(library: &Library, message: *mut c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: a NUL-terminated string, see above.
    let text = unsafe { CStr::from_ptr(message) }
        .to_string_lossy()
        .into_owned();
    // SAFETY: made by LLVM, and disposed of once.
    unsafe { (library.api.dispose_message)(message) };
    text
}

/// Keeps errors; without a handler LLVM prints them and ends the process. Warnings (of debug information that is too old) are dropped.
extern "C" fn note(diagnostic: DiagnosticRef, data: *mut c_void) {
    // SAFETY: `data` is what `Context::new` gave, which outlives the context.
    let state = unsafe { &*data.cast::<State<'_>>() };
    let api = &state.library.api;
    // SAFETY: LLVM's own diagnostic, valid during this call.
    if unsafe { (api.diagnostic_severity)(diagnostic) } != SEVERITY_ERROR {
        return;
    }
    // SAFETY: as above; the string is the caller's. The list outlives the context.
    unsafe {
        let text = take(state.library, (api.diagnostic_description)(diagnostic));
        state.errors.borrow_mut().push(text);
    }
}
