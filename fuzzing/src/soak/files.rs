//! Cases as files, for another system to run: a program with fixed extents, its inputs, its results, and the allowed
//! differences.
//!
//! A case is a folder, named by its kind and seed:
//!
//! | file | |
//! |---|---|
//! | `program.fir` | the program |
//! | `case.json` | element types and axes of inputs and results; an axis is its extent, and whether it is stored once |
//! | `in0`, `in1`, ... | the stored elements of an input, little-endian |
//! | `out0`, `out1`, ... | two words of 8 bytes for each stored element of a result: the value, and the greatest distance from it that is allowed |
//!
//! Values of floats are stored as f64, integers as 64 bits. A distance of 0 allows exactly these bits, with all NaN
//! equal; an infinite distance means that the value is unknown. No input contains a subnormal number of f64, f32 or
//! bf16. For complex numbers, all real parts come before all imaginary ones. Products may be fused into sums with a
//! single rounding.

use std::fs;
use std::io;
use std::path::Path;

use fuser_interp::Tensor;
use fuser_interp::number::Rules;
use fuser_ir::DType;

use crate::campaign;
use crate::generate::{Case, Input, fusion};
use crate::models::check;
use crate::mutate;
use crate::oracle::execute;
use crate::{Source, Stats};

use super::Options;

/// The kinds of cases that are written.
pub const KINDS: [&str; 2] = ["programs", "models"];

/// The outcome of a case.
pub enum Written {
    /// It is there.
    Whole,
    /// It has none: the reason.
    Nothing(String),
}

/// Writes a case of a kind to a folder inside of `folder`.
pub fn write(options: &Options, kind: &str, seed: u64, folder: &Path) -> io::Result<Written> {
    let Some(mut case) = drawn(options, kind, seed) else {
        return Ok(Written::Nothing(format!("no {kind} to write")));
    };
    mutate::number_extents(&mut case);
    case.inputs.iter_mut().for_each(without_subnormals);
    let expected = match execute::expected_of(&case, true) {
        Ok(expected) => expected,
        Err(error) => return Ok(Written::Nothing(campaign::shape_of(&error.to_string()))),
    };
    let own = folder.join(format!("{kind}-{seed}"));
    fs::create_dir_all(&own)?;
    fs::write(own.join("program.fir"), mutate::printed(&case))?;
    let mut inputs = Vec::new();
    for (index, input) in case.inputs.iter().enumerate() {
        fs::write(own.join(format!("in{index}")), &input.bytes)?;
        let axes = input.axes.iter().copied();
        inputs.push(described(input.dtype.name(), axes));
    }
    let mut outputs = Vec::new();
    for (index, result) in expected.results.iter().enumerate() {
        fs::write(own.join(format!("out{index}")), elements(result))?;
        let axes = result.axes().iter();
        let axes = axes.map(|axis| (axis.extent as u64, axis.broadcast));
        outputs.push(described(result.dtype().name(), axes));
    }
    let (inputs, outputs) = (inputs.join(", "), outputs.join(", "));
    let text = format!("{{\"inputs\": [{inputs}], \"outputs\": [{outputs}]}}\n");
    fs::write(own.join("case.json"), text)?;
    Ok(Written::Whole)
}

fn drawn(options: &Options, kind: &str, seed: u64) -> Option<Case> {
    match kind {
        "models" => {
            let model = check::drawn(&mut Source::seed(seed), seed).ok()?;
            Some(model.case)
        }
        _ => {
            let config = options.config(seed);
            Some(fusion::generate(&mut Source::seed(seed), &config))
        }
    }
}

fn described(dtype: &str, axes: impl Iterator<Item = (u64, bool)>) -> String {
    let axes: Vec<String> = axes
        .map(|(extent, once)| format!("[{extent}, {once}]"))
        .collect();
    format!(
        "{{\"dtype\": \"{dtype}\", \"axes\": [{}]}}",
        axes.join(", ")
    )
}

/// Zeros in the place of subnormal numbers, which not every system computes with.
fn without_subnormals(input: &mut Input) {
    macro_rules! flush {
        ($real:ty) => {
            for word in input.bytes.as_chunks_mut::<{ size_of::<$real>() }>().0 {
                let value = <$real>::from_le_bytes(*word);
                if !value.is_normal() && value.is_finite() {
                    *word = <$real>::default().copysign(value).to_le_bytes();
                }
            }
        };
    }
    match input.dtype.part() {
        DType::F64 => flush!(f64),
        DType::F32 => flush!(f32),
        DType::BF16 => flush!(half::bf16),
        _ => {}
    }
}

/// Values and distances.
fn elements(result: &Tensor) -> Vec<u8> {
    if let Some((real, imaginary)) = result.parts() {
        return [elements(&real), elements(&imaginary)].concat();
    }
    let rules = Rules::of(result.dtype());
    let mut bytes = Vec::with_capacity(16 * result.stored_len());
    for at in 0..result.stored_len() {
        let (value, allowed) = match result.int(at) {
            Some(int) if result.dtype().is_int() => {
                (int.v as u64, if int.unsure { f64::INFINITY } else { 0.0 })
            }
            _ => {
                let bounded = result.bounded(at);
                let allowed = match bounded.e {
                    0.0 => 0.0,
                    e if e.is_nan() => f64::INFINITY,
                    e => rules.allowed(bounded.v, e),
                };
                (bounded.v.to_bits(), allowed)
            }
        };
        bytes.extend(value.to_le_bytes());
        bytes.extend(allowed.to_le_bytes());
    }
    bytes
}

/// Counts the outcome of a case.
pub fn count(written: &Written, stats: &mut Stats) {
    match written {
        Written::Whole => stats.count("written", "whole"),
        Written::Nothing(reason) => stats.count("written", reason.clone()),
    }
}
