//! An op on parts of its operands: its clauses and its result types.

use fuser_ir::attr::AttrKind;
use fuser_ir::def::{OpClass, OpError, OpParts};
use fuser_ir::types::{Dim, TensorType};
use fuser_ir::{Ir, Op, TypeId, TypeKind, Value};

use crate::table;

/// Adapts `op`, whose operands are parts: the extents that its clauses state, and the types of its results. `part` gives
/// the axes of a part from those of the result with this number.
pub fn shrink(
    ir: &mut Ir,
    op: Op,
    part: &dyn Fn(usize, &[Dim]) -> Vec<Dim>,
) -> Result<(), OpError> {
    let Some(def) = ir.def(op).filter(|def| def.class != OpClass::Control) else {
        return Ok(());
    };
    let rank = ir.results(op).first().map(|&result| ir.rank(result));
    if let Some(AttrKind::Extents(dims)) = ir.attr_of(op, "shape")
        && Some(dims.len()) == rank
    {
        let dims = part(0, dims);
        let attr = ir.attr(AttrKind::Extents(dims));
        ir.set_attr(op, "shape", attr);
    }
    if table::is_constant(ir, op) {
        let result = ir.result(op, 0);
        let ty = part_type(ir, ir.value_type(result), |dims| part(0, dims));
        if let Some(AttrKind::Dense {
            dtype,
            splat: true,
            bytes,
            ..
        }) = ir.attr_of(op, "value")
        {
            let kind = AttrKind::Dense {
                ty,
                dtype: *dtype,
                splat: true,
                bytes: bytes.clone(),
            };
            let attr = ir.attr(kind);
            ir.set_attr(op, "value", attr);
        }
        ir.set_value_type(result, ty);
        return Ok(());
    }
    let operands: Vec<Value> = ir.operands(op).collect();
    let attrs = ir.attrs(op).to_vec();
    let regions = ir.op_regions(op).to_vec();
    let parts = OpParts {
        operands: &operands,
        attrs: &attrs,
        regions: &regions,
        stated: None,
    };
    let Some(infer) = def.infer else {
        return Ok(());
    };
    let types = infer(ir, parts)?;
    let results = ir.results(op).to_vec();
    for (value, ty) in results.into_iter().zip(types) {
        let ty = laid_out(ir, ty, ir.value_type(value));
        ir.set_value_type(value, ty);
    }
    Ok(())
}

/// A tensor type with other axes.
pub fn part_type(ir: &mut Ir, ty: TypeId, part: impl Fn(&[Dim]) -> Vec<Dim>) -> TypeId {
    let TypeKind::Tensor(tensor) = ir.ty(ty) else {
        return ty;
    };
    let tensor = TensorType {
        dims: part(&tensor.dims).into_iter().collect(),
        ..tensor.clone()
    };
    ir.type_id(TypeKind::Tensor(tensor))
}

/// The type, with the layout in memory that another one states.
pub fn laid_out(ir: &mut Ir, ty: TypeId, other: TypeId) -> TypeId {
    let stated = ir.ty(other).as_tensor().and_then(|other| other.encoding);
    match ir.ty(ty).as_tensor() {
        Some(own) if stated.is_some() => {
            let own = TensorType {
                encoding: stated,
                ..own.clone()
            };
            ir.type_id(TypeKind::Tensor(own))
        }
        _ => ty,
    }
}
