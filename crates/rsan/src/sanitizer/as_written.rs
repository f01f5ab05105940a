//! Compiling so that every access of the source is there.
//!
//! Compilers instrument late: accesses that an optimisation has removed, merged or moved before are not seen. Without any
//! optimisation all are there, but then every temporary is on the stack, where it stays when it is not needed any more. Two rounds of a
//! loop that only waits differ by such leftovers, and an exploration tells them apart.
//!
//! gcc can keep temporaries in registers and leave out all that changes accesses before it instruments. The test
//! `what_is_written_is_checked` compares with what is there without optimisation. clang has no such options.

use super::compiler::{Compiler, Family};
use std::ffi::OsString;

/// The option of `rsan cc` and `rsan c++`.
pub(super) const OPTION: &str = "--rsan-as-written";

/// gcc: registers for temporaries, and none of the passes before the instrumentation that remove accesses, or make one of
/// several, or move them, or put functions into others.
const GCC: &[&str] = &[
    "-O1",
    "-fno-inline",
    "-fno-ipa-pure-const",
    "-fno-ipa-reference",
    "-fno-ipa-reference-addressable",
    "-fno-ssa-phiopt",
    "-fno-tree-bit-ccp",
    "-fno-tree-builtin-call-dce",
    "-fno-tree-ccp",
    "-fno-tree-ch",
    "-fno-tree-copy-prop",
    "-fno-tree-cselim",
    "-fno-tree-dce",
    "-fno-tree-dominator-opts",
    "-fno-tree-dse",
    "-fno-tree-forwprop",
    "-fno-tree-fre",
    "-fno-tree-loop-im",
    "-fno-tree-loop-optimize",
    "-fno-tree-phiprop",
    "-fno-tree-pre",
    "-fno-tree-pta",
    "-fno-tree-reassoc",
    "-fno-tree-sink",
    "-fno-tree-slsr",
    "-fno-tree-sra",
    "-fno-tree-tail-merge",
    "-fno-tree-vrp",
];

/// Local variables without a value get one, always the same, so that what was on the stack before makes no difference. gcc has
/// it since 12.
const INITIALISE: &str = "-ftrivial-auto-var-init=pattern";

/// Volatile accesses are told apart from others, so that a setting of the runtime can say what they count as. gcc can do so since 11.
const VOLATILE: &str = "--param=tsan-distinguish-volatile=1";
const VOLATILE_CLANG: [&str; 2] = ["-mllvm", "-tsan-distinguish-volatile"];

/// The options, to stand behind those of the user.
pub(super) fn options(compiler: &Compiler) -> Vec<OsString> {
    let first: &[&str] = match compiler.family {
        Family::Gcc => GCC,
        Family::Clang => &["-O0"],
    };
    let initialise = compiler.takes(INITIALISE).then_some(&INITIALISE);
    let volatile: &[&str] = match compiler.family {
        Family::Gcc if compiler.takes(VOLATILE) => &[VOLATILE],
        Family::Gcc => &[],
        Family::Clang => &VOLATILE_CLANG,
    };
    let all = first.iter().chain(initialise).chain(volatile);
    all.map(|word| OsString::from(*word)).collect()
}
