//! Rust programs, built with the sanitizer by the toolchain that is here: flags, kinds of crates, the cache and what can happen to it.

use crate::common::{Run, rsan, scratch, tests_dir};
use crate::sanitizer::gcc_is_missing;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// What the cargo above these tests says to its own compilers.
const NOT_INHERITED: &[&str] = &[
    "RUSTC",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "CARGO_TARGET_DIR",
    "RUSTC_BOOTSTRAP",
];

fn data(name: &str) -> String {
    let file = tests_dir().join("data/rust").join(name);
    file.to_str().expect("a UTF-8 path").to_owned()
}

/// A folder of the test's own with these files in it, and nothing else.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = PathBuf::from(scratch(&format!("rust-{name}")));
    let _ = std::fs::remove_dir_all(&folder);
    for (name, text) in files {
        let file = folder.join(name);
        let above = file.parent().expect("a folder");
        std::fs::create_dir_all(above).expect("the scratch folder is writable");
        std::fs::write(file, text).expect("a file");
    }
    std::fs::create_dir_all(&folder).expect("the scratch folder is writable");
    folder
}

fn command(folder: &Path) -> Command {
    let mut command = rsan(folder);
    for name in NOT_INHERITED {
        command.env_remove(name);
    }
    command
}

fn run(folder: &Path, args: &[&str]) -> Run {
    let output = command(folder).args(args).output();
    output.expect("rsan starts").into()
}

fn succeeds(folder: &Path, args: &[&str]) -> Run {
    let done = run(folder, args);
    assert_eq!(done.code, 0, "{args:?}\n{}{}", done.stdout, done.stderr);
    done
}

const EMPTY: (&str, &str) = ("empty.rs", "fn main() {}\n");

/// The cache that all tests share, with the standard library in it.
fn shared() -> PathBuf {
    static READY: OnceLock<PathBuf> = OnceLock::new();
    let ready = READY.get_or_init(|| {
        let folder = folder("ready", &[EMPTY]);
        succeeds(&folder, &["check", "--runs", "1", "empty.rs"]);
        PathBuf::from(scratch("cache")).join("rsan")
    });
    ready.clone()
}

/// A cache of the test's own; what is in some folders of the shared one is in it.
fn own(name: &str, parts: &[&str]) -> PathBuf {
    let cache = folder(&format!("{name}-cache"), &[]);
    for part in parts {
        copy(&shared().join(part), &cache.join("rsan").join(part));
    }
    cache
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder").flatten() {
        let to = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to),
            false => {
                // An entry of a build at the same time may be gone again.
                let _ = std::fs::copy(entry.path(), to);
            }
        }
    }
}

fn check_empty(folder: &Path, cache: &Path) -> Run {
    let mut command = command(folder);
    let command = command.args(["check", "--runs", "1", "empty.rs"]);
    let output = command.env("XDG_CACHE_HOME", cache).output();
    output.expect("rsan starts").into()
}

#[test]
fn panics_unwind_through_instrumented_frames() {
    if gcc_is_missing() {
        return;
    }
    shared();
    let folder = folder("panics", &[]);
    for level in ["-O0", "-O3"] {
        succeeds(
            &folder,
            &["check", "--runs", "1", level, &data("panics.rs")],
        );
    }
}

const LIBRARY: &str = "pub fn one() -> i32 { 1 }\n";
const MACROS: &str = "use proc_macro::TokenStream;
const _: () = assert!(!cfg!(rsan));
#[proc_macro]
pub fn seven(_: TokenStream) -> TokenStream { \"7\".parse().unwrap() }
";
const BUILD: &str = "const _: () = assert!(!cfg!(rsan));
fn main() { println!(\"cargo:rustc-cfg=built\"); }
";
const PROGRAM: &str = "const _: () = assert!(cfg!(rsan) && cfg!(built));
fn main() { println!(\"{} {} {}\", library::one(), macros::seven!(), dynamic::two()); }
";

/// A package of the workspace, with a library of these kinds.
fn manifest(name: &str, rest: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{rest}\n")
}

fn workspace(name: &str) -> PathBuf {
    let published = std::fs::read_to_string(data("published.rs")).expect("a file");
    let dependencies = "[dependencies]\nlibrary = { path = \"../library\" }\nmacros = { path = \"../macros\" }\n\
                        dynamic = { path = \"../dynamic\" }\n[lints.rust]\nunexpected_cfgs = \"allow\"";
    folder(
        name,
        &[
            (
                "Cargo.toml",
                "[workspace]\nresolver = \"2\"\nmembers = [\"program\", \"library\", \"macros\", \"dynamic\", \"kinds\"]\n\
                 [profile.release]\nlto = \"thin\"\nstrip = true\nsplit-debuginfo = \"packed\"\ncodegen-units = 2\n",
            ),
            (
                ".cargo/config.toml",
                "[build]\nrustflags = [\"-C\", \"target-cpu=native\", \"--codegen=prefer-dynamic\"]\n\
                 [target.x86_64-unknown-linux-gnu]\nlinker = \"gcc\"\n",
            ),
            ("program/Cargo.toml", &manifest("program", dependencies)),
            ("program/build.rs", BUILD),
            ("program/src/main.rs", PROGRAM),
            ("library/Cargo.toml", &manifest("library", "")),
            ("library/src/lib.rs", LIBRARY),
            (
                "macros/Cargo.toml",
                &manifest(
                    "macros",
                    "[lib]\nproc-macro = true\n[lints.rust]\nunexpected_cfgs = \"allow\"",
                ),
            ),
            ("macros/src/lib.rs", MACROS),
            (
                "dynamic/Cargo.toml",
                &manifest("dynamic", "[lib]\ncrate-type = [\"dylib\"]"),
            ),
            ("dynamic/src/lib.rs", "pub fn two() -> i32 { 2 }\n"),
            (
                "kinds/Cargo.toml",
                &manifest("kinds", "[lib]\ncrate-type = [\"cdylib\", \"staticlib\"]"),
            ),
            ("kinds/src/lib.rs", &published),
            (
                "main.c",
                "int published(void);\nint main(void) { return published() - 1; }\n",
            ),
        ],
    )
}

#[test]
fn flags_of_users_and_all_kinds_of_crates_are_built() {
    if gcc_is_missing() {
        return;
    }
    shared();
    let folder = workspace("workspace");
    succeeds(&folder, &["cargo", "build", "--offline", "--release"]);
    let built = "target/rsan/x86_64-unknown-linux-gnu/release";
    let done = succeeds(&folder, &["run", "--", &format!("{built}/program")]);
    assert!(done.stdout.contains("1 7 2\n"), "{}", done.stdout);
    // What was built by the same version is not built again.
    let again = succeeds(&folder, &["cargo", "build", "--offline", "--release"]);
    assert!(!again.stderr.contains("Compiling"), "{}", again.stderr);
    // Libraries for other languages are instrumented, and with them the standard library that they carry.
    let path = format!("-Wl,-rpath,{}", folder.join(built).display());
    for (program, words) in [
        ("static", &[&*format!("{built}/libkinds.a"), "-lm"][..]),
        ("shared", &[&format!("{built}/libkinds.so"), &path]),
    ] {
        succeeds(&folder, &[&["cc", "main.c", "-o", program], words].concat());
        let done = run(&folder, &["run", "--", &format!("./{program}")]);
        assert_eq!(done.code, 1, "{program}\n{}{}", done.stdout, done.stderr);
        assert!(done.stdout.contains("kinds::VALUE"), "{}", done.stdout);
    }
}

#[test]
fn what_cannot_be_built_with_it_is_refused() {
    if gcc_is_missing() {
        return;
    }
    for (index, (flag, part)) in [
        (
            "-Ctarget-feature=+crt-static",
            "cannot be linked statically",
        ),
        (
            "-Zsanitizer=address",
            "-Zsanitizer=address cannot be combined with rsan",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let folder = folder(
            &format!("refused-{index}"),
            &[
                ("Cargo.toml", &manifest("refused", "[workspace]")),
                ("src/main.rs", EMPTY.1),
            ],
        );
        let mut command = command(&folder);
        let command = command.args(["cargo", "build", "--offline"]);
        let done: Run = command
            .env("RUSTFLAGS", flag)
            .output()
            .expect("rsan starts")
            .into();
        assert_ne!(done.code, 0, "{flag}");
        assert!(done.stderr.contains(part), "{}", done.stderr);
    }
}

#[test]
fn damaged_entries_are_made_again() {
    if gcc_is_missing() {
        return;
    }
    let folder = folder("damaged", &[EMPTY]);
    let cache = own("damaged", &["rust/std", "rust/objects"]);
    let succeeds = || {
        let done = check_empty(&folder, &cache);
        assert_eq!(done.code, 0, "{}", done.stderr);
        done.stderr
    };
    assert_eq!(succeeds(), "");
    let cut = |file: &Path| {
        let file = std::fs::OpenOptions::new().write(true).open(file);
        file.and_then(|file| file.set_len(100)).expect("an entry");
    };
    let inside = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).expect("a folder").flatten();
        entries.map(|entry| entry.path()).collect()
    };
    let rust = cache.join("rsan/rust");
    // Of the standard library a part is damaged; its objects are still there.
    let libraries = inside(&rust.join("std"))
        .into_iter()
        .filter(|path| path.is_dir());
    let files: Vec<_> = libraries.flat_map(|folder| inside(&folder)).collect();
    let core = files
        .iter()
        .find(|file| file.to_string_lossy().contains("libcore-"));
    cut(core.expect("an instrumented library"));
    assert!(succeeds().contains("instrumenting the standard library"));
    // All objects are.
    inside(&rust.join("objects"))
        .iter()
        .for_each(|file| cut(file));
    assert_eq!(succeeds(), "");
}

#[test]
fn a_full_disk_is_said_and_leaves_nothing_behind() {
    if gcc_is_missing() {
        return;
    }
    let runtime = shared();
    let runtime = std::fs::read_dir(&runtime).expect("the cache").flatten();
    let names = runtime.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let parts: Vec<_> = names.filter(|name| name != "rust").collect();
    let parts: Vec<_> = parts.iter().map(String::as_str).collect();
    let cache = own("full", &parts);
    let folder = folder("full", &[EMPTY]);
    // As large as a file may become: nothing else stops a test's files from being written.
    let script = format!(
        "ulimit -f 64; exec {} check empty.rs",
        env!("CARGO_BIN_EXE_rsan")
    );
    let mut limited = Command::new("sh");
    limited.current_dir(&folder).args(["-c", &script]);
    for name in NOT_INHERITED {
        limited.env_remove(name);
    }
    let output = limited.env("XDG_CACHE_HOME", &cache).output();
    let done: Run = output.expect("a shell").into();
    assert_eq!(done.code, 2, "{}", done.stderr);
    assert!(done.stderr.contains("File too large"), "{}", done.stderr);
    assert!(
        done.stderr.contains("XDG_CACHE_HOME names another place"),
        "{}",
        done.stderr
    );
    let left =
        |name: &str| std::fs::read_dir(cache.join("rsan/rust").join(name)).map(Iterator::count);
    assert_eq!(left("objects").ok(), Some(0));
    assert_eq!(left("scratch").ok(), Some(0));
    copy(
        &shared().join("rust/objects"),
        &cache.join("rsan/rust/objects"),
    );
    let done = check_empty(&folder, &cache);
    assert_eq!(done.code, 0, "{}", done.stderr);
}

/// A compiler that answers as the script says, and else is the one that is here.
fn compiler(folder: &Path, script: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let output = Command::new("rustc").args(["--print", "sysroot"]).output();
    let output = output.expect("a compiler of Rust").stdout;
    let sysroot = String::from_utf8(output).expect("a path");
    let sysroot = sysroot.trim();
    let without = folder.join("sysroot/lib");
    std::fs::create_dir_all(&without).expect("a folder");
    let libraries = Path::new(sysroot).join("lib/rustlib");
    std::os::unix::fs::symlink(libraries, without.join("rustlib")).expect("a link");
    let file = folder.join("rustc");
    let script = script.replace("SYSROOT", &format!("{}/sysroot", folder.display()));
    std::fs::write(
        &file,
        format!("#!/bin/sh\n{script}\nexec {sysroot}/bin/rustc \"$@\"\n"),
    )
    .expect("a script");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("a script");
    file
}

fn check_by(compiler: &Path, folder: &Path, file: &str) -> Run {
    let mut command = command(folder);
    let command = command.args(["check", "--runs", "1", file]);
    let output = command.env("RUSTC", compiler).output();
    output.expect("rsan starts").into()
}

/// Says another folder than the real one, where there is no LLVM.
const NO_LLVM: &str = "case \"$*\" in *'--print sysroot') echo SYSROOT; exit 0;; esac";

#[test]
fn a_toolchain_without_llvm_instruments_by_itself_and_says_what_is_lost() {
    if gcc_is_missing() {
        return;
    }
    let racy = std::fs::read_to_string(data("published.rs")).expect("a file");
    let racy = format!("{racy}\nfn main() {{\n    published();\n}}\n");
    let folder = folder("sanitizer", &[("racy.rs", &racy), EMPTY]);
    let without = compiler(&folder, NO_LLVM);
    let done = check_by(&without, &folder, "racy.rs");
    assert_eq!(done.code, 1, "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("racy::VALUE"), "{}", done.stdout);
    let lost = "the standard library is not instrumented";
    assert!(done.stderr.contains(lost), "{}", done.stderr);
}

#[test]
fn a_toolchain_that_has_nothing_of_what_is_needed_is_refused() {
    let folder = folder("nothing", &[EMPTY]);
    let script = format!("{NO_LLVM}\ncase \"$*\" in *-Zsanitizer*) exit 1;; esac");
    let done = check_by(&compiler(&folder, &script), &folder, "empty.rs");
    assert_eq!(done.code, 2, "{}", done.stderr);
    assert!(
        done.stderr
            .contains("this toolchain has no LLVM that can be loaded"),
        "{}",
        done.stderr
    );
}

#[test]
fn a_stock_toolchain_is_used_as_a_stable_one() {
    if gcc_is_missing() {
        return;
    }
    shared();
    let folder = folder("stable", &[EMPTY]);
    let script =
        "if [ -n \"$RUSTC_BOOTSTRAP\" ]; then exit 9; fi\ncase \"$*\" in *-Z*) exit 9;; esac";
    let done = check_by(&compiler(&folder, script), &folder, "empty.rs");
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(done.stderr, "");
}
