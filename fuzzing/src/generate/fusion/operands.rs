//! Operands for an op: values that are there, or ones made to fit.
//!
//! A value fits by element type (a cast makes it fit) and by axes (a broadcast, an expand, or a new input of those
//! axes). Ops made here count as generated too, so casts and broadcasts are frequent, as in real programs.

use fuser_dialects::fusion;
use fuser_dialects::task::packed;
use fuser_ir::def::{DTypes, OpDef, Shape, TypeConstraint};
use fuser_ir::types::{Dim, Extent, ExtentExpr};
use fuser_ir::{AttrKind, DType, float};

use super::facts;
use super::maker::{Clause, Maker};
use super::shapes::{self, Axis};

impl Maker<'_> {
    /// A clause that is an element type.
    pub fn dtype_clause(&mut self, name: &'static str, dtype: DType) -> Clause {
        let ty = self.ir.scalar(dtype);
        (name, self.ir.attr(AttrKind::Type(ty)))
    }
    /// A clause that is a list of integers.
    pub fn ints_clause(&mut self, name: &'static str, values: &[i64]) -> Clause {
        (name, self.ir.i64_array_attr(values))
    }
    /// A clause of amounts.
    pub fn amounts_clause(&mut self, name: &'static str, values: &[ExtentExpr]) -> Option<Clause> {
        Some((name, self.ir.amounts_attr(values)?))
    }
    /// A clause that is a shape.
    pub fn shape_clause(&mut self, name: &'static str, axes: &[Axis]) -> Clause {
        (name, self.ir.attr(AttrKind::Extents(shapes::dims(axes))))
    }
    /// A clause that is a shape, of plain axes.
    pub fn plain_clause(&mut self, name: &'static str, axes: &[Axis]) -> Clause {
        let dims = axes.iter().map(|a| Dim::new(a.dim.extent)).collect();
        (name, self.ir.attr(AttrKind::Extents(dims)))
    }
    /// A clause without a value.
    pub fn flag_clause(&mut self, name: &'static str) -> Clause {
        (name, self.ir.attr(AttrKind::Unit))
    }

    /// An elementwise op; `None` if the exact tier excludes it.
    pub fn pointwise(
        &mut self,
        def: &'static OpDef,
        operands: &[usize],
        clauses: &[Clause],
    ) -> Option<usize> {
        let (from, axes, known) = self.joined(operands);
        if self.is_exact() && !facts::admits(def, from, &known) {
            return None;
        }
        let made = self.emit(def, operands, clauses, axes, None)?;
        let slot = &mut self.slots[made];
        slot.fact = facts::elementwise(def, from, slot.dtype, &known);
        Some(made)
    }
    /// The element type of the last operand, the axes of the operand with the most axes, and the facts of all operands.
    fn joined(&self, operands: &[usize]) -> (DType, Option<Vec<Axis>>, Vec<facts::Fact>) {
        let slots: Vec<_> = operands.iter().map(|i| &self.slots[*i]).collect();
        let from = slots.last().map_or(DType::F32, |s| s.dtype);
        let widest = slots.iter().max_by_key(|s| s.axes.len());
        let axes = widest.map(|s| s.axes.clone());
        (from, axes, slots.iter().map(|s| s.fact).collect())
    }

    /// The value converted to `to`.
    pub fn cast(&mut self, slot: usize, to: DType) -> Option<usize> {
        if self.slots[slot].dtype == to {
            return Some(slot);
        }
        let clause = self.dtype_clause("to", to);
        self.pointwise(&fusion::CAST, &[slot], &[clause])
    }
    /// A scalar or splat constant of a small integer, or of half of one in the bounded tier.
    pub fn constant(&mut self, dtype: DType, axes: Option<Vec<Axis>>) -> Option<usize> {
        if dtype.is_complex() {
            let real = self.constant(dtype.part(), axes.clone())?;
            let imaginary = self.constant(dtype.part(), axes)?;
            return self.pointwise(&fusion::COMPLEX, &[real, imaginary], &[]);
        }
        let low = if dtype.is_signed() { -3 } else { 0 };
        let whole = self
            .source
            .range(low, if dtype == DType::I1 { 1 } else { 4 });
        let element = self.ir.scalar(dtype);
        let fraction = !self.is_exact() && dtype.is_float();
        let kind = match (dtype, dtype.is_float()) {
            (DType::I1, _) => AttrKind::Bool(whole != 0),
            (_, true) => AttrKind::Float {
                bits: float::nearest(dtype, whole as f64 / if fraction { 2.0 } else { 1.0 }),
                ty: element,
            },
            (_, false) => AttrKind::Int {
                value: whole.into(),
                ty: element,
            },
        };
        let value = self.ir.attr(kind);
        let ty = match &axes {
            Some(axes) => self.tensor_type(axes, dtype),
            None => element,
        };
        let fact = facts::rounded(dtype, whole.unsigned_abs()).filter(|_| !fraction);
        self.emit_typed(
            &fusion::CONSTANT,
            &[],
            &[("value", value)],
            None,
            fact,
            Some(ty),
        )
    }

    /// An element type that all operands of the table can have, conditions excepted.
    pub fn common_dtype(&mut self, def: &OpDef) -> Option<DType> {
        let data = def.operands.iter().filter(|o| o.ty.dtypes != DTypes::BOOL);
        let sets: Vec<DTypes> = data.map(|o| o.ty.dtypes).collect();
        let known = match self.config.complex {
            true => &DType::ALL[..],
            false => &DType::REAL[..],
        };
        let packed = self.config.packed;
        let fits =
            |d: &DType| sets.iter().all(|s| s.contains(*d)) && (packed || *d != packed::DTYPE);
        let mut all: Vec<DType> = known.iter().copied().filter(fits).collect();
        let complex = all.iter().any(|dtype| dtype.is_complex());
        if complex && self.source.chance(1, 3) {
            all.retain(|dtype| dtype.is_complex());
        }
        if all.contains(&packed::DTYPE) && self.source.chance(1, 2) {
            all.retain(|dtype| *dtype == packed::DTYPE);
        }
        let recent = self.any_slot().map(|i| self.slots[i].dtype);
        match recent.filter(|d| all.contains(d) && self.source.chance(3, 4)) {
            Some(dtype) => Some(dtype),
            None => self.source.pick(&all).copied(),
        }
    }
    /// A first operand of element type `dtype` that a constraint admits.
    pub fn leading(
        &mut self,
        constraint: TypeConstraint,
        dtype: DType,
        known: bool,
    ) -> Option<usize> {
        let tensor = constraint.shape == Shape::Tensor;
        let any_shape =
            |s: &super::maker::Slot| !(tensor && s.scalar) && (!known || shapes::is_known(&s.axes));
        let found = match self.source.below(8) {
            0 => None,
            1 | 2 => self.slot_where(any_shape),
            _ => self.slot_where(|s| any_shape(s) && s.dtype == dtype),
        };
        match found {
            Some(slot) => self.cast(slot, dtype),
            None => {
                let fresh = self.fresh(dtype);
                any_shape(&self.slots[fresh]).then_some(fresh)
            }
        }
    }
    /// A further operand of element type `dtype` for a value with axes `axes`.
    pub fn beside(&mut self, axes: &[Axis], dtype: DType) -> Option<usize> {
        if !shapes::is_known(axes) {
            return self.constant(dtype, None);
        }
        let same = |s: &super::maker::Slot| lengths_agree(&s.axes, axes) && !s.scalar;
        match self.source.below(10) {
            0 => self.constant(dtype, None),
            1 => self.scalar(dtype),
            2 => Some(self.similar(axes, dtype)),
            3 => self.constant(dtype, Some(axes.to_vec())),
            4 | 5 => self.spread(axes, dtype),
            6 => {
                let slot = self.slot_where(same);
                slot.and_then(|slot| self.cast(slot, dtype))
            }
            _ => match self.slot_where(|s| same(s) && s.dtype == dtype) {
                Some(slot) => Some(slot),
                None => Some(self.similar(axes, dtype)),
            },
        }
    }
    fn scalar(&mut self, dtype: DType) -> Option<usize> {
        match self.slot_where(|s| s.axes.is_empty() && s.dtype == dtype) {
            Some(slot) => Some(slot),
            None => {
                let scalar = self.source.chance(1, 2);
                Some(self.input(Vec::new(), dtype, scalar))
            }
        }
    }
    /// A new input of these axes, some of them stored once.
    fn similar(&mut self, axes: &[Axis], dtype: DType) -> usize {
        let mut axes = axes.to_vec();
        for axis in &mut axes {
            axis.dim.broadcast = self.source.chance(1, 12);
        }
        self.input(axes, dtype, false)
    }
    /// A value on some of the axes, broadcast to all.
    pub fn spread(&mut self, axes: &[Axis], dtype: DType) -> Option<usize> {
        let kept: Vec<usize> = (0..axes.len())
            .filter(|_| self.source.chance(1, 2))
            .collect();
        let part: Vec<Axis> = kept.iter().map(|i| plain(axes[*i])).collect();
        let found = self.slot_where(|s| {
            s.dtype == dtype && lengths_agree(&s.axes, &part) && (!s.scalar || part.is_empty())
        });
        let operand = match found {
            Some(slot) => slot,
            None => self.input(part, dtype, false),
        };
        self.broadcast(operand, &kept, axes)
    }
    /// `fusion.broadcast` of a value whose axes become the axes `kept` of `axes`.
    pub fn broadcast(&mut self, operand: usize, kept: &[usize], axes: &[Axis]) -> Option<usize> {
        let dims: Vec<i64> = kept.iter().map(|i| *i as i64).collect();
        let dims = self.ints_clause("dims", &dims);
        let shape = self.plain_clause("shape", axes);
        let fact = self.slots[operand].fact;
        self.emit(&fusion::BROADCAST, &[operand], &[dims, shape], None, fact)
    }
}

/// The axis as a plain one.
pub fn plain(axis: Axis) -> Axis {
    let dim = Dim::new(axis.dim.extent);
    Axis { dim, ..axis }
}

/// True if the extents are the same, `b` or not.
pub fn lengths_agree(a: &[Axis], b: &[Axis]) -> bool {
    let same =
        |(x, y): (&Axis, &Axis)| x.dim.extent == y.dim.extent && x.dim.extent != Extent::Unknown;
    a.len() == b.len() && a.iter().zip(b).all(same)
}
