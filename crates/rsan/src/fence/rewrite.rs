//! The repaired program as text.

use super::source::edited;
use rsan_model::automata::{Automata, Automaton, StateId};
use rsan_tso::FencePlace;

/// Automata with fences: each fenced control state gets a twin, which the transitions leave from now on, and an
/// `mfence` leads from the one to the other. `None` when the automata were not read from a text.
pub(super) fn automata(automata: &Automata, fences: &[FencePlace]) -> Option<String> {
    let source = automata.source.as_ref()?;
    // Edits of the text, by position: what is replaced, and by what.
    let mut edits: Vec<(usize, usize, String)> = Vec::new();
    for place in fences {
        let thread = &automata.threads[place.thread];
        let name = &thread.states[place.state.index()].name;
        let twin = twin(thread, name);
        let mut first = true;
        for transition in thread.transitions.iter().filter(|t| t.from == place.state) {
            let start = transition.span.start as usize;
            let line = source.slice(transition.span);
            let word = line.find(char::is_whitespace)?;
            let from = word + line[word..].find(|c: char| !c.is_whitespace())?;
            if std::mem::take(&mut first) {
                let fence = format!("transition {name} {twin} mfence\n");
                edits.push((start, start, fence));
            }
            edits.push((start + from, start + from + name.len(), twin.clone()));
        }
    }
    edited(&source.text, edits)
}

/// A name for a state that the thread does not have.
fn twin(thread: &Automaton, name: &str) -> String {
    let mut twin = format!("{name}_fenced");
    while thread.states.iter().any(|s| s.name == twin) {
        twin.push('_');
    }
    twin
}

/// Whether every fence stands in a state that something leaves; a fence elsewhere has no place in the text.
pub(super) fn is_writable(automata: &Automata, place: FencePlace) -> bool {
    let state: StateId = place.state;
    automata.threads[place.thread]
        .leaving(state)
        .next()
        .is_some()
}
