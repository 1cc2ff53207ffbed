//! No kernel that is emitted for a GPU asks for more than the GPU has: shared memory of a block, threads of a block, blocks of a
//! grid. A checker stands for the driver: it chooses the version that the runtime would choose for given extents, and holds each of its
//! launches against the target's limits.
//!
//! Checked are programs with rows, columns and groups of every extent in [`EXTENTS`], named and static, on GPUs with little and with
//! much shared memory.

use std::fmt::Write;
use std::path::Path;

use fuser::compile::{CompileOptions, compile};
use fuser::session::Session;
use fuser_artifact::{Artifact, Step};
use fuser_target::Target;

/// Extents of rows: none, one, odd ones, powers of two and their neighbours, vocabularies, too many for any block.
const EXTENTS: [u64; 12] = [
    0,
    1,
    3,
    33,
    1024,
    1025,
    12_289,
    57_601,
    65_536,
    128_256,
    262_144,
    1 << 20,
];

/// The targets, by name.
const TARGETS: [&str; 5] = ["cuda:sm_80", "cuda:sm_86", "h100", "b200", "tiny-gpu"];

/// `R` rows of `C` elements; both are replaced.
const PROGRAMS: [(&str, &str); 6] = [
    (
        "softmax",
        "task.program @f(%x: tensor<RxCxf32>) -> tensor<RxCxf32> {
  %m = fusion.max %x dims [1]
  %mb = fusion.broadcast %m dims [0] shape [R, C]
  %d = fusion.sub %x, %mb
  %e = fusion.exp %d
  %s = fusion.sum %e dims [1]
  %sb = fusion.broadcast %s dims [0] shape [R, C]
  %y = fusion.div %e, %sb
  task.return %y
}",
    ),
    (
        "three stages",
        "task.program @f(%x: tensor<RxCxbf16>, %w: tensor<Cxbf16>) -> tensor<RxCxbf16> {
  %xf = fusion.cast %x to f32
  %a = fusion.sum %xf dims [1]
  %ab = fusion.broadcast %a dims [0] shape [R, C]
  %d = fusion.sub %xf, %ab
  %q = fusion.mul %d, %d
  %v = fusion.sum %q dims [1]
  %vb = fusion.broadcast %v dims [0] shape [R, C]
  %n = fusion.div %d, %vb
  %e = fusion.exp %n
  %s = fusion.sum %e dims [1]
  %sb = fusion.broadcast %s dims [0] shape [R, C]
  %p = fusion.div %e, %sb
  %t = fusion.max %p dims [1]
  %tb = fusion.broadcast %t dims [0] shape [R, C]
  %z = fusion.sub %p, %tb
  %wf = fusion.cast %w to f32
  %wb = fusion.broadcast %wf dims [1] shape [R, C]
  %o = fusion.mul %z, %wb
  %y = fusion.cast %o to bf16
  task.return %y
}",
    ),
    (
        "sums of columns",
        "task.program @f(%x: tensor<RxCxf32>) -> (tensor<Cxf32>, tensor<Rxf32>) {
  %e = fusion.exp %x
  %s = fusion.sum %e dims [0]
  %t = fusion.sum %e dims [1]
  task.return %s, %t
}",
    ),
    (
        "columns less their sum",
        "task.program @f(%x: tensor<RxCxf64>) -> tensor<RxCxf64> {
  %s = fusion.sum %x dims [0]
  %sb = fusion.broadcast %s dims [1] shape [R, C]
  %y = fusion.sub %x, %sb
  task.return %y
}",
    ),
    (
        "transposed",
        "task.program @f(%x: tensor<RxCxf32>) -> tensor<CxRxf32> {
  %e = fusion.exp %x
  %y = fusion.permute %e dims [1, 0]
  task.return %y
}",
    ),
    (
        "pointwise",
        "task.program @f(%x: tensor<RxCxf32>, %b: tensor<Cxf32>) -> tensor<RxCxf32> {
  %bb = fusion.broadcast %b dims [1] shape [R, C]
  %y = fusion.mul %x, %bb
  task.return %y
}",
    ),
];

fn compiled(text: &str, target: &str) -> Result<Artifact, String> {
    let session = Session::new(Default::default()).unwrap();
    let (ir, module, _) = session.parse(0, "f.fir", text).unwrap();
    let options = CompileOptions {
        target: Target::by_name(target).unwrap(),
        ..CompileOptions::default()
    };
    let compiled = compile(&ir, module, &options);
    compiled
        .map(|c| c.artifact)
        .map_err(|told| format!("{target}: {:?}\n{text}", told.items))
}

/// The number of launches of a run with these extents, and the text of those that the driver would refuse.
fn refused(artifact: &Artifact, target: &Target, extents: &[i64]) -> (usize, String) {
    let (mut launches, mut told) = (0, String::new());
    let number = artifact.version(extents);
    let version = artifact.versions().nth(number).unwrap();
    for step in &version.steps {
        let Step::Launch {
            kernel,
            grid,
            scratch_bytes,
            block,
            ..
        } = step
        else {
            continue;
        };
        launches += 1;
        let code = &version.kernels[*kernel as usize];
        let shared = scratch_bytes.evaluate_size(extents).unwrap() as u64 + code.shared_bytes;
        if shared > target.shared_per_block_optin {
            let limit = target.shared_per_block_optin;
            writeln!(
                told,
                "version {number}, {}: {shared} bytes of shared memory of {limit}",
                code.name
            )
            .unwrap();
        }
        if u64::from(*block) > target.block_threads {
            writeln!(told, "version {number}, {}: {block} threads", code.name).unwrap();
        }
        let grid = grid.evaluate_size(extents).unwrap() as u64;
        if grid > target.grid_blocks {
            writeln!(told, "version {number}, {}: {grid} blocks", code.name).unwrap();
        }
    }
    (launches, told)
}

#[test]
fn named_extents_of_any_length_fit() {
    let mut told = String::new();
    let (mut launches, mut several) = (0, 0);
    for (name, text) in PROGRAMS {
        let text = text.replace("RxC", "[R]x[C]").replace("CxR", "[C]x[R]");
        let text = text.replace("<Cx", "<[C]x").replace("<Rx", "<[R]x");
        let text = text.replace("[R, C]", "[[R], [C]]");
        for target in TARGETS {
            let artifact = compiled(&text, target).unwrap();
            let last = artifact.versions().last().unwrap();
            assert!(
                last.requires.is_empty(),
                "{name} on {target}: the last version requires {:?}",
                last.requires
            );
            several += usize::from(artifact.otherwise.is_some());
            let target = Target::by_name(target).unwrap();
            assert_eq!(artifact.extents, ["C", "R"]);
            for columns in EXTENTS {
                for rows in [0, 1, 7, 1 << 24, 1 << 33] {
                    let (count, faults) = refused(&artifact, &target, &[columns as i64, rows]);
                    launches += count;
                    if !faults.is_empty() {
                        told += &format!("{name} on {}, {rows} x {columns}: {faults}", target.name);
                    }
                }
            }
        }
    }
    assert_eq!(told, "");
    // The rows of three programs and the columns of one can be kept, on each target.
    assert!(
        several >= 2 * TARGETS.len(),
        "{several} programs have versions"
    );
    println!("count: {launches} launches held against limits");
}

#[test]
fn static_extents_fit() {
    let mut told = String::new();
    for (name, text) in PROGRAMS {
        for target in ["cuda:sm_86", "h100"] {
            for columns in [1, 33, 12_289, 57_601, 65_536, 128_256, 1 << 20] {
                let text = text.replace('C', &columns.to_string()).replace("Rx", "77x");
                let text = text.replace("xRx", "x77x").replace("[R,", "[77,");
                let artifact = compiled(&text, target).unwrap();
                assert!(artifact.requires.is_empty() && artifact.otherwise.is_none());
                let (_, faults) = refused(&artifact, &Target::by_name(target).unwrap(), &[]);
                if !faults.is_empty() {
                    told += &format!("{name} on {target}, {columns} columns: {faults}");
                }
            }
        }
    }
    assert_eq!(told, "");
}

/// More rows than a launch has blocks, static and named.
#[test]
fn grids_of_any_length_fit() {
    let mut several = 0;
    for (name, text) in PROGRAMS {
        let rows = (1u64 << 40) + 1;
        let text = text.replace('C', "9").replace("Rx", "DIMx");
        let text = text.replace("xR", "xDIM").replace("[R,", "[DIM,");
        let target = Target::by_name("h100").unwrap();
        let fixed = compiled(&text.replace("DIM", &rows.to_string()), "h100").unwrap();
        assert_eq!(refused(&fixed, &target, &[]).1, "", "{name}");
        let named = compiled(&text.replace("DIM", "[R]"), "h100").unwrap();
        assert_eq!(refused(&named, &target, &[rows as i64]).1, "", "{name}");
        // Lengths for which a launch has blocks are not walked in strides.
        let versions = [1 << 20, rows as i64].map(|rows| named.version(&[rows]));
        several += usize::from(versions[0] != versions[1]);
    }
    // What sums columns may have as many blocks whatever the rows are.
    assert!(several >= 4, "{several} programs");
}

/// Rows of a known length share a block or lie in registers, columns of a known number are kept by each block; sums go over what is named.
#[test]
fn one_named_extent_of_any_length_fits() {
    let mut told = String::new();
    let mut launches = 0;
    for (name, text) in PROGRAMS {
        for known in [7, 64, 1024, 12_289] {
            let rows = text.replace("Rx", "[R]x").replace("[R,", "[[R],");
            let rows = rows.replace('C', &known.to_string());
            let columns = text.replace("Cx", "[C]x").replace(", C]", ", [C]]");
            let columns = columns.replace("Rx", &format!("{known}x"));
            let columns = columns.replace("[R,", &format!("[{known},"));
            for text in [rows, columns] {
                for target in ["cuda:sm_86", "h100"] {
                    let artifact = compiled(&text, target).unwrap();
                    assert_eq!(artifact.extents.len(), 1, "{text}");
                    let target = Target::by_name(target).unwrap();
                    for extent in EXTENTS {
                        let (count, faults) = refused(&artifact, &target, &[extent as i64]);
                        launches += count;
                        if !faults.is_empty() {
                            let target = target.name;
                            told += &format!("{name} on {target}, {known}, {extent}: {faults}");
                        }
                    }
                }
            }
        }
    }
    assert_eq!(told, "");
    println!("count: {launches} launches held against limits");
}

#[test]
fn examples_fit() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|f| f.unwrap().path())
        .collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "fir"));
    files.sort();
    let mut told = String::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for target in ["cuda:sm_86", "h100"] {
            let artifact = compiled(&text, target).unwrap();
            let target = Target::by_name(target).unwrap();
            // One extent at a time: tensors with several such axes fit no memory.
            for number in 0..artifact.extents.len() {
                for extent in EXTENTS {
                    let mut extents = vec![3; artifact.extents.len()];
                    extents[number] = extent as i64;
                    let (_, faults) = refused(&artifact, &target, &extents);
                    if !faults.is_empty() {
                        told += &format!("{}, {extents:?}: {faults}", file.display());
                    }
                }
            }
        }
    }
    assert_eq!(told, "");
}
