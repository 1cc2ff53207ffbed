//! Changes that a miscompile could make: one op, operand, constant, axis or index of a program becomes another.
//!
//! Each change is a row of [`CHANGES`]. It works on a copy of the case, at an op that affects a result, and describes
//! itself in a few words. If the verifier refuses the changed program, another change is drawn. Inputs, results and
//! their types are unchanged, so that the changed program runs on the same inputs.
//!
//! Unlike the mutators of `mutate/`, which keep the meaning, these are meant to break it; many do not, and
//! [`effect`](super::effect) says which.

use std::collections::BTreeSet;

use fuser_dialects::fusion;
use fuser_ir::def::{ClauseDef, ClauseKind, OpClass, OpDef, Traits};
use fuser_ir::types::{Dim, ExtentExpr};
use fuser_ir::{AttrKind, Builder, DType, Ir, NewOp, Op, TypeId, Value, float};

use crate::Source;
use crate::generate::Case;
use crate::mutate::rewire::{body, ops, tensor, terminator};
use crate::oracle::verify;

/// Ops at which a kind of change is tried before another kind is drawn.
const TRIES: usize = 40;
/// Kinds that are drawn before a program counts as one that cannot be changed.
const DRAWS: usize = 40;

/// A kind of change.
#[derive(Clone, Copy)]
pub struct Change {
    /// As tables name it.
    pub name: &'static str,
    /// A few words on the new op.
    pub doc: &'static str,
    make: fn(&mut Site<'_>) -> Option<String>,
}

/// All kinds.
pub static CHANGES: &[Change] = &[
    Change {
        name: "op",
        doc: "another op of the same class, operands and clauses",
        make: other_op,
    },
    Change {
        name: "op lost",
        doc: "an operand of the result's type instead of the result",
        make: op_lost,
    },
    Change {
        name: "operand",
        doc: "another value of the same type as an operand",
        make: other_operand,
    },
    Change {
        name: "swap",
        doc: "two operands of one type exchanged, of an op that is not commutative",
        make: swapped,
    },
    Change {
        name: "constant",
        doc: "another sign, 1 % more, twice as much, one more, or zero; of a dense constant one element",
        make: other_constant,
    },
    Change {
        name: "axes",
        doc: "another axis, or two axes exchanged",
        make: other_axes,
    },
    Change {
        name: "index",
        doc: "a start, an amount, a shift or an index that is data, one more or one less",
        make: other_index,
    },
    Change {
        name: "rounding",
        doc: "a rounding to a narrower type added, or one dropped",
        make: other_rounding,
    },
    Change {
        name: "mask",
        doc: "a condition that always or never holds, or a bias of attention dropped",
        make: no_mask,
    },
    Change {
        name: "clause",
        doc: "a flag turned over (`causal`, `descending`), another word (`predicate`, `combine`)",
        make: other_clause,
    },
    Change {
        name: "term",
        doc: "a sum, another reduction or a product of matrices without the first or the last of its terms",
        make: less_terms,
    },
];

/// A changed program.
#[derive(Clone, Debug)]
pub struct Changed {
    /// The program, with the inputs of the one that it was made of.
    pub case: Case,
    /// The name of its [`Change`].
    pub kind: &'static str,
    /// The op and its change.
    pub what: String,
}

/// Changes a copy of `case` once, at random; `None` if nothing can be changed.
pub fn draw(case: &Case, source: &mut Source) -> Option<Changed> {
    let live = live(case);
    for _ in 0..DRAWS {
        let change = source.pick(CHANGES)?;
        let changed = (0..TRIES).find_map(|_| {
            let op = *source.pick(&live)?;
            let mut copy = case.clone();
            let told = told(&copy.ir, op, &live);
            let what = (change.make)(&mut Site {
                case: &mut copy,
                source,
                op,
            })?;
            let valid = verify::check(&mut copy.ir, copy.module, "").is_none();
            valid.then(|| (copy, format!("{told}: {what}")))
        });
        if let Some((case, what)) = changed {
            let kind = change.name;
            return Some(Changed { case, kind, what });
        }
    }
    None
}

/// The ops that affect a result, including those inside regions.
pub fn live(case: &Case) -> Vec<Op> {
    let ir = &case.ir;
    let returned = terminator(case).map(|op| ir.operands(op).collect());
    let mut used: BTreeSet<Value> = returned.unwrap_or_default();
    let mut live = Vec::new();
    for op in ops(case).into_iter().rev() {
        if !ir.results(op).iter().any(|result| used.contains(result)) {
            continue;
        }
        let inside = ir.walk(op);
        used.extend(inside.iter().flat_map(|op| ir.operands(*op)));
        live.extend(inside.into_iter().rev());
    }
    live.retain(|op| !ir.has(*op, Traits::TERMINATOR));
    live.reverse();
    live
}

/// The op by its name and its result's, or by its number among all.
fn told(ir: &Ir, op: Op, all: &[Op]) -> String {
    let result = ir.results(op).first().and_then(|v| ir.value_name(*v));
    let number = all.iter().position(|other| *other == op).unwrap_or(0);
    match result {
        Some(name) => format!("`%{name} = {}`", ir.name(op)),
        None => format!("`{}`, op {number}", ir.name(op)),
    }
}

/// The op that is changed, and the source of choices.
struct Site<'a> {
    case: &'a mut Case,
    source: &'a mut Source,
    op: Op,
}

impl Site<'_> {
    fn ir(&self) -> &Ir {
        &self.case.ir
    }
    fn def(&self) -> Option<&'static OpDef> {
        self.case.ir.def(self.op)
    }
    fn operands(&self) -> Vec<Value> {
        self.case.ir.operands(self.op).collect()
    }
    /// A clause that `wanted` allows to change, and its value.
    fn clause(&mut self, wanted: impl Fn(&ClauseDef) -> bool) -> Option<(&'static str, AttrKind)> {
        let clauses: Vec<&ClauseDef> = self.def()?.clauses.iter().filter(|c| wanted(c)).collect();
        let name = self.source.pick(&clauses)?.name;
        Some((name, self.ir().attr_of(self.op, name)?.clone()))
    }
    fn set(&mut self, name: &str, kind: AttrKind) {
        let attr = self.case.ir.attr(kind);
        self.case.ir.set_attr(self.op, name, attr);
    }
    /// Makes `value` by new ops after it, and redirects all other uses to their result; `None` if the types differ.
    fn replace(
        &mut self,
        value: Value,
        make: impl FnOnce(&mut Builder<'_>, Value) -> Option<Value>,
    ) -> Option<()> {
        let ir = &mut self.case.ir;
        let old: Vec<_> = ir.uses(value).collect();
        let made = make(&mut Builder::after(ir, self.op), value)?;
        if ir.value_type(made) != ir.value_type(value) {
            return None;
        }
        ir.replace_uses_if(value, made, |_, slot| old.contains(&slot));
        Some(())
    }
}

/// True if two ops take the same operands and clauses and give as many results.
fn alike(a: &OpDef, b: &OpDef) -> bool {
    let shape = |def: &OpDef| {
        let clauses: Vec<&str> = def.clauses.iter().map(|c| c.name).collect();
        let variadic = def.operands.last().is_some_and(|o| o.variadic);
        (def.operands.len(), variadic, def.results.len(), clauses)
    };
    a.class == b.class && a.regions.is_empty() && b.regions.is_empty() && shape(a) == shape(b)
}

fn other_op(site: &mut Site<'_>) -> Option<String> {
    let def = site.def()?;
    let others = fusion::DIALECT.ops.iter().copied();
    let others: Vec<&'static OpDef> = others
        .filter(|other| other.name != def.name && alike(def, other))
        .collect();
    let other = *site.source.pick(&others)?;
    let (op, ir) = (site.op, &mut site.case.ir);
    let results = ir.results(op).to_vec();
    let new = NewOp {
        operands: ir.operands(op).collect(),
        results: results
            .iter()
            .map(|v| (ir.value_type(*v), ir.value_name_sym(*v)))
            .collect(),
        attrs: ir.attrs(op).iter().copied().collect(),
        loc: Some(ir.op_loc(op)),
        ..NewOp::default()
    };
    let made = ir.create_op(other, new);
    ir.insert_before(op, made);
    for (index, result) in results.into_iter().enumerate() {
        let new = ir.result(made, index);
        ir.replace_all_uses(result, new);
    }
    ir.erase(op);
    Some(format!("`{}` instead", other.name))
}

fn op_lost(site: &mut Site<'_>) -> Option<String> {
    let &[result] = site.ir().results(site.op) else {
        return None;
    };
    let ty = site.ir().value_type(result);
    let operands = site.operands();
    let same = |index: &usize| site.case.ir.value_type(operands[*index]) == ty;
    let same: Vec<usize> = (0..operands.len()).filter(same).collect();
    let index = *site.source.pick(&same)?;
    site.case.ir.replace_all_uses(result, operands[index]);
    Some(format!("its operand {index} instead of its result"))
}

fn other_operand(site: &mut Site<'_>) -> Option<String> {
    let operands = site.operands();
    let index = site.source.index(operands.len());
    let old = *operands.get(index)?;
    let ty = site.ir().value_type(old);
    let mut values = site.ir().args(body(site.case)?).to_vec();
    let before = ops(site.case).into_iter().take_while(|op| *op != site.op);
    values.extend(before.flat_map(|op| site.case.ir.results(op)));
    values.retain(|value| *value != old && site.case.ir.value_type(*value) == ty);
    let new = *site.source.pick(&values)?;
    site.case.ir.set_operand(site.op, index, new);
    let name = site.ir().value_name(new).unwrap_or("another");
    Some(format!("operand {index} is {name}"))
}

fn swapped(site: &mut Site<'_>) -> Option<String> {
    if site.ir().has(site.op, Traits::COMMUTATIVE) {
        return None;
    }
    let mut operands = site.operands();
    let mut pair = || site.source.index(operands.len());
    let (a, b) = (pair(), pair());
    let (x, y) = (*operands.get(a)?, *operands.get(b)?);
    if x == y || site.ir().value_type(x) != site.ir().value_type(y) {
        return None;
    }
    operands.swap(a, b);
    site.case.ir.set_operands(site.op, &operands);
    Some(format!("operands {a} and {b} exchanged"))
}

fn other_constant(site: &mut Site<'_>) -> Option<String> {
    let number = |clause: &ClauseDef| {
        matches!(clause.kind, ClauseKind::Number | ClauseKind::Any) || clause.name == "correction"
    };
    let (name, old) = site.clause(number)?;
    let (new, what) = match old.clone() {
        AttrKind::Float { bits, ty } => {
            let (v, dtype) = (f64::from_bits(bits), site.ir().ty(ty).dtype()?);
            let new = site.source.one(&[-v, 1.01 * v, 2.0 * v, v + 1.0, 0.0]);
            let bits = float::nearest(dtype, new);
            (AttrKind::Float { bits, ty }, format!("{v:e} is {new:e}"))
        }
        AttrKind::Int { value, ty } => {
            let v = value;
            let value = site.source.one(&[-v, v + 1, v - 1, 2 * v, 0]);
            (AttrKind::Int { value, ty }, format!("{v} is {value}"))
        }
        AttrKind::Bool(v) => (AttrKind::Bool(!v), format!("{v} is {}", !v)),
        AttrKind::Dense {
            ty,
            dtype,
            splat,
            mut bytes,
        } => {
            let size = (dtype.bytes() as usize).max(1);
            let count = bytes.len() / size;
            let at = site.source.index(count) * size;
            let from = site.source.index(count) * size;
            let element = match site.source.chance(1, 2) {
                true => vec![0; size],
                false => bytes.get(from..from + size)?.to_vec(),
            };
            bytes.get_mut(at..at + size)?.copy_from_slice(&element);
            let new = AttrKind::Dense {
                ty,
                dtype,
                splat,
                bytes,
            };
            (new, format!("element {} is {element:?}", at / size))
        }
        _ => return None,
    };
    if new == old {
        return None;
    }
    site.set(name, new);
    Some(format!("`{name}`: {what}"))
}

fn other_axes(site: &mut Site<'_>) -> Option<String> {
    let (name, old) = site.clause(|clause| matches!(clause.name, "dim" | "dims"))?;
    let value = site.operands().first().copied();
    let value = value.or_else(|| site.ir().results(site.op).first().copied())?;
    let result = site.ir().results(site.op).first().copied()?;
    let rank = |value| tensor(site.ir(), value).map_or(0, |t| t.dims.len());
    let rank = rank(value).max(rank(result));
    let new = match old.clone() {
        AttrKind::I64Array(mut dims) => {
            let (a, b) = (site.source.index(dims.len()), site.source.index(dims.len()));
            match site.source.chance(1, 2) {
                true if dims.len() > 1 => dims.swap(a, b),
                _ => *dims.get_mut(a)? = site.source.index(rank) as i64,
            }
            AttrKind::I64Array(dims)
        }
        AttrKind::Int { ty, .. } => {
            let value = site.source.index(rank) as i128;
            AttrKind::Int { value, ty }
        }
        _ => return None,
    };
    if new == old {
        return None;
    }
    let what = match &new {
        AttrKind::I64Array(dims) => format!("{dims:?}"),
        other => format!("{}", other.as_int().unwrap_or(0)),
    };
    site.set(name, new);
    Some(format!("`{name}` is {what}"))
}

/// The operands that are indices, by the first of them.
static INDEXED: [(&OpDef, usize); 7] = [
    (&fusion::TAKE, 1),
    (&fusion::TAKE_ALONG, 1),
    (&fusion::DYNAMIC_SLICE, 1),
    (&fusion::DYNAMIC_UPDATE_SLICE, 2),
    (&fusion::SCATTER, 1),
    (&fusion::INDEX_PUT, 1),
    (&fusion::ONE_HOT, 0),
];

fn other_index(site: &mut Site<'_>) -> Option<String> {
    let by = site.source.one(&[-1i64, 1]);
    if site.ir().is(site.op, &fusion::IOTA) {
        let result = site.ir().result(site.op, 0);
        site.replace(result, |b, x| moved(b, x, by))?;
        return Some(format!("its elements are moved by {by}"));
    }
    let indexed = INDEXED
        .iter()
        .find(|(def, _)| site.case.ir.is(site.op, def));
    if let Some((_, first)) = indexed {
        let of_data = site.operands().len().checked_sub(*first)?;
        // The updates of a scatter follow the indices.
        let data = site.ir().def(site.op)?.class == OpClass::Scatter;
        let index = first + if data { 0 } else { site.source.index(of_data) };
        let old = *site.operands().get(index)?;
        let ir = &mut site.case.ir;
        let new = moved(&mut Builder::before(ir, site.op), old, by)?;
        ir.set_operand(site.op, index, new);
        return Some(format!("index operand {index} is moved by {by}"));
    }
    if site.ir().is(site.op, &fusion::PAD) {
        let axis = site
            .source
            .index(site.ir().amounts_of(site.op, "low")?.len());
        shift(site, "low", axis, by)?;
        shift(site, "high", axis, -by)?;
        return Some(format!("the border of axis {axis} is moved by {by}"));
    }
    let amounts = |clause: &ClauseDef| clause.kind == ClauseKind::Amounts || clause.name == "shift";
    match site.clause(amounts)? {
        (name, AttrKind::Int { value, ty }) => {
            let value = value + i128::from(by);
            site.set(name, AttrKind::Int { value, ty });
            Some(format!("`{name}` is {value}"))
        }
        (name, _) => {
            let axis = site
                .source
                .index(site.ir().amounts_of(site.op, name)?.len());
            shift(site, name, axis, by)?;
            Some(format!("`{name}` of axis {axis} is moved by {by}"))
        }
    }
}

/// Adds `by` to entry `axis` of a clause of amounts.
fn shift(site: &mut Site<'_>, name: &str, axis: usize, by: i64) -> Option<()> {
    let mut amounts = site.ir().amounts_of(site.op, name)?;
    let entry = amounts.get_mut(axis)?;
    *entry = entry.add(&ExtentExpr::constant(by))?;
    let attr = site.case.ir.amounts_attr(&amounts)?;
    site.case.ir.set_attr(site.op, name, attr);
    Some(())
}

/// `x + by`, of any type that adds.
fn moved(b: &mut Builder<'_>, x: Value, by: i64) -> Option<Value> {
    let dtype = b.ir.value_kind(x).dtype()?;
    let by = number(b, dtype, by)?;
    b.value(&fusion::ADD, &[x, by], &[]).ok()
}

/// A scalar constant.
fn number(b: &mut Builder<'_>, dtype: DType, number: i64) -> Option<Value> {
    let ty: TypeId = b.ir.scalar(dtype);
    let kind = match (dtype, dtype.is_float()) {
        (DType::I1, _) => AttrKind::Bool(number != 0),
        (_, true) => AttrKind::Float {
            bits: float::nearest(dtype, number as f64),
            ty,
        },
        (_, false) => AttrKind::Int {
            value: number.into(),
            ty,
        },
    };
    let value = b.ir.attr(kind);
    b.typed(&fusion::CONSTANT, &[], &[("value", value)], ty)
        .ok()
}

fn cast(b: &mut Builder<'_>, x: Value, to: DType) -> Option<Value> {
    let to = b.dtype("to", to);
    b.value(&fusion::CAST, &[x], &[to]).ok()
}

fn other_rounding(site: &mut Site<'_>) -> Option<String> {
    let &[result] = site.ir().results(site.op) else {
        return None;
    };
    let dtype = site.ir().value_kind(result).dtype()?;
    let source = site.operands().first().copied();
    // Narrower and wide again: the rounding is dropped.
    if let (true, Some(narrow)) = (site.ir().is(site.op, &fusion::CAST), source) {
        let wide = site.ir().def_op(narrow);
        let wide = wide.filter(|op| site.ir().is(*op, &fusion::CAST))?;
        let wide = site.ir().operand(wide, 0);
        let same = site.ir().value_type(wide) == site.ir().value_type(result);
        site.case.ir.replace_all_uses(result, same.then_some(wide)?);
        return Some("the rounding before it is dropped".into());
    }
    let to = match dtype {
        DType::F64 => DType::F32,
        DType::F32 => site.source.one(&[DType::F16, DType::BF16]),
        DType::F16 | DType::BF16 => site.source.one(&[DType::F8E4M3FN, DType::F8E5M2]),
        _ => return None,
    };
    site.replace(result, |b, x| {
        let narrow = cast(b, x, to)?;
        cast(b, narrow, dtype)
    })?;
    Some(format!("its result is rounded to {}", to.name()))
}

fn no_mask(site: &mut Site<'_>) -> Option<String> {
    if site.ir().is(site.op, &fusion::SDPA) {
        let mut operands = site.operands();
        (operands.len() > 3).then(|| operands.pop())?;
        site.case.ir.set_operands(site.op, &operands);
        return Some("without its bias".into());
    }
    if !site.ir().is(site.op, &fusion::WHERE) {
        return None;
    }
    let holds = site.source.chance(1, 2);
    let mut operands = site.operands();
    let ir = &mut site.case.ir;
    let condition = number(&mut Builder::before(ir, site.op), DType::I1, holds.into())?;
    *operands.first_mut()? = condition;
    ir.set_operands(site.op, &operands);
    Some(format!("its condition is {holds}"))
}

fn other_clause(site: &mut Site<'_>) -> Option<String> {
    let clauses = site.def()?.clauses.iter();
    let wanted = |c: &&ClauseDef| matches!(c.kind, ClauseKind::Unit | ClauseKind::Keyword(_));
    let clauses: Vec<&ClauseDef> = clauses.filter(wanted).collect();
    let clause = *site.source.pick(&clauses)?;
    if let ClauseKind::Keyword(words) = clause.kind {
        let word = *site.source.pick(words)?;
        let old = site.ir().str_of(site.op, clause.name);
        (old != Some(word)).then_some(())?;
        let attr = site.case.ir.string_attr(word);
        site.case.ir.set_attr(site.op, clause.name, attr);
        return Some(format!("`{}` is {word}", clause.name));
    }
    if site.ir().get_attr(site.op, clause.name).is_some() {
        site.case.ir.remove_attr(site.op, clause.name);
        return Some(format!("without `{}`", clause.name));
    }
    site.set(clause.name, AttrKind::Unit);
    Some(format!("with `{}`", clause.name))
}

fn less_terms(site: &mut Site<'_>) -> Option<String> {
    let operands = site.operands();
    let axes = summed(site.ir(), site.op);
    let axes = site.source.pick(&axes)?;
    let first = site.source.chance(1, 2);
    for &(operand, axis) in axes {
        let old = *operands.get(operand)?;
        let part = without_one(site, old, axis, first)?;
        site.case.ir.set_operand(site.op, operand, part);
    }
    let which = if first { "first" } else { "last" };
    Some(format!("without the {which} of its terms"))
}

/// The axes that an op reduces in any order. For each of them: the operands that have it, with its number in each.
pub fn summed(ir: &Ir, op: Op) -> Vec<Vec<(usize, usize)>> {
    let rank = |index: usize| {
        let operand = ir.operands(op).nth(index)?;
        Some(tensor(ir, operand)?.dims.len())
    };
    let pair = |a: Option<usize>, b: Option<usize>, operands: (usize, usize)| {
        let axes = a
            .zip(b)
            .map(|(a, b)| vec![(operands.0, a), (operands.1, b)]);
        axes.into_iter().collect()
    };
    let last = |index, behind| rank(index)?.checked_sub(behind);
    match ir.def(op).map(|def| def.class) {
        Some(OpClass::Reduction) => {
            let dims = ir.i64s_of(op, "dims").unwrap_or_default().iter();
            dims.map(|dim| vec![(0, *dim as usize)]).collect()
        }
        // The second operand of a product may be a vector.
        Some(OpClass::Contraction) if ir.is(op, &fusion::MATMUL) => pair(
            last(0, 1),
            rank(1).map(|rank| rank.saturating_sub(2)),
            (0, 1),
        ),
        Some(OpClass::Contraction) => pair(last(0, 1), last(1, 1), (0, 1)),
        Some(OpClass::Convolution) => {
            let features = fusion::convolution::front(ir, op).checked_sub(1);
            pair(features, features, (0, 1))
        }
        Some(OpClass::Attention)
            if ir.operand_count(op) == 3 && ir.get_attr(op, "causal").is_none() =>
        {
            pair(last(1, 2), last(2, 2), (1, 2))
        }
        _ => Vec::new(),
    }
}

/// All but the first or the last element along an axis.
fn without_one(site: &mut Site<'_>, x: Value, axis: usize, first: bool) -> Option<Value> {
    let ir = &mut site.case.ir;
    let of = tensor(ir, x)?;
    let length = ir.extent_as_expr(of.dims.get(axis)?.extent)?;
    let shorter = ir.extent(length.add(&ExtentExpr::constant(-1))?)?;
    let mut dims = of.dims.clone();
    dims[axis] = Dim {
        extent: shorter,
        ..dims[axis]
    };
    let mut starts = vec![0; dims.len()];
    starts[axis] = i64::from(first);
    let mut b = Builder::before(ir, site.op);
    let clauses = [b.ints("starts", &starts), b.shape("shape", &dims)];
    b.value(&fusion::SLICE, &[x], &clauses).ok()
}
