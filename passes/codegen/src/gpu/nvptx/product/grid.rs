//! The grid: the assignment of matrix tiles to blocks.
//!
//! Tiles that share rows and columns of the factors run at about the same time, so that these stay in the second-level
//! cache: blocks proceed down [`GROUP`] rows of tiles before the next column.

use crate::error::CodegenError;

use super::{Block, Kernel, control};

/// Rows of tiles that blocks go down together.
const GROUP: i64 = 8;

impl<'a, 'ctx> Kernel<'a, 'ctx> {
    /// Runs `body` for the tile of this block, if it has one.
    pub(super) fn blocks(
        &self,
        body: impl FnOnce(Block<'a, 'ctx>) -> Result<(), CodegenError>,
    ) -> Result<(), CodegenError> {
        let product = self.product;
        let sides = product.tile.sides.map(i64::from);
        let tiles = |extent, side: i64| (self.size(extent) + (side - 1)).udiv(side);
        let rows = tiles(product.rows.extent, sides[0]);
        let columns = tiles(product.columns.extent, sides[1]);
        let matrix = rows * columns;
        let lengths: Vec<_> = product
            .batch
            .iter()
            .map(|own| self.size(own.extent))
            .collect();
        let all = lengths.iter().fold(matrix, |all, length| all * *length);
        let number = self.emit.block_number();
        let exists = number.lt(all);
        control::when(self.emit, exists, || {
            let mut rest = match lengths.is_empty() {
                true => self.number(0),
                false => number.udiv(matrix),
            };
            let mut before = [self.number(0); 3];
            for (own, length) in product.batch.iter().zip(&lengths).rev() {
                let index = rest.urem(*length);
                rest = rest.udiv(*length);
                for (sum, stride) in before.iter_mut().zip(own.strides) {
                    *sum = *sum + index * self.size(stride);
                }
            }
            let tile = match lengths.is_empty() {
                true => number,
                false => number.urem(matrix),
            };
            let in_group = columns * GROUP;
            let (group, inside) = (tile.udiv(in_group), tile.urem(in_group));
            let first = group * GROUP;
            let high = rows - first;
            let high = high.lt(GROUP).select(high, GROUP);
            let row = first + inside.urem(high);
            let column = inside.udiv(high);
            let first = [row * sides[0], column * sides[1]];
            body(Block { first, before })
        })
    }
}
