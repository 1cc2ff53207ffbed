//! Blocked products: panels of both factors are packed, and each panel of rows is multiplied by each panel of columns.

use super::lines::{BLOCK, Factor, Lines};
use super::{GRAIN, MOST};

/// Columns of a panel of the right factor and of the sums.
pub const WIDE: usize = 32;

/// A packed panel of a factor.
pub type Panel = *const u8;

/// Sums of a panel: 32 beside each other, for `TALL` rows.
#[derive(Clone, Copy, Debug)]
pub struct Sums {
    pub first: *mut f32,
    /// True where there are some, to which products are added.
    pub add: bool,
}

/// A micro-kernel with its way of packing elements of a type.
pub trait Kernel<T: Copy> {
    /// Rows of a panel of the left factor.
    const TALL: usize;
    /// Terms of a block at most.
    const TERMS: usize;
    /// A summary of elements that were packed.
    type Seen: Default;

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
    /// number of valid rows and of terms.
    ///
    /// # Safety
    /// The panels were packed with this number of terms, and the sums are there.
    unsafe fn multiply(&self, size: [usize; 2], left: Panel, right: &[Panel], sums: Sums);
}

/// Blocks of terms that are packed at a time.
const BLOCKS: usize = 2;
/// Panels of the right factor that are packed at a time.
const GROUP: usize = 16;
/// The number of terms packed of one panel before the next panel of the group, if columns are contiguous in memory.
/// Reads then advance through this many rows at a time, each sequentially.
const RUN: usize = 32;

/// The bytes of scratch memory for a product with this many rows, columns and terms: the left factor's panels, a group
/// of the right factor's panels, the sums, and a gathered block.
pub fn scratch_bytes<T: Copy, K: Kernel<T>>(sizes: [usize; 3]) -> usize {
    parts::<T, K>(sizes)
        .into_iter()
        .fold(0, usize::saturating_add)
}

/// The bytes of the left factor's panels, of a group of the right factor's panels, of the sums, and of a gathered
/// block.
fn parts<T: Copy, K: Kernel<T>>([m, n, k]: [usize; 3]) -> [usize; 4] {
    let most = BLOCKS * K::TERMS;
    let [left, right] = K::panel_bytes(k.min(most));
    let (tall, wide) = (m.div_ceil(K::TALL), n.div_ceil(WIDE));
    // Where all terms are packed at a time, the sums are stored before those of the next panel of rows begin.
    let held = if k > most {
        tall * wide
    } else {
        wide.min(GROUP)
    };
    [
        tall * left,
        wide.min(GROUP) * right,
        held * K::TALL * WIDE * size_of::<f32>(),
        BLOCK[0] * BLOCK[1] * size_of::<T>(),
    ]
}

/// Multiplies at most [`MOST`] rows by columns, or columns by rows. Calls `store` for each panel of 32 columns and
/// `TALL` rows, with the first row and column, the number of rows and columns, and the sums. Then calls `other` for
/// each rectangle whose factors do not fit the kernel: the sums stored there are not the product.
///
/// # Safety
/// The elements are there; the scratch memory is as large as [`scratch_bytes`] says, and aligned for vectors.
pub unsafe fn product<T: Copy + Default, K: Kernel<T>>(
    kernel: &K,
    [left, right]: [Factor<'_, T>; 2],
    scratch: *mut u8,
    mut store: impl FnMut([usize; 2], [usize; 2], *const f32),
    other: impl FnMut([usize; 2], [usize; 2]),
) {
    let ([m, k], [n, _]) = (left.size(), right.size());
    let [left_bytes, right_bytes, sums_bytes, _] = parts::<T, K>([m, n, k]);
    let right_place = scratch.wrapping_add(left_bytes);
    let sums = right_place.wrapping_add(right_bytes).cast::<f32>();
    let room = sums.wrapping_byte_add(sums_bytes).cast::<T>();
    let (most, panel) = (BLOCKS * K::TERMS, K::TALL * WIDE);
    let mut seen = [(); 2].map(|()| [(); GRAINS].map(|()| K::Seen::default()));
    for outer in (0..k.max(1)).step_by(most) {
        let terms = k.saturating_sub(outer).min(most);
        let bytes = K::panel_bytes(terms);
        for (group, column) in (0..n).step_by(GROUP * WIDE).enumerate() {
            let own = right.lines(column, GROUP * WIDE);
            let [columns, _] = own.size();
            let run = match own.line_stride() {
                Some(1) => RUN,
                _ => own.run(most),
            };
            for begin in (0..terms).step_by(run) {
                for (j, first) in (0..columns).step_by(WIDE).enumerate() {
                    let to = right_place.wrapping_add(j * bytes[1] + K::panel_bytes(begin)[1]);
                    let seen = &mut seen[1][(column + first) / GRAIN];
                    // SAFETY: the caller's word; the scratch memory has room for a group and a block.
                    unsafe {
                        let from =
                            own.block([first, WIDE], [outer + begin, run.min(terms - begin)], room);
                        kernel.pack(1, from, to, seen);
                    }
                }
            }
            for (i, row) in (0..m).step_by(K::TALL).enumerate() {
                let rows = K::TALL.min(m - row);
                let a = scratch.wrapping_add(i * bytes[0]);
                if group == 0 {
                    let seen = &mut seen[0][row / GRAIN];
                    let run = left.run(most);
                    for begin in (0..terms).step_by(run) {
                        let to = a.wrapping_add(K::panel_bytes(begin)[0]);
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
                let held = if k > most {
                    i * n.div_ceil(WIDE) + column / WIDE
                } else {
                    0
                };
                let sums = sums.wrapping_add(held * panel);
                for from in (0..terms.max(1)).step_by(K::TERMS) {
                    let count = K::TERMS.min(terms - from);
                    let [past_a, past_b] = K::panel_bytes(from);
                    for j in 0..columns.div_ceil(WIDE) {
                        let (a, b) = (
                            a.wrapping_add(past_a),
                            right_place.wrapping_add(j * bytes[1] + past_b),
                        );
                        let (first, add) = (sums.wrapping_add(j * panel), outer + from > 0);
                        // SAFETY: both panels were packed, and the sums have room.
                        unsafe { kernel.multiply([rows, count], a, &[b], Sums { first, add }) };
                    }
                }
                if outer + terms == k {
                    store([row, column], [rows, columns], sums);
                }
            }
        }
    }
    let exponents = seen.map(|grains| grains.map(|seen| K::exponents(&seen)));
    misfits::<T, K>(exponents, [m, n], other);
}

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
    use super::super::Amx;
    use super::*;
    use half::bf16;

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
