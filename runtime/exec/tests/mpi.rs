//! Ranks that are processes: results are those of threads, and whatever happens to one rank, the job ends soon, with an error that says so.
//!
//! ```text
//! cargo test -p fuser-runtime --features mpi --test mpi
//! ```
//!
//! The program starts itself under `mpirun`; `FUSER_TEST_RANK` tells it then which fault it is to have. Skipped where there is no `mpirun`.

use std::io::Write;
use std::process::{Command, ExitCode, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fuser_artifact::{
    Artifact, BufferKind, BufferSpec, Collective as Op, Combine, DType, DimSpec, KernelCode, Mesh,
    MeshAxis, SegmentInfo, SegmentKind, Sharding, SizeExpr, Step, Target, TensorSpec,
};
use fuser_runtime::devices::{Block, Engine, Fault, Mpi, Tag, local_ranks};
use fuser_runtime::{
    CodeLoader, CpuEntry, CpuProgram, Executable, Heap, LoadError, LoadedCode, Runtime,
};

/// The variable that tells a rank its fault.
const ROLE: &str = "FUSER_TEST_RANK";

/// The time that ranks wait for each other where that is not the fault.
const LIMIT: Duration = Duration::from_secs(20);

/// The faulty rank.
const FAULTY: usize = 2;

struct NoCode;

impl CodeLoader for NoCode {
    fn load(&self, _: &Target, _: &[KernelCode]) -> Result<Box<dyn LoadedCode>, LoadError> {
        Ok(Box::new(NoCode))
    }
}

impl LoadedCode for NoCode {
    fn entry(&self, _: &str) -> Option<CpuEntry> {
        None
    }
}

fn vector(name: String, extent: SizeExpr, buffer: u32) -> TensorSpec {
    TensorSpec {
        name,
        dtype: DType::F32,
        dims: vec![DimSpec::stored(extent)],
        order: Vec::new(),
        buffer,
    }
}

/// One communication after the other, on 2 by 2 devices, of `B` elements, a multiple of 4. `last` is the device that has the last result.
fn program(last: u32) -> Artifact {
    let target = Target::Cpu {
        triple: String::new(),
        cpu: String::new(),
        features: String::new(),
    };
    let mut artifact = Artifact::new("test", target);
    artifact.extents.push("B".to_string());
    let (b, twice) = (SizeExpr::extent(0), SizeExpr::extent(0) * 2.into());
    let ops: [(Op, &[u32], &SizeExpr); 6] = [
        (Op::AllReduce(Combine::Add), &[0, 1], &b),
        (
            Op::Permute {
                pairs: vec![[0, 1], [1, 2], [3, 0]],
            },
            &[1, 0],
            &b,
        ),
        (Op::AllGather { dim: 0 }, &[0], &twice),
        (
            Op::ReduceScatter {
                combine: Combine::Max,
                dim: 0,
            },
            &[1],
            &b,
        ),
        (
            Op::AllToAll {
                split: 0,
                concat: 0,
            },
            &[0, 1],
            &b,
        ),
        (Op::Broadcast { root: last }, &[0, 1], &b),
    ];
    artifact.inputs.push(vector("x".to_string(), b.clone(), 0));
    for (at, (op, over, extent)) in ops.into_iter().enumerate() {
        let at = at as u32;
        let before = artifact.outputs.last().unwrap_or(&artifact.inputs[0]);
        let from = Some(Box::new(before.clone()));
        let to = vector(format!("y{at}"), extent.clone(), at + 1);
        artifact.outputs.push(to.clone());
        artifact.steps.push(Step::Collective {
            segment: 0,
            op,
            over: over.to_vec(),
            from,
            to: Box::new(to),
        });
    }
    let tensors = artifact.inputs.iter().chain(&artifact.outputs);
    let buffer = |(at, tensor): (usize, &TensorSpec)| BufferSpec {
        name: tensor.name.clone(),
        dtype: tensor.dtype,
        elements: tensor.stored_elements(),
        kind: match (at as u32).checked_sub(1) {
            None => BufferKind::Input(0),
            Some(output) => BufferKind::Output(output),
        },
    };
    artifact.buffers = tensors.enumerate().map(buffer).collect();
    let axis = |name: &str| MeshAxis {
        name: name.to_string(),
        size: 2,
    };
    artifact.mesh = Some(Mesh {
        axes: vec![axis("data"), axis("model")],
        inputs: vec![Sharding::copied(1)],
        outputs: vec![Sharding::copied(1); 6],
    });
    artifact.segments.push(SegmentInfo {
        name: "s0".to_string(),
        label: String::new(),
        kind: SegmentKind::Collective,
        ops: 6,
        sweeps: 0,
        read_bytes: SizeExpr::constant(0),
        write_bytes: SizeExpr::constant(0),
        values: Vec::new(),
    });
    artifact
}

/// Runs a rank's part; gives its outputs.
fn run(
    engine: &mut dyn Engine,
    artifact: Artifact,
    length: usize,
    memory: u64,
) -> Result<Vec<u8>, String> {
    let part = |engine: &mut dyn Engine| -> Result<Vec<u8>, String> {
        let text = |error: fuser_runtime::RuntimeError| error.to_string();
        let heap = Heap::with_limit(memory);
        let runtime = Runtime::with_heap(Some(1), heap).map_err(text)?;
        let program = Arc::new(CpuProgram::load(artifact, &NoCode).map_err(text)?);
        let extents = [("B".to_string(), length as i64)].into();
        let mut executable = Executable::new(&runtime, program, &extents).map_err(text)?;
        let rank = engine.rank();
        let values = (0..length).map(|at| ((at * 7 + rank * 13) % 31) as f32 - 15.0);
        let x: Vec<u8> = values.flat_map(f32::to_le_bytes).collect();
        let sizes = executable.output_bytes().to_vec();
        let memory = sizes.iter().map(|&bytes| runtime.heap().allocate(bytes));
        let mut outputs = memory
            .collect::<Result<Vec<_>, _>>()
            .map_err(|e| e.to_string())?;
        for _ in 0..3 {
            let mut places: Vec<&mut [u8]> = outputs.iter_mut().map(|y| &mut y[..]).collect();
            executable
                .run_on(engine, &[&x], &mut places)
                .map_err(text)?;
        }
        Ok(outputs.iter().flat_map(|y| y.to_vec()).collect())
    };
    let done = part(engine);
    if let Err(error) = &done {
        engine.fail(error);
    }
    done
}

/// An engine with a fault at an exchange.
struct Faulty {
    inner: Mpi,
    role: String,
    at: usize,
    exchanges: usize,
}

impl Engine for Faulty {
    fn rank(&self) -> usize {
        self.inner.rank()
    }

    fn ranks(&self) -> usize {
        self.inner.ranks()
    }

    fn exchange(&mut self, tag: Tag, blocks: &mut [Block<'_>]) -> Result<(), Fault> {
        self.exchanges += 1;
        if self.exchanges == self.at + 1 {
            match self.role.as_str() {
                "killed" => {
                    let own = std::process::id().to_string();
                    let _ = Command::new("kill").args(["-9", &own]).status();
                }
                "aborts" => std::process::abort(),
                "exits" => std::process::exit(0),
                "panics" => panic!("made to panic"),
                "late" => std::thread::sleep(Duration::from_secs(60)),
                _ => {}
            }
        }
        self.inner.exchange(tag, blocks)
    }

    fn fail(&mut self, reason: &str) {
        self.inner.fail(reason);
    }
}

/// The work of a rank.
fn rank(role: &str) -> ExitCode {
    let (role, at) = role.split_once('@').unwrap_or((role, "0"));
    let limit = if role == "late" {
        Duration::from_secs(2)
    } else {
        LIMIT
    };
    let inner = match Mpi::start(limit) {
        Ok(inner) => inner,
        Err(fault) => {
            eprintln!("{fault}");
            return ExitCode::FAILURE;
        }
    };
    let faulty = inner.rank() == FAULTY;
    let mut engine = Faulty {
        role: if faulty {
            role.to_string()
        } else {
            String::new()
        },
        inner,
        at: at.parse().unwrap_or(0),
        exchanges: 0,
    };
    let last = if role == "program" && faulty { 1 } else { 3 };
    let length = match role {
        "shapes" if faulty => 8,
        "large" => 1 << 20,
        _ => 12,
    };
    let memory = if role == "memory" && faulty {
        64
    } else {
        1 << 30
    };
    let own = engine.rank();
    let done = run(&mut engine, program(last), length, memory);
    match done {
        Ok(outputs) => {
            // The same on threads of this process.
            let expected = std::thread::scope(|scope| {
                let ranks = local_ranks(4, LIMIT).unwrap_or_default().into_iter();
                let part =
                    |mut rank| scope.spawn(move || run(&mut rank, program(3), length, 1 << 30));
                let parts: Vec<_> = ranks.map(part).collect();
                let mut parts = parts.into_iter().map(|part| part.join().ok()?.ok());
                parts.nth(own).flatten()
            });
            match expected.as_deref() == Some(&outputs[..]) {
                true => println!("rank {own} agrees"),
                false => println!("rank {own} differs"),
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            // In one piece: others write there, too.
            let line = format!("told by {own}: {error}\n");
            let _ = std::io::stderr().write_all(line.as_bytes());
            ExitCode::FAILURE
        }
    }
}

/// A job of 4 ranks, and the time that it took; a job that does not end is killed, and its time is the limit.
fn job(role: &str) -> (Output, Duration) {
    let own = std::env::current_exe().unwrap();
    let mut mpirun = Command::new("mpirun");
    mpirun.args([
        "--allow-run-as-root",
        "--oversubscribe",
        "--bind-to",
        "none",
        "-n",
        "4",
    ]);
    let begin = Instant::now();
    let child = mpirun
        .arg(own)
        .env(ROLE, role)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let id = child.id().to_string();
    let (done, over) = std::sync::mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        if over.recv_timeout(LIMIT).is_err() {
            let _ = Command::new("kill").args(["-9", &id]).status();
        }
    });
    let output = child.wait_with_output().unwrap();
    let _ = done.send(());
    watch.join().unwrap();
    (output, begin.elapsed())
}

fn main() -> ExitCode {
    if let Ok(role) = std::env::var(ROLE) {
        return rank(&role);
    }
    if Command::new("mpirun").arg("--version").output().is_err() {
        println!("SKIPPED: there is no mpirun\n0 passed, 0 failed, 1 skipped");
        return ExitCode::SUCCESS;
    }
    // A role, texts that the ranks or mpirun tell, and whether each other rank tells it.
    let mut cases: Vec<(String, &str, bool)> = vec![
        ("ok".to_string(), "", true),
        ("large".to_string(), "", true),
        (
            "program".to_string(),
            "rank 2 runs another program than rank 0",
            true,
        ),
        (
            "shapes".to_string(),
            "rank 2 runs the program with other lengths",
            true,
        ),
        (
            "memory".to_string(),
            "rank 2 has ended: too little memory",
            true,
        ),
        ("late@6".to_string(), "rank 2 did not come within 2 s", true),
        ("exits@3".to_string(), "", false),
        ("aborts@3".to_string(), "signal 6", false),
        (
            "panics@4".to_string(),
            "rank 2 has ended: it panicked",
            true,
        ),
    ];
    // Each run is some twelve exchanges behind two that compare programs.
    let kills = (0..20).map(|at| (format!("killed@{}", at * 7 % 20), "signal 9", false));
    cases.extend(kills);
    let (mut passed, mut failed) = (0, 0);
    for (role, text, all_tell) in cases {
        let (output, time) = job(&role);
        let (out, err) = (
            String::from_utf8_lossy(&output.stdout).into_owned(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        );
        let right = match role.as_str() {
            "ok" | "large" => output.status.success() && out.matches("agrees").count() == 4,
            _ => {
                let others = (0..4).filter(|rank| *rank != FAULTY);
                let told = |rank: usize| {
                    let own = format!("told by {rank}: ");
                    err.lines()
                        .any(|line| line.starts_with(&own) && line.contains(text))
                };
                let all = !all_tell || others.into_iter().all(told);
                !output.status.success() && err.contains(text) && all && time < LIMIT
            }
        };
        println!(
            "test {role} ... {} ({:.1} s)",
            if right { "ok" } else { "FAILED" },
            time.as_secs_f64()
        );
        match right {
            true => passed += 1,
            false => {
                failed += 1;
                println!("{:?}\n{out}{err}", output.status);
            }
        }
    }
    println!("{passed} passed, {failed} failed, 0 skipped");
    if failed > 0 {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
