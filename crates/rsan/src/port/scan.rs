//! The few things that one has to know of a C, C++ or Rust text to put a fence into it: what is code, where the statement
//! around a place begins and ends, and which call stands there.

use std::ops::Range;

/// A language that programs are written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Dialect {
    C,
    Cpp,
    Rust,
}

impl Dialect {
    /// The language of a file, by its name; headers count as C.
    pub(crate) fn of(file: &str) -> Self {
        match file.rsplit_once('.').map(|(_, extension)| extension) {
            Some("rs") => Self::Rust,
            Some("c" | "h") | None => Self::C,
            Some(_) => Self::Cpp,
        }
    }
}

/// A text whose comments, strings and directives are blank; positions are those of the text.
pub(super) struct Code {
    bytes: Vec<u8>,
    dialect: Dialect,
}

/// A statement: where a fence before it, and one behind it, would stand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Statement {
    /// From its first character to the one behind its semicolon.
    pub(super) range: Range<usize>,
    /// It is the body of an `if` or a loop without braces of its own.
    pub(super) bare: bool,
    /// A fence may stand behind it.
    pub(super) simple: bool,
}

impl Code {
    /// What is code in a text.
    pub(super) fn new(text: &str, dialect: Dialect) -> Self {
        let mut bytes = text.as_bytes().to_vec();
        let mut at = 0;
        while at < bytes.len() {
            let end = blank_end(&bytes, at, dialect);
            for byte in &mut bytes[at..end] {
                if *byte != b'\n' {
                    *byte = b' ';
                }
            }
            at = end.max(at + 1);
        }
        Self { bytes, dialect }
    }

    /// The position of a line and a column, both from 1; column 0 is the first character that is no blank.
    pub(super) fn position(&self, line: u32, column: u32) -> Option<usize> {
        let mut start = 0;
        for _ in 1..line {
            start += self.bytes[start..].iter().position(|b| *b == b'\n')? + 1;
        }
        let rest = &self.bytes[start..];
        let length = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        let within = match column {
            0 => rest[..length]
                .iter()
                .position(|b| !b.is_ascii_whitespace())?,
            _ => column as usize - 1,
        };
        (within < length).then_some(start + within)
    }

    /// The statement around a position; none where a fence before the statement would not be right before the access: in the
    /// head of a loop, behind an operator that may skip it.
    pub(super) fn statement(&self, at: usize) -> Option<Statement> {
        let begin = self.begin(at)?;
        let (start, bare) = self.heads(begin, at)?;
        let before = &self.bytes[start..at];
        let skips = match self.dialect {
            Dialect::Rust => contains(before, b"=>") || before.contains(&b'|'),
            Dialect::C | Dialect::Cpp => before.contains(&b'?'),
        };
        let skips = skips || contains(before, b"&&") || contains(before, b"||");
        if skips || self.word(start) == b"while" {
            return None;
        }
        let end = self.end(at);
        let leaves = [&b"return"[..], b"if", b"switch", b"match", b"for", b"goto"];
        Some(Statement {
            range: start..end.unwrap_or(at),
            bare,
            simple: end.is_some() && !leaves.contains(&self.word(start)),
        })
    }

    /// Behind the semicolon, brace or label before a position; none inside of the brackets of a head.
    fn begin(&self, at: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for (index, byte) in self.bytes[..at].iter().enumerate().rev() {
            match byte {
                b')' | b']' => depth += 1,
                b'(' | b'[' if depth > 0 => depth -= 1,
                b'(' if self.is_head(index) => return None,
                b';' if depth == 0 && self.is_bracketed(index) => return None,
                b';' | b'{' | b'}' if depth == 0 => return Some(index + 1),
                _ => {}
            }
        }
        None
    }

    /// Whether a semicolon stands in the head of a `for`.
    fn is_bracketed(&self, semicolon: usize) -> bool {
        let mut depth = 0;
        for byte in self.bytes[..semicolon].iter().rev() {
            match byte {
                b')' => depth += 1,
                b'(' if depth == 0 => return true,
                b'(' => depth -= 1,
                b'{' | b'}' => return false,
                _ => {}
            }
        }
        false
    }

    /// Whether a bracket opens the head of an `if`, a loop or a `switch`.
    fn is_head(&self, bracket: usize) -> bool {
        let before = self.bytes[..bracket].trim_ascii_end();
        let word = before.rsplit(|b| !is_word(*b)).next().unwrap_or_default();
        [&b"if"[..], b"while", b"for", b"switch"].contains(&word)
    }

    /// Past labels, and past heads of C whose body has no braces; whether there were such heads.
    fn heads(&self, begin: usize, at: usize) -> Option<(usize, bool)> {
        let mut start = self.skip_blanks(begin);
        let mut bare = false;
        while self.dialect != Dialect::Rust && start < at {
            let word = self.word(start);
            let behind = self.skip_blanks(start + word.len());
            match word {
                b"else" | b"do" => start = behind,
                b"if" | b"while" | b"for" | b"switch" => {
                    let close = self.closing(behind)?;
                    start = self.skip_blanks(close + 1);
                }
                b"case" => {
                    let colon = self.bytes[behind..at].iter().position(|b| *b == b':')?;
                    start = self.skip_blanks(behind + colon + 1);
                    continue;
                }
                _ if !word.is_empty() && self.is_label(behind) => {
                    start = self.skip_blanks(behind + 1);
                    continue;
                }
                _ => break,
            }
            bare = true;
        }
        (start <= at).then_some((start, bare))
    }

    fn is_label(&self, colon: usize) -> bool {
        self.bytes.get(colon) == Some(&b':') && self.bytes.get(colon + 1) != Some(&b':')
    }

    /// Behind the semicolon that ends the statement at a position.
    fn end(&self, at: usize) -> Option<usize> {
        let mut depth = 0_i32;
        for (index, byte) in self.bytes.iter().enumerate().skip(at) {
            match byte {
                b'(' | b'[' => depth += 1,
                b')' | b']' => depth -= 1,
                b';' if depth <= 0 => return Some(index + 1),
                b'{' | b'}' => return None,
                _ => {}
            }
        }
        None
    }

    /// The call at a position, from the first character of the object whose method it is to its last bracket.
    pub(super) fn call(&self, at: usize) -> Option<Range<usize>> {
        let word = self.word(at);
        let open = self.skip_blanks(at + word.len());
        if word.is_empty() || self.bytes.get(open) != Some(&b'(') {
            return None;
        }
        let close = self.closing(open)?;
        Some(self.object(at)..close + 1)
    }

    /// Where the object begins whose member stands at a position: `q->slots[i].` before `load`.
    fn object(&self, member: usize) -> usize {
        let mut start = member;
        while is_word(self.bytes[start]) && start > 0 && is_word(self.bytes[start - 1]) {
            start -= 1;
        }
        loop {
            let before = &self.bytes[..start];
            let link = [&b"->"[..], b"::", b"."]
                .into_iter()
                .find(|link| before.ends_with(link));
            let Some(link) = link else {
                return start;
            };
            let mut end = start - link.len();
            while let Some(open) = self.opening(end) {
                end = open;
            }
            let word = self.bytes[..end].iter().rev().take_while(|b| is_word(**b));
            start = end - word.count();
        }
    }

    /// The bracket that the one before a position closes.
    fn opening(&self, end: usize) -> Option<usize> {
        matches!(self.bytes.get(end.checked_sub(1)?), Some(b')' | b']')).then_some(())?;
        let mut depth = 0;
        for (index, byte) in self.bytes[..end].iter().enumerate().rev() {
            match byte {
                b')' | b']' => depth += 1,
                b'(' | b'[' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some(index);
            }
        }
        None
    }

    /// The bracket that closes the one at a position.
    pub(super) fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0;
        for (index, byte) in self.bytes.iter().enumerate().skip(open) {
            match byte {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some(index);
            }
        }
        None
    }

    /// The words from a position to the end of its statement, each with where it begins.
    pub(super) fn words(&self, from: usize, to: usize) -> impl Iterator<Item = usize> {
        (from..to.min(self.bytes.len())).filter(|at| {
            let starts = *at == 0 || !is_word(self.bytes[*at - 1]);
            starts && is_word(self.bytes[*at])
        })
    }

    /// The ranges of the arguments between two brackets.
    pub(super) fn arguments(&self, open: usize, close: usize) -> Vec<Range<usize>> {
        let (mut depth, mut from) = (0, open + 1);
        let mut found = Vec::new();
        for at in open + 1..close {
            match self.bytes[at] {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth -= 1,
                b',' if depth == 0 => {
                    found.push(from..at);
                    from = at + 1;
                }
                _ => {}
            }
        }
        found.push(from..close);
        found
    }

    /// The end of the line of a position.
    pub(super) fn line_end(&self, at: usize) -> usize {
        let rest = self.bytes[at..].iter().position(|b| *b == b'\n');
        rest.map_or(self.bytes.len(), |rest| at + rest)
    }

    fn word(&self, at: usize) -> &[u8] {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let length = rest.iter().take_while(|b| is_word(**b)).count();
        &rest[..length]
    }

    pub(super) fn skip_blanks(&self, at: usize) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        at + rest.iter().take_while(|b| b.is_ascii_whitespace()).count()
    }
}

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Where the comment, literal or directive that begins at a position ends; the position itself if none does.
fn blank_end(bytes: &[u8], at: usize, dialect: Dialect) -> usize {
    let rest = &bytes[at..];
    let until = |end: &[u8]| {
        let found = rest.windows(end.len()).skip(2).position(|w| w == end);
        found.map_or(bytes.len(), |found| at + found + 2 + end.len())
    };
    match rest {
        [b'/', b'/', ..] => line(bytes, at, false),
        [b'/', b'*', ..] => until(b"*/"),
        [b'"', ..] => literal(bytes, at, b'"'),
        [b'\'', b'\\', ..] => literal(bytes, at, b'\''),
        [b'\'', _, b'\'', ..] => at + 3,
        [b'#', ..] if dialect != Dialect::Rust && starts_line(bytes, at) => line(bytes, at, true),
        _ => at,
    }
}

fn starts_line(bytes: &[u8], at: usize) -> bool {
    let before = bytes[..at]
        .iter()
        .rev()
        .find(|b| !matches!(b, b' ' | b'\t'));
    before.is_none_or(|b| *b == b'\n')
}

/// The end of a line, or of the last one that it continues in.
fn line(bytes: &[u8], at: usize, continued: bool) -> usize {
    let mut index = at;
    while index < bytes.len() && (bytes[index] != b'\n' || (continued && bytes[index - 1] == b'\\'))
    {
        index += 1;
    }
    index
}

fn literal(bytes: &[u8], at: usize, quote: u8) -> usize {
    let mut index = at + 1;
    while index < bytes.len() && bytes[index] != quote {
        index += if bytes[index] == b'\\' { 2 } else { 1 };
    }
    (index + 1).min(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The statement around the mark `@`, and whether it is bare and simple.
    fn statement(marked: &str, dialect: Dialect) -> Option<(String, bool, bool)> {
        let at = marked.find('@').expect("a mark");
        let text = marked.replacen('@', "", 1);
        let statement = Code::new(&text, dialect).statement(at)?;
        let Statement {
            range,
            bare,
            simple,
        } = statement;
        Some((text[range].to_owned(), bare, simple))
    }

    #[test]
    fn statements_are_found_in_c() {
        let found = |text: &str| statement(text, Dialect::C);
        let is = |text: &str, bare, simple| Some((text.to_owned(), bare, simple));
        assert_eq!(
            found("{ a(); /* ; */ @b(\";\"); }"),
            is("b(\";\");", false, true)
        );
        assert_eq!(
            found("{ int r = @load(x); }"),
            is("int r = load(x);", false, true)
        );
        assert_eq!(found("{ if (c) @s(x); }"), is("s(x);", true, true));
        assert_eq!(found("{ if (c) {} else @s(x); }"), is("s(x);", true, true));
        assert_eq!(found("{ out: @s(x); }"), is("s(x);", false, true));
        assert_eq!(found("{ case 1: @s(x); }"), is("s(x);", false, true));
        assert_eq!(
            found("#define A ;\n{ return @l(x); }"),
            is("return l(x);", false, false)
        );
        assert_eq!(found("{ f(1, @l(x)); }"), is("f(1, l(x));", false, true));
        assert_eq!(found("{ while (@l(x)) ; }"), None);
        assert_eq!(found("{ for (;; @l(x)) ; }"), None);
        assert_eq!(found("{ r = a && @l(x); }"), None);
    }

    #[test]
    fn statements_are_found_in_rust() {
        let found = |text: &str| statement(text, Dialect::Rust);
        let is = |text: &str, simple| Some((text.to_owned(), false, simple));
        assert_eq!(found("{ x.@store(1); }"), is("x.store(1);", true));
        assert_eq!(found("{ if x.@load() == 1 { y } }"), is("if x.", false));
        assert_eq!(found("{ while x.@load() == 1 {} }"), None);
        assert_eq!(found("{ let f = || x.@load(); }"), None);
        assert_eq!(found("{ match y { 1 => x.@load(), } }"), None);
        assert_eq!(
            found("fn f<'a>(x: &'a A) { x.@store('\\''); }"),
            is("x.store('\\'');", true)
        );
    }

    #[test]
    fn calls_begin_with_their_object() {
        let call = |marked: &str| {
            let at = marked.find('@').expect("a mark");
            let text = marked.replacen('@', "", 1);
            let range = Code::new(&text, Dialect::Cpp).call(at)?;
            Some(text[range].to_owned())
        };
        let is = |text: &str| Some(text.to_owned());
        assert_eq!(
            call("if (q->slots[i % n].@load(f(1)) == 2)"),
            is("q->slots[i % n].load(f(1))")
        );
        assert_eq!(call("x = @atomic_load(&y);"), is("atomic_load(&y)"));
        assert_eq!(call("x = get(a).m.@load();"), is("get(a).m.load()"));
        assert_eq!(call("x @= 1;"), None);
    }
}
