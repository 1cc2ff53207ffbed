//! Making, linking and erasing ops, blocks and regions.

use smallvec::SmallVec;

use super::{
    Block, BlockData, Def, ERASED, Ir, Nested, NewOp, Op, OpData, OpName, Region, RegionData,
    Value, ValueData,
};
use crate::def::OpDef;
use crate::intern::Sym;
use crate::lists::List;
use crate::types::TypeId;

impl Ir {
    // --- creating --------------------------------------------------------------------------------------------------

    /// Makes an operation, attached to no block.
    pub fn create(&mut self, name: OpName, new: NewOp) -> Op {
        self.edits += 1;
        let loc = match new.loc {
            Some(loc) => loc,
            None => self.unknown_loc(),
        };
        let mut attrs = new.attrs;
        if attrs.len() > 1 {
            let strings = &self.strings;
            attrs.sort_by(|a, b| strings.get(a.0).cmp(strings.get(b.0)));
        }
        let nested = (!new.regions.is_empty()).then(|| {
            self.nested.push(Nested {
                regions: SmallVec::from_slice(&new.regions),
                ..Nested::default()
            })
        });
        let op = self.ops.push(OpData {
            name,
            operands: List::default(),
            results: List::default(),
            attrs: self.attr_lists.make(&attrs),
            nested,
            loc,
            parent: None,
            prev: None,
            next: None,
            order: 0,
        });
        for region in new.regions {
            self.regions[region].parent = Some(op);
        }
        for (ty, name) in new.results {
            self.append_result(op, ty, name);
        }
        for value in new.operands {
            self.push_operand(op, value);
        }
        for (block, args) in new.successors {
            self.push_successor(op, block, &args);
        }
        op
    }
    /// Makes an operation of a table.
    pub fn create_op(&mut self, def: &'static OpDef, new: NewOp) -> Op {
        let name = self.op_name(def.name);
        self.create(name, new)
    }
    /// Makes an empty region that belongs to no operation yet.
    pub fn new_region(&mut self) -> Region {
        self.regions.push(RegionData::default())
    }
    /// Makes a block at the end of `region`.
    pub fn append_block(&mut self, region: Region) -> Block {
        self.edits += 1;
        let last = self.regions[region].last;
        let block = self.blocks.push(BlockData {
            args: SmallVec::new(),
            first: None,
            last: None,
            parent: Some(region),
            prev: last,
            next: None,
            name: None,
            order_valid: true,
            erased: false,
        });
        match last {
            Some(last) => self.blocks[last].next = Some(block),
            None => self.regions[region].first = Some(block),
        }
        self.regions[region].last = Some(block);
        block
    }
    /// Adds an argument to `block`.
    pub fn append_arg(&mut self, block: Block, ty: TypeId, name: Option<Sym>) -> Value {
        let index = self.blocks[block].args.len() as u32;
        let value = self.value(Def::Arg(block, index), ty, name);
        self.blocks[block].args.push(value);
        value
    }
    /// Adds a result to `op`.
    pub fn append_result(&mut self, op: Op, ty: TypeId, name: Option<Sym>) -> Value {
        let index = self.ops[op].results.len() as u32;
        let value = self.value(Def::Result(op, index), ty, name);
        self.result_lists.push(&mut self.ops[op].results, value);
        value
    }
    /// Makes a value that nothing uses yet.
    fn value(&mut self, def: Def, ty: TypeId, name: Option<Sym>) -> Value {
        self.edits += 1;
        self.values.push(ValueData {
            ty,
            def: def.into(),
            name,
            first_use: None,
            last_use: None,
        })
    }
    /// Removes result `index` (unused) of `op`; the later ones move up.
    pub fn remove_result(&mut self, op: Op, index: usize) {
        self.edits += 1;
        let list = &mut self.ops[op].results;
        self.result_lists.remove(list, index);
        for (i, &result) in self.result_lists.get(*list).iter().enumerate() {
            self.values[result].def = Def::Result(op, i as u32).into();
        }
    }
    /// Puts a detached `op` at the end of `block`.
    pub fn append_op(&mut self, block: Block, op: Op) {
        let last = self.blocks[block].last;
        self.link(block, op, last, None);
    }
    /// Puts a detached `op` at the start of `block`.
    pub fn prepend_op(&mut self, block: Block, op: Op) {
        let first = self.blocks[block].first;
        self.link(block, op, None, first);
    }
    /// Puts a detached `op` before `anchor`.
    pub fn insert_before(&mut self, anchor: Op, op: Op) {
        if let Some(block) = self.ops[anchor].parent {
            let prev = self.ops[anchor].prev;
            self.link(block, op, prev, Some(anchor));
        }
    }
    /// Puts a detached `op` after `anchor`.
    pub fn insert_after(&mut self, anchor: Op, op: Op) {
        if let Some(block) = self.ops[anchor].parent {
            let next = self.ops[anchor].next;
            self.link(block, op, Some(anchor), next);
        }
    }
    fn link(&mut self, block: Block, op: Op, prev: Option<Op>, next: Option<Op>) {
        debug_assert!(
            self.ops[op].parent.is_none(),
            "linking an op that is in a block"
        );
        self.edits += 1;
        let order = match (prev, next) {
            (None, _) => 0,
            (Some(p), None) => (self.ops[p].order + 1).min(ERASED - 1),
            (Some(p), Some(_)) => self.ops[p].order,
        };
        let data = &mut self.ops[op];
        (data.parent, data.prev, data.next, data.order) = (Some(block), prev, next, order);
        match prev {
            Some(p) => self.ops[p].next = Some(op),
            None => self.blocks[block].first = Some(op),
        }
        match next {
            Some(n) => {
                self.ops[n].prev = Some(op);
                self.blocks[block].order_valid = false;
            }
            None => self.blocks[block].last = Some(op),
        }
    }
    /// Takes `op` out of its block; it keeps operands, results and regions.
    pub fn detach(&mut self, op: Op) {
        let (parent, prev, next) = (self.ops[op].parent, self.ops[op].prev, self.ops[op].next);
        let Some(block) = parent else { return };
        self.edits += 1;
        match prev {
            Some(p) => self.ops[p].next = next,
            None => self.blocks[block].first = next,
        }
        match next {
            Some(n) => self.ops[n].prev = prev,
            None => self.blocks[block].last = prev,
        }
        let data = &mut self.ops[op];
        (data.parent, data.prev, data.next) = (None, None, None);
    }
    /// Moves `op` before `anchor`.
    pub fn move_before(&mut self, op: Op, anchor: Op) {
        if op != anchor {
            self.detach(op);
            self.insert_before(anchor, op);
        }
    }
    /// Moves `op` to the end of `block`.
    pub fn move_to_end(&mut self, op: Op, block: Block) {
        self.detach(op);
        self.append_op(block, op);
    }

    // --- erasing ---------------------------------------------------------------------------------------------------

    /// Erases `op` and everything in its regions. Uses of its results elsewhere keep pointing to erased values, which the
    /// verifier reports: replace them first.
    pub fn erase(&mut self, op: Op) {
        self.edits += 1;
        self.detach(op);
        let mut stack = vec![op];
        while let Some(op) = stack.pop() {
            self.drop_operands(op);
            let nested = self.ops[op].nested.take();
            let nested = nested.map(|id| std::mem::take(&mut self.nested[id]));
            let nested = nested.unwrap_or_default();
            for region in nested.regions {
                let mut block = self.regions[region].first;
                while let Some(b) = block {
                    let mut inner = self.blocks[b].first;
                    while let Some(i) = inner {
                        stack.push(i);
                        inner = self.ops[i].next;
                    }
                    self.blocks[b].erased = true;
                    block = self.blocks[b].next;
                }
            }
            self.ops[op].order = ERASED;
            self.spans.forget(op);
        }
    }
    /// Erases a block and its ops, and takes it out of its region.
    pub fn erase_block(&mut self, block: Block) {
        self.edits += 1;
        while let Some(op) = self.blocks[block].last {
            self.erase(op);
        }
        let (parent, prev, next) = (
            self.blocks[block].parent,
            self.blocks[block].prev,
            self.blocks[block].next,
        );
        match prev {
            Some(p) => self.blocks[p].next = next,
            None => {
                if let Some(r) = parent {
                    self.regions[r].first = next;
                }
            }
        }
        match next {
            Some(n) => self.blocks[n].prev = prev,
            None => {
                if let Some(r) = parent {
                    self.regions[r].last = prev;
                }
            }
        }
        let data = &mut self.blocks[block];
        (data.parent, data.prev, data.next, data.erased) = (None, None, None, true);
    }
    pub(super) fn drop_operands(&mut self, op: Op) {
        self.edits += 1;
        let list = self.ops[op].operands;
        for at in 0..list.len() {
            let slot = self.operand_lists.get(list)[at];
            self.unlink_use(slot);
            self.free_uses.push(slot);
        }
        self.ops[op].operands.clear();
        if let Some(id) = self.ops[op].nested {
            self.nested[id].successors.clear();
        }
    }
}
