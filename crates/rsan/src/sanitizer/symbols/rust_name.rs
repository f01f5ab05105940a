//! Names of Rust's functions and variables as people write them: without hashes, generic arguments and traits.
//!
//! `<alloc::sync::Arc<T> as core::ops::drop::Drop>::drop` is `Arc::drop`, and `queue::Queue<T>::push::{{closure}}` is
//! `queue::Queue::push::{closure}`. Of paths of the standard library only the end is left.

/// Crates of the standard library.
const STANDARD: [&str; 3] = ["core", "alloc", "std"];

/// Digits of the hash at the end of names in the older form.
const HASH: usize = 16;

/// The name, if this is a demangled one of Rust that was mangled so.
pub(super) fn of_mangled(mangled: &str, demangled: &str) -> Option<String> {
    let is_new = mangled.starts_with("_R");
    (is_new || hash(demangled).is_some()).then(|| shortened(demangled))
}

/// What stands before the hash of the older form.
fn hash(name: &str) -> Option<&str> {
    let (path, last) = name.rsplit_once("::")?;
    let digits = last.strip_prefix('h')?;
    let is_hash = digits.len() == HASH && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hash.then_some(path)
}

/// A demangled name in short.
pub(super) fn shortened(name: &str) -> String {
    let name = hash(name).unwrap_or(name);
    let parts: Vec<_> = split(name).into_iter().flat_map(parts).collect();
    let is_standard = parts
        .first()
        .is_some_and(|first| STANDARD.contains(&first.as_str()));
    let from = match is_standard {
        true => start_of_standard(&parts),
        false => 0,
    };
    let short = parts[from..].join("::");
    match short.is_empty() {
        true => name.to_owned(),
        false => short,
    }
}

/// From where a path of the standard library is shown: the type, or else the last module.
fn start_of_standard(parts: &[String]) -> usize {
    let is_type = |part: &String| part.starts_with(|c: char| c.is_ascii_uppercase());
    let named = parts.iter().filter(|part| !part.starts_with('{')).count();
    parts
        .iter()
        .position(is_type)
        .unwrap_or_else(|| named.saturating_sub(2))
}

/// The parts of a path: what is between `::` outside of brackets.
fn split(name: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    let bytes = name.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'<' | b'(' | b'[' | b'{' => depth += 1,
            // The arrow of a function's type is no bracket.
            b'>' if at > 0 && bytes[at - 1] == b'-' => {}
            b'>' | b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b':' if depth == 0 && bytes.get(at + 1) == Some(&b':') => {
                parts.push(&name[start..at]);
                start = at + 2;
            }
            _ => {}
        }
    }
    parts.push(&name[start..]);
    parts
}

/// A part without generic arguments and disambiguators; `<T as Trait>` and `<T>` are the path of `T`.
fn parts(part: &str) -> Vec<String> {
    if let Some(inside) = part.strip_prefix('<').and_then(|p| p.strip_suffix('>')) {
        let of_trait = outside(inside, " as ");
        let kind = of_trait.map_or(inside, |at| &inside[..at]);
        // Generic arguments alone: `push::<u32>`.
        let implements = of_trait.is_some() || kind.contains("::");
        return match implements {
            true => split(referred(kind)).into_iter().flat_map(parts).collect(),
            false => Vec::new(),
        };
    }
    if part.starts_with('{') {
        // `{{closure}}`, `{closure#0}`, `{shim:vtable#0}`
        let inside = part.trim_matches(['{', '}']);
        let kind = inside.split(['#', ':']).next().unwrap_or(inside);
        return vec![format!("{{{kind}}}")];
    }
    let end = part.find(['<', '[', '(', '{']).unwrap_or(part.len());
    let name = part[..end].trim();
    let shim = part[end..].contains("shim").then(|| "{shim}".to_owned());
    let name = (!name.is_empty()).then(|| name.to_owned());
    name.into_iter().chain(shim).collect()
}

/// A type without `&`, `mut` and the like.
fn referred(kind: &str) -> &str {
    let mut kind = kind;
    for sign in ["&", "mut ", "*const ", "*mut ", "dyn "] {
        kind = kind.strip_prefix(sign).unwrap_or(kind);
    }
    kind
}

/// Where a text stands outside of brackets.
fn outside(name: &str, text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    name.char_indices().find_map(|(at, c)| match c {
        '<' | '(' | '[' | '{' => {
            depth += 1;
            None
        }
        '>' if name[..at].ends_with('-') => None,
        '>' | ')' | ']' | '}' => {
            depth = depth.saturating_sub(1);
            None
        }
        _ => (depth == 0 && name[at..].starts_with(text)).then_some(at),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_people_write_them() {
        let cases = [
            (
                "<alloc::sync::Arc<T> as core::ops::drop::Drop>::drop::h0123456789abcdef",
                "Arc::drop",
            ),
            (
                "<alloc::sync::Arc<T,A> as core::ops::Drop>::drop",
                "Arc::drop",
            ),
            (
                "queue::Queue<T>::push::{{closure}}::h0123456789abcdef",
                "queue::Queue::push::{closure}",
            ),
            (
                "<queue::Queue<u32>>::push::{closure#0}",
                "queue::Queue::push::{closure}",
            ),
            (
                "<queue[5f3ea1]::Queue<alloc[1]::vec::Vec<u8>>>::push",
                "queue::Queue::push",
            ),
            ("queue::push::<u32, fn(&str) -> u8>", "queue::push"),
            ("core::sync::atomic::AtomicUsize::load", "AtomicUsize::load"),
            ("<core::sync::atomic::Atomic<usize>>::load", "Atomic::load"),
            (
                "core::sync::atomic::atomic_load::<u32>",
                "atomic::atomic_load",
            ),
            ("core::ptr::write", "ptr::write"),
            (
                "core::ptr::drop_in_place<queue::Node<T>>",
                "ptr::drop_in_place",
            ),
            ("std::thread::spawn", "thread::spawn"),
            ("std::sync::mpmc::list::Channel<T>::send", "Channel::send"),
            (
                "std::thread::Builder::spawn_unchecked_::{{closure}}",
                "Builder::spawn_unchecked_::{closure}",
            ),
            (
                "core::ops::function::FnOnce::call_once{{vtable.shim}}",
                "FnOnce::call_once::{shim}",
            ),
            (
                "<&mut queue::Iter<T> as core::iter::Iterator>::next",
                "queue::Iter::next",
            ),
            ("main", "main"),
            ("queue::HEAD", "queue::HEAD"),
        ];
        for (name, short) in cases {
            assert_eq!(shortened(name), short, "{name}");
        }
    }

    #[test]
    fn names_of_other_languages_are_left_alone() {
        assert_eq!(of_mangled("_ZN5queue4pushEv", "queue::push()"), None);
        let old = ("_ZN1a1b17h0123456789abcdefE", "a::b::h0123456789abcdef");
        assert_eq!(of_mangled(old.0, old.1).as_deref(), Some("a::b"));
        assert_eq!(of_mangled("_RNvC1a1b", "a::b").as_deref(), Some("a::b"));
    }
}
