//! Several servers at a time. What they do comes back in the order of its numbers, however many there are.

use super::execution::Execution;
use super::server::{Problem, Server, Setup};
use crate::files;
use crate::sanitizer::execute::text_of;
use rsan_schedule::{Request, Schedule};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

/// A place for a server, which is started when it is needed, and again when it died.
pub(super) struct Worker<'a> {
    setup: &'a Setup<'a>,
    number: usize,
    timeout: Duration,
    server: Option<Server<'a>>,
    /// Runs that are asked for together.
    together: usize,
}

impl<'a> Worker<'a> {
    pub(super) fn new(setup: &'a Setup<'a>, number: usize, timeout: Duration) -> Self {
        Self {
            setup,
            number,
            timeout,
            server: None,
            together: 1,
        }
    }

    /// Writes a schedule to a file of this worker, for a run that follows it. The file's name, unless there is none.
    pub(super) fn keep(&self, schedule: &Schedule) -> Option<String> {
        let file = self.setup.file(&format!("schedule-{}", self.number));
        files::write(&file, schedule.to_string().as_bytes()).ok()?;
        text_of(&file).ok()
    }

    /// Makes a run; again, if the server dies, which may not be the run's fault.
    pub(super) fn run(&mut self, request: Request) -> Result<Execution, Problem> {
        let made = self.make(&[self.timed(request)])?;
        made.into_iter().next().ok_or(Problem::Died)
    }

    /// The request with the time that it has.
    fn timed(&self, request: Request) -> Request {
        Request {
            timeout: Some(u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX)),
            ..request
        }
    }

    /// Makes the first of these runs, and perhaps some that follow it.
    fn make(&mut self, mut requests: &[Request]) -> Result<Vec<Execution>, Problem> {
        let mut deaths = 0;
        loop {
            if self.setup.is_over() {
                return Err(Problem::Stopped);
            }
            let mut server = match self.server.take() {
                Some(server) => server,
                None => Server::start(self.setup)?,
            };
            let began = Instant::now();
            match server.run(requests) {
                Ok(made) => {
                    self.server = Some(server);
                    self.adapt(made.len() == requests.len(), began.elapsed());
                    return Ok(made);
                }
                Err(Problem::Died) if deaths == 0 => {
                    deaths += 1;
                    requests = &requests[..1];
                }
                Err(Problem::Died) => return Ok(vec![server.last()?]),
                Err(problem) => return Err(problem),
            }
        }
    }

    /// More runs are asked for together while they are short, and made together.
    fn adapt(&mut self, all: bool, took: Duration) {
        self.together = match all && took < LATEST / 2 {
            true => (2 * self.together).min(BATCH),
            false if all && took < LATEST => self.together,
            false => (self.together / 2).max(1),
        };
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        // It has answered the last request: otherwise it would not be here any more.
        if let Some(server) = self.server.take() {
            self.setup.standing().keep(server.rest());
        }
    }
}

/// Runs that are handed over at a time, and how long the first of them may wait: short runs would take less time than that.
const BATCH: usize = 16;
const LATEST: Duration = Duration::from_millis(10);

/// Makes runs 0 to `count`, on so many servers at a time, and hands them to `take` in order, until that breaks off.
///
/// # Errors
/// When there is no thread for a server; there may be fewer than wanted.
pub(super) fn in_order<T: Send>(
    setup: &Setup<'_>,
    jobs: usize,
    timeout: Duration,
    count: usize,
    work: impl Fn(&mut Worker<'_>, usize) -> T + Sync,
    mut take: impl FnMut(usize, T) -> ControlFlow<()>,
) -> Result<(), Problem> {
    let next = AtomicUsize::new(0);
    let over = AtomicBool::new(false);
    let (sender, results) = mpsc::channel();
    thread::scope(|scope| {
        for number in 0..jobs.min(count) {
            let (sender, next, over, work) = (sender.clone(), &next, &over, &work);
            let started = Builder::new().spawn_scoped(scope, move || {
                let mut worker = Worker::new(setup, number, timeout);
                let (mut made, mut since) = (Vec::new(), Instant::now());
                while !over.load(Ordering::Relaxed) {
                    let run = next.fetch_add(1, Ordering::Relaxed);
                    if run >= count {
                        break;
                    }
                    made.push((run, work(&mut worker, run)));
                    if made.len() == BATCH || since.elapsed() > LATEST {
                        since = Instant::now();
                        if sender.send(std::mem::take(&mut made)).is_err() {
                            break;
                        }
                    }
                }
                // Whoever receives may have had enough.
                let _ = sender.send(made);
            });
            match started {
                Ok(_) => {}
                Err(error) if number == 0 => return Err(no_thread(&error)),
                // Those that are there make all runs.
                Err(_) => break,
            }
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let mut expected = 0;
        'all: for batch in results {
            early.extend(batch);
            while let Some(result) = early.remove(&expected) {
                if take(expected, result).is_break() {
                    over.store(true, Ordering::Relaxed);
                    break 'all;
                }
                expected += 1;
            }
        }
        Ok(())
    })
}

/// A run that is wanted, by its place in the round, and one that was made.
type Wanted = (usize, Request);
pub(super) type Made = (usize, Result<Execution, Problem>);

/// Servers that make runs round by round.
pub(super) struct Crew {
    wanted: Sender<Wanted>,
    made: Receiver<Vec<Made>>,
}

impl Crew {
    /// Makes the runs of a round; what became of each, in their order.
    pub(super) fn make(&self, runs: impl IntoIterator<Item = Request>) -> Vec<Made> {
        let mut count = 0;
        for wanted in runs.into_iter().enumerate() {
            // Servers end when this does.
            let _ = self.wanted.send(wanted);
            count += 1;
        }
        let mut results = Vec::with_capacity(count);
        while results.len() < count {
            let Ok(made) = self.made.recv() else { break };
            results.extend(made);
        }
        results.sort_unstable_by_key(|(place, _)| *place);
        results
    }
}

/// Has so many servers, for somebody who asks them for rounds of runs.
///
/// # Errors
/// When there is no thread for a server; there may be fewer than wanted.
pub(super) fn in_rounds<R>(
    setup: &Setup<'_>,
    jobs: usize,
    timeout: Duration,
    act: impl FnOnce(&Crew) -> R,
) -> Result<R, Problem> {
    let (wanted, queue) = mpsc::channel();
    let (sender, made) = mpsc::channel();
    let queue = Mutex::new(queue);
    thread::scope(|scope| {
        for number in 0..jobs {
            let (queue, sender) = (&queue, sender.clone());
            let work = move || serve(setup, number, timeout, queue, &sender);
            match Builder::new().spawn_scoped(scope, work) {
                Ok(_) => {}
                Err(error) if number == 0 => return Err(no_thread(&error)),
                // Those that are there make all runs.
                Err(_) => break,
            }
        }
        drop(sender);
        Ok(act(&Crew { wanted, made }))
    })
}

/// Makes runs until there are no more. Those that follow each other at once are handed over together: waking somebody for each would take
/// about as long as the run.
fn serve(
    setup: &Setup<'_>,
    number: usize,
    timeout: Duration,
    queue: &Mutex<Receiver<Wanted>>,
    sender: &Sender<Vec<Made>>,
) {
    let mut worker = Worker::new(setup, number, timeout);
    loop {
        let first = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(first) = first else { return };
        let since = Instant::now();
        let mut made = Vec::new();
        let mut places = VecDeque::from([first.0]);
        let mut runs = vec![worker.timed(first.1)];
        while !runs.is_empty() {
            // Somebody who waits for more has the queue.
            if let Ok(queue) = queue.try_lock()
                && since.elapsed() <= LATEST
            {
                while runs.len() < worker.together
                    && made.len() + runs.len() < BATCH
                    && let Ok((place, run)) = queue.try_recv()
                {
                    places.push_back(place);
                    runs.push(worker.timed(run));
                }
            }
            let results = match worker.make(&runs) {
                Ok(all) => all.into_iter().map(Ok).collect(),
                Err(problem) => vec![Err(problem)],
            };
            runs.drain(..results.len());
            made.extend(places.drain(..results.len()).zip(results));
        }
        if sender.send(made).is_err() {
            return;
        }
    }
}

/// Why no run can be made.
fn no_thread(error: &io::Error) -> Problem {
    Problem::Message(format!("no thread can be started: {error}"))
}
