//! Limits on inputs, each a named constant with its reason.
//!
//! A limit is policy, not mechanism: code of this crate neither recurses nor overflows beyond a limit. Exceeding one is
//! an error of the FIR09xx range that names the limit, the actual figure and how to raise the limit.

/// Bytes of one source file. Larger inputs are generated, and a generator can split them; spans are 32 bits wide.
pub const MAX_SOURCE_BYTES: usize = 256 << 20;
/// Regions inside each other. Real inputs nest to 3,457; the algorithms do not care.
pub const MAX_REGION_DEPTH: usize = 10_000;
/// Nesting depth of types or attributes, and of brackets within one operation. No real program comes near it.
pub const MAX_NESTING: usize = 256;
/// Parts of one type, attribute or location with all aliases expanded: a chain of aliases may double the number at each
/// step.
pub const MAX_EXPANDED_PARTS: u32 = 1 << 20;
/// Operations of a module: ids have 32 bits, and several ids are spent per operation.
pub const MAX_OPS: usize = 16 << 20;
/// Operands, results, successors, attributes of one operation, arguments of one block.
pub const MAX_OPERANDS: usize = 65_535;
/// Axes of a tensor.
pub const MAX_RANK: usize = 32;
/// Bits of an integer literal.
pub const MAX_INTEGER_BITS: u32 = 128;
/// Bytes of a string literal.
pub const MAX_STRING_BYTES: usize = 16 << 20;
/// Bytes of an identifier.
pub const MAX_IDENTIFIER_BYTES: usize = 4 << 10;
/// Elements of a dense attribute that is no splat; each costs source text too, so a small file cannot ask for a large
/// one.
pub const MAX_DENSE_ELEMENTS: usize = 64 << 20;
/// Terms of an extent polynomial.
pub const MAX_EXTENT_TERMS: usize = 64;
/// Errors after which the parser stops; users read no more.
pub const MAX_ERRORS: usize = 100;

/// The limits in force.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// See [`MAX_SOURCE_BYTES`].
    pub source_bytes: usize,
    /// See [`MAX_REGION_DEPTH`].
    pub region_depth: usize,
    /// See [`MAX_NESTING`].
    pub nesting: usize,
    /// See [`MAX_EXPANDED_PARTS`].
    pub expanded_parts: u32,
    /// See [`MAX_OPS`].
    pub ops: usize,
    /// See [`MAX_OPERANDS`].
    pub operands: usize,
    /// See [`MAX_RANK`].
    pub rank: usize,
    /// See [`MAX_STRING_BYTES`].
    pub string_bytes: usize,
    /// See [`MAX_IDENTIFIER_BYTES`].
    pub identifier_bytes: usize,
    /// See [`MAX_DENSE_ELEMENTS`].
    pub dense_elements: usize,
    /// See [`MAX_ERRORS`].
    pub errors: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            source_bytes: MAX_SOURCE_BYTES,
            region_depth: MAX_REGION_DEPTH,
            nesting: MAX_NESTING,
            expanded_parts: MAX_EXPANDED_PARTS,
            ops: MAX_OPS,
            operands: MAX_OPERANDS,
            rank: MAX_RANK,
            string_bytes: MAX_STRING_BYTES,
            identifier_bytes: MAX_IDENTIFIER_BYTES,
            dense_elements: MAX_DENSE_ELEMENTS,
            errors: MAX_ERRORS,
        }
    }
}
