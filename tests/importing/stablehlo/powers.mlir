module @powers {
  func.func public @main(%arg0: tensor<13xi32>, %arg1: tensor<13xi32>, %arg2: tensor<5xui8>, %arg3: tensor<5xui8>, %arg4: tensor<4xi16>, %arg5: tensor<4xi16>) -> (tensor<13xi32>, tensor<5xui8>, tensor<4xi16>) {
    %0 = stablehlo.power %arg0, %arg1 : tensor<13xi32>
    %1 = stablehlo.power %arg2, %arg3 : tensor<5xui8>
    %2 = stablehlo.power %arg4, %arg5 : tensor<4xi16>
    return %0, %1, %2 : tensor<13xi32>, tensor<5xui8>, tensor<4xi16>
  }
}

// in: 0 0 1 -1 -1 2 2 -3 7 3 -2 5 0
// in: 0 3 -7 -2 -3 -1 31 19 11 40 63 0 -1
// in: 0 2 3 255 16
// in: 0 9 5 255 2
// in: -2 -3 181 1
// in: 15 10 2 -32768
// out: 1 0 1 1 -1 0 -2147483648 -1162261467 1977326743 689956897 0 1 0
// out: 1 0 243 255 0
// out: -32768 -6487 32761 1
