//! Axes as text, for tests and explanations.

use std::fmt::Write;

use fuser_ir::entity::Entity;
use fuser_ir::types::{ExtentExpr, Names};
use fuser_ir::{Ir, Op, Value};

use super::{Axes, AxisId, DimAxes};

impl Axes {
    /// Text with the lengths of all axes, the axes of each value (`b` before axes that it does not store), the axes
    /// that each reduction of `ops` ends, and the axis that each scan iterates.
    pub fn render(&self, ir: &Ir, ops: &[Op]) -> String {
        let mut text = String::new();
        for axis in self.ids() {
            let extent = self.extent(axis);
            let extent = extent.map_or("?".into(), |e| expr_text(ir, e));
            let _ = writeln!(text, "axis {}: {extent}", axis.index());
        }
        for &value in self.values() {
            let dims: Vec<String> = self.value(value).iter().map(dim_text).collect();
            let _ = writeln!(text, "{}: [{}]", value_text(ir, value), dims.join(", "));
        }
        for &op in ops.iter().filter(|&&op| !self.reduced(op).is_empty()) {
            let ended = list_text(self.reduced(op));
            let _ = writeln!(
                text,
                "{} reduces [{ended}]",
                value_text(ir, ir.result(op, 0))
            );
        }
        for &op in ops {
            if let Some(axis) = self.scanned(op) {
                let value = value_text(ir, ir.result(op, 0));
                let _ = writeln!(text, "{value} scans {}", axis.index());
            }
        }
        text
    }
}

fn dim_text(dim: &DimAxes) -> String {
    let mark = if dim.broadcast { "b" } else { "" };
    match dim.axes.as_slice() {
        [] => format!("{mark}-"),
        [axis] => format!("{mark}{}", axis.index()),
        factors => format!("{mark}({})", list_text(factors)),
    }
}

fn list_text(axes: &[AxisId]) -> String {
    let texts: Vec<String> = axes.iter().map(|a| a.index().to_string()).collect();
    texts.join(", ")
}

/// `%name`; `%_` and the slot number for a value to which the running pass gave no name.
pub fn value_text(ir: &Ir, value: Value) -> String {
    match ir.value_name(value) {
        Some(name) => format!("%{name}"),
        None => format!("%_{}", value.index()),
    }
}

/// `2*B*S+1`: a polynomial over named extents.
pub fn expr_text(ir: &Ir, expr: &ExtentExpr) -> String {
    if expr.terms.is_empty() {
        return "0".into();
    }
    let terms: Vec<String> = expr.terms.iter().rev().map(|t| term_text(ir, t)).collect();
    terms.join("+").replace("+-", "-")
}

fn term_text(ir: &Ir, (names, coefficient): &(Names, i64)) -> String {
    let mut names: Vec<&str> = names.iter().map(|&n| ir.str(n)).collect();
    names.sort_unstable();
    match (names.is_empty(), *coefficient) {
        (true, c) => c.to_string(),
        (false, 1) => names.join("*"),
        (false, c) => format!("{c}*{}", names.join("*")),
    }
}
