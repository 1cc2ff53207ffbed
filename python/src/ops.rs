//! The table of `fusion` ops as Python values: what the builder, its documentation and its stubs are made of.

use fuser::program::ClauseKind;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The names of the ops of nvFuser's Python frontend that are read.
#[pyfunction]
pub fn nvfuser_ops() -> Vec<&'static str> {
    fuser::program::nvfuser_ops().collect()
}

/// The ops of the `fusion` dialect: of each its name, documentation, operands, clauses and results, as the compiler's table has them.
#[pyfunction]
pub fn op_table(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let table = PyList::empty(py);
    for op in fuser::program::ops() {
        let row = PyDict::new(py);
        row.set_item("name", op.name.trim_start_matches("fusion."))?;
        row.set_item("summary", op.summary)?;
        row.set_item("doc", op.doc)?;
        row.set_item("example", op.example)?;
        let operands = op.operands.iter().map(|o| (o.name, o.variadic, o.doc));
        row.set_item("operands", operands.collect::<Vec<_>>())?;
        let clauses = op
            .clauses
            .iter()
            .map(|c| (c.name, kind(c.kind), c.required, c.doc));
        row.set_item("clauses", clauses.collect::<Vec<_>>())?;
        let results = op.results.iter().map(|r| (r.name, r.variadic, r.doc));
        row.set_item("results", results.collect::<Vec<_>>())?;
        row.set_item("regions", op.regions.len())?;
        table.append(row)?;
    }
    Ok(table)
}

fn kind(kind: ClauseKind) -> String {
    match kind {
        ClauseKind::I64Array => "integers".into(),
        ClauseKind::Extents => "extents".into(),
        ClauseKind::Amounts => "amounts".into(),
        ClauseKind::DType => "dtype".into(),
        ClauseKind::Type => "type".into(),
        ClauseKind::Int => "integer".into(),
        ClauseKind::Number => "number".into(),
        ClauseKind::String => "string".into(),
        ClauseKind::Keyword(words) => format!("keyword:{}", words.join("|")),
        ClauseKind::Unit => "flag".into(),
        ClauseKind::Symbol => "symbol".into(),
        ClauseKind::StringArray => "strings".into(),
        ClauseKind::Any => "any".into(),
    }
}
