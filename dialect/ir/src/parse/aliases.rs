//! Aliases (`#a = ...`, `!t = ...`), and the size of attributes and types with their aliases expanded.
//!
//! Definitions are read before the rest of the file, each after the definitions that it uses, so that aliases may be
//! used before they are defined. The order is found with an explicit stack. Because a chain of aliases can double the
//! size of a type at each step, depth and size of everything composite are recorded and limited.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::actions::Parser;
use super::feed::Feed;
use crate::attr::{AttrId, AttrKind};
use crate::codes;
use crate::lex::{Tok, Token};
use crate::loc::LocId;
use crate::part::Part;
use crate::span::Span;
use crate::suggest;
use crate::types::{TypeId, TypeKind};

#[derive(Clone, Copy)]
struct Weight {
    depth: usize,
    parts: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Alias {
    Attr(AttrId),
    Type(TypeId),
    /// Its definition failed, and that was reported.
    Poison,
}

/// All aliases of a file.
#[derive(Default)]
pub struct Aliases<'i> {
    known: FxHashMap<&'i str, Alias>,
    weights: FxHashMap<Part, Weight>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    Open,
    Done,
}

impl<'i> Parser<'i> {
    /// Reads the alias definitions at `ranges` of `tokens`, each after the definitions that it uses.
    pub fn aliases(&mut self, tokens: &[Token], ranges: &[Range<usize>]) {
        let mut definitions: FxHashMap<&'i str, usize> = FxHashMap::default();
        for (index, range) in ranges.iter().enumerate() {
            let span = tokens[range.start].span();
            if definitions.insert(self.text(span), index).is_some() {
                let message = format!("alias `{}` is defined twice", self.text(span));
                self.error(&codes::BAD_ALIAS, span, message);
            }
        }
        let mut visits: Vec<Option<Visit>> = vec![None; ranges.len()];
        let mut stack: Vec<usize> = (0..ranges.len()).rev().collect();
        while let Some(&index) = stack.last() {
            if visits[index].is_none() {
                visits[index] = Some(Visit::Open);
                let tokens = &tokens[ranges[index].clone()];
                self.alias_needs(tokens, &definitions, &mut visits, &mut stack);
                continue;
            }
            stack.pop();
            if visits[index].replace(Visit::Done) == Some(Visit::Open) {
                self.read_alias(&tokens[ranges[index].clone()]);
            }
        }
    }
    /// Puts the definitions that one uses on the stack.
    fn alias_needs(
        &mut self,
        tokens: &[Token],
        definitions: &FxHashMap<&'i str, usize>,
        visits: &mut [Option<Visit>],
        stack: &mut Vec<usize>,
    ) {
        for token in tokens.iter().skip(1) {
            if !matches!(token.kind, Tok::HashId | Tok::BangId) {
                continue;
            }
            let name = self.text(token.span());
            let Some(&needed) = definitions.get(name) else {
                continue;
            };
            match visits[needed] {
                None => stack.push(needed),
                Some(Visit::Open) => {
                    let message = format!("alias `{name}` is defined by itself");
                    self.error(&codes::BAD_ALIAS, token.span(), message);
                    self.aliases.known.insert(name, Alias::Poison);
                }
                Some(Visit::Done) => {}
            }
        }
    }
    fn read_alias(&mut self, tokens: &[Token]) {
        let name = self.text(tokens.first().map_or(Span::default(), |t| t.span()));
        let stop = self.stop;
        self.run(Feed::part(Tok::StartAlias, tokens, stop));
        let failed = std::mem::take(&mut self.statement.failed);
        if failed || !self.aliases.known.contains_key(name) {
            self.aliases.known.insert(name, Alias::Poison);
        }
        self.statement.clear();
    }
    /// `#a = attribute`
    pub fn define_attr(&mut self, name: Span, attr: AttrId) {
        self.check_identifier(name);
        self.statement.name = name;
        let name = self.text(name);
        self.aliases.known.entry(name).or_insert(Alias::Attr(attr));
    }
    /// `!t = type`
    pub fn define_type(&mut self, name: Span, ty: TypeId) {
        self.check_identifier(name);
        self.statement.name = name;
        let name = self.text(name);
        self.aliases.known.entry(name).or_insert(Alias::Type(ty));
    }
    /// An alias definition inside a region.
    pub fn misplaced_alias(&mut self) {
        let span = self.statement.name;
        let message = "aliases stand at the top of the file, outside all regions";
        self.error(&codes::BAD_ALIAS, span, message);
        self.statement.clear();
    }

    /// `#a` as an attribute.
    pub fn attr_alias(&mut self, span: Span) -> AttrId {
        match self.alias(span) {
            Some(Alias::Attr(attr)) => attr,
            _ => self.ir.attr(AttrKind::Unit),
        }
    }
    /// `!t` as a type.
    pub fn type_alias(&mut self, span: Span) -> TypeId {
        match self.alias(span) {
            Some(Alias::Type(ty)) => ty,
            _ => self.ir.type_id(TypeKind::None),
        }
    }
    /// `#loc` as a location.
    pub fn loc_alias(&mut self, span: Span) -> LocId {
        if let Some(Alias::Attr(attr)) = self.alias(span) {
            if let AttrKind::Loc(loc) = self.ir.attr_kind(attr) {
                return *loc;
            }
            let message = format!("`{}` is no location", self.text(span));
            self.error(&codes::BAD_LOCATION, span, message);
        }
        self.ir.unknown_loc()
    }
    fn alias(&mut self, span: Span) -> Option<Alias> {
        let name = self.text(span);
        let found = self.aliases.known.get(name).copied();
        match found {
            Some(Alias::Poison) => self.statement.failed = true,
            Some(_) => {}
            None => {
                let message = format!("alias `{name}` is not defined");
                let known = self.aliases.known.keys().copied();
                match suggest::nearest_name(name, known) {
                    Some(near) => {
                        let help = format!("did you mean `{near}`?");
                        self.error_with_help(&codes::BAD_ALIAS, span, message, help);
                    }
                    None => self.error(&codes::BAD_ALIAS, span, message),
                }
            }
        }
        found
    }

    /// Records the depth and size of `whole`, made of `parts`, and reports values beyond the limits.
    pub fn weigh(&mut self, whole: impl Into<Part>, parts: &[Part], span: Span) {
        let mut weight = Weight { depth: 1, parts: 1 };
        for part in parts {
            let leaf = Weight { depth: 0, parts: 1 };
            let part = self.aliases.weights.get(part).copied().unwrap_or(leaf);
            weight.depth = weight.depth.max(part.depth + 1);
            weight.parts = weight.parts.saturating_add(part.parts);
        }
        let limits = self.options.limits;
        if weight.depth > limits.nesting {
            let message = format!("types and attributes nest deeper than {}", limits.nesting);
            self.error(&codes::LIMIT_NESTING, span, message);
            weight.depth = 0;
        }
        if weight.parts > limits.expanded_parts {
            let message = format!(
                "more than {} parts, aliases written out",
                limits.expanded_parts
            );
            self.error(&codes::LIMIT_PARTS, span, message);
            weight.parts = 1;
        }
        self.aliases.weights.insert(whole.into(), weight);
    }
}
