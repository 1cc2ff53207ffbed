//! Merges kernels that are equal but for their names.
//!
//! The layers of a network give the same kernel again and again. Two kernels are equal if their ops, operands, attributes, types
//! and regions are, in order; the names of values do not count. The first in the module stays, and launches of the
//! others call it.
//!
//! ```text
//! %a = kernel.launch %x callee @f_s0_0      %a = kernel.launch %x callee @f_s0_0
//! %b = kernel.launch %a callee @f_s1_0  =>  %b = kernel.launch %a callee @f_s0_0
//! kernel.func @f_s0_0(...) { ... }          kernel.func @f_s0_0(...) { ... }
//! kernel.func @f_s1_0(...) { ... }
//! ```
//!
//! Never erases a kernel that something other than a launch names. Linear in the number of ops; does not recurse.

use fuser_dialects::kernel;
use fuser_ir::attr::{AttrId, AttrKind};
use fuser_ir::intern::Sym;
use fuser_ir::ir::OpName;
use fuser_ir::symbols::symbol_uses;
use fuser_ir::{Block, Ir, Op, Region, TypeId, Value};
use fuser_pass::{PassContext, PassDef, StatDef};
use rustc_hash::{FxHashMap, FxHashSet};

const CALLEE: &str = "callee";
const NAME: &str = "sym_name";

/// `merge-kernels`
pub static MERGE_KERNELS: PassDef = PassDef {
    name: "merge-kernels",
    summary: "merges kernels that are equal but for their names",
    doc: "Kernels with the same ops, operands, attributes, types and regions, in the same order, become one, the first; launches of the \
          others call it. Each is then compiled once: equal layers of a network cost one.",
    anchor: &["builtin.module"],
    statistics: &[StatDef {
        name: "merged",
        doc: "kernels replaced by an equal one",
    }],
    run: |ctx| {
        run(ctx);
        Ok(())
    },
    ..PassDef::EMPTY
};

fn run(ctx: &mut PassContext<'_>) {
    let ops = ctx.ir.children(ctx.op).into_iter();
    let kernels = ops.filter(|&op| ctx.ir.is(op, &kernel::FUNC));
    let mut known: FxHashMap<Vec<Item>, Sym> = FxHashMap::default();
    let mut merged: FxHashMap<Sym, (Op, Sym)> = FxHashMap::default();
    for func in kernels {
        let Some(name) = ctx.ir.attr_of(func, NAME).and_then(AttrKind::as_string) else {
            continue;
        };
        let first = *known.entry(items(ctx.ir, func)).or_insert(name);
        if first != name {
            merged.insert(name, (func, first));
        }
    }
    if merged.is_empty() {
        return;
    }
    let count = redirect(ctx.ir, ctx.op, &merged);
    ctx.count("merged", count);
}

/// Lets launches under `module` call the first of equal kernels, and erases those that nothing names any more; gives their
/// number. `merged` holds, for the name of a kernel, its op and the name of the first.
fn redirect(ir: &mut Ir, module: Op, merged: &FxHashMap<Sym, (Op, Sym)>) -> u64 {
    let mut kept = FxHashSet::default();
    for reference in symbol_uses(ir, module) {
        let Some(&name) = reference.path.first() else {
            continue;
        };
        let Some(&(_, first)) = merged.get(&name) else {
            continue;
        };
        if ir.is(reference.op, &kernel::LAUNCH) && ir.str(reference.attr) == CALLEE {
            let callee = ir.attr(AttrKind::SymbolRef(vec![first]));
            ir.set_attr(reference.op, CALLEE, callee);
        } else {
            kept.insert(name);
        }
    }
    let unused = merged.iter().filter(|(name, _)| !kept.contains(name));
    let unused: Vec<Op> = unused.map(|(_, &(func, _))| func).collect();
    for &func in &unused {
        ir.erase(func);
    }
    unused.len() as u64
}

/// A part of a kernel's text, without names of values.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Item {
    Op(OpName),
    /// An operand, as the number of its definition in the kernel.
    Operand(usize),
    /// An operand from outside of the kernel.
    Outside(Value),
    Attr(Sym, AttrId),
    /// The type of a result or of a block argument.
    Type(TypeId),
    Block,
    /// The end of a region.
    End,
    /// An op that jumps to blocks: kernels that have one are not compared.
    Jump(Op),
}

/// A step of the walk, which keeps its own stack.
enum Step {
    Enter(Region),
    Block(Block),
    Visit(Op),
    Leave,
}

/// The parts of `func` in program order: two kernels are equal if their lists are.
fn items(ir: &Ir, func: Op) -> Vec<Item> {
    let mut items = Vec::new();
    let mut numbers: FxHashMap<Value, usize> = FxHashMap::default();
    let mut stack = vec![Step::Visit(func)];
    while let Some(step) = stack.pop() {
        match step {
            Step::Visit(op) => {
                let next = (op != func).then(|| ir.next_op(op)).flatten();
                stack.extend(next.map(Step::Visit));
                let regions = ir.op_regions(op).iter().rev();
                stack.extend(regions.map(|&region| Step::Enter(region)));
                push_op(ir, op, &mut numbers, &mut items);
            }
            Step::Enter(region) => {
                stack.push(Step::Leave);
                let blocks: Vec<Block> = ir.region_blocks(region).collect();
                stack.extend(blocks.into_iter().rev().map(Step::Block));
            }
            Step::Block(block) => {
                items.push(Item::Block);
                define(ir, ir.args(block), &mut numbers, &mut items);
                stack.extend(ir.first_op(block).map(Step::Visit));
            }
            Step::Leave => items.push(Item::End),
        }
    }
    items
}

fn push_op(ir: &Ir, op: Op, numbers: &mut FxHashMap<Value, usize>, items: &mut Vec<Item>) {
    items.push(Item::Op(ir.name_id(op)));
    if !ir.successors(op).is_empty() {
        items.push(Item::Jump(op));
    }
    items.extend(ir.operands(op).map(|value| {
        let number = numbers.get(&value).copied();
        number.map_or(Item::Outside(value), Item::Operand)
    }));
    let attrs = ir.attrs(op).iter();
    let attrs = attrs.filter(|(key, _)| ir.str(*key) != NAME);
    items.extend(attrs.map(|&(key, attr)| Item::Attr(key, attr)));
    define(ir, ir.results(op), numbers, items);
}

fn define(ir: &Ir, values: &[Value], numbers: &mut FxHashMap<Value, usize>, items: &mut Vec<Item>) {
    for &value in values {
        numbers.insert(value, numbers.len());
        items.push(Item::Type(ir.value_type(value)));
    }
}
