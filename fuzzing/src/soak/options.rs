//! The options of a soak.

use std::path::PathBuf;
use std::sync::Arc;

use fuser_target::{Kind, processors};

use crate::Stats;
use crate::campaign::{Effort, QUICK, THOROUGH};
use crate::generate::Tier;
use crate::generate::fusion::Config;
use crate::models::check::{Bench, Level};
use crate::models::evaluator::Evaluators;
use crate::oracle::Finding;

/// The command line of `soak`.
pub const USAGE: &str = "usage: soak [options]
  --seconds N    how long to run (10)
  --cases N      how many cases to run at most
  --jobs N       threads (2)
  --seed N       the first seed (0)
  --tier T       exact, bounded or both (both)
  --small        small cases, as tests run them
  --cpu NAME     the processor to compile for, as fuser-run takes it (native)
  --ops A,B      only these ops: fusion.add,fusion.sum
  --no-templates single ops only
  --out DIR      where failures are written (fuzz-failures)
  --only A,B     of the kinds of cases only these: programs, partners, tasks, kernels, ptx, texts, models
  --find TEXT    a stated refusal, or a plan given up, whose reason, without numbers and names, contains TEXT is a failure too
  --reduce       make each failure small before it is written
  --write DIR    write each case to DIR as files, for another system to run, and do nothing else: programs and models
  --verbose      print every seed before it runs, and every panic as it happens";

/// Options of a soak.
#[derive(Clone, Debug)]
pub struct Options {
    pub(super) seconds: u64,
    pub(super) cases: u64,
    pub(super) jobs: u64,
    pub(super) seed: u64,
    pub(super) tiers: Vec<Tier>,
    pub(super) ops: Vec<&'static str>,
    pub(super) templates: bool,
    /// Names of [`KINDS`](super::KINDS).
    pub(super) kinds: Vec<&'static str>,
    pub(super) small: bool,
    pub(super) cpu: &'static str,
    pub(super) find: Option<String>,
    pub(super) out: PathBuf,
    /// The folder to which cases are written, where that is all that is done.
    pub(super) write: Option<PathBuf>,
    pub(super) reduce: bool,
    pub(super) verbose: bool,
    /// The levels at which models are compiled.
    levels: Vec<Level>,
    evaluators: Arc<Evaluators>,
    evaluated: bool,
}

impl Options {
    /// Reads arguments.
    pub fn read(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self {
            seconds: 10,
            cases: u64::MAX,
            jobs: 2,
            seed: 0,
            tiers: vec![Tier::Exact, Tier::Bounded],
            ops: Vec::new(),
            templates: true,
            kinds: super::KINDS.iter().map(|kind| kind.name).collect(),
            small: false,
            cpu: QUICK.cpu,
            find: None,
            out: "fuzz-failures".into(),
            write: None,
            reduce: false,
            verbose: false,
            levels: vec![Level::host()],
            evaluators: Arc::default(),
            evaluated: false,
        };
        let mut rest = arguments.iter();
        while let Some(name) = rest.next() {
            match name.as_str() {
                "--no-templates" => options.templates = false,
                "--small" => options.small = true,
                "--reduce" => options.reduce = true,
                "--verbose" => options.verbose = true,
                _ => {
                    let value = rest
                        .next()
                        .ok_or_else(|| format!("`{name}` takes a value"))?;
                    options.set(name, value)?;
                }
            }
        }
        if options.write.is_some() {
            options
                .kinds
                .retain(|kind| super::files::KINDS.contains(kind));
        }
        options.evaluated = options.write.is_none()
            && options.kinds.contains(&"models")
            && options.missing().is_none();
        Ok(options)
    }
    /// The reason that models are not evaluated, if so.
    pub(super) fn missing(&self) -> Option<String> {
        self.evaluators.missing()
    }
    /// The levels and evaluators that models go through.
    pub(super) fn bench(&self) -> Bench<'_> {
        Bench {
            levels: &self.levels,
            evaluators: self.evaluated.then_some(&self.evaluators),
        }
    }
    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let number = || {
            value
                .parse::<u64>()
                .map_err(|_| format!("`{name}` takes a number, not `{value}`"))
        };
        match name {
            "--seconds" => self.seconds = number()?,
            "--cases" => self.cases = number()?,
            "--jobs" => self.jobs = number()?.max(1),
            "--seed" => self.seed = number()?,
            "--find" => self.find = Some(value.into()),
            "--out" => self.out = value.into(),
            "--write" => self.write = Some(value.into()),
            "--cpu" => {
                self.cpu = processors::known(Kind::Cpu, value)
                    .ok_or_else(|| format!("`{value}` is no processor"))?;
                self.levels = vec![Level::new(value)?];
            }
            "--tier" => {
                self.tiers = match value {
                    "exact" => vec![Tier::Exact],
                    "bounded" => vec![Tier::Bounded],
                    "both" => vec![Tier::Exact, Tier::Bounded],
                    _ => return Err(format!("`{value}` is no tier: exact, bounded or both")),
                }
            }
            "--only" => {
                self.kinds.clear();
                for name in value.split(',') {
                    let known = super::KINDS.iter().find(|kind| kind.name == name);
                    let known = known.ok_or_else(|| format!("`{name}` is no kind of case"))?;
                    self.kinds.push(known.name);
                }
            }
            "--ops" => {
                for op in value.split(',') {
                    let known = fuser_dialects::fusion::DIALECT
                        .ops
                        .iter()
                        .find(|def| def.name == op);
                    let known =
                        known.ok_or_else(|| format!("`{op}` is no op of the fusion dialect"))?;
                    self.ops.push(known.name);
                }
            }
            _ => return Err(format!("unknown option `{name}`")),
        }
        Ok(())
    }
    /// Refusals that are looked for.
    pub(super) fn refusals(&self, stats: &Stats) -> Vec<Finding> {
        let Some(text) = &self.find else {
            return Vec::new();
        };
        let refusals = stats.entries("refusal").chain(stats.entries("other plan"));
        let refusals = refusals.filter(|r| r.contains(text));
        refusals.map(|r| Finding::new("refused", r)).collect()
    }
    pub(super) fn effort(&self) -> Effort {
        let effort = match self.small {
            true => QUICK,
            false => THOROUGH,
        };
        Effort {
            cpu: self.cpu,
            ..effort
        }
    }
    pub(super) fn config(&self, seed: u64) -> Config {
        let tier = self.tiers[seed as usize % self.tiers.len()];
        let config = Config {
            allowed: self.ops.clone(),
            templates: self.templates,
            ..match self.small {
                true => Config::small(tier),
                false => Config::new(tier),
            }
        };
        config.seeded(seed)
    }
}
