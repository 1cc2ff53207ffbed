//! `Compiled`: a program with code, called on arrays.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fuser::program::{CudaGraph, DeviceMemory};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::array::{Array, INPUT, Library, Part, Reader, Shapes};
use crate::call::Call;
use crate::error::{no_attribute, raised, refused};
use crate::plan::{Access, Asked, Destination, Plan, Target};
use crate::results::{self, Libraries};

/// The most shapes of arguments for which plans are kept.
const MOST_SHAPES: usize = 256;

/// A program compiled for this machine or a GPU. Call it on arrays, in the order of the program's inputs or by their
/// names.
///
/// Arrays of NumPy, PyTorch and JAX on the CPU are read in place if they are dense, permuted or not, or broadcast.
/// Arrays with gaps or negative strides are copied; `copies` counts the copies. A result that overwrites an argument is
/// written there, and the call returns the argument. Other results are the arrays of `out`, or new arrays of the
/// library that made the first argument. Several threads may call at the same time.
///
/// A program for a GPU reads arrays in its memory in place, if they are dense. It runs on `stream`, else on the stream
/// on which the arguments' library works now, and calls return before the work is done. Arrays of the host are sent
/// there. Results lie on the GPU if an array does; else the call waits, and they lie in host memory.
#[pyclass(frozen, weakref, module = "fuser")]
pub struct Compiled {
    inner: Arc<fuser::Compiled>,
    /// The program and the options of the code.
    program: fuser::Program,
    options: fuser::Options,
    plans: Mutex<FxHashMap<Shapes, Arc<Plan>>>,
    copies: AtomicU64,
    /// The arguments and results that were copied, and how often.
    copied: Mutex<BTreeMap<String, u64>>,
}

type List<'py> = Vec<Bound<'py, PyAny>>;
type Arrays<'py> = SmallVec<[Array<'py>; 8]>;
type Objects<'py> = SmallVec<[Bound<'py, PyAny>; 8]>;

/// Wishes of a call besides its arguments.
#[derive(Default)]
struct Wishes<'a, 'py> {
    /// The arrays that results are written to.
    out: SmallVec<[Option<Bound<'py, PyAny>>; 4]>,
    strides: Option<&'a Asked>,
    /// The stream of the GPU that the program runs on.
    stream: Option<u64>,
    /// True if the caller asserts that tensors may be read in place.
    unchecked: bool,
    /// True if the run is recorded in place of being run.
    recorded: bool,
}

/// A recorded run, the memory that it reads, and whether libraries order the work on all its arrays by their stream.
type Graph = (CudaGraph, Vec<DeviceMemory>, bool);

impl Compiled {
    pub fn new(inner: fuser::Compiled, program: fuser::Program, options: fuser::Options) -> Self {
        Self {
            inner: Arc::new(inner),
            program,
            options,
            plans: Mutex::default(),
            copies: AtomicU64::new(0),
            copied: Mutex::default(),
        }
    }

    /// The names of the inputs, for messages.
    fn list(&self) -> String {
        let inputs = self.inner.signature().inputs.iter();
        let names: Vec<String> = inputs.map(|spec| format!("`{}`", spec.name)).collect();
        match &names[..] {
            [] => "the program has no inputs".to_owned(),
            names => format!("the program's inputs are {}", names.join(", ")),
        }
    }

    /// The arguments in the order of the inputs.
    fn arguments<'py>(
        &self,
        py: Python<'py>,
        mut arguments: Objects<'py>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Objects<'py>> {
        let inputs = &self.inner.signature().inputs;
        if arguments.len() > inputs.len() {
            let message = format!("{} arguments given, {}", arguments.len(), self.list());
            return Err(refused(py, INPUT, message, ""));
        }
        let named_count = named.map_or(0, |named| named.len());
        let positional = arguments.len();
        for spec in inputs.iter().skip(positional) {
            let value = match named {
                Some(named) => named.get_item(&spec.name)?,
                None => None,
            };
            let Some(value) = value else {
                let message = format!("input `{}` is not given; {}", spec.name, self.list());
                return Err(refused(py, INPUT, message, ""));
            };
            arguments.push(value);
        }
        if arguments.len() - positional != named_count {
            let message = format!(
                "an argument is given twice, or has a name that no input has; {}",
                self.list()
            );
            return Err(refused(py, INPUT, message, ""));
        }
        Ok(arguments)
    }

    /// The arrays of `out`: one for each result, or `None`.
    fn given<'py>(
        &self,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<SmallVec<[Option<Bound<'py, PyAny>>; 4]>> {
        let names = &self.inner.signature().output_names;
        let Some(out) = out.filter(|out| !out.is_none()) else {
            return Ok(SmallVec::new());
        };
        let some = |object: Bound<'py, PyAny>| (!object.is_none()).then_some(object);
        let list: SmallVec<_> = if let Ok(tuple) = out.cast::<PyTuple>() {
            tuple.iter().map(some).collect()
        } else if let Ok(list) = out.cast::<PyList>() {
            list.iter().map(some).collect()
        } else {
            [Some(out.clone())].into_iter().collect()
        };
        if list.len() != names.len() {
            let message = format!(
                "`out` has {} arrays, the program {} results: {}",
                list.len(),
                names.len(),
                names.join(", ")
            );
            return Err(refused(
                out.py(),
                INPUT,
                message,
                "`None` stands for a new array",
            ));
        }
        Ok(list)
    }

    /// The plan for arrays of these shapes.
    fn plan(
        &self,
        py: Python<'_>,
        inputs: &[Array<'_>],
        given: &[Option<Array<'_>>],
        asked: Option<&Asked>,
        (shapes, stream): (Shapes, u64),
    ) -> PyResult<(Arc<Plan>, Shapes)> {
        let known = || self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(plan) = known().get(&shapes) {
            return Ok((Arc::clone(plan), shapes));
        }
        let plan = Plan::new(py, &self.inner, inputs, given, asked, &shapes, stream)?;
        self.tell(py, &plan)?;
        let plan = Arc::new(plan);
        let mut known = known();
        if known.len() >= MOST_SHAPES {
            known.clear();
        }
        known.insert(shapes.clone(), Arc::clone(&plan));
        Ok((plan, shapes))
    }

    /// The names of the arguments and results that a plan copies, each with the reason.
    fn copied_by<'p>(&'p self, plan: &'p Plan) -> impl Iterator<Item = (&'p str, &'static str)> {
        let inputs = self.inner.signature().inputs.iter().zip(&plan.inputs);
        let inputs = inputs.filter_map(|(spec, access)| match access {
            Access::Copied { why, .. } => Some((spec.name.as_str(), *why)),
            Access::Sent(_) => Some((spec.name.as_str(), crate::plan::HOST)),
            Access::Here => None,
        });
        let outputs = plan.types.iter().zip(&plan.outputs);
        let outputs = outputs.filter_map(|(ty, target)| match target {
            Target::Through(_, why) => Some((ty.name.as_str(), *why)),
            Target::New(_) | Target::Into(_) => None,
        });
        inputs.chain(outputs)
    }

    /// Logs the copies made by calls of a plan.
    fn tell(&self, py: Python<'_>, plan: &Plan) -> PyResult<()> {
        for (name, why) in self.copied_by(plan) {
            let logger = py
                .import(intern!(py, "logging"))?
                .call_method1(intern!(py, "getLogger"), ("fuser",))?;
            logger.call_method1(intern!(py, "info"), ("calls copy `%s`: %s", name, why))?;
        }
        Ok(())
    }

    fn reader<'a>(&'a self, known: &'a Libraries, stream: Option<u64>) -> Reader<'a> {
        let stream = stream.unwrap_or_else(|| self.inner.own_stream());
        Reader {
            known,
            gpu: self.inner.gpu().map(|gpu| (gpu, stream)),
        }
    }

    /// The stream on which the library of the first array on the GPU works now; else the GPU's own.
    fn stream<'a, 'py: 'a>(&self, arrays: impl Iterator<Item = &'a Array<'py>>) -> u64 {
        let own = self.inner.own_stream();
        let Some(gpu) = self.inner.gpu() else {
            return own;
        };
        let mut tables = arrays.filter(|array| array.on_gpu).filter_map(|array| {
            let Library::Table(table) = array.library else {
                return None;
            };
            crate::dlpack::current_stream(table, gpu.number() as i32)
        });
        tables.next().unwrap_or(own)
    }

    /// The stream that the caller asks for.
    fn asked_stream(
        &self,
        py: Python<'_>,
        stream: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<u64>> {
        let stream = stream.filter(|stream| !stream.is_none());
        if stream.is_some() && self.inner.gpu().is_none() {
            let message = "the program runs on the CPU, which has no streams".to_owned();
            return Err(refused(py, INPUT, message, ""));
        }
        stream
            .map(|stream| crate::device::stream(stream))
            .transpose()
    }

    fn count(&self, name: &str) {
        self.copies.fetch_add(1, Ordering::Relaxed);
        let mut copied = self.copied.lock().unwrap_or_else(PoisonError::into_inner);
        match copied.get_mut(name) {
            Some(times) => *times += 1,
            None => {
                copied.insert(name.to_owned(), 1);
            }
        }
    }

    /// The arrays of arguments; their shapes go to `shapes`.
    fn arrays<'py>(
        &self,
        objects: &Objects<'py>,
        reader: Reader<'_>,
        unchecked: bool,
        shapes: &mut Shapes,
    ) -> PyResult<Arrays<'py>> {
        let mut arrays = Arrays::new();
        for (object, spec) in objects.iter().zip(&self.inner.signature().inputs) {
            let part = Part::Input(spec);
            let array = Array::of(object, part, reader, shapes)?;
            if matches!(array.library, Library::Table(_)) && !unchecked {
                results::check_plain(object, part, array.dtype)?;
            }
            arrays.push(array);
        }
        Ok(arrays)
    }

    /// Runs the program; gives the results in order.
    fn run<'py>(
        &self,
        py: Python<'py>,
        objects: &Objects<'py>,
        wishes: Wishes<'_, 'py>,
    ) -> PyResult<(Objects<'py>, Option<Graph>)> {
        let known = Libraries::get(py)?;
        let signature = self.inner.signature();
        let results = signature.output_names.len();
        if let Some(asked) = wishes.strides.filter(|asked| asked.len() != results) {
            let message = format!(
                "`strides` has {} entries, the program {results} results",
                asked.len()
            );
            return Err(refused(
                py,
                INPUT,
                message,
                "`None` stands for the usual strides",
            ));
        }
        let mut shapes = Shapes::new();
        let reader = self.reader(known, wishes.stream);
        let inputs = self.arrays(objects, reader, wishes.unchecked, &mut shapes)?;
        // The first array on the GPU, else the first array, determines the library of new results, and their place.
        let on_gpu = inputs.iter().position(|array| array.on_gpu);
        let first = on_gpu.or_else(|| {
            let mut arrays = inputs.iter();
            arrays.position(|array| array.library != Library::None)
        });
        let (library, on_gpu) = match first.and_then(|first| inputs.get(first)) {
            Some(array) => (array.library, array.on_gpu),
            None => (Library::None, false),
        };
        let mut given: SmallVec<[Option<Array<'py>>; 4]> = SmallVec::new();
        for (index, name) in signature.output_names.iter().enumerate() {
            let array = match wishes.out.get(index) {
                Some(Some(object)) => {
                    let part = Part::Output(name);
                    let array = Array::of(object, part, reader, &mut shapes)?;
                    if matches!(array.library, Library::Table(_)) && !wishes.unchecked {
                        results::check_plain(object, part, array.dtype)?;
                    }
                    Some(array)
                }
                _ => {
                    // In the key of the plan, -1 stands for an array that is not given.
                    shapes.push(-1);
                    None
                }
            };
            given.push(array);
        }
        for asked in wishes.strides.into_iter().flatten() {
            shapes.push(asked.as_ref().map_or(-1, |strides| strides.len() as i64));
            shapes.extend(asked.iter().flatten().copied());
        }
        let arrays = || inputs.iter().chain(given.iter().flatten());
        let stream = wishes.stream.unwrap_or_else(|| self.stream(arrays()));
        // Libraries with a table order work and memory by their stream, and arrays of our own by that of the GPU.
        let foreign = stream != self.inner.own_stream();
        let ordered = arrays().all(|array| match array.library {
            Library::Table(_) => true,
            Library::Own => !foreign,
            _ => !array.on_gpu,
        });
        if let Some(gpu) = self.inner.gpu().filter(|_| foreign && !ordered) {
            let ready = py.detach(|| gpu.device().synchronize());
            ready.map_err(|error| raised(py, &error.into()))?;
        }
        let (plan, shapes) = self.plan(py, &inputs, &given, wishes.strides, (shapes, stream))?;
        let mut call = Call::new(py, &plan, &inputs, &shapes, stream);
        call.read()?;
        let mut made: Objects<'py> = SmallVec::new();
        for (index, (ty, target)) in plan.types.iter().zip(&plan.outputs).enumerate() {
            let (destination, direct) = match target {
                Target::New(strides) => {
                    let (object, data) = match plan.program.gpu() {
                        Some(gpu) if on_gpu => {
                            results::array_on_gpu(py, library, ty, strides, gpu)?
                        }
                        _ => results::array(py, known, library, ty, strides, call.heap())?,
                    };
                    match plan.program.gpu().is_some() && !on_gpu {
                        true => call.fetch(index, data, strides)?,
                        false => call.write_to(data),
                    }
                    made.push(object);
                    continue;
                }
                Target::Into(destination) => (*destination, true),
                Target::Through(destination, _) => (*destination, false),
            };
            let array = match destination {
                Destination::Given => given.get(index).and_then(Option::as_ref),
                Destination::Argument(number) => inputs.get(number),
            };
            let object = match destination {
                Destination::Given => wishes.out.get(index).and_then(Option::as_ref),
                Destination::Argument(number) => objects.get(number),
            };
            let (Some(array), Some(object)) = (array, object) else {
                return Err(PyTypeError::new_err("a result without a place"));
            };
            call.write_into(index, array, direct)?;
            made.push(object.clone());
        }
        let mut graph = None;
        if wishes.recorded {
            let (recorded, memory) = call.record()?;
            let tabled = |array: &Array<'_>| matches!(array.library, Library::Table(_));
            let tabled = arrays().all(|array| tabled(array) || !array.on_gpu);
            graph = Some((recorded, memory, tabled));
        } else {
            call.run()?;
            for copied in call.copied() {
                self.count(copied);
            }
            if on_gpu && !ordered {
                call.wait()?;
            }
        }
        for (object, target) in made.iter_mut().zip(&plan.outputs) {
            if matches!(target, Target::New(_)) {
                let like = first.and_then(|first| objects.get(first));
                *object = results::finished(py, library, object, like)?;
            }
        }
        Ok((made, graph))
    }
}

#[pymethods]
impl Compiled {
    /// Runs the program. `out` has an array for each result, or `None` for a new array. For a program with one result
    /// it is the array itself. `strides` has the strides of each new array in elements, or `None`; they must be those
    /// of a permuted dense array. `stream` is the stream of a GPU that the program runs on: a `CUstream` as a number, or
    /// a stream of PyTorch or CuPy. Inputs named `out`, `strides` or `stream` must be given by position.
    #[pyo3(signature = (*arguments, out=None, strides=None, stream=None, **named))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        arguments: &Bound<'py, PyTuple>,
        out: Option<&Bound<'py, PyAny>>,
        strides: Option<Asked>,
        stream: Option<&Bound<'py, PyAny>>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let objects = self.arguments(py, arguments.iter().collect(), named)?;
        let wishes = Wishes {
            out: self.given(out)?,
            strides: strides.as_ref(),
            stream: self.asked_stream(py, stream)?,
            ..Wishes::default()
        };
        let (mut results, _) = self.run(py, &objects, wishes)?;
        match results.len() {
            1 => Ok(results.remove(0)),
            _ => Ok(PyTuple::new(py, results)?.into_any()),
        }
    }

    /// The arguments in the order of the inputs, and the lengths that they give named extents; runs nothing.
    #[pyo3(signature = (*arguments, **named))]
    fn bind<'py>(
        &self,
        py: Python<'py>,
        arguments: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<(List<'py>, BTreeMap<String, i64>)> {
        let objects = self.arguments(py, arguments.iter().collect(), named)?;
        let known = Libraries::get(py)?;
        let signature = self.inner.signature();
        let mut shapes = Shapes::new();
        let inputs = self.arrays(&objects, self.reader(known, None), false, &mut shapes)?;
        let lengths = crate::plan::extents(py, &self.inner, &inputs, &shapes)?;
        let names = signature.extents.iter().cloned();
        Ok((objects.into_iter().collect(), names.zip(lengths).collect()))
    }

    /// Runs the program on the caller's arrays alone: `out` has one array for each result.
    #[pyo3(signature = (out, *arguments, **named))]
    fn call_into<'py>(
        &self,
        py: Python<'py>,
        out: &Bound<'py, PyAny>,
        arguments: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<()> {
        let objects = self.arguments(py, arguments.iter().collect(), named)?;
        let out = self.given(Some(out))?;
        if out.is_empty() || out.iter().any(Option::is_none) {
            let message = "`call_into` needs an array for each result".to_owned();
            return Err(refused(
                py,
                INPUT,
                message,
                "`compiled(..., out=...)` makes those that are `None`",
            ));
        }
        let wishes = Wishes {
            out,
            ..Wishes::default()
        };
        self.run(py, &objects, wishes)?;
        Ok(())
    }

    /// Records a run on arrays in the memory of the GPU, without executing it. The graph that is given starts the run on
    /// these arrays by one call of the driver, which pays for programs of several short kernels.
    #[pyo3(signature = (*arguments, out=None, **named))]
    fn record<'py>(
        &self,
        py: Python<'py>,
        arguments: &Bound<'py, PyTuple>,
        out: Option<&Bound<'py, PyAny>>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Recorded> {
        let objects = self.arguments(py, arguments.iter().collect(), named)?;
        if self.inner.gpu().is_none() {
            let message = "a run on the CPU is not recorded".to_owned();
            let hint = "compile for a GPU: `compile(device=\"cuda\")`";
            return Err(refused(py, INPUT, message, hint));
        }
        let wishes = Wishes {
            out: self.given(out)?,
            recorded: true,
            ..Wishes::default()
        };
        let (results, graph) = self.run(py, &objects, wishes)?;
        let Some((graph, memory, ordered)) = graph else {
            return Err(PyTypeError::new_err("a run that was not recorded"));
        };
        Ok(Recorded {
            inner: Arc::clone(&self.inner),
            graph: Mutex::new(graph),
            ordered,
            results: PyTuple::new(py, results)?.unbind(),
            _arguments: PyTuple::new(py, objects)?.unbind(),
            _memory: memory,
        })
    }

    /// Runs the program on a list of arguments and returns a list of results; meant for generated callers. With
    /// `unchecked` the caller asserts that PyTorch's tensors may be read in place: gradients need not be recorded, and
    /// no tensor has its negative bit set.
    #[pyo3(signature = (arguments, out=None, strides=None, unchecked=false))]
    fn call_list<'py>(
        &self,
        py: Python<'py>,
        arguments: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        strides: Option<Asked>,
        unchecked: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let given: Objects<'py> = if let Ok(list) = arguments.cast::<PyList>() {
            list.iter().collect()
        } else if let Ok(tuple) = arguments.cast::<PyTuple>() {
            tuple.iter().collect()
        } else {
            return Err(PyTypeError::new_err(
                "`call_list` takes a list or a tuple of arguments",
            ));
        };
        let objects = self.arguments(py, given, None)?;
        let wishes = Wishes {
            out: self.given(out)?,
            strides: strides.as_ref(),
            unchecked,
            ..Wishes::default()
        };
        let (results, _) = self.run(py, &objects, wishes)?;
        PyList::new(py, results)
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

    /// The segments that were compiled, as `Program.segments` gives them.
    fn segments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        crate::program::drawing(py, &self.program, &self.options)
    }

    /// The segments as a picture, for notebooks.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        self.segments(py)?
            .call_method0(intern!(py, "_repr_html_"))?
            .extract()
    }

    /// The number of arguments and results that calls copied so far. The logger `fuser` reports the reason, once for
    /// all arrays of one kind.
    #[getter]
    fn copies(&self) -> u64 {
        self.copies.load(Ordering::Relaxed)
    }

    /// The number of copies of each argument and result, by its name.
    #[getter]
    fn copied(&self) -> BTreeMap<String, u64> {
        self.copied
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn __getattr__(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        Err(no_attribute(py, "'fuser.Compiled' object", name))
    }

    fn __repr__(&self) -> String {
        let inputs = self.inputs().join(", ");
        format!(
            "<fuser.Compiled ({inputs}) -> ({})>",
            self.outputs().join(", ")
        )
    }
}

/// A recorded run of a program on a GPU. A call starts it on the arrays of the record and returns its results: always
/// the same arrays, with new elements.
#[pyclass(frozen, weakref, module = "fuser")]
pub struct Recorded {
    inner: Arc<fuser::Compiled>,
    graph: Mutex<CudaGraph>,
    /// True if all its arrays belong to libraries that order work by their stream.
    ordered: bool,
    results: Py<PyTuple>,
    _arguments: Py<PyTuple>,
    _memory: Vec<DeviceMemory>,
}

#[pymethods]
impl Recorded {
    /// Starts the run on a stream, as calls of the program have it, and on the GPU's own where none is given. Then it waits
    /// for the stream, unless all arrays belong to libraries that order their work by it.
    #[pyo3(signature = (*, stream=None))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let stream = stream.filter(|stream| !stream.is_none());
        let asked = stream
            .map(|stream| crate::device::stream(stream))
            .transpose()?;
        let stream = asked.unwrap_or_else(|| self.inner.own_stream());
        let waits = asked.is_none() || !self.ordered;
        let gpu = self.inner.gpu().filter(|_| waits);
        let done = py.detach(|| -> Result<(), fuser::Error> {
            if let Some(gpu) = gpu {
                gpu.device().synchronize()?;
            }
            let mut graph = self.graph.lock().unwrap_or_else(PoisonError::into_inner);
            crate::call::launch(&mut graph, stream, gpu)
        });
        done.map_err(|error| raised(py, &error))?;
        let results = self.results.bind(py);
        match results.len() {
            1 => results.get_item(0),
            _ => Ok(results.clone().into_any()),
        }
    }
}
