//! Tasks, extents, kernels and launches; and everything that must be an error.

use crate::common::*;
use fuser_dialects::kernel::build::{KernelBuilder, Loop, function};
use fuser_dialects::{builtin, fusion, kernel, registry, task};
use fuser_interp::{Data, ErrorKind, Options, Tensor, interpret, interpret_op};
use fuser_ir::build::Builder;
use fuser_ir::types::{Dim, Extent, MemSpace, TypeKind};
use fuser_ir::{AttrKind, Block, DType, Ir, NewOp, Op, TypeId, Value};

/// `task` around what `body` makes, `depth` times.
fn nested(b: &mut Builder<'_>, x: Value, depth: usize) -> Value {
    let mut region = None;
    for level in 0..=depth {
        let (next, block) = b.region(&[]);
        b.inside(block, |b| {
            let inner = match region.take() {
                None => b.value(&fusion::ADD, &[x, x], &[]).unwrap(),
                Some(region) => {
                    let op = b.build(&task::PATTERN, &[], &[], &[region], None).unwrap();
                    b.ir.result(op, 0)
                }
            };
            b.op(&task::YIELD, &[inner], &[]).unwrap();
        });
        region = Some(next);
        assert!(level <= depth);
    }
    let op = b
        .build(&task::SEGMENT, &[], &[], &[region.unwrap()], None)
        .unwrap();
    b.ir.result(op, 0)
}

#[test]
fn tasks_compute_what_their_ops_compute_at_any_depth() {
    for depth in [0, 3, 20_000] {
        let p = program(
            |ir| vec![ir.tensor(vec![Dim::fixed(2)], DType::F32)],
            |b, args| {
                let y = nested(b, args[0], depth);
                vec![y, args[0]]
            },
        );
        let y = p
            .run(&[f32s(&[2], &[1.0, 2.0])], &Options::default())
            .unwrap()
            .values;
        assert_eq!(
            (values(&y[0]), values(&y[1])),
            (vec![2.0, 4.0], vec![1.0, 2.0])
        );
    }
}

#[test]
fn one_op_of_a_program_can_be_run_alone() {
    let mut made = None;
    let p = program(
        |ir| vec![ir.tensor(vec![Dim::fixed(2)], DType::F32)],
        |b, args| {
            let y = nested(b, args[0], 2);
            made = Some((b.ir.def_op(y).unwrap(), args[0]));
            vec![y]
        },
    );
    let (segment, x) = made.unwrap();
    let out = interpret_op(
        &p.ir,
        segment,
        &[(x, f32s(&[2], &[1.0, 2.0]))],
        &Options::default(),
    )
    .unwrap();
    assert_eq!(values(&out.values[0]), [2.0, 4.0]);
}

/// `x: [B]x[S]`, `y: [2*B]`, and `x` broadcast to `[S*B]` times more.
fn with_extents() -> Program {
    program(
        |ir| {
            let (b, s) = (ir.named_extent("B"), ir.named_extent("S"));
            let twice = ir
                .extent_as_expr(b)
                .and_then(|e| e.add(&e))
                .and_then(|e| ir.extent(e))
                .unwrap();
            vec![
                ir.tensor(vec![Dim::new(b), Dim::new(s)], DType::F32),
                ir.tensor(vec![Dim::new(twice)], DType::F32),
            ]
        },
        |b, args| {
            let (rows, columns) = (b.ir.named_extent("B"), b.ir.named_extent("S"));
            let product = b.ir.extent_as_expr(rows).unwrap();
            let product = product.mul(&b.ir.extent_as_expr(columns).unwrap()).unwrap();
            let product = b.ir.extent(product).unwrap();
            let clauses = [
                b.ints("dims", &[1, 2]),
                b.shape(
                    "shape",
                    &[Dim::new(product), Dim::new(rows), Dim::new(columns)],
                ),
            ];
            let wide = b.value(&fusion::BROADCAST, &[args[0]], &clauses).unwrap();
            vec![wide]
        },
    )
}

#[test]
fn extents_come_from_the_inputs() {
    let p = with_extents();
    let run = |b: usize, s: usize, other: usize| {
        let inputs = [
            f32s(&[b, s], &vec![1.0; b * s]),
            f32s(&[other], &vec![0.0; other]),
        ];
        p.run(&inputs, &Options::default())
    };
    let out = run(2, 3, 4).unwrap();
    assert_eq!(
        out.values[0].axes(),
        axes(&[(6, true), (2, false), (3, false)])
    );
    assert_eq!(
        out.extents.into_iter().collect::<Vec<_>>(),
        [("B".to_string(), 2), ("S".to_string(), 3)]
    );
    assert_eq!(run(0, 3, 0).unwrap().values[0].shape(), [0, 0, 3]);
    let error = run(2, 3, 5).unwrap_err().to_string();
    assert_eq!(error, "input `1` must be 4xf32, but is 5xf32");
    let error = p
        .run(&[f32s(&[1], &[1.0])], &Options::default())
        .unwrap_err()
        .to_string();
    assert_eq!(error, "the program takes 2 inputs, 1 were given");
}

#[test]
fn contradicting_extents_are_errors() {
    let p = program(
        |ir| {
            let b = ir.named_extent("B");
            vec![ir.tensor(vec![Dim::new(b)], DType::F32); 2]
        },
        |b, args| vec![b.value(&fusion::ADD, args, &[]).unwrap()],
    );
    let error = p
        .run(
            &[f32s(&[1], &[1.0]), f32s(&[2], &[1.0; 2])],
            &Options::default(),
        )
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "extent `B` is 1 by input `0` and 2 by input `1`"
    );
    let once = Tensor::new(DType::F32, axes(&[(2, true)]), Data::F32(vec![1.0])).unwrap();
    let error = p
        .run(&[f32s(&[2], &[1.0; 2]), once], &Options::default())
        .unwrap_err();
    assert_eq!(error.to_string(), "input `1` must be 2xf32, but is b2xf32");
    // One element is stored once anyway.
    let once = Tensor::new(DType::F32, axes(&[(1, true)]), Data::F32(vec![1.0])).unwrap();
    let out = p.run(&[f32s(&[1], &[1.0]), once], &Options::default());
    assert_eq!(out.unwrap().values[0].axes(), axes(&[(1, false)]));
}

#[test]
fn fuel_and_memory_are_limits() {
    let x = f32s(&[100], &[1.0; 100]);
    let p = single("exp", &[], std::slice::from_ref(&x));
    let run = |options: Options| p.run(std::slice::from_ref(&x), &options);
    let fuel = |fuel| Options {
        fuel,
        ..Options::default()
    };
    let memory = |memory| Options {
        memory,
        ..Options::default()
    };
    assert!(run(fuel(100)).is_ok() && run(memory(400)).is_ok());
    assert_eq!(run(fuel(99)).unwrap_err().kind, ErrorKind::OutOfFuel(99));
    let error = run(memory(399)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "400 bytes more are needed, 0 of 399 are in use"
    );
    assert!(error.op.is_some());
    let out = run(Options::default()).unwrap();
    assert_eq!((out.operations, out.peak_memory), (100, 400));
}

#[test]
fn a_turn_counts_as_64_operations() {
    let mut ir = Ir::new(registry());
    let text = "module {\ntask.program @f(%x: tensor<1xf32>) -> tensor<1xf32> {\n%y = task.loop %x turns 100 body @turn\ntask.return %y\n}\n\
                task.program @turn(%x: tensor<1xf32>) -> tensor<1xf32> {\ntask.return %x\n}\n}";
    let module = fuser_ir::parse::parse_str(&mut ir, text).module.unwrap();
    let program = ir.children(module)[0];
    let run = |fuel| {
        let options = Options {
            fuel,
            ..Options::default()
        };
        interpret(&ir, program, &[f32s(&[1], &[2.0])], &options)
    };
    assert_eq!(run(6400).unwrap().operations, 6400);
    assert!(run(6399).is_err());
}

#[test]
fn values_go_after_their_last_use() {
    let x = f32s(&[1000], &[1.0; 1000]);
    let p = program(
        |ir| vec![type_of(ir, &x)],
        |b, args| {
            let mut y = args[0];
            for _ in 0..50 {
                y = b.value(&fusion::NEG, &[y], &[]).unwrap();
            }
            vec![y]
        },
    );
    let out = p.run(&[x], &Options::default()).unwrap();
    assert_eq!(out.peak_memory, 8000);
}

#[test]
fn huge_shapes_are_errors_and_not_allocations() {
    let shape = [C::Shape("shape", &[1 << 40, 1 << 40])];
    let p = single("full", &shape, &[f32s(&[], &[1.0])]);
    let error = p
        .run(&[f32s(&[], &[1.0])], &Options::default())
        .unwrap_err();
    assert_eq!(error.to_string(), "the number of elements overflows");
    let shape = [C::Shape("shape", &[1 << 40, 1 << 10])];
    let p = single("full", &shape, &[f32s(&[], &[1.0])]);
    let error = p
        .run(&[f32s(&[], &[1.0])], &Options::default())
        .unwrap_err();
    assert!(matches!(error.kind, ErrorKind::OutOfMemory { .. }));
    let shape = [C::Shape("shape", &[1 << 40, 1 << 40, 0])];
    let p = single("full", &shape, &[f32s(&[], &[1.0])]);
    assert_eq!(
        p.run(&[f32s(&[], &[1.0])], &Options::default())
            .unwrap()
            .values[0]
            .stored_len(),
        0
    );
}

#[test]
fn unknown_ops_are_errors() {
    let mut ir = Ir::new(registry());
    let name = ir.op_name("other.thing");
    let op = ir.create(name, NewOp::default());
    let error = interpret(&ir, op, &[], &Options::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`other.thing` is neither a program nor a kernel"
    );
    let error = interpret_op(&ir, op, &[], &Options::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the interpreter knows no op `other.thing`"
    );
}

#[test]
fn ir_that_breaks_its_definition_is_an_error() {
    // Built without inference, as no verifier would let it pass.
    let mut ir = Ir::new(registry());
    let f32s3 = ir.tensor(vec![Dim::fixed(3)], DType::F32);
    for def in registry()
        .ops()
        .filter(|d| d.name.starts_with("fusion.") || d.name.starts_with("kernel."))
    {
        for operands in 0..4 {
            let region = ir.new_region();
            let block = ir.append_block(region);
            let args: Vec<Value> = (0..operands)
                .map(|_| ir.append_arg(block, f32s3, None))
                .collect();
            let new = NewOp {
                operands: args.iter().copied().collect(),
                results: [(f32s3, None)].into_iter().collect(),
                ..NewOp::default()
            };
            let op = ir.create_op(def, new);
            ir.append_op(block, op);
            let inputs: Vec<(Value, Tensor)> = args
                .iter()
                .map(|a| (*a, tensor(DType::F32, &[3], &[1.0; 3])))
                .collect();
            // An error or a result; only panics are wrong, and an op of the tables without a meaning.
            for options in [Options::default(), reference()] {
                let result = interpret_op(&ir, op, &inputs, &options);
                let unknown = result.is_err_and(|e| matches!(e.kind, ErrorKind::UnknownOp(_)));
                assert!(!unknown || def.name == "kernel.func", "{}", def.name);
            }
        }
    }
}

fn buffer(ir: &mut Ir, dtype: DType) -> TypeId {
    ir.type_id(TypeKind::MemRef {
        dims: vec![Extent::Unknown],
        dtype,
        space: MemSpace::Global,
    })
}

fn index(b: &mut Builder<'_>, value: i64) -> Value {
    let ty = b.ir.scalar(DType::Index);
    let value = b.ir.attr(AttrKind::Int {
        value: value.into(),
        ty,
    });
    b.typed(&fusion::CONSTANT, &[], &[("value", value)], ty)
        .unwrap()
}

/// `y[r] = 2 * sum over c of x[r, c]` for rows of `columns`: vectors of 4 with a tail, a scratch row, both branches.
fn row_sums(ir: &mut Ir, module: Block, columns: i64) -> Op {
    let (float, idx) = (buffer(ir, DType::F32), ir.scalar(DType::Index));
    let (op, body) = function(ir, module, "rows", &[float, float, idx]);
    let args = ir.args(body).to_vec();
    let mut b = Builder::at_end(ir, body);
    let (zero, one, four) = (index(&mut b, 0), index(&mut b, 1), index(&mut b, 4));
    let (width, whole) = (index(&mut b, columns), index(&mut b, columns / 4 * 4));
    let scratch = b.alloc(columns as u64, DType::F32, MemSpace::Tile).unwrap();
    let rows = Loop {
        lower: zero,
        upper: args[2],
        step: one,
        init: &[],
        map: "grid",
        combine: &[],
    };
    b.for_loop(rows, |b, i| {
        let base = b.value(&fusion::MUL, &[i[0], width], &[])?;
        let inner = |lower, upper, step| Loop {
            lower,
            upper,
            step,
            init: &[],
            map: "seq",
            combine: &[],
        };
        b.for_loop(inner(zero, whole, four), |b, c| {
            let at = b.value(&fusion::ADD, &[base, c[0]], &[])?;
            let v = b.load_vector(args[0], at, 4)?;
            b.store(v, scratch, c[0])?;
            Ok(vec![])
        })?;
        b.for_loop(inner(whole, width, one), |b, c| {
            let at = b.value(&fusion::ADD, &[base, c[0]], &[])?;
            let v = b.load(args[0], at)?;
            b.store(v, scratch, c[0])?;
            Ok(vec![])
        })?;
        b.barrier()?;
        let ty = b.ir.scalar(DType::F32);
        let nothing = b.ir.attr(AttrKind::Float { bits: 0, ty });
        let nothing = b.typed(&fusion::CONSTANT, &[], &[("value", nothing)], ty)?;
        let sum = b.for_loop(
            Loop {
                init: &[nothing],
                map: "thread",
                combine: &["add"],
                ..inner(zero, width, one)
            },
            |b, c| {
                let x = b.load(scratch, c[0])?;
                Ok(vec![b.value(&fusion::ADD, &[c[1], x], &[])?])
            },
        )?;
        let sum = b.ir.result(sum, 0);
        let positive = b.word("predicate", "gt");
        let positive = b.value(&fusion::COMPARE, &[sum, nothing], &[positive])?;
        let twice = b.if_else(
            positive,
            |b| Ok(vec![b.value(&fusion::ADD, &[sum, sum], &[])?]),
            |b| {
                let n = b.value(&fusion::NEG, &[sum], &[])?;
                let n = b.value(&fusion::ADD, &[n, n], &[])?;
                Ok(vec![b.value(&fusion::NEG, &[n], &[])?])
            },
        )?;
        let twice = b.ir.result(twice, 0);
        b.store(twice, args[1], i[0])?;
        Ok(vec![])
    })
    .unwrap();
    b.op(&kernel::RETURN, &[], &[]).unwrap();
    op
}

#[test]
fn kernels_run_as_plain_loops() {
    for columns in [1usize, 3, 4, 7, 16] {
        let mut ir = Ir::new(registry());
        let region = ir.new_region();
        let module = ir.append_block(region);
        let op = row_sums(&mut ir, module, columns as i64);
        let x: Vec<f32> = (0..5 * columns).map(|i| (i as f32) - 9.0).collect();
        let expected: Vec<f64> = x
            .chunks(columns)
            .map(|row| 2.0 * f64::from(row.iter().sum::<f32>()))
            .collect();
        let y = f32s(&[5], &[f32::NAN; 5]);
        let inputs = [f32s(&[x.len()], &x), y, Tensor::index(5)];
        for options in [Options::default(), reference()] {
            let out = interpret(&ir, op, &inputs, &options).unwrap();
            assert_eq!(values(&out.values[1]), expected);
            assert!(out.values[1].bounds().is_none(), "whole numbers are exact");
        }
        let inputs = [
            f32s(&[x.len()], &x),
            f32s(&[4], &[0.0; 4]),
            Tensor::index(5),
        ];
        let error = interpret(&ir, op, &inputs, &Options::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "access to 1 elements at 4 of a buffer of 4 elements"
        );
        let fuel = Options {
            fuel: 50,
            ..Options::default()
        };
        assert!(interpret(&ir, op, &inputs, &fuel).is_err());
    }
}

#[test]
fn programs_launch_kernels() {
    let mut ir = Ir::new(registry());
    let region = ir.new_region();
    let module = ir.append_block(region);
    row_sums(&mut ir, module, 3);
    let rows = ir.named_extent("B");
    let x = ir.tensor(vec![Dim::new(rows), Dim::fixed(3)], DType::F32);
    let y = ir.tensor(vec![Dim::new(rows)], DType::F32);
    let body = ir.new_region();
    let block = ir.append_block(body);
    let arg = ir.append_arg(block, x, None);
    let mut b = Builder::at_end(&mut ir, block);
    let name = b.ir.sym("rows");
    let callee = b.ir.attr(AttrKind::SymbolRef(vec![name]));
    let mut results = Vec::new();
    for _ in 0..2 {
        let extents = b.shape("extents", &[Dim::new(rows)]);
        let op = b.build(
            &kernel::LAUNCH,
            &[arg],
            &[("callee", callee), extents],
            &[],
            Some(&[y]),
        );
        results.push(b.ir.result(op.unwrap(), 0));
    }
    let sum = b.value(&fusion::ADD, &results, &[]).unwrap();
    b.op(&task::RETURN, &[sum], &[]).unwrap();
    let new = NewOp {
        regions: [body].into_iter().collect(),
        ..NewOp::default()
    };
    let program = ir.create_op(&task::PROGRAM, new);
    ir.append_op(module, program);
    let new = NewOp {
        regions: [region].into_iter().collect(),
        ..NewOp::default()
    };
    ir.create_op(&builtin::MODULE, new);
    let x = f32s(&[2, 3], &[1., 2., 3., -4., -5., -6.]);
    let out = interpret(&ir, program, &[x], &Options::default()).unwrap();
    assert_eq!(values(&out.values[0]), [24.0, -60.0]);
}

#[test]
fn lanes_combine_as_a_tree() {
    let reduce = |dtype: DType, list: &[f64], how: &str| {
        let p = program(
            |ir| vec![ir.vector(list.len() as u64, dtype)],
            |b, args| {
                let how = b.word("combine", how);
                vec![b.value(&kernel::REDUCE, args, &[how]).unwrap()]
            },
        );
        values(
            &p.run(&[tensor(dtype, &[list.len()], list)], &Options::default())
                .unwrap()
                .values[0],
        )[0]
    };
    assert_eq!(reduce(DType::F32, &[1., 2., 3., 4., 5.], "add"), 15.0);
    assert_eq!(reduce(DType::I8, &[100., 100., 100.], "add"), 44.0);
    assert_eq!(reduce(DType::F32, &[7.0], "mul"), 7.0);
    assert_eq!(reduce(DType::F32, &[3., -1., 2.], "min"), -1.0);
    // Halves: (256 + 1) + (1 + 1); 257 is not a bf16, 256 + 2 is.
    assert_eq!(reduce(DType::BF16, &[256., 1., 1., 1.], "add"), 258.0);
    // With three, the middle lane waits: (256 + 1) + 1.
    assert_eq!(reduce(DType::BF16, &[256., 1., 1.], "add"), 256.0);
    // f32: 2^24 + 1 is lost, 1 + 1 is not.
    assert_eq!(
        reduce(DType::F32, &[16_777_216., 1., 0., 1.], "add"),
        16_777_218.0
    );
}

#[test]
fn a_scan_keeps_every_step() {
    let scan = |ir: &mut fuser_ir::Ir, lanes: u64| match lanes {
        0 => ir.scalar(DType::I8),
        _ => ir.vector(lanes, DType::I8),
    };
    for (lanes, list, steps) in [
        (3, &[100., 100., 1.][..], &[101., -55., -54.][..]),
        (1, &[2.], &[3.]),
        (0, &[2.], &[3.]),
    ] {
        let p = program(
            |ir| vec![scan(ir, lanes), ir.scalar(DType::I8)],
            |b, args| {
                let how = b.word("combine", "add");
                vec![b.value(&kernel::SCAN, args, &[how]).unwrap()]
            },
        );
        let shape = [list.len()];
        let shape = if lanes == 0 { &[][..] } else { &shape };
        let inputs = [
            tensor(DType::I8, shape, list),
            tensor(DType::I8, &[], &[1.]),
        ];
        let out = p.run(&inputs, &Options::default()).unwrap();
        assert_eq!(values(&out.values[0]), steps);
    }
}
