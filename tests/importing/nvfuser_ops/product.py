def nvfuser_fusion_matmul(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 3], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[3, 4], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.ops.matmul(T0, T1)
    fd.add_output(T2)
# sizes: 2 3
# in: -1.625 -0.375 2.125 -0.375 -1.125 0.375
# sizes: 3 4
# in: -1.375 2.125 2.125 0.875 -0.625 0.125 0.375 -0.625 2.125 1.375 1.125 -1.375
# out: 6.984375 -0.578125 -1.203125 -4.109375 2.015625 -0.421875 -0.796875 -0.140625

def nvfuser_fusion_linear(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 3], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[4, 3], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.define_tensor(shape=[4], contiguity=[True], dtype=DataType.Float)
    T3 = fd.ops.linear(T0, T1, T2)
    fd.add_output(T3)
# sizes: 2 3
# in: 0.625 -0.875 0.625 0.625 1.625 -1.625
# sizes: 4 3
# in: -1.625 1.875 0.875 1.625 -1.375 -0.125 1.375 0.875 1.125 0.875 -0.875 1.375
# sizes: 4
# in: -0.125 1.625 0.625 1.875
# out: -2.234375 3.765625 1.421875 4.046875 0.484375 0.609375 1.078125 -1.234375

def nvfuser_fusion_sdpfa_fwd(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[1, 2, 3, 4], contiguity=[True, True, True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[1, 2, 5, 4], contiguity=[True, True, True, True], dtype=DataType.Float)
    T2 = fd.define_tensor(shape=[1, 2, 5, 4], contiguity=[True, True, True, True], dtype=DataType.Float)
    T3, T4, T5, T6 = fd.ops.sdpfa_fwd(T0, T1, T2, None, None, 0.0, True, None)
    fd.add_output(T3)
    fd.add_output(T4)
# sizes: 1 2 3 4
# in: 0.625 -1.125 1.125 -0.375 -1.125 -0.625 1.375 2.125 0.375 -1.125 -1.875 -1.375 0.125 -0.375 -1.625 -1.625 1.875 1.625 1.375 0.625 -0.375 0.875 0.875 -1.625
# sizes: 1 2 5 4
# in: 0.875 -1.125 -1.375 1.625 -0.125 -1.625 1.625 -1.125 -1.125 1.875 1.375 0.875 0.125 -0.125 1.625 -0.375 0.625 -1.375 1.875 -1.875 0.125 -0.125 -0.125 -1.125 -0.125 -0.625 1.375 1.125 -1.875 -1.875 0.375 2.125 -1.875 -0.375 0.375 1.875 -1.125 1.875 1.625 -1.875
# sizes: 1 2 5 4
# in: 0.875 0.875 -1.125 -0.625 0.125 -1.125 1.625 0.875 -0.125 -1.125 -0.125 -1.875 -0.625 1.125 1.375 1.625 0.625 -0.625 -1.875 0.125 0.125 -0.625 -0.125 -1.875 2.125 -0.625 1.875 -0.875 -1.625 -1.375 1.125 0.375 0.375 -0.625 -0.875 -0.375 -0.375 -0.375 -1.125 1.125
# out: 0.875 0.875 -1.125 -0.625 0.5263238 -0.054803144 0.15347932 0.07235236 0.63838136 0.25143299 -0.28706235 -0.1879157 0.125 -0.625 -0.125 -1.875 1.6231744 -0.625 1.3731744 -1.1259128 0.44041306 -0.6590982 0.32680586 -1.5752176
# out: -0.171875 1.2659296 1.3424019 1.046875 0.96077484 1.0595787

def nvfuser_fusion_sdpfa_bwd(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[1, 2, 3, 4], contiguity=[True, True, True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[1, 2, 3, 4], contiguity=[True, True, True, True], dtype=DataType.Float)
    T2 = fd.define_tensor(shape=[1, 2, 5, 4], contiguity=[True, True, True, True], dtype=DataType.Float)
    T3 = fd.define_tensor(shape=[1, 2, 5, 4], contiguity=[True, True, True, True], dtype=DataType.Float)
    T4 = fd.define_tensor(shape=[1, 2, 3, 4], contiguity=[True, True, True, True], dtype=DataType.Float)
    T5 = fd.define_tensor(shape=[1, 2, 3], contiguity=[True, True, True], dtype=DataType.Float)
    T6, T7, T8 = fd.ops.sdpfa_bwd(T0, T1, T2, T3, T4, T5, 0.0, True, None, None, None)
    fd.add_output(T6)
    fd.add_output(T7)
    fd.add_output(T8)
# sizes: 1 2 3 4
# in: -0.125 1.625 -1.125 -1.375 -1.625 -1.625 2.125 2.125 -1.375 1.375 -1.875 -1.375 1.375 -0.875 -1.875 -1.125 -0.125 1.375 0.875 -0.125 1.875 -1.875 -1.625 0.625
# sizes: 1 2 3 4
# in: 2.125 1.875 1.625 1.875 0.875 -1.625 0.375 2.125 -1.625 2.125 -0.125 -1.375 0.875 0.625 -0.625 -0.625 0.125 0.625 -0.625 2.125 1.125 -0.375 -0.375 -1.875
# sizes: 1 2 5 4
# in: 0.125 1.875 -0.125 1.625 -1.625 -1.375 -0.375 1.375 1.125 2.125 2.125 -1.625 -0.125 0.875 1.125 1.875 1.625 2.125 -1.375 -1.875 0.875 -1.125 1.625 2.125 -1.375 0.875 1.125 -1.875 -1.125 1.375 -1.625 0.875 1.125 -1.875 -0.125 -0.875 0.625 0.375 2.125 -0.625
# sizes: 1 2 5 4
# in: 1.375 1.625 -1.625 0.375 1.375 -0.375 -1.375 -1.125 0.125 -0.125 -0.875 -1.125 0.875 0.125 -1.875 -0.625 -0.625 -0.125 -1.625 2.125 -1.125 0.875 1.375 -0.875 2.125 -1.625 0.375 0.125 -1.125 -0.125 0.875 1.875 -1.375 1.875 2.125 -0.625 0.125 1.625 2.125 2.125
# sizes: 1 2 3 4
# in: 1.375 1.625 -1.625 0.375 1.375 -0.028423589 -1.4183221 -0.8650677 0.3722725 0.1671343 -1.0166076 -0.8688084 -1.125 0.875 1.375 -0.875 -1.0393451 0.8091116 1.3486446 -0.8486447 1.4881818 -1.24227 0.517379 0.22366369
# sizes: 1 2 3
# in: 3.3125 1.9871742 2.548545 -1.140625 1.4798338 0.8274614
# out: 0.0 0.0 0.0 0.0 -0.07442774 -0.13822293 -0.010632534 -0.010632534 0.03606173 0.05081512 0.026334856 -0.028956834 0.0 0.0 0.0 0.0 0.13983104 -0.12429425 0.031073563 0.2485885 -1.1816943 0.7972483 0.72077847 -2.9089117
# out: -0.04502862 0.07933076 -0.016549936 -0.09698902 0.0613648 -0.10069346 0.017806565 0.11081194 -0.01633618 0.021362698 -0.0012566294 -0.0138229225 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 -0.5392649 0.22118638 0.14350247 1.0437849 0.93358946 -0.3526279 -0.27494398 -1.7009923 -0.3943245 0.1314415 0.1314415 0.65720755 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0
# out: -0.6414356 1.578249 -1.077002 -1.2416049 -1.3805641 -1.3062493 1.7060933 1.7196051 -1.1030003 1.1030003 -1.5040913 -1.1030003 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 1.4198205 0.29723522 -1.1673837 -1.1911968 1.5043105 -1.4713663 -1.28353 0.49924055 0.20086892 -0.20086892 -0.17408639 0.066956304 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0

def nvfuser_fusion_grouped_mm(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[4, 3], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[2, 3, 5], contiguity=[True, True, True], dtype=DataType.Float)
    T2 = fd.define_tensor(shape=[2], contiguity=[True], dtype=DataType.Int)
    T3 = fd.ops.grouped_mm(T0, T1, T2)
    fd.add_output(T3)
# sizes: 4 3
# in: -0.375 2.125 -0.375 1.875 -1.125 -1.375 2.125 0.375 0.125 2.125 0.875 1.375
# sizes: 2 3 5
# in: -0.625 1.125 -1.625 2.125 1.125 1.375 0.875 1.875 0.625 -0.125 -0.625 -0.125 0.125 0.375 1.125 0.125 -1.375 0.875 -0.375 -0.125 -1.875 -0.875 0.625 0.125 -0.375 2.125 -0.875 -0.375 0.375 -1.375
# sizes: 2
# in: 1 1
# refused

def nvfuser_fusion_scaled_mm(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 3], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[3, 4], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.ops.scaled_mm(T0, T1, T0, T1)
    fd.add_output(T2)
# sizes: 2 3
# in: 1.375 -0.125 0.125 -1.875 1.125 -1.875
# sizes: 3 4
# in: -1.125 -0.125 -1.875 2.125 0.875 0.125 -0.875 -0.625 -1.125 -0.625 1.625 -0.875
# refused

def nvfuser_fusion_cutlass_nvfp4_grouped_mm(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 3], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.cutlass_nvfp4_grouped_mm(T0, T0, T0, T0, T0, T0, T0, T0)
    fd.add_output(T1)
# sizes: 2 3
# in: 1.375 -0.375 0.125 0.875 -1.125 0.875
# refused

def nvfuser_fusion_preprocess_grouped_matmul_input_sf(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 3], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.preprocess_grouped_matmul_input_sf(T0, T0, T0)
    fd.add_output(T1)
# sizes: 2 3
# in: 1.375 0.625 -1.625 -0.875 -0.125 0.875
# refused

def nvfuser_fusion_nv_block_quantize(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 16], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.nv_block_quantize(T0)
    fd.add_output(T1)
# sizes: 2 16
# in: 1.375 -0.625 -0.125 0.125 1.125 -0.875 -0.375 1.625 0.125 1.875 1.125 -1.875 -1.875 -0.625 -1.375 0.125 -0.875 1.625 0.875 -0.625 -1.125 0.375 -0.375 0.125 -0.625 0.375 -0.875 1.875 -0.375 -1.875 1.625 -1.875
# refused

def nvfuser_fusion_nv_grouped_block_quantize(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 16], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.nv_grouped_block_quantize(T0, T0, T0)
    fd.add_output(T1)
# sizes: 2 16
# in: -1.125 0.375 -0.875 1.875 0.375 1.375 -0.375 0.875 -0.875 2.125 -1.125 -1.375 -1.375 1.375 -0.625 0.875 -0.625 2.125 0.375 0.125 -1.125 -0.625 -0.375 -0.375 -1.875 -0.625 -1.125 -1.375 -0.625 0.625 2.125 1.625
# refused
