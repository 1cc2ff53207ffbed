//! Splits the rows of a block among groups of threads.
//!
//! A block that has all rows of some columns uses one thread for every few columns. Each thread iterates over the rows,
//! and too few threads are active to hide the latency. The pass gives a block more threads, in groups of the former
//! size. Each group iterates over its own rows and leaves its partial result in shared memory. The threads of a column
//! then combine the results of all groups:
//!
//! ```text
//! kernel.for 0, 512, 1 map "seq" {                       kernel.for 0, 128, 1 map "group" groups 128 {                     // %g
//!   kernel.for 0, 32, 8 map "thread" {                     kernel.for 0, 32, 8 map "thread" { kernel.store -inf, %own, %i }
//!     %x = kernel.load %in, %row * 32 + %i                 kernel.for 0, 4, 1 map "seq" {                                  // %row = %k * 128 + %g
//!     %m = kernel.load %max, %i                              kernel.for 0, 32, 8 map "thread" {
//!     %n = fmax %m, %x                             =>          %x = kernel.load %in, %row * 32 + %i ...
//!     kernel.store %n, %max, %i                                kernel.store %n, %own, %i } }
//!   }                                                      kernel.for 0, 32, 8 map "thread" { kernel.store %own[%i], %parts, %i * 129 + %g stride 129 }
//! }                                                      }
//!                                                        kernel.for 0, 32, 1 map "group" groups 32 {                       // %column
//!                                                          %n = kernel.for 0, 128, 1 map "thread" combine ["max_num"] { %parts[%column * 129 + %i] }
//!                                                          kernel.for 0, 1, 1 map "thread" { %max[%column] = fmax %max[%column], %n }
//!                                                        }
//! ```
//!
//! A value of each column that the rows read, such as their maximum, is loaded once by a thread. A loop that fills
//! memory with separate elements for each row becomes part of the group loop, so that its threads need no barrier.
//!
//! Applies to GPU kernels all of whose row loops qualify. A row loop is a nest with constant bounds around one thread
//! loop, which combines elements of rows by one op or stores elements that no other row stores. Never changes the
//! results of a kernel except by the order of a reduction.

mod rows;

use fuser_analysis::cost::blocks::row_threads;
use fuser_analysis::targets::{self, TARGET};
use fuser_dialects::kernel::rounds::{self, MOST_ROUNDS, Rounds};
use fuser_dialects::kernel::{self, WARP};
use fuser_dialects::task::updates;
use fuser_ir::clone::Mapping;
use fuser_ir::types::{MemSpace, TypeKind};
use fuser_ir::{AttrKind, DType, Ir, Op, Value};
use fuser_pass::{PassDef, StatDef};
use fuser_target::Target;
use rustc_hash::FxHashMap;

use self::rows::{Fill, Kept, Rows};
use crate::lower::build::{Idx, KernelBuilder, Map};
use crate::lower::launch::shared_memory;

/// `share-rows`
pub static SHARE_ROWS: PassDef = PassDef {
    name: "share-rows",
    summary: "lets groups of threads share the rows of a block",
    doc: "In each `kernel.func` for a GPU whose blocks have all rows of some columns: gives it more threads, and each group of them rows of its own. All of its \
          loops that stand around thread loops must have constant bounds, put rows together by one op, and store each element once; what the groups put together must fit shared memory.",
    works_on: "kernel.func",
    anchor: &["builtin.module"],
    options: &[TARGET],
    statistics: &[StatDef {
        name: "loops",
        doc: "loops over rows that groups share",
    }],
    run: |ctx| {
        let target = targets::of(ctx);
        let ops = ctx.ir.children(ctx.op);
        let overlap = updates::any_in_place(ctx.ir, ctx.op);
        for func in ops {
            if ctx.ir.is(func, &kernel::FUNC) && target.abilities().block_threads && !overlap {
                let loops = share(ctx.ir, func, &target);
                ctx.count("loops", loops);
            }
        }
        Ok(())
    },
    ..PassDef::EMPTY
};

/// The space and the name of memory: `OWN` for the partial result of a thread, `PARTS` for the results of all groups.
const OWN: (MemSpace, &str) = (MemSpace::Register, "own");
const PARTS: (MemSpace, &str) = (MemSpace::Tile, "parts");

/// The division of a loop's rows among the threads of a block.
#[derive(Clone, Copy)]
struct Groups {
    /// Threads of the block.
    threads: i64,
    /// Groups of them.
    number: i64,
    /// Those that have rows.
    working: i64,
    /// The distance in shared memory between the partial results of neighboring columns, in elements. It is odd, so
    /// that neighbors lie in different banks.
    pitch: i64,
    /// The number of threads that combine the partial results of one column; less than 2 if one thread does.
    folding: i64,
}

impl Groups {
    /// The groups of a block of `threads` that share these rows.
    fn of(rows: &Rows, threads: i64) -> Groups {
        let number = threads / rows.width();
        let working = number.min(rows.count);
        let columns = rows.columns.unsigned_abs().next_power_of_two() as i64;
        Groups {
            threads,
            number,
            working,
            pitch: working | 1,
            folding: (threads / columns).min(WARP),
        }
    }
    /// Elements of shared memory for what they put together.
    fn elements(&self, rows: &Rows) -> i64 {
        self.pitch * rows.whole
    }
}

/// Lets groups share the loops over rows of `func` where possible; returns the number of shared loops.
fn share(ir: &mut Ir, func: Op, target: &Target) -> u64 {
    let Some((grid, loops)) = loops(ir, func, target) else {
        return 0;
    };
    let region = ir.new_region();
    let allocs = ir.append_block(region);
    let mut parts: FxHashMap<_, Value> = FxHashMap::default();
    for (rows, groups) in &loops {
        let (region, loc) = (ir.new_region(), ir.op_loc(rows.op));
        let outside = ir.append_block(region);
        let mut k = KernelBuilder {
            ir,
            block: outside,
            entry: allocs,
            loc,
            extents: FxHashMap::default(),
            multiples: FxHashMap::default(),
        };
        // One behind the other, loops have the same memory.
        let size = groups.elements(rows);
        let kept = rows.kept.iter().enumerate();
        let parts = kept.map(|(number, kept)| {
            let known = parts.entry((number, kept.dtype, size));
            *known.or_insert_with(|| alloc(&mut k, size, kept.dtype, PARTS))
        });
        let parts: Vec<Value> = parts.collect();
        let anchor = k.ir.next_op(rows.op);
        rows.share(&mut k, groups, &parts);
        if let Some(anchor) = anchor {
            ir.inline_block_before(outside, anchor);
        }
    }
    ir.inline_block_before(allocs, grid);
    // Of a result each element is stored once: groups, which cannot wait, need not.
    let body = ir.body(func, 0).into_iter();
    let stores = body.flat_map(|body| rounds::stores_in_groups(ir, body));
    for store in stores.collect::<Vec<_>>() {
        let once = ir.attr(AttrKind::Unit);
        ir.set_attr(store, kernel::ONCE, once);
    }
    let threads = loops.first().map_or(1, |(_, groups)| groups.threads);
    let threads = ir.int_attr(threads);
    ir.set_attr(func, "threads", threads);
    loops.len() as u64
}

/// Memory with a name.
fn alloc(
    k: &mut KernelBuilder<'_>,
    size: i64,
    dtype: DType,
    (space, name): (MemSpace, &str),
) -> Value {
    let memory = k.alloc(&[Idx::Const(size)], dtype);
    if let TypeKind::MemRef { dims, dtype, .. } = k.ir.value_kind(memory).clone() {
        let ty = k.ir.type_id(TypeKind::MemRef { dims, dtype, space });
        k.ir.set_value_type(memory, ty);
    }
    let name = k.ir.sym(name);
    k.ir.set_value_name(memory, Some(name));
    memory
}

/// The grid loop of `func` and its loops over rows with their groups; `None` if another loop stands there.
fn loops(ir: &Ir, func: Op, target: &Target) -> Option<(Op, Vec<(Rows, Groups)>)> {
    let own = ir.int_of(func, "threads").unwrap_or(1);
    let grid = kernel::grid_loop(ir, func)?;
    if own < 2 || ir.int_of(func, "cluster").is_some() {
        return None;
    }
    let (mut loops, mut longest) = (Vec::new(), 0);
    for op in ir.children(grid) {
        let map = match ir.is(op, &kernel::FOR) {
            true => kernel::verify::mapping(ir, op),
            false if ir.op_regions(op).is_empty() => continue,
            false => return None,
        };
        match map {
            // One round by all threads of all blocks: only the bounds are asked for.
            "thread" => {
                let all = Rounds::of(ir, op, i64::MAX);
                longest = longest.max(all.map_or(0, |all| all.iterations()));
            }
            "seq" => loops.push(Rows::of(ir, op)?),
            _ => return None,
        }
    }
    let wanted = loops.iter().map(|rows| {
        let [width, count, each] = [rows.width(), rows.count, rows.each].map(i64::unsigned_abs);
        row_threads(width, count, each, target)
    });
    // As many as write out what is computed with complete sums, if a block may have them.
    let least = (longest / MOST_ROUNDS).unsigned_abs();
    let least = least.next_power_of_two().min(target.block_threads);
    let threads = i64::try_from(wanted.max()?.max(least)).ok()?;
    let narrow = loops.iter().all(|rows| rows.width() <= WARP);
    if threads <= own || !narrow || loops.iter().all(|rows| rows.kept.is_empty()) {
        return None;
    }
    let shared = loops.into_iter().map(|rows| {
        let groups = Groups::of(&rows, threads);
        (rows, groups)
    });
    let shared: Vec<(Rows, Groups)> = shared.collect();
    fits(ir, func, &shared, threads, target).then_some((grid, shared))
}

/// True if a block has shared memory for what the groups put together.
fn fits(ir: &Ir, func: Op, loops: &[(Rows, Groups)], threads: i64, target: &Target) -> bool {
    let Some(limit) = target.scratch_limit() else {
        return true;
    };
    let warps = (threads / WARP).unsigned_abs();
    let mut parts = loops.iter().flat_map(|(rows, groups)| {
        let elements = groups.elements(rows).unsigned_abs();
        // A partial result of each warp is counted for each loop that combines.
        let bytes = rows
            .kept
            .iter()
            .map(move |kept| (elements + warps) * kept.dtype.bytes());
        bytes.map(|bytes| bytes + 2 * kernel::SCRATCH_ALIGN)
    });
    let own = shared_memory(ir, func, threads);
    let all = own.and_then(|own| parts.try_fold(own, u64::checked_add));
    all.is_some_and(|all| all <= limit)
}

impl Rows {
    /// Emits the loop for groups at the end of the builder's block; `parts` receive their partial results.
    fn share(&self, k: &mut KernelBuilder<'_>, groups: &Groups, parts: &[Value]) {
        let end = self.end(k);
        if let Idx::Value(end) = end {
            k.ir.set_operand(self.spread, 1, end);
        }
        let step = Idx::Const(self.step);
        let lanes = self.lanes();
        let own: Vec<Value> = self
            .kept
            .iter()
            .map(|kept| alloc(k, self.whole, kept.dtype, OWN))
            .collect();
        let open = k.open_loop([Idx::ZERO, Idx::Const(groups.working), Idx::Const(1)], &[]);
        let group = Idx::Value(open.iv);
        for (kept, &own) in self.kept.iter().zip(&own) {
            let all = k.open_loop([Idx::ZERO, Idx::Const(self.whole), step], &[]);
            let none = kept.combine.start(k, kept.dtype);
            let none = k.splat(none, lanes);
            k.store(none, own, Idx::Value(all.iv));
            k.close_loop(all, &[], Map::Thread, &[]);
        }
        for (&memory, loads) in &self.read {
            let dtype = k.ir.value_kind(memory).dtype().unwrap_or(DType::F32);
            let own = alloc(k, self.whole, dtype, OWN);
            let all = k.open_loop([Idx::ZERO, end, step], &[]);
            let column = Idx::Value(all.iv);
            let value = k.load(memory, column, lanes);
            k.store(value, own, column);
            k.close_loop(all, &[], Map::Thread, &[]);
            for &load in loads {
                k.ir.set_operand(load, 0, own);
            }
        }
        for fill in &self.fills {
            self.fill(k, groups, group, fill);
        }
        for (kept, &own) in self.kept.iter().zip(&own) {
            k.ir.set_operand(kept.load, 0, own);
            k.ir.set_operand(kept.store, 1, own);
        }
        self.walk(k, groups, group);
        for (&own, &parts) in own.iter().zip(parts) {
            let all = k.open_loop([Idx::ZERO, end, step], &[]);
            let column = Idx::Value(all.iv);
            let value = k.load(own, column, lanes);
            let at = k.mul(column, Idx::Const(groups.pitch));
            let at = k.add(at, group);
            k.store_strided(value, parts, at, groups.pitch);
            k.close_loop(all, &[], Map::Thread, &[]);
        }
        k.close_loop(open, &[], Map::Group(groups.number), &[]);
        for (kept, &parts) in self.kept.iter().zip(parts) {
            kept.fold(k, groups, end, parts);
        }
    }
    /// The minimum number of rounds of any group, and the number of rounds of `group`. A group takes every `working`-th
    /// row.
    fn rounds(&self, k: &mut KernelBuilder<'_>, groups: &Groups, group: Idx) -> (i64, Idx) {
        let sure = self.count / groups.working;
        if self.count % groups.working == 0 {
            return (sure, Idx::Const(sure));
        }
        let left = k.sub(Idx::Const(self.count), group);
        (sure, k.ceil_div(left, Idx::Const(groups.working)))
    }
    /// The row of a round.
    fn row(&self, k: &mut KernelBuilder<'_>, groups: &Groups, group: Idx, round: Value) -> Idx {
        let first = k.mul(Idx::Value(round), Idx::Const(groups.working));
        k.add(first, group)
    }
    /// Moves the loop to the end of the builder's block, over the rounds of a group: the guaranteed rounds, which may
    /// be unrolled, and another loop over the others.
    fn walk(&self, k: &mut KernelBuilder<'_>, groups: &Groups, group: Idx) {
        let (sure, all) = self.rounds(k, groups, group);
        let block = k.block;
        k.ir.move_to_end(self.op, block);
        let uses: Vec<_> = k.ir.uses(self.row).collect();
        let region = k.ir.new_region();
        k.block = k.ir.append_block(region);
        let row = self.row(k, groups, group, self.row);
        let row = k.index(row);
        let before = std::mem::replace(&mut k.block, block);
        if let Some(first) = k.ir.body(self.op, 0).and_then(|body| k.ir.first_op(body)) {
            k.ir.inline_block_before(before, first);
        }
        k.ir.replace_uses_if(self.row, row, |_, slot| uses.contains(&slot));
        let rest =
            (all != Idx::Const(sure)).then(|| k.ir.clone_op(self.op, &mut Mapping::default()));
        let loops = [
            Some((self.op, Idx::ZERO, Idx::Const(sure))),
            rest.map(|op| (op, Idx::Const(sure), all)),
        ];
        for (op, lower, upper) in loops.into_iter().flatten() {
            let bounds = [lower, upper, Idx::Const(1)].map(|bound| k.index(bound));
            for (number, bound) in bounds.into_iter().enumerate() {
                k.ir.set_operand(op, number, bound);
            }
            match op == self.op {
                true => k.ir.move_to_end(op, block),
                false => k.ir.append_op(block, op),
            }
        }
    }
    /// Fills the elements of a group's rows; replaces the loop that filled those of all rows.
    fn fill(&self, k: &mut KernelBuilder<'_>, groups: &Groups, group: Idx, fill: &Fill) {
        let copy = k.ir.clone_op(fill.constant, &mut Mapping::default());
        let constant = k.ir.result(copy, 0);
        k.ir.append_op(k.block, copy);
        let (_, all) = self.rounds(k, groups, group);
        let rows = k.open_loop([Idx::ZERO, all, Idx::Const(1)], &[]);
        let row = self.row(k, groups, group, rows.iv);
        let first = k.mul(row, Idx::Const(self.whole));
        let (all, lanes) = (Idx::Const(self.whole), self.lanes());
        let columns = k.open_loop([Idx::ZERO, all, Idx::Const(self.step)], &[]);
        let value = k.splat(constant, lanes);
        let at = k.add(first, Idx::Value(columns.iv));
        k.store(value, fill.memory, at);
        k.close_loop(columns, &[], Map::Thread, &[]);
        k.close_loop(rows, &[], Map::Seq, &[]);
        k.ir.erase(fill.op);
    }
}

impl Kept {
    /// Combines the results of the groups with the value in memory, for each column before `end`.
    fn fold(&self, k: &mut KernelBuilder<'_>, groups: &Groups, end: Idx, parts: Value) {
        let one = Idx::Const(1);
        let columns = k.open_loop([Idx::ZERO, end, one], &[]);
        let column = Idx::Value(columns.iv);
        let first = k.mul(column, Idx::Const(groups.pitch));
        if groups.folding < 2 {
            let mut sum = k.load(self.memory, column, None);
            for group in 0..groups.working {
                let at = k.add(first, Idx::Const(group));
                let part = k.load(parts, at, None);
                sum = self.combine.apply(k, sum, part);
            }
            k.store(sum, self.memory, column);
            k.close_loop(columns, &[], Map::Thread, &[]);
            return;
        }
        let none = self.combine.start(k, self.dtype);
        let shares = k.open_loop([Idx::ZERO, Idx::Const(groups.working), one], &[none]);
        let at = k.add(first, Idx::Value(shares.iv));
        let part = k.load(parts, at, None);
        let sum = self.combine.apply(k, shares.args[0], part);
        let sums = k.close_loop(shares, &[sum], Map::Thread, &[self.combine.name()]);
        let alone = k.open_loop([Idx::ZERO, one, one], &[]);
        let before = k.load(self.memory, column, None);
        let sum = self.combine.apply(k, before, sums[0]);
        k.store(sum, self.memory, column);
        k.close_loop(alone, &[], Map::Thread, &[]);
        let groups = groups.threads / groups.folding;
        k.close_loop(columns, &[], Map::Group(groups), &[]);
    }
}
