//! What is no finding.

use core::marker::PhantomData;

/// Runs a function; what this thread does in it is no finding. That nests.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// static LENGTH: AtomicUsize = AtomicUsize::new(7);
///
/// // A guess is enough here.
/// let about = rsan::benign(|| LENGTH.load(Ordering::Relaxed));
/// assert_eq!(about, 7);
/// ```
#[inline]
pub fn benign<R>(body: impl FnOnce() -> R) -> R {
    let _guard = Benign::new();
    body()
}

/// What this thread does while it has such a value is no finding. Several of them nest.
///
/// ```
/// fn statistics() {
///     let _benign = rsan::Benign::new();
///     // …
/// }
/// # statistics();
/// ```
#[derive(Debug)]
#[must_use = "what is dropped at once leaves nothing out"]
pub struct Benign {
    /// It belongs to the thread that has made it.
    of_this_thread: PhantomData<*const ()>,
}

impl Benign {
    /// From here on.
    #[inline]
    pub fn new() -> Self {
        #[cfg(rsan)]
        crate::library::benign_begin();
        Self {
            of_this_thread: PhantomData,
        }
    }
}

impl Default for Benign {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Benign {
    #[inline]
    fn drop(&mut self) {
        #[cfg(rsan)]
        crate::library::benign_end();
    }
}

/// What is about the memory of this object is no finding, from now on and for as long as the program runs, whatever the memory is
/// used for later. It is for objects that live as long.
///
/// ```
/// use std::sync::atomic::AtomicU64;
///
/// static BYTES_SEEN: AtomicU64 = AtomicU64::new(0);
///
/// rsan::benign_address(&BYTES_SEEN);
/// ```
#[inline]
pub fn benign_address<T: ?Sized>(object: &T) {
    #[cfg(rsan)]
    crate::library::benign_address(object);
    #[cfg(not(rsan))]
    let _ = object;
}
