//! Programs that other programs run: the callees of `task.loop`, `task.if` and `task.devices`, and the rules about
//! them.
//!
//! ```text
//! @main ──task.loop──> @step          a program runs those that its ops name, and never itself
//!    │        └──────> @goes_on
//!    └────task.if────> @then, @else
//! ```
//!
//! A symbol is looked up among the ops of the module around the caller.

use fuser_ir::attr::AttrKind;
use fuser_ir::def::{At, OpError};
use fuser_ir::{DType, Extent, Ir, Op, Sym, TypeId, TypeKind, describe, layout};
use rustc_hash::FxHashMap;

use super::ops::{DEVICES, IF, LOOP, PROGRAM, SEGMENT};
use super::verify::signature;
use super::{CALLEE, DEVICE_PROGRAM, LOOP_FORM, RECURSION, mesh};

/// Loops and branches inside each other, counted along the programs that run each other.
pub const MAX_DEPTH: usize = 64;

/// The clauses of loops, branches and `task.devices` that name programs.
pub const CALLEES: [&str; 4] = ["condition", "body", "then", "else"];

/// The name in a clause that refers to a program.
pub fn symbol(ir: &Ir, op: Op, clause: &str) -> Option<Sym> {
    match ir.attr_of(op, clause)? {
        AttrKind::SymbolRef(path) => path.last().copied(),
        _ => None,
    }
}

/// The program that a clause of `op` names.
pub fn callee(ir: &Ir, op: Op, clause: &str) -> Option<Op> {
    let name = symbol(ir, op, clause)?;
    let module = std::iter::successors(Some(op), |&op| ir.parent_op(op)).last()?;
    let mut children = ir.children(module).into_iter();
    children.find(|&child| ir.is(child, &PROGRAM) && declares(ir, child, name))
}

fn declares(ir: &Ir, program: Op, name: Sym) -> bool {
    ir.attr_of(program, "sym_name")
        .and_then(AttrKind::as_string)
        == Some(name)
}

/// The loops of a program, in order.
pub fn loops(ir: &Ir, program: Op) -> Vec<Op> {
    let mut found = callers(ir, program);
    found.retain(|&op| ir.is(op, &LOOP));
    found
}

/// The first `task.devices` that runs a program.
pub fn devices(ir: &Ir, program: Op) -> Option<Op> {
    let mut found = callers(ir, program).into_iter();
    found.find(|&op| ir.is(op, &DEVICES))
}

/// The ops of a program that run others, in order.
fn callers(ir: &Ir, program: Op) -> Vec<Op> {
    let runs = |op: Op| runs_programs(ir, op) || ir.is(op, &DEVICES);
    let mut found = Vec::new();
    for op in ir.children(program) {
        if runs(op) {
            found.push(op);
        } else if ir.is(op, &SEGMENT) {
            let inside = ir.children(op).into_iter();
            found.extend(inside.filter(|&op| runs(op)));
        }
    }
    found
}

/// True for a loop and a branch: ops that run programs on the device of the program around them.
pub fn runs_programs(ir: &Ir, op: Op) -> bool {
    ir.is(op, &LOOP) || ir.is(op, &IF)
}

/// True if the body of a loop returns value `index` as it came.
pub fn is_invariant(ir: &Ir, body: Op, index: usize) -> bool {
    let Some(block) = ir.body(body, 0) else {
        return false;
    };
    let returned = ir.terminator(block).map(|end| ir.operands(end));
    let returned = returned.and_then(|mut values| values.nth(index));
    returned.is_some() && returned == ir.args(block).get(index).copied()
}

/// The programs of a module, each with the programs that it runs, by position.
struct Graph {
    programs: Vec<Op>,
    runs: Vec<Vec<usize>>,
}

impl Graph {
    fn of(ir: &Ir, module: Op) -> Self {
        let children = ir.children(module).into_iter();
        let programs: Vec<Op> = children.filter(|&op| ir.is(op, &PROGRAM)).collect();
        let mut named = FxHashMap::default();
        for (at, &program) in programs.iter().enumerate() {
            if let Some(name) = ir
                .attr_of(program, "sym_name")
                .and_then(AttrKind::as_string)
            {
                named.entry(name).or_insert(at);
            }
        }
        let runs = |&program: &Op| {
            let callers = callers(ir, program).into_iter();
            let names = callers.flat_map(|op| CALLEES.map(|clause| symbol(ir, op, clause)));
            let runs = names.flatten().filter_map(|name| named.get(&name).copied());
            runs.collect()
        };
        let runs = programs.iter().map(runs).collect();
        Self { programs, runs }
    }
}

/// True if a loop or a branch names a program in one of these clauses.
pub fn is_run_as(ir: &Ir, module: Op, program: Op, clauses: &[&str]) -> bool {
    let Some(name) = ir
        .attr_of(program, "sym_name")
        .and_then(AttrKind::as_string)
    else {
        return false;
    };
    let children = ir.children(module).into_iter();
    let programs = children.filter(|&op| ir.is(op, &PROGRAM));
    let callers = programs.flat_map(|program| callers(ir, program));
    let mut callers = callers.filter(|&op| runs_programs(ir, op));
    let names = |op, clause: &&str| symbol(ir, op, clause) == Some(name);
    callers.any(|op| clauses.iter().any(|clause| names(op, clause)))
}

/// The programs of a module that no op of another names.
pub fn roots(ir: &Ir, module: Op) -> Vec<Op> {
    let graph = Graph::of(ir, module);
    let mut called = vec![false; graph.programs.len()];
    for (at, runs) in graph.runs.iter().enumerate() {
        runs.iter()
            .filter(|&&run| run != at)
            .for_each(|&run| called[run] = true);
    }
    let programs = graph.programs.into_iter().zip(called);
    programs
        .filter(|(_, called)| !called)
        .map(|(op, _)| op)
        .collect()
}

/// `program` and the programs that it runs, directly or by way of others, in the order of the module.
pub fn reached(ir: &Ir, module: Op, program: Op) -> Vec<Op> {
    let graph = Graph::of(ir, module);
    let mut found = vec![false; graph.programs.len()];
    let mut waiting: Vec<usize> = graph
        .programs
        .iter()
        .position(|&op| op == program)
        .into_iter()
        .collect();
    while let Some(at) = waiting.pop() {
        if !std::mem::replace(&mut found[at], true) {
            waiting.extend(&graph.runs[at]);
        }
    }
    let programs = graph.programs.into_iter().zip(found);
    programs
        .filter(|(_, found)| *found)
        .map(|(op, _)| op)
        .collect()
}

/// Checks a `builtin.module`: no program runs itself, directly or indirectly, and programs are not nested too deeply.
pub fn module(ir: &Ir, op: Op, errors: &mut Vec<OpError>) {
    let graph = Graph::of(ir, op);
    let text = |at: usize| ir.symbol_name(graph.programs[at]).unwrap_or_default();
    // Levels below each program; `None` before they are known.
    let mut depths: Vec<Option<usize>> = vec![None; graph.programs.len()];
    let mut open = vec![false; graph.programs.len()];
    for first in 0..graph.programs.len() {
        let mut stack = vec![(first, 0)];
        while let Some((at, next)) = stack.pop() {
            if next == 0 && depths[at].is_some() {
                continue;
            }
            open[at] = true;
            let Some(&run) = graph.runs[at].get(next) else {
                open[at] = false;
                let below = graph.runs[at].iter().filter_map(|&run| depths[run]).max();
                depths[at] = Some(below.map_or(0, |below| below + 1));
                continue;
            };
            if open[run] {
                let message = format!(
                    "program `@{}` runs itself by way of `@{}`",
                    text(run),
                    text(at)
                );
                errors.push(OpError::new(message).code(&RECURSION));
                return;
            }
            stack.push((at, next + 1));
            stack.push((run, 0));
        }
        if depths[first].is_some_and(|depth| depth > MAX_DEPTH) {
            let message = format!(
                "`@{}` has more than {MAX_DEPTH} loops and branches inside each other",
                text(first)
            );
            errors.push(OpError::new(message).code(&RECURSION));
            return;
        }
    }
}

/// `task.loop`: one of `turns` and `condition`; programs with the signatures that a loop needs.
pub fn verify(ir: &Ir, op: Op, errors: &mut Vec<OpError>) {
    let turns = ir.int_of(op, "turns");
    match (turns, ir.attr_of(op, "condition").is_some()) {
        (Some(turns), false) if turns < 0 => {
            let error = OpError::at(At::Clause("turns"), "must not be negative");
            errors.push(error.code(&LOOP_FORM));
        }
        (Some(_), true) | (None, false) => {
            let text = "needs one of `turns` and `condition`";
            let help = "`turns 10 body @step` for so many turns, `condition @goes_on body @step` while a program says so";
            errors.push(OpError::new(text).code(&LOOP_FORM).help(help));
        }
        _ => {}
    }
    let values: Vec<TypeId> = ir.operands(op).map(|value| ir.value_type(value)).collect();
    named_extents(ir, &values, 0, errors);
    if let Some(results) = program(ir, op, "body", &values, errors) {
        gives(ir, op, "body", results, &values, errors);
    }
    if let Some(results) = program(ir, op, "condition", &values, errors)
        && !matches!(results, [ty] if is_truth(ir, *ty))
    {
        let (name, results) = (symbol_text(ir, op, "condition"), list(ir, results));
        let text = format!("`@{name}` gives {results}, a condition is one `tensor<i1>`");
        errors.push(OpError::at(At::Clause("condition"), text).code(&CALLEE));
    }
}

/// `task.if`: one truth value, and two programs of the same signature, that of the op.
pub fn verify_if(ir: &Ir, op: Op, errors: &mut Vec<OpError>) {
    let operands: Vec<TypeId> = ir.operands(op).map(|value| ir.value_type(value)).collect();
    let results = ir.results(op).iter().map(|&value| ir.value_type(value));
    let results: Vec<TypeId> = results.collect();
    let Some((&condition, values)) = operands.split_first() else {
        return;
    };
    if !is_truth(ir, condition) {
        let text = format!(
            "is a `{}`, a condition is one `i1` or `tensor<i1>`",
            describe::ty(ir, condition)
        );
        let help = "`fusion.compare` gives one of two scalars; of many, `fusion.max` says if any is true, `fusion.min` if all are";
        errors.push(
            OpError::at(At::Operand(0), text)
                .code(&LOOP_FORM)
                .help(help),
        );
    }
    named_extents(ir, values, 1, errors);
    for clause in ["then", "else"] {
        if let Some(given) = program(ir, op, clause, values, errors) {
            gives(ir, op, clause, given, &results, errors);
        }
    }
}

/// Reports extents without a name, which mean something else in each program. The values are operands from `first` on.
fn named_extents(ir: &Ir, values: &[TypeId], first: usize, errors: &mut Vec<OpError>) {
    for (index, &ty) in values.iter().enumerate() {
        let unnamed = |t: &fuser_ir::TensorType| t.dims.iter().any(|d| d.extent == Extent::Unknown);
        if ir.ty(ty).as_tensor().is_some_and(unnamed) {
            let text = format!(
                "value {index} is a `{}`, whose extents have no names",
                describe::ty(ir, ty)
            );
            let error = OpError::at(At::Operand(first + index), text).code(&LOOP_FORM);
            errors.push(error.help("write names for them, `[N]`"));
        }
    }
}

/// True for the types of one truth value.
fn is_truth(ir: &Ir, ty: TypeId) -> bool {
    match ir.ty(ty) {
        TypeKind::Scalar(dtype) => *dtype == DType::I1,
        TypeKind::Tensor(t) => t.dims.is_empty() && t.dtype == DType::I1,
        _ => false,
    }
}

fn list(ir: &Ir, types: &[TypeId]) -> String {
    let types: Vec<String> = types.iter().map(|&ty| describe::ty(ir, ty)).collect();
    format!("({})", types.join(", "))
}

fn same(ir: &Ir, a: &[TypeId], b: &[TypeId]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| layout::agree(ir, a, b))
}

fn symbol_text<'i>(ir: &'i Ir, op: Op, clause: &str) -> &'i str {
    symbol(ir, op, clause).map_or("", |name| ir.str(name))
}

/// Checks the program that a clause names: that there is one, on the same device, that takes these values. Returns the
/// types of its results.
fn program<'i>(
    ir: &'i Ir,
    op: Op,
    clause: &'static str,
    values: &[TypeId],
    errors: &mut Vec<OpError>,
) -> Option<&'i [TypeId]> {
    let name = ir.str(symbol(ir, op, clause)?);
    let Some(program) = callee(ir, op, clause) else {
        let text = format!("`@{name}` is no program of the module");
        errors.push(OpError::at(At::Clause(clause), text).code(&CALLEE));
        return None;
    };
    let (inputs, results) = signature(ir, program)?;
    let device = |program: Op| mesh::is_device_program(ir, program);
    if mesh::program_around(ir, op).is_some_and(|around| device(around) != device(program)) {
        let text = format!(
            "`@{name}` and the program around the {} are not both `{{task.device}}`",
            noun(ir, op)
        );
        errors.push(OpError::at(At::Clause(clause), text).code(&DEVICE_PROGRAM));
    }
    if !same(ir, inputs, values) {
        let (takes, has) = (list(ir, inputs), list(ir, values));
        let text = format!("`@{name}` takes {takes}, the {} has {has}", noun(ir, op));
        errors.push(OpError::at(At::Clause(clause), text).code(&CALLEE));
    }
    Some(results)
}

/// Checks that a program gives results of these types.
fn gives(
    ir: &Ir,
    op: Op,
    clause: &'static str,
    results: &[TypeId],
    wanted: &[TypeId],
    errors: &mut Vec<OpError>,
) {
    if !same(ir, results, wanted) {
        let (gives, has) = (list(ir, results), list(ir, wanted));
        let name = symbol_text(ir, op, clause);
        let text = format!("`@{name}` gives {gives}, the {} has {has}", noun(ir, op));
        errors.push(OpError::at(At::Clause(clause), text).code(&CALLEE));
    }
}

fn noun(ir: &Ir, op: Op) -> &'static str {
    match ir.is(op, &LOOP) {
        true => "loop",
        false => "branch",
    }
}
