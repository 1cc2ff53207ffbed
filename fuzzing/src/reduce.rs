//! Makes a failing case small: fewer results, fewer ops, values that become inputs.
//!
//! Every step is tried on a copy and kept if the case still verifies and the given test still says that it fails.
//! Greedy, to a fixpoint; extents and data stay as they are.

use fuser_dialects::task;
use fuser_ir::attr::AttrKind;
use fuser_ir::{Ir, Op, TypeKind, Value};

use crate::generate::case::{aliases, set_aliases};
use crate::generate::inputs::{self, InputRecipe};
use crate::generate::{Case, Tier};
use crate::{Source, oracle};

/// The smallest case found for which `fails` still holds.
pub fn reduce(case: &Case, fails: impl Fn(&Case) -> bool) -> Case {
    let mut best = case.clone();
    let holds = |case: &mut Case| {
        oracle::verify::check(&mut case.ir, case.module, "").is_none() && fails(case)
    };
    while let Some(smaller) = steps(&best).into_iter().find_map(|step| {
        let mut copy = best.clone();
        apply(&mut copy, step)?;
        tidy(&mut copy);
        (size(&copy) < size(&best) && holds(&mut copy)).then_some(copy)
    }) {
        best = smaller;
    }
    best
}

/// Ops first, then results, then inputs.
fn size(case: &Case) -> (usize, usize, usize) {
    let results = terminator(case).map_or(0, |op| case.ir.operand_count(op));
    (case.ir.walk(case.program).len(), results, case.inputs.len())
}

#[derive(Clone, Copy)]
enum Step {
    Nothing,
    /// Return one value less.
    DropResult(usize),
    /// The op's results become inputs.
    Cut(Op),
    /// The op's result becomes its operand of that number.
    Bypass(Op, usize),
}

fn steps(case: &Case) -> Vec<Step> {
    let ir = &case.ir;
    let mut steps = vec![Step::Nothing];
    let results = terminator(case).map_or(0, |op| ir.operand_count(op));
    if results > 1 {
        steps.extend((0..results).map(Step::DropResult));
    }
    let Some(body) = ir.body(case.program, 0) else {
        return steps;
    };
    let ops: Vec<Op> = ir
        .block_ops(body)
        .filter(|op| !ir.is(*op, &task::RETURN))
        .collect();
    // The middle comes first: halving the program is worth most.
    let middle = ops.len() / 2;
    let order = (0..ops.len()).flat_map(|i| [middle.checked_sub(i), Some(middle + 1 + i)]);
    for op in order.flatten().filter_map(|i| ops.get(i).copied()) {
        steps.push(Step::Cut(op));
        steps.extend((0..ir.operand_count(op)).map(|i| Step::Bypass(op, i)));
    }
    steps
}

fn terminator(case: &Case) -> Option<Op> {
    let body = case.ir.body(case.program, 0)?;
    case.ir.last_op(body)
}

fn apply(case: &mut Case, step: Step) -> Option<()> {
    match step {
        Step::Nothing => {}
        Step::DropResult(index) => {
            let op = terminator(case)?;
            let mut values: Vec<Value> = case.ir.operands(op).collect();
            let mut aliases = aliases(&case.ir, case.program, values.len());
            values.remove(index);
            aliases.remove(index);
            case.ir.set_operands(op, &values);
            set_aliases(&mut case.ir, case.program, &aliases);
        }
        Step::Cut(op) => {
            for value in case.ir.results(op).to_vec() {
                let input = new_input(case, value)?;
                case.ir.replace_all_uses(value, input);
            }
        }
        Step::Bypass(op, index) => {
            let operand = case.ir.operand(op, index);
            let &[result] = case.ir.results(op) else {
                return None;
            };
            if case.ir.value_type(operand) != case.ir.value_type(result) {
                return None;
            }
            case.ir.replace_all_uses(result, operand);
        }
    }
    Some(())
}

/// An input of a value's type, of small integers.
fn new_input(case: &mut Case, value: Value) -> Option<Value> {
    let (dims, dtype) = match case.ir.value_kind(value) {
        TypeKind::Tensor(t) => (t.dims.clone(), t.dtype),
        TypeKind::Scalar(d) => (Vec::new(), *d),
        _ => return None,
    };
    let names = crate::generate::fusion::shapes::Names {
        values: case.extents.clone(),
        ..Default::default()
    };
    let axes = names.axes(&case.ir, &dims)?;
    let seed = case.inputs.len() as u64;
    let plan = InputRecipe::draw(&mut Source::bytes(&[]), Tier::Exact, &axes, dtype);
    case.inputs
        .push(inputs::fill(&plan, &mut Source::seed(seed)));
    let body = case.ir.body(case.program, 0)?;
    let ty = case.ir.value_type(value);
    let name = case.ir.sym(&format!("c{seed}"));
    Some(case.ir.append_arg(body, ty, Some(name)))
}

/// Removes unused values, except inputs that give a named extent its value, and updates the signature.
fn tidy(case: &mut Case) {
    let Some(body) = case.ir.body(case.program, 0) else {
        return;
    };
    let ops: Vec<Op> = case.ir.block_ops(body).collect();
    for op in ops.into_iter().rev() {
        if !case.ir.results(op).is_empty()
            && case.ir.results(op).iter().all(|v| case.ir.is_unused(*v))
        {
            case.ir.erase(op);
        }
    }
    let results = terminator(case).map_or(0, |op| case.ir.operand_count(op));
    let mut aliases = aliases(&case.ir, case.program, results);
    for index in (0..case.ir.args(body).len()).rev() {
        let arg = case.ir.args(body)[index];
        let overwritten = aliases.contains(&Some(index));
        if case.ir.is_unused(arg) && !overwritten && names_nothing(case, arg) {
            let later = aliases.iter_mut().flatten().filter(|a| **a > index);
            later.for_each(|a| *a -= 1);
            case.ir.remove_arg(body, index);
            case.inputs.remove(index);
        }
    }
    set_aliases(&mut case.ir, case.program, &aliases);
    sign(case);
}

/// Updates the signature: the types of the parameters and of the returned values.
pub(crate) fn sign(case: &mut Case) {
    let Some(body) = case.ir.body(case.program, 0) else {
        return;
    };
    let types = |ir: &Ir, list: &[Value]| list.iter().map(|v| ir.value_type(*v)).collect();
    let results: Vec<Value> = terminator(case)
        .map(|op| case.ir.operands(op).collect())
        .unwrap_or_default();
    let (inputs, outputs) = (
        types(&case.ir, case.ir.args(body)),
        types(&case.ir, &results),
    );
    let signature = case.ir.function_type(inputs, outputs);
    let signature = case.ir.attr(AttrKind::Type(signature));
    case.ir.set_attr(case.program, "function_type", signature);
}

fn names_nothing(case: &Case, value: Value) -> bool {
    let tensor = case.ir.value_kind(value).as_tensor();
    tensor.is_none_or(|t| {
        t.dims
            .iter()
            .all(|d| !matches!(d.extent, fuser_ir::Extent::Symbolic(_)))
    })
}
