//! Tensors of the runtime as tensors of the interpreter, and back.

use fuser_interp::{Axis, ErrorKind, InterpError, Tensor};
use fuser_ir::DType;
use fuser_runtime::{Heap, HostTensor, RuntimeError};

use super::Result;
use crate::compile::plan::convert;

/// The IR's name for an element type.
pub fn ir_dtype(dtype: fuser_artifact::DType) -> DType {
    let same = |d: &DType| convert(*d) == dtype;
    DType::ALL.into_iter().find(same).unwrap_or(DType::Index)
}

/// A tensor for the interpreter.
pub fn one_to_interpreter(tensor: &HostTensor) -> Result<Tensor> {
    let axes = tensor.axes().iter().map(|axis| Axis {
        extent: axis.extent,
        broadcast: axis.broadcast,
    });
    let made = Tensor::from_bytes(
        ir_dtype(tensor.dtype()),
        axes.collect(),
        &tensor.row_major(),
    );
    let invalid = || InterpError::new(ErrorKind::Invalid("a tensor has the wrong size".into()));
    Ok(made.ok_or_else(invalid)?)
}

/// Tensors for the interpreter.
pub fn to_interpreter(tensors: &[HostTensor]) -> Result<Vec<Tensor>> {
    tensors.iter().map(one_to_interpreter).collect()
}

/// A tensor of the interpreter, in exact mode, for the runtime.
pub fn from_interpreter(heap: &Heap, tensor: &Tensor) -> Result<HostTensor> {
    let axes = tensor.axes().iter().map(|axis| fuser_runtime::Axis {
        extent: axis.extent,
        broadcast: axis.broadcast,
    });
    let axes: Vec<_> = axes.collect();
    let bytes = tensor.data().to_bytes();
    let made = HostTensor::from_bytes(heap, convert(tensor.dtype()), &axes, &bytes);
    let input = "output".to_string();
    Ok(made.map_err(|error| RuntimeError::Input { input, error })?)
}
