//! Combination of partial results of a reduction.

use fuser_ir::DType;

use super::constant::float_constant;
use super::extremes::{maximum, maximum_number, minimum, minimum_number};
use super::numeric::{max_int, min_int};
use super::{Rule, binary};
use crate::expr::{Emit, Val};
use crate::lower::types::Shape;

/// An operation that combines partial results, with its neutral element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combiner {
    Add,
    Mul,
    Max,
    Min,
    MaxNum,
    MinNum,
}

impl Combiner {
    /// The combiner of a word of the `combine` clause.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "add" => Combiner::Add,
            "mul" => Combiner::Mul,
            "max" => Combiner::Max,
            "min" => Combiner::Min,
            "max_num" => Combiner::MaxNum,
            "min_num" => Combiner::MinNum,
            _ => return None,
        })
    }

    fn rule(self) -> Rule {
        match self {
            Combiner::Add => Rule::NumericPair(|a, b| (a + b).contracted(), |a, b, _| a + b),
            Combiner::Mul => Rule::NumericPair(|a, b| a * b, |a, b, _| a * b),
            Combiner::Max => Rule::NumericPair(maximum, max_int),
            Combiner::Min => Rule::NumericPair(minimum, min_int),
            Combiner::MaxNum => Rule::NumericPair(maximum_number, max_int),
            Combiner::MinNum => Rule::NumericPair(minimum_number, min_int),
        }
    }

    /// Two partial results as one.
    pub fn apply<'e, 'ctx>(
        self,
        a: Val<'e, 'ctx>,
        b: Val<'e, 'ctx>,
        dtype: DType,
    ) -> Val<'e, 'ctx> {
        binary(self.rule(), a, b, dtype).unwrap_or(a)
    }

    /// The neutral element: `-0.0` for sums, so that a sum of negative zeros keeps its sign.
    pub fn identity<'e, 'ctx>(self, emit: &'e Emit<'ctx>, shape: Shape) -> Val<'e, 'ctx> {
        let (dtype, lanes) = (shape.dtype, shape.lanes);
        if dtype.is_float() {
            let value = match self {
                Combiner::Add => -0.0,
                Combiner::Mul => 1.0,
                Combiner::Max | Combiner::MaxNum => f64::NEG_INFINITY,
                Combiner::Min | Combiner::MinNum => f64::INFINITY,
            };
            return float_constant(emit, value, shape);
        }
        let (least, most) = dtype.int_range();
        let value = match self {
            Combiner::Add => 0,
            Combiner::Mul => 1,
            Combiner::Max | Combiner::MaxNum => least,
            Combiner::Min | Combiner::MinNum => most,
        };
        emit.constant_int(dtype.bits(), lanes, value as i64)
    }
}
