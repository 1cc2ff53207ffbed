//! The effect of a change, beyond the noise of the unchanged program.
//!
//! The judgement is independent of the check that is measured: it knows none of its bounds and spreads. For each
//! element of each result:
//!
//! - `r` is its value by the interpreter with floats of f64;
//! - the **noise** `n` is the greatest distance from `r` in the program's own types. It is taken over the interpreter's
//!   results by the ops' definitions, once unchanged and [`SAMPLES`] times disturbed ([`disturbed`]): a random unit in
//!   the last place is added to or taken from each arithmetic result, element by element, and sums are reordered. It is
//!   at least one rounding to the result's type;
//! - `a` is its value by the changed program, compiled and run.
//!
//! The effect of a change is the greatest `|a - r| / n`. A change **alters** a result if its effect is at least
//! [`ALTERS`]; an element without noise (an integer, a moved value) is altered by any difference. Elements that the
//! samples leave undetermined, because a sample is infinite or another integer where `r` is not, are left out. Zeros of
//! different sign are equal.
//!
//! Never disturbs values known to the bit (a bound of 0 by the interpreter's analysis), nor ops that only move, select
//! or compare: these do not round.

use fuser_dialects::fusion;
use fuser_interp::{InterpError, Options, Tensor, interpret};
use fuser_ir::def::{OpClass, OpDef};
use fuser_ir::{Builder, DType, Ir, Op, Value};

use super::changes::summed;
use crate::Source;
use crate::generate::{Case, Input};
use crate::mutate::rewire::{body, ops, terminator};
use crate::oracle::execute::tensors;
use crate::reduce::sign;

/// Executions with disturbed roundings.
pub const SAMPLES: u64 = 6;
/// The smallest effect of an altered result, in multiples of the noise.
pub const ALTERS: f64 = 10.0;
/// Element operations and bytes of one execution, a large multiple of what any program needs.
const FUEL: u64 = 1 << 34;
const MEMORY: u64 = 2 << 30;

/// A result of the unchanged program.
struct Quiet {
    value: Vec<f64>,
    /// Infinite where samples leave it open.
    noise: Vec<f64>,
}

/// The results of the unchanged program, and their noise.
pub struct Noise {
    results: Vec<Quiet>,
}

/// The place at which a change shows most.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Effect {
    /// Times the noise; infinite where there is none.
    pub times: f64,
    /// The number of the result.
    pub result: usize,
    /// The number of the element, row-major.
    pub element: usize,
    /// The value of the changed program.
    pub changed: f64,
    /// The value of the unchanged one.
    pub value: f64,
    /// Its noise.
    pub noise: f64,
}

impl Noise {
    /// Executes the case precisely and with disturbed roundings; `seed` draws them.
    pub fn of(case: &Case, seed: u64) -> Result<Self, InterpError> {
        let inputs = tensors(&case.inputs);
        let run = |case: &Case, inputs: &[Tensor], reference| {
            let options = Options {
                reference,
                fuel: FUEL,
                memory: MEMORY,
                races: false,
                ..Options::default()
            };
            interpret(&case.ir, case.program, inputs, &options).map(|outputs| outputs.values)
        };
        let precise = run(case, &inputs, true)?;
        let mut samples = vec![run(case, &inputs, false)?];
        let rounding = rounding(case);
        let known = match rounding.is_empty() {
            true => Vec::new(),
            false => run(&returning(case, &rounding), &inputs, true)?,
        };
        for sample in 0..SAMPLES {
            let mut source = Source::seed(seed ^ sample.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let Some(noisy) = disturbed(case, &rounding, &mut source) else {
                break;
            };
            let mut inputs = inputs.clone();
            let drawn = known.iter().map(|value| units(value, &mut source));
            inputs.extend(tensors(&drawn.collect::<Vec<_>>()));
            samples.push(run(&noisy, &inputs, false)?);
        }
        let results = precise.iter().enumerate();
        let results = results.map(|(index, precise)| {
            let samples = samples.iter().filter_map(|sample| sample.get(index));
            quiet(precise, &samples.collect::<Vec<_>>())
        });
        Ok(Self {
            results: results.collect(),
        })
    }
    /// The effect of a change that gives `results`.
    pub fn effect(&self, results: &[Tensor]) -> Effect {
        let mut greatest = Effect::default();
        for (result, (quiet, changed)) in self.results.iter().zip(results).enumerate() {
            let changed = numbers(changed);
            for (element, &a) in changed.iter().enumerate() {
                let (Some(&r), Some(&n)) = (quiet.value.get(element), quiet.noise.get(element))
                else {
                    continue;
                };
                let times = times(a, r, n);
                if times > greatest.times {
                    greatest = Effect {
                        times,
                        result,
                        element,
                        changed: a,
                        value: r,
                        noise: n,
                    };
                }
            }
        }
        greatest
    }
}

/// The distance of two values in units of the noise.
fn times(a: f64, r: f64, noise: f64) -> f64 {
    match distance(a, r) {
        distance if distance == 0.0 || noise.is_infinite() => 0.0,
        distance => distance / noise,
    }
}

/// The distance of two values: 0 for equal ones, with all NaN equal; infinite if exactly one is an infinity or NaN.
fn distance(a: f64, b: f64) -> f64 {
    if a == b || (a.is_nan() && b.is_nan()) {
        return 0.0;
    }
    let distance = (a - b).abs();
    if distance.is_nan() {
        f64::INFINITY
    } else {
        distance
    }
}

fn quiet(precise: &Tensor, samples: &[&Tensor]) -> Quiet {
    let value = numbers(precise);
    let mut noise = vec![0f64; value.len()];
    for sample in samples {
        let pairs = value.iter().zip(numbers(sample));
        for (noise, (r, s)) in noise.iter_mut().zip(pairs) {
            *noise = noise.max(distance(s, *r));
        }
    }
    let dtype = precise.dtype();
    if dtype.is_int() {
        // An integer is either determined, or may have any value.
        let open = |n: f64| if n > 0.0 { f64::INFINITY } else { 0.0 };
        noise.iter_mut().for_each(|n| *n = open(*n));
    } else if noise.iter().any(|n| *n > 0.0) {
        let unit = unit(dtype.part());
        let pairs = noise.iter_mut().zip(&value);
        pairs.for_each(|(n, r)| {
            if r.is_finite() {
                *n = n.max(unit * r.abs());
            }
        });
    }
    Quiet { value, noise }
}

/// The elements in row-major order; of complex numbers all real parts, then all imaginary ones.
fn numbers(tensor: &Tensor) -> Vec<f64> {
    if let Some((re, im)) = tensor.parts() {
        return [numbers(&re), numbers(&im)].concat();
    }
    let (shape, strides) = (tensor.shape(), tensor.strides());
    let mut places = vec![0usize];
    for (extent, stride) in shape.into_iter().zip(strides) {
        let along = |place: usize| (0..extent).map(move |i| place + i * stride);
        places = places.into_iter().flat_map(along).collect();
    }
    let places = places.into_iter();
    places.map(|place| tensor.data().float(place)).collect()
}

/// Elementwise ops that never round: the result is an operand, perhaps with another sign, or a whole number.
static EXACT: [&OpDef; 21] = [
    &fusion::NEG,
    &fusion::ABS,
    &fusion::SIGN,
    &fusion::CEIL,
    &fusion::FLOOR,
    &fusion::ROUND,
    &fusion::TRUNC,
    &fusion::RELU,
    &fusion::MAXIMUM,
    &fusion::MINIMUM,
    &fusion::FMAX,
    &fusion::FMIN,
    &fusion::NEXTAFTER,
    &fusion::WHERE,
    &fusion::CLAMP,
    &fusion::CAST,
    &fusion::BITCAST,
    &fusion::COMPLEX,
    &fusion::REAL,
    &fusion::IMAG,
    &fusion::CONJ,
];
/// Reductions and scans that choose an element.
static CHOOSING: [&OpDef; 7] = [
    &fusion::MAX,
    &fusion::MIN,
    &fusion::MAX_NUM,
    &fusion::MIN_NUM,
    &fusion::CUMMAX,
    &fusion::CUMMIN,
    &fusion::LAST,
];

/// The values of floats that are rounded where they are made.
fn rounding(case: &Case) -> Vec<Value> {
    let ir = &case.ir;
    let rounds = |op: &Op| {
        let class = ir.def(*op).map(|def| def.class);
        let computes = matches!(
            class,
            Some(
                OpClass::Elementwise
                    | OpClass::Reduction
                    | OpClass::Scan
                    | OpClass::Contraction
                    | OpClass::Convolution
                    | OpClass::Attention
            )
        );
        let exact = |def: &&OpDef| ir.name(*op) == def.name;
        computes && !EXACT.iter().chain(&CHOOSING).any(exact)
    };
    let results = ops(case).into_iter().filter(rounds);
    let results = results.flat_map(|op| ir.results(op).to_vec());
    let float = |value: &Value| {
        let dtype = ir.value_kind(*value).dtype();
        dtype.is_some_and(|dtype| unit(dtype.part()) > 0.0)
    };
    results.filter(float).collect()
}

/// The relative distance of neighbours among the numbers of a type that computes; 0 of others.
fn unit(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => f64::EPSILON,
        DType::F32 => f32::EPSILON.into(),
        DType::F16 => half::f16::EPSILON.to_f64(),
        DType::BF16 => half::bf16::EPSILON.to_f64(),
        _ => 0.0,
    }
}

/// The case, returning `values`.
fn returning(case: &Case, values: &[Value]) -> Case {
    let mut case = case.clone();
    if let Some(op) = terminator(&case) {
        case.ir.set_operands(op, values);
    }
    case.ir.remove_attr(case.program, "res_attrs");
    sign(&mut case);
    case
}

/// The case with one more input for each of `values`: its factor, applied right after the value is made. Sums have
/// their terms in another order.
fn disturbed(case: &Case, values: &[Value], source: &mut Source) -> Option<Case> {
    let mut case = case.clone();
    let body = body(&case)?;
    for op in ops(&case) {
        reorder(&mut case.ir, op, source);
    }
    for &value in values {
        let ty = case.ir.value_type(value);
        let factor = case.ir.append_arg(body, ty, None);
        let op = case.ir.def_op(value)?;
        let old: Vec<_> = case.ir.uses(value).collect();
        let mut builder = Builder::after(&mut case.ir, op);
        let product = builder.value(&fusion::MUL, &[value, factor], &[]).ok()?;
        case.ir
            .replace_uses_if(value, product, |_, slot| old.contains(&slot));
    }
    sign(&mut case);
    Some(case)
}

/// Rotates the terms of a sum: it begins at another term, and the terms before that come last.
fn reorder(ir: &mut Ir, op: Op, source: &mut Source) {
    for axes in summed(ir, op) {
        let shift = source.below(1 << 16) as i64;
        let mut builder = Builder::before(ir, op);
        let rolled = axes.iter().map(|&(operand, axis)| {
            let from = builder.ir.operand(op, operand);
            let clauses = [builder.int("dim", axis as i64), builder.int("shift", shift)];
            builder.value(&fusion::ROLL, &[from], &clauses).ok()
        });
        let rolled: Option<Vec<Value>> = rolled.collect();
        // All operands or none: a term keeps its factors.
        for ((operand, _), value) in axes.iter().zip(rolled.into_iter().flatten()) {
            ir.set_operand(op, *operand, value);
        }
    }
}

/// Factors for a value that the analysis knows as `known`: a neighbour of 1, or 1; 1 where there is one value only.
fn units(known: &Tensor, source: &mut Source) -> Input {
    let dtype = known.dtype();
    let real = known.parts().map(|(re, _)| re);
    let known = real.as_ref().unwrap_or(known);
    let mut bytes = Vec::new();
    for element in 0..known.stored_len() {
        let word = source.word() % 3;
        let word = if known.bounded(element).e == 0.0 {
            0
        } else {
            word
        };
        factor(dtype.part(), word, &mut bytes);
        if dtype.is_complex() {
            let zero = vec![0; dtype.part().bytes() as usize];
            bytes.extend(zero);
        }
    }
    let axes = known.axes().iter();
    Input {
        dtype,
        axes: axes.map(|a| (a.extent as u64, a.broadcast)).collect(),
        bytes,
    }
}

/// 1, the number after it, or the one before it.
fn factor(dtype: DType, which: u64, bytes: &mut Vec<u8>) {
    let near = |one: u64| match which {
        0 => one,
        1 => one + 1,
        _ => one - 1,
    };
    match dtype {
        DType::F64 => bytes.extend(near(1f64.to_bits()).to_le_bytes()),
        DType::F32 => bytes.extend((near(1f32.to_bits().into()) as u32).to_le_bytes()),
        DType::F16 => bytes.extend((near(half::f16::ONE.to_bits().into()) as u16).to_le_bytes()),
        _ => bytes.extend((near(half::bf16::ONE.to_bits().into()) as u16).to_le_bytes()),
    }
}
