//! Whole kernels: control flow, memory, reductions and the launch contract, run on the host and compared exactly.
//!
//! Kernels that several files use stand here; `run.rs` runs control flow and reductions, `memory.rs` scratch memory and barriers,
//! `refused.rs` is what cannot be lowered, `targets.rs` PTX and other machines.

mod memory;
mod refused;
mod run;
mod targets;

use crate::support::kernels::Param::{Buffer, Extent as Size};
use crate::support::kernels::*;
use fuser_codegen::{
    Around, BufferBytes, Emission, Kernels, Options, Target, compile_kernels, emit,
};
use fuser_dialects::kernel::build::{KernelBuilder, Loop};
use fuser_dialects::{fusion, kernel};
use fuser_ir::build::Builder;
use fuser_ir::def::OpError;
use fuser_ir::types::{Extent, MemSpace, TypeKind};
use fuser_ir::{DType, Value};
use fusion::build::FusionBuilder;

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

/// Row sums and maxima: a thread loop with two reductions, kept in tile memory and then subtracted.
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
            let reductions = b.for_loop(spec, |b, i| {
                let at = b.add(base, i[0])?;
                let v = b.load(x, at)?;
                b.store(v, tile, i[0])?;
                Ok(vec![b.add(i[1], v)?, b.maximum(i[2], v)?])
            })?;
            b.barrier()?;
            let (sum, max) = (b.ir.result(reductions, 0), b.ir.result(reductions, 1));
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
