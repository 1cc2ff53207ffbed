def nvfuser_fusion_id12(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[-1, -1, -1], contiguity=[True, True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Int32)
    T3 = fd.ops.sub(T1, T0)
    T4 = fd.ops.mul(T3, T2)
    T5 = fd.ops.add(T2, T1)
    T6 = fd.ops.isinf(T2)
    fd.add_output(T4)
    fd.add_output(T5)
    fd.add_output(T6)

# sizes: 3 2 4
# sizes: 2 4
# sizes: 4
# in: 2.125 -1.375 -0.875 -0.625 -0.125 -1.125 2.125 0.125 -0.125 0.625 -1.125 2.125 0.625 2.125 1.125 0.875 -1.625 0.125 -1.375 1.625 -0.625 0.375 0.625 0.125
# in: 1.875 0.625 1.125 -1.375 1.375 1.875 2.125 -1.375
# in: 1 2 2 1
# out: -0.25 4.0 4.0 -0.75 1.5 6.0 0.0 -1.5 2.0 0.0 4.5 -3.5 0.75 -0.5 2.0 -2.25 3.5 1.0 5.0 -3.0 2.0 3.0 3.0 -1.5
# out: 2.875 2.625 3.125 -0.375 2.375 3.875 4.125 -0.375
# out: 0 0 0 0
