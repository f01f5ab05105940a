//! An interleaving in which every read reads the last write, looked for greedily.

use super::graph::Graph;
use super::{Run, writes};
use std::collections::{BTreeMap, BTreeSet};

/// Whether there is one; if not, there may be one all the same.
pub(super) fn exists(run: &Run<'_>, graph: &Graph) -> bool {
    let mut search = Search::new(run, graph);
    while let Some(step) = search.next() {
        search.make(step);
    }
    search.left == 0
}

struct Search<'r> {
    run: &'r Run<'r>,
    graph: &'r Graph,
    /// Edges from steps that are not made to each step.
    waits: Vec<usize>,
    ready: BTreeSet<usize>,
    /// The last write of each object.
    last: BTreeMap<u64, usize>,
    /// How many reads of each write are not made.
    unread: BTreeMap<(u64, Option<usize>), usize>,
    /// What each reading step reads.
    from: BTreeMap<usize, (u64, Option<usize>)>,
    left: usize,
}

impl<'r> Search<'r> {
    fn new(run: &'r Run<'r>, graph: &'r Graph) -> Self {
        let waits = graph.incoming();
        let mut unread = BTreeMap::new();
        let mut from = BTreeMap::new();
        for read in &run.reads {
            let what = (read.object, read.from);
            // What reads of initial values come before is in the graph.
            let counted = usize::from(read.from.is_some());
            *unread.entry(what).or_default() += counted;
            from.insert(read.step, what);
        }
        Self {
            run,
            graph,
            ready: (0..waits.len()).filter(|step| waits[*step] == 0).collect(),
            left: waits.len(),
            waits,
            last: BTreeMap::new(),
            unread,
            from,
        }
    }

    /// A step that can be made: one that overwrites nothing that is still to be read, in the order of the run.
    fn next(&self) -> Option<usize> {
        let mut ready = self.ready.iter().copied();
        ready.find(|step| self.can(*step))
    }

    fn can(&self, step: usize) -> bool {
        let object = self.run.steps[step].op.object;
        let last = self.last.get(&object).copied();
        let from = self.from.get(&step);
        // Memory that is used again has no last write.
        let is_last = from.is_none_or(|(_, from)| *from == last || from.is_none());
        let own = usize::from(from.is_some_and(|(_, from)| from.is_some()));
        let unread = self.unread.get(&(object, last)).copied().unwrap_or(0);
        let overwrites = writes(&self.run.steps[step]) && unread > own;
        is_last && !overwrites
    }

    fn make(&mut self, step: usize) {
        self.ready.remove(&step);
        self.left -= 1;
        if let Some(unread) = self
            .from
            .get(&step)
            .and_then(|what| self.unread.get_mut(what))
        {
            *unread = unread.saturating_sub(1);
        }
        if writes(&self.run.steps[step]) {
            self.last.insert(self.run.steps[step].op.object, step);
        }
        for (to, _) in self.graph.after(step) {
            self.waits[*to] -= 1;
            if self.waits[*to] == 0 {
                self.ready.insert(*to);
            }
        }
    }
}
