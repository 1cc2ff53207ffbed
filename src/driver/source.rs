//! Locations for programs: lines, columns and bytes of the original file, also for the chunks of a split file.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use fuser_ir::Place;
use fuser_ir::def::Registry;
use fuser_ir::limits::Limits;
use fuser_ir::parse::symbols::{SymbolSpan, symbols};
use fuser_ir::source::SourceMap;

use super::split::Chunk;

/// The texts of a run; a [`Place`] names one by its index.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Texts and lines.
    pub map: SourceMap,
    /// Bytes of the file before each text.
    bytes_before: Vec<usize>,
}

/// The functions of texts, found when they are first asked for.
#[derive(Debug)]
pub struct Functions {
    registry: Arc<Registry>,
    known: BTreeMap<u32, Vec<SymbolSpan>>,
}

impl Functions {
    /// Nothing is known yet.
    pub fn new(registry: Arc<Registry>) -> Self {
        Self {
            registry,
            known: BTreeMap::new(),
        }
    }
    /// The symbol of the program or kernel around a location: the outermost op with a symbol, other than modules.
    pub fn around(&mut self, sources: &Sources, place: &Place) -> Option<String> {
        let Place::Span { file, span } = place else {
            return None;
        };
        let text = sources.map.get(*file)?.text();
        let list = self.known.entry(*file).or_insert_with(|| {
            let found = symbols(text, &self.registry, &Limits::default()).into_iter();
            found
                .filter(|s| s.op != "module" && s.op != "builtin.module")
                .collect()
        });
        let inside = list.iter().rev();
        let mut inside = inside.filter(|s| s.span.start <= span.start && span.start <= s.span.end);
        inside.next().map(|s| s.name.clone())
    }
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
    pub fn add(&mut self, name: &str, text: impl Into<String>) -> u32 {
        self.bytes_before.push(0);
        self.map.add(name, text)
    }
    /// Adds a part of the file `text`.
    pub fn add_chunk(&mut self, name: &str, text: &Arc<String>, chunk: Chunk<'_>) -> u32 {
        let bytes = chunk.bytes_before;
        self.bytes_before.push(bytes);
        let part = bytes..bytes + chunk.text.len();
        let line = chunk.lines_before as u32 + 1;
        self.map.add_part(name, text.clone(), part, line)
    }
    /// The file, line and column of a place.
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
        let text = Arc::new(" ".repeat(100) + "x\ny");
        let chunk = Chunk {
            text: &text[100..],
            lines_before: 10,
            bytes_before: 100,
        };
        let file = sources.add_chunk("f", &text, chunk);
        let span = Span::new(2, 3);
        let spot = sources.spot(&Place::Span { file, span }).unwrap();
        assert_eq!((spot.line, spot.column, spot.end_column), (12, 1, 2));
        assert_eq!(spot.bytes, Some(102..103));
    }
}
