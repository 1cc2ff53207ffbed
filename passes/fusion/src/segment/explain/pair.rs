//! The explanation of two values in different segments: the cost of forcing them into one, or the rule that forbids it.

use std::collections::BTreeSet;
use std::fmt::Write;

use fuser_analysis::axes::value_text;
use fuser_ir::{Diagnostics, Ir, Op, Value};
use fuser_pass::PassContext;

use super::super::named::unknown;
use super::super::pass::UNKNOWN_VALUE;
use super::{Drawn, Record, text};

/// The segments in which a value is computed.
enum Home {
    /// None: the value is an input.
    Input,
    /// Each segment that uses it: it is created from nothing.
    Free,
    /// The segments that compute it; the first writes it for others.
    Segments(Vec<usize>),
}

/// The answer; `None` if the values belong to another program of the module.
pub(super) fn answer(
    ctx: &PassContext<'_>,
    drawn: &mut Drawn,
    names: &[String],
    records: &[Record],
) -> Result<Option<String>, Diagnostics> {
    let mut errors = Diagnostics::default();
    let [a, b] = names else {
        let message = format!("'explain' takes two values, not {}", names.len());
        errors.push(ctx.error_at(ctx.op, &UNKNOWN_VALUE, message));
        return Err(errors);
    };
    let (found_a, found_b) = (drawn.find(a), drawn.find(b));
    if (found_a.is_empty() || found_b.is_empty()) && elsewhere(ctx, a, b) {
        return Ok(None);
    }
    for (name, found) in [(a, &found_a), (b, &found_b)] {
        if found.is_empty() {
            let names = drawn.names();
            let error = unknown(ctx.place(ctx.op), name, &names);
            errors.push(error.with_op(ctx.ir.name(ctx.op)));
        }
    }
    match errors.has_errors() {
        true => Err(errors),
        false => Ok(Some(drawn.pair((a, &found_a), (b, &found_b), records))),
    }
}

/// True if another program of the module has both values.
fn elsewhere(ctx: &PassContext<'_>, a: &str, b: &str) -> bool {
    let ir: &Ir = ctx.ir;
    let others = ir.parent_op(ctx.op).map_or(Vec::new(), |m| ir.children(m));
    let has = |program: Op, name: &str| {
        let own =
            |v: &Value| value_text(ir, *v).trim_start_matches('%') == name.trim_start_matches('%');
        let args = ir.body(program, 0).map_or(&[][..], |block| ir.args(block));
        let ops = ir.walk(program);
        args.iter().any(own) || ops.iter().any(|&op| ir.results(op).iter().any(own))
    };
    let mut others = others.into_iter().filter(|&op| op != ctx.op);
    others.any(|program| has(program, a) && has(program, b))
}

impl Drawn {
    /// All values with this name: several segments may compute one each.
    fn find(&self, name: &str) -> Vec<Value> {
        let name = name.trim_start_matches('%');
        let all = self.values();
        all.into_iter()
            .filter(|&v| value_text(&self.ir, v).trim_start_matches('%') == name)
            .collect()
    }
    fn names(&self) -> Vec<String> {
        let all = self.values().into_iter();
        all.map(|v| value_text(&self.ir, v).trim_start_matches('%').to_owned())
            .collect()
    }
    fn values(&self) -> Vec<Value> {
        let args = self
            .ir
            .body(self.program, 0)
            .map_or(&[][..], |b| self.ir.args(b));
        let made = self.graph.ops.iter().flat_map(|&op| self.ir.results(op));
        args.iter().chain(made).copied().collect()
    }
    fn home(&self, values: &[Value]) -> Home {
        let positions = values.iter().map(|&v| {
            let op = self.ir.def_op(v)?;
            self.graph.position(op)
        });
        let positions: Vec<Option<u32>> = positions.collect();
        if positions.iter().all(Option::is_none) {
            return Home::Input;
        }
        let positions = positions.into_iter().flatten();
        if positions.clone().all(|p| self.graph.free[p as usize]) {
            return Home::Free;
        }
        let homes: BTreeSet<usize> = positions.filter_map(|p| self.home[p as usize]).collect();
        Home::Segments(homes.into_iter().collect())
    }

    fn pair(
        &mut self,
        (a, found_a): (&str, &[Value]),
        (b, found_b): (&str, &[Value]),
        records: &[Record],
    ) -> String {
        let (home_a, home_b) = (self.home(found_a), self.home(found_b));
        let mut text = self.place(a, found_a, &home_a);
        if a != b {
            text += &self.place(b, found_b, &home_b);
        }
        let (Home::Segments(ga), Home::Segments(gb)) = (&home_a, &home_b) else {
            text += "nothing separates them: such a value is there wherever it is used\n";
            return text;
        };
        if a == b {
            text += &self.about(ga);
            return text;
        }
        if let Some(&shared) = ga.iter().find(|g| gb.contains(g)) {
            let name = &self.groups[shared].name;
            let _ = writeln!(text, "both are in one segment, @{name}");
            text += &text::segment(&self.segment(shared));
            return text;
        }
        let (Some(&first), Some(&second)) = (ga.first(), gb.first()) else {
            text += "one of them is in no segment\n";
            return text;
        };
        let (from, to) = (first.min(second), first.max(second));
        for group in [from, to] {
            text += &text::segment(&self.segment(group));
        }
        text += &self.between_text(from, to);
        for line in text::why(&self.why(from, to)) {
            let _ = writeln!(text, "{line}");
        }
        for record in self.concerning(from, to, records) {
            let _ = writeln!(text, "decided: {record}");
        }
        text
    }
    /// The segments of a value, with the cuts to and from them.
    fn about(&mut self, groups: &[usize]) -> String {
        let mut text = String::new();
        for &group in groups {
            text += &text::segment(&self.segment(group));
        }
        for (from, to) in self.pairs() {
            if groups.contains(&from) || groups.contains(&to) {
                text += &text::cut(&self.cut(from, to));
            }
        }
        text
    }
    /// `%a is in @s0, and computed again in @s1`
    fn place(&self, name: &str, values: &[Value], home: &Home) -> String {
        let name = match name.starts_with('%') {
            true => name.to_owned(),
            false => format!("%{name}"),
        };
        let list = |groups: &[usize]| {
            let names: Vec<String> = groups
                .iter()
                .map(|&g| format!("@{}", self.groups[g].name))
                .collect();
            names.join(", ")
        };
        match home {
            Home::Input => {
                let users = values.iter().filter_map(|&v| self.graph.edge_of(v));
                let users = users.flat_map(|e| e.users.iter());
                let users: BTreeSet<usize> = users.filter_map(|&r| self.home[r as usize]).collect();
                let users: Vec<usize> = users.into_iter().collect();
                match users.is_empty() {
                    true => format!("{name} is an input that no segment reads\n"),
                    false => format!("{name} is an input, read by {}\n", list(&users)),
                }
            }
            Home::Free => format!("{name} is made from nothing, in each segment that uses it\n"),
            Home::Segments(groups) => match groups.as_slice() {
                [] => format!("{name} is in no segment\n"),
                [one] => format!("{name} is in @{}\n", self.groups[*one].name),
                [first, others @ ..] => format!(
                    "{name} is in @{}, and computed again in {}\n",
                    self.groups[*first].name,
                    list(others)
                ),
            },
        }
    }
    /// The values that cross between two segments, as text. If none do, a line saying if other segments connect the
    /// two.
    fn between_text(&mut self, from: usize, to: usize) -> String {
        if self.crossing(from, to).is_empty() {
            let (a, b) = (&self.groups[from].name, &self.groups[to].name);
            return match self.between(from, to).is_empty() {
                true => format!("no value goes from @{a} to @{b}\n"),
                false => format!("no value goes from @{a} to @{b} but by way of others\n"),
            };
        }
        text::crossing(&self.cut(from, to))
    }
    /// The records with a part in each of two segments, as text.
    fn concerning(&self, from: usize, to: usize, records: &[Record]) -> Vec<String> {
        let home = |v: &Value| {
            let position = self.ir.def_op(*v).and_then(|op| self.graph.position(op));
            position.and_then(|p| self.home[p as usize])
        };
        let touches =
            |record: &&Record, group: usize| record.parts.iter().any(|v| home(v) == Some(group));
        let both = records
            .iter()
            .filter(|r| touches(r, from) && touches(r, to));
        both.map(|r| r.render(&self.ir)).collect()
    }
}
