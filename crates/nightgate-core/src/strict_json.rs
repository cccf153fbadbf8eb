//! Reads JSON without the silences of ordinary readers: a duplicate key, an integer that others would round and trailing
//! text are errors. What the values mean is not here.

use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The largest integer that every JSON reader keeps exactly (RFC 8259, section 6).
pub const LARGEST_INTEGER: u64 = 1 << 53;

/// JSON that was refused; the text says where (line and column, or the key) and why.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct JsonError(#[from] serde_json::Error);

/// Reads one JSON document into `T`.
///
/// Refused: duplicate keys at any depth, integers beyond 2^53 in either direction, anything after the document, and
/// whatever `T` itself refuses (unknown keys, where it says so).
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, JsonError> {
    let mut strict = serde_json::Deserializer::from_slice(bytes);
    StrictValue.deserialize(&mut strict)?;
    strict.end()?;
    // The second pass reads the text again rather than the value, so that its errors have a line and a column.
    let mut typed = serde_json::Deserializer::from_slice(bytes);
    let value = T::deserialize(&mut typed)?;
    typed.end()?;
    Ok(value)
}

struct StrictValue;

impl<'de> DeserializeSeed<'de> for StrictValue {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StrictValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
        if value > LARGEST_INTEGER {
            return Err(E::custom(format!(
                "the integer {value} is beyond 2^53, where readers disagree: use a smaller one"
            )));
        }
        Ok(Value::Number(value.into()))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Value, E> {
        if value.unsigned_abs() > LARGEST_INTEGER {
            return Err(E::custom(format!(
                "the integer {value} is beyond -2^53, where readers disagree: use a larger one"
            )));
        }
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        // Integers of 65 bits and more arrive here as floats.
        if value.fract() == 0.0 && value.abs() > LARGEST_INTEGER as f64 {
            return Err(E::custom(format!(
                "the number {value} is beyond 2^53, where readers disagree: use a smaller one"
            )));
        }
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number that JSON cannot hold"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = sequence.next_element_seed(StrictValue)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(serde::de::Error::custom(format!(
                    "the key `{key}` stands twice: keep one of them"
                )));
            }
            let value = entries.next_value_seed(StrictValue)?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::read;

    fn refusal(text: &str) -> String {
        read::<Value>(text.as_bytes()).expect_err("it was accepted").to_string()
    }

    #[test]
    fn a_duplicate_key_is_refused_at_any_depth() {
        assert!(refusal(r#"{"a": [{"b": 1, "b": 1}]}"#).contains("`b` stands twice"));
    }

    #[test]
    fn an_integer_that_other_readers_round_is_refused() {
        for text in ["9007199254740993", "-9007199254740993", "36893488147419103232", "1e300"] {
            assert!(refusal(text).contains("2^53"), "{text}");
        }
        assert_eq!(read::<u64>(b"9007199254740992").unwrap(), 1 << 53);
    }

    #[test]
    fn text_after_the_document_is_refused() {
        assert!(refusal("{} {}").contains("trailing"));
    }
}
