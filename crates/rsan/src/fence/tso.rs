//! `rsan fence --model tso`: the cheapest fences.

use super::{Costs, output, rewrite, source};
use crate::args::FenceArgs;
use crate::input::failure;
use crate::progress::Progress;
use crate::session::{Answer, Reply};
use crate::tso::{
    self, Describe, TsoDocument, TsoInput, computation_doc, computation_text, explored,
};
use rsan_lang::Format;
use rsan_model::automata::StateId;
use rsan_model::{Reason, Source, ThreadId};
use rsan_report::{Judgement, Role, Style};
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
    style: Style,
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
    Ok(reply(input, &synthesis, &cost, diff, style))
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
    style: Style,
) -> Reply {
    let d = Describe {
        automata: &input.automata,
    };
    let subject = &input.subject;
    let stats = match synthesis {
        Synthesis::Repair(repair) => repair.stats,
        _ => Stats::default(),
    };
    // Of the program with its repair, if there is one.
    let judgement = match synthesis {
        Synthesis::Repair(_) => Judgement::Robust,
        Synthesis::Impossible(_) | Synthesis::Fault(_) => Judgement::Violation,
        Synthesis::Unknown { .. } => Judgement::Unknown,
    };
    let mut document = TsoDocument::new("fence", subject, judgement, "robust", &stats);
    let text = match synthesis {
        Synthesis::Repair(repair) => {
            document.repair = Some(repair_doc(d, repair, cost));
            document.diff = diff.clone();
            diff.unwrap_or_else(|| repair_text(input, repair, cost, style))
        }
        Synthesis::Impossible(computation) => {
            let why = "no fence can stand between these two accesses";
            document.reason = Some(why.to_owned());
            format!(
                "{subject}: {}: {why}\n\n{}",
                style.paint(Role::Bad, "not repaired"),
                computation_text(d, computation, style)
            )
        }
        Synthesis::Fault(_) => {
            let why = "the program fails under sequential consistency already; `rsan verify --model tso` shows how";
            document.reason = Some(why.to_owned());
            format!(
                "{subject}: {}: {why}\n",
                style.paint(Role::Bad, "not repaired")
            )
        }
        Synthesis::Unknown {
            reason,
            at_least,
            enough,
        } => {
            let known = known(input, *at_least, enough.as_deref(), cost);
            document.reason = Some(format!("{reason}; {known}"));
            format!(
                "{subject}: {}: {reason}\n{known}\n",
                style.paint(Role::Undecided, "unknown")
            )
        }
    };
    Reply {
        status: judgement.into(),
        text,
        document: Answer::Tso(Box::new(document)),
        dot: None,
        interrupted: matches!(
            synthesis,
            Synthesis::Unknown {
                reason: Reason::Interrupted,
                ..
            }
        ),
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

fn repair_doc(
    d: Describe<'_>,
    repair: &Repair,
    cost: &dyn Fn(FencePlace) -> u64,
) -> tso::RepairDoc {
    tso::RepairDoc {
        cost: repair.cost,
        fences: repair
            .fences
            .iter()
            .map(|(place, computation)| tso::FenceDoc {
                place: place_doc(d, *place),
                cost: cost(*place),
                forbids: computation_doc(d, computation),
            })
            .collect(),
        required: repair
            .required
            .iter()
            .map(|places| places.iter().map(|p| place_doc(d, *p)).collect())
            .collect(),
    }
}

fn place_doc(d: Describe<'_>, place: FencePlace) -> tso::PlaceDoc {
    let thread = &d.automata.threads[place.thread];
    tso::PlaceDoc {
        thread: thread.name.clone(),
        state: thread.states[place.state.index()].name.clone(),
        line: line(d, place),
    }
}

/// The line of the first thing that follows the fence.
fn line(d: Describe<'_>, place: FencePlace) -> Option<usize> {
    let mut leaving = d.automata.threads[place.thread].leaving(place.state);
    let (_, transition) = leaving.next()?;
    d.position(transition).map(|p| p.0)
}

fn repair_text(
    input: &TsoInput,
    repair: &Repair,
    cost: &dyn Fn(FencePlace) -> u64,
    style: Style,
) -> String {
    let d = Describe {
        automata: &input.automata,
    };
    let subject = &input.subject;
    if repair.fences.is_empty() {
        let fine = style.paint(Role::Good, "robust against tso");
        return format!(
            "{subject}: {fine} without any fence\n{}\n",
            explored(&repair.stats)
        );
    }
    let n = repair.fences.len();
    let fences = if n == 1 {
        "1 fence"
    } else {
        &format!("{n} fences")
    };
    let head = format!(
        "{fences} of cost {} make it robust against tso",
        repair.cost
    );
    let mut out = format!("{subject}: {}\n\n", style.paint(Role::Good, &head));
    for (place, computation) in &repair.fences {
        let _ = writeln!(
            out,
            "{}",
            style.paint(Role::Strong, &placed(input, d, *place, cost))
        );
        let _ = writeln!(out, "  forbids: {}", tso::sentence(d, computation));
    }
    let _ = writeln!(
        out,
        "\nNone can be left out, and no set of fences is cheaper: every set needs one of each of these places."
    );
    for places in &repair.required {
        let names: Vec<String> = places.iter().map(|p| place_name(input, *p)).collect();
        let _ = writeln!(out, "  {}", names.join(" or "));
    }
    let _ = writeln!(out, "{}", explored(&repair.stats));
    out
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

fn placed(
    input: &TsoInput,
    d: Describe<'_>,
    place: FencePlace,
    cost: &dyn Fn(FencePlace) -> u64,
) -> String {
    let thread = &d.automata.threads[place.thread];
    let price = match cost(place) {
        1 => String::new(),
        n => format!(", cost {n}"),
    };
    let line = line(d, place).map_or(String::new(), |l| format!("{}:{l}", input.subject));
    match &input.origin {
        Some(_) => format!(
            "thread {}: a seq_cst fence before {line}{price}",
            thread.name
        ),
        None => {
            let state = &thread.states[place.state.index()].name;
            format!(
                "thread {}: mfence in state {state} ({line}){price}",
                thread.name
            )
        }
    }
}
