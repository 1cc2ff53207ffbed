//! StableHLO text to a program: the public function, with its calls inlined.
//!
//! | file | |
//! |---|---|
//! | `lex.rs`, `grammar.lalrpop`, `ast.rs`, `parse.rs` | text to syntax tree |
//! | `op.rs` | an op of the tree: operands, attributes, stated types |
//! | `ops.rs` | the table of all ops |
//! | `control.rs`, `loops.rs`, `calls.rs` | branches; loops; calls of what lies outside |
//! | `devices.rs` | meshes, shardings, programs of each device, collectives |
//! | `shape.rs`, `reduce.rs`, `dot.rs`, `index.rs`, `scatter.rs`, `sort.rs`, `routine.rs`, ... | ops that are more than a row |
//! | `export/` | a program to text |
//!
//! A failed op is reported once. Its users are read with values of the types that the text states, to find their own
//! mistakes.

mod ast;
mod bits;
mod branches;
mod calls;
mod control;
mod convolution;
mod devices;
mod dot;
mod export;
mod index;
mod lambda;
mod lex;
mod loops;
mod norm;
mod op;
mod ops;
mod parse;
mod random;
mod reduce;
mod routine;
mod scatter;
mod shape;
mod sort;
mod special;
mod window;

use std::collections::{HashMap, HashSet};

use fuser_ir::limits::MAX_IDENTIFIER_BYTES;
use fuser_ir::loc::{Fused, LocKind};
use fuser_ir::span::Span;
use fuser_ir::types::{TypeId, TypeKind};
use fuser_ir::{DType, Diagnostics, Extent, Ir, LocId, Op, Value, describe, parse as ir_parse};

pub use export::{export, needs_parts};

use crate::codes::{LIMIT, NO_PROGRAM, STATED, TYPE, UNSUPPORTED};
use crate::program::{Draft, Fault, Made};
use ast::{Attr, Block, File, Item, Loc, Param};
use op::Reading;

/// Calls inside each other.
const MAX_CALLS: usize = 64;
/// The maximum number of operations read, counting each call of a function and each turn of a loop: a chain of calls
/// may double them at each level.
const MAX_OPS: usize = 1 << 20;

/// The program of a StableHLO module.
pub(crate) fn import(mut draft: Draft, source: &str) -> Result<(Ir, Op, Diagnostics), Diagnostics> {
    let (file, faults) = parse::parse(source);
    let whole = faults.is_empty();
    for fault in faults {
        draft.tell("", Span::default(), fault);
    }
    let mut importer = Importer::new(draft, source, &file, whole);
    let Some(main) = importer.main() else {
        let draft = &mut importer.draft;
        if !draft.found.has_errors() {
            let fault = Fault::new(&NO_PROGRAM, "no function is `main`, none alone is public")
                .help("`jax.jit(f).lower(...).as_text()` prints a module with a function `main`");
            draft.tell("", Span::default(), fault);
        }
        return Err(importer.draft.found);
    };
    let symbol = importer.symbol(main);
    importer.draft.take(&symbol);
    let results = importer.program(main);
    importer.draft.finish(&symbol, &results, &[])
}

/// Reads one file.
pub(crate) struct Importer<'s> {
    /// The program.
    pub draft: Draft,
    source: &'s str,
    /// False where ops are missing, as the grammar refused them.
    whole: bool,
    module: Option<&'s str>,
    functions: HashMap<&'s str, &'s ast::Op>,
    /// The weights of functions that branches call.
    weights: HashMap<&'s str, u64>,
    order: Vec<&'s str>,
    types: HashMap<&'s str, Option<TypeId>>,
    aliases: HashMap<&'s str, &'s Loc>,
    /// Elements of constants by key, in hexadecimal digits.
    resources: HashMap<&'s str, &'s str>,
    /// The devices that the module states.
    devices: u64,
    /// The meshes of the module.
    meshes: devices::Meshes<'s>,
    /// The locations of aliases, as far as they were resolved.
    places: HashMap<&'s str, Option<LocId>>,
    read: usize,
}

/// The values of a function, by name; `None` for those whose op failed.
#[derive(Default)]
struct Frame<'s> {
    values: HashMap<&'s str, Vec<Option<Value>>>,
    call: Option<LocId>,
    depth: usize,
    /// The number of blocks being read: the function's block, and those of nested loops and branches.
    blocks: usize,
}

impl<'s> Importer<'s> {
    fn new(draft: Draft, source: &'s str, file: &'s File, whole: bool) -> Self {
        let mut importer = Self {
            whole,
            draft,
            source,
            module: None,
            functions: HashMap::new(),
            weights: HashMap::new(),
            order: Vec::new(),
            types: HashMap::new(),
            aliases: HashMap::new(),
            resources: HashMap::new(),
            devices: 1,
            meshes: devices::Meshes::default(),
            places: HashMap::new(),
            read: 0,
        };
        for span in &file.resources {
            importer.resources.extend(resources(importer.text(*span)));
        }
        for (name, loc) in &file.aliases {
            importer.aliases.insert(importer.text(*name), loc);
        }
        let mut tops: Vec<&'s ast::Op> = file.ops.iter().collect();
        if let [module] = file.ops.as_slice()
            && matches!(importer.op_name(module), "module" | "builtin.module")
        {
            importer.module = importer.symbol_of(module);
            importer.devices = ["mhlo.num_partitions", "mhlo.num_replicas"]
                .into_iter()
                .filter_map(|name| op::attr(source, module, name).and_then(op::atom))
                .filter_map(|span| importer.text(span).parse::<u64>().ok())
                .fold(1, u64::saturating_mul);
            tops = op::blocks(module).flat_map(|block| &block.ops).collect();
        }
        for top in tops {
            let name = importer.op_name(top);
            match importer.symbol_of(top) {
                Some(symbol) if matches!(name, "func.func" | "func") => {
                    importer.functions.insert(symbol, top);
                    importer.order.push(symbol);
                }
                symbol if name == "sdy.mesh" => importer.mesh(top, symbol.unwrap_or("")),
                _ => {
                    let fault = Fault::new(&UNSUPPORTED, "is no function");
                    importer.draft.tell(name, top.name, fault);
                }
            }
        }
        importer.join_meshes();
        importer
    }
    /// The text of a range.
    pub fn text(&self, span: Span) -> &'s str {
        self.source
            .get(span.start as usize..span.end as usize)
            .unwrap_or("")
    }
    fn op_name(&self, op: &ast::Op) -> &'s str {
        self.text(op.name).trim_matches('"')
    }
    /// The symbol that an op defines or calls, without `@`.
    fn symbol_of(&self, op: &ast::Op) -> Option<&'s str> {
        let custom = op.items.iter().find_map(|item| match item {
            Item::Symbol(symbol) | Item::Named(symbol, Attr::Atom(_)) => {
                let text = self.text(*symbol);
                text.starts_with('@').then_some(text)
            }
            _ => None,
        });
        let generic = || {
            let names = ["sym_name", "callee", "call_target_name"].into_iter();
            let mut found = names.filter_map(|name| op::attr(self.source, op, name));
            found.find_map(op::atom).map(|span| self.text(span))
        };
        custom.or_else(generic).map(bare)
    }
    /// The function `main`, or the only one.
    fn main(&self) -> Option<&'s str> {
        let private = |symbol: &&&str| {
            let function = self.functions[**symbol];
            let words = function.items.iter();
            let mut words = words.filter_map(|item| match item {
                Item::Word(word) => Some(self.text(*word)),
                _ => None,
            });
            let stated = op::attr(self.source, function, "sym_visibility").and_then(op::atom);
            let stated = stated.map(|span| bare(self.text(span)));
            words.any(|word| word == "private") || stated == Some("private")
        };
        if self.functions.contains_key("main") {
            return Some("main");
        }
        let mut public = self.order.iter().filter(|symbol| !private(symbol));
        let first = public.next();
        first.filter(|_| public.next().is_none()).copied()
    }
    /// The name of the program: the module's name if the function is called `main`.
    fn symbol(&self, main: &str) -> String {
        let symbol = match main {
            "main" => self.module.unwrap_or(main),
            main => main,
        };
        symbol.to_owned()
    }

    /// Reads the public function; its results.
    fn program(&mut self, symbol: &'s str) -> Vec<Value> {
        let function = self.functions[symbol];
        self.lay(function);
        let mut frame = Frame::default();
        let mut taken = HashSet::new();
        for (name, ty, loc) in parameters(function) {
            let value = match self.tensor(ty) {
                Ok(ty) => {
                    let called = loc.and_then(|loc| self.name_of(loc));
                    // Two names may have the same words.
                    let called = called.filter(|called| taken.insert(called.clone()));
                    let number = || self.text(name).trim_start_matches('%').to_owned();
                    Some(self.draft.argument(ty, &called.unwrap_or_else(number)))
                }
                Err(fault) => {
                    self.draft.tell(self.text(name), ty, fault);
                    None
                }
            };
            frame.values.insert(self.text(name), vec![value]);
        }
        let mut results = Vec::new();
        for value in self.run(function, &mut frame).into_iter().flatten() {
            match self.draft.stored(value) {
                Ok(value) => results.push(value),
                Err(fault) => self.draft.tell("return", function.name, fault),
            }
        }
        results
    }
    /// The results of a function, whose arguments are in `frame`.
    fn run(&mut self, function: &'s ast::Op, frame: &mut Frame<'s>) -> Vec<Option<Value>> {
        let Some(block) = op::blocks(function).next() else {
            let fault = Fault::new(&NO_PROGRAM, "the function has no body");
            self.draft.tell("", function.name, fault);
            return Vec::new();
        };
        self.block(block, frame)
    }
    /// Reads the ops of a block; returns the values of its terminator.
    fn block(&mut self, block: &'s Block, frame: &mut Frame<'s>) -> Vec<Option<Value>> {
        frame.blocks += 1;
        let given = self.ops(block, frame);
        frame.blocks -= 1;
        given
    }
    fn ops(&mut self, block: &'s Block, frame: &mut Frame<'s>) -> Vec<Option<Value>> {
        for op in &block.ops {
            let name = self.op_name(op);
            self.read += 1;
            if self.read > MAX_OPS {
                let fault = Fault::new(
                    &LIMIT,
                    "the calls and loops make more than 1048576 operations",
                );
                self.draft.tell("", op.name, fault);
                return Vec::new();
            }
            if op::is_return(name) {
                return self.operands(op, frame);
            }
            self.operation(op, name, frame);
        }
        Vec::new()
    }
    /// The operands of an op, `None` where their ops failed.
    fn operands(&mut self, op: &ast::Op, frame: &Frame<'s>) -> Vec<Option<Value>> {
        let spans = op::operands(op);
        let mut values = Vec::with_capacity(spans.len());
        for span in spans {
            let name = self.text(span);
            let (base, index) = name.split_once('#').unwrap_or((name, "0"));
            let found = frame.values.get(base);
            if found.is_none() && self.whole {
                self.draft.undefined(name, span);
            }
            let index: usize = index.parse().unwrap_or(usize::MAX);
            values.push(found.and_then(|list| *list.get(index)?));
        }
        values
    }
    /// Gives element `index` of a result its name in the text. Numbers are used as names only in the program's own
    /// block, since functions, loops and branches may reuse them.
    fn call_by(&mut self, value: Option<Value>, name: &str, index: usize, frame: &Frame<'_>) {
        let is_number = name.starts_with(|c: char| c.is_ascii_digit());
        let is_own = frame.depth == 0 && frame.blocks == 1;
        let Some(value) = value.filter(|_| is_own || !is_number) else {
            return;
        };
        match index {
            0 => self.draft.name(value, name),
            _ => self.draft.name(value, &format!("{name}#{index}")),
        }
    }
    /// The number of results under one name.
    fn count(&self, stated: Option<Span>) -> usize {
        let stated = stated.and_then(|count| self.text(count).parse().ok());
        stated.unwrap_or(1)
    }
    fn operation(&mut self, op: &'s ast::Op, name: &'s str, frame: &mut Frame<'s>) {
        let loc = self.location(op, frame.call);
        let made = self.results(op, name, loc, frame);
        let mut made = made.into_iter();
        for (result, count) in &op.results {
            let name = self.text(*result);
            let values: Vec<_> = made.by_ref().take(self.count(*count)).collect();
            for (value, index) in values.iter().zip(0..) {
                self.call_by(*value, name.trim_start_matches('%'), index, frame);
            }
            frame.values.insert(name, values);
        }
    }
    /// The results of an op; nothing where it failed.
    fn results(
        &mut self,
        op: &'s ast::Op,
        name: &'s str,
        loc: LocId,
        frame: &mut Frame<'s>,
    ) -> Vec<Option<Value>> {
        let name = self.composed(op, name).unwrap_or(name);
        let operands = self.operands(op, frame);
        if let Some(called) = self.called(op, name) {
            return self.call(op, called, operands, loc, frame);
        }
        self.draft.loc = loc;
        let unsure = self.draft.are_unsure(operands.iter().flatten());
        let made = match self.controlled(op, name, &operands, frame) {
            Some(made) => made.and_then(|made| {
                let outputs = self.outputs(op)?;
                let whole: Option<Vec<Value>> = made.iter().copied().collect();
                self.stated(&outputs, &whole.unwrap_or_default())?;
                Ok(made)
            }),
            None => self.plain(op, name, operands, frame),
        };
        match made {
            Ok(made) => {
                if unsure {
                    self.draft.unsure.extend(made.iter().flatten());
                }
                made
            }
            Err(fault) => {
                self.draft.tell(name, op.name, fault);
                self.substitutes(op)
            }
        }
    }
    /// The results of an op without control flow.
    fn plain(
        &mut self,
        op: &'s ast::Op,
        name: &'s str,
        operands: Vec<Option<Value>>,
        frame: &Frame<'s>,
    ) -> Made<Vec<Option<Value>>> {
        let meaning = ops::meaning(name)?;
        let outputs = self.outputs(op)?;
        let Some(operands) = operands.into_iter().collect::<Option<Vec<Value>>>() else {
            return Ok(self.substitutes(op));
        };
        let reading = Reading {
            captured: self.captured(op, frame),
            op,
            operands,
            outputs,
            source: self.source,
        };
        let made = ops::make(self, meaning, &reading)?;
        self.stated(&reading.outputs, &made)?;
        let mut made = made;
        let lies = self.shardings_of(op::attr(self.source, op, "sdy.sharding"));
        for (value, text) in made.iter_mut().zip(lies) {
            *value = self.laid(*value, text)?;
        }
        let made = made.into_iter();
        Ok(made.map(|value| Some(self.folded(value))).collect())
    }
    /// Placeholders of the stated types for results that could not be created, so that later mistakes are still found.
    fn substitutes(&mut self, op: &'s ast::Op) -> Vec<Option<Value>> {
        let outputs = self.outputs(op).unwrap_or_default();
        let unknown = outputs.into_iter().map(|ty| self.draft.unknown(ty));
        unknown.map(Some).collect()
    }
    /// The values that the regions of an op use from outside of them.
    fn captured(&self, op: &'s ast::Op, frame: &Frame<'s>) -> HashMap<&'s str, Value> {
        let mut captured = HashMap::new();
        for span in op::blocks(op)
            .flat_map(|block| &block.ops)
            .flat_map(op::operands)
        {
            let name = self.text(span);
            let value = frame.values.get(name).and_then(|list| *list.first()?);
            captured.extend(value.map(|value| (name, value)));
        }
        captured
    }
    /// The supported op that a composite stands for, such as `chlo.top_k`.
    fn composed(&self, op: &'s ast::Op, name: &str) -> Option<&'s str> {
        if name != "stablehlo.composite" {
            return None;
        }
        let custom = op.items.iter().find_map(|item| match item {
            Item::Attr(Attr::Atom(span)) => Some(*span),
            _ => None,
        });
        let stated = custom.or_else(|| op::attr(self.source, op, "name").and_then(op::atom));
        let stated = bare(self.text(stated?));
        (stated.starts_with("chlo.") && ops::meaning(stated).is_ok()).then_some(stated)
    }
    /// The symbol of the function that an op calls.
    fn called(&self, op: &'s ast::Op, name: &str) -> Option<Span> {
        let symbol = |item: &Item| match item {
            Item::Symbol(symbol) => Some(*symbol),
            _ => None,
        };
        let attr = |name: &str| op::attr(self.source, op, name).and_then(op::atom);
        match name {
            "call" | "func.call" => op.items.iter().find_map(symbol).or_else(|| attr("callee")),
            "stablehlo.composite" => attr("decomposition"),
            _ => None,
        }
    }
    /// Reads a function where it is called.
    fn call(
        &mut self,
        op: &'s ast::Op,
        called: Span,
        operands: Vec<Option<Value>>,
        loc: LocId,
        caller: &Frame<'s>,
    ) -> Vec<Option<Value>> {
        let symbol = self.text(called);
        let depth = caller.depth;
        let Some(function) = self.functions.get(bare(symbol)).copied() else {
            self.draft.undefined(symbol, called);
            return self.substitutes(op);
        };
        if depth >= MAX_CALLS {
            let text = format!("more than {MAX_CALLS} calls lie inside each other");
            self.draft.tell("call", op.name, Fault::new(&LIMIT, text));
            return Vec::new();
        }
        let names: Vec<Span> = parameters(function).map(|(name, ..)| name).collect();
        if names.len() != operands.len() {
            let text = format!("{symbol} takes {} operands", names.len());
            self.draft.tell("call", op.name, Fault::form(text));
            return Vec::new();
        }
        let mut frame = Frame {
            call: Some(loc),
            depth: depth + 1,
            ..Frame::default()
        };
        for (name, value) in names.into_iter().zip(operands) {
            frame.values.insert(self.text(name), vec![value]);
        }
        self.run(function, &mut frame)
    }

    /// The stated types of an op's results.
    fn outputs(&mut self, op: &ast::Op) -> Made<Vec<TypeId>> {
        let Some(types) = &op.types else {
            return Ok(Vec::new());
        };
        let count = op.results.iter().map(|(_, count)| self.count(*count));
        let count: usize = count.fold(0, usize::saturating_add);
        let stated = match &types.outputs {
            Some(outputs) => outputs.as_slice(),
            // One type for all operands and the result; otherwise the result's type comes after the operands' types.
            None if count == 1 => types.inputs.split_at(types.inputs.len() - 1).1,
            None => &types.inputs,
        };
        stated.iter().map(|span| self.tensor(*span)).collect()
    }
    /// Checks computed types against stated types; broadcast axes, which the text cannot state, are ignored.
    fn stated(&mut self, stated: &[TypeId], made: &[Value]) -> Made<()> {
        for (stated, made) in stated.iter().zip(made) {
            let own = self.draft.ir.value_type(*made);
            let extents = |ir: &Ir, ty: TypeId| -> Option<Vec<Extent>> {
                let tensor = ir.ty(ty).as_tensor()?;
                Some(tensor.dims.iter().map(|dim| dim.extent).collect())
            };
            let ir = &self.draft.ir;
            let same_shape = extents(ir, *stated) == extents(ir, own);
            if !same_shape || ir.ty(*stated).dtype() != ir.ty(own).dtype() {
                let (stated, own) = (describe::ty(ir, *stated), describe::ty(ir, own));
                let text = format!("gives {own}, the text says {stated}");
                return Err(Fault::new(&STATED, text));
            }
        }
        Ok(())
    }
    /// The tensor type at `span`: known extents, elements that ops compute with.
    pub fn tensor(&mut self, span: Span) -> Made<TypeId> {
        let text = self.text(span);
        let ir = &mut self.draft.ir;
        let ty = *self.types.entry(text).or_insert_with(|| {
            let ty = ir_parse::parse_type(ir, text).ok()?;
            let plain =
                |dim: &fuser_ir::Dim| matches!(dim.extent, Extent::Static(_)) && !dim.broadcast;
            let tensor = match ir.ty(ty) {
                TypeKind::Tensor(tensor) => tensor,
                // A scalar, as `arith.constant` gives it, becomes a tensor of rank 0.
                TypeKind::Scalar(DType::Index) => return Some(ir.tensor(Vec::new(), DType::I64)),
                TypeKind::Scalar(dtype) => return Some(ir.tensor(Vec::new(), *dtype)),
                _ => return None,
            };
            (tensor.encoding.is_none() && tensor.dims.iter().all(plain)).then_some(ty)
        });
        ty.ok_or_else(|| {
            let text: String = text.chars().take(80).collect();
            let fault = Fault::new(&TYPE, format!("the type `{text}` is not supported")).at(span);
            let known = DType::ALL.into_iter().filter(|d| *d != DType::Index);
            let known: Vec<&str> = known.map(DType::name).collect();
            fault.help(format!(
                "tensors have known extents and elements {}: lower the program for fixed shapes, and cast other types before",
                known.join(", ")
            ))
        })
    }

    /// The location of an op: the stated one, or its position in the text.
    fn location(&mut self, op: &'s ast::Op, call: Option<LocId>) -> LocId {
        let stated = op.loc.as_ref().and_then(|loc| self.loc(loc, 0));
        let own = stated.unwrap_or_else(|| self.draft.place(op.name));
        match call {
            Some(caller) => {
                let callee = own;
                self.draft.ir.loc(LocKind::CallSite { callee, caller })
            }
            None => own,
        }
    }
    /// A stated location; `None` for one that is unknown or nested too deeply.
    fn loc(&mut self, loc: &'s Loc, depth: usize) -> Option<LocId> {
        if depth > lex::MAX_NESTING {
            return None;
        }
        let kind = match loc {
            Loc::Unknown => return None,
            Loc::Alias(name) => {
                let name = self.text(*name);
                if let Some(known) = self.places.get(name) {
                    return *known;
                }
                let known = self.aliases.get(name).copied()?;
                // A location that contains itself is ignored there.
                self.places.insert(name, None);
                let known = self.loc(known, depth + 1);
                self.places.insert(name, known);
                return known;
            }
            Loc::Name(name, child) => {
                let child = child.as_ref().and_then(|child| self.loc(child, depth + 1));
                let name = self.draft.ir.sym(self.text(*name).trim_matches('"'));
                LocKind::Name { name, child }
            }
            Loc::File(file, line, column) => LocKind::File {
                line: self.text(*line).parse().ok()?,
                column: self.text(*column).parse().ok()?,
                file: self.draft.ir.sym(self.text(*file).trim_matches('"')),
            },
            Loc::CallSite(callee, caller) => LocKind::CallSite {
                callee: self.loc(callee, depth + 1)?,
                caller: self.loc(caller, depth + 1)?,
            },
            Loc::Fused(parts) => {
                let parts = parts.iter().filter_map(|part| self.loc(part, depth + 1));
                let parts = parts.collect();
                LocKind::Fused(Box::new(Fused { parts }))
            }
        };
        Some(self.draft.ir.loc(kind))
    }
    /// The name that a location gives a parameter: `x` of JAX's `loc("x")`, `p_w_0` of its `loc("p['w'][0]")`.
    fn name_of(&self, loc: &Loc) -> Option<String> {
        let mut loc = loc;
        for _ in 0..lex::MAX_NESTING {
            match loc {
                Loc::Alias(name) => loc = self.aliases.get(self.text(*name))?,
                Loc::Name(name, _) => return identifier(self.text(*name).trim_matches('"')),
                _ => return None,
            }
        }
        None
    }
}

/// The words of a text, with `_` between them; `None` if that is no identifier.
fn identifier(text: &str) -> Option<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(|c| !is_word(c)).filter(|word| !word.is_empty());
    let name = words.collect::<Vec<_>>().join("_");
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    (starts && name.len() <= MAX_IDENTIFIER_BYTES).then_some(name)
}

/// The parameters of a function: name, type, location.
fn parameters(function: &ast::Op) -> impl Iterator<Item = (Span, Span, Option<&Loc>)> {
    let lists = function.items.iter().filter_map(|item| match item {
        Item::Parens(list) => Some(list),
        _ => None,
    });
    let params = lists.take(1).flatten();
    let custom = params.filter_map(|param| match param {
        Param::Typed(name, ty, _, loc) => Some((*name, *ty, loc.as_ref())),
        _ => None,
    });
    let generic = op::blocks(function).take(1).flat_map(|block| &block.args);
    custom.chain(generic.map(|(name, ty, loc)| (*name, *ty, loc.as_ref())))
}

/// A symbol without `@` and quotation marks.
fn bare(symbol: &str) -> &str {
    symbol.trim_start_matches('@').trim_matches('"')
}

/// The entries `key: "0x..."` of the resources after a module: keys and digits.
fn resources(text: &str) -> Vec<(&str, &str)> {
    let pieces: Vec<&str> = text.split('"').collect();
    let mut found = Vec::new();
    for at in (1..pieces.len()).step_by(2) {
        let Some(digits) = pieces[at].strip_prefix("0x") else {
            continue;
        };
        let before = pieces[at - 1].trim().trim_end_matches(':').trim_end();
        let key = match before {
            "" => pieces.get(at.wrapping_sub(2)).copied(),
            before => before
                .rsplit(|c: char| c.is_whitespace() || "{,".contains(c))
                .next(),
        };
        found.extend(key.map(|key| (key, digits)));
    }
    found
}
