//! What the interpreter asks of the engine of weak executions.
//!
//! A trait, because the tests of `rsan-weak` run the same programs with an engine whose rules are broken on purpose: that one is another
//! type than the engine which this crate sees.

use rsan_clocks::write_log::{ThreadState, VectorClock};
use rsan_model::{FenceOrd, ReadOrd, RmwOrd, Value, WriteOrd};
use std::fmt;

/// A write that is not forgotten.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Known<W> {
    /// The engine's name of it.
    pub id: W,
    /// What its writer called it; 0 for the initial value.
    pub tag: u64,
    /// The value.
    pub value: Value,
}

/// Memory in a weak execution.
pub trait Memory: Clone {
    /// A location.
    type Location: Copy + fmt::Debug;
    /// A write of a location.
    type Write: Copy + PartialEq + fmt::Debug;
    /// A new location, with a name and its initial value.
    fn create(&mut self, name: usize, value: Value) -> Self::Location;
    /// The writes that a load may read.
    fn readable(
        &mut self,
        by: &mut ThreadState,
        at: Self::Location,
        ord: ReadOrd,
    ) -> Vec<Self::Write>;
    /// The writes that a read-modify-write may read.
    fn updatable(
        &mut self,
        by: &mut ThreadState,
        at: Self::Location,
        ord: RmwOrd,
    ) -> Vec<Self::Write>;
    /// A load.
    fn read(&mut self, by: &mut ThreadState, at: Self::Location, write: Self::Write, ord: ReadOrd);
    /// A store of a value, with a tag.
    fn store(&mut self, by: &mut ThreadState, at: Self::Location, new: (Value, u64), ord: WriteOrd);
    /// A read-modify-write.
    fn update(
        &mut self,
        by: &mut ThreadState,
        at: Self::Location,
        read: Self::Write,
        new: (Value, u64),
        ord: RmwOrd,
    );
    /// A fence.
    fn fence(&mut self, by: &mut ThreadState, ord: FenceOrd);
    /// What is known of a write.
    fn known(&self, at: Self::Location, write: Self::Write) -> Known<Self::Write>;
    /// All writes that are not forgotten.
    fn writes(&self, at: Self::Location) -> Vec<Known<Self::Write>>;
    /// Whether a write is known to come before another one, or is it.
    fn is_before(&self, at: Self::Location, one: Self::Write, other: Self::Write) -> bool;
    /// Whether an interleaving is none any more if the thread reads this write.
    fn leaves_sc(&self, by: &ThreadState, at: Self::Location, write: Self::Write) -> bool;
    /// All live threads know this much: what can be forgotten is forgotten at once.
    fn prune(&mut self, horizon: &VectorClock);
}

/// Implements [`Memory`](crate::weak::Memory) for an engine, given its type, and the types of its locations and writes.
#[macro_export]
macro_rules! weak_memory {
    ($engine:ty, $location:ty, $write:ty) => {
        impl $crate::weak::Memory for $engine {
            type Location = $location;
            type Write = $write;

            fn create(&mut self, name: usize, value: i32) -> $location {
                self.location(name as u64, || value as u32 as u128)
            }

            fn readable(
                &mut self,
                by: &mut rsan_clocks::write_log::ThreadState,
                at: $location,
                ord: rsan_model::ReadOrd,
            ) -> Vec<$write> {
                <$engine>::readable(self, by, at, ord)
            }

            fn updatable(
                &mut self,
                by: &mut rsan_clocks::write_log::ThreadState,
                at: $location,
                ord: rsan_model::RmwOrd,
            ) -> Vec<$write> {
                <$engine>::updatable(self, by, at, ord)
            }

            fn read(
                &mut self,
                by: &mut rsan_clocks::write_log::ThreadState,
                at: $location,
                write: $write,
                ord: rsan_model::ReadOrd,
            ) {
                <$engine>::read(self, by, at, write, ord);
            }

            fn store(
                &mut self,
                by: &mut rsan_clocks::write_log::ThreadState,
                at: $location,
                (value, tag): (i32, u64),
                ord: rsan_model::WriteOrd,
            ) {
                <$engine>::store(self, by, at, value as u32 as u128, ord, u128::from(tag));
            }

            fn update(
                &mut self,
                by: &mut rsan_clocks::write_log::ThreadState,
                at: $location,
                read: $write,
                (value, tag): (i32, u64),
                ord: rsan_model::RmwOrd,
            ) {
                <$engine>::update(
                    self,
                    by,
                    at,
                    read,
                    value as u32 as u128,
                    ord,
                    u128::from(tag),
                );
            }

            fn fence(
                &mut self,
                by: &mut rsan_clocks::write_log::ThreadState,
                ord: rsan_model::FenceOrd,
            ) {
                <$engine>::fence(self, by, ord);
            }

            fn known(&self, at: $location, id: $write) -> $crate::weak::Known<$write> {
                let write = self.write(at, id);
                let (tag, value) = (write.tag as u64, write.value as u32 as i32);
                $crate::weak::Known { id, tag, value }
            }

            fn writes(&self, at: $location) -> Vec<$crate::weak::Known<$write>> {
                let writes = <$engine>::writes(self, at);
                writes.map(|write| self.known(at, write)).collect()
            }

            fn is_before(&self, at: $location, one: $write, other: $write) -> bool {
                <$engine>::is_before(self, at, one, other)
            }

            fn leaves_sc(
                &self,
                by: &rsan_clocks::write_log::ThreadState,
                at: $location,
                write: $write,
            ) -> bool {
                <$engine>::leaves_sc(self, by, at, write)
            }

            fn prune(&mut self, horizon: &rsan_clocks::write_log::VectorClock) {
                <$engine>::prune(self, horizon);
                self.prune_all();
            }
        }
    };
}
