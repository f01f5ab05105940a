//! What happened: the steps of a run, in memory that whoever started it can see ([`rsan_schedule::shared`]).

use crate::report;
use libc::c_int;
use rsan_schedule::shared::{Header, LENGTH, ROOM};
use rsan_schedule::{End, Step};
use std::ffi::CStr;

/// The steps of a run.
#[derive(Debug)]
pub(crate) struct Trace {
    memory: *mut u8,
    shared: bool,
    header: Header,
}

impl Trace {
    /// Memory of the file, or of this process if there is none.
    pub(crate) fn new(path: Option<&CStr>) -> Self {
        let mut file = -1;
        if let Some(path) = path {
            // SAFETY: the path is a C string.
            file = unsafe { libc::open(path.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) };
            if file < 0 {
                crate::fatal::die(&["cannot open the file for the schedule"]);
            }
        }
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags: c_int = match file {
            -1 => libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            _ => libc::MAP_SHARED,
        };
        // SAFETY: a new mapping.
        let memory =
            unsafe { libc::mmap(std::ptr::null_mut(), LENGTH, protection, flags, file, 0) };
        if memory == libc::MAP_FAILED {
            crate::fatal::out_of_memory("the schedule");
        }
        if file >= 0 {
            // SAFETY: opened above; the mapping stays.
            unsafe { libc::close(file) };
        }
        Self {
            memory: memory.cast(),
            shared: file >= 0,
            header: Header::default(),
        }
    }

    /// The same memory, for another run.
    pub(crate) fn again(&self) -> Self {
        let mut trace = Self {
            memory: self.memory,
            shared: self.shared,
            header: Header::default(),
        };
        trace.publish();
        trace
    }

    /// Where it is.
    pub(super) fn memory(&self) -> *mut u8 {
        self.memory
    }

    /// What the run has published.
    pub(super) fn published(&self) -> Header {
        let mut bytes = [0; Header::BYTES];
        // SAFETY: the mapping begins with the header; a torn one is only compared with others.
        unsafe { std::ptr::copy_nonoverlapping(self.memory, bytes.as_mut_ptr(), bytes.len()) };
        Header::from_bytes(&bytes).unwrap_or_default()
    }

    /// Whether somebody else sees it.
    pub(super) fn is_shared(&self) -> bool {
        self.shared
    }

    /// Steps so far, also those that there was no room for.
    pub(super) fn steps(&self) -> u64 {
        self.header.steps
    }

    fn publish(&mut self) {
        let bytes = self.header.to_bytes();
        // SAFETY: the mapping begins with the header, and nobody else writes there.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.memory, bytes.len()) };
    }

    fn place(&self, index: usize) -> Option<*mut u8> {
        // SAFETY: within the mapping.
        (index < ROOM).then(|| unsafe { self.memory.add(Header::BYTES + index * Step::BYTES) })
    }

    /// Another step; perhaps others could have made one.
    pub(super) fn push(&mut self, step: &Step, choice: bool) {
        self.set(self.header.steps as usize, step);
        self.header.steps += 1;
        self.header.choices += u64::from(choice);
        self.publish();
    }

    /// What a thread that is left at the end was about to do.
    pub(super) fn leave(&mut self, step: &Step) {
        if self.header.end == End::Silent {
            self.set(
                self.header.steps as usize + self.header.pending as usize,
                step,
            );
            self.header.pending += 1;
        }
    }

    /// Changes a step.
    pub(super) fn set(&mut self, index: usize, step: &Step) {
        if let Some(place) = self.place(index) {
            let bytes = step.to_bytes();
            // SAFETY: `place` has room for a step.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), place, bytes.len()) };
        }
    }

    /// These steps are a failed spin iteration. One that read a single word has written nothing. If there were plain accesses in it, its
    /// state does not tell what the thread does.
    pub(super) fn mark_vain(&mut self, round: &[usize], plain: bool) {
        let alone = round.len() == 1;
        for &index in round {
            let Some(place) = self.place(index) else {
                continue;
            };
            let mut bytes = [0; Step::BYTES];
            // SAFETY: `place` holds a step.
            unsafe { std::ptr::copy_nonoverlapping(place, bytes.as_mut_ptr(), bytes.len()) };
            if let Some(step) = Step::from_bytes(&bytes) {
                let writes = step.writes && !alone;
                let (vain, mut local) = (true, step.local);
                if plain {
                    local.state = 0;
                }
                self.set(
                    index,
                    &Step {
                        writes,
                        vain,
                        local,
                        ..step
                    },
                );
            }
        }
    }

    /// The steps so far, if all of them have found room.
    pub(super) fn records(&self) -> Option<Vec<u8>> {
        let steps = self.header.steps as usize;
        let start = (steps <= ROOM).then(|| self.place(0))??;
        // SAFETY: so many steps were written there.
        Some(unsafe { std::slice::from_raw_parts(start, steps * Step::BYTES) }.to_vec())
    }

    /// Other runs may have been made since; these are the steps again that there were at [`Self::records`].
    pub(super) fn go_back(&mut self, records: &[u8]) {
        if let Some(start) = self.place(0) {
            // SAFETY: there was room for them.
            unsafe { std::ptr::copy_nonoverlapping(records.as_ptr(), start, records.len()) };
        }
        self.publish();
    }

    /// Forgets the steps behind so many.
    pub(super) fn shorten(&mut self, steps: u64) {
        self.header.steps = self.header.steps.min(steps);
    }

    /// A read at this place leaves sequential consistency; the first one counts.
    pub(super) fn deviate(&mut self, place: u64) {
        if self.header.deviated == 0 {
            self.header.deviated = place;
            self.publish();
        }
    }

    /// A thread has slept, or waited for as long as it wanted to.
    pub(super) fn time_passes(&mut self) {
        self.header.timed = true;
    }

    /// Atomic memory is overwritten by plain accesses.
    pub(super) fn overwrites(&mut self) {
        self.header.overwrites = true;
        self.publish();
    }

    /// Another thread runs.
    pub(super) fn switched(&mut self) {
        self.header.switches += 1;
    }

    /// The run is over.
    pub(super) fn end(&mut self, end: End, diverged: u64) {
        if self.header.end == End::Silent {
            self.header.end = end;
            self.header.diverged = diverged;
            self.header.findings = report::count() as u32;
            self.header.processor = processor();
            self.publish();
        }
    }
}

/// The processor that this runs on, counted from 1; 0: nobody knows.
fn processor() -> u16 {
    // SAFETY: a plain question.
    let number = unsafe { libc::sched_getcpu() };
    u16::try_from(number + 1).unwrap_or(0)
}
