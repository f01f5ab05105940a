//! Calls that wait for something outside the program. To the monitors they only use descriptors and memory; under controlled scheduling,
//! the other threads go on meanwhile.

use super::call::Call;
use super::table::functions;
use libc::{c_int, c_ulong, fd_set, pid_t, pollfd, rusage, siginfo_t, sigset_t, timespec};

type Time = *const timespec;
type Set = *mut fd_set;

impl Call {
    /// The function looks at these descriptors.
    ///
    /// # Safety
    /// So many of the program's.
    unsafe fn polls(&self, events: *const pollfd, count: c_ulong) {
        for index in 0..if self.is_seen() { count as usize } else { 0 } {
            // SAFETY: the caller's promise.
            let event = unsafe { events.add(index) };
            self.reads_one(event);
            // SAFETY: as above.
            self.uses(unsafe { (*event).fd });
        }
    }

    /// The function has said what became of them.
    ///
    /// # Safety
    /// As above.
    unsafe fn polled(&self, events: *const pollfd, count: c_ulong, result: c_int) {
        for index in 0..if self.is_seen() && result >= 0 {
            count as usize
        } else {
            0
        } {
            // SAFETY: the caller's promise.
            self.writes_one(unsafe { &raw const (*events.add(index)).revents }, true);
        }
    }

    /// The function has changed sets of so many descriptors.
    fn selected(&self, count: c_int, sets: [Set; 3], result: c_int) {
        let bytes = (count.max(0) as usize).div_ceil(64) * size_of::<u64>();
        for set in sets {
            self.writes(set, if result >= 0 { bytes } else { 0 });
        }
    }
}

functions! {
    #outside fn poll(events: *mut pollfd, count: c_ulong, timeout: c_int) -> c_int [polls(events, count)] result [polled(events, count, result)];
    #outside fn __poll_chk(events: *mut pollfd, count: c_ulong, timeout: c_int, room: usize) -> c_int [polls(events, count)] result [polled(events, count, result)];
    #outside fn ppoll(events: *mut pollfd, count: c_ulong, timeout: Time, mask: *const sigset_t) -> c_int [polls(events, count), reads_one(timeout)] result [polled(events, count, result)];
    #outside fn select(count: c_int, read: Set, write: Set, other: Set, timeout: *mut libc::timeval) -> c_int [reads_one(timeout)] result [selected(count, [read, write, other], result)];
    #outside fn pselect(count: c_int, read: Set, write: Set, other: Set, timeout: Time, mask: *const sigset_t) -> c_int [reads_one(timeout)] result [selected(count, [read, write, other], result)];
    #outside fn wait(status: *mut c_int) -> pid_t [] process [writes_one(status, process > 0)];
    #outside fn waitpid(process: pid_t, status: *mut c_int, options: c_int) -> pid_t [] process [writes_one(status, process > 0)];
    #outside fn wait3(status: *mut c_int, options: c_int, usage: *mut rusage) -> pid_t [] process [writes_one(status, process > 0), writes_one(usage, process > 0)];
    #outside fn wait4(process: pid_t, status: *mut c_int, options: c_int, usage: *mut rusage) -> pid_t [] process [writes_one(status, process > 0), writes_one(usage, process > 0)];
    #outside fn waitid(kind: c_int, number: c_int, info: *mut siginfo_t, options: c_int) -> c_int [] result [writes_one(info, result == 0)];
    #outside fn sigwait(signals: *const sigset_t, signal: *mut c_int) -> c_int [reads_one(signals)] result [writes_one(signal, result == 0)];
    #outside fn sigtimedwait(signals: *const sigset_t, info: *mut siginfo_t, timeout: Time) -> c_int [reads_one(signals)] signal [writes_one(info, signal > 0)];
    #outside fn sigwaitinfo(signals: *const sigset_t, info: *mut siginfo_t) -> c_int [reads_one(signals)] signal [writes_one(info, signal > 0)];
    #outside fn pause() -> c_int [] result [];
}
