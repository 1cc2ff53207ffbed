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

/// `a / b` where all lanes of `b` are one: on a GPU by its reciprocal, once for all. The quotient is that of `div.rn`: where the reciprocal is rounded once and the quotient before is
/// within 1 ulp, a residual gives what is rounded once (Markstein, as above), and the one before it brings the quotient there. One residual makes the reciprocal of a divisor whose
/// mantissa is not all ones that; such divisors, and operands of which a residual could underflow, are divided as others. Zeros are not among these, -0 apart.
pub fn quotient_by_one<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    let emit = a.emit();
    if !emit.gpu || emit.approximate || a.is_f64() || a.lanes().is_none() {
        return quotient(a, b);
    }
    let beyond = |x: Val<'e, 'ctx>, power: f64| {
        let magnitude = x.abs();
        magnitude.lt(1.0 / power).or(magnitude.gt(power))
    };
    let divisor = b.lane(0);
    let ones = (1 << 23) - 1;
    let bits = divisor.bits_as(Elem::Int(32)).and(ones);
    let rare = beyond(divisor, MOST_DIVISOR).or(bits.eq(ones));
    let some = a.bits_as(Elem::Int(32)).ne(0);
    let rare = rare.or(beyond(a, MOST_DIVIDEND).and(some).any());
    let y = instruction("rcp.approx.ftz.f32", divisor);
    let y = (-divisor).fma(y, 1.0).fma(y, y).splat(a.lanes());
    let mut q = a * y;
    for _ in 0..2 {
        q = (-b).fma(q, a).fma(y, q);
    }
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
