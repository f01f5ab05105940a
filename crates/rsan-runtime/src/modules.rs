//! Addresses of code as module and offset, which mean the same in another process.

use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;

/// A loaded program or library.
#[derive(Clone, Debug)]
pub struct Module {
    /// Its file.
    pub path: String,
    /// What the loader added to the addresses in the file.
    pub bias: usize,
    /// The addresses of its code.
    pub code: Vec<(usize, usize)>,
    /// The addresses of its variables and constants.
    pub data: Vec<(usize, usize)>,
    /// The parts that are never written: code and constants.
    pub views: Vec<(usize, usize)>,
    /// The address of what the loader knows about it; 0 if nothing.
    pub dynamic: usize,
    /// Bytes of its thread-local variables, with what they are aligned by.
    pub thread_local: usize,
}

/// All loaded modules, in the loader's order.
pub fn modules() -> Vec<Module> {
    let mut modules: Vec<Module> = Vec::new();
    // SAFETY: the callback gets back the pointer given here, during the call only.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut modules).cast()) };
    modules
}

unsafe extern "C" fn add(info: *mut libc::dl_phdr_info, _: usize, modules: *mut c_void) -> c_int {
    // SAFETY: the loader passes a valid description, and the pointer is the one from `modules`.
    let (info, modules) = unsafe { (&*info, &mut *modules.cast::<Vec<Module>>()) };
    let name = if info.dlpi_name.is_null() {
        c""
    } else {
        // SAFETY: a C string of the loader.
        unsafe { CStr::from_ptr(info.dlpi_name) }
    };
    let mut path = name.to_string_lossy().into_owned();
    if path.is_empty() && modules.is_empty() {
        path = executable();
    }
    let (mut code, mut data, mut views) = (Vec::new(), Vec::new(), Vec::new());
    let (mut dynamic, mut thread_local) = (0, 0);
    if !info.dlpi_phdr.is_null() {
        // SAFETY: the loader says how many headers there are.
        let headers =
            unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
        for header in headers {
            let start = (info.dlpi_addr as usize).wrapping_add(header.p_vaddr as usize);
            if header.p_type == libc::PT_DYNAMIC {
                dynamic = start;
            }
            if header.p_type == libc::PT_TLS {
                thread_local = (header.p_memsz + header.p_align) as usize;
            }
            if header.p_type != libc::PT_LOAD {
                continue;
            }
            let is_code = header.p_flags & libc::PF_X != 0;
            let list = if is_code { &mut code } else { &mut data };
            list.push((start, start + header.p_memsz as usize));
            if header.p_flags & libc::PF_W == 0 {
                views.push((start, start + header.p_memsz as usize));
            }
        }
    }
    modules.push(Module {
        path,
        bias: info.dlpi_addr as usize,
        code,
        data,
        views,
        dynamic,
        thread_local,
    });
    0
}

/// The program's file. Asked for once: when the main thread has ended, the system no longer says.
static EXECUTABLE: OnceLock<String> = OnceLock::new();

/// Looks up what must not be looked up later.
pub(crate) fn start() {
    executable();
}

/// The program's file; empty if the system does not say.
pub(crate) fn executable() -> String {
    let ask = || {
        std::fs::read_link("/proc/self/exe")
            .map(|path| path.to_string_lossy().into_owned())
            .unwrap_or_default()
    };
    EXECUTABLE.get_or_init(ask).clone()
}

/// Characters of a command line that are of interest.
const COMMAND: usize = 200;

/// The command line of the process: its first characters, and `...` if there are more.
pub(crate) fn command() -> String {
    use std::io::Read as _;
    let mut words = Vec::new();
    // Without it there is none.
    let _ = std::fs::File::open("/proc/self/cmdline")
        .and_then(|file| file.take(4 * COMMAND as u64).read_to_end(&mut words));
    let words = String::from_utf8_lossy(&words);
    let words = words.trim_end_matches('\0').replace('\0', " ");
    match words.char_indices().nth(COMMAND) {
        Some((end, _)) => format!("{}...", &words[..end]),
        None => words,
    }
}

/// The module of an address of code, and the address in its file.
pub fn find(modules: &[Module], pc: usize) -> Option<(&Module, usize)> {
    let inside = |m: &&Module| m.code.iter().any(|&(start, end)| start <= pc && pc < end);
    let module = modules.iter().find(inside)?;
    Some((module, pc.wrapping_sub(module.bias)))
}

/// The module of a variable, and its address in the file.
pub fn find_data(modules: &[Module], address: usize) -> Option<(&Module, usize)> {
    let inside = |m: &&Module| {
        let mut parts = m.data.iter();
        parts.any(|&(start, end)| start <= address && address < end)
    };
    let module = modules.iter().find(inside)?;
    Some((module, address.wrapping_sub(module.bias)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_found_in_this_program() {
        let pc = find as *const () as usize;
        let modules = modules();
        let (module, offset) = find(&modules, pc).expect("this program is loaded");
        assert_eq!(module.path, executable());
        assert_eq!(module.bias + offset, pc);
    }
}
