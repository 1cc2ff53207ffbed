//! Axis analysis on small programs, compared as text.

use super::*;
use fuser_testing::*;

fn text(b: &Builder) -> String {
    match Axes::build(&b.ir, &b.ops) {
        Ok(axes) => axes.render(&b.ir, &b.ops),
        Err(refusal) => refusal.render(&b.ir),
    }
}

fn check(b: &Builder, expected: &str) {
    let lines: Vec<&str> = expected.lines().map(str::trim).collect();
    assert_eq!(text(b).trim(), lines.join("\n").trim());
}

#[test]
fn a_reduction_ends_an_axis_and_a_broadcast_brings_it_back() {
    let mut b = Builder::default();
    let x = b.input("x", "[B]x1024xbf16");
    let s = b.op(&SUM, "s", &[x], &[1], "[B]xf32");
    let m = b.op(&BROADCAST, "m", &[s], &[0], "[B]xb1024xf32");
    b.pw("y", &[x, m], "[B]x1024xf32");
    check(
        &b,
        "axis 0: B
         axis 1: 1024
         %x: [0, 1]
         %s: [0]
         %m: [0, b1]
         %y: [0, 1]
         %s reduces [1]",
    );
}

#[test]
fn equal_extents_of_unrelated_dimensions_are_different_axes() {
    let mut b = Builder::default();
    let t0 = b.input("t0", "4096x512xf32");
    let t1 = b.input("t1", "4096x512xf32");
    let s = b.op(&SUM, "s", &[t0], &[1], "4096xf32");
    let m = b.op(&BROADCAST, "m", &[s], &[0], "4096xb512xf32");
    b.pw("t4", &[t1, m], "4096x512xf32");
    check(
        &b,
        "axis 0: 4096
         axis 1: 512
         axis 2: 512
         %t0: [0, 1]
         %s: [0]
         %m: [0, b2]
         %t1: [0, 2]
         %t4: [0, 2]
         %s reduces [1]",
    );
}

#[test]
fn two_factorings_meet_in_their_common_refinement() {
    let mut b = Builder::default();
    let x = b.input("x", "24xf32");
    b.op(&RESHAPE, "p", &[x], &[], "6x4xf32");
    b.op(&RESHAPE, "q", &[x], &[], "3x8xf32");
    check(
        &b,
        "axis 0: 3
         axis 1: 2
         axis 2: 4
         %x: [(0, 1, 2)]
         %p: [(0, 1), 2]
         %q: [0, (1, 2)]",
    );
}

#[test]
fn factorings_without_a_common_refinement_are_refused() {
    let mut b = Builder::default();
    let x = b.input("x", "24xf32");
    b.op(&RESHAPE, "p", &[x], &[], "6x4xf32");
    b.op(&RESHAPE, "q", &[x], &[], "4x6xf32");
    check(
        &b,
        "incompatible-factoring { at: %q, known: [6, 4], wanted: [4, 6] }",
    );
}

#[test]
fn named_extents_factor_by_polynomial_division() {
    let mut b = Builder::default();
    let x = b.input("x", "[B]x[S]x[H*8]xf32");
    let p = b.op(&RESHAPE, "p", &[x], &[], "[B*S]x[H*8]xf32");
    b.op(&RESHAPE, "q", &[p], &[], "[B*S]x[H]x[8]xf32");
    check(
        &b,
        "axis 0: B
         axis 1: S
         axis 2: H
         axis 3: 8
         %x: [0, 1, (2, 3)]
         %p: [(0, 1), (2, 3)]
         %q: [(0, 1), 2, 3]",
    );
    let axes = Axes::build(&b.ir, &b.ops).expect("plans");
    let strides: Vec<String> = axes
        .strides(p)
        .iter()
        .map(|s| render::expr_text(&b.ir, s.stride.as_ref().expect("known")))
        .collect();
    assert_eq!(strides, ["8*H*S", "8*H", "8", "1"]);
}

#[test]
fn extents_of_one_are_no_axes() {
    let mut b = Builder::default();
    let x = b.input("x", "5x1x7xf32");
    let e = b.op(&EXPAND, "e", &[x], &[], "5xb9x7xf32");
    b.op(&SUM, "s", &[e], &[2], "5xb9x1xf32");
    b.keepdim();
    b.op(&SQUEEZE, "q", &[x], &[1], "5x7xf32");
    check(
        &b,
        "axis 0: 5
         axis 1: 7
         axis 2: 9
         %x: [0, -, 1]
         %e: [0, b2, 1]
         %s: [0, b2, -]
         %q: [0, 1]
         %s reduces [1]",
    );
}

#[test]
fn a_square_added_to_its_transpose_maps_onto_itself() {
    let mut b = Builder::default();
    let x = b.input("x", "5x5xf32");
    let t = b.pw("t", &[x], "5x5xf32");
    let p = b.op(&PERMUTE, "p", &[t], &[1, 0], "5x5xf32");
    b.pw("y", &[t, p], "5x5xf32");
    check(&b, "self-mapped { value: %x }");
}

#[test]
fn an_argument_is_read_at_the_other_corner_too() {
    let mut b = Builder::default();
    let t = b.input("t", "5x5xf32");
    let p = b.op(&PERMUTE, "p", &[t], &[1, 0], "5x5xf32");
    b.pw("y", &[t, p], "5x5xf32");
    check(
        &b,
        "axis 0: 5
         axis 1: 5
         %p: [0, 1]
         %t: [0, 1]
         %y: [0, 1]",
    );
    let axes = Axes::build(&b.ir, &b.ops).expect("read through a window");
    assert!(axes.window(b.ops[0]).is_some());
}

#[test]
fn strides_skip_what_is_stored_once() {
    let mut b = Builder::default();
    let x = b.input("x", "3xb5x7x11xf32");
    b.op(&PERMUTE, "p", &[x], &[3, 0, 1, 2], "11x3xb5x7xf32");
    let axes = Axes::build(&b.ir, &b.ops).expect("plans");
    let strides: Vec<Option<i64>> = axes
        .ids()
        .map(|a| axes.stride(x, a).and_then(|s| s.as_constant()))
        .collect();
    assert_eq!(strides, [Some(77), Some(0), Some(11), Some(1)]);
}

#[test]
fn a_layout_says_which_axes_are_inner() {
    let mut b = Builder::default();
    let x = b.input("x", "3xb5x7x11xf32");
    let ty = b.ir.value_type(x);
    let ty = fuser_ir::layout::with(&mut b.ir, ty, &[3, 0, 1, 2]);
    b.ir.set_value_type(x, ty);
    b.pw("y", &[x], "3xb5x7x11xf32");
    let axes = Axes::build(&b.ir, &b.ops).expect("plans");
    let strides: Vec<Option<i64>> = axes
        .ids()
        .map(|a| axes.stride(x, a).and_then(|s| s.as_constant()))
        .collect();
    assert_eq!(strides, [Some(7), Some(0), Some(1), Some(21)]);
    let ids: Vec<AxisId> = axes.ids().collect();
    assert_eq!(axes.stored(x).collect::<Vec<_>>(), [ids[3], ids[0], ids[2]]);
    // The result states none.
    let y = axes.values()[1];
    assert_eq!(axes.stored(y).collect::<Vec<_>>(), [ids[0], ids[2], ids[3]]);
}

#[test]
fn what_an_unknown_extent_hides_stays_unknown() {
    let mut b = Builder::default();
    let x = b.input("x", "?x?xf32");
    b.pw("y", &[x], "?x?xf32");
    let axes = Axes::build(&b.ir, &b.ops).expect("plans");
    let strides: Vec<Option<ExtentExpr>> = axes.strides(x).into_iter().map(|s| s.stride).collect();
    assert_eq!(strides, [None, Some(ExtentExpr::constant(1))]);
    b.op(&RESHAPE, "r", &[x], &[], "?x3xf32");
    check(
        &b,
        "incompatible-factoring { at: %r, known: [?, ?], wanted: [?, 3] }",
    );
}

#[test]
fn a_refused_op_leaves_no_trace_and_a_rollback_takes_back_what_was_added() {
    let mut b = Builder::default();
    let x = b.input("x", "24xf32");
    b.op(&RESHAPE, "p", &[x], &[], "6x4xf32");
    b.op(&RESHAPE, "q", &[x], &[], "4x6xf32");
    b.op(&RESHAPE, "r", &[x], &[], "3x8xf32");
    let (first, refused, third) = (b.ops[0], b.ops[1], b.ops[2]);
    let mut union = AxisUnion::default();
    union.add(&b.ir, first).expect("fits");
    let before = Axes::freeze(&union).expect("fits").render(&b.ir, &b.ops);
    union.add(&b.ir, refused).expect_err("does not fit");
    assert_eq!(
        Axes::freeze(&union).expect("fits").render(&b.ir, &b.ops),
        before
    );
    let mark = union.mark();
    union.add(&b.ir, third).expect("fits");
    union.rollback(mark);
    assert_eq!(
        Axes::freeze(&union).expect("fits").render(&b.ir, &b.ops),
        before
    );
}

#[test]
fn an_op_without_a_rule_or_with_a_wild_clause_is_refused() {
    let mut b = Builder::default();
    let x = b.input("x", "5x7xf32");
    b.op(&OPAQUE, "o", &[x], &[], "5xf32");
    check(&b, "unsupported-op { op: test.opaque }");
    for dims in [&[2][..], &[-1], &[0, 0], &[i64::MAX]] {
        let mut b = Builder::default();
        let x = b.input("x", "5x7xf32");
        b.op(&SUM, "s", &[x], dims, "5xf32");
        check(&b, "unsupported-op { op: test.sum }");
    }
}

#[test]
fn a_zero_extent_never_factors() {
    let mut b = Builder::default();
    let x = b.input("x", "0x4xf32");
    let r = b.op(&RESHAPE, "r", &[x], &[], "2x0xf32");
    b.pw("y", &[r], "2x0xf32");
    check(
        &b,
        "incompatible-factoring { at: %r, known: [0, 4], wanted: [2, 0] }",
    );
}

#[test]
fn a_reshape_alone_has_the_axes_of_its_result() {
    let mut b = Builder::default();
    let x = b.input("x", "4x6xf32");
    b.op(&RESHAPE, "r", &[x], &[], "3x8xf32");
    check(
        &b,
        "axis 0: 3
         axis 1: 8
         %r: [0, 1]",
    );
    let axes = Axes::build(&b.ir, &b.ops).expect("alone");
    assert!(axes.window(b.ops[0]).is_some(), "read by numbers");
    let touched = axes.touched(&b.ir, &b.ops, x, |n| n.as_constant()?.try_into().ok());
    assert_eq!(touched, Some(ExtentExpr::constant(24)));
}

#[test]
fn long_chains_of_reshapes_stay_flat() {
    let mut b = Builder::default();
    let mut x = b.input("x", "[B*8]xf32");
    for i in 0..2000 {
        let y = b.op(&RESHAPE, "r", &[x], &[], "[B]x[8]xf32");
        let z = b.op(&RESHAPE, "s", &[y], &[], "[B*8]xf32");
        x = b.pw(if i % 2 == 0 { "y" } else { "z" }, &[z, x], "[B*8]xf32");
    }
    let axes = Axes::build(&b.ir, &b.ops).expect("plans");
    assert_eq!(axes.len(), 2);
}

#[test]
fn groups_that_merge_are_told_what_an_analysis_of_all_their_ops_tells() {
    let (mut one, mut none, mut open) = (0, 0, 0);
    let mut kinds = std::collections::BTreeSet::new();
    for seed in 0..400 {
        let mut random = Random(seed);
        let ops = 8 + random.below(24);
        let b = Squares::plain(24).block(&mut random, ops);
        let mut groups = AxisGroups::default();
        let mut members: Vec<Vec<usize>> = (0..b.ops.len()).map(|op| vec![op]).collect();
        for op in &b.ops {
            groups.push(&b.ir, vec![*op]);
        }
        for _ in 0..8 * b.ops.len() {
            let (x, y) = (random.below(members.len()), random.below(members.len()));
            if x == y || members[x].is_empty() || members[y].is_empty() {
                continue;
            }
            let mut all = [members[x].as_slice(), &members[y]].concat();
            all.sort_unstable();
            let ops: Vec<_> = all.iter().map(|&op| b.ops[op]).collect();
            let whole = Axes::build(&b.ir, &ops);
            match groups.common(&b.ir, x, y) {
                Common::One => {
                    assert!(whole.is_ok(), "seed {seed}: {whole:?}");
                    one += 1;
                }
                Common::None(refusal) => {
                    assert!(whole.is_err(), "seed {seed}: {refusal:?}");
                    kinds.insert(refusal.name());
                    none += 1;
                    continue;
                }
                Common::Open(why) => {
                    assert!(
                        matches!(why, Open::Permuted | Open::Broken),
                        "seed {seed}: {why:?}"
                    );
                    if whole.is_err() {
                        open += 1;
                        continue;
                    }
                }
            }
            groups.merge(&b.ir, x, y);
            members[y].clear();
            members[x] = all;
        }
    }
    println!("{one} with one iteration space, {none} with none: {kinds:?}, {open} left open");
    assert!(one > 1000 && none + open > 100, "{one} {none} {open}");
    assert_eq!(
        kinds.into_iter().collect::<Vec<_>>(),
        ["incompatible-factoring", "self-mapped"]
    );
}

#[test]
fn what_depends_on_the_whole_group_is_left_open() {
    let mut b = Builder::default();
    let x = b.input("x", "?xf32");
    b.op(&RESHAPE, "p", &[x], &[], "?x4xf32");
    let q = b.op(&RESHAPE, "q", &[x], &[], "?x8xf32");
    b.op(&OPAQUE, "o", &[q], &[], "8xf32");
    let mut groups = AxisGroups::default();
    for op in &b.ops {
        groups.push(&b.ir, vec![*op]);
    }
    assert_eq!(groups.common(&b.ir, 2, 0), Common::Open(Open::Broken));
    assert_eq!(groups.common(&b.ir, 0, 1), Common::Open(Open::Broken));
    let steps = groups.steps();
    groups.merge(&b.ir, 0, 1);
    assert_eq!(groups.common(&b.ir, 0, 2), Common::Open(Open::Broken));
    assert!(groups.steps() >= steps);
}

/// `count` elementwise ops in a row, and then one more, and a transpose that closes a square on itself.
fn long_chain(count: usize) -> (Builder, AxisGroups) {
    let mut b = Builder::default();
    let first = b.input("x", "512x512xf32");
    let mut x = first;
    for _ in 0..=count {
        x = b.pw("y", &[x], "512x512xf32");
    }
    let p = b.op(&PERMUTE, "p", &[first], &[1, 0], "512x512xf32");
    b.pw("z", &[x, p], "512x512xf32");
    let mut groups = AxisGroups::default();
    groups.push(&b.ir, b.ops[..count].to_vec());
    groups.push(&b.ir, vec![b.ops[count]]);
    groups.push(&b.ir, b.ops[count + 1..].to_vec());
    // Classes are made when they are first asked for.
    assert_eq!(groups.common(&b.ir, 0, 1), Common::One);
    (b, groups)
}

#[test]
fn adding_an_op_costs_the_same_whatever_the_group_has() {
    let mut costs = std::collections::BTreeSet::new();
    for count in [1 << 10, 1 << 12, 1 << 14, 1 << 16] {
        let (b, mut groups) = long_chain(count);
        let before = (groups.steps(), groups.added());
        assert_eq!(groups.common(&b.ir, 0, 1), Common::One);
        groups.merge(&b.ir, 0, 1);
        let refused = groups.common(&b.ir, 0, 2);
        assert_eq!(refused, Common::Open(Open::Permuted));
        costs.insert((groups.steps() - before.0, groups.added() - before.1));
    }
    let (steps, added) = *costs.first().expect("measured");
    assert_eq!(costs.len(), 1, "{costs:?}");
    assert!(steps < 100 && added == 4, "{steps} steps, {added} ops");
}

#[test]
fn putting_ops_together_pair_by_pair_is_near_linear() {
    let work = |count: usize| {
        let mut b = Builder::default();
        let mut x = b.input("x", "512x512xf32");
        let mut groups = AxisGroups::default();
        for _ in 0..count {
            x = b.pw("y", &[x], "512x512xf32");
            groups.push(&b.ir, vec![b.ops[b.ops.len() - 1]]);
        }
        let mut width = 1;
        while width < count {
            for at in (0..count - width).step_by(2 * width) {
                assert_eq!(groups.common(&b.ir, at, at + width), Common::One);
                groups.merge(&b.ir, at, at + width);
            }
            width *= 2;
        }
        groups.steps()
    };
    let counts: Vec<u64> = (10..15).map(|power| work(1 << power)).collect();
    for pair in counts.windows(2) {
        assert!(pair[1] * 10 <= pair[0] * 23, "{counts:?}");
    }
}
