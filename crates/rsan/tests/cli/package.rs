//! What is published has all that it is built of, and says what it is. `cargo xtask package` builds it.

use crate::common::root;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// What cargo prints about the repository, without asking a registry.
fn cargo(args: &[&str]) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(args)
        .arg("--offline")
        .current_dir(root())
        .output()
        .expect("cargo starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {args:?}: {said}");
    String::from_utf8(output.stdout).expect("cargo prints UTF-8")
}

/// The files below a folder, from there.
fn files(folder: &Path) -> Vec<String> {
    fn visit(folder: &Path, prefix: &str, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).expect("a readable folder") {
            let entry = entry.expect("an entry");
            let name = format!("{prefix}{}", entry.file_name().display());
            if entry.file_type().expect("a type").is_dir() {
                visit(&entry.path(), &format!("{name}/"), found);
            } else {
                found.push(name);
            }
        }
    }
    let mut found = Vec::new();
    visit(folder, "", &mut found);
    found
}

/// The crates whose sources the package of the command has for its build script.
fn carried() -> Vec<String> {
    let folder = std::fs::read_dir(root().join("crates/rsan/runtime")).expect("the links");
    let names = folder.map(|entry| entry.expect("an entry").file_name());
    names.map(|name| name.display().to_string()).collect()
}

#[test]
fn the_package_of_the_command_has_what_its_build_script_needs() {
    let listed = cargo(&["package", "--list", "--allow-dirty", "--package", "rsan"]);
    let listed: BTreeSet<&str> = listed.lines().collect();
    let carried = carried();
    let script = std::fs::read_to_string(root().join("crates/rsan/build.rs")).expect("the script");
    for name in &carried {
        assert!(script.contains(&format!("\"{name}\"")), "{name} is unused");
        let sources = files(&root().join("crates").join(name).join("src"));
        assert!(!sources.is_empty(), "{name} has no sources");
        let expected = sources.iter().map(|file| format!("src/{file}"));
        for file in expected.chain(["manifest.toml".to_owned()]) {
            let file = format!("runtime/{name}/{file}");
            assert!(listed.contains(&*file), "{file} is not in the package");
        }
    }
    for file in [
        "build.rs",
        "include/rsan.h",
        "runtime/rsan-runtime/entries/plain.s",
        "src/main.rs",
        "src/bin/cargo-rsan.rs",
        "Cargo.lock",
        "README.md",
        "LICENSE-MIT",
        "LICENSE-APACHE",
    ] {
        assert!(listed.contains(file), "{file} is not in the package");
    }
    let tests: Vec<_> = listed.iter().filter(|f| f.starts_with("tests/")).collect();
    assert!(tests.is_empty(), "the package has {tests:?}");
}

/// The packages of the repository, as cargo understands their manifests.
fn packages() -> Vec<Value> {
    let metadata = cargo(&["metadata", "--no-deps", "--format-version=1"]);
    let metadata: Value = serde_json::from_str(&metadata).expect("JSON");
    metadata["packages"].as_array().expect("packages").clone()
}

/// Its dependencies, but for those that only tests have.
fn dependencies(package: &Value) -> impl Iterator<Item = &Value> {
    let all = package["dependencies"].as_array().expect("dependencies");
    all.iter().filter(|one| one["kind"] != "dev")
}

/// Whether a package is published; `publish = false` is a list of no registries.
fn is_published(package: &Value) -> bool {
    package["publish"].is_null()
}

#[test]
fn what_is_carried_depends_on_nothing_of_ours_that_is_not() {
    let carried = carried();
    let packages = packages();
    let ours = packages.iter().filter(|one| {
        let name = one["name"].as_str().expect("a name");
        carried.iter().any(|other| other == name)
    });
    for package in ours {
        for other in dependencies(package).filter(|one| one["path"].is_string()) {
            let other = other["name"].as_str().expect("a name");
            assert!(
                carried.iter().any(|one| one == other),
                "{} depends on {other}, which crates/rsan/runtime does not have",
                package["name"]
            );
        }
    }
}

#[test]
fn published_packages_say_what_they_are() {
    let packages = packages();
    let published: Vec<&Value> = packages.iter().filter(|one| is_published(one)).collect();
    let names: BTreeSet<&str> = published
        .iter()
        .filter_map(|p| p["name"].as_str())
        .collect();
    assert!(names.contains("rsan") && names.contains("rsan-annotations"));
    for package in published {
        let name = package["name"].as_str().expect("a name");
        for field in ["description", "license", "readme", "rust_version"] {
            let text = package[field].as_str().unwrap_or_default();
            assert!(!text.is_empty(), "{name} has no {field}");
        }
        for field in ["keywords", "categories"] {
            let words = package[field].as_array().expect("a list");
            assert!((1..=5).contains(&words.len()), "{name}: {field}");
        }
        let folder = root().join("crates").join(name);
        for file in ["LICENSE-MIT", "LICENSE-APACHE"] {
            assert!(folder.join(file).is_file(), "{name} has no {file}");
        }
        for other in dependencies(package).filter(|one| one["path"].is_string()) {
            let to = other["name"].as_str().expect("a name");
            assert!(
                names.contains(to),
                "{name} needs {to}, which is not published"
            );
            assert_ne!(other["req"], "*", "{name} needs any version of {to}");
        }
        // Those that only tests have must not be asked of a registry that does not have them.
        for other in package["dependencies"].as_array().expect("dependencies") {
            let to = other["name"].as_str().expect("a name");
            let stays = other["path"].is_string() && other["req"] != "*";
            assert!(!stays || names.contains(to), "{name} needs {to} for tests");
        }
    }
}
