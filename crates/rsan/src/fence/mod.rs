//! `rsan fence`: the cheapest fences that make a program robust, and the proof that each is needed.

mod orders;
mod rewrite;
mod source;

pub(crate) use orders::RepairDocument;

use crate::args::FenceArgs;
use crate::input::failure;
use crate::interrupt;
use crate::progress::Progress;
use crate::session::{Answer, Reply, Session, accept_all, eprint};
use crate::status::Status;
use crate::tso::{
    self, Describe, TsoDocument, TsoInput, computation_doc, computation_text, explored,
};
use rsan_model::{Model, Reason, Source};
use rsan_report::{Role, Style};
use rsan_tso::{
    FencePlace, FenceSet, Limits, Repair, Stats, Synthesis, Verdict, cheapest_fences, robustness,
};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Costs by thread and control state; what is not there costs 1.
type Costs = BTreeMap<String, BTreeMap<String, u64>>;

/// Finds fences for every input.
pub(crate) fn run(args: &FenceArgs) -> Status {
    let Some(stop) = interrupt::stop_flag() else {
        return Status::BadInput;
    };
    let costs = match args.cost.as_deref().map_or(Ok(Costs::new()), read_costs) {
        Ok(costs) => costs,
        Err(message) => {
            eprint(&message);
            return Status::BadInput;
        }
    };
    let session = Session {
        files: &args.files,
        format: args.format,
        dot: None,
        refuse: accept_all,
    };
    session.run(&mut |file, style| answer(args, &costs, &stop, file, style))
}

fn read_costs(path: &Path) -> Result<Costs, String> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|e| failure(&name, &e))?;
    serde_json::from_str(&text).map_err(|e| {
        let message = format!("{e}; expected {{\"thread\": {{\"state\": cost}}}}");
        failure(&name, &message)
    })
}

fn answer(
    args: &FenceArgs,
    costs: &Costs,
    stop: &AtomicBool,
    file: &str,
    style: Style,
) -> Result<Reply, String> {
    if args.model != Model::Tso {
        return orders::answer(args, costs, stop, file, style);
    }
    if args.target.is_some() {
        let message = "--target is for ra, rc20 and c20; with --model tso a fence costs 1, or what --cost says";
        return Err(failure(file, &message));
    }
    let input = tso::read(file)?;
    check_costs(&input, costs)?;
    let cost = |place: FencePlace| {
        let thread = &input.automata.threads[place.thread];
        let state = &thread.states[place.state.index()].name;
        let known = costs.get(&thread.name).and_then(|t| t.get(state));
        known.copied().unwrap_or(1)
    };
    let limits = tso::limits(args.memory_limit, args.time_limit, args.jobs, stop);
    let mut progress = Progress::new(&input.subject);
    let synthesis = cheapest_fences(&input.automata, &cost, &limits, &mut |found, fences| {
        progress.show(&format!("{found} weak runs forbidden by {fences} fences"));
    });
    drop(progress);
    if let (Some(path), Synthesis::Repair(repair)) = (&args.output, &synthesis) {
        write_repaired(&input, repair, path, &limits)?;
    }
    Ok(reply(&input, &synthesis, &cost, style))
}

/// Writes the repaired program, after reading it back and finding it robust.
fn write_repaired(
    input: &TsoInput,
    repair: &Repair,
    path: &Path,
    limits: &Limits<'_>,
) -> Result<(), String> {
    let subject = &input.subject;
    let places: Vec<FencePlace> = repair.fences.iter().map(|f| f.0).collect();
    let all = places
        .iter()
        .all(|p| rewrite::is_writable(&input.automata, *p));
    let text = match &input.places {
        None if all => rewrite::automata(&input.automata, &places),
        _ => None,
    };
    let Some(text) = text else {
        let message =
            "--output is only available for automata; the answer says where the fences stand";
        return Err(failure(subject, &message));
    };
    let source = Source::new(subject.as_str(), &*text);
    let repaired = rsan_lang::parse_automata(&source);
    let proof = repaired.map(|a| robustness(&a, &FenceSet::default(), limits).verdict);
    if proof != Ok(Verdict::Robust) {
        let message = "the repaired text could not be verified; nothing was written";
        return Err(failure(subject, &message));
    }
    let name = path.display().to_string();
    std::fs::write(path, text).map_err(|e| failure(&name, &e))
}

/// Costs of places that are not in the program are a mistake of the user's.
fn check_costs(input: &TsoInput, costs: &Costs) -> Result<(), String> {
    for (name, states) in costs {
        let thread = input.automata.threads.iter().find(|t| t.name == *name);
        let Some(thread) = thread else {
            let message = format!("the costs name a thread `{name}`, which is not there");
            return Err(failure(&input.subject, &message));
        };
        let unknown = |state: &&String| !thread.states.iter().any(|s| s.name == **state);
        if let Some(state) = states.keys().find(unknown) {
            let message =
                format!("the costs name a state `{state}` that thread `{name}` does not have");
            return Err(failure(&input.subject, &message));
        }
    }
    Ok(())
}

fn reply(
    input: &TsoInput,
    synthesis: &Synthesis,
    cost: &dyn Fn(FencePlace) -> u64,
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
    let mut document = TsoDocument::new("fence", subject, "robust", &stats);
    let (status, text) = match synthesis {
        Synthesis::Repair(repair) => {
            document.repair = Some(repair_doc(d, repair, cost));
            (Status::Clean, repair_text(input, repair, cost, style))
        }
        Synthesis::Impossible(computation) => {
            document.verdict = "violation";
            let why = "no fence can stand between these two accesses";
            document.reason = Some(why.to_owned());
            let text = format!(
                "{subject}: {}: {why}\n\n{}",
                style.paint(Role::Bad, "not repaired"),
                computation_text(d, computation, style)
            );
            (Status::Finding, text)
        }
        Synthesis::Fault(_) => {
            document.verdict = "violation";
            let why = "the program fails under sequential consistency already; `rsan verify --model tso` shows how";
            document.reason = Some(why.to_owned());
            let text = format!(
                "{subject}: {}: {why}\n",
                style.paint(Role::Bad, "not repaired")
            );
            (Status::Finding, text)
        }
        Synthesis::Unknown {
            reason,
            at_least,
            enough,
        } => {
            document.verdict = "unknown";
            let known = known(d, *at_least, enough.as_deref(), cost);
            document.reason = Some(format!("{reason}; {known}"));
            let text = format!(
                "{subject}: {}: {reason}\n{known}\n",
                style.paint(Role::Undecided, "unknown")
            );
            (Status::Undecided, text)
        }
    };
    Reply {
        status,
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
    d: Describe<'_>,
    at_least: u64,
    enough: Option<&[FencePlace]>,
    cost: &dyn Fn(FencePlace) -> u64,
) -> String {
    let mut known = format!("every set of fences that works costs at least {at_least}");
    if let Some(places) = enough {
        let price: u64 = places.iter().map(|p| cost(*p)).sum();
        let names: Vec<String> = places.iter().map(|p| place_name(d, *p)).collect();
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
        let names: Vec<String> = places.iter().map(|p| place_name(d, *p)).collect();
        let _ = writeln!(out, "  {}", names.join(" or "));
    }
    let _ = writeln!(out, "{}", explored(&repair.stats));
    out
}

fn place_name(d: Describe<'_>, place: FencePlace) -> String {
    let thread = &d.automata.threads[place.thread];
    let state = &thread.states[place.state.index()].name;
    format!("{} {state}", thread.name)
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
    match &input.places {
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
