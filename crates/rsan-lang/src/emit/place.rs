//! Places and the accesses of them, as expressions.

use super::harness::Helper;
use super::syntax::Language;
use super::{Function, Shape, Untranslatable};
use rsan_model::{Expr, Place, ReadOrd, RmwOp, RmwOrd};

impl Function<'_, '_> {
    /// The place as an expression that stands for it.
    pub(super) fn place(&self, place: &Place) -> Result<String, Untranslatable> {
        let locations = &self.context.locations;
        match place {
            Place::Loc(loc) => Ok(locations.element(loc.index())),
            Place::Element { base, len, index } => {
                let index = self.writer().index(index, *len)?;
                self.context
                    .array_element(locations, base.index(), *len, index)
            }
        }
    }

    fn first(&self, place: &Place) -> usize {
        match place {
            Place::Loc(loc) => loc.index(),
            Place::Element { base, .. } => base.index(),
        }
    }

    fn shape(&self, place: &Place) -> Shape {
        self.context.shapes[self.first(place)]
    }

    pub(super) fn address(&self, place: &Place) -> Result<String, Untranslatable> {
        Ok(format!("&{}", self.place(place)?))
    }

    /// The place as what a plain access is made of.
    fn plain(&self, place: &Place) -> Result<String, Untranslatable> {
        let text = self.place(place)?;
        let atomic = self.context.atomic[self.first(place)];
        Ok(match (self.context.language, atomic, self.shape(place)) {
            (_, false, _) => text,
            (Language::C, true, Shape::Congruent) => format!("*(volatile unsigned *)&{text}"),
            (Language::C, true, _) => format!("*(volatile int *)&{text}"),
            (Language::Rust, true, _) => format!("{}(&{text})", self.context.need(Helper::Plain)),
        })
    }

    pub(super) fn plain_load(&self, place: &Place) -> Result<String, Untranslatable> {
        let plain = self.plain(place)?;
        Ok(self.reduced(
            place,
            match self.context.language {
                Language::C => plain,
                Language::Rust => format!("{plain}.read()"),
            },
        ))
    }

    pub(super) fn plain_store(&self, place: &Place, value: &str) -> Result<String, Untranslatable> {
        let plain = self.plain(place)?;
        Ok(match self.context.language {
            Language::C => format!("{plain} = {value};"),
            Language::Rust => format!("{plain}.write({value});"),
        })
    }

    /// A value read from a place.
    pub(super) fn reduced(&self, place: &Place, text: String) -> String {
        match self.shape(place) {
            Shape::Congruent => self.context.congruent(&text),
            Shape::Value | Shape::Checked => text,
        }
    }

    pub(super) fn load(&self, place: &Place, ord: ReadOrd) -> Result<String, Untranslatable> {
        let language = self.context.language;
        let load = language.atomic("load", &self.place(place)?, &[&language.order(ord)]);
        Ok(self.reduced(place, load))
    }

    pub(super) fn update(
        &self,
        place: &Place,
        op: RmwOp,
        operand: &Expr,
        ord: RmwOrd,
        used: bool,
    ) -> Result<String, Untranslatable> {
        let language = self.context.language;
        let shape = self.shape(place);
        let value = self.writer().value(operand)?;
        let (function, value, change) = match (op, shape, self.context.modulus()) {
            (RmwOp::Exchange, _, _) => ("exchange", value, None),
            (RmwOp::Add | RmwOp::Sub, Shape::Checked, _) => {
                let (function, value, change) = self.checked(op, operand)?;
                (function, value, Some(change))
            }
            (RmwOp::Add, _, _) => ("fetch_add", value, None),
            (RmwOp::Sub, _, Some(modulus)) => {
                let operand = self.writer().operand(operand)?;
                ("fetch_add", format!("{modulus} - {operand}"), None)
            }
            (RmwOp::Sub, _, None) => ("fetch_sub", value, None),
            (RmwOp::And, _, _) => ("fetch_and", value, None),
            (RmwOp::Or, _, _) => ("fetch_or", value, None),
            (RmwOp::Xor, _, _) => ("fetch_xor", value, None),
        };
        let place_text = self.place(place)?;
        let update = language.atomic(function, &place_text, &[&value, &language.order(ord)]);
        Ok(match change {
            Some(change) => format!("{}({update}, {change})", self.context.need(Helper::Counted)),
            None if used => self.reduced(place, update),
            None => update,
        })
    }

    /// An addition or subtraction that must not wrap.
    fn checked(
        &self,
        op: RmwOp,
        operand: &Expr,
    ) -> Result<(&'static str, String, String), Untranslatable> {
        let negative = operand.as_const().filter(|n| *n < 0);
        let adds = (op == RmwOp::Add) != negative.is_some();
        let value = match negative {
            Some(n) => self.writer().operand(&Expr::Const(n.wrapping_neg()))?,
            None => self.writer().operand(operand)?,
        };
        let (function, sign) = if adds {
            ("fetch_add", "")
        } else {
            ("fetch_sub", "-")
        };
        let change = format!("{sign}{value}");
        Ok((function, value, change))
    }
}
