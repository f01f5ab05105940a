//! The writer: values as JSON, into anything that takes text. It allocates nothing.
//!
//! [`record!`] and [`tagged!`] define a type together with its written form, so that the names of fields stand once.

use rsan_model::{Model, RmwOrd};
use std::borrow::Cow;
use std::fmt::{self, Formatter, Write as _};

/// A value that can be written as JSON.
pub(crate) trait Json {
    fn json(&self, f: &mut Formatter<'_>) -> fmt::Result;
}

/// A value that is an object, or a part of one.
pub(crate) trait Fields {
    fn fields(&self, object: &mut Object<'_, '_>) -> fmt::Result;
}

/// An object that is being written.
pub(crate) struct Object<'w, 'f> {
    f: &'w mut Formatter<'f>,
    is_empty: bool,
}

impl<'w, 'f> Object<'w, 'f> {
    /// Writes the object that has these fields.
    pub(crate) fn write(f: &'w mut Formatter<'f>, fields: &dyn Fields) -> fmt::Result {
        f.write_char('{')?;
        let mut object = Self { f, is_empty: true };
        fields.fields(&mut object)?;
        object.f.write_char('}')
    }

    pub(crate) fn field(&mut self, name: &str, value: &dyn Json) -> fmt::Result {
        if !std::mem::replace(&mut self.is_empty, false) {
            self.f.write_char(',')?;
        }
        name.json(self.f)?;
        self.f.write_char(':')?;
        value.json(self.f)
    }
}

impl Json for str {
    fn json(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                c if c < ' ' => write!(f, "\\u{:04x}", c as u32)?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

impl Json for Cow<'_, str> {
    fn json(&self, f: &mut Formatter<'_>) -> fmt::Result {
        (**self).json(f)
    }
}

impl Json for &str {
    fn json(&self, f: &mut Formatter<'_>) -> fmt::Result {
        (**self).json(f)
    }
}

impl<T: Json> Json for Box<T> {
    fn json(&self, f: &mut Formatter<'_>) -> fmt::Result {
        (**self).json(f)
    }
}

impl<T: Json> Json for Option<T> {
    fn json(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Some(value) => value.json(f),
            None => f.write_str("null"),
        }
    }
}

impl<T: Json> Json for Vec<T> {
    fn json(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('[')?;
        for (index, value) in self.iter().enumerate() {
            if index > 0 {
                f.write_char(',')?;
            }
            value.json(f)?;
        }
        f.write_char(']')
    }
}

macro_rules! displayed {
    ($($type:ty)+) => {
        $(impl Json for $type {
            fn json(&self, f: &mut Formatter<'_>) -> fmt::Result {
                write!(f, "{self}")
            }
        })+
    };
}

displayed! { bool u32 u64 }

/// In quotes: numbers of JSON are exact only up to 53 bits.
impl Json for u128 {
    fn json(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

impl Json for RmwOrd {
    fn json(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.name().json(f)
    }
}

impl Json for Model {
    fn json(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.name().json(f)
    }
}

/// The written form of a type whose fields are known.
macro_rules! object {
    ($type:ident) => {
        impl crate::write::Json for $type<'_> {
            fn json(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                crate::write::Object::write(f, self)
            }
        }
    };
}

/// A structure, and its written form: an object with the same fields.
macro_rules! record {
    (
        $(#[$attribute:meta])*
        $type:ident {
            $($(#[$field_attribute:meta])* $field:ident: $value:ty,)+
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, PartialEq, Eq, Debug)]
        #[cfg_attr(feature = "read", derive(serde::Deserialize))]
        pub struct $type<'a> {
            $($(#[$field_attribute])* pub $field: $value,)+
        }

        object!($type);

        impl crate::write::Fields for $type<'_> {
            fn fields(&self, object: &mut crate::write::Object<'_, '_>) -> std::fmt::Result {
                $(object.field(stringify!($field), &self.$field)?;)+
                Ok(())
            }
        }
    };
}

/// An enumeration, and its written form: an object with the case's name as `kind`, and with the same fields.
macro_rules! tagged {
    (
        $(#[$attribute:meta])*
        $type:ident {
            $(
                $(#[$case_attribute:meta])*
                $case:ident $name:literal
                $({ $($(#[$field_attribute:meta])* $field:ident: $value:ty,)+ })?,
            )+
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, PartialEq, Eq, Debug)]
        #[cfg_attr(feature = "read", derive(serde::Deserialize), serde(tag = "kind"))]
        pub enum $type<'a> {
            $(
                $(#[$case_attribute])*
                #[cfg_attr(feature = "read", serde(rename = $name))]
                $case $({ $($(#[$field_attribute])* $field: $value,)+ })?,
            )+
        }

        impl $type<'_> {
            /// The names of the cases.
            #[cfg(feature = "read")]
            pub const KINDS: &'static [&'static str] = &[$($name),+];
        }

        object!($type);

        impl crate::write::Fields for $type<'_> {
            fn fields(&self, object: &mut crate::write::Object<'_, '_>) -> std::fmt::Result {
                match self {
                    $(
                        Self::$case $({ $($field,)+ })? => {
                            object.field("kind", &$name)?;
                            $($(object.field(stringify!($field), $field)?;)+)?
                        }
                    )+
                }
                Ok(())
            }
        }
    };
}
