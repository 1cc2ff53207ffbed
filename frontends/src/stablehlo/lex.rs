//! The tokens of StableHLO text, and the boundaries of its operations.
//!
//! A token is a kind and a range of bytes. Types, dense data and bodies of attributes are one token each. [`outline`]
//! marks distinctions that a grammar with one token of lookahead cannot make: the `{` of a region or of a dictionary,
//! and the end of an operation, which the text does not mark. An operation begins on a line of its own or after the `{`
//! of its region.
//!
//! Linear in the text; brackets nest to [`MAX_NESTING`].

use fuser_ir::span::Span;
use logos::{Lexer, Logos};

/// The maximum nesting depth of brackets. Frontends nest about a dozen deep; later stages recurse on this depth.
pub const MAX_NESTING: usize = 64;

/// Kinds of tokens.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
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
    #[token("=")]
    Equal,
    #[token("->")]
    Arrow,
    /// `%x`, `%0#1`
    #[regex(r"%([0-9]+|[a-zA-Z_$.-][a-zA-Z0-9_$.-]*)(#[0-9]+)?")]
    Value,
    /// `@f`
    #[regex(r"@[a-zA-Z0-9_$.-]+")]
    #[regex("@\"[^\"\n]*\"")]
    Symbol,
    /// `^bb0`
    #[regex(r"\^[a-zA-Z0-9_$.-]+")]
    Block,
    /// `#loc1`, `#stablehlo.gather<...>`
    #[regex(r"#[a-zA-Z0-9_$.]+", hash)]
    Hash,
    /// `42`, `-1`
    #[regex(r"-?[0-9]+")]
    Int,
    /// `1.5`, `-1e-5`, `0xFF800000`
    #[regex(r"-?[0-9]+\.[0-9]*([eE][-+]?[0-9]+)?")]
    #[regex(r"-?[0-9]+[eE][-+]?[0-9]+")]
    #[regex(r"0x[0-9a-fA-F]+")]
    Float,
    /// `"text"`
    #[regex("\"([^\"\\\\\n]|\\\\.)*\"")]
    Str,
    /// `dims`, `f32`
    #[regex(r"[a-zA-Z_][a-zA-Z0-9_$]*", word)]
    Word,
    /// `to`, between the ends of a location.
    #[token("to")]
    To,
    /// `init:`
    #[token("init:")]
    Init,
    /// `stablehlo.add`
    #[regex(r"[a-zA-Z_][a-zA-Z0-9_$]*(\.[a-zA-Z0-9_$]+)+")]
    Dotted,
    /// `tensor<4xf32>`, `!stablehlo.token`
    #[regex(r"![a-zA-Z0-9_$.]+", hash)]
    Type,
    /// `dense<...>`
    Dense,
    /// `array<i64: 1, 2>`
    Array,
    /// `<@mesh, [{"x"}]>`, `<["x"=2]>`: shardings and meshes.
    #[token("<@", sharding)]
    #[token("<[", sharding)]
    #[token("<mesh<", sharding)]
    Angle,
    /// `{-# dialect_resources: ... #-}`
    #[token("{-#", resources)]
    Resources,
    /// `loc(`
    #[token("loc(")]
    Loc,

    /// Text that no rule matches.
    Error,
    /// End of an operation or alias.
    End,
    /// `{` of a region.
    Open,
    /// `}` of a region.
    Close,
}

/// A token and its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// Its kind.
    pub kind: Tok,
    /// Its range of bytes.
    pub span: Span,
}

/// The length of the bracketed text at the start of `text`. An unclosed bracket ends where no closing bracket can
/// follow.
fn balanced(text: &str) -> (usize, bool) {
    let mut depth = 0_usize;
    let mut inside = false;
    let mut before = b' ';
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => inside = !inside,
            b'\n' if inside => return (at, false),
            _ if inside => {}
            b'<' => depth += 1,
            b'>' if before != b'-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (at + 1, true);
        }
        before = byte;
    }
    (text.len(), false)
}

/// Takes a `<...>` that directly follows a name into the token.
fn body(lexer: &mut Lexer<'_, Tok>) -> bool {
    if !lexer.remainder().starts_with('<') {
        return true;
    }
    let (length, closed) = balanced(lexer.remainder());
    lexer.bump(length);
    closed
}

fn hash(lexer: &mut Lexer<'_, Tok>) -> bool {
    body(lexer)
}

/// Takes the rest of a `<...>` whose beginning is in the token.
fn sharding(lexer: &mut Lexer<'_, Tok>) -> bool {
    let start = lexer.span().start;
    let (length, closed) = balanced(&lexer.source()[start..]);
    lexer.bump(length.saturating_sub(lexer.slice().len()));
    closed
}

/// Takes all up to `#-}`.
fn resources(lexer: &mut Lexer<'_, Tok>) -> bool {
    let end = lexer.remainder().find("#-}");
    lexer.bump(end.map_or(lexer.remainder().len(), |at| at + 3));
    end.is_some()
}

/// A word, or the token that it begins if a bracket follows at once.
fn word(lexer: &mut Lexer<'_, Tok>) -> Tok {
    if !lexer.remainder().starts_with('<') {
        return Tok::Word;
    }
    let kind = match lexer.slice() {
        "tensor" | "tuple" | "complex" | "vector" | "memref" => Tok::Type,
        "dense" | "dense_resource" => Tok::Dense,
        "array" => Tok::Array,
        _ => return Tok::Word,
    };
    if body(lexer) { kind } else { Tok::Error }
}

/// The marked tokens of a text, or the first bracket that is nested too deeply.
pub fn tokens(source: &str) -> Result<Vec<Token>, Span> {
    let lexed = Tok::lexer(source).spanned();
    let lexed = lexed.map(|(kind, range)| Token {
        kind: kind.unwrap_or(Tok::Error),
        span: Span::new(range.start as u32, range.end as u32),
    });
    outline(source, &lexed.collect::<Vec<_>>())
}

/// Marks regions and the ends of operations.
fn outline(source: &str, lexed: &[Token]) -> Result<Vec<Token>, Span> {
    let mut marked = Vec::with_capacity(lexed.len() + lexed.len() / 8);
    // The open brackets; for a region the first token of its open operation.
    let mut open: Vec<Option<Option<Tok>>> = vec![Some(None)];
    for (at, token) in lexed.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| lexed[before]);
        let region = open.last().copied().flatten();
        let mut kind = token.kind;
        let end = Token {
            kind: Tok::End,
            span: Span::new(token.span.start, token.span.start),
        };
        match kind {
            Tok::LBrace if !is_dictionary(source, &lexed[at + 1..]) => {
                kind = Tok::Open;
                open.push(Some(None));
            }
            Tok::LBrace | Tok::LParen | Tok::LSquare | Tok::Loc => open.push(None),
            Tok::RBrace if region.is_some() && open.len() > 1 => {
                kind = Tok::Close;
                if let Some(Some(_)) = region {
                    marked.push(end);
                }
                open.pop();
            }
            Tok::RBrace | Tok::RParen | Tok::RSquare if region.is_none() && open.len() > 1 => {
                open.pop();
            }
            _ if region.is_some() && begins(source, before, marked.last(), *token) => {
                if let Some(Some(_)) = region {
                    marked.push(end);
                }
                if let Some(last) = open.last_mut() {
                    *last = Some(Some(kind));
                }
            }
            _ => {}
        }
        if open.len() > MAX_NESTING {
            return Err(token.span);
        }
        let span = token.span;
        marked.push(Token { kind, span });
        if kind == Tok::Colon && region == Some(Some(Tok::Block)) {
            let span = Span::new(span.end, span.end);
            marked.push(Token {
                kind: Tok::End,
                span,
            });
            if let Some(last) = open.last_mut() {
                *last = Some(None);
            }
        }
    }
    if let [Some(Some(_))] = open.as_slice() {
        let end = source.len() as u32;
        let span = Span::new(end, end);
        marked.push(Token {
            kind: Tok::End,
            span,
        });
    }
    Ok(marked)
}

/// True if the text after a `{` is the contents of a dictionary.
fn is_dictionary(source: &str, behind: &[Token]) -> bool {
    let kind = |at: usize| behind.get(at).map(|token| token.kind);
    let text = |token: &Token| &source[token.span.start as usize..token.span.end as usize];
    // `{ return }`, a function that does nothing.
    if behind.first().map(text).is_some_and(super::op::is_return) {
        return false;
    }
    match kind(0) {
        Some(Tok::RBrace) => true,
        Some(Tok::Word | Tok::Dotted | Tok::Str) => {
            matches!(kind(1), Some(Tok::Equal | Tok::Comma | Tok::RBrace))
        }
        _ => false,
    }
}

/// True if `token`, directly inside a region, begins an operation, an alias or a block.
fn begins(source: &str, before: Option<Token>, marked: Option<&Token>, token: Token) -> bool {
    let starts = match token.kind {
        Tok::Value
        | Tok::Dotted
        | Tok::Str
        | Tok::Hash
        | Tok::Block
        | Tok::Resources
        | Tok::Error => true,
        Tok::Word => {
            let word = &source[token.span.start as usize..token.span.end as usize];
            matches!(word, "return" | "call" | "module" | "func")
        }
        _ => false,
    };
    let Some(before) = before else {
        return starts;
    };
    let goes_on = matches!(
        before.kind,
        Tok::Comma | Tok::Colon | Tok::Equal | Tok::Arrow | Tok::Init | Tok::Less
    );
    let between = &source[before.span.end as usize..token.span.start as usize];
    let behind = marked.is_some_and(|m| matches!(m.kind, Tok::Open | Tok::End));
    starts && (behind || (between.contains('\n') && !goes_on))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Tok> {
        let tokens = tokens(text).unwrap();
        tokens.into_iter().map(|t| t.kind).collect()
    }
    #[test]
    fn regions_and_ends_are_marked() {
        use Tok::*;
        let text = "module @m {\n  %0 = a.b %x {k = 1}\n    : tensor<4xf32>\n  return %0\n}";
        let head = [Word, Symbol, Open];
        let first = [
            Value, Equal, Dotted, Value, LBrace, Word, Equal, Int, RBrace, Colon, Type, End,
        ];
        let rest = [Word, Value, End, Close, End];
        assert_eq!(kinds(text), [&head[..], &first, &rest].concat());
        // A region inside parentheses, and operands on the next line.
        let text = "%0 = \"a.b\"(%x) ({\n^bb0(%a: f32):\n  a.c %a,\n    %a\n}) : () -> ()";
        let ends = kinds(text).iter().filter(|k| **k == End).count();
        assert_eq!(ends, 3);
    }
    #[test]
    fn brackets_that_do_not_close_or_lie_deep() {
        assert_eq!(kinds("tensor<4xf32"), [Tok::Error, Tok::End]);
        assert_eq!(kinds("#a<\"x\n\">")[0], Tok::Error);
        assert!(tokens(&"(".repeat(MAX_NESTING + 1)).is_err());
        assert!(tokens(&"a.b {\n".repeat(MAX_NESTING + 1)).is_err());
    }
}
