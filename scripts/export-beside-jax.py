#!/usr/bin/env python3
"""Random programs, exported as StableHLO and run by JAX, beside the results that they have here.

The soak writes programs with inputs, results of the interpreter and what these may differ by (`--write`, fuzzing/src/soak/files.rs).
`fuser-translate --export=stablehlo` writes each as StableHLO; JAX's parser reads the text, XLA compiles it for the CPU and runs it on the same
inputs. Elements that the reference knows exactly are compared bit for bit, all NaN equal, others within their bound. An op that StableHLO
cannot say is taken apart first (`fuser-opt --decompose`); a program that is refused all the same is counted by the reason, and is none of the
programs that are compared.

What XLA does otherwise by itself is in `REASONS`: an element that differs for such a reason is counted under it. A difference without a reason
is printed, and makes the exit status 1.

    pip install jax==0.10.2
    cargo build --release --bins && cargo build --release -p fuser-fuzzing --bin soak
    scripts/export-beside-jax.py                         1,000 programs that were compared
    scripts/export-beside-jax.py --cases 50 --seed 7     from seed 7 on
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import jax
import ml_dtypes
import numpy as np

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

from jax._src.interpreters import mlir as lowering  # noqa: E402
from jax._src.lib import _jax  # noqa: E402
from jaxlib import xla_client  # noqa: E402
from jaxlib.mlir import ir  # noqa: E402

np.seterr(all="ignore")
ROOT = pathlib.Path(__file__).resolve().parent.parent
SECONDS = 120  # for one command of a tool
ROUND = 250  # programs that are written at a time

TYPES = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
    "i64": np.int64,
    "index": np.int64,
    "i32": np.int32,
    "i16": np.int16,
    "i8": np.int8,
    "ui64": np.uint64,
    "ui32": np.uint32,
    "ui16": np.uint16,
    "ui8": np.uint8,
    "i1": np.bool_,
    "complex<f32>": np.complex64,
    "complex<f64>": np.complex128,
}


class Expected:
    """A result: the values, and the distance from each that is allowed; complex ones by their parts."""

    def __init__(self, described, raw):
        self.dtype = np.dtype(TYPES[described["dtype"]])
        self.shape = tuple(extent for extent, _ in described["axes"])
        stored = tuple(1 if once else extent for extent, once in described["axes"])
        self.parts = 2 if self.dtype.kind == "c" else 1
        words = np.frombuffer(raw, np.uint64).reshape((self.parts, *stored, 2))
        wide = lambda at: np.broadcast_to(words[..., at], (self.parts, *self.shape))
        self.words, self.allowed = wide(0), wide(1).view(np.float64) if words.size == 0 else np.ascontiguousarray(wide(1)).view(np.float64)

    def wrong(self, got):
        """True where an element is beyond what is allowed."""
        if got.dtype != self.dtype or got.shape != self.shape:
            return None
        if self.dtype.kind in "iub":
            own = np.ascontiguousarray(self.words[0]).astype(self.dtype)
            return (own != got) & np.isfinite(self.allowed[0])
        parts = [got.real, got.imag] if self.parts == 2 else [got]
        own = np.ascontiguousarray(self.words).view(np.float64)
        wrong = np.zeros(self.shape, bool)
        for value, allowed, part in zip(own, self.allowed, parts):
            part = part.astype(np.float64)
            same = (value == part) & ((allowed > 0) | (np.signbit(value) == np.signbit(part))) | np.isnan(value) & np.isnan(part)
            wrong |= ~(same | (np.abs(value - part) <= allowed) | np.isinf(allowed))
        return wrong

    def value(self, at):
        """An element of floats; a complex one is NaN where a part is."""
        own = np.ascontiguousarray(self.words).view(np.float64)
        return sum(own[(part, *at)] for part in range(self.parts)) if self.dtype.kind in "fcV" else 0

    def shown(self, at, got):
        own = np.ascontiguousarray(self.words).view(np.float64) if self.dtype.kind in "fcV" else self.words
        values = [own[(part, *at)] for part in range(self.parts)]
        return f"{tuple(int(i) for i in at)} is {got[tuple(at)]}, should be {values} within {[float(self.allowed[(p, *at)]) for p in range(self.parts)]}"


def subnormal(dtype, value):
    """True for the numbers that XLA takes for zero: f16 is computed in f32."""
    if dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        return subnormal(part, value.real) | subnormal(part, value.imag)
    least = {"float64": 2.0**-1022, "float32": 2.0**-126, "bfloat16": 2.0**-126}.get(dtype.name)
    magnitude = np.abs(value.astype(np.float64)) if least else np.zeros(value.shape)
    return (magnitude > 0) & (magnitude < (least or 0))


def compiled(text):
    """An executable of JAX's CPU client."""
    client = jax.devices("cpu")[0].client
    with lowering.make_ir_context():
        module = ir.Module.parse(text)
        devices = _jax.DeviceList(tuple(jax.devices("cpu")[:1]))
        return client.compile_and_load(module, devices, xla_client.CompileOptions())


def executed(text, inputs):
    done = compiled(text).execute_sharded([jax.device_put(x) for x in inputs])
    return [np.asarray(arrays[0]) for arrays in done.disassemble_into_single_device_arrays()]


class Tools:
    def __init__(self, folder):
        self.folder = folder

    def run(self, name, *words, text=None):
        command = [str(self.folder / name), *map(str, words)]
        return subprocess.run(command, input=text, capture_output=True, text=True, timeout=SECONDS)

    def exported(self, path):
        """The text, or the first reason that there is none."""
        done = self.run("fuser-translate", path, "--export=stablehlo")
        if done.returncode == 0:
            return done.stdout, None
        again = done
        for words in ([], ["--executors=none"]):
            apart = self.run("fuser-opt", path, "--decompose", *words)
            if apart.returncode == 0:
                again = self.run("fuser-translate", "-", "--export=stablehlo", text=apart.stdout)
            if again.returncode == 0:
                return again.stdout, None
        reasons = re.findall(r"error: \[FIR\d+\] (.*)", again.stderr)
        return None, re.sub(r"\d+", "N", reasons[0]) if reasons else again.stderr[:200]

    def intermediate_subnormals(self, text, folder, inputs):
        """True if some value of the program, as it is exported, is a number that XLA takes for zero."""
        names = re.findall(r"^    (%[\w.$-]+) = (?!stablehlo\.(?:constant|reduce|optimization)).* -> (tensor<[^>]*(?:f32|f64|bf16)>)$", text, flags=re.M)
        names = names[:400]
        if not names:
            return False
        head, rest = text.split("-> (", 1)
        body = re.sub(r"\n    return .*\n", "\n    return {} : {}\n", rest.split(") {", 1)[1].replace("{", "{{").replace("}", "}}"))
        types = ", ".join(ty for _, ty in names)
        body = body.format(", ".join(name for name, _ in names), types)
        probe = f"{head}-> ({types}) {{{body}"
        imported = self.run("fuser-translate", "-", "--import=stablehlo", text=probe)
        if imported.returncode:
            return None
        path = folder / "values.fir"
        path.write_text(imported.stdout)
        flags = []
        for at, (name, x) in enumerate(zip(re.findall(r"%([\w.$-]+): ", imported.stdout.split("->")[0]), inputs)):
            own = folder / f"value-{at}.npy"
            np.save(own, x.view(f"V{x.itemsize}") if x.dtype.kind == "V" else x)
            flags.append(f"--input={name}=@{own}")
        out = folder / "values"
        done = self.run("fuser-run", path, "--device=interp", f"--output-dir={out}", *flags)
        if done.returncode:
            print(f"{folder.name}: its values are not known: {done.stderr[:500]}")
            return None
        for file in out.iterdir():
            value = np.load(file)
            value = value.view(ml_dtypes.bfloat16) if value.dtype.kind == "V" else value
            if subnormal(value.dtype, value).any():
                return True
        return False


# Differences that are XLA's own, by what is told of them; each is looked for in the program.
REASONS = {
    "subnormals": "XLA's CPU takes subnormal numbers for zero, and makes zeros of them",
    "places": "XLA keeps more places of 16-bit floats between ops; with --xla_allow_excess_precision=false, or with all values as results too, there is no difference",
    "nan": "XLA's CPU loses a NaN in a maximum or minimum along leading axes",
}
EXACT = "--xla_allow_excess_precision=false"


def reason(tools, text, folder, inputs, places):
    """The reason of a difference, if it has one."""
    for expected, got, at in places:
        if subnormal(got.dtype, got).any():
            return "subnormals"
    if EXACT not in os.environ.get("XLA_FLAGS", ""):
        (folder / "program.mlir").write_text(text)
        environment = {**os.environ, "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {EXACT}"}
        again = subprocess.run([sys.executable, __file__, "--case", str(folder)], env=environment, timeout=SECONDS)
        if again.returncode == 0:
            return "places"
    if re.search(r"applies stablehlo\.(maximum|minimum) across", text):
        lost = lambda expected, got, at: all(np.isnan(expected.value(place)) for place in at)
        if all(at is not None and lost(expected, got, at) for expected, got, at in places):
            return "nan"
    if tools.intermediate_subnormals(text, folder, inputs):
        return "subnormals"
    return None


def with_values(text):
    """The program with each of its values of 16-bit floats as a result too, which XLA thus rounds."""
    values = re.findall(r"^    (%[\w.$-]+) = stablehlo\.(?!constant|optimization).* -> (tensor<[^>]*x(?:b?f16)>)$", text, flags=re.M)[:400]
    before, _, rest = text.partition("-> (")
    types, _, body = rest.partition(") {")
    body, _, last = body.rpartition("\n    return ")
    names, _, last = last.partition(" : ")
    own, _, end = last.partition("\n")
    more = [", ".join([part, *(value[at] for value in values)]) for part, at in ((types, 1), (names, 0), (own, 1))]
    return f"{before}-> ({more[0]}) {{{body}\n    return {more[1]} : {more[2]}\n{end}"


def differences(text, inputs, outputs):
    """The results beyond what is allowed, and where."""
    places = []
    for expected, got in zip(outputs, executed(text, inputs)):
        wrong = expected.wrong(got)
        if wrong is None or wrong.any():
            places.append((expected, got, None if wrong is None else np.argwhere(wrong)))
    return places


def load(folder):
    case = json.loads((folder / "case.json").read_text())
    inputs = []
    for at, described in enumerate(case["inputs"]):
        stored = tuple(1 if once else extent for extent, once in described["axes"])
        raw = np.frombuffer((folder / f"in{at}").read_bytes(), TYPES[described["dtype"]]).reshape(stored)
        inputs.append(np.array(np.broadcast_to(raw, tuple(extent for extent, _ in described["axes"])), order="C"))
    outputs = [Expected(described, (folder / f"out{at}").read_bytes()) for at, described in enumerate(case["outputs"])]
    return inputs, outputs


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=int, default=1000, help="programs to compare (1000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="programs,models", help="the generators (programs,models)")
    parser.add_argument("--soak", default=[], nargs="*", help="further words for the soak")
    parser.add_argument("--tools", type=pathlib.Path, default=ROOT / "target/release", help="the folder of the tools")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the programs that differ")
    parser.add_argument("--case", type=pathlib.Path, help="compare this folder alone, with its program.mlir")
    options = parser.parse_args()
    if options.case:
        text, case = (options.case / "program.mlir").read_text(), load(options.case)
        return 1 if differences(text, *case) and differences(with_values(text), *case) else 0
    tools = Tools(options.tools)

    seed, compared, elements, exact = options.seed, 0, 0, 0
    refused, excused, unexplained = collections.Counter(), collections.Counter(), 0
    while compared < options.cases:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            words = ["--seed", seed, "--cases", ROUND, "--seconds", 3600, "--small", "--only", options.only, "--write", folder, *options.soak]
            tools.folder.joinpath("soak").exists() or sys.exit("there is no soak: cargo build --release -p fuser-fuzzing --bin soak")
            subprocess.run([str(tools.folder / "soak"), *map(str, words)], capture_output=True, timeout=3600)
            seed += ROUND
            for case in sorted(folder.iterdir(), key=lambda path: (int(path.name.split("-")[1]), path.name)):
                if compared == options.cases:
                    break
                text, why = tools.exported(case / "program.fir")
                if text is None:
                    refused[why] += 1
                    continue
                inputs, outputs = load(case)
                try:
                    places = differences(text, inputs, outputs)
                except Exception as error:  # JAX refuses the text
                    print(f"{case.name}: JAX refuses it: {str(error)[:500]}")
                    unexplained += 1
                    compared += 1
                    continue
                compared += 1
                for expected in outputs:
                    elements += int(np.prod(expected.shape))
                    exact += int((expected.allowed == 0).all(axis=0).sum())
                if not places:
                    continue
                why = reason(tools, text, case, inputs, places)
                if why:
                    excused[why] += 1
                else:
                    unexplained += 1
                if options.keep:
                    own = options.keep / f"{why or 'different'}-{case.name}"
                    own.mkdir(parents=True, exist_ok=True)
                    for file in case.iterdir():
                        file.is_file() and own.joinpath(file.name).write_bytes(file.read_bytes())
                    (own / "program.mlir").write_text(text)
                if not why:
                    expected, got, at = places[0]
                    what = f"is {got.dtype}{got.shape}" if at is None else f"{len(at)} of {got.size} elements; {expected.shown(at[0], got)}"
                    print(f"{case.name}: {what}", flush=True)
    for what, times in refused.most_common():
        print(f"refused {times} times: {what}")
    for what, times in excused.most_common():
        print(f"differs in {times} programs: {REASONS[what]}")
    print(f"count: {compared} programs, {elements} elements, {exact} of them exact; {unexplained} differ without a reason")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
