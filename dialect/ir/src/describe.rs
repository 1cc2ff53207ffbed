//! Types and extents as short text for messages. The printer writes programs; this writes sentences.

use crate::def::{DTypes, Shape, TypeConstraint};
use crate::ir::Ir;
use crate::types::{DType, Dim, Extent, ExtentExpr, TypeId, TypeKind};

/// `[2*B*S+1]` without the brackets.
pub fn expr(ir: &Ir, expr: &ExtentExpr) -> String {
    let mut text = String::new();
    for (names, coefficient) in &expr.terms {
        if *coefficient < 0 {
            text.push('-');
        } else if !text.is_empty() {
            text.push('+');
        }
        text.push_str(&term(ir, names, coefficient.unsigned_abs()));
    }
    if text.is_empty() { "0".into() } else { text }
}

fn term(ir: &Ir, names: &[crate::Sym], coefficient: u64) -> String {
    let names: Vec<&str> = names.iter().map(|n| ir.str(*n)).collect();
    match (names.is_empty(), coefficient) {
        (true, c) => c.to_string(),
        (false, 1) => names.join("*"),
        (false, c) => format!("{c}*{}", names.join("*")),
    }
}

/// `1024`, `[B]` or `?`.
pub fn extent(ir: &Ir, extent: Extent) -> String {
    match extent {
        Extent::Static(v) => v.to_string(),
        Extent::Symbolic(id) => format!("[{}]", expr(ir, ir.extent_expr(id))),
        Extent::Unknown => "?".into(),
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

/// A type. Nested types beyond functions are named by their kind.
pub fn ty(ir: &Ir, id: TypeId) -> String {
    match ir.ty(id) {
        TypeKind::None => "none".into(),
        TypeKind::Scalar(d) => d.name().into(),
        TypeKind::Integer { width, signed } => {
            let prefix = ["i", "ui", "si"][signed.map_or(0, |s| 1 + s as usize)];
            format!("{prefix}{width}")
        }
        TypeKind::Tensor(t) => {
            let dims = t.dims.iter().map(|d| dim(ir, *d));
            let layout = if t.encoding.is_some() { ", #..." } else { "" };
            format!("tensor<{}{layout}>", shaped(dims, t.dtype))
        }
        TypeKind::UnrankedTensor(d) => format!("tensor<*x{}>", d.name()),
        TypeKind::Vector { shape, dtype } => {
            format!(
                "vector<{}>",
                shaped(shape.iter().map(u64::to_string), *dtype)
            )
        }
        TypeKind::MemRef { dims, dtype, space } => {
            let dims = dims.iter().map(|d| extent(ir, *d));
            format!("memref<{}, {}>", shaped(dims, *dtype), space.name())
        }
        TypeKind::Function { inputs, results } => {
            format!("a function of {} to {}", inputs.len(), results.len())
        }
        TypeKind::Tuple(items) => format!("a tuple of {}", items.len()),
        TypeKind::Opaque { text } => format!("!{}", ir.str(*text)),
    }
}

fn shaped(dims: impl Iterator<Item = String>, dtype: DType) -> String {
    let mut text: String = dims.map(|d| d + "x").collect();
    text.push_str(dtype.name());
    text
}

/// What a constraint asks for: `a tensor of f64, f32, f16 or bf16`.
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
