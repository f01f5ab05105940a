//! An answer of the static analysis, as a document.

use super::places::Places;
use crate::args::PortArgs;
use crate::sanitizer::sources::excerpts;
use rsan_ir::module::{Change, Op, Order};
use rsan_ir::port::{Answer, Costs, Placed, Repair, Site, Warning};
use rsan_model::machine::Machine;
use rsan_report::document::{
    self, Finding, Kind, Method, Port, PortAssumption, PortThread, Related, RepairChange,
    RepairKind, Severity, Thread,
};
use rsan_report::number::plural;
use rsan_report::{Claim, Command, Document, Judgement};

/// A document about two machines, of which only these are known.
pub(super) fn empty(
    args: &PortArgs,
    subject: &str,
    verdict: Judgement,
    method: Method,
) -> Document {
    let mut document = Document::new(Command::Port, subject, verdict, args.to);
    document.property = Some(Claim::Portable);
    document.port = Some(Port {
        from: args.from.name().to_owned(),
        from_title: args.from.title().to_owned(),
        to: args.to.name().to_owned(),
        to_title: args.to.title().to_owned(),
        method,
        threads: Vec::new(),
        accesses: None,
        pairs: None,
        on_cycles: None,
        fences: None,
        naive: None,
        race_free: args.race_free,
        assumptions: Vec::new(),
    });
    document
}

/// The document of an answer.
pub(super) fn of(args: &PortArgs, subject: &str, answer: &Answer, places: &Places<'_>) -> Document {
    let proof = answer.assumptions.iter().all(|known| !known.unsound);
    let verdict = match (answer.warnings.is_empty(), proof) {
        (false, _) => Judgement::Violation,
        (true, true) => Judgement::Robust,
        (true, false) => Judgement::Unknown,
    };
    let mut document = empty(args, subject, verdict, Method::Static);
    document.incomplete = verdict == Judgement::Violation && !proof;
    if verdict == Judgement::Unknown {
        let note = "nothing was found, but what is not proved could hide something";
        document.notes.push(note.to_owned());
    }
    if !places.has_lines() {
        let note = "there is no debug information: compile with -g, so that lines are named";
        document.notes.push(note.to_owned());
    }
    let racy = |warning: &&Warning| {
        let sites = [&warning.first, &warning.second];
        sites.into_iter().any(|site| is_plain(site, places))
    };
    let plain = answer.warnings.iter().filter(racy).count() as u64;
    if plain > 0 && !args.race_free {
        document.notes.push(format!(
            "{} of accesses with a plain one: if the program has no data races, --race-free leaves them out",
            plural(plain, "pair")
        ));
    }
    if let Some(port) = &mut document.port {
        port.threads = threads(answer, places);
        port.accesses = Some(answer.counts.accesses as u64);
        port.pairs = Some(answer.counts.pairs as u64);
        port.on_cycles = Some(answer.counts.on_cycles as u64);
        port.fences = Some(answer.counts.fences as u64);
        let assumptions = answer.assumptions.iter().map(|known| PortAssumption {
            message: known.message.clone(),
            location: known.place.and_then(|place| places.shown(place)),
            unsound: known.unsound,
        });
        port.assumptions = assumptions.collect();
    }
    let machines = (args.from, args.to);
    let mut warnings: Vec<&Warning> = answer.warnings.iter().collect();
    warnings.sort_by_key(|warning| doubt(warning));
    let findings = warnings.into_iter();
    document.findings = findings
        .map(|warning| finding(warning, machines, places))
        .collect();
    document.sources = excerpts(document.findings.iter());
    document
}

/// Atomic accesses that must meet come first: plain ones meet only in a data race, and what is not known may not meet at all.
fn doubt(warning: &Warning) -> (usize, bool) {
    let pair = [&warning.first, &warning.second];
    let plain = pair.iter().filter(|site| site.order == Order::Plain);
    (plain.count(), !warning.because.is_empty())
}

fn threads(answer: &Answer, places: &Places<'_>) -> Vec<PortThread> {
    let threads = answer.threads.iter().map(|thread| PortThread {
        function: places.title(thread.function),
        reason: thread.reason.clone(),
        location: None,
    });
    threads.collect()
}

/// A warning as a finding.
fn finding(warning: &Warning, (from, to): (Machine, Machine), places: &Places<'_>) -> Finding {
    let (first, second) = (&warning.first, &warning.second);
    let (from, to) = (from.title(), to.title());
    let message = format!(
        "the {} and the later {} may be swapped on {to}, and another thread can see it; {from} keeps them in order",
        access(first, places),
        access(second, places),
    );
    let mut finding = Finding::new(Kind::Reordering, Severity::Warning, message);
    finding.object = Some(match first.object == second.object {
        true => format!("accesses to {}", quoted(&first.object)),
        false => format!("{} and {}", quoted(&first.object), quoted(&second.object)),
    });
    let function = first.calls.first().map_or(first.function, |call| call.0);
    finding.thread = Some(Thread::Name(places.title(function)));
    let at = |site: &Site| {
        let place = places.of(site.function, site.number, &site.calls)?;
        places.shown(place)
    };
    finding.location = at(first);
    finding.label = Some(format!("this {}{}", first.what, caller(first, places)));
    let mut relate = |site: &Site, message: String| {
        finding
            .related
            .extend(at(site).map(|location| Related { message, location }));
    };
    relate(
        second,
        format!("and this {}{}", second.what, caller(second, places)),
    );
    for (earlier, later) in &warning.partners {
        relate(earlier, format!("another thread: this {}", earlier.what));
        if (earlier.function, earlier.number) != (later.function, later.number) {
            relate(later, format!("and then this {}", later.what));
        }
    }
    let why = [&warning.unordered, &warning.ordered];
    let why = why.into_iter().chain(&warning.because);
    finding.because = why
        .filter(|sentence| !sentence.is_empty())
        .cloned()
        .collect();
    finding
}

/// `, called at ring.c:31` of an access in a function of another file that was inlined there.
fn caller(site: &Site, places: &Places<'_>) -> String {
    let place = places.caller(site.function, site.number);
    let place = place.and_then(|place| places.shown(place));
    place.map_or(String::new(), |place| {
        format!(", called at {}", place.file_line())
    })
}

/// Whether an access may be part of a data race.
fn is_plain(site: &Site, places: &Places<'_>) -> bool {
    site.order == Order::Plain && !matches!(site.what, "lock" | "unlock") && !volatile(site, places)
}

fn volatile(site: &Site, places: &Places<'_>) -> bool {
    match places.instr(site.function, site.number).map(|i| &i.op) {
        Some(Op::Load(access) | Op::Store { access, .. }) => access.volatile,
        _ => false,
    }
}

/// `relaxed store to `flag``, and where it is if there is no line.
fn access(site: &Site, places: &Places<'_>) -> String {
    let order = match site.order {
        Order::Plain if volatile(site, places) => "volatile",
        order => name(order),
    };
    let to = match site.what {
        "load" => "of",
        _ => "to",
    };
    let known = places.of(site.function, site.number, &site.calls);
    let at = match known {
        Some(_) => String::new(),
        None => format!(
            " (in {}, instruction {})",
            places.title(site.function),
            site.number
        ),
    };
    format!("{order} {} {to} {}{at}", site.what, quoted(&site.object))
}

fn quoted(object: &str) -> String {
    match object.contains(['`', ' ']) {
        true => object.to_owned(),
        false => format!("`{object}`"),
    }
}

/// The name of an order.
pub(super) fn name(order: Order) -> &'static str {
    match order {
        Order::Plain => "plain",
        Order::Relaxed => "relaxed",
        Order::Acquire => "acquire",
        Order::Release => "release",
        Order::AcqRel => "acq_rel",
        Order::SeqCst => "seq_cst",
    }
}

/// A repair as documents have it.
pub(super) fn repair(
    to: Machine,
    repair: &Repair,
    costs: &Costs,
    places: &Places<'_>,
) -> document::Repair {
    let changes = repair.changes.iter();
    let changes = changes.map(|placed| change(placed, costs, places));
    document::Repair {
        target: to.name().to_owned(),
        cost: repair.cost.round() as u64,
        changes: changes.collect(),
        tried: None,
        required: Vec::new(),
    }
}

fn change(placed: &Placed, costs: &Costs, places: &Places<'_>) -> RepairChange {
    let (kind, after, to) = match &placed.change {
        Change::FenceBefore(order) => (RepairKind::Fence, false, name(*order).to_owned()),
        Change::FenceAfter(order) => (RepairKind::Fence, true, name(*order).to_owned()),
        Change::MachineFenceBefore(name) => (RepairKind::Fence, false, name.clone()),
        Change::MachineFenceAfter(name) => (RepairKind::Fence, true, name.clone()),
        Change::Order(order) => (RepairKind::Order, false, name(*order).to_owned()),
    };
    let instr = places.instr(placed.function, placed.number);
    let from = match instr.map(|instr| &instr.op) {
        Some(Op::Load(access) | Op::Store { access, .. } | Op::Update { access, .. }) => {
            Some(name(access.order).to_owned())
        }
        _ => None,
    };
    let place = places.of(placed.function, placed.number, &[]);
    let unknown = place.is_none();
    RepairChange {
        kind,
        thread: Thread::Name(places.title(placed.function)),
        location: place.and_then(|place| places.shown(place)),
        after,
        state: None,
        from: from.filter(|_| kind == RepairKind::Order),
        to,
        cost: price(&placed.change, instr.map(|instr| &instr.op), costs).round() as u64,
        message: unknown.then(|| format!("instruction {}", placed.number)),
        forbids: None,
    }
}

/// What a change costs outside of loops.
fn price(change: &Change, op: Option<&Op>, costs: &Costs) -> f64 {
    let fence = |order: &Order| match order {
        Order::Plain | Order::Relaxed => 0.0,
        Order::Acquire => costs.acquire_fence,
        Order::Release => costs.release_fence,
        Order::AcqRel => costs.acq_rel_fence,
        Order::SeqCst => costs.full_fence,
    };
    match (change, op) {
        (Change::FenceBefore(order) | Change::FenceAfter(order), _) => fence(order),
        (Change::MachineFenceBefore(_) | Change::MachineFenceAfter(_), _) => {
            costs.store_fence.unwrap_or(costs.full_fence)
        }
        (Change::Order(Order::Acquire | Order::Release), Some(Op::Update { .. })) => costs.update,
        (Change::Order(_), Some(Op::Update { .. })) => 2.0 * costs.update,
        (Change::Order(Order::SeqCst), Some(Op::Load(_))) => costs.seq_cst_load,
        (Change::Order(_), Some(Op::Load(_))) => costs.acquire_load,
        (Change::Order(Order::SeqCst), _) => costs.seq_cst_store,
        (Change::Order(_), _) => costs.release_store,
    }
}
