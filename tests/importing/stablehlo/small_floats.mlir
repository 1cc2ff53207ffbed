module @jit_small_floats attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<24xf32>, %arg1: tensor<3x5xf8E4M3FN>, %arg2: tensor<5x2xf8E5M2>) -> (tensor<80xf8E4M3FN> {jax.result_info = "result[0]"}, tensor<80xf8E5M2> {jax.result_info = "result[1]"}, tensor<80xf8E8M0FNU> {jax.result_info = "result[2]"}, tensor<80xf32> {jax.result_info = "result[3]"}, tensor<80xf32> {jax.result_info = "result[4]"}, tensor<80xf32> {jax.result_info = "result[5]"}, tensor<80xi1> {jax.result_info = "result[6]"}, tensor<80xi1> {jax.result_info = "result[7]"}, tensor<80xi1> {jax.result_info = "result[8]"}, tensor<80xf8E4M3FN> {jax.result_info = "result[9]"}, tensor<80xf8E4M3FN> {jax.result_info = "result[10]"}, tensor<24xf8E4M3FN> {jax.result_info = "result[11]"}, tensor<3x2xf32> {jax.result_info = "result[12]"}, tensor<5x3xf8E4M3FN> {jax.result_info = "result[13]"}, tensor<3x6xf8E4M3FN> {jax.result_info = "result[14]"}, tensor<3x5xf8E4M3FN> {jax.result_info = "result[15]"}, tensor<7x4xf8E5M2> {jax.result_info = "result[16]"}, tensor<3x5xi1> {jax.result_info = "result[17]"}) {
    %cst = stablehlo.constant dense<[4.640000e+02, 4.640010e+02, -4.800000e+02, 0x7F800000, 0xFF800000, 0x7FC00000, -0.000000e+00, 6.144000e+04]> : tensor<8xf32>
    %cst_0 = stablehlo.constant dense<2.630000e+02> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<24xf32>
    %cst_1 = stablehlo.constant dense<4.000000e+04> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %3 = stablehlo.multiply %arg0, %2 : tensor<24xf32>
    %cst_2 = stablehlo.constant dense<0.001953125> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %5 = stablehlo.multiply %arg0, %4 : tensor<24xf32>
    %6 = stablehlo.concatenate %1, %3, %5, %cst, dim = 0 : (tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<8xf32>) -> tensor<80xf32>
    %7 = stablehlo.convert %6 : (tensor<80xf32>) -> tensor<80xf8E4M3FN>
    %8 = stablehlo.convert %6 : (tensor<80xf32>) -> tensor<80xf8E5M2>
    %9 = stablehlo.convert %6 : (tensor<80xf32>) -> tensor<80xf8E8M0FNU>
    %cst_3 = stablehlo.constant dense<3.000000e+02> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %11 = stablehlo.multiply %arg0, %10 : tensor<24xf32>
    %12 = stablehlo.convert %11 : (tensor<24xf32>) -> tensor<24xi32>
    %13 = stablehlo.convert %12 : (tensor<24xi32>) -> tensor<24xf8E4M3FN>
    %14 = stablehlo.convert %7 : (tensor<80xf8E4M3FN>) -> tensor<80xf32>
    %15 = stablehlo.convert %8 : (tensor<80xf8E5M2>) -> tensor<80xf32>
    %16 = stablehlo.convert %9 : (tensor<80xf8E8M0FNU>) -> tensor<80xf32>
    %17 = stablehlo.compare NE, %7, %7, FLOAT : (tensor<80xf8E4M3FN>, tensor<80xf8E4M3FN>) -> tensor<80xi1>
    %18 = stablehlo.compare NE, %8, %8, FLOAT : (tensor<80xf8E5M2>, tensor<80xf8E5M2>) -> tensor<80xi1>
    %19 = stablehlo.compare NE, %9, %9, FLOAT : (tensor<80xf8E8M0FNU>, tensor<80xf8E8M0FNU>) -> tensor<80xi1>
    %20 = stablehlo.convert %8 : (tensor<80xf8E5M2>) -> tensor<80xf8E4M3FN>
    %21 = stablehlo.convert %6 : (tensor<80xf32>) -> tensor<80xf16>
    %22 = stablehlo.convert %21 : (tensor<80xf16>) -> tensor<80xf8E4M3FN>
    %23 = stablehlo.dot_general %arg1, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x5xf8E4M3FN>, tensor<5x2xf8E5M2>) -> tensor<3x2xf32>
    %24 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<3x5xf8E4M3FN>) -> tensor<5x3xf8E4M3FN>
    %25 = stablehlo.concatenate %arg1, %arg1, dim = 1 : (tensor<3x5xf8E4M3FN>, tensor<3x5xf8E4M3FN>) -> tensor<3x10xf8E4M3FN>
    %26 = stablehlo.slice %25 [0:3, 1:7] : (tensor<3x10xf8E4M3FN>) -> tensor<3x6xf8E4M3FN>
    %27 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<3x5xf8E4M3FN>) -> tensor<5x3xf8E4M3FN>
    %28 = stablehlo.slice %27 [0:1, 1:2] : (tensor<5x3xf8E4M3FN>) -> tensor<1x1xf8E4M3FN>
    %29 = stablehlo.reshape %28 : (tensor<1x1xf8E4M3FN>) -> tensor<f8E4M3FN>
    %30 = stablehlo.broadcast_in_dim %29, dims = [] : (tensor<f8E4M3FN>) -> tensor<3x5xf8E4M3FN>
    %31 = stablehlo.compare LT, %arg1, %30, FLOAT : (tensor<3x5xf8E4M3FN>, tensor<3x5xf8E4M3FN>) -> tensor<3x5xi1>
    %cst_4 = stablehlo.constant dense<4.480000e+02> : tensor<f8E4M3FN>
    %32 = call @_where(%31, %arg1, %cst_4) : (tensor<3x5xi1>, tensor<3x5xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<3x5xf8E4M3FN>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %33 = call @_pad(%arg2, %c) : (tensor<5x2xf8E5M2>, tensor<i32>) -> tensor<7x4xf8E5M2>
    %34 = stablehlo.slice %arg0 [0:15] : (tensor<24xf32>) -> tensor<15xf32>
    %35 = stablehlo.reshape %34 : (tensor<15xf32>) -> tensor<3x5xf32>
    %36 = stablehlo.convert %35 : (tensor<3x5xf32>) -> tensor<3x5xf8E4M3FN>
    %37 = stablehlo.compare EQ, %36, %arg1, FLOAT : (tensor<3x5xf8E4M3FN>, tensor<3x5xf8E4M3FN>) -> tensor<3x5xi1>
    return %7, %8, %9, %14, %15, %16, %17, %18, %19, %20, %22, %13, %23, %24, %26, %32, %33, %37 : tensor<80xf8E4M3FN>, tensor<80xf8E5M2>, tensor<80xf8E8M0FNU>, tensor<80xf32>, tensor<80xf32>, tensor<80xf32>, tensor<80xi1>, tensor<80xi1>, tensor<80xi1>, tensor<80xf8E4M3FN>, tensor<80xf8E4M3FN>, tensor<24xf8E4M3FN>, tensor<3x2xf32>, tensor<5x3xf8E4M3FN>, tensor<3x6xf8E4M3FN>, tensor<3x5xf8E4M3FN>, tensor<7x4xf8E5M2>, tensor<3x5xi1>
  }
  func.func private @_where(%arg0: tensor<3x5xi1>, %arg1: tensor<3x5xf8E4M3FN>, %arg2: tensor<f8E4M3FN>) -> tensor<3x5xf8E4M3FN> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f8E4M3FN>) -> tensor<3x5xf8E4M3FN>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<3x5xi1>, tensor<3x5xf8E4M3FN>
    return %1 : tensor<3x5xf8E4M3FN>
  }
  func.func private @_pad(%arg0: tensor<5x2xf8E5M2>, %arg1: tensor<i32>) -> tensor<7x4xf8E5M2> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f8E5M2>
    %1 = stablehlo.pad %arg0, %0, low = [1, 1], high = [1, 1], interior = [0, 0] : (tensor<5x2xf8E5M2>, tensor<f8E5M2>) -> tensor<7x4xf8E5M2>
    return %1 : tensor<7x4xf8E5M2>
  }
}

// in: 0.625 -0.875 2.125 2.125 -1.625 -1.125 -1.125 -1.125 0.375 -0.625 0.125 -1.125 2.125 0.875 0.875 -1.625 -1.375 1.875 -0.625 1.625 1.375 -1.875 0.125 0.375
// in: -0.125 -1.625 1.125 -0.875 -0.625 -0.125 -0.625 -0.125 1.625 -0.125 1.125 1.875 -1.125 -0.875 0.375
// in: -1.0 0.875 0.875 0.875 2.0 -0.125 2.0 2.0 1.5 -0.625
// out: 160.0 -224.0 nan nan -416.0 -288.0 -288.0 -288.0 96.0 -160.0 32.0 -288.0 nan 224.0 224.0 -416.0 -352.0 nan -160.0 416.0 352.0 nan 32.0 96.0 nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan 0.001953125 -0.001953125 0.00390625 0.00390625 -0.00390625 -0.001953125 -0.001953125 -0.001953125 0.0 -0.001953125 0.0 -0.001953125 0.00390625 0.001953125 0.001953125 -0.00390625 -0.001953125 0.00390625 -0.001953125 0.00390625 0.001953125 -0.00390625 0.0 0.0 448.0 nan nan nan nan nan -0.0 nan
// out: 160.0 -224.0 512.0 512.0 -448.0 -320.0 -320.0 -320.0 96.0 -160.0 32.0 -320.0 512.0 224.0 224.0 -448.0 -384.0 512.0 -160.0 448.0 384.0 -512.0 32.0 96.0 24576.0 -32768.0 inf inf -inf -40960.0 -40960.0 -40960.0 14336.0 -24576.0 5120.0 -40960.0 inf 32768.0 32768.0 -inf -57344.0 inf -24576.0 inf 57344.0 -inf 5120.0 14336.0 0.0012207031 -0.0017089844 0.00390625 0.00390625 -0.0029296875 -0.001953125 -0.001953125 -0.001953125 0.0007324219 -0.0012207031 0.00024414062 -0.001953125 0.00390625 0.0017089844 0.0017089844 -0.0029296875 -0.0029296875 0.00390625 -0.0012207031 0.0029296875 0.0029296875 -0.00390625 0.00024414062 0.0007324219 448.0 448.0 -512.0 inf -inf nan -0.0 inf
// out: 128.0 nan 512.0 512.0 nan nan nan nan 128.0 nan 32.0 nan 512.0 256.0 256.0 nan nan 512.0 nan 512.0 256.0 nan 32.0 128.0 32768.0 nan 65536.0 65536.0 nan nan nan nan 16384.0 nan 4096.0 nan 65536.0 32768.0 32768.0 nan nan 65536.0 nan 65536.0 65536.0 nan 4096.0 16384.0 0.0009765625 nan 0.00390625 0.00390625 nan nan nan nan 0.0009765625 nan 0.00024414062 nan 0.00390625 0.001953125 0.001953125 nan nan 0.00390625 nan 0.00390625 0.001953125 nan 0.00024414062 0.0009765625 512.0 512.0 nan nan nan nan nan 65536.0
// out: 160.0 -224.0 nan nan -416.0 -288.0 -288.0 -288.0 96.0 -160.0 32.0 -288.0 nan 224.0 224.0 -416.0 -352.0 nan -160.0 416.0 352.0 nan 32.0 96.0 nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan 0.001953125 -0.001953125 0.00390625 0.00390625 -0.00390625 -0.001953125 -0.001953125 -0.001953125 0.0 -0.001953125 0.0 -0.001953125 0.00390625 0.001953125 0.001953125 -0.00390625 -0.001953125 0.00390625 -0.001953125 0.00390625 0.001953125 -0.00390625 0.0 0.0 448.0 nan nan nan nan nan -0.0 nan
// out: 160.0 -224.0 512.0 512.0 -448.0 -320.0 -320.0 -320.0 96.0 -160.0 32.0 -320.0 512.0 224.0 224.0 -448.0 -384.0 512.0 -160.0 448.0 384.0 -512.0 32.0 96.0 24576.0 -32768.0 inf inf -inf -40960.0 -40960.0 -40960.0 14336.0 -24576.0 5120.0 -40960.0 inf 32768.0 32768.0 -inf -57344.0 inf -24576.0 inf 57344.0 -inf 5120.0 14336.0 0.0012207031 -0.0017089844 0.00390625 0.00390625 -0.0029296875 -0.001953125 -0.001953125 -0.001953125 0.0007324219 -0.0012207031 0.00024414062 -0.001953125 0.00390625 0.0017089844 0.0017089844 -0.0029296875 -0.0029296875 0.00390625 -0.0012207031 0.0029296875 0.0029296875 -0.00390625 0.00024414062 0.0007324219 448.0 448.0 -512.0 inf -inf nan -0.0 inf
// out: 128.0 nan 512.0 512.0 nan nan nan nan 128.0 nan 32.0 nan 512.0 256.0 256.0 nan nan 512.0 nan 512.0 256.0 nan 32.0 128.0 32768.0 nan 65536.0 65536.0 nan nan nan nan 16384.0 nan 4096.0 nan 65536.0 32768.0 32768.0 nan nan 65536.0 nan 65536.0 65536.0 nan 4096.0 16384.0 0.0009765625 nan 0.00390625 0.00390625 nan nan nan nan 0.0009765625 nan 0.00024414062 nan 0.00390625 0.001953125 0.001953125 nan nan 0.00390625 nan 0.00390625 0.001953125 nan 0.00024414062 0.0009765625 512.0 512.0 nan nan nan nan nan 65536.0
// out: 0 0 1 1 0 0 0 0 0 0 0 0 1 0 0 0 0 1 0 0 0 1 0 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 1 1 1 1 0 1
// out: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 0
// out: 0 1 0 0 1 1 1 1 0 1 0 1 0 0 0 1 1 0 1 0 0 1 0 0 0 1 0 0 1 1 1 1 0 1 0 1 0 0 0 1 1 0 1 0 0 1 0 0 0 1 0 0 1 1 1 1 0 1 0 1 0 0 0 1 1 0 1 0 0 1 0 0 0 0 1 1 1 1 1 0
// out: 160.0 -224.0 nan nan -448.0 -320.0 -320.0 -320.0 96.0 -160.0 32.0 -320.0 nan 224.0 224.0 -448.0 -384.0 nan -160.0 448.0 384.0 nan 32.0 96.0 nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan 0.001953125 -0.001953125 0.00390625 0.00390625 -0.00390625 -0.001953125 -0.001953125 -0.001953125 0.0 -0.001953125 0.0 -0.001953125 0.00390625 0.001953125 0.001953125 -0.00390625 -0.00390625 0.00390625 -0.001953125 0.00390625 0.00390625 -0.00390625 0.0 0.0 448.0 448.0 nan nan nan nan -0.0 nan
// out: 160.0 -224.0 nan nan -416.0 -288.0 -288.0 -288.0 96.0 -160.0 32.0 -288.0 nan 224.0 224.0 -416.0 -352.0 nan -160.0 416.0 352.0 nan 32.0 96.0 nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan 0.001953125 -0.001953125 0.00390625 0.00390625 -0.00390625 -0.001953125 -0.001953125 -0.001953125 0.0 -0.001953125 0.0 -0.001953125 0.00390625 0.001953125 0.001953125 -0.00390625 -0.001953125 0.00390625 -0.001953125 0.00390625 0.001953125 -0.00390625 0.0 0.0 448.0 448.0 nan nan nan nan -0.0 nan
// out: 192.0 -256.0 nan nan nan -352.0 -352.0 -352.0 112.0 -192.0 36.0 -352.0 nan 256.0 256.0 nan -416.0 nan -192.0 nan 416.0 nan 36.0 112.0
// out: -1.734375 -3.03125 2.390625 2.6875 -2.921875 0.78125
// out: -0.125 -0.125 1.125 -1.625 -0.625 1.875 1.125 -0.125 -1.125 -0.875 1.625 -0.875 -0.625 -0.125 0.375
// out: -1.625 1.125 -0.875 -0.625 -0.125 -1.625 -0.625 -0.125 1.625 -0.125 -0.125 -0.625 1.875 -1.125 -0.875 0.375 1.125 1.875
// out: 448.0 -1.625 448.0 -0.875 -0.625 448.0 -0.625 448.0 448.0 448.0 448.0 448.0 -1.125 -0.875 448.0
// out: 0.0 0.0 0.0 0.0 0.0 -1.0 0.875 0.0 0.0 0.875 0.875 0.0 0.0 2.0 -0.125 0.0 0.0 2.0 2.0 0.0 0.0 1.5 -0.625 0.0 0.0 0.0 0.0 0.0
// out: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
