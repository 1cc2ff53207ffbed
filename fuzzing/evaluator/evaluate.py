"""Evaluates programs and says where results are wrong: a process that answers requests on its standard input.

A request is lines of words up to `end`, then bytes without anything between them: the text, the inputs, the results.

    text BYTES
    extent NAME LENGTH
    input DTYPE AXES...          each a length, `b` before it where the axis is stored once
    results NAME                 what follows is one execution
    result DTYPE AXES...
    end

The answer is lines up to `end`: `result NAME INDEX elements N exact N open N wide N` for each result, `wrong NAME INDEX TEXT` where an
element is outside of its bounds, `error TEXT` where the program could not be evaluated. Little-endian; b axes are stored once.

Shares no code with the compiler or its interpreter, and knows the language and the ops from docs/ alone.
"""

import sys
import traceback

try:
    import numpy as np
except ImportError:
    print("missing: NumPy not found", flush=True)
    sys.exit(0)

from complexes import Complex
from program import Program
from values import COMPLEX, Axis, Value, elements, STORED

# A result whose bounds are further apart than this, relative to it, is counted as wide: it is compared, and says little.
WIDE = 0.05


class Array:
    """A tensor of a request; of complex numbers its last axis are the two parts."""

    def __init__(self, words):
        self.dtype = words[0]
        self.axes = [word.startswith("b") for word in words[1:]]
        self.shape = [int(word.lstrip("b")) for word in words[1:]]
        self.stored = [1 if b else n for b, n in zip(self.axes, self.shape)] + [2] * (self.dtype in COMPLEX)
        self.real = COMPLEX.get(self.dtype, self.dtype)
        self.bytes = int(np.prod(self.stored, dtype=np.int64)) * np.dtype(STORED[self.real]).itemsize

    def read(self, stream):
        self.held = elements(stream.read(self.bytes), self.real, self.stored)
        return self

    def parts(self):
        """The elements of each part, of which a real tensor has one."""
        return [self.held[..., 0], self.held[..., 1]] if self.dtype in COMPLEX else [self.held]

    def value(self):
        axes = [Axis(b, True) for b in self.axes]
        parts = [Value(self.real, np.broadcast_to(part, self.shape), axes=axes) for part in self.parts()]
        return Complex(*parts, axes) if len(parts) == 2 else parts[0]


def request(stream):
    """(text, extents, inputs, executions by name); None at the end."""
    size, extents, inputs, executions = 0, {}, [], {}
    name = None
    while True:
        line = stream.readline().decode()
        if not line:
            return None
        words = line.split()
        if words[0] == "end":
            break
        if words[0] == "text":
            size = int(words[1])
        elif words[0] == "extent":
            extents[words[1]] = int(words[2])
        elif words[0] == "input":
            inputs.append(Array(words[1:]))
        elif words[0] == "results":
            name = words[1]
            executions[name] = []
        else:
            executions[name].append(Array(words[1:]))
    text = stream.read(size).decode()
    for array in inputs + [array for arrays in executions.values() for array in arrays]:
        array.read(stream)
    return text, extents, inputs, executions


def compared(wanted, array):
    """(counts, what is wrong with a result or nothing); of complex numbers every part counts."""
    # An axis of extent 1 is stored once anyway.
    alike = all(axis.broadcast == stored or length == 1 for axis, stored, length in zip(wanted.axes, array.axes, array.shape))
    if wanted.dtype != array.dtype or list(wanted.lo.shape) != array.shape or not alike:
        return None, f"is {array.dtype} {array.shape} {array.axes}, should be {wanted.dtype} {wanted.lo.shape} {wanted.axes}"
    if 0 in array.shape:
        return (0, 0, 0, 0), None
    parts = wanted.parts if isinstance(wanted, Complex) else [wanted]
    found = [compared_part(part, held) for part, held in zip(parts, array.parts())]
    names = ["real parts: ", "imaginary parts: "] if len(found) == 2 else [""]
    faults = [name + fault for name, (_, fault) in zip(names, found) if fault]
    return tuple(sum(counts) for counts in zip(*(counts for counts, _ in found))), "; ".join(faults) or None


def compared_part(wanted, got):
    once = tuple(slice(0, 1) if axis.broadcast else slice(None) for axis in wanted.axes)
    lo, hi = wanted.lo[once], wanted.hi[once]
    open = np.zeros(lo.shape, bool) if wanted.open is None else wanted.open[once]
    inside, exact = (lo <= got) & (got <= hi), lo == hi
    wide = np.zeros(lo.shape, bool)
    if wanted.is_float:
        nan = np.isnan(lo) & np.isnan(hi)
        inside = inside | (nan & np.isnan(got))
        # A zero whose sign is known.
        signed = (lo == 0) & (hi == 0) & (np.signbit(lo) == np.signbit(hi))
        inside &= ~(signed & (np.signbit(got) != np.signbit(lo)))
        exact = exact | nan
        wide = ~open & ~exact & ~(hi - lo <= WIDE * np.maximum(np.abs(lo), np.abs(hi)))
    bad = ~inside & ~open
    counts = (got.size, int((exact & ~open).sum()), int(open.sum()), int(wide.sum()))
    if not bad.any():
        return counts, None
    at = tuple(int(i) for i in np.argwhere(bad)[0])
    return counts, f"{int(bad.sum())} of {got.size} are wrong; at {list(at)} {got[at]!r} should be from {lo[at]!r} to {hi[at]!r}"


def answer(text, extents, inputs, executions):
    try:
        wanted = Program(text, extents, [array.value() for array in inputs]).run()
    except Exception as error:  # noqa: BLE001: whatever it is, the next program is evaluated
        place = traceback.extract_tb(error.__traceback__)[-1]
        yield f"error {type(error).__name__} at {place.name}:{place.lineno}: {error}".replace("\n", " ")
        return
    for name, arrays in executions.items():
        if len(arrays) != len(wanted):
            yield f"wrong {name} 0 {len(arrays)} results, should be {len(wanted)}"
            continue
        for index, (value, array) in enumerate(zip(wanted, arrays)):
            counts, fault = compared(value, array)
            if counts:
                yield "result {} {} elements {} exact {} open {} wide {}".format(name, index, *counts)
            if fault:
                yield f"wrong {name} {index} {fault}".replace("\n", " ")


def main():
    print(f"ready NumPy {np.__version__}", flush=True)
    while (asked := request(sys.stdin.buffer)) is not None:
        for line in answer(*asked):
            print(line)
        print("end", flush=True)


if __name__ == "__main__":
    main()
