//! Against brute force.

use super::*;
use rsan_random::Random;

/// Up to `most` of the choices 0 to 9.
fn some(random: &mut Random, most: usize) -> Vec<usize> {
    let mut set: Vec<usize> = (0..random.below(most + 1))
        .map(|_| random.below(10))
        .collect();
    set.sort_unstable();
    set.dedup();
    set
}

fn holds(clauses: &[Clause], exclusive: &[Vec<usize>], set: u32) -> bool {
    let has = |choice: &usize| set >> choice & 1 != 0;
    let holds = |c: &Clause| c.wanted.iter().any(has) || !c.unless.iter().all(has);
    let alone = |group: &Vec<usize>| group.iter().filter(|c| has(c)).count() <= 1;
    clauses.iter().all(holds) && exclusive.iter().all(alone)
}

/// The least cost, by trying all sets of the choices 0 to 9.
fn brute_force(clauses: &[Clause], exclusive: &[Vec<usize>], costs: &[u64]) -> Option<u64> {
    let sets = (0..1u32 << 10).filter(|set| holds(clauses, exclusive, *set));
    let cost = |set: u32| (0..10).map(|i| costs[i] * u64::from(set >> i & 1)).sum();
    sets.map(cost).min()
}

fn check(clauses: &[Clause], exclusive: &[Vec<usize>], costs: &[u64]) -> bool {
    let expected = brute_force(clauses, exclusive, costs);
    let found = cheapest(clauses, exclusive, |c| costs[c] as f64);
    let cost = found.as_ref().map(|f| f.iter().map(|c| costs[*c]).sum());
    assert_eq!(cost, expected, "{clauses:?} {exclusive:?} {costs:?}");
    if let Some(found) = &found {
        let set = found.iter().fold(0, |set, c| set | 1 << c);
        assert!(holds(clauses, exclusive, set), "{clauses:?} {exclusive:?}");
    }
    found.is_some()
}

#[test]
fn hitting_sets_are_as_cheap_as_by_brute_force() {
    let mut random = Random::new(1);
    for _ in 0..500 {
        let costs: Vec<u64> = (0..10).map(|_| 1 + random.below(5) as u64).collect();
        let clauses: Vec<Clause> = (0..random.below(14))
            .map(|_| {
                let mut set = some(&mut random, 4);
                set.push(random.below(10));
                Clause::one_of(set)
            })
            .collect();
        assert!(check(&clauses, &[], &costs));
    }
}

#[test]
fn negated_choices_and_groups_are_respected() {
    let mut random = Random::new(2);
    let mut contradictions = 0;
    for _ in 0..1000 {
        let costs: Vec<u64> = (0..10).map(|_| random.below(5) as u64).collect();
        let clauses: Vec<Clause> = (0..random.below(10))
            .map(|_| Clause {
                wanted: some(&mut random, 3),
                unless: some(&mut random, 2),
            })
            .collect();
        let groups = vec![vec![0, 1, 2], vec![3, 4]];
        contradictions += usize::from(!check(&clauses, &groups, &costs));
    }
    assert!(contradictions > 20 && contradictions < 900);
}

#[test]
fn nothing_is_needed_when_nothing_is_asked() {
    assert_eq!(cheapest(&[], &[], |_| 1.0), Some(Vec::new()));
    assert_eq!(cheapest(&[Clause::default()], &[], |_| 1.0), None);
}

/// Many clauses that fall apart into small ones.
#[test]
fn large_problems_fall_apart() {
    let clauses: Vec<Clause> = (0..2000)
        .map(|i| Clause::one_of([i, i + 1].map(|c| c % 3 + i / 4 * 3)))
        .collect();
    let found = cheapest(&clauses, &[], |_| 1.0).expect("a solution");
    assert_eq!(found.len(), 2000 / 4 * 2);
}
