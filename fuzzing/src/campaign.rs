//! The route of a case through the oracles, and the counts taken on the way.
//!
//! The same function serves tests, soak and fuzz targets: a case in, findings out.

use std::fmt;

use fuser::compile::{CompileOptions, Target, pipeline};
use fuser_pass::Pipeline;
use fuser_target::{A100, GENERIC, Kind, TINY, TINY_GPU};

use crate::generate::fusion::{self, Config};
use crate::generate::{Case, Tier, tasks};
use crate::mutate::{self, Needs};
use crate::oracle::{Finding, compiled, execute, guard, partner, passes, text, verify};
pub use crate::stats::shape_of;
use crate::{Source, Stats};

/// A way to cut a program into kernels and their sweeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Variant {
    /// Options of `segment`, besides the target.
    pub segmentation: &'static str,
    /// Cuts and schedules for a tiny machine: small tensors are walked there as huge ones are elsewhere.
    pub tiny: bool,
    /// 0: the passes before `segment` run as usual; else the seed of another order of some of them.
    pub order: u64,
    /// True if the tail of a CPU's row is one masked vector.
    pub masks: bool,
}

/// As a user gets it.
pub const USUAL: Variant = Variant {
    segmentation: "",
    tiny: false,
    order: 0,
    masks: true,
};
/// Options of `segment`: as it is, nothing fused, and other ways to decide.
const SEGMENTATIONS: [&str; 6] = [
    "",
    "max-ops=1",
    "max-ops=3",
    "top-down=false",
    "max-sweeps=1",
    "objective=kernels",
];

/// The limits on the work spent on a case, and its processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Element operations of one execution after a pass.
    pub fuel: u64,
    /// The processor that the case is compiled for, by its name.
    pub cpu: &'static str,
}

impl Effort {
    /// The compile options of a case; `passes` replaces the passes before scheduling.
    pub fn compile_options(&self, passes: Option<String>) -> CompileOptions {
        CompileOptions {
            target: GENERIC.for_processor(self.cpu).unwrap_or_default(),
            passes,
            ..CompileOptions::default()
        }
    }
}

/// For tests.
pub const QUICK: Effort = Effort {
    fuel: 1 << 16,
    cpu: "native",
};
/// For the soak.
pub const THOROUGH: Effort = Effort {
    fuel: 1 << 22,
    ..QUICK
};

impl Variant {
    /// Any of them.
    pub fn draw(source: &mut Source) -> Self {
        Self {
            segmentation: source.one(&SEGMENTATIONS),
            tiny: source.chance(1, 3),
            order: match source.chance(1, 2) {
                true => source.below(1 << 16),
                false => 0,
            },
            masks: source.chance(1, 2),
        }
    }
    /// The passes before scheduling; `None` for the usual ones.
    fn front(&self) -> Option<String> {
        if self.segmentation.is_empty() && self.order == 0 {
            return None;
        }
        let mut before = passes_before("segment");
        if self.order != 0 {
            before = reordered(before, &mut Source::seed(self.order));
        }
        let mut passes: Vec<String> = before.into_iter().map(Into::into).collect();
        passes.push(format!("segment{{{}}}", self.segmentation));
        passes.push("remat".into());
        Some(passes.join(","))
    }
    /// The compile options of a program; `options` gives those that the variant leaves open.
    pub fn options(&self, options: CompileOptions) -> CompileOptions {
        let target = options.target;
        let tiny = match target.kind {
            Kind::Cpu => TINY.for_processor(target.processor),
            Kind::Cuda | Kind::Hip => Some(TINY_GPU),
        };
        let mut target = tiny.filter(|_| self.tiny).unwrap_or(target);
        target.masks = u64::from(self.masks && target.abilities().vectors);
        CompileOptions {
            target,
            passes: self.front(),
            ..options
        }
    }
    /// The whole pipeline of a target.
    pub fn pipeline(&self, target: &Target) -> Result<Pipeline, Finding> {
        let options = self.options(CompileOptions {
            target: *target,
            ..CompileOptions::default()
        });
        pipeline(&options).map_err(|found| {
            let messages: Vec<String> = found.items.into_iter().map(|d| d.message).collect();
            Finding::new("pipeline", messages.join("; "))
        })
    }
}

/// The passes that run on a program of one device before `last`, by their names.
fn passes_before(last: &str) -> Vec<&'static str> {
    let Ok(pipeline) = pipeline(&CompileOptions::default()) else {
        return Vec::new();
    };
    let steps = pipeline.passes();
    let names = steps.iter().map(|step| step.pass.name);
    let names = names.skip_while(|name| *name != "hoist").skip(1);
    names.take_while(|name| *name != last).collect()
}

/// Most of the passes in a random order. `unpack-floats`, `split-complex` and `decompose` are always among them, since
/// little can be compiled without them; `decompose` is last.
fn reordered(mut passes: Vec<&'static str>, source: &mut Source) -> Vec<&'static str> {
    const NEEDED: [&str; 2] = ["unpack-floats", "split-complex"];
    const LAST: &str = "decompose";
    passes.retain(|pass| *pass != LAST && (source.chance(3, 4) | NEEDED.contains(pass)));
    source.shuffle(&mut passes);
    passes.push(LAST);
    passes
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "segment{{{}}} on a {} machine",
            self.segmentation,
            if self.tiny { "tiny" } else { "usual" }
        )?;
        if !self.masks {
            f.write_str(" without masks")?;
        }
        match self.order {
            0 => Ok(()),
            order => write!(f, " after order {order}"),
        }
    }
}

/// A random fusion through everything that executes.
pub fn fusion(
    source: &mut Source,
    oracles: u64,
    config: &Config,
    effort: Effort,
    stats: &mut Stats,
) -> (Option<Case>, Vec<Finding>) {
    stats.count("case", tier_name(config.tier));
    let mut case = match guard::run("generate", || fusion::generate(source, config)) {
        Ok(case) => case,
        Err(finding) => return (None, vec![finding]),
    };
    if source.chance(1, 4) {
        tasks::label(&mut case, source);
    }
    stats.program(&case.ir, case.program);
    let findings = match verify::check(&mut case.ir, case.module, "verify") {
        Some(finding) => vec![finding],
        None => executed(&case, &mut source_of_oracles(oracles), effort, stats),
    };
    stats.count("outcome", if findings.is_empty() { "ok" } else { "found" });
    (Some(case), findings)
}

/// The name of a tier.
pub fn tier_name(tier: Tier) -> &'static str {
    match tier {
        Tier::Exact => "exact",
        Tier::Bounded => "bounded",
    }
}

/// The source of the oracles' choices, apart from the generator's, so that a changed case meets the same oracles.
pub fn source_of_oracles(seed: u64) -> Source {
    Source::seed(!seed)
}

/// Execution before and after each pass for both targets, and compiled for this machine.
pub fn executed(
    case: &Case,
    source: &mut Source,
    effort: Effort,
    stats: &mut Stats,
) -> Vec<Finding> {
    let expected = match expected(case) {
        Ok(expected) => expected,
        Err(finding) => return vec![finding],
    };
    let mut findings = Vec::new();
    findings.extend(round_trip(case, stats));
    let variant = Variant::draw(source);
    for target in [GENERIC, A100] {
        findings.extend(through_passes(
            case,
            &expected,
            &target,
            (variant, effort),
            stats,
        ));
    }
    for variant in [USUAL, variant] {
        findings.extend(through_code(case, &expected, (variant, effort), stats));
    }
    expected.count(stats);
    findings
}

/// The interpreter's results.
pub fn expected(case: &Case) -> Result<execute::Expected, Finding> {
    match guard::run("interpreter", || execute::expected(case))? {
        Ok(expected) => Ok(expected),
        Err(error) => {
            let op = error.op.map_or("", |op| case.ir.name(op));
            let what = format!("at `{op}`: {:?}", error.kind);
            Err(Finding::new("interpreter", what))
        }
    }
}

/// A random fusion and a partner of it; the seed chooses the first mutator.
pub fn partners(
    source: &mut Source,
    oracles: u64,
    config: &Config,
    effort: Effort,
    stats: &mut Stats,
) -> (Option<Case>, Vec<Finding>) {
    let config = match mutate::first(oracles).needs {
        Needs::Pointwise => config.pointwise(),
        Needs::Reductions => config.reducing(),
        Needs::Anything => config.clone(),
    };
    let case = match guard::run("generate", || fusion::generate(source, &config)) {
        Ok(case) => case,
        Err(finding) => return (None, vec![finding]),
    };
    let findings = partnered(&case, oracles, effort, stats);
    (Some(case), findings)
}

/// A partner of the case, interpreted and compiled.
pub fn partnered(case: &Case, seed: u64, effort: Effort, stats: &mut Stats) -> Vec<Finding> {
    let expected = match expected(case) {
        Ok(expected) => expected,
        Err(finding) => return vec![finding],
    };
    let mut source = source_of_oracles(seed);
    let variant = match source.chance(1, 2) {
        true => Variant::draw(&mut source),
        false => USUAL,
    };
    let findings = match partner_of(case, seed, stats) {
        Err(finding) => vec![finding],
        Ok(None) => {
            stats.count("partner", "none");
            Vec::new()
        }
        Ok(Some(made)) => {
            stats.count("partner", "made");
            let options = variant.options(effort.compile_options(None));
            partner::check(case, &made, &expected, &variant.to_string(), options, stats)
        }
    };
    expected.count(stats);
    findings
}

/// The partner that a seed makes of a case.
pub fn partner_of(
    case: &Case,
    seed: u64,
    stats: &mut Stats,
) -> Result<Option<partner::Partner>, Finding> {
    let mut source = source_of_oracles(seed).fork();
    guard::run("mutate", || {
        let all: Vec<_> = mutate::MUTATORS.iter().collect();
        partner::make(case, mutate::first(seed), &all, &mut source, stats)
    })
}

/// Text and back, in every form.
fn round_trip(case: &Case, stats: &mut Stats) -> Vec<Finding> {
    match guard::run("text", || text::check(&case.ir, case.module, stats)) {
        Ok(findings) => findings,
        Err(finding) => vec![finding],
    }
}

fn through_passes(
    case: &Case,
    expected: &execute::Expected,
    target: &Target,
    (variant, effort): (Variant, Effort),
    stats: &mut Stats,
) -> Vec<Finding> {
    let family = target.kind.name();
    let pipeline = match variant.pipeline(target) {
        Ok(pipeline) => pipeline,
        Err(finding) => return vec![finding],
    };
    let run = || passes::check(case, expected, &pipeline, effort.fuel, stats);
    let outcome = match guard::run("passes", run) {
        Ok(outcome) => outcome,
        Err(finding) => return vec![finding],
    };
    let end = match outcome.findings.is_empty() {
        true => "yes",
        false => "found",
    };
    stats.count("lowered", format!("{family}: {end}"));
    stats.other_plans(&outcome.other_plans);
    let told = |finding: Finding| {
        Finding::new(
            format!("{family} {variant} {}", finding.stage),
            finding.what,
        )
    };
    outcome.findings.into_iter().map(told).collect()
}

fn through_code(
    case: &Case,
    expected: &execute::Expected,
    (variant, effort): (Variant, Effort),
    stats: &mut Stats,
) -> Option<Finding> {
    let options = variant.options(effort.compile_options(None));
    match compiled::check(case, expected, &variant.to_string(), options) {
        compiled::Outcome::Agrees {
            kernels,
            other_plans,
        } => {
            stats.count("compiled", "agrees");
            stats.other_plans(&other_plans);
            // There are too many orders to distinguish.
            let options = Variant {
                order: 0,
                ..variant
            };
            stats.add("kernels", options.to_string(), kernels as u64);
            None
        }
        compiled::Outcome::Refused(reason) => {
            stats.count("compiled", "refused");
            stats.count("refusal", shape_of(&reason));
            None
        }
        compiled::Outcome::Found(finding) => {
            stats.count("compiled", "found");
            Some(finding)
        }
    }
}
