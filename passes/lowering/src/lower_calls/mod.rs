//! Calls that a GPU runs as kernels of their own: each becomes launches of kernels that are written here, in the `kernel`
//! dialect.
//!
//! ```text
//! %y = fusion.argsort %x dim 0 of i64                  // [1000000]
//!   =>
//! %h = kernel.launch %x callee @count extents [0]      // for each of 16 digits
//! %o = kernel.launch %h callee @offset
//! %k, %i = kernel.launch %x, %o callee @place extents [0]
//! %h = kernel.launch %k callee @count extents [4]
//! ...
//! ```
//!
//! - `sort.rs`: sorts, by digits.
//! - `scatter.rs`: scatters, by a sort of their indices.
//! - `counters.rs`: the ranks of elements by a digit.
//! - `key.rs`: unsigned integers that order as elements do.
//! - `places.rs`: addresses along any axis of any layout.
//!
//! Never touches a program for a CPU, whose runtime has routines for these calls. Kernels contain no barriers:
//! `place-barriers` puts them in.

mod counters;
mod key;
mod places;
mod scatter;
mod sort;

use fuser_analysis::cost::Bindings;
use fuser_analysis::targets::{self, SHAPE, TARGET};
use fuser_dialects::{kernel, task};
use fuser_ir::def::{DTypes, OpClass};
use fuser_ir::symbols::SymbolTable;
use fuser_ir::{Block, Diagnostics, Ir, Op, Sym, TypeId, Value};
use fuser_pass::{PassContext, PassDef, StatDef};
use fuser_target::Target;
use rustc_hash::FxHashMap;

use crate::lower::build::{Idx, KernelBuilder, Map};
use crate::lower::launch::{OpenFunc, insert_launch};
use crate::lower::lower_to_kernel::NOT_LOWERED;
use scatter::Scatter;
use sort::Sort;

/// `lower-calls`
pub static LOWER_CALLS: PassDef = PassDef {
    name: "lower-calls",
    summary: "turns sorts and scatters that stay whole into kernels and launches, on a GPU",
    doc: "For a GPU, each `fusion.sort` and `fusion.argsort` becomes launches of `kernel.func` ops of the module. A line of at most \
          2,176 elements is sorted by one block. Longer lines, and lines of named extents, are sorted by digits of 4 bits, with three \
          launches for each. `fusion.index_put` and `fusion.scatter` become a sort of the indices and two launches, which find and \
          combine the updates of each element. On a CPU these ops stay: routines of the runtime run them.",
    anchor: &["builtin.module"],
    options: &[TARGET, SHAPE],
    statistics: &[
        StatDef {
            name: "calls",
            doc: "calls lowered",
        },
        StatDef {
            name: "kernels",
            doc: "kernels made",
        },
    ],
    run,
    ..PassDef::EMPTY
};

fn run(ctx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
    let target = targets::of(ctx);
    let Some(module) = ctx
        .ir
        .body(ctx.op, 0)
        .filter(|_| !target.abilities().routines)
    else {
        return Ok(());
    };
    let bindings = targets::bindings(ctx)?;
    let mut symbols = SymbolTable::of(ctx.ir, ctx.op);
    for program in ctx.ir.children(ctx.op) {
        if !ctx.ir.is(program, &task::PROGRAM) {
            continue;
        }
        let prefix = ctx.ir.symbol_name(program).unwrap_or("program").to_string();
        for op in ctx.ir.walk(program) {
            let class = ctx.ir.def(op).map(|def| def.class);
            if matches!(class, Some(OpClass::Sort | OpClass::Scatter)) {
                let segment = ctx.ir.parent_op(op).and_then(|op| ctx.ir.symbol_name(op));
                let mut kernels = Kernels {
                    module,
                    target: &target,
                    bindings: &bindings,
                    symbols: &mut symbols,
                    prefix: format!("{prefix}_{}", segment.unwrap_or("call")),
                    made: 0,
                };
                lower(ctx, op, &mut kernels);
            }
        }
    }
    Ok(())
}

/// Replaces `op` by launches.
fn lower(ctx: &mut PassContext<'_>, op: Op, kernels: &mut Kernels<'_>) {
    let known = |value| {
        let dtype = ctx.ir.value_kind(value).dtype();
        dtype.is_some_and(|dtype| DTypes::KERNEL.contains(dtype))
    };
    let all = ctx.ir.operands(op).all(known);
    let made = match ctx.ir.def(op).map(|def| def.class) {
        _ if !all => None,
        Some(OpClass::Scatter) => {
            let scatter = Scatter::of(ctx.ir, op);
            scatter.and_then(|scatter| scatter.lower(ctx.ir, kernels))
        }
        _ => {
            let sort = Sort::of(ctx.ir, op);
            let made = sort.and_then(|sort| sort.lower(ctx.ir, kernels));
            made.and_then(|values| values.first().copied())
        }
    };
    let Some(value) = made else {
        let name = ctx.ir.name(op).to_string();
        let (message, help) = match all {
            true => (
                format!("the extents of '{name}' are not known"),
                "state them in its types: numbers, or names of the program's inputs",
            ),
            false => (
                format!("'{name}' has elements that kernels do not know"),
                "run --split-complex and --unpack-floats before --segment",
            ),
        };
        let error = ctx.error_at(op, &NOT_LOWERED, message);
        ctx.report(error.help(help));
        return;
    };
    let result = ctx.ir.result(op, 0);
    let name = ctx.ir.value_name_sym(result);
    ctx.ir.set_value_name(value, name);
    ctx.ir.replace_all_uses(result, value);
    ctx.ir.erase(op);
    ctx.count("calls", 1);
    ctx.count("kernels", kernels.made);
}

/// The kernels of a call.
struct Kernels<'a> {
    module: Block,
    target: &'a Target,
    bindings: &'a Bindings,
    symbols: &'a mut SymbolTable,
    /// The beginning of their names.
    prefix: String,
    made: u64,
}

/// A kernel whose body is being filled.
struct Func {
    symbol: Sym,
    open: OpenFunc,
    inputs: Vec<Value>,
    results: Vec<TypeId>,
    /// Its buffers: those of the inputs, then those of the results.
    memory: Vec<Value>,
    names: Vec<Sym>,
}

/// The name and the parameters of a kernel.
struct Signature {
    /// The word in its name.
    word: &'static str,
    /// Parameters that each launch gives a number.
    sizes: usize,
    /// The named extents that it computes with.
    names: Vec<Sym>,
    threads: i64,
}

const fn signature(word: &'static str, sizes: usize, names: Vec<Sym>, threads: i64) -> Signature {
    Signature {
        word,
        sizes,
        names,
        threads,
    }
}

impl Kernels<'_> {
    /// A kernel that reads `inputs` and writes tensors of the types `results`.
    fn open(
        &mut self,
        ir: &mut Ir,
        signature: Signature,
        inputs: &[Value],
        results: &[TypeId],
    ) -> Func {
        let Signature {
            word,
            sizes,
            mut names,
            threads,
        } = signature;
        let wanted = format!("{}_{word}{}", self.prefix, self.made);
        self.made += 1;
        names.sort_by(|a, b| ir.str(*a).cmp(ir.str(*b)));
        names.dedup();
        let types = inputs.iter().map(|&v| ir.value_type(v));
        let types: Vec<TypeId> = types.chain(results.iter().copied()).collect();
        let place = (self.module, wanted.as_str());
        let hints = vec![None; types.len()];
        let open = OpenFunc::new(ir, place, &types, &hints, (&names, sizes), threads);
        Func {
            symbol: self.symbols.insert(ir, open.op, &wanted),
            inputs: inputs.to_vec(),
            results: results.to_vec(),
            memory: open.memory.clone(),
            open,
            names,
        }
    }
}

impl Func {
    /// The builder of its body.
    fn k<'a>(&self, ir: &'a mut Ir, op: Op) -> KernelBuilder<'a> {
        KernelBuilder {
            loc: ir.op_loc(op),
            ir,
            block: self.open.block,
            entry: self.open.block,
            multiples: FxHashMap::default(),
            extents: self.open.extents.clone(),
        }
    }
    /// Ends the body, and inserts a launch before `op` that gives its parameters these numbers.
    fn launch(self, ir: &mut Ir, op: Op, sizes: &[u64]) -> Op {
        self.k(ir, op).op(&kernel::RETURN, &[], &[], &[]);
        let ends = (&self.inputs[..], &self.results[..]);
        insert_launch(ir, op, self.symbol, ends, (&self.names, sizes))
    }
}

/// A loop without carried values.
fn walk(
    k: &mut KernelBuilder<'_>,
    [from, to]: [Idx; 2],
    map: Map,
    body: impl FnOnce(&mut KernelBuilder<'_>, Idx) -> Option<()>,
) -> Option<()> {
    let open = k.open_loop([from, to, Idx::Const(1)], &[]);
    let done = body(k, Idx::Value(open.iv));
    k.close_loop(open, &[], map, &[]);
    done
}

/// The sum of `value` and what a scanning loop has before it.
fn scanned(k: &mut KernelBuilder<'_>, value: Value, before: Value) -> Value {
    let ty = k.ir.value_type(value);
    let kind = k.ir.string_attr("add");
    k.value(&kernel::SCAN, &[value, before], &[("combine", kind)], ty)
}
