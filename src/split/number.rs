//! Numbers and names of values: inputs first, then the results of ops in program order.
//!
//! Boundaries (segments, sweeps, phases, patterns) create no values: their results are values of ops inside them. Names
//! are made unique and every value gets one, so that text, map and reports use the same name.

use fuser_dialects::task::outline::is_boundary;
use fuser_ir::print::{clean, distinct};
use fuser_ir::{Def, Ir, Op, Traits, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// The arguments of `program` and the results of its ops, in order.
pub fn values(ir: &Ir, program: Op) -> Vec<Value> {
    let body = ir.body(program, 0);
    let mut values: Vec<Value> = body.map_or(Vec::new(), |b| ir.args(b).to_vec());
    values.extend(made(ir, ir.children(program)));
    values
}

/// The results of `ops` and of the ops inside of boundaries among them, in order.
pub fn made(ir: &Ir, mut ops: Vec<Op>) -> Vec<Value> {
    let mut values = Vec::new();
    ops.reverse();
    while let Some(op) = ops.pop() {
        if is_boundary(ir, op) {
            ops.extend(ir.children(op).into_iter().rev());
        } else {
            values.extend_from_slice(ir.results(op));
        }
    }
    values
}

/// The original value behind a chain of boundary results: the result of an op, or a value from outside.
pub fn source(ir: &Ir, mut value: Value) -> Value {
    while let Def::Result(op, index) = ir.value_def(value) {
        let end = ir.body(op, 0).filter(|_| is_boundary(ir, op));
        let end = end.and_then(|b| ir.terminator(b));
        match end.filter(|&e| (index as usize) < ir.operand_count(e)) {
            Some(end) => value = ir.operand(end, index as usize),
            None => break,
        }
    }
    value
}

/// Gives each value of `program` a unique name, and the results of boundaries the names of the yielded values. The
/// names of `kept`, which must be unique, stay.
pub fn name(ir: &mut Ir, program: Op, kept: &[Value]) {
    let kept: FxHashSet<Value> = kept.iter().copied().collect();
    let names = kept.iter().filter_map(|&v| ir.value_name(v));
    let mut taken: FxHashSet<String> = names.map(String::from).collect();
    for (number, value) in values(ir, program).into_iter().enumerate() {
        if kept.contains(&value) {
            continue;
        }
        let hint = ir.value_name(value).map(clean);
        let base = hint.unwrap_or_else(|| format!("v{number}"));
        let mut name = base.clone();
        let mut suffix = 0;
        while !taken.insert(name.clone()) {
            suffix += 1;
            name = distinct(&base, suffix);
        }
        let name = ir.sym(&name);
        ir.set_value_name(value, Some(name));
    }
    for op in ir.walk(program) {
        if is_boundary(ir, op) {
            for result in ir.results(op).to_vec() {
                let name = ir.value_name_sym(source(ir, result));
                ir.set_value_name(result, name);
            }
        }
    }
}

/// The numbers of the values that a program returns.
pub fn returned_numbers(ir: &Ir, program: Op) -> Vec<usize> {
    let numbers: FxHashMap<Value, usize> = values(ir, program).into_iter().zip(0..).collect();
    let number = |v: Value| numbers.get(&source(ir, v)).copied();
    let returned = returned(ir, program).into_iter();
    returned.map(|v| number(v).unwrap_or(0)).collect()
}

/// The values that a program returns.
pub fn returned(ir: &Ir, program: Op) -> Vec<Value> {
    let end = ir.body(program, 0).and_then(|b| ir.last_op(b));
    let end = end.filter(|&op| ir.has(op, Traits::TERMINATOR));
    end.map_or(Vec::new(), |op| ir.operands(op).collect())
}
