//! Programs that XLA calls: one handler for all, by XLA's foreign function interface, which is plain C.
//!
//! A call carries its program as text in the attribute `program`, so it means the same in every process. A process that
//! reads an exported module, or XLA's cache of executables, compiles the program there. XLA asks for the state of a
//! call once, when it makes an executable. The state is the compiled program and lives as long as the executable. A run
//! reads XLA's arguments in place and writes into XLA's results: nothing is copied, and Python is not called.
//!
//! [`XlaProgram`] is the Python side: XLA finds its compiled program again, as long as the object lives.
//!
//! No panic leaves the handler, and no error but through `XLA_FFI_Error_Create`.

pub mod abi;
mod call;

use std::cell::UnsafeCell;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use fuser::session::Session;
use pyo3::ffi::PyCapsule_New;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::raised;
use abi::{TypeId, TypeInfo};

/// A program that XLA may call.
pub struct Ready {
    pub compiled: fuser::Compiled,
}

/// State that all calls of a process share.
struct Xla {
    /// The number that XLA gave our type of state when it was registered.
    id: Shared<TypeId>,
    info: Shared<TypeInfo>,
    /// Programs in use, by their text.
    programs: Mutex<BTreeMap<String, Weak<Ready>>>,
    /// Threads and memory of all programs.
    session: Mutex<Option<Arc<Session>>>,
}

/// Memory that XLA reads and writes.
struct Shared<T>(UnsafeCell<T>);

// SAFETY: XLA writes it while our type of state is registered, before there are calls.
unsafe impl<T> Sync for Shared<T> {}
// SAFETY: likewise.
unsafe impl<T> Send for Shared<T> {}

static XLA: OnceLock<Xla> = OnceLock::new();

fn xla() -> &'static Xla {
    XLA.get_or_init(|| Xla {
        id: Shared(UnsafeCell::new(TypeId { type_id: 0 })),
        info: Shared(UnsafeCell::new(TypeInfo {
            struct_size: size_of::<TypeInfo>(),
            extension_start: std::ptr::null_mut(),
            deleter: call::delete,
        })),
        programs: Mutex::default(),
        session: Mutex::default(),
    })
}

/// The compiled program of a text: one in use, or a new one.
fn ready(text: &str) -> fuser::program::Result<Arc<Ready>> {
    let Xla {
        programs, session, ..
    } = xla();
    let known = programs.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known.get(text).and_then(Weak::upgrade) {
        return Ok(found);
    }
    drop(known);
    let shared = session.lock().unwrap_or_else(PoisonError::into_inner);
    let options = fuser::Options {
        session: shared.clone(),
        ..fuser::Options::default()
    }
    .with_cache(None);
    drop(shared);
    let program = fuser::Program::parse(text)?;
    let compiled = program.compile(&options)?;
    let mut shared = session.lock().unwrap_or_else(PoisonError::into_inner);
    shared.get_or_insert_with(|| Arc::clone(compiled.session()));
    drop(shared);
    let made = Arc::new(Ready { compiled });
    let mut known = programs.lock().unwrap_or_else(PoisonError::into_inner);
    known.retain(|_, program| program.strong_count() > 0);
    known.insert(text.to_owned(), Arc::downgrade(&made));
    Ok(made)
}

/// A program that XLA may call by its text.
#[pyclass(frozen, module = "fuser._fuser")]
pub struct XlaProgram {
    text: String,
    _ready: Arc<Ready>,
}

#[pymethods]
impl XlaProgram {
    /// Reads StableHLO and compiles it. Result `i` overwrites argument `aliases[i]`, where that is given; results are
    /// row-major.
    #[new]
    fn new(py: Python<'_>, stablehlo: &str, aliases: Vec<Option<usize>>) -> PyResult<Self> {
        let made = py.detach(|| {
            let program = fuser::Program::import_stablehlo(stablehlo)?;
            let text = program.for_caller(&aliases)?.text();
            let ready = ready(&text)?;
            Ok(Self {
                text,
                _ready: ready,
            })
        });
        made.map_err(|error: fuser::Error| raised(py, &error))
    }

    /// The program as text: the attribute `program` of a call.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }
}

fn capsule<'py>(py: Python<'py>, address: *const c_void) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: a capsule without a name or a destructor of an address that is not null.
    unsafe {
        let made = PyCapsule_New(address.cast_mut(), std::ptr::null(), None);
        Bound::from_owned_ptr_or_err(py, made)
    }
}

/// The capsules that `jax.ffi` registers: the handler of each stage, and the type of their state.
#[pyfunction]
pub fn xla_handlers(py: Python<'_>) -> PyResult<(Bound<'_, PyDict>, Bound<'_, PyDict>)> {
    let handler = call::handle as *const c_void;
    let handlers = PyDict::new(py);
    for stage in ["instantiate", "execute"] {
        handlers.set_item(stage, capsule(py, handler)?)?;
    }
    let state = PyDict::new(py);
    state.set_item("type_id", capsule(py, xla().id.0.get().cast())?)?;
    state.set_item("type_info", capsule(py, xla().info.0.get().cast())?)?;
    Ok((handlers, state))
}

/// Name, size and offsets of fields of the structures of XLA's interface, as the handler has them.
#[pyfunction]
pub fn xla_layout() -> Vec<abi::Layout> {
    abi::layout()
}
