//! Folds and scans with a lambda: a region that combines the elements along an axis.
//!
//! ```text
//! %s, %n = fusion.fold %x dim 1 init [0.0, 0] {
//! ^bb0(%sum: f32, %count: i64, %e: f32):      // the accumulators, then an element of each operand
//!   ...
//!   fusion.yield %more, %next                 // the accumulators after it
//! } : tensor<4xf32>, tensor<4xi64>
//! ```
//!
//! The lambda sees nothing but its arguments and computes on scalars. Its accumulators may be of other types than the
//! elements.

use fuser_ir::attr::{AttrId, AttrKind};
use fuser_ir::clone::Mapping;
use fuser_ir::def::{
    At, ClauseDef, ClauseKind, Computes, DTypes, OpClass, OpDef, OpError, OpParts, RegionDef,
    ResultTypes, Shape, Syntax, Traits, TypeConstraint, clause, operand, operands, optional,
    region, result, results,
};
use fuser_ir::types::{DType, Dim, TypeKind};
use fuser_ir::{Block, Ir, Op, Region};

use super::codes::LAMBDA;
use super::{creation, fold, maps, shape};

const VALUES: TypeConstraint = TypeConstraint::new(Shape::Tensor, DTypes::REAL);
const BODY: &[RegionDef] = &[region(
    "lambda",
    "from the accumulators and an element of each operand to the accumulators after it",
)];
const CLAUSES: &[ClauseDef] = &[
    clause("dim", ClauseKind::Int, "the axis, walked in order"),
    clause(
        "init",
        ClauseKind::Any,
        "what each accumulator holds before the first element: a list of numbers",
    ),
    optional(
        "associative",
        ClauseKind::Unit,
        "the lambda is associative, and `init` is neutral: the elements may be put together in groups",
    ),
];

const WITH_LAMBDA: OpDef = OpDef {
    operands: &[operands(
        "inputs",
        VALUES,
        "the tensors, of one shape: at least one",
    )],
    clauses: CLAUSES,
    regions: BODY,
    syntax: Syntax {
        symbol: false,
        signature: false,
        terminator: Some("fusion.yield"),
    },
    traits: Traits::PURE
        .union(Traits::ISOLATED)
        .union(Traits::SINGLE_BLOCK),
    verify: Some(verify),
    ..OpDef::EMPTY
};

/// The ops of this table, in the order of the manual.
pub const LAMBDA_OPS: &[&OpDef] = &[&FOLD, &SCAN, &LAST];

/// `fusion.fold`
pub static FOLD: OpDef = OpDef {
    name: "fusion.fold",
    class: OpClass::Reduction,
    computes: Some(Computes::Composite),
    maps: Some(&maps::FOLD),
    summary: "elements along an axis put together by a lambda",
    doc: "Along `dim` the accumulators begin as `init` and become, with each index in order, what the lambda makes of them and of the \
          operands' elements there; the results are the accumulators at the end, one result for each, without that axis. The lambda's \
          arguments are the accumulators, then an element of each operand; it sees nothing else, its ops are elementwise ops and \
          constants on scalars, and `fusion.yield` gives the accumulators in order. Each op computes and rounds as it does elsewhere: \
          elements of 16 bits that are to be summed in f32 have an accumulator of f32 and are cast.\n\n\
          The numbers of `init` become accumulators as those of `fusion.constant` become elements; an infinity is written with its type, \
          `0xFF800000 : f32`. An empty axis gives `init`. A `b` axis of extent n counts its element n times. \
          The order is from the first index to the last, exactly. `associative` declares that the lambda is associative and `init` \
          neutral, with accumulators of the elements' types: a lambda that rounds nothing may then be applied to neighbouring parts of the \
          axis, and to what they give, in their order. That is one whose floats are operands or constants, chosen by \
          `maximum`, `fmin`, `where` and the like. One that adds floats keeps to the order, as its rounding shows it.",
    example: "// %x: tensor<4x8xf32>\n%sum, %squares = fusion.fold %x dim 1 init [0.0, 0.0] {\n^bb0(%s: f32, %q: f32, %e: f32):\n  %more = fusion.add %s, %e\n  %e2 = fusion.mul %e, %e\n  %next = fusion.add %q, %e2\n  fusion.yield %more, %next\n} : tensor<4xf32>, tensor<4xf32>",
    results: &[results(
        "outputs",
        VALUES,
        "the accumulators after the last element",
    )],
    infer: Some(infer_fold),
    ..WITH_LAMBDA
};

/// `fusion.scan`
pub static SCAN: OpDef = OpDef {
    name: "fusion.scan",
    class: OpClass::Scan,
    maps: Some(&maps::SCAN),
    summary: "elements up to each index of an axis put together by a lambda",
    doc: "As `fusion.fold`, and every step is kept: at each index of `dim` the results are the accumulators after the elements there. \
          Along `dim` no result has a `b` axis; an empty axis gives an empty one.",
    example: "// %x: tensor<4x8xf32>\n%sums = fusion.scan %x dim 1 init [-0.0] {\n^bb0(%sum: f32, %e: f32):\n  %more = fusion.add %sum, %e\n  fusion.yield %more\n} : tensor<4x8xf32>",
    results: &[results(
        "outputs",
        VALUES,
        "the accumulators after each element",
    )],
    infer: Some(infer_scan),
    ..WITH_LAMBDA
};

/// `fusion.last`
pub static LAST: OpDef = OpDef {
    name: "fusion.last",
    class: OpClass::Reduction,
    computes: Some(Computes::Last),
    maps: Some(&maps::FOLD),
    summary: "last element along an axis",
    doc: "The element at the last index of `dim`, bit for bit, and `otherwise` where the axis is empty. With `fusion.scan` it makes a \
          `fusion.fold`.",
    example: "// %x: tensor<4x8xf32>\n%0 = fusion.last %x dim 1 otherwise 0.0 : tensor<4xf32>",
    operands: &[operand("input", VALUES, "the tensor")],
    clauses: &[
        clause("dim", ClauseKind::Int, "the axis"),
        clause(
            "otherwise",
            ClauseKind::Number,
            "the number that stands for the last of no elements",
        ),
    ],
    results: &[result("output", VALUES, "what remains")],
    traits: Traits::PURE,
    infer: Some(infer_last),
    fold: Some(fold::last),
    ..OpDef::EMPTY
};

/// The block of the lambda of `op`, and the number of its accumulators. `None` if `op` has no lambda, or one that the
/// verifier refuses.
pub fn lambda(ir: &Ir, op: Op) -> Option<(Block, usize)> {
    let known = ir.is(op, &FOLD) || ir.is(op, &SCAN);
    let body = ir.body(op, 0).filter(|_| known)?;
    let count = init(ir, op).len();
    let whole = ir.args(body).len() == count + ir.operand_count(op);
    (whole && ir.results(op).len() == count).then_some((body, count))
}

/// The numbers with which accumulators begin.
pub fn init(ir: &Ir, op: Op) -> Vec<AttrId> {
    let attr = ir.get_attr(op, "init");
    attr.map_or_else(Vec::new, |attr| numbers(ir, attr))
}

/// Copies of the regions of `op`, each of one block.
pub fn copies(ir: &mut Ir, op: Op) -> Vec<Region> {
    let bodies: Vec<Block> = (0..ir.op_regions(op).len())
        .filter_map(|index| ir.body(op, index))
        .collect();
    bodies.into_iter().map(|body| copy(ir, body)).collect()
}

/// A region with a copy of the block.
fn copy(ir: &mut Ir, from: Block) -> Region {
    let region = ir.new_region();
    let to = ir.append_block(region);
    let mut map = Mapping::default();
    for arg in ir.args(from).to_vec() {
        let (ty, name) = (ir.value_type(arg), ir.value_name_sym(arg));
        let own = ir.append_arg(to, ty, name);
        map.insert(arg, own);
    }
    for op in ir.block_ops(from).collect::<Vec<_>>() {
        let own = ir.clone_op(op, &mut map);
        ir.append_op(to, own);
    }
    region
}

/// True if the regions of `op` are lambdas.
pub fn has_lambda(ir: &Ir, op: Op) -> bool {
    let class = ir.def(op).map(|def| def.class);
    !ir.op_regions(op).is_empty() && matches!(class, Some(OpClass::Reduction | OpClass::Scan))
}

/// True if `op` is inside a lambda: it computes no tensor of the program.
pub fn is_inside(ir: &Ir, op: Op) -> bool {
    ir.parent_op(op)
        .is_some_and(|around| has_lambda(ir, around))
}

fn numbers(ir: &Ir, list: AttrId) -> Vec<AttrId> {
    match ir.attr_kind(list) {
        AttrKind::Array(items) => items.clone(),
        _ => Vec::new(),
    }
}

fn fault(at: At, text: impl Into<String>) -> OpError {
    OpError::at(at, text).code(&LAMBDA)
}

/// The common axes of the operands, and the scanned axis.
fn walked(ir: &Ir, parts: OpParts<'_>) -> Result<(Vec<Dim>, usize), OpError> {
    if parts.operands.is_empty() {
        return Err(fault(At::Op, "takes at least one operand"));
    }
    let (mut dims, _) = shape::tensor(ir, parts, 0)?;
    let axis = shape::int(ir, parts, "dim").unwrap_or(0);
    let axis = shape::checked_axis(axis, "dim", dims.len())?;
    for index in 1..parts.operands.len() {
        let (own, _) = shape::tensor(ir, parts, index)?;
        if own.is_empty() {
            let text = format!("has no axes, operand 0 has {}", dims.len());
            return Err(OpError::at(At::Operand(index), text).code(&super::codes::EXTENTS_DISAGREE));
        }
        dims = shape::join_dims(ir, dims, own, 0, index)?;
    }
    Ok((dims, axis))
}

/// The element types of the accumulators: the first arguments of the lambda.
fn accumulators(ir: &Ir, parts: OpParts<'_>) -> Result<Vec<DType>, OpError> {
    let list = parts.attr(ir, "init");
    let count = list.map_or(0, |list| numbers(ir, list).len());
    if count == 0 {
        let text = "clause `init` takes a list of numbers, one for each accumulator: `[0.0]`";
        return Err(fault(At::Clause("init"), text));
    }
    let body = parts.regions.first().and_then(|&r| ir.entry_block(r));
    let args = body.map_or(&[][..], |b| ir.args(b));
    let wanted = count + parts.operands.len();
    if args.len() != wanted {
        let text = format!(
            "the lambda has {} arguments, but there are {count} accumulators and {} operands",
            args.len(),
            parts.operands.len()
        );
        let help = format!("give it {wanted}: `^bb0(%accumulator: f32, ..., %element: f32, ...):`");
        return Err(fault(At::Region(0), text).help(help));
    }
    let scalar = |(index, &arg)| match ir.value_kind(arg) {
        TypeKind::Scalar(dtype) => Ok(*dtype),
        _ => {
            let text = format!("argument {index} of the lambda is no scalar");
            Err(fault(At::Region(0), text))
        }
    };
    let types: Vec<DType> = args
        .iter()
        .enumerate()
        .map(scalar)
        .collect::<Result<_, _>>()?;
    Ok(types[..count].to_vec())
}

fn infer_fold(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (mut dims, axis) = walked(ir, parts)?;
    dims.remove(axis);
    let types = accumulators(ir, parts)?.into_iter();
    Ok(types.map(|dtype| ir.tensor(dims.clone(), dtype)).collect())
}

fn infer_scan(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (mut dims, axis) = walked(ir, parts)?;
    dims[axis].broadcast = false;
    let types = accumulators(ir, parts)?.into_iter();
    Ok(types.map(|dtype| ir.tensor(dims.clone(), dtype)).collect())
}

fn infer_last(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (mut dims, dtype) = shape::tensor(ir, parts, 0)?;
    let axis = shape::int(ir, parts, "dim").unwrap_or(0);
    let axis = shape::checked_axis(axis, "dim", dims.len())?;
    if let Some(otherwise) = parts.attr(ir, "otherwise") {
        let ty = ir.scalar(dtype);
        number_fits(ir, "otherwise", otherwise, ty)?;
    }
    dims.remove(axis);
    shape::one(ir.tensor(dims, dtype))
}

/// Checks that `number` is one number, which `ty` can hold.
fn number_fits(
    ir: &Ir,
    clause: &'static str,
    number: AttrId,
    ty: fuser_ir::TypeId,
) -> Result<(), OpError> {
    let single = matches!(
        ir.attr_kind(number),
        AttrKind::Int { .. } | AttrKind::Float { .. } | AttrKind::Bool(_)
    );
    if !single {
        return Err(fault(At::Clause(clause), "is no number"));
    }
    creation::holds(ir, ty, number).map_err(|error| OpError {
        at: At::Clause(clause),
        ..error
    })
}

/// Verifies the lambda's arguments, ops and yield, and the initial values of accumulators.
fn verify(ir: &Ir, op: Op, errors: &mut Vec<OpError>) {
    let Some((body, count)) = lambda(ir, op) else {
        return errors.push(fault(At::Region(0), "has no lambda for its results"));
    };
    let (accumulators, elements) = ir.args(body).split_at(count);
    for (&number, &accumulator) in init(ir, op).iter().zip(accumulators) {
        let ty = ir.value_type(accumulator);
        errors.extend(number_fits(ir, "init", number, ty).err());
    }
    let dtype = |value| ir.value_kind(value).dtype().map_or("none", DType::name);
    for (index, (&element, operand)) in elements.iter().zip(ir.operands(op)).enumerate() {
        if dtype(element) != dtype(operand) {
            let (own, wanted) = (dtype(element), dtype(operand));
            let text = format!(
                "argument {} of the lambda is a `{own}`, the operand has elements `{wanted}`",
                count + index
            );
            errors.push(fault(At::Operand(index), text));
        }
    }
    let associates = ir.get_attr(op, "associative").is_none()
        || accumulators
            .iter()
            .map(|&v| dtype(v))
            .eq(elements.iter().map(|&v| dtype(v)));
    if !associates {
        let text = "an associative lambda has accumulators of the types of its elements";
        errors.push(fault(At::Clause("associative"), text));
    }
    let end = ir.terminator(body);
    let inside = ir.block_ops(body).filter(|&inner| Some(inner) != end);
    errors.extend(inside.filter_map(|inner| stranger(ir, inner)));
    let yielded = end.into_iter().flat_map(|end| ir.operands(end));
    let yielded: Vec<&str> = yielded.map(dtype).collect();
    let wanted: Vec<&str> = accumulators.iter().map(|&v| dtype(v)).collect();
    if yielded != wanted {
        let text = format!(
            "yields ({}), the accumulators of the lambda are ({})",
            yielded.join(", "),
            wanted.join(", ")
        );
        errors.push(fault(end.map_or(At::Region(0), At::Inside), text));
    }
}

/// The reason against an op in a lambda, if there is one.
fn stranger(ir: &Ir, op: Op) -> Option<OpError> {
    let def = ir.def(op);
    let computed = def.is_some_and(|d| d.class == OpClass::Elementwise && !ir.is_composite(op));
    let constant = ir.computes(op) == Some(Computes::Constant);
    let scalar = |&value: &fuser_ir::Value| matches!(ir.value_kind(value), TypeKind::Scalar(_));
    let fits = (computed || constant) && ir.results(op).iter().all(scalar);
    let text = match computed || constant {
        true => "stands in a lambda, which computes on scalars",
        false => "stands in a lambda, whose ops are elementwise ops and constants",
    };
    (!fits).then(|| fault(At::Inside(op), text))
}
