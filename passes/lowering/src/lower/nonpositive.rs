//! Detection of *nonpositive* floats: zero, less, or NaN. Each element of a row minus the maximum of that row is
//! nonpositive, and `exp` of such a number takes fewer instructions.
//!
//! ```text
//! %m = fusion.max %x dims [1]
//! %b = fusion.broadcast %m dims [0] shape [4, 8]
//! %d = fusion.sub %x, %b                                 %d is nonpositive: rounding keeps the order
//! ```
//!
//! Phases recompute values, so the reduced row may differ from the value read next to its maximum. The two only need to
//! be computed alike.

use fuser_dialects::kernel;
use fuser_ir::def::{Computes, OpClass};
use fuser_ir::{AttrKind, Op, Traits, Value};

use super::sweep::SweepLowering;

/// The most ops between a value and what it is compared by.
const REACH: usize = 8;

impl SweepLowering<'_> {
    /// Marks the function `made`, emitted for the unary op `op`, if its operand is known to be nonpositive.
    pub(super) fn note_nonpositive(&mut self, op: Op, made: Op) {
        let ir = self.ir();
        let function = ir.has(op, Traits::APPROXIMATE) && ir.operand_count(op) == 1;
        if function && self.is_nonpositive(ir.operand(op, 0)) {
            let unit = self.k.ir.attr(AttrKind::Unit);
            self.k.ir.set_attr(made, kernel::NONPOSITIVE, unit);
        }
    }
    fn is_nonpositive(&self, value: Value) -> bool {
        let ir = self.ir();
        let computes = |op: &Op| ir.computes(*op) == Some(Computes::Sub);
        let difference = ir.def_op(value).filter(computes);
        difference.is_some_and(|op| self.is_most(ir.operand(op, 1), ir.operand(op, 0)))
    }
    /// True if every element of `most` is the maximum of the row of `x` that contains it.
    fn is_most(&self, most: Value, x: Value) -> bool {
        let ir = self.ir();
        let Some(maximum) = self.maximum(most, REACH) else {
            return false;
        };
        let row = ir.operand(maximum, 0);
        // No axis at two places, or at another one: an element would meet another row's maximum.
        let axes: Vec<_> = self.axes.logical(x).collect();
        let once = |(n, axis)| !axes[..n].contains(axis);
        let mut dims = self.axes.value(most).iter().zip(self.axes.value(x));
        axes.iter().enumerate().all(once)
            && dims.all(|(most, x)| most.broadcast || most.axes == x.axes)
            && self.varies(most) == self.varies(ir.result(maximum, 0))
            && self.axes.logical(row).eq(axes.iter().copied())
            && self.is_alike(row, x, REACH)
    }
    /// A maximum over rows that no element of `value` exceeds. The program may take the greater of it and another
    /// value, or replace it where it is -inf. All elements of such a row are -inf, and stay so without the maximum.
    fn maximum(&self, value: Value, reach: usize) -> Option<Op> {
        let (ir, op) = (self.ir(), self.ir().def_op(value)?);
        let inner = |n| self.maximum(ir.operand(op, n), reach.checked_sub(1)?);
        let def = ir.def(op)?;
        match (def.class, def.computes) {
            (OpClass::Reduction, Some(Computes::Max | Computes::MaxNum)) => Some(op),
            (OpClass::Shape, _) if !def.shifts() && self.axes.window(op).is_none() => inner(0),
            (OpClass::Elementwise, Some(Computes::Max | Computes::MaxNum)) => {
                inner(0).or_else(|| inner(1))
            }
            (OpClass::Elementwise, Some(Computes::Choice))
                if self.is_least(ir.operand(op, 0), ir.operand(op, 2)) =>
            {
                inner(2)
            }
            _ => None,
        }
    }
    /// True if `test` says that `value` is -inf.
    fn is_least(&self, test: Value, value: Value) -> bool {
        let ir = self.ir();
        let infinite = |other: Value| {
            let constant = ir.def_op(other);
            let constant = constant.filter(|&op| ir.computes(op) == Some(Computes::Constant));
            match constant.and_then(|op| ir.attr_of(op, "value")) {
                Some(AttrKind::Float { bits, .. }) => f64::from_bits(*bits) == f64::NEG_INFINITY,
                _ => false,
            }
        };
        ir.def_op(test).is_some_and(|op| {
            ir.str_of(op, "predicate") == Some("eq")
                && ir.operand_count(op) == 2
                && ir.operand(op, 0) == value
                && infinite(ir.operand(op, 1))
        })
    }
    /// True if two values are the same, computed alike from the same.
    fn is_alike(&self, a: Value, b: Value, reach: usize) -> bool {
        let ir = self.ir();
        let made = || {
            let (made, other) = ir.def_op(a).zip(ir.def_op(b))?;
            let plain = [OpClass::Elementwise, OpClass::Creation, OpClass::Shape];
            let plain = plain.contains(&ir.def(made)?.class);
            let pairs = || ir.operands(made).zip(ir.operands(other));
            let alike = plain && reach > 0 && ir.is_alike(made, other);
            Some(alike && pairs().all(|(a, b)| self.is_alike(a, b, reach - 1)))
        };
        a == b || made().unwrap_or(false)
    }
}
