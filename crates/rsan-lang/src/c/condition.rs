//! Final conditions: `exists (0:r1=1 /\ x=2)`, and `locations [x; 0:r1;]`.
//!
//! As in herd, `\/` binds loosest, then `/\`, then `=>`, then `~`.

use super::Parser;
use crate::cursor::Name;
use crate::diagnostic::{Diagnostic, Result};
use crate::limits;
use crate::lower::too_many;
use rsan_model::{Atom, Condition, LocId, Observable, Prop, Quantifier, RegId, Span, ThreadId};

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
                let quantifier = self.quantifier()?;
                if self.program.condition.is_some() {
                    return Err(Diagnostic::new(start, "a second final condition"));
                }
                let prop = self.disjunction()?;
                self.program.condition = Some(Condition { quantifier, prop });
                self.cur.eat(";");
            }
        }
    }

    fn quantifier(&mut self) -> Result<Quantifier> {
        let negated = self.cur.at("~") || self.cur.at_word("not");
        let quantifier = match self.cur.word_at(usize::from(negated)) {
            Some("exists") if negated => Quantifier::NotExists,
            Some("exists") => Quantifier::Exists,
            Some("forall") if !negated => Quantifier::Forall,
            _ => {
                return Err(self
                    .cur
                    .unexpected("a process, `locations`, `exists`, `~exists` or `forall`"));
            }
        };
        if negated {
            self.cur.bump();
        }
        self.cur.bump();
        Ok(quantifier)
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

    fn disjunction(&mut self) -> Result<Prop> {
        let mut parts = vec![self.conjunction()?];
        while self.cur.eat("\\/") || self.cur.eat("||") {
            parts.push(self.conjunction()?);
        }
        Ok(balanced(parts, &|p, q| Prop::Or(p.into(), q.into())))
    }

    fn conjunction(&mut self) -> Result<Prop> {
        let mut parts = vec![self.implication()?];
        while self.cur.eat("/\\") || self.cur.eat("&&") {
            parts.push(self.implication()?);
        }
        Ok(balanced(parts, &|p, q| Prop::And(p.into(), q.into())))
    }

    fn implication(&mut self) -> Result<Prop> {
        let left = self.literal()?;
        if !self.cur.eat("=>") {
            return Ok(left);
        }
        self.cur.enter()?;
        let right = self.implication()?;
        self.cur.leave();
        Ok(Prop::Or(Prop::Not(left.into()).into(), right.into()))
    }

    fn literal(&mut self) -> Result<Prop> {
        self.cur.enter()?;
        let prop = if self.cur.eat("~") || self.cur.eat("!") || self.cur.eat_word("not") {
            Prop::Not(self.literal()?.into())
        } else if self.cur.eat("(") {
            let inner = self.disjunction()?;
            self.cur.expect(")")?;
            inner
        } else if self.cur.eat_word("true") {
            Prop::True
        } else if self.cur.eat_word("false") {
            Prop::False
        } else {
            self.equality()?
        };
        self.cur.leave();
        Ok(prop)
    }

    fn equality(&mut self) -> Result<Prop> {
        let left = self.observable()?;
        let differs = self.cur.eat("!=") || self.cur.eat("<>");
        if !differs && !self.cur.eat("==") {
            self.cur.expect("=")?;
        }
        let is_number = self.cur.at("-")
            || matches!(self.cur.peek().kind, crate::lexer::Kind::Int(_))
                && !self.cur.at_nth(1, ":");
        let atom = if is_number {
            Atom::Is(left, self.cur.int32("a number")?)
        } else {
            Atom::Same(left, self.observable()?)
        };
        Ok(if differs {
            Prop::Not(Prop::Atom(atom).into())
        } else {
            Prop::Atom(atom)
        })
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

/// The parts joined so that the tree is only as high as the logarithm of their number.
fn balanced(mut parts: Vec<Prop>, join: &dyn Fn(Prop, Prop) -> Prop) -> Prop {
    while parts.len() > 1 {
        let mut halved = Vec::with_capacity(parts.len().div_ceil(2));
        let mut rest = parts.into_iter();
        while let Some(first) = rest.next() {
            halved.push(match rest.next() {
                Some(second) => join(first, second),
                None => first,
            });
        }
        parts = halved;
    }
    parts.pop().expect("at least one part")
}
