//! What a child wrote outside of its stack while it did not know the current value.

/// Writes that are remembered.
const WRITES: usize = 64;
/// The largest piece of memory that is remembered as one.
const PIECE: usize = 16;

/// A piece of memory that was written.
#[derive(Clone, Copy, Debug)]
struct Write {
    address: usize,
    bytes: usize,
    /// What was there before.
    old: u128,
    /// Written again since the current value is known.
    renewed: bool,
}

/// All of them.
#[derive(Debug)]
pub(super) struct Writes([Option<Write>; WRITES]);

impl Write {
    fn lies_in(&self, address: usize, bytes: usize) -> bool {
        address <= self.address && self.address + self.bytes <= address + bytes
    }

    fn has_changed(&self) -> bool {
        // SAFETY: the program has written there.
        let now = unsafe { bits_at(self.address, self.bytes) };
        now != self.old
    }
}

/// Up to 16 bytes of memory as a number.
///
/// # Safety
/// They are readable.
unsafe fn bits_at(address: usize, bytes: usize) -> u128 {
    let byte = |i: usize| {
        // SAFETY: the caller's promise.
        u128::from(unsafe { ((address + i) as *const u8).read_volatile() })
    };
    (0..bytes).fold(0, |bits, i| bits | byte(i) << (8 * i))
}

impl Writes {
    pub(super) const NONE: Self = Self([None; WRITES]);

    /// Remembers what the program is about to overwrite; `None` if it is too much.
    ///
    /// # Safety
    /// The memory is the program's, and readable.
    pub(super) unsafe fn note(&mut self, address: usize, bytes: usize) -> Option<()> {
        for at in (address..address + bytes).step_by(PIECE) {
            let bytes = (address + bytes - at).min(PIECE);
            let known =
                |write: &Write| write.address <= at && at + bytes <= write.address + write.bytes;
            if self.0.iter().flatten().any(known) {
                continue;
            }
            let free = self.0.iter_mut().find(|write| write.is_none())?;
            *free = Some(Write {
                address: at,
                bytes,
                // SAFETY: the caller's promise.
                old: unsafe { bits_at(at, bytes) },
                renewed: false,
            });
        }
        Some(())
    }

    /// The program, knowing the current value, writes.
    pub(super) fn renew(&mut self, address: usize, bytes: usize) {
        let all = self.0.iter_mut().flatten();
        all.filter(|write| write.lies_in(address, bytes))
            .for_each(|write| write.renewed = true);
    }

    /// Some memory is not as it was.
    pub(super) fn have_changed(&self) -> bool {
        self.0.iter().flatten().any(Write::has_changed)
    }

    /// A digest of what is not as it was, byte by byte.
    pub(super) fn digest(&self) -> u64 {
        let bytes = self.0.iter().flatten().flat_map(|write| {
            // SAFETY: the program has written there.
            let now = unsafe { bits_at(write.address, write.bytes) };
            (0..write.bytes).filter_map(move |i| {
                let byte = |bits: u128| (bits >> (8 * i)) as u8;
                (byte(now) != byte(write.old)).then(|| (write.address + i, byte(now)))
            })
        });
        let digests = bytes.map(|(address, byte)| {
            let word = (address as u64) << 8 | u64::from(byte);
            word.wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .rotate_left(31)
                .wrapping_mul(0x517c_c1b7_2722_0a95)
        });
        digests.fold(0, u64::wrapping_add)
    }

    /// Everything was written again.
    pub(super) fn are_renewed(&self) -> bool {
        self.0.iter().flatten().all(|write| write.renewed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_and_renewals_are_noticed() {
        let mut memory = [7u8; 40];
        let start = memory.as_mut_ptr() as usize;
        let mut writes = Writes::NONE;
        // SAFETY: the array.
        unsafe { writes.note(start + 4, 20) }.expect("there is room");
        assert!(!writes.have_changed() && !writes.are_renewed());
        let mut set = |place: usize, byte: u8| memory[place..].fill(byte);
        set(23, 8);
        assert!(writes.have_changed());
        set(23, 7);
        set(24, 8);
        assert!(!writes.have_changed());
        writes.renew(start + 4, 16);
        assert!(!writes.are_renewed());
        writes.renew(start + 19, 6);
        assert!(writes.are_renewed());
    }

    #[test]
    fn too_many_writes_are_too_much() {
        let memory = [0u8; 2 * WRITES + 2];
        let start = memory.as_ptr() as usize;
        let mut writes = Writes::NONE;
        let noted = |writes: &mut Writes, i: usize| {
            // SAFETY: the array.
            unsafe { writes.note(start + 2 * i, 1) }.is_some()
        };
        assert!((0..WRITES).all(|i| noted(&mut writes, i)));
        assert!(
            (0..WRITES).all(|i| noted(&mut writes, i)),
            "known ones need no room"
        );
        assert!(!noted(&mut writes, WRITES));
    }
}
