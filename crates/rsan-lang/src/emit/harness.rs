//! The parts of a translation to C that do not come from the source: includes, helpers, the schedule, the result.

use super::{BLOCKED, Context, Shape};
use rsan_model::{LocId, ThreadId};
use std::fmt::Write as _;

/// What a translation needs besides its threads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Need {
    /// A bound for endless loops.
    Rounds,
    /// Leave to fail with a stronger order than to succeed.
    StrongFailure,
    /// A mark for threads that do not go on.
    Stopped,
    /// A function.
    Helper(Helper),
}

/// A function of the translation's own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Helper {
    /// Not a function: the header of `assert`.
    Assert,
    Trap,
    Wrap,
    Counted,
    Element,
    Add,
    Subtract,
    Multiply,
    Quotient,
    Remainder,
    ShiftLeft,
    ShiftRight,
    Choose,
    Join,
    /// Rust's: an atomic object as plain memory.
    Plain,
}

impl Helper {
    pub(super) const ALL: [Self; 13] = [
        Self::Trap,
        Self::Wrap,
        Self::Counted,
        Self::Element,
        Self::Add,
        Self::Subtract,
        Self::Multiply,
        Self::Quotient,
        Self::Remainder,
        Self::ShiftLeft,
        Self::ShiftRight,
        Self::Choose,
        Self::Join,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Assert => "assert",
            Self::Trap => "trap",
            Self::Wrap => "wrap",
            Self::Counted => "counted",
            Self::Element => "element",
            Self::Add => "add",
            Self::Subtract => "subtract",
            Self::Multiply => "multiply",
            Self::Quotient => "quotient",
            Self::Remainder => "remainder_of",
            Self::ShiftLeft => "shift_left",
            Self::ShiftRight => "shift_right",
            Self::Choose => "choose",
            Self::Join => "joined",
            Self::Plain => "plain",
        }
    }

    pub(super) fn traps(self) -> bool {
        matches!(
            self,
            Self::Counted | Self::Element | Self::Quotient | Self::Remainder
        )
    }

    fn text(self, scheduled: bool) -> &'static str {
        match self {
            Self::Assert | Self::Plain => "",
            Self::Trap => {
                "static void trap(const char *what) {
  fputs(what, stderr);
  abort();
}
"
            }
            Self::Wrap => {
                "// The value that a number stands for.
static int wrap(long long number) {
  return (int)((number % MODULUS + MODULUS) % MODULUS);
}
"
            }
            Self::Counted => {
                "// An atomic addition cannot wrap at the modulus.
static int counted(int old, int change) {
  if (old + change < 0 || old + change >= MODULUS) {
    trap(\"an atomic addition leaves the values of the program\\n\");
  }
  return old;
}
"
            }
            Self::Element => {
                "static int element(long long index, int length_of_array) {
  if (index < 0 || index >= length_of_array) {
    trap(\"an index is out of bounds\\n\");
  }
  return (int)index;
}
"
            }
            Self::Add => {
                "static long long add(long long a, long long b) {
  return (long long)((unsigned long long)a + (unsigned long long)b);
}
"
            }
            Self::Subtract => {
                "static long long subtract(long long a, long long b) {
  return (long long)((unsigned long long)a - (unsigned long long)b);
}
"
            }
            Self::Multiply => {
                "static long long multiply(long long a, long long b) {
  return (long long)((unsigned long long)a * (unsigned long long)b);
}
"
            }
            Self::Quotient => {
                "static long long quotient(long long a, long long b) {
  if (b == 0) {
    trap(\"division by zero\\n\");
  }
  return b == -1 ? (long long)(0 - (unsigned long long)a) : a / b;
}
"
            }
            Self::Remainder => {
                "static long long remainder_of(long long a, long long b) {
  if (b == 0) {
    trap(\"division by zero\\n\");
  }
  return b == -1 ? 0 : a % b;
}
"
            }
            Self::ShiftLeft => {
                "static long long shift_left(long long a, long long b) {
  return (long long)((unsigned long long)a << (b & 63));
}
"
            }
            Self::ShiftRight => {
                "static long long shift_right(long long a, long long b) {
  return a >> (b & 63);
}
"
            }
            Self::Choose if scheduled => {
                "static unsigned long seed;

static int choose(int thread, unsigned long *dice, int count) {
  int way = step(thread);
  *dice = *dice * 6364136223846793005UL + 1442695040888963407UL;
  return length < 0 ? (int)((*dice >> 33) % (unsigned)count) : way;
}
"
            }
            Self::Choose => {
                "static unsigned long seed;  // the program's first argument

static int choose(unsigned long *dice, int count) {
  *dice = *dice * 6364136223846793005UL + 1442695040888963407UL;
  return (int)((*dice >> 33) % (unsigned)count);
}
"
            }
            Self::Join => {
                "// Waits for a thread; false if it stopped before its end.
static int joined(pthread_t thread) {
  void *how;
  return pthread_join(thread, &how) == 0 && how != STOPPED;
}
"
            }
        }
    }
}

/// Includes and definitions.
pub(super) fn prelude(context: &Context<'_>) -> String {
    let mut text = String::new();
    let lasts = context.can_last();
    if context.options.scheduled {
        text.push_str("#define _GNU_SOURCE\n");
    } else if lasts {
        text.push_str("#define _POSIX_C_SOURCE 200809L\n");
    }
    let mut instructions = context.program.instructions();
    let annotated = instructions.any(|(_, _, instr)| context.is_annotated(instr));
    let headers = [
        ("assert.h", context.needs(Need::Helper(Helper::Assert))),
        ("pthread.h", true),
        ("rsan.h", annotated),
        ("sched.h", lasts),
        ("signal.h", lasts),
        ("stdatomic.h", true),
        ("stdio.h", true),
        ("stdlib.h", true),
        ("sys/mman.h", context.options.scheduled),
        ("unistd.h", lasts),
    ];
    for (header, _) in headers.iter().filter(|(_, needed)| *needed) {
        let _ = writeln!(text, "#include <{header}>");
    }
    text.push('\n');
    if lasts {
        text.push_str(DEADLINE);
    }
    if context.needs(Need::StrongFailure) {
        text.push_str(STRONG_FAILURE);
    }
    if context.needs(Need::Rounds) {
        text.push_str(ROUNDS);
    }
    if context.needs(Need::Stopped) {
        text.push_str("#define STOPPED ((void *)1)  // a thread that does not reach its end\n");
    }
    if let Some(modulus) = context.modulus() {
        let _ = writeln!(
            text,
            "#define MODULUS {modulus}  // values are from 0 to {}",
            modulus - 1
        );
    }
    if context.options.scheduled {
        text.push_str(HIDDEN);
    }
    if !text.ends_with("\n\n") {
        text.push('\n');
    }
    text
}

const DEADLINE: &str = "\
#ifndef DEADLINE
#define DEADLINE 10  // seconds until a program that is blocked, or still running, is ended
#endif
";

const STRONG_FAILURE: &str = "\
#ifndef __clang__  // gcc follows C11, where a failure cannot have a stronger order than a success
#pragma GCC diagnostic ignored \"-Winvalid-memory-model\"
#endif
";

const ROUNDS: &str = "\
#ifndef ROUNDS
#define ROUNDS 3  // of an endless loop
#endif
";

const HIDDEN: &str = "\
// For functions that a sanitizer does not look into.
#ifdef __clang__
#define HIDDEN __attribute__((noinline, disable_sanitizer_instrumentation))
#else
#define HIDDEN __attribute__((noinline, no_sanitize(\"thread\")))
#endif
";

/// The functions that the threads use, and the schedule.
pub(super) fn helpers(context: &Context<'_>) -> String {
    let mut text = String::new();
    if context.can_last() {
        let _ = write!(
            text,
            "static void too_late(int number) {{
  static const char message[] = \"blocked, or not ended in time\\n\";
  (void)number;
  _exit(write(STDERR_FILENO, message, sizeof message - 1) < 0 ? 1 : {BLOCKED});
}}

"
        );
    }
    if context.options.scheduled {
        text.push_str(SCHEDULE);
    }
    let traps = context
        .needs
        .borrow()
        .iter()
        .any(|need| matches!(need, Need::Helper(h) if h.traps()));
    for helper in Helper::ALL {
        let needed = context.needs(Need::Helper(helper)) || helper == Helper::Trap && traps;
        let early = helper == Helper::Wrap;
        if needed && !early {
            text.push_str(helper.text(context.options.scheduled));
            text.push('\n');
        }
    }
    text
}

/// What prints the final values.
pub(super) fn result(context: &Context<'_>) -> String {
    let mut values: Vec<(String, String)> = Vec::new();
    for (i, location) in context.program.locations.iter().enumerate() {
        values.push((location.name.clone(), final_value(context, LocId::new(i))));
    }
    for (t, thread) in context.program.threads.iter().enumerate() {
        let t = ThreadId::new(t);
        for register in context.observed_registers(t) {
            let name = format!("{}:{}", t.0, thread.registers[register.index()].name);
            values.push((name, context.result_name(t, register)));
        }
    }
    let mut text = String::new();
    if context.needs(Need::Helper(Helper::Wrap)) {
        text.push_str(Helper::Wrap.text(context.options.scheduled));
        text.push('\n');
    }
    if context.options.scheduled {
        text.push_str("HIDDEN ");
    }
    text.push_str("static void print_result(void) {\n");
    for (name, value) in values {
        let name = name.replace('%', "%%");
        let _ = writeln!(text, "  printf(\"{name}=%d\\n\", {value});");
    }
    text.push_str("}\n\n");
    text
}

fn final_value(context: &Context<'_>, loc: LocId) -> String {
    let name = context.locations.element(loc.index());
    if !context.atomic[loc.index()] {
        return name;
    }
    let load = format!("atomic_load_explicit(&{name}, memory_order_relaxed)");
    match context.shapes[loc.index()] {
        Shape::Congruent => context.congruent(&load),
        Shape::Value | Shape::Checked => load,
    }
}

const SCHEDULE: &str = "\
// RSAN_SCHEDULE in the environment has a thread's number for every step, and after a dot which way a choice goes. The
// program ends with the last step. Without it the threads run freely.
static struct {
  int thread, choice;
} schedule[100000];
static int length = -1;
static int position;      // the step that is made now
static int running = -1;  // by whom, once it has begun
static int *here;         // 0 in a copy of the process, which has none of the other threads

static void read_schedule(void) {
  const char *text = getenv(\"RSAN_SCHEDULE\");
  here = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (here == MAP_FAILED || madvise(here, 4096, MADV_WIPEONFORK) != 0) {
    abort();
  }
  *here = 1;
  if (text == NULL) {
    return;
  }
  length = 0;
  while (length < (int)(sizeof schedule / sizeof schedule[0])) {
    char *end;
    long thread = strtol(text, &end, 10);
    if (end == text) {
      break;
    }
    schedule[length].thread = (int)thread;
    schedule[length].choice = *end == '.' ? (int)strtol(end + 1, &end, 10) : 0;
    text = end;
    length++;
  }
  if (length == 0) {
    print_result();
    exit(0);
  }
}

// The thread's step, if it is making one, is done.
HIDDEN static void finish(int thread) {
  if (length < 0 || __atomic_load_n(&running, __ATOMIC_SEQ_CST) != thread || !*here) {
    return;
  }
  __atomic_store_n(&running, -1, __ATOMIC_SEQ_CST);
  if (position + 1 == length) {
    print_result();
    exit(0);
  }
  __atomic_store_n(&position, position + 1, __ATOMIC_SEQ_CST);
}

// Waits for the thread's next turn.
HIDDEN static int step(int thread) {
  if (length < 0 || !*here) {
    return 0;
  }
  finish(thread);
  for (;;) {
    int now = __atomic_load_n(&position, __ATOMIC_SEQ_CST);
    if (now < length && schedule[now].thread == thread) {
      __atomic_store_n(&running, thread, __ATOMIC_SEQ_CST);
      return schedule[now].choice;
    }
    sched_yield();
  }
}

";
