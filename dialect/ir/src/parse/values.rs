//! Values by name: uses, definitions, and the resolution of early uses.

use smallvec::SmallVec;

use super::actions::{Parser, Statement};
use super::names::{Bound, EarlyUse, Forward, Rebound};
use crate::codes;
use crate::def::OpClass;
use crate::diag::{Diagnostic, Fix};
use crate::intern::Sym;
use crate::ir::{NewOp, Op, Value};
use crate::span::Span;
use crate::suggest;
use crate::types::{TypeId, TypeKind};

/// Types of results with their names, as [`NewOp`] takes them.
type NamedTypes = SmallVec<[(TypeId, Option<Sym>); 2]>;

impl Parser<'_> {
    /// The value that a use names; `None` for poison.
    pub fn use_value(&mut self, span: Span) -> Option<Value> {
        let (name, number) = split_number(self.text(span));
        let id = self.names.id(name);
        let blind = self.names.is_blind();
        match self.names.lookup(id).map(|b| &b.bound) {
            Some(&Bound::Values { first, count }) => {
                let index = number.unwrap_or(0);
                if index < count {
                    return Some(self.names.values(first, count)[index as usize]);
                }
                let message = format!("`{name}` has {count} results, counted from 0");
                self.error(&codes::RESULT_NUMBER, span, message);
                None
            }
            Some(Bound::Poison) => None,
            None if blind => None,
            Some(Bound::Forward(_)) | None => Some(self.early_use(id, number, span)),
        }
    }
    fn early_use(&mut self, id: u32, number: Option<u32>, span: Span) -> Value {
        self.check_identifier(span);
        let none = self.ir.type_id(TypeKind::None);
        let new = NewOp {
            results: SmallVec::from_slice(&[(none, None)]),
            ..NewOp::default()
        };
        let op = self.ir.create(self.placeholder, new);
        let placeholder = self.ir.result(op, 0);
        let early = EarlyUse {
            number,
            placeholder,
            span,
        };
        self.names.defer(id, early);
        placeholder
    }
    pub(super) fn is_placeholder(&self, value: Value) -> bool {
        let op = self.ir.def_op(value);
        op.is_some_and(|op| self.ir.name_id(op) == self.placeholder)
    }
    /// Pairs the result types with the results' names; an error if the numbers differ.
    pub(super) fn named_results(
        &mut self,
        statement: &Statement,
        types: &[TypeId],
    ) -> Option<NamedTypes> {
        let (named, count) = (statement.named_results(), types.len());
        if named != count && !statement.results.is_empty() {
            let span = statement.results.first().map_or(statement.name, |r| r.0);
            let op = self.text(statement.name);
            let names = if named == 1 { "name" } else { "names" };
            let results = if count == 1 { "result" } else { "results" };
            let message = format!("{named} result {names}, but `{op}` has {count} {results}");
            let found = Diagnostic::error(&codes::RESULT_NAMES, self.place(span), message);
            let help = self.about_results(op, count);
            self.report(match help {
                Some(help) => found.help(help),
                None => found,
            });
            return None;
        }
        let mut results: NamedTypes = SmallVec::with_capacity(count);
        results.extend(types.iter().map(|ty| (*ty, None)));
        let mut at = 0;
        for &(span, packed) in &statement.results {
            results[at].1 = self.name_hint(span);
            for element in 1..packed as usize {
                let name = format!("{}#{element}", self.text(span).trim_start_matches('%'));
                results[at + element].1 = Some(self.ir.sym(&name));
            }
            at += packed as usize;
        }
        Some(results)
    }
    /// Advice if the statement names another number of results than the op `name` has.
    fn about_results(&self, name: &str, count: usize) -> Option<String> {
        let def = self.ir.registry.op(name)?;
        let terminator = def
            .syntax
            .terminator
            .filter(|_| def.class == OpClass::Structure);
        match (terminator, self.ir.registry.second_result(name)) {
            (Some(terminator), _) => Some(format!(
                "its results are what its region gives in `{terminator}`: `{terminator} %a, %b`"
            )),
            (None, Some(second)) => Some(second.into()),
            (None, None) if count == 0 => {
                Some("it gives no value: leave out the name and `=`".into())
            }
            (None, None) => {
                let names: Vec<&str> = def.results.iter().map(|r| r.name).collect();
                Some(format!("it gives {}", names.join(" and ")))
            }
        }
    }
    /// The name to keep, a number too.
    pub fn name_hint(&mut self, span: Span) -> Option<Sym> {
        let name = self.text(span).strip_prefix('%')?;
        Some(self.ir.sym(name))
    }
    pub(super) fn name_results(&mut self, statement: &Statement, op: Op) {
        let mut from = 0;
        for &(span, count) in &statement.results {
            let to = from + count as usize;
            let values: SmallVec<[Value; 4]> = SmallVec::from_slice(&self.ir.results(op)[from..to]);
            self.define(span, &values);
            from = to;
        }
    }
    /// Binds the name at `span`.
    pub fn define(&mut self, span: Span, values: &[Value]) {
        self.check_ascii(span);
        let id = self.names.id(self.text(span));
        match self.names.define(id, values, span) {
            Rebound::Fresh => {}
            Rebound::Resolved(forward) => self.resolve(*forward, values, span),
            Rebound::Clash(earlier) => {
                let message = format!("`{}` is defined twice", self.text(span));
                let found = Diagnostic::error(&codes::REDEFINITION, self.place(span), message);
                let earlier = self.place(earlier);
                self.report(found.note(earlier, "defined here before"));
            }
        }
    }
    /// Reports a name with letters that no name has.
    pub(super) fn check_ascii(&mut self, span: Span) {
        if !self.text(span).is_ascii() {
            let message = format!("`{}` has letters that no name has", self.text(span));
            let help = "names are of the letters a to z and A to Z, digits, `_`, `$`, `.` and `-`; a symbol in quotes has any";
            self.error_with_help(&codes::BAD_CHARACTER, span, message, help);
        }
    }
    /// Poisons the names of a failed definition.
    pub fn poison_results(&mut self, statement: &Statement) {
        for &(span, _) in &statement.results {
            self.poison(span);
        }
    }
    /// Poisons one name.
    pub fn poison(&mut self, span: Span) {
        let id = self.names.id(self.text(span));
        // Earlier uses of the name failed in silence, to be reported by this definition. Two definitions that wait for
        // each other would both be passed over, and their text lost without an error.
        if let Rebound::Resolved(forward) = self.names.poison(id, span) {
            self.untyped_uses(&forward, span);
        }
    }
    /// Points early uses at their definition.
    fn resolve(&mut self, mut forward: Forward, values: &[Value], definition: Span) {
        for early in std::mem::take(&mut forward.uses) {
            let index = early.number.unwrap_or(0) as usize;
            let Some(&value) = values.get(index) else {
                let message = format!("there are {} results, counted from 0", values.len());
                self.error(&codes::RESULT_NUMBER, early.span, message);
                continue;
            };
            let written = self.ir.value_type(early.placeholder);
            if !self.is_untyped(written) {
                self.check_operand_type(value, written, early.span);
            }
            self.ir.replace_all_uses(early.placeholder, value);
            if let Some(op) = self.ir.def_op(early.placeholder) {
                self.ir.erase(op);
            }
        }
        self.untyped_uses(&forward, definition);
    }
    /// Reports uses before the definition whose type was needed.
    fn untyped_uses(&mut self, forward: &Forward, definition: Span) {
        for &span in &forward.untyped {
            let name = self.text(span);
            let message =
                format!("`{name}` is used before its definition, so its type is not known here");
            let help = format!(
                "define `{name}` before this operation; where blocks branch, write the types of its results: `: T`"
            );
            let found = Diagnostic::error(&codes::EARLY_USE, self.place(span), message)
                .help(help)
                .note(self.place(definition), "defined here");
            self.report(found);
        }
    }
    /// Reports names that nothing defines, each once.
    pub fn undefined(&mut self, id: u32, forward: &Forward) {
        let Some(first) = forward.uses.first() else {
            return;
        };
        let name = self.names.text(id);
        let message = format!("`{name}` is not defined here");
        let found = Diagnostic::error(&codes::UNDEFINED_VALUE, self.place(first.span), message);
        let found = match self.names.closed(id) {
            Some(inner) => found
                .note(self.place(inner), "it is defined inside another region")
                .help(format!(
                    "a region gives out what it yields: `task.yield {name}`, with a result of that name before the \
                     operation's `=`"
                )),
            None => {
                let visible = || self.names.visible(suggest::MOST_COMPARED);
                let same = visible().find(|other| other.eq_ignore_ascii_case(name));
                match same.or_else(|| suggest::nearest(name, visible())) {
                    Some(near) => {
                        let mut found = found.help(format!("did you mean `{near}`?"));
                        found.fixes = self.renamed(&forward.uses, near);
                        found
                    }
                    None => found,
                }
            }
        };
        let further = forward.uses.len() - 1;
        let found = match forward.uses.get(1) {
            Some(second) => found.note(
                self.place(second.span),
                format!("used here too ({further} further uses)"),
            ),
            None => found,
        };
        self.report(found);
    }
    /// The mends that write `name` at each use.
    fn renamed(&self, uses: &[EarlyUse], name: &str) -> Vec<Fix> {
        let fix = |early: &EarlyUse| Fix {
            place: self.place(early.span),
            replacement: match early.number {
                Some(number) => format!("{name}#{number}"),
                None => name.to_owned(),
            },
        };
        uses.iter().map(fix).collect()
    }
}

/// `%r#1` as `%r` and 1.
pub fn split_number(text: &str) -> (&str, Option<u32>) {
    match text.split_once('#') {
        Some((name, number)) => (name, Some(number.parse().unwrap_or(u32::MAX))),
        None => (text, None),
    }
}
