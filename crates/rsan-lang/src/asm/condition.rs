//! What follows the table: the condition, `locations [x; 0:X1;]` and `filter`.

use super::Parser;
use crate::condition::Names;
use crate::cursor::Cursor;
use crate::diagnostic::{Diagnostic, Result};
use crate::lexer::Kind;
use crate::limits;
use crate::lower::too_many;
use rsan_model::{Atom, Observable, ThreadId};

impl<'a> Parser<'a> {
    /// Everything after the table.
    pub(super) fn final_condition(&mut self) -> Result<()> {
        loop {
            let start = self.cur.here();
            if self.cur.eat_word("locations") {
                self.observed_locations()?;
            } else if self.cur.eat_word("filter") {
                let prop = self.disjunction()?;
                self.program.filter = Some(prop);
            } else if self.cur.at_end() {
                return Ok(());
            } else {
                let condition =
                    self.whole_condition("`locations`, `filter`, `exists`, `~exists` or `forall`")?;
                if self.program.condition.replace(condition).is_some() {
                    return Err(Diagnostic::new(start, "a second final condition"));
                }
            }
        }
    }

    fn observed_locations(&mut self) -> Result<()> {
        let open = self.cur.expect("[")?;
        while !self.cur.at("]") {
            if self.cur.eat(";") || self.cur.eat(",") {
                continue;
            }
            if self.program.observed.len() == limits::LOCATIONS {
                return Err(too_many(open, "observed locations", limits::LOCATIONS));
            }
            let observable = self.observable()?;
            self.program.observed.push(observable);
            self.cur.eat("*");
        }
        self.cur.expect("]")?;
        Ok(())
    }
}

impl<'a> Names<'a> for Parser<'a> {
    fn cursor(&mut self) -> &mut Cursor<'a> {
        &mut self.cur
    }

    fn observable(&mut self) -> Result<Observable> {
        if let Some((process, (name, span))) = self.register_reference()? {
            let Some(process) = process else {
                return Err(Diagnostic::new(span, "of which process is this register?")
                    .with_help("write it with its process: `0:r1`"));
            };
            let register = self.register_of(process, &name, span)?;
            self.threads[process].respell(register, &name);
            return Ok(Observable::Reg(ThreadId::new(process), register));
        }
        let bracket = self.cur.eat("[");
        if !bracket {
            self.cur.eat("*");
        }
        let name = self.cur.name("a register such as `0:r1`, or a location")?;
        if bracket {
            self.cur.expect("]")?;
        }
        if self.cur.at("(") || self.cur.at("[") {
            return Err(Diagnostic::new(
                name.span.to(self.cur.here()),
                "only registers and whole locations are observed",
            ));
        }
        let location = self.locations.named(name.text, name.span)?;
        Ok(Observable::Loc(location))
    }

    fn equal_to(&mut self, left: Observable) -> Result<Atom> {
        let next = self.cur.peek().kind;
        if matches!(next, Kind::Int(_)) && self.cur.at_nth(1, ":") {
            return Ok(Atom::Same(left, self.observable()?));
        }
        match self.symbol()? {
            Some(value) => Ok(Atom::Is(left, value)),
            None => Ok(Atom::Is(left, self.value()?)),
        }
    }
}
