//! The figures of a class of programs, and the missed changes with theirs.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Measured;

/// The figures of a class.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Row {
    /// The class.
    pub name: String,
    /// Programs that were measured.
    pub programs: u64,
    /// Results of these programs of which the check compares nothing.
    pub not_checked: u64,
    /// Programs reported wrong without a change.
    pub false_alarms: u64,
    /// Changed programs that were run.
    pub changes: u64,
    /// Changes that alter a result beyond its noise.
    pub altering: u64,
    /// Changes among `altering` that the check found.
    pub found: u64,
    /// Changes that were found though they alter nothing beyond the noise.
    pub below_noise: u64,
    /// Programs and changed programs that could not be run.
    pub skipped: u64,
}

impl Row {
    /// The figures of the programs of a class.
    pub fn of(name: &str, measured: &[Measured]) -> Self {
        let trials = measured.iter().flat_map(|program| &program.trials);
        let count =
            |wanted: fn(&super::Trial) -> bool| trials.clone().filter(|t| wanted(t)).count() as u64;
        let unchanged = measured.iter().filter_map(|m| m.unchanged);
        Self {
            name: name.into(),
            programs: unchanged.clone().count() as u64,
            not_checked: unchanged.clone().map(|v| v.not_checked).sum(),
            false_alarms: unchanged.filter(|v| v.found).count() as u64,
            changes: count(|_| true),
            altering: count(|t| t.alters()),
            found: count(|t| t.alters() && t.verdict.found),
            below_noise: count(|t| !t.alters() && t.verdict.found),
            skipped: measured.iter().map(|m| m.skipped.len() as u64).sum(),
        }
    }
    /// The power, in per cent; 100 where no change alters anything.
    pub fn percent(&self) -> f64 {
        match self.altering {
            0 => 100.0,
            altering => 100.0 * self.found as f64 / altering as f64,
        }
    }
}

/// The table of classes, in Markdown.
pub fn text(rows: &[Row]) -> String {
    let mut text = String::from(
        "| programs | number | results not checked | found wrong as they are | changes | altering | found | power | found below the noise | not run |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let Row {
            name,
            programs,
            not_checked,
            false_alarms,
            changes,
            altering,
            found,
            below_noise,
            skipped,
        } = row;
        let percent = row.percent();
        let _ = writeln!(
            text,
            "| {name} | {programs} | {not_checked} | {false_alarms} | {changes} | {altering} | {found} | {percent:.2} % | {below_noise} | {skipped} |"
        );
    }
    text
}

/// A line for each change that was missed, or for all; for each unchanged program that is found wrong; and the
/// power of each kind of change.
pub fn details(measured: &[Measured], all: bool) -> String {
    let mut text = String::new();
    let mut kinds: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for program in measured {
        let name = &program.name;
        if program.unchanged.is_some_and(|v| v.found) {
            let _ = writeln!(text, "FALSE ALARM {name}");
        }
        for why in &program.skipped {
            let _ = writeln!(text, "not run: {name}: {why}");
        }
        for trial in &program.trials {
            if trial.alters() {
                let kind = kinds.entry(trial.kind).or_default();
                kind.0 += 1;
                kind.1 += u64::from(trial.verdict.found);
            }
            if !trial.is_missed() && !all {
                continue;
            }
            let word = match (trial.is_missed(), trial.verdict.found, trial.alters()) {
                (true, _, _) => "MISSED",
                (_, true, true) => "found",
                (_, true, false) => "found below the noise",
                _ => "alters nothing",
            };
            let (effect, verdict) = (&trial.effect, trial.verdict);
            let _ = writeln!(
                text,
                "{word} {name}: {}: {}; result {} [{}] is {:e}, should be {:e}, {:.1} times the noise {:e}; {} of {} elements compared, {} results not checked",
                trial.kind,
                trial.what,
                effect.result,
                effect.element,
                effect.changed,
                effect.value,
                effect.times,
                effect.noise,
                verdict.compared,
                verdict.elements(),
                verdict.not_checked,
            );
        }
    }
    for (kind, (altering, found)) in kinds {
        let _ = writeln!(text, "{kind}: {found} of {altering} found");
    }
    text
}
