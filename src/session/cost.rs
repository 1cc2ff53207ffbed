//! The number of element operations that a program needs, computed from its shapes before it runs.
//!
//! An op costs one operation for each element that it computes; a reduction, a product or a sort one for each element
//! that it iterates over. Elements stored once are computed once, but iterated over as often as the extent says. The
//! number gives only the magnitude: it distinguishes seconds from years.

use std::collections::{BTreeMap, HashMap};

use fuser_dialects::fusion;
use fuser_dialects::task::{self, calls};
use fuser_ir::def::OpClass;
use fuser_ir::types::{Dim, Extent};
use fuser_ir::{Diagnostic, Ir, Op, Value};

use super::SessionError;
use super::error::one;

/// The default limit on element operations of a run: hours on a fast machine.
pub const MOST: u64 = 1 << 48;

/// The least ratio of the interpreter's time to that of compiled code.
pub const INTERPRETED: u64 = 1 << 8;

fuser_ir::codes! {
    /// A program that would run for years.
    WORK = "FIR1009", "the program needs more element operations than it may",
        "What a program computes is known from its shapes before it starts: one operation for each element of a result, and for each element \
         that a reduction, a product or a sort walks over. `--limit-operations` of `fuser-run` says how many there may be, 2^48 where it is not \
         given, which takes hours. The interpreter, of `--device=interp` and of `--check`, may do one for each 256 of them.",
        fuser_pass::example!("fuser-run x.fir --limit-operations=1");
}

/// The operations that a program needs. A program that exceeds `most` is refused, at its most expensive op.
pub fn check(
    ir: &Ir,
    program: Op,
    extents: &BTreeMap<String, i64>,
    most: u64,
) -> Result<u128, SessionError> {
    let mut known = HashMap::new();
    let ops = ir.walk(program).into_iter();
    let costs: Vec<(u128, Op)> = ops
        .map(|op| (work(ir, op, extents, &mut known), op))
        .collect();
    let sum = costs
        .iter()
        .fold(0u128, |sum, (cost, _)| sum.saturating_add(*cost));
    if sum <= u128::from(most) {
        return Ok(sum);
    }
    // Of equal ones the first.
    let worst = costs.iter().rev().max_by_key(|(cost, _)| *cost);
    let worst = worst.map_or(program, |(_, op)| *op);
    let place = fuser_pass::place_of(ir, worst);
    let text = format!(
        "the program needs {sum} element operations, the limit is {most}; most of them are of `{}`",
        ir.name(worst)
    );
    let error = Diagnostic::error(&WORK, place, text).with_op(ir.name(worst).to_owned());
    Err(one(
        error.help("`--limit-operations=N` of fuser-run sets the limit")
    ))
}

/// The operations of an op. A loop counts its programs once for each turn, or once if the number of turns depends on
/// data. A branch counts the side that takes more.
fn work(ir: &Ir, op: Op, extents: &BTreeMap<String, i64>, known: &mut HashMap<Op, u128>) -> u128 {
    if !calls::runs_programs(ir, op) {
        return operations(ir, op, extents);
    }
    let turns = ir.int_of(op, "turns").unwrap_or(1).max(0) as u128;
    let mut sum = 0u128;
    for program in calls::CALLEES.map(|clause| calls::callee(ir, op, clause)) {
        let Some(program) = program else { continue };
        // Loops lie in each other to a limit.
        let own = match known.get(&program) {
            Some(&own) => own,
            None => {
                let ops = ir.walk(program).into_iter();
                let own = ops.map(|op| work(ir, op, extents, known));
                let own = own.fold(0, u128::saturating_add);
                known.insert(program, own);
                own
            }
        };
        sum = match ir.is(op, &task::IF) {
            true => sum.max(own),
            false => sum.saturating_add(own),
        };
    }
    sum.saturating_mul(turns)
}

fn operations(ir: &Ir, op: Op, extents: &BTreeMap<String, i64>) -> u128 {
    let Some(def) = ir.def(op).filter(|def| def.name.starts_with("fusion.")) else {
        return 0;
    };
    let of = |value: Option<Value>| Shape::of(ir, value, extents);
    let operand = |at: usize| of(ir.operands(op).nth(at));
    let results = ir.results(op).iter().map(|v| of(Some(*v)).stored(&[]));
    let made = results.fold(0u128, u128::saturating_add);
    match def.class {
        OpClass::Reduction | OpClass::Scan => {
            let mut axes: Vec<i64> = ir.i64s_of(op, "dims").unwrap_or(&[]).to_vec();
            axes.extend(ir.int_of(op, "dim"));
            operand(0).stored(&axes)
        }
        OpClass::Contraction => made.saturating_mul(operand(0).last(1)),
        OpClass::Convolution => {
            let features = fusion::convolution::front(ir, op) - 1;
            let taken = operand(1).0.into_iter().skip(features);
            taken.fold(made, |all, (length, _)| all.saturating_mul(length))
        }
        OpClass::Attention => made.saturating_mul(operand(1).last(2)),
        OpClass::Sort => {
            let elements = operand(0).stored(&[]);
            elements.saturating_mul(u128::from(elements.max(2).ilog2()))
        }
        OpClass::Routine => {
            // Each step of a factorization passes over the matrix.
            let elements = operand(0).stored(&[]).saturating_add(made);
            elements.saturating_mul(operand(0).last(1).max(1))
        }
        OpClass::Scatter => made.saturating_add(operand(2).stored(&[])),
        _ => made,
    }
}

/// The axes of a value: extents, and whether they are stored once.
struct Shape(Vec<(u128, bool)>);

impl Shape {
    fn of(ir: &Ir, value: Option<Value>, extents: &BTreeMap<String, i64>) -> Self {
        let tensor = value.and_then(|v| ir.ty(ir.value_type(v)).as_tensor());
        let dims = tensor.map_or(&[][..], |tensor| &tensor.dims);
        let axis = |dim: &Dim| (length(ir, dim.extent, extents), dim.broadcast);
        Self(dims.iter().map(axis).collect())
    }
    /// The elements that are stored, those of the axes `walked` all being so.
    fn stored(&self, walked: &[i64]) -> u128 {
        if self.0.iter().any(|(length, _)| *length == 0) {
            return 0;
        }
        let axes = self.0.iter().enumerate();
        let lengths = axes.map(|(at, (length, once))| match once {
            true if !walked.contains(&(at as i64)) => 1,
            _ => *length,
        });
        lengths.fold(1, u128::saturating_mul)
    }
    /// The length of an axis, counted from behind.
    fn last(&self, at: usize) -> u128 {
        let from = self.0.len().checked_sub(at);
        from.and_then(|at| self.0.get(at)).map_or(1, |axis| axis.0)
    }
}

/// The value of an extent, 1 where it is not known.
fn length(ir: &Ir, extent: Extent, extents: &BTreeMap<String, i64>) -> u128 {
    let id = match extent {
        Extent::Static(n) => return n.into(),
        Extent::Symbolic(id) => id,
        Extent::Unknown => return 1,
    };
    let terms = ir.extent_expr(id).terms.iter().map(|(names, factor)| {
        let lengths = names
            .iter()
            .map(|name| extents.get(ir.str(*name)).copied().unwrap_or(1));
        lengths.fold(i128::from(*factor), |product, n| {
            product.saturating_mul(n.into())
        })
    });
    let sum: i128 = terms.fold(0, i128::saturating_add);
    sum.try_into().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needed(text: &str, b: i64) -> u128 {
        let mut ir = Ir::new(fuser_dialects::registry());
        let parsed = fuser_ir::parse::parse_str(&mut ir, text);
        assert!(!parsed.diagnostics.has_errors(), "{:?}", parsed.diagnostics);
        let extents = [("B".to_owned(), b)].into();
        let ops = ir.walk(parsed.module.unwrap()).into_iter();
        ops.map(|op| operations(&ir, op, &extents)).sum()
    }

    #[test]
    fn operations_follow_from_shapes() {
        let text = "task.program @f(%x: tensor<[B]x4xf32>, %w: tensor<4x8xf32>) -> (tensor<[B]x8xf32>, tensor<f32>) {\n\
                    %p = fusion.matmul %x, %w\n%e = fusion.exp %p\n\
                    %s = fusion.sum %w dims [0, 1]\ntask.return %e, %s\n}";
        assert_eq!(needed(text, 3), 3 * 8 * 4 + 3 * 8 + 32);
        assert_eq!(needed(text, 0), 32);
        // What is stored once is made once, and added as often as its extent says.
        let text = "task.program @f(%x: f32) -> (tensor<b1024xf32>, tensor<f32>) {\n\
                    %b = fusion.broadcast %x dims [] shape [1024]\n%n = fusion.neg %b\n\
                    %s = fusion.sum %n dims [0]\ntask.return %n, %s\n}";
        assert_eq!(needed(text, 0), 1 + 1 + 1024);
    }
}
