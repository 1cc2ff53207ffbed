//! Search for the position of a field in a JSON text.
//!
//! Works on text that has been parsed before, left to right, without recursion; in other text it finds nothing.

use std::ops::Range;

/// One step towards a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step<'a> {
    /// Into an object.
    Key(&'a str),
    /// Into an array.
    At(usize),
}

impl<'a> From<&'a str> for Step<'a> {
    fn from(key: &'a str) -> Self {
        Self::Key(key)
    }
}

impl From<usize> for Step<'_> {
    fn from(position: usize) -> Self {
        Self::At(position)
    }
}

/// The bytes of the value at `path`: for an object or array, its opening bracket. If part of the path is missing, the
/// last existing value.
pub fn find(text: &str, path: &[Step<'_>]) -> Range<usize> {
    let scan = Scan(text.as_bytes());
    let mut at = scan.blank(0);
    for step in path {
        match scan.inside(at, *step) {
            Some(next) => at = next,
            None => break,
        }
    }
    at = at.min(text.len());
    let end = match text.as_bytes().get(at) {
        Some(b'{' | b'[') => at + 1,
        _ => scan.value(at),
    };
    at..end
}

struct Scan<'a>(&'a [u8]);

impl Scan<'_> {
    fn is(&self, at: usize, byte: u8) -> bool {
        self.0.get(at) == Some(&byte)
    }
    fn blank(&self, mut at: usize) -> usize {
        while self.0.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        at
    }
    /// Behind the string that begins at `at`.
    fn string(&self, mut at: usize) -> usize {
        at += 1;
        while at < self.0.len() && !self.is(at, b'"') {
            at += 1 + usize::from(self.is(at, b'\\'));
        }
        (at + 1).min(self.0.len())
    }
    /// Behind the value that begins at `at`.
    fn value(&self, mut at: usize) -> usize {
        let mut depth = 0usize;
        while let Some(byte) = self.0.get(at) {
            match byte {
                b'"' => at = self.string(at),
                b'{' | b'[' => (depth, at) = (depth + 1, at + 1),
                b'}' | b']' if depth > 0 => (depth, at) = (depth - 1, at + 1),
                b'}' | b']' | b',' if depth == 0 => break,
                byte if depth == 0 && byte.is_ascii_whitespace() => break,
                _ => {
                    at += 1;
                    continue;
                }
            }
            if depth == 0 {
                break;
            }
        }
        at
    }
    /// The position of the value reached by `step` from the value at `at`.
    fn inside(&self, at: usize, step: Step<'_>) -> Option<usize> {
        let open = if let Step::Key(_) = step { b'{' } else { b'[' };
        if !self.is(at, open) {
            return None;
        }
        let mut at = self.blank(at + 1);
        for position in 0.. {
            let found = match step {
                Step::At(wanted) => position == wanted && !self.is(at, b']'),
                Step::Key(wanted) => {
                    let end = self.string(at);
                    let key = self.0.get(at + 1..end.saturating_sub(1));
                    at = self.blank(self.blank(end) + 1);
                    key == Some(wanted.as_bytes())
                }
            };
            if found {
                return Some(at);
            }
            at = self.blank(self.value(at));
            if !self.is(at, b',') {
                return None;
            }
            at = self.blank(at + 1);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found() {
        let text =
            r#" {"a": [1, {"b\"": "x,}", "c" : -2.5e3}, [], "d"], "e": null, "f": [[3], {}]}"#;
        let cases: [(&[Step], &str); 11] = [
            (&["a".into(), 0.into()], "1"),
            (&["a".into(), 1.into(), "b\\\"".into()], "\"x,}\""),
            (&["a".into(), 1.into(), "c".into()], "-2.5e3"),
            (&["a".into(), 2.into()], "["),
            (&["a".into(), 3.into()], "\"d\""),
            (&["e".into()], "null"),
            (&["f".into(), 0.into(), 0.into()], "3"),
            (&["f".into(), 1.into(), "g".into()], "{"),
            (&["f".into(), 2.into()], "["),
            (&["none".into()], "{"),
            (&[], "{"),
        ];
        for (path, expected) in cases {
            assert_eq!(&text[find(text, path)], expected, "{path:?}");
        }
    }
    #[test]
    fn any_text_has_an_answer() {
        let text = r#"{"a": ["\u00e4", {"b": [1, 2]}], "c": "d"}"#;
        let path = ["a".into(), 1.into(), "b".into(), 1.into()];
        for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
            let found = find(&text[..end], &path);
            assert!(found.start <= found.end && found.end <= end);
        }
    }
}
