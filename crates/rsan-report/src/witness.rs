//! What a witness says, once and for every format: the property that fails, one plain sentence, and the places in
//! the source that belong to it.

use crate::describe::Describe;
use rsan_model::{Edge, EventId, Fault, Pc, Program, Span, StaleAccess, ThreadId, Witness};

/// A span of the source and what happens there.
pub(crate) struct Mark {
    pub(crate) span: Span,
    pub(crate) label: String,
}

/// A witness in words.
pub(crate) struct Explained<'a> {
    pub(crate) witness: &'a Witness,
    pub(crate) describe: Describe<'a>,
}

impl<'a> Explained<'a> {
    pub(crate) fn new(program: &'a Program, witness: &'a Witness) -> Self {
        Self {
            witness,
            describe: Describe::new(program, &witness.graph),
        }
    }

    /// What goes wrong, in one sentence without a full stop.
    pub(crate) fn message(&self) -> String {
        let d = self.describe;
        match &self.witness.fault {
            Fault::Weak(access) => self.stale_sentence(access),
            Fault::Observed { access, user } => format!(
                "{}, and the value is used{}",
                self.stale_sentence(access),
                d.at(d.span(user.0, user.1))
            ),
            Fault::Race { first, second } => format!(
                "{} and {} both access `{}`, at least one of them non-atomically, and nothing \
                 orders the two",
                self.access(*first),
                self.access(*second),
                d.location_of(*second),
            ),
            Fault::Assertion { thread, pc } => format!(
                "the assertion of thread {}{} fails in a sequentially consistent run",
                d.thread(*thread),
                d.at(d.span(*thread, *pc))
            ),
            Fault::Trap { thread, pc, error } => format!(
                "thread {} cannot go on{}: {error}",
                d.thread(*thread),
                d.at(d.span(*thread, *pc))
            ),
            Fault::Deadlock { blocked } => {
                let names: Vec<_> = blocked.iter().map(|&(t, _)| d.thread(t)).collect();
                format!("no thread can move: {} cannot end", names.join(", "))
            }
        }
    }

    fn access(&self, e: EventId) -> String {
        let d = self.describe;
        let thread = d.thread_of(e).unwrap_or("the initial state");
        format!("{thread}'s {}{}", d.verb(e), d.at(d.span_of(e)))
    }

    fn stale_sentence(&self, stale: &StaleAccess) -> String {
        let d = self.describe;
        let thread = d.thread_of(stale.access).unwrap_or("?");
        let loc = d.location_of(stale.access);
        let at = d.at(d.span_of(stale.access));
        let missed = d.write(stale.missed);
        if self.reads_stale(stale) {
            let value = stale.stale_value;
            format!(
                "thread {thread} may read {value} from `{loc}`{at} although {missed} comes first in \
                 every sequentially consistent order"
            )
        } else {
            let (verb, value) = (d.verb(stale.access), d.written(stale.access));
            format!(
                "thread {thread}'s {verb} of {value} to `{loc}`{at} may take effect before {missed}, \
                 which comes first in every sequentially consistent order"
            )
        }
    }

    fn reads_stale(&self, stale: &StaleAccess) -> bool {
        self.witness.graph.label(stale.access).is_read()
    }

    /// The main place, for machine formats.
    pub(crate) fn place(&self) -> (Option<ThreadId>, Option<Span>) {
        let d = self.describe;
        let of_event = |e: EventId| (self.witness.graph.event(e).thread, d.span_of(e));
        let of_instr = |thread: ThreadId, pc: Pc| (Some(thread), d.span(thread, pc));
        match &self.witness.fault {
            Fault::Weak(stale) | Fault::Observed { access: stale, .. } => of_event(stale.access),
            Fault::Race { second, .. } => of_event(*second),
            Fault::Assertion { thread, pc } | Fault::Trap { thread, pc, .. } => {
                of_instr(*thread, *pc)
            }
            Fault::Deadlock { blocked } => blocked
                .first()
                .map_or((None, None), |&(thread, pc)| of_instr(thread, pc)),
        }
    }

    /// The places to show in the source, the main one first.
    pub(crate) fn marks(&self) -> Vec<Mark> {
        let mut marks = Vec::new();
        let mut mark = |span: Option<Span>, label: String| {
            if let Some(span) = span {
                marks.push(Mark { span, label });
            }
        };
        let d = self.describe;
        match &self.witness.fault {
            Fault::Weak(stale) => self.mark_stale(stale, &mut mark),
            Fault::Observed { access, user } => {
                self.mark_stale(access, &mut mark);
                mark(
                    d.span(user.0, user.1),
                    format!("{} uses the value here", d.thread(user.0)),
                );
            }
            Fault::Race { first, second } => {
                for (e, relation) in [(*second, ""), (*first, ", not ordered with it")] {
                    let thread = d.thread_of(e).unwrap_or("?");
                    let label = format!("{thread}'s {}{relation}", d.operation(e));
                    mark(d.span_of(e), label);
                }
            }
            Fault::Assertion { thread, pc } => mark(
                d.span(*thread, *pc),
                format!("does not hold when {} comes here", d.thread(*thread)),
            ),
            Fault::Trap { thread, pc, error } => mark(d.span(*thread, *pc), error.to_string()),
            Fault::Deadlock { blocked } => {
                for &(thread, pc) in blocked {
                    let name = d.thread(thread);
                    mark(
                        d.span(thread, pc),
                        format!("{name} {}", d.waits_for(thread, pc)),
                    );
                }
            }
        }
        marks
    }

    fn mark_stale(&self, stale: &StaleAccess, mark: &mut dyn FnMut(Option<Span>, String)) {
        let d = self.describe;
        let thread = d.thread_of(stale.access).unwrap_or("?");
        let other = d.thread_of(stale.missed).unwrap_or("the initial state");
        let (main, missed, older) = if self.reads_stale(stale) {
            (
                format!(
                    "{thread} may read the stale value {} here",
                    stale.stale_value
                ),
                format!(
                    "although {other} wrote {} here before",
                    d.written(stale.missed)
                ),
                format!("the stale value {} was stored here", stale.stale_value),
            )
        } else {
            let verb = d.verb(stale.access);
            (
                format!("{thread}'s {verb} may take effect"),
                format!("before {other}'s, which comes first"),
                "and directly after this one".to_owned(),
            )
        };
        mark(d.span_of(stale.access), main);
        mark(d.span_of(stale.missed), missed);
        mark(d.span_of(stale.stale), older);
    }

    /// The stale write of a weak behaviour.
    pub(crate) fn stale(&self) -> Option<&StaleAccess> {
        match &self.witness.fault {
            Fault::Weak(stale) | Fault::Observed { access: stale, .. } => Some(stale),
            Fault::Race { .. }
            | Fault::Assertion { .. }
            | Fault::Trap { .. }
            | Fault::Deadlock { .. } => None,
        }
    }

    /// The cycle, begun at its first event of the run.
    pub(crate) fn cycle(&self) -> Vec<(EventId, Edge)> {
        let mut cycle = self.witness.cycle.clone();
        if let Some(start) = (0..cycle.len()).min_by_key(|&i| cycle[i].0) {
            cycle.rotate_left(start);
        }
        cycle
    }
}
