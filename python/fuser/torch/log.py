"""`FUSER_LOGS=graph,segments,timing`: lines on standard error about what is compiled and where it runs."""

from __future__ import annotations

import logging
import os
import sys

KINDS = ("graph", "segments", "timing")

logger = logging.getLogger("fuser.torch")


def enabled():
    """The kinds that the environment asks for."""
    words = {word.strip() for word in os.environ.get("FUSER_LOGS", "").split(",")} - {""}
    unknown = words - {*KINDS, "all"}
    if unknown:
        logger.warning("FUSER_LOGS knows %s, not %s", ", ".join(KINDS), ", ".join(sorted(unknown)))
    return set(KINDS) if "all" in words else words & set(KINDS)


def tell(kind, text):
    for line in text.splitlines():
        print(f"[fuser.{kind}] {line}", file=sys.stderr)
