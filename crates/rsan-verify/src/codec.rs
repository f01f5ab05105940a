//! Packing of states: only what can still matter, in as few bits as possible.
//!
//! Invariant: two states that pack alike have the same future. Registers that are dead at a thread's program
//! counter, views that no later fence or store uses, and everything about ended threads are left out
//! (docs/theory/finite.md, F9).

mod fields;

use crate::bits::Bits;
use crate::facts::Facts;
use crate::layout::{Layout, SlotKind};
use crate::mutation::Mutant;
use crate::state::{HALTED, STUCK, State, UNBORN};
use crate::store::Key;
use crate::symmetry::Symmetry;
use crate::values::bits_for;
use fields::{Reader, SPARSE, Writer};
use rsan_model::{Program, RegId, ThreadId, Value};

/// A value does not fit the range that the search reckons with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overflow(pub(crate) Value);

/// How the states of a program are packed.
#[derive(Clone, Debug)]
pub(crate) struct Codec {
    threads: Vec<ThreadCodec>,
    /// Locations whose value ever changes; the others keep their initial one.
    variables: Vec<usize>,
    /// The slots that belong to no thread.
    shared: Vec<Field>,
    symmetry: Symmetry,
    value_bits: u32,
    taints: bool,
    /// Words of a packed state; `None` when states differ in length.
    pub(crate) words: Option<usize>,
    /// What states must have in common for one to stand for another.
    pub(crate) key: Key,
    /// Where the slots begin when states stand for others: what must agree comes before them.
    slots_at: Option<usize>,
}

#[derive(Clone, Debug)]
struct ThreadCodec {
    pc_bits: u32,
    halted: u32,
    /// First register of the thread.
    base: usize,
    /// Live registers, per program counter.
    live: Vec<Vec<RegId>>,
    /// Slots to keep, per program counter.
    slots: Vec<Vec<usize>>,
    /// The same, as they are packed; then those of an ended thread and of one not born yet.
    fields: Vec<Vec<Field>>,
    /// Slots to keep of an ended thread, and of one not born yet.
    ended: Vec<usize>,
    unborn: Vec<usize>,
}

/// A slot, as it is packed.
#[derive(Clone, Copy, Debug)]
struct Field {
    slot: u32,
    width: u32,
    /// Its bits are turned, so that more of them make more checks fail.
    turned: bool,
}

impl Codec {
    pub(crate) fn new<const W: usize>(
        program: &Program,
        facts: &Facts,
        layout: &Layout<W>,
        taints: bool,
        covering: bool,
    ) -> Self {
        let value_bits = layout.range.bits;
        let mut base = 0;
        let mut threads = Vec::new();
        let (mut bits, mut values, mut monitor) = (0, 0, 0);
        for (t, thread) in program.threads.iter().enumerate() {
            let codec = ThreadCodec::new(facts, layout, t, base);
            base += thread.registers.len();
            let value = value_bits as usize + usize::from(taints);
            let widest = (codec.live.iter().zip(&codec.slots))
                .map(|(live, slots)| live.len() * value + total(layout, slots))
                .chain([total(layout, &codec.ended), total(layout, &codec.unborn)])
                .max()
                .unwrap_or(0);
            bits += codec.pc_bits as usize + widest;
            let most = |n: &dyn Fn(usize) -> usize| (0..codec.live.len()).map(n).max().unwrap_or(0);
            values += codec.pc_bits as usize + most(&|pc| codec.live[pc].len() * value);
            monitor += most(&|pc| total(layout, &codec.slots[pc]))
                .max(total(layout, &codec.ended))
                .max(total(layout, &codec.unborn));
            threads.push(codec);
        }
        let sparse = (0..layout.kinds.len()).any(|slot| layout.width(slot) >= SPARSE);
        let variables: Vec<usize> = (0..program.locations.len())
            .filter(|&l| facts.locations[l].changes || layout.is_renumbered(l))
            .collect();
        let shared: Vec<usize> = (layout.shared..layout.kinds.len()).collect();
        let (memory, of_locations) = (
            variables.len() * value_bits as usize,
            total(layout, &shared),
        );
        let covering = covering && !sparse;
        let field = |&slot: &usize| Field {
            slot: slot as u32,
            width: layout.width(slot) as u32,
            turned: covering && layout.kinds[slot] == SlotKind::Order,
        };
        for codec in &mut threads {
            let all = codec.slots.iter().chain([&codec.ended, &codec.unborn]);
            codec.fields = all.map(|s| s.iter().map(field).collect()).collect();
        }
        let slots_at = covering.then_some(values + memory);
        bits = if covering {
            values + memory + monitor + of_locations
        } else {
            bits + memory + of_locations
        };
        Self {
            threads,
            variables,
            shared: shared.iter().map(field).collect(),
            symmetry: Symmetry::new(program, layout),
            value_bits,
            taints: taints && !facts.mutation.breaks(Mutant::TaintDropped),
            words: (!sparse).then_some(bits.div_ceil(64).max(1)),
            key: slots_at.map_or(Key::ALL, Key::first),
            slots_at,
        }
    }

    /// Renames interchangeable threads so that states that differ only by their names become one; tells `swapped` which
    /// two change places, one pair after the other.
    #[inline]
    pub(crate) fn canonicalise<const W: usize>(
        &self,
        layout: &Layout<W>,
        s: &mut State<W>,
        swapped: impl FnMut(ThreadId, ThreadId),
    ) {
        self.symmetry.canonicalise(layout, s, swapped, |t, pc| {
            (self.threads[t].live(pc), self.threads[t].slots(pc))
        });
    }

    /// Packs a state behind what is in `words`.
    pub(crate) fn pack<const W: usize>(
        &self,
        layout: &Layout<W>,
        s: &State<W>,
        words: &mut Vec<u64>,
    ) -> Result<(), Overflow> {
        let mut out = Writer::new(words);
        for (thread, &pc) in self.threads.iter().zip(&s.pcs) {
            out.put(u64::from(thread.encode_pc(pc)), thread.pc_bits);
            for &r in thread.live(pc) {
                let r = thread.base + r.index();
                out.put(self.value(layout, s.regs[r])?, self.value_bits);
                if self.taints {
                    out.put(u64::from(s.tainted[r]), 1);
                }
            }
        }
        for &l in &self.variables {
            out.put(self.value(layout, s.memory[l])?, self.value_bits);
        }
        if let Some(bit) = self.slots_at {
            out.skip_to(bit);
        }
        // A writer that no function is handed by reference stays in registers.
        let out = if self.is_sparse() {
            self.pack_slots::<W, true>(layout, s, out)
        } else {
            self.pack_slots::<W, false>(layout, s, out)
        };
        out.finish(self.words);
        Ok(())
    }

    /// Whether a slot is mostly empty or full.
    fn is_sparse(&self) -> bool {
        self.words.is_none()
    }

    #[inline]
    fn pack_slots<'a, const W: usize, const SPARSE: bool>(
        &self,
        layout: &Layout<W>,
        s: &State<W>,
        mut out: Writer<'a>,
    ) -> Writer<'a> {
        let turn = Bits::range(0, layout.order_bits);
        for fields in self.fields(&s.pcs) {
            for field in fields {
                let bits = turned(s.slots[field.slot as usize], field, turn);
                out.put_bits::<W, SPARSE>(&bits, field.width as usize);
            }
        }
        out
    }

    /// The slots that are packed, thread by thread.
    #[inline]
    fn fields(&self, pcs: &[u32]) -> impl Iterator<Item = &[Field]> {
        let threads = self.threads.iter().zip(pcs);
        let own = threads.map(|(thread, &pc)| thread.fields(pc));
        own.chain([&self.shared[..]])
    }

    /// Unpacks into a state that belongs to the same program.
    pub(crate) fn unpack<const W: usize>(
        &self,
        layout: &Layout<W>,
        words: &[u64],
        s: &mut State<W>,
    ) {
        let mut input = Reader::new(words);
        s.regs.fill(0);
        s.tainted.fill(false);
        for (t, thread) in self.threads.iter().enumerate() {
            let pc = thread.decode_pc(input.get(thread.pc_bits) as u32);
            s.pcs[t] = pc;
            for &r in thread.live(pc) {
                let r = thread.base + r.index();
                s.regs[r] = self.unvalue(layout, input.get(self.value_bits));
                if self.taints {
                    s.tainted[r] = input.get(1) != 0;
                }
            }
        }
        for &l in &self.variables {
            s.memory[l] = self.unvalue(layout, input.get(self.value_bits));
        }
        if let Some(bit) = self.slots_at {
            input.skip_to(bit);
        }
        s.slots[..layout.shared].fill(Bits::EMPTY);
        if self.is_sparse() {
            self.unpack_slots::<W, true>(layout, s, input);
        } else {
            self.unpack_slots::<W, false>(layout, s, input);
        }
    }

    #[inline]
    fn unpack_slots<const W: usize, const SPARSE: bool>(
        &self,
        layout: &Layout<W>,
        s: &mut State<W>,
        mut input: Reader<'_>,
    ) {
        let turn = Bits::range(0, layout.order_bits);
        for fields in self.fields(&s.pcs) {
            for field in fields {
                let bits = input.get_bits::<W, SPARSE>(field.width as usize);
                s.slots[field.slot as usize] = turned(bits, field, turn);
            }
        }
    }

    #[inline]
    fn value<const W: usize>(&self, layout: &Layout<W>, value: Value) -> Result<u64, Overflow> {
        let offset = i64::from(value) - i64::from(layout.range.low);
        if offset >> self.value_bits == 0 {
            Ok(offset as u64)
        } else {
            Err(Overflow(value))
        }
    }

    #[inline]
    fn unvalue<const W: usize>(&self, layout: &Layout<W>, offset: u64) -> Value {
        (i64::from(layout.range.low) + offset as i64) as Value
    }
}

/// The bits of a slot, turned if they have to be; and back.
#[inline]
fn turned<const W: usize>(bits: Bits<W>, field: &Field, turn: Bits<W>) -> Bits<W> {
    if field.turned {
        bits.symmetric_difference(turn)
    } else {
        bits
    }
}

fn total<const W: usize>(layout: &Layout<W>, slots: &[usize]) -> usize {
    slots.iter().map(|&slot| layout.width(slot)).sum()
}

impl ThreadCodec {
    fn new<const W: usize>(facts: &Facts, layout: &Layout<W>, t: usize, base: usize) -> Self {
        let own = layout.threads[t];
        let pcs = &facts.pcs[t];
        let count = layout.components.count;
        let view = |first: Option<usize>| first.map(|f| f..f + count).into_iter().flatten();
        let broken = |mutant| facts.mutation.breaks(mutant);
        let kept = |acquire: bool, release: bool| -> Vec<usize> {
            let acquire = acquire && !broken(Mutant::AcquireViewDropped);
            let release = release && !broken(Mutant::ReleaseViewDropped);
            view(Some(own.current))
                .chain(view(own.acquire.filter(|_| acquire)))
                .chain(view(own.release.filter(|_| release)))
                .chain(own.order)
                .collect()
        };
        Self {
            pc_bits: bits_for(pcs.len() as u64 + 2),
            halted: (pcs.len() - 1) as u32,
            base,
            live: pcs.iter().map(|p| p.live.clone()).collect(),
            slots: pcs
                .iter()
                .map(|p| kept(p.acquire_live, p.release_live))
                .collect(),
            // What an ended thread knew matters only to whoever joins it.
            ended: if facts.has_join && !broken(Mutant::EndedThreadDropped) {
                kept(false, false)
            } else {
                Vec::new()
            },
            unborn: view(own.release)
                .filter(|_| !broken(Mutant::UnbornThreadDropped))
                .collect(),
            fields: Vec::new(),
        }
    }

    #[inline]
    fn encode_pc(&self, pc: u32) -> u32 {
        match pc {
            HALTED => self.halted,
            STUCK => self.halted + 1,
            UNBORN => self.halted + 2,
            pc => pc,
        }
    }

    #[inline]
    fn decode_pc(&self, code: u32) -> u32 {
        match code {
            c if c == self.halted => HALTED,
            c if c == self.halted + 1 => STUCK,
            c if c == self.halted + 2 => UNBORN,
            pc => pc,
        }
    }

    #[inline]
    fn live(&self, pc: u32) -> &[RegId] {
        match pc {
            HALTED | STUCK => &[],
            UNBORN => &self.live[0],
            pc => &self.live[pc as usize],
        }
    }

    #[inline]
    fn fields(&self, pc: u32) -> &[Field] {
        match pc {
            HALTED => &self.fields[self.slots.len()],
            STUCK => &[],
            UNBORN => &self.fields[self.slots.len() + 1],
            pc => &self.fields[pc as usize],
        }
    }

    #[inline]
    fn slots(&self, pc: u32) -> &[usize] {
        match pc {
            HALTED => &self.ended,
            STUCK => &[],
            UNBORN => &self.unborn,
            pc => &self.slots[pc as usize],
        }
    }
}
