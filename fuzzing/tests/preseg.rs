//! The passes before segmentation change no bit: random small programs of the forms that they rewrite, run before and
//! after.
//!
//! Casts, shape ops, slices that are put together again, repeats, sums and extrema, on tensors of few elements, empty
//! ones too. Inputs hold small whole numbers and edges: both zeros, infinities, NaN and subnormals. Results are
//! compared bit by bit; of a NaN only that it is one, as no op says which.

use fuser::compile::run_passes;
use fuser::session::Session;
use fuser_dialects::fusion::{self, *};
use fuser_fuzzing::Source;
use fuser_fuzzing::generate::fusion::halves::{joined, part};
use fuser_fuzzing::generate::fusion::maker::{Maker, Slot};
use fuser_fuzzing::generate::fusion::ops::{draw, permute_to, reduce_axes};
use fuser_fuzzing::generate::fusion::templates::{binary, spread_reduction, unary};
use fuser_fuzzing::generate::fusion::{Config, shapes};
use fuser_fuzzing::generate::inputs::{InputRecipe, fill};
use fuser_fuzzing::generate::{Case, Tier};
use fuser_fuzzing::oracle::execute::exact;
use fuser_interp::compare::compare_exact;
use fuser_interp::{Axis, Options, Tensor, interpret};
use fuser_ir::print::{PrintOptions, print};
use fuser_ir::{DType, Extent, Ir, OpDef, Traits};
use fuser_runtime::RuntimeConfig;

const PROGRAMS: u64 = 2000;
const FUEL: u64 = 1 << 28;
const PASSES: &str = "builtin.module(task.program(preseg))";
const FLOATS: [DType; 4] = [DType::F64, DType::F32, DType::F16, DType::BF16];

/// Element types that hold each other's values, or some of them.
const TYPES: [DType; 10] = [
    DType::F64,
    DType::F32,
    DType::F16,
    DType::BF16,
    DType::I32,
    DType::I16,
    DType::I8,
    DType::U64,
    DType::U32,
    DType::U16,
];

/// Ops drawn by their tables.
const OPS: [&OpDef; 7] = [&PERMUTE, &RESHAPE, &BROADCAST, &SQUEEZE, &COPY, &SUM, &NEG];

/// A random value that `fits`, and an axis of it whose length is known.
fn axis(maker: &mut Maker<'_>, fits: impl Fn(&Slot) -> bool) -> Option<(usize, usize)> {
    let is_known = |a: &shapes::Axis| matches!(a.dim.extent, Extent::Static(_)) && !a.dim.broadcast;
    let x = maker.slot_where(|s| fits(s) && s.axes.iter().any(is_known))?;
    let axes = &maker.slots[x].axes;
    let known: Vec<usize> = (0..axes.len()).filter(|&i| is_known(&axes[i])).collect();
    Some((x, maker.source.one(&known)))
}

/// One or two casts of a value.
fn casts(maker: &mut Maker<'_>) -> Option<usize> {
    let mut x = maker.any_slot()?;
    for _ in 0..1 + maker.source.below(2) {
        let to = maker.source.one(&TYPES);
        x = maker.cast(x, to)?;
    }
    Some(x)
}

/// A value concatenated with itself.
fn repeat(maker: &mut Maker<'_>) -> Option<usize> {
    let (x, at) = axis(maker, |_| true)?;
    joined(maker, &[x, x], at)
}

/// Two slices, an op on each, a cat: often they cancel, sometimes nearly.
fn split(maker: &mut Maker<'_>) -> Option<usize> {
    let (x, mut at) = axis(maker, |_| true)?;
    let (rank, length) = (maker.slots[x].axes.len(), maker.slots[x].axes[at].length);
    let cut = maker.source.below(length + 1);
    let late = match maker.source.chance(1, 5) {
        true => cut.min(length.saturating_sub(1)),
        false => cut,
    };
    let mut parts = [
        part(maker, x, at, 0, cut)?,
        part(maker, x, at, late, length - late)?,
    ];
    for _ in 0..maker.source.below(3) {
        let (kind, to) = (maker.source.below(3), maker.source.one(&FLOATS));
        let order: Vec<usize> = (0..rank).rev().collect();
        for part in &mut parts {
            *part = match kind {
                0 => unary(maker, &NEG, *part)?,
                1 => maker.cast(*part, to)?,
                _ => permute_to(maker, *part, &order)?,
            };
        }
        if kind == 2 {
            at = rank - 1 - at;
        }
    }
    if maker.source.chance(1, 6) {
        parts.swap(0, 1);
    }
    joined(maker, &parts, at)
}

/// A maximum, with ops on it that may be NaN, and a combination of both: often a softmax, or nearly one.
fn extremum(maker: &mut Maker<'_>) -> Option<usize> {
    let (x, at) = axis(maker, |s| s.dtype.is_computed_float())?;
    let axes = maker.slots[x].axes.clone();
    let kind = maker.source.one(&[&MAX, &MIN]);
    let most = reduce_axes(maker, kind, x, &[at as i64])?;
    let spread = spread_reduction(maker, most, &axes, at)?;
    let less = binary(maker, &SUB, x, spread)?;
    if maker.source.chance(1, 8) {
        return Some(less);
    }
    let repair = maker.source.one(&[&SUM, &PROD, &MAX, &MIN, &MAX_NUM]);
    let of = maker.source.one(&[x, less]);
    let total = reduce_axes(maker, repair, of, &[at as i64])?;
    if maker.source.chance(1, 2) {
        let how = maker.source.one(&[&ADD, &SUB, &MAXIMUM, &FMAX]);
        return binary(maker, how, most, total);
    }
    let spread = spread_reduction(maker, total, &axes, at)?;
    binary(maker, &MUL, less, spread)
}

fn program(seed: u64) -> Case {
    let mut source = Source::seed(seed);
    let config = Config {
        elements: 400,
        unknown: false,
        lengths: &[2, 1, 3, 4, 5],
        ..Config::new(Tier::Bounded)
    };
    let mut maker = Maker::new(&mut source, config);
    for _ in 0..2 {
        let dtype = maker.source.one(&TYPES);
        maker.fresh(dtype);
    }
    for _ in 0..3 + maker.source.below(8) {
        match maker.source.below(14) {
            0 | 1 => split(&mut maker),
            2 | 3 => extremum(&mut maker),
            4 => repeat(&mut maker),
            5..=7 => casts(&mut maker),
            _ => {
                let def = maker.source.one(&OPS);
                draw(&mut maker, def)
            }
        };
    }
    let mut case = maker.finish();
    for input in &mut case.inputs {
        *input = fill(&InputRecipe::edges(&input.axes, input.dtype), &mut source);
    }
    case
}

#[test]
fn no_pass_before_segmentation_changes_a_bit() {
    let (mut rewritten, mut compared, mut weakened) = (0, 0, 0);
    for seed in 0..PROGRAMS {
        let case = program(seed);
        let mut ir = case.ir.clone();
        let text = print(&ir, case.module, &PrintOptions::default());
        let run = |ir: &Ir| exact(ir, case.program, &case.inputs, FUEL, false);
        let run = |ir: &Ir| run(ir).unwrap_or_else(|e| panic!("seed {seed}: {e:?}\n{text}"));
        let size = |ir: &Ir| ir.walk(case.module).len();
        let maxima = |ir: &Ir| {
            let ops = ir.walk(case.module).into_iter();
            let number = |&op: &_| ir.is(op, &MAX_NUM) || ir.is(op, &MIN_NUM);
            ops.filter(number).count()
        };
        let (before, written, ops) = (run(&ir), maxima(&ir), size(&ir));
        run_passes(&mut ir, case.module, PASSES)
            .unwrap_or_else(|e| panic!("seed {seed}: {e:?}\n{text}"));
        let after = run(&ir);
        assert_eq!(before.len(), after.len());
        for (number, (a, b)) in before.iter().zip(&after).enumerate() {
            let report = compare_exact(b, a);
            assert!(
                report.ok() && a.axes() == b.axes(),
                "seed {seed}, result {number}: {a:?} became {b:?}\n{text}"
            );
            compared += report.compared;
        }
        rewritten += usize::from(size(&ir) != ops);
        weakened += usize::from(maxima(&ir) > written);
    }
    println!(
        "count: {PROGRAMS} random programs unchanged by the passes before segmentation; {rewritten} of them rewritten, \
         {weakened} lost a maximum that keeps NaN; {compared} elements"
    );
    // A generator of programs that no pass touches would prove nothing.
    assert!(rewritten * 2 > PROGRAMS as usize, "{rewritten} rewritten");
    assert!(weakened > 100, "{weakened} lost a maximum that keeps NaN");
    assert!(compared > 40_000, "{compared} elements");
}

/// Every elementwise op with the trait of propagating NaN, on which the pass that ignores NaN relies, does so in the
/// interpreter.
#[test]
fn what_propagates_nan_does_so_from_every_operand() {
    let config = RuntimeConfig {
        threads: Some(1),
        memory_limit: Some(1 << 26),
    };
    let session = Session::new(config).unwrap();
    let axis = |extent| Axis {
        extent,
        broadcast: false,
    };
    let numbers = [
        0.0f32,
        -0.0,
        1.0,
        -2.5,
        f32::INFINITY,
        -f32::INFINITY,
        f32::NAN,
    ];
    let tensor = |list: Vec<f32>| {
        let bytes: Vec<u8> = list.iter().flat_map(|x| x.to_le_bytes()).collect();
        Tensor::from_bytes(DType::F32, vec![axis(list.len())], &bytes).unwrap()
    };
    let claimed = Traits::ELEMENTWISE.union(Traits::PROPAGATES_NAN);
    let all = fusion::real_ops();
    // A cast, which has a clause, is another way to round.
    let all = all.filter(|def| def.traits.contains(claimed) && def.clauses.is_empty());
    for def in all {
        let operands = def.operands.len();
        let n = numbers.len().pow(operands as u32);
        let names: Vec<String> = (0..operands).map(|i| format!("%x{i}")).collect();
        let parameters: Vec<String> = names
            .iter()
            .map(|x| format!("{x}: tensor<{n}xf32>"))
            .collect();
        let text = format!(
            "task.program @f({}) -> tensor<{n}xf32> {{\n  %y = {} {}\n  task.return %y\n}}\n",
            parameters.join(", "),
            def.name,
            names.join(", ")
        );
        let (ir, module, _) = session.parse(0, "one.fir", &text).unwrap();
        let digit =
            |row: usize, i: usize| numbers[row / numbers.len().pow(i as u32) % numbers.len()];
        let column = |i: usize| tensor((0..n).map(|row| digit(row, i)).collect());
        let inputs: Vec<Tensor> = (0..operands).map(column).collect();
        let program = ir.children(module)[0];
        let run = interpret(&ir, program, &inputs, &Options::default()).unwrap();
        for row in 0..n {
            if (0..operands).any(|i| digit(row, i).is_nan()) {
                let y = run.values[0].data().float(row);
                assert!(y.is_nan(), "{} on row {row}: {y}", def.name);
            }
        }
    }
}
