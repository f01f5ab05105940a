//! The interface of ThreadSanitizer: what its headers declare is there, and its settings and hooks have their effect.

use crate::common::{Run, rsan, scratch, tests_dir};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles a program to `name` in a folder of its own; returns the folder and the path.
fn built(name: &str, text: &str) -> (PathBuf, PathBuf) {
    let folder = PathBuf::from(scratch(&format!("interface-{name}")));
    std::fs::create_dir_all(&folder).expect("the scratch folder is writable");
    std::fs::write(folder.join("program.c"), text).expect("the program can be written");
    let mut compile = rsan(&folder);
    compile.args(["cc", "-O1", "-pthread", "-w", "-o", "program", "program.c"]);
    let compiled: Run = compile.output().expect("rsan starts").into();
    assert_eq!(compiled.code, 0, "{}", compiled.stderr);
    let program = folder.join("program");
    (folder, program)
}

/// Runs a program by itself, with settings.
fn started(program: &Path, settings: &[(&str, &str)]) -> Run {
    let mut command = Command::new(program);
    command
        .current_dir(program.parent().expect("a folder"))
        .env_remove("RSAN_OPTIONS")
        .env_remove("TSAN_OPTIONS")
        .envs(settings.iter().copied());
    command.output().expect("the program starts").into()
}

/// The folders of headers that the compilers have.
fn header_folders() -> Vec<PathBuf> {
    let answer = |compiler: &str, question: &str| {
        let output = Command::new(compiler).arg(question).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        Some(PathBuf::from(text.trim()))
    };
    let gcc = answer("gcc", "-print-file-name=include");
    let clang = answer("clang", "-print-resource-dir").map(|folder| folder.join("include"));
    let folders = [gcc, clang].into_iter().flatten();
    let folders = folders.map(|folder| folder.join("sanitizer"));
    folders.filter(|folder| folder.is_dir()).collect()
}

/// The functions of the interface that a header declares: names before a parenthesis, outside of comments and macros.
fn declared(header: &str, names: &mut BTreeSet<String>) {
    let mut continued = false;
    for line in header.lines() {
        let is_macro = continued || line.trim_start().starts_with('#');
        continued = is_macro && line.ends_with('\\');
        let code = line.split("//").next().unwrap_or_default();
        if is_macro || code.trim_start().starts_with('*') {
            continue;
        }
        for (at, _) in code.match_indices('(') {
            let before = code[..at].trim_end();
            let start = before.rfind(|c: char| c != '_' && !c.is_ascii_alphanumeric());
            let name = &before[start.map_or(0, |start| start + 1)..];
            if name.starts_with("__tsan_") || name.starts_with("__sanitizer_") {
                names.insert(name.to_owned());
            }
        }
    }
}

#[test]
fn every_function_of_the_headers_can_be_linked() {
    let mut names = BTreeSet::new();
    for folder in header_folders() {
        for header in [
            "tsan_interface.h",
            "tsan_interface_atomic.h",
            "common_interface_defs.h",
            "allocator_interface.h",
            "coverage_interface.h",
            "linux_syscall_hooks.h",
        ] {
            // gcc has fewer of them.
            if let Ok(text) = std::fs::read_to_string(folder.join(header)) {
                declared(&text, &mut names);
            }
        }
    }
    assert!(names.len() > 30, "{names:?}");
    let mut program = String::new();
    for name in &names {
        let _ = writeln!(program, "void {name}(void);");
    }
    program.push_str("void (*const all[])(void) = {\n");
    for name in &names {
        let _ = writeln!(program, "    {name},");
    }
    program.push_str("};\nint main(void) { return all[0] ? 0 : 1; }\n");
    let (_, program) = built("headers", &program);
    assert_eq!(started(&program, &[]).code, 0);
}

/// Two threads race on `counter`.
const RACE: &str = r"
#include <pthread.h>
int counter;
static void *add(void *unused) { counter++; return unused; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, add, 0);
    counter++;
    pthread_join(thread, 0);
    return 0;
}
";

#[test]
fn settings_for_thread_sanitizer_are_taken() {
    let (folder, program) = built("settings", RACE);
    std::fs::write(folder.join("known"), "race:^counter$\n").expect("writable");
    for (tsan, ours, status) in [
        ("", "", 66),
        ("exitcode=5 history_size=7", "", 5),
        ("exitcode=5:halt_on_error=0", "exitcode=6", 6),
        ("report_bugs=0", "", 0),
        ("suppressions=known", "", 0),
        ("", "suppressions=known", 0),
    ] {
        let run = started(&program, &[("TSAN_OPTIONS", tsan), ("RSAN_OPTIONS", ours)]);
        assert_eq!(run.code, status, "{tsan} {ours}: {}", run.stderr);
        assert!(!run.stderr.contains("unknown name"), "{}", run.stderr);
    }
}

/// The only file whose name begins so.
fn file_of(folder: &Path, start: &str) -> String {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let files = entries.map(|entry| entry.expect("an entry").path());
    let name = |path: &PathBuf| path.file_name().map(|name| name.display().to_string());
    let mut files = files.filter(|path| name(path).is_some_and(|name| name.starts_with(start)));
    let file = files.next().expect("a file of the report");
    let text = std::fs::read_to_string(&file).expect("a text");
    std::fs::remove_file(&file).expect("its owner removes it");
    text
}

#[test]
fn reports_go_where_the_user_or_the_program_wants() {
    let (folder, program) = built("paths", RACE);
    let run = started(&program, &[("TSAN_OPTIONS", "log_path=report")]);
    assert_eq!((run.code, run.stderr.as_str()), (66, ""));
    let text = file_of(&folder, "report.");
    assert!(
        text.contains("data race") && text.contains(" finding"),
        "{text}"
    );
    let run = started(&program, &[("RSAN_OPTIONS", "text_path=stdout")]);
    assert!(run.stdout.contains("data race"), "{}", run.stdout);

    let asks = "void __sanitizer_set_report_path(const char *);
const char *__sanitizer_get_report_path(void);
int puts(const char *);
__attribute__((constructor)) static void start(void) {
    __sanitizer_set_report_path(\"own\");
    puts(__sanitizer_get_report_path());
}\n";
    let (folder, program) = built("own-path", &format!("{asks}{RACE}"));
    let run = started(&program, &[]);
    assert!(run.stdout.starts_with("own."), "{}", run.stdout);
    assert!(file_of(&folder, "own.").contains("data race"));
}

#[test]
fn the_program_is_asked_at_the_start_and_at_the_end() {
    let hooks = "int puts(const char *);
const char *__tsan_default_options(void) { return \"exitcode=7\"; }
void __tsan_on_initialize(void) { puts(\"begins\"); }
int __tsan_on_finalize(int failed) { puts(failed ? \"failed\" : \"passed\"); return !failed; }
void __sanitizer_set_death_callback(void (*)(void));
int fflush(void *);
static void dies(void) { puts(\"dies\"); fflush(0); }
__attribute__((constructor)) static void start(void) { __sanitizer_set_death_callback(dies); }\n";
    let (_, program) = built("racing-hooks", &format!("{hooks}{RACE}"));
    let run = started(&program, &[]);
    assert_eq!((run.code, run.stdout.as_str()), (0, "begins\nfailed\n"));
    let run = started(&program, &[("RSAN_OPTIONS", "halt_on_error=1")]);
    assert_eq!((run.code, run.stdout.as_str()), (7, "begins\ndies\n"));
    let (_, program) = built(
        "passing-hooks",
        &format!("{hooks}int main(void) {{ return 0; }}"),
    );
    let run = started(&program, &[]);
    assert_eq!((run.code, run.stdout.as_str()), (7, "begins\npassed\n"));
}

#[test]
fn findings_are_left_out_by_the_name_of_a_variable_and_by_their_kind() {
    let suite = tests_dir().join("data/suite");
    for (program, line) in [
        ("races/counter.c", "race:^counter$"),
        ("signals/malloc.c", "signal:handler"),
        ("signals/errno_changed.c", "signal:^handler$"),
    ] {
        let folder = PathBuf::from(scratch("interface-suppressed"));
        std::fs::create_dir_all(&folder).expect("the scratch folder is writable");
        std::fs::write(folder.join("known"), format!("{line}\n")).expect("writable");
        let mut check = rsan(&folder);
        check.args(["check", "--runs", "1", "--suppressions", "known"]);
        let run: Run = check
            .arg(suite.join(program))
            .output()
            .expect("rsan starts")
            .into();
        assert_eq!(
            run.code, 0,
            "{program} {line}: {}{}",
            run.stdout, run.stderr
        );
    }
}
