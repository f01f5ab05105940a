//! Programs and libraries of which only some are instrumented, allocators that come before the runtime, and programs with
//! rights that their caller has not.

use crate::common::{Run, rsan, scratch};
use crate::sanitizer::{compile, data, gcc_is_missing, run_in};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// A program and a plugin in a folder of the test's own, the latter instrumented; `None` without gcc.
fn host(test: &str) -> Option<String> {
    if gcc_is_missing() {
        return None;
    }
    let folder = scratch(test);
    let plugin = data("libraries/plugin.c");
    let shared = ["-g", "-O1", "-pthread", "-shared", "-fPIC"];
    compile(
        &folder,
        &[&["cc"], &shared[..], &[&plugin, "-o", "plugin.so"]].concat(),
    );
    let host = Command::new("gcc")
        .current_dir(&folder)
        .args(["-pthread", "-o", "host", &data("libraries/host.c"), "-ldl"])
        .status();
    assert!(host.expect("gcc starts").success());
    Some(folder)
}

#[test]
fn a_plugin_of_a_program_that_is_not_instrumented_is_seen() {
    let Some(folder) = host("plugin_host") else {
        return;
    };
    let good = run_in(&folder, &["run", "--", "./host", "./plugin.so", "good"]);
    assert_eq!(good.code, 0, "{}{}", good.stdout, good.stderr);
    let bad = run_in(&folder, &["run", "--", "./host", "./plugin.so", "bad"]);
    assert_eq!(bad.code, 1, "{}{}", bad.stdout, bad.stderr);
    assert!(bad.stdout.contains("1 finding in 1 run"), "{}", bad.stdout);
    let note = "not instrumented, so what they order by means of their own is not seen: host";
    assert!(bad.stdout.contains(note), "{}", bad.stdout);
    let shell = "./host ./plugin.so good && ./host ./plugin.so bad";
    let both = run_in(&folder, &["run", "--", "sh", "-c", shell]);
    assert_eq!(both.code, 1, "{}{}", both.stdout, both.stderr);
}

#[test]
fn a_program_that_loads_nothing_instrumented_has_not_run_with_rsan() {
    let Some(folder) = host("plain_host") else {
        return;
    };
    for options in [&["run"][..], &["run", "--no-preload"]] {
        let done = run_in(&folder, &[options, &["--", "./host"]].concat());
        assert_eq!(done.code, 3, "{}{}", done.stdout, done.stderr);
        assert_eq!(done.stderr, "");
    }
}

#[test]
fn a_plugin_says_that_the_runtime_comes_too_late() {
    let Some(folder) = host("late_host") else {
        return;
    };
    let arguments = ["run", "--no-preload", "--", "./host", "./plugin.so", "good"];
    let Run { stderr, .. } = run_in(&folder, &arguments);
    assert_eq!(stderr.matches("comes before rsan's").count(), 1, "{stderr}");
    assert!(stderr.contains("pthread_create of "), "{stderr}");
    assert!(
        stderr.contains("use `rsan run`, or LD_PRELOAD="),
        "{stderr}"
    );
}

/// Allocators that may be installed.
const ALLOCATORS: [&str; 3] = [
    "libjemalloc.so.2",
    "libtcmalloc_minimal.so.4",
    "libmimalloc.so.2",
];

#[test]
fn allocators_that_are_preloaded_give_no_false_races() {
    if gcc_is_missing() {
        return;
    }
    let folder = scratch("allocators");
    let source = data("libraries/reuse.c");
    compile(
        &folder,
        &["cc", "-g", "-O1", "-pthread", &source, "-o", "reuse"],
    );
    for allocator in ALLOCATORS {
        let file = format!("/usr/lib/x86_64-linux-gnu/{allocator}");
        if !Path::new(&file).exists() {
            eprintln!("skipped: no {file}");
            continue;
        }
        let mut command = rsan(Path::new(&folder));
        command
            .args(["run", "--", "./reuse"])
            .env("LD_PRELOAD", &file);
        let done: Run = command.output().expect("rsan starts").into();
        assert_eq!(done.code, 0, "{allocator}: {}{}", done.stdout, done.stderr);
        // While another `rsan run` is at work, which may have left settings.
        let inner = format!("LD_PRELOAD={file} timeout 120 ./reuse; test $? -ne 124");
        let mut command = rsan(Path::new(&folder));
        command.args(["run", "--", "env", "-u", "RSAN_OPTIONS", "sh", "-c", &inner]);
        let done: Run = command.output().expect("rsan starts").into();
        assert_ne!(done.code, 4, "{allocator}: {}{}", done.stdout, done.stderr);
        assert!(
            done.stderr.contains("malloc of ") && done.stderr.contains(allocator),
            "{allocator}: {}",
            done.stderr
        );
    }
}

#[test]
fn glib_orders() {
    let pkg_config = Command::new("pkg-config")
        .args(["--cflags", "--libs", "glib-2.0"])
        .output();
    let Some(flags) = pkg_config.ok().filter(|output| output.status.success()) else {
        eprintln!("skipped: no GLib");
        return;
    };
    let flags = String::from_utf8(flags.stdout).expect("flags are UTF-8");
    let flags: Vec<_> = flags.split_whitespace().collect();
    let folder = scratch("glib");
    let source = data("libraries/glib.c");
    let first = ["cc", "-g", "-O1", "-pthread", &source, "-o", "glib"];
    compile(&folder, &[&first[..], &flags].concat());
    let good = run_in(&folder, &["run", "--", "./glib"]);
    assert_eq!(good.code, 0, "{}{}", good.stdout, good.stderr);
    let race = run_in(&folder, &["run", "--", "./glib", "race"]);
    assert_eq!(race.code, 1, "{}{}", race.stdout, race.stderr);
    assert!(
        race.stdout.contains("1 finding in 1 run"),
        "{}",
        race.stdout
    );
    assert!(race.stdout.contains("libglib-2.0.so"), "{}", race.stdout);
}

/// The user of a process that has no rights.
const NOBODY: u32 = 65534;

#[test]
fn a_privileged_program_takes_no_settings() {
    if gcc_is_missing() {
        return;
    }
    if fs::metadata("/proc/self").map_or(0, |own| std::os::unix::fs::MetadataExt::uid(&own)) != 0 {
        eprintln!("skipped: only root can make a program privileged");
        return;
    }
    // Everybody must be able to read the program and the library.
    let folder = format!("/tmp/rsan-privileged-{}", std::process::id());
    fs::create_dir_all(&folder).expect("a folder of the test's own");
    let source = data("libraries/privileged.c");
    let mut command = rsan(Path::new(&folder));
    command.env("XDG_CACHE_HOME", &folder);
    command.args(["cc", "-O1", "-pthread", &source, "-o", "privileged"]);
    let compiled: Run = command.output().expect("rsan starts").into();
    assert_eq!(compiled.code, 0, "{}", compiled.stderr);
    let program = format!("{folder}/privileged");
    let mode = |mode| fs::Permissions::from_mode(mode);
    fs::set_permissions(&program, mode(0o4755)).expect("it is ours");
    fs::create_dir_all(format!("{folder}/logs")).expect("the folder is ours");
    fs::set_permissions(format!("{folder}/logs"), mode(0o777)).expect("it is ours");
    let log = format!("{folder}/logs/log.jsonl");
    let run = Command::new(&program)
        .current_dir("/")
        .env("RSAN_OPTIONS", format!("log={log} exitcode=5"))
        .uid(NOBODY)
        .gid(NOBODY)
        .output();
    let logged = Path::new(&log).exists();
    fs::remove_dir_all(&folder).expect("the folder is ours");
    let run: Run = run.expect("the program starts").into();
    if run.stdout != "privileged\n" {
        eprintln!("skipped: the file system makes no program privileged");
        return;
    }
    assert!(!logged);
    assert_eq!(run.code, 66, "{}", run.stderr);
}
