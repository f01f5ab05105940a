//! What becomes of a repaired text: a file, a diff, or both.

use crate::args::FenceArgs;
use crate::input::failure;
use std::fmt::Write;

/// Writes a repaired text where the user wants it; the diff, if one is asked for.
///
/// # Errors
/// The complete message for the user.
pub(super) fn deliver(
    args: &FenceArgs,
    subject: &str,
    (old, new): (&str, &str),
) -> Result<Option<String>, String> {
    if let Some(path) = &args.output {
        let name = path.display().to_string();
        std::fs::write(path, new).map_err(|e| failure(&name, &e))?;
    }
    Ok(args.diff.then(|| unified(subject, old, new)))
}

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// Fields of the table that is used to compare two texts, at most.
const MAX_TABLE: usize = 16 << 20;

/// What happens to a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Line<'a> {
    Kept(&'a str),
    Removed(&'a str),
    Added(&'a str),
}

/// The difference of two texts as `diff -u` prints it; empty when there is none.
fn unified(name: &str, old: &str, new: &str) -> String {
    let lines = compare(old, new);
    let changed = |l: &Line<'_>| !matches!(l, Line::Kept(_));
    let mut out = String::new();
    // Lines of the old and of the new text before each line of the comparison.
    let mut before = vec![(0, 0)];
    for line in &lines {
        let (a, b) = before[before.len() - 1];
        before.push(match line {
            Line::Kept(_) => (a + 1, b + 1),
            Line::Removed(_) => (a + 1, b),
            Line::Added(_) => (a, b + 1),
        });
    }
    let mut at = 0;
    while let Some(first) = lines[at..].iter().position(changed).map(|i| at + i) {
        if out.is_empty() {
            let _ = writeln!(out, "--- {name}\n+++ {name}");
        }
        // Changes with little between them are one hunk.
        let mut last = first;
        while let Some(next) = lines[last + 1..].iter().position(changed)
            && next <= 2 * CONTEXT
        {
            last += 1 + next;
        }
        let start = first.saturating_sub(CONTEXT);
        let end = (last + 1 + CONTEXT).min(lines.len());
        let ((a, b), (c, d)) = (before[start], before[end]);
        let _ = writeln!(out, "@@ -{} +{} @@", range(a, c - a), range(b, d - b));
        for line in &lines[start..end] {
            let (sign, text) = match line {
                Line::Kept(text) => (' ', text),
                Line::Removed(text) => ('-', text),
                Line::Added(text) => ('+', text),
            };
            let _ = write!(out, "{sign}{text}");
            if !text.ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
        at = end;
    }
    out
}

/// `LINE,COUNT` of a hunk, of which `before` lines come before it.
fn range(before: usize, count: usize) -> String {
    match count {
        0 => format!("{before},0"),
        1 => format!("{}", before + 1),
        n => format!("{},{n}", before + 1),
    }
}

/// The lines of both texts, with as many kept as possible.
fn compare<'a>(old: &'a str, new: &'a str) -> Vec<Line<'a>> {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let tail = old[same..].iter().rev().zip(new[same..].iter().rev());
    let tail = tail.take_while(|(a, b)| a == b).count();
    let (a, b) = (&old[same..old.len() - tail], &new[same..new.len() - tail]);
    let mut lines: Vec<Line<'_>> = old[..same].iter().map(|l| Line::Kept(l)).collect();
    // The length of the longest common part of what follows, for each pair of lines.
    let width = b.len() + 1;
    let fits = (a.len() + 1).saturating_mul(width) <= MAX_TABLE;
    let mut common = vec![0u32; if fits { (a.len() + 1) * width } else { 0 }];
    for i in (0..a.len()).rev().filter(|_| fits) {
        for j in (0..b.len()).rev() {
            common[i * width + j] = if a[i] == b[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while fits && i < a.len() && j < b.len() {
        if a[i] == b[j] {
            lines.push(Line::Kept(a[i]));
            (i, j) = (i + 1, j + 1);
        } else if common[(i + 1) * width + j] >= common[i * width + j + 1] {
            lines.push(Line::Removed(a[i]));
            i += 1;
        } else {
            lines.push(Line::Added(b[j]));
            j += 1;
        }
    }
    lines.extend(a[i..].iter().map(|l| Line::Removed(l)));
    lines.extend(b[j..].iter().map(|l| Line::Added(l)));
    lines.extend(old[old.len() - tail..].iter().map(|l| Line::Kept(l)));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_is_what_diff_prints() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\n";
        let new = "a\nb\nC\nd\ne\nf\ng\nh\ni\nj\nk\nnew\nl\nm\n";
        let expected = "--- x\n+++ x\n@@ -1,6 +1,6 @@\n a\n b\n-c\n+C\n d\n e\n f\n\
                        @@ -9,5 +9,6 @@\n i\n j\n k\n+new\n l\n m\n";
        assert_eq!(unified("x", old, new), expected);
        assert_eq!(unified("x", old, old), "");
    }

    #[test]
    fn the_end_of_a_text_may_lack_its_newline() {
        let expected = "--- x\n+++ x\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\
                        \\ No newline at end of file\n";
        assert_eq!(unified("x", "a\nb", "a\nc"), expected);
        assert_eq!(unified("x", "", "a\n"), "--- x\n+++ x\n@@ -0,0 +1 @@\n+a\n");
    }
}
