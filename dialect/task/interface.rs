//! One interface to every task, from a single op to the whole program: its inputs, its outputs, their bytes.
//!
//! A [`Task`] is an op with all its regions, a list of ops, or a region. Answers are in program order, so they are a
//! function of the program alone. Takes time in the size of the task. Changes nothing.

use std::collections::BTreeMap;

use fuser_ir::types::ExtentExpr;
use fuser_ir::{Def, Ir, Op, Region, Sym, Traits, TypeId, TypeKind, Value};
use rustc_hash::FxHashSet;

/// A part of a program.
#[derive(Clone, Copy, Debug)]
pub enum Task<'a> {
    /// An op and all that is in its regions.
    Op(Op),
    /// Ops of one block, in order, and all that is in their regions.
    Ops(&'a [Op]),
    /// Everything in a region.
    Region(Region),
}

/// An operand slot: which op, which operand.
pub type Slot = (Op, usize);

impl Task<'_> {
    /// The ops directly in the task, in order.
    pub fn top(self, ir: &Ir) -> Vec<Op> {
        match self {
            Task::Op(op) => vec![op],
            Task::Ops(ops) => ops.to_vec(),
            Task::Region(region) => {
                let blocks = ir.region_blocks(region);
                blocks.flat_map(|b| ir.block_ops(b)).collect()
            }
        }
    }
    /// All ops of the task, nested ones included, in order.
    pub fn ops(self, ir: &Ir) -> Vec<Op> {
        let top = self.top(ir).into_iter();
        top.flat_map(|op| ir.walk(op)).collect()
    }
}

/// The values that a task defines: results of its ops and arguments of its blocks.
struct Inside {
    ops: FxHashSet<Op>,
    region: Option<Region>,
}

impl Inside {
    fn new(task: Task<'_>, ops: &[Op]) -> Self {
        let region = match task {
            Task::Region(region) => Some(region),
            _ => None,
        };
        let ops = ops.iter().copied().collect();
        Self { ops, region }
    }
    fn defines(&self, ir: &Ir, value: Value) -> bool {
        match ir.value_def(value) {
            Def::Result(op, _) => self.ops.contains(&op),
            Def::Arg(block, _) => {
                let own = self.region.is_some() && ir.block_region(block) == self.region;
                own || ir
                    .block_parent_op(block)
                    .is_some_and(|p| self.ops.contains(&p))
            }
        }
    }
}

/// The values that the task uses and does not define, in order of first use.
pub fn inputs(ir: &Ir, task: Task<'_>) -> Vec<Value> {
    let ops = task.ops(ir);
    let inside = Inside::new(task, &ops);
    let mut seen = FxHashSet::default();
    let operands = ops.iter().flat_map(|op| ir.operands(*op));
    operands
        .filter(|v| !inside.defines(ir, *v) && seen.insert(*v))
        .collect()
}

/// The outputs of a task: the results of an op (for a program, the values that it returns), the values yielded by a
/// region's last op, or the results of a list of ops that have users outside the list.
pub fn outputs(ir: &Ir, task: Task<'_>) -> Vec<Value> {
    match task {
        Task::Op(op) if ir.is(op, &super::PROGRAM) => {
            let region = ir.op_regions(op).first();
            region.map_or_else(Vec::new, |r| outputs(ir, Task::Region(*r)))
        }
        Task::Op(op) => ir.results(op).to_vec(),
        Task::Ops(ops) => escaping(ir, task, ops),
        Task::Region(region) => {
            let last = ir
                .region_blocks(region)
                .filter_map(|b| ir.terminator(b))
                .last();
            last.map_or_else(Vec::new, |op| ir.operands(op).collect())
        }
    }
}

fn escaping(ir: &Ir, task: Task<'_>, ops: &[Op]) -> Vec<Value> {
    let all: FxHashSet<Op> = task.ops(ir).into_iter().collect();
    let results = ops.iter().flat_map(|op| ir.results(*op)).copied();
    results
        .filter(|v| ir.users(*v).any(|user| !all.contains(&user)))
        .collect()
}

/// The operand slots of the task that use `value`, in program order.
pub fn uses(ir: &Ir, task: Task<'_>, value: Value) -> Vec<Slot> {
    let ops = task.ops(ir).into_iter();
    ops.flat_map(|op| {
        let slots = ir.operands(op).enumerate();
        let own = slots.filter(|(_, v)| *v == value);
        own.map(|(index, _)| (op, index)).collect::<Vec<_>>()
    })
    .collect()
}

/// True if the task may be computed a second time, moved, or left out if unused.
pub fn is_pure(ir: &Ir, task: Task<'_>) -> bool {
    let boundary = |op: Op| ir.def(op).is_some_and(|d| d.dialect() == "task");
    let ops = task.ops(ir);
    ops.into_iter()
        .all(|op| boundary(op) || ir.has(op, Traits::PURE))
}

/// Stored bytes of a value of this type as a polynomial of the named extents: a `b` axis is stored once. `None` if an
/// extent is `?`, the type has no elements, or a coefficient does not fit.
pub fn type_bytes(ir: &Ir, ty: TypeId) -> Option<ExtentExpr> {
    let kind = ir.ty(ty);
    let element = ExtentExpr::constant(i64::try_from(kind.dtype()?.bytes()).ok()?);
    let extents = match kind {
        TypeKind::Scalar(_) => vec![],
        TypeKind::Tensor(t) => t
            .dims
            .iter()
            .filter(|d| !d.broadcast)
            .map(|d| d.extent)
            .collect(),
        TypeKind::MemRef { dims, .. } => dims.clone(),
        TypeKind::Vector { shape, .. } => {
            shape.iter().map(|n| fuser_ir::Extent::Static(*n)).collect()
        }
        _ => return None,
    };
    let mut extents = extents.into_iter();
    extents.try_fold(element, |bytes, extent| {
        bytes.mul(&ir.extent_as_expr(extent)?)
    })
}

/// Stored bytes of a value; see [`type_bytes`].
pub fn bytes(ir: &Ir, value: Value) -> Option<ExtentExpr> {
    type_bytes(ir, ir.value_type(value))
}

/// Values of named extents.
pub type Bindings = BTreeMap<Sym, u64>;

/// The value of `expr` under `bindings`; `None` if a name is not bound, or the value negative or too large.
pub fn evaluate(expr: &ExtentExpr, bindings: &Bindings) -> Option<u64> {
    let mut sum = 0i128;
    for (names, coefficient) in &expr.terms {
        let mut term = i128::from(*coefficient);
        for name in names {
            term = term.checked_mul((*bindings.get(name)?).into())?;
        }
        sum = sum.checked_add(term)?;
    }
    u64::try_from(sum).ok()
}

/// Bytes of all of `values` together, under `bindings`.
pub fn total_bytes(ir: &Ir, values: &[Value], bindings: &Bindings) -> Option<u64> {
    values.iter().try_fold(0u64, |sum, value| {
        sum.checked_add(evaluate(&bytes(ir, *value)?, bindings)?)
    })
}

/// Bytes that cross the boundary of a task: inputs once, outputs once.
pub fn boundary_bytes(ir: &Ir, task: Task<'_>, bindings: &Bindings) -> Option<u64> {
    let read = total_bytes(ir, &inputs(ir, task), bindings)?;
    let written = total_bytes(ir, &outputs(ir, task), bindings)?;
    read.checked_add(written)
}
