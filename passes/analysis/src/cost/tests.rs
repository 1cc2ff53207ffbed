//! Plans of small programs, compared as text.

use super::*;
use crate::axes::Axes;
use fuser_testing::*;

fn planned(b: &Builder) -> Result<Plan, Refusal> {
    let axes = Axes::build(&b.ir, &b.ops).map_err(Refusal::Axes)?;
    plan(&b.ir, &b.ops, &axes, &Model::default())
}

fn check(b: &mut Builder, outputs: &[fuser_ir::Value], expected: &str) {
    b.ret(outputs);
    let text = match planned(b) {
        Ok(plan) => plan.render(&b.ir),
        Err(refusal) => refusal.render(&b.ir),
    };
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let expected: Vec<&str> = expected.lines().map(str::trim).collect();
    assert_eq!(lines.join("\n"), expected.join("\n"));
}

fn softmax(b: &mut Builder, rows: &str, columns: &str) -> fuser_ir::Value {
    let full = |dtype: &str| format!("{rows}x{columns}x{dtype}");
    let (row, wide) = (format!("{rows}xf32"), format!("{rows}xb{columns}xf32"));
    let x = b.input("x", &full("bf16"));
    let xf = b.pw("xf", &[x], &full("f32"));
    let m = b.op(&SUM, "m", &[xf], &[1], &row);
    let mb = b.op(&BROADCAST, "mb", &[m], &[0], &wide);
    let e = b.pw("e", &[xf, mb], &full("f32"));
    let s = b.op(&SUM, "s", &[e], &[1], &row);
    let sb = b.op(&BROADCAST, "sb", &[s], &[0], &wide);
    let q = b.pw("q", &[e, sb], &full("f32"));
    b.pw("y", &[q], &full("bf16"))
}

#[test]
fn a_row_that_fits_is_read_once() {
    let mut b = Builder::default();
    let y = softmax(&mut b, "512", "1024");
    check(
        &mut b,
        &[y],
        "sweep 0: grid 0, tile 1
           phase 0: %xf %m
           phase 1: %xf %mb %e %s
           phase 2: %xf %e %sb %q %y
           load: %x
           store: %y
         read 1048576 write 1048576 workspace 0",
    );
}

#[test]
fn a_row_that_does_not_fit_is_read_once_per_sweep() {
    let mut b = Builder::default();
    let y = softmax(&mut b, "16", "8388608");
    check(
        &mut b,
        &[y],
        "sweep 0: grid 0, stream 1
           phase 0: %xf %m
           accumulate: %m
           load: %x
           keep: %m
         sweep 1: grid 0, stream 1
           phase 0: %xf %mb %e %s
           accumulate: %s
           load: %x
           fetch: %m
           keep: %s
         sweep 2: grid 0, grid 1
           phase 0: %xf %mb %e %sb %q %y
           load: %x
           fetch: %m %s
           store: %y
         read 805306368 write 268435456 workspace 320
         rejected tile-too-large { bytes: 16777224, limit: 1048576, axes: [8388608] }",
    );
}

#[test]
fn outer_sums_accumulate_beside_an_inner_one_and_their_casts_are_an_epilogue() {
    let mut b = Builder::default();
    let x = b.input("x", "56x1024x1024xbf16");
    let f = b.pw("f", &[x], "56x1024x1024xf32");
    let outer = b.op(&SUM, "outer", &[f], &[0, 1], "1024xf32");
    let small = b.pw("small", &[outer], "1024xbf16");
    let middle = b.op(&SUM, "middle", &[f], &[1], "56x1024xf32");
    let inner = b.op(&SUM, "inner", &[f], &[2], "56x1024xf32");
    let wide = b.op(&BROADCAST, "wide", &[inner], &[0, 1], "56x1024xb1024xf32");
    let y = b.pw("y", &[f, wide], "56x1024x1024xbf16");
    check(
        &mut b,
        &[small, middle, y],
        "sweep 0: grid 0, stream 1, tile 2
           phase 0: %f %outer %middle %inner
           phase 1: %f %wide %y
           accumulate: %outer %middle
           epilogue: %small
           load: %x
           epilogue load: %outer
           keep: %outer
           store: %middle %y %small
         read 117440512 write 117671936 workspace 466944",
    );
}

#[test]
fn two_axes_of_one_length_are_walked_in_two_phases() {
    let mut b = Builder::default();
    let t0 = b.input("t0", "4096x512xf32");
    let t1 = b.input("t1", "4096x512xf32");
    let s = b.op(&SUM, "s", &[t0], &[1], "4096xf32");
    let m = b.op(&BROADCAST, "m", &[s], &[0], "4096xb512xf32");
    let y = b.pw("t4", &[t1, m], "4096x512xf32");
    check(
        &mut b,
        &[y],
        "sweep 0: grid 0, tile 1, tile 2
           phase 0: %s
           phase 1: %m %t4
           load: %t0 %t1
           store: %t4
         read 16777216 write 8388608 workspace 0",
    );
}

/// `y = c + broadcast(sum(a, 0) + b)`: the sum is complete only after the last row.
fn column_sum_spread(rows: &str) -> (Builder, fuser_ir::Value) {
    let mut b = Builder::default();
    let full = format!("{rows}x65xf32");
    let a = b.input("a", &full);
    let w = b.input("b", "65xf32");
    let c = b.input("c", &full);
    let m = b.op(&SUM, "m", &[a], &[0], "65xf32");
    let e = b.pw("e", &[m, w], "65xf32");
    let wide = b.op(&BROADCAST, "wide", &[e], &[1], &format!("b{full}"));
    let y = b.pw("y", &[c, wide], &full);
    (b, y)
}

#[test]
fn a_column_that_fits_is_resident() {
    let (mut b, y) = column_sum_spread("128");
    check(
        &mut b,
        &[y],
        "sweep 0: grid 1, tile 0, tile 2
           phase 0: %m
           phase 1: %e %wide %y
           load: %a %b %c
           store: %y
         read 66820 write 33280 workspace 0",
    );
}

#[test]
fn what_needs_an_accumulated_result_elsewhere_is_the_next_sweep() {
    let mut b = Builder::default();
    let a = b.input("a", "8388608x65xf32");
    let w = b.input("b", "65xf32");
    let m = b.op(&SUM, "m", &[a], &[0], "65xf32");
    let e = b.pw("e", &[m, w], "65xf32");
    let wide = b.op(&BROADCAST, "wide", &[e], &[1], "b8388608x65xf32");
    let y = b.pw("y", &[a, wide], "8388608x65xf32");
    check(
        &mut b,
        &[e, y],
        "sweep 0: grid 0, tile 1
    phase 0: %m
    accumulate: %m
    epilogue: %e
    load: %a
    epilogue load: %b %m
    keep: %m
    store: %e
    sweep 1: grid 0, grid 1
    phase 0: %wide %y
    load: %a
    fetch: %e
    store: %y
    read 4362076680 write 2181038340 workspace 33800",
    );
}

/// A tile that holds columns whole has strips of 16 columns. Waits for their rows cost more than reading `%x` again.
#[test]
fn strips_of_columns_cost_what_they_wait() {
    let mut b = Builder::default();
    let x = b.input("x", "8192x1024xf32");
    let s = b.op(&SUM, "s", &[x], &[0], "1024xf32");
    let wide = b.op(&BROADCAST, "wide", &[s], &[1], "b8192x1024xf32");
    let y = b.pw("y", &[x, wide], "8192x1024xf32");
    b.ret(&[y]);
    let plan = planned(&b).unwrap();
    assert_eq!((plan.sweeps.len(), plan.cost.wait_bytes), (2, 0));
}

#[test]
fn sums_of_sums_stay_in_the_tile_where_it_fits() {
    let mut b = Builder::default();
    let x = b.input("x", "32x64x8x128xf64");
    let a = b.op(&SUM, "a", &[x], &[0], "64x8x128xf64");
    let c = b.op(&SUM, "c", &[a], &[2], "64x8xf64");
    let y = b.op(&SUM, "y", &[c], &[0], "8xf64");
    check(
        &mut b,
        &[y],
        "sweep 0: grid 2, stream 1, tile 0, tile 3
           phase 0: %a
           phase 1: %c
           phase 2: %y
           accumulate: %y
           load: %x
           store: %y
         read 16777216 write 64 workspace 0",
    );
}

#[test]
fn a_change_of_shape_alone_is_a_view() {
    let mut b = Builder::default();
    let x = b.input("x", "[B]x1x24xf32");
    let s = b.op(&SQUEEZE, "s", &[x], &[1], "[B]x24xf32");
    let r = b.op(&RESHAPE, "r", &[s], &[], "[B]x6x4xf32");
    let p = b.op(&BROADCAST, "p", &[r], &[0, 2, 3], "[B]xb5x6x4xf32");
    check(&mut b, &[p], "view");
}

#[test]
fn a_transpose_moves_memory() {
    let mut b = Builder::default();
    let x = b.input("x", "6x4xf32");
    let p = b.op(&PERMUTE, "p", &[x], &[1, 0], "4x6xf32");
    check(
        &mut b,
        &[p],
        "sweep 0: grid 0, grid 1
           phase 0: %p
           load: %x
           store: %p
         read 96 write 96 workspace 0",
    );
}

#[test]
fn stored_bytes_count_a_broadcast_axis_once() {
    let mut b = Builder::default();
    let x = b.input("x", "[B]xb1024x3xbf16");
    let text = crate::axes::expr_text(&b.ir, &stored_bytes_expr(&b.ir, x).expect("known"));
    assert_eq!(text, "6*B");
    let name = b.ir.sym("B");
    let mut bindings = Bindings::default();
    assert!(!bindings.is_exact(&b.ir, x));
    assert_eq!(bindings.bytes(&b.ir, x), 6 * 1024);
    bindings.named.insert(name, 7);
    assert!(bindings.is_exact(&b.ir, x));
    assert_eq!(bindings.bytes(&b.ir, x), 42);
    let huge = b.input("huge", "4294967296x4294967296x4294967296xf64");
    assert_eq!(bindings.bytes(&b.ir, huge), u64::MAX);
}

/// Attention over `keys` keys in heads of 2: scores, their softmax, and the weighted sum of the values.
fn attention(b: &mut Builder, keys: &str) -> fuser_ir::Value {
    let (narrow, row) = (format!("{keys}x2xf32"), format!("{keys}xf32"));
    let scores = format!("{keys}x{keys}xf32");
    let (q, k, v) = (
        b.input("q", &narrow),
        b.input("k", &narrow),
        b.input("v", &narrow),
    );
    let qb = b.op(
        &BROADCAST,
        "qb",
        &[q],
        &[0, 2],
        &format!("{keys}xb{keys}x2xf32"),
    );
    let kb = b.op(
        &BROADCAST,
        "kb",
        &[k],
        &[1, 2],
        &format!("b{keys}x{keys}x2xf32"),
    );
    let products = b.pw("products", &[qb, kb], &format!("{keys}x{keys}x2xf32"));
    let s = b.op(&SUM, "s", &[products], &[2], &scores);
    let m = b.op(&SUM, "m", &[s], &[1], &row);
    let mb = b.op(&BROADCAST, "mb", &[m], &[0], &format!("{keys}xb{keys}xf32"));
    let e = b.pw("e", &[s, mb], &scores);
    let vt = b.op(&PERMUTE, "vt", &[v], &[1, 0], &format!("2x{keys}xf32"));
    let eb = b.op(
        &BROADCAST,
        "eb",
        &[e],
        &[0, 2],
        &format!("{keys}xb2x{keys}xf32"),
    );
    let vb = b.op(
        &BROADCAST,
        "vb",
        &[vt],
        &[1, 2],
        &format!("b{keys}x2x{keys}xf32"),
    );
    let weighed = b.pw("weighed", &[eb, vb], &format!("{keys}x2x{keys}xf32"));
    b.op(&SUM, "y", &[weighed], &[2], &narrow)
}

/// A price follows from what is computed, not from the order in which independent ops are written.
#[test]
fn the_order_of_ops_changes_no_price() {
    let mut b = Builder::default();
    let y = attention(&mut b, "512");
    b.ret(&[y]);
    let written = planned(&b).map(|plan| plan.cost);
    let mut random = Random(1);
    for _ in 0..50 {
        let mut left = std::mem::take(&mut b.ops);
        while !left.is_empty() {
            let waits = |op: &fuser_ir::Op| {
                let producers = b.ir.operands(*op).filter_map(|v| b.ir.def_op(v));
                producers.into_iter().any(|m| left.contains(&m))
            };
            let ready: Vec<usize> = (0..left.len()).filter(|&i| !waits(&left[i])).collect();
            b.ops.push(left.remove(random.one(&ready)));
        }
        assert_eq!(planned(&b).map(|plan| plan.cost), written, "{:?}", b.ops);
    }
}

/// A softmax whose exponentials take more than a few operations each.
fn dear_softmax(b: &mut Builder, columns: &str) -> fuser_ir::Value {
    let full = |dtype: &str| format!("512x{columns}x{dtype}");
    let wide = format!("512xb{columns}xf32");
    let x = b.input("x", &full("bf16"));
    let xf = b.pw("xf", &[x], &full("f32"));
    let m = b.op(&SUM, "m", &[xf], &[1], "512xf32");
    let mb = b.op(&BROADCAST, "mb", &[m], &[0], &wide);
    let d = b.pw("d", &[xf, mb], &full("f32"));
    let e = ["e1", "e2", "e3"].into_iter();
    let e = e.fold(d, |v, name| b.pw(name, &[v], &full("f32")));
    let s = b.op(&SUM, "s", &[e], &[1], "512xf32");
    let sb = b.op(&BROADCAST, "sb", &[s], &[0], &wide);
    b.pw("y", &[e, sb], &full("bf16"))
}

/// The resident bytes of a row, sums included: 4 for each exponential if they fit, otherwise 2 for each argument. The
/// kernel does not copy arguments.
#[test]
fn a_row_is_resident_in_the_widest_form_that_fits() {
    for (columns, resident, allocated) in [("1024", 4100, 4096), ("300000", 600_008, 0)] {
        let mut b = Builder::default();
        let y = dear_softmax(&mut b, columns);
        b.ret(&[y]);
        let plan = planned(&b).expect("one kernel");
        assert_eq!(plan.sweeps.len(), 1, "{columns}");
        let sweep = &plan.sweeps[0];
        assert_eq!((sweep.tile_bytes, sweep.allocated), (resident, allocated));
    }
}

/// The number of sums that each sweep of a plan accumulates. One input or two inputs are summed over different axes,
/// and both sums are used at each element.
fn sums_of_sweeps(inputs: [&str; 2]) -> Vec<usize> {
    let mut b = Builder::default();
    let x = b.input(inputs[0], "4096x524288xf32");
    let y = match inputs[0] == inputs[1] {
        true => x,
        false => b.input(inputs[1], "4096x524288xf32"),
    };
    let s = b.op(&SUM, "s", &[x], &[1], "4096xf32");
    let t = b.op(&SUM, "t", &[y], &[0], "524288xf32");
    let sb = b.op(&BROADCAST, "sb", &[s], &[0], "4096xb524288xf32");
    let tb = b.op(&BROADCAST, "tb", &[t], &[1], "b4096x524288xf32");
    let e = b.pw("e", &[x, sb], "4096x524288xf32");
    let f = b.pw("f", &[y, tb], "4096x524288xf32");
    let g = b.pw("g", &[e, f], "4096x524288xf32");
    b.ret(&[g]);
    let plan = planned(&b).unwrap();
    plan.sweeps.iter().map(|s| s.accumulators.len()).collect()
}

/// A sweep is lowered on its own. Its reductions share axes only if they read a common value.
#[test]
fn sums_over_different_axes_share_a_sweep_where_they_share_an_input() {
    assert_eq!(sums_of_sweeps(["x", "x"]), [2, 0]);
    assert_eq!(sums_of_sweeps(["x", "y"]), [1, 1, 0]);
}

#[test]
fn no_number_of_rows_has_too_many_groups() {
    let threads =
        |width, count, each| super::blocks::row_threads(width, count, each, &fuser_target::H100);
    assert_eq!(threads(4, 512, 1), 512);
    assert_eq!([threads(16, 19, 1), threads(8, 24, 16)], [64, 256]);
    assert_eq!([threads(8, 0, 1), threads(8, 3, 1)], [8, 8]);
    for (width, count) in [(1, u64::MAX), (u64::MAX, 1), (u64::MAX, u64::MAX)] {
        assert_eq!(threads(width, count, u64::MAX), 512);
    }
}
