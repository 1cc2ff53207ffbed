//! Type inference: odd shapes, rank 0, extents 0 and 1, unknown and symbolic extents; each refusal with its code and
//! place.

use crate::support::*;
use fuser_dialects::fusion::*;
use fuser_ir::attr::AttrKind;
use fuser_ir::def::At;
use fuser_ir::{DType, OpDef, describe};

const F: DType = DType::F32;

/// A clause in tests.
#[derive(Clone, Copy)]
enum C {
    Ints(&'static str, &'static [i64]),
    Shape(&'static str, &'static [&'static str]),
    Amounts(&'static str, &'static [&'static str]),
    Int(&'static str, i64),
    To(&'static str, DType),
    Word(&'static str, &'static str),
    Flag(&'static str),
}
use C::*;

fn dims_of(list: &'static [i64]) -> C {
    Ints("dims", list)
}
fn shape(list: &'static [&'static str]) -> C {
    Shape("shape", list)
}

/// The result types as text, or code and place of the mistake.
fn infer(
    def: &'static OpDef,
    operands: &[TypeText],
    clauses: &[C],
) -> Result<String, (&'static str, At)> {
    let mut p = Program::new(operands);
    let values: Vec<_> = (0..operands.len()).map(|i| p.arg(i)).collect();
    let mut b = p.build();
    let clauses: Vec<_> = clauses
        .iter()
        .map(|clause| match *clause {
            Ints(name, list) => b.ints(name, list),
            Shape(name, list) => {
                let list = dims(b.ir, list);
                b.shape(name, &list)
            }
            Amounts(name, list) => {
                let list = dims(b.ir, list);
                let list = list.iter().map(|d| b.ir.extent_as_expr(d.extent));
                let list: Vec<_> = list.map(|e| e.expect("it is known")).collect();
                let clause = b.amounts(name, &list);
                clause.expect("none is negative")
            }
            Int(name, value) => b.int(name, value),
            To(name, dtype) => b.dtype(name, dtype),
            Word(name, word) => b.word(name, word),
            Flag(name) => b.flag(name),
        })
        .collect();
    let op = b.op(def, &values, &clauses);
    let op = op.map_err(|e| (e.code.map_or("", |c| c.code), e.at))?;
    let results = p.ir.results(op).iter();
    let types: Vec<_> = results
        .map(|v| describe::ty(&p.ir, p.ir.value_type(*v)))
        .collect();
    Ok(types.join(", "))
}

fn gives(def: &'static OpDef, operands: &[TypeText], clauses: &[C], expected: &str) {
    assert_eq!(
        infer(def, operands, clauses),
        Ok(expected.to_owned()),
        "{}",
        def.name
    );
}

fn refuses(def: &'static OpDef, operands: &[TypeText], clauses: &[C], code: &str, at: At) {
    let got = infer(def, operands, clauses).expect_err("it was accepted");
    assert_eq!(got, (code, at), "{}", def.name);
}

#[test]
fn elementwise_shapes_join() {
    let add = |a, b, expected| gives(&ADD, &[a, b], &[], expected);
    add(t(&["3", "5"], F), t(&["3", "5"], F), "tensor<3x5xf32>");
    add(t(&[], F), t(&[], F), "tensor<f32>");
    add(s(F), s(F), "f32");
    add(s(F), t(&[], F), "tensor<f32>");
    add(t(&[], F), t(&["0", "1", "17"], F), "tensor<0x1x17xf32>");
    add(t(&["N", "M"], F), s(F), "tensor<[N]x[M]xf32>");
    add(
        t(&["b4", "N"], F),
        t(&["b4", "bN"], F),
        "tensor<b4x[N]xf32>",
    );
    add(t(&["4"], F), t(&["b4"], F), "tensor<4xf32>");
    add(t(&["N*M"], F), t(&["M*N"], F), "tensor<[M*N]xf32>");
    // `?` agrees with nothing, but a scalar asks for no agreement.
    add(t(&["?", "b?"], F), s(F), "tensor<?xb?xf32>");
    gives(&EXP, &[t(&["?"], DType::BF16)], &[], "tensor<?xbf16>");
}

#[test]
fn elementwise_refusals() {
    let add = |a, b, code| refuses(&ADD, &[a, b], &[], code, At::Operand(1));
    add(t(&["4"], F), t(&["5"], F), "FIR0301");
    add(t(&["1"], F), t(&["5"], F), "FIR0301");
    add(t(&["b1"], F), t(&["b5"], F), "FIR0301");
    add(t(&["4"], F), t(&["4", "1"], F), "FIR0301");
    add(t(&["N"], F), t(&["M"], F), "FIR0301");
    add(t(&["N"], F), t(&["8"], F), "FIR0301");
    add(t(&["?"], F), t(&["?"], F), "FIR0303");
    add(t(&["?"], F), t(&["4"], F), "FIR0303");
    add(t(&["4"], F), t(&["4"], DType::BF16), "FIR0302");
    add(s(F), s(DType::F64), "FIR0302");
    refuses(
        &EXP,
        &[t(&["4"], DType::I32)],
        &[],
        "FIR0211",
        At::Operand(0),
    );
    refuses(
        &ADD,
        &[t(&["4"], DType::I1); 2],
        &[],
        "FIR0211",
        At::Operand(0),
    );
    refuses(
        &SHL,
        &[t(&["4"], DType::I1); 2],
        &[],
        "FIR0211",
        At::Operand(0),
    );
    refuses(
        &POW,
        &[t(&["4"], DType::I64); 2],
        &[],
        "FIR0211",
        At::Operand(0),
    );
    refuses(&ADD, &[s(F)], &[], "FIR0210", At::Op);
    refuses(&ADD, &[s(F); 3], &[], "FIR0210", At::Op);
}

/// Vectors: same lanes, scalars beside them, never tensors.
#[test]
fn vectors_join() {
    let mut p = Program::new(&[s(F), t(&["4"], F), t(&[], F)]);
    let (v4, v8) = (p.ir.vector(4, F), p.ir.vector(8, F));
    let (a, b) = (
        p.ir.append_arg(p.body, v4, None),
        p.ir.append_arg(p.body, v8, None),
    );
    let (scalar, tensor, zero) = (p.arg(0), p.arg(1), p.arg(2));
    let mut add = |x, y| {
        p.build()
            .value(&ADD, &[x, y], &[])
            .map_err(|e| e.code.unwrap().code)
    };
    assert_eq!(add(a, b), Err("FIR0301"));
    assert_eq!(add(a, tensor), Err("FIR0310"));
    assert_eq!(add(zero, a), Err("FIR0310"));
    let (sum, mixed) = (add(a, a).unwrap(), add(scalar, b).unwrap());
    assert_eq!(p.ir.value_type(sum), v4);
    assert_eq!(p.ir.value_type(mixed), v8);
}

#[test]
fn tests_and_choices() {
    let lt = [Word("predicate", "lt")];
    gives(
        &COMPARE,
        &[t(&["b3", "N"], F), s(F)],
        &lt,
        "tensor<b3x[N]xi1>",
    );
    gives(&COMPARE, &[s(DType::I1); 2], &lt, "i1");
    refuses(
        &COMPARE,
        &[s(F); 2],
        &[Word("predicate", "less")],
        "FIR0213",
        At::Clause("predicate"),
    );
    refuses(&COMPARE, &[s(F); 2], &[], "FIR0212", At::Op);
    gives(&ISNAN, &[t(&["0"], DType::F16)], &[], "tensor<0xi1>");
    let (c, x) = (t(&["4"], DType::I1), t(&["b4"], F));
    gives(&WHERE, &[c, x, x], &[], "tensor<4xf32>");
    gives(&WHERE, &[s(DType::I1), x, s(F)], &[], "tensor<b4xf32>");
    gives(&WHERE, &[c, s(F), s(F)], &[], "tensor<4xf32>");
    refuses(
        &WHERE,
        &[c, x, s(DType::F64)],
        &[],
        "FIR0302",
        At::Operand(2),
    );
    refuses(&WHERE, &[x, x, x], &[], "FIR0211", At::Operand(0));
    gives(&CLAMP, &[x, s(F), s(F)], &[], "tensor<b4xf32>");
}

#[test]
fn casts() {
    gives(
        &CAST,
        &[t(&["?", "b2"], F)],
        &[To("to", DType::I1)],
        "tensor<?xb2xi1>",
    );
    gives(
        &BITCAST,
        &[t(&["2"], F)],
        &[To("to", DType::I32)],
        "tensor<2xi32>",
    );
    gives(&BITCAST, &[s(DType::BF16)], &[To("to", DType::F16)], "f16");
    gives(&BITCAST, &[s(DType::Index)], &[To("to", DType::F64)], "f64");
    let at = At::Clause("to");
    refuses(&BITCAST, &[s(F)], &[To("to", DType::F64)], "FIR0311", at);
    refuses(
        &BITCAST,
        &[s(DType::I8)],
        &[To("to", DType::I1)],
        "FIR0311",
        at,
    );
    refuses(&CAST, &[s(F)], &[Int("to", 3)], "FIR0213", at);
}

#[test]
fn broadcast() {
    let go = |ty, d, sh, expected| gives(&BROADCAST, &[ty], &[dims_of(d), shape(sh)], expected);
    go(t(&["4"], F), &[1], &["8", "4"], "tensor<b8x4xf32>");
    go(t(&["4"], F), &[0], &["4", "N"], "tensor<4xb[N]xf32>");
    go(t(&["b4"], F), &[0], &["4", "0"], "tensor<b4xb0xf32>");
    go(t(&["b4"], F), &[0], &["b4", "b1"], "tensor<b4x1xf32>");
    go(t(&[], F), &[], &["3"], "tensor<b3xf32>");
    go(s(F), &[], &[], "tensor<f32>");
    go(t(&["?"], F), &[0], &["?", "2"], "tensor<?xb2xf32>");
    let no = |ty, d, sh, code, at| {
        refuses(
            &BROADCAST,
            &[ty],
            &[dims_of(d), shape(sh)],
            code,
            At::Clause(at),
        )
    };
    no(t(&["4"], F), &[1], &["8", "5"], "FIR0305", "shape");
    no(t(&["4"], F), &[1], &["8", "b4"], "FIR0307", "shape");
    no(t(&["4"], F), &[2], &["8", "4"], "FIR0304", "dims");
    no(t(&["4"], F), &[-1], &["8", "4"], "FIR0304", "dims");
    no(t(&["4"], F), &[], &["8", "4"], "FIR0304", "dims");
    no(t(&["4", "8"], F), &[1, 0], &["8", "4"], "FIR0304", "dims");
    no(t(&["4", "4"], F), &[0, 0], &["4", "4"], "FIR0304", "dims");
    no(t(&["4"], F), &[0], &["4", "?"], "FIR0303", "shape");
}

#[test]
fn expand_squeeze_permute() {
    let expand = |ty, sh, expected| gives(&EXPAND, &[ty], &[shape(sh)], expected);
    expand(t(&["4", "1"], F), &["4", "8"], "tensor<4xb8xf32>");
    expand(t(&["1", "1"], F), &["1", "0"], "tensor<1xb0xf32>");
    expand(t(&["b1", "?"], F), &["N", "?"], "tensor<b[N]x?xf32>");
    expand(t(&[], F), &[], "tensor<f32>");
    let at = At::Clause("shape");
    refuses(&EXPAND, &[t(&["2"], F)], &[shape(&["4"])], "FIR0305", at);
    refuses(
        &EXPAND,
        &[t(&["2"], F)],
        &[shape(&["2", "2"])],
        "FIR0305",
        at,
    );
    refuses(&EXPAND, &[t(&["1"], F)], &[shape(&["?"])], "FIR0303", at);
    let squeeze = |ty, d, expected| gives(&SQUEEZE, &[ty], &[dims_of(d)], expected);
    squeeze(t(&["1", "4", "b1"], F), &[0, 2], "tensor<4xf32>");
    squeeze(t(&["1"], F), &[0], "tensor<f32>");
    squeeze(t(&["N"], F), &[], "tensor<[N]xf32>");
    refuses(
        &SQUEEZE,
        &[t(&["N"], F)],
        &[dims_of(&[0])],
        "FIR0305",
        At::Clause("dims"),
    );
    refuses(
        &SQUEEZE,
        &[t(&["b4"], F)],
        &[dims_of(&[0])],
        "FIR0305",
        At::Clause("dims"),
    );
    let permute = |ty, d, expected| gives(&PERMUTE, &[ty], &[dims_of(d)], expected);
    permute(t(&["2", "b3", "?"], F), &[2, 0, 1], "tensor<?x2xb3xf32>");
    permute(t(&[], F), &[], "tensor<f32>");
    for bad in [&[0, 0][..], &[0], &[0, 2], &[0, 1, 1], &[-1, 0]] {
        refuses(
            &PERMUTE,
            &[t(&["2", "3"], F)],
            &[dims_of(bad)],
            "FIR0304",
            At::Clause("dims"),
        );
    }
}

#[test]
fn reshape() {
    let go = |ty, sh, expected| gives(&RESHAPE, &[ty], &[shape(sh)], expected);
    go(t(&["24"], F), &["2", "3", "4"], "tensor<2x3x4xf32>");
    go(t(&["N", "24"], F), &["6", "N", "4"], "tensor<6x[N]x4xf32>");
    go(t(&["N", "M"], F), &["N*M"], "tensor<[M*N]xf32>");
    go(
        t(&["N*M", "2"], F),
        &["M", "2", "N"],
        "tensor<[M]x2x[N]xf32>",
    );
    go(t(&["0", "3"], F), &["7", "0"], "tensor<7x0xf32>");
    go(t(&["1", "1"], F), &[], "tensor<f32>");
    go(t(&[], F), &["1"], "tensor<1xf32>");
    go(
        t(&["4", "b2", "6"], F),
        &["2", "2", "b2", "3", "2"],
        "tensor<2x2xb2x3x2xf32>",
    );
    go(t(&["?"], F), &["?"], "tensor<?xf32>");
    let no = |ty, sh, code| refuses(&RESHAPE, &[ty], &[shape(sh)], code, At::Clause("shape"));
    no(t(&["4"], F), &["5"], "FIR0306");
    no(t(&["N"], F), &["M"], "FIR0306");
    no(t(&["N", "2"], F), &["N"], "FIR0306");
    no(t(&["4", "b2"], F), &["8"], "FIR0307");
    no(t(&["4", "2"], F), &["4", "b2"], "FIR0307");
    // Elements may not cross a broadcast axis.
    no(t(&["4", "b2", "6"], F), &["6", "b2", "4"], "FIR0306");
    no(t(&["4"], F), &["?"], "FIR0303");
    refuses(
        &RESHAPE,
        &[t(&["?", "2"], F)],
        &[shape(&["2"])],
        "FIR0303",
        At::Operand(0),
    );
    refuses(
        &RESHAPE,
        &[t(&["9223372036854775807", "3"], F)],
        &[shape(&["3"])],
        "FIR0306",
        At::Clause("shape"),
    );
}

#[test]
fn copies() {
    gives(&COPY, &[t(&["b4", "N"], F)], &[], "tensor<b4x[N]xf32>");
    gives(
        &COPY,
        &[t(&["b4", "N"], F)],
        &[Flag("dense")],
        "tensor<4x[N]xf32>",
    );
    gives(&SEGMENT_SET, &[t(&["?"], F)], &[], "tensor<?xf32>");
    refuses(&COPY, &[s(F)], &[], "FIR0211", At::Operand(0));
}

#[test]
fn reductions() {
    let sum = |ty, d, expected| gives(&SUM, &[ty], &[dims_of(d)], expected);
    sum(t(&["4", "N", "?"], F), &[1], "tensor<4x?xf32>");
    sum(t(&["4", "b8"], DType::I8), &[0, 1], "tensor<i8>");
    sum(t(&["0"], F), &[0], "tensor<f32>");
    sum(t(&[], F), &[], "tensor<f32>");
    sum(t(&["b4"], F), &[], "tensor<b4xf32>");
    gives(
        &MAX,
        &[t(&["4", "b8"], F)],
        &[dims_of(&[1]), Flag("keepdim")],
        "tensor<4x1xf32>",
    );
    let two = [dims_of(&[1]), Int("correction", 1)];
    gives(
        &VAR_MEAN,
        &[t(&["N", "5"], F)],
        &two,
        "tensor<[N]xf32>, tensor<[N]xf32>",
    );
    refuses(
        &VAR_MEAN,
        &[t(&["5", "5"], DType::I32)],
        &two,
        "FIR0211",
        At::Operand(0),
    );
    refuses(
        &VAR_MEAN,
        &[t(&["5", "5"], F)],
        &[dims_of(&[1])],
        "FIR0212",
        At::Op,
    );
    refuses(
        &SUM,
        &[t(&["4"], F)],
        &[dims_of(&[1])],
        "FIR0304",
        At::Clause("dims"),
    );
    refuses(
        &SUM,
        &[t(&["4", "4"], F)],
        &[dims_of(&[1, 1])],
        "FIR0304",
        At::Clause("dims"),
    );
    refuses(
        &SUM,
        &[t(&["4"], DType::I1)],
        &[dims_of(&[0])],
        "FIR0211",
        At::Operand(0),
    );
    refuses(&SUM, &[s(F)], &[dims_of(&[])], "FIR0211", At::Operand(0));
    refuses(
        &SUM,
        &[t(&["4"], F)],
        &[Ints("dim", &[0])],
        "FIR0214",
        At::Op,
    );
}

#[test]
fn creation() {
    gives(&FULL, &[s(F)], &[shape(&["N", "0"])], "tensor<[N]x0xf32>");
    gives(&FULL, &[t(&[], F)], &[shape(&[])], "tensor<f32>");
    refuses(
        &FULL,
        &[t(&["1"], F)],
        &[shape(&["4"])],
        "FIR0305",
        At::Operand(0),
    );
    refuses(
        &FULL,
        &[s(F)],
        &[shape(&["b4"])],
        "FIR0307",
        At::Clause("shape"),
    );
    refuses(
        &FULL,
        &[s(F)],
        &[shape(&["?"])],
        "FIR0303",
        At::Clause("shape"),
    );
    let iota = |dim, sh, of| infer(&IOTA, &[], &[Int("dim", dim), shape(sh), To("of", of)]);
    assert_eq!(
        iota(1, &["4", "N"], DType::BF16),
        Ok("tensor<4x[N]xbf16>".into())
    );
    assert_eq!(iota(0, &[], F), Err(("FIR0304", At::Clause("dim"))));
    assert_eq!(iota(-1, &["4"], F), Err(("FIR0304", At::Clause("dim"))));
    assert_eq!(iota(0, &["4"], DType::I1), Err(("FIR0218", At::Result(0))));
}

#[test]
fn windows() {
    let slice = |ty, starts, sh, strides| {
        infer(
            &SLICE,
            &[ty],
            &[Ints("starts", starts), shape(sh), Ints("strides", strides)],
        )
    };
    let ok = |text: &str| Ok(text.to_owned());
    assert_eq!(slice(t(&["8"], F), &[1], &["3"], &[3]), ok("tensor<3xf32>"));
    assert_eq!(slice(t(&["8"], F), &[8], &["0"], &[1]), ok("tensor<0xf32>"));
    assert_eq!(
        slice(t(&["N", "b8"], F), &[0, 7], &["N", "1"], &[1, 1]),
        ok("tensor<[N]x1xf32>")
    );
    assert_eq!(slice(t(&["?"], F), &[0], &["?"], &[1]), ok("tensor<?xf32>"));
    let no = |code, at| Err((code, At::Clause(at)));
    assert_eq!(
        slice(t(&["8"], F), &[2], &["3"], &[3]),
        no("FIR0309", "shape")
    );
    assert_eq!(
        slice(t(&["8"], F), &[i64::MAX], &["3"], &[i64::MAX]),
        no("FIR0309", "shape")
    );
    assert_eq!(
        slice(t(&["N"], F), &[0], &["1"], &[1]),
        no("FIR0309", "shape")
    );
    assert_eq!(
        slice(t(&["N"], F), &[1], &["N"], &[1]),
        no("FIR0309", "shape")
    );
    assert_eq!(
        slice(t(&["8"], F), &[-1], &["3"], &[1]),
        no("FIR0309", "starts")
    );
    assert_eq!(
        slice(t(&["8"], F), &[0], &["3"], &[0]),
        no("FIR0309", "strides")
    );
    assert_eq!(
        slice(t(&["?"], F), &[0], &["3"], &[1]),
        no("FIR0303", "shape")
    );
    assert_eq!(
        slice(t(&["8"], F), &[0, 0], &["3"], &[1]),
        no("FIR0305", "starts")
    );
    let from = |ty, starts, sh| infer(&SLICE, &[ty], &[Amounts("starts", starts), shape(sh)]);
    assert_eq!(from(t(&["2*M"], F), &["M"], &["M"]), ok("tensor<[M]xf32>"));
    assert_eq!(from(t(&["2*M"], F), &["2*M"], &["0"]), ok("tensor<0xf32>"));
    assert_eq!(
        from(t(&["3*B*S", "8"], F), &["B*S", "1"], &["2*B*S", "7"]),
        ok("tensor<[2*B*S]x7xf32>")
    );
    assert_eq!(
        from(t(&["2*M"], F), &["M"], &["M+1"]),
        no("FIR0309", "shape")
    );
    assert_eq!(from(t(&["M"], F), &["N"], &["1"]), no("FIR0309", "shape"));
    assert_eq!(from(t(&["8"], F), &["M"], &["1"]), no("FIR0309", "shape"));
    let by = |ty, low, high| {
        infer(
            &PAD,
            &[ty, s(F)],
            &[Amounts("low", low), Amounts("high", high)],
        )
    };
    assert_eq!(
        by(t(&["N", "b2"], F), &["0", "N"], &["M", "0"]),
        ok("tensor<[M+N]x[N+2]xf32>")
    );
    assert_eq!(
        by(t(&["?"], F), &["N"], &["0"]),
        Err(("FIR0303", At::Operand(0)))
    );
    let pad = |ty, low, high| infer(&PAD, &[ty, s(F)], &[Ints("low", low), Ints("high", high)]);
    assert_eq!(
        pad(t(&["4", "b2"], F), &[1, 0], &[2, 0]),
        ok("tensor<7xb2xf32>")
    );
    assert_eq!(
        pad(t(&["N", "b2"], F), &[0, 0], &[1, 3]),
        ok("tensor<[N+1]x5xf32>")
    );
    assert_eq!(pad(t(&["?"], F), &[0], &[0]), ok("tensor<?xf32>"));
    assert_eq!(
        pad(t(&["?"], F), &[0], &[1]),
        Err(("FIR0303", At::Operand(0)))
    );
    assert_eq!(pad(t(&["4"], F), &[-1], &[0]), no("FIR0309", "low"));
    assert_eq!(
        pad(t(&["4"], F), &[i64::MAX], &[1]),
        Err(("FIR0309", At::Operand(0)))
    );
    let cat = |operands: &[TypeText], dim| infer(&CAT, operands, &[Int("dim", dim)]);
    let (a, b) = (t(&["4", "N"], F), t(&["0", "bN"], F));
    assert_eq!(cat(&[a, b], 0), ok("tensor<4x[N]xf32>"));
    assert_eq!(cat(&[a, t(&["4", "3"], F)], 1), ok("tensor<4x[N+3]xf32>"));
    assert_eq!(cat(&[t(&["b2"], F)], 0), ok("tensor<2xf32>"));
    assert_eq!(cat(&[a, b], 1), Err(("FIR0301", At::Operand(1))));
    assert_eq!(cat(&[a, t(&["4"], F)], 0), Err(("FIR0301", At::Operand(1))));
    assert_eq!(
        cat(&[t(&["?"], F), t(&["2"], F)], 0),
        Err(("FIR0303", At::Operand(1)))
    );
    assert_eq!(cat(&[a], 2), Err(("FIR0304", At::Clause("dim"))));
}

/// A constant's type is the written one, else the number's own; the value must fit.
#[test]
fn constants() {
    let make = |ty: Option<TypeText>, kind: fn(fuser_ir::TypeId) -> AttrKind, own: DType| {
        let mut p = Program::new(&[]);
        let own = p.ir.scalar(own);
        let attr = p.ir.attr(kind(own));
        let stated = ty.map(|t| t.id(&mut p.ir));
        let mut b = p.build();
        let op = match stated {
            Some(ty) => b.typed(&CONSTANT, &[], &[("value", attr)], ty),
            None => b.value(&CONSTANT, &[], &[("value", attr)]),
        };
        let text = |v| describe::ty(&p.ir, p.ir.value_type(v));
        op.map(text).map_err(|e| e.code.map_or("", |c| c.code))
    };
    let int: fn(_) -> _ = |ty| AttrKind::Int { value: 300, ty };
    let half: fn(_) -> _ = |ty| AttrKind::Float {
        bits: 0.5f64.to_bits(),
        ty,
    };
    let truth: fn(_) -> _ = |_| AttrKind::Bool(true);
    assert_eq!(make(None, half, DType::BF16), Ok("bf16".into()));
    assert_eq!(
        make(Some(t(&["N"], F)), half, DType::F64),
        Ok("tensor<[N]xf32>".into())
    );
    assert_eq!(make(Some(s(F)), int, DType::I64), Ok("f32".into()));
    assert_eq!(make(None, truth, DType::I1), Ok("i1".into()));
    assert_eq!(make(Some(s(DType::U8)), int, DType::I64), Err("FIR0308"));
    assert_eq!(make(Some(s(DType::I1)), int, DType::I64), Err("FIR0308"));
    assert_eq!(make(Some(s(DType::I32)), half, DType::F64), Err("FIR0308"));
    assert_eq!(make(Some(s(F)), truth, DType::I1), Err("FIR0308"));
}
