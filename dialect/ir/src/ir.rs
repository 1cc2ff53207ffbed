//! The storage of a program: operations, values, blocks, regions, and exact use lists.
//!
//! One [`Ir`] owns everything that a program is made of. Handles (`Op`, `Value`, ...) are small copies; all access goes
//! through `Ir`. The edits here keep the structure whole: use lists are exact after each call, lists of ops and blocks are
//! linked both ways. They do not check meaning; the verifier does.
//!
//! Never recurses: erasing or dropping a tree of any depth uses explicit stacks.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::attr::{AttrId, AttrKind};
use crate::def::{OpDef, Registry, Traits};
use crate::entity::{PrimaryMap, SecondaryMap};
use crate::intern::{Interner, Strings, Sym};
use crate::loc::{LocId, LocKind};
use crate::span::OpSpans;
use crate::types::{DType, Dim, Extent, ExtentExpr, ExtentExprId, TensorType, TypeId, TypeKind};

crate::entities! {
    /// An operation.
    Op,
    /// A value: a result of an operation or an argument of a block.
    Value,
    /// A block.
    Block,
    /// A region.
    Region,
    /// One operand slot of one operation, an element of a value's use list.
    Use,
    /// An operation name, known or not.
    OpName,
}

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Def {
    /// Result number `.1` of operation `.0`.
    Result(Op, u32),
    /// Argument number `.1` of block `.0`.
    Arg(Block, u32),
}

#[derive(Clone, Debug)]
struct OpData {
    name: OpName,
    operands: SmallVec<[Use; 2]>,
    results: SmallVec<[Value; 1]>,
    attrs: SmallVec<[(Sym, AttrId); 2]>,
    regions: SmallVec<[Region; 1]>,
    successors: Vec<(Block, u32)>,
    loc: LocId,
    parent: Option<Block>,
    prev: Option<Op>,
    next: Option<Op>,
    order: u32,
    erased: bool,
}

#[derive(Clone, Debug)]
struct ValueData {
    ty: TypeId,
    def: Def,
    name: Option<Sym>,
    first_use: Option<Use>,
    last_use: Option<Use>,
}

#[derive(Clone, Debug)]
struct UseData {
    value: Value,
    owner: Op,
    index: u32,
    prev: Option<Use>,
    next: Option<Use>,
}

#[derive(Clone, Debug)]
struct BlockData {
    args: SmallVec<[Value; 2]>,
    first: Option<Op>,
    last: Option<Op>,
    parent: Option<Region>,
    prev: Option<Block>,
    next: Option<Block>,
    name: Option<Sym>,
    order_valid: bool,
    erased: bool,
}

#[derive(Clone, Debug, Default)]
struct RegionData {
    first: Option<Block>,
    last: Option<Block>,
    parent: Option<Op>,
}

#[derive(Clone, Debug)]
struct NameData {
    sym: Sym,
    def: Option<&'static OpDef>,
}

/// What an operation is made of, before it is made.
#[derive(Clone, Debug, Default)]
pub struct NewOp {
    /// Operands.
    pub operands: SmallVec<[Value; 4]>,
    /// Result types and name hints.
    pub results: SmallVec<[(TypeId, Option<Sym>); 2]>,
    /// Attributes in any order.
    pub attrs: SmallVec<[(Sym, AttrId); 4]>,
    /// Regions without a parent, made by [`Ir::new_region`].
    pub regions: SmallVec<[Region; 1]>,
    /// Successor blocks, each with its arguments.
    pub successors: Vec<(Block, Vec<Value>)>,
    /// Location.
    pub loc: Option<LocId>,
}

/// A program and all its tables.
#[derive(Clone, Debug)]
pub struct Ir {
    /// Interned strings.
    pub strings: Strings,
    /// Known dialects.
    pub registry: Arc<Registry>,
    /// Where in the source text ops stand, for diagnostics; ops made by passes have none.
    pub spans: SecondaryMap<Op, Option<Box<OpSpans>>>,
    types: Interner<TypeId, TypeKind>,
    extents: Interner<ExtentExprId, ExtentExpr>,
    attrs: Interner<AttrId, AttrKind>,
    locs: Interner<LocId, LocKind>,
    names: PrimaryMap<OpName, NameData>,
    name_ids: rustc_hash::FxHashMap<Sym, OpName>,
    ops: PrimaryMap<Op, OpData>,
    values: PrimaryMap<Value, ValueData>,
    uses: PrimaryMap<Use, UseData>,
    blocks: PrimaryMap<Block, BlockData>,
    regions: PrimaryMap<Region, RegionData>,
    free_uses: Vec<Use>,
}

impl Ir {
    /// An empty program that knows the dialects of `registry`.
    pub fn new(registry: Arc<Registry>) -> Self {
        let mut ir = Self {
            strings: Strings::default(),
            registry,
            spans: SecondaryMap::default(),
            types: Interner::default(),
            extents: Interner::default(),
            attrs: Interner::default(),
            locs: Interner::default(),
            names: PrimaryMap::default(),
            name_ids: Default::default(),
            ops: PrimaryMap::default(),
            values: PrimaryMap::default(),
            uses: PrimaryMap::default(),
            blocks: PrimaryMap::default(),
            regions: PrimaryMap::default(),
            free_uses: Vec::new(),
        };
        ir.locs.intern(LocKind::Unknown);
        ir
    }

    // --- interned things -------------------------------------------------------------------------------------------

    /// The symbol of `text`.
    pub fn sym(&mut self, text: &str) -> Sym {
        self.strings.intern(text)
    }
    /// The text of `sym`.
    pub fn str(&self, sym: Sym) -> &str {
        self.strings.get(sym)
    }
    /// The id of a type.
    pub fn type_id(&mut self, kind: TypeKind) -> TypeId {
        self.types.intern(kind)
    }
    /// What a type is.
    pub fn ty(&self, id: TypeId) -> &TypeKind {
        self.types.get(id)
    }
    /// The scalar type of `dtype`.
    pub fn scalar(&mut self, dtype: DType) -> TypeId {
        self.type_id(TypeKind::Scalar(dtype))
    }
    /// A dense tensor type.
    pub fn tensor(&mut self, dims: Vec<Dim>, dtype: DType) -> TypeId {
        self.type_id(TypeKind::Tensor(TensorType {
            dims,
            dtype,
            encoding: None,
        }))
    }
    /// `vector<lanes x dtype>`
    pub fn vector(&mut self, lanes: u64, dtype: DType) -> TypeId {
        self.type_id(TypeKind::Vector {
            shape: vec![lanes],
            dtype,
        })
    }
    /// A function type.
    pub fn function_type(&mut self, inputs: Vec<TypeId>, results: Vec<TypeId>) -> TypeId {
        self.type_id(TypeKind::Function { inputs, results })
    }
    /// The extent that `expr` denotes: static where it is a constant, `None` where that is negative.
    pub fn extent(&mut self, expr: ExtentExpr) -> Option<Extent> {
        match expr.as_constant() {
            Some(value) => u64::try_from(value).ok().map(Extent::Static),
            None => Some(Extent::Symbolic(self.extents.intern(expr))),
        }
    }
    /// The extent called `name`.
    pub fn named_extent(&mut self, name: &str) -> Extent {
        let sym = self.sym(name);
        Extent::Symbolic(self.extents.intern(ExtentExpr::name(sym)))
    }
    /// The polynomial of a symbolic extent.
    pub fn extent_expr(&self, id: ExtentExprId) -> &ExtentExpr {
        self.extents.get(id)
    }
    /// Any known extent as a polynomial; `None` for `?` and for constants beyond i64.
    pub fn extent_as_expr(&self, extent: Extent) -> Option<ExtentExpr> {
        match extent {
            Extent::Static(v) => i64::try_from(v).ok().map(ExtentExpr::constant),
            Extent::Symbolic(id) => Some(self.extent_expr(id).clone()),
            Extent::Unknown => None,
        }
    }
    /// The id of an attribute.
    pub fn attr(&mut self, kind: AttrKind) -> AttrId {
        self.attrs.intern(kind)
    }
    /// What an attribute is.
    pub fn attr_kind(&self, id: AttrId) -> &AttrKind {
        self.attrs.get(id)
    }
    /// An `i64` attribute.
    pub fn int_attr(&mut self, value: i64) -> AttrId {
        let ty = self.scalar(DType::I64);
        self.attr(AttrKind::Int {
            value: value.into(),
            ty,
        })
    }
    /// A string attribute.
    pub fn string_attr(&mut self, text: &str) -> AttrId {
        let sym = self.sym(text);
        self.attr(AttrKind::String(sym))
    }
    /// An `array<i64: ...>` attribute.
    pub fn i64_array_attr(&mut self, values: &[i64]) -> AttrId {
        self.attr(AttrKind::I64Array(values.to_vec()))
    }
    /// An array of strings.
    pub fn string_array_attr(&mut self, texts: &[&str]) -> AttrId {
        let items = texts.iter().map(|t| self.string_attr(t)).collect();
        self.attr(AttrKind::Array(items))
    }
    /// The id of a location.
    pub fn loc(&mut self, kind: LocKind) -> LocId {
        self.locs.intern(kind)
    }
    /// What a location is.
    pub fn loc_kind(&self, id: LocId) -> &LocKind {
        self.locs.get(id)
    }
    /// `loc(unknown)`
    pub fn unknown_loc(&mut self) -> LocId {
        self.loc(LocKind::Unknown)
    }
    /// The id of an operation name, registered or not.
    pub fn op_name(&mut self, name: &str) -> OpName {
        let sym = self.sym(name);
        if let Some(&id) = self.name_ids.get(&sym) {
            return id;
        }
        let id = self.names.push(NameData {
            sym,
            def: self.registry.op(name),
        });
        self.name_ids.insert(sym, id);
        id
    }

    // --- creating --------------------------------------------------------------------------------------------------

    /// Makes an operation, attached to no block.
    pub fn create(&mut self, name: OpName, new: NewOp) -> Op {
        let loc = match new.loc {
            Some(loc) => loc,
            None => self.unknown_loc(),
        };
        let mut attrs: SmallVec<[(Sym, AttrId); 2]> = new.attrs.into_iter().collect();
        let strings = &self.strings;
        attrs.sort_by(|a, b| strings.get(a.0).cmp(strings.get(b.0)));
        let op = self.ops.push(OpData {
            name,
            operands: SmallVec::new(),
            results: SmallVec::new(),
            attrs,
            regions: new.regions.clone(),
            successors: Vec::new(),
            loc,
            parent: None,
            prev: None,
            next: None,
            order: 0,
            erased: false,
        });
        for region in new.regions {
            self.regions[region].parent = Some(op);
        }
        for (index, (ty, name)) in new.results.into_iter().enumerate() {
            let def = Def::Result(op, index as u32);
            let value = self.values.push(ValueData {
                ty,
                def,
                name,
                first_use: None,
                last_use: None,
            });
            self.ops[op].results.push(value);
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
        let def = Def::Arg(block, self.blocks[block].args.len() as u32);
        let value = self.values.push(ValueData {
            ty,
            def,
            name,
            first_use: None,
            last_use: None,
        });
        self.blocks[block].args.push(value);
        value
    }
    /// Adds a result to `op`.
    pub fn append_result(&mut self, op: Op, ty: TypeId, name: Option<Sym>) -> Value {
        let def = Def::Result(op, self.ops[op].results.len() as u32);
        let value = self.values.push(ValueData {
            ty,
            def,
            name,
            first_use: None,
            last_use: None,
        });
        self.ops[op].results.push(value);
        value
    }
    /// Removes result `index` (unused) of `op`; the later ones move up.
    pub fn remove_result(&mut self, op: Op, index: usize) {
        self.ops[op].results.remove(index);
        for (i, result) in self.ops[op].results.clone().into_iter().enumerate() {
            self.values[result].def = Def::Result(op, i as u32);
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
        let order = match (prev, next) {
            (None, _) => 0,
            (Some(p), None) => self.ops[p].order.saturating_add(1),
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
        self.detach(op);
        let mut stack = vec![op];
        while let Some(op) = stack.pop() {
            self.drop_operands(op);
            let regions = std::mem::take(&mut self.ops[op].regions);
            for region in regions {
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
            self.ops[op].erased = true;
            self.spans[op] = None;
        }
    }
    /// Erases a block and its ops, and takes it out of its region.
    pub fn erase_block(&mut self, block: Block) {
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
    fn drop_operands(&mut self, op: Op) {
        let operands = std::mem::take(&mut self.ops[op].operands);
        for slot in operands {
            self.unlink_use(slot);
            self.free_uses.push(slot);
        }
        self.ops[op].successors.clear();
    }

    // --- uses ------------------------------------------------------------------------------------------------------

    /// Adds an operand to `op`.
    pub fn push_operand(&mut self, op: Op, value: Value) {
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
        self.ops[op].operands.push(slot);
    }
    /// Adds a successor that is handed `args`. After the first successor, no plain operand may be added.
    pub fn push_successor(&mut self, op: Op, block: Block, args: &[Value]) {
        self.ops[op].successors.push((block, args.len() as u32));
        for &value in args {
            self.push_operand(op, value);
        }
    }
    /// Sets operand `index` of `op`.
    pub fn set_operand(&mut self, op: Op, index: usize, value: Value) {
        let slot = self.ops[op].operands[index];
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
        self.unlink_use(slot);
        self.uses[slot].value = value;
        self.link_use(slot);
    }
    /// Points every use of `from` at `to`. The name of `from` goes to `to` where `to` has none.
    pub fn replace_all_uses(&mut self, from: Value, to: Value) {
        if from == to {
            return;
        }
        while let Some(slot) = self.values[from].first_use {
            self.set_use(slot, to);
        }
        if self.values[to].name.is_none() {
            self.values[to].name = self.values[from].name;
        }
    }
    /// Points those uses of `from` at `to` for which `wanted` says so.
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
    fn unlink_use(&mut self, slot: Use) {
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
    /// Whether nothing uses `value`.
    pub fn is_unused(&self, value: Value) -> bool {
        self.values[value].first_use.is_none()
    }
    /// Whether exactly one operand slot uses `value`.
    pub fn has_one_use(&self, value: Value) -> bool {
        let data = &self.values[value];
        data.first_use.is_some() && data.first_use == data.last_use
    }
    /// The op and operand index of a use.
    pub fn use_owner(&self, slot: Use) -> (Op, usize) {
        (self.uses[slot].owner, self.uses[slot].index as usize)
    }

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
    /// Whether `op` is of table `def`.
    pub fn is(&self, op: Op, def: &'static OpDef) -> bool {
        self.def(op).is_some_and(|d| std::ptr::eq(d, def))
    }
    /// Whether `op` has all of `traits` (an unknown op has none).
    pub fn has(&self, op: Op, traits: Traits) -> bool {
        self.def(op).is_some_and(|d| d.traits.contains(traits))
    }
    /// Number of operands, successor arguments included.
    pub fn operand_count(&self, op: Op) -> usize {
        self.ops[op].operands.len()
    }
    /// Operand `index`.
    pub fn operand(&self, op: Op, index: usize) -> Value {
        self.uses[self.ops[op].operands[index]].value
    }
    /// All operands, successor arguments last.
    pub fn operands(
        &self,
        op: Op,
    ) -> impl ExactSizeIterator<Item = Value> + DoubleEndedIterator + '_ {
        self.ops[op].operands.iter().map(|&u| self.uses[u].value)
    }
    /// The use entities of the operands.
    pub fn operand_uses(&self, op: Op) -> &[Use] {
        &self.ops[op].operands
    }
    /// All results.
    pub fn results(&self, op: Op) -> &[Value] {
        &self.ops[op].results
    }
    /// Result `index`.
    pub fn result(&self, op: Op, index: usize) -> Value {
        self.ops[op].results[index]
    }
    /// All attributes, sorted by the text of their names.
    pub fn attrs(&self, op: Op) -> &[(Sym, AttrId)] {
        &self.ops[op].attrs
    }
    /// The attribute `name`.
    pub fn get_attr(&self, op: Op, name: &str) -> Option<AttrId> {
        let sym = self.strings.lookup(name)?;
        self.ops[op]
            .attrs
            .iter()
            .find(|(key, _)| *key == sym)
            .map(|(_, a)| *a)
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
    /// The symbol that `op` declares (`sym_name`).
    pub fn symbol_name(&self, op: Op) -> Option<&str> {
        self.str_of(op, "sym_name")
    }
    /// Sets or replaces an attribute.
    pub fn set_attr(&mut self, op: Op, name: &str, value: AttrId) {
        let sym = self.sym(name);
        let strings = &self.strings;
        let attrs = &mut self.ops[op].attrs;
        match attrs.binary_search_by(|(key, _)| strings.get(*key).cmp(name)) {
            Ok(at) => attrs[at].1 = value,
            Err(at) => attrs.insert(at, (sym, value)),
        }
    }
    /// Removes an attribute.
    pub fn remove_attr(&mut self, op: Op, name: &str) {
        if let Some(sym) = self.strings.lookup(name) {
            self.ops[op].attrs.retain(|(key, _)| *key != sym);
        }
    }
    /// Regions.
    pub fn op_regions(&self, op: Op) -> &[Region] {
        &self.ops[op].regions
    }
    /// Successor blocks with the operands handed to each.
    pub fn successors(&self, op: Op) -> Vec<(Block, Vec<Value>)> {
        let data = &self.ops[op];
        let mut at =
            data.operands.len() - data.successors.iter().map(|s| s.1 as usize).sum::<usize>();
        let mut list = Vec::with_capacity(data.successors.len());
        for &(block, count) in &data.successors {
            let slots = &data.operands[at..at + count as usize];
            list.push((block, slots.iter().map(|&u| self.uses[u].value).collect()));
            at += count as usize;
        }
        list
    }
    /// Number of successors.
    pub fn successor_count(&self, op: Op) -> usize {
        self.ops[op].successors.len()
    }
    /// Points successor `index` at `block`.
    pub fn set_successor(&mut self, op: Op, index: usize, block: Block) {
        self.ops[op].successors[index].0 = block;
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
    /// Whether `op` was erased.
    pub fn is_erased(&self, op: Op) -> bool {
        self.ops[op].erased
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
        self.values[value].ty = ty;
    }
    /// Where the value comes from.
    pub fn value_def(&self, value: Value) -> Def {
        self.values[value].def
    }
    /// The op that makes the value, if it is a result.
    pub fn def_op(&self, value: Value) -> Option<Op> {
        match self.values[value].def {
            Def::Result(op, _) => Some(op),
            Def::Arg(..) => None,
        }
    }
    /// The block in which the value is defined.
    pub fn def_block(&self, value: Value) -> Option<Block> {
        match self.values[value].def {
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

    // --- blocks and regions ----------------------------------------------------------------------------------------

    /// Arguments of a block.
    pub fn args(&self, block: Block) -> &[Value] {
        &self.blocks[block].args
    }
    /// Removes argument `index` (unused) of `block`; the later ones move up.
    pub fn remove_arg(&mut self, block: Block, index: usize) {
        self.blocks[block].args.remove(index);
        for (i, arg) in self.blocks[block].args.clone().into_iter().enumerate() {
            self.values[arg].def = Def::Arg(block, i as u32);
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
        self.entry_block(*self.ops[op].regions.get(index)?)
    }
    /// The block after `block` in its region.
    pub fn next_block(&self, block: Block) -> Option<Block> {
        self.blocks[block].next
    }
    /// Adds a region to an existing op.
    pub fn push_region(&mut self, op: Op, region: Region) {
        self.regions[region].parent = Some(op);
        self.ops[op].regions.push(region);
    }
    /// Moves all ops of `from` to before `anchor`.
    pub fn inline_block_before(&mut self, from: Block, anchor: Op) {
        while let Some(op) = self.blocks[from].first {
            self.detach(op);
            self.insert_before(anchor, op);
        }
    }
    /// Whether `a` stands before `b` in their common block. Amortised constant.
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
