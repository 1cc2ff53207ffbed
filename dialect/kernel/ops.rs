//! The tables of the `kernel` dialect.

use fuser_ir::def::{
    At, ClauseDef, ClauseKind, DTypes, OpClass, OpDef, OpError, OpParts, ResultDef, ResultTypes,
    Shape, Syntax, Traits, TypeConstraint, clause, operand, operands, optional, region, result,
    results,
};
use fuser_ir::types::{TypeId, TypeKind};
use fuser_ir::{Ir, Op, Value};
use smallvec::smallvec;

use super::{LANES, verify};
use crate::task::ops::infer_yielded;

/// The mappings of a loop's iterations to workers; `seq` if the clause is omitted.
pub const MAPS: &[&str] = &["seq", "grid", "group", "thread"];
/// The combiners of partial results.
pub const COMBINERS: &[&str] = &["add", "mul", "max", "min", "max_num", "min_num"];

const INDEX: TypeConstraint = TypeConstraint::new(Shape::Scalar, DTypes::INDEX);
const MEMREF: TypeConstraint = TypeConstraint::new(Shape::MemRef, DTypes::KERNEL);
const VECTOR: TypeConstraint = TypeConstraint::new(Shape::Vector, DTypes::KERNEL);
const SCALAR: TypeConstraint = TypeConstraint::new(Shape::Scalar, DTypes::KERNEL);
const COMBINED: TypeConstraint = TypeConstraint::new(Shape::Vector, DTypes::COMPUTED);
const STEPPED: TypeConstraint = TypeConstraint::new(Shape::VectorOrScalar, DTypes::COMPUTED);
const DATA: TypeConstraint = TypeConstraint::new(Shape::VectorOrScalar, DTypes::KERNEL);
const CARRIED: &[ResultDef] = &[results(
    "outputs",
    TypeConstraint::ANY,
    "the values at the end",
)];
const YIELDS: Syntax = Syntax {
    symbol: false,
    signature: false,
    terminator: Some("kernel.yield"),
};
const MEMORY: OpDef = OpDef {
    class: OpClass::Memory,
    ..OpDef::EMPTY
};

/// `kernel.func`
pub static FUNC: OpDef = OpDef {
    name: "kernel.func",
    summary: "one launch",
    doc: "A kernel: parameters are the buffers (`memref<?xT, global>`, element-addressed), then the named extents as `index`. \
          It returns nothing. Its region sees nothing of the outside.",
    example: "kernel.func @k(%x: memref<?xf32, global>, %n: index) {\n  kernel.return\n}",
    clauses: &[
        optional(
            "threads",
            ClauseKind::Int,
            "threads that share an iteration of the grid loop; 1 where it is left out",
        ),
        optional(
            "cluster",
            ClauseKind::Int,
            "blocks that have these threads, a power of two; 1 where it is left out",
        ),
    ],
    regions: &[region("body", "the ops")],
    syntax: Syntax {
        symbol: true,
        signature: true,
        terminator: Some("kernel.return"),
    },
    traits: Traits::SYMBOL
        .union(Traits::ISOLATED)
        .union(Traits::SINGLE_BLOCK),
    parents: &["builtin.module"],
    verify: Some(verify::func),
    ..OpDef::EMPTY
};

/// `kernel.launch`
pub static LAUNCH: OpDef = OpDef {
    name: "kernel.launch",
    summary: "runs a kernel on tensors",
    doc: "Calls the `kernel.func` that `callee` names in the module. Its first parameters are the buffers of the operands, in order, \
          then new buffers for the results, in order, then the named extents of `extents` as `index`. A scalar operand or \
          result is a buffer of one element. The results are what the kernel stored; an element that it did not store is not specified. Buffers \
          hold each tensor dense over its stored axes, in the order of its type's layout.",
    example: "module {\n  task.program @f(%x: tensor<[B]xf32>) -> tensor<[B]xf32> {\n    %y = kernel.launch %x callee @k extents [[B]] : tensor<[B]xf32>\n    task.return %y\n  }\n  kernel.func @k(%x: memref<?xf32, global>, %y: memref<?xf32, global>, %B: index) {\n    kernel.return\n  }\n}",
    operands: &[operands(
        "inputs",
        TypeConstraint::new(Shape::TensorOrScalar, DTypes::KERNEL),
        "what the kernel reads",
    )],
    clauses: &[
        clause("callee", ClauseKind::Symbol, "the kernel"),
        optional(
            "extents",
            ClauseKind::Extents,
            "named extents that the kernel gets",
        ),
    ],
    results: &[results(
        "outputs",
        TypeConstraint::new(Shape::TensorOrScalar, DTypes::KERNEL),
        "what the kernel writes",
    )],
    traits: Traits::PURE,
    ..OpDef::EMPTY
};

/// `kernel.for`
pub static FOR: OpDef = OpDef {
    name: "kernel.for",
    summary: "a loop",
    doc: "Runs its body for `i = lower, lower + step, ...` while `i < upper`, signed; not at all where `lower >= upper`. A step \
          below 1 runs nothing. The block has the induction variable and one argument per initial value; `kernel.yield` gives \
          their next values, and the results are the last ones (the initial ones if the body never ran).\n\n\
          `map \"grid\"`: iterations are spread over workers; with `blocks` a GPU has no more blocks than that, each of which runs every so \
          many'th iteration. `map \"thread\"`: over the threads of a block; each iteration \
          argument is a reduction, `combine` names for each how partial results are put together (`add`, `mul`, `max`, `min`), \
          and every thread sees the result. `map \"group\"`: over `groups` groups of neighbouring threads, a power of two of at most 32 \
          in each; one iteration for each group at most; thread loops inside are spread over the threads of a group, and barriers cannot stand \
          there. All mean the same as the plain loop, up to the order of a floating-point reduction, and up to the groups in which the elements of \
          a floating-point scan are put together.",
    example: "// %lo: index, %hi: index, %st: index, %z: f32\n%s = kernel.for %lo, %hi, %st, %z map \"thread\" combine [\"add\"] {\n^bb0(%i: index, %acc: f32):\n  %t = fusion.add %acc, %acc\n  kernel.yield %t\n}",
    operands: &[
        operand("lower", INDEX, "first value"),
        operand("upper", INDEX, "one past the last value"),
        operand("step", INDEX, "increment"),
        operands("init", DATA, "initial values of the iteration arguments"),
    ],
    clauses: &[
        optional(
            "map",
            ClauseKind::String,
            "how iterations are spread: seq, grid, group or thread",
        ),
        optional(
            "blocks",
            ClauseKind::Int,
            "most blocks of a grid loop; one for each iteration where it is left out",
        ),
        optional(
            "groups",
            ClauseKind::Int,
            "groups of threads that share the iterations of a group loop",
        ),
        optional(
            "combine",
            ClauseKind::StringArray,
            "how each iteration argument is reduced over threads, or `scan`",
        ),
    ],
    regions: &[region("body", "one iteration")],
    results: CARRIED,
    syntax: YIELDS,
    traits: Traits::SINGLE_BLOCK,
    infer: Some(infer_for),
    verify: Some(verify::for_loop),
    ..OpDef::EMPTY
};

/// `kernel.if`
pub static IF: OpDef = OpDef {
    name: "kernel.if",
    summary: "a choice of what runs",
    doc: "Runs the first region if the condition holds, else the second (nothing where it is left out). Results are what the \
          region that ran yields; with results both regions stand and yield the same types.",
    example: "// %c: i1, %a: f32, %b: f32\n%r = kernel.if %c {\n  kernel.yield %a\n} else {\n  kernel.yield %b\n}",
    operands: &[operand(
        "condition",
        TypeConstraint::new(Shape::Scalar, DTypes::BOOL),
        "what decides",
    )],
    regions: &[
        region("then", "what runs if the condition holds"),
        fuser_ir::def::RegionDef {
            optional: true,
            ..region("else", "what runs if it does not")
        },
    ],
    results: CARRIED,
    syntax: YIELDS,
    traits: Traits::SINGLE_BLOCK,
    infer: Some(infer_yielded),
    verify: Some(verify::if_else),
    ..OpDef::EMPTY
};

/// `kernel.last`
pub static LAST: OpDef = OpDef {
    name: "kernel.last",
    summary: "what the last of several workers does",
    doc: "Counts the iterations of the grid loop that come here, those with the same `at`, from 0 to `places - 1`, together. The one that \
          makes a count `count` runs the body, and the count begins anew at 0. Every place gets a multiple of `count` iterations in a \
          launch, and `places` is known where the function begins.\n\n\
          The body may read what all counted iterations stored before the last barrier before they were counted. On a GPU the threads of a block wait for each other between count and \
          body, which all of them run; which block comes last is not known, so that the body computes the same whichever it is. It stands \
          in no other loop than that of the grid. The counts lie in memory that the launch brings along. On a CPU, where an iteration does not know whether others have ended, \
          there is none (FIR0811).",
    example: "// %a: index, %n: index, %c: index\nkernel.last %a, %n, %c {\n  kernel.yield\n}",
    operands: &[
        operand("at", INDEX, "which count"),
        operand("places", INDEX, "how many counts there are"),
        operand("count", INDEX, "the iterations that are counted together"),
    ],
    regions: &[region("body", "what the last one does")],
    syntax: YIELDS,
    traits: Traits::SINGLE_BLOCK,
    ..MEMORY
};

/// `kernel.alloc`
pub static ALLOC: OpDef = OpDef {
    name: "kernel.alloc",
    summary: "scratch memory of a worker",
    doc: "A one-dimensional buffer in `tile` memory (one per worker: shared memory of a block), in `local` memory (one per thread) or in \
          `register` memory: one per worker, too, whose elements lie in the registers of the threads that touch them. That is each at \
          the induction variable of thread loops with constant bounds that are spread alike, of few rounds and without loops inside. \
          Its extent is static, or `?` and given by the operand; a negative size counts as 0. Its contents are not specified until \
          stored. It stands directly in the function, before its loops (FIR0815): a worker has it for as long as the function runs.",
    example: "%m = kernel.alloc : memref<16xf32, tile>",
    operands: &[operands(
        "size",
        INDEX,
        "number of elements, where the type says `?`",
    )],
    results: &[result("memory", MEMREF, "the buffer")],
    verify: Some(verify::alloc),
    ..MEMORY
};

/// `kernel.table`
pub static TABLE: OpDef = OpDef {
    name: "kernel.table",
    summary: "a constant as a buffer",
    doc: "The elements of a `fusion.constant`, row-major, in `global` memory that the kernel brings along. The extent is static and \
          the number of elements. Nothing stores to it.",
    example: "%c = fusion.constant value dense<[1.0, 2.0, 4.0]> : tensor<3xf32>\n%m = kernel.table %c : memref<3xf32, global>",
    operands: &[operand(
        "elements",
        TypeConstraint::new(Shape::Tensor, DTypes::KERNEL),
        "the constant",
    )],
    results: &[result("memory", MEMREF, "the buffer")],
    traits: Traits::PURE,
    verify: Some(verify::table),
    ..MEMORY
};

/// The alignment of an address.
const ALIGN: ClauseDef = optional(
    "align",
    ClauseKind::Int,
    "alignment of the address in bytes, a power of two, where buffers begin at multiples of 64",
);
/// The distance of lanes in memory.
const STRIDE: ClauseDef = optional(
    "stride",
    ClauseKind::Int,
    "elements from one lane to the next, at least 1; 1 where it is left out",
);

/// `kernel.load`
pub static LOAD: OpDef = OpDef {
    name: "kernel.load",
    summary: "reads one element, or several at equal distances",
    doc: "The element at `index`, or for a result type `vector<WxT>` the `W` elements from there, each `stride` elements behind the one \
          before. Without a written type it is one element. `align` promises an alignment in bytes; without it, that of the element. Of a \
          vector with a stride, what lies between its elements may be read, and nothing else.",
    example: "// %m: memref<?xf32>, %i: index\n%a = kernel.load %m, %i : f32\n%v = kernel.load %m, %i align 16 : vector<4xf32>\n%w = kernel.load %m, %i stride 3 : vector<4xf32>",
    operands: &[
        operand("memory", MEMREF, "the buffer"),
        operand("index", INDEX, "the first element"),
    ],
    clauses: &[ALIGN, STRIDE],
    results: &[result("value", DATA, "what stands there")],
    infer: Some(infer_load),
    verify: Some(verify::load),
    ..MEMORY
};

/// `kernel.load_within`
pub static LOAD_WITHIN: OpDef = OpDef {
    name: "kernel.load_within",
    summary: "reads those of consecutive elements that lie inside a range",
    doc: "Lane `k` of the result is the element at `index + k` where `first <= k < end`, and lane `k` of `fill` elsewhere; a \
          scalar is the one lane 0. Elements of lanes outside of the range are not touched, wherever they would lie. The result \
          has the type of `fill`.",
    example: "// %m: memref<?xf32>, %i: index, %f: vector<4xf32>, %a: index, %b: index\n%v = kernel.load_within %m, %i, %f, %a, %b : vector<4xf32>",
    operands: &[
        operand("memory", MEMREF, "the buffer"),
        operand("index", INDEX, "the element of lane 0"),
        operand("fill", DATA, "what the other lanes hold"),
        operand("first", INDEX, "the first lane that is read"),
        operand("end", INDEX, "one past the last lane that is read"),
    ],
    results: &[result("value", DATA, "the lanes")],
    infer: Some(infer_load_within),
    verify: Some(verify::load),
    ..MEMORY
};

/// `kernel.store`
pub static STORE: OpDef = OpDef {
    name: "kernel.store",
    summary: "writes one element, or several at equal distances",
    doc: "Writes `value` to the element at `index`, or a vector of `W` lanes to the `W` elements from there. `align` and `stride` as for \
          `kernel.load`; what lies between the elements of a stride is not touched. With `some`, a number of lanes, only those before it are \
          written, where these are next to each other.",
    example: "// %v: f32, %m: memref<?xf32>, %i: index, %w: vector<4xf32>, %n: index\nkernel.store %v, %m, %i\nkernel.store %w, %m, %i, %n",
    operands: &[
        operand("value", DATA, "what is written"),
        operand("memory", MEMREF, "the buffer"),
        operand("index", INDEX, "the first element"),
        operands(
            "some",
            INDEX,
            "how many lanes are written, the first ones; all where it is left out",
        ),
    ],
    clauses: &[ALIGN, STRIDE],
    verify: Some(verify::store),
    ..MEMORY
};

/// `kernel.prefetch`
pub static PREFETCH: OpDef = OpDef {
    name: "kernel.prefetch",
    summary: "asks for an element that is read later",
    doc: "The cache line of the element at `index` is brought near; nothing is read, and the element may lie outside of the buffer. \
          Nothing on a GPU.",
    example: "// %m: memref<?xf32>, %i: index\nkernel.prefetch %m, %i",
    operands: &[
        operand("memory", MEMREF, "the buffer"),
        operand("index", INDEX, "the element"),
    ],
    verify: Some(verify::prefetch),
    ..MEMORY
};

/// `kernel.barrier`
pub static BARRIER: OpDef = OpDef {
    name: "kernel.barrier",
    summary: "waits for the threads of the block",
    doc: "Every thread of a block reaches it before any goes on; stores before it are seen after it. Nothing on the \
          CPU, where a worker is one thread.",
    example: "kernel.barrier",
    ..MEMORY
};

/// `kernel.splat`
pub static SPLAT: OpDef = OpDef {
    name: "kernel.splat",
    summary: "a vector of equal lanes",
    doc: "Every lane of the result is the operand. The written type says how many lanes.",
    example: "// %x: f32\n%v = kernel.splat %x : vector<4xf32>",
    operands: &[operand("value", SCALAR, "the lane")],
    results: &[result("vector", VECTOR, "the vector")],
    traits: Traits::PURE,
    infer: Some(infer_splat),
    verify: Some(verify::makes_vector),
    ..OpDef::EMPTY
};

/// `kernel.iota`
pub static IOTA: OpDef = OpDef {
    name: "kernel.iota",
    summary: "lane numbers",
    doc: "Lane `k` of the result is `k`. The written type says how many lanes.",
    example: "%v = kernel.iota : vector<8xindex>",
    results: &[result(
        "vector",
        TypeConstraint::new(Shape::Vector, DTypes::INDEX),
        "0, 1, 2, ...",
    )],
    traits: Traits::PURE,
    verify: Some(verify::makes_vector),
    ..OpDef::EMPTY
};

/// `kernel.extract`
pub static EXTRACT: OpDef = OpDef {
    name: "kernel.extract",
    summary: "one lane of a vector",
    doc: "Lane number `lane`, counted from 0.",
    example: "// %v: vector<4xf32>\n%x = kernel.extract %v lane 3 : f32",
    operands: &[operand("vector", VECTOR, "the vector")],
    clauses: &[clause("lane", ClauseKind::Int, "number of the lane")],
    results: &[result("value", SCALAR, "the lane")],
    traits: Traits::PURE,
    infer: Some(infer_extract),
    ..OpDef::EMPTY
};

/// `kernel.transpose_lanes`
pub static TRANSPOSE_LANES: OpDef = OpDef {
    name: "kernel.transpose_lanes",
    summary: "a square of vectors, transposed",
    doc: "As many vectors as each has lanes, a power of two: lane `i` of result `j` is lane `j` of operand `i`.",
    example: "// %a: vector<2xf32>, %b: vector<2xf32>\n%c, %d = kernel.transpose_lanes %a, %b : vector<2xf32>, vector<2xf32>",
    operands: &[operands("rows", VECTOR, "the rows")],
    results: &[results("columns", VECTOR, "the columns")],
    traits: Traits::PURE,
    infer: Some(infer_transpose),
    verify: Some(verify::transpose),
    ..OpDef::EMPTY
};

/// `kernel.reduce`
pub static REDUCE: OpDef = OpDef {
    name: "kernel.reduce",
    summary: "reduces the lanes of a vector",
    doc: "All lanes, put together by `combine`: `add`, `mul`, `max`, `min`, `max_num`, `min_num`, where `max` and `min` mean \
          `fusion.maximum` and `fusion.minimum`, `max_num` and `min_num` mean `fusion.fmax` and `fusion.fmin` (on integers \
          all the same). Floats are combined as a balanced tree: halves are combined lane by lane until one is left (with an odd count \
          the middle lane joins the lower half unchanged). Integers wrap in their own type; 16-bit floats round at every step.",
    example: "// %v: vector<4xf32>\n%x = kernel.reduce %v combine add : f32",
    operands: &[operand("vector", COMBINED, "the lanes")],
    clauses: &[clause(
        "combine",
        ClauseKind::Keyword(COMBINERS),
        "add, mul, max, min, max_num or min_num",
    )],
    results: &[result("value", SCALAR, "the reduction")],
    traits: Traits::PURE,
    infer: Some(infer_lane),
    verify: Some(verify::takes_vector),
    ..OpDef::EMPTY
};

/// `kernel.scan`
pub static SCAN: OpDef = OpDef {
    name: "kernel.scan",
    summary: "reduces the lanes of a vector and keeps every step",
    doc: "Lane 0 of the result is `before` and lane 0 of the operand put together, lane `k` is lane `k - 1` of the result and lane \
          `k` of the operand, by `combine` as in `kernel.reduce`. The lanes come one after the other, in this order; a scalar is the one \
          lane 0.",
    example: "// %v: vector<4xf32>, %b: f32\n%s = kernel.scan %v, %b combine add : vector<4xf32>",
    operands: &[
        operand("vector", STEPPED, "the lanes"),
        operand("before", SCALAR, "what comes before lane 0"),
    ],
    results: &[result("steps", DATA, "the steps")],
    infer: Some(infer_scan),
    verify: Some(verify::scan),
    ..REDUCE
};

/// `kernel.return`
pub static RETURN: OpDef = OpDef {
    name: "kernel.return",
    summary: "ends a kernel",
    doc: "Ends a `kernel.func`. It may be left out in text.",
    example: "kernel.func @k() {\n  kernel.return\n}",
    traits: Traits::TERMINATOR,
    parents: &["kernel.func"],
    ..OpDef::EMPTY
};

/// `kernel.yield`
pub static YIELD: OpDef = OpDef {
    name: "kernel.yield",
    summary: "gives the next values of a loop or the results of a branch",
    doc: "Ends the body of `kernel.for` or `kernel.last`, or a region of `kernel.if`. Without operands it may be left out in text.",
    example: "// %c: i1\nkernel.if %c {\n  kernel.yield\n}",
    operands: &[operands("values", DATA, "next values, or results")],
    traits: Traits::TERMINATOR,
    parents: &["kernel.for", "kernel.if", "kernel.last"],
    ..OpDef::EMPTY
};

fn infer_for(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let init = parts.operands.iter().skip(3);
    Ok(init.map(|v| ir.value_type(*v)).collect())
}

fn infer_load(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let element = parts
        .operands
        .first()
        .and_then(|m| ir.value_kind(*m).dtype());
    let element = element.ok_or_else(|| OpError::at(At::Operand(0), "must be a memref"))?;
    if let Some([stated]) = parts.stated
        && let TypeKind::Vector { dtype, .. } = ir.ty(*stated)
        && *dtype == element
    {
        return Ok(smallvec![*stated]);
    }
    Ok(smallvec![ir.scalar(element)])
}

fn infer_load_within(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let fill = parts.operands.get(2);
    let fill = fill.ok_or_else(|| OpError::at(At::Operand(2), "must be a vector or a scalar"))?;
    Ok(smallvec![ir.value_type(*fill)])
}

fn infer_splat(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let element = parts
        .operands
        .first()
        .and_then(|m| ir.value_kind(*m).dtype());
    match parts.stated {
        Some([ty]) if ir.ty(*ty).dtype() == element => Ok(smallvec![*ty]),
        Some(_) => {
            Err(OpError::at(At::Result(0), "must be a vector of the operand's type").code(&LANES))
        }
        None => {
            Err(OpError::new("needs its vector type written").code(&fuser_ir::check::TYPES_MISSING))
        }
    }
}

fn infer_extract(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let lane = crate::fusion::shape::int(ir, parts, "lane").unwrap_or(0);
    let lanes = parts
        .operands
        .first()
        .map_or(0, |v| lanes(ir, ir.value_type(*v)));
    if u64::try_from(lane).is_ok_and(|l| l < lanes) {
        return infer_lane(ir, parts);
    }
    let text = format!("there is no lane {lane}: the vector has {lanes}");
    Err(OpError::at(At::Clause("lane"), text).code(&LANES))
}

fn infer_lane(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let element = parts
        .operands
        .first()
        .and_then(|m| ir.value_kind(*m).dtype());
    let element = element.ok_or_else(|| OpError::at(At::Operand(0), "must be a vector"))?;
    Ok(smallvec![ir.scalar(element)])
}

fn infer_transpose(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    Ok(parts.operands.iter().map(|v| ir.value_type(*v)).collect())
}

fn infer_scan(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let vector = parts.operands.first();
    let vector = vector.ok_or_else(|| OpError::at(At::Operand(0), "must be a vector"))?;
    Ok(smallvec![ir.value_type(*vector)])
}

/// The number of lanes that a partial store writes; `None` for a store of all lanes.
pub fn some_lanes(ir: &Ir, op: Op) -> Option<Value> {
    ir.operands(op).nth(3).filter(|_| ir.is(op, &STORE))
}

/// Number of lanes of a vector with one axis; 0 for anything else.
pub fn lanes(ir: &Ir, ty: TypeId) -> u64 {
    match ir.ty(ty) {
        TypeKind::Vector { shape, .. } if shape.len() == 1 => shape[0],
        _ => 0,
    }
}

/// True if a type is a buffer that can be addressed: a memref of one axis.
pub fn is_flat(ir: &Ir, ty: TypeId) -> bool {
    matches!(ir.ty(ty), TypeKind::MemRef { dims, .. } if dims.len() == 1)
}
