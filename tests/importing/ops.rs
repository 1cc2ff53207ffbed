//! Every op of nvFuser's Python frontend: a definition of each, with the results of PyTorch, imported, interpreted, compiled and run;
//! and the page that says so.
//!
//! `nvfuser_ops/` holds the definitions, a file for each group (`nvfuser_ops.py` writes them). `FUSER_UPDATE_DOCS=1` writes
//! `docs/nvfuser.md` anew.

use std::collections::BTreeSet;
use std::path::Path;

use fuser::compile::{self, CompileOptions, Target};
use fuser::session::{Loaded, Session};
use fuser_codegen::lower::Emission;
use fuser_frontends::Format;
use fuser_ir::print::{PrintOptions, print};
use fuser_runtime::Inputs;

use super::{agrees, load, session, tensors, texts};

/// A definition of one op.
struct Definition {
    group: String,
    op: String,
    text: String,
}

/// The program of one.
struct Found {
    /// The ops of the program.
    ops: Vec<String>,
    /// The number of elements that agree with PyTorch.
    compared: usize,
    /// True if something is to be computed.
    kernels: bool,
    /// The order in memory of its results, for operands in the reverse order of their axes.
    layout: String,
}

/// The order in memory of results that nvFuser defines; of others it is a choice of its optimizer (`AllocationDomainPass` of 2026-04).
/// Beside it the layout that is found here, which must be the same.
const LAYOUTS: [(&str, &str, &str); 5] = [
    ("linear", "row-major", "row-major"),
    ("matmul", "row-major", "row-major"),
    (
        "sdpfa_bwd",
        "those of query, key and value",
        "the operands'",
    ),
    (
        "sdpfa_fwd",
        "the query's; row-major",
        "the operands', row-major",
    ),
    // It states the reverse order.
    ("stride_order", "as stated", "the operands'"),
];

fn definitions() -> Vec<Definition> {
    const HEAD: &str = "def nvfuser_fusion_";
    let mut found = Vec::new();
    for (file, text) in texts("tests/importing/nvfuser_ops") {
        for part in text.split(HEAD).skip(1) {
            let (op, _) = part.split_once('(').unwrap();
            found.push(Definition {
                group: file.trim_end_matches(".py").to_owned(),
                op: op.to_owned(),
                text: format!("{HEAD}{part}"),
            });
        }
    }
    found
}

/// The ops of a program, each once; constants are none of interest.
fn ops(loaded: &Loaded) -> Vec<String> {
    let text = print(&loaded.ir, loaded.module, &PrintOptions::default());
    let mut found: Vec<String> = Vec::new();
    for part in text.split("fusion.").skip(1) {
        let name = part
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .next();
        let name = name.unwrap().to_owned();
        if name != "constant" && !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// Compiles a program for a GPU; true if it has kernels.
fn ptx(session: &Session, definition: &Definition) -> bool {
    let name = &definition.op;
    let loaded = load(session, Format::NvFuser, name, &definition.text);
    let Loaded { mut ir, module, .. } = loaded.unwrap_or_else(|told| panic!("{told}"));
    let target = Target::by_name("a100").unwrap();
    let options = CompileOptions {
        target,
        ..CompileOptions::default()
    };
    let lowered = compile::lower(&mut ir, module, &options);
    let lowered = lowered.unwrap_or_else(|found| panic!("{name}: {found:?}"));
    let code = compile::emit(&ir, module, &lowered.launched, &options, Emission::Assembly);
    let code = code.unwrap_or_else(|found| panic!("{name}: {found:?}"));
    code.contains(".entry")
}

/// A definition whose inputs lie in the reverse order of their axes.
fn reversed(text: &str) -> String {
    let line = |line: &str| {
        let items = |name: &str| -> Option<Vec<String>> {
            let (_, rest) = line.split_once(&format!("{name}=["))?;
            let (list, _) = rest.split_once(']')?;
            Some(list.split(", ").map(str::to_owned).collect())
        };
        let shape = items("shape").filter(|_| line.contains("fd.define_tensor("));
        let Some(rank) = shape.map(|shape| shape.len()).filter(|rank| *rank > 1) else {
            return line.to_owned();
        };
        // Entries of `contiguity` are in the order of memory.
        let dense = items("contiguity").unwrap_or_default();
        let back: Vec<String> = dense.iter().rev().cloned().collect();
        let order: Vec<String> = (0..rank).map(|axis| axis.to_string()).collect();
        let line = line.replace(&dense.join(", "), &back.join(", "));
        let (head, tail) = line.rsplit_once(')').unwrap();
        format!("{head}, stride_order=[{}]){tail}", order.join(", "))
    };
    text.lines().map(|text| line(text) + "\n").collect()
}

/// The order in memory in which a definition's results are given, once it is compiled, for inputs in the reverse order of their axes.
fn layout(session: &Session, definition: &Definition) -> String {
    let text = reversed(&definition.text);
    let loaded = load(session, Format::NvFuser, &definition.op, &text);
    let Loaded { mut ir, module, .. } = loaded.unwrap_or_else(|told| panic!("{told}"));
    let lowered = compile::lower(&mut ir, module, &CompileOptions::default());
    lowered.unwrap_or_else(|found| panic!("{}: {found:?}", definition.op));
    let mut ops = ir.children(module).into_iter();
    let program = ops.find(|op| ir.is(*op, &fuser_dialects::task::PROGRAM));
    let (_, results) = fuser_dialects::task::verify::signature(&ir, program.unwrap()).unwrap();
    let results = results.to_vec();
    let mut told: Vec<&str> = Vec::new();
    for ty in &results {
        let Some(tensor) = ir.ty(*ty).as_tensor() else {
            continue;
        };
        let order = fuser_ir::layout::stored(&ir, tensor);
        let name = match order.len() {
            0 | 1 => "one axis",
            _ if order.is_sorted() => "row-major",
            _ if order.iter().rev().is_sorted() => "the operands'",
            _ => "the operand's, renamed",
        };
        if !told.contains(&name) {
            told.push(name);
        }
    }
    told.join(", ")
}

fn found(session: &Session, definition: &Definition, wrong: &mut String) -> Found {
    let Definition { op, text, .. } = definition;
    let loaded = load(session, Format::NvFuser, op, text);
    let loaded = loaded.unwrap_or_else(|told| panic!("{told}"));
    let (compared, beyond) = agrees(session, op, &loaded, text, "#");
    assert!(compared > 0, "{op}: nothing is compared");
    *wrong += &beyond;
    Found {
        ops: ops(&loaded),
        // Half of them are the CPU's.
        compared: compared / 2,
        kernels: ptx(session, definition),
        layout: layout(session, definition),
    }
}

const HEAD: &str = "# The ops of nvFuser

<!-- Written by a test that imports, interprets, compiles and runs a definition of each op; `FUSER_UPDATE_DOCS=1 cargo test --test main importing::ops` writes it anew. -->

Every op of `fd.ops`, the Python frontend of nvFuser, as [`--import=nvfuser-python`](importing.md#nvfuser) reads it. *Here* are the ops of the
dialect that its definition in `tests/importing/nvfuser_ops/` becomes, constants aside; how operands are promoted is in importing.md.
*Interpreter* and *CPU*: so many elements agree with those of PyTorch (random numbers: with Philox 4x32-10 in NumPy). *PTX*: compiled for sm_80.

*Layout* is the order in memory of the results where all inputs lie in the reverse order of their axes: that of the operands, or row-major. A definition states one by
`stride_order`, and attention takes that of its operands ([importing.md](importing.md#nvfuser)); where neither does, `infer-layouts` ([preseg.md](preseg.md)) chooses. *In nvFuser*: what it
defines, or its choice: an optimizer there gives a result the order of the input with the most axes, as far as these axes are the result's too, and results that only rename memory
that memory's order, gaps included; here results are dense.

A test holds all of it to be so. What the ops here are tested with besides, [testing.md](testing.md) tells.
";

/// The page.
fn page(all: &[(Definition, Found)]) -> String {
    let mut page = HEAD.to_owned();
    let mut group = "";
    for (definition, found) in all {
        let Definition { op, group: own, .. } = definition;
        if *own != group {
            group = own;
            let (first, rest) = group.split_at(1);
            page += &format!("\n## {}{rest}\n\n", first.to_uppercase());
            page += "| op | here | layout | in nvFuser | interpreter | CPU | PTX | tests |\n|---|---|---|---|---|---|---|---|\n";
        }
        let Found {
            ops,
            compared,
            kernels,
            layout,
        } = found;
        let own = LAYOUTS.iter().find(|(known, ..)| known == op);
        let own = own.map_or("its choice", |(_, own, same)| {
            assert_eq!(layout, same, "{op}");
            own
        });
        let ops = match ops.is_empty() {
            true => "its operand".to_owned(),
            false => format!("`{}`", ops.join("`, `")),
        };
        let ptx = match kernels {
            true => "yes",
            false => "no kernel: nothing moves",
        };
        let tests = tests(op);
        page += &format!(
            "| `{op}` | {ops} | {layout} | {own} | {compared} agree | {compared} agree | {ptx} | {tests} |\n"
        );
    }
    page
}

/// The texts that hold an op to PyTorch's results, beside its own definition.
fn tests(op: &str) -> String {
    let used = format!("fd.ops.{op}(");
    let texts = texts("tests/importing/nvfuser").into_iter();
    let names = texts.filter(|(_, text)| text.contains(&used));
    let names: Vec<String> = names.map(|(name, _)| format!("`{name}`")).collect();
    match names.is_empty() {
        true => "its definition".to_owned(),
        false => format!("its definition, {}", names.join(", ")),
    }
}

#[test]
fn every_op_of_nvfuser_is_read_and_runs() {
    let session = session();
    let mut wrong = String::new();
    let mut all = Vec::new();
    for definition in definitions() {
        let found = found(&session, &definition, &mut wrong);
        all.push((definition, found));
    }
    assert!(wrong.is_empty(), "{wrong}");
    let known: BTreeSet<&str> = fuser_frontends::nvfuser::op_names().collect();
    let tried: BTreeSet<&str> = all.iter().map(|(d, _)| d.op.as_str()).collect();
    assert_eq!(known, tried);
    let page = page(&all);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/nvfuser.md");
    if std::env::var_os("FUSER_UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let same = std::fs::read_to_string(&path).unwrap_or_default() == page;
    assert!(same, "{}: run with FUSER_UPDATE_DOCS=1", path.display());
    println!("count: {} ops of nvFuser", all.len());
}

/// The stated bound of `lgamma`: in parts of the result, or of 1 where that is smaller.
const LGAMMA_BOUND: f64 = 1.0 / (1_u64 << 46) as f64;

#[test]
fn lgamma_is_within_its_bound() {
    let table = include_str!("lgamma.txt").lines();
    let pairs = table.filter_map(|line| line.split_once(' '));
    let pairs = pairs.filter_map(|(x, y)| Some((x.parse::<f64>().ok()?, y.parse::<f64>().ok()?)));
    let (xs, truths): (Vec<f64>, Vec<f64>) = pairs.unzip();
    let count = xs.len();
    assert!(count > 250, "{count}");
    let definition = format!(
        "def nvfuser_fusion(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[{count}], contiguity=[True], dtype=DataType.Double)
    T1 = fd.ops.lgamma(T0)
    fd.add_output(T1)
"
    );
    let ty = format!("tensor<{count}xf64>");
    let module = format!(
        "func.func public @main(%x: {ty}) -> {ty} {{
  %0 = chlo.lgamma %x : {ty} -> {ty}
  return %0 : {ty}
}}
"
    );
    let session = session();
    for (format, text) in [(Format::NvFuser, definition), (Format::StableHlo, module)] {
        let loaded = load(&session, format, "lgamma", &text).unwrap();
        within_bound(&session, &loaded, &xs, &truths);
    }
}

/// Holds the results of a program to `truths`, in the interpreter and on the CPU.
fn within_bound(session: &Session, loaded: &Loaded, xs: &[f64], truths: &[f64]) {
    let inputs = session
        .resolve(loaded, &Default::default(), &Default::default())
        .unwrap();
    let inputs = Inputs {
        tensors: tensors(session, &inputs.tensors, &[xs.to_vec()]),
        extents: inputs.extents,
    };
    let interpreted = session.interpret(loaded, &inputs).unwrap();
    let run = session.run_cpu(loaded, &inputs, &CompileOptions::default(), 1);
    for outputs in [interpreted.outputs, run.unwrap().outputs] {
        let bytes = outputs[0].bytes().as_chunks::<8>().0;
        let got = bytes.iter().map(|bytes| f64::from_le_bytes(*bytes));
        for ((x, truth), y) in xs.iter().zip(truths).zip(got) {
            let error = (y - truth).abs() / truth.abs().max(1.0);
            assert!(
                error <= LGAMMA_BOUND,
                "lgamma({x:e}) is {y:e}, not {truth:e}"
            );
        }
    }
}
