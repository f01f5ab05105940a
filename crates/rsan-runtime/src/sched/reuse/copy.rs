//! Copies of a keeper that find something out ([`crate::probe`]): their memory, and which pages the program reads there.
//!
//! A copy has the keeper's filter and handlers, and its memory is protected as the keeper's is. Here the handler lets it write to
//! all of it. If somebody wants to know what the answer depends on ([`super::memo`]), nothing of the program's memory can be used at first, and each page
//! that is touched is noted.

use super::keeper::{Keeper, keeper};
use super::pages::{PAGE, protect};
use crate::mapping;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// Pages that are noted.
pub(super) const NOTED: usize = 24;

/// The pages that a copy touched, in memory that it shares with the keeper. All zeroes: none.
#[derive(Debug)]
pub(crate) struct Touched {
    count: AtomicU32,
    /// The answer depends on something else, too.
    depends: AtomicU32,
    pages: [AtomicUsize; NOTED],
}

impl Touched {
    fn note(&self, page: usize) {
        // ORDERING: relaxed, here and below; the copy has one thread, and the keeper looks after its end.
        let index = self.count.fetch_add(1, Ordering::Relaxed) as usize;
        match self.pages.get(index) {
            // ORDERING: relaxed, as above.
            Some(place) => place.store(page, Ordering::Relaxed),
            None => self.depend(),
        }
    }

    fn depend(&self) {
        // ORDERING: relaxed, as above.
        self.depends.store(1, Ordering::Relaxed);
    }

    /// All of them in order, if that is what the answer depends on.
    pub(super) fn all(&self) -> Option<([usize; NOTED], usize)> {
        // ORDERING: relaxed, here and below; the copy has ended.
        if self.depends.load(Ordering::Relaxed) != 0 {
            return None;
        }
        // ORDERING: relaxed, as above.
        let count = self.count.load(Ordering::Relaxed) as usize;
        let mut pages = [0; NOTED];
        for (page, noted) in pages.iter_mut().zip(&self.pages[..count]) {
            // ORDERING: relaxed, as above.
            *page = noted.load(Ordering::Relaxed);
        }
        pages[..count].sort_unstable();
        Some((pages, count))
    }
}

/// What the keeper's memory says of a copy, in the copy. All zeroes: this is the keeper itself.
#[derive(Debug)]
pub(super) struct Copy {
    is_one: bool,
    touched: Option<&'static Touched>,
    /// The part of the thread's stack that holds nothing of the program's.
    dead: (usize, usize),
}

impl Copy {
    /// Whether this is one.
    pub(super) fn is_one(&self) -> bool {
        self.is_one
    }
}

impl Keeper {
    /// Where memory ends that is not the program's, if the address lies in such.
    fn end_of_own(&self, address: usize) -> Option<usize> {
        let parts = [self.copy.dead, self.library];
        let mut all = parts.into_iter().chain(mapping::own());
        all.find(|&(start, end)| start <= address && address < end)
            .map(|(_, end)| end)
    }

    /// The next place where memory begins that is not the program's.
    fn next_own(&self, address: usize) -> Option<usize> {
        let parts = [self.copy.dead, self.library];
        let all = parts.into_iter().chain(mapping::own());
        all.map(|(start, _)| start)
            .filter(|start| *start > address)
            .min()
    }

    /// Nothing of the program's memory can be used without a fault.
    fn close(&self) {
        for (start, end) in self.pages.all() {
            let mut at = start;
            while at < end {
                at = match self.end_of_own(at) {
                    Some(next) => next,
                    None => {
                        let next = self.next_own(at).unwrap_or(end).min(end);
                        protect(at, next, libc::PROT_NONE);
                        next
                    }
                };
            }
        }
    }

    /// Whether this is a copy, in which a page is to be used now: `None` if it is no copy, false if there is no such page.
    pub(super) fn let_in(&self, address: usize) -> Option<bool> {
        if !self.copy.is_one {
            return None;
        }
        let page = address & !(PAGE - 1);
        if !self.pages.is_there(page) {
            return Some(false);
        }
        if let Some(touched) = self.copy.touched
            && self.end_of_own(page).is_none()
        {
            touched.note(page);
        }
        Some(protect(
            page,
            page + PAGE,
            libc::PROT_READ | libc::PROT_WRITE,
        ))
    }
}

/// In a copy: its memory is its own. With `dead`, the part of the thread's stack that holds nothing of the program's, it is noted which pages the
/// program touches.
pub(crate) fn begin(stack: usize, dead: Option<(usize, usize)>, touched: &'static Touched) {
    let Some(keeper) = keeper() else { return };
    keeper.copy.is_one = true;
    // The system writes there, and asks no handler.
    if let Some((start, end)) = dead.or_else(|| keeper.pages.range(stack)) {
        protect(start, end, libc::PROT_READ | libc::PROT_WRITE);
    }
    if let Some(dead) = dead {
        keeper.copy.touched = Some(touched);
        keeper.copy.dead = dead;
        keeper.close();
    }
}

/// What a copy finds out depends on what the runtime knows, and not only on the program's memory.
pub(crate) fn depend() {
    if let Some(touched) = keeper().and_then(|keeper| keeper.copy.touched) {
        touched.depend();
    }
}
