//! What is read of a module, as goldens: `RSAN_BLESS=1` rewrites them.

use crate::common::{Folder, data, has_llvm, read, reader};
use crate::render::render;
use rsan_llvm::{Error, Form};
use std::path::PathBuf;

fn golden(name: &str, files: &[&str]) {
    if !has_llvm() {
        return;
    }
    let files: Vec<PathBuf> = files.iter().map(|file| data(file)).collect();
    let read = read(&files).expect("it is read");
    let text = render(&read.module);
    let expected = data(name);
    if std::env::var_os("RSAN_BLESS").is_some() {
        std::fs::write(&expected, &text).expect("written");
    }
    let expected = std::fs::read_to_string(expected).expect("a golden");
    assert_eq!(text, expected, "{name}");
}

#[test]
fn accesses_and_their_orders() {
    golden("orders.txt", &["orders.ll"]);
}

#[test]
fn where_pointers_come_from() {
    golden("pointers.txt", &["pointers.ll"]);
}

#[test]
fn calls_and_assembly() {
    golden("calls.txt", &["calls.ll"]);
}

#[test]
fn lines_and_types() {
    golden("lines.txt", &["lines.ll"]);
}

/// Variables that need no memory are none, so that the branch on the exchange is seen.
#[test]
fn unoptimised_code_is_read_without_its_frame() {
    golden("unoptimised.txt", &["unoptimised.ll"]);
}

#[test]
fn modules_are_joined_by_names() {
    golden("joined.txt", &["first.ll", "second.ll"]);
}

#[test]
fn units_tell_functions_of_the_same_name_apart() {
    if !has_llvm() {
        return;
    }
    let read = read(&[data("first.ll"), data("second.ll")]).expect("it is read");
    let helpers: Vec<u32> = read
        .module
        .functions
        .iter()
        .zip(&read.unit_of)
        .filter(|(function, _)| function.name == "helper")
        .map(|(_, unit)| *unit)
        .collect();
    assert_eq!(helpers, [0, 1]);
    assert_eq!(read.units.len(), 2);
}

/// Text, bitcode, and archives of bitcode hold the same program.
#[test]
fn all_forms_say_the_same() {
    if !has_llvm() {
        return;
    }
    let folder = Folder::new("forms");
    let bitcode = folder.0.join("orders.bc");
    let go_on = &mut || true;
    let source = data("orders.ll");
    reader()
        .patch(&source, &[], &bitcode, Form::Bitcode, go_on)
        .expect("written");
    let text = read(&[source]).expect("text is read").module;
    let expected = render(&text);
    let module = read(std::slice::from_ref(&bitcode))
        .expect("bitcode is read")
        .module;
    assert_eq!(render(&module), expected);

    let member = std::fs::read(&bitcode).expect("a file");
    let archive = folder.file("liborders.a", &archive(&member));
    let found = read(&[archive]).expect("an archive is read");
    assert_eq!(render(&found.module), expected);
    assert!(found.units[0].ends_with("liborders.a(orders.o)"));
}

/// An archive with one member.
fn archive(member: &[u8]) -> Vec<u8> {
    let header = format!(
        "{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n",
        "orders.o/",
        0,
        0,
        0,
        644,
        member.len()
    );
    let mut bytes = b"!<arch>\n".to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(member);
    if member.len() % 2 == 1 {
        bytes.push(b'\n');
    }
    bytes
}

#[test]
fn a_machine_without_llvm_says_what_to_install() {
    let error = Error::Missing {
        looked: vec!["/usr/lib/libLLVM*".to_owned()],
    };
    let text = error.to_string();
    for words in [
        "rustup",
        "apt install libllvm",
        "RSAN_LLVM",
        "/usr/lib/libLLVM*",
    ] {
        assert!(text.contains(words), "{text}");
    }
}
