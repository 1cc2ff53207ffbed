//! Types and shapes as text.

use std::cmp::Reverse;
use std::fmt::Write;

use super::text::{Piece, Writer};
use crate::ir::Ir;
use crate::types::{DType, Dim, Extent, ExtentExpr, MemSpace, TypeId, TypeKind};

impl Writer<'_> {
    /// Writes a type without nested ones, which go on the stack.
    pub fn type_piece(&mut self, ty: TypeId) {
        let ir = self.ir;
        match ir.ty(ty) {
            TypeKind::None => self.text("none"),
            TypeKind::Scalar(dtype) => self.text(dtype.name()),
            TypeKind::Integer { width, signed } => {
                let prefix = signed.map_or("i", |s| if s { "si" } else { "ui" });
                let _ = write!(self.out, "{prefix}{width}");
            }
            TypeKind::Tensor(tensor) => {
                self.text("tensor<");
                self.shape(tensor.dims.iter().copied(), tensor.dtype);
                match tensor.encoding {
                    Some(encoding) => {
                        self.later_list(", ", [Piece::Attr(encoding)].into_iter(), ">")
                    }
                    None => self.text(">"),
                }
            }
            TypeKind::UnrankedTensor(dtype) => {
                let _ = write!(self.out, "tensor<*x{}>", dtype.name());
            }
            TypeKind::Vector { shape, dtype } => {
                self.text("vector<");
                self.shape(shape.iter().map(|d| Dim::fixed(*d)), *dtype);
                self.text(">");
            }
            TypeKind::MemRef { dims, dtype, space } => {
                self.text("memref<");
                self.shape(dims.iter().map(|d| Dim::new(*d)), *dtype);
                if *space != MemSpace::Global {
                    self.text(", ");
                    self.text(space.name());
                }
                self.text(">");
            }
            TypeKind::Function { inputs, results } => self.function(inputs, results),
            TypeKind::Tuple(items) => {
                self.later_list("tuple<", items.iter().map(|t| Piece::Type(*t)), ">");
            }
            TypeKind::Opaque { text } => self.text(ir.str(*text)),
        }
    }
    fn function(&mut self, inputs: &[TypeId], results: &[TypeId]) {
        let single = matches!(results, [ty] if !is_function(self.ir, *ty));
        let (open, close) = if single { (" -> ", "") } else { (" -> (", ")") };
        // The stack is last in, first out.
        self.later_list(open, results.iter().map(|t| Piece::Type(*t)), close);
        self.later_list("(", inputs.iter().map(|t| Piece::Type(*t)), ")");
    }
    /// Writes `4x[B]xf32`.
    fn shape(&mut self, dims: impl Iterator<Item = Dim>, dtype: DType) {
        for dim in dims {
            self.dim(dim);
            self.text("x");
        }
        self.text(dtype.name());
    }
    /// Writes `[B]` or `b4`.
    pub fn dim(&mut self, dim: Dim) {
        if dim.broadcast {
            self.text("b");
        }
        match dim.extent {
            Extent::Static(value) => {
                let _ = write!(self.out, "{value}");
            }
            Extent::Unknown => self.text("?"),
            Extent::Symbolic(id) => {
                self.text("[");
                let text = expr(self.ir, self.ir.extent_expr(id));
                self.text(&text);
                self.text("]");
            }
        }
    }
    /// Writes `[B], 4`.
    pub fn dims(&mut self, dims: &[Dim]) {
        for (index, dim) in dims.iter().enumerate() {
            if index > 0 {
                self.text(", ");
            }
            self.dim(*dim);
        }
    }
}

/// True if a type is a function type.
pub fn is_function(ir: &Ir, ty: TypeId) -> bool {
    matches!(ir.ty(ty), TypeKind::Function { .. })
}

/// A polynomial: highest degree first, then by name, so that the text does not depend on the order of ids.
pub fn expr(ir: &Ir, expr: &ExtentExpr) -> String {
    let mut terms: Vec<(Vec<&str>, i64)> = expr
        .terms
        .iter()
        .map(|(names, coefficient)| {
            let mut names: Vec<&str> = names.iter().map(|n| ir.str(*n)).collect();
            names.sort_unstable();
            (names, *coefficient)
        })
        .collect();
    terms.sort_by(|a, b| (Reverse(a.0.len()), &a.0).cmp(&(Reverse(b.0.len()), &b.0)));
    let mut text = String::new();
    for (names, coefficient) in terms {
        let sign = match (coefficient < 0, text.is_empty()) {
            (true, _) => "-",
            (false, false) => "+",
            (false, true) => "",
        };
        text.push_str(sign);
        let factor = coefficient.unsigned_abs();
        if factor != 1 || names.is_empty() {
            text.push_str(&factor.to_string());
            text.push_str(if names.is_empty() { "" } else { "*" });
        }
        text.push_str(&names.join("*"));
    }
    if text.is_empty() { "0".into() } else { text }
}
