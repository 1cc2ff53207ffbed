//! A program as a Python definition of nvFuser.
//!
//! Named extents are left open (`-1`) in inputs, and are sizes of inputs where an op needs them. Arithmetic on 16-bit floats, whose result is f32
//! there, is cast back.

use std::collections::HashMap;
use std::fmt::Write;

use fuser_dialects::task::verify::alias;
use fuser_dialects::{fusion, task};
use fuser_ir::def::OpDef;
use fuser_ir::types::{DType, Dim, Extent, TypeKind};
use fuser_ir::{AttrKind, Diagnostic, Diagnostics, Ir, Op, Place, Value, float, verify};

use super::ops::narrow::GREATEST_E5M2;
use super::ops::{Meaning, OPS};
use super::value::{Config, NAMES};
use crate::codes::EXPORT;
use crate::program::{Fault, Made};

/// The text of the one program of a module; or the ops that a definition cannot say.
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
        sizes: HashMap::new(),
        next: 0,
    };
    let mut found = Diagnostics::default();
    writer.function(*program, &mut found);
    match found.has_errors() {
        true => Err(found),
        false => Ok(writer.text),
    }
}

/// Writes one definition.
struct Writer<'a> {
    ir: &'a Ir,
    text: String,
    names: HashMap<Value, String>,
    /// An input and its axis for each named extent.
    sizes: HashMap<Extent, (String, usize)>,
    next: usize,
}

fn refuse<T>(message: impl Into<String>) -> Made<T> {
    Err(Fault::new(&EXPORT, message))
}

impl Writer<'_> {
    fn function(&mut self, program: Op, found: &mut Diagnostics) {
        let ir = self.ir;
        let symbol = ir.symbol_name(program).unwrap_or("fusion");
        let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let symbol: String = symbol.chars().map(word).collect();
        let _ = writeln!(
            self.text,
            "def nvfuser_{symbol}(fd : FusionDefinition) -> None :"
        );
        let Some(block) = ir.body(program, 0) else {
            return;
        };
        let mut tell = |op: Op, fault: Fault| {
            let name = ir.name(op).to_owned();
            let text = format!("`{name}`: {}", fault.message);
            let told = Diagnostic::error(fault.code, verify::op_place(ir, op), text).with_op(name);
            found.push(match fault.help {
                Some(help) => told.help(help),
                None => told,
            });
        };
        for value in ir.args(block) {
            if let Err(fault) = self.input(*value) {
                tell(program, fault);
            }
        }
        for op in ir.block_ops(block) {
            if ir.is(op, &task::RETURN) {
                let named = |value: Value| self.names.get(&value).cloned().unwrap_or_default();
                for (index, value) in ir.operands(op).enumerate() {
                    let input = alias(ir, program, index).and_then(|at| usize::try_from(at).ok());
                    let input = input.and_then(|at| ir.args(block).get(at).copied());
                    let update = input.map(|input| format!(", alias_input={}", named(input)));
                    let (name, update) = (named(value), update.unwrap_or_default());
                    let _ = writeln!(self.text, "    fd.add_output({name}{update})");
                }
            } else if let Err(fault) = self.op(op) {
                tell(op, fault);
            }
        }
    }
    fn fresh(&mut self, letter: char) -> String {
        self.next += 1;
        format!("{letter}{}", self.next - 1)
    }
    fn line(&mut self, letter: char, body: &str) -> String {
        let name = self.fresh(letter);
        let _ = writeln!(self.text, "    {name} = {body}");
        name
    }
    fn dtype(&self, dtype: DType) -> Made<&'static str> {
        match NAMES.iter().find(|(_, known)| *known == dtype) {
            Some((name, _)) if dtype != DType::Index => Ok(name),
            _ => refuse(format!(
                "nvFuser has no elements of type `{}`",
                dtype.name()
            )),
        }
    }
    fn form(&self, value: Value) -> Made<(Vec<Dim>, DType)> {
        match self.ir.value_kind(value) {
            TypeKind::Scalar(dtype) => Ok((Vec::new(), *dtype)),
            TypeKind::Tensor(tensor) if tensor.encoding.is_none() => {
                Ok((tensor.dims.clone(), tensor.dtype))
            }
            _ => refuse("a value is no tensor in row-major order"),
        }
    }
    /// Refuses casts whose results are others in nvFuser, which saturates and rounds scales toward zero.
    fn same_cast(&self, op: Op, to: DType) -> Made<()> {
        let x = self.ir.operand(op, 0);
        let from = self.ir.value_kind(x).dtype();
        match to {
            _ if from == Some(to) => Ok(()),
            DType::F8E8M0FNU => refuse("rounds scales otherwise in nvFuser"),
            DType::F8E5M2 if !self.is_limited(x) => {
                let fault = Fault::new(&EXPORT, "gives infinity, which nvFuser never does");
                Err(fault.help("`fusion.clamp` to -57344.0 and 57344.0 before the cast"))
            }
            _ => Ok(()),
        }
    }
    /// True if numbers are brought into the range of `f8E5M2`.
    fn is_limited(&self, value: Value) -> bool {
        let clamp = self.ir.def_op(value);
        let clamp = clamp.filter(|op| self.ir.is(*op, &fusion::CLAMP));
        let is = |op: Op, index: usize, number: f64| {
            let made = self.ir.def_op(self.ir.operand(op, index));
            let attr = made.and_then(|made| self.ir.attr_of(made, "value"));
            matches!(attr, Some(AttrKind::Float { bits, .. }) if f64::from_bits(*bits) == number)
        };
        clamp.is_some_and(|op| is(op, 1, -GREATEST_E5M2) && is(op, 2, GREATEST_E5M2))
    }
    fn input(&mut self, value: Value) -> Made<()> {
        let (dims, dtype) = self.form(value)?;
        let dtype = self.dtype(dtype)?;
        if self.ir.value_kind(value).as_tensor().is_none() {
            let name = self.line(
                'S',
                &format!("fd.define_scalar(None, dtype=DataType.{dtype})"),
            );
            self.names.insert(value, name);
            return Ok(());
        }
        let shape = dims.iter().map(|dim| match dim.extent {
            Extent::Static(n) => n.to_string(),
            _ => "-1".to_owned(),
        });
        let shape: Vec<String> = shape.collect();
        let once = |dim: &Dim| dim.broadcast || dim.extent == Extent::Static(1);
        let dense = dims
            .iter()
            .map(|dim| if once(dim) { "None" } else { "True" });
        let dense: Vec<&str> = dense.collect();
        let name = self.line('T', &format!(
            "fd.define_tensor(shape=[{}], contiguity=[{}], dtype=DataType.{dtype}, is_cpu=False)",
            shape.join(", "), dense.join(", ")
        ));
        for (axis, dim) in dims.iter().enumerate() {
            self.sizes
                .entry(dim.extent)
                .or_insert_with(|| (name.clone(), axis));
        }
        self.names.insert(value, name);
        Ok(())
    }
    /// A shape: numbers, and sizes of inputs.
    fn shape(&mut self, dims: &[Dim]) -> Made<String> {
        let mut items = Vec::new();
        for dim in dims {
            items.push(match (dim.extent, self.sizes.get(&dim.extent).cloned()) {
                (Extent::Static(n), _) => n.to_string(),
                (_, Some((input, axis))) => {
                    self.line('S', &format!("fd.ops.size({input}, dim={axis})"))
                }
                _ => return refuse("has an extent that is no axis of an input"),
            });
        }
        Ok(format!("[{}]", items.join(", ")))
    }
    fn operand(&self, op: Op, index: usize) -> Made<String> {
        let value = self.ir.operands(op).nth(index);
        // What an op that failed gives has no name; the text is thrown away.
        match value {
            Some(value) => Ok(self.names.get(&value).cloned().unwrap_or_default()),
            None => refuse(format!("has no operand {index}")),
        }
    }
    fn op(&mut self, op: Op) -> Made<()> {
        let ir = self.ir;
        let (Some(def), [result]) = (ir.def(op), ir.results(op)) else {
            return refuse("has no counterpart in nvFuser");
        };
        let (dims, dtype) = self.form(*result)?;
        let body = self.body(op, def, &dims, dtype)?;
        let Some((body, made)) = body else {
            return refuse("has no counterpart in nvFuser");
        };
        let mut name = match body.strip_prefix("fd.define_scalar") {
            Some(_) => self.line('S', &body),
            None => self.line('T', &body),
        };
        if made != dtype {
            let to = self.dtype(dtype)?;
            name = self.line('T', &format!("fd.ops.cast({name}, dtype=DataType.{to})"));
        }
        self.names.insert(*result, name);
        Ok(())
    }
    /// The call that makes the result of an op, and the type of what it gives.
    fn body(
        &mut self,
        op: Op,
        def: &'static OpDef,
        dims: &[Dim],
        dtype: DType,
    ) -> Made<Option<(String, DType)>> {
        let is = |other: &'static OpDef| std::ptr::eq(def, other);
        let ints = |name: &str| format!("{:?}", self.ir.i64s_of(op, name).unwrap_or_default());
        let first = || self.operand(op, 0);
        for (name, meaning) in OPS {
            match meaning {
                Meaning::Ew(known, config) if is(known) => {
                    let operands: Made<Vec<String>> = (0..self.ir.operand_count(op))
                        .map(|at| self.operand(op, at))
                        .collect();
                    let wide = *config != Config::Keep && dtype.is_float();
                    let made = if wide { dtype.compute() } else { dtype };
                    return Ok(Some((
                        format!("fd.ops.{name}({})", operands?.join(", ")),
                        made,
                    )));
                }
                Meaning::Fold(known, _) if is(known) => {
                    let keep = if self.ir.get_attr(op, "keepdim").is_some() {
                        "True"
                    } else {
                        "False"
                    };
                    let to = self.dtype(dtype)?;
                    let text = format!(
                        "fd.ops.{name}({}, dims={}, keepdim={keep}, dtype=DataType.{to})",
                        first()?,
                        ints("dims")
                    );
                    return Ok(Some((text, dtype)));
                }
                Meaning::Scan(known) if is(known) => {
                    let dim = self.ir.int_of(op, "dim").unwrap_or(0);
                    return Ok(Some((
                        format!("fd.ops.{name}({}, dim={dim})", first()?),
                        dtype,
                    )));
                }
                _ => {}
            }
        }
        let text = if is(&fusion::CONSTANT) {
            return self
                .constant(op, dims, dtype)
                .map(|text| Some((text, dtype)));
        } else if is(&fusion::CAST) {
            self.same_cast(op, dtype)?;
            format!(
                "fd.ops.cast({}, dtype=DataType.{})",
                first()?,
                self.dtype(dtype)?
            )
        } else if is(&fusion::COMPARE) {
            let predicate = self.ir.str_of(op, "predicate").unwrap_or("eq");
            format!("fd.ops.{predicate}({}, {})", first()?, self.operand(op, 1)?)
        } else if is(&fusion::WHERE) {
            format!(
                "fd.ops.where({}, {}, {})",
                first()?,
                self.operand(op, 1)?,
                self.operand(op, 2)?
            )
        } else if is(&fusion::COPY) || is(&fusion::SEGMENT_SET) {
            let name = if is(&fusion::COPY) {
                "set"
            } else {
                "segment_set"
            };
            format!("fd.ops.{name}({})", first()?)
        } else if is(&fusion::BROADCAST) || is(&fusion::EXPAND) {
            let places = match is(&fusion::BROADCAST) {
                true => ints("dims"),
                false => format!("{:?}", (0..dims.len()).collect::<Vec<_>>()),
            };
            let x = first()?;
            let shape = self.shape(dims)?;
            format!("fd.ops.broadcast_in_dim({x}, shape={shape}, broadcast_dims={places})")
        } else if is(&fusion::RESHAPE) {
            let x = first()?;
            let shape = self.shape(dims)?;
            format!("fd.ops.reshape({x}, new_shape={shape})")
        } else if is(&fusion::SQUEEZE) || is(&fusion::PERMUTE) {
            let name = if is(&fusion::SQUEEZE) {
                "squeeze"
            } else {
                "permute"
            };
            format!("fd.ops.{name}({}, dims={})", first()?, ints("dims"))
        } else if is(&fusion::MATMUL) || is(&fusion::LINEAR) {
            let name = if is(&fusion::MATMUL) {
                "matmul"
            } else {
                "linear"
            };
            let operands: Made<Vec<String>> = (0..self.ir.operand_count(op))
                .map(|at| self.operand(op, at))
                .collect();
            format!("fd.ops.{name}({})", operands?.join(", "))
        } else if is(&fusion::TAKE) {
            let dim = self.ir.int_of(op, "dim").unwrap_or(0);
            format!(
                "fd.ops.index_select({}, {}, dim={dim})",
                first()?,
                self.operand(op, 1)?
            )
        } else {
            return Ok(None);
        };
        Ok(Some((text, dtype)))
    }
    fn constant(&mut self, op: Op, dims: &[Dim], dtype: DType) -> Made<String> {
        let float = |value: f64, exact: String| match value.is_finite() {
            true => exact,
            false => format!("float(\"{value}\")"),
        };
        let value = match self.ir.attr_of(op, "value") {
            Some(AttrKind::Float { bits, .. }) => {
                float(f64::from_bits(*bits), float::print(DType::F64, *bits))
            }
            Some(AttrKind::Int { value, .. }) => value.to_string(),
            Some(AttrKind::Bool(true)) => "True".to_owned(),
            Some(AttrKind::Bool(false)) => "False".to_owned(),
            _ => return refuse("is a table of constants"),
        };
        let to = self.dtype(dtype)?;
        if dims.is_empty() {
            return Ok(format!("fd.define_scalar({value}, dtype=DataType.{to})"));
        }
        let shape = self.shape(dims)?;
        Ok(format!(
            "fd.ops.full(shape={shape}, fill_value={value}, dtype=DataType.{to})"
        ))
    }
}
