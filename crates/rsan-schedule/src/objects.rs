//! The objects of a run: accesses that overlap are accesses of one object.

use crate::Op;

/// Numbers for objects.
pub(crate) struct Objects {
    /// First addresses, ascending.
    starts: Vec<u64>,
    uniform: Vec<bool>,
}

impl Objects {
    /// The objects of these operations.
    pub(crate) fn of<'o>(ops: impl Iterator<Item = &'o Op>) -> Self {
        let mut ranges: Vec<(u64, u64)> = ops
            .filter(|op| op.kind.is_access())
            .map(|op| (op.object, op.object.saturating_add(op.bytes.max(1).into())))
            .collect();
        ranges.sort_unstable();
        ranges.dedup();
        let (mut starts, mut uniform) = (Vec::new(), Vec::new());
        let mut end = 0;
        for (first, last) in ranges {
            if starts.is_empty() || first >= end {
                starts.push(first);
                uniform.push(true);
                end = last;
            } else {
                *uniform.last_mut().expect("the range before") = false;
                end = end.max(last);
            }
        }
        Self { starts, uniform }
    }

    /// The number of an access's object; `None` for what is no access.
    pub(crate) fn number(&self, op: &Op) -> Option<usize> {
        if !op.kind.is_access() {
            return None;
        }
        let after = self.starts.partition_point(|&first| first <= op.object);
        after.checked_sub(1)
    }

    /// Whether all accesses of it are to the same bytes.
    pub(crate) fn is_uniform(&self, object: usize) -> bool {
        self.uniform[object]
    }

    /// Number of objects.
    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }
}
