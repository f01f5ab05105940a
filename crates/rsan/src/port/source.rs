//! Changes of a program in its own source, by the lines of the debug information: fences as statements of their own, or around
//! the access where it is no statement; other orders in the calls that name one.
//!
//! A change for which the text offers no place is not made, and said.

use super::scan::{Code, Dialect, is_word};
use rsan_ir::module::{Change, Order};
use std::ops::Range;

/// A change of one access.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SourceChange {
    /// From 1.
    pub(crate) line: u32,
    /// From 1, in bytes; 0 if unknown.
    pub(crate) column: u32,
    pub(crate) change: Change,
}

/// A text with changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Rewritten {
    pub(crate) text: String,
    /// The changes without a place in the text, by their numbers.
    pub(crate) unplaced: Vec<usize>,
}

/// A part of a text, and what stands there instead.
type Edit = (Range<usize>, String);

/// Makes changes in a text.
pub(crate) fn rewrite(text: &str, dialect: Dialect, changes: &[SourceChange]) -> Rewritten {
    let code = Code::new(text, dialect);
    let mut edits: Vec<Edit> = Vec::new();
    let mut unplaced = Vec::new();
    for (number, change) in changes.iter().enumerate() {
        match edits_of(&code, text, dialect, change) {
            Some(new) => edits.extend(new),
            None => unplaced.push(number),
        }
    }
    // One line of the source may be several instructions that want the same.
    edits.sort_by_key(|(range, new)| (range.start, range.end, new.clone()));
    edits.dedup();
    let mut out = String::with_capacity(text.len() + 64 * edits.len());
    let mut at = 0;
    for (range, new) in edits {
        // Two orders for one call: the first one stands.
        if range.start >= at {
            out.push_str(&text[at..range.start]);
            out.push_str(&new);
            at = range.end;
        }
    }
    out.push_str(&text[at..]);
    Rewritten {
        text: out,
        unplaced,
    }
}

fn edits_of(code: &Code, text: &str, dialect: Dialect, wanted: &SourceChange) -> Option<Vec<Edit>> {
    let at = code.position(wanted.line, wanted.column)?;
    let (fence, after) = match &wanted.change {
        Change::Order(order) => return reordered(code, text, at, *order),
        Change::FenceBefore(order) => (fence(*order, dialect, text)?, false),
        Change::FenceAfter(order) => (fence(*order, dialect, text)?, true),
        Change::MachineFenceBefore(name) => (machine_fence(name, dialect), false),
        Change::MachineFenceAfter(name) => (machine_fence(name, dialect), true),
    };
    match code.statement(at) {
        Some(statement) if !after || statement.simple => {
            let position = match after {
                true => statement.range.end,
                false => statement.range.start,
            };
            Some(match statement.bare {
                true => braced(text, &statement.range, &fence, after),
                false => vec![beside(text, position, &fence, after)],
            })
        }
        _ => around(code, at, &fence, after, dialect),
    }
}

/// A fence on a line of its own, as far in as its neighbour.
fn beside(text: &str, position: usize, fence: &str, after: bool) -> Edit {
    let line = text[..position]
        .rfind('\n')
        .map_or(0, |newline| newline + 1);
    let blank = |c: char| c == ' ' || c == '\t';
    let indent: String = text[line..].chars().take_while(|c| blank(*c)).collect();
    let new = match after {
        true => format!("\n{indent}{fence};"),
        false if text[line..position].trim().is_empty() => format!("{fence};\n{indent}"),
        false => format!("{fence}; "),
    };
    (position..position, new)
}

/// A body that had no braces, with a fence.
fn braced(text: &str, range: &Range<usize>, fence: &str, after: bool) -> Vec<Edit> {
    let body = &text[range.clone()];
    let new = match after {
        true => format!("{{ {body} {fence}; }}"),
        false => format!("{{ {fence}; {body} }}"),
    };
    vec![(range.clone(), new)]
}

/// An access that is a part of an expression, with a fence right before or behind it; only calls are known to end somewhere.
fn around(code: &Code, at: usize, fence: &str, after: bool, dialect: Dialect) -> Option<Vec<Edit>> {
    let call = code.call(at)?;
    let (open, close) = match (dialect, after) {
        (Dialect::Rust, true) => ("{ let value = ".to_owned(), format!("; {fence}; value }}")),
        (Dialect::Rust, false) => (format!("{{ {fence}; "), " }".to_owned()),
        (Dialect::C | Dialect::Cpp, false) => (format!("({fence}, "), ")".to_owned()),
        (Dialect::C, true) => (
            "({ __auto_type value_ = ".to_owned(),
            format!("; {fence}; value_; }})"),
        ),
        (Dialect::Cpp, true) => (
            "({ auto value_ = ".to_owned(),
            format!("; {fence}; value_; }})"),
        ),
    };
    // A fence of the machine is a statement, not an expression.
    if fence.starts_with("__asm__") && !after {
        let open = format!("({{ {fence}; ");
        return Some(vec![
            (call.start..call.start, open),
            (call.end..call.end, "; })".to_owned()),
        ]);
    }
    Some(vec![
        (call.start..call.start, open),
        (call.end..call.end, close),
    ])
}

/// A fence as the language writes it; relaxed ones are none. A text that has not the header of atomics gets what compilers have built in.
fn fence(order: Order, dialect: Dialect, text: &str) -> Option<String> {
    let name = order_name(order, dialect)?;
    let included = match dialect {
        Dialect::C => !text.contains("#include") || text.contains("stdatomic.h"),
        Dialect::Cpp => !text.contains("#include") || text.contains("<atomic>"),
        Dialect::Rust => true,
    };
    if !included {
        return Some(format!(
            "__atomic_thread_fence(__ATOMIC_{})",
            name.to_uppercase()
        ));
    }
    Some(match dialect {
        Dialect::C => format!("atomic_thread_fence(memory_order_{name})"),
        Dialect::Cpp => format!("std::atomic_thread_fence(std::memory_order_{name})"),
        Dialect::Rust => format!("std::sync::atomic::fence(std::sync::atomic::Ordering::{name})"),
    })
}

fn machine_fence(name: &str, dialect: Dialect) -> String {
    match dialect {
        Dialect::C | Dialect::Cpp => format!("__asm__ volatile(\"{name}\" ::: \"memory\")"),
        Dialect::Rust => format!("unsafe {{ std::arch::asm!(\"{name}\") }}"),
    }
}

fn order_name(order: Order, dialect: Dialect) -> Option<&'static str> {
    let [c, rust] = match order {
        Order::Plain => return None,
        Order::Relaxed => ["relaxed", "Relaxed"],
        Order::Acquire => ["acquire", "Acquire"],
        Order::Release => ["release", "Release"],
        Order::AcqRel => ["acq_rel", "AcqRel"],
        Order::SeqCst => ["seq_cst", "SeqCst"],
    };
    Some(match dialect {
        Dialect::C | Dialect::Cpp => c,
        Dialect::Rust => rust,
    })
}

/// What stands before the names of orders, and how the names are spelled behind it.
const SPELLINGS: [(&str, Spelling); 5] = [
    ("memory_order_", Spelling::Small),
    ("memory_order::", Spelling::Small),
    ("__ATOMIC_", Spelling::Large),
    ("Ordering::", Spelling::Rust),
    ("", Spelling::Rust),
];

/// How an order is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    Small,
    Large,
    Rust,
}

impl Spelling {
    fn write(self, order: Order) -> Option<String> {
        Some(match self {
            Self::Small => order_name(order, Dialect::C)?.to_owned(),
            Self::Large => order_name(order, Dialect::C)?.to_uppercase(),
            Self::Rust => order_name(order, Dialect::Rust)?.to_owned(),
        })
    }
}

/// The order that an argument names: the range of its name, and how it is spelled.
fn named_order(text: &str, argument: &Range<usize>) -> Option<(Range<usize>, Spelling, Order)> {
    const ORDERS: [Order; 5] = [
        Order::Relaxed,
        Order::Acquire,
        Order::Release,
        Order::AcqRel,
        Order::SeqCst,
    ];
    let words = text[argument.clone()].trim();
    for (prefix, spelling) in SPELLINGS {
        for order in ORDERS {
            let name = spelling.write(order)?;
            let Some(before) = words.strip_suffix(&name) else {
                continue;
            };
            let Some(before) = before.strip_suffix(prefix) else {
                continue;
            };
            let path = |c: char| is_word(c as u8) || c == ':';
            let ends = !before.ends_with(|c: char| is_word(c as u8)) || prefix.is_empty();
            let whole = before.is_empty() || !prefix.is_empty();
            if whole && ends && before.chars().all(path) {
                let end = argument.start + text[argument.clone()].trim_end().len();
                return Some((end - name.len()..end, spelling, order));
            }
        }
    }
    None
}

/// Another order for the access at a position: the first call there that names one.
fn reordered(code: &Code, text: &str, at: usize, order: Order) -> Option<Vec<Edit>> {
    let line = code.line_end(at);
    let words = std::iter::once(at).chain(code.words(at, line));
    for word in words {
        let Some(call) = code.call(word) else {
            continue;
        };
        let name = text[word..].bytes().take_while(|b| is_word(*b)).count();
        let open = code.skip_blanks(word + name);
        let arguments = code.arguments(open, call.end - 1);
        let named = arguments
            .iter()
            .filter_map(|range| named_order(text, range));
        let named: Vec<_> = named.collect();
        let Some((range, spelling, _)) = named.first() else {
            continue;
        };
        let mut edits = vec![(range.clone(), spelling.write(order)?)];
        // A compare-exchange that fails reads with what its success reads with.
        if let (Some((range, spelling, Order::Relaxed)), Some(read)) =
            (named.get(1), reading(order))
        {
            edits.push((range.clone(), spelling.write(read)?));
        }
        return Some(edits);
    }
    None
}

/// The order that a load has by that of a read-modify-write; none for relaxed ones.
fn reading(order: Order) -> Option<Order> {
    match order {
        Order::Acquire | Order::AcqRel => Some(Order::Acquire),
        Order::SeqCst => Some(Order::SeqCst),
        Order::Plain | Order::Relaxed | Order::Release => None,
    }
}

#[cfg(test)]
mod tests;
