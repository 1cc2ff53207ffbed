//! Element types as they lie in memory.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Declares the element types from one table: variant, name, bytes, the kind of the elements.
macro_rules! dtypes {
    ($($variant:ident $name:literal $bytes:literal $kind:ident)*) => {
        /// The type of a tensor's elements.
        ///
        /// `I1` is stored as one byte, 0 or 1. `Index` is a signed 64-bit integer. All are little-endian. Two
        /// neighbours of `F4E2M1FN` share a byte, the first in its low bits: only inputs and outputs have that type, no
        /// buffer and no kernel.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum DType {
            $(#[serde(rename = $name)] $variant,)*
        }

        impl DType {
            /// Every type, in declaration order.
            pub const ALL: [DType; [$($bytes),*].len()] = [$(DType::$variant,)*];

            /// Bytes of one element; 1 if several elements share a byte.
            pub fn bytes(self) -> usize {
                match self {
                    $(DType::$variant => $bytes,)*
                }
            }

            /// The name that reports and tables use.
            pub fn name(self) -> &'static str {
                match self {
                    $(DType::$variant => $name,)*
                }
            }

            /// The kind of the elements.
            pub fn kind(self) -> Kind {
                match self {
                    $(DType::$variant => Kind::$kind,)*
                }
            }
        }
    };
}

dtypes! {
    F64   "f64"   8 Float
    F32   "f32"   4 Float
    F16   "f16"   2 Float
    Bf16  "bf16"  2 Float
    F8E4M3FN  "f8E4M3FN"  1 Float
    F8E5M2    "f8E5M2"    1 Float
    F8E8M0FNU "f8E8M0FNU" 1 Float
    F4E2M1FN  "f4E2M1FN"  1 Float
    I64   "i64"   8 Signed
    I32   "i32"   4 Signed
    I16   "i16"   2 Signed
    I8    "i8"    1 Signed
    U64   "u64"   8 Unsigned
    U32   "u32"   4 Unsigned
    U16   "u16"   2 Unsigned
    U8    "u8"    1 Unsigned
    I1    "i1"    1 Truth
    Index "index" 8 Signed
    C64   "complex<f32>" 8  Complex
    C128  "complex<f64>" 16 Complex
}

/// The kind of the elements of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Floating-point numbers.
    Float,
    /// Integers in two's complement.
    Signed,
    /// Integers from zero on.
    Unsigned,
    /// 0 or 1.
    Truth,
    /// Pairs of floating-point numbers: the real part, the imaginary part.
    Complex,
}

impl DType {
    /// True if the elements are floating-point numbers.
    pub fn is_float(self) -> bool {
        self.kind() == Kind::Float
    }

    /// Elements that share a byte.
    pub fn per_byte(self) -> usize {
        match self {
            DType::F4E2M1FN => 2,
            _ => 1,
        }
    }

    /// The element type of the buffer of an input or output: the type of the parts for complex numbers, bytes for
    /// elements that share bytes.
    pub fn in_buffer(self) -> DType {
        match self.per_byte() {
            1 => self.part(),
            _ => DType::U8,
        }
    }

    /// Bytes of `elements` contiguous elements; `None` if the number overflows.
    pub fn size_of(self, elements: usize) -> Option<usize> {
        elements.div_ceil(self.per_byte()).checked_mul(self.bytes())
    }

    /// True if elements are only stored, moved and cast: floats of 8 bits or fewer, each by itself as one byte.
    pub fn is_storage(self) -> bool {
        self.is_float() && self.bytes() == 1
    }

    /// True if elements are pairs of floating-point numbers.
    pub fn is_complex(self) -> bool {
        self.kind() == Kind::Complex
    }

    /// The type of the parts of a complex type; another type is its own.
    pub fn part(self) -> DType {
        match self {
            DType::C64 => DType::F32,
            DType::C128 => DType::F64,
            _ => self,
        }
    }

    /// The complex type whose parts have this type.
    pub fn complex(self) -> Option<DType> {
        match self {
            DType::F32 => Some(DType::C64),
            DType::F64 => Some(DType::C128),
            _ => None,
        }
    }

    /// The least and greatest element of a type of integers or truth values; `None` for others.
    pub fn integer_range(self) -> Option<(i128, i128)> {
        let bits = 8 * self.bytes() as u32;
        match self.kind() {
            Kind::Float | Kind::Complex => None,
            Kind::Signed => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
            Kind::Unsigned => Some((0, (1 << bits) - 1)),
            Kind::Truth => Some((0, 1)),
        }
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
            "`f23` is no element type (those are f64 f32 f16 bf16 f8E4M3FN f8E5M2 f8E8M0FNU f4E2M1FN i64 i32 i16 i8 u64 u32 u16 u8 i1 index complex<f32> complex<f64>)"
        );
    }
}
