//! Distributes each of a few long rows over several blocks.
//!
//! A kernel whose grid loop has fewer iterations than half of the GPU's multiprocessors leaves the others idle. If its
//! threads exchange only the results of reductions, more threads than those of one block can share an iteration: the
//! threads of a *cluster*. Its blocks run at the same time, synchronize, and read each other's shared memory.
//!
//! ```text
//! kernel.func @softmax(...) threads 1024   =>   kernel.func @softmax(...) threads 4096 cluster 8
//! ```
//!
//! Only the number of threads changes, and with it the number of rounds of each loop. Runs before `keep-in-registers`:
//! tiles that more threads share may fit into registers, and a cluster has no shared memory for other tiles. Skips
//! kernels with a loop whose rounds are not unrolled, or with a thread loop inside another loop.

use fuser_analysis::targets::{self, TARGET};
use fuser_dialects::kernel::rounds::{self, Rounds};
use fuser_dialects::kernel::{self, WARP};
use fuser_ir::types::{MemSpace, TypeKind};
use fuser_ir::{Ir, Op};
use fuser_pass::{PassDef, StatDef};
use fuser_target::Target;

/// `form-clusters`
pub static FORM_CLUSTERS: PassDef = PassDef {
    name: "form-clusters",
    summary: "lets several blocks share an iteration where there are few",
    doc: "In each `kernel.func` whose grid loop has so few iterations, a constant number, that half of the multiprocessors of a GPU with clusters \
          would idle: gives it more threads, and `cluster` the number of blocks that have them. All loops of the grid loop must be spread \
          over threads, in few rounds with constant bounds, at least one of them a reduction, and tiles must fit registers.",
    works_on: "kernel.func",
    anchor: &["builtin.module"],
    options: &[TARGET],
    statistics: &[StatDef {
        name: "clusters",
        doc: "kernels whose blocks share iterations",
    }],
    run: |ctx| {
        let target = targets::of(ctx);
        for func in ctx.ir.children(ctx.op) {
            if let Some((threads, cluster)) = shared(ctx.ir, func, &target) {
                for (clause, number) in [("threads", threads), ("cluster", cluster)] {
                    let number = ctx.ir.int_attr(number);
                    ctx.ir.set_attr(func, clause, number);
                }
                ctx.count("clusters", 1);
            }
        }
        Ok(())
    },
    ..PassDef::EMPTY
};

/// The minimum number of iterations of the longest thread loop: with fewer, the synchronization of blocks costs more
/// than it saves. In the model of `scripts/gpu-beside-triton.py`, a softmax gains from this length on, a root mean
/// square from twice this length on.
const LEAST: i64 = 1 << 12;
/// The rounds of a thread in the longest loop, if that leaves a block [`THREADS`] threads. They keep this many loads in
/// flight and spread a thread's fixed costs over more elements.
const ROUNDS: i64 = 4;
/// Threads of a block at least.
const THREADS: i64 = 256;

/// The threads that share an iteration of a kernel, and the blocks of their cluster; `None` for a single block.
fn shared(ir: &Ir, func: Op, target: &Target) -> Option<(i64, i64)> {
    let most = i64::try_from(target.cluster_blocks).ok()?;
    if most < 2 || !ir.is(func, &kernel::FUNC) || ir.int_of(func, "cluster").is_some() {
        return None;
    }
    let own = ir.int_of(func, "threads").unwrap_or(1);
    // A launch has blocks for all of them.
    let blocks = i64::try_from(target.workers.min(target.grid_blocks)).ok()?;
    let rows = blocks / grid(ir, func)?.max(1);
    let vectors = longest(ir, func)?;
    let block = i64::try_from(target.block_threads).ok()?;
    let halves = std::iter::successors(Some(most), |cluster| Some(cluster / 2));
    let mut several = halves.take_while(|&cluster| cluster > 1 && vectors >= LEAST);
    let cluster = several.find(|&cluster| cluster <= rows)?;
    let wanted = (vectors / ROUNDS / cluster).max(THREADS).min(block);
    let threads = cluster << wanted.ilog2();
    let fits = in_registers(ir, func, (threads, cluster), target.registers);
    (threads > own && fits).then_some((threads, cluster))
}

/// The iterations of the grid loop, where their number is a constant.
fn grid(ir: &Ir, func: Op) -> Option<i64> {
    rounds::literal(ir, ir.operand(kernel::grid_loop(ir, func)?, 1))
}

fn map(ir: &Ir, op: Op) -> &str {
    match ir.is(op, &kernel::FOR) {
        true => kernel::verify::mapping(ir, op),
        false => "",
    }
}

/// The iterations of the longest thread loop, for a kernel of thread loops inside a grid loop with at least one
/// reduction; `None` for other kernels.
fn longest(ir: &Ir, func: Op) -> Option<i64> {
    let (mut longest, mut reduces) = (0, false);
    for op in ir.walk(func).into_iter().skip(1) {
        let spread = map(ir, op) == "thread";
        if spread {
            // One round by all threads of all blocks: only the bounds are asked for.
            let rounds = Rounds::of(ir, op, i64::MAX)?;
            longest = longest.max(rounds.iterations());
            reduces |= !ir.results(op).is_empty();
        }
        let nested = ir.body(op, 0).is_some();
        if nested && !spread && map(ir, op) != "grid" || ir.is(op, &kernel::BARRIER) {
            return None;
        }
    }
    reduces.then_some(longest)
}

/// True if `threads` threads in `cluster` blocks unroll every loop and hold all tiles in registers.
fn in_registers(ir: &Ir, func: Op, (threads, cluster): (i64, i64), registers: u64) -> bool {
    debug_assert_eq!(threads % WARP, 0);
    let mut left = rounds::room(registers, threads / cluster);
    ir.walk(func).into_iter().skip(1).all(|op| {
        if map(ir, op) == "thread" {
            return Rounds::of(ir, op, threads).is_some();
        }
        let tile = ir.is(op, &kernel::ALLOC)
            && matches!(
                ir.value_kind(ir.result(op, 0)),
                TypeKind::MemRef {
                    space: MemSpace::Tile,
                    ..
                }
            );
        if !tile {
            return true;
        }
        let own =
            rounds::own_memory(ir, op, threads).and_then(|(_, bytes)| left.checked_sub(bytes));
        own.inspect(|&rest| left = rest).is_some()
    })
}
