//! Names for printing: every value gets one that nothing else has where it is seen.
//!
//! A value keeps its name; where that is taken, `_1`, `_2`... follow it. Values without a name are numbered per
//! isolated region. A region sees the names around it; the results of an op are named after its regions, which thus do
//! not see them. A value that is used before its definition has its name reserved from the first use on, so that
//! nothing in between can take it. The parser therefore makes the same program of the text.
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
    /// `%r#1`: a further result of an op whose first result has the name.
    Element,
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
            Name::Element => 3,
        })
    }
}

impl From<PackedName> for Name {
    fn from(name: PackedName) -> Self {
        match name.0 & 3 {
            0 => Name::None,
            1 => Name::Number(name.0 >> 2),
            2 => Name::Text(name.0 >> 2),
            _ => Name::Element,
        }
    }
}

/// Names of values whose numbers lie near each other. Takes the room between the least and the greatest: what is printed was
/// mostly made together, and a part of a large program costs what the part holds.
#[derive(Default)]
struct Window {
    /// Number of the value that the first name belongs to.
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
            // As much again as there is, so that names that descend are not moved each time.
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
    /// Texts taken here, with what they were before.
    taken: Vec<(u32, u32)>,
    epoch: u32,
    number: u32,
}

/// The names of the values of a program, as far as they were given.
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
            waiting: FxHashSet::default(),
            epochs: 0,
            tasks: Vec::new(),
        }
    }
    /// Gives names to `root` and what stands in it, but for what stands in isolated ops.
    pub fn outside(&mut self, root: Op) {
        self.scopes.clear();
        self.enter_scope(None, true);
        self.walk(root, Task::Op(root));
    }
    /// Gives names to what stands in the isolated op `op`, but for what stands in isolated ops inside it.
    pub fn enter(&mut self, op: Op) {
        self.scopes.clear();
        self.enter_scope(None, true);
        self.walk(op, Task::Regions(op));
    }
    fn get(&self, value: Value) -> Name {
        self.names.get(value)
    }
    /// Writes `%x`, `%3` or `%r#1`.
    pub fn write(&self, out: &mut String, value: Value) {
        use std::fmt::Write;
        let element = match (self.get(value), self.ir.value_def(value)) {
            (Name::Element, Def::Result(op, index)) => Some((self.ir.result(op, 0), index)),
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
            // A value that no one defined in what is printed.
            _ => {
                let _ = write!(out, "%_{}", first.index());
            }
        }
        if let Some((_, index)) = element {
            let _ = write!(out, "#{index}");
        }
    }
    /// The name of a value as text; one that is not part of any program goes by its hint.
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

/// A step of the walk that is yet to be done.
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
        // Numbers go on behind an inner region, so that none stands for two values nearby.
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
        let packed = is_packed(self.ir, op, self.anonymous);
        for (index, &value) in results.iter().enumerate() {
            if packed && index > 0 {
                self.defined(value);
                self.names.set(value, Name::Element);
            } else {
                self.define(value);
            }
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
            Def::Result(op, index) if is_packed(self.ir, op, self.anonymous) => {
                let first = self.ir.result(op, 0);
                if index > 0 {
                    self.names.set(value, Name::Element);
                }
                first
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
        match self.scopes.last_mut() {
            Some(scope) => {
                scope.number += 1;
                scope.number - 1
            }
            None => 0,
        }
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
    /// The text `id` if it is free here, else the first free one made of it.
    fn free(&mut self, id: u32) -> u32 {
        let epoch = self.epoch();
        if self.used[id as usize] != epoch {
            return id;
        }
        let mut suffix = self.suffixes.get(&(epoch, id)).copied().unwrap_or(0);
        loop {
            suffix += 1;
            let text = format!("{}_{suffix}", self.texts[id as usize]);
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
            // It goes by the name of those that have none.
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

/// True if the results of an op print as `%r:3`.
pub fn is_packed(ir: &Ir, op: Op, anonymous: bool) -> bool {
    let results = ir.results(op);
    let unnamed = |v: &Value| anonymous || ir.value_name_sym(*v).is_none();
    results.len() > 1 && results[1..].iter().all(unnamed)
}

/// True if the regions of an op see no value from outside.
pub fn is_isolated(ir: &Ir, op: Op) -> bool {
    ir.has(op, Traits::ISOLATED) || (ir.def(op).is_none() && ir.name(op) == "builtin.module")
}

/// A hint as it can be written: other characters become `_`, and a number is no hint.
fn clean(hint: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_$.-".contains(c);
    let mut text: String = hint
        .chars()
        .map(|c| if allowed(c) { c } else { '_' })
        .collect();
    if text.is_empty() || text.starts_with(|c: char| c.is_ascii_digit()) {
        text.insert(0, '_');
    }
    text
}

/// `bb3`: what a block without a name is called.
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
