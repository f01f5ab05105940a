//! The stack of a site as reports show it: modules, and addresses in their files.

use super::{Node, Site};
use crate::modules::{self, Module};

/// The stack of a site as modules and offsets, innermost first.
pub(crate) fn frames(site: Site, modules: &[Module]) -> Vec<(Option<&str>, usize)> {
    if site.pc == 0 && site.node == Node::UNKNOWN {
        return Vec::new();
    }
    call_sites(site.stack(), modules)
}

/// Return addresses as modules and offsets.
pub(crate) fn call_sites(stack: Vec<usize>, modules: &[Module]) -> Vec<(Option<&str>, usize)> {
    // The first function of every thread is one of this library.
    let this = modules::find(modules, frames as *const () as usize).map(|found| found.0.bias);
    let mut frames = Vec::new();
    for pc in stack.into_iter().filter(|pc| *pc != 0) {
        let call = pc.saturating_sub(1);
        match modules::find(modules, call) {
            Some((module, _)) if Some(module.bias) == this => {}
            Some((module, offset)) => frames.push((Some(module.path.as_str()), offset)),
            None => frames.push((None, call)),
        }
    }
    frames
}
