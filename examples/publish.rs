//! A configuration is published through a pointer. The store is relaxed, so a reader may see the pointer before it sees
//! what the pointer leads to.
#![allow(unexpected_cfgs)]

use std::hint;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::thread;

const PUBLISH: Ordering = if cfg!(fixed) { Ordering::Release } else { Ordering::Relaxed };

struct Config {
    limit: u32,
}

static CURRENT: AtomicPtr<Config> = AtomicPtr::new(ptr::null_mut());

fn publish(config: Config) {
    CURRENT.store(Box::into_raw(Box::new(config)), PUBLISH);
}

fn current() -> &'static Config {
    loop {
        // SAFETY: a configuration that was published is never freed.
        match unsafe { CURRENT.load(Ordering::Acquire).as_ref() } {
            Some(config) => return config,
            None => hint::spin_loop(),
        }
    }
}

fn main() {
    let reader = thread::spawn(|| current().limit);
    publish(Config { limit: 7 });
    println!("limit {}", reader.join().unwrap());
}
