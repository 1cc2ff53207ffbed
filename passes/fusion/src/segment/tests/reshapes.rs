//! Programs with reshapes where whole groups first find what single merges do not.

use super::*;

/// The bytes of the groups from whole components and from single merges, both without refinement; and the bytes of each
/// with all options on.
fn found(program: fn() -> Builder) -> [u64; 4] {
    let bytes = |top_down: bool, all: bool| {
        let b = program();
        let options = Options {
            top_down,
            restarts: all,
            refine: all,
            ..Options::default()
        };
        let mut planner = Planner::new(Model::default());
        let (graph, result) = segment(&b.ir, b.block, &mut planner, &options);
        result.cost(&graph, &planner).bytes()
    };
    [
        bytes(true, false),
        bytes(false, false),
        bytes(true, true),
        bytes(false, true),
    ]
}

const SQUARE: u64 = 512 * 512 * 4;
const COLUMN: u64 = 1024 * 4;

/// `r` and `b` rename the memory of `h`. Once `h` is stored for them, they cost nothing together. If they are merged
/// first, they keep `s` and `h` apart: a merge with either one alone would store one of the names too. Only the group
/// of all ops loads `x` and stores no `h`.
fn names() -> Builder {
    let mut b = Builder::default();
    let x = b.input("x", "512x512xf32");
    let h = b.pw("h", &[x], "512x512xf32");
    let r = b.op(&RESHAPE, "r", &[h], &[], "1024x256xf32");
    let y = b.pw("y", &[h, x], "512x512xf32");
    let s = b.op(&SUM, "s", &[r], &[1], "1024xf32");
    let back = b.op(&RESHAPE, "b", &[r], &[], "512x512xf32");
    b.ret(&[y, s, back]);
    b
}

#[test]
fn names_of_a_value_keep_its_users_apart_in_single_merges() {
    let [whole, single, all, bottom_up] = found(names);
    // `x` read; `b`, `y` and `s` written.
    assert_eq!(whole, 3 * SQUARE + COLUMN);
    // `h` read once more, for `s`.
    assert_eq!(single, 4 * SQUARE + COLUMN);
    assert_eq!((all, bottom_up), (whole, whole));
}

/// A boundary on the reshaped value's source instead of a second reshape.
fn name_and_boundary() -> Builder {
    let mut b = Builder::default();
    let x = b.input("x", "512x512xf32");
    let h = b.pw("h", &[x, x], "512x512xf32");
    let r = b.op(&RESHAPE, "r", &[h], &[], "1024x256xf32");
    let t = b.op(&SET, "t", &[h], &[], "512x512xf32");
    let y = b.pw("y", &[r, r], "1024x256xf32");
    b.ret(&[t, y]);
    b
}

#[test]
fn a_reshape_and_a_boundary_of_one_value_keep_its_users_apart_in_single_merges() {
    let [whole, single, all, bottom_up] = found(name_and_boundary);
    assert_eq!(whole, 3 * SQUARE);
    assert_eq!(single, 4 * SQUARE);
    assert_eq!((all, bottom_up), (whole, whole));
}
