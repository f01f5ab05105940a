//! A run of a translation against the same run of the model.

use crate::build::Done;
use rsan_clocks::WriteRef;
use rsan_crosscheck::{End, Finding, Run};
use rsan_model::{Program, ThreadId};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A finding, as far as both sides know it.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Seen {
    Weak {
        thread: usize,
        missed: Write,
        stale: Write,
    },
    Race {
        thread: usize,
    },
}

impl Seen {
    /// The same, but for what is seen instead.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Weak { thread, missed, .. },
                Self::Weak {
                    thread: other,
                    missed: also,
                    ..
                },
            ) => (thread, missed) == (other, also),
            (this, other) => this == other,
        }
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Write {
    /// `None` for the initial value.
    thread: Option<usize>,
    value: i32,
}

/// What a run of the translation did differently.
pub(crate) fn differences(program: &Program, run: &Run<'_>, done: &Done) -> Vec<String> {
    let mut wrong = different_end(program, run, done);
    let expected = expected(run);
    let found = found(program, done);
    // In a loop the same two instructions can be involved more than once, and are reported once.
    let missing = expected.is_empty() != found.is_empty();
    if missing || !found.is_subset(&expected) {
        wrong.push(format!("found {found:?}, not {expected:?}"));
    }
    wrong
}

/// The same where waits are recognised: then an old value that differs from the present one is preferred, so the old write may
/// be another one.
pub(crate) fn other_findings(program: &Program, run: &Run<'_>, done: &Done) -> Vec<String> {
    let mut wrong = different_end(program, run, done);
    wrong.extend(not_known(program, run, done, false));
    if expected(run).is_empty() != found(program, done).is_empty() {
        wrong.push("findings on one side only".to_owned());
    }
    wrong
}

/// What a run of the translation found that the monitor does not know, or that a robust program must not have. Which
/// loops are recognised as waits is left open.
pub(crate) fn not_known(
    program: &Program,
    run: &Run<'_>,
    done: &Done,
    robust: bool,
) -> Vec<String> {
    let (expected, found) = (expected(run), found(program, done));
    // A recognised wait has a finding with the newest value that lets it through.
    let known = |seen: &Seen| expected.iter().any(|e| e.is_like(seen));
    let all_known = found.iter().all(known);
    if all_known && (!robust || found.is_empty()) {
        return Vec::new();
    }
    vec![format!(
        "with waits recognised found {found:?}, not from {expected:?}"
    )]
}

/// Whether the program aborts, and its final values.
fn different_end(program: &Program, run: &Run<'_>, done: &Done) -> Vec<String> {
    let aborts = run.last.end() == Some(End::Failure);
    if aborts == done.status.success() {
        vec![format!("{}, {}", done.status, done.stderr)]
    } else if aborts {
        Vec::new()
    } else {
        different_values(program, run, &done.stdout)
    }
}

/// The final values of all locations, and of the registers of threads that ended.
fn different_values(program: &Program, run: &Run<'_>, stdout: &str) -> Vec<String> {
    let mut expected: BTreeMap<String, i32> = BTreeMap::new();
    for (location, value) in program.locations.iter().zip(run.last.memory()) {
        expected.insert(location.name.clone(), *value);
    }
    for (t, thread) in program.threads.iter().enumerate() {
        let values = run.last.registers(ThreadId::new(t)).unwrap_or_default();
        for (register, value) in thread.registers.iter().zip(values) {
            expected.insert(format!("{t}:{}", register.name), *value);
        }
    }
    let printed: BTreeMap<&str, &str> = stdout.lines().filter_map(|l| l.rsplit_once('=')).collect();
    let differs =
        |(name, value): &(&String, &i32)| printed.get(name.as_str()) != Some(&&*value.to_string());
    expected
        .iter()
        .filter(differs)
        .map(|(name, value)| format!("{name} is {:?}, not {value}", printed.get(name.as_str())))
        .collect()
}

/// What the monitor says, in the runtime's numbers: the main thread is 0.
fn expected(run: &Run<'_>) -> BTreeSet<Seen> {
    let order = run.last.creation_order();
    let number = |t: ThreadId| 1 + order.iter().position(|o| *o == t).expect("it was created");
    let write = |w: WriteRef| Write {
        thread: w.thread.map(number),
        value: w.value,
    };
    let seen = |finding: &Finding| match finding {
        Finding::Weak {
            thread, violation, ..
        } => Seen::Weak {
            thread: number(*thread),
            missed: write(violation.missed),
            stale: write(violation.stale),
        },
        Finding::Race(race) => Seen::Race {
            thread: number(race.later.thread),
        },
    };
    run.findings.iter().map(seen).collect()
}

/// What the runtime logged.
fn found(program: &Program, done: &Done) -> BTreeSet<Seen> {
    let thread = |side: &Value| side["thread"].as_u64().map(|t| t as usize);
    let write = |side: &Value| {
        let bits: u32 = side["value"]
            .as_str()
            .and_then(|v| v.parse().ok())
            .unwrap_or(u32::MAX);
        Write {
            thread: thread(side),
            value: match program.domain {
                rsan_model::Domain::Int32 => bits as i32,
                // Some locations hold more than the value; see `rsan_lang::emit`.
                domain => domain.wrap(i64::from(bits)),
            },
        }
    };
    let seen = |finding: &Value| {
        let access = thread(&finding["access"]).expect("an access has a thread");
        match finding["kind"].as_str() {
            Some("race") => Seen::Race { thread: access },
            _ => Seen::Weak {
                thread: access,
                missed: write(&finding["missed"]),
                stale: write(&finding["stale"]),
            },
        }
    };
    done.findings.iter().map(seen).collect()
}
