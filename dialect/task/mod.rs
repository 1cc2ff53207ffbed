//! The `task` dialect: programs, segments, sweeps, phases and patterns, the boundaries that the compiler draws around
//! ops.

pub mod calls;
pub mod interface;
pub mod labels;
pub mod marks;
pub mod mesh;
pub mod ops;
pub mod outline;
pub mod packed;
pub mod pairs;
pub mod positions;
pub mod updates;
pub mod verify;

use fuser_ir::def::DialectDef;
use fuser_ir::diag::CodeDef;

pub use ops::{
    DEVICES, IF, LOOP, MESH, PATTERN, PHASE, PROGRAM, RETURN, SEGMENT, SHARD, SWEEP, YIELD,
};

/// The dialect.
pub static DIALECT: DialectDef = DialectDef {
    name: "task",
    doc: "Everything is a task: a program is a tree of nested regions, and each level answers one question. `program`: what is \
          computed? `devices`: what is computed where? `loop`: what runs many times? `segment`: what becomes one kernel? `sweep`: what is done in one walk over the iteration space? `phase`: what \
          is done in one walk over the tile in fast memory? `pattern`: which ops does some executor know as a whole?\n\n\
          **Boundaries.** Segments, sweeps, phases and patterns are not isolated: they use values of the enclosing regions \
          directly, and their results are what they yield. Drawing a boundary moves ops and never rewrites them, so every boundary \
          can be dissolved again. They compute what their ops compute, in order; boundaries have no effect on values.\n\n\
          **What crosses.** The inputs of a task are the values it uses and does not define; its outputs are its results. What \
          crosses a segment's boundary lies in global memory.",
    ops: &[
        &PROGRAM, &LOOP, &IF, &MESH, &SHARD, &DEVICES, &SEGMENT, &SWEEP, &PHASE, &PATTERN, &RETURN,
        &YIELD,
    ],
    discardable: &[labels::LABEL, positions::POSITION],
};

/// FIR0401
pub const SIGNATURE: CodeDef = CodeDef {
    code: "FIR0401",
    title: "what is returned is not what the signature says",
    explanation: "A program returns as many values as its signature lists, each of the listed type (a layout may differ).",
    example: "task.program @f(%x: tensor<4xf32>) -> tensor<5xf32> {\n  task.return %x\n}",
};
/// FIR0402
pub const SCHEDULE: CodeDef = CodeDef {
    code: "FIR0402",
    title: "a schedule that contradicts itself",
    explanation: "`axes`, `extents` and `roles` of a sweep list the same axes: they have one length. A role is `grid`, `stream` \
                  or `tile`. Tile sizes, vector width and grid chunk are at least 1.",
    example: "task.sweep axes [\"i\"] roles [\"grid\", \"tile\"] {\n}",
};
/// FIR0403
pub const KIND: CodeDef = CodeDef {
    code: "FIR0403",
    title: "unknown kind of segment",
    explanation: "A segment becomes a `kernel`, only a `view` of its input, a `copy`, a `library` call, or nothing (`none`).",
    example: "task.segment @s kind \"kernle\" {\n}",
};
/// FIR0404
pub const ALIAS: CodeDef = CodeDef {
    code: "FIR0404",
    title: "an alias that cannot be",
    explanation: "`{alias = i : i64}` on a result says that it overwrites program input `i`: the input exists, has the type \
                  of the result, and no other result aliases it.",
    example: "task.program @f(%x: tensor<4xf32>) -> (tensor<4xf32> {alias = 1 : i64}) {\n  task.return %x\n}",
};

/// FIR0405
pub const NAME: CodeDef = CodeDef {
    code: "FIR0405",
    title: "a pattern without a name",
    explanation: "A pattern's name says which executor knows it: `task.pattern @softmax { ... }`.",
    example: "task.pattern {\n}",
};

/// FIR0406
pub const PAIRS: CodeDef = CodeDef {
    code: "FIR0406",
    title: "a mark of pairs at what holds none",
    explanation: "`{pairs}` on an argument or a result says that callers see a complex tensor: the last axis, innermost in memory, \
                  holds its real and its imaginary part, in f32 or f64. `split-complex` leaves the mark.",
    example: "task.program @f(%x: tensor<4xf32> {pairs}) -> tensor<4xf32> {\n  task.return %x\n}",
};

/// FIR0407
pub const SHARED_BYTE: CodeDef = CodeDef {
    code: "FIR0407",
    title: "an argument or a result has half a byte",
    explanation: "Callers give and get elements of 4 bits two in a byte: along the axis that is innermost in memory, of those that are stored, \
                  an even element has the low bits and the next one the high bits. So this axis has an even number of elements. One name, \
                  `[N]`, is even in every call, which is checked then; of a sum or a product of names it must follow. Inside a program \
                  tensors have any shape: `fusion.pad` and `fusion.slice` lie between.",
    example: "task.program @f(%x: tensor<4x5xf4E2M1FN>) {\n  task.return\n}",
};

/// FIR0408
pub const PACKED: CodeDef = CodeDef {
    code: "FIR0408",
    title: "a mark of packed elements at what holds no bytes",
    explanation: "`{packed = 1}` on an argument or a result says that callers see elements of `f4E2M1FN`, two in each byte along axis 1, which is \
                  the innermost in memory. `unpack-floats` leaves the mark at tensors of ui8.",
    example: "task.program @f(%x: tensor<4xf32> {packed = 0}) {\n  task.return\n}",
};

/// FIR0409
pub const LOOP_FORM: CodeDef = CodeDef {
    code: "FIR0409",
    title: "a loop without an end, or a branch without a condition",
    explanation: "A `task.loop` has one of two clauses: `turns`, a number, or `condition`, a program that is asked before each turn. The \
                  condition of a `task.if` is one `i1` or `tensor<i1>`. The extents of the values of both are numbers or have names.",
    example: "task.program @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = task.loop %x body @step\n  task.return %y\n}\n\
              task.program @step(%x: tensor<4xf32>) -> tensor<4xf32> {\n  task.return %x\n}",
};

/// FIR0410
pub const CALLEE: CodeDef = CodeDef {
    code: "FIR0410",
    title: "a loop or a branch and its program do not fit together",
    explanation: "`body` names a program of the module that takes and gives values of the types that the loop carries; `condition` one that \
                  takes them and gives one `tensor<i1>`. `then` and `else` of a `task.if` name programs that take its values and give its results.",
    example: "task.program @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = task.loop %x turns 3 body @step\n  task.return %y\n}\n\
              task.program @step(%x: tensor<5xf32>) -> tensor<5xf32> {\n  task.return %x\n}",
};

/// FIR0411
pub const RECURSION: CodeDef = CodeDef {
    code: "FIR0411",
    title: "programs that run themselves",
    explanation: "A program runs those that its loops and branches name, and these run others; none of them is the program itself. At most 64 loops \
                  and branches lie inside each other.",
    example: "task.program @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = task.loop %x turns 3 body @f\n  task.return %y\n}",
};

/// FIR0412
pub const MESH_FORM: CodeDef = CodeDef {
    code: "FIR0412",
    title: "a mesh that is none",
    explanation: "A module has one `task.mesh` at most. Its axes have different names, and a length each, at least 1. There are 1,048,576 devices at most.",
    example: "module {\n  task.mesh axes [\"x\", \"x\"] sizes [2, 2]\n}",
};

/// FIR0413
pub const SHARDING: CodeDef = CodeDef {
    code: "FIR0413",
    title: "a tensor cannot lie so on the devices",
    explanation: "A sharding lists for each axis of a tensor the axes of the mesh that cut it, `[[\"data\"], []]`; no axis of the mesh stands twice. Parts are \
                  equal: the extent of an axis that is cut is a number, and a multiple of the number of its parts. Where it is not, pad the tensor, or \
                  cut another axis.",
    example: "module {\n  task.mesh axes [\"x\"] sizes [2]\n  task.program @f(%x: tensor<3xf32>) -> tensor<3xf32> {\n    %y = task.shard %x to [[\"x\"]]\n    task.return %y\n  }\n}",
};

/// FIR0414
pub const DEVICE_PROGRAM: CodeDef = CodeDef {
    code: "FIR0414",
    title: "a collective that no devices meet in, or not in this way",
    explanation: "Collectives stand in programs with `{task.device}`, which run on each device of the module's mesh; `task.devices` stands outside of them. A program \
                  that such a program runs in a loop has `{task.device}` too. `over` names axes of the mesh. The extents of parts follow from the number of devices \
                  along them. Each device is the source of one pair at most, and the target of one.",
    example: "module {\n  task.mesh axes [\"x\"] sizes [2]\n  task.program @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n    %y = fusion.all_reduce %x over [\"x\"] combine sum\n    task.return %y\n  }\n}",
};

/// The codes of this dialect.
pub static CODES: &[CodeDef] = &[
    SIGNATURE,
    SCHEDULE,
    KIND,
    ALIAS,
    NAME,
    PAIRS,
    SHARED_BYTE,
    PACKED,
    LOOP_FORM,
    CALLEE,
    RECURSION,
    MESH_FORM,
    SHARDING,
    DEVICE_PROGRAM,
];
