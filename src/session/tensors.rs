//! Conversion between tensors of the runtime and of the interpreter. Both use memory of one heap.

use fuser_interp::{Axis, Tensor};
use fuser_ir::DType;
use fuser_runtime::{Heap, HostTensor, MemoryError, Reservation, RuntimeError};

use super::Result;
use crate::compile::plan::convert;

/// The IR's name for an element type.
pub fn ir_dtype(dtype: fuser_artifact::DType) -> DType {
    let same = |d: &DType| convert(*d) == dtype;
    DType::ALL.into_iter().find(same).unwrap_or(DType::Index)
}

/// Tensors of the interpreter, and the memory accounted for them while the runtime holds them.
pub struct Held {
    /// The tensors.
    pub tensors: Vec<Tensor>,
    /// The memory reserved for each.
    paid: Vec<Reservation>,
}

impl Held {
    /// Pays for results of the interpreter.
    pub fn results(heap: &Heap, tensors: Vec<Tensor>) -> Result<Self> {
        let paid = tensors.iter().map(|t| heap.reserve(t.held_bytes()));
        let paid = paid.collect::<std::result::Result<_, _>>();
        let paid = paid.map_err(RuntimeError::Memory)?;
        Ok(Self { tensors, paid })
    }
    /// The runtime's tensors for the interpreter.
    pub fn copies<'a>(
        heap: &Heap,
        tensors: impl IntoIterator<Item = &'a HostTensor>,
    ) -> Result<Self> {
        let (mut copies, mut paid) = (Vec::new(), Vec::new());
        for tensor in tensors {
            let bytes = tensor.bytes().len() as u64;
            paid.push(heap.reserve(bytes).map_err(RuntimeError::Memory)?);
            copies.push(to_interpreter(heap, tensor)?);
        }
        let tensors = copies;
        Ok(Self { tensors, paid })
    }
    /// Converts exact tensors for the runtime, freeing each once it is copied.
    pub fn into_runtime(self, heap: &Heap) -> Result<Vec<HostTensor>> {
        let pairs = self.tensors.into_iter().zip(self.paid);
        let copies = pairs.map(|(tensor, _paid)| from_interpreter(heap, &tensor));
        copies.collect()
    }
}

fn to_interpreter(heap: &Heap, tensor: &HostTensor) -> Result<Tensor> {
    let dtype = ir_dtype(tensor.dtype());
    let axes = tensor.axes().iter().map(|axis| Axis {
        extent: axis.extent,
        broadcast: axis.broadcast,
    });
    let needed = tensor.bytes().len() as u64;
    let refused = || RuntimeError::Memory(MemoryError::Refused { needed });
    let rows = match tensor.order().is_empty() {
        true => None,
        false => {
            let rows = tensor.relayout(heap, tensor.axes());
            Some(rows.map_err(|error| unusable("input", error))?)
        }
    };
    let tensor = rows.as_ref().unwrap_or(tensor);
    // The interpreter holds elements one to a byte.
    let whole = match tensor.dtype().per_byte() {
        1 => None,
        _ => Some(tensor.unpacked(heap).map_err(|e| unusable("input", e))?),
    };
    let bytes = whole.as_ref().unwrap_or(tensor).bytes();
    Ok(Tensor::from_bytes(dtype, axes.collect(), bytes).ok_or_else(refused)?)
}

fn from_interpreter(heap: &Heap, tensor: &Tensor) -> Result<HostTensor> {
    let axes = tensor.axes().iter().map(|axis| fuser_runtime::Axis {
        extent: axis.extent,
        broadcast: axis.broadcast,
    });
    let axes: Vec<_> = axes.collect();
    let dtype = convert(tensor.dtype());
    if dtype.per_byte() > 1 {
        let made = HostTensor::from_elements(heap, dtype, &axes, &tensor.to_bytes());
        return Ok(made.map_err(|error| unusable("output", error))?);
    }
    let made = HostTensor::zeros(heap, dtype, &axes);
    let mut made = made.map_err(|error| unusable("output", error))?;
    tensor.write(made.bytes_mut());
    Ok(made)
}

fn unusable(what: &str, error: fuser_runtime::TensorError) -> RuntimeError {
    let input = what.to_string();
    RuntimeError::Input { input, error }
}
