def nvfuser_fusion_lerp(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.ops.lerp(T0, T1, 0.25)
    fd.add_output(T2)
# sizes: 2 4
# in: -0.375 -1.625 0.375 0.125 1.625 -1.625 2.125 1.625
# sizes: 2 4
# in: -1.125 1.625 -1.375 -1.875 1.125 1.875 1.375 0.625
# out: -0.5625 -0.8125 -0.0625 -0.375 1.5 -0.75 1.9375 1.375

def nvfuser_fusion_where(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Bool)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T3 = fd.ops.where(T0, T1, T2)
    fd.add_output(T3)
# sizes: 2 4
# in: 0 0 0 0 1 0 1 1
# sizes: 2 4
# in: 0.875 -1.375 1.125 -0.625 0.375 -0.125 0.125 0.125
# sizes: 2 4
# in: -0.125 -1.625 -1.875 -1.875 -1.875 -1.875 0.625 -0.875
# out: -0.125 -1.625 -1.875 -1.875 0.375 -1.875 0.125 0.125

def nvfuser_fusion_clamp(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.clamp(T0, -0.5, 1.0)
    fd.add_output(T1)
# sizes: 2 4
# in: -0.375 2.125 1.625 -0.625 1.875 1.125 -1.375 -1.125
# out: -0.375 1.0 1.0 -0.5 1.0 1.0 -0.5 -0.5

def nvfuser_fusion_threshold(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.threshold(T0, 0.5, 3.0)
    fd.add_output(T1)
# sizes: 2 4
# in: 1.625 0.625 -0.125 -1.625 -1.875 1.875 0.375 1.875
# out: 1.625 0.625 3.0 3.0 3.0 1.875 3.0 1.875

def nvfuser_fusion_addcmul(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T3 = fd.ops.addcmul(T0, T1, T2, 0.5)
    fd.add_output(T3)
# sizes: 2 4
# in: -1.125 0.625 0.375 -0.875 1.125 1.375 1.875 -0.875
# sizes: 2 4
# in: 1.125 2.125 0.625 -0.125 -1.625 1.125 2.125 -1.375
# sizes: 2 4
# in: -1.375 -0.875 -1.125 1.625 1.125 0.125 2.125 -1.125
# out: -1.8984375 -0.3046875 0.0234375 -0.9765625 0.2109375 1.4453125 4.1328125 -0.1015625
