//! `sdpfa_fwd`: attention; `sdpfa_bwd`: its gradients.
//!
//! Attention with dropout, and the gradients, are compositions of products and elementwise ops in the accumulating type
//! of products. Dropout omits the parts of the softmax that `fusion.bernoulli` selects, numbered by their position
//! among the scores; PyTorch's kernels number them by threads. Seed and offset are results of the forward op and
//! operands of the backward op, so that both omit the same parts; without dropout they are unused.

use fuser_dialects::fusion;
use fuser_dialects::fusion::build::{FusionBuilder, float_attr};
use fuser_ir::Value;
use fuser_ir::types::{DType, Dim, Extent};

use super::index::agree;
use crate::nvfuser::Reader;
use crate::nvfuser::args::Args;
use crate::nvfuser::value::{Number, Val};
use crate::program::{Fault, Made};

/// The number of values that the call returns: the result, the logarithms of the sums, and the seed and offset of
/// dropout.
const RESULTS: usize = 4;

/// Attention. Definitions of older versions have neither bias nor mask: their fourth argument is a number.
pub fn forward<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let mut operands = vec![
        args.tensor(0, &["query"])?,
        args.tensor(1, &["key"])?,
        args.tensor(2, &["value"])?,
    ];
    let is_number = |at: usize| matches!(args.get(at, &[]), Some(Val::Number(..)));
    let behind = if is_number(3) || is_number(4) { 3 } else { 5 };
    let added = [(3, "bias"), (4, "mask")];
    let added = added.map(|(at, name)| match args.get(at, &[name]) {
        Some(Val::Tensor(value)) => Some(*value),
        _ => None,
    });
    let number = |at: usize, name: &str| known(args, behind + at, name);
    let dropout = dropout(number(0, "dropout_p")?)?;
    joined(r, &operands)?;
    let query = operands[0];
    operands.extend(together(r, &operands, added)?);
    let scale = number(2, "scale")?;
    let causal = number(1, "is_causal")?.is_some_and(|causal| causal != 0.0);
    if let Some(dropout) = dropout {
        let mut scores = scores(r, [operands[0], operands[1]], scale, causal)?;
        if let Some(added) = operands.get(3) {
            scores = added_to(r, scores, *added)?;
        }
        let lse = log_sum_exp(r, scores)?;
        let state = super::random::next(r)?;
        let made = with_dropout(r, (scores, lse), operands[2], (dropout, state))?;
        r.lay_out_like(made, query);
        let mut values = vec![Val::Tensor(made), Val::Tensor(lse)];
        if r.wanted(2) || r.wanted(3) {
            values.extend(stored(r, state)?.map(Val::Tensor));
        }
        values.resize(RESULTS, Val::Nothing);
        return Ok(values);
    }
    let wide = r.draft.dtype(operands[0]).accumulate();
    let with_sums = r.wanted(1);
    let mut b = r.draft.builder();
    let ty = b.ir.scalar(wide);
    let mut clauses = Vec::new();
    if let Some(scale) = scale {
        clauses.push(("scale", float_attr(b.ir, scale, ty)));
    }
    if causal {
        clauses.push(b.flag("causal"));
    }
    if with_sums {
        clauses.push(b.flag("logsumexp"));
    }
    let op = b.build(&fusion::SDPA, &operands, &clauses, &[], None)?;
    let results = b.ir.results(op).to_vec();
    r.lay_out_like(results[0], query);
    let mut values: Vec<Val<'s>> = results.into_iter().map(Val::Tensor).collect();
    values.resize(RESULTS, Val::Nothing);
    Ok(values)
}

/// A bias and a mask as one operand, broadcast to the axes of the scores: their sum, where the mask contributes `-inf`
/// for masked keys.
fn together(
    r: &mut Reader<'_>,
    operands: &[Value],
    added: [Option<Value>; 2],
) -> Made<Option<Value>> {
    let mut shape = r.extents(operands[0]);
    let keys = r.extents(operands[1]).into_iter().rev().nth(1);
    let (Some(last), Some(keys)) = (shape.last_mut(), keys) else {
        return Err(Fault::form("its operand has fewer than two axes"));
    };
    *last = keys;
    let mut stretched = Vec::new();
    for value in added.into_iter().flatten() {
        stretched.push(stretch(r, value, &shape)?);
    }
    let [bias, mask] = stretched[..] else {
        return Ok(stretched.pop());
    };
    let operands = r.joined(vec![bias, mask])?;
    let scalar = r.draft.ir.scalar(r.draft.dtype(bias));
    let [none, least] = [0.0, f64::NEG_INFINITY].map(|n| r.draft.number(n, scalar));
    let left = r
        .draft
        .make(&fusion::WHERE, &[operands[1], none?, least?])?;
    r.draft.make(&fusion::ADD, &[operands[0], left]).map(Some)
}

/// The tensor broadcast to the last two axes of the scores, or to all of them.
fn stretch(r: &mut Reader<'_>, value: Value, shape: &[Extent]) -> Made {
    let own = r.extents(value);
    let Some(behind) = shape.len().checked_sub(own.len()) else {
        return Err(Fault::form(format!(
            "has {} axes beside scores of {}",
            own.len(),
            shape.len()
        )));
    };
    if own.len() == 2 || behind == 0 {
        return r.expanded(value, &shape[behind..]);
    }
    let places: Vec<i64> = (behind as i64..shape.len() as i64).collect();
    let full = [vec![Extent::Static(1); behind], own].concat();
    let value = r.draft.broadcast(value, &places, &full)?;
    r.expanded(value, shape)
}

/// A number that is known, if one is given.
fn known(args: &Args<'_>, at: usize, name: &str) -> Made<Option<f64>> {
    match args.get(at, &[name]) {
        Some(Val::Number(number, _)) => Ok(Some(number.float())),
        None | Some(Val::Nothing) => Ok(None),
        Some(_) => Err(Fault::form(format!("`{name}` is no known number"))),
    }
}

/// The probability of dropout; `None` without dropout.
fn dropout(probability: Option<f64>) -> Made<Option<f64>> {
    match probability {
        None | Some(0.0) => Ok(None),
        Some(p) if (0.0..=1.0).contains(&p) => Ok(probability),
        Some(p) => Err(Fault::form(format!(
            "has the dropout {p}, which is no probability"
        ))),
    }
}

/// A probability, and the seed and the offset of its numbers.
type Dropout = (f64, [Value; 2]);

/// The products of the values and the kept parts of the softmax, given the scores and the logarithms of their sums.
fn with_dropout(
    r: &mut Reader<'_>,
    (scores, lse): (Value, Value),
    value: Value,
    dropout: Dropout,
) -> Made {
    // A query with no key left has only zeros in its softmax.
    let wide = r.draft.dtype(scores);
    let scalar = r.draft.ir.scalar(wide);
    let [least, zero] = [f64::NEG_INFINITY, 0.0].map(|n| r.draft.number(n, scalar));
    let empty = r.draft.builder().compare("eq", lse, least?)?;
    let lse = r.draft.make(&fusion::WHERE, &[empty, zero?, lse])?;
    let parts = parts(r, scores, lse)?;
    let drawn = drawn(r, parts, dropout)?;
    let kept = kept(r, parts, drawn, dropout.0)?;
    let narrow = r.draft.dtype(value);
    let value = r.draft.cast(value, wide)?;
    let made = r.draft.make(&fusion::MATMUL, &[kept, value])?;
    r.draft.cast(made, narrow)
}

/// The parts of the softmax, of scores and the logarithms of their sums.
fn parts(r: &mut Reader<'_>, scores: Value, lse: Value) -> Made {
    let extents = r.extents(scores);
    let rows: Vec<i64> = (0..extents.len() as i64 - 1).collect();
    let lse = r.draft.broadcast(lse, &rows, &extents)?;
    let below = r.draft.make(&fusion::SUB, &[scores, lse])?;
    r.draft.make(&fusion::EXP, &[below])
}

/// True for each element of `x` that dropout keeps.
fn drawn(r: &mut Reader<'_>, x: Value, (left_out, [seed, offset]): Dropout) -> Made {
    let dims: Vec<Dim> = r.extents(x).into_iter().map(Dim::new).collect();
    let scalar = r.draft.ir.scalar(r.draft.dtype(x));
    let share = r.draft.number(1.0 - left_out, scalar)?;
    let mut b = r.draft.builder();
    let clause = [b.shape("shape", &dims)];
    Ok(b.value(&fusion::BERNOULLI, &[share, seed, offset], &clause)?)
}

/// The kept elements divided by the fraction of kept elements, and 0 for the others.
fn kept(r: &mut Reader<'_>, x: Value, drawn: Value, left_out: f64) -> Made {
    let scalar = r.draft.ir.scalar(r.draft.dtype(x));
    let [factor, zero] = [1.0 / (1.0 - left_out), 0.0].map(|n| r.draft.number(n, scalar));
    let x = r.draft.make(&fusion::MUL, &[x, factor?])?;
    r.draft.make(&fusion::WHERE, &[drawn, x, zero?])
}

/// Seed and offset in the form that PyTorch returns: one list with both, and an unused number.
fn stored(r: &mut Reader<'_>, state: [Value; 2]) -> Made<[Value; 2]> {
    let mut filled = |value: Value, dims: &[Dim]| -> Made {
        let mut b = r.draft.builder();
        let clause = [b.shape("shape", dims)];
        Ok(b.value(&fusion::FULL, &[value], &clause)?)
    };
    let one = [Dim::new(Extent::Static(1))];
    let lists = [filled(state[0], &one)?, filled(state[1], &one)?];
    let none = filled(state[1], &[])?;
    let mut b = r.draft.builder();
    let clause = [b.int("dim", 0)];
    let both = b.value(&fusion::CAT, &lists, &clause)?;
    Ok([
        r.draft.cast(both, DType::U64)?,
        r.draft.cast(none, DType::U64)?,
    ])
}

/// Reads the seed and the offset from the list of `stored`, or from two numbers, the form of PyTorch before 2.7.
fn state(r: &mut Reader<'_>, args: &Args<'_>) -> Made<[Value; 2]> {
    let seed = args.tensor(8, &["philox_seed"])?;
    let mut parts = [seed, seed];
    if r.draft.dims(seed).is_empty() {
        parts[1] = args.tensor(9, &["philox_offset"])?;
    } else {
        let mut dims = r.draft.dims(seed);
        if let Some(dim) = dims.first_mut() {
            dim.extent = r.unify(dim.extent, Extent::Static(2))?;
        }
        r.settle(seed, dims);
        for (at, part) in parts.iter_mut().enumerate() {
            let int = r.draft.ir.scalar(DType::I64);
            let at = r.draft.number(at as f64, int)?;
            *part = super::product::at(r, seed, at)?;
        }
    }
    let [seed, offset] = parts.map(|part| r.draft.cast(part, DType::I64));
    Ok([seed?, offset?])
}

/// Unifies extents of queries, keys and values that must be equal: batch axes, the last axis of queries and keys, the
/// second-to-last of keys and values.
fn joined(r: &mut Reader<'_>, operands: &[Value]) -> Made<()> {
    let rank = r.draft.dims(operands[0]).len();
    for axis in 0..rank {
        if axis + 2 < rank {
            agree(r, (operands[0], axis), (operands[1], axis))?;
            agree(r, (operands[0], axis), (operands[2], axis))?;
        } else if axis + 1 == rank {
            agree(r, (operands[0], axis), (operands[1], axis))?;
        } else {
            agree(r, (operands[1], axis), (operands[2], axis))?;
        }
    }
    Ok(())
}

/// The tensor with its last two axes exchanged.
fn turned(r: &mut Reader<'_>, x: Value) -> Made {
    let rank = r.draft.dims(x).len() as i64;
    let Some(row) = rank.checked_sub(2).filter(|row| *row >= 0) else {
        return Err(Fault::form("its operand has fewer than two axes"));
    };
    let dims: Vec<i64> = (0..row).chain([row + 1, row]).collect();
    r.draft.permute(x, &dims)
}

/// `x` with every element multiplied by `scale`, by default one over the root of the queries' last extent.
fn scaled(r: &mut Reader<'_>, x: Value, scale: Option<f64>, embedding: Extent) -> Made {
    let dtype = r.draft.dtype(x);
    let factor = match (scale, embedding) {
        (Some(scale), _) => r.typed(&Val::Number(Number::Float(scale), None), dtype)?,
        (None, Extent::Static(n)) => {
            let scale = 1.0 / (n as f64).sqrt();
            r.typed(&Val::Number(Number::Float(scale), None), dtype)?
        }
        (None, named) => {
            let length = r.typed(&Val::Extent(named), dtype)?;
            r.draft.make(&fusion::RSQRT, &[length])?
        }
    };
    r.draft.make(&fusion::MUL, &[x, factor])
}

/// The products of queries and keys, in the wide type, times the scale; -inf above the diagonal if `causal`.
fn scores(r: &mut Reader<'_>, [query, key]: [Value; 2], scale: Option<f64>, causal: bool) -> Made {
    let wide = r.draft.dtype(query).accumulate();
    let embedding = r.extents(query).last().copied();
    let embedding = embedding.ok_or_else(|| Fault::form("its query has no axes"))?;
    let query = r.draft.cast(query, wide)?;
    let key = r.draft.cast(key, wide)?;
    let key = turned(r, key)?;
    let products = r.draft.make(&fusion::MATMUL, &[query, key])?;
    let scores = scaled(r, products, scale, embedding)?;
    if !causal {
        return Ok(scores);
    }
    let kept = super::shapes::triangle(r, scores, "le", 0)?;
    let scalar = r.draft.ir.scalar(wide);
    let least = r.draft.number(f64::NEG_INFINITY, scalar)?;
    r.draft.make(&fusion::WHERE, &[kept, scores, least])
}

/// Scores after adding a bias, or after applying a mask.
fn added_to(r: &mut Reader<'_>, scores: Value, added: Value) -> Made {
    let extents = r.extents(scores);
    let rank = r.draft.dims(added).len();
    let behind = extents.len().saturating_sub(rank);
    let dims: Vec<i64> = (behind..extents.len()).map(|at| at as i64).collect();
    let added = r.draft.broadcast(added, &dims, &extents)?;
    let dtype = r.draft.dtype(scores);
    if r.draft.dtype(added) != DType::I1 {
        let added = r.draft.cast(added, dtype)?;
        return r.draft.make(&fusion::ADD, &[scores, added]);
    }
    let scalar = r.draft.ir.scalar(dtype);
    let least = r.draft.number(f64::NEG_INFINITY, scalar)?;
    r.draft.make(&fusion::WHERE, &[added, scores, least])
}

/// `log(sum(exp(x)))` along the last axis; -inf if all elements are -inf.
fn log_sum_exp(r: &mut Reader<'_>, x: Value) -> Made {
    let extents = r.extents(x);
    let last = extents.len() as i64 - 1;
    let mut b = r.draft.builder();
    let clauses = [b.ints("dims", &[last]), b.flag("keepdim")];
    let greatest = b.value(&fusion::MAX, &[x], &clauses)?;
    // The subtracted number is finite, even if every element is -inf.
    let dtype = r.draft.dtype(x);
    let scalar = r.draft.ir.scalar(dtype);
    let least = r.draft.number(f64::NEG_INFINITY, scalar)?;
    let zero = r.draft.number(0.0, scalar)?;
    let empty = r.draft.builder().compare("eq", greatest, least)?;
    let base = r.draft.make(&fusion::WHERE, &[empty, zero, greatest])?;
    let spread = r.draft.expand(base, &extents)?;
    let distance = r.draft.make(&fusion::SUB, &[x, spread])?;
    let part = r.draft.make(&fusion::EXP, &[distance])?;
    let mut b = r.draft.builder();
    let clause = [b.ints("dims", &[last])];
    let sum = b.value(&fusion::SUM, &[part], &clause)?;
    let log = r.draft.make(&fusion::LOG, &[sum])?;
    let mut b = r.draft.builder();
    let clause = [b.ints("dims", &[last])];
    let base = b.value(&fusion::SQUEEZE, &[base], &clause)?;
    r.draft.make(&fusion::ADD, &[log, base])
}

/// The gradients of query, key and value. `p` are the softmax values, recomputed from the logarithms of their sums.
pub fn backward<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let names = [
        "grad_output",
        "query",
        "key",
        "value",
        "output",
        "logsumexp",
    ];
    let mut given = Vec::new();
    for (at, name) in names.iter().enumerate() {
        given.push(args.tensor(at, &[*name])?);
    }
    let [grad, query, key, value, output, lse] = given[..] else {
        return Err(Fault::form("has other than six tensors"));
    };
    let dropout = dropout(known(args, 6, "dropout_p")?)?;
    joined(r, &[query, key, value])?;
    let rank = r.draft.dims(query).len();
    for axis in 0..rank {
        agree(r, (output, axis), (grad, axis))?;
        if axis + 1 < rank {
            agree(r, (query, axis), (grad, axis))?;
            agree(r, (query, axis), (lse, axis))?;
        }
    }
    let causal = known(args, 7, "is_causal")?.is_some_and(|causal| causal != 0.0);
    let scale = known(args, 10, "scale")?;
    let differentiated = [query, key, value];
    let narrow = differentiated.map(|value| r.draft.dtype(value));
    let wide = narrow[0].accumulate();
    let embedding = r.extents(query).last().copied();
    let embedding = embedding.ok_or_else(|| Fault::form("its query has no axes"))?;
    let scores = scores(r, [query, key], scale, causal)?;
    let extents = r.extents(scores);
    let rows: Vec<i64> = (0..extents.len() as i64 - 1).collect();
    let mut cast = Vec::new();
    for tensor in [grad, query, key, value, output, lse] {
        cast.push(r.draft.cast(tensor, wide)?);
    }
    let [grad, query, key, value, output, lse] = cast[..] else {
        return Err(Fault::form("has other than six tensors"));
    };
    let p = parts(r, scores, lse)?;
    let value = turned(r, value)?;
    let (mut used, mut of_p) = (p, r.draft.make(&fusion::MATMUL, &[grad, value])?);
    if let Some(dropout) = dropout {
        let state = state(r, args)?;
        let drawn = drawn(r, p, (dropout, state))?;
        used = kept(r, p, drawn, dropout)?;
        of_p = kept(r, of_p, drawn, dropout)?;
    }
    let turned_used = turned(r, used)?;
    let of_value = r.draft.make(&fusion::MATMUL, &[turned_used, grad])?;
    let product = r.draft.make(&fusion::MUL, &[grad, output])?;
    let mut b = r.draft.builder();
    let clause = [b.ints("dims", &[extents.len() as i64 - 1])];
    let sum = b.value(&fusion::SUM, &[product], &clause)?;
    let sum = r.draft.broadcast(sum, &rows, &extents)?;
    let distance = r.draft.make(&fusion::SUB, &[of_p, sum])?;
    let of_scores = r.draft.make(&fusion::MUL, &[p, distance])?;
    let of_scores = scaled(r, of_scores, scale, embedding)?;
    let of_query = r.draft.make(&fusion::MATMUL, &[of_scores, key])?;
    let turned = turned(r, of_scores)?;
    let of_key = r.draft.make(&fusion::MATMUL, &[turned, query])?;
    let mut gradients = Vec::new();
    let made = [of_query, of_key, of_value].into_iter().zip(narrow);
    for ((gradient, dtype), of) in made.zip(differentiated) {
        let gradient = r.draft.cast(gradient, dtype)?;
        r.lay_out_like(gradient, of);
        gradients.push(Val::Tensor(gradient));
    }
    Ok(gradients)
}
