//! Several servers at a time. What they do comes back in the order of its numbers, however many there are.

use super::execution::Execution;
use super::server::{Problem, Server, Setup};
use crate::files;
use crate::sanitizer::execute::text_of;
use rsan_schedule::{Request, Schedule};
use std::cell::Cell;
use std::collections::BTreeMap;
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

    /// Makes all of these runs; what became of each.
    fn make_all(&mut self, wanted: Vec<Wanted>, made: &mut Vec<Made>) {
        let timed = |(place, run)| (place, self.timed(run));
        let (places, runs): (Vec<usize>, Vec<Request>) = wanted.into_iter().map(timed).unzip();
        let mut at = 0;
        while at < runs.len() {
            let end = runs.len().min(at + self.together);
            match self.make(&runs[at..end]) {
                Ok(all) => {
                    let from = at;
                    at += all.len();
                    made.extend(places[from..].iter().copied().zip(all.into_iter().map(Ok)));
                }
                Err(problem) => {
                    made.push((places[at], Err(problem)));
                    at += 1;
                }
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
const BATCH: usize = 32;
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
    wanted: Sender<Vec<Wanted>>,
    made: Receiver<Vec<Made>>,
    servers: usize,
    /// Runs that are handed to a server at a time.
    together: Cell<usize>,
}

impl Crew {
    /// Makes the runs of a round; what became of each, in their order.
    pub(super) fn make(&self, runs: impl IntoIterator<Item = Request>) -> Vec<Made> {
        let mut wanted: Vec<Wanted> = runs.into_iter().enumerate().collect();
        let count = wanted.len();
        let began = Instant::now();
        let together = self.together.get().min(count.div_ceil(self.servers)).max(1);
        while !wanted.is_empty() {
            let rest = wanted.split_off(wanted.len().min(together));
            // Servers end when this does.
            let _ = self.wanted.send(std::mem::replace(&mut wanted, rest));
        }
        let mut results = Vec::with_capacity(count);
        while results.len() < count {
            let Ok(made) = self.made.recv() else { break };
            results.extend(made);
        }
        // Whoever makes long runs gets them one by one, so that all have some until the end.
        let took = began.elapsed() * u32::try_from(together * self.servers).unwrap_or(u32::MAX);
        let each = took / u32::try_from(count.max(1)).unwrap_or(u32::MAX);
        self.together.set(match each < LATEST / 2 {
            true => (2 * together).min(BATCH),
            false => (together / 2).max(1),
        });
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
        Ok(act(&Crew {
            wanted,
            made,
            servers: jobs,
            together: Cell::new(1),
        }))
    })
}

/// Makes runs until there are no more. Those that follow each other at once are handed over together: waking somebody for each would take
/// about as long as the run.
fn serve(
    setup: &Setup<'_>,
    number: usize,
    timeout: Duration,
    queue: &Mutex<Receiver<Vec<Wanted>>>,
    sender: &Sender<Vec<Made>>,
) {
    let mut worker = Worker::new(setup, number, timeout);
    loop {
        let first = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(first) = first else { return };
        let since = Instant::now();
        let mut made = Vec::new();
        let mut next = Some(first);
        while let Some(wanted) = next {
            worker.make_all(wanted, &mut made);
            let is_full = made.len() >= BATCH || since.elapsed() > LATEST;
            // Somebody who waits for more has the queue.
            next = match queue.try_lock() {
                Ok(queue) if !is_full => queue.try_recv().ok(),
                _ => None,
            };
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
