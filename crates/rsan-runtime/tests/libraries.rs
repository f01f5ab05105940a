//! Programs with shared libraries: instrumented ones that come and go, and ones that are not instrumented.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use support::{
    FOUND, compile_object, compilers, is_installed, kinds, link, run, success, work_dir,
};

const INSTRUMENTED: &[&str] = &["-fsanitize=thread", "-fPIC"];

fn object(work: &Path, compiler: &str, name: &str, options: &[&str]) -> PathBuf {
    let object = work.join(name).with_extension("o");
    compile_object(compiler, &format!("../libraries/{name}"), &object, options);
    object
}

fn is_clean(program: &Path, options: &str) {
    let (output, lines) = run(program, options);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(kinds(&lines), "none", "{errors}");
    assert_eq!(output.status.code(), Some(0), "{errors}");
}

#[test]
fn a_library_that_is_not_instrumented_is_left_alone() {
    for compiler in compilers() {
        let work = work_dir("plain_library", compiler);
        let plain = object(&work, compiler, "plain.c", &["-fPIC"]);
        let output = Command::new(compiler)
            .args(["-shared", "-o"])
            .arg(work.join("libplain.so"))
            .arg(plain)
            .output();
        success(&output.expect("the linker runs"), "plain.c");
        let user = object(&work, compiler, "user.c", INSTRUMENTED);
        let (search, path) = (
            format!("-L{}", work.display()),
            format!("-Wl,-rpath,{}", work.display()),
        );
        let program = work.join("user");
        link(compiler, &[&user], &program, &[&search, "-lplain", &path]);
        is_clean(&program, "");
    }
}

#[test]
fn an_unloaded_plugin_is_forgotten() {
    for compiler in compilers() {
        let work = work_dir("plugin", compiler);
        let plugin = object(&work, compiler, "plugin.c", INSTRUMENTED);
        link(
            compiler,
            &[&plugin],
            &work.join("libplugin.so"),
            &["-shared"],
        );
        let loader = object(&work, compiler, "loader.c", INSTRUMENTED);
        let program = work.join("loader");
        link(compiler, &[&loader], &program, &["-ldl"]);
        is_clean(&program, "");
    }
}

#[test]
fn openmp_orders_its_threads() {
    if !is_installed("gcc") {
        return;
    }
    let work = work_dir("openmp", "gcc");
    let program = |name: &str| {
        let object = object(&work, "gcc", name, &["-fsanitize=thread", "-fopenmp"]);
        let program = object.with_extension("");
        link("gcc", &[&object], &program, &["-lgomp"]);
        program
    };
    is_clean(&program("openmp.c"), "");
    let (output, lines) = run(&program("openmp_race.c"), "");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(kinds(&lines), "race race", "{errors}");
    assert_eq!(output.status.code(), Some(FOUND), "{errors}");
}
