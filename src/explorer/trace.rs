//! The timeline of a run in Chrome's trace format, which Perfetto reads. It shows the stages and passes of the process.
//! Beside them it shows the segments, and the launches of a GPU with their median times, end to end from the start of
//! the run; and, of one more run on a CPU, the work of each thread.

use fuser_runtime::WorkSpan;
use serde_json::{Value, json};

/// The stage in which a program runs.
const RUN: &str = "Run";

/// The number of the track of the first thread.
const THREADS: usize = 10;

/// The trace of these events of the process, of a report, and of the work of threads.
pub fn trace(mut events: Vec<Value>, report: &Value, work: &[WorkSpan]) -> String {
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
    for span in work {
        let (at, lasts) = (span.start_ms * 1e3, (span.end_ms - span.start_ms) * 1e3);
        let name = &report["segments"][span.segment]["name"];
        events.push(json!({ "name": name, "ph": "X", "ts": start + at, "dur": lasts, "pid": 1, "tid": THREADS + span.worker }));
    }
    let threads = work.iter().map(|span| span.worker + 1).max().unwrap_or(0);
    let threads =
        (0..threads).map(|worker| (format!("thread {worker}, one run"), THREADS + worker));
    let names = ["process", "segments, medians", "launches, medians"];
    let names = names
        .iter()
        .zip(1..)
        .map(|(name, track)| ((*name).to_owned(), track));
    for (name, track) in names.chain(threads) {
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
        let span = |worker, start_ms| WorkSpan {
            worker,
            segment: 1,
            start_ms,
            end_ms: start_ms + 0.5,
        };
        let work = [span(0, 1.0), span(1, 1.25)];
        let told: Value = serde_json::from_str(&trace(vec![stage], &report, &work)).unwrap();
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
        let of_thread = |track: usize| {
            events
                .iter()
                .find(|event| event["tid"] == track && event["ph"] == "X")
                .unwrap()
        };
        let second = of_thread(THREADS + 1);
        assert_eq!(
            (&second["name"], &second["ts"], &second["dur"]),
            (&json!("s1"), &json!(1300.0), &json!(500.0))
        );
        assert!(
            events
                .iter()
                .any(|event| event["args"]["name"] == "thread 1, one run")
        );
    }
}
