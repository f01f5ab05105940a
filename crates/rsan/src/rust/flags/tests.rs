//! Flags of users, and what becomes of them.

use super::*;
use crate::rust::toolchain::Toolchain;

fn session() -> Session {
    Session {
        toolchain: Toolchain {
            release: "1.95.0".to_owned(),
            commit: "abc".to_owned(),
            sysroot: "/sysroot".into(),
            instrumentation: Instrumentation::Bitcode {
                llvm: "libLLVM.so".into(),
            },
        },
        tools: "/tools".into(),
        wrapper: None,
    }
}

fn planned(line: &str) -> Result<Option<Plan>, String> {
    let words: Vec<_> = line.split(' ').map(OsString::from).collect();
    plan(&words, &session())
}

fn of_target(line: &str) -> Plan {
    let line = format!("{line} --target {TARGET}");
    let planned = planned(&line).expect("nothing is refused");
    planned.expect("it is for the target")
}

#[test]
fn code_for_the_host_is_left_alone() {
    for line in [
        "--crate-name build_script_build --crate-type bin build.rs",
        "--crate-type proc-macro --target x86_64-unknown-linux-gnu lib.rs",
        "-vV",
    ] {
        assert!(planned(line).is_ok_and(|plan| plan.is_none()), "{line}");
    }
}

#[test]
fn what_cannot_stay_is_dropped_in_every_form() {
    let line = "a.rs -C lto=thin -Cstrip=debuginfo --codegen linker=clang --codegen=prefer-dynamic -C embed_bitcode=no \
                -Csplit-debuginfo=packed -Cincremental=dir -Cpanic=abort -Ctarget-cpu=native -Ccodegen-units=1 \
                -Clink-arg=-fuse-ld=lld";
    let plan = of_target(line);
    let text: Vec<_> = plan
        .words
        .iter()
        .map(|word| word.to_string_lossy())
        .collect();
    assert_eq!(
        text.join(" "),
        "a.rs -Cpanic=abort -Ctarget-cpu=native -Ccodegen-units=1 -Clink-arg=-fuse-ld=lld --target x86_64-unknown-linux-gnu \
         -Clinker=/tools/rsan-rust-cc -Clinker-plugin-lto -Clinker-flavor=gcc -Cstrip=none --cfg=rsan -Cdebuginfo=1"
    );
    assert_eq!(plan.linker.as_deref(), Some("clang"));
}

#[test]
fn debug_information_stays_if_there_is_some() {
    for (line, added) in [
        ("-g", false),
        ("-Cdebuginfo=line-tables-only", false),
        ("-C debuginfo=2", false),
        ("-C debuginfo=0", true),
        ("--codegen=debuginfo=none", true),
        ("-O", true),
    ] {
        let words = of_target(line).words;
        assert_eq!(words.contains(&"-Cdebuginfo=1".into()), added, "{line}");
    }
}

#[test]
fn linkers_that_are_no_compilers_are_replaced() {
    for (line, kept) in [
        ("-Clinker=clang-19", true),
        ("-Clinker=/usr/bin/x86_64-linux-gnu-gcc", true),
        ("-Clinker=/home/me/link.sh", true),
        ("-Clinker=clang -Clinker-flavor=gnu-lld-cc", true),
        ("-Clinker=rust-lld", false),
        ("-Clinker=/usr/bin/ld.lld", false),
        ("-Clinker=mold", false),
        ("-Clinker=thing -Clinker-flavor=gnu-lld", false),
        ("-O", false),
    ] {
        assert_eq!(of_target(line).linker.is_some(), kept, "{line}");
    }
}

#[test]
fn what_is_impossible_is_refused() {
    for (line, part) in [
        ("--target x86_64-unknown-linux-musl", "the sanitizer is for"),
        (
            "--target=x86_64-unknown-linux-gnu -C target-feature=+sse3,+crt-static",
            "cannot be linked statically",
        ),
        (
            "--target=x86_64-unknown-linux-gnu -Z sanitizer=address",
            "-Zsanitizer=address cannot be combined",
        ),
    ] {
        let error = planned(line).err().unwrap_or_default();
        assert!(error.contains(part), "{line}: {error}");
    }
}

#[test]
fn archives_that_rustc_writes_are_known_by_name() {
    let written = |line: &str| of_target(line).written;
    let line = "--crate-name a --crate-type lib --crate-type staticlib,cdylib --out-dir d -C extra-filename=-1";
    assert_eq!(
        written(line),
        [
            Written::Rlib("d/liba-1.rlib".into()),
            Written::Static("d/liba-1.a".into())
        ]
    );
    assert_eq!(written("--crate-name a --crate-type bin"), []);
    assert_eq!(
        written("--crate-type=staticlib -o b.a a.rs"),
        [Written::Static("b.a".into())]
    );
}

#[test]
fn names_are_declared_where_others_are() {
    let has = |line: &str| {
        let words = of_target(line).words;
        words.contains(&"--check-cfg=cfg(rsan)".into())
    };
    assert!(has("--check-cfg cfg(docsrs,test)"));
    assert!(!has("a.rs"));
}
