//! Splits a file at its marker lines into chunks, which are compiled independently.
//!
//! A marker is a line that starts with the marker text, after white space; the rest of the line belongs to the marker.

/// A part of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chunk<'a> {
    /// Its text.
    pub text: &'a str,
    /// Lines of the file before it.
    pub lines_before: usize,
    /// Bytes of the file before it.
    pub bytes_before: usize,
}

/// The chunks of `text`; the whole text if there is no marker.
pub fn split<'a>(text: &'a str, marker: Option<&str>) -> Vec<Chunk<'a>> {
    let marker = marker.filter(|m| !m.is_empty());
    let mut chunks = Vec::new();
    let (mut start, mut start_line) = (0, 0);
    let mut at = 0;
    let lines = marker.map_or("", |_| text).split_inclusive('\n');
    for (line, content) in lines.enumerate() {
        let end = at + content.len();
        if marker.is_some_and(|m| content.trim_start().starts_with(m)) {
            chunks.push(Chunk {
                text: &text[start..at],
                lines_before: start_line,
                bytes_before: start,
            });
            (start, start_line) = (end, line + 1);
        }
        at = end;
    }
    chunks.push(Chunk {
        text: &text[start..],
        lines_before: start_line,
        bytes_before: start,
    });
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_the_file() {
        let chunks = split("a\nb\n  // ----- x\nc\n// -----\n", Some("// -----"));
        let seen: Vec<_> = chunks
            .iter()
            .map(|c| (c.text, c.lines_before, c.bytes_before))
            .collect();
        assert_eq!(seen, [("a\nb\n", 0, 0), ("c\n", 3, 17), ("", 5, 28)]);
        assert_eq!(split("a\n// -----\n", None).len(), 1);
        assert_eq!(split("", Some("// -----")).len(), 1);
    }
}
