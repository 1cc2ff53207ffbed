//! Kernels that cannot be lowered, each refused by a finding with a code and an alternative.

use super::*;

/// Text of the findings for a kernel.
fn findings(build: impl FnOnce(&mut Program), target: &Target) -> Vec<String> {
    let mut program = Program::new();
    build(&mut program);
    match emit(
        &program.ir,
        program.module,
        Kernels::of(&program.funcs()),
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
    let host = Target::host(None).unwrap();
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
