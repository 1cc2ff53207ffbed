//! Approximations of NVIDIA GPUs: one or a few instructions in the place of a function of the library, where the target asks for them
//! (`approximate`).
//!
//! Bounds follow from those that the PTX ISA states for the instructions, and from the roundings around them: `ex2.approx` and `div.full`
//! 2 ulp, `rcp.approx` 1 ulp, `rsqrt.approx` a relative error of 2^-22.9, `tanh.approx` one of 2^-11, each over all arguments, subnormals included.
//! `docs/math.md` has the table. f64, and all other functions, stay as they are. Never used for a CPU.

use std::f64::consts::LOG2_E;

use crate::expr::{Elem, Emit, Val};

/// A function of one operand.
type Unary = for<'e, 'ctx> fn(Val<'e, 'ctx>) -> Val<'e, 'ctx>;

/// The approximations, by the name of the function.
const FUNCTIONS: [(&str, Unary); 6] = [
    ("exp", exp),
    ("exp2", |x| instruction("ex2.approx.f32", x)),
    ("sigmoid", |x| instruction("rcp.approx.f32", exp(-x) + 1.0)),
    ("tanh", |x| instruction("tanh.approx.f32", x)),
    ("rsqrt", |x| instruction("rsqrt.approx.f32", x)),
    ("reciprocal", |x| instruction("rcp.approx.f32", x)),
];

/// The approximation of `name` for elements of `elem`, if there is one and the target asks for it.
pub fn find(emit: &Emit<'_>, name: &str, elem: Elem) -> Option<Unary> {
    let wanted = emit.approximate && elem != Elem::F64;
    let row = FUNCTIONS.iter().find(|row| wanted && row.0 == name);
    row.map(|row| row.1)
}

/// `a / b`: approximated where the target asks for it, else rounded once.
pub fn quotient<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    match a.emit().approximate && !a.is_f64() {
        true => a.zip_lanes(b, |a, b| {
            call("div.full.f32 $0, $1, $2;", "=f,f,f", &[a, b])
        }),
        false => a.over(b),
    }
}

/// `a / b` for some operands of which it is known that no bit is lost, on a GPU without the branches that `div.rn` has for all others: a reciprocal of 1 ulp, made
/// exact by a residual, and the quotient by another (P. Markstein, Computation of elementary functions on the IBM RISC System/6000 processor, IBM Journal of
/// Research and Development 34, 1990). `tests/quotients.rs` tries all operands of each use, with each reciprocal that the ISA allows.
pub(super) fn known_quotient<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    if !a.emit().gpu || a.is_f64() {
        return a.over(b);
    }
    let y = instruction("rcp.approx.ftz.f32", b);
    let y = (-b).fma(y, 1.0).fma(y, y);
    let q = a * y;
    (-b).fma(q, a).fma(y, q)
}

/// Most of a divisor and of a dividend, whose inverses are the least: between them nothing underflows or overflows in [`quotient_by_one`]. 2^24 and 2^100.
const MOST_DIVISOR: f64 = 16_777_216.0;
const MOST_DIVIDEND: f64 = 1_267_650_600_228_229_401_496_703_205_376.0;
/// The bits of a mantissa of f32.
const MANTISSA: i64 = (1 << 23) - 1;

/// `a / b` where all lanes of `b` are one: on a GPU by its reciprocal, once for all, with the bits of a division. Two residuals make a reciprocal that is rounded once of any within 1 ulp,
/// where the mantissa of `b` is not all ones; with it one residual makes a quotient that is rounded once (`tests/quotients.rs` tries all reciprocals, and all quotients so near to
/// the middle of two floats that they could be rounded to the wrong one). Other divisors, negative ones, and dividends other than zero of which a residual could underflow or a quotient
/// overflow, are divided by `div.rn`. That has a branch for each element and goes a long way round for zeros, as masks make them.
pub fn quotient_by_one<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let emit = a.emit();
    let (true, Some(lanes)) = (emit.gpu && !emit.approximate && !a.is_f64(), a.lanes()) else {
        return quotient(a, b);
    };
    let one = b.lane(0);
    let bits = |x: Val<'e, 'ctx>| x.bits_as(Elem::Int(32));
    let y = match b.constant() {
        // Rounded to f64 and then to f32 it is rounded once (Figueroa, When is double rounding innocuous?, 1995).
        Some(constant) => one.float(f64::from((1.0 / constant) as f32)),
        None => {
            let near = instruction("rcp.approx.ftz.f32", one);
            (0..2).fold(near, |y, _| (-one).fma(y, 1.0).fma(y, y))
        }
    };
    let inside = one.ge(1.0 / MOST_DIVISOR).and(one.le(MOST_DIVISOR));
    let divisor = inside.flip().or(bits(one).and(MANTISSA).eq(MANTISSA));
    // Zeros are the greatest without a sign, less one.
    let least = bits(a).shift_left(1) - 1;
    let least = (1..lanes).fold(least.lane(0), |all, n| {
        all.intrinsic2("llvm.umin", least.lane(n))
    });
    let greatest = a.abs();
    let greatest = (1..lanes).fold(greatest.lane(0), |all, n| {
        all.intrinsic2("llvm.maxnum", greatest.lane(n))
    });
    let tiny = i64::from(((1.0 / MOST_DIVIDEND) as f32).to_bits()) * 2 - 1;
    let rare = least.ult(tiny).or(greatest.gt(MOST_DIVIDEND)).or(divisor);
    let q = a * y.splat(Some(lanes));
    // With this sign zeros keep theirs.
    let residual = b.fma(q, -a);
    let q = (-residual).fma(y.splat(Some(lanes)), q);
    emit.unless_rare(rare, q, || a.over(b))
}

fn exp<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    instruction("ex2.approx.f32", x * LOG2_E)
}

fn instruction<'e, 'ctx>(name: &str, x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let text = format!("{name} $0, $1;");
    x.per_lane(|lane| call(&text, "=f,f", &[lane]))
}

/// An instruction on scalars, as text: it has no effect but its result.
fn call<'e, 'ctx>(text: &str, operands: &str, args: &[Val<'e, 'ctx>]) -> Val<'e, 'ctx> {
    let (emit, first) = (args[0].emit(), args[0]);
    let float = emit.context.f32_type();
    let ty = float.fn_type(&vec![float.into(); args.len()], false);
    let (text, operands) = (text.to_owned(), operands.to_owned());
    let code = emit
        .context
        .create_inline_asm(ty, text, operands, false, false, None, false);
    let args: Vec<_> = args.iter().map(|arg| arg.raw().into()).collect();
    let call = emit.builder.build_indirect_call(ty, code, &args, "");
    let result = call.map(|call| call.try_as_basic_value().basic());
    match result {
        Ok(Some(result)) => emit.val(result),
        Ok(None) => first,
        Err(error) => {
            emit.fail(error);
            first
        }
    }
}
