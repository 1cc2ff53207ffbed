//! Philox 4x32-10: 32 random bits of a counter and a key, in integer instructions.

use crate::expr::Val;

const ROUNDS: usize = 10;
const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const INCREMENTS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// The words of a block, for 64-bit `index`, `seed` and `offset`. The code of unused words is dead and disappears.
///
/// Words of vectors stay in lanes of 64 bits, whose upper halves hold anything: a product then is one `vpmuludq`, and
/// its halves are the product and a shift of it.
pub fn block<'e, 'ctx>(
    index: Val<'e, 'ctx>,
    seed: Val<'e, 'ctx>,
    offset: Val<'e, 'ctx>,
) -> [Val<'e, 'ctx>; 4] {
    let bits = if index.lanes().is_some() { 64 } else { 32 };
    let halves = |wide: Val<'e, 'ctx>| [wide, wide.lshr(32)].map(|half| half.zext_or_trunc(bits));
    let product = |word: Val<'e, 'ctx>, multiplier: u32| {
        let word = word.zext_or_trunc(64).and(i64::from(u32::MAX));
        halves(word * i64::from(multiplier))
    };
    let ([mut x, mut y], [mut z, mut w]) = (halves(index), halves(offset));
    let mut key = halves(seed);
    for _ in 0..ROUNDS {
        let ([low_x, high_x], [low_z, high_z]) =
            (product(x, MULTIPLIERS[0]), product(z, MULTIPLIERS[1]));
        x = high_z.xor(y).xor(key[0]);
        z = high_x.xor(w).xor(key[1]);
        (y, w) = (low_z, low_x);
        key = [0, 1].map(|k: usize| key[k] + i64::from(INCREMENTS[k] as i32));
    }
    [x, y, z, w].map(|word| word.zext_or_trunc(32))
}
