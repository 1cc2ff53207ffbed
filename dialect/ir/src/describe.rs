//! Types and extents as short text for messages. The printer writes programs; this writes sentences.

use crate::def::{DTypes, Shape, TypeConstraint};
use crate::elements;
use crate::ir::Ir;
use crate::print;
use crate::types::{DType, Dim, Extent, ExtentExpr, TypeId};

/// The types with elements.
const SHAPED: [&str; 3] = ["tensor", "vector", "memref"];
/// Longest type that a message quotes whole.
const LONGEST: usize = 200;

/// `2*B*S+1`
pub fn expr(ir: &Ir, expr: &ExtentExpr) -> String {
    print::print_expr(ir, expr)
}

/// `1024`, `[B]` or `?`.
pub fn extent(ir: &Ir, extent: Extent) -> String {
    match extent {
        Extent::Static(v) => v.to_string(),
        Extent::Symbolic(id) => format!("[{}]", expr(ir, ir.extent_expr(id))),
        Extent::Unknown => "?".into(),
    }
}

/// `4` or `[2*M]`.
pub fn amount(ir: &Ir, amount: &ExtentExpr) -> String {
    match amount.as_constant() {
        Some(value) => value.to_string(),
        None => format!("[{}]", expr(ir, amount)),
    }
}

/// `[B]` or `b[B]`.
pub fn dim(ir: &Ir, dim: Dim) -> String {
    let prefix = if dim.broadcast { "b" } else { "" };
    format!("{prefix}{}", extent(ir, dim.extent))
}

/// `[[B], 1024]`
pub fn dims(ir: &Ir, dims: &[Dim]) -> String {
    let items: Vec<String> = dims.iter().map(|d| dim(ir, *d)).collect();
    format!("[{}]", items.join(", "))
}

/// A type, as it prints; a very long one is cut.
pub fn ty(ir: &Ir, id: TypeId) -> String {
    let text = print::print_type_start(ir, id, 4 * LONGEST);
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}...", &text[..cut]),
        None => text,
    }
}

/// The reason that no op computes with a type of this text, if its element type is the reason: `tensor<4xf8E4M3FN>`.
pub fn not_computed(text: &str) -> Option<&'static str> {
    let shape = text
        .split(['<', ',', '>'])
        .find(|part| !SHAPED.contains(part))?;
    elements::not_computed(shape.rsplit('x').next()?)
}

/// The types that meet a constraint, in words: `a tensor of f64, f32, f16 or bf16`.
pub fn constraint(constraint: TypeConstraint) -> String {
    let shape = match constraint.shape {
        Shape::Any => return "any type".into(),
        Shape::Function => return "a function type".into(),
        Shape::Tensor => "a tensor",
        Shape::TensorOrScalar => "a tensor or a scalar",
        Shape::Elementwise => "a tensor, vector or scalar",
        Shape::Scalar => "a scalar",
        Shape::Vector => "a vector",
        Shape::VectorOrScalar => "a vector or a scalar",
        Shape::MemRef => "a memref",
    };
    match dtypes(constraint.dtypes) {
        Some(list) => format!("{shape} of {list}"),
        None => shape.into(),
    }
}

/// `f32 or f64`; `None` for all.
pub fn dtypes(set: DTypes) -> Option<String> {
    let names: Vec<&str> = DType::ALL
        .iter()
        .filter(|d| set.contains(**d))
        .map(|d| d.name())
        .collect();
    match names.split_last() {
        _ if set == DTypes::ANY => None,
        Some((last, [])) => Some((*last).into()),
        Some((last, rest)) => Some(format!("{} or {last}", rest.join(", "))),
        None => Some("no element type".into()),
    }
}
