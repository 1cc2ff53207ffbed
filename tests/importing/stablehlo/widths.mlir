module @jit_widths attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<4xui32>, %arg2: tensor<2x4xui8>, %arg3: tensor<3x2x2xi16>, %arg4: tensor<5xi1>) -> (tensor<2x3x4xui8> {jax.result_info = "result[0]"}, tensor<2x3x2xi16> {jax.result_info = "result[1]"}, tensor<4x4xui8> {jax.result_info = "result[2]"}, tensor<4x2xui16> {jax.result_info = "result[3]"}, tensor<2xui32> {jax.result_info = "result[4]"}, tensor<2xi1> {jax.result_info = "result[5]"}, tensor<3x2xi32> {jax.result_info = "result[6]"}, tensor<2x3x2xui8> {jax.result_info = "result[7]"}, tensor<2x3xi16> {jax.result_info = "result[8]"}, tensor<2x3xf32> {jax.result_info = "result[9]"}, tensor<0xui32> {jax.result_info = "result[10]"}, tensor<1x4x4xui8> {jax.result_info = "result[11]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<2x3xf32>) -> tensor<2x3xbf16>
    %c = stablehlo.constant dense<987654321> : tensor<ui32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui32>) -> tensor<4xui32>
    %2 = stablehlo.multiply %arg1, %1 : tensor<4xui32>
    %3 = stablehlo.bitcast_convert %arg0 : (tensor<2x3xf32>) -> tensor<2x3x4xui8>
    %4 = stablehlo.bitcast_convert %arg0 : (tensor<2x3xf32>) -> tensor<2x3x2xi16>
    %5 = stablehlo.bitcast_convert %2 : (tensor<4xui32>) -> tensor<4x4xui8>
    %6 = stablehlo.bitcast_convert %2 : (tensor<4xui32>) -> tensor<4x2xui16>
    %c_0 = stablehlo.constant dense<83> : tensor<ui8>
    %7 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui8>) -> tensor<2x4xui8>
    %8 = stablehlo.multiply %arg2, %7 : tensor<2x4xui8>
    %9 = stablehlo.bitcast_convert %8 : (tensor<2x4xui8>) -> tensor<2xui32>
    %c_1 = stablehlo.constant dense<83> : tensor<ui8>
    %10 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<ui8>) -> tensor<2x4xui8>
    %11 = stablehlo.multiply %arg2, %10 : tensor<2x4xui8>
    %12 = stablehlo.bitcast_convert %11 : (tensor<2x4xui8>) -> tensor<2xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %14 = stablehlo.compare GT, %12, %13, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    %c_2 = stablehlo.constant dense<3000> : tensor<i16>
    %15 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i16>) -> tensor<3x2x2xi16>
    %16 = stablehlo.multiply %arg3, %15 : tensor<3x2x2xi16>
    %17 = stablehlo.bitcast_convert %16 : (tensor<3x2x2xi16>) -> tensor<3x2xi32>
    %18 = stablehlo.bitcast_convert %0 : (tensor<2x3xbf16>) -> tensor<2x3x2xui8>
    %19 = stablehlo.bitcast_convert %0 : (tensor<2x3xbf16>) -> tensor<2x3xi16>
    %20 = stablehlo.bitcast_convert %arg0 : (tensor<2x3xf32>) -> tensor<2x3x4xui8>
    %21 = stablehlo.bitcast_convert %20 : (tensor<2x3x4xui8>) -> tensor<2x3xf32>
    %c_3 = stablehlo.constant dense<0> : tensor<ui8>
    %22 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<ui8>) -> tensor<0x4xui8>
    %23 = stablehlo.bitcast_convert %22 : (tensor<0x4xui8>) -> tensor<0xui32>
    %24 = stablehlo.reshape %2 : (tensor<4xui32>) -> tensor<1x4xui32>
    %25 = stablehlo.bitcast_convert %24 : (tensor<1x4xui32>) -> tensor<1x4x4xui8>
    return %3, %4, %5, %6, %9, %14, %17, %18, %19, %21, %23, %25 : tensor<2x3x4xui8>, tensor<2x3x2xi16>, tensor<4x4xui8>, tensor<4x2xui16>, tensor<2xui32>, tensor<2xi1>, tensor<3x2xi32>, tensor<2x3x2xui8>, tensor<2x3xi16>, tensor<2x3xf32>, tensor<0xui32>, tensor<1x4x4xui8>
  }
}

// in: -0.125 0.375 0.125 -0.625 2.125 -0.375
// in: 2 2 2 3
// in: 0 2 1 2 3 1 2 2
// in: 2 1 2 1 3 3 3 1 3 3 2 3
// in: 1 1 0 0 0
// out: 0 0 0 190 0 0 192 62 0 0 0 62 0 0 32 191 0 0 8 64 0 0 192 190
// out: 0 -16896 0 16064 0 15872 0 -16608 0 16392 0 -16704
// out: 98 209 188 117 98 209 188 117 98 209 188 117 19 58 155 176
// out: 53602 30140 53602 30140 53602 30140 14867 45211
// out: 2790499840 2795918329
// out: 0 0
// out: 196614000 196614000 589833000 196617000 589833000 589830000
// out: 0 190 192 62 0 62 32 191 8 64 192 190
// out: -16896 16064 15872 -16608 16392 -16704
// out: -0.125 0.375 0.125 -0.625 2.125 -0.375
// out:
// out: 98 209 188 117 98 209 188 117 98 209 188 117 19 58 155 176
