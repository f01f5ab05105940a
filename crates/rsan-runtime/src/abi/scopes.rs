//! What the standard library of Rust does for its threads: functions that `rsan-llvm` marks.

use crate::entry::entries;
use crate::sched::{meetings, scopes};
use crate::sync;
use crate::thread;

/// Begins to count a thread of a scope, which is about to be started.
extern "C" fn open(scope: usize) {
    scopes::open(scope);
}

/// A thread of a scope is not counted any more. If that happens in private, who did it has arrived before.
extern "C" fn count_down(scope: usize) {
    if thread::current().is_some_and(thread::Context::is_hidden) {
        return;
    }
    if let Some(scope) = scopes::arrive(scope) {
        sync::release(scope);
    }
}

/// A packet with the result of a thread is let go of, in private.
extern "C" fn let_go() {
    if let Some(scope) = scopes::let_go() {
        sync::release(scope);
    }
}

/// What follows is private where threads are scheduled: no program sees it.
extern "C" fn begin() {
    if meetings::are_active()
        && let Some(me) = thread::current()
    {
        me.hide();
    }
}

extern "C" fn end() {
    if meetings::are_active()
        && let Some(me) = thread::current()
    {
        me.show();
    }
}

entries! {
    __rsan_scope_open => open;
    __rsan_scope_count_down => count_down;
    __rsan_packet_let_go => let_go;
    __rsan_private_begin => begin;
    __rsan_private_end => end;
}
