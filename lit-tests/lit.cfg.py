"""Stock lit runs the same tests as `cargo test --test lit`:

    lit-22 lit-tests                                    # binaries of target/debug, or of target/release
    lit-22 --param bin_dir=target/release lit-tests
    lit-22 --param machine=aarch64 ...                  # the architecture of binaries that an emulator runs: scripts/aarch64.sh

Substitutions, shell and features are those of tests/lit/: a change here is a change there.
"""

import os
import platform
import shutil

import lit.formats

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def binary_directory():
    """The given folder, else the first profile that has been built."""
    given = lit_config.params.get("bin_dir")
    if given:
        return os.path.abspath(given)
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(root, "target"))
    for profile in ("debug", "release"):
        if os.path.exists(os.path.join(target, profile, "fuser-opt")):
            return os.path.join(target, profile)
    lit_config.fatal("no fuser-opt under %s: run `cargo build` first" % target)


def find_ptxas():
    given = os.environ.get("PTXAS")
    fetched = os.path.join(root, ".cache", "ptxas", "ptxas")
    for path in (given, fetched, shutil.which("ptxas")):
        if path and os.path.isfile(path):
            return path
    return None


config.name = "fuser"
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".fir", ".test"]
config.excludes = ["Inputs"]
config.test_exec_root = os.path.join(root, "target", "stock-lit")

llvm = "/usr/lib/llvm-22/bin"
ptxas = find_ptxas()
directories = [binary_directory(), llvm, os.path.dirname(ptxas) if ptxas else None, config.environment["PATH"]]
config.environment["FUSER_CACHE_DIR"] = ""  # as in .cargo/config.toml
config.environment["PATH"] = os.pathsep.join(d for d in directories if d)

machine = lit_config.params.get("machine", platform.machine())
machine = {"x86_64": "x86-64", "AMD64": "x86-64"}.get(machine, machine)
config.available_features.update(["cpu", "codegen", machine])
if ptxas:
    config.available_features.add("ptxas")
if os.path.exists("/dev/nvidiactl") and os.path.exists("/dev/nvidia-uvm"):
    config.available_features.add("cuda-device")
