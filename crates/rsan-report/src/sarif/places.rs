//! Files as URIs, places as locations.
//!
//! A path that is relative stays so, below `%SRCROOT%`: the folder in which the command ran, which in CI is the root of the checkout.
//! An absolute path is a `file:` URI.

use super::log::{
    Artifact, Location, LogicalLocation, Message, PhysicalLocation, Region, Text, Uri, UriBase,
};
use crate::document::{Document, Frame, Place};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The base of relative URIs.
const ROOT: &str = "%SRCROOT%";

/// The files that results name; each has a number.
#[derive(Debug, Default)]
pub(super) struct Files {
    uris: Vec<Uri>,
    indices: BTreeMap<String, usize>,
}

impl Files {
    /// A file by its path.
    pub(super) fn uri(&mut self, path: &str) -> Uri {
        let next = self.uris.len();
        let index = *self.indices.entry(path.to_owned()).or_insert(next);
        if index == next {
            self.uris.push(uri(path));
        }
        Uri {
            index: Some(index),
            ..self.uris[index].clone()
        }
    }

    pub(super) fn artifacts(self) -> Vec<Artifact> {
        let artifact = |location| Artifact { location };
        self.uris.into_iter().map(artifact).collect()
    }

    /// A place, with the line that stands there.
    pub(super) fn location(&mut self, document: &Document, place: &Place) -> Location {
        let region = place.line.filter(|line| *line > 0).map(|line| Region {
            start_line: line,
            start_column: known(place.column),
            end_line: known(place.end_line).filter(|_| known(place.column).is_some()),
            end_column: known(place.end_column).filter(|_| known(place.column).is_some()),
            snippet: document.line(place).map(|text| Message {
                text: text.to_owned(),
            }),
        });
        Location {
            id: None,
            physical_location: PhysicalLocation {
                artifact_location: self.uri(&place.file),
                region,
            },
            logical_locations: Vec::new(),
            message: None,
        }
    }

    /// The place of a frame, with its function.
    pub(super) fn frame(&mut self, document: &Document, frame: &Frame) -> Option<Location> {
        let location = self.location(document, &frame.place()?);
        Some(location.inside(frame.function.as_deref()))
    }
}

impl Location {
    /// The same, as a part of a function.
    pub(super) fn inside(mut self, function: Option<&str>) -> Self {
        let logical = |name: &str| LogicalLocation {
            fully_qualified_name: name.to_owned(),
            kind: "function",
        };
        self.logical_locations = function.map(logical).into_iter().collect();
        self
    }

    /// The same, with a message.
    pub(super) fn saying(mut self, text: impl Into<String>) -> Self {
        let text = literal(&text.into());
        self.message = Some(Message { text });
        self
    }
}

/// What relative URIs are relative to.
pub(super) fn bases() -> BTreeMap<&'static str, UriBase> {
    let description = Text::plain("The folder in which rsan was started.");
    [(ROOT, UriBase { description })].into()
}

/// Compilers write 0 for what they do not know.
fn known(number: Option<u32>) -> Option<u32> {
    number.filter(|number| *number > 0)
}

/// A path as a URI. One that leaves the base can't be relative to it, says the standard (3.4.4).
fn uri(path: &str) -> Uri {
    let absolute = path.starts_with('/');
    let mut segments = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." if segments.last().is_some_and(|last| *last != "..") => {
                segments.pop();
            }
            ".." if absolute => {}
            other => segments.push(other),
        }
    }
    let outside = segments.first() == Some(&"..");
    let encoded: Vec<_> = segments.into_iter().map(encode).collect();
    let encoded = encoded.join("/");
    Uri {
        uri: if absolute {
            format!("file:///{encoded}")
        } else {
            encoded
        },
        uri_base_id: (!absolute && !outside).then_some(ROOT),
        index: None,
    }
}

/// A segment of a path, percent-encoded but for the unreserved characters of RFC 3986.
fn encode(segment: &str) -> String {
    let mut encoded = String::new();
    for byte in segment.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~+@".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// A text that is no link: `[a](b)` would be one (3.11.6), and C++ has `operator[](int)`.
pub(super) fn literal(text: &str) -> String {
    if text.contains("](") {
        text.replace('[', "\\[").replace(']', "\\]")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_uris() {
        let cases = [
            ("src/a.c", "src/a.c", Some(ROOT)),
            ("./src//b/../a.c", "src/a.c", Some(ROOT)),
            ("../a.c", "../a.c", None),
            ("../../x/../a.c", "../../a.c", None),
            (
                "/usr/include/c++/14/atomic",
                "file:///usr/include/c++/14/atomic",
                None,
            ),
            ("a b/ä:#%.c", "a%20b/%C3%A4%3A%23%25.c", Some(ROOT)),
            ("<stdin>", "%3Cstdin%3E", Some(ROOT)),
        ];
        for (path, expected, base) in cases {
            let made = uri(path);
            assert_eq!((made.uri.as_str(), made.uri_base_id), (expected, base));
        }
    }

    #[test]
    fn a_file_has_one_index() {
        let mut files = Files::default();
        let indices = ["a.c", "b.c", "a.c"].map(|path| files.uri(path).index);
        assert_eq!(indices, [Some(0), Some(1), Some(0)]);
        assert_eq!(files.artifacts().len(), 2);
    }

    #[test]
    fn what_looks_like_a_link_is_none() {
        assert_eq!(
            literal("v::operator[](int)"),
            "v::operator\\[\\](int)".to_owned()
        );
        assert_eq!(literal("a[0]"), "a[0]");
    }
}
