def nvfuser_fusion_id11(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float8_e4m3fn, is_cpu=False)
    T1 = fd.define_tensor(shape=[3, 3, 5], contiguity=[True, True, True], dtype=DataType.Float8_e4m3fn, is_cpu=False)
    T2 = fd.define_tensor(shape=[-1, 1], contiguity=[True, None], dtype=DataType.Float, is_cpu=False)
    T3 = fd.define_tensor(shape=[3, 1, 5], contiguity=[True, None, True], dtype=DataType.Float, is_cpu=False)
    T4 = fd.define_tensor(shape=[5, 5], contiguity=[True, True], dtype=DataType.Float8_e4m3fn, is_cpu=False)
    T5 = fd.define_tensor(shape=[3, 3, 1], contiguity=[True, True, None], dtype=DataType.Float, is_cpu=False)
    T6 = fd.define_tensor(shape=[1, 5], contiguity=[None, True], dtype=DataType.Float, is_cpu=False)
    T7 = fd.define_tensor(shape=[], contiguity=[], dtype=DataType.Float, is_cpu=False)
    T8 = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Float, is_cpu=False)
    T9 = fd.ops.iota(3, 1, 2, DataType.Int32)
    T10, T11, T12 = fd.ops.grouped_mm(T0, T1, T9, T2, T3)
    T13, T14, T15 = fd.ops.grouped_mm(T1, T4, T9, T5, T6, dtype=DataType.Float)
    T16 = fd.ops.permute(T0, dims=[1, 0])
    T17 = fd.ops.permute(T5, dims=[0, 2, 1])
    T18, T19, T20 = fd.ops.grouped_mm(T16, T0, T9, scale1=T5, scale2=T17, alpha=T7, dtype=DataType.Float)
    T21, T22, T23 = fd.ops.scaled_mm(T0, T16, T2, T6, T7, T8, T7)
    fd.add_output(T10)
    fd.add_output(T13)
    fd.add_output(T18)
    fd.add_output(T21)

# sizes: 5 3
# sizes: 3 3 5
# sizes: 5 1
# sizes: 3 1 5
# sizes: 5 5
# sizes: 3 3 1
# sizes: 1 5
# sizes:
# sizes: 5
# in: -0.875 1.875 1.125 0.375 1.625 0.125 0.125 0.375 -0.625 -1.875 -0.125 -1.125 1.125 0.875 2.0
# in: -1.375 1.125 1.625 -0.625 2.0 -1.625 -1.375 -0.625 -1.625 2.0 -0.125 0.875 -1.625 0.625 1.375 0.875 2.0 1.125 1.375 -0.375 2.0 -0.375 1.875 -1.625 2.0 0.375 -1.625 0.375 0.875 -0.625 1.375 -1.125 -1.375 -1.875 -0.375 0.375 -0.625 -1.625 1.625 1.625 1.875 1.125 -0.875 -0.125 -0.125
# in: -1.375 1.625 -0.375 1.125 -0.125
# in: -0.125 0.125 0.875 1.625 1.375 0.375 -1.375 -1.875 0.875 -1.375 1.625 -0.375 -1.625 1.875 1.875
# in: 2.0 2.0 -0.875 -1.875 1.875 -0.875 -0.125 -1.375 -0.625 1.875 0.625 2.0 0.875 -0.875 0.125 1.625 0.125 0.875 0.625 -1.125 -1.625 -0.625 0.125 -0.625 -0.375
# in: 1.875 -0.875 -0.125 1.625 1.375 -0.125 0.625 -0.875 1.375
# in: -0.625 -1.125 2.125 0.625 0.375
# in: 0.875
# in: 1.375 1.875 1.875 1.375 1.875
# out: -0.34179688 0.44335938 5.3125 4.0 -6.71875 2.203125 0.13964844 -10.6875 -2.859375 -6.78125 -0.087890625 0.578125 0.42773438 0.32226562 0.5625 -8.625 -0.38867188 -6.875 7.28125 1.3515625 -1.140625 0.020507812 -0.95703125 0.21972656 -0.17578125
# out: 8.184814 -7.5981445 -4.748047 -0.6286621 0.5969238 -4.5544434 -9.812988 -2.2370605 -0.60668945 1.0202637 -0.25390625 0.30981445 -0.77612305 -2.9675293 2.9406738
# out: 2.355194 2.355194 0.20187378 2.355194 2.355194 0.20187378 0.20187378 0.20187378 0.017303467 0.36102295 1.28302 0.005554199 1.28302 4.601013 0.004699707 0.005554199 0.004699707 0.005554199 1.6342163 -0.5831909 3.2780457 -0.5831909 0.52337646 -1.9903259 3.2780457 -1.9903259 8.710907
# out: 5.375 5.5 1.921875 1.09375 0.33007812 -1.3359375 -2.828125 3.390625 0.2734375 2.75 1.1796875 1.8515625 1.2578125 1.1171875 1.734375 1.1171875 2.796875 2.515625 4.15625 -0.008972168 1.3984375 1.8984375 1.8203125 1.5078125 1.390625
