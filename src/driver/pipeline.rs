//! The pipeline that the command line asks for.

use fuser_ir::Diagnostic;
use fuser_pass::pipeline::{self, PipelineBuilder};
use fuser_pass::{Catalog, PassOptions, Pipeline};

use super::config::{Config, Requested};
use super::source::Sources;

/// The pipeline used by `--pipeline-to` where no other is given.
const DEFAULT: &str = "fuse";

/// The pipeline and warnings, or what is wrong with it.
pub fn build(
    config: &Config,
    catalog: &Catalog<'_>,
    sources: &mut Sources,
) -> Result<(Pipeline, Vec<Diagnostic>), Vec<Diagnostic>> {
    let (pipeline, warnings) = match &config.pipeline {
        Some(text) => {
            let file = sources.add("<pass-pipeline>", text.as_str().into());
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
    let file = sources.add("<command line>", flag.as_str().into());
    let options = PassOptions::parse(pass, options, file, flag.len() - options.len())?;
    builder.pass(pass, options);
    Ok(())
}

fn not_in_pipeline(last: &str, pipeline: &Pipeline, sources: &mut Sources) -> Diagnostic {
    let file = sources.add("<command line>", format!("--pipeline-to={last}").into());
    let start = "--pipeline-to=".len() as u32;
    let span = fuser_ir::span::Span::new(start, start + last.len() as u32);
    let message = format!("the pipeline has no pass '{last}'");
    let mut names: Vec<&str> = pipeline.passes().iter().map(|p| p.pass.name).collect();
    names.dedup();
    let code = &fuser_pass::codes::UNKNOWN_PASS;
    Diagnostic::error(code, fuser_ir::Place::Span { file, span }, message)
        .help(format!("its passes are {}", names.join(", ")))
}
