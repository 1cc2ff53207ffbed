//! Samples: deep programs are compared, wrong elements of them found, right ones never, and what cannot be compared is told apart.

use crate::common::*;
use fuser_interp::compare::{Report, Status, compare};
use fuser_interp::{Expected, Options, Sample, Subject, Tensor, interpret};
use fuser_ir::parse::parse_str;
use fuser_ir::{DType, Ir, Op};
use fuser_testing::Random;

/// A program from its text.
struct Text {
    ir: Ir,
    op: Op,
}

impl Text {
    fn new(text: &str) -> Self {
        let mut ir = Ir::new(fuser_dialects::registry());
        let parsed = parse_str(&mut ir, text);
        let module = parsed.module.unwrap_or_else(|| panic!("no module: {text}"));
        let op = ir.children(module)[0];
        Self { ir, op }
    }
    fn run(&self, inputs: &[Tensor], options: &Options) -> Vec<Tensor> {
        interpret(&self.ir, self.op, inputs, options)
            .unwrap()
            .values
    }
    fn judge(&self, inputs: &[Tensor], actual: &[Tensor]) -> Report {
        let options = Options::default();
        let subject = Subject {
            ir: &self.ir,
            op: self.op,
            inputs,
            options: &options,
        };
        let mut expected = Expected::of(subject).unwrap();
        expected.judge(subject, actual).remove(0)
    }
}

/// Normally distributed, roughly.
fn drawn(random: &mut Random, dtype: DType, shape: &[usize], scale: f64) -> Tensor {
    let count = shape.iter().product();
    let mut one = || (0..4).map(|_| random.unit() - 0.5).sum::<f64>() * scale;
    let values: Vec<f64> = (0..count).map(|_| one()).collect();
    tensor(dtype, shape, &values)
}

/// Layers of a product, a normalization and a function, whose bounds multiply.
fn deep(dtype: &str, layers: usize) -> String {
    let n = 24;
    let mut text = format!(
        "task.program @deep(%x0: tensor<{n}x{n}x{dtype}>, %w: tensor<{n}x{n}x{dtype}>) -> tensor<{n}x{n}x{dtype}> {{\n"
    );
    for i in 0..layers {
        text += &format!(
            "  %a{i} = fusion.matmul %x{i}, %w
  %v{i}, %m{i} = fusion.var_mean %a{i} dims [1] correction 0 keepdim
  %d{i} = fusion.sub %a{i}, %e{i}
  %s{i} = fusion.rsqrt %v{i}
  %f{i} = fusion.mul %d{i}, %t{i}
  %x{} = fusion.tanh %f{i}\n",
            i + 1
        )
        .replace(
            &format!("  %d{i}"),
            &format!("  %e{i} = fusion.expand %m{i} shape [{n}, {n}]\n  %d{i}"),
        )
        .replace(
            &format!("  %f{i}"),
            &format!("  %t{i} = fusion.expand %s{i} shape [{n}, {n}]\n  %f{i}"),
        );
    }
    text + &format!("  task.return %x{layers}\n}}\n")
}

/// The tensor with one element changed by a part of itself.
fn changed(x: &Tensor, at: usize, part: f64) -> Tensor {
    let mut all = values(x);
    all[at] += part * all[at].abs().max(0.1);
    tensor(x.dtype(), &x.shape(), &all)
}

#[test]
fn deep_programs_are_compared() {
    for (dtype, name, part) in [
        (DType::F64, "f64", 1e-9),
        (DType::F32, "f32", 1e-2),
        (DType::BF16, "bf16", f64::NAN),
        (DType::F16, "f16", f64::NAN),
    ] {
        // In 16 bits errors are as large as what they move after a few layers.
        let layers = if part.is_nan() { 2 } else { 8 };
        let program = Text::new(&deep(name, layers));
        let mut random = Random(7);
        let inputs = [(); 2].map(|()| drawn(&mut random, dtype, &[24, 24], 1.0));
        let actual = program.run(&inputs, &Options::default());
        let report = program.judge(&inputs, &actual);
        assert_eq!(report.status, Status::Ok, "{name}: {report:?}");
        let zeros = tensor(dtype, &[24, 24], &[0.0; 576]);
        let report = program.judge(&inputs, &[zeros]);
        assert_eq!(report.status, Status::Failed, "{name}: {report:?}");
        if dtype == DType::F32 {
            // Bounds alone know nothing of these.
            let bounds = program.run(&inputs, &reference());
            assert_eq!(compare(&actual[0], &bounds[0]).status, Status::NotChecked);
        }
        if !part.is_nan() {
            let wrong = changed(&actual[0], 100, part);
            let report = program.judge(&inputs, &[wrong]);
            assert_eq!(
                (report.status, report.failures),
                (Status::Failed, 1),
                "{name}: {report:?}"
            );
        }
    }
}

/// Sums that are nothing but the rounding of their terms.
#[test]
fn what_is_noise_is_not_checked() {
    let text = "task.program @noise(%x: tensor<64x4xf32>) -> tensor<64xf32> {
  %e = fusion.exp %x
  %big = fusion.constant value 1.0e8 : f32
  %a = fusion.add %e, %big
  %b = fusion.sub %a, %big
  %s = fusion.sum %b dims [1]
  %t = fusion.sum %e dims [1]
  %y = fusion.sub %s, %t
  task.return %y
}";
    let program = Text::new(text);
    let inputs = [drawn(&mut Random(3), DType::F32, &[64, 4], 2.0)];
    let actual = program.run(&inputs, &Options::default());
    let report = program.judge(&inputs, &actual);
    assert_eq!(report.status, Status::NotChecked, "{report:?}");
    assert_eq!((report.compared, report.failures), (0, 0));
    assert_eq!(report.ill_conditioned, 64);
}

/// Integers and truth values that hang on numbers: compared where all samples agree.
#[test]
fn decisions_are_compared_where_samples_agree() {
    let text = "task.program @sides(%x: tensor<400xf32>, %y: tensor<400xf32>) -> (tensor<400xi1>, tensor<400xi32>) {
  %a = fusion.exp %x
  %b = fusion.exp %y
  %c = fusion.compare %a, %b predicate lt
  %d = fusion.mul %a, %b
  %i = fusion.cast %d to i32
  task.return %c, %i
}";
    let program = Text::new(text);
    let mut random = Random(5);
    let x = drawn(&mut random, DType::F32, &[400], 4.0);
    let mut near = values(&drawn(&mut random, DType::F32, &[400], 4.0));
    // Some are as near as exp is off.
    (0..20).for_each(|i| near[i] = x.data().float(i) * (1.0 + 1e-7));
    let inputs = [x, tensor(DType::F32, &[400], &near)];
    let actual = program.run(&inputs, &Options::default());
    let options = Options::default();
    let subject = Subject {
        ir: &program.ir,
        op: program.op,
        inputs: &inputs,
        options: &options,
    };
    let reports = Expected::of(subject).unwrap().judge(subject, &actual);
    assert!(reports.iter().all(Report::ok), "{reports:?}");
    assert!(
        (1..=20).contains(&reports[0].ill_conditioned),
        "{reports:?}"
    );
    let turned: Vec<f64> = values(&actual[0]).iter().map(|v| 1.0 - v).collect();
    let wrong = [tensor(DType::I1, &[400], &turned), actual[1].clone()];
    let reports = Expected::of(subject).unwrap().judge(subject, &wrong);
    assert_eq!(reports[0].failures, reports[0].compared);
    assert!(reports[0].compared >= 380);
}

/// Outputs without elements have nothing that could be wrong.
#[test]
fn empty_outputs_agree() {
    let text = "task.program @none(%x: tensor<0x3xf32>) -> tensor<0x3xf32> {
  %y = fusion.exp %x
  task.return %y
}";
    let program = Text::new(text);
    let inputs = [tensor(DType::F32, &[0, 3], &[])];
    let actual = program.run(&inputs, &Options::default());
    let report = program.judge(&inputs, &actual);
    assert_eq!((report.status, report.elements()), (Status::Ok, 0));
}

/// A sample does not depend on the number of threads, and each is another.
#[test]
fn samples_are_the_same_on_any_number_of_threads() {
    let text = "task.program @rows(%x: tensor<300x200xf32>) -> tensor<300x200xf32> {
  %e = fusion.exp %x
  %s = fusion.sum %e dims [0] keepdim
  %t = fusion.expand %s shape [300, 200]
  %y = fusion.div %e, %t
  task.return %y
}";
    let program = Text::new(text);
    let inputs = [drawn(&mut Random(5), DType::F32, &[300, 200], 1.0)];
    let sample = |number, threads| {
        let options = Options {
            threads,
            sample: Some(Sample {
                number,
                factor: 4.0,
            }),
            ..reference()
        };
        values(&program.run(&inputs, &options)[0])
    };
    assert_eq!(sample(3, 1), sample(3, 4));
    assert_ne!(sample(3, 1), sample(4, 1));
}

/// Random chains of ops whose errors are those of one execution: `op` of the last value and an earlier one.
fn chain(random: &mut Random, dtype: &str) -> String {
    let n = [5, 16, 33][random.below(3)];
    let shape = format!("{n}x{n}x{dtype}");
    let mut text = format!(
        "task.program @chain(%v0: tensor<{shape}>, %v1: tensor<{shape}>) -> tensor<{shape}> {{\n"
    );
    let length = 3 + random.below(12);
    for i in 2..2 + length {
        let (last, other) = (i - 1, random.below(i));
        text += &match random.below(16) {
            0 => format!("  %v{i} = fusion.add %v{last}, %v{other}\n"),
            1 => format!("  %v{i} = fusion.sub %v{last}, %v{other}\n"),
            2 => format!("  %v{i} = fusion.mul %v{last}, %v{other}\n"),
            3 => format!(
                "  %a{i} = fusion.abs %v{other}\n  %b{i} = fusion.constant value 0.5 : {dtype}\n  %c{i} = fusion.add %a{i}, %b{i}\n  %v{i} = fusion.div %v{last}, %c{i}\n"
            ),
            4 => format!("  %v{i} = fusion.tanh %v{last}\n"),
            5 => format!("  %v{i} = fusion.sigmoid %v{last}\n"),
            6 => format!(
                "  %a{i} = fusion.max %v{last} dims [1] keepdim\n  %b{i} = fusion.expand %a{i} shape [{n}, {n}]\n  %c{i} = fusion.sub %v{last}, %b{i}\n  %v{i} = fusion.exp %c{i}\n"
            ),
            7 => format!(
                "  %a{i} = fusion.mean %v{last} dims [0] keepdim\n  %b{i} = fusion.expand %a{i} shape [{n}, {n}]\n  %v{i} = fusion.sub %v{last}, %b{i}\n"
            ),
            8 => format!("  %v{i} = fusion.matmul %v{last}, %v{other}\n"),
            9 => format!("  %v{i} = fusion.cumsum %v{last} dim 1\n"),
            10 => format!("  %v{i} = fusion.maximum %v{last}, %v{other}\n"),
            11 => format!(
                "  %a{i} = fusion.iota dim 0 shape [{n}] of i64\n  %b{i} = fusion.constant value 3 : i64\n  %c{i} = fusion.rem %a{i}, %b{i}\n  %v{i} = fusion.index_put %v{last}, %c{i}, %v{other} dim 0 combine add\n"
            ),
            12 => format!("  %v{i} = fusion.sdpa %v{last}, %v{other}, %v{last}\n"),
            13 => format!(
                "  %q{i}, %m{i} = fusion.var_mean %v{last} dims [1] correction 0 keepdim\n  %b{i} = fusion.expand %q{i} shape [{n}, {n}]\n  %c{i} = fusion.constant value 1.0e-3 : {dtype}\n  %d{i} = fusion.add %b{i}, %c{i}\n  %e{i} = fusion.rsqrt %d{i}\n  %v{i} = fusion.mul %v{last}, %e{i}\n"
            ),
            14 => format!(
                "  %a{i} = fusion.iota dim 0 shape [{n}] of i64\n  %b{i} = fusion.flip %a{i} dims [0]\n  %v{i} = fusion.take %v{last}, %b{i} dim 0\n"
            ),
            _ => format!(
                "  %a{i} = fusion.compare %v{last}, %v{other} predicate gt\n  %v{i} = fusion.where %a{i}, %v{last}, %v{other}\n"
            ),
        };
    }
    text + &format!("  task.return %v{}\n}}\n", 1 + length)
}

/// A chain of ops on complex numbers.
fn complex_chain(random: &mut Random) -> String {
    let n = [5, 16, 33][random.below(3)];
    let shape = format!("{n}x{n}xcomplex<f32>");
    let mut text = format!(
        "task.program @chain(%v0: tensor<{shape}>, %v1: tensor<{shape}>) -> tensor<{shape}> {{\n"
    );
    let length = 3 + random.below(6);
    for i in 2..2 + length {
        let (last, other) = (i - 1, random.below(i));
        text += &match random.below(7) {
            0 => format!("  %v{i} = fusion.add %v{last}, %v{other}\n"),
            1 => format!("  %v{i} = fusion.sub %v{last}, %v{other}\n"),
            2 => format!("  %v{i} = fusion.mul %v{last}, %v{other}\n"),
            3 => format!("  %v{i} = fusion.div %v{last}, %v{other}\n"),
            4 => format!(
                "  %a{i} = fusion.mean %v{last} dims [0] keepdim\n  %b{i} = fusion.expand %a{i} shape [{n}, {n}]\n  %v{i} = fusion.sub %v{other}, %b{i}\n"
            ),
            5 => format!("  %v{i} = fusion.cumsum %v{last} dim 1\n"),
            _ => format!("  %v{i} = fusion.tanh %v{last}\n"),
        };
    }
    text + &format!("  task.return %v{}\n}}\n", 1 + length)
}

/// The calibration: errors of executions as ops are defined, in units of what samples say, over random programs. None is false, few are
/// not checked, and the errors are neither far below what samples say nor above.
fn calibrate(seed: u64, programs: usize) {
    let mut random = Random(seed);
    let (mut squares, mut count, mut most) = (0.0, 0.0, 0.0f64);
    let (mut statuses, mut wrong) = ([0; 3], String::new());
    for _ in 0..programs {
        let types = [
            (DType::F32, "f32"),
            (DType::F32, "f32"),
            (DType::F64, "f64"),
            (DType::BF16, "bf16"),
            (DType::F16, "f16"),
            (DType::C64, "complex<f32>"),
        ];
        let (dtype, name) = types[random.below(types.len())];
        let text = match dtype.is_complex() {
            true => complex_chain(&mut random),
            false => chain(&mut random, name),
        };
        let program = Text::new(&text);
        let n = program
            .ir
            .value_kind(program.ir.args(program.ir.body(program.op, 0).unwrap())[0]);
        let n = match n.as_tensor().unwrap().dims[0].extent {
            fuser_ir::types::Extent::Static(n) => n as usize,
            _ => panic!("static"),
        };
        let mut input = || match dtype.is_complex() {
            true => {
                let parts = [(); 2].map(|()| drawn(&mut random, DType::F32, &[n, n], 1.5));
                let [re, im] = parts;
                Tensor::of_parts(re, im).unwrap()
            }
            false => drawn(&mut random, dtype, &[n, n], 1.5),
        };
        let inputs = [input(), input()];
        let actual = program.run(&inputs, &Options::default());
        let report = program.judge(&inputs, &actual);
        statuses[report.status as usize] += 1;
        if report.failed() {
            wrong += &format!("{report:?}\n{text}");
        }
        if name != "f32" {
            continue;
        }
        let precise = program.run(&inputs, &reference());
        let sample = |number| {
            let sample = Sample {
                number,
                factor: 4.0,
            };
            let options = Options {
                sample: Some(sample),
                ..reference()
            };
            values(&program.run(&inputs, &options)[0])
        };
        let samples: Vec<Vec<f64>> = (0..24).map(sample).collect();
        let (precise, actual) = (values(&precise[0]), values(&actual[0]));
        for (i, (p, a)) in precise.iter().zip(&actual).enumerate() {
            let spread = samples.iter().map(|s| (s[i] - p).powi(2)).sum::<f64>() / 24.0;
            let s = spread.sqrt() / 4.0;
            if s.is_finite() && s > 0.0 && 80.0 * s < p.abs() {
                let z = (a - p) / s;
                squares += z * z;
                count += 1.0;
                most = most.max(z.abs());
            }
        }
    }
    let typical = f64::sqrt(squares / count);
    println!("{count} elements: {typical:.3} of what samples say, {most:.2} at most; {statuses:?}");
    assert!(wrong.is_empty(), "{wrong}");
    assert!((0.2..1.1).contains(&typical), "{typical}");
    assert!(most < 8.0, "{most}");
    let least = programs * 17 / 20;
    assert!(statuses[Status::Ok as usize] > least, "{statuses:?}");
}

#[test]
fn errors_are_what_samples_say() {
    calibrate(11, 400);
}

/// Ten times as many programs, of the seed `FUSER_TEST_SEED`.
#[test]
#[ignore = "minutes"]
fn errors_of_many_programs_are_what_samples_say() {
    let seed = std::env::var("FUSER_TEST_SEED").map_or(2026, |seed| seed.parse().unwrap());
    calibrate(seed, 4000);
}

/// Numbers whose squares f64 cannot hold have spreads like others.
#[test]
fn numbers_at_the_ends_of_f64_are_compared() {
    let text = "task.program @ends(%x: tensor<64x8xf64>) -> tensor<64xf64> {
  %s = fusion.sum %x dims [1]
  %y = fusion.exp %s
  task.return %y
}";
    let program = Text::new(text);
    for end in [-86.0, 86.0] {
        let noise = values(&drawn(&mut Random(9), DType::F64, &[64, 8], 1.0));
        let all: Vec<f64> = noise.iter().map(|x| x + end).collect();
        let inputs = [tensor(DType::F64, &[64, 8], &all)];
        let right = values(&program.run(&inputs, &Options::default())[0]);
        for (part, status) in [(2e-13, Status::Ok), (1e-10, Status::Failed)] {
            let moved: Vec<f64> = right.iter().map(|y| y * (1.0 + part)).collect();
            let report = program.judge(&inputs, &[tensor(DType::F64, &[64], &moved)]);
            assert_eq!(report.status, status, "{end} {part}: {report:?}");
            assert_eq!(report.compared, 64, "{end} {part}: {report:?}");
        }
    }
}

/// So have sums of them.
#[test]
fn sums_at_the_ends_of_f64_are_sampled() {
    let text = "task.program @sums(%x: tensor<8x64xf64>) -> tensor<8xf64> {
  %s = fusion.sum %x dims [1]
  task.return %s
}";
    let program = Text::new(text);
    for size in [1e-290, 1.0, 1e290] {
        let noise = values(&drawn(&mut Random(9), DType::F64, &[8, 64], 1.0));
        let all: Vec<f64> = noise.iter().map(|x| (x + 3.0) * size).collect();
        let inputs = [tensor(DType::F64, &[8, 64], &all)];
        let right = values(&program.run(&inputs, &Options::default())[0]);
        for (places, status) in [(3.0, Status::Ok), (100.0, Status::Failed)] {
            let moved: Vec<f64> = right
                .iter()
                .map(|y| y * (1.0 + places * f64::EPSILON))
                .collect();
            let report = program.judge(&inputs, &[tensor(DType::F64, &[8], &moved)]);
            assert_eq!(report.status, status, "{size} {places}: {report:?}");
        }
    }
}

/// An infinity times a weight of 0 is open, also where all that the reference can say is NaN.
#[test]
fn what_is_left_out_is_open() {
    let text = "task.program @attention(%q: tensor<1x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x2xf32>) -> tensor<1x2xf32> {
  %y = fusion.sdpa %q, %k, %v causal
  task.return %y
}";
    let program = Text::new(text);
    let [q, k] = [4, 12].map(|n| tensor(DType::F32, &[n / 4, 4], &vec![0.0; n]));
    let infinity = f64::INFINITY;
    let v = [1.0, -1.0, infinity, 3.0, -infinity, infinity];
    let inputs = [q, k, tensor(DType::F32, &[3, 2], &v)];
    for first in [1.0, f64::NAN] {
        let actual = tensor(DType::F32, &[1, 2], &[first, -1.0]);
        let report = program.judge(&inputs, &[actual]);
        let counts = (report.failures, report.ill_conditioned);
        assert_eq!(counts, (0, 2), "{first}: {report:?}");
    }
}

/// A result of 16 bits is one of two neighbours, and no other.
#[test]
fn stores_are_rounded_once() {
    let text = "task.program @narrow(%x: tensor<4096xf32>) -> tensor<4096xbf16> {
  %e = fusion.exp %x
  %f = fusion.sin %e
  %y = fusion.cast %f to bf16
  task.return %y
}";
    let program = Text::new(text);
    let inputs = [drawn(&mut Random(3), DType::F32, &[4096], 1.0)];
    let right = values(&program.run(&inputs, &Options::default())[0]);
    let precise = program.run(&inputs, &reference());
    let open = (0..4096).find(|&i| precise[0].bounded(i).e > 0.0).unwrap();
    for places in [-2.0, 2.0] {
        let mut moved = right.clone();
        moved[open] *= 1.0 + places / 128.0;
        let report = program.judge(&inputs, &[tensor(DType::BF16, &[4096], &moved)]);
        assert_eq!(report.failures, 1, "{places}: {report:?}");
    }
}

/// Values that no bound decides have errors like others: those of the ops behind the one that left them open.
#[test]
fn undecided_values_stray_like_others() {
    // The bound of the sum is above its value, so that the quotient is open; tanh is then 1 in every sample.
    let text = "task.program @open(%x: tensor<4096xf32>) -> tensor<f32> {
  %s = fusion.sum %x dims [0]
  %q = fusion.reciprocal %s
  %k = fusion.constant value 1.0e9 : f32
  %b = fusion.full %k shape []
  %m = fusion.mul %q, %b
  %t = fusion.tanh %m
  %u = fusion.sigmoid %t
  task.return %u
}";
    let program = Text::new(text);
    let value = |i: usize| {
        let size = 1e4 / 3.0 + 0.1 * (i / 2) as f64;
        if i.is_multiple_of(2) {
            size + 1e-3
        } else {
            -size
        }
    };
    let inputs = [tensor(
        DType::F32,
        &[4096],
        &(0..4096).map(value).collect::<Vec<_>>(),
    )];
    let precise = program.run(&inputs, &reference());
    assert!(precise[0].bounded(0).is_undecided());
    let right = values(&precise[0])[0];
    let sample = |number| {
        let sample = Sample {
            number,
            factor: 1.0,
        };
        let options = Options {
            sample: Some(sample),
            ..reference()
        };
        (values(&program.run(&inputs, &options)[0])[0] - right).abs()
    };
    let most = (0..8).map(sample).fold(0.0, f64::max);
    assert!((1e-8..1e-6).contains(&most), "{most}");
}

/// A product that overflows by itself is held by a fused step: beside an infinity of the other sign both results are right.
#[test]
fn products_that_overflow_alone_leave_a_sum_open() {
    let text = "task.program @f(%a: tensor<1x3xf32>, %b: tensor<3x1xf32>) -> tensor<1x1xf32> {
  %y = fusion.matmul %a, %b
  task.return %y
}";
    let program = Text::new(text);
    let infinity = f64::NEG_INFINITY;
    for (a, right, wrong) in [
        ([infinity, 3.4e38, 1.0], [infinity, f64::NAN], f64::INFINITY),
        ([1.0, 3.4e38, -3.4e38], [f64::NAN, f64::INFINITY], 0.0),
    ] {
        let inputs = [
            tensor(DType::F32, &[1, 3], &a),
            tensor(DType::F32, &[3, 1], &[5.0, 8.0, 7.0]),
        ];
        let of = |v: f64| [tensor(DType::F32, &[1, 1], &[v])];
        for v in right {
            let report = program.judge(&inputs, &of(v));
            assert!(!report.failed(), "{v}: {report:?}");
        }
        // Nothing is said of a third value: correct results are of two kinds.
        let report = program.judge(&inputs, &of(wrong));
        assert_eq!(report.compared, 0, "{wrong}: {report:?}");
    }
}

/// Attention to one key is the value but for its own roundings, and a logarithm of the gamma function near a pole may be at it.
#[test]
fn one_key_and_poles_leave_room() {
    let one_key = "task.program @f(%q: tensor<4x8xf32>, %k: tensor<1x8xf32>, %v: tensor<1x4xf32>) -> tensor<4x4xf32> {
  %y = fusion.sdpa %q, %k, %v
  task.return %y
}";
    let program = Text::new(one_key);
    let draw = |shape: &[usize]| drawn(&mut Random(3), DType::F32, shape, 1.0);
    let inputs = [draw(&[4, 8]), draw(&[1, 8]), draw(&[1, 4])];
    let nearby = |places: f64| {
        let value = |i: usize| values(&inputs[2])[i % 4] * (1.0 + places * 2f64.powi(-23));
        [tensor(
            DType::F32,
            &[4, 4],
            &(0..16).map(value).collect::<Vec<_>>(),
        )]
    };
    assert!(!program.judge(&inputs, &nearby(1.0)).failed());
    assert!(program.judge(&inputs, &nearby(100.0)).failed());
    let pole = "task.program @f(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %e = fusion.exp %y
  %p = fusion.sub %x, %e
  %z = fusion.lgamma %p
  task.return %z
}";
    let program = Text::new(pole);
    let inputs = [[-2_097_152.0, 3.0], [-3.0, 0.0]].map(|v| tensor(DType::F32, &[2], &v));
    let right = values(&program.run(&inputs, &reference())[0]);
    let of = |v: f64| [tensor(DType::F32, &[2], &[v, right[1]])];
    for v in [right[0], f64::INFINITY] {
        let report = program.judge(&inputs, &of(v));
        assert!(!report.failed(), "{v}: {report:?}");
    }
}
