//! No file holds the leftovers of an undecided merge.

use crate::{Violation, assert_none, files};

/// The first characters of such a line: seven of one character. The line of seven `=` between the two sides stays out,
/// as it may underline a heading.
const MARKS: [char; 3] = ['<', '>', '|'];

#[test]
fn no_leftovers_of_merges() {
    let broken = |file: &String| leftovers(file, &files::read(file));
    let violations: Vec<Violation> = files::texts().iter().flat_map(broken).collect();
    assert_none(&violations);
}

fn leftovers(file: &str, text: &str) -> Vec<Violation> {
    let left = |line: &str| {
        let mark = |mark: &char| line.starts_with(&mark.to_string().repeat(7));
        MARKS.iter().any(mark)
    };
    let lines = text.lines().zip(1..);
    let found = lines.filter(|(line, _)| left(line));
    let violation = |(_, number)| Violation::new(file, number, "a leftover of a merge");
    found.map(violation).collect()
}

#[test]
fn leftovers_of_a_merge_are_seen() {
    let side = |mark: &str| mark.repeat(7);
    let text = format!("{} HEAD\na\n{}\nb\n{} x", side("<"), side("="), side(">"));
    let lines: Vec<usize> = leftovers("x.md", &text).iter().map(|v| v.line).collect();
    assert_eq!(lines, [1, 5]);
}
