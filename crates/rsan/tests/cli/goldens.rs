//! What people and machines see, kept as files: read the difference, then bless with `RSAN_BLESS=1`.

use crate::common::{golden, normalise, run, scratch, tests_dir};

/// Every golden, and the command line that makes it; all run in `tests/data`.
const CASES: &[(&str, &str)] = &[
    ("help", "--help"),
    ("help-verify", "verify --help"),
    ("help-fence", "fence --help"),
    ("help-litmus", "litmus --help"),
    ("help-emit-c", "emit-c --help"),
    ("help-emit-rust", "emit-rust --help"),
    ("help-check", "check --help"),
    ("help-run", "run --help"),
    ("help-cargo", "cargo --help"),
    ("help-cargo-test", "cargo test --help"),
    ("help-report", "report --help"),
    ("help-merge", "merge --help"),
    ("help-campaign", "campaign --help"),
    ("help-cc", "help cc"),
    ("help-man", "man --help"),
    ("help-completions", "completions --help"),
    ("robust", "verify sb-fenced.litmus"),
    ("weak-read", "verify sb.litmus"),
    ("weak-write", "verify 2+2w.litmus"),
    ("weak-rmw", "verify --model ra rmw.tpl"),
    ("weak-fence", "verify --model rc20 iriw.tpl"),
    (
        "observed",
        "verify --property observational observed.litmus",
    ),
    (
        "observational-robust",
        "verify --property observational sb.litmus",
    ),
    ("safe", "verify --property safe sb.litmus"),
    ("race", "verify race.litmus"),
    ("assertion", "verify assert.tpl"),
    ("trap", "verify trap.litmus"),
    ("deadlock", "verify --deadlock deadlock.tpl"),
    ("no-deadlock-asked", "verify deadlock.tpl"),
    (
        "sc-access",
        "verify --model rc20 sb-fenced.litmus sb-sc.litmus",
    ),
    ("memory-limit", "verify --memory-limit 1 sb-fenced.litmus"),
    (
        "tso",
        "verify --model tso sb.litmus sb-fenced.litmus sb-sc.litmus mp.litmus",
    ),
    ("tso-json", "verify --model tso --format json sb.litmus"),
    ("tso-trf", "verify --model tso --property trf sb.litmus"),
    ("tso-assertion", "verify --model tso assert.tpl"),
    ("fence-tso", "fence --model tso sb.litmus"),
    ("fence-orders", "fence --model c20 sb.litmus race.litmus"),
    (
        "fence-orders-json",
        "fence --format json --model rc20 --target riscv sb.litmus",
    ),
    ("json-violation", "verify --format json sb.litmus"),
    (
        "json-several",
        "verify --format json sb-fenced.litmus missing.litmus race.litmus",
    ),
    ("syntax-error", "verify syntax.litmus"),
    ("litmus-exists", "litmus sb.litmus"),
    (
        "litmus-models",
        "litmus --model tso sb.litmus sb-fenced.litmus sb-sc.litmus",
    ),
    ("litmus-not-exists", "litmus sb-fenced.litmus"),
    ("litmus-forall", "litmus --model rc11 mp.litmus"),
    ("litmus-cut", "litmus --unroll 2 loop.litmus"),
    ("litmus-race", "litmus race.litmus"),
    ("litmus-no-condition", "litmus --model ra rmw.tpl"),
    (
        "litmus-json",
        "litmus --format json --unroll 2 sb.litmus loop.litmus",
    ),
];

#[test]
fn output_is_as_recorded() {
    for (name, args) in CASES {
        let args: Vec<_> = args.split(' ').collect();
        let run = run(&args);
        let text = format!(
            "$ rsan {}\n{}--- stderr\n{}--- exit status {}\n",
            args.join(" "),
            normalise(&run.stdout),
            normalise(&run.stderr),
            run.code
        );
        golden(&format!("{name}.txt"), &text);
    }
}

#[test]
fn every_golden_has_a_case() {
    let dir = tests_dir().join("golden");
    for entry in std::fs::read_dir(dir).expect("the folder of goldens") {
        let name = entry.expect("an entry").file_name();
        let name = name.to_string_lossy().into_owned();
        let known = CASES.iter().any(|(case, _)| format!("{case}.txt") == name);
        let finding = name.starts_with("finding-");
        assert!(
            known || finding || name == "graph.dot",
            "no case makes {name}"
        );
    }
}

#[test]
fn the_graph_is_as_recorded() {
    let file = scratch("graph.dot");
    let run = run(&[
        "verify",
        "--dot",
        file.as_str(),
        "sb.litmus",
        "sb-fenced.litmus",
    ]);
    assert_eq!(run.code, 1);
    let graph = std::fs::read_to_string(&file).expect("the graph was written");
    golden("graph.dot", &graph);
    let drawn = std::process::Command::new("dot")
        .args(["-Tsvg", "-o/dev/null", file.as_str()])
        .output();
    match drawn {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(_) => eprintln!("Graphviz is not installed: the graph was not drawn"),
    }
}
