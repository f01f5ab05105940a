//! Where the finite monitor keeps what: a state's clocks are a vector of bit sets ("slots"), and this module
//! says which slot and which bits stand for what.
//!
//! A *view slot* says, for each location, which older writes its owner may still see: one bit per class of
//! values ([`Classes`]), in two copies where RMWs make a difference, and one bit per (location, thread, kind of
//! access) that the owner does not know to have happened before ([`Layout::race_bit`]). Joining two views is
//! intersecting their slots. A *bottom* view, which knows nothing, has all bits set: whoever joins it loses nothing.
//!
//! An *order slot* has one bit per location: set when its owner's hbSC-past does not contain the last write.
//!
//! See docs/theory/finite.md, F2.

use crate::bits::Bits;
use crate::facts::Facts;
use crate::mutation::Mutation;
use crate::values::{Classes, Range};
use rsan_clocks::AccessKind;
use rsan_model::{Instr, LocId, Model, Program, ThreadId, Value};

/// The bits of one location in a view slot.
#[derive(Clone, Debug)]
pub(crate) struct LocBits<const W: usize> {
    classes: Classes,
    /// First bit of the stale values; absent when no check asks for them.
    stale: Option<usize>,
    /// First bit of the stale values that no RMW directly follows; may be the same bits.
    unextended: Option<usize>,
    /// Its bit in order slots.
    pub(crate) order: Option<usize>,
    /// All bits of the location.
    pub(crate) mask: Bits<W>,
    /// The bits of `stale`.
    pub(crate) stale_mask: Bits<W>,
    /// The bits of `unextended`.
    pub(crate) unextended_mask: Bits<W>,
}

impl<const W: usize> LocBits<W> {
    /// The bits that a view gains when `old` is overwritten and the view does not know the new write.
    #[inline]
    pub(crate) fn overwritten(&self, old: Value, by_rmw: bool) -> Bits<W> {
        let class = self.classes.of(old);
        let mut bits = Bits::EMPTY;
        if let Some(first) = self.stale {
            bits.insert(first + class);
        }
        if let (false, Some(first)) = (by_rmw, self.unextended) {
            bits.insert(first + class);
        }
        bits
    }

    /// Whether the value shares its class with others.
    pub(crate) fn is_other(&self, value: Value) -> bool {
        self.classes.exactly(value).is_none()
    }

    /// The bit of the stale value `value`, if it stands for nothing else.
    #[inline]
    pub(crate) fn only_stale_value(&self, value: Value) -> Bits<W> {
        if self.classes.is_merged() {
            Bits::EMPTY
        } else {
            self.stale_value(value)
        }
    }

    /// The bit of the stale value `value`.
    #[inline]
    pub(crate) fn stale_value(&self, value: Value) -> Bits<W> {
        match (self.stale, self.classes.exactly(value)) {
            (Some(first), Some(class)) => Bits::single(first + class),
            _ => Bits::EMPTY,
        }
    }

    /// The bit of the stale value `value` that no RMW directly follows.
    #[inline]
    pub(crate) fn unextended_value(&self, value: Value) -> Bits<W> {
        match (self.unextended, self.classes.exactly(value)) {
            (Some(first), Some(class)) => Bits::single(first + class),
            _ => Bits::EMPTY,
        }
    }
}

/// The slots of a view: one per component that the program needs.
///
/// Components (docs/theory/location-clocks.md, L8 and L11): `current` is happens-before; `accesses` (q)
/// what is known through SC accesses and fences, `fences` (f) what is known through SC fences that happen
/// before, `eco` (e) what SC events eco-before something that happens before carry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Components {
    pub(crate) accesses: Option<usize>,
    pub(crate) fences: Option<usize>,
    pub(crate) eco: Option<usize>,
    pub(crate) count: usize,
}

/// Slots of a thread; each is the first slot of a view or an order slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadSlots {
    pub(crate) current: usize,
    pub(crate) acquire: Option<usize>,
    pub(crate) release: Option<usize>,
    pub(crate) order: Option<usize>,
}

/// Slots of a location.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LocSlots {
    pub(crate) message: Option<usize>,
    /// What SC accesses (and fences before accesses) of the location carry: of all, and as of the last write.
    pub(crate) carried: Option<(usize, usize)>,
    /// hbSC of the last write.
    pub(crate) write_order: Option<usize>,
    /// hbSC of any access.
    pub(crate) access_order: Option<usize>,
}

/// What a slot holds, for packing and for forgetting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SlotKind {
    /// Happens-before component of a view: location bits and race bits.
    Current,
    /// Another component of a view, or what a location carries: location bits.
    Psc,
    /// Order slot.
    Order,
}

/// The whole layout.
#[derive(Clone, Debug)]
pub(crate) struct Layout<const W: usize> {
    pub(crate) range: Range,
    /// Locations whose values are numbered anew in every state (F16, F21), as bits.
    renumbered: u64,
    pub(crate) locations: Vec<LocBits<W>>,
    /// `race_bits[loc][thread][kind]`
    race_bits: Vec<Vec<[Option<usize>; 4]>>,
    /// All of them, per location.
    pub(crate) race_masks: Vec<Bits<W>>,
    pub(crate) components: Components,
    pub(crate) threads: Vec<ThreadSlots>,
    pub(crate) locs: Vec<LocSlots>,
    /// Message and order slot of the reserved location of SC fences (RA, RC20).
    pub(crate) fence: Option<LocSlots>,
    /// Kind of every slot; thread slots come first, thread by thread.
    pub(crate) kinds: Vec<SlotKind>,
    /// First slot that belongs to no thread.
    pub(crate) shared: usize,
    /// Bits of a `Current` slot.
    pub(crate) current_bits: usize,
    /// Bits of a `Psc` slot.
    pub(crate) psc_bits: usize,
    /// Bits of an `Order` slot.
    pub(crate) order_bits: usize,
    pub(crate) mutation: Mutation,
}

/// The locations whose accesses a search checks for robustness (docs/theory/finite.md, F14).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Focus {
    None,
    All,
    One(LocId),
}

impl Focus {
    fn includes(self, loc: LocId) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::One(only) => only == loc,
        }
    }
}

/// What a search watches for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Watched {
    /// Accesses that can be weak, of these locations.
    pub(crate) robustness: Focus,
    /// Data races.
    pub(crate) races: bool,
    /// Where many values are told apart, none are (docs/theory/finite.md, F15).
    pub(crate) merged: bool,
    /// Locations of which only values that are no readings of a clock are told apart (F16), as bits.
    pub(crate) readings: u64,
    /// Locations whose values are kept as distances, so that none can be told apart (F21), as bits.
    pub(crate) distant: u64,
}

/// The number of bits that a view slot of the program needs, to choose `W`.
pub(crate) fn bits_needed(
    program: &Program,
    facts: &Facts,
    model: Model,
    watched: Watched,
    range: Range,
) -> usize {
    let layout = Layout::<0>::measure(program, facts, model, watched, range);
    layout.current_bits.max(layout.order_bits)
}

impl<const W: usize> Layout<W> {
    /// The layout of a program's monitor. `W` words must be enough ([`bits_needed`]).
    pub(crate) fn new(
        program: &Program,
        facts: &Facts,
        model: Model,
        watched: Watched,
        range: Range,
    ) -> Self {
        let mut layout = Self::measure(program, facts, model, watched, range);
        assert!(layout.current_bits.max(layout.order_bits) <= 64 * W);
        for threads in &layout.race_bits {
            let mut mask = Bits::EMPTY;
            let bits = threads.iter().flatten().flatten();
            bits.for_each(|&bit| mask.insert(bit));
            layout.race_masks.push(mask);
        }
        for loc in &mut layout.locations {
            let n = loc.classes.count();
            let bits = |first: Option<usize>| first.map_or(Bits::EMPTY, |f| Bits::range(f, f + n));
            loc.stale_mask = bits(loc.stale);
            loc.unextended_mask = bits(loc.unextended);
            loc.mask = loc.stale_mask.union(loc.unextended_mask);
        }
        layout
    }

    fn measure(
        program: &Program,
        facts: &Facts,
        model: Model,
        watched: Watched,
        range: Range,
    ) -> Self {
        let focus = watched.robustness;
        let robustness = focus != Focus::None;
        let (mut next, mut order_bits) = (0, 0);
        let locations = (0..program.locations.len())
            .map(|l| {
                let wanted = focus.includes(LocId::new(l)) && monitored(facts, LocId::new(l));
                let mut bits = loc_bits(
                    program,
                    facts,
                    LocId::new(l),
                    (range, watched),
                    wanted,
                    &mut next,
                );
                if wanted {
                    bits.order = Some(order_bits);
                    order_bits += 1;
                }
                bits
            })
            .collect();
        let psc_bits = next;
        let race_bits = if watched.races {
            race_bits(program, facts, &mut next)
        } else {
            vec![Vec::new(); program.locations.len()]
        };
        let mut layout = Self {
            range,
            renumbered: watched.distant | watched.readings,
            locations,
            race_masks: Vec::new(),
            race_bits,
            components: components(program, model, robustness),
            threads: Vec::new(),
            locs: Vec::new(),
            fence: None,
            kinds: Vec::new(),
            shared: 0,
            current_bits: next,
            psc_bits,
            order_bits,
            mutation: facts.mutation,
        };
        layout.allocate(program, facts, model, robustness);
        layout
    }

    fn allocate(&mut self, program: &Program, facts: &Facts, model: Model, robustness: bool) {
        for (thread, pcs) in program.threads.iter().zip(&facts.pcs) {
            let has_release_fence = thread
                .code
                .iter()
                .any(|i| matches!(i, Instr::Fence(ord) if ord.releases()));
            let slots = ThreadSlots {
                current: self.view(),
                acquire: pcs.iter().any(|p| p.acquire_live).then(|| self.view()),
                release: (has_release_fence && pcs.iter().any(|p| p.release_live))
                    .then(|| self.view()),
                order: robustness.then(|| self.slot(SlotKind::Order)),
            };
            self.threads.push(slots);
        }
        self.shared = self.kinds.len();
        for (l, loc) in facts.locations.iter().enumerate() {
            let monitored = monitored(facts, LocId::new(l));
            let carries = self.components.count > 1 && monitored;
            let slots = LocSlots {
                message: (monitored && loc.message_matters).then(|| self.view()),
                carried: carries.then(|| (self.slot(SlotKind::Psc), self.slot(SlotKind::Psc))),
                write_order: (robustness && monitored && (loc.has_read || loc.has_rmw))
                    .then(|| self.slot(SlotKind::Order)),
                access_order: (robustness && monitored).then(|| self.slot(SlotKind::Order)),
            };
            self.locs.push(slots);
        }
        let fences = |i: &Instr| matches!(i, Instr::Fence(ord) if ord.is_sc());
        if model != Model::C20 && program.instructions().any(|(_, _, i)| fences(i)) {
            self.fence = Some(LocSlots {
                message: Some(self.view()),
                access_order: robustness.then(|| self.slot(SlotKind::Order)),
                ..LocSlots::default()
            });
        }
    }

    /// Whether values are not told apart although checks ask for them; then more of them fail (F15).
    pub(crate) fn is_merged(&self) -> bool {
        let merged = |l: &LocBits<W>| l.order.is_some() && l.classes.is_merged();
        self.locations.iter().any(merged)
    }

    /// Whether the value of the location may be another one in each state, even if the program never writes it.
    pub(crate) fn is_renumbered(&self, loc: usize) -> bool {
        self.renumbered.checked_shr(loc as u32).unwrap_or(0) & 1 != 0
    }

    fn slot(&mut self, kind: SlotKind) -> usize {
        self.kinds.push(kind);
        self.kinds.len() - 1
    }

    fn view(&mut self) -> usize {
        let first = self.slot(SlotKind::Current);
        for _ in 1..self.components.count {
            self.slot(SlotKind::Psc);
        }
        first
    }

    /// The bit that says "this access of the location by this thread is not known".
    #[inline]
    pub(crate) fn race_bit(&self, loc: LocId, thread: ThreadId, kind: AccessKind) -> Option<usize> {
        self.race_bits[loc.index()].get(thread.index())?[kind as usize]
    }

    /// The slots of a thread.
    #[inline]
    pub(crate) fn thread_range(&self, thread: usize) -> std::ops::Range<usize> {
        let next = self.threads.get(thread + 1);
        self.threads[thread].current..next.map_or(self.shared, |n| n.current)
    }

    /// Width in bits of a slot.
    #[inline]
    pub(crate) fn width(&self, slot: usize) -> usize {
        self.width_of(self.kinds[slot])
    }

    /// Width in bits of slots of a kind.
    #[inline]
    pub(crate) fn width_of(&self, kind: SlotKind) -> usize {
        match kind {
            SlotKind::Current => self.current_bits,
            SlotKind::Psc => self.psc_bits,
            SlotKind::Order => self.order_bits,
        }
    }

    /// All bits of a slot: the bottom view.
    pub(crate) fn bottom(&self, slot: usize) -> Bits<W> {
        Bits::range(0, self.width(slot))
    }
}

/// Whether the location's accesses concern the robustness monitor: it is written, and atomically accessed.
fn monitored(facts: &Facts, loc: LocId) -> bool {
    let f = &facts.locations[loc.index()];
    facts.is_written(loc) && (f.has_read || f.has_rmw || f.has_atomic_store)
}

/// Classes of values from which on it is worth a try to tell none of them apart.
const MANY: usize = 8;

/// Whether some access of the location could go behind its last write: a thread meets the writes of another one, and
/// not every write is an update of the one before.
pub(crate) fn can_be_weak(facts: &Facts, loc: LocId) -> bool {
    let f = &facts.locations[loc.index()];
    let shared = f.accessors.len() > 1;
    shared && monitored(facts, loc) && (f.has_read || f.has_store) && !f.is_lock
}

fn components(program: &Program, model: Model, robustness: bool) -> Components {
    let any = |f: &dyn Fn(&Instr) -> bool| program.instructions().any(|(_, _, i)| f(i));
    let exact = model == Model::C20 && robustness;
    let accesses = exact && any(&Instr::is_sc_access);
    let fences = exact && any(&|i| matches!(i, Instr::Fence(ord) if ord.is_sc()));
    let mut count = 1;
    let mut take = |wanted: bool| {
        wanted.then(|| {
            count += 1;
            count - 1
        })
    };
    Components {
        accesses: take(accesses),
        fences: take(fences),
        eco: take(fences),
        count,
    }
}

fn loc_bits<const W: usize>(
    program: &Program,
    facts: &Facts,
    loc: LocId,
    (range, watched): (Range, Watched),
    wanted: bool,
    next: &mut usize,
) -> LocBits<W> {
    let mut classes = Classes::of_location(program, loc, range);
    let among = |set: u64| set.checked_shr(loc.0).unwrap_or(0) & 1 != 0;
    let many = if among(watched.distant) { 1 } else { MANY };
    if among(watched.readings) {
        classes = Classes::of_readings(program, loc);
    } else if watched.merged && classes.count() > many {
        classes = Classes::Merged;
    }
    let f = &facts.locations[loc.index()];
    let mut take = |wanted: bool| {
        wanted.then(|| {
            let first = *next;
            *next += classes.count();
            first
        })
    };
    // Without RMWs both copies agree; with nothing but RMWs every write is extended by the next one.
    let stale = take(wanted && (f.has_read || !f.has_rmw));
    let unextended = if f.has_rmw {
        take(wanted && f.has_store)
    } else {
        stale
    };
    LocBits {
        classes,
        stale,
        unextended,
        order: None,
        mask: Bits::EMPTY,
        stale_mask: Bits::EMPTY,
        unextended_mask: Bits::EMPTY,
    }
}

fn race_bits(program: &Program, facts: &Facts, next: &mut usize) -> Vec<Vec<[Option<usize>; 4]>> {
    let threads = program.threads.len();
    let mut bits = vec![Vec::new(); program.locations.len()];
    for (l, loc) in facts.locations.iter().enumerate() {
        if !loc.race_checked || loc.writers.is_empty() {
            continue;
        }
        bits[l] = vec![[None; 4]; threads];
        for (thread, _, instr) in program.instructions() {
            let Some(place) = instr.place() else { continue };
            if !place.candidates().any(|c| c.index() == l) {
                continue;
            }
            for kind in access_kinds(instr) {
                let bit = &mut bits[l][thread.index()][*kind as usize];
                if bit.is_none() {
                    *bit = Some(*next);
                    *next += 1;
                }
            }
        }
    }
    bits
}

/// The kinds of access that an instruction may make.
fn access_kinds(instr: &Instr) -> &'static [AccessKind] {
    match instr {
        Instr::Load { .. } | Instr::Wait { .. } => &[AccessKind::AtomicRead],
        Instr::Store { .. } | Instr::Rmw { .. } | Instr::Bcas { .. } => &[AccessKind::AtomicWrite],
        Instr::Cas { .. } => &[AccessKind::AtomicRead, AccessKind::AtomicWrite],
        Instr::PlainLoad { .. } => &[AccessKind::PlainRead],
        Instr::PlainStore { .. } => &[AccessKind::PlainWrite],
        _ => &[],
    }
}
