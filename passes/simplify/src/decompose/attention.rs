//! Attention: an op accepted by an executor stays a call, any other becomes two products and the ops of a softmax.
//!
//! ```text
//! %y = fusion.sdpa %q, %k, %v                          // [S, D], [T, D], [T, E]
//!   =>
//! %t = fusion.permute %k dims [1, 0]
//! %d = fusion.matmul %q, %t to f32
//! %s = fusion.mul %d, %scale                           // then the bias, and -inf for what is left out
//! %m = fusion.max %s dims [1]                          // or 0 for -inf
//! %e = fusion.exp of %s - %m
//! %l = fusion.sum %e dims [1]
//! %o = fusion.matmul %e, %v                            // %v in f32
//! %y = fusion.div %o, %l                               // 0 where %l is
//!                                                      // with `logsumexp`: log(%l) + %m
//! ```
//!
//! The products may be calls themselves. Everything is computed in the accumulating type and rounded once, as the op
//! defines it.

use fuser_dialects::fusion;
use fuser_dialects::fusion::attention::scale_of;
use fuser_dialects::fusion::build::{Built, FusionBuilder};
use fuser_ir::build::Builder;
use fuser_ir::def::OpError;
use fuser_ir::{DType, Dim, Extent, Ir, Op, Value};

use super::Parts;
use super::product::{read_as_it_lies, store_as_it_is_read};
use super::scatter::index_along;

/// An attention that stays whole: operands are read as they lie, and the result is stored as it is read.
pub fn called(ir: &mut Ir, op: Op) -> Parts {
    for index in 0..ir.operand_count(op) {
        read_as_it_lies(ir, op, index);
    }
    store_as_it_is_read(ir, op, 1);
    Ok(Vec::new())
}

fn dims(ir: &Ir, value: Value) -> Vec<Dim> {
    let tensor = ir.value_kind(value).as_tensor();
    let dims = tensor.map_or(&[][..], |tensor| &tensor.dims).iter();
    dims.map(|dim| Dim::new(dim.extent)).collect()
}

/// The attention as products and a softmax.
pub fn composed(ir: &mut Ir, op: Op) -> Parts {
    let odd = || OpError::new("its operands are no matrices");
    let operands: Vec<Value> = ir.operands(op).collect();
    let [q, k, v, bias @ ..] = &operands[..] else {
        return Err(odd());
    };
    let dtype = ir.value_kind(*q).dtype().ok_or_else(odd)?;
    let (mut space, keys) = (dims(ir, *q), dims(ir, *k));
    let rank = space.len();
    let (terms, behind) = space
        .pop()
        .zip(keys.get(rank.wrapping_sub(2)))
        .ok_or_else(odd)?;
    space.push(*behind);
    let scale = scale_of(ir, op);
    let causal = ir.get_attr(op, "causal").is_some();
    let sums = ir.results(op).len() == 2;

    let mut b = Builder::before(ir, op);
    let mut walk = Walk {
        wide: dtype.accumulate(),
        space,
        b: &mut b,
    };
    let scores = walk.scores(*q, *k, scale, terms)?;
    let scores = walk.biased(scores, bias.first().copied())?;
    let scores = if causal { walk.causal(scores)? } else { scores };
    let (found, base, total) = walk.weighted(scores, *v)?;
    let found = b.cast(found, dtype)?;
    let found = dense(&mut b, found)?;
    let mut made = vec![found];
    if sums {
        let log = b.unary(&fusion::LOG, total)?;
        let log = b.add(log, base)?;
        made.push(dense(&mut b, log)?);
    }
    Ok(made)
}

/// `value` with all axes stored: products of broadcast tensors have broadcast axes in their results.
fn dense(b: &mut Builder<'_>, value: Value) -> Built {
    let tensor = b.ir.value_kind(value).as_tensor();
    let once = tensor.is_some_and(|tensor| tensor.dims.iter().any(|dim| dim.broadcast));
    let dense = b.flag("dense");
    match once {
        true => b.value(&fusion::COPY, &[value], &[dense]),
        false => Ok(value),
    }
}

/// A walk over the space of scores.
struct Walk<'a, 'b> {
    b: &'a mut Builder<'b>,
    /// The type that accumulates.
    wide: DType,
    /// The axes of the scores.
    space: Vec<Dim>,
}

impl Walk<'_, '_> {
    fn constant(&mut self, value: f64) -> Built {
        let ty = self.b.ir.scalar(self.wide);
        self.b.constant_float(value, ty)
    }
    fn scores(&mut self, q: Value, k: Value, scale: Option<f64>, terms: Dim) -> Built {
        let rank = self.space.len() as i64;
        let turned: Vec<i64> = (0..rank - 2).chain([rank - 1, rank - 2]).collect();
        let turned = [self.b.ints("dims", &turned)];
        let k = self.b.value(&fusion::PERMUTE, &[k], &turned)?;
        let to = self.b.dtype("to", self.wide);
        let scores = self.b.value(&fusion::MATMUL, &[q, k], &[to])?;
        let scale = match (scale, terms.extent) {
            (Some(scale), _) => self.constant(scale)?,
            (None, Extent::Static(terms)) => self.constant(1.0 / (terms.max(1) as f64).sqrt())?,
            (None, _) => self.implied(terms)?,
        };
        self.b.mul(scores, scale)
    }
    /// One over the root of an extent that is not known yet.
    fn implied(&mut self, terms: Dim) -> Built {
        let shape = self.b.shape("shape", &[terms]);
        let size = self.b.value(&fusion::SIZE, &[], &[shape])?;
        let size = self.b.cast(size, self.wide)?;
        let one = self.constant(1.0)?;
        let size = self.b.maximum(size, one)?;
        let root = self.b.unary(&fusion::SQRT, size)?;
        self.b.div(one, root)
    }
    /// `scores` with a bias added, or with `-inf` where a mask is false.
    fn biased(&mut self, scores: Value, bias: Option<Value>) -> Built {
        let Some(bias) = bias else { return Ok(scores) };
        let rank = self.space.len() as i64;
        let is_mask = self.b.ir.value_kind(bias).dtype() == Some(DType::I1);
        let bias = match self.b.ir.rank(bias) == self.space.len() {
            true => bias,
            false => self.b.broadcast(bias, &[rank - 2, rank - 1], &self.space)?,
        };
        match is_mask {
            true => self.kept(bias, scores),
            false => {
                let bias = self.b.cast(bias, self.wide)?;
                self.b.add(scores, bias)
            }
        }
    }
    fn kept(&mut self, mask: Value, scores: Value) -> Built {
        let none = self.constant(f64::NEG_INFINITY)?;
        self.b.choose(mask, scores, none)
    }
    fn causal(&mut self, scores: Value) -> Built {
        let rank = self.space.len() as i64;
        let query = index_along(self.b, &self.space, rank - 2)?;
        let key = index_along(self.b, &self.space, rank - 1)?;
        let seen = self.b.compare("le", key, query)?;
        self.kept(seen, scores)
    }
    /// The values weighted by the softmax of `scores`, the scores to which weights are relative, and the sums of the
    /// weights.
    fn weighted(&mut self, scores: Value, v: Value) -> Result<(Value, Value, Value), OpError> {
        let last = self.space.len() as i64 - 1;
        let kept: Vec<i64> = (0..last).collect();
        let greatest = self.b.reduce(&fusion::MAX, scores, &[last])?;
        let (zero, least) = (self.constant(0.0)?, self.constant(f64::NEG_INFINITY)?);
        let none = self.b.compare("eq", greatest, least)?;
        let base = self.b.choose(none, zero, greatest)?;
        let wide = self.b.broadcast(base, &kept, &self.space)?;
        let below = self.b.sub(scores, wide)?;
        let weights = self.b.unary(&fusion::EXP, below)?;
        let total = self.b.reduce(&fusion::SUM, weights, &[last])?;
        let v = self.b.cast(v, self.wide)?;
        let sums = self.b.value(&fusion::MATMUL, &[weights, v], &[])?;
        let shape = dims(self.b.ir, sums);
        let zero = self.constant(0.0)?;
        let none = self.b.compare("eq", total, zero)?;
        let none = self.b.broadcast(none, &kept, &shape)?;
        let divisor = self.b.broadcast(total, &kept, &shape)?;
        let found = self.b.div(sums, divisor)?;
        Ok((self.b.choose(none, zero, found)?, base, total))
    }
}
