//! Which system calls of a run the system makes at once, and which come to the handler (`SIGSYS`) first.

pub(super) use crate::system::own_call as call;
use crate::system::{GATE, gate_address};

/// Calls that leave nothing behind in the process, and write nothing to its memory.
const HARMLESS: [i64; 9] = [
    libc::SYS_futex,
    libc::SYS_sched_yield,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_rt_sigreturn,
    libc::SYS_exit,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_clock_gettime,
];

/// The same, for the standard streams. The handler wants to know of other files.
pub(super) const FILES: [i64; 4] = [
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_pwrite64,
    libc::SYS_lseek,
];
/// The first file that is no standard stream.
const OTHER: u32 = 3;

// Where the words of a call are for the filter.
const NUMBER: u32 = 0;
const PLACE: u32 = 8;
const ARGUMENT: u32 = 16;

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const IS: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const IS_AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const JUMP: u16 = (libc::BPF_JMP | libc::BPF_JA) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

fn step(code: u16, k: u32, yes: u8, no: u8) -> libc::sock_filter {
    libc::sock_filter {
        code,
        jt: yes,
        jf: no,
        k,
    }
}

/// The filter: harmless calls and those of the gate pass, all others trap.
fn program(gate: u64) -> Vec<libc::sock_filter> {
    // The gate's seven steps are the last, and three before them are for files.
    let (to_pass, to_files) = (9, HARMLESS.len() + 1);
    let mut steps = vec![step(LOAD, NUMBER, 0, 0)];
    for (index, number) in FILES.iter().enumerate() {
        let far = FILES.len() - index - 1 + to_files;
        steps.push(step(IS, *number as u32, far as u8, 0));
    }
    for (index, number) in HARMLESS.iter().enumerate() {
        let far = HARMLESS.len() - index - 1 + to_pass;
        steps.push(step(IS, *number as u32, far as u8, 0));
    }
    steps.extend([
        step(JUMP, 2, 0, 0),
        step(LOAD, ARGUMENT, 0, 0),
        step(IS_AT_LEAST, OTHER, 0, 6),
    ]);
    let (low, high) = (gate as u32, (gate >> 32) as u32);
    steps.extend([
        step(LOAD, PLACE + 4, 0, 0),
        step(IS, high, 0, 3),
        step(LOAD, PLACE, 0, 0),
        step(IS_AT_LEAST, low, 0, 1),
        step(IS_AT_LEAST, low + GATE, 0, 1),
        step(RETURN, libc::SECCOMP_RET_TRAP, 0, 0),
        step(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0),
    ]);
    steps
}

/// From here on, and for good. False if the system does not let us.
pub(super) fn install() -> bool {
    let gate = gate_address();
    // The two ends of the gate have the same upper half.
    if gate as u32 > u32::MAX - GATE {
        return false;
    }
    let mut steps = program(gate);
    let program = libc::sock_fprog {
        len: steps.len() as u16,
        filter: steps.as_mut_ptr(),
    };
    let place = &raw const program as usize;
    // SAFETY: plain settings; the filter is read before the call returns.
    unsafe {
        call(
            libc::SYS_prctl,
            [libc::PR_SET_NO_NEW_PRIVS as usize, 1, 0, 0, 0, 0],
        ) == 0
            && call(
                libc::SYS_seccomp,
                [libc::SECCOMP_SET_MODE_FILTER as usize, 0, place, 0, 0, 0],
            ) == 0
    }
}
