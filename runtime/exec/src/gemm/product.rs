//! Products in blocks: panels of both factors are packed, and each panel of rows is multiplied by each of columns.

use super::pack::Lines;

/// Columns of a panel of the right factor and of the sums.
pub const WIDE: usize = 32;

/// A micro-kernel with its way of packing elements of a type.
pub trait Kernel<T: Copy> {
    /// Rows of a panel of the left factor.
    const TALL: usize;
    /// Terms of a block at most.
    const TERMS: usize;

    /// Bytes of a panel of the left factor and of one of the right, for so many terms.
    fn panel_bytes(terms: usize) -> [usize; 2];

    /// Packs a panel of the left factor (0) or of the right one (1); false where the kernel cannot multiply it by all that it packed of the other.
    ///
    /// # Safety
    /// The elements are there, at most as many lines as a panel has, and there is room for a panel.
    unsafe fn pack(&mut self, which: usize, from: Lines<T>, to: *mut u8) -> bool;

    /// The biased exponents of the least and of the greatest element of a factor that was packed, zeros aside: a subnormal number has 0, what is no
    /// finite number 255. `None` where all are 0, and where the kernel takes any.
    fn exponents(&self, _which: usize) -> Option<[u32; 2]> {
        None
    }

    /// Multiplies a panel of rows, of which the first `rows` count, by each of these panels of columns, and adds the products. Sums are 32 beside each
    /// other, for `TALL` rows.
    ///
    /// # Safety
    /// The panels were packed with so many terms, and the sums are there, with those before if they are to be added to.
    unsafe fn multiply(
        &self,
        rows: usize,
        terms: usize,
        left: *const u8,
        right: &[*const u8],
        sums: *mut f32,
        add: bool,
    );
}

/// Blocks of terms that are packed at a time.
const BLOCKS: usize = 2;
/// Panels of the right factor that are packed at a time.
const GROUP: usize = 8;
/// Terms that are packed of one panel of a group before those of the next, where columns are neighbours in memory: then as many rows are read on,
/// each in order.
const RUN: usize = 32;

/// Bytes of scratch memory for a product of so many rows, columns and terms: the left factor's panels, a group of the right factor's, and the sums.
pub fn scratch_bytes<T: Copy, K: Kernel<T>>(sizes: [usize; 3]) -> usize {
    parts::<T, K>(sizes)
        .into_iter()
        .fold(0, usize::saturating_add)
}

fn parts<T: Copy, K: Kernel<T>>([m, n, k]: [usize; 3]) -> [usize; 3] {
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
    ]
}

/// Multiplies rows by columns; gives sums to `store`, panel after panel of 32 columns and `TALL` rows, with the number of the first row and column and of
/// rows and columns. False where the kernel cannot multiply these factors: then what was stored is not the product.
///
/// # Safety
/// The elements are there; the scratch memory is as large as [`scratch_bytes`] says, and aligned for vectors.
pub unsafe fn product<T: Copy, K: Kernel<T>>(
    kernel: &mut K,
    [left, right]: [Lines<T>; 2],
    scratch: *mut u8,
    mut store: impl FnMut([usize; 2], [usize; 2], *const f32),
) -> bool {
    let (m, n, k) = (left.lines, right.lines, left.terms);
    let [left_bytes, right_bytes, _] = parts::<T, K>([m, n, k]);
    let right_place = scratch.wrapping_add(left_bytes);
    let sums = right_place.wrapping_add(right_bytes).cast::<f32>();
    let (most, panel) = (BLOCKS * K::TERMS, K::TALL * WIDE);
    for outer in (0..k.max(1)).step_by(most) {
        let [left, right] = [left, right].map(|lines| lines.terms(outer, most));
        let terms = left.terms;
        let bytes = K::panel_bytes(terms);
        for (group, column) in (0..n).step_by(GROUP * WIDE).enumerate() {
            let own = right.lines(column, GROUP * WIDE);
            let run = if own.strides[0] == 1 { RUN } else { most };
            for begin in (0..terms).step_by(run) {
                for (j, first) in (0..own.lines).step_by(WIDE).enumerate() {
                    let to = right_place.wrapping_add(j * bytes[1] + K::panel_bytes(begin)[1]);
                    // SAFETY: the caller's word; the scratch memory has room for a group.
                    if !unsafe { kernel.pack(1, own.lines(first, WIDE).terms(begin, run), to) } {
                        return false;
                    }
                }
            }
            for (i, row) in (0..m).step_by(K::TALL).enumerate() {
                let rows = K::TALL.min(m - row);
                let a = scratch.wrapping_add(i * bytes[0]);
                // SAFETY: as above, for all panels.
                if group == 0 && !unsafe { kernel.pack(0, left.lines(row, K::TALL), a) } {
                    return false;
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
                    for j in 0..own.lines.div_ceil(WIDE) {
                        let (a, b) = (
                            a.wrapping_add(past_a),
                            right_place.wrapping_add(j * bytes[1] + past_b),
                        );
                        let sums = sums.wrapping_add(j * panel);
                        // SAFETY: both panels were packed, and the sums have room.
                        unsafe { kernel.multiply(rows, count, a, &[b], sums, outer + from > 0) };
                    }
                }
                if outer + terms == k {
                    store([row, column], [rows, own.lines], sums);
                }
            }
        }
    }
    true
}
