//! Extents and shapes: the sizes at which loops, vectors and tiles have their edges.

use std::collections::BTreeMap;

use fuser_ir::def::DTypes;
use fuser_ir::types::{Dim, Extent};
use fuser_ir::{DType, Ir};

use crate::Source;

/// Extents, the usual ones first. Zero is drawn apart: it makes everything after it trivial.
pub const EXTENTS: [u64; 24] = [
    4, 1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 257, 1023, 1025,
    4097,
];
/// The most axes of a new shape.
pub const MAX_RANK: u64 = 5;

/// An axis: its type and its length in this case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Axis {
    /// As the type says it.
    pub dim: Dim,
    /// As the inputs make it.
    pub length: u64,
}

/// The number of elements, with an empty axis counted as one: if a broadcast axis is empty, the other axes are stored
/// nevertheless.
pub fn elements(axes: &[Axis]) -> u64 {
    axes.iter()
        .fold(1, |n, a| n.saturating_mul(a.length.max(1)))
}

/// True if no extent is `?`.
pub fn is_known(axes: &[Axis]) -> bool {
    axes.iter().all(|a| a.dim.extent != Extent::Unknown)
}

/// The dims of the axes.
pub fn dims(axes: &[Axis]) -> Vec<Dim> {
    axes.iter().map(|a| a.dim).collect()
}

/// The values of named extents, made up when they are first used, and the lengths that there may be.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// By name.
    pub values: BTreeMap<String, u64>,
    /// Ascending but for the first; none for all of [`EXTENTS`].
    pub lengths: &'static [u64],
}

impl Names {
    /// The length of `extent`, if every name in it has a value.
    pub fn length(&self, ir: &Ir, extent: Extent) -> Option<u64> {
        let expr = ir.extent_as_expr(extent)?;
        let mut sum = 0i64;
        for (names, coefficient) in &expr.terms {
            let mut product = *coefficient;
            for name in names {
                let value = i64::try_from(*self.values.get(ir.str(*name))?).ok()?;
                product = product.checked_mul(value)?;
            }
            sum = sum.checked_add(product)?;
        }
        u64::try_from(sum).ok()
    }
    /// The axes of `dims`, if all their extents are known.
    pub fn axes(&self, ir: &Ir, dims: &[Dim]) -> Option<Vec<Axis>> {
        let axis = |dim: &Dim| {
            let length = self.length(ir, dim.extent)?;
            Some(Axis { dim: *dim, length })
        };
        dims.iter().map(axis).collect()
    }
}

/// A length of at most `most`.
pub fn length(source: &mut Source, names: &Names, most: u64) -> u64 {
    if source.chance(1, 48) {
        return 0;
    }
    let lengths = match names.lengths {
        [] => &EXTENTS[..],
        lengths => lengths,
    };
    let fitting = lengths.iter().copied();
    let fitting: Vec<u64> = fitting.filter(|e| *e <= most.max(1)).collect();
    source.pick(&fitting).copied().unwrap_or(1)
}

/// A new axis of at most `most` elements: a number, or a name.
pub fn axis(source: &mut Source, ir: &mut Ir, names: &mut Names, most: u64) -> Axis {
    if source.chance(1, 4) {
        return named(source, ir, names, most);
    }
    let length = length(source, names, most);
    let dim = Dim::fixed(length);
    Axis { dim, length }
}

fn named(source: &mut Source, ir: &mut Ir, names: &mut Names, most: u64) -> Axis {
    let name = source.one(&["B", "S", "H", "N"]);
    let value = match names.values.get(name) {
        Some(value) => *value,
        None => length(source, names, most.min(129)),
    };
    if value > most {
        let length = length(source, names, most);
        let dim = Dim::fixed(length);
        return Axis { dim, length };
    }
    names.values.insert(name.into(), value);
    let dim = Dim::new(ir.named_extent(name));
    Axis { dim, length: value }
}

/// A shape of at most `most` elements.
pub fn shape(source: &mut Source, ir: &mut Ir, names: &mut Names, most: u64) -> Vec<Axis> {
    let rank = match source.below(8) {
        0 | 1 => 2,
        2 | 3 => 1,
        4 | 5 => 3,
        6 => 0,
        _ => source.below(MAX_RANK + 1),
    };
    let mut room = most.max(1);
    let mut axes = Vec::new();
    for _ in 0..rank {
        let axis = axis(source, ir, names, room);
        room /= axis.length.max(1);
        axes.push(axis);
    }
    source.shuffle(&mut axes);
    axes
}

/// The element types that kernels know: all real ones but floats of 4 bits, which [`super::Config::packed`] draws.
pub fn dtypes() -> Vec<DType> {
    let known = |dtype: &DType| DTypes::KERNEL.contains(*dtype);
    DType::REAL.into_iter().filter(known).collect()
}

/// Element types that code generation packs, two or four to a register.
pub const NARROW: [DType; 6] = [
    DType::I8,
    DType::U8,
    DType::I16,
    DType::U16,
    DType::I1,
    DType::BF16,
];

/// An element type, the floats more often than the others.
pub fn dtype(source: &mut Source) -> DType {
    match source.chance(1, 2) {
        true => source.one(&[DType::F32, DType::BF16, DType::F16, DType::F64]),
        false => source.one(&dtypes()),
    }
}
