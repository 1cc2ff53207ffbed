//! The text of a document, and positions as the protocol counts them: lines, and UTF-16 units in a line.
//!
//! A line ends at `\n`, `\r\n` or a lone `\r`. Positions behind the end of a line or of the text count as that end,
//! and one inside a character as the character's beginning, so every position is a place.

use std::ops::Range;

use serde_json::{Value, json};

/// A line and a UTF-16 unit in it, both from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The unit.
    pub character: u32,
}

impl Position {
    /// The position in the protocol's form.
    pub fn json(self) -> Value {
        json!({"line": self.line, "character": self.character})
    }
}

/// A text with the beginnings of its lines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Text {
    text: String,
    starts: Vec<usize>,
}

impl Text {
    /// The text of these bytes.
    pub fn new(text: String) -> Self {
        let starts = starts(&text);
        Self { text, starts }
    }
    /// The characters.
    pub fn as_str(&self) -> &str {
        &self.text
    }
    /// The part at `range`; nothing where there is none.
    pub fn part(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or("")
    }
    /// The number of lines; a text that ends with a line break has an empty one last.
    pub fn lines(&self) -> usize {
        self.starts.len()
    }
    /// The bytes of a line without its end.
    pub fn line(&self, line: usize) -> Range<usize> {
        let start = self.starts.get(line).copied().unwrap_or(self.text.len());
        let next = self.starts.get(line + 1).copied();
        let end = next.unwrap_or(self.text.len());
        let text = self.part(start..end);
        start..start + text.trim_end_matches(['\n', '\r']).len()
    }
    /// The line of a byte.
    pub fn line_of(&self, byte: usize) -> usize {
        self.starts
            .partition_point(|start| *start <= byte)
            .saturating_sub(1)
    }
    /// The position of a byte.
    pub fn position(&self, byte: usize) -> Position {
        let byte = byte.min(self.text.len());
        let line = self.line_of(byte);
        let before = self.text.as_bytes().get(self.starts[line]..byte);
        Position {
            line: line as u32,
            character: units(before.unwrap_or(&[])),
        }
    }
    /// The byte at a position.
    pub fn offset(&self, position: Position) -> usize {
        let line = position.line as usize;
        if line >= self.starts.len() {
            return self.text.len();
        }
        let range = self.line(line);
        let mut left = position.character as usize;
        let mut at = range.start;
        for c in self.part(range).chars() {
            if left < c.len_utf16() {
                break;
            }
            left -= c.len_utf16();
            at += c.len_utf8();
        }
        at
    }
    /// The protocol's form of a range of bytes.
    pub fn range(&self, range: Range<usize>) -> Value {
        let (start, end) = (self.position(range.start), self.position(range.end));
        json!({"start": start.json(), "end": end.json()})
    }
    /// Replaces the text between two positions, which may be in either order.
    pub fn replace(&mut self, from: Position, to: Position, text: &str) {
        let (from, to) = (self.offset(from), self.offset(to));
        self.text.replace_range(from.min(to)..from.max(to), text);
        self.starts = starts(&self.text);
    }
}

/// The UTF-16 units of UTF-8 bytes: one for each character, and one more for each of four bytes.
fn units(bytes: &[u8]) -> u32 {
    let unit = |&b: &u8| u32::from(b & 0xC0 != 0x80) + u32::from(b >= 0xF0);
    bytes.iter().map(unit).sum()
}

fn starts(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut starts = vec![0];
    for (at, &byte) in bytes.iter().enumerate() {
        let lone = byte == b'\r' && bytes.get(at + 1) != Some(&b'\n');
        if byte == b'\n' || lone {
            starts.push(at + 1);
        }
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn positions_count_units_of_utf_16() {
        let text = Text::new("aé𝄞b\r\nc\rd\n".to_owned());
        let places = [
            (0, at(0, 0)),
            (1, at(0, 1)),
            (3, at(0, 2)),
            (7, at(0, 4)),
            (8, at(0, 5)),
            (10, at(1, 0)),
            (12, at(2, 0)),
            (14, at(3, 0)),
        ];
        for (byte, position) in places {
            assert_eq!(text.position(byte), position);
            assert_eq!(text.offset(position), byte);
        }
        assert_eq!(text.lines(), 4);
        // Inside of a pair, behind the end of a line, behind the end of the text.
        assert_eq!(text.offset(at(0, 3)), 3);
        assert_eq!(text.offset(at(0, 99)), 8);
        assert_eq!(text.offset(at(9, 9)), 14);
        assert_eq!(text.position(99), at(3, 0));
    }
    #[test]
    fn parts_are_replaced() {
        let mut text = Text::new("a\nbc\n".to_owned());
        text.replace(at(1, 1), at(0, 1), "𝄞\n");
        assert_eq!(text, Text::new("a𝄞\nc\n".to_owned()));
    }
}
