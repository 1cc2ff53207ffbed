//! Visibility of values to an op, maintained during the walk so that each query takes constant time at any depth.

use crate::def::{At, OpError, Traits};
use crate::dominance::{Dominance, in_graph_region};
use crate::entity::SecondaryMap;
use crate::ir::{Block, Def, Ir, Op, Region, Value};

use super::codes::{ISOLATED, NOT_DOMINATED};
use super::value_text;

/// The walk's position in a region that encloses it.
#[derive(Clone, Copy, Debug)]
struct Position {
    op: Op,
    depth: u32,
}

/// The regions around the current op.
#[derive(Debug, Default)]
pub(super) struct Scope {
    open: SecondaryMap<Region, Option<Position>>,
    depth: u32,
    /// Depths of the isolated regions around, innermost last.
    isolated: Vec<u32>,
    dominance: Dominance,
}

/// The reason that a value cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// Defined in a region that does not enclose the use.
    OtherRegion,
    /// Defined outside of an isolated region.
    Outside,
    /// Defined later, or on another path.
    Later,
    /// Defined by the op that the use is inside of.
    Itself,
}

impl Scope {
    /// The scope around `root`.
    pub fn around(ir: &mut Ir, root: Op) -> Self {
        let mut scope = Self::default();
        let mut ancestors: Vec<Op> =
            std::iter::successors(Some(root), |o| ir.parent_op(*o)).collect();
        ancestors.reverse();
        for op in ancestors {
            let Some(block) = ir.parent_block(op) else {
                continue;
            };
            ir.renumber(block);
            if let Some(region) = ir.block_region(block) {
                scope.enter(ir, region);
                scope.advance(ir, op);
            }
        }
        scope
    }
    /// Goes into a region.
    pub fn enter(&mut self, ir: &Ir, region: Region) {
        self.depth += 1;
        if region_is_isolated(ir, region) {
            self.isolated.push(self.depth);
        }
    }
    /// Leaves it.
    pub fn leave(&mut self, ir: &Ir, region: Region) {
        self.depth -= 1;
        self.open[region] = None;
        if region_is_isolated(ir, region) {
            self.isolated.pop();
        }
    }
    /// Goes to `op` in the innermost region.
    pub fn advance(&mut self, ir: &Ir, op: Op) {
        let region = ir.parent_block(op).and_then(|b| ir.block_region(b));
        if let Some(region) = region {
            let depth = self.depth;
            self.open[region] = Some(Position { op, depth });
        }
    }
    /// Checks that the current op may use `value`.
    pub fn sees(&mut self, ir: &Ir, value: Value) -> Result<(), Fault> {
        let block = ir.def_block(value).ok_or(Fault::OtherRegion)?;
        let region = ir.block_region(block).ok_or(Fault::OtherRegion)?;
        let Position { op, depth } = self.open[region].ok_or(Fault::OtherRegion)?;
        if self
            .isolated
            .last()
            .is_some_and(|isolated| depth < *isolated)
        {
            return Err(Fault::Outside);
        }
        let at = ir.parent_block(op).ok_or(Fault::OtherRegion)?;
        if in_graph_region(ir, at) || self.earlier(ir, value, block, op, at)? {
            return Ok(());
        }
        Err(Fault::Later)
    }
    fn earlier(
        &mut self,
        ir: &Ir,
        value: Value,
        block: Block,
        op: Op,
        at: Block,
    ) -> Result<bool, Fault> {
        match ir.value_def(value) {
            Def::Result(def, _) if def == op => Err(Fault::Itself),
            Def::Result(def, _) if block == at => Ok(ir.op_order(def) < ir.op_order(op)),
            _ => Ok(self.dominance.block_dominates(ir, block, at)),
        }
    }
}

fn region_is_isolated(ir: &Ir, region: Region) -> bool {
    let parent = ir.region_parent(region);
    parent.is_some_and(|p| ir.has(p, Traits::ISOLATED))
}

impl Fault {
    /// The mistake of an op that uses `value` as operand `index`.
    pub fn error(self, ir: &Ir, index: usize, value: Value) -> OpError {
        let name = value_text(ir, value);
        let (text, code) = match self {
            Fault::OtherRegion => (
                format!("{name} is defined inside another region and not visible here"),
                &NOT_DOMINATED,
            ),
            Fault::Outside => (
                format!("{name} is defined outside of the isolated region"),
                &ISOLATED,
            ),
            Fault::Later => (
                format!("{name} is used before it is defined"),
                &NOT_DOMINATED,
            ),
            Fault::Itself => (
                format!("{name} is used inside of its own definition"),
                &NOT_DOMINATED,
            ),
        };
        let error = OpError::at(At::Operand(index), text).code(code);
        match self {
            Fault::Later => error.help("move its definition before this operation"),
            _ => error,
        }
    }
}
