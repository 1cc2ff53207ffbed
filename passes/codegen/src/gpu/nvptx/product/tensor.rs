//! The arithmetic on tensor cores: a warp multiplies 16 lines by 8 lines of 16 terms at a time, and its lanes hold the
//! sums.

use fuser_dialects::kernel::product::Along;
use fuser_ir::DType;
use inkwell::AddressSpace;
use inkwell::types::BasicType;
use inkwell::values::BasicValueEnum;

use crate::error::CodegenError;
use crate::expr::{Elem, Val};
use crate::gpu::SHARED_SPACE;
use crate::lower::reduce;

use super::stage::Stage;
use super::{Block, Kernel};

/// The rows, columns and terms of an instruction, and the sums of it that a lane holds.
const ROWS: u32 = 16;
const COLUMNS: u32 = 8;
const TERMS: u32 = 16;
const SUMS: usize = 4;

impl<'a, 'ctx> Kernel<'a, 'ctx> {
    /// Rows and columns of a warp.
    fn warp_sides(&self) -> [u32; 2] {
        let tile = &self.product.tile;
        [0, 1].map(|axis| tile.sides[axis] / tile.parts[axis])
    }
    /// The first row and column of this warp in the tile.
    fn warp_first(&self) -> [Val<'a, 'ctx>; 2] {
        let across = i64::from(self.product.tile.parts[1]);
        let warp = self.thread.udiv(32);
        let [rows, columns] = self.warp_sides().map(i64::from);
        [warp.udiv(across) * rows, warp.urem(across) * columns]
    }

    /// The sums of a thread without terms.
    pub(super) fn tensor_sums(&self) -> Vec<Val<'a, 'ctx>> {
        let [rows, columns] = self.warp_sides();
        let instructions = (rows / ROWS) * (columns / COLUMNS);
        let zero = self.emit.constant_float(Elem::F32, None, 0.0);
        vec![zero; instructions as usize * SUMS]
    }

    /// Adds the products of a step to the sums.
    pub(super) fn tensor_step(
        &self,
        stages: &[Stage<'a, 'ctx>; 2],
        place: Val<'a, 'ctx>,
        sums: &[Val<'a, 'ctx>],
    ) -> Result<Vec<Val<'a, 'ctx>>, CodegenError> {
        let [rows, columns] = self.warp_sides();
        let [row, column] = self.warp_first();
        let mut sums = sums.to_vec();
        for part in 0..self.product.tile.terms / TERMS {
            let mut left = Vec::new();
            for tile in 0..rows / ROWS {
                left.push(self.load_matrices(&stages[0], row, [tile, part], place)?);
            }
            let mut right = Vec::new();
            for pair in 0..columns / (2 * COLUMNS) {
                let four = self.load_matrices(&stages[1], column, [pair, part], place)?;
                right.extend([[four[0], four[1]], [four[2], four[3]]]);
            }
            let both = left
                .iter()
                .flat_map(|left| right.iter().map(move |right| (left, right)));
            for ((left, right), sums) in both.zip(sums.chunks_exact_mut(SUMS)) {
                let new = self.multiply(left, right, sums)?;
                sums.copy_from_slice(&new);
            }
        }
        Ok(sums)
    }

    fn load_matrices(
        &self,
        stage: &Stage<'a, 'ctx>,
        lines: Val<'a, 'ctx>,
        which: [u32; 2],
        place: Val<'a, 'ctx>,
    ) -> Result<[Val<'a, 'ctx>; 4], CodegenError> {
        let name = match stage.along {
            Along::Terms => "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16",
            Along::Lines => "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16",
        };
        let address = self.matrices(stage, lines, which, place);
        let pointer = self.emit.context.ptr_type(AddressSpace::from(SHARED_SPACE));
        let types = [pointer.as_basic_type_enum()];
        let loaded = self.emit.intrinsic(name, &types, &[self.emit.val(address)]);
        self.four(loaded)
    }

    fn multiply(
        &self,
        left: &[Val<'a, 'ctx>; 4],
        right: &[Val<'a, 'ctx>; 2],
        sums: &[Val<'a, 'ctx>],
    ) -> Result<[Val<'a, 'ctx>; 4], CodegenError> {
        let factors = left.iter().chain(right).copied();
        let half = self.emit.shaped_type(Elem::F16, Some(2));
        let (name, factors): (_, Vec<_>) = match self.product.factors {
            DType::BF16 => ("llvm.nvvm.mma.m16n8k16.row.col.bf16", factors.collect()),
            _ => (
                "llvm.nvvm.mma.m16n8k16.row.col.f32.f32",
                factors.map(|pair| pair.reinterpret(half)).collect(),
            ),
        };
        let args = [factors.as_slice(), sums].concat();
        self.four(self.emit.intrinsic(name, &[], &args))
    }

    /// The four values of a result.
    fn four(
        &self,
        result: Option<BasicValueEnum<'ctx>>,
    ) -> Result<[Val<'a, 'ctx>; 4], CodegenError> {
        let Some(BasicValueEnum::StructValue(all)) = result else {
            // Why there is none was kept as a failure.
            self.emit.finish()?;
            return Err(CodegenError::Internal(
                "a matrix instruction without results".into(),
            ));
        };
        let mut values = [self.number(0); 4];
        for (index, value) in (0..).zip(&mut values) {
            *value = self
                .emit
                .val(self.emit.builder.build_extract_value(all, index, "")?);
        }
        Ok(values)
    }

    /// Stores the sums. For one instruction, a lane holds two columns of row `lane / 4` and of the row 8 below.
    /// Adjacent lanes exchange values of two adjacent instructions, so that each lane stores four columns. A row of
    /// both is then a whole sector, even in 16 bits.
    pub(super) fn store_tensor(
        &self,
        block: &Block<'a, 'ctx>,
        sums: &[Val<'a, 'ctx>],
    ) -> Result<(), CodegenError> {
        let [rows, columns] = self.warp_sides();
        let [row, column] = self.warp_first();
        let lane = self.thread.urem(32);
        let (in_row, odd) = (lane.urem(4), lane.urem(2));
        let row = row + lane.udiv(4);
        let column = column + odd * i64::from(COLUMNS) + in_row.udiv(2) * 4;
        let takes_second = odd.ne(0);
        let across = (columns / COLUMNS) as usize;
        for (tile, sums) in (0..i64::from(rows / ROWS)).zip(sums.chunks_exact(across * SUMS)) {
            for half in 0..2 {
                let row = row + (tile * i64::from(ROWS) + half * 8);
                let pairs = (0..).zip(sums.chunks_exact(2 * SUMS)).map(|(pair, sums)| {
                    let own = |instruction: usize, at: usize| {
                        sums[instruction * SUMS + 2 * half as usize + at]
                    };
                    let got = [0, 1].map(|at| {
                        let given = takes_second.select(own(0, at), own(1, at));
                        reduce::exchange(self.emit, given, 1)
                    });
                    let low = [0, 1].map(|at| takes_second.select(got[at], own(0, at)));
                    let high = [0, 1].map(|at| takes_second.select(own(1, at), got[at]));
                    (column + pair * i64::from(2 * COLUMNS), [low, high].concat())
                });
                self.store_row(block, row, pairs.collect())?;
            }
        }
        Ok(())
    }
}
