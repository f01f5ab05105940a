//! Locks of libraries: what they protect communicates by them.
//!
//! *Decides*: which locks are held at an access on every path. If two accesses of different threads that meet hold one lock, the one's critical section ends
//! before the other's begins. A cycle that goes from the one to the other can as well go from the
//! unlock to the lock: before the one everything is ordered, after the other everything, by release and acquire. So that communication is
//! left out, and that from unlock to lock is put in.
//!
//! *Deviations*: only locks that are global variables are followed, and not on Power, where a release and an acquire do not order what several
//! threads see; `trylock` orders nothing. All of that can add a warning and never hides one.

use crate::alias::{Aliases, Spot, Stopped};
use crate::cycles::LOOK;
use crate::flow::{Base, Doing, Graph, Same};
use crate::order::Part;
use rsan_model::machine::Machine;
use std::collections::{BTreeSet, HashMap};

/// Notes the locks that accesses hold.
pub(crate) fn refine(
    graph: &mut Graph,
    aliases: &Aliases<'_>,
    to: Machine,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<(), Stopped> {
    let is_lock = |part: Part| matches!(part, Part::Lock | Part::Unlock);
    if to == Machine::Power {
        let locks = graph
            .events
            .iter_mut()
            .filter(|e| is_lock(e.operation.part));
        locks.for_each(|e| e.live = false);
        return Ok(());
    }
    if !graph.events.iter().any(|e| is_lock(e.operation.part)) {
        return Ok(());
    }
    let held = held(graph, aliases, go_on)?;
    let mut numbers: HashMap<(u32, Vec<Spot>), u32> = HashMap::new();
    for event in &mut graph.events {
        let Some(held) = &held[event.node as usize] else {
            continue;
        };
        if held.is_empty() || is_lock(event.operation.part) {
            continue;
        }
        let held: Vec<Spot> = held.iter().copied().collect();
        let class = numbers
            .entry((event.class, held.clone()))
            .or_insert_with(|| {
                let mut class = graph.classes[event.class as usize].clone();
                class.held = held;
                graph.classes.push(class);
                graph.classes.len() as u32 - 1
            });
        event.class = *class;
    }
    Ok(())
}

/// The locks that are held before each node, on every path; `None` where no path leads.
fn held(
    graph: &Graph,
    aliases: &Aliases<'_>,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Vec<Option<BTreeSet<Spot>>>, Stopped> {
    let mut turns = 0_u32;
    let mut held: Vec<Option<BTreeSet<Spot>>> = vec![None; graph.nodes.len()];
    let mut work = Vec::new();
    for (_, entry) in &graph.roots {
        held[*entry as usize] = Some(BTreeSet::new());
        work.push(*entry);
    }
    while let Some(node) = work.pop() {
        turns = turns.wrapping_add(1);
        if turns.is_multiple_of(LOOK) && !go_on() {
            return Err(Stopped);
        }
        let Some(mut after) = held[node as usize].clone() else {
            continue;
        };
        change(
            graph,
            aliases,
            &graph.nodes[node as usize].doing,
            &mut after,
        );
        for (next, _) in &graph.next[node as usize] {
            let before = &mut held[*next as usize];
            let common = match before {
                Some(before) => before.intersection(&after).copied().collect(),
                None => after.clone(),
            };
            if before.as_ref() != Some(&common) {
                *before = Some(common);
                work.push(*next);
            }
        }
    }
    Ok(held)
}

/// What a step does to the locks that are held.
fn change(graph: &Graph, aliases: &Aliases<'_>, doing: &Doing, held: &mut BTreeSet<Spot>) {
    let Doing::Access(event) = doing else {
        return;
    };
    let event = &graph.events[*event as usize];
    let one = match event.same {
        Some(Same {
            base: Base::Object(object),
            offset,
            ..
        }) if aliases.is_one(object) => i32::try_from(offset).ok().map(|offset| (object, offset)),
        _ => None,
    };
    match (event.operation.part, one) {
        (Part::Lock, Some(lock)) => {
            held.insert(lock);
        }
        (Part::Unlock, Some(lock)) => {
            held.remove(&lock);
        }
        (Part::Unlock, None) => held.clear(),
        _ => {}
    }
}
