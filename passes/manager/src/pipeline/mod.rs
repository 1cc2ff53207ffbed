//! Pipelines: the passes with their order, their options and the ops that they run on.
//!
//! ```text
//! pipeline ::= anchor '(' element (',' element)* ')'
//! element  ::= pipeline | name options?
//! options  ::= '{' (key ('=' value)?)* '}'
//! ```
//!
//! `parse` reads the text, `build` nests single passes by themselves, printing gives text that parses to the same.

mod build;
mod parse;
#[cfg(test)]
mod tests;

pub use build::PipelineBuilder;
pub use parse::{Parsed, parse};

use crate::def::{PassDef, PipelineDef};
use crate::options::PassOptions;

/// Pipelines nest at most this deep: ops that hold ops that hold ops; nobody needs more than four levels.
pub const MAX_NESTING: usize = 16;
/// The op at the root of every program.
pub const ROOT: &str = "builtin.module";
/// The anchor that stands for every isolated op.
pub const ANY: &str = "any";

/// A list of steps and the op they run on.
#[derive(Clone, Debug)]
pub struct Pipeline {
    /// Op name, or [`ANY`].
    pub anchor: String,
    /// The steps, in order.
    pub steps: Vec<Step>,
}

/// A pass, or a pipeline on the ops directly inside.
#[derive(Clone, Debug)]
pub enum Step {
    /// A pass.
    Pass(PassStep),
    /// A nested pipeline.
    Nest(Pipeline),
}

/// A pass with its options.
#[derive(Clone, Debug)]
pub struct PassStep {
    /// The pass.
    pub pass: &'static PassDef,
    /// Its options.
    pub options: PassOptions,
    /// Number of the step in the whole pipeline, in text order; statistics are kept by it.
    pub index: usize,
}

/// The names that pipeline text may use.
#[derive(Clone, Copy, Debug)]
pub struct Catalog<'a> {
    /// Passes.
    pub passes: &'a [&'static PassDef],
    /// Named pipelines.
    pub pipelines: &'a [&'static PipelineDef],
    /// Names of the ops that may be anchors.
    pub anchors: &'a [&'static str],
}

impl Catalog<'_> {
    /// The pass called `name`.
    pub fn pass(&self, name: &str) -> Option<&'static PassDef> {
        self.passes.iter().find(|p| p.name == name).copied()
    }
    /// The named pipeline.
    pub fn pipeline(&self, name: &str) -> Option<&'static PipelineDef> {
        self.pipelines.iter().find(|p| p.name == name).copied()
    }
    /// Names of what a user may write, for suggestions.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        let passes = self.passes.iter().filter(|p| !p.hidden).map(|p| p.name);
        passes.chain(self.pipelines.iter().map(|p| p.name))
    }
}

impl Pipeline {
    /// An empty pipeline on modules.
    pub fn empty() -> Self {
        Self {
            anchor: ROOT.into(),
            steps: Vec::new(),
        }
    }
    /// All passes in text order, with the anchors around each.
    pub fn passes(&self) -> Vec<&PassStep> {
        let mut found = Vec::new();
        let mut stack: Vec<&Step> = self.steps.iter().rev().collect();
        while let Some(step) = stack.pop() {
            match step {
                Step::Pass(pass) => found.push(pass),
                Step::Nest(inner) => stack.extend(inner.steps.iter().rev()),
            }
        }
        found
    }
    /// Sets an option of every pass called `name`: whether there is one, or what is wrong with the value.
    pub fn set_option(&mut self, name: &str, option: &str, value: &str) -> Result<bool, String> {
        let mut found = false;
        let mut stack: Vec<&mut Step> = self.steps.iter_mut().collect();
        while let Some(step) = stack.pop() {
            match step {
                Step::Pass(pass) if pass.pass.name == name => {
                    pass.options.set_value(option, value)?;
                    found = true;
                }
                Step::Pass(_) => {}
                Step::Nest(inner) => stack.extend(inner.steps.iter_mut()),
            }
        }
        Ok(found)
    }
    /// Sets an option of every pass that has it and was not given a value for it: whose value is the default. The value must be one
    /// that the option admits; a pass that refuses it keeps what it has.
    pub fn fill_option(&mut self, option: &str, value: &str) {
        let mut stack: Vec<&mut Step> = self.steps.iter_mut().collect();
        while let Some(step) = stack.pop() {
            match step {
                Step::Pass(pass) => {
                    let known = pass.pass.option(option);
                    if known.is_some_and(|(_, def)| pass.options.text(option) == def.default) {
                        let _ = pass.options.set_value(option, value);
                    }
                }
                Step::Nest(inner) => stack.extend(inner.steps.iter_mut()),
            }
        }
    }
    /// Gives each step its number.
    pub(crate) fn number(mut self) -> Self {
        let mut next = 0;
        let mut stack: Vec<&mut Step> = self.steps.iter_mut().rev().collect();
        while let Some(step) = stack.pop() {
            match step {
                Step::Pass(pass) => {
                    pass.index = next;
                    next += 1;
                }
                Step::Nest(inner) => stack.extend(inner.steps.iter_mut().rev()),
            }
        }
        self
    }
    /// The pipeline up to and with the last pass called `name`; `None` where there is no such pass.
    pub fn up_to(&self, name: &str) -> Option<Pipeline> {
        let passes = self.passes();
        let last = passes.iter().rev().find(|p| p.pass.name == name)?.index;
        Some(self.filtered(&|index| index <= last))
    }
    /// The passes from number `first` on.
    pub fn from(&self, first: usize) -> Pipeline {
        self.filtered(&|index| index >= first)
    }
    /// The passes before number `end`.
    pub fn before(&self, end: usize) -> Pipeline {
        self.filtered(&|index| index < end)
    }
    /// Only the step with this number, nested as it was.
    pub fn only(&self, step: usize) -> Pipeline {
        self.filtered(&|index| index == step)
    }
    /// Depth is bounded by [`MAX_NESTING`].
    fn filtered(&self, wanted: &dyn Fn(usize) -> bool) -> Pipeline {
        let keep = |step: &Step| match step {
            Step::Pass(pass) => wanted(pass.index).then(|| step.clone()),
            Step::Nest(inner) => {
                let inner = inner.filtered(wanted);
                (!inner.steps.is_empty()).then_some(Step::Nest(inner))
            }
        };
        let kept = Pipeline {
            anchor: self.anchor.clone(),
            steps: self.steps.iter().filter_map(keep).collect(),
        };
        kept.number()
    }
}

impl std::fmt::Display for Pipeline {
    /// The text that parses to this pipeline, every option written out.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}(", self.anchor)?;
        for (index, step) in self.steps.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            match step {
                Step::Pass(step) => {
                    write!(f, "{comma}{}{}", step.pass.name, step.options.print())?;
                }
                Step::Nest(inner) => write!(f, "{comma}{inner}")?,
            }
        }
        f.write_str(")")
    }
}
