"""Runs a tool on generated text and compares the memory at its peak with the size of the text: peak.py FACTOR KIND COMMAND...

The peak may be FACTOR times the text, besides what the process needs for an empty one.
"""

import os
import subprocess
import sys
import tempfile

KINDS = {
    "empty": "",
    "ops": "module {\n" + '"a.b"() : () -> ()\n' * 200_000 + "}\n",
    "uses": '%a = "a.b"() : () -> f32\n' + '"a.c"(%a, %a, %a, %a) : (f32, f32, f32, f32) -> ()\n' * 60_000,
    "names": "".join(f'%n{i} = "a.b"() : () -> f32\n' for i in range(100_000)),
    "attributes": "".join(f'"a.b"() {{k{i} = {i}}} : () -> ()\n' for i in range(80_000)),
    "dense": '"a.b"() {k = dense<[' + "1, " * 1_500_000 + "1]> : tensor<1500001xi8>} : () -> ()\n",
    "types": "".join(f'"a.b"() : () -> tensor<{i}x[N{i}]xf32>\n' for i in range(80_000)),
    # Three towers of 9,999 regions inside each other.
    "regions": ('"a.b"() ({\n' * 9_999 + "}) : () -> ()\n" * 9_999) * 3,
    "errors": '"a.b"(%x) : (f32) -> ()\n' * 150_000,
}


def peak(command, text):
    """Bytes that the process had at most, as the system counts them."""
    with tempfile.NamedTemporaryFile("w", suffix=".fir") as file:
        file.write(text)
        file.flush()
        null = subprocess.DEVNULL
        process = subprocess.Popen(command + [file.name], stdout=null, stderr=null)
        _, _, usage = os.wait4(process.pid, 0)
        return usage.ru_maxrss * 1024


factor, kind, command = float(sys.argv[1]), sys.argv[2], sys.argv[3:]
text = KINDS[kind]
ratio = (peak(command, text) - peak(command, "")) / len(text)
print(f"{kind}: {'within' if ratio <= factor else 'beyond'} {factor:g} times the text ({ratio:.1f})")
