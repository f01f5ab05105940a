//! `rsan fence --model ra|rc20|c20`: the cheapest fences and stronger orders.

use super::{Costs, output, source};
use crate::args::FenceArgs;
use crate::input::{Input, failure};
use crate::progress::Progress;
use crate::session::Reply;
use crate::verify::settle;
use rsan_lang::Format;
use rsan_model::{Instr, Model, Reason, Source, Verdict};
use rsan_repair::{Kind, Proved, Repair, Site, Synthesis, Target, cheapest, sites};
use rsan_report::document::{self, RepairChange, RepairKind, Stats, Thread};
use rsan_report::{Checked, Claim, Command, Document, Effort, Judgement, place, sentence};
use rsan_verify::{Options, verify};
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

/// Weights of lines, at most: the solver computes with floating-point numbers.
const MAX_WEIGHT: u64 = 10_000;

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
    let mut reply = reply(input, model, target, &synthesis);
    if let Synthesis::Repair(repair) = &synthesis
        && (args.output.is_some() || args.diff)
    {
        let text = repaired(input, format, repair, &options)?;
        let old = program.source.as_ref().map_or("", |s| &*s.text);
        reply.document.diff = output::deliver(args, &input.subject, (old, &text))?;
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

fn reply(input: &Input, model: Model, target: Target, synthesis: &Synthesis) -> Reply {
    let (program, verdict, why) = match synthesis {
        Synthesis::Repair(repair) => {
            return Reply {
                status: Judgement::Robust.into(),
                document: repair_document(input, model, target, repair),
                interrupted: false,
            };
        }
        Synthesis::Impossible(program, witness) => (
            &**program,
            Verdict::Violation(witness.clone()),
            "no fences and orders help; this is left".to_owned(),
        ),
        Synthesis::Fault(witness) => (
            &input.program,
            Verdict::Violation(witness.clone()),
            "the program fails under sequential consistency already".to_owned(),
        ),
        Synthesis::Unknown { reason, at_least } => {
            let known = match at_least {
                0 => String::new(),
                _ => format!("; every repair costs {at_least} or more ({target})"),
            };
            let why = format!("the search for a repair did not end: {reason}{known}");
            (&input.program, Verdict::Unknown(reason.clone()), why)
        }
    };
    let checked = Checked {
        command: Command::Fence,
        subject: &input.subject,
        program,
        model,
        claim: Claim::Robust,
        verdict: &verdict,
        effort: Effort::default(),
    };
    let mut document = rsan_report::document(&checked);
    document.notes = vec![why];
    Reply {
        status: checked.judgement().into(),
        document,
        interrupted: verdict == Verdict::Unknown(Reason::Interrupted),
    }
}

fn change(input: &Input, change: &Proved) -> RepairChange {
    let site = &change.site;
    let option = &site.options[change.option];
    let thread = &input.program.threads[site.thread.index()];
    let source = input.program.source.as_ref();
    let old = thread.instr(site.pc);
    RepairChange {
        kind: match site.kind {
            Kind::Insert => RepairKind::Fence,
            Kind::Raise => RepairKind::Order,
        },
        thread: Thread::Name(thread.name.clone()),
        location: place(source, Some(thread.span(site.pc))),
        after: false,
        state: None,
        from: (site.kind == Kind::Raise).then(|| orders(old)),
        to: orders(&option.instr),
        cost: option.cost,
        message: Some(sentence(&change.without, &change.witness)),
        forbids: None,
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

fn repair_document(input: &Input, model: Model, target: Target, repair: &Repair) -> Document {
    let changes = repair.changes.iter();
    let mut document = Document::new(Command::Fence, &input.subject, Judgement::Robust, model);
    document.property = Some(Claim::Robust);
    document.repair = Some(document::Repair {
        target: target.name().to_owned(),
        cost: repair.cost,
        changes: changes.map(|proved| change(input, proved)).collect(),
        tried: Some(repair.tried as u64),
        required: Vec::new(),
    });
    document.stats = Stats {
        states: Some(repair.stats.states),
        transitions: Some(repair.stats.transitions),
        seconds: repair.stats.elapsed.as_secs_f64(),
        ..Stats::default()
    };
    document
}
