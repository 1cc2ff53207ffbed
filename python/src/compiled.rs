//! `Compiled`: a program with code, called on arrays.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::array::{Argument, INPUT, Library};
use crate::error::{raised, refused};
use crate::results::{self, Libraries};

/// The most shapes of arguments whose extents are remembered.
const MOST_SHAPES: usize = 256;

/// A program compiled for this machine. Call it on arrays, in the order of the program's inputs or by their names.
///
/// Arrays of NumPy, PyTorch and JAX on the CPU are read where they lie if their strides are those of the program's types; else they are copied,
/// which `copies` counts. Results are arrays of the library that made the first array. Several threads may call at the same time.
#[pyclass(frozen, module = "fuser")]
pub struct Compiled {
    inner: Arc<fuser::Compiled>,
    /// Shapes that were seen, all axes of all arguments, and their extents.
    seen: Mutex<Vec<Seen>>,
    copies: std::sync::atomic::AtomicU64,
}

type Seen = (Vec<usize>, Arc<[i64]>);

impl Compiled {
    pub fn new(inner: fuser::Compiled) -> Self {
        Self {
            inner: Arc::new(inner),
            seen: Mutex::default(),
            copies: Default::default(),
        }
    }

    /// The arguments in the order of the inputs.
    fn arguments<'py>(
        &self,
        given: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let py = given.py();
        let inputs = &self.inner.signature().inputs;
        let list = || {
            let names: Vec<String> = inputs
                .iter()
                .map(|spec| format!("`{}`", spec.name))
                .collect();
            match &names[..] {
                [] => "the program has no inputs".to_owned(),
                names => format!("the program's inputs are {}", names.join(", ")),
            }
        };
        let mut arguments: Vec<Bound<'py, PyAny>> = given.iter().collect();
        if arguments.len() > inputs.len() {
            let message = format!("{} arguments given, {}", arguments.len(), list());
            return Err(refused(py, INPUT, message, ""));
        }
        let named_count = named.map_or(0, |named| named.len());
        let positional = arguments.len();
        let mut used = 0;
        for spec in inputs.iter().skip(positional) {
            let value = match named {
                Some(named) => named.get_item(&spec.name)?,
                None => None,
            };
            let Some(value) = value else {
                let message = format!("input `{}` is not given; {}", spec.name, list());
                return Err(refused(py, INPUT, message, ""));
            };
            used += 1;
            arguments.push(value);
        }
        if used != named_count {
            let message = format!(
                "an argument is given twice, or has a name that no input has; {}",
                list()
            );
            return Err(refused(py, INPUT, message, ""));
        }
        Ok(arguments)
    }

    /// The values of the extents for these arguments.
    fn extents(&self, py: Python<'_>, arguments: &[Argument<'_>]) -> PyResult<Arc<[i64]>> {
        let inputs = &self.inner.signature().inputs;
        let fit = arguments.iter().zip(inputs);
        let fit = fit
            .clone()
            .all(|(x, spec)| x.dtype == spec.dtype && x.shape.len() == spec.dims.len());
        let shapes = arguments
            .iter()
            .flat_map(|argument| argument.shape.iter().copied());
        let shapes: Vec<usize> = shapes.collect();
        if fit {
            let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((_, extents)) = seen.iter().find(|(of, _)| *of == shapes) {
                return Ok(Arc::clone(extents));
            }
        }
        let axes: Vec<_> = arguments
            .iter()
            .zip(inputs)
            .map(|(x, spec)| x.axes(spec))
            .collect();
        let types = arguments.iter().zip(&axes);
        let types: Vec<_> = types.map(|(x, axes)| (x.dtype, &axes[..])).collect();
        let extents = self
            .inner
            .extents(&types)
            .map_err(|error| raised(py, &error))?;
        let extents: Arc<[i64]> = extents.into();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= MOST_SHAPES {
            seen.clear();
        }
        seen.push((shapes, Arc::clone(&extents)));
        Ok(extents)
    }
}

#[pymethods]
impl Compiled {
    #[pyo3(signature = (*arguments, **named))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        arguments: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let known = Libraries::get(py)?;
        let inputs = &self.inner.signature().inputs;
        let objects = self.arguments(arguments, named)?;
        let mut arguments = Vec::with_capacity(objects.len());
        for (object, spec) in objects.iter().zip(inputs) {
            let argument = Argument::of(object, spec, known)?;
            if matches!(argument.library, Library::Table(_)) {
                results::check_plain(object, &spec.name)?;
            }
            arguments.push(argument);
        }
        let extents = self.extents(py, &arguments)?;
        let inner = &*self.inner;
        let bound = py.detach(|| inner.bind(&extents));
        let mut bound = bound.map_err(|error| raised(py, &error))?;
        let lengths = bound.input_bytes().to_vec();
        let mut bytes = Vec::with_capacity(arguments.len());
        for ((argument, spec), length) in arguments.iter().zip(inputs).zip(lengths) {
            let held = argument.bytes(py, spec, length)?;
            if matches!(held, std::borrow::Cow::Owned(_)) {
                self.copies
                    .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
            bytes.push(held);
        }
        let types = Arc::clone(bound.outputs());
        let heap = inner.session().runtime().heap();
        let given: Vec<&[u8]> = bytes.iter().map(|bytes| &**bytes).collect();
        let run = py.detach(|| {
            let memories = types.iter().map(|ty| heap.allocate(ty.bytes));
            let mut memories = memories
                .collect::<Result<Vec<_>, _>>()
                .map_err(|error| fuser::Error::from(fuser::program::RuntimeError::Memory(error)))?;
            let mut taken: Vec<&mut [u8]> = memories.iter_mut().map(|m| &mut m[..]).collect();
            bound.run(&given, &mut taken)?;
            inner.release(bound);
            Ok(memories)
        });
        let memories = run.map_err(|error: fuser::Error| raised(py, &error))?;
        let library = arguments.iter().map(|argument| argument.library);
        let library = library
            .clone()
            .find(|library| *library != Library::None)
            .unwrap_or(Library::NumPy);
        let results = types.iter().zip(memories);
        let results = results.map(|(ty, memory)| results::array(py, known, library, ty, memory));
        let mut results = results.collect::<PyResult<Vec<_>>>()?;
        match results.len() {
            1 => Ok(results.remove(0)),
            _ => Ok(PyTuple::new(py, results)?.into_any()),
        }
    }

    /// The names of the inputs.
    #[getter]
    fn inputs(&self) -> Vec<String> {
        let inputs = &self.inner.signature().inputs;
        inputs.iter().map(|spec| spec.name.clone()).collect()
    }

    /// The names of the results.
    #[getter]
    fn outputs(&self) -> Vec<String> {
        self.inner.signature().output_names.clone()
    }

    /// The arguments that calls had to copy so far, as their strides were others than the program's types have.
    #[getter]
    fn copies(&self) -> u64 {
        self.copies.load(std::sync::atomic::Ordering::Relaxed)
    }

    fn __repr__(&self) -> String {
        let inputs = self.inputs().join(", ");
        format!(
            "<fuser.Compiled ({inputs}) -> ({})>",
            self.outputs().join(", ")
        )
    }
}
