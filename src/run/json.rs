//! Findings of a run as JSON: docs/report-schema.md.

use fuser_interp::compare::Status;
use fuser_runtime::{LaunchReport, SegmentReport};
use serde_json::{Map, Value, json};

use super::Findings;
use super::profile::Spread;
use crate::session::{Check, OutputCheck};

/// The report.
pub fn render(findings: &Findings<'_>) -> Value {
    let mut report = serde_json::to_value(&findings.report).unwrap_or_default();
    if let Value::Object(fields) = &mut report {
        add_run(fields, findings);
        add_segments(fields, findings);
        add_inside(fields, findings);
        if let Some(check) = &findings.check {
            let mut value = check_value(check);
            if let Some(whole) = &findings.whole {
                value["whole"] = check_value(whole);
            }
            let status = findings.status().unwrap_or(check.status);
            value["status"] = json!(word(status));
            value["ok"] = json!(status == Status::Ok);
            fields.insert("check".into(), value);
        }
    }
    report
}

/// A number; `null` for infinities and NaN, which JSON does not have.
fn number(value: f64) -> Value {
    serde_json::Number::from_f64(value).map_or(Value::Null, Value::Number)
}

fn add_run(fields: &mut Map<String, Value>, findings: &Findings<'_>) {
    let execution = findings.execution;
    let extents = findings
        .signature
        .extents
        .iter()
        .zip(&findings.inputs.extents);
    let extents: Map<String, Value> = extents.map(|(n, v)| (n.clone(), json!(v))).collect();
    fields.insert("device".into(), json!(findings.config.device.name()));
    fields.insert("threads".into(), json!(findings.threads));
    fields.insert("extents".into(), Value::Object(extents));
    fields.insert("time_ms".into(), number(execution.time_ms));
    fields.insert("compile_ms".into(), number(execution.compile_ms));
    if let Some(cache) = &findings.config.cache {
        let state = serde_json::to_value(cache.state()).unwrap_or_default();
        fields.insert("cache".into(), state);
    }
    if let Some(copy) = findings.copy {
        fields.insert("copy_ms".into(), number(copy.time_ms));
    }
    if let Some(run) = &execution.run {
        fields.insert("peak_bytes".into(), json!(run.peak_bytes));
        if let Some(gpu) = &run.gpu {
            fields.insert("gpu".into(), json!(gpu.name));
            let launches: Vec<Value> = gpu.launches.iter().map(launch).collect();
            fields.insert("launches".into(), Value::Array(launches));
            let counts = gpu.simulator.as_deref().map(serde_json::from_str::<Value>);
            if let Some(Ok(counts)) = counts {
                fields.insert("simulator".into(), counts);
            }
        }
        if findings.config.profile.is_some() {
            fields.insert("profile".into(), spread(&run.samples_ms));
        }
        if let Some((version, versions)) = run.version {
            fields.insert("version".into(), json!(version));
            fields.insert("versions".into(), json!(versions));
        }
    }
}

fn launch(launch: &LaunchReport) -> Value {
    let mut told = json!({
        "kernel": launch.kernel,
        "segment": launch.segment,
        "blocks": launch.blocks,
        "threads": launch.block,
        "shared_bytes": launch.shared_bytes,
        "tensor_cores": launch.tensor_cores,
        "registers": launch.registers,
        "blocks_per_multiprocessor": launch.blocks_per_multiprocessor,
        "occupancy": number(launch.occupancy),
        "time_ms": number(launch.time_ms),
    });
    if let Some(library) = launch.cublaslt {
        told["cublaslt"] = json!(library);
    }
    told
}

/// Times beside the bytes of each segment.
fn add_segments(fields: &mut Map<String, Value>, findings: &Findings<'_>) {
    let Some(run) = &findings.execution.run else {
        return;
    };
    let Some(Value::Array(segments)) = fields.get_mut("segments") else {
        return;
    };
    for segment in segments {
        let Value::Object(segment) = segment else {
            continue;
        };
        if let Some(frees) = frees(findings, segment.get("name")) {
            segment.insert("frees".into(), frees);
        }
        let name = segment
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let index = run.segments.iter().position(|s| s.name == name);
        let Some(index) = index else { continue };
        let SegmentReport {
            read_bytes,
            write_bytes,
            time_ms,
            ..
        } = run.segments[index];
        segment.insert("time_ms".into(), number(time_ms));
        if findings.config.profile.is_some() {
            let samples = &run.segments[index].samples_ms;
            segment.insert("profile".into(), spread(samples));
        }
        if run.gpu.is_some() && time_ms > 0.0 {
            let rate = (read_bytes + write_bytes) as f64 / (time_ms * 1e6);
            segment.insert("gb_per_s".into(), number(rate));
        }
        if let Some(Some(copy)) = findings.segment_copies.get(index) {
            segment.insert("copy_ms".into(), number(copy.time_ms));
        }
    }
}

/// The segments of programs that loops, branches and devices run.
fn add_inside(fields: &mut Map<String, Value>, findings: &Findings<'_>) {
    let run = findings.execution.run.iter();
    let segments = run.flat_map(|run| run.segments.iter().zip(&findings.segment_copies));
    // A segment of the program itself may have a dot in its name.
    let own = fields.get("segments").and_then(Value::as_array);
    let is_own = |name: &str| {
        own.into_iter()
            .flatten()
            .any(|segment| segment["name"] == name)
    };
    let mut inside = Vec::new();
    for (segment, copy) in segments {
        let parts = segment
            .name
            .rsplit_once('.')
            .filter(|_| !is_own(&segment.name));
        let Some((program, name)) = parts else {
            continue;
        };
        let mut told = json!({
            "program": program,
            "name": name,
            "label": segment.label,
            "kind": segment.kind.name(),
            "read_bytes": segment.read_bytes,
            "write_bytes": segment.write_bytes,
            "time_ms": number(segment.time_ms),
        });
        if let Some(copy) = copy {
            told["copy_ms"] = number(copy.time_ms);
        }
        if findings.config.profile.is_some() {
            told["profile"] = spread(&segment.samples_ms);
        }
        inside.push(told);
    }
    if !inside.is_empty() {
        fields.insert("inside".into(), Value::Array(inside));
    }
}

/// Percentiles of the times of all runs.
fn spread(samples: &[f64]) -> Value {
    let spread = Spread::of(samples);
    spread.map_or(Value::Null, |spread| {
        json!({
            "runs": spread.runs,
            "min_ms": number(spread.min),
            "median_ms": number(spread.median),
            "p90_ms": number(spread.p90),
            "p99_ms": number(spread.p99),
        })
    })
}

/// The values that were freed behind a segment of a folder.
fn frees(findings: &Findings<'_>, name: Option<&Value>) -> Option<Value> {
    let map = &findings.parts?.map;
    let segment = map
        .segments
        .iter()
        .find(|s| Some(s.name.as_str()) == name.and_then(Value::as_str))?;
    let names = segment.frees.iter().filter_map(|&v| map.values.get(v));
    Some(names.map(|v| json!(v.name)).collect())
}

fn check_value(check: &Check) -> Value {
    let outputs: Vec<Value> = check.outputs.iter().map(output_value).collect();
    json!({
        "ok": check.ok(),
        "status": word(check.status),
        "samples": check.samples,
        "outputs": outputs,
    })
}

/// The word for a status.
fn word(status: Status) -> String {
    status.name().to_lowercase()
}

fn output_value(output: &OutputCheck) -> Value {
    let report = &output.report;
    let mut value = json!({
        "name": output.name,
        "type": output.shape,
        "ok": report.ok(),
        "status": word(report.status),
        "elements": report.compared,
        "exact": report.exact,
        "ill_conditioned": report.ill_conditioned,
        "undecided": report.undecided,
        "failures": report.failures,
        "error": 0.0,
        "bound": 0.0,
    });
    if let Some(worst) = &report.worst {
        value["error"] = number(worst.error);
        value["bound"] = number(worst.allowed);
        value["index"] = json!(worst.index);
        value["actual"] = number(worst.actual);
        value["expected"] = number(worst.expected);
    }
    if let Some(mismatch) = &report.mismatch {
        value["mismatch"] = json!(mismatch);
    }
    value
}
