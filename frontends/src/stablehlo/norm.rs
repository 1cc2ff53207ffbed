//! Batch normalization (`batch_norm_inference` and others), as written by frontends other than JAX: a composition of
//! means over all axes except the features.
//!
//! ```text
//! y = (x - mean) / sqrt(variance + epsilon) * scale + offset
//! ```
//!
//! Computed in the type of the operand; the variance is the population variance.

use fuser_dialects::fusion;
use fuser_ir::Value;
use fuser_ir::def::OpDef;
use fuser_ir::types::Extent;

use super::Importer;
use super::op::{Reading, atom};
use super::shape::lengths;
use crate::program::{Draft, Fault, Made};

/// A tensor, its feature axis, and the number added to a variance.
struct Norm<'d> {
    draft: &'d mut Draft,
    shape: Vec<Extent>,
    axis: i64,
    others: Vec<i64>,
    count: f64,
    epsilon: f64,
}

impl<'d> Norm<'d> {
    fn new(draft: &'d mut Draft, r: &Reading<'_>) -> Made<Self> {
        let own = lengths(draft, r.operand(0)?);
        let axis = r.int(&["feature_index"])?;
        if !(0..own.len() as i64).contains(&axis) {
            return Err(Fault::form(
                "has features along an axis that its operand does not have",
            ));
        }
        let epsilon = r.attr(&["epsilon"]).and_then(atom);
        let epsilon = epsilon.and_then(|span| r.text(span).parse().ok());
        let others: Vec<i64> = (0..own.len() as i64).filter(|at| *at != axis).collect();
        let count = others.iter().map(|at| own[*at as usize] as f64).product();
        Ok(Self {
            shape: super::shape::extents(&own),
            axis,
            others,
            count,
            epsilon: epsilon.ok_or_else(|| Fault::form("has no number `epsilon`"))?,
            draft,
        })
    }
    fn op(&mut self, def: &'static OpDef, operands: &[Value]) -> Made {
        self.draft.make(def, operands)
    }
    fn with(&mut self, def: &'static OpDef, x: Value, number: f64) -> Made {
        let dtype = self.draft.dtype(x);
        let ty = self.draft.ir.scalar(dtype);
        let number = self.draft.number(number, ty)?;
        self.op(def, &[x, number])
    }
    /// The numbers of features, over the whole tensor.
    fn spread(&mut self, of_features: Value) -> Made {
        let shape = self.shape.clone();
        self.draft.broadcast(of_features, &[self.axis], &shape)
    }
    fn sum(&mut self, x: Value) -> Made {
        let mut b = self.draft.builder();
        let clause = [b.ints("dims", &self.others)];
        Ok(b.value(&fusion::SUM, &[x], &clause)?)
    }
    fn mean(&mut self, x: Value) -> Made {
        let sum = self.sum(x)?;
        self.with(&fusion::DIV, sum, self.count)
    }
    /// `x - mean`
    fn centred(&mut self, x: Value, mean: Value) -> Made {
        let mean = self.spread(mean)?;
        self.op(&fusion::SUB, &[x, mean])
    }
    /// `1 / sqrt(variance + epsilon)` of each feature.
    fn inverse(&mut self, variance: Value) -> Made {
        let sum = self.with(&fusion::ADD, variance, self.epsilon)?;
        self.op(&fusion::RSQRT, &[sum])
    }
    fn normalized(&mut self, x: Value, [scale, offset, mean, variance]: [Value; 4]) -> Made {
        let centred = self.centred(x, mean)?;
        let inverse = self.inverse(variance)?;
        let factor = self.op(&fusion::MUL, &[inverse, scale])?;
        let (factor, offset) = (self.spread(factor)?, self.spread(offset)?);
        let scaled = self.op(&fusion::MUL, &[centred, factor])?;
        self.op(&fusion::ADD, &[scaled, offset])
    }
}

fn operands<const N: usize>(r: &Reading<'_>) -> Made<[Value; N]> {
    let taken = <[Value; N]>::try_from(r.operands.as_slice());
    taken.map_err(|_| Fault::form(format!("takes {N} operands")))
}

/// `stablehlo.batch_norm_inference`
pub fn inference(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let [x, scale, offset, mean, variance] = operands(r)?;
    let mut norm = Norm::new(&mut im.draft, r)?;
    Ok(vec![norm.normalized(x, [scale, offset, mean, variance])?])
}

/// `stablehlo.batch_norm_training`: the result, means and variances.
pub fn training(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let [x, scale, offset] = operands(r)?;
    let mut norm = Norm::new(&mut im.draft, r)?;
    let mean = norm.mean(x)?;
    let centred = norm.centred(x, mean)?;
    let squares = norm.op(&fusion::MUL, &[centred, centred])?;
    let variance = norm.mean(squares)?;
    let y = norm.normalized(x, [scale, offset, mean, variance])?;
    Ok(vec![y, mean, variance])
}

/// `stablehlo.batch_norm_grad`: the gradients of operand, scale and offset.
pub fn gradients(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let [x, scale, mean, variance, dy] = operands(r)?;
    let mut norm = Norm::new(&mut im.draft, r)?;
    let centred = norm.centred(x, mean)?;
    let inverse = norm.inverse(variance)?;
    let wide = norm.spread(inverse)?;
    let unit = norm.op(&fusion::MUL, &[centred, wide])?;
    let product = norm.op(&fusion::MUL, &[dy, unit])?;
    let (by_scale, by_offset) = (norm.sum(product)?, norm.sum(dy)?);
    // (dy - mean(dy) - unit * mean(dy * unit)) * scale / sqrt(variance + epsilon)
    let [along, level] = [by_scale, by_offset].map(|sum| {
        let mean = norm.with(&fusion::DIV, sum, norm.count)?;
        norm.spread(mean)
    });
    let along = norm.op(&fusion::MUL, &[unit, along?])?;
    let rest = norm.op(&fusion::SUB, &[dy, level?])?;
    let rest = norm.op(&fusion::SUB, &[rest, along])?;
    let factor = norm.op(&fusion::MUL, &[scale, inverse])?;
    let factor = norm.spread(factor)?;
    let by_x = norm.op(&fusion::MUL, &[rest, factor])?;
    Ok(vec![by_x, by_scale, by_offset])
}
