//! The reader: a line as values.

use crate::finding::{Address, Finding};
use crate::{Entry, Event, Line, SCHEMA};
use rsan_model::{Model, RmwOrd};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// A line that is none of a log: torn, or of another version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unreadable(String);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a line of a log: {}", self.0)
    }
}

impl std::error::Error for Unreadable {}

impl From<serde_json::Error> for Unreadable {
    fn from(error: serde_json::Error) -> Self {
        Self(error.to_string())
    }
}

/// What all lines have.
#[derive(Deserialize)]
struct Head {
    schema: String,
    pid: u32,
    kind: String,
    step: Option<u64>,
}

impl FromStr for Line<'static> {
    type Err = Unreadable;

    fn from_str(text: &str) -> Result<Self, Unreadable> {
        let value: serde_json::Value = serde_json::from_str(text)?;
        let head = Head::deserialize(&value)?;
        if head.schema != SCHEMA {
            return Err(Unreadable(format!("of version {}", head.schema)));
        }
        let entry = if Finding::KINDS.contains(&head.kind.as_str()) {
            Entry::Finding {
                finding: Box::new(Finding::deserialize(&value)?),
                step: head.step,
            }
        } else {
            Entry::Event(Event::deserialize(&value)?)
        };
        Ok(Self {
            pid: head.pid,
            entry,
        })
    }
}

/// Something that stands there by its name.
pub(crate) fn by_name<'de, D: Deserializer<'de>, T>(
    from: D,
    find: impl FnOnce(&str) -> Option<T>,
) -> Result<T, D::Error> {
    let name = Cow::<str>::deserialize(from)?;
    find(&name).ok_or_else(|| D::Error::custom(format!("unknown name `{name}`")))
}

fn if_any<'de, D: Deserializer<'de>, T>(
    from: D,
    find: impl FnOnce(&str) -> Option<T>,
) -> Result<Option<T>, D::Error> {
    let Some(name) = Option::<Cow<str>>::deserialize(from)? else {
        return Ok(None);
    };
    let unknown = || D::Error::custom(format!("unknown `{name}`"));
    find(&name).map(Some).ok_or_else(unknown)
}

fn find_order(name: &str) -> Option<RmwOrd> {
    RmwOrd::ALL.into_iter().find(|order| order.name() == name)
}

pub(crate) fn order<'de, D: Deserializer<'de>>(from: D) -> Result<RmwOrd, D::Error> {
    by_name(from, find_order)
}

pub(crate) fn order_if_any<'de, D: Deserializer<'de>>(from: D) -> Result<Option<RmwOrd>, D::Error> {
    if_any(from, find_order)
}

pub(crate) fn decimal_if_any<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u128>, D::Error> {
    if_any(from, |text| text.parse().ok())
}

pub(crate) fn model<'de, D: Deserializer<'de>>(from: D) -> Result<Model, D::Error> {
    by_name(from, |name| name.parse().ok())
}

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        by_name(from, |text| {
            let number = u64::from_str_radix(text.strip_prefix("0x")?, 16);
            number.ok().map(Self)
        })
    }
}
