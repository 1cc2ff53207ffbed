//! `Program`: a verified program; its text, its segments, its code.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::compiled::Compiled;
use crate::error::{FuserError, raised};

/// A verified tensor program with one entry.
#[pyclass(frozen, module = "fuser")]
pub struct Program {
    inner: fuser::Program,
}

/// Options of a compilation from Python's arguments.
fn options(
    py: Python<'_>,
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
    options.compile.shapes = shapes.unwrap_or_default();
    options.compile.passes = passes;
    options.compile.executors = executors.unwrap_or_default();
    options.threads = threads;
    Ok(options)
}

#[pymethods]
impl Program {
    /// Parses and verifies the text of a module. `entry` chooses one of several programs; `filename` stands in messages.
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

    /// Compiles the program for this machine's processor. Code is made when extents first ask for it; where `shapes` gives all
    /// extents, now. `passes` runs in place of the usual passes up to `schedule`; `executors` names the libraries that may run products.
    #[pyo3(signature = (*, target=None, shapes=None, passes=None, executors=None, threads=None))]
    fn compile(
        &self,
        py: Python<'_>,
        target: Option<&str>,
        shapes: Option<BTreeMap<String, u64>>,
        passes: Option<String>,
        executors: Option<String>,
        threads: Option<usize>,
    ) -> PyResult<Compiled> {
        let options = options(py, target, shapes, passes, executors, threads)?;
        let compiled = py.detach(|| self.inner.compile(&options));
        Ok(Compiled::new(compiled.map_err(|error| raised(py, &error))?))
    }

    /// The segments and their bytes, from shapes alone, as a dictionary: docs/report-schema.md has its fields. Bytes are numbers where
    /// `shapes` gives all extents, else polynomials over their names.
    #[pyo3(signature = (*, target=None, shapes=None, passes=None, executors=None))]
    fn segments<'py>(
        &self,
        py: Python<'py>,
        target: Option<&str>,
        shapes: Option<BTreeMap<String, u64>>,
        passes: Option<String>,
        executors: Option<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = options(py, target, shapes, passes, executors, None)?;
        let report = py.detach(|| self.inner.segments(&options));
        let report = report.map_err(|error| raised(py, &error))?;
        let text =
            serde_json::to_string(&report).map_err(|e| FuserError::new_err(e.to_string()))?;
        py.import("json")?.call_method1("loads", (text,))
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
        let options = options(py, target, shapes, passes, executors, None)?;
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

    /// The inputs: of each its name, element type and extents, which are numbers or names.
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

    /// The type of a value, as text; `None` where no value has the name.
    fn type_of(&self, name: &str) -> Option<String> {
        self.inner.type_of(name.trim_start_matches('%'))
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
    fn of(py: Python<'_>, read: Result<fuser::Program, fuser::Error>) -> PyResult<Self> {
        let inner = read.map_err(|error| raised(py, &error))?;
        let warnings = py.import("warnings")?;
        for warning in inner.warnings() {
            warnings.call_method1("warn", (warning.to_string(),))?;
        }
        Ok(Self { inner })
    }
}
