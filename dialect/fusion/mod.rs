//! The `fusion` dialect: pure tensor ops, the leaves of every program.
//!
//! | file | ops |
//! |---|---|
//! | `unary.rs`, `binary.rs`, `select.rs` | elementwise |
//! | `creation.rs` | constants, `full`, `iota` |
//! | `reshape.rs` | `broadcast` to `segment_set`: shape only |
//! | `window.rs` | `slice`, `pad`, `cat` |
//! | `reduction.rs` | `sum` to `var_mean` |
//!
//! `maps.rs` has the indexing maps of all of them.
//!
//! Inference lives beside the table that names it and is made of the pieces in `shape.rs`; the errors are in `codes.rs`.

pub mod binary;
pub mod build;
pub mod codes;
pub mod creation;
pub mod elementwise;
pub mod fold;
pub mod maps;
pub mod reduction;
pub mod reshape;
pub mod select;
pub mod shape;
pub mod unary;
pub mod window;

use fuser_ir::def::DialectDef;

pub use binary::{
    ADD, AND, DIV, FMAX, FMIN, MAXIMUM, MINIMUM, MUL, OR, POW, REM, SHL, SHR, SUB, XOR,
};
pub use creation::{CONSTANT, FULL, IOTA, SIZE};
pub use reduction::{MAX, MAX_NUM, MIN, MIN_NUM, PROD, SUM, VAR_MEAN};
pub use reshape::{BROADCAST, COPY, EXPAND, PERMUTE, RESHAPE, SEGMENT_SET, SQUEEZE};
pub use select::{BITCAST, CAST, CLAMP, COMPARE, WHERE};
pub use unary::{
    ABS, CEIL, COS, ERF, EXP, EXP2, EXPM1, FLOOR, ISFINITE, ISNAN, LOG, LOG1P, LOG2, NEG, NOT,
    RECIPROCAL, RELU, ROUND, RSQRT, SIGMOID, SIGN, SIN, SQRT, TAN, TANH, TRUNC,
};
pub use window::{CAT, PAD, SLICE};

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
          **Integers** wrap. Division by zero, shifts and casts out of range are defined at the ops. `index` is a signed 64-bit \
          integer.",
    ops: &[
        &NEG,
        &ABS,
        &SIGN,
        &CEIL,
        &FLOOR,
        &ROUND,
        &TRUNC,
        &EXP,
        &EXP2,
        &EXPM1,
        &LOG,
        &LOG2,
        &LOG1P,
        &SQRT,
        &RSQRT,
        &RECIPROCAL,
        &SIN,
        &COS,
        &TAN,
        &TANH,
        &ERF,
        &SIGMOID,
        &RELU,
        &NOT,
        &ISNAN,
        &ISFINITE,
        &ADD,
        &SUB,
        &MUL,
        &DIV,
        &REM,
        &POW,
        &MAXIMUM,
        &MINIMUM,
        &FMAX,
        &FMIN,
        &AND,
        &OR,
        &XOR,
        &SHL,
        &SHR,
        &COMPARE,
        &WHERE,
        &CLAMP,
        &CAST,
        &BITCAST,
        &CONSTANT,
        &FULL,
        &IOTA,
        &SIZE,
        &BROADCAST,
        &EXPAND,
        &SQUEEZE,
        &PERMUTE,
        &RESHAPE,
        &COPY,
        &SEGMENT_SET,
        &SLICE,
        &PAD,
        &CAT,
        &SUM,
        &PROD,
        &MAX,
        &MIN,
        &MAX_NUM,
        &MIN_NUM,
        &VAR_MEAN,
    ],
};
