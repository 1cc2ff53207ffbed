//! The storage of a program: operations, values, blocks, regions, and exact use lists.
//!
//! One [`Ir`] owns everything that a program is made of. Handles (`Op`, `Value`, ...) are small copies; all access goes
//! through `Ir`. The edits here keep the structure whole: use lists are exact after each call, lists of ops and blocks
//! are linked both ways. They do not check meaning; the verifier does.
//!
//! [`interned`] has types, attributes, names and places; [`edit`] makes, links and erases; [`uses`] keeps the use
//! lists; [`access`] reads. A record holds indices, and lists are stored consecutively: an op of two operands and one
//! result takes about 200 bytes with its values, uses and places. Arenas are in the order of the text, so a walk reads
//! memory forwards.
//!
//! Never recurses: erasing or dropping a tree of any depth uses explicit stacks.

mod access;
mod edit;
mod interned;
mod uses;

use std::sync::Arc;

use smallvec::SmallVec;

use crate::attr::{AttrId, AttrKind};
use crate::def::{OpDef, Registry};
use crate::entity::{Entity, PrimaryMap};
use crate::intern::{Interner, Strings, Sym};
use crate::lists::{List, Lists};
use crate::loc::{LocId, LocKind, Locations};
use crate::span::SpanTable;
use crate::types::{ExtentExpr, ExtentExprId, TypeId, TypeKind};

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
    /// Regions and successors of an op, which few ops have.
    NestedId,
}

/// The definition of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Def {
    /// Result number `.1` of operation `.0`.
    Result(Op, u32),
    /// Argument number `.1` of block `.0`.
    Arg(Block, u32),
}

/// A [`Def`] in two words: the number of the op or block, and the number of the value, with a bit that distinguishes
/// the two.
#[derive(Clone, Copy, Debug)]
struct PackedDef {
    owner: u32,
    place: u32,
}

/// Flag of [`PackedDef::place`]: the owner is a block. No op and no block has half as many values.
const ARGUMENT: u32 = 1 << 31;

impl From<Def> for PackedDef {
    fn from(def: Def) -> Self {
        let (owner, place) = match def {
            Def::Result(op, place) => (op.index(), place),
            Def::Arg(block, place) => (block.index(), place | ARGUMENT),
        };
        let owner = owner as u32;
        Self { owner, place }
    }
}

impl From<PackedDef> for Def {
    fn from(def: PackedDef) -> Self {
        let (owner, place) = (def.owner as usize, def.place & !ARGUMENT);
        match def.place & ARGUMENT {
            0 => Def::Result(Op::from_index(owner), place),
            _ => Def::Arg(Block::from_index(owner), place),
        }
    }
}

#[derive(Clone, Debug)]
struct OpData {
    name: OpName,
    operands: List,
    results: List,
    attrs: List,
    nested: Option<NestedId>,
    loc: LocId,
    parent: Option<Block>,
    prev: Option<Op>,
    next: Option<Op>,
    /// Among the ops of its block, or [`ERASED`].
    order: u32,
}

/// In place of an op's number in its block: it was erased.
const ERASED: u32 = u32::MAX;

/// Regions and successors of an op, kept apart because few ops have them: see [`NestedId`].
#[derive(Clone, Debug, Default)]
struct Nested {
    regions: SmallVec<[Region; 4]>,
    successors: Vec<(Block, u32)>,
}

#[derive(Clone, Debug)]
struct ValueData {
    ty: TypeId,
    def: PackedDef,
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
    args: SmallVec<[Value; 4]>,
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

/// The parts of an operation that is yet to be made.
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
    /// Source ranges of parsed ops, for diagnostics; ops made by passes have none.
    pub spans: SpanTable,
    types: Interner<TypeId, TypeKind>,
    extents: Interner<ExtentExprId, ExtentExpr>,
    attrs: Interner<AttrId, AttrKind>,
    locs: Locations,
    names: PrimaryMap<OpName, NameData>,
    name_ids: rustc_hash::FxHashMap<Sym, OpName>,
    ops: PrimaryMap<Op, OpData>,
    operand_lists: Lists<Use>,
    result_lists: Lists<Value>,
    attr_lists: Lists<(Sym, AttrId)>,
    nested: PrimaryMap<NestedId, Nested>,
    values: PrimaryMap<Value, ValueData>,
    uses: PrimaryMap<Use, UseData>,
    blocks: PrimaryMap<Block, BlockData>,
    regions: PrimaryMap<Region, RegionData>,
    free_uses: Vec<Use>,
    /// For isolated ops, the least number that is not and was not the name of a value in it: see
    /// [`Ir::first_free_number`].
    free_numbers: rustc_hash::FxHashMap<Op, u32>,
    edits: u64,
}

impl Ir {
    /// An empty program that knows the dialects of `registry`.
    pub fn new(registry: Arc<Registry>) -> Self {
        let mut ir = Self {
            strings: Strings::default(),
            registry,
            spans: SpanTable::default(),
            types: Interner::default(),
            extents: Interner::default(),
            attrs: Interner::default(),
            locs: Locations::default(),
            names: PrimaryMap::default(),
            name_ids: Default::default(),
            ops: PrimaryMap::default(),
            operand_lists: Lists::default(),
            result_lists: Lists::default(),
            attr_lists: Lists::default(),
            nested: PrimaryMap::default(),
            values: PrimaryMap::default(),
            uses: PrimaryMap::default(),
            blocks: PrimaryMap::default(),
            regions: PrimaryMap::default(),
            free_uses: Vec::new(),
            free_numbers: Default::default(),
            edits: 0,
        };
        ir.locs.intern(LocKind::Unknown);
        ir
    }
    /// The number of edits so far: of ops, operands, attributes, types of values, blocks and regions. While it is
    /// unchanged, everything that the verifier checks is unchanged; names, locations and interned items do not count.
    pub fn edits(&self) -> u64 {
        self.edits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program of a million ops is mostly these.
    #[test]
    fn records_are_as_small_as_the_documentation_says() {
        assert_eq!(size_of::<OpData>(), 64);
        assert_eq!(size_of::<ValueData>(), 24);
        assert_eq!(size_of::<UseData>(), 20);
    }
    #[test]
    fn a_packed_definition_is_what_was_packed() {
        for place in [0, 1, 7, ARGUMENT - 1] {
            let result = Def::Result(Op::from_index(5), place);
            let argument = Def::Arg(Block::from_index(70_000), place);
            for def in [result, argument] {
                assert_eq!(Def::from(PackedDef::from(def)), def);
            }
        }
    }
    /// Each way to edit counts, so that nothing stays unverified that was edited.
    #[test]
    fn every_edit_counts() {
        let mut ir = Ir::new(Arc::new(Registry::new(&[])));
        let (name, ty) = (ir.op_name("t.op"), ir.scalar(crate::DType::F32));
        let attr = ir.int_attr(1);
        let with_result = || NewOp {
            results: [(ty, None)].into_iter().collect(),
            ..NewOp::default()
        };
        let (a, b) = (
            ir.create(name, with_result()),
            ir.create(name, with_result()),
        );
        let (c, region) = (ir.create(name, NewOp::default()), ir.new_region());
        let (block, other) = (ir.append_block(region), ir.append_block(region));
        let (of_a, of_b) = (ir.result(a, 0), ir.result(b, 0));
        type Edit = Box<dyn FnOnce(&mut Ir)>;
        let edits: Vec<Edit> = vec![
            Box::new(move |ir| ir.append_op(block, a)),
            Box::new(move |ir| ir.prepend_op(block, b)),
            Box::new(move |ir| ir.insert_after(a, c)),
            Box::new(move |ir| ir.move_before(b, c)),
            Box::new(move |ir| ir.move_to_end(c, other)),
            Box::new(move |ir| ir.inline_block_before(other, b)),
            Box::new(move |ir| ir.detach(c)),
            Box::new(move |ir| ir.insert_before(b, c)),
            Box::new(move |ir| ir.push_operand(c, of_a)),
            Box::new(move |ir| ir.set_operand(c, 0, of_b)),
            Box::new(move |ir| ir.set_operands(c, &[of_a])),
            Box::new(move |ir| ir.replace_all_uses(of_a, of_b)),
            Box::new(move |ir| ir.replace_uses_if(of_b, of_a, |_, _| true)),
            Box::new(move |ir| ir.set_attr(c, "n", attr)),
            Box::new(move |ir| ir.remove_attr(c, "n")),
            Box::new(move |ir| ir.set_value_type(of_b, ty)),
            Box::new(move |ir| ir.push_successor(c, other, &[])),
            Box::new(move |ir| ir.set_successor(c, 0, block)),
            Box::new(move |ir| ir.push_region(b, region)),
            Box::new(move |ir| _ = ir.append_arg(block, ty, None)),
            Box::new(move |ir| ir.remove_arg(block, 0)),
            Box::new(move |ir| _ = ir.append_result(c, ty, None)),
            Box::new(move |ir| ir.remove_result(c, 0)),
            Box::new(move |ir| _ = ir.append_block(region)),
            Box::new(move |ir| _ = ir.create(name, NewOp::default())),
            Box::new(move |ir| ir.erase_block(other)),
            Box::new(move |ir| ir.erase(c)),
        ];
        for (edit, number) in edits.into_iter().zip(0..) {
            let before = ir.edits();
            edit(&mut ir);
            assert!(ir.edits() > before, "edit {number}");
        }
        let before = ir.edits();
        ir.set_value_name(of_b, None);
        ir.remove_attr(b, "n");
        assert_eq!(ir.edits(), before);
    }
}
