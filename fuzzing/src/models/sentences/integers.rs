//! Integers: quantization, bits, masks, indices.

use fuser_ir::DType;

use super::{Sentence, row};
use crate::models::program::{Data, V};
use crate::models::types::Dim;
use crate::models::writer::Writer;

pub const ALL: &[Sentence] = &[
    row("quantize", 4, quantize),
    row("dequantize", 4, dequantize),
    row("quantized sums", 2, quantized_sums),
    row("image", 2, image),
    row("nibbles", 2, nibbles),
    row("hash", 3, hash),
    row("masks", 4, masks),
    row("indices", 3, indices),
    row("integer arithmetic", 4, arithmetic),
    row("integer reductions", 3, reductions),
    row("bits of floats", 3, bits),
    row("casts", 4, casts),
];

/// Integers of the pool, or new ones.
fn integers(w: &mut Writer, dtype: DType, data: Data) -> V {
    let fits = |v: &V| {
        let ty = w.ty(*v);
        ty.dtype == dtype && ty.rank() > 0 && !ty.is_vague()
    };
    let found: Vec<V> = w.pool.iter().copied().filter(fits).collect();
    if !found.is_empty() && w.maybe(2) {
        return found[w.source.index(found.len())];
    }
    let rank = 1 + w.source.index(3);
    let dims = w.shape(rank);
    w.input("n", dtype, dims, data)
}

fn any_integer(w: &mut Writer) -> DType {
    let whole = |dtype: &DType| dtype.is_int() && *dtype != DType::I1;
    let all: Vec<DType> = DType::REAL.into_iter().filter(whole).collect();
    w.source.one(&all)
}

/// `clamp(round(x / scale) + zero)` as i8 or ui8.
fn quantize(w: &mut Writer) -> Option<()> {
    let x = w.pick_wide(1);
    let scale = w.scalar(0.03125, w.dtype_of(x));
    let scaled = match w.maybe(2) {
        true => w.bin("div", x, scale),
        false => w.with("mul", x, 32.0),
    };
    let rounded = w.un("round", scaled);
    let (to, low, high, zero) = match w.maybe(2) {
        true => (DType::I8, -128.0, 127.0, 3.0),
        false => (DType::U8, 0.0, 255.0, 128.0),
    };
    let shifted = w.with("add", rounded, zero);
    let limited = w.clamp(shifted, low, high);
    let q = w.cast(limited, to);
    w.offer(q);
    if w.maybe(2) {
        let back = w.cast(q, w.dtype_of(x));
        let centered = w.with("sub", back, zero);
        let y = w.with("mul", centered, 0.03125);
        w.offer(y);
    }
    Some(())
}

fn dequantize(w: &mut Writer) -> Option<()> {
    let of = w.source.one(&[DType::I8, DType::U8]);
    let q = integers(w, of, Data::Full);
    let to = w.dtype;
    let wide = w.cast(q, DType::I32);
    let zero = w.constant(if of == DType::I8 { -3.0 } else { 128.0 }, DType::I32);
    let centered = w.bin("sub", wide, zero);
    let f = w.cast(centered, to);
    w.expect(f, -256.0, 256.0);
    let last = w.last(f);
    let scale = match w.maybe(2) {
        true => w.along("scale", f, last, 0.01, 0.1),
        false => w.scalar(0.0625, to),
    };
    let y = w.bin("mul", f, scale);
    w.expect(y, -26.0, 26.0);
    w.offer(y);
    Some(())
}

/// Products of i8 summed in i32, as a quantized layer does it.
fn quantized_sums(w: &mut Writer) -> Option<()> {
    let a = integers(w, DType::I8, Data::Full);
    let last = w.last(a);
    let dims: Vec<Dim> = w.dims(a).iter().map(Dim::plain).collect();
    let b = w.input("w", DType::I8, dims, Data::Full);
    let (a, b) = (w.cast(a, DType::I32), w.cast(b, DType::I32));
    let p = w.bin("mul", a, b);
    let sum = w.reduce("sum", p, &[last], false);
    w.offer(sum);
    let f = w.cast(sum, DType::F32);
    let y = w.with("mul", f, 1.0 / 1024.0);
    w.expect(y, -16384.0, 16384.0);
    w.offer(y);
    Some(())
}

/// Bytes as numbers from -1 to 1.
fn image(w: &mut Writer) -> Option<()> {
    let x = integers(w, DType::U8, Data::Full);
    let to = w.dtype;
    let f = w.cast(x, to);
    w.expect(f, 0.0, 255.0);
    let y = w.with("div", f, 127.5);
    let y = w.with("sub", y, 1.0);
    w.offer(y);
    Some(())
}

fn nibbles(w: &mut Writer) -> Option<()> {
    let x = integers(w, DType::U8, Data::Full);
    let low = w.with("and", x, 15.0);
    let high = w.with("shr", x, 4.0);
    let last = w.last(x);
    let both = w.cat(&[low, high], last);
    w.offer(both);
    let raised = w.with("shl", high, 4.0);
    let again = w.bin("or", raised, low);
    w.offer(again);
    Some(())
}

/// Shifts, multiplications and exclusive ors, as random numbers are made.
fn hash(w: &mut Writer) -> Option<()> {
    let (of, factor) = w.source.one(&[
        (DType::I32, 73_244_475.0),
        (DType::I64, 73_244_475.0),
        (DType::U64, 73_244_475.0),
        (DType::U32, 73_244_475.0),
        (DType::U16, 40_503.0),
        (DType::U8, 167.0),
    ]);
    let x = integers(w, of, Data::Full);
    let count = w.source.one(&[1.0, 3.0, 5.0]);
    let shifted = w.with("shr", x, count);
    let mixed = w.bin("xor", x, shifted);
    let odd = w.with("mul", mixed, factor);
    let up = w.with("shl", odd, 2.0);
    let y = w.bin("add", up, odd);
    let counts = w.with("and", y, 7.0);
    let z = w.bin("shl", x, counts);
    w.offer(y);
    w.offer(z);
    Some(())
}

fn masks(w: &mut Writer) -> Option<()> {
    let x = w.pick(1);
    let a = w.compare_with("gt", x, -0.5);
    let b = w.compare_with("lt", x, 0.5);
    let both = w.bin("and", a, b);
    let dims: Vec<Dim> = w.dims(x).iter().map(Dim::plain).collect();
    let given = w.input("m", DType::I1, dims, Data::Whole(0, 1));
    let name = w.source.one(&["or", "and", "xor"]);
    let mixed = w.bin(name, both, given);
    let not = w.un("not", mixed);
    w.offer(not);
    let dtype = w.dtype_of(x);
    let other = w.constant(0.0, dtype);
    let y = w.choose(mixed, x, other);
    w.offer(y);
    Some(())
}

/// Row-major positions computed from indices, their quotients by a constant, and a mask of the multiples.
fn indices(w: &mut Writer) -> Option<()> {
    let of = w.source.one(&[DType::I64, DType::I32, DType::Index]);
    let dims = w.shape(2);
    let (rows, columns) = (w.iota(0, &dims, of), w.iota(1, &dims, of));
    let n = w.count(&dims[1..]);
    let n = w.cast(n, of);
    let row_start = w.bin("mul", rows, n);
    let flat = w.bin("add", row_start, columns);
    w.offer(flat);
    let k = w.source.one(&[1.0, 3.0, 8.0]);
    let (q, r) = (w.with("div", flat, k), w.with("rem", flat, k));
    w.offer(q);
    let even = w.compare_with("eq", r, 0.0);
    w.offer(even);
    Some(())
}

fn arithmetic(w: &mut Writer) -> Option<()> {
    let dtype = any_integer(w);
    let data = if w.maybe(2) {
        Data::Full
    } else {
        Data::Whole(0, 9)
    };
    let x = integers(w, dtype, data);
    let dims: Vec<Dim> = w.dims(x).iter().map(Dim::plain).collect();
    let y = w.input("k", dtype, dims, data);
    let mut last = x;
    for _ in 0..2 + w.source.below(4) {
        let name = w.source.one(&[
            "add",
            "sub",
            "mul",
            "div",
            "rem",
            "remainder",
            "gcd",
            "maximum",
            "minimum",
            "and",
            "or",
            "xor",
            "shl",
            "shr",
            "lshr",
        ]);
        last = match w.maybe(2) {
            true => w.bin(name, last, y),
            false => w.bin(name, y, last),
        };
        if w.maybe(3) {
            let name = w.source.one(&["neg", "abs", "sign", "relu", "not"]);
            last = w.un(name, last);
        }
    }
    let last = match w.maybe(3) {
        true => w.clamp(last, 1.0, 100.0),
        false => last,
    };
    w.offer(last);
    let predicate = w.source.one(&["lt", "le", "gt", "ge", "eq", "ne"]);
    let c = w.compare(predicate, x, last);
    w.offer(c);
    Some(())
}

fn reductions(w: &mut Writer) -> Option<()> {
    let dtype = any_integer(w);
    let x = integers(w, dtype, Data::Full);
    let dims = w.some_dims(x);
    let name = w.source.one(&["sum", "max", "min", "prod"]);
    let keepdim = w.maybe(2);
    let r = w.reduce(name, x, &dims, keepdim);
    w.offer(r);
    if w.maybe(2) {
        let again = w.spread(r, x, &dims);
        let y = w.bin("sub", x, again);
        w.offer(y);
    }
    Some(())
}

/// The magnitude and the sign of a float by its bits.
fn bits(w: &mut Writer) -> Option<()> {
    let rank = 1 + w.source.index(2);
    let dims = w.shape(rank);
    let (of, to) = match w.maybe(3) {
        true => (DType::F64, DType::I64),
        false => (DType::F32, DType::I32),
    };
    let x = w.input("x", of, dims, Data::Reals(-4.0, 4.0));
    let n = w.bitcast(x, to);
    let sign = w.with("shr", n, if to == DType::I64 { 63.0 } else { 31.0 });
    w.offer(sign);
    let y = match w.maybe(2) {
        true => {
            let up = w.with("shl", n, 1.0);
            w.with("shr", up, 1.0)
        }
        false => w.with("xor", n, 1.0),
    };
    let y = w.bitcast(y, of);
    w.expect(y, -1e3, 1e3);
    w.offer(y);
    Some(())
}

/// A chain of conversions.
fn casts(w: &mut Writer) -> Option<()> {
    let mut x = match w.maybe(3) {
        true => {
            let dtype = any_integer(w);
            integers(w, dtype, Data::Full)
        }
        false => w.pick(1),
    };
    const LAST: DType = DType::F4E2M1FN;
    let others: Vec<DType> = DType::REAL.into_iter().filter(|d| *d != LAST).collect();
    for _ in 0..1 + w.source.below(4) {
        let to = w.source.one(&others);
        x = w.cast(x, to);
    }
    if w.maybe(4) {
        x = w.cast(x, LAST);
    }
    w.offer(x);
    Some(())
}
