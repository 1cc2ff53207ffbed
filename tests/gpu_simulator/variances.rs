//! Variances of columns in parts: what they read, how their threads wait, and that they are right at odd lengths.

use super::barriers::leave_out_of;
use super::programs::Program;
use super::{MACHINES, counts, failure, kernels};

/// A normalization of the columns of a tensor along `dims`, with a weight for each.
fn norm(shape: &str, dtype: &str, dims: &[usize]) -> Program {
    let lengths: Vec<&str> = shape.split('x').collect();
    let columns = lengths[lengths.len() - 1];
    let kept: Vec<usize> = (0..lengths.len()).filter(|n| !dims.contains(n)).collect();
    let result: String = kept.iter().map(|&n| format!("{}x", lengths[n])).collect();
    let all = lengths.join(", ");
    let last = lengths.len() - 1;
    let text = format!(
        "task.program @f(%x: tensor<{shape}x{dtype}>, %w: tensor<{columns}xf32>) -> (tensor<{shape}x{dtype}>, tensor<{result}f32>) {{
  %f = fusion.cast %x to f32
  %v, %m = fusion.var_mean %f dims {dims:?} correction 0
  %one = fusion.constant value 1.0 : f32
  %e = fusion.add %v, %one
  %r = fusion.rsqrt %e
  %mb = fusion.broadcast %m dims {kept:?} shape [{all}]
  %rb = fusion.broadcast %r dims {kept:?} shape [{all}]
  %wb = fusion.broadcast %w dims [{last}] shape [{all}]
  %c = fusion.sub %f, %mb
  %n = fusion.mul %c, %rb
  %s = fusion.mul %n, %wb
  %y = fusion.cast %s to {dtype}
  task.return %y, %m
}}"
    );
    Program::new(shape, &text, "f")
}

/// Of a tensor of 2^21 elements of two bytes a walk loads 131,072 sectors: one for the sums, one that normalizes. Between them lie the means of parts of sixteen
/// rows, of four bytes, which are written and read once.
#[test]
fn variances_of_columns_are_of_one_walk() {
    let program = norm("16384x128", "bf16", &[0]);
    let launches = kernels(&program);
    assert_eq!(launches.len(), 3, "{launches:?}");
    // Blocks of the parts, a part for each group of threads, and of what is normalized.
    assert!(launches[0].1 >= 64 && launches[2].1 >= 64, "{launches:?}");
    let counts = counts(&program);
    let (walk, means) = (16384 * 128 * 2 / 32, 1024 * 128 * 4 / 32);
    let most = 2 * walk + means;
    let beside = counts["loads.sectors"].saturating_sub(most);
    // Weights, means and roots are read once for several rows, and partial results once.
    assert!(beside <= walk, "{counts:?}");
    // At most 256 blocks hand on what they have of three sums, and what these are together, the mean and the root is stored.
    let handed = (3 * 256 + 3) * 128 * 4 / 32;
    assert!(
        counts["stores.sectors"] <= walk + means + handed,
        "{counts:?}"
    );
}

/// Columns that one block would have room for are not walked by few threads, row by row.
#[test]
fn columns_that_fit_are_shared() {
    for shape in ["512x64", "1568x40", "1021x36"] {
        let program = norm(shape, "f32", &[0]);
        let counts = counts(&program);
        let waits = counts["batches"] * 32 / counts["threads"];
        assert!(waits <= 16, "{shape}: {counts:?}");
    }
}

#[test]
fn variances_of_columns_agree_with_the_reference() {
    let shapes: [(&str, &str, &[usize]); 9] = [
        ("512x36", "f32", &[0]),
        ("5x272x7", "f32", &[1]),
        ("32x7x5x24", "bf16", &[0, 1, 2]),
        ("[B]x16x24x40", "f16", &[0, 1, 2]),
        ("521x64", "f32", &[0]),
        ("257x33", "bf16", &[0]),
        ("1024x0", "f32", &[0]),
        ("0x1024x9", "f32", &[0, 1]),
        ("320x1", "f32", &[0]),
    ];
    for (shape, dtype, dims) in shapes {
        let program = norm(shape, dtype, dims);
        for machine in MACHINES {
            assert_eq!(failure(&program, machine), None, "{shape}");
        }
    }
}

#[test]
fn a_barrier_of_a_variance_is_found_missing() {
    assert!(leave_out_of(&norm("1024x40", "f32", &[0])) > 0);
}
