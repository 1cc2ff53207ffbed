//! Values of a definition, and the promotion of their element types.
//!
//! A known scalar stays a number until an op needs it, and then becomes a constant of the op's computing type. Operands
//! fall into three classes: tensors, tensors of rank 0, scalars. A class affects the common type only if its kind
//! (boolean, integer, float, complex) is higher than that of the earlier classes, as in ATen. Arithmetic on narrower
//! floats is done in f32, and its result stays f32.

use fuser_ir::Value;
use fuser_ir::types::{DType, Extent};

/// A value.
#[derive(Clone, Debug)]
pub enum Val<'s> {
    /// A tensor, or a scalar that is computed.
    Tensor(Value),
    /// A number, and the type that was stated for it.
    Number(Number, Option<DType>),
    /// The length of an axis.
    Extent(Extent),
    /// A list, or a vector.
    List(Vec<Val<'s>>),
    /// `None`, `DataType.Null`
    Nothing,
    /// `DataType.Float`: a type, or the name of a type that no op computes with.
    Type(Result<DType, &'s str>),
    /// The value of a statement that failed.
    Failed,
}

/// A known number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number {
    /// `True`
    Bool(bool),
    /// `3`
    Int(i128),
    /// `3.0`
    Float(f64),
    /// `3.0+0.5j`: the real and the imaginary part.
    Complex(f64, f64),
}

impl std::str::FromStr for Number {
    type Err = ();
    /// `3`, `0.5`, `-inf`, `true` or `False`, `2+0.5j`.
    fn from_str(text: &str) -> Result<Self, ()> {
        let parsed = match text {
            "true" | "True" => Some(Number::Bool(true)),
            "false" | "False" => Some(Number::Bool(false)),
            _ => match (text.strip_suffix('j'), text.parse()) {
                (Some(parts), _) => complex(parts),
                (None, Ok(int)) => Some(Number::Int(int)),
                (None, Err(_)) => text.parse().ok().map(Number::Float),
            },
        };
        parsed.ok_or(())
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Number::Bool(value) => value.fmt(f),
            Number::Int(value) => value.fmt(f),
            Number::Float(value) => write!(f, "{value:?}"),
            Number::Complex(real, imaginary) => write!(f, "{real:?}{imaginary:+?}j"),
        }
    }
}

/// A complex number without its `j`: the real part, if present, and the imaginary part.
fn complex(text: &str) -> Option<Number> {
    let signs = text.char_indices().skip(1).filter(|(at, c)| {
        let exponent = text[..*at].ends_with(['e', 'E']);
        matches!(c, '+' | '-') && !exponent
    });
    let (real, imaginary) = signs
        .map(|(at, _)| at)
        .next()
        .map_or(("0", text), |at| text.split_at(at));
    let imaginary = imaginary.strip_prefix('+').unwrap_or(imaginary);
    Some(Number::Complex(real.parse().ok()?, imaginary.parse().ok()?))
}

impl Number {
    /// The number as a length of an axis.
    pub fn length(self) -> Option<u64> {
        match self {
            Number::Int(n) => u64::try_from(n).ok(),
            _ => None,
        }
    }
    /// The number, if it belongs to a type or converts without loss of kind: an integer converts to a float, a float
    /// never to an integer, and integers must be in range.
    pub fn of_kind(self, dtype: DType) -> Option<Self> {
        match self {
            Number::Bool(_) => (dtype == DType::I1).then_some(self),
            Number::Int(n) if dtype == DType::I1 => {
                (n == 0 || n == 1).then_some(Number::Bool(n == 1))
            }
            Number::Int(n) if dtype.is_int() => {
                let (low, high) = dtype.int_range();
                (low..=high).contains(&n).then_some(self)
            }
            Number::Int(_) | Number::Float(_) => {
                let float = dtype.is_float() || dtype.is_complex();
                float.then(|| Number::Float(self.float()))
            }
            Number::Complex(..) => dtype.is_complex().then_some(self),
        }
    }
    /// The number as a float; the real part of a complex number.
    pub fn float(self) -> f64 {
        match self {
            Number::Bool(value) => f64::from(u8::from(value)),
            Number::Int(value) => value as f64,
            Number::Float(value) | Number::Complex(value, _) => value,
        }
    }
    /// The type of a number of Python.
    pub fn dtype(self) -> DType {
        match self {
            Number::Bool(_) => DType::I1,
            Number::Int(_) => DType::I64,
            Number::Float(_) => DType::F64,
            Number::Complex(..) => DType::C128,
        }
    }
}

/// An argument of a call.
pub struct Argument<'s> {
    /// Its name, where it is given.
    pub name: Option<&'s str>,
    /// Its value.
    pub value: Val<'s>,
}

/// A byte of two 4-bit floats: the type of a tensor whose extents count bytes.
pub const PAIR_OF_FLOATS: &str = "Float4_e2m1fn_x2";

/// The names of types, the usual one of each first.
pub const NAMES: [(&str, DType); 20] = [
    ("Double", DType::F64),
    ("Float", DType::F32),
    ("Half", DType::F16),
    ("BFloat16", DType::BF16),
    ("Float8_e4m3fn", DType::F8E4M3FN),
    ("Float8_e5m2", DType::F8E5M2),
    ("Float8_e8m0fnu", DType::F8E8M0FNU),
    ("Float4_e2m1fn", DType::F4E2M1FN),
    ("Int", DType::I64),
    ("Index", DType::I64),
    ("Int32", DType::I32),
    ("Short", DType::I16),
    ("Char", DType::I8),
    ("UInt64", DType::U64),
    ("UInt32", DType::U32),
    ("UInt16", DType::U16),
    ("Byte", DType::U8),
    ("Bool", DType::I1),
    ("ComplexFloat", DType::C64),
    ("ComplexDouble", DType::C128),
];

/// `DataType.NAME`
pub fn dtype(name: &str) -> Option<DType> {
    let known = NAMES.iter().find(|(known, _)| *known == name);
    known.map(|(_, dtype)| *dtype)
}

/// The rule by which an op finds the type that it computes in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Config {
    /// The common type; narrower floats as f32.
    Default,
    /// Likewise, and integers as f32.
    Float,
    /// The common type as it is.
    Keep,
}

/// The class of an operand: 0 for tensors, 1 for tensors of rank 0, 2 for scalars.
pub type Class = usize;

/// The type in which operands of these classes and types are computed.
pub fn common(operands: &[(Class, DType)], config: Config) -> DType {
    let mut classes: [Option<DType>; 3] = [None; 3];
    for (class, dtype) in operands {
        let known = &mut classes[*class];
        *known = Some(known.map_or(*dtype, |known| promoted(known, *dtype)));
    }
    // A float that is a scalar is no wider than f32 beside tensors.
    let tensors = classes[0].is_some() || classes[1].is_some();
    if let Some(scalar) = classes[2].filter(|dtype| tensors && dtype.is_float()) {
        classes[2] = Some(if scalar == DType::F64 {
            DType::F32
        } else {
            scalar
        });
    }
    let of = classes.into_iter().flatten();
    let joined = of.reduce(|higher, lower| match kind(lower) > kind(higher) {
        true => promoted(higher, lower),
        false => higher,
    });
    let joined = joined.unwrap_or(DType::F32);
    match config {
        Config::Keep => joined,
        Config::Float if joined.is_int() => DType::F32,
        Config::Default | Config::Float => joined.compute(),
    }
}

/// Truth value, integer, float, complex.
fn kind(dtype: DType) -> u8 {
    match dtype {
        DType::I1 => 0,
        dtype if dtype.is_int() => 1,
        dtype if dtype.is_complex() => 3,
        _ => 2,
    }
}

/// The type that holds values of both.
fn promoted(a: DType, b: DType) -> DType {
    use DType::{BF16, F16, F32};
    match (a, b) {
        (a, b) if a == b => a,
        // A double beside complex numbers keeps its precision, as in ATen.
        (a, b) if a.is_complex() || b.is_complex() => {
            match a.part() == DType::F64 || b.part() == DType::F64 {
                true => DType::C128,
                false => DType::C64,
            }
        }
        (a, b) if kind(a) != kind(b) => {
            if kind(a) > kind(b) {
                a
            } else {
                b
            }
        }
        (F16, BF16) | (BF16, F16) => F32,
        (a, b) if a.is_storage() || b.is_storage() => match (a.is_storage(), b.is_storage()) {
            (true, true) => F32,
            (true, false) => b,
            _ => a,
        },
        (a, b) if a.is_int() => integer_promoted(a, b),
        (a, b) => {
            if a.bits() >= b.bits() {
                a
            } else {
                b
            }
        }
    }
}

/// C++'s common type of two different integer types: at least 32 bits, and unsigned if an operand of that width is.
fn integer_promoted(a: DType, b: DType) -> DType {
    let bits = a.bits().max(b.bits()).max(32);
    let unsigned = [a, b].iter().any(|d| d.bits() == bits && !d.is_signed());
    match (bits, unsigned) {
        (32, false) => DType::I32,
        (32, true) => DType::U32,
        (_, false) => DType::I64,
        (_, true) => DType::U64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_promoted_as_nvfuser_does() {
        use Config::{Default, Float, Keep};
        use DType::{BF16, F16, F32, F64, I1, I8, I16, I32, I64, U8, U16, U32, U64};
        for (operands, config, wanted) in [
            (&[(0, BF16), (0, BF16)][..], Default, F32),
            (&[(0, BF16), (2, F64)], Default, F32),
            (&[(0, DType::F8E5M2), (2, F64)], Default, F32),
            (&[(0, DType::F8E4M3FN), (0, DType::F8E5M2)], Keep, F32),
            (&[(0, DType::F4E2M1FN), (0, DType::F8E5M2)], Keep, F32),
            (&[(0, DType::F4E2M1FN), (0, BF16)], Keep, BF16),
            (&[(0, DType::F8E4M3FN), (0, BF16)], Keep, BF16),
            (
                &[(0, DType::F8E4M3FN), (0, DType::F8E4M3FN)],
                Keep,
                DType::F8E4M3FN,
            ),
            (&[(0, BF16), (2, F64)], Keep, BF16),
            (&[(0, F32), (2, F64)], Default, F32),
            (&[(0, F64), (2, F64)], Default, F64),
            (&[(0, F32), (1, F64)], Default, F32),
            (&[(0, I32), (2, I64)], Default, I32),
            (&[(0, I32), (2, F64)], Default, F32),
            (&[(0, I1), (2, I64)], Default, I64),
            (&[(0, I32), (0, I64)], Default, I64),
            (&[(0, I8), (0, U8)], Default, I32),
            (&[(0, I8), (0, I16)], Default, I32),
            (&[(0, U16), (0, I16)], Default, I32),
            (&[(0, I32), (0, U32)], Default, U32),
            (&[(0, U32), (0, I64)], Default, I64),
            (&[(0, I64), (0, U64)], Default, U64),
            (&[(0, I16), (2, I64)], Default, I16),
            (&[(0, U64)], Float, F32),
            (&[(0, I64)], Float, F32),
            (&[(0, F16), (0, BF16)], Keep, F32),
            (&[(2, F64), (2, I64)], Default, F64),
            (&[(0, DType::C64), (0, F64)], Default, DType::C128),
            (&[(0, DType::C64), (2, F64)], Float, DType::C64),
            (&[(0, I64), (0, DType::C64)], Default, DType::C64),
            (&[(0, BF16), (1, DType::C128)], Keep, DType::C128),
        ] {
            assert_eq!(common(operands, config), wanted, "{operands:?} {config:?}");
        }
    }
}
