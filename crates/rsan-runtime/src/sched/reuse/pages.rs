//! Pages of the snapshot, and what has become of them.

use super::filter::call;
use std::fs;

pub(super) const PAGE: usize = 4096;
/// Pages that are kept at most: a run that writes to more is better made in a copy.
pub(super) const KEPT: usize = 4096;
/// Pages that a run may wipe at once.
const WIPED: usize = 256;
/// Parts of memory that are told apart.
const RANGES: usize = 4096;
/// Mappings that a run may have beside those of the snapshot.
const MAPPED: usize = 256;
/// Mappings of the snapshot that a run may give back.
const GONE: usize = 16;

type Page = [u8; PAGE];

/// The program's memory at the snapshot. Lies in memory of its own, which is zeroed at first.
#[repr(C, align(4096))]
pub(super) struct Pages {
    /// What pages held at the snapshot.
    content: [Page; KEPT],
    /// Where they are; the first of them.
    address: [usize; KEPT],
    kept: usize,
    /// Private memory that could be written to.
    ranges: [(usize, usize); RANGES],
    number: usize,
    /// Private memory that could not be used at all: below stacks, and the like.
    guards: [(usize, usize); RANGES],
    guarded: usize,
    /// Memory of the snapshot that the run has given back. It cannot be used until the run is over.
    gone: [(usize, usize); GONE],
    losses: usize,
    /// What the run has mapped itself.
    mapped: [(usize, usize); MAPPED],
    mappings: usize,
    /// The end of the heap of the system.
    end: usize,
}

pub(super) fn protect(start: usize, end: usize, protection: i32) -> bool {
    let arguments = [start, end - start, protection as usize, 0, 0, 0];
    // SAFETY: memory that could be written to; a write that is not allowed comes to the handler.
    (unsafe { call(libc::SYS_mprotect, arguments) }) == 0
}

pub(super) const WRITABLE: i32 = libc::PROT_READ | libc::PROT_WRITE;

impl Pages {
    /// Finds the private memory that can be written to, except for `own`. False if there is more than can be told apart.
    pub(super) fn find(&mut self, own: (usize, usize)) -> bool {
        let Ok(maps) = fs::read_to_string("/proc/self/maps") else {
            return false;
        };
        for guard in maps.lines().filter_map(|line| private(line, "---")) {
            if self.guarded == RANGES {
                return false;
            }
            self.guards[self.guarded] = guard;
            self.guarded += 1;
        }
        for (start, end) in maps.lines().filter_map(|line| private(line, "rw")) {
            let outside = end <= own.0 || own.1 <= start;
            // Mappings that touch each other are shown as one.
            let parts = match outside {
                true => [(start, end), (0, 0)],
                false => [(start, own.0.max(start)), (own.1.min(end), end)],
            };
            for part in parts.into_iter().filter(|(start, end)| start < end) {
                if self.number == RANGES {
                    return false;
                }
                self.ranges[self.number] = part;
                self.number += 1;
            }
        }
        // SAFETY: asks for the end of the heap.
        self.end = unsafe { call(libc::SYS_brk, [0; 6]) } as usize;
        true
    }

    fn ranges(&self) -> &[(usize, usize)] {
        &self.ranges[..self.number]
    }

    /// Nothing is written from here on without being kept first.
    pub(super) fn protect(&self) -> bool {
        self.ranges()
            .iter()
            .all(|(start, end)| protect(*start, *end, libc::PROT_READ))
    }

    /// Everything can be written to again.
    pub(super) fn give_up(&self) {
        for (start, end) in self.ranges() {
            protect(*start, *end, WRITABLE);
        }
    }

    /// Whether an address is one of the snapshot's memory.
    pub(super) fn has(&self, address: usize) -> bool {
        self.ranges().iter().any(|range| is_in(address, range))
    }

    /// The memory of the snapshot around an address.
    pub(super) fn range(&self, address: usize) -> Option<(usize, usize)> {
        let mut ranges = self.ranges().iter();
        ranges.find(|range| is_in(address, range)).copied()
    }

    /// All memory that a run may write to.
    pub(super) fn all(&self) -> impl Iterator<Item = (usize, usize)> {
        let mapped = self.mapped[..self.mappings].iter();
        let mapped = mapped.map(|&(start, bytes)| (start, start + bytes));
        self.ranges().iter().copied().chain(mapped)
    }

    /// Whether a page is part of it now.
    pub(super) fn is_there(&self, page: usize) -> bool {
        self.has(page) && !self.is_gone(page) || self.is_mapped(page, PAGE)
    }

    /// Whether all of it is that of the snapshot, or was mapped by the run.
    pub(super) fn is_told(&self) -> bool {
        // SAFETY: asks for the end of the heap.
        self.losses == 0 && unsafe { call(libc::SYS_brk, [0; 6]) } as usize == self.end
    }

    fn is_gone(&self, address: usize) -> bool {
        let mut gone = self.gone[..self.losses].iter();
        gone.any(|range| is_in(address, range))
    }

    /// The run gives back memory of the snapshot. False if that cannot be undone.
    pub(super) fn lose(&mut self, start: usize, bytes: usize) -> bool {
        let end = start.saturating_add(bytes);
        let guards = &self.guards[..self.guarded];
        let mut at = start;
        while at < end {
            let mut known = self.ranges().iter().chain(guards);
            match known.find(|range| is_in(at, range)) {
                Some((_, next)) => at = *next,
                None => return false,
            }
        }
        if self.losses == GONE {
            return false;
        }
        self.gone[self.losses] = (start, end);
        self.losses += 1;
        self.parts(start, end)
            .all(|(start, end)| protect(start, end, libc::PROT_NONE))
    }

    /// The parts of memory that could be written to.
    fn parts(&self, start: usize, end: usize) -> impl Iterator<Item = (usize, usize)> {
        let ranges = self.ranges().iter();
        let parts = ranges.map(move |range| (range.0.max(start), range.1.min(end)));
        parts.filter(|(start, end)| start < end)
    }

    /// What the run has given back is there again, with the pages that were kept of it.
    fn regain(&mut self) {
        for &(start, end) in &self.gone[..self.losses] {
            for (start, end) in self.parts(start, end) {
                protect(start, end, libc::PROT_READ);
            }
            let kept = &self.address[..self.kept];
            for page in kept.iter().filter(|page| is_in(**page, &(start, end))) {
                protect(*page, *page + PAGE, WRITABLE);
            }
        }
        self.losses = 0;
    }

    fn is_kept(&self, page: usize) -> bool {
        self.address[..self.kept].contains(&page)
    }

    /// Keeps the page of an address, and lets it be written to. False if it is not one of the snapshot's, or is kept already.
    pub(super) fn keep(&mut self, address: usize) -> Kept {
        let page = address & !(PAGE - 1);
        if !self.has(page) || self.is_kept(page) || self.is_gone(page) {
            return Kept::NotOurs;
        }
        let index = self.kept;
        if index == KEPT {
            return Kept::NoRoom;
        }
        // SAFETY: a page that can be read; the other one is ours.
        unsafe { copy_page(page, self.content[index].as_ptr() as usize) };
        self.address[index] = page;
        self.kept = index + 1;
        protect(page, page + PAGE, WRITABLE);
        Kept::Now
    }

    /// Puts everything back.
    pub(super) fn restore(&mut self) {
        self.regain();
        for (page, content) in self.address[..self.kept].iter().zip(&self.content) {
            // SAFETY: the page can be written to since it was kept, and nobody else runs.
            unsafe { copy_page(content.as_ptr() as usize, *page) };
        }
        for (start, bytes) in &self.mapped[..self.mappings] {
            // SAFETY: the run has mapped it, and is over.
            unsafe { call(libc::SYS_munmap, [*start, *bytes, 0, 0, 0, 0]) };
        }
        self.mappings = 0;
        // SAFETY: asks for the end of the heap, and takes back what the run added to it.
        unsafe {
            if call(libc::SYS_brk, [0; 6]) as usize != self.end {
                call(libc::SYS_brk, [self.end, 0, 0, 0, 0, 0]);
            }
        }
    }

    /// The run has mapped memory. False if there is no room to remember it.
    pub(super) fn map(&mut self, start: usize, bytes: usize) -> bool {
        let there_is_room = self.mappings < MAPPED;
        if there_is_room {
            self.mapped[self.mappings] = (start, bytes);
            self.mappings += 1;
        }
        there_is_room
    }

    /// The end of the heap of the system, as the program wants it; where it is then. It never comes below that of the snapshot, whose memory would be
    /// lost: the system may refuse to take memory back.
    pub(super) fn grow(&mut self, end: usize) -> isize {
        let end = if end == 0 { 0 } else { end.max(self.end) };
        // SAFETY: memory that the run has added to the heap, or adds.
        unsafe { call(libc::SYS_brk, [end, 0, 0, 0, 0, 0]) }
    }

    /// Whole pages of the snapshot read as zero from now on. False, and all of them are as they were, if they are too many or not all the snapshot's.
    pub(super) fn wipe(&mut self, start: usize, end: usize) -> bool {
        let pages = || (start..end).step_by(PAGE);
        let is_ours = |page| self.has(page) && !self.is_gone(page);
        if pages().len() > WIPED.min(KEPT - self.kept) || !pages().all(is_ours) {
            return false;
        }
        for page in pages() {
            self.keep(page);
            // SAFETY: a page that can be written to since it was kept.
            unsafe { wipe_page(page) };
        }
        true
    }

    /// Whether [`Self::advance`] is possible.
    pub(super) fn can_advance(&self) -> bool {
        self.losses == 0 && self.number + self.mappings < RANGES
    }

    /// The snapshot's memory is what there is now. False if that cannot be told to the system.
    pub(super) fn advance(&mut self) -> bool {
        for &(start, bytes) in &self.mapped[..self.mappings] {
            self.ranges[self.number] = (start, start + bytes);
            self.number += 1;
        }
        // SAFETY: asks for the end of the heap.
        let end = unsafe { call(libc::SYS_brk, [0; 6]) } as usize;
        let pages = [self.end, end].map(|end| end.next_multiple_of(PAGE));
        if pages[0] < pages[1] {
            self.ranges[self.number] = (pages[0], pages[1]);
            self.number += 1;
        }
        (self.mappings, self.kept, self.end) = (0, 0, end);
        self.protect()
    }

    /// Whether memory was mapped by the run, and by one call; then it is forgotten.
    pub(super) fn unmap(&mut self, start: usize, bytes: usize) -> bool {
        let mapped = &self.mapped[..self.mappings];
        let found = mapped.iter().position(|part| *part == (start, bytes));
        if let Some(place) = found {
            self.mappings -= 1;
            self.mapped[place] = self.mapped[self.mappings];
        }
        found.is_some()
    }

    /// Whether memory is part of what the run has mapped.
    pub(super) fn is_mapped(&self, start: usize, bytes: usize) -> bool {
        let mapped = &self.mapped[..self.mappings];
        let is_in = |&(from, size): &(usize, usize)| from <= start && start + bytes <= from + size;
        mapped.iter().any(is_in)
    }
}

/// What came of keeping a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kept {
    Now,
    NotOurs,
    NoRoom,
}

/// Copies a page without the help of a library, whose functions may be the program's.
///
/// # Safety
/// `from` can be read, `to` written to; both are whole pages.
#[inline(always)]
unsafe fn copy_page(from: usize, to: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        std::arch::asm!(
            "rep movsq",
            inout("rcx") PAGE / 8 => _,
            inout("rsi") from => _,
            inout("rdi") to => _,
            options(nostack, preserves_flags),
        );
    }
}

/// Makes a page all zeroes, in the same way.
///
/// # Safety
/// It can be written to, and is a whole page.
#[inline(always)]
unsafe fn wipe_page(page: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        std::arch::asm!(
            "rep stosq",
            inout("rcx") PAGE / 8 => _,
            inout("rdi") page => _,
            in("rax") 0,
            options(nostack, preserves_flags),
        );
    }
}

fn is_in(address: usize, &(start, end): &(usize, usize)) -> bool {
    start <= address && address < end
}

/// Private memory with such rights, in a line of the system's table.
fn private(line: &str, wanted: &str) -> Option<(usize, usize)> {
    let mut words = line.split_whitespace();
    let (range, rights) = (words.next()?, words.next()?);
    let (start, end) = range.split_once('-')?;
    let number = |text: &str| usize::from_str_radix(text, 16).ok();
    let wanted = rights.starts_with(wanted) && rights.ends_with('p');
    wanted.then_some((number(start)?, number(end)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_memory_is_told_from_the_rest() {
        let writable = |line| private(line, "rw");
        let heap = "55a0-55b0 rw-p 00000000 00:00 0 [heap]";
        assert_eq!(writable(heap), Some((0x55a0, 0x55b0)));
        assert_eq!(writable("1000-2000 r-xp 00000000 fe:00 7 /lib/x"), None);
        assert_eq!(writable("1000-2000 rw-s 00000000 00:01 7 /dev/zero"), None);
        let guard = "1000-2000 ---p 00000000 00:00 0";
        assert_eq!(writable(guard), None);
        assert_eq!(private(guard, "---"), Some((0x1000, 0x2000)));
    }
}
