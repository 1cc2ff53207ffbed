//! The page of `--report=html:`: its numbers are those of the other reports, and no text breaks out of its data.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{TempDir, folder, refused, run};

/// Two segments, a boundary between them, and an extent of any length.
const CENTER: &str =
    "task.program @center(%x: tensor<[B]x32xf32>, %y: tensor<[B]x32xf32>) -> tensor<[B]x32xf32> {
  %sum = fusion.sum %x dims [1]
  %boundary = fusion.segment_set %sum
  %wide = fusion.broadcast %boundary dims [0] shape [[B], 32]
  %out = fusion.sub %y, %wide
  task.return %out
}
";

/// The data of a page.
fn data(folder: &TempDir, name: &str) -> Value {
    let page = std::fs::read_to_string(folder.path().join(name)).unwrap();
    let (_, from) = page.split_once("id=\"data\">").expect("a place for data");
    let (json, _) = from.split_once("</script>").expect("an end of the data");
    serde_json::from_str(json).expect("JSON")
}

fn json(folder: &TempDir, name: &str) -> Value {
    let text = std::fs::read_to_string(folder.path().join(name)).unwrap();
    serde_json::from_str(&text).expect("JSON")
}

fn opt(folder: &TempDir, args: &str) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fuser-opt"));
    command.current_dir(folder.path());
    command.args(args.split_whitespace()).output().unwrap()
}

fn center() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("center.fir"), CENTER).unwrap();
    folder
}

#[test]
#[cfg(feature = "codegen")]
fn a_run_has_the_numbers_of_its_other_reports() {
    let folder = center();
    let done = run(
        &folder,
        "center.fir --shape B=64 --repeat 1 --check --report=json:r.json --report=html:r.html --explain=json:e.json",
    );
    assert!(done.status.success(), "{done:?}");
    let data = data(&folder, "r.html");
    let program = &data["modules"][0]["programs"][0];
    assert_eq!(program["report"], json(&folder, "r.json"));
    assert_eq!(program["explain"], json(&folder, "e.json"));
    assert_eq!(data["source"]["text"], CENTER);
    assert_eq!(data["source"]["file"], "center.fir");
    let stages = data["modules"][0]["stages"].as_array().unwrap();
    let changed = |pass: &str| {
        stages
            .iter()
            .any(|s| s["pass"] == pass && s["texts"].is_array())
    };
    assert!(changed("segment") && changed("schedule") && changed("lower-to-kernel"));
}

#[test]
fn fuser_opt_has_the_numbers_of_its_other_reports() {
    let folder = center();
    let passes = "center.fir --preseg --segment --remat --schedule --shape=B=64 -o out.fir";
    let reports =
        "--report=html:r.html --segment-report=r.json --explain=json:e.json --report=json:s.json";
    let done = opt(&folder, &format!("{passes} {reports}"));
    assert!(done.status.success(), "{done:?}");
    let data = data(&folder, "r.html");
    assert_eq!(data["source"]["file"], "center.fir");
    let program = &data["modules"][0]["programs"][0];
    assert_eq!(program["report"], json(&folder, "r.json"));
    assert_eq!(program["report"], json(&folder, "s.json"));
    assert_eq!(program["explain"], json(&folder, "e.json"));
    // The same bytes for the same program.
    let first = std::fs::read(folder.path().join("r.html")).unwrap();
    opt(&folder, &format!("{passes} {reports}"));
    assert_eq!(first, std::fs::read(folder.path().join("r.html")).unwrap());
}

/// Each text is that of the program between two passes, each line of the graph's ops stands in it.
#[test]
fn texts_are_what_is_printed_around_the_passes() {
    let folder = center();
    let done = opt(
        &folder,
        "center.fir --segment --report=html:r.html -o out.fir",
    );
    assert!(done.status.success(), "{done:?}");
    let data = data(&folder, "r.html");
    let module = &data["modules"][0];
    let stage = module["stages"].as_array().unwrap().last().unwrap();
    let after = stage["texts"][1].as_u64().unwrap() as usize;
    let mut text = String::new();
    for run in module["texts"][after].as_array().unwrap() {
        let [first, count, indentation] = [0, 1, 2].map(|i| run[i].as_u64().unwrap() as usize);
        for line in first..first + count {
            let line = module["lines"][line].as_str().unwrap();
            text += &format!("{}{line}\n", " ".repeat(indentation));
        }
    }
    let printed = std::fs::read_to_string(folder.path().join("out.fir")).unwrap();
    let inside: Vec<&str> = printed
        .lines()
        .filter(|line| line.starts_with("  "))
        .collect();
    let inside: String = inside
        .iter()
        .map(|line| format!("{}\n", &line[2..]))
        .collect();
    assert!(
        printed.contains(text.trim_end()) || inside == text,
        "{text}"
    );
}

#[test]
fn edges_of_the_graph_are_its_uses() {
    let folder = center();
    opt(
        &folder,
        "center.fir --segment --report=html:r.html -o out.fir",
    );
    let data = data(&folder, "r.html");
    let graph = &data["modules"][0]["programs"][0]["graph"];
    let nodes = graph["nodes"].as_array().unwrap();
    let name = |value: &Value| graph["values"][value.as_u64().unwrap() as usize]["name"].clone();
    let op = |op: &str| nodes.iter().find(|node| node["op"] == op).unwrap();
    let takes = |wanted: &str| -> Vec<Value> {
        op(wanted)["in"]
            .as_array()
            .unwrap()
            .iter()
            .map(name)
            .collect()
    };
    assert_eq!(takes("fusion.sub"), ["%y", "%wide"]);
    assert_eq!(takes("fusion.broadcast"), ["%boundary"]);
    assert_eq!(op("task.segment")["results"][0][0], "%boundary");
    assert_eq!(
        op("fusion.sum")["places"][0],
        serde_json::json!(["center.fir", 2])
    );
    assert_eq!(graph["outputs"][0][0], "%out");
}

#[test]
fn names_of_strangers_stay_data() {
    let folder = tempfile::tempdir().unwrap();
    let hostile = "</script><script>alert(1)</script><!-- ]]> & \u{2028}";
    let text = format!(
        "// {hostile}\ntask.program @\"{hostile}\"(%x: f32) -> f32 {{\n  %y = fusion.exp %x loc(\"{hostile}\":3:4)\n  task.return %y\n}}\n"
    );
    std::fs::write(folder.path().join("x.fir"), text).unwrap();
    let done = opt(&folder, "x.fir --segment --report=html:r.html -o out.fir");
    assert!(done.status.success(), "{done:?}");
    let data = data(&folder, "r.html");
    let graph = &data["modules"][0]["programs"][0]["graph"];
    assert_eq!(graph["symbol"], hostile);
    let exp = graph["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .find(|node| node["op"] == "fusion.exp");
    assert_eq!(exp.unwrap()["places"][0][0], hostile);
    let page = std::fs::read_to_string(folder.path().join("r.html")).unwrap();
    assert_eq!(
        page.matches("alert(1)").count(),
        page.matches("\\u003ealert(1)").count()
    );
}

#[test]
fn the_interpreter_shows_the_program_as_it_is() {
    let folder = folder();
    let done = run(
        &folder,
        "x.fir --shape B=2 --device=interp --report=html:r.html",
    );
    assert!(done.status.success(), "{done:?}");
    let data = data(&folder, "r.html");
    let module = &data["modules"][0];
    assert_eq!(module["stages"], serde_json::json!([]));
    assert_eq!(module["programs"][0]["report"]["device"], "interp");
    let nodes = module["programs"][0]["graph"]["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 3);
}

/// The other forms, from the same report.
#[test]
#[cfg(feature = "codegen")]
fn a_run_leaves_a_graph_and_a_timeline() {
    let folder = center();
    let done = run(
        &folder,
        "center.fir --shape B=64 --repeat 1 --report=json:r.json --report=dot:r.dot --report=svg:r.svg --report=perfetto:r.trace",
    );
    assert!(done.status.success(), "{done:?}");
    let report = json(&folder, "r.json");
    let dot = std::fs::read_to_string(folder.path().join("r.dot")).unwrap();
    assert!(
        dot.contains("\"0 s0\" -> \"0 s1\" [label=\"%boundary\\n256\""),
        "{dot}"
    );
    let svg = std::fs::read_to_string(folder.path().join("r.svg")).unwrap();
    assert!(svg.contains(">%boundary 256</text>"), "{svg}");
    let trace = json(&folder, "r.trace");
    let events = trace["traceEvents"].as_array().unwrap();
    let of = |name: &str| events.iter().find(|event| event["name"] == name);
    for segment in report["segments"].as_array().unwrap() {
        let event = of(segment["name"].as_str().unwrap()).unwrap();
        let time = segment["time_ms"].as_f64().unwrap() * 1e3;
        // Reading a number back may round its last place.
        let off = event["dur"].as_f64().unwrap() - time;
        assert!(off.abs() <= time * 1e-12, "{off}");
    }
    assert!(of("Run").is_some() && of("thread_name").is_some());
}

/// Lines of the model come with an import.
#[test]
fn a_page_of_an_import_names_the_lines_of_the_model() {
    let text = "module @jit_f {\n  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n    \
                %0 = stablehlo.exponential %arg0 : tensor<4xf32> loc(#loc2)\n    return %0 : tensor<4xf32> loc(#loc)\n  } loc(#loc)\n} loc(#loc)\n\
                #loc = loc(unknown)\n#loc1 = loc(\"model.py\":12:8)\n#loc2 = loc(\"jit(f)/block0/exp\"(#loc1))\n";
    let program = fuser::Program::import_stablehlo(text).unwrap();
    let page = program.page(&fuser::Options::default()).unwrap();
    assert!(
        page.contains("\"places\":[[\"jit(f)/block0/exp\"],[\"model.py\",12]"),
        "{page:.0}"
    );
}

#[test]
fn mistakes_of_the_flag_are_told() {
    let folder = folder();
    let (code, told) = refused(&folder, "x.fir --report=r.html");
    assert_eq!(code, 2);
    assert!(
        told.contains(
            "'r.html' is not of the form json:FILE, html:FILE, dot:FILE, svg:FILE or perfetto:FILE"
        ),
        "{told}"
    );
    let (code, told) = refused(&folder, "x.fir --report=html:");
    assert_eq!(code, 2);
    assert!(told.contains("is not of the form"), "{told}");
    let done = opt(&folder, "x.fir --report=pdf:r.pdf");
    assert_eq!(done.status.code(), Some(2));
    std::fs::create_dir(folder.path().join("parts")).unwrap();
    let (code, told) = refused(&folder, "parts --report=html:r.html");
    assert_eq!(code, 2);
    assert!(
        told.contains("not about a folder of its segments"),
        "{told}"
    );
}

/// The page in the repository is the one that its sources make, where npm and its packages are at hand.
#[test]
fn the_page_is_what_its_sources_make() {
    let explorer = Path::new(env!("CARGO_MANIFEST_DIR")).join("explorer");
    if !explorer.join("node_modules/vite").exists() {
        println!(
            "skipped: the packages of the explorer are not installed ('npm ci' in explorer/); its page is not built anew"
        );
        return;
    }
    let built = tempfile::tempdir().unwrap();
    let mut command = Command::new("node");
    command.current_dir(&explorer).args([
        "node_modules/vite/bin/vite.js",
        "build",
        "--emptyOutDir",
        "--outDir",
    ]);
    let done = match command.arg(built.path()).output() {
        Ok(done) => done,
        Err(error) => {
            println!("skipped: node: {error}; the explorer's page is not built anew");
            return;
        }
    };
    assert!(done.status.success(), "{done:?}");
    let read = |path: &Path| std::fs::read_to_string(path.join("explorer.html")).unwrap();
    let same = read(built.path()) == read(&explorer.join("dist"));
    assert!(
        same,
        "explorer/dist/explorer.html is old: run 'npm run build' in explorer/"
    );
}

/// The segments of the program `number` on the page.
fn segments(page: &Value, number: usize) -> Vec<Value> {
    let report = &page["modules"][0]["programs"][number]["report"];
    report["segments"].as_array().expect("segments").clone()
}

#[test]
#[cfg(feature = "codegen")]
fn times_of_loops_are_those_of_their_programs() {
    let text = "task.program @f(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %y = task.loop %x turns 50 body @turn
  task.return %y
}
task.program @turn(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %c = fusion.cumsum %x dim 0
  %y = fusion.tanh %c
  task.return %y
}
";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("f.fir"), text).unwrap();
    let flags = "f.fir --repeat 3 --report=json:r.json --report=html:r.html";
    let done = run(&folder, flags);
    assert!(done.status.success(), "{done:?}");
    let (page, report) = (data(&folder, "r.html"), json(&folder, "r.json"));
    let time = |value: &Value| value["time_ms"].as_f64().expect("a time");
    let inside = report["inside"].as_array().expect("segments inside");
    assert_eq!(inside[0]["program"], "turn");
    assert_eq!(inside[0]["read_bytes"], 50 * 4000);
    let all: f64 = inside.iter().map(time).sum();
    let own = time(&report["segments"][0]);
    assert!((time(&segments(&page, 0)[0]) - own - all).abs() < 1e-9);
    let turn = &segments(&page, 1)[0];
    assert!((time(turn) - time(&inside[0]) / 50.0).abs() < 1e-9);
    assert!(turn["copy_ms"].as_f64().is_some());
}

#[test]
#[cfg(feature = "codegen")]
fn all_kernels_of_many_sizes_have_a_copy_and_all_edges_a_price() {
    let mut text = "task.program @f(%a0: tensor<1000xf32>) -> tensor<790xf32> {\n".to_owned();
    for i in 0..21 {
        let (next, length) = (i + 1, 990 - 10 * i);
        text += &format!("  %x{i}_0 = fusion.sin %a{i}\n");
        // Places to cut: those of all segments are more than the questions about places.
        for place in 0..16 {
            text += &format!("  %x{i}_{} = fusion.sin %x{i}_{place}\n", place + 1);
        }
        text += &format!(
            "  %s{i} = fusion.slice %x{i}_16 starts [0] shape [{length}]\n  %a{next} = fusion.segment_set %s{i}\n"
        );
    }
    text += "  task.return %a21\n}\n";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("f.fir"), text).unwrap();
    let done = run(&folder, "f.fir --repeat 1 --report=html:r.html");
    assert!(done.status.success(), "{done:?}");
    let page = data(&folder, "r.html");
    let segments = segments(&page, 0);
    assert_eq!(segments.len(), 21);
    assert!(segments.iter().all(|s| s["copy_ms"].as_f64() > Some(0.0)));
    let edges = &page["modules"][0]["programs"][0]["what_if"]["edges"];
    assert_eq!(edges.as_array().map(Vec::len), Some(20));
    let unasked = &page["modules"][0]["programs"][0]["what_if"]["unasked_segments"];
    assert!(unasked.as_u64() > Some(0));
}
