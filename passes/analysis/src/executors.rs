//! Executors: what runs an op as a whole in place of a kernel.
//!
//! ```text
//! %y = fusion.matmul %a, %b        gemm takes it:   a segment of kind "library", one call of a library
//!                                  nobody does:     broadcast, mul and sum, which share kernels with what stands around them
//! ```
//!
//! An executor is a row of a table: a name, and the products that it takes on a target. `decompose` asks here and takes apart what nobody takes;
//! a product that is still whole afterwards is a call. Never looks at data, and never at an op's name.

use fuser_ir::{Ir, Op};
use fuser_pass::{OptionDef, OptionKind};
use fuser_target::Target;

use crate::axes::value_text;
use crate::cost::{Bindings, Product};

/// A means besides kernels to run products as a whole.
#[derive(Debug)]
pub struct Executor {
    /// The name, as in `--executors=`.
    pub name: &'static str,
    /// A sentence for help.
    pub doc: &'static str,
    takes: fn(&Target, &Product) -> Result<(), Refusal>,
}

/// Every executor, in the order in which they are asked.
pub static EXECUTORS: &[&Executor] = &[&GEMM];

/// The library that `fuser-runtime` calls on the CPU.
static GEMM: Executor = Executor {
    name: "gemm",
    doc: "products of matrices on the CPU, of any float type and any layout",
    takes: |target, product| {
        if target.is_gpu() {
            return Err(Refusal::OtherTarget);
        }
        let shortest = product.rows.min(product.columns).min(product.terms);
        match shortest < LEAST {
            true => Err(Refusal::TooThin {
                shape: *product,
                least: LEAST,
            }),
            false => Ok(()),
        }
    },
};

/// Rows, columns and terms from which on a product is worth a call. Below, each element that it reads is used fewer than so many times:
/// memory bounds it, and a kernel that shares it with what stands around it moves fewer bytes.
const LEAST: u64 = 8;

/// A reason that an executor does not take a product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// `--executors=` does not name it.
    Off,
    /// It is for other machines than the target.
    OtherTarget,
    /// A side of the product is so short that memory bounds it.
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
            Self::TooThin { shape, least } => format!(
                "too-thin {{ rows: {}, columns: {}, terms: {}, least: {least} }}",
                shape.rows, shape.columns, shape.terms
            ),
        }
    }
}

/// The choice of the executor that runs a product.
#[derive(Clone, Debug)]
pub struct Decision {
    /// Its extents.
    pub product: Product,
    /// The executor that takes it; `None` where it is taken apart.
    pub by: Option<&'static Executor>,
    /// The executors that were asked before and did not take it.
    pub refused: Vec<(&'static str, Refusal)>,
}

impl Decision {
    /// The decision about `op` on `target`, with the executors that `allowed` names; `None` where it is no product.
    pub fn of(
        ir: &Ir,
        op: Op,
        target: &Target,
        bindings: &Bindings,
        allowed: &str,
    ) -> Option<Self> {
        let product = Product::of(ir, op, bindings)?;
        let mut refused = Vec::new();
        for &executor in EXECUTORS {
            let takes = match is_allowed(executor.name, allowed) {
                true => (executor.takes)(target, &product),
                false => Err(Refusal::Off),
            };
            match takes {
                Ok(()) => {
                    return Some(Self {
                        product,
                        by: Some(executor),
                        refused,
                    });
                }
                Err(refusal) => refused.push((executor.name, refusal)),
            }
        }
        Some(Self {
            product,
            by: None,
            refused,
        })
    }
    /// `product %y (64x32 of 16 terms, 1 time): a kernel; gemm: off`
    pub fn render(&self, ir: &Ir, op: Op) -> String {
        let Product {
            batch,
            rows,
            columns,
            terms,
        } = self.product;
        let name = value_text(ir, ir.result(op, 0));
        let by = self.by.map_or("a kernel", |executor| executor.name);
        let refused = self.refused.iter();
        let refused: String = refused
            .map(|(name, refusal)| format!("; {name}: {}", refusal.render()))
            .collect();
        format!("product {name} ({batch} times {rows}x{columns} of {terms} terms): {by}{refused}")
    }
}

/// The option that says which executors there are. Tools fill it in.
pub const OPTION: OptionDef = OptionDef {
    name: "executors",
    kind: OptionKind::Checked {
        what: PLACEHOLDER,
        check,
    },
    default: "",
    doc: "who may run a product as a whole: names of executors, none, or all; left out: --executors', or all",
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

fn is_allowed(name: &str, allowed: &str) -> bool {
    matches!(allowed, "" | "all") || allowed.split(',').any(|own| own == name)
}
