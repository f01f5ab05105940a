//! Panics of every kind go through instrumented frames, and what they leave behind is as it should be.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind, set_hook};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

extern "C-unwind" fn deep(depth: usize, dropped: &Arc<AtomicUsize>) {
    let _counted = Counted(dropped.clone());
    if depth == 0 {
        panic!("at the bottom");
    }
    deep(depth - 1, dropped);
}

struct PanicsInside;

impl Drop for PanicsInside {
    fn drop(&mut self) {
        assert!(catch_unwind(|| panic!("while unwinding")).is_err());
    }
}

fn main() {
    set_hook(Box::new(|_| {}));
    let dropped = Arc::new(AtomicUsize::new(0));
    assert!(catch_unwind(AssertUnwindSafe(|| deep(10, &dropped))).is_err());
    assert_eq!(dropped.load(Ordering::SeqCst), 11);

    let lock = Arc::new(Mutex::new(0));
    let held = lock.clone();
    let thread = thread::spawn(move || {
        let _guard = held.lock().unwrap();
        panic!("with a lock");
    });
    assert!(thread.join().is_err());
    assert!(lock.lock().is_err());

    let unwound = catch_unwind(|| {
        let _inside = PanicsInside;
        panic!("outside");
    });
    let again = catch_unwind(AssertUnwindSafe(|| resume_unwind(unwound.unwrap_err())));
    assert_eq!(again.unwrap_err().downcast_ref::<&str>(), Some(&"outside"));

    let scoped = catch_unwind(|| {
        thread::scope(|scope| {
            scope.spawn(|| panic!("in a scope"));
        });
    });
    assert!(scoped.is_err());
    for number in 0..1000 {
        let even = number % 2 == 0;
        assert_eq!(catch_unwind(|| assert!(!even)).is_err(), even);
    }
}
