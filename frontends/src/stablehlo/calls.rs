//! Calls of code that lies outside of a module, `stablehlo.custom_call`: refused by the name of what is called, or left out where
//! nothing depends on one.

use crate::codes::{DROPPED, UNSUPPORTED};
use crate::program::Fault;

/// The beginnings of the names under which JAX calls Python.
const PYTHON: &[&str] = &[
    "xla_python_",
    "xla_ffi_python_",
    "xla_ffi_partitioned_python_",
    "xla_cpu_python_",
];

/// Families of targets: how their names begin, and the advice.
const FAMILIES: &[(&[&str], &str)] = &[
    (
        &[
            "lapack_",
            "cusolver_",
            "hipsolver_",
            "cublas_",
            "Qr",
            "Eigh",
            "Cholesky",
            "Schur",
            "ProductOfElementaryHouseholderReflectors",
        ],
        "linear algebra is computed outside of the program: give its results as inputs",
    ),
    (
        PYTHON,
        "a program calls no Python: lower it without the callback, or give what that returns as an input",
    ),
    (
        &["triton", "__gpu$", "tpu_custom_call", "mosaic_gpu"],
        "a kernel of Triton or Pallas is no program: lower the function that it stands for, written with `jnp`",
    ),
    (
        &["ducc_fft", "dynamic_ducc_fft", "cufft"],
        "a Fourier transform is computed outside of the program: give its result as an input",
    ),
];

/// The warning for a Python callback without results, which is dropped; `None` for other calls.
pub fn dropped(target: &str, results: usize) -> Option<Fault> {
    let python = PYTHON.iter().any(|begin| target.starts_with(begin));
    let text = format!("calls `@{target}`, on which no result depends: it is left out");
    (python && results == 0).then(|| Fault::new(&DROPPED, text).help("a program calls no Python"))
}

/// The refusal of a call of `target`.
pub fn refused(target: &str) -> Fault {
    let family = FAMILIES
        .iter()
        .find(|(begins, _)| begins.iter().any(|begin| target.starts_with(begin)));
    let help = family.map_or(
        "compute it outside of the program, and give it as an input",
        |(_, help)| help,
    );
    let text = format!("calls `@{target}`, which has no counterpart in Fuser");
    Fault::new(&UNSUPPORTED, text).help(help)
}
