//! The truth of the map: a value of one name is one value, bit for bit, in the original and in every segment.

use std::collections::BTreeMap;
use std::path::Path;

use fuser_dialects::fusion;
use fuser_dialects::task::{self, outline};
use fuser_interp::{Options, Tensor, interpret};
use fuser_ir::{AttrKind, Value};
use fuser_runtime::{Explicit, Generator, InputSpec, RuntimeConfig};

use super::{Map, number, split};
use crate::compile::CompileOptions;
use crate::session::tensors::Held;
use crate::session::{Loaded, Session};

/// Programs with more bytes of inputs than this are left out: the interpreter takes its time.
const MEMORY: u64 = 1 << 22;

fn session() -> Session {
    let config = RuntimeConfig {
        threads: Some(1),
        memory_limit: Some(MEMORY),
    };
    Session::new(config).unwrap_or_else(|_| panic!("no session"))
}

/// The programs of a text, each alone.
fn programs(session: &Session, text: &str) -> Vec<Loaded> {
    let mut found = Vec::new();
    for chunk in text.split("// -----") {
        let Ok((ir, module, _)) = session.parse(0, "t", chunk) else {
            continue;
        };
        for op in ir.children(module) {
            let name = ir.symbol_name(op).map(String::from);
            found.extend(session.load(ir.clone(), module, name.as_deref()));
        }
    }
    found
}

/// Every value of a program, by its number.
fn evaluate(
    loaded: &Loaded,
    inputs: &[Tensor],
    extents: &BTreeMap<String, i64>,
) -> Option<Vec<Tensor>> {
    let mut ir = loaded.ir.clone();
    let values = number::values(&ir, loaded.program);
    for op in ir.walk_post(loaded.program) {
        if outline::is_boundary(&ir, op) {
            assert!(outline::dissolve(&mut ir, op));
        }
    }
    let body = ir.body(loaded.program, 0)?;
    let end = ir.last_op(body)?;
    ir.set_operands(end, &values);
    let types = |ir: &fuser_ir::Ir, of: &[Value]| of.iter().map(|&v| ir.value_type(v)).collect();
    let (ins, outs) = (types(&ir, ir.args(body)), types(&ir, &values));
    let function = ir.function_type(ins, outs);
    let function = ir.attr(AttrKind::Type(function));
    ir.set_attr(loaded.program, "function_type", function);
    let options = Options {
        extents: extents.clone(),
        fuel: 1 << 26,
        ..Options::default()
    };
    let done = interpret(&ir, loaded.program, inputs, &options).ok()?;
    Some(done.values)
}

/// The bytes that some index reads: none where an axis is empty, whatever the other axes store.
fn read_bytes(tensor: &Tensor) -> Vec<u8> {
    match tensor.logical_len() {
        0 => Vec::new(),
        _ => tensor.data().to_bytes(),
    }
}

/// Compares all values of all segments with the original's; how many, or nothing where the program is too large.
fn compare(session: &Session, loaded: &Loaded) -> Option<usize> {
    let parts = split(&loaded.ir, loaded.program, &CompileOptions::default()).ok()?;
    let lengths = loaded.signature.extents.iter().zip([3i64, 5, 2, 7, 1, 4]);
    let explicit: Explicit = lengths.map(|(n, v)| (n.clone(), v)).collect();
    let whole = |seed| {
        InputSpec::Generate(Generator::Ints {
            seed,
            range: Some((-3, 3)),
        })
    };
    let names = loaded.signature.inputs.iter().enumerate();
    let specs = names
        .map(|(i, s)| match s.dtype.is_float() {
            true => (s.name.clone(), whole(i as u64)),
            false => (s.name.clone(), InputSpec::Generate(Generator::Iota)),
        })
        .collect();
    let inputs = session.resolve(loaded, &specs, &explicit).ok()?;
    let given = Held::copies(session.runtime().heap(), &inputs.tensors).ok()?;
    let given = given.tensors;
    let (ir, module, _) = session.parse(0, "original", &parts.files[0].1).ok()?;
    let original = session.load(ir, module, None).ok()?;
    let truth = evaluate(&original, &given, &explicit)?;
    let mut table: BTreeMap<usize, Tensor> = truth.iter().cloned().enumerate().collect();
    let mut compared = 0;
    for (segment, (file, text)) in parts.map.segments.iter().zip(&parts.files[1..]) {
        let (ir, module, _) = session
            .parse(0, file, text)
            .unwrap_or_else(|d| panic!("{file}: {d:?}\n{text}"));
        let part = session
            .load(ir, module, None)
            .unwrap_or_else(|_| panic!("{text}"));
        let reads: Vec<Tensor> = segment
            .reads()
            .map(|v| table[&v.unwrap()].clone())
            .collect();
        let own = evaluate(&part, &reads, &explicit).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(own.len(), segment.values.len());
        for (value, tensor) in segment.values.iter().zip(&own) {
            let Some(index) = value.original else {
                continue;
            };
            if index < truth.len() {
                assert_eq!(
                    (tensor.describe(), read_bytes(tensor)),
                    (truth[index].describe(), read_bytes(&truth[index])),
                    "{} in {file} is not {} of the original\n{}\n{text}",
                    value.name,
                    parts.map.values[index].name,
                    parts.files[0].1,
                );
                compared += 1;
            } else {
                table.insert(index, tensor.clone());
            }
        }
    }
    consistent(&parts.map);
    let read = session.parts(&parts);
    read.unwrap_or_else(|d| panic!("{d:?}\n{}\n{}", parts.files[0].1, parts.map.to_json()));
    Some(compared)
}

/// Each relation is written down from both sides.
fn consistent(map: &Map) {
    for (index, value) in map.values.iter().enumerate() {
        assert_eq!(value.index, index);
        for at in &value.is {
            let segment = map.segments.iter().find(|s| s.name == at.segment).unwrap();
            assert_eq!(segment.values[at.value].original, Some(index));
        }
        let sides: usize = map
            .segments
            .iter()
            .flat_map(|s| &s.values)
            .filter(|v| v.original == Some(index))
            .count();
        assert_eq!(sides, value.is.len());
    }
    let mut freed: Vec<usize> = map.segments.iter().flat_map(|s| s.frees.clone()).collect();
    let count = freed.len();
    freed.sort_unstable();
    freed.dedup();
    assert_eq!(freed.len(), count, "a value is freed twice");
    assert!(freed.iter().all(|v| !map.outputs.contains(v)));
}

#[test]
fn values_of_one_number_are_equal() {
    let session = session();
    // An executor computes a pattern that it takes within its bound, not to the bit; a variance in parts adds in another order than the original.
    let by_bounds = |program: &Loaded| {
        let (ir, ops) = (&program.ir, program.ir.walk(program.program));
        ops.into_iter()
            .any(|op| ir.is(op, &task::PATTERN) || ir.is(op, &fusion::VAR_MEAN))
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("lit-tests");
    let (mut tested, mut several, mut values) = (0, 0, 0);
    for folder in ["passes", "segment", "run", "split"] {
        let mut files: Vec<_> = std::fs::read_dir(root.join(folder))
            .unwrap()
            .map(|e| e.unwrap().path())
            .collect();
        files.sort();
        let programs_of = |p: &std::path::PathBuf| p.extension().is_some_and(|e| e == "fir");
        for path in files.into_iter().filter(programs_of) {
            for program in programs(&session, &std::fs::read_to_string(&path).unwrap()) {
                if by_bounds(&program) {
                    continue;
                }
                let Some(compared) = compare(&session, &program) else {
                    continue;
                };
                tested += 1;
                values += compared;
                several += usize::from(compared > 0);
            }
        }
    }
    println!("count: {tested} programs split and compared value by value");
    assert!(
        tested >= 60 && several >= 50 && values >= 400,
        "{tested} {several} {values}"
    );
}
