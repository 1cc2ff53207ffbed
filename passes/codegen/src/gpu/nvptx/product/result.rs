//! The stores of the tile: elements inside the result, with the bias, rounded once.

use fuser_ir::DType;
use inkwell::values::PointerValue;

use crate::convert;
use crate::error::CodegenError;
use crate::expr::{Elem, Val};
use crate::memory;

use super::{Block, Kernel, control};

impl<'a, 'ctx> Kernel<'a, 'ctx> {
    /// Stores sums of a row of the tile, in parts that each start at a column; rows and columns beyond the result are
    /// skipped.
    pub(super) fn store_row(
        &self,
        block: &Block<'a, 'ctx>,
        row: Val<'a, 'ctx>,
        parts: Vec<(Val<'a, 'ctx>, Vec<Val<'a, 'ctx>>)>,
    ) -> Result<(), CodegenError> {
        let product = self.product;
        let [rows, columns] = [&product.rows, &product.columns];
        let sides = product.tile.sides.map(i64::from);
        let row = block.first[0] + row;
        let before = block.before[2] + row * self.size(rows.strides[2]);
        let buffer = self.buffer(2)?;
        let most = parts.first().map_or(1, |(_, sums)| sums.len() as u32);
        let width = product.store(most);
        let store = || {
            for (column, sums) in &parts {
                for (number, sums) in (0..).zip(sums.chunks(width as usize)) {
                    let column = block.first[1] + *column + number * i64::from(width);
                    let at = before + column * self.size(columns.strides[2]);
                    let store = || {
                        let sums = self.with_bias(row, column, sums)?;
                        self.store(buffer, at, &sums);
                        Ok(())
                    };
                    match columns.extent.is_multiple_of(sides[1]) {
                        true => store()?,
                        false => {
                            let exists = column.lt(self.size(columns.extent));
                            control::when(self.emit, exists, store)?;
                        }
                    }
                }
            }
            Ok(())
        };
        match rows.extent.is_multiple_of(sides[0]) {
            true => store(),
            false => control::when(self.emit, row.lt(self.size(rows.extent)), store),
        }
    }

    /// Sums of a row from a column on, each with the bias of its row or column.
    fn with_bias(
        &self,
        row: Val<'a, 'ctx>,
        column: Val<'a, 'ctx>,
        sums: &[Val<'a, 'ctx>],
    ) -> Result<Vec<Val<'a, 'ctx>>, CodegenError> {
        let Some(bias) = &self.product.bias else {
            return Ok(sums.to_vec());
        };
        // As many elements as there are sums lie beside each other, at a multiple of their size, as those of the result do.
        let lanes = match bias.of_rows || bias.stride == 0 {
            true => None,
            false => Some(sums.len() as u32).filter(|lanes| *lanes > 1),
        };
        let (elem, loaded) = match self.product.factors {
            DType::F64 => (Elem::F64, Elem::F64),
            DType::F32 => (Elem::F32, Elem::F32),
            DType::BF16 => (Elem::Bf16, Elem::Int(16)),
            _ => (Elem::F16, Elem::Int(16)),
        };
        let bytes = elem.bits() / 8;
        let at = if bias.of_rows { row } else { column } * bias.stride;
        let buffer = self.parameter(bias.buffer)?;
        let address = memory::element(self.emit, buffer, Elem::Int(8 * bytes), at);
        let align = self.align(bytes, lanes.unwrap_or(1));
        let value = memory::load(self.emit, address, loaded, lanes, align);
        let value = convert::widen_float(value, elem);
        let sums = (0..).zip(sums);
        Ok(sums.map(|(lane, sum)| *sum + value.lane(lane)).collect())
    }

    /// Stores consecutive elements.
    fn store(&self, buffer: PointerValue<'ctx>, at: Val<'a, 'ctx>, sums: &[Val<'a, 'ctx>]) {
        let elem = match self.product.result {
            DType::F64 => Elem::F64,
            DType::F32 => Elem::F32,
            DType::BF16 => Elem::Bf16,
            _ => Elem::F16,
        };
        let joined = match sums {
            [one] => *one,
            all => {
                let vector = self.emit.undefined(all[0].elem(), Some(all.len() as u32));
                let lanes = (0..).zip(all);
                lanes.fold(vector, |vector, (lane, sum)| vector.with_lane(lane, *sum))
            }
        };
        let value = convert::narrow_float(joined, elem);
        let bytes = elem.bits() / 8;
        let address = memory::element(self.emit, buffer, Elem::Int(8 * bytes), at);
        let align = self.align(bytes, sums.len() as u32);
        memory::store(self.emit, value, address, align);
    }
}
