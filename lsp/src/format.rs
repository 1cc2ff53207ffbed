//! `textDocument/formatting`: spaces, indentation and line breaks as the printer emits them. Everything else stays.
//!
//! The formatter works on tokens, so comments, names, aliases and types stay as written, and omitted types stay
//! omitted. A statement on several lines keeps its lines, and consecutive blank lines become one. Aligned columns are
//! not preserved. A part that does not parse stays unchanged. Formatting is idempotent, and the output of `fuser-opt`
//! is already formatted.

use fuser_ir::codes;
use fuser_ir::lex::{Tok, Token};
use serde_json::json;

use crate::index::Index;
use crate::server::{Answer, Query};
use crate::text::Text;

/// Spaces of a level.
const INDENT: usize = 2;

/// Mistakes after which the ends of statements are unknown.
const BROKEN: [&str; 4] = [
    codes::BAD_CHARACTER.code,
    codes::UNEXPECTED.code,
    codes::OPEN_REGION.code,
    codes::STRAY_BRACE.code,
];

/// Answers the request: one edit of the lines that change.
pub fn formatting(query: &Query<'_>) -> Answer {
    let text = &query.analysis.text;
    let mut formatted = String::new();
    let mut at = 0;
    for part in &query.analysis.parts {
        // The separator.
        formatted += text.part(at..part.range.start);
        let broken = part.found.iter().any(|d| BROKEN.contains(&d.code));
        let own = format(part.source(), part.index()).filter(|_| !broken);
        formatted += own.as_deref().unwrap_or(part.source());
        at = part.range.end;
    }
    Ok(edit(text, &formatted))
}

/// The edit that turns one text into another: whole lines.
fn edit(text: &Text, new: &str) -> serde_json::Value {
    let old = text.as_str();
    if old == new {
        return json!([]);
    }
    let (old_lines, new_lines) = (lines(old), lines(new));
    let pairs = old_lines.iter().zip(&new_lines);
    let before = pairs.take_while(|(a, b)| a == b).count();
    let rest = old_lines.len().min(new_lines.len()) - before;
    let pairs = old_lines.iter().rev().zip(new_lines.iter().rev());
    let after = pairs.take(rest).take_while(|(a, b)| a == b).count();
    let bytes = |lines: &[&str]| lines.iter().map(|l| l.len()).sum::<usize>();
    let range = bytes(&old_lines[..before])..bytes(&old_lines[..old_lines.len() - after]);
    let text_of = new_lines[before..new_lines.len() - after].concat();
    json!([{"range": text.range(range), "newText": text_of}])
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// The formatted text; `None` if its regions are not closed, or if a token would change.
pub fn format(source: &str, index: &Index) -> Option<String> {
    let faulty = index.tokens.iter().any(|t| t.kind == Tok::Error);
    if !index.balanced || faulty {
        return None;
    }
    let mut printer = Printer {
        source,
        index,
        out: String::new(),
        depth: 0,
        column: Column::Start,
        blank: false,
        parens: 0,
        label: false,
    };
    let mut at = 0;
    for token in 0..index.tokens.len() {
        let next = index.tokens[token].start as usize;
        printer.gap(source.get(at..next)?, Some(token));
        printer.token(token);
        at = index.tokens[token].end as usize;
    }
    printer.gap(source.get(at..)?, None);
    let mut text = printer.out.trim_end().to_owned();
    if !text.is_empty() {
        text.push('\n');
    }
    let crlf = source.split_inclusive('\n').next();
    if crlf.is_some_and(|line| line.ends_with("\r\n")) {
        text = text.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    Some(text)
}

/// The place in a line that is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    /// Its beginning.
    Start,
    /// Behind a token.
    Token,
    /// Behind a comment: nothing may follow.
    Comment,
}

struct Printer<'s> {
    source: &'s str,
    index: &'s Index,
    out: String,
    depth: usize,
    column: Column,
    /// True if a blank line comes before the next token.
    blank: bool,
    /// Parentheses that are open in the statement.
    parens: usize,
    /// True if the statement is a label.
    label: bool,
}

impl Printer<'_> {
    fn kind(&self, at: usize) -> Option<Tok> {
        self.index.tokens.get(at).map(|t| t.kind)
    }
    fn line_break(&mut self) {
        if self.column != Column::Start {
            self.out.push('\n');
            self.column = Column::Start;
        }
    }
    /// Begins a line at an indentation of `levels`, preceded by a blank line if the source had one.
    fn begin(&mut self, levels: usize) {
        self.line_break();
        if std::mem::take(&mut self.blank) && !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out.push_str(&" ".repeat(levels * INDENT));
    }
    /// Space and comments before a token, or at the end.
    fn gap(&mut self, gap: &str, next: Option<usize>) {
        let closes = next.and_then(|at| self.kind(at)) == Some(Tok::RegionClose);
        let first = next.is_none_or(|at| self.index.tokens[at].first);
        let mut breaks = 0;
        for (number, line) in gap.split('\n').enumerate() {
            breaks += usize::from(number > 0);
            self.blank |= breaks > 1 && (first || closes);
            let line = line.trim();
            if line.is_empty() {
                continue;
            }
            let own_line = number > 0 || self.out.is_empty();
            if own_line {
                let within = !(first || closes);
                self.begin(self.depth + 2 * usize::from(within));
            } else if self.column != Column::Start {
                self.out.push(' ');
            }
            self.out.push_str(line);
            self.column = Column::Comment;
            breaks = 0;
        }
        // A line break in a statement is kept.
        if breaks > 0 && !first && !closes && self.column == Column::Token {
            self.column = Column::Comment;
        }
        self.blank &= !closes && !self.out.ends_with('{');
    }
    fn token(&mut self, at: usize) {
        let token = self.index.tokens[at];
        let closes = token.kind == Tok::RegionClose;
        if token.first {
            (self.parens, self.label) = (0, token.kind == Tok::Label);
        }
        match token.kind {
            Tok::LParen | Tok::LocOpen => self.parens += 1,
            Tok::RParen => self.parens = self.parens.saturating_sub(1),
            _ => {}
        }
        if closes {
            self.label = false;
            self.depth = self.depth.saturating_sub(1);
        }
        if token.first || closes {
            self.begin(
                self.depth
                    .saturating_sub(usize::from(self.label && token.first)),
            );
        } else {
            match self.column {
                Column::Start if self.out.is_empty() => {}
                Column::Token if self.spaced(at) => self.out.push(' '),
                Column::Token => {}
                Column::Start | Column::Comment => self.begin(self.depth + 2),
            }
        }
        self.out.push_str(token.text(self.source));
        self.column = Column::Token;
        if token.kind == Tok::RegionOpen {
            self.depth += 1;
            self.blank = false;
        }
    }
    /// True if there is a space between a token and the one before it.
    fn spaced(&self, at: usize) -> bool {
        let tokens = &self.index.tokens;
        let (before, token): (Token, Token) = (tokens[at.saturating_sub(1)], tokens[at]);
        let written = before.end < token.start;
        match (before.kind, token.kind) {
            (_, Tok::Comma | Tok::RParen | Tok::RSquare | Tok::RBrace | Tok::Greater) => false,
            (Tok::LParen | Tok::LSquare | Tok::LBrace | Tok::LocOpen | Tok::TupleOpen, _) => false,
            (Tok::Comma, _) => true,
            (Tok::Equal | Tok::Arrow, _) | (_, Tok::Equal | Tok::Arrow) => true,
            (Tok::ColonColon, _) | (_, Tok::ColonColon) => false,
            (_, Tok::RegionOpen) => true,
            (Tok::DefId, Tok::Colon) => false,
            (Tok::ValueId, Tok::Colon) if self.parens > 0 => false,
            (_, Tok::Colon) if self.label && self.parens == 0 => false,
            (_, Tok::Colon) if self.parens == 0 => true,
            // `%r:2`, and lines and columns of locations.
            (Tok::Colon, Tok::Int) => false,
            (Tok::Colon, _) => true,
            (Tok::RegionClose, _) => true,
            _ => written,
        }
    }
}
