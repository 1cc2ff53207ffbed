//! Preparation of a module before its program is compiled: other programs are removed, and unnamed extents get names.
//!
//! ```text
//! task.program @f(%x: tensor<?xf32>) -> tensor<?xf32> {         task.program @f(%x: tensor<[x_0]xf32>) -> tensor<[x_0]xf32> {
//!   %y = fusion.exp %x : tensor<?xf32>                     =>     %y = fusion.exp %x : tensor<[x_0]xf32>
//! ```
//!
//! Never changes what a program computes.

use fuser_dialects::task::{self, calls, marks};
use fuser_ir::def::OpParts;
use fuser_ir::maps::Index;
use fuser_ir::types::TensorType;
use fuser_ir::{AttrKind, Dim, Extent, Ir, Op, Traits, TypeId, TypeKind, Value};
use rustc_hash::FxHashMap;

/// Erases all programs of `module` except `program` and the programs that it calls. Their mistakes and kernels are
/// irrelevant to it.
pub fn keep_only(ir: &mut Ir, module: Op, program: Op) {
    let kept = calls::reached(ir, module, program);
    for op in ir.children(module) {
        if ir.is(op, &task::PROGRAM) && !kept.contains(&op) {
            ir.erase(op);
        }
    }
}

/// Names the `?` extents of inputs and of all values computed from them. A `?` agrees with no extent, not even with
/// another `?`: it takes the length of the given input. A result that overwrites an argument has the argument's length.
pub fn name_extents(ir: &mut Ir, program: Op) {
    let Some(body) = ir.body(program, 0) else {
        return;
    };
    let mut named = false;
    for (index, &arg) in ir.args(body).to_vec().iter().enumerate() {
        let TypeKind::Tensor(tensor) = ir.value_kind(arg) else {
            continue;
        };
        if !has_unknown(ir.value_kind(arg)) {
            continue;
        }
        let tensor = tensor.clone();
        let base = ir.value_name(arg).filter(|_| !ir.is_numbered(arg));
        let base = base.map_or_else(|| format!("arg{index}"), str::to_owned);
        let ty = with_names(ir, tensor, &base);
        ir.set_value_type(arg, ty);
        named = true;
    }
    if !named {
        return;
    }
    for op in ir.walk(program).into_iter().skip(1) {
        name_results(ir, op);
    }
    let renamed = overwritten(ir, program);
    if !renamed.is_empty() {
        rename(ir, program, &renamed);
    }
    marks::sign(ir, program);
}
fn with_names(ir: &mut Ir, tensor: TensorType, base: &str) -> TypeId {
    let mut dims = Vec::with_capacity(tensor.dims.len());
    for (axis, dim) in tensor.dims.iter().enumerate() {
        let extent = match dim.extent {
            Extent::Unknown => fresh(ir, base, axis),
            known => known,
        };
        dims.push(Dim { extent, ..*dim });
    }
    ir.type_id(TypeKind::Tensor(TensorType { dims, ..tensor }))
}

fn has_unknown(kind: &TypeKind) -> bool {
    let tensor = kind.as_tensor();
    tensor.is_some_and(|t| t.dims.iter().any(|d| d.extent == Extent::Unknown))
}

/// Names the `?` extents in the stated shape of `op` and in its result types. A terminator determines the result types
/// of the enclosing op.
fn name_results(ir: &mut Ir, op: Op) {
    let Some(def) = ir.def(op) else { return };
    if ir.has(op, Traits::TERMINATOR) {
        let Some(parent) = ir.parent_op(op).filter(|p| !ir.is(*p, &task::PROGRAM)) else {
            return;
        };
        let types: Vec<TypeId> = ir.operands(op).map(|v| ir.value_type(v)).collect();
        return retype(ir, parent, &types);
    }
    let results = ir.results(op).iter();
    if !ir.op_regions(op).is_empty() || !results.clone().any(|&v| has_unknown(ir.value_kind(v))) {
        return;
    }
    name_shape(ir, op);
    let operands: Vec<Value> = ir.operands(op).collect();
    let attrs = ir.attrs(op).to_vec();
    let parts = OpParts {
        operands: &operands,
        attrs: &attrs,
        regions: &[],
        stated: None,
    };
    if let Some(Ok(types)) = def.infer.map(|infer| infer(ir, parts)) {
        retype(ir, op, &types);
    }
}

/// Updates the clause `shape`: an axis read along an operand's axis has that axis's length.
fn name_shape(ir: &mut Ir, op: Op) {
    let Some(AttrKind::Extents(shape)) = ir.attr_of(op, "shape") else {
        return;
    };
    let from = ir.operands(op).next().map(|v| ir.value_kind(v));
    let (Some(from), Some(maps)) = (from.and_then(TypeKind::as_tensor), ir.maps(op)) else {
        return;
    };
    let indices = maps.operands.first().and_then(|map| map.axes());
    let source = |axis: usize| {
        let reads = |index: &Index| match index {
            Index::Iter(iter) | Index::Affine { iter, .. } => *iter == axis,
            Index::Zero | Index::Element(_) | Index::From { .. } => false,
        };
        indices?.iter().position(reads)
    };
    let named = |(axis, dim): (usize, &Dim)| {
        let known = source(axis).and_then(|k| from.dims.get(k));
        match known.filter(|_| dim.extent == Extent::Unknown) {
            Some(known) => Dim {
                extent: known.extent,
                ..*dim
            },
            None => *dim,
        }
    };
    let shape = shape.iter().enumerate().map(named).collect();
    let shape = ir.attr(AttrKind::Extents(shape));
    ir.set_attr(op, "shape", shape);
}

/// Gives results whose types have `?` the extents of `types`; layouts stay.
fn retype(ir: &mut Ir, op: Op, types: &[TypeId]) {
    for (index, &known) in types.iter().enumerate().take(ir.results(op).len()) {
        let value = ir.result(op, index);
        let TypeKind::Tensor(tensor) = ir.value_kind(value) else {
            continue;
        };
        let Some(known) = ir.ty(known).as_tensor() else {
            continue;
        };
        if known.dims.len() != tensor.dims.len() || !has_unknown(ir.value_kind(value)) {
            continue;
        }
        let pairs = tensor.dims.iter().zip(&known.dims);
        let dims = pairs.map(|(own, known)| match own.extent {
            Extent::Unknown => Dim {
                extent: known.extent,
                ..*own
            },
            _ => *own,
        });
        let dims = dims.collect();
        let ty = TypeKind::Tensor(TensorType {
            dims,
            ..tensor.clone()
        });
        let ty = ir.type_id(ty);
        ir.set_value_type(value, ty);
    }
}

/// For results that overwrite an argument: a map from the result's extents to the argument's extents.
fn overwritten(ir: &Ir, program: Op) -> FxHashMap<Extent, Extent> {
    let mut renamed = FxHashMap::default();
    let Some(body) = ir.body(program, 0) else {
        return renamed;
    };
    let Some(end) = ir.terminator(body) else {
        return renamed;
    };
    for (index, value) in ir.operands(end).enumerate() {
        let argument = fuser_dialects::task::updates::argument(ir, program, index);
        let Some(&argument) = argument.and_then(|a| ir.args(body).get(a)) else {
            continue;
        };
        let dims = |v: Value| ir.value_kind(v).as_tensor().map_or(&[][..], |t| &t.dims);
        for (own, other) in dims(value).iter().zip(dims(argument)) {
            let mut name = own.extent;
            while let Some(&next) = renamed.get(&name) {
                name = next;
            }
            let mut other = other.extent;
            while let Some(&next) = renamed.get(&other) {
                other = next;
            }
            if name != other {
                renamed.insert(name, other);
            }
        }
    }
    renamed
}
/// Replaces extents in all types and shapes of `program`.
fn rename(ir: &mut Ir, program: Op, renamed: &FxHashMap<Extent, Extent>) {
    let mut values: Vec<Value> = ir
        .body(program, 0)
        .map_or(Vec::new(), |b| ir.args(b).to_vec());
    let new = |dim: &Dim| {
        let mut extent = dim.extent;
        while let Some(&next) = renamed.get(&extent) {
            extent = next;
        }
        Dim { extent, ..*dim }
    };
    for op in ir.walk(program).into_iter().skip(1) {
        values.extend(ir.results(op));
        for (key, attr) in ir.attrs(op).to_vec() {
            if let AttrKind::Extents(dims) = ir.attr_kind(attr) {
                let dims = dims.iter().map(new).collect();
                let dims = ir.attr(AttrKind::Extents(dims));
                let key = ir.str(key).to_owned();
                ir.set_attr(op, &key, dims);
            }
        }
    }
    for value in values {
        if let TypeKind::Tensor(tensor) = ir.value_kind(value) {
            let dims = tensor.dims.iter().map(new).collect();
            let ty = TypeKind::Tensor(TensorType {
                dims,
                ..tensor.clone()
            });
            let ty = ir.type_id(ty);
            ir.set_value_type(value, ty);
        }
    }
}

/// A new extent name that the module does not use: `x_0`, or that with a number appended.
fn fresh(ir: &mut Ir, base: &str, axis: usize) -> Extent {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let base: String = base.chars().map(plain).collect();
    let base = match base.starts_with(|c: char| c.is_ascii_digit()) {
        true => format!("_{base}_{axis}"),
        false => format!("{base}_{axis}"),
    };
    let mut name = base.clone();
    let mut suffix = 0;
    while ir.strings.lookup(&name).is_some() {
        suffix += 1;
        name = format!("{base}_{suffix}");
    }
    ir.named_extent(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CompileOptions, find_program, lower};
    use fuser_ir::parse::parse_str;

    fn read(text: &str, name: &str) -> (Ir, Op, Op) {
        let mut ir = Ir::new(fuser_dialects::registry());
        let module = parse_str(&mut ir, text).module.unwrap();
        let program = find_program(&ir, module, Some(name)).unwrap();
        (ir, module, program)
    }
    fn types(ir: &Ir, values: &[Value]) -> Vec<String> {
        let types = values.iter().map(|&v| ir.value_type(v));
        types.map(|ty| fuser_ir::describe::ty(ir, ty)).collect()
    }
    #[test]
    fn extents_of_inputs_get_names_of_their_own() {
        let text = "task.program @f(%x: tensor<?x4x?xf32>, %u: tensor<?xf32>, %1: tensor<?xf32>, %x_0: tensor<8xf32>)
            -> tensor<8xf32> {
          %y = fusion.neg %u
          task.return %x_0
        }";
        let (mut ir, _, program) = read(text, "f");
        name_extents(&mut ir, program);
        assert!(!fuser_ir::verify(&mut ir, program).has_errors());
        let body = ir.body(program, 0).unwrap();
        let wanted = [
            "tensor<[x_0_1]x4x[x_2]xf32>",
            "tensor<[u_0]xf32>",
            "tensor<[arg2_0]xf32>",
            "tensor<8xf32>",
        ];
        assert_eq!(types(&ir, ir.args(body)), wanted);
    }
    #[test]
    fn what_is_computed_from_inputs_has_their_extents() {
        let text = "task.program @f(%x: tensor<4x?xf32>, %v: tensor<?x1xf32>, %o: tensor<?x1xf32>)
            -> (tensor<?x4xf32, [0, 1]>, tensor<?x4xb5xf32>, tensor<?xf32>, tensor<?xb3xf32>, tensor<?x1xf32> {alias = 2}) {
          %p = task.pattern @p {
            %n = fusion.neg %x
            %p = fusion.permute %n dims [1, 0] : tensor<?x4xf32, [0, 1]>
            task.yield %p
          } : tensor<?x4xf32, [0, 1]>
          %b = fusion.broadcast %p dims [0, 1] shape [?, 4, 5]
          %e = fusion.exp %b
          %s = fusion.sum %x dims [0]
          %w = fusion.expand %v shape [?, 3]
          %d = fusion.exp %v
          task.return %p, %e, %s, %w, %d
        }";
        let (mut ir, _, program) = read(text, "f");
        name_extents(&mut ir, program);
        let told = fuser_ir::verify(&mut ir, program);
        assert!(!told.has_errors(), "{told:?}");
        let body = ir.body(program, 0).unwrap();
        // The result that overwrites `%o` has its length.
        let wanted = [
            "tensor<4x[x_1]xf32>",
            "tensor<[o_0]x1xf32>",
            "tensor<[o_0]x1xf32>",
        ];
        assert_eq!(types(&ir, ir.args(body)), wanted);
        let returned: Vec<Value> = ir.operands(ir.terminator(body).unwrap()).collect();
        let wanted = [
            "tensor<[x_1]x4xf32, [0, 1]>",
            "tensor<[x_1]x4xb5xf32>",
            "tensor<[x_1]xf32>",
            "tensor<[o_0]xb3xf32>",
            "tensor<[o_0]x1xf32>",
        ];
        assert_eq!(types(&ir, &returned), wanted);
    }
    #[test]
    fn mistakes_of_other_programs_are_not_told() {
        // The segment of `@g` has no schedule.
        let text = "task.program @g(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
          %y = task.segment @s {
            %e = fusion.exp %x
            %t = fusion.permute %e dims [1, 0]
            %y = fusion.add %e, %t
            task.yield %y
          }
          task.return %y
        }
        task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {
          %y = fusion.exp %x
          task.return %y
        }";
        let (mut ir, module, _) = read(text, "f");
        let options = |name: &str| CompileOptions {
            program: Some(name.into()),
            ..CompileOptions::default()
        };
        let (mut other, other_module, _) = read(text, "g");
        assert!(lower(&mut other, other_module, &options("g")).is_err());
        let lowered = lower(&mut ir, module, &options("f")).unwrap();
        assert_eq!(lowered.launched.funcs.len(), 1);
    }
}
