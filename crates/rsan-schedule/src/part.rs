//! Parts of an exploration, for several machines.
//!
//! Plans that wait do not depend on each other (see [`crate::explore`]): whoever has all that wait at some moment can deal them out, and every
//! execution that is left is shown by exactly one part. All parts have to deal out the same plans: each makes the same beginning for itself, and
//! a digest tells whether it was the same.

use crate::Kind;
use crate::coverage::digest;

/// Keeps what waits in the places of a part, from 0, and makes its weights, with the share that is done, one whole. Returns that share.
pub(crate) fn deal<W>(
    waiting: &mut Vec<W>,
    (part, of): (usize, usize),
    share: f64,
    weight: impl Fn(&mut W) -> Option<&mut f64>,
) -> f64 {
    let mut places = 0..;
    waiting.retain(|_| places.next().is_some_and(|place| place % of == part));
    let mut weights: Vec<&mut f64> = waiting.iter_mut().filter_map(weight).collect();
    let whole = share + weights.iter().map(|weight| **weight).sum::<f64>();
    if whole <= 0.0 {
        return share;
    }
    weights.iter_mut().for_each(|weight| **weight /= whole);
    share / whole
}

/// What counts of an event: its kind, and the numbers of its thread, of what it reads, and of the time at which it was added.
pub(crate) type Mark = (Kind, [u32; 3]);

/// Stands for plans, by their events. Values that the program computes do not count: they may be addresses.
pub(crate) fn digest_of<E: Iterator<Item = Mark>>(plans: impl Iterator<Item = E>) -> u128 {
    let mut words = Vec::new();
    for events in plans {
        for (kind, numbers) in events {
            words.push(kind as u64);
            words.extend(numbers.map(u64::from));
        }
        words.push(u64::MAX);
    }
    digest(&words)
}
