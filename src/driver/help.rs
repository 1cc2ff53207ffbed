//! Descriptions of `fuser-opt` itself: help, lists, explanations. All derived from tables.

use fuser_ir::def::{Elsewhere, OpDef, Registry};
use fuser_ir::diag::CodeDef;
use fuser_ir::suggest::nearest;
use fuser_pass::{Catalog, OptionDef, PassDef};
use fuser_passes::cost::REASONS;
use serde_json::{Value, json};

use super::codes;
use super::config::Format;
use super::flags::{self, Flag, Group, Takes};
use crate::tool::manual::{Manual, Row, Value as Taken};

/// Columns before the text of a flag.
const INDENT: usize = 34;

/// The tool for shells and for `man`.
pub fn manual() -> Manual {
    let rows = flags::all().filter(|flag| !flag.hidden).map(|flag| Row {
        names: std::iter::once(flag.name)
            .chain(
                flag.aliases
                    .iter()
                    .copied()
                    .filter(|name| !name.starts_with("mlir-")),
            )
            .collect(),
        value: match flag.takes {
            Takes::Switch => Taken::Nothing,
            Takes::Value(what) => Taken::Needed(what),
            Takes::Maybe(what) => Taken::Optional(what),
        },
        doc: flag.doc,
        heading: flag.group.title(),
    });
    let mut rows: Vec<Row> = rows.collect();
    let place = |row: &Row| Group::ALL.iter().position(|g| g.title() == row.heading);
    rows.sort_by_key(place);
    // Where a flag has the name of a pass, the flag is meant.
    let is_flag = |name| flags::all().any(|flag| flag.name == name || flag.aliases.contains(&name));
    let shown = fuser_passes::PASSES.iter();
    let shown = shown.filter(|pass| !pass.hidden && !is_flag(pass.name));
    Manual {
        tool: "fuser-opt",
        usage: "[flags] [passes] [FILE]",
        summary: "run passes on a tensor program and print it",
        about: "Reads a .fir program, runs passes in the order given, prints the result to stdout. Everything else goes to stderr.\n\n\
                'fuser-opt help NAME' tells about a pass, a flag or an op, 'fuser-opt explain CODE' about a diagnostic.",
        flags: rows,
        passes: shown.copied().collect(),
        exit: "0 done, 1 diagnostics, 2 wrong usage, 3 internal error.",
    }
}

/// `--help`
pub fn help(catalog: &Catalog<'_>, all: bool) -> String {
    let mut text = String::from(
        "usage: fuser-opt [flags] [passes] [FILE]\n\
         \n\
         Reads a .fir program, runs passes in the order given, prints the result to stdout.\n\
         Everything else goes to stderr. Exit: 0 done, 1 diagnostics, 2 wrong usage, 3 internal error.\n",
    );
    for group in Group::ALL {
        let flags = flags::all().filter(|f| f.group == group && (all || !f.hidden));
        let lines: String = flags.map(flag_line).collect();
        text += &format!("\n{}:\n{lines}", group.title());
    }
    text += "\nPasses, as --NAME or --NAME='option=value ...'; 'fuser-opt help NAME' tells more:\n";
    for pass in catalog.passes.iter().filter(|p| all || !p.hidden) {
        text += &entry(&format!("--{}", pass.name), pass.summary);
    }
    for pipeline in catalog.pipelines {
        text += &entry(&format!("--{}", pipeline.name), pipeline.summary);
    }
    let rest = if all {
        ""
    } else {
        "\n--help-hidden prints the rare flags too. "
    };
    text + rest + "fuser-opt explain CODE explains a diagnostic or a reason of --explain.\n"
}

fn flag_line(flag: &Flag) -> String {
    let dashes = if flag.name.len() == 1 { "-" } else { "--" };
    let value = match flag.takes {
        Takes::Switch => String::new(),
        Takes::Value(what) if flag.name.len() == 1 => format!(" {what}"),
        Takes::Value(what) => format!("={what}"),
        Takes::Maybe(what) => format!("[={what}]"),
    };
    entry(&format!("{dashes}{}{value}", flag.name), flag.doc)
}

fn entry(left: &str, right: &str) -> String {
    if left.len() + 2 >= INDENT {
        format!("  {left}\n{:INDENT$}{right}\n", "")
    } else {
        format!("  {left:<width$}{right}\n", width = INDENT - 2)
    }
}

/// `help NAME`: describes a pass, a named pipeline, a flag, a code, a reason of `--explain`, or an op, given by its full
/// name, its name without a dialect, or its name in other systems. The error lists similar names.
pub fn about(name: &str, catalog: &Catalog<'_>, registry: &Registry) -> Result<String, String> {
    let name = name.trim_start_matches('-');
    if let Some(pass) = catalog.pass(name) {
        return Ok(pass_text(pass));
    }
    if let Some(def) = catalog.pipeline(name) {
        return Ok(format!(
            "{}: {}\n\n{}({})\n",
            def.name, def.summary, def.anchor, def.text
        ));
    }
    if let Some(flag) = flags::find(name) {
        return Ok(flag_line(flag));
    }
    if let Some(op) = registry.op(name) {
        return Ok(op_text(op));
    }
    // An op without its dialect; of those of one name, all.
    let short = |op: &&'static OpDef| {
        op.name
            .split_once('.')
            .is_some_and(|(_, short)| short == name)
    };
    let texts: Vec<String> = registry.ops().filter(short).map(op_text).collect();
    if !texts.is_empty() {
        return Ok(texts.join("\n"));
    }
    if is_code(name) {
        return explain(name);
    }
    if let Some(text) = reason(name) {
        return Ok(text);
    }
    match registry.foreign(name) {
        Some(Elsewhere::Op(here)) => {
            let text = registry.op(here).map(op_text).unwrap_or_default();
            return Ok(format!("'{name}' is '{here}' here.\n\n{text}"));
        }
        Some(Elsewhere::Composed(others)) => {
            return Ok(format!(
                "'{name}' is written as several operations: {others}\n"
            ));
        }
        Some(Elsewhere::Absent(advice)) => return Ok(format!("'{name}': {advice}\n")),
        None => {}
    }
    let ops = || registry.ops().map(|op| op.name);
    let shorts = ops().filter_map(|name| Some(name.split_once('.')?.1));
    let names = catalog
        .names()
        .chain(flags::spellings())
        .chain(REASONS.iter().map(|(name, _)| *name))
        .chain(ops())
        .chain(shorts);
    let near = nearest(name, names).map_or(String::new(), |n| format!("; did you mean '{n}'?"));
    Err(format!(
        "no pass, flag, op, code or reason is called '{name}'{near}"
    ))
}

fn pass_text(pass: &PassDef) -> String {
    let mut text = format!(
        "{}: {}\n\nRuns on {}.\n\n{}\n",
        pass.name,
        pass.summary,
        anchor(pass),
        wrapped(pass.doc)
    );
    if !pass.options.is_empty() {
        text += "\nOptions:\n";
    }
    for option in pass.options {
        let default = match option.default {
            "" => String::new(),
            default => format!(" (default: {default})"),
        };
        let left = format!("{}={}", option.name, option.kind.placeholder());
        text += &entry(&left, &format!("{}{default}", option.doc));
    }
    if !pass.statistics.is_empty() {
        text += "\nStatistics:\n";
    }
    for stat in pass.statistics {
        text += &entry(stat.name, stat.doc);
    }
    text
}

fn op_text(op: &OpDef) -> String {
    let mut text = format!("{}: {}\n\n{}\n", op.name, op.summary, wrapped(op.doc));
    for clause in op.clauses {
        text += &entry(clause.name, clause.doc);
    }
    text + &format!("\n{}\n", op.example)
}

fn anchor(pass: &PassDef) -> String {
    match pass.anchor {
        [] => "any op".into(),
        names => names.join(" or "),
    }
}

/// Text broken into lines of at most 100 columns.
fn wrapped(text: &str) -> String {
    let paragraph = |paragraph: &str| {
        let mut lines = vec![String::new()];
        for word in paragraph.split(' ') {
            let full = lines
                .last()
                .is_some_and(|l| !l.is_empty() && l.len() + word.len() > 99);
            if full {
                lines.push(String::new());
            }
            if let Some(line) = lines.last_mut() {
                let space = if line.is_empty() { "" } else { " " };
                *line += space;
                *line += word;
            }
        }
        lines.join("\n")
    };
    let paragraphs: Vec<String> = text.split('\n').map(paragraph).collect();
    paragraphs.join("\n")
}

/// `--list-passes`
pub fn passes(catalog: &Catalog<'_>, format: Format) -> String {
    let shown = catalog.passes.iter().filter(|p| !p.hidden);
    if format == Format::Json {
        let list: Vec<Value> = shown.map(|p| pass_json(p)).collect();
        let named: Vec<Value> = (catalog.pipelines.iter())
            .map(|p| json!({"name": p.name, "summary": p.summary, "anchor": p.anchor, "text": p.text}))
            .collect();
        return format!(
            "{:#}\n",
            json!({"v": 1, "passes": list, "pipelines": named})
        );
    }
    let mut text = String::from("Passes:\n");
    for pass in shown {
        text += &entry(
            pass.name,
            &format!("{} (on {})", pass.summary, anchor(pass)),
        );
        let options: Vec<&str> = pass.options.iter().map(|o| o.name).collect();
        if !options.is_empty() {
            text += &entry("", &format!("options: {}", options.join(", ")));
        }
    }
    text += "\nPipelines:\n";
    for def in catalog.pipelines {
        text += &entry(def.name, def.summary);
        text += &entry("", &format!("{}({})", def.anchor, def.text));
    }
    text
}

fn pass_json(pass: &PassDef) -> Value {
    let option = |o: &OptionDef| json!({"name": o.name, "kind": o.kind.placeholder(), "default": o.default, "doc": o.doc});
    let options: Vec<Value> = pass.options.iter().map(option).collect();
    let statistics: Vec<Value> = (pass.statistics.iter())
        .map(|s| json!({"name": s.name, "doc": s.doc}))
        .collect();
    json!({
        "name": pass.name,
        "summary": pass.summary,
        "doc": pass.doc,
        "anchor": pass.anchor,
        "options": options,
        "statistics": statistics,
    })
}

/// `--show-dialects`
pub fn dialects(registry: &Registry, format: Format) -> String {
    if format == Format::Json {
        let op = |op: &&OpDef| json!({"name": op.name, "summary": op.summary});
        let list: Vec<Value> = (registry.dialects().iter())
            .map(|d| json!({"name": d.name, "doc": d.doc, "ops": d.ops.iter().map(op).collect::<Vec<_>>()}))
            .collect();
        return format!("{:#}\n", json!({"v": 1, "dialects": list}));
    }
    let mut text = String::new();
    for dialect in registry.dialects() {
        text += &format!("{}\n", dialect.name);
        let ops = dialect.ops.iter().map(|op| entry(op.name, op.summary));
        text.extend(ops);
    }
    text
}

/// True for `FIR0850`, in any case.
fn is_code(name: &str) -> bool {
    let digits = name
        .get(..3)
        .filter(|start| start.eq_ignore_ascii_case("FIR"))
        .map(|_| &name[3..]);
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// `scan-serial`: the rule behind a reason of `--explain`.
fn reason(name: &str) -> Option<String> {
    let (name, rule) = REASONS.iter().find(|(known, _)| *known == name)?;
    Some(format!(
        "{name}: a reason against one kernel\n\n{}\n",
        wrapped(rule)
    ))
}

/// `explain CODE`, `explain REASON`; all titles without a code. The error says what comes near.
pub fn explain(code: &str) -> Result<String, String> {
    if let Some(text) = reason(code) {
        return Ok(text);
    }
    let all = codes::all();
    if code.is_empty() {
        return Ok(all
            .iter()
            .map(|c| format!("{}  {}\n", c.code, c.title))
            .collect());
    }
    let digits = code.len() <= 4 && code.bytes().all(|b| b.is_ascii_digit());
    let wanted = match digits {
        true => format!("FIR{code:0>4}"),
        false => code.to_ascii_uppercase(),
    };
    let Some(found) = all.iter().find(|c| c.code == wanted) else {
        let reason = nearest(code, REASONS.iter().map(|(name, _)| *name));
        let near = match reason {
            Some(near) => format!("; did you mean '{near}'?"),
            None => near_code(&wanted, &all),
        };
        let about = match near.is_empty() {
            true => format!("; 'fuser-opt help {code}' tells about passes, flags and ops"),
            false => near,
        };
        return Err(format!("no code or reason '{code}'{about}"));
    };
    let mut text = format!(
        "{}: {}\n\n{}\n",
        found.code,
        found.title,
        wrapped(found.explanation)
    );
    if !found.example.is_empty() {
        let example: String = found
            .example
            .lines()
            .map(|l| format!("    {l}\n"))
            .collect();
        text += &format!("\nExample:\n\n{example}");
    }
    Ok(text)
}

/// A hint with the codes before and after an unknown one. Codes of one range concern one topic.
fn near_code(wanted: &str, all: &[&CodeDef]) -> String {
    let digits = wanted.strip_prefix("FIR").unwrap_or_default();
    if digits.len() != 4 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        let near = nearest(wanted, all.iter().map(|c| c.code));
        return near.map_or(String::new(), |n| format!("; did you mean '{n}'?"));
    }
    let after = all.partition_point(|c| c.code < wanted);
    let around = &all[after.saturating_sub(1)..all.len().min(after + 1)];
    let around: Vec<&str> = around.iter().map(|c| c.code).collect();
    format!(
        "; the next ones are {}; 'fuser-opt explain' lists all",
        around.join(" and ")
    )
}

/// `--debug-only=help`
pub fn debug_tags(catalog: &Catalog<'_>) -> String {
    let names: String = catalog
        .passes
        .iter()
        .map(|p| format!("  {}\n", p.name))
        .collect();
    format!("Tags are names of passes (and finer ones that passes define):\n{names}")
}

/// `--version`
pub fn version() -> String {
    let features = [
        ("codegen", cfg!(feature = "codegen")),
        ("cuda", cfg!(feature = "cuda")),
    ];
    let on: Vec<&str> = features.iter().filter(|f| f.1).map(|f| f.0).collect();
    let on = if on.is_empty() {
        "none".into()
    } else {
        on.join(", ")
    };
    #[cfg(feature = "codegen")]
    let llvm = fuser_codegen::llvm::version().unwrap_or_else(|error| error.to_string());
    #[cfg(not(feature = "codegen"))]
    let llvm = "none";
    format!(
        "fuser-opt {}\nLLVM: {llvm}\nfeatures: {on}\n",
        env!("CARGO_PKG_VERSION")
    )
}

#[cfg(test)]
mod tests {
    use super::REASONS;

    /// The page with the table of reasons.
    const PAGE: &str = include_str!("../../docs/segmentation.md");

    #[test]
    fn the_manual_has_every_reason() {
        let rows = REASONS
            .iter()
            .map(|(name, rule)| format!("| `{name}` | {rule} |\n"));
        let rows: String = rows.collect();
        assert!(PAGE.contains(&rows), "docs/segmentation.md lacks:\n{rows}");
    }
}
