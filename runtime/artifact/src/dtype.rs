//! Element types as they lie in memory.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The type of a tensor's elements.
///
/// `I1` is stored as one byte, 0 or 1. `Index` is a signed 64-bit integer. All are little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DType {
    F64,
    F32,
    F16,
    Bf16,
    I64,
    I32,
    I8,
    U8,
    I1,
    Index,
}

impl DType {
    /// Every type, in declaration order.
    pub const ALL: [DType; 10] = [
        DType::F64,
        DType::F32,
        DType::F16,
        DType::Bf16,
        DType::I64,
        DType::I32,
        DType::I8,
        DType::U8,
        DType::I1,
        DType::Index,
    ];

    /// Bytes of one element in memory.
    pub fn bytes(self) -> usize {
        match self {
            DType::F64 | DType::I64 | DType::Index => 8,
            DType::F32 | DType::I32 => 4,
            DType::F16 | DType::Bf16 => 2,
            DType::I8 | DType::U8 | DType::I1 => 1,
        }
    }

    /// The name that the IR uses.
    pub fn name(self) -> &'static str {
        match self {
            DType::F64 => "f64",
            DType::F32 => "f32",
            DType::F16 => "f16",
            DType::Bf16 => "bf16",
            DType::I64 => "i64",
            DType::I32 => "i32",
            DType::I8 => "i8",
            DType::U8 => "u8",
            DType::I1 => "i1",
            DType::Index => "index",
        }
    }

    /// True if the elements are floating-point numbers.
    pub fn is_float(self) -> bool {
        matches!(self, DType::F64 | DType::F32 | DType::F16 | DType::Bf16)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no element type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDType(pub String);

impl fmt::Display for UnknownDType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no element type (those are", self.0)?;
        DType::ALL
            .iter()
            .try_for_each(|dtype| write!(f, " {dtype}"))?;
        f.write_str(")")
    }
}

impl std::error::Error for UnknownDType {}

impl FromStr for DType {
    type Err = UnknownDType;

    fn from_str(text: &str) -> Result<DType, UnknownDType> {
        let found = DType::ALL.into_iter().find(|dtype| dtype.name() == text);
        found.ok_or_else(|| UnknownDType(text.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_in_text_and_json() {
        for dtype in DType::ALL {
            assert_eq!(dtype.name().parse(), Ok(dtype));
            let json = serde_json::to_string(&dtype).unwrap();
            assert_eq!(json, format!("\"{dtype}\""));
            assert_eq!(serde_json::from_str::<DType>(&json).unwrap(), dtype);
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = "f23".parse::<DType>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "`f23` is no element type (those are f64 f32 f16 bf16 i64 i32 i8 u8 i1 index)"
        );
    }
}
