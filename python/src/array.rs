//! Arrays of a call as memory: NumPy's arrays, tensors that speak DLPack, Python's numbers.
//!
//! Reading an array looks at its type, extents and strides and touches no element. The handling of arrays of these
//! shapes is decided once (`plan.rs`). Nothing is converted: another element type is an error.

use fuser::program::{DType, Gpu, TensorSpec, element};
use numpy::npyffi::NPY_ARRAY_WRITEABLE;
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyException, PyMemoryError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt};
use smallvec::SmallVec;

use crate::device::DeviceArray;
use crate::dlpack;
use crate::error::refused;
use crate::results::Libraries;

/// The code of inputs that do not fit.
pub const INPUT: &str = fuser::session::error::INPUT.code;

/// The shapes of a call's arrays, one after the other: a header, the extents, the strides in elements. Calls with equal
/// lists have one plan.
pub type Shapes = SmallVec<[i64; 64]>;

/// Memory of a Python object, as long as the object lives.
pub struct Array<'py> {
    pub dtype: DType,
    /// The position of its header in the list of shapes.
    at: usize,
    rank: usize,
    pub data: *mut u8,
    /// The element of a number of Python's.
    pub number: Option<Number>,
    pub writable: bool,
    /// True if it lies in the memory of the program's GPU.
    pub on_gpu: bool,
    /// The object that owns the memory.
    _owner: Option<Bound<'py, PyAny>>,
    pub library: Library,
}

/// An element, aligned for its type.
#[repr(align(16))]
pub struct Number(pub [u8; 16]);

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
    /// `fuser.DeviceArray`.
    Own,
}

/// The reading of a call's arrays.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    pub known: &'a Libraries,
    /// The GPU that the program runs on, and the stream for which arrays get ready.
    pub gpu: Option<(&'a Gpu, u64)>,
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

/// The part that an array has in a call, for messages.
#[derive(Clone, Copy)]
pub enum Part<'a> {
    Input(&'a TensorSpec),
    Output(&'a str),
    /// The array that is sent to a GPU.
    Array,
}

impl std::fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Part::Input(spec) => write!(f, "input `{}`", spec.name),
            Part::Output(name) => write!(f, "the array for result `{name}`"),
            Part::Array => f.write_str("the array"),
        }
    }
}

impl<'py> Array<'py> {
    /// Reads the object given for a part of the call, and records its shape.
    #[inline]
    pub fn of(
        object: &Bound<'py, PyAny>,
        part: Part<'_>,
        reader: Reader<'_>,
        shapes: &mut Shapes,
    ) -> PyResult<Self> {
        if let Ok(array) = object.cast::<PyUntypedArray>() {
            return Self::numpy(array, part, reader.known, shapes);
        }
        if let Some(table) = reader.known.table(object) {
            let tensor = dlpack::by_table(table, object)?;
            let on_gpu = Self::place(object.py(), part, tensor.device, reader)?;
            let library = Library::Table(table);
            return Self::tensor(object, part, &tensor, None, (library, on_gpu), shapes);
        }
        Self::other(object, part, reader, shapes)
    }

    /// True for memory of the program's GPU, false for memory of the host.
    fn place(
        py: Python<'_>,
        part: Part<'_>,
        device: dlpack::Device,
        reader: Reader<'_>,
    ) -> PyResult<bool> {
        let number = device.number;
        let (message, hint) = match (device.kind, reader.gpu) {
            (dlpack::CPU | dlpack::CUDA_HOST, _) => return Ok(false),
            (dlpack::CUDA | dlpack::CUDA_MANAGED, Some((gpu, _))) => {
                if usize::try_from(number) == Ok(gpu.number()) {
                    return Ok(true);
                }
                (
                    format!(
                        "{part} lies on GPU {number}, the program runs on GPU {}",
                        gpu.number()
                    ),
                    format!(
                        "bring it there, or compile for its GPU: `compile(device=\"cuda:{number}\")`"
                    ),
                )
            }
            (_, None) if matches!(part, Part::Array) => (
                format!("{part} lies on a device already"),
                "give an array of the host".to_owned(),
            ),
            (dlpack::CUDA | dlpack::CUDA_MANAGED, None) => (
                format!("{part} lies on a device, the program is compiled for the CPU"),
                format!(
                    "bring it to the CPU: `x.cpu()`, or compile for its GPU: `compile(device=\"cuda:{number}\")`"
                ),
            ),
            _ => (
                format!("{part} lies on a device that is neither a CPU nor a GPU of NVIDIA"),
                "bring it to the CPU".to_owned(),
            ),
        };
        Err(refused(py, INPUT, message, &hint))
    }

    fn other(
        object: &Bound<'py, PyAny>,
        part: Part<'_>,
        reader: Reader<'_>,
        shapes: &mut Shapes,
    ) -> PyResult<Self> {
        let (py, known) = (object.py(), reader.known);
        if let Ok(array) = object.cast::<DeviceArray>() {
            let tensor = array.get().tensor();
            let on_gpu = Self::place(py, part, tensor.device, reader)?;
            return Self::tensor(object, part, &tensor, None, (Library::Own, on_gpu), shapes);
        }
        if let Part::Input(spec) = part
            && spec.dims.is_empty()
            && let Some(argument) = Self::number(object, spec, shapes)?
        {
            return Ok(argument);
        }
        let mut by_numpy = |library| {
            let mut array = Self::numpy(&known.as_array(object)?, part, known, shapes)?;
            array.library = library;
            Ok::<_, PyErr>(array)
        };
        if object.hasattr(intern!(py, "__dlpack__"))? {
            let library = known.library(object);
            return match dlpack::by_capsule(object, reader.gpu.map(|(_, stream)| stream)) {
                Ok((tensor, owner)) => {
                    let on_gpu = Self::place(py, part, tensor.device, reader)?;
                    let library = (library, on_gpu);
                    Self::tensor(object, part, &tensor, Some(owner), library, shapes)
                }
                Err(error) if !is_refusal(py, &error) => Err(error),
                // A library may refuse element types that NumPy's arrays of it have.
                Err(error) => by_numpy(library).map_err(|_| error),
            };
        }
        match known.as_array(object) {
            Ok(array) => Self::numpy(&array, part, known, shapes),
            Err(error) if !is_refusal(py, &error) => Err(error),
            Err(error) => {
                let kind = object.get_type().name()?.to_string();
                let message = format!("{part} is a {kind}, which is no array");
                let hint = "give a NumPy array, or an array that speaks DLPack";
                let told = refused(py, INPUT, message, hint);
                told.set_cause(py, Some(error));
                Err(told)
            }
        }
    }

    fn numpy(
        array: &Bound<'py, PyUntypedArray>,
        part: Part<'_>,
        known: &Libraries,
        shapes: &mut Shapes,
    ) -> PyResult<Self> {
        let py = array.py();
        // A subclass may say more than its memory does.
        if !array.is_exact_instance_of::<PyUntypedArray>() {
            let masked = py.import(intern!(py, "numpy.ma"))?.getattr("MaskedArray")?;
            if array.is_instance(&masked)? {
                let message = format!("{part} is a masked array, and programs know no masks");
                let hint = "give its values: `x.filled(0)`, and `x.mask` as an input of its own";
                return Err(refused(py, INPUT, message, hint));
            }
        }
        let descr = array.dtype();
        let Some(dtype) = known.dtype(descr.num()) else {
            let message = format!("{part} has element type {descr}, which Fuser does not have");
            return Err(refused(py, INPUT, message, ""));
        };
        if descr.is_native_byteorder() == Some(false) {
            let message = format!("{part} has its bytes in the other order");
            return Err(refused(
                py,
                INPUT,
                message,
                "`x.astype(x.dtype.newbyteorder('='))` puts them in order",
            ));
        }
        let size = i64::try_from(dtype.bytes().max(1)).unwrap_or(1);
        let (shape, strides) = (array.shape(), array.strides());
        let odd = |(step, extent): (&isize, &usize)| *extent > 1 && *step as i64 % size != 0;
        if strides.iter().zip(shape).any(odd) {
            let message = format!("{part} has strides that are no multiples of its elements' size");
            return Err(refused(py, INPUT, message, "give a copy: `x.copy()`"));
        }
        let at = shapes.len();
        shapes.push(0);
        shapes.extend(shape.iter().map(|&n| n as i64));
        shapes.extend(strides.iter().map(|&step| step as i64 / size));
        // SAFETY: an array has such a structure.
        let (data, flags) = unsafe {
            let fields = &(*array.as_array_ptr()).fields;
            (fields.data, fields.flags)
        };
        let array = Self {
            dtype: stood_for(dtype, part),
            at,
            rank: shape.len(),
            data: data.cast(),
            number: None,
            writable: flags & NPY_ARRAY_WRITEABLE != 0,
            on_gpu: false,
            // Another object may own the array that was made of it.
            _owner: Some(array.clone().into_any()),
            library: Library::NumPy,
        };
        array.note(shapes);
        Ok(array)
    }

    fn tensor(
        object: &Bound<'py, PyAny>,
        part: Part<'_>,
        tensor: &dlpack::Given,
        owner: Option<Bound<'py, PyAny>>,
        (library, on_gpu): (Library, bool),
        shapes: &mut Shapes,
    ) -> PyResult<Self> {
        let py = object.py();
        let Some(dtype) = dlpack::dtype(tensor.dtype) else {
            let message = format!("{part} has an element type which Fuser does not have");
            return Err(refused(py, INPUT, message, ""));
        };
        let rank = tensor.check().map_err(|wrong| {
            let message = format!("{part} has {wrong}");
            refused(py, INPUT, message, "")
        })?;
        let at = shapes.len();
        shapes.push(0);
        tensor.push_axes(rank, shapes);
        let array = Self {
            dtype: stood_for(dtype, part),
            at,
            rank,
            data: tensor.address(),
            number: None,
            writable: !tensor.read_only && library != Library::Jax,
            on_gpu,
            _owner: owner,
            library,
        };
        array.note(shapes);
        Ok(array)
    }

    /// A number of Python's for a scalar: an integer for any type that holds it, a float for floats, a complex number
    /// for complex types.
    fn number(
        object: &Bound<'py, PyAny>,
        spec: &TensorSpec,
        shapes: &mut Shapes,
    ) -> PyResult<Option<Self>> {
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
        let mut number = [0; 16];
        for (to, from) in number.iter_mut().zip(bytes) {
            *to = from;
        }
        let array = Self {
            dtype: spec.dtype,
            at: shapes.len(),
            rank: 0,
            data: std::ptr::null_mut(),
            number: Some(Number(number)),
            writable: false,
            on_gpu: false,
            _owner: None,
            library: Library::None,
        };
        shapes.push(0);
        array.note(shapes);
        Ok(Some(array))
    }

    /// Writes the header: everything except extents and strides that a plan depends on.
    fn note(&self, shapes: &mut Shapes) {
        let aligned = self.align() as i64;
        let flags = i64::from(self.writable)
            | i64::from(self.number.is_some()) << 1
            | i64::from(self.on_gpu) << 2;
        let library = match self.library {
            Library::None => 0,
            Library::NumPy => 1,
            Library::Table(_) => 2,
            Library::Jax => 3,
            Library::Other => 4,
            Library::Own => 5,
        };
        let rank = self.rank as i64;
        if let Some(header) = shapes.get_mut(self.at) {
            *header = rank | flags << 8 | aligned << 12 | library << 20 | (self.dtype as i64) << 24;
        }
    }

    /// The greatest power of two, up to 64, that divides the address.
    pub fn align(&self) -> usize {
        match self.data.addr() {
            0 => 64,
            address => 1 << address.trailing_zeros().min(6),
        }
    }

    pub fn shape<'s>(&self, shapes: &'s Shapes) -> &'s [i64] {
        shapes
            .get(self.at + 1..self.at + 1 + self.rank)
            .unwrap_or(&[])
    }

    /// In elements.
    pub fn strides<'s>(&self, shapes: &'s Shapes) -> &'s [i64] {
        let begin = self.at + 1 + self.rank;
        shapes.get(begin..begin + self.rank).unwrap_or(&[])
    }

    /// True if all elements lie within the address space, so that [`span`](Self::span) has no overflow.
    pub fn is_addressable(&self, shapes: &Shapes) -> bool {
        let mut axes = self.shape(shapes).iter().zip(self.strides(shapes));
        let reach = axes.try_fold(0i128, |sum, (&extent, &stride)| {
            let steps = i128::from(extent).saturating_sub(1).max(0);
            let sum = sum.saturating_add(steps * i128::from(stride).abs());
            (sum < 1 << 62).then_some(sum)
        });
        let bytes = self.dtype.bytes().max(1) as i128;
        reach.is_some_and(|reach| (reach + 1) * bytes < 1 << 62)
    }

    /// The address range of the elements: from the first address to the end of the last element.
    pub fn span(&self, shapes: &Shapes) -> std::ops::Range<usize> {
        let size = self.dtype.bytes() as i64;
        let (mut low, mut high) = (0i64, 0i64);
        for (&extent, &stride) in self.shape(shapes).iter().zip(self.strides(shapes)) {
            if extent == 0 {
                return 0..0;
            }
            let reach = (extent - 1) * stride * size;
            low += reach.min(0);
            high += reach.max(0);
        }
        let at = |offset: i64| self.data.addr().wrapping_add_signed(offset as isize);
        at(low)..at(high + size)
    }
}

/// True if the exception means that the object gives no array. An interrupt or a lack of memory is passed on to the
/// caller.
fn is_refusal(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<PyException>(py) && !error.is_instance_of::<PyMemoryError>(py)
}

/// A place to copy elements from or to: the first element, the strides in elements.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    pub data: *mut u8,
    pub strides: &'a [i64],
}

/// Copies elements of `size` bytes.
///
/// # Safety
/// Both places have elements of this shape at their strides, and the elements of `to` are not aliased.
pub unsafe fn copy(shape: &[i64], size: usize, from: Place<'_>, to: Place<'_>) {
    if shape.contains(&0) {
        return;
    }
    let bytes = size as isize;
    let rank = shape.len();
    let last = |strides: &[i64]| strides.last().map_or(0, |&step| step as isize * bytes);
    let (row, from_step, to_step) = match rank {
        0 => (1, 0, 0),
        _ => (shape[rank - 1], last(from.strides), last(to.strides)),
    };
    let mut index: SmallVec<[i64; 8]> = SmallVec::from_elem(0, rank.saturating_sub(1));
    loop {
        let at = |place: Place<'_>| {
            let offset = index.iter().zip(place.strides).map(|(i, step)| i * step);
            place
                .data
                .wrapping_offset(offset.sum::<i64>() as isize * bytes)
        };
        let (begin, end) = (at(from), at(to));
        if from_step == bytes && to_step == bytes {
            // SAFETY: a row of both places lies together.
            unsafe { std::ptr::copy_nonoverlapping(begin, end, row as usize * size) }
        } else {
            for i in 0..row as isize {
                let (x, y) = (
                    begin.wrapping_offset(i * from_step),
                    end.wrapping_offset(i * to_step),
                );
                // SAFETY: an element of each.
                unsafe {
                    match size {
                        4 => y
                            .cast::<u32>()
                            .write_unaligned(x.cast::<u32>().read_unaligned()),
                        8 => y
                            .cast::<u64>()
                            .write_unaligned(x.cast::<u64>().read_unaligned()),
                        _ => std::ptr::copy_nonoverlapping(x, y, size),
                    }
                }
            }
        }
        let mut axis = index.len();
        loop {
            if axis == 0 {
                return;
            }
            axis -= 1;
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
}

/// An index is a signed integer of 64 bits.
fn stood_for(dtype: DType, part: Part<'_>) -> DType {
    match (dtype, part) {
        (DType::I64, Part::Input(spec)) if spec.dtype == DType::Index => DType::Index,
        _ => dtype,
    }
}

/// The bytes of a number as an element; `None` if the type has no such element.
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
