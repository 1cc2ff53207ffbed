//! PTX text is read into a [`Module`]: constants, shared variables, and functions as lists of statements.
//!
//! ```text
//! @%p1 ld.global.v2.b32 {%r1, %r2}, [%rd1+8];
//! ```
//!
//! is a guard, a name with its modifiers, and operands. The reader knows the form of statements, not their names: those are known
//! where they are decoded.

use crate::error::{PtxError, PtxFault};

/// A module: what one call of `cuModuleLoadData` loads.
#[derive(Debug, Default)]
pub struct Module<'a> {
    /// The number in `.target sm_90`.
    pub target: u32,
    /// Variables of the module, in order.
    pub variables: Vec<Variable<'a>>,
    /// Functions with a body.
    pub functions: Vec<Function<'a>>,
}

/// A variable or a parameter.
#[derive(Clone, Debug)]
pub struct Variable<'a> {
    /// Its name.
    pub name: &'a str,
    /// The state space without the dot: `shared`, `const`, `param`, `reg`.
    pub space: &'a str,
    /// Bytes of one element; 0 for a predicate.
    pub size: u32,
    /// Elements; none where the launch says (`[]`).
    pub count: Option<u32>,
    /// Alignment in bytes.
    pub align: u32,
    /// Initial values.
    pub values: Vec<u64>,
    /// The line.
    pub line: u32,
}

/// A function with a body.
#[derive(Debug)]
pub struct Function<'a> {
    /// Its name.
    pub name: &'a str,
    /// True for a kernel.
    pub entry: bool,
    /// The parameters that it returns in.
    pub results: Vec<Variable<'a>>,
    /// Its parameters.
    pub parameters: Vec<Variable<'a>>,
    /// Most threads of a block, where it says so.
    pub max_threads: Option<u32>,
    /// Blocks of a cluster.
    pub cluster: u32,
    /// The body.
    pub body: Vec<Statement<'a>>,
    /// The line.
    pub line: u32,
}

/// A statement of a body.
#[derive(Debug)]
pub struct Statement<'a> {
    /// The line.
    pub line: u32,
    /// The statement itself.
    pub kind: StatementKind<'a>,
}

/// The kinds of statements.
#[derive(Debug)]
pub enum StatementKind<'a> {
    /// `name:`
    Label(&'a str),
    /// `{`
    Open,
    /// `}`
    Close,
    /// `.reg .b32 %r<4>;` has a count, `.reg .b32 tmp;` is one.
    Register {
        /// The name, or what all names begin with.
        name: &'a str,
        /// Bits.
        bits: u32,
        /// Registers called by the name and a number below this.
        count: Option<u32>,
    },
    /// `.shared` and `.param` in a body.
    Variable(Variable<'a>),
    /// An instruction.
    Instruction {
        /// The predicate, and true where it is negated.
        guard: Option<(&'a str, bool)>,
        /// The name with its modifiers.
        name: &'a str,
        /// The operands.
        operands: Vec<Operand<'a>>,
    },
}

/// An operand.
#[derive(Clone, PartialEq, Debug)]
pub enum Operand<'a> {
    /// A register, a special register, a label, or a variable's address.
    Name(&'a str),
    /// A number's bits.
    Number(u64),
    /// `[base+offset]`
    Address(&'a str, i64),
    /// `{a, b}`
    Vector(Vec<Operand<'a>>),
    /// `(a, b)`
    List(Vec<Operand<'a>>),
    /// `a|b`
    Both(&'a str, &'a str),
}

type Result<T> = std::result::Result<T, PtxError>;

/// A word, a string or a sign.
#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    text: &'a str,
    line: u32,
}

/// True for characters of words: names, directives and numbers.
fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%' | '.')
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first == '"' {
            rest[1..].find('"').map_or(rest.len(), |end| end + 2)
        } else if is_word(first) {
            word(rest)
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(length);
        if !(first.is_whitespace() || token.starts_with("//") || token.starts_with("/*")) {
            found.push(Token { text: token, line });
        }
        line += token.matches('\n').count() as u32;
        rest = after;
    }
    found
}

/// The length of a word; `::` belongs to modifiers.
fn word(text: &str) -> usize {
    let mut length = 0;
    loop {
        let rest = &text[length..];
        let here = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        length += here;
        if !text[length..].starts_with("::") {
            return length;
        }
        length += 2;
    }
}

struct Reader<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
}

/// Reads a module.
pub fn read(text: &str) -> Result<Module<'_>> {
    let mut reader = Reader {
        tokens: tokens(text),
        at: 0,
    };
    let mut module = Module::default();
    while reader.peek().is_some() {
        reader.item(&mut module)?;
    }
    Ok(module)
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.tokens.get(self.at).map(|token| token.text)
    }
    fn line(&self) -> u32 {
        let token = self.tokens.get(self.at).or(self.tokens.last());
        token.map_or(1, |token| token.line)
    }
    fn next(&mut self) -> Result<&'a str> {
        let text = self.peek();
        self.at += 1;
        text.ok_or_else(|| PtxFault::End.at(self.line()))
    }
    /// Takes this token if it is the next one.
    fn takes(&mut self, text: &str) -> bool {
        let is_next = self.peek() == Some(text);
        self.at += usize::from(is_next);
        is_next
    }
    fn expect(&mut self, text: &'static str) -> Result<()> {
        let line = self.line();
        match self.next()? {
            found if found == text => Ok(()),
            found => Err(PtxFault::Expected(text, found.to_owned()).at(line)),
        }
    }
    fn number(&mut self) -> Result<u32> {
        let line = self.line();
        let found = self.next()?;
        let number = found.parse();
        number.map_err(|_| PtxFault::Expected("a number", found.to_owned()).at(line))
    }

    fn item(&mut self, module: &mut Module<'a>) -> Result<()> {
        let line = self.line();
        match self.next()? {
            ".version" | ".address_size" => {
                self.next()?;
            }
            ".target" => {
                let name = self.next()?;
                let digits = name
                    .trim_start_matches("sm_")
                    .trim_end_matches(|c: char| c.is_ascii_lowercase());
                let target = digits.parse().ok();
                module.target = target.ok_or_else(|| PtxFault::Target(name.to_owned()).at(line))?;
            }
            ".visible" | ".extern" | ".weak" => {}
            ".entry" => {
                let function = self.function(true, line)?;
                module.functions.extend(function);
            }
            ".func" => {
                let function = self.function(false, line)?;
                module.functions.extend(function);
            }
            space @ (".shared" | ".const" | ".global") => {
                let variable = self.variable(&space[1..], line)?;
                module.variables.push(variable);
                self.expect(";")?;
            }
            other => return Err(PtxFault::Directive(other.to_owned()).at(line)),
        }
        Ok(())
    }

    /// A function; none for a declaration.
    fn function(&mut self, entry: bool, line: u32) -> Result<Option<Function<'a>>> {
        let results = self.parameters()?;
        let name = self.next()?;
        let parameters = self.parameters()?;
        let (mut max_threads, mut cluster) = (None, 1);
        loop {
            let line = self.line();
            match self.next()? {
                ".maxntid" | ".reqntid" => {
                    let mut threads = self.number()?;
                    while self.takes(",") {
                        threads = threads.saturating_mul(self.number()?);
                    }
                    max_threads = Some(threads);
                }
                ".reqnctapercluster" => {
                    cluster = self.number()?;
                    while self.takes(",") {
                        // Clusters along the first axis alone.
                        if self.number()? != 1 {
                            let fault = PtxFault::Directive(".reqnctapercluster".into());
                            return Err(fault.at(line));
                        }
                    }
                }
                ".minnctapersm" | ".maxnreg" => {
                    self.number()?;
                }
                ".noinline" | ".explicitcluster" => {}
                ";" => return Ok(None),
                "{" => break,
                other => return Err(PtxFault::Directive(other.to_owned()).at(line)),
            }
        }
        Ok(Some(Function {
            name,
            entry,
            results,
            parameters,
            max_threads,
            cluster: cluster.max(1),
            body: self.body()?,
            line,
        }))
    }

    /// Parameters in parentheses; none where there are no parentheses.
    fn parameters(&mut self) -> Result<Vec<Variable<'a>>> {
        let mut all = Vec::new();
        if !self.takes("(") {
            return Ok(all);
        }
        while !self.takes(")") {
            let line = self.line();
            self.expect(".param")?;
            all.push(self.variable("param", line)?);
            self.takes(",");
        }
        Ok(all)
    }

    /// A variable behind its state space: `.align 16 .b8 name[16] = {1, 2}`.
    fn variable(&mut self, space: &'a str, line: u32) -> Result<Variable<'a>> {
        let (mut align, mut size) = (None, None);
        let name = loop {
            match self.next()? {
                ".align" => align = Some(self.number()?),
                ".ptr" => {
                    // What a pointer points to, and how that is aligned: no fact of the parameter.
                    while matches!(self.peek(), Some(".global" | ".align")) {
                        if self.next()? == ".align" {
                            self.number()?;
                        }
                    }
                }
                word if word.starts_with('.') => size = Some(bits(word, line)? / 8),
                name => break name,
            }
        };
        let size = size.ok_or_else(|| PtxFault::Expected("a type", name.to_owned()).at(line))?;
        let mut count = Some(1);
        if self.takes("[") {
            count = match self.takes("]") {
                true => None,
                false => {
                    let count = self.number()?;
                    self.expect("]")?;
                    Some(count)
                }
            };
        }
        let mut values = Vec::new();
        if self.takes("=") {
            self.expect("{")?;
            while !self.takes("}") {
                values.push(self.literal()?);
                self.takes(",");
            }
        }
        Ok(Variable {
            name,
            space,
            size,
            count,
            align: align.unwrap_or(size).max(1),
            values,
            line,
        })
    }

    /// A number, perhaps negative.
    fn literal(&mut self) -> Result<u64> {
        let line = self.line();
        let negative = self.takes("-");
        let word = self.next()?;
        let bits = literal(word).ok_or_else(|| PtxFault::Operand(word.to_owned()).at(line))?;
        Ok(if negative { bits.wrapping_neg() } else { bits })
    }

    /// The statements of a body, to the brace that ends it.
    fn body(&mut self) -> Result<Vec<Statement<'a>>> {
        let mut statements = Vec::new();
        let mut depth = 1;
        loop {
            let line = self.line();
            let kind = match self.next()? {
                "{" => {
                    depth += 1;
                    StatementKind::Open
                }
                "}" => {
                    depth -= 1;
                    if depth == 0 {
                        return Ok(statements);
                    }
                    StatementKind::Close
                }
                ";" => continue,
                ".reg" => self.register(line)?,
                space @ (".shared" | ".param") => {
                    let variable = self.variable(&space[1..], line)?;
                    self.expect(";")?;
                    StatementKind::Variable(variable)
                }
                ".pragma" => {
                    self.next()?;
                    continue;
                }
                word if self.takes(":") => StatementKind::Label(word),
                word if word.starts_with('.') => {
                    return Err(PtxFault::Directive(word.to_owned()).at(line));
                }
                word => self.instruction(word)?,
            };
            statements.push(Statement { line, kind });
        }
    }

    fn register(&mut self, line: u32) -> Result<StatementKind<'a>> {
        let bits = bits(self.next()?, line)?;
        let name = self.next()?;
        let mut count = None;
        if self.takes("<") {
            count = Some(self.number()?);
            self.expect(">")?;
        }
        self.expect(";")?;
        Ok(StatementKind::Register { name, bits, count })
    }

    fn instruction(&mut self, first: &'a str) -> Result<StatementKind<'a>> {
        let (mut guard, mut name) = (None, first);
        if first == "@" {
            let negated = self.takes("!");
            guard = Some((self.next()?, negated));
            name = self.next()?;
        }
        let mut operands = Vec::new();
        while !self.takes(";") {
            operands.push(self.operand()?);
            if !self.takes(",") && self.peek() != Some(";") {
                let found = self.next()?.to_owned();
                return Err(PtxFault::Expected(";", found).at(self.line()));
            }
        }
        Ok(StatementKind::Instruction {
            guard,
            name,
            operands,
        })
    }

    fn operand(&mut self) -> Result<Operand<'a>> {
        Ok(match self.peek() {
            Some("{") => Operand::Vector(self.list("{", "}")?),
            Some("(") => Operand::List(self.list("(", ")")?),
            Some("[") => {
                self.next()?;
                let base = self.next()?;
                let offset = match self.takes("+") {
                    true => self.literal()? as i64,
                    false => 0,
                };
                self.expect("]")?;
                Operand::Address(base, offset)
            }
            Some("-") => Operand::Number(self.literal()?),
            _ => {
                let word = self.next()?;
                if self.takes("|") {
                    return Ok(Operand::Both(word, self.next()?));
                }
                literal(word).map_or(Operand::Name(word), Operand::Number)
            }
        })
    }

    /// Names and numbers between two signs.
    fn list(&mut self, open: &'static str, close: &'static str) -> Result<Vec<Operand<'a>>> {
        self.expect(open)?;
        let mut all = Vec::new();
        while !self.takes(close) {
            all.push(match self.peek() {
                Some("-") => Operand::Number(self.literal()?),
                _ => {
                    let word = self.next()?;
                    literal(word).map_or(Operand::Name(word), Operand::Number)
                }
            });
            self.takes(",");
        }
        Ok(all)
    }
}

/// The bits of a number: decimal, `0x` hexadecimal, `0f` and `0d` for bits of floats; `None` for other text.
fn literal(word: &str) -> Option<u64> {
    let word = word.trim_end_matches('U');
    let prefixed = |prefix: &str| word.strip_prefix(prefix);
    let hex = ["0x", "0X", "0f", "0F", "0d", "0D"];
    match hex.into_iter().find_map(prefixed) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

/// The bits of a type: 32 for `.b32`, 1 for `.pred`.
fn bits(word: &str, line: u32) -> Result<u32> {
    let digits = word.trim_start_matches(['.', 'b', 'u', 's', 'f']);
    match digits.parse() {
        Ok(bits @ (8 | 16 | 32 | 64)) => Ok(bits),
        _ if word == ".pred" => Ok(1),
        _ => Err(PtxFault::Directive(word.to_owned()).at(line)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_read() {
        let text = "// head\n.version 7.0\n.target sm_80\n.address_size 64\n\
            .extern .shared .align 16 .b8 dyn[];\n.const .align 4 .b32 t[2] = {0x1U, -2};\n\
            .visible .entry k(\n  .param .u64 .ptr .global .align 64 a,\n  .param .u32 n\n)\n.maxntid 128\n{\n\
            .reg .b32 %r<4>;\n$L:\n  @!%p1 ld.global.nc.v2.b32 {%r1, _}, [%rd1+-8];\n  mov.b32 %r2, 0f3F800000;\n  ret;\n}\n";
        let module = read(text).unwrap();
        assert_eq!(module.target, 80);
        assert_eq!(module.variables[0].count, None);
        assert_eq!(module.variables[1].values, [1, (-2_i64) as u64]);
        let k = &module.functions[0];
        let sizes: Vec<_> = k.parameters.iter().map(|p| (p.name, p.size)).collect();
        assert_eq!(sizes, [("a", 8), ("n", 4)]);
        assert_eq!((k.entry, k.max_threads), (true, Some(128)));
        let StatementKind::Instruction {
            guard,
            name,
            operands,
        } = &k.body[2].kind
        else {
            panic!("{:?}", k.body[2])
        };
        assert_eq!(
            (*guard, *name),
            (Some(("%p1", true)), "ld.global.nc.v2.b32")
        );
        let vector = Operand::Vector(vec![Operand::Name("%r1"), Operand::Name("_")]);
        assert_eq!(*operands, [vector, Operand::Address("%rd1", -8)]);
        assert_eq!(k.body[2].line, 15);
    }

    #[test]
    fn no_text_makes_the_reader_panic_or_hang() {
        let text = "\"\n.visible .entry k(.param .u64 a) { .reg .b32 %r<4>; add.s32 %r1, %r2, -1; @%p bra $L; /* */ }";
        for end in 0..=text.len() {
            let _ = read(&text[..end]);
            let _ = read(&text[end..]);
        }
        for (text, fault) in [
            (".globl x;", "line 1: the directive '.globl' is unknown"),
            ("\n.target gpu", "line 2: 'gpu' is no target"),
            (
                ".entry k() { add.s32 a b; }",
                "line 1: ';' was expected, not 'b'",
            ),
            (".entry k() {", "line 1: the text ends too early"),
        ] {
            assert_eq!(read(text).unwrap_err().to_string(), fault);
        }
    }
}
