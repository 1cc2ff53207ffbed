//! Sorts, and the indices of extremes.

use fuser_ir::Op;
use fuser_ir::types::DType;

use super::reduce::neutral_text;
use super::{Form, Tensor, Writer, refuse};
use crate::program::Made;

/// The first index of a greatest or smallest element, where NaN counts as the most extreme, in the form of
/// `jnp.argmax`.
pub fn arg(w: &mut Writer<'_>, op: Op, to: &Form, predicate: &str) -> Made<Tensor> {
    let (x, dim) = (w.operand(op, 0)?, w.axis(op));
    match x.shape.get(dim) {
        Some(0) => return Ok(w.filled(&to.shape, &neutral_text("minimum", to.dtype), to.dtype)),
        Some(_) => {}
        None => return refuse("reduces no axis"),
    }
    let extreme = if predicate == "GT" {
        "maximum"
    } else {
        "minimum"
    };
    let indices = w.iota(dim, &x.shape, DType::I64);
    let init = w.filled(&[], &neutral_text(extreme, x.dtype), x.dtype);
    // An element that does not exceed the initial value of the reduction comes before it.
    let last = w.filled(&[], &neutral_text("minimum", DType::I64), DType::I64);
    let mut shape = x.shape.clone();
    shape.remove(dim);
    let forms = [x.dtype, DType::I64].map(|dtype| Form {
        shape: shape.clone(),
        dtype,
    });
    let outer = std::mem::take(&mut w.text);
    let [a, i, b, j] = [x.dtype, DType::I64, x.dtype, DType::I64].map(|d| w.inner(&[], d));
    let beyond = w.test(predicate, &a, &b);
    let nan = w.test("NE", &a, &a);
    let wins = w.same("or", &[&beyond, &nan]);
    let equal = w.test("EQ", &a, &b);
    let earlier = w.test("LT", &i, &j);
    let first = w.same("and", &[&equal, &earlier]);
    let index = w.same("or", &[&wins, &first]);
    let (value, index) = (w.choice(&wins, &a, &b), w.choice(&index, &i, &j));
    let body = block(w, outer, &[&a, &i, &b, &j], &[&value, &index]);
    let attributes = format!("dimensions = array<i64: {dim}>");
    let made = w.generic(
        "reduce",
        &[&x, &indices, &init, &last],
        &attributes,
        &body,
        &forms,
    );
    match made.as_slice() {
        [_, found] => {
            let found = w.convert(found, to.dtype);
            Ok(w.reshaped(&found, &to.shape))
        }
        _ => refuse("has not two results"),
    }
}

/// The text of a block with these arguments and results, from the lines that the writer has collected; restores the
/// earlier lines.
fn block(w: &mut Writer<'_>, outer: String, args: &[&Tensor], results: &[&Tensor]) -> String {
    let lines = std::mem::replace(&mut w.text, outer);
    let args: Vec<String> = args
        .iter()
        .map(|x| format!("{}: {}", x.name, x.ty()))
        .collect();
    let names: Vec<&str> = results.iter().map(|x| x.name.as_str()).collect();
    let types: Vec<String> = results.iter().map(|x| x.ty()).collect();
    let inner: String = lines.lines().map(|line| format!("  {line}\n")).collect();
    format!(
        "    ^bb0({}):\n{inner}      stablehlo.return {} : {}\n",
        args.join(", "),
        names.join(", "),
        types.join(", ")
    )
}

/// The operand sorted, and with `indexed` also the original indices of its elements.
fn sorted(w: &mut Writer<'_>, op: Op, x: &Tensor, indexed: bool, descending: bool) -> Vec<Tensor> {
    let dim = w.axis(op);
    let outer = std::mem::take(&mut w.text);
    let [a, b] = [(); 2].map(|()| w.inner(&[], x.dtype));
    let keys = [&a, &b].map(|x| key(w, x));
    let predicate = if descending { "GT" } else { "LT" };
    let before = match x.dtype.is_float() {
        true => in_total_order(w, predicate, &keys),
        false => w.test(predicate, &keys[0], &keys[1]),
    };
    let mut args = vec![&a, &b];
    let places = [(); 2].map(|()| w.inner(&[], DType::I64));
    if indexed {
        args.extend(&places);
    }
    let body = block(w, outer, &args, &[&before]);
    let indices = indexed.then(|| w.iota(dim, &x.shape, DType::I64));
    let mut operands = vec![x];
    operands.extend(&indices);
    let forms: Vec<Form> = operands
        .iter()
        .map(|x| Form {
            shape: x.shape.clone(),
            dtype: x.dtype,
        })
        .collect();
    let attributes = format!("dimension = {dim} : i64, is_stable = true");
    w.generic("sort", &operands, &attributes, &body, &forms)
}

/// The key for comparing floats: zeros are equal, and all NaN are equal and the greatest.
fn key(w: &mut Writer<'_>, x: &Tensor) -> Tensor {
    if !x.dtype.is_float() {
        return x.clone();
    }
    let zero = w.filled(&[], "0.000000e+00", x.dtype);
    let none = w.test("EQ", x, &zero);
    let plain = w.choice(&none, &zero, x);
    let nan = w.test("NE", x, x);
    let greatest = w.number(f64::NAN, x.dtype);
    w.choice(&nan, &greatest, &plain)
}

fn in_total_order(w: &mut Writer<'_>, predicate: &str, keys: &[Tensor; 2]) -> Tensor {
    let made = w.inner(&[], DType::I1);
    let [a, b] = keys;
    let (ty, to) = (a.ty(), made.ty());
    let (a, b) = (&a.name, &b.name);
    let line =
        format!("stablehlo.compare {predicate}, {a}, {b}, TOTALORDER : ({ty}, {ty}) -> {to}");
    w.line(&made, &line);
    made
}

/// The first elements along the sorted axis, in the form of a result.
fn first(w: &mut Writer<'_>, x: &Tensor, to: &Form) -> Tensor {
    let bounds: Vec<(u64, u64)> = to.shape.iter().map(|n| (0, *n)).collect();
    let cut = w.cut(x, &bounds);
    w.convert(&cut, to.dtype)
}

/// True if a flag of an op is set.
fn flag(w: &Writer<'_>, op: Op, name: &str) -> bool {
    w.ir.attr_of(op, name).is_some()
}

pub fn sort(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    let (x, descending) = (w.operand(op, 0)?, flag(w, op, "descending"));
    let sorted = sorted(w, op, &x, false, descending);
    Ok(first(w, &sorted[0], to))
}

pub fn argsort(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    let (x, descending) = (w.operand(op, 0)?, flag(w, op, "descending"));
    let sorted = sorted(w, op, &x, true, descending);
    Ok(first(w, &sorted[1], to))
}

pub fn topk(w: &mut Writer<'_>, op: Op, to: &[Form]) -> Made<Vec<Tensor>> {
    let (x, smallest) = (w.operand(op, 0)?, flag(w, op, "smallest"));
    let sorted = sorted(w, op, &x, true, !smallest);
    let results = sorted.iter().zip(to);
    Ok(results.map(|(x, to)| first(w, x, to)).collect())
}
