//! Changes extents and layouts everywhere at once, then infers what follows from them.
//!
//! Rewrites the types of values, the shapes in clauses and the types in attributes; then walks the program and takes
//! the types that each op's own inference gives, if it gives any: a broadcast of an axis that became 1 has another type
//! than the renamed one. Types that do not fit any more are left as they are, for the verifier to reject.

use std::collections::{BTreeMap, BTreeSet};

use fuser_ir::def::OpParts;
use fuser_ir::types::ExtentExpr;
use fuser_ir::{AttrId, AttrKind, Block, Dim, Extent, Ir, Op, Region, Sym, TensorType, TypeId};
use fuser_ir::{TypeKind, Value, check};

use super::edit;

/// A change of extents and layouts.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// Static extents.
    pub statics: BTreeMap<u64, u64>,
    /// Named extents.
    pub names: BTreeMap<Sym, u64>,
    /// Each is taken out of every multiple of it, in this order.
    pub divisors: Vec<u64>,
    /// Layouts that are dropped.
    pub layouts: BTreeSet<AttrId>,
}

/// Every extent in the types and clauses of a module.
pub fn extents(ir: &Ir, module: Op) -> BTreeSet<Extent> {
    let mut found = BTreeSet::new();
    for tensor in tensors(ir, module) {
        found.extend(tensor.dims.iter().map(|d| d.extent));
    }
    for op in ir.walk(module) {
        for (_, attr) in ir.attrs(op) {
            if let AttrKind::Extents(dims) = ir.attr_kind(*attr) {
                found.extend(dims.iter().map(|d| d.extent));
            }
        }
    }
    found
}

/// Every tensor type of a value of a module.
pub fn tensors(ir: &Ir, module: Op) -> BTreeSet<&TensorType> {
    let mut types = BTreeSet::new();
    for op in ir.walk(module) {
        types.extend(ir.results(op).iter().map(|&v| ir.value_type(v)));
        for block in blocks(ir, op) {
            types.extend(ir.args(block).iter().map(|&v| ir.value_type(v)));
        }
    }
    types
        .into_iter()
        .filter_map(|ty| ir.ty(ty).as_tensor())
        .collect()
}

fn blocks(ir: &Ir, op: Op) -> Vec<Block> {
    let regions = ir.op_regions(op).iter();
    regions.flat_map(|&r| ir.region_blocks(r)).collect()
}

impl Change {
    /// Changes a module.
    pub fn apply(&self, ir: &mut Ir, module: Op) {
        let mut types = BTreeMap::new();
        for op in ir.walk(module) {
            let mut values: Vec<Value> = ir.results(op).to_vec();
            for block in blocks(ir, op) {
                values.extend_from_slice(ir.args(block));
            }
            for value in values {
                let ty = self.ty(ir, ir.value_type(value), &mut types);
                ir.set_value_type(value, ty);
            }
            for (key, attr) in ir.attrs(op).to_vec() {
                let key = ir.str(key).to_owned();
                if let Some(kind) = self.attr(ir, &key, attr, &mut types) {
                    let attr = ir.attr(kind);
                    ir.set_attr(op, &key, attr);
                }
            }
        }
        infer_again(ir, module);
    }

    fn ty(&self, ir: &mut Ir, ty: TypeId, done: &mut BTreeMap<TypeId, TypeId>) -> TypeId {
        if let Some(&to) = done.get(&ty) {
            return to;
        }
        let to = match ir.ty(ty).clone() {
            TypeKind::Tensor(tensor) => {
                let tensor = self.tensor(ir, tensor);
                ir.type_id(TypeKind::Tensor(tensor))
            }
            TypeKind::Function { inputs, results } => {
                let inputs = inputs.into_iter().map(|t| self.plain(ir, t)).collect();
                let results = results.into_iter().map(|t| self.plain(ir, t)).collect();
                ir.function_type(inputs, results)
            }
            _ => ty,
        };
        done.insert(ty, to);
        to
    }
    /// A type inside a function type: functions of functions are left alone.
    fn plain(&self, ir: &mut Ir, ty: TypeId) -> TypeId {
        match ir.ty(ty).clone() {
            TypeKind::Tensor(tensor) => {
                let tensor = self.tensor(ir, tensor);
                ir.type_id(TypeKind::Tensor(tensor))
            }
            _ => ty,
        }
    }
    fn tensor(&self, ir: &mut Ir, mut tensor: TensorType) -> TensorType {
        tensor.dims = self.dims(ir, &tensor.dims);
        tensor.encoding = tensor.encoding.filter(|e| !self.layouts.contains(e));
        tensor
    }
    fn dims(&self, ir: &mut Ir, dims: &[Dim]) -> Vec<Dim> {
        let dims = dims.iter().map(|dim| Dim {
            extent: self.extent(ir, dim.extent),
            ..*dim
        });
        dims.collect()
    }
    fn extent(&self, ir: &mut Ir, extent: Extent) -> Extent {
        match extent {
            Extent::Static(n) => Extent::Static(self.number(n)),
            Extent::Symbolic(id) if !self.names.is_empty() => {
                let expr = self.expr(ir.extent_expr(id));
                expr.and_then(|e| ir.extent(e)).unwrap_or(extent)
            }
            _ => extent,
        }
    }
    fn number(&self, n: u64) -> u64 {
        let n = self.statics.get(&n).copied().unwrap_or(n);
        let divide = |n: u64, by: &u64| if n.is_multiple_of(*by) { n / by } else { n };
        self.divisors.iter().fold(n, divide)
    }
    /// The polynomial with numbers for names; `None` where it overflows.
    fn expr(&self, expr: &ExtentExpr) -> Option<ExtentExpr> {
        let mut sum = ExtentExpr::default();
        for (names, coefficient) in &expr.terms {
            let mut term = ExtentExpr::constant(*coefficient);
            for name in names {
                let factor = match self.names.get(name) {
                    Some(&n) => ExtentExpr::constant(i64::try_from(n).ok()?),
                    None => ExtentExpr::name(*name),
                };
                term = term.mul(&factor)?;
            }
            sum = sum.add(&term)?;
        }
        Some(sum)
    }

    fn attr(
        &self,
        ir: &mut Ir,
        key: &str,
        attr: AttrId,
        types: &mut BTreeMap<TypeId, TypeId>,
    ) -> Option<AttrKind> {
        match ir.attr_kind(attr).clone() {
            AttrKind::Extents(dims) => Some(AttrKind::Extents(self.dims(ir, &dims))),
            AttrKind::Type(ty) => Some(AttrKind::Type(self.ty(ir, ty, types))),
            // Axis numbers are no extents, whatever their size.
            AttrKind::I64Array(_) if key == "dims" => None,
            AttrKind::I64Array(list) => {
                let list = list.into_iter().map(|n| self.offset(n));
                Some(AttrKind::I64Array(list.collect()))
            }
            AttrKind::Dense {
                ty,
                dtype,
                splat,
                bytes,
            } => {
                let to = self.ty(ir, ty, types);
                let element = (dtype.bytes() as usize).min(bytes.len());
                (to != ty).then(|| AttrKind::Dense {
                    ty: to,
                    dtype,
                    splat: true,
                    bytes: if splat {
                        bytes
                    } else {
                        bytes[..element].to_vec()
                    },
                })
            }
            _ => None,
        }
    }
    /// Positions along axes (`starts`, `low`, `tile`) shrink with the extents of the same number.
    fn offset(&self, n: i64) -> i64 {
        let to = u64::try_from(n).ok().filter(|n| *n > 1);
        let to = to.and_then(|n| i64::try_from(self.number(n)).ok());
        to.unwrap_or(n)
    }
}

/// Replaces types by inferred types, from the innermost ops outward and from the program's start to its end.
pub fn infer_again(ir: &mut Ir, module: Op) {
    for op in ir.walk_post(module) {
        if edit::syntax(ir, op).signature {
            edit::refresh_signature(ir, op);
        } else {
            infer_op(ir, op);
        }
    }
}

fn infer_op(ir: &mut Ir, op: Op) {
    let Some(def) = ir.def(op) else { return };
    let Some(infer) = def.infer else { return };
    let operands: Vec<Value> = ir.operands(op).collect();
    let attrs = ir.attrs(op).to_vec();
    let regions: Vec<Region> = ir.op_regions(op).to_vec();
    let results = ir.results(op).to_vec();
    let stated: Vec<TypeId> = results.iter().map(|&v| ir.value_type(v)).collect();
    let parts = OpParts {
        operands: &operands,
        attrs: &attrs,
        regions: &regions,
        stated: Some(&stated),
    };
    // Inference relies on parts that fit the table.
    if !check::against_table(ir, def, parts).is_empty() {
        return;
    }
    let Ok(types) = infer(ir, parts) else { return };
    for ((value, stated), ty) in results.into_iter().zip(stated).zip(types) {
        if !check::same_but_layout(ir, stated, ty) {
            ir.set_value_type(value, ty);
        }
    }
}
