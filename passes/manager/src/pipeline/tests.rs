//! Pipelines as text: the texts that parse, the printed form, and the place of each mistake.

use super::*;
use crate::def::{OptionDef, OptionKind};

static CSE: PassDef = PassDef {
    name: "cse",
    ..PassDef::EMPTY
};
static SEGMENT: PassDef = PassDef {
    name: "segment",
    anchor: &["task.program"],
    options: &[
        OptionDef {
            name: "objective",
            kind: OptionKind::Choice(&["bytes", "time"]),
            default: "time",
            doc: "",
        },
        OptionDef {
            name: "limit",
            kind: OptionKind::Int { min: 0, max: 9 },
            default: "3",
            doc: "",
        },
        OptionDef {
            name: "names",
            kind: OptionKind::List,
            default: "",
            doc: "",
        },
        OptionDef {
            name: "quick",
            kind: OptionKind::Bool,
            default: "false",
            doc: "",
        },
    ],
    ..PassDef::EMPTY
};
static FUSE: PipelineDef = PipelineDef {
    name: "fuse",
    summary: "",
    anchor: ROOT,
    text: "cse,task.program(cse,segment{quick}),cse",
};
const CATALOG: Catalog<'static> = Catalog {
    passes: &[&CSE, &SEGMENT],
    pipelines: &[&FUSE],
    anchors: &["builtin.module", "task.program", "task.segment"],
};
const SEGMENT_TEXT: &str = "segment{objective=time limit=3 names= quick=false}";

fn text(input: &str) -> String {
    parse(input, 0, &CATALOG).unwrap().pipeline.to_string()
}
/// Code, text under the caret, message, help of each error.
fn errors(input: &str) -> Vec<(&str, &str, String, String)> {
    let errors = parse(input, 0, &CATALOG).unwrap_err();
    let line = |e: fuser_ir::Diagnostic| {
        let fuser_ir::Place::Span { span, .. } = e.place else {
            panic!("no place")
        };
        let under = &input[span.start as usize..span.end as usize];
        (e.code, under, e.message, e.helps.join("; "))
    };
    errors.into_iter().map(line).collect()
}

#[test]
fn print_is_a_fixed_point() {
    for input in [
        "builtin.module()",
        "builtin.module(cse)",
        "builtin.module( cse , task.program( segment , cse ) )",
        "builtin.module(task.program(segment{names=a,b limit=9}),task.program(cse))",
        "builtin.module(task.program(segment{names='a b' quick}))",
        "any(cse)",
    ] {
        let once = text(input);
        assert_eq!(text(&once), once, "{input}");
    }
}
#[test]
fn missing_wrapper_is_accepted_and_told() {
    let parsed = parse("segment,cse", 0, &CATALOG).unwrap();
    let printed = parsed.pipeline.to_string();
    assert_eq!(
        printed,
        format!("builtin.module(task.program({SEGMENT_TEXT}),cse)")
    );
    assert_eq!(
        parsed.warnings[0].helps,
        ["taken as 'builtin.module(task.program(segment),cse)'"]
    );
    assert_eq!(
        text("task.program(cse)"),
        "builtin.module(task.program(cse))"
    );
}
#[test]
fn aliases_expand() {
    let quick = SEGMENT_TEXT.replace("quick=false", "quick=true");
    assert_eq!(
        text("builtin.module(fuse)"),
        format!("builtin.module(cse,task.program(cse,{quick}),cse)")
    );
    let found = errors("builtin.module(task.program(fuse))");
    assert_eq!(found[0].1, "fuse");
    assert_eq!(
        found[0].2,
        "pipeline 'fuse' runs on builtin.module, not on task.program"
    );
}
#[test]
fn several_mistakes_in_one_run() {
    let found = errors("builtin.module(cs,segment,task.progam(cse,segment{limt=3 limit=99}))");
    let got: Vec<_> = found.iter().map(|e| (e.0, e.1, e.3.as_str())).collect();
    assert_eq!(
        got,
        [
            ("FIR0601", "cs", "did you mean 'cse'?"),
            (
                "FIR0605",
                "segment",
                "write builtin.module(task.program(segment))"
            ),
            ("FIR0605", "task.progam", "did you mean 'task.program'?"),
            (
                "FIR0605",
                "segment",
                "write builtin.module(task.program(segment))"
            ),
            ("FIR0603", "limt", "did you mean 'limit'?"),
            ("FIR0604", "99", ""),
        ]
    );
}
#[test]
fn broken_syntax_says_where() {
    for (input, under, message) in [
        (
            "builtin.module(cse",
            "builtin.module(",
            "'builtin.module(' is never closed",
        ),
        (
            "builtin.module(cse,)",
            ")",
            "expected a pass or an op name, found ')'",
        ),
        ("builtin.module(cse))", ")", "')' closes nothing"),
        (
            "builtin.module(cse;cse)",
            ";",
            "expected ',' or ')', found ';'",
        ),
        ("builtin.module(segment{a)", "{", "'{' is never closed"),
        (
            "builtin.module(cse(cse))",
            "cse",
            "'cse' is a pass and takes no '('",
        ),
        (
            "builtin.module(task.program)",
            "task.program",
            "'task.program' is an op, not a pass",
        ),
        (
            "builtin.module(é)",
            "é",
            "expected a pass or an op name, found 'é'",
        ),
    ] {
        let found = errors(input);
        assert_eq!(
            (found[0].1, found[0].2.as_str()),
            (under, message),
            "{input}"
        );
        assert_eq!(found.len(), 1, "{input}: {found:?}");
    }
}
#[test]
fn deep_nesting_is_an_error() {
    let input = format!("builtin.module({}", "task.program(".repeat(100_000));
    assert_eq!(errors(&input)[0].2, "pipelines nest at most 16 deep");
}
#[test]
fn truncation_and_rest() {
    let whole = parse("builtin.module(fuse)", 0, &CATALOG).unwrap().pipeline;
    let head = whole.up_to("segment").unwrap();
    assert_eq!(head.passes().len(), 3);
    assert_eq!(whole.only(3).to_string(), "builtin.module(cse)");
    assert!(whole.up_to("nothing").is_none());
}
#[test]
fn flags_share_a_nest() {
    let mut builder = PipelineBuilder::new(CATALOG);
    for pass in [&SEGMENT, &SEGMENT, &CSE] {
        builder.pass(pass, PassOptions::defaults(pass));
    }
    let printed = builder.finish().to_string();
    assert_eq!(
        printed,
        format!("builtin.module(task.program({SEGMENT_TEXT},{SEGMENT_TEXT}),cse)")
    );
}
