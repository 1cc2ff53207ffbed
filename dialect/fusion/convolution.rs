//! Convolution: windows of a tensor are multiplied by a kernel of weights and summed.

use fuser_ir::Ir;
use fuser_ir::attr::AttrKind;
use fuser_ir::def::{
    At, ClauseDef, ClauseKind, Computes, DTypes, OpClass, OpDef, OpError, OpParts, OperandDef,
    Placement, ResultDef, ResultTypes, Shape, Traits, TypeConstraint, optional, result,
};
use fuser_ir::types::{Dim, Extent};
use fuser_ir::{Op, Value};

use super::codes::{BAD_SHAPE, OUT_OF_BOUNDS};
use super::product::{TO, agreeing, element, factor};
use super::{maps, shape};

const NUMBERS: TypeConstraint = TypeConstraint::new(Shape::Tensor, DTypes::NUMERIC);

const fn taken(name: &'static str, doc: &'static str) -> OperandDef {
    OperandDef {
        ty: NUMBERS,
        ..factor(name, doc)
    }
}

const fn amounts(name: &'static str, doc: &'static str) -> ClauseDef {
    optional(name, ClauseKind::I64Array, doc)
}

/// The ops of this table, in the order of the manual.
pub const CONVOLUTION_OPS: &[&OpDef] = &[&CONVOLUTION];

/// `fusion.convolution`
pub static CONVOLUTION: OpDef = OpDef {
    name: "fusion.convolution",
    summary: "sums of windows of a tensor, weighted by a kernel",
    doc: "The operand `x` has the axes `[N, C, S...]`, the kernel `[O, C, K...]`, the result `[N, O, R...]`, with one axis of each space \
          `S`, `K` and `R` for each dimension. Result element `[n, o, r...]` is the sum over `c` and `k...` of `x[n, c, p...] * kernel[o, c, k...]`. \
          Along each dimension `p = (r * strides + k * dilation - low) / base_dilation`. An element counts as `+0` where `p` lies outside of `x` or is no \
          whole number, and is multiplied like any other, so an infinite weight gives NaN there. The result has \
          `R = (B + low + high - ((K - 1) * dilation + 1)) / strides + 1` places, rounded down, where `B = (S - 1) * base_dilation + 1`, or 0 where `S` is 0; \
          it has none where `K` is 0 or the kernel does not fit. Each of the clauses has a number for each dimension, of a magnitude up to 2^40. \
          With `groups` there is a second axis of groups in `x`, `[N, G, C, S...]`, and a first one in the kernel, `[G, O, C, K...]`; \
          the result is `[N, G, O, R...]`, and each group has its own kernel. Both operands have one type. Floats accumulate, and `to` is, \
          as for `fusion.matmul`; integers wrap. Extents of `S` and `K` are known. The result has no `b` axes. \
          A convolution is one call of a library, which reads the windows where they lie, or is taken apart by `--decompose`.",
    example: "// %x: tensor<[B]x3x8x8xf32>, %w: tensor<16x3x3x3xf32>\n\
              %0 = fusion.convolution %x, %w strides [2, 2] low [1, 1] high [1, 1] : tensor<[B]x16x4x4xf32>",
    class: OpClass::Convolution,
    computes: Some(Computes::Composite),
    operands: &[
        taken("x", "`[N, C, S...]`, with `groups` `[N, G, C, S...]`"),
        taken("kernel", "`[O, C, K...]`, with `groups` `[G, O, C, K...]`"),
    ],
    clauses: &[
        optional("groups", ClauseKind::Unit, "there is an axis of groups"),
        amounts(
            "strides",
            "from one window to the next, 1 where it is left out",
        ),
        amounts(
            "low",
            "elements before the first one, 0 where it is left out; fewer than 0 are cut off",
        ),
        amounts("high", "the same behind the last one"),
        amounts(
            "dilation",
            "from one element of a window to the next, 1 where it is left out",
        ),
        amounts(
            "base_dilation",
            "from one element of `x` to the next, 1 where it is left out; zeros lie between",
        ),
        TO,
    ],
    results: &[ResultDef {
        placement: Placement::Memory,
        ..result("output", NUMBERS, "the weighted sums")
    }],
    traits: Traits::PURE,
    flops: 2,
    maps: Some(&maps::CONVOLUTION),
    infer: Some(infer),
    ..OpDef::EMPTY
};

/// The greatest number in a clause. Sums of such numbers and of positions stay far below 64 bits.
const MOST: i64 = 1 << 40;

/// The windows along one dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// From one window to the next.
    pub stride: i64,
    /// Elements before the first one.
    pub low: i64,
    /// Elements of padding after the last one.
    pub high: i64,
    /// Distance between elements of a window.
    pub dilation: i64,
    /// Distance between elements of the operand in its dilated form.
    pub base_dilation: i64,
}

impl Window {
    /// Clause, least number, and default.
    const CLAUSES: [(&'static str, i64, i64); 5] = [
        ("strides", 1, 1),
        ("low", -MOST, 0),
        ("high", -MOST, 0),
        ("dilation", 1, 1),
        ("base_dilation", 1, 1),
    ];

    fn of_numbers([stride, low, high, dilation, base_dilation]: [i64; 5]) -> Self {
        Self {
            stride,
            low,
            high,
            dilation,
            base_dilation,
        }
    }
    /// The length of an axis of `length` with padding and base dilation; `None` if it exceeds 62 bits.
    pub fn padded(&self, length: i64) -> Option<i64> {
        let own = match length {
            0 => 0,
            length => (length - 1)
                .checked_mul(self.base_dilation)?
                .checked_add(1)?,
        };
        let padded = own.checked_add(self.low)?.checked_add(self.high)?;
        (padded < 1 << 62).then_some(padded)
    }
    /// The number of windows of `places` elements along an axis of `length`; `None` where it does not fit a number.
    pub fn count(&self, length: i64, places: i64) -> Option<i64> {
        let padded = self.padded(length)?;
        if places == 0 {
            return Some(0);
        }
        let reach = (places - 1).checked_mul(self.dilation)?;
        match padded > reach {
            true => ((padded - reach - 1) / self.stride).checked_add(1),
            false => Some(0),
        }
    }
}

/// The windows of a valid convolution, one for each space dimension.
pub fn windows(ir: &Ir, op: Op) -> Option<Vec<Window>> {
    let front = front(ir, op);
    let dims = ir.rank(ir.operands(op).next()?).checked_sub(front)?;
    let lists = Window::CLAUSES.map(|(name, _, default)| match ir.i64s_of(op, name) {
        Some(list) => list.to_vec(),
        None => vec![default; dims],
    });
    (0..dims)
        .map(|dim| {
            let mut numbers = [0; 5];
            for (number, list) in numbers.iter_mut().zip(&lists) {
                *number = *list.get(dim)?;
            }
            Some(Window::of_numbers(numbers))
        })
        .collect()
}

/// The number of axes of a convolution's operands and result before the spatial axes.
pub fn front(ir: &Ir, op: Op) -> usize {
    2 + usize::from(is_grouped(ir, op))
}

/// True if a convolution has an axis of groups.
pub fn is_grouped(ir: &Ir, op: Op) -> bool {
    ir.get_attr(op, "groups").is_some()
}

/// The known extents of the axes of space of a convolution's operand.
pub fn space(ir: &Ir, op: Op, value: Value) -> Option<Vec<i64>> {
    let dims = &ir.value_kind(value).as_tensor()?.dims;
    let length = |dim: &Dim| match dim.extent {
        Extent::Static(length) => i64::try_from(length).ok(),
        _ => None,
    };
    dims.get(front(ir, op)..)?.iter().map(length).collect()
}

/// The numbers of a clause, one for each of `dims` dimensions.
fn numbers(
    ir: &Ir,
    parts: OpParts<'_>,
    (name, least, default): (&'static str, i64, i64),
    dims: usize,
) -> Result<Vec<i64>, OpError> {
    let list = match parts.attr(ir, name).map(|attr| ir.attr_kind(attr)) {
        Some(AttrKind::I64Array(list)) => list.clone(),
        _ => return Ok(vec![default; dims]),
    };
    if list.len() != dims {
        let text = format!("has {} entries, there are {dims} dimensions", list.len());
        return Err(OpError::at(At::Clause(name), text).code(&BAD_SHAPE));
    }
    let range = least..=MOST;
    if let Some(dim) = list.iter().position(|number| !range.contains(number)) {
        let text = format!(
            "entry {dim} is {}, must be from {least} to {MOST}",
            list[dim]
        );
        return Err(OpError::at(At::Clause(name), text).code(&OUT_OF_BOUNDS));
    }
    Ok(list)
}

/// The known length of an axis of space.
fn known(dims: &[Dim], operand: usize, axis: usize) -> Result<i64, OpError> {
    if let Extent::Static(length) = dims[axis].extent {
        return i64::try_from(length).map_err(|_| too_long(operand, axis));
    }
    let text = format!("axis {axis}, one of space, has no known extent");
    Err(OpError::at(At::Operand(operand), text)
        .code(&super::codes::UNKNOWN_EXTENT)
        .help("axes of space have numbers for extents"))
}

fn too_long(operand: usize, axis: usize) -> OpError {
    let text = format!("axis {axis} would be too long");
    OpError::at(At::Operand(operand), text).code(&OUT_OF_BOUNDS)
}

fn infer(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let dtype = element(ir, parts)?;
    let groups = shape::flag(ir, parts, "groups");
    let front = 2 + usize::from(groups);
    let (x, _) = shape::tensor(ir, parts, 0)?;
    let (kernel, _) = shape::tensor(ir, parts, 1)?;
    if x.len() < front || kernel.len() != x.len() {
        let (operand, own) = match x.len() < front {
            true => (0, x.len()),
            false => (1, kernel.len()),
        };
        let wanted = match operand {
            0 => format!("at least {front}"),
            _ => format!("{}, as many as operand 0", x.len()),
        };
        let text = format!("has {own} axes, must have {wanted}");
        let mut error = OpError::at(At::Operand(operand), text).code(&BAD_SHAPE);
        if groups {
            error = error.help(
                "with `groups` operands have an axis of groups: [N, G, C, ...] and [G, O, C, ...]",
            );
        }
        return Err(error);
    }
    let features = front - 1;
    agreeing(
        ir,
        (1, features, kernel[features].extent),
        (0, features, x[features].extent),
    )
    .map_err(|error| {
        error.help("operands are [N, C, S...] and [O, C, K...]: `fusion.permute` brings other orders there")
    })?;
    let mut result = vec![Dim::new(x[0].extent)];
    if groups {
        agreeing(ir, (1, 0, kernel[0].extent), (0, 1, x[1].extent))?;
        result.push(Dim::new(x[1].extent));
    }
    result.push(Dim::new(kernel[front - 2].extent));
    let dims = x.len() - front;
    let lists = Window::CLAUSES.map(|clause| numbers(ir, parts, clause, dims));
    let [strides, low, high, dilation, base] = lists;
    let lists = [strides?, low?, high?, dilation?, base?];
    for dim in 0..dims {
        let axis = front + dim;
        let (length, places) = (known(&x, 0, axis)?, known(&kernel, 1, axis)?);
        let window = Window::of_numbers(lists.each_ref().map(|list| list[dim]));
        let count = window
            .count(length, places)
            .ok_or_else(|| too_long(0, axis))?;
        result.push(Dim::new(Extent::Static(count.max(0) as u64)));
    }
    shape::one(ir.tensor(result, dtype))
}
