//! The task interface, and that boundaries can be drawn and taken away without a trace.

use std::collections::BTreeSet;

use crate::support::*;
use fuser_dialects::fusion::{ADD, SUM};
use fuser_dialects::task::interface::{
    Bindings, Task, boundary_bytes, bytes, evaluate, inputs, is_pure, outputs, uses,
};
use fuser_dialects::task::outline::{Refusal, dissolve, outline};
use fuser_dialects::task::{PATTERN, PHASE, SEGMENT, SWEEP, YIELD};
use fuser_ir::print::{PrintOptions, print};
use fuser_ir::{DType, Ir, Op, OpDef, Value, describe};
use fuser_testing::Kind::{Row, Square};
use fuser_testing::Step::{One, Reduce, Return, Spread, Two};
use fuser_testing::{Random, Squares, Step, parsed};

const F4: TypeText = t(&["4"], DType::F32);

const STEPS: [&[Step]; 5] = [
    &[Reduce("sum")],
    &[Spread],
    &[One(Square, &["exp", "neg"]), One(Row, &["exp", "neg"])],
    &[Two(Square, &["add"])],
    &[Return],
];

/// A random program of `count` ops.
fn random_program(seed: u64, count: usize) -> Program {
    let squares = Squares {
        steps: &STEPS,
        ..Squares::plain(8)
    };
    let (ir, module) = parsed(&squares.text(&mut Random(seed), count));
    let program = ir.children(module)[0];
    let body = ir.body(program, 0).unwrap();
    Program {
        ir,
        module,
        program,
        body,
    }
}

/// Every op in order with depth, operands and results, as entities: they must be the same ones.
fn picture(ir: &Ir, root: Op) -> Vec<String> {
    let ops = ir.walk(root).into_iter();
    ops.map(|op| {
        let depth = std::iter::successors(ir.parent_op(op), |o| ir.parent_op(*o)).count();
        let operands: Vec<Value> = ir.operands(op).collect();
        let names: Vec<_> = ir.results(op).iter().map(|v| ir.value_name(*v)).collect();
        format!(
            "{depth} {} {operands:?} {:?} {names:?}",
            ir.name(op),
            ir.results(op)
        )
    })
    .collect()
}

fn body(p: &Program) -> Vec<Op> {
    let mut ops: Vec<Op> = p.ir.block_ops(p.body).collect();
    ops.pop();
    ops
}

const KINDS: [(&OpDef, Option<&str>); 3] =
    [(&SEGMENT, Some("s")), (&PATTERN, Some("p")), (&SWEEP, None)];

#[test]
fn dissolving_a_slice_leaves_no_trace() {
    for seed in 0..200 {
        let mut random = Random(seed);
        let count = 1 + random.below(33);
        let mut p = random_program(seed, count);
        let before = (picture(&p.ir, p.module), text(&p));
        let ops = body(&p);
        let start = random.below(ops.len());
        let end = start + 1 + random.below(ops.len() - start);
        let (kind, name) = KINDS[random.below(3)];
        let task = outline(&mut p.ir, &ops[start..end], kind, name).unwrap();
        assert_eq!(p.messages(), Vec::<String>::new(), "seed {seed}");
        assert_ne!(text(&p), before.1);
        assert!(dissolve(&mut p.ir, task));
        let after = (picture(&p.ir, p.module), text(&p));
        assert_eq!(after, before, "seed {seed}");
    }
}

fn text(p: &Program) -> String {
    print(&p.ir, p.module, &PrintOptions::canonical())
}

/// A phase in a sweep in a segment, dissolved from the inside and from the outside.
#[test]
fn nested_boundaries_dissolve_in_any_order() {
    for seed in 0..50 {
        let mut random = Random(seed);
        let mut p = random_program(seed, 17);
        let before = picture(&p.ir, p.module);
        let ops = body(&p);
        let phase = outline(&mut p.ir, &ops[5..9], &PHASE, None).unwrap();
        let list = [&ops[3..5], &[phase][..], &ops[9..12]].concat();
        let sweep = outline(&mut p.ir, &list, &SWEEP, None).unwrap();
        let segment = outline(&mut p.ir, &[sweep], &SEGMENT, Some("s")).unwrap();
        assert_eq!(p.messages(), Vec::<String>::new());
        let mut boundaries = vec![phase, sweep, segment];
        while !boundaries.is_empty() {
            let next = boundaries.remove(random.below(boundaries.len()));
            assert!(dissolve(&mut p.ir, next));
        }
        assert_eq!(picture(&p.ir, p.module), before, "seed {seed}");
    }
}

/// Any convex set becomes a valid task; what does not is refused and nothing changes.
#[test]
fn random_sets_are_valid_or_refused() {
    let mut refused = 0;
    for seed in 0..300 {
        let mut random = Random(seed);
        let mut p = random_program(seed, 20);
        let before = picture(&p.ir, p.module);
        let ops: Vec<Op> = body(&p)
            .into_iter()
            .filter(|_| random.below(3) == 0)
            .collect();
        match outline(&mut p.ir, &ops, &SEGMENT, Some("s")) {
            Ok(task) => {
                assert_eq!(p.messages(), Vec::<String>::new(), "seed {seed}");
                assert!(dissolve(&mut p.ir, task));
                assert_eq!(p.messages(), Vec::<String>::new(), "seed {seed}");
                let sorted = |list: Vec<String>| list.into_iter().collect::<BTreeSet<_>>();
                assert_eq!(sorted(picture(&p.ir, p.module)), sorted(before));
            }
            Err(refusal) => {
                refused += usize::from(matches!(refusal, Refusal::NotConvex { .. }));
                assert_eq!(picture(&p.ir, p.module), before);
            }
        }
    }
    assert!(
        (20..280).contains(&refused),
        "{refused} of 300 sets refused: the test is lopsided"
    );
}

#[test]
fn refusals() {
    let mut p = Program::new(&[F4]);
    let a = p.exp(p.arg(0));
    let b = p.exp(a);
    let c = p.op(&ADD, &[a, b]);
    p.ret(&[c]);
    let ops: Vec<Op> = p.ir.block_ops(p.body).collect();
    let mut try_ = |list: &[Op], kind| outline(&mut p.ir, list, kind, Some("s")).unwrap_err();
    assert_eq!(try_(&[], &SEGMENT), Refusal::Empty);
    assert_eq!(try_(&ops[..1], &YIELD), Refusal::NoBoundary);
    assert_eq!(try_(&ops, &SEGMENT), Refusal::Terminator { op: ops[3] });
    assert_eq!(
        try_(&[ops[1], ops[0]], &SEGMENT),
        Refusal::NotInOrder { found: 1 }
    );
    assert_eq!(
        try_(&[ops[0], ops[0]], &SEGMENT),
        Refusal::NotInOrder { found: 1 }
    );
    assert_eq!(
        try_(&[ops[0], ops[2]], &SEGMENT),
        Refusal::NotConvex { op: ops[2] }
    );
    assert!(!dissolve(&mut p.ir, ops[0]));
    assert!(!dissolve(&mut p.ir, p.program));
}

#[test]
fn interface_of_a_list_an_op_a_region_and_a_program() {
    let mut p = Program::new(&[F4, F4]);
    let (x, y) = (p.arg(0), p.arg(1));
    let a = p.op(&ADD, &[y, x]);
    let b = p.op(&ADD, &[a, y]);
    let c = p.exp(b);
    p.ret(&[c, a]);
    let ops = body(&p);
    let list = Task::Ops(&ops[..2]);
    assert_eq!(inputs(&p.ir, list), [y, x]);
    assert_eq!(outputs(&p.ir, list), [a, b]);
    assert_eq!(uses(&p.ir, list, y), [(ops[0], 0), (ops[1], 1)]);
    assert_eq!(inputs(&p.ir, Task::Op(ops[1])), [a, y]);
    assert_eq!(outputs(&p.ir, Task::Op(ops[1])), [b]);
    assert_eq!(inputs(&p.ir, Task::Op(p.program)), []);
    assert_eq!(outputs(&p.ir, Task::Op(p.program)), [c, a]);
    let segment = outline(&mut p.ir, &ops[..2], &SEGMENT, Some("s")).unwrap();
    assert_eq!(inputs(&p.ir, Task::Op(segment)), [y, x]);
    assert_eq!(outputs(&p.ir, Task::Op(segment)), p.ir.results(segment));
    let region = Task::Region(p.ir.op_regions(segment)[0]);
    assert_eq!(inputs(&p.ir, region), [y, x]);
    assert_eq!(outputs(&p.ir, region), [a, b]);
    assert!(is_pure(&p.ir, Task::Op(segment)));
}

#[test]
fn bytes_count_what_is_stored() {
    let types = [
        (t(&["N", "3"], DType::BF16), "6*N"),
        (t(&["N", "b8"], DType::F32), "4*N"),
        (t(&["b0", "b7"], DType::F64), "8"),
        (t(&["0", "7"], DType::F64), "0"),
        (t(&[], DType::F64), "8"),
        (s(DType::F32), "4"),
        (t(&["N", "M", "N"], DType::I1), "M*N*N"),
        (t(&["?"], DType::F32), "none"),
        (t(&["b?"], DType::F32), "4"),
        (t(&["9223372036854775807", "2"], DType::I8), "none"),
    ];
    for (ty, expected) in types {
        let mut p = Program::new(&[ty]);
        // Names are sorted in the order in which they were first used: make that order N, M in all cases.
        let got = bytes(&p.ir, p.arg(0)).map_or("none".into(), |e| describe::expr(&p.ir, &e));
        let sorted = |text: &str| text.split('*').map(str::to_owned).collect::<BTreeSet<_>>();
        assert_eq!(sorted(&got), sorted(expected));
        assert_eq!(got.len(), expected.len());
        p.ret(&[]);
    }
}

#[test]
fn bytes_across_a_boundary() {
    let mut p = Program::new(&[t(&["N", "1024"], DType::F32)]);
    let x = p.arg(0);
    let e = p.exp(x);
    let mut b = p.build();
    let dims = b.ints("dims", &[1]);
    let y = b.value(&SUM, &[e], &[dims]).unwrap();
    p.ret(&[y]);
    let ops = body(&p);
    let n = p.ir.sym("N");
    let bound: Bindings = [(n, 7)].into();
    assert_eq!(
        boundary_bytes(&p.ir, Task::Ops(&ops), &bound),
        Some(4 * 7 * 1024 + 4 * 7)
    );
    assert_eq!(
        boundary_bytes(&p.ir, Task::Ops(&ops), &Bindings::new()),
        None
    );
    let huge: Bindings = [(n, u64::MAX)].into();
    assert_eq!(boundary_bytes(&p.ir, Task::Ops(&ops), &huge), None);
    assert_eq!(evaluate(&bytes(&p.ir, y).unwrap(), &bound), Some(28));
}
