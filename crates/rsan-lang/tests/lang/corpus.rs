//! The published programs, when RSAN_PUBLISHED names their folder, and those of the documentation.

use rsan_lang::{Format, expected_verdicts, parse};
use rsan_model::Source;
use std::path::{Path, PathBuf};

fn files(dir: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return;
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files(&path, extension, found);
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
}

#[test]
fn every_published_tpl_program_is_read_and_has_verdicts() {
    let Some(published) = std::env::var_os("RSAN_PUBLISHED") else {
        eprintln!("skipped: RSAN_PUBLISHED does not name the folder of published programs");
        return;
    };
    let root = Path::new(&published).join("tpl");
    let mut found = Vec::new();
    files(&root, "tpl", &mut found);
    assert!(!found.is_empty(), "no programs in {}", root.display());
    for path in found {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let source = Source::new(path.display().to_string(), text.as_str());
        if let Err(errors) = parse(&source, Format::Tpl) {
            panic!("{}", errors.render(&source, false));
        }
        assert_ne!(
            expected_verdicts(&text),
            rsan_lang::ExpectedVerdicts::default(),
            "{} has no verdict",
            path.display()
        );
        assert_eq!(Format::detect("noname", &text), Some(Format::Tpl));
    }
}

#[test]
fn every_row_of_the_litmus_tables_is_read_and_printed_again() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/theory/litmus.md");
    let page = std::fs::read_to_string(&path).expect("a readable page");
    let programs: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("| "))
        .filter_map(|line| line.split('`').nth(1))
        .filter(|text| text.contains('‖'))
        .collect();
    assert!(programs.len() > 130, "{} programs", programs.len());
    for text in programs {
        let source = Source::new("table", text);
        let program = parse(&source, Format::Mini)
            .unwrap_or_else(|errors| panic!("{}", errors.render(&source, false)));
        let printed = rsan_lang::mini::print(&program).expect("printable");
        assert_eq!(printed.replace("||", "‖"), text);
    }
}
