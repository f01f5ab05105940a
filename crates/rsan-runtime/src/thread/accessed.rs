//! Memory that a thread has accessed, and what is in it: whether a round of a loop has left it as it was, and has accessed nothing new.

use std::sync::atomic::{AtomicUsize, Ordering};

/// How often memory was given back, and what was given back last, as first and last bytes.
static COUNT: AtomicUsize = AtomicUsize::new(0);
static GONE: [[AtomicUsize; 2]; RANGES] = [const { [const { AtomicUsize::new(0) }; 2] }; RANGES];
const RANGES: usize = 64;

/// Memory is about to be given back, perhaps to the system: nobody looks there any more.
pub(crate) fn memory_goes(address: usize, bytes: usize) {
    // ORDERING: relaxed; one thread of the program runs.
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let [first, last] = &GONE[number % RANGES];
    // ORDERING: relaxed, as above.
    first.store(address, Ordering::Relaxed);
    // ORDERING: relaxed, as above.
    last.store(address.saturating_add(bytes), Ordering::Relaxed);
}

/// How often that was.
fn given_back() -> usize {
    // ORDERING: relaxed; see `memory_goes`.
    COUNT.load(Ordering::Relaxed)
}

/// Whether some of these bytes may have been given back since it was so often.
fn is_gone(since: usize, address: usize, bytes: usize) -> bool {
    let now = given_back();
    let overlaps = |number: usize| {
        // ORDERING: relaxed; see `memory_goes`.
        let [first, last] = GONE[number % RANGES]
            .each_ref()
            .map(|end| end.load(Ordering::Relaxed));
        address <= last && first < address + bytes
    };
    now - since > RANGES || (since..now).any(overlaps)
}

/// Pieces that are remembered.
const PIECES: usize = 32;
/// The largest piece.
const BYTES: usize = 64;

/// A piece of memory.
#[derive(Clone, Copy, Debug)]
struct Piece {
    address: usize,
    bytes: usize,
    is_written: bool,
}

impl Piece {
    const NONE: Self = Self {
        address: 0,
        bytes: 0,
        is_written: false,
    };

    /// Whether this has all of the other, and whatever races with an access of that would have raced with one of this.
    fn stands_for(&self, other: &Self) -> bool {
        let end = other.address + other.bytes;
        let inside = self.address <= other.address && end <= self.address + self.bytes;
        inside && (self.is_written || !other.is_written)
    }
}

/// Pieces of memory, in the order in which they were accessed first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accessed {
    pieces: [Piece; PIECES],
    count: usize,
    /// Accesses are noted.
    is_on: bool,
    /// There are others.
    is_lost: bool,
    /// How often memory had been given back when the first was noted.
    since: usize,
}

impl Accessed {
    pub(crate) const NONE: Self = Self {
        pieces: [Piece::NONE; PIECES],
        count: 0,
        is_on: false,
        is_lost: false,
        since: 0,
    };

    /// From now on accesses are noted.
    pub(crate) fn begin(&mut self) {
        self.is_on = true;
    }

    /// These bytes are about to be accessed.
    pub(crate) fn note(&mut self, address: usize, bytes: usize, is_written: bool) {
        if self.is_on {
            self.add_one(Piece {
                address,
                bytes,
                is_written,
            });
        }
    }

    fn add_one(&mut self, one: Piece) {
        if self.all().iter().any(|piece| piece.stands_for(&one)) {
            return;
        }
        if self.count == 0 {
            self.since = given_back();
        }
        match self.pieces.get_mut(self.count) {
            Some(piece) if one.bytes <= BYTES => {
                *piece = one;
                self.count += 1;
            }
            _ => self.lose(),
        }
    }

    /// Takes what was noted, and begins anew.
    pub(crate) fn take(&mut self) -> Self {
        let all = *self;
        self.clear();
        all
    }

    /// Forgets what was noted.
    pub(crate) fn clear(&mut self) {
        (self.count, self.is_lost) = (0, false);
    }

    /// What was accessed is not known, or not there any more.
    pub(crate) fn lose(&mut self) {
        self.is_lost = true;
    }

    /// Whether that is all.
    pub(crate) fn is_known(&self) -> bool {
        let is_gone = |piece: &Piece| is_gone(self.since, piece.address, piece.bytes);
        !self.is_lost && !self.all().iter().any(is_gone)
    }

    /// Adds what was accessed later.
    pub(crate) fn add(&mut self, later: &Self) {
        later.all().iter().for_each(|one| self.add_one(*one));
        self.is_lost |= !later.is_known();
    }

    /// Whether some of these bytes were written.
    pub(crate) fn has_written(&self, address: usize, bytes: usize) -> bool {
        let overlaps = |piece: &Piece| {
            piece.is_written
                && piece.address < address + bytes
                && address < piece.address + piece.bytes
        };
        self.all().iter().any(overlaps)
    }

    fn all(&self) -> &[Piece] {
        &self.pieces[..self.count]
    }

    /// A number for where that is and what is there.
    ///
    /// # Safety
    /// One thread of the program runs, and the memory that was noted is there, unless [`memory_goes`] was called since.
    pub(crate) unsafe fn digest(&self) -> u64 {
        if !self.is_known() {
            return 0;
        }
        let mut hash = self.count as u64;
        let mut add = |word: u64| {
            hash = (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
        };
        for piece in self.all() {
            add(piece.address as u64 ^ u64::from(piece.is_written));
            for at in piece.address..piece.address + piece.bytes {
                // SAFETY: the caller's promise; the program has accessed it.
                add(u64::from(unsafe { (at as *const u8).read_volatile() }));
            }
        }
        hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    /// What is given back is global: one test at a time.
    fn alone() -> MutexGuard<'static, ()> {
        static LOCK: Mutex<()> = Mutex::new(());
        LOCK.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn digest(accessed: &Accessed) -> u64 {
        // SAFETY: of arrays of the tests.
        unsafe { accessed.digest() }
    }

    fn begun() -> Accessed {
        let mut accessed = Accessed::NONE;
        accessed.begin();
        accessed
    }

    #[test]
    fn it_tells_where_and_what() {
        let _alone = alone();
        let mut memory = [7u8; 40];
        let start = memory.as_mut_ptr() as usize;
        let mut accessed = begun();
        let none = digest(&accessed);
        accessed.note(start + 8, 8, true);
        let first = digest(&accessed);
        assert_ne!(none, first);
        for written in [false, true] {
            accessed.note(start + 10, 2, written);
            assert_eq!(digest(&accessed), first, "known bytes are no others");
        }
        let mut set = |place: usize, byte: u8| memory[place..=place].fill(byte);
        set(9, 8);
        assert_ne!(digest(&accessed), first);
        set(9, 7);
        set(16, 8);
        assert_eq!(digest(&accessed), first);
        let mut more = begun();
        more.note(start + 16, 4, false);
        accessed.add(&more);
        let second = digest(&accessed);
        assert_ne!(second, first);
        accessed.note(start + 16, 4, true);
        assert_ne!(digest(&accessed), second, "a write is more than a read");
        let all = accessed.take();
        assert_eq!((digest(&accessed), digest(&all) == none), (none, false));
    }

    #[test]
    fn memory_that_was_given_back_is_not_looked_at() {
        let _alone = alone();
        let far = 1 << 60;
        let mut accessed = begun();
        accessed.note(far, 8, true);
        memory_goes(far - 100, 99);
        assert!(accessed.is_known());
        memory_goes(far + 7, 1);
        assert!(!accessed.is_known());
        assert_eq!(digest(&accessed), 0);
        let mut later = begun();
        later.note(far, 8, true);
        assert!(later.is_known());
        let mut both = begun();
        both.add(&accessed);
        assert!(!both.is_known());
        (0..=RANGES).for_each(|_| memory_goes(0, 1));
        assert!(!later.is_known(), "it is not known what was given back");
    }

    #[test]
    fn too_much_is_not_known() {
        let _alone = alone();
        let mut accessed = begun();
        for number in 0..PIECES {
            accessed.note(1000 * number, BYTES, true);
        }
        assert!(accessed.is_known());
        let mut same = begun();
        same.add(&accessed);
        assert!(same.is_known());
        same.note(500, 1, true);
        assert!(!same.is_known());
        let mut large = begun();
        large.note(0, BYTES + 1, true);
        accessed.add(&large);
        assert!(!accessed.is_known());
        accessed.clear();
        assert!(accessed.is_known());
    }
}
