//! The passes of Fuser and the pipelines that they form.
//!
//! [`PASSES`] lists what there is, [`PIPELINES`] what is run together and why in this order. The passes stand in the crates that
//! are named here again: simplification, fusion, lowering, on analyses that all of them ask. One pass is one file or one folder,
//! and has one lit test of its name. Knows nothing of files, arguments or the environment; never sees LLVM.
#![forbid(unsafe_code)]

pub mod test_passes;

pub use fuser_analysis::{axes, cost, executors, targets};
pub use fuser_devices::{partition, shard, tile_products};
pub use fuser_fusion::{
    EXPLAIN_ENTRIES, EXPLAIN_LATER, EXPLAIN_LATER_JSON, EXPLAIN_LATER_LIST, ExplainEntry, WHAT_IF,
    boundary_patterns, remat, report, segment,
};
pub use fuser_lowering::{
    form, form_clusters, keep_in_registers, lower, lower_calls, merge_kernels, peel_rows,
    place_barriers, protect_updates, schedule, share_rows, spec, stride_grids, turns,
    use_multiples,
};
pub use fuser_simplify::decompose::EXPLAIN_EARLIER;
pub use fuser_simplify::{
    canonicalize, cse, dce, decompose, hoist, inline_tasks, label_patterns, preseg,
    recognize_patterns, split_complex, unpack_floats, update_in_place,
};

use fuser_ir::diag::CodeDef;
use fuser_pass::{Catalog, PassDef, PipelineDef};

/// Every pass, in the order of the lists and docs.
pub static PASSES: &[&PassDef] = &[
    // Simplify.
    &canonicalize::CANONICALIZE,
    &cse::CSE,
    &dce::DCE,
    &hoist::HOIST,
    // Simplify before grouping.
    &preseg::REMOVE_EMPTY,
    &preseg::CANCEL_SLICE_CAT,
    &preseg::REPEAT_TO_EXPAND,
    &preseg::MOVE_REPEATS,
    &preseg::DROP_COPIES,
    &preseg::FOLD_CASTS,
    &preseg::SWAP_CASTS,
    &preseg::COMPOSE_BROADCASTS,
    &preseg::SINK_WINDOWS,
    &preseg::IGNORE_NAN,
    &preseg::INFER_LAYOUTS,
    &preseg::DETACH_VIEWS,
    // Boundaries.
    &inline_tasks::INLINE_TASKS,
    &label_patterns::LABEL_PATTERNS,
    &boundary_patterns::BOUNDARY_PATTERNS,
    &segment::SEGMENT,
    &remat::REMAT,
    &report::SEGMENT_REPORT,
    // Devices.
    &shard::SHARD,
    &partition::PARTITION,
    // Tiles.
    &tile_products::TILE_PRODUCTS,
    // Code.
    &unpack_floats::UNPACK_FLOATS,
    &split_complex::SPLIT_COMPLEX,
    &update_in_place::UPDATE_IN_PLACE,
    &recognize_patterns::RECOGNIZE_PATTERNS,
    &decompose::DECOMPOSE,
    &schedule::SCHEDULE,
    &protect_updates::PROTECT_UPDATES,
    &lower::lower_to_kernel::LOWER_TO_KERNEL,
    &lower_calls::LOWER_CALLS,
    &use_multiples::USE_MULTIPLES,
    &form_clusters::FORM_CLUSTERS,
    &peel_rows::PEEL_ROWS,
    &share_rows::SHARE_ROWS,
    &merge_kernels::MERGE_KERNELS,
    &stride_grids::STRIDE_GRIDS,
    &keep_in_registers::KEEP_IN_REGISTERS,
    &place_barriers::PLACE_BARRIERS,
    // For the tests of the tool.
    &test_passes::test_crash::TEST_CRASH,
    &test_passes::test_miscompile::TEST_MISCOMPILE,
    &test_passes::test_ping_pong::TEST_PING_PONG,
    &test_passes::test_remark::TEST_REMARK,
];

/// Every named pipeline.
pub static PIPELINES: &[&PipelineDef] = &[&SIMPLIFY, &preseg::PIPELINE, &FUSE];

/// The passes that tidy a program without a decision about fusion.
static SIMPLIFY: PipelineDef = PipelineDef {
    name: "simplify",
    summary: "canonicalize, merge equal ops, drop dead ones",
    anchor: "builtin.module",
    // Canonical forms first: they make more ops equal. Merging leaves ops without a use.
    text: "canonicalize,cse,dce",
};

/// The passes on a module of programs for several devices, before any other.
macro_rules! devices {
    () => {
        "task.program(dce,label-patterns,shard),partition,tile-products,hoist"
    };
}

/// The passes on a module of programs for several devices, before any other, in `fuse` and wherever a program is compiled.
pub const DEVICES: &str = devices!();

/// The passes on a program before it is scheduled.
macro_rules! front {
    () => {
        "label-patterns,unpack-floats,split-complex,canonicalize,cse,update-in-place,decompose,preseg,segment,remat"
    };
}

/// The passes that run on a program before it is scheduled, in `fuse` and wherever a program is compiled.
pub const FRONT: &str = front!();

/// The passes on a scheduled module.
macro_rules! back {
    () => {
        "lower-to-kernel,use-multiples,share-rows,form-clusters,peel-rows,lower-calls,cse,merge-kernels,stride-grids,keep-in-registers,place-barriers"
    };
}

/// The passes on a scheduled module, in `fuse` and wherever a program is compiled.
pub const BACK: &str = back!();

/// From a tensor program to kernels.
static FUSE: PipelineDef = PipelineDef {
    name: "fuse",
    summary: "all of it: simplify, segment, rematerialize, schedule, lower to kernels",
    anchor: "builtin.module",
    // Programs of several devices become those of one before anything else.
    // Patterns become labels first: nothing stops at their boundaries then. Floats of 4 bits become codes in bytes, and complex numbers
    // pairs of reals, before any other pass sees them; a cast of a float of 4 bits may make a complex number. Composite ops come apart, but for products that an executor
    // takes, before anything looks at walks over
    // data; `preseg` then sees their casts. Segments are drawn once nothing can simplify any more; what they hand to each other is cut
    // again by `remat`. Once sweeps say who reads what when, `protect-updates` decides which results overwrite their argument directly.
    // What is known of extents goes into the kernels before equal ones are merged, as those may have other extents.
    // Lowering writes the same index arithmetic at every access; `cse` leaves one of each. Kernels that are equal then are compiled once.
    // Where there are few iterations, more threads share them, each with less to keep; where there are too many, a block takes several.
    // What one thread alone touches moves to its registers; barriers stand between what is left.
    text: concat!(
        devices!(),
        ",task.program(",
        front!(),
        ",schedule,protect-updates),",
        back!()
    ),
};

/// The names that pipeline text may use: all passes, all named pipelines, the ops that passes are anchored on.
pub fn catalog() -> Catalog<'static> {
    Catalog {
        passes: PASSES,
        pipelines: PIPELINES,
        anchors: &[
            "builtin.module",
            "task.program",
            "task.segment",
            "task.sweep",
            "kernel.func",
        ],
    }
}

/// The diagnostic codes of the passes: FIR07xx, FIR0801.
pub fn codes() -> impl Iterator<Item = &'static CodeDef> {
    let tables = [
        test_passes::test_crash::CODES,
        targets::CODES,
        split_complex::CODES,
        unpack_floats::CODES,
        segment::CODES,
        boundary_patterns::CODES,
        schedule::CODES,
        lower::lower_to_kernel::CODES,
    ];
    tables.into_iter().flatten()
}
