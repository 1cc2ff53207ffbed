//! Results that overwrite arguments, in the parts of a program.
//!
//! A result of a part overwrites an input of the part if the original says so of the two, the part reads the argument,
//! and nothing needs the argument afterwards: no later part reads it, and it is no result itself. If one of these fails
//! the part gives a tensor of its own, as it would without an alias. Never adds an input to a part.

use fuser_dialects::task::interface::{self, Task};
use fuser_dialects::task::updates;
use fuser_ir::{AttrKind, Ir, Op, Value};
use rustc_hash::FxHashMap;

use super::number;

/// The arguments of the program that results of segments overwrite.
pub struct Updates {
    /// The result of the program, the argument.
    pairs: Vec<(Value, Value)>,
    /// The last segment that reads an argument.
    last: FxHashMap<Value, Op>,
    returned: Vec<Value>,
}

impl Updates {
    pub fn of(ir: &Ir, program: Op, segments: &[Op]) -> Self {
        let returned = number::returned(ir, program);
        let args = ir.body(program, 0).map_or(&[][..], |b| ir.args(b));
        let pair = |(index, &value): (usize, &Value)| {
            let argument = updates::argument(ir, program, index)?;
            Some((value, *args.get(argument)?))
        };
        let pairs: Vec<(Value, Value)> = returned.iter().enumerate().filter_map(pair).collect();
        let mut last = FxHashMap::default();
        for &segment in segments.iter().filter(|_| !pairs.is_empty()) {
            let inputs = interface::inputs(ir, Task::Op(segment));
            last.extend(inputs.into_iter().map(|value| (value, segment)));
        }
        Self {
            pairs,
            last,
            returned,
        }
    }
    /// The input of a segment's program that result `value` overwrites, if no later segment uses that input.
    pub fn alias(&self, segment: Op, value: Value, inputs: &[Value]) -> Option<usize> {
        let (_, argument) = self.pairs.iter().find(|(result, _)| *result == value)?;
        let needed = self.returned.contains(argument) || self.last.get(argument) != Some(&segment);
        let position = inputs.iter().position(|input| input == argument);
        position.filter(|_| !needed)
    }
}

/// Marks the results of a program that overwrite one of its arguments.
pub fn set_aliases(ir: &mut Ir, program: Op, aliases: &[Option<usize>]) {
    if aliases.iter().all(Option::is_none) {
        return;
    }
    let key = ir.sym("alias");
    let mut entries = Vec::with_capacity(aliases.len());
    for alias in aliases {
        let entry = alias.map(|argument| (key, ir.int_attr(argument as i64)));
        entries.push(ir.attr(AttrKind::Dict(entry.into_iter().collect())));
    }
    let entries = ir.attr(AttrKind::Array(entries));
    ir.set_attr(program, "res_attrs", entries);
}
