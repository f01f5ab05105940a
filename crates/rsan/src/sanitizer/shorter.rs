//! Long chains, made short enough to read and to ask the oracle about.
//!
//! A chain is a way through the notes of the runtime, which has one only where a thread learnt something. So a thread that reads what a hundred
//! others wrote may have learnt of all of them from the last one, and the only way to the first that is known goes through all.
//!
//! **What is left out**: threads that acquire what the one before has released, and release in turn. The way from the first such write to the last such
//! read is happens-before, however many threads are on it, and the links in between have no other edge of the chain. A seq_cst fence on
//! it orders, too; the first one is kept, with the accesses around it. The others are between that one and the end of the way, so
//! every path of `psc` through one of them has a twin through the first.

use rsan_log::{Chain, Edge, Link, Operation};
use rsan_model::RmwOrd;

/// Links of a chain that is left as it is.
const READABLE: usize = 12;

/// A chain without what only passes on.
pub(super) struct Short<'a> {
    /// What is told: where threads are left out, the edge is that of a lock, which says that one happens before the other.
    pub(super) shown: Chain<'a>,
    /// What the oracle is asked about: the last reader reads the first write itself.
    pub(super) meant: Chain<'a>,
    /// Threads that are left out.
    pub(super) left_out: usize,
}

/// Everything between a write and a later read is left out.
type Jump = (usize, usize);

/// Makes a chain short.
pub(super) fn of<'a>(chain: &Chain<'a>) -> Short<'a> {
    let links = &chain.links;
    let (jumps, dropped) = match links.len() > READABLE {
        true => plan(links),
        false => Default::default(),
    };
    let is_kept = |index: usize| {
        let inside = jumps
            .iter()
            .any(|(from, to)| (from + 1..*to).contains(&index));
        !inside && !dropped.contains(&index)
    };
    let kept: Vec<_> = (0..links.len()).filter(|index| is_kept(*index)).collect();
    let with = |links| Chain {
        links,
        ..chain.clone()
    };
    let mut shown: Vec<_> = kept.iter().map(|index| links[*index].clone()).collect();
    let mut meant = shown.clone();
    for (from, to) in &jumps {
        let place = |index: &usize| kept.iter().position(|kept| kept == index);
        if let (Some(from), Some(to)) = (place(from), place(to)) {
            shown[from].edge = Some(Edge::Lock);
            meant[to].address = meant[from].address;
        }
    }
    let threads = |links: &[Link<'_>]| {
        let mut threads: Vec<_> = links.iter().map(|link| link.thread).collect();
        threads.sort_unstable();
        threads.dedup();
        threads.len()
    };
    Short {
        left_out: threads(links) - threads(&shown),
        shown: with(shown),
        meant: with(meant),
    }
}

/// Which links can go: jumps, and fences.
fn plan(links: &[Link<'_>]) -> (Vec<Jump>, Vec<usize>) {
    let (mut jumps, mut dropped) = (Vec::new(), Vec::new());
    let mut hops = (0..links.len()).filter(|at| is_hop(links, *at)).peekable();
    while let Some(first) = hops.next() {
        let mut run = vec![first];
        while let Some(next) = hops.next_if(|next| is_joined(links, run[run.len() - 1], *next)) {
            run.push(next);
        }
        // The last reader is to read another location, so no edge of the chain may rest on its own.
        while run
            .last()
            .is_some_and(|last| links[last + 1].edge != Some(Edge::Po))
        {
            run.pop();
        }
        let start = run.iter().position(|hop| is_alone(links, *hop));
        let run = &run[start.unwrap_or(run.len())..];
        let Some(last) = run.last().map(|last| last + 1) else {
            continue;
        };
        let between = |pair: &[usize]| pair[0] + 2..pair[1];
        let is_sc = |at: &usize| links[*at].order == RmwOrd::SeqCst;
        let fenced = run
            .windows(2)
            .position(|pair| between(pair).any(|at| is_sc(&at)));
        match fenced {
            None => jumps.push((run[0], last)),
            Some(at) if is_alone(links, run[at + 1]) => {
                jumps.push((run[0], run[at] + 1));
                let fences = between(&run[at..at + 2]);
                let kept = fences.clone().find(is_sc);
                dropped.extend(fences.filter(|fence| Some(*fence) != kept));
                jumps.push((run[at + 1], last));
            }
            Some(_) => {}
        }
    }
    jumps.retain(|(from, to)| *to > from + 1);
    (jumps, dropped)
}

/// Whether a link releases what the next one, of another thread, acquires.
fn is_hop(links: &[Link<'_>], at: usize) -> bool {
    let [Some(write), Some(read)] = [at, at + 1].map(|at| links.get(at)) else {
        return false;
    };
    let writes = matches!(write.operation, Operation::Store | Operation::Rmw);
    let reads = matches!(read.operation, Operation::Load | Operation::Rmw);
    let synchronises = writes && write.order.releases() && reads && read.order.acquires();
    write.edge == Some(Edge::Rf) && synchronises && write.thread != read.thread
}

/// Whether the reader of one hop is the writer of the next, with nothing but fences in between.
fn is_joined(links: &[Link<'_>], hop: usize, next: usize) -> bool {
    let read = &links[hop + 1];
    let mut between = links[hop + 2..next.max(hop + 2)].iter();
    let fences = between.all(|link| link.operation == Operation::Fence);
    next > hop + 1 && read.edge == Some(Edge::Po) && fences && links[next].thread == read.thread
}

/// Whether no other link of the chain accesses the location of a hop.
fn is_alone(links: &[Link<'_>], hop: usize) -> bool {
    let others = links.iter().enumerate();
    let mut others = others.filter(|(at, _)| ![hop, hop + 1].contains(at));
    others.all(|(_, link)| link.address != links[hop].address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rsan_log::Address;

    /// A link, as `thread operation order address edge`.
    fn link(text: &str) -> Link<'static> {
        let words: Vec<_> = text.split(' ').collect();
        let operation = match words[1] {
            "R" => Operation::Load,
            "W" => Operation::Store,
            "U" => Operation::Rmw,
            _ => Operation::Fence,
        };
        let order = match words[2] {
            "rlx" => RmwOrd::Relaxed,
            "acq" => RmwOrd::Acquire,
            "rel" => RmwOrd::Release,
            _ => RmwOrd::SeqCst,
        };
        let edge = match words[4] {
            "po" => Some(Edge::Po),
            "rf" => Some(Edge::Rf),
            "fr" => Some(Edge::Fr),
            _ => None,
        };
        Link {
            thread: words[0].parse().expect("a number"),
            operation,
            order,
            address: words[3].parse().ok().map(Address),
            memory: None,
            stack: Vec::new(),
            edge,
            quiet: false,
        }
    }

    /// A write that is missed, a way through many threads, and the access.
    fn chain(fence: &str) -> Chain<'static> {
        let mut links = vec![link("0 W rlx 1 po"), link("0 U rel 100 rf")];
        for thread in 1..10 {
            links.push(link(&format!("{thread} R acq {} po", 99 + thread)));
            if !fence.is_empty() {
                links.push(link(&format!("{thread} F {fence} - po")));
            }
            links.push(link(&format!("{thread} U rel {} rf", 100 + thread)));
        }
        links.push(link("10 R acq 109 po"));
        links.push(link("10 R rlx 2 fr"));
        links.push(link("11 W rlx 2 po"));
        links.push(link("11 R rlx 1 -"));
        Chain {
            fences_known: true,
            links,
        }
    }

    fn text(chain: &Chain<'_>) -> String {
        let links = chain.links.iter().map(|link| {
            let address = link.address.map_or(0, |address| address.0);
            let edge = link.edge.map_or(String::new(), |edge| format!("{edge:?}"));
            format!("{}:{address}{edge}", link.thread)
        });
        links.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn threads_that_only_pass_on_are_left_out() {
        for fence in ["", "acq", "rel"] {
            let short = of(&chain(fence));
            let shown = "0:1Po 0:100Lock 10:109Po 10:2Fr 11:2Po 11:1";
            assert_eq!((text(&short.shown), short.left_out), (shown.to_owned(), 9));
            let meant = "0:1Po 0:100Rf 10:100Po 10:2Fr 11:2Po 11:1";
            assert_eq!(text(&short.meant), meant);
        }
    }

    #[test]
    fn one_fence_is_kept() {
        let short = of(&chain("sc"));
        let shown = "0:1Po 0:100Rf 1:100Po 1:0Po 1:101Lock 10:109Po 10:2Fr 11:2Po 11:1";
        assert_eq!((text(&short.shown), short.left_out), (shown.to_owned(), 8));
    }

    #[test]
    fn what_does_not_synchronise_stays() {
        let mut weak = chain("");
        let all = weak.links.len();
        // The reader in the middle does not acquire.
        let middle = weak.links.iter().position(|link| link.thread == 5);
        weak.links[middle.expect("it is there")].order = RmwOrd::Relaxed;
        let short = of(&weak);
        let kept = "0:1Po 0:100Lock 4:103Po 4:104Rf 5:104Po 5:105Lock 10:109Po 10:2Fr 11:2Po 11:1";
        assert_eq!(text(&short.shown), kept);
        // All are of one location, which orders them otherwise, too.
        let mut same = chain("");
        let location = same.links[1].address;
        for link in &mut same.links[1..all - 3] {
            link.address = location;
        }
        assert_eq!(of(&same).shown.links.len(), all);
    }
}
