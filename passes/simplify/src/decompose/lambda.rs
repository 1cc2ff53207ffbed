//! A fold with a lambda, by the scan of which it is the last step.
//!
//! ```text
//! %s, %n = fusion.fold %x dim 1 init [0.0, 0] { ... }
//!   =>
//! %a, %b = fusion.scan %x dim 1 init [0.0, 0] { ... }
//! %s     = fusion.last %a dim 1 otherwise 0.0
//! %n     = fusion.last %b dim 1 otherwise 0
//! ```
//!
//! Both are of one walk: what the scan hands on is in registers, and no step of it is written.
//!
//! A fold that associates, along a long axis with too little beside it to occupy workers, is taken in parts, in their order:
//!
//! ```text
//! %s = fusion.fold %x dim 0 init [0] associative { ... }     // of 65536
//!   =>
//! %p = fusion.reshape %x shape [64, 1024]
//! %q = fusion.fold %p dim 1 init [0] { ... }
//! %s = fusion.fold %q dim 0 init [0] { ... }
//! ```
//!
//! A lambda associates that is declared to and rounds nothing: sums of floats are not associative to the bit, the greatest of them is.

use fuser_dialects::fusion::build::Built;
use fuser_dialects::fusion::lambda::{copies, init, lambda};
use fuser_dialects::fusion::{self, fold::constants};
use fuser_ir::build::Builder;
use fuser_ir::def::{Computes, OpError};
use fuser_ir::{AttrId, DType, Ir, Op, OpDef, TypeId, Value};
use rustc_hash::FxHashMap;

use super::Parts;
use super::scan::Cut;

/// The shortest axis that is taken in parts.
const LONG: u64 = 1 << 14;
/// The maximum number of parts of an axis. With as many lines beside the axis, the workers are busy without a split.
const MOST_PARTS: u64 = 64;
/// The fewest parts that are worth a second walk.
const FEWEST_PARTS: u64 = 4;

/// The functions whose floats are exact: operands of theirs.
const EXACT: [Computes; 6] = [
    Computes::Constant,
    Computes::Max,
    Computes::Min,
    Computes::MaxNum,
    Computes::MinNum,
    Computes::Choice,
];

/// `fusion.fold`
pub fn fold(ir: &mut Ir, op: Op) -> Parts {
    let missing = || OpError::new("it has no lambda");
    lambda(ir, op).ok_or_else(missing)?;
    match parts(ir, op) {
        Some(cut) => in_parts(ir, op, &cut),
        None => last_step(ir, op),
    }
}

/// The split of an associative fold whose axis is long and which has few lines beside it.
fn parts(ir: &Ir, op: Op) -> Option<Cut> {
    let mut cut = Cut::uncut(ir, op).filter(|_| associates(ir, op))?;
    let mut counts = (FEWEST_PARTS..=MOST_PARTS).rev();
    cut.parts = counts.find(|&n| cut.length.is_multiple_of(n))?;
    (cut.length >= LONG && cut.lines()? < MOST_PARTS).then_some(cut)
}

/// The fold of each part, and then of these.
pub fn in_parts(ir: &mut Ir, op: Op, cut: &Cut) -> Parts {
    let operands: Vec<Value> = ir.operands(op).collect();
    let mut b = Builder::before(ir, op);
    let parts = cut.reshaped(&mut b, &operands)?;
    let axis = cut.axis as i64;
    let totals = compose(&mut b, op, &fusion::FOLD, &parts, (axis + 1, false))?;
    compose(&mut b, op, &fusion::FOLD, &totals, (axis, false))
}

/// True for a fold or a scan whose elements may be put together in groups, to the bit: its lambda is declared associative, and no op of it rounds.
pub fn associates(ir: &Ir, op: Op) -> bool {
    let Some((body, _)) = lambda(ir, op).filter(|_| ir.get_attr(op, "associative").is_some())
    else {
        return false;
    };
    let float = |&value: &Value| ir.value_kind(value).dtype().is_some_and(DType::is_float);
    let exact = |inner: Op| {
        ir.computes(inner)
            .is_some_and(|computes| EXACT.contains(&computes))
    };
    let rounds = |inner: Op| ir.results(inner).iter().any(float) && !exact(inner);
    !ir.block_ops(body).any(rounds)
}

/// A fold or a scan of `values` along an axis by the lambda of `op`, which may stay associative where that is.
pub fn compose(
    b: &mut Builder<'_>,
    op: Op,
    def: &'static OpDef,
    values: &[Value],
    (axis, associative): (i64, bool),
) -> Parts {
    let init = b.ir.get_attr(op, "init");
    let init = init.ok_or_else(|| OpError::new("it has no `init`"))?;
    let regions = copies(b.ir, op);
    let mut clauses = vec![b.int("dim", axis), ("init", init)];
    let declared = b.ir.get_attr(op, "associative").filter(|_| associative);
    clauses.extend(declared.map(|unit| ("associative", unit)));
    let made = b.build(def, values, &clauses, &regions, None)?;
    Ok(b.ir.results(made).to_vec())
}

/// The values that the lambda of `op` yields for whole tensors.
pub fn apply(b: &mut Builder<'_>, op: Op, arguments: Vec<Value>) -> Parts {
    let missing = || OpError::new("it has no lambda");
    let (body, _) = lambda(b.ir, op).ok_or_else(missing)?;
    let parameters = b.ir.args(body).iter().copied();
    let mut values: FxHashMap<Value, Value> = parameters.zip(arguments).collect();
    for inner in b.ir.block_ops(body).collect::<Vec<_>>() {
        let operands = b.ir.operands(inner).filter_map(|v| values.get(&v).copied());
        let operands: Vec<Value> = operands.collect();
        if Some(inner) == b.ir.terminator(body) {
            return Ok(operands);
        }
        let def = b.ir.def(inner).ok_or_else(missing)?;
        let attrs = b.ir.attrs(inner).to_vec();
        let names: Vec<_> = attrs
            .iter()
            .map(|&(name, _)| b.ir.str(name).to_owned())
            .collect();
        let clauses = names
            .iter()
            .map(String::as_str)
            .zip(attrs.iter().map(|&(_, attr)| attr));
        let clauses: Vec<_> = clauses.collect();
        // What has no operand has the type that is written.
        let stated: Vec<TypeId> =
            b.ir.results(inner)
                .iter()
                .map(|&v| b.ir.value_type(v))
                .collect();
        let stated = operands.is_empty().then_some(&stated[..]);
        let made = b.build(def, &operands, &clauses, &[], stated)?;
        let results = b.ir.results(made).to_vec();
        values.extend(b.ir.results(inner).to_vec().into_iter().zip(results));
    }
    Err(missing())
}

/// The last step of a scan.
fn last_step(ir: &mut Ir, op: Op) -> Parts {
    let numbers = init(ir, op);
    let operands: Vec<Value> = ir.operands(op).collect();
    let dim = ir.int_of(op, "dim").unwrap_or(0);

    let mut b = Builder::before(ir, op);
    let steps = compose(&mut b, op, &fusion::SCAN, &operands, (dim, true))?;
    let mut ends = Vec::new();
    for (step, number) in steps.into_iter().zip(numbers) {
        let otherwise = otherwise(b.ir, step, number)?;
        let clauses = [b.int("dim", dim), ("otherwise", otherwise)];
        ends.push(b.value(&fusion::LAST, &[step], &clauses)?);
    }
    Ok(ends)
}

/// A number of `init` as one of the elements of `step`.
fn otherwise(ir: &mut Ir, step: Value, number: AttrId) -> Result<AttrId, OpError> {
    let dtype = ir.value_kind(step).dtype();
    let dtype = dtype.ok_or_else(|| OpError::new("a step is no tensor"))?;
    as_element(ir, number, dtype)
}

fn as_element(ir: &mut Ir, number: AttrId, dtype: DType) -> Result<AttrId, OpError> {
    let unfit = || OpError::new("a number of `init` is no element");
    let number = constants::number(ir.attr_kind(number), dtype).ok_or_else(unfit)?;
    let ty = ir.scalar(dtype);
    Ok(constants::attribute(ir, number, ty))
}

/// A number of `init` as a constant.
pub fn number(b: &mut Builder<'_>, number: AttrId, dtype: DType) -> Built {
    let value = as_element(b.ir, number, dtype)?;
    let ty = b.ir.scalar(dtype);
    let made = b.build(
        &fusion::CONSTANT,
        &[],
        &[("value", value)],
        &[],
        Some(&[ty]),
    )?;
    Ok(b.ir.result(made, 0))
}
