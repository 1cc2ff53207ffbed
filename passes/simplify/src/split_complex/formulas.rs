//! The formulas of ops on complex numbers in real ops, as the ops' definitions state them.
//!
//! Operands are `a + ib` and `c + id`. Sources: division, R. Smith, "Algorithm 116: Complex division" (1962), as NumPy and PyTorch have it;
//! the square root by scaled magnitudes, W. Kahan, "Branch cuts for complex elementary functions" (1987), which also has the form of
//! `tanh` by tangents and the inverse functions by two square roots; the magnitude scaled by the greater part, as `hypot` in C libraries.
//!
//! Never decides what an op is that is not in its tables.

use fuser_dialects::fusion;
use fuser_ir::attr::AttrKind;
use fuser_ir::build::Builder;
use fuser_ir::def::OpError;
use fuser_ir::{Ir, Op, OpDef, Value};

use super::tape::{Num, Tape};
use super::{Known, Pair};

/// The values that stand for the result of an op.
pub enum Made {
    /// Of a complex one the parts.
    Complex(Value, Value),
    /// Of a real one itself.
    Real(Value),
}

/// A complex number of a formula.
type Z<'t> = (Num<'t>, Num<'t>);

/// A formula of one complex number.
type Function = for<'t> fn(Z<'t>) -> Z<'t>;
/// A formula of two.
type Operator = for<'t> fn(Z<'t>, Z<'t>) -> Z<'t>;
/// A formula of one complex number whose value is real.
type Part = for<'t> fn(Z<'t>) -> Num<'t>;

/// Functions of one complex number.
static UNARY: &[(&OpDef, Function)] = &[
    (&fusion::CONJ, |(a, b)| (a, -b)),
    (&fusion::RECIPROCAL, reciprocal),
    (&fusion::EXP, exp),
    (&fusion::EXP2, |(a, b)| {
        let base = a.number(std::f64::consts::LN_2);
        exp((a * base, b * base))
    }),
    (&fusion::LOG, log),
    (&fusion::LOG2, |z| log_to(z, std::f64::consts::LN_2)),
    (&fusion::LOG10, |z| log_to(z, std::f64::consts::LN_10)),
    (&fusion::SQRT, sqrt),
    (&fusion::RSQRT, |z| reciprocal(sqrt(z))),
    (&fusion::SIN, |(a, b)| (cosh_sin(b, a), sinh_cos(b, a))),
    (&fusion::COS, |(a, b)| (cosh_cos(b, a), sinh_sin(-b, a))),
    (&fusion::SINH, |(a, b)| (sinh_cos(a, b), cosh_sin(a, b))),
    (&fusion::COSH, |(a, b)| (cosh_cos(a, b), sinh_sin(a, b))),
    (&fusion::EXPM1, expm1),
    (&fusion::LOG1P, log1p),
    (&fusion::ASIN, asin),
    (&fusion::ACOS, acos),
    (&fusion::ATAN, |(a, b)| {
        let (u, v) = atanh((b, -a));
        (-v, u)
    }),
    (&fusion::ASINH, |(a, b)| {
        let (u, v) = asin((-b, a));
        (v, -u)
    }),
    (&fusion::ACOSH, acosh),
    (&fusion::ATANH, atanh),
    (&fusion::TANH, tanh),
    (&fusion::TAN, |(a, b)| {
        let (p, q) = tanh((-b, a));
        (q, -p)
    }),
    (&fusion::SIGMOID, sigmoid),
    (&fusion::SILU, |z| times(z, sigmoid(z))),
];

/// Functions of two complex numbers.
static BINARY: &[(&OpDef, Operator)] = &[
    (&fusion::MUL, times),
    (&fusion::DIV, quotient),
    (&fusion::POW, power),
];

/// Real functions of one complex number.
static PARTS: &[(&OpDef, Part)] = &[
    (&fusion::REAL, |z| z.0),
    (&fusion::IMAG, |z| z.1),
    (&fusion::ABS, abs),
    (&fusion::ISNAN, |(a, b)| {
        a.map(&fusion::ISNAN).or(b.map(&fusion::ISNAN))
    }),
    (&fusion::ISFINITE, |(a, b)| {
        a.map(&fusion::ISFINITE).and(b.map(&fusion::ISFINITE))
    }),
];

/// Writes the formula of `op` in front of it.
pub fn make(ir: &mut Ir, op: Op, known: &Known) -> Result<Made, OpError> {
    if ir.is(op, &fusion::PROD) {
        return product(ir, op, known);
    }
    if ir.is(op, &fusion::CUMPROD) {
        let missing = || OpError::new("has no parts");
        let parts: Pair = *known.get(&ir.operand(op, 0)).ok_or_else(missing)?;
        let dim = ir.int_of(op, "dim").unwrap_or(0);
        let mut b = Builder::before(ir, op);
        let (re, im) = multiplied(&mut b, &fusion::SCAN, parts, dim)?;
        return Ok(Made::Complex(re, im));
    }
    let operands: Vec<Value> = ir.operands(op).collect();
    let unary = UNARY.iter().find(|(def, _)| ir.is(op, def));
    let binary = BINARY.iter().find(|(def, _)| ir.is(op, def));
    let parts = PARTS.iter().find(|(def, _)| ir.is(op, def));
    let compares = ir.is(op, &fusion::COMPARE);
    let equal = ir.str_of(op, "predicate") == Some("eq");
    let made = ir.is(op, &fusion::COMPLEX);
    let casts = ir.is(op, &fusion::CAST);
    let to = ir.value_kind(ir.result(op, 0)).dtype();
    let tape = Tape::new(Builder::before(ir, op));
    let result = {
        let z = |index: usize| {
            let value = operands.get(index)?;
            let (a, b) = known.get(value)?;
            Some((tape.num(*a), tape.num(*b)))
        };
        let complex = |(a, b): Z<'_>| Made::Complex(a.value, b.value);
        match (unary, binary, parts, z(0), z(1)) {
            (Some((_, f)), _, _, Some(x), _) => Some(complex(f(x))),
            (_, Some((_, f)), _, Some(x), Some(y)) => Some(complex(f(x, y))),
            (_, _, Some((_, f)), Some(x), _) => Some(Made::Real(f(x).value)),
            (_, _, _, Some(x), Some(y)) if compares => Some(Made::Real(same(equal, x, y).value)),
            (_, _, _, Some((a, b)), _) if casts => {
                to.map(|to| complex((a.cast(to.part()), b.cast(to.part()))))
            }
            (.., None, _) if casts => to.zip(operands.first()).map(|(to, x)| {
                let a = tape.num(*x).cast(to.part());
                complex(aligned(a, a.number(0.0)))
            }),
            _ if made && operands.len() == 2 => {
                let (a, b) = (tape.num(operands[0]), tape.num(operands[1]));
                Some(complex(aligned(a, b)))
            }
            _ => None,
        }
    };
    tape.finish()?;
    result.ok_or_else(|| OpError::new("has no form in real ops"))
}

/// Two numbers in their common shape.
fn aligned<'t>(a: Num<'t>, b: Num<'t>) -> Z<'t> {
    (a.yes().choose(a, b), a.yes().choose(b, a))
}

fn same<'t>(equal: bool, (a, b): Z<'t>, (c, d): Z<'t>) -> Num<'t> {
    match equal {
        true => a.compare("eq", c).and(b.compare("eq", d)),
        false => a.compare("ne", c).or(b.compare("ne", d)),
    }
}

fn choose<'t>(condition: Num<'t>, x: Z<'t>, y: Z<'t>) -> Z<'t> {
    (condition.choose(x.0, y.0), condition.choose(x.1, y.1))
}

fn is_zero((a, b): Z<'_>) -> Num<'_> {
    a.is("eq", 0.0).and(b.is("eq", 0.0))
}

fn times<'t>((a, b): Z<'t>, (c, d): Z<'t>) -> Z<'t> {
    (a * c - b * d, a * d + b * c)
}

fn quotient<'t>((a, b): Z<'t>, (c, d): Z<'t>) -> Z<'t> {
    let one = c.number(1.0);
    let first = {
        let r = d / c;
        let s = one / (c + d * r);
        ((a + b * r) * s, (b - a * r) * s)
    };
    let second = {
        let r = c / d;
        let s = one / (c * r + d);
        ((a * r + b) * s, (b * r - a) * s)
    };
    let by_zero = (a / c.abs(), b / c.abs());
    let value = choose(c.abs().compare("ge", d.abs()), first, second);
    choose(is_zero((c, d)), by_zero, value)
}

fn reciprocal(z: Z<'_>) -> Z<'_> {
    quotient((z.0.number(1.0), z.0.number(0.0)), z)
}

fn power<'t>(z: Z<'t>, w: Z<'t>) -> Z<'t> {
    let value = exp(times(w, log(z)));
    let (zero, one) = (w.0.number(0.0), w.0.number(1.0));
    let vanishes = is_zero(z).and(w.0.is("gt", 0.0));
    let value = choose(vanishes, (zero, zero), value);
    choose(is_zero(w), (one, zero), value)
}

fn exp((a, b): Z<'_>) -> Z<'_> {
    let size = a.map(&fusion::EXP);
    let value = (size * b.map(&fusion::COS), size * b.map(&fusion::SIN));
    turning((a, b), size, value)
}

/// `value`, an exponential of this argument, at the ends of its parts: `size` is its real part where it does not
/// turn. A real argument has a real exponential, one of the infinity `a` and an angle that is no number an infinity
/// or a zero.
fn turning<'t>((a, b): Z<'t>, size: Num<'t>, (re, im): Z<'t>) -> Z<'t> {
    let lost = is_lost(b);
    let least = lost.and(a.is("eq", f64::NEG_INFINITY));
    let value = (
        lost.and(is_infinite(a)).choose(size, re),
        least.choose(signed(b.number(0.0), b), im),
    );
    choose(b.is("eq", 0.0), (size, b), value)
}

/// The greater magnitude of the parts, infinite where one of them is, and the ratio of the smaller one to it, 0 where
/// that is zero or infinite.
fn sizes((a, b): Z<'_>) -> Z<'_> {
    let infinite = is_infinite(a).or(is_infinite(b));
    let high = a.abs().with(&fusion::MAXIMUM, b.abs());
    let high = infinite.choose(a.number(f64::INFINITY), high);
    let ratio = a.abs().with(&fusion::MINIMUM, b.abs()) / high;
    let odd = infinite.or(high.is("eq", 0.0));
    (high, odd.choose(a.number(0.0), ratio))
}

/// `sqrt(1 + r^2)`
fn stretch(r: Num<'_>) -> Num<'_> {
    (r.number(1.0) + r * r).map(&fusion::SQRT)
}

fn is_infinite(x: Num<'_>) -> Num<'_> {
    x.abs().is("eq", f64::INFINITY)
}

/// True if a number is infinite or NaN: the reduction of such an angle is undefined.
fn is_lost(x: Num<'_>) -> Num<'_> {
    x.map(&fusion::ISFINITE).map(&fusion::NOT)
}

fn abs(z: Z<'_>) -> Num<'_> {
    let (high, r) = sizes(z);
    high * stretch(r)
}

fn log(z: Z<'_>) -> Z<'_> {
    let (high, r) = sizes(z);
    let more = (r * r).map(&fusion::LOG1P) / r.number(2.0);
    (high.map(&fusion::LOG) + more, z.1.with(&fusion::ATAN2, z.0))
}

fn log_to(z: Z<'_>, base: f64) -> Z<'_> {
    let (a, b) = log(z);
    (a / a.number(base), b / b.number(base))
}

fn sqrt(z: Z<'_>) -> Z<'_> {
    let (a, b) = z;
    let (high, r) = sizes(z);
    let infinity = a.number(f64::INFINITY);
    let mean = (a.abs() / high + stretch(r)) / a.number(2.0);
    let t = high.map(&fusion::SQRT) * mean.map(&fusion::SQRT);
    let t = is_infinite(a).choose(infinity, t);
    // The sign of a zero, too.
    let below = b.map(&fusion::RECIPROCAL).is("lt", 0.0);
    let right = (t, b / (t + t));
    let left = (b.abs() / (t + t), below.choose(-t, t));
    let value = choose(a.is("ge", 0.0), right, left);
    let value = choose(high.is("eq", 0.0), (high, b), value);
    choose(is_infinite(b), (infinity, b), value)
}

/// `sinh g cos t`. A zero or an infinity stays one where the angle t is no number.
fn sinh_cos<'t>(g: Num<'t>, t: Num<'t>) -> Num<'t> {
    let value = g.map(&fusion::SINH) * t.map(&fusion::COS);
    let infinite = is_infinite(g);
    let stays = is_lost(t).and(infinite.or(g.is("eq", 0.0)));
    stays.choose(infinite.choose(g.abs(), g), value)
}

/// `cosh g sin t`; t where that is zero.
fn cosh_sin<'t>(g: Num<'t>, t: Num<'t>) -> Num<'t> {
    let value = g.map(&fusion::COSH) * t.map(&fusion::SIN);
    t.is("eq", 0.0).choose(t, value)
}

/// `cosh g cos t`. An infinity stays one where the angle t is no number.
fn cosh_cos<'t>(g: Num<'t>, t: Num<'t>) -> Num<'t> {
    let value = g.map(&fusion::COSH) * t.map(&fusion::COS);
    let stays = is_lost(t).and(is_infinite(g));
    stays.choose(g.abs(), value)
}

/// `sinh g sin t`; a zero t with the sign of both where t is zero, and 0 where g is and t is no number.
fn sinh_sin<'t>(g: Num<'t>, t: Num<'t>) -> Num<'t> {
    let value = g.map(&fusion::SINH) * t.map(&fusion::SIN);
    let stays = is_lost(t).and(g.is("eq", 0.0));
    let value = stays.choose(g.number(0.0), value);
    t.is("eq", 0.0).choose(signed(t, g), value)
}

fn tanh((a, b): Z<'_>) -> Z<'_> {
    let one = a.number(1.0);
    let lost = is_lost(b);
    let still = lost.and(is_infinite(a));
    let u = still.choose(signed(b.number(0.0), b), b.map(&fusion::TAN));
    let (t, cosh) = (a.map(&fusion::TANH), a.map(&fusion::COSH));
    let below = one + (t * t) * (u * u);
    let re = t * (one + u * u) / below;
    let im = u / (cosh * cosh) / below;
    (
        lost.and(a.is("eq", 0.0)).choose(a, re),
        b.is("eq", 0.0).choose(b, im),
    )
}

fn expm1((a, b): Z<'_>) -> Z<'_> {
    let less = a.map(&fusion::EXPM1);
    let half = (b / b.number(2.0)).map(&fusion::SIN);
    let value = (
        less * b.map(&fusion::COS) - a.number(2.0) * (half * half),
        a.map(&fusion::EXP) * b.map(&fusion::SIN),
    );
    turning((a, b), less, value)
}

/// True where a number is nearer to zero than 1/2.
fn is_small(x: Num<'_>) -> Num<'_> {
    x.abs().is("lt", 0.5)
}

fn log1p((a, b): Z<'_>) -> Z<'_> {
    let two = a.number(2.0);
    let grown = a + a.number(1.0);
    let (re, im) = log((grown, b));
    let near = (a * (two + a) + b * b).map(&fusion::LOG1P) / two;
    (is_small(a).and(is_small(b)).choose(near, re), im)
}

/// The least magnitude of a part for which inverse functions use their asymptotic form. The square of a part is far
/// from overflow there, and 1 is less than its error.
const FAR: f64 = (1u64 << 30) as f64;

/// True where a part is [`FAR`] from zero, and the logarithm of twice the magnitude.
fn far(z: Z<'_>) -> (Num<'_>, Num<'_>) {
    let (high, _) = sizes(z);
    let size = log(z).0 + high.number(std::f64::consts::LN_2);
    (high.is("ge", FAR), size)
}

/// `x`, which is positive, with the sign of `of`, a zero's too.
fn signed<'t>(x: Num<'t>, of: Num<'t>) -> Num<'t> {
    let below = of.is("lt", 0.0);
    let below = below.or(of.map(&fusion::RECIPROCAL).is("lt", 0.0));
    below.choose(-x, x)
}

/// The square roots of `1 - z` and `1 + z`.
fn roots<'t>((a, b): Z<'t>) -> (Z<'t>, Z<'t>) {
    let one = a.number(1.0);
    (sqrt((one - a, -b)), sqrt((one + a, b)))
}

fn asin(z: Z<'_>) -> Z<'_> {
    let (a, b) = z;
    let (p, q) = roots(z);
    let near = (
        a.with(&fusion::ATAN2, p.0 * q.0 - p.1 * q.1),
        (p.0 * q.1 - p.1 * q.0).map(&fusion::ASINH),
    );
    let (is_far, size) = far(z);
    let away = (a.with(&fusion::ATAN2, b.abs()), signed(size, b));
    let (re, im) = choose(is_far, away, near);
    (a.is("eq", 0.0).choose(a, re), im)
}

fn acos(z: Z<'_>) -> Z<'_> {
    let (a, b) = z;
    let (p, q) = roots(z);
    let near = (
        a.number(2.0) * p.0.with(&fusion::ATAN2, q.0),
        (q.0 * p.1 - q.1 * p.0).map(&fusion::ASINH),
    );
    let (is_far, size) = far(z);
    let away = (b.abs().with(&fusion::ATAN2, a), -signed(size, b));
    let (re, im) = choose(is_far, away, near);
    (a.is("eq", 0.0).choose(right_angle(a), re), im)
}

fn acosh(z: Z<'_>) -> Z<'_> {
    let (a, b) = z;
    let one = a.number(1.0);
    let (p, q) = (sqrt((a - one, b)), sqrt((a + one, b)));
    let near = (
        (p.0 * q.0 + p.1 * q.1).map(&fusion::ASINH),
        a.number(2.0) * p.1.with(&fusion::ATAN2, q.0),
    );
    let (is_far, size) = far(z);
    let (re, im) = choose(is_far, (size, b.with(&fusion::ATAN2, a)), near);
    (re, a.is("eq", 0.0).choose(signed(right_angle(b), b), im))
}

/// A quarter of a turn.
fn right_angle(like: Num<'_>) -> Num<'_> {
    like.number(std::f64::consts::FRAC_PI_2)
}

fn atanh(z: Z<'_>) -> Z<'_> {
    let (a, b) = z;
    let (one, two, four) = (a.number(1.0), a.number(2.0), a.number(4.0));
    let m = a.abs();
    let (rest, square) = (one - m, b * b);
    let by_pole = (log((one + m, b)).0 - log((rest, b)).0) / two;
    let apart = (four * m / (rest * rest + square)).map(&fusion::LOG1P) / four;
    let x = is_small(rest).and(is_small(b)).choose(by_pole, apart);
    let (is_far, _) = far(z);
    let (high, r) = sizes(z);
    let infinite = high.is("eq", f64::INFINITY);
    let fades = infinite.choose(a.number(0.0), m / high / high / (one + r * r));
    let x = is_far.choose(fades, x);
    let angle = (two * b).with(&fusion::ATAN2, rest_of(a) - square) / two;
    let right = b.map(&fusion::ISNAN).choose(b, signed(right_angle(b), b));
    (
        a.is("eq", 0.0).choose(a, signed(x, a)),
        is_far.choose(right, angle),
    )
}

/// `(1 - a)(1 + a)`
fn rest_of(a: Num<'_>) -> Num<'_> {
    let one = a.number(1.0);
    (one - a) * (one + a)
}

/// Of two exponentials the one that is at most 1.
fn sigmoid(z: Z<'_>) -> Z<'_> {
    let (one, zero) = (z.0.number(1.0), z.0.number(0.0));
    let right = z.0.is("ge", 0.0);
    let power = exp(choose(right, (-z.0, -z.1), z));
    let above = choose(right, (one, zero), power);
    quotient(above, (one + power.0, power.1))
}

/// Products along axes: folds of both parts together, the last axis first.
fn product(ir: &mut Ir, op: Op, known: &Known) -> Result<Made, OpError> {
    let missing = || OpError::new("has no parts");
    let mut parts: Pair = *known.get(&ir.operand(op, 0)).ok_or_else(missing)?;
    let dims = ir.i64s_of(op, "dims").unwrap_or(&[]).to_vec();
    let result = ir.value_kind(ir.result(op, 0));
    let shape = result.as_tensor().ok_or_else(missing)?.dims.clone();
    let keeps = ir.get_attr(op, "keepdim").is_some();
    let mut b = Builder::before(ir, op);
    for &dim in dims.iter().rev() {
        parts = multiplied(&mut b, &fusion::FOLD, parts, dim)?;
    }
    if keeps {
        let shape = b.shape("shape", &shape);
        parts = (
            b.value(&fusion::RESHAPE, &[parts.0], &[shape])?,
            b.value(&fusion::RESHAPE, &[parts.1], &[shape])?,
        );
    }
    Ok(Made::Complex(parts.0, parts.1))
}

/// The products of numbers along an axis by a fold, or up to each index of it by a scan, from 1 on.
fn multiplied(
    b: &mut Builder<'_>,
    def: &'static OpDef,
    (re, im): Pair,
    dim: i64,
) -> Result<Pair, OpError> {
    let missing = || OpError::new("has no parts");
    let dtype = b.ir.value_kind(re).dtype().ok_or_else(missing)?;
    let ty = b.ir.scalar(dtype);
    let init = [1.0f64, 0.0].map(|number| {
        let bits = number.to_bits();
        b.ir.attr(AttrKind::Float { bits, ty })
    });
    let init = b.ir.attr(AttrKind::Array(init.to_vec()));
    let (region, block) = b.region(&[ty; 4]);
    let args = b.ir.args(block).to_vec();
    b.inside(block, |inner| {
        let tape = Tape::new(Builder::at_end(inner.ir, block));
        let z = |at: usize| (tape.num(args[at]), tape.num(args[at + 1]));
        let (a, b) = times(z(0), z(2));
        let yielded = [a.value, b.value];
        tape.finish()?;
        inner.op(&fusion::YIELD, &yielded, &[])
    })?;
    let dim = b.int("dim", dim);
    let op = b.build(def, &[re, im], &[dim, ("init", init)], &[region], None)?;
    Ok((b.ir.result(op, 0), b.ir.result(op, 1)))
}
