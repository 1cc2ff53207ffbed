//! The index map of a split program, as it stands in `map.json`: docs/segmentation.md explains it field by field.
//!
//! Values of the original are numbered from 0: inputs first, then results in program order. Named extents have the numbers
//! -1, -2, ... in the order in which axes of inputs name them. Each segment numbers its own values in the same way.

use serde::{Deserialize, Serialize};

/// The version of the format; a reader refuses others. Version 2 gives values that cross boundaries one name
/// everywhere, and the map a hash.
pub const VERSION: u32 = 2;

/// All of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Map {
    /// [`VERSION`].
    pub version: u32,
    /// [`Map::checksum`] as it was written: tells an edited or damaged map.
    pub hash: String,
    /// The program's symbol.
    pub program: String,
    /// The file of the original program.
    pub original: File,
    /// The original's values by number, followed by the values that passes created and segments exchange.
    pub values: Vec<Value>,
    /// Named extents by falling number.
    pub extents: Vec<Extent>,
    /// Numbers of the inputs in order.
    pub inputs: Vec<usize>,
    /// Numbers of the results in order.
    pub outputs: Vec<usize>,
    /// In run order.
    pub segments: Vec<Segment>,
}

/// A file of the folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Its name.
    pub file: String,
    /// Of its text as it was written: [`hash`].
    pub hash: String,
}

/// A value of the original.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Value {
    /// Its number.
    pub index: usize,
    /// Its name, with `%`.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: String,
    /// True if the original has it; false for a value that passes made.
    pub original: bool,
    /// The segment that passes the value to others or to the caller; `None` for inputs and internal values.
    pub written_by: Option<String>,
    /// The last segment that has it as an input.
    pub last_user: Option<String>,
    /// Every value of a segment that is this one.
    pub is: Vec<Occurrence>,
}

/// A value of a segment.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Occurrence {
    /// The segment's name.
    pub segment: String,
    /// The value's number there.
    pub value: usize,
}

/// A named extent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extent {
    /// -1, -2, ...
    pub index: i64,
    /// Its name.
    pub name: String,
    /// The input of the original with an axis of this extent, with `%`; `None` if the caller gives the extent.
    pub input: Option<String>,
    /// The axis that has it.
    pub axis: Option<usize>,
}

/// A segment.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Segment {
    /// Its name.
    pub name: String,
    /// The file with its program.
    pub file: String,
    /// Of the file's text as it was written: [`hash`].
    pub hash: String,
    /// The symbol of its program.
    pub program: String,
    /// `kernel`, `view`, ...
    pub kind: String,
    /// Numbers, in the segment, of its inputs in order.
    pub inputs: Vec<usize>,
    /// Numbers, in the segment, of its results in order.
    pub outputs: Vec<usize>,
    /// Numbers of the extents that its ops need and its inputs do not have.
    pub extents: Vec<i64>,
    /// Its values by number: inputs first, then results of ops in program order.
    pub values: Vec<Inner>,
    /// Numbers, in the original, of the values that nobody needs once it has run.
    pub frees: Vec<usize>,
}

/// A value of a segment.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inner {
    /// Its number in the segment.
    pub value: usize,
    /// Its name there, with `%`.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: String,
    /// The value's number in the original; `None` for a value that a pass created and no other segment reads.
    pub original: Option<usize>,
}

impl Segment {
    /// Numbers, in the original, of what it reads, in order.
    pub fn reads(&self) -> impl Iterator<Item = Option<usize>> + '_ {
        self.inputs.iter().map(|&v| self.values.get(v)?.original)
    }
    /// Numbers, in the original, of what it gives, in order.
    pub fn writes(&self) -> impl Iterator<Item = Option<usize>> + '_ {
        self.outputs.iter().map(|&v| self.values.get(v)?.original)
    }
}

impl Map {
    /// The last segment that reads each value, by number.
    pub fn last_users(&self) -> Vec<Option<usize>> {
        let mut last = vec![None; self.values.len()];
        for (number, segment) in self.segments.iter().enumerate() {
            for value in segment.reads().flatten() {
                if let Some(slot) = last.get_mut(value) {
                    *slot = Some(number);
                }
            }
        }
        last
    }
    /// The values to free after each segment: those whose last user it is, and those that it writes without any user.
    /// Results of the program are never freed.
    pub fn frees(&self) -> Vec<Vec<usize>> {
        let last = self.last_users();
        let mut frees = vec![Vec::new(); self.segments.len()];
        let mut writer = vec![None; self.values.len()];
        for (number, segment) in self.segments.iter().enumerate() {
            for value in segment.writes().flatten() {
                if let Some(slot) = writer.get_mut(value) {
                    *slot = Some(number);
                }
            }
        }
        let kept: std::collections::BTreeSet<usize> = self.outputs.iter().copied().collect();
        for (value, last) in last.iter().enumerate() {
            let after = last.or(writer[value]);
            if let Some(after) = after.filter(|_| !kept.contains(&value)) {
                frees[after].push(value);
            }
        }
        frees
    }
    /// Computes the derived fields: the writer, last user and freeing segment of each value, and its roles.
    pub fn relate(&mut self) {
        for (segment, frees) in self.frees().into_iter().enumerate() {
            self.segments[segment].frees = frees;
        }
        for (value, last) in self.last_users().into_iter().enumerate() {
            self.values[value].last_user = last.map(|s| self.segments[s].name.clone());
            self.values[value].written_by = None;
            self.values[value].is.clear();
        }
        let inputs = self.inputs.len();
        for segment in &self.segments {
            for inner in &segment.values {
                let value = inner.original.and_then(|v| self.values.get_mut(v));
                if let Some(value) = value {
                    value.is.push(Occurrence {
                        segment: segment.name.clone(),
                        value: inner.value,
                    });
                }
            }
            for index in segment.writes().flatten().filter(|v| *v >= inputs) {
                if let Some(value) = self.values.get_mut(index) {
                    value.written_by = Some(segment.name.clone());
                }
            }
        }
    }
    /// The hash of all other fields of the map, independent of the formatting of its text.
    pub fn checksum(&self) -> String {
        let rest = Self {
            hash: String::new(),
            ..self.clone()
        };
        hash(&serde_json::to_string(&rest).unwrap_or_default())
    }
    /// The JSON text.
    pub fn to_json(&self) -> String {
        // Serializing plain strings and numbers cannot fail.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

/// 64 bits of FNV-1a as hexadecimal digits: tells whether a file is as it was written, and protects from nothing.
pub fn hash(text: &str) -> String {
    let start = 0xcbf2_9ce4_8422_2325u64;
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(start, mix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv_1a() {
        // The published test vectors.
        assert_eq!(hash(""), "cbf29ce484222325");
        assert_eq!(hash("a"), "af63dc4c8601ec8c");
        assert_eq!(hash("foobar"), "85944171f73967e8");
    }
}
