//! Semantics of the ops of the `fusion` dialect, by the definitions in their tables.
//!
//! | file | ops |
//! |---|---|
//! | `code.rs` | names to ops |
//! | `elementwise.rs` | one result element from one element of each operand |
//! | `complex.rs` | complex numbers |
//! | `create.rs` | constants, `full`, `iota` |
//! | `random.rs` | random bits and numbers |
//! | `shape.rs` | shape and layout |
//! | `window.rs` | `slice`, `flip`, `pad`, `cat` |
//! | `gather.rs` | `take`, `take_along` |
//! | `scatter.rs` | `index_put`, `scatter` |
//! | `sort.rs` | `sort`, `argsort`, `topk` |
//! | `reduce.rs` | reductions along axes |
//! | `scan.rs` | reductions along an axis of which every step is kept |
//! | `product.rs` | sums of products along an axis of two operands |
//! | `convolution.rs` | sums of products of windows and a kernel |
//! | `routine/` | factors of matrices, triangular systems, transforms of lines |
//! | `attention.rs` | values weighted by a softmax of products |

pub(crate) mod attention;
pub(crate) mod code;
pub(crate) mod complex;
pub(crate) mod convolution;
pub(crate) mod create;
pub(crate) mod elementwise;
pub(crate) mod gather;
pub(crate) mod lambda;
pub(crate) mod product;
pub(crate) mod random;
pub(crate) mod reduce;
pub(crate) mod routine;
pub(crate) mod scan;
pub(crate) mod scatter;
pub(crate) mod shape;
pub(crate) mod sort;
pub(crate) mod window;

use fuser_ir::DType;

/// The kind of lane in which elements of a type compute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    F32,
    F64,
    Int,
    Bounded,
}

impl Kind {
    pub fn of(dtype: DType, reference: bool) -> Self {
        match (dtype.is_float(), reference, dtype) {
            (false, ..) => Self::Int,
            (true, true, _) => Self::Bounded,
            (true, false, DType::F64) => Self::F64,
            _ => Self::F32,
        }
    }
}

/// Does `$body` with `$lane` as the lane type of `$kind`.
macro_rules! with_lane {
    ($kind:expr, $lane:ident => $body:expr) => {
        match $kind {
            $crate::ops::Kind::F32 => {
                type $lane = f32;
                $body
            }
            $crate::ops::Kind::F64 => {
                type $lane = f64;
                $body
            }
            $crate::ops::Kind::Int => {
                type $lane = $crate::number::Int;
                $body
            }
            $crate::ops::Kind::Bounded => {
                type $lane = $crate::number::Bounded;
                $body
            }
        }
    };
}
pub(crate) use with_lane;
