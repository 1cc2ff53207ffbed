//! The grid: the tile of a matrix that each block has.
//!
//! Tiles that share rows and columns of the factors run at about the same time, so that these lie in the second-level cache: blocks go down [`GROUP`] rows of tiles
//! before they go on to the next column.

use crate::error::CodegenError;
use crate::expr::{Emit, Val};

use super::{Block, Kernel, control};

/// Rows of tiles that blocks go down together.
const GROUP: i64 = 8;

/// A register that every thread has, as 64 bits.
pub fn special_register<'a, 'ctx>(emit: &'a Emit<'ctx>, name: &str) -> Val<'a, 'ctx> {
    let full = format!("llvm.nvvm.read.ptx.sreg.{name}");
    let read = emit.intrinsic(&full, &[], &[]);
    let read = read.map(|raw| emit.val(raw));
    let read = read.unwrap_or_else(|| emit.constant_int(32, None, 0));
    read.zext_or_trunc(64)
}

impl<'a, 'ctx> Kernel<'a, 'ctx> {
    /// Runs `body` for the tile of this block, if there is one for it.
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
        let number = self.block_number(all);
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

    /// The number of this block: along the first axis of the grid, and then along the second, which a launch has only where there are too many for one.
    fn block_number(&self, all: Val<'a, 'ctx>) -> Val<'a, 'ctx> {
        let column = special_register(self.emit, "ctaid.x");
        match all.raw().into_int_value().get_sign_extended_constant() {
            Some(all) if all <= i64::from(i32::MAX) => column,
            _ => {
                let row = special_register(self.emit, "ctaid.y");
                row * special_register(self.emit, "nctaid.x") + column
            }
        }
    }
}
