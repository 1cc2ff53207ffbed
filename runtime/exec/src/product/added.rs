//! A tensor that is added to the sums of a product: each call multiplies a tile into scratch memory and adds it from
//! there, while it is in the cache.

use std::ops::Add;

/// The elements of a tile: their addresses, and the steps from row to row and from column to column.
#[derive(Clone, Copy, Debug)]
pub struct Elements<P> {
    pub first: P,
    pub steps: [usize; 2],
}

/// The steps of a tile of these sizes in scratch memory, with neighbours where the result has some.
pub fn steps([rows, columns]: [usize; 2], result: [usize; 2]) -> [usize; 2] {
    match result {
        [1, across] if across != 1 => [1, rows],
        _ => [columns, 1],
    }
}

/// Stores `c + tile` for all rows and columns.
///
/// # Safety
/// The elements are there. `c` is the result itself or apart from it, and the tile is apart from both.
pub unsafe fn add<T: Copy + Add<Output = T>>(
    sizes: [usize; 2],
    tile: Elements<*const T>,
    c: Elements<*const T>,
    result: Elements<*mut T>,
) {
    let inner = usize::from(tile.steps[1] == 1);
    let [outer, length] = [sizes[1 - inner], sizes[inner]];
    let near = [tile.steps[inner], c.steps[inner], result.steps[inner]];
    let far = [tile.steps, c.steps, result.steps].map(|steps| steps[1 - inner]);
    for line in 0..outer {
        let tile = tile.first.wrapping_add(line * far[0]);
        let c = c.first.wrapping_add(line * far[1]);
        let result = result.first.wrapping_add(line * far[2]);
        if near == [1; 3] {
            // SAFETY: the caller's word.
            let (tile, made) = unsafe {
                (
                    std::slice::from_raw_parts(tile, length),
                    std::slice::from_raw_parts_mut(result, length),
                )
            };
            if std::ptr::eq(c, made.as_ptr()) {
                made.iter_mut()
                    .zip(tile)
                    .for_each(|(made, x)| *made = *made + *x);
                continue;
            }
            // SAFETY: the caller's word.
            let c = unsafe { std::slice::from_raw_parts(c, length) };
            let pairs = c.iter().zip(tile);
            made.iter_mut()
                .zip(pairs)
                .for_each(|(made, (c, x))| *made = *c + *x);
            continue;
        }
        for at in 0..length {
            // SAFETY: the caller's word.
            unsafe {
                let sum = *c.wrapping_add(at * near[1]) + *tile.wrapping_add(at * near[0]);
                result.wrapping_add(at * near[2]).write(sum);
            }
        }
    }
}
