//! The programs that the authors of Rocker distribute, in the folder `tpl` of RSAN_PUBLISHED: the verdicts in their headers,
//! for both properties and both models, are ours, too.

mod common;

use common::{assert_none, check_all, extended, files, is_loop_free, read};
use rsan_axioms::{Limits, robustness};
use rsan_lang::{Property as Claim, expected_verdicts};
use rsan_model::{Model, Program, Verdict};
use rsan_verify::{Options, Property, verify};
use std::path::{Path, PathBuf};

/// Programs with more than a million states.
const LARGE: &[&str] = &[
    "submission/obs/seqlock_fence.tpl",
    "submission/obs/seqlock_rdmw.tpl",
    "submission/ra/rcu.tpl",
];

/// A header that does not say what is the case.
struct Deviation {
    file: &'static str,
    model: Model,
    claim: Claim,
    /// Why the header is not our verdict.
    reason: &'static str,
}

const UNTRACKED: &str = "the header is about a tool that lumps together all values that no `track` line names, as a \
    comment in the file says: with values told apart, no stale write lets the wait pass";
const SLIP: &str = "with every access release/acquire, what could be stale is ordered by the wait or the load before \
    it; Rocker itself answers robust";

/// The headers that deviate from the exact answer; checked to be still deviating.
const DEVIATIONS: &[Deviation] = &[
    deviation("litmus/ra/wait2.tpl", Model::Ra, Claim::Robust, UNTRACKED),
    deviation(
        "litmus/ra/wait2.tpl",
        Model::Ra,
        Claim::Observational,
        UNTRACKED,
    ),
    deviation("litmus/ra/wait2.tpl", Model::Rc20, Claim::Robust, UNTRACKED),
    deviation(
        "litmus/ra/wait2.tpl",
        Model::Rc20,
        Claim::Observational,
        UNTRACKED,
    ),
    deviation("litmus/rlx/wait2.tpl", Model::Ra, Claim::Robust, UNTRACKED),
    deviation(
        "litmus/rlx/wait2.tpl",
        Model::Ra,
        Claim::Observational,
        UNTRACKED,
    ),
    deviation(
        "litmus/rlx/wait2.tpl",
        Model::Rc20,
        Claim::Robust,
        UNTRACKED,
    ),
    deviation(
        "litmus/rlx/wait2.tpl",
        Model::Rc20,
        Claim::Observational,
        UNTRACKED,
    ),
    deviation(
        "litmus/obs/sb_but_valid.tpl",
        Model::Ra,
        Claim::Robust,
        SLIP,
    ),
    deviation(
        "litmus/obs/speculative_compute2.tpl",
        Model::Ra,
        Claim::Robust,
        SLIP,
    ),
];

const fn deviation(
    file: &'static str,
    model: Model,
    claim: Claim,
    reason: &'static str,
) -> Deviation {
    Deviation {
        file,
        model,
        claim,
        reason,
    }
}

/// The programs, by their path below the root.
fn programs() -> Vec<(String, PathBuf)> {
    let Some(published) = std::env::var_os("RSAN_PUBLISHED") else {
        eprintln!("skipped: RSAN_PUBLISHED does not name the folder of published programs");
        return Vec::new();
    };
    let root = Path::new(&published).join("tpl");
    let found = files(&root);
    assert!(!found.is_empty(), "no programs in {}", root.display());
    let named = found.into_iter().map(|path| {
        let below = path.strip_prefix(&root).expect("below the root");
        (below.to_string_lossy().replace('\\', "/"), path)
    });
    named.collect()
}

fn holds(program: &Program, model: Model, claim: Claim) -> Result<bool, String> {
    let property = match claim {
        Claim::Robust => Property::Robust,
        Claim::Observational => Property::Observational,
    };
    let options = Options {
        property,
        workers: 1,
        ..Options::new(model)
    };
    let outcome = verify(program, &options, &mut |_| {}).map_err(|e| e.to_string())?;
    match outcome.verdict {
        Verdict::Robust => Ok(true),
        Verdict::Violation(_) => Ok(false),
        Verdict::Unknown(reason) => Err(reason.to_string()),
    }
}

#[test]
fn published_programs_have_their_published_verdicts() {
    let mut programs = programs();
    programs.retain(|(name, _)| {
        let skipped = LARGE.contains(&name.as_str()) && !extended();
        if skipped {
            eprintln!("skipped without RSAN_EXTENDED=1, more than a million states: {name}");
        }
        !skipped
    });
    let wrong = check_all(&programs, |(name, path)| {
        let (program, text) = read(path);
        let expected = expected_verdicts(&text);
        let mut wrong = Vec::new();
        for model in [Model::Ra, Model::Rc20] {
            for claim in [Claim::Robust, Claim::Observational] {
                let Some(header) = expected.get(claim, model) else {
                    continue;
                };
                let deviates = DEVIATIONS
                    .iter()
                    .find(|d| (d.file, d.model, d.claim) == (name, model, claim));
                let found = holds(&program, model, claim);
                if found != Ok(header != deviates.is_some()) {
                    let note = deviates.map_or("", |d| d.reason);
                    wrong.push(format!(
                        "{name} {model} {claim:?}: {found:?}, header {header} {note}"
                    ));
                }
            }
        }
        wrong
    });
    assert_none(&wrong);
}

/// The oracle, which looks at all execution graphs, decides between the header and the search.
#[test]
fn the_oracle_contradicts_the_headers_that_deviate() {
    for (name, path) in programs() {
        let (program, text) = read(&path);
        for deviation in DEVIATIONS.iter().filter(|d| d.file == name) {
            let Deviation { model, claim, .. } = *deviation;
            assert!(is_loop_free(&program), "{name}");
            let header = expected_verdicts(&text).get(claim, model);
            assert_eq!(
                header,
                Some(false),
                "{name} {model} {claim:?} has another header now"
            );
            let answer = robustness(&program, model, &Limits::default()).expect("a program");
            assert_eq!((answer.robust, answer.cut), (true, None), "{name} {model}");
        }
    }
}
