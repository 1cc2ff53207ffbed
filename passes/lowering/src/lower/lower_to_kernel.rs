//! The `lower-to-kernel` pass.

use fuser_analysis::targets::{self, MULTIPLES, TARGET};
use fuser_dialects::task;
use fuser_ir::clone::Mapping;
use fuser_ir::def::DTypes;
use fuser_ir::diag::CodeDef;
use fuser_ir::{Block, DType, Diagnostics, Ir, Op, Sym, Value};
use fuser_pass::{PassContext, PassDef, StatDef};
use fuser_target::Target;
use rustc_hash::{FxHashMap, FxHashSet};

use super::launch::{Launches, lower_sweep};
use crate::form::{Form, ORIGINS, form_and_inputs};

/// The codes of lowering.
pub static CODES: &[CodeDef] = &[NOT_LOWERED];

/// A sweep that cannot be lowered.
pub const NOT_LOWERED: CodeDef = CodeDef {
    code: "FIR0801",
    title: "a sweep cannot become a kernel",
    explanation: "Lowering turns each `task.sweep` into loops. It stops at an op for which there is no code generation, at axes \
                  that are walked as one loop but are not adjacent in memory, and at clauses that contradict the ops. The \
                  message names the op and what to do instead; the interpreter runs every program.",
    example: "$ fuser-opt x.fir --lower-to-kernel\n\
              task.program @axis(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
                %y = task.segment @s {\n    \
                  %y = task.sweep axes [\"b\"] extents [8] roles [\"grid\"] {\n      \
                    %y = fusion.exp %x\n      \
                    task.yield %y\n    \
                  }\n    \
                  task.yield %y\n  \
                }\n  \
                task.return %y\n\
              }",
};

/// `lower-to-kernel`
pub static LOWER_TO_KERNEL: PassDef = PassDef {
    name: "lower-to-kernel",
    summary: "turns scheduled sweeps into kernels and launches",
    doc: "Each `task.sweep` of a program becomes a `kernel.func` of the module and a `kernel.launch` in its place; a sweep that \
          accumulates over grid axes becomes two. Sweeps of one form share their kernels. Loops, tiles and lanes are those of the sweep's clauses. Along extents of `multiples` \
          vectors leave no rest.",
    works_on: "task.sweep",
    makes: "kernel.func",
    anchor: &["builtin.module"],
    options: &[TARGET, MULTIPLES],
    statistics: &[
        StatDef {
            name: "sweeps",
            doc: "sweeps lowered",
        },
        StatDef {
            name: "kernels",
            doc: "kernels made",
        },
        StatDef {
            name: "repeated",
            doc: "sweeps of the form of one that was lowered, which launch its kernels",
        },
    ],
    run,
    ..PassDef::EMPTY
};

fn run(ctx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
    let target = targets::of(ctx);
    let multiples = targets::multiples(ctx)?;
    let Some(module) = ctx.ir.body(ctx.op, 0) else {
        return Ok(());
    };
    let programs = ctx
        .ir
        .children(ctx.op)
        .into_iter()
        .filter(|&op| ctx.ir.is(op, &task::PROGRAM));
    let programs: Vec<Op> = programs.collect();
    let mut names = Names::of(ctx.ir, ctx.op);
    for program in programs {
        lower_program(ctx, program, module, (&target, &multiples), &mut names);
    }
    Ok(())
}

/// The machine, and the extents that are multiples.
type Known<'a> = (&'a Target, &'a FxHashMap<Sym, i64>);

/// The lowered sweeps of a program, by form, with their inputs.
type Lowered = FxHashMap<Form, (Vec<Value>, Launches)>;

/// The symbols of a module.
struct Names(FxHashSet<String>);

impl Names {
    fn of(ir: &Ir, module: Op) -> Self {
        let ops = ir.children(module).into_iter();
        Self(
            ops.filter_map(|op| Some(ir.symbol_name(op)?.to_owned()))
                .collect(),
        )
    }
    /// A name that no symbol has, nor a kernel that combines partial results: `wanted`, or with a number behind it.
    fn take(&mut self, wanted: String) -> String {
        let free =
            |name: &String| !self.0.contains(name) && !self.0.contains(&format!("{name}_combine0"));
        let others = (1..).map(|number: u64| format!("{wanted}_{number}"));
        let name = std::iter::once(wanted.clone()).chain(others).find(free);
        let name = name.unwrap_or(wanted);
        self.0.insert(name.clone());
        name
    }
}

fn lower_program(
    ctx: &mut PassContext<'_>,
    program: Op,
    module: Block,
    known: Known<'_>,
    names: &mut Names,
) {
    let mut lowered = Lowered::default();
    let prefix = ctx.ir.symbol_name(program).unwrap_or("program").to_string();
    for segment in ctx.ir.children(program) {
        let name = ctx.ir.symbol_name(segment).unwrap_or("segment").to_string();
        let sweeps = ctx
            .ir
            .children(segment)
            .into_iter()
            .filter(|&op| ctx.ir.is(op, &task::SWEEP));
        for (index, sweep) in sweeps.collect::<Vec<_>>().into_iter().enumerate() {
            let wanted = format!("{prefix}_{name}_{index}");
            lower(ctx, sweep, (names, wanted), module, known, &mut lowered);
        }
    }
}

fn lower(
    ctx: &mut PassContext<'_>,
    sweep: Op,
    (names, wanted): (&mut Names, String),
    module: Block,
    known: Known<'_>,
    lowered: &mut Lowered,
) {
    let (form, inputs) = form_and_inputs(ctx.ir, sweep, &ORIGINS);
    if let Some((of_first, launches)) = lowered.get(&form) {
        let mut map = Mapping::default();
        let pairs = of_first.iter().zip(&inputs);
        pairs.for_each(|(&first, &input)| map.insert(first, input));
        launches.repeat(ctx.ir, sweep, map);
        return ctx.count("repeated", 1);
    }
    if let Some((op, dtype)) = foreign_op(ctx, sweep) {
        let (message, help) = match dtype.is_complex() {
            true => (
                "computes with complex numbers, and kernels with reals",
                "run --split-complex before --segment: it makes pairs of reals of them",
            ),
            false => (
                "takes or makes floats of 4 bits, and kernels know whole bytes",
                "run --unpack-floats before --segment: it makes codes in bytes of them",
            ),
        };
        let diagnostic = ctx.error_at(op, &NOT_LOWERED, message);
        ctx.report(diagnostic.help(help));
        return;
    }
    let symbol = names.take(wanted);
    match lower_sweep(ctx.ir, sweep, &symbol, module, known) {
        Ok(launches) => {
            ctx.count("sweeps", 1);
            ctx.count("kernels", launches.count() as u64);
            lowered.insert(form, (inputs, launches));
        }
        Err(refusal) => {
            let diagnostic = ctx.error_at(refusal.op, &NOT_LOWERED, refusal.reason.clone());
            ctx.report(diagnostic.help(refusal.help));
        }
    }
}

/// The first op of a sweep with an operand or a result of a type that kernels do not support, and that type.
fn foreign_op(ctx: &PassContext<'_>, sweep: Op) -> Option<(Op, DType)> {
    let ir = &*ctx.ir;
    let foreign = |value| {
        let dtype = ir.value_kind(value).dtype();
        dtype.filter(|&dtype| !DTypes::KERNEL.contains(dtype))
    };
    ir.walk(sweep).into_iter().skip(1).find_map(|op| {
        let mut values = ir.operands(op).chain(ir.results(op).iter().copied());
        Some((op, values.find_map(foreign)?))
    })
}
