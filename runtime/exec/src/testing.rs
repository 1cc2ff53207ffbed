//! Helpers shared by tests of products and of attention: tensors, elements as bytes, and all calls on a number of
//! workers.

use fuser_artifact::{DType, DimSpec, Factor, TensorSpec};
use half::{bf16, f16};

use crate::execute::Address;
use crate::gemm::Units;
use crate::team::Effort;
use crate::tensor::Axis;
use crate::workers::Workers;

/// All that this processor can compute products with.
pub fn units() -> Vec<Units> {
    let mut all = vec![Units::Library];
    #[cfg(target_arch = "x86_64")]
    {
        let own = [Units::Avx2, Units::Avx512, Units::Amx];
        let best = Units::detect();
        let count = own.iter().position(|&units| units == best);
        let count = count.map_or(0, |at| at + 1);
        all.extend(&own[..count]);
        let missing = own[count..].iter();
        missing.for_each(|units| eprintln!("skipped: no {units:?}, its kernel is not tested"));
    }
    all
}

/// A tensor: for each axis its loop, its length, and whether it is stored once.
pub fn factor(dtype: DType, axes: &[(u32, usize, bool)], order: &[u32]) -> (Factor, Vec<Axis>) {
    let lengths: Vec<Axis> = axes
        .iter()
        .map(|&(_, extent, broadcast)| Axis { extent, broadcast })
        .collect();
    let dims = lengths.iter().map(|axis| DimSpec {
        extent: (axis.extent as i64).into(),
        broadcast: axis.broadcast,
    });
    let tensor = TensorSpec {
        name: "t".to_string(),
        dtype,
        dims: dims.collect(),
        order: order.to_vec(),
        buffer: 0,
    };
    let loops = axes.iter().map(|axis| axis.0).collect();
    (Factor { tensor, loops }, lengths)
}

/// Elements as bytes; a truth value is true from -0.5 on.
pub fn encode(dtype: DType, values: impl Iterator<Item = f64>) -> Vec<u8> {
    let bytes = |x: f64| match dtype {
        DType::F64 => x.to_le_bytes().to_vec(),
        DType::F16 => f16::from_f64(x).to_le_bytes().to_vec(),
        DType::Bf16 => bf16::from_f64(x).to_le_bytes().to_vec(),
        DType::I1 => vec![u8::from(x > -0.5)],
        _ => (x as f32).to_le_bytes().to_vec(),
    };
    values.flat_map(bytes).collect()
}

pub fn decode(dtype: DType, bytes: &[u8]) -> Vec<f64> {
    let value = |word: &[u8]| match dtype {
        DType::F64 => f64::from_le_bytes(word.try_into().unwrap()),
        DType::F16 => f16::from_le_bytes(word.try_into().unwrap()).to_f64(),
        DType::Bf16 => bf16::from_le_bytes(word.try_into().unwrap()).to_f64(),
        DType::I1 => f64::from(word[0]),
        _ => f32::from_le_bytes(word.try_into().unwrap()).into(),
    };
    bytes.chunks_exact(dtype.bytes()).map(value).collect()
}

/// Runs calls `0..calls` on `workers` workers. Each has its own scratch memory with arbitrary contents.
pub fn call_all(
    workers: usize,
    calls: i64,
    scratch_bytes: usize,
    call: &(dyn Fn(i64, Address) + Sync),
) {
    // Whole lines of the cache, as in a run.
    let room = scratch_bytes.next_multiple_of(64);
    let mut scratch = vec![u64::MAX; workers * room / 8 + 1];
    let base = Address::of(scratch.as_mut_ptr().cast());
    Workers::new(workers)
        .unwrap()
        .for_each_chunk(calls, Effort::Unknown, &|worker, begin, end| {
            (begin..end).for_each(|number| call(number, Address::of(base.at(worker * room))));
        });
}
