//! Finds the end of bracketed text that the lexer takes as one token: bodies of dialect attributes, shapes, dense data.
//!
//! Brackets are matched with a stack on the heap, strings are skipped whole, and `->` is no bracket. Never looks beyond
//! the end of the text, and scans an unclosed part only once: linear in the text, even with unclosed brackets.

/// Cached results of scans ahead in a text. A scan that finds no end would be repeated at the next bracket, so its
/// range is cached with the brackets that close in it. Positions must ascend, like those of tokens.
#[derive(Clone, Debug, Default)]
pub struct Scanned {
    /// Up to here brackets are known.
    brackets: usize,
    /// The brackets among them that close, with their ends; in order.
    closed: Vec<(u32, u32)>,
    /// Up to here no `{-#` has an end.
    resources: usize,
}

impl Scanned {
    /// The length of the bracketed text at byte `start`, closing bracket included; `None` if the bracket is never
    /// closed.
    pub fn balanced(&mut self, text: &str, start: usize) -> Option<usize> {
        if start >= self.brackets {
            self.closed.clear();
            self.brackets = self.scan(text, start);
            if let Some(&(from, end)) = self.closed.last()
                && from as usize == start
            {
                return Some(end as usize - start);
            }
            self.closed.sort_unstable();
        }
        let at = self.closed.binary_search_by_key(&start, |c| c.0 as usize);
        at.ok().map(|at| self.closed[at].1 as usize - start)
    }
    /// Records the brackets that close from `start` on, up to the end of the bracket there or an obstacle; returns the
    /// end of the scan.
    fn scan(&mut self, text: &str, start: usize) -> usize {
        let bytes = text.as_bytes();
        let mut open: Vec<(u8, usize)> = Vec::new();
        let mut at = start;
        while let Some(&byte) = bytes.get(at) {
            let compares = bytes.get(at + 1) == Some(&b'=');
            match byte {
                // `<=` and `>=` in the conditions of an affine set.
                b'<' if compares => {}
                b'>' if compares && open.last().is_none_or(|o| o.0 != b'<') => {}
                b'<' | b'(' | b'[' | b'{' => open.push((byte, at)),
                b'-' if bytes.get(at + 1) == Some(&b'>') => at += 1,
                b'>' | b')' | b']' | b'}' => match open.pop() {
                    Some((by, from)) if by == opener(byte) => {
                        self.closed.push((from as u32, at as u32 + 1));
                    }
                    _ => return at,
                },
                b'"' => match string(&text[at..]) {
                    Some(length) => at += length - 1,
                    None => return at,
                },
                _ => {}
            }
            at += 1;
            if open.is_empty() {
                return at;
            }
        }
        at
    }
    /// The length of the text after `{-#` up to and including `#-}`; `start` is the byte after `{-#`.
    pub fn resources(&mut self, text: &str, start: usize) -> Option<usize> {
        if start < self.resources {
            return None;
        }
        let mut from = start;
        while let Some(next) = text[from..].find(['"', '#']) {
            let at = from + next;
            if text[at..].starts_with("#-}") {
                return Some(at + 3 - start);
            }
            from = at + 1;
            if text[at..].starts_with('"') {
                match string(&text[at..]) {
                    Some(length) => from = at + length,
                    None => {
                        self.resources = at;
                        return None;
                    }
                }
            }
        }
        self.resources = text.len();
        None
    }
}

fn opener(closer: u8) -> u8 {
    match closer {
        b'>' => b'<',
        b')' => b'(',
        b']' => b'[',
        _ => b'{',
    }
}

/// The length of the string literal at the start of `text`, quotes included. It ends on its line.
pub fn string(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\n' => return None,
            b'\\' if bytes.get(at + 1) == Some(&b'\n') => return None,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// The length of the longest start of `text` that consists of the characters of dims and element types, and `also`.
pub fn shape(text: &str, also: u8) -> usize {
    let plain = |b: &u8| {
        b.is_ascii_alphanumeric()
            || b.is_ascii_whitespace()
            || *b == also
            || b"_$?*+-[].".contains(b)
    };
    let start = text.as_bytes().iter().take_while(|b| plain(b)).count();
    let rest = &text[start..];
    match text[..start].ends_with("complex") && rest.starts_with('<') {
        // `complex<f32>`, and the characters that may follow an element type.
        true => rest.find('>').map_or(start, |end| {
            let behind = rest[end + 1..].bytes();
            start + end + 1 + behind.take_while(u8::is_ascii_whitespace).count()
        }),
        false => start,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn balanced(text: &str) -> Option<usize> {
        Scanned::default().balanced(text, 0)
    }
    #[test]
    fn what_closes_is_known_behind_what_does_not() {
        let text = "<( <a> [b] \"<\" <c) <d> ]";
        let mut scanned = Scanned::default();
        let at: Vec<_> = text.match_indices(['<', '[']).map(|m| m.0).collect();
        let found: Vec<_> = at.iter().map(|at| scanned.balanced(text, *at)).collect();
        assert_eq!(at, [0, 3, 7, 12, 15, 19]);
        // The string's `<` is no token.
        assert_eq!(found, [None, Some(3), Some(3), None, None, Some(3)]);
        assert_eq!(
            scanned.resources("{-# \"a\" #-} {-# \" {-# #-}", 3),
            Some(8)
        );
        assert_eq!(scanned.resources("{-# \"a\" #-} {-# \" {-# #-}", 15), None);
        assert_eq!(
            scanned.resources("{-# \"a\" #-} {-# \" {-# #-}", 21),
            Some(4)
        );
    }
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
        assert_eq!(shape("[q$]xf32>", 0), 8);
    }
}
