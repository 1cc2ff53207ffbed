//! The timeline of a run in Chrome's trace format, which Perfetto reads. It shows the stages and passes of the process.
//! Beside them it shows the segments, and the launches of a GPU with their median times, end to end from the start of
//! the run.

use serde_json::{Value, json};

/// The stage in which a program runs.
const RUN: &str = "Run";

/// The trace of these events of the process and of a report.
pub fn trace(mut events: Vec<Value>, report: &Value) -> String {
    let starts = events.iter().filter(|event| event["name"] == RUN);
    let start = starts
        .filter_map(|event| event["ts"].as_f64())
        .next()
        .unwrap_or(0.0);
    let tracks = [("segments", 2, "name"), ("launches", 3, "kernel")];
    for (list, track, name) in tracks {
        let mut at = start;
        for one in report[list].as_array().map_or(&[][..], Vec::as_slice) {
            let Some(time) = one["time_ms"].as_f64() else {
                continue;
            };
            let lasts = time * 1e3;
            let mut facts = one.clone();
            if let Some(facts) = facts.as_object_mut() {
                facts.remove("ops");
                facts.remove("values");
            }
            events.push(json!({ "name": one[name], "ph": "X", "ts": at, "dur": lasts, "pid": 1, "tid": track, "args": facts }));
            at += lasts;
        }
    }
    let names = [
        ("process", 1),
        ("segments, medians", 2),
        ("launches, medians", 3),
    ];
    for (name, track) in names {
        events.push(json!({ "name": "thread_name", "ph": "M", "pid": 1, "tid": track, "args": { "name": name } }));
    }
    let program = report["program"].as_str().unwrap_or_default();
    events.push(json!({ "name": "process_name", "ph": "M", "pid": 1, "args": { "name": format!("fuser-run @{program}") } }));
    format!(
        "{}\n",
        json!({ "traceEvents": events, "displayTimeUnit": "ms" })
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_follow_each_other_from_where_the_run_began() {
        let stage = json!({ "name": "Run", "ph": "X", "ts": 50.0, "dur": 9.0, "pid": 1, "tid": 1 });
        let report = json!({ "program": "f", "segments": [
            { "name": "s0", "time_ms": 0.25, "read_bytes": 8, "ops": ["%a"] }, { "name": "s1", "time_ms": 0.5 }, { "name": "s2" },
        ] });
        let told: Value = serde_json::from_str(&trace(vec![stage], &report)).unwrap();
        let events = told["traceEvents"].as_array().unwrap();
        let of = |name: &str| events.iter().find(|event| event["name"] == name).unwrap();
        assert_eq!(
            (&of("s0")["ts"], &of("s0")["dur"]),
            (&json!(50.0), &json!(250.0))
        );
        assert_eq!(
            (&of("s1")["ts"], &of("s1")["dur"]),
            (&json!(300.0), &json!(500.0))
        );
        assert_eq!(
            of("s0")["args"],
            json!({ "name": "s0", "time_ms": 0.25, "read_bytes": 8 })
        );
        assert!(events.iter().all(|event| event["name"] != "s2"));
    }
}
