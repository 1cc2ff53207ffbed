"""Figures of segments, by matplotlib: bytes of each segment, and where each stands under the roofs of the target."""

from __future__ import annotations

from typing import Any

_PARTS = {"read_bytes": ("read", "#4c78a8"), "write_bytes": ("written", "#f58518"), "workspace_bytes": ("workspace, written and read", "#bab0ac")}


def _axes(axes: Any, rows: int) -> Any:
    """The axes to draw on; new ones where none are given."""
    if axes is not None:
        return axes
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install 'fuser-compiler[plot]'") from error
    return pyplot.figure(figsize=(7, 1.2 + 0.32 * rows), layout="constrained").add_subplot()


def bytes_of(segments: Any, axes: Any) -> Any:
    """Bars of the bytes that each segment reads and writes, the first segment on top."""
    notes = segments.explanation["segments"]
    axes = _axes(axes, len(notes))
    names, left = [note["name"] for note in notes], [0] * len(notes)
    for part, (label, color) in _PARTS.items():
        widths = [note["cost"][part] for note in notes]
        if any(widths):
            axes.barh(names, widths, left=left, label=label, color=color)
        left = [a + b for a, b in zip(left, widths)]
    axes.invert_yaxis()
    axes.set_xlabel("bytes")
    axes.set_title(f"@{segments.program} for {segments.target}: {sum(left):,} bytes")
    if any(left):
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return axes


def roofline(segments: Any, axes: Any) -> Any:
    """Each segment by its operations for a byte and its operations in a second, both by the model, under the roofs of the target."""
    axes = _axes(axes, 10)
    rows = {row["name"]: row for row in segments.report["segments"]}
    points = []
    for note in segments.explanation["segments"]:
        cost, operations = note["cost"], rows[note["name"]]["operations"]
        bytes_ = cost["read_bytes"] + cost["write_bytes"] + cost["workspace_bytes"]
        if isinstance(operations, int) and operations and bytes_ and cost["time_ns"]:
            points.append((note["name"], operations / bytes_, operations / cost["time_ns"]))
    roofs = segments.report["roofs"]
    bandwidth, peak = roofs["bytes_per_s"] / 1e9, roofs["operations_per_s"] / 1e9
    ridge = peak / bandwidth
    ends = [ridge] + [x for _, x, _ in points]
    low, high = min(ends) / 4, max(ends) * 4
    axes.plot([low, ridge, high], [low * bandwidth, peak, peak], color="#bab0ac")
    for name, x, y in points:
        axes.plot(x, y, "o", color="#4c78a8")
        axes.annotate(name, (x, y), xytext=(4, -10), textcoords="offset points")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("operations for a byte")
    axes.set_ylabel("operations in a nanosecond")
    axes.set_title(f"@{segments.program} for {segments.target}, by the model")
    return axes
