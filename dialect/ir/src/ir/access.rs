//! Access to ops, values, blocks and regions: queries, and setters that concern one of them alone.

use super::{Block, Def, ERASED, Ir, Nested, Op, OpName, Region, Use, Value};
use crate::attr::{AttrId, AttrKind};
use crate::def::Computes;
use crate::def::{OpDef, Traits};
use crate::intern::Sym;
use crate::loc::LocId;
use crate::types::{ExtentExpr, TypeId, TypeKind};

impl Ir {
    // --- operations ------------------------------------------------------------------------------------------------

    /// The full name, `fusion.add`.
    pub fn name(&self, op: Op) -> &str {
        self.str(self.names[self.ops[op].name].sym)
    }
    /// The interned name.
    pub fn name_id(&self, op: Op) -> OpName {
        self.ops[op].name
    }
    /// The table of a name, if a known dialect has it.
    pub fn name_def(&self, name: OpName) -> Option<&'static OpDef> {
        self.names[name].def
    }
    /// The op's table, if a known dialect has it.
    pub fn def(&self, op: Op) -> Option<&'static OpDef> {
        self.names[self.ops[op].name].def
    }
    /// True if the definition of `op` is `def`.
    pub fn is(&self, op: Op, def: &'static OpDef) -> bool {
        self.def(op).is_some_and(|d| std::ptr::eq(d, def))
    }
    /// True if `op` has all of `traits` (an unknown op has none).
    pub fn has(&self, op: Op, traits: Traits) -> bool {
        self.def(op).is_some_and(|d| d.traits.contains(traits))
    }
    /// The function that `op` computes on elements, if its table states one.
    pub fn computes(&self, op: Op) -> Option<Computes> {
        self.def(op)?.computes
    }
    /// True if `op` must be decomposed before a kernel can contain it.
    pub fn is_composite(&self, op: Op) -> bool {
        self.computes(op) == Some(Computes::Composite)
    }
    /// The op that makes `value`, if it computes this.
    pub fn made_as(&self, value: Value, what: Computes) -> Option<Op> {
        let op = self.def_op(value)?;
        (self.computes(op) == Some(what)).then_some(op)
    }
    /// The integer that a constant is, or all of its elements are; of a truth value 0 or 1.
    pub fn constant_int(&self, value: Value) -> Option<i128> {
        let op = self.made_as(value, Computes::Constant)?;
        self.attr_of(op, "value")?.as_int()
    }
    /// True if two ops have the same name, inherent attributes and result types, ignoring operands.
    pub fn is_alike(&self, a: Op, b: Op) -> bool {
        let types = |op: Op| self.results(op).iter().map(|&r| self.value_type(r));
        self.name_id(a) == self.name_id(b)
            && self.inherent_attrs(a).eq(self.inherent_attrs(b))
            && types(a).eq(types(b))
    }
    /// Number of operands, successor arguments included.
    pub fn operand_count(&self, op: Op) -> usize {
        self.ops[op].operands.len()
    }
    /// Operand `index`.
    pub fn operand(&self, op: Op, index: usize) -> Value {
        self.uses[self.operand_uses(op)[index]].value
    }
    /// All operands, successor arguments last.
    pub fn operands(
        &self,
        op: Op,
    ) -> impl ExactSizeIterator<Item = Value> + DoubleEndedIterator + '_ {
        self.operand_uses(op).iter().map(|&u| self.uses[u].value)
    }
    /// The use entities of the operands.
    pub fn operand_uses(&self, op: Op) -> &[Use] {
        self.operand_lists.get(self.ops[op].operands)
    }
    /// All results.
    pub fn results(&self, op: Op) -> &[Value] {
        self.result_lists.get(self.ops[op].results)
    }
    /// Result `index`.
    pub fn result(&self, op: Op, index: usize) -> Value {
        self.results(op)[index]
    }
    /// All attributes, sorted by the text of their names.
    pub fn attrs(&self, op: Op) -> &[(Sym, AttrId)] {
        self.attr_lists.get(self.ops[op].attrs)
    }
    /// The inherent attributes: all but the discardable ones.
    pub fn inherent_attrs(&self, op: Op) -> impl Iterator<Item = (Sym, AttrId)> + '_ {
        let attrs = self.attrs(op).iter().copied();
        attrs.filter(|(key, _)| !self.registry.is_discardable(self.str(*key)))
    }
    /// The attribute `name`.
    pub fn get_attr(&self, op: Op, name: &str) -> Option<AttrId> {
        // Lists are short. Comparing texts, mostly of different lengths, is cheaper than hashing the name.
        let attrs = self.attrs(op).iter();
        let mut found = attrs.filter(|(key, _)| self.str(*key) == name);
        found.next().map(|(_, a)| *a)
    }
    /// The attribute `name`, looked into.
    pub fn attr_of(&self, op: Op, name: &str) -> Option<&AttrKind> {
        self.get_attr(op, name).map(|a| self.attr_kind(a))
    }
    /// The integer attribute `name`.
    pub fn int_of(&self, op: Op, name: &str) -> Option<i64> {
        self.attr_of(op, name)?.as_int()?.try_into().ok()
    }
    /// The string attribute `name`.
    pub fn str_of(&self, op: Op, name: &str) -> Option<&str> {
        self.attr_of(op, name)?.as_string().map(|s| self.str(s))
    }
    /// The integers of attribute `name`.
    pub fn i64s_of(&self, op: Op, name: &str) -> Option<&[i64]> {
        self.attr_of(op, name)?.as_i64_array()
    }
    /// The amounts of attribute `name`, numbers and named extents.
    pub fn amounts_of(&self, op: Op, name: &str) -> Option<Vec<ExtentExpr>> {
        self.amounts(self.attr_of(op, name)?)
    }
    /// The symbol that `op` declares (`sym_name`).
    pub fn symbol_name(&self, op: Op) -> Option<&str> {
        self.str_of(op, "sym_name")
    }
    /// Sets or replaces an attribute.
    pub fn set_attr(&mut self, op: Op, name: &str, value: AttrId) {
        self.edits += 1;
        let sym = self.sym(name);
        let strings = &self.strings;
        let list = &mut self.ops[op].attrs;
        let attrs = self.attr_lists.get_mut(*list);
        match attrs.binary_search_by(|(key, _)| strings.get(*key).cmp(name)) {
            Ok(at) => attrs[at].1 = value,
            Err(at) => self.attr_lists.insert(list, at, (sym, value)),
        }
    }
    /// Removes an attribute.
    pub fn remove_attr(&mut self, op: Op, name: &str) {
        let sym = self.strings.lookup(name);
        let attrs = self.attrs(op).iter();
        let at = attrs.map(|(key, _)| Some(*key)).position(|key| key == sym);
        if let Some(at) = at {
            self.edits += 1;
            self.attr_lists.remove(&mut self.ops[op].attrs, at);
        }
    }
    /// Regions.
    pub fn op_regions(&self, op: Op) -> &[Region] {
        let nested = self.ops[op].nested;
        nested.map_or(&[], |id| &self.nested[id].regions)
    }
    /// Successor blocks with the operands handed to each.
    pub fn successors(&self, op: Op) -> Vec<(Block, Vec<Value>)> {
        let operands = self.operand_uses(op);
        let targets = self.targets(op);
        let handed: usize = targets.iter().map(|s| s.1 as usize).sum();
        let mut at = operands.len() - handed;
        let mut list = Vec::with_capacity(targets.len());
        for &(block, count) in targets {
            let slots = &operands[at..at + count as usize];
            list.push((block, slots.iter().map(|&u| self.uses[u].value).collect()));
            at += count as usize;
        }
        list
    }
    fn targets(&self, op: Op) -> &[(Block, u32)] {
        let nested = self.ops[op].nested;
        nested.map_or(&[], |id| &self.nested[id].successors)
    }
    /// Number of operands that are no arguments of successors.
    pub fn plain_operand_count(&self, op: Op) -> usize {
        let handed: usize = self.targets(op).iter().map(|s| s.1 as usize).sum();
        self.operand_count(op) - handed
    }
    /// Number of successors.
    pub fn successor_count(&self, op: Op) -> usize {
        self.targets(op).len()
    }
    /// Points successor `index` at `block`.
    pub fn set_successor(&mut self, op: Op, index: usize, block: Block) {
        self.edits += 1;
        let nested = self.ops[op].nested.map(|id| &mut self.nested[id]);
        if let Some(target) = nested.and_then(|n| n.successors.get_mut(index)) {
            target.0 = block;
        }
    }
    /// Location.
    pub fn op_loc(&self, op: Op) -> LocId {
        self.ops[op].loc
    }
    /// Sets the location.
    pub fn set_loc(&mut self, op: Op, loc: LocId) {
        self.ops[op].loc = loc;
    }
    /// The block that holds `op`.
    pub fn parent_block(&self, op: Op) -> Option<Block> {
        self.ops[op].parent
    }
    /// The op whose region holds `op`.
    pub fn parent_op(&self, op: Op) -> Option<Op> {
        self.block_parent_op(self.ops[op].parent?)
    }
    /// The op before `op` in its block.
    pub fn prev_op(&self, op: Op) -> Option<Op> {
        self.ops[op].prev
    }
    /// The op after `op` in its block.
    pub fn next_op(&self, op: Op) -> Option<Op> {
        self.ops[op].next
    }
    /// True if a result of an erased op had the name `name`.
    pub fn was_removed(&self, name: &str) -> bool {
        let Some(sym) = self.strings.lookup(name) else {
            return false;
        };
        let gone = |value: Value| self.def_op(value).is_some_and(|op| self.is_erased(op));
        let mut values = self.values.keys();
        values.any(|value| self.values[value].name == Some(sym) && gone(value))
    }
    /// True if `op` was erased.
    pub fn is_erased(&self, op: Op) -> bool {
        self.ops[op].order == ERASED
    }
    /// Number of op slots ever made: a bound for side tables.
    pub fn op_slots(&self) -> usize {
        self.ops.len()
    }
    /// Number of value slots ever made.
    pub fn value_slots(&self) -> usize {
        self.values.len()
    }

    // --- values ----------------------------------------------------------------------------------------------------

    /// The type.
    pub fn value_type(&self, value: Value) -> TypeId {
        self.values[value].ty
    }
    /// The type, looked into.
    pub fn value_kind(&self, value: Value) -> &TypeKind {
        self.ty(self.values[value].ty)
    }
    /// Changes the type.
    pub fn set_value_type(&mut self, value: Value, ty: TypeId) {
        self.edits += 1;
        self.values[value].ty = ty;
    }
    /// The definition of `value`: a result or a block argument.
    pub fn value_def(&self, value: Value) -> Def {
        self.values[value].def.into()
    }
    /// The op that makes the value, if it is a result.
    pub fn def_op(&self, value: Value) -> Option<Op> {
        match self.value_def(value) {
            Def::Result(op, _) => Some(op),
            Def::Arg(..) => None,
        }
    }
    /// The block in which the value is defined.
    pub fn def_block(&self, value: Value) -> Option<Block> {
        match self.value_def(value) {
            Def::Result(op, _) => self.parent_block(op),
            Def::Arg(block, _) => Some(block),
        }
    }
    /// The name hint, without `%`.
    pub fn value_name(&self, value: Value) -> Option<&str> {
        self.values[value].name.map(|s| self.str(s))
    }
    /// The interned name hint.
    pub fn value_name_sym(&self, value: Value) -> Option<Sym> {
        self.values[value].name
    }
    /// Sets the name hint.
    pub fn set_value_name(&mut self, value: Value, name: Option<Sym>) {
        self.values[value].name = name;
    }
    /// True if the name hint is a number, or an element of a pack that is called by one.
    pub fn is_numbered(&self, value: Value) -> bool {
        let name = self.value_name(value);
        name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_digit()))
    }
    /// The first number for unnamed values in the isolated `op`, if it was set: smaller numbers were names before.
    pub fn first_free_number(&self, op: Op) -> Option<u32> {
        self.free_numbers.get(&op).copied()
    }
    /// Sets it.
    pub fn set_first_free_number(&mut self, op: Op, number: u32) {
        self.free_numbers.insert(op, number);
    }

    // --- blocks and regions ----------------------------------------------------------------------------------------

    /// Arguments of a block.
    pub fn args(&self, block: Block) -> &[Value] {
        &self.blocks[block].args
    }
    /// Removes argument `index` (unused) of `block`; the later ones move up.
    pub fn remove_arg(&mut self, block: Block, index: usize) {
        self.edits += 1;
        self.blocks[block].args.remove(index);
        for (i, arg) in self.blocks[block].args.clone().into_iter().enumerate() {
            self.values[arg].def = Def::Arg(block, i as u32).into();
        }
    }
    /// First op of a block.
    pub fn first_op(&self, block: Block) -> Option<Op> {
        self.blocks[block].first
    }
    /// Last op of a block.
    pub fn last_op(&self, block: Block) -> Option<Op> {
        self.blocks[block].last
    }
    /// The last op, if it ends the block.
    pub fn terminator(&self, block: Block) -> Option<Op> {
        self.last_op(block)
            .filter(|&op| self.has(op, Traits::TERMINATOR))
    }
    /// The ops of a block, in order. Do not edit the block while iterating: collect first.
    pub fn block_ops(&self, block: Block) -> impl Iterator<Item = Op> + '_ {
        std::iter::successors(self.blocks[block].first, |&op| self.ops[op].next)
    }
    /// The name hint of a block, without `^`.
    pub fn block_name(&self, block: Block) -> Option<&str> {
        self.blocks[block].name.map(|s| self.str(s))
    }
    /// The interned name hint of a block.
    pub fn block_name_sym(&self, block: Block) -> Option<Sym> {
        self.blocks[block].name
    }
    /// Sets the name hint of a block.
    pub fn set_block_name(&mut self, block: Block, name: Option<Sym>) {
        self.blocks[block].name = name;
    }
    /// The region of a block.
    pub fn block_region(&self, block: Block) -> Option<Region> {
        self.blocks[block].parent
    }
    /// The op whose region holds `block`.
    pub fn block_parent_op(&self, block: Block) -> Option<Op> {
        self.regions[self.blocks[block].parent?].parent
    }
    /// Number of block slots ever made.
    pub fn block_slots(&self) -> usize {
        self.blocks.len()
    }
    /// The blocks of a region, in order.
    pub fn region_blocks(&self, region: Region) -> impl Iterator<Item = Block> + '_ {
        std::iter::successors(self.regions[region].first, |&b| self.blocks[b].next)
    }
    /// The first block of a region.
    pub fn entry_block(&self, region: Region) -> Option<Block> {
        self.regions[region].first
    }
    /// The op that owns a region.
    pub fn region_parent(&self, region: Region) -> Option<Op> {
        self.regions[region].parent
    }
    /// The entry block of region `index` of `op`.
    pub fn body(&self, op: Op, index: usize) -> Option<Block> {
        self.entry_block(*self.op_regions(op).get(index)?)
    }
    /// The block after `block` in its region.
    pub fn next_block(&self, block: Block) -> Option<Block> {
        self.blocks[block].next
    }
    /// Adds a region to an existing op.
    pub fn push_region(&mut self, op: Op, region: Region) {
        self.regions[region].parent = Some(op);
        self.nested_of(op).regions.push(region);
    }
    /// The regions and successors of `op`, created if it has none yet.
    pub(super) fn nested_of(&mut self, op: Op) -> &mut Nested {
        self.edits += 1;
        let nested = &mut self.nested;
        let id = self.ops[op].nested;
        let id = *self.ops[op]
            .nested
            .insert(id.unwrap_or_else(|| nested.push(Nested::default())));
        &mut self.nested[id]
    }
    /// Moves all ops of `from` to before `anchor`.
    pub fn inline_block_before(&mut self, from: Block, anchor: Op) {
        while let Some(op) = self.blocks[from].first {
            self.detach(op);
            self.insert_before(anchor, op);
        }
    }
    /// True if `a` is before `b` in their common block. Amortized constant time.
    pub fn is_before(&mut self, a: Op, b: Op) -> bool {
        if let Some(block) = self.ops[a].parent
            && !self.blocks[block].order_valid
        {
            self.renumber(block);
        }
        self.ops[a].order < self.ops[b].order
    }
    /// Numbers the ops of a block in order.
    pub fn renumber(&mut self, block: Block) {
        let mut next = self.blocks[block].first;
        let mut order = 0;
        while let Some(op) = next {
            self.ops[op].order = order;
            order += 1;
            next = self.ops[op].next;
        }
        self.blocks[block].order_valid = true;
    }
    /// The number that [`Ir::renumber`] gave; meaningless after an insertion.
    pub fn op_order(&self, op: Op) -> u32 {
        self.ops[op].order
    }
}
