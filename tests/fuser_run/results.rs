//! Inputs from archives and folders, results in archives, printed results, profiles.

use std::path::PathBuf;
use std::process::Command;

use fuser_artifact::DType;
use fuser_runtime::{Axis, Heap, HostTensor, npz};

use super::{folder, read, refused, run, write};

fn tensor(dtype: DType, shape: &[usize], values: &[f64]) -> HostTensor {
    let axes: Vec<Axis> = shape.iter().map(|&extent| Axis::stored(extent)).collect();
    HostTensor::from_f64(&Heap::with_limit(1 << 20), dtype, &axes, values).unwrap()
}

/// An archive of the program's inputs, those but one called `names[i]`.
fn archive(path: &std::path::Path, names: [&str; 3]) {
    let tensors = [
        tensor(DType::F32, &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        tensor(DType::I32, &[2], &[7.0, -8.0]),
        tensor(DType::F32, &[], &[0.5]),
    ];
    let file = std::fs::File::create(path).unwrap();
    npz::write(file, names.into_iter().zip(&tensors)).unwrap();
}

#[test]
fn inputs_and_outputs_are_in_archives_and_folders() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    archive(&at("in.npz"), ["x.npy", "n.npy", "s.npy"]);
    let output = run(
        &folder,
        "x.fir --input @in.npz --output out.npz --output-dir out --repeat 1",
    );
    assert!(output.status.success(), "{output:?}");
    let expected = [0.5, 1.0, 1.5, 2.0, 2.5, 3.0];
    assert_eq!(read(&at("out/y.npy"), DType::Bf16), expected);
    let heap = Heap::with_limit(1 << 20);
    assert_eq!(npz::members(&at("out.npz")).unwrap(), ["y.npy", "m.npy"]);
    let y = npz::read(&at("out.npz"), "y.npy", DType::Bf16, &heap).unwrap();
    assert_eq!(y.values().collect::<Vec<_>>(), expected);

    // A folder holds the same; what is not named like an array is passed over.
    std::fs::create_dir(at("in")).unwrap();
    write(&folder, "in/x.npy", DType::F32, &[1, 3], &[2.0, 4.0, 6.0]);
    write(&folder, "in/n.npy", DType::I32, &[1], &[3.0]);
    std::fs::write(at("in/README"), "").unwrap();
    let one = "x.fir --input @in --input s=full:2 --repeat 1 --check --print=%m,y";
    let output = run(&folder, one);
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{told}");
    let printed = "%m: tensor<1xi32>\n[6]\n%y: tensor<1x3xbf16>\n[[ 4.0,  8.0, 12.0]]\n";
    assert!(told.ends_with(printed), "{told}");
}

#[test]
fn missing_and_left_over_arrays_are_told() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    archive(&at("in.npz"), ["x.npy", "n.npy", "t.npy"]);
    let told = |args: &str| {
        let (code, text) = refused(&folder, args);
        assert_eq!(
            code,
            if text.contains("[FIR") { 1 } else { 2 },
            "{args}: {text}"
        );
        text
    };
    let missing = "[FIR1001] input `s`: there is no 's.npy' in 'in.npz'";
    assert!(told("x.fir --input @in.npz").contains(missing));
    let left = told("x.fir --input @in.npz --input s=ones");
    assert!(
        left.contains("[FIR1001] 't.npy' of 'in.npz' is for no input"),
        "{left}"
    );
    assert!(left.contains("the program has x, n, s"), "{left}");
    archive(&at("in.npz"), ["x.npy", "n.npy", "s.npy"]);
    let twice = told("x.fir --input @in.npz --input s=ones");
    assert!(
        twice.contains("`--input s=...` gives that input already"),
        "{twice}"
    );
    assert!(told("x.fir --input @none.npz").contains("[FIR1001] inputs: none.npz: No such file"));
    assert!(told("x.fir --input @x.fir").contains("x.fir: not a .npz archive"));
    assert!(told("x.fir --input @a --input @b").contains("one archive or folder at a time"));
    assert!(told("x.fir --input @in.npz --output in.npz").contains("in.npz"));
    // A member of another type is named with its archive.
    archive(&at("in.npz"), ["x.npy", "s.npy", "n.npy"]);
    let wrong = told("x.fir --input @in.npz");
    assert!(
        wrong.contains("in.npz/n.npy: element type '<f4', expected i32"),
        "{wrong}"
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn names_of_no_result_are_told() {
    let folder = folder();
    let (code, text) = refused(&folder, "x.fir --shape B=1 --print=%yy");
    assert_eq!(code, 1);
    assert!(
        text.contains("[FIR1008] no result is called '%yy'\nhelp: did you mean '%y'?"),
        "{text}"
    );
    let (_, text) = refused(&folder, "x.fir --shape B=1 --print=t");
    let inside = "'%t' is a value inside of the program, and results alone are kept (%y, %m)";
    assert!(text.contains(inside), "{text}");
}

#[test]
fn a_profile_has_the_spread_of_each_kernel() {
    let folder = folder();
    let args = "x.fir --shape B=64 --profile=20 --report=json:r.json --threads 1";
    let output = run(&folder, args);
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{told}");
    assert!(
        told.contains("min ms  p90 ms  p99 ms  of copy  does\n"),
        "{told}"
    );
    assert!(told.contains("\n  20 runs\n"), "{told}");
    let report = std::fs::read_to_string(folder.path().join("r.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(super::schema::against("report", &report), [] as [String; 0]);
    for profile in [&report["profile"], &report["segments"][0]["profile"]] {
        let keys = ["min_ms", "median_ms", "p90_ms", "p99_ms"];
        let times = keys.map(|key| profile[key].as_f64().unwrap());
        assert!(times.is_sorted() && times[0] > 0.0, "{profile}");
        assert_eq!(profile["runs"], 20);
    }
    let (code, text) = refused(&folder, "x.fir --shape B=1 --profile --repeat 3");
    assert_eq!(code, 2);
    assert!(text.contains("give one"), "{text}");
}

/// NumPy as `scripts/setup.sh --tests` fetches it, or the system's.
fn numpy(script: &str, folder: &std::path::Path) -> Option<String> {
    let fetched = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(".cache/numpy");
    let python = |script: &str| {
        let mut command = Command::new("python3");
        command.args(["-c", script]).current_dir(folder);
        if fetched.is_dir() {
            command.env("PYTHONPATH", &fetched);
        }
        command.output().ok()
    };
    python("import numpy").filter(|output| output.status.success())?;
    let output = python(script)?;
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn numpy_writes_and_reads_the_same_archives() {
    let folder = folder();
    let written = numpy(
        "import numpy as np
x = np.arange(6, dtype=np.float32).reshape(2, 3, order='F')
all = dict(x=np.asfortranarray(x), n=np.array([1, -2], dtype=np.int32), s=np.float32(0.5))
np.savez('plain.npz', **all)
np.savez_compressed('small.npz', **all)",
        folder.path(),
    );
    if written.is_none() {
        println!("skipped: no NumPy; scripts/setup.sh --tests fetches it");
        return;
    }
    for archive in ["plain", "small"] {
        let args = format!("x.fir --input @{archive}.npz --output {archive}-out.npz --repeat 1");
        let output = run(&folder, &args);
        assert!(output.status.success(), "{output:?}");
    }
    let compared = numpy(
        "import numpy as np
for name in ['plain', 'small']:
    given, made = np.load(name + '.npz'), np.load(name + '-out.npz')
    bits = np.frombuffer(made['y'].tobytes(), dtype=np.uint16).astype(np.uint32) << 16
    assert (bits.view(np.float32).reshape(2, 3) == given['x'] * given['s']).all()
    assert (made['m'] == 2 * given['n']).all() and made['m'].dtype == np.int32
print('same')",
        folder.path(),
    );
    assert_eq!(compared.as_deref(), Some("same\n"));
}
