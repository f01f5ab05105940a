//! Documents that were written before, read again.

use crate::document::Document;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::fmt;

/// Why a text has no documents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadError {
    /// Line and column, from 1; none if the text as a whole is the wrong one.
    pub place: Option<(usize, usize)>,
    /// What is wrong, without a full stop.
    pub message: String,
}

impl ReadError {
    fn whole(message: impl Into<String>) -> Self {
        Self {
            place: None,
            message: message.into(),
        }
    }
}

/// The documents of a text: one, an array of them, or several of these one after the other.
///
/// # Errors
/// If the text is no JSON, or its schema is another one.
pub fn read(text: &str) -> Result<Vec<Document>, ReadError> {
    let values = serde_json::Deserializer::from_str(text).into_iter::<OneOrMore>();
    let mut documents = Vec::new();
    for value in values {
        let OneOrMore(more) = value.map_err(|error| explained(text, &error))?;
        documents.extend(more);
    }
    match documents.is_empty() {
        true => Err(ReadError::whole("there is no document")),
        false => Ok(documents),
    }
}

/// What is wrong: the text as a whole, or what the error says.
fn explained(text: &str, error: &serde_json::Error) -> ReadError {
    if error.is_data()
        && let Some(message) = serde_json::from_str(text).ok().and_then(|v| other(&v))
    {
        return ReadError::whole(message);
    }
    let (line, column) = (error.line(), error.column());
    let message = error.to_string();
    let suffix = format!(" at line {line} column {column}");
    let message = message.strip_suffix(&suffix).unwrap_or(&message);
    ReadError {
        place: Some((line, column.max(1))),
        message: message.to_owned(),
    }
}

/// What a JSON text is, if it is not of our schema.
fn other(value: &Value) -> Option<String> {
    let first = value.get(0).unwrap_or(value);
    match first.get("schema").and_then(Value::as_str) {
        Some("rsan/2") => None,
        Some("rsan/1") => Some(
            "the schema is rsan/1, and this rsan reads rsan/2: run the command that wrote it again"
                .to_owned(),
        ),
        Some(schema) => Some(format!(
            "the schema is {schema}, and this rsan reads rsan/2"
        )),
        None if is_sarif(first) => Some(
            "this is SARIF, which is no more than a baseline: take the JSON document".to_owned(),
        ),
        None => Some("this is no document of rsan: it has no `schema`".to_owned()),
    }
}

/// Whether a JSON text is a SARIF log.
pub(crate) fn is_sarif(value: &Value) -> bool {
    value.get("runs").is_some_and(Value::is_array) && value.get("version").is_some()
}

/// A document or an array of them. serde's untagged enums would lose the places of errors.
struct OneOrMore(Vec<Document>);

impl<'de> Deserialize<'de> for OneOrMore {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Documents;

        impl<'de> Visitor<'de> for Documents {
            type Value = Vec<Document>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a document, or an array of documents")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let document = Document::deserialize(MapAccessDeserializer::new(map))?;
                Ok(vec![document])
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
                let mut documents = Vec::new();
                while let Some(document) = items.next_element()? {
                    documents.push(document);
                }
                Ok(documents)
            }
        }

        from.deserialize_any(Documents).map(Self)
    }
}
