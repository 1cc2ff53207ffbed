//! Nesting of types, attributes and locations: the parts directly inside one, and the length of its own text.

use crate::attr::{AttrId, AttrKind};
use crate::ir::Ir;
use crate::loc::{LocId, LocKind};
use crate::types::{Dim, Extent, TypeId, TypeKind};

/// A type, attribute or location, as part of another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Part {
    /// An attribute.
    Attr(AttrId),
    /// A type.
    Type(TypeId),
    /// A location.
    Loc(LocId),
}

impl From<AttrId> for Part {
    fn from(attr: AttrId) -> Self {
        Part::Attr(attr)
    }
}
impl From<TypeId> for Part {
    fn from(ty: TypeId) -> Self {
        Part::Type(ty)
    }
}
impl From<LocId> for Part {
    fn from(loc: LocId) -> Self {
        Part::Loc(loc)
    }
}

/// Bytes of a number, or of a part that is one word.
const WORD: usize = 24;

/// Appends the parts directly inside `part` to `inside`; returns the approximate bytes of its own text.
pub fn open(ir: &Ir, part: Part, inside: &mut Vec<Part>) -> usize {
    match part {
        Part::Type(ty) => open_type(ir, ty, inside),
        Part::Attr(attr) => open_attr(ir, attr, inside),
        Part::Loc(loc) => open_loc(ir, loc, inside),
    }
}

fn open_type(ir: &Ir, ty: TypeId, inside: &mut Vec<Part>) -> usize {
    match ir.ty(ty) {
        TypeKind::Tensor(tensor) => {
            inside.extend(tensor.encoding.map(Part::Attr));
            dims(ir, &tensor.dims)
        }
        TypeKind::Vector { shape, .. } => WORD * shape.len(),
        TypeKind::MemRef { dims, .. } => dims.iter().map(|d| extent(ir, *d)).sum(),
        TypeKind::Function { inputs, results } => {
            inside.extend(inputs.iter().chain(results).map(|t| Part::Type(*t)));
            WORD + 2 * (inputs.len() + results.len())
        }
        TypeKind::Tuple(items) => {
            inside.extend(items.iter().map(|t| Part::Type(*t)));
            WORD + 2 * items.len()
        }
        TypeKind::Opaque { text } => ir.str(*text).len(),
        TypeKind::None
        | TypeKind::Scalar(_)
        | TypeKind::Integer { .. }
        | TypeKind::UnrankedTensor(_) => WORD,
    }
}

fn open_attr(ir: &Ir, attr: AttrId, inside: &mut Vec<Part>) -> usize {
    match ir.attr_kind(attr) {
        AttrKind::Unit | AttrKind::Bool(_) => WORD,
        AttrKind::Int { ty, .. } | AttrKind::Float { ty, .. } => {
            inside.push(Part::Type(*ty));
            WORD
        }
        AttrKind::Type(ty) => {
            inside.push(Part::Type(*ty));
            0
        }
        AttrKind::String(text) | AttrKind::Opaque { text } => ir.str(*text).len(),
        AttrKind::Array(items) => {
            inside.extend(items.iter().map(|a| Part::Attr(*a)));
            2 * items.len()
        }
        AttrKind::Dict(entries) => {
            inside.extend(entries.iter().map(|e| Part::Attr(e.1)));
            let keys = entries.iter().map(|e| ir.str(e.0).len() + 5);
            keys.sum()
        }
        AttrKind::SymbolRef(path) => path.iter().map(|s| ir.str(*s).len() + 3).sum(),
        AttrKind::I64Array(values) => WORD / 3 * values.len(),
        AttrKind::Dense { ty, bytes, .. } => {
            inside.push(Part::Type(*ty));
            2 * bytes.len()
        }
        AttrKind::Extents(list) => dims(ir, list),
        AttrKind::Loc(loc) => {
            inside.push(Part::Loc(*loc));
            WORD
        }
    }
}

fn open_loc(ir: &Ir, loc: LocId, inside: &mut Vec<Part>) -> usize {
    match ir.loc_kind(loc) {
        LocKind::Unknown => WORD,
        LocKind::File { file, .. } => WORD + ir.str(*file).len(),
        LocKind::Name { name, child } => {
            inside.extend(child.map(Part::Loc));
            ir.str(*name).len()
        }
        LocKind::CallSite { callee, caller } => {
            inside.extend([Part::Loc(*callee), Part::Loc(*caller)]);
            WORD
        }
        LocKind::Fused(fused) => {
            inside.extend(fused.parts.iter().map(|l| Part::Loc(*l)));
            WORD + 2 * fused.parts.len()
        }
    }
}

fn dims(ir: &Ir, dims: &[Dim]) -> usize {
    dims.iter().map(|d| extent(ir, d.extent)).sum()
}

fn extent(ir: &Ir, extent: Extent) -> usize {
    let Extent::Symbolic(id) = extent else {
        return WORD / 3;
    };
    let terms = ir.extent_expr(id).terms.iter();
    let names = terms.map(|(names, _)| names.iter().map(|n| ir.str(*n).len() + 1).sum::<usize>());
    names.map(|bytes| bytes + 3).sum()
}
