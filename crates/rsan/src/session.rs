//! What every command that takes inputs does with them: each one is read and answered, in order, and what goes
//! wrong with one does not hide the answers about the others.

use crate::args::{OutputFormat, Rendering, ReportArgs};
use crate::files;
use crate::input;
use crate::status::Status;
use crate::terminal;
use rsan_report::document::Severity;
use rsan_report::printable::printable;
use rsan_report::{Baseline, Document, ReadError, Style, dot, html, json, junit, sarif, text};
use std::io::{self, Write};
use std::path::Path;

/// An answer about one input.
pub(crate) struct Reply {
    /// What it means for the exit status.
    pub(crate) status: Status,
    /// What it says.
    pub(crate) document: Document,
    /// Whether the user asked to end: the remaining inputs are left alone.
    pub(crate) interrupted: bool,
}

impl Reply {
    /// The same, if what the baseline knows does not count, and findings below a severity do not decide the status.
    pub(crate) fn judged(mut self, baseline: Option<&Baseline>, fail_on: Severity) -> Self {
        if let Some(baseline) = baseline {
            baseline.apply(&mut self.document);
        }
        self.document.fail_on = fail_on;
        self.status = Status::from(&self.document);
        self
    }
}

/// The baseline that the user wants.
///
/// # Errors
/// The status, if it cannot be read; the user is told why.
pub(crate) fn baseline(args: &ReportArgs) -> Result<Option<Baseline>, Status> {
    let Some(path) = &args.baseline else {
        return Ok(None);
    };
    let name = path.display().to_string();
    let text = files::read_text(path, files::RECORD);
    let text = text.map_err(|error| input::failure(&name, &error));
    let read = text.and_then(|text| Baseline::read(&text).map_err(|error| misread(&name, &error)));
    read.map(Some).map_err(|message| {
        eprint(&message);
        Status::BadInput
    })
}

/// What is wrong with documents.
pub(crate) fn misread(name: &str, error: &ReadError) -> String {
    match error.place {
        Some((line, column)) => input::failure(&format!("{name}:{line}:{column}"), &error.message),
        None => input::failure(name, &error.message),
    }
}

/// The inputs and what to do with the answers.
pub(crate) struct Session<'a> {
    pub(crate) files: &'a [String],
    pub(crate) rendering: Rendering<'a>,
    pub(crate) dot: Option<&'a str>,
    pub(crate) baseline: Option<&'a Baseline>,
    /// How severe a finding has to be to decide the status.
    pub(crate) fail_on: Severity,
    /// Why the command does not take a file, judged by its name.
    pub(crate) refuse: fn(&str) -> Option<String>,
}

/// For commands that take every file.
pub(crate) fn accept_all(_: &str) -> Option<String> {
    None
}

impl Session<'_> {
    /// Answers every input with `answer`, whose error is the complete message for the user. Text for the terminal is printed as soon
    /// as there is some.
    pub(crate) fn run(&self, answer: &mut dyn FnMut(&str) -> Result<Reply, String>) -> Status {
        let mut status = Status::Clean;
        let mut out = Output::new(self.rendering);
        let mut graphs = String::new();
        for (i, file) in self.files.iter().enumerate() {
            let reply = match (self.refuse)(file) {
                Some(why) => Err(input::failure(file, &why)),
                None => answer(file),
            };
            match reply {
                Err(message) => {
                    eprint(&message);
                    status = status.and(Status::BadInput);
                }
                Ok(reply) => {
                    let reply = reply.judged(self.baseline, self.fail_on);
                    status = status.and(reply.status);
                    if self.dot.is_some() {
                        graphs.push_str(&dot(&reply.document));
                    }
                    out.add(reply.document);
                    if reply.interrupted {
                        self.report_skipped(i + 1);
                        break;
                    }
                }
            }
        }
        let written = out.finish(self.files.len() > 1);
        status.and(written).and(self.write_graphs(&graphs))
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
            Some(path) if !graphs.is_empty() => write(Path::new(path), graphs),
            _ => Status::Clean,
        }
    }
}

/// Writes a message to standard error, which may be closed.
pub(crate) fn eprint(message: &str) {
    let shown = printable(message, terminal::stderr_style());
    let _ = io::stderr().write_all(shown.as_bytes());
}

/// Renders documents as the user wants them; `several` inputs were given.
pub(crate) fn render(rendering: Rendering<'_>, documents: Vec<Document>, several: bool) -> Status {
    let mut out = Output::new(rendering);
    documents.into_iter().for_each(|document| out.add(document));
    out.finish(several)
}

/// Standard output, which a reader such as `head` may close early: that is no error, and ends the output.
#[derive(Default)]
struct Stdout {
    error: Option<io::Error>,
}

impl Stdout {
    fn print(&mut self, text: &str) {
        if self.error.is_none() {
            let mut stdout = io::stdout().lock();
            let result = stdout.write_all(text.as_bytes());
            self.error = result.and_then(|()| stdout.flush()).err();
        }
    }

    fn finish(self) -> Status {
        match self.error {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                eprint(&input::failure("standard output", &error));
                Status::BadInput
            }
            _ => Status::Clean,
        }
    }
}

/// Prints a text on standard output.
pub(crate) fn print(text: &str) -> Status {
    let mut out = Stdout::default();
    out.print(text);
    out.finish()
}

/// Where answers go: a file, or standard output.
struct Output<'a> {
    rendering: Rendering<'a>,
    documents: Vec<Document>,
    /// The text so far, if it goes to a file.
    text: String,
    stdout: Stdout,
    /// Whether the last report had more than one line; `None` when there was none.
    long: Option<bool>,
}

impl<'a> Output<'a> {
    fn new(rendering: Rendering<'a>) -> Self {
        Self {
            rendering,
            documents: Vec::new(),
            text: String::new(),
            stdout: Stdout::default(),
            long: None,
        }
    }

    /// Takes an answer.
    fn add(&mut self, document: Document) {
        match self.rendering.format {
            OutputFormat::Text => self.report(&document),
            OutputFormat::Json
            | OutputFormat::Html
            | OutputFormat::Sarif
            | OutputFormat::Junit
            | OutputFormat::Dot => self.documents.push(document),
        }
    }

    /// How text looks where it goes.
    fn style(&self) -> Style {
        match self.rendering.file {
            Some(_) => Style::Plain,
            None => terminal::stdout_style(),
        }
    }

    /// Prints a report; long ones stand apart from their neighbours.
    fn report(&mut self, document: &Document) {
        let style = self.style();
        let text = text(document, style, self.rendering.details);
        let long = text.lines().nth(1).is_some();
        if self.long.is_some_and(|before| before || long) {
            self.print("\n");
        }
        self.print(&printable(&text, style));
        self.long = Some(long);
    }

    /// Prints a text as it is.
    fn print(&mut self, text: &str) {
        match self.rendering.file {
            Some(_) => self.text.push_str(text),
            None => self.stdout.print(text),
        }
    }

    /// Writes what is not written yet.
    fn finish(mut self, several: bool) -> Status {
        let documents = std::mem::take(&mut self.documents);
        let rendered = match self.rendering.format {
            OutputFormat::Text => String::new(),
            // Inputs that cannot be read have no document.
            _ if documents.is_empty() => String::new(),
            OutputFormat::Json => json(&documents, several),
            OutputFormat::Html => html(&documents),
            OutputFormat::Sarif => sarif(&documents),
            OutputFormat::Junit => junit(&documents),
            OutputFormat::Dot => documents.iter().map(dot).collect(),
        };
        self.print(&rendered);
        match self.rendering.file {
            Some(file) => write(file, &self.text),
            None => self.stdout.finish(),
        }
    }
}

fn write(file: &Path, text: &str) -> Status {
    match files::write(file, text.as_bytes()) {
        Ok(()) => Status::Clean,
        Err(error) => {
            eprint(&input::failure(&file.display().to_string(), &error));
            Status::BadInput
        }
    }
}
