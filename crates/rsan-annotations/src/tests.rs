//! Without the sanitizer; what it makes of annotations is tested with the command.

use crate::{Atomic, Benign, bcas, benign, benign_address, snapshot, wait, wait_any};
use std::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8,
    AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering,
};

/// Passes a turn between two threads, there and back.
fn passes<A: Atomic + Sync>(object: &A, [first, second, third]: [A::Value; 3])
where
    A::Value: Send + PartialEq + std::fmt::Debug,
{
    std::thread::scope(|scope| {
        scope.spawn(move || bcas(object, second, third, Ordering::AcqRel));
        bcas(object, first, second, Ordering::AcqRel);
        let came = wait_any(object, [first, third], Ordering::Acquire);
        assert_eq!(came, third);
    });
    wait(object, third, Ordering::SeqCst);
}

#[test]
fn every_integer_is_waited_for() {
    passes(&AtomicI8::new(-1), [-1, -2, -3]);
    passes(&AtomicU8::new(1), [1, 2, 255]);
    passes(&AtomicI16::new(-1), [-1, -2, -3]);
    passes(&AtomicU16::new(1), [1, 2, 65535]);
    passes(&AtomicI32::new(-1), [-1, -2, -3]);
    passes(&AtomicU32::new(1), [1, 2, u32::MAX]);
    passes(&AtomicI64::new(-1), [-1, -2, i64::MIN]);
    passes(&AtomicU64::new(1), [1, 2, u64::MAX]);
    passes(&AtomicIsize::new(-1), [-1, -2, isize::MIN]);
    passes(&AtomicUsize::new(1), [1, 2, usize::MAX]);
}

#[test]
fn flags_and_pointers_are_waited_for() {
    let flag = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| flag.store(true, Ordering::Release));
        wait(&flag, true, Ordering::Acquire);
    });
    let (mut value, null) = (7, std::ptr::null_mut());
    let place = AtomicPtr::new(null);
    bcas(&place, null, &raw mut value, Ordering::AcqRel);
    let came = wait_any(&place, [null, &raw mut value], Ordering::Acquire);
    assert_eq!(came, &raw mut value);
}

#[test]
#[should_panic(expected = "release load")]
fn a_wait_that_releases_is_refused() {
    wait(&AtomicBool::new(true), true, Ordering::Release);
}

#[test]
fn without_the_sanitizer_the_rest_is_nothing() {
    assert_eq!(crate::sanitized(), cfg!(rsan));
    assert_eq!(benign(|| benign(|| 7)), 7);
    assert_eq!(size_of::<Benign>(), 0);
    let unwound = std::panic::catch_unwind(|| benign(|| std::panic::resume_unwind(Box::new(1))));
    assert!(unwound.is_err());
    benign_address(&[0_u8; 4][..]);
    snapshot();
}
