//! Findings inside libraries, which the short text has in a line each.

use super::samples::{place, weak};
use crate::{Details, Style, text};

#[test]
fn a_line_stands_once_and_names_the_package() {
    let mut document = weak();
    let finding = &mut document.findings[0];
    finding.in_libraries = true;
    finding.location = Some(place(
        "/home/me/.cargo/registry/src/index-0123/tokio-1.0.0/src/park.rs",
        90,
        14,
    ));
    let mut other = finding.clone();
    other.location = Some(place("/usr/include/c++/12/latch", 7, 1));
    let same = finding.clone();
    document.findings.extend([other, same]);
    let shown = text(&document, Style::Plain, Details::Short);
    let expected = "\
in libraries, not counted unless --include-libraries is given:
  warning: not robust against c20 at tokio-1.0.0/src/park.rs:90:14 (2 findings)
  warning: not robust against c20 at /usr/include/c++/12/latch:7:1
";
    assert!(shown.starts_with(expected), "{shown}");
}
