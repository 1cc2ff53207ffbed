//! Random fusions: a program of 1 to 64 tensor ops, with inputs.
//!
//! The op tables drive it. An op is drawn from the table of the `fusion` dialect; operands that fit its constraints are
//! picked among the values that are there or made to fit (cast, broadcast, new inputs), clauses are drawn by their
//! kind, and type inference has the last word. Between single ops whole templates of real models are put in.
//!
//! Reading order: [`shapes`] (extents), [`maker`] (the program so far), [`facts`] (what keeps a result independent of
//! the order of sums), [`operands`], [`ops`] (one op by its axis rule), [`templates`].
//!
//! In the exact tier only exact ops are generated. Never makes a program that the verifier refuses: that would be a
//! mistake here or in the tables, and the tests report it.

mod attention;
mod composites;
mod convolution;
pub mod facts;
pub mod flat;
pub mod gather;
pub mod halves;
mod lambdas;
pub mod maker;
pub mod operands;
pub mod ops;
mod products;
mod scatter;
pub mod shapes;
mod sort;
pub mod templates;
pub mod windows;

use fuser_dialects::fusion;
use fuser_ir::def::{OpClass, OpDef, Traits};

use crate::Source;
use crate::generate::case::{Case, Tier};
use maker::Maker;

/// Options of the generator.
#[derive(Clone, Debug)]
pub struct Config {
    /// Exact or bounded.
    pub tier: Tier,
    /// The most ops drawn; a template counts once, and ops that make operands fit are not counted.
    pub ops: u64,
    /// The most elements of one value.
    pub elements: u64,
    /// The most elements of all values together.
    pub work: u64,
    /// Only these ops are drawn; empty for all.
    pub allowed: Vec<&'static str>,
    /// Mixes templates in.
    pub templates: bool,
    /// Allows extents `?`.
    pub unknown: bool,
    /// Draws complex numbers, and ops on them.
    pub complex: bool,
    /// Draws integers of 8 and 16 bits, truth values and `bf16` three times of four.
    pub narrow: bool,
    /// Draws floats of 4 bits often, and even lengths, along which callers see two of them in a byte.
    pub packed: bool,
    /// Lengths of new axes other than 0; empty for all of [`shapes::EXTENTS`].
    pub lengths: &'static [u64],
}

/// Lengths of small cases: one, odd, around a vector and around a tile.
pub const FEW_LENGTHS: &[u64] = &[3, 1, 31, 32, 33, 1025];

/// Lengths half of which are even.
const EVEN_LENGTHS: &[u64] = &[2, 1, 32, 33, 34, 3, 6];

/// Seeds among which two have complex numbers, one of each tier.
const COMPLEX: u64 = 8;

/// Seeds among which two have floats of 4 bits, one of each tier.
const PACKED: u64 = 10;

impl Config {
    /// The defaults of a tier.
    pub fn new(tier: Tier) -> Self {
        Self {
            tier,
            ops: 24,
            elements: 1 << 13,
            work: 1 << 17,
            allowed: Vec::new(),
            templates: true,
            unknown: true,
            complex: false,
            narrow: false,
            packed: false,
            lengths: &[],
        }
    }
    /// Cases so small that a test can run many.
    pub fn small(tier: Tier) -> Self {
        Self {
            ops: 16,
            elements: 1 << 11,
            work: 1 << 14,
            lengths: FEW_LENGTHS,
            ..Self::new(tier)
        }
    }
}

impl Config {
    /// The configuration for the case of a seed: two seeds in [`COMPLEX`] have complex numbers, two in [`PACKED`] have
    /// f4.
    pub fn seeded(self, seed: u64) -> Self {
        let named = |def: &&OpDef| self.allowed.contains(&def.name);
        let complex = fusion::COMPLEX_OPS.iter().any(named) || seed % COMPLEX < 2;
        let packed = seed % PACKED < 2;
        let lengths = if packed { EVEN_LENGTHS } else { self.lengths };
        Self {
            complex,
            packed,
            lengths,
            ..self
        }
    }
    /// The configuration restricted to few ops that work element by element on one shape.
    pub fn pointwise(&self) -> Self {
        Self {
            ops: self.ops.min(4),
            ..self.only(|def| def.traits.contains(Traits::ELEMENTWISE))
        }
    }
    /// The configuration restricted to ops that reduce axes.
    pub fn reducing(&self) -> Self {
        self.only(|def| def.class == OpClass::Reduction)
    }
    fn only(&self, wanted: impl Fn(&OpDef) -> bool) -> Self {
        let wanted = ops(self.complex).filter(|def| wanted(def));
        Self {
            allowed: wanted.map(|def| def.name).collect(),
            templates: false,
            ..self.clone()
        }
    }
}

/// The ops of the `fusion` dialect, with `complex` including those for complex numbers alone. Routines are left out, as
/// a random matrix has no factor of most kinds, and results of a nearly singular one are meaningless:
/// `lit-tests/run/routines.fir` and `runtime/routines` test them. Convolutions are drawn only if [`Config::allowed`]
/// names them, as `tests/convolutions.rs` does.
pub fn ops(complex: bool) -> impl Iterator<Item = &'static OpDef> {
    let alone = fusion::COMPLEX_OPS.iter().copied().filter(move |_| complex);
    let real = fusion::real_ops().filter(|def| def.class != OpClass::Routine);
    real.chain(alone)
}

/// Ops of the `fusion` dialect that `config` lets through.
pub fn drawable(config: &Config) -> Vec<&'static OpDef> {
    let listed = |def: &&OpDef| match config.allowed.as_slice() {
        [] => def.class != OpClass::Convolution,
        allowed => allowed.contains(&def.name),
    };
    let fits = |def: &&OpDef| config.tier == Tier::Bounded || facts::may_be_exact(def);
    ops(config.complex).filter(listed).filter(fits).collect()
}

/// A random fusion.
pub fn generate(source: &mut Source, config: &Config) -> Case {
    let mut maker = Maker::new(source, config.clone());
    let ops = drawable(config);
    let wanted = 1 + maker.source.below(config.ops);
    for _ in 0..wanted {
        if maker.is_full() {
            break;
        }
        if config.templates && maker.source.chance(1, 8) {
            templates::any(&mut maker);
        } else if let Some(&def) = maker.source.pick(&ops) {
            ops::draw(&mut maker, def);
        }
    }
    maker.finish()
}
