//! Compiling translations and running them.

use rsan_crosscheck::Run;
use rsan_lang::emit::{self, Options};
use rsan_model::Program;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// A folder with the translations of one test.
pub(crate) struct Workshop {
    folder: PathBuf,
}

/// A program that was compiled.
pub(crate) struct Built {
    path: PathBuf,
    /// Which of the programs in the file it is, if there are several.
    name: Option<String>,
}

/// What a run of it did.
pub(crate) struct Done {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The findings that the runtime logged.
    pub(crate) findings: Vec<Value>,
}

/// The steps of a run as the translation reads them.
pub(crate) fn schedule(run: &Run<'_>) -> String {
    let steps: Vec<String> = run.steps.iter().map(ToString::to_string).collect();
    steps.join(" ")
}

impl Workshop {
    /// A folder of this name; `None` when there is no compiler.
    pub(crate) fn new(name: &str) -> Option<Self> {
        Command::new("gcc").arg("--version").output().ok()?;
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join("translated")
            .join(name);
        std::fs::create_dir_all(&folder).expect("the scratch folder is writable");
        Some(Self { folder })
    }

    /// Where the translations are.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Translates and compiles a program. Warnings are errors.
    pub(crate) fn build(
        &self,
        name: &str,
        program: &Program,
        options: Options,
    ) -> Result<Built, String> {
        let text = emit::print(program, options).map_err(|e| format!("{name}: {e}"))?;
        let path = self.folder.join(name);
        let source = path.with_extension("c");
        std::fs::write(&source, text).expect("the scratch folder is writable");
        let mut compiler = Command::new(env!("CARGO_BIN_EXE_rsan"));
        compiler
            .args([
                "cc",
                "-std=gnu11",
                "-O1",
                "-pthread",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-o",
            ])
            .args([&path, &source])
            .env("XDG_CACHE_HOME", self.folder.with_file_name("cache"))
            .env_remove("RSAN_CC");
        // The schedule says how long the program runs; some of the others are blocked in the end.
        let bound = if options.scheduled {
            "-DROUNDS=1000"
        } else {
            "-DDEADLINE=2"
        };
        compiler.arg(bound);
        if let Some(other) = std::env::var_os("RSAN_COMPILER") {
            compiler.env("RSAN_CC", other);
        }
        let output = compiler.output().expect("rsan starts");
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{name} cannot be compiled:\n{errors}"));
        }
        Ok(Built { path, name: None })
    }
}

impl Workshop {
    /// Translates programs to Rust and compiles them as one crate, whose first argument says which of them to run. Warnings are errors.
    pub(crate) fn build_rust(&self, programs: &[(&str, &Program)], options: Options) -> Vec<Built> {
        let (mut modules, mut arms) = (String::new(), String::new());
        for (i, (name, program)) in programs.iter().enumerate() {
            let text = emit::print_rust(program, options).unwrap_or_else(|e| panic!("{name}: {e}"));
            // As for C: the schedule says how long the program runs; some of the others are blocked in the end.
            let text = if options.scheduled {
                text.replace("ROUNDS: u32 = 3", "ROUNDS: u32 = 1000")
            } else {
                text.replace("DEADLINE: u32 = 10", "DEADLINE: u32 = 2")
            };
            let file = format!("{name}.rs");
            std::fs::write(self.folder.join(&file), text).expect("the scratch folder is writable");
            modules += &format!("#[path = {file:?}]\nmod m{i};\n");
            arms += &format!("        Some({name:?}) => m{i}::main(),\n");
        }
        let text = format!(
            "{modules}\nfn main() {{\n    match std::env::args().nth(1).as_deref() {{\n{arms}        \
             other => panic!(\"no program {{other:?}}\"),\n    }}\n}}\n"
        );
        std::fs::write(self.folder.join("main.rs"), text).expect("the scratch folder is writable");
        let path = self.compile_rust();
        let built = |(name, _): &(&str, &Program)| Built {
            path: path.clone(),
            name: Some((*name).to_owned()),
        };
        programs.iter().map(built).collect()
    }

    /// Compiles `main.rs` as `cargo rsan` does; returns the program.
    fn compile_rust(&self) -> PathBuf {
        let manifest = "[package]\nname = \"translated\"\nedition = \"2024\"\n\n[workspace]\n\n\
                        [[bin]]\nname = \"translated\"\npath = \"main.rs\"\n";
        std::fs::write(self.folder.join("Cargo.toml"), manifest)
            .expect("the scratch folder is writable");
        let output = Command::new(env!("CARGO_BIN_EXE_rsan"))
            .args(["cargo", "build", "--release", "--offline"])
            .args(["--message-format", "json-render-diagnostics"])
            .current_dir(&self.folder)
            .env("XDG_CACHE_HOME", self.folder.with_file_name("cache"))
            .env("RUSTFLAGS", "-Dwarnings")
            .output()
            .expect("rsan starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "it cannot be compiled:\n{errors}");
        let lines = String::from_utf8_lossy(&output.stdout);
        let mut messages = lines
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let program =
            messages.find_map(|message| message["executable"].as_str().map(PathBuf::from));
        program.expect("cargo names the program")
    }
}

impl Built {
    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Runs it under the schedule of a run.
    pub(crate) fn run_scheduled(&self, run: &Run<'_>, options: &str) -> Done {
        // The run ends with its last step, and threads that nobody joins.
        self.start(&format!("log_cap=0 thread_leaks=0 {options}"), |command| {
            command.env("RSAN_SCHEDULE", schedule(run))
        })
    }

    /// Runs it freely.
    pub(crate) fn run(&self) -> Done {
        self.run_with("")
    }

    /// Runs it freely, with settings.
    pub(crate) fn run_with(&self, options: &str) -> Done {
        self.start(options, |command| command)
    }

    fn start(&self, options: &str, set_up: impl FnOnce(&mut Command) -> &mut Command) -> Done {
        let name = self.name.as_deref().unwrap_or("own");
        let log = self.path.with_extension(format!("{name}.log"));
        let _ = std::fs::remove_file(&log);
        let mut command = Command::new(&self.path);
        command
            .args(&self.name)
            .env_remove("LD_LIBRARY_PATH")
            .env_remove("RSAN_SCHEDULE")
            .env(
                "RSAN_OPTIONS",
                format!("log={} exitcode=0 {options}", log.display()),
            );
        let output = set_up(&mut command).output().expect("the program starts");
        let lines = std::fs::read_to_string(&log).unwrap_or_default();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Done {
            status: output.status,
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
            findings: lines
                .lines()
                .map(|line| serde_json::from_str(line).expect("a line is a document"))
                .collect(),
        }
    }
}
