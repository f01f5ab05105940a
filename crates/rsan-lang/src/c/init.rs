//! The initial state: `{ x=0; [y]=1; 0:r0=2; int a[3]={1,2,3}; }`

use super::Parser;
use super::decl::Shared;
use crate::cursor::Name;
use crate::diagnostic::Result;
use crate::lexer::Kind;
use rsan_model::{Span, Value};

impl<'a> Parser<'a> {
    /// `{ x=0; [y]=1; 0:r0=2; int a[3]={1,2,3}; }`
    pub(super) fn initial_state(&mut self) -> Result<()> {
        self.cur.expect("{")?;
        while !self.cur.at("}") {
            if self.cur.eat(";") || self.cur.eat(",") {
                continue;
            }
            self.initial_value()?;
            if !self.cur.at("}") && !self.cur.at(",") {
                self.cur.expect(";")?;
            }
        }
        self.cur.expect("}")?;
        Ok(())
    }

    fn initial_value(&mut self) -> Result<()> {
        let typ = if self.at_type(0) {
            Some(self.type_specifier()?)
        } else {
            None
        };
        if self.cur.at("*") {
            return Err(self.no_pointers(self.cur.here()));
        }
        if let Some((thread, name)) = self.register_reference()? {
            let value = self.initializer()?;
            self.initial_registers.push((thread, name, value));
            return Ok(());
        }
        let bracket = self.cur.eat("[");
        let name = self.cur.name("a location")?;
        if bracket {
            self.cur.expect("]")?;
        }
        let len = self.array_length()?;
        let Some(len) = len else {
            let value = self.initializer()?;
            let shared = self.declare_shared(name, None, typ)?;
            let count = shared.len.unwrap_or(1);
            return self.set_initial_values(shared, &vec![value; count as usize]);
        };
        let start = self.cur.here();
        let values = if self.cur.eat("=") {
            self.braced_list(|p| p.cur.int32("a number"))?
        } else {
            vec![]
        };
        let len = self.checked_length(len, values.len(), start)?;
        let shared = self.declare_shared(name, Some(len), typ)?;
        self.set_initial_values(shared, &values)
    }

    fn set_initial_values(&mut self, shared: Shared, values: &[Value]) -> Result<()> {
        for (i, value) in values.iter().enumerate() {
            self.program.locations[shared.base.index() + i].init = *value;
        }
        Ok(())
    }

    /// `= 3`, or nothing, which is 0.
    fn initializer(&mut self) -> Result<Value> {
        if !self.cur.eat("=") {
            return Ok(0);
        }
        if self.cur.peek().kind == Kind::Word || self.cur.at("&") {
            return Err(self.no_pointers(self.cur.here()));
        }
        self.cur.int32("a number")
    }

    /// `0:r1` or `P0:r1`, if one comes next.
    pub(super) fn register_reference(&mut self) -> Result<Option<((usize, Span), Name<'a>)>> {
        let span = self.cur.here();
        let thread = match (self.cur.peek().kind, self.cur.word()) {
            (Kind::Int(n), _) => usize::try_from(n).ok(),
            (_, Some(word)) => process_number(word),
            _ => None,
        };
        match thread {
            Some(thread) if self.cur.at_nth(1, ":") => {
                self.cur.bump();
                self.cur.bump();
                let name = self.cur.name("a register")?;
                Ok(Some(((thread, span), name)))
            }
            _ => Ok(None),
        }
    }
}

/// The number in `P3`.
pub(crate) fn process_number(word: &str) -> Option<usize> {
    let digits = word.strip_prefix('P')?;
    let plain = digits.len() <= 6 && digits.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}
