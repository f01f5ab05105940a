//! The runtime and the programs, built.

use super::programs;
use crate::steps::cargo;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a program is linked with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Linked {
    /// Nothing, and not instrumented either.
    Plain,
    /// The compiler's own runtime.
    Tsan,
    /// Ours.
    Rsan,
}

impl Linked {
    fn extension(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Tsan => "tsan",
            Self::Rsan => "rsan",
        }
    }
}

/// The options of every compilation.
const OPTIONS: [&str; 4] = ["-std=gnu11", "-O2", "-g", "-pthread"];

/// One compiler and one runtime.
pub(crate) struct Toolchain {
    compiler: String,
    /// The folder of the runtime's library.
    library: PathBuf,
    /// Where objects and executables go.
    work: PathBuf,
    /// What was built already; several rows have the same program.
    built: RefCell<BTreeMap<String, Executables>>,
}

/// A program in its ways of linking.
pub(crate) type Executables = BTreeMap<Linked, PathBuf>;

impl Toolchain {
    /// The compiler must be there; the runtime is a path to its library.
    pub(crate) fn new(compiler: &str, runtime: &Path) -> Result<Self, String> {
        if !is_installed(compiler) {
            return Err(format!("{compiler} is not installed"));
        }
        let library = runtime
            .parent()
            .ok_or("the library is in no folder")?
            .to_owned();
        let name = Path::new(compiler).file_name().unwrap_or_default();
        let work = library.join("bench-sanitizer").join(name);
        std::fs::create_dir_all(&work)
            .map_err(|e| format!("cannot make {}: {e}", work.display()))?;
        Ok(Self {
            compiler: compiler.to_owned(),
            library,
            work,
            built: RefCell::default(),
        })
    }

    /// The compiler's name.
    pub(crate) fn name(&self) -> &str {
        &self.compiler
    }

    /// Whether ThreadSanitizer can be linked and starts.
    pub(crate) fn check_tsan(&self) -> Result<(), String> {
        let source = self.work.join("empty.c");
        std::fs::write(&source, "int main(void) { return 0; }\n")
            .map_err(|e| format!("cannot write {}: {e}", source.display()))?;
        let executable = source.with_extension("tsan");
        let mut command = Command::new(&self.compiler);
        command.arg("-fsanitize=thread").arg(&source);
        run(command.arg("-o").arg(&executable)).map_err(|error| {
            format!(
                "ThreadSanitizer's runtime is missing (libtsan of {}); --no-tsan does without it\n{error}",
                self.compiler
            )
        })?;
        run(&mut Command::new(&executable)).map_err(|error| {
            format!("ThreadSanitizer does not start here; --no-tsan does without it\n{error}")
        })
    }

    /// Compiles a program once with instrumentation and once without, and links it.
    pub(crate) fn executables(&self, file: &str, tsan: bool) -> Result<Executables, String> {
        let known = self.built.borrow().get(file).cloned();
        match known {
            Some(executables) => Ok(executables),
            None => {
                let executables = self.build(file, tsan)?;
                let mut built = self.built.borrow_mut();
                Ok(built.entry(file.to_owned()).or_insert(executables).clone())
            }
        }
    }

    fn build(&self, file: &str, tsan: bool) -> Result<Executables, String> {
        let source = programs::folder().join(file);
        let base = self.work.join(file);
        let object = base.with_extension("o");
        let of = |linked: Linked| base.with_extension(linked.extension());
        let compile = || {
            let mut command = Command::new(&self.compiler);
            command.args(OPTIONS);
            command
        };
        run(compile().arg(&source).arg("-o").arg(of(Linked::Plain)))?;
        let mut instrumented = compile();
        instrumented.arg("-fsanitize=thread");
        if !self.compiler.contains("clang") {
            // gcc warns of fences, which ThreadSanitizer does not understand.
            instrumented.arg("-Wno-tsan");
        }
        run(instrumented.arg("-c").arg(&source).arg("-o").arg(&object))?;
        let link = |linked| {
            let mut command = Command::new(&self.compiler);
            command.arg(&object).arg("-o").arg(of(linked));
            command
        };
        let mut built = BTreeMap::from([(Linked::Plain, of(Linked::Plain))]);
        if tsan {
            run(link(Linked::Tsan).arg("-fsanitize=thread"))?;
            built.insert(Linked::Tsan, of(Linked::Tsan));
        }
        let folder = self.library.display();
        run(link(Linked::Rsan)
            .arg(programs::entries())
            .arg(format!("-L{folder}"))
            .args(["-lrsan_runtime", "-pthread"])
            .arg(format!("-Wl,-rpath,{folder}")))?;
        built.insert(Linked::Rsan, of(Linked::Rsan));
        Ok(built)
    }
}

/// Whether a compiler can be run.
pub(crate) fn is_installed(compiler: &str) -> bool {
    Command::new(compiler)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command
        .output()
        .map_err(|e| format!("cannot run {command:?}: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {}\n{errors}", output.status))
}

/// Builds the runtime; where its library is.
pub(crate) fn runtime(optimised: bool) -> Result<PathBuf, String> {
    let mut command = cargo();
    command.args(["build", "--package", "rsan-runtime", "--lib"]);
    if optimised {
        command.arg("--release");
    }
    eprintln!("xtask: {command:?}");
    let output = command
        .args(["--message-format", "json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| format!("cannot run cargo: {e}"))?;
    let messages = String::from_utf8_lossy(&output.stdout);
    let mut files = messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let files = message["filenames"].as_array()?.clone();
        files
            .iter()
            .filter_map(Value::as_str)
            .map(PathBuf::from)
            .find(|file| file.ends_with("librsan_runtime.so"))
    });
    match files.next_back() {
        Some(path) if output.status.success() => Ok(path),
        _ => Err("the runtime does not build".to_owned()),
    }
}
