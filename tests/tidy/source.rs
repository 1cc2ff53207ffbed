//! Splits Rust text into code and comments, line by line, so that a rule about code is not fooled by a comment or a string.
//!
//! Knows line comments, nested block comments, strings, raw strings and character literals. Strings keep their quotes and lose what
//! is between them. It is no parser: it never fails, and what it cannot know (a macro's own syntax) it takes for code.

/// One line of a file.
#[derive(Default)]
pub struct Line {
    pub number: usize,
    pub code: String,
    pub comment: String,
}

/// The lexical context of the next character.
enum State {
    Code,
    LineComment,
    BlockComment { depth: usize },
    String,
    RawString { hashes: usize },
}

/// The lines of `text`.
pub fn lines(text: &str) -> Vec<Line> {
    let mut splitter = Splitter {
        rest: text,
        state: State::Code,
        lines: vec![Line::numbered(1)],
    };
    while !splitter.rest.is_empty() {
        splitter.step();
    }
    splitter.lines
}

impl Line {
    fn numbered(number: usize) -> Self {
        Self {
            number,
            ..Self::default()
        }
    }
}

struct Splitter<'a> {
    rest: &'a str,
    state: State,
    lines: Vec<Line>,
}

impl<'a> Splitter<'a> {
    fn step(&mut self) {
        if self.rest.starts_with('\n') {
            return self.end_line();
        }
        match self.state {
            State::Code => self.step_code(),
            State::LineComment => self.take_comment(self.until(&['\n'])),
            State::BlockComment { depth } => self.step_block_comment(depth),
            State::String => self.step_string(),
            State::RawString { hashes } => self.step_raw_string(hashes),
        }
    }

    fn end_line(&mut self) {
        if matches!(self.state, State::LineComment) {
            self.state = State::Code;
        }
        self.skip("\n");
        self.lines.push(Line::numbered(self.lines.len() + 1));
    }

    fn step_code(&mut self) {
        if self.rest.starts_with("//") {
            self.state = State::LineComment;
            self.take_comment("//");
        } else if self.rest.starts_with("/*") {
            self.state = State::BlockComment { depth: 1 };
            self.take_comment("/*");
        } else if let Some(hashes) = self.raw_string_hashes() {
            self.state = State::RawString { hashes };
            self.take_code(&self.rest[..hashes + 2]);
        } else if self.rest.starts_with('"') {
            self.state = State::String;
            self.take_code("\"");
        } else {
            let literal = character_literal_length(self.rest).map(|length| &self.rest[..length]);
            self.take_code(literal.unwrap_or(self.until(&['/', '"', 'r', '\'', '\n'])));
        }
    }

    /// The number of `#` of a raw string that begins here. The `r` of an identifier that ends in one begins none.
    fn raw_string_hashes(&self) -> Option<usize> {
        let before = self.lines.last().and_then(|line| line.code.chars().last());
        if before.is_some_and(|c| (c.is_alphanumeric() && c != 'b') || c == '_') {
            return None;
        }
        let opening = self.rest.strip_prefix('r')?;
        let quote = opening.find(|c| c != '#')?;
        opening[quote..].starts_with('"').then_some(quote)
    }

    fn step_block_comment(&mut self, depth: usize) {
        if self.rest.starts_with("/*") {
            self.state = State::BlockComment { depth: depth + 1 };
            self.take_comment("/*");
        } else if self.rest.starts_with("*/") {
            self.state = match depth {
                1 => State::Code,
                _ => State::BlockComment { depth: depth - 1 },
            };
            self.take_comment("*/");
        } else {
            self.take_comment(self.until(&['/', '*', '\n']));
        }
    }

    fn step_string(&mut self) {
        if self.rest.starts_with('"') {
            self.state = State::Code;
            self.take_code("\"");
        } else if self.rest.starts_with('\\') && !self.rest.starts_with("\\\n") {
            let escaped = self.rest.chars().nth(1).map_or(0, char::len_utf8);
            self.skip(&self.rest[..1 + escaped]);
        } else {
            self.skip(self.until(&['"', '\\', '\n']));
        }
    }

    fn step_raw_string(&mut self, hashes: usize) {
        let closes = self.rest.strip_prefix('"');
        if closes.is_some_and(|tail| tail.starts_with(&"#".repeat(hashes))) {
            self.state = State::Code;
            self.take_code(&self.rest[..hashes + 1]);
        } else {
            self.skip(self.until(&['"', '\n']));
        }
    }

    fn take_code(&mut self, taken: &str) {
        if let Some(line) = self.lines.last_mut() {
            line.code.push_str(taken);
        }
        self.skip(taken);
    }

    fn take_comment(&mut self, taken: &str) {
        if let Some(line) = self.lines.last_mut() {
            line.comment.push_str(taken);
        }
        self.skip(taken);
    }

    /// The rest up to one of `stops`; the next character at least.
    fn until(&self, stops: &[char]) -> &'a str {
        let first = self.rest.chars().next().map_or(0, char::len_utf8);
        let more = self.rest[first..].find(stops);
        &self.rest[..more.map_or(self.rest.len(), |more| first + more)]
    }

    /// Moves on behind `taken`, which the rest begins with.
    fn skip(&mut self, taken: &str) {
        self.rest = &self.rest[taken.len()..];
    }
}

/// The length in bytes of a character literal that holds a quote or a backslash; others need no care, nor do lifetimes.
fn character_literal_length(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('\'')?;
    if inner.starts_with("\"'") {
        return Some(3);
    }
    let escape = inner.strip_prefix('\\')?;
    let first = escape.chars().next()?.len_utf8();
    let end = escape[first..].find('\'')?;
    Some(2 + first + end + 1)
}

#[test]
fn code_and_comments_are_told_apart() {
    let text = concat!(
        "let a = \"// no \\\" comment\"; // one\n",
        "/* two /* nested */ still */ code\n",
        "let r = br#\"raw \" // \"#; let c = '\"'; let d = '\\''; // three\n",
        "fn f<'a>(x: &'a str) {} /// four\n",
        "let s = \"first\n // second\"; for\"x\""
    );
    let lines = lines(text);
    let code: Vec<&str> = lines.iter().map(|line| line.code.trim()).collect();
    let comments: Vec<&str> = lines.iter().map(|line| line.comment.as_str()).collect();
    assert_eq!(
        code,
        [
            "let a = \"\";",
            "code",
            "let r = br#\"\"#; let c = '\"'; let d = '\\'';",
            "fn f<'a>(x: &'a str) {}",
            "let s = \"",
            "\"; for\"\"",
        ]
    );
    assert_eq!(
        comments,
        [
            "// one",
            "/* two /* nested */ still */",
            "// three",
            "/// four",
            "",
            ""
        ]
    );
}
