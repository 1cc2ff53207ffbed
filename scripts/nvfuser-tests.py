#!/usr/bin/env python3
"""nvFuser's own Python tests, unchanged, on `fuser.nvfuser`.

    pip install torch pytest numpy jax looseversion
    PYTHONPATH=target/python scripts/nvfuser-tests.py CHECKOUT_OF_NVFUSER [--capability=9.0] [arguments of pytest]

`fuser.nvfuser` takes the place of `nvfuser_direct`, and the CPU that of a GPU. In every call of PyTorch a device `cuda`
becomes `cpu`; `.cuda()` gives the tensor itself, `is_cuda` is true, and `torch.cuda` tells of one device of 16 GiB. Its
compute capability is 10.0; tests of `grouped_mm` in tests/python/opinfo need 9.0. Two references are others on a CPU:
`torch._scaled_mm`, which PyTorch lacks there, is computed in f32. Attention goes without the flash algorithm, which
rounds more often there. Each test starts with seed 0.

Without arguments of pytest all of tests/python/direct and tests/python/opinfo runs. Two others are left out:
tests/python/multidevice runs on several GPUs, and tests/python/test_moe.py imports nothing of nvFuser. NOT_APPLICABLE
lists tests that are not run, by reason. DIFFERENCES lists tests that fail by a known difference, with a part of the
failure's text: another failure of them counts as a failure.

The last lines are the counts. Ends with 0 if nothing else failed, 1 otherwise.
"""

import argparse
import collections
import pathlib
import random
import re
import sys
import types

sys.dont_write_bytecode = True

import pytest  # noqa: E402
import torch  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402
from torch.overrides import TorchFunctionMode  # noqa: E402

import fuser.nvfuser.nvfuser_direct_version  # noqa: E402
import fuser.nvfuser.pytorch_utils  # noqa: E402

# Tests that do not apply: the reason, and parts of their names.
NOT_APPLICABLE = {
    "calls kernels of CUTLASS by themselves (`nvf_cutlass`)": ["direct/test_cutlass_"],
    "schedules by hand, or reads schedules (`fd.sched`, `manual_execute`, `parallelize`, `IdModel`)": [
        "test_tutorial.py",
        "test_stream.py",
        "test_kernel_executor",
    ],
    "selects one of nvFuser's schedulers": ["test_enable_disable_options"],
    "reads profiles of CUDA kernels": ["test_fusion_profiler"],
    "reads nvFuser's IR and CUDA kernels": ["test_fusion_definition_print", "test_fusion_execution_cache"],
    "expects that tensors on the CPU are refused": [
        "test_from_pytorch_fails_on_cpu_tensor",
        "test_single_segment_multi_device",
        "test_issue2853",
    ],
    "runs on several GPUs": ["test_execute_with_different_device"],
    "compares with Transformer Engine, which runs on GPUs only": [
        "test_nv_quantization_to_mxfp8",
        "test_nv_block_quantization_vs_te",
        "test_scaled_mm_nv_quantized",
    ],
    "compares with a function that PyTorch has on GPUs only": ["test_sdpa_bwd", "test_correctness_scaled_grouped_mm"],
    "compares with a division of integers by 0, which PyTorch refuses on the CPU": ["test_integer_division"],
    "draws 4e11 random numbers": ["test_uniform_range"],
    "takes tens of GiB": ["test_issue4888", "test_issue5377"],
}

# Tests that fail: the difference, parts of their names, and a part of the failure's text.
DIFFERENCES = {
    "a definition is printed as it was given: constants, defaults and axes are not rewritten, and scripts name `fuser.nvfuser`": (
        [
            "test_basic[",
            "test_squeeze[",
            "test_linear_with_bias",
            "test_repro_script_for",
            "test_sum_sliced_reshape_to_broadcast",
            "test_broadcast_in_dim_no_redundant_set",
        ],
        "assert",
    ),
    "the text of messages and of statistics": (
        ["test_slice_error_checks", "test_mismatched_input_types", "test_lru_fusion_cache_decorator"],
        "AssertionError",
    ),
    "random numbers, and so the elements that attention drops": (
        ["test_deterministic_random", "test_sdpa_fwd["],
        "not close",
    ),
    "gradients of attention are those of its rounded result, as in flash attention; those of PyTorch on the CPU are not": (
        ["test_sdpa_fwd_bwd"],
        "not close",
    ),
    "a result is memory of its own, no view of an input": (["test_mark_alias_pass"], "not equal"),
    "`validate` compares numbers of f32 within 1e-4, however many were summed": (["test_issue4459"], "up to 0.0001 allowed"),
    "one or two units in the last place, where the test allows 1e-3 of any magnitude": (
        [
            "test_correctness_exp_complex64",
            "test_correctness_lgamma_float64",
            "test_correctness_pow_float",
            "test_correctness_tan_float32",
        ],
        "not close",
    ),
    "16-bit products are summed in another order, where the test allows 1e-3 of any magnitude": (
        ["test_correctness_matmul", "test_correctness_linear", "test_correctness_grouped_mm"],
        "not close",
    ),
    "`sigmoid` of complex numbers: 0 or 1 at infinities, NaN in PyTorch, and other roundings near its poles": (
        ["test_correctness_sigmoid_complex"],
        "not close",
    ),
    "places of equal elements: sorts are stable": (["test_correctness_argsort_int", "test_correctness_topk_int"], "not close"),
    "accepted, though nvFuser refuses it: an `iota` of floats from infinity on": (["test_errors_iota_float64"], "DID NOT RAISE"),
}


def on_cpu(value):
    """An argument, the CPU in place of a GPU."""
    is_gpu = isinstance(value, (str, torch.device)) and re.fullmatch(r"cuda(:\d+)?", str(value))
    return "cpu" if is_gpu else value


def scaled_mm(a, b, scale_a, scale_b, bias=None, scale_result=None, out_dtype=None, **_):
    """The product of two matrices with scales of blocks in tiles."""
    from python.direct_utils import narrow_precision

    def scaled(x, scale):
        block = 16 if x.dtype == torch.float4_e2m1fn_x2 else 32
        if block == 16:
            x = narrow_precision.fp4_to_fp32(narrow_precision.unpack_fp4(x.view(torch.uint8)))
        linear = narrow_precision.swizzled_to_linear_128_4(scale, len(x), x.shape[1] // block)
        return x.float() * linear.float().repeat_interleave(block, 1)

    return (scaled(a, scale_a) @ scaled(b.t(), scale_b).t()).to(out_dtype)


class OnCpu(TorchFunctionMode):
    """Calls of PyTorch, on the CPU."""

    def __torch_function__(self, function, _, args=(), kwargs=None):
        args, kwargs = [*map(on_cpu, args)], {name: on_cpu(value) for name, value in (kwargs or {}).items()}
        if function is torch.Tensor.cuda:
            return args[0]
        if function is torch.Tensor.is_cuda.__get__:
            return True
        if function is torch._scaled_mm:
            return scaled_mm(*args, **kwargs)
        if function is torch.nn.functional.scaled_dot_product_attention:
            with sdpa_kernel(SDPBackend.MATH):
                return function(*args, **kwargs)
        return function(*args, **kwargs)


class Absent:
    """A name that `fuser.nvfuser` lacks, which tests import."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        raise NotImplementedError(f"`fuser.nvfuser` has no `{self._name}.{name}`")

    def __call__(self, *args, **kwargs):
        raise NotImplementedError(f"`fuser.nvfuser` has no `{self._name}`")


def install(capability):
    """Puts `fuser.nvfuser` and the CPU in place."""
    module = types.ModuleType("nvfuser_direct")
    vars(module).update(vars(fuser.nvfuser), __getattr__=Absent)
    utils = types.ModuleType("nvfuser_direct.pytorch_utils")
    vars(utils).update(vars(fuser.nvfuser.pytorch_utils), retry_on_oom_or_skip_test=lambda test: test)
    sys.modules |= {
        "nvfuser_direct": module,
        "nvfuser_direct.nvfuser_direct_version": fuser.nvfuser.nvfuser_direct_version,
        "nvfuser_direct.pytorch_utils": utils,
    }
    major, minor = map(int, capability.split("."))
    device = types.SimpleNamespace(major=major, minor=minor, total_memory=16 << 30, name="CPU")
    cuda = torch.cuda
    cuda.is_available = cuda.is_initialized = lambda: True
    cuda.device_count, cuda.current_device, cuda.get_device_properties = lambda: 1, lambda: 0, lambda *_: device
    cuda.synchronize = cuda.empty_cache = lambda *_: None
    cuda.get_rng_state, cuda.set_rng_state = torch.get_rng_state, torch.set_rng_state


class Count:
    """A plugin of pytest that leaves out what does not apply, and counts the rest by outcome and reason."""

    def __init__(self):
        self.counts = collections.defaultdict(collections.Counter)

    def pytest_collection_modifyitems(self, items):
        for item in items:
            for reason, names in NOT_APPLICABLE.items():
                if any(name in item.nodeid for name in names):
                    item.add_marker(pytest.mark.skip(reason=reason))

    def pytest_runtest_setup(self):
        random.seed(0)
        torch.manual_seed(0)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        for reason, (names, text) in DIFFERENCES.items():
            if report.failed and any(name in item.nodeid for name in names) and text in report.longreprtext:
                report.outcome, report.wasxfail = "skipped", reason
        if hasattr(report, "wasxfail"):
            self.counts["failed by a known difference"][report.wasxfail] += 1
        elif report.skipped:
            self.counts["not applicable"][report.longrepr[2].removeprefix("Skipped: ")] += 1
        elif report.failed:
            self.counts["failed"][""] += 1
        elif report.when == "call":
            self.counts["passed"][""] += 1
        return report

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.section("counts")
        for outcome in ("passed", "failed", "failed by a known difference", "not applicable"):
            reasons = self.counts[outcome]
            terminalreporter.line(f"{sum(reasons.values()):5} {outcome}")
            for reason, count in reasons.most_common():
                if reason:
                    terminalreporter.line(f"      {count:5} {reason}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("--capability", default="10.0")
    options, rest = parser.parse_known_args()
    folder = options.checkout.resolve() / "tests/python"
    install(options.capability)
    if not any(not argument.startswith("-") and "tests" in argument for argument in rest):
        rest = [str(folder / "direct"), str(folder / "opinfo"), *rest]
    with OnCpu():
        return pytest.main(["-p", "no:cacheprovider", f"--rootdir={options.checkout.resolve()}", *rest], [Count()])


if __name__ == "__main__":
    sys.exit(main())
