//! Prints nanoseconds per operation without a sanitizer, with gcc's own libtsan and with this library, and the ratio
//! of the last two, all from one run. Build the library first:
//! `cargo build --release -p rsan-runtime && cargo run --release -p rsan-runtime --example operations`.

use std::path::Path;
use std::process::Command;

fn main() {
    let executable = std::env::current_exe().expect("the example has a path");
    let library = executable.ancestors().nth(2);
    let library = library
        .expect("the example is in the target folder")
        .display()
        .to_string();
    let work = std::env::temp_dir().join(format!("rsan-operations-{}", std::process::id()));
    std::fs::create_dir_all(&work).expect("a folder to work in");
    let (search, rpath) = (format!("-L{library}"), format!("-Wl,-rpath,{library}"));
    let plain = measure(&work.join("plain"), &[], &[]);
    let tsan = measure(
        &work.join("tsan"),
        &["-fsanitize=thread"],
        &["-fsanitize=thread"],
    );
    let link = [search.as_str(), rpath.as_str(), "-lrsan_runtime"];
    let rsan = measure(&work.join("rsan"), &["-fsanitize=thread"], &link);
    println!(
        "{:<22}{:>8}{:>8}{:>8}  rsan/tsan",
        "ns", "plain", "tsan", "rsan"
    );
    for (i, (name, plain)) in plain.iter().enumerate() {
        let (tsan, rsan) = (tsan[i].1, rsan[i].1);
        println!(
            "{name:<22}{plain:>8.2}{tsan:>8.2}{rsan:>8.2}{:>11.2}",
            rsan / tsan
        );
    }
    let _ = std::fs::remove_dir_all(&work);
}

/// Compiles, links and runs the C program; returns its lines.
fn measure(program: &Path, compile: &[&str], link: &[&str]) -> Vec<(String, f64)> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/operations.c");
    let object = program.with_extension("o");
    run(Command::new("gcc")
        .args(["-O2", "-c"])
        .args(compile)
        .arg(source)
        .arg("-o")
        .arg(&object));
    run(Command::new("gcc")
        .arg(&object)
        .arg("-o")
        .arg(program)
        .args(link)
        .arg("-lpthread"));
    let text = run(Command::new(program).env_remove("LD_LIBRARY_PATH"));
    let rows = text.lines().filter_map(|line| line.split_once(' '));
    rows.map(|(name, ns)| (name.to_owned(), ns.parse().expect("a number")))
        .collect()
}

fn run(command: &mut Command) -> String {
    let output = command.output().expect("gcc is installed");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
