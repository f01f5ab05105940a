//! Parts of campaigns: together they say what the whole says, whoever made them, and whoever died meanwhile.

use crate::common::{Run, rsan, scratch};
use crate::sanitizer::{compile, data, gcc_is_missing, run_in};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// An empty folder of the test's own, with a program if one is wanted.
fn folder(test: &str, program: Option<&str>) -> String {
    let folder = scratch(&format!("shards-{test}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    if let Some(program) = program {
        let source = data(&format!("scheduled/{program}.c"));
        let words = [
            "cc",
            "--rsan-as-written",
            "-g",
            "-pthread",
            "-o",
            program,
            &source,
        ];
        compile(&folder, &words);
    }
    folder
}

fn line(folder: &str, line: &str) -> Run {
    run_in(folder, &line.split(' ').collect::<Vec<_>>())
}

/// The document that a command answers with.
#[track_caller]
fn json(folder: &str, words: &str, code: i32) -> Value {
    let run = line(folder, words);
    assert_eq!(run.code, code, "{words}\n{}{}", run.stdout, run.stderr);
    serde_json::from_str(&run.stdout).expect("a document")
}

/// What does not depend on times, on files, or on who did it.
fn essence(document: &Value) -> Value {
    let mut findings = document["findings"].clone();
    for finding in findings.as_array_mut().into_iter().flatten() {
        if let Some(recorded) = finding["recorded"].as_object_mut() {
            recorded.remove("file");
            recorded.remove("command");
        }
    }
    let (stats, schedules) = (&document["stats"], &document["stats"]["schedules"]);
    let mut failures = schedules["failures"].clone();
    for failed in failures.as_array_mut().into_iter().flatten() {
        failed["first"] = failed["first"]["seed"].take();
    }
    let mut exploration = schedules["exploration"].clone();
    if let Some(figures) = exploration.as_object_mut() {
        figures.remove("estimate");
    }
    serde_json::json!({
        "verdict": document["verdict"],
        "runs": stats["runs"],
        "failed": stats["failures"],
        "seed": schedules["seed"],
        "executions": schedules["executions"],
        "exploration": exploration,
        "failures": failures,
        "findings": findings,
    })
}

/// The result of a shard.
fn result(folder: &str, shard: &str) -> String {
    let file = Path::new(folder).join(format!("out/shard-{shard}/result.json"));
    std::fs::read_to_string(file).expect("a result")
}

#[test]
fn shards_of_seeds_find_what_the_whole_finds() {
    if gcc_is_missing() {
        return;
    }
    let folder = folder("seeds", Some("seqlock"));
    let campaign = "run --sched pct --runs 200 --format json";
    let whole = json(&folder, &format!("{campaign} -- ./seqlock"), 1);
    for shard in ["3/3", "1/3", "2/3"] {
        let part = format!("{campaign} --shard {shard} --out out -- ./seqlock");
        assert_eq!(line(&folder, &part).code & !1, 0, "{part}");
    }
    let merged = json(&folder, "merge --format json out", 1);
    assert_eq!(essence(&merged), essence(&whole));
    // The schedule of a part is one of the program.
    let replay = merged["findings"][0]["recorded"]["command"].as_str();
    let replay = replay
        .and_then(|command| command.strip_prefix("rsan "))
        .expect("a command");
    assert!(replay.contains("out/shard-"), "{replay}");
    let again = line(&folder, replay);
    assert_eq!(again.code, 1, "{}{}", again.stdout, again.stderr);
    let text = line(&folder, "merge out").stdout;
    assert!(text.contains("seeds 1 to 200"), "{text}");
    let text = line(
        &folder,
        "run --sched pct --runs 200 --shard 2/3 --out out -- ./seqlock",
    )
    .stdout;
    assert!(text.contains("seeds 2 to 200 in steps of 3"), "{text}");
}

#[test]
fn a_shard_that_was_made_is_not_made_again() {
    if gcc_is_missing() {
        return;
    }
    let folder = folder("again", Some("seqlock"));
    let part = "run --sched pct --runs 40 --shard 1/2 --out out";
    let first = line(&folder, &format!("{part} -- ./seqlock"));
    let kept = result(&folder, "1-of-2");
    let second = line(&folder, &format!("{part} -- ./seqlock"));
    assert_eq!((second.code, &second.stdout), (first.code, &first.stdout));
    // The time that the runs took is in it.
    assert_eq!(result(&folder, "1-of-2"), kept);
    let other = line(&folder, &format!("{part} --seed 7 -- ./seqlock"));
    assert_eq!(other.code, 2, "{}", other.stdout);
    let difference = "the result of something else; options: --seed 7 and --seed 1";
    assert!(other.stderr.contains(difference), "{}", other.stderr);
}

/// A shard that made 10 of its 30 runs, by the result of one that had no more.
#[test]
fn what_a_shard_leaves_is_split_again() {
    if gcc_is_missing() {
        return;
    }
    let folder = folder("rest", Some("seqlock"));
    let part = |runs: usize, shard: &str| {
        let words = format!("run --sched pct --runs {runs} --shard {shard} --out out -- ./seqlock");
        line(&folder, &words)
    };
    let whole = json(
        &folder,
        "run --sched pct --runs 60 --format json -- ./seqlock",
        1,
    );
    part(20, "1/2");
    let kept = result(&folder, "1-of-2").replace("--runs 20", "--runs 60");
    let kept = kept.replace(
        "\"finished\": true",
        "\"finished\": false, \"left\": \"10\"",
    );
    let file = Path::new(&folder).join("out/shard-1-of-2/result.json");
    std::fs::write(file, kept).expect("a result");
    part(60, "2/2");
    let open = line(&folder, "merge out");
    assert!(
        open.stdout.contains("1 shard is unfinished: 1/2"),
        "{}",
        open.stdout
    );
    for shard in ["1/2.1/3", "1/2.2/3", "1/2.3/3"] {
        let run = part(60, shard);
        assert_eq!(run.code & !1, 0, "{}{}", run.stdout, run.stderr);
    }
    let merged = json(&folder, "merge --format json out", 1);
    assert_eq!(essence(&merged), essence(&whole));
    let run = part(60, "1/2");
    assert!(
        run.stderr.contains("shard 1/2 was split: its parts go on"),
        "{}",
        run.stderr
    );
    let run = part(60, "2/2.1/2");
    assert!(
        run.stderr.contains("shard 2/2 has left nothing"),
        "{}",
        run.stderr
    );
}

#[test]
fn shards_of_an_exploration_show_each_execution_once() {
    if gcc_is_missing() {
        return;
    }
    let folder = folder("explored", Some("additions"));
    let explored = "run --exhaustive --format json";
    let run = line(&folder, &format!("{explored} -- ./additions"));
    let whole: Value = serde_json::from_str(&run.stdout).expect("a document");
    let exploration = &whole["stats"]["schedules"]["exploration"];
    assert_eq!(exploration["complete"], true, "{}", run.stdout);
    assert!(
        exploration["executions"].as_u64() > Some(64),
        "{exploration}"
    );
    for shard in ["2/3", "1/3"] {
        let part = format!("{explored} --shard {shard} --out out -- ./additions");
        let document = json(&folder, &part, 0);
        assert_eq!(document["verdict"], "no-finding", "{document}");
    }
    let open = json(&folder, "merge --format json out", 3);
    assert_eq!(open["verdict"], "unknown");
    assert_eq!(open["notes"][0], "1 shard is missing: 3/3");
    json(
        &folder,
        &format!("{explored} --shard 3/3 --out out -- ./additions"),
        0,
    );
    let merged = json(&folder, "merge --format json out", 0);
    assert_eq!(essence(&merged), essence(&whole));
    assert_eq!(merged["verdict"], "robust");
    let runs = |shard: &str| {
        let kept: Value = serde_json::from_str(&result(&folder, shard)).expect("JSON");
        kept["runs"].as_u64().expect("a number")
    };
    let each = ["1-of-3", "2-of-3", "3-of-3"].map(runs);
    assert!(each.iter().all(|runs| *runs > 10), "{each:?}");
    assert_eq!(merged["stats"]["runs"], each.iter().sum::<u64>());
    // A beginning that another shard did not make.
    let other = result(&folder, "3-of-3").replace("\"dealt\": \"", "\"dealt\": \"0");
    std::fs::write(
        Path::new(&folder).join("out/shard-3-of-3/result.json"),
        other,
    )
    .expect("a result");
    let doubtful = json(&folder, "merge --format json out", 3);
    assert!(
        doubtful["notes"][0]
            .to_string()
            .contains("began differently"),
        "{doubtful}"
    );
}

#[test]
fn weak_runs_and_weak_executions_are_split() {
    if gcc_is_missing() {
        return;
    }
    let folder = folder("weak", Some("sb"));
    for (campaign, out) in [
        ("--strategy random --runs 60", "sampled"),
        ("--exhaustive", "all"),
    ] {
        let explored = format!("explore {campaign} --format json");
        let run = line(&folder, &format!("{explored} -- ./sb"));
        let whole: Value = serde_json::from_str(&run.stdout).expect("a document");
        for shard in ["1/2", "2/2"] {
            line(
                &folder,
                &format!("{explored} --shard {shard} --out {out} -- ./sb"),
            );
        }
        let merged = json(&folder, &format!("merge --format json {out}"), run.code);
        let figures = |document: &Value| {
            let stats = &document["stats"];
            let findings = document["findings"].as_array().map(Vec::len);
            (document["verdict"].clone(), stats["runs"].clone(), findings)
        };
        assert_eq!(figures(&merged), figures(&whole), "{campaign}");
    }
}

#[test]
fn tests_are_split_by_their_places() {
    let folder = folder("litmus", None);
    let files = ["mp", "sb", "2+2w", "sb-sc"].map(|name| data(&format!("{name}.litmus")));
    let files = files.join(" ");
    let whole = line(&folder, &format!("litmus {files}"));
    for shard in ["1/3", "2/3"] {
        line(
            &folder,
            &format!("litmus --shard {shard} --out out {files}"),
        );
    }
    let open = line(&folder, "merge out");
    assert!(
        open.stderr.contains("1 shard is missing: 3/3"),
        "{}",
        open.stderr
    );
    let part = format!("litmus --shard 3/3 --out out {files}");
    let (first, second) = (line(&folder, &part), line(&folder, &part));
    assert_eq!((first.code, first.stdout), (second.code, second.stdout));
    let merged = line(&folder, "merge out");
    assert_eq!((merged.code, merged.stdout), (whole.code, whole.stdout));
    let none = line(&folder, &format!("litmus --shard 9/9 --out out {files}"));
    assert!(
        none.stderr.contains("fewer tests than shards"),
        "{}",
        none.stderr
    );
}

#[test]
fn results_that_do_not_belong_together_are_refused() {
    if gcc_is_missing() {
        return;
    }
    let folder = folder("mixed", Some("seqlock"));
    let part = |words: &str, out: &str| {
        let words = format!("run --sched pct --runs 20 {words} --out {out} -- ./seqlock");
        line(&folder, &words);
    };
    part("--shard 1/2", "a");
    part("--shard 1/2", "b");
    part("--shard 2/3", "c");
    part("--seed 2 --shard 2/2", "d");
    let refused = |words: &str, why: &str| {
        let run = line(&folder, words);
        assert_eq!(run.code, 2, "{words}\n{}{}", run.stdout, run.stderr);
        assert!(run.stderr.contains(why), "{words}\n{}", run.stderr);
    };
    refused(
        "merge a b",
        "shard 1/2 is there twice: a/shard-1-of-2 and b/shard-1-of-2",
    );
    refused("merge a c", "the whole was split in 2 and in 3 parts");
    refused(
        "merge a d",
        "answer different questions; options: --seed 1 and --seed 2",
    );
    refused("merge nowhere", "nowhere: No such file");
    refused("merge .", "no result of a shard in .");
    let run = "run --shard 1/2 --out e";
    refused(
        &format!("{run} -- ./seqlock"),
        "--shard needs --sched or --exhaustive",
    );
    let scheduled = format!("{run} --sched pct");
    refused(
        &format!("{scheduled} --halt-on-error -- ./seqlock"),
        "--halt-on-error is not possible with --shard",
    );
    refused(
        &format!("{scheduled} --until-saturated -- ./seqlock"),
        "--until-saturated is not possible with --shard",
    );
    refused(
        "run --sched pct --runs 1 --shard 2/2 -- ./seqlock",
        "fewer runs than shards",
    );
    refused("run --sched pct --shard 3/2 -- ./seqlock", "expected K/N");
    let file = Path::new(&folder).join("a/shard-1-of-2/result.json");
    std::fs::write(&file, "{").expect("a file");
    refused(
        "merge a",
        "a/shard-1-of-2/result.json: not the result of a shard",
    );
    let entries = std::fs::read_dir(Path::new(&folder).join("b/shard-1-of-2"));
    let mut entries = entries
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path());
    let is_coverage = |file: &PathBuf| file.display().to_string().contains("/coverage-");
    let coverage = entries
        .find(is_coverage)
        .expect("the executions of the part");
    std::fs::write(coverage, "?").expect("a file");
    refused("merge b", ": damaged");
}

#[test]
fn files_for_other_systems_are_printed() {
    let folder = folder("files", None);
    let printed = |words: &str| {
        let run = line(&folder, &format!("campaign --dry-run {words}"));
        assert_eq!(run.code, 0, "{words}\n{}", run.stderr);
        assert!(!Path::new(&folder).join("out").exists());
        run.stdout
    };
    let command = "--shards 3 --out out -- run --sched pct --runs 100 -- ./my_test";
    let text = printed(&format!(
        "--slurm --with=--partition=long --time-limit 10m {command}"
    ));
    for part in [
        "#SBATCH --array=1-3\n",
        "#SBATCH --partition=long\n",
        "#SBATCH --time=15\n",
        "set -- 1/3 2/3 3/3\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(text.ends_with("\ntimes\n"), "{text}");
    let text = printed(&format!("--github --setup make {command}"));
    assert!(
        text.contains("shard: [\"1/3\", \"2/3\", \"3/3\"]"),
        "{text}"
    );
    let text = printed(&format!("--gitlab --setup make {command}"));
    assert!(
        text.contains("- SHARD: [\"1/3\", \"2/3\", \"3/3\"]"),
        "{text}"
    );
    let kubernetes = "--kubernetes --image i --claim c --shards 2 --out /out";
    let text = printed(&format!("{kubernetes} -- run --exhaustive -- ./my_test"));
    assert!(
        text.contains("completions: 2\n") && text.contains("shift \"$JOB_COMPLETION_INDEX\""),
        "{text}"
    );
    for (words, why) in [
        (
            "--slurm -- run ./my_test",
            "only `run` and `check` with --sched or --exhaustive",
        ),
        ("--slurm -- verify a.litmus", "unexpected argument"),
        (
            "--slurm -- run --sched what -- ./my_test",
            "invalid value 'what'",
        ),
        ("-- run ./my_test", "required"),
        (
            "--kubernetes -- run --exhaustive -- ./my_test",
            "needs --image and --claim",
        ),
    ] {
        let run = line(&folder, &format!("campaign --dry-run {words}"));
        assert_eq!(run.code, 2, "{words}\n{}", run.stdout);
        assert!(run.stderr.contains(why), "{words}\n{}", run.stderr);
    }
}

/// Stands for `sbatch`: the tasks are run at once, but the second one of the first array never is: its node has died.
const SBATCH: &str = r#"#!/bin/sh
for script; do :; done
tasks=$(sed -n 's/^#SBATCH --array=1-//p' "$script")
echo "$tasks" >> arrays
for SLURM_ARRAY_TASK_ID in $(seq "$tasks"); do
    export SLURM_ARRAY_TASK_ID
    if [ "$SLURM_ARRAY_TASK_ID" = 2 ] && [ ! -e died ]; then touch died; continue; fi
    sh "$script" > /dev/null 2>&1
done
echo 7
"#;

/// Stands for `squeue`: no task is left.
const SQUEUE: &str = "#!/bin/sh\n";

#[test]
fn a_campaign_makes_again_what_a_node_that_died_has_lost() {
    use std::os::unix::fs::PermissionsExt;
    if gcc_is_missing() {
        return;
    }
    let folder = folder("slurm", Some("seqlock"));
    for (name, text) in [("sbatch", SBATCH), ("squeue", SQUEUE)] {
        let file = Path::new(&folder).join(name);
        std::fs::write(&file, text).expect("a script");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&file, mode).expect("it can be run");
    }
    let whole = json(
        &folder,
        "run --sched pct --runs 60 --format json -- ./seqlock",
        1,
    );
    let words = "campaign --slurm --shards 4 --out out --format json -- run --sched pct --runs 60 -- ./seqlock";
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = rsan(Path::new(&folder));
    command
        .env("PATH", format!("{folder}:{path}"))
        .args(words.split(' '));
    let run: Run = command.output().expect("rsan starts").into();
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    let merged: Value = serde_json::from_str(&run.stdout).expect("a document");
    assert_eq!(essence(&merged), essence(&whole));
    let arrays = std::fs::read_to_string(Path::new(&folder).join("arrays"));
    assert_eq!(arrays.expect("what sbatch was told"), "4\n1\n");
    // All is there: nothing is submitted any more.
    let run: Run = command.output().expect("rsan starts").into();
    assert_eq!(run.code, 1, "{}", run.stderr);
    let arrays = std::fs::read_to_string(Path::new(&folder).join("arrays"));
    assert_eq!(arrays.expect("what sbatch was told"), "4\n1\n");
}
