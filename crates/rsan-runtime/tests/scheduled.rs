//! Programs when the schedule is ours: one thread runs at a time, as a strategy says.

mod support;

use rsan_model::ThreadId;
use rsan_schedule::shared::{Header, LENGTH};
use rsan_schedule::{End, Kind, Op, Step};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use support::{FOUND, announced, compile, compilers, kind, kinds, programs, run};

/// Strategies, and both ways of switching between threads.
const SCHEDULES: &[&str] = &[
    "strategy=random seed=1",
    "strategy=random seed=2 kernel_threads=1",
    "strategy=pct:depth=3 seed=3 steps=200",
    "strategy=pos seed=4",
    "prefix=",
];

fn run_scheduled(program: &Path, schedule: &str, more: &str) -> (Output, Vec<String>) {
    let (output, mut lines) = run(program, &format!("sched='{schedule}' {more}"));
    // No finding: processes that the program made run as they like.
    lines.retain(|line| kind(line) != "forked");
    (output, lines)
}

/// A program of this test.
fn own(test: &str, name: &str) -> PathBuf {
    let compiler = compilers()[0];
    compile(test, compiler, &format!("../schedules/{name}.c"))
}

#[test]
fn programs_run_to_their_end_whatever_the_schedule() {
    let names = programs();
    let compiler = compilers()[0];
    for (number, name) in names.iter().enumerate() {
        let expected = announced(name, "// findings: ").expect("the first line says what to find");
        let program = compile("scheduled", compiler, name);
        // Two of them for each program, in turn.
        for schedule in [number, number + 1].map(|at| SCHEDULES[at % SCHEDULES.len()]) {
            // Some spin until another process has done something, which takes as long as it takes.
            let schedule = format!("{schedule} limit=100000000");
            let (output, lines) = run_scheduled(&program, &schedule, "");
            let found = kinds(&lines);
            let errors = String::from_utf8_lossy(&output.stderr);
            let what = format!("{name}, {schedule}: {:?}\n{errors}", output.status);
            let known = |kind: &str| expected.split(' ').any(|known| known == kind);
            assert!(
                found == "none" || found.split(' ').all(known),
                "{found}: {what}"
            );
            let status = output.status.code();
            assert!(
                status == Some(0) || found != "none" && status == Some(FOUND),
                "{what}"
            );
        }
    }
}

#[test]
fn nobody_starves() {
    let program = own("starve", "spinning");
    for seed in 0..20 {
        for schedule in SCHEDULES {
            let schedule = format!("{schedule} seed={seed} limit=20000");
            let (output, lines) = run_scheduled(&program, &schedule, "");
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(kinds(&lines), "none", "{schedule}: {errors}");
            assert_eq!(output.status.code(), Some(0), "{schedule}: {errors}");
        }
    }
}

/// In every schedule the same: nothing but the order of the threads differs.
#[test]
fn memory_is_used_within_its_life() {
    for (name, expected) in [
        ("dead_stacks", "misuse misuse misuse misuse"),
        ("live_stacks", "none"),
        ("unordered_block", "race"),
        ("ordered_block", "none"),
    ] {
        let program = own("lives", name);
        for schedule in SCHEDULES {
            let (output, lines) = run_scheduled(&program, schedule, "");
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(kinds(&lines), expected, "{name}, {schedule}: {errors}");
        }
    }
}

#[test]
fn deadlocks_are_found_and_said() {
    let program = own("deadlock", "deadlock");
    let mut outcomes = [0, 0];
    for seed in 0..20 {
        let (output, lines) = run_scheduled(
            &program,
            &format!("strategy=random seed={seed}"),
            "lock_order=0",
        );
        let found = kinds(&lines);
        let errors = String::from_utf8_lossy(&output.stderr);
        match found.as_str() {
            "none" => outcomes[0] += 1,
            "deadlock" => {
                outcomes[1] += 1;
                assert!(errors.contains("every thread waits"), "{errors}");
                assert_eq!(lines[0].matches("\"operation\":\"lock\"").count(), 2);
                assert_eq!(output.status.code(), Some(FOUND));
            }
            _ => panic!("{found}: {errors}"),
        }
    }
    assert!(outcomes.iter().all(|seeds| *seeds > 0), "{outcomes:?}");
}

#[test]
fn loops_that_wait_for_each_other_are_a_deadlock() {
    let program = own("stuck", "stuck");
    let (output, lines) = run_scheduled(&program, "strategy=random seed=1", "");
    assert_eq!(kinds(&lines), "deadlock");
    assert_eq!(output.status.code(), Some(FOUND));
}

/// The header and the steps of a run.
fn trace(file: &Path) -> (Header, Vec<Step>) {
    let bytes = std::fs::read(file).expect("the trace");
    let (head, steps) = bytes
        .split_first_chunk::<{ Header::BYTES }>()
        .expect("a header");
    let header = Header::from_bytes(head).expect("a header");
    let (steps, _) = steps.as_chunks::<{ Step::BYTES }>();
    let steps = steps[..header.steps as usize]
        .iter()
        .map(|bytes| Step::from_bytes(bytes).expect("a step"));
    (header, steps.collect())
}

fn empty_trace(file: &Path) {
    let made = File::create(file).and_then(|file| file.set_len(LENGTH as u64));
    made.expect("a file for the trace");
}

#[test]
fn a_seed_gives_the_same_run_again() {
    let program = own("again", "outside");
    let file = program.with_extension("trace");
    let mut different = Vec::new();
    for seed in 0..5 {
        let mut traces = Vec::new();
        for _ in 0..3 {
            empty_trace(&file);
            let schedule = format!("strategy=random seed={seed}");
            let more = format!("trace={}", file.display());
            let (output, _) = run_scheduled(&program, &schedule, &more);
            assert_eq!(output.status.code(), Some(0));
            let (header, mut steps) = trace(&file);
            assert_eq!(header.end, End::Ended);
            assert_eq!(header.steps as usize, steps.len());
            // Digests of stacks count in explorations only, which wipe them first.
            steps.iter_mut().for_each(|step| step.local.state = 0);
            traces.push(steps);
        }
        assert!(
            traces.iter().all(|steps| *steps == traces[0]),
            "seed {seed}"
        );
        let threads: Vec<_> = traces[0].iter().map(|step| step.thread).collect();
        if !different.contains(&threads) {
            different.push(threads);
        }
    }
    assert!(different.len() > 1);
}

/// A program that makes runs when it is asked to.
struct Server {
    child: Child,
    stream: UnixStream,
    trace: PathBuf,
}

impl Server {
    fn start(program: &Path) -> Self {
        Self::start_with(program, "")
    }

    fn start_with(program: &Path, more: &str) -> Self {
        let (socket, trace) = (
            program.with_extension("socket"),
            program.with_extension("trace"),
        );
        let _ = std::fs::remove_file(&socket);
        empty_trace(&trace);
        let listener = UnixListener::bind(&socket).expect("a socket");
        let (place, steps) = (socket.display(), trace.display());
        let options = format!("server={place} trace={steps} {more}");
        let child = Command::new(program)
            .env_remove("LD_LIBRARY_PATH")
            .env("RSAN_OPTIONS", options)
            // Where somebody sees what is printed, all runs begin where the program does.
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let (stream, _) = listener.accept().expect("the program asks for work");
        Self {
            child,
            stream,
            trace,
        }
    }

    fn ask(&mut self, line: &str) -> String {
        writeln!(self.stream, "{line}").expect("the program listens");
        let mut answer = String::new();
        let mut lines = BufReader::new(&self.stream);
        lines.read_line(&mut answer).expect("the program answers");
        answer.trim_end().to_owned()
    }

    fn end(mut self) {
        drop(self.stream);
        assert!(self.child.wait().expect("the program ends").success());
    }
}

#[test]
fn runs_from_a_snapshot_are_those_of_their_seeds() {
    let program = own("snapshot", "outside");
    let mut server = Server::start(&program);
    let mut first = Vec::new();
    for seed in (0..5).chain(0..5) {
        let answer = server.ask(&format!("strategy=pos seed={seed} timeout=60000"));
        assert_eq!(answer, "end status=0 timeout=0");
        let (header, steps) = trace(&server.trace);
        assert_eq!(header.end, End::Ended);
        match first.get(seed) {
            None => first.push(steps),
            Some(before) => assert_eq!(*before, steps, "seed {seed}"),
        }
    }
    assert_eq!(server.ask("seed=x"), "error bad number in 'seed=x'");
    assert_eq!(server.ask("walk"), "error unknown 'walk'");
    server.end();
}

/// Where a run leaves nothing behind that cannot be undone, one process makes all of them, and they are those that copies make.
#[test]
fn runs_of_one_process_are_those_of_copies() {
    let program = own("undone", "undone");
    let run = |more: &str, status: fn(i32) -> i32| {
        let mut server = Server::start_with(&program, more);
        let runs = (1..=8).map(|number| {
            let line = format!("strategy=random seed={number} timeout=60000");
            let answer = server.ask(&line);
            // The last byte of a program's status is the second one of the system's.
            let expected = format!("end status={} timeout=0", status(number) << 8);
            assert_eq!(answer, expected, "{more}: {line}");
            let (header, steps) = trace(&server.trace);
            assert_eq!(header.end, End::Ended);
            // The state of a thread has the numbers of its process.
            let steps = steps
                .into_iter()
                .map(|step| (step.thread, step.op, step.wrote));
            steps.collect::<Vec<_>>()
        });
        let runs: Vec<_> = runs.collect();
        server.end();
        runs
    };
    let copies = run("reuse=0", |_| 1);
    if can_switch() {
        assert_eq!(run("reuse=1", |number| number), copies);
    }
}

/// What a run does before its first choice is done once, by the first run of a process; the others find it as it was, whatever the first one has done to it since.
#[test]
fn what_is_before_the_first_choice_is_done_once() {
    let program = own("later", "later");
    let run = |more: &str| {
        let mut server = Server::start_with(&program, more);
        let runs = (1..=8).map(|number| {
            // Not all are of the same kind.
            let strategy = ["random", "pct", "pos"][number % 3];
            let line = format!("strategy={strategy} seed={number} steps=10 timeout=60000");
            let answer = server.ask(&line);
            let (header, steps) = trace(&server.trace);
            let steps: Vec<_> = steps
                .into_iter()
                .map(|step| (step.thread, step.op))
                .collect();
            let counts = (header.steps, header.choices, header.switches);
            (answer, (counts, steps))
        });
        let runs: (Vec<_>, Vec<_>) = runs.unzip();
        server.end();
        runs
    };
    let ends = |status: fn(i32) -> i32| {
        let ends = (1..=8).map(|number| format!("end status={} timeout=0", status(number) << 8));
        ends.collect::<Vec<_>>()
    };
    let copies = run("reuse=0");
    assert_eq!(copies.0, ends(|number| number));
    if can_switch() {
        assert_eq!(run("reuse=1"), (ends(|_| 1), copies.1));
    }
}

/// The steps of runs of a program, and what they log, without the numbers of processes.
fn runs_and_log(program: &Path, more: &str) -> (Vec<Vec<(ThreadId, Op)>>, Vec<String>) {
    let log = program.with_extension("log");
    let _ = std::fs::remove_file(&log);
    let options = format!("log={} text=0 {more}", log.display());
    let mut server = Server::start_with(program, &options);
    let runs = (0..60).map(|seed| {
        let answer = server.ask(&format!("strategy=random seed={seed} timeout=60000"));
        assert!(answer.starts_with("end status="), "{more}: {answer}");
        let steps = trace(&server.trace).1.into_iter();
        steps.map(|step| (step.thread, step.op)).collect()
    });
    let runs = runs.collect();
    server.end();
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    let without_process = |line: &str| {
        let (start, rest) = line.split_once("\"pid\":").expect("a process");
        format!(
            "{start}{}",
            rest.trim_start_matches(|c: char| c.is_ascii_digit())
        )
    };
    (runs, text.lines().map(without_process).collect())
}

/// Questions that were answered in an earlier run, and findings that were written in one, change nothing.
#[test]
fn questions_and_findings_of_one_process_are_those_of_copies() {
    let mut findings = 0;
    for name in [
        "wait_two_pass",
        "seqlock_retry",
        "cas_retry",
        "ticket_long",
        "wait_bounded",
    ] {
        let program = compile("asked", compilers()[0], &format!("{name}.c"));
        let copies = runs_and_log(&program, "reuse=0");
        assert_eq!(runs_and_log(&program, "reuse=1"), copies, "{name}");
        findings += copies.1.len();
    }
    assert!(findings > 0);
}

/// Whether the processor lets threads be switched without a system call, which a process that makes several runs needs.
fn can_switch() -> bool {
    const FSGSBASE: u64 = 2;
    // SAFETY: asks for a word of the system's table of this process.
    (unsafe { libc::getauxval(libc::AT_HWCAP2) }) & FSGSBASE != 0
}

#[test]
fn threads_of_all_kinds_run_to_their_end_from_a_snapshot() {
    let program = own("threads", "threads");
    let mut server = Server::start(&program);
    for seed in 0..20 {
        for more in ["", "kernel_threads=1"] {
            let line = format!("strategy=random seed={seed} timeout=60000 {more}");
            let answer = server.ask(&line);
            assert!(answer.ends_with("status=0 timeout=0"), "{line}: {answer}");
            assert_eq!(trace(&server.trace).0.end, End::Ended);
        }
    }
    server.end();
}

/// A snapshot has threads that wait to be used; they do what those do that are made in a run.
#[test]
fn threads_of_a_snapshot_are_like_those_of_a_run() {
    let program = own("snapshot-threads", "outside");
    let mut server = Server::start(&program);
    for seed in 0..10 {
        let mut steps = |more: &str| {
            let line = format!("strategy=random seed={seed} timeout=60000 {more}");
            let answer = server.ask(&line);
            assert!(answer.ends_with("status=0 timeout=0"), "{line}: {answer}");
            let steps = trace(&server.trace).1.into_iter();
            steps
                .map(|step| (step.thread, step.op.kind))
                .collect::<Vec<_>>()
        };
        assert_eq!(steps(""), steps("kernel_threads=1"), "seed {seed}");
    }
    server.end();
}

/// Thread-local objects, keys, exceptions and `pthread_exit` in C++: what libc does for its threads is done for those without kernel
/// threads, in the same steps.
#[test]
fn threads_without_kernel_threads_end_as_libc_ends_them() {
    let program = compile("ends", compilers()[0], "../schedules/ends.cc");
    let mut server = Server::start(&program);
    for seed in 0..20 {
        let mut run = |more: &str| {
            let line = format!("strategy=random seed={seed} timeout=60000 {more}");
            let answer = server.ask(&line);
            assert!(answer.ends_with("status=0 timeout=0"), "{line}: {answer}");
            let (header, steps) = trace(&server.trace);
            assert_eq!(header.end, End::Ended, "{line}");
            // The first thread's first store.
            let store = |step: &&Step| step.op.kind == Kind::Store && step.thread.index() == 0;
            let tasks = steps.iter().find(store).map(|step| step.wrote);
            let steps: Vec<_> = steps
                .iter()
                .map(|step| (step.thread, step.op.kind))
                .collect();
            (tasks, steps)
        };
        let (lent, made) = (run(""), run("kernel_threads=1"));
        assert_eq!((lent.0, made.0), (Some(1), Some(3)), "kernel threads");
        assert_eq!(lent.1, made.1, "seed {seed}");
    }
    server.end();
}

/// A program of `schedules`, by a compiler that tells volatile accesses from others.
fn with_volatile(name: &str) -> PathBuf {
    let compiler = compilers()[0];
    let program = support::work_dir(name, compiler).join(name);
    let object = program.with_extension("o");
    let file = format!("../schedules/{name}.c");
    let distinguish = "--param=tsan-distinguish-volatile=1";
    let options = ["-fsanitize=thread", "-Wno-tsan", distinguish];
    support::compile_object(compiler, &file, &object, &options);
    support::link(compiler, &[&object], &program, &[]);
    program
}

/// What is written after a volatile read was announced and before it is made.
#[test]
fn a_volatile_read_may_find_what_is_written_late() {
    let program = with_volatile("volatile_late");
    for (counts_as, expected) in [("relaxed", "race"), ("acqrel", "none")] {
        let option = format!("volatile={counts_as} lock_order=0");
        let (_, lines) = run(&program, &option);
        assert_eq!(kinds(&lines), expected, "{option}");
    }
}

/// A volatile flag for plain data: what races follows from what the flag counts as. Where it is a step, waiting for it ends.
#[test]
fn volatile_accesses_count_as_what_is_asked() {
    let program = with_volatile("volatile");
    for (counts_as, expected) in [
        ("plain", "race race"),
        ("relaxed", "race"),
        ("acqrel", "none"),
    ] {
        let option = format!("volatile={counts_as} lock_order=0");
        let (_, lines) = run(&program, &option);
        assert_eq!(kinds(&lines), expected, "{option}");
        if counts_as == "plain" {
            continue;
        }
        for schedule in SCHEDULES {
            let (output, lines) = run_scheduled(&program, schedule, &option);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(kinds(&lines), expected, "{option}, {schedule}: {errors}");
        }
    }
}

/// Where everything is explored, a thread finds the same addresses whatever the others do.
#[test]
fn addresses_do_not_depend_on_the_schedule() {
    let program = own("addresses", "addresses");
    let mut server = Server::start(&program);
    for more in ["", "kernel_threads=1"] {
        let mut first: Option<Vec<u64>> = None;
        let mut orders = Vec::new();
        for seed in 0..30 {
            let line = format!("strategy=random seed={seed} steady=1 timeout=60000 {more}");
            let answer = server.ask(&line);
            assert!(answer.ends_with("status=0 timeout=0"), "{line}: {answer}");
            let steps = trace(&server.trace).1;
            let stores = steps.iter().filter(|step| step.op.kind == Kind::Store);
            let told: Vec<u64> = stores.map(|step| step.wrote).collect();
            assert_eq!(told.len(), 7 * 4);
            let first = first.get_or_insert_with(|| told.clone());
            assert_eq!(*first, told, "{line}");
            let order: Vec<_> = steps.iter().map(|step| step.thread).collect();
            if !orders.contains(&order) {
                orders.push(order);
            }
        }
        assert!(orders.len() > 10);
    }
    server.end();
}

#[test]
fn processes_of_a_run_end_with_it() {
    let program = own("left-behind", "left_behind");
    let file = program.canonicalize().expect("the program's file");
    let mut server = Server::start(&program);
    for _ in 0..3 {
        let answer = server.ask("prefix= timeout=60000");
        assert!(answer.ends_with("status=0 timeout=0"), "{answer}");
        let processes = std::fs::read_dir("/proc").expect("the list of processes");
        let files = processes.flatten().map(|entry| entry.path().join("exe"));
        let running = files.filter(|exe| exe.read_link().is_ok_and(|exe| exe == file));
        assert_eq!(running.count(), 1, "the server alone");
    }
    server.end();
}

#[test]
fn calls_that_are_not_known_do_not_stall_a_run() {
    let program = own("foreign", "foreign");
    let mut server = Server::start(&program);
    for schedule in [
        "prefix=",
        "strategy=random seed=1",
        "prefix= kernel_threads=1",
    ] {
        let answer = server.ask(&format!("{schedule} timeout=60000"));
        assert!(
            answer.ends_with("status=0 timeout=0"),
            "{schedule}: {answer}"
        );
    }
    server.end();
}
