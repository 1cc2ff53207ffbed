module @jit_products attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>, %arg2: tensor<3x4xf32>, %arg3: tensor<3x2xi32>, %arg4: tensor<2x3xi32>) -> (tensor<2x3x5xf32> {jax.result_info = "result[0]"}, tensor<2xf32> {jax.result_info = "result[1]"}, tensor<2x3x3xf32> {jax.result_info = "result[2]"}, tensor<3x3x4x4xf32> {jax.result_info = "result[3]"}, tensor<3x3xi32> {jax.result_info = "result[4]"}, tensor<5x3x2xf32> {jax.result_info = "result[5]"}, tensor<2x3x3xf32> {jax.result_info = "result[6]"}, tensor<3xf32> {jax.result_info = "result[7]"}, tensor<f32> {jax.result_info = "result[8]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
    %1 = stablehlo.dot_general %arg0, %arg2, contracting_dims = [1, 2] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xf32>, tensor<3x4xf32>) -> tensor<2xf32>
    %2 = stablehlo.dot_general %arg0, %arg2, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x3xf32>
    %3 = stablehlo.dot_general %arg2, %arg2, contracting_dims = [] x [], precision = [DEFAULT, DEFAULT] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4x3x4xf32>
    %4 = stablehlo.transpose %3, dims = [2, 0, 3, 1] : (tensor<3x4x3x4xf32>) -> tensor<3x3x4x4xf32>
    %5 = stablehlo.dot_general %arg3, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x2xi32>, tensor<2x3xi32>) -> tensor<3x3xi32>
    %6 = stablehlo.dot_general %arg1, %arg0, batching_dims = [0] x [0], contracting_dims = [1] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x4x5xf32>, tensor<2x3x4xf32>) -> tensor<2x5x3xf32>
    %7 = stablehlo.transpose %6, dims = [1, 2, 0] : (tensor<2x5x3xf32>) -> tensor<5x3x2xf32>
    %8 = stablehlo.transpose %arg2, dims = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
    %9 = stablehlo.dot_general %arg0, %8, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xf32>, tensor<4x3xf32>) -> tensor<2x3x3xf32>
    %10 = stablehlo.slice %arg2 [0:1, 0:4] : (tensor<3x4xf32>) -> tensor<1x4xf32>
    %11 = stablehlo.reshape %10 : (tensor<1x4xf32>) -> tensor<4xf32>
    %12 = stablehlo.dot_general %arg2, %11, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3xf32>
    %13 = stablehlo.slice %arg2 [0:1, 0:4] : (tensor<3x4xf32>) -> tensor<1x4xf32>
    %14 = stablehlo.reshape %13 : (tensor<1x4xf32>) -> tensor<4xf32>
    %15 = stablehlo.slice %arg2 [1:2, 0:4] : (tensor<3x4xf32>) -> tensor<1x4xf32>
    %16 = stablehlo.reshape %15 : (tensor<1x4xf32>) -> tensor<4xf32>
    %17 = stablehlo.dot_general %14, %16, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
    return %0, %1, %2, %4, %5, %7, %9, %12, %17 : tensor<2x3x5xf32>, tensor<2xf32>, tensor<2x3x3xf32>, tensor<3x3x4x4xf32>, tensor<3x3xi32>, tensor<5x3x2xf32>, tensor<2x3x3xf32>, tensor<3xf32>, tensor<f32>
  }
}

// in: 1.125 -0.625 -1.125 2.125 -1.375 -0.625 0.625 1.375 0.625 1.625 -1.875 -0.375 0.375 -0.125 -0.375 -0.375 -1.875 -1.625 0.375 0.125 2.125 -0.875 1.625 -0.875
// in: -1.375 -1.125 -0.375 -1.125 1.875 1.375 1.375 -0.125 -1.875 -0.875 -0.125 0.625 -0.125 0.625 -0.375 0.625 -1.875 1.875 0.375 -1.375 1.375 -0.375 1.625 -0.875 1.875 -1.875 -0.125 -1.125 -0.125 -0.375 2.125 -0.375 1.125 0.625 -0.375 -0.125 -1.625 0.625 -0.375 -1.125
// in: -1.375 -1.375 1.875 -0.625 1.625 -1.625 -1.625 -0.375 2.125 -0.125 0.875 1.125
// in: 2 3 1 1 1 3
// in: 1 3 2 3 3 1
// out: -0.9375 -6.8125 3.78125 0.0 0.15625 1.8125 -1.5 3.09375 3.625 -4.15625 1.375 1.0625 -0.90625 -5.0625 0.96875 0.0 0.625 0.09375 -0.40625 1.3125 1.25 0.5625 -0.71875 2.03125 -3.1875 8.125 0.125 5.71875 -0.40625 4.6875
// out: -7.8125 3.1875
// out: -4.125 3.875 3.875 3.0625 -2.75 -0.75 -6.375 1.5625 -0.9375 -0.8125 1.5625 0.0625 5.4375 -1.0625 -3.3125 1.875 2.5625 5.0625
// out: 1.890625 1.890625 -2.578125 0.859375 1.890625 1.890625 -2.578125 0.859375 -2.578125 -2.578125 3.515625 -1.171875 0.859375 0.859375 -1.171875 0.390625 -2.234375 2.234375 2.234375 0.515625 -2.234375 2.234375 2.234375 0.515625 3.046875 -3.046875 -3.046875 -0.703125 -1.015625 1.015625 1.015625 0.234375 -2.921875 0.171875 -1.203125 -1.546875 -2.921875 0.171875 -1.203125 -1.546875 3.984375 -0.234375 1.640625 2.109375 -1.328125 0.078125 -0.546875 -0.703125 -2.234375 -2.234375 3.046875 -1.015625 2.234375 2.234375 -3.046875 1.015625 2.234375 2.234375 -3.046875 1.015625 0.515625 0.515625 -0.703125 0.234375 2.640625 -2.640625 -2.640625 -0.609375 -2.640625 2.640625 2.640625 0.609375 -2.640625 2.640625 2.640625 0.609375 -0.609375 0.609375 0.609375 0.140625 3.453125 -0.203125 1.421875 1.828125 -3.453125 0.203125 -1.421875 -1.828125 -3.453125 0.203125 -1.421875 -1.828125 -0.796875 0.046875 -0.328125 -0.421875 -2.921875 -2.921875 3.984375 -1.328125 0.171875 0.171875 -0.234375 0.078125 -1.203125 -1.203125 1.640625 -0.546875 -1.546875 -1.546875 2.109375 -0.703125 3.453125 -3.453125 -3.453125 -0.796875 -0.203125 0.203125 0.203125 0.046875 1.421875 -1.421875 -1.421875 -0.328125 1.828125 -1.828125 -1.828125 -0.421875 4.515625 -0.265625 1.859375 2.390625 -0.265625 0.015625 -0.109375 -0.140625 1.859375 -0.109375 0.765625 0.984375 2.390625 -0.140625 0.984375 1.265625
// out: 11 15 7 4 6 3 10 12 5
// out: -0.9375 0.0 1.8125 1.25 1.375 8.125 -6.8125 0.625 -1.5 0.5625 1.0625 0.125 3.78125 0.09375 3.09375 -0.71875 -0.90625 5.71875 0.0 -0.40625 3.625 2.03125 -5.0625 -0.40625 0.15625 1.3125 -4.15625 -3.1875 0.96875 4.6875
// out: -4.125 3.875 3.875 3.0625 -2.75 -0.75 -6.375 1.5625 -0.9375 -0.8125 1.5625 0.0625 5.4375 -1.0625 -3.3125 1.875 2.5625 5.0625
// out: 7.6875 -2.8125 -1.8125
// out: -2.8125
