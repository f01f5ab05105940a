//! The fewest stale reads, and then the fewest context switches, that still show something (delta debugging over the stale reads and
//! the turns of a schedule).

use crate::{Planned, Schedule, Value};
use std::ops::ControlFlow;

/// What a run shows, or that there shall be no other.
type Attempt = ControlFlow<(), Option<Schedule>>;

/// What [`minimize`] found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Minimized {
    /// The schedule with the fewest stale reads, and of those the one with the fewest switches.
    pub schedule: Schedule,
    /// How many runs it took.
    pub tries: usize,
    /// Whether no single change that was left to try makes it shorter; false when the runs were used up before, or the search was
    /// broken off.
    pub finished: bool,
}

/// Looks for a schedule with fewer stale reads, or as many and fewer context switches, that still shows what `schedule` shows, with at
/// most `tries` runs.
///
/// `run` makes a run of the program by the schedule that it is given, and returns the schedule that the run really followed
/// if it shows what is looked for; it can also break the search off. The schedules are suggestions: run them with [`crate::strategy::Prefix`], or with
/// [`crate::strategy::Follow`] if they have stale reads. Both leave out threads that are not ready and go on by themselves at the end.
///
/// `None` when the schedule itself does not show it, or that was not found out. The answer depends only on what `run` says. It is a local minimum: no
/// stale read can read the last write, no turn can be left to its thread's turn before or after, and the end cannot be left to the default.
///
/// ```
/// use rsan_schedule::{Schedule, minimize};
/// use std::ops::ControlFlow;
/// let noisy: Schedule = "rsan schedule 1\nT0: store\nT1: load\nT0: store\nT1: load\nT0: store\n".parse()?;
/// // What is looked for shows whenever T0 makes a store after the first load of T1.
/// let shows = |schedule: &Schedule| {
///     let first = schedule.steps().iter().position(|s| s.thread.0 == 1)?;
///     let after = schedule.steps()[first..].iter().any(|s| s.thread.0 == 0);
///     after.then(|| schedule.clone())
/// };
/// let run = |schedule: &Schedule| ControlFlow::Continue(shows(schedule));
/// let minimized = minimize(&noisy, 100, run).expect("it shows");
/// assert_eq!(minimized.schedule.switches(), 1);
/// # Ok::<(), rsan_schedule::ParseError>(())
/// ```
pub fn minimize(
    schedule: &Schedule,
    tries: usize,
    run: impl FnMut(&Schedule) -> Attempt,
) -> Option<Minimized> {
    let mut search = Search {
        best: schedule.clone(),
        left: tries,
        is_broken_off: false,
        run,
    };
    let found = search.attempt(schedule)?;
    search.best = found;
    while search.can_try() && (search.refresh() || search.shorten() || search.merge()) {}
    let finished = search.can_try();
    let mut best = search.best;
    for (name, value) in schedule.notes() {
        best.set_note(name, value);
    }
    Some(Minimized {
        schedule: best,
        tries: tries - search.left,
        finished,
    })
}

struct Search<R> {
    best: Schedule,
    /// Runs that may still be made.
    left: usize,
    is_broken_off: bool,
    run: R,
}

/// A turn: its thread is that of its steps.
type Turn = Vec<Planned>;

fn turns(schedule: &Schedule) -> Vec<Turn> {
    schedule.turns().map(<[Planned]>::to_vec).collect()
}

/// What is to be small.
fn cost(schedule: &Schedule) -> (usize, usize) {
    (schedule.stale_reads(), schedule.switches())
}

impl<R: FnMut(&Schedule) -> Attempt> Search<R> {
    fn can_try(&self) -> bool {
        self.left > 0 && !self.is_broken_off
    }

    /// Runs a schedule, if a run is left.
    fn attempt(&mut self, schedule: &Schedule) -> Option<Schedule> {
        if !self.can_try() {
            return None;
        }
        self.left -= 1;
        match (self.run)(schedule) {
            ControlFlow::Continue(found) => found,
            ControlFlow::Break(()) => {
                self.is_broken_off = true;
                None
            }
        }
    }

    /// Whether these steps lead to something smaller; then that is the best.
    fn improves(&mut self, steps: Vec<Planned>) -> bool {
        let Some(found) = self.attempt(&Schedule::new(steps)) else {
            return false;
        };
        let better = cost(&found) < cost(&self.best);
        if better {
            self.best = found;
        }
        better
    }

    /// Lets stale reads read the last write: many at once, then fewer.
    fn refresh(&mut self) -> bool {
        let steps = self.best.steps();
        let stale = (0..steps.len()).filter(|&step| steps[step].value != Value::Last);
        let stale: Vec<usize> = stale.collect();
        let mut size = stale.len();
        while size > 0 && self.can_try() {
            for some in stale.chunks(size) {
                let mut steps = self.best.steps().to_vec();
                for &step in some {
                    steps[step].value = Value::Last;
                }
                if self.improves(steps) {
                    return true;
                }
            }
            size /= 2;
        }
        false
    }

    /// Leaves the end of the schedule to the default, as much of it as possible.
    fn shorten(&mut self) -> bool {
        let turns = turns(&self.best);
        let mut keep = 0;
        while keep < turns.len() && self.can_try() {
            if self.improves(turns[..keep].concat()) {
                return true;
            }
            // 0, 1, 3, 7, ...: short ones first, since they are what one hopes for.
            keep = 2 * keep + 1;
        }
        false
    }

    /// Leaves turns to the turn of the same thread before or after: many at once, then fewer.
    fn merge(&mut self) -> bool {
        let count = turns(&self.best).len();
        let mut size = count / 2;
        while size > 0 && self.can_try() {
            for start in (0..count).step_by(size) {
                for later in [true, false] {
                    if !self.can_try() {
                        return false;
                    }
                    let mut turns = turns(&self.best);
                    let end = (start + size).min(turns.len());
                    if move_turns(&mut turns, start, end, later) && self.improves(turns.concat()) {
                        return true;
                    }
                }
            }
            size /= 2;
        }
        false
    }
}

/// Moves the turns from `start` to `end` to the next (or last) turn of their thread outside of them. Says whether there was
/// something to move.
fn move_turns(turns: &mut [Turn], start: usize, end: usize, later: bool) -> bool {
    let mut moved = false;
    let indices: Vec<usize> = match later {
        true => (start..end).rev().collect(),
        false => (start..end).collect(),
    };
    for i in indices {
        let Some(thread) = turns[i].first().map(|s| s.thread) else {
            continue;
        };
        let same = |turn: &Turn| turn.first().is_some_and(|s| s.thread == thread);
        if later {
            let Some(next) = turns[i + 1..].iter().position(same) else {
                continue;
            };
            let mut steps = std::mem::take(&mut turns[i]);
            let target = &mut turns[i + 1 + next];
            steps.append(target);
            *target = steps;
        } else {
            let Some(before) = turns[..i].iter().rposition(same) else {
                continue;
            };
            let mut steps = std::mem::take(&mut turns[i]);
            turns[before].append(&mut steps);
        }
        moved = true;
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, Random};
    use rsan_model::ThreadId;

    fn schedule(threads: &[u32]) -> Schedule {
        let planned = |&t: &u32| Planned::new(ThreadId(t), Kind::Load);
        Schedule::new(threads.iter().map(planned).collect())
    }

    /// Two threads of ten steps each; runs what is suggested and then the rest by the default.
    fn run(suggestion: &Schedule) -> Vec<u32> {
        let mut left = [10, 10];
        let mut order = Vec::new();
        for step in suggestion.steps() {
            let t = step.thread.index();
            if left[t] > 0 {
                left[t] -= 1;
                order.push(t as u32);
            }
        }
        let last = order.last().copied().unwrap_or(0) as usize;
        for t in [last, 1 - last] {
            order.extend(std::iter::repeat_n(t as u32, left[t]));
        }
        order
    }

    /// Whether T1 makes its fourth step after the third and before the seventh of T0.
    fn shows(order: &[u32]) -> bool {
        let mut ones = order.iter().enumerate().filter(|(_, t)| **t == 1);
        let place = ones.nth(3).expect("ten steps").0;
        let zeros = order[..place].iter().filter(|t| **t == 0).count();
        (3..7).contains(&zeros)
    }

    #[test]
    fn noise_goes() {
        let mut random = Random::new(5);
        let mut minimized = 0;
        for _ in 0..200 {
            let threads: Vec<u32> = (0..20).map(|_| random.below(2) as u32).collect();
            let first = schedule(&run(&schedule(&threads)));
            let again = |s: &Schedule| {
                let order = run(s);
                ControlFlow::Continue(shows(&order).then(|| schedule(&order)))
            };
            let Some(found) = minimize(&first, 10_000, again) else {
                assert!(!shows(&run(&first)));
                continue;
            };
            minimized += 1;
            assert!(found.finished && found.tries < 300, "{}", found.tries);
            assert!(shows(&run(&found.schedule)));
            assert!(found.schedule.switches() <= 2, "{}", found.schedule);
        }
        assert!(minimized > 50);
    }

    #[test]
    fn the_number_of_tries_is_a_bound() {
        let first = schedule(&[0, 1, 0, 1, 0, 1]);
        for tries in 1..10 {
            let mut runs = 0;
            let found = minimize(&first, tries, |s| {
                runs += 1;
                ControlFlow::Continue(Some(s.clone()).filter(|s| s.switches() == 5))
            });
            let found = found.expect("it shows");
            assert_eq!((found.tries, runs), (tries.min(runs), runs));
            assert!(runs <= tries);
        }
        let nothing = |_: &Schedule| ControlFlow::Continue(None);
        assert_eq!(minimize(&first, 10, nothing), None);
    }

    #[test]
    fn a_search_that_is_broken_off_makes_no_further_run() {
        let first = schedule(&[0, 1, 0, 1, 0, 1]);
        for last in 1..5 {
            let mut runs = 0;
            let found = minimize(&first, 100, |s| {
                runs += 1;
                match runs == last {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(Some(s.clone()).filter(|s| s.switches() == 5)),
                }
            });
            assert_eq!(runs, last);
            match found {
                None => assert_eq!(last, 1),
                Some(found) => assert_eq!((found.finished, found.schedule.switches()), (false, 5)),
            }
        }
    }

    #[test]
    fn stale_reads_go_first() {
        let text = "rsan schedule 1\nT0: store load<initial load<initial\nT1: load<initial compare!\nT0: load<T1.0 load\n";
        let first: Schedule = text.parse().expect("a schedule");
        assert_eq!(first.stale_reads(), 5);
        // It shows as long as the first step of T1 is stale.
        let run = |schedule: &Schedule| {
            let first = schedule.steps().iter().find(|step| step.thread.0 == 1);
            let shown = first.is_some_and(|step| step.value != Value::Last);
            ControlFlow::Continue(shown.then(|| schedule.clone()))
        };
        let found = minimize(&first, 100, run).expect("it shows");
        assert!(found.finished);
        assert_eq!(cost(&found.schedule), (1, 0));
        let few = minimize(&first, 3, run).expect("it shows");
        assert!(!few.finished && few.schedule.stale_reads() < 5, "{few:?}");
    }

    #[test]
    fn notes_stay() {
        let mut first = schedule(&[0, 1]);
        first.set_note("seed", "3");
        let again = |s: &Schedule| ControlFlow::Continue(Some(Schedule::new(s.steps().to_vec())));
        let found = minimize(&first, 10, again);
        assert_eq!(found.expect("it shows").schedule.note("seed"), Some("3"));
    }
}
