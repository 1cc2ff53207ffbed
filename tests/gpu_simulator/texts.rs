//! Barriers left out of the text of kernels: the interpreter, which runs loops in order, finds that threads have no order then.

use std::collections::BTreeMap;

use fuser::compile::{CompileOptions, Target, lower};
use fuser::session::Session;
use fuser_dialects::{builtin, kernel, task};
use fuser_interp::{Axis, ErrorKind, InterpError, Options, Race, Tensor, interpret};
use fuser_ir::types::{Extent, TypeKind};
use fuser_ir::{Ir, Op, Value};

use super::barriers::input;
use super::programs::{Program, examples};

/// A program lowered for a GPU, and what it runs on.
struct Kernels {
    ir: Ir,
    module: Op,
    inputs: Vec<Tensor>,
    extents: BTreeMap<String, i64>,
}

impl Kernels {
    fn of(program: &Program, target: &str, known: bool) -> Kernels {
        let session = Session::new(Default::default()).unwrap();
        let (mut ir, module, _) = session.parse(0, "f.fir", &program.text).unwrap();
        let lengths = program.extents.iter();
        let shapes = lengths
            .filter(|_| known)
            .map(|(name, n)| (name.clone(), *n as u64));
        let options = CompileOptions {
            target: Target::by_name(&format!("cuda:{target}")).unwrap(),
            shapes: shapes.collect(),
            ..CompileOptions::default()
        };
        lower(&mut ir, module, &options).unwrap();
        let extents: BTreeMap<_, _> = program.extents.iter().cloned().collect();
        let main = only(&ir, module);
        let parameters = ir.args(ir.body(main, 0).unwrap());
        let inputs = parameters
            .iter()
            .map(|&value| tensor(&ir, value, &extents))
            .collect();
        Kernels {
            ir,
            module,
            inputs,
            extents,
        }
    }
    fn barriers(&self) -> Vec<Op> {
        let all = self.ir.walk(self.module).into_iter();
        all.filter(|&op| self.ir.is(op, &kernel::BARRIER)).collect()
    }
    fn run(&self, ir: &Ir) -> Result<(), InterpError> {
        let options = Options {
            extents: self.extents.clone(),
            ..Options::default()
        };
        interpret(ir, only(ir, self.module), &self.inputs, &options).map(drop)
    }
}

fn only(ir: &Ir, module: Op) -> Op {
    assert!(ir.is(module, &builtin::MODULE));
    let mut ops = ir.children(module).into_iter();
    ops.find(|&op| ir.is(op, &task::PROGRAM)).unwrap()
}

fn tensor(ir: &Ir, value: Value, extents: &BTreeMap<String, i64>) -> Tensor {
    let (dims, dtype) = match ir.value_kind(value) {
        TypeKind::Tensor(tensor) => (&tensor.dims[..], tensor.dtype),
        TypeKind::Scalar(dtype) => (&[][..], *dtype),
        _ => panic!("a parameter is neither tensor nor scalar"),
    };
    let axis = |dim: &fuser_ir::Dim| Axis {
        extent: match dim.extent {
            Extent::Static(n) => n as usize,
            other => {
                let known = ir.extent_as_expr(other).unwrap();
                extents[ir.str(known.as_name().unwrap())] as usize
            }
        },
        broadcast: dim.broadcast,
    };
    let axes: Vec<Axis> = dims.iter().map(axis).collect();
    let stored = axes
        .iter()
        .map(|axis| if axis.broadcast { 1 } else { axis.extent });
    let bytes = stored.product::<usize>() * dtype.bytes() as usize;
    Tensor::from_bytes(dtype, axes, &input(bytes)).unwrap()
}

/// Leaves every barrier of a program out, each alone; how many there are, and those that are not found missing.
fn leave_out(program: &Program, target: &str, known: bool) -> (usize, Vec<String>) {
    let kernels = Kernels::of(program, target, known);
    let (mut unseen, barriers) = (Vec::new(), kernels.barriers());
    if !barriers.is_empty() {
        kernels.run(&kernels.ir).unwrap();
    }
    for (number, &barrier) in barriers.iter().enumerate() {
        let mut ir = kernels.ir.clone();
        ir.erase(barrier);
        match kernels.run(&ir) {
            Err(error) => assert!(
                matches!(
                    error.kind,
                    ErrorKind::Race(Race::Elements { .. } | Race::Again)
                ),
                "{}: {error}",
                program.name
            ),
            Ok(()) => unseen.push(format!("{} {number} on {target}", program.name)),
        }
    }
    (barriers.len(), unseen)
}

/// Leaves out every barrier of some programs, lowered for known lengths and for any, all of which must be needed.
fn all_are_found(wanted: impl Fn(&str) -> bool) {
    let mut all = 0;
    for program in examples().iter().filter(|program| wanted(&program.name)) {
        for (target, known) in [("sm_80", true), ("sm_90", true), ("sm_90", false)] {
            let (barriers, unseen) = leave_out(program, target, known);
            assert_eq!(unseen, Vec::<String>::new());
            all += barriers;
        }
    }
    println!("count: {all} barriers of texts that are needed");
    assert!(all > 0);
}

/// Programs that take the interpreter seconds for each barrier.
const LONG: [&str; 6] = [
    "attention_backward",
    "gpt2_block",
    "gpt2_block_backward",
    "layer_norm_backward",
    "llama_block",
    "llama_block_backward",
];

#[test]
fn barriers_of_texts_are_found_missing() {
    all_are_found(|name| !LONG.contains(&name));
}

#[test]
#[ignore = "a minute"]
fn every_barrier_of_texts_is_found_missing() {
    all_are_found(|_| true);
}

/// Sorts by digits: one block for a line, and passes over lines of two tiles.
const SORTS: [(&str, &str); 2] = [
    (
        "block",
        "task.program @block(%x: tensor<2x37xf16>) -> (tensor<2x37xf16>, tensor<2x37xi32>) {\n  \
           %y = fusion.sort %x dim 1\n  \
           %i = fusion.argsort %x dim 1 of i32 descending\n  \
           task.return %y, %i\n\
         }",
    ),
    (
        "passes",
        "task.program @passes(%x: tensor<2200xi8>) -> (tensor<2200xi8>, tensor<2200xi64>) {\n  \
           %y = fusion.sort %x dim 0\n  \
           %i = fusion.argsort %x dim 0 of i64\n  \
           task.return %y, %i\n\
         }",
    ),
];

#[test]
fn barriers_of_sorts_are_found_missing() {
    for (name, text) in SORTS {
        let (barriers, unseen) = leave_out(&Program::new(name, text, name), "sm_90", true);
        assert_eq!((barriers > 0, unseen), (true, Vec::new()), "{name}");
        println!("count: {barriers} barriers of {name}");
    }
}
