//! Blocked products: panels of both factors are packed, and each panel of rows is multiplied by each panel of columns.

use super::lines::{BLOCK, Factor, Lines, Piece, Pieces, Start, ZERO_BYTES};
use super::{GRAIN, MOST};

/// Columns of a panel of the right factor and of the sums, in the kernels that share their panels with attention.
pub const WIDE: usize = 32;

/// A packed panel of a factor.
pub type Panel = *const u8;

/// Sums of a panel: as many beside each other as a panel has columns, for `TALL` rows.
#[derive(Clone, Copy, Debug)]
pub struct Sums<N = f32> {
    pub first: *mut N,
    /// True where there are some, to which products are added.
    pub add: bool,
}

/// A micro-kernel with its way of packing elements of a type.
pub trait Kernel<T: Copy> {
    /// The type of sums.
    type Sum: Copy;
    /// Rows of a panel of the left factor.
    const TALL: usize;
    /// Columns of a panel of the right factor and of the sums.
    const WIDE: usize;
    /// Panels of rows that are multiplied by a panel of columns before the next panel of columns.
    const PANELS: usize;
    /// Terms of a block at most.
    const TERMS: usize;
    /// Terms that are packed of a panel of the right factor before the next panel of a group, if columns are contiguous
    /// in memory: so many rows of memory are read side by side, each sequentially. Panels are packed from any multiple.
    const RUN: usize = 32;
    /// A summary of elements that were packed.
    type Seen: Clone + Default;

    /// True where the kernel reads the rows of a left factor in place.
    fn in_place(_: &Factor<'_, T>) -> bool {
        false
    }

    /// True if all elements that were packed are known to be finite, so that a product with 0 is 0.
    fn is_finite(_: &Self::Seen) -> bool {
        false
    }

    /// The bytes of a panel of the left factor and of one of the right factor, for `terms` terms.
    fn panel_bytes(terms: usize) -> [usize; 2];

    /// Packs a panel of the left factor (0) or of the right one (1).
    ///
    /// # Safety
    /// The elements are there, at most as many lines as a panel has, and there is room for a panel.
    unsafe fn pack(&self, which: usize, from: Lines<T>, to: *mut u8, seen: &mut Self::Seen);

    /// The biased exponents of the least and the greatest nonzero magnitude seen. Subnormal numbers have exponent 0,
    /// infinities and NaN 255. `None` if all elements are 0, or if the kernel accepts any exponent.
    fn exponents(_: &Self::Seen) -> Option<[u32; 2]> {
        None
    }

    /// True where the kernel multiplies factors with these exponents.
    fn fits(_: [Option<[u32; 2]>; 2]) -> bool {
        true
    }

    /// Multiplies a panel of rows by each of the panels of columns and adds the products to the sums. `size` gives the
    /// number of valid rows, of valid columns of the last panel and of terms.
    ///
    /// # Safety
    /// The panels were packed with this number of terms, and the sums are there.
    unsafe fn multiply(
        &self,
        size: [usize; 3],
        left: Panel,
        right: &[Panel],
        sums: Sums<Self::Sum>,
    );

    /// True where the rows that begin there are copied into the cache before they are read.
    fn copies(_: &Factor<'_, T>, _: &[Start<T>]) -> bool {
        false
    }

    /// Copies elements that are neighbours as numbers.
    ///
    /// # Safety
    /// The elements and the room are there.
    unsafe fn copy(&self, _from: *const T, _to: *mut Self::Sum, _count: usize) {}

    /// Copies rows of pieces, `pitch` times the size of a sum apart.
    ///
    /// # Safety
    /// The elements are there and neighbours, and `to` has room for them.
    unsafe fn bring(
        &self,
        pieces: &mut Pieces<T>,
        rows: usize,
        to: *mut u8,
        pitch: usize,
        _seen: &mut Self::Seen,
    ) {
        // SAFETY: the caller's word.
        unsafe {
            pieces.bring(rows, to.cast(), pitch, |from, to, count| {
                self.copy(from, to, count);
            });
        }
    }

    /// Multiplies rows that are read in place or were copied by a panel of columns, likewise. `size` gives the number
    /// of rows, that of columns and the distance of terms.
    ///
    /// # Safety
    /// The kernel reads in place. The elements are there, the panel was packed with as many terms, and the sums are
    /// there.
    unsafe fn multiply_in_place(
        &self,
        _size: [usize; 3],
        _left: &[Piece<T>],
        _right: Panel,
        _sums: Sums<Self::Sum>,
    ) {
    }
}

/// A micro-kernel whose sums are stored as elements of a type.
pub trait Stores<N, O> {
    /// Stores `size` rows and columns of sums, starting at row and column `first` of panels, rounded to nearest.
    /// `steps` lead from row to row and from column to column of the result.
    ///
    /// # Safety
    /// The sums and the elements are there.
    unsafe fn store(sums: *const N, first_and_size: [[usize; 2]; 2], to: *mut O, steps: [usize; 2]);
}

/// Blocks of terms that are packed at a time, more of them where rows are read in place and columns are few.
const BLOCKS: usize = 2;
/// Panels of the right factor that are packed at a time.
const GROUP: usize = 16;
/// The bytes of scratch memory for a product with this many rows, columns and terms.
pub fn scratch_bytes<T: Copy, K: Kernel<T>>(sizes: [usize; 3]) -> usize {
    let bytes = [false, true].map(|in_place| {
        let parts = parts::<T, K>(sizes, in_place);
        parts.into_iter().fold(0, usize::saturating_add)
    });
    bytes[0].max(bytes[1])
}

/// Terms that are packed at a time. Where only the right factor is, few columns leave room for more of them.
fn most<T: Copy, K: Kernel<T>>(n: usize, in_place: bool) -> usize {
    match in_place {
        true => K::TERMS * (BLOCKS * GROUP / n.div_ceil(K::WIDE).clamp(1, GROUP)),
        false => K::TERMS * BLOCKS,
    }
}

/// The bytes of five parts: the left factor's panels, a group of the right factor's, the sums, a gathered block, and the
/// pieces of rows that are read in place.
fn parts<T: Copy, K: Kernel<T>>([m, n, k]: [usize; 3], in_place: bool) -> [usize; 5] {
    let most = most::<T, K>(n, in_place);
    let [left, right] = K::panel_bytes(k.min(most));
    let (tall, wide) = (m.div_ceil(K::TALL), n.div_ceil(K::WIDE));
    // Where all terms are packed at a time, sums are stored before those of the next panels of rows begin.
    let held = if k > most {
        tall * wide
    } else {
        tall.min(K::PANELS) * wide.min(GROUP)
    };
    let [left, pieces] = match in_place {
        true => [
            K::panel_bytes(k.min(K::TERMS))[0],
            Pieces::<T>::bytes([K::TALL, K::TERMS]),
        ]
        .map(|bytes| K::PANELS * bytes),
        false => [tall * left, 0],
    };
    // Fewer columns leave room for more terms: the most that any number of columns needs, so that a part of a tile
    // fits.
    let right = match in_place {
        true => BLOCKS * GROUP * K::panel_bytes(k.min(K::TERMS))[1],
        false => wide.min(GROUP) * right,
    };
    [
        left,
        right,
        held * K::TALL * K::WIDE * size_of::<K::Sum>(),
        BLOCK[0] * BLOCK[1] * size_of::<T>(),
        pieces,
    ]
}

/// The bytes before the panels that are kept: a word that is 1 once they are packed, and what was seen of them.
const fn kept_header<S>() -> usize {
    (size_of::<u64>() + align_of::<S>() + size_of::<[S; GRAINS]>()).next_multiple_of(64)
}

/// The bytes that keep the packed right factor of a product with this many rows, columns and terms.
pub fn kept_bytes<T: Copy, K: Kernel<T>>([_, n, k]: [usize; 3]) -> usize {
    let bytes = [false, true].map(|in_place| {
        let most = most::<T, K>(n, in_place);
        let [whole, rest] = [most, k % most].map(|terms| K::panel_bytes(terms)[1]);
        let panel = (k / most).saturating_mul(whole).saturating_add(rest);
        let panels = n.div_ceil(K::WIDE).saturating_mul(panel);
        panels.saturating_add(kept_header::<K::Seen>())
    });
    bytes[0].max(bytes[1])
}

/// Multiplies at most [`MOST`] rows by columns, or columns by rows. Calls `store` for each group of columns and `TALL`
/// rows, with the first row and column, the number of rows and columns, and the sums. Then calls `other` for each
/// rectangle whose factors do not fit the kernel: the sums stored there are not the product.
///
/// With `kept`, memory whose first word is 0 or that an equal call has had, the right factor is packed once and stays.
///
/// # Safety
/// The elements are there; the scratch memory is as large as [`scratch_bytes`] says, and aligned for vectors. So is
/// `kept` as [`kept_bytes`] says, and the right factor has not changed since its first word was 0.
pub unsafe fn product<T: Copy + Default, K: Kernel<T>>(
    kernel: &K,
    [left, right]: [Factor<'_, T>; 2],
    [scratch, kept]: [*mut u8; 2],
    mut store: impl FnMut([usize; 2], [usize; 2], *const K::Sum),
    other: impl FnMut([usize; 2], [usize; 2]),
) {
    const { assert!(K::TERMS * size_of::<T>() <= ZERO_BYTES && K::PANELS <= MOST_PANELS) };
    const { assert!(K::PANELS * K::TALL <= MOST_ROWS) };
    let ([m, k], [n, _]) = (left.size(), right.size());
    let (in_place, step) = (K::in_place(&left), left.step());
    let parts = parts::<T, K>([m, n, k], in_place);
    let [left_bytes, right_bytes, sums_bytes, block_bytes, _] = parts;
    let right_place = scratch.wrapping_add(left_bytes);
    let sums = right_place.wrapping_add(right_bytes).cast::<K::Sum>();
    let room = sums.wrapping_byte_add(sums_bytes).cast::<T>();
    let pieces = room.wrapping_byte_add(block_bytes).cast::<u8>();
    let (most, panel) = (most::<T, K>(n, in_place), K::TALL * K::WIDE);
    let mut starts = [Start::default(); MOST_ROWS];
    let mut seen = [(); 2].map(|()| [(); GRAINS].map(|()| K::Seen::default()));
    let keeps = !kept.is_null();
    // SAFETY: the caller's word.
    let packed = keeps && unsafe { kept.cast::<u64>().read() } == 1;
    let known = kept.wrapping_add(size_of::<u64>().next_multiple_of(align_of::<K::Seen>()));
    let known = known.cast::<[K::Seen; GRAINS]>();
    if packed {
        // SAFETY: the call that packed wrote it.
        seen[1] = unsafe { (*known).clone() };
    }
    let mut past = kept_header::<K::Seen>();
    for outer in (0..k.max(1)).step_by(most) {
        let terms = k.saturating_sub(outer).min(most);
        let bytes = K::panel_bytes(terms);
        for (group, column) in (0..n).step_by(GROUP * K::WIDE).enumerate() {
            let own = right.lines(column, GROUP * K::WIDE);
            let [columns, _] = own.size();
            let right_place = match keeps {
                true => kept.wrapping_add(past),
                false => right_place,
            };
            past += columns.div_ceil(K::WIDE) * bytes[1];
            let run = match own.line_stride() {
                Some(1) => K::RUN,
                _ => own.run(most),
            };
            for begin in (0..terms).step_by(run).filter(|_| !packed) {
                for (j, first) in (0..columns).step_by(K::WIDE).enumerate() {
                    let to = right_place.wrapping_add(j * bytes[1] + K::panel_bytes(begin)[1]);
                    let seen = &mut seen[1][(column + first) / GRAIN];
                    // SAFETY: the caller's word; the scratch memory has room for a group and a block.
                    unsafe {
                        let from = own.block(
                            [first, K::WIDE],
                            [outer + begin, run.min(terms - begin)],
                            room,
                        );
                        kernel.pack(1, from, to, seen);
                    }
                }
            }
            let grains = column / GRAIN..(column + columns).div_ceil(GRAIN);
            let drop_zeros = in_place && seen[1][grains].iter().all(K::is_finite);
            // Panels of rows that are multiplied by each panel of columns in turn.
            for begin in (0..m).step_by(K::PANELS * K::TALL) {
                let rows = (begin..m).step_by(K::TALL).take(K::PANELS);
                let rows = || rows.clone().map(|row| (row, K::TALL.min(m - row)));
                let a = |row: usize| scratch.wrapping_add(row / K::TALL * bytes[0]);
                if group == 0 && !in_place {
                    for (row, _) in rows() {
                        let seen = &mut seen[0][row / GRAIN];
                        let run = left.run(most);
                        for begin in (0..terms).step_by(run) {
                            let to = a(row).wrapping_add(K::panel_bytes(begin)[0]);
                            // SAFETY: as above, for all panels.
                            unsafe {
                                let from = left.block(
                                    [row, K::TALL],
                                    [outer + begin, run.min(terms - begin)],
                                    room,
                                );
                                kernel.pack(0, from, to, seen);
                            }
                        }
                    }
                }
                let sums = |row: usize| {
                    let held = if k > most {
                        row / K::TALL * n.div_ceil(K::WIDE) + column / K::WIDE
                    } else {
                        (row - begin) / K::TALL * columns.div_ceil(K::WIDE)
                    };
                    sums.wrapping_add(held * panel)
                };
                let starts = &mut starts[..(m - begin).min(K::PANELS * K::TALL)];
                if in_place {
                    left.starts(begin, starts);
                }
                for from in (0..terms.max(1)).step_by(K::TERMS) {
                    let count = K::TERMS.min(terms - from);
                    let [past_a, past_b] = K::panel_bytes(from);
                    let add = outer + from > 0;
                    let mut found = [None; MOST_PANELS];
                    let panels = starts.chunks(K::TALL).zip(&mut found).enumerate();
                    for (number, (starts, found)) in panels.filter(|_| in_place) {
                        let place =
                            pieces.wrapping_add(number * Pieces::<T>::bytes([K::TALL, K::TERMS]));
                        let own = found.insert(Pieces::new(place, [K::TALL, K::TERMS]));
                        // SAFETY: the caller's word; there is room for the pieces of a panel, and in its own memory for
                        // their terms.
                        unsafe {
                            left.pieces(starts, [outer + from, count], drop_zeros, own);
                            if K::copies(&left, starts) {
                                let room = K::panel_bytes(k.min(K::TERMS))[0];
                                let room = scratch.wrapping_add(number * room);
                                let bytes = K::panel_bytes(count)[0];
                                let pitch = bytes / size_of::<K::Sum>() / K::TALL;
                                let row = begin + number * K::TALL;
                                let seen = &mut seen[0][row / GRAIN];
                                kernel.bring(own, starts.len(), room, pitch, seen);
                            }
                        };
                    }
                    for j in 0..columns.div_ceil(K::WIDE) {
                        let b = right_place.wrapping_add(j * bytes[1] + past_b);
                        let valid = (columns - j * K::WIDE).min(K::WIDE);
                        for ((row, rows), found) in rows().zip(&found) {
                            let first = sums(row).wrapping_add(j * panel);
                            let to = Sums { first, add };
                            // SAFETY: the panels were packed, or the pieces written, and the sums have room.
                            unsafe {
                                match found {
                                    Some(found) => {
                                        let pieces = found.all();
                                        // Where there are none, nothing is added.
                                        if !(pieces.is_empty() && add) {
                                            let size = [rows, valid, step];
                                            kernel.multiply_in_place(size, pieces, b, to);
                                        }
                                    }
                                    None => {
                                        let a = a(row).wrapping_add(past_a);
                                        kernel.multiply([rows, valid, count], a, &[b], to);
                                    }
                                }
                            }
                        }
                    }
                }
                if outer + terms == k {
                    rows().for_each(|(row, rows)| store([row, column], [rows, columns], sums(row)));
                }
            }
        }
    }
    if keeps && !packed {
        // SAFETY: there is room in front of the panels.
        unsafe {
            known.write(seen[1].clone());
            kept.cast::<u64>().write(1);
        }
    }
    let exponents = seen.map(|grains| grains.map(|seen| K::exponents(&seen)));
    misfits::<T, K>(exponents, [m, n], other);
}

/// The greatest [`Kernel::PANELS`], and rows of so many panels at most.
const MOST_PANELS: usize = 8;
const MOST_ROWS: usize = 48;

/// Blocks of rows or columns at most.
const GRAINS: usize = if MOST[0] > MOST[1] { MOST[0] } else { MOST[1] } / GRAIN;
// A row of blocks is a mask of bits.
const _: () = assert!(GRAINS <= 32);

/// Passes the rectangles of a result whose factors do not fit the kernel to `give`. A rectangle covers adjacent columns
/// and all following rows with the same misfits.
fn misfits<T: Copy, K: Kernel<T>>(
    [rows, columns]: [[Option<[u32; 2]>; GRAINS]; 2],
    sizes: [usize; 2],
    mut give: impl FnMut([usize; 2], [usize; 2]),
) {
    let [tall, wide] = sizes.map(|size| size.div_ceil(GRAIN));
    let mask = |row: Option<[u32; 2]>| {
        let misfits = (0..wide).filter(|&column| !K::fits([row, columns[column]]));
        misfits.fold(0u32, |mask, column| mask | 1 << column)
    };
    let masks = rows.map(mask);
    let mut row = 0;
    while row < tall {
        let mut rest = masks[row];
        let same = masks[row..tall].iter().take_while(|&&mask| mask == rest);
        let count = same.count();
        while rest != 0 {
            let column = rest.trailing_zeros();
            let beside = (rest >> column).trailing_ones();
            rest &= rest.wrapping_add(1 << column);
            let first = [row, column as usize].map(|block| block * GRAIN);
            let blocks = [count, beside as usize];
            give(
                first,
                [0, 1].map(|axis| (blocks[axis] * GRAIN).min(sizes[axis] - first[axis])),
            );
        }
        row += count;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Amx, Avx2, Avx512, Dot};
    use super::*;
    use half::{bf16, f16};

    /// A part of a tile needs no more scratch memory than the tile.
    #[test]
    fn parts_of_a_tile_fit_its_memory() {
        fn check<T: Copy, K: Kernel<T>>() {
            for k in [0, 1, 255, 256, 257, 1024, 1536, 4096, 20000] {
                for n in (0..=1024).step_by(32).flat_map(|n| [n, n + 1]) {
                    for m in [1, 63, 64, 2048] {
                        let own = scratch_bytes::<T, K>([m, n, k]);
                        for less in [1, 2, 31, 32, 33, 64, 65, 128, 320, 512] {
                            let [rows, columns] = [m, n].map(|all| all.saturating_sub(less));
                            for part in [[m, columns], [rows, n], [rows, columns]] {
                                let part = [part[0], part[1], k];
                                let needed = scratch_bytes::<T, K>(part);
                                assert!(needed <= own, "{part:?} of {:?}", [m, n, k]);
                            }
                        }
                    }
                }
            }
        }
        check::<f32, Avx512>();
        check::<f16, Avx512>();
        check::<f32, Avx2>();
        check::<f64, Avx2>();
        check::<f16, Avx2>();
        check::<bf16, Dot>();
        check::<bf16, Amx>();
    }

    /// The rectangles cover each misfitting block exactly once, and no other block, for any factors.
    #[test]
    fn misfits_are_covered_once() {
        let kinds = [None, Some([0, 130]), Some([70, 130]), Some([120, 130])];
        for (sizes, turn) in [[2048, 1024], [1000, 2048], [65, 64], [1, 130], [0, 5]]
            .into_iter()
            .flat_map(|sizes| [1, 5, 64, 1 << 20].map(|turn| (sizes, turn)))
        {
            let mut words = 0u64..;
            let mut draw = || {
                let word = fuser_random::SplitMix(words.next().unwrap() / turn).word();
                kinds[word as usize % kinds.len()]
            };
            let exponents = [(); 2].map(|()| [(); GRAINS].map(|()| draw()));
            let [tall, wide] = sizes.map(|size: usize| size.div_ceil(GRAIN));
            let mut found = vec![0; tall * wide];
            misfits::<bf16, Amx>(exponents, sizes, |first, count| {
                for axis in 0..2 {
                    let end = first[axis] + count[axis];
                    assert!(count[axis] > 0 && first[axis] % GRAIN == 0);
                    assert!(end == sizes[axis] || end < sizes[axis] && end % GRAIN == 0);
                }
                let [rows, columns] = [0, 1]
                    .map(|axis| first[axis] / GRAIN..(first[axis] + count[axis]).div_ceil(GRAIN));
                for row in rows {
                    columns
                        .clone()
                        .for_each(|column| found[row * wide + column] += 1);
                }
            });
            for (at, found) in found.into_iter().enumerate() {
                let fits = Amx::fits([exponents[0][at / wide], exponents[1][at % wide]]);
                assert_eq!(found, i32::from(!fits), "{sizes:?}, {turn}, block {at}");
            }
        }
    }
}
