//! Which oracles a case goes through, and what is counted on the way.
//!
//! The same function serves tests, soak and fuzz targets: a case in, findings out.

use fuser::compile::{CompileOptions, Target, pipeline_text};
use fuser_pass::Pipeline;

use crate::generate::fusion::{self, Config};
use crate::generate::{Case, Tier};
use crate::oracle::{Finding, compiled, execute, guard, passes, verify};
use crate::{Source, Stats};

/// What stands for the `segment` of the usual pipeline: as it is, nothing fused, and other ways to decide.
pub const SEGMENTATIONS: [&str; 5] = [
    "segment",
    "segment{max-ops=1}",
    "segment{top-down=false}",
    "segment{max-sweeps=1}",
    "segment{objective=kernels}",
];

/// The usual pipeline of a target, up to and with lowering.
pub fn pipeline(target: &Target, segmentation: &str) -> Result<Pipeline, Finding> {
    let options = CompileOptions {
        target: target.clone(),
        passes: Some(front(segmentation)),
        program: None,
    };
    let text = pipeline_text(&options);
    let catalog = fuser::catalog();
    let parsed = fuser_pass::pipeline::parse(&text, 0, &catalog);
    parsed.map(|p| p.pipeline).map_err(|items| {
        let messages: Vec<String> = items.into_iter().map(|d| d.message).collect();
        Finding::new("pipeline", messages.join("; "))
    })
}

/// What runs before scheduling, with another segmentation.
pub fn front(segmentation: &str) -> String {
    let text = pipeline_text(&CompileOptions::default());
    let passes = text
        .split_once("task.program(")
        .map_or("", |(_, rest)| rest);
    let passes = passes
        .split_once(",schedule")
        .map_or("", |(front, _)| front);
    let known = |name: &&str| fuser::catalog().pass(name).is_some();
    let passes = passes.split(',').filter(known);
    let passes: Vec<&str> = passes
        .map(|p| if p == "segment" { segmentation } else { p })
        .collect();
    passes.join(",")
}

/// A random fusion through everything that executes.
pub fn fusion(
    source: &mut Source,
    oracles: u64,
    config: &Config,
    stats: &mut Stats,
) -> (Option<Case>, Vec<Finding>) {
    stats.count("case", tier_name(config.tier));
    let mut case = match guard::run("generate", || fusion::generate(source, config)) {
        Ok(case) => case,
        Err(finding) => return (None, vec![finding]),
    };
    stats.program(&case.ir, case.program);
    let findings = match verify::check(&mut case.ir, case.module, "verify") {
        Some(finding) => vec![finding],
        None => executed(&case, &mut source_of_oracles(oracles), stats),
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

/// What oracles draw from, apart from the generator, so that a changed case meets the same oracles.
pub fn source_of_oracles(seed: u64) -> Source {
    Source::seed(!seed)
}

/// Execution before and after each pass for both targets, and compiled for this machine.
pub fn executed(case: &Case, source: &mut Source, stats: &mut Stats) -> Vec<Finding> {
    let expected = match guard::run("interpreter", || execute::expected(case)) {
        Err(finding) => return vec![finding],
        Ok(Err(error)) => {
            let op = error.op.map_or("", |op| case.ir.name(op));
            return vec![Finding::new(
                "interpreter",
                format!("at `{op}`: {:?}", error.kind),
            )];
        }
        Ok(Ok(expected)) => expected,
    };
    let mut findings = Vec::new();
    let segmentation = source.one(&SEGMENTATIONS);
    for target in [Target::Host, Target::Cuda("sm_80".into())] {
        findings.extend(through_passes(
            case,
            &expected,
            &target,
            segmentation,
            stats,
        ));
    }
    for segmentation in [SEGMENTATIONS[0], segmentation] {
        findings.extend(through_code(case, &expected, segmentation, stats));
    }
    findings
}

fn through_passes(
    case: &Case,
    expected: &execute::Expected,
    target: &Target,
    segmentation: &str,
    stats: &mut Stats,
) -> Vec<Finding> {
    let family = target.family();
    let pipeline = match pipeline(target, segmentation) {
        Ok(pipeline) => pipeline,
        Err(finding) => return vec![finding],
    };
    let verdict = match guard::run("passes", || passes::check(case, expected, &pipeline, stats)) {
        Ok(verdict) => verdict,
        Err(finding) => return vec![finding],
    };
    match verdict.refused {
        Some(reason) => {
            stats.count("lowered", format!("{family}: refused"));
            stats.count("refusal", shape_of(&reason));
        }
        None => stats.count("lowered", format!("{family}: yes")),
    }
    let told = |finding: Finding| {
        Finding::new(
            format!("{family} {segmentation} {}", finding.stage),
            finding.what,
        )
    };
    verdict.findings.into_iter().map(told).collect()
}

fn through_code(
    case: &Case,
    expected: &execute::Expected,
    segmentation: &str,
    stats: &mut Stats,
) -> Option<Finding> {
    let passes = front(segmentation);
    match compiled::check(case, expected, Some(&passes)) {
        compiled::Verdict::Agrees { kernels } => {
            stats.count("compiled", "agrees");
            stats.add("kernels", segmentation, kernels as u64);
            None
        }
        compiled::Verdict::Refused(reason) => {
            stats.count("compiled", "refused");
            stats.count("refusal", shape_of(&reason));
            None
        }
        compiled::Verdict::Found(finding) => {
            stats.count("compiled", "found");
            Some(finding)
        }
    }
}

/// A message without its numbers and names, so that equal reasons count together.
pub fn shape_of(message: &str) -> String {
    let mut shape = String::new();
    let mut quoted = false;
    for c in message.chars().take(160) {
        match c {
            '\'' | '`' => {
                quoted = !quoted;
                shape.push(c);
            }
            _ if quoted && !message.contains("FIR0850") => {}
            '0'..='9' if shape.contains(' ') => {
                if !shape.ends_with('#') {
                    shape.push('#');
                }
            }
            c => shape.push(c),
        }
    }
    shape
}
