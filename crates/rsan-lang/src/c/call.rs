//! Calls: the operations of `<stdatomic.h>`, `assert`, `assume` and rsan's own blocking operations.

use super::Parser;
use super::expr::{Ast, Node};
use super::target::Target;
use crate::cursor::Name;
use crate::diagnostic::{Diagnostic, Result};
use rsan_model::{CasStrength, Expr, Instr, Place, ReadOrd, RegId, RmwOp, RmwOrd, Span};

/// What becomes of a call's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Want {
    /// Nobody uses it.
    Nothing,
    /// It is used in an expression.
    Value,
    /// It goes into this register.
    In(RegId),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Function {
    Load,
    Store,
    Rmw(RmwOp),
    Cas(CasStrength),
    Fence,
    SignalFence,
    Init,
    Assert,
    Assume,
    Wait,
    Bcas,
}

/// The arguments of a call that is being lowered.
pub(super) struct Call<'e, 'a> {
    name: Name<'a>,
    pub(super) arguments: &'e [Ast<'a>],
    span: Span,
    want: Want,
    /// Whether the orders are arguments.
    explicit: bool,
}

/// The function of that name, and whether its orders are arguments.
fn function(name: &str) -> Option<(Function, bool)> {
    let (stem, explicit) = match name.strip_suffix("_explicit") {
        Some(stem) => (stem, true),
        None => (name, false),
    };
    let function = match stem {
        "atomic_load" => Function::Load,
        "atomic_store" => Function::Store,
        "atomic_exchange" => Function::Rmw(RmwOp::Exchange),
        "atomic_fetch_add" => Function::Rmw(RmwOp::Add),
        "atomic_fetch_sub" => Function::Rmw(RmwOp::Sub),
        "atomic_fetch_and" => Function::Rmw(RmwOp::And),
        "atomic_fetch_or" => Function::Rmw(RmwOp::Or),
        "atomic_fetch_xor" => Function::Rmw(RmwOp::Xor),
        "atomic_compare_exchange_strong" => Function::Cas(CasStrength::Strong),
        "atomic_compare_exchange_weak" => Function::Cas(CasStrength::Weak),
        _ if explicit => return None,
        "atomic_thread_fence" => Function::Fence,
        "atomic_signal_fence" => Function::SignalFence,
        "atomic_init" => Function::Init,
        "assert" => Function::Assert,
        "assume" => Function::Assume,
        "rsan_wait" => Function::Wait,
        "rsan_bcas" => Function::Bcas,
        _ => return None,
    };
    Some((function, explicit))
}

/// Whether the value of a call is 0 or 1.
pub(super) fn gives_truth(name: &str) -> bool {
    matches!(function(name), Some((Function::Cas(_), _)))
}

/// Operations of the Linux kernel, which C litmus tests may also be written with.
fn is_kernel_operation(name: &str) -> bool {
    let prefixes = [
        "smp_",
        "rcu_",
        "srcu_",
        "spin_",
        "synchronize_",
        "xchg",
        "cmpxchg",
        "atomic_add",
        "atomic_inc",
        "atomic_dec",
        "atomic_sub",
        "atomic_read",
        "atomic_set",
        "atomic_xchg",
        "atomic_cmpxchg",
    ];
    matches!(
        name,
        "READ_ONCE" | "WRITE_ONCE" | "barrier" | "mb" | "rmb" | "wmb"
    ) || prefixes.iter().any(|p| name.starts_with(p))
}

impl<'a> Parser<'a> {
    /// The error for operations of the Linux kernel.
    pub(super) fn no_kernel_operations(&self, name: Name<'a>) -> Diagnostic {
        Diagnostic::new(
            name.span,
            format!("`{}` belongs to the Linux kernel's memory model", name.text),
        )
        .with_help("use the operations of <stdatomic.h>, such as atomic_load_explicit")
    }

    /// Lowers a call.
    pub(super) fn call_function(
        &mut self,
        name: Name<'a>,
        arguments: &[Ast<'a>],
        span: Span,
        want: Want,
    ) -> Result<Expr> {
        let Some((function, explicit)) = function(name.text) else {
            return Err(if is_kernel_operation(name.text) {
                self.no_kernel_operations(name)
            } else {
                Diagnostic::new(name.span, format!("unknown function `{}`", name.text))
            });
        };
        let call = Call {
            name,
            arguments,
            span,
            want,
            explicit,
        };
        match function {
            Function::Load => self.call_load(&call),
            Function::Rmw(op) => self.call_rmw(&call, op),
            Function::Cas(strength) => self.call_cas(&call, strength),
            Function::Wait => self.call_wait(&call),
            Function::Store
            | Function::Fence
            | Function::SignalFence
            | Function::Init
            | Function::Assert
            | Function::Assume
            | Function::Bcas => {
                if want != Want::Nothing {
                    return Err(Diagnostic::new(
                        span,
                        format!("`{}` has no value", name.text),
                    ));
                }
                self.call_without_value(&call, function)?;
                Ok(Expr::Const(0))
            }
        }
    }

    fn call_without_value(&mut self, call: &Call<'_, 'a>, function: Function) -> Result<()> {
        let instr = match function {
            Function::Store => {
                call.check_count(2 + usize::from(call.explicit))?;
                let ord = self.write_order(call, 2)?;
                let place = self.atomic_place(&call.arguments[0])?;
                let value = self.value(&call.arguments[1])?;
                Instr::Store { place, value, ord }
            }
            Function::Fence => {
                call.check_count(1)?;
                match self.fence_order(call)? {
                    Some(ord) => Instr::Fence(ord),
                    None => return Ok(()),
                }
            }
            Function::SignalFence => {
                call.check_count(1)?;
                self.fence_order(call)?;
                return Ok(());
            }
            Function::Init => {
                call.check_count(2)?;
                let place = self.atomic_place(&call.arguments[0])?;
                let value = self.value(&call.arguments[1])?;
                Instr::PlainStore { place, value }
            }
            Function::Assert | Function::Assume => {
                call.check_count(1)?;
                let value = self.value(&call.arguments[0])?;
                if function == Function::Assert {
                    Instr::Assert(value)
                } else {
                    Instr::Assume(value)
                }
            }
            _ => {
                let explicit = call.arguments.len() == 4;
                call.check_count(if explicit { 4 } else { 3 })?;
                let ord = if explicit {
                    self.order(&call.arguments[3])?.for_rmw()
                } else {
                    RmwOrd::AcqRel
                };
                let place = self.atomic_place(&call.arguments[0])?;
                let expected = self.value(&call.arguments[1])?;
                let new = self.value(&call.arguments[2])?;
                Instr::Bcas {
                    place,
                    expected,
                    new,
                    ord,
                }
            }
        };
        self.body.code.emit(instr, call.span)
    }

    fn call_load(&mut self, call: &Call<'_, 'a>) -> Result<Expr> {
        call.check_count(1 + usize::from(call.explicit))?;
        let ord = self.read_order(call, 1)?;
        let place = self.atomic_place(&call.arguments[0])?;
        let dst = match call.want {
            Want::In(register) => register,
            Want::Value | Want::Nothing => self.body.code.temp(call.span)?,
        };
        let load = Instr::Load { dst, place, ord };
        self.body.code.emit(load, call.span)?;
        Ok(Expr::Reg(dst))
    }

    fn call_rmw(&mut self, call: &Call<'_, 'a>, op: RmwOp) -> Result<Expr> {
        call.check_count(2 + usize::from(call.explicit))?;
        let ord = self.rmw_order(call, 2)?;
        let place = self.atomic_place(&call.arguments[0])?;
        let operand = self.value(&call.arguments[1])?;
        let dst = self.destination(call)?;
        let rmw = Instr::Rmw {
            dst,
            place,
            op,
            operand,
            ord,
        };
        self.body.code.emit(rmw, call.span)?;
        Ok(dst.map_or(Expr::Const(0), Expr::Reg))
    }

    /// `rsan_wait(x, v, ..., order)`
    fn call_wait(&mut self, call: &Call<'_, 'a>) -> Result<Expr> {
        let (ord, values) = match call.arguments {
            [] | [_] => return Err(call.wrong_count("at least 2")),
            [_, _, .., last] if self.names_order(last) => (
                self.read_order(call, call.arguments.len() - 1)?,
                &call.arguments[1..call.arguments.len() - 1],
            ),
            [_, values @ ..] => (ReadOrd::Acquire, values),
        };
        let place = self.atomic_place(&call.arguments[0])?;
        let values = values
            .iter()
            .map(|v| self.value(v))
            .collect::<Result<Vec<_>>>()?;
        let dst = self.destination(call)?;
        let wait = Instr::Wait {
            dst,
            place,
            values,
            ord,
        };
        self.body.code.emit(wait, call.span)?;
        Ok(dst.map_or(Expr::Const(0), Expr::Reg))
    }

    /// Compare-and-exchange. A local that holds the expected value simply receives the value read: on success
    /// and on spurious failure that is what it holds already.
    fn call_cas(&mut self, call: &Call<'_, 'a>, strength: CasStrength) -> Result<Expr> {
        call.check_count(if call.explicit { 5 } else { 3 })?;
        let ord = self.rmw_order(call, 3)?;
        let fail = self.read_order(call, 4)?;
        let place = self.atomic_place(&call.arguments[0])?;
        let holder = self.expected_holder(&call.arguments[1])?;
        let (dst, expected) = match &holder {
            None => (None, self.value(&call.arguments[1])?),
            Some(Target::Register { register, .. }) => (Some(*register), Expr::Reg(*register)),
            Some(target) => {
                let held = self.read(target.clone(), call.arguments[1].span)?;
                (Some(self.body.code.temp(call.span)?), held)
            }
        };
        let new = self.value(&call.arguments[2])?;
        let must_store = matches!(holder, Some(Target::Element { .. } | Target::Shared(_)));
        let success = match call.want {
            Want::Nothing if !must_store => None,
            Want::In(register) if Some(register) != dst => Some(register),
            _ => Some(self.body.code.temp(call.span)?),
        };
        let cas = Instr::Cas {
            dst,
            success,
            place,
            expected,
            new,
            ord,
            fail,
            strength,
        };
        self.body.code.emit(cas, call.span)?;
        if let (true, Some(target), Some(read), Some(success)) = (must_store, holder, dst, success)
        {
            self.store_on_failure(target, read, success, call.span)?;
        }
        if let (Want::In(register), Some(success)) = (call.want, success)
            && register != success
        {
            let value = Expr::Reg(success);
            self.body.code.assign(register, value, call.span)?;
        }
        Ok(success.map_or(Expr::Const(0), Expr::Reg))
    }

    /// Where the expected value is held and put back on failure: `&r`, a shared location, or (short for `&r`)
    /// a local. `None` when it is just a value.
    fn expected_holder(&mut self, e: &Ast<'a>) -> Result<Option<Target>> {
        match &e.node {
            Node::AddressOf(inner) => self.target(inner).map(Some),
            Node::Name(name) => match self.lookup(name) {
                Some(super::decl::Symbol::Shared(shared)) => {
                    Ok(Some(Target::Shared(Place::Loc(shared.base))))
                }
                _ => self.target(e).map(Some),
            },
            _ => Ok(None),
        }
    }

    fn store_on_failure(
        &mut self,
        target: Target,
        read: RegId,
        success: RegId,
        span: Span,
    ) -> Result<()> {
        let failed = self.body.code.label();
        let end = self.body.code.label();
        self.body
            .code
            .branch(Expr::Reg(success), end, failed, span)?;
        self.body.code.bind(failed);
        self.write(target, Expr::Reg(read), span)?;
        self.body.code.bind(end);
        Ok(())
    }

    fn destination(&mut self, call: &Call<'_, 'a>) -> Result<Option<RegId>> {
        Ok(match call.want {
            Want::Nothing => None,
            Want::Value => Some(self.body.code.temp(call.span)?),
            Want::In(register) => Some(register),
        })
    }

    /// The location that an atomic operation accesses; that makes it an atomic location, whatever its type says.
    fn atomic_place(&mut self, e: &Ast<'a>) -> Result<Place> {
        let place = self.place(e)?;
        match &place {
            Place::Loc(loc) => self.make_atomic(*loc, 1),
            Place::Element { base, len, .. } => self.make_atomic(*base, *len),
        }
        Ok(place)
    }
}

impl<'a> Call<'_, 'a> {
    fn check_count(&self, count: usize) -> Result<()> {
        if self.arguments.len() == count {
            Ok(())
        } else {
            Err(self.wrong_count(&count.to_string()))
        }
    }

    fn wrong_count(&self, expected: &str) -> Diagnostic {
        let plural = if expected == "1" { "" } else { "s" };
        Diagnostic::new(
            self.span,
            format!(
                "`{}` takes {expected} argument{plural}, not {}",
                self.name.text,
                self.arguments.len()
            ),
        )
    }

    /// The argument that is an order, if the function has one.
    pub(super) fn order_argument(&self, at: usize) -> Option<&Ast<'a>> {
        self.arguments.get(at)
    }
}
