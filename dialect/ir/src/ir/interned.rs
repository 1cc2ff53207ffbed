//! Types, attributes, extents, places and names of ops: each distinct one has an id.

use super::{Ir, NameData, OpName};
use crate::attr::{AttrId, AttrKind};
use crate::intern::Sym;
use crate::loc::{LocId, LocKind};
use crate::types::{DType, Dim, Extent, ExtentExpr, ExtentExprId, TensorType, TypeId, TypeKind};

impl Ir {
    /// The symbol of `text`.
    pub fn sym(&mut self, text: &str) -> Sym {
        self.strings.intern(text)
    }
    /// The text of `sym`.
    pub fn str(&self, sym: Sym) -> &str {
        self.strings.get(sym)
    }
    /// The id of a type. An axis `b1` is `1`: one element is stored once anyway.
    pub fn type_id(&mut self, mut kind: TypeKind) -> TypeId {
        if let TypeKind::Tensor(tensor) = &mut kind {
            tensor.dims.iter_mut().for_each(Dim::normalize);
        }
        self.types.intern(kind)
    }
    /// The kind and parameters of a type.
    pub fn ty(&self, id: TypeId) -> &TypeKind {
        self.types.get(id)
    }
    /// The scalar type of `dtype`.
    pub fn scalar(&mut self, dtype: DType) -> TypeId {
        self.type_id(TypeKind::Scalar(dtype))
    }
    /// A dense tensor type.
    pub fn tensor(&mut self, dims: Vec<Dim>, dtype: DType) -> TypeId {
        self.type_id(TypeKind::Tensor(TensorType {
            dims,
            dtype,
            encoding: None,
        }))
    }
    /// A tensor or scalar type with other elements and the same layout; other types are returned unchanged.
    pub fn with_dtype(&mut self, ty: TypeId, dtype: DType) -> TypeId {
        let kind = match self.ty(ty).clone() {
            TypeKind::Tensor(tensor) => TypeKind::Tensor(TensorType { dtype, ..tensor }),
            TypeKind::Scalar(_) => TypeKind::Scalar(dtype),
            other => other,
        };
        self.type_id(kind)
    }
    /// `vector<lanes x dtype>`
    pub fn vector(&mut self, lanes: u64, dtype: DType) -> TypeId {
        self.type_id(TypeKind::Vector {
            shape: vec![lanes],
            dtype,
        })
    }
    /// A function type.
    pub fn function_type(&mut self, inputs: Vec<TypeId>, results: Vec<TypeId>) -> TypeId {
        self.type_id(TypeKind::Function { inputs, results })
    }
    /// The extent that `expr` denotes: static if it is constant. `None` for a negative constant.
    pub fn extent(&mut self, expr: ExtentExpr) -> Option<Extent> {
        match expr.as_constant() {
            Some(value) => u64::try_from(value).ok().map(Extent::Static),
            None => Some(Extent::Symbolic(self.extents.intern(expr))),
        }
    }
    /// The extent called `name`.
    pub fn named_extent(&mut self, name: &str) -> Extent {
        let sym = self.sym(name);
        Extent::Symbolic(self.extents.intern(ExtentExpr::name(sym)))
    }
    /// The polynomial of a symbolic extent.
    pub fn extent_expr(&self, id: ExtentExprId) -> &ExtentExpr {
        self.extents.get(id)
    }
    /// Any known extent as a polynomial; `None` for `?` and for constants beyond i64.
    pub fn extent_as_expr(&self, extent: Extent) -> Option<ExtentExpr> {
        match extent {
            Extent::Static(v) => i64::try_from(v).ok().map(ExtentExpr::constant),
            Extent::Symbolic(id) => Some(self.extent_expr(id).clone()),
            Extent::Unknown => None,
        }
    }
    /// The id of an attribute. Extents are as in types: `b1` is `1`.
    pub fn attr(&mut self, mut kind: AttrKind) -> AttrId {
        if let AttrKind::Extents(dims) = &mut kind {
            dims.iter_mut().for_each(Dim::normalize);
        }
        self.attrs.intern(kind)
    }
    /// The value of an attribute.
    pub fn attr_kind(&self, id: AttrId) -> &AttrKind {
        self.attrs.get(id)
    }
    /// An `i64` attribute.
    pub fn int_attr(&mut self, value: i64) -> AttrId {
        let ty = self.scalar(DType::I64);
        self.attr(AttrKind::Int {
            value: value.into(),
            ty,
        })
    }
    /// A string attribute.
    pub fn string_attr(&mut self, text: &str) -> AttrId {
        let sym = self.sym(text);
        self.attr(AttrKind::String(sym))
    }
    /// An `array<i64: ...>` attribute.
    pub fn i64_array_attr(&mut self, values: &[i64]) -> AttrId {
        self.attr(AttrKind::I64Array(values.to_vec()))
    }
    /// The entries of a list of integers or of known extents without `b`; `None` for other attributes.
    pub fn amounts(&self, attr: &AttrKind) -> Option<Vec<ExtentExpr>> {
        if let Some(list) = attr.as_i64_array() {
            return Some(list.iter().copied().map(ExtentExpr::constant).collect());
        }
        let plain = attr.as_dims()?.iter().map(|dim| match dim.broadcast {
            true => None,
            false => self.extent_as_expr(dim.extent),
        });
        plain.collect()
    }
    /// The attribute whose amounts are these entries: an `array<i64: ...>` if all are numbers; `None` if one is
    /// negative and another has names.
    pub fn amounts_attr(&mut self, list: &[ExtentExpr]) -> Option<AttrId> {
        let numbers: Option<Vec<i64>> = list.iter().map(ExtentExpr::as_constant).collect();
        if let Some(numbers) = numbers {
            return Some(self.i64_array_attr(&numbers));
        }
        let dims = list.iter().map(|e| Some(Dim::new(self.extent(e.clone())?)));
        let dims = dims.collect::<Option<_>>()?;
        Some(self.attr(AttrKind::Extents(dims)))
    }
    /// An array of strings.
    pub fn string_array_attr(&mut self, texts: &[&str]) -> AttrId {
        let items = texts.iter().map(|t| self.string_attr(t)).collect();
        self.attr(AttrKind::Array(items))
    }
    /// The id of a location.
    pub fn loc(&mut self, kind: LocKind) -> LocId {
        self.locs.intern(kind)
    }
    /// The content of a location.
    pub fn loc_kind(&self, id: LocId) -> &LocKind {
        self.locs.get(id)
    }
    /// `loc(unknown)`
    pub fn unknown_loc(&mut self) -> LocId {
        self.loc(LocKind::Unknown)
    }
    /// The id of an operation name, registered or not.
    pub fn op_name(&mut self, name: &str) -> OpName {
        let sym = self.sym(name);
        if let Some(&id) = self.name_ids.get(&sym) {
            return id;
        }
        let id = self.names.push(NameData {
            sym,
            def: self.registry.op(name),
        });
        self.name_ids.insert(sym, id);
        id
    }
}
