//! Mutators that keep the meaning: a case becomes a **partner** that must give the same results.
//!
//! Each mutator is a row of [`MUTATORS`] with the reason why it is legal. It works on a copy of the case, draws a place
//! to apply it, and returns true if there was one. Inputs and results are unchanged, except for `transpose-inputs` and
//! `permute-all`, which change the layout of inputs, data included.
//!
//! | module | what |
//! |---|---|
//! | `rewire` | picking a value, putting ops after it, giving them its uses |
//! | `identities` | ops that together change nothing |
//! | `structure` | operands swapped, reductions taken apart, ops repeated, moved, left unused |
//! | `axes` | axes in another order |
//! | `words` | other names, numbers for names |
//! | `control` | programs of branches and loops |
//!
//! Never looks at data except to transpose it. The verifier accepts the result of a mutator; the oracle reports if not.

mod axes;
mod control;
mod identities;
pub(crate) mod rewire;
mod structure;
mod words;

use crate::Source;
use crate::generate::Case;

/// Writes numbers for the named extents of a case; true if there were any.
pub fn number_extents(case: &mut Case) -> bool {
    words::number_extents(case, &mut Source::seed(0))
}

/// The text of a case's program.
pub fn printed(case: &Case) -> String {
    words::printed(case)
}

/// The properties that stay the same besides the results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keeps {
    /// Nothing: a heuristic may decide otherwise.
    Results,
    /// The bytes that the segmenter counts: only names differ.
    Bytes,
}

/// The programs that admit a mutator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Needs {
    /// Many.
    Anything,
    /// Pointwise cases, which are rare unless generated on purpose.
    Pointwise,
    /// Cases that reduce long axes.
    Reductions,
}

/// A mutator.
#[derive(Clone, Copy)]
pub struct Mutator {
    /// As statistics name it.
    pub name: &'static str,
    /// The sites at which it may be applied, and the reason that the results stay.
    pub legality: &'static str,
    /// The properties that stay besides the results.
    pub keeps: Keeps,
    /// The programs that admit it.
    pub needs: Needs,
    how: How,
}

#[derive(Clone, Copy)]
enum How {
    Identity(identities::Make),
    Program(fn(&mut Case, &mut Source) -> bool),
    /// As a program, and where the case has other programs too.
    Control(fn(&mut Case, &mut Source) -> bool),
}

impl Mutator {
    /// Applies it at a random place; returns true if that was possible. Otherwise the case is unchanged in meaning.
    pub fn apply(&self, case: &mut Case, source: &mut Source) -> bool {
        match self.how {
            How::Control(change) => change(case, source),
            _ if control::has_programs(case) => false,
            How::Identity(make) => rewire::replace(case, source, make),
            How::Program(change) => change(case, source),
        }
    }
}

const fn identity(name: &'static str, legality: &'static str, make: identities::Make) -> Mutator {
    Mutator {
        name,
        legality,
        keeps: Keeps::Results,
        needs: Needs::Anything,
        how: How::Identity(make),
    }
}
const fn program(
    name: &'static str,
    legality: &'static str,
    change: fn(&mut Case, &mut Source) -> bool,
) -> Mutator {
    Mutator {
        name,
        legality,
        keeps: Keeps::Results,
        needs: Needs::Anything,
        how: How::Program(change),
    }
}
const fn control(
    name: &'static str,
    legality: &'static str,
    change: fn(&mut Case, &mut Source) -> bool,
) -> Mutator {
    Mutator {
        how: How::Control(change),
        ..program(name, legality, change)
    }
}

/// The mutators that write programs of branches and loops.
pub fn controls() -> Vec<&'static Mutator> {
    let is_control = |m: &&Mutator| matches!(m.how, How::Control(_));
    MUTATORS.iter().filter(is_control).collect()
}

/// The mutator that the partner of a seed begins with.
pub fn first(seed: u64) -> &'static Mutator {
    &MUTATORS[(seed % MUTATORS.len() as u64) as usize]
}

/// All of them.
pub static MUTATORS: &[Mutator] = &[
    identity(
        "reshape",
        "all extents known, nothing stored once: flat and back keeps the order of the elements",
        identities::reshape,
    ),
    identity(
        "permute",
        "rank 2 or more: an order and its inverse",
        identities::permute,
    ),
    identity(
        "broadcast-squeeze",
        "all extents known: an axis of extent 1 comes and goes",
        identities::broadcast_squeeze,
    ),
    identity(
        "broadcast-reduction",
        "all extents known: the greatest of three equal elements is the element, NaN and -0 too",
        identities::broadcast_reduction,
    ),
    identity(
        "cast",
        "a wider type holds every value, so back and forth nothing is rounded",
        identities::cast,
    ),
    identity(
        "bitcast",
        "the same bits under another type of their size",
        identities::bitcast,
    ),
    identity("slice", "all of each axis, step 1", identities::slice),
    identity("pad", "by no element on any side", identities::pad),
    identity(
        "pad-slice",
        "extents are numbers, nothing stored once: what was put around is cut off again",
        identities::pad_slice,
    ),
    identity(
        "slice-cat",
        "an extent that is a number: two parts beside each other are the whole",
        identities::slice_cat,
    ),
    identity("copy", "a copy is the same tensor", identities::copy),
    identity(
        "barrier",
        "a boundary between segments is the same tensor: an op and its users become two kernels",
        identities::barrier,
    ),
    identity(
        "mul-one",
        "x * 1 is x in every type but i1, -0 and infinities too",
        identities::mul_one,
    ),
    identity(
        "sub-zero",
        "x - (+0) is x in every type but i1, -0 too",
        identities::sub_zero,
    ),
    identity(
        "neg-neg",
        "floats: the sign bit twice; integers wrap",
        identities::neg_neg,
    ),
    identity("not-not", "integers: all bits twice", identities::not_not),
    identity(
        "where",
        "a condition that is true chooses the first",
        identities::choose,
    ),
    identity(
        "maximum",
        "the greater of x and x is x, NaN and -0 too",
        identities::maximum,
    ),
    program(
        "swap-operands",
        "ops that the table calls commutative; compare with the predicate mirrored",
        structure::swap_operands,
    ),
    Mutator {
        name: "split-reduction",
        legality: "max and min of any type, sum and prod of integers, and in the exact tier of f32 and f64, where every partial result \
         is a small integer: the reduction of a whole axis is that of its two parts, combined",
        keeps: Keeps::Results,
        needs: Needs::Reductions,
        how: How::Program(structure::split_reduction),
    },
    program(
        "duplicate",
        "ops are pure: one use takes a copy's result",
        structure::duplicate,
    ),
    program(
        "dead-code",
        "ops are pure: what nothing uses changes nothing",
        structure::dead_code,
    ),
    program(
        "reorder",
        "any order in which values stand before their uses",
        structure::reorder,
    ),
    program(
        "transpose-inputs",
        "an input of rank 2 or more that no result overwrites is stored in another order and permuted back",
        axes::transpose_inputs,
    ),
    program(
        "lay-out",
        "the order of axes in memory means nothing to a value between ops: constants, whose elements are written in one order, and \
         results keep theirs",
        axes::lay_out,
    ),
    Mutator {
        name: "permute-all",
        legality: "elementwise programs of one rank: every tensor has its axes in another order; inputs are stored so, results are \
         permuted back, and none overwrites an input any more",
        keeps: Keeps::Results,
        needs: Needs::Pointwise,
        how: How::Program(axes::permute_all),
    },
    Mutator {
        name: "rename",
        legality: "names of values, extents and the program mean nothing",
        keeps: Keeps::Bytes,
        needs: Needs::Anything,
        how: How::Program(words::rename),
    },
    program(
        "number-extents",
        "a named extent has one value in a case: the number stands for the name",
        words::number_extents,
    ),
    control(
        "branch",
        "neighbouring ops become a program: both sides of a branch compute what they computed",
        control::branch,
    ),
    control(
        "loop",
        "neighbouring ops become a program: each turn of a loop computes what they computed, of the same values",
        control::turns,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_reasons_stand() {
        let names: std::collections::BTreeSet<&str> = MUTATORS.iter().map(|m| m.name).collect();
        assert_eq!(names.len(), MUTATORS.len());
        assert!(MUTATORS.iter().all(|m| m.legality.len() > 10));
    }
}
