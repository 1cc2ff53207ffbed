//! Random numbers as arithmetic on random bits.
//!
//! ```text
//! %u = fusion.uniform %seed, %offset shape [[N]] of f32
//!   =>
//! %i = fusion.iota dim 0 shape [[N]] of i64
//! %w = fusion.philox %i, %seed, %offset word x
//! %t = fusion.lshr %w, 8
//! %c = fusion.cast %t to f32
//! %u = fusion.mul %c, 2^-24
//! ```
//!
//! Every step is exact until functions combine the numbers. The resulting ops are elementwise, so kernels recompute
//! them at each use instead of reading them from memory.

use fuser_dialects::fusion;
use fuser_dialects::fusion::build::{Built, FusionBuilder};
use fuser_ir::build::Builder;
use fuser_ir::def::OpError;
use fuser_ir::{DType, Dim, Ir, Op, Value};

use super::{Parts, count};

/// `fusion.uniform`
pub fn uniform(ir: &mut Ir, op: Op) -> Parts {
    let mut draw = Draw::of(ir, op, 0)?;
    let dtype = draw.dtype;
    Ok(vec![draw.fraction(dtype, 0, false)?])
}

/// `fusion.normal`
pub fn normal(ir: &mut Ir, op: Op) -> Parts {
    let mut draw = Draw::of(ir, op, 0)?;
    let (dtype, compute) = (draw.dtype, draw.dtype.compute());
    let second = if compute == DType::F64 { 2 } else { 1 };
    let u = draw.fraction(compute, 0, true)?;
    let v = draw.fraction(compute, second, false)?;
    let b = &mut draw.b;
    let ty = b.ir.scalar(compute);
    let (factor, turn) = (
        b.constant_float(-2.0, ty)?,
        b.constant_float(std::f64::consts::TAU, ty)?,
    );
    let logarithm = b.unary(&fusion::LOG, u)?;
    let square = b.mul(logarithm, factor)?;
    let radius = b.unary(&fusion::SQRT, square)?;
    let angle = b.mul(v, turn)?;
    let side = b.unary(&fusion::COS, angle)?;
    let made = b.mul(radius, side)?;
    Ok(vec![b.cast(made, dtype)?])
}

/// `fusion.bernoulli`
pub fn bernoulli(ir: &mut Ir, op: Op) -> Parts {
    let p = ir.operand(op, 0);
    let mut draw = Draw::of(ir, op, 1)?;
    let held = draw.b.ir.value_kind(p).dtype();
    let compute = held.map_or(DType::F32, DType::compute);
    let u = draw.fraction(compute, 0, false)?;
    let p = draw.b.cast(p, compute)?;
    Ok(vec![draw.b.compare("lt", u, p)?])
}

/// The blocks of the elements of a result.
struct Draw<'a> {
    b: Builder<'a>,
    /// Index, seed and offset.
    operands: [Value; 3],
    dtype: DType,
}

impl<'a> Draw<'a> {
    /// The blocks of an op whose operand `seed` is the seed, and the next one the offset.
    fn of(ir: &'a mut Ir, op: Op, seed: usize) -> Result<Self, OpError> {
        let key = [seed, seed + 1].map(|k| ir.operand(op, k));
        let missing = || OpError::new("its result is no tensor");
        let tensor = ir.value_kind(ir.result(op, 0)).as_tensor();
        let tensor = tensor.ok_or_else(missing)?.clone();
        let mut b = Builder::before(ir, op);
        let index = position(&mut b, &tensor.dims)?;
        Ok(Self {
            b,
            operands: [index, key[0], key[1]],
            dtype: tensor.dtype,
        })
    }

    /// The upper `bits` bits of a word, as numbers of type `dtype`; with `odd` the last of them is set.
    fn top(&mut self, word: usize, bits: i64, dtype: DType, odd: bool) -> Built {
        let b = &mut self.b;
        let word = b.word("word", fusion::philox::WORDS[word]);
        let word = b.value(&fusion::PHILOX, &self.operands, &[word])?;
        let ty = b.ir.scalar(DType::I32);
        let rest = b.constant_int(32 - bits, ty)?;
        let mut top = b.binary(&fusion::LSHR, word, rest)?;
        if odd {
            let one = b.constant_int(1, ty)?;
            top = b.binary(&fusion::OR, top, one)?;
        }
        b.cast(top, dtype)
    }

    /// Numbers from 0 to 1, of words from `first` on; with `odd` the last bit of each is set.
    fn fraction(&mut self, dtype: DType, first: usize, odd: bool) -> Built {
        let bits = match dtype {
            DType::F64 => 53,
            DType::F32 => 24,
            DType::F16 => 11,
            _ => 8,
        };
        let ty = self.b.ir.scalar(dtype);
        let whole = if bits > 32 {
            let upper = self.top(first, 27, dtype, false)?;
            let lower = self.top(first + 1, 26, dtype, odd)?;
            let step = self.b.constant_float(2f64.powi(26), ty)?;
            let upper = self.b.mul(upper, step)?;
            self.b.add(upper, lower)?
        } else {
            self.top(first, bits, dtype, odd)?
        };
        let unit = self.b.constant_float(2f64.powi(-(bits as i32)), ty)?;
        self.b.mul(whole, unit)
    }
}

/// The row-major position of each element of a tensor with these axes, as an `i64`.
fn position(b: &mut Builder<'_>, dims: &[Dim]) -> Built {
    let shape = b.shape("shape", dims);
    let mut position = None;
    for axis in 0..dims.len() {
        let (dim, of) = (b.int("dim", axis as i64), b.dtype("of", DType::I64));
        let mut part = b.value(&fusion::IOTA, &[], &[dim, shape, of])?;
        if axis + 1 < dims.len() {
            let stride = count(b, &dims[axis + 1..], DType::I64)?;
            part = b.mul(part, stride)?;
        }
        position = Some(match position {
            Some(before) => b.add(before, part)?,
            None => part,
        });
    }
    match position {
        Some(position) => Ok(position),
        None => {
            let ty = b.ir.scalar(DType::I64);
            let zero = b.constant_int(0, ty)?;
            b.value(&fusion::FULL, &[zero], &[shape])
        }
    }
}
