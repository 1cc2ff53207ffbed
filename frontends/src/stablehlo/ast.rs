//! The syntax tree of StableHLO text: operations with their items in the order of the text.
//!
//! The tree contains no knowledge of any operation; a leaf is a range of the source.

use fuser_ir::span::Span;

/// A file: its operations, and the aliases of locations.
#[derive(Default, Debug)]
pub struct File {
    /// Operations at the top.
    pub ops: Vec<Op>,
    /// `#loc1 = loc(...)`
    pub aliases: Vec<(Span, Loc)>,
    /// `{-# dialect_resources: ... #-}`
    pub resources: Vec<Span>,
}

/// `%r:2 = name items : types items loc(...)`
#[derive(Debug)]
pub struct Op {
    /// Names of results, each with their number.
    pub results: Vec<(Span, Option<Span>)>,
    /// The op's name; a string in generic form.
    pub name: Span,
    /// Operands, attributes, regions before the types.
    pub items: Vec<Item>,
    /// The types.
    pub types: Option<Types>,
    /// Regions after the types.
    pub tail: Vec<Item>,
    /// The location.
    pub loc: Option<Loc>,
}

/// The types of an op.
#[derive(Debug)]
pub struct Types {
    /// Types before `->`, or all of them.
    pub inputs: Vec<Span>,
    /// Types after `->`.
    pub outputs: Option<Vec<Span>>,
}

/// A part of an op.
#[derive(Debug)]
pub enum Item {
    /// `%x`
    Value(Span),
    /// `@f`
    Symbol(Span),
    /// `GT`, `across`, `stablehlo.add`
    Word(Span),
    /// `dims = [0]`
    Named(Span, Attr),
    /// `[0:2]`, `dense<0>`, `"text"`
    Attr(Attr),
    /// `{k = 1}`, `<{k = 1}>`
    Dict(Vec<(Span, Attr)>),
    /// `(%x, %y: tensor<f32>)`
    Parens(Vec<Param>),
    /// `{ ... }`
    Region(Vec<Block>),
    /// `-> (tensor<4xf32> {k = 1})`: the types of a function's results, with their attributes.
    Results(Vec<(Span, Vec<(Span, Attr)>)>),
    /// `,`
    Mark,
}

/// A part of a list in parentheses.
#[derive(Debug)]
pub enum Param {
    /// `%x`
    Value(Span),
    /// `%x init: %y`
    Init(Span, Span),
    /// `%x: tensor<f32> {k = 1} loc("x")`
    Typed(Span, Span, Vec<(Span, Attr)>, Option<Loc>),
    /// `%x = %y`
    Bound(Span, Span),
    /// `k = 2`
    Named,
    /// `{ ... }`
    Region(Vec<Block>),
}

/// The value of an attribute.
#[derive(Debug)]
pub enum Attr {
    /// A single token: a number, a word, a string, dense data, or the text of a dialect's attribute.
    Atom(Span),
    /// `0:4:2`
    Range(Vec<Span>),
    /// `[1, 2]`
    List(Vec<Attr>),
    /// `{k = 1}`
    Dict(Vec<(Span, Attr)>),
    /// `(tensor<4xf32>) -> tensor<4xf32>`
    Function,
}

/// A block of a region.
#[derive(Debug, Default)]
pub struct Block {
    /// Names, types and locations of its arguments.
    pub args: Vec<(Span, Span, Option<Loc>)>,
    /// Its operations.
    pub ops: Vec<Op>,
}

/// A location.
#[derive(Debug)]
pub enum Loc {
    /// `unknown`
    Unknown,
    /// `#loc1`
    Alias(Span),
    /// `"name"(child)`
    Name(Span, Option<Box<Loc>>),
    /// `"file":line:column`
    File(Span, Span, Span),
    /// `callsite(callee at caller)`
    CallSite(Box<Loc>, Box<Loc>),
    /// `fused[a, b]`
    Fused(Vec<Loc>),
}

/// A piece of a region.
pub enum Piece {
    /// An operation.
    Op(Op),
    /// The head of a block.
    Label(Vec<(Span, Span, Option<Loc>)>),
    /// An alias of a location.
    Alias(Span, Loc),
    /// Data of constants.
    Resources(Span),
    /// A mistake that was reported.
    Failed,
}

/// Makes a file of its pieces.
pub fn file(pieces: Vec<Piece>) -> File {
    let mut file = File::default();
    for piece in pieces {
        match piece {
            Piece::Op(op) => file.ops.push(op),
            Piece::Alias(name, loc) => file.aliases.push((name, loc)),
            Piece::Resources(span) => file.resources.push(span),
            Piece::Label(_) | Piece::Failed => {}
        }
    }
    file
}

/// Makes blocks of the pieces of a region.
pub fn blocks(pieces: Vec<Piece>) -> Vec<Block> {
    let mut blocks = vec![Block::default()];
    for piece in pieces {
        let last = blocks.len() - 1;
        match piece {
            Piece::Op(op) => blocks[last].ops.push(op),
            Piece::Label(args) if blocks[last].ops.is_empty() && last == 0 => {
                blocks[last].args = args;
            }
            Piece::Label(args) => blocks.push(Block {
                args,
                ops: Vec::new(),
            }),
            Piece::Alias(..) | Piece::Resources(_) | Piece::Failed => {}
        }
    }
    blocks
}
