//! Final conditions: `exists (0:r1=1 /\ x=2)`, and `locations [x; 0:r1;]`.

use super::Parser;
use crate::condition::Names;
use crate::cursor::{Cursor, Name};
use crate::diagnostic::{Diagnostic, Result};
use crate::limits;
use crate::lower::too_many;
use rsan_model::{Atom, LocId, Observable, RegId, Span, ThreadId};

impl<'a> Parser<'a> {
    /// Everything after the processes.
    pub(super) fn final_condition(&mut self) -> Result<()> {
        loop {
            let start = self.cur.here();
            if self.cur.eat_word("locations") {
                self.observed_locations()?;
            } else if self.cur.at_word("filter") {
                return Err(Diagnostic::new(start, "`filter` is not supported")
                    .with_help("make it part of the condition, or use assume(...) in a process"));
            } else if self.cur.at_end() {
                return Ok(());
            } else {
                let condition = self
                    .whole_condition("a process, `locations`, `exists`, `~exists` or `forall`")?;
                if self.program.condition.replace(condition).is_some() {
                    return Err(Diagnostic::new(start, "a second final condition"));
                }
            }
        }
    }

    /// `[x; 0:r1; a[2];]`
    fn observed_locations(&mut self) -> Result<()> {
        let open = self.cur.expect("[")?;
        while !self.cur.at("]") {
            if self.program.observed.len() == limits::LOCATIONS {
                return Err(too_many(open, "observed locations", limits::LOCATIONS));
            }
            let observable = self.observable()?;
            self.program.observed.push(observable);
            if !self.cur.eat(";") && !self.cur.eat(",") {
                break;
            }
        }
        self.cur.expect("]")?;
        Ok(())
    }

    /// `[2]`, if it comes next.
    fn constant_index(&mut self) -> Result<Option<(i32, Span)>> {
        let start = self.cur.here();
        if !self.cur.eat("[") {
            return Ok(None);
        }
        let index = self.cur.int32("an index")?;
        self.cur.expect("]")?;
        Ok(Some((index, self.cur.since(start))))
    }

    fn register_of(
        &self,
        (thread, span): (usize, Span),
        name: Name<'a>,
        index: Option<(i32, Span)>,
    ) -> Result<Observable> {
        let Some(found) = self.program.threads.get(thread) else {
            return Err(Diagnostic::new(
                span,
                format!("there is no process P{thread}"),
            ));
        };
        let wanted = match index {
            None => name.text.to_owned(),
            Some((i, _)) => format!("{}[{i}]", name.text),
        };
        match found.registers.iter().position(|r| r.name == wanted) {
            Some(r) => Ok(Observable::Reg(ThreadId::new(thread), RegId::new(r))),
            None => Err(Diagnostic::new(
                name.span,
                format!("P{thread} has no register `{wanted}`"),
            )),
        }
    }

    fn location(&self, name: Name<'a>, index: Option<(i32, Span)>) -> Result<LocId> {
        let Some(shared) = self.shared.get(name.text) else {
            return Err(Diagnostic::new(
                name.span,
                format!("there is no location `{}`", name.text),
            )
            .with_help("a register is written with its process: `0:r1`"));
        };
        match (shared.len, index) {
            (None, None) => Ok(shared.base),
            (Some(len), Some((i, span))) => match u32::try_from(i) {
                Ok(i) if i < len => Ok(LocId(shared.base.0 + i)),
                _ => Err(Diagnostic::new(
                    span,
                    format!("index {i} is outside an array of {len} elements"),
                )),
            },
            (Some(_), None) => Err(Diagnostic::new(
                name.span,
                format!("`{}` is an array: name one element", name.text),
            )),
            (None, Some((_, span))) => Err(Diagnostic::new(
                span,
                format!("`{}` is not an array", name.text),
            )),
        }
    }
}

impl<'a> Names<'a> for Parser<'a> {
    fn cursor(&mut self) -> &mut Cursor<'a> {
        &mut self.cur
    }

    fn observable(&mut self) -> Result<Observable> {
        if let Some((thread, name)) = self.register_reference()? {
            let index = self.constant_index()?;
            return self.register_of(thread, name, index);
        }
        let bracket = self.cur.eat("[");
        if !bracket {
            self.cur.eat("*");
        }
        let name = self.cur.name("a register such as `0:r1`, or a location")?;
        if bracket {
            self.cur.expect("]")?;
        }
        let index = self.constant_index()?;
        self.location(name, index).map(Observable::Loc)
    }

    fn equal_to(&mut self, left: Observable) -> Result<Atom> {
        let is_number = self.cur.at("-")
            || matches!(self.cur.peek().kind, crate::lexer::Kind::Int(_))
                && !self.cur.at_nth(1, ":");
        Ok(if is_number {
            Atom::Is(left, self.cur.int32("a number")?)
        } else {
            Atom::Same(left, self.observable()?)
        })
    }
}
