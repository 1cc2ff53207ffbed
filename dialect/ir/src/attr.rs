//! Attributes: compile-time data on operations, interned.
//!
//! Floats are kept as bits, so that NaN payloads and signed zeros survive a round trip and attributes can be hashed.

use crate::intern::Sym;
use crate::types::{DType, TypeId};

crate::entities! {
    /// An interned attribute.
    AttrId,
}

/// The value of an attribute.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AttrKind {
    /// `unit`: presence is the information.
    Unit,
    /// `true` / `false`
    Bool(bool),
    /// `42 : i64`
    Int {
        /// The value.
        value: i128,
        /// Its type; `i64` is not printed.
        ty: TypeId,
    },
    /// `1.5 : f32`. The bits are those of the f64 with exactly this value.
    Float {
        /// f64 bits.
        bits: u64,
        /// Its type.
        ty: TypeId,
    },
    /// `"text"`
    String(Sym),
    /// `[a, b]`
    Array(Vec<AttrId>),
    /// `{k = v}`, sorted by the text of the key.
    Dict(Vec<(Sym, AttrId)>),
    /// A type.
    Type(TypeId),
    /// `@a::@b`
    SymbolRef(Vec<Sym>),
    /// `array<i64: 1, 2>`
    I64Array(Vec<i64>),
    /// `dense<...> : tensor<...>`: raw little-endian elements, or one element for a splat.
    Dense {
        /// The tensor or vector type.
        ty: TypeId,
        /// Element type, repeated from `ty`.
        dtype: DType,
        /// True if `bytes` holds one element for all positions.
        splat: bool,
        /// Little-endian element bytes, row-major.
        bytes: Vec<u8>,
    },
    /// `extents<[B], 1024, ?, b16>`: a shape. In custom forms written `[[B], 1024, ?, b16]`.
    Extents(Vec<crate::types::Dim>),
    /// An attribute of a dialect that is not known here, or an `affine_map`, kept as text: `#dialect<body>`.
    Opaque {
        /// Everything, with the leading `#` where there was one.
        text: Sym,
    },
    /// `loc(...)` used as an attribute.
    Loc(crate::loc::LocId),
}

impl AttrKind {
    /// The integer value.
    pub fn as_int(&self) -> Option<i128> {
        match self {
            AttrKind::Int { value, .. } => Some(*value),
            AttrKind::Bool(b) => Some(*b as i128),
            _ => None,
        }
    }
    /// The float value.
    pub fn as_float(&self) -> Option<f64> {
        match self {
            AttrKind::Float { bits, .. } => Some(f64::from_bits(*bits)),
            _ => None,
        }
    }
    /// The integers of an `array<i64: ...>`.
    pub fn as_i64_array(&self) -> Option<&[i64]> {
        match self {
            AttrKind::I64Array(v) => Some(v),
            _ => None,
        }
    }
    /// The string's symbol.
    pub fn as_string(&self) -> Option<Sym> {
        match self {
            AttrKind::String(s) => Some(*s),
            _ => None,
        }
    }
    /// The type of a type attribute.
    pub fn as_type(&self) -> Option<TypeId> {
        match self {
            AttrKind::Type(t) => Some(*t),
            _ => None,
        }
    }
    /// The dims of an `extents<...>`.
    pub fn as_dims(&self) -> Option<&[crate::types::Dim]> {
        match self {
            AttrKind::Extents(d) => Some(d),
            _ => None,
        }
    }
}

impl crate::intern::Item for AttrKind {}
