def nvfuser_fusion_id9(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[4, 6], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    T3 = fd.ops.argsort(T0, dim=1, descending=True, stable=True)
    T4 = fd.ops.argsort(T0, dim=-2, descending=False, stable=True)
    T5, T6 = fd.ops.topk(T0, 2, dim=-1, largest=True, sorted=True)
    T7, T8 = fd.ops.topk(T0, 3, dim=0, largest=False, sorted=True)
    T9 = fd.ops.take_along_axis(T0, T6, dim=1)
    T10 = fd.ops.scatter(T0, T3, T1, dim=1)
    T14 = fd.ops.index_select(T0, fd.ops.iota(2, 1, 2, DataType.Int), dim=0)
    fd.add_output(T3)
    fd.add_output(T4)
    fd.add_output(T5)
    fd.add_output(T7)
    fd.add_output(T9)
    fd.add_output(T10)
    fd.add_output(T14)

# sizes: 4 6
# sizes: 4 6
# in: 0.625 -1.125 2.125 0.875 1.875 0.375 -0.125 -1.875 -1.625 -0.875 1.375 1.625 -1.375 1.875 0.125 1.875 0.625 0.875 -0.875 0.375 1.125 -0.125 -1.375 0.625
# in: 0.875 -0.375 -0.875 0.625 -0.125 0.875 0.125 -1.375 -1.625 0.875 -1.875 2.125 2.125 1.125 1.125 1.125 1.125 2.125 1.375 -0.875 -1.625 1.125 2.125 -1.625
# out: 2 4 3 0 5 1 5 4 0 3 2 1 1 3 5 4 2 0 2 5 1 3 0 4
# out: 2 1 1 1 3 0 3 0 2 3 2 3 1 3 3 0 1 2 0 2 0 2 0 1
# out: 2.125 1.875 1.625 1.375 1.875 1.875 1.125 0.625
# out: -1.375 -1.875 -1.625 -0.875 -1.375 0.375 -0.875 -1.125 0.125 -0.125 0.625 0.625 -0.125 0.375 1.125 0.875 1.375 0.875
# out: 2.125 1.875 1.625 1.375 1.875 1.875 1.125 0.625
# out: 0.625 0.875 0.875 -0.875 -0.375 -0.125 -1.625 2.125 -1.875 0.875 -1.375 0.125 2.125 2.125 1.125 1.125 1.125 1.125 2.125 -1.625 1.375 1.125 -1.625 -0.875
# out: -0.125 -1.875 -1.625 -0.875 1.375 1.625 -0.875 0.375 1.125 -0.125 -1.375 0.625
