//! Names for printing: every value gets a name that is unique where the value is visible.
//!
//! A value keeps its name; where that is taken, `_1`, `_2`... follow it. A number is a name as well; where it is taken,
//! `%_0_1` follows `%0`. Values without a name get numbers that no name of their isolated op has or had. A region sees
//! the names around it; the results of an op are named after its regions, which thus do not see them. A value that is
//! used before its definition has its name reserved from the first use on, so that nothing in between can take it. The
//! parser therefore makes the same program of the text.
//!
//! Values in an isolated op are named when the printer comes to it ([`Names::enter`]): nothing outside depends on it,
//! and it is still in the cache when its text is written.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::def::Traits;
use crate::entity::Entity;
use crate::intern::Sym;
use crate::ir::{Block, Def, Ir, Op, Region, Value};

/// The name of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Name {
    /// Not seen.
    None,
    /// `%3`
    Number(u32),
    /// A text of the table.
    Text(u32),
    /// `%r#1`: a further result of an op; the result with this number carries the name.
    Element(u32),
}

/// A [`Name`] in one word: the kind in the lowest bits, its number in the others. There are fewer values than that.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct PackedName(u32);

impl From<Name> for PackedName {
    fn from(name: Name) -> Self {
        Self(match name {
            Name::None => 0,
            Name::Number(number) => number << 2 | 1,
            Name::Text(id) => id << 2 | 2,
            Name::Element(first) => first << 2 | 3,
        })
    }
}

impl From<PackedName> for Name {
    fn from(name: PackedName) -> Self {
        match name.0 & 3 {
            0 => Name::None,
            1 => Name::Number(name.0 >> 2),
            2 => Name::Text(name.0 >> 2),
            _ => Name::Element(name.0 >> 2),
        }
    }
}

/// Names of values whose numbers are close together. Takes memory for the range from the least number to the greatest.
/// Printed values were mostly created together, so a part of a large program costs as much as its own values.
#[derive(Default)]
struct Window {
    /// Number of the value of the first name.
    first: usize,
    names: Vec<PackedName>,
}

impl Window {
    fn get(&self, value: Value) -> Name {
        let at = value.index().checked_sub(self.first);
        let name = at.and_then(|at| self.names.get(at));
        name.copied().unwrap_or_default().into()
    }
    fn set(&mut self, value: Value, name: Name) {
        let index = value.index();
        if self.names.is_empty() {
            self.first = index;
        }
        if index < self.first {
            // Doubles the window, so that descending numbers do not move the names each time.
            let more = (self.first - index).max(self.names.len()).min(self.first);
            self.names
                .splice(0..0, std::iter::repeat_n(PackedName::default(), more));
            self.first -= more;
        }
        let at = index - self.first;
        if at >= self.names.len() {
            self.names.resize(at + 1, PackedName::default());
        }
        self.names[at] = name.into();
    }
}

struct Scope {
    /// Texts taken here, with their previous entries.
    taken: Vec<(u32, u32)>,
    epoch: u32,
    number: u32,
}

/// The names of the values of a program given so far.
pub struct Names<'a> {
    ir: &'a Ir,
    anonymous: bool,
    names: Window,
    texts: Vec<Box<str>>,
    blocks: FxHashMap<Block, Box<str>>,
    early: FxHashSet<Op>,
    ids: FxHashMap<Box<str>, u32>,
    hints: FxHashMap<Sym, u32>,
    /// The epoch in which each text is taken; 0 for none.
    used: Vec<u32>,
    suffixes: FxHashMap<(u32, u32), u32>,
    scopes: Vec<Scope>,
    open: FxHashMap<Region, usize>,
    /// The isolated op, or the root, whose values get names.
    base: Option<Op>,
    /// The number of its first value without a name, once there is one.
    first_number: Option<u32>,
    /// The number after all given ones.
    next_free: Option<u32>,
    /// Values that were used and are not defined yet.
    waiting: FxHashSet<Value>,
    epochs: u32,
    /// A list that is not in use: it keeps its memory.
    tasks: Vec<Task>,
}

impl<'a> Names<'a> {
    /// No names.
    pub fn new(ir: &'a Ir, anonymous: bool) -> Self {
        Self {
            ir,
            anonymous,
            names: Window::default(),
            texts: Vec::new(),
            blocks: FxHashMap::default(),
            early: FxHashSet::default(),
            ids: FxHashMap::default(),
            hints: FxHashMap::default(),
            used: Vec::new(),
            suffixes: FxHashMap::default(),
            scopes: Vec::new(),
            open: FxHashMap::default(),
            base: None,
            first_number: None,
            next_free: None,
            waiting: FxHashSet::default(),
            epochs: 0,
            tasks: Vec::new(),
        }
    }
    /// Names the values of `root` and of ops in it, but not those inside isolated ops.
    pub fn outside(&mut self, root: Op) {
        self.begin(root, Task::Op(root));
    }
    /// Names the values inside the isolated op `op`, but not those in nested isolated ops.
    pub fn enter(&mut self, op: Op) {
        self.begin(op, Task::Regions(op));
    }
    fn begin(&mut self, base: Op, first: Task) {
        (self.base, self.first_number, self.next_free) = (Some(base), None, None);
        self.scopes.clear();
        self.enter_scope(None, true);
        self.walk(base, first);
    }
    fn get(&self, value: Value) -> Name {
        self.names.get(value)
    }
    /// The values that have another name here than in the program.
    fn changes(&self) -> Vec<(Value, String)> {
        let named = self.names.names.iter().zip(self.names.first..);
        let changed = named.filter_map(|(&name, index)| {
            let value = Value::from_index(index);
            let name = match (name.into(), self.ir.value_def(value)) {
                (Name::Element(first), Def::Result(op, index)) => {
                    let pack = self.plain(self.get(self.ir.result(op, first as usize)))?;
                    format!("{pack}#{}", index - first)
                }
                (name, _) => self.plain(name)?,
            };
            (self.ir.value_name(value) != Some(&name)).then_some((value, name))
        });
        changed.collect()
    }
    /// A name that is not an element of a pack, without `%`.
    fn plain(&self, name: Name) -> Option<String> {
        match name {
            Name::Number(number) => Some(number.to_string()),
            Name::Text(id) => Some(self.texts[id as usize].to_string()),
            Name::None | Name::Element(_) => None,
        }
    }
    /// Writes `%x`, `%3` or `%r#1`.
    pub fn write(&self, out: &mut String, value: Value) {
        use std::fmt::Write;
        let element = match (self.get(value), self.ir.value_def(value)) {
            (Name::Element(first), Def::Result(op, index)) => {
                Some((self.ir.result(op, first as usize), index - first))
            }
            _ => None,
        };
        let first = element.map_or(value, |(first, _)| first);
        match self.get(first) {
            Name::Number(number) => {
                out.push('%');
                super::text::number(out, number);
            }
            Name::Text(id) => {
                out.push('%');
                out.push_str(&self.texts[id as usize]);
            }
            // A value that is not defined in the printed part.
            _ => {
                let _ = write!(out, "%_{}", first.index());
            }
        }
        if let Some((_, index)) = element {
            let _ = write!(out, "#{index}");
        }
    }
    /// The name of a value as text. A value outside any program is printed with its hint.
    pub fn text(&self, value: Value) -> String {
        let mut text = String::new();
        match (self.get(value), self.ir.value_name(value)) {
            (Name::None, Some(hint)) => text = format!("%{}", clean(hint)),
            _ => self.write(&mut text, value),
        }
        text
    }
    /// True if an operand of `op` is defined further down in the text.
    pub fn is_early(&self, op: Op) -> bool {
        !self.early.is_empty() && self.early.contains(&op)
    }
    /// The name of a block, without `^`.
    pub fn block(&self, block: Block) -> &str {
        self.blocks.get(&block).map_or("bb0", |name| name)
    }
}

/// A pending step of the walk.
enum Task {
    Regions(Op),
    Results(Op),
    Block(Block),
    Op(Op),
    Enter(Region),
    Leave(Region),
}

impl Names<'_> {
    fn walk(&mut self, root: Op, first: Task) {
        let mut tasks = std::mem::take(&mut self.tasks);
        tasks.push(first);
        while let Some(task) = tasks.pop() {
            match task {
                Task::Op(op) => {
                    if let Some(next) = self.ir.next_op(op).filter(|_| op != root) {
                        tasks.push(Task::Op(next));
                    }
                    self.op(op, &mut tasks);
                }
                Task::Block(block) => {
                    if let Some(next) = self.ir.next_block(block) {
                        tasks.push(Task::Block(next));
                    }
                    for index in 0..self.ir.args(block).len() {
                        self.define(self.ir.args(block)[index]);
                    }
                    tasks.extend(self.ir.first_op(block).map(Task::Op));
                }
                Task::Regions(op) => self.regions(op, &mut tasks),
                Task::Results(op) => self.results(op),
                Task::Enter(region) => self.enter_region(region),
                Task::Leave(region) => self.leave(region),
            }
        }
        self.tasks = tasks;
    }
    fn op(&mut self, op: Op, tasks: &mut Vec<Task>) {
        for operand in self.ir.operands(op) {
            if self.get(operand) == Name::None {
                self.reserve(operand);
                self.waiting.insert(operand);
            }
            if !self.waiting.is_empty() && self.waiting.contains(&operand) {
                self.early.insert(op);
            }
        }
        if self.ir.op_regions(op).is_empty() || is_isolated(self.ir, op) {
            return self.results(op);
        }
        tasks.push(Task::Results(op));
        self.regions(op, tasks);
    }
    fn regions(&mut self, op: Op, tasks: &mut Vec<Task>) {
        for index in (0..self.ir.op_regions(op).len()).rev() {
            self.regions_task(op, index, tasks);
        }
    }
    fn regions_task(&self, op: Op, index: usize, tasks: &mut Vec<Task>) {
        let region = self.ir.op_regions(op)[index];
        tasks.push(Task::Leave(region));
        if let Some(entry) = self.ir.entry_block(region) {
            tasks.push(Task::Block(entry));
        }
        tasks.push(Task::Enter(region));
    }
    fn epoch(&self) -> u32 {
        self.scopes.last().map_or(0, |s| s.epoch)
    }
    /// Opens a scope.
    fn enter_scope(&mut self, region: Option<Region>, isolated: bool) {
        let outer = self.scopes.last().map(|s| (s.epoch, s.number));
        self.epochs += u32::from(isolated);
        let (epoch, number) = match outer {
            Some(outer) if !isolated => outer,
            _ => (self.epochs, 0),
        };
        if let Some(region) = region {
            self.open.insert(region, self.scopes.len());
        }
        self.scopes.push(Scope {
            taken: Vec::new(),
            epoch,
            number,
        });
    }
    fn leave(&mut self, region: Region) {
        if self.open.remove(&region).is_none() {
            return;
        }
        let Some(scope) = self.scopes.pop() else {
            return;
        };
        for (text, before) in scope.taken.into_iter().rev() {
            self.used[text as usize] = before;
        }
        // Numbers continue after an inner region, so that two values nearby never share one.
        if let Some(outer) = self.scopes.last_mut().filter(|o| o.epoch == scope.epoch) {
            outer.number = scope.number;
        }
    }
    fn enter_region(&mut self, region: Region) {
        let op = self.ir.region_parent(region);
        let isolated = op.is_some_and(|op| is_isolated(self.ir, op));
        self.enter_scope(Some(region), isolated);
        self.name_blocks(region);
    }

    fn results(&mut self, op: Op) {
        let results = self.ir.results(op);
        let mut first = 0;
        while first < results.len() {
            self.define(results[first]);
            let count = pack_size(self.ir, op, first, self.anonymous);
            for &value in &results[first + 1..first + count] {
                self.defined(value);
            }
            self.elements(op, first, count);
            first += count;
        }
    }
    fn elements(&mut self, op: Op, first: usize, count: usize) {
        for &value in &self.ir.results(op)[first + 1..first + count] {
            self.names.set(value, Name::Element(first as u32));
        }
    }
    fn defined(&mut self, value: Value) {
        if !self.waiting.is_empty() {
            self.waiting.remove(&value);
        }
    }
    fn define(&mut self, value: Value) {
        self.defined(value);
        if self.get(value) == Name::None {
            let depth = self.scopes.len() - 1;
            self.give(value, depth);
        }
    }
    /// Names a value before its definition, in the scope of the definition.
    fn reserve(&mut self, value: Value) {
        let first = match self.ir.value_def(value) {
            Def::Result(op, index) => {
                let first = pack_of(self.ir, op, index as usize, self.anonymous);
                let count = pack_size(self.ir, op, first, self.anonymous);
                self.elements(op, first, count);
                self.ir.result(op, first)
            }
            _ => value,
        };
        if self.get(first) == Name::None {
            let region = self
                .ir
                .def_block(first)
                .and_then(|b| self.ir.block_region(b));
            let depth = region.and_then(|r| self.open.get(&r).copied());
            self.give(first, depth.unwrap_or(0));
        }
    }
    /// Gives `value` a name that is free here, and takes it in the scope at `depth`.
    fn give(&mut self, value: Value, depth: usize) {
        let hint = self.ir.value_name_sym(value).filter(|_| !self.anonymous);
        let name = match hint {
            None => Name::Number(self.next_number()),
            Some(hint) => {
                let id = self.hint(hint);
                let id = self.free(id);
                let epoch = self.epoch();
                let before = std::mem::replace(&mut self.used[id as usize], epoch);
                self.scopes[depth].taken.push((id, before));
                Name::Text(id)
            }
        };
        self.names.set(value, name);
    }
    fn next_number(&mut self) -> u32 {
        let first = match (self.first_number, self.base) {
            (Some(first), _) => first,
            (None, Some(base)) if !self.anonymous => first_number(self.ir, base),
            _ => 0,
        };
        self.first_number = Some(first);
        let Some(scope) = self.scopes.last_mut() else {
            return first;
        };
        let number = first + scope.number;
        scope.number += 1;
        self.next_free = self.next_free.max(Some(number + 1));
        number
    }
    fn id(&mut self, text: &str) -> u32 {
        if let Some(&id) = self.ids.get(text) {
            return id;
        }
        let id = self.texts.len() as u32;
        self.ids.insert(text.into(), id);
        self.texts.push(text.into());
        self.used.push(0);
        id
    }
    fn hint(&mut self, hint: Sym) -> u32 {
        if let Some(&id) = self.hints.get(&hint) {
            return id;
        }
        let ir = self.ir;
        let id = self.id(&clean(ir.str(hint)));
        self.hints.insert(hint, id);
        id
    }
    /// The text `id` if it is free here, else the first free name derived from it.
    fn free(&mut self, id: u32) -> u32 {
        let epoch = self.epoch();
        if self.used[id as usize] != epoch {
            return id;
        }
        let mut suffix = self.suffixes.get(&(epoch, id)).copied().unwrap_or(0);
        loop {
            suffix += 1;
            let text = distinct(&self.texts[id as usize], suffix);
            let candidate = self.id(&text);
            if self.used[candidate as usize] != epoch {
                self.suffixes.insert((epoch, id), suffix);
                return candidate;
            }
        }
    }
    fn name_blocks(&mut self, region: Region) {
        let ir = self.ir;
        let mut blocks = ir.region_blocks(region);
        let first = blocks.next();
        if blocks.next().is_none() && first.is_none_or(|b| ir.block_name(b).is_none()) {
            // An only block without a name keeps the default name, `bb0`.
            return;
        }
        let mut taken = FxHashSet::default();
        for (index, block) in self.ir.region_blocks(region).enumerate() {
            let hint = self
                .ir
                .block_name(block)
                .filter(|n| !is_numbered(n))
                .map(clean);
            let base = hint.unwrap_or_else(|| format!("bb{index}"));
            let mut name = base.clone();
            let mut suffix = 0;
            while !taken.insert(name.clone()) {
                suffix += 1;
                name = format!("{base}_{suffix}");
            }
            self.blocks.insert(block, name.into());
        }
    }
}

/// The number of results of `op` from `first` on that print under one name, as `%r:3`: results named as elements of the
/// first, `r#1`. If only the op's first result has a name, it stands for all.
pub fn pack_size(ir: &Ir, op: Op, first: usize, anonymous: bool) -> usize {
    let results = &ir.results(op)[first..];
    if first == 0 && is_one_pack(ir, op, anonymous) {
        return results.len();
    }
    let Some(pack) = ir.value_name(results[0]) else {
        return 1;
    };
    let others = results[1..].iter();
    1 + others
        .take_while(|&&v| element(ir, v) == Some(pack))
        .count()
}

/// The first of the results that print under one name with result `index` of `op`.
fn pack_of(ir: &Ir, op: Op, index: usize, anonymous: bool) -> usize {
    let results = ir.results(op);
    let Some(pack) = element(ir, results[index]).filter(|_| !anonymous) else {
        let is_named = !anonymous && ir.value_name_sym(results[index]).is_some();
        return match !is_named && is_one_pack(ir, op, anonymous) {
            true => 0,
            false => index,
        };
    };
    let mut before = (0..index).rev();
    let first = before.find(|&at| element(ir, results[at]) != Some(pack));
    let is_pack = |&first: &usize| ir.value_name(results[first]) == Some(pack);
    first.filter(is_pack).unwrap_or(index)
}

/// True if one name stands for all results of `op`, because only the first has one.
fn is_one_pack(ir: &Ir, op: Op, anonymous: bool) -> bool {
    let unnamed = |v: &Value| anonymous || ir.value_name_sym(*v).is_none();
    let others = ir.results(op).get(1..).unwrap_or_default();
    others.iter().all(unnamed)
}

/// The pack of a value that is called `r#1`.
fn element(ir: &Ir, value: Value) -> Option<&str> {
    let (pack, _) = ir.value_name(value)?.split_once('#')?;
    Some(pack)
}

/// The number of the first value without a name in `base`: greater than all numbers that are names there, or were.
fn first_number(ir: &Ir, base: Op) -> u32 {
    let mut first = ir.first_free_number(base).unwrap_or(0);
    let mut note = |values: &[Value]| {
        let names = values.iter().filter_map(|&v| ir.value_name(v));
        let greatest = names.filter_map(number_of).max();
        first = first.max(greatest.map_or(0, |number| number + 1));
    };
    let mut ops = vec![base];
    while let Some(op) = ops.pop() {
        note(ir.results(op));
        if op != base && is_isolated(ir, op) {
            continue;
        }
        for &region in ir.op_regions(op) {
            for block in ir.region_blocks(region) {
                note(ir.args(block));
                ops.extend(ir.block_ops(block));
            }
        }
    }
    first
}

/// Gives each unnamed value in `root` the number under which it prints, so that it keeps that number when others are
/// removed; a number is never used twice. If regions do not nest, values that share a name also get the suffixes with
/// which they print. Otherwise values of one name are mostly copies, to which reports and explanations refer by that
/// name.
pub fn name_values(ir: &mut Ir, root: Op) {
    let ops: Vec<Op> = ir
        .walk(root)
        .into_iter()
        .filter(|&op| is_isolated(ir, op))
        .collect();
    let mut names = Names::new(ir, false);
    let mut numbers = Vec::new();
    for op in ops {
        names.enter(op);
        let first = || match ir.first_free_number(op) {
            None => Some(first_number(ir, op)),
            Some(_) => None,
        };
        numbers.extend(names.next_free.or_else(first).map(|next| (op, next)));
    }
    let mut changes = names.changes();
    let mut flat = FxHashMap::default();
    changes.retain(|(value, _)| {
        let around = isolated_around(ir, *value);
        let is_flat = |op: Op| *flat.entry(op).or_insert_with(|| is_flat(ir, op));
        ir.value_name_sym(*value).is_none() || around.is_none_or(is_flat)
    });
    for (value, name) in changes {
        let name = ir.sym(&name);
        ir.set_value_name(value, Some(name));
    }
    for (op, next) in numbers {
        ir.set_first_free_number(op, next);
    }
}

/// The isolated op in which a value is defined.
fn isolated_around(ir: &Ir, value: Value) -> Option<Op> {
    let first = ir.block_parent_op(ir.def_block(value)?);
    std::iter::successors(first, |&op| ir.parent_op(op)).find(|&op| is_isolated(ir, op))
}

/// True if no op in an isolated one has regions that see values from outside.
fn is_flat(ir: &Ir, op: Op) -> bool {
    let blocks = ir
        .op_regions(op)
        .iter()
        .flat_map(|&region| ir.region_blocks(region));
    let mut ops = blocks.flat_map(|block| ir.block_ops(block));
    ops.all(|op| ir.op_regions(op).is_empty() || is_isolated(ir, op))
}

/// The number that is the name, or the name of its pack. Numbers above [`GREATEST_NUMBER`] count as text.
fn number_of(name: &str) -> Option<u32> {
    let name = name.split_once('#').map_or(name, |(pack, _)| pack);
    let number = name.parse().ok().filter(|n| *n <= GREATEST_NUMBER);
    number.filter(|_| name.as_bytes()[0].is_ascii_digit())
}

/// The greatest number in a name that numbers of unnamed values follow.
const GREATEST_NUMBER: u32 = 1 << 28;

/// True if the regions of an op see no value from outside.
pub fn is_isolated(ir: &Ir, op: Op) -> bool {
    ir.has(op, Traits::ISOLATED) || (ir.def(op).is_none() && ir.name(op) == "builtin.module")
}

/// A valid name for a hint: a number is unchanged; otherwise invalid characters become `_`, and `_` precedes a leading
/// digit.
pub fn clean(hint: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_$.-".contains(c);
    let mut text: String = hint
        .chars()
        .map(|c| if allowed(c) { c } else { '_' })
        .collect();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if text.is_empty() || digits > 0 && digits < text.len() {
        text.insert(0, '_');
    }
    text
}

/// The name `base` with a suffix, to distinguish it from other values of that name: `x_1`, `_0_1`.
pub fn distinct(base: &str, suffix: u32) -> String {
    clean(&format!("{base}_{suffix}"))
}

/// `bb3`: the form of names of unnamed blocks.
fn is_numbered(name: &str) -> bool {
    let digits = name.strip_prefix("bb").unwrap_or(name);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ir, parse::ParseOptions, parse::parse};

    #[test]
    fn a_window_holds_names_in_any_order() {
        let value = Value::from_index;
        let mut window = Window::default();
        for index in [100, 50, 200, 49, 0] {
            window.set(value(index), Name::Number(index as u32));
        }
        for index in 0..300 {
            let set = [100, 50, 200, 49, 0].contains(&index);
            let name = if set {
                Name::Number(index as u32)
            } else {
                Name::None
            };
            assert_eq!(window.get(value(index)), name);
        }
        assert!(window.names.len() <= 201);
    }
    #[test]
    fn a_part_of_a_program_takes_room_for_its_own_values() {
        let line = "%a = \"a.b\"() : () -> f32\n\"a.c\"(%a) : (f32) -> ()\n";
        let part = format!("\"a.d\"() ({{\n{}}}) : () -> ()\n", line);
        let mut ir = Ir::new(Default::default());
        let options = ParseOptions {
            allow_unregistered: true,
            ..ParseOptions::default()
        };
        let module = parse(&mut ir, 0, &part.repeat(500), &options)
            .module
            .unwrap();
        let parts = ir.children(module);
        let room = |op: &Op| {
            let mut names = Names::new(&ir, false);
            names.outside(*op);
            names.names.names.len()
        };
        assert_eq!(parts.iter().map(room).sum::<usize>(), 500);
    }
}
