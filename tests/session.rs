//! The library's interface: one program, interpreted, compiled, checked, reported.

use std::collections::BTreeMap;

use fuser::compile::CompileOptions;
use fuser::session::{Loaded, Session};
use fuser_dialects::{builtin, fusion, task};
use fuser_ir::build::Builder;
use fuser_ir::types::Dim;
use fuser_ir::{AttrKind, DType, NewOp, Value};
use fuser_runtime::{Explicit, RuntimeConfig};

/// `y = cast(exp(x) / sum(exp(x), 1))` for `x: [B]x33xf32`, and the sum.
fn load(session: &Session) -> Loaded {
    let mut ir = session.empty_ir();
    let rows = ir.named_extent("B");
    let (x, y) = (
        ir.tensor(vec![Dim::new(rows), Dim::fixed(33)], DType::F32),
        ir.tensor(vec![Dim::new(rows), Dim::fixed(33)], DType::BF16),
    );
    let sums = ir.tensor(vec![Dim::new(rows)], DType::F32);
    let (region, body) = (ir.new_region(), ir.new_region());
    let module = ir.append_block(region);
    let block = ir.append_block(body);
    let name = ir.sym("x");
    let arg = ir.append_arg(block, x, Some(name));
    let results = softmax(&mut Builder::at_end(&mut ir, block), arg);
    for (value, name) in results.iter().zip(["y", "s"]) {
        let name = ir.sym(name);
        ir.set_value_name(*value, Some(name));
    }
    let function = ir.function_type(vec![x], vec![y, sums]);
    let function = ir.attr(AttrKind::Type(function));
    let symbol = ir.string_attr("softmax");
    let attrs = [("function_type", function), ("sym_name", symbol)];
    let new = NewOp {
        attrs: attrs.map(|(k, v)| (ir.sym(k), v)).into_iter().collect(),
        regions: [body].into_iter().collect(),
        ..NewOp::default()
    };
    let program = ir.create_op(&task::PROGRAM, new);
    ir.append_op(module, program);
    let new = NewOp {
        regions: [region].into_iter().collect(),
        ..NewOp::default()
    };
    let module = ir.create_op(&builtin::MODULE, new);
    session.load(ir, module, None).unwrap()
}

fn softmax(b: &mut Builder<'_>, x: Value) -> Vec<Value> {
    let e = b.value(&fusion::EXP, &[x], &[]).unwrap();
    let dims = b.ints("dims", &[1]);
    let s = b.value(&fusion::SUM, &[e], &[dims]).unwrap();
    let rows = b.ir.named_extent("B");
    let clauses = [
        b.ints("dims", &[0]),
        b.shape("shape", &[Dim::new(rows), Dim::fixed(33)]),
    ];
    let wide = b.value(&fusion::BROADCAST, &[s], &clauses).unwrap();
    let q = b.value(&fusion::DIV, &[e, wide], &[]).unwrap();
    let to = b.dtype("to", DType::BF16);
    let y = b.value(&fusion::CAST, &[q], &[to]).unwrap();
    b.op(&task::RETURN, &[y, s], &[]).unwrap();
    vec![y, s]
}

fn session() -> Session {
    let config = RuntimeConfig {
        threads: Some(2),
        memory_limit: Some(1 << 28),
    };
    Session::new(config).unwrap_or_else(|_| panic!("no session"))
}

fn shape(rows: i64) -> Explicit {
    [("B".to_string(), rows)].into_iter().collect()
}

#[test]
fn the_signature_is_read_from_the_program() {
    let session = session();
    let signature = load(&session).signature;
    assert_eq!(signature.extents, ["B"]);
    assert_eq!(
        (signature.inputs.len(), signature.inputs[0].name.as_str()),
        (1, "x")
    );
    assert_eq!(signature.output_names, ["y", "s"]);
}

#[test]
fn interpreted_outputs_are_within_the_references_bounds() {
    let session = session();
    let loaded = load(&session);
    for rows in [0, 1, 5] {
        let inputs = session
            .resolve(&loaded, &BTreeMap::new(), &shape(rows))
            .unwrap();
        let done = session.interpret(&loaded, &inputs).unwrap();
        assert_eq!(done.outputs[0].extents(), [rows as usize, 33]);
        let check = session.check(&loaded, &inputs, &done.outputs).unwrap();
        assert!(check.ok(), "{check:?}");
        assert_eq!(check.outputs[1].shape, format!("{rows}xf32"));
    }
}

#[cfg(feature = "codegen")]
#[test]
fn compiled_outputs_are_within_the_references_bounds() {
    let session = session();
    let loaded = load(&session);
    for rows in [0, 1, 5, 129] {
        let inputs = session
            .resolve(&loaded, &BTreeMap::new(), &shape(rows))
            .unwrap();
        let mut done = session
            .run_cpu(&loaded, &inputs, &CompileOptions::default(), 1)
            .unwrap();
        let check = session.check(&loaded, &inputs, &done.outputs).unwrap();
        assert!(check.ok(), "{check:?}");
        let elements = done.outputs[1].stored_elements();
        if elements > 0 {
            // The last sum off by a hundredth: the check must see it.
            let bytes = done.outputs[1].bytes_mut();
            let at = bytes.len() - 4;
            let value = f32::from_le_bytes(bytes[at..].try_into().unwrap()) * 1.01;
            bytes[at..].copy_from_slice(&value.to_le_bytes());
            let check = session.check(&loaded, &inputs, &done.outputs).unwrap();
            assert!(!check.ok() && check.outputs[0].report.ok());
            assert_eq!(check.outputs[1].report.failures, 1);
        }
    }
}

#[test]
fn the_report_has_bytes_for_these_extents() {
    let session = session();
    let loaded = load(&session);
    let inputs = session
        .resolve(&loaded, &BTreeMap::new(), &shape(10))
        .unwrap();
    let report = session
        .report(&loaded, &inputs, Some(&CompileOptions::default()))
        .unwrap();
    let text = serde_json::to_value(&report).unwrap();
    assert_eq!(text["read_bytes"], 10 * 33 * 4);
    assert_eq!(text["write_bytes"], 10 * 33 * 2 + 10 * 4);
    assert_eq!(text["crossing_bytes"], 0);
}

#[cfg(feature = "codegen")]
#[test]
fn parts_run_as_the_whole_and_give_inputs_back() {
    let session = session();
    let loaded = load(&session);
    let options = CompileOptions {
        passes: Some("segment{search=exact max-ops=2}".into()),
        ..CompileOptions::default()
    };
    let split = session.split(&loaded, &options).unwrap();
    assert!(split.map.segments.len() > 1, "{:?}", split.map.segments);
    let parts = session.parts(&split).unwrap();
    for rows in [0, 1, 5, 129] {
        let inputs = session
            .resolve(&loaded, &BTreeMap::new(), &shape(rows))
            .unwrap();
        let run = session
            .run_parts(&parts, inputs, true, &CompileOptions::default(), 1)
            .unwrap();
        assert_eq!(run.inputs.tensors.len(), 1);
        let check = session.check(&loaded, &run.inputs, &run.execution.outputs);
        assert!(check.unwrap().ok());
        let gone = session
            .run_parts(&parts, run.inputs, false, &CompileOptions::default(), 1)
            .unwrap();
        assert!(gone.inputs.tensors.is_empty());
    }
}

#[test]
fn segments_are_known_from_shapes_alone() {
    let session = session();
    let loaded = load(&session);
    let report = session
        .segments(&loaded, &CompileOptions::default())
        .unwrap();
    assert_eq!(report.segments.len(), 1);
    assert_eq!(report.read_bytes.text(), "132*B");
}

/// A softmax over rows, which a tile holds where they are short.
#[cfg(feature = "codegen")]
const SOFTMAX: &str = "task.program @f(%x: tensor<[R]x[C]xf32>) -> tensor<[R]x[C]xf32> {
  %m = fusion.max %x dims [1]
  %mb = fusion.broadcast %m dims [0] shape [[R], [C]]
  %d = fusion.sub %x, %mb
  %e = fusion.exp %d
  %s = fusion.sum %e dims [1]
  %sb = fusion.broadcast %s dims [0] shape [[R], [C]]
  %y = fusion.div %e, %sb
  task.return %y
}";

/// Rows and columns: of which a tile holds a row and a small cache holds all, a tile holds a row, and no tile holds a row.
#[cfg(feature = "codegen")]
const SHAPES: [[i64; 2]; 3] = [[1, 64], [3, 64], [1, 1 << 20]];

/// Options for a CPU whose last cache holds the first of [`SHAPES`] alone.
#[cfg(feature = "codegen")]
fn small_cache() -> CompileOptions {
    let mut options = CompileOptions::default();
    options.target.last_cache_bytes = 512;
    options
}

#[cfg(feature = "codegen")]
#[test]
fn the_report_says_which_version_ran() {
    use fuser::compile::{Loader, compile};
    use fuser_runtime::{Axis, CpuProgram, HostTensor, RunOptions};
    let session = Session::new(RuntimeConfig::default()).unwrap();
    let (ir, module, _) = session.parse(0, "f.fir", SOFTMAX).unwrap();
    let compiled = compile(&ir, module, &small_cache()).unwrap();
    let program = CpuProgram::load(compiled.artifact, &Loader).unwrap();
    for (shape, version) in SHAPES.into_iter().zip([(1, 3), (2, 3), (3, 3)]) {
        let axes = shape.map(|n| Axis::stored(n as usize));
        let elements = shape.iter().product::<i64>() as usize;
        let (heap, dtype) = (session.runtime().heap(), fuser_artifact::DType::F32);
        let x = HostTensor::from_f64(heap, dtype, &axes, &vec![1.0; elements]).unwrap();
        let options = RunOptions::default();
        let run = program.run(session.runtime(), &[x], &Explicit::new(), &options);
        assert_eq!(run.unwrap().report.version, Some(version));
    }
}

/// A cache that keeps nothing and counts the kernels that are compiled.
#[cfg(feature = "codegen")]
#[derive(Debug, Default)]
struct Compiled(std::sync::atomic::AtomicUsize);

#[cfg(feature = "codegen")]
impl fuser_codegen::Cache for Compiled {
    fn get(&self, _: &str) -> Option<Vec<u8>> {
        None
    }
    fn put(&self, key: &str, _: &[u8]) {
        let kernels = usize::from(key.contains("kernel.func"));
        self.0
            .fetch_add(kernels, std::sync::atomic::Ordering::Relaxed);
    }
}

#[cfg(feature = "codegen")]
#[test]
fn a_version_is_compiled_when_extents_ask_for_it() {
    use fuser::compile::compile;
    let session = Session::new(RuntimeConfig::default()).unwrap();
    let (ir, module, _) = session.parse(0, "f.fir", SOFTMAX).unwrap();
    let loaded = session.load(ir, module, None).unwrap();
    let inputs = |[rows, columns]: [i64; 2]| {
        let extents = [("R".to_owned(), rows), ("C".to_owned(), columns)].into();
        session
            .resolve(&loaded, &BTreeMap::new(), &extents)
            .unwrap()
    };
    let counted = |options: &dyn Fn(CompileOptions, &dyn Fn() -> usize)| {
        let count = std::sync::Arc::new(Compiled::default());
        let with = CompileOptions {
            cache: Some(count.clone()),
            ..small_cache()
        };
        options(with, &|| count.0.load(std::sync::atomic::Ordering::Relaxed));
    };
    let all = compile(&loaded.ir, loaded.module, &small_cache()).unwrap();
    let kernels: Vec<usize> = all.artifact.versions().map(|v| v.kernels.len()).collect();
    assert_eq!(kernels.len(), 3);
    let [small, rows, long] = SHAPES;
    let every: usize = kernels.iter().sum();
    counted(&|options, compiled| {
        let program = session.program(&loaded, &options);
        let run = |shape| {
            program
                .run(&session, &inputs(shape), 1)
                .unwrap()
                .run
                .unwrap()
                .version
        };
        assert_eq!(compiled(), 0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert_eq!(run(small), Some((1, 2))));
            }
        });
        assert_eq!(compiled(), kernels[0]);
        assert_eq!(run(long), Some((3, 3)));
        assert_eq!(compiled(), kernels[0] + kernels[2]);
        assert_eq!(run(rows), Some((2, 3)));
        assert_eq!(compiled(), every);
        assert_eq!(run(small), Some((1, 3)));
        assert_eq!(run([1, long[1] + 1]), Some((3, 3)));
        assert_eq!(compiled(), every);
    });
    // What is compiled for the extents of a run is one version.
    for shape in SHAPES {
        let extents = [("R".to_owned(), shape[0]), ("C".to_owned(), shape[1])];
        let shapes = extents.clone().map(|(name, n)| (name, n as u64)).into();
        let options = CompileOptions {
            shapes,
            ..small_cache()
        };
        let alone = compile(&loaded.ir, loaded.module, &options).unwrap();
        let kernels = alone.artifact.kernels.len();
        counted(&|options, compiled| {
            session
                .run_cpu(&loaded, &inputs(shape), &options, 1)
                .unwrap();
            assert_eq!(compiled(), kernels);
            session
                .prepare(&loaded, &extents.clone().into(), &options)
                .unwrap();
            assert_eq!(compiled(), 2 * kernels);
        });
    }
    // A mistake is told by the call that needs the version.
    let options = CompileOptions {
        passes: Some("no-such-pass".into()),
        ..CompileOptions::default()
    };
    let program = session.program(&loaded, &options);
    for _ in 0..2 {
        assert!(program.run(&session, &inputs(small), 1).is_err());
    }
}

/// A cache in memory.
#[cfg(feature = "codegen")]
#[derive(Debug, Default)]
struct Memory(std::sync::Mutex<BTreeMap<String, Vec<u8>>>);

#[cfg(feature = "codegen")]
impl fuser_codegen::Cache for Memory {
    fn get(&self, key: &str) -> Option<Vec<u8>> {
        self.0.lock().unwrap().get(key).cloned()
    }
    fn put(&self, key: &str, bytes: &[u8]) {
        self.0.lock().unwrap().insert(key.into(), bytes.into());
    }
}

/// The number of passes that ran.
#[cfg(feature = "codegen")]
#[derive(Default)]
struct Passes(usize);

#[cfg(feature = "codegen")]
impl fuser_pass::Instrument for Passes {
    fn before_pass(&mut self, _: &fuser_ir::Ir, _: fuser_pass::PassRun<'_>) {
        self.0 += 1;
    }
}

#[cfg(feature = "codegen")]
impl fuser::compile::Watch for Passes {
    fn begin_stage(&mut self, _: &str) {}
    fn end_stage(&mut self) {}
}

#[cfg(feature = "codegen")]
#[test]
fn kept_versions_run_under_all_extents_of_their_class() {
    let session = Session::new(RuntimeConfig::default()).unwrap();
    let (ir, module, _) = session.parse(0, "f.fir", SOFTMAX).unwrap();
    let loaded = session.load(ir, module, None).unwrap();
    let memory = std::sync::Arc::new(Memory::default());
    let passes = std::sync::Arc::new(std::sync::Mutex::new(Passes::default()));
    let options = CompileOptions {
        cache: Some(memory.clone()),
        watch: Some(fuser::compile::SharedWatch::new(passes.clone())),
        ..small_cache()
    };
    let run = |program: &fuser::session::Program, [rows, columns]: [i64; 2]| {
        let extents = [("R".to_owned(), rows), ("C".to_owned(), columns)].into();
        let inputs = session
            .resolve(&loaded, &BTreeMap::new(), &extents)
            .unwrap();
        let run = program.run(&session, &inputs, 1).unwrap();
        let report = program.report(&inputs).unwrap();
        let bytes: Vec<Vec<u8>> = run.outputs.iter().map(|y| y.bytes().to_vec()).collect();
        (run.run.unwrap().version, report, bytes)
    };
    let ran = || std::mem::take(&mut passes.lock().unwrap().0);
    let [small, rows, long] = SHAPES;
    let first = session.program(&loaded, &options);
    let expected = [small, long].map(|shape| run(&first, shape));
    assert!(ran() > 0);
    // What a second process does: the same, without a pass, under other extents of the same classes too.
    let second = session.program(&loaded, &options);
    for (shape, expected) in [small, long].into_iter().zip(&expected) {
        let (version, report, bytes) = run(&second, shape);
        let known = |version: Option<(usize, usize)>| version.map(|version| version.0);
        assert_eq!(known(version), known(expected.0));
        assert!(report == expected.1 && bytes == expected.2);
    }
    run(&second, [small[0] + 1, small[1]]);
    run(&second, [1, long[1] + 1]);
    assert_eq!(ran(), 0);
    // A version that nothing has compiled yet.
    assert_eq!(run(&second, rows).0.unwrap().0, 2);
    assert!(ran() > 0);
    let third = session.program(&loaded, &options);
    for shape in SHAPES {
        run(&third, shape);
    }
    assert_eq!(ran(), 0);
    // Other options are another program, and so are bytes that nobody can read.
    let other = CompileOptions {
        executors: "none".into(),
        ..options.clone()
    };
    run(&session.program(&loaded, &other), small);
    assert!(ran() > 0);
    for (key, bytes) in memory.0.lock().unwrap().iter_mut() {
        let kept = if key.contains("kernel.func") { 1 } else { 2 };
        bytes.truncate(bytes.len() / kept);
    }
    assert!(run(&session.program(&loaded, &options), small) == expected[0]);
    assert!(ran() > 0);
}
