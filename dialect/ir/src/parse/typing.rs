//! The types of an op's operands and results: inferred, written, compared.

use super::actions::{Parser, Statement};
use super::names::Bound;
use super::values::split_number;
use crate::check;
use crate::codes;
use crate::def::{At, OpDef, OpParts, ResultTypes};
use crate::describe;
use crate::diag::Diagnostic;
use crate::ir::{Def, Value};
use crate::loc::LocId;
use crate::span::{OpSpans, Span};
use crate::types::TypeId;

impl Parser<'_> {
    pub(super) fn custom_types(
        &mut self,
        statement: &Statement,
        def: &'static OpDef,
        parts: OpParts<'_>,
        spans: OpSpans<'_>,
        loc: LocId,
    ) -> Option<ResultTypes> {
        if self.names.pending > 0 && parts.operands.iter().any(|v| self.is_placeholder(*v)) {
            return self.types_without_inference(statement, def, parts);
        }
        match check::result_types(self.ir, def, parts) {
            Ok(types) => Some(types),
            Err(errors) => {
                for error in errors {
                    let at = error.at;
                    let mut found = check::diagnostic(self.ir, def.name, Some(spans), loc, error);
                    if let At::Operand(index) = at {
                        found = self.with_definition(found, parts.operands.get(index).copied());
                    } else if let At::Result(_) = at {
                        found = self.with_definition(found, parts.operands.first().copied());
                    }
                    self.report(found);
                }
                None
            }
        }
    }
    /// The result types of an op with an undefined operand. Nothing can be inferred or checked yet; the verifier does
    /// it later.
    fn types_without_inference(
        &mut self,
        statement: &Statement,
        def: &'static OpDef,
        parts: OpParts<'_>,
    ) -> Option<ResultTypes> {
        if let Some(types) = parts.stated {
            return Some(types.iter().copied().collect());
        }
        if def.results.is_empty() {
            return Some(ResultTypes::new());
        }
        for span in &statement.operands {
            let (text, _) = split_number(self.text(*span));
            let id = self.names.id(text);
            if let Some(Bound::Forward(forward)) = self.names.lookup_mut(id).map(|b| &mut b.bound) {
                forward.untyped.push(*span);
                break;
            }
        }
        None
    }
    pub(super) fn generic_types(
        &mut self,
        statement: &Statement,
        operands: &[Value],
    ) -> Option<ResultTypes> {
        if statement.inputs.len() != operands.len() {
            let span = statement.types_span.unwrap_or(statement.name);
            let message = format!(
                "{} operands, but {} operand types",
                operands.len(),
                statement.inputs.len()
            );
            self.error(&codes::OPERAND_TYPES, span, message);
            return None;
        }
        let errors = self.errors;
        for (index, (&value, &ty)) in operands.iter().zip(&statement.inputs).enumerate() {
            self.check_operand_type(value, ty, statement.operands[index]);
        }
        for target in &statement.targets {
            self.check_target_types(&target.values, &target.types);
        }
        (self.errors == errors).then(|| statement.types.iter().copied().collect())
    }
    fn check_target_types(&mut self, values: &[Span], types: &[TypeId]) {
        if values.len() != types.len() {
            if let Some(&span) = values.first() {
                let message = format!("{} values, but {} types", values.len(), types.len());
                self.error(&codes::OPERAND_TYPES, span, message);
            }
            return;
        }
        for (&span, &ty) in values.iter().zip(types) {
            if let Some(value) = self.use_value(span) {
                self.check_operand_type(value, ty, span);
            }
        }
    }
    pub(super) fn check_operand_type(&mut self, value: Value, ty: TypeId, span: Span) {
        let is = self.ir.value_type(value);
        if is == ty {
            return;
        }
        if self.is_placeholder(value) && self.is_untyped(is) {
            self.ir.set_value_type(value, ty);
            return;
        }
        let (is, written) = (describe::ty(self.ir, is), describe::ty(self.ir, ty));
        let text = self.text(span);
        let message = format!("`{text}` has type `{is}`, but `{written}` is written");
        let found = Diagnostic::error(&codes::OPERAND_TYPES, self.place(span), message);
        let found = self.with_definition(found, Some(value));
        self.report(found);
    }
    /// Adds a note on the definition and the type of `value`.
    fn with_definition(&self, found: Diagnostic, value: Option<Value>) -> Diagnostic {
        let Some((value, span)) = value.and_then(|v| Some((v, self.definition(v)?))) else {
            return found;
        };
        let ty = describe::ty(self.ir, self.ir.value_type(value));
        found.note(
            self.place(span),
            format!("the operand is defined here, of type `{ty}`"),
        )
    }
    fn definition(&self, value: Value) -> Option<Span> {
        let Def::Result(op, index) = self.ir.value_def(value) else {
            return None;
        };
        let spans = self.ir.spans.get(op)?;
        let results = spans.results.get(index as usize);
        Some(
            results
                .or(spans.results.last())
                .copied()
                .unwrap_or(spans.name),
        )
    }
}
