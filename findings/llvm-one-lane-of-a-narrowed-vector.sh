#!/usr/bin/env bash
# LLVM 22.1.0 (as llvmlite 0.50.0 holds it) stores 8 bytes of a vector's lane that has 4, on processors with AVX-512.
#
# Expected: a masked store of lane 0 of <8 x i32> writes 4 bytes, and never those of lanes whose mask is false (LLVM's language reference,
# llvm.masked.store). AVX2 code does.
# Seen: where the <8 x i32> is a truncated <8 x i64>, and the mask is a constant with one lane, code for x86-64-v4 stores the lane before it was
# truncated: vmovq, 8 bytes, so that the 4 bytes behind it are overwritten. Any pair of integer types does so (22.1.8 of Debian, too).
# The script fails if that changes. It needs Python 3.11 to 3.13 and pip, and no processor with AVX-512: nothing is run.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install --no-cache-dir llvmlite==0.50.0
"$folder/venv/bin/python" - <<'P'
import llvmlite.binding as llvm

print("LLVM", ".".join(map(str, llvm.llvm_version_info)))
llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
MASK = ", ".join(["i1 true"] + 7 * ["i1 false"])
TEXT = f"""
define void @narrow(ptr %from, ptr %to) {{
  %x = load <8 x i64>, ptr %from, align 8
  %s = mul <8 x i64> %x, %x
  %y = trunc <8 x i64> %s to <8 x i32>
  call void @llvm.masked.store.v8i32.p0(<8 x i32> %y, ptr %to, i32 4, <8 x i1> <{MASK}>)
  ret void
}}
declare void @llvm.masked.store.v8i32.p0(<8 x i32>, ptr, i32, <8 x i1>)
"""


def store(cpu):
    """The instruction that writes to `to`, which is in rsi."""
    module = llvm.parse_assembly(TEXT)
    module.verify()
    machine = llvm.Target.from_triple("x86_64-unknown-linux-gnu").create_target_machine(cpu=cpu, opt=2)
    lines = [line.strip() for line in machine.emit_assembly(module).splitlines()]
    return next(line for line in lines if line.endswith("(%rsi)"))


for cpu, name in (("x86-64-v3", "vmovd"), ("x86-64-v4", "vmovq")):
    made = store(cpu)
    print(cpu, made.replace("\t", " "))
    assert made.split()[0] == name, "the behaviour has changed"
P
