//! Waits and retries, at every level of optimisation: compilers turn and copy loops, and what is found must not depend
//! on that. Programs announce as a second line how many weak accesses are waits.

mod support;

use support::{FOUND, announced, compile_object, compilers, kinds, link, programs, run, work_dir};

fn waits(name: &str) -> Option<String> {
    announced(name, "// waits: ")
}

#[test]
fn waits_are_recognised_whatever_the_compiler_makes_of_them() {
    let names: Vec<_> = programs()
        .into_iter()
        .filter(|name| waits(name).is_some())
        .collect();
    assert!(names.len() > 10);
    for compiler in compilers() {
        for level in ["-O0", "-O2", "-O3"] {
            for name in &names {
                let program =
                    work_dir("waits", compiler).join(format!("{}{level}", name.replace('.', "_")));
                let object = program.with_extension("o");
                compile_object(compiler, name, &object, &["-fsanitize=thread", level]);
                link(compiler, &[&object], &program, &[]);
                let (output, lines) = run(&program, "stats=1");
                let errors = String::from_utf8_lossy(&output.stderr);
                let what = format!("{name} by {compiler} {level}\n{errors}");
                let found = announced(name, "// findings: ");
                assert_eq!(Some(kinds(&lines)), found, "{what}");
                let status = if found.as_deref() == Some("none") {
                    0
                } else {
                    FOUND
                };
                assert_eq!(output.status.code(), Some(status), "{what}");
                let count = format!("rsan: {} weak", waits(name).unwrap_or_default());
                assert!(errors.contains(&count), "{what}");
            }
        }
    }
}

#[test]
fn what_is_not_recognised_is_marked() {
    for compiler in compilers().into_iter().take(1) {
        let program = support::compile("marks", compiler, "wait_load.c");
        let (output, lines) = run(&program, "probes=0");
        assert_eq!((output.status.code(), lines.len()), (Some(FOUND), 7));
        let errors = String::from_utf8_lossy(&output.stderr);
        let mark = "is not recognised as a wait: recognition is off";
        for text in lines.iter().map(String::as_str).chain([&*errors]) {
            assert!(text.contains(mark), "{text}");
        }
    }
}

#[test]
fn a_finding_says_what_the_program_does_with_the_old_value() {
    for compiler in compilers().into_iter().take(1) {
        let program = support::compile("steps", compiler, "cas_passes.c");
        let (_, lines) = run(&program, "");
        for step in [
            "a compare-and-swap that may replace the old value",
            "a compare-and-swap that succeeds",
            "a compare-and-swap whose failure does not acquire",
        ] {
            let wait = format!("\"wait\":\"goes on with {step}\"");
            assert!(lines.iter().any(|line| line.contains(&wait)), "{lines:?}");
        }
        let program = support::compile("steps", compiler, "sb_relaxed.c");
        let (_, lines) = run(&program, "");
        assert!(lines[0].contains("\"wait\":\"goes on with"), "{lines:?}");
    }
}

/// The same step is the same only if the program came to it by the same way.
#[test]
fn a_step_that_is_the_same_by_another_way_is_another_one() {
    for compiler in compilers() {
        for (name, wait) in [
            (
                "stale_unused.c",
                "goes on as with the current value, with a store",
            ),
            (
                "stale_cas.c",
                "goes on as with the current value, with a store",
            ),
            ("stale_cas_used.c", "goes on with a store"),
            ("stale_pointer.c", "goes on with a store"),
            ("stale_caller.c", "goes on with a store"),
        ] {
            let program = support::compile("ways", compiler, name);
            let (_, lines) = run(&program, "");
            let wait = format!("\"wait\":\"{wait}\"");
            let stale = lines.iter().filter(|line| line.contains(&wait));
            assert_eq!((lines.len(), stale.count()), (1, 1), "{name}: {lines:?}");
        }
    }
}

/// A stale value that the program can read only once leads to what the program does when it reads it once.
#[test]
fn a_stale_value_that_is_out_of_reach_the_next_time_is_not_read_again() {
    let wait = "\"wait\":\"goes on as with the current value, with a store\"";
    for compiler in compilers() {
        let program = support::compile("attempts", compiler, "seqlock_attempts.c");
        let (_, lines) = run(&program, "");
        let alike = lines.iter().filter(|line| line.contains(wait));
        // Those of the data; the number is read by another instruction the next time, if the compiler makes it so.
        assert!(alike.count() >= 2, "{lines:?}");
    }
}

/// Places that always waited are trusted, but looked at again now and then.
#[test]
fn the_number_of_questions_is_bounded() {
    for compiler in compilers().into_iter().take(1) {
        let program = support::compile("questions", compiler, "wait_threads.c");
        for (options, questions) in [
            ("probes=4", "(8 questions"),
            ("probes=1000", "(100 questions"),
        ] {
            let (output, _) = run(&program, &format!("stats=1 {options}"));
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(errors.contains(questions), "{errors}");
        }
    }
}
