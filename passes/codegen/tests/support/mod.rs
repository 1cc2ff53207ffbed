//! A harness that compiles one expression over arrays for this machine and runs it, for the math and conversion tests.
#![allow(dead_code)]

pub mod kernels;
pub mod reference;

use fuser_codegen::expr::{Elem, Emit, Val};
use fuser_codegen::link::Loaded;
use fuser_codegen::target::{self, Target};
use fuser_codegen::{math, memory};
pub use fuser_testing::Random;
use inkwell::AddressSpace;
use inkwell::IntPredicate;
use inkwell::context::Context;

/// The processors that this machine can be: itself, and those of the levels of x86-64 that it has.
pub fn processors() -> Vec<Target> {
    let all = fuser_target::processors::of(fuser_target::Kind::Cpu)
        .into_iter()
        .map(|name| Target::cpu(name).unwrap());
    all.filter(|target| target.missing_on_host().unwrap().is_empty())
        .collect()
}

type Entry = extern "C" fn(*const u8, *const u8, *mut u8, i64);

/// A loop over arrays: `out[i] = f(a[i], b[i])`, `lanes` elements a step.
pub struct ArrayFunction {
    _code: Loaded,
    entry: Entry,
    lanes: usize,
}

impl ArrayFunction {
    pub fn compile(
        target: &Target,
        lanes: u32,
        (input, output): (Elem, Elem),
        body: impl for<'e, 'ctx> Fn(Val<'e, 'ctx>, Val<'e, 'ctx>) -> Val<'e, 'ctx>,
    ) -> Self {
        let machine = target.machine().unwrap();
        let context = Context::create();
        let emit = Emit::new(&context, "array", target);
        build_loop(target, &emit, lanes, input, output, body);
        target.optimize(&emit.module, &machine).unwrap();
        let object = target::emit_object(&emit.module, &machine).unwrap();
        let code = Loaded::new(&[&object]).unwrap();
        let address = code.lookup("array").unwrap();
        // SAFETY: `array` was built just above with this signature.
        let entry = unsafe { std::mem::transmute::<usize, Entry>(address as usize) };
        ArrayFunction {
            _code: code,
            entry,
            lanes: lanes as usize,
        }
    }

    /// Runs over slices whose length is padded up to whole steps.
    pub fn run<A: Copy + Default, R: Copy + Default>(&self, a: &[A], b: &[A]) -> Vec<R> {
        let padded = a.len().div_ceil(self.lanes) * self.lanes;
        let pad = |v: &[A]| {
            let mut v = v.to_vec();
            v.resize(padded, A::default());
            v
        };
        let (pa, pb) = (pad(a), pad(b));
        let mut out = vec![R::default(); padded];
        (self.entry)(
            pa.as_ptr().cast(),
            pb.as_ptr().cast(),
            out.as_mut_ptr().cast(),
            padded as i64,
        );
        out.truncate(a.len());
        out
    }
}

fn build_loop<'ctx>(
    target: &Target,
    emit: &Emit<'ctx>,
    lanes: u32,
    input: Elem,
    output: Elem,
    body: impl for<'e> Fn(Val<'e, 'ctx>, Val<'e, 'ctx>) -> Val<'e, 'ctx>,
) {
    let context = emit.context;
    let (pointer, index) = (
        context.ptr_type(AddressSpace::default()),
        context.i64_type(),
    );
    let params = [pointer.into(), pointer.into(), pointer.into(), index.into()];
    let function =
        emit.module
            .add_function("array", context.void_type().fn_type(&params, false), None);
    target.mark(context, function);
    let [entry, head, step, exit] =
        ["entry", "head", "step", "exit"].map(|name| context.append_basic_block(function, name));
    emit.builder.position_at_end(entry);
    emit.builder.build_unconditional_branch(head).unwrap();
    emit.builder.position_at_end(head);
    let i = emit.builder.build_phi(index, "i").unwrap();
    let n = function.get_nth_param(3).unwrap().into_int_value();
    let more = emit
        .builder
        .build_int_compare(
            IntPredicate::SLT,
            i.as_basic_value().into_int_value(),
            n,
            "",
        )
        .unwrap();
    emit.builder
        .build_conditional_branch(more, step, exit)
        .unwrap();
    emit.builder.position_at_end(step);
    let at = emit.val(i.as_basic_value());
    let vector = if lanes == 1 { None } else { Some(lanes) };
    let [a, b] = [0, 1].map(|p| {
        let base = function.get_nth_param(p).unwrap().into_pointer_value();
        memory::load(
            emit,
            memory::element(emit, base, input, at),
            input,
            vector,
            1,
        )
    });
    let result = body(a, b);
    let base = function.get_nth_param(2).unwrap().into_pointer_value();
    memory::store(emit, result, memory::element(emit, base, output, at), 1);
    let next = at + i64::from(lanes);
    emit.builder.build_unconditional_branch(head).unwrap();
    let latch = emit.builder.get_insert_block().unwrap();
    let zero = index.const_zero();
    i.add_incoming(&[(&zero, entry), (&next.raw(), latch)]);
    // The back edge leaves from wherever the body ended.
    emit.builder.position_at_end(exit);
    emit.builder.build_return(None).unwrap();
    emit.finish().unwrap();
}

/// A library function by name.
pub fn math_function(target: &Target, lanes: u32, elem: Elem, name: &str) -> ArrayFunction {
    let function = math::find(name).unwrap();
    ArrayFunction::compile(target, lanes, (elem, elem), |a, b| match function.emit {
        math::Emitter::Unary(f) => f(a),
        math::Emitter::Binary(f) => f(a, b),
    })
}

/// Distance of an f32 result from the true value, in units in the last place of the true value; infinity counts as the
/// next number after the greatest. A wrong NaN or a wrong sign is infinitely far.
pub fn ulp_error_f32(got: f32, truth: f64) -> f64 {
    if got.is_nan() || truth.is_nan() {
        return if got.is_nan() && truth.is_nan() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    if got.is_sign_negative() != truth.is_sign_negative() {
        return f64::INFINITY;
    }
    let end = 2f64.powi(128);
    let (got, truth) = (f64::from(got).abs().min(end), truth.abs().min(end));
    (got - truth).abs() / 2f64.powi(exponent(truth).clamp(-126, 127) - 23)
}

/// The same for f64, against a truth in two parts.
pub fn ulp_error_f64(got: f64, truth: f64, rest: f64) -> f64 {
    if got.is_nan() || truth.is_nan() {
        return if got.is_nan() && truth.is_nan() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    if got.is_sign_negative() != truth.is_sign_negative() {
        return f64::INFINITY;
    }
    if got == truth {
        return rest.abs();
    }
    if got.is_infinite() || truth.is_infinite() {
        let finite = if got.is_infinite() { truth } else { got };
        return if finite.abs() == f64::MAX {
            1.0
        } else {
            f64::INFINITY
        };
    }
    // In units of the truth's last place; `rest` is in the same units already.
    let ulp = exponent(truth.abs()).clamp(-1022, 1023) - 52;
    let difference = if ulp < -1000 {
        ((got - truth) * 2f64.powi(200)) / 2f64.powi(ulp + 200)
    } else {
        (got - truth) / 2f64.powi(ulp)
    };
    (difference - rest).abs()
}

fn exponent(x: f64) -> i32 {
    if x == 0.0 {
        return -1100;
    }
    let bits = (x.abs().to_bits() >> 52) as i32;
    if bits == 0 {
        -1022 - (x.to_bits() & ((1 << 52) - 1)).leading_zeros() as i32 + 11
    } else {
        bits - 1023
    }
}

/// Edges, and `per_exponent` significands for every exponent and sign.
pub fn samples_f32(per_exponent: u32) -> Vec<f32> {
    let mut random = Random(1);
    let mut values = vec![
        0.0,
        -0.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        -f32::NAN,
        f32::from_bits(0x7f80_0001),
    ];
    for exponent in 0..255u32 {
        let base = exponent << 23;
        let edges = [0, 1, 2, 0x7f_ffff, 0x7f_fffe, 0x40_0000];
        let random = (0..per_exponent).map(|_| (random.word() as u32) & 0x7f_ffff);
        for mantissa in edges.into_iter().chain(random) {
            values.push(f32::from_bits(base | mantissa));
            values.push(-f32::from_bits(base | mantissa));
        }
    }
    values
}

/// Evenly spread values between two bounds.
pub fn sweep_f32(low: f32, high: f32, count: u32) -> impl Iterator<Item = f32> {
    (0..=count).map(move |i| {
        (f64::from(low) + (f64::from(high) - f64::from(low)) * f64::from(i) / f64::from(count))
            as f32
    })
}
