//! NVIDIA GPU approximations: one or a few instructions instead of a library function, if the target requests them
//! (`approximate`).
//!
//! Error bounds follow from those that the PTX ISA states for the instructions, and from the surrounding roundings.
//! `ex2.approx` and `div.full` have 2 ulp, `rcp.approx` 1 ulp, `rsqrt.approx` a relative error of 2^-22.9,
//! `tanh.approx` one of 2^-11. Each holds over all arguments, subnormals included. `docs/math.md` has the table. f64
//! and all other functions are unaffected. Never used for a CPU.

use std::f64::consts::LOG2_E;

use crate::expr::Val;
use crate::math::Unary;

/// The approximations, by the name of the function.
const FUNCTIONS: [(&str, Unary); 6] = [
    ("exp", exp),
    ("exp2", |x| instruction("ex2.approx.f32", x)),
    ("sigmoid", |x| instruction("rcp.approx.f32", exp(-x) + 1.0)),
    ("tanh", |x| instruction("tanh.approx.f32", x)),
    ("rsqrt", |x| instruction("rsqrt.approx.f32", x)),
    ("reciprocal", |x| instruction("rcp.approx.f32", x)),
];

/// The approximation of the function `name`, if there is one.
pub fn find(name: &str) -> Option<Unary> {
    let row = FUNCTIONS.iter().find(|row| row.0 == name);
    row.map(|row| row.1)
}

/// `a / b` within 2 ulp.
pub fn quotient<'e, 'ctx>(a: Val<'e, 'ctx>, b: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    a.zip_lanes(b, |a, b| {
        call("div.full.f32 $0, $1, $2;", "=f,f,f", &[a, b])
    })
}

/// The reciprocal within 1 ulp of what is no subnormal and has none.
pub fn reciprocal<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    instruction("rcp.approx.ftz.f32", x)
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
