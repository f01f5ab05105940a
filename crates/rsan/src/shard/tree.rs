//! The parts that there are in some folders, and those that are missing.

use super::{Kept, Part, Shard};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The parts of one work.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    results: BTreeMap<Shard, (PathBuf, Kept)>,
    /// In how many parts there are the whole (`None`) and what parts have left: a folder is enough.
    split: BTreeMap<Option<Shard>, usize>,
}

/// A part that has to be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Open {
    /// There is no result.
    Missing(Shard),
    /// There is a result, and something left.
    Unfinished(Shard),
}

impl Tree {
    /// All parts in these folders.
    ///
    /// # Errors
    /// The message for the user: a folder or a result cannot be read, or they do not belong together.
    pub(crate) fn read(folders: &[PathBuf]) -> Result<Self, String> {
        let mut tree = Self::default();
        for folder in folders {
            for (shard, folder) in shards(folder)? {
                tree.add(shard, folder)?;
            }
        }
        let mut asked = tree.results.values();
        if let Some((first, kept)) = asked.next() {
            for (folder, other) in asked {
                if let Some(difference) = kept.asked.difference(&other.asked) {
                    let (one, other) = (first.display(), folder.display());
                    return Err(format!(
                        "{one} and {other} answer different questions; {difference}"
                    ));
                }
            }
        }
        Ok(tree)
    }

    fn add(&mut self, shard: Shard, folder: PathBuf) -> Result<(), String> {
        let kept = Kept::read(&folder, &shard)?;
        let Part { of, .. } = shard.last();
        match self.split.insert(shard.parent(), of) {
            Some(other) if other != of => {
                let what = shard
                    .parent()
                    .map_or("the whole".to_owned(), |p| format!("what shard {p} left"));
                let (less, more) = (of.min(other), of.max(other));
                return Err(format!(
                    "{}: {what} was split in {less} and in {more} parts",
                    folder.display()
                ));
            }
            _ => {}
        }
        let Some(kept) = kept else {
            return Ok(());
        };
        let place = folder.display().to_string();
        match self.results.insert(shard.clone(), (folder, kept)) {
            None => Ok(()),
            Some((other, _)) => Err(format!(
                "shard {shard} is there twice: {} and {place}",
                other.display()
            )),
        }
    }

    /// In how many parts the whole is split.
    pub(crate) fn of(&self) -> Option<usize> {
        self.split.get(&None).copied()
    }

    /// Whether something that a part left was given to others.
    pub(crate) fn is_split(&self, shard: &Shard) -> bool {
        self.split.contains_key(&Some(shard.clone()))
    }

    /// A result.
    pub(crate) fn get(&self, shard: &Shard) -> Option<&Kept> {
        self.results.get(shard).map(|(_, kept)| kept)
    }

    /// The results that count, those of unfinished parts before those of their parts, and what is missing of the whole in so many parts.
    pub(crate) fn walk(&self, of: usize) -> (Vec<(&Shard, &Path, &Kept)>, Vec<Open>) {
        let (mut counted, mut open) = (Vec::new(), Vec::new());
        for number in 1..=of {
            self.below(&Shard::new(Part { of, number }), &mut counted, &mut open);
        }
        (counted, open)
    }

    fn below<'a>(
        &'a self,
        shard: &Shard,
        counted: &mut Vec<(&'a Shard, &'a Path, &'a Kept)>,
        open: &mut Vec<Open>,
    ) {
        let Some((shard, (folder, kept))) = self.results.get_key_value(shard) else {
            open.push(Open::Missing(shard.clone()));
            return;
        };
        counted.push((shard, folder.as_path(), kept));
        match self.split.get(&Some(shard.clone())) {
            // A finished part needs no others, whoever made some.
            _ if kept.finished => {}
            None => open.push(Open::Unfinished(shard.clone())),
            Some(&of) => {
                for number in 1..=of {
                    self.below(&shard.child(Part { of, number }), counted, open);
                }
            }
        }
    }
}

/// The folders of parts in a folder, or the folder itself.
fn shards(folder: &Path) -> Result<Vec<(Shard, PathBuf)>, String> {
    let named = |path: &Path| Shard::of_folder(path.file_name()?.to_str()?);
    if let Some(shard) = named(folder) {
        return Ok(vec![(shard, folder.to_owned())]);
    }
    let fail = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        all.extend(named(&path).map(|shard| (shard, path)));
    }
    all.sort();
    Ok(all)
}
