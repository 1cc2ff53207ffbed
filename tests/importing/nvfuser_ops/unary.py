def nvfuser_fusion_abs(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.abs(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: -1.375 -1.875 1.625 -0.625 1.125 2.125 1.375 0.875
# out: 1.375 1.875 1.625 0.625 1.125 2.125 1.375 0.875

def nvfuser_fusion_asinh(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.asinh(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: 2.125 -1.625 -1.125 -1.875 -1.125 0.625 -1.375 0.125
# out: 1.4981793 -1.2621593 -0.9670596 -1.3862944 -0.9670596 0.5901437 -1.1233647 0.12467675

def nvfuser_fusion_atan(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.atan(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: 1.375 -1.125 0.625 0.125 -0.625 -1.375 1.875 -1.625
# out: 0.94200003 -0.844154 0.5585993 0.124354996 -0.5585993 -0.94200003 1.080839 -1.0191413

def nvfuser_fusion_ceil(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.ceil(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: 0.625 1.125 0.125 1.375 -0.125 -1.625 -1.125 -0.625
# out: 1.0 2.0 1.0 2.0 -0.0 -1.0 -1.0 -0.0

def nvfuser_fusion_cos(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.cos(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: -1.125 0.875 -0.875 2.125 0.875 1.875 -1.125 -1.625
# out: 0.4311765 0.6409969 0.6409969 -0.52626634 0.6409969 -0.29953352 0.4311765 -0.054177135

def nvfuser_fusion_cosh(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.cosh(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: 1.625 1.875 0.625 0.375 -1.625 -0.375 0.375 -1.375
# out: 2.6376655 3.3370872 1.2017537 1.0711403 2.6376655 1.0711403 1.0711403 2.1039581

def nvfuser_fusion_exp(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.exp(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: -1.375 0.875 1.875 0.125 1.125 2.125 0.875 -1.625
# out: 0.2528396 2.3988752 6.520819 1.1331484 3.080217 8.372897 2.3988752 0.19691168

def nvfuser_fusion_exp2(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.exp2(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: -1.375 -1.375 1.875 1.125 0.875 0.125 1.375 0.625
# out: 0.3855527 0.3855527 3.6680162 2.1810155 1.8340081 1.0905077 2.5936792 1.5422108

def nvfuser_fusion_expm1(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.expm1(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: -0.875 1.625 2.125 1.875 0.625 0.125 0.375 -0.875
# out: -0.583138 4.078419 7.3728976 5.520819 0.86824596 0.13314845 0.4549914 -0.583138

def nvfuser_fusion_erf(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.erf(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: -0.625 0.625 0.125 0.375 1.875 1.625 -0.375 -0.375
# out: -0.6232409 0.6232409 0.1403162 0.4041169 0.99199003 0.97844374 -0.4041169 -0.4041169

def nvfuser_fusion_erfc(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.erfc(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: 1.875 1.875 -0.375 -0.625 -0.375 1.875 -1.875 1.625
# out: 0.008009942 0.008009942 1.4041169 1.623241 1.4041169 0.008009942 1.9919901 0.021556268

def nvfuser_fusion_floor(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.floor(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: -1.375 -0.125 1.125 1.125 1.875 -1.875 -1.625 2.125
# out: -2.0 -1.0 1.0 1.0 1.0 -2.0 -2.0 2.0

def nvfuser_fusion_frac(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.frac(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: 1.125 -0.625 -0.875 -1.125 -0.125 -0.375 0.375 -0.625
# out: 0.125 -0.625 -0.875 -0.125 -0.125 -0.375 0.375 -0.625

def nvfuser_fusion_neg(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.neg(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: 0.125 1.125 1.875 0.875 -0.375 -1.625 0.625 1.875
# out: -0.125 -1.125 -1.875 -0.875 0.375 1.625 -0.625 -1.875

def nvfuser_fusion_reciprocal(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.reciprocal(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: 1.125 1.375 -1.875 -0.375 1.875 0.875 1.125 -1.625
# out: 0.8888889 0.72727275 -0.53333336 -2.6666667 0.53333336 1.1428572 0.8888889 -0.61538464

def nvfuser_fusion_relu(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.relu(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: -0.375 -0.125 2.125 1.875 -0.875 -0.125 1.875 2.125
# out: 0.0 0.0 2.125 1.875 0.0 0.0 1.875 2.125

def nvfuser_fusion_round(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.round(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: 2.125 -1.375 0.375 1.625 1.125 1.375 -0.875 -1.125
# out: 2.0 -1.0 0.0 2.0 1.0 1.0 -1.0 -1.0

def nvfuser_fusion_set(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.set(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: -1.375 -0.875 0.125 -0.375 -1.625 -0.125 -1.375 1.125
# out: -1.375 -0.875 0.125 -0.375 -1.625 -0.125 -1.375 1.125

def nvfuser_fusion_segment_set(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.segment_set(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: -0.625 -0.875 0.625 0.625 0.375 -1.125 1.625 1.125
# out: -0.625 -0.875 0.625 0.625 0.375 -1.125 1.625 1.125

def nvfuser_fusion_sign(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.sign(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: 1.375 0.625 -0.625 -0.625 -0.625 -1.375 1.125 1.625
# out: 1.0 1.0 -1.0 -1.0 -1.0 -1.0 1.0 1.0

def nvfuser_fusion_sigmoid(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.sigmoid(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: -1.625 2.125 0.875 1.125 0.625 -1.125 -1.625 -0.875
# out: 0.16451646 0.8933094 0.70578504 0.754915 0.6513549 0.24508502 0.16451646 0.29421496

def nvfuser_fusion_silu(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.silu(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: -0.375 1.125 -1.875 -1.625 -1.375 2.125 0.125 1.875
# out: -0.15275003 0.8492794 -0.24930795 -0.26733926 -0.27749318 1.8982825 0.066401176 1.625692

def nvfuser_fusion_sin(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.sin(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: -0.875 -1.125 -1.375 1.875 -0.875 2.125 -1.125 0.125
# out: -0.7675435 -0.9022676 -0.9808931 0.95408577 -0.7675435 0.8503198 -0.9022676 0.12467473

def nvfuser_fusion_sinh(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.sinh(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: 0.875 -0.125 -0.625 -1.375 -0.125 0.625 -0.375 0.875
# out: 0.9910066 -0.12532577 -0.6664923 -1.8511186 -0.12532577 0.6664923 -0.38385105 0.9910066

def nvfuser_fusion_sqrt(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.sqrt(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: 0.875 1.625 1.875 -1.125 2.125 0.625 -0.875 0.625
# out: 0.9354144 1.2747549 1.3693064 nan 1.4577379 0.7905694 nan 0.7905694

def nvfuser_fusion_tan(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.tan(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: -1.625 1.125 0.375 -1.875 -1.375 -0.375 1.875 -0.875
# out: 18.430862 2.0925713 0.3936266 3.1852388 -5.041915 -0.3936266 -3.1852388 -1.1974216

def nvfuser_fusion_tanh(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.tanh(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: 2.125 0.375 -1.875 2.125 1.875 1.125 -1.375 1.375
# out: 0.97187275 0.3583574 -0.95404524 0.97187275 0.95404524 0.8093011 -0.8798267 0.8798267

def nvfuser_fusion_trunc(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.trunc(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: 0.375 -1.125 -1.125 -0.125 -0.625 -0.875 -1.125 0.125
# out: 0.0 -1.0 -1.0 -0.0 -0.0 -0.0 -1.0 0.0

def nvfuser_fusion_real(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.real(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: 1.375 -1.125 0.625 0.125 -0.625 -1.375 1.875 -1.625
# out: 1.375 -1.125 0.625 0.125 -0.625 -1.375 1.875 -1.625

def nvfuser_fusion_isfinite(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[8], contiguity=[True], dtype=DataType.Float)
    T1 = fd.ops.isfinite(T0)
    fd.add_output(T1)
# sizes: 8
# in: inf -inf nan 0.0 -0.0 1e-45 -1.5 3e+38
# out: 0 0 0 1 1 1 1 1

def nvfuser_fusion_isinf(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[8], contiguity=[True], dtype=DataType.Float)
    T1 = fd.ops.isinf(T0)
    fd.add_output(T1)
# sizes: 8
# in: inf -inf nan 0.0 -0.0 1e-45 -1.5 3e+38
# out: 1 1 0 0 0 0 0 0

def nvfuser_fusion_isnan(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[8], contiguity=[True], dtype=DataType.Float)
    T1 = fd.ops.isnan(T0)
    fd.add_output(T1)
# sizes: 8
# in: inf -inf nan 0.0 -0.0 1e-45 -1.5 3e+38
# out: 0 0 1 0 0 0 0 0

def nvfuser_fusion_isneginf(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[8], contiguity=[True], dtype=DataType.Float)
    T1 = fd.ops.isneginf(T0)
    fd.add_output(T1)
# sizes: 8
# in: inf -inf nan 0.0 -0.0 1e-45 -1.5 3e+38
# out: 0 1 0 0 0 0 0 0

def nvfuser_fusion_isposinf(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[8], contiguity=[True], dtype=DataType.Float)
    T1 = fd.ops.isposinf(T0)
    fd.add_output(T1)
# sizes: 8
# in: inf -inf nan 0.0 -0.0 1e-45 -1.5 3e+38
# out: 1 0 0 0 0 0 0 0

def nvfuser_fusion_isreal(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[8], contiguity=[True], dtype=DataType.Float)
    T1 = fd.ops.isreal(T0)
    fd.add_output(T1)
# sizes: 8
# in: inf -inf nan 0.0 -0.0 1e-45 -1.5 3e+38
# out: 1 1 1 1 1 1 1 1

def nvfuser_fusion_signbit(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[8], contiguity=[True], dtype=DataType.Float)
    T1 = fd.ops.signbit(T0)
    fd.add_output(T1)
# sizes: 8
# in: inf -inf nan 0.0 -0.0 1e-45 -1.5 3e+38
# out: 0 1 0 0 1 0 1 0

def nvfuser_fusion_log(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.log(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: -1.875 -0.125 -1.125 0.875 1.375 0.375 2.125 0.625
# out: nan nan nan -0.13353139 0.31845373 -0.98082924 0.7537718 -0.47000363

def nvfuser_fusion_log10(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.log10(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: -1.125 1.875 -1.625 1.125 -1.375 -0.625 -1.125 -1.625
# out: nan 0.27300128 nan 0.051152524 nan nan nan nan

def nvfuser_fusion_log1p(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.log1p(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: -0.875 0.625 0.875 1.375 -0.375 1.875 -1.875 -1.125
# out: -2.0794415 0.48550782 0.62860864 0.86499745 -0.47000363 1.0560527 nan nan

def nvfuser_fusion_log2(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.log2(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: -0.125 -0.625 -1.375 0.625 -1.125 1.375 -0.125 1.875
# out: nan nan nan -0.6780719 nan 0.45943162 nan 0.9068906

def nvfuser_fusion_rsqrt(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.rsqrt(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: -0.375 -1.875 -1.375 2.125 0.375 0.375 0.375 -0.625
# out: nan nan nan 0.6859944 1.6329931 1.6329931 1.6329931 nan

def nvfuser_fusion_lgamma(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[18], contiguity=[True], dtype=DataType.Float)
    T1 = fd.ops.lgamma(T0)
    fd.add_output(T1)
# sizes: 18
# in: inf -inf nan 0.0 -0.0 1e-45 -1e-30 3e+38 -1e+09 1.0 2.0 -3.0 1.0000001 7.9999995 8.0 -2.4570248 -0.5 171.3
# out: inf inf nan inf inf 103.27893 69.07755 inf inf 0.0 0.0 inf -6.8809456e-08 8.525161 8.525162 -1.12878425e-07 1.2655121 708.115

def nvfuser_fusion_acos(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.acos(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: -0.25 0.55 0.85 0.35 0.35 0.75 0.45 0.15
# out: 1.8234766 0.98843205 0.554811 1.2132252 1.2132252 0.7227343 1.104031 1.420228

def nvfuser_fusion_asin(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.asin(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: 0.85 0.15 -0.75 0.85 0.75 0.45 -0.55 0.55
# out: 1.0159854 0.15056828 -0.8480621 1.0159854 0.8480621 0.4667653 -0.58236426 0.58236426

def nvfuser_fusion_atanh(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.atanh(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: 0.45 0.55 -0.05 0.55 0.25 -0.15 -0.45 0.25
# out: 0.48470026 0.6183813 -0.050041728 0.6183813 0.25541282 -0.15114044 -0.48470026 0.25541282

def nvfuser_fusion_erfinv(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.erfinv(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: 0.45 0.65 -0.45 -0.05 -0.45 0.35 0.85 -0.65
# out: 0.42268023 0.6608544 -0.42268023 -0.044340387 -0.42268023 0.32085833 1.0179025 -0.6608544

def nvfuser_fusion_acosh(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.acosh(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: 1.15 1.65 1.85 1.35 1.45 1.55 1.55 1.65
# out: 0.5410972 1.0860133 1.2256672 0.8140001 0.91629076 1.0058652 1.0058652 1.0860133

def nvfuser_fusion_erfcinv(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.erfcinv(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: 1.05 1.65 1.35 1.15 1.55 1.55 1.05 1.25
# out: -0.044340346 -0.6608544 -0.32085836 -0.1337269 -0.534159 -0.534159 -0.044340346 -0.22531205

def nvfuser_fusion_bitwise_not(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Int)
    T1 = fd.ops.bitwise_not(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: 1 1 1 2 1 1 2 1
# out: -2 -2 -2 -3 -2 -2 -3 -2

def nvfuser_fusion_logical_not(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Bool)
    T1 = fd.ops.logical_not(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: 0 1 1 0 1 0 0 1
# out: 1 0 0 1 0 1 1 0

def nvfuser_fusion_imag(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.ops.imag(fd.ops.mul(fd.ops.complex(T0, T1), fd.ops.complex(T1, T0)))
    fd.add_output(T2)
# sizes: 2 4
# in: 0.875 0.375 -1.875 0.625 -1.625 0.125 0.875 2.125
# sizes: 2 4
# in: -0.375 1.125 0.125 1.125 2.125 -0.625 2.125 1.125
# out: 0.90625 1.40625 3.53125 1.65625 7.15625 0.40625 5.28125 5.78125

def nvfuser_fusion_rand_like(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.rand_like(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: -0.375 -1.125 -1.875 -0.875 1.875 -0.125 -0.375 0.375
# sizes:
# in: 7
# sizes:
# in: 3
# out: 0.5925802 0.5873946 0.37289476 0.3956687 0.6025261 0.817174 0.33028305 0.9351947

def nvfuser_fusion_randn_like(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.randn_like(T0)
    fd.add_output(T1)
# sizes: 2 4
# in: -1.375 1.875 0.625 -1.625 0.625 1.625 -0.625 1.125
# sizes:
# in: 7
# sizes:
# in: 3
# out: 0.72888404 -0.998946 1.2220676 -1.1533985 -0.9755477 -0.5831492 0.7614033 -0.25675437
