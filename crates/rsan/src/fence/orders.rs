//! `rsan fence --model ra|rc20|c20`: the cheapest fences and stronger orders.

use super::{Costs, output, source};
use crate::args::FenceArgs;
use crate::input::{Input, failure};
use crate::progress::Progress;
use crate::session::{Answer, Reply};
use crate::verify::settle;
use rsan_lang::Format;
use rsan_model::{Instr, Model, Reason, Source, Verdict};
use rsan_repair::{Kind, Proved, Repair, Site, Synthesis, Target, cheapest, sites};
use rsan_report::number::plural;
use rsan_report::{Checked, Claim, Effort, Judgement, Role, Style, document, sentence};
use rsan_verify::{Options, verify};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::atomic::AtomicBool;

/// Weights of lines, at most: the solver computes with floating-point numbers.
const MAX_WEIGHT: u64 = 10_000;

/// A repair for machines; the same top level as the documents of `rsan-report`.
#[derive(Debug, Serialize)]
pub(crate) struct RepairDocument {
    schema: &'static str,
    command: &'static str,
    subject: String,
    /// Of the repaired program.
    verdict: Judgement,
    model: &'static str,
    property: &'static str,
    target: &'static str,
    repair: ChangesDoc,
    /// The repaired program, as a unified diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
    findings: [(); 0],
    stats: StatsDoc,
}

#[derive(Debug, Serialize)]
struct ChangesDoc {
    cost: u64,
    changes: Vec<ChangeDoc>,
    /// Sets of changes that were tried before.
    tried: usize,
}

#[derive(Debug, Serialize)]
struct ChangeDoc {
    /// `fence` (before the access) or `order` (of the access).
    kind: &'static str,
    thread: String,
    line: Option<usize>,
    column: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    to: String,
    cost: u64,
    /// What goes wrong without it.
    message: String,
}

#[derive(Debug, Serialize)]
struct StatsDoc {
    states: u64,
    transitions: u64,
    seconds: f64,
}

/// Repairs one input.
///
/// # Errors
/// The complete message for the user.
pub(super) fn answer(
    args: &FenceArgs,
    model: Model,
    weights: &Costs,
    stop: &AtomicBool,
    input: &Input,
    style: Style,
) -> Result<Reply, String> {
    let program = &input.program;
    let options = args.limits.options(model, stop);
    let format = program
        .source
        .as_ref()
        .and_then(|s| Format::detect(&s.name, &s.text))
        .ok_or_else(|| failure(&input.subject, &"the language of the program is not known"))?;
    let target = args.target.unwrap_or_default();
    let scope = source::scope(program, format);
    let mut sites = sites(program, model, &scope, target);
    weigh(input, &mut sites, weights)?;
    let mut progress = Progress::new(&input.subject);
    let synthesis = cheapest(program, &sites, &options, &mut |tried, cost| {
        progress.show(&format!("{tried} sets of changes fail; trying cost {cost}"));
    });
    drop(progress);
    let synthesis = match synthesis {
        Ok(synthesis) => synthesis,
        // The message for the user is the verifier's.
        Err(error) => match settle(Err(error), input)?.verdict {
            Verdict::Unknown(reason) => Synthesis::Unknown {
                reason,
                at_least: 0,
            },
            Verdict::Robust | Verdict::Violation(_) => unreachable!("an error is no verdict"),
        },
    };
    let mut reply = reply(input, model, target, &synthesis, style);
    if let Synthesis::Repair(repair) = &synthesis
        && (args.output.is_some() || args.diff)
    {
        let text = repaired(input, format, repair, &options)?;
        let old = program.source.as_ref().map_or("", |s| &*s.text);
        if let Some(diff) = output::deliver(args, &input.subject, (old, &text))? {
            if let Answer::Repair(document) = &mut reply.document {
                document.diff = Some(diff.clone());
            }
            reply.text = diff;
        }
    }
    Ok(reply)
}

/// Multiplies what changes cost by the weights of their lines.
fn weigh(input: &Input, sites: &mut [Site], weights: &Costs) -> Result<(), String> {
    let Some(source) = &input.program.source else {
        return Ok(());
    };
    let place = |site: &Site| {
        let thread = &input.program.threads[site.thread.index()];
        let (line, _) = source.line_column(thread.span(site.pc).start);
        (thread.name.clone(), line.to_string())
    };
    let places: BTreeSet<(String, String)> = sites.iter().map(place).collect();
    for (thread, lines) in weights {
        for (line, weight) in lines {
            if !places.contains(&(thread.clone(), line.clone())) {
                let message = format!(
                    "the costs name line {line} of thread `{thread}`, where nothing can be changed"
                );
                return Err(failure(&input.subject, &message));
            }
            if *weight > MAX_WEIGHT {
                let message = format!("the cost {weight} is larger than {MAX_WEIGHT}");
                return Err(failure(&input.subject, &message));
            }
        }
    }
    for site in sites {
        let (thread, line) = place(site);
        if let Some(weight) = weights.get(&thread).and_then(|t| t.get(&line)) {
            site.options.iter_mut().for_each(|o| o.cost *= weight);
        }
    }
    Ok(())
}

/// The text of the repaired program, which was read back and verified.
fn repaired(
    input: &Input,
    format: Format,
    repair: &Repair,
    options: &Options<'_>,
) -> Result<String, String> {
    let subject = &input.subject;
    let text = source::rewritten(&input.program, format, &repair.changes);
    let Some(text) = text else {
        let message = "the changes have no place in the text; the answer without --output and --diff says what they are";
        return Err(failure(subject, &message));
    };
    let source = Source::new(subject.as_str(), &*text);
    let proof = rsan_lang::parse(&source, format)
        .ok()
        .and_then(|program| verify(&program, options, &mut |_| {}).ok());
    if proof.map(|outcome| outcome.verdict) != Some(Verdict::Robust) {
        let message = "the repaired text could not be verified; nothing was written";
        return Err(failure(subject, &message));
    }
    Ok(text)
}

fn reply(
    input: &Input,
    model: Model,
    target: Target,
    synthesis: &Synthesis,
    style: Style,
) -> Reply {
    let (program, verdict, why) = match synthesis {
        Synthesis::Repair(repair) => {
            return Reply {
                status: Judgement::Robust.into(),
                text: repair_text(input, model, target, repair, style),
                document: Answer::Repair(Box::new(repair_document(input, model, target, repair))),
                dot: None,
                interrupted: false,
            };
        }
        Synthesis::Impossible(program, witness) => (
            &**program,
            Verdict::Violation(witness.clone()),
            "no fences and orders help; this is left",
        ),
        Synthesis::Fault(witness) => (
            &input.program,
            Verdict::Violation(witness.clone()),
            "the program fails under sequential consistency already",
        ),
        Synthesis::Unknown { reason, .. } => (
            &input.program,
            Verdict::Unknown(reason.clone()),
            "the search for a repair did not end",
        ),
    };
    let checked = Checked {
        command: "fence",
        subject: &input.subject,
        program,
        model,
        claim: Claim::Robust,
        verdict: &verdict,
        effort: Effort::default(),
    };
    let head = match &verdict {
        Verdict::Unknown(_) => style.paint(Role::Undecided, "unknown"),
        _ => style.paint(Role::Bad, "not repaired"),
    };
    let subject = &input.subject;
    let known = match synthesis {
        Synthesis::Unknown { at_least, .. } if *at_least > 0 => {
            format!("; every repair costs {at_least} or more ({target})")
        }
        _ => String::new(),
    };
    let details = match &verdict {
        Verdict::Unknown(reason) => format!("  {reason}{known}\n"),
        Verdict::Violation(witness) => format!("  {}\n", sentence(program, model, witness)),
        Verdict::Robust => unreachable!("a robust program is repaired"),
    };
    Reply {
        status: checked.judgement().into(),
        text: format!("{subject}: {head}: {why}\n{details}"),
        document: Answer::Read(Box::new(document(&checked))),
        dot: None,
        interrupted: verdict == Verdict::Unknown(Reason::Interrupted),
    }
}

fn repair_text(
    input: &Input,
    model: Model,
    target: Target,
    repair: &Repair,
    style: Style,
) -> String {
    let subject = &input.subject;
    let states = plural(repair.stats.states, "state");
    if repair.changes.is_empty() {
        let fine = style.paint(Role::Good, &format!("robust against {model}"));
        return format!("{subject}: {fine} without any change ({states})\n");
    }
    let n = plural(repair.changes.len() as u64, "change");
    let make = if repair.changes.len() == 1 {
        "makes"
    } else {
        "make"
    };
    let cost = repair.cost;
    let head = format!("{n} of cost {cost} ({target}) {make} it robust against {model}");
    let mut out = format!("{subject}: {}\n\n", style.paint(Role::Good, &head));
    for change in &repair.changes {
        let what = style.paint(Role::Strong, &headline(input, change));
        let why = sentence(&change.without, model, &change.witness);
        let _ = writeln!(out, "{what}\n  without it: {why}");
    }
    let covered = match repair.tried {
        1 => "1 failing set covers them all".to_owned(),
        n => format!("{n} failing sets cover them all"),
    };
    let _ = writeln!(
        out,
        "\nThe repaired program verifies ({states}). With one change left out or weaker it does not, nor with any cheaper changes\n\
         ({covered})."
    );
    out
}

/// `thread P0, sb.litmus:7: what is changed, and its price`
fn headline(input: &Input, change: &Proved) -> String {
    let doc = change_doc(input, change, String::new());
    let place = doc
        .line
        .map_or(String::new(), |l| format!(", {}:{l}", input.subject));
    let ChangeDoc {
        thread, to, cost, ..
    } = &doc;
    match &doc.from {
        None => format!("thread {thread}{place}: a {to} fence before this access, cost {cost}"),
        Some(from) => format!("thread {thread}{place}: {from} becomes {to}, cost {cost}"),
    }
}

fn change_doc(input: &Input, change: &Proved, message: String) -> ChangeDoc {
    let site = &change.site;
    let option = &site.options[change.option];
    let thread = &input.program.threads[site.thread.index()];
    let source = input.program.source.as_ref();
    let place = source.map(|s| s.line_column(thread.span(site.pc).start));
    let old = thread.instr(site.pc);
    ChangeDoc {
        kind: match site.kind {
            Kind::Insert => "fence",
            Kind::Raise => "order",
        },
        thread: thread.name.clone(),
        line: place.map(|p| p.0),
        column: place.map(|p| p.1),
        from: (site.kind == Kind::Raise).then(|| orders(old)),
        to: orders(&option.instr),
        cost: option.cost,
        message,
    }
}

/// The orders of an instruction; that of a failure only where it differs from what the success reads with.
fn orders(instr: &Instr) -> String {
    match instr {
        Instr::Load { ord, .. } | Instr::Wait { ord, .. } => ord.to_string(),
        Instr::Store { ord, .. } => ord.to_string(),
        Instr::Rmw { ord, .. } | Instr::Bcas { ord, .. } => ord.to_string(),
        Instr::Cas { ord, fail, .. } if *fail == ord.read() => ord.to_string(),
        Instr::Cas { ord, fail, .. } => format!("{ord} (on failure {fail})"),
        Instr::Fence(ord) => ord.to_string(),
        _ => unreachable!("only atomics and fences have orders"),
    }
}

fn repair_document(input: &Input, model: Model, target: Target, repair: &Repair) -> RepairDocument {
    let change = |c: &Proved| change_doc(input, c, sentence(&c.without, model, &c.witness));
    RepairDocument {
        schema: "rsan/1",
        command: "fence",
        subject: input.subject.clone(),
        verdict: Judgement::Robust,
        model: model.name(),
        property: "robust",
        target: target.name(),
        repair: ChangesDoc {
            cost: repair.cost,
            changes: repair.changes.iter().map(change).collect(),
            tried: repair.tried,
        },
        diff: None,
        findings: [],
        stats: StatsDoc {
            states: repair.stats.states,
            transitions: repair.stats.transitions,
            seconds: repair.stats.elapsed.as_secs_f64(),
        },
    }
}
