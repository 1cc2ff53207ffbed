"""Pictures of segments for notebooks: HTML and SVG without scripts, files or links, the same for the same segments."""

from __future__ import annotations

from html import escape

_WIDE, _HIGH, _GAP_X, _GAP_Y = 190, 64, 30, 56
_FONT = "font-family:ui-monospace,monospace;font-size:11px"
_COLORS = {"kernel": "#dbe9fb", "view": "#eeeeee", "copy": "#f6ecd5", "library": "#e2f3dd"}


def count(number: int, noun: str) -> str:
    """`1 kernel`, `2 launches`."""
    end = "" if number == 1 else "es" if noun.endswith("ch") else "s"
    return f"{number} {noun}{end}"


def whole(segments) -> str:
    """The graph of segments, and a table of them."""
    title = f"@{segments.program} for {segments.target}"
    extents = ", ".join(f"{name} = {n}{' (assumed)' if name in segments.assumed else ''}" for name, n in segments.extents.items())
    total = f"{_bytes(segments.total_bytes)}, {count(segments.kernels, 'kernel')}, {count(segments.launches, 'launch')}, {_time(segments.time_ns)} by the model"
    head = f"<div><b>{escape(title)}</b> {escape(extents)}<br>{escape(total)}</div>"
    return f'<div style="{_FONT}">{head}{_graph(segments)}{table(segments)}</div>'


def table(segments) -> str:
    """A row for each segment."""
    columns = ("segment", "kind", "ops", "launches", "reads", "writes", "time", "takes", "gives")
    rows = []
    for s in segments:
        cells = (s.name, s.kind, ", ".join(s.ops), str(s.launches), _bytes(s.read_bytes), _bytes(s.write_bytes), _time(s.time_ns),
                 ", ".join(map(str, s.inputs)), ", ".join(map(str, s.outputs)))  # fmt: skip
        rows.append("<tr>" + "".join(f'<td style="text-align:left;vertical-align:top">{escape(c)}</td>' for c in cells) + "</tr>")
    head = "".join(f"<th>{name}</th>" for name in columns)
    return f'<table style="{_FONT}"><tr>{head}</tr>{"".join(rows)}</table>'


def comparison(what_if) -> str:
    """The prices of both sides, or the reason against the one that is asked for."""
    if what_if.asked is None:
        return f'<div style="{_FONT}">not possible:<pre>{escape(str(what_if.error))}</pre></div>'
    rows = (f"<tr><td>{name}</td><td>{taken}</td><td>{asked}</td></tr>" for name, taken, asked in what_if._rows())
    head = "<tr><th></th><th>as taken</th><th>as asked</th></tr>"
    return f'<div style="{_FONT}"><table>{head}{"".join(rows)}</table>{_graph(what_if.asked)}</div>'


def _bytes(count) -> str:
    return f"{count:,} bytes" if isinstance(count, int) else f"{count} bytes"


def _time(ns: int) -> str:
    return f"{ns:,} ns" if ns < 10_000 else f"{ns / 1000:,.1f} µs"


def _cropped(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _graph(segments) -> str:
    """Boxes for segments, those that need others below them, and lines for the values that cross."""
    if not len(segments):
        return "<div>no segments: results are arguments</div>"
    level: dict[str, int] = {}
    for s in segments:  # in run order
        level[s.name] = max((level.get(cut.source, 0) + 1 for cut in s.cuts if cut.target == s.name), default=0)
    rows: dict[int, list] = {}
    for s in segments:
        rows.setdefault(level[s.name], []).append(s)
    place = {}
    for number, row in rows.items():
        for at, s in enumerate(row):
            place[s.name] = (10 + at * (_WIDE + _GAP_X), 10 + number * (_HIGH + _GAP_Y))
    width = 20 + max(len(row) for row in rows.values()) * (_WIDE + _GAP_X) - _GAP_X
    height = 20 + len(rows) * (_HIGH + _GAP_Y) - _GAP_Y
    parts = []
    for cut in segments.cuts:
        (x0, y0), (x1, y1) = place[cut.source], place[cut.target]
        x0, y0, x1 = x0 + _WIDE // 2, y0 + _HIGH, x1 + _WIDE // 2
        label = _cropped(f"{', '.join(cut.values)}: {cut.bytes:,} B", 30)
        title = escape("\n".join([*cut.values, *cut.reasons]))
        parts.append(f'<g><title>{title}</title><line x1="{x0}" y1="{y0}" x2="{x1}" y2="{y1}" stroke="#777"/>'
                     f'<circle cx="{x1}" cy="{y1}" r="3" fill="#777"/>'
                     f'<text x="{(x0 + x1) // 2 + 4}" y="{(y0 + y1) // 2}">{escape(label)}</text></g>')  # fmt: skip
    for s in segments:
        x, y = place[s.name]
        lines = (f"{s.name}: {s.kind}, {len(s.ops)} ops", f"r {_bytes(s.read_bytes)}", f"w {_bytes(s.write_bytes)}",
                 f"{s.launches} launches, {_time(s.time_ns)}")  # fmt: skip
        text = "".join(f'<text x="{x + 6}" y="{y + 14 + 14 * n}">{escape(_cropped(line, 28))}</text>' for n, line in enumerate(lines))
        title = escape("\n".join(s.ops))
        parts.append(f'<g><title>{title}</title><rect x="{x}" y="{y}" width="{_WIDE}" height="{_HIGH}" rx="4" '
                     f'fill="{_COLORS.get(s.kind, "#ffffff")}" stroke="#555"/>{text}</g>')  # fmt: skip
    style = f'style="{_FONT};max-width:none"'
    box = f'viewBox="0 0 {width} {height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" {box} {style}>{"".join(parts)}</svg>'
