module @jit_narrow_indices attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x5xf32>, %arg1: tensor<4x6xui8>) -> (tensor<3xui8> {jax.result_info = "result[0]"}, tensor<5xui32> {jax.result_info = "result[1]"}, tensor<3xi8> {jax.result_info = "result[2]"}, tensor<4xi16> {jax.result_info = "result[3]"}) {
    %0 = call @argmax(%arg0) : (tensor<3x5xf32>) -> tensor<3xui8>
    %1 = call @argmin(%arg0) : (tensor<3x5xf32>) -> tensor<5xui32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
    %3 = stablehlo.compare GT, %arg0, %2, FLOAT : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xi1>
    %4 = call @argmax_0(%3) : (tensor<3x5xi1>) -> tensor<3xi8>
    %5 = call @argmin_1(%arg1) : (tensor<4x6xui8>) -> tensor<4xi16>
    return %0, %1, %4, %5 : tensor<3xui8>, tensor<5xui32>, tensor<3xi8>, tensor<4xi16>
  }
  func.func private @argmax(%arg0: tensor<3x5xf32>) -> tensor<3xui8> {
    %0 = stablehlo.iota dim = 1 : tensor<3x5xui8>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<ui8>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<3x5xf32>, tensor<3x5xui8>, tensor<f32>, tensor<ui8>) -> (tensor<3xf32>, tensor<3xui8>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<ui8>, %arg4: tensor<ui8>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, UNSIGNED : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<ui8>
      stablehlo.return %9, %10 : tensor<f32>, tensor<ui8>
    }
    return %1#1 : tensor<3xui8>
  }
  func.func private @argmin(%arg0: tensor<3x5xf32>) -> tensor<5xui32> {
    %0 = stablehlo.iota dim = 0 : tensor<3x5xui32>
    %cst = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<ui32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [0] : (tensor<3x5xf32>, tensor<3x5xui32>, tensor<f32>, tensor<ui32>) -> (tensor<5xf32>, tensor<5xui32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<ui32>, %arg4: tensor<ui32>)  {
      %2 = stablehlo.compare LT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, UNSIGNED : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<ui32>
      stablehlo.return %9, %10 : tensor<f32>, tensor<ui32>
    }
    return %1#1 : tensor<5xui32>
  }
  func.func private @argmax_0(%arg0: tensor<3x5xi1>) -> tensor<3xi8> {
    %0 = stablehlo.iota dim = 1 : tensor<3x5xi8>
    %c = stablehlo.constant dense<false> : tensor<i1>
    %c_0 = stablehlo.constant dense<0> : tensor<i8>
    %1:2 = stablehlo.reduce(%arg0 init: %c), (%0 init: %c_0) across dimensions = [1] : (tensor<3x5xi1>, tensor<3x5xi8>, tensor<i1>, tensor<i8>) -> (tensor<3xi1>, tensor<3xi8>)
     reducer(%arg1: tensor<i1>, %arg3: tensor<i1>) (%arg2: tensor<i8>, %arg4: tensor<i8>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<i1>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i8>
      stablehlo.return %9, %10 : tensor<i1>, tensor<i8>
    }
    return %1#1 : tensor<3xi8>
  }
  func.func private @argmin_1(%arg0: tensor<4x6xui8>) -> tensor<4xi16> {
    %0 = stablehlo.iota dim = 1 : tensor<4x6xi16>
    %c = stablehlo.constant dense<255> : tensor<ui8>
    %c_0 = stablehlo.constant dense<0> : tensor<i16>
    %1:2 = stablehlo.reduce(%arg0 init: %c), (%0 init: %c_0) across dimensions = [1] : (tensor<4x6xui8>, tensor<4x6xi16>, tensor<ui8>, tensor<i16>) -> (tensor<4xui8>, tensor<4xi16>)
     reducer(%arg1: tensor<ui8>, %arg3: tensor<ui8>) (%arg2: tensor<i16>, %arg4: tensor<i16>)  {
      %2 = stablehlo.compare LT, %arg1, %arg3, UNSIGNED : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, UNSIGNED : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, UNSIGNED : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i16>, tensor<i16>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<ui8>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i16>
      stablehlo.return %9, %10 : tensor<ui8>, tensor<i16>
    }
    return %1#1 : tensor<4xi16>
  }
}

// in: -1.375 1.625 0.875 -0.375 -1.625 0.875 -0.625 1.625 -0.625 0.625 -1.125 0.375 -1.625 1.125 -1.625
// in: 2 3 1 3 2 3 2 3 0 0 2 2 2 3 1 3 2 0 0 3 2 3 3 3
// out: 1 2 3
// out: 0 1 2 1 0
// out: 1 0 1
// out: 2 2 5 0
