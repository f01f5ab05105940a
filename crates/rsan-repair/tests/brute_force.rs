//! Repairs of random programs: they verify, and trying all cheaper sets of changes finds none that does.
//!
//! `RSAN_REPAIR_PROGRAMS` sets the number of programs for each model and profile.

use rsan_crosscheck::{MODELS, Profile, Random, generate};
use rsan_lang::mini;
use rsan_model::{Model, Program, Verdict};
use rsan_repair::{Chosen, Scope, Site, Synthesis, Target, apply, cheapest, sites};
use rsan_verify::{Options, verify};

/// Sets of changes that are tried for one program, at most.
const SETS: usize = 1500;

fn options(model: Model) -> Options<'static> {
    Options {
        workers: 1,
        ..Options::new(model)
    }
}

fn verifies(program: &Program, model: Model) -> bool {
    let outcome =
        verify(program, &options(model), &mut |_| {}).expect("the program suits the model");
    outcome.verdict == Verdict::Robust
}

/// Cost and steps of a choice.
fn weight(sites: &[Site], chosen: &Chosen) -> (u64, u64) {
    let both = sites.iter().zip(chosen);
    let options = both.filter_map(|(site, option)| Some(&site.options[(*option)?]));
    options.fold((0, 0), |(c, s), o| (c + o.cost, s + o.steps))
}

/// All choices that weigh less than `limit` (every one when there is none), or `None` when there are too many.
fn lighter(sites: &[Site], limit: Option<(u64, u64)>) -> Option<Vec<Chosen>> {
    let mut all: Vec<Chosen> = vec![vec![None; sites.len()]];
    for (s, site) in sites.iter().enumerate() {
        for i in 0..all.len() {
            for o in 0..site.options.len() {
                let mut more = all[i].clone();
                more[s] = Some(o);
                if limit.is_none_or(|limit| weight(sites, &more) < limit) {
                    all.push(more);
                }
            }
            if all.len() > SETS {
                return None;
            }
        }
    }
    Some(all)
}

#[test]
fn no_cheaper_set_of_changes_is_a_repair() {
    let programs: u64 = std::env::var("RSAN_REPAIR_PROGRAMS")
        .map_or(60, |n| n.parse().expect("RSAN_REPAIR_PROGRAMS is a number"));
    let (mut repaired, mut compared, mut impossible) = (0, 0, 0);
    for model in MODELS {
        for &profile in Profile::of(model) {
            for seed in 1..=programs {
                let program = generate(&mut Random::new(seed), profile, model);
                let target = Target::ALL[seed as usize % 3];
                let sites = sites(&program, model, &Scope::default(), target);
                let what = || {
                    format!(
                        "{model} {target} {profile:?} {seed}: {:?}",
                        mini::print(&program)
                    )
                };
                let answer = cheapest(&program, &sites, &options(model), &mut |_, _| {});
                let limit = match answer.expect("the program suits the model") {
                    Synthesis::Repair(repair) => {
                        assert!(verifies(&repair.program, model), "{}", what());
                        repaired += usize::from(!repair.changes.is_empty());
                        let options = repair.changes.iter().map(|c| &c.site.options[c.option]);
                        let weight = options.fold((0, 0), |(c, s), o| (c + o.cost, s + o.steps));
                        assert_eq!(weight.0, repair.cost);
                        Some(weight)
                    }
                    Synthesis::Impossible(..) => {
                        impossible += 1;
                        None
                    }
                    Synthesis::Fault(_) => continue,
                    Synthesis::Unknown { reason, .. } => panic!("{}: {reason}", what()),
                };
                let Some(lighter) = lighter(&sites, limit) else {
                    continue;
                };
                for chosen in lighter {
                    let changed = apply(&program, &sites, &chosen);
                    let cheaper = limit.is_none_or(|limit| weight(&sites, &chosen) < limit);
                    assert!(
                        !cheaper || !verifies(&changed, model),
                        "{}: {chosen:?}",
                        what()
                    );
                    compared += 1;
                }
            }
        }
    }
    eprintln!(
        "{repaired} programs repaired, {impossible} beyond repair, {compared} cheaper sets tried"
    );
    assert!(repaired > 50 && compared > 1000);
}
