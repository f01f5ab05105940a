//! Channels.

use rust_sync::rounds;
use std::sync::mpsc::{self, RecvTimeoutError, TryRecvError, TrySendError};
use std::thread;
use std::time::Duration;

#[test]
fn unbounded() {
    let (sender, receiver) = mpsc::channel();
    let rounds = rounds();
    thread::scope(|s| {
        for _ in 0..3 {
            let sender = sender.clone();
            s.spawn(move || (0..rounds).for_each(|i| sender.send(Box::new(i)).unwrap()));
        }
        drop(sender);
        let sum: usize = receiver.iter().map(|value| *value).sum();
        assert_eq!(sum, 3 * (0..rounds).sum::<usize>());
    });
}

#[test]
fn bounded() {
    let (sender, receiver) = mpsc::sync_channel(2);
    let rounds = rounds();
    thread::scope(|s| {
        for _ in 0..2 {
            let sender = sender.clone();
            s.spawn(move || (0..rounds).for_each(|i| sender.send(vec![i; 3]).unwrap()));
        }
        drop(sender);
        assert_eq!(receiver.iter().map(|v| v.len()).sum::<usize>(), 6 * rounds);
    });
}

#[test]
fn rendezvous() {
    let (sender, receiver) = mpsc::sync_channel(0);
    let rounds = rounds();
    thread::scope(|s| {
        s.spawn(move || (0..rounds).for_each(|i| sender.send(Box::new(i)).unwrap()));
        for expected in 0..rounds {
            assert_eq!(*receiver.recv().unwrap(), expected);
        }
        assert!(receiver.recv().is_err());
    });
}

#[test]
fn ping_pong() {
    let (there, from_here) = mpsc::channel::<Box<usize>>();
    let (back, from_there) = mpsc::channel();
    let rounds = rounds();
    thread::scope(|s| {
        s.spawn(move || from_here.iter().for_each(|mut value| {
            *value += 1;
            back.send(value).unwrap();
        }));
        for round in 0..rounds {
            there.send(Box::new(round)).unwrap();
            assert_eq!(*from_there.recv().unwrap(), round + 1);
        }
        drop(there);
    });
}

#[test]
fn with_a_time() {
    let (sender, receiver) = mpsc::channel();
    let rounds = rounds().min(50);
    thread::scope(|s| {
        s.spawn(move || (0..rounds).for_each(|i| sender.send(Box::new(i)).unwrap()));
        let mut got = 0;
        loop {
            match receiver.recv_timeout(Duration::from_micros(20)) {
                Ok(value) => got += usize::from(*value < rounds),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        assert_eq!(got, rounds);
    });
}

#[test]
fn whichever_comes_first() {
    let (first, from_first) = mpsc::channel();
    let (second, from_second) = mpsc::sync_channel(1);
    let rounds = rounds().min(200);
    thread::scope(|s| {
        s.spawn(move || (0..rounds).for_each(|i| first.send(Box::new(i)).unwrap()));
        s.spawn(move || {
            for i in 0..rounds {
                let mut value = Box::new(i);
                while let Err(TrySendError::Full(again)) = second.try_send(value) {
                    value = again;
                    thread::yield_now();
                }
            }
        });
        let mut open = [true, true];
        let mut got = 0;
        while open != [false, false] {
            for (open, receiver) in open.iter_mut().zip([&from_first, &from_second]) {
                match receiver.try_recv() {
                    Ok(value) => got += usize::from(*value < rounds),
                    Err(TryRecvError::Empty) => thread::yield_now(),
                    Err(TryRecvError::Disconnected) => *open = false,
                }
            }
        }
        assert_eq!(got, 2 * rounds);
    });
}

#[test]
fn what_nobody_receives_is_dropped() {
    for _ in 0..rounds() {
        let (sender, receiver) = mpsc::channel();
        let ended = thread::spawn(move || while sender.send(vec![1]).is_ok() {});
        assert!(receiver.recv().is_ok());
        drop(receiver);
        ended.join().unwrap();
    }
}
