//! The parts of an instruction: modes, registers, locations, numbers.

use super::{LAST_REGISTER, Parser, register_number};
use crate::cursor::Name;
use crate::diagnostic::{Diagnostic, Result};
use crate::limits;
use crate::lower::too_many;
use rsan_model::{
    Expr, FenceOrd, LocId, LocKind, Location, Place, ReadOrd, RegId, RmwOrd, WriteOrd,
};

impl<'a> Parser<'a> {
    pub(super) fn register(&mut self) -> Result<RegId> {
        match self.cur.word().and_then(register_number) {
            Some(n) if n <= LAST_REGISTER => {
                self.cur.bump();
                Ok(RegId(n))
            }
            Some(_) => Err(Diagnostic::new(
                self.cur.here(),
                format!("the last register is r{LAST_REGISTER}"),
            )),
            None => Err(self.cur.unexpected("a register such as `r0`")),
        }
    }

    pub(super) fn optional_register(&mut self) -> Result<Option<RegId>> {
        if self.cur.eat_word("_") {
            Ok(None)
        } else {
            self.register().map(Some)
        }
    }

    pub(super) fn operand(&mut self) -> Result<Expr> {
        if self
            .cur
            .word()
            .is_some_and(|w| register_number(w).is_some())
        {
            self.register().map(Expr::Reg)
        } else {
            let value = self.cur.int32("a number or a register")?;
            Ok(Expr::Const(value.into()))
        }
    }

    pub(super) fn place(&mut self) -> Result<Place> {
        self.location().map(Place::Loc)
    }

    pub(super) fn location(&mut self) -> Result<LocId> {
        let is_location = |w: &str| w != "_" && register_number(w).is_none();
        if !self.cur.word().is_some_and(is_location) {
            return Err(self.cur.unexpected("a location"));
        }
        let name = self.cur.name("a location")?;
        if let Some(loc) = self.locations.get(name.text) {
            return Ok(*loc);
        }
        let count = self.program.locations.len();
        if count == limits::LOCATIONS {
            return Err(too_many(name.span, "locations", limits::LOCATIONS));
        }
        self.program.locations.push(Location {
            name: name.text.to_owned(),
            kind: LocKind::Atomic,
            init: 0,
        });
        self.locations.insert(name.text, LocId::new(count));
        Ok(LocId::new(count))
    }

    /// `.acq` and the like.
    pub(super) fn mode(&mut self) -> Result<Name<'a>> {
        self.cur.expect(".")?;
        self.cur.name("a mode")
    }

    pub(super) fn read_mode(&mut self) -> Result<ReadOrd> {
        let mode = self.mode()?;
        match mode.text {
            "rlx" => Ok(ReadOrd::Relaxed),
            "acq" => Ok(ReadOrd::Acquire),
            "sc" => Ok(ReadOrd::SeqCst),
            _ => Err(wrong_mode(mode, "a read is rlx, acq or sc")),
        }
    }

    pub(super) fn write_mode(&mut self) -> Result<WriteOrd> {
        let mode = self.mode()?;
        match mode.text {
            "rlx" => Ok(WriteOrd::Relaxed),
            "rel" => Ok(WriteOrd::Release),
            "sc" => Ok(WriteOrd::SeqCst),
            _ => Err(wrong_mode(mode, "a write is rlx, rel or sc")),
        }
    }

    pub(super) fn rmw_mode(&mut self) -> Result<RmwOrd> {
        let mode = self.mode()?;
        match mode.text {
            "rlx" => Ok(RmwOrd::Relaxed),
            "acq" => Ok(RmwOrd::Acquire),
            "rel" => Ok(RmwOrd::Release),
            "ar" | "acqrel" => Ok(RmwOrd::AcqRel),
            "sc" => Ok(RmwOrd::SeqCst),
            _ => Err(wrong_mode(mode, "an update is rlx, acq, rel, ar or sc")),
        }
    }

    pub(super) fn fence_mode(&mut self) -> Result<FenceOrd> {
        let mode = self.mode()?;
        match mode.text {
            "acq" => Ok(FenceOrd::Acquire),
            "rel" => Ok(FenceOrd::Release),
            "ar" | "acqrel" => Ok(FenceOrd::AcqRel),
            "sc" => Ok(FenceOrd::SeqCst),
            _ => Err(wrong_mode(mode, "a fence is acq, rel, acqrel or sc")),
        }
    }
}

fn wrong_mode(mode: Name<'_>, help: &str) -> Diagnostic {
    Diagnostic::new(mode.span, format!("wrong mode `{}`", mode.text)).with_help(help)
}
