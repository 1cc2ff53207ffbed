//! Rows that groups of threads share: what they read, how they wait for each other, and that they are right at odd lengths.

use super::barriers::leave_out_of;
use super::programs::Program;
use super::{MACHINES, counts, failure, kernels};

/// A softmax along an axis that is not the last.
fn softmax(shape: &str, dtype: &str, dim: usize) -> Program {
    let lengths: Vec<&str> = shape.split('x').collect();
    let kept: Vec<usize> = (0..lengths.len()).filter(|&n| n != dim).collect();
    let all = lengths.join(", ");
    let text = format!(
        "task.program @f(%x: tensor<{shape}x{dtype}>) -> tensor<{shape}x{dtype}> {{
  %f = fusion.cast %x to f32
  %m = fusion.max %f dims [{dim}]
  %mb = fusion.broadcast %m dims {kept:?} shape [{all}]
  %d = fusion.sub %f, %mb
  %e = fusion.exp %d
  %s = fusion.sum %e dims [{dim}]
  %sb = fusion.broadcast %s dims {kept:?} shape [{all}]
  %q = fusion.div %e, %sb
  %y = fusion.cast %q to {dtype}
  task.return %y
}}"
    );
    Program::new(shape, &text, "f")
}

/// One launch reads and writes a tensor once, all of its blocks wait four times, and a warp waits for loads about as often as it has rows.
#[test]
fn groups_share_the_rows_of_a_block() {
    for (shape, rows) in [("8x512x64", 512), ("2x150x32x32", 150), ("1024x256", 1024)] {
        let lengths = shape.split('x').map(|length| length.parse().unwrap());
        let elements: u64 = lengths.clone().product();
        let dim = lengths
            .clone()
            .position(|length: u64| length == rows)
            .unwrap();
        let program = softmax(shape, "bf16", dim);
        let kernels = kernels(&program);
        assert!(
            matches!(kernels[..], [(1, _, ..=4)]),
            "{shape}: {kernels:?}"
        );
        let counts = counts(&program);
        let sectors = elements * 2 / 32;
        assert_eq!(counts["stores.sectors"], sectors, "{shape}: {counts:?}");
        assert!(
            counts["loads.sectors"] <= 2 * sectors,
            "{shape}: {counts:?}"
        );
        let waits = counts["batches"] * 32 / counts["threads"];
        assert!(waits <= 16, "{shape}: {counts:?}");
    }
}

#[test]
fn shared_rows_agree_with_the_reference() {
    let shapes = [
        ("3x64x12", "f32", 1),
        ("97x31", "bf16", 0),
        ("2x19x5x8", "f16", 1),
        ("257x1", "f32", 0),
        ("[B]x128x36", "bf16", 1),
        ("2x33x[C]", "f32", 1),
        ("0x64x8", "f32", 1),
        ("2x64x0", "f32", 1),
        ("129x200", "f64", 0),
    ];
    for (shape, dtype, dim) in shapes {
        let program = match dtype {
            "f64" => maxima(shape),
            _ => softmax(shape, dtype, dim),
        };
        for machine in MACHINES {
            assert_eq!(failure(&program, machine), None, "{shape}");
        }
    }
}

/// Differences to the maximum and to the sum of each column, in elements of eight bytes.
fn maxima(shape: &str) -> Program {
    let all = shape.replace('x', ", ");
    let text = format!(
        "task.program @f(%x: tensor<{shape}xf64>) -> tensor<{shape}xf64> {{
  %m = fusion.max %x dims [0]
  %mb = fusion.broadcast %m dims [1] shape [{all}]
  %d = fusion.sub %x, %mb
  %s = fusion.sum %d dims [0]
  %sb = fusion.broadcast %s dims [1] shape [{all}]
  %y = fusion.sub %d, %sb
  task.return %y
}}"
    );
    Program::new(shape, &text, "f")
}

#[test]
fn a_barrier_of_shared_rows_is_found_missing() {
    assert!(leave_out_of(&softmax("2x96x40", "f32", 1)) > 0);
}
