//! Which kinds of processors can show a finding.

use rsan_model::machine::Machine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether a kind of processor can show the execution of a finding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OnMachine {
    /// The kind of processor.
    #[serde(with = "names")]
    #[schemars(schema_with = "names::schema")]
    pub machine: Machine,
    /// Other instructions than usual, where they make a difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
    /// Whether it can.
    pub shows: Shows,
}

/// Instructions that a compiler may choose instead of the usual ones.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// ARMv8: acquire loads as `ldapr` instead of `ldar`.
    Ldapr,
    /// ARMv8: read-modify-writes as one instruction instead of a loop of exclusives.
    Lse,
}

impl Variant {
    /// As it stands behind the name of a machine.
    fn title(self) -> &'static str {
        match self {
            Self::Ldapr => "with ldapr",
            Self::Lse => "with LSE",
        }
    }
}

/// Whether something can be seen.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Shows {
    /// The processor's model allows it.
    Yes,
    /// It forbids it.
    No,
    /// Not decided.
    Unknown,
}

impl OnMachine {
    fn title(self) -> String {
        let machine = self.machine.title();
        match self.variant {
            Some(variant) => format!("{machine} {}", variant.title()),
            None => machine.to_owned(),
        }
    }
}

/// `can happen on: ARMv8, Power; not on: x86; not known for: ARMv7`; `None` if nothing was asked.
pub fn can_happen(machines: &[OnMachine]) -> Option<String> {
    let those = |shows, words: &str| {
        let names = machines.iter().filter(|known| known.shows == shows);
        let names: Vec<_> = names.map(|known| known.title()).collect();
        (!names.is_empty()).then(|| format!("{words}: {}", names.join(", ")))
    };
    let yes = those(Shows::Yes, "can happen on");
    let not = match yes {
        Some(_) => "not on",
        None => "cannot happen on",
    };
    let parts = [
        yes,
        those(Shows::No, not),
        those(Shows::Unknown, "not known for"),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Machines by their names.
mod names {
    use rsan_model::machine::Machine;
    use schemars::{Schema, SchemaGenerator, json_schema};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn schema(_: &mut SchemaGenerator) -> Schema {
        let names = Machine::ALL.map(Machine::name);
        json_schema!({ "type": "string", "enum": names })
    }

    pub(super) fn serialize<S: Serializer>(machine: &Machine, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(machine.name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Machine, D::Error> {
        String::deserialize(from)?.parse().map_err(Error::custom)
    }
}
