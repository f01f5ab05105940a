//! What processes of one command tell each other about the modules of a program: the first that reads debug information for an address
//! keeps the answer in a file, and the others read that. A suite of a thousand tests, each a process, reads it once.
//!
//! A line of the file is a question, a tab and the answer, both JSON. Lines are added whole; one that was cut off (the disk is full) is none that can be
//! read, and its question is asked again.

use super::owner;
use crate::files;
use rsan_report::document::Frame;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The largest file: reading it has to be cheaper than debug information.
const LARGEST: u64 = 8 << 20;

static SHARED: OnceLock<Mutex<Shared>> = OnceLock::new();

struct Shared {
    file: PathBuf,
    /// Sources are shown relative to it.
    folder: PathBuf,
    known: Option<HashMap<String, String>>,
    /// Lines to add.
    new: String,
}

/// Makes this process use a file that others use, too. Modules must not change as long as they do.
pub(crate) fn share(file: PathBuf) {
    // A second call would name the same file.
    let _ = SHARED.set(Mutex::new(Shared::new(file)));
}

/// Tells the others what was found out.
pub(crate) fn tell() {
    if let Some(shared) = SHARED.get() {
        let shared = shared.lock();
        shared.unwrap_or_else(PoisonError::into_inner).tell();
    }
}

/// What is known, or what `find` finds.
pub(crate) fn answer<T: Serialize + DeserializeOwned>(
    what: &str,
    module: &str,
    offset: u64,
    find: impl FnOnce() -> T,
) -> T {
    let Some(shared) = SHARED.get() else {
        return find();
    };
    let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
    shared.answer(what, module, offset, find)
}

/// The frames of an address, which `find` finds.
pub(super) fn frames(module: &str, offset: u64, find: impl FnOnce() -> Vec<Frame>) -> Vec<Frame> {
    let find = || (find(), owner::commit());
    let (frames, commit) = answer("frames", module, offset, find);
    commit.into_iter().for_each(owner::set_commit);
    frames
}

impl Shared {
    fn new(file: PathBuf) -> Self {
        Self {
            file,
            folder: std::env::current_dir().unwrap_or_default(),
            known: None,
            new: String::new(),
        }
    }

    fn answer<T: Serialize + DeserializeOwned>(
        &mut self,
        what: &str,
        module: &str,
        offset: u64,
        find: impl FnOnce() -> T,
    ) -> T {
        let Ok(question) = serde_json::to_string(&(what, module, offset, &self.folder)) else {
            return find();
        };
        let known = self.known().get(&question);
        if let Some(answer) = known.and_then(|answer| serde_json::from_str(answer).ok()) {
            return answer;
        }
        let answer = find();
        if let Ok(text) = serde_json::to_string(&answer) {
            self.new.push_str(&format!("{question}\t{text}\n"));
            self.known().insert(question, text);
        }
        answer
    }

    fn known(&mut self) -> &mut HashMap<String, String> {
        let file = &self.file;
        self.known.get_or_insert_with(|| {
            let text = files::read_text(file, LARGEST).unwrap_or_default();
            let lines = text.lines().filter_map(|line| line.split_once('\t'));
            lines
                .map(|(question, answer)| (question.to_owned(), answer.to_owned()))
                .collect()
        })
    }

    fn tell(&mut self) {
        let new = std::mem::take(&mut self.new);
        if new.is_empty() {
            return;
        }
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&self.file);
        let fits = |file: &File| {
            let length = file.metadata().map_or(0, |metadata| metadata.len());
            length + new.len() as u64 <= LARGEST
        };
        if let Ok(mut file) = file
            && fits(&file)
        {
            // What cannot be told is found out again.
            let _ = file.write_all(new.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitizer::scratch::Scratch;

    #[test]
    fn what_one_has_found_the_others_know() {
        let scratch = Scratch::new().expect("a folder");
        let file = scratch.path().join("symbols");
        let ask = |shared: &mut Shared, offset, find: fn() -> u32| {
            shared.answer("line", "a\tmodule\n", offset, find)
        };
        let mut first = Shared::new(file.clone());
        assert_eq!(ask(&mut first, 1, || 7), 7);
        assert_eq!(ask(&mut first, 1, || unreachable!("it is known")), 7);
        first.tell();
        let mut second = Shared::new(file.clone());
        assert_eq!(ask(&mut second, 1, || unreachable!("it was told")), 7);
        assert_eq!(ask(&mut second, 2, || 8), 8);
        second.tell();
        // The disk was full at the end of the second line.
        let text = std::fs::read(&file).expect("the file is there");
        std::fs::write(&file, &text[..text.len() - 2]).expect("it is ours");
        let mut third = Shared::new(file);
        assert_eq!(ask(&mut third, 1, || unreachable!("it was told")), 7);
        assert_eq!(ask(&mut third, 2, || 9), 9);
    }
}
