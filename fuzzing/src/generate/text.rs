//! Text for the parser: bytes, soups of tokens, and valid programs in which tokens were changed.
//!
//! Tokens come from the op tables (names, clauses, keywords, element types) and from the grammar's punctuation, so that
//! a new op is in the soup as soon as it is declared. A changed program is mostly right, which takes it past the first
//! error.

use fuser_ir::DType;
use fuser_ir::def::ClauseKind;
use fuser_ir::print::{PrintOptions, print};

use super::Case;
use crate::Source;

/// The most bytes of random ones, and the most tokens of a soup.
const MOST: u64 = 400;
/// The most changes of a program.
const CHANGES: u64 = 6;

/// The tokens of the grammar other than names.
const PUNCTUATION: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    ",",
    ":",
    "=",
    "->",
    "\n",
    "({",
    "})",
    "//",
    "-",
    "?",
    "x",
    "b",
    "@f",
    "@g",
    "%x",
    "%0",
    "%1",
    "%y:2",
    "%y#1",
    "^bb0",
    "^bb0(%a: f32):",
    "#a",
    "!t",
    "#a = 1",
    "\"",
    "\"a\\n\"",
    "\"fusion.add\"",
    "loc(\"a\":1:2)",
    "loc(unknown)",
    "0",
    "1",
    "-1",
    "9223372036854775808",
    "1.5e400",
    "0x7fc00000",
    "true",
    "unit",
    "dense<[1, 2]>",
    "tensor<4xf32>",
    "tensor<[B]x?xb8xbf16>",
    "tensor<[2*B+1]xf32>",
    "vector<4xf32>",
    "memref<?xf32>",
    "(f32) -> f32",
    "module",
    "attributes",
    "é",
    "\0",
    "\t",
];

/// Words of the tables.
pub fn words() -> Vec<&'static str> {
    let mut words: Vec<&'static str> = PUNCTUATION.to_vec();
    words.extend(DType::ALL.into_iter().map(DType::name));
    for dialect in fuser_dialects::registry().dialects() {
        for def in dialect.ops {
            words.push(def.name);
            for clause in def.clauses {
                words.push(clause.name);
                if let ClauseKind::Keyword(list) = clause.kind {
                    words.extend(list);
                }
            }
        }
    }
    words
}

/// Any bytes that are text, control characters and broken quotes included.
pub fn bytes(source: &mut Source) -> String {
    let length = source.below(MOST);
    let bytes: Vec<u8> = (0..length).map(|_| source.below(256) as u8).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Tokens in any order.
pub fn soup(source: &mut Source, words: &[&str]) -> String {
    let mut text = String::new();
    for _ in 0..source.below(MOST) {
        text += source.one(words);
        text += source.one(&[" ", " ", "\n", ""]);
    }
    text
}

/// A program with some tokens changed.
pub fn changed(case: &Case, source: &mut Source, words: &[&str]) -> String {
    let options = PrintOptions {
        generic: source.chance(1, 3),
        types: source.chance(2, 3),
        ..PrintOptions::default()
    };
    let text = print(&case.ir, case.module, &options);
    let mut tokens = tokens(&text);
    for _ in 0..1 + source.below(CHANGES) {
        let at = source.index(tokens.len());
        match source.below(5) {
            0 => drop(tokens.splice(at..(at + 1).min(tokens.len()), [])),
            1 => tokens.insert(at, source.one(words)),
            2 if at < tokens.len() => tokens[at] = source.one(words),
            3 if at < tokens.len() => tokens.insert(at, tokens[at]),
            _ if at < tokens.len() => {
                let other = source.index(tokens.len());
                tokens.swap(at, other);
            }
            _ => {}
        }
    }
    tokens.concat()
}

/// Runs of letters and digits, and single characters.
fn tokens(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '%' | '@');
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match is_word(first) {
            true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after;
    }
    tokens
}
