//! The oracle that a partner, a case changed without changing its meaning, gives the same results: by the interpreter
//! and compiled.
//!
//! If only names differ, the segmenter counts the same bytes too. A partner that the verifier refuses is a mistake of
//! the mutator or of the verifier, and a finding in both cases.

use fuser::compile::CompileOptions;
use fuser_pass::Manager;

use super::execute::{Expected, exact};
use super::{Finding, compiled, guard, summary, verify};
use crate::generate::Case;
use crate::mutate::{Keeps, Mutator};
use crate::{Source, Stats};

/// Element operations of one execution.
const FUEL: u64 = 1 << 28;
/// The most mutators of a partner.
const MOST: u64 = 4;
/// Attempts to apply a mutator.
const TRIES: usize = 8;

/// A case that must give the same results.
#[derive(Clone, Debug)]
pub struct Partner {
    /// The case.
    pub case: Case,
    /// The mutators that made it.
    pub names: Vec<&'static str>,
    keeps: Keeps,
}

/// Changes a copy of the case by `first`, and then by some of `others`; `None` if none applies.
pub fn make(
    case: &Case,
    first: &Mutator,
    others: &[&Mutator],
    source: &mut Source,
    stats: &mut Stats,
) -> Option<Partner> {
    let mut partner = Partner {
        case: case.clone(),
        names: Vec::new(),
        keeps: Keeps::Bytes,
    };
    apply(&mut partner, first, source, stats);
    // Alone, a mutator that keeps bytes shows that it does.
    let alone = first.keeps == Keeps::Bytes && source.chance(1, 2);
    for _ in 0..if alone { 0 } else { source.below(MOST) } {
        let mutator = others[source.index(others.len())];
        apply(&mut partner, mutator, source, stats);
    }
    (!partner.names.is_empty()).then_some(partner)
}

fn apply(partner: &mut Partner, mutator: &Mutator, source: &mut Source, stats: &mut Stats) {
    let applied = (0..TRIES).any(|_| {
        let mut copy = partner.case.clone();
        let applied = mutator.apply(&mut copy, source);
        if applied {
            partner.case = copy;
        }
        applied
    });
    if applied {
        stats.count("mutator", mutator.name);
        partner.names.push(mutator.name);
        if mutator.keeps == Keeps::Results {
            partner.keeps = Keeps::Results;
        }
    }
}

/// Takes a partner through the interpreter and through code; `options` as for [`compiled::check`].
pub fn check(
    original: &Case,
    partner: &Partner,
    expected: &Expected,
    name: &str,
    options: CompileOptions,
    stats: &mut Stats,
) -> Vec<Finding> {
    let stage = format!("partner {}", partner.names.join("+"));
    let mut case = partner.case.clone();
    if let Some(finding) = verify::check(&mut case.ir, case.module, &stage) {
        return vec![finding];
    }
    let interpreted = || exact(&case.ir, case.program, &case.inputs, FUEL, false);
    let results = match guard::run(&stage, interpreted) {
        Err(finding) => return vec![finding],
        Ok(Err(error)) => {
            let op = error.op.map_or("", |op| case.ir.name(op));
            let what = format!("the interpreter fails at `{op}`: {:?}", error.kind);
            return vec![Finding::new(stage, what)];
        }
        Ok(Ok(results)) => results,
    };
    if let Some(what) = expected.fault(&results) {
        return vec![Finding::new(format!("{stage}: interpreter"), what)];
    }
    let mut findings = Vec::new();
    match compiled::check(&case, expected, &format!("{stage}: {name}"), options) {
        compiled::Outcome::Agrees { other_plans, .. } => {
            stats.count("partner compiled", "agrees");
            stats.other_plans(&other_plans);
        }
        compiled::Outcome::Refused(_) => stats.count("partner compiled", "refused"),
        compiled::Outcome::Found(finding) => findings.push(finding),
    }
    if partner.keeps == Keeps::Bytes {
        stats.count("partner bytes", "compared");
        findings.extend(other_bytes(original, &case, &stage));
    }
    findings
}

/// The finding of a difference between the bytes that the segmenter counts.
fn other_bytes(original: &Case, partner: &Case, stage: &str) -> Option<Finding> {
    let run = || (total_bytes(original), total_bytes(partner));
    match guard::run(stage, run) {
        Err(finding) => Some(finding),
        Ok((a, b)) if a == b => None,
        Ok((a, b)) => {
            let what = format!("the segmenter counts {b:?} bytes, without the change {a:?}");
            Some(Finding::new(stage, what))
        }
    }
}

/// The total bytes of the segmented program, or the reason that there is no total.
fn total_bytes(case: &Case) -> Result<Vec<String>, String> {
    const KEY: &str = "\"total_bytes\":";
    let lengths = case.extents.iter().map(|(name, n)| format!("{name}={n}"));
    let lengths = lengths.collect::<Vec<_>>().join(",");
    let text = format!(
        "builtin.module(task.program(unpack-floats,split-complex,preseg,segment{{shape='{lengths}'}},remat))"
    );
    let parsed = fuser_pass::pipeline::parse(&text, 0, &fuser::catalog());
    let Ok(parsed) = parsed else {
        panic!("`{text}` is no pipeline");
    };
    let mut ir = case.ir.clone();
    let report = Manager::new(fuser_ir::verify).run(&mut ir, case.module, &parsed.pipeline);
    if !report.ok() {
        // Messages contain names, so only the codes are compared.
        let codes: Vec<&str> = report.diagnostics.items.iter().map(|d| d.code).collect();
        return Err(match codes.is_empty() {
            true => summary(&report.diagnostics),
            false => codes.join(" "),
        });
    }
    let lines = report.files.iter().flat_map(|file| file.content.lines());
    let totals = lines.filter_map(|line| line.trim().strip_prefix(KEY));
    Ok(totals
        .map(|total| total.trim().trim_end_matches(',').to_owned())
        .collect())
}
