//! DLPack: tensors of other libraries by their C structures, from a capsule or through a library's table of functions.
//!
//! The structures are those of DLPack 1.3. A capsule is only read: the object that made it stays its owner, and the
//! reader keeps that object alive. The table (`__dlpack_c_exchange_api__` of a type) returns a tensor in 50 ns and
//! takes one over; PyTorch has it since 2.10.

use std::ffi::{CStr, c_char, c_void};

use fuser::program::DType;
use pyo3::ffi::PyObject;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyType};

/// The device types of host memory: usual memory, and memory that the driver of a GPU allocated.
pub const CPU: i32 = 1;
pub const CUDA_HOST: i32 = 3;
/// The device types of a GPU's memory, and of memory that moves between GPU and host.
pub const CUDA: i32 = 2;
pub const CUDA_MANAGED: i32 = 13;

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataType {
    pub code: u8,
    pub bits: u8,
    pub lanes: u16,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    pub kind: i32,
    pub number: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Tensor {
    pub data: *mut c_void,
    pub device: Device,
    pub rank: i32,
    pub dtype: DataType,
    pub shape: *mut i64,
    /// In elements; null for row-major.
    pub strides: *mut i64,
    pub byte_offset: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
}

#[repr(C)]
pub struct Managed {
    pub tensor: Tensor,
    pub context: *mut c_void,
    pub deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

#[repr(C)]
pub struct Versioned {
    pub version: Version,
    pub context: *mut c_void,
    pub deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    pub flags: u64,
    pub tensor: Tensor,
}

pub type SetError = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char);

/// A library's table of functions.
#[repr(C)]
pub struct Exchange {
    pub version: Version,
    pub earlier: *mut Exchange,
    pub allocate: Option<
        unsafe extern "C" fn(*mut Tensor, *mut *mut Versioned, *mut c_void, SetError) -> i32,
    >,
    pub managed_from_object:
        Option<unsafe extern "C" fn(*mut PyObject, *mut *mut Versioned) -> i32>,
    pub object_from_managed:
        Option<unsafe extern "C" fn(*mut Versioned, *mut *mut PyObject) -> i32>,
    pub tensor_from_object: Option<unsafe extern "C" fn(*mut PyObject, *mut Tensor) -> i32>,
    pub stream: Option<unsafe extern "C" fn(i32, i32, *mut *mut c_void) -> i32>,
}

// SAFETY: a library's table is static and constant.
unsafe impl Sync for Exchange {}
// SAFETY: likewise.
unsafe impl Send for Exchange {}

/// The table of a type, if it has one of version 1.
pub fn exchange_of(ty: &Bound<'_, PyType>) -> Option<&'static Exchange> {
    let capsule = ty
        .getattr(intern!(ty.py(), "__dlpack_c_exchange_api__"))
        .ok()?;
    let capsule = capsule.cast_into::<PyCapsule>().ok()?;
    let pointer = capsule.pointer_checked(Some(c"dlpack_exchange_api")).ok()?;
    // SAFETY: the name says what the capsule holds; such a table is static.
    let table: &'static Exchange = unsafe { pointer.cast().as_ref() };
    (table.version.major == 1).then_some(table)
}

/// A tensor and its owner's flags.
pub struct Given {
    pub tensor: Tensor,
    pub read_only: bool,
}

impl std::ops::Deref for Given {
    type Target = Tensor;
    fn deref(&self) -> &Tensor {
        &self.tensor
    }
}

/// The flag of a read-only tensor.
const READ_ONLY: u64 = 1;

/// The tensor of an object, by its library's table.
#[inline]
pub fn by_table(table: &Exchange, object: &Bound<'_, PyAny>) -> PyResult<Given> {
    let missing = || pyo3::exceptions::PyBufferError::new_err("the library gives no tensor");
    let read = table.tensor_from_object.ok_or_else(missing)?;
    let mut tensor = std::mem::MaybeUninit::<Tensor>::uninit();
    // SAFETY: the table's function takes an object of its type and fills the structure, or says that it failed.
    let status = unsafe { read(object.as_ptr(), tensor.as_mut_ptr()) };
    if status != 0 {
        return Err(PyErr::take(object.py()).unwrap_or_else(missing));
    }
    // SAFETY: filled, as the status says.
    let tensor = unsafe { tensor.assume_init() };
    Ok(Given {
        tensor,
        read_only: false,
    })
}

/// The tensor of an object by `__dlpack__`, and the capsule that keeps it alive. The memory of a GPU is ready for work on
/// `stream`.
pub fn by_capsule<'py>(
    object: &Bound<'py, PyAny>,
    stream: Option<u64>,
) -> PyResult<(Given, Bound<'py, PyAny>)> {
    let py = object.py();
    let method = object.getattr(intern!(py, "__dlpack__"))?;
    let arguments = pyo3::types::PyDict::new(py);
    arguments.set_item("max_version", (1, 0))?;
    if let Some(stream) = stream {
        let device = object.call_method0(intern!(py, "__dlpack_device__"))?;
        let kind: i32 = device.get_item(0)?.extract()?;
        if matches!(kind, CUDA | CUDA_MANAGED) {
            // 1 is the default stream.
            arguments.set_item("stream", stream.max(1))?;
        }
    }
    let capsule = match method.call((), Some(&arguments)) {
        Err(error) if error.is_instance_of::<pyo3::exceptions::PyTypeError>(py) => {
            method.call0()?
        }
        called => called?,
    };
    let as_capsule = capsule.cast::<PyCapsule>()?;
    let pointer = |name: &CStr| as_capsule.pointer_checked(Some(name)).ok();
    let (tensor, flags) = match (pointer(c"dltensor_versioned"), pointer(c"dltensor")) {
        (Some(at), _) => {
            // SAFETY: the name says what the capsule holds.
            let held = unsafe { at.cast::<Versioned>().as_ref() };
            (held.tensor, held.flags)
        }
        // SAFETY: likewise.
        (None, Some(at)) => (unsafe { at.cast::<Managed>().as_ref().tensor }, 0),
        (None, None) => {
            let message = "`__dlpack__` gave a capsule of another name";
            return Err(pyo3::exceptions::PyBufferError::new_err(message));
        }
    };
    let read_only = flags & READ_ONLY != 0;
    Ok((Given { tensor, read_only }, capsule))
}

/// The codes of element types: DLPack's code and bits, and our type.
const DTYPES: [(u8, u8, DType); 19] = [
    (2, 64, DType::F64),
    (2, 32, DType::F32),
    (2, 16, DType::F16),
    (4, 16, DType::Bf16),
    (10, 8, DType::F8E4M3FN),
    (12, 8, DType::F8E5M2),
    (14, 8, DType::F8E8M0FNU),
    (0, 64, DType::I64),
    (0, 32, DType::I32),
    (0, 16, DType::I16),
    (0, 8, DType::I8),
    (1, 64, DType::U64),
    (1, 32, DType::U32),
    (1, 16, DType::U16),
    (1, 8, DType::U8),
    (6, 8, DType::I1),
    (5, 64, DType::C64),
    (5, 128, DType::C128),
    (0, 64, DType::Index),
];

/// The element type of a code.
pub fn dtype(of: DataType) -> Option<DType> {
    let mut rows = DTYPES.iter().filter(|_| of.lanes == 1);
    rows.find(|row| (row.0, row.1) == (of.code, of.bits))
        .map(|row| row.2)
}

/// The code of an element type.
pub fn code(of: DType) -> Option<DataType> {
    let row = DTYPES.iter().find(|row| row.2 == of)?;
    let (code, bits, lanes) = (row.0, row.1, 1);
    Some(DataType { code, bits, lanes })
}

/// The stream on which a library works now, on the GPU of that number.
pub fn current_stream(table: &Exchange, number: i32) -> Option<u64> {
    let current = table.stream?;
    let mut stream = std::ptr::null_mut();
    // SAFETY: the table's function fills in the stream, or says that it failed.
    let status = unsafe { current(CUDA, number, &raw mut stream) };
    (status == 0).then_some(stream.addr() as u64)
}

/// A structure that a capsule holds until a consumer takes it.
pub trait Held {
    const NAME: &'static CStr;

    /// Frees it.
    ///
    /// # Safety
    /// Nobody took it, and it is freed once.
    unsafe fn free(this: *mut Self);
}

impl Held for Versioned {
    const NAME: &'static CStr = c"dltensor_versioned";

    // SAFETY: as the trait says.
    unsafe fn free(this: *mut Self) {
        // SAFETY: the caller's word.
        unsafe { (*this).deleter.map(|free| free(this)) };
    }
}

impl Held for Managed {
    const NAME: &'static CStr = c"dltensor";

    // SAFETY: as the trait says.
    unsafe fn free(this: *mut Self) {
        // SAFETY: the caller's word.
        unsafe { (*this).deleter.map(|free| free(this)) };
    }
}

/// The capsule of a structure. A consumer renames it and frees the structure itself.
pub fn capsule<'py, T: Held>(py: Python<'py>, held: *mut T) -> PyResult<Bound<'py, PyCapsule>> {
    /// Ends a capsule.
    ///
    /// # Safety
    /// The capsule is one that Python ends.
    unsafe extern "C" fn end<T: Held>(capsule: *mut PyObject) {
        // SAFETY: Python ends a capsule once, and the name says whether the structure is still there.
        unsafe {
            if pyo3::ffi::PyCapsule_IsValid(capsule, T::NAME.as_ptr()) == 1 {
                let held = pyo3::ffi::PyCapsule_GetPointer(capsule, T::NAME.as_ptr());
                T::free(held.cast::<T>());
            }
        }
    }
    // SAFETY: the capsule owns the structure, and its name is static.
    unsafe {
        let made = pyo3::ffi::PyCapsule_New(held.cast(), T::NAME.as_ptr(), Some(end::<T>));
        if made.is_null() {
            T::free(held);
        }
        Ok(Bound::from_owned_ptr_or_err(py, made)?.cast_into_unchecked())
    }
}

/// The strides of a row-major array of this shape, in elements.
pub fn row_major(shape: &[i64]) -> Vec<i64> {
    let inner = |axis: usize| shape[axis + 1..].iter();
    let steps = (0..shape.len())
        .map(|axis| inner(axis).fold(1i64, |step, &extent| step.saturating_mul(extent.max(1))));
    steps.collect()
}

/// The most axes of a tensor, as in NumPy and PyTorch.
const MOST_AXES: i32 = 64;

impl Tensor {
    /// The number of axes.
    ///
    /// # Errors
    /// The reason that the structure describes no tensor: an owner may have made it by hand.
    pub fn check(&self) -> Result<usize, &'static str> {
        let rank = usize::try_from(self.rank).ok();
        let rank = rank.filter(|_| self.rank <= MOST_AXES);
        let rank = rank.ok_or("a number of axes that no tensor has")?;
        let shape = self.list(self.shape, rank);
        if rank > 0 && shape.is_none() {
            return Err("axes without extents");
        }
        let shape = shape.unwrap_or(&[]);
        if shape.iter().any(|&extent| extent < 0) {
            return Err("a negative extent");
        }
        let offset = usize::try_from(self.byte_offset).ok();
        let begin = offset.and_then(|offset| self.data.addr().checked_add(offset));
        match begin {
            None => Err("an address beyond all memory"),
            Some(_) if self.data.is_null() && !shape.contains(&0) => {
                Err("no memory: it may have been deleted, or its storage freed")
            }
            Some(_) => Ok(rank),
        }
    }

    fn list(&self, at: *const i64, rank: usize) -> Option<&[i64]> {
        match (at.is_null(), rank) {
            (true, _) | (_, 0) => None,
            // SAFETY: the structure has so many numbers there.
            _ => Some(unsafe { std::slice::from_raw_parts(at, rank) }),
        }
    }

    /// Appends the extents and the strides in elements of a tensor of `rank` axes.
    pub fn push_axes(&self, rank: usize, to: &mut crate::array::Shapes) {
        let Some(shape) = self.list(self.shape, rank) else {
            return;
        };
        to.extend_from_slice(shape);
        match self.list(self.strides, rank) {
            Some(strides) => to.extend_from_slice(strides),
            None => to.extend(row_major(shape)),
        }
    }

    /// The address of the first element.
    pub fn address(&self) -> *mut u8 {
        self.data
            .cast::<u8>()
            .wrapping_add(self.byte_offset as usize)
    }
}
