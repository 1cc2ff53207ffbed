//! Elementwise ops that are more than a row.

use fuser_ir::types::DType;
use fuser_ir::{AttrKind, Ir, Op, Value};

use super::apart::maker;
use super::{Form, Tensor, Writer, refuse};
use crate::program::Made;

/// The absolute value. Unsigned numbers are their own; StableHLO has no `abs` of them.
pub fn abs(w: &mut Writer<'_>, op: Op, _: &Form) -> Made<Tensor> {
    let x = w.operand(op, 0)?;
    Ok(match is_unsigned(x.dtype) {
        true => x,
        false => w.same("abs", &[&x]),
    })
}

/// The sign. StableHLO has no `sign` for unsigned integers; theirs is the lesser of the number and 1.
pub fn sign(w: &mut Writer<'_>, op: Op, _: &Form) -> Made<Tensor> {
    let x = w.operand(op, 0)?;
    if !is_unsigned(x.dtype) {
        return Ok(w.same("sign", &[&x]));
    }
    let one = w.like(1.0, &x);
    Ok(w.same("minimum", &[&x, &one]))
}

fn is_unsigned(dtype: DType) -> bool {
    dtype.is_int() && !dtype.is_signed()
}

pub fn trunc(w: &mut Writer<'_>, op: Op, _: &Form) -> Made<Tensor> {
    let x = w.operand(op, 0)?;
    let (up, down) = (w.same("ceil", &[&x]), w.same("floor", &[&x]));
    let zero = w.like(0.0, &x);
    let below = w.test("LT", &x, &zero);
    Ok(w.choice(&below, &up, &down))
}

/// A formula on operands in the computing type, with the result converted to the type of the op.
fn computed<const N: usize>(
    w: &mut Writer<'_>,
    op: Op,
    to: &Form,
    formula: impl Fn(&mut Writer<'_>, [&Tensor; N]) -> Tensor,
) -> Made<Tensor> {
    let operands = w.spread_operands(op, &to.shape)?;
    let operands: Vec<Tensor> = operands
        .iter()
        .map(|x| w.convert(x, x.dtype.compute()))
        .collect();
    let operands: Vec<&Tensor> = operands.iter().collect();
    let Ok(operands) = <[&Tensor; N]>::try_from(operands) else {
        return refuse("has another number of operands");
    };
    let made = formula(w, operands);
    Ok(w.convert(&made, to.dtype))
}

/// A function in the type that computes.
pub fn wide(w: &mut Writer<'_>, op: Op, to: &Form, name: &str) -> Made<Tensor> {
    computed(w, op, to, |w, [x]| w.same(name, &[x]))
}

/// A power of 2.
pub fn exp2(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    computed(w, op, to, |w, [x]| {
        let two = w.like(2.0, x);
        w.same("power", &[&two, x])
    })
}

/// A quotient of logarithms; exact where the operand is a power of two.
pub fn log2(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    computed(w, op, to, |w, [x]| {
        let quotient = over(w, x, std::f64::consts::LN_2);
        let whole = w.same("round_nearest_even", &[&quotient]);
        let two = w.like(2.0, x);
        let power = w.same("power", &[&two, &whole]);
        let exact = w.test("EQ", &power, x);
        w.choice(&exact, &whole, &quotient)
    })
}

pub fn log10(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    computed(w, op, to, |w, [x]| over(w, x, std::f64::consts::LN_10))
}

/// The logarithm over a number.
fn over(w: &mut Writer<'_>, x: &Tensor, divisor: f64) -> Tensor {
    let log = w.same("log", &[x]);
    let divisor = w.like(divisor, x);
    w.same("divide", &[&log, &divisor])
}

/// A square root and a division, each rounded. XLA's `rsqrt` is an approximation, and XLA also forms it from the two
/// ops unless a barrier separates them.
pub fn rsqrt(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    computed(w, op, to, |w, [x]| {
        let (root, one) = (w.same("sqrt", &[x]), w.like(1.0, x));
        let root = w.kept(&root);
        w.same("divide", &[&one, &root])
    })
}

pub fn reciprocal(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    computed(w, op, to, |w, [x]| {
        let one = w.like(1.0, x);
        w.same("divide", &[&one, x])
    })
}

pub fn silu(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    computed(w, op, to, |w, [x]| {
        let gate = w.same("logistic", &[x]);
        w.same("multiply", &[x, &gate])
    })
}

pub fn relu(w: &mut Writer<'_>, op: Op, _: &Form) -> Made<Tensor> {
    let x = w.operand(op, 0)?;
    let zero = w.like(0.0, &x);
    Ok(w.same("maximum", &[&x, &zero]))
}

/// A function computed in f64, because XLA's f32 version exceeds the error bound of its definition here.
pub fn in_f64(w: &mut Writer<'_>, op: Op, name: &str) -> Made<Tensor> {
    let x = w.operand(op, 0)?;
    let wide = w.convert(&x, DType::F64);
    let made = w.same(name, &[&wide]);
    Ok(w.convert(&made, x.dtype))
}

pub fn isnan(w: &mut Writer<'_>, op: Op, _: &Form) -> Made<Tensor> {
    let x = w.operand(op, 0)?;
    Ok(w.test("NE", &x, &x))
}

/// For complex numbers: true if both parts are finite.
pub fn isfinite(w: &mut Writer<'_>, op: Op, _: &Form) -> Made<Tensor> {
    let x = w.operand(op, 0)?;
    if !x.dtype.is_complex() {
        return Ok(w.call("is_finite", &[&x], DType::I1));
    }
    let halves = ["real", "imag"].map(|half| {
        let half = w.call(half, &[&x], x.dtype.part());
        w.call("is_finite", &[&half], DType::I1)
    });
    Ok(w.same("and", &[&halves[0], &halves[1]]))
}

/// A quotient. StableHLO leaves two integer cases undefined: division by zero, which gives 0 here, and the least number
/// by -1.
pub fn div(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    let all = w.spread_operands(op, &to.shape)?;
    let [x, y] = pair(&all)?;
    let Some(guard) = guard(w, op, y) else {
        return Ok(w.same("divide", &[x, y]));
    };
    let mut quotient = w.same("divide", &[x, &guard.divisor]);
    if let Some(turns) = &guard.turns {
        let negative = w.same("negate", &[x]);
        quotient = w.choice(turns, &negative, &quotient);
    }
    Ok(w.choice(&guard.nothing, &guard.zero, &quotient))
}

/// A remainder; of integers by zero the first operand.
pub fn rem(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    let all = w.spread_operands(op, &to.shape)?;
    let [x, y] = pair(&all)?;
    Ok(remainder_of(w, op, x, y))
}

fn remainder_of(w: &mut Writer<'_>, op: Op, x: &Tensor, y: &Tensor) -> Tensor {
    match guard(w, op, y) {
        None => w.same("remainder", &[x, y]),
        Some(guard) => {
            let rest = w.same("remainder", &[x, &guard.divisor]);
            w.choice(&guard.nothing, x, &rest)
        }
    }
}

/// A remainder, plus the divisor if their signs differ.
pub fn remainder(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    computed(w, op, to, |w, [x, y]| {
        let rest = remainder_of(w, op, x, y);
        let zero = w.like(0.0, x);
        let (below, turned) = (w.test("LT", &rest, &zero), w.test("LT", y, &zero));
        let differ = w.test("NE", &below, &turned);
        let some = w.test("NE", &rest, &zero);
        let added = w.same("and", &[&differ, &some]);
        let sum = w.same("add", &[&rest, y]);
        w.choice(&added, &sum, &rest)
    })
}

fn pair(all: &[Tensor]) -> Made<[&Tensor; 2]> {
    match all {
        [x, y] => Ok([x, y]),
        _ => refuse("has not two operands"),
    }
}

/// A divisor that is safe for every integer, and the positions where it differs from the op's divisor.
struct Guard {
    divisor: Tensor,
    zero: Tensor,
    /// It was 0.
    nothing: Tensor,
    /// It was -1; none where it cannot be.
    turns: Option<Tensor>,
}

/// The guard for an op that divides integers by `y`; `None` for floats, and if no element of `y` can be 0 or -1.
fn guard(w: &mut Writer<'_>, op: Op, y: &Tensor) -> Option<Guard> {
    let own = w.ir.operands(op).nth(1)?;
    if !y.dtype.is_int() || is_plain_divisor(w.ir, own) {
        return None;
    }
    let (zero, one) = (w.like(0.0, y), w.like(1.0, y));
    let nothing = w.test("EQ", y, &zero);
    let turns = y.dtype.is_signed().then(|| {
        let minus = w.like(-1.0, y);
        w.test("EQ", y, &minus)
    });
    let odd = match &turns {
        Some(turns) => w.same("or", &[&nothing, turns]),
        None => nothing.clone(),
    };
    let divisor = w.choice(&odd, &one, y);
    Some(Guard {
        divisor,
        zero,
        nothing,
        turns,
    })
}

/// True if a value is a constant without an element 0 or -1.
fn is_plain_divisor(ir: &Ir, value: Value) -> bool {
    let constant = maker(ir, value).and_then(|op| ir.attr_of(op, "value"));
    match constant {
        Some(AttrKind::Int { value, .. }) => !matches!(value, 0 | -1),
        Some(AttrKind::Dense { bytes, dtype, .. }) => {
            let odd = |element: &[u8]| [0, 0xFF].iter().any(|odd| element.iter().all(|b| b == odd));
            !bytes.chunks(dtype.bytes().max(1) as usize).any(odd)
        }
        _ => false,
    }
}

/// The other operand where one is NaN.
pub fn without_nan(w: &mut Writer<'_>, op: Op, to: &Form, name: &str) -> Made<Tensor> {
    let all = w.spread_operands(op, &to.shape)?;
    let [x, y] = pair(&all)?;
    let extreme = w.same(name, &[x, y]);
    let (x_nan, y_nan) = (w.test("NE", x, x), w.test("NE", y, y));
    let known = w.choice(&y_nan, x, &extreme);
    Ok(w.choice(&x_nan, y, &known))
}

/// A right shift. For unsigned numbers it fills with zeros, where StableHLO's arithmetic shift would fill with the
/// upper bit.
pub fn shr(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    let all = w.spread_operands(op, &to.shape)?;
    let [x, y] = pair(&all)?;
    let name = match is_unsigned(x.dtype) {
        true => "shift_right_logical",
        false => "shift_right_arithmetic",
    };
    Ok(w.same(name, &[x, y]))
}

pub fn compare(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    let all = w.spread_operands(op, &to.shape)?;
    let [x, y] = pair(&all)?;
    let predicate = w.ir.str_of(op, "predicate").unwrap_or("eq");
    Ok(w.test(&predicate.to_ascii_uppercase(), x, y))
}

pub fn choice(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    let all = w.spread_operands(op, &to.shape)?;
    match all.as_slice() {
        [condition, then, otherwise] => Ok(w.choice(condition, then, otherwise)),
        _ => refuse("has not three operands"),
    }
}

pub fn clamp(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    let all = w.spread_operands(op, &to.shape)?;
    match all.as_slice() {
        [x, low, high] => Ok(w.call("clamp", &[low, x, high], to.dtype)),
        _ => refuse("has not three operands"),
    }
}

/// A conversion. Before a conversion to a type without infinity, numbers are clamped, since ours saturates. Floats of 8
/// and 4 bits are converted to a computing type before conversions to integers and comparisons.
pub fn cast(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    const GREATEST: f64 = 448.0;
    let x = w.operand(op, 0)?;
    if x.dtype.is_storage() && to.dtype.is_int() {
        // The least f8E8M0FNU is a subnormal f32, which XLA takes for zero.
        let wide = match x.dtype {
            DType::F8E8M0FNU => DType::F64,
            _ => DType::F32,
        };
        let x = w.convert(&x, wide);
        return Ok(w.convert(&x, to.dtype));
    }
    if to.dtype != DType::F8E4M3FN || matches!(x.dtype, DType::I1 | DType::F8E4M3FN) {
        return Ok(w.convert(&x, to.dtype));
    }
    let own = match x.dtype.is_computed_float() {
        true => x.dtype,
        false => DType::F32,
    };
    let x = w.convert(&x, own);
    let [low, high] = [-GREATEST, GREATEST].map(|limit| w.number(limit, own));
    let limited = w.inner(&x.shape, own);
    w.emit(&limited, "stablehlo.clamp", &[&low, &x, &high], "");
    Ok(w.convert(&limited, to.dtype))
}

/// A word of Philox 4x32-10, as Random123 computes it.
pub fn philox(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    const ROUNDS: u32 = 10;
    const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
    const INCREMENTS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
    let all = w.spread_operands(op, &to.shape)?;
    let [index, seed, offset] = all.as_slice() else {
        return refuse("has not three operands");
    };
    let [c0, c1] = words(w, index);
    let [c2, c3] = words(w, offset);
    let (mut counter, mut key) = ([c0, c1, c2, c3], words(w, seed));
    for round in 0..ROUNDS {
        if round > 0 {
            key = [0, 1].map(|at| {
                let more = w.like(INCREMENTS[at].into(), &key[at]);
                w.same("add", &[&key[at], &more])
            });
        }
        let [a, b] = [0, 1].map(|at| {
            let x = w.convert(&counter[2 * at], DType::U64);
            let factor = w.like(MULTIPLIERS[at].into(), &x);
            let product = w.same("multiply", &[&x, &factor]);
            words(w, &product)
        });
        let [c1, c3] = [(&b, 0), (&a, 1)].map(|(product, at)| {
            let mixed = w.same("xor", &[&product[1], &counter[2 * at + 1]]);
            w.same("xor", &[&mixed, &key[at]])
        });
        let ([low_a, _], [low_b, _]) = (a, b);
        counter = [c1, low_b, c3, low_a];
    }
    let word = w.ir.str_of(op, "word").unwrap_or("x");
    let at = ["x", "y", "z", "w"].iter().position(|known| *known == word);
    Ok(w.call("bitcast_convert", &[&counter[at.unwrap_or(0)]], to.dtype))
}

/// The lower and the upper half of 64 bits.
fn words(w: &mut Writer<'_>, x: &Tensor) -> [Tensor; 2] {
    let half = w.like(32.0, x);
    let upper = w.same("shift_right_logical", &[x, &half]);
    [x, &upper].map(|word| w.convert(word, DType::U32))
}
