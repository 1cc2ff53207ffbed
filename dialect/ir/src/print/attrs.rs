//! Attributes as text.

use std::fmt::Write;

use super::text::{Piece, Writer, quote};
use crate::attr::{AttrId, AttrKind};
use crate::float;
use crate::ir::Ir;
use crate::types::{DType, Extent, TypeId, TypeKind};

/// Dense data of more elements prints as one hexadecimal string.
const MOST_LISTED: usize = 100;

impl Writer<'_> {
    /// Writes an attribute without nested ones, which go on the stack.
    pub fn attr_piece(&mut self, attr: AttrId) {
        let ir = self.ir;
        match ir.attr_kind(attr) {
            AttrKind::Unit => self.text("unit"),
            AttrKind::Bool(value) => self.text(if *value { "true" } else { "false" }),
            AttrKind::Int { value, ty } => {
                let _ = write!(self.out, "{value}");
                if !is_scalar(ir, *ty, DType::I64) {
                    self.typed(*ty);
                }
            }
            AttrKind::Float { bits, ty } => {
                let number = number(ir, attr);
                let plain = is_scalar(ir, *ty, DType::F64) && f64::from_bits(*bits).is_finite();
                self.text(&number);
                if !plain {
                    self.typed(*ty);
                }
            }
            AttrKind::String(text) => quote(&mut self.out, ir.str(*text)),
            AttrKind::Array(items) => {
                self.later_list("[", items.iter().map(|a| Piece::Attr(*a)), "]");
            }
            AttrKind::Dict(entries) => self.dict_piece(entries),
            AttrKind::Type(ty) => self.later([Piece::Type(*ty)].into_iter()),
            AttrKind::SymbolRef(path) => {
                for (index, name) in path.iter().enumerate() {
                    if index > 0 {
                        self.text("::");
                    }
                    self.symbol(ir.str(*name));
                }
            }
            AttrKind::I64Array(values) => {
                self.text("array<i64");
                for (index, value) in values.iter().enumerate() {
                    let separator = if index == 0 { ": " } else { ", " };
                    let _ = write!(self.out, "{separator}{value}");
                }
                self.text(">");
            }
            AttrKind::Dense {
                ty,
                dtype,
                splat,
                bytes,
            } => {
                if self.elided(*dtype, bytes) {
                    return self.text("dense_resource<__elided__>");
                }
                self.dense(*ty, *dtype, *splat, bytes);
                self.typed(*ty);
            }
            AttrKind::Extents(dims) => {
                self.text("extents<");
                self.dims(dims);
                self.text(">");
            }
            AttrKind::Opaque { text } => self.text(ir.str(*text)),
            AttrKind::Loc(loc) => {
                self.later([Piece::Text("loc("), Piece::Loc(*loc), Piece::Text(")")].into_iter())
            }
        }
    }
    fn typed(&mut self, ty: TypeId) {
        self.later([Piece::Text(" : "), Piece::Type(ty)].into_iter());
    }
    fn dict_piece(&mut self, entries: &[(crate::intern::Sym, AttrId)]) {
        let mut pieces = vec![Piece::Text("{")];
        for (index, (key, value)) in entries.iter().enumerate() {
            if index > 0 {
                pieces.push(Piece::Text(", "));
            }
            pieces.push(Piece::Key(*key));
            if *self.ir.attr_kind(*value) != AttrKind::Unit {
                pieces.extend([Piece::Text(" = "), Piece::Attr(*value)]);
            }
        }
        pieces.push(Piece::Text("}"));
        self.later(pieces.into_iter());
    }
    fn elided(&self, dtype: DType, bytes: &[u8]) -> bool {
        let count = bytes.len() as u64 / dtype.bytes();
        self.elide.is_some_and(|most| count > most as u64)
    }
    /// Writes `dense<...>` without the type.
    pub fn dense(&mut self, ty: TypeId, dtype: DType, splat: bool, bytes: &[u8]) {
        let size = dtype.bytes() as usize;
        let shape = static_shape(self.ir, ty);
        let count = bytes.len() / size;
        self.text("dense<");
        if splat || (shape.is_empty() && count == 1) {
            self.text(&element(dtype, bytes));
        } else if count > MOST_LISTED && dtype != DType::I1 {
            self.text("\"0x");
            for byte in bytes {
                let _ = write!(self.out, "{byte:02X}");
            }
            self.text("\"");
        } else if count > 0 {
            self.dense_list(dtype, &shape, bytes);
        }
        self.text(">");
    }
    fn dense_list(&mut self, dtype: DType, shape: &[u64], bytes: &[u8]) {
        let size = dtype.bytes() as usize;
        // Elements below each axis: a list opens and closes at its multiples.
        let mut strides: Vec<usize> = Vec::new();
        let mut stride = 1usize;
        for extent in shape.iter().rev() {
            stride = stride.saturating_mul(*extent as usize);
            strides.push(stride);
        }
        for (index, bytes) in bytes.chunks(size).enumerate() {
            if index > 0 {
                self.text(", ");
            }
            let opens = strides.iter().filter(|s| index % **s == 0).count();
            self.out.extend(std::iter::repeat_n('[', opens));
            self.text(&element(dtype, bytes));
            let closes = strides.iter().filter(|s| (index + 1) % **s == 0).count();
            self.out.extend(std::iter::repeat_n(']', closes));
        }
    }
}

/// True if `ty` is the scalar type of `dtype`.
pub fn is_scalar(ir: &Ir, ty: TypeId, dtype: DType) -> bool {
    *ir.ty(ty) == TypeKind::Scalar(dtype)
}

/// The literal of an integer or float attribute, without its type.
pub fn number(ir: &Ir, attr: AttrId) -> String {
    match ir.attr_kind(attr) {
        AttrKind::Int { value, .. } => value.to_string(),
        AttrKind::Float { bits, ty } => {
            let dtype = ir.ty(*ty).dtype().filter(|d| d.is_float());
            float::print(dtype.unwrap_or(DType::F64), *bits)
        }
        _ => String::new(),
    }
}

fn static_shape(ir: &Ir, ty: TypeId) -> Vec<u64> {
    match ir.ty(ty) {
        TypeKind::Vector { shape, .. } => shape.clone(),
        TypeKind::Tensor(tensor) => {
            let extents = tensor.dims.iter().map(|d| match d.extent {
                Extent::Static(value) => value,
                _ => 1,
            });
            extents.collect()
        }
        _ => Vec::new(),
    }
}

fn element(dtype: DType, bytes: &[u8]) -> String {
    let mut wide = [0u8; 8];
    for (to, from) in wide.iter_mut().zip(bytes) {
        *to = *from;
    }
    let bits = u64::from_le_bytes(wide);
    match dtype {
        DType::I1 => (bits != 0).to_string(),
        _ if dtype.is_float() => float::print(dtype, float::widen(dtype, bits)),
        _ if !dtype.is_signed() => bits.to_string(),
        _ => {
            let unused = 64 - dtype.bits().min(64);
            ((bits << unused) as i64 >> unused).to_string()
        }
    }
}
