//! Rule on the first sentence of headers and doc comments: it is a definition, subject first.
//!
//! "A group is ...", "True if ..." or "Returns ..." are definitions, "What a group is" and "Whether ..." are not.

use crate::source::{self, Line};
use crate::{Violation, assert_none, files};

/// Words that turn a definition into a question.
const QUESTIONS: [&str; 13] = [
    "What", "Whatever", "When", "Whenever", "Where", "Wherever", "Whether", "Which", "Who",
    "Whoever", "Whose", "Why", "How",
];

/// A line of a doc comment: its marker and its text.
fn doc(line: &Line) -> Option<(&str, &str)> {
    let (marker, text) = line.comment.split_at_checked(3)?;
    let is_doc = matches!(marker, "//!" | "///") && !text.starts_with('/');
    is_doc.then(|| (marker, text.trim()))
}

/// The lines of `lines` on which a doc comment of this marker begins with a question.
fn questions(lines: &[Line], marker: &str) -> Vec<usize> {
    let before = std::iter::once(None).chain(lines.iter().map(Some));
    let begins = |(before, line): (Option<&Line>, &Line)| {
        let (own, text) = doc(line)?;
        let above = before.and_then(doc).map(|(above, _)| above);
        let word = text.split(|c: char| !c.is_alphanumeric()).next()?;
        (own == marker && above != Some(own) && QUESTIONS.contains(&word)).then_some(line.number)
    };
    before.zip(lines).filter_map(begins).collect()
}

/// The doc comments of all files that begin with a question.
fn found(marker: &str) -> Vec<Violation> {
    let sources = files::with_extension(&["rs"]);
    let broken = |file: &String| {
        let lines = questions(&source::lines(&files::read(file)), marker);
        let violation = |line| Violation::new(file, line, "the comment begins with a question");
        lines.into_iter().map(violation).collect::<Vec<_>>()
    };
    sources.iter().flat_map(broken).collect()
}

#[test]
fn headers_begin_with_a_definition() {
    assert_none(&found("//!"));
}

#[test]
fn doc_comments_begin_with_a_definition() {
    assert_none(&found("///"));
}

#[test]
fn questions_are_seen() {
    let text = concat!(
        "//! What a file is.\n",
        "//! Where it goes on is free.\n",
        "/// Whether it holds.\n",
        "/// How it goes on is free.\n",
        "fn f() {}\n",
        "    /// Why not.\n",
        "fn g() {}\n",
        "/// Whereas this is a sentence.\n",
        "//// Which is a rule, not a doc comment.\n",
        "/// `What` is a name.\n",
        "let s = \"/// What a string holds.\";\n",
    );
    let lines = source::lines(text);
    assert_eq!(questions(&lines, "//!"), [1]);
    assert_eq!(questions(&lines, "///"), [3, 6]);
}
