//! What the runtime logged, as a finding with functions, lines and names.

use super::chain;
use super::cycle;
use super::memory::{described, value};
use super::misuse;
use super::names::Names;
use super::race;
use super::sentence;
use super::shorter;
use super::standard::is_by_standard;
use super::symbols::{Symbols, of_libc};
use super::verdict::ended;
use crate::machines::Machines;
use rsan_log::{
    Address, Failure, Finding as Logged, Held, Manner, Misuse, Side, Taken, Visible, Wait, Waiting,
};
use rsan_model::Model;
use rsan_report::document::{
    Access, Finding, Fix, Frame, HeldLock, Kind, LockMode, Memory, OnMachine, Related, Role,
    Severity, Shows, Thread,
};

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// What is needed to show addresses as something that people know.
pub(super) struct Resolver {
    pub(super) symbols: Symbols,
    pub(super) names: Names,
    pub(super) model: Model,
    machines: Machines,
}

impl Resolver {
    pub(super) fn new(model: Model) -> Self {
        Self {
            symbols: Symbols::default(),
            names: Names::default(),
            model,
            machines: Machines::default(),
        }
    }
}

/// A logged finding.
pub(super) fn finding(logged: &Logged<'_>, resolver: &mut Resolver) -> Finding {
    let mut finding = match logged {
        Logged::Race {
            address,
            size,
            memory,
            access,
            earlier,
            chain,
        } => {
            let sides = [(Role::Access, access), (Role::Earlier, earlier)];
            let about = About::new(*address, *size, memory.as_ref(), resolver);
            let accesses = about.accesses(sides, resolver);
            let message = sentence::race(&accesses, &about);
            let mut finding = about.finding(Kind::DataRace, message, accesses);
            race::explain(&mut finding, chain.as_ref(), resolver);
            finding
        }
        Logged::Violation {
            address,
            size,
            memory,
            access,
            missed,
            stale,
            wait,
            chain,
        } => {
            let sides = [
                (Role::Access, access),
                (Role::Missed, &**missed),
                (Role::Stale, &**stale),
            ];
            let about = About::new(*address, *size, memory.as_ref(), resolver);
            let accesses = about.accesses(sides, resolver);
            let same_value = logged.is_of_same_value();
            let message = sentence::weak(&accesses, same_value, &about);
            let mut finding = about.finding(Kind::WeakBehaviour, message, accesses);
            finding.same_value = same_value;
            if logged.is_minor() && (same_value || !is_early(wait.as_ref(), &finding.accesses)) {
                finding.severity = Severity::Note;
            }
            if same_value {
                finding.because.push(sentence::SAME_VALUE.to_owned());
            }
            let wait = wait.as_ref();
            finding
                .because
                .extend(wait.map(|wait| format!("with the stale value the program {wait}")));
            if let Some(chain) = chain {
                chain::explain(&mut finding, &shorter::of(chain), resolver);
            }
            finding
        }
        Logged::Misuse {
            address,
            size,
            memory,
            access,
            earlier,
            what,
            text,
        } => {
            let earlier = earlier.as_ref().map(|side| (Role::Earlier, side));
            let sides = std::iter::once((Role::Access, access)).chain(earlier);
            let about = About::new(*address, *size, memory.as_ref(), resolver);
            let accesses = about.accesses(sides, resolver);
            let place = match what {
                Misuse::DoubleFree => about.whole(),
                _ => about.place(),
            };
            let message = misuse::message(*what, text.as_deref(), &accesses, &place);
            about.finding(misuse::kind(*what), message, accesses)
        }
        Logged::Deadlock { cycle, threads } => {
            let threads = threads.iter();
            let accesses = threads.map(|waiting| waits(waiting, resolver)).collect();
            let message = match cycle {
                true => "threads wait for each other",
                false => "every thread waits",
            };
            of(Kind::Deadlock, message.to_owned(), accesses)
        }
        Logged::Inversion {
            address,
            memory,
            locks,
        } => {
            let locks = locks.iter().map(|taken| taken_lock(taken, resolver));
            let locks: Vec<_> = locks.collect();
            let message = sentence::inversion(&locks);
            let about = About::new(*address, 0, memory.as_ref(), resolver);
            about.finding(Kind::LockOrderInversion, message, locks)
        }
    };
    // A race without a chain of accesses that would order it shows everywhere.
    if finding.execution.is_some() {
        let cycle = cycle::of(logged);
        finding.machines = cycle.map_or_else(Vec::new, |cycle| resolver.machines.of(cycle));
    }
    let shown = |known: &OnMachine| known.shows != Shows::No;
    if finding.kind == Kind::DataRace && !finding.machines.iter().any(shown) {
        finding.machines.clear();
    }
    finding.in_libraries = is_in_libraries(&finding);
    labels(&mut finding);
    finding.fix = finding.fix.or_else(|| fix(finding.kind));
    finding
}

/// How a program failed, as a finding.
pub(super) fn failed(said: &Failure<'_>, resolver: &mut Resolver) -> Finding {
    let (kind, operation, message) = match &said.manner {
        Manner::Assertion { text, .. } => (
            Kind::Assertion,
            "assertion",
            format!("the assertion `{text}` fails"),
        ),
        Manner::Abort => (
            Kind::Crash,
            "abort",
            "the program calls abort, or a library does".to_owned(),
        ),
        Manner::Signal { number, .. } => {
            let signal = ended(ExitStatus::from_raw(*number as i32));
            (
                Kind::Crash,
                "signal",
                format!("the program ends by {signal}"),
            )
        }
        Manner::Exit { status } => (
            Kind::Failure,
            "exit",
            format!("the program ends with exit status {status}"),
        ),
    };
    let access = Access {
        role: Role::Access,
        thread: said.thread.map(Thread::of_run),
        name: said.name.as_deref().map(str::to_owned),
        operation: operation.to_owned(),
        stack: resolver.symbols.stack(&said.stack),
        order: None,
        value: None,
        waits_for: None,
        created: None,
        held_by: None,
        held: None,
        lock: None,
        slept: None,
    };
    let who = access.subject();
    let mut finding = of(kind, message, vec![access]);
    finding.label = Some(match kind {
        Kind::Assertion => format!("fails in {who}"),
        _ => format!("{operation} in {who}"),
    });
    finding
}

/// A finding without an address.
fn of(kind: Kind, message: String, accesses: Vec<Access>) -> Finding {
    let mut finding = Finding::new(kind, severity(kind), message);
    let first = accesses.first();
    finding.location = first.and_then(Access::place);
    if kind != Kind::Deadlock {
        finding.thread = first.and_then(|access| access.thread.clone());
    }
    finding.accesses = accesses;
    finding
}

/// How much a finding of a run matters. Whether a stale value hurts is not known.
pub(super) fn severity(kind: Kind) -> Severity {
    match kind {
        Kind::WeakBehaviour
        | Kind::ObservedWeakBehaviour
        | Kind::TriangularRace
        | Kind::Reordering
        | Kind::LockOrderInversion
        | Kind::ThreadLeak
        | Kind::SignalErrno => Severity::Warning,
        Kind::DataRace
        | Kind::DescriptorRace
        | Kind::Assertion
        | Kind::Trap
        | Kind::Crash
        | Kind::Failure
        | Kind::Hang
        | Kind::Deadlock
        | Kind::Condition
        | Kind::UseAfterFree
        | Kind::DoubleFree
        | Kind::InvalidFree
        | Kind::UseAfterReturn
        | Kind::LockMisuse
        | Kind::SignalUnsafeCall => Severity::Error,
    }
}

/// What always helps against a kind of finding.
fn fix(kind: Kind) -> Option<Fix> {
    let message = match kind {
        Kind::LockOrderInversion => "take these locks in the same order everywhere",
        Kind::ThreadLeak => "join or detach the thread",
        Kind::SignalErrno => "save errno when the handler begins, and restore it when it ends",
        _ => return None,
    };
    Some(Fix {
        message: message.to_owned(),
        checked: None,
        changes: Vec::new(),
    })
}

/// Whether it is too early to say that a stale value makes no difference. In Rust the next step is often a reference that is given up, a lock or a block of memory, before the
/// value is used.
fn is_early(wait: Option<&Wait>, accesses: &[Access]) -> bool {
    let is_rust = |frame: &Frame| {
        frame
            .file
            .as_ref()
            .is_some_and(|file| file.ends_with(".rs"))
    };
    let in_rust = accesses
        .first()
        .is_some_and(|access| access.stack.iter().any(is_rust));
    in_rust
        && matches!(
            wait,
            Some(Wait::Alike(Visible::Rmw | Visible::Cas | Visible::Call))
        )
}

/// Whether a finding is the business of libraries that the user did not write. A weak behaviour is, if its accesses are
/// inside a library, whoever called that; a container or a string that the user's threads race on is the user's.
fn is_in_libraries(finding: &Finding) -> bool {
    is_of(finding, |frame| frame.library.is_some())
}

/// The same of Rust's standard library alone. What ends a program, or keeps it from ending, is always the user's.
pub(super) fn is_in_standard(finding: &Finding) -> bool {
    let about_memory = match finding.kind {
        Kind::WeakBehaviour => true,
        // A side of which nothing is known may be anybody's.
        Kind::DataRace => finding.accesses.iter().all(|side| !side.stack.is_empty()),
        _ => false,
    };
    about_memory && is_of(finding, Frame::is_of_standard) || is_by_standard(finding)
}

fn is_of(finding: &Finding, theirs: impl Fn(&Frame) -> bool) -> bool {
    let mut sides = finding.accesses.iter().filter(|access| {
        let known = access.stack.iter().any(|frame| frame.file.is_some());
        known && access.role != Role::Stale
    });
    let mut any = false;
    let all = sides.all(|access| {
        any = true;
        match finding.kind {
            Kind::WeakBehaviour => access.maker().is_some_and(&theirs),
            _ => access.is_within(&theirs),
        }
    });
    any && all
}

/// The memory that a finding is about.
pub(super) struct About {
    address: Address,
    size: u64,
    memory: Option<Memory>,
    /// Its values are numbers with a sign.
    signed: bool,
}

impl About {
    pub(super) fn new(
        address: Address,
        size: u64,
        memory: Option<&rsan_log::Memory<'_>>,
        resolver: &mut Resolver,
    ) -> Self {
        let described = memory.map(|memory| described(memory, Some(address), resolver));
        let (memory, signed) = described.unzip();
        Self {
            address,
            size,
            memory,
            signed: signed.unwrap_or_default(),
        }
    }

    /// A name for it in a sentence.
    pub(super) fn place(&self) -> String {
        let address = self.address.to_string();
        match &self.memory {
            Some(memory) => memory.place(&address),
            None => address,
        }
    }

    /// A name for all of it.
    pub(super) fn whole(&self) -> String {
        let address = self.address.to_string();
        match &self.memory {
            Some(memory) => memory.whole(&address),
            None => address,
        }
    }

    pub(super) fn accesses<'b>(
        &self,
        sides: impl IntoIterator<Item = (Role, &'b Side<'b>)>,
        resolver: &mut Resolver,
    ) -> Vec<Access> {
        let access = |(role, side): (Role, &Side<'_>)| Access {
            value: side
                .value
                .map(|number| value(number, self.size, self.signed)),
            ..access(role, side, resolver)
        };
        sides.into_iter().map(access).collect()
    }

    fn finding(self, kind: Kind, message: String, accesses: Vec<Access>) -> Finding {
        let object = match &self.memory {
            Some(Memory::Variable { name: Some(_), .. }) => Some(self.place()),
            _ => None,
        };
        let mut finding = of(kind, message, accesses);
        finding.object = object;
        finding.address = (self.address != Address::default()).then(|| self.address.to_string());
        finding.size = Some(self.size).filter(|size| *size > 0);
        finding.memory = self.memory;
        finding
    }
}

fn access(role: Role, side: &Side<'_>, resolver: &mut Resolver) -> Access {
    let held = side.held.as_ref().map(|all| held_locks(all, resolver));
    let symbols = &mut resolver.symbols;
    Access {
        role,
        thread: side.thread.map(Thread::of_run),
        name: side.name.as_deref().map(str::to_owned),
        operation: side.operation.to_string(),
        order: side.order.map(|order| order.to_string()),
        value: side.value.map(|value| value.to_string()),
        stack: of_libc(side.function.as_deref())
            .into_iter()
            .chain(symbols.stack(&side.stack))
            .collect(),
        created: side.created.as_ref().map(|stack| symbols.stack(stack)),
        waits_for: None,
        held_by: None,
        lock: None,
        held,
        slept: side.slept.as_ref().map(|stack| symbols.stack(stack)),
    }
}

/// A thread of a deadlock.
fn waits(waiting: &Waiting<'_>, resolver: &mut Resolver) -> Access {
    let memory = waiting.memory.as_ref();
    let memory = memory.map(|memory| described(memory, None, resolver).0.place("memory"));
    let joins = waiting.joins;
    Access {
        role: Role::Waiting,
        thread: Some(Thread::of_run(waiting.thread)),
        name: waiting.name.as_deref().map(str::to_owned),
        operation: waiting.operation.to_string(),
        order: None,
        value: None,
        stack: resolver.symbols.stack(&waiting.stack),
        created: None,
        waits_for: joins
            .map(|thread| format!("the end of {}", Thread::of_run(thread)))
            .or(memory),
        held_by: waiting.held_by.map(Thread::of_run),
        lock: None,
        held: Some(held_locks(&waiting.holds, resolver)),
        slept: None,
    }
}

/// A lock that was taken while another one was held.
fn taken_lock(taken: &Taken<'_>, resolver: &mut Resolver) -> Access {
    let lock = place_name(taken.memory.as_ref(), taken.address, resolver);
    Access {
        lock: Some(lock),
        ..access(Role::Lock, &taken.side, resolver)
    }
}

fn held_locks(all: &[Held<'_>], resolver: &mut Resolver) -> Vec<HeldLock> {
    let lock = |held: &Held<'_>| HeldLock {
        lock: place_name(held.memory.as_ref(), held.address, resolver),
        mode: match held.mode {
            rsan_log::Mode::Read => LockMode::Read,
            rsan_log::Mode::Write => LockMode::Write,
        },
        stack: resolver.symbols.stack(&held.stack),
    };
    all.iter().map(lock).collect()
}

/// What people call the memory at an address.
fn place_name(
    memory: Option<&rsan_log::Memory<'_>>,
    address: Address,
    resolver: &mut Resolver,
) -> String {
    let text = address.to_string();
    match memory {
        Some(memory) => described(memory, Some(address), resolver).0.place(&text),
        None => text,
    }
}

/// What happens at each place, in a few words.
fn labels(finding: &mut Finding) {
    let labels: Vec<_> = finding
        .accesses
        .iter()
        .map(|access| (access.place(), label(finding, access)))
        .collect();
    let mut labels = labels.into_iter();
    finding.label = labels.next().map(|(_, label)| label);
    let related = labels.filter_map(|(location, message)| {
        Some(Related {
            location: location?,
            message,
        })
    });
    finding.related = related.collect();
}

/// ` in memcpy`, if a function of libc makes an access for the program.
fn within(access: &Access) -> String {
    let libc = access.stack.first().filter(|frame| frame.module.is_none());
    let function = libc.and_then(|frame| frame.function.as_ref());
    let function = function.filter(|name| **name != access.operation);
    function.map_or(String::new(), |name| format!(" in {name}"))
}

fn label(finding: &Finding, access: &Access) -> String {
    let (who, operation) = (access.subject(), &access.operation);
    let is_load = finding
        .accesses
        .first()
        .is_some_and(|access| access.operation != "store");
    let of_value = access
        .value
        .as_ref()
        .map_or(String::new(), |value| format!(" of {value}"));
    match (access.role, finding.kind) {
        (Role::Access, Kind::WeakBehaviour) if is_load => {
            let stale = finding
                .accesses
                .iter()
                .find(|access| access.role == Role::Stale);
            let value = stale.and_then(|stale| stale.value.as_ref());
            let value = value.map_or("a stale value".to_owned(), |value| {
                format!("the stale value {value}")
            });
            format!("{who} may read {value} here")
        }
        (Role::Access, Kind::WeakBehaviour) => format!("{who}'s {operation} may take effect"),
        (Role::Missed, _) if is_load => {
            format!("although {who}'s {operation}{of_value} comes first")
        }
        (Role::Missed, _) => format!("before {who}'s {operation}{of_value}, which comes first"),
        (Role::Stale, _) if is_load => format!("the stale value{of_value} was stored here"),
        (Role::Stale, _) => "and directly after this one".to_owned(),
        (Role::Earlier, Kind::DataRace | Kind::DescriptorRace) => {
            let within = within(access);
            format!("not ordered with this {operation}{within} by {who}")
        }
        (Role::Earlier, _) => format!("after this {operation} by {who}"),
        (Role::Waiting, _) => {
            let what = access.waits_for.as_deref().unwrap_or("something");
            format!("{who} waits for {what}")
        }
        (Role::Lock, _) => {
            let lock = access.lock.as_deref().unwrap_or("a lock");
            let held = access.held.iter().flatten().map(|held| held.lock.as_str());
            let held: Vec<_> = held.collect();
            match held.is_empty() {
                true => format!("{who} takes {lock}"),
                false => format!("{who} takes {lock} and has {}", held.join(" and ")),
            }
        }
        (Role::Access, Kind::ThreadLeak) => format!("{who} was created here"),
        (Role::Access, _) => format!("{operation}{} by {who}", within(access)),
    }
}
