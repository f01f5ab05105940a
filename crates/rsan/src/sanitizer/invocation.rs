//! What a compiler's command line asks for: which arguments are sources, and which steps are meant.
//!
//! Only what is needed to separate compiling from linking is understood; every other argument is passed on. Options
//! whose value is an argument of its own must be known, or the value would be taken for an input: they are in
//! [`WITH_VALUE`].

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// One argument and, for options in two parts, its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Argument {
    /// A file to compile, and its language if `-x` said so.
    Source(OsString, Option<OsString>),
    /// An object, an archive, a linker script: for the linker.
    Object(OsString),
    /// Where the result goes.
    Output(OsString),
    /// An option for the linker only.
    Linker(Vec<OsString>),
    /// An option for the compiler only.
    Compiler(Vec<OsString>),
    /// An option for both.
    Both(Vec<OsString>),
}

/// The steps that a command line asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Steps {
    /// Nothing is compiled or linked: `--version` and the like.
    Ask,
    /// Everything up to the linker.
    Compile,
    /// Only the linker.
    Link,
    /// Both.
    CompileAndLink,
}

/// A command line, understood.
#[derive(Debug)]
pub(crate) struct Invocation {
    pub(crate) arguments: Vec<Argument>,
    pub(crate) steps: Steps,
    /// Whether the linker makes an object again (`-r`), which no library belongs to.
    pub(crate) relocatable: bool,
    /// Whether no shared library may be used.
    pub(crate) fixed: bool,
    /// A sanitizer that cannot be there at the same time.
    pub(crate) conflict: Option<String>,
    /// What the user says about files of dependencies.
    pub(crate) dependencies: Dependencies,
}

/// Files of dependencies.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Dependencies {
    /// They are written besides compiling (`-MD`, `-MMD`).
    pub(crate) wanted: bool,
    /// `-MF` names the file.
    pub(crate) file: bool,
    /// `-MT` or `-MQ` names the target.
    pub(crate) target: bool,
}

/// Options with a value in the next argument, for the compiler or for both.
const WITH_VALUE: &[&str] = &[
    "-D",
    "-U",
    "-I",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isysroot",
    "-imultilib",
    "-Xpreprocessor",
    "-Xassembler",
    "-Xclang",
    "-mllvm",
    "-target",
    "-arch",
    "--param",
    "-A",
    "-B",
    "-aux-info",
    "-dumpbase",
    "-dumpbase-ext",
    "-dumpdir",
    "-wrapper",
    "--sysroot",
    "-gcc-toolchain",
];

/// The same, for files of dependencies, which only a compiler writes.
const DEPENDENCIES: &[&str] = &["-MF", "-MT", "-MQ", "-MJ"];

/// The same, for the linker.
const LINKER_WITH_VALUE: &[&str] = &[
    "-L", "-l", "-T", "-u", "-z", "-e", "-Xlinker", "-h", "-soname",
];

/// Options of the linker only.
const LINKER: &[&str] = &[
    "-shared",
    "-pie",
    "-no-pie",
    "-static-pie",
    "-rdynamic",
    "-static-libgcc",
    "-static-libstdc++",
    "-s",
    "-r",
    "-static",
    "-nostdlib",
    "-nodefaultlibs",
    "-nostartfiles",
    "-symbolic",
];

/// How options begin that only ask for something.
const QUERIES: &[&str] = &[
    "--version",
    "--help",
    "--target-help",
    "-dumpversion",
    "-dumpfullversion",
    "-dumpmachine",
    "-dumpspecs",
    "-print-",
    "--print-",
    "-###",
];

/// Sanitizers whose runtimes want the same memory, or the same functions of libc.
const CONFLICTS: &[&str] = &[
    "address",
    "hwaddress",
    "memory",
    "leak",
    "kernel-address",
    "kernel-hwaddress",
    "kernel-memory",
    "dataflow",
    "safe-stack",
];

const NO_LINK: &[&str] = &[
    "-c",
    "-S",
    "-E",
    "-M",
    "-MM",
    "-fsyntax-only",
    "--precompile",
];

const SOURCES: &[&str] = &[
    "c", "i", "ii", "cc", "cp", "cxx", "cpp", "CPP", "c++", "C", "m", "mm", "mi", "s", "S", "sx",
    "ll", "bc", "cppm", "ixx",
];

const HEADERS: &[&str] = &["h", "hh", "H", "hp", "hxx", "hpp", "HPP", "h++", "tcc"];

fn extension_in(file: &OsStr, known: &[&str]) -> bool {
    let extension = Path::new(file).extension().and_then(OsStr::to_str);
    extension.is_some_and(|e| known.contains(&e))
}

impl Invocation {
    /// Understands a command line whose response files are expanded.
    pub(crate) fn new(words: &[OsString]) -> Self {
        let mut reader = Reader::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            reader.word(word, &mut words);
        }
        let has = |wanted: fn(&Argument) -> bool| reader.arguments.iter().any(wanted);
        let sources = has(|a| matches!(a, Argument::Source(..)));
        let inputs = sources || reader.libraries || has(|a| matches!(a, Argument::Object(_)));
        let steps = match () {
            () if !inputs || reader.asks => Steps::Ask,
            () if reader.no_link || reader.header => Steps::Compile,
            () if sources => Steps::CompileAndLink,
            () => Steps::Link,
        };
        Self {
            arguments: reader.arguments,
            steps,
            relocatable: reader.relocatable,
            fixed: reader.fixed,
            conflict: reader.conflicts.into_iter().next(),
            dependencies: reader.dependencies,
        }
    }
}

#[derive(Default)]
struct Reader {
    arguments: Vec<Argument>,
    language: Option<OsString>,
    no_link: bool,
    header: bool,
    relocatable: bool,
    fixed: bool,
    /// Libraries are named.
    libraries: bool,
    asks: bool,
    conflicts: Vec<String>,
    dependencies: Dependencies,
}

impl Reader {
    fn word(&mut self, word: &OsString, rest: &mut std::slice::Iter<'_, OsString>) {
        let text = word.to_string_lossy();
        let text = text.as_ref();
        if !text.starts_with('-') || text == "-" {
            let argument = self.input(word);
            self.arguments.push(argument);
            return;
        }
        self.no_link |= NO_LINK.contains(&text);
        self.relocatable |= text == "-r";
        self.fixed |= text == "-static" || text == "-static-pie";
        self.asks |= QUERIES.iter().any(|query| text.starts_with(query));
        self.libraries |= text.starts_with("-l");
        self.dependencies.wanted |= text == "-MD" || text == "-MMD";
        self.dependencies.file |= text.starts_with("-MF");
        self.dependencies.target |= text.starts_with("-MT") || text.starts_with("-MQ");
        self.sanitizers(text);
        let mut with_value = || {
            let mut both = vec![word.clone()];
            both.extend(rest.next().cloned());
            both
        };
        let argument = if text == "-o" {
            match rest.next() {
                Some(path) => Argument::Output(path.clone()),
                None => Argument::Both(vec![word.clone()]),
            }
        } else if let Some(path) = text.strip_prefix("-o") {
            Argument::Output(path.into())
        } else if text == "-x" {
            self.language = rest.next().filter(|l| *l != "none").cloned();
            return;
        } else if let Some(language) = text.strip_prefix("-x") {
            self.language = (language != "none").then(|| language.into());
            return;
        } else if LINKER_WITH_VALUE.contains(&text) {
            Argument::Linker(with_value())
        } else if DEPENDENCIES.contains(&text) {
            Argument::Compiler(with_value())
        } else if WITH_VALUE.contains(&text) {
            Argument::Both(with_value())
        } else if LINKER.contains(&text) || ["-Wl,", "-l", "-L"].iter().any(|p| text.starts_with(p))
        {
            Argument::Linker(vec![word.clone()])
        } else if text.starts_with("-M") || text == "-gsplit-dwarf" {
            Argument::Compiler(vec![word.clone()])
        } else if without_thread(word) != Some(word.clone()) {
            let rest = without_thread(word).into_iter();
            self.arguments
                .extend(rest.map(|w| Argument::Linker(vec![w])));
            Argument::Compiler(vec![word.clone()])
        } else {
            Argument::Both(vec![word.clone()])
        };
        self.arguments.push(argument);
    }

    /// Notes which other sanitizers are on.
    fn sanitizers(&mut self, text: &str) {
        if let Some(list) = text.strip_prefix("-fsanitize=") {
            let wrong = list.split(',').filter(|name| CONFLICTS.contains(name));
            self.conflicts.extend(wrong.map(str::to_owned));
        } else if let Some(list) = text.strip_prefix("-fno-sanitize=") {
            let off = |name: &String| list.split(',').any(|off| off == "all" || off == name);
            self.conflicts.retain(|name| !off(name));
        }
    }

    fn input(&mut self, word: &OsString) -> Argument {
        self.header |= self.language.is_none() && extension_in(word, HEADERS)
            || self
                .language
                .as_ref()
                .is_some_and(|l| l.to_string_lossy().ends_with("-header"));
        if word == "-"
            || self.language.is_some()
            || extension_in(word, SOURCES)
            || extension_in(word, HEADERS)
        {
            Argument::Source(word.clone(), self.language.clone())
        } else {
            Argument::Object(word.clone())
        }
    }
}

/// An option without `-fsanitize=thread`, at which a linker would bring in libtsan; nothing if nothing is left.
pub(crate) fn without_thread(word: &OsString) -> Option<OsString> {
    let list = word
        .to_str()
        .and_then(|text| text.strip_prefix("-fsanitize="));
    let Some(list) = list else {
        return Some(word.clone());
    };
    let rest: Vec<_> = list.split(',').filter(|name| *name != "thread").collect();
    (!rest.is_empty()).then(|| format!("-fsanitize={}", rest.join(",")).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitizer::response::split;

    fn steps(line: &str) -> Steps {
        Invocation::new(&split(line)).steps
    }

    #[test]
    fn steps_follow_from_inputs_and_options() {
        assert_eq!(steps("--version"), Steps::Ask);
        assert_eq!(steps("-v -o out"), Steps::Ask);
        assert_eq!(steps("-print-prog-name=ld a.c"), Steps::Ask);
        assert_eq!(
            steps("-shared -Wl,--whole-archive -la -o b.so"),
            Steps::Link
        );
        assert_eq!(steps("-c a.c -o a.o"), Steps::Compile);
        assert_eq!(steps("-E -"), Steps::Compile);
        assert_eq!(steps("-MM a.c"), Steps::Compile);
        assert_eq!(steps("all.h"), Steps::Compile);
        assert_eq!(steps("a.o libb.a -lm"), Steps::Link);
        assert_eq!(steps("-o a.c b.o"), Steps::Link);
        assert_eq!(steps("-I a.c b.o"), Steps::Link);
        assert_eq!(steps("a.o b.cpp"), Steps::CompileAndLink);
        assert_eq!(steps("-x c - -o a"), Steps::CompileAndLink);
        assert_eq!(steps("-xc a.txt -x none b.o"), Steps::CompileAndLink);
    }

    #[test]
    fn arguments_go_to_the_steps_that_understand_them() {
        let words =
            split("-O2 -DX=1 -lm -MF d -MP a.c -Xlinker -z -fsanitize=thread,undefined -oa");
        let all = Invocation::new(&words).arguments;
        let list = |words: &str| split(words);
        let expected = [
            Argument::Both(list("-O2")),
            Argument::Both(list("-DX=1")),
            Argument::Linker(list("-lm")),
            Argument::Compiler(list("-MF d")),
            Argument::Compiler(list("-MP")),
            Argument::Source("a.c".into(), None),
            Argument::Linker(list("-Xlinker -z")),
            Argument::Linker(list("-fsanitize=undefined")),
            Argument::Compiler(list("-fsanitize=thread,undefined")),
            Argument::Output("a".into()),
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn sanitizers_that_cannot_be_combined_are_noticed() {
        let conflict = |line: &str| Invocation::new(&split(line)).conflict;
        assert_eq!(
            conflict("-fsanitize=undefined,address a.c").as_deref(),
            Some("address")
        );
        assert_eq!(conflict("-fsanitize=address -fno-sanitize=all a.c"), None);
        assert_eq!(conflict("-fsanitize=thread -fsanitize=undefined a.c"), None);
    }

    #[test]
    fn files_of_dependencies_are_noticed() {
        let dependencies = |line: &str| Invocation::new(&split(line)).dependencies;
        let wanted = Dependencies {
            wanted: true,
            ..Dependencies::default()
        };
        assert_eq!(dependencies("-MMD -MP a.c"), wanted);
        let named = dependencies("-MD -MFa.d -MT a a.c");
        assert!(named.wanted && named.file && named.target);
        assert_eq!(dependencies("a.c"), Dependencies::default());
    }
}
