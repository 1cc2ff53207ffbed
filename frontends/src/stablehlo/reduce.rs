//! Reductions: those whose body is one op, and the two-operand form of argmax and argmin.
//!
//! A body is compared as an expression of its arguments, independent of names and of the order of its ops.

use std::collections::HashMap;

use fuser_dialects::fusion;
use fuser_ir::Value;
use fuser_ir::def::OpDef;
use fuser_ir::types::DType;

use super::Importer;
use super::ast::{Block, Item, Op, Param};
use super::lambda;
use super::op::{self, Reading};
use crate::program::{Draft, Fault, Made};

/// A reduction: the name of its body's op, the reduction, the op that combines two values, and the neutral value.
pub struct Row {
    body: &'static str,
    pub reduction: &'static OpDef,
    pub combine: &'static OpDef,
    pub scan: Option<&'static OpDef>,
    pub neutral: fn(DType) -> f64,
}

const HELP: &str = "bodies are `add`, `multiply`, `maximum`, `minimum`, `and` and `or`, and those of argmax and argmin";

/// Reductions of numbers.
const NUMBERS: [Row; 4] = [
    Row {
        body: "add",
        reduction: &fusion::SUM,
        combine: &fusion::ADD,
        scan: Some(&fusion::CUMSUM),
        neutral: |_| 0.0,
    },
    Row {
        body: "multiply",
        reduction: &fusion::PROD,
        combine: &fusion::MUL,
        scan: Some(&fusion::CUMPROD),
        neutral: |_| 1.0,
    },
    Row {
        body: "maximum",
        reduction: &fusion::MAX,
        combine: &fusion::MAXIMUM,
        scan: Some(&fusion::CUMMAX),
        neutral: least,
    },
    Row {
        body: "minimum",
        reduction: &fusion::MIN,
        combine: &fusion::MINIMUM,
        scan: Some(&fusion::CUMMIN),
        neutral: greatest,
    },
];
/// Reductions of truth values.
const TRUTHS: [Row; 2] = [
    Row {
        body: "or",
        reduction: &fusion::MAX,
        combine: &fusion::OR,
        scan: None,
        neutral: |_| 0.0,
    },
    Row {
        body: "and",
        reduction: &fusion::MIN,
        combine: &fusion::AND,
        scan: None,
        neutral: |_| 1.0,
    },
];

/// The least value of a type.
pub fn least(dtype: DType) -> f64 {
    match dtype {
        dtype if dtype.is_float() => f64::NEG_INFINITY,
        dtype => dtype.int_range().0 as f64,
    }
}

/// The greatest value of a type.
pub fn greatest(dtype: DType) -> f64 {
    match dtype {
        dtype if dtype.is_float() => f64::INFINITY,
        dtype => dtype.int_range().1 as f64,
    }
}

/// The maximum number of ops in a body, and of bytes in an expression: repeated doubling of expressions is refused.
const MAX_BODY: usize = 32;
const MAX_EXPRESSION: usize = 1024;

/// `stablehlo.reduce`
pub fn reduce<'s>(im: &mut Importer<'s>, r: &Reading<'s>) -> Made<Vec<Value>> {
    let dims = r.ints(&["dimensions"])?;
    let bodies = body(r)?;
    let count = r.operands.len() / 2;
    let (inputs, inits) = r.operands.split_at(count);
    if bodies.len() != count || inits.len() != count {
        return Err(Fault::form(
            "has not one operand, one init and one result each",
        ));
    }
    if let ([a, b], [x, index]) = (bodies.as_slice(), inputs)
        && let Some(def) = argument(a, b)
        && counts(&im.draft, *index, &dims)
    {
        return indices(&mut im.draft, def, (*x, *index), &dims);
    }
    let mut rows = Vec::new();
    for (at, (x, body)) in inputs.iter().zip(&bodies).enumerate() {
        match row(&im.draft, *x, body, at) {
            Ok(row) => rows.push(row),
            Err(_) => return lambda::reduce(im, r, [inputs, inits], &dims, &bodies),
        }
    }
    let mut results = Vec::new();
    for ((x, init), row) in inputs.iter().zip(inits).zip(rows) {
        let mut sorted = dims.clone();
        sorted.sort_unstable();
        let mut b = im.draft.builder();
        let clause = [b.ints("dims", &sorted)];
        let reduced = b.value(row.reduction, &[*x], &clause)?;
        results.push(started(&mut im.draft, row, reduced, *init)?);
    }
    Ok(results)
}

/// The table row of a body over elements of the type of `x`; the arguments of operand `at` are `a<at>` and `b<at>`.
pub fn row(draft: &Draft, x: Value, body: &str, at: usize) -> Made<&'static Row> {
    let rows = match draft.dtype(x) {
        DType::I1 => &TRUTHS[..],
        _ => &NUMBERS[..],
    };
    // On truth values `maximum` is `or`, and `minimum` is `and`.
    let same = |row: &&Row| {
        let (a, b) = (format!("a{at}"), format!("b{at}"));
        let names = match row.body {
            "or" => ["or", "maximum"],
            "and" => ["and", "minimum"],
            body => [body; 2],
        };
        names
            .iter()
            .any(|n| body == format!("{n}({a},{b})") || body == format!("{n}({b},{a})"))
    };
    rows.iter().find(same).ok_or_else(|| {
        let shown = shown(body);
        Fault::form(format!("reduces by `{shown}`")).help(HELP)
    })
}

/// An expression in a diagnostic: where it is long, inner operands are left out.
pub fn shown(text: &str) -> String {
    const LENGTH: usize = 100;
    if text.len() <= LENGTH {
        return text.to_owned();
    }
    let to_depth = |most: usize| {
        let (mut made, mut depth) = (String::new(), 0usize);
        for c in text.chars() {
            depth = depth.saturating_sub(usize::from(c == ')'));
            if depth <= most {
                made.push(c);
            }
            depth += usize::from(c == '(');
            if c == '(' && depth == most + 1 {
                made += "...";
            }
        }
        made
    };
    let depths = (1..LENGTH).map(to_depth);
    let fitting = depths.take_while(|made| made.len() <= LENGTH).last();
    fitting.unwrap_or_else(|| to_depth(0))
}

/// The reduced tensor, combined with the initial value unless that is neutral.
pub fn started(draft: &mut Draft, row: &Row, reduced: Value, init: Value) -> Made {
    let neutral = (row.neutral)(draft.dtype(reduced));
    match draft.is_number(init, neutral) {
        true => Ok(reduced),
        false => draft.make(row.combine, &[reduced, init]),
    }
}

/// The expressions that the body of a reduction gives.
pub fn body(r: &Reading<'_>) -> Made<Vec<String>> {
    let applied = r.words().find(|word| word.contains('.'));
    if let Some((_, name)) = applied.and_then(|word| word.split_once('.')) {
        return Ok(vec![format!("{name}(a0,b0)")]);
    }
    let block = r.region().ok_or_else(|| Fault::form("has no body"))?;
    let names = arguments(r, block).into_iter();
    let names = names.map(|(name, (second, at))| {
        let letter = if second { "b" } else { "a" };
        (name, format!("{letter}{at}"))
    });
    let names = names.collect();
    expressions(r, block, names, HELP)
}

/// The arguments of a reduction's body: false for the accumulator, true for an element; and the number of the operand.
pub fn arguments<'s>(r: &Reading<'s>, block: &'s Block) -> HashMap<&'s str, (bool, usize)> {
    let count = (r.operands.len() / 2).max(1);
    let mut names = HashMap::new();
    // In custom form `(a0, b0) (a1, b1)`, in generic form `(a0, a1, b0, b1)`.
    let listed = r.op.tail.iter().filter_map(|item| match item {
        Item::Parens(list) => Some(list),
        _ => None,
    });
    for (at, list) in listed.enumerate() {
        for (param, second) in list.iter().zip([false, true]) {
            if let Param::Typed(name, ..) = param {
                names.insert(r.text(*name), (second, at));
            }
        }
    }
    for (at, (name, ..)) in block.args.iter().enumerate() {
        names.insert(r.text(*name), (at >= count, at % count));
    }
    names
}

/// The expressions that a body of two arguments gives, `a0` and `b0`.
pub fn pair(r: &Reading<'_>, help: &'static str) -> Made<Vec<String>> {
    let block = r.region().ok_or_else(|| Fault::form("has no body"))?;
    of_pair(r, block, help)
}

/// The expressions that two bodies of two arguments give, one each.
pub fn pairs_of(r: &Reading<'_>, help: &'static str) -> Made<[String; 2]> {
    let each = op::blocks(r.op).map(|block| of_pair(r, block, help));
    let each: Vec<Vec<String>> = each.collect::<Made<_>>()?;
    let each = <[String; 2]>::try_from(each.concat());
    each.map_err(|_| Fault::form("has not two bodies with a result each"))
}

fn of_pair(r: &Reading<'_>, block: &Block, help: &'static str) -> Made<Vec<String>> {
    let letters = ["a0", "b0"].map(str::to_owned);
    let args = block.args.iter().map(|(name, ..)| r.text(*name));
    expressions(r, block, args.zip(letters).collect(), help)
}

/// The expressions that a block gives, in `names` for its arguments.
pub fn expressions<'s>(
    r: &Reading<'s>,
    block: &'s Block,
    mut names: HashMap<&'s str, String>,
    help: &'static str,
) -> Made<Vec<String>> {
    let large = || Fault::form("has a body of many ops").help(help);
    for (name, value) in &r.captured {
        names.insert(name, format!("outer.{value:?}()"));
    }
    if block.ops.len() > MAX_BODY {
        return Err(large());
    }
    for inner in &block.ops {
        let name = r.text(inner.name).trim_matches('"');
        let name = name.split_once('.').map_or(name, |(_, short)| short);
        let operands = op::operands(inner);
        let operands: Option<Vec<&str>> = operands
            .into_iter()
            .map(|operand| names.get(r.text(operand)).map(String::as_str))
            .collect();
        let operands =
            operands.ok_or_else(|| Fault::form("has a body that uses other values").help(help))?;
        if name == "return" {
            return Ok(operands.into_iter().map(str::to_owned).collect());
        }
        // A sharding says nothing of elements.
        let text = match (name, operands.as_slice()) {
            ("sharding_constraint", [same]) => (*same).to_owned(),
            _ => format!("{}({})", called(r, inner, name), operands.join(",")),
        };
        if text.len() > MAX_EXPRESSION {
            return Err(large());
        }
        if let [(result, None)] = inner.results.as_slice() {
            names.insert(r.text(*result), text);
        }
    }
    Err(Fault::form("has a body without an end"))
}

/// The name of an op in expressions: `compare.LT`, with `TOTALORDER` for that order; `zero` and `nan` for these
/// constants.
fn called(r: &Reading<'_>, inner: &Op, name: &str) -> String {
    let words = inner.items.iter().filter_map(|item| match item {
        Item::Word(word) => Some(r.text(*word)),
        _ => None,
    });
    let mut kept: Vec<&str> = words
        .enumerate()
        .filter(|(at, word)| *at == 0 || *word == "TOTALORDER")
        .map(|(_, word)| word)
        .collect();
    for key in ["comparison_direction", "compare_type"] {
        let attr = op::attr(r.source, inner, key).and_then(op::atom);
        let text = attr.map_or("", |span| r.text(span).trim_end_matches('>'));
        let word = text.split(' ').next_back().unwrap_or("");
        if key == "comparison_direction" || word == "TOTALORDER" {
            kept.extend(Some(word).filter(|word| !word.is_empty()));
        }
    }
    if name != "constant" {
        let words = kept.iter().map(|word| format!(".{word}"));
        return words.fold(name.to_owned(), |name, word| name + &word);
    }
    spelled_constant(r, inner)
}

/// A constant in expressions: `zero` and `nan`, or its elements.
pub fn spelled_constant(r: &Reading<'_>, inner: &Op) -> String {
    let plain = inner.items.iter().find_map(|item| match item {
        Item::Attr(attr) => op::atom(attr),
        _ => None,
    });
    let value = plain.or_else(|| op::attr(r.source, inner, "value").and_then(op::atom));
    match value.map_or("", |span| r.text(span)) {
        "dense<0.000000e+00>" => "zero".to_owned(),
        "dense<0x7E00>" | "dense<0x7FC0>" | "dense<0x7FC00000>" | "dense<0x7FF8000000000000>" => {
            "nan".to_owned()
        }
        text => format!("constant.{text}"),
    }
}

/// The op for a body with two results, a value and its index, in the form of `jnp.argmax` and `jnp.argmin`: the first
/// of equal elements wins, and NaN counts as the most extreme.
fn argument(value: &str, index: &str) -> Option<&'static OpDef> {
    let ops: [(&str, &'static OpDef); 2] = [("GT", &fusion::ARGMAX), ("LT", &fusion::ARGMIN)];
    let found = ops.into_iter().find(|(word, _)| {
        let wins = format!("or(compare.{word}(a0,b0),compare.NE(a0,a0))");
        let first = "and(compare.EQ(a0,b0),compare.LT(a1,b1))";
        value == format!("select({wins},a0,b0)")
            && index == format!("select(or({wins},{first}),a1,b1)")
    });
    found.map(|(_, def)| def)
}

/// True if a value counts along the reduced axis, in the form of `jnp.argmax`.
fn counts(draft: &Draft, index: Value, dims: &[i64]) -> bool {
    let made = draft.ir.def_op(index);
    let iota = made.filter(|op| draft.ir.is(*op, &fusion::IOTA));
    iota.is_some_and(|op| dims.len() == 1 && draft.ir.int_of(op, "dim") == dims.first().copied())
}

/// The greatest or smallest elements of `x` and their indices; `index` counts along the axis.
fn indices(
    draft: &mut Draft,
    def: &'static OpDef,
    (x, index): (Value, Value),
    dims: &[i64],
) -> Made<Vec<Value>> {
    let [dim] = dims else {
        return Err(Fault::form("picks elements along several axes"));
    };
    // For booleans, the first greatest element is the first that is true.
    let ordered = match draft.dtype(x) {
        DType::I1 => draft.cast(x, DType::I32)?,
        _ => x,
    };
    let narrow = draft.dtype(index);
    let of = match narrow {
        DType::I32 | DType::I64 => narrow,
        _ => DType::I64,
    };
    let mut b = draft.builder();
    let clauses = [b.int("dim", *dim), b.dtype("of", of)];
    let found = b.value(def, &[ordered], &clauses)?;
    let found = draft.cast(found, narrow)?;
    let extreme = if std::ptr::eq(def, &fusion::ARGMAX) {
        &fusion::MAX
    } else {
        &fusion::MIN
    };
    let mut b = draft.builder();
    let clause = [b.ints("dims", dims)];
    let value = b.value(extreme, &[x], &clause)?;
    Ok(vec![value, found])
}
