//! The verifier on programs made by hand: programs that it accepts, and each mistake that text cannot make or that is
//! about structure.

use crate::support::*;
use fuser_dialects::{fusion, task};
use fuser_ir::{DType, Dominance};

const F4: TypeText = t(&["4"], DType::F32);

fn small() -> Program {
    let mut p = Program::new(&[F4, F4]);
    let sum = p.op(&fusion::ADD, &[p.arg(0), p.arg(1)]);
    let y = p.exp(sum);
    p.ret(&[y]);
    p
}

#[test]
fn accepts_a_sound_program() {
    assert_eq!(small().messages(), Vec::<String>::new());
}

#[test]
fn use_before_definition() {
    let mut p = small();
    let ops: Vec<_> = p.ir.block_ops(p.body).collect();
    p.ir.move_before(ops[1], ops[0]);
    assert_eq!(p.codes(), ["FIR0226"]);
    assert!(p.messages()[0].contains("is used before it is defined"));
}

#[test]
fn use_from_outside_of_an_isolated_region() {
    let mut p = small();
    let top = p.ir.body(p.module, 0).unwrap();
    let (_, body) = program(&mut p.ir, top, "g", &[]);
    let x = p.arg(0);
    let ty = p.ir.value_type(x);
    let op = raw(&mut p.ir, "fusion.exp", &[x], &[ty]);
    let end = raw(&mut p.ir, "task.return", &[], &[]);
    p.ir.append_op(body, op);
    p.ir.append_op(body, end);
    // A sibling region does not enclose the use: the message is about visibility.
    assert_eq!(p.codes(), ["FIR0226"]);
}

/// A value of the module's own block, used inside of the isolated program.
#[test]
fn use_through_an_isolated_boundary() {
    let mut p = small();
    let top = p.ir.body(p.module, 0).unwrap();
    let ty = F4.id(&mut p.ir);
    let outer = raw(&mut p.ir, "other.make", &[], &[ty]);
    p.ir.prepend_op(top, outer);
    let first = p.ir.first_op(p.body).unwrap();
    let value = p.ir.result(outer, 0);
    p.ir.set_operand(first, 0, value);
    assert_eq!(p.codes(), ["FIR0227"]);
}

#[test]
fn use_of_an_erased_value_is_a_structural_fault() {
    let mut p = small();
    let first = p.ir.first_op(p.body).unwrap();
    p.ir.erase(first);
    assert_eq!(p.codes(), ["FIR0220"]);
}

#[test]
fn a_detached_definition_is_not_visible() {
    let mut p = small();
    let first = p.ir.first_op(p.body).unwrap();
    p.ir.detach(first);
    assert_eq!(p.codes(), ["FIR0226"]);
}

#[test]
fn terminators() {
    let mut p = small();
    let last = p.ir.last_op(p.body).unwrap();
    p.ir.erase(last);
    assert_eq!(p.codes(), ["FIR0222"]);
    let wrong = raw(&mut p.ir, "task.yield", &[], &[]);
    p.ir.append_op(p.body, wrong);
    assert_eq!(p.codes(), ["FIR0224"]);
    let second = raw(&mut p.ir, "task.return", &[], &[]);
    p.ir.append_op(p.body, second);
    assert_eq!(p.codes()[0], "FIR0223");
}

#[test]
fn regions_without_or_with_too_many_blocks() {
    let mut p = small();
    let region = p.ir.op_regions(p.program)[0];
    let second = p.ir.append_block(region);
    assert_eq!(p.codes(), ["FIR0221", "FIR0222"]);
    p.ir.erase_block(second);
    p.ir.erase_block(p.body);
    assert_eq!(p.codes(), ["FIR0221"]);
}

#[test]
fn symbols_are_unique_and_present() {
    let mut p = small();
    let top = p.ir.body(p.module, 0).unwrap();
    let (again, body) = program(&mut p.ir, top, "f", &[]);
    let end = raw(&mut p.ir, "task.return", &[], &[]);
    p.ir.append_op(body, end);
    assert_eq!(p.codes(), ["FIR0229"]);
    p.ir.remove_attr(again, "sym_name");
    assert_eq!(p.codes(), ["FIR0230"]);
}

#[test]
fn unknown_ops_of_known_dialects_get_a_suggestion() {
    let mut p = small();
    let x = p.arg(0);
    let ty = p.ir.value_type(x);
    let op = raw(&mut p.ir, "fusion.expp", &[x], &[ty]);
    let foreign = raw(&mut p.ir, "tosa.exp", &[x], &[ty]);
    let first = p.ir.first_op(p.body).unwrap();
    p.ir.insert_before(first, op);
    p.ir.insert_before(first, foreign);
    let found = fuser_ir::verify(&mut p.ir, p.module);
    assert_eq!(found.items.len(), 1);
    assert_eq!(found.items[0].code, "FIR0232");
    assert_eq!(found.items[0].helps, ["did you mean `fusion.exp`?"]);
}

#[test]
fn every_mistake_is_reported() {
    let mut p = small();
    let five = t(&["5"], DType::F32).id(&mut p.ir);
    let ops: Vec<_> = p.ir.block_ops(p.body).collect();
    for op in &ops[..2] {
        let result = p.ir.result(*op, 0);
        p.ir.set_value_type(result, five);
    }
    // add: stated type; exp of 5 gives 5; return: the signature says 4.
    assert_eq!(p.codes(), ["FIR0218", "FIR0401"]);
}

/// Ops that differ from a sound one in one respect: each is checked for itself, and a mistake that stands twice is
/// reported twice.
#[test]
fn ops_that_are_nearly_equal_are_checked_one_by_one() {
    let mut p = Program::new(&[F4, t(&["5"], DType::F32)]);
    let (four, five) = (p.arg(0), p.arg(1));
    let [ty, other] = [four, five].map(|value| p.ir.value_type(value));
    let y = p.exp(four);
    let clause = p.ir.int_attr(0);
    for _ in 0..2 {
        for (name, operands, types) in [
            ("fusion.exp", vec![four], vec![ty]),
            ("fusion.exp", vec![four], vec![other]),
            ("fusion.exp", vec![five], vec![ty]),
            ("fusion.exp", vec![four, four], vec![ty]),
            ("fusion.exp", vec![four], vec![ty, ty]),
            ("fusion.add", vec![four], vec![ty]),
        ] {
            let op = raw(&mut p.ir, name, &operands, &types);
            p.ir.append_op(p.body, op);
        }
        let op = raw(&mut p.ir, "fusion.exp", &[four], &[ty]);
        p.ir.set_attr(op, "dims", clause);
        p.ir.append_op(p.body, op);
    }
    p.ret(&[y]);
    let once = [
        "FIR0218", "FIR0218", "FIR0210", "FIR0217", "FIR0210", "FIR0214",
    ];
    assert_eq!(p.codes(), [once, once].concat());
}

#[test]
fn a_note_shows_the_definition() {
    let mut p = small();
    let x = p.arg(0);
    let truth = t(&["4"], DType::I1).id(&mut p.ir);
    p.ir.set_value_type(x, truth);
    let found = fuser_ir::verify(&mut p.ir, p.module);
    let bad = found.items.iter().find(|d| d.code == "FIR0211").unwrap();
    assert_eq!(bad.notes.len(), 1);
    assert!(
        bad.notes[0]
            .message
            .contains("is defined here, a `tensor<4xi1>`")
    );
}

#[test]
fn layouts_may_be_added_to_inferred_types() {
    let mut p = small();
    let first = p.ir.first_op(p.body).unwrap();
    let result = p.ir.result(first, 0);
    let plain = p.ir.value_type(result);
    let ty = fuser_ir::layout::with(&mut p.ir, plain, &[0]);
    p.ir.set_value_type(result, ty);
    assert_eq!(p.codes(), Vec::<&str>::new());
    // An axis that is not there.
    let ty = fuser_ir::layout::with(&mut p.ir, plain, &[1]);
    p.ir.set_value_type(result, ty);
    assert_eq!(p.codes(), ["FIR0235"]);
}

/// entry -> a, b; a -> join; b -> join; join -> a (a loop). Branch ops are of an unknown dialect.
#[test]
fn dominance_between_blocks() {
    let mut p = small();
    let holder = raw(&mut p.ir, "cf.region", &[], &[]);
    let region = p.ir.new_region();
    p.ir.push_region(holder, region);
    let blocks: Vec<_> = (0..5).map(|_| p.ir.append_block(region)).collect();
    let [entry, a, b, join, dead] = blocks[..] else {
        panic!("five blocks")
    };
    let edges = [
        (entry, vec![a, b]),
        (a, vec![join]),
        (b, vec![join]),
        (join, vec![a]),
    ];
    for (from, to) in edges {
        let name = p.ir.op_name("cf.br");
        let new = fuser_ir::NewOp {
            successors: to.into_iter().map(|b| (b, vec![])).collect(),
            ..Default::default()
        };
        let op = p.ir.create(name, new);
        p.ir.append_op(from, op);
    }
    let mut dominance = Dominance::default();
    let mut table = Vec::new();
    for &x in &blocks {
        let row = blocks
            .iter()
            .map(|&y| dominance.block_dominates(&p.ir, x, y));
        table.push(row.map(u8::from).collect::<Vec<_>>());
    }
    let expected = [
        [1, 1, 1, 1, 1],
        [0, 1, 0, 0, 1],
        [0, 0, 1, 0, 1],
        [0, 0, 0, 1, 1],
        [0, 0, 0, 0, 1],
    ];
    assert_eq!(table, expected);
    assert_ne!(dead, join);
}

/// Nested deeper than any stack would hold; each level uses a value of the outermost.
#[test]
fn depth_costs_no_stack_and_no_square() {
    const DEPTH: usize = 100_000;
    let mut p = Program::new(&[F4]);
    let x = p.arg(0);
    let mut block = p.body;
    for _ in 0..DEPTH {
        let region = p.ir.new_region();
        let inner = p.ir.append_block(region);
        let op = raw(&mut p.ir, "other.nest", &[x], &[]);
        p.ir.push_region(op, region);
        p.ir.append_op(block, op);
        block = inner;
    }
    p.ret(&[x]);
    assert_eq!(p.messages(), Vec::<String>::new());
}

#[test]
fn many_ops() {
    const OPS: usize = 200_000;
    let mut p = Program::new(&[F4]);
    let mut x = p.arg(0);
    for _ in 0..OPS {
        x = p.exp(x);
    }
    p.ret(&[x]);
    assert_eq!(p.messages(), Vec::<String>::new());
}

#[test]
fn errors_are_bounded() {
    let mut p = Program::new(&[F4]);
    let x = p.arg(0);
    for _ in 0..fuser_ir::verify::MAX_DIAGNOSTICS + 10 {
        let op = raw(&mut p.ir, "fusion.nonsense", &[x], &[]);
        p.ir.append_op(p.body, op);
    }
    p.ret(&[x]);
    assert_eq!(p.codes().len(), fuser_ir::verify::MAX_DIAGNOSTICS);
}

#[test]
fn phases_stand_in_sweeps() {
    let mut p = Program::new(&[F4]);
    let x = p.arg(0);
    let mut b = p.build();
    let (region, block) = b.region(&[]);
    b.inside(block, |b| b.op(&task::YIELD, &[x], &[]).map(|_| ()))
        .unwrap();
    let phase = b.build(&task::PHASE, &[], &[], &[region], None).unwrap();
    let y = p.ir.result(phase, 0);
    p.ret(&[y]);
    assert_eq!(p.codes(), ["FIR0231"]);
}

#[test]
fn symbols_in_clauses_are_declared() {
    let mut p = small();
    let x = p.arg(0);
    let ty = p.ir.value_type(x);
    let launch = raw(&mut p.ir, "kernel.launch", &[x], &[ty]);
    let callee = p.ir.sym("g");
    let callee = p.ir.attr(fuser_ir::AttrKind::SymbolRef(vec![callee]));
    p.ir.set_attr(launch, "callee", callee);
    let first = p.ir.first_op(p.body).unwrap();
    p.ir.insert_before(first, launch);
    let found = fuser_ir::verify(&mut p.ir, p.module);
    assert_eq!(found.items.len(), 1);
    assert_eq!(found.items[0].code, "FIR0234");
    assert_eq!(found.items[0].helps, ["did you mean `@f`?"]);
    // Verified alone, a program still sees the symbols around it.
    let name = p.ir.sym("f");
    let known = p.ir.attr(fuser_ir::AttrKind::SymbolRef(vec![name]));
    p.ir.set_attr(launch, "callee", known);
    assert!(!fuser_ir::verify(&mut p.ir, p.program).has_errors());
}

#[test]
fn floats_of_8_bits_are_moved_and_cast_and_nothing_else() {
    use fuser_ir::def::OpClass;
    let taken = |def: &fuser_ir::OpDef| {
        let mut operands = def.operands.iter().map(|operand| operand.ty.dtypes);
        operands.any(|set| set.contains(DType::F8E4M3FN))
    };
    for def in fusion::DIALECT.ops {
        // What computes is the lambda; the last element moves.
        let chosen = ["where", "cast", "bitcast", "fold", "scan", "last"]
            .map(|name| format!("fusion.{name}"));
        let computes = match def.class {
            _ if chosen.iter().any(|name| name == def.name) => false,
            OpClass::Elementwise => true,
            OpClass::Reduction
            | OpClass::Scan
            | OpClass::Contraction
            | OpClass::Convolution
            | OpClass::Attention
            | OpClass::Sort
            | OpClass::Routine => true,
            _ => continue,
        };
        assert_eq!(taken(def), !computes, "{}", def.name);
    }
}
