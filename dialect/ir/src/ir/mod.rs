//! The storage of a program: operations, values, blocks, regions, and exact use lists.
//!
//! One [`Ir`] owns everything that a program is made of. Handles (`Op`, `Value`, ...) are small copies; all access goes
//! through `Ir`. The edits here keep the structure whole: use lists are exact after each call, lists of ops and blocks are
//! linked both ways. They do not check meaning; the verifier does.
//!
//! [`interned`] has types, attributes, names and places; [`edit`] makes, links and erases; [`uses`] keeps the use lists;
//! [`access`] reads. A record holds indices, and its lists inline while they are short: an op of two operands and one result
//! takes about 250 bytes with its values, uses and places, in arenas in the order of the text, so a walk reads memory forwards.
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
use crate::entity::PrimaryMap;
use crate::intern::{Interner, Strings, Sym};
use crate::loc::{LocId, LocKind};
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
    operands: SmallVec<[Use; 4]>,
    results: SmallVec<[Value; 4]>,
    attrs: SmallVec<[(Sym, AttrId); 2]>,
    nested: Option<Box<Nested>>,
    loc: LocId,
    parent: Option<Block>,
    prev: Option<Op>,
    next: Option<Op>,
    order: u32,
    erased: bool,
}

/// What few ops have.
#[derive(Clone, Debug, Default)]
struct Nested {
    regions: SmallVec<[Region; 4]>,
    successors: Vec<(Block, u32)>,
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
    pub spans: SpanTable,
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
            spans: SpanTable::default(),
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
}
