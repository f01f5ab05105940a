//! Parts of explorations: together they show what the whole shows, each execution once.

use super::*;

/// Makes all runs of a level.
fn level(program: &Program, explorer: &mut Explorer, all: &mut Vec<Fingerprint>) {
    let jobs: Vec<Job> = std::iter::from_fn(|| explorer.next()).collect();
    for job in jobs {
        let trace = Run::under(program, job.plan);
        if let Outcome::Execution { .. } = explorer.done(job.id, &trace) {
            all.push(Fingerprint::of(&trace.steps));
        }
    }
}

/// The executions of a part; `whole` is where it begins.
fn part(
    program: &Program,
    mut explorer: Explorer,
    (number, of): (usize, usize),
) -> (Vec<Fingerprint>, Explorer, u128) {
    let mut all = Vec::new();
    assert!(explorer.spread(|| false));
    while (1..2 * of).contains(&explorer.progress().waiting) {
        level(program, &mut explorer, &mut all);
        explorer.spread(|| false);
    }
    let digest = explorer.digest();
    if number > 0 {
        all.clear();
    }
    explorer.keep(number, of);
    (all, explorer, digest)
}

fn finish(program: &Program, explorer: &mut Explorer, all: &mut Vec<Fingerprint>) {
    while explorer.progress().waiting > 0 {
        level(program, explorer, all);
    }
}

#[test]
fn parts_show_each_execution_once() {
    let mut random = Random::new(5);
    let mut largest = 0;
    for round in 0..200 {
        let program = random_program(&mut random);
        let (expected, whole) = explored(&program);
        let of = 1 + round % 5;
        let (mut found, mut counts) = (Vec::new(), (0, 0, 0));
        let mut digests = BTreeSet::new();
        for number in 0..of {
            let start = Explorer::new(bounds(&program));
            let (mut all, mut explorer, digest) = part(&program, start, (number, of));
            digests.insert(digest);
            finish(&program, &mut explorer, &mut all);
            let progress = explorer.progress();
            assert!(progress.is_complete());
            assert!(progress.counts.runs() == 0 || (progress.share - 1.0).abs() < 1e-6);
            counts.0 += progress.counts.executions;
            counts.1 += progress.counts.blocked;
            counts.2 += progress.counts.excess;
            found.extend(all);
        }
        assert_eq!(digests.len(), 1, "all parts have the same beginning");
        largest = largest.max(found.len());
        let distinct: BTreeSet<_> = found.iter().copied().collect();
        assert_eq!(distinct, expected, "{program:?}");
        assert_eq!(distinct.len(), found.len(), "{program:?}");
        let whole = whole.counts;
        assert_eq!(counts, (whole.executions, whole.blocked, whole.excess));
    }
    assert!(largest > 50, "{largest}");
}

/// What a part leaves is split again.
#[test]
fn what_is_left_of_a_part_is_a_whole() {
    let program = critical_sections(4);
    let (expected, whole) = explored(&program);
    let start = Explorer::new(bounds(&program));
    let (mut found, mut first, _) = part(&program, start, (0, 2));
    for _ in 0..2 {
        let job = first.next().expect("more than that");
        let trace = Run::under(&program, job.plan);
        if let Outcome::Execution { .. } = first.done(job.id, &trace) {
            found.push(Fingerprint::of(&trace.steps));
        }
    }
    let mut executions = first.progress().counts.executions;
    let left = first.save();
    let mut parts = vec![part(&program, Explorer::new(bounds(&program)), (1, 2))];
    for number in 0..3 {
        let mut rest = Explorer::load(&left).expect("what was saved");
        rest.count_anew();
        parts.push(part(&program, rest, (number, 3)));
    }
    assert!(
        parts[1..]
            .iter()
            .all(|(_, _, digest)| *digest == parts[1].2)
    );
    for (mut all, mut explorer, _) in parts {
        finish(&program, &mut explorer, &mut all);
        executions += explorer.progress().counts.executions;
        found.extend(all);
    }
    assert_eq!(executions, whole.counts.executions);
    let distinct: BTreeSet<_> = found.iter().copied().collect();
    assert_eq!((distinct.len(), distinct), (found.len(), expected));
}

/// A program that does not do the same again has another beginning.
#[test]
fn other_beginnings_have_other_digests() {
    let beginning = |program: &Program| {
        let start = Explorer::new(bounds(program));
        part(program, start, (0, 2)).2
    };
    let digests = [4, 5].map(|threads| beginning(&critical_sections(threads)));
    assert_ne!(digests[0], digests[1]);
}
