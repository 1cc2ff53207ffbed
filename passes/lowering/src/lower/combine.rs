//! Accumulation of reductions and scans: type, identity, combining op. One table for loops, lanes and threads.

use fuser_dialects::fusion;
use fuser_ir::def::{Computes, OpClass, OpDef};
use fuser_ir::{DType, Ir, Op, Value};

use super::build::KernelBuilder;

/// The ways of putting elements together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Combine {
    /// Sum.
    Add,
    /// Product.
    Mul,
    /// Maximum, NaN wins.
    Max,
    /// Minimum, NaN wins.
    Min,
    /// Maximum of what is not NaN.
    MaxNum,
    /// Minimum of what is not NaN.
    MinNum,
}

impl Combine {
    /// The way of a reduction op.
    pub fn of(ir: &Ir, op: Op) -> Option<Combine> {
        Self::of_class(ir, op, OpClass::Reduction)
    }
    /// The way of a scan op.
    pub fn of_scan(ir: &Ir, op: Op) -> Option<Combine> {
        Self::of_class(ir, op, OpClass::Scan)
    }
    fn of_class(ir: &Ir, op: Op, class: OpClass) -> Option<Combine> {
        let def = ir.def(op).filter(|d| d.class == class)?;
        match def.computes? {
            Computes::Add => Some(Combine::Add),
            Computes::Mul => Some(Combine::Mul),
            Computes::Max => Some(Combine::Max),
            Computes::Min => Some(Combine::Min),
            Computes::MaxNum => Some(Combine::MaxNum),
            Computes::MinNum => Some(Combine::MinNum),
            Computes::Constant | Computes::Full | Computes::Index | Computes::Size => None,
            Computes::Sub | Computes::Div | Computes::Rem => None,
            Computes::And | Computes::Choice | Computes::Cast | Computes::Composite => None,
        }
    }
    /// The name in `kernel.reduce` and in the `combine` clause of loops.
    pub const fn name(self) -> &'static str {
        match self {
            Combine::Add => "add",
            Combine::Mul => "mul",
            Combine::Max => "max",
            Combine::Min => "min",
            Combine::MaxNum => "max_num",
            Combine::MinNum => "min_num",
        }
    }
    /// The elementwise op.
    pub fn def(self) -> &'static OpDef {
        match self {
            Combine::Add => &fusion::ADD,
            Combine::Mul => &fusion::MUL,
            Combine::Max => &fusion::MAXIMUM,
            Combine::Min => &fusion::MINIMUM,
            Combine::MaxNum => &fusion::FMAX,
            Combine::MinNum => &fusion::FMIN,
        }
    }
    /// The type in which elements of `dtype` accumulate.
    pub fn accumulator(self, dtype: DType) -> DType {
        match self {
            Combine::Add | Combine::Mul => dtype.accumulate(),
            _ => dtype.compute(),
        }
    }
    /// An element that keeps every bit of the other, in the accumulator type of `dtype`: what scans begin with. The neutral element
    /// `+0` of a sum does not keep `-0`.
    pub fn start(self, k: &mut KernelBuilder, dtype: DType) -> Value {
        let acc = self.accumulator(dtype);
        match self {
            Combine::Add if acc.is_float() => k.float_constant(-0.0, acc),
            _ => self.identity(k, dtype),
        }
    }
    /// The neutral element, in the accumulator type of `dtype`.
    pub fn identity(self, k: &mut KernelBuilder, dtype: DType) -> Value {
        let acc = self.accumulator(dtype);
        if acc.is_float() {
            return k.float_constant(self.float_identity(), acc);
        }
        let (lowest, highest) = acc.int_range();
        let value = match self {
            Combine::Add => 0,
            Combine::Mul => 1,
            Combine::Max | Combine::MaxNum => lowest,
            Combine::Min | Combine::MinNum => highest,
        };
        k.int_constant(value, acc)
    }
    const fn float_identity(self) -> f64 {
        match self {
            Combine::Add => 0.0,
            Combine::Mul => 1.0,
            Combine::Max | Combine::MaxNum => f64::NEG_INFINITY,
            Combine::Min | Combine::MinNum => f64::INFINITY,
        }
    }
    /// `a` and `b` together.
    pub fn apply(self, k: &mut KernelBuilder, a: Value, b: Value) -> Value {
        k.binary(self.def(), a, b)
    }
}
