//! What a finding says. Needs gcc; without it these tests say so and do nothing.

use crate::common::{Run, golden, run};
use crate::sanitizer::{compile, data, gcc_is_missing, run_in};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// The text with addresses, which change from run to run, replaced.
fn blank_addresses(text: &str) -> String {
    let mut parts = text.split("0x");
    let mut blank = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        blank.push_str("0x_");
        blank.push_str(part.trim_start_matches(|c: char| c.is_ascii_hexdigit()));
    }
    blank
}

fn assert_contains(run: &Run, parts: &[&str]) {
    for part in parts {
        assert!(
            run.stdout.contains(part),
            "no {part:?} in\n{}{}",
            run.stdout,
            run.stderr
        );
    }
}

#[test]
fn findings_are_as_recorded() {
    if gcc_is_missing() {
        return;
    }
    for (name, file) in [
        ("finding-race", "race.c"),
        ("finding-weak", "weak.c"),
        ("finding-passing", "passing.c"),
        ("finding-half-fenced", "half.c"),
        ("finding-independent", "independent.c"),
        ("finding-locked", "locked.c"),
        ("finding-same-value", "same_value.c"),
        ("finding-half-seq-cst", "half_sc.c"),
        ("finding-freed", "freed.c"),
        ("finding-destroyed", "destroyed.c"),
    ] {
        let run = run(&["check", "-v", "--runs", "1", file]);
        assert_eq!((run.code, run.stderr.as_str()), (1, ""));
        golden(&format!("{name}.txt"), &blank_addresses(&run.stdout));
    }
}

/// Memory is left out by `race`, locks by `mutex`, as in ThreadSanitizer.
#[test]
fn misuses_can_be_suppressed() {
    if gcc_is_missing() {
        return;
    }
    let folder = crate::common::scratch("misuses");
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = Path::new(&folder).join("file");
    let status = |program: &str, line: &str| {
        std::fs::write(&file, line).expect("a file");
        let program = data(program);
        let args = ["check", "--runs", "1", "--suppressions", "file", &program];
        run_in(&folder, &args).code
    };
    assert_eq!(status("freed.c", "race:^main$\n"), 0);
    assert_eq!(status("freed.c", "mutex:^main$\n"), 1);
    assert_eq!(status("destroyed.c", "mutex:^finish$\n"), 0);
    assert_eq!(status("destroyed.c", "race:*\nrobustness:*\n"), 1);
}

#[test]
fn memory_and_threads_have_names() {
    if gcc_is_missing() {
        return;
    }
    let run = run(&["check", "-v", "--runs", "1", "names.cc"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert_contains(
        &run,
        &[
            "names.cc: 4 findings in 1 run: 3 errors, 1 warning\n",
            "The write of `app::queue.pair.second` by thread 1 at names.cc:31",
            "The write of `grid[1][2]` by thread 1 at names.cc:32",
            "The write of byte 8 of a heap block of 64 bytes allocated at names.cc:37 by thread 1 at names.cc:33 and \
             the free by the main thread at names.cc:45 are not ordered",
            "  8 bytes inside a block of 64 bytes\n  allocated by main thread\n    #0 main names.cc:37\n  \
             freed by main thread\n    #0 main names.cc:45\n",
            "Thread 1 may read 0 from byte 8 of a heap block of 16 bytes allocated at names.cc:38 although the \
             main thread's store at names.cc:40 comes first",
            "main thread  names.cc:41  load `app::queue.slots[2]` (relaxed)",
            "main names.cc:39\n",
        ],
    );
}

#[test]
fn documents_have_the_memory_the_chain_and_the_repair() {
    if gcc_is_missing() {
        return;
    }
    let done = run(&["check", "--format", "json", "--runs", "2", "passing.c"]);
    let document: Value = serde_json::from_str(&done.stdout).expect("one document");
    let findings = document["findings"].as_array().expect("findings");
    assert_eq!(findings.len(), 1, "the same places are one finding");
    let finding = &findings[0];
    assert_eq!(finding["runs"], 2);
    assert_eq!(finding["memory"]["kind"], "variable");
    assert_eq!(finding["memory"]["name"], "channels[0].data");
    let execution = &finding["execution"];
    let cycle = execution["cycle"].as_array().expect("a cycle");
    let links: Vec<_> = cycle
        .iter()
        .map(|link| {
            let event = link["event"].as_u64().expect("an event") as usize;
            let operation = execution["events"][event]["operation"].as_str();
            let edge = link["edge"].as_str();
            format!("{} {}", operation.unwrap_or("-"), edge.unwrap_or("-"))
        })
        .collect();
    assert_eq!(
        links,
        [
            "store `channels[0].data` (relaxed) po",
            "store `channels[0].ready` (relaxed) rf",
            "load `channels[0].ready` (relaxed) po",
            "load `channels[0].data` (relaxed) fr"
        ]
    );
    let changes = &finding["fix"]["changes"];
    assert_eq!(
        (&changes[0]["kind"], &changes[0]["to"]),
        (&"order".into(), &"release".into())
    );
    assert_eq!(
        (&changes[1]["event"], &changes[1]["to"]),
        (&2.into(), &"acquire".into())
    );
}

#[test]
fn libraries_and_programs_at_fixed_addresses_are_understood() {
    if gcc_is_missing() {
        return;
    }
    let folder = crate::common::scratch("linked");
    compile(
        &folder,
        &["cc", "-O1", "-no-pie", &data("weak.c"), "-o", "fixed"],
    );
    let done = run_in(&folder, &["run", "--", "./fixed"]);
    assert_contains(
        &done,
        &["may read 0 from `x` although", "put seq_cst fences between"],
    );
    let source = Path::new(&folder).join("library.c");
    let text = "#define main library_main\n#include \"weak.c\"\n";
    std::fs::write(source, text).expect("a source");
    let main = "int library_main(void);\nint main(void) { return library_main(); }\n";
    std::fs::write(Path::new(&folder).join("main.c"), main).expect("a source");
    let include = format!("-I{}", data(""));
    let library = ["-shared", "-fPIC", "library.c", "-o", "liblibrary.so"];
    compile(
        &folder,
        &[&["cc", "-O1", &include], library.as_slice()].concat(),
    );
    compile(
        &folder,
        &[
            "cc",
            "main.c",
            "-L.",
            "-llibrary",
            "-Wl,-rpath,$ORIGIN",
            "-o",
            "linked",
        ],
    );
    let done = run_in(&folder, &["run", "-v", "--", "./linked"]);
    assert_contains(&done, &["may read 0 from `x` although", "#1 main main.c:2"]);
}

#[test]
fn without_debug_information_there_are_addresses() {
    if gcc_is_missing() {
        return;
    }
    let folder = crate::common::scratch("stripped");
    let compile_weak = |more: &[&str]| {
        let arguments = ["cc", "-O1", &data("weak.c"), "-o", "weak"];
        compile(&folder, &[&arguments, more].concat());
    };
    compile_weak(&["-g0"]);
    let done = run_in(&folder, &["run", "--", "./weak"]);
    assert_contains(
        &done,
        &["may read 0 from `x` although", "#0 second ", "weak+0x"],
    );
    let strip = Command::new("strip")
        .arg("weak")
        .current_dir(&folder)
        .status();
    if !strip.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no strip");
        return;
    }
    let done = run_in(&folder, &["run", "--", "./weak"]);
    assert_eq!(done.code, 1, "{}", done.stderr);
    assert_contains(
        &done,
        &[
            "Thread 1 may read 0 from 0x",
            "#0 ?? ",
            "weak+0x",
            "put seq_cst fences between ",
        ],
    );
    // Nothing is left to look symbols up in.
    let script = "cp weak gone && ./gone; rm gone";
    let done = run_in(&folder, &["run", "--", "sh", "-c", script]);
    assert_eq!(done.code, 1, "{}", done.stderr);
    assert_contains(&done, &["Thread 1 may read 0 from 0x", "gone+0x"]);
}
