//! The initial state: `{ x=1; int y; 0:X1=x; uint64_t 0:X3=1; int* p=&x; }`

use super::operand::fits;
use super::{Parser, thread::Known};
use crate::cursor::Name;
use crate::diagnostic::{Diagnostic, Result};
use crate::lexer::Kind;
use rsan_model::machine::address;
use rsan_model::{RegId, Span, Value};

/// The process that has a register, if it is said, and how the register is spelled.
type Reference = (Option<usize>, (String, Span));

/// What a register holds at the beginning.
#[derive(Clone, Debug)]
pub(super) struct InitialRegister {
    /// Which process; `None` for every one that uses the register (`%x0=x`).
    process: Option<usize>,
    /// How it is spelled.
    name: String,
    /// Where.
    span: Span,
    value: Value,
}

impl<'a> Parser<'a> {
    /// All of it.
    pub(super) fn initial_state(&mut self) -> Result<()> {
        self.cur.expect("{")?;
        loop {
            while self.cur.eat(";") || self.cur.eat(",") {}
            if self.cur.eat("}") {
                return Ok(());
            }
            self.initial_value()?;
            if ![";", ",", "}"].iter().any(|end| self.cur.at(end)) {
                self.cur.expect(";")?;
            }
        }
    }

    fn initial_value(&mut self) -> Result<()> {
        self.skip_type()?;
        if let Some((process, name)) = self.register_reference()? {
            let value = self.initializer()?;
            self.initial_registers.push(InitialRegister {
                process,
                span: name.1,
                name: name.0,
                value,
            });
            return Ok(());
        }
        let bracket = self.cur.eat("[");
        let name = self.cur.name("a location or a register such as `0:r1`")?;
        if bracket {
            self.cur.expect("]")?;
        }
        if self.cur.at("[") {
            return Err(Diagnostic::new(
                name.span.to(self.cur.here()),
                "arrays are not supported",
            ));
        }
        let location = self.locations.named(name.text, name.span)?;
        let value = self.initializer()?;
        self.locations.list[location.index()].init = value;
        Ok(())
    }

    /// `int`, `uint64_t*`, `volatile int *`: all values have 32 bits, whatever their type.
    fn skip_type(&mut self) -> Result<()> {
        while let Some(word) = self.cur.word() {
            // The last word is the name.
            let declares = self.cur.word_at(1).is_some()
                || self.cur.at_nth(1, "*")
                || self.cur.at_nth(1, "%")
                || matches!(self.cur.peek_at(1).kind, Kind::Int(_));
            if !declares {
                return Ok(());
            }
            if matches!(
                word,
                "uint8_t" | "int8_t" | "uint16_t" | "int16_t" | "char" | "short"
            ) {
                return Err(Diagnostic::new(
                    self.cur.here(),
                    "locations and registers have 32 or 64 bits here",
                ));
            }
            self.cur.bump();
            while self.cur.eat("*") {}
        }
        Ok(())
    }

    /// `= 3`, `= x`, `= &x`, or nothing, which is 0.
    fn initializer(&mut self) -> Result<Value> {
        if !self.cur.eat("=") {
            return Ok(0);
        }
        match self.symbol()? {
            Some(value) => Ok(value),
            None => self.value(),
        }
    }

    /// `x` or `&x`, if one comes next: the address of a location.
    pub(super) fn symbol(&mut self) -> Result<Option<Value>> {
        let pointer = self.cur.eat("&");
        if !pointer && self.cur.word().is_none() {
            return Ok(None);
        }
        let name = self.cur.name("a location")?;
        if self.cur.at(":") || self.cur.at("[") || self.cur.at("(") {
            return Err(Diagnostic::new(
                name.span.to(self.cur.here()),
                "a value is a number or the name of a location",
            ));
        }
        let location = self.locations.named(name.text, name.span)?;
        Ok(Some(address(location)))
    }

    /// A number that fits in 32 bits, signed or not.
    pub(super) fn value(&mut self) -> Result<Value> {
        let start = self.cur.here();
        let negative = self.cur.eat("-");
        let Kind::Int(n) = self.cur.peek().kind else {
            return Err(self.cur.unexpected("a number or a location"));
        };
        self.cur.bump();
        let n = if negative { -n } else { n };
        fits(n, self.cur.since(start)).map(|n| n as Value)
    }

    /// `0:r1`, `P0:r1`, `0:%x` or `%x0`, if one comes next: the process, and how the register is spelled.
    pub(super) fn register_reference(&mut self) -> Result<Option<Reference>> {
        let start = self.cur.here();
        if self.cur.at("%") {
            let name = self.spelling()?;
            return Ok(Some((None, (name, self.cur.since(start)))));
        }
        let process = match (self.cur.peek().kind, self.cur.word()) {
            (Kind::Int(n), _) => usize::try_from(n).ok(),
            (_, Some(word)) => crate::c::process_number(word),
            _ => None,
        };
        if process.is_none() || !self.cur.at_nth(1, ":") {
            return Ok(None);
        }
        self.cur.bump();
        self.cur.bump();
        let name = self.spelling()?;
        Ok(Some((process, (name, self.cur.since(start)))))
    }

    /// A register's name, with `%` before it or inside it.
    fn spelling(&mut self) -> Result<String> {
        let mut text = String::new();
        if !self.cur.at("%") {
            let Name { text: word, .. } = self.cur.name("a register")?;
            text.push_str(word);
        }
        if self.cur.at("%") && (text.is_empty() || self.cur.touches_last()) {
            self.cur.bump();
            text.push('%');
            text.push_str(self.cur.name("a register")?.text);
        }
        Ok(text)
    }

    /// The register of a process that is spelled so; it need not occur in the code.
    pub(super) fn register_of(&mut self, process: usize, name: &str, span: Span) -> Result<RegId> {
        let Some(known) = self.arch.register(name) else {
            return Err(Diagnostic::new(
                span,
                format!("`{name}` is not a register of {}", self.arch.name()),
            ));
        };
        let Some(thread) = self.threads.get_mut(process) else {
            return Err(Diagnostic::new(
                span,
                format!("there is no process P{process}"),
            ));
        };
        Ok(match known {
            Known::Plain(canonical) => thread.named(&canonical, name),
            Known::Zero => thread.hidden("zero"),
        })
    }

    /// Gives the registers their values, when all processes are known.
    pub(super) fn set_initial_registers(&mut self) -> Result<()> {
        for initial in std::mem::take(&mut self.initial_registers) {
            let InitialRegister {
                process,
                name,
                span,
                value,
            } = initial;
            if let Some(process) = process {
                let register = self.register_of(process, &name, span)?;
                self.threads[process].set_initial(register, value);
                continue;
            }
            let Some(Known::Plain(canonical)) = self.arch.register(&name) else {
                continue;
            };
            for thread in &mut self.threads {
                if let Some(register) = thread.find(&canonical) {
                    thread.set_initial(register, value);
                }
            }
        }
        Ok(())
    }
}
