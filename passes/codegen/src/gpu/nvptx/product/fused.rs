//! The arithmetic of f32 and f64: a thread holds a square block of sums and adds each product by one fused
//! multiply-add, term after term.
//!
//! The lines of a thread come in pieces of 16 bytes, each in a separate part of the tile, so that neighboring threads
//! load neighboring pieces.

use fuser_dialects::kernel::product::WIDEST;
use fuser_ir::DType;

use crate::error::CodegenError;
use crate::expr::{Elem, Val};

use super::stage::{Stage, element_bytes};
use super::{Block, Kernel};

impl<'a, 'ctx> Kernel<'a, 'ctx> {
    /// Lines of a thread along each side of the tile.
    fn thread_sides(&self) -> [u32; 2] {
        let tile = &self.product.tile;
        [0, 1].map(|axis| tile.sides[axis] / tile.parts[axis])
    }
    /// The first lines of a thread's pieces along a side of the tile.
    fn pieces(&self, axis: usize) -> Vec<Val<'a, 'ctx>> {
        let tile = &self.product.tile;
        let across = i64::from(tile.parts[1]);
        let number = match axis {
            0 => self.thread.udiv(across),
            _ => self.thread.urem(across),
        };
        let lanes = WIDEST / element_bytes(self.product);
        let count = self.thread_sides()[axis] / lanes;
        let apart = tile.sides[axis] / count;
        let own = number * i64::from(lanes);
        (0..count)
            .map(|piece| own + i64::from(piece * apart))
            .collect()
    }

    /// The sums of a thread without terms.
    pub(super) fn fused_sums(&self) -> Vec<Val<'a, 'ctx>> {
        let elem = match self.product.factors {
            DType::F64 => Elem::F64,
            _ => Elem::F32,
        };
        let [rows, columns] = self.thread_sides();
        vec![self.emit.constant_float(elem, None, 0.0); (rows * columns) as usize]
    }

    /// Adds the products of a step to the sums.
    pub(super) fn fused_step(
        &self,
        stages: &[Stage<'a, 'ctx>; 2],
        place: Val<'a, 'ctx>,
        sums: &[Val<'a, 'ctx>],
    ) -> Vec<Val<'a, 'ctx>> {
        let pieces = [self.pieces(0), self.pieces(1)];
        let lanes = WIDEST / element_bytes(self.product);
        let mut sums = sums.to_vec();
        for term in 0..self.product.tile.terms {
            let [left, right] = [0, 1].map(|which| {
                let pieces = pieces[which].iter();
                let pieces = pieces.map(|line| self.kept(&stages[which], *line, term, place));
                let lines = pieces.flat_map(|piece| (0..lanes).map(move |lane| piece.lane(lane)));
                lines.collect::<Vec<_>>()
            });
            let both = left
                .iter()
                .flat_map(|a| right.iter().map(move |b| (*a, *b)));
            for ((a, b), sum) in both.zip(&mut sums) {
                *sum = a.fma(b, *sum);
            }
        }
        sums
    }

    /// Stores the sums.
    pub(super) fn store_fused(
        &self,
        block: &Block<'a, 'ctx>,
        sums: &[Val<'a, 'ctx>],
    ) -> Result<(), CodegenError> {
        let lanes = WIDEST / element_bytes(self.product);
        let columns = self.thread_sides()[1] as usize;
        let rows = self.pieces(0).into_iter();
        let rows = rows.flat_map(|first| (0..lanes).map(move |lane| first + i64::from(lane)));
        for (row, sums) in rows.zip(sums.chunks_exact(columns)) {
            let pieces = self.pieces(1).into_iter();
            let parts = pieces.zip(sums.chunks_exact(lanes as usize));
            let parts = parts.map(|(column, own)| (column, own.to_vec()));
            self.store_row(block, row, parts.collect())?;
        }
        Ok(())
    }
}
