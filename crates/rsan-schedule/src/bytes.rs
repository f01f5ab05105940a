//! Numbers in the fixed forms of what is shared with a run: little-endian, at a place that the form has.

/// The eight bytes at a place.
pub(crate) fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// The four bytes at a place.
pub(crate) fn half(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}
