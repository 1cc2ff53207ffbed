//! `textDocument/semanticTokens`: the kind of each word, by its position in its statement. Comments are left to the
//! editor's grammar.

use fuser_ir::DType;
use fuser_ir::def::{ClauseKind, OpDef};
use fuser_ir::lex::{Tok, Token};
use serde_json::{Value, json};

use crate::analysis::Part;
use crate::index::{Index, Kind};
use crate::server::{Answer, Query};

/// The kinds of words, in the order of their numbers.
const TYPES: [&str; 11] = [
    "keyword",
    "variable",
    "parameter",
    "function",
    "label",
    "macro",
    "property",
    "enumMember",
    "type",
    "number",
    "string",
];

const OP: u32 = 0;
const VARIABLE: u32 = 1;
const PARAMETER: u32 = 2;
const SYMBOL: u32 = 3;
const LABEL: u32 = 4;
const ALIAS: u32 = 5;
const CLAUSE: u32 = 6;
const CHOICE: u32 = 7;
const TYPE: u32 = 8;
const NUMBER: u32 = 9;
const STRING: u32 = 10;

/// The one modifier: a definition.
const DEFINITION: u32 = 1;

/// The names of kinds and modifiers.
pub fn legend() -> Value {
    json!({"tokenTypes": TYPES, "tokenModifiers": ["definition"]})
}

/// `textDocument/semanticTokens/full`
pub fn full(query: &Query<'_>) -> Answer {
    Ok(encode(query, 0..query.analysis.text.as_str().len()))
}

/// `textDocument/semanticTokens/range`
pub fn range(query: &Query<'_>) -> Answer {
    Ok(encode(query, query.bytes()?))
}

fn encode(query: &Query<'_>, wanted: std::ops::Range<usize>) -> Value {
    let text = &query.analysis.text;
    let (mut data, mut line, mut column) = (Vec::new(), 0, 0);
    for part in &query.analysis.parts {
        for (token, kind, modifiers) in classified(part) {
            let bytes = part.bytes(token.span());
            if bytes.end < wanted.start || wanted.end < bytes.start {
                continue;
            }
            // A token of several lines is reported line by line.
            for at in text.line_of(bytes.start)..=text.line_of(bytes.end) {
                let own = text.line(at);
                let (start, end) = (bytes.start.max(own.start), bytes.end.min(own.end));
                if start >= end {
                    continue;
                }
                let (start, end) = (text.position(start), text.position(end));
                let down = start.line - line;
                let right = if down == 0 {
                    start.character - column
                } else {
                    start.character
                };
                (line, column) = (start.line, start.character);
                data.extend([
                    down,
                    right,
                    end.character - start.character,
                    kind,
                    modifiers,
                ]);
            }
        }
    }
    json!({"data": data})
}

/// The tokens that are words of some kind.
fn classified(part: &Part) -> Vec<(Token, u32, u32)> {
    let index = part.index();
    let mut names = index.names.iter().peekable();
    let mut def: Option<&'static OpDef> = None;
    let mut statement = None;
    let mut classified = Vec::new();
    for (at, token) in index.tokens.iter().enumerate() {
        while names.next_if(|n| n.span.start < token.start).is_some() {}
        let name = names.peek().filter(|n| n.span.start == token.start);
        let own = index.statement_of(at);
        if own != statement {
            statement = own;
            def = own.and_then(|s| index.def(part.source(), part.registry(), &index.statements[s]));
        }
        let modifiers = name.map_or(0, |n| u32::from(n.defines) * DEFINITION);
        let kind = match token.kind {
            Tok::OpName | Tok::OpString => OP,
            Tok::DefId | Tok::ValueId => match name.and_then(|n| n.definition) {
                Some(at) if is_parameter(index, at) => PARAMETER,
                _ => VARIABLE,
            },
            Tok::SymbolId => SYMBOL,
            Tok::Label | Tok::BlockId => LABEL,
            Tok::HashId | Tok::OpaqueAttr => ALIAS,
            Tok::BangId | Tok::OpaqueType | Tok::Shaped | Tok::TensorPrefix | Tok::TupleOpen => {
                TYPE
            }
            Tok::Word => match word(part, index, at, def) {
                Some(kind) => kind,
                None => continue,
            },
            Tok::Dotted => CLAUSE,
            Tok::Int | Tok::Hex | Tok::Float => NUMBER,
            Tok::Str => STRING,
            Tok::LocOpen => OP,
            _ => continue,
        };
        classified.push((*token, kind, modifiers));
    }
    classified
}

fn is_parameter(index: &Index, definition: usize) -> bool {
    let definition = &index.definitions[definition];
    definition.kind == Kind::Value && definition.result.is_none()
}

fn word(part: &Part, index: &Index, at: usize, def: Option<&'static OpDef>) -> Option<u32> {
    let source = part.source();
    let text = |at: usize| index.tokens.get(at).map_or("", |t| t.text(source));
    let before = def.and_then(|def| def.clause(text(at.wrapping_sub(1))));
    let own = text(at);
    Some(match before.map(|clause| clause.kind) {
        Some(ClauseKind::Keyword(words)) if words.contains(&own) => CHOICE,
        Some(ClauseKind::DType | ClauseKind::Type) => TYPE,
        _ if def.is_some_and(|def| def.clause(own).is_some()) => CLAUSE,
        _ if DType::from_name(own).is_some() || own == "none" => TYPE,
        _ if matches!(own, "true" | "false" | "inf" | "nan") => NUMBER,
        _ if index.tokens.get(at + 1).map(|t| t.kind) == Some(Tok::Equal) => CLAUSE,
        _ => return None,
    })
}
