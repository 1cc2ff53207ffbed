//! Decomposes composite ops, so that segmentation sees each walk that they need.
//!
//! ```text
//! %var, %mean = fusion.var_mean %x dims [1] correction 0      // f32
//!   =>
//! %s    = fusion.sum %x dims [1]
//! %mean = fusion.div %s, %n
//! %mb   = fusion.broadcast %mean dims [0] shape [[B], 1024]
//! %c    = fusion.sub %x, %mb
//! %sq   = fusion.mul %c, %c
//! %ss   = fusion.sum %sq dims [1]
//! %var  = fusion.div %ss, %n
//! ```
//!
//! `var_mean` takes two passes over the data, by its definition. It works in parts if fast memory does not hold all
//! data, or if a GPU's threads share columns. 16-bit inputs are widened first, and each result is rounded once. Random
//! numbers become bits of `fusion.philox` at each element's position, and arithmetic. Never changes a bit of a result
//! if sums are formed in the same order.
//!
//! - `decompose/variance.rs`: means and variances.
//! - `decompose/product.rs`: products.
//! - `decompose/attention.rs`: attention.
//! - `decompose/scatter.rs`: scatters.
//! - `decompose/sort.rs`: sorts.
//! - `decompose/scan.rs`: long scans on a GPU.

mod arg;
mod attention;
pub(crate) mod call;
mod convolution;
mod lambda;
mod product;
mod random;
mod roll;
mod scan;
mod scatter;
mod sort;
mod variance;

use fuser_analysis::cost::is_call;
use fuser_analysis::executors;
use fuser_analysis::targets::{SHAPE, TARGET};
use fuser_dialects::fusion::build::FusionBuilder;
use fuser_dialects::task::labels;
use fuser_dialects::{fusion, task};
use fuser_ir::build::Builder;
use fuser_ir::def::{Computes, OpClass, OpError};
use fuser_ir::{DType, Diagnostics, Dim, Ir, Op, OpDef, Value, layout};
use fuser_pass::{PassContext, PassDef, StatDef};
use fuser_target::Target;

use crate::recognize_patterns;
use call::Goal;

use crate::canonicalize::parts;

/// The kind of file in which a pass explains decisions made before segmentation. It precedes the explanation of
/// segments.
pub const EXPLAIN_EARLIER: &str = "explain-earlier";

/// `decompose`
pub static DECOMPOSE: PassDef = PassDef {
    name: "decompose",
    summary: "takes composite ops apart",
    doc: "Replaces `fusion.var_mean` by sums, so that its two walks over the data are ops of their own that segmentation and \
          scheduling can place, and by sums of parts on a CPU where fast memory does not hold what a mean is of, and on a GPU where it is of columns; `mean`, `argmax` and `argmin` likewise, `fold` by the last step of a scan, `roll` by slices, `one_hot` by a comparison, and random \
          numbers by arithmetic on random bits. A product \
          (`fusion.matmul`, `fusion.linear`) that an executor takes stays whole, without its bias unless the executor adds that, and reads permuted operands as they \
          lie in memory; on a CPU the sum of such a product of f32 or f64 and a tensor that is in memory anyway becomes one call. Others become a `mul` of their broadcast operands and a `sum`. Attention that no executor takes becomes two products and the ops of a softmax. So do scatters: one that no executor takes becomes a \
          comparison of all indices with all places, and a reduction, and a sort one of all pairs of elements. On a GPU few long lines of a scan are taken in parts, which are scanned behind what \
          all parts before have together: those of a `cumsum` or another named scan, and of a `scan` or a `fold` whose lambda is `associative` and rounds nothing. A `task.pattern` \
          with the name of a product or of attention (`@matmul`, `@linear`, `@sdpa`) becomes that op where an executor takes it and its ops are still those, as \
          `recognize-patterns` finds them; otherwise its own ops stay, without the border. `--explain` tells who takes which and why. \
          Results of products change within their bounds only.",
    anchor: &["task.program"],
    options: &[
        TARGET,
        SHAPE,
        executors::OPTION,
        recognize_patterns::DROP_ROUNDINGS,
    ],
    statistics: &[
        StatDef {
            name: "decomposed",
            doc: "composite ops replaced",
        },
        StatDef {
            name: "calls",
            doc: "ops that executors run as a whole",
        },
        StatDef {
            name: "sums",
            doc: "sums of a product and a tensor in memory that became one call",
        },
        StatDef {
            name: "patterns",
            doc: "patterns that became the op of their name",
        },
    ],
    run,
    ..PassDef::EMPTY
};

/// The values that replace the results of a composite op, inserted before it; empty if the op stays.
type Parts = Result<Vec<Value>, OpError>;

/// A function that makes the results of an op of others.
type TakeApart = fn(&mut Ir, Op, &Target) -> Parts;

/// The composite ops that are never calls, and the function that decomposes each.
static COMPOSITES: &[(&OpDef, TakeApart)] = &[
    (&fusion::VAR_MEAN, variance::var_mean),
    (&fusion::MEAN, |ir, op, _| variance::mean(ir, op)),
    (&fusion::ARGMAX, |ir, op, _| arg::argmax(ir, op)),
    (&fusion::ARGMIN, |ir, op, _| arg::argmin(ir, op)),
    (&fusion::FOLD, |ir, op, _| lambda::fold(ir, op)),
    (&fusion::TOPK, |ir, op, _| sort::topk(ir, op)),
    (&fusion::ROLL, |ir, op, _| roll::roll(ir, op)),
    (&fusion::ONE_HOT, |ir, op, _| roll::one_hot(ir, op)),
    (&fusion::UNIFORM, |ir, op, _| random::uniform(ir, op)),
    (&fusion::NORMAL, |ir, op, _| random::normal(ir, op)),
    (&fusion::BERNOULLI, |ir, op, _| random::bernoulli(ir, op)),
];

fn run(ctx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
    let goal = Goal::of(ctx)?;
    let mut told = String::new();
    recognize_patterns::claim(ctx, &goal, &mut told);
    let mut waiting = ctx.ir.walk(ctx.op);
    waiting.reverse();
    while let Some(op) = waiting.pop() {
        if goal.places() {
            parts::place(ctx.ir, op, goal.target());
        }
        if product::with_sum(ctx.ir, op, &goal).is_some() {
            ctx.count("sums", 1);
            continue;
        }
        let composite = COMPOSITES.iter().find(|(def, _)| ctx.ir.is(op, def));
        let cut = scan::cut(ctx.ir, op, goal.target());
        let class = ctx.ir.def(op).map(|def| def.class);
        let whole = matches!(class, Some(OpClass::Control | OpClass::Collective));
        let called = is_call(ctx.ir, op) && !whole;
        if composite.is_none() && cut.is_none() && !called {
            continue;
        }
        // The walks of a sweep are drawn; lowering refuses an op that needs several.
        if class == Some(OpClass::Reduction) && is_in_sweep(ctx.ir, op) {
            continue;
        }
        // What an op is made of may be a call.
        let again = composite.is_some()
            || ctx
                .ir
                .def(op)
                .is_some_and(|d| matches!(d.class, OpClass::Attention | OpClass::Convolution));
        // Of a scan the parts are folded.
        let folds = cut.is_some();
        let before = ctx.ir.prev_op(op);
        let parts = match (composite, cut) {
            (Some(_), Some(cut)) => lambda::in_parts(ctx.ir, op, &cut),
            (Some((_, parts)), None) => parts(ctx.ir, op, goal.target()),
            (None, Some(cut)) => scan::in_parts(ctx.ir, op, &cut),
            (None, None) => call::apart(ctx, op, &goal, &mut told),
        };
        match parts {
            Ok(values) if values.is_empty() => {}
            Ok(values) => {
                labels::inherit(ctx.ir, before, op);
                let mut made = ctx.ir.prev_op(op);
                while let Some(part) = made.filter(|_| made != before) {
                    if again || folds && ctx.ir.computes(part) == Some(Computes::Composite) {
                        waiting.push(part);
                    }
                    name_part(ctx.ir, op, part);
                    made = ctx.ir.prev_op(part);
                }
                for (index, value) in values.into_iter().enumerate() {
                    let result = ctx.ir.result(op, index);
                    let name = ctx.ir.value_name_sym(result);
                    ctx.ir.set_value_name(value, name);
                    // What takes a result's place lies in memory as that did.
                    if layout::is_stated(ctx.ir, result) {
                        let ty = ctx.ir.value_type(result);
                        ctx.ir.set_value_type(value, ty);
                    }
                    ctx.ir.replace_all_uses(result, value);
                }
                ctx.ir.erase(op);
                ctx.count("decomposed", 1);
            }
            // Inference refused what verified: the op stays, and later passes say what they cannot do.
            Err(error) => ctx.debug("decompose", |_| error.message.clone()),
        }
    }
    if !told.is_empty() && ctx.wants_file("explain") {
        ctx.emit_file(EXPLAIN_EARLIER, told);
    }
    Ok(())
}

/// True if the op is part of a sweep, directly or in a phase.
fn is_in_sweep(ir: &Ir, op: Op) -> bool {
    let mut around = std::iter::successors(ir.parent_op(op), |&op| ir.parent_op(op));
    around.any(|op| ir.is(op, &task::SWEEP))
}

/// Names of so many bytes get no longer.
const LONG_NAME: usize = 256;

/// Names the results of an unnamed op in the decomposition of `op` after it: `%y_exp` for `%y`.
fn name_part(ir: &mut Ir, op: Op, part: Op) {
    let whole = ir.results(op).first().and_then(|&v| ir.value_name(v));
    let Some(whole) = whole.filter(|name| name.len() < LONG_NAME) else {
        return;
    };
    let word = ir.name(part).rsplit('.').next().unwrap_or_default();
    let name = format!("{whole}_{word}");
    for (index, value) in ir.results(part).to_vec().into_iter().enumerate() {
        if ir.value_name_sym(value).is_none() {
            let name = match index {
                0 => ir.sym(&name),
                _ => ir.sym(&format!("{name}#{index}")),
            };
            ir.set_value_name(value, Some(name));
        }
    }
}

/// A reduction, and the op that joins another element.
type Combining = (&'static OpDef, &'static OpDef);

/// The words by which scatters combine elements, and the ops that compute the combination; `None` if the last element
/// wins.
static COMBINES: &[(&str, Option<Combining>)] = &[
    ("set", None),
    ("add", Some((&fusion::SUM, &fusion::ADD))),
    ("mul", Some((&fusion::PROD, &fusion::MUL))),
    ("max", Some((&fusion::MAX, &fusion::MAXIMUM))),
    ("min", Some((&fusion::MIN, &fusion::MINIMUM))),
];

/// The number of elements along these axes, as a scalar of type `dtype`.
fn count(b: &mut Builder<'_>, reduced: &[Dim], dtype: DType) -> Result<Value, OpError> {
    let ty = b.ir.scalar(dtype);
    let fixed = reduced.iter().try_fold(1u64, |n, d| match d.extent {
        fuser_ir::Extent::Static(e) => n.checked_mul(e),
        _ => None,
    });
    match fixed {
        Some(n) if dtype.is_float() => return b.constant_float(n as f64, ty),
        Some(n) => return b.constant_int(n as i64, ty),
        None => {}
    }
    let shape = b.shape("shape", reduced);
    let n = b.value(&fusion::SIZE, &[], &[shape])?;
    b.cast(n, dtype)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_composite_op_is_taken_apart() {
        for def in fusion::DIALECT.ops {
            let composite = def.computes == Some(Computes::Composite);
            let known = COMPOSITES
                .iter()
                .any(|(known, _)| std::ptr::eq(*known, *def))
                || matches!(
                    def.class,
                    OpClass::Contraction
                        | OpClass::Convolution
                        | OpClass::Attention
                        | OpClass::Scatter
                        | OpClass::Sort
                        | OpClass::Routine
                );
            assert_eq!(composite, known, "{}", def.name);
        }
    }
}
