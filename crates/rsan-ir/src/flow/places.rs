//! What is known of a finished graph: which edges go back, loops, and what only one thread can do.

use super::{Doing, Graph, NodeId};
use crate::alias::{ANY, Spot};

/// Fills in what needs the whole graph.
pub(super) fn finish(graph: &mut Graph) {
    mark_back_edges(graph);
    graph.depth = depths(graph);
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
            leave_out_alone(graph, root);
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
fn depths(graph: &Graph) -> Vec<u8> {
    const DEEPEST: u8 = 4;
    let mut depth = vec![0; graph.nodes.len()];
    let mut cut: Vec<bool> = vec![false; graph.nodes.len()];
    for level in 1..=DEEPEST {
        let components = crate::cycles::components(graph.nodes.len(), |node, visit| {
            for (next, _) in &graph.next[node] {
                if !cut[*next as usize] {
                    visit(*next as usize);
                }
            }
        });
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
    depth
}

/// Accesses of a thread that runs once, before it starts another one and after it has waited for all: nobody is there then.
fn leave_out_alone(graph: &mut Graph, root: usize) {
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
        return;
    }
    let component = crate::cycles::components(graph.nodes.len(), |node, visit| {
        graph.next[node]
            .iter()
            .for_each(|(next, _)| visit(*next as usize));
    });
    let mut accompanied = vec![false; graph.nodes.len()];
    for (start, handle) in &starts {
        let reached = running(graph, *start, handle, &component);
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
}

/// Where the thread that `start` starts may still run. It has ended behind a wait for the same handle; handles in an array are waited for in
/// a loop, and all have ended behind that.
fn running(graph: &Graph, start: NodeId, handle: &[Spot], component: &[usize]) -> Vec<bool> {
    let in_array = handle.iter().any(|s| s.1 == ANY);
    let waits = |node: NodeId| match &graph.nodes[node as usize].doing {
        Doing::Join(joined) => handle.len() == 1 && joined == handle,
        _ => false,
    };
    let mut loops = vec![false; graph.nodes.len()];
    for node in 0..graph.nodes.len() {
        let looping = graph.depth[node] > 0;
        loops[component[node]] |= looping && waits(node as NodeId);
    }
    let ends = |node: NodeId, next: NodeId| {
        let (here, there) = (component[node as usize], component[next as usize]);
        if in_array {
            loops[here] && here != there
        } else {
            waits(node)
        }
    };
    let reach = |ends: &dyn Fn(NodeId, NodeId) -> bool| {
        let mut seen = vec![false; graph.nodes.len()];
        let mut again = false;
        let mut work = vec![start];
        while let Some(node) = work.pop() {
            for (next, _) in &graph.next[node as usize] {
                if ends(node, *next) {
                    continue;
                }
                again |= *next == start;
                if !seen[*next as usize] {
                    seen[*next as usize] = true;
                    work.push(*next);
                }
            }
        }
        (seen, again)
    };
    match reach(&ends) {
        // One handle for several threads: only the last one is waited for.
        (_, true) if !in_array => reach(&|_, _| false).0,
        (seen, _) => seen,
    }
}
