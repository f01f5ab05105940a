//! Code and constants of the program, in copies of it.
//!
//! A copy of a process has its private memory, but the system leaves out memory that is only a *view* of a file: code and
//! constants are looked up again, with a page fault for every few pages of them, in each copy. Where one page of a view
//! differs from the file, the system copies what is known of all its pages instead, which costs less than the faults if
//! it is only known of the pages that are used.
//!
//! So the first run finds out which ones those are: the system is asked to look its pages up one by one
//! (`userfaultfd`; otherwise it looks up their neighbours, too), and at its end the run marks those that it has. Then
//! the process that is copied forgets all pages but these. If the system does not let us, copies are only slower.

use crate::modules;
use crate::system::system_call;
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

const PAGE: usize = 4096;
/// In an entry of `/proc/self/pagemap`: the page is there, and it is one of a file.
const THERE: u64 = 1 << 63;
const OF_FILE: u64 = 1 << 61;
/// Pages that the system looks up at a time.
const NEIGHBOURS: usize = 16;
/// Runs that are asked, until one comes to its end.
const TRIES: u32 = 3;

/// The views of the process that is copied.
#[derive(Debug)]
pub(super) struct Views(Stage);

#[derive(Debug)]
enum Stage {
    /// The next run marks its pages.
    Asking { tries: u32 },
    /// The pages are known. Those that the copied process needs itself are looked up one by one, too.
    Settling(OwnedFd),
    /// Nothing is left to do.
    Over,
}

/// The views, as whole pages, and what runs say about them.
#[derive(Debug)]
struct Marks {
    ranges: Vec<(usize, usize)>,
    /// In memory that copies share: first whether a run has come to its end, then a byte for each page.
    bytes: *const AtomicU8,
}

// SAFETY: the bytes are atomic and stay where they are.
unsafe impl Send for Marks {}
// SAFETY: as above.
unsafe impl Sync for Marks {}

static MARKS: OnceLock<Marks> = OnceLock::new();
/// Set in a run that is asked.
static ASKED: AtomicBool = AtomicBool::new(false);

impl Views {
    /// To be called once, by the process that is copied.
    pub(super) fn new() -> Self {
        let marks = Marks::new();
        let stage = match marks.is_some_and(|marks| MARKS.set(marks).is_ok()) {
            true => Stage::Asking { tries: TRIES },
            false => Stage::Over,
        };
        Self(stage)
    }

    /// In a copy. One that makes many runs is not asked: its pages stay.
    pub(super) fn in_copy(self, makes_one_run: bool) {
        match self.0 {
            Stage::Asking { .. } if makes_one_run => {
                let watching = MARKS.get().and_then(|marks| marks.watch());
                // It has to stay, for the run.
                let is_watched = watching.map(std::mem::forget).is_some();
                // ORDERING: relaxed; there is one thread.
                ASKED.store(is_watched, Ordering::Relaxed);
            }
            Stage::Settling(watching) => {
                let file = watching.into_raw_fd() as usize;
                // SAFETY: the copy's own number of the file, which nobody else has.
                unsafe { system_call(libc::SYS_close, [file, 0, 0, 0, 0, 0]) };
            }
            Stage::Asking { .. } | Stage::Over => {}
        }
    }

    /// A copy that made one run is over.
    pub(super) fn learn(&mut self) {
        self.0 = match (&self.0, MARKS.get()) {
            (Stage::Asking { .. }, Some(marks)) if marks.byte(0).load(Ordering::Acquire) != 0 => {
                marks.keep().map_or(Stage::Over, Stage::Settling)
            }
            (&Stage::Asking { tries }, _) if tries > 1 => Stage::Asking { tries: tries - 1 },
            _ => Stage::Over,
        };
    }
}

/// At the end of a run: marks its pages, if it is asked.
pub(super) fn mark() {
    // ORDERING: relaxed; set while there was one thread.
    if ASKED.swap(false, Ordering::Relaxed)
        && let Some(marks) = MARKS.get()
    {
        marks.mark();
    }
}

impl Marks {
    fn new() -> Option<Self> {
        let modules = modules::modules();
        let views = modules.iter().flat_map(|module| &module.views);
        let whole =
            |&(start, end): &(usize, usize)| (start / PAGE * PAGE, end.next_multiple_of(PAGE));
        let ranges: Vec<_> = views.map(whole).collect();
        let pages: usize = ranges.iter().map(|(start, end)| (end - start) / PAGE).sum();
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        let arguments = [
            0,
            1 + pages,
            protection as usize,
            flags as usize,
            usize::MAX,
            0,
        ];
        // SAFETY: a new mapping.
        let place = unsafe { system_call(libc::SYS_mmap, arguments) };
        let bytes = (place > 0).then_some(place as *const AtomicU8)?;
        Some(Self { ranges, bytes })
    }

    fn byte(&self, index: usize) -> &AtomicU8 {
        // SAFETY: the mapping has a byte for each page and one more, zeroed, and stays.
        unsafe { &*self.bytes.add(index) }
    }

    /// The views, each with the index of its first page.
    fn views(&self) -> impl Iterator<Item = (usize, &(usize, usize))> {
        let firsts = self.ranges.iter().scan(1, |next, (start, end)| {
            let first = *next;
            *next += (end - start) / PAGE;
            Some(first)
        });
        firsts.zip(&self.ranges)
    }

    /// From now on the system looks pages of the views up one by one, as long as the file is open. It knows none.
    fn watch(&self) -> Option<OwnedFd> {
        let map = File::open("/proc/self/pagemap").ok()?;
        let watching = watching()?;
        for range in &self.ranges {
            // The system's own code is not watched.
            if register(&watching, *range) {
                forget(&map, *range)?;
            }
        }
        Some(watching)
    }

    /// Marks the pages that are there.
    fn mark(&self) {
        let Ok(map) = File::open("/proc/self/pagemap") else {
            return;
        };
        for (first, range) in self.views() {
            for (page, entry) in entries(&map, *range).into_iter().enumerate() {
                // ORDERING: relaxed; published by the first byte.
                self.byte(first + page)
                    .store(u8::from(entry & THERE != 0), Ordering::Relaxed);
            }
        }
        // ORDERING: release, with the acquire in `learn`.
        self.byte(0).store(1, Ordering::Release);
    }

    /// The marked pages are there, and few others.
    fn keep(&self) -> Option<OwnedFd> {
        let memory = File::options()
            .read(true)
            .write(true)
            .open("/proc/self/mem")
            .ok()?;
        let watching = self.watch()?;
        for (first, &(start, end)) in self.views() {
            let pages = (end - start) / PAGE;
            // ORDERING: relaxed; the run has ended.
            let is_used = |page: &usize| self.byte(first + page).load(Ordering::Relaxed) != 0;
            let mut groups: Vec<_> = (0..pages)
                .filter(is_used)
                .map(|page| page / NEIGHBOURS)
                .collect();
            groups.dedup();
            if groups.len() < 2 {
                continue;
            }
            for page in (0..pages).filter(is_used) {
                // SAFETY: a page of a module.
                unsafe { ((start + page * PAGE) as *const u8).read_volatile() };
            }
            // The same byte again: the page is a private one from now on, and copies get what is known of the others.
            let mut byte = [0];
            memory.read_exact_at(&mut byte, start as u64).ok()?;
            memory.write_all_at(&byte, start as u64).ok()?;
        }
        Some(watching)
    }
}

/// What the system says about the pages of a range; nothing if it does not.
fn entries(map: &File, (start, end): (usize, usize)) -> Vec<u64> {
    let mut bytes = vec![0; (end - start) / PAGE * 8];
    if map
        .read_exact_at(&mut bytes, (start / PAGE * 8) as u64)
        .is_err()
    {
        return Vec::new();
    }
    let words = bytes.chunks_exact(8);
    words
        .map(|word| word.try_into().map_or(0, u64::from_le_bytes))
        .collect()
}

/// Makes the system forget the pages of a range that are those of the file.
fn forget(map: &File, range: (usize, usize)) -> Option<()> {
    let pages = entries(map, range);
    if pages.is_empty() {
        return None;
    }
    for (page, entry) in pages.into_iter().enumerate() {
        if entry & THERE != 0 && entry & OF_FILE != 0 {
            let arguments = [
                range.0 + page * PAGE,
                PAGE,
                libc::MADV_DONTNEED as usize,
                0,
                0,
                0,
            ];
            // SAFETY: the page is as the file has it, and is looked up again when it is used.
            unsafe { system_call(libc::SYS_madvise, arguments) };
        }
    }
    Some(())
}

/// Where the number of the file is out of the program's way.
const FAR: usize = 1000;
const USER_MODE_ONLY: usize = 1;
/// `UFFDIO_API` and `UFFDIO_REGISTER`.
const ANNOUNCE: usize = 0xc018_aa3f;
const REGISTER: usize = 0xc020_aa00;
const VERSION: u64 = 0xaa;
/// Writes need no answer.
const WITHOUT_ANSWERS: u64 = 1 << 15;
const WRITES: u64 = 1 << 1;

/// A file by which pages are watched, if the system has such files.
fn watching() -> Option<OwnedFd> {
    let flags = libc::O_CLOEXEC as usize | USER_MODE_ONLY;
    // SAFETY: makes a file.
    let near = unsafe { system_call(libc::SYS_userfaultfd, [flags, 0, 0, 0, 0, 0]) };
    let near = usize::try_from(near).ok()?;
    let arguments = [near, libc::F_DUPFD_CLOEXEC as usize, FAR, 0, 0, 0];
    // SAFETY: the file was just made; the second number stays.
    let far = unsafe {
        let far = system_call(libc::SYS_fcntl, arguments);
        system_call(libc::SYS_close, [near, 0, 0, 0, 0, 0]);
        far
    };
    // SAFETY: just made, and nobody else's.
    let file = (far >= 0).then(|| unsafe { OwnedFd::from_raw_fd(far as i32) })?;
    let mut words = [VERSION, WITHOUT_ANSWERS, 0];
    control(&file, ANNOUNCE, &mut words).then_some(file)
}

fn register(watching: &OwnedFd, (start, end): (usize, usize)) -> bool {
    let mut words = [start as u64, (end - start) as u64, WRITES, 0];
    control(watching, REGISTER, &mut words)
}

fn control(file: &OwnedFd, request: usize, words: &mut [u64]) -> bool {
    let arguments = [
        file.as_raw_fd() as usize,
        request,
        words.as_mut_ptr() as usize,
        0,
        0,
        0,
    ];
    // SAFETY: the words are what the request takes.
    (unsafe { system_call(libc::SYS_ioctl, arguments) }) == 0
}
