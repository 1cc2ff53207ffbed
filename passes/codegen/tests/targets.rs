//! Targets by name, object loading, and PTX of the whole math library.

use fuser_codegen::expr::{Elem, Emit, Val};
use fuser_codegen::gpu::Source;
use fuser_codegen::gpu::amdgpu::other;
use fuser_codegen::link::Loaded;
use fuser_codegen::llvm::errors::caught;
use fuser_codegen::target::{self, Target};
use fuser_codegen::{CodegenError, convert, math, memory};
use inkwell::AddressSpace;
use inkwell::context::Context;
use inkwell::types::VectorType;
use inkwell::values::{InstructionOpcode, PointerValue};

use crate::support::ArrayFunction;

#[test]
fn unknown_names_are_errors_that_list_the_known() {
    let error = Target::cuda("sm_70").unwrap_err().to_string();
    assert!(
        error.contains("sm_70") && error.contains("sm_90"),
        "{error}"
    );
    let error = Target::cpu("x86-64-v5").unwrap_err().to_string();
    assert!(
        error.contains("x86-64-v5") && error.contains("native, x86-64, x86-64-v2"),
        "{error}"
    );
}

#[test]
fn what_a_host_lacks_is_named() {
    let cpu = |triple: &str, features: &str| Target::Cpu {
        triple: triple.into(),
        cpu: "some".into(),
        features: features.into(),
    };
    assert!(
        Target::host(None)
            .unwrap()
            .missing_on_host()
            .unwrap()
            .is_empty()
    );
    if cfg!(target_arch = "x86_64") {
        assert!(
            Target::cpu("x86-64")
                .unwrap()
                .missing_on_host()
                .unwrap()
                .is_empty()
        );
        let future = cpu("x86_64-unknown-linux-gnu", "+sse2,+no-such-unit,-avx");
        assert_eq!(future.missing_on_host().unwrap(), ["no-such-unit"]);
        let other = cpu("aarch64-unknown-linux-gnu", "+neon");
        assert_eq!(other.missing_on_host().unwrap(), ["aarch64"]);
    }
}

/// LLVM's own levels and ours are the same: code for a level has what its features name and no more.
#[test]
fn levels_are_those_of_the_psabi() {
    for (level, (name, added)) in fuser_target::processors::X86_LEVELS.iter().enumerate() {
        let Target::Cpu { cpu, features, .. } = Target::cpu(name).unwrap() else {
            panic!("{name} is no CPU");
        };
        assert_eq!(cpu, *name);
        for feature in *added {
            assert!(
                features.split(',').any(|f| f == format!("+{feature}")),
                "{name}: {features}"
            );
        }
        let bytes = Target::cpu(name).unwrap().vector_bytes();
        assert_eq!(bytes, [16, 16, 32, 64][level], "{name}");
    }
}

#[test]
fn garbage_is_refused_not_run() {
    let result = Loaded::new(&[b"this is no object"]).and_then(|loaded| loaded.lookup("main"));
    assert!(matches!(result, Err(CodegenError::Load(_))), "{result:?}");
}

#[test]
fn an_unresolved_symbol_is_an_error() {
    let target = Target::host(None).unwrap();
    let machine = target.machine().unwrap();
    let context = Context::create();
    let emit = Emit::new(&context, "calls", &target);
    let ty = context.void_type().fn_type(&[], false);
    // A function of the process, which kernels must not reach.
    let callee = emit.module.add_function("abort", ty, None);
    let function = emit.module.add_function("kernel", ty, None);
    emit.builder
        .position_at_end(context.append_basic_block(function, "entry"));
    emit.call(callee, &[]);
    emit.builder.build_return(None).unwrap();
    let object = target::emit_object(&emit.module, &machine).unwrap();
    let error = Loaded::new(&[&object]).unwrap_err().to_string();
    assert!(error.contains("abort"), "{error}");
}

/// The object of a function of one pointer.
fn object_of(
    target: &Target,
    body: impl for<'ctx> FnOnce(&Emit<'ctx>, PointerValue<'ctx>),
) -> Vec<u8> {
    let machine = target.machine().unwrap();
    let context = Context::create();
    let emit = Emit::new(&context, "object", target);
    emit.module.set_triple(&machine.get_triple());
    let pointer = context.ptr_type(AddressSpace::default());
    let ty = context.void_type().fn_type(&[pointer.into()], false);
    let kernel = emit.module.add_function("kernel", ty, None);
    emit.builder
        .position_at_end(context.append_basic_block(kernel, "entry"));
    body(&emit, kernel.get_nth_param(0).unwrap().into_pointer_value());
    emit.builder.build_return(None).unwrap();
    target.optimize(&emit.module, &machine).unwrap();
    target::emit_object(&emit.module, &machine).unwrap()
}

#[test]
fn damaged_objects_are_linked_or_refused_and_no_more() {
    let math::Emitter::Unary(erf) = math::find("erf").unwrap().emit else {
        panic!("erf has one operand");
    };
    // Below x86-64-v3 it calls `fmaf`.
    let object = object_of(&Target::cpu("x86-64").unwrap(), |emit, memory| {
        let x = memory::load(emit, memory, Elem::F32, Some(4), 16);
        memory::store(emit, erf(x), memory, 16);
    });
    let whole = Loaded::new(&[&object]).unwrap();
    assert!(whole.lookup("kernel").is_ok() && whole.lookup("nothing").is_err());
    assert!(Loaded::new(&[&object, &object]).is_err(), "a symbol twice");
    for at in 0..object.len() {
        let _ = Loaded::new(&[&object[..at]]);
        for bits in [1, 0x80, 0xff] {
            let mut damaged = object.clone();
            damaged[at] ^= bits;
            let _ = Loaded::new(&[&damaged]);
        }
    }
}

/// The constants that pairs of `adrp` and a load reach in linked code are those that the relocations of the object name.
#[test]
fn loads_of_constants_on_aarch64_reach_them() {
    use object::{Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget};
    let target = Target::aarch64();
    let object = object_of(&target, |emit, memory| {
        let mut x = memory::load(emit, memory, Elem::F32, Some(4), 16);
        let number = |n: i32| emit.context.f32_type().const_float(f64::from(n) * 1.7);
        for turn in 0..8 {
            let lanes = [1, 2, 3, 4].map(|lane| number(8 * lane + turn));
            x = x * emit.val(VectorType::const_vector(&lanes));
        }
        memory::store(emit, x, memory, 16);
    });
    let loaded = Loaded::new(&[&object]).unwrap();
    let code = loaded.lookup("kernel").unwrap();
    let file = object::read::elf::ElfFile64::<object::Endianness>::parse(&*object).unwrap();
    let text = file.section_by_name(".text").unwrap();
    // SAFETY: addresses that the linked code has, in memory that `loaded` holds.
    let read = |address: u64| unsafe { std::ptr::read_unaligned(address as *const u32) };
    let (mut page, mut loads) = (0, 0);
    for (offset, relocation) in text.relocations() {
        let RelocationFlags::Elf { r_type } = relocation.flags() else {
            panic!("not ELF");
        };
        let word = read(code + offset);
        if r_type == object::elf::R_AARCH64_ADR_PREL_PG_HI21 {
            let immediate = u64::from((word >> 5 & 0x7_ffff) << 2 | word >> 29 & 3);
            assert_eq!(immediate >> 20, 0, "constants follow the code");
            page = ((code + offset) & !0xfff) + (immediate << 12);
            continue;
        }
        // ldr q, ldr d or ldr s: bits 30 and 31 and bit 23 are the logarithm of the size, which scales the offset.
        let scale = (word >> 30) + (word >> 23 & 1) * 4;
        let address = page + (u64::from(word >> 10 & 0xfff) << scale);
        let RelocationTarget::Symbol(symbol) = relocation.target() else {
            panic!("no symbol");
        };
        let symbol = file.symbol_by_index(symbol).unwrap();
        let section = file
            .section_by_index(symbol.section_index().unwrap())
            .unwrap();
        let at = symbol.address() as usize + relocation.addend() as usize;
        let expected = section.data().unwrap()[at..at + 4].try_into().unwrap();
        assert_eq!(read(address), u32::from_le_bytes(expected));
        loads += 1;
    }
    assert!(loads > 5, "{loads} loads of constants");
}

/// Each function in a kernel of its own: NVPTX selects all of them and calls nothing outside.
#[test]
fn every_function_becomes_ptx() {
    for sm in ["sm_80", "sm_90"] {
        let target = Target::cuda(sm).unwrap();
        for function in math::FUNCTIONS {
            for elem in [Elem::F32, Elem::F64] {
                let ptx = ptx_of(&target, function, elem);
                assert!(
                    ptx.contains(&format!(".target {sm}")) && ptx.contains(".visible .func"),
                    "{ptx}"
                );
                assert!(
                    !ptx.contains(".extern"),
                    "{} calls out:\n{ptx}",
                    function.name
                );
            }
        }
    }
}

/// Every function becomes code for AMD's GPUs and calls nothing outside. (What the loader would bind is reached by a
/// global offset table.)
#[test]
fn every_function_becomes_code_of_amd() {
    let target = Target::hip("gfx942").unwrap();
    assert!(
        Target::hip("gfx1")
            .unwrap_err()
            .to_string()
            .contains("gfx942")
    );
    for function in math::FUNCTIONS {
        for elem in [Elem::F32, Elem::F64] {
            let text = ptx_of(&target, function, elem);
            assert!(text.contains("amdgcn-amd-amdhsa--gfx942"), "{text}");
            assert!(
                !text.contains("@gotpcrel"),
                "{} calls out:\n{text}",
                function.name
            );
        }
    }
}

/// An error of LLVM's backend is an error of ours: without a handler, LLVM prints it and ends the process. LLVM 22 has no
/// code for a fence of a value that all threads share.
#[test]
fn an_error_of_the_backend_is_returned() {
    let target = Target::hip("gfx942").unwrap();
    let machine = target.machine().unwrap();
    let context = Context::create();
    let emit = Emit::new(&context, "fence", &target);
    let pointer = context.ptr_type(AddressSpace::from(1));
    let params = [context.f16_type().into(), pointer.into()];
    let ty = context.void_type().fn_type(&params, false);
    let kernel = emit.module.add_function("kernel", ty, None);
    kernel.set_call_conventions(target.gpu().unwrap().convention());
    let entry = context.append_basic_block(kernel, "entry");
    emit.builder.position_at_end(entry);
    let [x, to] = [0, 1].map(|number| kernel.get_nth_param(number).unwrap());
    let float = context.f32_type();
    let wide = (emit.builder).build_cast(InstructionOpcode::FPExt, x, float, "");
    let fenced = emit.val(wide.unwrap()).with_fence();
    let types = [context.i8_type().into(), float.into()];
    let byte = emit.intrinsic("llvm.fptoui.sat", &types, &[fenced]);
    memory::store(&emit, emit.val(byte.unwrap()), to.into_pointer_value(), 1);
    emit.builder.build_return(None).unwrap();
    emit.finish().unwrap();
    emit.module.set_triple(&machine.get_triple());
    let layout = machine.get_target_data().get_data_layout();
    emit.module.set_data_layout(&layout);
    let made = caught(&context, || target::emit_assembly(&emit.module, &machine));
    let error = made.unwrap_err().to_string();
    assert!(error.contains("illegal VGPR to SGPR copy"), "{error}");
    let next = caught(&context, || Ok(1));
    assert_eq!(next.unwrap(), 1);
}

/// The threads from which threads of a wavefront take values are those of PTX, in each half: "Parallel Synchronization
/// and Communication Instructions: shfl.sync" of the PTX ISA.
#[test]
fn threads_of_amd_exchange_as_those_of_ptx() {
    // The thread from which `lane` takes a value by the operands `b` and `c` of a mode.
    let ptx = |mode: &str, lane: i64, b: i64, c: i64| {
        let (half, lane) = (lane & !31, lane & 31);
        let (by, bound, mask) = (b & 31, c & 31, c >> 8 & 31);
        let last = lane & mask | bound & !mask;
        let (from, inside) = match mode {
            "up" => (lane - by, lane - by >= last),
            "bfly" => (lane ^ by, lane ^ by <= last),
            _ => {
                let from = lane & mask | by & !mask;
                (from, from <= last)
            }
        };
        half + if inside { from } else { lane }
    };
    let threads: Vec<i32> = (0..64).collect();
    let host = Target::host(None).unwrap();
    let check = |mode: &str, b: &[i32], c: i64, function: &ArrayFunction| {
        let found: Vec<i32> = function.run(&threads, b);
        let expected = threads.iter().zip(b);
        let expected = expected.map(|(&lane, &b)| ptx(mode, lane.into(), b.into(), c) as i32);
        assert_eq!(found, expected.collect::<Vec<_>>(), "{mode} {c:#x} {b:?}");
    };
    let word = (Elem::Int(32), Elem::Int(32));
    for width in [1, 2, 4, 8, 16, 32] {
        let bounds = i64::from(32 - width) << 8;
        let lane = ArrayFunction::compile(&host, 1, word, |own, lane| {
            other(own, Source::Lane { lane, width })
        });
        for shift in -33..=33 {
            let lanes: Vec<i32> = threads.iter().map(|lane| lane / 3 + shift).collect();
            check("idx", &lanes, bounds | 31, &lane);
        }
        for distance in [1, 2, 4, 8, 16]
            .into_iter()
            .filter(|d| *d < i64::from(width))
        {
            let up = ArrayFunction::compile(&host, 1, word, |own, _| {
                other(own, Source::Earlier { distance, width })
            });
            check("up", &[distance as i32; 64], bounds, &up);
            let across = ArrayFunction::compile(&host, 1, word, |own, _| {
                other(own, Source::Across(distance))
            });
            check("bfly", &[distance as i32; 64], 31, &across);
        }
    }
}

#[test]
fn each_gpu_has_the_version_of_ptx_that_its_target_says() {
    let function = &math::FUNCTIONS[0];
    for row in fuser_target::table::TARGETS
        .iter()
        .filter(|row| row.target.kind == fuser_target::Kind::Cuda)
    {
        let ptx = ptx_of(&Target::of(&row.target, None).unwrap(), function, Elem::F32);
        let (version, capability) = (row.target.ptx, row.target.capability);
        let version = format!(".version {}.{}\n", version / 10, version % 10);
        assert!(ptx.contains(&version), "{}: {ptx}", row.names[0]);
        assert!(
            ptx.contains(&format!(".target sm_{capability}")),
            "{}: {ptx}",
            row.names[0]
        );
    }
}

/// The instructions that are chosen by the features of a processor, and the ones that have none of them.
#[test]
fn vectors_take_the_instructions_that_the_processor_has() {
    let level = |name: &str| Target::cpu(name).unwrap();
    let Target::Cpu {
        triple, features, ..
    } = level("x86-64-v4")
    else {
        panic!("a level is no CPU");
    };
    let with_bf16 = Target::Cpu {
        triple,
        cpu: "x86-64-v4".into(),
        features: features + ",+avx512bf16",
    };
    let rounds = |target: &Target| {
        let text = assembly(target, Elem::F32, 16, |x| convert::from_f32(x, Elem::Bf16));
        text.contains("vcvtneps2bf16")
    };
    assert!(rounds(&with_bf16) && !rounds(&level("x86-64-v4")));
    for elem in [Elem::F32, Elem::F64] {
        for lanes in [4, 8, 16, 32] {
            let scales = |target: &Target| {
                let math::Emitter::Unary(exp) = math::find("exp").unwrap().emit else {
                    panic!("exp has one operand");
                };
                assembly(target, elem, lanes, exp).contains("vscalefp")
            };
            assert!(scales(&level("x86-64-v4")), "{elem:?} x {lanes}");
            assert!(!scales(&level("x86-64-v3")), "{elem:?} x {lanes}");
        }
    }
}

fn ptx_of(target: &Target, function: &math::MathFunction, elem: Elem) -> String {
    assembly(target, elem, 4, |x| match function.emit {
        math::Emitter::Unary(f) => f(x),
        math::Emitter::Binary(f) => f(x, x + 1.0),
    })
}

/// A function that applies `body` to one vector.
fn assembly(
    target: &Target,
    elem: Elem,
    lanes: u32,
    body: impl for<'e, 'ctx> Fn(Val<'e, 'ctx>) -> Val<'e, 'ctx>,
) -> String {
    let machine = target.machine().unwrap();
    let context = Context::create();
    let emit = Emit::new(&context, "body", target);
    let space = if target.gpu().is_some() { 1 } else { 0 };
    let pointer = context.ptr_type(AddressSpace::from(space));
    let ty = context
        .void_type()
        .fn_type(&[pointer.into(), pointer.into()], false);
    let kernel = emit.module.add_function("kernel", ty, None);
    target.mark(&context, kernel);
    emit.builder
        .position_at_end(context.append_basic_block(kernel, "entry"));
    let [input, output] = [0, 1].map(|p| kernel.get_nth_param(p).unwrap().into_pointer_value());
    let x = memory::load(&emit, input, elem, Some(lanes), 16);
    memory::store(&emit, body(x), output, 16);
    emit.builder.build_return(None).unwrap();
    emit.finish().unwrap();
    emit.module.set_triple(&machine.get_triple());
    emit.module
        .set_data_layout(&machine.get_target_data().get_data_layout());
    target.optimize(&emit.module, &machine).unwrap();
    target::emit_assembly(&emit.module, &machine).unwrap()
}
