// What the standard library does for contended threads: weak behaviours of its own, no race.
use std::collections::HashMap;
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread;

struct Counted(Arc<Mutex<u32>>);
impl Drop for Counted {
    fn drop(&mut self) {
        *self.0.lock().unwrap() += 1;
    }
}

fn main() {
    let drops = Arc::new(Mutex::new(0));
    let counted = Arc::new(Counted(drops.clone()));
    let map = Arc::new(Mutex::new(HashMap::new()));
    let barrier = Arc::new(Barrier::new(3));
    let (sender, receiver) = mpsc::channel();
    let threads: Vec<_> = (0..3)
        .map(|number| {
            let (sender, map) = (sender.clone(), map.clone());
            let (counted, barrier) = (counted.clone(), barrier.clone());
            thread::spawn(move || {
                barrier.wait();
                for key in 0..40 {
                    map.lock().unwrap().insert((number, key), vec![key]);
                    sender.send(Box::new(key)).unwrap();
                }
                drop(counted);
            })
        })
        .collect();
    drop((sender, counted));
    let sum: u32 = receiver.iter().map(|key| *key).sum();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!((sum, *drops.lock().unwrap()), (3 * 780, 1));
    assert_eq!(map.lock().unwrap().len(), 120);
}
