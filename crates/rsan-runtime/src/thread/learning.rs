//! What others have to know of what a thread knows, if it is followed ([`horizon`]).

use super::Body;
use crate::horizon;
use rsan_model::ThreadId;

impl Body {
    /// The thread may have learnt something.
    #[inline]
    pub(crate) fn learnt(&mut self) {
        if horizon::is_followed(self.options) {
            horizon::answer(&self.state, &mut self.answered);
        }
    }

    /// The thread is going to wait for the end of another one, without a limit.
    pub(crate) fn wait_for(&self, other: ThreadId) {
        if horizon::is_followed(self.options) {
            horizon::wait(&self.state, other);
        }
    }

    /// The thread no longer waits; if the other one has ended, it knows what that one knew.
    pub(crate) fn waited_for(&self, other: ThreadId, ended: bool) {
        if horizon::is_followed(self.options) {
            horizon::waited(&self.state, other, ended);
        }
    }
}
