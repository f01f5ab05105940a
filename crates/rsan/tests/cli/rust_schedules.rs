//! Rust programs under controlled scheduling: every execution, tests, threads with destructors.

use crate::common::{Run, rsan, scratch};
use std::fs;
use std::path::Path;

/// Checks a program in a folder of the test's own.
fn check(test: &str, source: &str, options: &[&str], words: &[&str]) -> Run {
    command("check", test, source, options, words)
}

/// The same with another command.
fn command(name: &str, test: &str, source: &str, options: &[&str], words: &[&str]) -> Run {
    let folder = scratch(test);
    fs::create_dir_all(&folder).expect("the scratch folder is writable");
    let file = Path::new(&folder).join("program.rs");
    fs::write(file, source).expect("the program can be written");
    let words = [&[name], options, &["program.rs"], words].concat();
    let output = rsan(Path::new(&folder)).args(words).output();
    output.expect("rsan starts").into()
}

/// Store buffering in two threads, as the body of a function.
fn store_buffering(head: &str, order: &str) -> String {
    format!(
        "use std::sync::atomic::{{AtomicUsize, Ordering::*}};
use std::thread;
static X: AtomicUsize = AtomicUsize::new(0);
static Y: AtomicUsize = AtomicUsize::new(0);
{head} {{
    let a = thread::spawn(|| {{ X.store(1, {order}); Y.load(SeqCst) }});
    let b = thread::spawn(|| {{ Y.store(1, {order}); X.load(SeqCst) }});
    a.join().unwrap();
    b.join().unwrap();
}}
"
    )
}

/// How many executions were explored, all of them.
fn executions(run: &Run) -> usize {
    let all = run
        .stdout
        .split_once("explored: all ")
        .map(|(_, rest)| rest);
    let count = all.and_then(|rest| rest.split(' ').next());
    let count = count.and_then(|count| count.replace(',', "").parse().ok());
    count.unwrap_or_else(|| panic!("{}{}", run.stdout, run.stderr))
}

#[test]
fn threads_of_the_standard_library_add_few_executions() {
    let source = store_buffering("fn main()", "SeqCst");
    let run = check("rust_all", &source, &["--exhaustive"], &[]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("robust, no finding"), "{}", run.stdout);
    assert!(executions(&run) <= 12, "{}", run.stdout);
    let source = store_buffering("fn main()", "Release");
    let run = check("rust_all_weak", &source, &["--exhaustive"], &[]);
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    assert!(executions(&run) <= 12, "{}", run.stdout);
}

#[test]
fn every_execution_of_a_test_is_explored() {
    let source = store_buffering("#[test]\nfn buffers()", "SeqCst");
    let words = ["--", "--exact", "buffers"];
    let run = check("rust_all_test", &source, &["--exhaustive"], &words);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("robust, no finding"), "{}", run.stdout);
    assert!(executions(&run) <= 12, "{}", run.stdout);
}

/// A message from one thread of a scope to another, both of them joined in the scope.
const JOINED: &str = "
use std::sync::atomic::{AtomicUsize, Ordering::*};
#[test]
fn passes_on() {
    let (value, full) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let put = scope.spawn(|| { value.store(1, Relaxed); full.store(1, Release) });
        let take = scope.spawn(|| if full.load(Acquire) == 1 { assert_eq!(value.load(Relaxed), 1) });
        put.join().unwrap();
        take.join().unwrap();
    });
}
";

#[test]
fn threads_that_are_joined_in_a_scope_add_few_executions() {
    let words = ["--", "--exact", "passes_on"];
    let run = check("rust_all_scope", JOINED, &["--exhaustive"], &words);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert!(executions(&run) <= 12, "{}", run.stdout);
}

/// Store buffering in two threads of a scope, which nobody joins.
fn scoped(order: &str) -> String {
    format!(
        "use std::sync::atomic::{{AtomicUsize, Ordering::*}};
fn main() {{
    let (x, y) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let mut seen = [0, 0];
    let (a, b) = seen.split_at_mut(1);
    std::thread::scope(|scope| {{
        scope.spawn(|| {{ x.store(1, {order}); a[0] = y.load(SeqCst); }});
        scope.spawn(|| {{ y.store(1, {order}); b[0] = x.load(SeqCst); }});
    }});
    std::hint::black_box(seen[0] + seen[1]);
}}
"
    )
}

#[test]
fn what_a_scope_counts_is_its_own() {
    let run = check("rust_all_scoped", &scoped("SeqCst"), &["--exhaustive"], &[]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("robust, no finding"), "{}", run.stdout);
    assert_eq!(executions(&run), 3, "{}", run.stdout);
    let options = ["--exhaustive"];
    let run = check("rust_all_scoped_weak", &scoped("Release"), &options, &[]);
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("not robust"), "{}", run.stdout);
    assert!(!run.stdout.contains("data race"), "{}", run.stdout);
    assert_eq!(executions(&run), 3, "{}", run.stdout);
}

/// A result with a destructor, which stores; nobody joins its thread, so the thread drops it, or who has the handle.
const DROPPED: &str = "
use std::sync::atomic::{AtomicUsize, Ordering::*};
static SEEN: AtomicUsize = AtomicUsize::new(0);
struct Last;
impl Drop for Last {
    fn drop(&mut self) {
        SEEN.store(1, Relaxed);
    }
}
fn main() {
    std::thread::scope(|scope| {
        let handle = scope.spawn(|| Last);
        SEEN.store(2, Relaxed);
        drop(handle);
    });
    assert_eq!(SEEN.load(Relaxed), 1);
}
";

#[test]
fn who_drops_the_result_of_a_thread_is_explored() {
    let run = check("rust_all_dropped", DROPPED, &["--exhaustive"], &[]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert_eq!(executions(&run), 2, "{}", run.stdout);
}

/// Handles of a thread that has ended are used and dropped by others.
const HANDLES: &str = "
fn main() {
    let handle = std::thread::scope(|scope| {
        let waits = scope.spawn(std::thread::park);
        let other = waits.thread().clone();
        scope.spawn(move || other.unpark());
        waits.thread().clone()
    });
    handle.unpark();
}
";

#[test]
fn the_last_owner_of_a_handle_frees_it_in_private() {
    for options in [
        &["--exhaustive"][..],
        &["--sched", "random", "--runs", "200"],
    ] {
        let run = check("rust_handles", HANDLES, options, &[]);
        assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    }
}

/// Threads that do something others can see when they end.
const ENDS: &str = "
use std::cell::RefCell;
use std::sync::Mutex;
static LEFT: Mutex<Vec<usize>> = Mutex::new(Vec::new());
struct Last(usize);
impl Drop for Last {
    fn drop(&mut self) {
        LEFT.lock().unwrap().push(self.0);
    }
}
thread_local!(static OWN: RefCell<Vec<Last>> = const { RefCell::new(Vec::new()) });
fn main() {
    let start = |number| std::thread::spawn(move || OWN.with_borrow_mut(|own| own.push(Last(number))));
    let all: Vec<_> = (0..3).map(start).collect();
    all.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(LEFT.lock().unwrap().len(), 3);
}
";

#[test]
fn threads_end_whoever_runs_while_their_destructors_do() {
    for strategy in ["random", "pct"] {
        let run = check(
            "rust_ends",
            ENDS,
            &["--sched", strategy, "--runs", "60"],
            &[],
        );
        assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
        assert!(!run.stdout.contains("limit"), "{}", run.stdout);
    }
}

/// Whoever is last frees, without knowing what the other has done.
const FREES: &str = "
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
static COUNT: AtomicUsize = AtomicUsize::new(2);
fn main() {
    let block = Box::into_raw(Box::new([5_u64; 4])) as usize;
    let work = move || {
        let block = block as *mut [u64; 4];
        let value = unsafe { (*block)[3] };
        if COUNT.fetch_sub(1, Ordering::Release) == 1 {
            drop(unsafe { Box::from_raw(block) });
        }
        value
    };
    let all = [thread::spawn(work), thread::spawn(work)];
    all.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), 5));
}
";

#[test]
fn a_free_is_a_write() {
    let run = check(
        "rust_frees",
        FREES,
        &["--sched", "random", "--runs", "5"],
        &[],
    );
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("data race"), "{}", run.stdout);
}

/// A weak compare-and-swap whose failure is taken for that of somebody else's.
const IMPATIENT: &str = "
use std::sync::atomic::{AtomicBool, Ordering::*};
static TAKEN: AtomicBool = AtomicBool::new(false);
fn main() {
    assert!(TAKEN.compare_exchange_weak(false, true, Acquire, Relaxed).is_ok());
    assert!(TAKEN.compare_exchange_weak(false, true, Acquire, Relaxed).is_err());
}
";

#[test]
fn weak_compare_exchanges_fail_for_no_reason_where_weak_behaviour_is_executed() {
    let options = ["--runs", "100", "--jobs", "1"];
    let run = command("explore", "rust_impatient", IMPATIENT, &options, &[]);
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("exit status 101"), "{}", run.stdout);
    let strong = IMPATIENT.replace("_weak", "");
    let run = command("explore", "rust_patient", &strong, &options, &[]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
}

/// One of two threads is first, unless both fail for no reason.
const ELECTS: &str = "
use std::sync::atomic::{AtomicBool, Ordering::*};
static TAKEN: AtomicBool = AtomicBool::new(false);
fn take() -> bool {
    TAKEN.compare_exchange_weak(false, true, SeqCst, SeqCst).is_ok()
}
fn main() {
    let other = std::thread::spawn(take);
    let first = take();
    if first == other.join().unwrap() {
        println!(\"nobody\");
    }
}
";

/// So it is where all executions are explored.
#[test]
fn failures_for_no_reason_of_the_program_itself_are_executions() {
    let source = ELECTS.replace("println!(\"nobody\")", "panic!()");
    let run = check("rust_elects", &source, &["--exhaustive"], &[]);
    assert_eq!(run.code, 4, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("exit status 101"), "{}", run.stdout);
    let strong = source.replace("_weak", "");
    let run = check("rust_elects_strongly", &strong, &["--exhaustive"], &[]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains(": robust, "), "{}", run.stdout);
}

/// A test that sends messages and fails if they come in one of two orders.
const FAILS: &str = "
use std::sync::{atomic::{AtomicUsize, Ordering::*}, mpsc};
static FLAGS: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];
#[test]
fn orders() {
    let set_up: Vec<String> = (0..2000).map(|number| number.to_string()).collect();
    println!(\"set up {}\", set_up.len());
    let (sender, receiver) = mpsc::channel();
    let start = |number: usize| {
        let (sender, text) = (sender.clone(), set_up[number].clone());
        std::thread::spawn(move || {
            FLAGS[number].store(1, Release);
            sender.send((text, FLAGS[1 - number].load(Acquire))).unwrap();
        })
    };
    let threads = [start(0), start(1)];
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    drop(set_up);
    let (first, _) = receiver.recv().unwrap();
    assert_eq!(first, \"0\", \"the second one is first\");
}
";

/// The runs of a test that are made in one process, from where its first choice is, have the findings, executions and failures of those that copies
/// make from its start.
#[test]
fn runs_of_a_test_in_one_process_are_those_of_copies() {
    for options in [
        &["--sched", "random", "--runs", "60"][..],
        &["--sched", "pct", "--runs", "60"],
        &["--exhaustive", "--max-executions", "100"],
    ] {
        let run = |reuse: &str| {
            let folder = scratch("rust_one_process");
            fs::create_dir_all(&folder).expect("the scratch folder is writable");
            fs::write(Path::new(&folder).join("program.rs"), FAILS).expect("a program");
            let output = rsan(Path::new(&folder))
                .args(["check", "--jobs", "1"])
                .args(options)
                .args(["program.rs", "--", "--exact", "orders"])
                .env("RSAN_OPTIONS", format!("reuse={reuse}"))
                .output();
            let run = Run::from(output.expect("rsan starts"));
            (run.code, run.stdout)
        };
        let copies = run("0");
        assert!(copies.1.contains("not robust"), "{}", copies.1);
        assert!(copies.1.contains("exit status 101"), "{}", copies.1);
        assert_eq!(run("1"), copies, "{options:?}");
    }
}
