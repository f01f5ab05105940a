//! `rsan fence --model tso`: the cheapest fences.

use super::{Costs, output, rewrite, source};
use crate::args::FenceArgs;
use crate::input::failure;
use crate::progress::Progress;
use crate::session::Reply;
use crate::tso::{self, Describe, TsoInput};
use rsan_lang::Format;
use rsan_model::automata::StateId;
use rsan_model::{Model, Reason, Source, ThreadId};
use rsan_report::document::{self, RepairChange, RepairKind, Thread};
use rsan_report::{Claim, Command, Document, Judgement, excerpt};
use rsan_tso::{
    FencePlace, FenceSet, Limits, Repair, Stats, Synthesis, Translated, Verdict, cheapest_fences,
    robustness,
};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::atomic::AtomicBool;

/// Costs, at most: the solver computes with floating-point numbers.
const MAX_COST: u64 = 1_000_000;

/// Finds fences for one input.
///
/// # Errors
/// The complete message for the user.
pub(super) fn answer(
    args: &FenceArgs,
    costs: &Costs,
    stop: &AtomicBool,
    input: &TsoInput,
) -> Result<Reply, String> {
    if args.target.is_some() {
        let message = "--target is for ra, rc20 and c20; with --model tso a fence costs 1, or what --cost says";
        return Err(failure(&input.subject, &message));
    }
    check_costs(input, costs)?;
    let cost = |place: FencePlace| {
        let thread = costs.get(&input.automata.threads[place.thread].name);
        let known = thread.and_then(|t| t.get(&cost_name(input, place)?));
        known.copied().unwrap_or(1)
    };
    let limits = tso::limits(&args.limits, stop);
    let mut progress = Progress::new(&input.subject);
    let synthesis = cheapest_fences(&input.automata, &cost, &limits, &mut |found, fences| {
        progress.show(&format!("{found} weak runs forbidden by {fences} fences"));
    });
    drop(progress);
    let mut diff = None;
    if let Synthesis::Repair(repair) = &synthesis
        && (args.output.is_some() || args.diff)
    {
        let places: Vec<FencePlace> = repair.fences.iter().map(|f| f.0).collect();
        let text = repaired(input, &places, &limits)?;
        let old = input.automata.source.as_ref().map_or("", |s| &*s.text);
        diff = output::deliver(args, &input.subject, (old, &text))?;
    }
    Ok(reply(input, &synthesis, &cost, diff))
}

/// The text of the repaired program, which was read back and found robust.
fn repaired(
    input: &TsoInput,
    places: &[FencePlace],
    limits: &Limits<'_>,
) -> Result<String, String> {
    let subject = &input.subject;
    let (text, format) = match &input.origin {
        None => {
            let writable = |p: &FencePlace| rewrite::is_writable(&input.automata, *p);
            let all = places.iter().all(writable);
            let text = all.then(|| rewrite::automata(&input.automata, places));
            (text.flatten(), None)
        }
        Some(origin) => {
            let place = |p: &FencePlace| {
                let pc = origin.places[p.thread][p.state.index()]?;
                Some((ThreadId::new(p.thread), pc))
            };
            let places: Option<Vec<_>> = places.iter().map(place).collect();
            let source = origin.program.source.as_ref();
            let format = source.and_then(|s| Format::detect(&s.name, &s.text));
            let text = places
                .zip(format)
                .and_then(|(places, format)| source::fenced(&origin.program, format, &places));
            (text, format)
        }
    };
    let Some(text) = text else {
        let message = "the fences have no place in the text; the answer without --output and --diff says \
                       where they stand";
        return Err(failure(subject, &message));
    };
    let source = Source::new(subject.as_str(), &*text);
    let repaired = match format {
        None => rsan_lang::parse_automata(&source).ok(),
        Some(format) => rsan_lang::parse(&source, format)
            .ok()
            .map(|program| Translated::from(&program).automata),
    };
    let proof = repaired.map(|a| robustness(&a, &FenceSet::default(), limits).verdict);
    match proof {
        Some(Verdict::Robust) => Ok(text),
        _ => {
            let message = "the repaired text could not be verified; nothing was written";
            Err(failure(subject, &message))
        }
    }
}

/// What a place is called in a file of costs: its control state, or its line.
fn cost_name(input: &TsoInput, place: FencePlace) -> Option<String> {
    let d = Describe {
        automata: &input.automata,
    };
    match &input.origin {
        None => {
            let thread = &input.automata.threads[place.thread];
            Some(thread.states[place.state.index()].name.clone())
        }
        Some(_) => line(d, place).map(|line| line.to_string()),
    }
}

/// Costs of places that are not in the program are a mistake of the user's.
fn check_costs(input: &TsoInput, costs: &Costs) -> Result<(), String> {
    let wrong = |message: String| Err(failure(&input.subject, &message));
    let what = match input.origin {
        None => "state",
        Some(_) => "line",
    };
    for (name, places) in costs {
        let threads = input.automata.threads.iter();
        let Some(thread) = threads.clone().position(|t| t.name == *name) else {
            return wrong(format!(
                "the costs name a thread `{name}`, which is not there"
            ));
        };
        let states = 0..input.automata.threads[thread].states.len() as u32;
        let states = states.map(|s| FencePlace {
            thread,
            state: StateId(s),
        });
        let known: BTreeSet<String> = states.filter_map(|p| cost_name(input, p)).collect();
        if let Some(place) = places.keys().find(|p| !known.contains(*p)) {
            return wrong(format!(
                "the costs name a {what} `{place}` that thread `{name}` does not have"
            ));
        }
        if let Some(cost) = places.values().find(|c| **c > MAX_COST) {
            return wrong(format!("the cost {cost} is larger than {MAX_COST}"));
        }
    }
    Ok(())
}

fn reply(
    input: &TsoInput,
    synthesis: &Synthesis,
    cost: &dyn Fn(FencePlace) -> u64,
    diff: Option<String>,
) -> Reply {
    let d = Describe {
        automata: &input.automata,
    };
    // Of the program with its repair, if there is one.
    let judgement = match synthesis {
        Synthesis::Repair(_) => Judgement::Robust,
        Synthesis::Impossible(_) | Synthesis::Fault(_) => Judgement::Violation,
        Synthesis::Unknown { .. } => Judgement::Unknown,
    };
    let mut document = Document::new(Command::Fence, &input.subject, judgement, Model::Tso);
    document.property = Some(Claim::Robust);
    document.stats = tso::stats(&Stats::default());
    match synthesis {
        Synthesis::Repair(repair) => {
            document.stats = tso::stats(&repair.stats);
            document.repair = Some(repair_document(input, d, repair, cost));
            document.diff = diff;
        }
        Synthesis::Impossible(computation) => {
            let why = "no fence can stand between these two accesses";
            document.notes.push(why.to_owned());
            document.findings.push(tso::violation(d, computation));
            document.sources = excerpt(d.automata.source.as_ref(), &document.findings);
        }
        Synthesis::Fault(_) => {
            let why = "the program fails under sequential consistency already; `rsan verify --model tso` shows how";
            document.notes.push(why.to_owned());
        }
        Synthesis::Unknown {
            reason,
            at_least,
            enough,
        } => {
            let known = known(input, *at_least, enough.as_deref(), cost);
            document.notes.push(format!("{reason}; {known}"));
        }
    }
    let interrupted = matches!(
        synthesis,
        Synthesis::Unknown {
            reason: Reason::Interrupted,
            ..
        }
    );
    Reply {
        status: judgement.into(),
        document,
        interrupted,
    }
}

/// What is known when a limit ends the search.
fn known(
    input: &TsoInput,
    at_least: u64,
    enough: Option<&[FencePlace]>,
    cost: &dyn Fn(FencePlace) -> u64,
) -> String {
    let mut known = format!("every set of fences that works costs at least {at_least}");
    if let Some(places) = enough {
        let price: u64 = places.iter().map(|p| cost(*p)).sum();
        let names: Vec<String> = places.iter().map(|p| place_name(input, *p)).collect();
        let _ = write!(
            known,
            "; this one works and costs {price}: {}",
            names.join(", ")
        );
    }
    known
}

fn repair_document(
    input: &TsoInput,
    d: Describe<'_>,
    found: &Repair,
    cost: &dyn Fn(FencePlace) -> u64,
) -> document::Repair {
    let fences = found
        .fences
        .iter()
        .map(|(place, computation)| RepairChange {
            message: Some(tso::sentence(d, computation)),
            forbids: Some(tso::weak_execution(d, computation)),
            ..fence(input, d, *place, cost)
        });
    let required = found.required.iter();
    document::Repair {
        target: "x86".to_owned(),
        cost: found.cost,
        changes: fences.collect(),
        tried: None,
        required: required
            .map(|places| places.iter().map(|p| fence(input, d, *p, cost)).collect())
            .collect(),
    }
}

/// A fence, before the first thing that follows it.
fn fence(
    input: &TsoInput,
    d: Describe<'_>,
    place: FencePlace,
    cost: &dyn Fn(FencePlace) -> u64,
) -> RepairChange {
    let thread = &d.automata.threads[place.thread];
    let next = thread.leaving(place.state).next();
    let state = &thread.states[place.state.index()].name;
    RepairChange {
        kind: RepairKind::Fence,
        thread: Thread::Name(thread.name.clone()),
        location: next.and_then(|(_, transition)| d.place_of(transition)),
        after: false,
        state: input.origin.is_none().then(|| state.clone()),
        from: None,
        to: "seq_cst".to_owned(),
        cost: cost(place),
        message: None,
        forbids: None,
    }
}

/// The line of the first thing that follows the fence.
fn line(d: Describe<'_>, place: FencePlace) -> Option<usize> {
    let mut leaving = d.automata.threads[place.thread].leaving(place.state);
    let (_, transition) = leaving.next()?;
    d.position(transition).map(|p| p.0)
}

fn place_name(input: &TsoInput, place: FencePlace) -> String {
    let thread = &input.automata.threads[place.thread];
    match (&input.origin, cost_name(input, place)) {
        (Some(_), Some(line)) => format!("{} before line {line}", thread.name),
        _ => {
            let state = &thread.states[place.state.index()].name;
            format!("{} {state}", thread.name)
        }
    }
}
