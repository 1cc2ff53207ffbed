//! Random bits by XLA's generators from a state, `stablehlo.rng_bit_generator`: Philox 4x32-10, the default, and
//! Threefry 2x32.
//!
//! The state is a key and a counter of 64 bits. In a block of Philox, the upper half of the counter also comes from the
//! key, as in XLA if the state has no third word. The counter counts blocks, and carries into that half.

use fuser_dialects::fusion::{self, build::FusionBuilder};
use fuser_ir::Value;
use fuser_ir::types::{DType, Dim};

use super::Importer;
use super::bits;
use super::op::{Reading, atom};
use super::ops::bitcast_to;
use super::shape::{extents, lengths};
use crate::codes::UNSUPPORTED;
use crate::program::{Draft, Fault, Made};

/// The rotations of Threefry 2x32, in turn four and four.
const ROTATIONS: [[i64; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
/// The constant of the third word of a key of Threefry.
const PARITY: i64 = 0x1BD1_1BDA;

/// The shape and type of the bits to draw.
struct Draw {
    shape: Vec<i64>,
    count: i64,
    dtype: DType,
}

/// `stablehlo.rng_bit_generator`: the state afterwards, and the bits.
pub fn rng_bit_generator(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let state = r.operand(0)?;
    let words = lengths(&im.draft, state);
    let [_, bits] = r.outputs.as_slice() else {
        return Err(Fault::form("has other than two results"));
    };
    let tensor = im.draft.ir.ty(*bits).as_tensor().cloned();
    let tensor = tensor.ok_or_else(|| Fault::form("states no tensor of bits"))?;
    let shape: Vec<i64> = super::shape::known(&tensor.dims);
    let count = shape.iter().copied().try_fold(1i64, i64::checked_mul);
    let count = count.filter(|count| *count < 1 << 48);
    let draw = Draw {
        count: count.ok_or_else(|| Fault::form("draws too many bits"))?,
        shape,
        dtype: tensor.dtype,
    };
    let narrow = [DType::U8, DType::U16, DType::U32, DType::U64];
    let other = || Fault::form("has a state or bits of other types than JAX gives them");
    let unsigned = narrow.into_iter().find(|u| u.bits() == draw.dtype.bits());
    let unsigned = unsigned.filter(|_| draw.dtype.is_int()).ok_or_else(other)?;
    if im.draft.dtype(state) != DType::U64 || !matches!(words.as_slice(), [2 | 3]) {
        return Err(other());
    }
    let algorithm = r.attr(&["algorithm", "rng_algorithm"]).and_then(atom);
    let algorithm = algorithm.map_or("", |span| r.text(span).trim_end_matches('>'));
    let draft = &mut im.draft;
    let mut parts = Vec::new();
    for at in 0..words[0] {
        let word = super::index::index_part(draft, state, 0, at as usize)?;
        parts.push(draft.reshape(word, &[])?);
    }
    let (next, bits) = match algorithm.split(' ').next_back() {
        Some("DEFAULT" | "PHILOX") => philox(draft, &parts, &draw)?,
        Some("THREE_FRY") if parts.len() == 2 => threefry(draft, [parts[0], parts[1]], &draw)?,
        _ => {
            let fault = Fault::new(&UNSUPPORTED, "draws by an algorithm that is not known");
            return Err(fault.help("`DEFAULT`, `PHILOX` and `THREE_FRY` are read"));
        }
    };
    let bits = draft.reshape(bits, &extents(&draw.shape))?;
    let bits = draft.cast(bits, unsigned)?;
    let bits = bitcast_to(draft, bits, draw.dtype)?;
    let mut line = Vec::new();
    for word in next {
        line.push(draft.reshape(word, &extents(&[1]))?);
    }
    Ok(vec![joined(draft, &line, 0)?, bits])
}

/// The values concatenated along an axis.
fn joined(draft: &mut Draft, values: &[Value], dim: i64) -> Made {
    let mut b = draft.builder();
    let clause = [b.int("dim", dim)];
    Ok(b.value(&fusion::CAT, values, &clause)?)
}

/// 0, 1, ... of `count`, as `u64`.
fn steps(draft: &mut Draft, count: i64) -> Made {
    let mut b = draft.builder();
    let clauses = [
        b.int("dim", 0),
        b.shape("shape", &[Dim::fixed(count as u64)]),
        b.dtype("of", DType::U64),
    ];
    Ok(b.value(&fusion::IOTA, &[], &clauses)?)
}

/// An op of a value and an integer of its type.
fn with(draft: &mut Draft, def: &'static fuser_ir::def::OpDef, x: Value, number: i64) -> Made {
    let dtype = draft.dtype(x);
    let ty = draft.ir.scalar(dtype);
    let number = draft.builder().constant_int(number, ty)?;
    draft.make(def, &[x, number])
}

/// `low + step` for the lower half of a counter, and the upper half plus the carry.
fn counted(draft: &mut Draft, [low, high]: [Value; 2], step: Value) -> Made<[Value; 2]> {
    let sum = draft.make(&fusion::ADD, &[low, step])?;
    let carried = draft.builder().compare("lt", sum, low)?;
    let carried = draft.cast(carried, DType::U64)?;
    Ok([sum, draft.make(&fusion::ADD, &[high, carried])?])
}

/// The next state, and a line of bits: blocks of four words, two of which, the lower first, form 64 bits.
fn philox(draft: &mut Draft, state: &[Value], draw: &Draw) -> Made<(Vec<Value>, Value)> {
    let (key, low) = (state[0], state[1]);
    let high = *state.get(2).unwrap_or(&key);
    let wide = draw.dtype.bits() == 64;
    let words = if wide { draw.count * 2 } else { draw.count };
    let blocks = words / 4 + i64::from(words % 4 != 0);
    let step = steps(draft, blocks)?;
    let [index, offset] = counted(draft, [low, high], step)?;
    let mut operands = [index, key, offset];
    for operand in &mut operands {
        *operand = bitcast_to(draft, *operand, DType::I64)?;
    }
    let mut block = Vec::new();
    for word in ["x", "y", "z", "w"] {
        let mut b = draft.builder();
        let clause = [b.word("word", word)];
        let made = b.value(&fusion::PHILOX, &operands, &clause)?;
        let made = bitcast_to(draft, made, DType::U32)?;
        block.push(draft.reshape(made, &extents(&[blocks, 1]))?);
    }
    let line = joined(draft, &block, 1)?;
    let line = draft.reshape(line, &extents(&[blocks * 4]))?;
    let line = super::shape::part(draft, line, &[0], &[words], &[1])?;
    let bits = match wide {
        true => {
            let pairs = draft.reshape(line, &extents(&[draw.count, 2]))?;
            bits::bitcast(draft, pairs, DType::U64)?
        }
        false => line,
    };
    let scalar = draft.ir.scalar(DType::U64);
    let blocks = draft.builder().constant_int(blocks, scalar)?;
    let [low, high] = counted(draft, [low, high], blocks)?;
    let next = [key, low, high].into_iter().take(state.len()).collect();
    Ok((next, bits))
}

/// The next state, and the bits. A counter gives two words: the halves of 64 bits, or neighbors along the first axis of
/// even length, else along the longest axis.
fn threefry(draft: &mut Draft, [key, low]: [Value; 2], draw: &Draw) -> Made<(Vec<Value>, Value)> {
    let wide = draw.dtype.bits() == 64;
    let even = draw.shape.iter().position(|length| length % 2 == 0);
    let longest = || {
        let most = draw.shape.iter().max()?;
        draw.shape.iter().position(|length| length == most)
    };
    let axis = even.or_else(longest).filter(|_| !wide);
    let mut halved = draw.shape.clone();
    if let Some(axis) = axis {
        halved[axis] = halved[axis] / 2 + halved[axis] % 2;
    }
    let count: i64 = halved.iter().product();
    let step = steps(draft, count)?;
    let counter = draft.make(&fusion::ADD, &[low, step])?;
    let [key_words, counter_words] = [key, counter].map(|value| halves(draft, value));
    let [a, b] = threefry_rounds(draft, key_words?, counter_words?)?;
    let bits = match axis {
        _ if wide => {
            let mut line = Vec::new();
            for half in [a, b] {
                line.push(draft.reshape(half, &extents(&[count, 1]))?);
            }
            let pairs = joined(draft, &line, 1)?;
            bits::bitcast(draft, pairs, DType::U64)?
        }
        None => a,
        Some(axis) => {
            let mut apart = halved.clone();
            apart.insert(axis + 1, 1);
            let mut line = Vec::new();
            for half in [a, b] {
                line.push(draft.reshape(half, &extents(&apart))?);
            }
            let pairs = joined(draft, &line, axis as i64 + 1)?;
            let mut whole = halved.clone();
            whole[axis] *= 2;
            let pairs = draft.reshape(pairs, &extents(&whole))?;
            let rank = whole.len();
            super::shape::part(draft, pairs, &vec![0; rank], &draw.shape, &vec![1; rank])?
        }
    };
    let next = with(draft, &fusion::ADD, low, count)?;
    Ok((vec![key, next], bits))
}

/// The lower and the upper half of 64 bits.
fn halves(draft: &mut Draft, x: Value) -> Made<[Value; 2]> {
    let high = with(draft, &fusion::LSHR, x, 32)?;
    Ok([draft.cast(x, DType::U32)?, draft.cast(high, DType::U32)?])
}

/// Threefry 2x32 of 20 rounds.
fn threefry_rounds(draft: &mut Draft, key: [Value; 2], counter: [Value; 2]) -> Made<[Value; 2]> {
    let third = draft.make(&fusion::XOR, &key)?;
    let third = with(draft, &fusion::XOR, third, PARITY)?;
    let keys = [key[0], key[1], third];
    let mut x = draft.make(&fusion::ADD, &[counter[0], keys[0]])?;
    let mut y = draft.make(&fusion::ADD, &[counter[1], keys[1]])?;
    for turn in 0..5 {
        for rotation in ROTATIONS[turn % 2] {
            x = draft.make(&fusion::ADD, &[x, y])?;
            let up = with(draft, &fusion::SHL, y, rotation)?;
            let down = with(draft, &fusion::LSHR, y, 32 - rotation)?;
            let turned = draft.make(&fusion::OR, &[up, down])?;
            y = draft.make(&fusion::XOR, &[turned, x])?;
        }
        x = draft.make(&fusion::ADD, &[x, keys[(turn + 1) % 3]])?;
        y = draft.make(&fusion::ADD, &[y, keys[(turn + 2) % 3]])?;
        y = with(draft, &fusion::ADD, y, turn as i64 + 1)?;
    }
    Ok([x, y])
}
