//! SARIF, against the schema that OASIS published.

use super::samples::{race, robust, undecided, weak};
use crate::document::Document;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

/// What a program of the toolchain prints.
fn said(program: &str, args: &[&str]) -> String {
    let mut command = Command::new(program);
    let command = command.args(args).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The schema, from the sources of `serde-sarif`.
fn schema() -> Value {
    let version = said("rustc", &["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    // What is for other machines may not be there.
    let platform = format!("--filter-platform={}", host.expect("a host"));
    let options = ["metadata", "--format-version=1", "--locked", &platform];
    let metadata = said(env!("CARGO"), &options);
    let metadata: Value = serde_json::from_str(&metadata).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let package = packages
        .iter()
        .find(|package| package["name"] == "serde-sarif");
    let manifest = package.and_then(|package| package["manifest_path"].as_str());
    let manifest = PathBuf::from(manifest.expect("serde-sarif is a dependency"));
    let path = manifest.with_file_name("src").join("schema.json");
    let text = std::fs::read_to_string(path).expect("the schema");
    // A lone bracket in one pattern is literal to most readers of the schema; ours wants it escaped.
    let text = text.replace("{2}]?$", "{2}\\\\]?$");
    serde_json::from_str(&text).expect("JSON")
}

/// The log of some documents, after the schema and the types that are made from it took it.
fn checked(documents: &[Document]) -> Value {
    let text = crate::sarif(documents);
    let log: Value = serde_json::from_str(&text).expect("JSON");
    let validator = jsonschema::validator_for(&schema()).expect("a schema");
    let errors: Vec<_> = validator
        .iter_errors(&log)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    serde_json::from_str::<serde_sarif::sarif::Sarif>(&text).expect("SARIF");
    log
}

#[test]
fn the_schema_is_really_asked() {
    let mut log = checked(&[race(0)]);
    log["runs"][0]["results"][0]["level"] = "fatal".into();
    assert!(!jsonschema::is_valid(&schema(), &log));
}

#[test]
fn every_kind_of_document_is_valid() {
    let mut known = race(0);
    known.findings[0].known = true;
    known.findings[0].in_libraries = true;
    known.stats.known = Some(1);
    let mut nowhere = race(0);
    nowhere.findings[0].location = None;
    nowhere.findings[0].accesses.clear();
    let all = [race(0), weak(), undecided(), robust(), known, nowhere];
    let log = checked(&all);
    let run = &log["runs"][0];
    let invocations = run["invocations"].as_array().expect("invocations");
    let codes = invocations.iter().map(|one| one["exitCode"].as_u64());
    let codes: Vec<_> = codes.collect();
    // What does not count does not decide it.
    assert_eq!(codes, [1, 1, 3, 0, 0, 1].map(Some));
    let results = run["results"].as_array().expect("results");
    assert_eq!(results.len(), 4);
    // What code scanning wants beyond the schema.
    for result in results {
        assert!(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].is_string());
        assert!(result["partialFingerprints"]["rsanFinding/v1"].is_string());
        let index = result["ruleIndex"].as_u64().expect("an index") as usize;
        assert_eq!(
            run["tool"]["driver"]["rules"][index]["id"],
            result["ruleId"]
        );
    }
    assert_eq!(results[2]["baselineState"], "unchanged");
    assert_eq!(results[2]["suppressions"][0]["kind"], "external");
    assert!(results[0].get("baselineState").is_none());
    checked(&[]);
}

#[test]
fn a_race_has_both_stacks_from_the_outside_in() {
    let log = checked(&[race(0)]);
    let result = &log["runs"][0]["results"][0];
    let location = &result["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "src/queue.c");
    assert_eq!(location["artifactLocation"]["uriBaseId"], "%SRCROOT%");
    assert_eq!(location["region"]["startLine"], 14);
    assert_eq!(
        location["region"]["snippet"]["text"],
        "    return   buffer[head];"
    );
    let message =
        "data race on `buffer[0]`. nothing orders them. Fix: make the store of `tail` release.";
    assert_eq!(result["message"]["text"], message);
    assert_eq!(result["occurrenceCount"], 3);
    let flows = &result["codeFlows"][0]["threadFlows"];
    let names = |flow: &Value| -> Vec<String> {
        let locations = flow["locations"].as_array().expect("locations");
        let name = |at: &Value| {
            let name = &at["location"]["logicalLocations"][0]["fullyQualifiedName"];
            name.as_str().expect("a function").to_owned()
        };
        locations.iter().map(name).collect()
    };
    let invoker = "std::thread::_Invoker<int>::operator[](int)";
    assert_eq!(names(&flows[0]), [invoker, "get"]);
    assert_eq!(names(&flows[1]), ["main", invoker, "put"]);
    assert_eq!(flows[0]["id"], "access: thread 2");
    let main = &flows[1]["locations"][0]["location"]["physicalLocation"];
    assert_eq!(main["artifactLocation"]["uri"], "src/main%20program.c");
    let library = &flows[1]["locations"][1];
    assert_eq!(library["importance"], "unimportant");
    assert_eq!(
        library["location"]["physicalLocation"]["artifactLocation"]["uri"],
        "file:///usr/include/c++/14/bits/std_thread.h"
    );
}

#[test]
fn a_witness_has_its_run_its_cycle_and_its_fix() {
    let log = checked(&[weak()]);
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["level"], "warning");
    let run = &result["codeFlows"][0]["threadFlows"];
    assert_eq!(run[0]["id"], "P0");
    let orders: Vec<_> = (0..2)
        .flat_map(|thread| (0..2).map(move |step| (thread, step)))
        .map(|(thread, step)| run[thread]["locations"][step]["executionOrder"].as_u64())
        .collect();
    assert_eq!(orders, [1, 2, 3, 4].map(Some));
    let cycle = &result["codeFlows"][1]["threadFlows"][0]["locations"];
    let text = &cycle[1]["location"]["message"]["text"];
    assert_eq!(text, "P1: load x = 0 (acquire), then fr");
    let change = &result["fixes"][0]["artifactChanges"][0]["replacements"][0];
    let region = &change["deletedRegion"];
    let line = super::SB.lines().nth(8).expect("line 9");
    let (start, end) = (region["startColumn"].as_u64(), region["endColumn"].as_u64());
    let range = start.expect("start") as usize - 1..end.expect("end") as usize - 1;
    assert_eq!(&line[range], "acquire");
    assert_eq!(change["insertedContent"]["text"], "seq_cst");
}

#[test]
fn limits_of_code_scanning_are_kept() {
    let mut long = weak();
    let execution = long.findings[0].execution.as_mut().expect("a run");
    let step = execution.schedule[0].clone();
    execution.schedule = vec![step; 3_000];
    let log = checked(&[long]);
    let flows = &log["runs"][0]["results"][0]["codeFlows"];
    let steps = flows[0]["threadFlows"][0]["locations"].as_array();
    let steps = steps.expect("steps");
    assert_eq!(steps.len(), 1_000);
    assert_eq!(steps[999]["executionOrder"], 3_000);
    let mut many = race(0);
    let mut small = many.findings[0].clone();
    small.accesses.clear();
    many.findings = vec![small; 25_002];
    // Too large for the schema's validator to be quick.
    let log: Value = serde_json::from_str(&crate::sarif(&[many])).expect("JSON");
    let run = &log["runs"][0];
    assert_eq!(run["results"].as_array().map(Vec::len), Some(25_000));
    let note = &run["invocations"][0]["toolExecutionNotifications"][0];
    let text = "2 findings are left out: code scanning takes 25000.";
    assert_eq!(note["message"]["text"], text);
}
