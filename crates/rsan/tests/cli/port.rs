//! `rsan port`: from one machine to a weaker one.

use crate::common::{Run, rsan, run, scratch, tests_dir};
use serde_json::Value;
use std::path::PathBuf;

/// Runs `rsan port` on files of `tests/data/port`.
fn port(args: &[&str]) -> Run {
    let mut command = rsan(&tests_dir().join("data/port"));
    let command = command.arg("port").args(args);
    command.output().expect("rsan starts").into()
}

/// The document of an answer.
fn document(args: &[&str]) -> (Value, i32) {
    let run = port(&[&["--format", "json"], args].concat());
    let document = serde_json::from_str(&run.stdout);
    (
        document.unwrap_or_else(|e| panic!("{e}: {}", run.stderr)),
        run.code,
    )
}

/// A folder of its own with copies of files of `tests/data/port`.
fn copied(name: &str, files: &[&str]) -> PathBuf {
    let folder = PathBuf::from(scratch(&format!("port-{name}")));
    std::fs::create_dir_all(&folder).expect("the scratch folder is writable");
    for file in files {
        let from = tests_dir().join("data/port").join(file);
        std::fs::copy(from, folder.join(file)).expect("a file");
    }
    folder
}

#[test]
fn pairs_that_may_be_swapped_are_findings_with_their_lines() {
    let (document, code) = self::document(&["mp.ll"]);
    assert_eq!(code, 1);
    assert_eq!(document["verdict"], "violation");
    assert_eq!(document["port"]["from"], "x86");
    assert_eq!(document["port"]["to"], "armv8");
    assert_eq!(document["port"]["method"], "static");
    let findings = document["findings"].as_array().expect("findings");
    let lines: Vec<_> = findings
        .iter()
        .map(|finding| {
            assert_eq!(finding["kind"], "reordering");
            let line = |place: &Value| place["location"]["line"].as_u64();
            (line(finding), line(&finding["related"][0]))
        })
        .collect();
    assert_eq!(lines, [(Some(9), Some(10)), (Some(15), Some(17))]);
    assert_eq!(findings[0]["location"]["file"], "mp.c");
}

#[test]
fn what_the_stronger_machine_shows_too_is_no_finding() {
    let threads = ["--thread", "left", "--thread", "right"];
    let on_x86 = port(&[&threads[..], &["sb.ll"]].concat());
    assert_eq!(on_x86.code, 0, "{}", on_x86.stdout);
    assert!(
        on_x86.stdout.contains("sb.ll: robust from x86 to ARMv8"),
        "{}",
        on_x86.stdout
    );
    let from_sc = port(&[&threads[..], &["--from", "sc", "--to", "x86", "sb.ll"]].concat());
    assert_eq!(from_sc.code, 1);
    // Without lines, instructions are named, and how to get lines.
    assert!(
        from_sc.stdout.contains("in left, instruction 0"),
        "{}",
        from_sc.stdout
    );
    assert!(
        from_sc.stdout.contains("compile with -g"),
        "{}",
        from_sc.stdout
    );
}

#[test]
fn several_files_are_one_program() {
    let threads = ["--thread", "write", "--thread", "read"];
    let (both, code) = document(&[&threads[..], &["half-1.ll", "half-2.ll"]].concat());
    assert_eq!(code, 1);
    assert_eq!(both["findings"].as_array().map(Vec::len), Some(2));
    let (half, code) = document(&["--thread", "write", "half-1.ll"]);
    assert_eq!(code, 0, "{half}");
    let threads = half["port"]["threads"].as_array().map(Vec::len);
    assert_eq!(threads, Some(1));
}

#[test]
fn the_repair_is_listed_and_its_ir_is_robust() {
    let out = PathBuf::from(scratch("port-fixed.ll"));
    let _ = std::fs::remove_file(&out);
    let name = out.to_str().expect("a name");
    let (fixed, code) = document(&["--fix", "--emit-llvm", name, "mp.ll"]);
    assert_eq!(code, 0, "{fixed}");
    assert_eq!(fixed["verdict"], "robust");
    let changes = fixed["repair"]["changes"].as_array().expect("changes");
    let lines: Vec<_> = changes
        .iter()
        .map(|c| c["location"]["line"].as_u64())
        .collect();
    assert_eq!(changes.len(), 2, "{lines:?}");
    let again = port(&[name]);
    assert_eq!(again.code, 0, "{}", again.stdout);
    // With the same machine, fences alone do it, too.
    let (fences, code) = document(&["--fix", "--fences-only", "--unit-costs", "mp.ll"]);
    assert_eq!(code, 0);
    assert_eq!(fences["repair"]["cost"], 2);
    let kinds = fences["repair"]["changes"]
        .as_array()
        .expect("changes")
        .iter();
    assert!(kinds.clone().count() == 2 && kinds.into_iter().all(|c| c["kind"] == "fence"));
}

#[test]
fn the_diff_is_one_of_the_sources() {
    let diff = port(&["--fix", "--diff", "mp.ll"]);
    assert_eq!(diff.code, 0, "{}", diff.stderr);
    let expected = "\
--- mp.c
+++ mp.c
@@ -7,13 +7,14 @@
 
 static void *producer(void *unused) {
     atomic_store_explicit(&data, 42, memory_order_relaxed);
-    atomic_store_explicit(&flag, 1, memory_order_relaxed);
+    atomic_store_explicit(&flag, 1, memory_order_release);
     return unused;
 }
 
 static void *consumer(void *unused) {
     while (atomic_load_explicit(&flag, memory_order_relaxed) == 0)
         ;
+    atomic_thread_fence(memory_order_acquire);
     int value = atomic_load_explicit(&data, memory_order_relaxed);
     return value == 42 ? unused : NULL;
 }
";
    assert_eq!(diff.stdout, expected);
}

/// Whether a program is installed.
fn installed(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

/// With clang, the changed sources are compiled and analysed again, here and by `--diff` itself.
#[test]
fn a_program_with_its_diff_is_robust() {
    if !installed("clang") || !installed("patch") {
        println!("clang or patch is not installed: nothing is checked");
        return;
    }
    let folder = copied("patched", &["mp.c"]);
    let port = |args: &[&str]| -> Run {
        let mut command = rsan(&folder);
        let command = command.arg("port").args(args);
        command.output().expect("rsan starts").into()
    };
    let before = port(&["mp.c"]);
    assert_eq!(before.code, 1, "{}{}", before.stdout, before.stderr);
    let diff = port(&["--fix", "--diff", "mp.c"]);
    assert_eq!((diff.code, &*diff.stderr), (0, ""), "{}", diff.stdout);
    std::fs::write(folder.join("mp.diff"), &diff.stdout).expect("a file");
    let mut patch = std::process::Command::new("patch");
    patch
        .args(["-p0", "-s", "-i", "mp.diff"])
        .current_dir(&folder);
    assert!(patch.status().expect("patch starts").success());
    let after = port(&["mp.c"]);
    assert_eq!(after.code, 0, "{}{}", after.stdout, after.stderr);
}

#[test]
fn bad_input_is_refused_with_its_place() {
    let cases: [(&[&str], &str); 8] = [
        (&["broken.ll"], "broken.ll"),
        (&["missing.ll"], "missing.ll: No such file"),
        (&["missing.c"], "missing.c: No such file"),
        (&["mp.txt"], "unknown kind of file"),
        (&["sb.ll"], "--thread"),
        (&["--thread", "nobody", "sb.ll"], "`nobody`"),
        (&["--from", "armv8", "mp.ll"], "both armv8"),
        (&["--from", "vax", "mp.ll"], "unknown machine `vax`"),
    ];
    for (args, message) in cases {
        let run = port(args);
        assert_eq!(run.code, 2, "{args:?}: {}{}", run.stdout, run.stderr);
        assert!(run.stderr.contains(message), "{args:?}: {}", run.stderr);
        assert_eq!(run.stdout, "", "{args:?}");
    }
    let weaker = port(&["--from", "armv7", "--to", "armv8", "mp.ll"]);
    assert_eq!(weaker.code, 2, "{}", weaker.stdout);
}

/// Bytes that are no bitcode, and the magic number with nothing behind it.
#[test]
fn corrupt_bitcode_is_an_error_not_a_crash() {
    let folder = copied("corrupt", &[]);
    for (name, bytes) in [
        ("text.bc", &b"this is no bitcode"[..]),
        ("short.bc", b"BC\xc0\xde"),
        ("empty.bc", b""),
        (
            "long.bc",
            b"BC\xc0\xde\xff\xff\xff\xff\x35\x14\x00\x00\x05\x00\x00\x00\x62\x0c",
        ),
    ] {
        std::fs::write(folder.join(name), bytes).expect("a file");
        let mut command = rsan(&folder);
        let run: Run = command
            .args(["port", name])
            .output()
            .expect("rsan starts")
            .into();
        assert_eq!(run.code, 2, "{name}: {}{}", run.stdout, run.stderr);
        assert!(run.stderr.contains(name), "{name}: {}", run.stderr);
    }
}

#[test]
fn without_llvm_it_is_undecided_and_said_what_to_install() {
    let mut command = rsan(&tests_dir().join("data/port"));
    let command = command.env("RSAN_LLVM", "/no/such/library.so");
    let run: Run = command
        .args(["port", "mp.ll"])
        .output()
        .expect("rsan starts")
        .into();
    assert_eq!(run.code, 3, "{}{}", run.stdout, run.stderr);
    assert!(
        run.stdout.contains("no LLVM was found: install"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_limit_leaves_it_undecided() {
    let run = port(&["--time-limit", "0s", "mp.ll"]);
    assert_eq!(run.code, 3, "{}{}", run.stdout, run.stderr);
    assert!(
        run.stdout.contains("the time limit was reached"),
        "{}",
        run.stdout
    );
}

#[test]
fn every_form_has_the_findings() {
    for (format, words) in [
        ("sarif", "\"ruleId\": \"reordering\""),
        ("junit", "reordering"),
        ("html", "may be swapped on ARMv8"),
    ] {
        let run = port(&["--format", format, "mp.ll"]);
        assert_eq!(run.code, 1, "{format}");
        assert!(run.stdout.contains(words), "{format}: {}", run.stdout);
    }
    let known = scratch("port-known.json");
    let written = port(&["--format", "json", "-o", &known, "mp.ll"]);
    assert_eq!(written.code, 1);
    let again = port(&["--baseline", &known, "mp.ll"]);
    assert_eq!(again.code, 0, "{}", again.stdout);
}

#[test]
fn litmus_tests_are_answered_exactly() {
    let relaxed = run(&["port", "port/mp.litmus"]);
    assert_eq!(relaxed.code, 1, "{}", relaxed.stdout);
    assert!(
        relaxed
            .stdout
            .contains("ARMv8 allows this execution, and x86 forbids it")
    );
    assert!(relaxed.stdout.contains("cycle"), "{}", relaxed.stdout);
    let sequential = run(&["port", "--from", "sc", "--to", "x86", "port/mp.litmus"]);
    assert_eq!(sequential.code, 0, "{}", sequential.stdout);
    let code = run(&["port", "--static", "port/mp.litmus"]);
    assert_eq!(code.code, 1, "{}{}", code.stdout, code.stderr);
    let fixed = run(&["port", "--fix", "--diff", "port/mp.litmus"]);
    assert_eq!(fixed.code, 0, "{}{}", fixed.stdout, fixed.stderr);
    assert!(
        fixed.stdout.contains("memory_order_release"),
        "{}",
        fixed.stdout
    );
}

#[test]
fn without_data_races_plain_accesses_do_not_count() {
    let folder = copied("race-free", &["mp.ll"]);
    let text = std::fs::read_to_string(folder.join("mp.ll")).expect("a file");
    let plain: String = text
        .lines()
        .map(
            |line| match line.contains("@data") && line.contains(" atomic ") {
                true => line.replace(" atomic ", " ").replace(" monotonic", "") + "\n",
                false => line.to_owned() + "\n",
            },
        )
        .collect();
    assert_ne!(plain, text);
    let file = folder.join("plain.ll");
    std::fs::write(&file, plain).expect("the scratch folder is writable");
    let file = file.display().to_string();
    let warned = port(&[&file]);
    assert_eq!(warned.code, 1, "{}", warned.stdout);
    assert!(warned.stdout.contains("--race-free"), "{}", warned.stdout);
    let trusted = port(&["--race-free", &file]);
    assert_eq!(trusted.code, 0, "{}", trusted.stdout);
    let promise = "if it has no data races: `rsan check` looks for them";
    assert!(trusted.stdout.contains(promise), "{}", trusted.stdout);
    assert_eq!(port(&["--race-free", "mp.litmus"]).code, 2);
}
