//! The figures of issue 2473: the bytes that nvFuser's two kernels move, the bytes that they need to move, and those
//! that one kernel moves.

use crate::common::{report, run};
use serde_json::json;

const PROGRAM: &str = include_str!("../../../examples/issue_2473.fir");
const NVFUSER: &str = include_str!("../../../examples/issue_2473.nvfuser.json");
/// The same two kernels in the other order: what the two of the issue hand each other is moved, nothing is computed twice.
const MOVED: &str = include_str!("../../../examples/issue_2473.moved.json");

fn option(grouping: &str) -> String {
    let text: String = grouping.split_whitespace().collect();
    format!("from='{text}'")
}

fn forced() -> String {
    option(NVFUSER)
}

#[test]
fn free_to_choose_it_is_one_kernel_with_one_sweep() {
    let run = run(PROGRAM, &[("preseg", ""), ("segment", ""), ("remat", "")]);
    let report = report(&run);
    let segments = report["segments"].as_array().expect("segments");
    assert_eq!(segments.len(), 1);
    assert_eq!(segments[0]["sweeps"], 1);
    assert_eq!(report["read_bytes"], 235_458_560);
    assert_eq!(report["write_bytes"], 117_673_984);
    assert_eq!(report["total_bytes"], 353_132_544);
    assert_eq!(report["crossing"], json!([]));
}

#[test]
fn two_kernels_move_what_the_issue_says() {
    let run = run(PROGRAM, &[("segment", &forced())]);
    let report = report(&run);
    assert_eq!(report["total_bytes"], 1_528_457_216u64);
    assert_eq!(report["crossing_bytes"], 469_991_424);
    let kernels = &report["segments"];
    assert_eq!(kernels[0]["read_bytes"], 235_343_872);
    assert_eq!(kernels[0]["write_bytes"], 470_220_800);
    assert_eq!(kernels[1]["read_bytes"], 705_447_936);
    assert_eq!(kernels[1]["write_bytes"], 117_444_608);
    let crossing = report["crossing"].as_array().expect("crossing");
    let names: Vec<&str> = crossing
        .iter()
        .filter_map(|c| c["value"].as_str())
        .collect();
    assert_eq!(names, ["%T12", "%T14", "%T15"]);
}

#[test]
fn moving_alone_leaves_one_value_to_exchange() {
    let run = run(PROGRAM, &[("segment", &option(MOVED))]);
    let report = report(&run);
    assert_eq!(report["total_bytes"], 940_335_104);
    assert_eq!(report["crossing_bytes"], 234_881_024);
    assert_eq!(report["crossing"].as_array().map(Vec::len), Some(1));
    assert_eq!(report["crossing"][0]["value"], "%T17");
}

#[test]
fn rematerialization_leaves_them_nothing_to_exchange() {
    let run = run(PROGRAM, &[("segment", &forced()), ("remat", "")]);
    let report = report(&run);
    assert_eq!(report["total_bytes"], 588_474_368);
    assert_eq!(report["crossing"], json!([]));
    let kernels = &report["segments"];
    assert_eq!(kernels[0]["write_bytes"], 229_376);
    assert_eq!(kernels[1]["read_bytes"], 235_456_512);
    // T12 is computed in the second kernel already, under the name of T77.
    let ops = kernels[1]["ops"].as_array().expect("ops");
    let subtractions = ops
        .iter()
        .filter(|o| **o == "%T12" || **o == "%T77")
        .count();
    assert_eq!(subtractions, 1);
}

#[test]
fn running_it_again_changes_nothing() {
    let passes = [("segment", &*forced()), ("remat", "")];
    let once = run(PROGRAM, &passes);
    let twice = run(
        PROGRAM,
        &[passes[0], passes[1], ("remat", ""), ("segment", "")],
    );
    assert_eq!(once.text, twice.text);
}

#[test]
fn a_report_can_be_fed_back() {
    let first = run(PROGRAM, &[("segment", "max-sweeps=1")]);
    let text: String = first.files["segment-report"].split_whitespace().collect();
    let again = run(PROGRAM, &[("segment", &format!("from='{text}'"))]);
    assert_eq!(report(&first)["total_bytes"], report(&again)["total_bytes"]);
    assert_eq!(first.text, again.text);
}

#[test]
fn the_same_bytes_come_out_every_time() {
    let passes = [("preseg", ""), ("segment", ""), ("remat", "")];
    let first = run(PROGRAM, &passes);
    for _ in 0..3 {
        let again = run(PROGRAM, &passes);
        assert_eq!(first.text, again.text);
        assert_eq!(first.files, again.files);
    }
}
