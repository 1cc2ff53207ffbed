//! The `kernel` dialect: loops, memory and vectors, one launch per function; the common last form of both targets.

pub mod bounds;
pub mod build;
pub mod ops;
pub mod product;
pub mod rounds;
pub mod scan;
pub mod sum;
pub mod verify;

use fuser_ir::def::DialectDef;
use fuser_ir::diag::CodeDef;
use fuser_ir::{Ir, Op};

pub use ops::{
    ALLOC, BARRIER, EXTRACT, FOR, FUNC, IF, IOTA, LAST, LAUNCH, LOAD, LOAD_WITHIN, PREFETCH,
    REDUCE, RETURN, SCAN, SPLAT, STORE, TABLE, TRANSPOSE_LANES, YIELD, some_lanes,
};

/// Threads that run in lockstep.
pub const WARP: i64 = 32;

/// Allocations in scratch memory begin at multiples of this many bytes.
pub const SCRATCH_ALIGN: u64 = 64;

/// The attribute of a function of one operand that is defined only for operands at most zero, and NaN. Its results for
/// positive operands are arbitrary.
pub const NONPOSITIVE: &str = "kernel.nonpositive";

/// The attribute of a store whose elements no other store writes that has it.
pub const ONCE: &str = "kernel.once";

/// The ops of a kernel that count its blocks, in program order: their counters are consecutive.
pub fn counting(ir: &Ir, func: Op) -> Vec<Op> {
    let ops = ir.walk(func).into_iter();
    ops.filter(|&op| ir.is(op, &LAST)).collect()
}

/// The grid loop of a kernel.
pub fn grid_loop(ir: &Ir, func: Op) -> Option<Op> {
    let mut ops = ir.children(func).into_iter();
    ops.find(|&op| ir.is(op, &FOR) && verify::mapping(ir, op) == "grid")
}

/// The dialect.
pub static DIALECT: DialectDef = DialectDef {
    name: "kernel",
    doc: "One `kernel.func` is one launch. Arithmetic is that of the elementwise `fusion` ops, on scalars and vectors; index \
          arithmetic is theirs on `index`. Memory is flat: a memref has one axis and is addressed by element.\n\n\
          **Sequential meaning.** Run every loop in order: what that gives is what a kernel means. `map` only permits more: iterations of a \
          `grid` or `thread` loop do not depend on each other but through `combine`. The interpreter runs loops in order, and refuses two accesses to an element that \
          the threads of a GPU would make in no order (FIR1006).\n\n\
          **Threads.** On a GPU the threads of a block run at the same time, and wait for each other only at `kernel.barrier`, and \
          where a thread loop combines or scans over more than one warp, between writing partial results to memory of its own and reading \
          them, and at `kernel.last`. A loop whose results are nothing but what another thread loop begins with, which combines them alike, combines nothing: each \
          thread goes on from what it has. Blocks run in any order, and none waits for another: only `kernel.last` tells that others have ended. \
          With `cluster`, the threads are those of so many blocks, which do all of this together and have no tile memory. `place-barriers` puts a barrier wherever the sequential meaning needs one, and code generation adds none: a kernel \
          that lacks one has a race, which the interpreter and the simulated GPU find.\n\n\
          **Bounds.** An index outside its buffer is a mistake of whoever made the kernel; the interpreter reports it and stops. \
          The compiler makes no such kernel.",
    ops: &[
        &FUNC,
        &LAUNCH,
        &FOR,
        &IF,
        &LAST,
        &ALLOC,
        &TABLE,
        &LOAD,
        &LOAD_WITHIN,
        &STORE,
        &PREFETCH,
        &BARRIER,
        &SPLAT,
        &IOTA,
        &EXTRACT,
        &TRANSPOSE_LANES,
        &REDUCE,
        &SCAN,
        &RETURN,
        &YIELD,
    ],
    discardable: &[NONPOSITIVE, ONCE],
};

/// FIR0501
pub const SIGNATURE: CodeDef = CodeDef {
    code: "FIR0501",
    title: "a kernel's parameters are buffers, then extents",
    explanation: "`kernel.func` takes one-dimensional global memrefs first and `index` values after them, and returns nothing.",
    example: "kernel.func @k(%x: f32) {\n}",
};
/// FIR0502
pub const MAPPING: CodeDef = CodeDef {
    code: "FIR0502",
    title: "a loop mapping that cannot be",
    explanation: "`map` is `seq`, `grid`, `group` or `thread`. A function has at most one grid loop; it stands directly in the function \
                  and has no iteration arguments; it alone may have `blocks`, of which there is one at least. The iteration arguments of a thread loop are reductions or scans: `combine` names one \
                  way per argument, or is `scan` where one `kernel.scan` of the body goes on from it and yields its last lane.",
    example: "// %i: index\nkernel.for %i, %i, %i map \"warp\" {\n^bb0(%j: index):\n  kernel.yield\n}",
};
/// FIR0503
pub const CARRIED: CodeDef = CodeDef {
    code: "FIR0503",
    title: "carried values disagree",
    explanation: "A loop's initial values, block arguments (after the induction variable) and yielded values have the same \
                  types; both branches of an `if` yield the same types.",
    example: "// %i: index, %x: f32\n%r = kernel.for %i, %i, %i, %x {\n^bb0(%j: index, %a: f32):\n  kernel.yield\n}",
};
/// FIR0504
pub const ACCESS: CodeDef = CodeDef {
    code: "FIR0504",
    title: "memory access of another type",
    explanation: "A load or store moves one element of the memref's element type, or a vector of them; the memref has one axis. \
                  `align` is a power of two. A store of some lanes is of a vector, and has no stride.",
    example: "// %m: memref<4x4xf32>, %i: index\n%v = kernel.load %m, %i",
};
/// FIR0505
pub const LANES: CodeDef = CodeDef {
    code: "FIR0505",
    title: "vector and element disagree",
    explanation: "A vector here has one axis of at least one lane, its elements have the scalar's type, a lane number is below \
                  the number of lanes, and what is transposed is a square.",
    example: "// %v: vector<4xf32>\n%e = kernel.extract %v lane 4",
};
/// FIR0506
pub const ALLOCATION: CodeDef = CodeDef {
    code: "FIR0506",
    title: "an allocation of unknown size or in global memory",
    explanation: "`kernel.alloc` makes a one-dimensional memref in `tile` or `local` memory. Its extent is static, or `?` and \
                  given by the one operand.",
    example: "%m = kernel.alloc : memref<?xf32, tile>",
};

/// The codes of this dialect.
pub static CODES: &[CodeDef] = &[SIGNATURE, MAPPING, CARRIED, ACCESS, LANES, ALLOCATION];
