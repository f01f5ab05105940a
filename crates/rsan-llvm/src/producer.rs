//! Which LLVM wrote bitcode: the string in its identification block, read without LLVM, because a version that is too old
//! does not always say that this is what it stumbles over.

/// The major version that wrote bitcode; `None` if it does not tell, or is no bitcode.
pub(crate) fn major(bytes: &[u8]) -> Option<u32> {
    let name = identification(Bits::new(bare(bytes)?))?;
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    digits
        .split(|c: char| !c.is_ascii_digit())
        .next()?
        .parse()
        .ok()
}

/// Bitcode without the header that some systems put around it: magic, version, offset, size.
fn bare(bytes: &[u8]) -> Option<&[u8]> {
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    match word(0)? {
        0xDEC0_4342 => bytes.get(4..),
        0x0B17_C0DE => bytes.get(word(8)? as usize + 4..),
        _ => None,
    }
}

const ENTER_BLOCK: u64 = 1;
const DEFINE_FORM: u64 = 2;
const FREE_RECORD: u64 = 3;
const IDENTIFICATION: u64 = 13;
const STRING: u64 = 1;
/// Forms and records of the block are few; broken files may claim anything.
const MOST: u64 = 64;

/// A part of the form of records.
#[derive(Clone, Copy)]
enum Part {
    Literal(u64),
    Fixed(u64),
    Variable(u64),
    Array,
    Letter,
}

fn identification(mut bits: Bits<'_>) -> Option<String> {
    if bits.fixed(2)? != ENTER_BLOCK || bits.variable(8)? != IDENTIFICATION {
        return None;
    }
    let width = bits.variable(4)?;
    bits.align();
    bits.fixed(32)?;
    let mut forms: Vec<Vec<Part>> = Vec::new();
    for _ in 0..MOST {
        let record = match bits.fixed(width)? {
            DEFINE_FORM => {
                forms.push(form(&mut bits)?);
                continue;
            }
            FREE_RECORD => {
                let (code, count) = (bits.variable(6)?, bits.variable(6)?.min(MOST));
                let mut record = vec![code];
                for _ in 0..count {
                    record.push(bits.variable(6)?);
                }
                record
            }
            id => record(
                &mut bits,
                forms.get(usize::try_from(id.checked_sub(4)?).ok()?)?,
            )?,
        };
        if let [STRING, letters @ ..] = &record[..] {
            let letters = letters.iter().map(|l| u8::try_from(*l).map(char::from));
            return letters.collect::<Result<_, _>>().ok();
        }
    }
    None
}

fn form(bits: &mut Bits<'_>) -> Option<Vec<Part>> {
    let count = bits.variable(5)?.min(MOST);
    let part = |bits: &mut Bits<'_>| {
        if bits.fixed(1)? == 1 {
            return Some(Part::Literal(bits.variable(8)?));
        }
        Some(match bits.fixed(3)? {
            1 => Part::Fixed(bits.variable(5)?),
            2 => Part::Variable(bits.variable(5)?),
            3 => Part::Array,
            4 => Part::Letter,
            _ => return None,
        })
    };
    (0..count).map(|_| part(bits)).collect()
}

fn record(bits: &mut Bits<'_>, form: &[Part]) -> Option<Vec<u64>> {
    let mut values = Vec::new();
    let mut parts = form.iter();
    while let Some(part) = parts.next() {
        match part {
            Part::Array => {
                let element = parts.next()?;
                for _ in 0..bits.variable(6)?.min(MOST) {
                    values.push(scalar(bits, *element)?);
                }
            }
            part => values.push(scalar(bits, *part)?),
        }
    }
    Some(values)
}

fn scalar(bits: &mut Bits<'_>, part: Part) -> Option<u64> {
    const LETTERS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
    match part {
        Part::Literal(value) => Some(value),
        Part::Fixed(width) => bits.fixed(width),
        Part::Variable(width) => bits.variable(width),
        Part::Letter => bits
            .fixed(6)
            .map(|index| u64::from(LETTERS[index as usize % 64])),
        Part::Array => None,
    }
}

/// Bits of a file, the lowest of a byte first.
struct Bits<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Bits<'b> {
    fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn fixed(&mut self, width: u64) -> Option<u64> {
        let mut value = 0;
        for index in 0..width.min(64) {
            let byte = self.bytes.get(self.at / 8)?;
            value |= u64::from(byte >> (self.at % 8) & 1) << index;
            self.at += 1;
        }
        Some(value)
    }

    /// Groups of bits, the highest one of each says whether another one follows.
    fn variable(&mut self, width: u64) -> Option<u64> {
        let more = 1 << (width.clamp(2, 32) - 1);
        let mut value = 0;
        for group in 0.. {
            let bits = self.fixed(width.clamp(2, 32))?;
            let shift = u32::try_from(group * (width.clamp(2, 32) - 1)).ok()?;
            value |= (bits & (more - 1)).checked_shl(shift)?;
            if bits & more == 0 {
                break;
            }
        }
        Some(value)
    }

    fn align(&mut self) {
        self.at = self.at.next_multiple_of(32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_bitcode_has_no_producer() {
        assert_eq!(major(b""), None);
        assert_eq!(major(b"; ModuleID"), None);
        assert_eq!(major(b"BC\xC0\xDE"), None);
        assert_eq!(
            major(b"BC\xC0\xDE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"),
            None
        );
    }

    #[test]
    fn the_identification_block_tells() {
        let with = |name: [u8; 4]| {
            let mut bytes =
                b"BC\xC0\xDE\x35\x14\x00\x00\x05\x00\x00\x00\x62\x0C\x30\x24\x4A\x59\xBE\x66"
                    .to_vec();
            bytes.extend(name);
            bytes.extend(b"\x0B\x51\x80\x4C\x01\x00\x00\x00");
            bytes
        };
        assert_eq!(major(&with([0x8D, 0xFB, 0xB4, 0xAF])), Some(14));
        assert_eq!(major(&with([0xDD, 0xFB, 0xB5, 0xBF])), Some(19));
        assert_eq!(major(&with([0; 4])[..20]), None, "it is cut off");
    }
}
