//! Whose rules an answer is about: a memory model of C and C++, or a machine.

use rsan_model::Model;
use rsan_model::machine::Machine;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::borrow::Cow;
use std::fmt;

/// A memory model of a language or of a machine. Both have sequential consistency; here it is the language's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Rules {
    /// For programs with memory orders.
    Language(Model),
    /// For machine code.
    Machine(Machine),
}

impl Rules {
    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Language(model) => model.name(),
            Self::Machine(machine) => machine.name(),
        }
    }

    /// Whether a data race leaves a program without a meaning.
    pub fn has_undefined_behaviour(self) -> bool {
        match self {
            Self::Language(model) => model.has_undefined_behaviour(),
            Self::Machine(_) => false,
        }
    }

    fn names() -> Vec<&'static str> {
        let machines = Machine::ALL.into_iter().filter(|m| *m != Machine::Sc);
        let models = Model::ALL.into_iter().map(Model::name);
        models.chain(machines.map(Machine::name)).collect()
    }
}

impl From<Model> for Rules {
    fn from(model: Model) -> Self {
        Self::Language(model)
    }
}

impl From<Machine> for Rules {
    fn from(machine: Machine) -> Self {
        match machine {
            Machine::Sc => Self::Language(Model::Sc),
            other => Self::Machine(other),
        }
    }
}

impl PartialEq<Model> for Rules {
    fn eq(&self, other: &Model) -> bool {
        *self == Self::Language(*other)
    }
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for Rules {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Rules {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        let model = name.parse::<Model>().map(Self::from);
        model
            .or_else(|_| name.parse::<Machine>().map(Self::from))
            .map_err(|_| Error::custom(format!("`{name}` is no memory model")))
    }
}

impl JsonSchema for Rules {
    fn schema_name() -> Cow<'static, str> {
        "Rules".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Self::names() })
    }
}
