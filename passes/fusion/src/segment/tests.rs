//! Segmentation of small programs, compared as lists of the groups' values.

use fuser_analysis::cost::{Copies, Limits, Model, plan_ops};
use fuser_ir::Value;
use fuser_testing::*;

use super::*;

mod labels;
mod reshapes;

fn with_model(b: &Builder, model: Model, options: Options) -> (String, Segmentation, Planner) {
    let mut planner = Planner::new(model);
    let (graph, result) = segment(&b.ir, b.block, &mut planner, &options);
    let name = |&m: &u32| {
        let op = graph.ops[m as usize];
        b.ir.value_name(b.ir.result(op, 0))
            .unwrap_or("_")
            .to_owned()
    };
    let groups = result.groups.iter();
    let texts = groups.map(|g| g.members.iter().map(name).collect::<Vec<_>>().join(" "));
    let text = texts.collect::<Vec<_>>().join(" | ");
    (text, result, planner)
}

fn groups(b: &mut Builder, outputs: &[Value]) -> String {
    b.ret(outputs);
    with_model(b, Model::default(), Options::default()).0
}

#[test]
fn what_shares_nothing_stays_apart() {
    let mut b = Builder::default();
    let a = b.input("a", "10x20xf32");
    let c = b.input("c", "15xf32");
    let p = b.pw("p", &[a], "10x20xf32");
    let q = b.pw("q", &[c], "15xf32");
    assert_eq!(groups(&mut b, &[p, q]), "p | q");
}

#[test]
fn a_barrier_sits_with_its_producer() {
    let mut b = Builder::default();
    let x = b.input("x", "32x64xf64");
    let r = b.pw("r", &[x], "32x64xf64");
    let s = b.op(&SET, "s", &[r], &[], "32x64xf64");
    let n = b.pw("n", &[s], "32x64xf64");
    assert_eq!(groups(&mut b, &[n]), "r s | n");
}

#[test]
fn two_barriers_of_one_value_store_it_once() {
    let mut b = Builder::default();
    let x = b.input("x", "8xf32");
    let t = b.pw("t", &[x, x], "8xf32");
    let s = b.op(&SET, "s", &[t], &[], "8xf32");
    let u = b.op(&SET, "u", &[t], &[], "8xf32");
    let y = b.pw("y", &[s, u], "8xf32");
    assert_eq!(groups(&mut b, &[y]), "t | s u | y");
}

#[test]
fn siblings_that_read_one_tensor_share_a_kernel() {
    let mut b = Builder::default();
    let x = b.input("x", "512x300xf32");
    let n = b.pw("n", &[x], "512x300xf32");
    let p = b.op(&SUM, "p", &[n], &[0], "300xf32");
    let q = b.op(&SUM, "q", &[n], &[1], "512xf32");
    assert_eq!(groups(&mut b, &[p, q]), "n p q");
}

#[test]
fn a_self_mapped_tensor_is_read_by_two_kernels_if_it_is_computed() {
    let program = |computed: bool| {
        let mut b = Builder::default();
        let x = b.input("x", "5x5xf32");
        let t = match computed {
            true => b.pw("t", &[x], "5x5xf32"),
            false => x,
        };
        let p = b.op(&PERMUTE, "p", &[t], &[1, 0], "5x5xf32");
        let y = b.pw("y", &[t, p], "5x5xf32");
        groups(&mut b, &[y])
    };
    assert_eq!(program(true), "t p | y");
    assert_eq!(program(false), "p y");
}

#[test]
fn factorings_that_do_not_meet_are_cut() {
    let mut b = Builder::default();
    let x = b.input("x", "24xf32");
    let p = b.op(&RESHAPE, "p", &[x], &[], "6x4xf32");
    let s = b.pw("s", &[p], "6x4xf32");
    let q = b.op(&RESHAPE, "q", &[x], &[], "4x6xf32");
    let c = b.pw("c", &[q], "4x6xf32");
    b.ret(&[s, c]);
    let (text, result, _) = with_model(&b, Model::default(), Options::default());
    assert_eq!(text, "p s | q c");
    let whole = result.records[0].render(&b.ir);
    assert_eq!(
        whole,
        "component %c refused incompatible-factoring { at: %q, known: [6, 4], wanted: [4, 6] }"
    );
}

#[test]
fn an_output_that_renames_memory_is_a_view() {
    let mut b = Builder::default();
    let x = b.input("x", "6x4xf32");
    let y = b.pw("y", &[x], "6x4xf32");
    let v = b.op(&RESHAPE, "v", &[y], &[], "24xf32");
    let w = b.op(&RESHAPE, "w", &[v], &[], "3x8xf32");
    b.ret(&[y, w]);
    let (text, result, _) = with_model(&b, Model::default(), Options::default());
    assert_eq!(text, "y | v w");
    let last = result.groups[1].cost_result.as_ref().expect("planned");
    assert_eq!(last.kind, fuser_analysis::cost::Kind::View);
}

#[test]
fn what_is_made_from_nothing_belongs_to_nobody() {
    let mut b = Builder::default();
    let x = b.input("x", "8xf32");
    let f = b.op(&FULL, "f", &[], &[], "8xf32");
    let p = b.pw("p", &[x, f], "8xf32");
    let s = b.op(&SET, "s", &[p], &[], "8xf32");
    let y = b.pw("y", &[s, f], "8xf32");
    assert_eq!(groups(&mut b, &[y]), "p s | y");
}

#[test]
fn hints_are_kept() {
    let mut b = Builder::default();
    let x = b.input("x", "8xf32");
    let p = b.pw("p", &[x], "8xf32");
    let q = b.pw("q", &[p], "8xf32");
    b.hint("apart");
    let r = b.pw("r", &[q], "8xf32");
    b.hint("barrier");
    let y = b.pw("y", &[r, x], "8xf32");
    assert_eq!(groups(&mut b, &[y]), "p | q | r | y");
}

#[test]
fn a_hint_that_cannot_be_kept_is_told() {
    let mut b = Builder::default();
    let x = b.input("x", "8xf32");
    let p = b.pw("p", &[x], "8xf32");
    b.hint("together:a");
    let s = b.op(&SET, "s", &[p], &[], "8xf32");
    let y = b.pw("y", &[s], "8xf32");
    b.hint("together:a");
    b.ret(&[y]);
    let (_, result, _) = with_model(&b, Model::default(), Options::default());
    assert_eq!(result.broken_hints.len(), 1);
}

fn chain(length: usize) -> Builder {
    let mut b = Builder::default();
    let mut x = b.input("x", "[N]xf32");
    for _ in 0..length {
        x = b.pw("y", &[x], "[N]xf32");
    }
    b.ret(&[x]);
    b
}

#[test]
fn a_chain_longer_than_a_kernel_may_be_is_cut_into_few() {
    let b = chain(100);
    let model = Model {
        limits: Limits {
            ops: 16,
            ..Limits::default()
        },
        ..Model::default()
    };
    let (_, result, _) = with_model(&b, model, Options::default());
    let count = result.groups.len();
    assert!((7..=13).contains(&count), "{count} groups");
    assert!(result.groups.iter().all(|g| g.members.len() <= 16));
}

#[test]
fn drawing_moves_ops_and_copies_what_is_shared() {
    let mut b = Builder::default();
    let x = b.input("x", "8xf32");
    let f = b.op(&FULL, "f", &[], &[], "8xf32");
    let p = b.pw("p", &[x, f], "8xf32");
    let y = b.pw("y", &[p, f], "8xf32");
    b.ret(&[y]);
    let draws = [
        Draw {
            name: "s0".into(),
            kind: "kernel",
            ops: vec![b.ops[0], b.ops[1]],
        },
        Draw {
            name: "s1".into(),
            kind: "kernel",
            ops: vec![b.ops[0], b.ops[2]],
        },
    ];
    let shared = [b.ops[0]];
    let segments = draw(&mut b.ir, b.block, &draws, &shared);
    assert!(b.ir.is_erased(b.ops[0]));
    let names: Vec<Vec<&str>> = segments
        .iter()
        .map(|&s| {
            b.ir.children(s)
                .into_iter()
                .map(|op| b.ir.name(op))
                .collect()
        })
        .collect();
    assert_eq!(names[0], ["test.full", "test.pw", "task.yield"]);
    assert_eq!(names[1], ["test.full", "test.pw", "task.yield"]);
    let end =
        b.ir.terminator(b.block)
            .or(b.ir.last_op(b.block))
            .expect("ends");
    assert_eq!(b.ir.operand(end, 0), b.ir.result(segments[1], 0));
    assert_eq!(b.ir.value_name(b.ir.result(segments[0], 0)), Some("p"));
    assert_eq!(b.ir.operand(b.ops[2], 0), b.ir.result(segments[0], 0));
}

/// Refines `given`, lists of ops by number; a star marks a copy.
fn refined(b: &mut Builder, outputs: &[Value], given: &[&[u32]]) -> (String, Vec<Record>) {
    b.ret(outputs);
    let mut planner = Planner::new(Model::default());
    let graph = Graph::build(&b.ir, b.block, &planner.model.bindings);
    let groups = given.iter().map(|members| Group {
        members: members.to_vec(),
        cost_result: planner.evaluate(&b.ir, &graph, members).ok(),
        ..Group::default()
    });
    let groups = groups.collect();
    let options = Options::default();
    let mut search = search::Search::new(&b.ir, &graph, &mut planner, &options);
    let groups = refine::refine(&mut search, groups);
    let records = search.records;
    let name = |op: u32| b.ir.value_name(b.ir.result(graph.ops[op as usize], 0));
    let text = |group: &Group| {
        let computed = group.computed().into_iter().map(|op| {
            let star = if group.copies.contains(&op) { "*" } else { "" };
            format!("{}{star}", name(op).unwrap_or("_"))
        });
        computed.collect::<Vec<_>>().join(" ")
    };
    let texts: Vec<String> = groups.iter().map(text).collect();
    (texts.join(" | "), records)
}

/// A cut that must stay: a sum of a square and its transpose has no single iteration space.
fn square(b: &mut Builder, x: Value, wide: &str) -> (Value, Value) {
    let w = b.pw("w", &[x], wide);
    let p = b.op(&PERMUTE, "p", &[w], &[1, 0], wide);
    (w, p)
}

#[test]
fn a_wide_value_is_computed_on_both_sides_rather_than_stored() {
    let mut b = Builder::default();
    let x = b.input("x", "512x512xbf16");
    let (w, p) = square(&mut b, x, "512x512xf32");
    let y = b.pw("y", &[w, p], "512x512xf32");
    let (text, records) = refined(&mut b, &[y], &[&[0, 1], &[2]]);
    assert_eq!(text, "w p | w* y");
    let accepted: Vec<&Record> = records.iter().filter(|r| r.refusal.is_none()).collect();
    assert_eq!(
        accepted[0].render(&b.ir),
        "copy %w -> %y accepted bytes 5767168 -> 4194304 launches 2 -> 2"
    );
}

#[test]
fn an_op_moves_to_the_side_where_less_crosses() {
    let mut b = Builder::default();
    let x = b.input("x", "512x512xf32");
    let (w, p) = square(&mut b, x, "512x512xf32");
    let n = b.pw("n", &[p], "512x512xbf16");
    let y = b.pw("y", &[x, n], "512x512xf32");
    // As if merging had left the transpose of a result before the cut, and, next, the widening of one.
    let (text, _) = refined(&mut b, &[y, w], &[&[0, 1], &[2, 3]]);
    assert_eq!(text, "w | p n y");
    let mut b = Builder::default();
    let x = b.input("x", "512x512xbf16");
    let h = b.pw("h", &[x, x], "512x512xbf16");
    let p = b.op(&PERMUTE, "p", &[h], &[1, 0], "512x512xbf16");
    let w = b.pw("w", &[p], "512x512xf32");
    let y = b.pw("y", &[h, w], "512x512xf32");
    let (text, _) = refined(&mut b, &[y], &[&[0, 1, 2], &[3]]);
    assert!(text.ends_with("w y"), "{text}");
}

#[test]
fn a_row_of_ops_moves_together() {
    // Each step alone leaves as many bytes between; all three together leave half.
    let mut b = Builder::default();
    let x = b.input("x", "512x512xbf16");
    let h = b.pw("h", &[x, x], "512x512xbf16");
    let p = b.op(&PERMUTE, "p", &[h], &[1, 0], "512x512xbf16");
    let w = b.pw("w", &[p], "512x512xf32");
    let e = b.pw("e", &[w], "512x512xf32");
    let f = b.pw("f", &[e], "512x512xf32");
    let z = b.input("z", "512x512xf32");
    let y = b.pw("y", &[z, f, h], "512x512xf32");
    let (text, _) = refined(&mut b, &[y], &[&[0, 1, 2, 3, 4], &[5]]);
    assert!(text.ends_with("w e f y"), "{text}");
}

#[test]
fn what_hints_or_boundaries_hold_does_not_move() {
    let mut b = Builder::default();
    let x = b.input("x", "512x512xbf16");
    let (w, p) = square(&mut b, x, "512x512xf32");
    b.hint("together:a");
    let y = b.pw("y", &[w, p], "512x512xf32");
    // `w` may be copied, `p` may not.
    let (text, _) = refined(&mut b, &[y], &[&[0, 1], &[2]]);
    assert_eq!(text, "w p | w* y");
    let mut b = Builder::default();
    let x = b.input("x", "512x512xbf16");
    let w = b.pw("w", &[x], "512x512xf32");
    let s = b.op(&SET, "s", &[w], &[], "512x512xf32");
    let y = b.pw("y", &[s], "512x512xf32");
    let (text, _) = refined(&mut b, &[y], &[&[0, 1], &[2]]);
    assert_eq!(text, "w s | y");
}

#[test]
fn a_reduction_is_never_copied() {
    let mut b = Builder::default();
    let x = b.input("x", "512x512xf32");
    let s = b.op(&SUM, "s", &[x], &[1], "512xf32");
    let p = b.op(&PERMUTE, "p", &[x], &[1, 0], "512x512xf32");
    let y = b.pw("y", &[p], "512x512xf32");
    let z = b.pw("z", &[s], "512xf32");
    let (text, _) = refined(&mut b, &[y, z, p], &[&[0, 1, 2], &[3]]);
    assert!(!text.contains("s*"), "{text}");
}

/// Three ranges of ten ops, separated by boundaries.
fn ranges() -> Builder {
    let mut b = Builder::default();
    let mut x = b.input("x", "512xf32");
    for _ in 0..3 {
        for _ in 0..9 {
            x = b.pw("y", &[x], "512xf32");
        }
        x = b.op(&SET, "s", &[x], &[], "512xf32");
    }
    b.ret(&[x]);
    b
}

#[test]
fn what_is_accepted_whole_is_not_asked_about_again() {
    let b = ranges();
    let (_, result, planner) = with_model(&b, Model::default(), Options::default());
    assert_eq!((result.groups.len(), planner.questions), (3, 3));
    let bottom_up = Options {
        top_down: false,
        ..Options::default()
    };
    let (_, result, planner) = with_model(&b, Model::default(), bottom_up);
    assert_eq!(result.groups.len(), 3);
    assert!(planner.questions >= 30, "{} questions", planner.questions);
}

#[test]
fn only_what_fails_is_taken_apart() {
    let mut b = Builder::default();
    let x = b.input("x", "512x512xf32");
    let h = b.pw("h", &[x], "512x512xf32");
    let s = b.op(&SET, "s", &[h], &[], "512x512xf32");
    // A square and its transpose: no single iteration space.
    let p = b.op(&PERMUTE, "p", &[s], &[1, 0], "512x512xf32");
    let y = b.pw("y", &[s, p], "512x512xf32");
    b.ret(&[y]);
    let (text, result, _) = with_model(&b, Model::default(), Options::default());
    assert_eq!(text, "h s | p | y");
    let settled: Vec<bool> = result.groups.iter().map(|g| g.settled).collect();
    assert_eq!(settled, [true, false, false]);
    let whole = result
        .records
        .iter()
        .filter(|r| r.action == Action::Component);
    let failed: Vec<bool> = whole.map(|r| r.refusal.is_some()).collect();
    assert_eq!(failed, [false, true]);
}

#[test]
fn the_objective_decides() {
    // A column sum that a later op needs: one kernel walks the matrix twice, two walk it once each and exchange a row.
    let program = || {
        let mut b = Builder::default();
        let x = b.input("x", "4096x1024xf32");
        let z = b.input("z", "4096x1024xf32");
        let s = b.op(&SUM, "s", &[x], &[0], "1024xf32");
        let sb = b.op(&BROADCAST, "sb", &[s], &[1], "b4096x1024xf32");
        let y = b.pw("y", &[z, sb], "4096x1024xf32");
        b.ret(&[y]);
        b
    };
    let cost = |objective| {
        let b = program();
        let model = Model {
            objective,
            ..Model::default()
        };
        let mut planner = Planner::new(model);
        let (graph, result) = segment(&b.ir, b.block, &mut planner, &Options::default());
        result.cost(&graph, &planner)
    };
    use fuser_analysis::cost::Objective::{Bytes, Kernels, Time};
    let (bytes, time, kernels) = (cost(Bytes), cost(Time), cost(Kernels));
    assert!(bytes.bytes() <= time.bytes() && bytes.bytes() <= kernels.bytes());
    assert!(time.time_ns <= bytes.time_ns && time.time_ns <= kernels.time_ns);
    assert_eq!(kernels.kernels, 1);
}

/// Layers of a transformer without its products: normalize rows, scale, add, keep.
fn layers(count: usize) -> Builder {
    let mut b = Builder::default();
    let mut x = b.input("x", "4096x1024xf32");
    for _ in 0..count {
        let w = b.input("w", "1024xf32");
        let s = b.op(&SUM, "s", &[x], &[1], "4096xf32");
        let sb = b.op(&BROADCAST, "sb", &[s], &[0], "4096xb1024xf32");
        let d = b.pw("d", &[x, sb], "4096x1024xf32");
        let q = b.pw("q", &[d, d], "4096x1024xf32");
        let v = b.op(&SUM, "v", &[q], &[1], "4096xf32");
        let vb = b.op(&BROADCAST, "vb", &[v], &[0], "4096xb1024xf32");
        let n = b.pw("n", &[d, vb], "4096x1024xf32");
        let wb = b.op(&BROADCAST, "wb", &[w], &[1], "b4096x1024xf32");
        let y = b.pw("y", &[n, wb], "4096x1024xf32");
        let set = b.op(&SET, "set", &[y], &[], "4096x1024xf32");
        x = b.pw("r", &[set, x], "4096x1024xf32");
    }
    b.ret(&[x]);
    b
}

/// A tree of sums: each op reads two earlier values.
fn tree(leaves: usize) -> Builder {
    let mut b = Builder::default();
    let mut row: Vec<Value> = (0..leaves).map(|_| b.input("x", "33x65xf32")).collect();
    while row.len() > 1 {
        let pairs: Vec<Vec<Value>> = row.chunks(2).map(<[Value]>::to_vec).collect();
        row = pairs.iter().map(|p| b.pw("t", p, "33x65xf32")).collect();
    }
    b.ret(&row);
    b
}

/// Steps that cannot share a kernel: each adds a square to its transpose.
fn transposes(count: usize) -> Builder {
    let mut b = Builder::default();
    let mut x = b.input("x", "512x512xf32");
    for _ in 0..count {
        let p = b.op(&PERMUTE, "p", &[x], &[1, 0], "512x512xf32");
        let e = b.pw("e", &[p], "512x512xf32");
        x = b.pw("a", &[x, e], "512x512xf32");
    }
    b.ret(&[x]);
    b
}

fn work(b: &Builder) -> u64 {
    let (_, _, planner) = with_model(b, Model::default(), Options::default());
    planner.planned_ops + planner.questions
}

#[test]
fn work_grows_little_faster_than_the_program() {
    let check = |name: &str, program: fn(usize) -> Builder, size: usize| {
        let (small, large) = (work(&program(size)), work(&program(2 * size)));
        assert!(large * 10 <= small * 22, "{name}: {small} -> {large}");
    };
    check("chain", chain, 4096);
    check("tree", tree, 6000);
    check("layers", layers, 200);
    check("transposes", transposes, 300);
}

/// A sum of inputs, and one more op on each input. Each of these ops saves a load in the kernel of the sum.
fn sum_and_users(count: usize) -> Builder {
    let mut b = Builder::default();
    let all: Vec<Value> = (0..count)
        .map(|n| b.input(&format!("x{n}"), "64x64xf32"))
        .collect();
    let mut sum = all[0];
    for (n, &x) in all.iter().enumerate().skip(1) {
        sum = b.pw(&format!("s{n}"), &[sum, x], "64x64xf32");
    }
    let users = all.iter().enumerate();
    let users = users.map(|(n, &x)| b.pw(&format!("y{n}"), &[x, x], "64x64xf32"));
    let mut outputs: Vec<Value> = users.collect();
    outputs.push(sum);
    b.ret(&outputs);
    b
}

#[test]
fn neighbours_that_gain_the_same_are_taken_in_at_once() {
    let options = Options {
        top_down: false,
        ..Options::default()
    };
    let count = 200;
    let (_, result, planner) = with_model(&sum_and_users(count), Model::default(), options);
    assert_eq!(result.groups.len(), 1);
    // Absorbed one by one, each of the 200 neighbours would take a plan of 200 to 400 ops.
    let (planned, most) = (planner.planned_ops, 40 * count as u64);
    assert!(planned < most, "{planned} ops planned");
}

#[test]
fn a_layer_is_one_kernel_and_equal_layers_are_asked_about_once() {
    let b = layers(30);
    let (_, result, planner) = with_model(&b, Model::default(), Options::default());
    assert_eq!(result.groups.len(), 31);
    // Each layer is asked about with its neighbours too: the first, the last and those between make a few kinds of
    // groups, however many layers there are.
    let plans = |n: usize| {
        with_model(&layers(n), Model::default(), Options::default())
            .2
            .plans
    };
    assert_eq!(planner.plans, plans(120));
    assert!(planner.plans < 16, "{} plans", planner.plans);
}

/// A stack of `pieces` and two products of the stack; each piece is also used in a product through another view. No
/// grouping costs less than the one that merging finds, and the lower bounds prove it.
fn stack(pieces: usize) -> Builder {
    let each = |text: &dyn Fn(usize) -> String| (0..pieces).map(text).collect::<String>();
    let list = |name: &str| {
        let all: Vec<String> = (0..pieces).map(|n| format!("%{name}{n}")).collect();
        all.join(", ")
    };
    let total = 4 * pieces;
    let inputs = each(&|n| format!("%x{n}: tensor<4x16xf32>, "));
    let views = each(&|n| {
        format!(
            "  %p{n} = fusion.broadcast %x{n} dims [1, 2] shape [1, 4, 16]\n  \
             %v{n} = fusion.reshape %p{n} shape [4, 16]\n  \
             %o{n} = fusion.matmul %v{n}, %w\n"
        )
    });
    let types = "tensor<4x16xf32>, ".repeat(pieces);
    Builder::of(&format!(
        "task.program @f({inputs}%w: tensor<16x16xf32>) -> ({types}tensor<16x16xf32>) {{\n{views}  \
         %c = fusion.cat {} dim 0\n  \
         %m = fusion.reshape %c shape [{total}, 16]\n  \
         %a = fusion.matmul %m, %w\n  \
         %s = fusion.mul %a, %a\n  \
         %t = fusion.permute %m dims [1, 0]\n  \
         %y = fusion.matmul %t, %s\n  \
         task.return {}, %y\n}}\n",
        list("p"),
        list("o")
    ))
}

#[test]
fn what_no_grouping_can_lower_is_not_tried() {
    let (groups, _, planner) = with_model(&stack(6), Model::default(), Options::default());
    let views = "p0 v0 p1 v1 p2 v2 p3 v3 p4 v4 p5 v5 c m t";
    let rest = "o0 | o1 | o2 | o3 | o4 | o5 | a | s | y";
    assert_eq!(groups, format!("{views} | {rest}"));
    assert!(planner.plans < 16, "{} plans", planner.plans);
}

/// Each slice of a value is evaluated with its adjacent slices only, and all become one group.
#[test]
fn slices_of_one_value_are_asked_about_with_those_beside_them() {
    let rows = 48;
    let slice = |n: usize| {
        format!(
            "  %s{n} = fusion.slice %x starts [{n}, {n}] shape [1, 512]\n  %y{n} = fusion.exp %s{n}\n"
        )
    };
    let names: Vec<String> = (0..rows).map(|n| format!("%y{n}")).collect();
    let types = vec!["tensor<1x512xf32>"; rows].join(", ");
    let b = Builder::of(&format!(
        "task.program @f(%x: tensor<64x1024xf32>) -> ({types}) {{\n{}  task.return {}\n}}\n",
        (0..rows).map(slice).collect::<String>(),
        names.join(", ")
    ));
    let bottom_up = Options {
        top_down: false,
        ..Options::default()
    };
    let (_, result, planner) = with_model(&b, Model::default(), bottom_up);
    assert_eq!(result.groups.len(), 1);
    assert!(planner.plans < 512, "{} plans", planner.plans);
}

/// One program with three declarations of its middle op; only the table row differs.
#[test]
fn a_changed_declaration_changes_the_groups() {
    let program = |middle: &'static fuser_ir::OpDef| {
        let mut b = Builder::default();
        let x = b.input("x", "512xf32");
        let a = b.pw("a", &[x], "512xf32");
        let m = b.op(middle, "m", &[a], &[], "512xf32");
        let y = b.pw("y", &[m], "512xf32");
        groups(&mut b, &[y])
    };
    assert_eq!(program(&PW), "a m y");
    assert_eq!(program(&LOOKUP), "a | m y");
    assert_eq!(program(&KEPT), "a m | y");
}

/// A search that begins with whole components asks fewer questions than one that begins with single ops.
#[test]
fn whole_groups_first_take_fewer_questions() {
    let questions = |seed: u64, top_down: bool| {
        let b = random(seed, 12);
        let options = Options {
            top_down,
            restarts: false,
            refine: false,
            ..Options::default()
        };
        with_model(&b, Model::default(), options).2.questions
    };
    let all = |top_down: bool| (0..200).map(|seed| questions(seed, top_down)).sum::<u64>();
    let (down, up) = (all(true), all(false));
    assert!(down < up, "{down} questions, {up} bottom-up");
}

/// A program, found by random search, without refinement: single merges end at a higher cost than whole components.
#[test]
fn whole_groups_first_find_what_single_merges_do_not() {
    let text = "task.program @f(%x: tensor<512x512xf32>, %z: tensor<512x512xf32>)
          -> (tensor<512x512xf32>, tensor<512x512xf32>, tensor<512xf32>, tensor<512x512xf32>) {
        %s = fusion.sum %x dims [1]
        %twice = fusion.add %z, %z
        %turned = fusion.permute %z dims [1, 0]
        %kept = fusion.segment_set %s
        %spread = fusion.broadcast %s dims [0] shape [512, 512]
        %y = fusion.mul %x, %spread
        task.return %twice, %turned, %kept, %y
    }";
    let bytes = |top_down: bool| {
        let b = Builder::of(text);
        let options = Options {
            top_down,
            restarts: false,
            refine: false,
            ..Options::default()
        };
        let mut planner = Planner::new(Model::default());
        let (graph, result) = segment(&b.ir, b.block, &mut planner, &options);
        result.cost(&graph, &planner).bytes()
    };
    let (down, up) = (bytes(true), bytes(false));
    // The other grouping reads the square from which the sum is computed twice.
    assert_eq!((down, up), (5_244_928, 5_244_928 + 1_050_624));
}

/// A program of up to `most` ops: transposes and boundaries force cuts.
fn random(seed: u64, most: usize) -> Builder {
    let mut random = Random(seed);
    let ops = 3 + random.below(most - 3);
    Squares::cut(512).block(&mut random, ops)
}

/// The gaps between the search and the optimum over partitions, sorted. Copies can be better than any partition: their
/// gaps are below 0.
fn gaps(programs: std::ops::Range<u64>, most: usize) -> Vec<f64> {
    let gap = |seed: u64| {
        let cost = |exact: bool| {
            let b = random(seed, most);
            let options = Options {
                exact,
                ..Options::default()
            };
            let mut planner = Planner::new(Model::default());
            let (graph, result) = segment(&b.ir, b.block, &mut planner, &options);
            result.cost(&graph, &planner).bytes()
        };
        let (best, found) = (cost(true), cost(false));
        // A program of views moves nothing.
        let gap = match found == best {
            true => 0.0,
            false => found as f64 / best as f64 - 1.0,
        };
        if gap > 0.02 {
            println!("seed {seed}: {found} bytes, {best} are possible");
        }
        gap
    };
    let mut gaps: Vec<f64> = programs.map(gap).collect();
    gaps.sort_by(f64::total_cmp);
    let at = |percent: usize| gaps[(gaps.len() - 1) * percent / 100].max(0.0);
    println!(
        "gap to the optimum: median {:.4}, 99th percentile {:.4}, worst {:.4}; above it {}, below it by copies {}, of {}",
        at(50),
        at(99),
        at(100),
        gaps.iter().filter(|g| **g > 0.0).count(),
        gaps.iter().filter(|g| **g < 0.0).count(),
        gaps.len()
    );
    println!("count: {} random programs segmented", gaps.len());
    gaps
}

/// Programs with few ops get the optimum over their partitions.
#[test]
fn few_ops_get_the_optimum() {
    let gaps = gaps(0..150, 10);
    assert!(gaps.iter().all(|&gap| gap <= 0.0), "{gaps:?}");
}

/// A kernel for `e` and `t` moves nothing twice, but writes both `e` and its copy `t`, since both cross the boundary.
/// As a view the copy costs nothing.
#[test]
fn a_copy_of_what_crosses_anyway_is_a_view() {
    let mut b = Builder::default();
    let x = b.input("x", "512x512xf32");
    let e = b.pw("e", &[x], "512x512xf32");
    let t = b.op(&SET, "t", &[e], &[], "512x512xf32");
    let p = b.op(&PERMUTE, "p", &[e], &[1, 0], "512x512xf32");
    let y = b.pw("y", &[t, p], "512x512xf32");
    b.ret(&[y]);
    let mut planner = Planner::new(Model::default());
    let (graph, result) = segment(&b.ir, b.block, &mut planner, &Options::default());
    // `x` read, `e` written; both names of it read, `y` written.
    assert!(result.cost(&graph, &planner).bytes() <= 5 * 512 * 512 * 4);
}

#[test]
fn little_work_is_spent_on_small_components_of_a_large_program() {
    // Each step cannot share a kernel with the next, but for its component: one of many ops, then many of few.
    let spent = |count: usize| {
        let mut b = Builder::default();
        let mut outputs = Vec::new();
        for _ in 0..count {
            let mut x = b.input("x", "512x512xf32");
            for _ in 0..4 {
                let p = b.op(&PERMUTE, "p", &[x], &[1, 0], "512x512xf32");
                let e = b.pw("e", &[p], "512x512xf32");
                x = b.pw("a", &[x, e], "512x512xf32");
            }
            outputs.push(x);
        }
        b.ret(&outputs);
        let work = |restarts: bool| {
            let options = Options {
                restarts,
                ..Options::default()
            };
            with_model(&b, Model::default(), options).2.work()
        };
        work(true) - work(false)
    };
    let (few, many) = (spent(20), spent(400));
    assert!(few > 20 * 12 * 4, "{few} ops for 20 components");
    // 4096 and eight for each of 4800 ops, and what one component asks beyond that.
    assert!(many <= 4096 + 8 * 4800 + 1024, "{many} ops for 400");
}

/// `cargo test --release -p fuser-fusion --lib -- --ignored --nocapture thousand`
#[test]
#[ignore = "a thousand programs"]
fn a_thousand_programs_of_up_to_14_ops_are_near_the_optimum() {
    let gaps = gaps(0..1000, 14);
    assert!(gaps.iter().all(|&gap| gap <= 0.0), "{gaps:?}");
}

/// The search adds up costs of groups before they are drawn, and some ops are in several groups. This test prices the
/// drawn segments one by one, from the IR alone.
#[test]
fn the_search_says_what_the_segments_cost() {
    let mut wrong = Vec::new();
    let mut copied = 0;
    for seed in 0..400 {
        let mut b = random(seed, 14);
        let mut planner = Planner::new(Model::default());
        let (graph, result) = segment(&b.ir, b.block, &mut planner, &Options::default());
        let said = result.cost(&graph, &planner).bytes();
        copied += result.groups.iter().map(|g| g.copies.len()).sum::<usize>();
        let draws = Draw::all(&graph, &result.groups);
        let segments = draw(&mut b.ir, b.block, &draws, &graph.free_ops());
        let cost = |&segment: &fuser_ir::Op| {
            let mut ops = b.ir.children(segment);
            ops.pop();
            let plan = plan_ops(&b.ir, &ops, &planner.model, &Copies::default());
            plan.map_or(0, |plan| plan.cost.bytes())
        };
        let drawn: u64 = segments.iter().map(cost).sum();
        if said != drawn {
            wrong.push((seed, said, drawn));
        }
    }
    assert!(copied > 10, "{copied} ops copied");
    assert_eq!(wrong, Vec::new());
}

/// With all options on, starting from whole groups moves no more bytes than starting from single ops.
#[test]
fn whole_groups_first_move_no_more_bytes() {
    let mut worse = Vec::new();
    for (ops, programs) in [(12, 200), (24, 100)] {
        for seed in 0..programs {
            let b = random(seed, ops);
            let bytes = |top_down: bool| {
                let options = Options {
                    top_down,
                    ..Options::default()
                };
                let mut planner = Planner::new(Model::default());
                let (graph, result) = segment(&b.ir, b.block, &mut planner, &options);
                result.cost(&graph, &planner).bytes()
            };
            let (down, up) = (bytes(true), bytes(false));
            if down > up {
                worse.push((ops, seed, down, up));
            }
        }
    }
    assert_eq!(worse, Vec::new());
}
