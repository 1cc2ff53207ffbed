#loc1 = loc("model.py":12:8)
#loc2 = loc("jit(f)/block0/exp"(#loc1))
module @jit_f {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.exponential %x : tensor<4xf32> loc(#loc2)
    return %0 : tensor<4xf32>
  }
}
