//! The tokens of a Python definition, and the part of the text that contains it.
//!
//! A statement ends with its line, unless a bracket is open. A definition is a function, or a `with`, whose body calls
//! methods of one fusion definition; the surrounding text (imports, inputs, calls) is skipped.

use fuser_ir::span::Span;
use logos::Logos;

/// Brackets inside each other.
pub const MAX_NESTING: usize = 64;

/// Kinds of tokens.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip(r"[ \t\r\n\\]+"))]
#[logos(skip(r"#[^\n]*", allow_greedy = true))]
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
    #[token(",")]
    Comma,
    #[token(":")]
    Colon,
    #[token("=")]
    Equal,
    #[token("->")]
    Arrow,
    #[token(".")]
    Dot,
    /// `T0`, `fd`, `None`
    #[regex(r"[a-zA-Z_][a-zA-Z0-9_]*")]
    Name,
    /// `-1`, `1.00000`, `1e-05`, `3.0+0.5j`
    #[regex(r"-?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?")]
    #[regex(r"-?\.[0-9]+([eE][-+]?[0-9]+)?")]
    #[regex(r"-?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?(\+?-?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?)?j")]
    Number,
    /// `'cuda:0'`
    #[regex("'([^'\\\\\n]|\\\\.)*'")]
    #[regex("\"([^\"\\\\\n]|\\\\.)*\"")]
    Str,

    /// Text that no rule matches.
    Error,
    /// End of a statement.
    End,
}

/// A token and its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// Its kind.
    pub kind: Tok,
    /// Its range of bytes.
    pub span: Span,
}

/// A definition in a text.
pub struct Definition {
    /// Its name: the function's name, or `fusion`.
    pub name: Span,
    /// The name of the fusion definition in the body.
    pub subject: Span,
    /// The statements of the body, each with its end.
    pub body: Vec<Token>,
}

/// A statement of the text.
struct Statement {
    column: usize,
    tokens: Vec<Token>,
}

/// The definitions of a text; the error is the first bracket nested too deeply.
pub fn definitions(source: &str) -> Result<Vec<Definition>, Span> {
    let statements = statements(source)?;
    let text = |token: &Token| &source[token.span.start as usize..token.span.end as usize];
    let mut found = Vec::new();
    let mut rest = statements.as_slice();
    while let [head, behind @ ..] = rest {
        rest = behind;
        let Some((name, subject)) = header(source, &head.tokens) else {
            continue;
        };
        let inside = behind.iter().take_while(|s| s.column > head.column).count();
        let calls = |statement: &&Statement| {
            let tokens = &statement.tokens;
            let subjects = tokens
                .windows(3)
                .filter(|w| text(&w[0]) == text(&subject) && w[1].kind == Tok::Dot);
            let mut methods = subjects.map(|w| text(&w[2]));
            methods.any(|m| matches!(m, "define_tensor" | "define_scalar" | "ops" | "add_output"))
        };
        if behind[..inside].iter().any(|s| calls(&s)) {
            let mut body = Vec::new();
            for statement in &behind[..inside] {
                body.extend(&statement.tokens);
                let end = body.last().map_or(0, |token: &Token| token.span.end);
                let span = Span::new(end, end);
                body.push(Token {
                    kind: Tok::End,
                    span,
                });
            }
            found.push(Definition {
                name: name.span,
                subject: subject.span,
                body,
            });
            rest = &behind[inside..];
        }
    }
    Ok(found)
}

/// The name of the function that a statement begins, and the name of its first parameter; for `with ... as fd:`, the
/// latter twice.
fn header(source: &str, tokens: &[Token]) -> Option<(Token, Token)> {
    let word = |token: &Token| &source[token.span.start as usize..token.span.end as usize];
    let first = tokens.first().map(word)?;
    match (first, tokens) {
        ("def", [_, name, open, subject, ..])
            if open.kind == Tok::LParen && subject.kind == Tok::Name =>
        {
            Some((*name, *subject))
        }
        ("with", _) => {
            let at = tokens.iter().position(|token| word(token) == "as")?;
            let subject = tokens.get(at + 1)?;
            Some((*subject, *subject))
        }
        _ => None,
    }
}

/// The statements of a text.
fn statements(source: &str) -> Result<Vec<Statement>, Span> {
    let mut statements: Vec<Statement> = Vec::new();
    let (mut depth, mut end) = (0_usize, 0_usize);
    let mut line = 0;
    for (kind, range) in Tok::lexer(source).spanned() {
        let kind = kind.unwrap_or(Tok::Error);
        let span = Span::new(range.start as u32, range.end as u32);
        let between = &source[end..range.start];
        if let Some(at) = between.rfind('\n') {
            line = end + at + 1;
        }
        let goes_on = between.trim_end_matches([' ', '\t']).ends_with("\\\n");
        let begins = between.contains('\n') && depth == 0 && !goes_on;
        if begins || statements.is_empty() {
            statements.push(Statement {
                column: range.start - line,
                tokens: Vec::new(),
            });
        }
        match kind {
            Tok::LParen | Tok::LSquare | Tok::LBrace => depth += 1,
            Tok::RParen | Tok::RSquare | Tok::RBrace => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_NESTING {
            return Err(span);
        }
        if let Some(last) = statements.last_mut() {
            last.tokens.push(Token { kind, span });
        }
        end = range.end;
    }
    Ok(statements)
}
