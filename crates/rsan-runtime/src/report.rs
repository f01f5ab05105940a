//! Findings: each distinct one once, at once, as text and as a JSON line.
//!
//! Two findings are the same if the same two instructions are involved. The text goes to standard error. With
//! `log=PATH` each finding is also appended to the file as one line:
//!
//! ```text
//! {"schema":"rsan-runtime/1","pid":N,"kind":"race"|"violation"|"misuse"|"inversion","address":"0x…","size":N,
//!  "memory":MEMORY|null,            what is at the address
//!  "access":SIDE,                   the access that was about to be made
//!  "earlier":SIDE                   race: the other access; misuse: what makes it one, if that is known
//!  "what":"…","text":"…"|null       misuse: its name (`Misuse::name`), and what that does not say
//!  "missed":SIDE,"stale":SIDE,      violation: the write that every SC order puts before the access, and the
//!                                   older one that the access may read or follow
//!  "wait":"…"|null,                 violation: what the program does with the old value, or why that is not known
//!  "chain":CHAIN|null               violation: the accesses that force the order, from the missed write to the
//!                                   access, if they are known; race: those that would order it with stronger orders,
//!                                   from the earlier access (a "plain access", or its link) to the access
//!  "locks":[SIDE+{"address":"0x…","memory":MEMORY|null},…]     inversion: the locks that were taken, each while the one before it was held, and
//!                                   the first one while the last was
//!  "step":N}                        steps of the run until then, if its schedule is ours
//! {"schema":"rsan-runtime/1","pid":N,"kind":"deadlock","cycle":true|false,    they wait for each other, or every thread waits
//!  "threads":[{"thread":N,"name":"…"|null,"operation":"…","joins":N|null,"memory":MEMORY|null,"held_by":N|null,"holds":[HELD,…],"stack":FRAMES},…]}
//! CHAIN = {"fences_known":true|false,"links":[LINK,…]}      whether all fences in between are among the links
//! LINK = {"thread":N,"operation":"…","order":"…","address":"0x…"|null,"memory":MEMORY|null,"stack":FRAMES,
//!         "edge":"po"|"rf"|"mo"|"fr"|"asw"|"sw"|null}      to the next link
//! SIDE = {"thread":N|null,"name":"…"|null,"created":FRAMES|null,"operation":"…","order":"…"|null,"value":"N"|null,"function":"…"|null,"stack":FRAMES,
//!         "held":[HELD,…]|null,"slept":FRAMES|null}      the locks that its thread had; where it slept after the earlier access of a race
//! HELD = {"address":"0x…","memory":MEMORY|null,"mode":"read"|"write","stack":FRAMES}      where it was taken
//! MEMORY = {"kind":"global","module":"path","offset":"0x…"}
//!        | {"kind":"heap","start":"0x…","size":N,"allocated":CONTEXT|null,"freed":CONTEXT|null}
//!        | {"kind":"descriptor","number":N,"created":CONTEXT}
//!        | {"kind":"stack"|"tls","thread":N}
//! CONTEXT = {"thread":N,"stack":FRAMES}
//! FRAMES = [{"module":"path"|null,"offset":"0x…"},…]      innermost first
//! ```
//!
//! A frame's offset is an address in the module's file (what `addr2line -e module` takes) that lies in the call
//! instruction; the function is one of libc that makes the access there. A thread is `null` for the initial value; a stack is empty where nothing is known.

mod foreign;
mod json;
mod misuse;
mod output;
mod text;

pub use misuse::Misuse;

pub(crate) use json::{quote, stack as json_stack};
pub(crate) use output::{path, set_descriptor, set_path, write_text};

use crate::abi::hooks;
use crate::benign;
use crate::chain::{self, Chain, Search};
use crate::ending;
use crate::held::{self, Held, Mode, Then};
use crate::journal;
use crate::lock::Lock;
use crate::modules::{self, Module};
use crate::options::Options;
use crate::order::Taken;
use crate::probe::Wait;
use crate::stack::{Function, Node, Site};
use crate::suppress;
use crate::tables::Set;
use crate::thread::Body;
use rsan_model::ThreadId;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What makes findings distinct: the kind, and two addresses of code. A violation that the value tells is reported although
/// one that it does not tell was.
pub type Key = (Kind, usize, usize);

/// The kind of a finding.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// Two accesses race.
    Race,
    /// An access can be weak.
    Violation,
    /// A load can be weak, but only reads the value that it reads anyway.
    SameValue,
    /// Memory or a lock is used wrongly.
    Misuse(Misuse),
    /// Locks are taken in several orders.
    Inversion,
}

static REPORTED: Lock<Option<Set<Key>>> = Lock::new(None);
static COUNT: AtomicUsize = AtomicUsize::new(0);
static OUTPUT: Lock<()> = Lock::new(());
/// What could not be decided, and where.
static UNDECIDED: Lock<Option<Set<(usize, String)>>> = Lock::new(None);

/// The locks of this module, for fork.
pub(crate) fn locks() -> [&'static crate::lock::RawLock; 4] {
    [
        REPORTED.raw(),
        OUTPUT.raw(),
        UNDECIDED.raw(),
        output::lock(),
    ]
}

/// Starts counting again.
pub(crate) fn reset_count() {
    // ORDERING: relaxed; a statistic.
    COUNT.store(0, Ordering::Relaxed);
}

/// How many distinct findings there were.
pub fn count() -> usize {
    // ORDERING: relaxed; a statistic.
    COUNT.load(Ordering::Relaxed)
}

/// An access in a finding.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// Who; `None` for the initial value.
    pub thread: Option<ThreadId>,
    /// What.
    pub operation: &'static str,
    /// Memory order of an atomic access.
    pub order: Option<&'static str>,
    /// The value written; of a load that can be weak, what it reads.
    pub value: Option<u128>,
    /// Where.
    pub site: Site,
    /// The function of libc that makes it there.
    pub function: Function,
    /// The locks that its thread had.
    pub holding: Holding,
    /// Where its thread slept between the earlier access of a race and this one.
    pub slept: Option<Site>,
}

/// The locks that a thread has at an access.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum Holding {
    /// Not known.
    #[default]
    Unknown,
    /// Those that it had in an epoch, which its history says.
    At(u32),
    /// This one, and perhaps others: address, how, and where it was taken.
    Lock(Then),
}

impl Holding {
    /// Those that the thread has now.
    pub const NOW: Self = Self::At(u32::MAX);

    /// One lock.
    pub(crate) fn of(held: Held) -> Self {
        Self::Lock((held.lock, held.mode, held.pc))
    }

    /// The locks of a thread, if they are known.
    pub(crate) fn locks(self, thread: Option<ThreadId>) -> Option<Vec<Then>> {
        match self {
            Self::Unknown => None,
            Self::At(epoch) => held::held_at(thread?, epoch),
            Self::Lock(lock) => Some(vec![lock]),
        }
    }
}

impl Side {
    /// The same with what its thread had in an epoch.
    #[must_use]
    pub fn holding(self, holding: Holding) -> Self {
        Self { holding, ..self }
    }

    /// A side of a race.
    pub fn plain(thread: Option<ThreadId>, operation: &'static str, site: Site) -> Self {
        Self {
            thread,
            operation,
            order: None,
            value: None,
            site,
            holding: Holding::Unknown,
            slept: None,
            function: Function::NONE,
        }
    }

    /// The same, made by a function of libc.
    pub fn by(self, function: Function) -> Self {
        Self { function, ..self }
    }
}

/// Something to report.
#[derive(Clone, Copy, Debug)]
pub enum Finding {
    /// Two accesses race.
    Race {
        /// Where in memory.
        address: usize,
        /// How much.
        bytes: usize,
        /// The later access.
        access: Side,
        /// The earlier one.
        earlier: Side,
        /// What the chain of accesses that would order them is looked for with.
        search: Option<Search>,
    },
    /// An access can be weak.
    Violation {
        /// Where in memory.
        address: usize,
        /// How much.
        bytes: usize,
        /// The access.
        access: Side,
        /// The write that every SC order puts before it.
        missed: Side,
        /// The older write that it may read or follow.
        stale: Side,
        /// What the program does with the old value.
        wait: Wait,
        /// What the chain of accesses that forces the order is looked for with.
        search: Option<Search>,
    },
    /// Memory is used after its end, or a lock wrongly.
    Misuse {
        /// How.
        what: Misuse,
        /// Where in memory.
        address: usize,
        /// How much.
        bytes: usize,
        /// The access or call.
        access: Side,
        /// The free, or what else makes it wrong.
        earlier: Option<Side>,
    },
    /// Locks are taken in orders that can end in a deadlock: each while the one before it is held, and the first one while the
    /// last is.
    Inversion {
        /// The last one to be seen first.
        taken: &'static [Taken],
    },
}

impl Taken {
    fn side(&self) -> Side {
        let operation = match self.mode {
            Mode::Read => "read lock",
            Mode::Write => "lock",
        };
        Side::plain(Some(self.thread), operation, self.site).holding(Holding::of(self.held))
    }
}

impl Finding {
    /// Its accesses and their roles.
    pub(crate) fn sides(&self) -> Vec<(&'static str, Side)> {
        match *self {
            Self::Race {
                access, earlier, ..
            } => vec![("access", access), ("earlier", earlier)],
            Self::Violation {
                access,
                missed,
                stale,
                ..
            } => vec![("access", access), ("missed", missed), ("stale", stale)],
            Self::Misuse {
                access, earlier, ..
            } => {
                let earlier = earlier.map(|side| ("earlier", side));
                std::iter::once(("access", access)).chain(earlier).collect()
            }
            Self::Inversion { taken } => {
                let roles = std::iter::once("access").chain(std::iter::repeat("earlier"));
                roles.zip(taken.iter().map(Taken::side)).collect()
            }
        }
    }

    /// The memory that it is about, and how much.
    pub(crate) fn extent(&self) -> (usize, usize) {
        match self {
            Self::Race { address, bytes, .. }
            | Self::Violation { address, bytes, .. }
            | Self::Misuse { address, bytes, .. } => (*address, *bytes),
            Self::Inversion { taken } => (taken.first().map_or(0, |taken| taken.lock), 0),
        }
    }

    /// Whether the old value is the one that the load reads anyway.
    pub(crate) fn is_of_same_value(&self) -> bool {
        match self {
            Self::Race { .. } | Self::Misuse { .. } | Self::Inversion { .. } => false,
            Self::Violation { access, stale, .. } => {
                access.value.is_some() && access.value == stale.value
            }
        }
    }

    /// The accesses that force the order of a violation, or would order a race, if they are known.
    fn chain(&self) -> Option<Chain> {
        match self {
            Self::Misuse { .. } | Self::Inversion { .. } => None,
            Self::Race { search, .. } | Self::Violation { search, .. } => {
                chain::find(search.as_ref()?)
            }
        }
    }

    fn key(&self) -> Key {
        match self {
            Self::Race {
                access, earlier, ..
            } => {
                let (a, b) = (access.site.pc, earlier.site.pc);
                (Kind::Race, a.min(b), a.max(b))
            }
            Self::Violation { access, missed, .. } => {
                let kind = match self.is_of_same_value() {
                    true => Kind::SameValue,
                    false => Kind::Violation,
                };
                (kind, access.site.pc, missed.site.pc)
            }
            Self::Misuse {
                what,
                access,
                earlier,
                ..
            } => {
                let earlier = earlier.map_or(0, |side| side.site.pc);
                (Kind::Misuse(*what), access.site.pc, earlier)
            }
            Self::Inversion { taken } => {
                let mut places: Vec<usize> = taken.iter().map(|taken| taken.site.pc).collect();
                places.sort_unstable();
                let last = places.pop().unwrap_or_default();
                let mix = |a: usize, b| a.wrapping_mul(31).wrapping_add(b);
                (Kind::Inversion, places.into_iter().fold(0, mix), last)
            }
        }
    }
}

/// Pairs of places, of the access and of the write that it misses, whose violation was written already. A cache, so that
/// nothing is collected for a report that would not be written.
#[derive(Debug)]
pub struct KnownPlaces([(Node, Node); KNOWN]);

const KNOWN: usize = 64;

impl Default for KnownPlaces {
    fn default() -> Self {
        Self([(Node::UNKNOWN, Node::UNKNOWN); KNOWN])
    }
}

impl KnownPlaces {
    fn index(places: (Node, Node)) -> usize {
        (places.0.0 ^ places.1.0.wrapping_mul(5)) as usize % KNOWN
    }

    /// Whether the violation is known to be written.
    pub fn contains(&self, places: (Node, Node)) -> bool {
        self.0[Self::index(places)] == places
    }

    /// Notes that it is.
    pub fn insert(&mut self, places: (Node, Node)) {
        self.0[Self::index(places)] = places;
    }
}

/// Whether a finding was written already.
pub fn is_known(me: &Body, finding: &Finding) -> bool {
    let key = finding.key();
    let everywhere = || {
        REPORTED
            .lock()
            .as_ref()
            .is_some_and(|all| all.contains(&key))
    };
    me.reported.contains(&key) || everywhere()
}

/// Writes the finding, unless it is known. No lock of a location may be held.
pub fn report(me: &mut Body, finding: &Finding) {
    crate::intercept::keeping_errno(|| write_finding(me, finding));
}

fn write_finding(me: &mut Body, finding: &Finding) {
    if benign::covers(me, finding) {
        return;
    }
    let key = finding.key();
    if !me.reported.insert(key) || !REPORTED.lock().get_or_insert_default().insert(key) {
        return;
    }
    let modules = modules::modules();
    if suppress::suppresses(finding, &modules) {
        if me.options.announce {
            journal::suppressed();
        }
        return;
    }
    // ORDERING: relaxed; a statistic.
    COUNT.fetch_add(1, Ordering::Relaxed);
    let chain = finding.chain();
    let text = text::text(finding, &modules);
    let line = json::line(finding, chain.as_ref(), &modules);
    {
        let _one_at_a_time = OUTPUT.lock();
        let logged = journal::append(line.as_bytes());
        if me.options.text || !logged {
            write_text(text.as_bytes());
        }
    }
    if matches!(finding, Finding::Race { .. }) {
        let text = foreign::announce(&modules, me.options);
        if me.options.text {
            write_to(2, text.as_bytes());
        }
    }
    crate::abi::query::announce(finding);
    if me.options.halt_on_error {
        hooks::dies();
        ending::now(me.options.exitcode);
    }
}

/// A text with nothing in it that a terminal obeys: names of files and of what the program has may be anything.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' => {
                shown.extend(c.escape_unicode());
            }
            c if c.is_control() => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    shown
}

/// A thread of a deadlock.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    /// Who.
    pub(crate) thread: ThreadId,
    /// What it is about to do.
    pub(crate) operation: &'static str,
    /// To what.
    pub(crate) address: Option<usize>,
    /// The thread whose end it waits for.
    pub(crate) joins: Option<ThreadId>,
    /// Who has the lock that it waits for, if that is known.
    pub(crate) held_by: Option<ThreadId>,
    /// The locks that it has.
    pub(crate) holds: Vec<Then>,
    /// Where.
    pub(crate) site: Site,
}

/// Writes that threads cannot go on: they wait for each other (`cycle`), or every thread waits. False if that is suppressed.
pub(crate) fn deadlock(threads: &[Waiting], cycle: bool) -> bool {
    let modules = modules::modules();
    if suppress::suppresses_deadlock(threads, &modules) {
        journal::suppressed();
        return false;
    }
    // ORDERING: relaxed; a statistic.
    COUNT.fetch_add(1, Ordering::Relaxed);
    let _one_at_a_time = OUTPUT.lock();
    let logged = journal::append(json::deadlock(threads, cycle, &modules).as_bytes());
    if !logged || crate::runtime::options().is_some_and(|options| options.text) {
        write_text(text::deadlock(threads, cycle, &modules).as_bytes());
    }
    true
}

/// Says that something could not be decided at a place, once for each place and reason. An exploration that claims proofs
/// is undecided then; without [`Options::exact`] nothing is said.
pub(crate) fn undecided(me: &Body, site: Site, why: &str) {
    undecided_with(me.options, site, why);
}

/// The same where there is no thread to ask.
pub(crate) fn undecided_with(options: &Options, site: Site, why: &str) {
    if !options.exact {
        return;
    }
    let key = (site.pc, why.to_owned());
    if UNDECIDED.lock().get_or_insert_default().insert(key) {
        let modules = modules::modules();
        journal::undecided(why, &json_stack(&frames(site, &modules)));
    }
}

/// Ends the process because the runtime cannot go on.
pub fn die(message: &[&str]) -> ! {
    write_to(2, b"rsan: ");
    for part in message {
        write_to(2, part.as_bytes());
    }
    write_to(2, b"\n");
    journal::fatal(message);
    hooks::dies();
    // SAFETY: ends the process.
    unsafe { libc::abort() }
}

/// Ends the process because the system did not map memory for something of the runtime: the negative number of an error.
pub fn not_mapped(error: isize, what: &str) -> ! {
    let refused = [libc::EPERM, libc::EACCES, libc::ENOSYS];
    if refused.iter().any(|number| error == -(*number as isize)) {
        die(&[
            "the program's filter of system calls (seccomp) forbids mmap, which rsan needs for ",
            what,
        ]);
    }
    out_of_memory(what)
}

/// Ends the process because there is no memory for something of the runtime.
pub fn out_of_memory(what: &str) -> ! {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the structure is filled in.
    unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) };
    let hint = if limit.rlim_cur == libc::RLIM_INFINITY {
        ""
    } else {
        "; the address space is limited (ulimit -v), and rsan needs much of it"
    };
    die(&["out of memory for ", what, hint])
}

/// Writes everything, without a buffer; what cannot be written is lost.
pub fn write_to(file: i32, bytes: &[u8]) {
    let _ = journal::quietly(|| journal::write_all(file, bytes));
}

/// Prints a stack.
pub(crate) fn print_stack(site: Site) {
    let modules = modules::modules();
    write_text(text::stack(&frames(site, &modules)).as_bytes());
}

/// The stack of a site as modules and offsets, innermost first.
pub(crate) fn frames(site: Site, modules: &[Module]) -> Vec<(Option<&str>, usize)> {
    if site.pc == 0 && site.node == Node::UNKNOWN {
        return Vec::new();
    }
    call_sites(site.stack(), modules)
}

/// Return addresses as modules and offsets.
fn call_sites(stack: Vec<usize>, modules: &[Module]) -> Vec<(Option<&str>, usize)> {
    // The first function of every thread is one of this library.
    let this = modules::find(modules, frames as *const () as usize).map(|found| found.0.bias);
    let mut frames = Vec::new();
    for pc in stack.into_iter().filter(|pc| *pc != 0) {
        let call = pc.saturating_sub(1);
        match modules::find(modules, call) {
            Some((module, _)) if Some(module.bias) == this => {}
            Some((module, offset)) => frames.push((Some(module.path.as_str()), offset)),
            None => frames.push((None, call)),
        }
    }
    frames
}
