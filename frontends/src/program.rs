//! A program under construction: one function of tensors, its source locations, and the mistakes found so far.

use std::collections::HashSet;
use std::sync::Arc;

use fuser_dialects::fusion::build::{float_attr, int_attr};
use fuser_dialects::{builtin, fusion, task};
use fuser_ir::build::Builder;
use fuser_ir::def::{OpDef, OpError, Registry};
use fuser_ir::diag::{CodeDef, Severity};
use fuser_ir::limits::{MAX_IDENTIFIER_BYTES, MAX_RANK, MAX_SOURCE_BYTES};
use fuser_ir::loc::LocKind;
use fuser_ir::source::SourceMap;
use fuser_ir::span::Span;
use fuser_ir::types::{DType, Dim, Extent, TypeId};
use fuser_ir::{
    AttrId, AttrKind, Block, Diagnostic, Diagnostics, Ir, LocId, NewOp, Op, Place, Region, Sym,
    Value,
};

use crate::codes::{FORM, LIMIT, UNDEFINED};

/// The most mistakes reported for one text.
pub const MAX_FAULTS: usize = 100;

/// A mistake. Without a place it is about the op that is read.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The code.
    pub code: &'static CodeDef,
    /// The message, without the op's name.
    pub message: String,
    /// Advice on the correction.
    pub help: Option<String>,
    /// The place.
    pub span: Option<Span>,
    /// The value that the mistake concerns, whichever op made it.
    pub about: Option<Value>,
}

/// The result of reading an op.
pub type Made<T = Value> = Result<T, Fault>;

impl Fault {
    /// A mistake with this message.
    pub fn new(code: &'static CodeDef, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            help: None,
            span: None,
            about: None,
        }
    }
    /// A form of an op that is not read.
    pub fn form(message: impl Into<String>) -> Self {
        Self::new(&FORM, message)
    }
    /// Sets the place.
    pub fn at(self, span: Span) -> Self {
        let span = Some(span);
        Self { span, ..self }
    }
    /// Names the value that the mistake concerns: it is reported only if that value could be created.
    pub fn about(self, value: Value) -> Self {
        let about = Some(value);
        Self { about, ..self }
    }
    /// Adds advice.
    pub fn help(self, help: impl Into<String>) -> Self {
        let help = Some(help.into());
        Self { help, ..self }
    }
}

impl From<OpError> for Fault {
    fn from(error: OpError) -> Self {
        Self {
            code: error.code.unwrap_or(&FORM),
            message: error.message,
            help: error.help,
            span: None,
            about: None,
        }
    }
}

/// A program in the making.
pub struct Draft {
    /// The IR.
    pub ir: Ir,
    /// The location of the ops that come next.
    pub loc: LocId,
    /// The mistakes.
    pub found: Diagnostics,
    /// Placeholders for values that could not be created, and the values derived from them.
    pub unsure: HashSet<Value>,
    registry: Arc<Registry>,
    file: u32,
    name: Sym,
    texts: SourceMap,
    body: Region,
    block: Block,
    /// Programs that others run, and the symbols that they have.
    programs: Vec<Op>,
    symbols: HashSet<String>,
    /// The `task.mesh` of the module.
    pub mesh: Option<Op>,
    /// The ops that come next run on each device.
    pub device: bool,
    /// Shardings of arguments and of results, by their numbers.
    pub shardings: [Vec<(usize, fuser_ir::AttrId)>; 2],
}

/// The saved region and block of an enclosing program while another one is being read.
#[derive(Clone, Copy)]
pub struct Inner(Region, Block);

impl Draft {
    /// An empty program for `text`; an error if the text is too large.
    pub fn new(
        registry: Arc<Registry>,
        file: u32,
        name: &str,
        text: &str,
    ) -> Result<Self, Diagnostics> {
        let mut texts = SourceMap::default();
        if text.len() > MAX_SOURCE_BYTES {
            let span = Span::default();
            let message = format!("the text has {} bytes, the limit is 256 MiB", text.len());
            let items = vec![Diagnostic::error(
                &LIMIT,
                Place::Span { file, span },
                message,
            )];
            return Err(Diagnostics { items });
        }
        texts.add(name, text);
        let mut ir = Ir::new(registry.clone());
        let body = ir.new_region();
        let block = ir.append_block(body);
        let (loc, name) = (ir.unknown_loc(), ir.sym(name));
        Ok(Self {
            ir,
            loc,
            found: Diagnostics::default(),
            unsure: HashSet::new(),
            registry,
            file,
            name,
            texts,
            body,
            block,
            programs: Vec::new(),
            symbols: HashSet::new(),
            mesh: None,
            device: false,
            shardings: [Vec::new(), Vec::new()],
        })
    }
    /// A draft with the same settings, without ops and mistakes.
    pub fn fresh(&self) -> Self {
        let mut ir = Ir::new(self.registry.clone());
        let body = ir.new_region();
        let block = ir.append_block(body);
        let name = ir.sym(self.ir.str(self.name));
        Self {
            loc: ir.unknown_loc(),
            ir,
            found: Diagnostics::default(),
            unsure: HashSet::new(),
            registry: self.registry.clone(),
            file: self.file,
            name,
            texts: self.texts.clone(),
            body,
            block,
            programs: Vec::new(),
            symbols: HashSet::new(),
            mesh: None,
            device: false,
            shardings: [Vec::new(), Vec::new()],
        }
    }
    /// A builder at the end of the program.
    pub fn builder(&mut self) -> Builder<'_> {
        let (block, loc) = (self.block, self.loc);
        Builder {
            loc,
            ..Builder::at_end(&mut self.ir, block)
        }
    }
    /// Sets the insertion point to the end of `block`; returns the previous block.
    pub fn enter(&mut self, block: Block) -> Block {
        std::mem::replace(&mut self.block, block)
    }
    /// The place of `span` in the text, as a location.
    pub fn place(&mut self, span: Span) -> LocId {
        let position = self
            .texts
            .get(0)
            .map(|file| file.position(span.start as usize));
        let (line, column) = position.unwrap_or((1, 1));
        let file = self.name;
        self.ir.loc(LocKind::File { file, line, column })
    }
    /// Notes a mistake of the op called `op` at `span`.
    pub fn tell(&mut self, op: &str, span: Span, fault: Fault) {
        self.note(Severity::Error, op, span, fault);
    }
    /// Warns of the op called `op` at `span`.
    pub fn warn(&mut self, op: &str, span: Span, fault: Fault) {
        self.note(Severity::Warning, op, span, fault);
    }
    fn note(&mut self, severity: Severity, op: &str, span: Span, fault: Fault) {
        let follows = fault
            .about
            .is_some_and(|value| self.unsure.contains(&value));
        if follows || self.found.items.len() >= MAX_FAULTS {
            return;
        }
        let place = Place::Span {
            file: self.file,
            span: fault.span.unwrap_or(span),
        };
        let message = match op {
            "" => fault.message,
            op => format!("`{op}`: {}", fault.message),
        };
        let mut told = match severity {
            Severity::Warning => Diagnostic::warning(fault.code, place, message),
            _ => Diagnostic::error(fault.code, place, message),
        };
        if !op.is_empty() {
            told = told.with_op(op);
        }
        if let Some(help) = fault.help {
            told = told.help(help);
        }
        // A function that is called twice is read twice; its mistakes are reported once.
        if !self.found.items.contains(&told) {
            self.found.push(told);
        }
    }
    /// Notes that `name` is not defined.
    pub fn undefined(&mut self, name: &str, span: Span) {
        let text = format!("`{name}` is not defined");
        self.tell("", span, Fault::new(&UNDEFINED, text));
    }
    /// Adds an argument.
    pub fn argument(&mut self, ty: TypeId, name: &str) -> Value {
        let name = self.ir.sym(name);
        self.ir.append_arg(self.block, ty, Some(name))
    }
    /// Begins a program inside this one; gives the outer one.
    pub fn begin(&mut self) -> Inner {
        let body = self.ir.new_region();
        let block = self.ir.append_block(body);
        let outer = Inner(self.body, self.block);
        (self.body, self.block) = (body, block);
        outer
    }
    /// Goes back to the outer program; gives the inner one.
    pub fn leave(&mut self, outer: Inner) -> Inner {
        let inner = Inner(self.body, self.block);
        (self.body, self.block) = (outer.0, outer.1);
        inner
    }
    /// Adds a program that gives `results`.
    pub fn add(&mut self, inner: Inner, symbol: &str, results: &[Value]) -> Made<Op> {
        let outer = Inner(self.body, self.block);
        (self.body, self.block) = (inner.0, inner.1);
        let program = self.program(symbol, results, &[]);
        (self.body, self.block) = (outer.0, outer.1);
        let program = program?;
        if self.device {
            let unit = self.ir.attr(AttrKind::Unit);
            self.ir.set_attr(program, task::mesh::DEVICE, unit);
        }
        self.programs.push(program);
        Ok(program)
    }
    /// The symbol of a program as the value of a clause.
    pub fn reference(&mut self, program: Op) -> AttrId {
        let name = self.ir.symbol_name(program).unwrap_or_default().to_owned();
        let name = self.ir.sym(&name);
        self.ir.attr(AttrKind::SymbolRef(vec![name]))
    }
    /// A symbol that no program has, `loop_0`.
    pub fn symbol(&mut self, base: &str) -> String {
        let symbols = &mut self.symbols;
        let mut names = (0..).map(|number| format!("{base}_{number}"));
        let name = names.find(|name| symbols.insert(name.clone()));
        name.unwrap_or_default()
    }
    /// Takes a symbol, so that no other program has it.
    pub fn take(&mut self, symbol: &str) {
        self.symbols.insert(symbol.to_owned());
    }
    /// Appends an op to the block at hand.
    pub fn append(&mut self, op: Op) {
        self.ir.append_op(self.block, op);
    }
    /// A placeholder of type `ty` for a value that could not be created, in a program that will not be finished.
    pub fn unknown(&mut self, ty: TypeId) -> Value {
        let value = self.ir.append_arg(self.block, ty, None);
        self.unsure.insert(value);
        value
    }
    /// True if one of the values is a placeholder, or derived from one.
    pub fn are_unsure<'v>(&self, values: impl IntoIterator<Item = &'v Value>) -> bool {
        !self.unsure.is_empty() && values.into_iter().any(|value| self.unsure.contains(value))
    }
    /// Names a value that has no name yet. A name that is too long is ignored.
    pub fn name(&mut self, value: Value, name: &str) {
        let named = name.len() <= MAX_IDENTIFIER_BYTES;
        if named && self.ir.value_name(value).is_none() {
            let name = self.ir.sym(name);
            self.ir.set_value_name(value, Some(name));
        }
    }
    /// An op with one result.
    pub fn make(&mut self, def: &'static OpDef, operands: &[Value]) -> Made {
        Ok(self.builder().value(def, operands, &[])?)
    }
    /// The axes of a tensor.
    pub fn dims(&self, value: Value) -> Vec<Dim> {
        let tensor = self.ir.value_kind(value).as_tensor();
        tensor.map(|t| t.dims.clone()).unwrap_or_default()
    }
    /// The element type of a tensor or scalar.
    pub fn dtype(&self, value: Value) -> DType {
        self.ir.value_kind(value).dtype().unwrap_or(DType::F32)
    }
    /// A constant of type `ty`, every element of which is `value`.
    pub fn number(&mut self, value: f64, ty: TypeId) -> Made {
        if let Some(dtype) = self.ir.ty(ty).dtype().filter(|d| d.is_complex()) {
            let part = self.ir.with_dtype(ty, dtype.part());
            let real = self.number(value, part)?;
            return self.cast(real, dtype);
        }
        let attr = self.number_attr(value, ty);
        let clause = [("value", attr)];
        Ok(self.builder().typed(&fusion::CONSTANT, &[], &clause, ty)?)
    }
    /// A number as an attribute for elements of `ty`.
    pub fn number_attr(&mut self, value: f64, ty: TypeId) -> fuser_ir::AttrId {
        match self.ir.ty(ty).dtype() {
            Some(DType::I1) => self.ir.attr(AttrKind::Bool(value != 0.0)),
            Some(dtype) if dtype.is_int() => int_attr(&mut self.ir, value as i128, ty),
            _ => float_attr(&mut self.ir, value, ty),
        }
    }
    /// True if all elements of a constant are `number`, which is first wrapped to the range of an integer type.
    pub fn is_number(&self, value: Value, number: f64) -> bool {
        let made = self.ir.def_op(value);
        if let Some(op) = made.filter(|op| self.ir.is(*op, &fusion::COMPLEX)) {
            let [real, imaginary] = [0, 1].map(|at| self.ir.operand(op, at));
            return self.is_number(real, number) && self.is_number(imaginary, 0.0);
        }
        let constant = made.filter(|op| self.ir.is(*op, &fusion::CONSTANT));
        let (low, high) = self.dtype(value).int_range();
        match constant.and_then(|op| self.ir.attr_of(op, "value")) {
            Some(AttrKind::Float { bits, .. }) => {
                let held = f64::from_bits(*bits);
                held == number || held.is_nan() && number.is_nan()
            }
            Some(AttrKind::Int { value: held, .. }) if self.dtype(value).is_int() => {
                *held == (number as i128).clamp(low, high)
            }
            Some(AttrKind::Int { value: held, .. }) => *held as f64 == number,
            Some(AttrKind::Bool(held)) => f64::from(u8::from(*held)) == number,
            _ => false,
        }
    }
    /// The tensor with every element stored, as a caller of the program receives it.
    pub fn stored(&mut self, value: Value) -> Made {
        if !self.dims(value).iter().any(|dim| dim.broadcast) {
            return Ok(value);
        }
        let name = self.ir.value_name_sym(value);
        let mut b = self.builder();
        let dense = b.flag("dense");
        let copy = b.value(&fusion::COPY, &[value], &[dense])?;
        self.ir.set_value_name(value, None);
        self.ir.set_value_name(copy, name);
        Ok(copy)
    }
    /// The tensor in another shape. Axes stored once stay so if the shape keeps them.
    pub fn reshape(&mut self, value: Value, shape: &[Extent]) -> Made {
        let dims = self.dims(value);
        if dims.iter().map(|d| d.extent).eq(shape.iter().copied()) {
            return Ok(value);
        }
        if let Some(kept) = kept_axes(&dims, shape) {
            let mut b = self.builder();
            let clause = [b.shape("shape", &kept)];
            if let Ok(made) = b.value(&fusion::RESHAPE, &[value], &clause) {
                return Ok(made);
            }
        }
        let value = self.stored(value)?;
        let plain: Vec<Dim> = shape.iter().map(|e| Dim::new(*e)).collect();
        let mut b = self.builder();
        let clause = [b.shape("shape", &plain)];
        Ok(b.value(&fusion::RESHAPE, &[value], &clause)?)
    }
    /// The tensor with result axis `i` its axis `dims[i]`.
    pub fn permute(&mut self, value: Value, dims: &[i64]) -> Made {
        if dims.len() == self.dims(value).len() && dims.is_sorted() {
            let every = dims.iter().enumerate().all(|(at, dim)| *dim == at as i64);
            if every {
                return Ok(value);
            }
        }
        let mut b = self.builder();
        let clause = [b.ints("dims", dims)];
        Ok(b.value(&fusion::PERMUTE, &[value], &clause)?)
    }
    /// The tensor with its axis `k` at `dims[k]` of `shape`; axes of extent 1 are broadcast, missing axes are added.
    pub fn broadcast(&mut self, value: Value, dims: &[i64], shape: &[Extent]) -> Made {
        let own = self.dims(value);
        if dims.len() != own.len() {
            let text = format!(
                "{} axes are placed, the operand has {}",
                dims.len(),
                own.len()
            );
            return Err(Fault::form(text));
        }
        let mut order: Vec<usize> = (0..dims.len()).collect();
        order.sort_by_key(|at| dims[*at]);
        let back: Vec<i64> = order.iter().map(|at| *at as i64).collect();
        let mut value = self.permute(value, &back)?;
        if own.len() == shape.len() {
            return self.expand(value, shape);
        }
        let mut kept = Vec::new();
        let mut single = Vec::new();
        for (place, at) in order.into_iter().enumerate() {
            let to = usize::try_from(dims[at]).ok().and_then(|d| shape.get(d));
            let Some(to) = to else {
                let text = format!(
                    "axis {} is beyond the {} of the result",
                    dims[at],
                    shape.len()
                );
                return Err(Fault::form(text));
            };
            if own[at].extent == Extent::Static(1) && *to != Extent::Static(1) {
                single.push(place as i64);
            } else {
                kept.push(dims[at]);
            }
        }
        if !single.is_empty() {
            let mut b = self.builder();
            let clause = [b.ints("dims", &single)];
            value = b.value(&fusion::SQUEEZE, &[value], &clause)?;
        }
        let shape: Vec<Dim> = shape.iter().map(|e| Dim::new(*e)).collect();
        let mut b = self.builder();
        let clauses = [b.ints("dims", &kept), b.shape("shape", &shape)];
        Ok(b.value(&fusion::BROADCAST, &[value], &clauses)?)
    }
    /// The tensor with axes of extent 1 stretched to `shape`.
    pub fn expand(&mut self, value: Value, shape: &[Extent]) -> Made {
        if self.dims(value).iter().map(|dim| &dim.extent).eq(shape) {
            return Ok(value);
        }
        let shape: Vec<Dim> = shape.iter().map(|extent| Dim::new(*extent)).collect();
        let mut b = self.builder();
        let clause = [b.shape("shape", &shape)];
        Ok(b.value(&fusion::EXPAND, &[value], &clause)?)
    }
    /// The tensor with elements of another type.
    pub fn cast(&mut self, value: Value, to: DType) -> Made {
        use fuser_dialects::fusion::build::FusionBuilder;
        Ok(self.builder().cast(value, to)?)
    }
    /// The tensor in a type that ops compute with: 8-bit floats become f32.
    pub fn computed(&mut self, value: Value) -> Made {
        match self.dtype(value).is_storage() {
            true => self.cast(value, DType::F32),
            false => Ok(value),
        }
    }
    /// The module with the program, which returns `results`; or the diagnostics found so far.
    pub fn finish(
        mut self,
        symbol: &str,
        results: &[Value],
        aliases: &[Option<i64>],
    ) -> Result<(Ir, Op, Diagnostics), Diagnostics> {
        if self.found.has_errors() {
            return Err(self.found);
        }
        let program = match self.program(symbol, results, aliases) {
            Ok(program) => program,
            Err(fault) => {
                self.tell("", Span::default(), fault);
                return Err(self.found);
            }
        };
        let ir = &mut self.ir;
        let region = ir.new_region();
        let top = ir.append_block(region);
        if let Some(mesh) = self.mesh {
            ir.append_op(top, mesh);
        }
        let counts = [ir.args(self.block).len(), results.len()];
        for ((list, marked), count) in task::marks::LISTS.iter().zip(&self.shardings).zip(counts) {
            task::marks::put(ir, program, list, count, marked, task::mesh::MARK);
        }
        ir.append_op(top, program);
        for &program in &self.programs {
            ir.append_op(top, program);
        }
        let module = ir.create_op(
            &builtin::MODULE,
            NewOp {
                regions: [region].into_iter().collect(),
                ..NewOp::default()
            },
        );
        // The programs of unrolled loops are left over.
        let kept = task::calls::reached(ir, module, program);
        for &program in &self.programs {
            if !kept.contains(&program) {
                ir.erase(program);
            }
        }
        self.found.items.extend(fuser_ir::verify(ir, module).items);
        self.found.items.extend(unreadable(ir, module));
        match self.found.has_errors() {
            true => Err(self.found),
            false => Ok((self.ir, module, self.found)),
        }
    }
    /// The program of the current block, not yet inserted.
    fn program(&mut self, symbol: &str, results: &[Value], aliases: &[Option<i64>]) -> Made<Op> {
        self.builder().op(&task::RETURN, results, &[])?;
        let ir = &mut self.ir;
        let types = |ir: &Ir, values: &[Value]| values.iter().map(|v| ir.value_type(*v)).collect();
        let args = ir.args(self.block).to_vec();
        let (inputs, outputs) = (types(ir, &args), types(ir, results));
        let function = ir.function_type(inputs, outputs);
        let function = ir.attr(AttrKind::Type(function));
        let symbol = ir.string_attr(symbol);
        let mut attrs = vec![
            (ir.sym("function_type"), function),
            (ir.sym("sym_name"), symbol),
        ];
        if aliases.iter().any(Option::is_some) {
            let attr = result_attrs(ir, aliases);
            attrs.push((ir.sym("res_attrs"), attr));
        }
        let program = NewOp {
            attrs: attrs.into_iter().collect(),
            regions: [self.body].into_iter().collect(),
            ..NewOp::default()
        };
        Ok(ir.create_op(&task::PROGRAM, program))
    }
}

/// Errors about ops of a module with results beyond the limits of all tools: on the number of elements along static
/// axes (63 bits), and on the number of axes.
fn unreadable(ir: &Ir, module: Op) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for op in ir.walk(module) {
        let tensors = ir.results(op).iter();
        let mut tensors = tensors.filter_map(|value| ir.value_kind(*value).as_tensor());
        if let Some(fault) = tensors.find_map(|tensor| readable(&tensor.dims).err()) {
            let name = ir.name(op).to_owned();
            let text = format!("`{name}`: {}", fault.message);
            let told = Diagnostic::error(fault.code, fuser_ir::verify::op_place(ir, op), text);
            found.push(told.with_op(name));
        }
    }
    found.truncate(MAX_FAULTS);
    found
}

/// Refuses a shape that no tool reads.
pub fn readable(dims: &[Dim]) -> Made<()> {
    if dims.len() > MAX_RANK {
        let text = format!("has {} axes, the limit is {MAX_RANK}", dims.len());
        return Err(Fault::new(&LIMIT, text));
    }
    let mut lengths = dims.iter().filter_map(|dim| match dim.extent {
        Extent::Static(n) if n != 0 => Some(n),
        _ => None,
    });
    match lengths.try_fold(1_i64, |all, n| all.checked_mul(i64::try_from(n).ok()?)) {
        Some(_) => Ok(()),
        None => Err(Fault::new(&LIMIT, "has more than 2^63 - 1 elements")),
    }
}

/// The attributes of results, some of which overwrite an argument.
fn result_attrs(ir: &mut Ir, aliases: &[Option<i64>]) -> fuser_ir::AttrId {
    let mut lists = Vec::new();
    for alias in aliases {
        let entry = alias.map(|argument| (ir.sym("alias"), ir.int_attr(argument)));
        lists.push(ir.attr(AttrKind::Dict(entry.into_iter().collect())));
    }
    ir.attr(AttrKind::Array(lists))
}

/// `shape` with the broadcast axes of `dims`, if each of them lies at the same position among the elements.
fn kept_axes(dims: &[Dim], shape: &[Extent]) -> Option<Vec<Dim>> {
    let count = |extent: &Extent| match extent {
        Extent::Static(n) => Some(*n),
        _ => None,
    };
    let mut rest = shape.iter();
    let mut kept = Vec::new();
    let mut before = 1_u64;
    for dim in dims {
        let own = count(&dim.extent)?;
        if !dim.broadcast {
            before = before.checked_mul(own)?;
            continue;
        }
        let mut have = 1_u64;
        loop {
            let next = rest.next()?;
            if have == before && count(next)? == own {
                kept.push(Dim::broadcast(*next));
                break;
            }
            have = have.checked_mul(count(next)?)?;
            kept.push(Dim::new(*next));
        }
        before = 1;
    }
    kept.extend(rest.map(|e| Dim::new(*e)));
    Some(kept)
}
