//! Every rule is broken once, and some test notices.
