//! The stack of a site as reports show it: modules, and addresses in their files.

use super::{Node, Site};
use crate::modules::{self, Module};
use rsan_log::{Frame, Stack};
use std::borrow::Cow;

/// The stack of a site, innermost first.
pub(crate) fn frames(site: Site, modules: &[Module]) -> Stack<'_> {
    if site.pc == 0 && site.node == Node::UNKNOWN {
        return Vec::new();
    }
    call_sites(site.stack(), modules)
}

/// Return addresses as instructions of modules.
pub(crate) fn call_sites(stack: Vec<usize>, modules: &[Module]) -> Stack<'_> {
    // The first function of every thread is one of this library.
    let this = modules::find(modules, frames as *const () as usize).map(|found| found.0.bias);
    let mut frames = Vec::new();
    for pc in stack.into_iter().filter(|pc| *pc != 0) {
        let call = pc.saturating_sub(1);
        let (module, offset) = match modules::find(modules, call) {
            Some((module, _)) if Some(module.bias) == this => continue,
            Some((module, offset)) => (Some(Cow::Borrowed(module.path.as_str())), offset),
            None => (None, call),
        };
        frames.push(Frame {
            module,
            offset: offset.into(),
        });
    }
    frames
}
