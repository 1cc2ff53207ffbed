//! Gives a block several grid iterations if a grid has more iterations than a launch may have blocks.

use fuser_analysis::targets::{self, TARGET};
use fuser_dialects::kernel::{self, rounds};
use fuser_pass::{OptionDef, OptionKind, PassDef, StatDef};

/// The option for kernels that run for all lengths of named extents.
pub const ANY_LENGTH: OptionDef = OptionDef {
    name: "any-length",
    kind: OptionKind::Bool,
    default: "false",
    doc: "grids whose iterations follow from named extents may have more than a launch has blocks",
};

/// `stride-grids`
pub static STRIDE_GRIDS: PassDef = PassDef {
    name: "stride-grids",
    summary: "lets blocks take several iterations of a grid that is too long for a launch",
    doc: "In each `kernel.func` for a GPU: a grid loop that has more iterations than the target's `grid-blocks` gets that many blocks, by \
          `blocks`; with `any-length` so does one whose iterations follow from named extents.",
    works_on: "kernel.func",
    anchor: &["builtin.module"],
    options: &[TARGET, ANY_LENGTH],
    statistics: &[StatDef {
        name: "grids",
        doc: "grids whose blocks take several iterations",
    }],
    run: |ctx| {
        let target = targets::of(ctx);
        let any = ctx.options.bool(ANY_LENGTH.name);
        let most = i64::try_from(target.grid_blocks).unwrap_or(i64::MAX);
        for func in ctx.ir.children(ctx.op) {
            let cluster = ctx.ir.int_of(func, "cluster").unwrap_or(1);
            let grid = kernel::grid_loop(ctx.ir, func)
                .filter(|_| target.abilities().block_threads && cluster == 1);
            let Some(grid) = grid else { continue };
            let known = rounds::literal(ctx.ir, ctx.ir.operand(grid, 1));
            if known.map_or(any, |iterations| iterations > most) {
                let blocks = ctx.ir.int_attr(most);
                ctx.ir.set_attr(grid, "blocks", blocks);
                ctx.count("grids", 1);
            }
        }
        Ok(())
    },
    ..PassDef::EMPTY
};
