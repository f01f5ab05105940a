//! The automata of the repository, and those in the folder `trencher` of RSAN_PUBLISHED.

use rsan_model::Source;
use rsan_model::automata::Automata;
use rsan_tso::{
    FenceSet, Limits, Synthesis, Verdict, cheapest_fences, robustness, triangular_races,
};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
struct Corpus {
    program: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    file: String,
    robust: bool,
    triangular_race_free: bool,
    fences: usize,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../automata")
}

fn read(path: &Path) -> (String, Automata) {
    let text = std::fs::read_to_string(path).expect("the file can be read");
    let source = Source::new(path.display().to_string(), &*text);
    let automata = rsan_lang::parse_automata(&source)
        .unwrap_or_else(|errors| panic!("{}", errors.render(&source, false)));
    (text, automata)
}

fn is_robust(automata: &Automata, fences: &FenceSet) -> bool {
    match robustness(automata, fences, &Limits::default()).verdict {
        Verdict::Robust => true,
        Verdict::Violation(_) => false,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_program_has_the_answers_of_its_row() {
    let text = std::fs::read_to_string(folder().join("corpus.toml")).expect("the table is there");
    let corpus: Corpus = toml::from_str(&text).expect("the table is right");
    for row in &corpus.program {
        let (_, automata) = read(&folder().join(&row.file));
        let file = &row.file;
        assert_eq!(
            is_robust(&automata, &FenceSet::default()),
            row.robust,
            "{file}"
        );
        let races = triangular_races(&automata, &Limits::default()).verdict;
        let free = races == Verdict::Robust;
        assert_eq!(free, row.triangular_race_free, "{file}");
        assert!(
            !free || row.robust,
            "{file}: no triangular race, hence robust"
        );
        let synthesis = cheapest_fences(&automata, &|_| 1, &Limits::default(), &mut |_, _| {});
        let Synthesis::Repair(repair) = synthesis else {
            panic!("{file}: {synthesis:?}");
        };
        assert_eq!(repair.fences.len(), row.fences, "{file}");
        let fences: FenceSet = repair.fences.iter().map(|f| f.0).collect();
        assert!(is_robust(&automata, &fences), "{file}");
        for (place, _) in &repair.fences {
            assert!(!is_robust(&automata, &fences.without(*place)), "{file}");
        }
    }
    let rows: BTreeSet<String> = corpus.program.into_iter().map(|r| r.file).collect();
    let files = std::fs::read_dir(folder()).expect("the folder is there");
    let files: BTreeSet<String> = files
        .map(|f| {
            f.expect("a file")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| name.ends_with(".txt"))
        .collect();
    assert_eq!(rows, files, "each file has a row, and each row a file");
}

/// No set of fewer fences works, by trying all of them.
#[test]
fn no_smaller_set_of_fences_works() {
    for file in [
        "peterson.txt",
        "try-lock.txt",
        "parker.txt",
        "three-flags.txt",
    ] {
        let (_, automata) = read(&folder().join(file));
        let synthesis = cheapest_fences(&automata, &|_| 1, &Limits::default(), &mut |_, _| {});
        let Synthesis::Repair(repair) = synthesis else {
            panic!("{file}: {synthesis:?}");
        };
        let mut places = Vec::new();
        for (thread, automaton) in automata.threads.iter().enumerate() {
            for state in 0..automaton.states.len() {
                let state = rsan_model::automata::StateId(state as u32);
                places.push(rsan_tso::FencePlace { thread, state });
            }
        }
        for set in 0u64..1 << places.len() {
            if set.count_ones() as usize >= repair.fences.len() {
                continue;
            }
            let chosen = places.iter().enumerate().filter(|(i, _)| set >> i & 1 != 0);
            let fences: FenceSet = chosen.map(|(_, place)| *place).collect();
            assert!(!is_robust(&automata, &fences), "{file} {fences:?}");
        }
    }
}

#[test]
fn published_automata_have_the_verdicts_of_their_comments() {
    let Some(published) = std::env::var_os("RSAN_PUBLISHED") else {
        eprintln!("skipped: RSAN_PUBLISHED does not name the folder of published automata");
        return;
    };
    let published = Path::new(&published).join("trencher");
    let mut checked = 0;
    for folder in [published.clone(), published.join("memorax")] {
        for file in std::fs::read_dir(folder).expect("a folder") {
            let path = file.expect("a file").path();
            if path.extension().is_none_or(|e| e != "txt") {
                continue;
            }
            let (text, automata) = read(&path);
            let expected = match (text.contains("IS robust."), text.contains("IS NOT robust.")) {
                (true, false) => true,
                (false, true) => false,
                _ => continue,
            };
            let robust = is_robust(&automata, &FenceSet::default());
            assert_eq!(robust, expected, "{}", path.display());
            checked += 1;
        }
    }
    assert!(checked > 10, "some have verdicts");
}
