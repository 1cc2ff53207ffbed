//! Every elementwise op, cast and one-axis reduction against tables that numpy made (`data/make.py`), bit for bit.
//!
//! Functions of f64 are the only exception: numpy's and ours are both within one unit in the last place of the true
//! value, so they may be two apart.

use crate::common::*;
use fuser_interp::{Data, Tensor};
use fuser_ir::DType;
use half::{bf16, f16};

fn parse_tensor(text: &str) -> Tensor {
    let mut words = text.split_whitespace();
    let dtype = DType::from_name(words.next().unwrap()).unwrap();
    let bits: Vec<u64> = words
        .map(|w| match w {
            "True" => 1,
            "False" => 0,
            hex => u64::from_str_radix(hex, 16).unwrap(),
        })
        .collect();
    let b = bits.iter().copied();
    let data = match dtype {
        DType::F64 => Data::F64(b.map(f64::from_bits).collect()),
        DType::F32 => Data::F32(b.map(|b| f32::from_bits(b as u32)).collect()),
        DType::F16 => Data::F16(b.map(|b| f16::from_bits(b as u16)).collect()),
        DType::BF16 => Data::BF16(b.map(|b| bf16::from_bits(b as u16)).collect()),
        DType::F8E4M3FN => Data::F8E4M3FN(b.map(|b| fuser_interp::F8E4M3FN(b as u8)).collect()),
        DType::F8E5M2 => Data::F8E5M2(b.map(|b| fuser_interp::F8E5M2(b as u8)).collect()),
        DType::F8E8M0FNU => Data::F8E8M0FNU(b.map(|b| fuser_interp::F8E8M0FNU(b as u8)).collect()),
        DType::F4E2M1FN => Data::F4E2M1FN(b.map(|b| fuser_interp::F4E2M1FN(b as u8)).collect()),
        DType::I64 | DType::Index => Data::I64(b.map(|b| b as i64).collect()),
        DType::I32 => Data::I32(b.map(|b| b as u32 as i32).collect()),
        DType::I16 => Data::I16(b.map(|b| b as i16).collect()),
        DType::I8 => Data::I8(b.map(|b| b as i8).collect()),
        DType::U64 => Data::U64(bits.clone()),
        DType::U32 => Data::U32(b.map(|b| b as u32).collect()),
        DType::U16 => Data::U16(b.map(|b| b as u16).collect()),
        DType::U8 => Data::U8(b.map(|b| b as u8).collect()),
        DType::I1 => Data::I1(b.map(|b| b != 0).collect()),
        DType::C64 | DType::C128 => panic!("tests/complex.rs has those"),
    };
    Tensor::dense(dtype, &[bits.len()], data).unwrap()
}

struct Line {
    op: String,
    clause: String,
    operands: Vec<Tensor>,
    expected: Tensor,
}

fn parse(line: &str) -> Line {
    let (head, rest) = line.split_once(" : ").unwrap();
    let (op, clause) = head.split_once(' ').unwrap();
    let (operands, expected) = rest.split_once("=>").unwrap();
    Line {
        op: op.into(),
        clause: clause.into(),
        operands: operands.split(';').map(parse_tensor).collect(),
        expected: parse_tensor(expected),
    }
}

fn run(line: &Line) -> Tensor {
    let clause = match line.op.as_str() {
        "cast" => vec![C::DType("to", DType::from_name(&line.clause).unwrap())],
        "compare" => vec![C::Word("predicate", &line.clause)],
        "sum" | "prod" | "max" | "min" => vec![C::Ints("dims", &[0])],
        _ => vec![],
    };
    apply(&line.op, &clause, &line.operands).remove(0)
}

/// Units in the last place that two f64 are apart.
fn distance(a: f64, b: f64) -> u64 {
    let key = |x: f64| {
        let bits = x.to_bits() as i64;
        if bits < 0 {
            i64::MIN.wrapping_sub(bits)
        } else {
            bits
        }
    };
    key(a).abs_diff(key(b))
}

fn agree(line: &Line, result: &Tensor, i: usize) -> bool {
    let (a, e) = (result.data().float(i), line.expected.data().float(i));
    let library = [
        "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin",
        "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc",
        "sigmoid", "pow", "atan2",
    ];
    let slack = match result.dtype() == DType::F64 && library.contains(&line.op.as_str()) {
        true => 2,
        false => 0,
    };
    match (result.data().int(i), line.expected.data().int(i)) {
        (Some(a), e) => e == Some(a),
        _ if a.is_nan() || e.is_nan() => a.is_nan() && e.is_nan(),
        _ => a.to_bits() == e.to_bits() || (slack > 0 && distance(a, e) <= slack),
    }
}

#[test]
fn agrees_with_numpy() {
    let table = include_str!("data/numpy.txt");
    let lines: Vec<Line> = table
        .lines()
        .filter(|l| !l.starts_with('#'))
        .map(parse)
        .collect();
    let mut faults = Vec::new();
    let mut elements = 0;
    for line in &lines {
        let result = run(line);
        let count = line.expected.stored_len();
        assert_eq!(result.stored_len(), count, "{}", line.op);
        elements += count;
        for i in (0..count).filter(|&i| !agree(line, &result, i)) {
            let operands: Vec<f64> = line.operands.iter().map(|t| t.data().float(i)).collect();
            faults.push(format!(
                "{} {} {}: {operands:?} gives {:e}, should be {:e}",
                line.op,
                line.clause,
                line.operands[0].dtype().name(),
                result.data().float(i),
                line.expected.data().float(i)
            ));
        }
    }
    assert!(elements > 7000 && lines.len() > 300);
    assert!(
        faults.is_empty(),
        "{} of {elements}\n{}",
        faults.len(),
        faults.join("\n")
    );
}
