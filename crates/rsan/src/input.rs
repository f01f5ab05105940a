//! Reading programs from files and standard input.

use crate::files;
use rsan_lang::Format;
use rsan_model::automata::Automata;
use rsan_model::{Model, Program, Source, Span, machine};
use rsan_report::{Style, complaint};
use std::io;
use std::path::Path;

/// A program and the name under which the user knows it.
pub(crate) struct Input {
    /// The path as given, or `<stdin>`.
    pub(crate) subject: String,
    /// What it holds.
    pub(crate) program: Program,
}

/// A program with memory orders, or automata without.
pub(crate) enum Content {
    Program(Program),
    Automata(Automata),
}

/// A litmus test: a program with memory orders, or machine code.
pub(crate) enum LitmusInput {
    Program(Input),
    Assembly(machine::Program, Source),
}

/// What was read, whatever its language.
pub(crate) struct AnyInput {
    pub(crate) source: Source,
    pub(crate) content: Content,
}

impl AnyInput {
    /// The memory model: the user's choice, or that of the language.
    pub(crate) fn model(&self, chosen: Option<Model>) -> Model {
        chosen.unwrap_or(match self.content {
            Content::Program(_) => Model::C20,
            Content::Automata(_) => Model::Tso,
        })
    }

    /// The program, with memory orders.
    ///
    /// # Errors
    /// The complete message for the user.
    pub(crate) fn program(self) -> Result<Input, String> {
        let subject = self.source.name;
        match self.content {
            Content::Program(program) => Ok(Input { subject, program }),
            Content::Automata(_) => Err(failure(
                &subject,
                &"automata have no memory orders: they are verified and repaired against tso only",
            )),
        }
    }
}

/// Reads and parses one input; `-` is standard input.
///
/// # Errors
/// The complete message for the user, with the file's name and, where there is one, the place.
pub(crate) fn read(path: &str, style: Style) -> Result<Input, String> {
    read_any(path, style)?.program()
}

/// The same, automata included.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_any(path: &str, style: Style) -> Result<AnyInput, String> {
    let source = source(path, style)?;
    if is_assembly(&source) {
        return Err(failure(
            &source.name,
            &"assembly has no memory orders; `rsan litmus` says what it may do",
        ));
    }
    parse(source, style)
}

/// Reads and parses a litmus test.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_litmus(path: &str, style: Style) -> Result<LitmusInput, String> {
    let source = source(path, style)?;
    if !is_assembly(&source) {
        return parse(source, style)?.program().map(LitmusInput::Program);
    }
    match rsan_lang::parse_assembly(&source) {
        Ok(program) => Ok(LitmusInput::Assembly(program, source)),
        Err(diagnostics) => Err(diagnostics.render(&source, style == Style::Color)),
    }
}

fn source(path: &str, style: Style) -> Result<Source, String> {
    let subject = if path == "-" { "<stdin>" } else { path };
    let bytes = bytes(path).map_err(|e| failure(subject, &e))?;
    let text = text(subject, bytes, style)?;
    Ok(Source::new(subject, text))
}

fn is_assembly(source: &Source) -> bool {
    let litmus = Format::detect(&source.name, &source.text);
    matches!(litmus, None | Some(Format::CLitmus)) && rsan_lang::looks_like_assembly(&source.text)
}

fn parse(source: Source, style: Style) -> Result<AnyInput, String> {
    let content = match Format::detect(&source.name, &source.text) {
        Some(format) => rsan_lang::parse(&source, format).map(Content::Program),
        None if rsan_lang::looks_like_automata(&source.text) => {
            rsan_lang::parse_automata(&source).map(Content::Automata)
        }
        None => {
            let message =
                "neither a litmus test, nor TPL, nor automata, by its name or by how it begins";
            return Err(complaint(&source, Span::new(0, 0), message, "here", style));
        }
    };
    let content =
        content.map_err(|diagnostics| diagnostics.render(&source, style == Style::Color))?;
    Ok(AnyInput { source, content })
}

/// `error: FILE: message`
pub(crate) fn failure(subject: &str, message: &dyn std::fmt::Display) -> String {
    format!("error: {subject}: {message}\n")
}

fn bytes(path: &str) -> io::Result<Vec<u8>> {
    match path {
        "-" => files::read_from(io::stdin().lock(), files::TEXT),
        file => files::read(Path::new(file), files::TEXT),
    }
}

fn text(subject: &str, bytes: Vec<u8>, style: Style) -> Result<String, String> {
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let shown = String::from_utf8_lossy(error.as_bytes()).into_owned();
        // The replacement character starts where the valid text ends, so the place is right.
        let span = Span::new(valid, valid + char::REPLACEMENT_CHARACTER.len_utf8());
        complaint(
            &Source::new(subject, shown),
            span,
            "the text is not UTF-8",
            "this byte",
            style,
        )
    })?;
    files::skip_mark(&mut text);
    if text.trim().is_empty() {
        return Err(failure(subject, &"the file is empty"));
    }
    Ok(text)
}
