//! Replaces groups of ops by a single op that an executor can run.
//!
//! ```text
//! %p = fusion.broadcast %a dims [0, 1] shape [64, 16, 32]
//! %q = fusion.broadcast %b dims [1, 2] shape [64, 16, 32]
//! %m = fusion.mul %p, %q
//! %y = fusion.sum %m dims [1]                                  =>     %y = fusion.matmul %a, %b
//! ```
//!
//! `recognize_patterns/table.rs` describes the ops that form each pattern, `recognize_patterns/matching.rs` finds them.
//! There are two clients: the pass `recognize-patterns` searches all ops of a program, and `decompose` searches inside
//! a `task.pattern` with a known name. Neither trusts a name, and both create the op only if an executor accepts it.
//!
//! The new op computes entirely in the accumulating type, within its own error bound. A result can therefore differ by
//! the sum of both bounds. Ops with roundings to 16 bits in between are not recognized unless `drop-roundings` is set,
//! because a rounding is part of the program's meaning. Attention yields 0 if all scores of a row are `-inf`, where an
//! unguarded softmax yields NaN. For these reasons recognition happens only on request.

mod matching;
mod table;

use fuser_analysis::axes::value_text;
use fuser_analysis::cost::is_call;
use fuser_analysis::executors;
use fuser_analysis::executors::Decision;
use fuser_analysis::targets::{SHAPE, TARGET};
use fuser_dialects::task::labels;
use fuser_ir::build::Builder;
use fuser_ir::check::same_but_layout;
use fuser_ir::def::{Computes, OpClass};
use fuser_ir::{Ir, Op, Traits, Value};
use fuser_pass::{OptionDef, OptionKind, PassContext, PassDef, Remark, RemarkKind, StatDef};
use rustc_hash::FxHashSet;

use crate::decompose::EXPLAIN_EARLIER;
use crate::decompose::call::Goal;
use matching::{Found, Search};
use table::{ROWS, Row, is_a_choice, scales_exactly};

/// The permission to leave out roundings.
pub const DROP_ROUNDINGS: OptionDef = OptionDef {
    name: "drop-roundings",
    kind: OptionKind::Bool,
    default: "false",
    doc: "leave out the roundings to 16 bits that the ops of a pattern have and its op has not",
};

/// `recognize-patterns`
pub static RECOGNIZE_PATTERNS: PassDef = PassDef {
    name: "recognize-patterns",
    summary: "puts products and attention in the place of the ops that they are made of",
    doc: "Finds the ops that an executor knows as a whole and puts `fusion.sdpa`, `fusion.linear` or `fusion.matmul` in their place, with the \
          operands permuted and repeated as the op wants them. Only where an executor takes it (`executors`), and where nothing else reads a \
          value in between. Results change within the bounds of the op and of its ops. The op has no roundings to 16 bits in between: ops that have \
          stay, unless `drop-roundings` allows to leave them out. A row of attention whose scores are all `-inf` is 0, where a softmax without a guard gives NaN. A number of at most `-1e4` that a mask puts in the \
          place of scores leaves keys out as long as all other scores are above half of it. So it runs only by name. `--explain` tells \
          what was recognized, and why a near miss was not.",
    anchor: &["task.program"],
    options: &[TARGET, SHAPE, executors::OPTION, DROP_ROUNDINGS],
    statistics: &[
        StatDef {
            name: "recognized",
            doc: "ops put in the place of others",
        },
        StatDef {
            name: "looked-at",
            doc: "forms that were held against an op, and ops between them: the work",
        },
    ],
    run: |ctx| {
        let goal = Goal::of(ctx)?;
        let (mut told, mut reasons) = (String::new(), FxHashSet::default());
        let body = ctx.ir.body(ctx.op, 0);
        let ops = body.map_or_else(Vec::new, |body| ctx.ir.block_ops(body).collect());
        // From the last one on: what is greater comes before its parts.
        for op in ops.into_iter().rev() {
            if ctx.ir.is_erased(op) {
                continue;
            }
            let place = ctx.place(op);
            let mut looked = 0;
            let outcomes = recognized(ctx.ir, op, &goal, &mut looked);
            ctx.count("looked-at", looked);
            for (kind, line) in outcomes {
                // Several ops of one near miss have the same reason.
                let reason = line.split_once(": ").map_or("", |(_, why)| why);
                if kind == RemarkKind::Missed && !reasons.insert(reason.to_owned()) {
                    continue;
                }
                ctx.count("recognized", u64::from(kind == RemarkKind::Passed));
                told += &format!("{line}\n");
                ctx.remark(Remark::new(kind, "Pattern", place.clone(), line));
            }
        }
        if !told.is_empty() && ctx.wants_file("explain") {
            ctx.emit_file(EXPLAIN_EARLIER, told);
        }
        Ok(())
    },
    ..PassDef::EMPTY
};

/// Puts the op of the first row that fits in the place of `op`; tells that, and the near misses before.
fn recognized(ir: &mut Ir, op: Op, goal: &Goal, looked: &mut u64) -> Vec<(RemarkKind, String)> {
    let mut told = Vec::new();
    let Some(&result) = ir.results(op).first() else {
        return told;
    };
    let value = value_text(ir, result);
    for row in ROWS {
        match claimed(ir, op, row, goal, looked) {
            Ok(()) => {
                told.push((
                    RemarkKind::Passed,
                    format!("recognized {value}: {}", row.name),
                ));
                break;
            }
            Err(Missed::Other(why) | Missed::Refused(why)) => told.push((
                RemarkKind::Missed,
                format!("no {} at {value}: {why}", row.name),
            )),
            Err(Missed::Nothing) => {}
        }
    }
    told
}

/// A reason that ops stay as they are.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Missed {
    /// They are nothing like the ops of a row.
    Nothing,
    /// They are nearly those.
    Other(String),
    /// They are those, and no executor takes the op.
    Refused(String),
}

impl From<Option<String>> for Missed {
    fn from(why: Option<String>) -> Self {
        why.map_or(Self::Nothing, Self::Other)
    }
}

/// Replaces the ops of each pattern in `ctx.op` that has a known name by the op of that name. If the ops do not match
/// the name, or no executor accepts the op, the original ops stay, without a boundary around them.
pub(crate) fn claim(ctx: &mut PassContext<'_>, goal: &Goal, told: &mut String) {
    let is_known = |name: &str| ROWS.iter().any(|row| row.names.contains(&name));
    labels::note_known(ctx.ir, ctx.op, is_known);
    for set in labels::sets(ctx.ir, ctx.op) {
        let rows = ROWS.iter().filter(|row| row.names.contains(&&*set.name));
        let rows: Vec<&Row> = rows.collect();
        let ops = set.ops.iter().copied();
        let ops: Vec<Op> = ops.filter(|&op| !ctx.ir.is_erased(op)).collect();
        let Some(&last) = ops.last().filter(|_| !rows.is_empty()) else {
            continue;
        };
        let place = ctx.place(last);
        let value = value_text(ctx.ir, ctx.ir.result(last, 0));
        let mut missed = Missed::Nothing;
        let mut ways = rows
            .iter()
            .flat_map(|row| ops.iter().rev().map(move |&op| (*row, op)));
        let is_taken = ways.any(|(row, op)| match claimed(ctx.ir, op, row, goal, &mut 0) {
            Ok(()) => true,
            Err(why) => {
                if missed == Missed::Nothing {
                    missed = why;
                }
                false
            }
        });
        let is_whole = |op: &Op| rows.iter().any(|row| ctx.ir.is(*op, row.op));
        if missed == Missed::Nothing && !is_taken && ops.iter().any(is_whole) {
            continue;
        }
        let (kind, why) = match (is_taken, missed) {
            (true, _) => (RemarkKind::Passed, "taken".into()),
            (_, Missed::Refused(why)) => (RemarkKind::Missed, format!("its own ops; {why}")),
            (_, Missed::Other(why)) => (RemarkKind::Missed, format!("its own ops; broken: {why}")),
            (_, Missed::Nothing) => {
                let why = format!("its own ops; broken: they are not those of {}", set.name);
                (RemarkKind::Missed, why)
            }
        };
        let line = format!("pattern @{} {value}: {why}", set.name);
        ctx.count("patterns", is_taken.into());
        *told += &format!("{line}\n");
        ctx.remark(Remark::new(kind, "Pattern", place, line));
    }
}

/// Replaces `root` by the op of `row`, if `root` matches and an executor accepts the op. Otherwise nothing changes, and
/// a near miss returns its reason. `looked` counts the work so far.
fn claimed(ir: &mut Ir, root: Op, row: &Row, goal: &Goal, looked: &mut u64) -> Result<(), Missed> {
    let found = found(ir, root, row, looked)?;
    let before = ir.prev_op(root);
    let mut builder = Builder::before(ir, root);
    let made = (row.make)(&mut builder, root, &found);
    let taken = made.map_err(Missed::from).and_then(|value| {
        unshared(ir, root, &found)?;
        if !goal.drops_roundings() {
            unrounded(ir, root, &found)?;
        }
        taken(ir, root, (before, value), goal).map(|()| value)
    });
    let value = match taken {
        Ok(value) => value,
        Err(missed) => {
            while let Some(op) = ir.prev_op(root).filter(|&op| Some(op) != before) {
                ir.erase(op);
            }
            return Err(missed);
        }
    };
    labels::inherit(ir, before, root);
    let result = ir.result(root, 0);
    let (ty, name) = (ir.value_type(result), ir.value_name_sym(result));
    ir.set_value_type(value, ty);
    ir.set_value_name(value, name);
    ir.replace_all_uses(result, value);
    erase_dead(ir, root);
    Ok(())
}

/// The ops of `row` that end in `root`.
fn found(ir: &Ir, root: Op, row: &Row, looked: &mut u64) -> Result<Found, Option<String>> {
    let (mut search, at) = Search::of(ir, root)
        .filter(|_| may_end(ir, root))
        .ok_or(None)?;
    let is_it = search.matches(row.term, &at);
    *looked += search.looked;
    match is_it {
        true => Ok(search.found),
        false => Err(search.near_miss()),
    }
}

/// An error where something else reads a value in between.
fn unshared(ir: &Ir, root: Op, found: &Found) -> Result<(), Option<String>> {
    for &op in found.inner.iter().filter(|&&op| op != root) {
        let mut readers = ir.results(op).iter().flat_map(|&value| ir.users(value));
        if readers.any(|user| !found.inner.contains(&user)) {
            let value = value_text(ir, ir.result(op, 0));
            return Err(Some(format!("{value} is read by other ops too")));
        }
    }
    Ok(())
}

/// An error where an op in between rounds to a narrower type than the one that accumulates.
fn unrounded(ir: &Ir, root: Op, found: &Found) -> Result<(), Option<String>> {
    let all = found.inner.iter().chain(&found.beside);
    for &op in all.filter(|&&op| op != root) {
        let dtype = |value: Value| ir.value_kind(value).dtype();
        let narrow = |&value: &Value| {
            dtype(value).filter(|dtype| dtype.is_float() && *dtype != dtype.accumulate())
        };
        let Some(to) = ir.results(op).first().and_then(narrow) else {
            continue;
        };
        let class = ir.def(op).map(|def| def.class);
        let rounds = match ir.computes(op) {
            Some(Computes::Cast) => {
                dtype(ir.operand(op, 0)).is_some_and(|own| own.bits() > to.bits())
            }
            _ => class != Some(OpClass::Shape) && !is_a_choice(ir, op),
        };
        if rounds && !scales_exactly(ir, op, to) {
            let value = value_text(ir, ir.result(op, 0));
            let text = format!(
                "{value} is rounded to {}, which the op does not do",
                to.name()
            );
            return Err(Some(text));
        }
    }
    Ok(())
}

/// False for an op that only passes on computed values, and for an op that is already recognized.
fn may_end(ir: &Ir, root: Op) -> bool {
    let class = ir.def(root).map(|def| def.class);
    let dtype = |value: Value| ir.value_kind(value).dtype().map_or(0, |dtype| dtype.bits());
    let widens = ir.computes(root) == Some(Computes::Cast)
        && dtype(ir.result(root, 0)) >= dtype(ir.operand(root, 0));
    !matches!(class, None | Some(OpClass::Shape | OpClass::Attention)) && !widens
}

/// An error if no executor accepts the ops created between `before` and `root`, whose result is `value`.
fn taken(
    ir: &Ir,
    root: Op,
    (before, value): (Option<Op>, Value),
    goal: &Goal,
) -> Result<(), Missed> {
    let result = ir.result(root, 0);
    if !same_but_layout(ir, ir.value_type(value), ir.value_type(result)) {
        return Err(Missed::Other(
            "the type of its result is another one".into(),
        ));
    }
    let mut made = ir.prev_op(root);
    while let Some(op) = made.filter(|&op| Some(op) != before) {
        if is_call(ir, op) {
            let decision = goal.decision(ir, op).ok_or(Missed::Nothing)?;
            return match decision.by {
                Some(_) => Ok(()),
                None => Err(Missed::Refused(refusals(&decision))),
            };
        }
        made = ir.prev_op(op);
    }
    Err(Missed::Nothing)
}

fn refusals(decision: &Decision) -> String {
    let refused = decision.refused.iter();
    let refused: Vec<String> = refused
        .map(|(name, why)| format!("{name}: {}", why.render()))
        .collect();
    refused.join("; ")
}

/// Erases `op`, whose results nothing reads, and what only it needed.
fn erase_dead(ir: &mut Ir, op: Op) {
    let mut waiting = vec![op];
    while let Some(op) = waiting.pop() {
        let is_dead = !ir.is_erased(op) && ir.results(op).iter().all(|&value| ir.is_unused(value));
        if is_dead && ir.has(op, Traits::PURE) {
            let operands: Vec<Value> = ir.operands(op).collect();
            ir.erase(op);
            waiting.extend(operands.into_iter().filter_map(|value| ir.def_op(value)));
        }
    }
}
