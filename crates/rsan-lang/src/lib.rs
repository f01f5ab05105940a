//! Readers: text in, [`Program`] out, or [`Diagnostics`] that show what is wrong in the user's own line.
//!
//! Three languages: C litmus tests (herd's dialect, with loops and arrays), TPL (Rocker's programs), and a compact
//! notation for tests ([`mini`]). They share a lexer, a cursor, the lowering of control flow, and the limits that keep
//! absurd input cheap.
//!
//! This crate does no I/O and knows no memory model.

mod asm;
mod c;
mod condition;
mod cursor;
mod diagnostic;
pub mod emit;
mod header;
mod lexer;
mod limits;
mod lower;
pub mod mini;
mod tpl;
mod trencher;

pub use diagnostic::{Diagnostic, Diagnostics};
use rsan_model::{Instr, Observable, Program, RegId, Source, Span, machine};
pub use tpl::{ExpectedVerdicts, Property, expected_verdicts};
pub use trencher::{looks_like_automata, parse_automata};

/// A language that programs are written in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// C litmus tests: `.litmus`.
    CLitmus,
    /// Rocker's TPL: `.tpl`.
    Tpl,
    /// The compact notation: `.mini`.
    Mini,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 3] = [Self::CLitmus, Self::Tpl, Self::Mini];

    /// The format of a text: by the extension of its name, else by how it begins; `None` when neither says.
    pub fn detect(name: &str, text: &str) -> Option<Self> {
        match name.rsplit_once('.') {
            Some((_, "litmus")) => Some(Self::CLitmus),
            Some((_, "tpl")) => Some(Self::Tpl),
            Some((_, "mini")) => Some(Self::Mini),
            _ => Self::detect_text(text),
        }
    }

    fn detect_text(text: &str) -> Option<Self> {
        let rest = skip_comments(text);
        let word_len = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        let (word, after) = rest.split_at(word_len);
        match word {
            "C" if after.starts_with([' ', '\t']) => Some(Self::CLitmus),
            "max_value" | "global" | "na" | "track" | "fn" => Some(Self::Tpl),
            "init" | "beq" | "bne" | "nld" | "nst" | "spawn" | "join" => Some(Self::Mini),
            "" => None,
            _ if after.starts_with('.') => Some(Self::Mini),
            _ => None,
        }
    }
}

/// The text after blanks and comments of any of the languages.
fn skip_comments(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let close = match rest.get(..2) {
            Some("//") => "\n",
            Some("/*") => "*/",
            Some("(*") => "*)",
            _ => return rest,
        };
        match rest[2..].split_once(close) {
            Some((_, after)) => rest = after.trim_start(),
            None => return "",
        }
    }
}

/// Reads a program.
///
/// # Errors
/// Everything that is wrong with the text, as far as it could be found.
pub fn parse(source: &Source, format: Format) -> Result<Program, Diagnostics> {
    check_size(source)?;
    let mut program = match format {
        Format::CLitmus => c::parse(source)?,
        Format::Tpl => tpl::parse(source)?,
        Format::Mini => mini::parse(source)?,
    };
    program.source = Some(source.clone());
    Ok(program)
}

/// Whether a text is an assembly litmus test, by the first word of its header.
pub fn looks_like_assembly(text: &str) -> bool {
    asm::is_assembly(text)
}

/// Reads an assembly litmus test.
///
/// # Errors
/// As [`parse`].
pub fn parse_assembly(source: &Source) -> Result<machine::Program, Diagnostics> {
    asm::parse(source)
}

/// Reads whatever bytes a fuzzer comes up with, and checks what must hold for every text.
///
/// # Panics
/// When a reader breaks one of its promises: a place outside the text, a jump outside the code, a name outside its
/// table.
pub fn fuzz_one(data: &[u8], format: Format) {
    let text = String::from_utf8_lossy(data);
    let source = Source::new("fuzz", &*text);
    match parse(&source, format) {
        Ok(program) => check_program(&program, text.len()),
        Err(diagnostics) => {
            for diagnostic in &diagnostics {
                check_span(diagnostic.span, text.len());
            }
            assert!(!diagnostics.render(&source, false).is_empty());
        }
    }
    Format::detect("fuzz", &text);
    expected_verdicts(&text);
}

/// The same for the reader of assembly.
///
/// # Panics
/// When it breaks one of its promises.
pub fn fuzz_assembly(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let source = Source::new("fuzz", &*text);
    let program = match parse_assembly(&source) {
        Ok(program) => program,
        Err(diagnostics) => {
            diagnostics
                .iter()
                .for_each(|d| check_span(d.span, text.len()));
            assert!(!diagnostics.render(&source, false).is_empty());
            return;
        }
    };
    for thread in &program.threads {
        let len = thread.code.len();
        assert_eq!((len, len), (thread.spans.len(), thread.origins.len()));
        thread
            .spans
            .iter()
            .for_each(|span| check_span(*span, text.len()));
        for op in &thread.code {
            let targets = match op {
                machine::Op::Branch { target, .. } | machine::Op::Jump { target } => &[*target][..],
                machine::Op::Choose { targets } => targets,
                _ => &[],
            };
            assert!(targets.iter().all(|target| *target <= len));
        }
    }
}

fn check_span(span: Span, len: usize) {
    assert!(
        span.start <= span.end && span.end as usize <= len,
        "{span:?} is outside a text of {len} bytes"
    );
}

/// Checks that every index of a program is inside what it indexes.
fn check_program(program: &Program, len: usize) {
    for thread in &program.threads {
        assert_eq!(
            thread.code.len(),
            thread.spans.len(),
            "one span per instruction"
        );
        thread.spans.iter().for_each(|span| check_span(*span, len));
    }
    for (t, pc, instr) in program.instructions() {
        let thread = &program.threads[t.index()];
        let mut in_table = |r: RegId| assert!(r.index() < thread.registers.len());
        instr.for_each_read_reg(&mut in_table);
        instr.for_each_written_reg(&mut in_table);
        for loc in instr.place().into_iter().flat_map(|p| p.candidates()) {
            assert!(loc.index() < program.locations.len());
        }
        let successors = instr.successors(pc);
        assert!(successors.iter().all(|pc| pc.index() <= thread.code.len()));
        assert!(
            !successors.is_empty() || *instr == Instr::Halt,
            "a choice has alternatives"
        );
    }
    let mut exists = |observable| match observable {
        Observable::Reg(t, r) => assert!(r.index() < program.threads[t.index()].registers.len()),
        Observable::Loc(loc) => assert!(loc.index() < program.locations.len()),
    };
    program.observed.iter().for_each(|o| exists(*o));
    if let Some(condition) = &program.condition {
        condition.prop.for_each_observable(&mut exists);
    }
}

/// Refuses texts that are too long to be looked at.
fn check_size(source: &Source) -> Result<(), Diagnostic> {
    if source.text.len() <= limits::SOURCE_BYTES {
        return Ok(());
    }
    Err(Diagnostic::new(
        Span::new(0, 0),
        format!("this text is longer than {} bytes", limits::SOURCE_BYTES),
    ))
}

/// The file's name without directories and extension.
fn stem(name: &str) -> &str {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    match file.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => file,
    }
}
