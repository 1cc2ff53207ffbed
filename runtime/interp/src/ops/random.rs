//! Random bits and numbers: Philox 4x32-10, as its authors define it.

use fuser_ir::DType;

use super::Kind;
use super::elementwise::{chunks, join, view_of};
use crate::error::{InterpError, Result};
use crate::machine::Machine;
use crate::number::math::{Binary, Predicate, Unary};
use crate::number::{Bounded, Int};
use crate::tensor::{Axis, Data, Lane, Tensor};

const ROUNDS: usize = 10;
const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const INCREMENTS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// Lower and upper half.
fn halves(bits: u64) -> [u32; 2] {
    [bits as u32, (bits >> 32) as u32]
}

/// The four words of a block.
fn block(index: i128, seed: i128, offset: i128) -> [u32; 4] {
    let [mut x, mut y] = halves(index as u64);
    let [mut z, mut w] = halves(offset as u64);
    let mut key = halves(seed as u64);
    for _ in 0..ROUNDS {
        let [low_x, high_x] = halves(u64::from(x) * u64::from(MULTIPLIERS[0]));
        let [low_z, high_z] = halves(u64::from(z) * u64::from(MULTIPLIERS[1]));
        (x, z) = (high_z ^ y ^ key[0], high_x ^ w ^ key[1]);
        (y, w) = (low_z, low_x);
        for (part, increment) in key.iter_mut().zip(INCREMENTS) {
            *part = part.wrapping_add(increment);
        }
    }
    [x, y, z, w]
}

/// The number of bits of a significand.
fn precision(dtype: DType) -> u32 {
    match dtype {
        DType::F64 => 53,
        DType::F32 => 24,
        DType::F16 => 11,
        _ => 8,
    }
}

/// Random bits, as many as the significand of `dtype` has, from word `first` of a block on.
fn bits(dtype: DType, block: [u32; 4], first: usize) -> u64 {
    if dtype == DType::F64 {
        return u64::from(block[first] >> 5) << 26 | u64::from(block[first + 1] >> 6);
    }
    u64::from(block[first] >> (32 - precision(dtype)))
}

/// A scalar operand, or one of rank 0.
fn scalar(x: &Tensor) -> Result<Int> {
    let held = x.axes().is_empty().then(|| x.int(0)).flatten();
    held.ok_or_else(|| InterpError::invalid("an operand is no integer scalar"))
}

impl Machine<'_> {
    /// Word `word` of the block of each element of `index`, `seed` and `offset`.
    pub(crate) fn philox(&mut self, word: usize, operands: [&Tensor; 3]) -> Result<Tensor> {
        let axes = join(&operands)?;
        let views = operands.map(|x| view_of(x, &axes));
        let draft = self.draft(DType::I32, axes)?;
        self.fill(draft, |part| {
            let mut lanes = [(); 3].map(|()| part.scratch::<Int>());
            chunks::<Int>(part, |at, row| {
                for ((view, x), lanes) in views.iter().zip(operands).zip(&mut lanes) {
                    view.gather(x, at, &mut lanes[..row.len()]);
                }
                for (i, lane) in row.iter_mut().enumerate() {
                    let [index, seed, offset] = [0, 1, 2].map(|k: usize| lanes[k][i]);
                    let made = block(index.v, seed.v, offset.v)[word] as i32;
                    *lane = index.join(seed, 0).join(offset, made.into());
                }
            });
        })
    }

    /// Numbers from 0 to 1 with element type `dtype`, made of words from `first` on; with `odd` the last bit of each is set.
    fn fractions(
        &mut self,
        dtype: DType,
        axes: Vec<Axis>,
        [seed, offset]: [&Tensor; 2],
        (first, odd): (usize, bool),
    ) -> Result<Tensor> {
        let (seed, offset) = (scalar(seed)?, scalar(offset)?);
        let unit = 1.0 / (1u64 << precision(dtype)) as f64;
        let number = |at: usize| {
            let block = block(at as i128, seed.v, offset.v);
            (bits(dtype, block, first) | u64::from(odd)) as f64 * unit
        };
        let bounded = |at: usize| match seed.unsure || offset.unsure {
            true => Bounded::undecided(number(at)),
            false => Bounded::exact(number(at)),
        };
        let kind = self.kind(dtype);
        let draft = self.draft(dtype, axes)?;
        self.fill(draft, |part| match kind {
            Kind::F32 => chunks(part, |at, row| each(at, row, |i| number(i) as f32)),
            Kind::F64 => chunks(part, |at, row| each(at, row, number)),
            Kind::Bounded => chunks(part, |at, row| each(at, row, bounded)),
            // The table admits floats alone.
            Kind::Int => {}
        })
    }

    /// `fusion.uniform`
    pub(crate) fn uniform(
        &mut self,
        dtype: DType,
        axes: Vec<Axis>,
        key: [&Tensor; 2],
    ) -> Result<Tensor> {
        self.fractions(dtype, axes, key, (0, false))
    }

    /// `fusion.normal`
    pub(crate) fn normal(
        &mut self,
        dtype: DType,
        axes: Vec<Axis>,
        key: [&Tensor; 2],
    ) -> Result<Tensor> {
        let compute = dtype.compute();
        let second = if compute == DType::F64 { 2 } else { 1 };
        let u = self.fractions(compute, axes.clone(), key, (0, true))?;
        let v = self.fractions(compute, axes, key, (second, false))?;
        let u = self.unary(Unary::Log, "log", &u)?;
        let u = self.binary(Binary::Mul, "mul", &u, &number(compute, -2.0)?)?;
        let radius = self.unary(Unary::Sqrt, "sqrt", &u)?;
        let turn = number(compute, std::f64::consts::TAU)?;
        let angle = self.binary(Binary::Mul, "mul", &v, &turn)?;
        let side = self.unary(Unary::Cos, "cos", &angle)?;
        let made = self.binary(Binary::Mul, "mul", &radius, &side)?;
        self.cast(&made, dtype)
    }

    /// `fusion.bernoulli`
    pub(crate) fn bernoulli(
        &mut self,
        axes: Vec<Axis>,
        p: &Tensor,
        key: [&Tensor; 2],
    ) -> Result<Tensor> {
        let compute = p.dtype().compute();
        let p = self.cast(p, compute)?;
        let u = self.uniform(compute, axes, key)?;
        self.compare(Predicate::Lt, &u, &p)
    }
}

/// A constant, rounded to `dtype`, which computes.
fn number(dtype: DType, value: f64) -> Result<Tensor> {
    let data = match dtype {
        DType::F64 => Data::F64(vec![value]),
        _ => Data::F32(vec![value as f32]),
    };
    let made = Tensor::new(dtype, Vec::new(), data);
    made.ok_or_else(|| InterpError::invalid("no type that computes"))
}

fn each<L: Lane>(at: usize, row: &mut [L], f: impl Fn(usize) -> L) {
    row.iter_mut().enumerate().for_each(|(i, x)| *x = f(at + i));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers of Random123 for philox4x32-10.
    #[test]
    fn blocks_are_those_of_random123() {
        let of = |low: u32, high: u32| i128::from(u64::from(high) << 32 | u64::from(low));
        assert_eq!(
            block(0, 0, 0),
            [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]
        );
        assert_eq!(
            block(-1, -1, -1),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        let index = of(0x243f_6a88, 0x85a3_08d3);
        let offset = of(0x1319_8a2e, 0x0370_7344);
        let seed = of(0xa409_3822, 0x299f_31d0);
        assert_eq!(
            block(index, seed, offset),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }
}
