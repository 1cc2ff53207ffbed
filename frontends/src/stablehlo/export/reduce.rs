//! Reductions and scans.

use fuser_ir::Op;
use fuser_ir::types::DType;

use super::super::reduce::{greatest, least};
use super::{Form, Tensor, Writer, literal, refuse};
use crate::program::Made;

/// The number that changes nothing.
fn neutral(body: &str, dtype: DType) -> f64 {
    match body {
        "add" => 0.0,
        "multiply" => 1.0,
        "maximum" => least(dtype),
        _ => greatest(dtype),
    }
}

/// The type in which a body accumulates.
fn accumulated(body: &str, dtype: DType) -> DType {
    match body {
        "add" | "multiply" => dtype.compute(),
        _ => dtype,
    }
}

/// A reduction; 16-bit floats accumulate in f32. A reduction over no axes is its operand, including `-0`.
pub fn by(w: &mut Writer<'_>, op: Op, to: &Form, body: &str) -> Made<Tensor> {
    let (x, dims) = (w.operand(op, 0)?, w.ints(op, "dims"));
    Ok(reduced(w, &x, &dims, to, body))
}

fn reduced(w: &mut Writer<'_>, x: &Tensor, dims: &[i64], to: &Form, body: &str) -> Tensor {
    if dims.is_empty() {
        return x.clone();
    }
    let x = w.convert(x, accumulated(body, x.dtype));
    let sum = over(w, &x, dims, body);
    let sum = w.convert(&sum, to.dtype);
    // The axes that `keepdim` keeps.
    w.reshaped(&sum, &to.shape)
}

/// The reduction of a tensor over the axes `dims`.
fn over(w: &mut Writer<'_>, x: &Tensor, dims: &[i64], body: &str) -> Tensor {
    let kept = x.shape.iter().enumerate();
    let kept = kept.filter(|(axis, _)| !dims.contains(&(*axis as i64)));
    let shape: Vec<u64> = kept.map(|(_, n)| *n).collect();
    let lengths = &x.shape;
    let init = w.number(neutral(body, x.dtype), x.dtype);
    let made = w.inner(&shape, x.dtype);
    let types = format!("({}, {}) -> {}", x.ty(), init.ty(), made.ty());
    let (name, init) = (&x.name, &init.name);
    let line = format!(
        "stablehlo.reduce({name} init: {init}) applies stablehlo.{body} across dimensions = {dims:?} : {types}"
    );
    w.line(&made, &line);
    let terms: u64 = dims.iter().map(|dim| lengths[*dim as usize]).product();
    match (body, terms) {
        // XLA removes a sum of one term, so a `-0` would stay.
        ("add", 1) => without_negative_zero(w, &made),
        _ => made,
    }
}

/// Replaces `-0` by `+0`, the value of a sum that is zero.
pub fn without_negative_zero(w: &mut Writer<'_>, x: &Tensor) -> Tensor {
    if !x.dtype.is_float() {
        return x.clone();
    }
    let zero = w.like(0.0, x);
    let none = w.test("EQ", x, &zero);
    w.choice(&none, &zero, x)
}

/// The extreme of the elements that are not NaN.
pub fn of_numbers(w: &mut Writer<'_>, op: Op, to: &Form, body: &str) -> Made<Tensor> {
    let (x, dims) = (w.operand(op, 0)?, w.ints(op, "dims"));
    if dims.is_empty() {
        return Ok(x);
    }
    let nan = w.test("NE", &x, &x);
    let nothing = w.like(neutral(body, x.dtype), &x);
    let numbers = w.choice(&nan, &nothing, &x);
    Ok(reduced(w, &numbers, &dims, to, body))
}

/// The sum over the number of elements.
fn mean_of(w: &mut Writer<'_>, x: &Tensor, dims: &[i64]) -> (Tensor, u64) {
    let lengths = dims.iter().map(|dim| x.shape[*dim as usize]);
    let count: u64 = lengths.product();
    let sum = over(w, x, dims, "add");
    (divided(w, &sum, count as f64), count)
}

/// A quotient; XLA would multiply by the rounded inverse of a constant.
fn divided(w: &mut Writer<'_>, x: &Tensor, divisor: f64) -> Tensor {
    let divisor = w.like(divisor, x);
    let divisor = w.kept(&divisor);
    w.same("divide", &[x, &divisor])
}

pub fn mean(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    let (x, dims) = (w.operand(op, 0)?, w.ints(op, "dims"));
    if dims.is_empty() {
        return Ok(x);
    }
    let wide = w.convert(&x, x.dtype.compute());
    let (mean, _) = mean_of(w, &wide, &dims);
    let mean = w.convert(&mean, to.dtype);
    Ok(w.reshaped(&mean, &to.shape))
}

/// Variance and mean in two passes over the operand; both use the unrounded mean.
pub fn var_mean(w: &mut Writer<'_>, op: Op, to: &[Form]) -> Made<Vec<Tensor>> {
    let (x, dims) = (w.operand(op, 0)?, w.ints(op, "dims"));
    let [variance_form, mean_form] = to else {
        return refuse("has not two results");
    };
    let correction = w.ir.int_of(op, "correction").unwrap_or(0);
    let wide = w.convert(&x, x.dtype.compute());
    let (mean, count) = match dims.is_empty() {
        true => (wide.clone(), 1),
        false => mean_of(w, &wide, &dims),
    };
    let kept = (0..x.shape.len()).filter(|axis| !dims.contains(&(*axis as i64)));
    let kept: Vec<usize> = kept.collect();
    let spread = w.broadcast(&mean, &kept, &x.shape);
    let distance = w.same("subtract", &[&wide, &spread]);
    let square = w.same("multiply", &[&distance, &distance]);
    let sum = match dims.is_empty() {
        true => square,
        false => over(w, &square, &dims, "add"),
    };
    let degrees = (count as i64).saturating_sub(correction);
    let variance = match degrees {
        ..=0 => w.like(f64::NAN, &sum),
        degrees => divided(w, &sum, degrees as f64),
    };
    // Over no axes the mean is the operand.
    let mean = if dims.is_empty() { x } else { mean };
    let results = [(variance, variance_form), (mean, mean_form)];
    let results = results.map(|(made, form)| {
        let made = w.convert(&made, form.dtype);
        w.reshaped(&made, &form.shape)
    });
    Ok(results.to_vec())
}

/// A prefix reduction, as a window over all elements up to each one.
pub fn scan(w: &mut Writer<'_>, op: Op, to: &Form, body: &str) -> Made<Tensor> {
    let (x, dim) = (w.operand(op, 0)?, w.axis(op));
    let Some(length) = x.shape.get(dim).copied() else {
        return refuse("scans no axis");
    };
    if x.shape.contains(&0) {
        return Ok(x);
    }
    let x = w.convert(&x, accumulated(body, x.dtype));
    // The first element stays as it is, `-0` too.
    let start = match body {
        "add" if x.dtype.is_float() => -0.0,
        body => neutral(body, x.dtype),
    };
    let init = w.number(start, x.dtype);
    let rank = x.shape.len();
    let row = |one: &dyn Fn(usize) -> String| -> String {
        let all: Vec<String> = (0..rank).map(one).collect();
        all.join(", ")
    };
    let at = |axis: usize, own: u64, other: u64| if axis == dim { own } else { other };
    let ones = row(&|_| "1".to_owned());
    let window = row(&|axis| at(axis, length, 1).to_string());
    let padding = row(&|axis| format!("[{}, 0]", at(axis, length - 1, 0)));
    let attributes = format!(
        "base_dilations = array<i64: {ones}>, padding = dense<[{padding}]> : tensor<{rank}x2xi64>, \
         window_dilations = array<i64: {ones}>, window_dimensions = array<i64: {window}>, window_strides = array<i64: {ones}>"
    );
    let body = combining(w, body, x.dtype);
    let form = Form {
        shape: x.shape.clone(),
        dtype: x.dtype,
    };
    let made = w.generic("reduce_window", &[&x, &init], &attributes, &body, &[form]);
    match made.first() {
        Some(made) => Ok(w.convert(made, to.dtype)),
        None => refuse("has no result"),
    }
}

/// The body of a region that combines two elements by an op.
pub fn combining(w: &mut Writer<'_>, name: &str, dtype: DType) -> String {
    let [a, b, c] = [(); 3].map(|()| w.inner(&[], dtype));
    let ty = a.ty();
    let (a, b, c) = (a.name, b.name, c.name);
    format!(
        "    ^bb0({a}: {ty}, {b}: {ty}):\n      {c} = stablehlo.{name} {a}, {b} : {ty}\n      stablehlo.return {c} : {ty}\n"
    )
}

/// The neutral number of a body as text.
pub fn neutral_text(body: &str, dtype: DType) -> String {
    literal(neutral(body, dtype), dtype)
}
