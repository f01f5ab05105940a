//! What comments and pages point to is there: sections of `docs/theory` that are cited, and links between pages.
//!
//! A citation is a page, a comma and sections: `docs/theory/PAGE.md, W6`, `…, W6 and W7`, `…, W1 to W17`. In a comment it has
//! to name a section. A section is a heading that begins with a letter and a number.

use crate::common::root;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Where the pages are that are cited by section.
const THEORY: &str = "docs/theory/";

/// The files of the repository that end so, links not followed.
pub(crate) fn files(extension: &str) -> Vec<PathBuf> {
    fn visit(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("a readable folder") {
            let entry = entry.expect("an entry");
            let path = entry.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if entry.file_type().expect("a type").is_dir() {
                if name != "target" && !name.starts_with('.') {
                    visit(&path, extension, found);
                }
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    visit(&root(), extension, &mut found);
    found.sort();
    assert!(!found.is_empty());
    found
}

pub(crate) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The lines of a page that are not in fenced blocks, without what is in backquotes.
pub(crate) fn prose(page: &str) -> impl Iterator<Item = String> {
    let mut fenced = false;
    let outside = page.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    });
    outside.map(|line| line.split('`').step_by(2).collect())
}

/// The headings of a page, of all levels, as they are written.
fn headings(page: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    page.lines().filter_map(move |line| {
        fenced ^= line.trim_start().starts_with("```");
        let title = line.trim_start_matches('#').strip_prefix(' ')?;
        (!fenced && line.starts_with('#')).then_some(title)
    })
}

/// The section that a text begins with, and the rest.
fn section(text: &str) -> Option<(&str, &str)> {
    let digits = text.strip_prefix(|c: char| c.is_ascii_uppercase())?;
    let rest = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    let ends = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    (rest.len() < digits.len() && ends).then(|| text.split_at(text.len() - rest.len()))
}

/// The sections of each page of the theory, by the name of the page.
fn theory() -> BTreeMap<String, BTreeSet<String>> {
    let pages = files("md").into_iter().filter_map(|path| {
        let folder = root().join(THEORY);
        let name = path.strip_prefix(folder).ok()?.display().to_string();
        let page = read(&path);
        let sections = headings(&page).filter_map(section);
        Some((name, sections.map(|(id, _)| id.to_owned()).collect()))
    });
    pages.collect()
}

/// What is wrong with the citations of a text. `strict`: a citation has to name a section.
fn wrong_citations(
    text: &str,
    strict: bool,
    theory: &BTreeMap<String, BTreeSet<String>>,
) -> Vec<String> {
    let mut wrong = Vec::new();
    for cited in text.split(THEORY).skip(1) {
        let name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
        let after = cited.trim_start_matches(name);
        let page = &cited[..cited.len() - after.len()];
        let Some(mut rest) = after.strip_prefix(".md") else {
            if strict {
                wrong.push(format!("{THEORY}{page} is no page"));
            }
            continue;
        };
        let Some(sections) = theory.get(&format!("{page}.md")) else {
            wrong.push(format!("{THEORY}{page}.md is not there"));
            continue;
        };
        let mut named = 0;
        let links = [", ", " and ", " to "];
        while let Some((id, after)) = links
            .iter()
            .find_map(|link| section(rest.strip_prefix(link)?))
        {
            if !sections.contains(id) {
                wrong.push(format!("{THEORY}{page}.md has no section {id}"));
            }
            named += 1;
            rest = after;
        }
        if strict && named == 0 {
            wrong.push(format!("{THEORY}{page}.md is cited without a section"));
        }
    }
    wrong
}

/// The comments of a program, each as one line.
fn comments(code: &str) -> Vec<String> {
    let mut comments = vec![String::new()];
    for line in code.lines() {
        let comment = line.split_once("//").map(|(_, comment)| comment);
        let whole = line.trim_start().starts_with("//");
        if let Some(comment) = comment.filter(|_| whole || line.contains(" // ")) {
            let text = comment.trim_start_matches(['/', '!']).trim();
            let last = comments.last_mut().expect("never empty");
            last.push_str(text);
            last.push(' ');
        }
        if !whole {
            comments.push(String::new());
        }
    }
    comments
}

#[test]
fn cited_sections_exist() {
    let theory = theory();
    let (mut wrong, mut citations) = (Vec::new(), 0);
    for path in files("rs") {
        let code = read(&path);
        for comment in comments(&code) {
            // The examples above.
            if comment.contains("PAGE.md") {
                continue;
            }
            citations += comment.matches(THEORY).count();
            let found = wrong_citations(&comment, true, &theory);
            wrong.extend(found.iter().map(|w| format!("{}: {w}", path.display())));
        }
    }
    for path in files("md") {
        let page = read(&path).replace('\n', " ");
        let found = wrong_citations(&page, false, &theory);
        wrong.extend(found.iter().map(|w| format!("{}: {w}", path.display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(citations > 50, "{citations} citations were found");
}

#[test]
fn sections_of_the_theory_are_numbered_once_and_mentioned_rightly() {
    let theory = theory();
    let letters: BTreeSet<char> = theory
        .values()
        .flatten()
        .flat_map(|id| id.chars().next())
        .collect();
    let mut owners = BTreeMap::new();
    for (name, sections) in &theory {
        for id in sections {
            assert_eq!(owners.insert(id, name), None, "{id} is in two pages");
        }
        let page = read(&root().join(THEORY).join(name));
        let second = page.lines().filter(|line| line.starts_with("## ")).count();
        let is_index = name == "README.md";
        assert!(
            is_index || second == sections.len(),
            "{name}: a heading without a number, or twice the same"
        );
    }
    for name in theory.keys() {
        let page = read(&root().join(THEORY).join(name));
        for line in prose(&page) {
            let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            let mentioned = words.filter(|word| word.starts_with(|c| letters.contains(&c)));
            for (id, _) in mentioned.filter_map(section) {
                assert!(owners.contains_key(&id.to_owned()), "{name} mentions {id}");
            }
        }
    }
}

/// The anchors of a page, as GitHub makes them of headings.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let anchor = |title: &str| {
        let kept = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        let kept: String = title.chars().filter(|&c| kept(c)).collect();
        kept.trim().to_lowercase().replace(' ', "-")
    };
    let named = headings(page).map(|title| {
        let anchor = anchor(title);
        let count = counts.entry(anchor.clone()).or_default();
        *count += 1;
        match *count {
            1 => anchor,
            n => format!("{anchor}-{}", n - 1),
        }
    });
    named.collect()
}

#[test]
fn links_between_pages_lead_somewhere() {
    let (mut wrong, mut links) = (Vec::new(), 0);
    for path in files("md") {
        let folder = path.parent().expect("a folder");
        for line in prose(&read(&path)) {
            for target in line.split("](").skip(1) {
                let target = target.split([')', ' ']).next().unwrap_or_default();
                if target.contains("://") || target.starts_with("mailto:") {
                    continue;
                }
                links += 1;
                let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
                let to = if file.is_empty() {
                    path.clone()
                } else {
                    folder.join(file)
                };
                let leads =
                    to.exists() && (anchor.is_empty() || anchors(&read(&to)).contains(anchor));
                if !leads {
                    wrong.push(format!("{}: {target}", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(links > 50, "{links} links were found");
}

#[test]
fn wrong_citations_and_anchors_are_noticed() {
    let sections = ["W6", "W7"].map(str::to_owned).into_iter().collect();
    let theory = BTreeMap::from([("log.md".to_owned(), sections)]);
    let wrong = |text: &str| wrong_citations(text, true, &theory).len();
    for right in [
        "",
        "docs/theory/log.md, W6",
        "see docs/theory/log.md, W6 and W7).",
    ] {
        assert_eq!(wrong(right), 0, "{right}");
    }
    for bad in [
        "docs/theory/log.md, W8",
        "docs/theory/log.md, W6 to W8",
        "docs/theory/log.md, section 6",
        "docs/theory/log.md",
        "docs/theory/lag.md, W6",
        "docs/theory/log, W6",
    ] {
        assert_eq!(wrong(bad), 1, "{bad}");
    }
    let code = "    /// As in @log.md,\n    /// W6.\n    fn f() {} // @log.md, W7\n";
    let code = code.replace('@', THEORY);
    let found = comments(&code).concat();
    assert_eq!(
        found.trim(),
        "As in docs/theory/log.md, W6. docs/theory/log.md, W7"
    );
    let page = "# A `b`, c\n```sh\n# no\n```\n## D\n## D\n";
    assert_eq!(Vec::from_iter(anchors(page)), ["a-b-c", "d", "d-1"]);
}
