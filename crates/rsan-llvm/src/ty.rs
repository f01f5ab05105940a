//! Types of LLVM.

use crate::ffi::{TypeRef, type_kind};
use crate::library::Library;
use crate::value::ask;
use std::ffi::c_int;

/// A type.
#[derive(Clone, Copy)]
pub struct Type<'m> {
    pub(crate) library: &'m Library,
    pub(crate) raw: TypeRef,
}

impl<'m> Type<'m> {
    pub(crate) fn kind(self) -> c_int {
        ask!(self, type_kind)
    }

    /// Bits of an integer.
    pub fn int_width(self) -> Option<u32> {
        (self.kind() == type_kind::INTEGER).then(|| ask!(self, int_width))
    }

    /// Number of fields of a struct.
    pub fn fields(self) -> Option<u32> {
        (self.kind() == type_kind::STRUCT).then(|| ask!(self, struct_count))
    }

    /// The type of a field.
    pub fn field(self, index: u32) -> Option<Self> {
        (index < self.fields()?).then(|| self.with(ask!(self, struct_type_at, index)))?
    }

    /// The type of the elements of an array or vector.
    pub fn element(self) -> Option<Self> {
        let has = matches!(
            self.kind(),
            type_kind::ARRAY | type_kind::VECTOR | type_kind::SCALABLE_VECTOR
        );
        has.then(|| self.with(ask!(self, element_type)))?
    }

    fn with(self, raw: TypeRef) -> Option<Self> {
        let library = self.library;
        raw.get().map(|raw| Self { library, raw })
    }

    /// Whether its size is known, and the same on all machines.
    pub fn has_size(self) -> bool {
        ask!(self, type_is_sized) != 0 && !self.is_scalable()
    }

    fn is_scalable(self) -> bool {
        match self.kind() {
            type_kind::SCALABLE_VECTOR => true,
            type_kind::ARRAY => self.element().is_some_and(Self::is_scalable),
            type_kind::STRUCT => (0..self.fields().unwrap_or(0))
                .filter_map(|index| self.field(index))
                .any(Self::is_scalable),
            // Target types (`target("…")`) come after all others of the C API.
            kind => kind > type_kind::SCALABLE_VECTOR + 2,
        }
    }
}
