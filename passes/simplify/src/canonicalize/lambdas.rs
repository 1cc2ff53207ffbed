//! The pattern of `canonicalize` for folds and scans with a lambda: accumulators and operands that nothing reads.
//!
//! ```text
//! %a:2 = fusion.scan %x, %y dim 1 init [0.0, 1.0] { ... }     // of which only the first is used, and depends on %x alone
//!   =>
//! %a = fusion.scan %x dim 1 init [0.0] { ... }
//! ```

use fuser_dialects::fusion::lambda::{copies, init, lambda};
use fuser_ir::attr::AttrKind;
use fuser_ir::ir::NewOp;
use fuser_ir::rewrite::{Pattern, Rewriter};
use fuser_ir::{Block, Ir, Op, Value};
use rustc_hash::FxHashSet;

pub static UNREAD_ACCUMULATOR: Pattern = Pattern {
    name: "unread-accumulator",
    summary: "accumulators that no used result depends on vanish, with the operands that only they read",
    roots: &["fusion.fold", "fusion.scan"],
    benefit: 1,
    rewrite: unread_accumulator,
};

fn unread_accumulator(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = rw.ir();
    let (Some((body, count)), Some(def)) = (lambda(ir, op), ir.def(op)) else {
        return false;
    };
    let results = ir.results(op).to_vec();
    let operands: Vec<Value> = ir.operands(op).collect();
    let dead = dead_arguments(ir, body, &results);
    let lives = |index: &usize| !dead.contains(index);
    let accumulators: Vec<usize> = (0..count).filter(lives).collect();
    // The extents of the results are those of all operands together.
    let dims = |index: usize| ir.value_kind(operands[index]).as_tensor().map(|t| &t.dims);
    let mut elements: Vec<usize> = (0..operands.len())
        .filter(|i| lives(&(count + i)))
        .collect();
    for index in 0..operands.len() {
        if elements.iter().all(|&other| dims(other) != dims(index)) {
            elements.push(index);
        }
    }
    elements.sort_unstable();
    // A lambda that is associative puts accumulators together as it does elements: they go in pairs.
    let pairs = ir.get_attr(op, "associative").is_none() || accumulators == elements;
    let all = accumulators.len() == count && elements.len() == operands.len();
    if all || accumulators.is_empty() || !pairs {
        return false;
    }
    let typed = |&i: &usize| (ir.value_type(results[i]), ir.value_name_sym(results[i]));
    let mut new = NewOp {
        operands: elements.iter().map(|&i| operands[i]).collect(),
        results: accumulators.iter().map(typed).collect(),
        attrs: ir.attrs(op).into(),
        ..NewOp::default()
    };
    let ir = rw.ir_mut();
    let Some((region, inner)) = copies(ir, op)
        .pop()
        .and_then(|region| Some((region, ir.entry_block(region)?)))
    else {
        return false;
    };
    let numbers = init(ir, op);
    let numbers = accumulators.iter().map(|&i| numbers[i]).collect();
    let numbers = (ir.sym("init"), ir.attr(AttrKind::Array(numbers)));
    for own in new.attrs.iter_mut().filter(|(name, _)| *name == numbers.0) {
        *own = numbers;
    }
    prune(ir, inner, count, &accumulators, &elements);
    new.regions.push(region);
    let made = rw.insert_before(op, def, new);
    let mut values = results;
    for (place, &index) in accumulators.iter().enumerate() {
        values[index] = rw.ir().result(made, place);
    }
    rw.replace(op, &values);
    true
}

/// The arguments of a lambda, by number, on which no used value of `results` depends.
fn dead_arguments(ir: &Ir, body: Block, results: &[Value]) -> FxHashSet<usize> {
    let args = ir.args(body);
    let mut ops: Vec<Op> = ir.block_ops(body).collect();
    let yielded: Vec<Value> = ops
        .pop()
        .map_or_else(Vec::new, |end| ir.operands(end).collect());
    let mut read: FxHashSet<Value> = FxHashSet::default();
    let mut live: Vec<bool> = results
        .iter()
        .map(|&r| ir.users(r).next().is_some())
        .collect();
    loop {
        let wanted = yielded.iter().zip(&live).filter(|(_, live)| **live);
        read.extend(wanted.map(|(&value, _)| value));
        for &op in ops.iter().rev() {
            if ir.results(op).iter().any(|value| read.contains(value)) {
                read.extend(ir.operands(op));
            }
        }
        let next: Vec<bool> = live
            .iter()
            .zip(args)
            .map(|(&live, arg)| live || read.contains(arg))
            .collect();
        if next == live {
            break;
        }
        live = next;
    }
    let dead = |&index: &usize| match live.get(index) {
        Some(live) => !live,
        None => !read.contains(&args[index]),
    };
    (0..args.len()).filter(dead).collect()
}

/// Leaves only these of the accumulators and elements of a lambda, and the ops that they need.
fn prune(ir: &mut Ir, body: Block, count: usize, accumulators: &[usize], elements: &[usize]) {
    let mut ops: Vec<Op> = ir.block_ops(body).collect();
    if let Some(end) = ops.pop() {
        let yielded: Vec<Value> = ir.operands(end).collect();
        let kept: Vec<Value> = accumulators.iter().map(|&i| yielded[i]).collect();
        ir.set_operands(end, &kept);
    }
    for op in ops.into_iter().rev() {
        if ir
            .results(op)
            .iter()
            .all(|&value| ir.users(value).next().is_none())
        {
            ir.erase(op);
        }
    }
    for index in (0..ir.args(body).len()).rev() {
        let kept = match index.checked_sub(count) {
            Some(element) => elements.contains(&element),
            None => accumulators.contains(&index),
        };
        if !kept {
            ir.remove_arg(body, index);
        }
    }
}
