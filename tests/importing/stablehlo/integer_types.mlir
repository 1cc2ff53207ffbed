module @jit_integer_types attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xui32>, %arg1: tensor<6xui32>, %arg2: tensor<6xi16>, %arg3: tensor<6xui16>) -> (tensor<6xui32> {jax.result_info = "result[0]"}, tensor<6xui32> {jax.result_info = "result[1]"}, tensor<6xui32> {jax.result_info = "result[2]"}, tensor<6xui32> {jax.result_info = "result[3]"}, tensor<6xui32> {jax.result_info = "result[4]"}, tensor<6xui32> {jax.result_info = "result[5]"}, tensor<6xi1> {jax.result_info = "result[6]"}, tensor<6xi1> {jax.result_info = "result[7]"}, tensor<6xui32> {jax.result_info = "result[8]"}, tensor<6xui32> {jax.result_info = "result[9]"}, tensor<6xf32> {jax.result_info = "result[10]"}, tensor<6xi16> {jax.result_info = "result[11]"}, tensor<6xi32> {jax.result_info = "result[12]"}, tensor<ui32> {jax.result_info = "result[13]"}, tensor<ui32> {jax.result_info = "result[14]"}, tensor<ui32> {jax.result_info = "result[15]"}, tensor<ui32> {jax.result_info = "result[16]"}, tensor<i32> {jax.result_info = "result[17]"}, tensor<6xui32> {jax.result_info = "result[18]"}, tensor<6xui32> {jax.result_info = "result[19]"}, tensor<6xui32> {jax.result_info = "result[20]"}, tensor<6xi16> {jax.result_info = "result[21]"}, tensor<6xi16> {jax.result_info = "result[22]"}, tensor<6xi16> {jax.result_info = "result[23]"}, tensor<6xi16> {jax.result_info = "result[24]"}, tensor<6xui16> {jax.result_info = "result[25]"}, tensor<6xui32> {jax.result_info = "result[26]"}, tensor<i16> {jax.result_info = "result[27]"}, tensor<i16> {jax.result_info = "result[28]"}, tensor<6xui16> {jax.result_info = "result[29]"}, tensor<6xui16> {jax.result_info = "result[30]"}, tensor<6xui16> {jax.result_info = "result[31]"}, tensor<6xi1> {jax.result_info = "result[32]"}, tensor<6xi32> {jax.result_info = "result[33]"}, tensor<ui16> {jax.result_info = "result[34]"}, tensor<6xui32> {jax.result_info = "result[35]"}, tensor<6xui16> {jax.result_info = "result[36]"}, tensor<6xui32> {jax.result_info = "result[37]"}, tensor<2xui32> {jax.result_info = "result[38]"}) {
    %c = stablehlo.constant dense<1431655765> : tensor<ui32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui32>) -> tensor<6xui32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<6xui32>
    %2 = stablehlo.subtract %1, %arg1 : tensor<6xui32>
    %c_0 = stablehlo.constant dense<12345> : tensor<i16>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i16>) -> tensor<6xi16>
    %4 = stablehlo.multiply %arg2, %3 : tensor<6xi16>
    %c_1 = stablehlo.constant dense<2> : tensor<ui16>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<ui16>) -> tensor<6xui16>
    %6 = stablehlo.subtract %arg3, %5 : tensor<6xui16>
    %7 = stablehlo.add %2, %arg1 : tensor<6xui32>
    %8 = stablehlo.multiply %2, %2 : tensor<6xui32>
    %9 = call @floor_divide(%2, %arg1) : (tensor<6xui32>, tensor<6xui32>) -> tensor<6xui32>
    %10 = call @remainder(%2, %arg1) : (tensor<6xui32>, tensor<6xui32>) -> tensor<6xui32>
    %11 = stablehlo.shift_right_logical %2, %arg1 : tensor<6xui32>
    %12 = stablehlo.shift_left %2, %arg1 : tensor<6xui32>
    %13 = stablehlo.compare LT, %2, %arg1, UNSIGNED : (tensor<6xui32>, tensor<6xui32>) -> tensor<6xi1>
    %14 = stablehlo.compare GE, %2, %arg1, UNSIGNED : (tensor<6xui32>, tensor<6xui32>) -> tensor<6xi1>
    %15 = stablehlo.maximum %2, %arg1 : tensor<6xui32>
    %16 = stablehlo.minimum %2, %arg1 : tensor<6xui32>
    %17 = stablehlo.convert %2 : (tensor<6xui32>) -> tensor<6xf32>
    %18 = stablehlo.convert %2 : (tensor<6xui32>) -> tensor<6xi16>
    %19 = stablehlo.convert %2 : (tensor<6xui32>) -> tensor<6xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<ui32>
    %20 = stablehlo.reduce(%2 init: %c_2) applies stablehlo.maximum across dimensions = [0] : (tensor<6xui32>, tensor<ui32>) -> tensor<ui32>
    %c_3 = stablehlo.constant dense<4294967295> : tensor<ui32>
    %21 = stablehlo.reduce(%2 init: %c_3) applies stablehlo.minimum across dimensions = [0] : (tensor<6xui32>, tensor<ui32>) -> tensor<ui32>
    %c_4 = stablehlo.constant dense<0> : tensor<ui32>
    %22 = stablehlo.reduce(%2 init: %c_4) applies stablehlo.add across dimensions = [0] : (tensor<6xui32>, tensor<ui32>) -> tensor<ui32>
    %c_5 = stablehlo.constant dense<1> : tensor<ui32>
    %23 = stablehlo.reduce(%2 init: %c_5) applies stablehlo.multiply across dimensions = [0] : (tensor<6xui32>, tensor<ui32>) -> tensor<ui32>
    %24 = call @argmax(%2) : (tensor<6xui32>) -> tensor<i32>
    %25 = call @cumsum(%2) : (tensor<6xui32>) -> tensor<6xui32>
    %26 = stablehlo.not %2 : tensor<6xui32>
    %c_6 = stablehlo.constant dense<1> : tensor<ui32>
    %c_7 = stablehlo.constant dense<4000000000> : tensor<ui32>
    %27 = call @clip(%2, %c_6, %c_7) : (tensor<6xui32>, tensor<ui32>, tensor<ui32>) -> tensor<6xui32>
    %c_8 = stablehlo.constant dense<1> : tensor<i16>
    %28 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i16>) -> tensor<6xi16>
    %29 = stablehlo.shift_right_arithmetic %4, %28 : tensor<6xi16>
    %30 = call @floor_divide_1(%4, %arg2) : (tensor<6xi16>, tensor<6xi16>) -> tensor<6xi16>
    %31 = stablehlo.sign %4 : tensor<6xi16>
    %32 = stablehlo.convert %4 : (tensor<6xi16>) -> tensor<6xui16>
    %33 = stablehlo.convert %4 : (tensor<6xi16>) -> tensor<6xui32>
    %c_9 = stablehlo.constant dense<-32768> : tensor<i16>
    %34 = stablehlo.reduce(%4 init: %c_9) applies stablehlo.maximum across dimensions = [0] : (tensor<6xi16>, tensor<i16>) -> tensor<i16>
    %c_10 = stablehlo.constant dense<32767> : tensor<i16>
    %35 = stablehlo.reduce(%4 init: %c_10) applies stablehlo.minimum across dimensions = [0] : (tensor<6xi16>, tensor<i16>) -> tensor<i16>
    %36 = stablehlo.negate %6 : tensor<6xui16>
    %37 = stablehlo.multiply %6, %6 : tensor<6xui16>
    %38 = stablehlo.compare GT, %6, %arg3, UNSIGNED : (tensor<6xui16>, tensor<6xui16>) -> tensor<6xi1>
    %39 = stablehlo.convert %6 : (tensor<6xui16>) -> tensor<6xi32>
    %c_11 = stablehlo.constant dense<65535> : tensor<ui16>
    %40 = stablehlo.reduce(%6 init: %c_11) applies stablehlo.minimum across dimensions = [0] : (tensor<6xui16>, tensor<ui16>) -> tensor<ui16>
    %41 = stablehlo.convert %2 : (tensor<6xui32>) -> tensor<6xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %43 = stablehlo.multiply %41, %42 : tensor<6xf32>
    %44 = stablehlo.convert %43 : (tensor<6xf32>) -> tensor<6xui32>
    %45 = stablehlo.convert %4 : (tensor<6xi16>) -> tensor<6xf32>
    %cst_12 = stablehlo.constant dense<-3.000000e+00> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %47 = stablehlo.multiply %45, %46 : tensor<6xf32>
    %48 = stablehlo.convert %47 : (tensor<6xf32>) -> tensor<6xui16>
    %49 = stablehlo.compare GT, %2, %arg1, UNSIGNED : (tensor<6xui32>, tensor<6xui32>) -> tensor<6xi1>
    %50 = call @_where(%49, %2, %arg1) : (tensor<6xi1>, tensor<6xui32>, tensor<6xui32>) -> tensor<6xui32>
    %c_13 = stablehlo.constant dense<4294967295> : tensor<ui32>
    %51 = stablehlo.broadcast_in_dim %c_13, dims = [] : (tensor<ui32>) -> tensor<2xui32>
    return %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %4, %29, %30, %31, %32, %33, %34, %35, %6, %36, %37, %38, %39, %40, %44, %48, %50, %51 : tensor<6xui32>, tensor<6xui32>, tensor<6xui32>, tensor<6xui32>, tensor<6xui32>, tensor<6xui32>, tensor<6xi1>, tensor<6xi1>, tensor<6xui32>, tensor<6xui32>, tensor<6xf32>, tensor<6xi16>, tensor<6xi32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<i32>, tensor<6xui32>, tensor<6xui32>, tensor<6xui32>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xui16>, tensor<6xui32>, tensor<i16>, tensor<i16>, tensor<6xui16>, tensor<6xui16>, tensor<6xui16>, tensor<6xi1>, tensor<6xi32>, tensor<ui16>, tensor<6xui32>, tensor<6xui16>, tensor<6xui32>, tensor<2xui32>
  }
  func.func private @floor_divide(%arg0: tensor<6xui32>, %arg1: tensor<6xui32>) -> tensor<6xui32> {
    %0 = stablehlo.divide %arg0, %arg1 : tensor<6xui32>
    return %0 : tensor<6xui32>
  }
  func.func private @remainder(%arg0: tensor<6xui32>, %arg1: tensor<6xui32>) -> tensor<6xui32> {
    %c = stablehlo.constant dense<0> : tensor<ui32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui32>) -> tensor<6xui32>
    %1 = stablehlo.compare EQ, %arg1, %0, UNSIGNED : (tensor<6xui32>, tensor<6xui32>) -> tensor<6xi1>
    %c_0 = stablehlo.constant dense<1> : tensor<ui32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui32>) -> tensor<6xui32>
    %3 = call @_where(%1, %2, %arg1) : (tensor<6xi1>, tensor<6xui32>, tensor<6xui32>) -> tensor<6xui32>
    %4 = stablehlo.remainder %arg0, %3 : tensor<6xui32>
    %c_1 = stablehlo.constant dense<0> : tensor<ui32>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<ui32>) -> tensor<6xui32>
    %6 = stablehlo.compare NE, %4, %5, UNSIGNED : (tensor<6xui32>, tensor<6xui32>) -> tensor<6xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<ui32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<ui32>) -> tensor<6xui32>
    %8 = stablehlo.compare LT, %4, %7, UNSIGNED : (tensor<6xui32>, tensor<6xui32>) -> tensor<6xi1>
    %c_3 = stablehlo.constant dense<0> : tensor<ui32>
    %9 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<ui32>) -> tensor<6xui32>
    %10 = stablehlo.compare LT, %3, %9, UNSIGNED : (tensor<6xui32>, tensor<6xui32>) -> tensor<6xi1>
    %11 = stablehlo.compare NE, %8, %10, UNSIGNED : (tensor<6xi1>, tensor<6xi1>) -> tensor<6xi1>
    %12 = stablehlo.and %11, %6 : tensor<6xi1>
    %13 = stablehlo.add %4, %3 : tensor<6xui32>
    %14 = stablehlo.select %12, %13, %4 : tensor<6xi1>, tensor<6xui32>
    return %14 : tensor<6xui32>
  }
  func.func private @_where(%arg0: tensor<6xi1>, %arg1: tensor<6xui32>, %arg2: tensor<6xui32>) -> tensor<6xui32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<6xi1>, tensor<6xui32>
    return %0 : tensor<6xui32>
  }
  func.func private @argmax(%arg0: tensor<6xui32>) -> tensor<i32> {
    %0 = stablehlo.iota dim = 0 : tensor<6xi32>
    %c = stablehlo.constant dense<0> : tensor<ui32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %c), (%0 init: %c_0) across dimensions = [0] : (tensor<6xui32>, tensor<6xi32>, tensor<ui32>, tensor<i32>) -> (tensor<ui32>, tensor<i32>)
     reducer(%arg1: tensor<ui32>, %arg3: tensor<ui32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, UNSIGNED : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, UNSIGNED : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, UNSIGNED : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<ui32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<ui32>, tensor<i32>
    }
    return %1#1 : tensor<i32>
  }
  func.func private @cumsum(%arg0: tensor<6xui32>) -> tensor<6xui32> {
    %0 = call @cumsum_0(%arg0) : (tensor<6xui32>) -> tensor<6xui32>
    return %0 : tensor<6xui32>
  }
  func.func private @cumsum_0(%arg0: tensor<6xui32>) -> tensor<6xui32> {
    %c = stablehlo.constant dense<0> : tensor<ui32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui32>) -> tensor<ui32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1>, padding = dense<[[5, 0]]> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 6>, window_strides = array<i64: 1>}> ({
    ^bb0(%arg1: tensor<ui32>, %arg2: tensor<ui32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<ui32>
      stablehlo.return %2 : tensor<ui32>
    }) : (tensor<6xui32>, tensor<ui32>) -> tensor<6xui32>
    return %1 : tensor<6xui32>
  }
  func.func private @clip(%arg0: tensor<6xui32>, %arg1: tensor<ui32>, %arg2: tensor<ui32>) -> tensor<6xui32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<ui32>) -> tensor<6xui32>
    %1 = stablehlo.maximum %0, %arg0 : tensor<6xui32>
    %2 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<ui32>) -> tensor<6xui32>
    %3 = stablehlo.minimum %2, %1 : tensor<6xui32>
    return %3 : tensor<6xui32>
  }
  func.func private @floor_divide_1(%arg0: tensor<6xi16>, %arg1: tensor<6xi16>) -> tensor<6xi16> {
    %0 = stablehlo.divide %arg0, %arg1 : tensor<6xi16>
    %1 = stablehlo.sign %arg0 : tensor<6xi16>
    %2 = stablehlo.sign %arg1 : tensor<6xi16>
    %3 = stablehlo.compare NE, %1, %2, SIGNED : (tensor<6xi16>, tensor<6xi16>) -> tensor<6xi1>
    %4 = stablehlo.remainder %arg0, %arg1 : tensor<6xi16>
    %c = stablehlo.constant dense<0> : tensor<i16>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i16>) -> tensor<6xi16>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<6xi16>, tensor<6xi16>) -> tensor<6xi1>
    %7 = stablehlo.and %3, %6 : tensor<6xi1>
    %c_0 = stablehlo.constant dense<1> : tensor<i16>
    %8 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i16>) -> tensor<6xi16>
    %9 = stablehlo.subtract %0, %8 : tensor<6xi16>
    %10 = call @_where_2(%7, %9, %0) : (tensor<6xi1>, tensor<6xi16>, tensor<6xi16>) -> tensor<6xi16>
    return %10 : tensor<6xi16>
  }
  func.func private @_where_2(%arg0: tensor<6xi1>, %arg1: tensor<6xi16>, %arg2: tensor<6xi16>) -> tensor<6xi16> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<6xi1>, tensor<6xi16>
    return %0 : tensor<6xi16>
  }
}

// in: 3 3 3 3 1 3
// in: 3 1 1 1 3 3
// in: 2 2 3 1 3 3
// in: 1 3 3 1 2 3
// out: 4294967295 4294967295 4294967295 4294967295 1431655765 4294967295
// out: 16 4 4 4 954437188 16
// out: 1431655764 4294967294 4294967294 4294967294 477218587 1431655764
// out: 0 0 0 0 1 0
// out: 536870911 2147483647 2147483647 2147483647 178956970 536870911
// out: 4294967264 4294967292 4294967292 4294967292 2863311504 4294967264
// out: 0 0 0 0 0 0
// out: 1 1 1 1 1 1
// out: 4294967292 4294967294 4294967294 4294967294 1431655762 4294967292
// out: 3 1 1 1 3 3
// out: 4.2949673e+09 4.2949673e+09 4.2949673e+09 4.2949673e+09 1.4316558e+09 4.2949673e+09
// out: -4 -2 -2 -2 21842 -4
// out: -4 -2 -2 -2 1431655762 -4
// out: 4294967294
// out: 1431655762
// out: 1431655748
// out: 1431656192
// out: 1
// out: 4294967292 4294967290 4294967288 4294967286 1431655752 1431655748
// out: 3 1 1 1 2863311533 3
// out: 4000000000 4000000000 4000000000 4000000000 1431655762 4000000000
// out: 24690 24690 -28501 12345 -28501 -28501
// out: 12345 12345 -14251 6172 -14251 -14251
// out: 12345 12345 -9501 12345 -9501 -9501
// out: 1 1 -1 1 -1 -1
// out: 24690 24690 37035 12345 37035 37035
// out: 24690 24690 4294938795 12345 4294938795 4294938795
// out: 24690
// out: -28501
// out: 65535 1 1 65535 0 1
// out: 1 65535 65535 1 0 65535
// out: 1 1 1 1 0 1
// out: 1 0 0 1 0 0
// out: 65535 1 1 65535 0 1
// out: 0
// out: 4294967295 4294967295 4294967295 4294967295 2863311616 4294967295
// out: 0 0 65535 0 65535 65535
// out: 4294967292 4294967294 4294967294 4294967294 1431655762 4294967292
// out: 4294967295 4294967295
