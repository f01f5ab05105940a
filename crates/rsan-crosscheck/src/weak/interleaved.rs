//! Interleavings: which reads of older writes leave sequential consistency (docs/theory/weak.md, E8).

use super::choices::Choice;
use super::execute::{Explorer, Run};
use super::{Memory, Name};
use rsan_axioms::consistent;
use rsan_model::{Event, EventId, Graph, Label, Model, Pc, ThreadId};
use std::collections::HashMap;

impl Explorer<'_> {
    /// Whether a thread would read another write than the last one. What the engine says of it is compared with the axioms.
    pub(super) fn is_older<M: Memory>(
        &mut self,
        run: &Run<M>,
        t: usize,
        choice: &Choice<M::Write>,
    ) -> bool {
        let loc = choice.label.loc().expect("an access");
        let at = run.locations[loc.index()];
        let writes = run.memory.writes(at);
        if writes.last().is_some_and(|last| last.id == choice.write) {
            return false;
        }
        let by = run.threads[t].as_ref().expect("it runs");
        let leaves = consistent(Model::Sc, &self.graph(run, t, choice)).is_err();
        self.found.older.0 += 1;
        self.found.older.1 += u64::from(leaves);
        if leaves != run.memory.leaves_sc(by, at, choice.write) {
            self.found.wrong = Some(choice.label);
        }
        true
    }

    /// The graph of an interleaving, and of one more read.
    fn graph<M: Memory>(&self, run: &Run<M>, t: usize, next: &Choice<M::Write>) -> Graph {
        let mut graph = Graph::initial(self.program.locations.iter().map(|l| l.init));
        let mut ids: HashMap<Name, EventId> = HashMap::new();
        let mut sources: Vec<(EventId, Label, Name)> = Vec::new();
        for (thread, events) in run.state.events.iter().enumerate() {
            let more = (thread == t).then_some((next.label, Some(next.source)));
            for (i, (label, source)) in events.iter().copied().chain(more).enumerate() {
                let id = graph.push(Event {
                    thread: Some(ThreadId::new(thread)),
                    pc: Pc(0),
                    label,
                });
                ids.insert(Name(thread as u32 + 1, i as u32), id);
                sources.extend(source.map(|source| (id, label, source)));
            }
        }
        for (read, label, source) in sources {
            let initial = label.loc().map(|loc| EventId::new(loc.index()));
            let write = ids.get(&source).copied().or(initial);
            graph.set_rf(read, write.expect("it reads a location"));
        }
        for (loc, at) in run.locations.iter().enumerate() {
            let loc = rsan_model::LocId::new(loc);
            let mut order: Vec<Name> = Vec::new();
            for write in run.memory.writes(*at) {
                let name = Name::of_tag(write.tag);
                order.push(name);
                if name == next.source && next.label.is_rmw() && next.label.loc() == Some(loc) {
                    order.push(run.next_name(t));
                }
            }
            for (position, name) in order.into_iter().enumerate().skip(1) {
                graph.insert_mo(ids[&name], loc, position);
            }
        }
        graph
    }
}
