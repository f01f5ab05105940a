//! Response files: arguments of a compiler that stand in a file.

use crate::files;
use std::ffi::OsString;
use std::path::Path;

/// Replaces each `@file` by the arguments in the file, as gcc does: separated by white space, with quotes and
/// backslashes. A file that cannot be read stays as it is.
pub(crate) fn expand(words: &[OsString]) -> Vec<OsString> {
    expand_to(words, MAX_NESTING)
}

/// Response files may name others, but not for ever.
const MAX_NESTING: usize = 16;

fn expand_to(words: &[OsString], depth: usize) -> Vec<OsString> {
    let mut expanded = Vec::new();
    for word in words {
        let text = word
            .to_str()
            .and_then(|w| w.strip_prefix('@'))
            .filter(|_| depth > 0);
        match text.and_then(|file| files::read_text(Path::new(file), files::TEXT).ok()) {
            Some(contents) => expanded.extend(expand_to(&split(&contents), depth - 1)),
            None => expanded.push(word.clone()),
        }
    }
    expanded
}

/// The arguments in a text.
pub(crate) fn split(text: &str) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', _) => word.get_or_insert_default().extend(chars.next()),
            (c, Some(q)) if c == q => quote = None,
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take().map(OsString::from)),
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word.map(OsString::from));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_files_are_split_as_gcc_splits_them() {
        assert_eq!(
            split(" a 'b c'\n\"d\\\"e\" f\\ g ''"),
            ["a", "b c", "d\"e", "f g", ""]
        );
    }
}
