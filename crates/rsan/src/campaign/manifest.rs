//! Files for systems that run shards: an indexed Job of Kubernetes, and matrices of CI systems.

use super::{Campaign, Round, script};
use crate::args::System;
use crate::sanitizer::campaign::quoted;

/// The file of a round.
///
/// # Errors
/// The message for the user.
pub(super) fn of(system: System, campaign: &Campaign<'_>, round: &Round) -> Result<String, String> {
    match system {
        System::Kubernetes => kubernetes(campaign, round),
        System::Github => Ok(github(campaign, round)),
        System::Gitlab => Ok(gitlab(campaign, round)),
        System::Slurm => Ok(script::of_slurm(campaign, round)),
    }
}

fn kubernetes(campaign: &Campaign<'_>, round: &Round) -> Result<String, String> {
    let args = campaign.args;
    let (Some(image), Some(claim)) = (&args.image, &args.claim) else {
        return Err("--kubernetes needs --image and --claim".to_owned());
    };
    if !campaign.out.is_absolute() {
        return Err("--kubernetes needs an absolute --out, where the volume is mounted".to_owned());
    }
    let commands = script::numbered(campaign, round, "\"$JOB_COMPLETION_INDEX\"");
    let (number, shards) = (round.number, round.shards.len());
    let out = text(&campaign.out.to_string_lossy());
    let (image, claim, cpus) = (text(image), text(claim), args.cpus);
    let commands = indented(&commands, 14);
    // Pods that fail are made again; those of nodes that die, too.
    let failures = shards.saturating_mul(2);
    Ok(format!(
        "apiVersion: batch/v1
kind: Job
metadata:
  name: rsan-round-{number}
spec:
  completionMode: Indexed
  completions: {shards}
  parallelism: {shards}
  backoffLimit: {failures}
  template:
    spec:
      restartPolicy: OnFailure
      containers:
        - name: rsan
          image: {image}
          command:
            - /bin/sh
            - -c
            - |
{commands}          resources:
            requests:
              cpu: \"{cpus}\"
          volumeMounts:
            - name: results
              mountPath: {out}
      volumes:
        - name: results
          persistentVolumeClaim:
            claimName: {claim}
"
    ))
}

fn github(campaign: &Campaign<'_>, round: &Round) -> String {
    let setup = |indent: usize| {
        let blank = " ".repeat(indent);
        let steps = campaign.args.setup.iter();
        let step = |command: &String| format!("{blank}- run: {}\n", text(command));
        steps.map(step).collect::<String>()
    };
    let command = text(&script::named(campaign, "\"$SHARD\""));
    let out = text(&campaign.out.to_string_lossy());
    let merge = text(&format!(
        "rsan merge {}",
        quoted(&campaign.out.to_string_lossy())
    ));
    let (shards, setup) = (names(round), setup(6));
    format!(
        "name: rsan
on: workflow_dispatch
jobs:
  shard:
    runs-on: ubuntu-latest
    strategy:
      fail-fast: false
      matrix:
        shard: [{shards}]
    steps:
      - uses: actions/checkout@v4
{setup}      - run: {command}
        env:
          SHARD: ${{{{ matrix.shard }}}}
      - uses: actions/upload-artifact@v4
        if: always()
        with:
          name: rsan-${{{{ strategy.job-index }}}}
          path: {out}
  merge:
    needs: shard
    if: always()
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
{setup}      - uses: actions/download-artifact@v4
        with:
          pattern: rsan-*
          path: {out}
          merge-multiple: true
      - run: {merge}
"
    )
}

fn gitlab(campaign: &Campaign<'_>, round: &Round) -> String {
    let line = |command: &String| format!("    - {}\n", text(command));
    let setup: String = campaign.args.setup.iter().map(line).collect();
    let command = line(&script::named(campaign, "\"$SHARD\""));
    let out = campaign.out.to_string_lossy();
    let merge = line(&format!("rsan merge {}", quoted(&out)));
    let (out, shards) = (text(&out), names(round));
    format!(
        "shard:
  parallel:
    matrix:
      - SHARD: [{shards}]
  script:
{setup}{command}  artifacts:
    when: always
    paths:
      - {out}
merge:
  needs: [shard]
  when: always
  script:
{setup}{merge}"
    )
}

/// The shards of a round, for a list.
fn names(round: &Round) -> String {
    let names: Vec<_> = round
        .shards
        .iter()
        .map(|shard| text(&shard.to_string()))
        .collect();
    names.join(", ")
}

/// A string of YAML, which takes those of JSON.
fn text(words: &str) -> String {
    serde_json::Value::from(words).to_string()
}

/// Lines of a block.
fn indented(lines: &str, by: usize) -> String {
    let blank = " ".repeat(by);
    lines
        .lines()
        .map(|line| format!("{blank}{line}\n"))
        .collect()
}
