//! What a thread does in a child, in exact mode: the points that it comes to, and the reads and fences in between.

use super::arrivals::mix;

/// Points that are remembered.
pub(super) const POINTS: usize = 512;
/// Events that are remembered.
pub(super) const EVENTS: usize = 96;

/// What an event is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Sort {
    /// A load.
    #[default]
    Load,
    /// A compare-and-swap that failed.
    Failure,
    /// A read-modify-write that wrote what it read.
    Rmw,
    /// A fence.
    Fence,
}

/// A read, or a fence.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Event {
    pub(super) sort: Sort,
    /// Where the program makes it.
    pub(super) pc: usize,
    /// What is read; 0 for a fence.
    pub(super) address: usize,
    /// Its order, as a number that grows with strength.
    pub(super) strength: u8,
    /// What it reads is not the last write.
    pub(super) is_old: bool,
}

impl Event {
    /// Whether this event can be taken for one of the reference: it is the same, or it is a failed compare-and-swap that reads
    /// what a load of the reference does, and lets the thread know as much: a loop that retries with what it found.
    fn can_become(&self, other: &Self, anywhere: bool) -> bool {
        let reads = !self.is_old && !other.is_old && self.address == other.address;
        let same = (self.sort, self.pc, self.strength) == (other.sort, other.pc, other.strength);
        let retry = self.sort == Sort::Failure
            && other.sort == Sort::Load
            && self.strength >= other.strength;
        let again = anywhere && self.strength >= other.strength;
        reads && (same || retry || again)
    }
}

/// A point: the state of the program there, and how many events came before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Point {
    pub(super) state: u64,
    pub(super) events: u64,
    /// Choices before it.
    pub(super) choices: u64,
}

/// What a thread did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trace {
    points: [Point; POINTS],
    point_count: usize,
    events: [Event; EVENTS],
    event_count: usize,
}

impl Trace {
    pub(super) const NONE: Self = Self {
        points: [Point {
            state: 0,
            events: 0,
            choices: 0,
        }; POINTS],
        point_count: 0,
        events: [Event {
            sort: Sort::Load,
            pc: 0,
            address: 0,
            strength: 0,
            is_old: false,
        }; EVENTS],
        event_count: 0,
    };

    pub(super) fn points(&self) -> &[Point] {
        &self.points[..self.point_count]
    }

    pub(super) fn events(&self) -> &[Event] {
        &self.events[..self.event_count]
    }

    /// The earlier point at which the thread was in this state.
    pub(super) fn find(&self, state: u64) -> Option<Point> {
        let mut points = self.points().iter();
        points.find(|point| point.state == state).copied()
    }

    /// The thread comes to a point, after so many choices; `None` if there is no room.
    pub(super) fn arrive(&mut self, state: u64, choices: usize) -> Option<()> {
        let point = Point {
            state,
            events: self.event_count as u64,
            choices: choices as u64,
        };
        *self.points.get_mut(self.point_count)? = point;
        self.point_count += 1;
        Some(())
    }

    /// The thread reads, or comes to a fence; `None` if there is no room.
    pub(super) fn push(&mut self, event: Event) -> Option<()> {
        *self.events.get_mut(self.event_count)? = event;
        self.event_count += 1;
        Some(())
    }

    /// Whether the thread, in this state, has come to where the reference comes, and has done last all that the reference does
    /// until there. Then what it did before only took longer. `anywhere` breaks the rule that it has to be the same events.
    pub(super) fn follows(&self, reference: &Self, state: u64, anywhere: bool) -> bool {
        let same = reference.points().iter().filter(|p| p.state == state);
        same.into_iter().any(|point| {
            let theirs = &reference.events()[..point.events as usize];
            let first = self.event_count.checked_sub(theirs.len());
            first.is_some_and(|first| {
                let own = self.events()[first..].iter();
                own.zip(theirs)
                    .all(|(own, their)| own.can_become(their, anywhere))
            })
        })
    }
}

/// A digest of what a program's next steps depend on.
#[derive(Debug)]
pub(super) struct Digest(u64);

impl Digest {
    pub(super) fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    pub(super) fn add(&mut self, word: u64) {
        self.0 = mix(self.0, word);
    }

    pub(super) fn end(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(sort: Sort, pc: usize, strength: u8, is_old: bool) -> Event {
        Event {
            sort,
            pc,
            address: 64,
            strength,
            is_old,
        }
    }

    fn trace(steps: &[(u64, Event)]) -> Trace {
        let mut trace = Trace::NONE;
        for (state, event) in steps {
            trace.arrive(*state, 0).expect("there is room");
            trace.push(*event).expect("there is room");
        }
        trace
    }

    #[test]
    fn only_the_events_of_the_reference_lead_where_it_is() {
        // The reference loads the last write in state 1, and is in state 2 then.
        let mut reference = trace(&[(1, event(Sort::Load, 7, 1, false))]);
        reference.arrive(2, 0).expect("there is room");
        let follows = |events: &[Event]| {
            let steps: Vec<_> = events.iter().map(|event| (9, *event)).collect();
            trace(&steps).follows(&reference, 2, false)
        };
        let stale = event(Sort::Load, 7, 1, true);
        assert!(!follows(&[stale]), "it has read something else");
        assert!(follows(&[stale, event(Sort::Load, 7, 1, false)]));
        assert!(
            !follows(&[stale, event(Sort::Load, 8, 1, false)]),
            "another load does not take it back"
        );
        assert!(follows(&[stale, event(Sort::Failure, 8, 1, false)]));
        assert!(
            !follows(&[stale, event(Sort::Failure, 8, 0, false)]),
            "it does not acquire"
        );
        assert!(!follows(&[stale, event(Sort::Failure, 8, 1, true)]));
        let back = trace(&[(1, stale)]);
        assert!(
            back.follows(&reference, 1, false),
            "nothing has to be done for the first state"
        );
        assert!(!back.follows(&reference, 3, false));
    }

    #[test]
    fn states_are_found_with_the_choices_before_them() {
        let mut trace = Trace::NONE;
        trace.arrive(5, 0).expect("there is room");
        trace.arrive(6, 2).expect("there is room");
        assert_eq!(trace.find(6).map(|point| point.choices), Some(2));
        assert_eq!(trace.find(7), None);
        assert!((2..POINTS).all(|_| trace.arrive(0, 3).is_some()));
        assert_eq!(trace.arrive(0, 3), None);
    }
}
