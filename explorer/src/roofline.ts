// Kernels under the roofs of their target: operations for each byte moved, and operations in a second.

import type { Report, SegmentReport } from "./data";
import { exact, h, meter, ms, plural, s, scaled, short } from "./dom";
import type { Item } from "./model";
import { empty, type Page, segmentLink, table } from "./views";

interface Point {
  segment: SegmentReport;
  bytes: number;
  operations: number;
  time: number;
  /** Operations for each byte. */
  intensity: number;
  /** Operations in a second. */
  rate: number;
  /** The rate that the roofs allow. */
  roof: number;
}

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [1000, 420, 84, 24, 18, 46];

export function roofline(page: Page): HTMLElement {
  const { report } = page.program;
  const roofs = report?.roofs;
  if (!report || !roofs)
    return empty(
      "No roofline",
      "The program is not segmented for a target: run it with fuser-run, or with --segment before the report.",
    );
  const timed = report.segments.some((segment) => segment.time_ms !== undefined);
  const points = pointsOf(page, report, timed);
  if (points.length === 0)
    return empty("No roofline", "No segment has operations, bytes and a time, measured or by the model.");
  const left = report.segments.length - points.length;
  const copy = copySpeed(page, report);
  const told = h("p", { class: "told", "aria-live": "polite" }, HINT);
  const above = points.some((point) => point.rate > roofs.operations_per_s);
  return h(
    "div",
    { class: "page" },
    h("h2", {}, `Roofline: ${plural(points.length, "kernel")}, ${timed ? "times as measured" : "times by the model"}`),
    h(
      "p",
      { class: "muted" },
      `An operation is one of the cost model: so many of each element as the table of ops says. Roofs are the figures of target '${roofs.target}': `,
      `${scaled(roofs.bytes_per_s)}B/s, ${scaled(roofs.operations_per_s)} operations/s.`,
      timed ? "" : " Nothing was run: the points are predictions.",
      left > 0 ? ` Left out, without operations, bytes or a time: ${plural(left, "segment")}.` : "",
      above ? " The target has no figure for tensor cores and vector extensions: products may lie above the roof." : "",
    ),
    chart(page, points, { ...roofs, copy }, told),
    told,
    figures(page, points),
  );
}

const HINT = "Arrows go through the kernels, Enter or a click shows one in the graph.";

function pointsOf(page: Page, report: Report, timed: boolean): Point[] {
  const roofs = report.roofs;
  return report.segments.flatMap((segment) => {
    const bytes = page.model.estimate(segment.read_bytes) + page.model.estimate(segment.write_bytes);
    const time = timed ? segment.time_ms : segment.model_ns === undefined ? undefined : segment.model_ns / 1e6;
    const operations = segment.operations ?? 0;
    if (!roofs || bytes <= 0 || operations <= 0 || !time) return [];
    const intensity = operations / bytes;
    const roof = Math.min(roofs.operations_per_s, roofs.bytes_per_s * intensity);
    return [{ segment, bytes, operations, time, intensity, rate: (operations / time) * 1000, roof }];
  });
}

/** Bytes that a copy moved in a second; none where no copy was timed. */
function copySpeed(page: Page, report: Report): number | null {
  return report.copy_ms ? (page.model.estimate(report.total_bytes) / report.copy_ms) * 1000 : null;
}

function chart(
  page: Page,
  points: Point[],
  roofs: { bytes_per_s: number; operations_per_s: number; copy: number | null },
  told: HTMLElement,
): SVGSVGElement {
  const ridge = roofs.operations_per_s / roofs.bytes_per_s;
  const span = (values: number[]): [number, number] => {
    const logs = values.filter((value) => value > 0).map(Math.log10);
    return [Math.floor(Math.min(...logs) - 0.15), Math.ceil(Math.max(...logs) + 0.15)];
  };
  const [x0, x1] = span([...points.map((point) => point.intensity), ridge]);
  const [y0, y1] = span([...points.map((point) => point.rate), roofs.operations_per_s]);
  const x = (value: number): number => LEFT + ((Math.log10(value) - x0) / (x1 - x0)) * (WIDTH - LEFT - RIGHT);
  const y = (value: number): number => TOP + ((y1 - Math.log10(value)) / (y1 - y0)) * (HEIGHT - TOP - BOTTOM);
  const [floor, least, most] = [10 ** y0, 10 ** x0, 10 ** x1];
  const ticks = (from: number, to: number): number[] => {
    const by = Math.max(1, Math.ceil((to - from) / 10));
    return Array.from({ length: Math.floor((to - from) / by) + 1 }, (_, i) => 10 ** (from + i * by));
  };
  const grid = s(
    "g",
    { "aria-hidden": "true" },
    ...ticks(x0, x1).map((tick) =>
      s(
        "g",
        {},
        s("line", { class: "gridline", x1: x(tick), x2: x(tick), y1: TOP, y2: HEIGHT - BOTTOM }),
        s("text", { class: "small", x: x(tick), y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, plain(tick)),
      ),
    ),
    ...ticks(y0, y1).map((tick) =>
      s(
        "g",
        {},
        s("line", { class: "gridline", x1: LEFT, x2: WIDTH - RIGHT, y1: y(tick), y2: y(tick) }),
        s("text", { class: "small", x: LEFT - 8, y: y(tick) + 4, "text-anchor": "end" }, scaled(tick)),
      ),
    ),
    s(
      "text",
      { class: "small", x: WIDTH - RIGHT, y: HEIGHT - 8, "text-anchor": "end" },
      "operations for each byte that is read or written",
    ),
    s("text", { class: "small", x: LEFT + 6, y: TOP + 12 }, "operations in a second"),
  );
  /** The line of a bandwidth, up to a rate. */
  const slope = (name: string, bandwidth: number, label: string): SVGGElement | null => {
    const from = Math.max(least, floor / bandwidth);
    const to = Math.min(most, roofs.operations_per_s / bandwidth);
    if (from >= to) return null;
    // Lines of like bandwidths lie on each other: their names stand at different places.
    const middle = from * (to / from) ** (name === "copy" ? 0.2 : 0.6);
    const [dx, dy] = [x(to) - x(from), y(bandwidth * to) - y(bandwidth * from)];
    const angle = (Math.atan2(dy, dx) * 180) / Math.PI;
    const at = { x: x(middle), y: y(bandwidth * middle) + (name === "copy" ? 16 : -7) };
    return s(
      "g",
      {},
      s("line", {
        class: `roof ${name}`,
        "data-roof": name,
        "data-value": bandwidth,
        x1: x(from),
        y1: y(bandwidth * from),
        x2: x(to),
        y2: y(bandwidth * to),
      }),
      s(
        "text",
        {
          class: "small roof-label",
          ...at,
          "text-anchor": "middle",
          transform: `rotate(${angle.toFixed(1)} ${at.x} ${at.y})`,
        },
        label,
      ),
    );
  };
  const peak = Math.max(least, ridge);
  const flat = s(
    "g",
    {},
    s("line", {
      class: "roof arithmetic",
      "data-roof": "arithmetic",
      "data-value": roofs.operations_per_s,
      x1: x(peak),
      x2: WIDTH - RIGHT,
      y1: y(roofs.operations_per_s),
      y2: y(roofs.operations_per_s),
    }),
    s(
      "text",
      { class: "small roof-label", x: WIDTH - RIGHT - 4, y: y(roofs.operations_per_s) - 6, "text-anchor": "end" },
      `arithmetic, ${scaled(roofs.operations_per_s)} operations/s`,
    ),
  );
  const all = points.reduce((sum, point) => sum + point.time, 0);
  const ordered = [...points].sort((a, b) => a.intensity - b.intensity || a.rate - b.rate);
  const dots = ordered.map((point, i) =>
    s(
      "circle",
      {
        class: `point ${point.segment.kind}`,
        role: "option",
        id: `point-${i}`,
        "aria-selected": "false",
        "aria-label": words(point),
        "data-segment": point.segment.name,
        "data-intensity": point.intensity,
        "data-rate": point.rate,
        cx: x(point.intensity).toFixed(1),
        cy: y(point.rate).toFixed(1),
        // The area is the share of the time.
        r: (4 + 9 * Math.sqrt(point.time / all)).toFixed(1),
        onclick: () => show(page, point),
        onmouseenter: () => turn(i),
      },
      s("title", {}, words(point)),
    ),
  );
  let at = -1;
  const turn = (to: number): void => {
    at = Math.max(0, Math.min(ordered.length - 1, to));
    dots.forEach((dot, i) => dot.setAttribute("aria-selected", String(i === at)));
    svg.setAttribute("aria-activedescendant", `point-${at}`);
    told.textContent = words(ordered[at]);
  };
  const svg = s(
    "svg",
    {
      class: "chart roofline",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      tabindex: 0,
      role: "listbox",
      "aria-label": "kernels by operations for each byte and operations in a second",
      onkeydown: (event: KeyboardEvent) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const steps: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
        if (event.key in steps) turn(at < 0 ? 0 : at + steps[event.key]);
        else if (event.key === "Home") turn(0);
        else if (event.key === "End") turn(ordered.length - 1);
        else if ((event.key === "Enter" || event.key === " ") && at >= 0) show(page, ordered[at]);
        else return;
        event.preventDefault();
      },
    },
    grid,
    slope("memory", roofs.bytes_per_s, `memory, ${scaled(roofs.bytes_per_s)}B/s`),
    roofs.copy && slope("copy", roofs.copy, `a copy as measured, ${scaled(roofs.copy)}B/s`),
    flat,
    // Small ones lie above.
    ...[...dots].sort((a, b) => Number(b.getAttribute("r")) - Number(a.getAttribute("r"))),
  );
  return svg;
}

function show(page: Page, point: Point): void {
  const item: Item | undefined = page.model.segments.get(point.segment.name);
  if (item) page.reveal(item);
}

/** A power of ten. */
function plain(value: number): string {
  return value >= 1 ? scaled(value) : String(Number(value.toPrecision(1)));
}

function words({ segment, intensity, rate, roof, time }: Point): string {
  const part = Math.round((rate / roof) * 100);
  return `@${segment.name} ${segment.label}: ${figure(intensity)} operations for each byte, ${scaled(rate)} operations/s, ${part} % of the roof, ${ms(time)}`;
}

function figure(value: number): string {
  return String(Number(value.toPrecision(3)));
}

function figures(page: Page, points: Point[]): HTMLElement {
  const ordered = [...points].sort((a, b) => b.time - a.time);
  const roofs = page.program.report?.roofs;
  const body = ordered.map((point) => (): HTMLElement => {
    const memory = roofs && roofs.bytes_per_s * point.intensity < roofs.operations_per_s;
    const number = (name: string, value: number, text: string): HTMLElement =>
      h("td", { class: "number", "data-field": name, "data-value": value }, text);
    return h(
      "tr",
      { "data-segment": point.segment.name },
      h("td", {}, segmentLink(page, point.segment.name)),
      h("td", {}, h("span", { class: `badge ${point.segment.kind}` }, point.segment.kind)),
      number("operations", point.operations, exact(point.operations)),
      number("bytes", point.bytes, short(point.bytes)),
      number("intensity", point.intensity, figure(point.intensity)),
      number("time", point.time, ms(point.time)),
      number("rate", point.rate, scaled(point.rate)),
      h("td", {}, memory ? "memory" : "arithmetic"),
      h("td", {}, meter(point.rate / point.roof)),
    );
  });
  const heads = [
    "segment",
    "kind",
    "operations",
    "bytes",
    "for each byte",
    "time",
    "operations/s",
    "roof",
    "of the roof",
  ];
  return table(heads, body, "figures of the roofline");
}
