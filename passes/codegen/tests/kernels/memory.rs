//! Scratch memory, barriers, and stores by one thread.

use super::targets::ptx;
use super::*;

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

/// Barriers are those of the kernel, no more and no fewer.
#[test]
fn threads_wait_where_the_kernel_says() {
    for barriers in [[true, true], [false, true], [true, false], [false, false]] {
        let text = ptx(|program| tiled(program, barriers), 64, "sm_80");
        let wanted = barriers.into_iter().filter(|&stands| stands).count();
        let found = text.matches("bar.sync").count();
        assert_eq!(found, wanted, "{barriers:?}\n{text}");
        let alone = ptx(|program| tiled(program, barriers), 1, "sm_80");
        assert_eq!(alone.matches("bar.sync").count(), 0);
    }
}

/// A row in registers: read once from memory, no shared memory and no local memory, whole rounds and a part of one.
#[test]
fn rows_lie_in_registers() {
    for width in [256, 512, 500] {
        let build = |program: &mut Program| {
            program.kernel("rows", &[Buffer(F32), Buffer(F32)], |b, args| {
                let [x, y] = args.try_into().unwrap();
                let row = b.alloc(width, F32, MemSpace::Register)?;
                let end = b.constant_index(width as i64)?;
                let fill = counted(b, end, 4, "thread")?;
                b.for_loop(fill, |b, i| {
                    let v = b.load_vector(x, i[0], 4)?;
                    b.store(v, row, i[0]).map(|_| vec![])
                })?;
                b.for_loop(fill, |b, i| {
                    let (v, again) = (b.load_vector(row, i[0], 4)?, b.load_vector(x, i[0], 4)?);
                    let sum = b.add(v, again)?;
                    b.store(sum, y, i[0]).map(|_| vec![])
                })?;
                Ok(())
            })
        };
        let text = ptx(build, 64, "sm_80");
        let loads = text.matches("ld.global").count();
        assert_eq!(loads as u64, width.div_ceil(256), "{text}");
        assert!(
            !text.contains(".shared") && !text.contains(".local"),
            "{text}"
        );
    }
}

/// A statement outside of thread loops runs in every thread; only the first stores.
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
