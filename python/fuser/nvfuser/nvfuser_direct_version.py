"""Versions that are compared by their numbers."""

from __future__ import annotations

import operator
import re
from typing import Callable


def _compared(by: Callable) -> Callable:
    return lambda *versions: by(*([int(n) for n in re.findall(r"\d+", version.split("+")[0])] for version in versions))


class Version(str):
    """A version, compared with others, or with texts, by its numbers."""

    __lt__, __le__, __gt__, __ge__ = map(_compared, (operator.lt, operator.le, operator.gt, operator.ge))
