//! The signature of a program, read from its IR before anything is compiled.

use fuser_artifact::TensorSpec;
use fuser_ir::{DType, Diagnostic, Diagnostics, Ir, Op, TypeKind, Value};
use fuser_pass::place_of;
use serde::{Deserialize, Serialize};

use crate::compile::plan::{convert, extent_table, memory_order, output_name};
use crate::compile::size::ExtentTable;

/// Inputs and outputs of a program.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Signature {
    /// Named extents, in the order of their names.
    pub extents: Vec<String>,
    /// Inputs in order.
    pub inputs: Vec<TensorSpec>,
    /// Names of the outputs in order.
    pub output_names: Vec<String>,
}

/// The signature of `program`.
pub fn of(ir: &Ir, program: Op) -> Result<Signature, Diagnostics> {
    let table = extent_table(ir, program);
    let body = ir.body(program, 0);
    let parameters = body.map_or(&[][..], |b| ir.args(b));
    let inputs = parameters.iter().enumerate();
    let inputs = inputs.map(|(index, value)| input(ir, program, &table, index, *value));
    let returned = body.and_then(|b| ir.last_op(b));
    let returned = returned.map_or(Vec::new(), |op| ir.operands(op).collect());
    let outputs = returned.iter().enumerate();
    Ok(Signature {
        extents: table.names(),
        inputs: inputs.collect::<Result<_, _>>()?,
        output_names: outputs.map(|(i, v)| output_name(ir, *v, i)).collect(),
    })
}

fn input(
    ir: &Ir,
    program: Op,
    table: &ExtentTable,
    index: usize,
    value: Value,
) -> Result<TensorSpec, Diagnostics> {
    let name = ir.value_name(value);
    let name = name.map_or_else(|| format!("arg{index}"), str::to_string);
    let (dims, dtype) = match ir.value_kind(value) {
        TypeKind::Tensor(tensor) => (table.dims(ir, &tensor.dims), tensor.dtype),
        TypeKind::Scalar(dtype) => (Some(Vec::new()), *dtype),
        _ => (None, DType::F32),
    };
    let Some(dims) = dims else {
        let message = format!("input '%{name}' has an extent that nobody named");
        let error = Diagnostic::error(&super::error::EXTENT, place_of(ir, program), message);
        return Err(Diagnostics {
            items: vec![error.help("name it: `[N]` instead of `?`")],
        });
    };
    Ok(TensorSpec {
        name,
        dtype: convert(dtype),
        dims,
        order: memory_order(ir, value),
        buffer: 0,
    })
}
