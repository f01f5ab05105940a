//! The memory model that accesses are judged by: C20, or RC20 on request ([`crate::options::Options::model`]).
//!
//! RC20 (POPL 2021) has no seq_cst accesses: a program that makes one is refused. On all other accesses its rules are those of
//! C20, so the only difference is in seq_cst fences, which meet at a location of their own. The test
//! `rc20_is_c20_with_other_fences_where_no_access_is_seq_cst` of `rsan-clocks` pins that.

use crate::location::Operation;
use crate::lock::{Lock, RawLock};
use crate::modules;
use crate::thread::{Body, Entered};
use crate::{journal, report};
use rsan_clocks::write_log::{ReservedLocation, Rules};
use rsan_log::Event;
use rsan_model::{FenceOrd, Model};

/// Where the SC fences of RC20 meet.
static RESERVED: Lock<Option<ReservedLocation>> = Lock::new(None);

/// The lock of this module, for fork.
pub(crate) fn lock() -> &'static RawLock {
    RESERVED.raw()
}

/// The place where a fence meets others, if it does: their order matters then.
pub(crate) fn meeting_place(ord: FenceOrd) -> Option<usize> {
    let rc20 = crate::options::current().is_some_and(|options| options.model == Model::Rc20);
    (rc20 && ord.is_sc()).then_some(&raw const RESERVED as usize)
}

/// A fence of the program.
#[inline]
pub fn fence(me: &mut Body, ord: FenceOrd) {
    match me.options.model {
        Model::Rc20 if ord.is_sc() => {
            let mut reserved = RESERVED.lock();
            let reserved = reserved.get_or_insert_default();
            me.state.fence_rc20(ord, reserved, Rules::c20());
        }
        _ => me.state.fence_c20(ord, Rules::c20()),
    }
}

/// Ends the process if the model does not have such accesses. Accesses like one that was let through need not be asked
/// about again.
#[inline]
pub fn accept(me: &mut Entered, seq_cst: bool, operation: Operation) {
    if seq_cst && !me.options.model.has_sc_accesses() {
        refuse(me, operation);
    }
}

/// The exit status of a process that was refused and has no finding.
const REFUSED: i32 = 3;

/// The lock of a location may be held: the process ends, and whoever waits for the lock holds none that is needed here.
#[cold]
fn refuse(me: &mut Entered, operation: Operation) -> ! {
    let (site, model) = (me.site(), me.options.model);
    let what = format!("a seq_cst {}", operation.logged());
    let why = format!("{model} has none; use model c20, or seq_cst fences");
    let modules = modules::modules();
    let frames = crate::stack::frames(site, &modules);
    let place = frames.first().map_or(String::new(), |frame| {
        format!(
            " at {}+{}",
            frame.module.as_deref().unwrap_or("?"),
            frame.offset
        )
    });
    let message = format!("rsan: {what}{place}: {why}\n");
    crate::output::write_to(2, message.as_bytes());
    journal::say(Event::Refused {
        message: format!("{what}: {why}").into(),
        stack: frames,
    });
    crate::system::end_process(match me.options.exitcode {
        status if report::count() > 0 && status != 0 => status,
        _ => REFUSED,
    })
}
