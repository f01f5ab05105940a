//! Instruments modules as `-fsanitize=thread` does, and makes object files of them.

use crate::blank;
use crate::context::Context;
use crate::entry;
use crate::error::Error;
use crate::machine::{Effort, Machine};
use crate::module::Module;
use crate::patch;
use crate::private;
use crate::weak;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// What the sanitizer sees of a module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// Every access, and calls and returns.
    Full,
    /// Atomic accesses and fences.
    Atomics,
}

/// A module to instrument.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Unit {
    /// Its name in messages.
    pub name: String,
    /// A file that has its bitcode in it.
    pub file: PathBuf,
    /// Where in the file it begins.
    pub start: u64,
    /// How many bytes it has.
    pub size: u64,
    /// What to instrument.
    pub depth: Depth,
    /// Whether the compiler was asked to optimise.
    pub optimise: bool,
    /// The object file to write. It must not be there yet: whoever reads it gets all of it or nothing.
    pub output: PathBuf,
}

/// LLVM's passes, in `opt`'s words.
const PASSES: &std::ffi::CStr = c"tsan-module,function(tsan)";
/// Plain accesses are instrumented in functions that have it.
const ATTRIBUTE: &str = "sanitize_thread";

/// Functions that have it tell the runtime where they begin and end, and that nothing in between is to be seen.
const UNSEEN: &str = "sanitize_thread_no_checking_at_run_time";

/// Functions of the standard library whose synchronisation is their own: no program may rely on the order that it makes, and what each leaves behind
/// decides nothing that is seen outside. They are named by the ends of their paths, as symbols have them.
const PRIVATE: &[&str] = &[
    // The table of the threads' stacks, for the message when one of them overflows.
    "14stack_overflow3imp12make_handler",
    "14stack_overflow3imp12drop_handler",
    "14stack_overflow11thread_info16set_current_info",
    "14stack_overflow11thread_info19delete_current_info",
    // The key whose destructor tells that a thread ends: whoever needs it first makes it.
    "12thread_local5guard3key6enable",
    // Where the output of a test goes.
    "5stdio18set_output_capture",
    "5stdio22try_set_output_capture",
    // Starts the thread of a test, which the runtime then waits for, if it says who runs. It is private up to there.
    "4test8run_test",
];

/// The same for instances and methods of types, by parts of their symbols.
const PRIVATE_PARTS: &[&[&str]] = &[
    // Where the output of a test goes is forgotten at the end of a thread.
    &["12thread_local", "7destroy", "5mutex5Mutex", "3Vech"],
    // A thread that a test starts inherits it from whoever starts it, who counts one owner more.
    &["NCNC", "9spawnhook14add_spawn_hook"],
    &["9spawnhook14add_spawn_hook28_$u7b$$u7b$closure$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$"],
    // The end of a thread's entry in the table of stacks, with what compilers put into it; both ways to write symbols.
    &["14stack_overflow", "7Handler", "4Drop4drop"],
    &["4core3ptr", "drop_", "14stack_overflow7HandlerE"],
    &["stack_overflow..Handler$u20$as$u20$core..ops..drop..Drop$GT$4drop"],
    &["drop_in_place$LT$std..sys..pal..unix..stack_overflow..Handler$GT$"],
];

/// Closures and inner functions of a private function are not private: one of them is a test, another calls destructors.
/// What counts owners in private and what counts them in sight must not be mixed: a last owner who frees memory would not be seen to come after the others.
fn is_private(symbol: &str) -> bool {
    let symbol = symbol.split_once(".llvm.").map_or(symbol, |(name, _)| name);
    let is = |path: &&str| symbol.ends_with(*path) || symbol.contains(&format!("{path}17h"));
    let has_all = |parts: &&[&str]| parts.iter().all(|part| symbol.contains(part));
    PRIVATE.iter().any(is) || PRIVATE_PARTS.iter().any(has_all)
}

/// Instruments a module into an object file. `begin` is told that it is next.
pub(crate) fn unit(
    context: &Context<'_>,
    unit: &Unit,
    begin: &mut dyn FnMut(&str),
) -> Result<(), Error> {
    begin(&unit.name);
    let bytes = bitcode(unit)?;
    let object = object(context, unit, &bytes).map_err(|message| Error::Corrupt {
        file: unit.name.clone(),
        message,
    })?;
    write(&unit.output, &object).map_err(|error| Error::File {
        file: unit.output.display().to_string(),
        message: error.to_string(),
    })
}

fn bitcode(unit: &Unit) -> Result<Vec<u8>, Error> {
    let read = || {
        let mut file = File::open(&unit.file)?;
        file.seek(SeekFrom::Start(unit.start))?;
        let mut bytes = Vec::new();
        file.take(unit.size).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|error: std::io::Error| Error::File {
        file: unit.file.display().to_string(),
        message: error.to_string(),
    })
}

fn object(context: &Context<'_>, unit: &Unit, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut module = context.parse(&unit.name, bytes)?;
    let effort = match unit.optimise {
        true => Effort::Default,
        false => Effort::None,
    };
    instrument(&mut module, unit.depth)?;
    if unit.depth == Depth::Full && !unit.optimise {
        blank::variables(&module);
    }
    let machine = Machine::new(context.library(), &module.triple(), effort)?;
    machine.emit(&mut module)
}

fn instrument(module: &mut Module<'_>, depth: Depth) -> Result<(), String> {
    module.set_attribute_everywhere(ATTRIBUTE, depth == Depth::Full);
    match depth {
        Depth::Atomics => module.set_text_attribute(UNSEEN, is_private),
        Depth::Full => weak::call(module)?,
    }
    patch::fences_at_assembly(module);
    entry::mark(module);
    private::mark(module);
    module.run_passes(PASSES)?;
    module.constructors_in_array();
    module.sections_per_function();
    Ok(())
}

/// A reader sees all of a file or none of it.
fn write(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let own = file.with_extension(format!("{}.part", std::process::id()));
    let written = std::fs::write(&own, bytes).and_then(|()| std::fs::rename(&own, file));
    if written.is_err() {
        // The disk may be full: what is there of it is in the way of others.
        let _ = std::fs::remove_file(&own);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_standard_library_does_for_itself_is_private() {
        let private = [
            "_RNvNtNtNtNtNtCs1_3std3sys3pal4unix14stack_overflow3imp12make_handler",
            "_ZN3std3sys3pal4unix14stack_overflow11thread_info16set_current_info17h0123456789abcdefE",
            "_RNvCs1_4test8run_test",
            "_RNCNCINvNtNtCs1_3std6thread9spawnhook14add_spawn_hookNCINvCs2_4test28test_main_with_exit_callbackNCNvB14_9test_main0Es_0NCNCB11_s_00E00B14_",
            "_ZN3std6thread9spawnhook14add_spawn_hook28_$u7b$$u7b$closure$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
            "_ZN4test8run_test17h0123456789abcdefE",
            "_RNvXs_NtNtNtNtCs1_3std3sys3pal4unix14stack_overflowNtB4_7HandlerNtNtNtCs2_4core3ops4drop4Drop4drop",
            "_RINvNtCs2_4core3ptr9drop_glueNtNtNtNtNtCs1_3std3sys3pal4unix14stack_overflow7HandlerEBL_",
            "_RINvNtCs2_4core3ptr13drop_in_placeNtNtNtNtNtCs1_3std3sys3pal4unix14stack_overflow7HandlerEBQ_",
            "_ZN4core3ptr67drop_in_place$LT$std..sys..pal..unix..stack_overflow..Handler$GT$17h0123456789abcdefE",
            "_ZN92_$LT$std..sys..pal..unix..stack_overflow..Handler$u20$as$u20$core..ops..drop..Drop$GT$4drop17h0123456789abcdefE",
        ];
        let seen = [
            "_RNCNvCs1_4test8run_test0B3_",
            "_ZN4test8run_test28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
            "_RNvCs1_4test9run_tests",
            "_RINvNtNtCs1_3std6thread9spawnhook14add_spawn_hookNCINvCs2_4test28test_main_with_exit_callbackE",
            "_ZN3std6thread9spawnhook14add_spawn_hook28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
            "_RNvNvNtNtNtNtCs1_3std3sys12thread_local5guard3key6enable3run",
            "_RNvMNtNtCs1_3std6thread6scopedNtB2_9ScopeData29increment_num_running_threads",
        ];
        assert!(private.into_iter().all(is_private));
        assert!(!seen.into_iter().any(is_private));
    }
}
