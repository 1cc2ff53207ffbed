//! Finds the end of bracketed text that the lexer takes as one token: bodies of dialect attributes, shapes, dense data.
//!
//! Brackets are matched with a stack on the heap, strings are skipped whole, `->` is no bracket. Never looks further than
//! the end of the text.

/// The length of the bracketed text at the start of `text`, closing bracket included; `None` where it never closes.
pub fn balanced(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut open = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let compares = bytes.get(at + 1) == Some(&b'=');
        match byte {
            // `<=` and `>=` in the conditions of an affine set.
            b'<' if compares => {}
            b'>' if compares && open.last() != Some(&b'<') => {}
            b'<' | b'(' | b'[' | b'{' => open.push(byte),
            b'-' if bytes.get(at + 1) == Some(&b'>') => at += 1,
            b'>' | b')' | b']' | b'}' => {
                if open.pop() != Some(opener(byte)) {
                    return None;
                }
                if open.is_empty() {
                    return Some(at + 1);
                }
            }
            b'"' => at += string(&text[at..])? - 1,
            _ => {}
        }
        at += 1;
    }
    None
}

fn opener(closer: u8) -> u8 {
    match closer {
        b'>' => b'<',
        b')' => b'(',
        b']' => b'[',
        _ => b'{',
    }
}

/// The length of the string literal at the start of `text`, quotes included.
pub fn string(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\n' => return None,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// The length of the plain start of a shape: everything that dims and an element type are made of, with `also` besides.
pub fn shape(text: &str, also: u8) -> usize {
    let plain = |b: &u8| {
        b.is_ascii_alphanumeric()
            || b.is_ascii_whitespace()
            || *b == also
            || b"_?*+-[].".contains(b)
    };
    text.as_bytes().iter().take_while(|b| plain(b)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_strings_and_arrows() {
        assert_eq!(balanced("<a>b"), Some(3));
        assert_eq!(balanced("<(d0) -> (d0)> x"), Some(14));
        assert_eq!(balanced(r#"<"a>b">"#), Some(7));
        assert_eq!(balanced(r#"<"a\"">"#), Some(7));
        assert_eq!(balanced("<(d0) : (d0 >= 0, d0 <= 4)>"), Some(27));
        assert_eq!(balanced("<[>]"), None);
        assert_eq!(balanced("<"), None);
        assert_eq!(balanced("<\"a\n\">"), None);
        assert_eq!(balanced("<\"\\"), None);
        assert_eq!(shape("4x[B]xf32>", 0), 9);
    }
}
