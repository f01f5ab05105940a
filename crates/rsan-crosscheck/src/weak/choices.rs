//! What a thread can read next, and what comes of it.

use super::execute::{Explorer, Run};
use super::{Memory, Name};
use rsan_model::{CasStrength, Expr, Instr, Label, LocId, ReadOrd, RegId, RmwOrd, Value};

/// What a thread does with a write that it reads.
pub(super) struct Choice<W> {
    pub(super) write: W,
    pub(super) source: Name,
    pub(super) label: Label,
    pub(super) sets: Vec<(RegId, Value)>,
}

impl Explorer<'_> {
    /// What a reading instruction can read, and what comes of it.
    pub(super) fn choices<M: Memory>(
        &self,
        run: &mut Run<M>,
        t: usize,
        instr: &Instr,
    ) -> Vec<Choice<M::Write>> {
        let registers = run.state.registers[t].clone();
        let place = instr.place().expect("an access");
        let loc = place.resolve(&registers).expect("it was evaluated before");
        let eval = |e: &Expr| self.eval(e, &registers);
        let mut ways = Ways { run, t, loc };
        let set = |dst: &Option<RegId>, value| dst.map(|r| (r, value));
        match instr {
            Instr::Load { dst, ord, .. } => ways.reads(*ord, |value| Some(vec![(*dst, value)])),
            Instr::Wait {
                dst, values, ord, ..
            } => {
                let values: Vec<Value> = values.iter().map(eval).collect();
                let passes = |value| values.contains(&value);
                ways.reads(*ord, |value| {
                    passes(value).then(|| set(dst, value).into_iter().collect())
                })
            }
            Instr::Rmw {
                dst,
                op,
                operand,
                ord,
                ..
            } => {
                let operand = operand.eval(&registers).expect("it was evaluated before");
                ways.updates(*ord, |value| {
                    let written = self.program.domain.wrap(op.apply(value, operand));
                    Some((written, set(dst, value).into_iter().collect()))
                })
            }
            Instr::Bcas {
                expected, new, ord, ..
            } => {
                let (expected, new) = (eval(expected), eval(new));
                ways.updates(*ord, |value| (value == expected).then(|| (new, Vec::new())))
            }
            Instr::Cas {
                dst,
                success,
                expected,
                new,
                ord,
                fail,
                strength,
                ..
            } => {
                let (expected, new) = (eval(expected), eval(new));
                let sets = |value, done| {
                    set(dst, value)
                        .into_iter()
                        .chain(set(success, done))
                        .collect()
                };
                let mut choices = ways.updates(*ord, |value| {
                    (value == expected).then(|| (new, sets(value, 1)))
                });
                choices.extend(ways.reads(*fail, |value| {
                    let fails = value != expected || *strength == CasStrength::Weak;
                    fails.then(|| sets(value, 0))
                }));
                choices
            }
            _ => unreachable!("{instr:?} does not read"),
        }
    }
}

/// The ways in which a thread can read a location.
struct Ways<'r, M: Memory> {
    run: &'r mut Run<M>,
    t: usize,
    loc: LocId,
}

impl<M: Memory> Ways<'_, M> {
    /// Loads of the values that `accept` has something to do with.
    fn reads(
        &mut self,
        ord: ReadOrd,
        accept: impl Fn(Value) -> Option<Vec<(RegId, Value)>>,
    ) -> Vec<Choice<M::Write>> {
        let Run {
            memory,
            threads,
            locations,
            ..
        } = &mut *self.run;
        let (loc, at) = (self.loc, locations[self.loc.index()]);
        let by = threads[self.t].as_mut().expect("it runs");
        let readable = memory.readable(by, at, ord);
        let choice = |id| {
            let known = memory.known(at, id);
            let value = known.value;
            Some(Choice {
                write: id,
                source: Name::of_tag(known.tag),
                sets: accept(value)?,
                label: Label::Read { loc, value, ord },
            })
        };
        readable.into_iter().filter_map(choice).collect()
    }

    /// Read-modify-writes of the values that `accept` has something to do with.
    fn updates(
        &mut self,
        ord: RmwOrd,
        accept: impl Fn(Value) -> Option<(Value, Vec<(RegId, Value)>)>,
    ) -> Vec<Choice<M::Write>> {
        let Run {
            memory,
            threads,
            locations,
            ..
        } = &mut *self.run;
        let (loc, at) = (self.loc, locations[self.loc.index()]);
        let by = threads[self.t].as_mut().expect("it runs");
        let updatable = memory.updatable(by, at, ord);
        let choice = |id| {
            let known = memory.known(at, id);
            let read = known.value;
            let (written, sets) = accept(read)?;
            Some(Choice {
                write: id,
                source: Name::of_tag(known.tag),
                sets,
                label: Label::Rmw {
                    loc,
                    read,
                    written,
                    ord,
                },
            })
        };
        updatable.into_iter().filter_map(choice).collect()
    }
}
