//! Lines and columns of places in a text.
//!
//! Nothing is counted before a position is asked for. Ascending positions, as those of statements, cost the text
//! between them. A position before the last one costs at most a block, since line and column are stored for the start
//! of each block of bytes. So neither a long line nor a file of many lines makes a position expensive, and a text takes
//! two words for each block.

/// Bytes between two kept positions.
const BLOCK: usize = 4096;

/// A position, counted from the start of the text. Lines and columns count from 0; columns count characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Position {
    at: usize,
    line: u32,
    column: u32,
}

/// Lines and columns of a text.
pub struct Lines<'i> {
    source: &'i str,
    first: u32,
    /// The start of each block up to the furthest position asked for.
    blocks: Vec<(u32, u32)>,
    last: Position,
}

impl<'i> Lines<'i> {
    /// Lines of `source`, whose first has the number `first`.
    pub fn new(source: &'i str, first: u32) -> Self {
        Self {
            source,
            first,
            blocks: vec![(0, 0)],
            last: Position::default(),
        }
    }
    /// Line and column, one-based; columns count characters.
    pub fn position(&mut self, at: u32) -> (u32, u32) {
        let at = self.boundary((at as usize).min(self.source.len()));
        let block = at / BLOCK;
        let mut from = self.last;
        if at < from.at || from.at / BLOCK < block {
            from = self.block(block);
        }
        self.last = self.count(from, at);
        let line = self.first.saturating_add(self.last.line);
        (line, self.last.column + 1)
    }
    /// The start of a block.
    fn block(&mut self, block: usize) -> Position {
        while self.blocks.len() <= block {
            let from = self.kept(self.blocks.len() - 1);
            let next = self.count(from, self.boundary(self.blocks.len() * BLOCK));
            self.blocks.push((next.line, next.column));
        }
        self.kept(block)
    }
    fn kept(&self, block: usize) -> Position {
        let (line, column) = self.blocks[block];
        let at = self.boundary(block * BLOCK);
        Position { at, line, column }
    }
    /// The start of the character that byte `at` belongs to.
    fn boundary(&self, at: usize) -> usize {
        let within = at.saturating_sub(3)..=at;
        let start = within.rev().find(|at| self.source.is_char_boundary(*at));
        start.unwrap_or(at)
    }
    fn count(&self, from: Position, to: usize) -> Position {
        let Position {
            mut at,
            mut line,
            mut column,
        } = from;
        let mut between = self.source.get(at..to).unwrap_or("");
        while let Some(newline) = between.find('\n') {
            between = &between[newline + 1..];
            (line, column) = (line + 1, 0);
        }
        column += between.chars().count() as u32;
        at = to;
        Position { at, line, column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_any_order_are_those_counted_from_the_start() {
        let text = format!(
            "a\n\u{e4}b{}\n\n{}end",
            "x\u{20ac}".repeat(3_000),
            "lines\n".repeat(2_000)
        );
        let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        let expected = |at: usize| {
            let before = &text[..at];
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
            (line as u32, column as u32)
        };
        let mut lines = Lines::new(&text, 1);
        let mut next = 7;
        for round in 0..600 {
            // Forwards, then all over the text.
            let index = if round < 300 {
                round * starts.len() / 300
            } else {
                next % starts.len()
            };
            next = (next * 48_271) % 2_147_483_647;
            let at = starts[index];
            assert_eq!(lines.position(at as u32), expected(at), "byte {at}");
        }
        assert_eq!(Lines::new("", 5).position(9), (5, 1));
    }
}
