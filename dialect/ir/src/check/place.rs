//! From a mistake to a place in the source: the operand, clause or result at fault where its span is known.

use crate::def::{At, OpError};
use crate::diag::{Diagnostic, Fix, Place};
use crate::ir::Ir;
use crate::loc::{LocId, LocKind};
use crate::span::{OpSpans, Span};

use super::codes::OP_RULE;

/// Makes a diagnostic of an op's mistake, at the operand, clause or result at fault if its place is known.
pub fn diagnostic(
    ir: &Ir,
    op_name: &str,
    spans: Option<OpSpans<'_>>,
    loc: LocId,
    error: OpError,
) -> Diagnostic {
    let place = match spans {
        Some(spans) => Place::Span {
            file: spans.file,
            span: part_span(ir, spans, error.at),
        },
        None => loc_place(ir, loc),
    };
    let code = error.code.unwrap_or(&OP_RULE);
    let text = format!("`{op_name}`: {}", error.message);
    let mut diagnostic = Diagnostic::error(code, place, text).with_op(op_name);
    let place = diagnostic.place.clone();
    let fix = error.fix.filter(|_| spans.is_some());
    diagnostic
        .fixes
        .extend(fix.map(|replacement| Fix { place, replacement }));
    match error.help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

fn part_span(ir: &Ir, spans: OpSpans<'_>, at: At) -> Span {
    let part = match at {
        At::Operand(index) => spans.operands.get(index).copied(),
        At::Result(index) => spans.types.or(spans.results.get(index).copied()),
        At::Clause(name) => {
            let mut clauses = spans.clauses.iter();
            clauses
                .find(|(key, _)| ir.str(*key) == name)
                .map(|(_, span)| *span)
        }
        At::Op | At::Region(_) | At::Inside(_) => None,
    };
    part.unwrap_or(spans.name)
}

/// The file place that a location leads to, looking through names, call sites and the first of fused ones.
pub fn loc_place(ir: &Ir, loc: LocId) -> Place {
    let mut next = Some(loc);
    while let Some(loc) = next {
        next = match ir.loc_kind(loc) {
            LocKind::File { file, line, column } => {
                let file = ir.str(*file).to_owned();
                let (line, column) = (*line, *column);
                return Place::Line { file, line, column };
            }
            LocKind::Name { child, .. } => *child,
            LocKind::CallSite { callee, .. } => Some(*callee),
            LocKind::Fused(fused) => fused.parts.first().copied(),
            LocKind::Unknown => None,
        };
    }
    Place::Unknown
}
