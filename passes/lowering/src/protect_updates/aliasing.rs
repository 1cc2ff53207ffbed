//! The test that one kernel may read and write the same memory.
//!
//! It may if each element is read before it is written, and never again. A step of a sweep loads what a nest of loops
//! needs before the nest stores, so it is enough that
//! - the result varies along every loop of the sweep, so that each of its elements belongs to one point of the space;
//! - the argument has that very element at that point: the same strides along every loop, and no slice, pad or cat reads
//!   another one;
//! - nothing computed from the argument without a reduction between is needed in a later phase than the one that stores,
//!   for it might be read again there.
//!
//! A result that is put together from partial sums is written when all have read the argument: by a second kernel, or by the last block of
//! a GPU that ends. Where that is the last of one place only, other blocks may still read.
//!
//! Works on a copy of the program, made once, in which phases are dissolved as lowering does it.

use fuser_analysis::axes::Axes;
use fuser_dialects::task;
use fuser_dialects::task::outline::dissolve;
use fuser_ir::{Ir, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::spec::{Along, Role, SweepSpec};

/// Answers for the sweeps of one program.
#[derive(Debug, Default)]
pub struct Aliasing {
    copy: Option<Ir>,
    /// For each queried sweep, its ops without phases in the copy.
    flat: FxHashMap<Op, Vec<(Op, usize)>>,
}

impl Aliasing {
    /// True if result `index` of `sweep` may be written over the argument whose names satisfy `old`.
    pub fn same(&mut self, ir: &Ir, sweep: Op, index: usize, old: impl Fn(Value) -> bool) -> bool {
        let copy = self.copy.get_or_insert_with(|| ir.clone());
        let flat = self.flat.entry(sweep);
        let ops = flat.or_insert_with(|| flatten(copy, sweep));
        same(copy, sweep, index, ops, old).unwrap_or(false)
    }
}

/// The ops of a sweep with the number of the phase of each; phases are dissolved.
fn flatten(ir: &mut Ir, sweep: Op) -> Vec<(Op, usize)> {
    let mut ops = Vec::new();
    let mut phase = 0;
    for child in ir.children(sweep) {
        if ir.is(child, &task::PHASE) {
            let inner = ir.children(child);
            ops.extend(inner.into_iter().map(|op| (op, phase)));
            dissolve(ir, child);
            phase += 1;
        } else {
            ops.push((child, phase));
        }
    }
    ops.retain(|&(op, _)| !ir.is_erased(op) && !ir.is(op, &task::YIELD));
    ops
}

fn same(
    ir: &Ir,
    sweep: Op,
    index: usize,
    ops: &[(Op, usize)],
    old: impl Fn(Value) -> bool,
) -> Option<bool> {
    let list: Vec<Op> = ops.iter().map(|(op, _)| *op).collect();
    let axes = Axes::build(ir, &list).ok()?;
    let spec = SweepSpec::read(ir, sweep, &axes).ok()?;
    let end = ir.terminator(ir.body(sweep, 0)?)?;
    let result = ir.operands(end).nth(index)?;
    let producer = ir.def_op(result)?;
    let &(_, phase) = ops.iter().find(|(op, _)| *op == producer)?;
    let reduced = axes.reduced(producer);
    let operands = list.iter().flat_map(|&op| ir.operands(op));
    let forms: FxHashSet<Value> = operands.filter(|&v| old(v)).collect();
    let grid = spec.loops.iter().filter(|l| l.role == Role::Grid);
    let grid: Vec<_> = grid.flat_map(|l| &l.axes).copied().collect();
    if grid.iter().any(|a| reduced.contains(a)) {
        let places = spec.threads > 1 && axes.stored(result).any(|a| grid.contains(&a));
        return Some(!places || forms.is_empty());
    }
    // A window reads other elements than that of the point.
    let windows = list.iter().filter_map(|&op| axes.window(op));
    if windows.flat_map(|w| w.loads()).any(|v| forms.contains(&v)) {
        return Some(false);
    }
    for l in 0..spec.loops.len() {
        let at = spec.along(&axes, result, l)?;
        let differs = |&v: &Value| spec.along(&axes, v, l).as_ref() != Some(&at);
        if at == Along::Constant || forms.iter().any(differs) {
            return Some(false);
        }
    }
    let mut from = forms;
    for &(op, when) in ops {
        if !ir.operands(op).any(|v| from.contains(&v)) {
            continue;
        }
        if when > phase {
            return Some(false);
        }
        if axes.reduced(op).is_empty() {
            from.extend(ir.results(op));
        }
    }
    Some(true)
}
