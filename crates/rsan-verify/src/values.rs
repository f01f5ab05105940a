//! Which values a search reckons with, and which of them it tells apart. See docs/theory/finite.md, F3.

use rsan_model::{Instr, LocId, Program, Track, Value};

/// How many values the search reckons with at present; it starts over with more when it meets another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Range {
    pub(crate) low: Value,
    /// Number of bits of `value - low`.
    pub(crate) bits: u32,
}

impl Range {
    /// The smallest range that covers the values.
    pub(crate) fn covering(values: impl IntoIterator<Item = Value>) -> Self {
        let mut range = Self { low: 0, bits: 1 };
        values.into_iter().for_each(|v| range = range.widened_to(v));
        range
    }

    /// The range, doubled until it has the value.
    pub(crate) fn widened_to(mut self, value: Value) -> Self {
        while !self.contains(value) {
            if value < self.low {
                // Twice as far below zero, keeping the upper end.
                let high = self.high().min(i64::from(Value::MAX));
                while value < self.low {
                    self.low = self.low.saturating_mul(2).min(-1);
                }
                self.bits = bits_for((high - i64::from(self.low) + 1) as u64);
            } else {
                self.bits += 1;
            }
        }
        self
    }

    pub(crate) fn contains(self, value: Value) -> bool {
        (i64::from(self.low)..=self.high()).contains(&i64::from(value))
    }

    fn high(self) -> i64 {
        i64::from(self.low) + (1i64 << self.bits) - 1
    }

    /// Number of values.
    pub(crate) fn len(self) -> usize {
        1 << self.bits
    }
}

/// Number of bits needed for `n` different numbers.
pub(crate) fn bits_for(n: u64) -> u32 {
    64 - n.saturating_sub(1).leading_zeros()
}

/// The classes of values that checks on one location tell apart.
#[derive(Clone, Debug)]
pub(crate) enum Classes {
    /// No check asks for values.
    One,
    /// These values, sorted, and one class for all others.
    Constants(Vec<Value>),
    /// Every value of the range.
    All(Range),
    /// One class for all of them, where any might be meant; then failures need not be real.
    Merged,
    /// These values, sorted, and one class for all others, of which any might be meant.
    Readings(Vec<Value>),
}

impl Classes {
    /// Number of classes.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::One | Self::Merged => 1,
            Self::Constants(values) | Self::Readings(values) => values.len() + 1,
            Self::All(range) => range.len(),
        }
    }

    /// The class of a value that occurs in memory.
    #[inline]
    pub(crate) fn of(&self, value: Value) -> usize {
        match self {
            Self::One | Self::Merged => 0,
            Self::Constants(values) | Self::Readings(values) => {
                values.binary_search(&value).unwrap_or(values.len())
            }
            Self::All(range) => value.wrapping_sub(range.low) as usize % range.len(),
        }
    }

    /// The class of exactly this value; `None` when no stale write can hold it.
    #[inline]
    pub(crate) fn exactly(&self, value: Value) -> Option<usize> {
        match self {
            Self::One => None,
            Self::Merged => Some(0),
            Self::Readings(_) => Some(self.of(value)),
            Self::Constants(values) => values.binary_search(&value).ok(),
            Self::All(range) => range.contains(value).then(|| self.of(value)),
        }
    }

    /// Whether a class may stand for more than one value.
    pub(crate) fn is_merged(&self) -> bool {
        matches!(self, Self::Merged)
    }

    /// The classes of a location that holds readings of a clock: the constants that waits ask for, and the readings.
    pub(crate) fn of_readings(program: &Program, loc: LocId) -> Self {
        let mut constants = Vec::new();
        for (_, _, instr) in program.instructions() {
            if let Instr::Wait { place, values, .. } = instr
                && place.candidates().any(|l| l == loc)
            {
                let values = values.iter().filter_map(rsan_model::Expr::as_const);
                constants.extend(values.map(|v| program.domain.wrap(v)));
            }
        }
        constants.sort_unstable();
        constants.dedup();
        Self::Readings(constants)
    }

    /// The classes that the checks on a location need to be exact: the constants that waits and
    /// compare-and-swaps compare with, or every value when they compare with something computed. A `track` line
    /// can only ask for more.
    pub(crate) fn of_location(program: &Program, loc: LocId, range: Range) -> Self {
        let mut constants: Vec<Value> = Vec::new();
        let mut value_based = false;
        for (_, _, instr) in program.instructions() {
            let operands = match instr {
                Instr::Wait { values, .. } => values.iter().collect(),
                Instr::Cas { expected, .. } | Instr::Bcas { expected, .. } => vec![expected],
                _ => vec![],
            };
            if operands.is_empty()
                || !instr
                    .place()
                    .is_some_and(|p| p.candidates().any(|l| l == loc))
            {
                continue;
            }
            value_based = true;
            for operand in operands {
                match operand.as_const() {
                    Some(value) => constants.push(program.domain.wrap(value)),
                    None => return Self::All(range),
                }
            }
        }
        if !value_based {
            return Self::One;
        }
        for (tracked, which) in &program.tracked {
            match which {
                _ if *tracked != loc => {}
                Track::All => return Self::All(range),
                Track::Values(values) => constants.extend(values),
            }
        }
        constants.sort_unstable();
        constants.dedup();
        Self::Constants(constants)
    }
}
