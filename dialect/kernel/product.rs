//! A matrix product as one GPU kernel: facts shared by the launch plan and code generation.
//!
//! ```text
//! for each index of the loops of the batch, for each tile of rows by columns        a block
//!     for each step of terms                                                        both factors' part of it lies in shared memory
//!         tile += rows of the left factor times columns of the right one            the threads hold the tile in registers
//! ```
//!
//! A loop is one axis of up to three tensors, with its stride in each of them. So it describes any layout. Extents and
//! strides are constants or parameters of the kernel, which follow its buffers.

use fuser_ir::DType;

/// A product as a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Product {
    /// The kernel's name for people.
    pub name: String,
    /// The element type of the factors.
    pub factors: DType,
    /// The element type of the result: that of the factors, or their accumulator type.
    pub result: DType,
    /// Batch axes, outermost first.
    pub batch: Vec<Loop>,
    /// The common axis of the left factor and the result.
    pub rows: Loop,
    /// The common axis of the right factor and the result.
    pub columns: Loop,
    /// The summed axis.
    pub terms: Loop,
    /// The part of the result that a block computes.
    pub tile: Tile,
    /// The numbers of the buffers of the factors and of the result; equal for two factors in one buffer.
    pub buffers: [usize; 3],
    /// The addend of the sums.
    pub bias: Option<Bias>,
    /// The number of parameters after the buffers.
    pub parameters: usize,
}

/// A bias: an element for each row, or for each column, of the factors' type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bias {
    /// The number of its buffer.
    pub buffer: usize,
    /// True if it has an element for each row, not for each column.
    pub of_rows: bool,
    /// The stride in elements; 0 if one element serves all rows or columns.
    pub stride: i64,
}

/// The axis of up to three tensors: the left factor, the right one, and the result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loop {
    /// Its length.
    pub extent: Size,
    /// Elements by which a step moves in each tensor.
    pub strides: [Size; 3],
}

/// A length or a distance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// A known number.
    Constant(i64),
    /// A parameter of the kernel.
    Parameter {
        /// Its number.
        number: usize,
        /// A positive number that divides it.
        of: i64,
    },
}

/// The loop along which elements of a factor are contiguous.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Along {
    /// That of the terms.
    Terms,
    /// That of its rows or columns.
    Lines,
}

/// Bytes of the widest access.
pub const WIDEST: u32 = 16;

impl Product {
    /// The loop that factor `which` shares with the result alone.
    pub fn lines(&self, which: usize) -> &Loop {
        match which {
            0 => &self.rows,
            _ => &self.columns,
        }
    }
    /// The loop along which factor `which` is loaded, and the elements of a load.
    pub fn load(&self, which: usize) -> (Along, u32) {
        let most = WIDEST / self.factors.bytes() as u32;
        let (lines, terms) = (self.lines(which), &self.terms);
        let beside = |own: &Loop| own.strides[which] == Size::Constant(1);
        match !beside(terms) && beside(lines) {
            true => (Along::Lines, self.width(which, lines, most)),
            false => (Along::Terms, self.width(which, terms, most)),
        }
    }
    /// The elements of a store, if a thread has up to `most` contiguous columns.
    pub fn store(&self, most: u32) -> u32 {
        self.width(2, &self.columns, most)
    }
    /// The widest vector, up to `most` elements, for all accesses to a tensor along one of its loops. Every access
    /// begins at a multiple of its size, and none crosses the end.
    fn width(&self, which: usize, along: &Loop, most: u32) -> u32 {
        if along.strides[which] != Size::Constant(1) {
            return 1;
        }
        let all = self
            .batch
            .iter()
            .chain([&self.rows, &self.columns, &self.terms]);
        let others: Vec<&Loop> = all.filter(|other| !std::ptr::eq(*other, along)).collect();
        let fits = |width: u32| {
            let width = i64::from(width);
            let apart = |other: &&Loop| {
                let once = other.extent.constant().is_some_and(|extent| extent <= 1);
                once || other.strides[which].is_multiple_of(width)
            };
            along.extent.is_multiple_of(width) && others.iter().all(apart)
        };
        let widths = std::iter::successors(Some(most), |width| Some(width / 2));
        let mut widths = widths.take_while(|width| *width > 1);
        widths.find(|width| fits(*width)).unwrap_or(1)
    }
    /// True if there are whole tiles only, whose steps are whole, and both factors are loaded in the widest vectors:
    /// then 128 registers are enough for a thread.
    pub fn is_whole(&self) -> bool {
        let [rows, columns] = self.tile.sides;
        let loops = [&self.rows, &self.columns, &self.terms].into_iter();
        let mut parts = loops.zip([rows, columns, self.tile.terms]);
        let widest = WIDEST / self.factors.bytes() as u32;
        parts.all(|(own, part)| own.extent.is_multiple_of(part.into()))
            && (0..2).all(|which| self.load(which).1 == widest)
    }
    /// True if the threads have enough registers for a tile. A large tile on tensor cores leaves no registers for the
    /// addresses of single elements.
    pub fn suits(&self, tile: &Tile) -> bool {
        let small = tile.threads() < LARGE;
        small || !tile.tensor_cores || (0..2).all(|which| self.load(which).1 > 1)
    }
}

impl Size {
    /// The number, where it is known.
    pub fn constant(self) -> Option<i64> {
        match self {
            Size::Constant(value) => Some(value),
            Size::Parameter { .. } => None,
        }
    }
    /// True if it is certainly a multiple of `by`.
    pub fn is_multiple_of(self, by: i64) -> bool {
        let of = match self {
            Size::Constant(value) => value,
            Size::Parameter { of, .. } => of,
        };
        of % by == 0
    }
}

/// The part of the result that a block computes, and how its threads share it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tile {
    /// Rows and columns.
    pub sides: [u32; 2],
    /// Terms of a step.
    pub terms: u32,
    /// Parts along the rows and along the columns, one for each warp on tensor cores, else for each thread.
    pub parts: [u32; 2],
    /// True on tensor cores, which truncate sums that other arithmetic rounds.
    pub tensor_cores: bool,
}

const fn tile(sides: u32, terms: u32, parts: [u32; 2], tensor_cores: bool) -> Tile {
    Tile {
        sides: [sides; 2],
        terms,
        parts,
        tensor_cores,
    }
}

/// Tiles by the type of the factors, the largest first. A large tile uses each element of the factors for more results;
/// a small one leaves enough blocks for all multiprocessors in smaller products.
static TILES: &[(&[DType], &[Tile])] = &[
    (
        &[DType::BF16, DType::F16],
        &[tile(128, 32, [2, 4], true), tile(64, 32, [2, 2], true)],
    ),
    (
        &[DType::F32],
        &[tile(128, 8, [16, 16], false), tile(64, 8, [8, 8], false)],
    ),
    (
        &[DType::F64],
        &[tile(64, 8, [16, 16], false), tile(32, 8, [8, 8], false)],
    ),
];

/// Threads of a block of a large tile. With 128 registers for each thread, two such blocks fill a multiprocessor.
pub const LARGE: u32 = 256;

impl Tile {
    /// The tiles for factors of a type, the largest first; empty if no kernel multiplies them.
    pub fn of(factors: DType) -> &'static [Tile] {
        let row = TILES.iter().find(|(dtypes, _)| dtypes.contains(&factors));
        row.map_or(&[], |(_, tiles)| tiles)
    }
    /// Threads of a block.
    pub fn threads(&self) -> u32 {
        let parts = self.parts[0] * self.parts[1];
        match self.tensor_cores {
            true => parts * super::WARP as u32,
            false => parts,
        }
    }
}
