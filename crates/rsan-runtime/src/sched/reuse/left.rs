//! What a run leaves with the system that is not memory, and can be undone: files that it has opened, actions of signals.

use super::filter::call;

/// Files that a run may have open at a time.
const FILES: usize = 64;
/// Signals that there are.
const SIGNALS: usize = 64;
/// What the system keeps for a signal: handler, flags, where the handler returns to, mask.
pub(super) type Action = [u64; 4];
pub(super) const ACTION: usize = size_of::<Action>();

/// All zeroes: nothing.
#[repr(C)]
pub(super) struct Left {
    files: [usize; FILES],
    open: usize,
    /// The actions of signals at the snapshot, for those that the run has changed.
    actions: [Action; SIGNALS],
    changed: u64,
    /// The run has done what is undone at its end, or need not be, but what a later snapshot would have to know more of.
    pub(super) unusual: bool,
}

/// The present action of a signal. False if there is no such signal.
pub(super) fn tell_action(signal: usize, action: &mut Action) -> bool {
    let place = action.as_mut_ptr() as usize;
    // SAFETY: room for what the system keeps of a signal.
    (unsafe { call(libc::SYS_rt_sigaction, [signal, 0, place, 8, 0, 0]) }) == 0
}

/// Whether a call only opens a file to read it: nobody else can tell.
pub(super) fn only_reads(flags: usize) -> bool {
    // The bit that the system has for large files; for libc they are like any others.
    const LARGE: i32 = 0o100_000;
    const HARMLESS: i32 =
        libc::O_CLOEXEC | libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY | LARGE;
    flags as i32 & !HARMLESS == libc::O_RDONLY
}

fn close(file: usize) -> isize {
    // SAFETY: a file that the run has opened.
    unsafe { call(libc::SYS_close, [file, 0, 0, 0, 0, 0]) }
}

/// Whether it is a file on a disk, or one that looks so: other ones can wait, or notice that they are opened.
fn is_regular(file: usize) -> bool {
    // SAFETY: all zeroes is a valid value, which is filled in.
    unsafe {
        let mut status = std::mem::zeroed::<libc::stat>();
        let place = &raw mut status as usize;
        call(libc::SYS_fstat, [file, place, 0, 0, 0, 0]) == 0
            && status.st_mode & libc::S_IFMT == libc::S_IFREG
    }
}

impl Left {
    /// The run has opened a file. False if that cannot be undone.
    pub(super) fn open(&mut self, file: usize) -> bool {
        let there_is_room = self.open < FILES && is_regular(file);
        if there_is_room {
            self.files[self.open] = file;
            self.open += 1;
        }
        there_is_room
    }

    /// Whether the run has opened a file.
    pub(super) fn is_open(&self, file: usize) -> bool {
        self.files[..self.open].contains(&file)
    }

    /// Whether the run has opened a file; then it is forgotten.
    pub(super) fn forget(&mut self, file: usize) -> bool {
        let found = self.files[..self.open].iter().position(|at| *at == file);
        if let Some(place) = found {
            self.open -= 1;
            self.files[place] = self.files[self.open];
        }
        found.is_some()
    }

    /// The run is about to change the action of a signal. False if there is no such signal.
    pub(super) fn keep_action(&mut self, signal: usize) -> bool {
        let Some(old) = self.actions.get_mut(signal.wrapping_sub(1)) else {
            return false;
        };
        let bit = 1 << (signal - 1);
        if self.changed & bit == 0 {
            if !tell_action(signal, old) {
                return false;
            }
            self.changed |= bit;
        }
        true
    }

    /// Whether nothing is left that would have to be undone in a run from a snapshot that is made now.
    pub(super) fn is_settled(&self) -> bool {
        self.open == 0 && !self.unusual
    }

    /// What was done to signals until now stays.
    pub(super) fn settle(&mut self) {
        self.changed = 0;
    }

    /// Undoes all of it.
    pub(super) fn undo(&mut self) {
        self.unusual = false;
        for file in &self.files[..std::mem::take(&mut self.open)] {
            close(*file);
        }
        let mut changed = std::mem::take(&mut self.changed);
        while changed != 0 {
            let index = changed.trailing_zeros() as usize;
            changed &= changed - 1;
            let place = self.actions[index].as_ptr() as usize;
            // SAFETY: what the system told.
            unsafe { call(libc::SYS_rt_sigaction, [index + 1, place, 0, 8, 0, 0]) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_written_to_is_told_from_one_that_is_read() {
        let read = libc::O_RDONLY | libc::O_CLOEXEC | 0o100_000;
        assert!(only_reads(read as usize));
        for more in [
            libc::O_WRONLY,
            libc::O_RDWR,
            libc::O_CREAT,
            libc::O_TRUNC,
            libc::O_PATH,
        ] {
            assert!(!only_reads((read | more) as usize), "{more:o}");
        }
    }
}
