//! Ops that become programs of a branch or a loop, which compute what the ops computed.

use fuser_dialects::fusion::{self, build::FusionBuilder};
use fuser_dialects::task;
use fuser_ir::clone::Mapping;
use fuser_ir::ir::NewOp;
use fuser_ir::{AttrKind, Builder, DType, Extent, Ir, Op, TypeId, TypeKind, Value};

use super::rewire::{body, erase, ops, tensor, terminator};
use crate::Source;
use crate::generate::Case;

/// The most ops that become a program.
const MAX_OPS: usize = 12;
/// The most turns of a loop.
const MAX_TURNS: u64 = 4;

/// Neighbouring ops, the values that they take, and those that others use.
struct Part {
    ops: Vec<Op>,
    taken: Vec<Value>,
    given: Vec<Value>,
}

/// A branch, both sides of which compute what some ops computed.
pub fn branch(case: &mut Case, source: &mut Source) -> bool {
    let Some(part) = part(case, source) else {
        return false;
    };
    let then = program(case, &part, &[], None);
    let otherwise = match source.chance(1, 3) {
        true => then.clone(),
        false => program(case, &part, &[], None),
    };
    let side = source.chance(1, 2);
    let mut builder = Builder::before(&mut case.ir, part.ops[0]);
    let truth = builder.ir.scalar(DType::I1);
    let Ok(condition) = builder.constant_int(side, truth) else {
        return false;
    };
    let operands: Vec<Value> = [condition].iter().chain(&part.taken).copied().collect();
    let programs = [("then", then), ("else", otherwise)];
    replace(case, &part, &task::IF, &operands, &programs, None, 0).is_some()
}

/// A loop, each turn of which computes what some ops computed, and negates a value. Half of the loops are followed by
/// another of the same body, so that a body runs in two places.
pub fn turns(case: &mut Case, source: &mut Source) -> bool {
    let Some(part) = part(case, source) else {
        return false;
    };
    let negated = source.pick(&passing(case, &part)).copied();
    let body = program(case, &part, &part.given, negated);
    let mut operands = part.taken.clone();
    for &value in &part.given {
        let Some(first) = zeros(case, part.ops[0], value) else {
            return false;
        };
        operands.push(first);
    }
    operands.extend(negated);
    let turns = 1 + source.below(MAX_TURNS) as i64;
    let skipped = part.taken.len();
    let programs = [("body", body)];
    let made = replace(
        case,
        &part,
        &task::LOOP,
        &operands,
        &programs,
        Some(turns),
        skipped,
    );
    let Some(made) = made else {
        return false;
    };
    let more = 1 + source.below(MAX_TURNS) as i64;
    let again = source
        .chance(1, 2)
        .then(|| (go_on(case, source, made, more), turns + more));
    if let Some(value) = negated {
        for (made, turns) in [(made, turns)].into_iter().chain(again) {
            take_negated(case, source, value, made, turns);
        }
    }
    true
}

/// Adds a loop of the same body, which goes on from the results of another one; some uses take its results.
fn go_on(case: &mut Case, source: &mut Source, first: Op, turns: i64) -> Op {
    let mut map = Mapping::default();
    let second = case.ir.clone_op(first, &mut map);
    let results = case.ir.results(first).to_vec();
    case.ir.set_operands(second, &results);
    let turns = case.ir.int_attr(turns);
    case.ir.set_attr(second, "turns", turns);
    case.ir.insert_after(first, second);
    let others = case.ir.results(second).to_vec();
    for (&one, other) in results.iter().zip(others) {
        case.ir.replace_uses_if(one, other, |ir, slot| {
            ir.use_owner(slot).0 != second && source.chance(1, 2)
        });
    }
    second
}

/// Gives some later uses of a value the last result of a loop, which is the value negated so many times.
fn take_negated(case: &mut Case, source: &mut Source, value: Value, made: Op, times: i64) {
    let Some(&last) = case.ir.results(made).last() else {
        return;
    };
    let all = ops(case);
    let later = all.iter().skip_while(|&&op| op != made).skip(1);
    let later: Vec<Op> = later.copied().chain(terminator(case)).collect();
    let same = match times % 2 {
        0 => last,
        _ => match Builder::after(&mut case.ir, made).unary(&fusion::NEG, last) {
            Ok(same) => same,
            Err(_) => return,
        },
    };
    if case.ir.value_type(same) != case.ir.value_type(value) {
        return;
    }
    case.ir.replace_uses_if(value, same, |ir, slot| {
        let user = ir.use_owner(slot).0;
        !ir.is(user, &task::LOOP) && later.contains(&user) && source.chance(1, 2)
    });
}

/// Draws neighbouring ops whose values may cross the boundary of a program.
fn part(case: &Case, source: &mut Source) -> Option<Part> {
    let all = ops(case);
    if all.is_empty() {
        return None;
    }
    let first = source.index(all.len());
    let count = 1 + source.index(MAX_OPS.min(all.len() - first));
    let ops = all[first..first + count].to_vec();
    let ir = &case.ir;
    let (mut taken, mut given) = (Vec::new(), Vec::new());
    for &op in &ops {
        for value in ir.operands(op) {
            let outside = ir.def_op(value).is_none_or(|maker| !ops.contains(&maker));
            if outside && !taken.contains(&value) {
                taken.push(value);
            }
        }
        let used = |value: &&Value| ir.users(**value).any(|user| !ops.contains(&user));
        given.extend(ir.results(op).iter().filter(used));
    }
    let all_cross = taken.iter().chain(&given).all(|&value| crosses(ir, value));
    (all_cross && !given.is_empty()).then_some(Part { ops, taken, given })
}

/// True if a value may be an argument and a result of a program that a loop or a branch runs.
fn crosses(ir: &Ir, value: Value) -> bool {
    match ir.value_kind(value) {
        TypeKind::Tensor(tensor) => {
            let plain = !tensor.dtype.is_complex() && tensor.dtype != DType::F4E2M1FN;
            let mut dims = tensor.dims.iter();
            plain && dims.all(|dim| !dim.broadcast && dim.extent != Extent::Unknown)
        }
        TypeKind::Scalar(dtype) => *dtype != DType::Index && !dtype.is_complex(),
        _ => false,
    }
}

/// Tensors of floats that were there before a part and are used after it.
fn passing(case: &Case, part: &Part) -> Vec<Value> {
    let all = ops(case);
    let before: Vec<Op> = all
        .iter()
        .take_while(|&op| !part.ops.contains(op))
        .copied()
        .collect();
    let after = all.iter().skip(before.len() + part.ops.len());
    let after: Vec<Op> = after.copied().chain(terminator(case)).collect();
    let ir = &case.ir;
    let mut values = body(case).map_or(Vec::new(), |body| ir.args(body).to_vec());
    values.extend(before.iter().flat_map(|&op| ir.results(op)));
    values.retain(|&value| {
        let dtype = tensor(ir, value).map(|tensor| tensor.dtype);
        let floats = matches!(
            dtype,
            Some(DType::F64 | DType::F32 | DType::F16 | DType::BF16)
        );
        floats && crosses(ir, value) && ir.users(value).any(|user| after.contains(&user))
    });
    values
}

/// Adds a program that computes the part from its values, behind `carried` values that it passes over, and negates a
/// further value; its symbol.
fn program(case: &mut Case, part: &Part, carried: &[Value], negated: Option<Value>) -> String {
    let ir = &mut case.ir;
    let block_of = ir.new_region();
    let block = ir.append_block(block_of);
    let mut map = Mapping::default();
    let mut inputs: Vec<TypeId> = Vec::new();
    for &value in part.taken.iter().chain(carried) {
        let ty = ir.value_type(value);
        inputs.push(ty);
        let argument = ir.append_arg(block, ty, None);
        // What is carried is computed anew.
        if !part.given.contains(&value) {
            map.insert(value, argument);
        }
    }
    for &op in &part.ops {
        let copy = ir.clone_op(op, &mut map);
        ir.append_op(block, copy);
    }
    let negated = negated.map(|value| {
        let ty = ir.value_type(value);
        inputs.push(ty);
        let operand = ir.append_arg(block, ty, None);
        let new = NewOp {
            operands: [operand].into_iter().collect(),
            results: [(ty, None)].into_iter().collect(),
            ..NewOp::default()
        };
        let negated = ir.create_op(&fusion::NEG, new);
        ir.append_op(block, negated);
        ir.result(negated, 0)
    });
    let mut results: Vec<Value> = match carried.is_empty() {
        true => Vec::new(),
        false => ir.args(block)[..part.taken.len()].to_vec(),
    };
    results.extend(part.given.iter().map(|&value| map.get(value)));
    results.extend(negated);
    let outputs: Vec<TypeId> = results.iter().map(|&value| ir.value_type(value)).collect();
    let end = ir.create_op(
        &task::RETURN,
        NewOp {
            operands: results.into_iter().collect(),
            ..NewOp::default()
        },
    );
    ir.append_op(block, end);
    let function = ir.function_type(inputs, outputs);
    let function = ir.attr(AttrKind::Type(function));
    let count = ir.children(case.module).len();
    let symbol = format!("part_{count}");
    let name = ir.string_attr(&symbol);
    let attrs = [("function_type", function), ("sym_name", name)];
    let attrs = attrs.map(|(clause, attr)| (ir.sym(clause), attr));
    let new = NewOp {
        attrs: attrs.into_iter().collect(),
        regions: [block_of].into_iter().collect(),
        ..NewOp::default()
    };
    let program = ir.create_op(&task::PROGRAM, new);
    if let Some(modules) = ir.body(case.module, 0) {
        ir.append_op(modules, program);
    }
    symbol
}

/// A tensor of zeros of the type of a value, in front of an op.
fn zeros(case: &mut Case, before: Op, value: Value) -> Option<Value> {
    let ty = case.ir.value_type(value);
    let kind = case.ir.value_kind(value).clone();
    let dtype = kind.dtype()?;
    let mut builder = Builder::before(&mut case.ir, before);
    let scalar = builder.ir.scalar(dtype);
    let zero = match dtype.is_float() {
        true => builder.constant_float(0.0, scalar).ok()?,
        false => builder.constant_int(0, scalar).ok()?,
    };
    let TypeKind::Tensor(tensor) = kind else {
        return Some(zero);
    };
    let shape = builder.shape("shape", &tensor.dims);
    builder.typed(&fusion::FULL, &[zero], &[shape], ty).ok()
}

/// Puts an op that runs programs in place of a part; its results from number `skipped` on are those of the part. `None`
/// if the op does not verify.
fn replace(
    case: &mut Case,
    part: &Part,
    def: &'static fuser_ir::def::OpDef,
    operands: &[Value],
    programs: &[(&str, String)],
    turns: Option<i64>,
    skipped: usize,
) -> Option<Op> {
    let ir = &mut case.ir;
    let mut clauses = Vec::new();
    if let Some(turns) = turns {
        clauses.push(("turns", ir.int_attr(turns)));
    }
    for (clause, symbol) in programs {
        let symbol = ir.sym(symbol);
        clauses.push((*clause, ir.attr(AttrKind::SymbolRef(vec![symbol]))));
    }
    let types: Vec<TypeId> = match skipped {
        0 => part
            .given
            .iter()
            .map(|&value| ir.value_type(value))
            .collect(),
        _ => operands.iter().map(|&value| ir.value_type(value)).collect(),
    };
    let built = Builder::before(ir, part.ops[0]).build(def, operands, &clauses, &[], Some(&types));
    let made = built.ok()?;
    let results = ir.results(made)[skipped..].to_vec();
    for (&old, new) in part.given.iter().zip(results) {
        ir.replace_all_uses(old, new);
    }
    erase(ir, &part.ops);
    Some(made)
}

/// True if a case has programs besides its own.
pub fn has_programs(case: &Case) -> bool {
    let programs = case.ir.children(case.module).into_iter();
    programs
        .filter(|&op| case.ir.is(op, &task::PROGRAM))
        .count()
        > 1
        && body(case).is_some()
}
