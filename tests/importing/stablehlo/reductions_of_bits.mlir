module @jit_reductions_of_bits attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x6xi32>, %arg1: tensor<4x6xui8>, %arg2: tensor<4x6xi1>, %arg3: tensor<4x6xf32>) -> (tensor<4xi32> {jax.result_info = "result[0]"}, tensor<6xi32> {jax.result_info = "result[1]"}, tensor<4xi32> {jax.result_info = "result[2]"}, tensor<6xui8> {jax.result_info = "result[3]"}, tensor<ui8> {jax.result_info = "result[4]"}, tensor<6xi1> {jax.result_info = "result[5]"}, tensor<i1> {jax.result_info = "result[6]"}, tensor<i32> {jax.result_info = "result[7]"}, tensor<4xi32> {jax.result_info = "result[8]"}, tensor<4xf32> {jax.result_info = "result[9]"}, tensor<4xf32> {jax.result_info = "result[10]"}, tensor<4xf32> {jax.result_info = "result[11]"}, tensor<4xi32> {jax.result_info = "result[12]"}, tensor<6xi32> {jax.result_info = "result[13]"}, tensor<i32> {jax.result_info = "result[14]"}, tensor<4xi32> {jax.result_info = "result[15]"}, tensor<4x6xf32> {jax.result_info = "result[16]"}, tensor<4xi32> {jax.result_info = "result[17]"}, tensor<4xi32> {jax.result_info = "result[18]"}, tensor<f32> {jax.result_info = "result[19]"}) {
    %0 = stablehlo.abs %arg3 : tensor<4x6xf32>
    %cst = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1:2 = stablehlo.reduce(%0 init: %cst), (%arg3 init: %cst_0) across dimensions = [1] : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
     reducer(%arg4: tensor<f32>, %arg6: tensor<f32>) (%arg5: tensor<f32>, %arg7: tensor<f32>)  {
      %42 = stablehlo.maximum %arg4, %arg6 : tensor<f32>
      %43 = stablehlo.compare GT, %arg6, %arg4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %44 = func.call @_where(%43, %arg7, %arg5) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      stablehlo.return %42, %44 : tensor<f32>, tensor<f32>
    }
    %2 = call @reduce(%arg0) : (tensor<4x6xi32>) -> tensor<4xi32>
    %3 = call @reduce_0(%arg0) : (tensor<4x6xi32>) -> tensor<6xi32>
    %4 = call @reduce_1(%arg0) : (tensor<4x6xi32>) -> tensor<4xi32>
    %5 = call @reduce_2(%arg1) : (tensor<4x6xui8>) -> tensor<6xui8>
    %6 = call @reduce_3(%arg1) : (tensor<4x6xui8>) -> tensor<ui8>
    %c = stablehlo.constant dense<false> : tensor<i1>
    %7 = stablehlo.reduce(%arg2 init: %c) applies stablehlo.xor across dimensions = [0] : (tensor<4x6xi1>, tensor<i1>) -> tensor<6xi1>
    %c_1 = stablehlo.constant dense<false> : tensor<i1>
    %8 = stablehlo.reduce(%arg2 init: %c_1) applies stablehlo.xor across dimensions = [0, 1] : (tensor<4x6xi1>, tensor<i1>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<5> : tensor<i32>
    %9 = stablehlo.reduce(%arg0 init: %c_2) applies stablehlo.xor across dimensions = [0, 1] : (tensor<4x6xi32>, tensor<i32>) -> tensor<i32>
    %c_3 = stablehlo.constant dense<6> : tensor<i32>
    %10 = stablehlo.reduce(%arg0 init: %c_3) applies stablehlo.or across dimensions = [1] : (tensor<4x6xi32>, tensor<i32>) -> tensor<4xi32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%arg3 init: %cst_4) across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
     reducer(%arg4: tensor<f32>, %arg5: tensor<f32>)  {
      %cst_13 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
      %42 = stablehlo.multiply %arg4, %cst_13 : tensor<f32>
      %43 = stablehlo.add %42, %arg5 : tensor<f32>
      stablehlo.return %43 : tensor<f32>
    }
    %12 = call @argmax(%arg2) : (tensor<4x6xi1>) -> tensor<4xi32>
    %13 = call @argmin(%arg2) : (tensor<4x6xi1>) -> tensor<6xi32>
    %14 = stablehlo.reshape %arg2 : (tensor<4x6xi1>) -> tensor<24xi1>
    %15 = call @argmax_4(%14) : (tensor<24xi1>) -> tensor<i32>
    %c_5 = stablehlo.constant dense<false> : tensor<i1>
    %16 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i1>) -> tensor<4x6xi1>
    %17 = stablehlo.and %arg2, %16 : tensor<4x6xi1>
    %18 = call @argmin_5(%17) : (tensor<4x6xi1>) -> tensor<4xi32>
    %c_6 = stablehlo.constant dense<2> : tensor<i32>
    %19 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %20 = stablehlo.compare GT, %arg0, %19, SIGNED : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
    %21 = stablehlo.negate %arg3 : tensor<4x6xf32>
    %c_7 = stablehlo.constant dense<false> : tensor<i1>
    %22 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i1>) -> tensor<4x6xi1>
    %23 = stablehlo.broadcast_in_dim %22, dims = [1, 2] : (tensor<4x6xi1>) -> tensor<1x4x6xi1>
    %24 = stablehlo.broadcast_in_dim %arg2, dims = [1, 2] : (tensor<4x6xi1>) -> tensor<1x4x6xi1>
    %25 = stablehlo.broadcast_in_dim %20, dims = [1, 2] : (tensor<4x6xi1>) -> tensor<1x4x6xi1>
    %26 = stablehlo.concatenate %23, %24, %25, dim = 0 : (tensor<1x4x6xi1>, tensor<1x4x6xi1>, tensor<1x4x6xi1>) -> tensor<3x4x6xi1>
    %27 = call @argmax_6(%26) : (tensor<3x4x6xi1>) -> tensor<4x6xi32>
    %cst_8 = stablehlo.constant dense<9.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %c_9 = stablehlo.constant dense<1> : tensor<i32>
    %29 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %30 = stablehlo.compare LT, %27, %29, SIGNED : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
    %c_10 = stablehlo.constant dense<2> : tensor<i32>
    %31 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %32 = stablehlo.compare LT, %27, %31, SIGNED : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
    %33 = stablehlo.select %32, %arg3, %21 : tensor<4x6xi1>, tensor<4x6xf32>
    %34 = stablehlo.select %30, %28, %33 : tensor<4x6xi1>, tensor<4x6xf32>
    %35 = stablehlo.slice %arg0 [0:4, 0:0] : (tensor<4x6xi32>) -> tensor<4x0xi32>
    %36 = call @reduce_7(%35) : (tensor<4x0xi32>) -> tensor<4xi32>
    %cst_11 = stablehlo.constant dense<1.000000e+02> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %38 = stablehlo.compare GT, %arg3, %37, FLOAT : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
    %39 = call @argmax(%38) : (tensor<4x6xi1>) -> tensor<4xi32>
    %40 = stablehlo.convert %arg2 : (tensor<4x6xi1>) -> tensor<4x6xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.reduce(%40 init: %cst_12) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    return %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %1#0, %1#1, %12, %13, %15, %18, %34, %36, %39, %41 : tensor<4xi32>, tensor<6xi32>, tensor<4xi32>, tensor<6xui8>, tensor<ui8>, tensor<6xi1>, tensor<i1>, tensor<i32>, tensor<4xi32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<6xi32>, tensor<i32>, tensor<4xi32>, tensor<4x6xf32>, tensor<4xi32>, tensor<4xi32>, tensor<f32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @reduce(%arg0: tensor<4x6xi32>) -> tensor<4xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.reduce(%arg0 init: %c) applies stablehlo.xor across dimensions = [1] : (tensor<4x6xi32>, tensor<i32>) -> tensor<4xi32>
    return %0 : tensor<4xi32>
  }
  func.func private @reduce_0(%arg0: tensor<4x6xi32>) -> tensor<6xi32> {
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %0 = stablehlo.reduce(%arg0 init: %c) applies stablehlo.and across dimensions = [0] : (tensor<4x6xi32>, tensor<i32>) -> tensor<6xi32>
    return %0 : tensor<6xi32>
  }
  func.func private @reduce_1(%arg0: tensor<4x6xi32>) -> tensor<4xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.reduce(%arg0 init: %c) applies stablehlo.or across dimensions = [1] : (tensor<4x6xi32>, tensor<i32>) -> tensor<4xi32>
    return %0 : tensor<4xi32>
  }
  func.func private @reduce_2(%arg0: tensor<4x6xui8>) -> tensor<6xui8> {
    %c = stablehlo.constant dense<0> : tensor<ui8>
    %0 = stablehlo.reduce(%arg0 init: %c) applies stablehlo.xor across dimensions = [0] : (tensor<4x6xui8>, tensor<ui8>) -> tensor<6xui8>
    return %0 : tensor<6xui8>
  }
  func.func private @reduce_3(%arg0: tensor<4x6xui8>) -> tensor<ui8> {
    %c = stablehlo.constant dense<255> : tensor<ui8>
    %0 = stablehlo.reduce(%arg0 init: %c) applies stablehlo.and across dimensions = [0, 1] : (tensor<4x6xui8>, tensor<ui8>) -> tensor<ui8>
    return %0 : tensor<ui8>
  }
  func.func private @argmax(%arg0: tensor<4x6xi1>) -> tensor<4xi32> {
    %0 = stablehlo.iota dim = 1 : tensor<4x6xi32>
    %c = stablehlo.constant dense<false> : tensor<i1>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %c), (%0 init: %c_0) across dimensions = [1] : (tensor<4x6xi1>, tensor<4x6xi32>, tensor<i1>, tensor<i32>) -> (tensor<4xi1>, tensor<4xi32>)
     reducer(%arg1: tensor<i1>, %arg3: tensor<i1>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<i1>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<i1>, tensor<i32>
    }
    return %1#1 : tensor<4xi32>
  }
  func.func private @argmin(%arg0: tensor<4x6xi1>) -> tensor<6xi32> {
    %0 = stablehlo.iota dim = 0 : tensor<4x6xi32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %c), (%0 init: %c_0) across dimensions = [0] : (tensor<4x6xi1>, tensor<4x6xi32>, tensor<i1>, tensor<i32>) -> (tensor<6xi1>, tensor<6xi32>)
     reducer(%arg1: tensor<i1>, %arg3: tensor<i1>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare LT, %arg1, %arg3, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<i1>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<i1>, tensor<i32>
    }
    return %1#1 : tensor<6xi32>
  }
  func.func private @argmax_4(%arg0: tensor<24xi1>) -> tensor<i32> {
    %0 = stablehlo.iota dim = 0 : tensor<24xi32>
    %c = stablehlo.constant dense<false> : tensor<i1>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %c), (%0 init: %c_0) across dimensions = [0] : (tensor<24xi1>, tensor<24xi32>, tensor<i1>, tensor<i32>) -> (tensor<i1>, tensor<i32>)
     reducer(%arg1: tensor<i1>, %arg3: tensor<i1>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<i1>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<i1>, tensor<i32>
    }
    return %1#1 : tensor<i32>
  }
  func.func private @argmin_5(%arg0: tensor<4x6xi1>) -> tensor<4xi32> {
    %0 = stablehlo.iota dim = 1 : tensor<4x6xi32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %c), (%0 init: %c_0) across dimensions = [1] : (tensor<4x6xi1>, tensor<4x6xi32>, tensor<i1>, tensor<i32>) -> (tensor<4xi1>, tensor<4xi32>)
     reducer(%arg1: tensor<i1>, %arg3: tensor<i1>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare LT, %arg1, %arg3, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<i1>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<i1>, tensor<i32>
    }
    return %1#1 : tensor<4xi32>
  }
  func.func private @argmax_6(%arg0: tensor<3x4x6xi1>) -> tensor<4x6xi32> {
    %0 = stablehlo.iota dim = 0 : tensor<3x4x6xi32>
    %c = stablehlo.constant dense<false> : tensor<i1>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %c), (%0 init: %c_0) across dimensions = [0] : (tensor<3x4x6xi1>, tensor<3x4x6xi32>, tensor<i1>, tensor<i32>) -> (tensor<4x6xi1>, tensor<4x6xi32>)
     reducer(%arg1: tensor<i1>, %arg3: tensor<i1>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<i1>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<i1>, tensor<i32>
    }
    return %1#1 : tensor<4x6xi32>
  }
  func.func private @reduce_7(%arg0: tensor<4x0xi32>) -> tensor<4xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.reduce(%arg0 init: %c) applies stablehlo.xor across dimensions = [1] : (tensor<4x0xi32>, tensor<i32>) -> tensor<4xi32>
    return %0 : tensor<4xi32>
  }
}

// in: 3 2 1 3 3 1 2 1 3 3 3 2 2 2 3 2 3 2 2 1 3 1 2 3
// in: 2 3 2 3 2 3 1 0 2 2 0 2 3 2 0 2 2 0 2 2 3 3 3 0
// in: 0 1 1 0 0 0 1 1 1 1 0 1 0 0 1 1 1 0 1 1 1 0 0 1
// in: 1.375 1.625 1.125 -1.375 -1.375 -1.375 -1.375 1.125 0.125 -1.375 1.625 -1.875 1.625 -1.125 1.125 -0.375 -0.375 0.875 -1.125 0.875 -0.375 -1.125 -0.375 -1.125
// out: 1 2 0 0
// out: 2 0 1 0 2 0
// out: 3 3 3 3
// out: 2 3 3 0 3 1
// out: 0
// out: 0 1 0 0 1 0
// out: 0
// out: 6
// out: 7 7 7 7
// out: -2.1210938 -1.3632812 0.71484375 -1.6210938
// out: 1.625 1.875 1.625 1.125
// out: 1.625 -1.875 1.625 -1.125
// out: 1 0 2 0
// out: 0 2 0 0 0 0
// out: 1
// out: 0 0 0 0
// out: -1.375 1.625 1.125 1.375 1.375 9.0 -1.375 1.125 0.125 -1.375 -1.625 -1.875 9.0 9.0 1.125 -0.375 -0.375 9.0 -1.125 0.875 -0.375 9.0 9.0 -1.125
// out: 0 0 0 0
// out: 0 0 0 0
// out: 14.0
