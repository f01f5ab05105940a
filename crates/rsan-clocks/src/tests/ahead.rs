//! A thread that goes on alone reads what the axioms let it read.

use crate::write_log::{Ahead, LocationState, Rules, SlotTable, Taken, ThreadState};
use crate::{Effect, Timestamp};
use rsan_model::{FenceOrd, ReadOrd, ThreadId, WriteOrd};

const RULES: fn() -> Rules = Rules::c20;

/// A writer that has made the writes, and a reader that has made nothing, with the two locations and the messages of their
/// writes.
struct Scene {
    reader: ThreadState,
    x: LocationState,
    y: LocationState,
}

fn scene(writes: &[(usize, WriteOrd)]) -> (Scene, Vec<crate::write_log::VectorClock>) {
    let mut slots = SlotTable::new(None);
    let mut thread = |id| ThreadState::initial(ThreadId(id), slots.assign(None, RULES()), RULES());
    let (mut writer, reader) = (thread(0), thread(1));
    let mut locations = [0, 1].map(|_| LocationState::new(0, RULES()));
    let mut messages = Vec::new();
    for (value, &(l, ord)) in (1..).zip(writes) {
        let location = &mut locations[l];
        location.apply(&mut writer, Effect::Write { value, ord }, RULES());
        messages.push(location.last_message(RULES()).clone());
    }
    let [x, y] = locations;
    (Scene { reader, x, y }, messages)
}

fn taken(write: u64, message: &crate::write_log::VectorClock, is_old: bool) -> Taken<'_> {
    Taken {
        write: Timestamp(write),
        message: Some(message),
        is_old,
        is_free_of_sc: true,
    }
}

/// x := 1; y := 2, with an order; the reader has read y.
fn after_reading_y(ord: WriteOrd, read: ReadOrd, fence: bool) -> Timestamp {
    let (scene, messages) = scene(&[(0, WriteOrd::Relaxed), (1, ord)]);
    let mut ahead = Ahead::new(&scene.reader);
    assert_eq!(ahead.reach(0, &scene.x, read, RULES()), Timestamp(0));
    assert_eq!(ahead.reach(1, &scene.y, read, RULES()), Timestamp(0));
    ahead.read(1, taken(1, &messages[1], false), read);
    assert_eq!(
        ahead.reach(1, &scene.y, read, RULES()),
        Timestamp(1),
        "coherence"
    );
    if fence {
        ahead.fence(FenceOrd::Acquire, RULES());
    }
    assert!(ahead.is_exact());
    ahead.reach(0, &scene.x, read, RULES())
}

#[test]
fn what_is_acquired_puts_older_writes_out_of_reach() {
    let (relaxed, acquire) = (ReadOrd::Relaxed, ReadOrd::Acquire);
    let released = WriteOrd::Release;
    assert_eq!(after_reading_y(released, acquire, false), Timestamp(1));
    assert_eq!(after_reading_y(released, relaxed, false), Timestamp(0));
    assert_eq!(after_reading_y(released, relaxed, true), Timestamp(1));
    for (read, fence) in [(acquire, false), (relaxed, true)] {
        let reach = after_reading_y(WriteOrd::Relaxed, read, fence);
        assert_eq!(reach, Timestamp(0));
    }
}

#[test]
fn only_further_stale_reads_beside_seq_cst_ones_are_in_doubt() {
    let (scene, messages) = scene(&[(0, WriteOrd::Relaxed), (0, WriteOrd::Relaxed)]);
    let relaxed = ReadOrd::Relaxed;
    let beside_sc = |write, is_old| Taken {
        is_free_of_sc: false,
        ..taken(write, &messages[0], is_old)
    };
    let mut ahead = Ahead::new(&scene.reader);
    ahead.read(0, beside_sc(1, true), relaxed);
    assert!(ahead.is_exact(), "the first is");
    ahead.read(0, beside_sc(1, true), relaxed);
    assert!(ahead.is_exact(), "so is the same again");
    ahead.read(0, beside_sc(2, false), relaxed);
    assert!(ahead.is_exact(), "so is a last write");
    ahead.read(1, beside_sc(1, true), relaxed);
    assert!(!ahead.is_exact());
}
