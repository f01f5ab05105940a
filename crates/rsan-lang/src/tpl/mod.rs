//! TPL, the language of Rocker's programs.
//!
//! What it decides: nothing; it turns text into a [`Program`] that means the same, or says what is wrong with it.
//!
//! Source: the format page of this project and the programs that come with Rocker (PLDI 2019, POPL 2021). Where the page
//! is silent the original tool was asked: precedence is C's (`c & 1 == 1` is `c & (1 == 1)`), `true` and `false` are 1
//! and 0, `fence;`, `fence(upd)` and `fence(seq_cst)` are the same, conditions are reduced modulo `max_value + 1`.
//!
//! Deviations:
//! - Negative results wrap around (Rocker leaves them outside `0..=max_value`).
//! - Without `max_value` the largest value is 255 (254 in Rocker).
//! - `assert(e)` fails when `e` is 0 (Rocker looks at its lowest bit).
//! - `r[e]` is `r` when `e` is 0 and fails otherwise (Rocker's back end accepts no other index).
//! - `FADD`, `CAS` and `exchange` may stand alone, blocks may be empty, and a label may end a block.
//!
//! Invariants: accesses without an order are relaxed here; [`Program::for_model`] raises them where a model does.
//!
//! Cost: linear in the text.

mod access;
mod expr;
mod stmt;
mod verdicts;

use crate::cursor::{Cursor, Name};
use crate::diagnostic::{Diagnostic, Diagnostics, Result};
use crate::lexer::{Comments, Dialect};
use crate::limits;
use crate::lower::{Builder, too_many};
use rsan_model::{Domain, LocId, LocKind, Location, Program, RegId, Source, Track, Value};
use std::collections::HashMap;
use stmt::LabelState;
pub use verdicts::{ExpectedVerdicts, Property, expected_verdicts};

const DIALECT: Dialect = Dialect {
    puncts: &[
        "&&", "||", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "&", "|", "^", "!", "<", ">",
        "=", ":", ";", ",", ".", "(", ")", "[", "]", "{", "}",
    ],
    comments: Comments::Line,
    octal: false,
};

/// Words that cannot name a variable: without this a statement could be read in two ways.
const KEYWORDS: &[&str] = &[
    "if", "else", "while", "goto", "fence", "lock", "unlock", "oneof", "wait", "BCAS", "CAS",
    "FADD", "exchange", "skip", "assert", "assume", "verify", "local", "global", "fn", "rlx",
    "acq", "rel", "acq_rel", "seq_cst", "upd", "load", "store", "naload", "nastore", "true",
    "false",
];

/// The reader's state.
struct Parser<'a> {
    cur: Cursor<'a>,
    program: Program,
    /// Number of values.
    modulus: u32,
    globals: HashMap<&'a str, LocId>,
    /// Errors after which reading went on.
    errors: Vec<Diagnostic>,
    /// The thread that is being read.
    body: Body<'a>,
}

/// A thread in the making.
#[derive(Default)]
struct Body<'a> {
    code: Builder,
    locals: HashMap<&'a str, RegId>,
    labels: HashMap<&'a str, LabelState>,
}

/// Reads a TPL program.
///
/// # Errors
/// When it is not one.
pub(crate) fn parse(source: &Source) -> std::result::Result<Program, Diagnostics> {
    let mut parser = Parser {
        cur: Cursor::new(&source.text, 0, DIALECT)?,
        program: Program::new(crate::stem(&source.name), Domain::Modulo(256)),
        modulus: 256,
        globals: HashMap::new(),
        errors: Vec::new(),
        body: Body::default(),
    };
    let result = parser.file();
    let mut errors = parser.errors;
    errors.extend(result.err());
    Diagnostics::check(errors, parser.program)
}

impl<'a> Parser<'a> {
    fn file(&mut self) -> Result<()> {
        if self.cur.eat_word("max_value") {
            self.max_value()?;
        }
        if self.cur.eat_word("global") {
            self.variables(LocKind::Atomic)?;
        }
        if self.cur.eat_word("na") {
            self.variables(LocKind::Plain)?;
        }
        while self.cur.eat_word("track") {
            self.track()?;
        }
        while self.cur.eat_word("fn") {
            self.function()?;
        }
        if !self.cur.at_end() {
            return Err(match self.cur.word() {
                Some("max_value" | "global" | "na" | "track") => self
                    .cur
                    .unexpected("`fn`")
                    .with_help("the order is max_value, global, na, track, fn"),
                _ => self.cur.unexpected("`fn`"),
            });
        }
        if self.program.threads.is_empty() {
            return Err(self.cur.unexpected("`fn`"));
        }
        Ok(())
    }

    /// Notes an error and lets reading go on; `Err` when there are too many.
    fn report(&mut self, error: Diagnostic) -> Result<()> {
        if self.errors.len() + 1 >= limits::ERRORS {
            return Err(error);
        }
        self.errors.push(error);
        Ok(())
    }

    /// A name that a declaration introduces.
    fn new_name(&mut self, what: &str) -> Result<Name<'a>> {
        let name = self.cur.name(what)?;
        if KEYWORDS.contains(&name.text) {
            return Err(Diagnostic::new(
                name.span,
                format!("`{}` is a keyword", name.text),
            ));
        }
        Ok(name)
    }

    /// `max_value 3;`, the keyword being read.
    fn max_value(&mut self) -> Result<()> {
        let start = self.cur.here();
        let largest = self.cur.int32("the largest value")?;
        self.modulus = match u32::try_from(largest) {
            Ok(n) if n > 0 && n < i32::MAX as u32 => n + 1,
            _ => {
                return Err(Diagnostic::new(
                    self.cur.since(start),
                    format!("the largest value is between 1 and {}", i32::MAX - 1),
                ));
            }
        };
        self.program.domain = Domain::Modulo(self.modulus);
        self.cur.expect(";")?;
        Ok(())
    }

    /// `x, y = 5;`
    fn variables(&mut self, kind: LocKind) -> Result<()> {
        loop {
            let name = self.new_name("a variable")?;
            let init = if self.cur.eat("=") {
                self.small_value()?
            } else {
                0
            };
            if self.globals.contains_key(name.text) {
                let error = format!("`{}` is declared twice", name.text);
                self.report(Diagnostic::new(name.span, error))?;
            } else {
                self.new_global(name, kind, init)?;
            }
            if !self.cur.eat(",") {
                break;
            }
        }
        self.cur.expect(";")?;
        Ok(())
    }

    fn new_global(&mut self, name: Name<'a>, kind: LocKind, init: Value) -> Result<()> {
        if self.program.locations.len() == limits::LOCATIONS {
            return Err(too_many(name.span, "global variables", limits::LOCATIONS));
        }
        let loc = LocId::new(self.program.locations.len());
        self.globals.insert(name.text, loc);
        self.program.locations.push(Location {
            name: name.text.to_owned(),
            kind,
            init,
        });
        Ok(())
    }

    /// A number between 0 and `max_value`.
    fn small_value(&mut self) -> Result<Value> {
        let start = self.cur.here();
        let value = self.cur.int32("a value")?;
        if u32::try_from(value).is_ok_and(|v| v < self.modulus) {
            Ok(value)
        } else {
            Err(Diagnostic::new(
                self.cur.since(start),
                format!("values are between 0 and {}", self.modulus - 1),
            )
            .with_help("`max_value N;` at the top of the file changes that"))
        }
    }

    /// `x: 0, 1;` or `x: all;`
    fn track(&mut self) -> Result<()> {
        let name = self.cur.name("a variable")?;
        let loc = self.global(name)?;
        self.cur.expect(":")?;
        let track = if self.cur.eat_word("all") {
            Track::All
        } else {
            let mut values = vec![self.small_value()?];
            while self.cur.eat(",") {
                values.push(self.small_value()?);
            }
            Track::Values(values)
        };
        self.cur.expect(";")?;
        if let Some(loc) = loc {
            self.add_track(loc, track);
        }
        Ok(())
    }

    /// Tracks more values of a location.
    fn add_track(&mut self, loc: LocId, track: Track) {
        let tracked = &mut self.program.tracked;
        let Some((_, known)) = tracked.iter_mut().find(|(l, _)| *l == loc) else {
            let mut track = track;
            sort(&mut track);
            tracked.push((loc, track));
            return;
        };
        match (known, track) {
            (Track::All, _) => {}
            (known, Track::All) => *known = Track::All,
            (Track::Values(known), Track::Values(more)) => known.extend(more),
        }
        tracked.iter_mut().for_each(|(_, track)| sort(track));
    }

    /// The global of that name; an unknown one is reported.
    fn global(&mut self, name: Name<'a>) -> Result<Option<LocId>> {
        if let Some(loc) = self.globals.get(name.text) {
            return Ok(Some(*loc));
        }
        let mut error = Diagnostic::new(name.span, format!("there is no global `{}`", name.text));
        if self.body.locals.contains_key(name.text) {
            error = error.with_help("it is a local variable");
        }
        self.report(error)?;
        Ok(None)
    }

    /// `NAME { local r, s; statements }`, the keyword `fn` being read.
    fn function(&mut self) -> Result<()> {
        let name = self.cur.name("the thread's name")?;
        if self.program.threads.len() == limits::THREADS {
            return Err(too_many(name.span, "threads", limits::THREADS));
        }
        if self.program.threads.iter().any(|t| t.name == name.text) {
            let error = format!("thread `{}` is declared twice", name.text);
            self.report(Diagnostic::new(name.span, error))?;
        }
        self.body = Body::default();
        let open = self.cur.expect("{")?;
        if self.cur.eat_word("local") {
            self.locals()?;
        }
        self.statements(open)?;
        let body = std::mem::take(&mut self.body);
        self.report_unbound_labels(&body.labels)?;
        self.program.threads.push(if self.errors.is_empty() {
            body.code.finish(name.text)
        } else {
            body.code.abandon(name.text)
        });
        Ok(())
    }

    /// `r, s;`
    fn locals(&mut self) -> Result<()> {
        loop {
            let name = self.new_name("a local variable")?;
            let register = self.body.code.register(name.text, name.span)?;
            if self.body.locals.insert(name.text, register).is_some() {
                let error = format!("`{}` is declared twice", name.text);
                self.report(Diagnostic::new(name.span, error))?;
            }
            if self.cur.at("=") || self.cur.at("[") {
                return Err(self
                    .cur
                    .unexpected("`,` or `;`")
                    .with_help("locals are single values and start at 0"));
            }
            if !self.cur.eat(",") {
                break;
            }
        }
        self.cur.expect(";")?;
        Ok(())
    }
}

fn sort(track: &mut Track) {
    if let Track::Values(values) = track {
        values.sort_unstable();
        values.dedup();
    }
}
