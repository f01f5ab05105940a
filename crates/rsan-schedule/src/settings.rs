//! Settings as text: `name=value` pairs, as the variable `RSAN_OPTIONS` has them.
//!
//! Blanks and colons separate pairs, unless they stand within single or double quotes; quotes may be anywhere in a pair. The
//! command writes such texts for the runtime, which reads them; what a run is to do ([`crate::Request`]) has the same form.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::str::FromStr;

/// One setting. Without a value it is switched on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setting<'a> {
    name: Cow<'a, str>,
    value: Option<Cow<'a, str>>,
}

impl<'a> Setting<'a> {
    fn read(pair: Cow<'a, str>) -> Self {
        let parts = |name: &str, value: &str| (name.len(), pair.len() - value.len());
        let Some((name, value)) = pair.split_once('=').map(|(n, v)| parts(n, v)) else {
            return Self {
                name: pair,
                value: None,
            };
        };
        match pair {
            Cow::Borrowed(pair) => Self {
                name: Cow::Borrowed(&pair[..name]),
                value: Some(Cow::Borrowed(&pair[value..])),
            },
            Cow::Owned(pair) => Self {
                name: Cow::Owned(pair[..name].to_owned()),
                value: Some(Cow::Owned(pair[value..].to_owned())),
            },
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its value.
    pub fn value(&self) -> &str {
        self.value.as_deref().unwrap_or("1")
    }

    /// As the user wrote it, without quotes.
    pub fn plain(&self) -> String {
        match &self.value {
            Some(value) => format!("{}={value}", self.name),
            None => self.name.clone().into_owned(),
        }
    }
}

/// As it is read again.
impl fmt::Display for Setting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_quoted(f, &self.name)?;
        let Some(value) = &self.value else {
            return Ok(());
        };
        f.write_char('=')?;
        write_quoted(f, value)
    }
}

fn is_separator(c: char) -> bool {
    c == ':' || c.is_whitespace()
}

fn is_quote(c: char) -> bool {
    c == '"' || c == '\''
}

/// Writes a text in quotes, if it needs any: those that it does not have, in turns if it has both.
fn write_quoted(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    if !text.contains(|c| is_separator(c) || is_quote(c)) {
        return f.write_str(text);
    }
    let mut rest = text;
    while !rest.is_empty() {
        let double = rest.find('"').unwrap_or(rest.len());
        let (part, quote) = match double {
            0 => (rest.find('\'').unwrap_or(rest.len()), '\''),
            length => (length, '"'),
        };
        write!(f, "{quote}{}{quote}", &rest[..part])?;
        rest = &rest[part..];
    }
    Ok(())
}

/// Settings, in the order in which they stand there: the last of a name counts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Settings<'a>(Vec<Setting<'a>>);

/// A quote that is not closed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpenQuote {
    /// What stands there from the start of its pair on, without quotes.
    pub pair: String,
}

impl fmt::Display for OpenQuote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a quote is not closed in '{}'", self.pair)
    }
}

impl std::error::Error for OpenQuote {}

impl<'a> Settings<'a> {
    /// Reads a text, and says if a quote is not closed; what stands before is there all the same.
    pub fn read(text: &'a str) -> (Self, Option<OpenQuote>) {
        Self::read_separated(text, is_separator)
    }

    /// Reads a text for ThreadSanitizer, where commas separate, too; a pair whose quote is not closed is ignored.
    pub fn read_tsan(text: &'a str) -> Self {
        Self::read_separated(text, |c| c == ',' || is_separator(c)).0
    }

    /// The same with other separators.
    pub fn read_separated(
        text: &'a str,
        is_separator: impl Fn(char) -> bool,
    ) -> (Self, Option<OpenQuote>) {
        let (mut all, mut start, mut quote) = (Vec::new(), 0, None);
        let mut take = |pair: &'a str| {
            if !pair.is_empty() {
                all.push(Setting::read(unquoted(pair)));
            }
        };
        for (at, c) in text.char_indices() {
            match quote {
                Some(end) if c == end => quote = None,
                Some(_) => {}
                None if is_quote(c) => quote = Some(c),
                None if is_separator(c) => {
                    take(&text[start..at]);
                    start = at + c.len_utf8();
                }
                None => {}
            }
        }
        let rest = &text[start..];
        let open = quote.map(|_| OpenQuote {
            pair: unquoted(rest).into_owned(),
        });
        if open.is_none() {
            take(rest);
        }
        all.retain(|setting| !setting.name.is_empty() || setting.value.is_some());
        (Self(all), open)
    }

    /// Adds one.
    pub fn add(&mut self, name: impl Into<Cow<'a, str>>, value: impl Into<Cow<'a, str>>) {
        self.0.push(Setting {
            name: name.into(),
            value: Some(value.into()),
        });
    }

    /// Adds all of others.
    pub fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// The value that counts.
    pub fn get(&self, name: &str) -> Option<&str> {
        let named = |setting: &&Setting<'_>| setting.name == name;
        self.0.iter().rfind(named).map(Setting::value)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Setting<'a>> {
        self.0.iter()
    }

    /// Without those of some names.
    #[must_use]
    pub fn without(mut self, names: &[&str]) -> Self {
        self.0.retain(|setting| !names.contains(&setting.name()));
        self
    }
}

fn unquoted(pair: &str) -> Cow<'_, str> {
    if !pair.contains(is_quote) {
        return Cow::Borrowed(pair);
    }
    let mut quote = None;
    let mut plain = String::with_capacity(pair.len());
    for c in pair.chars() {
        match quote {
            Some(end) if c == end => quote = None,
            None if is_quote(c) => quote = Some(c),
            _ => plain.push(c),
        }
    }
    Cow::Owned(plain)
}

impl FromStr for Settings<'static> {
    type Err = OpenQuote;

    fn from_str(text: &str) -> Result<Self, OpenQuote> {
        let (settings, open) = Settings::read(text);
        let owned = |setting: Setting<'_>| Setting {
            name: Cow::Owned(setting.name.into_owned()),
            value: setting.value.map(|value| Cow::Owned(value.into_owned())),
        };
        match open {
            Some(open) => Err(open),
            None => Ok(Settings(settings.0.into_iter().map(owned).collect())),
        }
    }
}

impl fmt::Display for Settings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, setting) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_char(' ')?;
            }
            setting.fmt(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        let (settings, open) = Settings::read(text);
        assert_eq!(open, None, "{text}");
        let pair = |s: &Setting<'_>| (s.name().to_owned(), s.value().to_owned());
        settings.iter().map(pair).collect()
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn blanks_and_colons_separate_but_not_in_quotes() {
        let text = "exitcode=3:log='/a b:c/\"d'  races=0 \t quiet suppressions= x=\"1\"'2'=3";
        let expected = [
            pair("exitcode", "3"),
            pair("log", "/a b:c/\"d"),
            pair("races", "0"),
            pair("quiet", "1"),
            pair("suppressions", ""),
            pair("x", "12=3"),
        ];
        assert_eq!(pairs(text), expected);
        assert_eq!(pairs(" : '' "), []);
        let (comma, _) = Settings::read_separated("a=1,b=2 3", |c| c == ',');
        assert_eq!(comma.get("b"), Some("2 3"));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let values = [
            "",
            "1",
            "a b",
            "'",
            "\"",
            "it's \"q\"",
            "\"'\"'",
            "a:b",
            "é\n\t=",
            "'\" ",
        ];
        let mut settings = Settings::default();
        for (number, value) in values.into_iter().enumerate() {
            settings.add(format!("n{number}"), value);
        }
        let text = settings.to_string();
        assert_eq!(text.parse().as_ref(), Ok(&settings), "{text}");
        let bare: Settings<'_> = "races \"odd name\"=1 =x".parse().expect("settings");
        assert_eq!(bare.to_string().parse().as_ref(), Ok(&bare));
    }

    #[test]
    fn an_open_quote_is_told_and_the_rest_is_there() {
        let (settings, open) = Settings::read("exitcode=3 log='/a races=0");
        assert_eq!(settings.to_string(), "exitcode=3");
        let open = open.expect("an open quote");
        assert_eq!(open.pair, "log=/a races=0");
        assert!("a=\"'".parse::<Settings<'_>>().is_err());
        assert!("a=\"it's\"".parse::<Settings<'_>>().is_ok());
    }

    #[test]
    fn the_last_of_a_name_counts() {
        let (settings, _) = Settings::read("a=1 b=2 a=3");
        assert_eq!((settings.get("a"), settings.get("c")), (Some("3"), None));
        assert_eq!(settings.without(&["a"]).to_string(), "b=2");
    }
}
