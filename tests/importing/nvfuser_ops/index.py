def nvfuser_fusion_index_select(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[4, 3], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[5], contiguity=[True], dtype=DataType.Int)
    T2 = fd.ops.index_select(T0, T1, dim=0)
    fd.add_output(T2)
# sizes: 4 3
# in: 1.875 1.875 0.875 -1.625 -1.125 0.875 1.375 -1.625 -0.375 -1.125 -0.625 -1.875
# sizes: 5
# in: 1 2 1 1 1
# out: -1.625 -1.125 0.875 1.375 -1.625 -0.375 -1.625 -1.125 0.875 -1.625 -1.125 0.875 -1.625 -1.125 0.875

def nvfuser_fusion_select(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[4, 3], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.select(T0, 2, dim=0)
    fd.add_output(T1)
# sizes: 4 3
# in: -1.875 0.625 1.375 1.125 1.875 1.125 0.875 0.375 -1.875 -1.875 0.375 0.875
# out: 0.875 0.375 -1.875

def nvfuser_fusion_scatter(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[4, 3], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[2, 3], contiguity=[True, True], dtype=DataType.Int)
    T2 = fd.define_tensor(shape=[2, 3], contiguity=[True, True], dtype=DataType.Float)
    T3 = fd.ops.scatter(T0, T1, T2, dim=0)
    fd.add_output(T3)
# sizes: 4 3
# in: 0.125 -1.625 -0.625 -0.875 1.875 -1.625 0.125 -1.375 0.375 1.875 -1.125 0.125
# sizes: 2 3
# in: 1 0 3 3 2 0
# sizes: 2 3
# in: -0.875 0.375 -1.125 -0.125 1.125 -1.875
# out: 0.125 0.375 -1.875 -0.875 1.875 -1.625 0.125 1.125 0.375 -0.125 -1.125 -1.125

def nvfuser_fusion_gather(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[4, 3], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[4, 2], contiguity=[True, True], dtype=DataType.Int)
    T2 = fd.ops.gather(T0, T1, dim=1)
    fd.add_output(T2)
# sizes: 4 3
# in: 0.625 -0.875 0.625 0.625 1.625 -1.625 -1.625 1.875 0.875 1.625 -1.375 -0.125
# sizes: 4 2
# in: 1 1 2 2 2 2 1 2
# out: -0.875 -0.875 -1.625 -1.625 0.875 0.875 -1.375 -0.125

def nvfuser_fusion_take_along_axis(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[4, 3], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[4, 2], contiguity=[True, True], dtype=DataType.Int)
    T2 = fd.ops.take_along_axis(T0, T1, dim=1)
    fd.add_output(T2)
# sizes: 4 3
# in: -1.625 -1.375 0.875 -0.625 -1.125 -1.875 0.625 -0.125 1.625 2.125 -1.875 -1.875
# sizes: 4 2
# in: 2 2 1 2 2 2 2 1
# out: 0.875 0.875 -1.125 -1.875 1.625 1.625 -1.875 -1.875

def nvfuser_fusion_embedding_fwd(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 3], contiguity=[True, True], dtype=DataType.Int)
    T1 = fd.define_tensor(shape=[4, 3], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.ops.embedding_fwd(T0, T1)
    fd.add_output(T2)
# sizes: 2 3
# in: 2 2 2 1 1 2
# sizes: 4 3
# in: -1.875 -1.625 -0.125 0.375 1.625 -1.125 0.375 -1.125 -0.625 0.125 1.125 1.625
# out: 0.375 -1.125 -0.625 0.375 -1.125 -0.625 0.375 -1.125 -0.625 0.375 1.625 -1.125 0.375 1.625 -1.125 0.375 -1.125 -0.625

def nvfuser_fusion_topk(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[3, 6], contiguity=[True, True], dtype=DataType.Float)
    T1, T2 = fd.ops.topk(T0, 2, dim=-1, largest=True, sorted=True)
    fd.add_output(T1)
    fd.add_output(T2)
# sizes: 3 6
# in: -1.625 -0.125 1.375 1.875 -0.875 1.125 2.125 -0.625 0.125 -0.875 -0.625 1.625 2.125 0.875 0.125 0.875 -1.375 1.625
# out: 1.875 1.375 2.125 1.625 2.125 1.625
# out: 3 2 0 5 0 5

def nvfuser_fusion_argsort(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[3, 6], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.argsort(T0, dim=1, descending=True, stable=True)
    fd.add_output(T1)
# sizes: 3 6
# in: -0.875 1.625 1.875 -0.125 2.125 -1.375 -1.125 1.625 -0.375 0.875 0.375 -1.875 -0.125 0.125 0.625 0.625 0.125 -0.125
# out: 4 2 1 3 0 5 1 3 4 2 0 5 2 3 1 4 0 5

def nvfuser_fusion_index_put_accumulate(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[4, 3], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[5, 1], contiguity=[True, True], dtype=DataType.Int)
    T2 = fd.define_tensor(shape=[5, 3], contiguity=[True, True], dtype=DataType.Float)
    T3 = fd.ops.index_put_accumulate(T0, T1, T2)
    fd.add_output(T3)
# sizes: 4 3
# in: 2.125 -0.375 -1.125 -1.875 -0.875 -1.125 -0.375 -0.375 0.625 -1.375 -1.625 1.375
# sizes: 5 1
# in: 2 1 2 1 1
# sizes: 5 3
# in: 0.625 1.375 0.875 -1.375 1.125 0.375 -0.375 2.125 1.125 1.875 -0.875 -0.625 -0.125 -0.875 0.375
# out: 2.125 -0.375 -1.125 -1.5 -1.5 -1.0 -0.125 3.125 2.625 -1.375 -1.625 1.375
