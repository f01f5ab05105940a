//! What inline assembly does to memory, as far as its text tells.

/// What a piece of inline assembly does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// Nothing that other threads see: a barrier for the compiler, a hint to the processor, arithmetic.
    Nothing,
    /// A fence of the machine.
    Fence(String),
    /// Not understood: its text.
    Unknown(String),
}

/// Inline assembly as LLVM prints it: `ptr asm sideeffect "text", "constraints"`.
pub(crate) fn effect(printed: &str) -> Effect {
    let Some((text, constraints)) = strings(printed) else {
        return Effect::Unknown(printed.to_owned());
    };
    let statements: Vec<String> = statements(&text)
        .into_iter()
        .filter(|s| !is_hint(s))
        .collect();
    match &statements[..] {
        [] => Effect::Nothing,
        [one] if fence(one).is_some() => Effect::Fence(fence(one).unwrap_or_default()),
        _ if !touches_memory(&constraints) => Effect::Nothing,
        _ => Effect::Unknown(text.trim().to_owned()),
    }
}

/// Whether inline assembly for x86-64, as LLVM prints it, orders all that comes before it with all that comes after it: a fence, or an instruction that is
/// locked.
pub(crate) fn is_full_barrier(printed: &str) -> bool {
    let Some((text, constraints)) = strings(printed) else {
        return false;
    };
    // An exchange with memory is locked without saying so.
    let memory = text.contains(['(', '[']) || constraints.contains(['*', 'm']);
    let orders = |statement: &String| {
        statement == "mfence"
            || statement.starts_with("lock ")
            || (statement.starts_with("xchg") && memory)
    };
    statements(&text).iter().any(orders)
}

/// The two strings, without LLVM's escapes.
fn strings(printed: &str) -> Option<(String, String)> {
    let after = &printed[printed.find(" asm ").map_or(0, |at| at + 5)..];
    let mut parts = after.split('"');
    let text = parts.nth(1)?;
    let constraints = parts.nth(1)?;
    Some((unescape(text), unescape(constraints)))
}

/// `\0A` is a byte in hexadecimal.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, more @ ..] = rest {
        let escaped = match (first, more) {
            (b'\\', [a, b, ..]) => std::str::from_utf8(&[*a, *b])
                .ok()
                .and_then(|digits| u8::from_str_radix(digits, 16).ok()),
            _ => None,
        };
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &more[2..] } else { more };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Statements in small letters with single blanks; a prefix (`lock;`, `rep;`) belongs to what follows it.
fn statements(text: &str) -> Vec<String> {
    let text = text.to_ascii_lowercase();
    let mut found: Vec<String> = Vec::new();
    let mut prefix = String::new();
    for line in text.split(['\n', ';']) {
        let line = line.split("//").next().unwrap_or_default();
        let line = line.split("/*").next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        let statement = words.join(" ");
        match &statement[..] {
            "" => {}
            "lock" | "rep" => prefix = statement + " ",
            _ => found.push(std::mem::take(&mut prefix) + &statement),
        }
    }
    found
}

/// Instructions without an effect on memory or on the order of accesses.
fn is_hint(statement: &str) -> bool {
    let hints = [
        "nop",
        "rep nop",
        "pause",
        "yield",
        "wfe",
        "wfi",
        "sev",
        "sevl",
        "isb",
        "isb sy",
        "or 27,27,27",
        "or 1,1,1",
        "or 2,2,2",
        "or 31,31,31",
        "hint #0x1",
        "hint #1",
    ];
    hints.contains(&statement) || statement.starts_with('#') || statement.starts_with(".p2align")
}

/// The fence that a statement is, spelled in one way.
fn fence(statement: &str) -> Option<String> {
    if is_locked_nothing(statement) {
        return Some("mfence".to_owned());
    }
    let (name, rest) = statement.split_once(' ').unwrap_or((statement, ""));
    let rest: String = rest.split_whitespace().collect();
    match (name, &rest[..]) {
        (
            "mfence" | "lfence" | "sfence" | "sync" | "lwsync" | "hwsync" | "eieio" | "isync"
            | "fence.tso" | "fence.i",
            "",
        ) => Some(match name {
            "hwsync" => "sync".to_owned(),
            name => name.to_owned(),
        }),
        ("dmb" | "dsb", "") => Some(format!("{name} sy")),
        ("dmb" | "dsb", kind) if is_domain(kind) => Some(format!("{name} {kind}")),
        ("fence", "") => Some("fence iorw,iorw".to_owned()),
        ("fence", sets) if is_sets(sets) => Some(format!("fence {sets}")),
        ("sync", "0") => Some("sync".to_owned()),
        ("sync", "1") => Some("lwsync".to_owned()),
        _ => None,
    }
}

/// A locked instruction that changes nothing on the stack is what compilers use as a full fence.
fn is_locked_nothing(statement: &str) -> bool {
    let Some(rest) = statement.strip_prefix("lock ") else {
        return false;
    };
    let (name, operands) = rest.split_once(' ').unwrap_or((rest, ""));
    let operands: String = operands.split_whitespace().collect();
    let operands = operands.replace("$$", "$").replace("%%", "%");
    let known = ["addl", "addq", "orl", "orq", "orb", "addb"].contains(&name);
    let on_stack = operands.ends_with("(%rsp)") || operands.ends_with("(%esp)");
    known && on_stack && operands.starts_with("$0,") | operands.starts_with("$0x0,")
}

fn is_domain(kind: &str) -> bool {
    let part = ["ish", "osh", "nsh"]
        .iter()
        .find_map(|domain| kind.strip_prefix(domain));
    ["sy", "ld", "st"].contains(&kind) || part.is_some_and(|part| ["", "ld", "st"].contains(&part))
}

/// `rw,w`: what comes before, what comes after.
fn is_sets(sets: &str) -> bool {
    let is_set = |set: &str| !set.is_empty() && set.chars().all(|c| "iorw".contains(c));
    sets.split_once(',')
        .is_some_and(|(before, after)| is_set(before) && is_set(after))
}

/// Whether constraints let it read or write memory.
fn touches_memory(constraints: &str) -> bool {
    constraints.split(',').any(|constraint| {
        let clobber = constraint.starts_with("~{");
        match clobber {
            true => constraint == "~{memory}",
            // A pointer in a register is no access; `m` and indirect operands (`*`) are.
            false => constraint.contains(['m', '*', 'Q', 'A', 'o', 'V']),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, constraints: &str) -> Effect {
        effect(&format!(
            "void ()* asm sideeffect \"{text}\", \"{constraints}\""
        ))
    }

    fn fenced(text: &str) -> Effect {
        Effect::Fence(text.to_owned())
    }

    #[test]
    fn fences_are_known_by_their_text() {
        let memory = "~{memory},~{dirflag},~{fpsr},~{flags}";
        assert_eq!(of("mfence", memory), fenced("mfence"));
        assert_eq!(of("lock; addl $$0,0(%rsp)", memory), fenced("mfence"));
        assert_eq!(of("lock\\0A\\09orq $$0, (%rsp)", memory), fenced("mfence"));
        assert_eq!(of("dmb\\09ish", memory), fenced("dmb ish"));
        assert_eq!(of("DMB ISHST", memory), fenced("dmb ishst"));
        assert_eq!(of("lwsync", memory), fenced("lwsync"));
        assert_eq!(of("fence rw, w", memory), fenced("fence rw,w"));
        assert_eq!(of("mfence", ""), fenced("mfence"));
    }

    #[test]
    fn locked_instructions_order_everything() {
        let is_full = |text: &str, constraints: &str| {
            is_full_barrier(&format!(
                "ptr asm sideeffect inteldialect \"{text}\", \"{constraints}\""
            ))
        };
        assert!(is_full("mfence", "~{memory}"));
        assert!(is_full("lock not qword ptr [${0:q}]", "r,~{memory}"));
        assert!(is_full("nop; lock; addl $$1, ($0)", "r,~{memory}"));
        assert!(is_full("xchg qword ptr [$0], $1", "r,r"));
        assert!(is_full("xchgl $0, $1", "=r,=*m,0"));
        assert!(!is_full("xchg eax, ecx", "r,r"));
        assert!(!is_full("pause", "~{memory}"));
        assert!(!is_full("lfence", "~{memory}"));
    }

    #[test]
    fn hints_and_barriers_of_the_compiler_are_nothing() {
        assert_eq!(of("", "~{memory}"), Effect::Nothing);
        assert_eq!(of("pause", "~{memory}"), Effect::Nothing);
        assert_eq!(of("rep; nop", "~{memory}"), Effect::Nothing);
        assert_eq!(of("yield", "~{memory}"), Effect::Nothing);
        assert_eq!(of("bsrq $1, $0", "=r,r,~{flags}"), Effect::Nothing);
    }

    #[test]
    fn what_may_touch_memory_is_not_guessed() {
        let unknown = |text: &str| Effect::Unknown(text.to_owned());
        let xchg = "xchgl $0, $1";
        assert_eq!(of(xchg, "=r,=*m,0,~{memory}"), unknown(xchg));
        assert_eq!(of(xchg, "=r,=*m,0"), unknown(xchg));
        assert_eq!(of("dmb $0", "i,~{memory}"), unknown("dmb $0"));
        let two = "dmb ishld; dmb ishst";
        assert_eq!(of(two, "~{memory}"), unknown(two));
        let locked = "lock; addl $$1,0(%rsp)";
        assert_eq!(of(locked, "~{memory}"), unknown(locked));
    }
}
