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

impl Splitter<'_> {
    fn step(&mut self) {
        if self.rest.starts_with('\n') {
            return self.end_line();
        }
        match self.state {
            State::Code => self.step_code(),
            State::LineComment => self.take_comment(1),
            State::BlockComment { depth } => self.step_block_comment(depth),
            State::String => self.step_string(),
            State::RawString { hashes } => self.step_raw_string(hashes),
        }
    }

    fn end_line(&mut self) {
        if matches!(self.state, State::LineComment) {
            self.state = State::Code;
        }
        self.skip(1);
        self.lines.push(Line::numbered(self.lines.len() + 1));
    }

    fn step_code(&mut self) {
        if self.rest.starts_with("//") {
            self.state = State::LineComment;
            self.take_comment(2);
        } else if self.rest.starts_with("/*") {
            self.state = State::BlockComment { depth: 1 };
            self.take_comment(2);
        } else if let Some(hashes) = self.raw_string_hashes() {
            self.state = State::RawString { hashes };
            self.take_code(hashes + 2);
        } else if self.rest.starts_with('"') {
            self.state = State::String;
            self.take_code(1);
        } else {
            self.take_code(character_literal_length(self.rest).unwrap_or(1));
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
            self.take_comment(2);
        } else if self.rest.starts_with("*/") {
            self.state = match depth {
                1 => State::Code,
                _ => State::BlockComment { depth: depth - 1 },
            };
            self.take_comment(2);
        } else {
            self.take_comment(1);
        }
    }

    fn step_string(&mut self) {
        if self.rest.starts_with('"') {
            self.state = State::Code;
            self.take_code(1);
        } else if self.rest.starts_with('\\') && !self.rest.starts_with("\\\n") {
            self.skip(2);
        } else {
            self.skip(1);
        }
    }

    fn step_raw_string(&mut self, hashes: usize) {
        let closes = self.rest.strip_prefix('"');
        if closes.is_some_and(|tail| tail.starts_with(&"#".repeat(hashes))) {
            self.state = State::Code;
            self.take_code(hashes + 1);
        } else {
            self.skip(1);
        }
    }

    fn take_code(&mut self, count: usize) {
        let taken = self.skip(count);
        if let Some(line) = self.lines.last_mut() {
            line.code.push_str(&taken);
        }
    }

    fn take_comment(&mut self, count: usize) {
        let taken = self.skip(count);
        if let Some(line) = self.lines.last_mut() {
            line.comment.push_str(&taken);
        }
    }

    /// Moves on by `count` characters and returns them.
    fn skip(&mut self, count: usize) -> String {
        let mut characters = self.rest.chars();
        let taken = characters.by_ref().take(count).collect();
        self.rest = characters.as_str();
        taken
    }
}

/// The length of a character literal that holds a quote or a backslash; others need no care, nor do lifetimes.
fn character_literal_length(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('\'')?;
    if inner.starts_with("\"'") {
        return Some(3);
    }
    let escape = inner.strip_prefix('\\')?;
    let end = escape.chars().skip(1).position(|c| c == '\'')?;
    Some(end + 4)
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
