//! Building blocks of type inference for tensor ops: operands' shapes, agreement of extents, axis lists.
//!
//! Every function returns a fact, or an [`OpError`] that names the operand or clause at fault. None panics for any
//! types.

use fuser_ir::attr::AttrKind;
use fuser_ir::def::{At, Computes, OpError, OpParts, ResultTypes};
use fuser_ir::describe;
use fuser_ir::types::{DType, Dim, Extent, ExtentExpr, TypeId, TypeKind};
use fuser_ir::{Ir, Value};
use smallvec::smallvec;

use super::codes::*;

/// The shape of an operand of an elementwise op.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Form {
    /// One element.
    Scalar,
    /// Lanes.
    Vector(Vec<u64>),
    /// Axes.
    Tensor(Vec<Dim>),
}

impl Form {
    /// The form of a type; `None` for types that are no operands of elementwise ops.
    pub fn of(ir: &Ir, ty: TypeId) -> Option<Form> {
        match ir.ty(ty) {
            TypeKind::Scalar(_) => Some(Form::Scalar),
            TypeKind::Vector { shape, .. } => Some(Form::Vector(shape.clone())),
            TypeKind::Tensor(t) => Some(Form::Tensor(t.dims.clone())),
            _ => None,
        }
    }
    /// The type of this form with elements `dtype`.
    pub fn with(self, ir: &mut Ir, dtype: DType) -> TypeId {
        match self {
            Form::Scalar => ir.scalar(dtype),
            Form::Vector(shape) => ir.type_id(TypeKind::Vector { shape, dtype }),
            Form::Tensor(dims) => ir.tensor(dims, dtype),
        }
    }
}

/// True if two extents are equal for every value of the names. `?` equals nothing.
pub fn agree(a: Extent, b: Extent) -> bool {
    a == b && a != Extent::Unknown
}

/// The common form of the operands of an elementwise op.
pub fn join(ir: &Ir, operands: &[Value]) -> Result<Form, OpError> {
    let mut joined: Option<(Form, usize)> = None;
    for (index, &value) in operands.iter().enumerate() {
        let Some(form) = Form::of(ir, ir.value_type(value)) else {
            let text = "is no tensor, vector or scalar";
            return Err(OpError::at(At::Operand(index), text).code(&MIXED_FORMS));
        };
        joined = match joined {
            None => Some((form, index)),
            Some((common, from)) => Some((join_two(ir, common, form, from, index)?, from)),
        };
    }
    Ok(joined.map_or(Form::Scalar, |(form, _)| form))
}

fn join_two(ir: &Ir, a: Form, b: Form, from: usize, index: usize) -> Result<Form, OpError> {
    match (a, b) {
        (Form::Scalar, b) => Ok(b),
        (a, Form::Scalar) => Ok(a),
        (Form::Vector(a), Form::Vector(b)) if a == b => Ok(Form::Vector(a)),
        (Form::Vector(a), Form::Vector(b)) => {
            let text = format!("has {b:?} lanes, the operands before have {a:?}");
            Err(OpError::at(At::Operand(index), text).code(&EXTENTS_DISAGREE))
        }
        (Form::Tensor(a), Form::Tensor(b)) => join_dims(ir, a, b, from, index).map(Form::Tensor),
        _ => {
            let text = "mixes a tensor with a vector";
            Err(OpError::at(At::Operand(index), text).code(&MIXED_FORMS))
        }
    }
}

/// The common axes of two tensors of one rank.
pub fn join_dims(
    ir: &Ir,
    a: Vec<Dim>,
    b: Vec<Dim>,
    from: usize,
    index: usize,
) -> Result<Vec<Dim>, OpError> {
    if a.is_empty() {
        return Ok(b);
    }
    if b.is_empty() {
        return Ok(a);
    }
    if a.len() != b.len() {
        let (da, db) = (describe::dims(ir, &a), describe::dims(ir, &b));
        let text = format!(
            "has {} axes {db}, operand {from} has {} axes {da}",
            b.len(),
            a.len()
        );
        let help = "add the missing axes with `fusion.broadcast`";
        return Err(OpError::at(At::Operand(index), text)
            .code(&EXTENTS_DISAGREE)
            .help(help));
    }
    let pairs = a.iter().zip(&b).enumerate();
    pairs
        .map(|(axis, (a, b))| join_dim(ir, axis, *a, *b, from, index))
        .collect()
}

fn join_dim(
    ir: &Ir,
    axis: usize,
    a: Dim,
    b: Dim,
    from: usize,
    index: usize,
) -> Result<Dim, OpError> {
    if agree(a.extent, b.extent) {
        return Ok(Dim {
            extent: a.extent,
            broadcast: a.broadcast && b.broadcast,
        });
    }
    let (ta, tb) = (
        describe::extent(ir, a.extent),
        describe::extent(ir, b.extent),
    );
    let text = format!("axis {axis} has extent {tb}, in operand {from} it has {ta}");
    let error = OpError::at(At::Operand(index), text);
    let one = Extent::Static(1);
    Err(match (a.extent, b.extent) {
        (Extent::Unknown, _) | (_, Extent::Unknown) => error
            .code(&UNKNOWN_EXTENT)
            .help("`?` agrees with no extent: name it, `[N]`"),
        (x, y) if x == one || y == one => error
            .code(&EXTENTS_DISAGREE)
            .help("an axis of extent 1 does not stretch: use `fusion.expand`"),
        _ => error.code(&EXTENTS_DISAGREE),
    })
}

/// The element type that operands `first..` share.
pub fn same_dtype(ir: &Ir, operands: &[Value], first: usize) -> Result<DType, OpError> {
    let mut common = None;
    for (index, &value) in operands.iter().enumerate().skip(first) {
        let dtype = dtype_of(ir, value, index)?;
        match common {
            None => common = Some(dtype),
            Some(c) if c == dtype => {}
            Some(c) => {
                let text = format!(
                    "has elements {}, operand {first} has {}",
                    dtype.name(),
                    c.name()
                );
                let help = alike(ir, [operands[first], value], [c, dtype]);
                return Err(OpError::at(At::Operand(index), text)
                    .code(&DTYPES_DISAGREE)
                    .help(help));
            }
        }
    }
    common.ok_or_else(|| OpError::new("has no operands"))
}

/// The advice for two operands of these different element types: state another type for the constant, or, if none is
/// constant, cast the second operand.
fn alike(ir: &Ir, [first, second]: [Value; 2], [wanted, found]: [DType; 2]) -> String {
    let is_constant = |value: Value| {
        let op = ir.def_op(value);
        op.is_some_and(|op| ir.computes(op) == Some(Computes::Constant))
    };
    let stated = |name: &str| format!("state the type of the constant: `value ... : {name}`");
    if is_constant(second) {
        stated(wanted.name())
    } else if is_constant(first) {
        stated(found.name())
    } else {
        format!("cast it: `fusion.cast ... to {}`", wanted.name())
    }
}

/// The element type of operand `index`.
pub fn dtype_of(ir: &Ir, value: Value, index: usize) -> Result<DType, OpError> {
    let missing = || OpError::at(At::Operand(index), "has no element type");
    ir.value_kind(value).dtype().ok_or_else(missing)
}

/// Axes and element type of tensor operand `index`; a scalar counts as rank 0.
pub fn tensor(ir: &Ir, parts: OpParts<'_>, index: usize) -> Result<(Vec<Dim>, DType), OpError> {
    let missing = || OpError::at(At::Operand(index), "must be a tensor");
    let value = *parts.operands.get(index).ok_or_else(missing)?;
    match ir.value_kind(value) {
        TypeKind::Tensor(t) => Ok((t.dims.clone(), t.dtype)),
        TypeKind::Scalar(d) => Ok((Vec::new(), *d)),
        _ => Err(missing()),
    }
}

/// One result.
pub fn one(ty: TypeId) -> Result<ResultTypes, OpError> {
    Ok(smallvec![ty])
}

/// The integers of clause `name`; an empty list where it is missing.
pub fn ints(ir: &Ir, parts: OpParts<'_>, name: &str) -> Vec<i64> {
    let attr = parts.attr(ir, name).map(|a| ir.attr_kind(a));
    attr.and_then(AttrKind::as_i64_array)
        .unwrap_or(&[])
        .to_vec()
}

/// The shape of clause `name`; rank 0 where it is missing.
pub fn shape_clause(ir: &Ir, parts: OpParts<'_>, name: &str) -> Vec<Dim> {
    let attr = parts.attr(ir, name).map(|a| ir.attr_kind(a));
    attr.and_then(AttrKind::as_dims).unwrap_or(&[]).to_vec()
}

/// The element type of clause `name`.
pub fn dtype_clause(ir: &Ir, parts: OpParts<'_>, name: &'static str) -> Result<DType, OpError> {
    let attr = parts.attr(ir, name).map(|a| ir.attr_kind(a));
    let ty = attr.and_then(AttrKind::as_type).map(|t| ir.ty(t));
    match ty {
        Some(TypeKind::Scalar(dtype)) => Ok(*dtype),
        _ => Err(OpError::at(At::Clause(name), "is no element type")),
    }
}

/// The axes of clause `name`, each below `rank`, ascending.
pub fn axes(
    ir: &Ir,
    parts: OpParts<'_>,
    name: &'static str,
    rank: usize,
) -> Result<Vec<usize>, OpError> {
    let list = ints(ir, parts, name);
    let axes: Vec<usize> = list
        .iter()
        .map(|&axis| checked_axis(axis, name, rank))
        .collect::<Result<_, _>>()?;
    if axes.windows(2).any(|w| w[0] >= w[1]) {
        let text = format!("axes {list:?} must ascend, each once");
        return Err(OpError::at(At::Clause(name), text).code(&BAD_AXIS));
    }
    Ok(axes)
}

/// One axis number, below `rank`.
pub fn checked_axis(axis: i64, name: &'static str, rank: usize) -> Result<usize, OpError> {
    let in_range = usize::try_from(axis).ok().filter(|a| *a < rank);
    in_range.ok_or_else(|| {
        let text = format!("axis {axis} is out of range: there are {rank} axes, counted from 0");
        let error = OpError::at(At::Clause(name), text).code(&BAD_AXIS);
        // Frameworks count axes from the end: -1 is the last axis.
        let from_end = i64::try_from(rank)
            .ok()
            .and_then(|rank| rank.checked_add(axis));
        match from_end.filter(|&a| axis < 0 && a >= 0) {
            Some(meant) => error.help(format!("axes do not count from the end: write {meant}")),
            None => error,
        }
    })
}

/// The number of elements as a polynomial; `None` where an extent is unknown or the product too large.
pub fn elements(ir: &Ir, dims: &[Dim]) -> Option<ExtentExpr> {
    let one = Some(ExtentExpr::constant(1));
    dims.iter().fold(one, |product, dim| {
        product?.mul(&ir.extent_as_expr(dim.extent)?)
    })
}

/// The integer of clause `name`.
pub fn int(ir: &Ir, parts: OpParts<'_>, name: &str) -> Option<i64> {
    let attr = parts.attr(ir, name)?;
    ir.attr_kind(attr).as_int()?.try_into().ok()
}

/// True if the unit clause `name` is present.
pub fn flag(ir: &Ir, parts: OpParts<'_>, name: &str) -> bool {
    parts.attr(ir, name).is_some()
}

/// An extent must be known here and is `?`.
pub fn unknown(at: At, axis: usize) -> OpError {
    let text = format!("the extent of axis {axis} is `?`");
    let error = OpError::at(at, text).code(&UNKNOWN_EXTENT);
    error.help("name the extent, `[N]`")
}

/// True if `expr` is at least 0 for all values of the names, which are at least 0: no coefficient is negative.
pub fn never_negative(expr: &ExtentExpr) -> bool {
    expr.terms.iter().all(|(_, coefficient)| *coefficient >= 0)
}
