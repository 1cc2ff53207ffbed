//! Transposition of squares of vectors in registers.
//!
//! ```text
//! a0 a1 a2 a3        a0 b0 c0 d0
//! b0 b1 b2 b3   =>   a1 b1 c1 d1      by shuffles of two registers, log2 n for each of n vectors
//! c0 c1 c2 c3        a2 b2 c2 d2
//! d0 d1 d2 d3        a3 b3 c3 d3
//! ```
//!
//! Elements change places with rows by interleaving within parts of sixteen bytes, which every x86 does in one instruction, then these parts
//! as wholes; each step turns the digits of row and place by one (the perfect shuffle: Stone, "Parallel Processing with the Perfect Shuffle",
//! 1971). Vectors that exceed a register are taken in quarters of the square. Never moves data through memory by itself.

use super::Val;

/// Bits of a part.
const PART: u32 = 128;

/// Transposes a square matrix given by rows: as many vectors as each has lanes, a power of two.
pub fn transposed<'e, 'ctx>(mut rows: Vec<Val<'e, 'ctx>>) -> Vec<Val<'e, 'ctx>> {
    let count = rows.len() as u32;
    let Some(first) = rows.first().filter(|_| count > 1) else {
        return rows;
    };
    let (bits, register) = (first.elem().bits(), first.emit().register_bits());
    if bits == 1 {
        // As bytes, which they are in memory: masks have no shuffles.
        let bytes = rows.into_iter().map(|row| row.zext_or_trunc(8)).collect();
        let columns = transposed(bytes).into_iter();
        return columns.map(|column| column.zext_or_trunc(1)).collect();
    }
    if count * bits > register {
        return by_quarters(&rows);
    }
    let part = (PART / bits).clamp(1, count);
    let parts = count / part;
    // Neighbours in a result come from two rows half of a part's rows apart.
    for _ in 0..part.ilog2() {
        let lane =
            |half: u32, at: u32| at / part * part + (half * part + at % part) / 2 + at % 2 * count;
        let pairs = (0..count / 2).map(|i| {
            let from = i / (part / 2) * part + i % (part / 2);
            [from, from + part / 2, 2 * i, 2 * i + 1]
        });
        rows = step(&rows, pairs, lane);
    }
    // The even parts of two rows make a result, and the odd ones.
    for _ in 0..parts.ilog2() {
        let lane = |half: u32, at: u32| (2 * (at / part) + half) * part + at % part;
        let pairs = (0..count / 2).map(|i| {
            let from = i / part * 2 * part + i % part;
            [from, from + part, i, i + count / 2]
        });
        rows = step(&rows, pairs, lane);
    }
    rows
}

/// Shuffles pairs of rows into new pairs: the first result takes the lanes `lane(0, ..)` of both rows, the second the
/// lanes `lane(1, ..)`.
fn step<'e, 'ctx>(
    rows: &[Val<'e, 'ctx>],
    pairs: impl Iterator<Item = [u32; 4]>,
    lane: impl Fn(u32, u32) -> u32,
) -> Vec<Val<'e, 'ctx>> {
    let [first, second] = [0, 1].map(|half| {
        let lanes = 0..rows.len() as u32;
        lanes.map(|at| lane(half, at)).collect::<Vec<_>>()
    });
    let mut made = rows.to_vec();
    for pair in pairs {
        let [a, b, to, other] = pair.map(|row| row as usize);
        made[to] = rows[a].shuffle_with(rows[b], &first);
        made[other] = rows[a].shuffle_with(rows[b], &second);
    }
    made
}

/// As [`transposed`], of a square of which a row takes several registers.
fn by_quarters<'e, 'ctx>(rows: &[Val<'e, 'ctx>]) -> Vec<Val<'e, 'ctx>> {
    let half = rows.len() / 2;
    let quarter = |from: usize, lanes: usize| {
        let rows = rows[from..][..half].iter();
        transposed(
            rows.map(|row| row.slice(lanes as u32, half as u32))
                .collect(),
        )
    };
    let columns = [0, half].map(|lanes| {
        let (upper, lower) = (quarter(0, lanes), quarter(half, lanes));
        let both = upper.into_iter().zip(lower);
        both.map(|(a, b)| a.concat(b)).collect::<Vec<_>>()
    });
    columns.concat()
}
