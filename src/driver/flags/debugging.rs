//! Flags: finding bugs of the compiler, limits, help.

use super::*;
use Group as G;
use Takes::{Switch, Value};

/// In the order of the help.
pub static FLAGS: &[Flag] = &[
    flag(
        "debug-only",
        &[],
        Value("TAG,..."),
        G::Debugging,
        "print what passes say under these tags; 'help' lists them",
        |c, v| {
            if v == Some("help") {
                c.action = Some(Action::DebugTags);
            }
            c.debug.extend(text(v).split(',').map(str::to_owned));
            Ok(())
        },
    ),
    flag(
        "debug",
        &[],
        Switch,
        G::Debugging,
        "the same for all tags",
        |c, v| {
            if is_on(v) {
                c.debug.push("*".into());
            }
            Ok(())
        },
    ),
    flag(
        "opt-bisect-limit",
        &[],
        Value("N"),
        G::Debugging,
        "skip all but the first N executions of passes; -1: list them",
        |c, v| {
            c.bisect_limit = Some(number(v)?);
            Ok(())
        },
    ),
    flag(
        "crash-reproducer",
        &["mlir-pass-pipeline-crash-reproducer"],
        Value("FILE"),
        G::Debugging,
        "where the reproducer of an internal error goes (default: a file in the temporary folder)",
        |c, v| {
            c.crash_reproducer = path(v);
            Ok(())
        },
    ),
    flag(
        "generate-reproducer",
        &["mlir-generate-reproducer"],
        Value("FILE"),
        G::Debugging,
        "write a reproducer of this run",
        |c, v| {
            c.generate_reproducer = path(v);
            Ok(())
        },
    ),
    flag(
        "run-reproducer",
        &[],
        Switch,
        G::Debugging,
        "replay the pipeline and options that the input file states",
        |c, v| {
            c.run_reproducer = is_on(v);
            Ok(())
        },
    ),
    hidden(flag(
        "mlir-pass-pipeline-local-reproducer",
        &[],
        Switch,
        G::Debugging,
        "accepted: reproducers hold the failing pass only",
        accepted,
    )),
    flag(
        "limit-rewrite-iterations",
        &[],
        Value("N"),
        G::Limits,
        "rounds of a greedy rewrite (default 10)",
        |c, v| {
            c.limits.rewrite_iterations = number(v)?;
            Ok(())
        },
    ),
    flag(
        "limit-rewrites-per-op",
        &[],
        Value("N"),
        G::Limits,
        "rewrites of a greedy rewrite, per op (default 64)",
        |c, v| {
            c.limits.rewrites_per_op = number(v)?;
            Ok(())
        },
    ),
    flag(
        "limit-segment-evaluations",
        &[],
        Value("N"),
        G::Limits,
        "candidates that segmentation evaluates, per op and doubling (default 64)",
        |c, v| {
            c.limits.segment_evaluations = number(v)?;
            Ok(())
        },
    ),
    flag(
        "limit-input-bytes",
        &[],
        Value("N"),
        G::Limits,
        "bytes of the input (default 268435456)",
        |c, v| {
            c.source_limits.source_bytes = number(v)?;
            Ok(())
        },
    ),
    flag(
        "limit-region-depth",
        &[],
        Value("N"),
        G::Limits,
        "regions inside each other (default 10000)",
        |c, v| {
            c.source_limits.region_depth = number(v)?;
            Ok(())
        },
    ),
    flag(
        "limit-nesting",
        &[],
        Value("N"),
        G::Limits,
        "types, attributes or brackets inside each other (default 256)",
        |c, v| {
            c.source_limits.nesting = number(v)?;
            Ok(())
        },
    ),
    flag(
        "limit-ops",
        &[],
        Value("N"),
        G::Limits,
        "ops of a module (default 16777216)",
        |c, v| {
            c.source_limits.ops = number(v)?;
            Ok(())
        },
    ),
    flag(
        "limit-operands",
        &[],
        Value("N"),
        G::Limits,
        "operands, results or attributes of an op (default 65535)",
        |c, v| {
            c.source_limits.operands = number(v)?;
            Ok(())
        },
    ),
    flag(
        "limit-rank",
        &[],
        Value("N"),
        G::Limits,
        "axes of a tensor (default 32)",
        |c, v| {
            c.source_limits.rank = number(v)?;
            Ok(())
        },
    ),
    flag(
        "limit-string-bytes",
        &[],
        Value("N"),
        G::Limits,
        "bytes of a string (default 16777216)",
        |c, v| {
            c.source_limits.string_bytes = number(v)?;
            Ok(())
        },
    ),
    flag(
        "limit-identifier-bytes",
        &[],
        Value("N"),
        G::Limits,
        "bytes of a name (default 4096)",
        |c, v| {
            c.source_limits.identifier_bytes = number(v)?;
            Ok(())
        },
    ),
    flag(
        "limit-dense-elements",
        &[],
        Value("N"),
        G::Limits,
        "elements of a dense attribute (default 67108864)",
        |c, v| {
            c.source_limits.dense_elements = number(v)?;
            Ok(())
        },
    ),
    flag(
        "limit-expanded-parts",
        &[],
        Value("N"),
        G::Limits,
        "parts of a type or attribute with its aliases written out (default 1048576)",
        |c, v| {
            c.source_limits.expanded_parts = number(v)?;
            Ok(())
        },
    ),
    flag(
        "limit-errors",
        &[],
        Value("N"),
        G::Limits,
        "errors after which the parser gives up (default 100)",
        |c, v| {
            c.source_limits.errors = number(v)?;
            Ok(())
        },
    ),
    flag("help", &["h"], Switch, G::Help, "this text", |c, _| {
        c.action = Some(Action::Help(false));
        Ok(())
    }),
    flag(
        "help-hidden",
        &["help-list"],
        Switch,
        G::Help,
        "this text with the rare flags",
        |c, _| {
            c.action = Some(Action::Help(true));
            Ok(())
        },
    ),
    flag(
        "version",
        &[],
        Switch,
        G::Help,
        "version and features",
        |c, _| {
            c.action = Some(Action::Version);
            Ok(())
        },
    ),
];
