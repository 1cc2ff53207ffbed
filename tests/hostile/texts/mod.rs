//! The hostile texts: each a name and a function that makes about so many bytes of it. [`structure`] has those that are
//! about brackets and aliases, [`content`] all others.

mod content;
mod structure;

/// A kind of text.
pub struct Kind {
    pub name: &'static str,
    /// Makes a text of about so many bytes.
    pub make: fn(usize) -> Vec<u8>,
}

const fn kind(name: &'static str, make: fn(usize) -> Vec<u8>) -> Kind {
    Kind { name, make }
}

/// `unit` again and again.
fn repeat(unit: &str, bytes: usize) -> Vec<u8> {
    unit.repeat(bytes / unit.len() + 1).into_bytes()
}

/// `before`, `unit` again and again, `after`.
fn between(before: &str, unit: &str, after: &str, bytes: usize) -> Vec<u8> {
    let middle = unit.repeat(bytes / unit.len() + 1);
    format!("{before}{middle}{after}").into_bytes()
}

/// `open`, `inner` and `close`, the outer two as often as it takes.
fn nested(
    before: &str,
    open: &str,
    inner: &str,
    close: &str,
    after: &str,
    bytes: usize,
) -> Vec<u8> {
    let count = bytes / (open.len() + close.len()) + 1;
    let (open, close) = (open.repeat(count), close.repeat(count));
    format!("{before}{open}{inner}{close}{after}").into_bytes()
}

/// Lines made of their numbers, between two others.
fn lines(before: &str, line: fn(usize) -> String, after: &str, bytes: usize) -> Vec<u8> {
    let mut text = before.to_owned();
    let mut number = 0;
    while text.len() < bytes {
        text += &line(number);
        number += 1;
    }
    text += after;
    text.into_bytes()
}

/// A program around lines.
fn program(line: fn(usize) -> String, bytes: usize) -> Vec<u8> {
    let head = "task.program @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {\n";
    lines(head, line, "  task.return %x\n}\n", bytes)
}

/// All kinds.
pub fn kinds() -> impl Iterator<Item = &'static Kind> {
    structure::KINDS.iter().chain(content::KINDS)
}
