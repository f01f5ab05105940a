//! What every command that takes inputs does with them: each one is read and answered, in order, and what goes
//! wrong with one does not hide the answers about the others.

use crate::args::OutputFormat;
use crate::fence::RepairDocument;
use crate::input;
use crate::printable::printable;
use crate::sanitizer::run::RunDocument;
use crate::status::Status;
use crate::terminal;
use crate::tso::TsoDocument;
use rsan_report::{Document, Style};
use serde::Serialize;
use std::io::{self, Write};

/// An answer about one input, for machines.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Answer {
    /// From the engines that read programs.
    Read(Box<Document>),
    /// From the search for attacks.
    Tso(Box<TsoDocument>),
    /// From the search for fences and stronger orders.
    Repair(Box<RepairDocument>),
    /// From runs of a compiled program.
    Run(Box<RunDocument>),
}

/// An answer about one input.
pub(crate) struct Reply {
    /// What it means for the exit status.
    pub(crate) status: Status,
    /// For people.
    pub(crate) text: String,
    /// For machines.
    pub(crate) document: Answer,
    /// As a picture, for `--dot`.
    pub(crate) dot: Option<String>,
    /// Whether the user asked to end: the remaining inputs are left alone.
    pub(crate) interrupted: bool,
}

/// The inputs and what to do with the answers.
pub(crate) struct Session<'a> {
    pub(crate) files: &'a [String],
    pub(crate) format: OutputFormat,
    pub(crate) dot: Option<&'a str>,
    /// Why the command does not take a file, judged by its name.
    pub(crate) refuse: fn(&str) -> Option<String>,
}

/// For commands that take every file.
pub(crate) fn accept_all(_: &str) -> Option<String> {
    None
}

impl Session<'_> {
    /// Answers every input with `answer`, whose error is the complete message for the user.
    pub(crate) fn run(
        &self,
        answer: &mut dyn FnMut(&str, Style) -> Result<Reply, String>,
    ) -> Status {
        let mut status = Status::Clean;
        let mut out = Output::new();
        let mut documents = Vec::new();
        let mut graphs = String::new();
        for (i, file) in self.files.iter().enumerate() {
            let reply = match (self.refuse)(file) {
                Some(why) => Err(input::failure(file, &why)),
                None => answer(file, terminal::stdout_style()),
            };
            match reply {
                Err(message) => {
                    eprint(&message);
                    status = status.and(Status::BadInput);
                }
                Ok(reply) => {
                    status = status.and(reply.status);
                    graphs.push_str(reply.dot.as_deref().unwrap_or(""));
                    match self.format {
                        OutputFormat::Text => out.report(&reply.text),
                        OutputFormat::Json => documents.push(reply.document),
                    }
                    if reply.interrupted {
                        self.report_skipped(i + 1);
                        break;
                    }
                }
            }
        }
        if !documents.is_empty() {
            out.documents(&documents, self.files.len() > 1);
        }
        status.and(out.finish()).and(self.write_graphs(&graphs))
    }

    fn report_skipped(&self, done: usize) {
        let left = self.files.len() - done;
        if left > 0 {
            eprint(&format!(
                "interrupted: {left} of the inputs not looked at\n"
            ));
        }
    }

    /// The graphs of all answered inputs; nothing is written when no input could be answered.
    fn write_graphs(&self, graphs: &str) -> Status {
        match self.dot {
            Some(path) if !graphs.is_empty() => match std::fs::write(path, graphs) {
                Ok(()) => Status::Clean,
                Err(error) => {
                    eprint(&input::failure(path, &error));
                    Status::BadInput
                }
            },
            _ => Status::Clean,
        }
    }
}

/// Writes a message to standard error, which may be closed.
pub(crate) fn eprint(message: &str) {
    let shown = printable(message, terminal::stderr_style());
    let _ = io::stderr().write_all(shown.as_bytes());
}

/// Standard output, which a reader such as `head` may close early: that is no error, and ends the output.
pub(crate) struct Output {
    error: Option<io::Error>,
    /// Whether the last report had more than one line; `None` when there was none.
    long: Option<bool>,
}

impl Output {
    pub(crate) fn new() -> Self {
        Self {
            error: None,
            long: None,
        }
    }

    /// Prints a report; long ones stand apart from their neighbours.
    pub(crate) fn report(&mut self, text: &str) {
        let long = text.lines().nth(1).is_some();
        if self.long.is_some_and(|before| before || long) {
            self.print("\n");
        }
        self.print(&printable(text, terminal::stdout_style()));
        self.long = Some(long);
    }

    /// Prints documents: one of them alone, or an array when several inputs were given.
    pub(crate) fn documents(&mut self, documents: &[Answer], several: bool) {
        let text = match documents {
            [only] if !several => serde_json::to_string_pretty(only),
            all => serde_json::to_string_pretty(all),
        };
        self.print(&text.expect("documents have string keys and finite numbers"));
        self.print("\n");
    }

    /// Prints a text as it is.
    pub(crate) fn print(&mut self, text: &str) {
        if self.error.is_none() {
            let mut stdout = io::stdout().lock();
            let result = stdout.write_all(text.as_bytes());
            self.error = result.and_then(|()| stdout.flush()).err();
        }
    }

    pub(crate) fn finish(self) -> Status {
        match self.error {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                eprint(&input::failure("standard output", &error));
                Status::BadInput
            }
            _ => Status::Clean,
        }
    }
}
