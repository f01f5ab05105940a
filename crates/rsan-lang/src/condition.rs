//! Final conditions of litmus tests: `exists (0:r1=1 /\ x=2)`.
//!
//! As in herd, `\/` binds loosest, then `/\`, then `=>`, then `~`. What a name means is for the language to say ([`Names`]).

use crate::cursor::Cursor;
use crate::diagnostic::Result;
use rsan_model::{Atom, Condition, Observable, Prop, Quantifier};

/// A reader of a language, as far as conditions need one.
pub(crate) trait Names<'a> {
    /// Where it reads.
    fn cursor(&mut self) -> &mut Cursor<'a>;

    /// Reads what is compared: a register or a location.
    fn observable(&mut self) -> Result<Observable>;

    /// Reads what stands right of an equality with `left`.
    fn equal_to(&mut self, left: Observable) -> Result<Atom>;

    /// `exists`, `~exists`, `not exists` or `forall`; `expected` is what could stand here, for the error.
    fn quantifier(&mut self, expected: &str) -> Result<Quantifier> {
        let cur = self.cursor();
        let negated = cur.at("~") || cur.at_word("not");
        let quantifier = match cur.word_at(usize::from(negated)) {
            Some("exists") if negated => Quantifier::NotExists,
            Some("exists") => Quantifier::Exists,
            Some("forall") if !negated => Quantifier::Forall,
            _ => return Err(cur.unexpected(expected)),
        };
        if negated {
            cur.bump();
        }
        cur.bump();
        Ok(quantifier)
    }

    /// A final condition; `expected` is what could stand here, for the error.
    fn whole_condition(&mut self, expected: &str) -> Result<Condition> {
        let quantifier = self.quantifier(expected)?;
        let prop = self.disjunction()?;
        self.cursor().eat(";");
        Ok(Condition { quantifier, prop })
    }

    /// A formula.
    fn disjunction(&mut self) -> Result<Prop> {
        let mut parts = vec![self.conjunction()?];
        while self.cursor().eat("\\/") || self.cursor().eat("||") {
            parts.push(self.conjunction()?);
        }
        Ok(balanced(parts, &|p, q| Prop::Or(p.into(), q.into())))
    }

    /// A formula without `\/` outside brackets.
    fn conjunction(&mut self) -> Result<Prop> {
        let mut parts = vec![self.implication()?];
        while self.cursor().eat("/\\") || self.cursor().eat("&&") {
            parts.push(self.implication()?);
        }
        Ok(balanced(parts, &|p, q| Prop::And(p.into(), q.into())))
    }

    /// A literal, or one that implies others.
    fn implication(&mut self) -> Result<Prop> {
        let left = self.literal()?;
        if !self.cursor().eat("=>") {
            return Ok(left);
        }
        self.cursor().enter()?;
        let right = self.implication()?;
        self.cursor().leave();
        Ok(Prop::Or(Prop::Not(left.into()).into(), right.into()))
    }

    /// An equality, its negation, a constant or something in brackets.
    fn literal(&mut self) -> Result<Prop> {
        self.cursor().enter()?;
        let cur = self.cursor();
        let prop = if cur.eat("~") || cur.eat("!") || cur.eat_word("not") {
            Prop::Not(self.literal()?.into())
        } else if cur.eat("(") {
            let inner = self.disjunction()?;
            self.cursor().expect(")")?;
            inner
        } else if cur.eat_word("true") {
            Prop::True
        } else if cur.eat_word("false") {
            Prop::False
        } else {
            self.equality()?
        };
        self.cursor().leave();
        Ok(prop)
    }

    /// `0:r1=1`, `x!=0:r1`
    fn equality(&mut self) -> Result<Prop> {
        let left = self.observable()?;
        let cur = self.cursor();
        let differs = cur.eat("!=") || cur.eat("<>");
        if !differs && !cur.eat("==") {
            cur.expect("=")?;
        }
        let atom = Prop::Atom(self.equal_to(left)?);
        Ok(if differs {
            Prop::Not(atom.into())
        } else {
            atom
        })
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
