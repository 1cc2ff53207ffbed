//! Labels of segments that name their computation: `exp_sum_div_3` for `@s3`.
//!
//! A label has up to three ops, the most characteristic ones, in program order, and the number of the segment's name.
//! Labels are for reports only: symbols of the IR are unchanged, and two segments may have the same ops.

use fuser_analysis::cost::is_call;
use fuser_ir::def::OpClass;
use fuser_ir::{Ir, Op};

use super::{leaves, symbol};

/// The most ops in a label.
const MOST_OPS: usize = 3;

/// Elementwise ops that nearly every kernel has.
const COMMON: [&str; 6] = ["add", "sub", "mul", "div", "neg", "where"];

/// The label of a segment; its name if no op characterizes it.
pub fn label(ir: &Ir, segment: Op) -> String {
    let mut told: Vec<(u8, &str)> = Vec::new();
    for op in leaves(ir, segment) {
        let name = ir.name(op);
        let name = name.split_once('.').map_or(name, |(_, short)| short);
        let known = told.iter().any(|(_, known)| *known == name);
        if !known && let Some(weight) = weight(ir, op, name) {
            told.push((weight, name));
        }
    }
    let mut by_weight = told.clone();
    by_weight.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    // Ops that only move elements count if there are no others.
    let most = by_weight.first().map_or(0, |(weight, _)| *weight);
    by_weight.retain(|(weight, _)| *weight > 0 || most == 0);
    by_weight.truncate(MOST_OPS);
    told.retain(|one| by_weight.contains(one));
    let symbol = symbol(ir, segment);
    let number = symbol.trim_start_matches(|c: char| !c.is_ascii_digit());
    let mut words: Vec<&str> = told.into_iter().map(|(_, name)| name).collect();
    if words.is_empty() {
        return symbol;
    }
    words.extend(Some(number).filter(|number| !number.is_empty()));
    words.join("_")
}

/// The weight of an op in the name of a kernel, greater for characteristic ops; `None` for an op that does not count.
fn weight(ir: &Ir, op: Op, name: &str) -> Option<u8> {
    Some(match ir.def(op)?.class {
        _ if is_call(ir, op) => 3,
        OpClass::Reduction | OpClass::Scan | OpClass::Composite => 2,
        OpClass::Elementwise if name == "cast" => 0,
        OpClass::Elementwise if COMMON.contains(&name) => 1,
        OpClass::Elementwise => 2,
        OpClass::Shape => 0,
        _ => return None,
    })
}
