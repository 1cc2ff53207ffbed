//! Building kernels: functions, loops with a body closure, memory access.

use fuser_ir::attr::AttrKind;
use fuser_ir::build::{Builder, Clause};
use fuser_ir::def::OpError;
use fuser_ir::types::{DType, Extent, MemSpace, TypeKind};
use fuser_ir::{Block, Ir, NewOp, Op, Region, TypeId, Value};
use smallvec::SmallVec;

use super::ops::*;

/// A loop before it is made.
#[derive(Clone, Copy, Debug)]
pub struct Loop<'a> {
    /// First value.
    pub lower: Value,
    /// One past the last value.
    pub upper: Value,
    /// Increment.
    pub step: Value,
    /// Initial values of the iteration arguments.
    pub init: &'a [Value],
    /// `seq`, `grid` or `thread`.
    pub map: &'a str,
    /// The word of `combine` for each iteration argument; empty if the loop combines nothing over threads.
    pub combine: &'a [&'a str],
}

/// Building of `kernel` ops.
pub trait KernelBuilder {
    /// `kernel.for`. `body` gets the block (induction variable, then iteration arguments) and returns the next values.
    /// The results of the op are the last values.
    fn for_loop(
        &mut self,
        spec: Loop<'_>,
        body: impl FnOnce(&mut Builder<'_>, &[Value]) -> Result<Vec<Value>, OpError>,
    ) -> Result<Op, OpError>;
    /// `kernel.if` with both branches; each gives the results.
    fn if_else(
        &mut self,
        condition: Value,
        then: impl FnOnce(&mut Builder<'_>) -> Result<Vec<Value>, OpError>,
        otherwise: impl FnOnce(&mut Builder<'_>) -> Result<Vec<Value>, OpError>,
    ) -> Result<Op, OpError>;
    /// `kernel.load` of one element.
    fn load(&mut self, memory: Value, index: Value) -> Result<Value, OpError>;
    /// `kernel.load` of `lanes` elements.
    fn load_vector(&mut self, memory: Value, index: Value, lanes: u64) -> Result<Value, OpError>;
    /// `kernel.store`
    fn store(&mut self, value: Value, memory: Value, index: Value) -> Result<Op, OpError>;
    /// `kernel.prefetch`
    fn prefetch(&mut self, memory: Value, index: Value) -> Result<Op, OpError>;
    /// `kernel.alloc` of a static number of elements.
    fn alloc(&mut self, elements: u64, dtype: DType, space: MemSpace) -> Result<Value, OpError>;
    /// `kernel.splat`
    fn splat(&mut self, value: Value, lanes: u64) -> Result<Value, OpError>;
    /// `kernel.barrier`
    fn barrier(&mut self) -> Result<Op, OpError>;
}

impl KernelBuilder for Builder<'_> {
    fn for_loop(
        &mut self,
        spec: Loop<'_>,
        body: impl FnOnce(&mut Builder<'_>, &[Value]) -> Result<Vec<Value>, OpError>,
    ) -> Result<Op, OpError> {
        let mut types = vec![self.ir.scalar(DType::Index)];
        types.extend(spec.init.iter().map(|v| self.ir.value_type(*v)));
        let (region, block) = self.region(&types);
        let args = self.ir.args(block).to_vec();
        self.inside(block, |b| {
            let next = body(b, &args)?;
            b.op(&YIELD, &next, &[])
        })?;
        let operands = [&[spec.lower, spec.upper, spec.step], spec.init].concat();
        let mut clauses = vec![self.word("map", spec.map)];
        if !spec.combine.is_empty() {
            clauses.push(self.words("combine", spec.combine));
        }
        self.build(&FOR, &operands, &clauses, &[region], None)
    }
    fn if_else(
        &mut self,
        condition: Value,
        then: impl FnOnce(&mut Builder<'_>) -> Result<Vec<Value>, OpError>,
        otherwise: impl FnOnce(&mut Builder<'_>) -> Result<Vec<Value>, OpError>,
    ) -> Result<Op, OpError> {
        let first = branch(self, then)?;
        let second = branch(self, otherwise)?;
        self.build(&IF, &[condition], &[], &[first, second], None)
    }
    fn load(&mut self, memory: Value, index: Value) -> Result<Value, OpError> {
        self.value(&LOAD, &[memory, index], &[])
    }
    fn load_vector(&mut self, memory: Value, index: Value, lanes: u64) -> Result<Value, OpError> {
        let ty = vector_of(self.ir, memory, lanes)?;
        self.typed(&LOAD, &[memory, index], &[], ty)
    }
    fn store(&mut self, value: Value, memory: Value, index: Value) -> Result<Op, OpError> {
        self.op(&STORE, &[value, memory, index], &[])
    }
    fn prefetch(&mut self, memory: Value, index: Value) -> Result<Op, OpError> {
        self.op(&PREFETCH, &[memory, index], &[])
    }
    fn alloc(&mut self, elements: u64, dtype: DType, space: MemSpace) -> Result<Value, OpError> {
        let dims = vec![Extent::Static(elements)];
        let ty = self.ir.type_id(TypeKind::MemRef { dims, dtype, space });
        self.typed(&ALLOC, &[], &[], ty)
    }
    fn splat(&mut self, value: Value, lanes: u64) -> Result<Value, OpError> {
        let ty = vector_of(self.ir, value, lanes)?;
        self.typed(&SPLAT, &[value], &[], ty)
    }
    fn barrier(&mut self) -> Result<Op, OpError> {
        self.op(&BARRIER, &[], &[])
    }
}

fn branch(
    builder: &mut Builder<'_>,
    body: impl FnOnce(&mut Builder<'_>) -> Result<Vec<Value>, OpError>,
) -> Result<Region, OpError> {
    let (region, block) = builder.region(&[]);
    builder.inside(block, |b| {
        let values = body(b)?;
        b.op(&YIELD, &values, &[])
    })?;
    Ok(region)
}

fn vector_of(ir: &mut Ir, value: Value, lanes: u64) -> Result<TypeId, OpError> {
    match ir.value_kind(value).dtype() {
        Some(dtype) => Ok(ir.vector(lanes, dtype)),
        None => Err(OpError::new("has no element type")),
    }
}

/// Makes an empty `kernel.func` (without its `kernel.return`) at the end of `module`'s block and gives its body.
pub fn function(ir: &mut Ir, module: Block, name: &str, params: &[TypeId]) -> (Op, Block) {
    let region = ir.new_region();
    let block = ir.append_block(region);
    for ty in params {
        ir.append_arg(block, *ty, None);
    }
    let signature = ir.function_type(params.to_vec(), Vec::new());
    let signature = ir.attr(AttrKind::Type(signature));
    let name = ir.string_attr(name);
    let attrs: [Clause<'_>; 2] = [("sym_name", name), ("function_type", signature)];
    let attrs = attrs.into_iter().map(|(key, attr)| (ir.sym(key), attr));
    let new = NewOp {
        attrs: attrs.collect(),
        regions: SmallVec::from_elem(region, 1),
        ..NewOp::default()
    };
    let op = ir.create_op(&FUNC, new);
    ir.append_op(module, op);
    (op, block)
}
