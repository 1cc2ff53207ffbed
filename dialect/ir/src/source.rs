//! Source files by number, with lines and columns.
//!
//! Holds text that the caller read, and does not copy it; never touches files. Columns count characters, lines and
//! columns are one-based. Lines are counted when a place is asked for first.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use codespan_reporting::files::{Error, Files};

/// A file, or a part of one.
#[derive(Clone, Debug)]
pub struct SourceFile {
    name: String,
    text: Arc<String>,
    part: Range<usize>,
    first_line: u32,
    line_starts: OnceLock<Vec<usize>>,
}

impl SourceFile {
    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The text.
    pub fn text(&self) -> &str {
        self.text.get(self.part.clone()).unwrap_or("")
    }
    fn line_starts(&self) -> &[usize] {
        self.line_starts.get_or_init(|| {
            let ends = self.text().match_indices('\n');
            std::iter::once(0)
                .chain(ends.map(|(at, _)| at + 1))
                .collect()
        })
    }
    /// The number of the first line.
    pub fn first_line(&self) -> u32 {
        self.first_line
    }
    /// Line and column of a byte.
    pub fn position(&self, byte: usize) -> (u32, u32) {
        let line = self.line_index(byte);
        let start = self.line_starts()[line];
        let before = self.text().get(start..byte).unwrap_or("");
        let number = self.first_line.saturating_add(line as u32);
        (number, before.chars().count() as u32 + 1)
    }
    /// The byte of a line and column; `None` if the file has no such line.
    pub fn offset(&self, line: u32, column: u32) -> Option<usize> {
        let range = self.line(line.checked_sub(self.first_line)? as usize)?;
        let text = self.text().get(range.clone())?;
        let skipped = text.chars().take(column.saturating_sub(1) as usize);
        let bytes: usize = skipped.map(char::len_utf8).sum();
        Some(range.start + bytes.min(text.trim_end_matches(['\n', '\r']).len()))
    }
    fn line_index(&self, byte: usize) -> usize {
        let after = self.line_starts().partition_point(|start| *start <= byte);
        after.saturating_sub(1)
    }
    fn line(&self, index: usize) -> Option<Range<usize>> {
        let starts = self.line_starts();
        let start = *starts.get(index)?;
        let next = starts.get(index + 1);
        Some(start..next.copied().unwrap_or(self.part.len()))
    }
}

/// The source files of a run.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// Adds a file and gives its number.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> u32 {
        let text = Arc::new(text.into());
        let part = 0..text.len();
        self.add_part(name, text, part, 1)
    }
    /// Adds a part of a file that begins at line `first_line`.
    pub fn add_part(
        &mut self,
        name: impl Into<String>,
        text: Arc<String>,
        part: Range<usize>,
        first_line: u32,
    ) -> u32 {
        self.files.push(SourceFile {
            name: name.into(),
            text,
            part,
            first_line,
            line_starts: OnceLock::new(),
        });
        self.files.len() as u32 - 1
    }
    /// A file.
    pub fn get(&self, file: u32) -> Option<&SourceFile> {
        self.files.get(file as usize)
    }
    /// The number of the file called `name` that has line `line`.
    pub fn find(&self, name: &str, line: u32) -> Option<u32> {
        let has = |f: &SourceFile| {
            let index = line.checked_sub(f.first_line);
            f.name == name && index.is_some_and(|i| (i as usize) < f.line_starts().len())
        };
        self.files.iter().position(has).map(|index| index as u32)
    }
}

impl<'a> Files<'a> for SourceMap {
    type FileId = u32;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, id: u32) -> Result<&'a str, Error> {
        self.get(id).map(SourceFile::name).ok_or(Error::FileMissing)
    }
    fn source(&'a self, id: u32) -> Result<&'a str, Error> {
        self.get(id).map(SourceFile::text).ok_or(Error::FileMissing)
    }
    fn line_index(&'a self, id: u32, byte: usize) -> Result<usize, Error> {
        let file = self.get(id).ok_or(Error::FileMissing)?;
        Ok(file.line_index(byte))
    }
    fn line_number(&'a self, id: u32, index: usize) -> Result<usize, Error> {
        let file = self.get(id).ok_or(Error::FileMissing)?;
        Ok(file.first_line as usize + index)
    }
    fn line_range(&'a self, id: u32, index: usize) -> Result<Range<usize>, Error> {
        let file = self.get(id).ok_or(Error::FileMissing)?;
        file.line(index).ok_or(Error::LineTooLarge {
            given: index,
            max: file.line_starts().len() - 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters() {
        let mut map = SourceMap::default();
        let text = Arc::new("x\naé\nbc".to_owned());
        let part = 2..text.len();
        let id = map.add_part("a.fir", text, part, 7);
        let file = map.get(id).unwrap();
        assert_eq!(file.position(0), (7, 1));
        assert_eq!(file.position(3), (7, 3));
        assert_eq!(file.position(5), (8, 2));
        assert_eq!(file.position(99), (8, 1));
        assert_eq!(file.offset(8, 2), Some(5));
        assert_eq!(file.offset(7, 99), Some(3));
        assert_eq!(file.offset(9, 1), None);
        assert_eq!(map.find("a.fir", 8), Some(0));
        assert_eq!(map.find("a.fir", 6), None);
    }
}
