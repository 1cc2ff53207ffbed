//! A program as a Python definition of nvFuser.
//!
//! Named extents are open (`-1`) in inputs, and sizes of inputs if an op needs them. Arithmetic on 16-bit floats, which
//! yields f32 in nvFuser, is followed by a cast. Operations that nvFuser leaves undefined (an integer divided by 0, a
//! shift by the width, an index beyond the axis) are guarded, so that they give our results. nvFuser's results are
//! tensors: a returned scalar becomes one of rank 0. A definition overwrites memory, so a program that also returns an
//! argument's old elements is refused.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use fuser_dialects::task::verify::alias;
use fuser_dialects::{fusion, task};
use fuser_ir::def::OpDef;
use fuser_ir::layout::{self, Order};
use fuser_ir::types::{DType, Dim, Extent, TypeKind};
use fuser_ir::{AttrKind, Diagnostic, Diagnostics, Ir, Op, Place, Value, float, verify};

use super::ops::narrow::GREATEST_E5M2;
use super::ops::{Meaning, OPS};
use super::value::{Config, NAMES};
use crate::codes::EXPORT;
use crate::program::{Fault, Made};

/// The text of the only program of a module; or the errors of ops that a definition cannot express.
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

/// The ops that are undefined for some integers in nvFuser.
static GUARDED: [&OpDef; 6] = [
    &fusion::DIV,
    &fusion::REM,
    &fusion::REMAINDER,
    &fusion::SHL,
    &fusion::SHR,
    &fusion::LSHR,
];
/// The ops among them that divide.
static DIVIDING: [&OpDef; 3] = [&fusion::DIV, &fusion::REM, &fusion::REMAINDER];

/// The ops whose results are their operand's memory in nvFuser, or may be.
static RENAMING: [&OpDef; 7] = [
    &fusion::COPY,
    &fusion::SEGMENT_SET,
    &fusion::BROADCAST,
    &fusion::EXPAND,
    &fusion::RESHAPE,
    &fusion::SQUEEZE,
    &fusion::PERMUTE,
];

/// Axes by number from the innermost, of axes outermost first.
fn stride_order(order: &Order) -> Vec<usize> {
    let mut numbers = vec![0; order.len()];
    for (place, axis) in order.iter().rev().enumerate() {
        if let Some(number) = numbers.get_mut(*axis) {
            *number = place;
        }
    }
    numbers
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
            let written = match ir.is(op, &task::RETURN) {
                true => self.outputs(program, op),
                false => self.op(op),
            };
            if let Err(fault) = written {
                tell(op, fault);
            }
        }
    }
    /// The results, some of which overwrite an input.
    fn outputs(&mut self, program: Op, returned: Op) -> Made<()> {
        let ir = self.ir;
        let arguments = ir.body(program, 0).map_or(&[][..], |block| ir.args(block));
        let input = |index: usize| {
            let at = usize::try_from(alias(ir, program, index)?).ok()?;
            arguments.get(at).copied()
        };
        let results: Vec<(Value, Option<Value>)> = ir
            .operands(returned)
            .enumerate()
            .map(|(index, value)| (value, input(index)))
            .collect();
        let overwritten: HashSet<Value> = results.iter().filter_map(|(_, input)| *input).collect();
        let mut writing = HashSet::new();
        for (value, input) in results {
            let memory = self.memory(value);
            if overwritten.contains(&memory) && input != Some(value) {
                let name = ir.value_name(memory).unwrap_or("an argument");
                let fault =
                    format!("gives `{name}` as it was, which nvFuser overwrites in its place");
                let fault = Fault::new(&EXPORT, fault);
                return Err(fault.help(
                    "return something computed from it, or clone the tensor before the call",
                ));
            }
            let mut name = self.tensor(value)?;
            let update = match input {
                Some(input) => {
                    // A value overwrites one input: another one gets a copy.
                    if !writing.insert(value) {
                        name = self.line('T', &format!("fd.ops.set({name})"));
                    }
                    let input = self.names.get(&input).cloned().unwrap_or_default();
                    format!(", alias_input={input}")
                }
                None => String::new(),
            };
            let _ = writeln!(self.text, "    fd.add_output({name}{update})");
        }
        Ok(())
    }
    /// The value that owns a value's memory in nvFuser: ops that only rename elements, `set` among them, share their
    /// operand's memory.
    fn memory(&self, value: Value) -> Value {
        let ir = self.ir;
        let mut root = value;
        while let Some(op) = ir.def_op(root).filter(|op| {
            let renames = |def: &&'static OpDef| ir.is(*op, def);
            RENAMING.iter().any(renames)
        }) {
            root = ir.operand(op, 0);
        }
        root
    }
    /// The name of a tensor; for a scalar, that of a rank-0 tensor with its value.
    fn tensor(&mut self, value: Value) -> Made<String> {
        // A failed op's result has no name; the text is discarded.
        let name = self.names.get(&value).cloned().unwrap_or_default();
        let TypeKind::Scalar(dtype) = self.ir.value_kind(value) else {
            return Ok(name);
        };
        let dtype = self.dtype(*dtype)?;
        Ok(self.line(
            'T',
            &format!("fd.ops.full(shape=[], fill_value={name}, dtype=DataType.{dtype})"),
        ))
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
            TypeKind::Tensor(tensor) if layout::is_valid(self.ir, tensor) => {
                Ok((tensor.dims.clone(), tensor.dtype))
            }
            _ => refuse("a value is no tensor with a layout"),
        }
    }
    /// Refuses casts with different results in nvFuser, which saturates and rounds scales toward zero.
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
        let order = self.layout(value);
        // Entries of `contiguity` are in the order of memory.
        let in_memory = order.clone().unwrap_or_else(|| (0..dims.len()).collect());
        let dense = in_memory.iter().map(|axis| match dims.get(*axis) {
            Some(dim) if !once(dim) => "True",
            _ => "None",
        });
        let dense: Vec<&str> = dense.collect();
        let order = order.map_or(String::new(), |order| {
            format!(", stride_order={:?}", stride_order(&order))
        });
        let name = self.line('T', &format!(
            "fd.define_tensor(shape=[{}], contiguity=[{}], dtype=DataType.{dtype}, is_cpu=False{order})",
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
    /// The order in memory that a value's type states.
    fn layout(&self, value: Value) -> Option<Order> {
        layout::stated(self.ir, self.ir.value_kind(value).as_tensor()?)
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
        // A failed op's result has no name; the text is discarded.
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
        if let Some(order) = self.layout(*result) {
            let order = stride_order(&order);
            name = self.line(
                'T',
                &format!("fd.ops.stride_order({name}, stride_order={order:?})"),
            );
        }
        self.names.insert(*result, name);
        Ok(())
    }
    /// The call that computes the result of an op, and the type of the call's value.
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
                Meaning::Ew(known, _)
                    if is(known) && GUARDED.iter().any(|op| is(op)) && dtype.is_int() =>
                {
                    return self
                        .guarded(op, name, dtype)
                        .map(|text| Some((text, dtype)));
                }
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
        } else if is(&fusion::COPY) && self.layout(self.ir.result(op, 0)).is_some() {
            // The layout is what the op requests.
            return Ok(Some((first()?, dtype)));
        } else if is(&fusion::COPY) || is(&fusion::SEGMENT_SET) {
            let name = if is(&fusion::COPY) {
                "set"
            } else {
                "segment_set"
            };
            format!("fd.ops.{name}({})", first()?)
        } else if is(&fusion::FULL) || (is(&fusion::BROADCAST) && self.is_scalar(op, 0)) {
            let (x, to) = (first()?, self.dtype(dtype)?);
            let shape = self.shape(dims)?;
            match self.is_scalar(op, 0) {
                true => format!("fd.ops.full(shape={shape}, fill_value={x}, dtype=DataType.{to})"),
                false => format!("fd.ops.broadcast_in_dim({x}, shape={shape}, broadcast_dims=[])"),
            }
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
            let added = self.ir.operands(op).nth(2);
            let bias = added.is_none_or(|c| is(&fusion::LINEAR) && self.ir.rank(c) == 1);
            let count = if bias { self.ir.operand_count(op) } else { 2 };
            let operands: Made<Vec<String>> = (0..count).map(|at| self.operand(op, at)).collect();
            let product = format!("fd.ops.{name}({})", operands?.join(", "));
            match bias {
                true => product,
                // nvFuser rounds the product before the sum.
                false if dtype != dtype.accumulate() => return Ok(None),
                false => format!("fd.ops.add({product}, {})", self.operand(op, 2)?),
            }
        } else if is(&fusion::TAKE) {
            self.take(op, dims)?
        } else {
            return Ok(None);
        };
        Ok(Some((text, dtype)))
    }
    /// True if an operand is a scalar. A tensor of rank 0 is not.
    fn is_scalar(&self, op: Op, index: usize) -> bool {
        matches!(
            self.ir.value_kind(self.ir.operand(op, index)),
            TypeKind::Scalar(_)
        )
    }
    /// An integer of an operand that is one constant.
    fn known(&self, op: Op, index: usize) -> Option<i128> {
        let made = self.ir.def_op(self.ir.operand(op, index))?;
        match self.ir.attr_of(made, "value")? {
            AttrKind::Int { value, .. } => Some(*value),
            _ => None,
        }
    }
    /// A quotient, a remainder or a shift of integers. Operands without a result in nvFuser are replaced, and their
    /// results are those of our definition.
    fn guarded(&mut self, op: Op, name: &str, dtype: DType) -> Made<String> {
        let (a, b) = (self.operand(op, 0)?, self.operand(op, 1)?);
        let shifts = !DIVIDING.iter().any(|def| self.ir.is(op, def));
        let width = i128::from(dtype.bits());
        let defined = |n: i128| {
            if shifts {
                (0..width).contains(&n)
            } else {
                n != 0
            }
        };
        if self.known(op, 1).is_some_and(defined) {
            return Ok(format!("fd.ops.{name}({a}, {b})"));
        }
        let to = self.dtype(dtype)?;
        let number = |writer: &mut Self, n: i128| {
            writer.line('S', &format!("fd.define_scalar({n}, dtype=DataType.{to})"))
        };
        let zero = number(self, 0);
        if !shifts {
            let one = number(self, 1);
            let outside = self.line('T', &format!("fd.ops.eq({b}, {zero})"));
            let divisor = self.line('T', &format!("fd.ops.where({outside}, {one}, {b})"));
            let made = self.line('T', &format!("fd.ops.{name}({a}, {divisor})"));
            let instead = if self.ir.is(op, &fusion::DIV) {
                zero
            } else {
                a
            };
            return Ok(format!("fd.ops.where({outside}, {instead}, {made})"));
        }
        let bits = number(self, width);
        let outside = self.line('T', &format!("fd.ops.ge({b}, {bits})"));
        let outside = match dtype.is_signed() {
            true => {
                let below = self.line('T', &format!("fd.ops.lt({b}, {zero})"));
                self.line('T', &format!("fd.ops.logical_or({outside}, {below})"))
            }
            false => outside,
        };
        if self.ir.is(op, &fusion::SHR) && dtype.is_signed() {
            // All bits are the sign's.
            let most = number(self, width - 1);
            let by = self.line('T', &format!("fd.ops.where({outside}, {most}, {b})"));
            return Ok(format!("fd.ops.{name}({a}, {by})"));
        }
        let by = self.line('T', &format!("fd.ops.where({outside}, {zero}, {b})"));
        let made = self.line('T', &format!("fd.ops.{name}({a}, {by})"));
        Ok(format!("fd.ops.where({outside}, {zero}, {made})"))
    }
    /// Parts of a tensor at indices. nvFuser checks no index, and accepts one index or a list.
    fn take(&mut self, op: Op, dims: &[Dim]) -> Made<String> {
        let x = self.operand(op, 0)?;
        let (own, _) = self.form(self.ir.operand(op, 0))?;
        let (list, of) = self.form(self.ir.operand(op, 1))?;
        let dim = self.ir.int_of(op, "dim").unwrap_or(0);
        let axis = usize::try_from(dim).ok().and_then(|at| own.get(at));
        let Some(axis) = axis.filter(|axis| axis.extent != Extent::Static(0)) else {
            return refuse("takes from an axis without elements");
        };
        let to = self.dtype(of)?;
        let zero = self.line('S', &format!("fd.define_scalar(0, dtype=DataType.{to})"));
        let last = match axis.extent {
            Extent::Static(n) => {
                let (_, most) = of.int_range();
                let last = i128::from(n - 1).min(most);
                self.line(
                    'S',
                    &format!("fd.define_scalar({last}, dtype=DataType.{to})"),
                )
            }
            _ => {
                let length = self.shape(std::slice::from_ref(axis))?;
                let length = length.trim_matches(['[', ']']).to_owned();
                self.line('S', &format!("fd.ops.sub({length}, 1)"))
            }
        };
        let index = self.operand(op, 1)?;
        let letter = if self.is_scalar(op, 1) { 'S' } else { 'T' };
        let mut index = self.line(letter, &format!("fd.ops.clamp({index}, {zero}, {last})"));
        if !matches!(axis.extent, Extent::Static(_)) {
            index = self.line(
                letter,
                &format!("fd.ops.cast({index}, dtype=DataType.{to})"),
            );
        }
        match list.len() {
            0 => Ok(format!("fd.ops.select({x}, {index}, dim={dim})")),
            1 => Ok(format!("fd.ops.index_select({x}, {index}, dim={dim})")),
            _ => {
                let index = self.line('T', &format!("fd.ops.reshape({index}, new_shape=[-1])"));
                let taken = self.line(
                    'T',
                    &format!("fd.ops.index_select({x}, {index}, dim={dim})"),
                );
                let shape = self.shape(dims)?;
                Ok(format!("fd.ops.reshape({taken}, new_shape={shape})"))
            }
        }
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
        if self
            .ir
            .value_kind(self.ir.result(op, 0))
            .as_tensor()
            .is_none()
        {
            return Ok(format!("fd.define_scalar({value}, dtype=DataType.{to})"));
        }
        let shape = self.shape(dims)?;
        Ok(format!(
            "fd.ops.full(shape={shape}, fill_value={value}, dtype=DataType.{to})"
        ))
    }
}
