//! The times of a session over the standard streams: from a keystroke to its diagnostics, and of requests. Ignored: a
//! debug build is several times slower.

use std::fmt::Write;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::Client;

const URI: &str = "file:///a.fir";
const EDITS: usize = 51;

/// A program of so many lines: chains of elementwise ops, broadcasts and sums, as imported programs have them.
fn program(lines: usize) -> String {
    let mut text =
        String::from("task.program @f(%x: tensor<[B]x1024xf32>) -> tensor<[B]x1024xf32> {\n");
    let mut last = "%x".to_owned();
    for line in 0..lines.saturating_sub(3) / 4 {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "  %a{line} = fusion.exp {last}\n  %s{line} = fusion.sum %a{line} dims [1]\n  %b{line} = fusion.broadcast %s{line} dims [0] shape [[B], 1024]\n  %c{line} = fusion.mul %a{line}, %b{line}\n"
        );
        last = format!("%c{line}");
    }
    text + &format!("  task.return {last}\n}}\n")
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e3
}

fn worst(times: &[Duration]) -> f64 {
    times.iter().max().map_or(0.0, |t| t.as_secs_f64() * 1e3)
}

/// Milliseconds of diagnostics (median, worst) and of each request (median).
fn measure(lines: usize) -> (f64, f64, Vec<f64>) {
    let mut client = Client::initialized();
    let text = program(lines);
    let document = json!({"uri": URI, "languageId": "fir", "version": 0, "text": text});
    client.notify("textDocument/didOpen", json!({"textDocument": document}));
    client.diagnostics(URI, 0);
    let middle = text.lines().count() / 2 / 4 * 4 + 1;
    let at = |character: u32| json!({"line": middle, "character": character});
    let mut times = Vec::new();
    for version in 1..=EDITS {
        // A letter in a comment's place, then its removal.
        let (range, new) = match version % 2 {
            1 => (json!({"start": at(2), "end": at(2)}), "q"),
            _ => (json!({"start": at(2), "end": at(3)}), ""),
        };
        let start = Instant::now();
        let document = json!({"uri": URI, "version": version});
        let change = json!({"range": range, "text": new});
        client.notify(
            "textDocument/didChange",
            json!({"textDocument": document, "contentChanges": [change]}),
        );
        client.diagnostics(URI, version as i64);
        times.push(client.arrived - start);
    }
    let document = json!({"uri": URI, "version": EDITS + 1});
    client.notify(
        "textDocument/didChange",
        json!({"textDocument": document, "contentChanges": [{"text": text}]}),
    );
    client.diagnostics(URI, EDITS as i64 + 1);
    let requests = METHODS.iter().map(|method| {
        let ask = || -> Value {
            json!({
                "textDocument": {"uri": URI},
                "position": at(4),
                "newName": "renamed",
                "range": {"start": at(0), "end": {"line": middle + 60, "character": 0}},
            })
        };
        let times = (0..9).map(|_| {
            let start = Instant::now();
            client.request(&format!("textDocument/{method}"), ask());
            client.arrived - start
        });
        median(times.collect())
    });
    let requests = requests.collect();
    (median(times.clone()), worst(&times), requests)
}

const METHODS: [&str; 9] = [
    "hover",
    "completion",
    "definition",
    "references",
    "rename",
    "semanticTokens/full",
    "inlayHint",
    "documentSymbol",
    "formatting",
];

#[test]
#[ignore = "measures"]
fn latency() {
    let mut rows: Vec<(String, Vec<f64>)> = vec![
        (
            "diagnostics after a keystroke, median".to_owned(),
            Vec::new(),
        ),
        (format!("the worst of {EDITS}"), Vec::new()),
    ];
    rows.extend(
        METHODS
            .iter()
            .map(|method| (format!("`{method}`"), Vec::new())),
    );
    for lines in [100, 1_000, 10_000] {
        let (median, worst, requests) = measure(lines);
        let figures = [median, worst].into_iter().chain(requests);
        rows.iter_mut()
            .zip(figures)
            .for_each(|(row, figure)| row.1.push(figure));
    }
    for (name, figures) in rows {
        let figures: Vec<String> = figures.iter().map(|f| format!("{f:.1}")).collect();
        println!("| {name} | {} |", figures.join(" | "));
    }
}
