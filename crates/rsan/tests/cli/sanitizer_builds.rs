//! `rsan cc` and `rsan c++` in builds: every form of a compiler's command line, and the tools that write them. What is
//! not installed is said and left out.

use crate::common::{Run, rsan, scratch, tests_dir};
use crate::sanitizer::{compile, data, gcc_is_missing, run_in};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder of the test's own, empty.
fn fresh(name: &str) -> PathBuf {
    let folder = PathBuf::from(scratch(name));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the scratch folder is writable");
    folder
}

fn is_missing(tool: &str) -> bool {
    let missing = Command::new(tool).arg("--version").output().is_err();
    if missing {
        eprintln!("skipped: {tool} is not installed");
    }
    missing
}

/// The project of `tests/data/project` in a folder of the test's own.
fn project(name: &str) -> PathBuf {
    let folder = fresh(name);
    let copy = |from: &Path| {
        let to = folder.join(from.file_name().expect("a name"));
        std::fs::copy(from, to).expect("a copy");
    };
    for entry in std::fs::read_dir(tests_dir().join("data/project")).expect("the project") {
        copy(&entry.expect("an entry").path());
    }
    for file in ["race.c", "pinned.h", "clean.cc"] {
        copy(Path::new(&data(file)));
    }
    folder
}

/// A tool that calls the compiler, with the environment that the README shows.
fn tool(name: &str, folder: &Path, args: &[&str]) -> Run {
    let this = env!("CARGO_BIN_EXE_rsan");
    let mut command = Command::new(name);
    command
        .current_dir(folder)
        .args(args)
        .env("CC", format!("{this} cc"))
        .env("CXX", format!("{this} c++"))
        .env("XDG_CACHE_HOME", folder.join("cache"))
        // A make above these tests would share its workers.
        .env_remove("MAKEFLAGS");
    for name in ["RSAN_OPTIONS", "RSAN_CC", "RSAN_CXX", "CFLAGS", "CXXFLAGS"] {
        command.env_remove(name);
    }
    let done: Run = command.output().expect("the tool starts").into();
    assert_eq!(
        done.code, 0,
        "{name} {args:?}\n{}{}",
        done.stdout, done.stderr
    );
    done
}

/// The two programs of the project, as built, have the findings that their names announce.
fn check_programs(folder: &Path) {
    let folder = folder.to_str().expect("a UTF-8 path");
    for (program, code) in [("./raced", 1), ("./unraced", 0)] {
        let done = run_in(folder, &["run", "--", program]);
        assert_eq!(done.code, code, "{program}\n{}{}", done.stdout, done.stderr);
    }
}

#[test]
fn make_builds_with_it_even_the_first_time_and_in_parallel() {
    if gcc_is_missing() || is_missing("make") {
        return;
    }
    let folder = project("make");
    tool("make", &folder, &["-j8"]);
    check_programs(&folder);
    let text = std::fs::read_to_string(folder.join("one-step.d")).expect("dependencies");
    assert!(text.starts_with("one-step: part.c"), "{text}");
    let again = tool("make", &folder, &["-j8"]);
    assert!(
        again.stdout.contains("Nothing to be done"),
        "{}",
        again.stdout
    );
}

#[test]
fn the_checks_of_a_configure_script_have_their_usual_answers() {
    if gcc_is_missing() {
        return;
    }
    let done = tool("./configure", &project("configure"), &[]);
    assert_eq!(done.stdout, "the compiler works\n");
}

#[test]
fn cmake_builds_with_it() {
    if gcc_is_missing() || is_missing("cmake") || is_missing("make") {
        return;
    }
    let folder = project("cmake");
    let generate = ["-S", ".", "-B", "build", "-G", "Unix Makefiles"];
    tool("cmake", &folder, &generate);
    tool("cmake", &folder, &["--build", "build"]);
    check_programs(&folder.join("build"));
}

#[test]
fn meson_builds_with_it() {
    if gcc_is_missing() || is_missing("meson") || is_missing("ninja") {
        return;
    }
    let folder = project("meson");
    tool("meson", &folder, &["setup", "build"]);
    tool("meson", &folder, &["compile", "-C", "build"]);
    check_programs(&folder.join("build"));
}

/// Runs in a folder and returns its files, sorted.
fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Command lines and whether they need sources only; `rsan cc` must write the files that gcc writes, and print what it prints.
const AS_GCC: &[&str] = &[
    "-MD part.c -c",
    "-MD race.c part.c",
    "-MMD -MP -o prog race.c part.c",
    "-MD -o out/prog race.c",
    "-MMD -MF deps -o prog race.c",
    "-MMD -MT target -o prog race.c",
    "-M part.c",
    "-MM -MF deps part.c",
    "-E part.c -o part.i",
    "-E -P part.c",
    "-c part.c race.c",
    "-S -fverbose-asm -O0 part.c -o part.s -fno-sanitize=thread -g0",
    "-oprog race.c",
    "-x c part.txt -x none race.c -o prog",
    "-shared -fPIC -o libpart.so part.c -Wl,-soname,libpart.so.0 -Wl,-z,defs",
    "-r part.c -o all.o",
    "-fsyntax-only race.c",
    "part.h",
    "-x c-header part.h -o part.pch",
    "-print-prog-name=ld",
    "-dumpversion",
    "-O1 'two words.c' -o 'two words'",
    "@arguments",
];

#[test]
fn the_same_files_are_written_as_by_gcc() {
    if gcc_is_missing() {
        return;
    }
    for (index, line) in AS_GCC.iter().enumerate() {
        let words: Vec<String> = match line.split('\'').collect::<Vec<_>>()[..] {
            [plain] => plain.split(' ').map(str::to_owned).collect(),
            [options, source, _, target, _] => {
                let options = options.trim().split(' ');
                let named = [source, "-o", target];
                options.chain(named).map(str::to_owned).collect()
            }
            _ => panic!("quotes in {line}"),
        };
        let run = |name: &str, mut command: Command| {
            let folder = fresh(&format!("as-gcc-{index}-{name}"));
            for file in ["race.c", "pinned.h"] {
                std::fs::copy(data(file), folder.join(file)).expect("a copy");
            }
            let main = "int main(void) { return 0; }";
            let response = "-MD -o prog\n\"two words.c\"";
            for (file, text) in [
                ("part.h", "int answer(void);"),
                (
                    "part.c",
                    "#include \"part.h\"\nint answer(void) { return 42; }",
                ),
                ("part.txt", "int part;"),
                ("two words.c", main),
                ("arguments", response),
            ] {
                std::fs::write(folder.join(file), text).expect("a file");
            }
            std::fs::create_dir_all(folder.join("out")).expect("a folder");
            command.current_dir(&folder).args(&words);
            let done: Run = command.output().expect("the compiler starts").into();
            let mut seen = files(&folder);
            seen.extend(files(&folder.join("out")));
            let texts: Vec<_> = ["a-race.d", "part.d", "prog.d", "out/prog.d", "deps"]
                .iter()
                .map(|file| std::fs::read_to_string(folder.join(file)).ok())
                .collect();
            (done.code, done.stdout, seen, texts)
        };
        let mut ours = rsan(Path::new("."));
        ours.arg("cc");
        assert_eq!(run("rsan", ours), run("gcc", Command::new("gcc")), "{line}");
    }
}

#[test]
fn what_cannot_be_combined_is_refused() {
    if gcc_is_missing() {
        return;
    }
    let folder = scratch("refused");
    compile(&folder, &["cc", "-c", &data("race.c"), "-o", "race.o"]);
    for (args, part) in [
        (
            ["-static", "race.o"].as_slice(),
            "cannot be linked statically",
        ),
        (&["-static-pie", "race.o"], "cannot be linked statically"),
        (
            &["-fsanitize=address", "-c", "race.c"],
            "-fsanitize=address cannot be combined with rsan",
        ),
        (
            &["-fsanitize=undefined,address", "race.o"],
            "-fsanitize=address cannot be combined with rsan",
        ),
        (
            &["--rsan-compiler=no-such", "race.o"],
            "no-such is not installed",
        ),
    ] {
        let done = run_in(&folder, &[&["cc"], args].concat());
        assert_eq!(done.code, 2, "{args:?}\n{}", done.stderr);
        assert!(done.stderr.starts_with("rsan: error: "), "{}", done.stderr);
        assert!(done.stderr.contains(part), "{}", done.stderr);
    }
    // Of what is linked with, only libtsan is taken out.
    let both = "-fsanitize=thread,undefined";
    compile(
        &folder,
        &["cc", both, &data("race.c"), "-o", "both", "-pthread"],
    );
    assert_eq!(run_in(&folder, &["run", "--", "./both"]).code, 1);
}

#[test]
fn link_time_optimisation_does_not_lose_the_instrumentation() {
    if gcc_is_missing() {
        return;
    }
    let folder = scratch("lto");
    let options = ["cc", "-flto", "-O1", "-pthread"];
    compile(
        &folder,
        &[&options[..], &[&data("race.c"), "-o", "one"]].concat(),
    );
    compile(
        &folder,
        &[&options[..], &["-c", &data("race.c"), "-o", "race.o"]].concat(),
    );
    compile(&folder, &[&options[..], &["race.o", "-o", "two"]].concat());
    for program in ["./one", "./two"] {
        assert_eq!(
            run_in(&folder, &["run", "--", program]).code,
            1,
            "{program}"
        );
    }
}

#[test]
fn every_installed_clang_compiles_too() {
    let names = ["", "-14", "-15", "-16", "-17", "-18", "-19"];
    let names = names.map(|version| format!("clang{version}"));
    for clang in names.iter().filter(|name| !is_missing(name)) {
        compiles_with_clang(clang);
    }
}

fn compiles_with_clang(clang: &str) {
    let folder = scratch(clang);
    let choice = format!("--rsan-compiler={clang}");
    let race = data("race.c");
    let strict = "-DX -I. -Wall -Werror -fuse-ld=bfd -include stddef.h -MMD -o race";
    let strict: Vec<_> = strict.split(' ').collect();
    compile(&folder, &[&["cc", &choice, &race], &strict[..]].concat());
    compile(
        &folder,
        &["cc", &choice, "-flto", &race, "-c", "-o", "lto.o"],
    );
    compile(&folder, &["c++", &choice, &data("clean.cc"), "-o", "clean"]);
    for (program, code) in [("./race", 1), ("./clean", 0)] {
        let done = run_in(&folder, &["run", "--", program]);
        let Run { stdout, stderr, .. } = &done;
        assert_eq!(done.code, code, "{clang} {program}\n{stdout}{stderr}");
    }
    let text = std::fs::read_to_string(Path::new(&folder).join("race.d"));
    assert!(text.expect("dependencies").starts_with("race: "));
}

#[test]
fn check_takes_the_compiler_that_is_chosen() {
    if gcc_is_missing() {
        return;
    }
    let check = |compiler: &str| -> Run {
        let mut command = rsan(&tests_dir().join("data"));
        command.env("RSAN_CC", compiler);
        let args = ["check", "--runs", "1", "race.c"];
        command.args(args).output().expect("rsan starts").into()
    };
    assert_eq!(check("gcc -DX").code, 1);
    let done = check("no-such-compiler");
    assert_eq!(done.code, 2);
    let said = "error: race.c: no-such-compiler is not installed\n";
    assert_eq!(done.stderr, said);
}

/// A compiler that only says that it was called.
fn echo(folder: &Path, name: &str) {
    use std::os::unix::fs::PermissionsExt;
    let file = folder.join(name);
    std::fs::write(&file, format!("#!/bin/sh\necho {name} \"$@\"\n")).expect("a script");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&file, mode).expect("a mode");
}

#[test]
fn the_compiler_is_chosen_by_option_variable_and_what_is_there() {
    let folder = fresh("choice");
    for name in ["clang-14", "clang-16", "clang++-16", "ccache", "with blank"] {
        echo(&folder, name);
    }
    let called = |variable: Option<&str>, args: &[&str]| {
        let mut command = rsan(&folder);
        command.env("PATH", &folder).args(args);
        if let Some(value) = variable {
            command.env("RSAN_CC", value);
        }
        let done: Run = command.output().expect("rsan starts").into();
        done.stdout + &done.stderr
    };
    assert_eq!(
        called(None, &["cc", "-dumpversion"]),
        "clang-16 -dumpversion\n"
    );
    assert_eq!(called(None, &["c++", "-v"]), "clang++-16 -v\n");
    assert_eq!(
        called(Some("clang-14 -m64"), &["cc", "-v"]),
        "clang-14 -m64 -v\n"
    );
    assert_eq!(
        called(Some("ccache clang-14"), &["cc", "-v"]),
        "ccache clang-14 -v\n"
    );
    let path = folder.join("with blank");
    let path = path.to_str().expect("a UTF-8 path");
    assert_eq!(called(Some(path), &["cc", "-v"]), "with blank -v\n");
    let option = ["cc", "-v", "--rsan-compiler=clang-14"];
    assert_eq!(called(Some("no"), &option), "clang-14 -v\n");
    let this = env!("CARGO_BIN_EXE_rsan");
    assert!(called(Some(&format!("{this} cc")), &["cc", "-v"]).contains("this is rsan itself"));
    assert!(
        called(None, &["cc", "-c", "a.c"]).starts_with("clang-16 -fsanitize=thread -g"),
        "instrumented"
    );
    let empty = fresh("choice-empty");
    let mut command = rsan(&empty);
    let done: Run = command
        .env("PATH", &empty)
        .args(["cc", "-v"])
        .output()
        .expect("rsan starts")
        .into();
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.contains("neither gcc nor clang is installed"),
        "{}",
        done.stderr
    );
}

#[test]
fn the_command_needs_nothing_but_itself() {
    if gcc_is_missing() {
        return;
    }
    let folder = fresh("alone");
    let copy = folder.join("rsan-cc");
    std::fs::copy(env!("CARGO_BIN_EXE_rsan"), &copy).expect("a copy");
    std::fs::copy(&copy, folder.join("rsan")).expect("a copy");
    let home = fresh("alone-home");
    let run = |name: &str, cache: Option<&str>, args: &[&str]| -> Run {
        let mut command = Command::new(folder.join(name));
        command.current_dir(&folder).args(args).env("HOME", &home);
        command.env_remove("XDG_CACHE_HOME").env_remove("RSAN_CC");
        if let Some(cache) = cache {
            command.env("XDG_CACHE_HOME", cache).env("TMPDIR", &folder);
        }
        command.output().expect("rsan starts").into()
    };
    let done = run("rsan-cc", None, &[&data("race.c"), "-o", "race"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(run("rsan", None, &["run", "--", "./race"]).code, 1);
    assert_eq!(files(&home), [".cache"]);
    // Without a cache, a folder of temporary files does; without both, it is an error.
    let done = run(
        "rsan-cc",
        Some("/dev/null/no"),
        &[&data("race.c"), "-o", "race"],
    );
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(
        run("rsan", Some("/dev/null/no"), &["run", "--", "./race"]).code,
        1
    );
    let mut nowhere = Command::new(&copy);
    nowhere
        .env("XDG_CACHE_HOME", "/dev/null/no")
        .env("TMPDIR", "/dev/null");
    let done: Run = nowhere
        .args(["-o", "race", "race.o"])
        .output()
        .expect("rsan starts")
        .into();
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.contains("XDG_CACHE_HOME names one"),
        "{}",
        done.stderr
    );
}
