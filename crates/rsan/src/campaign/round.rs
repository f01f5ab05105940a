//! What is open, as the shards of a round.

use super::Campaign;
use crate::shard::{Open, Part, Shard, Tree};
use std::fs;
use std::path::Path;

/// Where files of rounds are, in the folder of results.
pub(super) const FOLDER: &str = "campaign";

/// Shards to make at the same time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Round {
    /// From 1.
    pub(super) number: usize,
    pub(super) shards: Vec<Shard>,
}

impl Round {
    /// What is left, unless that is nothing, or just what the round before was to make.
    pub(super) fn next(
        campaign: &Campaign<'_>,
        before: Option<&Self>,
    ) -> Result<Option<Self>, String> {
        let out = &campaign.args.out;
        let tree = match out.is_dir() {
            true => Tree::read(std::slice::from_ref(out))?,
            false => Tree::default(),
        };
        let of = tree.of().unwrap_or(campaign.shards);
        if of != campaign.shards {
            return Err(format!(
                "{}: the work was split in {of} shards, which cannot be changed",
                out.display()
            ));
        }
        let (_, open) = tree.walk(of);
        let shards = shards(&open, campaign.shards);
        let is_same = before.is_some_and(|before| before.shards == shards);
        let number = 1 + rounds(&out.join(FOLDER));
        Ok((!shards.is_empty() && !is_same).then_some(Self { number, shards }))
    }
}

/// About so many shards: those that are missing, and parts of what others have left.
fn shards(open: &[Open], wanted: usize) -> Vec<Shard> {
    let unfinished = open
        .iter()
        .filter(|open| matches!(open, Open::Unfinished(_)));
    let missing = open.len() - unfinished.clone().count();
    let slots = wanted.saturating_sub(missing);
    let of = slots.div_ceil(unfinished.count().max(1)).max(2);
    let mut all = Vec::new();
    for open in open {
        match open {
            Open::Missing(shard) => all.push(shard.clone()),
            Open::Unfinished(shard) if shard.is_divisible() => {
                all.extend((1..=of).map(|number| shard.child(Part { of, number })));
            }
            // It goes on by itself.
            Open::Unfinished(shard) => all.push(shard.clone()),
        }
    }
    all
}

/// Rounds of which there are files.
fn rounds(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| {
        let name = entry.file_name();
        let name = name.to_str()?.strip_prefix("round-")?;
        name.split(['.', '-']).next()?.parse().ok()
    });
    numbers.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_split_again() {
        let shard = |text: &str| text.parse::<Shard>().expect("a shard");
        let open = [Open::Missing(shard("2/4")), Open::Unfinished(shard("3/4"))];
        let names: Vec<_> = shards(&open, 4).iter().map(Shard::to_string).collect();
        assert_eq!(names, ["2/4", "3/4.1/3", "3/4.2/3", "3/4.3/3"]);
        assert_eq!(shards(&open, 1).len(), 3);
        assert!(shards(&[], 4).is_empty());
    }
}
