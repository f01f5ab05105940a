//! Tests at work: a process of this command for each, several at a time; what comes of them is told in their order.

use super::record::Started;
use super::unit::{NAME, Order, Said};
use crate::files;
use crate::pause::{LOOKS, pause};
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, PipeReader, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// A test to run.
pub(super) struct Job {
    pub(super) order: Order,
    pub(super) started: Started,
}

/// What came of a test.
pub(super) struct Done {
    /// Nothing if the process could not do its work; it has said why.
    pub(super) said: Option<Said>,
    /// What was printed.
    pub(super) output: String,
    pub(super) seconds: f64,
}

/// Makes all jobs, so many at a time, and hands them to `take` in order. Those that the user did not wait for are `None`.
pub(super) fn in_order(
    jobs: &[Job],
    workers: usize,
    stop: &AtomicBool,
    mut take: impl FnMut(usize, Option<Done>),
) {
    let next = AtomicUsize::new(0);
    let (sender, results) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..workers.clamp(1, jobs.len().max(1)) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(number) else { return };
                    let done = match stop.load(Ordering::Relaxed) {
                        true => None,
                        false => Some(job.run(stop)),
                    };
                    if sender.send((number, done)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let mut expected = 0;
        for (number, done) in results {
            early.insert(number, done);
            while let Some(done) = early.remove(&expected) {
                take(expected, done);
                expected += 1;
            }
        }
    });
}

impl Job {
    fn run(&self, stop: &AtomicBool) -> Done {
        let start = Instant::now();
        let (said, output) = match self.attempt(stop) {
            Ok((said, output)) => (said, output),
            Err(error) => (None, format!("rsan: error: {error}\n")),
        };
        Done {
            said,
            output,
            seconds: start.elapsed().as_secs_f64(),
        }
    }

    fn attempt(&self, stop: &AtomicBool) -> io::Result<(Option<Said>, String)> {
        let file = self.order.said.with_extension("order");
        let order = serde_json::to_string(&self.order)?;
        // Only the process that is started next reads it.
        fs::write(&file, order)?;
        let (reader, writer) = io::pipe()?;
        let mut child = self.start(&file, writer)?;
        let output = Output::new(reader);
        wait(&mut child, stop)?;
        Ok((read(&self.order.said), output.text()))
    }

    fn start(&self, order: &Path, writer: io::PipeWriter) -> io::Result<Child> {
        let environment = self.started.environment.iter();
        Command::new(std::env::current_exe()?)
            .arg(NAME)
            .arg(order)
            .current_dir(&self.started.folder)
            .env_clear()
            .envs(environment.map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer)
            // Ctrl-C at a terminal is ours.
            .process_group(0)
            .spawn()
    }
}

/// Waits for a process, which is asked to end if the user wants that.
fn wait(child: &mut Child, stop: &AtomicBool) -> io::Result<()> {
    let (start, mut asked) = (Instant::now(), None);
    while child.try_wait()?.is_none() {
        if stop.load(Ordering::Relaxed) && asked.is_none() {
            // It may be gone already. The test, which is in its group, need not be waited for.
            let _ = kill_process_group(Pid::from_child(child), Signal::TERM);
            asked = Some(Instant::now());
        }
        if asked.is_some_and(|asked| asked.elapsed() > GRACE) {
            child.kill()?;
        }
        pause(start, LOOKS);
    }
    Ok(())
}

/// How long a process that was asked to end may take.
const GRACE: Duration = Duration::from_secs(5);

fn read(file: &Path) -> Option<Said> {
    let text = files::read_text(file, files::RECORD).ok()?;
    serde_json::from_str(&text).ok()
}

/// Bytes that are kept of what a test prints: so many of its beginning, and of its end.
const KEPT: usize = 64 << 10;

/// What a process prints.
struct Output {
    kept: Arc<Mutex<Kept>>,
    reader: thread::JoinHandle<()>,
}

#[derive(Default)]
struct Kept {
    start: Vec<u8>,
    end: Vec<u8>,
    left_out: usize,
}

impl Output {
    fn new(mut pipe: PipeReader) -> Self {
        let kept = Arc::new(Mutex::new(Kept::default()));
        let own = Arc::clone(&kept);
        let reader = thread::spawn(move || {
            let mut bytes = [0; 8192];
            while let Ok(count @ 1..) = pipe.read(&mut bytes) {
                let mut kept = own.lock().unwrap_or_else(PoisonError::into_inner);
                kept.add(&bytes[..count]);
            }
        });
        Self { kept, reader }
    }

    /// What was printed. Whoever the test left behind may print for ever, and is not waited for.
    fn text(self) -> String {
        let start = Instant::now();
        while !self.reader.is_finished() && start.elapsed() < Duration::from_millis(500) {
            thread::sleep(Duration::from_millis(1));
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.text()
    }
}

impl Kept {
    fn add(&mut self, bytes: &[u8]) {
        let room = KEPT.saturating_sub(self.start.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.start.extend_from_slice(first);
        self.end.extend_from_slice(rest);
        if self.end.len() > 2 * KEPT {
            let excess = self.end.len() - KEPT;
            self.end.drain(..excess);
            self.left_out += excess;
        }
    }

    fn text(&self) -> String {
        let (start, end) = (&self.start, &self.end);
        let start = String::from_utf8_lossy(start);
        let end = String::from_utf8_lossy(end);
        match self.left_out {
            0 => format!("{start}{end}"),
            bytes => format!("{start}\n[{bytes} bytes left out]\n{end}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_and_the_end_of_much_output_are_kept() {
        let mut kept = Kept::default();
        kept.add(b"start");
        (0..100).for_each(|_| kept.add(&[b'-'; 8192]));
        kept.add(b"end");
        let text = kept.text();
        assert!(text.starts_with("start-") && text.ends_with("-end"));
        assert!(text.len() < 4 * KEPT && text.contains("bytes left out"));
        let mut short = Kept::default();
        short.add(b"all");
        assert_eq!(short.text(), "all");
    }
}
