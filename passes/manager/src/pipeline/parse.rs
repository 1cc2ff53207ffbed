//! Pipeline text to [`Pipeline`], with every mistake at its place in the text.
//!
//! Unknown names and options are collected; broken syntax ends the parse. A missing `builtin.module(` is accepted and told.

use fuser_ir::diag::{CodeDef, Diagnostic, Place};
use fuser_ir::span::Span;
use fuser_ir::suggest::nearest;

use super::{ANY, Catalog, MAX_NESTING, PassStep, Pipeline, PipelineBuilder, ROOT, Step};
use crate::codes;
use crate::def::PassDef;
use crate::options::PassOptions;

/// The pipeline, and warnings about how it was written.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The pipeline.
    pub pipeline: Pipeline,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

/// Parses the text of a whole pipeline, which is source file number `file` for the carets.
pub fn parse(text: &str, file: u32, catalog: &Catalog<'_>) -> Result<Parsed, Vec<Diagnostic>> {
    let mut parser = Parser::new(text, file, catalog);
    let wrapped = parser.starts_with_root();
    // Without the wrapper the elements stand on the root op, and passes nest by themselves.
    let anchor = if wrapped { "" } else { ROOT };
    let steps = parser.elements(anchor, !wrapped);
    parser.end();
    if !parser.errors.is_empty() {
        return Err(parser.errors);
    }
    let mut warnings = Vec::new();
    let mut builder = PipelineBuilder::new(*catalog);
    for step in steps {
        match step {
            Step::Nest(root) if wrapped => {
                for inner in root.steps {
                    builder.step(inner, &root.anchor);
                }
            }
            step => builder.step(step, ROOT),
        }
    }
    let pipeline = builder.finish();
    if !wrapped && !text.trim().is_empty() {
        let place = parser.place(0, text.len());
        let message = format!("the pipeline does not start with '{ROOT}('");
        let help = format!("taken as '{}'", short(&pipeline));
        warnings.push(Diagnostic::warning(&codes::PIPELINE_SYNTAX, place, message).help(help));
    }
    Ok(Parsed { pipeline, warnings })
}

/// Parses the elements of a named pipeline.
pub(super) fn parse_elements(
    text: &str,
    anchor: &str,
    catalog: &Catalog<'_>,
) -> Result<Vec<Step>, Vec<Diagnostic>> {
    let mut parser = Parser::new(text, u32::MAX, catalog);
    let steps = parser.elements(anchor, false);
    parser.end();
    if parser.errors.is_empty() {
        Ok(steps)
    } else {
        Err(parser.errors)
    }
}

/// The pipeline without options, for messages.
fn short(pipeline: &Pipeline) -> String {
    let steps = pipeline.steps.iter().map(|step| match step {
        Step::Pass(step) => step.pass.name.to_owned(),
        Step::Nest(inner) => short(inner),
    });
    let steps: Vec<String> = steps.collect();
    format!("{}({})", pipeline.anchor, steps.join(","))
}

struct Parser<'a> {
    text: &'a str,
    file: u32,
    at: usize,
    catalog: &'a Catalog<'a>,
    errors: Vec<Diagnostic>,
    /// Broken syntax: no further messages.
    broken: bool,
}

/// An open `anchor(`.
struct Open {
    pipeline: Pipeline,
    start: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, file: u32, catalog: &'a Catalog<'a>) -> Self {
        Self {
            text,
            file,
            at: 0,
            catalog,
            errors: Vec::new(),
            broken: false,
        }
    }
    fn starts_with_root(&self) -> bool {
        let rest = self.text.trim_start();
        [ROOT, ANY].iter().any(|anchor| {
            rest.strip_prefix(anchor)
                .is_some_and(|r| r.trim_start().starts_with('('))
        })
    }

    /// `element (',' element)*` on `anchor`, to the end of the text; `lenient` lets passes nest by themselves.
    fn elements(&mut self, anchor: &str, lenient: bool) -> Vec<Step> {
        let root = Pipeline {
            anchor: anchor.to_owned(),
            steps: Vec::new(),
        };
        let mut open = vec![Open {
            pipeline: root,
            start: 0,
        }];
        self.skip_space();
        while !self.broken && (self.at < self.text.len() || open.len() > 1) {
            self.element(&mut open, lenient);
        }
        self.close_all(open)
    }
    fn close_all(&mut self, mut open: Vec<Open>) -> Vec<Step> {
        while open.len() > 1 {
            let inner = open.pop().map(|o| o.pipeline);
            if let (Some(inner), Some(outer)) = (inner, open.last_mut()) {
                outer.pipeline.steps.push(Step::Nest(inner));
            }
        }
        open.pop().map(|o| o.pipeline.steps).unwrap_or_default()
    }
    fn element(&mut self, open: &mut Vec<Open>, lenient: bool) {
        self.skip_space();
        if self.peek() == Some(')') && open.last().is_some_and(|o| o.pipeline.steps.is_empty()) {
            return self.close(open);
        }
        let start = self.at;
        let name = self.name();
        if name.is_empty() {
            return self.expected_name(start, open);
        }
        self.skip_space();
        match self.peek() {
            Some('(') => self.nest(name, start, open),
            _ => {
                self.leaf(name, start, open, lenient);
                self.after_element(open);
            }
        }
    }
    fn nest(&mut self, name: &str, start: usize, open: &mut Vec<Open>) {
        self.at += 1;
        self.check_anchor(name, start, open);
        if open.len() > MAX_NESTING {
            let message = format!("pipelines nest at most {MAX_NESTING} deep");
            return self.syntax(start, self.at, message);
        }
        let pipeline = Pipeline {
            anchor: name.to_owned(),
            steps: Vec::new(),
        };
        open.push(Open { pipeline, start });
    }
    fn leaf(&mut self, name: &str, start: usize, open: &mut [Open], lenient: bool) {
        let end = start + name.len();
        let options = self.options();
        let Some(top) = open.last_mut() else { return };
        let anchor = top.pipeline.anchor.clone();
        if let Some(pass) = self.catalog.pass(name) {
            let outermost = lenient && anchor == ROOT;
            if !outermost {
                self.check_pass_anchor(pass, &anchor, start, end);
            }
            if let Some(step) = self.pass_step(pass, options) {
                top.pipeline.steps.push(step);
            }
        } else if let Some(def) = self.catalog.pipeline(name) {
            if anchor != def.anchor {
                let message = format!("pipeline '{name}' runs on {}, not on {anchor}", def.anchor);
                return self.error(&codes::ANCHOR, start, end, message, String::new());
            }
            match parse_elements(def.text, def.anchor, self.catalog) {
                Ok(steps) => top.pipeline.steps.extend(steps),
                Err(errors) => self.errors.extend(errors),
            }
        } else {
            self.unknown(name, start, end);
        }
    }
    fn pass_step(
        &mut self,
        pass: &'static PassDef,
        options: Option<(usize, &str)>,
    ) -> Option<Step> {
        let (at, text) = options.unwrap_or((0, ""));
        match PassOptions::parse(pass, text, self.file, at) {
            Ok(options) => Some(Step::Pass(PassStep {
                pass,
                options,
                index: 0,
            })),
            Err(errors) => {
                self.errors.extend(errors);
                None
            }
        }
    }
    fn after_element(&mut self, open: &mut Vec<Open>) {
        self.skip_space();
        match self.peek() {
            Some(',') => self.at += 1,
            Some(')') => self.close(open),
            None if open.len() == 1 => {}
            None => self.unclosed(open),
            Some(c) => {
                let message = format!("expected ',' or ')', found '{c}'");
                self.syntax(self.at, self.at + c.len_utf8(), message);
            }
        }
    }
    fn close(&mut self, open: &mut Vec<Open>) {
        if open.len() < 2 {
            return self.syntax(self.at, self.at + 1, "')' closes nothing".into());
        }
        self.at += 1;
        let inner = open.pop().map(|o| o.pipeline);
        if let (Some(inner), Some(outer)) = (inner, open.last_mut()) {
            outer.pipeline.steps.push(Step::Nest(inner));
        }
        self.after_element(open);
    }
    fn end(&mut self) {
        self.skip_space();
        if !self.broken && self.at < self.text.len() {
            let message = "text after the end of the pipeline".into();
            self.syntax(self.at, self.text.len(), message);
        }
    }

    // --- tokens ----------------------------------------------------------------------------------------------------

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }
    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }
    fn name(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '$');
        let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }
    /// The text between `{` and its `}`, and where it starts.
    fn options(&mut self) -> Option<(usize, &'a str)> {
        if self.peek() != Some('{') {
            return None;
        }
        let start = self.at + 1;
        match closing_brace(&self.text[start..]) {
            Some(length) => {
                self.at = start + length + 1;
                Some((start, &self.text[start..start + length]))
            }
            None => {
                self.syntax(self.at, self.at + 1, "'{' is never closed".into());
                None
            }
        }
    }

    // --- mistakes --------------------------------------------------------------------------------------------------

    fn place(&self, start: usize, end: usize) -> Place {
        Place::Span {
            file: self.file,
            span: Span::new(start as u32, end as u32),
        }
    }
    fn error(
        &mut self,
        code: &'static CodeDef,
        start: usize,
        end: usize,
        message: String,
        help: String,
    ) {
        if self.broken {
            return;
        }
        let error = Diagnostic::error(code, self.place(start, end), message);
        let error = if help.is_empty() {
            error
        } else {
            error.help(help)
        };
        self.errors.push(error);
    }
    fn syntax(&mut self, start: usize, end: usize, message: String) {
        self.error(&codes::PIPELINE_SYNTAX, start, end, message, String::new());
        self.broken = true;
    }
    fn expected_name(&mut self, start: usize, open: &[Open]) {
        match self.peek() {
            Some(c) => {
                let message = format!("expected a pass or an op name, found '{c}'");
                self.syntax(start, start + c.len_utf8(), message);
            }
            None if open.len() > 1 => self.unclosed(open),
            None => self.syntax(start, start, "expected a pass after ','".into()),
        }
    }
    fn unclosed(&mut self, open: &[Open]) {
        let Some(last) = open.last() else { return };
        let (start, anchor) = (last.start, &last.pipeline.anchor);
        let end = start + anchor.len() + 1;
        let message = format!("'{anchor}(' is never closed");
        self.error(
            &codes::PIPELINE_SYNTAX,
            start,
            end,
            message,
            "add ')' at the end".into(),
        );
        self.broken = true;
    }
    fn check_anchor(&mut self, name: &str, start: usize, open: &[Open]) {
        let end = start + name.len();
        let root = open.len() == 1 && open[0].pipeline.anchor.is_empty();
        let known = name == ANY || name == ROOT || self.catalog.anchors.contains(&name);
        if root || known {
            return;
        }
        if self.catalog.pass(name).is_some() {
            let message = format!("'{name}' is a pass and takes no '('");
            let help = format!("its options stand in braces: {name}{{...}}");
            return self.error(&codes::PIPELINE_SYNTAX, start, end, message, help);
        }
        let message = format!("no op called '{name}' holds other ops");
        let near = nearest(name, self.catalog.anchors.iter().copied());
        let help = match near {
            Some(near) => format!("did you mean '{near}'?"),
            None => format!(
                "ops that hold others are {}; 'any' stands for each that is isolated",
                self.catalog.anchors.join(", ")
            ),
        };
        self.error(&codes::ANCHOR, start, end, message, help);
    }
    fn check_pass_anchor(&mut self, pass: &PassDef, anchor: &str, start: usize, end: usize) {
        if anchor != ANY && pass.runs_on(anchor) {
            return;
        }
        let Some(wanted) = pass.anchor.first() else {
            return;
        };
        let all = pass.anchor.join(" or ");
        let message = format!("'{}' runs on {all}, not on {anchor}", pass.name);
        let nested = match *wanted {
            ROOT => format!("{ROOT}({})", pass.name),
            wanted => format!("{ROOT}({wanted}({}))", pass.name),
        };
        self.error(
            &codes::ANCHOR,
            start,
            end,
            message,
            format!("write {nested}"),
        );
    }
    fn unknown(&mut self, name: &str, start: usize, end: usize) {
        let is_anchor = self.catalog.anchors.contains(&name);
        let (message, help) = if is_anchor {
            let message = format!("'{name}' is an op, not a pass");
            (message, format!("a pipeline on it is written {name}(...)"))
        } else {
            let message = format!("no pass called '{name}'");
            let near = nearest(name, self.catalog.names());
            let help = match near {
                Some(near) => format!("did you mean '{near}'?"),
                None => "--list-passes prints all passes".into(),
            };
            (message, help)
        };
        self.error(&codes::UNKNOWN_PASS, start, end, message, help);
    }
}

/// The length of the text before the `}` that closes, quotes and nested braces skipped.
fn closing_brace(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(q), b) if q == b => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'{') => depth += 1,
            (None, b'}') if depth == 0 => return Some(at),
            (None, b'}') => depth -= 1,
            _ => {}
        }
    }
    None
}
