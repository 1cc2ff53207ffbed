//! From a program to its parts and their map.

use std::collections::BTreeMap;

use fuser_dialects::task::interface::{self, Task};
use fuser_dialects::task::{calls, marks, packed, pairs};
use fuser_dialects::{builtin, task};
use fuser_ir::check::same_but_layout;
use fuser_ir::clone::Mapping;
use fuser_ir::print::{PrintOptions, clean, distinct, print, print_type};
use fuser_ir::{AttrKind, Diagnostic, Diagnostics, Ir, NewOp, Op, Sym, TypeId, Value};
use fuser_pass::place_of;
use rustc_hash::{FxHashMap, FxHashSet};

use super::extents::{self, name_of};
use super::map::{self, Inner, Map, Segment};
use super::number;
use super::updates::{Updates, set_aliases};
use crate::compile::plan::GIVEN_EXTENTS;
use crate::compile::{self, CompileOptions, Moment};

/// The file of the original program.
pub const ORIGINAL: &str = "original.fir";

/// A program in parts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Split {
    /// The map between the original's values and those of the parts.
    pub map: Map,
    /// File names and texts: the original, then each segment in run order.
    pub files: Vec<(String, String)>,
}

/// Splits `program`. A program without segments first runs the passes up to scheduling, those of `options` or the
/// default ones.
pub fn split(ir: &Ir, program: Op, options: &CompileOptions) -> Result<Split, Diagnostics> {
    let mut ir = ir.clone();
    let callees = callees(&mut ir, program);
    let (module, program) = alone(&mut ir, program, &callees);
    compile::name_extents(&mut ir, program);
    number::name(&mut ir, program, &[]);
    let original = print(&ir, module, &PrintOptions::default());
    let mut table = Table {
        callees,
        ..Table::new(&ir, program)
    };
    let extents = extents::of(&ir, program);
    if !ir.children(program).iter().any(|&op| is_segment(&ir, op)) {
        let own = &mut table.callees;
        compile::run_front_changed(&mut ir, module, options, Moment::Hoisted, &mut |ir| {
            *own = self::callees(ir, program);
            Ok(())
        })?;
        // Passes may leave programs that nothing runs any more.
        compile::keep_only(&mut ir, module, program);
    }
    if marked_ends(&ir, program) || has_parts_of_bytes(&ir, program) {
        let message =
            "programs that take or give complex numbers or floats of 4 bits are not split"
                .to_owned();
        let error = Diagnostic::error(&super::COMPLEX, place_of(&ir, program), message);
        let help = "split what 'fuser-opt --unpack-floats --split-complex' makes of it, without the marks 'pairs' and 'packed'";
        return Err(Diagnostics {
            items: vec![error.help(help)],
        });
    }
    let segments = segments(&ir, program)?;
    table.outputs(&ir, &segments, &number::returned(&ir, program));
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
    let symbol = ir.symbol_name(program).unwrap_or_default().to_owned();
    let args = ir.body(program, 0).map_or(0, |b| ir.args(b).len());
    let map = Map {
        version: map::VERSION,
        hash: String::new(),
        program: symbol,
        original: map::File {
            file: ORIGINAL.to_owned(),
            hash: map::hash(&original),
        },
        values: table.entries,
        extents,
        inputs: (0..args).collect(),
        outputs,
        segments: Vec::new(),
    };
    Ok(assemble(map, original, parts))
}

/// True if callers see an argument or result in another form than the program: a complex one, or one of 4-bit floats.
fn marked_ends(ir: &Ir, program: Op) -> bool {
    let args = ir.body(program, 0).map_or(0, |b| ir.args(b).len());
    let results = number::returned(ir, program).len();
    let marked = |list, count| {
        let marks = [pairs::MARK, packed::MARK];
        (0..count).any(|i| {
            marks
                .iter()
                .any(|mark| marks::has(ir, program, list, i, mark))
        })
    };
    let [inputs, outputs] = marks::LISTS;
    marked(inputs, args) || marked(outputs, results)
}

/// True if a value still has 4-bit floats, which cannot be arguments in all shapes.
fn has_parts_of_bytes(ir: &Ir, program: Op) -> bool {
    let mut values = ir.walk(program).into_iter();
    values.any(|op| {
        let mut results = ir.results(op).iter();
        results.any(|&value| ir.value_kind(value).dtype() == Some(packed::DTYPE))
    })
}

fn is_segment(ir: &Ir, op: Op) -> bool {
    ir.is(op, &task::SEGMENT)
}

/// Copies of the programs that the loops of `program` run, which stand nowhere.
fn callees(ir: &mut Ir, program: Op) -> Vec<Op> {
    let Some(module) = ir.parent_op(program) else {
        return Vec::new();
    };
    let mut reached = calls::reached(ir, module, program);
    reached.retain(|&other| other != program);
    let copies = reached.into_iter();
    copies
        .map(|callee| ir.clone_op(callee, &mut Mapping::default()))
        .collect()
}

/// A module with only a copy of `program` and the programs that it calls.
fn alone(ir: &mut Ir, program: Op, callees: &[Op]) -> (Op, Op) {
    let copy = ir.clone_op(program, &mut Mapping::default());
    (module(ir, copy, callees), copy)
}

/// A module with `program` and copies of those of `callees` that it runs.
fn module(ir: &mut Ir, program: Op, callees: &[Op]) -> Op {
    let region = ir.new_region();
    let block = ir.append_block(region);
    ir.append_op(block, program);
    let mut copies = Vec::new();
    for &callee in callees {
        let copy = ir.clone_op(callee, &mut Mapping::default());
        ir.append_op(block, copy);
        copies.push(copy);
    }
    let new = NewOp {
        regions: [region].into_iter().collect(),
        ..NewOp::default()
    };
    let module = ir.create_op(&builtin::MODULE, new);
    let kept = calls::reached(ir, module, program);
    for copy in copies {
        if !kept.contains(&copy) {
            ir.erase(copy);
        }
    }
    module
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
                error.help("put it into a segment, or remove the boundaries with '--inline-tasks'"),
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
    /// The numbers of values in memory between segments, by the value behind the results of boundaries.
    crossing: FxHashMap<Value, usize>,
    taken: FxHashSet<usize>,
    /// Types of the values of the original.
    types: Vec<TypeId>,
    /// The numbers of what the original returns.
    returned: Vec<usize>,
    names: FxHashSet<String>,
    entries: Vec<map::Value>,
    /// The programs that loops run.
    callees: Vec<Op>,
}

impl Table {
    fn new(ir: &Ir, program: Op) -> Self {
        let mut table = Self {
            originals: FxHashMap::default(),
            crossing: FxHashMap::default(),
            taken: FxHashSet::default(),
            types: Vec::new(),
            returned: number::returned_numbers(ir, program),
            names: FxHashSet::default(),
            entries: Vec::new(),
            callees: Vec::new(),
        };
        for value in number::values(ir, program) {
            let index = table.entry(ir, value, true);
            table.types.push(ir.value_type(value));
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
    /// A new number; the value gets a name that no other has.
    fn entry(&mut self, ir: &Ir, value: Value, original: bool) -> usize {
        let index = self.entries.len();
        let base = ir.value_name(value).map_or(format!("v{index}"), clean);
        let mut name = base.clone();
        let mut suffix = 0;
        while !self.names.insert(name.clone()) {
            suffix += 1;
            name = distinct(&base, suffix);
        }
        self.entries.push(map::Value {
            index,
            name: format!("%{name}"),
            ty: print_type(ir, ir.value_type(value)),
            original,
            written_by: None,
            last_user: None,
            is: Vec::new(),
        });
        index
    }
    /// The number of the original's value with the name and type of `value`.
    fn original(&self, ir: &Ir, value: Value) -> Option<usize> {
        let found = self.originals.get(&ir.value_name_sym(value)?);
        found
            .filter(|(_, ty)| same_but_layout(ir, *ty, ir.value_type(value)))
            .map(|(index, _)| *index)
    }
    /// Numbers the results of segments, each once: returned values (`ends`) in the original's order, the others by
    /// their numbers in the original if they exist there.
    fn outputs(&mut self, ir: &Ir, segments: &[Op], ends: &[Value]) {
        for own_name in [true, false] {
            for (end, index) in ends.iter().zip(self.returned.clone()) {
                let end = number::source(ir, *end);
                let named = self.original(ir, end) == Some(index);
                if named == own_name && self.is_like(ir, end, index) {
                    self.number(end, index);
                }
            }
        }
        for &segment in segments {
            for &result in ir.results(segment) {
                let source = number::source(ir, result);
                let known = self.original(ir, source);
                if !known.is_some_and(|index| self.number(source, index))
                    && !self.crossing.contains_key(&source)
                {
                    let index = self.entry(ir, source, false);
                    self.number(source, index);
                }
            }
        }
    }
    /// True if a value may have the number `index` of an original value: their types are equal.
    fn is_like(&self, ir: &Ir, value: Value, index: usize) -> bool {
        let ty = self.types.get(index);
        ty.is_some_and(|&ty| same_but_layout(ir, ty, ir.value_type(value)))
    }
    /// Gives a value a number unless another value has it; returns true if the value then has one.
    fn number(&mut self, value: Value, index: usize) -> bool {
        let has = self.crossing.contains_key(&value);
        let free = !has && self.taken.insert(index);
        if free {
            self.crossing.insert(value, index);
        }
        has || free
    }
    fn numbers(&self, ir: &Ir, values: &[Value]) -> Vec<usize> {
        values.iter().map(|&v| self.crossing(ir, v)).collect()
    }
    /// The number of a value between segments.
    fn crossing(&self, ir: &Ir, value: Value) -> usize {
        let known = self.crossing.get(&number::source(ir, value)).copied();
        known.or_else(|| self.original(ir, value)).unwrap_or(0)
    }
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
        &[],
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
    let mut symbol = format!("{}_{name}", ir.symbol_name(whole).unwrap_or("main"));
    let mut others = table.callees.iter();
    while others.any(|&callee| ir.symbol_name(callee) == Some(&symbol)) {
        symbol.push('_');
        others = table.callees.iter();
    }
    let program = program(ir, segment, &outside, &symbol);
    let aliases = results.iter().map(|&v| updates.alias(segment, v, &outside));
    set_aliases(ir, program, &aliases.collect::<Vec<_>>());
    // The name in the map is the one that all parts use.
    let args = ir.body(program, 0).map_or(&[][..], |b| ir.args(b));
    let returned = number::returned(ir, program).into_iter();
    let ends = returned.map(|v| number::source(ir, v));
    let ends: Vec<Value> = args.iter().copied().chain(ends).collect();
    for (position, (&end, &index)) in ends.iter().zip(reads.iter().chain(&writes)).enumerate() {
        if !ends[..position].contains(&end) {
            let name = ir.sym(table.entries[index].name.trim_start_matches('%'));
            ir.set_value_name(end, Some(name));
        }
    }
    let needs = extents::missing(ir, program);
    if !needs.is_empty() {
        let texts: Vec<&str> = needs.iter().map(String::as_str).collect();
        let attr = ir.string_array_attr(&texts);
        ir.set_attr(program, GIVEN_EXTENTS, attr);
    }
    let module = module(ir, program, &table.callees);
    piece(
        ir,
        (module, program),
        (name, kind),
        (&reads, &writes),
        &ends,
        table,
    )
}

/// `kernel`, `view`, ...
pub fn kind(ir: &Ir, segment: Op) -> String {
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

/// The number in the original of each value of `program`, read before its values are renamed.
fn origins(ir: &Ir, program: Op, table: &Table) -> Vec<Option<usize>> {
    let values = number::values(ir, program).into_iter();
    values.map(|v| table.original(ir, v)).collect()
}

/// Names the values of a part, writes the part, and states their counterparts in the original.
fn piece(
    ir: &mut Ir,
    (module, program): (Op, Op),
    (name, kind): (String, String),
    (reads, writes): (&[usize], &[usize]),
    ends: &[Value],
    table: &Table,
) -> Piece {
    let origins = origins(ir, program, table);
    number::name(ir, program, ends);
    let values = number::values(ir, program);
    let numbers: FxHashMap<Value, usize> = values.iter().copied().zip(0..).collect();
    let inner = values.iter().zip(&origins).enumerate();
    let mut inner: Vec<Inner> = inner
        .map(|(value, (&v, &original))| Inner {
            value,
            name: name_of(ir, v),
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
        needs: extents::missing(ir, program),
    }
}

/// Puts the parts into the map of the whole.
fn assemble(mut map: Map, original: String, pieces: Vec<Piece>) -> Split {
    let numbers: BTreeMap<String, i64> = map
        .extents
        .iter()
        .map(|e| (e.name.clone(), e.index))
        .collect();
    let mut files = vec![(ORIGINAL.to_owned(), original)];
    for mut piece in pieces {
        let needed = piece.needs.iter();
        piece.segment.extents = needed.filter_map(|n| numbers.get(n).copied()).collect();
        files.push((piece.segment.file.clone(), piece.text));
        map.segments.push(piece.segment);
    }
    map.relate();
    map.hash = map.checksum();
    Split { map, files }
}
