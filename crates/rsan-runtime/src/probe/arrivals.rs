//! How a child notices that it is where it was before.

use super::answer::Answer;
use std::arch::asm;

/// How often the location is read again before that is taken for an answer.
const ARRIVALS: usize = 1000;
/// Places in the table of states; mostly empty, so that a state is found, or not, at once.
const PLACES: usize = 2 * ARRIVALS.next_power_of_two();

/// Digests that are made side by side.
const LANES: usize = 8;

/// The states in which the program read the location again.
#[derive(Debug)]
pub(super) struct Arrivals {
    count: usize,
    /// Each state is at the place that it says itself, or the next one that was free; 0 is nothing.
    states: [u64; PLACES],
}

impl Arrivals {
    pub(super) const NONE: Self = Self {
        count: 0,
        states: [0; PLACES],
    };

    /// Notes a state; an answer if that is enough.
    #[inline(never)]
    pub(super) fn note(&mut self, point: &Point, end: usize) -> Option<Answer> {
        let state = point.state(end).max(1);
        let mut place = state as usize % PLACES;
        while self.states[place] != 0 {
            if self.states[place] == state {
                return Some(Answer::Iterates);
            }
            place = (place + 1) % PLACES;
        }
        self.states[place] = state;
        self.count += 1;
        (self.count == ARRIVALS).then_some(Answer::KeepsIterating)
    }
}

/// A point in the program's run.
///
/// What the program will do depends on where it is, on the stack from the present frame on outwards, on the registers
/// that calls preserve (they are unchanged, or saved in that part of the stack), and on memory. The frames of the
/// runtime itself lie on the stack, too; what they hold depends on nothing else.
#[derive(Debug)]
pub(super) struct Point {
    pc: usize,
    registers: [u64; 6],
    stack: usize,
}

impl Point {
    /// The present one, in an access made at `pc`.
    #[inline(always)]
    pub(super) fn here(pc: usize) -> Self {
        Self {
            pc,
            registers: preserved_registers(),
            stack: stack_pointer(),
        }
    }

    /// A digest of the state, with the stack up to `end`.
    ///
    /// Each lane has every so manieth word: the processor does not wait for one product to begin the next.
    pub(super) fn state(&self, end: usize) -> u64 {
        let registers = self.registers.iter().copied();
        let state = registers.fold(self.pc as u64, mix);
        // SAFETY: the thread's stack, which nobody writes now.
        let word = |at: usize| unsafe { (at as *const u64).read_volatile() };
        let end = end & !7;
        let mut lanes: [u64; LANES] = std::array::from_fn(|lane| state ^ lane as u64);
        let mut at = self.stack;
        while at + 8 * LANES <= end {
            for (lane, hash) in lanes.iter_mut().enumerate() {
                *hash = mix(*hash, word(at + 8 * lane));
            }
            at += 8 * LANES;
        }
        let rest = (at..end).step_by(8).map(word);
        rest.chain(lanes).fold(state, mix)
    }
}

/// A digest with another word.
pub(super) fn mix(hash: u64, word: u64) -> u64 {
    (hash ^ word)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(29)
}

/// Where the stack ends.
#[inline(always)]
pub(super) fn stack_pointer() -> usize {
    let pointer: usize;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, rsp", out(reg) pointer, options(nomem, nostack, preserves_flags)) };
    pointer
}

/// Registers that a called function must preserve.
#[inline(always)]
fn preserved_registers() -> [u64; 6] {
    let mut all = [0; 6];
    // SAFETY: reads registers into memory that is valid.
    unsafe {
        asm!(
            "mov [{0}], rbx", "mov [{0} + 8], rbp", "mov [{0} + 16], r12",
            "mov [{0} + 24], r13", "mov [{0} + 32], r14", "mov [{0} + 40], r15",
            in(reg) &raw mut all, options(nostack, preserves_flags),
        );
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_that_was_there_is_noticed_and_many_are_enough() {
        let words = [1u64, 2, 3];
        let point = |pc: usize, word: u64| Point {
            pc,
            registers: [word; 6],
            stack: words.as_ptr() as usize,
        };
        let end = words.as_ptr() as usize + size_of_val(&words);
        let mut arrivals = Arrivals::NONE;
        assert_eq!(arrivals.note(&point(1, 1), end), None);
        assert_eq!(arrivals.note(&point(2, 1), end), None);
        assert_eq!(arrivals.note(&point(1, 2), end), None);
        assert_eq!(arrivals.note(&point(1, 1), end - 8), None);
        assert_eq!(arrivals.note(&point(1, 1), end), Some(Answer::Iterates));
        let mut arrivals = Arrivals::NONE;
        let answers = (0..ARRIVALS).map(|word| arrivals.note(&point(1, word as u64), end));
        let mut answers: Vec<_> = answers.collect();
        assert_eq!(answers.pop(), Some(Some(Answer::KeepsIterating)));
        assert!(answers.iter().all(Option::is_none));
    }
}
