//! Accesses to globals: loads, stores, read-modify-writes, blocking operations, locks.

use super::Parser;
use crate::cursor::Name;
use crate::diagnostic::{Diagnostic, Result};
use rsan_model::{
    CasStrength, Expr, Instr, LocId, LocKind, Place, ReadOrd, RegId, RmwOp, RmwOrd, Span, Track,
    WriteOrd,
};

impl<'a> Parser<'a> {
    /// `lock(x);` or `unlock(x);`
    pub(super) fn lock_statement(&mut self, start: Span) -> Result<()> {
        let locks = self.cur.at_word("lock");
        self.cur.bump();
        self.cur.expect("(")?;
        let loc = self.atomic_global()?;
        self.cur.expect(")")?;
        let place = Place::Loc(loc);
        let instr = if locks {
            self.add_track(loc, Track::Values(vec![0]));
            Instr::Bcas {
                place,
                expected: Expr::Const(0),
                new: Expr::Const(1),
                ord: RmwOrd::Acquire,
            }
        } else {
            Instr::Store {
                place,
                value: Expr::Const(0),
                ord: WriteOrd::Release,
            }
        };
        self.finish(instr, start)
    }

    /// `x.store(e);` or `d.nastore(e);`
    pub(super) fn access_statement(&mut self, start: Span) -> Result<()> {
        let name = self.cur.name("a global variable")?;
        self.cur.expect(".")?;
        let plain = match self.cur.word() {
            Some("store") => false,
            Some("nastore") => true,
            Some("load" | "naload") => {
                return Err(Diagnostic::new(
                    name.span.to(self.cur.here()),
                    "the value of a load goes into a local variable",
                )
                .with_help(format!("`r = {}.load();`", name.text)));
            }
            _ => return Err(self.cur.unexpected("`store` or `nastore`")),
        };
        self.cur.bump();
        self.cur.expect("(")?;
        let value = self.expression()?;
        let instr = if plain {
            let place = self.place(name, LocKind::Plain)?;
            Instr::PlainStore { place, value }
        } else {
            let place = self.place(name, LocKind::Atomic)?;
            let ord = if self.cur.eat(",") {
                self.write_order()?
            } else {
                WriteOrd::Relaxed
            };
            Instr::Store { place, value, ord }
        };
        self.cur.expect(")")?;
        self.finish(instr, start)
    }

    /// `r = ...;`
    pub(super) fn assignment(&mut self, start: Span) -> Result<()> {
        let name = self.cur.name("a local variable")?;
        let dst = self.local(name)?;
        self.cur.expect("=")?;
        match self.cur.word() {
            Some("CAS" | "FADD" | "exchange" | "wait") => self.operation(Some(dst), start),
            Some("BCAS") => Err(Diagnostic::new(self.cur.here(), "`BCAS` has no value")),
            Some(_) if self.cur.at_nth(1, ".") => self.load(dst, start),
            _ => {
                let value = self.expression()?;
                self.finish(Instr::Assign { dst, value }, start)
            }
        }
    }

    /// `x.load(acq)` or `d.naload()`
    fn load(&mut self, dst: RegId, start: Span) -> Result<()> {
        let name = self.cur.name("a global variable")?;
        self.cur.expect(".")?;
        let instr = if self.cur.eat_word("naload") {
            self.cur.expect("(")?;
            let place = self.place(name, LocKind::Plain)?;
            Instr::PlainLoad { dst, place }
        } else if self.cur.eat_word("load") {
            self.cur.expect("(")?;
            let place = self.place(name, LocKind::Atomic)?;
            let ord = if self.cur.at(")") {
                ReadOrd::Relaxed
            } else {
                self.read_order()?
            };
            Instr::Load { dst, place, ord }
        } else {
            return Err(self.cur.unexpected("`load` or `naload`"));
        };
        self.cur.expect(")")?;
        self.finish(instr, start)
    }

    /// `CAS`, `FADD`, `exchange`, `wait` or `BCAS` with its arguments.
    pub(super) fn operation(&mut self, dst: Option<RegId>, start: Span) -> Result<()> {
        let keyword = self.cur.name("an operation")?.text;
        self.cur.expect("(")?;
        let place = Place::Loc(self.atomic_global()?);
        let instr = match keyword {
            "CAS" | "BCAS" => {
                let expected = self.argument()?;
                let new = self.argument()?;
                let ord = self.rmw_orders()?;
                if keyword == "BCAS" {
                    Instr::Bcas {
                        place,
                        expected,
                        new,
                        ord,
                    }
                } else {
                    Instr::Cas {
                        dst,
                        success: None,
                        place,
                        expected,
                        new,
                        ord,
                        fail: ord.read(),
                        strength: CasStrength::Strong,
                    }
                }
            }
            "wait" => {
                let mut values = vec![self.argument()?];
                let mut ord = ReadOrd::Relaxed;
                while self.cur.eat(",") {
                    if matches!(self.cur.word(), Some("rlx" | "acq" | "rel")) {
                        ord = self.read_order()?;
                        break;
                    }
                    values.push(self.expression()?);
                }
                Instr::Wait {
                    dst,
                    place,
                    values,
                    ord,
                }
            }
            _ => {
                let operand = self.argument()?;
                let op = if keyword == "FADD" {
                    RmwOp::Add
                } else {
                    RmwOp::Exchange
                };
                Instr::Rmw {
                    dst,
                    place,
                    op,
                    operand,
                    ord: self.rmw_orders()?,
                }
            }
        };
        self.cur.expect(")")?;
        self.finish(instr, start)
    }

    /// `, e`
    fn argument(&mut self) -> Result<Expr> {
        self.cur.expect(",")?;
        self.expression()
    }

    /// `, acq, rel`, or nothing.
    fn rmw_orders(&mut self) -> Result<RmwOrd> {
        if !self.cur.eat(",") {
            return Ok(RmwOrd::Relaxed);
        }
        let read = self.read_order()?;
        self.cur.expect(",")?;
        let write = self.write_order()?;
        Ok(RmwOrd::from_halves(read, write))
    }

    fn read_order(&mut self) -> Result<ReadOrd> {
        let ord = match self.cur.word() {
            Some("rlx") => ReadOrd::Relaxed,
            Some("acq") => ReadOrd::Acquire,
            _ => return Err(self.cur.unexpected("the order of a read: rlx or acq")),
        };
        self.cur.bump();
        Ok(ord)
    }

    fn write_order(&mut self) -> Result<WriteOrd> {
        let ord = match self.cur.word() {
            Some("rlx") => WriteOrd::Relaxed,
            Some("rel") => WriteOrd::Release,
            _ => return Err(self.cur.unexpected("the order of a write: rlx or rel")),
        };
        self.cur.bump();
        Ok(ord)
    }

    fn atomic_global(&mut self) -> Result<LocId> {
        let name = self.cur.name("a global variable")?;
        match self.place(name, LocKind::Atomic)? {
            Place::Loc(loc) => Ok(loc),
            Place::Element { base, .. } => Ok(base),
        }
    }

    /// The global of that name and kind; another one is reported, and the answer is then of no use.
    fn place(&mut self, name: Name<'a>, kind: LocKind) -> Result<Place> {
        let Some(loc) = self.global(name)? else {
            return Ok(Place::Loc(LocId(0)));
        };
        if self.program.locations[loc.index()].kind != kind {
            let (is, use_instead) = match kind {
                LocKind::Atomic => ("not atomic", "naload() and nastore(e)"),
                LocKind::Plain => ("atomic", "load() and store(e)"),
            };
            let error = format!("`{}` is {is}", name.text);
            self.report(Diagnostic::new(name.span, error).with_help(format!("use {use_instead}")))?;
        }
        Ok(Place::Loc(loc))
    }
}
