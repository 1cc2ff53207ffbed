//! What happens to a module before its program is compiled: other programs leave it, and extents that are nobody's business
//! get names.
//!
//! ```text
//! task.program @f(%x: tensor<?xf32>, ...)   =>   task.program @f(%x: tensor<[x_0]xf32>, ...)     // nothing uses %x
//! ```
//!
//! Never changes what a program computes.

use fuser_dialects::task;
use fuser_ir::types::TensorType;
use fuser_ir::{AttrKind, Dim, Extent, Ir, Op, TypeId, TypeKind};

/// Erases the programs of `module` that are not `program`: their mistakes and their kernels are not its own.
pub fn keep_only(ir: &mut Ir, module: Op, program: Op) {
    for op in ir.children(module) {
        if op != program && ir.is(op, &task::PROGRAM) {
            ir.erase(op);
        }
    }
}

/// Names the `?` of inputs that nothing uses: such an extent is whatever the input that is given has. One of an input that is
/// used stays: results depend on it, and only its author knows which extents are the same.
pub fn name_extents(ir: &mut Ir, program: Op) {
    let Some(body) = ir.body(program, 0) else {
        return;
    };
    let mut named = false;
    for (index, arg) in ir.args(body).to_vec().into_iter().enumerate() {
        let TypeKind::Tensor(tensor) = ir.value_kind(arg) else {
            continue;
        };
        let unknown = tensor.dims.iter().any(|d| d.extent == Extent::Unknown);
        if !unknown || !ir.is_unused(arg) {
            continue;
        }
        let tensor = tensor.clone();
        let base = ir.value_name(arg).map(str::to_owned);
        let base = base.unwrap_or_else(|| format!("arg{index}"));
        let ty = with_names(ir, tensor, &base);
        ir.set_value_type(arg, ty);
        named = true;
    }
    if !named {
        return;
    }
    let inputs: Vec<TypeId> = ir.args(body).iter().map(|&a| ir.value_type(a)).collect();
    let Some(AttrKind::Type(function)) = ir.attr_of(program, "function_type") else {
        return;
    };
    let TypeKind::Function { results, .. } = ir.ty(*function) else {
        return;
    };
    let results = results.clone();
    let function = ir.function_type(inputs, results);
    let attr = ir.attr(AttrKind::Type(function));
    ir.set_attr(program, "function_type", attr);
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

/// An extent that no text of the module names: `x_0`, or with a number behind it.
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
    use crate::compile::{CompileOptions, find_program, lower};
    use fuser_ir::parse::parse_str;

    fn read(text: &str, name: &str) -> (Ir, Op, Op) {
        let mut ir = Ir::new(fuser_dialects::registry());
        let module = parse_str(&mut ir, text).module.unwrap();
        let program = find_program(&ir, module, Some(name)).unwrap();
        (ir, module, program)
    }
    #[test]
    fn extents_of_inputs_that_nothing_uses_get_names_of_their_own() {
        let text = "task.program @f(%x: tensor<?x4x?xf32>, %u: tensor<?xf32>, %1: tensor<?xf32>, %x_0: tensor<8xf32>)
            -> tensor<8xf32> {
          %y = fusion.neg %u
          task.return %x_0
        }";
        let (mut ir, _, program) = read(text, "f");
        name_extents(&mut ir, program);
        assert!(!fuser_ir::verify(&mut ir, program).has_errors());
        let body = ir.body(program, 0).unwrap();
        let types = ir
            .args(body)
            .iter()
            .map(|&a| fuser_ir::describe::ty(&ir, ir.value_type(a)));
        let types: Vec<String> = types.collect();
        assert_eq!(
            types,
            [
                "tensor<[x_0_1]x4x[x_2]xf32>",
                "tensor<?xf32>",
                "tensor<[arg2_0]xf32>",
                "tensor<8xf32>"
            ]
        );
    }
    #[test]
    fn mistakes_of_other_programs_are_not_told() {
        // What `@g` does to an extent that nobody named has no schedule.
        let text = "task.program @g(%x: tensor<?xf32>) -> tensor<?xf32> {
          %y = fusion.exp %x
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
        assert_eq!(lowered.kernels.len(), 1);
    }
}
