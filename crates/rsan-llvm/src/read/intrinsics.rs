//! Intrinsics of LLVM, by what is left of their calls.

use crate::value::Value;

/// What a call of an intrinsic comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Intrinsic {
    /// It is no intrinsic, or none that is known: a call.
    No,
    /// Nothing; its result comes from its arguments.
    Nothing(Flow),
    /// It writes what its first argument points to and reads what its second one does.
    Copy,
    /// It writes what its first argument points to.
    Set,
    /// It reads what its first argument points to.
    Read,
    /// It writes what its second argument points to.
    Write,
    /// A fence with this name.
    Fence(&'static str),
    /// A fence of Arm whose kind is its argument.
    Barrier(&'static str),
}

/// Where the result of a call that is not kept comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
    /// It is the first argument.
    First,
    /// It is made of the arguments.
    Mixed,
    /// It is no address that the program has otherwise.
    None,
}

const NOTHING: &[(&str, Flow)] = &[
    ("dbg.", Flow::None),
    ("lifetime.", Flow::None),
    ("invariant.", Flow::None),
    ("launder.invariant.group", Flow::First),
    ("strip.invariant.group", Flow::First),
    ("threadlocal.address", Flow::First),
    ("ssa.copy", Flow::First),
    ("expect", Flow::First),
    ("annotation", Flow::First),
    ("ptr.annotation", Flow::First),
    ("var.annotation", Flow::None),
    ("ptrmask", Flow::Mixed),
    ("assume", Flow::None),
    ("experimental.noalias.scope.decl", Flow::None),
    ("experimental.constrained.", Flow::None),
    ("sideeffect", Flow::None),
    ("pseudoprobe", Flow::None),
    ("donothing", Flow::None),
    ("fake.use", Flow::None),
    ("stacksave", Flow::None),
    ("stackrestore", Flow::None),
    ("trap", Flow::None),
    ("debugtrap", Flow::None),
    ("ubsantrap", Flow::None),
    ("prefetch", Flow::None),
    ("va_start", Flow::None),
    ("va_end", Flow::None),
    ("va_copy", Flow::None),
    ("eh.", Flow::None),
    ("objectsize.", Flow::None),
    ("is.constant.", Flow::None),
    ("returnaddress", Flow::None),
    ("frameaddress", Flow::None),
    ("readcyclecounter", Flow::None),
    ("type.test", Flow::None),
    ("public.type.test", Flow::None),
    ("instrprof.", Flow::None),
    ("x86.sse2.pause", Flow::None),
    ("x86.rdtsc", Flow::None),
    ("aarch64.hint", Flow::None),
    ("aarch64.isb", Flow::None),
    ("arm.hint", Flow::None),
    ("arm.isb", Flow::None),
    ("riscv.pause", Flow::None),
    ("abs.", Flow::Mixed),
    ("umin.", Flow::Mixed),
    ("umax.", Flow::Mixed),
    ("smin.", Flow::Mixed),
    ("smax.", Flow::Mixed),
    ("uadd.", Flow::Mixed),
    ("sadd.", Flow::Mixed),
    ("usub.", Flow::Mixed),
    ("ssub.", Flow::Mixed),
    ("umul.", Flow::Mixed),
    ("smul.", Flow::Mixed),
    ("fshl.", Flow::Mixed),
    ("fshr.", Flow::Mixed),
    ("bswap.", Flow::Mixed),
    ("bitreverse.", Flow::Mixed),
    ("vector.reduce.", Flow::Mixed),
    ("vector.insert.", Flow::Mixed),
    ("vector.extract.", Flow::Mixed),
    ("ctpop.", Flow::None),
    ("ctlz.", Flow::None),
    ("cttz.", Flow::None),
    ("ucmp.", Flow::None),
    ("scmp.", Flow::None),
];

const MEMORY: &[(&str, Intrinsic)] = &[
    ("memcpy.", Intrinsic::Copy),
    ("memmove.", Intrinsic::Copy),
    ("memset.", Intrinsic::Set),
    ("masked.load.", Intrinsic::Read),
    ("masked.gather.", Intrinsic::Read),
    ("masked.store.", Intrinsic::Write),
    ("masked.scatter.", Intrinsic::Write),
    ("x86.sse2.mfence", Intrinsic::Fence("mfence")),
    ("x86.sse2.lfence", Intrinsic::Fence("lfence")),
    ("x86.sse.sfence", Intrinsic::Fence("sfence")),
    ("ppc.sync", Intrinsic::Fence("sync")),
    ("ppc.lwsync", Intrinsic::Fence("lwsync")),
    ("ppc.eieio", Intrinsic::Fence("eieio")),
    ("ppc.isync", Intrinsic::Fence("isync")),
    ("aarch64.dmb", Intrinsic::Barrier("dmb")),
    ("aarch64.dsb", Intrinsic::Barrier("dsb")),
    ("arm.dmb", Intrinsic::Barrier("dmb")),
    ("arm.dsb", Intrinsic::Barrier("dsb")),
];

/// What a function of this name is.
pub(crate) fn of(name: &str) -> Intrinsic {
    let Some(rest) = name.strip_prefix("llvm.") else {
        return Intrinsic::No;
    };
    // A name in the table stands for itself and for its forms by type.
    let is = |known: &str| {
        let after = rest.strip_prefix(known);
        after
            .is_some_and(|after| after.is_empty() || after.starts_with('.') || known.ends_with('.'))
    };
    let memory = MEMORY.iter().find(|(known, _)| is(known));
    let nothing = NOTHING.iter().find(|(known, _)| is(known));
    match (memory, nothing) {
        (Some((_, intrinsic)), _) => *intrinsic,
        (None, Some((_, flow))) => Intrinsic::Nothing(*flow),
        // Arithmetic of floating-point numbers, vectors and the like has no pointers in it.
        (None, None) => Intrinsic::No,
    }
}

/// Whether it only carries debug information: newer versions have no such instructions, so they have no number.
pub(crate) fn is_debug(instruction: Value<'_>) -> bool {
    let callee = instruction
        .is(crate::opcode::Opcode::Call)
        .then(|| instruction.callee());
    callee.flatten().is_some_and(|callee| {
        callee.kind() == crate::ffi::value_kind::FUNCTION && callee.name().starts_with("llvm.dbg.")
    })
}

/// Whether a declaration has attributes by which no memory is touched that its caller sees.
pub(crate) fn touches_nothing(function: Value<'_>) -> bool {
    // Two bits (read, write) for each kind of memory; the second kind is memory that the module cannot name.
    const INACCESSIBLE: u64 = 0b11 << 2;
    let memory = function.attribute("memory");
    memory.is_some_and(|effects| effects & !INACCESSIBLE == 0)
        || function.attribute("readnone").is_some()
        || function.attribute("inaccessiblememonly").is_some()
}

/// The kind of a `dmb` or `dsb` by the number in its instruction.
pub(crate) fn domain(number: i64) -> Option<&'static str> {
    Some(match number {
        1 => "oshld",
        2 => "oshst",
        3 => "osh",
        5 => "nshld",
        6 => "nshst",
        7 => "nsh",
        9 => "ishld",
        10 => "ishst",
        11 => "ish",
        13 => "ld",
        14 => "st",
        15 => "sy",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intrinsics_by_name() {
        assert_eq!(of("memcpy"), Intrinsic::No);
        assert_eq!(of("llvm.memcpy.p0.p0.i64"), Intrinsic::Copy);
        assert_eq!(of("llvm.memset.p0.i64"), Intrinsic::Set);
        assert_eq!(of("llvm.dbg.value"), Intrinsic::Nothing(Flow::None));
        assert_eq!(of("llvm.expect.i64"), Intrinsic::Nothing(Flow::First));
        assert_eq!(of("llvm.aarch64.dmb"), Intrinsic::Barrier("dmb"));
        assert_eq!(of("llvm.ppc.sync"), Intrinsic::Fence("sync"));
        assert_eq!(of("llvm.coro.begin"), Intrinsic::No);
    }
}
