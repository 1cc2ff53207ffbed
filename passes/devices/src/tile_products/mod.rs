//! The pass `tile-products`: products whose results exceed the caches run in a loop over tiles.
//!
//! ```text
//! %s = fusion.matmul %x, %w                 // [4096, 128256]            %y, .. = task.loop .. turns 64 body @f_tile
//! %p = .. %s ..                             // row by row          =>    @f_tile: %xi = fusion.dynamic_slice %x, %start ..  // [64, ..]
//! %y = fusion.matmul %p, %v                                                       %si = fusion.matmul %xi, %w
//! %g = fusion.matmul %turned_p, %x                                                %pi = .. %si ..
//!                                                                                 %yi = fusion.matmul %pi, %v
//!                                                                                 %g' = fusion.add %g, (fusion.matmul %turned_pi, %xi)
//! ```
//!
//! The rows of a tile are computed from beginning to end while they are in the cache: neither `%s` nor `%p` ever exists
//! as a whole. The axis may be any axis of the first product's result; a batch axis is one too. Attention that no pattern
//! recognizes, and the loss over a large vocabulary with its gradients, are such programs.
//!
//! - *Region* (`region.rs`). It starts at a product whose result is larger than the last cache. An op joins if its rule
//!   says how it is cut along the axis. Sums along the axis are added up from turn to turn. Of the ops that could join,
//!   those between readers and writers of large values do.
//! - *Length* of a tile. All large values of a turn fit in a quarter of the last cache. A tile is longer if moving factors
//!   and sums in each turn otherwise takes more than a 32nd of the time of its arithmetic.
//! - *Price*. Either fewer bytes cross slow memory, or the program's values take less memory: the saved ones are more than
//!   all arguments and results.
//! - *Loop* (`emit.rs`). A turn takes its part of each operand, and puts its part of each result in place. The rest of an
//!   axis that no tile divides stands behind the loop.
//!
//! Sums along the axis are added in another order, which reductions permit. Never changes other bits.

mod emit;
mod region;

use fuser_analysis::targets;
use fuser_dialects::task::{self, mesh};
use fuser_ir::{Diagnostics, Ir, Op};
use fuser_pass::{PassContext, PassDef, Remark, RemarkKind, StatDef};
use fuser_target::Target;
use rustc_hash::FxHashSet;

use region::{Around, Region};

/// `tile-products`
pub static TILE_PRODUCTS: PassDef = PassDef {
    name: "tile-products",
    summary: "runs products with results larger than the caches tile by tile, with the ops around them",
    doc: "A product whose result is larger than the last cache, and the ops that read and make values as large, become a `task.loop` over tiles of one axis. \
          No value of the region that is read inside alone exists as a whole: the scores of attention, or the logits of a large vocabulary and their gradient. \
          Sums along the axis are added up from turn to turn. Programs with named extents along the axis stay as they are, and so do those for GPUs, which have no last cache.",
    anchor: &["builtin.module"],
    options: &[targets::TARGET],
    statistics: &[
        StatDef {
            name: "loops",
            doc: "loops over tiles",
        },
        StatDef {
            name: "bytes",
            doc: "bytes of values that no longer exist as a whole",
        },
    ],
    run,
    ..PassDef::EMPTY
};

fn run(ctx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
    let target = targets::of(ctx);
    if target.last_cache_bytes == 0 {
        return Ok(());
    }
    let programs = ctx.ir.children(ctx.op).into_iter();
    let programs: Vec<Op> = programs
        .filter(|&op| ctx.ir.is(op, &task::PROGRAM) && !mesh::is_divided(ctx.ir, op))
        .collect();
    for program in programs {
        for start in starts(ctx.ir, program, &target) {
            if ctx.ir.is_erased(start.0) {
                continue;
            }
            let around = Around::new(ctx.ir, program);
            let mut seen = FxHashSet::default();
            let region = around.and_then(|around| Region::grow(&around, start, &target, &mut seen));
            let Some(region) = region else {
                continue;
            };
            let text = region.render(ctx.ir);
            let made = match emit::emit(ctx.ir, program, &region) {
                Ok(made) => made,
                // Inference refused a part: the program stays as it is.
                Err(error) => {
                    ctx.debug("tile-products", |_| error.message.clone());
                    break;
                }
            };
            ctx.count("loops", 1);
            ctx.count("bytes", region.saved);
            let remark = Remark::new(RemarkKind::Passed, "Tiled", ctx.place(made), text);
            ctx.remark(remark);
        }
    }
    Ok(())
}

/// The products at which regions of a program start, with the factor along which they are cut. Those that save most
/// bytes come first. A region that an earlier one contains is left out.
fn starts(ir: &Ir, program: Op, target: &Target) -> Vec<(Op, usize)> {
    let Some(around) = Around::new(ir, program) else {
        return Vec::new();
    };
    let (mut seen, mut found) = (FxHashSet::default(), Vec::new());
    for (start, factors) in around.starts(target.last_cache_bytes) {
        for (factor, axis) in factors {
            let met = ir
                .results(start)
                .iter()
                .any(|&result| seen.contains(&(result, axis)));
            let region = (!met)
                .then(|| Region::grow(&around, (start, factor), target, &mut seen))
                .flatten();
            found.extend(region.map(|region| (region.saved, region.moved, (start, factor))));
        }
    }
    found.sort_by_key(|&(saved, moved, _)| (std::cmp::Reverse(saved), moved));
    found.into_iter().map(|(_, _, start)| start).collect()
}
