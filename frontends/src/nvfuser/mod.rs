//! A Python definition of nvFuser to a program. No Python is run: a statement is an assignment or a call, read by a
//! table.
//!
//! | file | |
//! |---|---|
//! | `lex.rs`, `grammar.lalrpop`, `parse.rs` | text to statements |
//! | `value.rs` | values, promotion of types |
//! | `args.rs` | operands of a call: by position or name, brought to one type and shape |
//! | `ops.rs`, `ops/` | the table of `fd.ops`, and how ops are read that are several, or have clauses of their own |
//! | `export.rs` | a program to text |
//!
//! Extents that a definition leaves open (`-1`) get names. If an op needs two extents to be equal, they become one.
//! The importer reads the text again with the types found so far, until a pass finds no new equality.

mod args;
mod export;
mod lex;
mod ops;
mod parse;
mod value;

use std::collections::{BTreeMap, HashMap, HashSet};

use fuser_dialects::fusion;
use fuser_ir::layout::{self, Order};
use fuser_ir::span::Span;
use fuser_ir::types::{DType, Dim, Extent, TypeId};
use fuser_ir::{Diagnostics, Ir, Op, Value};

pub use export::export;
pub use ops::op_names;

use crate::codes::{EXTENTS, LIMIT, NO_PROGRAM, TYPE, UNSUPPORTED};
use crate::program::{Draft, Fault, Made, readable};
use args::Args;
use parse::{Expr, Statement};
pub use value::Number;
use value::{Argument, Val};

/// The maximum number of passes over a text. Each pass propagates extents that the previous one found equal; programs
/// need two or three.
const MAX_PASSES: usize = 64;

/// The program of the only definition in a text. `numbers` gives extents and scalar inputs by name; these become
/// constants of the program.
pub(crate) fn import(
    mut draft: Draft,
    source: &str,
    numbers: &BTreeMap<String, Number>,
) -> Result<(Ir, Op, Diagnostics), Diagnostics> {
    let definitions = match lex::definitions(source) {
        Ok(definitions) => definitions,
        Err(span) => {
            let text = format!(
                "more than {} brackets lie inside each other",
                lex::MAX_NESTING
            );
            draft.tell("", span, Fault::new(&LIMIT, text));
            return Err(draft.found);
        }
    };
    let [definition] = definitions.as_slice() else {
        let text = format!("{} fusion definitions, not one", definitions.len());
        let help =
            "a definition is a function: `def nvfuser_fusion_id0(fd : FusionDefinition) -> None :`";
        let span = definitions.get(1).map_or(Span::default(), |d| d.name);
        draft.tell("", span, Fault::new(&NO_PROGRAM, text).help(help));
        return Err(draft.found);
    };
    let (statements, faults) = parse::parse(source, &definition.body);
    let mut read = HashSet::new();
    for statement in &statements {
        names(source, &statement.value, &mut read);
    }
    let lengths = numbers
        .iter()
        .filter_map(|(name, n)| n.length().map(|n| (name, n)));
    let given = lengths.map(|(name, n)| (name.clone(), Known::Static(n)));
    let mut equal: BTreeMap<String, Known> = given.collect();
    for _ in 0..MAX_PASSES {
        let mut reader = Reader {
            draft: draft.fresh(),
            source,
            subject: text(source, definition.subject),
            values: HashMap::new(),
            arguments: Vec::new(),
            outputs: Vec::new(),
            known: equal.len(),
            random: None,
            draws: 0,
            read: &read,
            wanted: Vec::new(),
            open: HashSet::new(),
            numbers,
            equal: std::mem::take(&mut equal),
        };
        for statement in &statements {
            reader.statement(statement);
        }
        let again = reader.equal.len() > reader.known;
        equal = std::mem::take(&mut reader.equal);
        if !again {
            let unknown = numbers.keys().filter(|name| !reader.open.contains(*name));
            let unknown: Vec<String> = unknown.cloned().collect();
            for name in unknown {
                let fault = Fault::new(
                    &EXTENTS,
                    format!("there is no open extent and no scalar input `{name}`"),
                );
                let fault = fault.help("`T0_1` is axis 1 of `T0`, where its shape has -1");
                reader.draft.tell("", definition.name, fault);
            }
            for fault in faults {
                reader.draft.tell("", Span::default(), fault);
            }
            return reader.finish(text(source, definition.name));
        }
    }
    let fault = Fault::new(&LIMIT, "the extents are not settled after 64 passes");
    draft.tell("", definition.name, fault);
    Err(draft.found)
}

fn text(source: &str, span: Span) -> &str {
    source
        .get(span.start as usize..span.end as usize)
        .unwrap_or("")
}

/// Adds the names that an expression reads.
fn names<'s>(source: &'s str, value: &Expr, found: &mut HashSet<&'s str>) {
    match value {
        Expr::Path(path) => found.extend(path.first().map(|span| text(source, *span))),
        Expr::Literal(_) => {}
        Expr::List(_, items) => items.iter().for_each(|item| names(source, item, found)),
        Expr::Call(path, arguments) => {
            found.extend(path.first().map(|span| text(source, *span)));
            let values = arguments.iter().map(|(_, value)| value);
            values.for_each(|value| names(source, value, found));
        }
    }
}

/// The meaning of an extent that was left open.
#[derive(Clone, Debug)]
enum Known {
    /// A number.
    Static(u64),
    /// The extent called so.
    Name(String),
}

/// Reads the statements of one definition.
pub(crate) struct Reader<'s> {
    /// The program.
    pub draft: Draft,
    source: &'s str,
    subject: &'s str,
    values: HashMap<&'s str, Val<'s>>,
    arguments: Vec<Value>,
    outputs: Vec<(Value, Option<i64>)>,
    /// The meanings of extents, by name.
    equal: BTreeMap<String, Known>,
    /// The number of `equal` that the types have.
    known: usize,
    /// The inputs that random numbers without a stated seed take theirs from.
    random: Option<[Value; 2]>,
    /// The number of draws without a stated seed.
    draws: i64,
    /// The names that expressions read.
    read: &'s HashSet<&'s str>,
    /// For each target of the current call, true if an expression reads it.
    wanted: Vec<bool>,
    /// The extents and scalar inputs that the definition leaves open, by name.
    open: HashSet<String>,
    /// The numbers that some of them are.
    numbers: &'s BTreeMap<String, Number>,
}

impl<'s> Reader<'s> {
    fn text(&self, span: Span) -> &'s str {
        text(self.source, span)
    }
    fn finish(mut self, name: &str) -> Result<(Ir, Op, Diagnostics), Diagnostics> {
        let mut results = Vec::new();
        let mut aliases = Vec::new();
        let outputs = std::mem::take(&mut self.outputs);
        // An input that is overwritten is returned as what it is overwritten with.
        let over = outputs.iter().filter_map(|(value, alias)| {
            let input = self.arguments.get(usize::try_from((*alias)?).ok()?)?;
            Some((*input, *value))
        });
        let over: HashMap<Value, Value> = over.collect();
        for (value, alias) in outputs {
            let returned = over.get(&value).filter(|_| alias.is_none());
            let value = returned.copied().unwrap_or(value);
            match self.draft.stored(value) {
                Ok(value) => results.push(value),
                Err(fault) => self.draft.tell("", Span::default(), fault),
            }
            aliases.push(alias);
        }
        self.draft.finish(name, &results, &aliases)
    }
    fn statement(&mut self, statement: &'s Statement) {
        let made = match &statement.value {
            Expr::Call(path, arguments) => self.call(path, arguments, &statement.targets),
            other => {
                let value = self.value(other);
                value.map(|value| vec![value])
            }
        };
        let (name, span) = self.callee(&statement.value);
        let values = match made {
            Ok(mut values) => match values.as_mut_slice() {
                // The values of a list are bound to the names before it.
                [Val::List(items)] if statement.targets.len() > 1 => std::mem::take(items),
                _ => values,
            },
            Err(fault) => {
                self.draft.tell(name, span, fault);
                Vec::new()
            }
        };
        let mut values = values.into_iter();
        for target in &statement.targets {
            let value = values.next().unwrap_or(Val::Failed);
            let name = self.text(*target);
            if let Val::Tensor(value) = value {
                self.draft.name(value, name);
            }
            self.values.insert(name, value);
        }
    }
    /// The method that an expression calls, for messages, and the location of the expression.
    fn callee(&self, value: &Expr) -> (&'s str, Span) {
        match value {
            Expr::Call(path, _) | Expr::Path(path) => match path.as_slice() {
                [first, .., last] => {
                    let span = first.to(*last);
                    (self.text(span), span)
                }
                [one] => ("", *one),
                [] => ("", Span::default()),
            },
            Expr::Literal(span) | Expr::List(span, _) => ("", *span),
        }
    }
    /// The value of an expression that is no call of a method.
    fn value(&mut self, value: &'s Expr) -> Made<Val<'s>> {
        match value {
            Expr::Path(path) => self.path(path),
            Expr::Literal(span) => self.literal(*span),
            Expr::List(_, items) => {
                let items = items.iter().map(|item| self.value(item));
                Ok(Val::List(items.collect::<Made<_>>()?))
            }
            Expr::Call(path, arguments) => {
                if let ([name], [(None, Expr::Literal(text))]) =
                    (path.as_slice(), arguments.as_slice())
                    && self.text(*name) == "float"
                {
                    let text = self.text(*text).trim_matches(['"', '\'']);
                    if let Ok(number) = text.parse() {
                        return Ok(Val::Number(Number::Float(number), None));
                    }
                }
                let mut made = self.call(path, arguments, &[])?.into_iter();
                let (name, span) = self.callee(value);
                let none = || Fault::form(format!("`{name}` gives no value")).at(span);
                made.next().ok_or_else(none)
            }
        }
    }
    fn literal(&self, span: Span) -> Made<Val<'s>> {
        let text = self.text(span);
        if text.starts_with(['"', '\'']) {
            return Ok(Val::Nothing);
        }
        let number = text.parse();
        let number = number.map_err(|()| Fault::form("is no number").at(span))?;
        if let Number::Int(n) = number
            && !(i64::MIN.into()..=u64::MAX.into()).contains(&n)
        {
            return Err(Fault::new(&TYPE, "is beyond the integers of 64 bits").at(span));
        }
        Ok(Val::Number(number, None))
    }
    fn path(&mut self, path: &[Span]) -> Made<Val<'s>> {
        let names: Vec<&str> = path.iter().map(|span| self.text(*span)).collect();
        let span = path
            .first()
            .map_or(Span::default(), |f| f.to(path[path.len() - 1]));
        match names.as_slice() {
            ["None"] | ["DataType", "Null"] => Ok(Val::Nothing),
            ["True"] => Ok(Val::Number(Number::Bool(true), None)),
            ["False"] => Ok(Val::Number(Number::Bool(false), None)),
            ["inf" | "Infinity"] => Ok(Val::Number(Number::Float(f64::INFINITY), None)),
            ["nan" | "NaN"] => Ok(Val::Number(Number::Float(f64::NAN), None)),
            ["DataType", _] => {
                let name = self.text(path[1]);
                Ok(Val::Type(value::dtype(name).ok_or(name)))
            }
            [name] => match self.values.get(name) {
                Some(value) => Ok(value.clone()),
                None => {
                    let fault =
                        Fault::new(&crate::codes::UNDEFINED, format!("`{name}` is not defined"));
                    Err(fault.at(span))
                }
            },
            _ => Err(Fault::form(format!("`{}` is no value", self.text(span))).at(span)),
        }
    }
    /// The values of a call.
    fn call(
        &mut self,
        path: &'s [Span],
        arguments: &'s [(Option<Span>, Expr)],
        targets: &[Span],
    ) -> Made<Vec<Val<'s>>> {
        let names: Vec<&str> = path.iter().map(|span| self.text(*span)).collect();
        let mut given = Vec::new();
        for (name, value) in arguments {
            let value = self.value(value)?;
            let name = name.map(|name| self.text(name));
            given.push(Argument { name, value });
        }
        let args = Args::new(given);
        if args.failed() {
            return Ok(targets.iter().map(|_| Val::Failed).collect());
        }
        let loc = path.first().copied().unwrap_or_default();
        self.draft.loc = self.draft.place(loc);
        match names.as_slice() {
            [fd, "define_tensor"] if *fd == self.subject => {
                let name = targets.first().map_or("x", |target| self.text(*target));
                self.define_tensor(&args, name).map(|value| vec![value])
            }
            [fd, "define_scalar"] if *fd == self.subject => {
                let name = targets.first().map_or("s", |target| self.text(*target));
                self.define_scalar(&args, name).map(|value| vec![value])
            }
            [fd, "define_vector"] if *fd == self.subject => {
                Ok(vec![args.value(0, &["args", "values"])?.clone()])
            }
            [fd, "add_output"] if *fd == self.subject => self.add_output(&args),
            [fd, "ops", op] if *fd == self.subject => {
                let read = |target: &Span| self.read.contains(self.text(*target));
                self.wanted = targets.iter().map(read).collect();
                ops::read(self, op, &args)
            }
            _ => {
                let fault = Fault::new(&UNSUPPORTED, "is no method of a fusion definition");
                Err(fault.help("a definition calls `define_tensor`, `define_scalar`, `define_vector`, `ops` and `add_output`"))
            }
        }
    }
    /// `fd.define_tensor(shape, contiguity, dtype, is_cpu, stride_order)`, or with `sizes` and `strides`.
    fn define_tensor(&mut self, args: &Args<'s>, name: &str) -> Made<Val<'s>> {
        let in_bytes = matches!(
            args.get(usize::MAX, &["dtype"]),
            Some(Val::Type(Err(value::PAIR_OF_FLOATS)))
        );
        let dtype = match in_bytes {
            true => DType::F4E2M1FN,
            false => args.dtype(usize::MAX, &["dtype"])?.unwrap_or(DType::F32),
        };
        let fixed = matches!(
            args.get(usize::MAX, &["static_sizes"]),
            Some(Val::Number(Number::Bool(true), _))
        );
        let sizes = args.get(usize::MAX, &["sizes"]).is_some();
        let shape = args.ints(0, &["shape", "symbolic_sizes", "sizes"])?;
        let strides = args
            .get(usize::MAX, &["strides"])
            .map(|_| args.ints(usize::MAX, &["strides"]));
        let strides = strides.transpose()?;
        let contiguity = match args.get(1, &["contiguity"]) {
            Some(Val::List(items)) if strides.is_none() && items.len() == shape.len() => {
                items.as_slice()
            }
            _ => &[],
        };
        let order = match args.get(4, &["stride_order"]) {
            Some(Val::List(items)) if !items.is_empty() => args.ints(4, &["stride_order"])?,
            _ => Vec::new(),
        };
        let layout = order_in_memory(&order, shape.len())?.filter(|order| !order.is_sorted());
        // Entries of `contiguity` are in the order of memory.
        let place = |axis: usize| match &layout {
            Some(layout) => layout.iter().position(|&own| own == axis).unwrap_or(axis),
            None => axis,
        };
        let mut dims = Vec::with_capacity(shape.len());
        for (axis, length) in shape.iter().enumerate() {
            let open = *length == -1 || (sizes && !fixed && *length != 1);
            let extent = match open {
                true => {
                    let name = format!("{name}_{axis}");
                    let extent = self.open(&name);
                    let stated = self.numbers.get(&name);
                    let wrong = stated.filter(|number| number.length().is_none());
                    self.open.insert(name);
                    if let Some(number) = wrong {
                        let text = format!("axis {axis} is {number} long, which is no length");
                        return Err(Fault::new(&EXTENTS, text));
                    }
                    extent
                }
                false => Extent::Static(
                    u64::try_from(*length).map_err(|_| Fault::form("has a negative extent"))?,
                ),
            };
            let once = matches!(contiguity.get(place(axis)), Some(Val::Nothing))
                || strides
                    .as_ref()
                    .is_some_and(|strides| strides.get(axis) == Some(&0));
            let broadcast = once && extent != Extent::Static(1);
            dims.push(Dim { extent, broadcast });
        }
        let innermost = match &layout {
            Some(layout) => layout.last().copied(),
            None => dims.len().checked_sub(1),
        };
        let innermost = innermost.and_then(|axis| dims.get_mut(axis));
        // An open extent counts elements here, whatever it counts in the definition.
        if let Some(Extent::Static(bytes)) = innermost.filter(|_| in_bytes).map(|d| &mut d.extent) {
            let elements = bytes.checked_mul(2);
            *bytes = elements.ok_or_else(|| Fault::form("has too great an extent"))?;
        }
        readable(&dims)?;
        let mut ty = self.draft.ir.tensor(dims.clone(), dtype);
        if let Some(order) = layout {
            ty = layout::with(&mut self.draft.ir, ty, &order);
        }
        let value = self.draft.argument(ty, name);
        self.arguments.push(value);
        Ok(Val::Tensor(value))
    }
    /// `fd.define_scalar(value, dtype)`: without a value an input.
    fn define_scalar(&mut self, args: &Args<'s>, name: &str) -> Made<Val<'s>> {
        let (value, stated) = match args.get(0, &["value"]) {
            Some(value @ Val::Type(_)) => (None, Some(value.clone())),
            value => (value.cloned(), args.get(1, &["dtype"]).cloned()),
        };
        let stated = match stated {
            Some(Val::Type(Err(name))) => return Err(unsupported(name)),
            Some(Val::Type(Ok(dtype))) => Some(dtype),
            _ => None,
        };
        match value {
            Some(Val::Number(number, _)) => {
                let dtype = stated.unwrap_or(number.dtype());
                if matches!(number, Number::Int(_)) && dtype.is_int() && dtype != DType::I1 {
                    of_type(number, dtype)?;
                }
                Ok(Val::Number(number, stated))
            }
            None | Some(Val::Nothing) => {
                self.open.insert(name.to_owned());
                let dtype = stated.unwrap_or(DType::F64);
                if let Some(number) = self.numbers.get(name) {
                    return Ok(Val::Number(of_type(*number, dtype)?, stated));
                }
                let ty = self.draft.ir.scalar(dtype);
                let value = self.draft.argument(ty, name);
                self.arguments.push(value);
                Ok(Val::Tensor(value))
            }
            _ => Err(Fault::form("has a value that is no number")),
        }
    }
    /// True if something reads result `at` of the call that is read.
    pub fn wanted(&self, at: usize) -> bool {
        self.wanted.get(at).copied().unwrap_or(false)
    }
    /// Two inputs that are integers, shared by all random ops.
    fn random_inputs(&mut self, names: [&str; 2]) -> [Value; 2] {
        *self.random.get_or_insert_with(|| {
            let ty = self.draft.ir.scalar(DType::I64);
            let values = names.map(|name| self.draft.argument(ty, name));
            self.arguments.extend(values);
            values
        })
    }
    /// `fd.add_output(output, alias_input)`
    fn add_output(&mut self, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
        let output = match args.value(0, &["output", "arg"])? {
            Val::Tensor(value) => *value,
            _ => return Err(Fault::form("has an output that is not computed")),
        };
        let order = match args.get(1, &["stride_order"]) {
            Some(Val::List(_)) => args.ints(1, &["stride_order"])?,
            _ => Vec::new(),
        };
        let alias = match args.get(1, &["alias_input"]) {
            Some(Val::Tensor(input)) => Some(*input),
            _ => None,
        };
        // A result that overwrites an input has the input's layout.
        let ir = &self.draft.ir;
        let input = alias.and_then(|input| ir.value_kind(input).as_tensor());
        let output = match input {
            Some(input) => layout::stated(ir, input),
            None => order_in_memory(&order, self.draft.dims(output).len())?,
        }
        .map_or(Ok(output), |order| self.in_order(output, &order))?;
        let alias = match alias {
            Some(input) => {
                let at = self
                    .arguments
                    .iter()
                    .position(|argument| *argument == input);
                let at = at.ok_or_else(|| Fault::form("overwrites a tensor that is no input"))?;
                Some(at as i64)
            }
            None => None,
        };
        self.outputs.push((output, alias));
        Ok(Vec::new())
    }

    /// A copy with this storage order of axes; the value itself if its type states that order.
    fn in_order(&mut self, value: Value, order: &Order) -> Made {
        let own = self.draft.ir.value_type(value);
        let ty = layout::with(&mut self.draft.ir, own, order);
        if ty == own {
            return Ok(value);
        }
        self.copy_as(value, ty)
    }
    /// A copy whose axes have this order in memory.
    pub fn copy_in_order(&mut self, value: Value, order: &Order) -> Made {
        let own = self.draft.ir.value_type(value);
        let ty = layout::with(&mut self.draft.ir, own, order);
        self.copy_as(value, ty)
    }
    /// A copy of this type.
    fn copy_as(&mut self, value: Value, ty: TypeId) -> Made {
        let mut b = self.draft.builder();
        Ok(b.typed(&fusion::COPY, &[value], &[], ty)?)
    }
    /// A copy with the storage order that the axes of `like` have in nvFuser.
    pub fn copy_like(&mut self, value: Value, like: Value) -> Made {
        match self.order_of(like) {
            Some(order) => self.copy_in_order(value, &order),
            None => self.draft.make(&fusion::COPY, &[value]),
        }
    }
    /// Gives the result of an op the storage order that the axes of `like` have in nvFuser.
    pub fn lay_out_like(&mut self, result: Value, like: Value) {
        if let Some(order) = self.order_of(like) {
            let ir = &mut self.draft.ir;
            let ty = layout::with(ir, ir.value_type(result), &order);
            ir.set_value_type(result, ty);
        }
    }
    /// The order in memory of a value's axes in nvFuser, if the definition determines it: by the type, and through
    /// permutations, which only rename memory. `None` stands for row-major.
    fn order_of(&self, value: Value) -> Option<Order> {
        let ir = &self.draft.ir;
        let (mut root, mut permuted) = (value, Vec::new());
        loop {
            let tensor = ir.value_kind(root).as_tensor()?;
            let made = ir.def_op(root).filter(|op| ir.is(*op, &fusion::PERMUTE));
            if tensor.encoding.is_some() || made.is_none() {
                break;
            }
            let op = made?;
            permuted.push(ir.i64s_of(op, "dims")?);
            root = ir.operand(op, 0);
        }
        let tensor = ir.value_kind(root).as_tensor()?;
        let mut order = layout::order(ir, tensor);
        for dims in permuted.iter().rev() {
            let place = |axis: &usize| {
                dims.iter()
                    .position(|dim| usize::try_from(*dim) == Ok(*axis))
            };
            order = order.iter().map(place).collect::<Option<_>>()?;
        }
        let stated = tensor.encoding.is_some() && permuted.is_empty();
        (stated || !order.is_sorted()).then_some(order)
    }

    /// The extent called `name`, or the extent equal to it.
    fn open(&mut self, name: &str) -> Extent {
        let mut name = name;
        // Only names without a replacement are used as replacements, so that there is no cycle.
        loop {
            match self.equal.get(name) {
                Some(Known::Static(n)) => return Extent::Static(*n),
                Some(Known::Name(other)) => name = other,
                None => return self.draft.ir.named_extent(name),
            }
        }
    }
}

/// The axes of a `stride_order`, outermost first; the attribute numbers them from the innermost. `None` for an empty
/// one.
fn order_in_memory(order: &[i64], rank: usize) -> Made<Option<Order>> {
    if order.is_empty() {
        return Ok(None);
    }
    let mut axes: Vec<usize> = (0..order.len()).collect();
    axes.sort_by_key(|axis| std::cmp::Reverse(order[*axis]));
    let all = order.len() == rank && axes.windows(2).all(|w| order[w[0]] != order[w[1]]);
    match all {
        true => Ok(Some(axes.into_iter().collect())),
        false => Err(Fault::form(
            "has a stride order that does not number all axes",
        )),
    }
}

/// The number converted to a type; an error if the type cannot represent it.
fn of_type(number: Number, dtype: DType) -> Made<Number> {
    let text = || format!("is {number}, which is no `{}`", dtype.name());
    let own = number.of_kind(dtype);
    own.ok_or_else(|| Fault::new(&TYPE, text()))
}

/// A type that nothing computes with.
fn unsupported(name: &str) -> Fault {
    let fault = Fault::new(
        &TYPE,
        format!("the type `DataType.{name}` is not supported"),
    );
    fault.help("types are Double, Float, Half, BFloat16, Float8_e4m3fn, Float8_e5m2, Float8_e8m0fnu, Float4_e2m1fn, Int, Int32, Short, Char, UInt64, UInt32, UInt16, Byte and Bool")
}
