//! The data of inputs: small integers if results are compared bit for bit; otherwise numbers of the sizes found in
//! models, and edge cases of definitions.

use fuser_ir::{DType, float};
use half::{bf16, f16};

use super::case::{Input, Tier};
use super::fusion::facts::{self, Fact};
use super::fusion::shapes::Axis;
use crate::Source;

/// The greatest magnitude of a small integer.
pub const SMALL: i64 = 8;

/// Values at which definitions have their edges; each is rounded to the input's type.
const EDGES: [f64; 22] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    1e-40,
    -1e-40,
    6e-8,
    1e-310,
    65504.0,
    65520.0,
    3.4e38,
    -3.4e38,
    1e300,
    88.0,
    -104.0,
];

/// The range of an input's values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Values {
    /// Integers of at most this magnitude.
    Small(i64),
    /// Every bit pattern of an integer type.
    Full,
    /// Reals around 0, of magnitude about 1.
    Reals,
    /// Reals from near 0 to 4.
    Positive,
    /// Reals of many magnitudes.
    Wide,
    /// [`EDGES`] among small integers.
    Edges,
}

/// An input before its data is made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputRecipe {
    dtype: DType,
    axes: Vec<(u64, bool)>,
    values: Values,
}

impl InputRecipe {
    /// Draws the contents of an input.
    pub fn draw(source: &mut Source, tier: Tier, axes: &[Axis], dtype: DType) -> Self {
        let values = match (dtype.is_int(), tier) {
            (true, _) => integers(source, dtype),
            (false, Tier::Exact) => source.one(&[
                Values::Small(SMALL),
                Values::Small(SMALL),
                Values::Small(SMALL),
                Values::Small(1),
                Values::Small(2),
                Values::Reals,
                Values::Edges,
            ]),
            (false, Tier::Bounded) => source.one(&[
                Values::Reals,
                Values::Reals,
                Values::Positive,
                Values::Small(SMALL),
                Values::Wide,
                Values::Edges,
            ]),
        };
        let axes = axes.iter().map(|a| (a.length, a.dim.broadcast)).collect();
        Self {
            dtype,
            axes,
            values,
        }
    }
    /// An input of [`Values::Edges`], or of every bit pattern of an integer type.
    pub fn edges(axes: &[(u64, bool)], dtype: DType) -> Self {
        Self {
            dtype,
            axes: axes.to_vec(),
            values: Values::Edges,
        }
    }
    /// The fact about its elements.
    pub fn fact(&self) -> Fact {
        match self.values {
            Values::Small(most) => facts::rounded(self.dtype, most as u64),
            Values::Full => Some(facts::full_range(self.dtype)),
            _ => None,
        }
    }
}

fn integers(source: &mut Source, dtype: DType) -> Values {
    match (dtype, source.chance(1, 4)) {
        (DType::I1, _) => Values::Small(1),
        (_, true) => Values::Full,
        (_, false) => Values::Small(SMALL),
    }
}

/// Makes the data.
pub fn fill(plan: &InputRecipe, source: &mut Source) -> Input {
    let mut source = Source::seed(source.word());
    let count = super::case::stored(&plan.axes);
    let mut bytes = Vec::with_capacity((count * plan.dtype.bytes()) as usize);
    let parts = if plan.dtype.is_complex() { 2 } else { 1 };
    for _ in 0..count * parts {
        part(plan, &mut source, &mut bytes);
    }
    Input {
        dtype: plan.dtype,
        axes: plan.axes.clone(),
        bytes,
    }
}

/// An element, or a part of a complex one.
fn part(plan: &InputRecipe, source: &mut Source, bytes: &mut Vec<u8>) {
    if plan.dtype.is_int() {
        let word = match plan.values {
            Values::Small(most) if plan.dtype.is_signed() => source.range(-most, most),
            Values::Small(most) => source.range(0, most),
            _ => source.word() as i64,
        };
        let size = plan.dtype.bytes() as usize;
        bytes.extend(&word.to_le_bytes()[..size]);
        return;
    }
    if plan.dtype.is_storage() && matches!(plan.values, Values::Edges) && source.chance(1, 4) {
        return bytes.push(source.below(1 << plan.dtype.bits()) as u8);
    }
    let value = real(plan.values, source);
    match plan.dtype {
        DType::F64 | DType::C128 => bytes.extend(value.to_le_bytes()),
        DType::F32 | DType::C64 => bytes.extend((value as f32).to_le_bytes()),
        DType::F16 => bytes.extend(f16::from_f64(value).to_le_bytes()),
        DType::BF16 => bytes.extend(bf16::from_f64(value).to_le_bytes()),
        small => bytes.push(float::narrow(small, value.to_bits()) as u8),
    }
}

fn real(values: Values, source: &mut Source) -> f64 {
    match values {
        Values::Small(most) => source.range(-most, most) as f64,
        Values::Positive => 2.0 * source.unit() + 2.0 + 1e-3,
        Values::Wide => source.unit() * f64::from(source.range(-20, 20) as i32).exp2(),
        Values::Edges if source.chance(1, 4) => source.one(&EDGES),
        Values::Edges => source.range(-SMALL, SMALL) as f64,
        Values::Reals | Values::Full => source.unit() + source.unit(),
    }
}
