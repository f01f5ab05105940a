//! Volatile accesses, where the user says what they count as (`volatile=relaxed` or `volatile=acqrel`).
//!
//! The compiler announces such an access before the program makes it. So a read finds what was written last, or what another
//! thread writes before the next call of this one; and what is written is not known yet.
//!
//! **Decides** races with plain accesses that came before; two of these, or one and an atomic access, do not race. **Not decided**:
//! robustness of these accesses, and races with plain accesses that come after. An exploration of all executions says so.

use crate::options::{self, Volatile};
use crate::race::{self, Kind};
use crate::sched::atomics::{Orders, before_read};
use crate::sched::{self, weak};
use crate::{report, sync, thread, tls};
use rsan_model::ReadOrd;
use rsan_schedule::Kind as Step;

/// A volatile access, about to be made.
pub(crate) fn access<const BYTES: usize, const WRITES: bool>(address: usize) {
    let counts_as = options::current().map_or(Volatile::Plain, |options| options.volatile);
    if counts_as == Volatile::Plain {
        return race::plain::<BYTES, WRITES>(address, tls::caller());
    }
    if sched::active() {
        schedule::<BYTES, WRITES>(address);
    }
    {
        let Some(mut me) = thread::enter_access() else {
            return;
        };
        let kind = match WRITES {
            true => Kind::ATOMIC_WRITE,
            false => Kind::ATOMIC_READ,
        };
        if me.ignored == 0 {
            race::atomic_access(&mut me, address, BYTES, kind);
        }
        if me.options.exact {
            let site = me.site();
            report::undecided(
                &me,
                site,
                "a volatile access counts as an atomic one, whose value is not known",
            );
        }
    }
    match (counts_as, WRITES) {
        (Volatile::AcqRel, true) => sync::release(address),
        (Volatile::AcqRel, false) => {
            sync::acquire(address);
            // Where threads run freely, another one may write between the announcement and the access.
            if !sched::active() {
                thread::take_again(address);
            }
        }
        (Volatile::Plain | Volatile::Relaxed, _) => {}
    }
}

/// It is a step, as that of an atomic access.
fn schedule<const BYTES: usize, const WRITES: bool>(address: usize) {
    if WRITES {
        sched::point(Step::Store, address, BYTES);
    } else {
        let orders = Orders {
            all: u64::MAX,
            read: ReadOrd::Relaxed,
        };
        before_read(Step::Load, (address, BYTES), [0; 2], orders);
    }
    if weak::is_active() {
        weak::mix(weak::Place {
            address,
            bytes: BYTES,
        });
    }
    sched::done(|step| match WRITES {
        true => step.writes = true,
        false => step.read = value::<BYTES>(address),
    });
}

/// What is there: the first eight bytes at most.
fn value<const BYTES: usize>(address: usize) -> u64 {
    let mut bytes = [0; 8];
    let known = BYTES.min(bytes.len());
    // SAFETY: the program is about to read so many bytes there, and nobody else runs.
    unsafe { std::ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), known) };
    u64::from_le_bytes(bytes)
}
