//! The repaired program in its own language: the text that was read, with the orders and fences edited in.

use rsan_lang::Format;
use rsan_model::{FenceOrd, Instr, Pc, Program, ReadOrd, RmwOrd, Source, Span, ThreadId, WriteOrd};
use rsan_repair::{Kind, Proved, Scope};
use std::collections::BTreeSet;

/// What the language of a program lets one change.
pub(super) fn scope(program: &Program, format: Format) -> Scope {
    let mut scope = Scope {
        no_sc_accesses: format == Format::Tpl,
        ..Scope::default()
    };
    let mut seen: BTreeSet<(ThreadId, u32, u32)> = BTreeSet::new();
    for (thread, pc, instr) in program.instructions() {
        let span = program.threads[thread.index()].span(pc);
        if instr.place().is_none() || span == Span::default() {
            continue;
        }
        // What a compare-and-swap does on failure, say: a part of the same call.
        if !seen.insert((thread, span.start, span.end)) {
            scope.unfenceable.insert((thread, pc));
        }
        if format == Format::Tpl && is_lock(program, thread, pc) {
            scope.fixed.insert((thread, pc));
        }
    }
    scope
}

/// `lock(x);` or `unlock(x);`, whose orders are fixed.
fn is_lock(program: &Program, thread: ThreadId, pc: Pc) -> bool {
    let span = program.threads[thread.index()].span(pc);
    let text = program.source.as_ref().map_or("", |s| s.slice(span));
    let word = text
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .next();
    matches!(word, Some("lock" | "unlock")) && !text.contains('.')
}

/// The text with all changes; `None` when one of them has no place in it.
pub(super) fn rewritten(program: &Program, format: Format, changes: &[Proved]) -> Option<String> {
    let source = program.source.as_ref()?;
    let mut edits: Vec<(usize, usize, String)> = Vec::new();
    for change in changes {
        let site = &change.site;
        let new = &site.options[change.option].instr;
        let thread = &program.threads[site.thread.index()];
        let span = thread.span(site.pc);
        match (site.kind, new) {
            (Kind::Insert, Instr::Fence(ord)) => {
                edits.extend(inserted(source, format, span, *ord)?);
            }
            (Kind::Insert, _) => return None,
            (Kind::Raise, _) => edits.push(raised(source, format, span, new)?),
        }
    }
    edited(&source.text, edits)
}

/// The text with a seq_cst fence before each of these instructions; `None` when one of them has no place in it.
pub(super) fn fenced(
    program: &Program,
    format: Format,
    places: &[(ThreadId, Pc)],
) -> Option<String> {
    let source = program.source.as_ref()?;
    let mut edits = Vec::new();
    for (thread, pc) in places {
        let span = program.threads[thread.index()].span(*pc);
        if span == Span::default() {
            return None;
        }
        edits.extend(inserted(source, format, span, FenceOrd::SeqCst)?);
    }
    edited(&source.text, edits)
}

/// A text with edits: what is replaced, from where to where, and by what.
pub(super) fn edited(text: &str, mut edits: Vec<(usize, usize, String)>) -> Option<String> {
    edits.sort();
    edits.dedup();
    let mut out = String::new();
    let mut at = 0;
    for (start, end, new) in edits {
        out.push_str(text.get(at..start)?);
        out.push_str(&new);
        at = end;
    }
    out.push_str(text.get(at..)?);
    Some(out)
}

/// A fence before what stands at `span`: a statement of its own, or the left side of a comma.
fn inserted(
    source: &Source,
    format: Format,
    span: Span,
    ord: FenceOrd,
) -> Option<Vec<(usize, usize, String)>> {
    let (start, end) = (span.start as usize, span.end as usize);
    let (fence, at) = match format {
        Format::CLitmus => {
            let fence = format!("atomic_thread_fence(memory_order_{ord})");
            let Some(at) = statement(&source.text[..start]) else {
                let open = (start, start, format!("({fence}, "));
                return Some(vec![open, (end, end, ")".to_owned())]);
            };
            (format!("{fence};"), at)
        }
        Format::Tpl => {
            let name = match ord {
                FenceOrd::Acquire => "acq",
                FenceOrd::Release => "rel",
                FenceOrd::AcqRel => "acq_rel",
                FenceOrd::SeqCst => "seq_cst",
            };
            (format!("fence({name});"), start)
        }
        Format::Mini => return None,
    };
    let line = source.text[..at].rfind('\n').map_or(0, |i| i + 1);
    let indent = &source.text[line..at];
    let rest = if indent.trim().is_empty() {
        format!("\n{indent}")
    } else {
        " ".to_owned()
    };
    Some(vec![(at, at, fence + &rest)])
}

/// Where the statement begins that the call after `before` is all of, or the right side of.
fn statement(before: &str) -> Option<usize> {
    let end = before.rfind([';', '{', '}'])? + 1;
    let block = before.rfind(['{', '}'])? + 1;
    let count = |c: char| before[block..].matches(c).count();
    let left = before[end..].trim();
    let target = left.strip_suffix('=').unwrap_or(left);
    let plain = |c: char| c.is_alphanumeric() || c == '_' || c.is_whitespace();
    let ok = count('(') == count(')')
        && target.chars().all(plain)
        && (left.is_empty() || left.ends_with('='))
        && !target.split_whitespace().any(|w| w == "else" || w == "do");
    ok.then(|| before.len() - before[end..].trim_start().len())
}

/// The call at `span` with the orders of `new`.
fn raised(
    source: &Source,
    format: Format,
    span: Span,
    new: &Instr,
) -> Option<(usize, usize, String)> {
    let text = source.slice(span);
    let open = text.find('(')?;
    let (arguments, close) = arguments(text, open)?;
    let (operands, orders) = match format {
        Format::CLitmus => c_orders(new)?,
        Format::Tpl => tpl_orders(new)?,
        Format::Mini => return None,
    };
    let operands = arguments.get(..operands)?;
    let all: Vec<&str> = operands
        .iter()
        .map(|a| a.trim())
        .chain(orders.iter().map(String::as_str))
        .collect();
    let start = span.start as usize;
    Some((start + open + 1, start + close, all.join(", ")))
}

/// The arguments between the bracket at `open` and the one that closes it.
fn arguments(text: &str, open: usize) -> Option<(Vec<&str>, usize)> {
    let mut depth = 0;
    let mut from = open + 1;
    let mut found = Vec::new();
    for (at, c) in text.char_indices().skip_while(|(at, _)| *at < open) {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 || (depth == 1 && c == ',') {
            found.push(&text[from..at]);
            from = at + 1;
        }
        if depth == 0 {
            return Some((found, at));
        }
    }
    None
}

/// How many operands a call of C has, and the orders that follow them.
fn c_orders(instr: &Instr) -> Option<(usize, Vec<String>)> {
    let name = |ord: &dyn std::fmt::Display| format!("memory_order_{ord}");
    Some(match instr {
        Instr::Load { ord, .. } => (1, vec![name(ord)]),
        Instr::Wait { ord, .. } => (2, vec![name(ord)]),
        Instr::Store { ord, .. } => (2, vec![name(ord)]),
        Instr::Rmw { ord, .. } => (2, vec![name(ord)]),
        Instr::Bcas { ord, .. } => (3, vec![name(ord)]),
        Instr::Cas { ord, fail, .. } => (3, vec![name(ord), name(fail)]),
        Instr::Fence(ord) => (0, vec![name(ord)]),
        _ => return None,
    })
}

/// The same for TPL, which has no seq_cst accesses.
fn tpl_orders(instr: &Instr) -> Option<(usize, Vec<String>)> {
    let read = |ord: ReadOrd| match ord {
        ReadOrd::Relaxed => Some("rlx".to_owned()),
        ReadOrd::Acquire => Some("acq".to_owned()),
        ReadOrd::SeqCst => None,
    };
    let write = |ord: WriteOrd| match ord {
        WriteOrd::Relaxed => Some("rlx".to_owned()),
        WriteOrd::Release => Some("rel".to_owned()),
        WriteOrd::SeqCst => None,
    };
    let update = |ord: RmwOrd| Some(vec![read(ord.read())?, write(ord.write())?]);
    Some(match instr {
        Instr::Load { ord, .. } => (0, vec![read(*ord)?]),
        Instr::Wait { ord, values, .. } => (1 + values.len(), vec![read(*ord)?]),
        Instr::Store { ord, .. } => (1, vec![write(*ord)?]),
        Instr::Rmw { ord, .. } => (2, update(*ord)?),
        Instr::Cas { ord, .. } | Instr::Bcas { ord, .. } => (3, update(*ord)?),
        Instr::Fence(ord) => {
            let name = match ord {
                FenceOrd::Acquire => "acq",
                FenceOrd::Release => "rel",
                FenceOrd::AcqRel => "acq_rel",
                FenceOrd::SeqCst => "seq_cst",
            };
            (0, vec![name.to_owned()])
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_a_statement_where_the_access_is_one() {
        assert_eq!(statement("{ a();\n  "), Some(9));
        assert_eq!(statement("{ a();\n  int r = "), Some(9));
        for before in [
            "{ while (",
            "{ for (i = 0; ",
            "{ if (r) ",
            "{ if (r) { } else ",
            "{ int r = 1 + ",
            "{ r = f(x) + ",
        ] {
            assert_eq!(statement(before), None, "{before}");
        }
    }

    #[test]
    fn arguments_are_split_at_their_own_commas() {
        let text = "f(a[g(1, 2)], (b, c), d)";
        let (found, close) = arguments(text, 1).expect("a call");
        assert_eq!(found, ["a[g(1, 2)]", " (b, c)", " d"]);
        assert_eq!(close, text.len() - 1);
    }
}
