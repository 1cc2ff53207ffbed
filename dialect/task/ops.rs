//! The tables of the `task` dialect.

use fuser_ir::Ir;
use fuser_ir::def::{
    ClauseKind, DTypes, OpClass, OpDef, OpError, OpParts, OperandDef, Placement, RegionDef,
    ResultDef, ResultTypes, Shape, Syntax, Traits, TypeConstraint, clause, operands, optional,
    region, results,
};

use super::{mesh, verify};

/// The kinds that a segment can be lowered as; the default is `kernel`.
pub const SEGMENT_KINDS: &[&str] = &["kernel", "view", "library", "control"];
/// The roles that an axis can have in a sweep.
pub const ROLES: &[&str] = &["grid", "stream", "tile"];

const TENSOR: TypeConstraint = TypeConstraint::new(Shape::Tensor, DTypes::ANY);
const WHOLE: TypeConstraint = TypeConstraint::new(Shape::TensorOrScalar, DTypes::KERNEL);
const BODY: &[RegionDef] = &[region("body", "the ops of the task")];
const YIELDED: &[ResultDef] = &[results(
    "outputs",
    TypeConstraint::ANY,
    "the yielded values",
)];
const VALUES: &[OperandDef] = &[operands(
    "values",
    TypeConstraint::ANY,
    "the results of the task, in order",
)];

const BOUNDARY: OpDef = OpDef {
    regions: BODY,
    results: YIELDED,
    syntax: Syntax {
        symbol: false,
        signature: false,
        terminator: Some("task.yield"),
    },
    traits: Traits::SINGLE_BLOCK,
    infer: Some(infer_yielded),
    ..OpDef::EMPTY
};
const NAMED: Syntax = Syntax {
    symbol: true,
    ..BOUNDARY.syntax
};

/// `task.program`
pub static PROGRAM: OpDef = OpDef {
    name: "task.program",
    summary: "a tensor program",
    doc: "A function from tensors and scalars to tensors: what is computed. Its region sees nothing of the outside; its ops are \
          `fusion` ops and tasks, and `task.return` gives its results in the order of the signature. A scalar argument counts as \
          a tensor of rank 0.\n\n\
          Named extents in argument types are bound by the inputs at run time; the same name is the same number everywhere in \
          the program. A result attribute `{alias = i : i64}` says that the result overwrites argument `i`, which has its type; \
          every read of the argument sees the old contents. The pass `protect-updates` adds `in_place` where the kernel that \
          makes the result writes straight into the argument; elsewhere the result is copied there at the end. An attribute \
          `{task.extents = [\"B\"]}` names extents that no argument has and that the caller gives.\n\n\
          **Elements of 4 bits** (`f4E2M1FN`) lie two in a byte where the caller sees them: along the axis that is innermost in memory, of those that \
          are stored, an even element has the low bits of its byte, and the next one the high bits. That axis of an argument or a result is even: \
          a name that stands there alone is even in every call, which is checked, and of other named extents it must follow. The pass \
          `unpack-floats` makes tensors of `ui8` with the mark `packed` of them, and notes in `{task.halves = {N_half = \"N\"}}` which names \
          are halves of others.",
    example: "task.program @f(%x: tensor<[B]x8xf32>, %s: f32) -> tensor<[B]x8xf32> {\n  %y = fusion.mul %x, %s\n  task.return %y\n}",
    regions: BODY,
    syntax: Syntax {
        symbol: true,
        signature: true,
        terminator: Some("task.return"),
    },
    traits: Traits::SYMBOL
        .union(Traits::SYMBOL_TABLE)
        .union(Traits::ISOLATED)
        .union(Traits::SINGLE_BLOCK),
    parents: &["builtin.module"],
    verify: Some(verify::program),
    ..OpDef::EMPTY
};

/// `task.segment`
pub static SEGMENT: OpDef = OpDef {
    name: "task.segment",
    summary: "what becomes one kernel",
    doc: "Its ops become one kernel, or what `kind` says. Inputs and outputs lie in global memory. Its results are the yielded \
          values. A segment never depends on itself by way of others: the order of ops excludes it. `kind \"view\"`: the result is \
          a view of an input, nothing runs. `kind \"control\"`: its op is a `task.loop`, a `task.if` or a `task.devices`, whose programs have segments of their own.",
    example: "task.program @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = task.segment @s0 kind \"kernel\" {\n    %y = fusion.exp %x\n    task.yield %y\n  }\n  task.return %y\n}",
    clauses: &[optional(
        "kind",
        ClauseKind::String,
        "what the segment becomes: a kernel, a view of its input, a call of a library, or a loop",
    )],
    syntax: NAMED,
    traits: BOUNDARY.traits.union(Traits::SYMBOL),
    parents: &["task.program"],
    verify: Some(verify::segment),
    ..BOUNDARY
};

/// `task.sweep`
pub static SWEEP: OpDef = OpDef {
    name: "task.sweep",
    summary: "one walk over the iteration space",
    doc: "Its ops are done in one walk over the space that `axes` and `extents` name. `roles` says how each axis is walked: \
          `grid` (spread over workers), `stream` (one worker, step by step) or `tile` (resident in fast memory). All clauses are \
          decisions of the scheduler and may be written by hand; they have no effect on values. A result is an output or an \
          accumulator.",
    example: "task.program @f(%x: tensor<[B]x8xf32>) -> tensor<[B]xf32> {\n  %y = task.segment @s0 {\n    %y = task.sweep axes [\"a0\", \"a1\"] extents [[B], 8] roles [\"grid\", \"tile\"] vector 8 {\n      %y = fusion.sum %x dims [1]\n      task.yield %y\n    }\n    task.yield %y\n  }\n  task.return %y\n}",
    clauses: &[
        optional(
            "axes",
            ClauseKind::StringArray,
            "names of the axes, outermost first",
        ),
        optional("extents", ClauseKind::Extents, "extent of each axis"),
        optional(
            "roles",
            ClauseKind::StringArray,
            "role of each axis: grid, stream or tile",
        ),
        optional(
            "tile",
            ClauseKind::I64Array,
            "elements per step along each axis",
        ),
        optional(
            "vector",
            ClauseKind::Int,
            "lanes of a vector along the contiguous axis",
        ),
        optional(
            "partials",
            ClauseKind::Int,
            "workers that sum over grid axes: each takes an equal share of the grid and writes one partial result",
        ),
        optional("threads", ClauseKind::Int, "threads per worker; 1 on a CPU"),
        optional(
            "groups",
            ClauseKind::Int,
            "groups of a worker's threads, each of which takes indices of the grid of its own",
        ),
    ],
    parents: &["task.segment", "task.program"],
    verify: Some(verify::sweep),
    ..BOUNDARY
};

/// `task.phase`
pub static PHASE: OpDef = OpDef {
    name: "task.phase",
    summary: "one walk over the resident tile",
    doc: "Its ops are done in one walk over the tile of the enclosing sweep. What it yields stays resident for later phases, or \
          is an output of the sweep. With `before` it runs once before the loops along these axes, which are the last of the outer \
          ones (all of the grid or none of it, then stream), and what it yields stays resident through them: its values must not \
          vary along them. With `after` it runs once when these loops of the grid have ended, where sums along them are complete: the last block \
          of a GPU does it. The clauses are decisions of the scheduler and have no effect on values.",
    example: "task.program @f(%x: tensor<4x8xf32>) -> tensor<4xf32> {\n  %y = task.segment @s0 {\n    %y = task.sweep {\n      %y = task.phase {\n        %y = fusion.sum %x dims [1]\n        task.yield %y\n      }\n      task.yield %y\n    }\n    task.yield %y\n  }\n  task.return %y\n}",
    clauses: &[
        optional(
            "before",
            ClauseKind::StringArray,
            "outer loops of the sweep that do not change its values: it runs once before them",
        ),
        optional(
            "after",
            ClauseKind::StringArray,
            "loops of the grid along which the sums go that it reads: it runs once after them",
        ),
    ],
    parents: &["task.sweep"],
    ..BOUNDARY
};

/// `task.pattern`
pub static PATTERN: OpDef = OpDef {
    name: "task.pattern",
    summary: "a named composite",
    doc: "Ops that some executor knows as a whole under the symbol's name (`@linear`, `@softmax`). The name is a kind, not a \
          unique symbol: many patterns of one program may have it. Its meaning is that of its ops, whether the name is known or \
          not. Its operands are the values outside that its ops read; what each is for is seen from these. With the name of an op that executors know \
          (`@matmul`, `@linear`, `@sdpa`) it allows that op in their place, where they are what the name says: with the op's own rounding, \
          and 0 in a row of attention whose scores are all `-inf`. Any other name is a hint where a kernel may begin and end.",
    example: "// %x: tensor<4xf32>\n%y = task.pattern @silu {\n  %s = fusion.sigmoid %x\n  %m = fusion.mul %x, %s\n  task.yield %m\n}",
    syntax: NAMED,
    verify: Some(verify::pattern),
    ..BOUNDARY
};

/// `task.loop`
pub static LOOP: OpDef = OpDef {
    name: "task.loop",
    summary: "a program that runs many times",
    doc: "Its operands are the values of the first turn. A turn runs the program `body` on the values, and its results are those of the next \
          turn; the results of the loop are the values after the last turn. With `turns` there are so many turns. With `condition` a turn is run \
          while the program of that name gives true for the values; it is asked before each turn, so a loop may have none. There is one of the two.\n\n\
          `body` takes and gives values of the operands' types; `condition` takes them and gives one `i1`. Both are programs of the module, and no \
          program comes to itself by loops. A value that `body` returns as it came is an invariant: it stays where it is. Each other value has \
          memory of its own that lasts for all turns, and `body` writes its result there in place, as if it had `{alias = i : i64}`, so that what a \
          `fusion.scatter` adds to a value costs what it writes. Values are tensors and scalars of reals; complex numbers are carried by their parts. \
          Their extents are numbers or have names, which mean the same in all programs of the loop.\n\n\
          It is the `while` of StableHLO and of HLO, with regions as programs.",
    example: "module {\n  task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n    %y = task.loop %x turns 10 body @step\n    task.return %y\n  }\n  task.program @step(%x: tensor<8xf32>) -> tensor<8xf32> {\n    %y = fusion.sin %x\n    task.return %y\n  }\n}",
    class: OpClass::Control,
    operands: &[OperandDef {
        placement: Placement::Memory,
        ..operands(
            "values",
            TypeConstraint::new(Shape::TensorOrScalar, DTypes::KERNEL),
            "the values of the first turn",
        )
    }],
    clauses: &[
        optional("turns", ClauseKind::Int, "the number of turns"),
        optional(
            "condition",
            ClauseKind::Symbol,
            "the program that says if there is another turn",
        ),
        clause("body", ClauseKind::Symbol, "the program of a turn"),
    ],
    results: &[ResultDef {
        placement: Placement::Memory,
        ..results(
            "outputs",
            TypeConstraint::new(Shape::TensorOrScalar, DTypes::KERNEL),
            "the values after the last turn",
        )
    }],
    infer: Some(infer_carried),
    traits: Traits::PURE,
    parents: &["task.program", "task.segment"],
    verify: Some(super::calls::verify),
    ..OpDef::EMPTY
};

/// `task.if`
pub static IF: OpDef = OpDef {
    name: "task.if",
    summary: "one of two programs, chosen by a truth value",
    doc: "Runs the program `then` on the values if the condition is true, and the program `else` otherwise; the results are those of the program that \
          runs. The other one costs nothing. `fusion.where` chooses between values that are both computed: it shares kernels with its neighbours, and \
          chooses for each element.\n\n\
          The condition is one `i1` or `tensor<i1>`. Both are programs of the module that take and give values of the same types, and no program comes to \
          itself. Values are tensors and scalars of reals; complex numbers go by their parts. Their extents are numbers or have names, which mean the same \
          in both programs. A branch of more than two ways is one in the `else` of another.\n\n\
          It is the `if` of StableHLO, `lax.cond` and `scf.if`, with regions as programs.",
    example: "module {\n  task.program @f(%x: tensor<8xf32>, %p: tensor<i1>) -> tensor<8xf32> {\n    %y = task.if %p, %x then @up else @down : tensor<8xf32>\n    task.return %y\n  }\n  task.program @up(%x: tensor<8xf32>) -> tensor<8xf32> {\n    %y = fusion.sort %x dim 0\n    task.return %y\n  }\n  task.program @down(%x: tensor<8xf32>) -> tensor<8xf32> {\n    %y = fusion.flip %x dims [0]\n    task.return %y\n  }\n}",
    class: OpClass::Control,
    operands: &[
        OperandDef {
            variadic: false,
            placement: Placement::Memory,
            ..operands(
                "condition",
                TypeConstraint::new(Shape::TensorOrScalar, DTypes::KERNEL),
                "true to run `then`",
            )
        },
        OperandDef {
            placement: Placement::Memory,
            ..operands(
                "values",
                TypeConstraint::new(Shape::TensorOrScalar, DTypes::KERNEL),
                "the arguments of both programs",
            )
        },
    ],
    clauses: &[
        clause(
            "then",
            ClauseKind::Symbol,
            "the program that runs if the condition is true",
        ),
        clause(
            "else",
            ClauseKind::Symbol,
            "the program that runs otherwise",
        ),
    ],
    results: &[ResultDef {
        placement: Placement::Memory,
        ..results(
            "outputs",
            TypeConstraint::new(Shape::TensorOrScalar, DTypes::KERNEL),
            "the results of the program that runs",
        )
    }],
    traits: Traits::PURE,
    parents: &["task.program", "task.segment"],
    verify: Some(super::calls::verify_if),
    ..OpDef::EMPTY
};

/// `task.mesh`
pub static MESH: OpDef = OpDef {
    name: "task.mesh",
    summary: "the devices that programs of the module run on",
    doc: "A grid of devices: `axes` names its axes, `sizes` says how many devices lie along each. The rank of a device is its row-major number, the last \
          axis fastest. A module has one mesh at most. It says nothing about which machines these are: whoever runs the program does.",
    example: "module {\n  task.mesh axes [\"data\", \"model\"] sizes [2, 4]\n}",
    clauses: &[
        clause("axes", ClauseKind::StringArray, "the names of the axes"),
        clause(
            "sizes",
            ClauseKind::I64Array,
            "the devices along each, at least 1",
        ),
    ],
    parents: &["builtin.module"],
    verify: Some(mesh::verify_mesh),
    ..OpDef::EMPTY
};

/// `task.shard`
pub static SHARD: OpDef = OpDef {
    name: "task.shard",
    summary: "a value, and how it lies on the devices",
    doc: "The operand. `to` lists for each of its axes the axes of the mesh that cut it, major first: each device holds an equal part, so the extent is a known \
          multiple of the number of parts. Along the other axes of the mesh devices hold copies; along those of `partial` each holds a summand, and the value \
          is the sum. It is the `sdy.sharding_constraint` of Shardy with a closed sharding. Arguments and results have the attribute `{shard = [[\"data\"], []]}` for the same. \
          The pass `shard` writes one, with `chosen`, wherever a value is to lie otherwise than it is made; `partition` makes communications of them. \
          On one device it has no effect.",
    example: "module {\n  task.mesh axes [\"data\"] sizes [2]\n  task.program @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {\n    %y = task.shard %x to [[\"data\"], []]\n    task.return %y\n  }\n}",
    class: OpClass::Control,
    operands: &[OperandDef {
        variadic: false,
        ..operands("input", TENSOR, "the value")
    }],
    clauses: &[
        clause(
            "to",
            ClauseKind::Any,
            "for each axis the axes of the mesh that cut it",
        ),
        optional(
            "partial",
            ClauseKind::StringArray,
            "axes of the mesh along which each device holds a summand",
        ),
        optional("chosen", ClauseKind::Unit, "a pass has written it"),
    ],
    results: &[ResultDef {
        variadic: false,
        ..results("output", TENSOR, "the same value")
    }],
    infer: Some(infer_carried),
    traits: Traits::PURE,
    parents: &["task.program"],
    verify: Some(mesh::verify_shard),
    ..OpDef::EMPTY
};

/// `task.devices`
pub static DEVICES: OpDef = OpDef {
    name: "task.devices",
    summary: "a program that runs on each device of the mesh",
    doc: "Cuts the operands as `in` says, runs the program `body` once on each device with its parts, and joins the results as `out` says. A sharding has for each \
          axis of a tensor the axes of the mesh that cut it, major first. `body` has `{task.device}`; its signature has the types of the parts. Devices meet in its collectives only \
          (`fusion.all_reduce` and others). Of a result that several devices hold copies of, the copy of the first of them counts. \
          It is the `sdy.manual_computation` of Shardy with all axes manual, and `jax.shard_map`.",
    example: "module {\n  task.mesh axes [\"data\"] sizes [2]\n  task.program @f(%x: tensor<4x8xf32>) -> tensor<8xf32> {\n    \
              %y = task.devices %x body @part in [[[\"data\"], []]] out [[[]]] : tensor<8xf32>\n    task.return %y\n  }\n  \
              task.program @part(%x: tensor<2x8xf32>) -> tensor<8xf32> attributes {task.device} {\n    %s = fusion.sum %x dims [0]\n    \
              %y = fusion.all_reduce %s over [\"data\"] combine sum\n    task.return %y\n  }\n}",
    class: OpClass::Control,
    operands: &[OperandDef {
        placement: Placement::Memory,
        ..operands("values", WHOLE, "the values that are cut")
    }],
    clauses: &[
        clause("body", ClauseKind::Symbol, "the program of each device"),
        clause("in", ClauseKind::Any, "the sharding of each operand"),
        clause("out", ClauseKind::Any, "the sharding of each result"),
    ],
    results: &[ResultDef {
        placement: Placement::Memory,
        ..results("outputs", WHOLE, "what the parts are together")
    }],
    traits: Traits::PURE,
    parents: &["task.program", "task.segment"],
    verify: Some(mesh::verify_devices),
    ..OpDef::EMPTY
};

/// `task.return`
pub static RETURN: OpDef = OpDef {
    name: "task.return",
    summary: "gives the results of a program",
    doc: "Ends a program; its operands are the program's results, of the types of the signature.",
    example: "task.program @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  task.return %x\n}",
    operands: VALUES,
    traits: Traits::TERMINATOR,
    parents: &["task.program"],
    verify: Some(verify::returned),
    ..OpDef::EMPTY
};

/// `task.yield`
pub static YIELD: OpDef = OpDef {
    name: "task.yield",
    summary: "gives the results of a segment, sweep, phase or pattern",
    doc: "Ends the region of a task; its operands are the task's results.",
    example: "// %x: tensor<4xf32>\n%y = task.pattern @p {\n  task.yield %x\n}",
    operands: VALUES,
    traits: Traits::TERMINATOR,
    parents: &["task.segment", "task.sweep", "task.phase", "task.pattern"],
    ..OpDef::EMPTY
};

/// The types of the operands.
fn infer_carried(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let operands = parts.operands.iter();
    Ok(operands.map(|&value| ir.value_type(value)).collect())
}

/// The types of the values that region 0 yields.
pub fn infer_yielded(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let missing = || OpError::new("has no body that ends in a yield");
    let region = *parts.regions.first().ok_or_else(missing)?;
    let block = ir.entry_block(region).ok_or_else(missing)?;
    let last = ir.last_op(block).ok_or_else(missing)?;
    Ok(ir.operands(last).map(|v| ir.value_type(v)).collect())
}
