//! The header of a safetensors file, checked before any parser sees it: its size, its names, its ranges.

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, de};
use std::collections::BTreeSet;
use std::fmt;

/// Longest header that is read.
pub const HEADER_BYTES_MAX: u64 = 16 << 20;

/// Bytes of the length before the header.
pub const PREFIX_BYTES: u64 = 8;

/// One tensor as the header declares it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Declared {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: (u64, u64),
}

/// Length of the header, from the first eight bytes of a file of `file_bytes`. Nothing is allocated before this holds.
pub fn length(prefix: [u8; 8], file_bytes: u64) -> Result<u64, String> {
    let bytes = u64::from_le_bytes(prefix);
    if bytes > HEADER_BYTES_MAX {
        return Err(format!("its header claims {bytes} bytes, at most {HEADER_BYTES_MAX} are read"));
    }
    if bytes + PREFIX_BYTES > file_bytes {
        return Err(format!("its header claims {bytes} bytes, the file has {file_bytes} in all"));
    }
    Ok(bytes)
}

/// Checks a whole file: names once each, ranges inside the data, of the size that shape and type ask for, without overlap or hole.
pub fn check(file: &[u8]) -> Result<(), String> {
    let prefix = file.first_chunk::<8>().ok_or_else(|| format!("it has only {} bytes", file.len()))?;
    let header_bytes = length(*prefix, file.len() as u64)? as usize;
    let (header, data) = file[PREFIX_BYTES as usize..].split_at(header_bytes);
    let Tensors(mut tensors) = serde_json::from_slice(header).map_err(|e| format!("its header: {e}"))?;
    tensors.sort_by_key(|(_, t)| t.data_offsets);
    let mut previous: (u64, &str) = (0, "the header");
    for (name, tensor) in &tensors {
        let (begin, end) = tensor.data_offsets;
        let wanted = bytes_of(tensor)
            .ok_or_else(|| format!("tensor `{name}`: shape {:?} of {} has no sensible size", tensor.shape, tensor.dtype))?;
        if begin > end || end > data.len() as u64 {
            return Err(format!("tensor `{name}` lies at {begin}..{end}, the data has {} bytes", data.len()));
        }
        if end - begin != wanted {
            return Err(format!(
                "tensor `{name}` has {} bytes, its shape {:?} of {} needs {wanted}",
                end - begin,
                tensor.shape,
                tensor.dtype
            ));
        }
        if begin < previous.0 {
            return Err(format!("tensor `{name}` overlaps `{}`", previous.1));
        }
        if begin > previous.0 {
            return Err(format!("{} bytes between `{}` and tensor `{name}` belong to nothing", begin - previous.0, previous.1));
        }
        previous = (end, name);
    }
    if previous.0 != data.len() as u64 {
        return Err(format!("{} bytes behind `{}` belong to nothing", data.len() as u64 - previous.0, previous.1));
    }
    Ok(())
}

fn bytes_of(tensor: &Declared) -> Option<u64> {
    let width = match tensor.dtype.as_str() {
        "F64" | "I64" | "U64" => 8,
        "F32" | "I32" | "U32" => 4,
        "F16" | "BF16" | "I16" | "U16" => 2,
        "BOOL" | "I8" | "U8" | "F8_E4M3" | "F8_E5M2" => 1,
        _ => return None,
    };
    tensor.shape.iter().try_fold(width, |bytes: u64, n| bytes.checked_mul(*n))
}

/// All tensors of a header. A map type would keep the last of two tensors of the same name without a word.
struct Tensors(Vec<(String, Declared)>);

impl<'de> Deserialize<'de> for Tensors {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Tensors;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object of tensors")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tensors, A::Error> {
                let (mut tensors, mut names) = (Vec::new(), BTreeSet::new());
                while let Some(name) = map.next_key::<String>()? {
                    if !names.insert(name.clone()) {
                        return Err(de::Error::custom(format!("tensor `{name}` is declared twice")));
                    }
                    if name == "__metadata__" {
                        map.next_value::<de::IgnoredAny>()?;
                    } else {
                        tensors.push((name, map.next_value()?));
                    }
                }
                Ok(Tensors(tensors))
            }
        }
        d.deserialize_map(Pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: usize) -> Vec<u8> {
        [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &vec![0; data]].concat()
    }

    fn tensor(name: &str, begin: u64, end: u64) -> String {
        format!(r#""{name}":{{"dtype":"F32","shape":[{}],"data_offsets":[{begin},{end}]}}"#, (end - begin) / 4)
    }

    #[test]
    fn a_sound_file_passes() {
        let header = format!(r#"{{"__metadata__":{{"a":"b"}},{},{}}}"#, tensor("b", 8, 16), tensor("a", 0, 8));
        assert_eq!(check(&file(&header, 16)), Ok(()));
        assert_eq!(check(&file("{}", 0)), Ok(()));
    }

    #[test]
    fn unsound_files_are_refused_naming_the_tensor() {
        let refused = |header: String, data: usize| check(&file(&header, data)).unwrap_err();
        let both = |a: &str, b: &str| format!("{{{a},{b}}}");
        assert!(refused(both(&tensor("a", 0, 8), &tensor("b", 4, 12)), 12).contains("`b` overlaps `a`"));
        assert!(refused(both(&tensor("a", 0, 8), &tensor("a", 8, 16)), 16).contains("`a` is declared twice"));
        assert!(refused(both(&tensor("a", 0, 8), &tensor("b", 12, 16)), 16).contains("4 bytes between"));
        assert!(refused(format!("{{{}}}", tensor("a", 0, 8)), 12).contains("4 bytes behind `a`"));
        assert!(refused(format!("{{{}}}", tensor("a", 0, 8)), 4).contains("`a` lies at 0..8"));
        let wide = r#"{"a":{"dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,0]}}"#;
        assert!(refused(wide.to_owned(), 0).contains("no sensible size"));
        assert!(refused(r#"{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}"#.to_owned(), 8).contains("needs 12"));
        assert!(refused(r#"{"a":{"dtype":"X","shape":[3],"data_offsets":[0,8]}}"#.to_owned(), 8).contains("X"));
        assert!(refused(r#"{"a":{"dtype":"F32","shape":[],"data_offsets":[8,4]}}"#.to_owned(), 8).contains("8..4"));
        assert!(refused("[]".to_owned(), 0).contains("header"));
        assert!(check(&[1, 2, 3]).unwrap_err().contains("only 3 bytes"));
    }

    #[test]
    fn a_header_bomb_is_refused_by_its_first_bytes() {
        for claimed in [1u64 << 63, u64::MAX, HEADER_BYTES_MAX + 1] {
            assert!(length(claimed.to_le_bytes(), u64::MAX).unwrap_err().contains(&claimed.to_string()));
        }
        assert!(length(100u64.to_le_bytes(), 107).unwrap_err().contains("107"));
        assert_eq!(length(100u64.to_le_bytes(), 108), Ok(100));
    }
}
