//! Running the parts of a program as the whole.
//!
//! A table holds the values in memory, by their numbers in the original; it starts with the inputs. Each segment takes
//! its inputs from the table and adds its outputs. Values without further users are freed at once. Results of the
//! program are never freed.

use std::collections::BTreeMap;

use fuser_ir::source::SourceMap;
use fuser_ir::{Diagnostic, Diagnostics, Place};
use fuser_passes::cost::Bindings;
use fuser_passes::report::{Crossing, Quantity, Report};
use fuser_runtime::{GpuReport, HostTensor, Inputs, RunReport, RuntimeError};

use super::map::{self, Map};
use super::{BAD_MAP, BAD_PART, MAP, check};
use crate::session::{Execution, Loaded, Result, Session, SessionError};

/// A text with its number in the caller's source map.
pub struct Text {
    /// The name of the text in messages.
    pub name: String,
    /// The text.
    pub text: String,
    /// Its number.
    pub file: u32,
}

impl Text {
    /// A text that becomes part of `sources`.
    pub fn new(sources: &mut SourceMap, name: &str, text: String) -> Self {
        let file = sources.add(name, text.as_str());
        let name = name.to_owned();
        Self { name, text, file }
    }
}

/// A segment that is ready to run.
pub struct Part {
    /// The segment's name.
    pub name: String,
    /// The name of its file in messages.
    pub file: String,
    /// Its program.
    pub loaded: Loaded,
    /// True if its text differs from the one that was written.
    pub edited: bool,
    reads: Vec<usize>,
    writes: Vec<usize>,
    frees: Vec<usize>,
}

/// A program in parts, read and checked.
pub struct Parts {
    /// The map between the original's values and those of the parts.
    pub map: Map,
    /// The original program.
    pub original: Loaded,
    /// In run order.
    pub segments: Vec<Part>,
    /// Findings that are no errors.
    pub warnings: Diagnostics,
}

/// The result of a run.
pub struct PartsRun {
    /// Outputs and times of the whole.
    pub execution: Execution,
    /// The inputs, taken back from the table; without tensors if they were not to be kept.
    pub inputs: Inputs,
}

impl Parts {
    /// Reads the map, the original and all segments; `read` returns the text of a file in the folder, or an error.
    pub fn read(
        session: &Session,
        read: &mut dyn FnMut(&str) -> std::result::Result<Text, String>,
    ) -> std::result::Result<Parts, Diagnostics> {
        let missing = |message| Diagnostic::error(&BAD_MAP, Place::Unknown, message);
        let text = read(MAP).map_err(|m| all(vec![missing(m)]))?;
        let map = parse_map(&text)?;
        let found = check::map(&map, &text);
        if !found.is_empty() {
            return Err(all(found));
        }
        let mut errors = Vec::new();
        let mut warnings = Diagnostics::default();
        let mut load = |file: &str, at: Place, program: &str, owner: &str| {
            let gone = |m| Diagnostic::error(&BAD_PART, at, format!("{owner}: {m}"));
            let text = read(file).map_err(|m| vec![gone(m)])?;
            let (ir, module, found) = session
                .parse(text.file, &text.name, &text.text)
                .map_err(|d| d.items)?;
            warnings.items.extend(found.items);
            let programs = ir.children(module).len();
            let program = Some(program).filter(|_| programs > 1);
            let ir_of_error = ir.clone();
            let loaded = session.load(ir, module, program);
            let loaded = loaded.map_err(|e| e.diagnostics(&ir_of_error))?;
            Ok::<_, Vec<Diagnostic>>((loaded, text))
        };
        let at = check::field(&text, &["original".into(), "file".into()]);
        let original = load(&map.original.file, at, &map.program, "the original");
        let original = original.and_then(|(loaded, own)| {
            let found = check::original(&map, &text, &loaded, &own);
            found.is_empty().then_some(loaded).ok_or(found)
        });
        let original = original.map_err(|found| errors.extend(found)).ok();
        let mut segments = Vec::with_capacity(map.segments.len());
        let frees = map.frees();
        for (number, (segment, frees)) in map.segments.iter().zip(frees).enumerate() {
            let owner = format!("segment '{}'", segment.name);
            let at = check::field(&text, &["segments".into(), number.into(), "file".into()]);
            let part = load(&segment.file, at, &segment.program, &owner);
            let part = part.and_then(|(loaded, own)| {
                let ends = check::part(&map, &text, number, &loaded, &own)?;
                Ok(Part {
                    name: segment.name.clone(),
                    edited: map::hash(&own.text) != segment.hash,
                    file: own.name,
                    loaded,
                    reads: ends.reads,
                    writes: ends.writes,
                    frees,
                })
            });
            match part {
                Ok(part) => segments.push(part),
                Err(found) => errors.extend(found),
            }
        }
        if errors.is_empty() {
            errors.extend(check::rest(&map, &text));
        }
        match original.filter(|_| errors.is_empty()) {
            Some(original) => Ok(Parts {
                map,
                original,
                segments,
                warnings,
            }),
            None => Err(all(errors)),
        }
    }

    /// Runs all segments in order; `how` runs one. Inputs that are not to be kept are freed like other values.
    pub fn run(
        &self,
        session: &Session,
        inputs: Inputs,
        keep: bool,
        how: &mut dyn FnMut(&Loaded, &Inputs) -> Result<Execution>,
    ) -> Result<PartsRun> {
        let Inputs { tensors, extents } = inputs;
        let given = tensors.len();
        let mut table: BTreeMap<usize, HostTensor> = tensors.into_iter().enumerate().collect();
        let mut total = Total::default();
        total.live(&table, 0);
        for part in &self.segments {
            let handed = Inputs {
                tensors: part.reads.iter().filter_map(|v| table.remove(v)).collect(),
                extents: self.extents(part, &extents),
            };
            let done = how(&part.loaded, &handed).map_err(|e| located(part, e))?;
            total.add(part, &done, &table);
            for (value, tensor) in part.reads.iter().zip(handed.tensors) {
                if !part.frees.contains(value) || (keep && *value < given) {
                    table.insert(*value, tensor);
                }
            }
            for (value, tensor) in part.writes.iter().zip(done.outputs) {
                if !part.frees.contains(value) {
                    table.insert(*value, tensor);
                }
            }
        }
        let outputs = self.outputs(session, &mut table, keep.then_some(given))?;
        let kept = 0..if keep { given } else { 0 };
        let inputs = Inputs {
            tensors: kept.filter_map(|v| table.remove(&v)).collect(),
            extents: extents.clone(),
        };
        let names = self.original.signature.extents.iter().cloned();
        let threads = session.runtime().workers().count();
        Ok(PartsRun {
            execution: total.finish(outputs, threads, names.zip(extents).collect()),
            inputs,
        })
    }
    /// The extents of a part, from those of the original.
    fn extents(&self, part: &Part, values: &[i64]) -> Vec<i64> {
        let known = &self.original.signature.extents;
        let value = |name: &String| {
            let position = known.iter().position(|k| k == name);
            position.and_then(|p| values.get(p).copied()).unwrap_or(0)
        };
        part.loaded.signature.extents.iter().map(value).collect()
    }
    fn outputs(
        &self,
        session: &Session,
        table: &mut BTreeMap<usize, HostTensor>,
        inputs: Option<usize>,
    ) -> Result<Vec<HostTensor>> {
        let mut outputs = Vec::with_capacity(self.map.outputs.len());
        for (position, value) in self.map.outputs.iter().enumerate() {
            let again = self.map.outputs[position + 1..].contains(value);
            let copied = again || inputs.is_some_and(|count| *value < count);
            let found = match copied {
                true => table
                    .get(value)
                    .map(|t| t.try_clone(session.runtime().heap())),
                false => table.remove(value).map(Ok),
            };
            let input = self.map.values[*value].name.clone();
            let found = found.transpose();
            let found = found.map_err(|error| RuntimeError::Input { input, error })?;
            outputs.extend(found);
        }
        Ok(outputs)
    }

    /// The traffic of the parts, as one report.
    pub fn report(
        &self,
        inputs: &Inputs,
        how: &mut dyn FnMut(&Loaded, &Inputs) -> Result<Report>,
    ) -> Result<Report> {
        let mut segments = Vec::new();
        let mut crossing = Vec::new();
        let mut inner = Vec::new();
        let mut roofs = None;
        for part in &self.segments {
            let own = Inputs {
                tensors: Vec::new(),
                extents: self.extents(part, &inputs.extents),
            };
            let report = how(&part.loaded, &own)?;
            segments.extend(report.segments.into_iter().map(|mut segment| {
                segment.name = label(part, &segment.name);
                segment
            }));
            inner.push(report.crossing_bytes);
            roofs = roofs.or(report.roofs);
            crossing.extend(report.crossing.into_iter().map(|c| Crossing {
                from: label(part, &c.from),
                to: label(part, &c.to),
                ..c
            }));
        }
        let between = self.crossing(&inputs.extents);
        let mut once = BTreeMap::new();
        for (value, crossed) in between {
            once.entry(value).or_insert_with(|| crossed.bytes.clone());
            crossing.push(crossed);
        }
        let sum = |of: fn(&fuser_passes::report::SegmentReport) -> &Quantity| -> Quantity {
            segments.iter().map(|s| of(s).clone()).sum()
        };
        let (read_bytes, write_bytes) = (sum(|s| &s.read_bytes), sum(|s| &s.write_bytes));
        Ok(Report {
            program: self.map.program.clone(),
            total_bytes: [read_bytes.clone(), write_bytes.clone()].into_iter().sum(),
            crossing_bytes: inner.into_iter().chain(once.into_values()).sum(),
            segments,
            crossing,
            returned: self.returned(),
            read_bytes,
            write_bytes,
            roofs,
        })
    }
    /// The names of the program's results.
    fn returned(&self) -> Vec<String> {
        let values = self.map.outputs.iter();
        values
            .map(|&value| self.map.values[value].name.clone())
            .collect()
    }
    /// The values that one part writes and another reads, with their numbers.
    fn crossing(&self, extents: &[i64]) -> Vec<(usize, Crossing)> {
        let mut writer = BTreeMap::new();
        let mut list = Vec::new();
        for part in &self.segments {
            let loaded = &part.loaded;
            let args = loaded.ir.body(loaded.program, 0);
            let args = args.map_or(&[][..], |b| loaded.ir.args(b));
            let names = loaded.signature.extents.iter();
            let named = names
                .zip(self.extents(part, extents))
                .filter_map(|(n, v)| Some((loaded.ir.strings.lookup(n)?, u64::try_from(v).ok()?)));
            let bindings = Bindings {
                named: named.collect(),
                ..Bindings::default()
            };
            for (&arg, value) in args.iter().zip(&part.reads) {
                if let Some(&from) = writer.get(value) {
                    let from: &Part = from;
                    list.push((
                        *value,
                        Crossing {
                            value: self.map.values[*value].name.clone(),
                            from: from.name.clone(),
                            to: part.name.clone(),
                            bytes: Quantity::bytes(&loaded.ir, arg, &bindings),
                        },
                    ));
                }
            }
            writer.extend(part.writes.iter().map(|&value| (value, part)));
        }
        list
    }
}

/// The name that a report gives a segment of a part's program.
fn label(part: &Part, inner: &str) -> String {
    match inner == part.name {
        true => part.name.clone(),
        false => format!("{}/{inner}", part.name),
    }
}

fn all(items: Vec<Diagnostic>) -> Diagnostics {
    Diagnostics { items }
}

fn parse_map(text: &Text) -> std::result::Result<Map, Diagnostics> {
    let wrong = |place, message| all(vec![Diagnostic::error(&BAD_MAP, place, message)]);
    let refused = |e: serde_json::Error| {
        let place = Place::Line {
            file: text.name.clone(),
            line: u32::try_from(e.line()).unwrap_or(1),
            column: u32::try_from(e.column()).unwrap_or(1),
        };
        wrong(place, format!("not a map of segments: {e}"))
    };
    let Version { version } = serde_json::from_str(&text.text).map_err(refused)?;
    if version != map::VERSION {
        let message = format!(
            "the map has version {version}, this Fuser reads {}",
            map::VERSION
        );
        return Err(wrong(check::field(text, &["version".into()]), message));
    }
    serde_json::from_str(&text.text).map_err(refused)
}

/// The field that maps of all versions have.
#[derive(serde::Deserialize)]
struct Version {
    version: u32,
}

/// An error of a part, with its file where it has no place.
fn located(part: &Part, error: SessionError) -> SessionError {
    let items = error.diagnostics(&part.loaded.ir).into_iter();
    let items = items.map(|mut d| {
        if d.place == Place::Unknown {
            d.message = format!("segment '{}' ({}): {}", part.name, part.file, d.message);
        }
        d
    });
    SessionError::Diagnostics(all(items.collect()))
}

/// The sums over the runs of the parts.
#[derive(Default)]
struct Total {
    time_ms: f64,
    compile_ms: f64,
    peak: u64,
    arena: u64,
    segments: Vec<fuser_runtime::SegmentReport>,
    /// Milliseconds of each repetition, summed over the parts.
    samples: Vec<f64>,
    interpreted: bool,
    gpu: Option<GpuReport>,
}

impl Total {
    fn live(&mut self, table: &BTreeMap<usize, HostTensor>, more: u64) {
        let bytes = table.values().map(|t| t.bytes().len() as u64);
        self.peak = self.peak.max(bytes.sum::<u64>().saturating_add(more));
    }
    /// Adds the figures of a part. `table` holds the values that were in memory besides the part's inputs and outputs.
    fn add(&mut self, part: &Part, done: &Execution, table: &BTreeMap<usize, HostTensor>) {
        self.time_ms += done.time_ms;
        self.compile_ms += done.compile_ms;
        let Some(run) = &done.run else {
            self.interpreted = true;
            return;
        };
        self.live(table, run.peak_bytes);
        self.samples.resize(run.samples_ms.len(), 0.0);
        let samples = self.samples.iter_mut().zip(&run.samples_ms);
        samples.for_each(|(sum, ms)| *sum += ms);
        self.arena = self.arena.max(run.arena_bytes);
        if let Some(mut gpu) = run.gpu.clone() {
            for launch in &mut gpu.launches {
                launch.segment = label(part, &launch.segment);
            }
            let before = self.gpu.take().map(|before| before.launches);
            gpu.launches.splice(0..0, before.unwrap_or_default());
            self.gpu = Some(gpu);
        }
        let named = run.segments.iter().cloned().map(|mut segment| {
            segment.name = label(part, &segment.name);
            segment
        });
        self.segments.extend(named);
    }
    fn finish(
        self,
        outputs: Vec<HostTensor>,
        threads: usize,
        extents: Vec<(String, i64)>,
    ) -> Execution {
        let report = RunReport {
            segments: self.segments,
            total_ms: self.time_ms,
            samples_ms: self.samples,
            peak_bytes: self.peak,
            arena_bytes: self.arena,
            ranks: 1,
            threads,
            extents,
            version: None,
            gpu: self.gpu,
            timeline: Vec::new(),
        };
        Execution {
            outputs,
            time_ms: self.time_ms,
            compile_ms: self.compile_ms,
            run: (!self.interpreted).then_some(report),
        }
    }
}
