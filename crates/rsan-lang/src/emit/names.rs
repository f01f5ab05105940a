//! Names in a translation: the user's own where they can be, and arrays where elements are neighbours.

use super::syntax::Language;
use std::collections::HashSet;
use std::ops::Range;

/// A variable of the translation: one location or register, or an array of them.
#[derive(Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    /// Its first location or register.
    first: usize,
    /// How many elements, if it is an array.
    pub(super) len: Option<usize>,
}

impl Variable {
    /// The locations or registers that it stands for.
    pub(super) fn elements(&self) -> Range<usize> {
        self.first..self.first + self.len.unwrap_or(1)
    }
}

/// The variables of the program, or of a thread.
#[derive(Debug)]
pub(super) struct Table {
    variables: Vec<Variable>,
    /// Which variable a location or register belongs to.
    of: Vec<usize>,
}

impl Table {
    /// Makes variables of consecutive locations or registers, with names that are not `taken`.
    pub(super) fn new<'a>(
        names: impl Iterator<Item = &'a str>,
        taken: &mut HashSet<String>,
        language: Language,
    ) -> Self {
        let names: Vec<&str> = names.collect();
        let (mut variables, mut of) = (Vec::new(), Vec::new());
        while let Some(&name) = names.get(of.len()) {
            let first = of.len();
            let len = name.strip_suffix("[0]").map(|array| {
                let next = (1..).take_while(|i| {
                    names
                        .get(first + i)
                        .is_some_and(|name| *name == format!("{array}[{i}]"))
                });
                next.count() + 1
            });
            let plain = name.strip_suffix("[0]").unwrap_or(name);
            of.resize(first + len.unwrap_or(1), variables.len());
            variables.push(Variable {
                name: fresh(plain, taken, language),
                first,
                len,
            });
        }
        Self { variables, of }
    }

    pub(super) fn variables(&self) -> impl Iterator<Item = &Variable> {
        self.variables.iter()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        self.variables.iter().map(|v| v.name.clone())
    }

    /// The variable that a location or register belongs to.
    pub(super) fn variable(&self, index: usize) -> &Variable {
        &self.variables[self.of[index]]
    }

    /// A location or register in the translation.
    pub(super) fn element(&self, index: usize) -> String {
        let variable = self.variable(index);
        match variable.len {
            None => variable.name.clone(),
            Some(_) => format!("{}[{}]", variable.name, index - variable.first),
        }
    }
}

/// A name as near to the wanted one as the language allows.
pub(super) fn fresh(wanted: &str, taken: &mut HashSet<String>, language: Language) -> String {
    let word = match wanted.strip_prefix('%') {
        Some(number) => format!("temp{number}"),
        None => wanted
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect(),
    };
    let starts_well = word.starts_with(|c: char| c.is_ascii_alphabetic());
    let mut name = if starts_well {
        word
    } else {
        format!("v{word}")
    };
    let reserved = match language {
        Language::C => is_reserved(&name),
        Language::Rust => super::rust::is_reserved(&name),
    };
    if reserved {
        name.push('_');
    }
    let base = name.clone();
    let mut number = 2;
    while !taken.insert(name.clone()) {
        name = format!("{base}_{number}");
        number += 1;
    }
    name
}

/// Whether C, its library as far as we include it, the compilers' built-in functions, or our own helpers have
/// the name.
fn is_reserved(name: &str) -> bool {
    let prefixes = [
        "atomic_",
        "memory_order",
        "pthread_",
        "rsan_",
        "final_",
        "thread_",
        "started_",
        "label_",
        "next_",
        "sig",
        "SIG",
    ];
    prefixes.iter().any(|prefix| name.starts_with(prefix))
        || RESERVED.split_whitespace().any(|word| word == name)
}

/// Keywords and macros, functions of the headers and built-in ones, and our own names.
const RESERVED: &str = "\
auto break case char const continue default do double else enum extern float for goto if inline int long
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
asm typeof bool true false assert errno stdin stdout stderr linux unix NULL EOF ROUNDS DEADLINE NDEBUG HIDDEN
STOPPED MODULUS kill_dependency
main abort abs labs llabs atexit exit free malloc calloc realloc printf puts putc putchar fputs fprintf
sprintf snprintf scanf fflush remove rename rand srand random srandom system getenv alarm read write open
close link unlink pipe fork wait sleep usleep pause nice sync dup access signal raise kill select time clock
index rindex bcmp bcopy bzero ffs div ldiv exp log pow sin cos tan gamma floor ceil round trunc sqrt fabs fmod
modf near j0 j1 jn y0 y1 yn clone environ swab brk crypt truncate lockf select getpid sched_yield daemon acct
chroot optarg optind opterr optopt confstr encrypt execl ctermid gets getc getline getw putw perror rewind
tmpfile qsort bsearch mblen setenv putenv l64a a64l ecvt fcvt gcvt ptsname grantpt dprintf signbit finite
significand drem scalb cpow conj carg creal cimag cexp clog hypot erf fma fmin fmax fdim logb ilogb ldexp
frexp remquo nan lgamma rint lrint cbrt sched_param
unused rounds seen expected functions threads argc argv seed choose wrap element quotient remainder_of add
subtract multiply shift_left shift_right counted too_late print_result read_schedule step finish schedule
position length running here dice";
