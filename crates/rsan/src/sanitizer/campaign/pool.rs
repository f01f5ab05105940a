//! Several servers at a time. What they do comes back in the order of its numbers, however many there are.

use super::execution::Execution;
use super::server::{Problem, Server, Setup};
use rsan_schedule::Request;
use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

/// A place for a server, which is started when it is needed, and again when it died.
pub(super) struct Worker<'a> {
    setup: &'a Setup<'a>,
    number: usize,
    timeout: Duration,
    server: Option<Server<'a>>,
}

impl<'a> Worker<'a> {
    pub(super) fn new(setup: &'a Setup<'a>, number: usize, timeout: Duration) -> Self {
        Self {
            setup,
            number,
            timeout,
            server: None,
        }
    }

    /// Makes a run; again, if the server dies, which may not be the run's fault.
    pub(super) fn run(&mut self, request: Request) -> Result<Execution, Problem> {
        let request = Request {
            timeout: Some(u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX)),
            ..request
        };
        let mut deaths = 0;
        loop {
            if self.setup.is_over() {
                return Err(Problem::Stopped);
            }
            let mut server = match self.server.take() {
                Some(server) => server,
                None => Server::start(self.setup, self.number)?,
            };
            match server.run(&request) {
                Ok(execution) => {
                    self.server = Some(server);
                    return Ok(execution);
                }
                Err(Problem::Died) if deaths == 0 => deaths += 1,
                Err(Problem::Died) => return server.last(),
                Err(problem) => return Err(problem),
            }
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

/// Why no run can be made.
pub(super) fn no_thread(error: &io::Error) -> Problem {
    Problem::Message(format!("no thread can be started: {error}"))
}
