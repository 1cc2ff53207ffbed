//! The arguments of a call: NumPy's arrays, tensors that speak DLPack, Python's numbers.
//!
//! An argument is read where it lies if its strides are those that the program's type asks for, at any address that its elements may have;
//! else it is copied, and the call counts that. Nothing is converted: another element type is an error.

use std::borrow::Cow;

use fuser::program::{Axis, DType, TensorSpec, element};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt};

use crate::dlpack;
use crate::error::refused;
use crate::results::Libraries;

/// The code of inputs that do not fit.
pub const INPUT: &str = fuser::session::error::INPUT.code;

/// Memory of a Python object, as long as the object lives.
pub struct Argument<'py> {
    pub dtype: DType,
    pub shape: Vec<usize>,
    /// In elements.
    strides: Vec<isize>,
    data: *const u8,
    /// Elements of a number of Python's.
    number: Option<Vec<u8>>,
    /// The object that owns the memory.
    _owner: Option<Bound<'py, PyAny>>,
    pub library: Library,
}

/// The library that made an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Library {
    /// A number of Python's.
    None,
    NumPy,
    /// A library with a table of functions for DLPack.
    Table(&'static dlpack::Exchange),
    /// Another library that speaks DLPack.
    Jax,
    Other,
}

impl PartialEq for dlpack::Exchange {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}
impl Eq for dlpack::Exchange {}
impl std::fmt::Debug for dlpack::Exchange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Exchange")
    }
}

impl<'py> Argument<'py> {
    /// Reads what is given for the input `spec`.
    pub fn of(object: &Bound<'py, PyAny>, spec: &TensorSpec, known: &Libraries) -> PyResult<Self> {
        let py = object.py();
        if let Ok(array) = object.cast::<PyUntypedArray>() {
            return Self::numpy(array, spec, known);
        }
        if let Some(table) = known.table(object) {
            return Self::tensor(
                object,
                spec,
                dlpack::by_table(table, object)?,
                None,
                Library::Table(table),
            );
        }
        if spec.dims.is_empty()
            && let Some(argument) = Self::number(object, spec)?
        {
            return Ok(argument);
        }
        if object.hasattr("__dlpack__")? {
            let library = known.library(object);
            return match dlpack::by_capsule(object) {
                Ok((tensor, owner)) => Self::tensor(object, spec, tensor, Some(owner), library),
                // A library may refuse element types that NumPy's arrays of it have.
                Err(error) => match known.as_array(object) {
                    Ok(array) => {
                        let mut argument = Self::numpy(&array, spec, known)?;
                        argument.library = library;
                        Ok(argument)
                    }
                    Err(_) => Err(error),
                },
            };
        }
        match known.as_array(object) {
            Ok(array) => Self::numpy(&array, spec, known),
            Err(_) => {
                let kind = object.get_type().name()?.to_string();
                let message = format!("input `{}` is a {kind}, which is no array", spec.name);
                Err(refused(
                    py,
                    INPUT,
                    message,
                    "give a NumPy array, or an array that speaks DLPack",
                ))
            }
        }
    }

    fn numpy(
        array: &Bound<'py, PyUntypedArray>,
        spec: &TensorSpec,
        known: &Libraries,
    ) -> PyResult<Self> {
        let py = array.py();
        let descr = array.dtype();
        let Some(dtype) = known.dtype(descr.num()) else {
            let message = format!(
                "input `{}` has element type {descr}, which Fuser does not have",
                spec.name
            );
            return Err(refused(py, INPUT, message, ""));
        };
        if descr.is_native_byteorder() == Some(false) {
            let message = format!("input `{}` has its bytes in the other order", spec.name);
            return Err(refused(
                py,
                INPUT,
                message,
                "`x.astype(x.dtype.newbyteorder('='))` puts them in order",
            ));
        }
        let size = isize::try_from(descr.itemsize().max(1)).unwrap_or(1);
        let strides = array.strides();
        if strides
            .iter()
            .zip(array.shape())
            .any(|(step, &extent)| extent > 1 && step % size != 0)
        {
            let message = format!(
                "input `{}` has strides that are no multiples of its elements' size",
                spec.name
            );
            return Err(refused(py, INPUT, message, "give a copy: `x.copy()`"));
        }
        let strides = strides.iter().map(|step| step / size).collect();
        // SAFETY: an array has such a structure.
        let data = unsafe { (*array.as_array_ptr()).fields.data };
        Ok(Self {
            dtype: stood_for(dtype, spec),
            shape: array.shape().to_vec(),
            strides,
            data: data.cast_const().cast(),
            number: None,
            _owner: Some(array.clone().into_any()),
            library: Library::NumPy,
        })
    }

    fn tensor(
        object: &Bound<'py, PyAny>,
        spec: &TensorSpec,
        tensor: dlpack::Tensor,
        owner: Option<Bound<'py, PyAny>>,
        library: Library,
    ) -> PyResult<Self> {
        let py = object.py();
        let name = &spec.name;
        if tensor.device.kind != dlpack::CPU {
            let message =
                format!("input `{name}` lies on a device, the program is compiled for the CPU");
            return Err(refused(
                py,
                INPUT,
                message,
                "bring it to the CPU: `x.cpu()`",
            ));
        }
        let Some(dtype) = dlpack::dtype(tensor.dtype) else {
            let message = format!("input `{name}` has an element type which Fuser does not have");
            return Err(refused(py, INPUT, message, ""));
        };
        let (shape, strides) = tensor.axes();
        Ok(Self {
            dtype: stood_for(dtype, spec),
            shape,
            strides,
            data: tensor.address(),
            number: None,
            _owner: owner.or_else(|| Some(object.clone())),
            library,
        })
    }

    /// A number of Python's for a scalar: an integer for any type that holds it, a float for floats, a complex number for complex types.
    fn number(object: &Bound<'py, PyAny>, spec: &TensorSpec) -> PyResult<Option<Self>> {
        let py = object.py();
        let is_bool = object.is_instance_of::<PyBool>();
        let known = is_bool
            || object.is_instance_of::<PyInt>()
            || object.is_instance_of::<PyFloat>()
            || object.is_instance_of::<PyComplex>();
        if !known {
            return Ok(None);
        }
        let Some(bytes) = number_bytes(object, spec.dtype, is_bool)? else {
            let message = format!(
                "input `{}` is {}, which no {} is",
                spec.name,
                object.repr()?,
                spec.dtype
            );
            return Err(refused(py, INPUT, message, ""));
        };
        Ok(Some(Self {
            dtype: spec.dtype,
            shape: Vec::new(),
            strides: Vec::new(),
            data: std::ptr::null(),
            number: Some(bytes),
            _owner: None,
            library: Library::None,
        }))
    }

    /// The axes as the program's type has them: those that it stores once are.
    pub fn axes(&self, spec: &TensorSpec) -> Vec<Axis> {
        let axis = |(i, &extent): (usize, &usize)| Axis {
            extent,
            broadcast: spec.dims.get(i).is_some_and(|dim| dim.broadcast),
        };
        self.shape.iter().enumerate().map(axis).collect()
    }

    /// The elements as the program's type stores them: where they lie, or a copy.
    pub fn bytes(
        &self,
        py: Python<'_>,
        spec: &TensorSpec,
        expected: usize,
    ) -> PyResult<Cow<'_, [u8]>> {
        if let Some(bytes) = &self.number {
            return Ok(Cow::Borrowed(bytes));
        }
        if expected == 0 {
            return Ok(Cow::Borrowed(&[]));
        }
        // An axis of extent 0 that is stored once: the type has memory that no element is in, and the array may have none.
        if self.shape.contains(&0) {
            return Ok(Cow::Owned(vec![0; expected]));
        }
        let wanted = self.wanted(spec);
        let fits = |axis: usize| self.shape[axis] <= 1 || self.strides[axis] == wanted[axis];
        let misplaced = !self.data.addr().is_multiple_of(self.dtype.part().bytes());
        if !misplaced && (0..self.shape.len()).all(fits) {
            // SAFETY: the object's memory has the elements of its shape, whose strides are those of `expected` bytes one after the other; the
            // object lives as long as `self`, and its library lets nobody write meanwhile who does not ask for it.
            return Ok(Cow::Borrowed(unsafe {
                std::slice::from_raw_parts(self.data, expected)
            }));
        }
        if let Some(axis) = (0..self.shape.len()).find(|&axis| wanted[axis] == 0 && !fits(axis)) {
            let message = format!(
                "axis {axis} of input `{}` is stored once in the program's type, and is not in the array",
                spec.name
            );
            return Err(refused(
                py,
                INPUT,
                message,
                "broadcast it: `numpy.broadcast_to`, `x.expand`",
            ));
        }
        if self.dtype.per_byte() > 1 {
            let message = format!(
                "input `{}` has elements that share bytes, and gaps between them",
                spec.name
            );
            return Err(refused(py, INPUT, message, "give a contiguous copy"));
        }
        Ok(Cow::Owned(self.copied(spec, &wanted, expected)))
    }

    /// The strides that the program's type asks for, in elements; 0 along axes that are stored once.
    fn wanted(&self, spec: &TensorSpec) -> Vec<isize> {
        let rank = self.shape.len();
        let mut wanted = vec![0; rank];
        let place = |i: usize| spec.order.get(i).map_or(i, |&axis| axis as usize);
        let mut step = 1isize;
        for axis in (0..rank).rev().map(place).filter(|&axis| axis < rank) {
            if !spec.dims.get(axis).is_some_and(|dim| dim.broadcast) {
                wanted[axis] = step;
                step = step.saturating_mul(isize::try_from(self.shape[axis]).unwrap_or(isize::MAX));
            }
        }
        wanted
    }

    /// A copy of the stored elements in the order of the program's type.
    fn copied(&self, spec: &TensorSpec, wanted: &[isize], expected: usize) -> Vec<u8> {
        let size = self.dtype.bytes();
        let rank = self.shape.len();
        let place = |i: usize| spec.order.get(i).map_or(i, |&axis| axis as usize);
        let stored = |&axis: &usize| wanted[axis] != 0 && self.shape[axis] > 1;
        let axes: Vec<usize> = (0..rank).map(place).filter(stored).collect();
        let mut copy = vec![0u8; expected];
        let mut index = vec![0usize; axes.len()];
        let (row, inner) = match axes.last() {
            Some(&axis) => (self.shape[axis], self.strides[axis]),
            None => (1, 1),
        };
        for to in copy.chunks_exact_mut(row * size) {
            let outer = axes.iter().zip(&index);
            let begin: isize = outer
                .map(|(&axis, &i)| self.strides[axis] * i as isize)
                .sum();
            for (i, to) in to.chunks_exact_mut(size).enumerate() {
                let at = (begin + inner * i as isize) * size as isize;
                // SAFETY: the element is one of the object's, as its shape and strides say.
                let from = unsafe { std::slice::from_raw_parts(self.data.offset(at), size) };
                to.copy_from_slice(from);
            }
            for (slot, &axis) in index.iter_mut().zip(&axes).rev().skip(1) {
                *slot += 1;
                if *slot < self.shape[axis] {
                    break;
                }
                *slot = 0;
            }
        }
        copy
    }
}

/// An index is a signed integer of 64 bits.
fn stood_for(dtype: DType, spec: &TensorSpec) -> DType {
    match (dtype, spec.dtype) {
        (DType::I64, DType::Index) => DType::Index,
        _ => dtype,
    }
}

/// The bytes of a number as an element; `None` where the type has no such element.
fn number_bytes(
    object: &Bound<'_, PyAny>,
    dtype: DType,
    is_bool: bool,
) -> PyResult<Option<Vec<u8>>> {
    let float = || object.extract::<f64>().ok();
    let bytes = match dtype {
        DType::I1 => is_bool.then(|| vec![u8::from(object.is_truthy().unwrap_or(false))]),
        _ if dtype.is_complex() => {
            let parts = object.extract::<[f64; 2]>().ok();
            let whole = || -> Option<[f64; 2]> {
                let part = |name| object.getattr(name).ok()?.extract::<f64>().ok();
                Some([part("real")?, part("imag")?])
            };
            parts.or_else(whole).map(|[re, im]| {
                let part = |x| element::from_f64(dtype.part(), x);
                [part(re).as_bytes(), part(im).as_bytes()].concat()
            })
        }
        _ if dtype.per_byte() > 1 => None,
        _ if dtype.is_float() => float().map(|x| element::from_f64(dtype, x).as_bytes().to_vec()),
        _ => {
            let value = match object.is_instance_of::<PyInt>() {
                true => object.extract::<i128>().ok(),
                false => None,
            };
            let range = dtype.integer_range();
            value
                .filter(|x| range.is_some_and(|(low, high)| (low..=high).contains(x)))
                .map(|x| x.to_le_bytes()[..dtype.bytes()].to_vec())
        }
    };
    Ok(bytes)
}
