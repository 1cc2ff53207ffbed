// JAX's `lax.top_k` orders floats by their bits: `-0` below `+0`, a NaN with a sign below all, one without above all. `TOTALORDER` of a
// comparison means the same.
// RUN: fuser-translate --import=stablehlo %s -o %t.fir
// RUN: fuser-run %t.fir --check --no-cache --print=%%values,%%indices,%%below | FileCheck %s
// CHECK: all outputs agree with the reference
// CHECK: %values:
// CHECK-NEXT: [NaN, 1.0, 0.0, -0.0, -1.0, NaN]
// CHECK: %indices:
// CHECK-NEXT: [4, 5, 1, 0, 2, 3]
// CHECK: %below:
// CHECK-NEXT: [true, false, false, true, false, false]
func.func @main() -> (tensor<6xf32>, tensor<6xi32>, tensor<6xi1>) {
  %x = stablehlo.constant dense<[-0.0, 0.0, -1.0, 0xFFC00000, 0x7FC00000, 1.0]> : tensor<6xf32>
  %y = stablehlo.constant dense<[0.0, -0.0, 0xFFC00000, -1.0, 0x7FC00000, 1.0]> : tensor<6xf32>
  %values, %indices = chlo.top_k(%x, k = 6) : tensor<6xf32> -> (tensor<6xf32>, tensor<6xi32>)
  %below = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
  return %values, %indices, %below : tensor<6xf32>, tensor<6xi32>, tensor<6xi1>
}
