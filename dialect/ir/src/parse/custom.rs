//! The custom form by the op's table: the meaning of words and values after the operands.
//!
//! The grammar gives a flat list of words and values. An [`OpDef`] says which words are clauses and which values each
//! takes. A clause becomes the attribute of its name.

use smallvec::SmallVec;

use super::actions::{Item, ItemValue, Parser, Statement};
use super::feed::Feed;
use super::literal;
use super::outline;
use super::shape::Reader;
use crate::attr::{AttrId, AttrKind};
use crate::check;
use crate::codes;
use crate::def::{ClauseDef, ClauseKind, OpDef};
use crate::elements;
use crate::intern::Sym;
use crate::ir::Value;
use crate::lex::{self, Tok};
use crate::span::Span;
use crate::suggest;
use crate::types::{DType, TypeId, TypeKind};

/// Attributes of an operation under construction.
pub type Attrs = SmallVec<[(Sym, AttrId); 4]>;

/// Names of attributes, with the source ranges of their values.
pub type ClauseSpans = SmallVec<[(Sym, Span); 4]>;

/// The operands and stated types that a number's type is inferred from.
pub struct Context<'a> {
    /// The operands.
    pub operands: &'a [Value],
    /// The stated result types.
    pub types: &'a [TypeId],
}

impl Parser<'_> {
    /// The attributes of `statement`: clauses, symbol, signature, dictionary.
    pub fn attributes(
        &mut self,
        statement: &Statement,
        def: Option<&'static OpDef>,
        context: &Context<'_>,
        spans: &mut ClauseSpans,
    ) -> Attrs {
        let mut attrs = Attrs::new();
        if let (false, Some(def)) = (statement.generic, def) {
            self.table_parts(statement, def, &mut attrs);
            self.clauses(statement, def, context, &mut attrs, spans);
        }
        self.check_duplicates(&statement.dict);
        let given = attrs.len();
        for entry in &statement.dict {
            if attrs[..given].iter().any(|(key, _)| *key == entry.key) {
                self.duplicate(entry.key, entry.span);
                continue;
            }
            attrs.push((entry.key, entry.value));
            spans.push((entry.key, entry.span));
        }
        attrs
    }
    /// Symbol and signature.
    fn table_parts(&mut self, statement: &Statement, def: &'static OpDef, attrs: &mut Attrs) {
        if let Some(span) = statement.symbol {
            self.part_allowed(def.syntax.symbol, def, "symbol", span);
            let name = self.symbol_text(span);
            let value = self.ir.attr(AttrKind::String(name));
            attrs.push((self.ir.sym("sym_name"), value));
        }
        if let Some(span) = statement.signature {
            self.part_allowed(def.syntax.signature, def, "signature", span);
            self.signature_attrs(statement, attrs);
        } else if def.syntax.signature {
            let message = format!(
                "`{}` needs a signature after its name: `(%x: T) -> T`",
                def.name
            );
            self.error(&codes::UNEXPECTED, statement.name, message);
        }
    }
    fn part_allowed(&mut self, allowed: bool, def: &OpDef, part: &str, span: Span) {
        if !allowed {
            let message = format!("`{}` has no {part}", def.name);
            self.error(&codes::NOT_IN_FORM, span, message);
        }
    }
    fn signature_attrs(&mut self, statement: &Statement, attrs: &mut Attrs) {
        let inputs = statement.parameters.iter().map(|p| p.ty).collect();
        let outputs = statement.outputs.iter().map(|o| o.0).collect();
        let ty = self.function_type(statement.name, inputs, outputs);
        let ty = self.type_attr(ty);
        attrs.push((self.ir.sym("function_type"), ty));
        let lists = [
            (
                "arg_attrs",
                statement
                    .parameters
                    .iter()
                    .map(|p| p.attrs)
                    .collect::<Vec<_>>(),
            ),
            ("res_attrs", statement.outputs.iter().map(|o| o.1).collect()),
        ];
        for (name, dicts) in lists {
            if dicts.iter().any(Option::is_some) {
                let empty = self.ir.attr(AttrKind::Dict(Vec::new()));
                let dicts = dicts.into_iter().map(|d| d.unwrap_or(empty)).collect();
                let list = self.list_attr(statement.name, dicts);
                attrs.push((self.ir.sym(name), list));
            }
        }
    }

    fn clauses(
        &mut self,
        statement: &Statement,
        def: &'static OpDef,
        context: &Context<'_>,
        attrs: &mut Attrs,
        spans: &mut ClauseSpans,
    ) {
        let mut items = statement.items.iter().copied().peekable();
        while let Some(item) = items.next() {
            let word = self.text(item.word);
            let Some(clause) = def.clause(word) else {
                if word == "attributes" && item.value.is_none() && !statement.dict.is_empty() {
                    continue;
                }
                return self.unknown_clause(def, item.word);
            };
            // A word as a value is an item of its own.
            let next = items.peek().copied().filter(|n| n.value.is_none());
            let takes_word = item.value.is_none() && clause.kind != ClauseKind::Unit;
            let value = match next.filter(|_| takes_word) {
                Some(next) => {
                    items.next();
                    Given::Word(next.word)
                }
                None => Given::of(item),
            };
            let span = value.span(item.word);
            let key = self.ir.sym(clause.name);
            spans.push((key, span));
            if attrs.iter().any(|(k, _)| *k == key) {
                self.duplicate(key, item.word);
            } else if let Some(attr) = self.clause(clause, value, item.word, context) {
                attrs.push((key, attr));
            }
        }
    }
    fn unknown_clause(&mut self, def: &'static OpDef, span: Span) {
        let word = self.text(span);
        let message = format!("`{}` has no clause `{word}`", def.name);
        let help = self.instead_of_clause(def, word, span);
        self.error_with_help(&check::CLAUSE_UNKNOWN, span, message, help);
    }
    /// Advice on a word that is no clause of `def`.
    fn instead_of_clause(&self, def: &'static OpDef, word: &str, span: Span) -> String {
        let before = self
            .source
            .get(..span.start as usize)
            .unwrap_or("")
            .trim_end();
        let of_unit = def
            .clauses
            .iter()
            .find(|c| c.kind == ClauseKind::Unit && before.ends_with(c.name));
        let types = def.clauses.iter().find(|c| c.kind == ClauseKind::DType);
        let types = types.zip(elements::ours(word));
        let value = format!("%{word}");
        let visible = || {
            self.names
                .visible(suggest::MOST_COMPARED)
                .any(|name| name == value)
        };
        match (
            of_unit.filter(|_| matches!(word, "true" | "false" | "True" | "False")),
            types,
        ) {
            (Some(clause), _) if word.eq_ignore_ascii_case("true") => {
                format!("`{}` stands alone", clause.name)
            }
            (Some(clause), _) => format!("leave out `{}`", clause.name),
            (None, Some((clause, dtype))) => format!("did you mean `{} {dtype}`?", clause.name),
            (None, None) if visible() => format!("did you mean `{value}`?"),
            (None, None) => match self.clause_called(def, word) {
                Some(clause) => format!("did you mean `{}`?", clause.name),
                None if before.ends_with(|c: char| c.is_ascii_digit()) && word == "f" => {
                    "a number has no suffix".into()
                }
                None => {
                    let names: Vec<&str> = def.clauses.iter().map(|c| c.name).collect();
                    let clauses = match names.is_empty() {
                        true => "it has no clauses".to_owned(),
                        false => format!("its clauses are {}", names.join(", ")),
                    };
                    let form = def
                        .form()
                        .map_or(String::new(), |form| format!(": `{form}`"));
                    clauses + &form
                }
            },
        }
    }
    /// The attribute of one clause; `None` if an error was reported.
    fn clause(
        &mut self,
        clause: &ClauseDef,
        given: Given,
        word: Span,
        context: &Context<'_>,
    ) -> Option<AttrId> {
        let span = given.span(word);
        let attr = match (clause.kind, given) {
            (ClauseKind::Unit, Given::Nothing) => self.ir.attr(AttrKind::Unit),
            (ClauseKind::Amounts, Given::Value(ItemValue::List, _)) => {
                self.amounts_list(clause, span)?
            }
            (ClauseKind::I64Array, Given::Value(ItemValue::List, _)) => self.i64_list(span)?,
            (ClauseKind::StringArray, Given::Value(ItemValue::List, _)) => {
                self.string_list(span)?
            }
            (ClauseKind::Extents, Given::Value(ItemValue::List, _)) => self.extents_list(span)?,
            (ClauseKind::Any, Given::Value(ItemValue::List, _)) => self.any_list(span)?,
            (ClauseKind::Keyword(words), Given::Word(_)) => self.keyword(clause, words, span)?,
            (ClauseKind::DType | ClauseKind::Type, Given::Word(_)) => {
                let ty = self.word_type(span);
                self.ir.attr(AttrKind::Type(ty))
            }
            (
                ClauseKind::DType | ClauseKind::Type | ClauseKind::Any,
                Given::Value(ItemValue::Type(ty), _),
            ) => self.type_attr(ty),
            (ClauseKind::Int, Given::Value(ItemValue::Number, _)) => {
                let ty = self.ir.scalar(DType::I64);
                self.typed_number(span, ty)
            }
            (ClauseKind::Number, Given::Value(ItemValue::Number, _)) => {
                let ty = self.number_type(span, context);
                self.typed_number(span, ty)
            }
            (ClauseKind::Any, Given::Value(ItemValue::Number, _)) => self.number_attr(span, None),
            (ClauseKind::Number | ClauseKind::Any, Given::Value(ItemValue::Dense, _)) => {
                self.dense_clause(span, context)?
            }
            (ClauseKind::Number, Given::Word(_)) if literal::is_special(self.text(span)) => {
                let ty = self.number_type(span, context);
                self.typed_number(span, ty)
            }
            (ClauseKind::Number | ClauseKind::Any, Given::Word(_)) => self.word_attr(span),
            (ClauseKind::String | ClauseKind::Any, Given::Value(ItemValue::Str(text), _)) => {
                self.ir.attr(AttrKind::String(text))
            }
            (_, Given::Value(ItemValue::Attr(attr), _)) if self.fits(clause, attr) => attr,
            _ => return self.wrong_kind(clause, given, span),
        };
        Some(attr)
    }
    fn fits(&self, clause: &ClauseDef, attr: AttrId) -> bool {
        check::clause_fits(self.ir, clause.kind, attr).is_ok()
    }
    fn wrong_kind(&mut self, clause: &ClauseDef, given: Given, span: Span) -> Option<AttrId> {
        let unit = self.ir.attr(AttrKind::Unit);
        // An attribute of another kind: the values that the clause takes, in words.
        let wanted = match clause.kind {
            ClauseKind::Unit => "no value".to_owned(),
            kind => check::clause_fits(self.ir, kind, unit)
                .err()
                .unwrap_or_default(),
        };
        let text: String = self.text(span).chars().take(40).collect();
        let message = match given {
            Given::Nothing => format!("clause `{}` takes {wanted}", clause.name),
            _ => format!("clause `{}` takes {wanted}, not `{text}`", clause.name),
        };
        let quoted = text.trim_matches('"');
        let help = match (clause.kind, given) {
            (ClauseKind::Keyword(words), Given::Value(ItemValue::Str(_), _))
                if words.contains(&quoted) =>
            {
                Some(format!(
                    "the word stands without quotes: `{} {quoted}`",
                    clause.name
                ))
            }
            (ClauseKind::DType, Given::Value(ItemValue::Str(_), _)) => elements::ours(quoted)
                .map(|dtype| format!("the type stands without quotes: `{} {dtype}`", clause.name)),
            _ => None,
        };
        match help {
            Some(help) => self.error_with_help(&check::CLAUSE_KIND, span, message, help),
            None => self.error(&check::CLAUSE_KIND, span, message),
        }
        None
    }
    fn keyword(&mut self, clause: &ClauseDef, words: &[&str], span: Span) -> Option<AttrId> {
        let word = self.text(span);
        if words.contains(&word) {
            return Some(self.ir.string_attr(word));
        }
        let message = format!(
            "clause `{}` takes one of {}, not `{word}`",
            clause.name,
            words.join(", ")
        );
        let cased = words.iter().find(|w| w.eq_ignore_ascii_case(word));
        match cased
            .copied()
            .or_else(|| suggest::nearest(word, words.iter().copied()))
        {
            Some(near) => {
                let help = format!("did you mean `{near}`?");
                self.error_with_help(&check::CLAUSE_KIND, span, message, help);
            }
            None => self.error(&check::CLAUSE_KIND, span, message),
        }
        None
    }
    fn i64_list(&mut self, span: Span) -> Option<AttrId> {
        let mut values = Vec::new();
        for (at, item) in literal::items(self.text(span)) {
            match literal::i64_item(item) {
                Ok(value) => values.push(value),
                Err(message) => {
                    let message = match item.trim().split_once(char::is_whitespace) {
                        _ if item.is_empty() => "a number is missing here".into(),
                        Some(_) => format!("`{item}` lacks a comma between its numbers"),
                        None => message,
                    };
                    self.error(&check::CLAUSE_KIND, piece(span, at, item), message);
                    return None;
                }
            }
        }
        Some(self.ir.attr(AttrKind::I64Array(values)))
    }
    /// A list of integers; or a list of known extents, if it contains a list.
    fn amounts_list(&mut self, clause: &ClauseDef, span: Span) -> Option<AttrId> {
        if !self.text(span)[1..].contains('[') {
            return self.i64_list(span);
        }
        let attr = self.extents_list(span)?;
        let amounts = self.ir.amounts(self.ir.attr_kind(attr));
        let attr = amounts.and_then(|list| self.ir.amounts_attr(&list));
        attr.or_else(|| self.wrong_kind(clause, Given::Word(span), span))
    }
    fn string_list(&mut self, span: Span) -> Option<AttrId> {
        let mut values = Vec::new();
        for (at, item) in literal::items(self.text(span)) {
            let place = piece(span, at, item);
            if !(item.len() > 1 && item.starts_with('"') && item.ends_with('"')) {
                let message = format!("`{item}` is no string");
                self.error(&check::CLAUSE_KIND, place, message);
                return None;
            }
            values.push(self.string_attr(place));
        }
        Some(self.ir.attr(AttrKind::Array(values)))
    }
    fn extents_list(&mut self, span: Span) -> Option<AttrId> {
        let text = self.text(span);
        match Reader::new(self.ir, &self.options.limits, text).bracketed() {
            Ok(dims) => Some(self.ir.attr(AttrKind::Extents(dims))),
            Err(error) => {
                self.shape_error(span, error);
                None
            }
        }
    }
    /// A list of any attributes. Only here the grammar runs on a part of a statement.
    fn any_list(&mut self, span: Span) -> Option<AttrId> {
        let mut tokens = lex::lex(self.text(span));
        for token in &mut tokens {
            token.start += span.start;
            token.end += span.start;
        }
        outline::limit_nesting(&mut tokens, &self.options.limits);
        let saved = std::mem::take(&mut self.statement);
        self.answer = None;
        let stop = self.stop;
        self.run(Feed::part(Tok::StartAttr, &tokens, stop));
        let failed = self.statement.failed;
        self.statement = saved;
        self.statement.failed |= failed;
        match self.answer.take() {
            Some(super::actions::Answer::Attr(attr)) => Some(attr),
            _ => None,
        }
    }
    /// The type of a number: that of the stated result, else of the first operand, else of the literal.
    fn number_type(&mut self, span: Span, context: &Context<'_>) -> TypeId {
        let stated = context.types.first().and_then(|t| self.ir.ty(*t).dtype());
        let first = context.operands.first();
        let operand = first.and_then(|v| self.ir.value_kind(*v).dtype());
        let float = literal::is_float(self.text(span));
        let default = if float { DType::F64 } else { DType::I64 };
        let dtype = stated.or(operand).unwrap_or(default);
        self.ir.scalar(dtype)
    }
    fn dense_clause(&mut self, span: Span, context: &Context<'_>) -> Option<AttrId> {
        match context.types.first() {
            Some(&ty) => Some(self.dense_attr(span, ty)),
            None => {
                let message = "dense elements have the type of the result, which is not written";
                let help = "write it at the end, `: tensor<4xf32>`";
                self.error_with_help(&check::TYPES_MISSING, span, message, help);
                None
            }
        }
    }
    /// True if a type is that of a placeholder whose definition is not known yet.
    pub fn is_untyped(&self, ty: TypeId) -> bool {
        *self.ir.ty(ty) == TypeKind::None
    }
}

/// The part that follows a clause's word.
#[derive(Clone, Copy)]
enum Given {
    Nothing,
    Word(Span),
    Value(ItemValue, Span),
}

impl Given {
    fn of(item: Item) -> Self {
        match item.value {
            Some((value, span)) => Given::Value(value, span),
            None => Given::Nothing,
        }
    }
    fn span(self, word: Span) -> Span {
        match self {
            Given::Nothing => word,
            Given::Word(span) | Given::Value(_, span) => span,
        }
    }
}

fn piece(list: Span, at: usize, item: &str) -> Span {
    let start = list.start + at as u32;
    Span::new(start, start + item.len() as u32)
}
