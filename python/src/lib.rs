//! The extension module `fuser._fuser`: programs and their code as Python objects, on arrays of any library.
//!
//! | file | what |
//! |---|---|
//! | `program.rs` | `Program`: text in, segments and code out |
//! | `compiled.rs` | `Compiled`: the call |
//! | `plan.rs`, `call.rs` | what calls with arrays of the same shapes do; one call |
//! | `array.rs`, `dlpack.rs` | arrays of a call, whoever made them: NumPy's, and what speaks DLPack |
//! | `device.rs` | GPUs, and arrays in their memory |
//! | `results.rs` | results, for whom the arguments are |
//! | `ffi/` | programs that XLA calls, by its foreign function interface |
//! | `ops.rs` | the table of ops, for the builder and its documentation |
//! | `error.rs` | the exception |
//!
//! Unsafe code is in `array`, `call`, `device`, `dlpack` and `results`, which read and write memory of Python's objects, and in
//! `ffi`, which XLA calls.
//!
//! A call holds the interpreter's lock while it looks at its arguments. It gives the lock up while it compiles and
//! runs, unless the program's runs take less than 5 microseconds. No input makes the module panic on purpose; a panic
//! becomes a Python exception.
#![deny(unsafe_code)]

#[allow(unsafe_code)]
mod array;
#[allow(unsafe_code)]
mod call;
mod compiled;
#[allow(unsafe_code)]
mod device;
#[allow(unsafe_code)]
mod dlpack;
mod error;
#[allow(unsafe_code)]
mod ffi;
mod ops;
mod plan;
mod program;
#[allow(unsafe_code)]
mod results;

use pyo3::prelude::*;

/// Fuser: tensor programs compiled for this machine.
#[pymodule]
fn _fuser(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("Error", module.py().get_type::<error::FuserError>())?;
    module.add_class::<program::Program>()?;
    module.add_class::<compiled::Compiled>()?;
    module.add_class::<compiled::Recorded>()?;
    module.add_class::<device::DeviceArray>()?;
    module.add_class::<ffi::XlaProgram>()?;
    module.add_function(wrap_pyfunction!(device::to_device, module)?)?;
    module.add_function(wrap_pyfunction!(results::release_memory, module)?)?;
    module.add_function(wrap_pyfunction!(ops::op_table, module)?)?;
    module.add_function(wrap_pyfunction!(ops::nvfuser_ops, module)?)?;
    module.add_function(wrap_pyfunction!(ffi::xla_handlers, module)?)?;
    module.add_function(wrap_pyfunction!(ffi::xla_layout, module)?)?;
    Ok(())
}
