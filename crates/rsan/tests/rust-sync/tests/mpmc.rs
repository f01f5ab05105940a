//! Channels with several receivers, on nightly toolchains.

#![cfg(feature = "mpmc")]
#![feature(mpmc_channel)]

use rust_sync::rounds;
use std::sync::mpmc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// Two threads send, and two share what comes.
fn shared(sender: Sender<Box<usize>>, receiver: Receiver<Box<usize>>) {
    let rounds = rounds();
    let sum: usize = thread::scope(|s| {
        for _ in 0..2 {
            let sender = sender.clone();
            s.spawn(move || (0..rounds).for_each(|i| sender.send(Box::new(i)).unwrap()));
        }
        drop(sender);
        let receive = |receiver: Receiver<Box<usize>>| move || receiver.iter().map(|v| *v).sum::<usize>();
        let all = [receiver.clone(), receiver].map(|receiver| s.spawn(receive(receiver)));
        all.into_iter().map(|one| one.join().unwrap()).sum()
    });
    assert_eq!(sum, 2 * (0..rounds).sum::<usize>());
}

#[test]
fn unbounded() {
    let (sender, receiver) = mpmc::channel();
    shared(sender, receiver);
}

#[test]
fn bounded() {
    let (sender, receiver) = mpmc::sync_channel(2);
    shared(sender, receiver);
}

#[test]
fn rendezvous() {
    let (sender, receiver) = mpmc::sync_channel(0);
    shared(sender, receiver);
}

#[test]
fn with_a_time() {
    let (sender, receiver) = mpmc::channel();
    let rounds = rounds().min(50);
    let got: usize = thread::scope(|s| {
        s.spawn(move || (0..rounds).for_each(|i| sender.send(vec![i]).unwrap()));
        let receive = |receiver: Receiver<Vec<usize>>| {
            move || {
                let mut got = 0;
                loop {
                    match receiver.recv_timeout(Duration::from_micros(20)) {
                        Ok(value) => got += value.len(),
                        Err(RecvTimeoutError::Timeout) => {}
                        Err(RecvTimeoutError::Disconnected) => return got,
                    }
                }
            }
        };
        let all = [receiver.clone(), receiver].map(|receiver| s.spawn(receive(receiver)));
        all.into_iter().map(|one| one.join().unwrap()).sum()
    });
    assert_eq!(got, rounds);
}
