//! What becomes of a repaired text: a file, a diff, or both.

use crate::args::FenceArgs;
use crate::input::failure;
use similar::TextDiff;

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

/// The difference of two texts as `diff -u` prints it; empty when there is none.
pub(crate) fn unified(name: &str, old: &str, new: &str) -> String {
    TextDiff::from_lines(old, new)
        .unified_diff()
        .header(name, name)
        .to_string()
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
