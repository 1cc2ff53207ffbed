//! Results of a call as arrays of the library that made its arguments, on memory that the program wrote, without
//! copies.
//!
//! [`Libraries`] holds facts about other libraries: NumPy's numbers for element types, and the types with a table for
//! DLPack. It is determined once and never affects results.

use std::ffi::{CStr, c_char, c_void};
use std::sync::{Mutex, PoisonError};

use fuser::OutputType;
use fuser::program::{Axis, DType, DeviceMemory, Gpu, Heap, Pool, Raw, RuntimeError};
use numpy::npyffi::{NPY_ARRAY_ALIGNED, NPY_ARRAY_WRITEABLE, NpyTypes, get_type_object, npy_intp};
use numpy::{PY_ARRAY_API, PyArrayDescr, PyArrayDescrMethods, PyUntypedArray};
use pyo3::exceptions::{PyBufferError, PyMemoryError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use smallvec::SmallVec;

use crate::array::{INPUT, Library, Part};
use crate::device::DeviceArray;
use crate::dlpack::{self, Exchange, Versioned};
use crate::error::{raised, refused};

/// The names of element types in NumPy, and in `ml_dtypes` where that is installed.
const NAMES: [(&str, DType); 19] = [
    ("float64", DType::F64),
    ("float32", DType::F32),
    ("float16", DType::F16),
    ("bfloat16", DType::Bf16),
    ("float8_e4m3fn", DType::F8E4M3FN),
    ("float8_e5m2", DType::F8E5M2),
    ("float8_e8m0fnu", DType::F8E8M0FNU),
    ("int64", DType::I64),
    ("int32", DType::I32),
    ("int16", DType::I16),
    ("int8", DType::I8),
    ("uint64", DType::U64),
    ("uint32", DType::U32),
    ("uint16", DType::U16),
    ("uint8", DType::U8),
    ("bool_", DType::I1),
    ("complex64", DType::C64),
    ("complex128", DType::C128),
    ("int64", DType::Index),
];

/// The facts about other libraries.
pub struct Libraries {
    descriptions: Vec<(DType, Py<PyArrayDescr>)>,
    /// The element types by NumPy's numbers, and those with larger numbers.
    common: [Option<DType>; 32],
    numbers: Vec<(i32, DType)>,
    tables: Mutex<Vec<(Py<PyType>, Option<&'static Exchange>)>>,
    /// Freed memory of results.
    pool: Pool,
}

/// The share of the free memory that freed results may keep.
const KEPT_SHARE: u64 = 32;
/// The free memory of a system that does not tell it: 64 GiB.
const MOST_MEMORY: u64 = 64 << 30;

static LIBRARIES: PyOnceLock<Libraries> = PyOnceLock::new();

impl Libraries {
    /// The one of this process.
    pub fn get(py: Python<'_>) -> PyResult<&'static Self> {
        LIBRARIES.get_or_try_init(py, || Self::find(py))
    }

    fn find(py: Python<'_>) -> PyResult<Self> {
        let numpy = py.import(intern!(py, "numpy"))?;
        let more = py.import(intern!(py, "ml_dtypes")).ok();
        let mut found = Self {
            descriptions: Vec::new(),
            common: [None; 32],
            numbers: Vec::new(),
            tables: Mutex::default(),
            pool: Pool::new(Heap::system().limit().min(MOST_MEMORY) / KEPT_SHARE),
        };
        for (name, dtype) in NAMES {
            let scalar = match (numpy.getattr(name), &more) {
                (Ok(scalar), _) => scalar,
                (Err(_), Some(more)) => match more.getattr(name) {
                    Ok(scalar) => scalar,
                    Err(_) => continue,
                },
                (Err(_), None) => continue,
            };
            let description = PyArrayDescr::new(py, scalar)?;
            if dtype != DType::Index {
                found.numbers.push((description.num(), dtype));
            }
            found.descriptions.push((dtype, description.unbind()));
        }
        // C's `long long` is another number of the same type.
        for (name, dtype) in [("longlong", DType::I64), ("ulonglong", DType::U64)] {
            let description = PyArrayDescr::new(py, numpy.getattr(name)?)?;
            found.numbers.push((description.num(), dtype));
        }
        for &(number, dtype) in &found.numbers {
            let slot = usize::try_from(number);
            if let Some(slot) = slot.ok().and_then(|number| found.common.get_mut(number)) {
                *slot = Some(dtype);
            }
        }
        Ok(found)
    }

    /// The element type that NumPy knows by this number.
    pub fn dtype(&self, number: i32) -> Option<DType> {
        let common = usize::try_from(number).ok();
        if let Some(Some(dtype)) = common.and_then(|number| self.common.get(number)) {
            return Some(*dtype);
        }
        let row = self.numbers.iter().find(|row| row.0 == number);
        row.map(|row| row.1)
    }

    /// The table of the object's type; tensors of PyTorch must be plain.
    pub fn table(&self, object: &Bound<'_, PyAny>) -> Option<&'static Exchange> {
        let ty = object.get_type();
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, table)) = tables.iter().find(|(of, _)| of.as_ptr() == ty.as_ptr()) {
            return *table;
        }
        let table = dlpack::exchange_of(&ty);
        tables.push((ty.unbind(), table));
        table
    }

    /// The library of an object that speaks DLPack without a table.
    pub fn library(&self, object: &Bound<'_, PyAny>) -> Library {
        let module = object.get_type().module();
        match module {
            Ok(name) if name.to_string_lossy().starts_with("jax") => Library::Jax,
            _ => Library::Other,
        }
    }

    /// The NumPy array of an object with a buffer or an array interface.
    pub fn as_array<'py>(
        &self,
        object: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyUntypedArray>> {
        let py = object.py();
        let is_array = object.hasattr(intern!(py, "__array_interface__"))?
            || object.hasattr(intern!(py, "__array__"))?
            || object.hasattr(intern!(py, "__array_struct__"))?
            || py
                .import(intern!(py, "builtins"))?
                .getattr(intern!(py, "memoryview"))?
                .call1((object,))
                .is_ok();
        if !is_array {
            return Err(PyBufferError::new_err("no buffer"));
        }
        let array = py
            .import(intern!(py, "numpy"))?
            .call_method1(pyo3::intern!(py, "asarray"), (object,))?;
        Ok(array.cast_into::<PyUntypedArray>()?)
    }

    pub fn description<'py>(
        &self,
        py: Python<'py>,
        dtype: DType,
    ) -> PyResult<Bound<'py, PyArrayDescr>> {
        let found = self.descriptions.iter().find(|row| row.0 == dtype);
        match found {
            Some((_, description)) => Ok(description.bind(py).clone()),
            None => {
                let message = format!("NumPy has no element type for {dtype}");
                Err(refused(py, INPUT, message, "install `ml_dtypes`"))
            }
        }
    }
}

/// Refuses PyTorch's tensors that other libraries must not read or write in place: tensors with gradients, and tensors
/// that are lazily negated or conjugated.
pub fn check_plain(object: &Bound<'_, PyAny>, part: Part<'_>, dtype: DType) -> PyResult<()> {
    let py = object.py();
    let Ok(records) = object.getattr(intern!(py, "requires_grad")) else {
        return Ok(());
    };
    if records.is_truthy()? {
        let torch = py.import(intern!(py, "torch"))?;
        if torch
            .call_method0(intern!(py, "is_grad_enabled"))?
            .is_truthy()?
        {
            let message = format!("{part} requires gradients, which are not recorded here");
            return Err(refused(
                py,
                INPUT,
                message,
                "call under `torch.no_grad()`, or give `x.detach()`",
            ));
        }
    }
    if object.call_method0(intern!(py, "is_neg"))?.is_truthy()? {
        let message = format!("{part} is a view of which the sign is turned when it is read");
        return Err(refused(py, INPUT, message, "give `x.resolve_neg()`"));
    }
    if dtype.is_complex() && object.call_method0(intern!(py, "is_conj"))?.is_truthy()? {
        let message = format!("{part} is a view whose conjugate is taken when it is read");
        return Err(refused(py, INPUT, message, "give `x.resolve_conj()`"));
    }
    Ok(())
}

/// Gives the kept memory of freed results back to the system. Returns the bytes.
#[pyfunction]
pub fn release_memory(py: Python<'_>) -> PyResult<usize> {
    Ok(Libraries::get(py)?.pool.clear())
}

/// Memory of a result, which NumPy keeps as the base of its array.
#[pyclass(frozen, module = "fuser._fuser")]
struct Block {
    _memory: Raw,
}

/// The largest result, in bytes, that NumPy's own allocator allocates, since it caches small blocks. Larger results are
/// aligned to cache lines.
const SMALL: usize = 1024;
/// The multiple at which NumPy's memory begins.
const NUMPY_ALIGN: usize = 16;

/// A new array of `library` for a result, with these strides in elements; and the address of its elements.
pub fn array<'py>(
    py: Python<'py>,
    known: &Libraries,
    library: Library,
    ty: &OutputType,
    strides: &[i64],
    heap: &Heap,
) -> PyResult<(Bound<'py, PyAny>, *mut u8)> {
    if ty.dtype.per_byte() > 1 {
        let message = format!(
            "result `{}` has elements that share bytes, which no array here has",
            ty.name
        );
        return Err(refused(
            py,
            INPUT,
            message,
            "cast it to a wider type in the program",
        ));
    }
    match library {
        Library::Table(table) => {
            let memory = memory(py, known, heap, ty.bytes)?;
            let data = memory.address();
            let device = dlpack::Device {
                kind: dlpack::CPU,
                number: 0,
            };
            tensor(
                py,
                table,
                ty,
                strides,
                (data.cast(), device, Keeper::Host(memory)),
            )
        }
        Library::None | Library::NumPy | Library::Other | Library::Jax | Library::Own => {
            numpy_array(py, known, ty, strides, heap)
        }
    }
}

/// A new array of NumPy with these extents and strides, which are those of a permuted dense array.
pub fn host_array<'py>(
    py: Python<'py>,
    known: &Libraries,
    dtype: DType,
    (shape, strides): (&[i64], &[i64]),
    bytes: usize,
) -> PyResult<(Bound<'py, PyAny>, *mut u8)> {
    let axis = |(&extent, &step): (&i64, &i64)| Axis {
        extent: extent as usize,
        broadcast: step == 0 && extent > 1,
    };
    let ty = OutputType {
        name: "array".to_owned(),
        dtype,
        axes: shape.iter().zip(strides).map(axis).collect(),
        order: Vec::new(),
        bytes,
        overwrites: None,
        align: dtype.bytes(),
    };
    numpy_array(py, known, &ty, strides, &Heap::system())
}

/// A new array of `library` in the memory of a GPU.
pub fn array_on_gpu<'py>(
    py: Python<'py>,
    library: Library,
    ty: &OutputType,
    strides: &[i64],
    gpu: &Gpu,
) -> PyResult<(Bound<'py, PyAny>, *mut u8)> {
    let own = || gpu.allocate(ty.bytes).map_err(|error| raised(py, &error));
    let at = |memory: &DeviceMemory| std::ptr::without_provenance_mut(memory.address() as usize);
    let device = dlpack::Device {
        kind: dlpack::CUDA,
        number: gpu.number() as i32,
    };
    match library {
        Library::Table(table) => {
            let keeper = match allocated(py, table, ty, device)? {
                Some(keeper) => keeper,
                None => Keeper::Gpu(own()?),
            };
            let data = match &keeper {
                Keeper::Gpu(memory) => at(memory),
                Keeper::Library(Lent(lent)) => {
                    // SAFETY: the library's tensor lives until it is freed.
                    let tensor = unsafe { &(**lent).tensor };
                    tensor.address()
                }
                Keeper::Host(memory) => memory.address(),
            };
            tensor(py, table, ty, strides, (data, device, keeper))
        }
        _ => {
            let memory = own()?;
            let data = at(&memory);
            let shape: SmallVec<[i64; 8]> = ty.axes.iter().map(|axis| axis.extent as i64).collect();
            let array = DeviceArray::new(gpu.clone(), memory, ty.dtype, &shape, strides);
            Ok((Bound::new(py, array)?.into_any(), data))
        }
    }
}

/// Memory for a result from the library's own allocator, if it has one.
fn allocated(
    py: Python<'_>,
    table: &Exchange,
    ty: &OutputType,
    device: dlpack::Device,
) -> PyResult<Option<Keeper>> {
    /// Keeps the text of an error.
    ///
    /// # Safety
    /// `to` is a string, and the texts end in zero.
    unsafe extern "C" fn say(to: *mut c_void, kind: *const c_char, message: *const c_char) {
        // SAFETY: the caller's word.
        unsafe {
            let texts = [kind, message].map(|text| CStr::from_ptr(text).to_string_lossy());
            *to.cast::<String>() = texts.join(": ");
        }
    }
    let (Some(allocate), Some(dtype)) = (table.allocate, dlpack::code(ty.dtype)) else {
        return Ok(None);
    };
    let mut shape = [(ty.bytes / ty.dtype.bytes().max(1)) as i64];
    let mut prototype = dlpack::Tensor {
        data: std::ptr::null_mut(),
        device,
        rank: 1,
        dtype,
        shape: shape.as_mut_ptr(),
        strides: std::ptr::null_mut(),
        byte_offset: 0,
    };
    let (mut made, mut said) = (std::ptr::null_mut(), String::new());
    // SAFETY: the structures live during the call.
    let status = unsafe {
        let to = (&raw mut said).cast();
        allocate(&raw mut prototype, &raw mut made, to, say)
    };
    if status != 0 || made.is_null() {
        let error = || PyMemoryError::new_err(format!("the library allocates nothing: {said}"));
        return Err(PyErr::take(py).unwrap_or_else(error));
    }
    Ok(Some(Keeper::Library(Lent(made))))
}

/// The finished result: the array as its library represents it. `like` is an argument of that library.
pub fn finished<'py>(
    py: Python<'py>,
    library: Library,
    made: &Bound<'py, PyAny>,
    like: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    if made.is_instance_of::<DeviceArray>() {
        return match (library, like) {
            (Library::Jax, _) => from_dlpack(py, "jax.dlpack", made),
            (Library::Other, Some(like)) => {
                let module = like.get_type().module()?.to_string();
                from_dlpack(py, module.split('.').next().unwrap_or(""), made)
            }
            _ => Ok(made.clone()),
        };
    }
    if !matches!(library, Library::Jax) {
        return Ok(made.clone());
    }
    // NumPy exports none of the types that packages add to it, such as bf16.
    let dtype = made.getattr(intern!(py, "dtype"))?;
    let own: i32 = dtype.getattr(intern!(py, "isbuiltin"))?.extract()?;
    let (module, function) = match own {
        1 => (intern!(py, "jax.dlpack"), intern!(py, "from_dlpack")),
        _ => (intern!(py, "jax.numpy"), intern!(py, "asarray")),
    };
    py.import(module)?.call_method1(function, (made,))
}

/// An array on a GPU as the module has it, if it takes arrays of others.
fn from_dlpack<'py>(
    py: Python<'py>,
    module: &str,
    made: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    match py.import(module)?.getattr(intern!(py, "from_dlpack")) {
        Ok(take) => take.call1((made,)),
        Err(_) => Ok(made.clone()),
    }
}

fn memory(py: Python<'_>, known: &Libraries, heap: &Heap, bytes: usize) -> PyResult<Raw> {
    let memory = heap.allocate_from(&known.pool, bytes);
    memory.map_err(|error| raised(py, &fuser::Error::from(RuntimeError::Memory(error))))
}

fn numpy_array<'py>(
    py: Python<'py>,
    known: &Libraries,
    ty: &OutputType,
    requested: &[i64],
    heap: &Heap,
) -> PyResult<(Bound<'py, PyAny>, *mut u8)> {
    let size = ty.dtype.bytes() as npy_intp;
    let dims = ty.axes.iter().map(|axis| axis.extent as npy_intp);
    let mut dims: SmallVec<[npy_intp; 8]> = dims.collect();
    let strides = requested.iter().map(|&step| step as npy_intp * size);
    let mut strides: SmallVec<[npy_intp; 8]> = strides.collect();
    let description = known.description(py, ty.dtype)?.into_dtype_ptr();
    let row_major = ty.order.is_empty() && ty.axes.iter().all(|axis| !axis.broadcast);
    let usual = ty.strides().into_iter().map(|step| step as i64);
    let plain = row_major && usual.eq(requested.iter().copied());
    if plain && ty.bytes <= SMALL && ty.align <= NUMPY_ALIGN {
        // SAFETY: NumPy takes over the reference to the description, and allocates a row-major array.
        return unsafe {
            let made = PY_ARRAY_API.PyArray_NewFromDescr(
                py,
                get_type_object(py, NpyTypes::PyArray_Type),
                description,
                dims.len() as _,
                dims.as_mut_ptr(),
                std::ptr::null_mut(),
                std::ptr::null_mut(),
                0,
                std::ptr::null_mut(),
            );
            let array = Bound::from_owned_ptr_or_err(py, made)?;
            let data = (*made.cast::<numpy::npyffi::PyArrayObject>())
                .fields
                .data
                .cast();
            Ok((array, data))
        };
    }
    let repeats = ty.axes.iter().any(|axis| axis.broadcast && axis.extent > 1);
    let flags = match repeats {
        true => NPY_ARRAY_ALIGNED,
        false => NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE,
    };
    let memory = memory(py, known, heap, ty.bytes)?;
    let data = memory.address();
    let base = Bound::new(py, Block { _memory: memory })?;
    // SAFETY: the memory has the elements that shape and strides describe, and the array keeps its owner; NumPy takes
    // over the reference to the description, and that to the base.
    unsafe {
        let made = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            get_type_object(py, NpyTypes::PyArray_Type),
            description,
            dims.len() as _,
            dims.as_mut_ptr(),
            strides.as_mut_ptr(),
            data.cast(),
            flags,
            std::ptr::null_mut(),
        );
        let array = Bound::from_owned_ptr_or_err(py, made)?;
        if PY_ARRAY_API.PyArray_SetBaseObject(py, made.cast(), base.into_ptr()) != 0 {
            return Err(PyErr::fetch(py));
        }
        Ok((array, data))
    }
}

/// A result, with the memory to which DLPack's structure points.
struct Owned {
    managed: Versioned,
    /// The extents, followed by the strides.
    axes: SmallVec<[i64; 16]>,
    _memory: Keeper,
}

/// The owner of a result's memory.
enum Keeper {
    Host(Raw),
    Gpu(DeviceMemory),
    Library(Lent),
}

/// A tensor of another library, which is freed when it is dropped.
struct Lent(*mut Versioned);

impl Drop for Lent {
    fn drop(&mut self) {
        // SAFETY: the library's tensor, which nobody else frees.
        unsafe { <Versioned as dlpack::Held>::free(self.0) }
    }
}

fn tensor<'py>(
    py: Python<'py>,
    table: &Exchange,
    ty: &OutputType,
    strides: &[i64],
    (data, device, keeper): (*mut u8, dlpack::Device, Keeper),
) -> PyResult<(Bound<'py, PyAny>, *mut u8)> {
    let failed = || PyBufferError::new_err("the library takes no tensor");
    let (Some(take), Some(dtype)) = (table.object_from_managed, dlpack::code(ty.dtype)) else {
        return Err(failed());
    };
    let axes = ty.axes.iter().map(|axis| axis.extent as i64);
    let mut owned = Box::new(Owned {
        axes: axes.chain(strides.iter().copied()).collect(),
        managed: Versioned {
            version: dlpack::Version { major: 1, minor: 0 },
            context: std::ptr::null_mut(),
            deleter: Some(delete),
            flags: 0,
            tensor: dlpack::Tensor {
                data: data.cast(),
                device,
                rank: ty.axes.len() as i32,
                dtype,
                shape: std::ptr::null_mut(),
                strides: std::ptr::null_mut(),
                byte_offset: 0,
            },
        },
        _memory: keeper,
    });
    owned.managed.tensor.shape = owned.axes.as_mut_ptr();
    owned.managed.tensor.strides = owned.axes.as_mut_ptr().wrapping_add(ty.axes.len());
    let owned = Box::into_raw(owned);
    let mut object = std::ptr::null_mut();
    // SAFETY: `owned` lives until the deleter is called, which the library does; `context` says what to delete.
    unsafe {
        (*owned).managed.context = owned.cast();
        let status = take(&raw mut (*owned).managed, &raw mut object);
        if status != 0 || object.is_null() {
            return Err(PyErr::take(py).unwrap_or_else(failed));
        }
        Ok((Bound::from_owned_ptr(py, object), data))
    }
}

/// Frees a result when its library asks for it.
///
/// # Safety
/// `managed` belongs to a result that `tensor` made, and is freed once.
unsafe extern "C" fn delete(managed: *mut Versioned) {
    // SAFETY: `context` is the box that `tensor` made, and this is called once.
    unsafe { drop(Box::from_raw((*managed).context.cast::<Owned>())) }
}
