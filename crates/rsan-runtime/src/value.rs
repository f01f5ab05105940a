//! Values of 64 and 128 bits as the monitor's 32-bit ones, without confusing two of them.
//!
//! The monitor compares values only for equality, and only those in a location's log. Narrow values stand for
//! themselves. Wide ones do if they are small; others get a number, which means the same value as long as the value
//! is among the last ones written to the location, and there are more of these than the log is long.

use rsan_model::Value;

/// Numbers from here on stand for large values.
const FIRST: i32 = 1 << 30;

/// The large values of one location.
#[derive(Clone, Debug, Default)]
pub struct Values {
    /// Least recently written first.
    known: Vec<(Value, u128)>,
    given: u32,
}

impl Values {
    /// The number of a value that was written; at least `keep` values are remembered.
    #[inline]
    pub fn written(&mut self, bytes: usize, bits: u128, keep: usize) -> Value {
        direct(bytes, bits).unwrap_or_else(|| self.number(bits, keep))
    }

    /// The number of a value that is compared with written ones.
    #[inline]
    pub fn compared(&self, bytes: usize, bits: u128) -> Value {
        direct(bytes, bits).unwrap_or_else(|| {
            let known = self.known.iter().rev().find(|known| known.1 == bits);
            known.map_or(self.next(), |known| known.0)
        })
    }

    /// The value of a number.
    pub fn bits(&self, value: Value) -> Option<u128> {
        let known = self.known.iter().find(|known| known.0 == value);
        match known {
            Some(known) => Some(known.1),
            // Narrow values are stored with their bits, so that negative numbers are large ones.
            None => Some(u128::from(value as u32)),
        }
    }

    fn number(&mut self, bits: u128, keep: usize) -> Value {
        let found = self.known.iter().rposition(|known| known.1 == bits);
        let entry = match found {
            Some(index) => self.known.remove(index),
            None => {
                let fresh = (self.next(), bits);
                self.given = self.given.wrapping_add(1);
                if self.known.len() > keep {
                    self.known.remove(0);
                }
                fresh
            }
        };
        self.known.push(entry);
        entry.0
    }

    /// A number that no remembered value has.
    fn next(&self) -> Value {
        FIRST + (self.given % (1 << 30)) as i32
    }
}

/// Values that stand for themselves.
#[inline]
fn direct(bytes: usize, bits: u128) -> Option<Value> {
    if bytes <= 4 {
        return Some(bits as u32 as i32);
    }
    Value::try_from(bits).ok().filter(|value| *value < FIRST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinct_values_have_distinct_numbers() {
        let mut values = Values::default();
        let written = [0, 1, 1 << 30, 1 << 31, 1 << 32, u64::MAX as u128, 1 << 100];
        let numbers: Vec<_> = written
            .iter()
            .map(|&bits| values.written(16, bits, 8))
            .collect();
        for (i, a) in numbers.iter().enumerate() {
            assert!(numbers[..i].iter().all(|b| a != b));
            assert_eq!(values.compared(16, written[i]), *a);
            assert_eq!(values.bits(*a), Some(written[i]));
        }
        let other = values.compared(16, 1 << 90);
        assert!(
            !numbers.contains(&other),
            "a value that was never written equals none"
        );
    }

    #[test]
    fn the_last_values_are_remembered() {
        let mut values = Values::default();
        for round in 0..100u128 {
            let number = values.written(8, (1 << 40) + round, 4);
            assert_eq!(values.compared(8, (1 << 40) + round), number);
            for back in 1..=round.min(4) {
                let old = values.compared(8, (1 << 40) + round - back);
                assert_eq!(values.bits(old), Some((1 << 40) + round - back));
            }
        }
        assert!(values.known.len() <= 5);
    }

    #[test]
    fn narrow_values_keep_their_bits() {
        let mut values = Values::default();
        assert_eq!(values.written(4, 0xffff_ffff, 4), -1);
        assert_eq!(values.bits(-1), Some(0xffff_ffff));
    }
}
