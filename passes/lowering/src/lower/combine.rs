//! Combining functions of reductions and scans: type, identity, combining op. One table serves loops, lanes and
//! threads.

use fuser_dialects::fusion;
use fuser_dialects::fusion::fold::constants;
use fuser_dialects::fusion::fold::scalar::Scalar;
use fuser_ir::def::{Computes, OpClass, OpDef};
use fuser_ir::{AttrId, DType, Ir, Op, Value};

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
    /// The later value; the payload number stands for an absent one. Not commutative: elements are combined in order.
    Last(AttrId),
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
    /// The way of an op of two elements.
    pub fn of_elementwise(ir: &Ir, op: Op) -> Option<Combine> {
        Self::of_class(ir, op, OpClass::Elementwise)
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
            Computes::Last => ir.get_attr(op, "otherwise").map(Combine::Last),
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
            Combine::Last(_) => "last",
        }
    }
    /// The elementwise op; none where no op is needed.
    fn def(self) -> Option<&'static OpDef> {
        Some(match self {
            Combine::Add => &fusion::ADD,
            Combine::Mul => &fusion::MUL,
            Combine::Max => &fusion::MAXIMUM,
            Combine::Min => &fusion::MINIMUM,
            Combine::MaxNum => &fusion::FMAX,
            Combine::MinNum => &fusion::FMIN,
            Combine::Last(_) => return None,
        })
    }
    /// True if elements must be combined one by one in order, so that neither lanes nor threads may share them.
    pub const fn is_ordered(self) -> bool {
        matches!(self, Combine::Last(_))
    }
    /// The type in which elements of `dtype` accumulate.
    pub fn accumulator(self, dtype: DType) -> DType {
        match self {
            Combine::Add | Combine::Mul => dtype.accumulate(),
            // Every bit is kept.
            Combine::Last(_) => dtype,
            _ => dtype.compute(),
        }
    }
    /// The initial value of a scan: combining it with an element leaves every bit of that element unchanged. It has the
    /// accumulator type of `dtype`. The neutral element `+0` of a sum would not preserve `-0`.
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
        if let Combine::Last(otherwise) = self {
            return element(k, otherwise, dtype);
        }
        if acc.is_float() {
            return k.float_constant(self.float_identity(), acc);
        }
        let (lowest, highest) = acc.int_range();
        let value = match self {
            Combine::Add | Combine::Last(_) => 0,
            Combine::Mul => 1,
            Combine::Max | Combine::MaxNum => lowest,
            Combine::Min | Combine::MinNum => highest,
        };
        k.int_constant(value, acc)
    }
    const fn float_identity(self) -> f64 {
        match self {
            Combine::Add | Combine::Last(_) => 0.0,
            Combine::Mul => 1.0,
            Combine::Max | Combine::MaxNum => f64::NEG_INFINITY,
            Combine::Min | Combine::MinNum => f64::INFINITY,
        }
    }
    /// `a` and `b` together.
    pub fn apply(self, k: &mut KernelBuilder, a: Value, b: Value) -> Value {
        match self.def() {
            Some(def) => k.binary(def, a, b),
            None => b,
        }
    }
}

/// A number of a clause, as an element of `dtype` in the computing type.
pub fn initial(k: &mut KernelBuilder, number: AttrId, dtype: DType) -> Value {
    let value = element(k, number, dtype);
    k.cast(value, dtype.compute())
}

/// A number of a clause as an element of `dtype`.
fn element(k: &mut KernelBuilder, number: AttrId, dtype: DType) -> Value {
    let known = constants::number(k.ir.attr_kind(number), dtype);
    let known = known.unwrap_or_else(|| Scalar::int(0, dtype));
    let ty = k.ir.scalar(dtype);
    let value = constants::attribute(k.ir, known, ty);
    k.value(&fusion::CONSTANT, &[], &[("value", value)], ty)
}
