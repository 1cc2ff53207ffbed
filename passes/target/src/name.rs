//! The name of a target: a short word, stored inline so that a target is plain data.

use std::fmt;

/// Most bytes of a name.
const MOST: usize = 32;

/// A name: letters, digits and `_ . : -`, at most 32 of them and at least one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Name {
    bytes: [u8; MOST],
    length: u8,
}

impl Name {
    /// `text` as a name; `None` if it is not valid.
    pub const fn new(text: &str) -> Option<Name> {
        let from = text.as_bytes();
        if from.is_empty() || from.len() > MOST {
            return None;
        }
        let mut bytes = [0; MOST];
        let mut at = 0;
        while at < from.len() {
            let byte = from[at];
            if !byte.is_ascii_alphanumeric() && !matches!(byte, b'_' | b'.' | b':' | b'-') {
                return None;
            }
            bytes[at] = byte;
            at += 1;
        }
        let length = from.len() as u8;
        Some(Name { bytes, length })
    }
    /// The text.
    pub fn as_str(&self) -> &str {
        // Names contain only ASCII.
        std::str::from_utf8(&self.bytes[..usize::from(self.length)]).unwrap_or_default()
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_words() {
        assert_eq!(Name::new("cuda:sm_90").unwrap().as_str(), "cuda:sm_90");
        for wrong in ["", "a b", "\u{e9}", "x\"", "a;b", &"x".repeat(33)] {
            assert!(Name::new(wrong).is_none(), "{wrong}");
        }
    }
}
