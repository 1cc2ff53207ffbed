//! A program as StableHLO text, with `chlo` operations where StableHLO has none. The module has one function, and loops
//! are regions.
//!
//! The text of each op has exactly the meaning of the op. If StableHLO or XLA gives another result, or leaves it
//! undefined, additional operations establish ours. Axes that are stored once become plain axes. Scalars become tensors
//! of rank 0, broadcast if they are used with others. Sums of 16-bit floats are computed in f32 and rounded once.
//! Extents must be numbers.
//!
//! | file | |
//! |---|---|
//! | this file | the function, the names, the lines |
//! | `ops.rs` | the table of all ops |
//! | `apart.rs` | ops that XLA would rewrite together |
//! | `loops.rs` | loops |
//! | `elementwise.rs`, `shape.rs`, `reduce.rs`, `index.rs`, `order.rs`, `product.rs` | ops that are more than a row |
//!
//! Complex numbers stay complex for ops with equal definitions in both systems; [`needs_parts`] selects the ops for
//! which they are split.

mod apart;
mod elementwise;
mod index;
mod loops;
mod ops;
mod order;
mod product;
mod reduce;
mod shape;

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use fuser_dialects::task::{self, calls, pairs};
use fuser_ir::print::{clean, distinct};
use fuser_ir::types::{DType, Extent, TypeKind};
use fuser_ir::{Diagnostic, Diagnostics, Ir, Op, Place, Value, float, verify};

use crate::codes::EXPORT;
use crate::program::{Fault, Made};
use apart::Known;
pub use ops::needs_parts;

/// The mark of a name that is assigned at the end.
const OPEN: &str = "%~";

/// The text of the only program of a module; or the errors of ops that StableHLO cannot express.
pub fn export(ir: &Ir, module: Op) -> Result<String, Diagnostics> {
    let programs = calls::roots(ir, module);
    let [program] = programs.as_slice() else {
        let text = format!("the module has {} programs, not one", programs.len());
        let items = vec![Diagnostic::error(&EXPORT, Place::Unknown, text)];
        return Err(Diagnostics { items });
    };
    let mut writer = Writer {
        ir,
        text: String::new(),
        made: HashMap::new(),
        count: 0,
        shown: HashMap::new(),
        known: Known::default(),
        used: HashSet::new(),
        found: Diagnostics::default(),
    };
    let function = writer.function(*program);
    match writer.found.has_errors() {
        true => Err(writer.found),
        false => Ok(function),
    }
}

/// Writes one function.
struct Writer<'a> {
    ir: &'a Ir,
    text: String,
    /// The names of the values so far.
    made: HashMap<Value, Tensor>,
    /// Names that are given at the end.
    count: usize,
    /// The names among them that are results of ops, with the printed names.
    shown: HashMap<String, String>,
    used: HashSet<String>,
    known: Known,
    /// The ops that StableHLO cannot say.
    found: Diagnostics,
}

/// The extents and the element type of a tensor.
#[derive(Clone)]
struct Form {
    shape: Vec<u64>,
    dtype: DType,
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

fn told(ir: &Ir, op: Op, fault: Fault) -> Diagnostic {
    let name = ir.name(op).to_owned();
    let text = format!("`{name}`: {}", fault.message);
    let told = Diagnostic::error(fault.code, verify::op_place(ir, op), text).with_op(name);
    match fault.help {
        Some(help) => told.help(help),
        None => told,
    }
}

impl Writer<'_> {
    fn function(&mut self, program: Op) -> String {
        let ir = self.ir;
        let Some(block) = ir.body(program, 0) else {
            return String::new();
        };
        let mut parameters = Vec::new();
        for (number, value) in ir.args(block).iter().enumerate() {
            let paired = pairs::is_marked(ir, program, pairs::LISTS[0], number);
            match self.parameter(*value, paired) {
                Ok(tensor) => parameters.push(format!("{}: {}", tensor.name, tensor.ty())),
                Err(fault) => self.found.push(told(ir, program, fault)),
            }
        }
        let mut results = Vec::new();
        for op in ir.block_ops(block) {
            if ir.is(op, &task::RETURN) {
                for (number, value) in ir.operands(op).enumerate() {
                    let paired = pairs::is_marked(ir, program, pairs::LISTS[1], number);
                    match self.returned(value, paired) {
                        Ok(tensor) => results.push(tensor),
                        Err(fault) => self.found.push(told(ir, op, fault)),
                    }
                }
            } else if let Err(fault) = self.op(op) {
                self.found.push(told(ir, op, fault));
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
        let body = format!("{}    {returned}\n", self.text);
        let body = self.with_names(&body);
        format!(
            "module @{symbol:?} {{\n  func.func public @main({parameters}) -> ({types}) {{\n{body}  }}\n}}\n"
        )
    }
    /// A parameter. If it is `paired`, it takes complex numbers, and its last axis are their parts.
    fn parameter(&mut self, value: Value, paired: bool) -> Made<Tensor> {
        let Form { shape, dtype } = self.form(value)?;
        let name = self.own_name(value);
        let (Some(complex), true, [outer @ .., _]) = (dtype.complex(), paired, &shape[..]) else {
            let tensor = Tensor { name, shape, dtype };
            self.made.insert(value, tensor.clone());
            return Ok(tensor);
        };
        let parameter = Tensor {
            name,
            shape: outer.to_vec(),
            dtype: complex,
        };
        let column = [outer, &[1]].concat();
        let halves = ["real", "imag"].map(|half| {
            let half = self.call(half, &[&parameter], dtype);
            self.reshaped(&half, &column)
        });
        let both = self.joined(&halves, outer.len(), &shape);
        self.made.insert(value, both);
        Ok(parameter)
    }
    /// A result. If it is `paired`, it returns complex numbers, and its last axis are their parts.
    fn returned(&mut self, value: Value, paired: bool) -> Made<Tensor> {
        let tensor = self.tensor(value)?;
        let complex = tensor.dtype.complex();
        let (Some(complex), true, [outer @ .., _]) = (complex, paired, &tensor.shape[..]) else {
            return Ok(tensor);
        };
        let halves = [0, 1].map(|at| {
            let mut bounds: Vec<(u64, u64)> = outer.iter().map(|n| (0, *n)).collect();
            bounds.push((at, at + 1));
            let half = self.cut(&tensor, &bounds);
            self.reshaped(&half, outer)
        });
        Ok(self.call("complex", &[&halves[0], &halves[1]], complex))
    }

    /// A name for a value: its own, unless another has it.
    fn own_name(&mut self, value: Value) -> String {
        let hint = self.ir.value_name(value).map_or(String::new(), clean);
        self.fresh(&hint)
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
    /// The text with names for all values, numbered in order of appearance.
    fn with_names(&mut self, text: &str) -> String {
        let mut pieces = text.split(OPEN);
        let mut whole = pieces.next().unwrap_or("").to_owned();
        for piece in pieces {
            let digits = piece.bytes().take_while(u8::is_ascii_digit).count();
            let (number, rest) = piece.split_at(digits);
            let open = format!("{OPEN}{number}");
            let name = match self.shown.get(&open) {
                Some(name) => name.clone(),
                None => {
                    let name = self.fresh("");
                    self.shown.insert(open, name.clone());
                    name
                }
            };
            whole += &name;
            whole += rest;
        }
        whole
    }
    /// A tensor that is made now.
    fn inner(&mut self, shape: &[u64], dtype: DType) -> Tensor {
        let name = format!("{OPEN}{}", self.count);
        self.count += 1;
        let shape = shape.to_vec();
        Tensor { name, shape, dtype }
    }
    /// The name of a value.
    fn tensor(&mut self, value: Value) -> Made<Tensor> {
        if let Some(tensor) = self.made.get(&value) {
            return Ok(tensor.clone());
        }
        // The op that makes the value failed, and the text will be discarded.
        let Form { shape, dtype } = self.form(value)?;
        Ok(self.inner(&shape, dtype))
    }
    /// The extents and the element type of a value.
    fn form(&self, value: Value) -> Made<Form> {
        let (dims, dtype) = match self.ir.value_kind(value) {
            TypeKind::Scalar(dtype) => (&[][..], *dtype),
            TypeKind::Tensor(tensor) => (&tensor.dims[..], tensor.dtype),
            _ => return refuse("a value is no tensor"),
        };
        // An `index` is an integer of 64 bits, and StableHLO has no such type.
        let dtype = match dtype {
            DType::Index => DType::I64,
            dtype => dtype,
        };
        let known = dims.iter().map(|dim| match dim.extent {
            Extent::Static(n) => Some(n),
            _ => None,
        });
        match known.collect() {
            Some(shape) => Ok(Form { shape, dtype }),
            None => Err(Fault::new(&EXPORT, "has an extent that is no number")
                .help("give every extent a number")),
        }
    }
    fn op(&mut self, op: Op) -> Made<()> {
        let before = self.count;
        let results: Vec<Value> = self.ir.results(op).to_vec();
        let forms: Vec<Form> = results.iter().map(|v| self.form(*v)).collect::<Made<_>>()?;
        self.known.note(self.ir, op);
        let made = ops::write(self, op, &forms)?;
        for (value, tensor) in results.into_iter().zip(made) {
            let number = tensor
                .name
                .strip_prefix(OPEN)
                .and_then(|n| n.parse::<usize>().ok());
            let is_new = number.is_some_and(|number| number >= before);
            if is_new && !self.shown.contains_key(&tensor.name) {
                let name = self.own_name(value);
                self.shown.insert(tensor.name.clone(), name);
            }
            self.made.insert(value, tensor);
        }
        Ok(())
    }
    fn operand(&mut self, op: Op, index: usize) -> Made<Tensor> {
        match self.ir.operands(op).nth(index) {
            Some(value) => self.tensor(value),
            None => refuse(format!("has no operand {index}")),
        }
    }
    /// All operands.
    fn operands(&mut self, op: Op) -> Made<Vec<Tensor>> {
        (0..self.ir.operand_count(op))
            .map(|index| self.operand(op, index))
            .collect()
    }
    /// All operands broadcast to one shape, with barriers after producers that XLA would rewrite together with this op.
    fn spread_operands(&mut self, op: Op, shape: &[u64]) -> Made<Vec<Tensor>> {
        let mut operands = self.operands(op)?;
        for (index, x) in operands.iter_mut().enumerate() {
            *x = self.spread(x.clone(), shape);
            if self.known.is_rewritten(self.ir, op, index) {
                *x = self.kept(x);
            }
        }
        Ok(operands)
    }
    fn ints(&self, op: Op, name: &str) -> Vec<i64> {
        self.ir
            .i64s_of(op, name)
            .map(<[i64]>::to_vec)
            .unwrap_or_default()
    }
    /// The axis that a clause names.
    fn axis(&self, op: Op) -> usize {
        self.ir.int_of(op, "dim").unwrap_or(0) as usize
    }
}

/// Lines.
impl Writer<'_> {
    fn line(&mut self, result: &Tensor, body: &str) {
        let _ = writeln!(self.text, "    {} = {body}", result.name);
    }
    /// `name operands attributes : (types) -> type`
    fn emit(&mut self, result: &Tensor, name: &str, operands: &[&Tensor], attributes: &str) {
        let names: Vec<&str> = operands.iter().map(|o| o.name.as_str()).collect();
        let types: Vec<String> = operands.iter().map(|o| o.ty()).collect();
        let (names, types, result_type) = (names.join(", "), types.join(", "), result.ty());
        // CHLO has its types without parentheses.
        let types = match name.starts_with("chlo.") {
            true => types,
            false => format!("({types})"),
        };
        let line = format!("{name} {names}{attributes} : {types} -> {result_type}");
        self.line(result, &line);
    }
    /// An elementwise op of StableHLO, whose result has elements `dtype`.
    fn call(&mut self, name: &str, operands: &[&Tensor], dtype: DType) -> Tensor {
        let shape = operands.last().map_or(Vec::new(), |o| o.shape.clone());
        let made = self.inner(&shape, dtype);
        let name = match name.contains('.') {
            true => name.to_owned(),
            false => format!("stablehlo.{name}"),
        };
        self.emit(&made, &name, operands, "");
        made
    }
    /// Writes an op whose result has the elements' type of the last operand.
    fn same(&mut self, name: &str, operands: &[&Tensor]) -> Tensor {
        let dtype = operands.last().map_or(DType::I1, |o| o.dtype);
        self.call(name, operands, dtype)
    }
    /// A comparison.
    fn test(&mut self, predicate: &str, x: &Tensor, y: &Tensor) -> Tensor {
        let kind = match x.dtype {
            dtype if !dtype.is_int() => "FLOAT",
            dtype if dtype.is_signed() => "SIGNED",
            _ => "UNSIGNED",
        };
        let result = self.inner(&y.shape, DType::I1);
        let types = format!("({}, {}) -> {}", x.ty(), y.ty(), result.ty());
        let (x, y) = (&x.name, &y.name);
        self.line(
            &result,
            &format!("stablehlo.compare {predicate}, {x}, {y}, {kind} : {types}"),
        );
        result
    }
    fn choice(&mut self, condition: &Tensor, then: &Tensor, otherwise: &Tensor) -> Tensor {
        self.same("select", &[condition, then, otherwise])
    }
    /// The operand, broadcast to the shape of the result if it has rank 0.
    fn spread(&mut self, x: Tensor, shape: &[u64]) -> Tensor {
        if !x.shape.is_empty() || shape.is_empty() {
            return x;
        }
        self.broadcast(&x, &[], shape)
    }
    fn broadcast(&mut self, x: &Tensor, dims: &[usize], shape: &[u64]) -> Tensor {
        let wide = self.inner(shape, x.dtype);
        let dims = format!(", dims = {dims:?}");
        self.emit(&wide, "stablehlo.broadcast_in_dim", &[x], &dims);
        wide
    }
    /// A conversion. XLA may use a 16-bit number without its rounding unless a barrier prevents that.
    fn convert(&mut self, x: &Tensor, to: DType) -> Tensor {
        let computed = x.name.starts_with(OPEN);
        let narrow = matches!(x.dtype, DType::F16 | DType::BF16);
        match to {
            to if to == x.dtype => x.clone(),
            DType::F32 | DType::F64 if computed && narrow => {
                let rounded = self.kept(x);
                self.call("convert", &[&rounded], to)
            }
            to => self.call("convert", &[x], to),
        }
    }
    /// The tensor behind an optimization barrier, across which XLA simplifies nothing.
    fn kept(&mut self, x: &Tensor) -> Tensor {
        let made = self.inner(&x.shape, x.dtype);
        let line = format!("stablehlo.optimization_barrier {} : {}", x.name, x.ty());
        self.line(&made, &line);
        made
    }
    fn reshaped(&mut self, x: &Tensor, shape: &[u64]) -> Tensor {
        if x.shape == shape {
            return x.clone();
        }
        let made = self.inner(shape, x.dtype);
        self.emit(&made, "stablehlo.reshape", &[x], "");
        made
    }
    /// The part from the first index to before the second, along each axis.
    fn cut(&mut self, x: &Tensor, bounds: &[(u64, u64)]) -> Tensor {
        let shape: Vec<u64> = bounds.iter().map(|(from, to)| to - from).collect();
        if x.shape == shape {
            return x.clone();
        }
        let made = self.inner(&shape, x.dtype);
        let ranges: Vec<String> = bounds.iter().map(|(a, b)| format!("{a}:{b}")).collect();
        let attributes = format!(" [{}]", ranges.join(", "));
        self.emit(&made, "stablehlo.slice", &[x], &attributes);
        made
    }
    /// Tensors one after another along an axis.
    fn joined(&mut self, all: &[Tensor], dim: usize, shape: &[u64]) -> Tensor {
        let all: Vec<&Tensor> = all.iter().collect();
        let dtype = all.first().map_or(DType::I1, |x| x.dtype);
        let made = self.inner(shape, dtype);
        let attributes = format!(", dim = {dim}");
        self.emit(&made, "stablehlo.concatenate", &all, &attributes);
        made
    }
    /// A constant of rank 0.
    fn number(&mut self, value: f64, dtype: DType) -> Tensor {
        self.filled(&[], &literal(value, dtype), dtype)
    }
    /// A constant of the form of another tensor.
    fn like(&mut self, value: f64, x: &Tensor) -> Tensor {
        self.filled(&x.shape, &literal(value, x.dtype), x.dtype)
    }
    fn filled(&mut self, shape: &[u64], text: &str, dtype: DType) -> Tensor {
        let made = self.inner(shape, dtype);
        let ty = made.ty();
        self.line(&made, &format!("stablehlo.constant dense<{text}> : {ty}"));
        made
    }
    fn iota(&mut self, dim: usize, shape: &[u64], dtype: DType) -> Tensor {
        let made = self.inner(shape, dtype);
        let ty = made.ty();
        self.line(&made, &format!("stablehlo.iota dim = {dim} : {ty}"));
        made
    }
    /// An op in generic form, with the bodies of its regions; one name denotes all of its results.
    fn generic(
        &mut self,
        name: &str,
        operands: &[&Tensor],
        attributes: &str,
        body: &str,
        results: &[Form],
    ) -> Vec<Tensor> {
        let names: Vec<&str> = operands.iter().map(|o| o.name.as_str()).collect();
        let types: Vec<String> = operands.iter().map(|o| o.ty()).collect();
        let given: Vec<String> = results.iter().map(|f| spelled(&f.shape, f.dtype)).collect();
        let (names, types, given) = (names.join(", "), types.join(", "), given.join(", "));
        let made: Vec<Tensor> = results
            .iter()
            .map(|form| self.inner(&form.shape, form.dtype))
            .collect();
        let left: Vec<&str> = made.iter().map(|tensor| tensor.name.as_str()).collect();
        let attributes = match attributes {
            "" => String::new(),
            attributes => format!(" <{{{attributes}}}>"),
        };
        let body = match body {
            "" => String::new(),
            body => format!(" ({{\n{body}    }})"),
        };
        let _ = writeln!(
            self.text,
            "    {} = \"stablehlo.{name}\"({names}){attributes}{body} : ({types}) -> ({given})",
            left.join(", ")
        );
        made
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
