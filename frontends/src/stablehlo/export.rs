//! A program as StableHLO text, with `chlo` operations where StableHLO has none: a module of one function.
//!
//! Axes that are stored once are plain ones here, and scalars are tensors of rank 0 that are broadcast where they stand beside others. Sums of
//! 16-bit floats are those of f32, as they are defined, rounded once. Extents must be numbers.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use fuser_dialects::{fusion, task};
use fuser_ir::def::OpDef;
use fuser_ir::print::{clean, distinct};
use fuser_ir::types::{DType, Extent, TypeKind};
use fuser_ir::{AttrKind, Diagnostic, Diagnostics, Ir, Op, Place, Value, float, verify};

use super::ops::{Meaning, OPS};
use super::reduce::{greatest, least};
use crate::codes::EXPORT;
use crate::program::{Fault, Made};

/// Names that are of CHLO.
const CHLO: [&str; 16] = [
    "conj",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cosh",
    "erf",
    "erf_inv",
    "lgamma",
    "erfc",
    "is_inf",
    "next_after",
    "sinh",
    "square",
];

/// The text of the one program of a module; or the ops that StableHLO cannot say.
pub fn export(ir: &Ir, module: Op) -> Result<String, Diagnostics> {
    let block = ir.body(module, 0);
    let ops = block.into_iter().flat_map(|block| ir.block_ops(block));
    let programs: Vec<Op> = ops.filter(|op| ir.is(*op, &task::PROGRAM)).collect();
    let [program] = programs.as_slice() else {
        let text = format!("the module has {} programs, not one", programs.len());
        let items = vec![Diagnostic::error(&EXPORT, Place::Unknown, text)];
        return Err(Diagnostics { items });
    };
    let mut writer = Writer {
        ir,
        text: String::new(),
        names: HashMap::new(),
        used: HashSet::new(),
    };
    let mut found = Diagnostics::default();
    let function = writer.function(*program, &mut found);
    match found.has_errors() {
        true => Err(found),
        false => Ok(function),
    }
}

/// Writes one function.
struct Writer<'a> {
    ir: &'a Ir,
    text: String,
    names: HashMap<Value, String>,
    used: HashSet<String>,
}

/// A tensor in the text: its name, its extents, the type of its elements.
#[derive(Clone)]
struct Tensor {
    name: String,
    shape: Vec<u64>,
    dtype: DType,
}

impl Tensor {
    fn ty(&self) -> String {
        spelled(&self.shape, self.dtype)
    }
}

fn spelled(shape: &[u64], dtype: DType) -> String {
    let extents: String = shape.iter().map(|n| format!("{n}x")).collect();
    format!("tensor<{extents}{}>", dtype.name())
}

fn refuse<T>(message: impl Into<String>) -> Made<T> {
    Err(Fault::new(&EXPORT, message))
}

impl Writer<'_> {
    fn function(&mut self, program: Op, found: &mut Diagnostics) -> String {
        let ir = self.ir;
        let Some(block) = ir.body(program, 0) else {
            return String::new();
        };
        let mut parameters = Vec::new();
        for value in ir.args(block) {
            let name = self.named(*value);
            match self.tensor(*value) {
                Ok(tensor) => parameters.push(format!("{name}: {}", tensor.ty())),
                Err(fault) => found.push(told(ir, program, fault)),
            }
        }
        let mut results = Vec::new();
        for op in ir.block_ops(block) {
            if ir.is(op, &task::RETURN) {
                for value in ir.operands(op) {
                    match self.tensor(value) {
                        Ok(tensor) => results.push(tensor),
                        Err(fault) => found.push(told(ir, op, fault)),
                    }
                }
            } else if let Err(fault) = self.op(op) {
                // What depends on it is written all the same, and thrown away.
                for value in ir.results(op) {
                    self.named(*value);
                }
                found.push(told(ir, op, fault));
            }
        }
        let types: Vec<String> = results.iter().map(Tensor::ty).collect();
        let names: Vec<String> = results.into_iter().map(|tensor| tensor.name).collect();
        let symbol = ir.symbol_name(program).unwrap_or("main");
        let (parameters, types) = (parameters.join(", "), types.join(", "));
        let returned = match names.is_empty() {
            true => "return".to_owned(),
            false => format!("return {} : {types}", names.join(", ")),
        };
        format!(
            "module @{symbol:?} {{\n  func.func public @main({parameters}) -> ({types}) {{\n{}    {returned}\n  }}\n}}\n",
            self.text
        )
    }
    /// The name of a value: its own, unless another has it.
    fn named(&mut self, value: Value) -> String {
        if let Some(name) = self.names.get(&value) {
            return name.clone();
        }
        let hint = self.ir.value_name(value).map_or(String::new(), clean);
        let name = self.fresh(&hint);
        self.names.insert(value, name.clone());
        name
    }
    fn fresh(&mut self, hint: &str) -> String {
        let mut name = format!("%{hint}");
        let mut number = self.used.len();
        while hint.is_empty() && name == "%" || self.used.contains(&name) {
            name = match hint {
                "" => format!("%{number}"),
                hint => format!("%{}", distinct(hint, number as u32)),
            };
            number += 1;
        }
        self.used.insert(name.clone());
        name
    }
    /// A value as the text has it.
    fn tensor(&mut self, value: Value) -> Made<Tensor> {
        let name = self.named(value);
        let (shape, dtype) = self.form(value)?;
        Ok(Tensor { name, shape, dtype })
    }
    /// The extents and the element type of a value.
    fn form(&self, value: Value) -> Made<(Vec<u64>, DType)> {
        let (dims, dtype) = match self.ir.value_kind(value) {
            TypeKind::Scalar(dtype) => (&[][..], *dtype),
            TypeKind::Tensor(tensor) => (&tensor.dims[..], tensor.dtype),
            _ => return refuse("a value is no tensor"),
        };
        if dtype == DType::Index {
            return refuse("StableHLO has no elements of type `index`");
        }
        let known = dims.iter().map(|dim| match dim.extent {
            Extent::Static(n) => Some(n),
            _ => None,
        });
        match known.collect() {
            Some(shape) => Ok((shape, dtype)),
            None => Err(Fault::new(&EXPORT, "has an extent that is no number")
                .help("give every extent a number")),
        }
    }
    fn operand(&mut self, op: Op, index: usize) -> Made<Tensor> {
        match self.ir.operands(op).nth(index) {
            Some(value) => self.tensor(value),
            None => refuse(format!("has no operand {index}")),
        }
    }
    fn line(&mut self, result: &Tensor, body: &str) {
        let _ = writeln!(self.text, "    {} = {body}", result.name);
    }
    /// A tensor that no value of the program is.
    fn inner(&mut self, shape: &[u64], dtype: DType) -> Tensor {
        let name = self.fresh("");
        let shape = shape.to_vec();
        Tensor { name, shape, dtype }
    }
    /// `name operands attributes : (types) -> type`
    fn emit(&mut self, result: &Tensor, name: &str, operands: &[&Tensor], attributes: &str) {
        let names: Vec<&str> = operands.iter().map(|o| o.name.as_str()).collect();
        let types: Vec<String> = operands.iter().map(|o| o.ty()).collect();
        let (names, types, result_type) = (names.join(", "), types.join(", "), result.ty());
        self.line(
            result,
            &format!("{name} {names}{attributes} : ({types}) -> {result_type}"),
        );
    }
    /// The operand in the shape of the result, where it is of rank 0.
    fn spread(&mut self, x: Tensor, shape: &[u64]) -> Tensor {
        if !x.shape.is_empty() || shape.is_empty() {
            return x;
        }
        let wide = self.inner(shape, x.dtype);
        self.emit(&wide, "stablehlo.broadcast_in_dim", &[&x], ", dims = []");
        wide
    }
    fn convert(&mut self, x: Tensor, to: DType) -> Tensor {
        if x.dtype == to {
            return x;
        }
        let made = self.inner(&x.shape, to);
        self.emit(&made, "stablehlo.convert", &[&x], "");
        made
    }
    fn number(&mut self, value: f64, dtype: DType) -> Tensor {
        let made = self.inner(&[], dtype);
        let text = literal(value, dtype);
        self.line(
            &made,
            &format!("stablehlo.constant dense<{text}> : {}", made.ty()),
        );
        made
    }

    fn op(&mut self, op: Op) -> Made<()> {
        let ir = self.ir;
        let Some(def) = ir.def(op) else {
            return refuse("is not known");
        };
        let is = |other: &'static OpDef| std::ptr::eq(def, other);
        if let Some((name, _)) = OPS.iter().find(|(_, meaning)| match meaning {
            Meaning::Same(known) | Meaning::Logical(known, _) | Meaning::Signed(known) => is(known),
            _ => false,
        }) {
            // `fusion.shr` fills types without a sign with zeros.
            let signed = self.tensor(ir.result(op, 0))?.dtype.is_signed();
            let name = match is(&fusion::SHR) && !signed {
                true => "shift_right_logical",
                false => name,
            };
            return self.elementwise(op, name);
        }
        let Some(result) = ir.results(op).first().copied() else {
            return refuse("has no result");
        };
        let result = self.tensor(result)?;
        match READERS.iter().find(|(known, _)| is(known)) {
            Some((_, write)) => write(self, op, &result),
            None => Err(Fault::new(&EXPORT, "has no counterpart in StableHLO")
                .help("`--decompose` of fuser-opt takes some ops apart")),
        }
    }
    fn elementwise(&mut self, op: Op, name: &str) -> Made<()> {
        let result = self.tensor(self.ir.result(op, 0))?;
        let mut operands = Vec::new();
        for index in 0..self.ir.operand_count(op) {
            let operand = self.operand(op, index)?;
            operands.push(self.spread(operand, &result.shape));
        }
        let operands: Vec<&Tensor> = operands.iter().collect();
        if !CHLO.contains(&name) {
            self.emit(&result, &format!("stablehlo.{name}"), &operands, "");
            return Ok(());
        }
        // CHLO has its types without parentheses.
        let names: Vec<&str> = operands.iter().map(|o| o.name.as_str()).collect();
        let types: Vec<String> = operands.iter().map(|o| o.ty()).collect();
        let (names, types) = (names.join(", "), types.join(", "));
        let text = format!("chlo.{name} {names} : {types} -> {}", result.ty());
        self.line(&result, &text);
        Ok(())
    }
    fn ints(&self, op: Op, name: &str) -> Vec<i64> {
        self.ir
            .i64s_of(op, name)
            .map(<[i64]>::to_vec)
            .unwrap_or_default()
    }
}

/// Writes an op, whose result is known.
type Say = fn(&mut Writer<'_>, Op, &Tensor) -> Made<()>;

/// Ops that are written otherwise than elementwise ones.
static READERS: [(&OpDef, Say); 33] = [
    (&fusion::CONSTANT, constant),
    (&fusion::FULL, |w, op, result| w.broadcast(op, result, &[])),
    (&fusion::IOTA, |w, op, result| {
        let dim = w.ir.int_of(op, "dim").unwrap_or(0);
        w.line(
            result,
            &format!("stablehlo.iota dim = {dim} : {}", result.ty()),
        );
        Ok(())
    }),
    (&fusion::CAST, cast),
    (&fusion::BITCAST, |w, op, result| {
        w.plain(op, result, "stablehlo.bitcast_convert", "")
    }),
    (&fusion::COMPARE, compare),
    (&fusion::WHERE, |w, op, result| {
        let mut all = Vec::new();
        for index in 0..3 {
            let operand = w.operand(op, index)?;
            all.push(w.spread(operand, &result.shape));
        }
        w.emit(result, "stablehlo.select", &[&all[0], &all[1], &all[2]], "");
        Ok(())
    }),
    (&fusion::CLAMP, |w, op, result| {
        let (x, low, high) = (w.operand(op, 0)?, w.operand(op, 1)?, w.operand(op, 2)?);
        let all = [low, x, high].map(|operand| w.spread(operand, &result.shape));
        w.emit(result, "stablehlo.clamp", &[&all[0], &all[1], &all[2]], "");
        Ok(())
    }),
    (&fusion::RECIPROCAL, |w, op, result| {
        let x = w.operand(op, 0)?;
        let one = w.number(1.0, x.dtype);
        let one = w.spread(one, &x.shape);
        w.emit(result, "stablehlo.divide", &[&one, &x], "");
        Ok(())
    }),
    (&fusion::SILU, |w, op, result| {
        let x = w.operand(op, 0)?;
        let wide = w.convert(x, result.dtype.compute());
        let gate = w.inner(&wide.shape, wide.dtype);
        w.emit(&gate, "stablehlo.logistic", &[&wide], "");
        let product = w.inner(&wide.shape, wide.dtype);
        w.emit(&product, "stablehlo.multiply", &[&wide, &gate], "");
        w.emit(result, "stablehlo.convert", &[&product], "");
        Ok(())
    }),
    (&fusion::COPY, |w, op, result| {
        w.plain(op, result, "stablehlo.convert", "")
    }),
    (&fusion::SEGMENT_SET, |w, op, result| {
        let x = w.operand(op, 0)?;
        let text = format!("stablehlo.optimization_barrier {} : {}", x.name, x.ty());
        w.line(result, &text);
        Ok(())
    }),
    (&fusion::BROADCAST, |w, op, result| {
        let dims = w.ints(op, "dims");
        w.broadcast(op, result, &dims)
    }),
    (&fusion::EXPAND, |w, op, result| {
        let dims: Vec<i64> = (0..result.shape.len() as i64).collect();
        w.broadcast(op, result, &dims)
    }),
    (&fusion::SQUEEZE, |w, op, result| {
        w.plain(op, result, "stablehlo.reshape", "")
    }),
    (&fusion::RESHAPE, |w, op, result| {
        w.plain(op, result, "stablehlo.reshape", "")
    }),
    (&fusion::PERMUTE, |w, op, result| {
        let dims = format!(", dims = {:?}", w.ints(op, "dims"));
        w.plain(op, result, "stablehlo.transpose", &dims)
    }),
    (&fusion::FLIP, |w, op, result| {
        let dims = format!(", dims = {:?}", w.ints(op, "dims"));
        w.plain(op, result, "stablehlo.reverse", &dims)
    }),
    (&fusion::SLICE, slice),
    (&fusion::PAD, |w, op, result| {
        let (x, value) = (w.operand(op, 0)?, w.operand(op, 1)?);
        let (low, high) = (w.ints(op, "low"), w.ints(op, "high"));
        let amounts = format!(
            ", low = {low:?}, high = {high:?}, interior = {:?}",
            vec![0; low.len()]
        );
        w.emit(result, "stablehlo.pad", &[&x, &value], &amounts);
        Ok(())
    }),
    (&fusion::CAT, |w, op, result| {
        let dim = w.ir.int_of(op, "dim").unwrap_or(0);
        let mut all = Vec::new();
        for index in 0..w.ir.operand_count(op) {
            all.push(w.operand(op, index)?);
        }
        let all: Vec<&Tensor> = all.iter().collect();
        w.emit(
            result,
            "stablehlo.concatenate",
            &all,
            &format!(", dim = {dim}"),
        );
        Ok(())
    }),
    (&fusion::MATMUL, matmul),
    (&fusion::LINEAR, linear),
    (&fusion::TAKE, take),
    (&fusion::DYNAMIC_SLICE, |w, op, result| {
        part(w, op, result, 1)
    }),
    (&fusion::DYNAMIC_UPDATE_SLICE, |w, op, result| {
        part(w, op, result, 2)
    }),
    (&fusion::TRUNC, |w, op, result| {
        let x = w.operand(op, 0)?;
        let [up, down] = ["ceil", "floor"].map(|name| {
            let made = w.inner(&x.shape, x.dtype);
            w.emit(&made, &format!("stablehlo.{name}"), &[&x], "");
            made
        });
        let zero = w.number(0.0, x.dtype);
        let zero = w.spread(zero, &x.shape);
        let below = w.inner(&x.shape, DType::I1);
        w.test(&below, "LT", &x, &zero);
        w.emit(result, "stablehlo.select", &[&below, &up, &down], "");
        Ok(())
    }),
    (&fusion::RELU, |w, op, result| {
        let x = w.operand(op, 0)?;
        let zero = w.number(0.0, x.dtype);
        let zero = w.spread(zero, &x.shape);
        w.emit(result, "stablehlo.maximum", &[&x, &zero], "");
        Ok(())
    }),
    (&fusion::ISNAN, |w, op, result| {
        let x = w.operand(op, 0)?;
        w.test(result, "NE", &x, &x);
        Ok(())
    }),
    (&fusion::SUM, |w, op, result| {
        w.reduce(op, result, "add", 0.0)
    }),
    (&fusion::PROD, |w, op, result| {
        w.reduce(op, result, "multiply", 1.0)
    }),
    (&fusion::MAX, |w, op, result| {
        w.reduce(op, result, "maximum", least(result.dtype))
    }),
    (&fusion::MIN, |w, op, result| {
        w.reduce(op, result, "minimum", greatest(result.dtype))
    }),
];

fn told(ir: &Ir, op: Op, fault: Fault) -> Diagnostic {
    let name = ir.name(op).to_owned();
    let text = format!("`{name}`: {}", fault.message);
    let told = Diagnostic::error(fault.code, verify::op_place(ir, op), text).with_op(name);
    match fault.help {
        Some(help) => told.help(help),
        None => told,
    }
}

/// A number as an element of a dense attribute.
fn literal(value: f64, dtype: DType) -> String {
    match dtype {
        DType::I1 => (value != 0.0).to_string(),
        // The greatest i64 and ui64 are no f64.
        dtype if dtype.is_int() => {
            let (low, high) = dtype.int_range();
            (value as i128).clamp(low, high).to_string()
        }
        dtype if dtype.is_complex() => {
            let part = dtype.part();
            format!("({}, {})", literal(value, part), literal(0.0, part))
        }
        dtype => float::print(dtype, value.to_bits()),
    }
}

impl Writer<'_> {
    /// An op with one operand.
    fn plain(&mut self, op: Op, result: &Tensor, name: &str, attributes: &str) -> Made<()> {
        let x = self.operand(op, 0)?;
        self.emit(result, name, &[&x], attributes);
        Ok(())
    }
    fn broadcast(&mut self, op: Op, result: &Tensor, dims: &[i64]) -> Made<()> {
        let dims = format!(", dims = {dims:?}");
        self.plain(op, result, "stablehlo.broadcast_in_dim", &dims)
    }
    /// A comparison.
    fn test(&mut self, result: &Tensor, predicate: &str, x: &Tensor, y: &Tensor) {
        let kind = match x.dtype {
            dtype if !dtype.is_int() => "FLOAT",
            dtype if dtype.is_signed() => "SIGNED",
            _ => "UNSIGNED",
        };
        let types = format!("({}, {}) -> {}", x.ty(), y.ty(), result.ty());
        let (x, y) = (&x.name, &y.name);
        self.line(
            result,
            &format!("stablehlo.compare {predicate}, {x}, {y}, {kind} : {types}"),
        );
    }
    /// A reduction; 16-bit floats accumulate in f32.
    fn reduce(&mut self, op: Op, result: &Tensor, body: &str, neutral: f64) -> Made<()> {
        let x = self.operand(op, 0)?;
        let sums = matches!(body, "add" | "multiply");
        let dtype = if sums { x.dtype.compute() } else { x.dtype };
        let x = self.convert(x, dtype);
        let dims = self.ints(op, "dims");
        let kept = x.shape.iter().enumerate();
        let kept = kept.filter(|(axis, _)| !dims.contains(&(*axis as i64)));
        let shape: Vec<u64> = kept.map(|(_, n)| *n).collect();
        let init = self.number(neutral, dtype);
        let reduced = self.inner(&shape, dtype);
        let (ty, init_ty, to) = (x.ty(), init.ty(), reduced.ty());
        let body = format!(
            "stablehlo.reduce({} init: {}) applies stablehlo.{body} across dimensions = {dims:?} : ({ty}, {init_ty}) -> {to}",
            x.name, init.name
        );
        self.line(&reduced, &body);
        let reduced = self.convert(reduced, result.dtype);
        // The axes that `keepdim` keeps; without it the names change hands.
        self.emit(result, "stablehlo.reshape", &[&reduced], "");
        Ok(())
    }
}

/// A conversion; one to a type without infinity saturates, so that numbers are limited before.
fn cast(w: &mut Writer<'_>, op: Op, result: &Tensor) -> Made<()> {
    const GREATEST: f64 = 448.0;
    let x = w.operand(op, 0)?;
    if result.dtype != DType::F8E4M3FN || matches!(x.dtype, DType::I1 | DType::F8E4M3FN) {
        return w.plain(op, result, "stablehlo.convert", "");
    }
    let own = match x.dtype.is_computed_float() {
        true => x.dtype,
        false => DType::F32,
    };
    let x = w.convert(x, own);
    let [low, high] = [-GREATEST, GREATEST].map(|limit| w.number(limit, own));
    let limited = w.inner(&x.shape, own);
    w.emit(&limited, "stablehlo.clamp", &[&low, &x, &high], "");
    w.emit(result, "stablehlo.convert", &[&limited], "");
    Ok(())
}

fn constant(w: &mut Writer<'_>, op: Op, result: &Tensor) -> Made<()> {
    let text = match w.ir.attr_of(op, "value") {
        Some(AttrKind::Float { bits, .. }) => float::print(result.dtype, *bits),
        Some(AttrKind::Int { value, .. }) if result.dtype.is_int() => value.to_string(),
        Some(AttrKind::Int { value, .. }) => literal(*value as f64, result.dtype),
        Some(AttrKind::Bool(value)) => value.to_string(),
        Some(AttrKind::Dense {
            bytes,
            splat: false,
            dtype,
            ..
        }) => {
            // Elements are written one by one, rows and all.
            let width = dtype.bytes() as usize;
            let elements: Vec<String> = bytes
                .chunks(width)
                .map(|bytes| element(bytes, *dtype))
                .collect();
            nested(&elements, &result.shape)
        }
        Some(AttrKind::Dense { bytes, dtype, .. }) => element(bytes, *dtype),
        _ => return refuse("has a value of another kind"),
    };
    w.line(
        result,
        &format!("stablehlo.constant dense<{text}> : {}", result.ty()),
    );
    Ok(())
}

/// One element from its bytes.
fn element(bytes: &[u8], dtype: DType) -> String {
    let mut word = [0; 8];
    for (to, from) in word.iter_mut().zip(bytes) {
        *to = *from;
    }
    let bits = u64::from_le_bytes(word);
    let shift = 64 - 8 * dtype.bytes();
    match dtype {
        DType::I1 => (bits & 1 != 0).to_string(),
        dtype if !dtype.is_signed() => bits.to_string(),
        dtype if dtype.is_int() => ((bits << shift) as i64 >> shift).to_string(),
        dtype => float::print(dtype, float::widen(dtype, bits)),
    }
}

/// Elements in brackets, an axis inside the other.
fn nested(elements: &[String], shape: &[u64]) -> String {
    let mut rows = elements.to_vec();
    for length in shape.iter().rev() {
        let length = (*length as usize).max(1);
        rows = rows
            .chunks(length)
            .map(|row| format!("[{}]", row.join(", ")))
            .collect();
    }
    rows.join("")
}

fn compare(w: &mut Writer<'_>, op: Op, result: &Tensor) -> Made<()> {
    let mut all = Vec::new();
    for index in 0..2 {
        let operand = w.operand(op, index)?;
        all.push(w.spread(operand, &result.shape));
    }
    let predicate = w.ir.str_of(op, "predicate").unwrap_or("eq");
    let predicate = predicate.to_ascii_uppercase();
    w.test(result, &predicate, &all[0], &all[1]);
    Ok(())
}

fn slice(w: &mut Writer<'_>, op: Op, result: &Tensor) -> Made<()> {
    let x = w.operand(op, 0)?;
    let (starts, strides) = (w.ints(op, "starts"), w.ints(op, "strides"));
    let ranges = starts.iter().enumerate().map(|(axis, start)| {
        let stride = strides.get(axis).copied().unwrap_or(1);
        let length = result.shape.get(axis).map_or(0, |n| *n as i64);
        let limit = if length == 0 {
            *start
        } else {
            start + (length - 1) * stride + 1
        };
        format!("{start}:{limit}:{stride}")
    });
    let ranges: Vec<String> = ranges.collect();
    let (from, to) = (x.ty(), result.ty());
    w.line(
        result,
        &format!(
            "stablehlo.slice {} [{}] : ({from}) -> {to}",
            x.name,
            ranges.join(", ")
        ),
    );
    Ok(())
}

/// Batch axes that both have are batch axes there; those that only the left operand has are rows.
fn matmul(w: &mut Writer<'_>, op: Op, result: &Tensor) -> Made<()> {
    let (a, b) = (w.operand(op, 0)?, w.operand(op, 1)?);
    let (left, right) = (a.shape.len(), b.shape.len());
    let both = left.min(right).saturating_sub(2);
    if right > left && right > 2 {
        return Err(
            Fault::new(&EXPORT, "has batch axes that only the right operand has")
                .help("give both the same batch axes"),
        );
    }
    if left > right && right > 2 {
        return refuse("has operands of different batches");
    }
    let batch: Vec<usize> = (0..both).collect();
    let terms = (left - 1, right.saturating_sub(2));
    let body = format!(
        "stablehlo.dot_general {}, {}, batching_dims = {batch:?} x {batch:?}, contracting_dims = [{}] x [{}] : ({}, {}) -> {}",
        a.name,
        b.name,
        terms.0,
        terms.1,
        a.ty(),
        b.ty(),
        result.ty()
    );
    w.line(result, &body);
    Ok(())
}

/// A product with a transposed matrix; the bias is added before the one rounding.
fn linear(w: &mut Writer<'_>, op: Op, result: &Tensor) -> Made<()> {
    let (x, weight) = (w.operand(op, 0)?, w.operand(op, 1)?);
    let wide = x.dtype.accumulate();
    let product = w.inner(&result.shape, wide);
    let terms = x.shape.len().saturating_sub(1);
    let types = format!("({}, {}) -> {}", x.ty(), weight.ty(), product.ty());
    let operands = format!("{}, {}", x.name, weight.name);
    let body =
        format!("stablehlo.dot_general {operands}, contracting_dims = [{terms}] x [1] : {types}");
    w.line(&product, &body);
    let mut sum = product;
    if w.ir.operand_count(op) > 2 {
        let bias = w.operand(op, 2)?;
        let bias = w.convert(bias, wide);
        let spread = w.inner(&result.shape, wide);
        let last = result.shape.len().saturating_sub(1);
        w.emit(
            &spread,
            "stablehlo.broadcast_in_dim",
            &[&bias],
            &format!(", dims = [{last}]"),
        );
        let biased = w.inner(&result.shape, wide);
        w.emit(&biased, "stablehlo.add", &[&sum, &spread], "");
        sum = biased;
    }
    w.emit(result, "stablehlo.convert", &[&sum], "");
    Ok(())
}

/// A part that begins at operands from `first` on, or an update of one: a start for each axis, 0 where there is none.
fn part(w: &mut Writer<'_>, op: Op, result: &Tensor, first: usize) -> Made<()> {
    let mut operands = Vec::new();
    for index in 0..first {
        operands.push(w.operand(op, index)?);
    }
    let dims = w.ints(op, "dims");
    let mut starts = Vec::new();
    for axis in 0..result.shape.len() {
        let place = dims.iter().position(|&dim| dim == axis as i64);
        let start = match place {
            Some(place) => {
                let start = w.operand(op, first + place)?;
                w.convert(start, DType::I64)
            }
            None => w.number(0.0, DType::I64),
        };
        starts.push(start);
    }
    let all: Vec<&Tensor> = operands.iter().chain(&starts).collect();
    let (name, sizes) = match first {
        1 => ("dynamic_slice", format!(", sizes = {:?}", result.shape)),
        _ => ("dynamic_update_slice", String::new()),
    };
    w.emit(result, &format!("stablehlo.{name}"), &all, &sizes);
    Ok(())
}

/// A gather of whole parts along one axis.
fn take(w: &mut Writer<'_>, op: Op, result: &Tensor) -> Made<()> {
    let (x, indices) = (w.operand(op, 0)?, w.operand(op, 1)?);
    let axis = w.ir.int_of(op, "dim").unwrap_or(0) as usize;
    let mut sizes = x.shape.clone();
    match sizes.get_mut(axis) {
        Some(size) if *size > 0 => *size = 1,
        _ => return refuse("reads an axis without elements"),
    }
    let count = indices.shape.len();
    let offsets: Vec<usize> = (0..axis).chain(axis + count..result.shape.len()).collect();
    let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
    let (sizes, types) = (
        sizes.join(", "),
        format!("({}, {}) -> {}", x.ty(), indices.ty(), result.ty()),
    );
    let body = format!(
        "\"stablehlo.gather\"({}, {}) <{{dimension_numbers = #stablehlo.gather<offset_dims = {offsets:?}, collapsed_slice_dims = [{axis}], \
         start_index_map = [{axis}], index_vector_dim = {count}>, indices_are_sorted = false, slice_sizes = array<i64: {sizes}>}}> : {types}",
        x.name, indices.name
    );
    w.line(result, &body);
    Ok(())
}
