//! PTX, checked by NVIDIA's assembler where there is one, and machine code for other targets.

use std::process::Command;

use fuser_artifact::Code;

use super::*;

/// A GPU kernel as PTX, with a block of `threads`.
pub fn ptx(build: impl FnOnce(&mut Program) -> fuser_ir::Op, threads: i64, sm: &str) -> String {
    let mut program = Program::new();
    let func = build(&mut program);
    let attr = program.ir.int_attr(threads);
    program.ir.set_attr(func, "threads", attr);
    let target = Target::cuda(sm).unwrap();
    let text = emit(
        &program.ir,
        program.module,
        Kernels::of(&program.funcs()),
        &target,
        Options::default(),
        Emission::Assembly,
    )
    .unwrap();
    assemble(&text, sm);
    text
}

/// Runs NVIDIA's assembler over it, where there is one.
fn assemble(text: &str, sm: &str) {
    let Some(tool) = fuser_testing::ptxas(std::env::var_os("PTXAS")) else {
        println!("skipped: ptxas not found; PTX is not assembled");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kernel.ptx");
    std::fs::write(&file, text).unwrap();
    let assembled = Command::new(tool)
        .args(["-arch", sm, "-o", "/dev/null"])
        .arg(&file)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&assembled.stderr);
    assert!(assembled.status.success(), "{said}\n{text}");
    println!("count: 1 kernels assembled for {sm}");
}

#[test]
fn thread_reductions_become_shuffles_and_shared_memory() {
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
        // Two reductions of five exchanges each, and 8 warps' partial results in shared memory, of which a thread reads four and exchanges once.
        assert_eq!(text.matches("shfl.sync.bfly.b32").count(), 12, "{text}");
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

/// Functions and tables of one kernel stand beside those of another: sines of large arguments, remainders, constants.
#[test]
fn kernels_of_one_file_share_no_names() {
    let mut program = Program::new();
    for name in ["a", "b"] {
        let params = [Buffer(DType::F32), Buffer(DType::F32)];
        program.kernel(name, &params, |b, args| {
            let zero = b.constant_index(0)?;
            let x = b.load(args[0], zero)?;
            let sine = b.value(&fuser_dialects::fusion::SIN, &[x], &[])?;
            let rest = b.value(&fuser_dialects::fusion::REM, &[sine, x], &[])?;
            b.store(rest, args[1], zero)?;
            Ok(())
        });
    }
    let target = Target::cuda("sm_90").unwrap();
    let options = Options::default();
    let text = emit(
        &program.ir,
        program.module,
        Kernels::of(&program.funcs()),
        &target,
        options,
        Emission::Assembly,
    );
    let text = text.unwrap();
    for name in ["fuser_a", "fuser_b"] {
        for own in ["sin_$_large_$_f32", "two_over_pi"] {
            assert!(text.contains(&format!("{name}_$_{own}")), "{text}");
        }
    }
    assemble(&text, "sm_90");
}

/// The element types that kernels know.
fn known() -> impl Iterator<Item = DType> {
    let known = |dtype: &DType| fuser_ir::def::DTypes::KERNEL.contains(*dtype);
    DType::REAL.into_iter().filter(known)
}

/// NVPTX selects every op on every element type that it is defined for, and calls nothing outside.
#[test]
fn every_elementwise_op_becomes_ptx() {
    let target = Target::cuda("sm_80").unwrap();
    for (def, _) in fuser_codegen::lower::arith::RULES {
        let mut program = Program::new();
        for dtype in known() {
            one_op(&mut program, def, dtype, 4);
        }
        let kernels = compile_kernels(
            &program.ir,
            Kernels::of(&program.funcs()),
            &target,
            Options::default(),
            &BufferBytes::default(),
            Around::default(),
        )
        .unwrap();
        assert!(!kernels.is_empty(), "{} takes no element type", def.name);
        for kernel in kernels {
            let Code::Ptx(text) = kernel.code else {
                panic!("no PTX")
            };
            assert!(!text.contains(".extern"), "{} calls out:\n{text}", def.name);
            assemble(&text, "sm_80");
        }
    }
}

/// Every target takes every op at widths that fit no register, without a library call but those that are bound.
#[test]
fn every_elementwise_op_compiles_at_odd_widths() {
    const ASM: Emission = Emission::Assembly;
    let arm = Target::aarch64();
    let amd = Target::hip("gfx942").unwrap();
    let targets = [
        Target::x86_64_v3(),
        Target::host(None).unwrap(),
        Target::cpu("x86-64").unwrap(),
        arm.clone(),
        Target::cuda("sm_90").unwrap(),
        amd.clone(),
    ];
    for (round, target) in targets.iter().enumerate() {
        for (turn, (def, _)) in fuser_codegen::lower::arith::RULES.iter().enumerate() {
            let mut program = Program::new();
            for (k, dtype) in known().enumerate() {
                // Spread over the cases, so that each target sees each width many times.
                one_op(&mut program, def, dtype, [1, 3, 17][(k + turn + round) % 3]);
            }
            let kernels = compile_kernels(
                &program.ir,
                Kernels::of(&program.funcs()),
                target,
                Options {
                    optimize: k_even(turn),
                    ..Options::default()
                },
                &BufferBytes::default(),
                Around::default(),
            )
            .unwrap();
            if *target == arm {
                assert_no_calls(&program, target, def.name);
            }
            if *target == amd {
                assert!(
                    kernels
                        .iter()
                        .all(|kernel| matches!(kernel.code, Code::Object(_)))
                );
                let options = Options::default();
                let text = emit(
                    &program.ir,
                    program.module,
                    Kernels::of(&program.funcs()),
                    target,
                    options,
                    ASM,
                )
                .unwrap();
                assert!(
                    !text.contains("@gotpcrel"),
                    "{} calls out:\n{text}",
                    def.name
                );
            }
            if target.gpu().is_none() && target.missing_on_host().unwrap().is_empty() {
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
        Kernels::of(&program.funcs()),
        target,
        Options::default(),
        Emission::Assembly,
    )
    .unwrap();
    let mut calls = text.lines().filter(|line| line.starts_with("\tbl\t"));
    assert_eq!(calls.find(|line| !line.contains("fuser")), None, "{name}");
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
        Buffer(DType::I32),
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
            "fusion.philox" => {
                let word = b.word("word", "z");
                (b.value(def, &operands, &[word])?, 5)
            }
            "fusion.compare" => (b.compare("lt", operands[0], operands[1])?, 4),
            "fusion.isnan" | "fusion.isfinite" => (b.value(def, &operands, &[])?, 4),
            _ => (b.value(def, &operands, &[])?, 3),
        };
        b.store(result, args[out], zero)?;
        Ok(())
    });
}
