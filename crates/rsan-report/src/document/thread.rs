//! What threads are called.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A thread of a program.
#[derive(
    Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(into = "String", from = "String")]
pub enum Thread {
    /// The one that runs `main`.
    Main,
    /// Another one, by the order in which they are created, from 1.
    Number(u32),
    /// A thread with a name in the source.
    Name(String),
}

impl Thread {
    /// The thread of a run, of which 0 runs `main`.
    pub fn of_run(number: u32) -> Self {
        match number {
            0 => Self::Main,
            other => Self::Number(other),
        }
    }

    /// The thread as the subject of a sentence.
    pub fn subject(&self) -> String {
        match self {
            Self::Main => "the main thread".to_owned(),
            Self::Number(_) => self.to_string(),
            Self::Name(name) => format!("thread {name}"),
        }
    }
}

impl fmt::Display for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Main => f.pad("main thread"),
            Self::Number(number) => f.pad(&format!("thread {number}")),
            Self::Name(name) => f.pad(name),
        }
    }
}

impl From<Thread> for String {
    fn from(thread: Thread) -> Self {
        thread.to_string()
    }
}

impl From<String> for Thread {
    fn from(text: String) -> Self {
        let number = text.strip_prefix("thread ").map(str::parse);
        match (text.as_str(), number) {
            ("main thread", _) => Self::Main,
            (_, Some(Ok(number))) => Self::Number(number),
            _ => Self::Name(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for thread in [
            Thread::Main,
            Thread::Number(7),
            Thread::Name("P0".to_owned()),
        ] {
            assert_eq!(Thread::from(String::from(thread.clone())), thread);
        }
    }
}
