//! OpenMP by gcc's library, libgomp, which is not instrumented and orders its threads by futexes.
//!
//! | construct | order |
//! | --- | --- |
//! | parallel region | what came before it, its threads, what comes after it |
//! | barrier, end of a loop or of sections | everybody's past, everybody's future |
//! | critical, atomic by lock, ordered, `omp_lock_t` | as a mutex |
//! | task | its creation, its running, the next `taskwait`, end of a task group, or barrier |
//!
//! **Deviations**: a task with dependences comes after every task of its team that has ended, and a `taskwait` after
//! those of other threads too: this may hide findings. `taskloop` and `teams` are not known.

use crate::entry::entries;
use crate::{real, sync};
use libc::{c_int, c_long, c_uint, c_void};
use std::cell::Cell;

/// An outlined region.
type Region = unsafe extern "C-unwind" fn(*mut c_void);
/// Copies a task's variables.
type Copier = unsafe extern "C-unwind" fn(*mut c_void, *const c_void);

/// A parallel region that runs. The addresses of its parts are those of clocks.
#[derive(Debug)]
struct Team {
    region: Region,
    data: *mut c_void,
    start: u64,
    end: u64,
    barrier: u64,
    ordered: u64,
    copied: u64,
    tasks: u64,
    ended_tasks: u64,
}

impl Team {
    fn new(region: Region, data: *mut c_void) -> Box<Self> {
        Box::new(Self {
            region,
            data,
            start: 0,
            end: 0,
            barrier: 0,
            ordered: 0,
            copied: 0,
            tasks: 0,
            ended_tasks: 0,
        })
    }
}

/// The address of a clock.
fn clock(part: &u64) -> usize {
    std::ptr::from_ref(part) as usize
}

thread_local! {
    /// The innermost team of the thread.
    static TEAM: Cell<*const Team> = const { Cell::new(std::ptr::null()) };
}

/// The innermost team of the thread, if it is in one.
fn team<'a>() -> Option<&'a Team> {
    // SAFETY: null, or a team that lives as long as its region runs.
    unsafe { TEAM.get().as_ref() }
}

/// Runs a region by `start`, which is given what to run in each thread.
fn parallel<R>(region: Region, data: *mut c_void, start: impl FnOnce(*mut c_void) -> R) -> R {
    let team = Team::new(region, data);
    let outer = TEAM.get();
    sync::release(clock(&team.start));
    let result = start(std::ptr::from_ref(&*team).cast_mut().cast());
    TEAM.set(outer);
    sync::acquire(clock(&team.end));
    sync::acquire(clock(&team.ended_tasks));
    let Team {
        start,
        end,
        barrier,
        ordered,
        copied,
        tasks,
        ended_tasks,
        ..
    } = &*team;
    for part in [start, end, barrier, ordered, copied, tasks, ended_tasks] {
        sync::destroy(clock(part));
    }
    result
}

/// What each thread of a team runs.
unsafe extern "C-unwind" fn member(team: *mut c_void) {
    // SAFETY: made by `parallel`, which waits for this.
    let team = unsafe { &*team.cast::<Team>() };
    let outer = TEAM.replace(team);
    sync::acquire(clock(&team.start));
    // SAFETY: no arguments.
    let threads = unsafe { real::omp_get_num_threads() };
    sync::size_barrier(clock(&team.barrier), threads.max(1) as usize);
    // SAFETY: as the program asked.
    unsafe { (team.region)(team.data) };
    sync::release(clock(&team.end));
    TEAM.set(outer);
}

/// Functions that run a region in a team, with these arguments after the number of threads.
macro_rules! regions {
    ($($name:ident($($arg:ident: $type:ty),*) $(-> $result:ty)?;)+) => {
        mod region {
            use super::*;

            $(#[allow(non_snake_case, clippy::too_many_arguments)]
            pub(super) unsafe extern "C-unwind" fn $name(
                region: Region,
                data: *mut c_void,
                threads: c_uint,
                $($arg: $type),*
            ) $(-> $result)? {
                // SAFETY: the program's call, with a region and data that fit each other.
                parallel(region, data, |team| unsafe {
                    real::$name(member, team, threads $(, $arg)*)
                })
            })+
        }
        entries! { $($name => region::$name;)+ }
    };
}

regions! {
    GOMP_parallel(flags: c_uint);
    GOMP_parallel_reductions(flags: c_uint) -> c_uint;
    GOMP_parallel_sections(count: c_uint, flags: c_uint);
    GOMP_parallel_loop_static(from: c_long, to: c_long, step: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_dynamic(from: c_long, to: c_long, step: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_guided(from: c_long, to: c_long, step: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_nonmonotonic_dynamic(from: c_long, to: c_long, step: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_nonmonotonic_guided(from: c_long, to: c_long, step: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_runtime(from: c_long, to: c_long, step: c_long, flags: c_uint);
    GOMP_parallel_loop_nonmonotonic_runtime(from: c_long, to: c_long, step: c_long, flags: c_uint);
    GOMP_parallel_loop_maybe_nonmonotonic_runtime(from: c_long, to: c_long, step: c_long, flags: c_uint);
}

/// Waits by `wait` for the other threads of the team, and for its tasks.
fn barrier<R>(wait: impl FnOnce() -> R) -> R {
    let Some(team) = team() else { return wait() };
    let round = sync::arrive(clock(&team.barrier));
    let result = wait();
    sync::depart(clock(&team.barrier), &round);
    sync::acquire(clock(&team.ended_tasks));
    result
}

/// Waits by `wait` for tasks.
fn task_wait(wait: impl FnOnce()) {
    wait();
    if let Some(team) = team() {
        sync::acquire(clock(&team.ended_tasks));
    }
}

/// Functions without arguments, in one of the waits above.
macro_rules! waits {
    ($($name:ident $(-> $result:ty)?, $wait:ident;)+) => {
        mod wait {
            use super::*;

            $(#[allow(non_snake_case)]
            pub(super) unsafe extern "C-unwind" fn $name() $(-> $result)? {
                // SAFETY: the program's call.
                $wait(|| unsafe { real::$name() })
            })+
        }
        entries! { $($name => wait::$name;)+ }
    };
}

waits! {
    GOMP_barrier, barrier;
    GOMP_barrier_cancel -> bool, barrier;
    GOMP_loop_end, barrier;
    GOMP_loop_end_cancel -> bool, barrier;
    GOMP_sections_end, barrier;
    GOMP_sections_end_cancel -> bool, barrier;
    GOMP_taskwait, task_wait;
    GOMP_taskgroup_end, task_wait;
}

/// In front of a task's own variables.
#[repr(C)]
#[derive(Clone, Copy)]
struct Task {
    region: Region,
    copy: Option<Copier>,
    /// Where the variables are, until they are copied.
    data: *const c_void,
    bytes: usize,
    /// How far behind this they are, once they are.
    offset: usize,
    team: *const Team,
    depends: bool,
}

/// The flag of a task with dependences.
const DEPENDS: c_uint = 8;

unsafe extern "C-unwind" fn copy_task(to: *mut c_void, from: *const c_void) {
    // SAFETY: the library gives room for what `create_task` said, and what that made.
    unsafe {
        let task = from.cast::<Task>().read();
        to.cast::<Task>().write(task);
        let variables = to.byte_add(task.offset);
        match task.copy {
            Some(copy) => copy(variables, task.data),
            None => {
                std::ptr::copy_nonoverlapping(task.data.cast::<u8>(), variables.cast(), task.bytes)
            }
        }
    }
}

unsafe extern "C-unwind" fn run_task(task: *mut c_void) {
    // SAFETY: made by `copy_task`; the team waits for its tasks.
    let (task, variables, team) = unsafe {
        let head = task.cast::<Task>().read();
        (head, task.byte_add(head.offset), head.team.as_ref())
    };
    if let Some(team) = team {
        sync::acquire(clock(&team.tasks));
        if task.depends {
            sync::acquire(clock(&team.ended_tasks));
        }
    }
    let outer = TEAM.replace(task.team);
    // SAFETY: as the program asked.
    unsafe { (task.region)(variables) };
    TEAM.set(outer);
    if let Some(team) = team {
        sync::release(clock(&team.ended_tasks));
    }
}

#[allow(clippy::too_many_arguments)]
unsafe extern "C-unwind" fn create_task(
    region: Region,
    data: *mut c_void,
    copy: Option<Copier>,
    bytes: c_long,
    align: c_long,
    deferred: bool,
    flags: c_uint,
    depend: *mut *mut c_void,
    priority: c_int,
    detach: *mut c_void,
) {
    if let Some(team) = team() {
        sync::release(clock(&team.tasks));
    }
    let align = align.max(align_of::<Task>() as c_long);
    let offset = size_of::<Task>().next_multiple_of(align as usize);
    let mut task = Task {
        region,
        copy,
        data,
        bytes: bytes as usize,
        offset,
        team: TEAM.get(),
        depends: flags & DEPENDS != 0,
    };
    let size = (offset as c_long) + bytes;
    // SAFETY: the program's call, with a task that `copy_task` makes and `run_task` runs.
    unsafe {
        real::GOMP_task(
            run_task,
            (&raw mut task).cast(),
            Some(copy_task),
            size,
            align,
            deferred,
            flags,
            depend,
            priority,
            detach,
        );
    }
}

/// All but one thread get what that one gives.
unsafe extern "C-unwind" fn single_copy_start() -> *mut c_void {
    // SAFETY: the program's call.
    let given = unsafe { real::GOMP_single_copy_start() };
    if let Some(team) = team().filter(|_| !given.is_null()) {
        sync::acquire(clock(&team.copied));
    }
    given
}

unsafe extern "C-unwind" fn single_copy_end(given: *mut c_void) {
    if let Some(team) = team() {
        sync::release(clock(&team.copied));
    }
    // SAFETY: the program's call.
    unsafe { real::GOMP_single_copy_end(given) };
}

/// The clocks of the unnamed critical section, and of what is atomic by a lock.
static CRITICAL: u64 = 0;
static ATOMIC: u64 = 0;

/// Pairs of functions that take and give a lock, which is named by an expression of the arguments.
macro_rules! locks {
    ($($take:ident, $give:ident($($arg:ident: $type:ty)?) $address:expr;)+) => {
        mod lock {
            use super::*;

            $(#[allow(non_snake_case)]
            pub(super) unsafe extern "C-unwind" fn $take($($arg: $type)?) {
                // SAFETY: the program's call.
                unsafe { real::$take($($arg)?) };
                sync::lock($address);
            }

            #[allow(non_snake_case)]
            pub(super) unsafe extern "C-unwind" fn $give($($arg: $type)?) {
                sync::unlock($address);
                // SAFETY: the program's call.
                unsafe { real::$give($($arg)?) };
            })+
        }
        entries! { $($take => lock::$take; $give => lock::$give;)+ }
    };
}

locks! {
    GOMP_critical_start, GOMP_critical_end() clock(&CRITICAL);
    GOMP_critical_name_start, GOMP_critical_name_end(name: *mut *mut c_void) name as usize;
    GOMP_atomic_start, GOMP_atomic_end() clock(&ATOMIC);
    GOMP_ordered_start, GOMP_ordered_end() team().map_or(clock(&ATOMIC), |team| clock(&team.ordered));
    omp_set_lock, omp_unset_lock(lock: *mut c_void) lock as usize;
    omp_set_nest_lock, omp_unset_nest_lock(lock: *mut c_void) lock as usize;
}

unsafe extern "C-unwind" fn test_lock(lock: *mut c_void) -> c_int {
    // SAFETY: the program's call.
    let taken = unsafe { real::omp_test_lock(lock) };
    if taken != 0 {
        sync::lock(lock as usize);
    }
    taken
}

unsafe extern "C-unwind" fn test_nest_lock(lock: *mut c_void) -> c_int {
    // SAFETY: the program's call.
    let taken = unsafe { real::omp_test_nest_lock(lock) };
    if taken != 0 {
        sync::lock(lock as usize);
    }
    taken
}

entries! {
    GOMP_task => create_task;
    GOMP_single_copy_start => single_copy_start;
    GOMP_single_copy_end => single_copy_end;
    omp_test_lock => test_lock;
    omp_test_nest_lock => test_nest_lock;
}
