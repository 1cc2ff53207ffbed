//! Campaigns of modules beyond fusions: tasks, kernels, and code for GPUs.
//!
//! Uses the oracles of `campaign`, combined according to the promises of these modules.

use std::path::Path;

use fuser_ir::print::{PrintOptions, print};

use crate::campaign::{self, Effort};
use crate::generate::fusion::{self, Config};
use crate::generate::{Case, kernels, tasks};
use crate::oracle::execute::Expected;
use crate::oracle::refusal::Written;
use crate::oracle::{Finding, compiled, guard, passes, ptx, text, verify};
use crate::stats::shape_of;
use crate::{Source, Stats};

/// The passes run on modules of kernels and tasks, each followed by checks.
const SIMPLIFY: &str = "dce,cse,canonicalize,cse";
/// The barriers that kernels with threads need.
const BARRIERS: &str = "place-barriers";
/// Takes all boundaries away.
const INLINE: &str = "inline-tasks{kinds='segment,sweep,phase,pattern'}";
/// The passes before scheduling of a program whose kernels are written already.
const LAUNCHES: &str = "canonicalize,cse";

/// A random fusion with boundaries drawn into it.
pub fn tasks(
    source: &mut Source,
    config: &Config,
    effort: Effort,
    stats: &mut Stats,
) -> (Option<Case>, Vec<Finding>) {
    let made = guard::run("generate", || {
        let plain = fusion::generate(source, config);
        let mut drawn = plain.clone();
        tasks::draw(&mut drawn, source);
        (plain, drawn)
    });
    let (plain, mut case) = match made {
        Ok(made) => made,
        Err(finding) => return (None, vec![finding]),
    };
    stats.program(&case.ir, case.module);
    let mut findings = checked(&mut case, &[SIMPLIFY, INLINE], effort, stats);
    findings.extend(dissolved(&plain, &case));
    (Some(case), findings)
}

/// Taking the boundaries away gives the text without them.
fn dissolved(plain: &Case, case: &Case) -> Option<Finding> {
    let mut ir = case.ir.clone();
    let run = || fuser::compile::run_passes(&mut ir, case.module, INLINE);
    match guard::run("inline-tasks", run) {
        Err(finding) => return Some(finding),
        Ok(Err(diagnostics)) => {
            let what = crate::oracle::summary(&diagnostics);
            return Some(Finding::new("inline-tasks", what));
        }
        Ok(Ok(_)) => {}
    }
    // A value without a name may keep a number that was used behind another boundary.
    let options = PrintOptions {
        anonymous: true,
        ..PrintOptions::default()
    };
    let text = |ir, module| print(ir, module, &options);
    let (wanted, got) = (text(&plain.ir, plain.module), text(&ir, case.module));
    let difference = fuser_ir::equal::first_difference(&wanted, &got)?;
    let what = format!("boundaries leave something behind, {difference}");
    Some(Finding::new("inline-tasks", what))
}

/// A program of launches with its kernels, interpreted, simplified and compiled.
pub fn kernels(
    source: &mut Source,
    effort: Effort,
    stats: &mut Stats,
) -> (Option<Case>, Vec<Finding>) {
    let mut case = match guard::run("generate", || kernels::generate(source)) {
        Ok(case) => case,
        Err(finding) => return (None, vec![finding]),
    };
    stats.program(&case.ir, case.module);
    let findings = launched(&mut case, effort, stats);
    (Some(case), findings)
}

/// Everything that a program of launches goes through.
pub fn launched(case: &mut Case, effort: Effort, stats: &mut Stats) -> Vec<Finding> {
    let mut findings = checked(case, &[SIMPLIFY, BARRIERS], effort, stats);
    if !findings.is_empty() {
        return findings;
    }
    let expected = match campaign::expected(case) {
        Ok(expected) => expected,
        Err(finding) => return vec![finding],
    };
    let options = effort.compile_options(Some(LAUNCHES.into()));
    match compiled::check_written(case, &expected, "launches", options, Written::Kernels) {
        compiled::Outcome::Agrees { .. } => stats.count("kernels compiled", "agrees"),
        compiled::Outcome::Refused(reason) => {
            stats.count("kernels compiled", "refused");
            stats.count("refusal", shape_of(&reason));
        }
        compiled::Outcome::Found(finding) => findings.push(finding),
    }
    expected.count(stats);
    findings
}

/// Verified, taken through every form of text, and through each pass of the pipelines with execution before and after.
fn checked(case: &mut Case, pipelines: &[&str], effort: Effort, stats: &mut Stats) -> Vec<Finding> {
    if let Some(finding) = verify::check(&mut case.ir, case.module, "verify") {
        return vec![finding];
    }
    let mut findings = match guard::run("text", || text::check(&case.ir, case.module, stats)) {
        Ok(findings) => findings,
        Err(finding) => vec![finding],
    };
    let expected = match campaign::expected(case) {
        Ok(expected) => expected,
        Err(finding) => return vec![finding],
    };
    for pipeline in pipelines {
        findings.extend(through(case, &expected, pipeline, effort, stats));
    }
    expected.count(stats);
    findings
}

fn through(
    case: &Case,
    expected: &Expected,
    text: &str,
    effort: Effort,
    stats: &mut Stats,
) -> Vec<Finding> {
    let Ok(parsed) = fuser_pass::pipeline::parse(text, 0, &fuser::catalog()) else {
        return vec![Finding::new("pipeline", format!("`{text}` is none"))];
    };
    let run = || passes::check(case, expected, &parsed.pipeline, effort.fuel, stats);
    let outcome = match guard::run("passes", run) {
        Ok(outcome) => outcome,
        Err(finding) => return vec![finding],
    };
    outcome.findings
}

/// A random fusion, or a program of launches, as PTX that an assembler accepts.
pub fn assembled(
    source: &mut Source,
    config: &Config,
    assembler: &Path,
    stats: &mut Stats,
) -> (Option<Case>, Vec<Finding>) {
    let launches = source.chance(1, 3);
    let made = guard::run("generate", || match launches {
        true => kernels::generate(source),
        false => fusion::generate(source, config),
    });
    let case = match made {
        Ok(case) => case,
        Err(finding) => return (None, vec![finding]),
    };
    let mut findings = Vec::new();
    for architecture in ptx::ARCHITECTURES {
        let passes = launches.then(|| LAUNCHES.to_owned());
        let written = match launches {
            true => Written::Kernels,
            false => Written::Program,
        };
        match ptx::check(&case, architecture, passes, written, assembler) {
            ptx::Outcome::Assembled { kernels } => {
                stats.count("ptx", "assembled");
                stats.add("ptx kernels", architecture, kernels as u64);
            }
            ptx::Outcome::Refused(reason) => {
                stats.count("ptx", "refused");
                stats.count("refusal", shape_of(&reason));
            }
            ptx::Outcome::Found(finding) => findings.push(finding),
        }
    }
    (Some(case), findings)
}
