//! Places and the accesses of them, as expressions.

use super::expr::array_element;
use super::harness::Helper;
use super::{Function, NotC, Shape};
use rsan_model::{Expr, Place, ReadOrd, RmwOp, RmwOrd};
use std::fmt::Display;

impl Function<'_, '_> {
    /// The place as an lvalue.
    fn place(&self, place: &Place) -> Result<String, NotC> {
        let locations = &self.context.locations;
        match place {
            Place::Loc(loc) => Ok(locations.element(loc.index())),
            Place::Element { base, len, index } => {
                let index = self.writer().index(index, *len)?;
                array_element(locations, base.index(), *len, index)
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

    pub(super) fn address(&self, place: &Place) -> Result<String, NotC> {
        Ok(format!("&{}", self.place(place)?))
    }

    /// The place as an lvalue of a plain access.
    pub(super) fn plain(&self, place: &Place) -> Result<String, NotC> {
        let text = self.place(place)?;
        Ok(
            match (self.context.atomic[self.first(place)], self.shape(place)) {
                (false, _) => text,
                (true, Shape::Congruent) => format!("*(volatile unsigned *)&{text}"),
                (true, _) => format!("*(volatile int *)&{text}"),
            },
        )
    }

    /// A value read from a place.
    pub(super) fn reduced(&self, place: &Place, text: String) -> String {
        match self.shape(place) {
            Shape::Congruent => format!("{}({text})", self.context.need(Helper::Wrap)),
            Shape::Value | Shape::Checked => text,
        }
    }

    pub(super) fn load(&self, place: &Place, ord: ReadOrd) -> Result<String, NotC> {
        let load = format!(
            "atomic_load_explicit({}, {})",
            self.address(place)?,
            c_order(ord)
        );
        Ok(self.reduced(place, load))
    }

    pub(super) fn update(
        &self,
        place: &Place,
        op: RmwOp,
        operand: &Expr,
        ord: RmwOrd,
        used: bool,
    ) -> Result<String, NotC> {
        let (address, ord) = (self.address(place)?, c_order(ord));
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
        let update = format!("atomic_{function}_explicit({address}, {value}, {ord})");
        Ok(match change {
            Some(change) => format!("{}({update}, {change})", self.context.need(Helper::Counted)),
            None if used => self.reduced(place, update),
            None => update,
        })
    }

    /// An addition or subtraction that must not wrap.
    fn checked(&self, op: RmwOp, operand: &Expr) -> Result<(&'static str, String, String), NotC> {
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

/// How C calls an order.
pub(super) fn c_order(ord: impl Display) -> String {
    format!("memory_order_{ord}")
}
