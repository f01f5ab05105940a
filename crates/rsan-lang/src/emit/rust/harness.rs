//! The parts of a translation to Rust that do not come from the source: uses, helpers, the schedule.

use super::super::harness::{Helper, Need};
use super::super::{BLOCKED, Context};
use super::{has_plain, initial, stops};
use rsan_model::{FenceOrd, Instr};
use std::fmt::Write as _;

/// Attributes, uses and definitions.
pub(super) fn prelude(context: &Context<'_>) -> String {
    let scheduled = context.options.scheduled;
    let mut text =
        String::from("#![allow(unused, nonstandard_style, unexpected_cfgs, clippy::all)]\n\n");
    let fences = |(_, _, instr): (_, _, &Instr)| matches!(instr, Instr::Fence(_));
    let fence = context.program.instructions().any(fences);
    debug_assert!(FenceOrd::ALL.len() == 4, "Rust has no relaxed fence");
    let uses = [
        ("std::arch::asm", scheduled),
        ("std::cell::UnsafeCell", has_plain(context)),
        ("std::sync::OnceLock", scheduled),
        (
            if fence {
                "std::sync::atomic::{AtomicI32, Ordering, fence}"
            } else {
                "std::sync::atomic::{AtomicI32, Ordering}"
            },
            true,
        ),
        ("std::thread", true),
    ];
    for (name, _) in uses.iter().filter(|(_, needed)| *needed) {
        let _ = writeln!(text, "use {name};");
    }
    text.push('\n');
    if context.can_last() {
        text.push_str(
            "const DEADLINE: u32 = 10; // seconds until a program that is blocked, or still running, is ended\n",
        );
    }
    if context.needs(Need::Rounds) {
        text.push_str("const ROUNDS: u32 = 3; // of an endless loop\n");
    }
    if let Some(modulus) = context.modulus() {
        let _ = writeln!(
            text,
            "const MODULUS: i64 = {modulus}; // values are from 0 to {}",
            modulus - 1
        );
    }
    if !text.ends_with("\n\n") {
        text.push('\n');
    }
    if has_plain(context) {
        text.push_str(PLAIN);
    }
    if scheduled {
        text.push_str(ALIGNED);
    }
    text
}

const PLAIN: &str = "\
/// Memory that is not atomic. Accesses are volatile, or the compiler would drop those whose value is not used.
#[repr(transparent)]
struct Plain(UnsafeCell<i32>);

unsafe impl Sync for Plain {}

impl Plain {
    const fn new(value: i32) -> Self {
        Self(UnsafeCell::new(value))
    }

    #[inline(always)]
    fn as_ptr(&self) -> *mut i32 {
        self.0.get()
    }

    #[inline(always)]
    fn read(&self) -> i32 {
        unsafe { self.as_ptr().read_volatile() }
    }

    #[inline(always)]
    fn write(&self, value: i32) {
        unsafe { self.as_ptr().write_volatile(value) }
    }
}

";

const ALIGNED: &str = "\
/// A sanitizer that remembers a few accesses of each word remembers more of each variable then.
#[repr(align(8))]
struct Aligned<T>(T);

impl<T> std::ops::Deref for Aligned<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

";

/// The functions that the threads use, and the schedule.
pub(super) fn helpers(context: &Context<'_>) -> String {
    let mut text = String::new();
    let mut instructions = context.program.instructions();
    if instructions.any(|(_, _, instr)| context.is_annotated(instr)) {
        text.push_str(ANNOTATIONS);
    }
    if context.can_last() {
        let _ = write!(
            text,
            "unsafe extern \"C\" {{
    fn signal(number: i32, address: extern \"C\" fn(i32)) -> usize;
    fn alarm(number: u32) -> u32;
    fn write(number: i32, message: *const u8, bytes: usize) -> isize;
    fn _exit(number: i32) -> !;
}}

extern \"C\" fn too_late(number: i32) {{
    let message = \"blocked, or not ended in time\\n\";
    unsafe {{
        write(2, message.as_ptr(), message.len());
        _exit({BLOCKED})
    }}
}}

"
        );
    }
    if context.options.scheduled {
        let _ = write!(
            text,
            "const INITIAL: usize = {}; // threads that start at once\n\n",
            initial(context).len()
        );
        text.push_str(SCHEDULE);
    }
    let needs = |helper| context.needs(Need::Helper(helper));
    let traps = Helper::ALL.iter().any(|h| h.traps() && needs(*h)) || needs(Helper::Assert);
    for helper in Helper::ALL
        .into_iter()
        .chain([Helper::Assert, Helper::Plain])
    {
        if needs(helper) || helper == Helper::Trap && traps {
            text.push_str(function(helper, context.options.scheduled));
            text.push('\n');
        }
    }
    debug_assert!(stops(context) || !needs(Helper::Join));
    text
}

const ANNOTATIONS: &str = "\
#[cfg(rsan)]
unsafe extern \"C\" {
    fn __rsan_wait(address: *const AtomicI32, bytes: usize, value: u64, order: i32);
    fn __rsan_wait_any(address: *const AtomicI32, bytes: usize, values: *const u64, count: usize, order: i32) -> u64;
    fn __rsan_bcas(address: *const AtomicI32, bytes: usize, expected: u64, desired: u64, order: i32);
}

/// The number of an order in C.
#[cfg(rsan)]
fn number_of(order: Ordering) -> i32 {
    match order {
        Ordering::Relaxed => 0,
        Ordering::Acquire => 2,
        Ordering::Release => 3,
        Ordering::AcqRel => 4,
        _ => 5,
    }
}

/// Waits for a value; one access to rsan.
fn rsan_wait(object: &AtomicI32, value: i32, order: Ordering) {
    #[cfg(rsan)]
    unsafe {
        __rsan_wait(object, 4, u64::from(value as u32), number_of(order))
    }
    #[cfg(not(rsan))]
    while object.load(order) != value {
        thread::yield_now();
    }
}

/// Waits for one of several values; one access to rsan.
fn rsan_wait_any(object: &AtomicI32, order: Ordering, values: &[i32]) -> i32 {
    #[cfg(rsan)]
    unsafe {
        let values: Vec<u64> = values.iter().map(|value| u64::from(*value as u32)).collect();
        __rsan_wait_any(object, 4, values.as_ptr(), values.len(), number_of(order)) as i32
    }
    #[cfg(not(rsan))]
    loop {
        let value = object.load(order);
        if values.contains(&value) {
            return value;
        }
        thread::yield_now();
    }
}

/// Waits for a value and replaces it; one access to rsan.
fn rsan_bcas(object: &AtomicI32, expected: i32, desired: i32, order: Ordering) {
    #[cfg(rsan)]
    unsafe {
        __rsan_bcas(object, 4, u64::from(expected as u32), u64::from(desired as u32), number_of(order))
    }
    #[cfg(not(rsan))]
    while object.compare_exchange_weak(expected, desired, order, Ordering::Relaxed).is_err() {
        thread::yield_now();
    }
}

";

/// A function of the translation's own.
fn function(helper: Helper, scheduled: bool) -> &'static str {
    match helper {
        Helper::Assert => {
            "fn check(condition: bool, what: &str) {
    if !condition {
        trap(what);
    }
}
"
        }
        Helper::Trap => {
            "fn trap(what: &str) -> ! {
    eprintln!(\"failed: {what}\");
    std::process::abort()
}
"
        }
        Helper::Wrap => {
            "/// The value that a number stands for.
fn wrap(number: i64) -> i32 {
    number.rem_euclid(MODULUS) as i32
}
"
        }
        Helper::Counted => {
            "/// An atomic addition cannot wrap at the modulus.
fn counted(old: i32, change: i32) -> i32 {
    if !(0..MODULUS).contains(&i64::from(old + change)) {
        trap(\"an atomic addition leaves the values of the program\");
    }
    old
}
"
        }
        Helper::Element => {
            "fn element(index: i64, length: usize) -> usize {
    match usize::try_from(index) {
        Ok(number) if number < length => number,
        _ => trap(\"an index is out of bounds\"),
    }
}
"
        }
        Helper::Add => "fn add(a: i64, b: i64) -> i64 {\n    a.wrapping_add(b)\n}\n",
        Helper::Subtract => "fn subtract(a: i64, b: i64) -> i64 {\n    a.wrapping_sub(b)\n}\n",
        Helper::Multiply => "fn multiply(a: i64, b: i64) -> i64 {\n    a.wrapping_mul(b)\n}\n",
        Helper::Quotient => {
            "fn quotient(a: i64, b: i64) -> i64 {
    if b == 0 {
        trap(\"division by zero\");
    }
    a.wrapping_div(b)
}
"
        }
        Helper::Remainder => {
            "fn remainder_of(a: i64, b: i64) -> i64 {
    if b == 0 {
        trap(\"division by zero\");
    }
    a.wrapping_rem(b)
}
"
        }
        Helper::ShiftLeft => {
            "fn shift_left(a: i64, b: i64) -> i64 {\n    a.wrapping_shl(b as u32)\n}\n"
        }
        Helper::ShiftRight => {
            "fn shift_right(a: i64, b: i64) -> i64 {\n    a.wrapping_shr(b as u32)\n}\n"
        }
        Helper::Choose if scheduled => {
            "fn seed() -> u64 {
    0
}

fn choose(number: i32, dice: &mut u64, count: u64) -> i32 {
    let way = step(number);
    *dice = dice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    if SCHEDULE.get().is_some() { way } else { ((*dice >> 33) % count) as i32 }
}
"
        }
        Helper::Choose => {
            "/// The program's first argument.
fn seed() -> u64 {
    std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0)
}

fn choose(dice: &mut u64, count: u64) -> i32 {
    *dice = dice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    ((*dice >> 33) % count) as i32
}
"
        }
        Helper::Join => {
            "/// Waits for a thread; false if it was not started, or stopped before its end.
fn joined(object: &mut Option<thread::JoinHandle<bool>>) -> bool {
    object.take().is_some_and(|object| object.join().is_ok_and(|value| value))
}
"
        }
        Helper::Plain => {
            "/// The memory of an atomic object.
#[inline(always)]
fn plain(object: &AtomicI32) -> &Plain {
    unsafe { &*object.as_ptr().cast::<Plain>() }
}
"
        }
    }
}

const SCHEDULE: &str = "\
// RSAN_SCHEDULE in the environment has a thread's number for every step, and after a dot which way a choice goes. The
// program ends with the last step. Without it the threads run freely. What hands the turns on is written in assembly,
// which a sanitizer does not look into: x86 keeps the order of these loads and stores, and nothing here is a fence.
static SCHEDULE: OnceLock<Vec<(i32, i32)>> = OnceLock::new();
static POSITION: AtomicI32 = AtomicI32::new(0); // the step that is made now
static RUNNING: AtomicI32 = AtomicI32::new(-1); // by whom, once it has begun
static BEGUN: [AtomicI32; INITIAL] = [const { AtomicI32::new(0) }; INITIAL]; // 1 when a thread runs
static HERE: OnceLock<usize> = OnceLock::new(); // where 0 is in a copy of the process, which has none of the other threads

unsafe extern \"C\" {
    fn mmap(address: usize, length: usize, a: i32, b: i32, number: i32, change: i64) -> usize;
    fn madvise(address: usize, length: usize, number: i32) -> i32;
}

fn hidden_load(object: *const i32) -> i32 {
    let value: i32;
    unsafe { asm!(\"mov {0:e}, dword ptr [{1}]\", out(reg) value, in(reg) object) };
    value
}

fn hidden_store(object: &AtomicI32, value: i32) {
    unsafe { asm!(\"mov dword ptr [{1}], {0:e}\", in(reg) value, in(reg) object.as_ptr()) };
}

fn read_schedule() {
    // Readable and writable, private and anonymous; wiped in a copy.
    let address = unsafe { mmap(0, 4096, 3, 0x22, -1, 0) };
    if address == usize::MAX || unsafe { madvise(address, 4096, 18) } != 0 {
        std::process::abort();
    }
    unsafe { *(address as *mut i32) = 1 };
    let _ = HERE.set(address);
    let Ok(text) = std::env::var(\"RSAN_SCHEDULE\") else { return };
    let number = |word: &str| word.parse().unwrap_or(0);
    let steps: Vec<(i32, i32)> = text
        .split_whitespace()
        .map(|word| match word.split_once('.') {
            Some((a, b)) => (number(a), number(b)),
            None => (number(word), 0),
        })
        .collect();
    if steps.is_empty() {
        print_result();
        std::process::exit(0);
    }
    let _ = SCHEDULE.set(steps);
}

/// The steps, unless threads run freely.
fn schedule() -> Option<&'static [(i32, i32)]> {
    let here = hidden_load(*HERE.get()? as *const i32) != 0;
    SCHEDULE.get().map(Vec::as_slice).filter(|_| here)
}

/// A thread runs. The library's own synchronisation at its start is over, so it orders nothing of the steps.
fn begin(number: usize) {
    hidden_store(&BEGUN[number], 1);
}

/// A thread stays until the schedule is over, for the same reason.
fn stay() {
    while schedule().is_some() {
        thread::yield_now();
    }
}

/// The thread's step, if it is making one, is done.
fn finish(number: i32) {
    let Some(steps) = schedule() else { return };
    if hidden_load(RUNNING.as_ptr()) != number {
        return;
    }
    hidden_store(&RUNNING, -1);
    let position = hidden_load(POSITION.as_ptr()) + 1;
    if position as usize == steps.len() {
        print_result();
        std::process::exit(0);
    }
    hidden_store(&POSITION, position);
}

/// Waits for the thread's next turn.
fn step(number: i32) -> i32 {
    let Some(steps) = schedule() else { return 0 };
    finish(number);
    while BEGUN.iter().any(|object| hidden_load(object.as_ptr()) == 0) {
        thread::yield_now();
    }
    loop {
        let now = hidden_load(POSITION.as_ptr()) as usize;
        if now < steps.len() && steps[now].0 == number {
            hidden_store(&RUNNING, number);
            return steps[now].1;
        }
        thread::yield_now();
    }
}

";
