//! The header of a `.npy` file: a Python dictionary of three entries, in the form that NumPy writes.
//!
//! ```text
//! {'descr': '<f4', 'fortran_order': False, 'shape': (56, 1024), }
//! ```
//!
//! The parser accepts these keys in any order, strings in either quote without escapes, `True` and `False`, and tuples
//! of non-negative integers. Anything else is an error with its position. Structured types are not supported.

use std::fmt;

/// The first bytes of every `.npy` file.
pub const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// NumPy aligns the data to this many bytes.
const DATA_ALIGN: usize = 64;

/// The kind of an element, with its size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Float(u8),
    Signed(u8),
    Unsigned(u8),
    Void(u8),
    Complex(u8),
    Bool,
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The element type as the file names it.
    pub descr: String,
    pub kind: Kind,
    pub big_endian: bool,
    pub fortran_order: bool,
    pub shape: Vec<usize>,
}

/// The reason that a header cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderError {
    Expected {
        what: &'static str,
        at: usize,
    },
    /// A key that is not there, or not known, or there twice.
    Key {
        key: String,
    },
    /// An extent that does not fit.
    Extent {
        at: usize,
    },
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeaderError::Expected { what, at } => {
                write!(f, "header: expected {what} at byte {at}")
            }
            HeaderError::Key { key } => write!(
                f,
                "header: '{key}' is missing, unknown or there twice (expected are 'descr', 'fortran_order' and 'shape')"
            ),
            HeaderError::Extent { at } => {
                write!(f, "header: the extent at byte {at} does not fit 64 bits")
            }
        }
    }
}

impl std::error::Error for HeaderError {}

impl Header {
    pub fn parse(text: &[u8]) -> Result<Header, HeaderError> {
        let mut cursor = Cursor { text, at: 0 };
        let (mut descr, mut order, mut shape) = (None, None, None);
        cursor.expect(b'{', "`{`")?;
        while !cursor.eat(b'}') {
            let key = cursor.string()?;
            cursor.expect(b':', "`:`")?;
            let again = match key.as_str() {
                "descr" => descr.replace(cursor.string()?).is_some(),
                "fortran_order" => order.replace(cursor.boolean()?).is_some(),
                "shape" => shape.replace(cursor.tuple()?).is_some(),
                _ => true,
            };
            if again {
                return Err(HeaderError::Key { key });
            }
            if !cursor.eat(b',') {
                cursor.expect(b'}', "`,` or `}`")?;
                break;
            }
        }
        cursor.end()?;
        let missing = |key: &str| HeaderError::Key {
            key: key.to_string(),
        };
        let descr = descr.ok_or_else(|| missing("descr"))?;
        let (kind, big_endian) = kind_of(&descr);
        Ok(Header {
            kind,
            big_endian,
            descr,
            fortran_order: order.ok_or_else(|| missing("fortran_order"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
        })
    }

    /// Everything before the data: magic, version, length, dictionary, padding.
    pub fn encode(descr: &str, shape: &[usize]) -> Vec<u8> {
        let extents: Vec<String> = shape.iter().map(usize::to_string).collect();
        let comma = if shape.len() == 1 { "," } else { "" };
        let shape = extents.join(", ");
        let mut text =
            format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}{comma}), }}");
        let unpadded = MAGIC.len() + 4 + text.len() + 1;
        let padding = unpadded.next_multiple_of(DATA_ALIGN) - unpadded;
        text.extend(std::iter::repeat_n(' ', padding));
        text.push('\n');
        // At most 32 extents of 20 digits: the length fits 16 bits, and version 1 is enough.
        let length = text.len() as u16;
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend(length.to_le_bytes());
        bytes.extend(text.into_bytes());
        bytes
    }
}

/// Kind and byte order of a type such as `<f4`.
fn kind_of(descr: &str) -> (Kind, bool) {
    let (big_endian, plain) = match descr.split_at_checked(1) {
        Some((">", plain)) => (true, plain),
        Some(("<" | "|" | "=", plain)) => (false, plain),
        _ => (false, descr),
    };
    let size = |digits: &str| {
        digits
            .parse::<u8>()
            .ok()
            .filter(|size| size.is_power_of_two())
    };
    let kind = match plain.split_at_checked(1) {
        Some(("f", digits)) => size(digits).map(Kind::Float),
        Some(("i", digits)) => size(digits).map(Kind::Signed),
        Some(("u", digits)) => size(digits).map(Kind::Unsigned),
        Some(("c", digits)) => size(digits).map(Kind::Complex),
        Some(("V", digits)) => size(digits).map(Kind::Void),
        Some(("b", "1")) | Some(("?", "")) => Some(Kind::Bool),
        _ => None,
    };
    (kind.unwrap_or(Kind::Other), big_endian)
}

struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        self.skip_space();
        let here = self.peek() == Some(byte);
        self.at += usize::from(here);
        here
    }

    fn error(&self, what: &'static str) -> HeaderError {
        HeaderError::Expected { what, at: self.at }
    }

    fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), HeaderError> {
        let found = self.eat(byte);
        found.then_some(()).ok_or_else(|| self.error(what))
    }

    fn end(&mut self) -> Result<(), HeaderError> {
        self.skip_space();
        let ended = self.peek().is_none();
        ended.then_some(()).ok_or_else(|| self.error("the end"))
    }

    /// The bytes from here on for which `accept` holds.
    fn take_while(&mut self, accept: impl Fn(u8) -> bool) -> String {
        let start = self.at;
        while self.peek().is_some_and(&accept) {
            self.at += 1;
        }
        let taken = self.text.get(start..self.at).unwrap_or_default();
        String::from_utf8_lossy(taken).into_owned()
    }

    fn string(&mut self) -> Result<String, HeaderError> {
        self.skip_space();
        let quote = self.peek().filter(|byte| matches!(byte, b'\'' | b'"'));
        let quote = quote.ok_or_else(|| self.error("a string"))?;
        self.at += 1;
        let text = self.take_while(|byte| byte != quote && byte != b'\\');
        self.expect(quote, "the end of a string")?;
        Ok(text)
    }

    fn boolean(&mut self) -> Result<bool, HeaderError> {
        self.skip_space();
        let start = self.at;
        match self.take_while(|byte| byte.is_ascii_alphabetic()).as_str() {
            "True" => Ok(true),
            "False" => Ok(false),
            _ => Err(HeaderError::Expected {
                what: "`True` or `False`",
                at: start,
            }),
        }
    }

    fn tuple(&mut self) -> Result<Vec<usize>, HeaderError> {
        let mut extents = Vec::new();
        self.expect(b'(', "`(`")?;
        while !self.eat(b')') {
            extents.push(self.extent()?);
            if !self.eat(b',') {
                self.expect(b')', "`,` or `)`")?;
                break;
            }
        }
        Ok(extents)
    }

    fn extent(&mut self) -> Result<usize, HeaderError> {
        self.skip_space();
        let at = self.at;
        let digits = self.take_while(|byte| byte.is_ascii_digit());
        if digits.is_empty() {
            return Err(self.error("an extent"));
        }
        // Python 2 wrote long integers so.
        if self.peek() == Some(b'L') {
            self.at += 1;
        }
        let extent = digits.parse::<usize>().ok();
        let extent = extent.filter(|extent| i64::try_from(*extent).is_ok());
        extent.ok_or(HeaderError::Extent { at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        Header::parse(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn what_numpy_writes_is_read() {
        let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (56, 1024), }   \n";
        let header = Header::parse(text.as_bytes()).unwrap();
        assert_eq!((header.kind, header.big_endian), (Kind::Float(4), false));
        assert_eq!(
            (header.fortran_order, header.shape),
            (false, vec![56, 1024])
        );
        let text = "{\"shape\":(3L,),\"fortran_order\":True,\"descr\":\">i8\"}";
        let header = Header::parse(text.as_bytes()).unwrap();
        assert_eq!((header.kind, header.big_endian), (Kind::Signed(8), true));
        assert_eq!((header.fortran_order, header.shape), (true, vec![3]));
    }

    #[test]
    fn what_is_written_is_read_and_aligned() {
        for shape in [
            vec![],
            vec![0],
            vec![7],
            vec![2, 3],
            vec![usize::MAX >> 1; 32],
        ] {
            let bytes = Header::encode("|b1", &shape);
            assert_eq!(bytes.len() % DATA_ALIGN, 0);
            assert_eq!(bytes.last(), Some(&b'\n'));
            let header = Header::parse(&bytes[10..]).unwrap();
            assert_eq!((header.kind, header.shape), (Kind::Bool, shape));
        }
    }

    #[test]
    fn errors_say_where() {
        assert_eq!(message(""), "header: expected `{` at byte 0");
        assert_eq!(message("{'descr' '<f4'}"), "header: expected `:` at byte 9");
        assert_eq!(
            message("{'descr': [('a', '<f4')]}"),
            "header: expected a string at byte 10"
        );
        assert_eq!(
            message("{'shape': (1 2)}"),
            "header: expected `,` or `)` at byte 13"
        );
        assert_eq!(
            message("{'shape': (-1,)}"),
            "header: expected an extent at byte 11"
        );
        let digits = "9".repeat(30);
        let text = message(&format!("{{'shape': ({digits},)}}"));
        assert_eq!(text, "header: the extent at byte 11 does not fit 64 bits");
        assert_eq!(
            message("{'fortran_order': 1}"),
            "header: expected `True` or `False` at byte 18"
        );
        assert!(
            message("{'news': 1}").starts_with("header: 'news' is missing, unknown or there twice")
        );
        assert!(message("{}").starts_with("header: 'descr' is missing"));
        let whole = "{'descr': '<f4', 'fortran_order': False, 'shape': ()} x";
        assert_eq!(message(whole), "header: expected the end at byte 54");
    }

    #[test]
    fn types_that_are_not_read_have_a_kind_of_their_own() {
        for descr in ["", "<", "é", "<c3", "<f3", "<f999", "|O", "<M8[ns]"] {
            assert_eq!(kind_of(descr).0, Kind::Other, "{descr}");
        }
    }
}
