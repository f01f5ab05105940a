//! `rsan.h`: with rsan from any folder, and without rsan as a plain header.

use crate::common::{root, scratch};
use crate::sanitizer::{compile, data, gcc_is_missing, run_in};
use std::path::Path;
use std::process::Command;

/// The example of the documentation.
fn example() -> String {
    let page = std::fs::read_to_string(root().join("docs/sanitizer.md")).expect("the page");
    let blocks = page.split("```c\n").skip(1);
    let mut examples = blocks.filter_map(|block| block.split("```").next());
    let example = examples.find(|text| text.contains("#include <rsan.h>"));
    example.expect("the page has an example").to_owned()
}

/// Compiles with warnings as errors, by rsan and by the compiler alone, and runs both.
fn compiles_and_runs(
    folder: &str,
    (wrapper, compiler): (&str, &str),
    standard: &str,
    source: &str,
) {
    let options = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-pthread"];
    let with = [&[wrapper, standard, source, "-o", "with"][..], &options].concat();
    compile(folder, &with);
    let run = run_in(folder, &["run", "--runs", "3", "--", "./with"]);
    assert_eq!(run.code, 0, "{standard}\n{}{}", run.stdout, run.stderr);
    let include = root().join("crates/rsan/include");
    let built = Command::new(compiler)
        .current_dir(folder)
        .args([standard, source, "-o", "without", "-I"])
        .arg(include)
        .args(options)
        .status();
    assert!(built.expect("the compiler runs").success(), "{standard}");
    let status = Command::new(Path::new(folder).join("without")).status();
    assert!(status.expect("the program runs").success(), "{standard}");
}

#[test]
fn the_documented_example_is_clean_with_rsan_and_runs_without() {
    if gcc_is_missing() {
        return;
    }
    let folder = scratch("header-c");
    std::fs::create_dir_all(&folder).expect("the scratch folder is writable");
    std::fs::write(Path::new(&folder).join("example.c"), example()).expect("a file");
    for standard in ["-std=c11", "-std=gnu17"] {
        compiles_and_runs(&folder, ("cc", "gcc"), standard, "example.c");
    }
}

#[test]
fn annotations_work_in_every_version_of_cpp() {
    if gcc_is_missing() {
        return;
    }
    let folder = scratch("header-cpp");
    for standard in ["-std=c++11", "-std=c++14", "-std=c++17", "-std=c++20"] {
        compiles_and_runs(&folder, ("c++", "g++"), standard, &data("annotated.cc"));
    }
}

/// Without its annotations the example is what they say it is not.
#[test]
fn without_annotations_there_are_findings() {
    if gcc_is_missing() {
        return;
    }
    let folder = scratch("header-bare");
    std::fs::create_dir_all(&folder).expect("the scratch folder is writable");
    let bare = example()
        .replace("    rsan_benign_begin();\n", "")
        .replace("    rsan_benign_end();\n", "");
    std::fs::write(Path::new(&folder).join("bare.c"), bare).expect("a file");
    let run = run_in(&folder, &["check", "--runs", "20", "bare.c"]);
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("statistics"), "{}", run.stdout);
}
