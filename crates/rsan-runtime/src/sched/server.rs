//! Many runs of one program, from a snapshot: the process stops at `main` (or where `rsan.h` says so) and forks
//! children, which make a run each, or many (`sched::reuse`).
//!
//! Whoever wants runs listens on a socket (`server=PATH`) and writes a line for each ([`Request`]); the answer is a line, too
//! ([`Answer`]). What the run did is in the file `trace=PATH` then ([`rsan_schedule::shared`]).
//!
//! A run that makes no progress because it sleeps in a call that the runtime does not know is told to let the others
//! go on, by a signal.

use super::reuse::{self, Clock, Keepers, Shared, Stage};
use super::run::{Plan, Weak};
use super::trace::Trace;
use super::views::Views;
use super::{begin_run, leave, lent, places, snapshot, stacks};
use crate::entry::entries;
use crate::imports::imports_any;
use crate::options::Options;
use crate::real::Main;
use crate::system::{futex_wait, futex_wake, system_call};
use crate::{failing, files, modules, real, report, thread};
use libc::{c_char, c_int, c_void};
use rsan_schedule::strategy::{Follow, Prefix, Replay};
use rsan_schedule::{Answer, Choice, Request, SEPARATOR, Schedule, Strategy, explore};
use std::ffi::CString;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::os::fd::{AsRawFd, IntoRawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The program's `main`.
static MAIN: AtomicUsize = AtomicUsize::new(0);
/// The frame below which the frames of `main` and of what it calls lie.
static FRAME: AtomicUsize = AtomicUsize::new(0);
static SERVED: AtomicBool = AtomicBool::new(false);

/// The signal that lets other threads go on: one that neither the kernel nor programs use.
const NUDGE: c_int = libc::SIGSTKFLT;

unsafe extern "C-unwind" fn start_main(
    main: Main,
    argc: c_int,
    argv: *mut *mut c_char,
    init: usize,
    fini: usize,
    rtld_fini: usize,
    stack_end: *mut c_void,
) -> c_int {
    // ORDERING: relaxed; there is one thread.
    MAIN.store(main as usize, Ordering::Relaxed);
    // SAFETY: the program's call, with a `main` that calls the program's.
    unsafe { real::__libc_start_main(first, argc, argv, init, fini, rtld_fini, stack_end) }
}

unsafe extern "C-unwind" fn first(
    argc: c_int,
    argv: *mut *mut c_char,
    environment: *mut *mut c_char,
) -> c_int {
    let frame = 0u8;
    // ORDERING: relaxed; there is one thread.
    FRAME.store(&raw const frame as usize, Ordering::Relaxed);
    if !tells_of_main() {
        begin_main();
    }
    // ORDERING: relaxed; set above, by this thread.
    let main = MAIN.load(Ordering::Relaxed);
    // SAFETY: the program's `main`.
    let main = unsafe { std::mem::transmute::<usize, Main>(main) };
    // SAFETY: as the system asked.
    let status = unsafe { main(argc, argv, environment) };
    failing::returns(status);
    status
}

/// Whether the program's own `main` is not the C function, and calls [`begin_main`] itself: a Rust program, whose standard library sets itself up in between.
fn tells_of_main() -> bool {
    // ORDERING: relaxed; set by this thread.
    let main = MAIN.load(Ordering::Relaxed);
    let modules = modules::modules();
    let program = modules::find(&modules, main);
    program.is_some_and(|(module, _)| imports_any(module, &[c"__rsan_main"]))
}

/// The program's own code begins.
extern "C" fn begin_main() {
    if crate::options::current().is_some_and(|options| !options.at_marker) {
        start();
    }
}

/// Where `rsan.h` says that the snapshot is to be made.
extern "C" fn marker() {
    if crate::options::current().is_some_and(|options| options.at_marker) {
        start();
    }
}

/// Serves, or begins the one run, or does nothing, as the settings say.
fn start() {
    // ORDERING: relaxed; set by this thread.
    let outermost = FRAME.load(Ordering::Relaxed);
    let Some(options) = crate::options::current() else {
        return;
    };
    // ORDERING: relaxed; a flag that is only ever set.
    if SERVED.swap(true, Ordering::Relaxed) {
        return;
    }
    if options.owns_schedule() {
        // Threads do not wait for each other here: one heap is enough, and gives the same addresses in all runs.
        // SAFETY: a plain setting.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
        keep_from_others();
    }
    if !options.server.is_empty() {
        serve(options, outermost);
    } else if !options.sched.is_empty() {
        match asked(&options.sched) {
            Ok(plan) => begin(plan, open_trace(options), outermost),
            Err(error) => crate::fatal::die(&["RSAN_OPTIONS: ", &error]),
        }
    }
    if options.owns_schedule() {
        stacks::wipe(0);
    }
}

/// The schedule is that of this program, not of those that it executes.
fn keep_from_others() {
    let text = std::env::var("RSAN_OPTIONS").unwrap_or_default();
    if let Ok(rest) = CString::new(Options::without_schedule(&text)) {
        // SAFETY: C strings; there is one thread.
        unsafe { libc::setenv(c"RSAN_OPTIONS".as_ptr(), rest.as_ptr(), 1) };
    }
}

/// The file of the settings, or memory of this process.
fn open_trace(options: &Options) -> Trace {
    let path = CString::new(options.trace.as_str()).unwrap_or_default();
    Trace::new(Some(&*path).filter(|path| !path.is_empty()))
}

fn begin(plan: Plan, trace: Trace, outermost: usize) {
    install_nudge();
    failing::watch();
    begin_run(plan, trace, outermost);
}

/// Answers lines with runs. Returns in the children, which are to run the program.
fn serve(options: &Options, outermost: usize) {
    // The program is not seen to do any of this.
    let me = thread::enter();
    let stream = match UnixStream::connect(&options.server) {
        Ok(stream) => stream,
        Err(error) => crate::fatal::die(&["no connection to the campaign: ", &error.to_string()]),
    };
    real::resolve_all();
    let lends = lent::prepare(snapshot::THREADS);
    if !lends {
        warm_up();
    }
    places::prepare();
    snapshot::prepare();
    failing::watch();
    let trace = open_trace(options);
    start_ticking();
    // SAFETY: a plain setting: what a run leaves behind becomes a child of this process.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
    let mut views = Views::new();
    let mut keepers = Keepers::new(options.reuse && lends);
    let mut lines = BufReader::new(&stream);
    let mut line = String::new();
    let mut alone = false;
    // Bytes of the runs that were made before it for the same line.
    let mut before = 0;
    loop {
        // A run that a keeper has given up is made again.
        let again = std::mem::take(&mut alone);
        if !again {
            before = 0;
            line.clear();
            if lines.read_line(&mut line).is_ok_and(|read| read == 0) || line.is_empty() {
                crate::system::end_process(0);
            }
            line.truncate(line.trim_end_matches('\n').len());
        }
        // A copy of its own makes one run; who asks for several asks again.
        let first = line.split(SEPARATOR).next().unwrap_or_default();
        let answer = match asked(first) {
            Ok(plan) => {
                let timeout = plan.timeout;
                let kept = match again || plan.kernel_threads {
                    true => None,
                    false => keepers.next(&line),
                };
                let fresh = trace.again();
                // SAFETY: there is one thread, which holds no lock; so nobody has to be told.
                match unsafe { real::_Fork() } {
                    0 => {
                        views.in_copy(kept.is_none());
                        report::reset_count();
                        // SAFETY: gets this process a group of its own, so that all of a run can be ended.
                        unsafe { libc::setpgid(0, 0) };
                        snapshot::economise();
                        std::mem::forget(lines);
                        let file = stream.into_raw_fd() as usize;
                        install_nudge();
                        drop(me);
                        let Some(shared) = kept else {
                            // SAFETY: the copy's own number of the file, which nobody else has.
                            unsafe { system_call(libc::SYS_close, [file, 0, 0, 0, 0, 0]) };
                            return begin_run(plan, fresh, outermost);
                        };
                        drop(plan);
                        shared.take_notes();
                        reuse::stand(shared, file, trace.memory());
                        return begin_kept(shared, &trace, outermost);
                    }
                    -1 => Answer::Error(std::io::Error::last_os_error().to_string()),
                    child => {
                        let clock = kept.map(Clock::new);
                        let mut answer = watch(child, &trace, timeout, &stream, clock);
                        if kept.is_none() {
                            views.learn();
                        }
                        if let Some(shared) = kept {
                            keepers.ended();
                            before = shared.kept();
                            let timed_out = matches!(
                                answer,
                                Answer::End {
                                    timed_out: true,
                                    ..
                                }
                            );
                            match shared.stage() {
                                Stage::Idle => continue,
                                Stage::Running => {}
                                Stage::GivenUp if timed_out => {}
                                Stage::GivenUp => {
                                    line = shared.line();
                                    alone = true;
                                    continue;
                                }
                            }
                        }
                        if let Answer::End { kept, .. } = &mut answer {
                            *kept = before;
                        }
                        answer
                    }
                }
            }
            Err(error) => Answer::Error(error),
        };
        if (&stream)
            .write_all(format!("{answer}\n").as_bytes())
            .is_err()
        {
            crate::system::end_process(0);
        }
    }
}

/// Begins the run that a keeper was asked for.
fn begin_kept(shared: &Shared, trace: &Trace, outermost: usize) {
    match asked(&shared.line()) {
        Ok(plan) => {
            shared.limit(plan.timeout);
            begin_run(plan, trace.again(), outermost);
        }
        // Whoever watches says what is wrong.
        Err(_) => reuse::resign(),
    }
}

/// Makes stacks of threads before the first run: libc keeps those of threads that have ended for the next ones.
fn warm_up() {
    static GO: AtomicU32 = AtomicU32::new(0);
    unsafe extern "C-unwind" fn wait(_: *mut c_void) -> *mut c_void {
        // ORDERING: relaxed; nothing else is passed on.
        while GO.load(Ordering::Relaxed) == 0 {
            futex_wait(&GO, 0);
        }
        std::ptr::null_mut()
    }
    let mut threads = Vec::new();
    for _ in 0..snapshot::THREADS {
        let mut thread = 0;
        // SAFETY: a routine that takes no argument; the real function, so that nobody sees the thread.
        let result = unsafe {
            real::pthread_create(
                &raw mut thread,
                std::ptr::null(),
                wait,
                std::ptr::null_mut(),
            )
        };
        if result == 0 {
            threads.push(thread);
        }
    }
    // ORDERING: relaxed; see above.
    GO.store(1, Ordering::Relaxed);
    futex_wake(&GO);
    for thread in threads {
        // SAFETY: created above.
        unsafe { real::pthread_join(thread, std::ptr::null_mut()) };
    }
}

/// Time between two looks at a run.
const TICK: Duration = Duration::from_millis(50);

/// From now on the system sends a signal at each tick, which ends what this process waits in. Runs do not get it.
fn start_ticking() {
    extern "C" fn tick(_: c_int) {}
    let every = libc::timespec {
        tv_sec: 0,
        tv_nsec: TICK.as_nanos() as i64,
    };
    let times = libc::itimerspec {
        it_interval: every,
        it_value: every,
    };
    // SAFETY: all zeroes are valid values, which are filled in; the handler lives as long as the process.
    let failed = unsafe {
        let mut action = std::mem::zeroed::<libc::sigaction>();
        action.sa_sigaction = tick as *const () as usize;
        let mut event = std::mem::zeroed::<libc::sigevent>();
        event.sigev_notify = libc::SIGEV_SIGNAL;
        event.sigev_signo = NUDGE;
        let mut timer = std::mem::zeroed::<libc::timer_t>();
        real::sigaction(NUDGE, &raw const action, std::ptr::null_mut()) != 0
            || libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer) != 0
            || libc::timer_settime(timer, 0, &raw const times, std::ptr::null_mut()) != 0
    };
    if failed {
        crate::fatal::die(&["the system does not give a timer"]);
    }
}

/// Waits for the end of a run; the answer.
fn watch(
    child: c_int,
    trace: &Trace,
    timeout: Option<u64>,
    stream: &UnixStream,
    mut clock: Option<Clock>,
) -> Answer {
    let start = Instant::now();
    let (mut looked, mut steps, mut timed_out) = (start, 0, false);
    let status = loop {
        match wait_for(child, 0) {
            Ok((_, status)) => break status,
            Err(libc::EINTR) if looked.elapsed() >= TICK => {}
            Err(libc::EINTR) => continue,
            Err(_) => break 0,
        }
        looked = Instant::now();
        let is_late = match &mut clock {
            Some(clock) => clock.is_late() && clock.give_up(),
            None => timeout.is_some_and(|limit| start.elapsed() >= Duration::from_millis(limit)),
        };
        if is_late || is_closed(stream) {
            timed_out = true;
            // SAFETY: the run, and its group.
            unsafe {
                libc::kill(-child, libc::SIGKILL);
                libc::kill(child, libc::SIGKILL);
            }
            continue;
        }
        let before = std::mem::replace(&mut steps, trace.published().steps);
        if before != steps || !is_asleep(child) || clock.is_some() && has_child(child) {
            continue;
        }
        match &clock {
            // SAFETY: the run has a handler, or is about to have one.
            None => unsafe {
                libc::kill(child, NUDGE);
            },
            // A keeper has no stack for such a signal.
            Some(clock) => {
                if clock.give_up() {
                    // SAFETY: the run.
                    unsafe { libc::kill(child, libc::SIGKILL) };
                }
            }
        }
    };
    // SAFETY: what the run left behind in its group.
    unsafe { libc::kill(-child, libc::SIGKILL) };
    end_others();
    Answer::End {
        status,
        timed_out,
        kept: 0,
    }
}

/// Whether the other side is gone: it may have been killed, and nobody waits for the run any more.
fn is_closed(stream: &UnixStream) -> bool {
    let mut byte = 0_u8;
    let (file, place) = (stream.as_raw_fd() as usize, &raw mut byte as usize);
    let how = (libc::MSG_PEEK | libc::MSG_DONTWAIT) as usize;
    // SAFETY: a place for one byte, which stays in the socket.
    unsafe { system_call(libc::SYS_recvfrom, [file, place, 1, how, 0, 0]) == 0 }
}

/// Waits for a child, or for any (-1): its number (0 if none has ended) and status, or the system's error.
fn wait_for(child: c_int, how: c_int) -> Result<(c_int, c_int), c_int> {
    let mut status: c_int = 0;
    let place = &raw mut status as usize;
    let arguments = [child as usize, place, how as usize, 0, 0, 0];
    // SAFETY: a place for the status.
    let result = unsafe { system_call(libc::SYS_wait4, arguments) } as c_int;
    match result {
        ..0 => Err(-result),
        ended => Ok((ended, status)),
    }
}

/// Ends what a run has left behind in other groups: it has become this process's (see `serve`).
fn end_others() {
    // Rarely there is anything.
    while wait_for(-1, libc::WNOHANG).is_ok() {
        let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten();
        for task in tasks.flatten() {
            let children = std::fs::read_to_string(task.path().join("children"));
            let children = children.unwrap_or_default();
            for child in children.split_whitespace().flat_map(str::parse) {
                // SAFETY: a child of this process.
                unsafe { libc::kill(child, libc::SIGKILL) };
            }
        }
        if matches!(wait_for(-1, 0), Err(error) if error != libc::EINTR) {
            break;
        }
    }
}

/// Whether a process of one thread has a child: what makes many runs has none but those that find something out, which take as long as
/// they take.
fn has_child(process: c_int) -> bool {
    let path = format!("/proc/{process}/task/{process}/children");
    std::fs::read_to_string(path).is_ok_and(|children| !children.is_empty())
}

/// Whether no thread of a process runs.
fn is_asleep(process: c_int) -> bool {
    let mut path = String::new();
    let _ = write!(path, "/proc/{process}/task");
    let Ok(tasks) = std::fs::read_dir(path) else {
        return false;
    };
    tasks.flatten().all(|task| {
        let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        // The name, in parentheses, may have any character.
        let state = stat
            .rsplit(") ")
            .next()
            .and_then(|rest| rest.chars().next());
        state == Some('S')
    })
}

fn install_nudge() {
    // SAFETY: all zeroes is a valid value, which is filled in; the handler lives as long as the process.
    unsafe {
        let mut action = std::mem::zeroed::<libc::sigaction>();
        action.sa_sigaction = nudged as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        real::sigaction(NUDGE, &raw const action, std::ptr::null_mut());
    }
}

/// In the thread that sleeps in a call that the runtime does not know.
extern "C" fn nudged(_: c_int) {
    if super::active() && super::lock().try_lock() {
        super::lock().unlock();
        leave();
    }
}

/// Steps that a run is taken to have if nobody says how many.
const STEPS: u64 = 1000;

/// How to make the run that is asked for.
fn plan(request: Request) -> Result<Plan, String> {
    let default = Plan::default();
    let weak = request.weak.then_some(Weak {
        window: request.window,
        explains: request.explain,
        samples: matches!(request.choice, Choice::Explore { .. }),
    });
    Ok(Plan {
        strategy: strategy(request.choice)?,
        limit: request.limit.unwrap_or(default.limit),
        turn: request.turn.unwrap_or(default.turn),
        steady_heap: request.steady,
        kernel_threads: request.kernel_threads,
        timeout: request.timeout,
        weak,
    })
}

fn strategy(choice: Choice) -> Result<Box<dyn Strategy>, String> {
    Ok(match choice {
        Choice::Sample { spec, seed, steps } => spec.build(seed, steps.unwrap_or(STEPS)),
        Choice::Explore {
            spec,
            seed,
            steps,
            aim,
        } => spec.build(seed, steps.unwrap_or(STEPS), aim),
        Choice::Prefix(threads) => Box::new(Prefix::new(threads)),
        Choice::Plan(plan) => Box::new(explore::Guided::new(plan)),
        Choice::Replay(path) => Box::new(Replay::new(schedule(&path)?)),
        Choice::Follow(path) => Box::new(Follow::new(&schedule(&path)?)),
    })
}

/// The schedule in a file.
fn schedule(path: &str) -> Result<Schedule, String> {
    let text = files::read(path, files::SCHEDULE);
    let text = text.map_err(|error| format!("{path}: {error}"))?;
    let schedule = text.parse::<Schedule>();
    schedule.map_err(|error| format!("{path}:{error}"))
}

/// Reads a request.
pub(super) fn asked(text: &str) -> Result<Plan, String> {
    plan(text.parse::<Request>().map_err(|error| error.to_string())?)
}

entries! {
    __libc_start_main => start_main;
    __rsan_main => begin_main;
    __rsan_snapshot => marker;
}
