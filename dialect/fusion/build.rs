//! Thin names for building `fusion` ops: `b.add(x, y)?` instead of `b.value(&ADD, &[x, y], &[])?`.

use fuser_ir::attr::AttrKind;
use fuser_ir::build::Builder;
use fuser_ir::def::{OpDef, OpError};
use fuser_ir::types::{DType, Dim, TypeId};
use fuser_ir::{Ir, Value, float};

use super::*;

/// The result of a builder: the new value, or the error of a check.
pub type Built = Result<Value, OpError>;

/// Building of `fusion` ops. Shapes and types come from inference.
pub trait FusionBuilder {
    /// An op with one operand and no clauses.
    fn unary(&mut self, def: &'static OpDef, x: Value) -> Built;
    /// An op with two operands and no clauses.
    fn binary(&mut self, def: &'static OpDef, x: Value, y: Value) -> Built;
    /// A constant of type `ty`: every element is `value`, rounded once to the element type.
    fn constant_float(&mut self, value: f64, ty: TypeId) -> Built;
    /// A constant of type `ty`: every element is `value`.
    fn constant_int(&mut self, value: impl Into<i128>, ty: TypeId) -> Built;
    /// `fusion.compare` with one of [`select::PREDICATES`].
    fn compare(&mut self, predicate: &str, x: Value, y: Value) -> Built;
    /// `fusion.where`
    fn choose(&mut self, condition: Value, then: Value, otherwise: Value) -> Built;
    /// `fusion.cast`, or the value itself where it has the element type already.
    fn cast(&mut self, x: Value, to: DType) -> Built;
    /// `fusion.broadcast`
    fn broadcast(&mut self, x: Value, dims: &[i64], shape: &[Dim]) -> Built;
    /// One of the reductions with a clause `dims`, without `keepdim`.
    fn reduce(&mut self, def: &'static OpDef, x: Value, dims: &[i64]) -> Built;

    /// `fusion.add`
    fn add(&mut self, x: Value, y: Value) -> Built {
        self.binary(&ADD, x, y)
    }
    /// `fusion.sub`
    fn sub(&mut self, x: Value, y: Value) -> Built {
        self.binary(&SUB, x, y)
    }
    /// `fusion.mul`
    fn mul(&mut self, x: Value, y: Value) -> Built {
        self.binary(&MUL, x, y)
    }
    /// `fusion.div`
    fn div(&mut self, x: Value, y: Value) -> Built {
        self.binary(&DIV, x, y)
    }
    /// `fusion.rem`
    fn rem(&mut self, x: Value, y: Value) -> Built {
        self.binary(&REM, x, y)
    }
    /// `fusion.minimum`
    fn minimum(&mut self, x: Value, y: Value) -> Built {
        self.binary(&MINIMUM, x, y)
    }
    /// `fusion.maximum`
    fn maximum(&mut self, x: Value, y: Value) -> Built {
        self.binary(&MAXIMUM, x, y)
    }
    /// A scalar f32.
    fn constant_f32(&mut self, value: f32) -> Built;
    /// A scalar `index`.
    fn constant_index(&mut self, value: i64) -> Built;
}

impl FusionBuilder for Builder<'_> {
    fn unary(&mut self, def: &'static OpDef, x: Value) -> Built {
        self.value(def, &[x], &[])
    }
    fn binary(&mut self, def: &'static OpDef, x: Value, y: Value) -> Built {
        self.value(def, &[x, y], &[])
    }
    fn constant_float(&mut self, value: f64, ty: TypeId) -> Built {
        let attr = float_attr(self.ir, value, ty);
        self.typed(&CONSTANT, &[], &[("value", attr)], ty)
    }
    fn constant_int(&mut self, value: impl Into<i128>, ty: TypeId) -> Built {
        let attr = int_attr(self.ir, value.into(), ty);
        self.typed(&CONSTANT, &[], &[("value", attr)], ty)
    }
    fn compare(&mut self, predicate: &str, x: Value, y: Value) -> Built {
        let predicate = self.word("predicate", predicate);
        self.value(&COMPARE, &[x, y], &[predicate])
    }
    fn choose(&mut self, condition: Value, then: Value, otherwise: Value) -> Built {
        self.value(&WHERE, &[condition, then, otherwise], &[])
    }
    fn cast(&mut self, x: Value, to: DType) -> Built {
        if self.ir.value_kind(x).dtype() == Some(to) {
            return Ok(x);
        }
        let to = self.dtype("to", to);
        self.value(&CAST, &[x], &[to])
    }
    fn broadcast(&mut self, x: Value, dims: &[i64], shape: &[Dim]) -> Built {
        let (dims, shape) = (self.ints("dims", dims), self.shape("shape", shape));
        self.value(&BROADCAST, &[x], &[dims, shape])
    }
    fn reduce(&mut self, def: &'static OpDef, x: Value, dims: &[i64]) -> Built {
        let dims = self.ints("dims", dims);
        self.value(def, &[x], &[dims])
    }
    fn constant_f32(&mut self, value: f32) -> Built {
        let ty = self.ir.scalar(DType::F32);
        self.constant_float(value.into(), ty)
    }
    fn constant_index(&mut self, value: i64) -> Built {
        let ty = self.ir.scalar(DType::Index);
        self.constant_int(value, ty)
    }
}

/// A float attribute for elements of `ty`.
pub fn float_attr(ir: &mut Ir, value: f64, ty: TypeId) -> fuser_ir::AttrId {
    let ty = element_type(ir, ty);
    // Rounds to a storage type, so that the printed decimal parses to the same bits.
    let small = ir.ty(ty).dtype().filter(|d| d.is_storage());
    let bits = small.map_or(value.to_bits(), |dtype| float::nearest(dtype, value));
    ir.attr(AttrKind::Float { bits, ty })
}

/// An integer attribute for elements of `ty`.
pub fn int_attr(ir: &mut Ir, value: i128, ty: TypeId) -> fuser_ir::AttrId {
    let ty = element_type(ir, ty);
    ir.attr(AttrKind::Int { value, ty })
}

fn element_type(ir: &mut Ir, ty: TypeId) -> TypeId {
    match ir.ty(ty).dtype() {
        Some(dtype) => ir.scalar(dtype),
        None => ty,
    }
}
