//! Folds: their results, the forms that they must leave alone, and the exactness of the arithmetic behind them.

use crate::support::*;
use fuser_dialects::fusion::build::FusionBuilder;
use fuser_dialects::fusion::fold::constants::uniform;
use fuser_dialects::fusion::fold::scalar::{self, Number, Scalar};
use fuser_dialects::fusion::{self, *};
use fuser_ir::def::Folded;
use fuser_ir::{DType, OpDef, Value};

/// The fold of the op that defines `value`.
fn fold(p: &mut Program, value: Value) -> Option<Folded> {
    let op = p.ir.def_op(value).unwrap();
    let fold = p.ir.def(op).unwrap().fold?;
    fold(&mut p.ir, op)
}

fn to_value(p: &mut Program, value: Value) -> Option<Value> {
    match fold(p, value)? {
        Folded::Values(values) => Some(values[0]),
        Folded::Constant(_) => None,
    }
}

fn to_number(p: &mut Program, value: Value) -> Option<Scalar> {
    let dtype = p.ir.value_kind(value).dtype().unwrap();
    match fold(p, value)? {
        Folded::Constant(attr) => {
            fusion::fold::constants::number(&p.ir.attr_kind(attr).clone(), dtype)
        }
        Folded::Values(_) => None,
    }
}

/// `x op c`, with `x` of `ty`.
fn with_constant(ty: TypeText, def: &'static OpDef, c: f64, left: bool) -> (Program, Value, Value) {
    let mut p = Program::new(&[ty]);
    let x = p.arg(0);
    let scalar = p.ir.scalar(ty.1);
    let mut b = p.build();
    let c = match ty.1.is_float() {
        true => b.constant_float(c, scalar).unwrap(),
        false => b.constant_int(c as i64, scalar).unwrap(),
    };
    let (l, r) = if left { (c, x) } else { (x, c) };
    let y = b.binary(def, l, r).unwrap();
    (p, x, y)
}

fn keeps(ty: TypeText, def: &'static OpDef, c: f64) -> bool {
    let (mut p, x, y) = with_constant(ty, def, c, false);
    to_value(&mut p, y) == Some(x)
}

const F: TypeText = t(&["3", "N"], DType::F32);
const H: TypeText = t(&["3"], DType::BF16);
const I: TypeText = t(&["3"], DType::I32);

/// The identity holds bit for bit on every special value, or the fold must not exist.
#[test]
fn float_identities_are_exactly_those_that_keep_every_bit() {
    let specials = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        f32::MIN_POSITIVE / 4.0,
        f32::MAX,
        f32::INFINITY,
        f32::NEG_INFINITY,
    ];
    type Apply = fn(f32, f32) -> f32;
    let ops: [(&'static OpDef, Apply); 4] = [
        (&ADD, |x, y| x + y),
        (&SUB, |x, y| x - y),
        (&MUL, |x, y| x * y),
        (&DIV, |x, y| x / y),
    ];
    for (def, apply) in ops {
        for c in [0.0f32, -0.0, 1.0, -1.0, 2.0] {
            let exact = specials
                .iter()
                .all(|x| apply(*x, c).to_bits() == x.to_bits());
            for ty in [F, H, t(&[], DType::F64), s(DType::F16)] {
                assert_eq!(
                    keeps(ty, def, c.into()),
                    exact,
                    "{} {c} {:?}",
                    def.name,
                    ty.1
                );
            }
        }
    }
}

#[test]
fn identities_need_the_type_of_the_result() {
    // A scalar times a tensor constant has the tensor's shape: the scalar cannot stand for it.
    let mut p = Program::new(&[s(DType::F32)]);
    let x = p.arg(0);
    let ty = t(&["4"], DType::F32).id(&mut p.ir);
    let mut b = p.build();
    let one = b.constant_float(1.0, ty).unwrap();
    let y = b.mul(x, one).unwrap();
    assert_eq!(fold(&mut p, y), None);
}

#[test]
fn integer_identities() {
    for (def, c) in [
        (&ADD, 0),
        (&SUB, 0),
        (&MUL, 1),
        (&DIV, 1),
        (&OR, 0),
        (&XOR, 0),
        (&AND, -1),
        (&SHL, 0),
        (&SHR, 0),
    ] {
        assert!(keeps(I, def, f64::from(c)), "{} {c}", def.name);
    }
    for (def, c) in [(&MUL, 0), (&AND, 0), (&DIV, 0), (&REM, 1)] {
        let (mut p, _, y) = with_constant(I, def, f64::from(c), false);
        assert_eq!(
            to_number(&mut p, y).unwrap().as_int(),
            Some(0),
            "{}",
            def.name
        );
    }
    for def in [&DIV, &REM, &SHL, &SHR, &MUL, &AND] {
        let (mut p, _, y) = with_constant(I, def, 0.0, true);
        assert_eq!(
            to_number(&mut p, y).unwrap().as_int(),
            Some(0),
            "0 {}",
            def.name
        );
    }
    // Not folded: a quotient by a constant other than 0 and 1, a constant less a value.
    assert!(!keeps(I, &DIV, -1.0));
    let (mut p, _, y) = with_constant(I, &SUB, 0.0, true);
    assert_eq!(fold(&mut p, y), None);
}

#[test]
fn a_value_with_itself() {
    let same = |ty: TypeText, def: &'static OpDef| {
        let mut p = Program::new(&[ty]);
        let x = p.arg(0);
        let y = p.op(def, &[x, x]);
        let number = to_number(&mut p, y).and_then(Scalar::as_int);
        (to_value(&mut p, y) == Some(x), number)
    };
    assert_eq!(same(I, &SUB), (false, Some(0)));
    assert_eq!(same(I, &XOR), (false, Some(0)));
    assert_eq!(same(F, &SUB), (false, None));
    assert_eq!(same(F, &MAXIMUM), (true, None));
    assert_eq!(same(I, &AND), (true, None));
    assert_eq!(same(I, &DIV), (false, None));
}

#[test]
fn comparisons_of_a_value_with_itself() {
    for (predicate, truth) in [
        ("eq", 1),
        ("ne", 0),
        ("lt", 0),
        ("le", 1),
        ("gt", 0),
        ("ge", 1),
    ] {
        for (ty, expected) in [(I, Some(truth)), (F, None)] {
            let mut p = Program::new(&[ty]);
            let x = p.arg(0);
            let y = p.build().compare(predicate, x, x).unwrap();
            assert_eq!(
                to_number(&mut p, y).and_then(Scalar::as_int),
                expected,
                "{predicate}"
            );
        }
    }
}

#[test]
fn double_negation_and_choice() {
    let mut p = Program::new(&[F, t(&["3", "N"], DType::I1), F]);
    let (x, c, z) = (p.arg(0), p.arg(1), p.arg(2));
    let once = p.op(&NEG, &[x]);
    let twice = p.op(&NEG, &[once]);
    assert_eq!(to_value(&mut p, twice), Some(x));
    let once = p.op(&NOT, &[c]);
    let twice = p.op(&NOT, &[once]);
    assert_eq!(to_value(&mut p, twice), Some(c));
    let mixed = p.op(&ABS, &[x]);
    let mixed = p.op(&NEG, &[mixed]);
    assert_eq!(fold(&mut p, mixed), None);
    let same = p.op(&WHERE, &[c, x, x]);
    assert_eq!(to_value(&mut p, same), Some(x));
    let i1 = p.ir.scalar(DType::I1);
    for (condition, expected) in [(1, x), (0, z)] {
        let constant = p.build().constant_int(condition, i1).unwrap();
        let chosen = p.op(&WHERE, &[constant, x, z]);
        assert_eq!(to_value(&mut p, chosen), Some(expected));
    }
}

#[test]
fn shape_ops_that_undo_each_other() {
    let mut p = Program::new(&[t(&["4", "6"], DType::F32)]);
    let x = p.arg(0);
    let mut b = p.build();
    let dims = b.ints("dims", &[1, 0]);
    let turned = b.value(&PERMUTE, &[x], &[dims]).unwrap();
    let back = b.value(&PERMUTE, &[turned], &[dims]).unwrap();
    let flat = crate::support::dims(b.ir, &["24"]);
    let flat = b.shape("shape", &flat);
    let long = b.value(&RESHAPE, &[x], &[flat]).unwrap();
    let two = crate::support::dims(b.ir, &["4", "6"]);
    let two = b.shape("shape", &two);
    let again = b.value(&RESHAPE, &[long], &[two]).unwrap();
    let wide = crate::support::dims(b.ir, &["1", "4", "6"]);
    let wide = b.broadcast(x, &[1, 2], &wide).unwrap();
    let gone = b.ints("dims", &[0]);
    let thin = b.value(&SQUEEZE, &[wide], &[gone]).unwrap();
    let none = b.ints("dims", &[]);
    let whole = b.value(&SUM, &[x], &[none]).unwrap();
    let one = b.ints("dims", &[1]);
    let mirrored = b.value(&FLIP, &[x], &[one]).unwrap();
    let same = b.value(&FLIP, &[mirrored], &[one]).unwrap();
    let other = b.value(&FLIP, &[mirrored], &[gone]).unwrap();
    let still = b.value(&FLIP, &[x], &[none]).unwrap();
    for value in [back, again, thin, whole, same, still] {
        assert_eq!(to_value(&mut p, value), Some(x));
    }
    for value in [turned, long, wide, mirrored, other] {
        assert_eq!(fold(&mut p, value), None);
    }
}

/// A permutation of three axes is undone by its inverse, not by itself.
#[test]
fn permutations_compose_in_the_right_order() {
    let mut p = Program::new(&[t(&["2", "3", "5"], DType::F32)]);
    let x = p.arg(0);
    let mut b = p.build();
    let (cycle, inverse) = (b.ints("dims", &[1, 2, 0]), b.ints("dims", &[2, 0, 1]));
    let y = b.value(&PERMUTE, &[x], &[cycle]).unwrap();
    let back = b.value(&PERMUTE, &[y], &[inverse]).unwrap();
    let on = b.value(&PERMUTE, &[y], &[cycle]).unwrap();
    assert_eq!(to_value(&mut p, back), Some(x));
    assert_eq!(fold(&mut p, on), None);
}

#[test]
fn a_reduction_with_keepdim_of_extent_one_stays() {
    let mut p = Program::new(&[t(&["1"], DType::F32)]);
    let x = p.arg(0);
    let mut b = p.build();
    let clauses = [b.ints("dims", &[0]), b.flag("keepdim")];
    let y = b.value(&SUM, &[x], &clauses).unwrap();
    assert_eq!(fold(&mut p, y), None);
}

fn int(op: &str, dtype: DType, x: i128, y: i128) -> i128 {
    let scalar = scalar::binary(op, Scalar::int(x, dtype), Scalar::int(y, dtype));
    scalar.unwrap().as_int().unwrap()
}

#[test]
fn integer_edges() {
    let least = i128::from(i32::MIN);
    assert_eq!(int("div", DType::I32, least, -1), least);
    assert_eq!(int("rem", DType::I32, least, -1), 0);
    assert_eq!(int("div", DType::I32, 7, 0), 0);
    assert_eq!(int("rem", DType::I32, -7, 0), -7);
    assert_eq!(int("div", DType::I32, -7, 2), -3);
    assert_eq!(int("rem", DType::I32, -7, 2), -1);
    assert_eq!(int("add", DType::I8, 127, 1), -128);
    assert_eq!(int("sub", DType::U8, 0, 1), 255);
    assert_eq!(int("mul", DType::I64, i64::MAX.into(), 2), -2);
    assert_eq!(int("shl", DType::I32, 1, 31), least);
    assert_eq!(int("shl", DType::I32, 1, 32), 0);
    assert_eq!(int("shl", DType::I32, 5, -1), 0);
    assert_eq!(int("shr", DType::I32, -8, -1), -1);
    assert_eq!(int("shr", DType::I64, 8, -1), 0);
    assert_eq!(int("shr", DType::I64, i64::MIN.into(), 63), -1);
    assert_eq!(int("shl", DType::U8, 1, 128), 0);
    assert_eq!(int("shr", DType::I32, -8, 40), -1);
    assert_eq!(int("shr", DType::U8, 200, 3), 25);
    assert_eq!(int("shr", DType::U8, 200, 8), 0);
    assert_eq!(int("xor", DType::I1, 1, 1), 0);
}

/// Every pair of 8-bit values against the machine's own arithmetic.
#[test]
fn all_pairs_of_bytes() {
    for x in i8::MIN..=i8::MAX {
        for y in i8::MIN..=i8::MAX {
            let (a, b) = (i128::from(x), i128::from(y));
            assert_eq!(int("add", DType::I8, a, b), x.wrapping_add(y).into());
            assert_eq!(int("sub", DType::I8, a, b), x.wrapping_sub(y).into());
            assert_eq!(int("mul", DType::I8, a, b), x.wrapping_mul(y).into());
            let quotient = if y == 0 { 0 } else { x.wrapping_div(y) };
            assert_eq!(int("div", DType::I8, a, b), quotient.into());
            let rest = if y == 0 { x } else { x.wrapping_rem(y) };
            assert_eq!(int("rem", DType::I8, a, b), rest.into());
        }
    }
}

#[test]
fn casts() {
    let cast = |x: Scalar, to| scalar::cast(x, to);
    let f = |v: f64| Scalar::float(v, DType::F64);
    let int = |x: Scalar, to| cast(x, to).unwrap().as_int().unwrap();
    assert_eq!(int(f(f64::NAN), DType::I32), 0);
    assert_eq!(int(f(1e30), DType::I32), i32::MAX.into());
    assert_eq!(int(f(-1e30), DType::I64), i64::MIN.into());
    assert_eq!(int(f(-3.9), DType::I8), -3);
    assert_eq!(int(f(-3.9), DType::U8), 0);
    assert_eq!(int(f(300.0), DType::U8), 255);
    assert_eq!(int(f(f64::NAN), DType::I1), 1);
    assert_eq!(int(f(-0.0), DType::I1), 0);
    assert_eq!(int(Scalar::int(-1, DType::I64), DType::U8), 255);
    assert_eq!(int(Scalar::int(255, DType::U8), DType::I8), -1);
    assert!(cast(f(f64::NAN), DType::F32).is_none());
    let float = |x: Scalar, to| cast(x, to).unwrap().as_float().unwrap();
    assert_eq!(
        float(Scalar::int((1 << 24) + 1, DType::I32), DType::F32),
        16777216.0
    );
    assert!(cast(Scalar::int((1 << 24) + 1, DType::I32), DType::BF16).is_none());
}

/// Rounding f64 to a 16-bit type once: against the two neighbours, found by going through every value of the type.
#[test]
fn rounding_to_sixteen_bits_is_to_nearest_even() {
    let halves: Vec<f64> = (0..0x7c00u16)
        .map(|b| half::f16::from_bits(b).to_f64())
        .collect();
    let brains: Vec<f64> = (0..0x7f80u16)
        .map(|b| half::bf16::from_bits(b).to_f64())
        .collect();
    for (dtype, values) in [(DType::F16, halves), (DType::BF16, brains)] {
        for pair in values.windows(2).enumerate() {
            let (index, &[low, high]) = pair else {
                continue;
            };
            let middle = low + (high - low) / 2.0;
            let even = if index % 2 == 0 { low } else { high };
            assert_eq!(scalar::round(middle, dtype), even);
            assert_eq!(scalar::round(middle.next_down(), dtype), low);
            assert_eq!(scalar::round(middle.next_up(), dtype), high);
            assert_eq!(scalar::round(-middle.next_up(), dtype), -high);
        }
    }
    assert_eq!(scalar::round(65519.99, DType::F16), 65504.0);
    assert_eq!(scalar::round(65520.0, DType::F16), f64::INFINITY);
    assert_eq!(
        scalar::round(-0.0, DType::BF16).to_bits(),
        (-0.0f64).to_bits()
    );
}

/// On 16-bit floats the f32 result is rounded once.
#[test]
fn narrow_floats_compute_in_f32() {
    let x = Scalar::float(256.0, DType::BF16);
    let y = Scalar::float(1.0, DType::BF16);
    let sum = scalar::binary("add", x, y).unwrap().as_float();
    assert_eq!(sum, Some(256.0));
    let y = Scalar::float(3.0, DType::BF16);
    assert_eq!(scalar::binary("add", x, y).unwrap().as_float(), Some(260.0));
}

#[test]
fn no_fold_makes_a_nan() {
    let f = |v: f64| Scalar::float(v, DType::F32);
    let inf = f64::INFINITY;
    assert!(scalar::binary("sub", f(inf), f(inf)).is_none());
    assert!(scalar::binary("mul", f(0.0), f(inf)).is_none());
    assert!(scalar::binary("div", f(0.0), f(0.0)).is_none());
    assert!(scalar::binary("rem", f(1.0), f(0.0)).is_none());
    assert!(scalar::unary("sqrt", f(-1.0)).is_none());
    assert!(scalar::unary("exp", f(1.0)).is_none());
}

#[test]
fn zeros_and_order() {
    let f = |v: f64| Scalar::float(v, DType::F32);
    let bits = |op, x, y| {
        scalar::binary(op, f(x), f(y))
            .unwrap()
            .as_float()
            .unwrap()
            .to_bits()
    };
    assert_eq!(bits("maximum", -0.0, 0.0), 0.0f64.to_bits());
    assert_eq!(bits("maximum", 0.0, -0.0), 0.0f64.to_bits());
    assert_eq!(bits("minimum", 0.0, -0.0), (-0.0f64).to_bits());
    let sign = scalar::unary("sign", f(-0.0)).unwrap().as_float().unwrap();
    assert_eq!(sign.to_bits(), (-0.0f64).to_bits());
    let relu = scalar::unary("relu", f(-0.0)).unwrap().as_float().unwrap();
    assert_eq!(relu.to_bits(), 0.0f64.to_bits());
    let truth = |p| scalar::compare(p, f(f64::NAN), f(1.0)).unwrap().as_int();
    assert_eq!(
        ["eq", "ne", "lt", "ge"].map(truth),
        [Some(0), Some(1), Some(0), Some(0)]
    );
}

#[test]
fn no_constant_has_an_extent_that_nobody_named() {
    let (mut p, _, y) = with_constant(t(&["?"], DType::I32), &AND, 0.0, false);
    assert_eq!(fold(&mut p, y), None);
    let (mut p, _, y) = with_constant(t(&["N"], DType::I32), &AND, 0.0, false);
    assert!(to_number(&mut p, y).is_some());
}

#[test]
fn constants_are_seen_through_their_attributes() {
    let mut p = Program::new(&[]);
    let ty = p.ir.scalar(DType::BF16);
    let x = p.build().constant_float(0.1, ty).unwrap();
    let Some(Number::Float(value)) = uniform(&p.ir, x).map(|s| s.number) else {
        panic!("a float")
    };
    assert_eq!(value, half::bf16::from_f32(0.1).to_f64());
    let y = p.build().add(x, x).unwrap();
    assert_eq!(to_number(&mut p, y).unwrap().as_float(), Some(2.0 * value));
}

#[test]
fn the_last_of_nothing_and_of_equal_elements_is_known() {
    let folded = |axes: &'static [&'static str], constant: bool| {
        let mut p = Program::new(&[t(axes, DType::F32)]);
        let x = p.arg(0);
        let ty = p.ir.value_type(x);
        let mut b = p.build();
        let x = match constant {
            true => b.constant_float(3.0, ty).unwrap(),
            false => x,
        };
        let number = b.ir.scalar(DType::F32);
        let number = fusion::build::float_attr(b.ir, 7.0, number);
        let clauses = [b.int("dim", 1), ("otherwise", number)];
        let last = b.value(&LAST, &[x], &clauses).unwrap();
        to_number(&mut p, last).map(|s| s.as_float().unwrap())
    };
    assert_eq!(folded(&["4", "0"], false), Some(7.0));
    assert_eq!(folded(&["4", "0"], true), Some(7.0));
    assert_eq!(folded(&["4", "2"], true), Some(3.0));
    assert_eq!(folded(&["4", "2"], false), None);
    assert_eq!(folded(&["4", "N"], true), None);
}
