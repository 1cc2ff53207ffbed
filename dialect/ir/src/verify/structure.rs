//! Integrity of the storage: links, parents, positions of values, use lists. A failure here is a bug of ours.
//!
//! The use lists of the values in an isolated op are checked right after the walk of that op, while it is still in the
//! cache.

use crate::def::Traits;
use crate::diag::{Diagnostic, Diagnostics};
use crate::entity::SecondaryMap;
use crate::ir::{Block, Def, Ir, Op, Value};

use super::codes::STRUCTURE;
use super::{MAX_DIAGNOSTICS, op_place};

/// Every structural mistake under `root`.
pub(super) fn check(ir: &Ir, root: Op) -> Diagnostics {
    let mut checker = Structure::default();
    checker.visit(ir, root);
    checker.use_lists(ir, 0);
    checker.errors
}

/// A pending step of the walk; the innermost is last.
enum Step {
    Op(Op),
    /// All of an isolated op was walked; its values begin there.
    UseLists(usize),
}

#[derive(Default)]
struct Structure {
    seen: SecondaryMap<Op, bool>,
    /// Operand slots that use each value.
    slots: SecondaryMap<Value, u32>,
    /// Values defined in the tree, in order, whose use lists were not looked at yet.
    values: Vec<Value>,
    errors: Diagnostics,
}

impl Structure {
    fn visit(&mut self, ir: &Ir, root: Op) {
        let mut stack = vec![Step::Op(root)];
        while let Some(step) = stack.pop() {
            let op = match step {
                Step::Op(op) => op,
                Step::UseLists(from) => {
                    self.use_lists(ir, from);
                    continue;
                }
            };
            if std::mem::replace(&mut self.seen[op], true) {
                self.fault(ir, op, "stands twice in the tree");
                return;
            }
            self.op(ir, op);
            if !ir.op_regions(op).is_empty() && ir.has(op, Traits::ISOLATED) {
                stack.push(Step::UseLists(self.values.len()));
            }
            for &region in ir.op_regions(op) {
                if ir.region_parent(region) != Some(op) {
                    self.fault(ir, op, "has a region that belongs to another op");
                    continue;
                }
                for block in ir.region_blocks(region) {
                    if ir.block_region(block) != Some(region) {
                        self.fault(ir, op, "has a block that belongs to another region");
                        return;
                    }
                    self.block(ir, op, block, &mut stack);
                }
            }
            if self.errors.items.len() >= MAX_DIAGNOSTICS {
                return;
            }
        }
    }

    fn op(&mut self, ir: &Ir, op: Op) {
        if ir.is_erased(op) {
            self.fault(ir, op, "is erased");
        }
        for (index, &slot) in ir.operand_uses(op).iter().enumerate() {
            if ir.use_owner(slot) != (op, index) {
                self.fault(ir, op, "has an operand slot of another op");
            }
            let value = ir.use_value(slot);
            self.slots[value] += 1;
            if ir.def_op(value).is_some_and(|def| ir.is_erased(def)) {
                self.fault(ir, op, "uses a result of an erased op");
            }
        }
        for (index, &value) in ir.results(op).iter().enumerate() {
            if ir.value_def(value) != Def::Result(op, index as u32) {
                self.fault(ir, op, "has a result that says otherwise");
            }
            self.values.push(value);
        }
        let attrs = ir.attrs(op).windows(2);
        if attrs.clone().any(|w| ir.str(w[0].0) >= ir.str(w[1].0)) {
            self.fault(ir, op, "has attributes twice or out of order");
        }
    }

    fn block(&mut self, ir: &Ir, parent: Op, block: Block, stack: &mut Vec<Step>) {
        for (index, &value) in ir.args(block).iter().enumerate() {
            if ir.value_def(value) != Def::Arg(block, index as u32) {
                self.fault(ir, parent, "has a block argument that says otherwise");
            }
            self.values.push(value);
        }
        let mut last = None;
        let start = stack.len();
        for op in ir.block_ops(block) {
            if ir.parent_block(op) != Some(block) || ir.prev_op(op) != last {
                self.fault(ir, op, "is not linked to its block and its neighbour");
                return;
            }
            last = Some(op);
            stack.push(Step::Op(op));
        }
        stack[start..].reverse();
        if ir.last_op(block) != last {
            self.fault(ir, parent, "has a block whose last op is another");
        }
    }

    /// Checks that each use list holds exactly the slots that use its value: every entry is such a slot, and the
    /// numbers agree. Checks the values from `from` on, in order, and only if no mistake was found before.
    fn use_lists(&mut self, ir: &Ir, from: usize) {
        if !self.errors.items.is_empty() {
            return;
        }
        for at in from..self.values.len() {
            let value = self.values[at];
            let mut found = 0;
            for slot in ir.uses(value) {
                let (owner, index) = ir.use_owner(slot);
                let own = ir.operand_uses(owner).get(index) == Some(&slot);
                if !own || ir.use_value(slot) != value || found > self.slots[value] {
                    self.fault(
                        ir,
                        owner,
                        "is in the use list of a value that it does not use",
                    );
                    break;
                }
                found += u32::from(self.seen[owner]);
            }
            if found != self.slots[value]
                && let Some(owner) = ir.def_op(value)
            {
                self.fault(ir, owner, "has a result whose use list is not complete");
            }
        }
        self.values.truncate(from);
    }

    fn fault(&mut self, ir: &Ir, op: Op, text: &str) {
        let name = ir.name(op);
        let text = format!("`{name}` {text}");
        let diagnostic = Diagnostic::error(&STRUCTURE, op_place(ir, op), text).with_op(name);
        self.errors.push(diagnostic);
    }
}
