//! The documentation is a book: every page has its place in docs/SUMMARY.md, and links stay inside, so that they work in what
//! mdBook makes of it. That links lead somewhere is checked in `citations`.

use crate::citations::{files, prose, read};
use crate::common::{root, scratch};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

fn docs() -> PathBuf {
    let docs = root().join("docs");
    docs.canonicalize()
        .expect("the folder of the documentation")
}

/// The targets of the links in a text.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let behind = text.split("](").skip(1);
    behind.filter_map(|target| target.split([')', ' ', '#']).next())
}

/// The pages of the book, as their paths in docs.
fn pages() -> BTreeSet<String> {
    let docs = docs();
    let paths = files("md").into_iter().filter_map(|path| {
        let path = path.canonicalize().expect("a file");
        Some(path.strip_prefix(&docs).ok()?.display().to_string())
    });
    paths.filter(|path| path != "SUMMARY.md").collect()
}

#[test]
fn every_page_has_its_place_in_the_book() {
    let summary = read(&docs().join("SUMMARY.md"));
    let listed: Vec<_> = links(&summary).map(str::to_owned).collect();
    let once: BTreeSet<_> = listed.iter().cloned().collect();
    assert_eq!(
        once.len(),
        listed.len(),
        "a page stands twice in SUMMARY.md"
    );
    assert_eq!(once, pages());
}

#[test]
fn links_of_pages_stay_in_the_book() {
    let docs = docs();
    for page in pages() {
        let path = docs.join(&page);
        let folder = path.parent().expect("a folder");
        for line in prose(&read(&path)) {
            for target in links(&line).filter(|target| !target.contains("://")) {
                let to = folder.join(target).canonicalize();
                let inside = to.is_ok_and(|to| to.starts_with(&docs));
                assert!(inside, "{page}: {target} is not in the book");
            }
        }
    }
}

#[test]
fn the_book_is_built() {
    let folder = scratch("book");
    let output = Command::new("mdbook")
        .args(["build", "--dest-dir", &folder])
        .arg(docs())
        .output();
    let Ok(output) = output else {
        println!("mdbook is not installed: the book is not built");
        return;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(!said.contains("WARN"), "{said}");
    let built = |page: &str| PathBuf::from(&folder).join(html(page));
    for page in pages() {
        assert!(built(&page).is_file(), "{page} was not made");
        for line in prose(&read(&docs().join(&page))) {
            let targets = line.split("](").skip(1);
            let targets = targets.filter_map(|target| target.split([')', ' ']).next());
            for (file, anchor) in targets.filter_map(|target| target.split_once('#')) {
                let to = match file {
                    "" => built(&page),
                    file => built(&page).with_file_name(html(file)),
                };
                let id = format!("id=\"{anchor}\"");
                assert!(read(&to).contains(&id), "{page}: {file} has no {anchor}");
            }
        }
    }
}

/// What mdBook makes of a page.
fn html(page: &str) -> String {
    match page.strip_suffix("README.md") {
        Some(folder) => format!("{folder}index.html"),
        None => page.replace(".md", ".html"),
    }
}
