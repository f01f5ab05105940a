//! Declarations: types, the initial state, parameters, local variables, and who a name is.

use super::Parser;
use crate::cursor::Name;
use crate::diagnostic::{Diagnostic, Result};
use crate::limits;
use crate::lower::too_many;
use rsan_model::{LocId, LocKind, Location, RegId, Span};

/// What a declaration says about values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Type {
    /// Whether it is an atomic type.
    pub(super) atomic: bool,
    /// Whether it is `bool`, which holds 0 or 1.
    pub(super) boolean: bool,
}

/// A shared location, or an array of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Shared {
    /// The location, or its first element.
    pub(super) base: LocId,
    /// Number of elements, for an array.
    pub(super) len: Option<u32>,
}

/// A local variable, or an array of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Local {
    /// Its register, or that of its first element.
    pub(super) base: RegId,
    /// Number of elements, for an array.
    pub(super) len: Option<u32>,
    /// Whether it is `bool`.
    pub(super) boolean: bool,
    /// Whether no other variable had its registers before.
    pub(super) fresh: bool,
}

/// Who a name is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Symbol {
    /// A local variable.
    Local(Local),
    /// A parameter: a pointer to shared memory.
    Shared(Shared),
}

const QUALIFIERS: &[&str] = &["const", "volatile", "static", "register", "restrict"];

const INTEGERS: &[&str] = &[
    "int",
    "signed",
    "long",
    "int32_t",
    "int64_t",
    "intptr_t",
    "ptrdiff_t",
    "ssize_t",
    "__int128",
    "__int128_t",
    "int128_t",
];

const ATOMIC_INTEGERS: &[&str] = &[
    "atomic_int",
    "atomic_long",
    "atomic_llong",
    "atomic_intptr_t",
    "atomic_ptrdiff_t",
];

/// Types that would wrap around elsewhere than `int`, or hold no integers.
const REFUSED: &[&str] = &[
    "unsigned",
    "short",
    "char",
    "float",
    "double",
    "struct",
    "union",
    "enum",
    "size_t",
    "int8_t",
    "int16_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "uintptr_t",
    "__uint128_t",
    "uint128_t",
    "atomic_uint",
    "atomic_ulong",
    "atomic_ullong",
    "atomic_short",
    "atomic_ushort",
    "atomic_char",
    "atomic_schar",
    "atomic_uchar",
    "atomic_size_t",
    "atomic_uintptr_t",
    "atomic_flag",
    "atomic_t",
    "atomic64_t",
    "atomic_long_t",
    "spinlock_t",
    "mutex",
];

fn is_type_word(word: &str) -> bool {
    matches!(word, "_Atomic" | "void" | "bool" | "_Bool" | "atomic_bool")
        || [QUALIFIERS, INTEGERS, ATOMIC_INTEGERS, REFUSED]
            .iter()
            .any(|list| list.contains(&word))
}

impl<'a> Parser<'a> {
    /// Whether the token after `n` more begins a type.
    pub(super) fn at_type(&self, n: usize) -> bool {
        self.cur.word_at(n).is_some_and(is_type_word)
    }

    /// A type without its stars.
    pub(super) fn type_specifier(&mut self) -> Result<Type> {
        let mut result = Type::default();
        let mut found = false;
        while let Some(word) = self.cur.word().filter(|w| is_type_word(w)) {
            let span = self.cur.here();
            if REFUSED.contains(&word) {
                return Err(
                    Diagnostic::new(span, format!("type `{word}` is not supported"))
                        .with_help("values are 32-bit signed integers: use `int` or `atomic_int`"),
                );
            }
            if word == "void" {
                return Err(Diagnostic::new(span, "`void` has no values"));
            }
            self.cur.bump();
            found |= !QUALIFIERS.contains(&word);
            result.atomic |=
                matches!(word, "_Atomic" | "atomic_bool") || ATOMIC_INTEGERS.contains(&word);
            result.boolean |= matches!(word, "bool" | "_Bool" | "atomic_bool");
            if word == "_Atomic" && self.cur.eat("(") {
                result.boolean |= self.type_specifier()?.boolean;
                self.cur.expect(")")?;
            }
        }
        if found {
            Ok(result)
        } else {
            Err(self.cur.unexpected("a type"))
        }
    }

    /// The error for pointers that are not parameters.
    pub(super) fn no_pointers(&self, span: Span) -> Diagnostic {
        Diagnostic::new(span, "pointers as values are not supported")
            .with_help("the pointer parameters of a process name its shared locations")
    }

    /// `[3]`, `[]` (as 0), or nothing.
    pub(super) fn array_length(&mut self) -> Result<Option<u32>> {
        let start = self.cur.here();
        if !self.cur.eat("[") {
            return Ok(None);
        }
        if self.cur.eat("]") {
            return Ok(Some(0));
        }
        let len = self.cur.int32("the array's length")?;
        self.cur.expect("]")?;
        let most = limits::LOCATIONS.min(limits::REGISTERS);
        match u32::try_from(len) {
            Ok(len) if len > 0 && len as usize <= most => Ok(Some(len)),
            _ => Err(Diagnostic::new(
                self.cur.since(start),
                format!("an array has between 1 and {most} elements"),
            )),
        }
    }

    /// The length of an array, given the one between brackets (0 for none) and the number of its initial values.
    pub(super) fn checked_length(&self, len: u32, values: usize, start: Span) -> Result<u32> {
        let span = self.cur.since(start);
        match (len, values) {
            (0, 0) => Err(Diagnostic::new(span, "this array needs a length")),
            (0, n) => Ok(u32::try_from(n).expect("lists are short")),
            (n, values) if values <= n as usize => Ok(n),
            (n, values) => Err(Diagnostic::new(
                span,
                format!("{values} values for an array of {n} elements"),
            )),
        }
    }

    /// `{ a, b, c }`, at most as many as an array has elements.
    pub(super) fn braced_list<T>(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let open = self.cur.expect("{")?;
        let mut list = Vec::new();
        while !self.cur.at("}") {
            if list.len() == limits::REGISTERS {
                return Err(too_many(open, "array elements", limits::REGISTERS));
            }
            list.push(element(self)?);
            if !self.cur.eat(",") {
                break;
            }
        }
        self.cur.expect("}")?;
        Ok(list)
    }

    /// Makes a name a shared location, or checks that it is the same one as before. Without a type nothing
    /// is known of its kind; an atomic type in one place makes it atomic everywhere.
    pub(super) fn declare_shared(
        &mut self,
        name: Name<'a>,
        len: Option<u32>,
        typ: Option<Type>,
    ) -> Result<Shared> {
        let shared = match self.shared.get(name.text) {
            Some(shared) if len.is_none() || len == shared.len => *shared,
            Some(shared) => {
                let elements = match shared.len {
                    Some(n) => format!("an array of {n} elements"),
                    None => "a single location".to_owned(),
                };
                return Err(Diagnostic::new(
                    name.span,
                    format!("`{}` is {elements} elsewhere", name.text),
                ));
            }
            None => self.new_shared(name, len)?,
        };
        if typ.is_some_and(|t| t.atomic) {
            self.make_atomic(shared.base, shared.len.unwrap_or(1));
        }
        Ok(shared)
    }

    fn new_shared(&mut self, name: Name<'a>, len: Option<u32>) -> Result<Shared> {
        let base = self.program.locations.len();
        if len.unwrap_or(1) as usize > limits::LOCATIONS - base {
            return Err(too_many(name.span, "shared locations", limits::LOCATIONS));
        }
        let location = |name: String| Location {
            name,
            kind: LocKind::Plain,
            init: 0,
        };
        match len {
            None => self.program.locations.push(location(name.text.to_owned())),
            Some(n) => self
                .program
                .locations
                .extend((0..n).map(|i| location(format!("{}[{i}]", name.text)))),
        }
        let shared = Shared {
            base: LocId::new(base),
            len,
        };
        self.shared.insert(name.text, shared);
        Ok(shared)
    }

    /// Notes that these locations are atomic.
    pub(super) fn make_atomic(&mut self, base: LocId, len: u32) {
        for location in &mut self.program.locations[base.index()..][..len as usize] {
            location.kind = LocKind::Atomic;
        }
    }

    /// `(atomic_int* x, int* d, atomic_int a[2])`
    pub(super) fn parameters(&mut self) -> Result<()> {
        self.cur.expect("(")?;
        if self.cur.at_word("void") && self.cur.at_nth(1, ")") {
            self.cur.bump();
        }
        while !self.cur.at(")") {
            let typ = self.type_specifier()?;
            let star = self.cur.eat("*");
            if self.cur.at("*") {
                return Err(self.no_pointers(self.cur.here()));
            }
            while self.cur.word().is_some_and(|w| QUALIFIERS.contains(&w)) {
                self.cur.bump();
            }
            let name = self.cur.name("a parameter")?;
            let len = self.array_length()?;
            if star || len.is_some() {
                let len = len.filter(|n| *n > 0);
                let shared = self.declare_shared(name, len, Some(typ))?;
                self.define(name, Symbol::Shared(shared))?;
            } else {
                self.declare_local(name, None, typ)?;
            }
            if !self.cur.eat(",") {
                break;
            }
        }
        self.cur.expect(")")?;
        Ok(())
    }

    /// Makes a local variable or array. A variable whose scope has ended lends its registers to the next one
    /// of the same name and shape.
    pub(super) fn declare_local(
        &mut self,
        name: Name<'a>,
        len: Option<u32>,
        typ: Type,
    ) -> Result<Local> {
        let retired = self.body.retired.remove(&(name.text, len));
        let base = match retired {
            Some(base) => base,
            None => self.new_registers(name, len)?,
        };
        let local = Local {
            base,
            len,
            fresh: retired.is_none(),
            boolean: typ.boolean,
        };
        self.define(name, Symbol::Local(local))?;
        Ok(local)
    }

    fn new_registers(&mut self, name: Name<'a>, len: Option<u32>) -> Result<RegId> {
        let first = |text: &str| match len {
            None => text.to_owned(),
            Some(_) => format!("{text}[0]"),
        };
        let mut unique = name.text.to_owned();
        let mut n = 1;
        while self.body.code.find_register(&first(&unique)).is_some() {
            n += 1;
            unique = format!("{}%{n}", name.text);
        }
        match len {
            None => self.body.code.register(unique, name.span),
            Some(len) => {
                let names = (0..len as usize).map(|i| format!("{unique}[{i}]"));
                self.body.code.registers(names, name.span)
            }
        }
    }

    /// Enters a name into the innermost scope.
    fn define(&mut self, name: Name<'a>, symbol: Symbol) -> Result<()> {
        let scope = self.body.scopes.last_mut().expect("inside a process");
        if scope.contains(&name.text) {
            return Err(Diagnostic::new(
                name.span,
                format!("`{}` is declared twice", name.text),
            ));
        }
        scope.push(name.text);
        self.body.names.entry(name.text).or_default().push(symbol);
        Ok(())
    }

    /// Who a name is here.
    pub(super) fn lookup(&self, name: &str) -> Option<Symbol> {
        self.body.names.get(name)?.last().copied()
    }

    /// Opens a scope.
    pub(super) fn open_scope(&mut self) {
        self.body.scopes.push(Vec::new());
    }

    /// Closes the innermost scope.
    pub(super) fn close_scope(&mut self) {
        let names = self.body.scopes.pop().expect("scopes are paired");
        for name in names {
            let symbol = self.body.names.get_mut(name).and_then(Vec::pop);
            if let Some(Symbol::Local(local)) = symbol {
                self.body.retired.insert((name, local.len), local.base);
            }
        }
    }
}
