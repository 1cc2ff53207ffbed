"""The draws of each op: operands, clauses and what PyTorch or NumPy give for them."""

import dataclasses

from . import attention, elementwise, indexed, lambdas, reductions, shapes

DRAWS = {**elementwise.DRAWS, **shapes.DRAWS, **reductions.DRAWS, **indexed.DRAWS, **attention.DRAWS, **lambdas.DRAWS}


@dataclasses.dataclass
class Case:
    """An op with its clauses (`{}` for each operand), its inputs as (type, elements), and its results."""

    op: str
    text: str
    inputs: list
    results: list

    def told(self, place):
        """The operands at an element, where they have its shape."""
        same = [raw for _, raw in self.inputs if raw.shape == self.results[0].shape and len(place) == raw.ndim]
        from .values import shown

        told = [shown(raw, dtype, place) for dtype, raw in self.inputs if any(raw is other for other in same)]
        return f", of {', '.join(told)}" if told else ""


def draw(op, source):
    """A case of an op."""
    text, inputs, results = DRAWS[op](source)
    return Case(op, text, inputs, results)
