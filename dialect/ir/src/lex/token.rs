//! The tokens of `.fir` text.
//!
//! A token is a kind and a range of bytes; its text is looked up in the source where it is needed. Shapes, dense data
//! and bodies of dialect attributes are one token each: their inside follows other rules than the rest of the language
//! (`4x8xf32` is no number). The kinds after [`Tok::Error`] are not lexed: the outline pass turns lexed kinds into them
//! by position.

use logos::{Lexer, Logos};

use super::scan;

/// Kinds of tokens.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(extras = scan::Scanned)]
#[logos(skip(r"[ \t\r\n]+"))]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
#[allow(missing_docs)]
pub enum Tok {
    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token("[")]
    LSquare,
    #[token("]")]
    RSquare,
    #[token("{")]
    LBrace,
    #[token("}")]
    RBrace,
    #[token("<")]
    Less,
    #[token(">")]
    Greater,
    #[token(",")]
    Comma,
    #[token(":")]
    Colon,
    #[token("::")]
    ColonColon,
    #[token("=")]
    Equal,
    #[token("->")]
    Arrow,
    #[token("?")]
    Question,
    #[token("*")]
    Star,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    /// `%x`, `%0#1`
    #[regex(r"%([0-9]+|[a-zA-Z_$.-][a-zA-Z0-9_$.-]*)(#[0-9]+)?", letters)]
    #[regex(r"%[^\x00-\x7F]", letters)]
    ValueId,
    /// `@f`, `@"a b"`
    #[regex(r"@([a-zA-Z_$.-][a-zA-Z0-9_$.-]*|[0-9]+)", letters)]
    #[regex("@\"", string)]
    SymbolId,
    /// `^bb0`
    #[regex(r"\^([0-9]+|[a-zA-Z_$.-][a-zA-Z0-9_$.-]*)")]
    BlockId,
    /// `#map`: the name of an attribute or location.
    #[regex(r"#([0-9]+|[a-zA-Z_$][a-zA-Z0-9_$.]*)", dialect_attr)]
    #[regex(r"#([ \t#!][^\n]*)?", |_| Tok::Error, allow_greedy = true)]
    HashId,
    /// `#dialect.attr<...>`, `affine_map<...>`: an attribute kept as text.
    OpaqueAttr,
    /// `!alias`
    #[regex(r"!([a-zA-Z_$][a-zA-Z0-9_$.]*)", dialect_type)]
    BangId,
    /// `!dialect.type<...>`, `complex<...>`: a type kept as text.
    OpaqueType,
    /// `42`
    #[regex(r"[0-9]+")]
    Int,
    /// `0x2A`
    #[regex(r"0x[0-9a-fA-F]+")]
    Hex,
    /// `1.5`, `1.`, `1.0e-5`, `1e-5`
    #[regex(r"[0-9]+\.[0-9]*([eE][-+]?[0-9]+)?")]
    #[regex(r"[0-9]+[eE][-+]?[0-9]+")]
    Float,
    /// `"text"`
    #[token("\"", string)]
    Str,
    /// `dims`, `f32`
    #[regex(r"[a-zA-Z_][a-zA-Z0-9_$]*", word)]
    Word,
    /// `fusion.add`
    #[regex(r"[a-zA-Z_][a-zA-Z0-9_$]*(\.[a-zA-Z0-9_$]+)+")]
    Dotted,
    /// `tensor<4x[B]xf32>` and the like, whole.
    Shaped,
    /// `tensor<4x[B]xf32` before `, encoding>`.
    TensorPrefix,
    /// `dense<...>`
    Dense,
    /// `array<i64: 1, 2>`
    Array,
    /// `extents<[B], 4>`
    Extents,
    /// `tuple<`
    TupleOpen,
    /// `loc(`
    LocOpen,
    /// `{-# ... #-}`
    #[token("{-#", resources)]
    Resources,

    /// Text that no rule matches.
    Error,
    /// End of an operation, label or alias.
    End,
    /// `{` of a region.
    RegionOpen,
    /// `}` of a region.
    RegionClose,
    /// `%x` to the left of `=`.
    DefId,
    /// The name of an operation in custom form.
    OpName,
    /// The name of an operation in generic form.
    OpString,
    /// `^bb0` at the start of a block.
    Label,
    /// `[...]` as the value of a clause, whole.
    List,
    /// Chooses what to parse: a file.
    StartFile,
    /// ... an alias definition.
    StartAlias,
    /// ... an attribute.
    StartAttr,
    /// ... a type.
    StartType,
}

/// Takes letters of other scripts, which no name contains, together with the name: the parser reports all of it. False
/// if a sign follows.
fn letters(lexer: &mut Lexer<'_, Tok>) -> bool {
    let part = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '-');
    let other = |c: char| !c.is_ascii() && c.is_alphanumeric();
    if lexer.remainder().starts_with(other) {
        let more = lexer.remainder().chars().take_while(part);
        lexer.bump(more.map(char::len_utf8).sum());
    }
    let start = lexer.slice().chars().nth(1);
    start.is_some_and(|c| c.is_ascii() || c.is_alphanumeric())
}

fn string(lexer: &mut Lexer<'_, Tok>) -> bool {
    let start = lexer.span().end - 1;
    match scan::string(&lexer.source()[start..]) {
        Some(length) => lexer.bump(length - 1),
        None => return false,
    }
    true
}

/// Takes a following `<...>` into the token: `Some(true)` if it closes, `None` without `<`.
fn body(lexer: &mut Lexer<'_, Tok>) -> Option<bool> {
    if !lexer.remainder().starts_with('<') {
        return None;
    }
    match balanced(lexer) {
        Some(length) => lexer.bump(length),
        None => return Some(false),
    }
    Some(true)
}

fn dialect_attr(lexer: &mut Lexer<'_, Tok>) -> Tok {
    match body(lexer) {
        Some(true) => Tok::OpaqueAttr,
        Some(false) => Tok::Error,
        None if lexer.slice().contains('.') => Tok::OpaqueAttr,
        None => Tok::HashId,
    }
}

fn dialect_type(lexer: &mut Lexer<'_, Tok>) -> Tok {
    match body(lexer) {
        Some(true) => Tok::OpaqueType,
        Some(false) => Tok::Error,
        None if lexer.slice().contains('.') => Tok::OpaqueType,
        None => Tok::BangId,
    }
}

/// A word, or the token that it begins if a bracket follows at once.
fn word(lexer: &mut Lexer<'_, Tok>) -> Tok {
    match lexer.remainder().as_bytes().first() {
        Some(b'<') => angle_word(lexer),
        Some(b'(') if lexer.slice() == "loc" => {
            lexer.bump(1);
            Tok::LocOpen
        }
        Some(b'[') if lexer.slice() == "distinct" => distinct(lexer),
        _ => Tok::Word,
    }
}

fn angle_word(lexer: &mut Lexer<'_, Tok>) -> Tok {
    let kind = match lexer.slice() {
        "tensor" => return tensor(lexer),
        "vector" | "memref" => return shaped(lexer),
        "tuple" => {
            lexer.bump(1);
            return Tok::TupleOpen;
        }
        "dense" => Tok::Dense,
        "array" => Tok::Array,
        "extents" => Tok::Extents,
        "complex" => Tok::OpaqueType,
        "affine_map" | "affine_set" | "strided" | "sparse" | "opaque" | "dense_resource" => {
            Tok::OpaqueAttr
        }
        _ => return Tok::Word,
    };
    match body(lexer) {
        Some(true) => kind,
        _ => Tok::Error,
    }
}

fn tensor(lexer: &mut Lexer<'_, Tok>) -> Tok {
    let inside = 1 + scan::shape(&lexer.remainder()[1..], 0);
    match lexer.remainder().as_bytes().get(inside) {
        Some(b'>') => {
            lexer.bump(inside + 1);
            Tok::Shaped
        }
        Some(b',') => {
            lexer.bump(inside);
            Tok::TensorPrefix
        }
        _ => opaque_type(lexer),
    }
}

fn shaped(lexer: &mut Lexer<'_, Tok>) -> Tok {
    let inside = 1 + scan::shape(&lexer.remainder()[1..], b',');
    match lexer.remainder().as_bytes().get(inside) {
        Some(b'>') => {
            lexer.bump(inside + 1);
            Tok::Shaped
        }
        _ => opaque_type(lexer),
    }
}

fn opaque_type(lexer: &mut Lexer<'_, Tok>) -> Tok {
    match body(lexer) {
        Some(true) => Tok::OpaqueType,
        _ => Tok::Error,
    }
}

/// `distinct[0]<...>`
fn distinct(lexer: &mut Lexer<'_, Tok>) -> Tok {
    match balanced(lexer) {
        Some(length) => lexer.bump(length),
        None => return Tok::Error,
    }
    match body(lexer) {
        Some(true) => Tok::OpaqueAttr,
        _ => Tok::Error,
    }
}

fn resources(lexer: &mut Lexer<'_, Tok>) -> bool {
    let (text, start) = (lexer.source(), lexer.span().end);
    let length = lexer.extras.resources(text, start);
    lexer.bump(length.unwrap_or(0));
    length.is_some()
}

/// The length of the following bracketed text.
fn balanced(lexer: &mut Lexer<'_, Tok>) -> Option<usize> {
    let (text, start) = (lexer.source(), lexer.span().end);
    lexer.extras.balanced(text, start)
}
