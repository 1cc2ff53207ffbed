//! The transfer of a factor's part of a step from global memory through registers to shared memory.
//!
//! A *line* is a row of the left factor or a column of the right one. Threads load units of consecutive elements, along the terms of a line or along lines,
//! as the factor lies in memory. In shared memory neither what they store nor what is read there meets in a bank:
//!
//! | | lies in shared memory | apart |
//! |---|---|---|
//! | tensor cores | as in global memory, in pieces of 16 bytes | piece `p` of row `r` at place `p ^ r`, as far as there are banks |
//! | others | lines of a term beside each other | terms are apart by the lines and 16 bytes |

use fuser_dialects::kernel::product::{Along, Product, WIDEST};
use fuser_ir::DType;
use inkwell::values::PointerValue;

use crate::error::CodegenError;
use crate::expr::{Elem, Val};
use crate::memory;

use super::{Block, Kernel};

/// A factor, and how the threads of a block transfer its parts to shared memory.
pub(super) struct Stage<'a, 'ctx> {
    /// Its number.
    which: usize,
    buffer: PointerValue<'ctx>,
    pub along: Along,
    /// Elements of a unit.
    width: u32,
    /// The units that a thread loads in each step.
    pub units: Vec<Unit<'a, 'ctx>>,
}

/// Consecutive elements that a thread loads at once.
#[derive(Clone, Copy)]
pub(super) struct Unit<'a, 'ctx> {
    /// The place in the part: line and term.
    line: Val<'a, 'ctx>,
    term: Val<'a, 'ctx>,
    /// The elements before its line in the buffer.
    before: Val<'a, 'ctx>,
}

/// Bytes of a factor's part of a step in shared memory.
pub(super) fn bytes(product: &Product, which: usize) -> u32 {
    let (lines, terms) = (product.tile.sides[which], product.tile.terms);
    match product.tile.tensor_cores {
        true => lines * terms * element_bytes(product),
        false => terms * pitch(product, which, Along::Lines),
    }
}

pub(super) fn element_bytes(product: &Product) -> u32 {
    product.factors.bytes() as u32
}

/// Bytes from one row in shared memory to the next.
fn pitch(product: &Product, which: usize, along: Along) -> u32 {
    let tile = &product.tile;
    let elements = match along {
        Along::Terms => tile.terms,
        Along::Lines => tile.sides[which],
    };
    let apart = if tile.tensor_cores { 0 } else { WIDEST };
    elements * element_bytes(product) + apart
}

impl<'a, 'ctx> Kernel<'a, 'ctx> {
    /// Prepares the loads of a factor for the tile of a block.
    pub(super) fn stage(
        &self,
        which: usize,
        block: &Block<'a, 'ctx>,
    ) -> Result<Stage<'a, 'ctx>, CodegenError> {
        let product = self.product;
        let lines = product.lines(which);
        let (along, width) = product.load(which);
        let (side, of) = (product.tile.sides[which], product.tile.terms);
        let beside_each_other = match along {
            Along::Terms => of,
            Along::Lines => side,
        };
        let threads = product.tile.threads();
        let in_row = beside_each_other / width;
        let count = side * of / (width * threads);
        let rows = i64::from(threads / in_row);
        let (row, at) = (
            self.thread.udiv(i64::from(in_row)),
            self.thread.urem(i64::from(in_row)) * i64::from(width),
        );
        let units = (0..i64::from(count)).map(|n| {
            let row = row + n * rows;
            let (line, term, least) = match along {
                Along::Terms => (row, at, 1),
                Along::Lines => (at, row, width),
            };
            let mut index = block.first[which] + line;
            if !lines.extent.is_multiple_of(i64::from(side)) {
                let last = self.size(lines.extent) - i64::from(least);
                index = index.lt(last).select(index, last);
            }
            let before = block.before[which] + index * self.size(lines.strides[which]);
            Unit { line, term, before }
        });
        Ok(Stage {
            which,
            buffer: self.buffer(which)?,
            along,
            width,
            units: units.collect(),
        })
    }

    /// The element type, in registers, and the lanes of a unit.
    fn unit(&self, stage: &Stage<'a, 'ctx>) -> (Elem, Option<u32>) {
        match (self.product.factors, stage.width) {
            (DType::F64, 1) => (Elem::F64, None),
            (DType::F64, width) => (Elem::F64, Some(width)),
            (DType::F32, 1) => (Elem::F32, None),
            (DType::F32, width) => (Elem::F32, Some(width)),
            (_, 1) => (Elem::Int(16), None),
            (_, 2) => (Elem::Int(32), None),
            (_, width) => (Elem::Int(32), Some(width / 2)),
        }
    }
    /// A unit of which nothing is read.
    pub(super) fn nothing(&self, stage: &Stage<'a, 'ctx>) -> Val<'a, 'ctx> {
        let (elem, lanes) = self.unit(stage);
        self.emit.undefined(elem, lanes)
    }

    /// Loads a factor's units of a step; if `whole`, all terms of the step exist.
    pub(super) fn load(
        &self,
        stage: &Stage<'a, 'ctx>,
        step: Val<'a, 'ctx>,
        whole: bool,
    ) -> Vec<Val<'a, 'ctx>> {
        let terms = &self.product.terms;
        let stride = self.size(terms.strides[stage.which]);
        let first = step * i64::from(self.product.tile.terms);
        let (elem, lanes) = self.unit(stage);
        let bytes = element_bytes(self.product);
        let address = |unit: &Unit<'a, 'ctx>, term: Val<'a, 'ctx>| {
            let at = unit.before + term * stride;
            let element = Elem::Int(8 * bytes);
            memory::element(self.emit, stage.buffer, element, at)
        };
        let align = self.align(bytes, stage.width);
        let load = |address| memory::load(self.emit, address, elem, lanes, align);
        let units = stage.units.iter();
        let units = units.map(|unit| {
            let term = first + unit.term;
            if whole {
                return load(address(unit, term));
            }
            let exists = term.lt(self.size(terms.extent));
            let loaded = load(address(unit, exists.select(term, 0)));
            let nothing = match elem {
                Elem::Int(bits) => self.emit.constant_int(bits, lanes, 0),
                float => self.emit.constant_float(float, lanes, 0.0),
            };
            exists.select(loaded, nothing)
        });
        units.collect()
    }

    /// Stores a factor's units in shared memory, at a place of both factors.
    pub(super) fn keep(
        &self,
        stage: &Stage<'a, 'ctx>,
        units: &[Val<'a, 'ctx>],
        place: Val<'a, 'ctx>,
    ) {
        let bytes = element_bytes(self.product);
        for (unit, value) in stage.units.iter().zip(units) {
            let (line, term) = (unit.line, unit.term);
            if self.product.tile.tensor_cores || stage.along == Along::Lines {
                let (row, at) = match stage.along {
                    Along::Terms => (line, term),
                    Along::Lines => (term, line),
                };
                let address = self.in_part(stage, row, at * i64::from(bytes), place);
                memory::store(self.emit, *value, address, stage.width * bytes);
                continue;
            }
            for lane in 0..stage.width {
                let at = line * i64::from(bytes);
                let address = self.in_part(stage, term + i64::from(lane), at, place);
                memory::store(self.emit, value.lane(lane), address, bytes);
            }
        }
    }

    /// The address of a byte in a row of a factor's part in shared memory.
    fn in_part(
        &self,
        stage: &Stage<'a, 'ctx>,
        row: Val<'a, 'ctx>,
        at: Val<'a, 'ctx>,
        place: Val<'a, 'ctx>,
    ) -> PointerValue<'ctx> {
        let tensor_cores = self.product.tile.tensor_cores;
        let along = if tensor_cores {
            stage.along
        } else {
            Along::Lines
        };
        let pitch = pitch(self.product, stage.which, along);
        let at = match tensor_cores {
            true => {
                let piece = at.udiv(i64::from(WIDEST)).xor(turn(row, pitch));
                piece * i64::from(WIDEST) + at.urem(i64::from(WIDEST))
            }
            false => at,
        };
        let before = i64::from(match stage.which {
            0 => 0,
            _ => bytes(self.product, 0),
        });
        self.in_shared(place + row * i64::from(pitch) + at + before)
    }

    /// The address of the matrix row that this lane supplies, for tile `tile` of 16 lines and part `part` of 16 terms,
    /// after `lines` lines.
    ///
    /// Four 8x8 matrices form a 2x2 arrangement, first along lines for the left factor, and along terms for the right
    /// one: tensor cores expect their registers in this order.
    pub(super) fn matrices(
        &self,
        stage: &Stage<'a, 'ctx>,
        lines: Val<'a, 'ctx>,
        [tile, part]: [u32; 2],
        place: Val<'a, 'ctx>,
    ) -> PointerValue<'ctx> {
        let lane = self.thread.urem(32);
        let by_rows = (stage.which == 0) == (stage.along == Along::Terms);
        let (row, piece) = match by_rows {
            true => (lane.urem(16), lane.udiv(16)),
            false => (lane.urem(8) + lane.udiv(16) * 8, lane.udiv(8).urem(2)),
        };
        let (tile, part) = (i64::from(16 * tile), i64::from(16 * part));
        let bytes = i64::from(element_bytes(self.product));
        // Rows that are 8 apart are turned alike.
        let (row, further, at) = match stage.along {
            Along::Terms => (lines + row, tile, piece * 8 + part),
            Along::Lines => (row, part, lines + piece * 8 + tile),
        };
        let pitch = i64::from(pitch(self.product, stage.which, stage.along));
        let first = self.in_part(stage, row, at * bytes, place);
        memory::element(self.emit, first, Elem::Int(8), self.number(further * pitch))
    }

    /// Loads consecutive lines of a term from shared memory.
    pub(super) fn kept(
        &self,
        stage: &Stage<'a, 'ctx>,
        line: Val<'a, 'ctx>,
        term: u32,
        place: Val<'a, 'ctx>,
    ) -> Val<'a, 'ctx> {
        let bytes = element_bytes(self.product);
        let elem = match self.product.factors {
            DType::F64 => Elem::F64,
            _ => Elem::F32,
        };
        let row = self.number(term.into());
        let address = self.in_part(stage, row, line * i64::from(bytes), place);
        memory::load(self.emit, address, elem, Some(WIDEST / bytes), WIDEST)
    }
}

/// The swizzle of a row: the number by which its pieces are permuted. Rows whose pieces would fall into the same banks
/// have different numbers.
fn turn<'a, 'ctx>(row: Val<'a, 'ctx>, pitch: u32) -> Val<'a, 'ctx> {
    const BANKS: u32 = 128;
    let rows = (BANKS / pitch).max(1);
    let pieces = pitch.min(BANKS) / WIDEST;
    row.udiv(i64::from(rows)).urem(i64::from(pieces))
}
