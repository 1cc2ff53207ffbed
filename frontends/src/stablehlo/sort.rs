//! Sorts: those whose comparator orders one operand, as `jnp.sort` and `jnp.argsort` write it, and the greatest elements.
//!
//! JAX compares floats in total order after it has made zeros one zero and NaN one NaN, which is the order of `fusion.sort`.

use std::collections::HashMap;

use fuser_dialects::fusion;
use fuser_ir::Value;
use fuser_ir::span::Span;
use fuser_ir::types::DType;

use super::Importer;
use super::ast::{Attr, Block, Item};
use super::op::{Reading, atom, blocks};
use super::reduce::expressions;
use super::shape::lengths;
use crate::codes::UNSUPPORTED;
use crate::program::{Draft, Fault, Made};

const HELP: &str = "comparators are `LT` and `GT` of one operand, as `jnp.sort`, `jnp.argsort` and `lax.sort_key_val` have them";

/// `stablehlo.sort`: the key is sorted, what goes along with it is taken in the key's order.
pub fn sort(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let first = r.operand(0)?;
    let rank = im.draft.dims(first).len();
    let dim = match r.attr(&["dimension"]) {
        Some(_) => r.int(&["dimension"])?,
        None => -1,
    };
    let dim = if dim < 0 { dim + rank as i64 } else { dim };
    if !(0..rank as i64).contains(&dim) {
        return Err(Fault::form(
            "sorts along an axis that its operand does not have",
        ));
    }
    let (key, descending) = order(im, r)?;
    let draft = &mut im.draft;
    let mut results = Vec::new();
    let mut places = None;
    for (at, x) in r.operands.iter().enumerate() {
        let made = match counter(draft, *x, dim) {
            _ if at == key => sorted(draft, &fusion::SORT, *x, dim, descending, None)?,
            Some(of) => {
                let key = r.operand(key)?;
                sorted(draft, &fusion::ARGSORT, key, dim, descending, Some(of))?
            }
            None => {
                let places = match places {
                    Some(places) => places,
                    None => {
                        let (def, of) = (&fusion::ARGSORT, Some(DType::I64));
                        let made = sorted(draft, def, r.operand(key)?, dim, descending, of)?;
                        *places.insert(made)
                    }
                };
                let mut b = draft.builder();
                let clause = [b.int("dim", dim)];
                b.value(&fusion::TAKE_ALONG, &[*x, places], &clause)?
            }
        };
        results.push(made);
    }
    Ok(results)
}

/// `fusion.sort`, or `fusion.argsort` with indices of type `of`.
fn sorted(
    draft: &mut Draft,
    def: &'static fuser_ir::def::OpDef,
    x: Value,
    dim: i64,
    descending: bool,
    of: Option<DType>,
) -> Made {
    let mut b = draft.builder();
    let mut clauses = vec![b.int("dim", dim)];
    if let Some(of) = of {
        clauses.push(b.dtype("of", of));
    }
    if descending {
        clauses.push(b.flag("descending"));
    }
    Ok(b.value(def, &[x], &clauses)?)
}

/// The type of a value that counts along an axis, if it is one that indices have.
fn counter(draft: &Draft, value: Value, dim: i64) -> Option<DType> {
    let op = draft.ir.def_op(value)?;
    let counts = draft.ir.is(op, &fusion::IOTA) && draft.ir.int_of(op, "dim") == Some(dim);
    let dtype = draft.dtype(value);
    (counts && matches!(dtype, DType::I32 | DType::I64)).then_some(dtype)
}

/// The operand that the comparator orders, and whether the greatest element comes first.
fn order<'s>(im: &Importer<'s>, r: &Reading<'s>) -> Made<(usize, bool)> {
    let block = r.region().ok_or_else(|| Fault::form("has no comparator"))?;
    direction(im, r, block, block.args.iter().map(|(name, _)| *name))
}

/// As `order`, of a comparator with this body and these parameters.
fn direction<'s>(
    im: &Importer<'s>,
    r: &Reading<'s>,
    block: &'s Block,
    parameters: impl Iterator<Item = Span>,
) -> Made<(usize, bool)> {
    let mut names = HashMap::new();
    for (at, name) in parameters.enumerate() {
        let letter = if at % 2 == 0 { "a" } else { "b" };
        names.insert(r.text(name), format!("{letter}{}", at / 2));
    }
    let other = |text: &str| {
        let shown: String = text.chars().take(60).collect();
        Fault::form(format!("orders by `{shown}`")).help(HELP)
    };
    let bodies = expressions(r, block, names, HELP)?;
    let [body] = bodies.as_slice() else {
        return Err(other("several results"));
    };
    for (at, x) in r.operands.iter().enumerate() {
        let float = im.draft.dtype(*x).is_float();
        for (word, descending) in [("LT", false), ("GT", true)] {
            let plain = format!("compare.{word}(a{at},b{at})");
            let [a, b] = ["a", "b"].map(|letter| canonical(&format!("{letter}{at}")));
            let total = format!("compare.{word}.TOTALORDER({a},{b})");
            if *body == plain || float && *body == total {
                return Ok((at, descending));
            }
        }
    }
    Err(other(body))
}

/// The key that JAX makes of a float: one zero, one NaN.
fn canonical(x: &str) -> String {
    let zero = format!("select(compare.EQ({x},zero()),zero(),{x})");
    format!("select(compare.NE({x},{x}),nan(),{zero})")
}

/// `chlo.top_k`: along the last axis; the stated results have the number of elements and the type of indices.
pub fn top_k(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let x = r.operand(0)?;
    let [_, indices] = r.outputs.as_slice() else {
        return Err(Fault::form("has other than two results"));
    };
    let indices = im.draft.ir.ty(*indices).dtype();
    let of = match indices {
        Some(of @ (DType::I32 | DType::I64)) => of,
        _ => return Err(Fault::form("has indices that are neither `i32` nor `i64`")),
    };
    let shape = super::shape::output_shape(im, r)?;
    let first = match shape.last() {
        Some(fuser_ir::Extent::Static(n)) => i64::try_from(*n).unwrap_or(i64::MAX),
        _ => return Err(Fault::form("has a result without axes")),
    };
    let dim = lengths(&im.draft, x).len() as i64 - 1;
    let mut b = im.draft.builder();
    let clauses = [b.int("dim", dim), b.int("first", first), b.dtype("of", of)];
    let op = b.op(&fusion::TOPK, &[x], &clauses)?;
    Ok([0, 1].map(|at| im.draft.ir.result(op, at)).into())
}

/// True if the function that a call names in `called_computations` puts the greatest element first; so it is where none is named.
fn takes_greatest<'s>(im: &Importer<'s>, r: &Reading<'s>) -> Made<bool> {
    let Some(called) = r.attr(&["called_computations"]) else {
        return Ok(true);
    };
    let symbol = match called {
        Attr::List(list) if list.len() == 1 => atom(&list[0]),
        _ => None,
    };
    let function = symbol.and_then(|span| im.functions.get(r.text(span)).copied());
    let body = function.and_then(|f| Some((f, blocks(f).next()?)));
    let (function, block) = body.ok_or_else(|| Fault::form("has no comparator"))?;
    let names = super::parameters(function).map(|(name, ..)| name);
    Ok(direction(im, r, block, names)? == (0, true))
}

/// `stablehlo.custom_call`: of `TopK`, and of `mhlo.topk` with the greatest elements, which stood for `chlo.top_k` before that was.
pub fn custom_call<'s>(im: &mut Importer<'s>, r: &Reading<'s>) -> Made<Vec<Value>> {
    let symbol = r.op.items.iter().find_map(|item| match item {
        Item::Symbol(span) => Some(r.text(*span)),
        _ => None,
    });
    let generic = || r.attr(&["call_target_name"]).and_then(atom);
    let target = symbol.or_else(|| generic().map(|span| r.text(span)));
    let end = r.op.types.as_ref().and_then(|types| types.inputs.first());
    let end = end.map_or(r.op.name.end, |span| span.start);
    let range = r.op.name.start as usize..end as usize;
    let smallest = r
        .source
        .get(range)
        .is_none_or(|text| text.contains("largest = false"));
    match target.map(|name| name.trim_matches(['@', '"'])) {
        Some("TopK" | "mhlo.topk") if !smallest && takes_greatest(im, r)? => top_k(im, r),
        _ => {
            let fault = Fault::new(&UNSUPPORTED, "has no counterpart in Fuser");
            Err(fault.help("compute it outside of the program, and give it as an input"))
        }
    }
}
