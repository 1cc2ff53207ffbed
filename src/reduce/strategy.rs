//! Strategies: the ways in which a program can become smaller, as a table.
//!
//! A [`Strategy`] lists sites of a program, places where it can do its one thing, and does it at any subset of them at
//! once. The search chooses subsets; a strategy knows nothing of tests. Its result need not verify: the search checks.
//!
//! Every strategy lessens something that no other increases (ops, then operands, arguments, attributes, extents), so that
//! going round the table ends.

use fuser_ir::{AttrId, Ir, Op, Sym};

use super::strategies::{arguments, attributes, constants, extents, ops, programs, results, tasks};

/// A place at which a strategy can do its thing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Site {
    /// An op.
    Op(Op),
    /// A numbered part of an op: a result, an argument, an operand.
    Part(Op, usize),
    /// An attribute of an op.
    Attr(Op, Sym),
    /// A static extent, wherever it stands.
    Extent(u64),
    /// A named extent, wherever it stands.
    Name(Sym),
    /// A layout of tensors, wherever it stands.
    Layout(AttrId),
}

/// One way to make a program smaller.
#[derive(Debug)]
pub struct Strategy {
    /// Name, as `--strategies` takes it.
    pub name: &'static str,
    /// One sentence: what becomes of a site.
    pub doc: &'static str,
    /// The sites of a program, in program order.
    pub sites: fn(&Ir, Op) -> Vec<Site>,
    /// Applies the strategy at the given sites, a subset of the listed ones in the listed order.
    pub apply: fn(&mut Ir, Op, &[Site]),
    /// True if applying it opens sites for itself, so that it is repeated until it fails before others get their turn.
    pub again: bool,
}

/// All strategies, in the order of a round. The strategies that remove the most come first and make the later ones
/// cheap.
pub static STRATEGIES: &[&Strategy] = &[
    &programs::PROGRAMS,
    &results::RESULTS,
    &tasks::INLINE,
    &tasks::UNNEST,
    &ops::TO_OPERANDS,
    &ops::TO_ARGUMENTS,
    &ops::TO_FRESH,
    &ops::TO_CONSTANTS,
    &ops::OPERANDS,
    &results::TO_FIRST_OPERAND,
    &results::TO_LAST_OPERAND,
    &arguments::PLAIN,
    &arguments::ARGUMENTS,
    &attributes::ATTRIBUTES,
    &attributes::LAYOUTS,
    // Extents last: they change nothing about the others, and every test is cheaper on a small program.
    &extents::NAMES_TO_1,
    &extents::NAMES_TO_2,
    &extents::NAMES_TO_3,
    &extents::TO_1,
    &extents::TO_2,
    &extents::TO_3,
    &extents::DIVIDE,
    &extents::HALVE,
    &constants::TO_ZERO,
    &constants::TO_ONE,
];

/// The strategy called `name`.
pub fn find(name: &str) -> Option<&'static Strategy> {
    STRATEGIES.iter().find(|s| s.name == name).copied()
}
