//! Text to IR.
//!
//! ```text
//! lex        source  -> tokens                 logos
//! outline    tokens  -> marked tokens          statements, regions, definitions; a batch at a time
//! grammar    marked tokens -> actions          lalrpop; recovers at the end of a statement
//! actions    build the IR: names, types, attributes; custom form by the op's table
//! ```
//!
//! Reports many mistakes in one run, each once: errors that follow from an earlier one are suppressed. Never panics,
//! never recurses on the input, allocates a fixed multiple of the input's size. Knows no files: the caller gives name
//! and text.

mod actions;
mod aliases;
mod attrs;
mod characters;
mod custom;
mod feed;
mod hints;
mod lines;
mod literal;
mod marks;
mod names;
mod ops;
mod outline;
mod recover;
mod regions;
mod report;
mod shape;
pub mod symbols;
mod types;
mod typing;
mod values;

#[allow(clippy::all, clippy::pedantic, missing_docs, unused_imports)]
mod grammar {
    lalrpop_util::lalrpop_mod!(grammar, "/parse/grammar.rs");
    pub use grammar::*;
}

use std::cell::{Cell, RefCell};

use crate::attr::AttrId;
use crate::codes;
use crate::def::Registry;
use crate::diag::{Diagnostic, Diagnostics, Place};
use crate::ir::{Ir, Op};
use crate::lex::{self, Tok, Token};
use crate::limits::Limits;
use crate::span::Span;
use crate::types::TypeId;

use actions::{Answer, Parser};
use feed::Feed;
use outline::Outline;

/// Options of the parser.
#[derive(Clone, Debug)]
pub struct ParseOptions {
    /// Name of the file, for locations.
    pub file_name: String,
    /// Number of the first line, for text that was cut out of a file.
    pub first_line: u32,
    /// Allows operations of unknown dialects in generic form.
    pub allow_unregistered: bool,
    /// Limits.
    pub limits: Limits,
}

impl Default for ParseOptions {
    fn default() -> Self {
        Self {
            file_name: "<input>".into(),
            first_line: 1,
            allow_unregistered: false,
            limits: Limits::default(),
        }
    }
}

/// The result of parsing.
#[derive(Clone, Debug)]
pub struct ParseResult {
    /// The module, if there was no error. Text without a module is wrapped in one.
    pub module: Option<Op>,
    /// Errors and warnings in the order of the text.
    pub diagnostics: Diagnostics,
}

/// Parses a file. `file_id` is its number in the caller's source map.
pub fn parse(ir: &mut Ir, file_id: u32, source: &str, options: &ParseOptions) -> ParseResult {
    if source.len() > options.limits.source_bytes {
        return too_large(file_id, source.len(), options.limits.source_bytes);
    }
    let registry = ir.registry.clone();
    let outline = || Outline::new(source, &registry, &options.limits);
    let tokens = RefCell::new(outline());
    let stop = Cell::new(false);
    let mut parser = Parser::new(ir, file_id, source, &tokens, options, &stop);
    if outline::may_have_aliases(source) {
        let (tokens, ranges) = outline().alias_tokens();
        parser.aliases(&tokens, &ranges);
    }
    parser.run(Feed::file(&tokens, &stop));
    parser.finish()
}

/// The tokens of a text as the grammar sees them: beginnings of statements and regions, roles of names. Editors use
/// them; their texts are often broken, and tokens exist for any text.
pub fn outline(source: &str, registry: &Registry, limits: &Limits) -> Vec<Token> {
    if source.len() > limits.source_bytes {
        return Vec::new();
    }
    let mut outline = Outline::new(source, registry, limits);
    outline.read_all();
    outline.kept().to_vec()
}

/// Parses a file with default options: for tests and tools.
pub fn parse_str(ir: &mut Ir, source: &str) -> ParseResult {
    parse(ir, 0, source, &ParseOptions::default())
}

/// Parses a type by itself.
pub fn parse_type(ir: &mut Ir, source: &str) -> Result<TypeId, Diagnostics> {
    match alone(ir, source, Tok::StartType) {
        (Some(Answer::Type(ty)), found) if !found.has_errors() => Ok(ty),
        (_, found) => Err(found),
    }
}

/// Parses an attribute by itself.
pub fn parse_attr(ir: &mut Ir, source: &str) -> Result<AttrId, Diagnostics> {
    match alone(ir, source, Tok::StartAttr) {
        (Some(Answer::Attr(attr)), found) if !found.has_errors() => Ok(attr),
        (_, found) => Err(found),
    }
}

fn alone(ir: &mut Ir, source: &str, start: Tok) -> (Option<Answer>, Diagnostics) {
    let options = ParseOptions::default();
    if source.len() > options.limits.source_bytes {
        return (
            None,
            too_large(0, source.len(), options.limits.source_bytes).diagnostics,
        );
    }
    let tokens = lex::lex(source);
    let stop = Cell::new(false);
    let registry = ir.registry.clone();
    let file = RefCell::new(Outline::new("", &registry, &options.limits));
    let mut parser = Parser::new(ir, 0, source, &file, &options, &stop);
    parser.run(Feed::part(start, &tokens, &stop));
    let answer = parser.answer.take();
    (answer, parser.finish().diagnostics)
}

fn too_large(file: u32, bytes: usize, limit: usize) -> ParseResult {
    let span = Span::default();
    let message = format!("the input has {bytes} bytes, more than the limit of {limit}");
    let mut diagnostics = Diagnostics::default();
    diagnostics.push(Diagnostic::error(
        &codes::LIMIT_SOURCE,
        Place::Span { file, span },
        message,
    ));
    ParseResult {
        module: None,
        diagnostics,
    }
}
