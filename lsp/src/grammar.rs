//! The grammars of editors, generated from the op tables: colors for TextMate (VS Code and compatible editors) and a
//! grammar for tree-sitter.
//!
//! The files under `editors/` are the output of these functions; a test keeps them equal.

use std::collections::BTreeSet;

use fuser_ir::DType;
use fuser_ir::def::{ClauseKind, OpDef, Registry};
use serde_json::{Value, json};

/// A name without its sign.
const NAME: &str = "(?:[0-9]+|[a-zA-Z_$.-][a-zA-Z0-9_$.-]*)";

/// Types that have others inside.
const SHAPED: [&str; 6] = ["complex", "memref", "none", "tensor", "tuple", "vector"];

/// Words that begin attributes and locations.
const WORDS: [&str; 7] = [
    "affine_map",
    "array",
    "dense",
    "dense_resource",
    "distinct",
    "extents",
    "loc",
];

/// Words that are values.
const VALUES: [&str; 5] = ["false", "inf", "nan", "true", "unit"];

/// The words of all clauses.
fn clauses(registry: &Registry) -> BTreeSet<&'static str> {
    let clauses = registry.ops().flat_map(|op| op.clauses);
    clauses.map(|clause| clause.name).collect()
}

/// The words that clauses take.
fn choices(registry: &Registry) -> BTreeSet<&'static str> {
    let clauses = registry.ops().flat_map(|op| op.clauses);
    let words = clauses.flat_map(|clause| match clause.kind {
        ClauseKind::Keyword(words) => words,
        _ => &[],
    });
    words.copied().collect()
}

fn element_types() -> BTreeSet<&'static str> {
    DType::ALL.into_iter().map(DType::name).collect()
}

fn alternatives<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.into_iter().map(|w| w.replace('.', "\\.")).collect();
    words.join("|")
}

/// `editors/vscode/syntaxes/fir.tmLanguage.json`
pub fn textmate(registry: &Registry) -> String {
    let rule =
        |scope: &str, pattern: String| json!({"name": format!("{scope}.fir"), "match": pattern});
    let short = |op: &&'static OpDef| op.name.split_once('.').map_or(op.name, |(_, short)| short);
    let dialects = registry.dialects().iter().map(|dialect| {
        let names: BTreeSet<&str> = dialect.ops.iter().map(short).collect();
        let pattern = format!("\\b{}\\.(?:{})\\b", dialect.name, alternatives(names));
        rule("keyword.other.op", pattern)
    });
    let mut code: Vec<Value> = vec![
        json!({"include": "#comment"}),
        json!({"include": "#string"}),
        json!({"include": "#shape"}),
    ];
    code.extend(dialects);
    let word = |words: String| format!("\\b(?:{words})\\b");
    code.extend([
        rule("keyword.other.op", "\\bmodule\\b".to_owned()),
        rule(
            "entity.name.function.op",
            "\\b[a-zA-Z_][a-zA-Z0-9_$]*\\.[a-zA-Z0-9_$.]+".to_owned(),
        ),
        rule("variable.other", format!("%{NAME}(?:#[0-9]+)?")),
        rule("entity.name.function", format!("@{NAME}")),
        rule("entity.name.label", format!("\\^{NAME}")),
        rule("constant.other.alias", format!("#{NAME}")),
        rule("entity.name.type.alias", format!("!{NAME}")),
        rule("storage.type", word(alternatives(element_types()))),
        rule("storage.type", word(alternatives(SHAPED))),
        rule("support.function", word(alternatives(WORDS))),
        rule("constant.language", word(alternatives(VALUES))),
        rule(
            "keyword.control.clause",
            word(alternatives(clauses(registry))),
        ),
        rule("support.constant", word(alternatives(choices(registry)))),
        rule(
            "constant.numeric",
            "\\b0x[0-9a-fA-F]+\\b|-?\\b[0-9]+(?:\\.[0-9]*)?(?:[eE][-+]?[0-9]+)?\\b".to_owned(),
        ),
        rule("keyword.operator", "->|=|:".to_owned()),
    ]);
    let dimension = json!({"name": "variable.parameter.extent.fir", "match": "\\[[^\\]\\n]*\\]"});
    let element = rule(
        "storage.type",
        format!("(?<=[x<])(?:{})(?=[>,])", alternatives(element_types())),
    );
    let grammar = json!({
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "information_for_contributors": ["Written from the op tables: FUSER_UPDATE=1 cargo test -p fuser-lsp --test main"],
        "name": "Fuser IR",
        "scopeName": "source.fir",
        "fileTypes": ["fir"],
        "patterns": code,
        "repository": {
            "comment": {
                "name": "comment.line.double-slash.fir",
                "begin": "//",
                "end": "$",
                "patterns": [
                    rule("keyword.other.directive", "\\b(?:RUN|REQUIRES|UNSUPPORTED|XFAIL|CHECK(?:-[A-Z]+)*):".to_owned()),
                    rule("keyword.other.directive", "\\bexpected-(?:error|warning|remark|note)(?:-re)?\\b".to_owned()),
                ],
            },
            "string": {
                "name": "string.quoted.double.fir",
                "begin": "\"",
                "end": "\"",
                "patterns": [rule("constant.character.escape", "\\\\.".to_owned())],
            },
            "shape": {
                "begin": "\\b(tensor|vector|memref)(<)",
                "beginCaptures": {"1": {"name": "storage.type.fir"}},
                "end": ">",
                "patterns": [dimension, element, rule("constant.numeric", "[0-9]+(?=x)|\\?".to_owned())],
            },
        },
    });
    format!("{grammar:#}\n")
}

/// `editors/tree-sitter-fuser/grammar.js`
pub fn tree_sitter(registry: &Registry) -> String {
    let list = |names: BTreeSet<&str>| -> String {
        names
            .iter()
            .map(|name| format!("      '{name}',\n"))
            .collect()
    };
    let mut ops: BTreeSet<&str> = registry.ops().map(|op| op.name).collect();
    ops.insert("module");
    TREE_SITTER
        .replace("      // OPS\n", &list(ops))
        .replace("      // ELEMENT TYPES\n", &list(element_types()))
}

/// The grammar without the names. It accepts more than the language; the language server reports mistakes in a text.
const TREE_SITTER: &str = include_str!("tree_sitter.js");
