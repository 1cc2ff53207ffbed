//! The writer of parts of a program: a buffer, and a stack of parts yet to be written, so that nested types and
//! attributes need no recursion.

use rustc_hash::FxHashMap;

use super::shared::Shared;
use crate::attr::AttrId;
use crate::intern::Sym;
use crate::ir::Ir;
use crate::loc::LocId;
use crate::part::Part;
use crate::types::TypeId;

/// Something still to be written.
#[derive(Clone, Copy)]
pub enum Piece {
    /// Fixed text.
    Text(&'static str),
    /// A type.
    Type(TypeId),
    /// An attribute.
    Attr(AttrId),
    /// A location without `loc(`.
    Loc(LocId),
    /// The name of an attribute.
    Key(Sym),
}

/// Writes a number. Most text of a program without names is numbers of values.
pub fn number(out: &mut String, mut number: u32) {
    const MOST_DIGITS: usize = 10;
    let mut digits = [b'0'; MOST_DIGITS];
    let mut at = MOST_DIGITS;
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend(digits[at..].iter().map(|d| char::from(*d)));
}

/// A buffer that knows how to write types, attributes and locations.
pub struct Writer<'a> {
    /// The program.
    pub ir: &'a Ir,
    /// The text written so far.
    pub out: String,
    /// The most elements of dense data that are printed; longer data is elided.
    pub elide: Option<usize>,
    /// Bytes after which writing stops; the caller cuts the rest.
    pub most: usize,
    /// The parts that print as aliases.
    pub shared: Shared,
    /// Aliases in the order of their first use.
    aliases: Vec<Part>,
    /// The number of each among those with its sign.
    numbers: FxHashMap<Part, u32>,
    /// The next number of types, attributes and locations.
    next: [u32; 3],
    stack: Vec<Piece>,
    cache: Vec<Option<Box<str>>>,
}

impl<'a> Writer<'a> {
    /// An empty buffer.
    pub fn new(ir: &'a Ir, elide: Option<usize>) -> Self {
        Self {
            ir,
            out: String::new(),
            elide,
            most: usize::MAX,
            shared: Shared::default(),
            aliases: Vec::new(),
            numbers: FxHashMap::default(),
            next: [0; 3],
            stack: Vec::new(),
            cache: Vec::new(),
        }
    }
    /// Writes text.
    pub fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }
    /// Writes a type; its text is made once.
    pub fn ty(&mut self, ty: TypeId) {
        if self.is_alias(ty) {
            return;
        }
        let index = crate::entity::Entity::index(ty);
        if let Some(Some(text)) = self.cache.get(index) {
            self.out.push_str(text);
            return;
        }
        let start = self.out.len();
        self.drain(Piece::Type(ty));
        if index >= self.cache.len() {
            self.cache.resize(index + 1, None);
        }
        self.cache[index] = Some(self.out[start..].into());
    }
    /// Writes an attribute.
    pub fn attr(&mut self, attr: AttrId) {
        self.drain(Piece::Attr(attr));
    }
    /// Writes `loc(...)`.
    pub fn loc(&mut self, loc: LocId) {
        self.text("loc(");
        self.drain(Piece::Loc(loc));
        self.text(")");
    }
    /// Writes a location without `loc(`.
    pub fn bare_loc(&mut self, loc: LocId) {
        self.drain(Piece::Loc(loc));
    }
    /// Writes types separated by commas.
    pub fn types(&mut self, types: &[TypeId]) {
        for (index, ty) in types.iter().enumerate() {
            if index > 0 {
                self.text(", ");
            }
            self.ty(*ty);
        }
    }
    /// Writes `part`, which may have an alias, in full.
    pub fn whole(&mut self, part: Part) {
        let base = self.stack.len();
        match part {
            Part::Type(ty) => self.type_piece(ty),
            Part::Attr(attr) => self.attr_piece(attr),
            Part::Loc(loc) => self.loc_piece(loc),
        }
        self.drain_to(base);
    }
    /// Writes a piece and all that it puts on the stack.
    fn drain(&mut self, piece: Piece) {
        let base = self.stack.len();
        self.stack.push(piece);
        self.drain_to(base);
    }
    fn drain_to(&mut self, base: usize) {
        while self.stack.len() > base {
            if self.out.len() > self.most {
                return self.stack.truncate(base);
            }
            match self.stack.pop() {
                Some(Piece::Text(text)) => self.out.push_str(text),
                Some(Piece::Type(ty)) if !self.is_alias(ty) => self.type_piece(ty),
                Some(Piece::Attr(attr)) if !self.is_alias(attr) => self.attr_piece(attr),
                Some(Piece::Loc(loc)) if !self.is_alias(loc) => self.loc_piece(loc),
                Some(Piece::Key(key)) => self.key(key),
                _ => {}
            }
        }
    }
    /// Writes the alias of `part` if it has one.
    fn is_alias(&mut self, part: impl Into<Part>) -> bool {
        let part = part.into();
        let has = self.shared.has(part);
        if has {
            self.alias(part);
        }
        has
    }
    /// Writes the name of an alias, which is defined after the program.
    pub fn alias(&mut self, part: Part) {
        let (name, sign) = match part {
            Part::Type(_) => ("!type", 0),
            Part::Attr(_) => ("#attr", 1),
            Part::Loc(_) => ("#loc", 2),
        };
        let next = self.next[sign];
        let number = *self.numbers.entry(part).or_insert(next);
        if number == next {
            self.next[sign] += 1;
            self.aliases.push(part);
        }
        self.text(name);
        self::number(&mut self.out, number);
    }
    /// The alias that was written as number `index` of all.
    pub fn aliased(&self, index: usize) -> Option<Part> {
        self.aliases.get(index).copied()
    }
    /// Puts `pieces` on the stack so that they are written in order.
    pub fn later(&mut self, pieces: impl DoubleEndedIterator<Item = Piece>) {
        self.stack.extend(pieces.rev());
    }
    /// Puts a list on the stack, separated by commas, between `open` and `close`.
    pub fn later_list(
        &mut self,
        open: &'static str,
        items: impl DoubleEndedIterator<Item = Piece> + ExactSizeIterator,
        close: &'static str,
    ) {
        self.stack.push(Piece::Text(close));
        let last = items.len().saturating_sub(1);
        for (back, item) in items.rev().enumerate() {
            self.stack.push(item);
            if back < last {
                self.stack.push(Piece::Text(", "));
            }
        }
        self.stack.push(Piece::Text(open));
    }
    /// Writes the name of an attribute, in quotes where it needs them.
    pub fn key(&mut self, key: Sym) {
        let ir = self.ir;
        let key = ir.str(key);
        if is_bare_name(key) {
            self.out.push_str(key);
        } else {
            quote(&mut self.out, key);
        }
    }
    /// Writes `@name`.
    pub fn symbol(&mut self, name: &str) {
        self.out.push('@');
        if is_bare_name(name) {
            self.out.push_str(name);
        } else {
            quote(&mut self.out, name);
        }
    }
}

/// True if a name needs no quotes: a letter or `_`, then letters, digits, `_`, `$`, and dots between them.
pub fn is_bare_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'$';
    let starts = |b: &u8| b.is_ascii_alphabetic() || *b == b'_';
    name.as_bytes().first().is_some_and(starts)
        && name
            .split('.')
            .all(|part| !part.is_empty() && part.bytes().all(plain))
}

/// Writes a string literal.
pub fn quote(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\22"),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 || c as u32 == 0x7f => {
                out.push_str(&format!("\\{:02X}", c as u32));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
