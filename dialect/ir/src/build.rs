//! The builder of ops, in program order and with inferred types: the interface of lowering passes.
//!
//! ```text
//! let mut b = Builder::before(&mut ir, op);
//! let sum = b.value(&fusion::ADD, &[x, y], &[])?;
//! ```
//!
//! Every op is checked against its table and its types are inferred; a failure is the caller's mistake and comes back
//! as an [`OpError`]. Never leaves a half-made op behind.

use smallvec::SmallVec;

use crate::attr::{AttrId, AttrKind};
use crate::check;
use crate::def::{OpDef, OpError, OpParts};
use crate::intern::Sym;
use crate::ir::{Block, Ir, NewOp, Op, Region, Value};
use crate::loc::LocId;
use crate::types::{DType, Dim, ExtentExpr, TypeId};

/// An insertion point: the position at which new ops are put.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Point {
    /// After the last op of a block.
    End(Block),
    /// Before an op.
    Before(Op),
    /// Into no block.
    Detached,
}

/// A clause's name and value.
pub type Clause<'a> = (&'a str, AttrId);

/// Makes ops at an insertion point.
#[derive(Debug)]
pub struct Builder<'a> {
    /// The program.
    pub ir: &'a mut Ir,
    /// The insertion point of the next op.
    pub point: Point,
    /// Location of the next ops.
    pub loc: LocId,
}

impl<'a> Builder<'a> {
    /// Appends to `block`.
    pub fn at_end(ir: &'a mut Ir, block: Block) -> Self {
        let loc = ir.unknown_loc();
        let point = Point::End(block);
        Self { ir, point, loc }
    }
    /// Inserts before `op`, with its location.
    pub fn before(ir: &'a mut Ir, op: Op) -> Self {
        let loc = ir.op_loc(op);
        let point = Point::Before(op);
        Self { ir, point, loc }
    }
    /// Inserts after `op`, with its location.
    pub fn after(ir: &'a mut Ir, op: Op) -> Self {
        let loc = ir.op_loc(op);
        let point = match (ir.next_op(op), ir.parent_block(op)) {
            (Some(next), _) => Point::Before(next),
            (None, Some(block)) => Point::End(block),
            (None, None) => Point::Detached,
        };
        Self { ir, point, loc }
    }

    /// Makes an op with inferred types.
    pub fn op(
        &mut self,
        def: &'static OpDef,
        operands: &[Value],
        clauses: &[Clause<'_>],
    ) -> Result<Op, OpError> {
        self.build(def, operands, clauses, &[], None)
    }
    /// Makes an op and gives its first result.
    pub fn value(
        &mut self,
        def: &'static OpDef,
        operands: &[Value],
        clauses: &[Clause<'_>],
    ) -> Result<Value, OpError> {
        let op = self.op(def, operands, clauses)?;
        first_result(self.ir, op)
    }
    /// Makes an op whose one result has type `ty`, checked against inference.
    pub fn typed(
        &mut self,
        def: &'static OpDef,
        operands: &[Value],
        clauses: &[Clause<'_>],
        ty: TypeId,
    ) -> Result<Value, OpError> {
        let op = self.build(def, operands, clauses, &[], Some(&[ty]))?;
        first_result(self.ir, op)
    }
    /// Makes an op with everything: regions (filled already) and stated types.
    pub fn build(
        &mut self,
        def: &'static OpDef,
        operands: &[Value],
        clauses: &[Clause<'_>],
        regions: &[Region],
        stated: Option<&[TypeId]>,
    ) -> Result<Op, OpError> {
        let attrs: SmallVec<[(Sym, AttrId); 4]> = clauses
            .iter()
            .map(|(name, attr)| (self.ir.sym(name), *attr))
            .collect();
        let parts = OpParts {
            operands,
            attrs: &attrs,
            regions,
            stated,
        };
        let types = check::result_types(self.ir, def, parts).map_err(first_error)?;
        let op = self.ir.create_op(
            def,
            NewOp {
                operands: SmallVec::from_slice(operands),
                results: types.into_iter().map(|t| (t, None)).collect(),
                attrs,
                regions: SmallVec::from_slice(regions),
                successors: Vec::new(),
                loc: Some(self.loc),
            },
        );
        self.insert(op);
        Ok(op)
    }
    /// Puts a detached op at the insertion point.
    pub fn insert(&mut self, op: Op) {
        match self.point {
            Point::End(block) => self.ir.append_op(block, op),
            Point::Before(anchor) => self.ir.insert_before(anchor, op),
            Point::Detached => {}
        }
    }
    /// Makes a region with one block that has arguments of `types`.
    pub fn region(&mut self, types: &[TypeId]) -> (Region, Block) {
        let region = self.ir.new_region();
        let block = self.ir.append_block(region);
        for ty in types {
            self.ir.append_arg(block, *ty, None);
        }
        (region, block)
    }
    /// Runs `body` with `block`'s end as insertion point.
    pub fn inside<R>(&mut self, block: Block, body: impl FnOnce(&mut Builder<'_>) -> R) -> R {
        let mut inner = Builder {
            ir: self.ir,
            point: Point::End(block),
            loc: self.loc,
        };
        body(&mut inner)
    }

    /// A clause that is a list of integers.
    pub fn ints<'n>(&mut self, name: &'n str, values: &[i64]) -> Clause<'n> {
        (name, self.ir.i64_array_attr(values))
    }
    /// A clause of amounts; `None` if one is negative and another has names.
    pub fn amounts<'n>(&mut self, name: &'n str, values: &[ExtentExpr]) -> Option<Clause<'n>> {
        Some((name, self.ir.amounts_attr(values)?))
    }
    /// A clause that is an integer.
    pub fn int<'n>(&mut self, name: &'n str, value: i64) -> Clause<'n> {
        (name, self.ir.int_attr(value))
    }
    /// A clause that is a word or a string.
    pub fn word<'n>(&mut self, name: &'n str, value: &str) -> Clause<'n> {
        (name, self.ir.string_attr(value))
    }
    /// A clause that is a list of strings.
    pub fn words<'n>(&mut self, name: &'n str, values: &[&str]) -> Clause<'n> {
        (name, self.ir.string_array_attr(values))
    }
    /// A clause that is a shape.
    pub fn shape<'n>(&mut self, name: &'n str, dims: &[Dim]) -> Clause<'n> {
        (name, self.ir.attr(AttrKind::Extents(dims.to_vec())))
    }
    /// A clause that is an element type.
    pub fn dtype<'n>(&mut self, name: &'n str, dtype: DType) -> Clause<'n> {
        let ty = self.ir.scalar(dtype);
        (name, self.ir.attr(AttrKind::Type(ty)))
    }
    /// A clause without a value.
    pub fn flag<'n>(&mut self, name: &'n str) -> Clause<'n> {
        (name, self.ir.attr(AttrKind::Unit))
    }
}

fn first_result(ir: &Ir, op: Op) -> Result<Value, OpError> {
    let none = || OpError::new("has no result to give");
    ir.results(op).first().copied().ok_or_else(none)
}

fn first_error(errors: Vec<OpError>) -> OpError {
    let unknown = || OpError::new("does not fit its table");
    errors.into_iter().next().unwrap_or_else(unknown)
}
