//! Import of sorts and of the greatest elements.
//!
//! A comparator orders by one or several keys, each of which applies one function to both elements: it becomes ops on
//! whole tensors, which are then sorted. JAX compares floats in total order after normalizing zeros and NaN, which is
//! the order of `fusion.sort`. Other comparisons in total order sort the bits as integers.

use std::collections::HashMap;

use fuser_dialects::fusion;
use fuser_ir::Value;
use fuser_ir::span::Span;
use fuser_ir::types::DType;

use super::Importer;
use super::ast::{Attr, Block, Op};
use super::bits::in_total_order;
use super::op::{Reading, atom, blocks};
use super::shape::lengths;
use crate::program::{Draft, Fault, Made};

const HELP: &str = "comparators are `LT` and `GT` of the same expression of either element, or such in the order in which \
                    they count, as `jnp.sort`, `jnp.lexsort` and `lax.sort` have them";

/// `stablehlo.sort`: a single key is sorted, and other operands are taken in its order. With several keys, the last is
/// sorted first.
pub fn sort<'s>(im: &mut Importer<'s>, r: &Reading<'s>) -> Made<Vec<Value>> {
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
    let block = r.region().ok_or_else(|| Fault::form("has no comparator"))?;
    let comparator = Comparator::new(r, block, block.args.iter().map(|(name, ..)| *name))?;
    let mut keys = Vec::new();
    for order in comparator.orders()? {
        keys.push(comparator.key(im, &order)?);
    }
    match keys.as_slice() {
        &[key] => by_one(&mut im.draft, &r.operands, key, dim),
        keys => by_several(&mut im.draft, &r.operands, keys, dim),
    }
}

/// A key of a sort: a tensor whose order determines the order of all operands.
#[derive(Clone, Copy)]
struct Key {
    value: Value,
    descending: bool,
    /// True if the bits of a float are ordered: `-0 < +0`, and NaN by sign.
    total: bool,
}

impl Key {
    /// The tensor for `fusion.sort`: floats in total order become integers of equal order.
    fn ordered(self, draft: &mut Draft) -> Made {
        match self.total && draft.dtype(self.value).is_float() {
            true => in_total_order(draft, self.value),
            false => Ok(self.value),
        }
    }
}

/// The operands in the order of one key.
fn by_one(draft: &mut Draft, operands: &[Value], key: Key, dim: i64) -> Made<Vec<Value>> {
    let ordered = key.ordered(draft)?;
    let mut results = Vec::new();
    let mut places = None;
    for x in operands {
        let made = match counter(draft, *x, dim) {
            _ if *x == ordered => sorted(draft, &fusion::SORT, *x, dim, key.descending, None)?,
            Some(of) => {
                let def = &fusion::ARGSORT;
                sorted(draft, def, ordered, dim, key.descending, Some(of))?
            }
            None => {
                let places = match places {
                    Some(places) => places,
                    None => {
                        let (def, of) = (&fusion::ARGSORT, Some(DType::I64));
                        let made = sorted(draft, def, ordered, dim, key.descending, of)?;
                        *places.insert(made)
                    }
                };
                taken(draft, *x, places, dim)?
            }
        };
        results.push(made);
    }
    Ok(results)
}

/// The operands in the order of several keys, the most significant first: sorts are stable, so the last key is sorted
/// first.
fn by_several(draft: &mut Draft, operands: &[Value], keys: &[Key], dim: i64) -> Made<Vec<Value>> {
    let mut places: Option<Value> = None;
    for key in keys.iter().rev() {
        let mut ordered = key.ordered(draft)?;
        if let Some(places) = places {
            ordered = taken(draft, ordered, places, dim)?;
        }
        let (def, of) = (&fusion::ARGSORT, Some(DType::I64));
        let own = sorted(draft, def, ordered, dim, key.descending, of)?;
        places = Some(match places {
            Some(places) => taken(draft, places, own, dim)?,
            None => own,
        });
    }
    let places = places.ok_or_else(|| Fault::form("orders by nothing"))?;
    let mut results = Vec::new();
    for x in operands {
        results.push(match counter(draft, *x, dim) {
            Some(of) => draft.cast(places, of)?,
            None => taken(draft, *x, places, dim)?,
        });
    }
    Ok(results)
}

/// `fusion.take_along`
fn taken(draft: &mut Draft, x: Value, places: Value, dim: i64) -> Made {
    let mut b = draft.builder();
    let clause = [b.int("dim", dim)];
    Ok(b.value(&fusion::TAKE_ALONG, &[x, places], &clause)?)
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

/// The type of a value that counts along an axis, if it is a valid index type.
fn counter(draft: &Draft, value: Value, dim: i64) -> Option<DType> {
    let op = draft.ir.def_op(value)?;
    let counts = draft.ir.is(op, &fusion::IOTA) && draft.ir.int_of(op, "dim") == Some(dim);
    let dtype = draft.dtype(value);
    (counts && matches!(dtype, DType::I32 | DType::I64)).then_some(dtype)
}

/// The side of a comparator's arguments that a value depends on: the earlier element, the later one, or both.
const FIRST: u8 = 1;
const SECOND: u8 = 2;

/// A value in a comparator, as text in which the elements of both sides have one name. Equal texts are therefore equal
/// functions.
struct Term<'s> {
    text: String,
    sides: u8,
    op: Option<(&'s Op, Vec<&'s str>)>,
}

/// A comparison that applies if the earlier ones are equal: the compared value, and the direction.
struct Order<'s> {
    name: &'s str,
    descending: bool,
    total: bool,
}

/// The body of a comparator.
struct Comparator<'s, 'r> {
    r: &'r Reading<'s>,
    terms: HashMap<&'s str, Term<'s>>,
    parameters: Vec<&'s str>,
    result: &'s str,
}

impl<'s, 'r> Comparator<'s, 'r> {
    /// A comparator with this body and these parameters: for each operand, the earlier and the later element.
    fn new(
        r: &'r Reading<'s>,
        block: &'s Block,
        parameters: impl Iterator<Item = Span>,
    ) -> Made<Self> {
        let parameters: Vec<&'s str> = parameters.map(|name| r.text(name)).collect();
        let mut terms = HashMap::new();
        for (at, name) in parameters.iter().enumerate() {
            let term = Term {
                text: format!("x{}", at / 2),
                sides: if at % 2 == 0 { FIRST } else { SECOND },
                op: None,
            };
            terms.insert(*name, term);
        }
        let constants = r.captured.iter().map(|(name, value)| {
            let term = Term {
                text: format!("{value:?}"),
                sides: 0,
                op: None,
            };
            (*name, term)
        });
        terms.extend(constants);
        let mut result = None;
        for op in &block.ops {
            let names = super::op::operands(op).into_iter().map(|span| r.text(span));
            let names: Vec<&'s str> = names.collect();
            if super::op::is_return(r.text(op.name)) {
                result = names.first().copied().filter(|_| names.len() == 1);
                break;
            }
            let known: Option<Vec<&Term<'s>>> = names.iter().map(|name| terms.get(name)).collect();
            let known =
                known.ok_or_else(|| Fault::form("has a comparator that uses unknown values"))?;
            let [operands, sides] = [known.iter(), known.iter()];
            let operands: Vec<&str> = operands.map(|term| term.text.as_str()).collect();
            let text = format!("{}({})", spelled(r, op), operands.join(","));
            if block.ops.len() > MAX_BODY || text.len() > MAX_TEXT {
                return Err(Fault::form("has a comparator of many ops").help(HELP));
            }
            let sides = sides.fold(0, |sides, term| sides | term.sides);
            if let [(name, None)] = op.results.as_slice() {
                let op = Some((op, names));
                terms.insert(r.text(*name), Term { text, sides, op });
            }
        }
        let result = result.filter(|name| terms.contains_key(name));
        let result = result.ok_or_else(|| Fault::form("has a comparator without one result"))?;
        Ok(Self {
            r,
            terms,
            parameters,
            result,
        })
    }
    /// The op that makes a value: its name without the dialect, its operands, and the op itself.
    fn made(&self, name: &str) -> (&'s str, &[&'s str], Option<&'s Op>) {
        match self.terms.get(name).and_then(|term| term.op.as_ref()) {
            Some((op, operands)) => (short(self.r.text(op.name)), operands, Some(op)),
            None => ("", &[], None),
        }
    }
    /// The direction of a comparison of one function of both elements, reversed if they are swapped; and the value for
    /// the earlier element.
    fn compared(&self, name: &str) -> Option<(&'static str, Order<'s>)> {
        let ("compare", &[x, y], Some(op)) = self.made(name) else {
            return None;
        };
        let [a, b] = [self.terms.get(x)?, self.terms.get(y)?];
        let (name, turned) = match (a.sides, b.sides) {
            (FIRST, SECOND) => (x, false),
            (SECOND, FIRST) => (y, true),
            _ => return None,
        };
        let (word, total) = comparison(self.r, op)?;
        let word = match (word, turned) {
            ("LT", true) => "GT",
            ("GT", true) => "LT",
            (word, _) => word,
        };
        let descending = word == "GT";
        let order = Order {
            name,
            descending,
            total,
        };
        (a.text == b.text).then_some((word, order))
    }
    /// The value that a comparison is of.
    fn key_text(&self, name: &str, words: [&str; 2]) -> Option<&str> {
        let (word, order) = self.compared(name)?;
        let term = self.terms.get(order.name)?;
        words.contains(&word).then_some(term.text.as_str())
    }
    /// The comparisons, the most significant first: `a < b`, `or(a < b, and(a == b, rest))`, `select(a == b, rest, a <
    /// b)`.
    fn orders(&self) -> Made<Vec<Order<'s>>> {
        const STRICT: [&str; 2] = ["LT", "GT"];
        let mut orders = Vec::new();
        let mut rest = self.result;
        loop {
            let shown = super::reduce::shown(&self.terms[rest].text);
            let other = || Fault::form(format!("orders by `{shown}`")).help(HELP);
            if let Some((word, order)) = self.compared(rest) {
                if !STRICT.contains(&word) {
                    return Err(other());
                }
                orders.push(order);
                return Ok(orders);
            }
            let same = |strict: &str, equal: &str, words: [&str; 2]| {
                let own = self.key_text(strict, STRICT);
                own.is_some() && own == self.key_text(equal, words)
            };
            let equal = ["EQ", "EQ"];
            let found = match self.made(rest) {
                ("or", &[a, b], _) => [(a, b), (b, a)].into_iter().find_map(|(strict, both)| {
                    let ("and", &[c, d], _) = self.made(both) else {
                        return None;
                    };
                    let pair = [(c, d), (d, c)].into_iter();
                    let mut pair = pair.filter(|(eq, _)| same(strict, eq, equal));
                    pair.next().map(|(_, next)| (strict, next))
                }),
                ("select", &[c, a, b], _) if same(b, c, equal) => Some((b, a)),
                ("select", &[c, a, b], _) if same(a, c, ["NE", "NE"]) => Some((a, b)),
                _ => None,
            };
            let (strict, next) = found.ok_or_else(other)?;
            orders.extend(self.compared(strict).map(|(_, order)| order));
            rest = next;
        }
    }
    /// The key of a comparison: the operand itself if `fusion.sort` orders by it, else the key function applied to
    /// whole tensors.
    fn key(&self, im: &mut Importer<'s>, order: &Order<'s>) -> Made<Key> {
        let descending = order.descending;
        if let Some(at) = self.canonical(im, order) {
            let value = self.r.operand(at)?;
            let total = false;
            return Ok(Key {
                value,
                descending,
                total,
            });
        }
        let mut env: HashMap<&str, Value> = self.r.captured.clone();
        for (at, name) in self.parameters.iter().enumerate() {
            env.insert(name, self.r.operand(at / 2)?);
        }
        // The needed values, each after its operands: ops have the numbers of their lines.
        let mut needed = vec![order.name];
        let mut at = 0;
        while let Some(name) = needed.get(at) {
            let (_, operands, _) = self.made(name);
            let new = operands.iter().filter(|name| !needed.contains(name));
            let new: Vec<&str> = new.copied().collect();
            needed.extend(new);
            at += 1;
        }
        needed.sort_by_key(|name| self.made(name).2.map_or(0, |op| op.name.start));
        for name in needed {
            let (_, operands, Some(op)) = self.made(name) else {
                continue;
            };
            let operands: Option<Vec<Value>> =
                operands.iter().map(|o| env.get(o).copied()).collect();
            let operands =
                operands.ok_or_else(|| Fault::form("has a comparator that uses unknown values"))?;
            let outputs = im.outputs(op)?;
            let made = super::ops::elementwise(im, self.r, op, operands, outputs)?;
            env.insert(name, made);
        }
        let value = env.get(order.name).copied();
        let value = value.ok_or_else(|| Fault::form("compares nothing").help(HELP))?;
        let like = self.r.operand(0)?;
        let value = super::ops::spread(im, value, like)?;
        let total = order.total;
        Ok(Key {
            value,
            descending,
            total,
        })
    }
    /// The operand that is compared directly, or in total order after normalizing zeros and NaN, as JAX does.
    fn canonical(&self, im: &Importer<'_>, order: &Order<'s>) -> Option<usize> {
        let operand = |name: &str| self.parameters.iter().position(|known| *known == name);
        let float = |at: usize| im.draft.dtype(self.r.operands[at / 2]).is_float();
        if let Some(at) = operand(order.name) {
            return (!order.total || !float(at)).then_some(at / 2);
        }
        let ("select", &[is_nan, nan, rest], _) = self.made(order.name) else {
            return None;
        };
        let ("select", &[is_zero, zero, x], _) = self.made(rest) else {
            return None;
        };
        let at = operand(x).filter(|at| float(*at))?;
        let compared = |name: &str, wanted: &str| match self.made(name) {
            ("compare", &[of, with], Some(op)) => {
                let word = comparison(self.r, op).map(|(word, _)| word);
                (of == x && word == Some(wanted)).then_some(with)
            }
            _ => None,
        };
        let zeros = [compared(is_zero, "EQ"), Some(zero)];
        let one_zero = zeros
            .iter()
            .all(|zero| zero.is_some_and(|zero| self.is_number(im, zero, 0.0)));
        let whole =
            compared(is_nan, "NE") == Some(x) && one_zero && self.is_number(im, nan, f64::NAN);
        whole.then_some(at / 2)
    }
    /// True if a value is this constant.
    fn is_number(&self, im: &Importer<'_>, name: &str, number: f64) -> bool {
        if let Some(value) = self.r.captured.get(name) {
            return im.draft.is_number(*value, number);
        }
        let ("constant", _, Some(op)) = self.made(name) else {
            return false;
        };
        super::reduce::spelled_constant(self.r, op) == if number == 0.0 { "zero" } else { "nan" }
    }
}

/// Ops of a comparator, and bytes of an expression in it.
const MAX_BODY: usize = 256;
const MAX_TEXT: usize = 4096;

/// The name of an op without its dialect.
fn short(name: &str) -> &str {
    let name = name.trim_matches('"');
    name.split_once('.').map_or(name, |(_, short)| short)
}

/// The direction of a `compare`, and whether it is in total order.
fn comparison(r: &Reading<'_>, op: &Op) -> Option<(&'static str, bool)> {
    let words = super::ops::comparison_words(r, op);
    let mut known = ["EQ", "NE", "LT", "LE", "GT", "GE"].into_iter();
    let word = known.find(|known| words.contains(known))?;
    Some((word, words.contains(&"TOTALORDER")))
}

/// An op with its attributes and types, without its operands and results.
fn spelled(r: &Reading<'_>, op: &Op) -> String {
    let mut text = short(r.text(op.name)).to_owned();
    let start = op.name.end as usize;
    let types = op.types.iter().flat_map(|types| {
        let outputs = types.outputs.as_ref().unwrap_or(&types.inputs);
        outputs.iter().chain(&types.inputs)
    });
    let end = types
        .clone()
        .map(|span| span.end as usize)
        .max()
        .unwrap_or(start);
    let body = r.source.get(start..end).unwrap_or("");
    // All but names of values.
    for word in body
        .split_whitespace()
        .filter(|word| !word.trim_start_matches('(').starts_with('%'))
    {
        text.push(' ');
        text += word;
    }
    text
}

/// `chlo.top_k`, along the last axis, in total order of floats; the stated results determine the number of elements and
/// the type of indices.
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
    // `-0` comes behind `+0`, and a NaN with a sign behind all.
    let total = im.draft.dtype(x).is_float();
    let ordered = match total {
        true => in_total_order(&mut im.draft, x)?,
        false => x,
    };
    let mut b = im.draft.builder();
    let clauses = [b.int("dim", dim), b.int("first", first), b.dtype("of", of)];
    let op = b.op(&fusion::TOPK, &[ordered], &clauses)?;
    let [greatest, places] = [0, 1].map(|at| im.draft.ir.result(op, at));
    let greatest = match total {
        true => taken(&mut im.draft, x, places, dim)?,
        false => greatest,
    };
    Ok(vec![greatest, places])
}

/// True if the function named in `called_computations` puts the greatest element first, or if none is named.
fn takes_greatest<'s>(im: &Importer<'s>, r: &Reading<'s>) -> Made<bool> {
    if r.attr(&["called_computations"]).is_none() {
        return Ok(true);
    }
    let (first, descending) = first_of_comparator(im, r)?;
    Ok(first && descending)
}

/// Two facts about the function named in `called_computations`: it orders by its first operand alone, and it puts the
/// greatest first.
fn first_of_comparator<'s>(im: &Importer<'s>, r: &Reading<'s>) -> Made<(bool, bool)> {
    let called = r.attr(&["called_computations"]);
    let called = called.ok_or_else(|| Fault::form("has no comparator"))?;
    let symbol = match called {
        Attr::List(list) if list.len() == 1 => atom(&list[0]),
        _ => None,
    };
    let function = symbol.and_then(|span| im.functions.get(super::bare(r.text(span))).copied());
    let body = function.and_then(|f| Some((f, blocks(f).next()?)));
    let (function, block) = body.ok_or_else(|| Fault::form("has no comparator"))?;
    let names = super::parameters(function).map(|(name, ..)| name);
    let comparator = Comparator::new(r, block, names)?;
    let orders = comparator.orders()?;
    let [order] = orders.as_slice() else {
        return Ok((false, false));
    };
    let first = comparator.parameters.first() == Some(&order.name);
    Ok((first, order.descending))
}

/// The call of `ApproxTopK` by `lax.approx_max_k` and `lax.approx_min_k`: the elements that come first by its comparator,
/// all of them found.
fn approximate<'s>(im: &mut Importer<'s>, r: &Reading<'s>) -> Made<Vec<Value>> {
    let (x, along) = (r.operand(0)?, r.operand(1)?);
    let dim = super::routine::argument(r, "reduction_dim").and_then(|attr| r.numbers(attr));
    let rank = im.draft.dims(x).len();
    let dim = match dim.as_deref() {
        Some([dim]) if (0..rank as i64).contains(dim) => *dim,
        _ => return Err(Fault::form("has no `reduction_dim` that is an axis")),
    };
    let (first, descending) = first_of_comparator(im, r)?;
    if !first {
        return Err(Fault::form("orders by other than its first operand"));
    }
    let shape = super::shape::output_shape(im, r)?;
    let first = match shape.get(dim as usize) {
        Some(fuser_ir::Extent::Static(n)) => i64::try_from(*n).unwrap_or(i64::MAX),
        _ => return Err(Fault::form("has a result of other axes")),
    };
    let counted = counter(&im.draft, along, dim);
    let mut b = im.draft.builder();
    let mut clauses = vec![
        b.int("dim", dim),
        b.int("first", first),
        b.dtype("of", counted.unwrap_or(DType::I64)),
    ];
    if !descending {
        clauses.push(b.flag("smallest"));
    }
    let op = b.op(&fusion::TOPK, &[x], &clauses)?;
    let [values, places] = [0, 1].map(|at| im.draft.ir.result(op, at));
    let others = match counted {
        Some(_) => places,
        None => taken(&mut im.draft, along, places, dim)?,
    };
    Ok(vec![values, others])
}

/// `stablehlo.custom_call` of `TopK`, and of `mhlo.topk` for the greatest elements, the predecessor of `chlo.top_k`.
pub fn custom_call<'s>(im: &mut Importer<'s>, r: &Reading<'s>) -> Made<Vec<Value>> {
    let target = im.symbol_of(r.op).unwrap_or("");
    let end = r.op.types.as_ref().and_then(|types| types.inputs.first());
    let end = end.map_or(r.op.name.end, |span| span.start);
    let range = r.op.name.start as usize..end as usize;
    let smallest = r
        .source
        .get(range)
        .is_none_or(|text| text.contains("largest = false"));
    match target {
        "TopK" | "mhlo.topk" if !smallest && takes_greatest(im, r)? => top_k(im, r),
        "ApproxTopK" => approximate(im, r),
        // Shardings and places, which say nothing on one device.
        "Sharding"
        | "SPMDFullToShardShape"
        | "SPMDShardToFullShape"
        | "annotate_device_placement" => Ok(r.operands.clone()),
        _ if target.starts_with("xla.sdy.") => Ok(r.operands.clone()),
        _ => match super::routine::called(target) {
            Some(read) => read(im, r),
            None => match super::calls::dropped(target, r.outputs.len()) {
                Some(warning) => {
                    im.draft.warn("stablehlo.custom_call", r.op.name, warning);
                    Ok(Vec::new())
                }
                None => Err(super::calls::refused(target)),
            },
        },
    }
}
