//! The named litmus tests (docs/theory/litmus.md, N1 and N2), as data.
//!
//! Each row is a program in the compact notation of `rsan_lang::mini` and its verdicts. RC11 lets a later store of the
//! same thread continue a release sequence, so one row has another verdict under RC11 than under C++20.

use rsan_lang::mini;
use rsan_model::{Model, Program, Source};

const ROBUST: bool = true;
const WEAK: bool = false;

/// A named litmus test.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// The program, in the compact notation.
    pub text: &'static str,
    /// Models, and whether the program is robust against them.
    pub robust: Vec<(Model, bool)>,
}

impl Row {
    /// The program.
    pub fn program(&self) -> Program {
        let source = Source::new(self.name, self.text);
        mini::parse(&source).unwrap_or_else(|e| panic!("{}", e.render(&source, false)))
    }
}

/// The rows without seq_cst accesses, then, if asked for, those with.
pub fn rows(with_sc_accesses: bool) -> impl Iterator<Item = Row> {
    let without = WITHOUT_SC_ACCESSES.iter().map(|&(name, text, rc20, c20)| {
        let rc11 = c20 != RC11_RELEASE_SEQUENCE.contains(&name);
        let robust = vec![(Model::Rc20, rc20), (Model::C20, c20), (Model::Rc11, rc11)];
        Row { name, text, robust }
    });
    let with = WITH_SC_ACCESSES.iter().map(|&(name, text, rc11, c20)| {
        let robust = vec![(Model::C20, c20), (Model::Rc11, rc11)];
        Row { name, text, robust }
    });
    without.chain(with.filter(move |_| with_sc_accesses))
}

/// Rows whose verdict under RC11 is not that under C++20, because of RC11's release sequence.
const RC11_RELEASE_SEQUENCE: &[&str] = &["RS-same-thread-store(C++11-only)"];

/// Name, program, robust under RC20, under C++20 and RC11.
#[rustfmt::skip] // one row, one line
const WITHOUT_SC_ACCESSES: &[(&str, &str, bool, bool)] = &[
    ("SB+ra", "st.rel x 1; ld.acq r0 y ‖ st.rel y 1; ld.acq r0 x", WEAK, WEAK),
    ("SB+rlx", "st.rlx x 1; ld.rlx r0 y ‖ st.rlx y 1; ld.rlx r0 x", WEAK, WEAK),
    ("SB+fences", "st.rlx x 1; fence.sc; ld.rlx r0 y ‖ st.rlx y 1; fence.sc; ld.rlx r0 x", ROBUST, ROBUST),
    ("SB+one-fence", "st.rel x 1; fence.sc; ld.acq r0 y ‖ st.rel y 1; ld.acq r0 x", WEAK, WEAK),
    ("SB+acqrel-fences", "st.rlx x 1; fence.acqrel; ld.rlx r0 y ‖ st.rlx y 1; fence.acqrel; ld.rlx r0 x", WEAK, WEAK),
    ("SB+RMWs(f)", "st.rel x 1; fadd.ar r1 w 0; ld.acq r0 y ‖ st.rel y 1; fadd.ar r1 w 0; ld.acq r0 x", ROBUST, ROBUST),
    ("SB+RMWs(f)-rlx", "st.rel x 1; fadd.rlx r1 w 0; ld.acq r0 y ‖ st.rel y 1; fadd.rlx r1 w 0; ld.acq r0 x", WEAK, WEAK),
    ("SB+RMWs(two locs)", "st.rel x 1; fadd.ar r1 w 0; ld.acq r0 y ‖ st.rel y 1; fadd.ar r1 z 0; ld.acq r0 x", WEAK, WEAK),
    ("SB+xchg-writes", "xchg.ar r1 x 1; ld.acq r0 y ‖ xchg.ar r1 y 1; ld.acq r0 x", WEAK, WEAK),
    ("SB+rmw-reads", "st.rel x 1; fadd.ar r0 y 0 ‖ st.rel y 1; fadd.ar r0 x 0", WEAK, WEAK),
    ("SB+rmw-reads-rlx", "st.rlx x 1; fadd.rlx r0 y 0 ‖ st.rlx y 1; fadd.rlx r0 x 0", WEAK, WEAK),
    ("SB+xchg+rmw-reads", "xchg.ar r1 x 1; fadd.ar r0 y 0 ‖ xchg.ar r1 y 1; fadd.ar r0 x 0", ROBUST, ROBUST),
    ("SB-same-values", "st.rel x 0; ld.acq r0 y ‖ st.rel y 0; ld.acq r0 x", WEAK, WEAK),
    ("Ex3.1", "st.rel x 1; ld.acq r0 y; st.rel x 2 ‖ st.rel y 1; ld.acq r0 x; st.rel y 2", WEAK, WEAK),
    ("SB3-ring", "st.rel x 1; ld.acq r0 y ‖ st.rel y 1; ld.acq r0 z ‖ st.rel z 1; ld.acq r0 x", WEAK, WEAK),
    ("SB3-ring+2fences", "st.rel x 1; fence.sc; ld.acq r0 y ‖ st.rel y 1; ld.acq r0 z ‖ st.rel z 1; fence.sc; ld.acq r0 x", WEAK, WEAK),
    ("SB3-ring+3fences", "st.rlx x 1; fence.sc; ld.rlx r0 y ‖ st.rlx y 1; fence.sc; ld.rlx r0 z ‖ st.rlx z 1; fence.sc; ld.rlx r0 x", ROBUST, ROBUST),
    ("MP+rel+acq", "st.rlx x 1; st.rel y 1 ‖ ld.acq r0 y; ld.rlx r1 x", ROBUST, ROBUST),
    ("MP+rlx+acq", "st.rlx x 1; st.rlx y 1 ‖ ld.acq r0 y; ld.rlx r1 x", WEAK, WEAK),
    ("MP+rel+rlx", "st.rlx x 1; st.rel y 1 ‖ ld.rlx r0 y; ld.rlx r1 x", WEAK, WEAK),
    ("MP+rlx+rlx", "st.rlx x 1; st.rlx y 1 ‖ ld.rlx r0 y; ld.rlx r1 x", WEAK, WEAK),
    ("MP+relfence+acqfence", "st.rlx x 1; fence.rel; st.rlx y 1 ‖ ld.rlx r0 y; fence.acq; ld.rlx r1 x", ROBUST, ROBUST),
    ("MP+relfence+acq", "st.rlx x 1; fence.rel; st.rlx y 1 ‖ ld.acq r0 y; ld.rlx r1 x", ROBUST, ROBUST),
    ("MP+rel+acqfence", "st.rlx x 1; st.rel y 1 ‖ ld.rlx r0 y; fence.acq; ld.rlx r1 x", ROBUST, ROBUST),
    ("MP+acqfence-producer", "st.rlx x 1; fence.acq; st.rlx y 1 ‖ ld.rlx r0 y; fence.acq; ld.rlx r1 x", WEAK, WEAK),
    ("MP+relfence-consumer", "st.rlx x 1; fence.rel; st.rlx y 1 ‖ ld.rlx r0 y; fence.rel; ld.rlx r1 x", WEAK, WEAK),
    ("MP+scfence+scfence", "st.rlx x 1; fence.sc; st.rlx y 1 ‖ ld.rlx r0 y; fence.sc; ld.rlx r1 x", ROBUST, ROBUST),
    ("MP+relfence-too-late", "st.rlx x 1; st.rlx y 1; fence.rel ‖ ld.acq r0 y; ld.rlx r1 x", WEAK, WEAK),
    ("MP+acqfence-too-early", "st.rlx x 1; st.rel y 1 ‖ fence.acq; ld.rlx r0 y; ld.rlx r1 x", WEAK, WEAK),
    ("MP+wait-rlx", "st.rlx x 1; st.rel y 1 ‖ wait.rlx y 1; ld.rlx r1 x", WEAK, WEAK),
    ("MP+wait-acq", "st.rlx x 1; st.rel y 1 ‖ wait.acq y 1; ld.rlx r1 x", ROBUST, ROBUST),
    ("MP+guarded-acqfence", "st.rlx x 1; st.rel y 1 ‖ ld.rlx r0 y; bne r0 1 2; fence.acq; ld.rlx r1 x", ROBUST, ROBUST),
    ("MP+guarded-rlx", "st.rlx x 1; st.rel y 1 ‖ ld.rlx r0 y; bne r0 1 1; ld.rlx r1 x", WEAK, WEAK),
    ("MP+rmw-consumer-rlx", "st.rlx x 1; st.rel y 1 ‖ fadd.rlx r0 y 1; ld.rlx r1 x", WEAK, WEAK),
    ("MP+rmw-consumer-acq", "st.rlx x 1; st.rel y 1 ‖ fadd.acq r0 y 1; ld.rlx r1 x", ROBUST, ROBUST),
    ("MP+rmw-producer-rlx", "st.rlx x 1; fadd.rlx r0 y 1 ‖ ld.acq r0 y; ld.rlx r1 x", WEAK, WEAK),
    ("MP+rmw-producer-rel", "st.rlx x 1; fadd.rel r0 y 1 ‖ ld.acq r0 y; ld.rlx r1 x", ROBUST, ROBUST),
    ("MP+data-rmw", "fadd.rlx r0 x 1; st.rlx y 1 ‖ ld.rlx r0 y; fadd.rlx r1 x 1", ROBUST, ROBUST),
    ("MP+data-rmw-write", "fadd.rlx r0 x 1; st.rlx y 1 ‖ ld.rlx r0 y; st.rlx x 5", ROBUST, ROBUST),
    ("MP+data-write-write", "st.rlx x 1; st.rlx y 1 ‖ ld.rlx r0 y; st.rlx x 2", WEAK, WEAK),
    ("LB+rlx", "ld.rlx r0 x; st.rlx y 1 ‖ ld.rlx r0 y; st.rlx x 1", ROBUST, ROBUST),
    ("LB+ra", "ld.acq r0 x; st.rel y 1 ‖ ld.acq r0 y; st.rel x 1", ROBUST, ROBUST),
    ("LB+acq-only-one", "ld.acq r0 x; st.rel y 1 ‖ ld.rlx r0 y; st.rlx x 1", ROBUST, ROBUST),
    ("CoRR+rlx", "st.rlx x 1; st.rlx x 2 ‖ ld.rlx r0 x; ld.rlx r1 x", ROBUST, ROBUST),
    ("CoWW/CoRW+rlx", "st.rlx x 1; ld.rlx r0 x; st.rlx x 2 ‖ ld.rlx r0 x; st.rlx x 3", ROBUST, ROBUST),
    ("CoRR2+rlx", "st.rlx x 1 ‖ st.rlx x 2 ‖ ld.rlx r0 x; ld.rlx r1 x ‖ ld.rlx r0 x; ld.rlx r1 x", ROBUST, ROBUST),
    ("CoRR+rlx-read-published", "st.rlx x 1 ‖ ld.rlx r0 x; st.rel y 1 ‖ ld.acq r0 y; ld.rlx r1 x", ROBUST, ROBUST),
    ("IRIW+ra", "st.rel x 1 ‖ ld.acq r0 x; ld.acq r1 y ‖ ld.acq r0 y; ld.acq r1 x ‖ st.rel y 1", WEAK, WEAK),
    ("IRIW+scfences", "st.rlx x 1 ‖ ld.rlx r0 x; fence.sc; ld.rlx r1 y ‖ ld.rlx r0 y; fence.sc; ld.rlx r1 x ‖ st.rlx y 1", ROBUST, ROBUST),
    ("IRIW+one-scfence", "st.rel x 1 ‖ ld.acq r0 x; fence.sc; ld.acq r1 y ‖ ld.acq r0 y; ld.acq r1 x ‖ st.rel y 1", WEAK, WEAK),
    ("IRIW+rmw-reads", "st.rel x 1 ‖ ld.acq r0 x; fadd.ar r1 y 0 ‖ ld.acq r0 y; fadd.ar r1 x 0 ‖ st.rel y 1", WEAK, WEAK),
    ("WRC+ra", "st.rel x 1 ‖ ld.acq r0 x; st.rel y 1 ‖ ld.acq r0 y; ld.acq r1 x", ROBUST, ROBUST),
    ("WRC+rlx-first", "st.rlx x 1 ‖ ld.rlx r0 x; st.rel y 1 ‖ ld.acq r0 y; ld.rlx r1 x", ROBUST, ROBUST),
    ("WRC+rlx-mid", "st.rel x 1 ‖ ld.acq r0 x; st.rlx y 1 ‖ ld.acq r0 y; ld.acq r1 x", WEAK, WEAK),
    ("ISA2+ra", "st.rlx x 1; st.rel y 1 ‖ ld.acq r0 y; st.rel z 1 ‖ ld.acq r0 z; ld.rlx r1 x", ROBUST, ROBUST),
    ("ISA2+rlx-mid", "st.rlx x 1; st.rel y 1 ‖ ld.rlx r0 y; st.rel z 1 ‖ ld.acq r0 z; ld.rlx r1 x", WEAK, WEAK),
    ("ISA2+mid-fence", "st.rlx x 1; st.rel y 1 ‖ ld.rlx r0 y; fence.acqrel; st.rlx z 1 ‖ ld.acq r0 z; ld.rlx r1 x", ROBUST, ROBUST),
    ("ISA2+scfences-ends-rlx-mid", "st.rlx z 1; fence.sc; st.rlx x 1 ‖ ld.rlx r0 x; st.rlx y 1 ‖ ld.rlx r0 y; fence.sc; ld.rlx r1 z", ROBUST, WEAK),
    ("RWC+ra", "st.rel x 1 ‖ ld.acq r0 x; ld.acq r1 y ‖ st.rel y 1; ld.acq r0 x", WEAK, WEAK),
    ("RWC+scfences", "st.rlx x 1 ‖ ld.rlx r0 x; fence.sc; ld.rlx r1 y ‖ st.rlx y 1; fence.sc; ld.rlx r0 x", ROBUST, ROBUST),
    ("R+ra", "st.rel x 1; st.rel y 1 ‖ st.rel y 2; ld.acq r0 x", WEAK, WEAK),
    ("R+scfences", "st.rlx x 1; fence.sc; st.rlx y 1 ‖ st.rlx y 2; fence.sc; ld.rlx r0 x", ROBUST, ROBUST),
    ("R+xchg-y", "st.rel x 1; xchg.ar r1 y 1 ‖ xchg.ar r1 y 2; ld.acq r0 x", ROBUST, ROBUST),
    ("S+ra", "st.rel x 2; st.rel y 1 ‖ ld.acq r0 y; st.rel x 1", ROBUST, ROBUST),
    ("S+rlx", "st.rlx x 2; st.rlx y 1 ‖ ld.rlx r0 y; st.rlx x 1", WEAK, WEAK),
    ("2+2W+ra", "st.rel x 1; st.rel y 2 ‖ st.rel y 1; st.rel x 2", WEAK, WEAK),
    ("2+2W+scfences", "st.rlx x 1; fence.sc; st.rlx y 2 ‖ st.rlx y 1; fence.sc; st.rlx x 2", ROBUST, ROBUST),
    ("2+2W+xchg2nd", "st.rel x 1; xchg.ar r0 y 2 ‖ st.rel y 1; xchg.ar r0 x 2", WEAK, WEAK),
    ("2+2W+xchg1st", "xchg.ar r0 x 1; st.rel y 2 ‖ xchg.ar r0 y 1; st.rel x 2", ROBUST, ROBUST),
    ("2+2W+xchg2nd-rlx", "st.rlx x 1; xchg.rlx r0 y 2 ‖ st.rlx y 1; xchg.rlx r0 x 2", WEAK, WEAK),
    ("2+2W+allxchg-rlx", "xchg.rlx r0 x 1; xchg.rlx r0 y 2 ‖ xchg.rlx r0 y 1; xchg.rlx r0 x 2", ROBUST, ROBUST),
    ("Ex4.1(1)", "fadd.ar r0 x 1; ld.acq r1 y ‖ st.rel y 1; ld.acq r0 x", WEAK, WEAK),
    ("Ex4.1(2)", "fadd.ar r0 x 1; ld.acq r1 y ‖ st.rel y 1; st.rel x 2", ROBUST, ROBUST),
    ("Ex4.1(2)-plain-write", "st.rel x 1; ld.acq r1 y ‖ st.rel y 1; st.rel x 2", WEAK, WEAK),
    ("Ex4.1(2)-rmw-rmw", "fadd.ar r0 x 1; ld.acq r1 y ‖ st.rel y 1; fadd.ar r0 x 2", ROBUST, ROBUST),
    ("Ex4.1(2)-write-rmw", "st.rel x 1; ld.acq r1 y ‖ st.rel y 1; fadd.ar r0 x 2", WEAK, WEAK),
    ("2RMW", "scas.ar.acq r0 x 0 1 ‖ scas.ar.acq r0 x 0 1", ROBUST, ROBUST),
    ("2RMW-rlx-weak", "wcas.rlx.rlx r0 x 0 1 ‖ wcas.rlx.rlx r0 x 0 1", ROBUST, ROBUST),
    ("2FADD+rlx", "fadd.rlx r0 x 1 ‖ fadd.rlx r0 x 1", ROBUST, ROBUST),
    ("SCAS-0-stale-only-RMW-adjacent", "scas.ar.acq r0 x 0 1; ld.acq r1 y ‖ st.rel y 1; scas.ar.acq r0 x 0 1", ROBUST, ROBUST),
    ("WCAS-same(spurious)", "scas.ar.acq r0 x 0 1; ld.acq r1 y ‖ st.rel y 1; wcas.ar.acq r0 x 0 1", WEAK, WEAK),
    ("SCAS-other-value", "scas.ar.acq r0 x 0 1; ld.acq r1 y ‖ st.rel y 1; scas.ar.acq r0 x 1 2", WEAK, WEAK),
    ("SCAS-after-plain-write", "st.rel x 1; ld.acq r1 y ‖ st.rel y 1; scas.ar.acq r0 x 0 1", WEAK, WEAK),
    ("SCAS-two-step", "scas.ar.acq r0 x 0 1; scas.ar.acq r0 x 1 2; ld.acq r1 y ‖ st.rel y 1; scas.ar.acq r0 x 0 3", WEAK, WEAK),
    ("SCAS-expected=1-two-step-same", "fadd.ar r0 x 0; fadd.ar r0 x 0; ld.acq r1 y ‖ st.rel y 1; scas.ar.acq r0 x 0 3", ROBUST, ROBUST),
    ("BCAS-lock-SB", "bcas.acq z 0 1; st.rlx x 1; ld.rlx r0 y; st.rel z 0 ‖ bcas.acq z 0 1; st.rlx y 1; ld.rlx r0 x; st.rel z 0", ROBUST, ROBUST),
    ("BCAS-lock-rlx-unlock", "bcas.acq z 0 1; st.rlx x 1; ld.rlx r0 y; st.rlx z 0 ‖ bcas.acq z 0 1; st.rlx y 1; ld.rlx r0 x; st.rel z 0", WEAK, WEAK),
    ("BCAS-lock-rlx-lock", "bcas.rlx z 0 1; st.rlx x 1; ld.rlx r0 y; st.rel z 0 ‖ bcas.rlx z 0 1; st.rlx y 1; ld.rlx r0 x; st.rel z 0", WEAK, WEAK),
    ("BCAS-stale-plain", "st.rel x 1; ld.acq r1 y ‖ st.rel y 1; bcas.ar x 0 2", WEAK, WEAK),
    ("BCAS-stale-rmw", "fadd.ar r0 x 1; ld.acq r1 y ‖ st.rel y 1; bcas.ar x 0 2", ROBUST, ROBUST),
    ("BCAS-wrong-value", "st.rel x 1; ld.acq r1 y ‖ st.rel y 1; bcas.ar x 3 2", ROBUST, ROBUST),
    ("BAR-2iter", "st.rel x 1; ld.acq r0 y; beq r0 1 1; ld.acq r0 y ‖ st.rel y 1; ld.acq r0 x; beq r0 1 1; ld.acq r0 x", WEAK, WEAK),
    ("BARW11", "st.rel x 1; wait.acq y 1 ‖ st.rel y 1; wait.acq x 1", ROBUST, ROBUST),
    ("BARW02", "st.rel x 1; wait.acq y 0 ‖ st.rel y 1; wait.acq x 2", ROBUST, ROBUST),
    ("BARW00", "st.rel x 1; wait.acq y 0 ‖ st.rel y 1; wait.acq x 0", WEAK, WEAK),
    ("BARW11-rlx", "st.rlx x 1; wait.rlx y 1 ‖ st.rlx y 1; wait.rlx x 1", ROBUST, ROBUST),
    ("BARW11-then-reads-rlx", "st.rlx z 1; st.rlx x 1; wait.rlx y 1 ‖ st.rlx y 1; wait.rlx x 1; ld.rlx r0 z", WEAK, WEAK),
    ("BARW11-then-reads-ra", "st.rlx z 1; st.rel x 1; wait.acq y 1 ‖ st.rel y 1; wait.acq x 1; ld.rlx r0 z", ROBUST, ROBUST),
    ("BARW-reset", "st.rel x 1; wait.acq y 1; st.rel x 0 ‖ st.rel y 1; wait.acq x 1", ROBUST, ROBUST),
    ("RS-rmw-rlx", "st.rlx x 1; st.rel y 1 ‖ fadd.rlx r0 y 1 ‖ ld.acq r0 y; bne r0 2 1; ld.rlx r1 x", ROBUST, ROBUST),
    ("RS-rmw-rlx-rlxhead", "st.rlx x 1; st.rlx y 1 ‖ fadd.rlx r0 y 1 ‖ ld.acq r0 y; bne r0 2 1; ld.rlx r1 x", WEAK, WEAK),
    ("RS-same-thread-store(C++11-only)", "st.rlx x 1; st.rel y 1; st.rlx y 2 ‖ ld.acq r0 y; bne r0 2 1; ld.rlx r1 x", WEAK, WEAK),
    ("RS-other-thread-store-breaks", "st.rlx x 1; st.rel y 1 ‖ st.rlx y 2 ‖ ld.acq r0 y; ld.rlx r1 x", WEAK, WEAK),
    ("RS-store-breaks-2", "st.rlx x 1; st.rel y 1 ‖ ld.rlx r0 y; bne r0 1 1; st.rlx y 2 ‖ ld.acq r0 y; bne r0 2 1; ld.rlx r1 x", WEAK, WEAK),
    ("RS-fence-head", "st.rlx x 1; fence.rel; st.rlx y 1 ‖ xchg.rlx r0 y 2 ‖ ld.rlx r0 y; fence.acq; bne r0 2 1; ld.rlx r1 x", ROBUST, ROBUST),
    ("RS-rmw-own-publish-rlx", "st.rlx x 1; fadd.rlx r0 y 1 ‖ st.rel y 5 ‖ ld.acq r0 y; ld.rlx r1 x", WEAK, WEAK),
    ("RS-rmw-rel-mid", "st.rlx x 1; fadd.rel r0 y 1 ‖ fadd.rlx r0 y 1 ‖ ld.acq r0 y; bne r0 2 1; ld.rlx r1 x", ROBUST, ROBUST),
    ("RS-two-heads", "st.rlx x 1; fadd.rel r0 y 1 ‖ st.rlx z 1; fadd.rel r0 y 1 ‖ ld.acq r0 y; bne r0 2 2; ld.rlx r1 x; ld.rlx r2 z", ROBUST, ROBUST),
    ("F-acq-first", "st.rlx z 1; st.rel x 1 ‖ ld.rlx r0 x; fence.sc; ld.rlx r1 y ‖ st.rlx y 1; fence.sc; ld.rlx r0 z", ROBUST, ROBUST),
    ("F-S-observable(RC11-robust)", "fence.sc; ld.rlx r0 x ‖ st.rlx x 1; st.rlx y 1 ‖ ld.rlx r0 y; fence.sc", WEAK, ROBUST),
    ("F-rel-after", "st.rlx x 1; fence.sc; ld.rlx r0 z ‖ st.rlx z 1; fence.sc; st.rlx y 1 ‖ ld.acq r0 y; ld.rlx r1 x", ROBUST, ROBUST),
    ("Dekker-kernel-ra", "st.rel x 1; ld.acq r0 y; bne r0 0 1; st.rlx z 1 ‖ st.rel y 1; ld.acq r0 x; bne r0 0 1; st.rlx z 2", WEAK, WEAK),
    ("Dekker-kernel-scfence", "st.rlx x 1; fence.sc; ld.rlx r0 y; bne r0 0 1; st.rlx z 1 ‖ st.rlx y 1; fence.sc; ld.rlx r0 x; bne r0 0 1; st.rlx z 2", ROBUST, ROBUST),
    ("Peterson-ra", "st.rel x 1; st.rel z 1; ld.acq r0 y; ld.acq r1 z ‖ st.rel y 1; st.rel z 2; ld.acq r0 x; ld.acq r1 z", WEAK, WEAK),
    ("Peterson-tso(1 fence)", "st.rel x 1; st.rel z 1; fence.sc; ld.acq r0 y; ld.acq r1 z ‖ st.rel y 1; st.rel z 2; fence.sc; ld.acq r0 x; ld.acq r1 z", WEAK, WEAK),
    ("Peterson-ra(2 fences)", "st.rel x 1; fence.sc; st.rel z 1; fence.sc; ld.acq r0 y; ld.acq r1 z ‖ st.rel y 1; fence.sc; st.rel z 2; fence.sc; ld.acq r0 x; ld.acq r1 z", ROBUST, ROBUST),
    ("Peterson-dmitriy(xchg turn)", "st.rlx x 1; xchg.ar r2 z 1; ld.acq r0 y; ld.acq r1 z ‖ st.rlx y 1; xchg.ar r2 z 2; ld.acq r0 x; ld.acq r1 z", ROBUST, ROBUST),
    ("Peterson-bratosz(xchg flag)", "xchg.ar r2 x 1; st.rel z 1; ld.acq r0 y; ld.acq r1 z ‖ xchg.ar r2 y 1; st.rel z 2; ld.acq r0 x; ld.acq r1 z", WEAK, WEAK),
    ("Ticket-lock", "fadd.rlx r0 x 1; wait.acq y r0; st.rlx z 1; fadd.rel r1 y 1 ‖ fadd.rlx r0 x 1; wait.acq y r0; ld.rlx r2 z; fadd.rel r1 y 1", ROBUST, ROBUST),
    ("Ticket-lock-rlx-wait", "fadd.rlx r0 x 1; wait.rlx y r0; st.rlx z 1; fadd.rel r1 y 1 ‖ fadd.rlx r0 x 1; wait.rlx y r0; ld.rlx r2 z; fadd.rel r1 y 1", WEAK, WEAK),
    ("Seqlock-Boehm-fence", "fadd.acq r0 s 1; fence.rel; st.rlx x 1; st.rlx y 1; fadd.rel r0 s 1 ‖ ld.acq r0 s; ld.rlx r1 x; ld.rlx r2 y; fence.acq; ld.rlx r3 s", ROBUST, ROBUST),
    ("Seqlock-guarded", "fadd.acq r0 s 1; fence.rel; st.rlx x 1; st.rel s 2 ‖ ld.acq r0 s; beq r0 1 3; ld.rlx r1 x; fence.acq; ld.rlx r2 s", ROBUST, ROBUST),
    ("Seqlock-guarded-2data", "st.rlx s 1; fence.rel; st.rlx x 1; st.rlx y 1; st.rel s 2 ‖ ld.acq r0 s; beq r0 1 4; ld.rlx r1 x; ld.rlx r2 y; fence.acq; ld.rlx r3 s", ROBUST, ROBUST),
    ("Seqlock-guarded-2data-acq", "st.rlx s 1; fence.rel; st.rlx x 1; st.rlx y 1; st.rel s 2 ‖ ld.acq r0 s; beq r0 1 3; ld.acq r1 x; ld.acq r2 y; ld.rlx r3 s", ROBUST, ROBUST),
    ("Seqlock-guarded-2data-rel-acq", "st.rlx s 1; fence.rel; st.rel x 1; st.rel y 1; st.rel s 2 ‖ ld.acq r0 s; beq r0 1 3; ld.acq r1 x; ld.acq r2 y; ld.rlx r3 s", ROBUST, ROBUST),
    ("Seqlock-guarded-norelfence", "st.rlx s 1; st.rlx x 1; st.rel s 2 ‖ ld.acq r0 s; beq r0 1 3; ld.rlx r1 x; fence.acq; ld.rlx r2 s", WEAK, WEAK),
    ("Seqlock-guarded-2data-reversed", "st.rlx s 1; fence.rel; st.rlx x 1; st.rlx y 1; st.rel s 2 ‖ ld.acq r0 s; beq r0 1 4; ld.rlx r1 y; ld.rlx r2 x; fence.acq; ld.rlx r3 s", WEAK, WEAK),
    ("Seqlock-reversed-rel-acq-data", "st.rlx s 1; fence.rel; st.rlx x 1; st.rel y 1; st.rel s 2 ‖ ld.acq r0 s; beq r0 1 4; ld.acq r1 y; ld.rlx r2 x; fence.acq; ld.rlx r3 s", ROBUST, ROBUST),
    ("IRIW+rmw-reads-and-writes", "xchg.ar r0 x 1 ‖ ld.acq r0 x; fadd.ar r1 y 0 ‖ ld.acq r0 y; fadd.ar r1 x 0 ‖ xchg.ar r0 y 1", ROBUST, ROBUST),
    ("IRIW+rlx+acqfences", "st.rlx x 1 ‖ ld.rlx r0 x; fence.acq; ld.rlx r1 y ‖ ld.rlx r0 y; fence.acq; ld.rlx r1 x ‖ st.rlx y 1", WEAK, WEAK),
    ("Spinlock-TTAS", "wait.rlx z 0; bcas.acq z 0 1; st.rlx x 1; st.rel z 0 ‖ wait.rlx z 0; bcas.acq z 0 1; ld.rlx r0 x; st.rel z 0", ROBUST, ROBUST),
    ("Double-checked-init", "ld.acq r0 x; bne r0 0 3; bcas.acq z 0 1; st.rlx y 1; st.rel x 1 ‖ ld.acq r0 x; bne r0 1 1; ld.rlx r1 y", ROBUST, ROBUST),
    ("Double-checked-init-rlx", "ld.rlx r0 x; bne r0 0 3; bcas.acq z 0 1; st.rlx y 1; st.rel x 1 ‖ ld.rlx r0 x; bne r0 1 1; ld.rlx r1 y", WEAK, WEAK),
    ("Refcount-drop", "st.rlx x 1; fadd.rel r0 y -1 ‖ fadd.rel r0 y -1; bne r0 -1 2; fence.acq; ld.rlx r1 x", ROBUST, ROBUST),
    ("Refcount-drop-nofence", "st.rlx x 1; fadd.rel r0 y -1 ‖ fadd.rel r0 y -1; bne r0 -1 1; ld.rlx r1 x", WEAK, WEAK),
];

/// Name, program, robust under RC11, under C++20.
#[rustfmt::skip] // one row, one line
const WITH_SC_ACCESSES: &[(&str, &str, bool, bool)] = &[
    ("SB+sc", "st.sc x 1; ld.sc r0 y ‖ st.sc y 1; ld.sc r0 x", ROBUST, ROBUST),
    ("SB+sc-stores-only", "st.sc x 1; ld.acq r0 y ‖ st.sc y 1; ld.acq r0 x", WEAK, WEAK),
    ("SB+sc-loads-only", "st.rel x 1; ld.sc r0 y ‖ st.rel y 1; ld.sc r0 x", WEAK, WEAK),
    ("SB+one-side-sc", "st.sc x 1; ld.sc r0 y ‖ st.rel y 1; ld.acq r0 x", WEAK, WEAK),
    ("SB+sc-xchg,acq-load", "xchg.sc r1 x 1; ld.acq r0 y ‖ xchg.sc r1 y 1; ld.acq r0 x", WEAK, WEAK),
    ("SB+sc+scfence", "st.sc x 1; ld.sc r0 y ‖ st.rlx y 1; fence.sc; ld.rlx r0 x", ROBUST, ROBUST),
    ("SB+sc-store/fence", "st.rlx x 1; fence.sc; ld.sc r0 y ‖ st.sc y 1; ld.sc r0 x", ROBUST, ROBUST),
    ("IRIW+sc", "st.sc x 1 ‖ ld.sc r0 x; ld.sc r1 y ‖ ld.sc r0 y; ld.sc r1 x ‖ st.sc y 1", ROBUST, ROBUST),
    ("IRIW+rlx-writes+sc-reads", "st.rlx x 1 ‖ ld.sc r0 x; ld.sc r1 y ‖ ld.sc r0 y; ld.sc r1 x ‖ st.rlx y 1", WEAK, ROBUST),
    ("IRIW+sc-writes+acq/sc-reads", "st.sc x 1 ‖ ld.acq r0 x; ld.sc r1 y ‖ ld.acq r0 y; ld.sc r1 x ‖ st.sc y 1", WEAK, WEAK),
    ("2+2W+sc", "st.sc x 1; st.sc y 2 ‖ st.sc y 1; st.sc x 2", ROBUST, ROBUST),
    ("R+sc", "st.sc x 1; st.sc y 1 ‖ st.sc y 2; ld.sc r0 x", ROBUST, ROBUST),
    ("MP+sc-flag", "st.rlx x 1; st.sc y 1 ‖ ld.sc r0 y; ld.rlx r1 x", ROBUST, ROBUST),
    ("Z6.U", "st.sc x 1; st.rel y 1 ‖ fadd.ar r0 y 1; ld.rlx r1 y ‖ st.sc y 3; ld.sc r0 x", WEAK, WEAK),
    ("RWC+sc", "st.sc x 1 ‖ ld.acq r0 x; ld.sc r1 y ‖ st.sc y 1; ld.sc r0 x", WEAK, WEAK),
    ("W+RWC+sc", "st.sc x 1; st.rel z 1 ‖ ld.acq r0 z; ld.sc r1 y ‖ st.sc y 1; ld.sc r0 x", ROBUST, ROBUST),
    ("Dekker-kernel-sc", "st.sc x 1; ld.sc r0 y; bne r0 0 1; st.rlx z 1 ‖ st.sc y 1; ld.sc r0 x; bne r0 0 1; st.rlx z 2", ROBUST, ROBUST),
    ("Peterson-sc", "st.sc x 1; st.sc z 1; ld.sc r0 y; ld.sc r1 z ‖ st.sc y 1; st.sc z 2; ld.sc r0 x; ld.sc r1 z", ROBUST, ROBUST),
    ("SB+sc against po-rf", "st.sc y 1 ‖ ld.rlx r0 y; st.rlx x 1 ‖ ld.rlx r0 x; ld.sc r1 y", WEAK, WEAK),
    ("F-S-observable", "fence.sc; ld.rlx r0 x ‖ st.rlx x 1; st.rlx y 1 ‖ ld.rlx r0 y; fence.sc", ROBUST, ROBUST),
    ("ISA2+scfences-ends", "st.rlx z 1; fence.sc; st.rlx x 1 ‖ ld.rlx r0 x; st.rlx y 1 ‖ ld.rlx r0 y; fence.sc; ld.rlx r1 z", WEAK, WEAK),
];
