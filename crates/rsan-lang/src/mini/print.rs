//! From programs back to the compact notation.

use super::{LAST_REGISTER, RMWS, plain_locations, register_number};
use rsan_model::{
    BinOp, CasStrength, Domain, Expr, FenceOrd, Instr, LocId, LocKind, Pc, Place, Program, ReadOrd,
    RegId, RmwOrd, Start, Thread, ThreadId, WriteOrd,
};
use std::fmt;

/// Why a program has no compact notation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotMini {
    /// What cannot be written.
    pub reason: String,
}

impl fmt::Display for NotMini {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no compact notation: {}", self.reason)
    }
}

impl std::error::Error for NotMini {}

type Result<T> = std::result::Result<T, NotMini>;

fn not_mini<T>(reason: impl Into<String>) -> Result<T> {
    Err(NotMini {
        reason: reason.into(),
    })
}

/// The compact notation of a program; [`super::parse`] makes the same program of it (but for its name, the
/// places in the source, and registers that are never used).
///
/// # Errors
/// When the program has something that the notation cannot express.
pub fn print(program: &Program) -> Result<String> {
    check_program(program)?;
    let mut threads = Vec::new();
    for thread in &program.threads {
        threads.push(print_thread(program, thread)?);
    }
    let body = threads.join(" || ");
    Ok(match print_init(program) {
        Some(init) => format!("{init} {body}").trim_end().to_owned(),
        None => body,
    })
}

fn check_program(program: &Program) -> Result<()> {
    if program.domain != Domain::Int32 {
        return not_mini("values are not C's int");
    }
    if program.threads.is_empty() {
        return not_mini("there are no threads");
    }
    if program.condition.is_some() || !program.observed.is_empty() || !program.tracked.is_empty() {
        return not_mini("it has a final condition, or observed or tracked locations");
    }
    let plain = plain_locations(program);
    for (location, plain) in program.locations.iter().zip(plain) {
        let mut chars = location.name.chars();
        let is_word = chars
            .next()
            .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && chars.all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_word || location.name == "_" || register_number(&location.name).is_some() {
            return not_mini(format!("`{}` is not the name of a location", location.name));
        }
        if plain != (location.kind == LocKind::Plain) {
            return not_mini(format!(
                "the kind of `{}` does not follow from its use",
                location.name
            ));
        }
    }
    check_starts(program)
}

fn check_starts(program: &Program) -> Result<()> {
    let is_spawned = |t: ThreadId| {
        program
            .instructions()
            .any(|(_, _, instr)| *instr == Instr::Spawn(t))
    };
    for (t, thread) in program.threads.iter().enumerate() {
        if (thread.start == Start::Spawned) != is_spawned(ThreadId::new(t)) {
            return not_mini(format!(
                "the start of `{}` does not follow from `spawn`",
                thread.name
            ));
        }
        for (r, register) in thread.registers.iter().enumerate() {
            let wanted = r <= LAST_REGISTER as usize && register.name == format!("r{r}");
            if !wanted || register.init != 0 {
                return not_mini(format!("register `{}`", register.name));
            }
        }
    }
    Ok(())
}

/// `init x=1 y=0:`, when the locations or their values do not follow from the instructions.
fn print_init(program: &Program) -> Option<String> {
    let mut order: Vec<LocId> = Vec::new();
    for (_, _, instr) in program.instructions() {
        for loc in instr.place().into_iter().flat_map(Place::candidates) {
            if !order.contains(&loc) {
                order.push(loc);
            }
        }
    }
    let follows = order.len() == program.locations.len()
        && order.iter().enumerate().all(|(i, loc)| loc.index() == i)
        && program.locations.iter().all(|l| l.init == 0);
    if follows {
        return None;
    }
    let values: Vec<String> = program
        .locations
        .iter()
        .map(|l| format!("{}={}", l.name, l.init))
        .collect();
    Some(format!("init {}:", values.join(" ")))
}

fn print_thread(program: &Program, thread: &Thread) -> Result<String> {
    let mut instrs = Vec::new();
    for (pc, instr) in thread.code.iter().enumerate() {
        instrs.push(print_instr(program, instr, Pc::new(pc))?);
    }
    Ok(instrs.join("; "))
}

fn print_instr(program: &Program, instr: &Instr, pc: Pc) -> Result<String> {
    let name = |place: &Place| match place {
        Place::Loc(loc) => Ok(program.location_name(*loc).to_owned()),
        Place::Element { .. } => not_mini("an array"),
    };
    Ok(match instr {
        Instr::Load { dst, place, ord } => {
            format!("ld.{} r{} {}", read(*ord), dst.0, name(place)?)
        }
        Instr::Store { place, value, ord } => {
            format!("st.{} {} {}", write(*ord), name(place)?, operand(value)?)
        }
        Instr::Rmw {
            dst,
            place,
            op,
            operand: value,
            ord,
        } => {
            let (text, _) = RMWS
                .iter()
                .find(|(_, o)| o == op)
                .expect("the table has every operation");
            let (dst, ord) = (register(*dst), rmw(*ord));
            format!("{text}.{ord} {dst} {} {}", name(place)?, operand(value)?)
        }
        Instr::Cas {
            success: Some(_), ..
        } => return not_mini("the success of a CAS"),
        Instr::Cas {
            dst,
            place,
            expected,
            new,
            ord,
            fail,
            strength,
            ..
        } => {
            let text = match strength {
                CasStrength::Strong => "scas",
                CasStrength::Weak => "wcas",
            };
            let (ord, fail, dst) = (rmw(*ord), read(*fail), register(*dst));
            let (expected, new) = (operand(expected)?, operand(new)?);
            format!(
                "{text}.{ord}.{fail} {dst} {} {expected} {new}",
                name(place)?
            )
        }
        Instr::Wait { dst: Some(_), .. } => return not_mini("the value of a wait"),
        Instr::Wait {
            place, values, ord, ..
        } => {
            let values = values.iter().map(operand).collect::<Result<Vec<_>>>()?;
            if values.is_empty() {
                return not_mini("a wait for nothing");
            }
            format!("wait.{} {} {}", read(*ord), name(place)?, values.join(" "))
        }
        Instr::Bcas {
            place,
            expected,
            new,
            ord,
        } => {
            let (expected, new) = (operand(expected)?, operand(new)?);
            format!("bcas.{} {} {expected} {new}", rmw(*ord), name(place)?)
        }
        Instr::PlainLoad { dst, place } => format!("nld r{} {}", dst.0, name(place)?),
        Instr::PlainStore { place, value } => format!("nst {} {}", name(place)?, operand(value)?),
        Instr::Fence(ord) => format!("fence.{}", fence(*ord)),
        Instr::Branch {
            cond,
            then,
            otherwise,
        } => branch(cond, *then, *otherwise, pc)?,
        Instr::Spawn(thread) => format!("spawn {}", thread.0),
        Instr::Join(thread) => format!("join {}", thread.0),
        Instr::Assign { .. }
        | Instr::Jump(_)
        | Instr::Choose(_)
        | Instr::Assert(_)
        | Instr::Assume(_)
        | Instr::Observe(_)
        | Instr::Halt => return not_mini("an instruction that is not in the notation"),
    })
}

fn branch(cond: &Expr, then: Pc, otherwise: Pc, pc: Pc) -> Result<String> {
    let Expr::Binary(op, left, right) = cond else {
        return not_mini("a condition that is not a comparison");
    };
    let op = match op {
        BinOp::Eq => "beq",
        BinOp::Ne => "bne",
        _ => return not_mini("a comparison other than == and !="),
    };
    let Expr::Reg(RegId(register)) = **left else {
        return not_mini("a comparison that does not begin with a register");
    };
    if otherwise.0 != pc.0 + 1 || then.0 <= pc.0 {
        return not_mini("a branch that is not a skip");
    }
    let skip = then.0 - otherwise.0;
    Ok(format!("{op} r{register} {} {skip}", operand(right)?))
}

fn operand(e: &Expr) -> Result<String> {
    match e {
        Expr::Const(n) if i32::try_from(*n).is_ok() => Ok(n.to_string()),
        Expr::Reg(r) => Ok(format!("r{}", r.0)),
        _ => not_mini("an operand that is neither a number nor a register"),
    }
}

fn register(dst: Option<RegId>) -> String {
    dst.map_or("_".to_owned(), |r| format!("r{}", r.0))
}

fn read(ord: ReadOrd) -> &'static str {
    match ord {
        ReadOrd::Relaxed => "rlx",
        ReadOrd::Acquire => "acq",
        ReadOrd::SeqCst => "sc",
    }
}

fn write(ord: WriteOrd) -> &'static str {
    match ord {
        WriteOrd::Relaxed => "rlx",
        WriteOrd::Release => "rel",
        WriteOrd::SeqCst => "sc",
    }
}

fn rmw(ord: RmwOrd) -> &'static str {
    match ord {
        RmwOrd::Relaxed => "rlx",
        RmwOrd::Acquire => "acq",
        RmwOrd::Release => "rel",
        RmwOrd::AcqRel => "ar",
        RmwOrd::SeqCst => "sc",
    }
}

fn fence(ord: FenceOrd) -> &'static str {
    match ord {
        FenceOrd::Acquire => "acq",
        FenceOrd::Release => "rel",
        FenceOrd::AcqRel => "acqrel",
        FenceOrd::SeqCst => "sc",
    }
}
