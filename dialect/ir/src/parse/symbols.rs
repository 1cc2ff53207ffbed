//! Assignment of each part of a text to its symbol, from the tokens alone: it works on text that does not parse.
//!
//! Diagnostics for tools name the function of a mistake with it. Linear in the length of the text.

use super::outline::Outline;
use crate::def::Registry;
use crate::lex::{Tok, Token};
use crate::limits::Limits;
use crate::span::Span;

/// An op that declares a symbol, and the range of it and its regions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SymbolSpan {
    /// Name of the op: `task.program`.
    pub op: String,
    /// The symbol without `@`.
    pub name: String,
    /// From its first token to the end of its last region.
    pub span: Span,
}

/// The parts of a statement's header that were read so far.
#[derive(Clone, Default)]
struct Header {
    start: u32,
    op: String,
    name: Option<String>,
}

/// All ops with a symbol and a region, inner ones before outer ones.
pub fn symbols(source: &str, registry: &Registry, limits: &Limits) -> Vec<SymbolSpan> {
    if source.len() > limits.source_bytes {
        return Vec::new();
    }
    let mut outline = Outline::new(source, registry, limits);
    outline.read_all();
    let tokens = outline.kept();
    let mut found = Vec::new();
    let mut open: Vec<Header> = Vec::new();
    let mut header = Header::default();
    for (at, token) in tokens.iter().enumerate() {
        if token.first {
            header = Header {
                start: token.start,
                ..Header::default()
            };
        }
        match token.kind {
            Tok::OpName | Tok::OpString => header.op = plain(token.text(source)),
            Tok::SymbolId if at > 0 && tokens[at - 1].kind == Tok::OpName => {
                header.name = Some(plain(&token.text(source)[1..]));
            }
            Tok::RegionOpen => open.push(std::mem::take(&mut header)),
            Tok::RegionClose => {
                header = open.pop().unwrap_or_default();
                let name = header.name.clone();
                if let Some(name) = name.or_else(|| stated(&tokens[at + 1..], source)) {
                    found.push(SymbolSpan {
                        op: header.op.clone(),
                        name,
                        span: Span::new(header.start, token.end),
                    });
                }
            }
            _ => {}
        }
    }
    found
}

fn plain(text: &str) -> String {
    text.trim_matches('"').to_owned()
}

/// `sym_name = "f"` in the dictionary after a region in generic form.
fn stated(rest: &[Token], source: &str) -> Option<String> {
    let ends = |t: &&Token| t.first || matches!(t.kind, Tok::RegionOpen | Tok::RegionClose);
    let length = rest.iter().position(|t| ends(&t)).unwrap_or(rest.len());
    let mut parts = rest[..length].windows(3);
    let name = parts.find(|w| w[0].text(source) == "sym_name" && w[2].kind == Tok::Str)?;
    Some(plain(name[2].text(source)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(source: &str) -> Vec<(String, String)> {
        let found = symbols(source, &Registry::default(), &Limits::default());
        found.into_iter().map(|s| (s.op, s.name)).collect()
    }
    #[test]
    fn custom_and_generic_forms_whole_and_broken() {
        let pair = |op: &str, name: &str| (op.to_owned(), name.to_owned());
        let custom = "module @m { a.f @g() { a.x @h { b.c %y } \n %1 = ( } }";
        let all = [pair("a.x", "h"), pair("a.f", "g"), pair("module", "m")];
        assert_eq!(names(custom), all);
        let generic = "\"a.f\"() ({ \"a.x\"() : () -> () }) {k, sym_name = \"g h\"} : () -> ()";
        assert_eq!(names(generic), [pair("a.f", "g h")]);
        assert_eq!(names("a.f @g() { a.x"), [pair("a.f", "g")]);
        assert!(names("} } @x \"a\"() ({}) : () -> () {sym_name").is_empty());
    }
}
