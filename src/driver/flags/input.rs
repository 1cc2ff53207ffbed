//! Flags: files, passes and checks.

use super::*;
use crate::tool;
use Group as G;
use Takes::{Maybe, Switch, Value};
use fuser_passes::executors;

/// In the order of the help.
pub static FLAGS: &[Flag] = &[
    flag(
        "o",
        &["output"],
        Value("FILE"),
        G::Input,
        "output file, written only on success; '-' is stdout",
        |c, v| {
            c.output = text(v);
            Ok(())
        },
    ),
    flag(
        "split-input-file",
        &[],
        Maybe("MARKER"),
        G::Input,
        "compile each chunk between lines '// -----' (or MARKER) for itself",
        |c, v| {
            let marker = match v {
                None | Some("true") => Some(SPLIT_MARKER.to_owned()),
                Some("false") => None,
                Some(marker) => Some(marker.to_owned()),
            };
            c.split = marker;
            Ok(())
        },
    ),
    flag(
        "output-split-marker",
        &[],
        Value("MARKER"),
        G::Input,
        "line between the chunks of the output",
        |c, v| {
            c.output_marker = text(v);
            Ok(())
        },
    ),
    flag(
        "allow-unregistered-dialect",
        &[],
        Switch,
        G::Input,
        "admit ops of unknown dialects in generic form",
        |c, v| {
            c.allow_unregistered = is_on(v);
            Ok(())
        },
    ),
    flag(
        "no-implicit-module",
        &[],
        Switch,
        G::Input,
        "the file must hold exactly one module, written out",
        |c, v| {
            c.no_implicit_module = is_on(v);
            Ok(())
        },
    ),
    flag(
        "target",
        &[],
        Value("NAME"),
        G::Passes,
        "what passes decide for: generic (default), cpu (this machine), h100, cuda:sm_90, ...",
        |c, v| {
            c.wanted.name = Some(text(v));
            Ok(())
        },
    ),
    flag(
        "target-file",
        &[],
        Value("FILE"),
        G::Passes,
        "the same from a file as --print-target writes it",
        |c, v| {
            c.wanted.file = Some(text(v));
            Ok(())
        },
    ),
    flag(
        "shape",
        &[],
        Value("B=64,S=128"),
        G::Passes,
        "lengths of named extents that passes decide for; others count as 1024",
        |c, v| tool::lengths(&mut c.shapes, v.unwrap_or_default(), "LENGTH"),
    ),
    flag(
        "executors",
        &[],
        Value(executors::PLACEHOLDER),
        G::Passes,
        "who may run products, scatters and sorts as a whole (all)",
        |c, v| {
            executors::check(v.unwrap_or_default())?;
            c.executors = text(v);
            Ok(())
        },
    ),
    flag(
        "print-target",
        &[],
        Switch,
        G::Passes,
        "print the target of --target or --target-file with all its figures",
        |c, v| {
            if is_on(v) {
                c.action = Some(Action::PrintTarget);
            }
            Ok(())
        },
    ),
    flag(
        "segments-from",
        &[],
        Value("FILE"),
        G::Passes,
        "'segment' takes the grouping of FILE, which may be a segment report, instead of searching one",
        |c, v| {
            c.segments_from = Some(text(v));
            Ok(())
        },
    ),
    flag(
        "pass-pipeline",
        &["p"],
        Value("TEXT"),
        G::Passes,
        "run 'builtin.module(task.program(cse,segment{objective=bytes}))'",
        |c, v| {
            c.pipeline = Some(text(v));
            Ok(())
        },
    ),
    flag(
        "pipeline-to",
        &[],
        Value("PASS"),
        G::Passes,
        "stop after the last PASS of the pipeline (of --fuse if no other is given)",
        |c, v| {
            c.pipeline_to = Some(text(v));
            Ok(())
        },
    ),
    flag(
        "dump-pass-pipeline",
        &[],
        Switch,
        G::Passes,
        "print the pipeline, all options written out, to stderr",
        |c, v| {
            c.dump_pipeline = is_on(v);
            Ok(())
        },
    ),
    flag(
        "list-passes",
        &[],
        Maybe("json"),
        G::Passes,
        "print all passes",
        |c, v| {
            c.action = Some(Action::ListPasses(format(v)?));
            Ok(())
        },
    ),
    flag(
        "show-dialects",
        &[],
        Maybe("json"),
        G::Passes,
        "print all dialects and ops",
        |c, v| {
            c.action = Some(Action::ShowDialects(format(v)?));
            Ok(())
        },
    ),
    hidden(flag(
        "mlir-disable-threading",
        &["disable-threading"],
        Switch,
        G::Passes,
        "accepted: passes run on one thread",
        accepted,
    )),
    hidden(flag(
        "load-pass-plugin",
        &["load-dialect-plugin", "irdl-file"],
        Value("FILE"),
        G::Passes,
        "not supported",
        unsupported,
    )),
    flag(
        "verify-each",
        &[],
        Switch,
        G::Checks,
        "verify the IR after each pass (default: true)",
        |c, v| {
            c.verify_each = is_on(v);
            Ok(())
        },
    ),
    flag(
        "verify-roundtrip",
        &[],
        Switch,
        G::Checks,
        "print and parse the input in all forms; a difference is an error with a diff",
        |c, v| {
            c.verify_roundtrip = is_on(v);
            Ok(())
        },
    ),
    hidden(flag(
        "test-lossy-printing",
        &[],
        Switch,
        G::Checks,
        "for tests of --verify-roundtrip: it prints without names",
        |c, v| {
            c.lossy = is_on(v);
            Ok(())
        },
    )),
    flag(
        "verify-diagnostics",
        &[],
        Maybe("all|only-expected"),
        G::Checks,
        "compare diagnostics with '// expected-error {{...}}' comments",
        |c, v| {
            let words = [
                ("all", Expect::All),
                ("true", Expect::All),
                ("only-expected", Expect::OnlyExpected),
            ];
            c.expect = Some(one_of(v.or(Some("all")), &words)?);
            Ok(())
        },
    ),
    flag(
        "validate",
        &[],
        Maybe("N"),
        G::Checks,
        "run the interpreter before and after each pass on N random inputs (default 2) and compare",
        |c, v| {
            c.validate = Some(match v {
                None => 2,
                v => number(v)?,
            });
            Ok(())
        },
    ),
];
