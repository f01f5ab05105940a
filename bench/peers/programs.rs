//! The programs of the C files beside, access by access.

use crate::shim::*;

/// A program by the name of its C file.
pub fn named(name: &str) -> Option<fn(usize)> {
    Some(match name {
        "store-buffering" => |_| store_buffering(Relaxed),
        "store-buffering-sc" => |_| store_buffering(SeqCst),
        "message-passing" => message_passing,
        "iriw" => |_| iriw(Release, Acquire),
        "iriw-sc" => |_| iriw(SeqCst, SeqCst),
        "fetch-add" => fetch_add,
        "spin-lock" => spin_lock,
        "ticket-lock" => ticket_lock,
        "peterson" => peterson,
        "treiber" => treiber,
        "spsc-ring" => spsc_ring,
        "seqlock" => seqlock,
        "mutex" => mutex,
        "condvar-queue" => condvar_queue,
        _ => return None,
    })
}

fn store_buffering(order: Ordering) {
    let (_, seen) = match order {
        SeqCst => run(2, atomics::<2>(), |flag, me| {
            flag[me].store(1, SeqCst);
            flag[1 - me].load(SeqCst)
        }),
        _ => run(2, atomics::<2>(), |flag, me| {
            flag[me].store(1, Relaxed);
            flag[1 - me].load(Relaxed)
        }),
    };
    assert!(order != SeqCst || seen[0] + seen[1] > 0);
}

fn message_passing(_: usize) {
    run(2, atomics::<2>(), |[data, flag], number| {
        if number == 0 {
            data.store(42, Relaxed);
            flag.store(1, Release);
        } else if flag.load(Acquire) == 1 {
            assert_eq!(data.load(Relaxed), 42);
        }
    });
}

fn iriw(write: Ordering, read: Ordering) {
    struct Iriw {
        place: [AtomicI32; 2],
        write: Ordering,
        read: Ordering,
    }
    let place = atomics();
    let shared = Iriw { place, write, read };
    let (_, seen) = run(4, shared, |shared, number| {
        let Iriw { place, write, read } = shared;
        if number < 2 {
            place[number].store(1, *write);
            return (0, 0);
        }
        let me = number - 2;
        let first = place[me].load(*read);
        (first, place[1 - me].load(*read))
    });
    assert!(write != SeqCst || (seen[2], seen[3]) != ((1, 0), (1, 0)));
}

fn fetch_add(threads: usize) {
    let (counter, _) = run(threads, AtomicI32::new(0), |counter, _| {
        counter.fetch_add(1, Relaxed);
    });
    assert_eq!(counter.load(Relaxed), threads as i32);
}

fn spin_lock(threads: usize) {
    let (shared, _) = run(threads, atomics::<2>(), |[lock, counter], _| {
        while lock.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            relax();
        }
        let before = counter.load(Relaxed);
        counter.store(before + 1, Relaxed);
        lock.store(0, Release);
    });
    assert_eq!(shared[1].load(Relaxed), threads as i32);
}

fn ticket_lock(threads: usize) {
    let (shared, _) = run(threads, atomics::<3>(), |[next, now, counter], _| {
        let mine = next.fetch_add(1, AcqRel);
        while now.load(Acquire) != mine {
            relax();
        }
        let before = counter.load(Relaxed);
        counter.store(before + 1, Relaxed);
        now.store(mine + 1, Release);
    });
    assert_eq!(shared[2].load(Relaxed), threads as i32);
}

fn peterson(_: usize) {
    let (shared, _) = run(2, atomics::<4>(), |[first, second, turn, counter], me| {
        let wants = [first, second];
        let other = 1 - me;
        wants[me].store(1, SeqCst);
        turn.store(other as i32, SeqCst);
        while wants[other].load(SeqCst) == 1 && turn.load(SeqCst) == other as i32 {
            relax();
        }
        let before = counter.load(Relaxed);
        counter.store(before + 1, Relaxed);
        wants[me].store(0, SeqCst);
    });
    assert_eq!(shared[3].load(Relaxed), 2);
}

/// Nodes are numbered from 1; 0 is none.
struct Stack {
    top: AtomicI32,
    next: [AtomicI32; 9],
}

impl Stack {
    fn push(&self, node: i32) {
        let mut old = self.top.load(Acquire);
        loop {
            self.next[node as usize].store(old, Relaxed);
            match self.top.compare_exchange(old, node, AcqRel, Acquire) {
                Ok(_) => return,
                Err(found) => old = found,
            }
        }
    }

    fn pop(&self) -> i32 {
        let mut old = self.top.load(Acquire);
        loop {
            let after = self.next[old as usize].load(Relaxed);
            match self.top.compare_exchange(old, after, AcqRel, Acquire) {
                Ok(_) => return old,
                Err(found) => old = found,
            }
        }
    }
}

fn treiber(threads: usize) {
    let top = AtomicI32::new(0);
    let next = atomics();
    let (_, popped) = run(threads, Stack { top, next }, |stack, me| {
        stack.push(me as i32 + 1);
        stack.pop()
    });
    let all = threads * (threads + 1) / 2;
    assert_eq!(popped.iter().sum::<i32>(), all as i32);
}

fn spsc_ring(_: usize) {
    const SLOTS: i32 = 2;
    const ITEMS: i32 = 3;
    run(2, atomics::<4>(), |[first, second, head, tail], number| {
        let slot = |i| if i % SLOTS == 0 { first } else { second };
        for i in 0..ITEMS {
            if number == 0 {
                while i - head.load(Acquire) == SLOTS {
                    relax();
                }
                slot(i).store(i + 1, Relaxed);
                tail.store(i + 1, Release);
            } else {
                while tail.load(Acquire) == i {
                    relax();
                }
                assert_eq!(slot(i).load(Relaxed), i + 1);
                head.store(i + 1, Release);
            }
        }
    });
}

fn seqlock(threads: usize) {
    run(threads, atomics::<3>(), |[version, left, right], number| {
        if number == 0 {
            for round in 1..=2 {
                version.store(2 * round - 1, Release);
                left.store(round, Release);
                right.store(round, Release);
                version.store(2 * round, Release);
            }
            return;
        }
        let before = version.load(Acquire);
        let (l, r) = (left.load(Acquire), right.load(Acquire));
        let after = version.load(Acquire);
        assert!(before % 2 == 1 || before != after || l == r);
    });
}

fn mutex(threads: usize) {
    let (counter, _) = run(threads, Mutex::new(0), |counter, _| {
        *counter.lock().unwrap() += 1;
    });
    assert_eq!(*counter.lock().unwrap(), threads);
}

fn condvar_queue(_: usize) {
    struct Queue {
        /// 0: empty.
        place: Mutex<i32>,
        filled: Condvar,
        emptied: Condvar,
    }
    let queue = Queue {
        place: Mutex::new(0),
        filled: Condvar::new(),
        emptied: Condvar::new(),
    };
    run(2, queue, |queue, number| {
        for i in 1..=2 {
            let mut place = queue.place.lock().unwrap();
            if number == 0 {
                while *place != 0 {
                    place = queue.emptied.wait(place).unwrap();
                }
                *place = i;
                queue.filled.notify_one();
            } else {
                while *place == 0 {
                    place = queue.filled.wait(place).unwrap();
                }
                assert_eq!(*place, i);
                *place = 0;
                queue.emptied.notify_one();
            }
        }
    });
}
