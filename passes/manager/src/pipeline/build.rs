//! Pipelines from single passes in order, as flags give them: each pass nests itself on the op it runs on.

use fuser_ir::diag::Diagnostic;

use super::parse::parse_elements;
use super::{ANY, Catalog, PassStep, Pipeline, ROOT, Step};
use crate::def::{PassDef, PipelineDef};
use crate::options::PassOptions;

/// Collects steps; neighbours with the same anchor share one nested pipeline.
pub struct PipelineBuilder<'a> {
    catalog: Catalog<'a>,
    pipeline: Pipeline,
}

impl<'a> PipelineBuilder<'a> {
    /// An empty one.
    pub fn new(catalog: Catalog<'a>) -> Self {
        Self {
            catalog,
            pipeline: Pipeline::empty(),
        }
    }
    /// Adds a pass with its options.
    pub fn pass(&mut self, pass: &'static PassDef, options: PassOptions) {
        let step = PassStep {
            pass,
            options,
            index: 0,
        };
        self.step(Step::Pass(step), ROOT);
    }
    /// Adds a named pipeline.
    pub fn named(&mut self, def: &'static PipelineDef) -> Result<(), Vec<Diagnostic>> {
        for step in parse_elements(def.text, def.anchor, &self.catalog)? {
            self.step(step, def.anchor);
        }
        Ok(())
    }
    /// Adds a step that was written directly inside `anchor`.
    pub(super) fn step(&mut self, step: Step, anchor: &str) {
        let anchor = match &step {
            Step::Pass(pass) if !pass.pass.runs_on(anchor) => match pass.pass.anchor.first() {
                Some(first) => first,
                None => anchor,
            },
            _ => anchor,
        };
        if anchor == ROOT || anchor == ANY {
            merge(&mut self.pipeline.steps, step);
        } else {
            let nest = Pipeline {
                anchor: anchor.to_owned(),
                steps: vec![step],
            };
            merge(&mut self.pipeline.steps, Step::Nest(nest));
        }
    }
    /// The pipeline.
    pub fn finish(self) -> Pipeline {
        self.pipeline.number()
    }
}

/// Adds a step; a nest goes into the last nest of the same anchor.
fn merge(steps: &mut Vec<Step>, step: Step) {
    match (steps.last_mut(), step) {
        (Some(Step::Nest(last)), Step::Nest(new)) if last.anchor == new.anchor => {
            for inner in new.steps {
                merge(&mut last.steps, inner);
            }
        }
        (_, step) => steps.push(step),
    }
}
