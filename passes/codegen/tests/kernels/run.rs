//! Grids, loops, branches, lanes and reductions, run and compared exactly.

use super::*;

#[test]
fn any_split_of_the_grid_gives_the_same_bytes() {
    let mut program = Program::new();
    scaled_rows(&mut program);
    let (library, symbols) = program.library();
    for (rows, columns) in [(0, 5), (1, 0), (1, 1), (3, 7), (7, 17), (5, 64), (2, 65)] {
        let x: Vec<f32> = (0..rows * columns).map(|i| (i % 13) as f32 - 6.0).collect();
        let y: Vec<f32> = (0..rows * columns).map(|i| (i % 5) as f32).collect();
        let wanted: Vec<f32> = x.iter().zip(&y).map(|(x, y)| y + 3.0 * x).collect();
        for cuts in [
            vec![0, rows],
            vec![0, rows / 2, rows],
            (0..=rows).collect(),
            vec![-3, rows + 9],
        ] {
            let (mut a, mut xb, mut yb) = (bytes_of(&[3.0f32]), bytes_of(&x), bytes_of(&y));
            for range in cuts.windows(2) {
                call(
                    &library,
                    &symbols[0],
                    &mut [&mut a, &mut xb, &mut yb],
                    &[rows, columns],
                    range[0],
                    range[1],
                );
            }
            assert_eq!(
                values_of::<f32>(&yb),
                wanted,
                "{rows} x {columns}, {cuts:?}"
            );
        }
    }
}

#[test]
fn reductions_are_seen_by_the_next_phase() {
    let mut program = Program::new();
    row_statistics(&mut program);
    let (library, symbols) = program.library();
    for (rows, columns) in [(1usize, 1usize), (3, 2), (2, 31), (4, 33), (1, 257)] {
        let x: Vec<f32> = (0..rows * columns)
            .map(|i| ((i * 7) % 23) as f32 - 11.0)
            .collect();
        let wanted = x.chunks(columns).flat_map(|row| {
            let (sum, max) = (
                row.iter().sum::<f32>(),
                row.iter().copied().fold(f32::NEG_INFINITY, f32::max),
            );
            row.iter().map(move |v| (v - max) + sum)
        });
        let (mut xb, mut out) = (bytes_of(&x), vec![0; rows * columns * 4]);
        call(
            &library,
            &symbols[0],
            &mut [&mut xb, &mut out],
            &[rows as i64, columns as i64],
            0,
            rows as i64,
        );
        assert_eq!(
            values_of::<f32>(&out),
            wanted.collect::<Vec<_>>(),
            "{rows} x {columns}"
        );
    }
}

/// Writes the visited indices of a loop with the given bounds.
fn visited(lower: i64, upper: i64, step: i64) -> Vec<i64> {
    let mut program = Program::new();
    program.kernel(
        "visits",
        &[Buffer(DType::Index), Size, Size, Size],
        |b, args| {
            let [out, lower, upper, step] = args.try_into().unwrap();
            let (zero, one) = (b.constant_index(0)?, b.constant_index(1)?);
            let spec = Loop {
                lower,
                upper,
                step,
                init: &[zero],
                map: "seq",
                combine: &[],
            };
            let end = b.for_loop(spec, |b, i| {
                let next = b.add(i[1], one)?;
                b.store(i[0], out, next)?;
                Ok(vec![next])
            })?;
            let count = b.ir.result(end, 0);
            b.store(count, out, zero)?;
            Ok(())
        },
    );
    let mut out = bytes_of(&[0i64; 16]);
    program.run(&mut [&mut out], &[lower, upper, step], 1);
    let out: Vec<i64> = values_of(&out);
    out[1..=out[0] as usize].to_vec()
}

#[test]
fn loops_run_as_defined_at_the_edges() {
    assert_eq!(visited(0, 3, 1), [0, 1, 2]);
    assert_eq!(visited(-3, 4, 3), [-3, 0, 3]);
    assert_eq!(visited(5, 5, 1), [0i64; 0]);
    assert_eq!(visited(6, 5, 1), [0i64; 0]);
    assert_eq!(visited(0, 5, 0), [0i64; 0]);
    assert_eq!(visited(0, 5, -1), [0i64; 0]);
    assert_eq!(visited(0, i64::MAX, i64::MAX - 1), [0, i64::MAX - 1]);
    assert_eq!(
        visited(i64::MIN, i64::MAX, i64::MAX),
        [i64::MIN, -1, i64::MAX - 1]
    );
    assert_eq!(visited(i64::MAX - 2, i64::MAX, 2), [i64::MAX - 2]);
}

/// Without a grid loop a kernel is grid iteration 0 and no other.
#[test]
fn a_kernel_without_a_grid_runs_once() {
    let mut program = Program::new();
    program.kernel("count", &[Buffer(DType::I64)], |b, args| {
        let zero = b.constant_index(0)?;
        let old = b.load(args[0], zero)?;
        let ty = b.ir.scalar(DType::I64);
        let one = b.constant_int(1, ty)?;
        let new = b.add(old, one)?;
        b.store(new, args[0], zero)?;
        Ok(())
    });
    let (library, symbols) = program.library();
    let mut out = bytes_of(&[40i64]);
    for (begin, end) in [(1, 5), (0, 0), (0, 1), (0, 3), (-1, 0)] {
        call(&library, &symbols[0], &mut [&mut out], &[], begin, end);
    }
    assert_eq!(values_of::<i64>(&out), [42]);
}

#[test]
fn branches_yield_and_nest() {
    let mut program = Program::new();
    program.kernel(
        "collatz",
        &[Buffer(DType::I64), Buffer(DType::I64), Size],
        |b, args| {
            let [x, out, n] = args.try_into().unwrap();
            let spec = counted(b, n, 1, "grid")?;
            b.for_loop(spec, |b, i| {
                let start = b.load(x, i[0])?;
                let ty = b.ir.scalar(DType::I64);
                let [one, two, three] = [1, 2, 3].map(|v| b.constant_int(v, ty).unwrap());
                let twenty = b.constant_index(20)?;
                let init = [start];
                let steps = Loop {
                    init: &init,
                    ..counted(b, twenty, 1, "seq")?
                };
                let end = b.for_loop(steps, |b, inner| {
                    let odd = b.rem(inner[1], two)?;
                    let is_odd = b.compare("eq", odd, one)?;
                    let next = b.if_else(
                        is_odd,
                        |b| {
                            let up = b.mul(inner[1], three)?;
                            Ok(vec![b.add(up, one)?])
                        },
                        |b| Ok(vec![b.div(inner[1], two)?]),
                    )?;
                    Ok(vec![b.ir.result(next, 0)])
                })?;
                let end = b.ir.result(end, 0);
                b.store(end, out, i[0])?;
                Ok(vec![])
            })?;
            Ok(())
        },
    );
    let x: Vec<i64> = (1..40).collect();
    let wanted: Vec<i64> = x
        .iter()
        .map(|&v| (0..20).fold(v, |v, _| if v % 2 == 1 { 3 * v + 1 } else { v / 2 }))
        .collect();
    let (mut xb, mut out) = (bytes_of(&x), bytes_of(&vec![0i64; 39]));
    program.run(&mut [&mut xb, &mut out], &[39], 39);
    assert_eq!(values_of::<i64>(&out), wanted);
}

/// The order of a reduction over lanes is defined: it shows in the rounding.
#[test]
fn lanes_combine_as_a_balanced_tree() {
    for lanes in [1usize, 2, 3, 4, 5, 7, 8, 13, 16] {
        let values: Vec<f32> = (0..lanes)
            .map(|i| 1.0 + (i * i) as f32 * 1e7 + 0.3 * i as f32)
            .collect();
        let mut program = Program::new();
        program.kernel("reduction", &[Buffer(F32), Buffer(F32)], |b, args| {
            let zero = b.constant_index(0)?;
            let vector = b.load_vector(args[0], zero, lanes as u64)?;
            let how = b.word("combine", "add");
            let sum = b.value(&kernel::REDUCE, &[vector], &[how])?;
            b.store(sum, args[1], zero)?;
            Ok(())
        });
        let (mut x, mut out) = (bytes_of(&values), vec![0; 4]);
        program.run(&mut [&mut x, &mut out], &[], 1);
        let mut tree = values;
        while tree.len() > 1 {
            let kept = tree.len().div_ceil(2);
            let high = tree.split_off(kept);
            high.iter().zip(&mut tree).for_each(|(h, l)| *l += h);
        }
        assert_eq!(values_of::<f32>(&out), tree, "{lanes} lanes");
    }
}

/// The lanes of a scan come one after the other, from what is before them: it shows in the rounding.
#[test]
fn lanes_scan_in_order() {
    for lanes in [1usize, 2, 3, 8, 13, 16] {
        let values: Vec<f32> = (0..lanes)
            .map(|i| 1.0 + (i * i) as f32 * 1e7 + 0.3 * i as f32)
            .collect();
        let mut program = Program::new();
        program.kernel("scan", &[Buffer(F32), Buffer(F32)], |b, args| {
            let zero = b.constant_index(0)?;
            let vector = b.load_vector(args[0], zero, lanes as u64)?;
            let before = b.constant_f32(0.7)?;
            let how = b.word("combine", "add");
            let steps = b.value(&kernel::SCAN, &[vector, before], &[how])?;
            b.store(steps, args[1], zero)?;
            Ok(())
        });
        let (mut x, mut out) = (bytes_of(&values), vec![0; 4 * lanes]);
        program.run(&mut [&mut x, &mut out], &[], 1);
        let mut last = 0.7f32;
        let steps = values.iter().map(|value| {
            last += value;
            last
        });
        assert_eq!(
            values_of::<f32>(&out),
            steps.collect::<Vec<_>>(),
            "{lanes} lanes"
        );
    }
}

#[test]
fn vectors_of_indices_and_single_lanes() {
    let mut program = Program::new();
    program.kernel(
        "lanes",
        &[Buffer(DType::Index), Buffer(DType::I1), Size],
        |b, args| {
            let [out, flags, n] = args.try_into().unwrap();
            let ty = b.ir.vector(8, DType::Index);
            let iota = b.typed(&kernel::IOTA, &[], &[], ty)?;
            let below = b.compare("lt", iota, n)?;
            let zero = b.constant_index(0)?;
            b.store(below, flags, zero)?;
            let lane = b.int("lane", 5);
            let five = b.value(&kernel::EXTRACT, &[iota], &[lane])?;
            let spread = b.splat(five, 8)?;
            let product = b.mul(iota, spread)?;
            b.store(product, out, zero)?;
            Ok(())
        },
    );
    let (mut out, mut flags) = (bytes_of(&[0i64; 8]), vec![7u8; 8]);
    program.run(&mut [&mut out, &mut flags], &[3], 1);
    assert_eq!(values_of::<i64>(&out), [0, 5, 10, 15, 20, 25, 30, 35]);
    assert_eq!(flags, [1, 1, 1, 0, 0, 0, 0, 0]);
}

/// Squares of elements of several widths: in one register, in several, and in a part of one.
#[test]
fn squares_of_vectors_are_transposed() {
    for target in processors() {
        for dtype in [DType::I1, DType::BF16, DType::F32, DType::I64] {
            for lanes in [1, 2, 8, 32] {
                let mut program = Program::new();
                program.kernel("square", &[Buffer(dtype), Buffer(dtype)], |b, args| {
                    let ty = b.ir.vector(lanes, dtype);
                    let mut rows = Vec::new();
                    for row in 0..lanes as i64 {
                        let at = b.constant_index(row * lanes as i64)?;
                        rows.push(b.typed(&kernel::LOAD, &[args[0], at], &[], ty)?);
                    }
                    let op = b.op(&kernel::TRANSPOSE_LANES, &rows, &[])?;
                    for (n, column) in b.ir.results(op).to_vec().into_iter().enumerate() {
                        let at = b.constant_index(n as i64 * lanes as i64)?;
                        b.store(column, args[1], at)?;
                    }
                    Ok(())
                });
                let (size, bytes) = ((lanes * lanes) as usize, dtype.bytes() as usize);
                let mask = if dtype == DType::I1 { 1 } else { u8::MAX };
                let element = |i: usize| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
                let x = (0..size).flat_map(|i| element(i)[8 - bytes..].to_vec());
                let x: Vec<u8> = x.map(|byte| byte & mask).collect();
                let side = lanes as usize;
                let wanted = (0..size).flat_map(|i| {
                    let from = i % side * side + i / side;
                    x[from * bytes..][..bytes].to_vec()
                });
                let (mut from, mut to) = (x.clone(), vec![0; x.len()]);
                let (library, symbols) = program.library_for(&target);
                call(&library, &symbols[0], &mut [&mut from, &mut to], &[], 0, 1);
                assert!(
                    wanted.eq(to),
                    "{lanes} lanes of {}, {target:?}",
                    dtype.name()
                );
            }
        }
    }
}

#[test]
fn constants_are_rounded_once() {
    let mut program = Program::new();
    // Halfway between two bf16 in f32, a hair above it in f64.
    let value = 1.0 + 2f64.powi(-8) + 2f64.powi(-40);
    program.kernel(
        "constants",
        &[Buffer(DType::BF16), Buffer(DType::F16)],
        |b, args| {
            let zero = b.constant_index(0)?;
            for (index, dtype) in [(0, DType::BF16), (1, DType::F16)] {
                let ty = b.ir.vector(4, dtype);
                let v = b.constant_float(value, ty)?;
                b.store(v, args[index], zero)?;
            }
            Ok(())
        },
    );
    let (mut b, mut h) = (bytes_of(&[0u16; 4]), bytes_of(&[0u16; 4]));
    program.run(&mut [&mut b, &mut h], &[], 1);
    assert_eq!(values_of::<u16>(&b), [0x3f81; 4]);
    assert_eq!(values_of::<u16>(&h), [0x3c04; 4]);
}

#[test]
fn the_same_kernel_gives_the_same_object() {
    let mut program = Program::new();
    scaled_rows(&mut program);
    row_statistics(&mut program);
    let target = Target::x86_64_v3();
    let once = compile_kernels(
        &program.ir,
        Kernels::of(&program.funcs()),
        &target,
        Options::default(),
        &BufferBytes::default(),
        Around::default(),
    )
    .unwrap();
    let again = compile_kernels(
        &program.ir,
        Kernels::of(&program.funcs()),
        &target,
        Options::default(),
        &BufferBytes::default(),
        Around::default(),
    )
    .unwrap();
    assert_eq!(once, again);
    assert_eq!(
        once.iter().map(|k| k.symbol.as_str()).collect::<Vec<_>>(),
        ["fuser_scaled_rows", "fuser_row_statistics"]
    );
}

/// Every bf16, widened sixteen at a time from loads.
#[test]
fn bf16_widens_from_loads_to_the_same_bits() {
    let mut program = Program::new();
    program.kernel(
        "widen",
        &[Buffer(DType::BF16), Buffer(F32), Size],
        |b, args| {
            let [x, y, vectors] = args.try_into().unwrap();
            let grid = counted(b, vectors, 1, "grid")?;
            b.for_loop(grid, |b, i| {
                let lanes = b.constant_index(16)?;
                let at = b.mul(i[0], lanes)?;
                let narrow = b.load_vector(x, at, 16)?;
                let wide = b.cast(narrow, F32)?;
                b.store(wide, y, at)?;
                Ok(vec![])
            })?;
            Ok(())
        },
    );
    let target = Target::x86_64_v3();
    let text = emit(
        &program.ir,
        program.module,
        Kernels::of(&program.funcs()),
        &target,
        Options::default(),
        Emission::Assembly,
    );
    let text = text.unwrap();
    assert!(
        text.contains("vpshufb") && !text.contains("vpmovzxwd"),
        "{text}"
    );
    let all: Vec<u16> = (0..=u16::MAX).collect();
    let wanted: Vec<u32> = all.iter().map(|&bits| u32::from(bits) << 16).collect();
    let mut out = vec![0u8; 4 * all.len()];
    program.run(&mut [&mut bytes_of(&all), &mut out], &[4096], 4096);
    let found: Vec<u32> = values_of::<i32>(&out)
        .iter()
        .map(|&bits| bits as u32)
        .collect();
    assert!(found == wanted);
    if cfg!(target_arch = "x86_64") {
        let (library, symbols) = program.library_for(&target);
        let mut again = vec![0u8; out.len()];
        call(
            &library,
            &symbols[0],
            &mut [&mut bytes_of(&all), &mut again],
            &[4096],
            0,
            4096,
        );
        assert!(again == out);
    }
}

/// Reductions `steps` vectors of `LANES` into one by `def` alone, beginning with `initial` in all lanes.
fn running_extreme(def: &'static fuser_ir::OpDef, initial: f32, steps: i64) -> Program {
    let mut program = Program::new();
    program.kernel("extreme", &[Buffer(F32), Buffer(F32)], |b, args| {
        let (x, out, zero) = (args[0], args[1], b.constant_index(0)?);
        let ty = b.ir.scalar(F32);
        let initial = b.constant_float(f64::from(initial), ty)?;
        let vector = b.ir.vector(LANES as u64, F32);
        let init = [b.typed(&kernel::SPLAT, &[initial], &[], vector)?];
        let upper = b.constant_index(steps * LANES as i64)?;
        let spec = Loop {
            init: &init,
            ..counted(b, upper, LANES as i64, "seq")?
        };
        let reduction = b.for_loop(spec, |b, i| {
            let v = b.load_vector(x, i[0], LANES as u64)?;
            Ok(vec![b.value(def, &[i[1], v], &[])?])
        })?;
        let result = b.ir.result(reduction, 0);
        b.store(result, out, zero)?;
        Ok(())
    });
    program
}

const LANES: usize = 8;

/// The greater or lesser of two by its definition, with one bit pattern for NaN.
fn extreme_of(a: f32, b: f32, up: bool, ignores_nan: bool) -> f32 {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => f32::NAN,
        (true, false) | (false, true) if !ignores_nan => f32::NAN,
        (true, false) => b,
        (false, true) => a,
        _ if (a.total_cmp(&b) == std::cmp::Ordering::Greater) == up => a,
        _ => b,
    }
}

/// NaN of either sign and kind, zeros of either sign, infinities and numbers come in every order, on every processor.
#[test]
fn running_extremes_are_those_of_their_steps() {
    let nans = [0x7f80_0001u32, 0xff80_0001, 0x7fc0_0000, 0xffff_ffff].map(f32::from_bits);
    let numbers = [
        0.0,
        -0.0,
        1e-40,
        -1e-40,
        2.5,
        -2.5,
        f32::INFINITY,
        f32::NEG_INFINITY,
    ];
    // Few kinds at a time, so that a row may hold nothing but zeros, or nothing but NaN.
    let kinds: Vec<Vec<f32>> = [&nans[..], &numbers[..2], &numbers[..4], &numbers[1..6]]
        .into_iter()
        .flat_map(|some| {
            [
                some.to_vec(),
                [some, &nans[..2]].concat(),
                [some, &numbers[6..]].concat(),
            ]
        })
        .collect();
    let ops = [
        (&fusion::MAXIMUM, true, false),
        (&fusion::MINIMUM, false, false),
        (&fusion::FMAX, true, true),
        (&fusion::FMIN, false, true),
    ];
    let initials = [f32::NEG_INFINITY, f32::INFINITY, f32::NAN, -0.0];
    let (mut state, steps) = (7u32, 5);
    for target in processors() {
        for (def, up, ignores_nan) in ops {
            for initial in initials {
                let (library, symbols) = running_extreme(def, initial, steps).library_for(&target);
                for round in 0..40 {
                    let from = &kinds[round % kinds.len()];
                    let x: Vec<f32> = (0..steps as usize * LANES)
                        .map(|_| {
                            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                            from[(state >> 16) as usize % from.len()]
                        })
                        .collect();
                    let (mut xb, mut out) = (bytes_of(&x), bytes_of(&[0f32; LANES]));
                    call(&library, &symbols[0], &mut [&mut xb, &mut out], &[], 0, 1);
                    for (lane, got) in values_of::<f32>(&out).into_iter().enumerate() {
                        let met = x.iter().skip(lane).step_by(LANES).copied();
                        let wanted = met.fold(initial, |a, b| extreme_of(a, b, up, ignores_nan));
                        let same =
                            got.to_bits() == wanted.to_bits() || got.is_nan() && wanted.is_nan();
                        assert!(
                            same,
                            "{} of {initial} and {x:?}, lane {lane}: {got}, {target:?}",
                            def.name
                        );
                    }
                }
            }
        }
    }
}

/// A step of a running extreme waits for one instruction of the step before: no comparison is among them.
#[test]
fn running_extremes_compare_nothing_on_their_way() {
    for def in [&fusion::MAXIMUM, &fusion::FMAX] {
        let program = running_extreme(def, f32::NEG_INFINITY, 1000);
        let target = Target::x86_64_v3();
        let options = Options::default();
        let text = emit(
            &program.ir,
            program.module,
            Kernels::of(&program.funcs()),
            &target,
            options,
            Emission::Assembly,
        )
        .unwrap();
        // The last block that ends in a jump is the loop's.
        let (before, _) = text.rsplit_once("\tjne\t").unwrap();
        let (_, body) = before.rsplit_once(":\n").unwrap();
        assert!(body.contains("vpminud") && !body.contains("vcmp"), "{text}");
    }
}
