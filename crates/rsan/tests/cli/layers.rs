//! The layers of ARCHITECTURE.md: which crate may depend on which.

use crate::common::root;

/// Each crate and the crates of rsan that it may depend on; tests and `rsan-crosscheck` may look everywhere.
const LAYERS: &[(&str, &[&str])] = &[
    ("rsan-annotations", &[]),
    ("rsan-random", &[]),
    ("rsan-model", &[]),
    ("rsan-axioms", &["rsan-model"]),
    ("rsan-lang", &["rsan-model"]),
    ("rsan-mapping", &["rsan-model"]),
    ("rsan-ir", &["rsan-model", "rsan-cover"]),
    ("rsan-llvm", &["rsan-ir"]),
    ("rsan-clocks", &["rsan-model"]),
    ("rsan-weak", &["rsan-model", "rsan-clocks"]),
    (
        "rsan-schedule",
        &["rsan-model", "rsan-random", "rsan-clocks", "rsan-weak"],
    ),
    ("rsan-log", &["rsan-model"]),
    ("rsan-suppressions", &[]),
    (
        "rsan-runtime",
        &[
            "rsan-model",
            "rsan-clocks",
            "rsan-weak",
            "rsan-schedule",
            "rsan-log",
            "rsan-suppressions",
        ],
    ),
    ("rsan-verify", &["rsan-model", "rsan-clocks"]),
    ("rsan-cover", &[]),
    ("rsan-tso", &["rsan-model", "rsan-random", "rsan-cover"]),
    ("rsan-repair", &["rsan-model", "rsan-verify", "rsan-cover"]),
    ("rsan-report", &["rsan-model"]),
    (
        "rsan",
        &[
            "rsan-model",
            "rsan-axioms",
            "rsan-lang",
            "rsan-mapping",
            "rsan-ir",
            "rsan-llvm",
            "rsan-verify",
            "rsan-tso",
            "rsan-repair",
            "rsan-report",
            "rsan-schedule",
            "rsan-log",
            "rsan-suppressions",
        ],
    ),
];

#[test]
fn crates_depend_only_downwards() {
    for (name, allowed) in LAYERS {
        let path = root().join("crates").join(name).join("Cargo.toml");
        let manifest = std::fs::read_to_string(path).expect("a manifest");
        for dependency in dependencies(&manifest) {
            assert!(
                allowed.contains(&dependency),
                "{name} depends on {dependency}"
            );
        }
    }
}

/// The crates of rsan in the section `[dependencies]`.
fn dependencies(manifest: &str) -> impl Iterator<Item = &str> {
    manifest
        .lines()
        .skip_while(|line| *line != "[dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| line.starts_with("rsan-"))
        .filter_map(|line| line.split(['.', ' ', '=']).next())
}
