//! Flags: diagnostics, timing, statistics, remarks, reports.

use super::*;
use crate::tool::color;
use crate::tool::explain::{self, Question};
use Group as G;
use Takes::{Maybe, Switch, Value};

/// In the order of the help.
pub static FLAGS: &[Flag] = &[
    flag(
        "diagnostics-format",
        &[],
        Value("text|json|sarif"),
        G::Diagnostics,
        "how diagnostics are written to stderr",
        |c, v| {
            let words = [
                ("text", DiagnosticsFormat::Text),
                ("json", DiagnosticsFormat::Json),
                ("sarif", DiagnosticsFormat::Sarif),
            ];
            c.diagnostics = one_of(v, &words)?;
            Ok(())
        },
    ),
    flag(
        "color",
        &[],
        Maybe(color::VALUE),
        G::Diagnostics,
        color::DOC,
        |c, v| {
            c.color = one_of(v.or(Some("always")), &color::WORDS)?;
            Ok(())
        },
    ),
    flag(
        "max-errors",
        &[],
        Value("N"),
        G::Diagnostics,
        "diagnostics printed at most (default 100; 0: all)",
        |c, v| {
            c.max_errors = number(v)?;
            Ok(())
        },
    ),
    hidden(flag(
        "mlir-diagnostic-verbosity-level",
        &["diagnostic-verbosity"],
        Value("errors|warnings|remarks"),
        G::Diagnostics,
        "what is printed",
        |c, v| {
            c.warnings = one_of(
                v,
                &[("errors", false), ("warnings", true), ("remarks", true)],
            )?;
            Ok(())
        },
    )),
    hidden(flag(
        "mlir-disable-diagnostic-notes",
        &["disable-diagnostic-notes"],
        Switch,
        G::Diagnostics,
        "leave out notes",
        |c, v| {
            c.notes = !is_on(v);
            Ok(())
        },
    )),
    hidden(flag(
        "mlir-print-op-on-diagnostic",
        &["mlir-print-stacktrace-on-diagnostic"],
        Switch,
        G::Diagnostics,
        "accepted: diagnostics show the source line",
        accepted,
    )),
    flag(
        "timing",
        &["mlir-timing"],
        Maybe("tree|list|json"),
        G::Reports,
        "how long each pass took",
        |c, v| {
            c.measuring.timing = is_on(v);
            match v {
                Some("tree") => c.measuring.tree = true,
                Some("json") => c.measuring.timing_format = Format::Json,
                None | Some("list" | "true" | "false") => {}
                Some(other) => return Err(format!("'{other}' is not one of tree, list, json")),
            }
            Ok(())
        },
    ),
    hidden(flag(
        "mlir-timing-display",
        &["timing-display"],
        Value("list|tree"),
        G::Reports,
        "shape of the timing report",
        |c, v| {
            c.measuring.tree = one_of(v, &[("list", false), ("tree", true)])?;
            Ok(())
        },
    )),
    hidden(flag(
        "mlir-output-format",
        &["output-format"],
        Value("text|json"),
        G::Reports,
        "format of the timing report",
        |c, v| {
            c.measuring.timing_format = format(v)?;
            Ok(())
        },
    )),
    flag(
        "timing-trace",
        &[],
        Value("FILE"),
        G::Reports,
        "timing as a Chrome trace",
        |c, v| {
            c.measuring.trace = path(v);
            Ok(())
        },
    ),
    flag(
        "pass-statistics",
        &["mlir-pass-statistics"],
        Maybe("list|pipeline|json"),
        G::Reports,
        "what each pass counted",
        |c, v| {
            c.measuring.statistics = is_on(v);
            match v {
                Some("pipeline") => c.measuring.statistics_pipeline = true,
                Some("json") => c.measuring.statistics_format = Format::Json,
                None | Some("list" | "true" | "false") => {}
                Some(other) => return Err(format!("'{other}' is not one of list, pipeline, json")),
            }
            Ok(())
        },
    ),
    hidden(flag(
        "mlir-pass-statistics-display",
        &["pass-statistics-display"],
        Value("list|pipeline"),
        G::Reports,
        "shape of the statistics",
        |c, v| {
            c.measuring.statistics_pipeline = one_of(v, &[("list", false), ("pipeline", true)])?;
            Ok(())
        },
    )),
    flag(
        "remark-format",
        &[],
        Value("text|yaml|json"),
        G::Reports,
        "print remarks of passes in this format",
        |c, v| {
            let words = [
                ("text", RemarkFormat::Text),
                ("emitRemark", RemarkFormat::Text),
                ("yaml", RemarkFormat::Yaml),
                ("json", RemarkFormat::Json),
            ];
            c.remarks.format = Some(one_of(v, &words)?);
            Ok(())
        },
    ),
    flag(
        "remarks-filter",
        &[],
        Value("REGEX"),
        G::Reports,
        "remarks of passes whose name, or whose own name, matches",
        |c, v| {
            c.remarks.filter = regex(v)?;
            Ok(())
        },
    ),
    flag(
        "remarks-filter-passed",
        &[],
        Value("REGEX"),
        G::Reports,
        "the same for what was done",
        |c, v| kind_filter(c, RemarkKind::Passed, v),
    ),
    flag(
        "remarks-filter-missed",
        &[],
        Value("REGEX"),
        G::Reports,
        "the same for what was not done",
        |c, v| kind_filter(c, RemarkKind::Missed, v),
    ),
    flag(
        "remarks-filter-failed",
        &[],
        Value("REGEX"),
        G::Reports,
        "the same for what failed",
        |c, v| kind_filter(c, RemarkKind::Failed, v),
    ),
    flag(
        "remarks-filter-analysis",
        &["remarks-filter-analyse"],
        Value("REGEX"),
        G::Reports,
        "the same for what was found out",
        |c, v| kind_filter(c, RemarkKind::Analysis, v),
    ),
    flag(
        "remarks-output-file",
        &[],
        Value("FILE"),
        G::Reports,
        "write remarks to FILE (YAML if no format is given)",
        |c, v| {
            c.remarks.file = path(v);
            Ok(())
        },
    ),
    flag(
        "remark-policy",
        &[],
        Value("all|final"),
        G::Reports,
        "all remarks, or the last about each place",
        |c, v| {
            c.remarks.only_final = one_of(v, &[("all", false), ("final", true)])?;
            Ok(())
        },
    ),
    flag(
        "segment-report",
        &[],
        Value("FILE"),
        G::Reports,
        "write what became which kernel, with bytes, as JSON",
        |c, v| {
            c.reports.push(("segment-report", text(v)));
            Ok(())
        },
    ),
    flag(
        "report",
        &[],
        Value("html:FILE|json:FILE|dot:FILE|svg:FILE"),
        G::Reports,
        "write the program, its segments, the decisions and all passes as one page to look at; as --segment-report does; the segments as a graph of Graphviz; the same as a picture",
        |c, v| report(c, &text(v)),
    ),
    flag(
        "explain",
        &[],
        Maybe(explain::VALUE),
        G::Reports,
        explain::DOC,
        |c, v| explain(c, v.unwrap_or_default()),
    ),
    flag(
        "compare-segmentations",
        &[],
        Value("[json:]A,B"),
        G::Reports,
        "instead of the program, what differs between two groupings of it; '-' is the compiler's own",
        |c, v| compare(c, &text(v)),
    ),
];

fn explain(c: &mut Config, value: &str) -> Result<(), String> {
    let question = Question::parse(value)?;
    c.explain_pair = question.pair.or(c.explain_pair.take());
    c.reports.push((question.kind, question.path));
    Ok(())
}

/// The forms of a report, and the kind of file that each is.
const REPORTS: [(&str, &str); 4] = [
    ("html", crate::explorer::KIND),
    ("json", "segment-report"),
    ("dot", crate::explorer::DOT),
    ("svg", crate::explorer::SVG),
];

fn report(c: &mut Config, value: &str) -> Result<(), String> {
    let (form, path) = value.split_once(':').unwrap_or((value, ""));
    let known = REPORTS.iter().find(|(name, _)| *name == form);
    let Some((_, kind)) = known.filter(|_| !path.is_empty()) else {
        let meant = crate::tool::flags::meant_form(value, REPORTS.iter().map(|(name, _)| *name));
        return Err(format!(
            "'{value}' is not of the form html:FILE, json:FILE, dot:FILE or svg:FILE{meant}"
        ));
    };
    crate::tool::flags::one_file(path, REPORTS.iter().map(|(name, _)| *name))?;
    c.reports.push((kind, path.to_owned()));
    Ok(())
}

fn compare(c: &mut Config, value: &str) -> Result<(), String> {
    let files = value.strip_prefix("json:");
    let pair = files.unwrap_or(value).split_once(',');
    let pair = pair.filter(|(a, b)| !a.is_empty() && !b.is_empty() && !b.contains(','));
    let (a, b) = pair.ok_or_else(|| format!("'{value}' is not of the form A,B"))?;
    c.compare = Some(([a.to_owned(), b.to_owned()], files.is_some()));
    Ok(())
}
