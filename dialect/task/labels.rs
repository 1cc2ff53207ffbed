//! Labels: a frontend's patterns as attributes of their ops, so that no pass stops at the patterns' boundaries.
//!
//! A frontend says with `task.pattern` which ops belong together (a layer norm, a softmax, a linear). Such a boundary
//! would keep simplification and segmentation from looking inside. So the ops of each pattern move to where it stood,
//! and remember as an attribute, `task.label`, which pattern that was; the program lists the patterns in `task.labels`,
//! each as `NAME/OPS/PARENT`: its name, how many ops it had, and the number of the pattern around it, or `-`.
//!
//! ```text
//!                                                      task.program @f(...) {task.labels = ["silu/2/-"]}
//! %y = task.pattern @silu {
//!   %s = fusion.sigmoid %x                             %s = fusion.sigmoid %x {task.label = 0 : i64}
//!   %y = fusion.mul %x, %s                       =>    %y = fusion.mul %x, %s {task.label = 0 : i64}
//!   task.yield %y
//! }
//! ```
//!
//! A label does not affect the computation: it is discardable, and labels do not change the compiled program. `segment`
//! evaluates the ops of one label as a group. `inline-tasks` restores the patterns whose ops all still exist, in the
//! form in which boundaries are drawn: the results are the values with users outside, in order, under the names of the
//! values inside. A pattern that lost an op to another pass no longer matches its name, and is not restored.
//!
//! Patterns nested more than 32 deep belong to the enclosing one. Never changes the results of a program. Linear; does
//! not recurse.

use fuser_ir::attr::{AttrId, AttrKind};
use fuser_ir::{Block, Ir, Op, Traits};
use rustc_hash::{FxHashMap, FxHashSet};

use super::outline::{dissolve, is_boundary, outline};
use crate::task;

/// The attribute of an op: the number of its innermost pattern.
pub const LABEL: &str = "task.label";
/// The attribute of a program: its patterns.
pub const LABELS: &str = "task.labels";

/// The deepest nesting of distinct patterns: an op is counted by each pattern that contains it.
const MAX_DEPTH: usize = 32;

/// A pattern that was dissolved.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Entry {
    name: String,
    /// The number of its ops, including those of patterns inside.
    ops: usize,
    /// The pattern around it, which comes before it.
    parent: Option<usize>,
}

impl Entry {
    fn text(&self) -> String {
        let parent = self.parent.map_or_else(|| "-".into(), |p| p.to_string());
        format!("{}/{}/{parent}", self.name, self.ops)
    }
    /// Parses the entry at `place`. Names may contain any characters, so the fixed fields come last.
    fn parse(text: &str, place: usize) -> Option<Self> {
        let (rest, parent) = text.rsplit_once('/')?;
        let (name, ops) = rest.rsplit_once('/')?;
        Some(Self {
            name: name.into(),
            ops: ops.parse().ok()?,
            parent: parent.parse().ok().filter(|&p: &usize| p < place),
        })
    }
}

/// The patterns of `program`; a malformed attribute written by hand reads as no patterns.
fn entries(ir: &Ir, program: Op) -> Vec<Entry> {
    let items = match ir.attr_of(program, LABELS) {
        Some(AttrKind::Array(items)) => items.iter().enumerate(),
        _ => return Vec::new(),
    };
    let entry = |(place, &item): (usize, &AttrId)| {
        let text = ir.attr_kind(item).as_string()?;
        Entry::parse(ir.str(text), place)
    };
    items.map(entry).collect::<Option<_>>().unwrap_or_default()
}

/// The ops that bear one label, or one inside of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Set {
    /// The name of the pattern.
    pub name: String,
    /// The set around it, which comes before it.
    pub parent: Option<usize>,
    /// In program order.
    pub ops: Vec<Op>,
}

/// The sets that the labels in the block of `program` name, including sets without ops: labels refer to sets by number.
pub fn sets(ir: &Ir, program: Op) -> Vec<Set> {
    let set = |entry: Entry| Set {
        name: entry.name,
        parent: entry.parent,
        ops: Vec::new(),
    };
    let mut sets: Vec<Set> = entries(ir, program).into_iter().map(set).collect();
    let Some(body) = ir.body(program, 0).filter(|_| !sets.is_empty()) else {
        return Vec::new();
    };
    for op in ir.block_ops(body) {
        let mut label = label_of(ir, op, sets.len());
        while let Some(number) = label {
            sets[number].ops.push(op);
            label = sets[number].parent;
        }
    }
    sets
}

/// The label of an op, of so many that there are.
fn label_of(ir: &Ir, op: Op, count: usize) -> Option<usize> {
    let label = usize::try_from(ir.int_of(op, LABEL)?).ok()?;
    (label < count).then_some(label)
}

/// Gives the label of `last` to the ops after `first` (or from the first op of the block) up to `last`, which replace
/// it.
pub fn inherit(ir: &mut Ir, first: Option<Op>, last: Op) {
    let Some(label) = ir.get_attr(last, LABEL) else {
        return;
    };
    let mut at = ir.prev_op(last);
    while let Some(op) = at.filter(|&op| Some(op) != first) {
        ir.set_attr(op, LABEL, label);
        at = ir.prev_op(op);
    }
}

/// Dissolves the patterns in `program` and labels their ops; returns the number of patterns.
pub fn note(ir: &mut Ir, program: Op) -> u64 {
    let all = ir.walk(program);
    let patterns = all.iter().copied();
    let patterns: Vec<Op> = patterns.filter(|&op| ir.is(op, &task::PATTERN)).collect();
    note_each(ir, program, &all, &patterns)
}

/// Like [`note`], for the patterns whose names satisfy `is_known` and that have no other boundary around them.
pub fn note_known(ir: &mut Ir, program: Op, is_known: impl Fn(&str) -> bool) -> u64 {
    let all = ir.walk(program);
    let mut open = FxHashSet::from_iter([program]);
    let mut patterns = Vec::new();
    for &op in all.iter().filter(|&&op| ir.is(op, &task::PATTERN)) {
        let is_open = ir
            .parent_op(op)
            .is_some_and(|around| open.contains(&around));
        if is_open && ir.symbol_name(op).is_some_and(&is_known) {
            open.insert(op);
            patterns.push(op);
        }
    }
    note_each(ir, program, &all, &patterns)
}

/// Dissolves `patterns`, outer ones first, of `all` ops in `program`.
fn note_each(ir: &mut Ir, program: Op, all: &[Op], patterns: &[Op]) -> u64 {
    if patterns.is_empty() {
        return 0;
    }
    let mut entries = entries(ir, program);
    let before = entries.len();
    // The number and the depth of each; outer ones come first.
    let mut known: FxHashMap<Op, (usize, usize)> = FxHashMap::default();
    for &pattern in patterns {
        let around = around(ir, pattern).and_then(|p| known.get(&p).copied());
        let depth = around.map_or(0, |(_, depth)| depth + 1);
        match around.filter(|_| depth >= MAX_DEPTH) {
            Some((number, _)) => known.insert(pattern, (number, depth)),
            None => {
                entries.push(Entry {
                    name: ir.symbol_name(pattern).unwrap_or_default().to_owned(),
                    ops: 0,
                    parent: around.map(|(number, _)| number),
                });
                known.insert(pattern, (entries.len() - 1, depth))
            }
        };
    }
    for &op in all {
        let inside = ir.parent_op(op).and_then(|p| known.get(&p));
        let Some(&(number, _)) = inside.filter(|_| !is_boundary(ir, op)) else {
            continue;
        };
        if !ir.has(op, Traits::TERMINATOR) {
            entries[number].ops += 1;
            let label = ir.int_attr(i64::try_from(number).unwrap_or(i64::MAX));
            ir.set_attr(op, LABEL, label);
        }
    }
    for number in (before..entries.len()).rev() {
        if let Some(parent) = entries[number].parent {
            entries[parent].ops += entries[number].ops;
        }
    }
    // Inner patterns come first: values yielded by an outer one are then results of ops.
    for &pattern in patterns.iter().rev() {
        hand_names_in(ir, pattern);
        dissolve(ir, pattern);
    }
    write(ir, program, &entries);
    patterns.len() as u64
}

/// The pattern around `op`, if only boundaries are between them.
fn around(ir: &Ir, op: Op) -> Option<Op> {
    let mut at = ir.parent_op(op);
    while let Some(parent) = at.filter(|&p| is_boundary(ir, p) && !ir.is(p, &task::PATTERN)) {
        at = ir.parent_op(parent);
    }
    at.filter(|&p| ir.is(p, &task::PATTERN))
}

/// Gives the values that a pattern yields the names of its results, which the rest of the program uses.
fn hand_names_in(ir: &mut Ir, pattern: Op) {
    let end = ir.body(pattern, 0).and_then(|body| ir.terminator(body));
    let yielded: Vec<_> = end.map_or_else(Vec::new, |end| ir.operands(end).collect());
    let results = ir.results(pattern).to_vec();
    for (value, result) in yielded.into_iter().zip(results) {
        let inside = ir.def_op(value).and_then(|op| ir.parent_op(op)) == Some(pattern);
        let name = ir.value_name_sym(result);
        if inside && name.is_some() {
            ir.set_value_name(value, name);
        }
    }
}

fn write(ir: &mut Ir, program: Op, entries: &[Entry]) {
    let texts: Vec<String> = entries.iter().map(Entry::text).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let list = ir.string_array_attr(&texts);
    ir.set_attr(program, LABELS, list);
}

/// Draws the patterns of each program under `root` again, if it has no other boundaries; returns their number.
pub fn restore(ir: &mut Ir, root: Op) -> u64 {
    let mut drawn = 0;
    for program in labelled(ir, root) {
        if let Some(body) = ir.body(program, 0).filter(|&b| is_plain(ir, b)) {
            drawn += restore_in(ir, program, body);
            forget_in(ir, program);
        }
    }
    drawn
}

/// Removes all labels under `root`.
pub fn forget(ir: &mut Ir, root: Op) {
    for program in labelled(ir, root) {
        forget_in(ir, program);
    }
}

fn labelled(ir: &Ir, root: Op) -> Vec<Op> {
    let programs = ir.walk(root).into_iter();
    let labelled = |&op: &Op| ir.is(op, &task::PROGRAM) && ir.get_attr(op, LABELS).is_some();
    programs.filter(labelled).collect()
}

fn forget_in(ir: &mut Ir, program: Op) {
    for op in ir.walk(program) {
        ir.remove_attr(op, LABEL);
    }
    ir.remove_attr(program, LABELS);
}

/// True if the block has no boundary of a pass.
fn is_plain(ir: &Ir, body: Block) -> bool {
    let mut ops = ir.block_ops(body);
    ops.all(|op| !is_boundary(ir, op) || ir.is(op, &task::PATTERN))
}

fn restore_in(ir: &mut Ir, program: Op, body: Block) -> u64 {
    let entries = entries(ir, program);
    // The contents of each, with positions: first ops, then the patterns inside.
    let mut content: Vec<Vec<(usize, Op)>> = vec![Vec::new(); entries.len()];
    let mut found = vec![0usize; entries.len()];
    for (place, op) in ir.block_ops(body).enumerate() {
        if let Some(number) = label_of(ir, op, entries.len()) {
            content[number].push((place, op));
            found[number] += 1;
        }
    }
    let mut drawn = 0;
    for (number, entry) in entries.iter().enumerate().rev() {
        let mut inside = std::mem::take(&mut content[number]);
        inside.sort_unstable_by_key(|(place, _)| *place);
        if let Some(parent) = entry.parent {
            found[parent] += found[number];
        }
        if found[number] == entry.ops {
            let ops: Vec<Op> = inside.iter().map(|(_, op)| *op).collect();
            // A pattern that is no longer in order, or that depends on itself through other ops, is dropped.
            if let Ok(task) = outline(ir, &ops, &task::PATTERN, Some(&entry.name)) {
                let place = inside.last().map_or(0, |(place, _)| *place);
                inside = vec![(place, task)];
                drawn += 1;
            }
        }
        if let Some(parent) = entry.parent {
            content[parent].extend(inside);
        }
    }
    drawn
}
