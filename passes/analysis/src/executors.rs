//! Executors: means other than a fused kernel to run an op as a whole.
//!
//! ```text
//! %y = fusion.matmul %a, %b        gemm takes it:   a segment of kind "library", one call of a library
//!                                  mma takes it:    such a segment, one GPU kernel for this op alone
//!                                  cublaslt does:   that kernel, or a library call if the library is found at run time
//!                                  none does:       broadcast, mul and sum, which are fused with the ops around them
//! %z = fusion.scatter %c, %i, %u   scatter takes it: such a segment, a call of a routine that the runtime holds
//! ```
//!
//! An executor is a row of a table: its name, the ops that it takes on a target, and the parts of an epilogue that it
//! computes too. `decompose` asks the executors in order and decomposes each op that none takes. An op that is still
//! whole afterwards is a call. Never looks at data, and never at an op's name.

use fuser_dialects::kernel::product::Tile;
use fuser_ir::{DType, Ir, Op};
use fuser_pass::{OptionDef, OptionKind};
use fuser_target::Target;

use crate::cost::{Bindings, Call, Product};

/// A means besides kernels to run ops as a whole.
#[derive(Debug)]
pub struct Executor {
    /// The name, as in `--executors=`.
    pub name: &'static str,
    /// A sentence for help.
    pub doc: &'static str,
    /// The third operand of a product that the executor adds itself. A kernel after the call adds any other.
    pub adds: Adds,
    /// The decision of the executor about a call; `None` for an op of a kind that it does not know.
    takes: fn(&Target, &Call) -> Option<Result<(), Refusal>>,
}

/// A tensor that an executor adds to the sums of a product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Adds {
    /// Nothing.
    Nothing,
    /// A bias: one element for each column.
    Bias,
    /// A tensor of the result's shape, in the type that accumulates.
    Tensor,
}

impl Adds {
    /// True if the product `op` has no third operand, or one of this kind.
    pub fn takes(self, ir: &Ir, op: Op) -> bool {
        let Some(added) = ir.operands(op).nth(2) else {
            return true;
        };
        let Some(maps) = ir.maps(op) else {
            return false;
        };
        let (read, made) = (&maps.operands[2], &maps.results[0]);
        match self {
            Adds::Nothing => false,
            Adds::Bias => match (read.axes(), made.axes(), maps.operands[1].axes()) {
                (Some([own]), Some([.., last]), Some(columns)) => {
                    own == last && columns.contains(own)
                }
                _ => false,
            },
            Adds::Tensor => {
                let dtype = ir.value_kind(added).dtype();
                read == made && dtype.is_some_and(|dtype| dtype.accumulate() == dtype)
            }
        }
    }
}

/// Every executor, in the order in which they are asked.
pub static EXECUTORS: &[&Executor] = &[
    &GEMM, &LIBRARY, &MMA, &SDPA, &SCATTER, &SORT, &ROUTINE, &PLACED,
];

/// The library that `fuser-runtime` calls on the CPU.
static GEMM: Executor = Executor {
    name: "gemm",
    doc: "products of matrices and convolutions on the CPU, of any float type and any layout",
    adds: Adds::Tensor,
    takes: |target, call| {
        let (product, dims, features) = match call {
            Call::Product(product) => (product, 0, 0),
            Call::Convolution {
                product,
                dims,
                features,
            } => (product, *dims, *features),
            _ => return None,
        };
        let few = match dims > MOST_DIMENSIONS {
            true => Err(Refusal::TooManyDimensions {
                dims,
                most: MOST_DIMENSIONS,
            }),
            false => Ok(()),
        };
        let known = match product.dtype.is_float() {
            true => Ok(()),
            false => Err(Refusal::OtherType(product.dtype)),
        };
        let taken = on_the_cpu(target).and(known).and(few);
        // Few filters of many features: kernels would store the elements of all windows.
        let stored = product.batch == 1 && features >= LEAST;
        let thin = is_wide(product).or_else(|refusal| {
            match stored && product.rows.min(product.terms) >= LEAST {
                true => Ok(()),
                false => Err(refusal),
            }
        });
        Some(taken.and(thin))
    },
};

/// The name of [`LIBRARY`].
pub const CUBLASLT: &str = "cublaslt";

/// NVIDIA's library if it is found when a program runs, else the kernel of [`MMA`]: the compiled program contains the
/// kernel and names the product.
static LIBRARY: Executor = Executor {
    name: CUBLASLT,
    doc: "products of matrices on a GPU, of the types and layouts of mma: by NVIDIA's cuBLASLt where that is found when the program runs, else as mma",
    adds: Adds::Bias,
    takes: |target, call| (MMA.takes)(target, call),
};

/// A generated GPU kernel that computes one product and shares no loops with other ops.
static MMA: Executor = Executor {
    name: "mma",
    doc: "products of matrices on a GPU, of bf16 and f16 (on tensor cores), f32 and f64, and any layout",
    adds: Adds::Bias,
    takes: |target, call| {
        let Call::Product(product) = call else {
            return None;
        };
        let known = match Tile::of(product.dtype) {
            [] => Err(Refusal::OtherType(product.dtype)),
            _ => Ok(()),
        };
        let able = allowed_if(target.abilities().product_kernels);
        Some(able.and(known).and(is_wide(product)))
    },
};

/// The runtime's attention loop over keys and values, which holds one tile of the scores.
static SDPA: Executor = Executor {
    name: "sdpa",
    doc: "attention on the CPU, of f32, bf16 and f16 and any layout",
    adds: Adds::Nothing,
    takes: |target, call| {
        let Call::Attention(attention) = call else {
            return None;
        };
        let single = match attention.dtype.accumulate() {
            DType::F32 => Ok(()),
            _ => Err(Refusal::OtherType(attention.dtype)),
        };
        Some(on_the_cpu(target).and(single))
    },
};

/// The runtime's loop over the updates on a CPU; on a GPU the kernels of `lower-calls`.
static SCATTER: Executor = Executor {
    name: "scatter",
    doc: "scatters, of any type and any layout; on a GPU those for which sorting the indices takes less time than comparing all with all places",
    adds: Adds::Nothing,
    takes: |target, call| {
        let &Call::Scatter {
            each,
            elements,
            single,
            overwrites,
            ..
        } = call
        else {
            return None;
        };
        // A kernel compares each element with the only index, and is fused with the ops around it.
        if single && (!overwrites || !target.abilities().routines) {
            return Some(Err(Refusal::OneUpdate));
        }
        let pairs = elements.saturating_mul(each);
        let least = match target.abilities().routines {
            true => 0,
            false => pairs_in_launches(target, call.launches()),
        };
        Some(match pairs < least {
            true => Err(Refusal::FewPairs { pairs, least }),
            false => Ok(()),
        })
    },
};

/// The pairs of an element and an index that a GPU compares in the time of so many launches. A pair takes 6 instructions,
/// of which a GPU executes half as many as it counts operations.
fn pairs_in_launches(target: &Target, launches: u64) -> u64 {
    let us = launches.saturating_mul(target.launch_ns) / 1_000;
    us.saturating_mul(target.flops_per_us) / 12
}

/// The runtime's own sort of lines on a CPU; on a GPU the kernels of `lower-calls`.
static SORT: Executor = Executor {
    name: "sort",
    doc: "sorts, of any type and any layout; on a GPU lines that are long beside the bits of their elements",
    adds: Adds::Nothing,
    takes: |target, call| {
        let &Call::Sort { length, bits, .. } = call else {
            return None;
        };
        let least = ELEMENTS + u64::from(bits) / 2;
        Some(match !target.abilities().routines && length < least {
            true => Err(Refusal::ShortLines { length, least }),
            false => Ok(()),
        })
    },
};

/// Elements of a line from which a GPU sorts by digits, besides one for each two bits of an element. From there on digits
/// take about as many instructions as comparing all pairs, and move fewer bytes (docs/sorts.md).
const ELEMENTS: u64 = 16;

/// The crates that `fuser-runtime` calls on the CPU.
static ROUTINE: Executor = Executor {
    name: "routine",
    doc: "factorizations, triangular systems and Fourier transforms on the CPU, of f32 and f64 and any layout",
    adds: Adds::Nothing,
    takes: |target, call| matches!(call, Call::Routine { .. }).then(|| on_the_cpu(target)),
};

/// The plan of memory: kernels write their results into the result of the cat.
static PLACED: Executor = Executor {
    name: "placed",
    doc: "cats on the CPU of more parts than a kernel tells apart: each part is written where it lies in the result",
    adds: Adds::Nothing,
    takes: |target, call| matches!(call, Call::Placed { .. }).then(|| on_the_cpu(target)),
};

/// True if an executor takes placed cats on `target`, with the executors that `allowed` names.
pub fn takes_placed(target: &Target, allowed: &str) -> bool {
    on_the_cpu(target).is_ok() && is_named(PLACED.name, allowed)
}

fn on_the_cpu(target: &Target) -> Result<(), Refusal> {
    allowed_if(target.abilities().routines)
}

fn allowed_if(able: bool) -> Result<(), Refusal> {
    match able {
        true => Ok(()),
        false => Err(Refusal::OtherTarget),
    }
}

/// Refuses products that are bound by memory.
fn is_wide(product: &Product) -> Result<(), Refusal> {
    let shortest = product.rows.min(product.columns).min(product.terms);
    match shortest < LEAST {
        true => Err(Refusal::TooThin {
            shape: *product,
            least: LEAST,
        }),
        false => Ok(()),
    }
}

/// Least number of rows, columns and terms of a product that is worth a call. Below it, each loaded element is used
/// fewer than 8 times: the product is bound by memory, and a kernel fused with the neighbouring ops moves fewer bytes.
const LEAST: u64 = 8;

/// The most spatial axes along which the runtime reads windows.
const MOST_DIMENSIONS: usize = 4;

/// A reason why an executor does not take an op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// `--executors=` does not name it.
    Off,
    /// The executor is for other machines than the target.
    OtherTarget,
    /// A scatter has one update for each line.
    OneUpdate,
    /// A scatter on a GPU compares so few pairs that launches of a sort would take longer.
    FewPairs {
        /// The elements of the result times the indices that each is compared with.
        pairs: u64,
        /// The least number of pairs that is worth it.
        least: u64,
    },
    /// The lines of a sort are so short that comparing all pairs executes fewer instructions.
    ShortLines {
        /// The elements of a line.
        length: u64,
        /// The least number of elements that is worth it.
        least: u64,
    },
    /// The executor does not compute in this type.
    OtherType(DType),
    /// A convolution has more spatial axes than the runtime supports.
    TooManyDimensions {
        /// The spatial axes of the convolution.
        dims: usize,
        /// The most that the runtime supports.
        most: usize,
    },
    /// A dimension of the product is so short that memory bounds the product.
    TooThin {
        /// The product.
        shape: Product,
        /// The least length of rows, columns and terms.
        least: u64,
    },
}

impl Refusal {
    /// The reason in one line, with its numbers.
    pub fn render(&self) -> String {
        match self {
            Self::Off => "off".into(),
            Self::OtherTarget => "other-target".into(),
            Self::OneUpdate => "one-update".into(),
            Self::FewPairs { pairs, least } => {
                format!("few-pairs {{ pairs: {pairs}, least: {least} }}")
            }
            Self::ShortLines { length, least } => {
                format!("short-lines {{ length: {length}, least: {least} }}")
            }
            Self::OtherType(dtype) => format!("other-type {{ {} }}", dtype.name()),
            Self::TooManyDimensions { dims, most } => {
                format!("too-many-dimensions {{ dims: {dims}, most: {most} }}")
            }
            Self::TooThin { shape, least } => format!(
                "too-thin {{ rows: {}, columns: {}, terms: {}, least: {least} }}",
                shape.rows, shape.columns, shape.terms
            ),
        }
    }
}

/// The choice of the executor that runs an op as a whole.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The op's kind and extents.
    pub call: Call,
    /// The executor that takes the op; `None` if the op is decomposed.
    pub by: Option<&'static Executor>,
    /// The executors asked before that did not take the op, each with its reason.
    pub refused: Vec<(&'static str, Refusal)>,
}

impl Decision {
    /// The decision about `op` on `target` among the executors that `allowed` names; `None` if no executor is made for
    /// such ops.
    pub fn of(
        ir: &Ir,
        op: Op,
        target: &Target,
        bindings: &Bindings,
        allowed: &str,
    ) -> Option<Self> {
        let call = Call::of(ir, op, bindings)?;
        let mut refused = Vec::new();
        for &executor in EXECUTORS {
            let Some(takes) = (executor.takes)(target, &call) else {
                continue;
            };
            match is_allowed(executor.name, allowed).and(takes) {
                Ok(()) => {
                    return Some(Self {
                        call,
                        by: Some(executor),
                        refused,
                    });
                }
                Err(refusal) => refused.push((executor.name, refusal)),
            }
        }
        Some(Self {
            call,
            by: None,
            refused,
        })
    }
    /// `product %y (1 times 64x32 of 16 terms): a kernel; gemm: off`
    pub fn render(&self, ir: &Ir, op: Op) -> String {
        let by = self.by.map_or("a kernel", |executor| executor.name);
        let refused = self.refused.iter();
        let refused: String = refused
            .map(|(name, refusal)| format!("; {name}: {}", refusal.render()))
            .collect();
        format!("{}: {by}{refused}", self.call.render(ir, op))
    }
}

/// The option that selects the executors. Tools fill it in.
pub const OPTION: OptionDef = OptionDef {
    name: "executors",
    kind: OptionKind::Checked {
        what: PLACEHOLDER,
        check,
    },
    default: "",
    doc: "who may run a product, attention, a scatter or a sort as a whole: names of executors, none, or all; left out: --executors', or all",
};

/// The form of the option's values, for help.
pub const PLACEHOLDER: &str = "none|all|NAME,...";

/// Checks a value of the option.
pub fn check(value: &str) -> Result<(), String> {
    let known = |name: &str| EXECUTORS.iter().any(|e| e.name == name);
    match value {
        "" | "all" | "none" => Ok(()),
        names => match names.split(',').find(|name| !known(name)) {
            None => Ok(()),
            Some(name) => {
                let names: Vec<&str> = EXECUTORS.iter().map(|e| e.name).collect();
                let names = names.join(", ");
                Err(format!(
                    "there is no executor '{name}': there are {names}; or none, or all"
                ))
            }
        },
    }
}

/// True if a value of the option names an executor.
pub fn is_named(name: &str, allowed: &str) -> bool {
    matches!(allowed, "" | "all") || allowed.split(',').any(|own| own == name)
}

fn is_allowed(name: &str, allowed: &str) -> Result<(), Refusal> {
    match is_named(name, allowed) {
        true => Ok(()),
        false => Err(Refusal::Off),
    }
}
