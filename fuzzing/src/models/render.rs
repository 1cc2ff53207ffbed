//! A program as text: the same one can be written in many ways.

use std::fmt::Write;

use fuser_ir::DType;

use super::program::{Clause, Op, Program, V};
use super::types::Type;
use crate::Source;

/// Options of the text.
#[derive(Clone, Debug)]
pub struct Style {
    /// The frequency of omitted result types, for ops that allow it: never, sometimes, always.
    pub types: Types,
    /// One in `generic` ops is printed in generic form; 0 for none.
    pub generic: u64,
    /// Choices among these.
    pub seed: u64,
}

/// The places at which result types are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Types {
    /// Everywhere.
    Written,
    /// Here and there.
    Mixed,
    /// Nowhere that they can be left out.
    Inferred,
}

/// The text of a program.
pub fn text(program: &Program, style: &Style) -> String {
    let mut source = Source::seed(style.seed);
    let mut text = String::from("task.program @model(");
    let parameters = program.parameters.iter();
    let parameters: Vec<String> = parameters
        .map(|(v, _)| format!("{}: {}", name(program, *v), program.ty(*v)))
        .collect();
    text += &parameters.join(", ");
    text += ") -> (";
    let results: Vec<String> = program
        .results
        .iter()
        .map(|r| result(program, *r))
        .collect();
    text += &results.join(", ");
    text += ") {\n";
    for op in &program.ops {
        let written = match style.types {
            Types::Written => true,
            Types::Mixed => source.chance(1, 2),
            Types::Inferred => false,
        };
        let line =
            match style.generic != 0 && source.chance(1, style.generic) && op.lambda.is_none() {
                true => generic(program, op),
                false => custom(program, op, written),
            };
        text += &format!("  {line}\n");
    }
    let returned: Vec<String> = program
        .results
        .iter()
        .map(|(v, _)| name(program, *v))
        .collect();
    text += &format!("  task.return {}\n}}\n", returned.join(", "));
    text
}

fn name(program: &Program, value: V) -> String {
    format!("%{}", program.values[value].name)
}

fn names(program: &Program, values: &[V]) -> String {
    let names: Vec<String> = values.iter().map(|v| name(program, *v)).collect();
    names.join(", ")
}

fn types(program: &Program, values: &[V]) -> String {
    let types: Vec<String> = values.iter().map(|v| program.ty(*v).to_string()).collect();
    types.join(", ")
}

fn result(program: &Program, (value, alias): (V, Option<V>)) -> String {
    let ty = program.ty(value);
    let index = alias.and_then(|a| program.parameters.iter().position(|(p, _)| *p == a));
    match index {
        Some(index) => format!("{ty} {{alias = {index} : i64}}"),
        None => ty.to_string(),
    }
}

/// True if the type cannot be inferred.
fn needs_type(op: &Op, ty: &Type) -> bool {
    op.name == "constant" || ty.layout.is_some()
}

fn custom(program: &Program, op: &Op, written: bool) -> String {
    let mut line = format!("{} = fusion.{}", names(program, &op.results), op.name);
    if !op.operands.is_empty() {
        let _ = write!(line, " {}", names(program, &op.operands));
    }
    for clause in &op.clauses {
        let _ = match clause {
            Clause::Ints(word, ints) => write!(line, " {word} {ints:?}"),
            Clause::Shape(dims) => write!(line, " shape [{}]", shape(dims)),
            Clause::Int(word, n) => write!(line, " {word} {n}"),
            Clause::Word(word, value) => write!(line, " {word} {value}"),
            Clause::Element(word, dtype) => write!(line, " {word} {}", dtype.name()),
            Clause::Number(number) => write!(line, " value {number}"),
            Clause::Numbers(word, list) => write!(line, " {word} [{}]", list.join(", ")),
            Clause::Flag(word) => write!(line, " {word}"),
        };
    }
    if let Some(lambda) = &op.lambda {
        let _ = write!(line, " {lambda}");
    }
    let needed = op.results.iter().any(|v| needs_type(op, program.ty(*v)));
    if written || needed {
        let _ = write!(line, " : {}", types(program, &op.results));
    }
    line
}

fn shape(dims: &[super::types::Dim]) -> String {
    let dims: Vec<String> = dims.iter().map(ToString::to_string).collect();
    dims.join(", ")
}

fn generic(program: &Program, op: &Op) -> String {
    let attributes: Vec<String> = op
        .clauses
        .iter()
        .map(|clause| match clause {
            Clause::Ints(word, ints) if ints.is_empty() => format!("{word} = array<i64>"),
            Clause::Ints(word, ints) => {
                let ints = format!("{ints:?}");
                format!("{word} = array<i64: {}>", ints.trim_matches(['[', ']']))
            }
            Clause::Shape(dims) => format!("shape = extents<{}>", shape(dims)),
            Clause::Int(word, n) => format!("{word} = {n}"),
            Clause::Word(word, value) => format!("{word} = \"{value}\""),
            Clause::Element(word, dtype) => format!("{word} = {}", dtype.name()),
            Clause::Number(number) if matches!(number.as_str(), "true" | "false") => {
                format!("value = {number}")
            }
            Clause::Number(number) => {
                format!("value = {number} : {}", types(program, &op.results))
            }
            Clause::Numbers(word, list) => format!("{word} = [{}]", list.join(", ")),
            Clause::Flag(word) => (*word).to_owned(),
        })
        .collect();
    let attributes = match attributes.is_empty() {
        true => String::new(),
        false => format!(" {{{}}}", attributes.join(", ")),
    };
    format!(
        "{} = \"fusion.{}\"({}){attributes} : ({}) -> ({})",
        names(program, &op.results),
        op.name,
        names(program, &op.operands),
        types(program, &op.operands),
        types(program, &op.results)
    )
}

/// A number as it is written for an element type.
pub fn literal(number: f64, dtype: DType) -> String {
    match dtype {
        DType::I1 => (number != 0.0).to_string(),
        _ if dtype.is_int() => (number as i64).to_string(),
        // Exactly the bits of infinity and NaN.
        _ if !number.is_finite() => infinite(number, dtype).into(),
        _ => format!("{number:?}"),
    }
}

fn infinite(number: f64, dtype: DType) -> &'static str {
    match (dtype, number > 0.0) {
        (DType::F64, true) => "0x7FF0000000000000",
        (DType::F64, false) => "0xFFF0000000000000",
        (DType::F32, true) => "0x7F800000",
        (DType::F32, false) => "0xFF800000",
        (DType::F16, true) => "0x7C00",
        (DType::F16, false) => "0xFC00",
        (_, true) => "0x7F80",
        (_, false) => "0xFF80",
    }
}
