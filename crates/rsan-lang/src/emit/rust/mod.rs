//! What is written otherwise in Rust: declarations, `main`, the parts of a function, names.

mod harness;

use super::frame::Extra;
use super::harness::{Helper, Need};
use super::syntax::Language;
use super::{Context, Function, Shape};
use rsan_model::{CasStrength, Instr, LocId, RegId, Start, ThreadId};
use std::fmt::Write as _;

/// The file, around the functions of the threads.
pub(super) fn file(context: &Context<'_>, functions: &str) -> String {
    let result = result(context);
    let mut text = context.title();
    text.push_str(&harness::prelude(context));
    text.push_str(&declarations(context));
    text.push_str(&result);
    text.push_str(&harness::helpers(context));
    text.push_str(functions);
    text.push_str(&main(context));
    text
}

/// Whether threads say if they reach their ends.
fn stops(context: &Context<'_>) -> bool {
    let mut instructions = context.program.instructions();
    instructions.any(|(_, _, instr)| matches!(instr, Instr::Assume(_) | Instr::Join(_)))
}

/// What a thread's function returns.
fn returned(context: &Context<'_>) -> &'static str {
    if stops(context) { "bool" } else { "()" }
}

/// The beginning of a thread's function.
pub(super) fn head(context: &Context<'_>, id: ThreadId) -> String {
    let name = &context.threads[id.index()];
    let arrow = if stops(context) { " -> bool" } else { "" };
    let at_once = initial(context).iter().position(|other| other == name);
    let begin = match at_once.filter(|_| context.options.scheduled) {
        Some(number) => format!("    begin({number});\n"),
        None => String::new(),
    };
    format!("fn {name}(){arrow} {{\n{begin}")
}

/// Whether memory is accessed as plain memory.
fn has_plain(context: &Context<'_>) -> bool {
    let mut threads = (0..context.threads.len()).map(ThreadId::new);
    context.atomic.contains(&false)
        || context.needs(Need::Helper(Helper::Plain))
        || threads.any(|t| !context.observed_registers(t).is_empty())
}

fn declarations(context: &Context<'_>) -> String {
    let mut text = String::new();
    let aligned = context.options.scheduled;
    for variable in context.locations.variables() {
        let kind = match context.atomic[variable.elements().start] {
            true => "AtomicI32",
            false => "Plain",
        };
        let values: Vec<String> = context.program.locations[variable.elements()]
            .iter()
            .map(|l| format!("{kind}::new({})", l.init))
            .collect();
        let values = values.join(", ");
        let (kind, value) = match variable.len {
            None => (kind.to_owned(), values),
            Some(len) => (format!("[{kind}; {len}]"), format!("[{values}]")),
        };
        let name = &variable.name;
        let _ = match aligned {
            true => writeln!(text, "static {name}: Aligned<{kind}> = Aligned({value});"),
            false => writeln!(text, "static {name}: {kind} = {value};"),
        };
    }
    for t in (0..context.program.threads.len()).map(ThreadId::new) {
        for register in context.observed_registers(t) {
            let name = &context.program.threads[t.index()].registers[register.index()].name;
            let result = context.result_name(t, register);
            let _ = writeln!(
                text,
                "static {result}: Plain = Plain::new(0); // {}:{name}",
                t.0
            );
        }
    }
    text.push('\n');
    text
}

/// What prints the final values.
fn result(context: &Context<'_>) -> String {
    let mut text = String::from("fn print_result() {\n");
    let mut print = |name: &str, value: &str| {
        let name = name.replace('{', "{{").replace('}', "}}");
        let _ = writeln!(text, "    println!(\"{name}={{}}\", {value});");
    };
    for (i, location) in context.program.locations.iter().enumerate() {
        print(&location.name, &final_value(context, LocId::new(i)));
    }
    for (t, thread) in context.program.threads.iter().enumerate() {
        let t = ThreadId::new(t);
        for register in context.observed_registers(t) {
            let name = format!("{}:{}", t.0, thread.registers[register.index()].name);
            let result = context.result_name(t, register);
            let value = match context.options.scheduled {
                true => format!("hidden_load({result}.as_ptr())"),
                false => format!("{result}.read()"),
            };
            print(&name, &value);
        }
    }
    text.push_str("}\n\n");
    text
}

fn final_value(context: &Context<'_>, loc: LocId) -> String {
    let name = context.locations.element(loc.index());
    let (atomic, shape) = (context.atomic[loc.index()], context.shapes[loc.index()]);
    let value = match (context.options.scheduled, atomic) {
        (true, _) => format!("hidden_load({name}.as_ptr())"),
        (false, true) => format!("{name}.load(Ordering::Relaxed)"),
        (false, false) => format!("{name}.read()"),
    };
    match shape {
        Shape::Congruent if atomic => context.congruent(&value),
        _ => value,
    }
}

fn main(context: &Context<'_>) -> String {
    let mut text = String::from("pub fn main() {\n");
    if context.can_last() {
        text.push_str("    unsafe {\n        signal(14, too_late); // SIGALRM\n        alarm(DEADLINE);\n    }\n");
    }
    if context.options.scheduled {
        text.push_str("    read_schedule();\n");
    }
    let names = initial(context);
    if !names.is_empty() {
        let (count, returned) = (names.len(), returned(context));
        let kind = match returned {
            "()" => "fn()".to_owned(),
            other => format!("fn() -> {other}"),
        };
        let _ = write!(
            text,
            "    let functions: [{kind}; {count}] = [{}];\n    \
             for thread in functions.map(thread::spawn) {{\n        \
             thread.join().expect(\"no thread panics\");\n    }}\n",
            names.join(", ")
        );
    }
    text.push_str("    print_result();\n}\n");
    text
}

/// The functions of the threads that `main` starts.
fn initial<'c>(context: &'c Context<'_>) -> Vec<&'c str> {
    let threads = context.program.threads.iter().zip(&context.threads);
    threads
        .filter(|(thread, _)| thread.start == Start::Initial)
        .map(|(_, name)| name.as_str())
        .collect()
}

impl Function<'_, '_> {
    /// A variable that the source does not have.
    pub(super) fn extra_in_rust(&self, extra: Extra) -> String {
        match extra {
            Extra::Expected => String::new(),
            Extra::Seen => "    let mut seen;\n".to_owned(),
            Extra::Rounds => "    let mut rounds: u32 = 0;\n".to_owned(),
            Extra::Dice => format!("    let mut dice: u64 = seed() + {};\n", self.id.0),
            Extra::Thread(t) => {
                let returned = returned(self.context);
                format!("    let mut thread_{t}: Option<thread::JoinHandle<{returned}>> = None;\n")
            }
        }
    }

    /// The last lines of a thread's function.
    pub(super) fn end_in_rust(&mut self) {
        let context = self.context;
        if context.options.scheduled && self.thread.start == Start::Initial {
            self.text.push_str("    stay();\n");
        }
        if stops(context) {
            self.text.push_str("    true\n");
        }
    }

    /// A compare-and-swap, and where its success and what it saw go.
    pub(super) fn compare_exchange(
        &mut self,
        (success, dst): (Option<RegId>, Option<RegId>),
        place: &str,
        strength: CasStrength,
        operands: &[&str],
        pc: u32,
    ) {
        let method = match strength {
            CasStrength::Strong => "compare_exchange",
            CasStrength::Weak => "compare_exchange_weak",
        };
        let swap = Language::Rust.atomic(method, place, operands);
        match (success, dst) {
            (None, None) => self.line(&Language::Rust.dropped(&swap), pc),
            (Some(_), None) => self.assign(success, &format!("i32::from({swap}.is_ok())"), pc),
            (None, Some(_)) => self.assign(dst, &format!("{swap}.unwrap_or_else(|was| was)"), pc),
            (Some(_), Some(_)) => {
                self.line(&format!("let swapped = {swap};"), pc);
                self.assign(success, "i32::from(swapped.is_ok())", pc);
                self.assign(dst, "swapped.unwrap_or_else(|was| was)", pc);
            }
        }
    }

    pub(super) fn spawn_rust(&mut self, child: ThreadId, pc: u32) {
        let t = child.0;
        self.extras.insert(Extra::Thread(t));
        let name = &self.context.threads[child.index()];
        let spawn = format!("thread_{t} = Some(thread::spawn({name}));");
        self.line(&spawn, pc);
    }
}

/// Whether Rust, its prelude, or the translation itself have the name.
pub(super) fn is_reserved(name: &str) -> bool {
    let prefixes = ["rsan_", "final_", "thread_", "hidden_"];
    prefixes.iter().any(|prefix| name.starts_with(prefix))
        || RESERVED.split_whitespace().any(|word| word == name)
}

/// Keywords, names of the prelude, and our own: nothing in Rust can be called as a static is.
const RESERVED: &str = "\
as async await break const continue crate dyn else enum extern false fn for gen if impl in let loop match mod move mut pub ref
return self Self static struct super trait true type unsafe use where while abstract become box do final macro override priv
try typeof unsized virtual yield union raw safe
Some None Ok Err Option Result Vec String Box Drop Fn Iterator drop i32 i64 u32 u64 usize bool str char u8
AtomicI32 Ordering UnsafeCell OnceLock Plain Aligned ROUNDS DEADLINE MODULUS BEGUN POSITION RUNNING HERE SCHEDULE INITIAL
fence thread process asm env main signal alarm write _exit mmap madvise
rounds seen swapped was dice next functions seed choose wrap element quotient remainder_of add subtract multiply shift_left
shift_right counted joined plain trap check too_late print_result read_schedule step finish begin stay schedule
object value values order bytes address expected desired number what message condition old change index length count text
word way now position steps here a b";
