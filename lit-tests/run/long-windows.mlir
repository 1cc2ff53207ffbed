// Windows of more elements than are combined one by one, and scans that begin at the end: `jnp.cumsum` of 70 elements
// and its gradient, a moving sum of 67 and a moving maximum of 65 with gaps.
// RUN: fuser-translate --import=stablehlo %s -o %t.fir
// RUN: fuser-run %t.fir --input x=iota --input one=ones --print=%%out0,%%out1,%%out2,%%out3 --check | FileCheck %s
// CHECK: all outputs agree with the reference
// The sum of i..69.
// CHECK: [2415.0, 2415.0, 2414.0, 2412.0
// The products of ones.
// CHECK: [1.0, 1.0, 1.0
// The sums of i..i+66.
// CHECK: [2211.0, 2278.0, 2345.0, 2412.0]
// The greatest of every second element of 0..69, 0..59.
// CHECK: [68.0]
func.func @main(%x: tensor<70xf32>, %one: tensor<70xf32>) -> (tensor<70xf32>, tensor<70xf32>, tensor<4xf32>, tensor<1xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %unit = stablehlo.constant dense<1.0> : tensor<f32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %zero) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {window_dimensions = array<i64: 70>, padding = dense<[[0, 69]]> : tensor<1x2xi64>} : (tensor<70xf32>, tensor<f32>) -> tensor<70xf32>
  %1 = "stablehlo.reduce_window"(%one, %unit) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.multiply %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {window_dimensions = array<i64: 70>, padding = dense<[[0, 69]]> : tensor<1x2xi64>} : (tensor<70xf32>, tensor<f32>) -> tensor<70xf32>
  %2 = "stablehlo.reduce_window"(%x, %zero) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {window_dimensions = array<i64: 67>} : (tensor<70xf32>, tensor<f32>) -> tensor<4xf32>
  %y = stablehlo.concatenate %x, %x, dim = 0 : (tensor<70xf32>, tensor<70xf32>) -> tensor<140xf32>
  %3 = "stablehlo.reduce_window"(%y, %low) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {window_dimensions = array<i64: 65>, window_dilations = array<i64: 2>, window_strides = array<i64: 100>} : (tensor<140xf32>, tensor<f32>) -> tensor<1xf32>
  return %0, %1, %2, %3 : tensor<70xf32>, tensor<70xf32>, tensor<4xf32>, tensor<1xf32>
}
