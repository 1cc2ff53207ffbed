//! Vectorizes long rows that start at an unaligned element, from the first aligned vector on.

mod walk;
mod widen;

use fuser_analysis::targets::{self, TARGET};
use fuser_dialects::fusion;
use fuser_dialects::kernel::sum::Sum;
use fuser_dialects::kernel::{self, rounds, rounds::Rounds};
use fuser_ir::types::{Extent, TypeKind};
use fuser_ir::{DType, Ir, Op, Value};
use fuser_pass::{PassDef, StatDef};
use fuser_target::Target;
use rustc_hash::{FxHashMap, FxHashSet};

use self::walk::Walk;
use crate::lower::build::{Idx, KernelBuilder};
use crate::lower::launch::shared_memory;

/// `peel-rows`
pub static PEEL_ROWS: PassDef = PassDef {
    name: "peel-rows",
    summary: "walks long rows that begin between two vectors from the first whole one on",
    doc: "In each `kernel.func` for a GPU: thread loops of a grid loop over rows that begin anywhere in a vector, of as many rounds as \
          are written out or more, get the vectors that lie whole in a row, and loops of their own for what lies before and behind. All of their accesses to \
          global memory must lie in the same place of a vector, and all loops over a tile must be such.",
    works_on: "kernel.func",
    anchor: &["builtin.module"],
    options: &[TARGET],
    statistics: &[StatDef {
        name: "loops",
        doc: "loops that walk whole vectors",
    }],
    run: |ctx| {
        let target = targets::of(ctx);
        for func in ctx.ir.children(ctx.op) {
            if ctx.ir.is(func, &kernel::FUNC) && target.abilities().block_threads {
                let loops = peel(ctx.ir, func, &target);
                ctx.count("loops", loops);
            }
        }
        Ok(())
    },
    ..PassDef::EMPTY
};

/// Threads of a block at least, where more would not all have work.
const LEAST_THREADS: i64 = 128;

/// The rows that loops walk in single elements or short vectors.
#[derive(Clone, PartialEq, Eq)]
struct Row {
    /// Elements, at least and at most.
    least: i64,
    most: i64,
    /// Their number, where it is no constant.
    length: Option<Value>,
    /// Elements of a step.
    step: i64,
    /// Lanes of a vector, a power of two.
    lanes: i64,
    /// The offset of the row's first element within a vector of the tensor, modulo `lanes`.
    place: Sum,
}

/// The ends of a row, as a kernel has them.
#[derive(Clone, Copy)]
struct Ends {
    /// The elements before the first whole vector.
    head: Idx,
    /// The elements of all whole ones.
    whole: Idx,
    /// The end of a loop over the others that begins at [`Row::end`].
    last: Idx,
}

/// Vectorizes the loops of `func` where possible; returns the number of vectorized loops.
fn peel(ir: &mut Ir, func: Op, target: &Target) -> u64 {
    let threads = ir.int_of(func, "threads").unwrap_or(1);
    let alone = threads > 1 && ir.int_of(func, "cluster").is_none();
    let grid = kernel::grid_loop(ir, func).filter(|_| alone);
    let loops = grid.map_or_else(Vec::new, |grid| ir.children(grid));
    let walks = loops.into_iter().filter_map(|op| Walk::of(ir, op, threads));
    let walks: Vec<Walk> = walks.collect();
    let Some(row) = row(ir, func, &walks, target) else {
        return 0;
    };
    for tile in tiles(&walks) {
        if let TypeKind::MemRef { dtype, space, .. } = *ir.value_kind(tile) {
            let dims = [Extent::Static(row.tile().unsigned_abs())];
            let dims = dims.into_iter().collect();
            let ty = ir.type_id(TypeKind::MemRef { dims, dtype, space });
            ir.set_value_type(tile, ty);
        }
    }
    for walk in &walks {
        walk.mark_once(ir);
    }
    let (mut ends, mut loops) = (None, Vec::new());
    for walk in &walks {
        let (region, loc) = (ir.new_region(), ir.op_loc(walk.op));
        let block = ir.append_block(region);
        let mut k = KernelBuilder {
            ir,
            block,
            entry: block,
            loc,
            extents: FxHashMap::default(),
            multiples: FxHashMap::default(),
        };
        let ends = *ends.get_or_insert_with(|| row.ends(&mut k));
        let edges = walk.edges(&mut k, &row, ends);
        let results = walk.vectors(&mut k, &row, ends, &edges);
        loops.extend(k.ir.last_op(block));
        ir.inline_block_before(block, walk.op);
        for (number, result) in results.into_iter().enumerate() {
            ir.replace_all_uses(ir.result(walk.op, number), result);
        }
        ir.erase(walk.op);
    }
    let others = ir.walk(func).into_iter().filter(|&op| {
        ir.is(op, &kernel::FOR) && matches!(kernel::verify::mapping(ir, op), "thread" | "group")
    });
    let each = 1 + usize::from(row.rest() > 0);
    if others.count() == each * walks.len() {
        fewer_threads(ir, func, &loops);
    }
    walks.len() as u64
}

/// Halves the number of threads until seven of eight threads have work in the unrolled rounds of the loops, if that is
/// possible.
fn fewer_threads(ir: &mut Ir, func: Op, loops: &[Op]) {
    let own = ir.int_of(func, "threads").unwrap_or(1);
    let halves = std::iter::successors(Some(own), |threads| Some(threads / 2));
    let mut halves = halves.take_while(|threads| *threads >= LEAST_THREADS);
    let busy = |&threads: &i64| {
        let busy = |rounds: Rounds| 8 * rounds.sure() >= 7 * rounds.count * threads;
        loops
            .iter()
            .all(|&op| Rounds::of(ir, op, threads).is_some_and(busy))
    };
    if let Some(threads) = halves.find(busy).filter(|&threads| threads < own) {
        let threads = ir.int_attr(threads);
        ir.set_attr(func, "threads", threads);
    }
}

/// The allocations that loops touch, each once, in order.
fn tiles(walks: &[Walk]) -> Vec<Value> {
    let all = walks.iter().flat_map(|walk| &walk.tiles);
    let mut all: Vec<Value> = all.copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The row that all `walks` have in common. `None` if they differ, if other loops use their tiles, or if the longer
/// tiles exceed a block's shared memory.
fn row(ir: &Ir, func: Op, walks: &[Walk], target: &Target) -> Option<Row> {
    // All of them have the vectors of the widest elements.
    let bytes = walks.iter().map(|walk| walk.bytes).max()?;
    let lanes = i64::try_from(target.vector_bytes / bytes.max(1)).ok()?;
    let rows = walks.iter().map(|walk| walk.row(ir, lanes));
    let rows: Vec<Row> = rows.collect::<Option<_>>()?;
    let (row, others) = rows.split_first()?;
    let own: FxHashSet<Op> = walks.iter().map(|walk| walk.op).collect();
    let tiles = tiles(walks);
    let mut users = tiles.iter().flat_map(|&tile| ir.users(tile));
    let inside = |user| rounds::around(ir, user).is_some_and(|of| own.contains(&of));
    let whole = others.iter().all(|other| other == row) && users.all(inside);
    (whole && row.fits(ir, func, &tiles, target)).then(|| row.clone())
}

impl Row {
    /// Elements of the whole vectors of a row, at most.
    fn end(&self) -> i64 {
        self.most & -self.lanes
    }
    /// Elements of the whole vectors of a row, at least.
    fn fewest(&self) -> i64 {
        let head = match self.is_aligned() {
            true => 0,
            false => self.lanes - 1,
        };
        ((self.least - head) & -self.lanes).max(0)
    }
    /// True if each row begins with a whole vector.
    fn is_aligned(&self) -> bool {
        self.place.0.is_empty()
    }
    /// Elements before and behind the whole vectors, at most.
    fn rest(&self) -> i64 {
        match self.length {
            None => self.most - self.fewest(),
            Some(_) => 2 * (self.lanes - 1),
        }
    }
    /// Elements of a tile over a row.
    fn tile(&self) -> i64 {
        self.end() + self.rest()
    }
    /// True if the longer tiles fit into the shared memory of a block. Loops over ends need no memory for combining.
    fn fits(&self, ir: &Ir, func: Op, tiles: &[Value], target: &Target) -> bool {
        let Some(limit) = target.scratch_limit() else {
            return true;
        };
        let threads = ir.int_of(func, "threads").unwrap_or(1);
        let mut longer = tiles.iter().map(|&tile| {
            let element = ir.value_kind(tile).dtype().map_or(0, DType::bytes);
            let longer = (self.tile() - self.most).unsigned_abs() * element;
            longer.next_multiple_of(kernel::SCRATCH_ALIGN)
        });
        let own = shared_memory(ir, func, threads);
        let all = own.and_then(|own| longer.try_fold(own, u64::checked_add));
        all.is_some_and(|all| all <= limit)
    }
    /// Makes the indices of the ends of a row.
    fn ends(&self, k: &mut KernelBuilder<'_>) -> Ends {
        let mut place = Idx::ZERO;
        for (product, &factor) in &self.place.0 {
            let mut term = Idx::Const(factor);
            for unknown in product {
                term = k.mul(Idx::Value(unknown.value), term);
            }
            place = k.add(place, term);
        }
        let head = match self.is_aligned() {
            true => Idx::ZERO,
            false => {
                let before = k.sub(Idx::ZERO, place);
                and(k, before, self.lanes - 1)
            }
        };
        let length = self.length.map_or(Idx::Const(self.most), Idx::Value);
        let (fewest, most) = (Idx::Const(self.fewest()), Idx::Const(self.end()));
        let whole = match fewest == most {
            true => most,
            false => {
                let behind = k.sub(length, head);
                let whole = and(k, behind, -self.lanes);
                // Between these it lies where the row is longer than its head; so rounds can be counted.
                let whole = k.max(whole, fewest);
                k.min(whole, most)
            }
        };
        let rest = k.sub(length, whole);
        let last = k.add(most, rest);
        let last = k.min(last, Idx::Const(self.tile()));
        Ends { head, whole, last }
    }
}

/// `index & mask`
fn and(k: &mut KernelBuilder<'_>, index: Idx, mask: i64) -> Idx {
    let (index, mask) = (k.index(index), k.index(Idx::Const(mask)));
    Idx::Value(k.binary(&fusion::AND, index, mask))
}
