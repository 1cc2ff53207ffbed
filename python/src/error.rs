//! The exception that every refusal of Fuser becomes.

use pyo3::create_exception;
use pyo3::exceptions::{PyAttributeError, PyException};
use pyo3::intern;
use pyo3::prelude::*;

create_exception!(
    fuser,
    FuserError,
    PyException,
    "A refusal of Fuser. `str(error)` is the rendered text with carets; `code`, `message`, `hints` and `place` are its parts."
);

/// The exception for an error of the library, with its parts as attributes.
pub fn raised(py: Python<'_>, error: &fuser::Error) -> PyErr {
    let made = FuserError::new_err(error.to_string());
    let value = made.value(py);
    let set = || -> PyResult<()> {
        value.setattr(intern!(py, "code"), error.code())?;
        value.setattr(intern!(py, "message"), error.message())?;
        value.setattr(intern!(py, "hints"), error.hints().to_vec())?;
        let place = error.place();
        value.setattr(
            intern!(py, "place"),
            place.map(|(name, line, column)| (name.to_owned(), line, column)),
        )
    };
    match set() {
        Ok(()) => made,
        Err(error) => error,
    }
}

/// The exception of a wrong argument, which is about no text.
pub fn refused(py: Python<'_>, code: &'static str, message: String, hint: &str) -> PyErr {
    let text = match hint {
        "" => format!("error: [{code}] {message}"),
        hint => format!("error: [{code}] {message}\n  help: {hint}"),
    };
    let made = FuserError::new_err(text);
    let value = made.value(py);
    let hints: Vec<&str> = [hint].into_iter().filter(|hint| !hint.is_empty()).collect();
    let set = || -> PyResult<()> {
        value.setattr(intern!(py, "code"), code)?;
        value.setattr(intern!(py, "message"), message)?;
        value.setattr(intern!(py, "hints"), hints)?;
        value.setattr(intern!(py, "place"), py.None())
    };
    match set() {
        Ok(()) => made,
        Err(error) => error,
    }
}

/// The exception of an attribute that `owner` lacks, with advice where the name is one of another package.
pub fn no_attribute(py: Python<'_>, owner: &str, name: &str) -> PyErr {
    let message = || -> PyResult<String> {
        let of = py.import(intern!(py, "fuser._meant"))?.getattr("missing")?;
        of.call1((owner, name))?.extract()
    };
    match message() {
        Ok(message) => PyAttributeError::new_err(message),
        Err(error) => error,
    }
}
