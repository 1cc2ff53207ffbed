//! The data of inputs.

use fuser_ir::{DType, float};
use half::{bf16, f16};

use super::program::{Data, Program};
use super::types::Type;
use crate::Source;
use crate::generate::Input;

/// Values at which definitions have their edges.
const EDGES: [f64; 12] = [
    0.0,
    -0.0,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    0.5,
    -0.5,
    2.5,
    1e-40,
    -1e-7,
    65504.0,
    3.4e38,
];

/// The inputs of a program, one for each parameter.
pub fn inputs(program: &Program, seed: u64) -> Vec<Input> {
    let parameters = program.parameters.iter().enumerate();
    let inputs = parameters.map(|(i, (v, data))| {
        let mut source = Source::seed(seed.wrapping_add(i as u64).wrapping_mul(0x9e37));
        input(program.ty(*v), *data, &mut source)
    });
    inputs.collect()
}

fn input(ty: &Type, data: Data, source: &mut Source) -> Input {
    let axes: Vec<(u64, bool)> = ty.dims.iter().map(|d| (d.length, d.broadcast)).collect();
    let count = crate::generate::case::stored(&axes);
    let mut bytes = Vec::with_capacity((count * ty.dtype.bytes()) as usize);
    let parts = if ty.dtype.is_complex() { 2 } else { 1 };
    for _ in 0..count * parts {
        element(ty.dtype.part(), data, source, &mut bytes);
    }
    Input {
        dtype: ty.dtype,
        axes,
        bytes,
    }
}

fn element(dtype: DType, data: Data, source: &mut Source, bytes: &mut Vec<u8>) {
    if dtype.is_int() {
        let word = match data {
            _ if dtype == DType::I1 => source.below(2) as i64,
            Data::Whole(low, high) => source.range(low, high),
            Data::Full => source.word() as i64,
            _ => source.range(0, 8),
        };
        bytes.extend(&word.to_le_bytes()[..dtype.bytes() as usize]);
        return;
    }
    let value = match data {
        Data::Reals(low, high) => low + (high - low) * (source.unit() + 1.0) / 2.0,
        Data::Whole(low, high) => source.range(low, high) as f64,
        Data::Edges if source.chance(1, 8) => source.one(&EDGES),
        Data::Edges | Data::Full => source.range(-8, 8) as f64,
    };
    match dtype {
        DType::F64 => bytes.extend(value.to_le_bytes()),
        DType::F32 => bytes.extend((value as f32).to_le_bytes()),
        DType::F16 => bytes.extend(f16::from_f64(value).to_le_bytes()),
        DType::BF16 => bytes.extend(bf16::from_f64(value).to_le_bytes()),
        small => bytes.push(float::narrow(small, value.to_bits()) as u8),
    }
}
