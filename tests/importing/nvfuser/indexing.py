def nvfuser_fusion_id4(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Int)
    T2 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Int)
    T3 = fd.ops.index_select(T0, T1, dim=0)
    T4 = fd.ops.take_along_axis(T0, T2, dim=0)
    S5 = fd.define_scalar(1, dtype=DataType.Int)
    T6 = fd.ops.select(T0, S5, dim=1)
    T7 = fd.ops.embedding_fwd(T1, T0)
    T8 = fd.ops.iota(4, 3, 2, DataType.Int)
    T9 = fd.ops.full(shape=[2, 2], fill_value=7, dtype=DataType.Float)
    T10 = fd.ops.cumsum(T0, dim=0)
    fd.add_output(T3)
    fd.add_output(T4)
    fd.add_output(T6)
    fd.add_output(T7)
    fd.add_output(T8)
    fd.add_output(T9)
    fd.add_output(T10)

# sizes: 5 3
# sizes: 2
# sizes: 2 3
# in: -1.375 -1.625 0.375 1.125 2.125 -1.125 0.125 2.125 -1.625 -0.625 -1.625 -1.625 0.125 -1.125 -1.375
# in: 2 2
# in: 2 1 1 1 1 1
# out: 0.125 2.125 -1.625 0.125 2.125 -1.625
# out: 0.125 2.125 -1.125 1.125 2.125 -1.125
# out: -1.625 2.125 2.125 -1.625 -1.125
# out: 0.125 2.125 -1.625 0.125 2.125 -1.625
# out: 3 5 7 9
# out: 7.0 7.0 7.0 7.0
# out: -1.375 -1.625 0.375 -0.25 0.5 -0.75 -0.125 2.625 -2.375 -0.75 1.0 -4.0 -0.625 -0.125 -5.375
