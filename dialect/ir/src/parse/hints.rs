//! Hints on syntax errors: mistakes that the tokens around the unexpected one betray.
//!
//! [`HINTS`] is a list of rules; the first that recognizes the mistake gives the hint. A rule sees the surrounding
//! tokens and the table of the current operation, and says what to write.

use super::actions::Parser;
use super::feed::FeedToken;
use super::shape;
use crate::def::{ClauseDef, ClauseKind, OpDef};
use crate::elements;
use crate::lex::{Tok, Token};
use crate::span::Span;
use crate::suggest;

/// Tokens before an unexpected one that are looked at.
const MOST_BEFORE: usize = 16;

/// A rule: advice on a mistake, if it is the one that the rule knows.
type Hint = fn(&Around<'_>) -> Option<String>;

/// In the order in which they are tried.
static HINTS: &[Hint] = &[
    comment,
    shape_with_commas,
    tensor_of_jax,
    parameter_type,
    open_signature,
    signature_without_parentheses,
    results_of_signature,
    visibility,
    typed_result,
    equal,
    value_without_sign,
    open_body,
    infix,
    quoted_name,
    operands_in_parentheses,
    symbol,
    element_type,
    list_in_other_brackets,
    open_list,
    constant_number,
    word_first,
    comma_before_clause,
    missing_comma,
    types_of_operands,
    positive,
    region_types,
    form,
];

/// The unexpected token with the tokens around it, without tokens inside lists.
struct Around<'a> {
    /// The tokens before it, the nearest first.
    before: Vec<Token>,
    token: FeedToken,
    /// The tokens after it.
    behind: Vec<Token>,
    source: &'a str,
    /// The table of the operation that is read.
    def: Option<&'static OpDef>,
    /// The clause of that operation which is called like this word, here or elsewhere.
    clause: Option<&'static ClauseDef>,
}

impl Around<'_> {
    /// The kind of the `n`th token before.
    fn before(&self, n: usize) -> Option<Tok> {
        self.before.get(n - 1).map(|t| t.kind)
    }
    fn behind(&self, n: usize) -> Option<Tok> {
        self.behind.get(n - 1).map(|t| t.kind)
    }
    fn text_at(&self, span: Span) -> &str {
        let range = span.start as usize..span.end as usize;
        self.source.get(range).unwrap_or("")
    }
    /// The text of the `n`th token before.
    fn text_before(&self, n: usize) -> &str {
        let token = self.before.get(n - 1);
        token.map_or("", |t| self.text_at(t.span()))
    }
    fn text_behind(&self, n: usize) -> &str {
        let token = self.behind.get(n - 1);
        token.map_or("", |t| self.text_at(t.span()))
    }
    fn text(&self) -> &str {
        self.text_at(self.token.span)
    }
    /// True if the kinds before are these, the nearest first.
    fn follows(&self, kinds: &[Tok]) -> bool {
        let mut pairs = kinds.iter().enumerate();
        pairs.all(|(at, kind)| self.before(at + 1) == Some(*kind))
    }
    fn is_number(&self) -> bool {
        is_number(self.token.kind)
    }
    /// True if the last open bracket of this statement is an unclosed `(` of a signature.
    fn in_signature(&self) -> bool {
        let mut closed = 0;
        let mut open = self
            .before
            .iter()
            .enumerate()
            .filter_map(|(at, t)| match t.kind {
                Tok::RParen => {
                    closed += 1;
                    None
                }
                Tok::LParen if closed > 0 => {
                    closed -= 1;
                    None
                }
                Tok::LParen => Some(at),
                _ => None,
            });
        let place = open.next().map(|at| self.before(at + 2));
        matches!(place, Some(Some(Tok::SymbolId | Tok::Arrow)))
    }
}

fn is_number(kind: Tok) -> bool {
    matches!(kind, Tok::Int | Tok::Float | Tok::Hex | Tok::Minus)
}

/// A clause as it is written, with a value of its kind.
fn written(clause: &ClauseDef) -> String {
    let name = clause.name;
    match clause.kind {
        ClauseKind::Unit => name.into(),
        ClauseKind::I64Array | ClauseKind::Amounts => format!("{name} [0]"),
        ClauseKind::Extents => format!("{name} [[B], 1024]"),
        ClauseKind::DType => format!("{name} bf16"),
        ClauseKind::Number => format!("{name} 2.0"),
        ClauseKind::Int => format!("{name} 1"),
        ClauseKind::Keyword(words) => format!("{name} {}", words.first().unwrap_or(&"")),
        ClauseKind::Symbol => format!("{name} @name"),
        ClauseKind::String => format!("{name} \"text\""),
        ClauseKind::StringArray => format!("{name} [\"text\"]"),
        ClauseKind::Type | ClauseKind::Any => format!("{name} ..."),
    }
}

// --- whole statements

fn comment(a: &Around<'_>) -> Option<String> {
    let hash = a.before(1) == Some(Tok::HashId) && a.before.first().is_some_and(|t| t.first);
    hash.then(|| "comments begin with `//`; a name after `#` is defined as `#name = ...`".into())
}

fn infix(a: &Around<'_>) -> Option<String> {
    if a.token.kind != Tok::ValueId || a.before(1) != Some(Tok::Equal) {
        return None;
    }
    let op = match a.text_behind(1) {
        "+" => "add",
        "-" => "sub",
        "*" => "mul",
        "/" => "div",
        _ => return Some("an operation stands behind `=`: `%b = fusion.copy %a`".into()),
    };
    let left = a.text();
    let right = match a.behind(2) {
        Some(Tok::ValueId) => a.text_behind(2),
        _ => "%b",
    };
    Some(format!(
        "there are no infix operators: `fusion.{op} {left}, {right}`"
    ))
}

fn quoted_name(a: &Around<'_>) -> Option<String> {
    let name = a.text_before(1).trim_matches('"');
    (a.before(1) == Some(Tok::OpString) && a.token.kind == Tok::ValueId).then(|| {
        format!(
            "a name in quotes is the generic form; without them: `{name} {}`",
            a.text()
        )
    })
}

fn positive(a: &Around<'_>) -> Option<String> {
    (a.token.kind == Tok::Plus).then(|| "a number has no `+` before it".into())
}

fn region_types(a: &Around<'_>) -> Option<String> {
    (a.token.kind == Tok::RegionOpen && a.before(1) != Some(Tok::RParen))
        .then(|| "the types of an operation with regions stand after its last `}`".into())
}

/// `%a: tensor<4xf32> = fusion.exp %x`
fn typed_result(a: &Around<'_>) -> Option<String> {
    const AT_THE_END: &str =
        "types of results stand at the end: `%a = fusion.exp %x : tensor<4xf32>`";
    let kinds = [a.behind(1), a.behind(2), a.behind(3)];
    let begins = a.token.kind == Tok::ValueId
        && matches!(
            kinds,
            [
                Some(Tok::Colon),
                Some(Tok::Shaped | Tok::Word),
                Some(Tok::Equal)
            ]
        );
    let ends = a.token.kind == Tok::Equal
        && matches!(a.before(1), Some(Tok::Shaped | Tok::Word))
        && a.before(2) == Some(Tok::Colon);
    (begins || ends).then(|| AT_THE_END.into())
}

// --- types

fn shape_with_commas(a: &Around<'_>) -> Option<String> {
    let prefix = a
        .before
        .iter()
        .take(8)
        .find(|t| t.kind == Tok::TensorPrefix)?;
    let rest = a.source.get(prefix.start as usize..)?;
    shape::separated(rest.lines().next()?)
}

/// `f32[4,8]`
fn tensor_of_jax(a: &Around<'_>) -> Option<String> {
    let list = matches!(a.token.kind, Tok::LSquare | Tok::List);
    let typed = a.before(1) == Some(Tok::Word)
        && matches!(
            a.before(2),
            Some(Tok::Colon | Tok::Arrow | Tok::LParen | Tok::Comma)
        );
    if !list || !typed {
        return None;
    }
    let rest = a.source.get(a.token.span.start as usize + 1..)?;
    let (extents, _) = rest.split_once(']')?;
    let dtype = elements::ours(a.text_before(1)).unwrap_or("f32");
    let extents = extents.split(',').map(|e| shape::bracketed(e.trim()) + "x");
    let extents: String = extents.filter(|e| e != "x").collect();
    Some(format!(
        "the type of a tensor is `tensor<{extents}{dtype}>`"
    ))
}

fn types_of_operands(a: &Around<'_>) -> Option<String> {
    let to = a.token.kind == Tok::Word && matches!(a.text(), "to" | "into");
    let types = matches!(a.before(1), Some(Tok::Shaped | Tok::Word));
    (to && types).then(|| {
        "the types of operands are not written; those of results stand behind `:`, at the end"
            .into()
    })
}

// --- signatures

fn parameter_type(a: &Around<'_>) -> Option<String> {
    let parameter = matches!(a.token.kind, Tok::Comma | Tok::RParen)
        && a.before(1) == Some(Tok::ValueId)
        && a.before(3) == Some(Tok::SymbolId);
    parameter.then(|| "each parameter has a type: `%x: tensor<4xf32>`".into())
}

fn open_signature(a: &Around<'_>) -> Option<String> {
    let ends = matches!(a.token.kind, Tok::Arrow | Tok::RegionOpen | Tok::End);
    (ends && a.in_signature()).then(|| "the `(` before is not closed: a `)` is missing here".into())
}

fn signature_without_parentheses(a: &Around<'_>) -> Option<String> {
    let signature = a.def.is_some_and(|def| def.syntax.signature);
    let open = a.before.iter().any(|t| t.kind == Tok::LParen);
    let early = matches!(
        a.token.kind,
        Tok::RParen | Tok::Colon | Tok::Comma | Tok::Arrow
    );
    (signature && early && !open)
        .then(|| "parameters stand in parentheses: `@f(%x: tensor<4xf32>)`".into())
}

/// `@f(%x: T): T`, `-> T, T`
fn results_of_signature(a: &Around<'_>) -> Option<String> {
    let signature = a.def.is_some_and(|def| def.syntax.signature);
    let after_parameters = a.before(1) == Some(Tok::RParen);
    let is_type = |n| matches!(a.before(n), Some(Tok::Shaped | Tok::Word));
    match a.token.kind {
        Tok::Shaped | Tok::RegionOpen
            if signature && a.follows(&[Tok::Shaped, Tok::Colon, Tok::RParen]) =>
        {
            Some("the results of a signature stand behind `->`".into())
        }
        Tok::Colon if signature && after_parameters => {
            Some("the results of a signature stand behind `->`".into())
        }
        Tok::Comma if signature && is_type(1) && a.before(2) == Some(Tok::Arrow) => {
            Some("several results stand in parentheses: `-> (tensor<4xf32>, f32)`".into())
        }
        _ => None,
    }
}

fn visibility(a: &Around<'_>) -> Option<String> {
    let word = a.text_before(2);
    let visible =
        a.before(1) == Some(Tok::SymbolId) && matches!(word, "public" | "private" | "nested");
    visible.then(|| format!("there is no `{word}`: every program can be called"))
}

fn symbol(a: &Around<'_>) -> Option<String> {
    let name = a.text_before(1);
    let named = a.token.kind == Tok::LParen && a.follows(&[Tok::Word, Tok::OpName]);
    (named && a.clause.is_none()).then(|| format!("a symbol begins with `@`: `@{name}(`"))
}

/// `task.program @f(%x: T) -> T:`
fn open_body(a: &Around<'_>) -> Option<String> {
    let colon = a.token.kind == Tok::End && a.before(1) == Some(Tok::Colon);
    let body = a.def.is_some_and(|def| !def.regions.is_empty());
    (colon && body).then(|| "a body stands in braces: `{ ... }`".into())
}

/// `%a [0:4]` behind the name of an operation.
fn form(a: &Around<'_>) -> Option<String> {
    let form = a.def?.form()?;
    let inside = [Tok::OpName, Tok::ValueId]
        .iter()
        .any(|&kind| a.before(1) == Some(kind));
    inside.then(|| format!("an example of its form: `{form}`"))
}

// --- operands

/// `z = fusion.exp %x` after a brace that was mistaken for that of a dictionary.
fn value_without_sign(a: &Around<'_>) -> Option<String> {
    let name = a.text_before(2);
    let op = matches!(a.token.kind, Tok::OpName | Tok::Dotted);
    let defined = op && a.follows(&[Tok::Equal, Tok::Word]);
    defined.then(|| format!("names of values begin with `%`: `%{name} = {}`", a.text()))
}

fn operands_in_parentheses(a: &Around<'_>) -> Option<String> {
    let called =
        matches!(a.token.kind, Tok::Comma | Tok::RParen) && a.follows(&[Tok::ValueId, Tok::LParen]);
    called.then(|| {
        "operands follow the operation's name without parentheses: `fusion.add %a, %b`".into()
    })
}

fn constant_number(a: &Around<'_>) -> Option<String> {
    const VALUES: &str = "operands are values: a number becomes one by an operation that makes constants, \
                          `%c = fusion.constant value 2.0 : f32`";
    let dense = matches!(a.token.kind, Tok::Dense | Tok::Str | Tok::Array);
    match a.before(1)? {
        Tok::Comma if a.is_number() && a.before(2) == Some(Tok::ValueId) => Some(VALUES.into()),
        Tok::OpName if a.is_number() && a.behind(1) == Some(Tok::Comma) => Some(VALUES.into()),
        Tok::OpName if a.is_number() && a.def.is_none_or(|def| def.clause("value").is_some()) => {
            Some(
                "what an operation takes besides operands stands behind a word: `value 2.0`".into(),
            )
        }
        Tok::OpName if dense => Some(
            "what an operation takes besides operands stands behind a word: `value dense<1.0>`"
                .into(),
        ),
        _ => None,
    }
}

/// `fusion.compare lt, %a, %b`
fn word_first(a: &Around<'_>) -> Option<String> {
    let first = a.follows(&[Tok::Word, Tok::OpName]);
    let operands = matches!(a.token.kind, Tok::ValueId | Tok::Comma);
    (first && operands)
        .then(|| "operands stand first, then words: `fusion.compare %a, %b predicate lt`".into())
}

fn missing_comma(a: &Around<'_>) -> Option<String> {
    (a.token.kind == Tok::ValueId && a.before(1) == Some(Tok::ValueId))
        .then(|| "operands are separated by commas".into())
}

// --- clauses

/// `dims=[1]`, `keepdim=True`, `axis: 1`
fn equal(a: &Around<'_>) -> Option<String> {
    let sign = match a.token.kind {
        Tok::Equal => "=",
        Tok::List | Tok::LSquare | Tok::Int if a.before(1) == Some(Tok::Colon) => ":",
        _ => return None,
    };
    let at = if sign == "=" { 1 } else { 2 };
    if a.before(at) == Some(Tok::OpName) && sign == "=" {
        let name = a.text_before(1);
        return Some(format!("names of values begin with `%`: `%{name} = ...`"));
    }
    let word = a.before(at) == Some(Tok::Word);
    let value = match sign {
        "=" => a.behind.first().map(|t| (t.kind, a.text_at(t.span()))),
        _ => Some((a.token.kind, a.text())),
    };
    let list = |clause: &ClauseDef| {
        matches!(
            clause.kind,
            ClauseKind::I64Array | ClauseKind::Amounts | ClauseKind::Extents
        )
    };
    let clause = match (a.clause, value) {
        (Some(clause), _) if clause.kind == ClauseKind::Unit => written(clause),
        (Some(clause), Some((Tok::List, value))) if list(clause) => {
            format!("{} {value}", clause.name)
        }
        (Some(clause), Some((Tok::Int, value))) if list(clause) => {
            format!("{} [{value}]", clause.name)
        }
        (Some(clause), Some((Tok::Int | Tok::Float | Tok::Word, value))) if !list(clause) => {
            format!("{} {value}", clause.name)
        }
        (Some(clause), _) => written(clause),
        (None, _) => "dims [0]".into(),
    };
    word.then(|| match a.clause.map(|c| c.kind) {
        Some(ClauseKind::Unit) => {
            format!("a clause has no `{sign}`; this one stands alone: `{clause}`")
        }
        _ => format!("a clause has no `{sign}` between word and value: `{clause}`"),
    })
}

/// `to torch.float32`, `%x, f16`
fn element_type(a: &Around<'_>) -> Option<String> {
    let name = a.text().rsplit('.').next()?;
    let dtype = elements::ours(name)?;
    let clause = a.def?.clauses.iter().find(|c| c.kind == ClauseKind::DType);
    match (a.token.kind, clause) {
        (Tok::Dotted | Tok::Word, Some(clause)) => Some(format!("write `{} {dtype}`", clause.name)),
        (Tok::Dotted, None) => Some(format!("write `{dtype}`")),
        _ => None,
    }
}

fn list_in_other_brackets(a: &Around<'_>) -> Option<String> {
    let open = matches!(a.token.kind, Tok::LParen | Tok::LBrace);
    let braced = matches!(a.before(1), Some(Tok::LBrace | Tok::RegionOpen));
    let inside = is_number(a.token.kind) && braced;
    let clause = a.clause?;
    let list = matches!(
        clause.kind,
        ClauseKind::I64Array | ClauseKind::Extents | ClauseKind::Amounts | ClauseKind::StringArray
    );
    (list && (open || inside))
        .then(|| format!("a list stands in square brackets: `{}`", written(clause)))
}

fn open_list(a: &Around<'_>) -> Option<String> {
    let open = a.token.kind == Tok::LSquare && a.before(1) == Some(Tok::Word);
    let rest = a.source.get(a.token.span.start as usize..)?;
    let line = rest.lines().next().unwrap_or("");
    (open && !line.contains(']')).then(|| "this `[` is not closed".into())
}

/// `fusion.sum %x, dims [1]`, and a comma at the end.
fn comma_before_clause(a: &Around<'_>) -> Option<String> {
    if a.before(1) != Some(Tok::Comma) {
        return None;
    }
    match a.token.kind {
        Tok::End | Tok::Colon | Tok::RegionClose => {
            Some("there is no comma behind the last operand".into())
        }
        Tok::Word => {
            let word = a.text();
            let clauses = a.def.map(|def| def.clauses.iter().map(|c| c.name));
            match clauses.and_then(|mut names| names.find(|name| *name == word)) {
                Some(_) => Some(format!(
                    "there is no comma before a clause: `{word}` follows the last operand"
                )),
                None => Some(format!("names of values begin with `%`: `%{word}`")),
            }
        }
        _ => None,
    }
}

impl Parser<'_> {
    /// Advice on the mistake that `token` betrays.
    pub(super) fn hint(&self, token: FeedToken) -> Option<String> {
        let around = self.around(token);
        HINTS.iter().find_map(|hint| hint(&around))
    }
    fn around(&self, token: FeedToken) -> Around<'_> {
        let outline = self.tokens.borrow();
        let tokens = outline.kept();
        let at = tokens.partition_point(|t| t.start < token.span.start);
        let seen = |t: &&Token| !t.inside;
        let before: Vec<Token> = tokens[..at]
            .iter()
            .rev()
            .filter(seen)
            .take(MOST_BEFORE)
            .copied()
            .collect();
        let behind = tokens[at..].iter().filter(|t| t.start >= token.span.end);
        let behind = behind.filter(seen).take(3).copied().collect();
        let bound = |t: &&Token| matches!(t.kind, Tok::OpName | Tok::RegionOpen | Tok::RegionClose);
        let from = before.first().is_some_and(|t| t.kind == Tok::RegionOpen);
        let name = before.iter().skip(usize::from(from)).find(bound);
        let def = name.and_then(|t| self.ir.registry.op(self.text(t.span())));
        let word = before.iter().take(3).find(|t| t.kind == Tok::Word);
        let clause = def
            .zip(word)
            .and_then(|(def, word)| self.clause_called(def, self.text(word.span())));
        Around {
            before,
            token,
            behind,
            source: self.source,
            def,
            clause,
        }
    }
    /// The clause of `def` that `word` is, or is elsewhere, or nearly is.
    pub(super) fn clause_called(
        &self,
        def: &'static OpDef,
        word: &str,
    ) -> Option<&'static ClauseDef> {
        let names = || def.clauses.iter().map(|c| c.name);
        let foreign = self.ir.registry.foreign_clause(def, word);
        let exact = names().find(|name| *name == word);
        let name = exact
            .or(foreign)
            .or_else(|| suggest::nearest(word, names()))?;
        def.clauses.iter().find(|c| c.name == name)
    }
}
