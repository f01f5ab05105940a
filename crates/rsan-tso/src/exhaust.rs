//! A look at every SC configuration.

use crate::compiled::Compiled;
use crate::config::Config;
use crate::limits::{Limits, Stats, Watch};
use crate::search::ended;
use crate::space::{Note, Space, Step};
use crate::{Outcome, Verdict, verdict};

/// Has a verdict, or not, about a configuration. It is asked before and after that is expanded.
pub(crate) type Judge<'a> = dyn Fn(&Look<'_>) -> Option<Verdict> + 'a;

/// A configuration.
pub(crate) struct Look<'a> {
    space: &'a Space<'a>,
    number: u32,
    pub(crate) config: &'a Config,
    /// Whether anything follows it, once that is known.
    pub(crate) moved: Option<bool>,
}

impl Look<'_> {
    /// The steps that lead there.
    pub(crate) fn path(&self) -> Vec<Step> {
        self.space.path(self.number)
    }
}

/// Looks at all SC configurations, in the order in which they are found, until `judge` has a verdict.
pub(crate) fn exhaust(
    compiled: &Compiled<'_>,
    limits: &Limits<'_>,
    note: Note,
    judge: &Judge<'_>,
) -> Outcome {
    let automata = compiled.automata;
    let watch = Watch::new(limits);
    let mut space = match Space::new(compiled, note) {
        Ok(space) => space,
        Err(leave) => {
            let found = ended(&leave, Vec::new);
            return Outcome {
                verdict: verdict(automata, found),
                stats: Stats::default(),
            };
        }
    };
    let mut told = 0;
    let mut answer = None;
    while answer.is_none() && !space.is_complete() {
        let number = space.expanded as u32;
        if number.is_multiple_of(256) {
            watch.tell(space.states.memory(), &mut told);
            answer = watch.check().err().map(Verdict::Unknown);
        }
        let config = &space.config(number, &mut Vec::new());
        let ask = |space: &Space<'_>, moved| {
            let look = Look {
                space,
                number,
                config,
                moved,
            };
            judge(&look)
        };
        answer = answer.or_else(|| ask(&space, None));
        if answer.is_none() {
            answer = match space.expand_next() {
                Ok(moved) => ask(&space, Some(moved)),
                Err(trouble) => {
                    let found = ended(&trouble.into(), || space.path(number));
                    Some(verdict(automata, found))
                }
            };
        }
    }
    Outcome {
        verdict: answer.unwrap_or(Verdict::Robust),
        stats: Stats {
            states: space.states.len() as u64,
            attack_states: 0,
            memory: space.states.memory(),
            elapsed: watch.began.elapsed(),
        },
    }
}
