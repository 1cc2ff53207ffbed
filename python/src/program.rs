//! `Program`: a verified program; its text, its segments, its code.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::compiled::Compiled;
use crate::error::{no_attribute, raised, refused};

/// A verified tensor program with one entry.
#[pyclass(frozen, weakref, module = "fuser")]
pub struct Program {
    inner: fuser::Program,
}

/// Options of a compilation from Python's arguments.
fn options(
    py: Python<'_>,
    program: &fuser::Program,
    target: Option<&str>,
    shapes: Option<BTreeMap<String, u64>>,
    passes: Option<String>,
    executors: Option<String>,
    threads: Option<usize>,
) -> PyResult<fuser::Options> {
    let mut options = fuser::Options::default();
    if let Some(name) = target {
        options.compile.target =
            fuser::Options::target(name).map_err(|error| raised(py, &error))?;
    }
    let known = &program.signature().extents;
    let shapes = shapes.unwrap_or_default();
    if let Some(name) = shapes.keys().find(|name| !known.contains(name)) {
        let message = format!("`shapes` has the extent `{name}`, which the program does not have");
        let hint = match &known[..] {
            [] => "all its extents are numbers".to_owned(),
            known => format!("it has {}", known.join(", ")),
        };
        return Err(refused(py, fuser::compile::NO_EXTENT.code, message, &hint));
    }
    options.compile.shapes = shapes;
    options.compile.passes = passes;
    let executors = executors.unwrap_or_default();
    options.compile.executors =
        fuser::Options::executors(executors).map_err(|error| raised(py, &error))?;
    options.threads = threads;
    Ok(options)
}

/// The cache of a compilation: a folder, `True` for the usual one, `False` for none.
#[derive(FromPyObject)]
enum Cache {
    Usual(bool),
    Folder(PathBuf),
}

impl Cache {
    fn of(this: Option<Self>, options: fuser::Options) -> fuser::Options {
        match this {
            None | Some(Self::Usual(true)) => options.with_cache(None),
            Some(Self::Usual(false)) => options,
            Some(Self::Folder(folder)) => options.with_cache(Some(folder)),
        }
    }
}

/// Names of values: one, several, or several lists of them.
#[derive(FromPyObject)]
pub enum Wishes {
    One(String),
    Names(Vec<String>),
    Lists(Vec<Vec<String>>),
}

impl Wishes {
    fn lists(this: Option<Self>) -> Vec<Vec<String>> {
        match this {
            None => Vec::new(),
            Some(Self::One(name)) => vec![vec![name]],
            Some(Self::Names(names)) if names.is_empty() => Vec::new(),
            Some(Self::Names(names)) => vec![names],
            Some(Self::Lists(lists)) => lists,
        }
    }
}

/// Serializing plain strings and numbers cannot fail.
fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// JSON as objects of Python.
fn loaded(py: Python<'_>, text: String) -> PyResult<Bound<'_, PyAny>> {
    py.import("json")?.call_method1("loads", (text,))
}

/// The segments of a program as `fuser.segments.Segments`.
pub fn drawing<'py>(
    py: Python<'py>,
    program: &fuser::Program,
    options: &fuser::Options,
) -> PyResult<Bound<'py, PyAny>> {
    let text = py.detach(|| program.drawing(options).map(|drawing| json(&drawing)));
    let text = text.map_err(|error| raised(py, &error))?;
    let of = py.import("fuser.segments")?.getattr("Segments")?;
    of.call1((loaded(py, text)?,))
}

#[pymethods]
impl Program {
    #[new]
    #[pyo3(signature = (*_args, **_named))]
    fn new(_args: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let message = "a program is read: 'Program.parse(text)', 'Program.from_file(path)', or made by 'fuser.Builder'";
        Err(PyTypeError::new_err(message))
    }

    /// Parses and verifies a file; its path is the name in messages. `entry` selects one of several programs.
    #[staticmethod]
    #[pyo3(signature = (path, entry=None))]
    fn from_file(py: Python<'_>, path: PathBuf, entry: Option<&str>) -> PyResult<Self> {
        let text = std::fs::read_to_string(&path)?;
        Self::parse(py, &text, entry, &path.to_string_lossy())
    }

    #[pyo3(signature = (*_args, **_named))]
    fn __call__(
        &self,
        _args: &Bound<'_, PyTuple>,
        _named: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let message = "a program is compiled first: 'program.compile()' gives what is called";
        Err(PyTypeError::new_err(message))
    }

    fn __getattr__(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        Err(no_attribute(py, "'fuser.Program' object", name))
    }

    /// Parses and verifies the text of a module. `entry` selects one of several programs; `filename` is the name in
    /// messages.
    #[staticmethod]
    #[pyo3(signature = (text, entry=None, filename="program.fir"))]
    fn parse(py: Python<'_>, text: &str, entry: Option<&str>, filename: &str) -> PyResult<Self> {
        let read = py.detach(|| fuser::Program::parse_named(filename, text, entry));
        Self::of(py, read)
    }

    /// Reads StableHLO in MLIR's text form, such as `jax.jit(f).lower(x).as_text()`.
    #[staticmethod]
    fn import_stablehlo(py: Python<'_>, text: &str) -> PyResult<Self> {
        let read = py.detach(|| fuser::Program::import_stablehlo(text));
        Self::of(py, read)
    }

    /// Reads the Python text of an nvFuser definition.
    #[staticmethod]
    fn import_nvfuser(py: Python<'_>, text: &str) -> PyResult<Self> {
        let read = py.detach(|| fuser::Program::import_nvfuser(text));
        Self::of(py, read)
    }

    /// Compiles the program for this machine's processor or GPU. If `shapes` gives all extents, code is generated now;
    /// otherwise when a call first needs it. `passes` replaces the usual passes up to `schedule`. `executors` names the
    /// libraries that may run products. `cache` is the folder with code of earlier compilations. The default is that of
    /// `FUSER_CACHE_DIR` or the user's cache folder; `False` disables the cache.
    /// `device` is `"cpu"`, or the GPU that the program runs on: `"cuda"`, `"cuda:1"`, a device of PyTorch.
    #[pyo3(signature = (*, target=None, shapes=None, passes=None, executors=None, threads=None, cache=None, device=None, **other))]
    #[expect(clippy::too_many_arguments, reason = "each is an argument by name")]
    fn compile(
        &self,
        py: Python<'_>,
        target: Option<&str>,
        shapes: Option<BTreeMap<String, u64>>,
        passes: Option<String>,
        executors: Option<String>,
        threads: Option<usize>,
        cache: Option<Cache>,
        device: Option<&Bound<'_, PyAny>>,
        other: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Compiled> {
        if let Some(name) = other.and_then(|other| other.keys().iter().next()) {
            return Err(self.unknown_option(&name.to_string()));
        }
        let options = options(py, &self.inner, target, shapes, passes, executors, threads)?;
        let mut options = Cache::of(cache, options);
        if let Some(device) = device
            && let Some(gpu) = crate::device::named(device)?
        {
            options = options.with_gpu(gpu).map_err(|error| raised(py, &error))?;
        }
        let compiled = py.detach(|| self.inner.compile(&options));
        let compiled = compiled.map_err(|error| raised(py, &error))?;
        Ok(Compiled::new(compiled, self.inner.clone(), options))
    }

    /// The segments and their bytes, from shapes alone, as a dictionary; docs/report-schema.md lists its fields. Bytes
    /// are numbers if `shapes` gives all extents, otherwise polynomials over the names of extents. `with_segments`
    /// takes the dictionary, edited or not. `html` is a path for a page with the same numbers, the graph, the decisions
    /// and every pass.
    #[pyo3(signature = (*, html=None, target=None, shapes=None, passes=None, executors=None))]
    fn report<'py>(
        &self,
        py: Python<'py>,
        html: Option<PathBuf>,
        target: Option<&str>,
        shapes: Option<BTreeMap<String, u64>>,
        passes: Option<String>,
        executors: Option<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = options(py, &self.inner, target, shapes, passes, executors, None)?;
        if let Some(path) = html {
            let page = py.detach(|| self.inner.page(&options));
            std::fs::write(path, page.map_err(|error| raised(py, &error))?)?;
        }
        let report = py.detach(|| self.inner.segments(&options).map(|report| json(&report)));
        loaded(py, report.map_err(|error| raised(py, &error))?)
    }

    /// The segments, from shapes alone. A segment has its ops, bytes, launches, time, inputs and outputs; a cut between
    /// two segments has its reasons. The result is a list with totals, and notebooks show it as a picture. Extents that
    /// `shapes` does not give are assumed to be 1024.
    #[pyo3(signature = (*, target=None, shapes=None, passes=None, executors=None))]
    fn segments<'py>(
        &self,
        py: Python<'py>,
        target: Option<&str>,
        shapes: Option<BTreeMap<String, u64>>,
        passes: Option<String>,
        executors: Option<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = options(py, &self.inner, target, shapes, passes, executors, None)?;
        drawing(py, &self.inner, &options)
    }

    /// The reasons for the segments, as `fuser-opt --explain` states them. Without a value: of all segments. With one
    /// value: its segment, and the cuts that it crosses. With two values: what one kernel for both would cost or
    /// violate.
    #[pyo3(signature = (*values, target=None, shapes=None, passes=None, executors=None))]
    fn explain(
        &self,
        py: Python<'_>,
        values: Vec<String>,
        target: Option<&str>,
        shapes: Option<BTreeMap<String, u64>>,
        passes: Option<String>,
        executors: Option<String>,
    ) -> PyResult<String> {
        let options = options(py, &self.inner, target, shapes, passes, executors, None)?;
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        let text = py.detach(|| self.inner.explain(&options, &values));
        text.map_err(|error| raised(py, &error))
    }

    /// The prices of the segments as they are and as requested. Values named in `together` share a kernel. No two
    /// values named in `apart` share one; a single name in `apart` gets a kernel of its own. Several requests are a
    /// list of lists. If a request cannot be met, `error` of the result states the reason.
    #[pyo3(signature = (together=None, apart=None, *, target=None, shapes=None, passes=None, executors=None))]
    #[expect(clippy::too_many_arguments, reason = "each is an argument by name")]
    fn what_if<'py>(
        &self,
        py: Python<'py>,
        together: Option<Wishes>,
        apart: Option<Wishes>,
        target: Option<&str>,
        shapes: Option<BTreeMap<String, u64>>,
        passes: Option<String>,
        executors: Option<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = options(py, &self.inner, target, shapes, passes, executors, None)?;
        let (together, apart) = (Wishes::lists(together), Wishes::lists(apart));
        let found = py.detach(|| {
            let found = self.inner.what_if(&options, &together, &apart)?;
            Ok((json(&found.taken), found.asked.map(|asked| json(&asked))))
        });
        let (taken, asked) = found.map_err(|error| raised(py, &error))?;
        let (asked, error) = match asked {
            Ok(text) => (Some(loaded(py, text)?), None),
            Err(error) => (None, Some(raised(py, &error).into_value(py))),
        };
        let of = py.import("fuser.segments")?.getattr("WhatIf")?;
        of.call1((loaded(py, taken)?, asked, error))
    }

    /// The segments as programs in run order, with the map between their values and the whole program's. `.compile()`
    /// of the result runs them.
    #[pyo3(signature = (*, target=None, shapes=None, passes=None, executors=None))]
    fn split<'py>(
        slf: Bound<'py, Self>,
        py: Python<'py>,
        target: Option<&str>,
        shapes: Option<BTreeMap<String, u64>>,
        passes: Option<String>,
        executors: Option<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let given = PyDict::new(py);
        given.set_item("target", target)?;
        given.set_item("shapes", shapes.clone())?;
        given.set_item("executors", executors.clone())?;
        let options = options(
            py,
            &slf.get().inner,
            target,
            shapes,
            passes,
            executors,
            None,
        )?;
        let inner = slf.get().inner.clone();
        let found = py.detach(|| {
            let found = inner.split(&options)?;
            Ok((json(&found.map), found.parts))
        });
        let (map, parts) = found.map_err(|error| raised(py, &error))?;
        let parts: Vec<Self> = parts.into_iter().map(|inner| Self { inner }).collect();
        let of = py.import("fuser.split")?.getattr("Split")?;
        of.call1((slf, loaded(py, map)?, parts, given))
    }

    /// The program with other segments. `segments` is a report, the result of the method `segments`, a JSON text of
    /// that form, or one list of value names for each segment.
    #[pyo3(signature = (segments, *, target=None, shapes=None, passes=None, executors=None))]
    fn with_segments(
        &self,
        py: Python<'_>,
        segments: &Bound<'_, PyAny>,
        target: Option<&str>,
        shapes: Option<BTreeMap<String, u64>>,
        passes: Option<String>,
        executors: Option<String>,
    ) -> PyResult<Self> {
        let options = options(py, &self.inner, target, shapes, passes, executors, None)?;
        let text = py.import("fuser.segments")?.getattr("grouping")?;
        let text: String = text.call1((segments,))?.extract()?;
        let made = py.detach(|| self.inner.with_segments(&options, &text));
        let inner = made.map_err(|error| raised(py, &error))?;
        Ok(Self { inner })
    }

    /// The scheduled text of a segment: sweeps with the roles of their axes, tiles and vector widths. `with_schedule`
    /// takes the edited text.
    #[pyo3(signature = (segment, *, target=None, shapes=None, passes=None, executors=None))]
    fn schedule(
        &self,
        py: Python<'_>,
        segment: &str,
        target: Option<&str>,
        shapes: Option<BTreeMap<String, u64>>,
        passes: Option<String>,
        executors: Option<String>,
    ) -> PyResult<String> {
        let options = options(py, &self.inner, target, shapes, passes, executors, None)?;
        let text = py.detach(|| self.inner.schedule(&options, segment));
        text.map_err(|error| raised(py, &error))
    }

    /// The program with another schedule of a segment. `text` is the edited text of `schedule`, or clauses of its only
    /// sweep, such as `"tile [4, 64] vector 8"`.
    #[pyo3(signature = (segment, text, *, target=None, shapes=None, passes=None, executors=None))]
    #[expect(clippy::too_many_arguments, reason = "each is an argument by name")]
    fn with_schedule(
        &self,
        py: Python<'_>,
        segment: &str,
        text: &str,
        target: Option<&str>,
        shapes: Option<BTreeMap<String, u64>>,
        passes: Option<String>,
        executors: Option<String>,
    ) -> PyResult<Self> {
        let options = options(py, &self.inner, target, shapes, passes, executors, None)?;
        let made = py.detach(|| self.inner.with_schedule(&options, segment, text));
        Self::of(py, made)
    }

    /// The segments as a picture, for notebooks.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let drawn = drawing(py, &self.inner, &fuser::Options::default())?;
        drawn.call_method0("_repr_html_")?.extract()
    }

    /// The program with its segments drawn, as text, which `parse` reads.
    #[pyo3(signature = (*, target=None, shapes=None, passes=None, executors=None))]
    fn segmented(
        &self,
        py: Python<'_>,
        target: Option<&str>,
        shapes: Option<BTreeMap<String, u64>>,
        passes: Option<String>,
        executors: Option<String>,
    ) -> PyResult<String> {
        let options = options(py, &self.inner, target, shapes, passes, executors, None)?;
        let text = py.detach(|| self.inner.segmented_text(&options));
        text.map_err(|error| raised(py, &error))
    }

    /// The symbol of the program.
    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    /// The named extents.
    #[getter]
    fn extents(&self) -> Vec<String> {
        self.inner.signature().extents.clone()
    }

    /// The inputs, each with its name, element type and extents; an extent is a number or a name.
    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let signature = self.inner.signature();
        let row = |spec: &fuser::program::TensorSpec| -> PyResult<_> {
            let row = PyDict::new(py);
            row.set_item("name", &spec.name)?;
            row.set_item("dtype", spec.dtype.name())?;
            let extent = |dim: &fuser::program::DimSpec| match dim.extent.as_constant() {
                Some(n) => n
                    .into_pyobject(py)
                    .map(Bound::into_any)
                    .map_err(PyErr::from),
                None => {
                    let text = dim.extent.pretty(&signature.extents);
                    text.into_pyobject(py)
                        .map(Bound::into_any)
                        .map_err(PyErr::from)
                }
            };
            let shape = spec.dims.iter().map(extent).collect::<PyResult<Vec<_>>>()?;
            row.set_item("shape", shape)?;
            Ok(row)
        };
        signature.inputs.iter().map(row).collect()
    }

    /// The type of a value, as text; `None` if no value has the name.
    fn type_of(&self, name: &str) -> Option<String> {
        self.inner.type_of(name.trim_start_matches('%'))
    }

    /// For each result, the position of the argument that it overwrites, or `None`.
    #[getter]
    fn aliases(&self) -> Vec<Option<usize>> {
        self.inner.aliases()
    }

    /// The names of the results.
    #[getter]
    fn outputs(&self) -> Vec<String> {
        self.inner.signature().output_names.clone()
    }

    /// The program as text.
    fn __str__(&self) -> String {
        self.inner.text()
    }

    fn __repr__(&self) -> String {
        format!("<fuser.Program @{}>", self.inner.name())
    }
}

impl Program {
    /// The error about an argument of `compile` that is none.
    fn unknown_option(&self, name: &str) -> PyErr {
        let advice = match name {
            "dynamic" => ": named extents of the program may have any length",
            name if self
                .inner
                .signature()
                .extents
                .iter()
                .any(|extent| extent == name) =>
            {
                return PyTypeError::new_err(format!(
                    "compile() got an unexpected keyword argument '{name}': lengths of extents are \
                     'shapes={{\"{name}\": ...}}'"
                ));
            }
            _ => "; it takes target, shapes, passes, executors, threads, cache and device",
        };
        PyTypeError::new_err(format!(
            "compile() got an unexpected keyword argument '{name}'{advice}"
        ))
    }

    fn of(py: Python<'_>, read: Result<fuser::Program, fuser::Error>) -> PyResult<Self> {
        let inner = read.map_err(|error| raised(py, &error))?;
        let warnings = py.import("warnings")?;
        for warning in inner.warnings() {
            warnings.call_method1("warn", (warning.to_string(),))?;
        }
        Ok(Self { inner })
    }
}
