def nvfuser_fusion_add(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.ops.add(T0, T1)
    fd.add_output(T2)
# sizes: 2 4
# in: -1.125 1.875 1.625 -0.875 0.625 0.375 1.375 1.625
# sizes: 2 4
# in: 0.625 0.125 1.625 1.375 -0.625 -0.625 1.625 -0.125
# out: -0.5 2.0 3.25 0.5 0.0 -0.25 3.0 1.5

def nvfuser_fusion_atan2(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.ops.atan2(T0, T1)
    fd.add_output(T2)
# sizes: 2 4
# in: -1.875 1.375 -1.875 2.125 1.875 1.125 -1.375 1.875
# sizes: 2 4
# in: -1.375 -1.625 -1.125 -1.875 2.125 -1.375 0.125 1.625
# out: -2.203545 2.4393358 -2.1112158 2.2937758 0.72297937 2.4558632 -1.4801364 0.8567056

def nvfuser_fusion_div(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.ops.div(T0, T1)
    fd.add_output(T2)
# sizes: 2 4
# in: -1.625 1.125 0.375 -1.875 -1.375 -0.375 1.875 -0.875
# sizes: 2 4
# in: 1.875 1.875 -0.625 0.375 -1.375 -1.625 1.625 -0.625
# out: -0.8666667 0.6 -0.6 -5.0 1.0 0.23076923 1.1538461 1.4

def nvfuser_fusion_truediv(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.ops.truediv(T0, T1)
    fd.add_output(T2)
# sizes: 2 4
# in: 0.875 -0.875 1.875 0.375 2.125 0.625 1.875 -1.625
# sizes: 2 4
# in: 2.125 -0.125 1.125 -0.875 1.375 -1.875 0.375 0.875
# out: 0.4117647 7.0 1.6666666 -0.42857143 1.5454545 -0.33333334 5.0 -1.8571428

def nvfuser_fusion_fmod(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.ops.fmod(T0, T1)
    fd.add_output(T2)
# sizes: 2 4
# in: -0.625 1.375 2.125 0.875 0.875 1.875 1.125 0.375
# sizes: 2 4
# in: -1.875 0.375 1.875 -1.125 -1.125 -1.125 -1.375 -0.375
# out: -0.625 0.25 0.25 0.875 0.875 0.75 1.125 0.0

def nvfuser_fusion_mul(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.ops.mul(T0, T1)
    fd.add_output(T2)
# sizes: 2 4
# in: -0.125 -1.875 -1.625 1.375 -0.125 -0.875 -0.875 -1.625
# sizes: 2 4
# in: -1.875 1.625 0.875 1.125 -1.375 -1.375 -1.125 0.625
# out: 0.234375 -3.046875 -1.421875 1.546875 0.171875 1.203125 0.984375 -1.015625

def nvfuser_fusion_nextafter(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.ops.nextafter(T0, T1)
    fd.add_output(T2)
# sizes: 2 4
# in: -1.375 1.875 1.625 -0.375 -1.125 0.125 -1.875 0.625
# sizes: 2 4
# in: -1.625 1.625 0.375 -1.125 -1.625 2.125 -0.125 0.625
# out: -1.3750001 1.8749999 1.6249999 -0.37500003 -1.1250001 0.12500001 -1.8749999 0.625

def nvfuser_fusion_pow(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.ops.pow(T0, T1)
    fd.add_output(T2)
# sizes: 2 4
# in: -0.875 2.125 1.375 -0.125 -0.375 -1.875 1.125 1.375
# sizes: 2 4
# in: 0.875 -1.875 0.625 0.625 -1.375 1.375 -1.625 -1.625
# out: nan 0.24333355 1.220223 nan nan nan 0.8258043 0.5960163

def nvfuser_fusion_remainder(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.ops.remainder(T0, T1)
    fd.add_output(T2)
# sizes: 2 4
# in: -0.125 -1.125 -0.125 -1.625 0.125 0.125 0.625 -1.625
# sizes: 2 4
# in: -1.375 1.875 1.125 0.875 1.125 -1.875 0.875 -1.125
# out: -0.125 0.75 1.0 0.125 0.125 -1.75 0.625 -0.5

def nvfuser_fusion_sub(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.ops.sub(T0, T1)
    fd.add_output(T2)
# sizes: 2 4
# in: -0.875 -1.125 -1.375 1.875 -0.875 2.125 -1.125 0.125
# sizes: 2 4
# in: 0.375 -1.125 -1.875 1.875 1.125 2.125 1.125 -1.125
# out: -1.25 0.0 0.5 0.0 -2.0 0.0 -2.25 1.25

def nvfuser_fusion_minimum(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.ops.minimum(T0, T1)
    fd.add_output(T2)
# sizes: 2 4
# in: -1.875 0.375 -0.375 -0.375 -1.125 0.625 0.125 2.125
# sizes: 2 4
# in: 2.125 0.875 -0.375 1.625 -1.875 -0.875 1.375 -0.875
# out: -1.875 0.375 -0.375 -0.375 -1.875 -0.875 0.125 -0.875

def nvfuser_fusion_maximum(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.ops.maximum(T0, T1)
    fd.add_output(T2)
# sizes: 2 4
# in: 1.875 -1.625 0.625 1.625 1.875 1.625 -1.875 1.625
# sizes: 2 4
# in: 0.875 -0.375 0.125 0.375 -1.375 -1.875 1.875 0.875
# out: 1.875 -0.375 0.625 1.625 1.875 1.625 1.875 1.625

def nvfuser_fusion_eq(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.ops.eq(T0, T1)
    fd.add_output(T2)
# sizes: 2 4
# in: 0.875 -0.375 0.875 -1.875 -1.125 -0.875 -1.875 -1.375
# sizes: 2 4
# in: 0.375 0.375 -0.625 -1.875 1.875 0.875 0.625 0.125
# out: 0 0 0 1 0 0 0 0

def nvfuser_fusion_ge(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.ops.ge(T0, T1)
    fd.add_output(T2)
# sizes: 2 4
# in: 0.125 0.875 0.125 -1.875 -1.125 0.625 -0.875 0.875
# sizes: 2 4
# in: 1.875 -1.375 -0.875 -0.375 2.125 2.125 -0.625 2.125
# out: 0 1 1 0 0 0 0 0

def nvfuser_fusion_gt(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.ops.gt(T0, T1)
    fd.add_output(T2)
# sizes: 2 4
# in: 1.875 -1.625 1.625 0.625 2.125 2.125 1.375 0.625
# sizes: 2 4
# in: -1.375 -0.375 1.375 0.625 -1.125 -1.875 -1.625 -0.625
# out: 1 0 1 0 1 1 1 1

def nvfuser_fusion_le(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.ops.le(T0, T1)
    fd.add_output(T2)
# sizes: 2 4
# in: 0.875 0.125 1.625 -0.375 -0.625 0.875 -0.875 -1.375
# sizes: 2 4
# in: -1.375 -1.375 -0.625 0.625 1.875 1.125 1.125 -1.875
# out: 0 0 0 1 1 1 1 0

def nvfuser_fusion_lt(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.ops.lt(T0, T1)
    fd.add_output(T2)
# sizes: 2 4
# in: -1.875 -1.875 0.125 -1.375 -0.625 1.375 1.875 -1.375
# sizes: 2 4
# in: 0.875 -1.875 0.625 1.125 -1.875 -1.875 -1.875 0.875
# out: 1 0 1 1 0 0 0 1

def nvfuser_fusion_ne(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.ops.ne(T0, T1)
    fd.add_output(T2)
# sizes: 2 4
# in: 0.875 0.125 -0.375 1.875 -0.125 0.125 -1.375 -1.625
# sizes: 2 4
# in: 0.125 0.125 2.125 1.875 0.625 -0.625 -1.875 1.875
# out: 1 0 1 0 1 1 1 1

def nvfuser_fusion_mod(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Int)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Int)
    T2 = fd.ops.mod(T0, T1)
    fd.add_output(T2)
# sizes: 2 4
# in: 2 1 1 1 2 2 1 2
# sizes: 2 4
# in: 1 1 2 2 2 2 2 1
# out: 0 0 1 1 0 0 1 0

def nvfuser_fusion_bitwise_and(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Int)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Int)
    T2 = fd.ops.bitwise_and(T0, T1)
    fd.add_output(T2)
# sizes: 2 4
# in: 1 2 1 2 1 2 2 2
# sizes: 2 4
# in: 2 1 2 2 1 1 2 1
# out: 0 0 0 2 1 0 2 0

def nvfuser_fusion_bitwise_or(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Int)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Int)
    T2 = fd.ops.bitwise_or(T0, T1)
    fd.add_output(T2)
# sizes: 2 4
# in: 2 2 1 2 2 2 2 2
# sizes: 2 4
# in: 2 2 1 1 2 1 2 2
# out: 2 2 1 3 2 3 2 2

def nvfuser_fusion_bitwise_xor(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Int)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Int)
    T2 = fd.ops.bitwise_xor(T0, T1)
    fd.add_output(T2)
# sizes: 2 4
# in: 1 2 2 1 1 2 2 1
# sizes: 2 4
# in: 2 1 1 2 1 1 2 1
# out: 3 3 3 3 0 3 0 0

def nvfuser_fusion_bitwise_left_shift(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Int)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Int)
    T2 = fd.ops.bitwise_left_shift(T0, T1)
    fd.add_output(T2)
# sizes: 2 4
# in: 2 1 2 2 1 2 2 2
# sizes: 2 4
# in: 1 1 2 1 1 1 2 2
# out: 4 2 8 4 2 4 8 8

def nvfuser_fusion_bitwise_right_shift(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Int)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Int)
    T2 = fd.ops.bitwise_right_shift(T0, T1)
    fd.add_output(T2)
# sizes: 2 4
# in: 2 2 2 1 1 2 2 2
# sizes: 2 4
# in: 1 2 1 2 2 2 1 2
# out: 1 0 1 0 0 0 1 0

def nvfuser_fusion_logical_right_shift(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Int)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Int)
    T2 = fd.ops.logical_right_shift(T0, T1)
    fd.add_output(T2)
# sizes: 2 4
# in: 2 2 2 2 1 2 2 1
# sizes: 2 4
# in: 2 2 1 1 2 2 1 2
# out: 0 0 1 1 0 0 1 0

def nvfuser_fusion_gcd(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Int)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Int)
    T2 = fd.ops.gcd(T0, T1)
    fd.add_output(T2)
# sizes: 2 4
# in: 1 2 1 1 2 2 2 1
# sizes: 2 4
# in: 2 2 2 2 1 2 1 2
# out: 1 2 1 1 1 2 1 1

def nvfuser_fusion_logical_and(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Bool)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Bool)
    T2 = fd.ops.logical_and(T0, T1)
    fd.add_output(T2)
# sizes: 2 4
# in: 0 1 0 0 0 1 1 0
# sizes: 2 4
# in: 0 1 0 1 0 0 0 0
# out: 0 1 0 0 0 0 0 0

def nvfuser_fusion_logical_or(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Bool)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Bool)
    T2 = fd.ops.logical_or(T0, T1)
    fd.add_output(T2)
# sizes: 2 4
# in: 1 1 1 1 0 1 0 0
# sizes: 2 4
# in: 0 1 1 0 1 0 0 0
# out: 1 1 1 1 1 1 0 0

def nvfuser_fusion_complex(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.ops.imag(fd.ops.complex(T0, T1))
    fd.add_output(T2)
# sizes: 2 4
# in: 2.125 -1.375 -0.625 2.125 0.125 -1.375 -0.375 -1.375
# sizes: 2 4
# in: -0.375 1.125 0.125 1.125 2.125 -0.625 2.125 1.125
# out: -0.375 1.125 0.125 1.125 2.125 -0.625 2.125 1.125
