//! The `fusion` dialect: pure tensor ops, the leaves of every program.
//!
//! | file | ops |
//! |---|---|
//! | `unary.rs`, `binary.rs`, `select.rs` | elementwise |
//! | `complex.rs` | complex numbers and their parts |
//! | `philox.rs` | elementwise, random bits |
//! | `random.rs` | random numbers |
//! | `creation.rs` | constants, `full`, `iota` |
//! | `reshape.rs` | `broadcast` to `segment_set`: shape only |
//! | `window.rs` | `slice`, `flip`, `pad`, `cat` |
//! | `gather.rs` | `take`, `take_along` |
//! | `reduction.rs` | `sum` to `var_mean` |
//! | `arg.rs` | reductions to an index |
//! | `scan.rs` | reductions that keep every step |
//! | `lambda.rs` | `fold`, `scan`, `last` |
//! | `product.rs` | `matmul`, `linear` |
//! | `convolution.rs` | `convolution` |
//! | `attention.rs` | `sdpa` |
//! | `scatter.rs` | `index_put`, `scatter` |
//! | `sort.rs` | `sort`, `argsort`, `topk` |
//! | `routine.rs` | factors of matrices, triangular systems, `fft` |
//! | `collective.rs` | what devices of a mesh do together |
//! | `composite.rs` | `roll`, `one_hot` |
//! | `terminator.rs` | `yield` |
//!
//! `maps.rs` has the indexing maps of all of them.
//!
//! Inference is in the file of the table that names it, and uses the functions of `shape.rs`; error codes are in
//! `codes.rs`.

pub mod arg;
pub mod attention;
pub mod binary;
pub mod build;
pub mod codes;
pub mod collective;
pub mod complex;
pub mod composite;
pub mod convolution;
pub mod creation;
pub mod elementwise;
pub mod fold;
pub mod gather;
pub mod lambda;
pub mod maps;
pub mod philox;
pub mod product;
pub mod random;
pub mod reduction;
pub mod reshape;
pub mod routine;
pub mod scan;
pub mod scatter;
pub mod select;
pub mod shape;
pub mod sort;
pub mod terminator;
pub mod unary;
pub mod window;

use fuser_ir::def::{DialectDef, OpDef};

pub use arg::*;
pub use attention::*;
pub use binary::*;
pub use collective::*;
pub use complex::{COMPLEX, COMPLEX_OPS, CONJ, IMAG, REAL};
pub use composite::*;
pub use convolution::{CONVOLUTION, CONVOLUTION_OPS};
pub use creation::*;
pub use gather::*;
pub use lambda::{FOLD, LAMBDA_OPS, LAST, SCAN};
pub use philox::*;
pub use product::*;
pub use random::*;
pub use reduction::*;
pub use reshape::*;
pub use routine::*;
pub use scan::*;
pub use scatter::*;
pub use select::*;
pub use sort::*;
pub use terminator::*;
pub use unary::*;
pub use window::*;

/// The ops of all tables.
static OPS: [&OpDef; LISTS.len()] = LISTS.joined();

const LISTS: Lists = Lists(&[
    UNARY_OPS,
    BINARY_OPS,
    SELECT_OPS,
    COMPLEX_OPS,
    PHILOX_OPS,
    CREATION_OPS,
    RANDOM_OPS,
    RESHAPE_OPS,
    WINDOW_OPS,
    GATHER_OPS,
    REDUCTION_OPS,
    ARG_OPS,
    SCAN_OPS,
    LAMBDA_OPS,
    PRODUCT_OPS,
    CONVOLUTION_OPS,
    ATTENTION_OPS,
    SCATTER_OPS,
    SORT_OPS,
    ROUTINE_OPS,
    COLLECTIVE_OPS,
    COMPOSITE_OPS,
    TERMINATOR_OPS,
]);

/// The ops that one device computes on real numbers: all ops except complex and collective ones.
pub fn real_ops() -> impl Iterator<Item = &'static OpDef> {
    let others = [COMPLEX_OPS, COLLECTIVE_OPS].into_iter().flatten();
    let other = move |def: &OpDef| others.clone().any(|own| std::ptr::eq(*own, def));
    OPS.iter().copied().filter(move |def| !other(def))
}

/// Concatenated lists of ops.
struct Lists(&'static [&'static [&'static OpDef]]);

impl Lists {
    const fn len(&self) -> usize {
        let (mut length, mut list) = (0, 0);
        while list < self.0.len() {
            length += self.0[list].len();
            list += 1;
        }
        length
    }
    const fn joined<const N: usize>(&self) -> [&'static OpDef; N] {
        let mut all = [self.0[0][0]; N];
        let (mut at, mut list) = (0, 0);
        while list < self.0.len() {
            let mut place = 0;
            while place < self.0[list].len() {
                all[at] = self.0[list][place];
                (at, place) = (at + 1, place + 1);
            }
            list += 1;
        }
        all
    }
}

/// The dialect.
pub static DIALECT: DialectDef = DialectDef {
    name: "fusion",
    doc: "Pure tensor ops. No op has an effect but its results, and none has undefined behaviour.\n\n\
          **Strict types.** Nothing is promoted and nothing is broadcast, but for one rule: elementwise ops take tensors, \
          vectors and scalars, and a scalar (a scalar type or a rank-0 tensor) may stand beside a tensor of any shape; the \
          result has the shape of the others. A scalar type may also stand beside a vector. Tensors and vectors do not mix.\n\n\
          **Extents.** Two extents agree if they are the same number or the same polynomial of named extents. `?` agrees with \
          nothing. Where a `b` axis (stored once) meets a plain one the result is plain; two `b` axes give a `b` axis. An \
          axis of extent 1 never stretches by itself.\n\n\
          **Layout.** Results are dense row-major by inference; a written result type may add a layout.\n\n\
          **Floats.** IEEE 754 with subnormals, rounding to nearest even. On `f16` and `bf16` every elementwise op converts its \
          operands to f32, computes there and rounds once. An op that makes a NaN makes a quiet one; its sign and payload are not \
          specified, except by `neg`, `abs`, `where`, `bitcast` and the shape ops, which keep bits. Functions other than \
          `+ - * /`, `sqrt`, rounding and comparison are accurate within the bounds of docs/math.md, not correctly rounded.\n\n\
          **Floats of 8 bits** (`f8E4M3FN`, `f8E5M2`, `f8E8M0FNU`) **and of 4** (`f4E2M1FN`) are stored: they are cast, chosen, moved and read as \
          other bits, and have no arithmetic and no order. Casts to f32 and back say where a program computes and where it rounds. \
          `f4E2M1FN` holds 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives, and nothing else. Callers of a program give and get two of them in \
          each byte (`task.program`).\n\n\
          **Complex numbers** (`complex<f32>`, `complex<f64>`) are pairs of reals. An op that takes them is the formula of real ops that its \
          definition states, with a real part `a` and an imaginary part `b` of each operand; each real op rounds, and makes the zeros, \
          infinities and NaN that it makes of its operands. So the elementary functions have the values of C (Annex \
          G of ISO/IEC 9899) at zeros, infinities and NaN, \
          with the signs of NumPy where C leaves them open. `eq` and `ne` are the only order. Shape ops, `where`, \
          `sum`, `cumsum`, `mean`, `take`, `pad` and \
          others that move or add elements do so with both parts.\n\n\
          **Integers** wrap. Division by zero, shifts and casts out of range are defined at the ops. `index` is a signed 64-bit \
          integer.",
    ops: &OPS,
    discardable: &[],
};
