//! Whole kernels: control flow, memory, folds and the launch contract, run on the host and compared exactly.

mod support {
    pub mod kernels;
}

use fuser_codegen::{Emission, Options, Target, compile_kernels, emit};
use fuser_dialects::kernel::build::{KernelBuilder, Loop};
use fuser_dialects::{fusion, kernel};
use fuser_ir::build::Builder;
use fuser_ir::def::OpError;
use fuser_ir::types::{Extent, MemSpace, TypeKind};
use fuser_ir::{DType, Value};
use fusion::build::FusionBuilder;
use support::kernels::Param::{Buffer, Extent as Size};
use support::kernels::*;

const F32: DType = DType::F32;

/// A loop from 0 with step `step`.
fn counted<'a>(
    b: &mut Builder<'_>,
    upper: Value,
    step: i64,
    map: &'a str,
) -> Result<Loop<'a>, OpError> {
    let (lower, step) = (b.constant_index(0)?, b.constant_index(step)?);
    Ok(Loop {
        lower,
        upper,
        step,
        init: &[],
        map,
        combine: &[],
    })
}

/// `y[r, c] += a x[r, c]`, a row for each grid iteration, columns by threads, 8 at a time and then one by one.
fn scaled_rows(program: &mut Program) -> fuser_ir::Op {
    overlapping_rows(program, 8)
}

/// With steps of less than 8 the vectors overlap, and reach beyond the loop's end.
fn overlapping_rows(program: &mut Program, vector_step: i64) -> fuser_ir::Op {
    let params = [Buffer(F32), Buffer(F32), Buffer(F32), Size, Size];
    program.kernel("scaled_rows", &params, |b, args| {
        let [a, x, y, rows, columns] = args.try_into().unwrap();
        let (zero, eight, one) = (
            b.constant_index(0)?,
            b.constant_index(8)?,
            b.constant_index(1)?,
        );
        let rest = b.rem(columns, eight)?;
        let whole = b.sub(columns, rest)?;
        let grid = counted(b, rows, 1, "grid")?;
        b.for_loop(grid, |b, row| {
            let base = b.mul(row[0], columns)?;
            let factor = b.load(a, zero)?;
            let vectors = counted(b, whole, vector_step, "thread")?;
            b.for_loop(vectors, |b, i| {
                let at = b.add(base, i[0])?;
                let product = {
                    let x = b.load_vector(x, at, 8)?;
                    b.mul(x, factor)?
                };
                let sum = {
                    let y = b.load_vector(y, at, 8)?;
                    b.add(y, product)?
                };
                b.store(sum, y, at)?;
                Ok(vec![])
            })?;
            let tail = Loop {
                lower: whole,
                upper: columns,
                step: one,
                init: &[],
                map: "thread",
                combine: &[],
            };
            b.for_loop(tail, |b, i| {
                let at = b.add(base, i[0])?;
                let product = {
                    let x = b.load(x, at)?;
                    b.mul(x, factor)?
                };
                let sum = {
                    let y = b.load(y, at)?;
                    b.add(y, product)?
                };
                b.store(sum, y, at)?;
                Ok(vec![])
            })?;
            Ok(vec![])
        })?;
        Ok(())
    })
}

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

/// Row sums and maxima: a thread loop with two folds, kept in tile memory and then subtracted.
fn row_statistics(program: &mut Program) -> fuser_ir::Op {
    let params = [Buffer(F32), Buffer(F32), Size, Size];
    program.kernel("row_statistics", &params, |b, args| {
        let [x, out, rows, columns] = args.try_into().unwrap();
        let (dims, space) = (vec![Extent::Unknown], MemSpace::Tile);
        let ty = b.ir.type_id(TypeKind::MemRef {
            dims,
            dtype: F32,
            space,
        });
        let tile = b.typed(&kernel::ALLOC, &[columns], &[], ty)?;
        let grid = counted(b, rows, 1, "grid")?;
        b.for_loop(grid, |b, row| {
            let base = b.mul(row[0], columns)?;
            let f32_type = b.ir.scalar(F32);
            let init = [
                b.constant_f32(0.0)?,
                b.constant_float(f64::NEG_INFINITY, f32_type)?,
            ];
            let spec = Loop {
                init: &init,
                combine: &["add", "max"],
                ..counted(b, columns, 1, "thread")?
            };
            let folds = b.for_loop(spec, |b, i| {
                let at = b.add(base, i[0])?;
                let v = b.load(x, at)?;
                b.store(v, tile, i[0])?;
                Ok(vec![b.add(i[1], v)?, b.maximum(i[2], v)?])
            })?;
            b.barrier()?;
            let (sum, max) = (b.ir.result(folds, 0), b.ir.result(folds, 1));
            let spec = counted(b, columns, 1, "thread")?;
            b.for_loop(spec, |b, i| {
                let v = b.load(tile, i[0])?;
                let shifted = b.sub(v, max)?;
                let result = b.add(shifted, sum)?;
                let at = b.add(base, i[0])?;
                b.store(result, out, at)?;
                Ok(vec![])
            })?;
            b.barrier()?;
            Ok(vec![])
        })?;
        Ok(())
    })
}

#[test]
fn folds_are_seen_by_the_next_phase() {
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

/// The order of a fold over lanes is defined: it shows in the rounding.
#[test]
fn lanes_fold_as_a_balanced_tree() {
    for lanes in [1usize, 2, 3, 4, 5, 7, 8, 13, 16] {
        let values: Vec<f32> = (0..lanes)
            .map(|i| 1.0 + (i * i) as f32 * 1e7 + 0.3 * i as f32)
            .collect();
        let mut program = Program::new();
        program.kernel("fold", &[Buffer(F32), Buffer(F32)], |b, args| {
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

/// Allocations do not overlap, whatever their sizes.
#[test]
fn scratch_memory_is_disjoint() {
    let mut program = Program::new();
    program.kernel("scratch", &[Buffer(DType::I64), Size], |b, args| {
        let ty = |b: &mut Builder<'_>, dims, space| {
            b.ir.type_id(TypeKind::MemRef {
                dims: vec![dims],
                dtype: DType::I64,
                space,
            })
        };
        let dynamic = ty(b, Extent::Unknown, MemSpace::Tile);
        let negative = b.constant_index(-5)?;
        let memories = [
            b.typed(&kernel::ALLOC, &[args[1]], &[], dynamic)?,
            b.alloc(3, DType::I64, MemSpace::Tile)?,
            b.typed(&kernel::ALLOC, &[negative], &[], dynamic)?,
            b.alloc(1000, DType::I64, MemSpace::Local)?,
            b.alloc(2, DType::I64, MemSpace::Local)?,
        ];
        let counts = [7i64, 3, 0, 1000, 2];
        for (k, (&memory, &count)) in memories.iter().zip(&counts).enumerate() {
            let upper = b.constant_index(count)?;
            let i64_type = b.ir.scalar(DType::I64);
            let mark = b.constant_int(k as i64 + 1, i64_type)?;
            let spec = counted(b, upper, 1, "seq")?;
            b.for_loop(spec, |b, i| b.store(mark, memory, i[0]).map(|_| vec![]))?;
        }
        for (k, (&memory, &count)) in memories.iter().zip(&counts).enumerate() {
            let i64_type = b.ir.scalar(DType::I64);
            let (upper, zero) = (b.constant_index(count)?, b.constant_int(0, i64_type)?);
            let init = [zero];
            let spec = Loop {
                init: &init,
                ..counted(b, upper, 1, "seq")?
            };
            let sum = b.for_loop(spec, |b, i| {
                let v = b.load(memory, i[0])?;
                Ok(vec![b.add(i[1], v)?])
            })?;
            let (sum, at) = (b.ir.result(sum, 0), b.constant_index(k as i64)?);
            b.store(sum, args[0], at)?;
        }
        Ok(())
    });
    let mut out = bytes_of(&[0i64; 5]);
    program.run(&mut [&mut out], &[7], 1);
    assert_eq!(values_of::<i64>(&out), [7, 6, 0, 4000, 10]);
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
    let once = compile_kernels(&program.ir, program.module, &target, Options::default()).unwrap();
    let again = compile_kernels(&program.ir, program.module, &target, Options::default()).unwrap();
    assert_eq!(once, again);
    assert_eq!(
        once.iter().map(|k| k.symbol.as_str()).collect::<Vec<_>>(),
        ["fuser_scaled_rows", "fuser_row_statistics"]
    );
}

/// Text of the findings for a kernel.
fn findings(build: impl FnOnce(&mut Program), target: &Target) -> Vec<String> {
    let mut program = Program::new();
    build(&mut program);
    match emit(
        &program.ir,
        program.module,
        target,
        Options::default(),
        Emission::LlvmIr,
    ) {
        Ok(_) => vec![],
        Err(found) => found
            .items
            .iter()
            .map(|d| format!("{} {} / {}", d.code, d.message, d.helps.join("; ")))
            .collect(),
    }
}

fn assert_finding(found: &[String], code: &str, words: &str) {
    assert!(
        found.len() == 1 && found[0].starts_with(code) && found[0].contains(words),
        "{found:?}"
    );
}

#[test]
fn what_cannot_be_lowered_is_a_finding_with_a_way_out() {
    let host = Target::host().unwrap();
    let gpu = Target::cuda("sm_80").unwrap();
    let found = findings(
        |p| {
            p.kernel("k", &[Size, Buffer(F32)], |_, _| Ok(()));
        },
        &host,
    );
    assert_finding(&found, "FIR0813", "parameter 1");
    let found = findings(
        |p| {
            p.kernel("k", &[Size], |b, args| {
                let outer = counted(b, args[0], 1, "seq")?;
                b.for_loop(outer, |b, _| {
                    let inner = counted(b, args[0], 1, "grid")?;
                    b.for_loop(inner, |_, _| Ok(vec![])).map(|_| vec![])
                })
                .map(|_| ())
            });
        },
        &host,
    );
    assert_finding(&found, "FIR0814", "directly in the function");
    let found = findings(
        |p| {
            p.kernel("k", &[Buffer(F32), Size], |b, args| {
                let (zero, at) = (b.constant_f32(0.0)?, b.constant_index(0)?);
                b.store(zero, args[0], at)?;
                let grid = counted(b, args[1], 1, "grid")?;
                b.for_loop(grid, |_, _| Ok(vec![])).map(|_| ())
            });
        },
        &host,
    );
    assert_finding(&found, "FIR0815", "outside the grid loop");
    let found = findings(
        |p| {
            p.kernel("k", &[Size], |b, args| {
                let spec = counted(b, args[0], 1, "thread")?;
                b.for_loop(spec, |b, _| b.barrier().map(|_| vec![]))
                    .map(|_| ())
            });
        },
        &gpu,
    );
    assert_finding(&found, "FIR0816", "another");
    let found = findings(
        |p| {
            p.kernel("k", &[Size], |b, args| {
                let spec = counted(b, args[0], 1, "seq")?;
                b.for_loop(spec, |b, _| b.alloc(4, F32, MemSpace::Tile).map(|_| vec![]))
                    .map(|_| ())
            });
        },
        &host,
    );
    assert_finding(&found, "FIR0815", "before the loops");
    let found = findings(
        |p| {
            p.kernel("k", &[], |b, _| {
                let ty = b.ir.vector(2000, F32);
                b.constant_float(0.0, ty).map(|_| ())
            });
        },
        &host,
    );
    assert_finding(&found, "FIR0812", "1 to 1024 lanes");
}

/// A GPU kernel as PTX, with a block of `threads`.
fn ptx(build: impl FnOnce(&mut Program) -> fuser_ir::Op, threads: i64, sm: &str) -> String {
    let mut program = Program::new();
    let func = build(&mut program);
    let attr = program.ir.int_attr(threads);
    program.ir.set_attr(func, "threads", attr);
    let target = Target::cuda(sm).unwrap();
    let text = emit(
        &program.ir,
        program.module,
        &target,
        Options::default(),
        Emission::Assembly,
    )
    .unwrap();
    assemble(&text, sm);
    text
}

/// Runs NVIDIA's assembler over it where there is one: `$PTXAS`, on the path, or in `.cache` of the repository.
fn assemble(text: &str, sm: &str) {
    let cached = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.cache/ptxas");
    let tools = [
        std::env::var_os("PTXAS").unwrap_or_default(),
        "ptxas".into(),
        cached.into_os_string(),
    ];
    let works = |tool: &&std::ffi::OsString| {
        std::process::Command::new(tool)
            .arg("--version")
            .output()
            .is_ok_and(|o| o.status.success())
    };
    let Some(tool) = tools.iter().find(works) else {
        return;
    };
    let file =
        std::env::temp_dir().join(format!("fuser-{}-{:x}.ptx", std::process::id(), text.len()));
    std::fs::write(&file, text).unwrap();
    let result = std::process::Command::new(tool)
        .args(["-arch", sm, "-o", "/dev/null"])
        .arg(&file)
        .output()
        .unwrap();
    let _ = std::fs::remove_file(&file);
    assert!(
        result.status.success(),
        "{}\n{text}",
        String::from_utf8_lossy(&result.stderr)
    );
}

#[test]
fn thread_folds_become_shuffles_and_shared_memory() {
    for sm in ["sm_80", "sm_90"] {
        let text = ptx(row_statistics, 256, sm);
        assert!(
            text.contains(".visible .entry fuser_row_statistics("),
            "{text}"
        );
        assert!(
            text.contains("%ctaid.x") && text.contains("%tid.x"),
            "{text}"
        );
        // Two folds of five exchanges each, and 8 warps' partial results in shared memory.
        assert_eq!(text.matches("shfl.sync.bfly.b32").count(), 10, "{text}");
        assert!(
            text.contains("ld.shared")
                && text.contains(".extern .shared")
                && text.contains("bar.sync"),
            "{text}"
        );
        assert!(text.contains(".maxntid 256"), "{text}");
    }
    let one_warp = ptx(row_statistics, 32, "sm_80");
    assert!(
        one_warp.contains("shfl.sync") && !one_warp.contains("fuser_partials"),
        "{one_warp}"
    );
    let one_thread = ptx(row_statistics, 1, "sm_80");
    assert!(
        !one_thread.contains("shfl.sync") && !one_thread.contains("%tid.x"),
        "{one_thread}"
    );
}

#[test]
fn aligned_vectors_move_16_bytes() {
    let build = |program: &mut Program| {
        program.kernel(
            "copy",
            &[Buffer(DType::BF16), Buffer(DType::BF16), Size],
            |b, args| {
                let [x, y, n] = args.try_into().unwrap();
                let grid = counted(b, n, 1, "grid")?;
                b.for_loop(grid, |b, i| {
                    let eight = b.constant_index(8)?;
                    let at = b.mul(i[0], eight)?;
                    let align = b.int("align", 16);
                    let ty = b.ir.vector(8, DType::BF16);
                    let v = b.typed(&kernel::LOAD, &[x, at], &[align], ty)?;
                    let doubled = b.add(v, v)?;
                    b.op(&kernel::STORE, &[doubled, y, at], &[align])?;
                    Ok(vec![])
                })?;
                Ok(())
            },
        )
    };
    let text = ptx(build, 1, "sm_80");
    assert!(text.contains("ld.global.nc.v4.b32"), "{text}");
    assert!(text.contains("st.global.v4.b32"), "{text}");
    assert!(
        text.contains("cvt.rn.bf16") || text.contains("fma.rn.bf16"),
        "{text}"
    );
}

/// NVPTX selects every op on every element type that it is defined for, and calls nothing outside.
#[test]
fn every_elementwise_op_becomes_ptx() {
    let target = Target::cuda("sm_80").unwrap();
    for (def, _) in fuser_codegen::lower::arith::RULES {
        let mut program = Program::new();
        for dtype in DType::ALL {
            one_op(&mut program, def, dtype, 4);
        }
        let kernels =
            compile_kernels(&program.ir, program.module, &target, Options::default()).unwrap();
        assert!(!kernels.is_empty(), "{} takes no element type", def.name);
        for kernel in kernels {
            let fuser_artifact::Code::Ptx(text) = kernel.code else {
                panic!("no PTX")
            };
            assert!(!text.contains(".extern"), "{} calls out:\n{text}", def.name);
            assemble(&text, "sm_80");
        }
    }
}

/// Every target takes every op at widths that fit no register, without a library call.
#[test]
fn every_elementwise_op_compiles_at_odd_widths() {
    let arm = Target::Cpu {
        triple: "aarch64-unknown-linux-gnu".into(),
        cpu: "generic".into(),
        features: String::new(),
    };
    let targets = [
        Target::x86_64_v3(),
        Target::host().unwrap(),
        arm,
        Target::cuda("sm_90").unwrap(),
    ];
    for (round, target) in targets.iter().enumerate() {
        for (turn, (def, _)) in fuser_codegen::lower::arith::RULES.iter().enumerate() {
            let mut program = Program::new();
            for (k, dtype) in DType::ALL.into_iter().enumerate() {
                // Spread over the cases, so that each target sees each width many times.
                one_op(&mut program, def, dtype, [1, 3, 17][(k + turn + round) % 3]);
            }
            let kernels = compile_kernels(
                &program.ir,
                program.module,
                target,
                Options {
                    optimize: k_even(turn),
                    ..Options::default()
                },
            )
            .unwrap();
            if round == 2 {
                assert_no_calls(&program, target, def.name);
            }
            if round < 2 {
                fuser_codegen::Library::load(&kernels)
                    .unwrap_or_else(|e| panic!("{}: {e}", def.name));
            }
        }
    }
}

/// Assembly for a machine that we cannot link for: no branch-and-link but to our own functions.
fn assert_no_calls(program: &Program, target: &Target, name: &str) {
    let text = emit(
        &program.ir,
        program.module,
        target,
        Options::default(),
        Emission::Assembly,
    )
    .unwrap();
    let mut calls = text.lines().filter(|line| line.starts_with("\tbl\t"));
    assert_eq!(calls.find(|line| !line.contains("fuser.")), None, "{name}");
}

/// Unoptimized code meets other patterns of the backends.
fn k_even(turn: usize) -> bool {
    turn.is_multiple_of(2)
}

/// A kernel that applies `def` to vectors of `lanes` `dtype`, where the op takes that type.
fn one_op(program: &mut Program, def: &'static fuser_ir::OpDef, dtype: DType, lanes: u64) {
    let takes = |o: &fuser_ir::def::OperandDef| {
        o.ty.dtypes.contains(if o.name == "condition" {
            DType::I1
        } else {
            dtype
        })
    };
    if !def.operands.iter().all(takes) || (def.name == "fusion.bitcast" && dtype == DType::I1) {
        return;
    }
    let params = [
        Buffer(DType::I1),
        Buffer(dtype),
        Buffer(DType::F64),
        Buffer(dtype),
        Buffer(DType::I1),
    ];
    program.kernel("op", &params, |b, args| {
        let zero = b.constant_index(0)?;
        let mut operands = vec![];
        for operand in def.operands {
            let memory = if operand.name == "condition" {
                args[0]
            } else {
                args[1]
            };
            operands.push(b.load_vector(memory, zero, lanes)?);
        }
        let ty = b.ir.vector(lanes, dtype);
        let (result, out) = match def.name {
            "fusion.constant" if dtype == DType::I1 => return Ok(()),
            "fusion.constant" if dtype.is_float() => (b.constant_float(1.5, ty)?, 3),
            "fusion.constant" => (b.constant_int(3, ty)?, 3),
            "fusion.cast" => (b.cast(operands[0], DType::F64)?, 2),
            "fusion.bitcast" => {
                let to = b.dtype("to", dtype);
                (b.value(def, &operands, &[to])?, 3)
            }
            "fusion.compare" => (b.compare("lt", operands[0], operands[1])?, 4),
            "fusion.isnan" | "fusion.isfinite" => (b.value(def, &operands, &[])?, 4),
            _ => (b.value(def, &operands, &[])?, 3),
        };
        b.store(result, args[out], zero)?;
        Ok(())
    });
}

/// A loop over tiles: fill by threads, read reversed by threads; with or without the barriers that this needs.
fn tiled(program: &mut Program, barriers: [bool; 2]) -> fuser_ir::Op {
    program.kernel("tiled", &[Buffer(F32), Buffer(F32), Size], |b, args| {
        let [x, y, n] = args.try_into().unwrap();
        let tile = b.alloc(64, F32, MemSpace::Tile)?;
        let (width, last) = (b.constant_index(64)?, b.constant_index(63)?);
        let tiles = counted(b, n, 64, "seq")?;
        b.for_loop(tiles, |b, base| {
            let fill = counted(b, width, 1, "thread")?;
            b.for_loop(fill, |b, i| {
                let at = b.add(base[0], i[0])?;
                let v = b.load(x, at)?;
                b.store(v, tile, i[0]).map(|_| vec![])
            })?;
            if barriers[0] {
                b.barrier()?;
            }
            let read = counted(b, width, 1, "thread")?;
            b.for_loop(read, |b, i| {
                let mirrored = b.sub(last, i[0])?;
                let v = b.load(tile, mirrored)?;
                let at = b.add(base[0], i[0])?;
                b.store(v, y, at).map(|_| vec![])
            })?;
            if barriers[1] {
                b.barrier()?;
            }
            Ok(vec![])
        })?;
        Ok(())
    })
}

/// Missing barriers are put in, present ones suffice: two a tile, one before the reads and one before the next fill.
#[test]
fn threads_wait_where_they_must() {
    for barriers in [[true, true], [false, true], [true, false], [false, false]] {
        let text = ptx(|program| tiled(program, barriers), 64, "sm_80");
        assert_eq!(text.matches("bar.sync").count(), 2, "{barriers:?}\n{text}");
        assert_eq!(
            ptx(|program| tiled(program, barriers), 1, "sm_80")
                .matches("bar.sync")
                .count(),
            0
        );
    }
    // The first thread's own stores follow each other; a load by all waits for them.
    let stores = |reload: bool| {
        move |program: &mut Program| {
            program.kernel("stores", &[Buffer(F32)], |b, args| {
                let (value, zero, one) = (
                    b.constant_f32(1.0)?,
                    b.constant_index(0)?,
                    b.constant_index(1)?,
                );
                b.store(value, args[0], zero)?;
                let again = if reload {
                    b.load(args[0], zero)?
                } else {
                    value
                };
                b.store(again, args[0], one).map(|_| ())
            })
        }
    };
    assert_eq!(
        ptx(stores(false), 64, "sm_80").matches("bar.sync").count(),
        0
    );
    assert_eq!(
        ptx(stores(true), 64, "sm_80").matches("bar.sync").count(),
        2
    );
    // A vector loop and its tail touch other elements, and a block runs one grid iteration.
    assert_eq!(ptx(scaled_rows, 64, "sm_80").matches("bar.sync").count(), 0);
    assert_eq!(
        ptx(|p| overlapping_rows(p, 4), 64, "sm_80")
            .matches("bar.sync")
            .count(),
        1
    );
    // Different buffers, or reads alone, need none.
    let independent = |program: &mut Program| {
        program.kernel(
            "independent",
            &[Buffer(F32), Buffer(F32), Buffer(F32), Size],
            |b, args| {
                let [x, y, z, n] = args.try_into().unwrap();
                for out in [y, z] {
                    let spec = counted(b, n, 1, "thread")?;
                    b.for_loop(spec, |b, i| {
                        let v = b.load(x, i[0])?;
                        b.store(v, out, i[0]).map(|_| vec![])
                    })?;
                }
                Ok(())
            },
        )
    };
    assert_eq!(ptx(independent, 64, "sm_80").matches("bar.sync").count(), 0);
}

/// What stands outside of thread loops runs in every thread; only the first stores.
#[test]
fn stores_outside_thread_loops_are_made_by_one_thread() {
    let build = |program: &mut Program| {
        program.kernel("one", &[Buffer(F32), Buffer(F32), Size], |b, args| {
            let [x, y, n] = args.try_into().unwrap();
            let grid = counted(b, n, 1, "grid")?;
            b.for_loop(grid, |b, i| {
                let v = b.load(x, i[0])?;
                b.store(v, y, i[0])?;
                Ok(vec![])
            })?;
            Ok(())
        })
    };
    assert!(ptx(build, 128, "sm_80").contains("%tid.x"));
    assert!(!ptx(build, 1, "sm_80").contains("%tid.x"));
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
