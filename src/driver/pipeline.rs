//! The pipeline that the command line asks for.

use fuser_ir::span::Span;
use fuser_ir::suggest::nearest;
use fuser_ir::{Diagnostic, Place};
use fuser_pass::pipeline::{self, PipelineBuilder};
use fuser_pass::{Catalog, PassOptions, Pipeline};
use fuser_passes::executors;
use fuser_passes::targets::{SHAPE, TARGET};

use super::compare::Comparison;
use super::config::{Config, Requested, Selection};
use super::source::Sources;
use crate::compile::{self, Target};
use crate::tool::explain;
use crate::tool::files::{self, Limit};

/// The pipeline used by `--pipeline-to` where no other is given.
const DEFAULT: &str = "fuse";

/// The source of what is shown of the command line.
const COMMAND_LINE: &str = "<command line>";

/// The pass that groupings, explanations and comparisons are about.
const SEGMENT: &str = "segment";

/// A pipeline, and what is to be told about it.
pub struct Built {
    /// The pipeline.
    pub pipeline: Pipeline,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
    /// Names of extents that are given lengths.
    pub lengths: Vec<String>,
}

/// The pipeline, with the flags on segmentation applied. Without a pass on the command line it is `segment`.
pub fn build(
    config: &Config,
    catalog: &Catalog<'_>,
    sources: &mut Sources,
) -> Result<Built, Vec<Diagnostic>> {
    let (mut pipeline, warnings) = for_any_target(config, catalog, sources)?;
    let mut errors = without_pass(config, &pipeline);
    errors.extend(selections(config, &pipeline, sources));
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut lengths = compile::lengths(&pipeline);
    lengths.extend(config.shapes.keys().cloned());
    lengths.sort();
    lengths.dedup();
    if let Some(target) = &config.target {
        compile::for_target(&mut pipeline, target);
    }
    let shapes = config.shapes.iter().map(|(name, n)| (name.as_str(), *n));
    compile::for_shapes(&mut pipeline, shapes);
    compile::for_executors(&mut pipeline, &config.executors);
    Ok(Built {
        pipeline,
        warnings,
        lengths,
    })
}

/// The errors of flags for passes of which the pipeline has none.
fn without_pass(config: &Config, pipeline: &Pipeline) -> Vec<Diagnostic> {
    let flags = [
        (config.wanted.is_said(), "target", TARGET.name),
        (!config.shapes.is_empty(), "shape", SHAPE.name),
        (
            !config.executors.is_empty(),
            "executors",
            executors::OPTION.name,
        ),
    ];
    let idle = flags.into_iter().filter(|(given, _, option)| {
        let takes = pipeline
            .passes()
            .into_iter()
            .any(|step| step.pass.option(option).is_some());
        *given && !takes
    });
    idle.map(|(_, flag, option)| {
        let with = fuser_passes::PASSES
            .iter()
            .filter(|pass| !pass.hidden && pass.option(option).is_some());
        let names: Vec<&str> = with.map(|pass| pass.name).collect();
        let message = format!("'--{flag}' has no effect: no pass that runs decides by it");
        let code = &fuser_pass::codes::UNKNOWN_PASS;
        Diagnostic::error(code, Place::Unknown, message)
            .help(format!("passes that do are {}", names.join(", ")))
    })
    .collect()
}

/// The errors of `--print-ir-before` and `--print-ir-after`: names of passes outside of the pipeline.
fn selections(config: &Config, pipeline: &Pipeline, sources: &mut Sources) -> Vec<Diagnostic> {
    let passes = pipeline.passes();
    let known = |name: &String| passes.iter().any(|step| step.pass.name == name);
    let mut errors = Vec::new();
    let flags = [
        ("--print-ir-before=", &config.print_ir.before),
        ("--print-ir-after=", &config.print_ir.after),
    ];
    for (flag, selection) in flags {
        let Selection::Names(names) = selection else {
            continue;
        };
        let text = format!("{flag}{}", names.join(","));
        let mut at = flag.len();
        let file = sources.add(COMMAND_LINE, text.as_str());
        for name in names {
            if !known(name) {
                let span = Span::new(at as u32, (at + name.len()) as u32);
                errors.push(no_pass(name, pipeline, Place::Span { file, span }));
            }
            at += name.len() + 1;
        }
    }
    errors
}

/// The target that passes decide for, if flags state one.
pub fn target(config: &Config, sources: &mut Sources) -> Result<Option<Target>, Vec<Diagnostic>> {
    let mut add = |name: &str, text: &str| sources.add(name, text);
    let target = config.wanted.target(Target::default, &mut add)?;
    Ok(config.wanted.is_said().then_some(target))
}

/// The same before passes are told what they decide for.
fn for_any_target(
    config: &Config,
    catalog: &Catalog<'_>,
    sources: &mut Sources,
) -> Result<(Pipeline, Vec<Diagnostic>), Vec<Diagnostic>> {
    let (mut pipeline, warnings) = requested(config, catalog, sources)?;
    let Some(flag) = about_segments(config) else {
        return Ok((pipeline, warnings));
    };
    if pipeline.passes().is_empty()
        && let Some(pass) = catalog.pass(SEGMENT)
    {
        let mut builder = PipelineBuilder::new(*catalog);
        builder.pass(pass, PassOptions::defaults(pass));
        pipeline = builder.finish();
    }
    // A plain explanation may come from any pass.
    let needed = flag != "explain";
    if needed && pipeline.passes().iter().all(|p| p.pass.name != SEGMENT) {
        let mut error = not_in_pipeline(SEGMENT, &pipeline, sources);
        error.place = fuser_ir::Place::Unknown;
        return Err(vec![error.help(format!("'--{flag}' is about that pass"))]);
    }
    if let Some(path) = &config.segments_from {
        let text = grouping(path, config).map_err(|e| vec![*e])?;
        set(&mut pipeline, "from", &text);
    }
    if let Some(names) = &config.explain_pair {
        set(&mut pipeline, "explain", names);
    }
    Ok((pipeline, warnings))
}

/// The first flag that is of use with `segment` only.
fn about_segments(config: &Config) -> Option<&'static str> {
    let wants = |kind: &str| config.reports.iter().any(|(k, _)| *k == kind);
    let flags = [
        (config.segments_from.is_some(), "segments-from"),
        (config.compare.is_some(), "compare-segmentations"),
        (wants("explain-pair"), "explain=%a,%b"),
        (wants("explain-json"), "explain=json"),
        (wants("explain") || wants(explain::BRIEF), "explain"),
    ];
    flags
        .into_iter()
        .find(|(given, _)| *given)
        .map(|(_, flag)| flag)
}

/// Any text is a value of the options that are set here.
fn set(pipeline: &mut Pipeline, option: &str, value: &str) {
    let _ = pipeline.set_option(SEGMENT, option, value);
}

/// A grouping from its file, on one line, as the value of an option.
fn grouping(path: &str, config: &Config) -> Result<String, Box<Diagnostic>> {
    let code = &fuser_passes::segment::GROUPING;
    let limit = Limit {
        bytes: config.source_limits.source_bytes,
        raised_by: Some("--limit-input-bytes"),
    };
    let text = files::read(path, limit)
        .map_err(|message| Box::new(Diagnostic::error(code, fuser_ir::Place::Unknown, message)))?;
    let json: serde_json::Value = serde_json::from_str(&text).map_err(|e| {
        let place = fuser_ir::Place::Line {
            file: path.to_owned(),
            line: u32::try_from(e.line()).unwrap_or(1),
            column: u32::try_from(e.column()).unwrap_or(1),
        };
        let message = format!("the grouping is not understood: {e}");
        let error = Diagnostic::error(code, place, message);
        Box::new(error.help(fuser_passes::segment::GroupingError::FORM))
    })?;
    Ok(json.to_string())
}

/// The comparison that `--compare-segmentations` asks for: the pipeline with each grouping.
pub fn comparison(
    config: &Config,
    pipeline: &Pipeline,
) -> Result<Option<Comparison>, Vec<Diagnostic>> {
    let Some((names, json)) = &config.compare else {
        return Ok(None);
    };
    let side = |name: &String| {
        let mut pipeline = pipeline.clone();
        if name != "-" {
            let text = grouping(name, config).map_err(|e| vec![*e])?;
            set(&mut pipeline, "from", &text);
        }
        Ok::<_, Vec<Diagnostic>>(pipeline)
    };
    let [before, after] = names;
    Ok(Some(Comparison {
        names: names.clone(),
        pipelines: [side(before)?, side(after)?],
        json: *json,
    }))
}

/// The pipeline and warnings, or what is wrong with it.
fn requested(
    config: &Config,
    catalog: &Catalog<'_>,
    sources: &mut Sources,
) -> Result<(Pipeline, Vec<Diagnostic>), Vec<Diagnostic>> {
    let (pipeline, warnings) = match &config.pipeline {
        Some(text) => {
            let file = sources.add("<pass-pipeline>", text.as_str());
            let parsed = pipeline::parse(text, file, catalog)?;
            (parsed.pipeline, parsed.warnings)
        }
        None => (from_flags(config, catalog, sources)?, Vec::new()),
    };
    let Some(last) = &config.pipeline_to else {
        return Ok((pipeline, warnings));
    };
    match pipeline.up_to(last) {
        Some(cut) => Ok((cut, warnings)),
        None => Err(vec![not_in_pipeline(last, &pipeline, sources)]),
    }
}

fn from_flags(
    config: &Config,
    catalog: &Catalog<'_>,
    sources: &mut Sources,
) -> Result<Pipeline, Vec<Diagnostic>> {
    let mut builder = PipelineBuilder::new(*catalog);
    let mut errors = Vec::new();
    for request in &config.requested {
        let added = match request {
            Requested::Pass(name, options) => add(&mut builder, name, options, catalog, sources),
            Requested::Named(def) => builder.named(def),
        };
        errors.extend(added.err().into_iter().flatten());
    }
    if config.requested.is_empty()
        && config.pipeline_to.is_some()
        && let Some(def) = catalog.pipeline(DEFAULT)
    {
        errors.extend(builder.named(def).err().into_iter().flatten());
    }
    if errors.is_empty() {
        Ok(builder.finish())
    } else {
        Err(errors)
    }
}

fn add(
    builder: &mut PipelineBuilder<'_>,
    name: &str,
    options: &str,
    catalog: &Catalog<'_>,
    sources: &mut Sources,
) -> Result<(), Vec<Diagnostic>> {
    let Some(pass) = catalog.pass(name) else {
        return Ok(());
    };
    // The caret shows the options as they were given, after the flag.
    let flag = format!("--{name}={options}");
    let file = sources.add("<command line>", flag.as_str());
    let options = PassOptions::parse(pass, options, file, flag.len() - options.len())?;
    builder.pass(pass, options);
    Ok(())
}

fn not_in_pipeline(last: &str, pipeline: &Pipeline, sources: &mut Sources) -> Diagnostic {
    let file = sources.add(COMMAND_LINE, format!("--pipeline-to={last}"));
    let start = "--pipeline-to=".len() as u32;
    let span = Span::new(start, start + last.len() as u32);
    no_pass(last, pipeline, Place::Span { file, span })
}

/// The error for a pass that the pipeline does not have.
fn no_pass(name: &str, pipeline: &Pipeline, place: Place) -> Diagnostic {
    let mut names: Vec<&str> = pipeline.passes().iter().map(|p| p.pass.name).collect();
    names.dedup();
    let error = Diagnostic::error(
        &fuser_pass::codes::UNKNOWN_PASS,
        place,
        format!("the pipeline has no pass '{name}'"),
    );
    let near = nearest(name, names.iter().copied());
    let error = match near {
        Some(near) => error.help(format!("did you mean '{near}'?")),
        None => error,
    };
    match names.is_empty() {
        true => error.help("it is empty: name the passes that run, '--canonicalize --cse'"),
        false => error.help(format!("its passes are {}", names.join(", "))),
    }
}
