//! Places as programs read them: lines, columns and bytes of the original file, also for the chunks of a split one.

use std::ops::Range;
use std::sync::Arc;

use fuser_ir::Place;
use fuser_ir::source::SourceMap;

/// The texts of a run; a [`Place`] names one by its index.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Texts and lines.
    pub map: SourceMap,
    /// Bytes of the file before each text.
    bytes_before: Vec<usize>,
}

/// Lines and columns from one, columns in characters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spot {
    /// File name.
    pub file: String,
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
    /// Line of the end.
    pub end_line: u32,
    /// Column after the end.
    pub end_column: u32,
    /// Bytes of the file, where its text is at hand.
    pub bytes: Option<Range<usize>>,
}

impl Sources {
    /// Adds a text; returns its index.
    pub fn add(&mut self, name: &str, text: Arc<str>) -> u32 {
        self.add_chunk(name, text, 0, 0)
    }
    /// Adds a part of a file.
    pub fn add_chunk(&mut self, name: &str, text: Arc<str>, lines: usize, bytes: usize) -> u32 {
        self.bytes_before.push(bytes);
        self.map.add_part(name, text, lines as u32 + 1)
    }
    /// Where a place is.
    pub fn spot(&self, place: &Place) -> Option<Spot> {
        match place {
            Place::Unknown => None,
            Place::Line { file, line, column } => Some(Spot {
                file: file.clone(),
                line: *line,
                column: *column,
                end_line: *line,
                end_column: *column,
                bytes: None,
            }),
            Place::Span { file, span } => {
                let source = self.map.get(*file)?;
                let (start, end) = (span.start as usize, span.end as usize);
                let (line, column) = source.position(start);
                let (end_line, end_column) = source.position(end);
                let before = self.bytes_before.get(*file as usize).copied().unwrap_or(0);
                Some(Spot {
                    file: source.name().to_owned(),
                    line,
                    column,
                    end_line,
                    end_column,
                    bytes: Some(before + start..before + end),
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fuser_ir::span::Span;

    #[test]
    fn chunks_keep_the_lines_and_bytes_of_the_file() {
        let mut sources = Sources::default();
        let file = sources.add_chunk("f", "x\ny".into(), 10, 100);
        let span = Span::new(2, 3);
        let spot = sources.spot(&Place::Span { file, span }).unwrap();
        assert_eq!((spot.line, spot.column, spot.end_column), (12, 1, 2));
        assert_eq!(spot.bytes, Some(102..103));
    }
}
