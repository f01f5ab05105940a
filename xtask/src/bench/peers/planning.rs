//! What planning costs: the time between the end of a run and the plan of the next one, for runs of several lengths.
//!
//! The programs are lists of operations of two threads, which a machine of a few lines runs. Only the explorer is measured.

use rsan_model::ThreadId;
use rsan_schedule::End;
use rsan_schedule::explore::{Bounds, Explorer, Guided, Trace};
use rsan_schedule::{Candidate, Kind, Op, Step, Strategy};
use serde::Serialize;
use std::collections::HashMap;
use std::fmt;
use std::time::{Duration, Instant};

/// Steps of a run.
const LENGTHS: [usize; 3] = [100, 1_000, 10_000];
/// Runs of each program, and the time after which there is no further one.
const RUNS: u32 = 50;
const LIMIT: Duration = Duration::from_secs(20);

/// What each of the two threads does again and again: its own word, and the other's.
type Round = fn(own: u64, other: u64) -> Vec<Op>;

const PROGRAMS: [(&str, Round); 3] = [
    ("both add to a word", |_, _| {
        vec![Op::new(Kind::Update, 64, 4)]
    }),
    ("Dekker", |own, other| {
        vec![
            Op::new(Kind::Store, own, 4),
            Op::new(Kind::Load, other, 4),
            Op::new(Kind::Store, own, 4),
        ]
    }),
    ("both take a lock", |_, _| {
        vec![
            Op::new(Kind::Lock, 64, 0),
            Op::new(Kind::Load, 72, 4),
            Op::new(Kind::Unlock, 64, 0),
        ]
    }),
];

/// A program, with runs of one length.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    program: &'static str,
    steps: usize,
    runs: u32,
    /// Planning of one run, in milliseconds: on average, and the longest.
    milliseconds: f64,
    longest: f64,
}

/// The time that planning takes.
#[derive(Debug, Serialize)]
pub(crate) struct Planning(Vec<Row>);

impl Planning {
    pub(crate) fn measure() -> Self {
        let all = PROGRAMS
            .iter()
            .flat_map(|program| LENGTHS.map(|n| (program, n)));
        let rows = all.map(|(&(program, round), steps)| row(program, round, steps));
        Self(rows.collect())
    }
}

impl fmt::Display for Planning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| planning | steps of a run | runs | ms per run | longest |"
        )?;
        writeln!(f, "| --- | ---: | ---: | ---: | ---: |")?;
        for row in &self.0 {
            let Row {
                program,
                steps,
                runs,
                milliseconds,
                longest,
            } = row;
            writeln!(
                f,
                "| {program} | {steps} | {runs} | {milliseconds:.2} | {longest:.2} |"
            )?;
        }
        Ok(())
    }
}

fn row(program: &'static str, round: Round, steps: usize) -> Row {
    let thread = |own, other| {
        let round = round(own, other).into_iter().cycle();
        round.take(steps / 2).collect::<Vec<_>>()
    };
    let threads = [thread(128, 136), thread(136, 128)];
    let mut explorer = Explorer::new(Bounds {
        roots: 2,
        ..Bounds::default()
    });
    let (mut runs, mut sum, mut longest) = (0, Duration::ZERO, Duration::ZERO);
    let start = Instant::now();
    while runs < RUNS && start.elapsed() < LIMIT {
        let began = Instant::now();
        let Some(job) = explorer.next() else { break };
        let found = began.elapsed();
        let trace = run(&threads, Guided::new(job.plan));
        let began = Instant::now();
        explorer.done(job.id, &trace);
        let took = found + began.elapsed();
        (runs, sum, longest) = (runs + 1, sum + took, longest.max(took));
    }
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    Row {
        program,
        steps,
        runs,
        milliseconds: milliseconds(sum) / f64::from(runs.max(1)),
        longest: milliseconds(longest),
    }
}

/// Runs the program; locks are 1 while they are taken, stores write how many there were.
fn run(threads: &[Vec<Op>; 2], mut strategy: Guided) -> Trace {
    let mut made = [0, 0];
    let mut memory: HashMap<u64, u64> = HashMap::new();
    let mut steps: Vec<Step> = Vec::new();
    loop {
        let value = |op: &Op| memory.get(&op.object).copied().unwrap_or(0);
        let next = |t: usize| {
            let op = *threads[t].get(made[t])?;
            let thread = ThreadId(t as u32);
            let enabled = op.kind != Kind::Lock || value(&op) == 0;
            enabled.then_some(Candidate { thread, op })
        };
        let ready: Vec<Candidate> = (0..2).filter_map(next).collect();
        let last = steps.last().map(|step| step.thread);
        let chosen = match ready.is_empty() {
            true => None,
            false => strategy.choose(&ready, last),
        };
        let Some(Candidate { thread, op }) = chosen.map(|i| ready[i]) else {
            break;
        };
        let mut step = Step::new(thread, op);
        step.read = value(&op);
        step.wrote = match op.kind {
            Kind::Load => step.read,
            Kind::Unlock => 0,
            Kind::Lock => 1,
            _ => step.read + 1,
        };
        memory.insert(op.object, step.wrote);
        made[thread.index()] += 1;
        strategy.stepped(&step);
        steps.push(step);
    }
    let pending = (0..2).filter_map(|t| {
        Some(rsan_schedule::explore::Pending {
            thread: ThreadId(t as u32),
            op: *threads[t].get(made[t])?,
            expected: 0,
        })
    });
    Trace {
        pending: pending.collect(),
        steps,
        end: End::Ended,
        overwrites: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_counted() {
        for (name, round) in PROGRAMS {
            let row = row(name, round, 30);
            assert_eq!((row.steps, row.runs), (30, RUNS), "{name}");
            assert!(row.longest >= row.milliseconds);
        }
    }
}
