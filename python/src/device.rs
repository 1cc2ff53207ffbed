//! GPUs, and arrays in their memory that belong to no other library.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use fuser::program::{DType, DeviceMemory, Gpu};
use pyo3::exceptions::PyAttributeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCapsule, PyDict, PyTuple};
use smallvec::SmallVec;

use crate::array::{Array, INPUT, Library, Part, Place, Reader, Shapes, copy};
use crate::dlpack::{self, Managed, Versioned};
use crate::error::{raised, refused};
use crate::results::{self, Libraries};

/// The open GPUs, by number. Programs on one GPU share its stream and its memory.
#[derive(Default)]
struct Opened(Mutex<BTreeMap<usize, Gpu>>);

/// The GPUs of this process, which has one driver.
static OPENED: PyOnceLock<Opened> = PyOnceLock::new();

/// The GPU that is named: `"cuda"`, `"cuda:1"`, or an object that prints so, such as a device of PyTorch. `None`
/// for `"cpu"`.
pub fn named(device: &Bound<'_, PyAny>) -> PyResult<Option<Gpu>> {
    let py = device.py();
    let text = device.str()?.to_string();
    let (kind, number) = text.split_once(':').unwrap_or((&text, "0"));
    match (kind, number.parse()) {
        ("cpu", _) => Ok(None),
        ("cuda", Ok(number)) => opened(py, number).map(Some),
        _ => {
            let message = format!("'{text}' is no device");
            let hint = "a device is \"cpu\", \"cuda\" or \"cuda:1\"";
            Err(refused(py, INPUT, message, hint))
        }
    }
}

fn opened(py: Python<'_>, number: usize) -> PyResult<Gpu> {
    let opened = OPENED.get_or_init(py, Opened::default);
    let known = || opened.0.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(gpu) = known().get(&number) {
        return Ok(gpu.clone());
    }
    let module = py.import(intern!(py, "fuser._fuser"))?;
    let file: PathBuf = module.getattr(intern!(py, "__file__"))?.extract()?;
    let gpu = py.detach(|| Gpu::open(number, &file));
    let gpu = gpu.map_err(|error| raised(py, &error))?;
    Ok(known().entry(number).or_insert(gpu).clone())
}

/// The number of a stream: a `CUstream` as a number, or a stream of PyTorch or CuPy.
pub fn stream(stream: &Bound<'_, PyAny>) -> PyResult<u64> {
    let held = |name| stream.getattr(name).ok();
    let number = held("cuda_stream").or_else(|| held("ptr"));
    let number = number.as_ref().unwrap_or(stream).extract();
    number.map_err(|_| {
        let message = "`stream` is no stream".to_owned();
        let hint =
            "give `torch.cuda.current_stream()`, a stream of CuPy, or a `CUstream` as a number";
        refused(stream.py(), INPUT, message, hint)
    })
}

/// A dense array in the memory of a GPU. `fuser.to_device` makes one, and calls give it for results where arguments are
/// such arrays. It speaks DLPack and the CUDA array interface, so that CuPy, PyTorch and JAX read it in place.
#[pyclass(frozen, weakref, module = "fuser")]
pub struct DeviceArray {
    gpu: Gpu,
    memory: Arc<DeviceMemory>,
    dtype: DType,
    /// The extents, followed by the strides in elements.
    axes: Box<[i64]>,
}

impl DeviceArray {
    pub fn new(
        gpu: Gpu,
        memory: DeviceMemory,
        dtype: DType,
        shape: &[i64],
        strides: &[i64],
    ) -> Self {
        Self {
            gpu,
            memory: Arc::new(memory),
            dtype,
            axes: shape.iter().chain(strides).copied().collect(),
        }
    }

    fn halves(&self) -> (&[i64], &[i64]) {
        self.axes.split_at(self.axes.len() / 2)
    }

    /// The array as DLPack's structure, which lives as long as the array.
    pub fn tensor(&self) -> dlpack::Given {
        let none = dlpack::DataType {
            code: 0,
            bits: 0,
            lanes: 0,
        };
        let (shape, strides) = self.halves();
        dlpack::Given {
            tensor: dlpack::Tensor {
                data: std::ptr::without_provenance_mut(self.memory.address() as usize),
                device: dlpack::Device {
                    kind: dlpack::CUDA,
                    number: self.gpu.number() as i32,
                },
                rank: shape.len() as i32,
                dtype: dlpack::code(self.dtype).unwrap_or(none),
                shape: shape.as_ptr().cast_mut(),
                strides: strides.as_ptr().cast_mut(),
                byte_offset: 0,
            },
            read_only: false,
        }
    }

    /// Waits for the work that writes the array.
    fn wait(&self, py: Python<'_>) -> PyResult<()> {
        let done = py.detach(|| self.gpu.device().synchronize());
        done.map_err(|error| raised(py, &error.into()))
    }
}

/// A structure of DLPack that a capsule holds, and the memory that it describes.
#[repr(C)]
struct Lent<T> {
    managed: T,
    _axes: Box<[i64]>,
    _memory: Arc<DeviceMemory>,
}

#[pymethods]
impl DeviceArray {
    /// The extents.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.halves().0)
    }

    /// The element type, as NumPy has it.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(Libraries::get(py)?.description(py, self.dtype)?.into_any())
    }

    /// The name of the GPU.
    #[getter]
    fn device(&self) -> String {
        format!("cuda:{}", self.gpu.number())
    }

    /// A copy in host memory, as an array of NumPy.
    fn numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (shape, strides) = self.halves();
        let known = Libraries::get(py)?;
        let bytes = self.memory.bytes();
        let (array, data) = results::host_array(py, known, self.dtype, (shape, strides), bytes)?;
        if bytes > 0 {
            // SAFETY: the new array has these bytes, and nobody else knows it.
            let to = unsafe { std::slice::from_raw_parts_mut(data, bytes) };
            let fetched = self.memory.download(to);
            fetched.map_err(|error| raised(py, &error.into()))?;
        }
        Ok(array)
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if copy == Some(false) {
            let message = "an array on a GPU is copied to become one of NumPy";
            return Err(pyo3::exceptions::PyValueError::new_err(message));
        }
        let array = self.numpy(py)?;
        match dtype.filter(|dtype| !dtype.is_none()) {
            Some(dtype) => array.call_method1(intern!(py, "astype"), (dtype,)),
            None => Ok(array),
        }
    }

    /// Type and number of the device, as DLPack has them.
    fn __dlpack_device__(&self) -> (i32, usize) {
        (dlpack::CUDA, self.gpu.number())
    }

    /// The array as a capsule of DLPack. The work that writes it is waited for, so that any stream may read it.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, usize)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = stream;
        let elsewhere = dl_device.is_some_and(|device| device != self.__dlpack_device__());
        if elsewhere || copy == Some(true) || dlpack::code(self.dtype).is_none() {
            let message = "the array stays where it is, of its own type: `x.numpy()` copies it";
            return Err(pyo3::exceptions::PyBufferError::new_err(message));
        }
        self.wait(py)?;
        let (axes, memory) = (self.axes.clone(), Arc::clone(&self.memory));
        let mut tensor = self.tensor().tensor;
        tensor.shape = axes.as_ptr().cast_mut();
        tensor.strides = axes.as_ptr().wrapping_add(axes.len() / 2).cast_mut();
        match max_version {
            Some((1.., _)) => {
                let managed = Versioned {
                    version: dlpack::Version { major: 1, minor: 0 },
                    context: std::ptr::null_mut(),
                    deleter: Some(give_back_versioned),
                    flags: 0,
                    tensor,
                };
                let lent = Lent {
                    managed,
                    _axes: axes,
                    _memory: memory,
                };
                dlpack::capsule(py, Box::into_raw(Box::new(lent)).cast::<Versioned>())
            }
            _ => {
                let managed = Managed {
                    tensor,
                    context: std::ptr::null_mut(),
                    deleter: Some(give_back),
                };
                let lent = Lent {
                    managed,
                    _axes: axes,
                    _memory: memory,
                };
                dlpack::capsule(py, Box::into_raw(Box::new(lent)).cast::<Managed>())
            }
        }
    }

    /// The CUDA array interface, version 3.
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let description = self.dtype(py)?;
        let own: i32 = description.getattr(intern!(py, "isbuiltin"))?.extract()?;
        if own != 1 {
            let message = format!(
                "the CUDA array interface has no element type for {}",
                self.dtype
            );
            return Err(PyAttributeError::new_err(message));
        }
        self.wait(py)?;
        let (shape, strides) = self.halves();
        let size = self.dtype.bytes() as i64;
        let strides = strides.iter().map(|step| step * size);
        let interface = PyDict::new(py);
        interface.set_item("shape", PyTuple::new(py, shape)?)?;
        interface.set_item("strides", PyTuple::new(py, strides.collect::<Vec<_>>())?)?;
        interface.set_item("typestr", description.getattr(intern!(py, "str"))?)?;
        interface.set_item("data", (self.memory.address(), false))?;
        interface.set_item("version", 3)?;
        Ok(interface)
    }

    fn __repr__(&self) -> String {
        let (shape, device) = (self.halves().0, self.device());
        format!("<fuser.DeviceArray {} {shape:?} on {device}>", self.dtype)
    }
}

/// Ends a loan of an array's memory.
///
/// # Safety
/// `managed` is that of a loan, which ends once.
unsafe extern "C" fn give_back_versioned(managed: *mut Versioned) {
    // SAFETY: the structure is the first field of the loan.
    unsafe { drop(Box::from_raw(managed.cast::<Lent<Versioned>>())) }
}

/// Ends a loan of an array's memory.
///
/// # Safety
/// As for `give_back_versioned`.
unsafe extern "C" fn give_back(managed: *mut Managed) {
    // SAFETY: the structure is the first field of the loan.
    unsafe { drop(Box::from_raw(managed.cast::<Lent<Managed>>())) }
}

/// A copy of an array in the memory of a GPU: `"cuda"`, `"cuda:1"`.
#[pyfunction]
#[pyo3(signature = (array, device=None))]
pub fn to_device<'py>(
    py: Python<'py>,
    array: &Bound<'py, PyAny>,
    device: Option<&Bound<'py, PyAny>>,
) -> PyResult<DeviceArray> {
    let gpu = match device {
        Some(device) => named(device)?,
        None => Some(opened(py, 0)?),
    };
    let Some(gpu) = gpu else {
        let message = "'cpu' is no GPU".to_owned();
        return Err(refused(
            py,
            INPUT,
            message,
            "a GPU is \"cuda\" or \"cuda:1\"",
        ));
    };
    let reader = Reader {
        known: Libraries::get(py)?,
        gpu: None,
    };
    let mut shapes = Shapes::new();
    let part = Part::Array;
    let from = Array::of(array, part, reader, &mut shapes)?;
    if matches!(from.library, Library::Table(_)) {
        results::check_plain(array, part, from.dtype)?;
    }
    let shape = from.shape(&shapes);
    let strides = dlpack::row_major(shape);
    let size = from.dtype.bytes();
    let count = shape
        .iter()
        .try_fold(size as i64, |bytes, &n| bytes.checked_mul(n));
    let bytes = count.and_then(|bytes| usize::try_from(bytes).ok());
    let bytes = bytes.filter(|_| from.is_addressable(&shapes) && from.dtype.per_byte() == 1);
    let Some(bytes) = bytes else {
        let message = "the array has elements that share bytes, or more than memory has".to_owned();
        return Err(refused(py, INPUT, message, ""));
    };
    let mut dense = vec![0u8; bytes];
    let (data, to_strides) = (dense.as_mut_ptr(), &strides[..]);
    let from_place = Place {
        data: from.data,
        strides: from.strides(&shapes),
    };
    // SAFETY: the array has these elements, and the copy room for them.
    unsafe {
        copy(
            shape,
            size,
            from_place,
            Place {
                data,
                strides: to_strides,
            },
        )
    }
    let sent = py.detach(|| -> Result<DeviceMemory, fuser::Error> {
        let mut memory = gpu.allocate(bytes)?;
        memory.upload(&dense)?;
        Ok(memory)
    });
    let memory = sent.map_err(|error| raised(py, &error))?;
    let (dtype, shape): (_, SmallVec<[i64; 8]>) = (from.dtype, shape.into());
    Ok(DeviceArray::new(gpu, memory, dtype, &shape, &strides))
}
