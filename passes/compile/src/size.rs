//! Sizes: the translation of extents in types, and of index arithmetic in kernels, to the expressions of an artifact.
//!
//! A kernel computes its own grid and scratch sizes from its extent parameters. Reading them back from its entry block
//! keeps a single source of truth. Never guesses: an index that is not a function of the extents has no expression.

use std::collections::BTreeMap;

use fuser_artifact::{DimSpec, SizeExpr};
use fuser_dialects::kernel;
use fuser_dialects::kernel::SCRATCH_ALIGN;
use fuser_ir::def::Computes;
use fuser_ir::types::{ExtentExpr, MemSpace};
use fuser_ir::{Dim, Ir, Op, Sym, Value};
use rustc_hash::FxHashMap;

/// The named extents of a program, numbered in the order of their names.
#[derive(Clone, Debug, Default)]
pub struct ExtentTable {
    numbers: BTreeMap<String, u32>,
    /// The names that are halves of others, each with the other.
    halves: BTreeMap<String, String>,
}

impl ExtentTable {
    /// A table of `names`; further ones are halves of some of them.
    pub fn new(
        names: impl IntoIterator<Item = String>,
        halves: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        let names: std::collections::BTreeSet<String> = names.into_iter().collect();
        Self {
            numbers: names.into_iter().zip(0..).collect(),
            halves: halves.into_iter().collect(),
        }
    }
    /// The names in order.
    pub fn names(&self) -> Vec<String> {
        self.numbers.keys().cloned().collect()
    }
    /// The expression of one name.
    pub fn name(&self, ir: &Ir, name: Sym) -> Option<SizeExpr> {
        self.factor(ir, name, &mut 1)
    }
    /// The expression of a name multiplied by `coefficient`. Twice a half extent is the whole, which removes a factor
    /// of two from the coefficient.
    fn factor(&self, ir: &Ir, name: Sym, coefficient: &mut i64) -> Option<SizeExpr> {
        let name = ir.str(name);
        let number = |name: &str| self.numbers.get(name).map(|&n| SizeExpr::extent(n));
        let Some(whole) = self.halves.get(name) else {
            return number(name);
        };
        let whole = number(whole)?;
        match *coefficient % 2 {
            0 => {
                *coefficient /= 2;
                Some(whole)
            }
            _ => Some(whole.floor_div(SizeExpr::constant(2))),
        }
    }
    /// The expression of a polynomial; `None` where a name is unknown.
    pub fn polynomial(&self, ir: &Ir, expr: &ExtentExpr) -> Option<SizeExpr> {
        let mut terms = Vec::new();
        for (names, coefficient) in &expr.terms {
            let mut coefficient = *coefficient;
            let factors = names.iter().map(|&n| self.factor(ir, n, &mut coefficient));
            let factors: Option<Vec<SizeExpr>> = factors.collect();
            let mut factors = factors?;
            if coefficient != 1 || factors.is_empty() {
                factors.insert(0, SizeExpr::constant(coefficient));
            }
            terms.push(SizeExpr::product(factors));
        }
        Some(SizeExpr::sum(terms))
    }
    /// The axes of a tensor type; `None` where an extent is `?`.
    pub fn dims(&self, ir: &Ir, dims: &[Dim]) -> Option<Vec<DimSpec>> {
        let dim = |d: &Dim| {
            let extent = self.polynomial(ir, &ir.extent_as_expr(d.extent)?)?;
            Some(DimSpec {
                extent,
                broadcast: d.broadcast,
            })
        };
        dims.iter().map(dim).collect()
    }
}

/// The launch parameters that a kernel's entry block computes.
#[derive(Clone, Debug)]
pub struct KernelSizes {
    /// The iterations of the grid loop; on a GPU, at most the number of blocks.
    pub grid: SizeExpr,
    /// Scratch bytes per worker: every allocation rounded up to [`SCRATCH_ALIGN`].
    pub scratch: SizeExpr,
    /// Counts of blocks; `None` where the kernel counts none.
    pub counts: Option<SizeExpr>,
}

/// Reads the sizes of `func`, on a GPU or a CPU; `extents` are the expressions of its `index` parameters, in order.
pub fn kernel_sizes(ir: &Ir, func: Op, extents: &[SizeExpr], gpu: bool) -> Option<KernelSizes> {
    let body = ir.body(func, 0)?;
    let mut known: FxHashMap<Value, SizeExpr> = FxHashMap::default();
    let params = ir
        .args(body)
        .iter()
        .filter(|&&a| ir.value_kind(a).dtype() == Some(fuser_ir::DType::Index));
    let params = params.filter(|&&a| matches!(ir.value_kind(a), fuser_ir::TypeKind::Scalar(_)));
    known.extend(params.copied().zip(extents.iter().cloned()));
    let mut grid = SizeExpr::constant(1);
    let mut scratch = Vec::new();
    for op in ir.block_ops(body) {
        if ir.is(op, &kernel::FOR) && ir.str_of(op, "map") == Some("grid") {
            grid = grid_size(ir, op, &known)?;
            if let Some(blocks) = ir.int_of(op, "blocks").filter(|_| gpu) {
                grid = grid.minimum(SizeExpr::constant(blocks));
            }
        } else if ir.is(op, &kernel::ALLOC) && !is_of_thread(ir, op, gpu) {
            scratch.push(allocation(ir, op, &known)?);
        } else if let Some(expr) = index_expr(ir, op, &known) {
            known.insert(ir.result(op, 0), expr);
        }
    }
    let places = kernel::counting(ir, func).into_iter();
    let places = places.map(|op| {
        let places = ir.operand(op, 1);
        let constant = ir.made_as(places, Computes::Constant);
        let constant = constant.and_then(|by| ir.int_of(by, "value"));
        let constant = constant.map(SizeExpr::constant);
        known.get(&places).cloned().or(constant)
    });
    let places: Vec<SizeExpr> = places.collect::<Option<_>>()?;
    Some(KernelSizes {
        grid,
        scratch: SizeExpr::sum(scratch),
        counts: (!places.is_empty()).then(|| SizeExpr::sum(places)),
    })
}

fn grid_size(ir: &Ir, op: Op, known: &FxHashMap<Value, SizeExpr>) -> Option<SizeExpr> {
    let bounds: Option<Vec<&SizeExpr>> = (0..3).map(|i| known.get(&ir.operand(op, i))).collect();
    let [lower, upper, step] = bounds?.try_into().ok()?;
    let zero = lower.as_constant() == Some(0) && step.as_constant() == Some(1);
    zero.then(|| upper.clone())
}

/// True for an allocation without scratch memory: it is private to a GPU's thread.
fn is_of_thread(ir: &Ir, alloc: Op, gpu: bool) -> bool {
    match ir.value_kind(ir.result(alloc, 0)) {
        fuser_ir::TypeKind::MemRef { space, .. } => match space {
            MemSpace::Register | MemSpace::Local => gpu,
            MemSpace::Global | MemSpace::Tile => false,
        },
        _ => false,
    }
}

fn allocation(ir: &Ir, op: Op, known: &FxHashMap<Value, SizeExpr>) -> Option<SizeExpr> {
    let fuser_ir::TypeKind::MemRef { dims, dtype, .. } = ir.value_kind(ir.result(op, 0)) else {
        return None;
    };
    let mut dynamic = ir.operands(op);
    let mut elements = SizeExpr::constant(1);
    for dim in dims {
        elements = elements
            * match dim {
                fuser_ir::Extent::Static(n) => SizeExpr::constant(i64::try_from(*n).ok()?),
                _ => known.get(&dynamic.next()?)?.clone(),
            };
    }
    let align = SizeExpr::constant(SCRATCH_ALIGN as i64);
    Some((elements * SizeExpr::constant(dtype.bytes() as i64)).ceil_div(align.clone()) * align)
}

fn index_expr(ir: &Ir, op: Op, known: &FxHashMap<Value, SizeExpr>) -> Option<SizeExpr> {
    let operand =
        |i: usize| (i < ir.operand_count(op)).then(|| known.get(&ir.operand(op, i)).cloned())?;
    let computes = ir.computes(op)?;
    if computes == Computes::Constant {
        return ir.int_of(op, "value").map(SizeExpr::constant);
    }
    let (a, b) = (operand(0)?, operand(1)?);
    Some(match computes {
        Computes::Add => a + b,
        Computes::Sub => a - b,
        Computes::Mul => a * b,
        Computes::Div => a.floor_div(b),
        Computes::Rem => a.clone() - a.floor_div(b.clone()) * b,
        Computes::Min => a.minimum(b),
        Computes::Max => a.maximum(b),
        // A mask that clears low bits: minus a power of two.
        Computes::And => {
            let of = b.as_constant()?.checked_neg();
            let of = of.filter(|of| *of > 0 && of.count_ones() == 1)?;
            let of = SizeExpr::constant(of);
            a.floor_div(of.clone()) * of
        }
        _ => return None,
    })
}
