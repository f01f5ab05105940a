//! Bad input and limits: an error with a clear message, whatever LLVM does.

use crate::common::{Folder, data, has_llvm, read, reader};
use rsan_ir::module::Module;
use rsan_llvm::{Error, Form, Limits, Reader};
use std::path::{Path, PathBuf};
use std::time::Duration;

fn bitcode(folder: &Folder, source: &str) -> Vec<u8> {
    let path = folder.0.join("whole.bc");
    reader()
        .patch(&data(source), &[], &path, Form::Bitcode, &mut || true)
        .expect("written");
    std::fs::read(path).expect("a file")
}

/// Reads damaged bitcode: whatever comes, it is an answer about that file.
fn damaged(folder: &Folder, bytes: &[u8], what: &str) -> Option<Module> {
    let file = folder.file("damaged.bc", bytes);
    match read(std::slice::from_ref(&file)) {
        Ok(read) => Some(read.module),
        Err(error) => {
            let (Error::Corrupt { file: at, message }
            | Error::Empty { file: at, message }
            | Error::TooNew {
                file: at, message, ..
            }) = &error
            else {
                panic!("{what}: {error}");
            };
            assert_eq!(Path::new(at), file, "{what}");
            assert!(!message.is_empty(), "{what}");
            None
        }
    }
}

#[test]
fn truncated_bitcode_is_refused() {
    if !has_llvm() {
        return;
    }
    let folder = Folder::new("truncated");
    let bytes = bitcode(&folder, "calls.ll");
    for length in (0..bytes.len()).step_by(64) {
        let read = damaged(&folder, &bytes[..length], &format!("{length} bytes"));
        // Behind the module there are only tables of names.
        assert!(
            length > bytes.len() / 2 || read.is_none(),
            "{length} bytes are read"
        );
    }
}

#[test]
fn flipped_bits_are_survived() {
    if !has_llvm() {
        return;
    }
    let folder = Folder::new("flipped");
    let bytes = bitcode(&folder, "orders.ll");
    let extended = std::env::var_os("RSAN_EXTENDED").is_some();
    let step = if extended { 3 } else { 199 };
    for bit in (0..bytes.len() * 8).step_by(step) {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        // Most are refused; where the bit is part of a name, they are not.
        damaged(&folder, &changed, &format!("bit {bit}"));
    }
}

#[test]
fn what_has_no_ir_is_said() {
    let folder = Folder::new("empty");
    let message = |name: &str, bytes: &[u8]| {
        let file = folder.file(name, bytes);
        match has_llvm() {
            true => read(&[file]).expect_err("no IR").to_string(),
            false => String::new(),
        }
    };
    if has_llvm() {
        assert!(message("none.bc", b"").contains("the file is empty"));
        assert!(message("zero.bc", &[0; 100]).contains("neither bitcode nor text"));
        assert!(
            message("other.ll", b"int main() { return 0; }").contains("expected top-level entity")
        );
        let program = std::fs::read(env!("CARGO_BIN_EXE_rsan-llvm")).expect("a program");
        assert!(message("program.o", &program).contains("an object file without bitcode"));
        let missing = read(&[PathBuf::from("/nonexistent/q.bc")]).expect_err("no file");
        assert!(missing.to_string().starts_with("/nonexistent/q.bc: "));
    }
}

/// IR that can be parsed but breaks LLVM's rules is refused with its words.
#[test]
fn broken_rules_are_refused() {
    if !has_llvm() {
        return;
    }
    let folder = Folder::new("broken");
    let text = "define i32 @f(i1 %c) {\nentry:\n  br i1 %c, label %x, label %y\nx:\n  %a = add i32 1, 2\n  br label %y\ny:\n  ret i32 %a\n}\n";
    let file = folder.file("broken.ll", text.as_bytes());
    let error = read(&[file]).expect_err("a value that may not be there");
    assert!(error.to_string().contains("does not dominate"), "{error}");
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
}

fn endless() -> Reader {
    Reader::with(PathBuf::from("sleep"), vec!["1000".into()])
}

#[test]
fn the_limit_of_time_holds() {
    let limits = Limits {
        time: Some(Duration::from_millis(30)),
        memory: None,
    };
    let answer = endless().limited(limits).read(&[], &mut || true);
    assert_eq!(answer, Err(Error::Time));
}

#[test]
fn who_does_not_want_to_go_on_does_not_wait() {
    let answer = endless().read(&[], &mut || false);
    assert_eq!(answer, Err(Error::Interrupted));
}

#[cfg(target_os = "linux")]
#[test]
fn the_limit_of_memory_holds() {
    if !has_llvm() {
        return;
    }
    let within = |bytes: u64, file: PathBuf| {
        let limits = Limits {
            time: None,
            memory: Some(bytes),
        };
        reader().limited(limits).read(&[file], &mut || true)
    };
    let for_llvm = within(1 << 20, data("orders.ll"));
    assert_eq!(for_llvm, Err(Error::Memory));
    // A file with nothing in it takes no room but in memory.
    let folder = Folder::new("large");
    let path = folder.file("large.bc", b"");
    let large = std::fs::File::options().write(true).open(&path);
    large
        .and_then(|file| file.set_len(1 << 28))
        .expect("a large file");
    let for_the_file = within(1 << 27, path);
    assert_eq!(for_the_file, Err(Error::Memory));
}

#[test]
fn a_child_that_falls_is_an_error() {
    let child = Reader::with(
        PathBuf::from("sh"),
        vec!["-c".into(), "echo oops >&2; kill -ABRT $$".into()],
    );
    let error = child.read(&[], &mut || true).expect_err("it fell");
    let text = error.to_string();
    assert!(text.contains("signal 6") && text.contains("oops"), "{text}");
    let none = Reader::with(PathBuf::from("/nonexistent/rsan"), Vec::new());
    let error = none.read(&[], &mut || true).expect_err("no program");
    assert!(matches!(error, Error::Child { .. }), "{error}");
}
