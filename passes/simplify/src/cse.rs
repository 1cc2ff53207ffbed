//! Merges ops that compute the same.
//!
//! Two pure ops are the same if name, operands, attributes and result types are; operands of a commutative op may be
//! swapped. The first in program order stays, and the other's uses move to it. Walks nested regions with scoped tables: an
//! op inside a loop finds the equal one outside of it.
//!
//! ```text
//! %a = fusion.exp %x            %a = fusion.exp %x
//! %b = fusion.exp %x      =>    %c = fusion.add %a, %a
//! %c = fusion.add %a, %b
//! ```
//!
//! Never merges across the boundary of a task (segment, sweep, phase, pattern): rematerialization puts copies there on
//! purpose. Never touches ops with regions, ops with effects, or a user's `fusion.segment_set`. Near linear in the number of
//! ops; does not recurse.

use std::hash::{Hash, Hasher};

use fuser_dialects::task::outline::is_boundary;
use fuser_ir::entity::SecondaryMap;
use fuser_ir::{Ir, Op, Region, Traits, Value};
use fuser_pass::{OptionDef, OptionKind, PassContext, PassDef, StatDef};
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;

/// `cse`
pub static CSE: PassDef = PassDef {
    name: "cse",
    summary: "merge ops that compute the same",
    doc: "Pure ops with the same name, operands (in either order where the op is commutative), attributes and result types \
          become one, the first. Regions are searched with scoped tables. Copies in different segments, sweeps, phases or \
          patterns stay apart, because rematerialization put them there; `across-boundaries` merges an inner op with an equal \
          one outside of the boundary.",
    options: &[OptionDef {
        name: "across-boundaries",
        kind: OptionKind::Bool,
        default: "false",
        doc: "let an op inside a task be replaced by an equal one before the task",
    }],
    statistics: &[
        StatDef {
            name: "merged",
            doc: "ops replaced by an equal one",
        },
        StatDef {
            name: "seen",
            doc: "ops looked at",
        },
    ],
    run: |ctx| {
        run(ctx);
        Ok(())
    },
    ..PassDef::EMPTY
};

fn run(ctx: &mut PassContext<'_>) {
    let across = ctx.options.bool("across-boundaries");
    let mut merger = Merger::new(across);
    merger.walk(ctx.ir, ctx.op);
    let (merged, seen) = (merger.merged, merger.seen);
    ctx.count("merged", merged);
    ctx.count("seen", seen);
}

/// A step of the walk, which keeps its own stack.
enum Step {
    Enter(Region),
    /// This op and those behind it in its block.
    Visit(Op),
    /// Forget what was seen since the mark; back to the outer table.
    Leave {
        mark: usize,
        fresh: bool,
    },
}

/// The last op with each hash. Earlier ops with the same hash are linked through [`Merger::earlier`].
type Table = FxHashMap<u64, Op>;

/// The largest table that is kept for the next scope: clearing it costs its size.
const MOST_KEPT: usize = 1024;

struct Merger {
    across: bool,
    tables: Vec<Table>,
    /// A table that is not in use: it keeps its memory.
    spare: Table,
    /// The op with the same hash that was in the table before; usually `None`.
    earlier: SecondaryMap<Op, Option<Op>>,
    /// Hashes in order of insertion, so that a scope can be undone.
    log: Vec<u64>,
    merged: u64,
    seen: u64,
}

impl Merger {
    fn new(across: bool) -> Self {
        Self {
            across,
            tables: vec![Table::default()],
            spare: Table::default(),
            earlier: SecondaryMap::default(),
            log: Vec::new(),
            merged: 0,
            seen: 0,
        }
    }
    fn walk(&mut self, ir: &mut Ir, root: Op) {
        let mut stack = Vec::new();
        self.push_regions(ir, root, &mut stack);
        while let Some(step) = stack.pop() {
            match step {
                Step::Enter(region) => self.enter(ir, region, &mut stack),
                Step::Visit(op) => self.visit(ir, op, &mut stack),
                Step::Leave { mark, fresh } => self.leave(mark, fresh),
            }
        }
    }
    fn push_regions(&self, ir: &Ir, op: Op, stack: &mut Vec<Step>) {
        let regions = ir.op_regions(op).iter().rev();
        stack.extend(regions.map(|&r| Step::Enter(r)));
    }
    fn enter(&mut self, ir: &Ir, region: Region, stack: &mut Vec<Step>) {
        let parent = ir.region_parent(region);
        let isolated = parent.is_some_and(|op| ir.has(op, Traits::ISOLATED));
        let boundary = parent.is_some_and(|op| is_boundary(ir, op));
        let fresh = isolated || (boundary && !self.across);
        if fresh {
            self.tables.push(std::mem::take(&mut self.spare));
        }
        let mark = self.log.len();
        stack.push(Step::Leave { mark, fresh });
        let blocks: SmallVec<[_; 1]> = ir.region_blocks(region).collect();
        let single = blocks.len() == 1;
        for &block in blocks.iter().rev() {
            if !single {
                // A block of several dominates nothing for certain: what it has is forgotten at its end.
                stack.push(Step::Leave { mark, fresh: false });
            }
            stack.extend(ir.first_op(block).map(Step::Visit));
        }
    }
    fn leave(&mut self, mark: usize, fresh: bool) {
        if fresh {
            self.log.truncate(mark);
            if let Some(mut table) = self.tables.pop()
                && table.capacity() <= MOST_KEPT
            {
                table.clear();
                self.spare = table;
            }
            return;
        }
        let Some(table) = self.tables.last_mut() else {
            return;
        };
        for hash in self.log.drain(mark..).rev() {
            let last = table.remove(&hash);
            let earlier = last.and_then(|op| self.earlier[op]);
            if let Some(op) = earlier {
                table.insert(hash, op);
            }
        }
    }
    fn visit(&mut self, ir: &mut Ir, op: Op, stack: &mut Vec<Step>) {
        self.seen += 1;
        stack.extend(ir.next_op(op).map(Step::Visit));
        if !ir.op_regions(op).is_empty() {
            return self.push_regions(ir, op, stack);
        }
        let traits = ir.def(op).map_or(Traits::empty(), |def| def.traits);
        let kept = Traits::BARRIER.union(Traits::TERMINATOR);
        if !traits.contains(Traits::PURE) || traits.intersects(kept) {
            return;
        }
        let hash = hash_of(ir, op);
        let Some(table) = self.tables.last_mut() else {
            return;
        };
        let last = table.get(&hash).copied();
        let mut candidates = std::iter::successors(last, |&op| self.earlier[op]);
        match candidates.find(|&known| same(ir, known, op)) {
            Some(known) => {
                replace(ir, op, known);
                self.merged += 1;
            }
            None => {
                if last.is_some() {
                    self.earlier[op] = last;
                }
                table.insert(hash, op);
                self.log.push(hash);
            }
        }
    }
}

fn replace(ir: &mut Ir, op: Op, by: Op) {
    let unknown = ir.unknown_loc();
    if ir.op_loc(by) == unknown {
        let loc = ir.op_loc(op);
        ir.set_loc(by, loc);
    }
    for index in 0..ir.results(op).len() {
        let (from, to) = (ir.result(op, index), ir.result(by, index));
        ir.replace_all_uses(from, to);
    }
    ir.erase(op);
}

/// The operands, those that may be swapped in a fixed order.
fn key_operands(ir: &Ir, op: Op) -> SmallVec<[Value; 4]> {
    let mut operands: SmallVec<[Value; 4]> = ir.operands(op).collect();
    if ir.has(op, Traits::COMMUTATIVE) && operands.len() >= 2 && operands[1] < operands[0] {
        operands.swap(0, 1);
    }
    operands
}

fn hash_of(ir: &Ir, op: Op) -> u64 {
    let mut hasher = FxHasher::default();
    ir.name_id(op).hash(&mut hasher);
    key_operands(ir, op).hash(&mut hasher);
    for attr in ir.inherent_attrs(op) {
        attr.hash(&mut hasher);
    }
    for &result in ir.results(op) {
        ir.value_type(result).hash(&mut hasher);
    }
    hasher.finish()
}

fn same(ir: &Ir, a: Op, b: Op) -> bool {
    ir.is_alike(a, b) && key_operands(ir, a) == key_operands(ir, b)
}
