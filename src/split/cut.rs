//! From a program to its parts and their map.

use std::collections::BTreeMap;

use fuser_dialects::task::interface::{self, Task};
use fuser_dialects::{builtin, task};
use fuser_ir::check::same_but_layout;
use fuser_ir::clone::Mapping;
use fuser_ir::print::{PrintOptions, print, print_type};
use fuser_ir::types::ExtentExpr;
use fuser_ir::{
    AttrKind, Diagnostic, Diagnostics, Dim, Extent, Ir, NewOp, Op, Sym, TypeId, TypeKind, Value,
};
use fuser_pass::place_of;
use rustc_hash::{FxHashMap, FxHashSet};

use super::map::{self, Inner, Map, Occurrence, Segment};
use super::number;
use super::updates::{Updates, set_aliases};
use crate::compile::plan::GIVEN_EXTENTS;
use crate::compile::{self, CompileOptions};

/// The file of the original program.
pub const ORIGINAL: &str = "original.fir";

/// A program in parts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Split {
    /// Which value is which.
    pub map: Map,
    /// File names and texts: the original, then each segment in run order.
    pub files: Vec<(String, String)>,
}

/// Splits `program`; runs the passes before scheduling first (those of `options`, or the usual ones) unless it has segments.
pub fn split(ir: &Ir, program: Op, options: &CompileOptions) -> Result<Split, Diagnostics> {
    let mut ir = ir.clone();
    let (module, program) = alone(&mut ir, program);
    compile::name_extents(&mut ir, program);
    number::name(&mut ir, program);
    let original = print(&ir, module, &PrintOptions::default());
    let mut table = Table::new(&ir, program);
    if !ir.children(program).iter().any(|&op| is_segment(&ir, op)) {
        compile::run_front(&mut ir, module, options)?;
    }
    let segments = segments(&ir, program)?;
    table.outputs(&ir, &segments);
    let parts = match segments.as_slice() {
        [only] => vec![whole(&mut ir, module, program, *only, &mut table)],
        _ => {
            let names = names(&ir, &segments);
            let updates = Updates::of(&ir, program, &segments);
            let cut = segments.iter().zip(names);
            cut.map(|(&segment, name)| part(&mut ir, program, segment, name, &mut table, &updates))
                .collect()
        }
    };
    let returned = number::returned(&ir, program);
    let outputs = returned.iter().map(|&v| table.crossing(&ir, v)).collect();
    Ok(assemble(&ir, program, table, outputs, original, parts))
}

fn is_segment(ir: &Ir, op: Op) -> bool {
    ir.is(op, &task::SEGMENT)
}

/// A module with a copy of `program` and nothing else.
fn alone(ir: &mut Ir, program: Op) -> (Op, Op) {
    let copy = ir.clone_op(program, &mut Mapping::default());
    (module(ir, copy), copy)
}

fn module(ir: &mut Ir, program: Op) -> Op {
    let region = ir.new_region();
    let block = ir.append_block(region);
    ir.append_op(block, program);
    let new = NewOp {
        regions: [region].into_iter().collect(),
        ..NewOp::default()
    };
    ir.create_op(&builtin::MODULE, new)
}

/// The segments in run order; nothing else may stand beside them.
fn segments(ir: &Ir, program: Op) -> Result<Vec<Op>, Diagnostics> {
    let mut errors = Diagnostics::default();
    let mut segments = Vec::new();
    for op in ir.children(program) {
        if is_segment(ir, op) {
            segments.push(op);
        } else if !ir.is(op, &task::RETURN) {
            let message = format!("'{}' stands outside of all segments", ir.name(op));
            let error = Diagnostic::error(&super::LOOSE_OP, place_of(ir, op), message);
            errors.push(
                error.help("put it into a segment, or remove the borders with '--inline-tasks'"),
            );
        }
    }
    match errors.has_errors() {
        true => Err(errors),
        false => Ok(segments),
    }
}

/// Names of segments that are unique and can be file names.
fn names(ir: &Ir, segments: &[Op]) -> Vec<String> {
    let mut taken: FxHashSet<String> = [ORIGINAL.trim_end_matches(".fir"), "map"]
        .map(String::from)
        .into_iter()
        .collect();
    let plain = |name: &str| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        !name.is_empty() && name.chars().all(allowed) && !name.starts_with(['.', '-'])
    };
    let mut names = Vec::with_capacity(segments.len());
    for (number, &segment) in segments.iter().enumerate() {
        let own = ir.symbol_name(segment).filter(|n| plain(n));
        let base = own.map_or_else(|| format!("s{number}"), String::from);
        let mut name = base.clone();
        let mut suffix = 0;
        // Some file systems take `A` and `a` for the same.
        while !taken.insert(name.to_ascii_lowercase()) {
            suffix += 1;
            name = format!("{base}_{suffix}");
        }
        names.push(name);
    }
    names
}

/// The numbers of values, and what is known of them.
struct Table {
    /// Number and type of each value of the original, by name.
    originals: FxHashMap<Sym, (usize, TypeId)>,
    /// The numbers of values that lie in memory between segments.
    crossing: FxHashMap<Value, usize>,
    taken: FxHashSet<usize>,
    entries: Vec<map::Value>,
}

impl Table {
    fn new(ir: &Ir, program: Op) -> Self {
        let mut table = Self {
            originals: FxHashMap::default(),
            crossing: FxHashMap::default(),
            taken: FxHashSet::default(),
            entries: Vec::new(),
        };
        for value in number::values(ir, program) {
            let index = table.entry(ir, value, true);
            if let Some(name) = ir.value_name_sym(value) {
                table.originals.insert(name, (index, ir.value_type(value)));
            }
        }
        let args = ir.body(program, 0).map_or(&[][..], |b| ir.args(b));
        for (index, &arg) in args.iter().enumerate() {
            table.crossing.insert(arg, index);
            table.taken.insert(index);
        }
        table
    }
    fn entry(&mut self, ir: &Ir, value: Value, original: bool) -> usize {
        let index = self.entries.len();
        self.entries.push(map::Value {
            index,
            name: name_text(ir, value),
            ty: print_type(ir, ir.value_type(value)),
            original,
            written_by: None,
            last_reader: None,
            is: Vec::new(),
        });
        index
    }
    /// The number of the value of the original that has the name and the type of `value`.
    fn original(&self, ir: &Ir, value: Value) -> Option<usize> {
        let found = self.originals.get(&ir.value_name_sym(value)?);
        found
            .filter(|(_, ty)| same_but_layout(ir, *ty, ir.value_type(value)))
            .map(|(index, _)| *index)
    }
    /// Numbers the results of segments: as in the original where it has them, and each once.
    fn outputs(&mut self, ir: &Ir, segments: &[Op]) {
        for &segment in segments {
            for &result in ir.results(segment) {
                let source = number::source(ir, result);
                let known = self.original(ir, source);
                let free = known.filter(|index| self.taken.insert(*index));
                let index = free.unwrap_or_else(|| self.entry(ir, source, false));
                self.taken.insert(index);
                self.crossing.insert(result, index);
            }
        }
    }
    fn numbers(&self, ir: &Ir, values: &[Value]) -> Vec<usize> {
        values.iter().map(|&v| self.crossing(ir, v)).collect()
    }
    /// The number of a value between segments.
    fn crossing(&self, ir: &Ir, value: Value) -> usize {
        let known = self.crossing.get(&value).copied();
        known.or_else(|| self.original(ir, value)).unwrap_or(0)
    }
}

fn name_text(ir: &Ir, value: Value) -> String {
    format!("%{}", ir.value_name(value).unwrap_or_default())
}

/// A part before it is in the map.
struct Piece {
    segment: Segment,
    text: String,
    /// The extents that its ops need and its inputs do not have.
    needs: Vec<String>,
}

/// A program of one segment is its own part.
fn whole(ir: &mut Ir, module: Op, program: Op, segment: Op, table: &mut Table) -> Piece {
    let name = names(ir, &[segment]).swap_remove(0);
    let args = ir.body(program, 0).map_or(&[][..], |b| ir.args(b));
    let reads = table.numbers(ir, args);
    let writes = table.numbers(ir, &number::returned(ir, program));
    let kind = kind(ir, segment);
    piece(
        ir,
        (module, program),
        (name, kind),
        (&reads, &writes),
        table,
    )
}

/// The segment as a program.
fn part(
    ir: &mut Ir,
    whole: Op,
    segment: Op,
    name: String,
    table: &mut Table,
    updates: &Updates,
) -> Piece {
    let outside = interface::inputs(ir, Task::Op(segment));
    let reads = table.numbers(ir, &outside);
    let results = ir.results(segment).to_vec();
    let writes = table.numbers(ir, &results);
    let kind = kind(ir, segment);
    let symbol = format!("{}_{name}", ir.symbol_name(whole).unwrap_or("main"));
    let program = program(ir, segment, &outside, &symbol);
    let aliases = results.iter().map(|&v| updates.alias(segment, v, &outside));
    set_aliases(ir, program, &aliases.collect::<Vec<_>>());
    let args = ir
        .body(program, 0)
        .map_or(Vec::new(), |b| ir.args(b).to_vec());
    for (arg, &index) in args.into_iter().zip(&reads) {
        // The name in the map is the one that all parts use.
        let name = ir.sym(table.entries[index].name.trim_start_matches('%'));
        ir.set_value_name(arg, Some(name));
    }
    let needs = missing_extents(ir, program);
    if !needs.is_empty() {
        let texts: Vec<&str> = needs.iter().map(String::as_str).collect();
        let attr = ir.string_array_attr(&texts);
        ir.set_attr(program, GIVEN_EXTENTS, attr);
    }
    let module = module(ir, program);
    piece(
        ir,
        (module, program),
        (name, kind),
        (&reads, &writes),
        table,
    )
}

fn kind(ir: &Ir, segment: Op) -> String {
    ir.str_of(segment, "kind").unwrap_or("kernel").to_owned()
}

/// `task.program @symbol(outside) { segment; return its results }`
fn program(ir: &mut Ir, segment: Op, outside: &[Value], symbol: &str) -> Op {
    let region = ir.new_region();
    let body = ir.append_block(region);
    let mut map = Mapping::default();
    for &value in outside {
        let arg = ir.append_arg(body, ir.value_type(value), ir.value_name_sym(value));
        map.insert(value, arg);
    }
    let copy = ir.clone_op(segment, &mut map);
    ir.append_op(body, copy);
    let results = ir.results(copy).to_vec();
    let end = NewOp {
        operands: results.iter().copied().collect(),
        ..NewOp::default()
    };
    let end = ir.create_op(&task::RETURN, end);
    ir.append_op(body, end);
    let types = |ir: &Ir, values: &[Value]| values.iter().map(|&v| ir.value_type(v)).collect();
    let (inputs, outputs) = (types(ir, outside), types(ir, &results));
    let function = ir.function_type(inputs, outputs);
    let function = ir.attr(AttrKind::Type(function));
    let attrs = [
        ("function_type", function),
        ("sym_name", ir.string_attr(symbol)),
    ];
    let new = NewOp {
        attrs: attrs
            .map(|(key, attr)| (ir.sym(key), attr))
            .into_iter()
            .collect(),
        regions: [region].into_iter().collect(),
        ..NewOp::default()
    };
    ir.create_op(&task::PROGRAM, new)
}

/// The number in the original of each value of `program`, read before its values are named anew.
fn origins(ir: &Ir, program: Op, table: &Table) -> Vec<Option<usize>> {
    let values = number::values(ir, program).into_iter();
    values.map(|v| table.original(ir, v)).collect()
}

/// Names the values of a part, writes it, and says which of the original they are.
fn piece(
    ir: &mut Ir,
    (module, program): (Op, Op),
    (name, kind): (String, String),
    (reads, writes): (&[usize], &[usize]),
    table: &Table,
) -> Piece {
    let origins = origins(ir, program, table);
    number::name(ir, program);
    let values = number::values(ir, program);
    let numbers: FxHashMap<Value, usize> = values.iter().copied().zip(0..).collect();
    let inner = values.iter().zip(&origins).enumerate();
    let mut inner: Vec<Inner> = inner
        .map(|(value, (&v, &original))| Inner {
            value,
            name: name_text(ir, v),
            ty: print_type(ir, ir.value_type(v)),
            original,
        })
        .collect();
    let outputs = number::returned(ir, program);
    let outputs = outputs
        .iter()
        .map(|&v| numbers.get(&number::source(ir, v)).copied());
    let outputs: Vec<usize> = outputs.map(|n| n.unwrap_or(0)).collect();
    let inputs: Vec<usize> = (0..reads.len()).collect();
    for (&number, &index) in outputs.iter().zip(writes).chain(inputs.iter().zip(reads)) {
        inner[number].original = Some(index);
    }
    let text = print(ir, module, &PrintOptions::default());
    let segment = Segment {
        file: format!("{name}.fir"),
        hash: map::hash(&text),
        program: ir.symbol_name(program).unwrap_or_default().to_owned(),
        name,
        kind,
        inputs,
        outputs,
        extents: Vec::new(),
        values: inner,
        frees: Vec::new(),
    };
    Piece {
        segment,
        text,
        needs: missing_extents(ir, program),
    }
}

fn assemble(
    ir: &Ir,
    program: Op,
    table: Table,
    outputs: Vec<usize>,
    original: String,
    pieces: Vec<Piece>,
) -> Split {
    let extents = extents(ir, program);
    let numbers: BTreeMap<&str, i64> = extents.iter().map(|e| (&*e.name, e.index)).collect();
    let args = ir.body(program, 0).map_or(0, |b| ir.args(b).len());
    let mut files = vec![(ORIGINAL.to_owned(), original)];
    let mut segments = Vec::with_capacity(pieces.len());
    for mut piece in pieces {
        let needed = piece.needs.iter();
        piece.segment.extents = needed.filter_map(|n| numbers.get(&**n).copied()).collect();
        files.push((piece.segment.file.clone(), piece.text));
        segments.push(piece.segment);
    }
    let mut map = Map {
        version: map::VERSION,
        program: ir.symbol_name(program).unwrap_or_default().to_owned(),
        original: map::File {
            file: ORIGINAL.to_owned(),
            hash: map::hash(&files[0].1),
        },
        values: table.entries,
        extents,
        inputs: (0..args).collect(),
        outputs,
        segments,
    };
    relate(&mut map);
    Split { map, files }
}

/// Writes down who has, gives, last reads and frees each value.
fn relate(map: &mut Map) {
    for (segment, frees) in map.frees().into_iter().enumerate() {
        map.segments[segment].frees = frees;
    }
    for (value, last) in map.last_readers().into_iter().enumerate() {
        map.values[value].last_reader = last.map(|s| map.segments[s].name.clone());
    }
    for segment in &map.segments {
        for inner in &segment.values {
            if let Some(index) = inner.original {
                map.values[index].is.push(Occurrence {
                    segment: segment.name.clone(),
                    value: inner.value,
                });
            }
        }
        for index in segment.writes().flatten() {
            if index >= map.inputs.len() {
                map.values[index].written_by = Some(segment.name.clone());
            }
        }
    }
}

/// The named extents of a program: those of axes of inputs, in order, then those that the caller gives.
fn extents(ir: &Ir, program: Op) -> Vec<map::Extent> {
    let mut list: Vec<map::Extent> = Vec::new();
    let mut add = |name: &str, input: Option<String>, axis: Option<usize>| {
        if list.iter().all(|e| e.name != name) {
            list.push(map::Extent {
                index: -(list.len() as i64) - 1,
                name: name.to_owned(),
                input,
                axis,
            });
        }
    };
    let args = ir.body(program, 0).map_or(&[][..], |b| ir.args(b));
    for &arg in args {
        for (axis, dim) in dims(ir, ir.value_type(arg)).iter().enumerate() {
            if let Some(name) = plain_name(ir, dim) {
                add(ir.str(name), Some(name_text(ir, arg)), Some(axis));
            }
        }
    }
    for name in compile::plan::extent_names(ir, program) {
        add(&name, None, None);
    }
    list
}

fn dims(ir: &Ir, ty: TypeId) -> &[Dim] {
    match ir.ty(ty) {
        TypeKind::Tensor(tensor) => &tensor.dims,
        _ => &[],
    }
}

/// The name of an axis whose extent is that name and nothing else.
fn plain_name(ir: &Ir, dim: &Dim) -> Option<Sym> {
    match dim.extent {
        Extent::Symbolic(id) => ir.extent_expr(id).as_name(),
        _ => None,
    }
}

/// The names that a program uses and that no axis of its inputs is, in order of their names.
fn missing_extents(ir: &Ir, program: Op) -> Vec<String> {
    let mut used = FxHashSet::default();
    for op in ir.walk(program) {
        for &result in ir.results(op) {
            names_of_dims(ir, dims(ir, ir.value_type(result)), &mut used);
        }
        for &(_, attr) in ir.attrs(op) {
            match ir.attr_kind(attr) {
                AttrKind::Type(ty) => names_of_dims(ir, dims(ir, *ty), &mut used),
                kind => names_of_dims(ir, kind.as_dims().unwrap_or_default(), &mut used),
            }
        }
    }
    let args = ir.body(program, 0).map_or(&[][..], |b| ir.args(b));
    for &arg in args {
        names_of_dims(ir, dims(ir, ir.value_type(arg)), &mut used);
    }
    for &arg in args {
        for dim in dims(ir, ir.value_type(arg)) {
            if let Some(name) = plain_name(ir, dim) {
                used.remove(&name);
            }
        }
    }
    let mut names: Vec<String> = used.into_iter().map(|n| ir.str(n).to_owned()).collect();
    names.sort_unstable();
    names
}

fn names_of_dims(ir: &Ir, dims: &[Dim], used: &mut FxHashSet<Sym>) {
    for dim in dims {
        let expr: Option<ExtentExpr> = ir.extent_as_expr(dim.extent);
        let terms = expr.iter().flat_map(|e| e.terms.iter());
        used.extend(terms.flat_map(|(names, _)| names.iter().copied()));
    }
}
