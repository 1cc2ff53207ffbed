//! `--memory` and a limit of the system: the memory of a run is counted, and a run that gets no more reports it.

use std::path::Path;
use std::time::Duration;

use crate::RUN;
use crate::measure::{Used, measure};

const PROGRAM: &str = "\
task.program @f(%x: tensor<[N]xf32>) -> tensor<[N]xf32> {
  %y = fusion.exp %x
  task.return %y
}
";
/// Elements: 32 MB.
const MANY: &str = "--shape=N=8000000";
const ONE: &str = "--shape=N=1";
const DEVICES: [&str; 2] = ["--device=interp", "--check"];
/// Megabytes, from too few to enough.
const LIMITS: [u64; 5] = [40, 80, 120, 200, 600];
/// The memory of a run besides tensors may differ by this from run to run, and with the number of threads.
const SLACK: u64 = 10_000_000;
const LONGEST: Duration = Duration::from_secs(60);

fn run(folder: &Path, args: &[&str]) -> Used {
    let all = ["x.fir", args[0], args[1], args[2]]
        .into_iter()
        .chain(threads(args[0]));
    let all: Vec<String> = all.map(str::to_owned).collect();
    measure(RUN, &all, folder, LONGEST)
}

/// Two threads; the interpreter has one.
fn threads(device: &str) -> Option<&'static str> {
    (device != "--device=interp").then_some("--threads=2")
}

/// The same under `ulimit -v`, in kilobytes.
fn limited(folder: &Path, kilobytes: u64, args: [&str; 2]) -> Option<i32> {
    let [device, shape] = args;
    let threads = threads(device).unwrap_or_default();
    let line = format!("ulimit -v {kilobytes} && exec {RUN} x.fir {device} {shape} {threads}");
    let used = measure("sh", &["-c".into(), line], folder, LONGEST);
    used.status.and_then(|s| s.code())
}

#[test]
fn tensors_stay_within_the_limit() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("x.fir"), PROGRAM).expect("a file");
    for device in DEVICES {
        let alone = run(folder.path(), &[device, ONE, "--memory=600MiB"]).memory;
        let mut ends = Vec::new();
        for limit in LIMITS {
            let bytes = limit * 1_000_000;
            let memory = format!("--memory={bytes}");
            let used = run(folder.path(), &[device, MANY, &memory]);
            let more = used.memory.saturating_sub(alone);
            assert!(more <= bytes + SLACK, "{device} {limit}: {more}");
            ends.push(used.status.and_then(|s| s.code()));
        }
        let wrong = ends.iter().find(|end| !matches!(end, Some(0 | 1)));
        assert_eq!(wrong, None, "{device} {ends:?}");
        assert!(
            ends.first() == Some(&Some(1)) && ends.last() == Some(&Some(0)),
            "{ends:?}"
        );
    }
}

#[test]
fn what_the_system_does_not_give_is_a_diagnostic() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("x.fir"), PROGRAM).expect("a file");
    for device in DEVICES {
        let mut least = (2..30).map(|step| step * 100_000);
        let least = least.find(|limit| limited(folder.path(), *limit, [device, ONE]) == Some(0));
        // The input is there before the program is compiled.
        let least = least.expect("three gigabytes are enough") + 60_000;
        let limits = (0..6).map(|step| least + step * 25_000);
        let ends: Vec<_> = limits
            .map(|limit| limited(folder.path(), limit, [device, MANY]))
            .collect();
        let wrong = ends.iter().find(|end| !matches!(end, Some(0 | 1)));
        assert_eq!(wrong, None, "{device} {ends:?}");
    }
}
