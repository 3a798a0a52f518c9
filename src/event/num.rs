//! How numbers are written in JSON: integers beyond 2^53 and non-finite floats are strings, never rounded and never `null`.

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serializer};
use std::fmt;

/// The largest integer that a double holds exactly together with all below it.
pub const EXACT_INTEGER_MAX: u64 = 1 << 53;

/// `#[serde(with = "num::integer")]` for a `u64`.
pub mod integer {
    use super::*;

    pub fn serialize<S: Serializer>(value: &u64, s: S) -> Result<S::Ok, S::Error> {
        if *value < EXACT_INTEGER_MAX { s.serialize_u64(*value) } else { s.collect_str(value) }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<u64, D::Error> {
        struct AnyInteger;
        impl Visitor<'_> for AnyInteger {
            type Value = u64;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an unsigned integer, or one in a string")
            }
            fn visit_u64<E: de::Error>(self, v: u64) -> Result<u64, E> {
                Ok(v)
            }
            fn visit_str<E: de::Error>(self, v: &str) -> Result<u64, E> {
                v.parse().map_err(|_| E::invalid_value(de::Unexpected::Str(v), &self))
            }
        }
        d.deserialize_any(AnyInteger)
    }
}

/// `#[serde(with = "num::hash")]` for a `u64` that is a hash: 16 hexadecimal digits.
pub mod hash {
    use super::*;

    pub fn serialize<S: Serializer>(value: &u64, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(&format_args!("{value:016x}"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<u64, D::Error> {
        let text = String::deserialize(d)?;
        u64::from_str_radix(&text, 16).map_err(|_| de::Error::invalid_value(de::Unexpected::Str(&text), &"16 hexadecimal digits"))
    }
}

/// A float that keeps NaN and the infinities when it is written as JSON.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Float(pub f64);

impl serde::Serialize for Float {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        float::serialize(&self.0, s)
    }
}

impl<'de> Deserialize<'de> for Float {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        float::deserialize(d).map(Float)
    }
}

/// `#[serde(with = "num::float")]` for an `f64`.
pub mod float {
    use super::*;

    pub fn serialize<S: Serializer>(value: &f64, s: S) -> Result<S::Ok, S::Error> {
        if value.is_finite() {
            s.serialize_f64(*value)
        } else if value.is_nan() {
            s.serialize_str("NaN")
        } else if *value > 0.0 {
            s.serialize_str("+Inf")
        } else {
            s.serialize_str("-Inf")
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<f64, D::Error> {
        struct AnyFloat;
        impl Visitor<'_> for AnyFloat {
            type Value = f64;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a number, \"NaN\", \"+Inf\" or \"-Inf\"")
            }
            fn visit_f64<E: de::Error>(self, v: f64) -> Result<f64, E> {
                Ok(v)
            }
            fn visit_u64<E: de::Error>(self, v: u64) -> Result<f64, E> {
                Ok(v as f64)
            }
            fn visit_i64<E: de::Error>(self, v: i64) -> Result<f64, E> {
                Ok(v as f64)
            }
            fn visit_str<E: de::Error>(self, v: &str) -> Result<f64, E> {
                match v {
                    "NaN" => Ok(f64::NAN),
                    "+Inf" => Ok(f64::INFINITY),
                    "-Inf" => Ok(f64::NEG_INFINITY),
                    _ => Err(E::invalid_value(de::Unexpected::Str(v), &self)),
                }
            }
        }
        d.deserialize_any(AnyFloat)
    }
}

/// `#[serde(with = "num::float_option")]` for an `Option<f64>`: unset is `null`, NaN is `"NaN"`.
pub mod float_option {
    use super::*;

    pub fn serialize<S: Serializer>(value: &Option<f64>, s: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(v) => float::serialize(v, s),
            None => s.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<f64>, D::Error> {
        Ok(Option::<Float>::deserialize(d)?.map(|f| f.0))
    }
}

/// Rounds to five decimal places. What an event holds is rounded when the event is made, never when it is written: a live view and a replay
/// fold the same numbers. Five places are far below the tolerance of any comparison and keep a recording readable.
pub fn five_places(value: f32) -> f32 {
    if value.is_finite() { ((f64::from(value) * 1e5).round() / 1e5) as f32 } else { value }
}

/// `#[serde(with = "num::floats")]` for a `Vec<f32>` such as log-probabilities.
pub mod floats {
    use super::*;
    use serde::ser::SerializeSeq;

    pub fn serialize<S: Serializer>(values: &[f32], s: S) -> Result<S::Ok, S::Error> {
        let mut seq = s.serialize_seq(Some(values.len()))?;
        for v in values {
            // The shortest digits that read back as this `f32`, not those of the `f64` beside it.
            if v.is_finite() { seq.serialize_element(v)? } else { seq.serialize_element(&Float(f64::from(*v)))? }
        }
        seq.end()
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<f32>, D::Error> {
        Ok(Vec::<Float>::deserialize(d)?.into_iter().map(|f| f.0 as f32).collect())
    }
}

/// `#[serde(with = "num::doubles")]` for a `Vec<f64>`.
pub mod doubles {
    use super::*;

    pub fn serialize<S: Serializer>(values: &[f64], s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(values.iter().map(|v| Float(*v)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<f64>, D::Error> {
        Ok(Vec::<Float>::deserialize(d)?.into_iter().map(|f| f.0).collect())
    }
}

/// `#[serde(with = "num::readings")]` for a `Vec<Option<f64>>`: an observation's numbers, `null` where missing.
pub mod readings {
    use super::*;
    use serde::ser::SerializeSeq;

    pub fn serialize<S: Serializer>(values: &[Option<f64>], s: S) -> Result<S::Ok, S::Error> {
        let mut seq = s.serialize_seq(Some(values.len()))?;
        for v in values {
            seq.serialize_element(&v.map(Float))?;
        }
        seq.end()
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<Option<f64>>, D::Error> {
        Ok(Vec::<Option<Float>>::deserialize(d)?.into_iter().map(|v| v.map(|f| f.0)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Serialize;

    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    struct Row {
        #[serde(with = "integer")]
        i: u64,
        #[serde(with = "hash")]
        h: u64,
        #[serde(with = "float")]
        f: f64,
        #[serde(with = "float_option")]
        o: Option<f64>,
        #[serde(with = "readings")]
        r: Vec<Option<f64>>,
    }

    #[test]
    fn unset_infinite_and_large_numbers_survive() {
        let row = Row { i: u64::MAX, h: 7, f: f64::NEG_INFINITY, o: None, r: vec![None, Some(0.1 + 0.2), Some(f64::INFINITY)] };
        let text = serde_json::to_string(&row).unwrap();
        assert_eq!(
            text,
            r#"{"i":"18446744073709551615","h":"0000000000000007","f":"-Inf","o":null,"r":[null,0.30000000000000004,"+Inf"]}"#
        );
        assert_eq!(serde_json::from_str::<Row>(&text).unwrap(), row);
    }

    #[test]
    fn a_hash_in_decimal_is_refused() {
        assert!(serde_json::from_str::<Row>(r#"{"i":1,"h":12,"f":1,"o":1,"r":[]}"#).is_err());
    }
}
