//! Barriers of POSIX.

use super::locks::misuse;
use crate::deadlock::{self, Wait};
use crate::entry::interceptors;
use crate::sched::{self, meetings, waits};
use crate::{real, sync, tls};
use libc::{c_int, c_uint, pthread_barrier_t, pthread_barrierattr_t};

unsafe extern "C-unwind" fn barrier_init(
    barrier: *mut pthread_barrier_t,
    attr: *const pthread_barrierattr_t,
    count: c_uint,
) -> c_int {
    misuse::init_barrier(barrier as usize);
    // SAFETY: the program's call.
    let result = unsafe { real::pthread_barrier_init(barrier, attr, count) };
    if result == 0 {
        sync::make_barrier(barrier as usize, count as usize);
    }
    result
}

unsafe extern "C-unwind" fn barrier_wait(barrier: *mut pthread_barrier_t) -> c_int {
    let (address, caller) = (barrier as usize, tls::caller());
    let threads = || misuse::threads_of(address);
    if meetings::are_active() {
        return meet(address, threads(), caller);
    }
    let round = sync::arrive(address);
    let result = if sched::active() {
        answer(waits::barrier(address, threads))
    } else if threads() == 0 {
        libc::EINVAL
    } else {
        // SAFETY: the program's call.
        let call = || unsafe { real::pthread_barrier_wait(barrier) };
        match round.until() {
            Some(until) => deadlock::waiting(Wait::Barrier(address, until), call),
            None => call(),
        }
    };
    sync::depart(address, &round);
    result
}

/// What a thread is told that leaves.
fn answer(is_chosen: Option<bool>) -> c_int {
    match is_chosen {
        Some(true) => libc::PTHREAD_BARRIER_SERIAL_THREAD,
        Some(false) => 0,
        None => libc::EINVAL,
    }
}

/// A barrier where threads are scheduled.
fn meet(barrier: usize, threads: usize, caller: usize) -> c_int {
    // SAFETY: instructions that are executed when this call returns, one after the other.
    let code = |at: usize| unsafe { ((caller + at) as *const u8).read() };
    let asks = caller == 0 || !ignores_result(code);
    let met = (threads != 0).then(|| meetings::arrive(barrier, threads));
    tls::set_caller(caller);
    let round = sync::arrive(barrier);
    let met = met.map(|met| met.is_some_and(|met| meetings::leave(&met, asks)));
    tls::set_caller(caller);
    sync::depart(barrier, &round);
    answer(met)
}

/// The register in which results are.
const RESULT: u8 = 0;
/// Instructions that are looked at.
const INSTRUCTIONS: usize = 12;

/// Whether this code overwrites the result of the call before it, and does not read it before. Only what compilers write there is known;
/// whatever else there is may read it.
fn ignores_result(code: impl Fn(usize) -> u8) -> bool {
    let mut at = 0;
    for _ in 0..INSTRUCTIONS {
        match after(&code, at) {
            Effect::None(next) => at = next,
            Effect::Overwrites => return true,
            Effect::Unknown => return false,
        }
    }
    false
}

/// What an instruction does to the result.
enum Effect {
    /// Nothing; the next one is there.
    None(usize),
    Overwrites,
    /// Perhaps it reads it.
    Unknown,
}

/// The effect of the instruction that begins there.
fn after(code: &impl Fn(usize) -> u8, start: usize) -> Effect {
    let first = code(start);
    let (prefix, at) = match first {
        0x40..=0x4f => (first, start + 1),
        _ => (0, start),
    };
    let wide = prefix & 8 != 0;
    let word = |at: usize| i32::from_le_bytes(std::array::from_fn(|i| code(at + i)));
    let jump = |next: usize, by: i32| Effect::None(next.wrapping_add_signed(by as isize));
    let opcode = code(at);
    match opcode {
        // nop
        0x90 if prefix == 0 => Effect::None(at + 1),
        // A number into a register.
        0xb8..=0xbf if !wide => match (opcode - 0xb8) | ((prefix & 1) << 3) {
            RESULT => Effect::Overwrites,
            _ => Effect::None(at + 5),
        },
        // A call, for which the register is as good as overwritten; jumps.
        0xe8 => Effect::Overwrites,
        0xeb => jump(at + 2, i32::from(code(at + 1) as i8)),
        0xe9 => jump(at + 5, word(at + 1)),
        // xor of a register with itself.
        0x31 | 0x33 if code(at + 1) == 0xc0 && prefix & 5 == 0 => Effect::Overwrites,
        // mov and lea into a register.
        0x8b | 0x8d => match operands(code, at + 1, prefix) {
            Some((_, Some(RESULT), _)) | None => Effect::Unknown,
            Some((RESULT, ..)) => Effect::Overwrites,
            Some((.., next)) => Effect::None(next),
        },
        // mov from a register.
        0x89 => match operands(code, at + 1, prefix) {
            Some((RESULT, ..)) | None => Effect::Unknown,
            Some((_, Some(RESULT), _)) => Effect::Overwrites,
            Some((.., next)) => Effect::None(next),
        },
        // Arithmetic with a small or a large number; a number into memory.
        0x83 | 0x81 | 0xc7 | 0xc6 => match operands(code, at + 1, prefix) {
            Some((_, Some(RESULT), _)) | None => Effect::Unknown,
            Some((.., next)) => Effect::None(
                next + if opcode & 1 == 1 && opcode != 0x83 {
                    4
                } else {
                    1
                },
            ),
        },
        _ => Effect::Unknown,
    }
}

/// The operands of an instruction: a register, another one unless that is memory, and where they end. `None`: memory that the result
/// tells.
fn operands(code: &impl Fn(usize) -> u8, at: usize, prefix: u8) -> Option<(u8, Option<u8>, usize)> {
    let (mode, low) = (code(at) >> 6, code(at) & 7);
    let register = code(at) >> 3 & 7 | (prefix & 4) << 1;
    let base = low | (prefix & 1) << 3;
    if mode == 3 {
        return Some((register, Some(base), at + 1));
    }
    let (mut next, mut long) = (at + 1, mode == 0 && low == 5);
    if low == 4 {
        let scaled = code(next);
        let index = scaled >> 3 & 7 | (prefix & 2) << 2;
        if index == RESULT || scaled & 7 | (prefix & 1) << 3 == RESULT {
            return None;
        }
        long = mode == 0 && scaled & 7 == 5;
        next += 1;
    } else if base == RESULT {
        return None;
    }
    next += match mode {
        1 => 1,
        2 => 4,
        _ if long => 4,
        _ => 0,
    };
    Some((register, None, next))
}

interceptors! {
    pthread_barrier_init => barrier_init;
    pthread_barrier_wait => barrier_wait;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ignores(code: &[u8]) -> bool {
        // Behind it is something that is not known.
        ignores_result(|at| code.get(at).copied().unwrap_or(0x06))
    }

    #[test]
    fn code_that_overwrites_a_result_does_not_look_at_it() {
        for code in [
            &[0xb8, 0, 0, 0, 0][..],
            &[0xbb, 0, 0, 0, 0, 0xe8, 1, 2, 3, 4],
            &[0x31, 0xc0],
            &[0x48, 0x8b, 0x45, 0xf8],
            &[0x8b, 0x05, 1, 2, 3, 4],
            &[0x48, 0x8d, 0x3d, 1, 2, 3, 4, 0xe8, 0, 0, 0, 0],
            &[0x83, 0x45, 0xfc, 0x01, 0x8b, 0x45, 0xfc],
            &[0xc7, 0x45, 0xfc, 0, 0, 0, 0, 0xeb, 1, 0x06, 0x31, 0xc0],
            &[0x48, 0x89, 0xdf, 0x89, 0xd8],
            &[0x48, 0x8b, 0x44, 0x24, 0x08],
            &[0xc6, 0x45, 0xff, 1, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0],
        ] {
            assert!(ignores(code), "{code:x?}");
        }
    }

    #[test]
    fn what_reads_it_or_is_not_known_looks_at_it() {
        for code in [
            &[0x89, 0x45, 0xec][..],
            &[0x89, 0xc3],
            &[0x83, 0xf8, 0xff],
            &[0x85, 0xc0],
            &[0x48, 0x8b, 0x00],
            &[0x8b, 0xd8],
            &[0x48, 0x8b, 0x04, 0xc5, 0, 0, 0, 0],
            &[0xc9, 0xc3],
            &[0x90],
            &[0xeb, 0xfe],
            &[0x48, 0x31, 0xc3],
        ] {
            assert!(!ignores(code), "{code:x?}");
        }
    }
}
