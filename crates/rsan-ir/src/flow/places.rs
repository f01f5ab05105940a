//! What is known of a finished graph: which edges go back, loops, and what only one thread can do.

use super::{Doing, Graph, NodeId};
use crate::alias::{ANY, Spot, Stopped};
use crate::cycles::LOOK;

/// Fills in what needs the whole graph.
pub(super) fn finish(graph: &mut Graph, go_on: &mut dyn FnMut() -> bool) -> Result<(), Stopped> {
    mark_back_edges(graph);
    graph.depth = depths(graph, go_on)?;
    while let Some(root) = started_once(graph) {
        graph.roots[root].0.once = true;
        graph.roots[root]
            .0
            .thread
            .reason
            .insert_str("started".len(), " once");
    }
    for root in 0..graph.roots.len() {
        if graph.roots[root].0.main {
            leave_out_alone(graph, root, go_on)?;
        }
        if !graph.roots[root].0.once {
            let root = root as u32;
            for class in &mut graph.classes {
                if class.once == Some(root) {
                    class.once = None;
                }
            }
        }
    }
    Ok(())
}

/// A root that, it turns out, only one step starts, which is taken at most once.
fn started_once(graph: &Graph) -> Option<usize> {
    let starts = || {
        graph
            .nodes
            .iter()
            .enumerate()
            .filter_map(|(node, at)| match &at.doing {
                Doing::Start(start) => Some((node, start)),
                _ => None,
            })
    };
    if starts().any(|(_, start)| !start.single) {
        return None;
    }
    (0..graph.roots.len()).find(|root| {
        let root = &graph.roots[*root].0;
        let mine: Vec<usize> = starts()
            .filter(|(_, start)| start.functions.contains(&root.thread.function))
            .map(|(node, _)| node)
            .collect();
        let once = |node: usize| {
            let starter = graph.contexts[graph.nodes[node].context as usize].root;
            graph.depth[node] == 0 && graph.roots[starter as usize].0.once
        };
        !root.once && root.started && matches!(mine[..], [node] if once(node))
    })
}

/// An edge goes back if it leads to a node that comes no later in reverse postorder.
fn mark_back_edges(graph: &mut Graph) {
    let mut order = vec![u32::MAX; graph.nodes.len()];
    let mut count = graph.nodes.len() as u32;
    let mut seen = vec![false; graph.nodes.len()];
    for (_, entry) in &graph.roots {
        let mut stack = vec![(*entry, 0)];
        seen[*entry as usize] = true;
        while let Some((node, index)) = stack.pop() {
            match graph.next[node as usize].get(index) {
                Some((next, _)) => {
                    stack.push((node, index + 1));
                    if !seen[*next as usize] {
                        seen[*next as usize] = true;
                        stack.push((*next, 0));
                    }
                }
                None => {
                    count -= 1;
                    order[node as usize] = count;
                }
            }
        }
    }
    for (node, nexts) in graph.next.iter_mut().enumerate() {
        for (next, back) in nexts {
            *back = order[*next as usize] <= order[node];
        }
    }
}

/// In how many loops each node is: strongly connected components, then those that are left without the edges back to their
/// first node, and so on.
fn depths(graph: &Graph, go_on: &mut dyn FnMut() -> bool) -> Result<Vec<u8>, Stopped> {
    const DEEPEST: u8 = 4;
    let mut depth = vec![0; graph.nodes.len()];
    let mut cut: Vec<bool> = vec![false; graph.nodes.len()];
    for level in 1..=DEEPEST {
        let successors = |node: usize, visit: &mut dyn FnMut(usize)| {
            for (next, _) in &graph.next[node] {
                if !cut[*next as usize] {
                    visit(*next as usize);
                }
            }
        };
        let components = crate::cycles::components(graph.nodes.len(), successors, go_on)?;
        let mut size = vec![0_u32; graph.nodes.len()];
        let mut loops = vec![false; graph.nodes.len()];
        for (node, component) in components.iter().enumerate() {
            size[*component] += 1;
            let to_itself = |(next, _): &(NodeId, bool)| *next as usize == node && !cut[node];
            loops[*component] |= size[*component] > 1 || graph.next[node].iter().any(to_itself);
        }
        let mut any = false;
        for (node, component) in components.iter().enumerate() {
            if loops[*component] {
                depth[node] = level;
                any = true;
            }
        }
        if !any {
            break;
        }
        // Its first node is where an edge that goes back inside the component leads.
        let mut heads = Vec::new();
        for (node, nexts) in graph.next.iter().enumerate() {
            for (next, back) in nexts {
                let inside = components[*next as usize] == components[node];
                if *back && inside && loops[components[node]] {
                    heads.push((components[node], *next));
                }
            }
        }
        heads.sort_unstable();
        heads.dedup_by_key(|(component, _)| *component);
        for (_, head) in heads {
            cut[head as usize] = true;
        }
    }
    Ok(depth)
}

/// Accesses of a thread that runs once, before it starts another one and after it has waited for all: nobody is there then.
fn leave_out_alone(
    graph: &mut Graph,
    root: usize,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<(), Stopped> {
    let mine = |graph: &Graph, node: usize| {
        graph.contexts[graph.nodes[node].context as usize].root as usize == root
    };
    let starts: Vec<(NodeId, Vec<Spot>)> = (0..graph.nodes.len())
        .filter(|node| mine(graph, *node))
        .filter_map(|node| match &graph.nodes[node].doing {
            Doing::Start(start) => Some((node as NodeId, start.handle.clone())),
            _ => None,
        })
        .collect();
    if starts.is_empty() {
        return Ok(());
    }
    let mut accompanied = vec![false; graph.nodes.len()];
    for (start, handle) in &starts {
        let reached = running(graph, *start, handle, go_on)?;
        for (node, reached) in reached.into_iter().enumerate() {
            accompanied[node] |= reached;
        }
    }
    for index in 0..graph.events.len() {
        let node = graph.events[index].node as usize;
        if mine(graph, node) && !accompanied[node] {
            graph.events[index].live = false;
        }
    }
    Ok(())
}

/// Where the thread that `start` starts may still run. It has ended behind a wait for the same handle, if that is one variable that is
/// not written again before. How many handles of an array a loop waits for is not known: their threads are taken to run on.
fn running(
    graph: &Graph,
    start: NodeId,
    handle: &[Spot],
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Vec<bool>, Stopped> {
    let one = matches!(handle, [(_, offset)] if *offset != ANY);
    let waits = |node: NodeId| matches!(&graph.nodes[node as usize].doing, Doing::Join(joined) if one && joined == handle);
    let overwrites = |node: NodeId| {
        let stores = |other: &[Spot]| other.is_empty() || other.iter().any(|s| handle.contains(s));
        matches!(&graph.nodes[node as usize].doing, Doing::Start(s) if stores(&s.handle))
    };
    let mut reach = |ends: &dyn Fn(NodeId) -> bool| {
        let mut seen = vec![false; graph.nodes.len()];
        let mut overwritten = false;
        let mut work = vec![start];
        let mut turns = 0_u32;
        while let Some(node) = work.pop() {
            turns = turns.wrapping_add(1);
            if turns.is_multiple_of(LOOK) && !go_on() {
                return Err(Stopped);
            }
            if ends(node) {
                continue;
            }
            for (next, _) in &graph.next[node as usize] {
                overwritten |= overwrites(*next);
                if !seen[*next as usize] {
                    seen[*next as usize] = true;
                    work.push(*next);
                }
            }
        }
        Ok((seen, overwritten))
    };
    match reach(&waits)? {
        // Of several threads with one handle, only the last one is waited for.
        (_, true) => Ok(reach(&|_| false)?.0),
        (seen, false) => Ok(seen),
    }
}
