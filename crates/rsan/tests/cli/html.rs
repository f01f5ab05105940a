//! The HTML report in a real browser: a finding is clicked through, its cycle is on the screen, and nothing is fetched.

use crate::common::{root, rsan, scratch};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// Headless Chromium, if one is installed.
fn browser() -> Option<&'static str> {
    let installed = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok());
    if installed.is_none() {
        eprintln!("skipped: chromium is not installed");
    }
    installed
}

/// A report on programs of the repository, and the exit status.
fn report(name: &str, args: &[&str]) -> (String, Option<i32>) {
    let file = scratch(name);
    let mut command = rsan(&root());
    command.args(args).args(["--format", "html", "-o", &file]);
    let output = command.output().expect("rsan starts");
    assert!(output.stdout.is_empty(), "the page goes to the file");
    let page = std::fs::read_to_string(&file).expect("the page is written");
    (page, output.status.code())
}

/// What the probe saw on the page: it puts that into the title.
fn look(browser: &str, name: &str, page: &str) -> Value {
    let probe = format!(
        "<script>\n{}</script>\n</body>",
        include_str!("html_probe.js")
    );
    let file = scratch(&format!("{name}.probed.html"));
    std::fs::write(&file, page.replace("</body>", &probe)).expect("scratch is writable");
    let profile = scratch(&format!("{name}.profile"));
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .args(["--window-size=1400,1000", "--virtual-time-budget=10000"])
        .arg(format!("--user-data-dir={profile}"))
        .arg(format!("file://{}", Path::new(&file).display()))
        .output()
        .expect("the browser starts");
    let dom = String::from_utf8_lossy(&output.stdout);
    let title = dom.split_once("<title>").expect("a title").1;
    let title = title.split_once("</title>").expect("its end").0;
    let title = title.replace("&gt;", ">").replace("&lt;", "<");
    serde_json::from_str(&title.replace("&amp;", "&"))
        .unwrap_or_else(|_| panic!("the probe did not run: {title}"))
}

#[test]
fn a_browser_shows_the_cycle_and_fetches_nothing() {
    let programs = ["litmus/basic/sb-ra.litmus", "litmus/basic/iriw-ra.litmus"];
    let (page, status) = report("report.html", &[&["verify"], &programs[..]].concat());
    assert_eq!(status, Some(1));
    let Some(browser) = browser() else { return };
    assert_eq!(
        look(browser, "verify", &page),
        json!({
            "target": "d0f0",
            "cycle": 4,
            "edges": "fr fr po po",
            "events": 4,
            "overlaps": 0,
            "focused": true,
            "panel": "d: load y -> 0 (acquire)|P0|y|acquire|0|11:12",
            "lit": true,
            "end": 0,
            "start": 4,
            "first": 3,
            "words": "step 1 of 3: P1: store y = 1 (release) at 15:3 · memory: x=0 y=1",
            "filtered": [true, true, true],
            "folded": true,
            "wide": true,
            "fetched": 0,
        })
    );
}

#[test]
fn a_browser_shows_delayed_stores() {
    let programs = ["litmus/basic/sb-ra.litmus", "litmus/basic/sb-ra.litmus"];
    let args = [&["verify", "--model", "tso"], &programs[..]].concat();
    let (page, status) = report("report-tso.html", &args);
    assert_eq!(status, Some(1));
    assert!(page.contains("<g class=\"flush\""));
    let Some(browser) = browser() else { return };
    let seen = look(browser, "tso", &page);
    let of = |name: &str| seen[name].clone();
    assert_eq!(of("error"), Value::Null);
    assert_eq!((of("cycle"), of("edges")), (json!(4), json!("fr fr po po")));
    assert_eq!((of("overlaps"), of("fetched")), (json!(0), json!(0)));
    assert_eq!((of("start"), of("first")), (json!(4), json!(3)));
}

#[test]
fn answers_without_findings_are_pages_too() {
    for args in [
        &["litmus", "litmus/basic/sb-ra.litmus"][..],
        &["fence", "litmus/basic/sb-ra.litmus"],
        &["verify", "litmus/basic/mp-ra.litmus"],
    ] {
        let mut command = rsan(&root());
        let output = command.args(args).args(["--format", "html"]).output();
        let output = output.expect("rsan starts");
        let page = String::from_utf8(output.stdout).expect("a page is UTF-8");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert!(page.starts_with("<!DOCTYPE html>\n") && page.ends_with("</html>\n"));
    }
}
