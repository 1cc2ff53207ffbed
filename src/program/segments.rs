//! The segments of a program in the library: the segments, their reasons, the cost of other groupings, and programs
//! with other groupings.
//!
//! ```
//! use fuser::{Options, Program};
//!
//! # fn main() -> Result<(), fuser::Error> {
//! let program = Program::parse("task.program @f(%x: tensor<[B]x4xf32>) -> tensor<[B]xf32> {
//!   %e = fusion.exp %x
//!   %cut = fusion.segment_set %e
//!   %y = fusion.sum %cut dims [1]
//!   task.return %y
//! }")?;
//! let options = Options::default();
//!
//! let drawing = program.drawing(&options)?;
//! assert_eq!(drawing.report.segments.len(), 2);
//! assert_eq!(drawing.report.crossing_bytes.text(), "16*B");
//! assert!(program.explain(&options, &["e", "y"])?.contains("a boundary of the program lies between"));
//!
//! let asked = program.what_if(&options, &[vec!["e".into(), "y".into()]], &[])?.asked;
//! assert_eq!(asked.err().map(|error| error.code()), Some("FIR0710"));
//!
//! let split = program.split(&options)?;
//! assert_eq!(split.map.segments[0].frees, [0]);
//! assert_eq!(split.parts[1].name(), "f_s1");
//! # Ok(())
//! # }
//! ```
//!
//! The passes that [`Program::compile`] runs make all decisions; texts and names are those of `fuser-opt` and
//! `fuser-run`. No data are needed: extents that `options` leave open stay names, and count as 1024 if a decision needs
//! a number.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fuser_dialects::task;
use fuser_ir::print;
use fuser_ir::{Diagnostic, Diagnostics, Ir, Value};
use fuser_pass::place_of;
use fuser_passes::report::{Report, SegmentReport};
use fuser_passes::segment::{self, Hint};
use serde::Serialize;
use serde_json::Value as Json;

use super::{Error, Options, Program, Result};
use crate::compile::{self, Moment};
use crate::session::{Loaded, Session};
use crate::split::{self, Map};
use crate::tool::explain::{self, Files};

/// The segments of a program as they are compiled.
#[derive(Clone, Debug, Serialize)]
pub struct Drawing {
    /// Ops, bytes and what crosses: docs/report-schema.md has the fields.
    pub report: Report,
    /// Prices, and the reason of each cut: docs/segmentation.md has the fields.
    pub explanation: Json,
    /// The types of the values that segments read and write, by name with `%`.
    pub types: BTreeMap<String, String>,
}

/// The segments of a program as they are, and as somebody wants them.
#[derive(Clone, Debug)]
pub struct WhatIf {
    /// As they are.
    pub taken: Drawing,
    /// As they were asked for, or the reason that they cannot be so.
    pub asked: Result<Drawing>,
}

/// A program in parts.
pub struct SplitProgram {
    /// The map between values of the program and of its parts: docs/segmentation.md has the fields.
    pub map: Map,
    /// The parts in run order.
    pub parts: Vec<Program>,
}

impl Program {
    /// The segments with their bytes, prices and reasons, once the passes before scheduling have run.
    ///
    /// # Errors
    /// A program that cannot be segmented for the target.
    pub fn drawing(&self, options: &Options) -> Result<Drawing> {
        self.changed(options, &mut |_| Ok(()))
    }

    /// The text of `--explain`; with one or two values, that of `--explain=%a,%b`.
    ///
    /// # Errors
    /// As [`drawing`](Self::drawing); an unknown value name.
    pub fn explain(&self, options: &Options, values: &[&str]) -> Result<String> {
        let named = |name: &str| format!("%{}", name.trim_start_matches('%'));
        let (kind, pair) = match values {
            [] => ("explain", String::new()),
            [one] => ("explain-pair", [named(one), named(one)].join(",")),
            all => {
                let all: Vec<String> = all.iter().map(|name| named(name)).collect();
                ("explain-pair", all.join(","))
            }
        };
        let mut wanted = Files { kinds: vec![kind] };
        let Loaded { module, .. } = *self.loaded;
        let mut ir = self.loaded.alone();
        let files = compile::explain(&mut ir, module, &options.compile, &pair, &mut wanted);
        Ok(explain::content(&self.all(files)?, kind))
    }

    /// The segments under these constraints: the values of each list in `together` share a kernel, and no two values of
    /// a list in `apart` do. A value alone in its `apart` list has a kernel of its own.
    ///
    /// # Errors
    /// As [`drawing`](Self::drawing). The result contains the reason if the constraints cannot be met.
    pub fn what_if(
        &self,
        options: &Options,
        together: &[Vec<String>],
        apart: &[Vec<String>],
    ) -> Result<WhatIf> {
        let taken = self.drawing(options)?;
        let program = self.loaded.program;
        let ask = |by: &Hint| {
            self.changed(options, &mut |ir| {
                let hints = hints(ir, program, together, apart, by)?;
                hints.into_iter().for_each(|(op, hint)| hint.set(ir, op));
                Ok(())
            })
        };
        let asked = match ask(&Hint::Barrier) {
            // No path leads from the one to the other: what ends a kernel may stand beside the other.
            Ok(drawing) if apart.iter().any(|list| drawing.share(list)) => ask(&Hint::Apart),
            other => other,
        };
        Ok(WhatIf { taken, asked })
    }

    /// The segments as programs, with the map between their values and those of the whole program.
    ///
    /// # Errors
    /// As [`drawing`](Self::drawing); a program with complex numbers or 4-bit floats among its inputs or outputs.
    pub fn split(&self, options: &Options) -> Result<SplitProgram> {
        let Loaded { ir, program, .. } = &*self.loaded;
        let split = self.all(split::split(ir, *program, &options.compile))?;
        let of = |segment: &split::map::Segment| {
            let texts = split.files.iter();
            let text = texts.clone().find(|(name, _)| *name == segment.file);
            let text = text.map_or("", |(_, text)| text);
            Program::parse_named(&segment.file, text, None)
        };
        let parts = split.map.segments.iter().map(of);
        Ok(SplitProgram {
            parts: parts.collect::<Result<_>>()?,
            map: split.map,
        })
    }

    /// The program with the segments of `grouping`, the text of a segment report or another grouping of that form.
    /// Segments that the compiler chooses itself are created as usual.
    ///
    /// # Errors
    /// A grouping that is not possible.
    pub fn with_segments(&self, options: &Options, grouping: &str) -> Result<Program> {
        let Loaded { module, .. } = *self.loaded;
        let mut ir = self.loaded.alone();
        self.all(compile::run_segment(&mut ir, module, &options.compile))?;
        let own = Session::report_drawn(&ir, &self.loaded, &options.compile);
        if !is_grouping(&own, grouping) {
            ir = self.loaded.alone();
            self.all(compile::draw(&mut ir, module, &options.compile, grouping))?;
            keep(&mut ir, self.loaded.program);
        }
        let name = Some(self.name());
        let loaded = Session::load_module(ir, module, name);
        let loaded =
            loaded.map_err(|error| Error::of(error.diagnostics(&self.loaded.ir), &self.sources))?;
        Ok(Self {
            loaded: Arc::new(loaded),
            sources: self.sources.clone(),
            warnings: Vec::new(),
        })
    }

    /// The text of a segment with its schedule: sweeps with their roles, tiles and vector widths.
    ///
    /// # Errors
    /// As [`drawing`](Self::drawing); an unknown segment name.
    pub fn schedule(&self, options: &Options, segment: &str) -> Result<String> {
        let text = self.segmented_text(options)?;
        let lines = self.all(lines_of(&text, segment))?;
        let lines: Vec<&str> = text.lines().skip(lines.start).take(lines.len()).collect();
        let indent = lines.first().map_or(0, |line| indent(line));
        let lines = lines.iter().map(|line| line.get(indent..).unwrap_or(line));
        Ok(lines.collect::<Vec<_>>().join("\n") + "\n")
    }

    /// The program with another schedule for a segment. `text` is the whole segment, as [`schedule`](Self::schedule)
    /// returns it, or the changed clauses of its only sweep, such as `tile [4, 64] vector 8`.
    ///
    /// # Errors
    /// As [`schedule`](Self::schedule); text that is not a segment, or a segment with other results.
    pub fn with_schedule(&self, options: &Options, segment: &str, text: &str) -> Result<Program> {
        let whole = self.segmented_text(options)?;
        let lines = self.all(lines_of(&whole, segment))?;
        let is_segment = text.contains("task.segment");
        let own: Vec<&str> = whole.lines().skip(lines.start).take(lines.len()).collect();
        let edited = match is_segment {
            true => text.trim_end().to_owned(),
            false => self.all(with_clauses(&own, segment, text))?,
        };
        let before = whole.lines().take(lines.start);
        let after = whole.lines().skip(lines.end);
        let text: Vec<&str> = before.chain(edited.lines()).chain(after).collect();
        Program::parse_named(
            "scheduled.fir",
            &(text.join("\n") + "\n"),
            Some(self.name()),
        )
    }

    /// The segments once `change` edited the program that `segment` sees.
    fn changed(
        &self,
        options: &Options,
        change: &mut dyn FnMut(&mut Ir) -> std::result::Result<(), Diagnostics>,
    ) -> Result<Drawing> {
        let Loaded {
            module, program, ..
        } = *self.loaded;
        let mut ir = self.loaded.alone();
        let run = compile::run_front_changed(
            &mut ir,
            module,
            &options.compile,
            Moment::BeforeSegment,
            change,
        );
        self.all(run)?;
        let report = Session::report_drawn(&ir, &self.loaded, &options.compile);
        let kinds = vec!["explain-json"];
        let types = types(&ir, program);
        let files = compile::explain_drawn(&mut ir, module, &options.compile, &mut Files { kinds });
        // The programs that its loops run have segments of their own.
        let mut files = self.all(files)?;
        let symbol = ir.symbol_name(program);
        files.retain(|file| file.function.as_deref() == symbol);
        let text = explain::content(&files, "explain-json");
        Ok(Drawing {
            report,
            // It was written as JSON a moment ago.
            explanation: serde_json::from_str(&text).unwrap_or_default(),
            types,
        })
    }

    fn all<T>(&self, result: std::result::Result<T, Diagnostics>) -> Result<T> {
        result.map_err(|list| Error::of(list.items, &self.sources))
    }
}

impl Drawing {
    /// The segment that gives the value to others.
    fn home(&self, name: &str) -> Option<&str> {
        let name = name.trim_start_matches('%');
        let has = |ops: &[String]| ops.iter().any(|op| op.trim_start_matches('%') == name);
        let found = self
            .report
            .segments
            .iter()
            .find(|segment| has(&segment.ops));
        found.map(|segment| segment.name.as_str())
    }
    /// True if two of the values are of one segment.
    fn share(&self, names: &[String]) -> bool {
        let homes: Vec<&str> = names.iter().filter_map(|name| self.home(name)).collect();
        homes.iter().collect::<BTreeSet<_>>().len() < homes.len()
    }
}

/// The hints that implement a grouping request. `by` is the hint that separates a value from the later values of its
/// list.
fn hints(
    ir: &Ir,
    program: fuser_ir::Op,
    together: &[Vec<String>],
    apart: &[Vec<String>],
    by: &Hint,
) -> std::result::Result<Vec<(fuser_ir::Op, Hint)>, Diagnostics> {
    let mut errors = Diagnostics::default();
    let order = ir.children(program);
    let mut find = |list: &[String]| {
        let found = list.iter().map(|name| segment::producer(ir, program, name));
        let found = found.filter_map(|op| op.map_err(|error| errors.push(*error)).ok());
        let found: BTreeSet<fuser_ir::Op> = found.collect();
        let ops = order.iter().copied().filter(|op| found.contains(op));
        ops.collect::<Vec<_>>()
    };
    let mut hints: Vec<(fuser_ir::Op, Hint)> = Vec::new();
    let mut clashes = Vec::new();
    for (number, list) in together.iter().enumerate() {
        for op in find(list) {
            match hints.iter().any(|(known, _)| *known == op) {
                true => clashes.push(op),
                false => hints.push((op, Hint::Together(format!("asked{number}")))),
            }
        }
    }
    for list in apart {
        let ops = find(list);
        let (hint, count) = match ops.len() {
            1 => (&Hint::Apart, 1),
            count => (by, count.saturating_sub(1)),
        };
        for &op in ops.iter().take(count) {
            match hints.iter().find(|(known, _)| *known == op) {
                Some((_, known)) if known == hint => {}
                Some(_) => clashes.push(op),
                None => hints.push((op, hint.clone())),
            }
        }
    }
    for op in clashes {
        let name = ir
            .results(op)
            .first()
            .and_then(|&value| ir.value_name(value));
        let message = format!(
            "'%{}' is asked for in two ways at once",
            name.unwrap_or("?")
        );
        let error = Diagnostic::error(&segment::BROKEN_HINT, place_of(ir, op), message);
        errors.push(error.help("ask about one of them after the other"));
    }
    match errors.has_errors() {
        true => Err(errors),
        false => Ok(hints),
    }
}

/// The types of the values that segments read and write.
fn types(ir: &Ir, program: fuser_ir::Op) -> BTreeMap<String, String> {
    let args = ir.body(program, 0).map_or(&[][..], |block| ir.args(block));
    let made = ir.children(program).into_iter();
    let made = made.flat_map(|op| ir.results(op)).copied();
    let row = |value: Value| {
        let name = ir.value_name(value)?;
        let ty = print::print_type(ir, ir.value_type(value));
        Some((format!("%{name}"), ty))
    };
    args.iter().copied().chain(made).filter_map(row).collect()
}

/// Adds hints that keep the values passed between segments in memory. Rematerialization would otherwise recompute them
/// and remove segments.
fn keep(ir: &mut Ir, program: fuser_ir::Op) {
    for segment in ir.children(program) {
        let Some(end) = ir.body(segment, 0).and_then(|body| ir.last_op(body)) else {
            continue;
        };
        let results = ir.results(segment).to_vec();
        let given: Vec<Value> = ir.operands(end).collect();
        for (result, value) in results.into_iter().zip(given) {
            let is_user = |slot| !ir.is(ir.use_owner(slot).0, &fuser_dialects::task::RETURN);
            let crosses = ir.uses(result).any(is_user);
            let made = ir.def_op(value).filter(|_| crosses);
            if let Some(op) = made.filter(|&op| ir.get_attr(op, "fusion.hint").is_none()) {
                Hint::Barrier.set(ir, op);
            }
        }
    }
}

/// True if `grouping` has the segments of a report, op for op.
fn is_grouping(report: &Report, grouping: &str) -> bool {
    let Ok(json) = serde_json::from_str::<Json>(grouping) else {
        return false;
    };
    let Some(listed) = json.get("segments").and_then(Json::as_array) else {
        return false;
    };
    let same = |(own, other): (&SegmentReport, &Json)| {
        let ops = other.get("ops").and_then(Json::as_array);
        let ops = ops.map_or(&[][..], Vec::as_slice).iter();
        // A schedule has another order of them.
        let listed: BTreeSet<Option<&str>> = ops.map(Json::as_str).collect();
        let own_ops = own.ops.iter().map(|op| Some(op.as_str()));
        other.get("name").and_then(Json::as_str) == Some(&own.name)
            && own_ops.collect::<BTreeSet<_>>() == listed
    };
    listed.len() == report.segments.len() && report.segments.iter().zip(listed).all(same)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The error about a name that no segment has.
fn no_segment(message: String, names: &[&str]) -> Diagnostics {
    let error = Diagnostic::error(&split::BAD_PART, fuser_ir::Place::Unknown, message);
    let help = match names {
        [] => "the program has no segments".to_owned(),
        names => format!("its segments are {}", names.join(", ")),
    };
    one(error.help(help))
}

/// The error about clauses that cannot change the schedule of a segment.
fn no_clause(message: String, help: String) -> Diagnostics {
    let error = Diagnostic::error(&split::BAD_PART, fuser_ir::Place::Unknown, message);
    one(error.help(help))
}

fn one(error: Diagnostic) -> Diagnostics {
    Diagnostics { items: vec![error] }
}

/// The lines of a segment in the text of a module.
fn lines_of(text: &str, segment: &str) -> std::result::Result<std::ops::Range<usize>, Diagnostics> {
    let wanted = segment.trim_start_matches('@');
    let named = |line: &str| {
        let (_, rest) = line.split_once("task.segment @")?;
        Some(rest.split(' ').next().unwrap_or(rest).to_owned())
    };
    let start = text
        .lines()
        .position(|line| named(line).as_deref() == Some(wanted));
    let Some(start) = start else {
        let names: Vec<String> = text.lines().filter_map(named).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let message = format!("the program has no segment '@{wanted}'");
        return Err(no_segment(message, &names));
    };
    let own = text.lines().nth(start).map_or(0, indent);
    let behind = text.lines().enumerate().skip(start + 1);
    let end = behind
        .filter(|(_, line)| indent(line) == own && line.trim_start().starts_with('}'))
        .map(|(number, _)| number + 1)
        .next();
    Ok(start..end.unwrap_or(start + 1))
}

/// The text of a segment with other clauses of its sweep.
fn with_clauses(
    lines: &[&str],
    segment: &str,
    text: &str,
) -> std::result::Result<String, Diagnostics> {
    let sweeps = lines.iter().filter(|line| line.contains("task.sweep "));
    if sweeps.count() != 1 {
        let message = format!("segment '{segment}' has no sweep, or several");
        let help = "clauses change its only sweep: edit the text of 'schedule' instead";
        return Err(no_clause(message, help.into()));
    }
    let mut text = text.trim();
    let mut edited: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    while !text.is_empty() {
        let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
        let rest = rest.trim_start();
        let end = value_end(rest);
        let (value, rest) = rest.split_at(end);
        let clauses = task::SWEEP.clauses;
        if !clauses.iter().any(|clause| clause.name == name) {
            let names: Vec<&str> = clauses.iter().map(|clause| clause.name).collect();
            let message = format!("'{name}' is no clause of a sweep");
            return Err(no_clause(
                message,
                format!("clauses are {}", names.join(", ")),
            ));
        }
        if value.is_empty() {
            let message = format!("the clause '{name}' has no value");
            return Err(no_clause(
                message,
                format!("write it behind the name: {name} VALUE"),
            ));
        }
        for line in edited
            .iter_mut()
            .filter(|line| line.contains("task.sweep "))
        {
            set_clause(line, name, value);
        }
        text = rest.trim_start();
    }
    Ok(edited.join("\n"))
}

/// Gives a clause of the sweep that begins in `line` another value, or adds the clause.
fn set_clause(line: &mut String, name: &str, value: &str) {
    let sweep = line.find("task.sweep ").unwrap_or(0);
    let known = line[sweep..].find(&format!(" {name} "));
    if let Some(at) = known.map(|at| sweep + at + name.len() + 2) {
        let end = at + value_end(&line[at..]);
        line.replace_range(at..end, value);
    } else if let Some(body) = line.rfind('{') {
        line.insert_str(body, &format!("{name} {value} "));
    }
}

/// The end of the clause value at the start of `text`; a list ends at its bracket.
fn value_end(text: &str) -> usize {
    if !text.starts_with('[') {
        return text.find(char::is_whitespace).unwrap_or(text.len());
    }
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' if depth <= 1 => return at + 1,
            ']' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_are_changed_or_added() {
        let mut line = "    %y = task.sweep axes [\"a0\"] tile [1, 1] vector 16 {".to_owned();
        set_clause(&mut line, "tile", "[4, 64]");
        set_clause(&mut line, "partials", "2");
        set_clause(&mut line, "vector", "8");
        assert_eq!(
            line,
            "    %y = task.sweep axes [\"a0\"] tile [4, 64] vector 8 partials 2 {"
        );
    }

    #[test]
    fn clauses_that_are_none_are_told_which_there_are() {
        let lines = ["task.segment @s0 {", "%y = task.sweep tile [1] {"];
        let help = |text| with_clauses(&lines, "s0", text).unwrap_err().items[0].helps[0].clone();
        assert!(help("tiles [2]").contains("clauses are axes"));
        assert!(help("tile").contains("tile VALUE"));
        assert!(
            with_clauses(&lines[..1], "s0", "tile [2]")
                .unwrap_err()
                .items[0]
                .helps[0]
                .contains("'schedule'")
        );
    }
}
