#!/usr/bin/env python3
"""Thunder's own tests of executors with Fuser's: `scripts/thunder-tests.py [--torch] [FILE ...] [-- PYTEST_OPTION ...]`.

The tests are those of the installed package; nothing in them is altered. Where they ask for torch's executor or for the default ones they
get Fuser's; with `--torch` they get what they ask for. The script prints how many passed and failed, and why others did not apply.
"""

import sys
import warnings
from collections import Counter
from pathlib import Path

warnings.filterwarnings("ignore")

import pytest  # noqa: E402
import thunder  # noqa: E402
from thunder.tests import framework  # noqa: E402

import fuser.thunder  # noqa: E402

FILES = (
    "core elementwise extend grad inplace_copy jit_general networks ops patterns randomness reductions shape_ops transforms update_aliases"
)


class Counts:
    """Outcomes of tests, with the reasons of those that were skipped."""

    def __init__(self):
        self.outcomes, self.failed, self.skipped = Counter(), [], Counter()

    def pytest_runtest_logreport(self, report):
        if report.when != "call" and report.outcome == "passed":
            return
        why = str(report.longrepr[-1]) if isinstance(report.longrepr, tuple) else str(report.longrepr).strip().rpartition("\n")[2]
        outcome = report.outcome
        if hasattr(report, "wasxfail"):
            outcome = "expected failure"
        elif report.skipped or "ModuleNotFoundError" in str(report.longrepr):
            outcome = "not applicable"
            self.skipped[why[:100]] += 1
        elif report.failed:
            self.failed.append(report.nodeid)
            print(f"\nfailed: {report.nodeid}: {why}", flush=True)
        self.outcomes[outcome] += 1

    def pytest_collection_modifyitems(self, config, items):
        """Tests of other executors are left out."""
        words = ("torchcompile", "nvfuser", "DynamoThunder")
        others = [item for item in items if any(word in item.name for word in words)]
        self.outcomes["not applicable"] += len(others)
        self.skipped["tests of other executors"] += len(others)
        items[:] = [item for item in items if item not in set(others)]


def main(*given):
    split = given.index("--") if "--" in given else len(given)
    tests = Path(framework.__file__).parent
    names = [name for name in given[:split] if name != "--torch"]
    if "--torch" not in given[:split]:
        framework.TorchTestExecutor.executors_list = lambda self: [fuser.thunder.executor, thunder.pytorch_executor]
        thunder.extend.add_default_executor(fuser.thunder.executor)
    counts = Counts()
    files = [str(tests / name) for name in names or [f"test_{name}.py" for name in FILES.split()]]
    options = ["-q", "--tb=no", "--disable-warnings", "-p", "no:cacheprovider", *given[split + 1 :]]
    pytest.main([*files, *options], plugins=[counts])
    for reason, count in counts.skipped.most_common():
        print(f"not applicable: {count}: {reason}")
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.outcomes.items())))
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
