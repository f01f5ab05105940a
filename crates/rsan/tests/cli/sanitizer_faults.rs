//! Programs that fail, and machines that have nothing left: findings are kept, the exit status is right, and the message
//! says what happened.

use crate::common::{Run, rsan, scratch};
use crate::sanitizer::{compile, data, gcc_is_missing, run_in};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

/// The program of all these tests, in a folder of the test's own; `None` without gcc.
fn program(test: &str) -> Option<String> {
    if gcc_is_missing() {
        return None;
    }
    let folder = scratch(test);
    compile(&folder, &["cc", "-O1", &data("faults.c"), "-o", "faults"]);
    Some(folder)
}

/// Runs the program with its argument; the finding must be reported, and all of `parts` said.
fn found(folder: &str, args: &[&str], parts: &[&str]) {
    let done = run_in(folder, &[&["run"], args].concat());
    let Run {
        stdout,
        stderr,
        code,
    } = &done;
    assert_eq!(*code, 1, "{args:?}\n{stdout}{stderr}");
    assert!(stdout.contains("faults.c:18"), "{args:?}\n{stdout}{stderr}");
    for part in parts {
        assert!(stdout.contains(part), "{args:?}: no {part:?} in\n{stdout}");
    }
}

#[test]
fn a_program_that_fails_keeps_its_findings() {
    let Some(folder) = program("fails") else {
        return;
    };
    for (fault, part) in [
        (
            "segv",
            "the program failed in 1 of 1 run: signal 11 (SIGSEGV)",
        ),
        ("abort", "signal 6 (SIGABRT)"),
        ("kill", "signal 9 (SIGKILL)"),
        ("_exit", "1 finding in 1 run\n"),
        ("exec", "1 finding in 1 run\n"),
        ("fork", "1 finding in 1 run\n"),
        ("daemon", "1 finding in 1 run\n"),
        ("close", "1 finding in 1 run\n"),
        ("descriptors", "1 finding in 1 run\n"),
        (
            "memory",
            "the runtime had to end 1 run: out of memory for the shadow; the address space is limited (ulimit -v)",
        ),
    ] {
        found(&folder, &["--", "./faults", fault], &[part]);
    }
}

/// The processes keep standard output open: the command's output ends only when they do.
#[test]
fn a_time_limit_ends_all_processes() {
    let program = "sleep 1000 & setsid sleep 1000 & sleep 1000";
    let args = ["run", "--timeout", "50ms", "--", "sh", "-c", program];
    let done = run_in(&scratch("limit"), &args);
    assert_eq!(done.code, 3, "{}{}", done.stdout, done.stderr);
    assert!(
        done.stdout.contains("1 run reached the time limit"),
        "{}",
        done.stdout
    );
}

/// Interrupts a run when its program hangs; returns what was printed, and the program's child.
fn interrupted(folder: &str, signal: &str) -> (Run, String) {
    let mut running = rsan(Path::new(folder))
        .args(["run", "--", "./faults", "hang"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("rsan starts");
    let mut output = BufReader::new(running.stdout.take().expect("a pipe"));
    let mut child = String::new();
    output.read_line(&mut child).expect("the child's number");
    let sent = Command::new("sh")
        .args(["-c", &format!("kill -{signal} {}", running.id())])
        .status();
    assert!(sent.expect("a shell").success());
    let mut stdout = String::new();
    output.read_to_string(&mut stdout).expect("the report");
    let ended = running.wait_with_output().expect("rsan ends");
    let run = Run {
        stdout,
        stderr: String::from_utf8(ended.stderr).expect("UTF-8"),
        code: ended.status.code().expect("rsan was not killed"),
    };
    (run, child.trim().to_owned())
}

/// Whether this process ignores a signal, and so what it starts.
fn is_ignored(signal: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").expect("the system tells");
    let mut lines = status.lines();
    let set = lines.find_map(|line| line.strip_prefix("SigIgn:"));
    let set = set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    set.expect("a set of signals") >> (signal - 1) & 1 != 0
}

#[test]
fn an_interrupted_run_reports_and_leaves_nobody_behind() {
    let Some(folder) = program("interrupted") else {
        return;
    };
    for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1), ("QUIT", 3)] {
        if is_ignored(number) {
            // As under `nohup`: then it is ignored by the command, too.
            continue;
        }
        let (run, child) = interrupted(&folder, signal);
        assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
        assert!(
            run.stdout.contains("in 1 run; interrupted\n"),
            "{}",
            run.stdout
        );
        assert!(run.stdout.contains("faults.c:18"), "{}", run.stdout);
        assert!(!Path::new("/proc").join(&child).exists(), "{child} lives");
    }
}

#[test]
fn lack_of_address_space_is_told() {
    let Some(folder) = program("space") else {
        return;
    };
    let done = run_in(
        &folder,
        &["run", "--", "sh", "-c", "ulimit -v 200000; exec ./faults"],
    );
    assert_eq!(done.code, 3, "{}{}", done.stdout, done.stderr);
    let part = "undecided, no finding in 1 run; the runtime had to end 1 run: out of memory for the shadow; the \
                address space is limited (ulimit -v)";
    assert!(done.stdout.contains(part), "{}", done.stdout);
}

/// Runs the program without `rsan run`.
fn alone(folder: &str, options: &str) -> Run {
    alone_with(folder, options, &[])
}

fn alone_with(folder: &str, options: &str, args: &[&str]) -> Run {
    let output = Command::new("./faults")
        .args(args)
        .current_dir(folder)
        // Cargo's path may lead to an older library.
        .env_remove("LD_LIBRARY_PATH")
        .env("RSAN_OPTIONS", options)
        .output();
    output.expect("the program starts").into()
}

/// The status of a program that is started without `rsan run`, whichever way it ends.
#[test]
fn every_way_out_has_its_status() {
    let Some(folder) = program("ways-out") else {
        return;
    };
    for (fault, code) in [
        ("", 66),
        ("_exit", 66),
        ("exec", 0),
        ("fork", 0),
        ("child", 66),
    ] {
        let done = alone_with(&folder, "", &[fault]);
        assert_eq!(done.code, code, "{fault}\n{}", done.stderr);
        let said = if fault == "exec" { 0 } else { 1 };
        assert_eq!(
            done.stderr.matches("rsan: 2 findings\n").count(),
            said,
            "{fault}\n{}",
            done.stderr
        );
        let hint =
            "rsan: `rsan run -- ./faults ...` shows functions, lines and names of variables\n";
        assert_eq!(done.stderr.matches(hint).count(), said, "{}", done.stderr);
    }
}

#[test]
fn a_log_that_cannot_be_written_loses_nothing() {
    let Some(folder) = program("unlogged") else {
        return;
    };
    for (options, message) in [
        ("log=/dev/full", "rsan: /dev/full: No space left on device"),
        (
            "log=/dev/full text=0 exitcode=0",
            "rsan: /dev/full: No space left on device",
        ),
        (
            "log=/dev/null/x text=0",
            "rsan: /dev/null/x: Not a directory",
        ),
    ] {
        let done = alone(&folder, options);
        assert_eq!(done.code, 66, "{options}\n{}", done.stderr);
        assert_eq!(done.stderr.matches(message).count(), 1, "{}", done.stderr);
        assert_eq!(done.stderr.matches("==rsan: data race").count(), 2);
    }
    let done = alone(&folder, "log='a log' text=0");
    assert_eq!(
        (done.code, done.stderr.as_str()),
        (66, "rsan: 2 findings\n")
    );
    let log = std::fs::read_to_string(Path::new(&folder).join("a log")).expect("a log");
    assert_eq!(log.lines().count(), 2, "{log}");
    std::fs::remove_file(Path::new(&folder).join("a log")).expect("the log is ours");
    let done = run_in(&folder, &["run", "--log", "/dev/null/x", "--", "./faults"]);
    assert_eq!((done.code, done.stdout.as_str()), (2, ""));
    assert!(
        done.stderr.starts_with("error: /dev/null/x: "),
        "{}",
        done.stderr
    );
}

#[test]
fn who_runs_with_the_library_is_known() {
    let Some(folder) = program("who") else {
        return;
    };
    let tests = ["run", "--", "sh", "-c", "./faults; ./faults close; exit 0"];
    let done = run_in(&folder, &tests);
    assert_eq!(done.code, 1, "{}", done.stderr);
    let part = "sh itself was not built with rsan, but it started 2 processes that were\n";
    assert!(done.stdout.contains(part), "{}", done.stdout);
    // Findings name their processes.
    let named = |line: &&str| line.contains("= In process ") && line.ends_with(": ./faults");
    let named = done.stdout.lines().filter(named).count();
    assert_eq!(named, 1, "{}", done.stdout);
    let json = [&["run", "--format", "json"], &tests[1..]].concat();
    let document: serde_json::Value =
        serde_json::from_str(&run_in(&folder, &json).stdout).expect("a document");
    let process = &document["findings"][0]["process"];
    assert_eq!(process["command"], "./faults", "{document}");
    assert!(process["pid"].is_u64(), "{document}");
    let done = run_in(&folder, &["run", "--", "sh", "-c", "exit 0"]);
    assert_eq!(done.code, 3, "{}", done.stderr);
    assert!(done.stdout.contains("no process ran with rsan's library"));
    // A program without its environment finds the settings beside the library.
    found(&folder, &["--", "env", "-i", "./faults"], &[" in 1 run\n"]);
    let indirect = ["--", "sh", "-c", "env -i ./faults daemon"];
    found(&folder, &indirect, &["but it started 1 process that was\n"]);
    let done = run_in(&folder, &["run", "sh", "-c", "ulimit -f 0; ./faults"]);
    assert_eq!(done.code, 4, "{}", done.stderr);
    assert!(done.stdout.contains("they stand on standard error"));
    let part = ": File too large (os error 27); findings stand here instead";
    assert!(done.stderr.contains(part), "{}", done.stderr);
    assert!(done.stderr.contains("==rsan: data race"), "{}", done.stderr);
}

#[test]
fn the_first_finding_can_end_everything() {
    let Some(folder) = program("halt") else {
        return;
    };
    let halt = ["--halt-on-error", "--runs", "3", "--", "./faults", "hang"];
    found(
        &folder,
        &halt,
        &["1 finding in 1 run; ended at the first finding\n"],
    );
    let file = Path::new(&folder).join("suppressions");
    std::fs::write(&file, "race:elsewhere\n").expect("a file");
    let halt = [&["--suppressions", "suppressions"], halt.as_slice()].concat();
    found(
        &folder,
        &halt,
        &["in 1 run; ended at the first finding; nothing matched suppressions:1\n"],
    );
}

#[test]
fn suppressed_findings_are_counted() {
    let Some(folder) = program("suppressed") else {
        return;
    };
    let file = Path::new(&folder).join("file");
    let run = |text: &str, more: &[&str]| {
        std::fs::write(&file, text).expect("a file");
        let args = [
            &["run", "--suppressions", "file"],
            more,
            &["--", "./faults"],
        ];
        run_in(&folder, &args.concat())
    };
    let done = run("# known\nrace:^add$\nrobustness:add\n", &[]);
    assert_eq!(
        (done.code, done.stdout.as_str()),
        (
            0,
            "./faults: no finding in 1 run; 1 finding suppressed; nothing matched file:3\n"
        )
    );
    let done = run("race_top:faults.c\n", &["--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&done.stdout).expect("a document");
    assert_eq!((done.code, &document["verdict"]), (0, &"no-finding".into()));
    assert_eq!(document["stats"]["suppressed"], 1);
    assert_eq!(document["stats"]["processes"], 1);
    assert_eq!(run("race_top:^race$\nrobustness:*\n", &[]).code, 0);
    assert_eq!(run("race_top:pthread\n", &[]).code, 1);
    assert_eq!(run("called_from_lib:/faults$\n", &[]).code, 0);
    let done = run("race:a\nrace a\n", &[]);
    assert_eq!((done.code, done.stdout.as_str()), (2, ""));
    assert!(
        done.stderr
            .starts_with("error: file:2: expected kind:pattern"),
        "{}",
        done.stderr
    );
    // Without `rsan run` functions and modules are known. Both take the file from the settings.
    let suppressed = |text: &str| {
        std::fs::write(&file, text).expect("a file");
        alone(&folder, "suppressions=file")
    };
    let done = suppressed("race_top:^add$\n");
    let said = "rsan: 0 findings, 2 suppressed\n";
    assert_eq!((done.code, done.stderr.as_str()), (0, said));
    assert_eq!(suppressed("called_from_lib:/faults$\n").code, 0);
    assert_eq!(suppressed("race:nobody\n").code, 66);
    let done = suppressed("race\n");
    let said = "rsan: file:1: expected kind:pattern, such as race:function\n";
    assert_eq!((done.code, done.stderr.as_str()), (2, said));
    std::fs::write(&file, "race:^add$\n").expect("a file");
    let mut command = rsan(Path::new(&folder));
    command.env("RSAN_OPTIONS", "suppressions=file");
    let done: Run = command
        .args(["run", "--", "./faults"])
        .output()
        .expect("rsan starts")
        .into();
    let said = "./faults: no finding in 1 run; 1 finding suppressed\n";
    assert_eq!((done.code, done.stdout.as_str()), (0, said));
    let missing = run_in(&folder, &["run", "--suppressions", "no", "--", "./faults"]);
    assert_eq!(missing.code, 2);
}
