//! Operands and use lists: each value knows exactly the operand slots that hold it, oldest first.

use super::{Block, Ir, Op, Use, UseData, Value};

impl Ir {
    /// Adds an operand to `op`.
    pub fn push_operand(&mut self, op: Op, value: Value) {
        self.edits += 1;
        let index = self.ops[op].operands.len() as u32;
        let data = UseData {
            value,
            owner: op,
            index,
            prev: None,
            next: None,
        };
        let slot = match self.free_uses.pop() {
            Some(slot) => {
                self.uses[slot] = data;
                slot
            }
            None => self.uses.push(data),
        };
        self.link_use(slot);
        self.operand_lists.push(&mut self.ops[op].operands, slot);
    }
    /// Adds a successor that is handed `args`. After the first successor, no plain operand may be added.
    pub fn push_successor(&mut self, op: Op, block: Block, args: &[Value]) {
        let target = (block, args.len() as u32);
        self.nested_of(op).successors.push(target);
        for &value in args {
            self.push_operand(op, value);
        }
    }
    /// Sets operand `index` of `op`.
    pub fn set_operand(&mut self, op: Op, index: usize, value: Value) {
        let slot = self.operand_uses(op)[index];
        self.set_use(slot, value);
    }
    /// Replaces all operands of `op` (one without successors).
    pub fn set_operands(&mut self, op: Op, values: &[Value]) {
        self.drop_operands(op);
        for &value in values {
            self.push_operand(op, value);
        }
    }
    /// Points one use at another value.
    pub fn set_use(&mut self, slot: Use, value: Value) {
        self.edits += 1;
        self.unlink_use(slot);
        self.uses[slot].value = value;
        self.link_use(slot);
    }
    /// Replaces every use of `from` by `to`. If `to` has no name, it takes the name of `from`. If `to` has a number and
    /// `from` a word, they swap names.
    pub fn replace_all_uses(&mut self, from: Value, to: Value) {
        if from == to {
            return;
        }
        while let Some(slot) = self.values[from].first_use {
            self.set_use(slot, to);
        }
        let name = self.values[from].name;
        match self.values[to].name {
            None => self.values[to].name = name,
            number if self.is_numbered(to) && name.is_some() && !self.is_numbered(from) => {
                (self.values[to].name, self.values[from].name) = (name, number);
            }
            _ => {}
        }
    }
    /// Replaces those uses of `from` by `to` for which `wanted` returns true.
    pub fn replace_uses_if(
        &mut self,
        from: Value,
        to: Value,
        mut wanted: impl FnMut(&Ir, Use) -> bool,
    ) {
        let slots: Vec<Use> = self.uses(from).collect();
        for slot in slots {
            if wanted(self, slot) {
                self.set_use(slot, to);
            }
        }
    }
    fn link_use(&mut self, slot: Use) {
        let value = self.uses[slot].value;
        let last = self.values[value].last_use;
        (self.uses[slot].prev, self.uses[slot].next) = (last, None);
        match last {
            Some(last) => self.uses[last].next = Some(slot),
            None => self.values[value].first_use = Some(slot),
        }
        self.values[value].last_use = Some(slot);
    }
    pub(super) fn unlink_use(&mut self, slot: Use) {
        let UseData {
            value, prev, next, ..
        } = self.uses[slot];
        match prev {
            Some(p) => self.uses[p].next = next,
            None => self.values[value].first_use = next,
        }
        match next {
            Some(n) => self.uses[n].prev = prev,
            None => self.values[value].last_use = prev,
        }
    }
    /// The uses of `value`, oldest first.
    pub fn uses(&self, value: Value) -> impl Iterator<Item = Use> + '_ {
        std::iter::successors(self.values[value].first_use, |&u| self.uses[u].next)
    }
    /// The ops that use `value`, one entry per use.
    pub fn users(&self, value: Value) -> impl Iterator<Item = Op> + '_ {
        self.uses(value).map(|u| self.uses[u].owner)
    }
    /// True if `value` has no use.
    pub fn is_unused(&self, value: Value) -> bool {
        self.values[value].first_use.is_none()
    }
    /// True if exactly one operand slot uses `value`.
    pub fn has_one_use(&self, value: Value) -> bool {
        let data = &self.values[value];
        data.first_use.is_some() && data.first_use == data.last_use
    }
    /// The value that an operand slot holds.
    pub fn use_value(&self, slot: Use) -> Value {
        self.uses[slot].value
    }
    /// The op and operand index of a use.
    pub fn use_owner(&self, slot: Use) -> (Op, usize) {
        (self.uses[slot].owner, self.uses[slot].index as usize)
    }
}
