//! The boolean expressions of `REQUIRES:`, `UNSUPPORTED:` and `XFAIL:`.
//!
//! ```text
//! or  := and ("||" and)*        and := not ("&&" not)*        not := "!" not | "(" or ")" | name
//! ```
//!
//! A name is true where it is a feature of the machine, or the word `true`. The same grammar as in stock lit, without its
//! `{{regex}}` names: those are refused.

use crate::features::Features;

/// The value of `text`, or what is wrong with it.
pub fn evaluate(text: &str, features: &Features) -> Result<bool, String> {
    let tokens = tokenize(text)?;
    let mut parser = Parser {
        tokens: &tokens,
        features,
    };
    let value = parser.or()?;
    match parser.tokens.first() {
        None => Ok(value),
        Some(token) => Err(format!("unexpected `{token}` in `{text}`")),
    }
}

fn tokenize(text: &str) -> Result<Vec<&str>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let length = token_length(rest);
        if length == 0 {
            return Err(format!("cannot read `{rest}` in `{text}`"));
        }
        let (token, tail) = rest.split_at(length);
        tokens.push(token);
        rest = tail.trim_start();
    }
    Ok(tokens)
}

fn token_length(text: &str) -> usize {
    if text.starts_with("&&") || text.starts_with("||") {
        return 2;
    }
    if text.starts_with(['!', '(', ')']) {
        return 1;
    }
    text.find(|c: char| !is_name(c)).unwrap_or(text.len())
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-+=._".contains(c)
}

struct Parser<'a> {
    tokens: &'a [&'a str],
    features: &'a Features,
}

impl Parser<'_> {
    fn or(&mut self) -> Result<bool, String> {
        let mut value = self.and()?;
        while self.accept("||") {
            value |= self.and()?;
        }
        Ok(value)
    }

    fn and(&mut self) -> Result<bool, String> {
        let mut value = self.not()?;
        while self.accept("&&") {
            value &= self.not()?;
        }
        Ok(value)
    }

    fn not(&mut self) -> Result<bool, String> {
        if self.accept("!") {
            return Ok(!self.not()?);
        }
        if self.accept("(") {
            let value = self.or()?;
            return match self.accept(")") {
                true => Ok(value),
                false => Err("a `(` without its `)`".to_owned()),
            };
        }
        self.name()
    }

    fn name(&mut self) -> Result<bool, String> {
        match self.tokens.split_first() {
            Some((name, rest)) if name.starts_with(is_name) => {
                self.tokens = rest;
                Ok(*name == "true" || self.features.has(name))
            }
            Some((token, _)) => Err(format!("expected a feature, found `{token}`")),
            None => Err("expected a feature, found the end of the line".to_owned()),
        }
    }

    fn accept(&mut self, token: &str) -> bool {
        match self.tokens.split_first() {
            Some((first, rest)) if *first == token => {
                self.tokens = rest;
                true
            }
            _ => false,
        }
    }
}
