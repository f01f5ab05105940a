//! Hostile surroundings: disks that are full, limits, files of others, names that are no names, and commands that are killed.

use crate::common::{Run, rsan, run, scratch};
use crate::sanitizer::{compile, data, gcc_is_missing, run_in};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// A folder of the test's own, empty.
fn fresh(test: &str) -> String {
    let folder = scratch(&format!("hostile-{test}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn write(folder: &str, name: &str, text: impl AsRef<[u8]>) -> String {
    let path = Path::new(folder).join(name);
    std::fs::write(&path, text).expect("a writable folder");
    path.to_str().expect("UTF-8").to_owned()
}

#[track_caller]
fn says(run: &Run, code: i32, part: &str) {
    let all = format!("{}{}", run.stdout, run.stderr);
    assert_eq!(run.code, code, "{all}");
    assert!(all.contains(part), "no {part:?} in {all}");
}

/// A file that cannot be written is told beside the finding.
#[test]
fn what_was_found_is_told_when_nothing_can_be_written() {
    if gcc_is_missing() {
        return;
    }
    let (folder, weak) = (fresh("unwritten"), data("weak.c"));
    let sched = ["check", "--sched", "random", "--runs", "20", "--out"];
    let done = run_in(&folder, &[&sched[..], &["/proc/none", &weak]].concat());
    says(&done, 1, "not robust at ");
    let part = "; schedules could not be written: /proc/none/violation-1.sched: ";
    says(&done, 1, part);
    assert!(!done.stdout.contains("Replay:"), "{}", done.stdout);
    let explore = ["check", "--exhaustive", "--checkpoint", "/proc/none", &weak];
    let done = run_in(&folder, &explore);
    says(&done, 1, "not robust at ");
    says(
        &done,
        1,
        "; the checkpoint could not be written: /proc/none: ",
    );
    let failing = ["check", "--sched", "random", "--runs", "1", "--out"];
    let fails = data("fails.c");
    let done = run_in(&folder, &[&failing[..], &["/proc/none", &fails]].concat());
    says(&done, 4, "; schedules could not be written: ");
}

/// The processes keep standard output open: it ends when they do.
#[test]
fn nobody_lives_longer_than_a_command_that_is_killed() {
    if gcc_is_missing() {
        return;
    }
    let folder = fresh("killed");
    compile(&folder, &["cc", &data("faults.c"), "-o", "faults"]);
    let hang = "#include <stdio.h>\nint main(void) { puts(\"1\"); fflush(stdout); for (volatile int i = 0;; i = 0); }\n";
    let hang = write(&folder, "hang.c", hang);
    compile(&folder, &["cc", &hang, "-o", "hang"]);
    let sched = "run --sched random --runs 1 --timeout 1000s -- ./hang";
    for line in ["run -- ./faults hang", sched] {
        let mut running = rsan(Path::new(&folder))
            .args(line.split(' '))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("rsan starts");
        let mut output = BufReader::new(running.stdout.take().expect("a pipe"));
        let mut first = String::new();
        output.read_line(&mut first).expect("the program runs");
        assert!(first.trim().parse::<u32>().is_ok(), "{first}");
        running.kill().expect("rsan is there");
        running.wait().expect("rsan ends");
        let mut rest = String::new();
        output.read_to_string(&mut rest).expect("all processes end");
        assert_eq!(rest, "", "{line}");
    }
}

/// No stack has this size: no thread can be started.
#[test]
fn threads_that_cannot_be_started_are_told_or_done_without() {
    let command = |args: &[&str]| -> Run {
        let mut command = rsan(Path::new(&fresh("threads")));
        command
            .args(args)
            .env("RUST_MIN_STACK", (1_u64 << 46).to_string());
        command.output().expect("rsan starts").into()
    };
    let limited = [
        "verify",
        "--jobs",
        "2",
        "--memory-limit",
        "20M",
        &data("large.tpl"),
    ];
    says(&command(&limited), 3, "unknown");
    if gcc_is_missing() {
        return;
    }
    let weak = data("weak.c");
    for how in [["--exhaustive"].as_slice(), &["--sched", "pos"]] {
        let args = [&["check"], how, &[weak.as_str()]].concat();
        says(&command(&args), 2, ": no thread can be started: ");
    }
}

#[test]
fn a_library_that_is_not_ours_is_not_loaded() {
    if gcc_is_missing() {
        return;
    }
    let folder = fresh("cache");
    let race = data("race.c");
    let check = |cache: &str, temporary: &str| -> Run {
        let mut command = rsan(Path::new(&folder));
        command.env("XDG_CACHE_HOME", Path::new(&folder).join(cache));
        command.env("TMPDIR", Path::new(&folder).join(temporary));
        let run = command.args(["check", "--runs", "1", &race]).output();
        run.expect("rsan starts").into()
    };
    for name in ["cache", "temporary", "shared"] {
        std::fs::create_dir(Path::new(&folder).join(name)).expect("a folder");
    }
    says(&check("cache", "temporary"), 1, "1 finding");
    let rsan = Path::new(&folder).join("cache/rsan");
    let mut versions = std::fs::read_dir(rsan).expect("the library is there");
    let version = versions.next().expect("a version").expect("a folder");
    let library = version.path().join("librsan_runtime.so");
    let right = std::fs::read(&library).expect("a library");
    std::fs::write(&library, vec![0; right.len()]).expect("it is ours");
    says(&check("cache", "temporary"), 1, "1 finding");
    assert!(std::fs::read(&library).expect("a library") == right);
    // What others can write is not used, and if there is nothing else, that is said.
    let shared = Path::new(&folder).join("shared");
    let everybody = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(&shared, everybody).expect("it is ours");
    says(&check("shared", "temporary"), 1, "1 finding");
    let part = "/shared can be written by other users";
    says(&check("shared", "shared"), 2, part);
}

#[test]
fn endless_files_are_refused() {
    for args in [
        ["verify", "/dev/zero"].as_slice(),
        &["fence", "--cost", "/dev/zero", "sb.litmus"],
        &["run", "--suppressions", "/dev/zero", "--", "true"],
    ] {
        says(&run(args), 2, "/dev/zero: larger than 16 MiB\n");
    }
    let replay = ["run", "--replay", "/dev/zero", "--", "true"];
    says(&run(&replay), 2, "/dev/zero: larger than 256 MiB\n");
    let checkpoint = ["run", "--exhaustive", "--checkpoint", "/dev/zero", "true"];
    says(&run(&checkpoint), 2, "/dev/zero: not a checkpoint\n");
    if gcc_is_missing() {
        return;
    }
    let folder = fresh("endless");
    compile(&folder, &["cc", &data("race.c"), "-o", "race"]);
    for (options, message) in [
        (
            "suppressions=/dev/zero",
            "rsan: /dev/zero: larger than 16 MiB\n",
        ),
        (
            "exitcode=3 log='a",
            "rsan: RSAN_OPTIONS: a quote is not closed in 'log=a', which is ignored\n",
        ),
    ] {
        let mut program = Command::new("./race");
        program.current_dir(&folder).env_remove("LD_LIBRARY_PATH");
        let output = program.env("RSAN_OPTIONS", options).output();
        let done = Run::from(output.expect("the program starts"));
        says(&done, if options.starts_with('s') { 2 } else { 3 }, message);
    }
}

#[test]
fn names_do_not_control_the_terminal() {
    let colour = "a\x1b[31m\u{202e}.c";
    let done = run(&["check", colour]);
    says(&done, 2, "error: a\\x1b[31m\\u{202e}.c: ");
    says(&run(&["\x1b[2J"]), 2, "'\\x1b[2J'");
    if gcc_is_missing() {
        return;
    }
    let folder = fresh("names");
    let race = std::fs::read_to_string(data("race.c")).expect("a program");
    let race = race.replace("pinned.h", &data("pinned.h"));
    write(&folder, "a\x1b[2J\nb.c", race);
    let done = run_in(&folder, &["check", "--runs", "1", "a\x1b[2J\nb.c"]);
    says(&done, 1, "a\\x1b[2J\\nb.c: 1 finding in 1 run\n");
    assert!(!done.stdout.contains('\x1b'), "{}", done.stdout);
    let message = done
        .stdout
        .lines()
        .find(|line| line.starts_with("error: data race on"));
    assert!(
        message.is_some_and(|m| m.contains("a\\x1b[2J\\nb.c:7:")),
        "{message:?}"
    );
}

#[test]
fn a_byte_order_mark_is_skipped() {
    let folder = fresh("mark");
    let test = std::fs::read_to_string(data("sb.litmus")).expect("a test");
    let marked = write(&folder, "sb.litmus", format!("\u{feff}{test}"));
    says(
        &run(&["verify", &marked]),
        1,
        "error: not robust against c20 at ",
    );
    let list = write(&folder, "list", "\u{feff}race:nobody\n");
    let done = run(&["run", "--suppressions", &list, "--", "true"]);
    says(&done, 3, "no process ran with rsan's library");
}

#[test]
fn options_without_effect_are_refused() {
    let folder = fresh("options");
    let source = write(&folder, "a.c", "int main(void) { return 0; }\n");
    for option in ["--dot=x", "--deadlock", "--parametric", "--memory-limit=1G"] {
        let name = option.split('=').next().expect("a name");
        let message = format!("{source}: {name} has no effect on C and C++ programs\n");
        says(&run(&["check", option, &source]), 2, &message);
    }
    let message = "sb.litmus: flags of the compiler are for C, C++ and Rust files\n";
    says(&run(&["check", "-std=c11", "sb.litmus"]), 2, message);
    let message = "sb.litmus: arguments of the program are for C, C++ and Rust files\n";
    says(&run(&["check", "sb.litmus", "--", "x"]), 2, message);
    says(
        &run(&["check", "-c", &source]),
        2,
        "unexpected argument '-c'",
    );
}

/// Each line of the program is a little work, however many there are before it.
#[test]
fn long_programs_are_translated() {
    let folder = fresh("long");
    let line = "  atomic_store_explicit(x, 1, memory_order_relaxed);\n";
    let text = format!(
        "C long\n{{}}\nP0(atomic_int* x) {{\n{}}}\nP1(atomic_int* x) {{\n{line}}}\nexists (x=1)\n",
        line.repeat(9000)
    );
    let file = write(&folder, "long.litmus", text);
    for (command, store) in [
        ("emit-c", "atomic_store_explicit("),
        ("emit-rust", ".store("),
    ] {
        let done = run(&[command, &file]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert_eq!(done.stdout.matches(store).count(), 9001);
    }
}

#[test]
fn schedules_belong_to_their_program() {
    if gcc_is_missing() {
        return;
    }
    let folder = fresh("schedules");
    let (first, second) = (data("weak.c"), data("race.c"));
    let sched = [
        "check", "--sched", "random", "--runs", "20", &first, &second,
    ];
    let done = run_in(&folder, &sched);
    says(&done, 1, "--replay rsan-out/violation-1.sched ");
    says(&done, 1, "--replay rsan-out/violation-1-race.sched ");
    let again = ["check", "--replay", "rsan-out/violation-1.sched"];
    let read = |name: &str| {
        let file = Path::new(&folder).join("rsan-out").join(name);
        std::fs::read_to_string(file).expect("a schedule")
    };
    let before = read("violation-1.sched");
    assert!(before.contains(&format!("@program {first}\n")), "{before}");
    let alone = run_in(
        &folder,
        &sched[..5]
            .iter()
            .chain([&second.as_str()])
            .copied()
            .collect::<Vec<_>>(),
    );
    says(&alone, 1, "--replay rsan-out/violation-1-race.sched ");
    assert_eq!(read("violation-1.sched"), before);
    let right = run_in(&folder, &[&again[..], &[&first]].concat());
    says(&right, 1, "; reproduced\n");
    assert!(
        !right.stdout.contains("another program"),
        "{}",
        right.stdout
    );
    let wrong = run_in(&folder, &[&again[..], &[&second]].concat());
    let part = format!("the schedule is one of another program, {first}");
    assert!(
        wrong.stdout.contains(&part),
        "{}{}",
        wrong.stdout,
        wrong.stderr
    );
}

#[test]
fn explorations_go_on_at_what_is_suppressed_and_after_their_end() {
    if gcc_is_missing() {
        return;
    }
    let folder = fresh("goes-on");
    let suppressions = write(&folder, "known", "race:^add$\n");
    let args = [
        "check",
        "--exhaustive",
        "--halt-on-error",
        "--suppressions",
        &suppressions,
    ];
    let done = run_in(&folder, &[&args[..], &[&data("race.c")]].concat());
    says(&done, 0, "; 1 finding suppressed\nexplored: all ");
    let clean = write(&folder, "clean.c", "int main(void) { return 0; }\n");
    let saved = ["check", "--exhaustive", "--checkpoint", "saved", &clean];
    for _ in 0..2 {
        let done = run_in(&folder, &saved);
        assert_eq!(
            (done.code, done.stdout),
            (
                0,
                format!("{clean}: robust, no finding in 1 run\nexplored: all 1 execution\n")
            )
        );
    }
}
