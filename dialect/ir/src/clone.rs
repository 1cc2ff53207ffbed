//! Copies of operations with everything in their regions.
//!
//! The copy is detached; values and blocks inside it refer to the copy, all others stay as they are (or follow the
//! entries that the caller put into the [`Mapping`]). Names, locations and source places go along. Never recurses.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::ir::{Block, Ir, NewOp, Op, Value};

/// A mapping from originals to their copies. Values and blocks without an entry map to themselves.
#[derive(Clone, Debug, Default)]
pub struct Mapping {
    values: FxHashMap<Value, Value>,
    blocks: FxHashMap<Block, Block>,
}

impl Mapping {
    /// Maps `from` to `to`.
    pub fn insert(&mut self, from: Value, to: Value) {
        self.values.insert(from, to);
    }
    /// The copy of `value`.
    pub fn get(&self, value: Value) -> Value {
        self.values.get(&value).copied().unwrap_or(value)
    }
    /// The copy of `block`.
    pub fn block(&self, block: Block) -> Block {
        self.blocks.get(&block).copied().unwrap_or(block)
    }
}

impl Ir {
    /// A detached copy of `op`; its results and blocks are added to `map`.
    pub fn clone_op(&mut self, op: Op, map: &mut Mapping) -> Op {
        let copy = self.copy_shell(op, map);
        let mut pairs = vec![(op, copy)];
        // Shells first, operands after: an operand may be defined later in the text (graph regions, back edges).
        let mut at = 0;
        while at < pairs.len() {
            let (from, to) = pairs[at];
            self.copy_regions(from, to, map, &mut pairs);
            at += 1;
        }
        for (from, to) in pairs {
            self.copy_operands(from, to, map);
        }
        copy
    }
    /// The op without operands, successors and regions.
    fn copy_shell(&mut self, op: Op, map: &mut Mapping) -> Op {
        let results = self.results(op).iter();
        let new = NewOp {
            results: results
                .map(|&r| (self.value_type(r), self.value_name_sym(r)))
                .collect(),
            attrs: SmallVec::from_slice(self.attrs(op)),
            loc: Some(self.op_loc(op)),
            ..NewOp::default()
        };
        let copy = self.create(self.name_id(op), new);
        self.spans.share(op, copy);
        for index in 0..self.results(op).len() {
            map.insert(self.result(op, index), self.result(copy, index));
        }
        copy
    }
    fn copy_regions(&mut self, from: Op, to: Op, map: &mut Mapping, pairs: &mut Vec<(Op, Op)>) {
        for index in 0..self.op_regions(from).len() {
            let region = self.new_region();
            self.push_region(to, region);
            let blocks: Vec<Block> = self.region_blocks(self.op_regions(from)[index]).collect();
            for block in blocks {
                let copy = self.append_block(region);
                map.blocks.insert(block, copy);
                self.copy_block(block, copy, map, pairs);
            }
        }
    }
    fn copy_block(&mut self, from: Block, to: Block, map: &mut Mapping, pairs: &mut Vec<(Op, Op)>) {
        let name = self.block_name_sym(from);
        self.set_block_name(to, name);
        for index in 0..self.args(from).len() {
            let arg = self.args(from)[index];
            let copy = self.append_arg(to, self.value_type(arg), self.value_name_sym(arg));
            map.insert(arg, copy);
        }
        let ops: Vec<Op> = self.block_ops(from).collect();
        for op in ops {
            let copy = self.copy_shell(op, map);
            self.append_op(to, copy);
            pairs.push((op, copy));
        }
    }
    fn copy_operands(&mut self, from: Op, to: Op, map: &Mapping) {
        let successors = self.successors(from);
        let own = self.plain_operand_count(from);
        for index in 0..own {
            let value = map.get(self.operand(from, index));
            self.push_operand(to, value);
        }
        for (block, args) in successors {
            let args: Vec<Value> = args.into_iter().map(|v| map.get(v)).collect();
            self.push_successor(to, map.block(block), &args);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::def::Registry;
    use crate::types::DType;
    use std::sync::Arc;

    fn op(ir: &mut Ir, name: &str, operands: &[Value], results: usize) -> Op {
        let (name, ty) = (ir.op_name(name), ir.scalar(DType::F32));
        let new = NewOp {
            operands: SmallVec::from_slice(operands),
            results: (0..results).map(|_| (ty, None)).collect(),
            ..NewOp::default()
        };
        ir.create(name, new)
    }

    #[test]
    fn inner_values_follow_and_outer_stay() {
        let mut ir = Ir::new(Arc::new(Registry::default()));
        let outer = op(&mut ir, "t.outer", &[], 1);
        let holder = op(&mut ir, "t.holder", &[], 0);
        let region = ir.new_region();
        ir.push_region(holder, region);
        let block = ir.append_block(region);
        let ty = ir.scalar(DType::F32);
        let arg = ir.append_arg(block, ty, None);
        let outside = ir.result(outer, 0);
        let first = op(&mut ir, "t.first", &[arg, outside], 1);
        ir.append_op(block, first);
        let inner = ir.result(first, 0);
        let branch = op(&mut ir, "t.branch", &[inner], 0);
        ir.append_op(block, branch);
        ir.push_successor(branch, block, &[inner]);

        let mut map = Mapping::default();
        let copy = ir.clone_op(holder, &mut map);
        let body = ir.body(copy, 0).unwrap();
        let ops: Vec<Op> = ir.block_ops(body).collect();
        let copied_first: Vec<Value> = ir.operands(ops[0]).collect();
        assert_eq!(copied_first, [ir.args(body)[0], outside]);
        let copied_inner = ir.result(ops[0], 0);
        assert_ne!(copied_inner, inner);
        assert_eq!(ir.operand(ops[1], 0), copied_inner);
        assert_eq!(ir.successors(ops[1]), [(body, vec![copied_inner])]);
    }

    #[test]
    fn depth_does_not_matter() {
        let mut ir = Ir::new(Arc::new(Registry::default()));
        let root = op(&mut ir, "t.r", &[], 0);
        let mut at = root;
        for _ in 0..100_000 {
            let region = ir.new_region();
            ir.push_region(at, region);
            let block = ir.append_block(region);
            at = op(&mut ir, "t.r", &[], 0);
            ir.append_op(block, at);
        }
        let copy = ir.clone_op(root, &mut Mapping::default());
        assert_eq!(ir.walk(copy).len(), 100_001);
    }
}
