//! A strict reader of pages: stricter than HTML asks, so that what it accepts no browser reads in another way.

use std::collections::BTreeSet;

/// Elements without an end tag.
const VOID: [&str; 2] = ["meta", "input"];
/// Attributes without a value.
const BARE: [&str; 3] = ["hidden", "checked", "open"];

/// Panics unless elements are nested, attributes quoted, text escaped, names unique and links lead somewhere.
pub(super) fn check(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut names: BTreeSet<&str> = BTreeSet::new();
    let mut links: Vec<&str> = Vec::new();
    let mut rest = page
        .strip_prefix("<!DOCTYPE html>\n")
        .expect("a document type");
    while let Some(at) = rest.find('<') {
        escaped(&rest[..at]);
        let end = at + rest[at..].find('>').expect("tags end");
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "before {:.80}", rest);
            continue;
        }
        let alone = tag.ends_with('/');
        let tag = tag.trim_end_matches('/');
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric()), "<{tag}>");
        for (key, value) in read(attributes) {
            match key {
                "id" => assert!(names.insert(value), "two elements are {value}"),
                "href" => links.push(value.strip_prefix('#').expect("a place on the page")),
                "aria-labelledby" => links.extend(value.split(' ')),
                _ => assert!(!key.starts_with("on"), "{key}"),
            }
        }
        if name == "script" || name == "style" {
            let end = format!("</{name}>");
            rest = rest.split_once(end.as_str()).expect("an end").1;
        } else if !alone && !VOID.contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty() && rest == "\n", "{open:?} {rest}");
    for link in links {
        assert!(names.contains(link), "no element is {link}");
    }
}

/// The attributes of a tag.
fn read(mut text: &str) -> Vec<(&str, &str)> {
    let mut attributes = Vec::new();
    while !text.is_empty() {
        let end = text.find([' ', '=']).unwrap_or(text.len());
        let key = &text[..end];
        assert!(
            key.chars().all(|c| c.is_ascii_alphabetic() || c == '-'),
            "{text}"
        );
        let mut value = "";
        text = &text[end..];
        match text.strip_prefix("=\"") {
            Some(quoted) => {
                let (inside, after) = quoted.split_once('"').expect("values end");
                escaped(inside);
                (value, text) = (inside, after);
            }
            None => assert!(BARE.contains(&key) || key.starts_with("data-"), "{key}"),
        }
        text = match text.strip_prefix(' ') {
            Some(more) => more,
            None if text.is_empty() => text,
            None => panic!("attributes are apart: {text}"),
        };
        attributes.push((key, value));
    }
    attributes
}

/// Every `&` is a reference, and nothing else is markup.
fn escaped(text: &str) {
    assert!(!text.contains(['<', '>']), "{text}");
    for after in text.split('&').skip(1) {
        let known = ["amp;", "lt;", "gt;", "quot;", "#39;"];
        assert!(
            known.iter().any(|name| after.starts_with(name)),
            "&{after:.20}"
        );
    }
}
