//! A small dialect and helpers for tests of the text.
#![allow(dead_code)]

use std::sync::Arc;

use fuser_ir::def::{
    ClauseKind, DTypes, DialectDef, OpError, OpParts, RegionDef, ResultTypes, Shape, Syntax,
    TypeConstraint, clause, operand, operands, optional, region, result, results,
};
use fuser_ir::parse::{ParseOptions, ParseResult, parse};
use fuser_ir::print::{PrintOptions, print};
use fuser_ir::render::{RenderOptions, render};
use fuser_ir::source::SourceMap;
use fuser_ir::{Ir, Op, OpDef, Registry, Traits, equal};

const DATA: TypeConstraint = TypeConstraint::new(Shape::Elementwise, DTypes::ANY);

static ADD: OpDef = OpDef {
    name: "t.add",
    operands: &[operand("a", DATA, ""), operand("b", DATA, "")],
    results: &[result("sum", DATA, "")],
    traits: Traits::PURE,
    infer: Some(infer_same),
    ..OpDef::EMPTY
};
static CONST: OpDef = OpDef {
    name: "t.const",
    clauses: &[clause("value", ClauseKind::Number, "the value")],
    results: &[result("value", DATA, "")],
    ..OpDef::EMPTY
};
static ALL: OpDef = OpDef {
    name: "t.all",
    operands: &[operands("values", TypeConstraint::ANY, "")],
    clauses: &[
        optional("dims", ClauseKind::I64Array, ""),
        optional("shape", ClauseKind::Extents, ""),
        optional("to", ClauseKind::DType, ""),
        optional("ty", ClauseKind::Type, ""),
        optional("count", ClauseKind::Int, ""),
        optional("value", ClauseKind::Number, ""),
        optional("kind", ClauseKind::String, ""),
        optional("predicate", ClauseKind::Keyword(&["lt", "le", "eq"]), ""),
        optional("flag", ClauseKind::Unit, ""),
        optional("callee", ClauseKind::Symbol, ""),
        optional("names", ClauseKind::StringArray, ""),
        optional("any", ClauseKind::Any, ""),
    ],
    results: &[results("values", TypeConstraint::ANY, "")],
    infer: Some(infer_stated),
    ..OpDef::EMPTY
};
static FUNC: OpDef = OpDef {
    name: "t.func",
    regions: &[region("body", "")],
    syntax: Syntax {
        symbol: true,
        signature: true,
        terminator: Some("t.end"),
    },
    traits: Traits::SYMBOL.union(Traits::ISOLATED),
    ..OpDef::EMPTY
};
static GROUP: OpDef = OpDef {
    name: "t.group",
    operands: &[operands("values", TypeConstraint::ANY, "")],
    regions: &[
        region("body", ""),
        RegionDef {
            optional: true,
            ..region("else", "")
        },
    ],
    results: &[results("values", TypeConstraint::ANY, "")],
    syntax: Syntax {
        symbol: true,
        signature: false,
        terminator: Some("t.end"),
    },
    infer: Some(infer_ended),
    ..OpDef::EMPTY
};
static END: OpDef = OpDef {
    name: "t.end",
    operands: &[operands("values", TypeConstraint::ANY, "")],
    traits: Traits::TERMINATOR,
    ..OpDef::EMPTY
};
static DIALECT: DialectDef = DialectDef {
    name: "t",
    doc: "",
    ops: &[&ADD, &CONST, &ALL, &FUNC, &GROUP, &END],
    discardable: &[],
};

fn infer_same(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let types: Vec<_> = parts.operands.iter().map(|v| ir.value_type(*v)).collect();
    match types.as_slice() {
        [a, b] if a == b => Ok(ResultTypes::from_slice(&[*a])),
        _ => Err(OpError::at(fuser_ir::def::At::Operand(1), "types differ")),
    }
}

fn infer_stated(_: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    Ok(parts
        .stated
        .map(ResultTypes::from_slice)
        .unwrap_or_default())
}

fn infer_ended(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let none = || OpError::new("has no end");
    let region = *parts.regions.first().ok_or_else(none)?;
    let last = ir.entry_block(region).and_then(|b| ir.last_op(b));
    let last = last.ok_or_else(none)?;
    Ok(ir.operands(last).map(|v| ir.value_type(v)).collect())
}

/// An empty program that knows the test dialect.
pub fn ir() -> Ir {
    Ir::new(Arc::new(Registry::new(&[&DIALECT])))
}

/// Parses with unknown dialects allowed.
pub fn read(ir: &mut Ir, text: &str) -> ParseResult {
    let options = ParseOptions {
        file_name: "t.fir".into(),
        allow_unregistered: true,
        ..ParseOptions::default()
    };
    parse(ir, 0, text, &options)
}

/// Parses a program without mistakes.
pub fn valid(text: &str) -> (Ir, Op) {
    let mut ir = ir();
    let result = read(&mut ir, text);
    let shown = shown(text, &result);
    (
        ir,
        result.module.unwrap_or_else(|| panic!("{shown}\n{text}")),
    )
}

/// The rendered diagnostics.
pub fn shown(text: &str, result: &ParseResult) -> String {
    let mut sources = SourceMap::default();
    sources.add("t.fir", text);
    render(&result.diagnostics, &sources, RenderOptions::default())
}

/// The rendered diagnostics of a wrong program.
pub fn mistakes(text: &str) -> String {
    let result = read(&mut ir(), text);
    shown(text, &result)
}

/// The codes of the diagnostics, in order.
pub fn codes(text: &str) -> Vec<&'static str> {
    let result = read(&mut ir(), text);
    result.diagnostics.items.iter().map(|d| d.code).collect()
}

/// Prints in custom form.
pub fn printed(text: &str) -> String {
    let (ir, module) = valid(text);
    print(&ir, module, &PrintOptions::default())
}

/// All ways to print that lose nothing when read again.
pub fn forms() -> Vec<PrintOptions> {
    let plain = PrintOptions::default();
    let mut forms = Vec::new();
    for generic in [false, true] {
        for debuginfo in [false, true] {
            for types in [false, true] {
                forms.push(PrintOptions {
                    generic,
                    debuginfo,
                    types,
                    ..plain
                });
            }
        }
    }
    forms.push(PrintOptions {
        debuginfo: true,
        local_scope: true,
        ..plain
    });
    forms
}

/// Prints, reads and prints again in every form: the same text, and with locations the same program.
pub fn round_trip(text: &str) {
    let (ir, module) = valid(text);
    round_trip_ir(&ir, module);
}

/// As [`round_trip`], of a program that exists.
pub fn round_trip_ir(ir: &Ir, module: Op) {
    for options in forms() {
        let once = print(ir, module, &options);
        let (again, root) = valid(&once);
        let twice = print(&again, root, &options);
        assert_eq!(once, twice, "{options:?}");
        let differs = equal::difference((ir, module), (&again, root));
        if let Some(difference) = differs.filter(|_| options.debuginfo) {
            panic!("{options:?}: {difference}\n{once}");
        }
    }
}
