//! Texts with gaps.

/// A text with gaps.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Pattern {
    /// Whether the text begins with the first part.
    start: bool,
    /// Whether it ends with the last one.
    end: bool,
    parts: Vec<String>,
}

impl Pattern {
    pub(crate) fn new(text: &str) -> Self {
        let (start, text) = text
            .strip_prefix('^')
            .map_or((false, text), |rest| (true, rest));
        let (end, text) = text
            .strip_suffix('$')
            .map_or((false, text), |rest| (true, rest));
        Self {
            start,
            end,
            parts: text.split('*').map(str::to_owned).collect(),
        }
    }

    pub(crate) fn matches(&self, mut text: &str) -> bool {
        for (index, part) in self.parts.iter().enumerate() {
            let first = self.start && index == 0;
            let last = self.end && index + 1 == self.parts.len();
            let rest = match (first, last) {
                (true, true) => return text == part,
                (false, true) => return text.ends_with(part),
                (true, false) => text.strip_prefix(part.as_str()),
                (false, false) => text.split_once(part.as_str()).map(|(_, rest)| rest),
            };
            match rest {
                Some(rest) => text = rest,
                None => return false,
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_those_of_the_thread_sanitizer() {
        for (pattern, text, expected) in [
            ("foo", "a::foo(int)", true),
            ("foo", "a::fo", false),
            ("^foo", "foobar", true),
            ("^foo", "a::foo", false),
            ("foo$", "a::foo", true),
            ("foo$", "foobar", false),
            ("^foo$", "foo", true),
            ("a*c", "xabcx", true),
            ("a*c", "xcba", false),
            ("^lib*.so$", "libx.so", true),
            ("^lib*.so$", "libx.so.1", false),
            ("*", "", true),
            ("a*a$", "a", false),
        ] {
            assert_eq!(
                Pattern::new(pattern).matches(text),
                expected,
                "{pattern} {text}"
            );
        }
    }
}
