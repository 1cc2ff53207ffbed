//! Findings of a run as text for people.

use fuser_artifact::SegmentKind;
use fuser_interp::compare::{Report, Status, Worst};
use fuser_runtime::{CopyTime, GpuReport, LaunchReport, RunReport, SegmentReport};

use super::profile::Spread;
use super::{Findings, elements};
use crate::session::{Check, OutputCheck};
use crate::split::Parts;

/// Tables of kernels and of outputs.
pub fn render(findings: &Findings<'_>) -> String {
    let mut text = headline(findings);
    if let Some(parts) = findings.parts {
        text += &of_parts(findings, parts);
    }
    if let Some(run) = &findings.execution.run {
        text += &kernels(findings, run);
        text += &run.gpu.as_ref().map_or(String::new(), launches);
    }
    match &findings.check {
        Some(check) => text += &checks(findings, check),
        None => text += &outputs(findings),
    }
    let names = &findings.signature.output_names;
    let results = names.iter().zip(&findings.execution.outputs);
    let results: Vec<_> = results.collect();
    let printed = findings.printed.iter().filter_map(|at| results.get(*at));
    text.extend(printed.map(|(name, tensor)| elements::text(name, tensor)));
    text
}

fn headline(findings: &Findings<'_>) -> String {
    let extents = findings
        .signature
        .extents
        .iter()
        .zip(&findings.inputs.extents);
    let extents: Vec<String> = extents
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let extents = if extents.is_empty() {
        String::new()
    } else {
        format!(" with {}", extents.join(", "))
    };
    let run = findings.execution.run.as_ref();
    let device = match run.and_then(|run| run.gpu.as_ref()) {
        Some(gpu) => &gpu.name,
        None => findings.config.device.name(),
    };
    let threads = findings.threads;
    let s = if threads == 1 { "" } else { "s" };
    let ranks = match run.map_or(1, |run| run.ranks) {
        1 => String::new(),
        ranks => format!("{ranks} ranks, "),
    };
    let compile = match findings.execution.compile_ms {
        0.0 => String::new(),
        ms => format!(", compiled in {ms:.1} ms"),
    };
    let version = match run.and_then(|run| run.version) {
        Some((version, versions @ 2..)) => format!(", version {version} of {versions}"),
        _ => String::new(),
    };
    let time = findings.execution.time_ms;
    let program = findings.program;
    format!(
        "@{program}{extents} on {device}, {ranks}{threads} thread{s}{compile}{version}, {time:.3} ms\n"
    )
}

/// The line on a folder of segments: the number of executed segments, the names of edited ones, and the memory used.
fn of_parts(findings: &Findings<'_>, parts: &Parts) -> String {
    let edited = parts.segments.iter().filter(|part| part.edited);
    let edited: Vec<&str> = edited.map(|part| part.name.as_str()).collect();
    let edited = match edited.is_empty() {
        true => String::new(),
        false => format!(", edited: {}", edited.join(", ")),
    };
    let peak = findings.execution.run.as_ref();
    let peak = peak.map_or(String::new(), |run| {
        format!(
            ", {} bytes of memory at the peak",
            grouped(run.peak_bytes as i64)
        )
    });
    let count = parts.segments.len();
    format!(
        "  {count} segments from '{}'{edited}{peak}\n",
        findings.config.file
    )
}

/// The head of the column that says in words what a kernel does.
const DOES: &str = "does";

/// Pads rows to columns. The first column and the column of kernel contents are left-aligned, the others right-aligned.
fn columns(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| {
        rows.iter()
            .filter_map(|r| r.get(c))
            .map(|t| t.chars().count())
            .max()
    };
    let widths: Vec<usize> = (0..count).map(|c| width(c).unwrap_or(0)).collect();
    let left = |c| {
        c == 0
            || rows
                .first()
                .and_then(|head| head.get(c))
                .is_some_and(|h| h == DOES)
    };
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate();
        let cells = cells.map(|(c, (cell, width))| match c {
            c if left(c) => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        text += &format!("  {}\n", line.trim_end());
    }
    text
}

fn kernels(findings: &Findings<'_>, run: &RunReport) -> String {
    let head = [
        "kernel", "kind", "ops", "sweeps", "reads", "writes", "ms", "GB/s", "copy ms",
    ];
    let mut rows = vec![head.map(String::from).to_vec()];
    let profiles = findings.config.profile.is_some();
    if profiles {
        rows[0].extend(SPREAD_HEAD.map(String::from));
    }
    rows[0].push(DOES.into());
    for (segment, copy) in run.segments.iter().zip(&findings.segment_copies) {
        let mut row = kernel(segment, copy.as_ref());
        if profiles {
            row.extend(spread(&segment.samples_ms, copy.as_ref()));
        }
        row.push(segment.label.clone());
        rows.push(row);
    }
    let read: i64 = run.segments.iter().map(|s| s.read_bytes).sum();
    let written: i64 = run.segments.iter().map(|s| s.write_bytes).sum();
    let ops: u32 = run.segments.iter().map(|s| s.ops).sum();
    let sweeps: u32 = run.segments.iter().map(|s| s.sweeps).sum();
    let moved = timed(read, written, run.total_ms, findings.copy.as_ref());
    let total = [
        "total".into(),
        String::new(),
        ops.to_string(),
        sweeps.to_string(),
    ];
    let mut total: Vec<String> = total.into_iter().chain(moved).collect();
    if profiles {
        total.extend(spread(&run.samples_ms, findings.copy.as_ref()));
    }
    rows.push(total);
    let compared = findings.copy.filter(|c| c.time_ms > 0.0).map(|copy| {
        let ratio = run.total_ms / copy.time_ms;
        format!("  {ratio:.2} times a copy of the same bytes\n")
            + &of_ends(findings, read + written)
    });
    let runs = match profiles {
        true => format!("  {} runs\n", run.samples_ms.len()),
        false => String::new(),
    };
    columns(&rows) + &compared.unwrap_or_default() + &runs
}

/// The line that compares the bytes moved with the inputs and outputs, each once: the least that a program moves which
/// needs all of them.
fn of_ends(findings: &Findings<'_>, moved: i64) -> String {
    let inputs = findings.inputs.tensors.iter();
    let ends = inputs.chain(&findings.execution.outputs);
    let least: usize = ends.map(|tensor| tensor.bytes().len()).sum();
    if least == 0 {
        return String::new();
    }
    let ratio = moved as f64 / least as f64;
    let least = grouped(i64::try_from(least).unwrap_or(i64::MAX));
    format!("  {ratio:.2} times the {least} bytes of all inputs and outputs\n")
}

/// The columns of `--profile`; the column `ms` before them is the median.
const SPREAD_HEAD: [&str; 4] = ["min ms", "p90 ms", "p99 ms", "of copy"];

/// The spread of times, and the median in times of a copy.
fn spread(samples: &[f64], copy: Option<&CopyTime>) -> [String; 4] {
    let Some(spread) = Spread::of(samples) else {
        return SPREAD_HEAD.map(|_| "-".into());
    };
    let copy = copy.filter(|copy| copy.time_ms > 0.0);
    let ratio = copy.map(|copy| format!("{:.2}", spread.median / copy.time_ms));
    let [min, p90, p99] = [spread.min, spread.p90, spread.p99].map(|ms| format!("{ms:.3}"));
    [min, p90, p99, ratio.unwrap_or("-".into())]
}

/// The launches on a GPU.
fn launches(gpu: &GpuReport) -> String {
    let head = [
        "launch",
        "blocks",
        "threads",
        "shared",
        "registers",
        "occupancy",
        "ms",
    ];
    let row = |launch: &LaunchReport| {
        if launch.cublaslt == Some("called") {
            let name = format!("{}, by cuBLASLt", launch.kernel);
            let none = std::iter::repeat_n("-".to_string(), head.len() - 2);
            let time = format!("{:.3}", launch.time_ms);
            return [name].into_iter().chain(none).chain([time]).collect();
        }
        vec![
            launch.kernel.clone(),
            grouped(launch.blocks),
            launch.block.to_string(),
            grouped(i64::try_from(launch.shared_bytes).unwrap_or(i64::MAX)),
            launch.registers.map_or("-".into(), |n| n.to_string()),
            format!("{:.0}%", launch.occupancy * 100.0),
            format!("{:.3}", launch.time_ms),
        ]
    };
    let head = head.map(String::from).to_vec();
    let rows: Vec<_> = std::iter::once(head)
        .chain(gpu.launches.iter().map(row))
        .collect();
    columns(&rows)
}

fn kernel(segment: &SegmentReport, copy: Option<&CopyTime>) -> Vec<String> {
    let SegmentReport {
        name,
        kind,
        ops,
        sweeps,
        ..
    } = segment;
    let what = [
        name.clone(),
        kind.name().to_string(),
        ops.to_string(),
        sweeps.to_string(),
    ];
    let mut moved = timed(
        segment.read_bytes,
        segment.write_bytes,
        segment.time_ms,
        copy,
    );
    // The row of the loop has the time of its turns.
    if *kind == SegmentKind::Turn {
        moved[2] = "-".into();
    }
    what.into_iter().chain(moved).collect()
}

/// Bytes, time, rate, and the time of the copy.
fn timed(read: i64, written: i64, ms: f64, copy: Option<&CopyTime>) -> [String; 5] {
    let rate = match ms > 0.0 {
        true => format!("{:.2}", (read + written) as f64 / (ms * 1e6)),
        false => "-".into(),
    };
    let copy = copy.map_or("-".into(), |c| format!("{:.3}", c.time_ms));
    [
        grouped(read),
        grouped(written),
        format!("{ms:.3}"),
        rate,
        copy,
    ]
}

/// `1,234,567`
pub fn grouped(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if value < 0 { format!("-{text}") } else { text }
}

fn checks(findings: &Findings<'_>, check: &Check) -> String {
    let whole = findings.whole.as_ref();
    let head = [
        "output",
        "type",
        "check",
        "max error",
        "allowed",
        "at",
        "compared",
        "on whole numbers",
    ];
    let columns_wanted = head.len() - usize::from(whole.is_none());
    let mut rows = vec![
        head[..columns_wanted]
            .iter()
            .map(|h| h.to_string())
            .collect(),
    ];
    for (i, output) in check.outputs.iter().enumerate() {
        let mut row = checked(output);
        row.extend(whole.and_then(|w| w.outputs.get(i)).map(exactness));
        rows.push(row);
    }
    let all = || [Some(check), whole].into_iter().flatten();
    let outcome = match findings.status().unwrap_or(check.status) {
        Status::Ok => "all outputs agree with the reference",
        Status::Failed => "CHECK FAILED",
        Status::NotChecked => "NOT CHECKED: of an output less than half could be compared",
    };
    let failures = all().flat_map(|c| &c.outputs).filter_map(failure);
    let unchecked = check.outputs.iter().filter_map(unchecked);
    // Whole numbers may decide nothing where the given inputs do.
    let undecided = whole
        .into_iter()
        .flat_map(|c| c.outputs.iter().zip(&check.outputs));
    let undecided = undecided.filter(|(whole, given)| {
        let [whole, given] = [whole, given].map(|o| o.report.status);
        whole == Status::NotChecked && given != Status::NotChecked
    });
    let undecided: Vec<&str> = undecided.map(|(o, _)| o.name.as_str()).collect();
    let mut details: String = failures.chain(unchecked).collect();
    if !undecided.is_empty() {
        details += &format!(
            "  on whole numbers, bounds of {} are too wide to decide: the check of the given inputs counts\n",
            some(&undecided)
        );
    }
    format!("{}{details}  {outcome}\n", columns(&rows))
}

/// The most names that a line has.
const NAMED: usize = 3;

/// The first names of a list, and the number of the others: `'a', 'b', 'c' and 10 more`.
fn some(names: &[&str]) -> String {
    let first = names.iter().take(NAMED).map(|name| format!("'{name}'"));
    let first = first.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// The share of elements that are the only possible ones.
fn exactness(output: &OutputCheck) -> String {
    let report = &output.report;
    match (report.status, report.elements()) {
        (Status::Failed, _) => "FAILED".into(),
        (Status::NotChecked, _) => "bounds too wide".into(),
        (Status::Ok, 0) => "ok, empty".into(),
        (Status::Ok, all) if all == report.exact => "ok, all exact".into(),
        (Status::Ok, all) => format!("ok, {}% exact", 100 * report.exact / all),
    }
}

/// The elements that were compared, of all.
fn compared(report: &Report) -> String {
    let grouped = |count: usize| grouped(i64::try_from(count).unwrap_or(i64::MAX));
    match report.elements() {
        0 => "empty".into(),
        all if all == report.compared => "all".into(),
        all => format!("{} of {}", grouped(report.compared), grouped(all)),
    }
}

fn checked(output: &OutputCheck) -> Vec<String> {
    let report = &output.report;
    let (error, bound, at) = match &report.worst {
        None => ("0".into(), "-".into(), "-".into()),
        Some(Worst {
            error,
            allowed,
            index,
            ..
        }) => (
            format!("{error:.3e}"),
            format!("{allowed:.3e}"),
            format!("{index:?}"),
        ),
    };
    vec![
        output.name.clone(),
        output.shape.clone(),
        report.status.name().into(),
        error,
        bound,
        at,
        compared(report),
    ]
}

fn failure(output: &OutputCheck) -> Option<String> {
    let (name, report) = (&output.name, &output.report);
    if let Some(mismatch) = &report.mismatch {
        return Some(format!("  output '{name}' {mismatch}\n"));
    }
    let worst = report.worst.as_ref().filter(|_| report.failed())?;
    Some(format!(
        "  output '{name}': {} of {} elements are beyond what is allowed; at {:?} {} should be {}\n",
        report.failures,
        report.elements(),
        worst.index,
        worst.actual,
        worst.expected
    ))
}

/// The reason that an output is not checked.
fn unchecked(output: &OutputCheck) -> Option<String> {
    let (name, report) = (&output.name, &output.report);
    let reasons = [
        (
            report.ill_conditioned,
            "ill-conditioned: correct executions differ by as much as there is",
        ),
        (
            report.undecided,
            "undecided: their bounds say too little, and no samples could be drawn",
        ),
    ];
    let reasons = reasons.iter().filter(|(count, _)| *count > 0);
    let reasons: Vec<String> = reasons
        .map(|(count, why)| format!("{count} are {why}"))
        .collect();
    (report.status == Status::NotChecked).then(|| {
        format!(
            "  output '{name}' is not checked: {} of {} elements could be compared; {}\n",
            report.compared,
            report.elements(),
            reasons.join(", ")
        )
    })
}

fn outputs(findings: &Findings<'_>) -> String {
    let mut rows = vec![vec!["output".to_string(), "type".to_string()]];
    let named = findings
        .signature
        .output_names
        .iter()
        .zip(&findings.execution.outputs);
    rows.extend(named.map(|(name, tensor)| {
        let shape = fuser_runtime::Shape(tensor.axes());
        vec![name.clone(), format!("{shape} {}", tensor.dtype().name())]
    }));
    columns(&rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        let list = [0, 12, 999, 1000, 353_132_544, -1000].map(grouped);
        assert_eq!(list, ["0", "12", "999", "1,000", "353,132,544", "-1,000"]);
    }

    #[test]
    fn columns_line_up() {
        let rows = [
            vec!["a".to_string(), "long".to_string()],
            vec!["bcd".to_string(), "1".to_string()],
        ];
        assert_eq!(columns(&rows), "  a    long\n  bcd     1\n");
    }

    #[test]
    fn rates_are_bytes_per_time() {
        assert_eq!(timed(3_000_000, 1_000_000, 2.0, None)[3], "2.00");
        assert_eq!(timed(0, 0, 0.0, None)[3], "-");
    }
}
