//! Random C programs with loops that wait, compare-and-swaps that are tried again, same values, many readers and plain accesses,
//! explored by `rsan run --exhaustive`: the answer is that of the verifier and the oracle for the program of the model, in which
//! waiting is blocking. What is compared, and why it is exact, is said in `rsan_crosscheck::loops`.
//!
//! `cargo xtask crosscheck-c` does the same for many programs.

use crate::corpus::extended;
use crate::workshop;
use rsan_crosscheck::Profile;
use rsan_crosscheck::loops::{Difference, Level, LoopCampaign, Tool};

/// The first seed.
const SEED: u64 = 1;

#[test]
fn random_programs_with_loops_have_the_answer_of_the_verifier_and_the_oracle() {
    let Some(workshop) = workshop("loops") else {
        return;
    };
    let campaign = LoopCampaign {
        tool: Tool {
            rsan: env!("CARGO_BIN_EXE_rsan").into(),
            folder: workshop.folder().to_owned(),
            options: String::new(),
            time_limit: "60s".to_owned(),
        },
        profiles: Profile::LOOPS.to_vec(),
        levels: vec![Level::Written],
        seed: SEED,
        programs: if extended() { 6_000 } else { 300 },
        until: None,
        batch: 50,
        jobs: std::thread::available_parallelism().map_or(1, usize::from),
        shrink: 1,
    };
    let report = campaign.run(&|_| {});
    println!("{report}");
    let mut odd = report.odd.iter();
    let wrong = odd.find(|odd| odd.difference != Difference::InVain);
    assert!(wrong.is_none(), "{}", wrong.expect("one"));
    let total = report.total();
    assert!(total.undecided * 50 <= total.programs, "{report}");
    assert!(total.weak > 0 && total.races > 0 && total.deadlocks > 0);
}
