//! Comparison of two programs: finds the first line in which they differ.

use crate::ir::{Ir, Op};
use crate::print::{PrintOptions, print};

/// The first place where two programs differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Line of the canonical text, one-based.
    pub line: usize,
    /// The line of the first program; empty past its end.
    pub left: String,
    /// The line of the second program; empty past its end.
    pub right: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { line, left, right } = self;
        write!(f, "line {line}:\n- {left}\n+ {right}")
    }
}

/// The first difference between `left` and `right`; `None` if they are the same program.
pub fn difference(left: (&Ir, Op), right: (&Ir, Op)) -> Option<Difference> {
    let text = |(ir, op)| print(ir, op, &PrintOptions::canonical());
    first_difference(&text(left), &text(right))
}

/// The first line in which two texts differ.
pub fn first_difference(left: &str, right: &str) -> Option<Difference> {
    if left == right {
        return None;
    }
    let (mut a, mut b) = (left.lines(), right.lines());
    let mut line = 1;
    loop {
        match (a.next(), b.next()) {
            (Some(x), Some(y)) if x == y => line += 1,
            (x, y) => {
                return Some(Difference {
                    line,
                    left: x.unwrap_or_default().to_owned(),
                    right: y.unwrap_or_default().to_owned(),
                });
            }
        }
    }
}
