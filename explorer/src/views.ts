// The views beside the graph: kernels, decisions, memory, launches, source; and the details of what is selected.

import type { Bytes, Cost, Data, Explain, Program, Report, SegmentReport } from "./data";
import { cropped, exact, h, meter, ms, percent, plural, rows, s, share, short } from "./dom";
import type { Item, Model } from "./model";
import { sum } from "./model";
import { about, cuttings, edgeLink } from "./whatif";

/** What a view needs of the page. */
export interface Page {
  data: Data;
  program: Program;
  model: Model;
  /** Selects an item and shows it in the graph. */
  reveal(item: Item): void;
  /** Selects the edge from one item to another and shows it in the graph. */
  edge(from: Item, to: Item): void;
  /** Other programs of the page that a text names, as `@name`. */
  named(text: string): string[];
  /** Shows another program. */
  turn(symbol: string): void;
  /** The item that is selected. */
  selected(): Item;
}

/** Rows of a table that are made at once. */
const MOST_ROWS = 300;

export function empty(title: string, text: string): HTMLElement {
  return h("div", { class: "empty" }, h("h2", {}, title), h("p", {}, text));
}

export function segmentLink(page: Page, name: string): Node | string {
  const item = page.model.segments.get(name);
  return item ? h("button", { class: "link", onclick: () => page.reveal(item) }, `@${name}`) : `@${name}`;
}

export function amount(bytes: Bytes, field?: string): HTMLElement {
  return h(
    "span",
    {
      class: "number",
      title: `${exact(bytes)} bytes`,
      ...(field ? { "data-field": field, "data-value": String(bytes) } : {}),
    },
    exact(bytes),
  );
}

/** A table of which a first part is made, and the rest on demand. */
export function table(heads: (string | Node)[], body: (() => HTMLElement)[], label: string): HTMLElement {
  const inside = h("tbody");
  const element = h(
    "div",
    { class: "table", tabindex: 0, role: "region", "aria-label": label },
    h("table", {}, h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, head)))), inside),
  );
  const more = (from: number): void => {
    inside.append(...body.slice(from, from + MOST_ROWS).map((row) => row()));
    if (from + MOST_ROWS >= body.length) return;
    const button = h(
      "button",
      {
        class: "more",
        onclick: () => {
          button.remove();
          more(from + MOST_ROWS);
        },
      },
      `${exact(body.length - from - MOST_ROWS)} more`,
    );
    element.append(button);
  };
  more(0);
  return element;
}

// Kernels.

type Column = [string, (segment: SegmentReport, at: number) => number | string, boolean];

export function kernels(page: Page): HTMLElement {
  const { report } = page.program;
  if (!report || report.segments.length === 0) {
    return empty(
      "No segments",
      "The program is not segmented: run it with fuser-run, or with --segment before the report.",
    );
  }
  const estimate = (bytes: Bytes): number => page.model.estimate(bytes);
  const timed = report.segments.some((segment) => segment.time_ms !== undefined);
  const shared = report.segments.some((segment) => segment.copy_ms !== undefined);
  const total = Math.max(1, ...report.segments.map((one) => estimate(one.read_bytes) + estimate(one.write_bytes)));
  const columns: Column[] = [
    ["#", (_, at) => at, true],
    ["segment", (one) => one.name, false],
    ["does", (one) => one.label, false],
    ["kind", (one) => one.kind, false],
    ["ops", (one) => one.ops.length, true],
    ["sweeps", (one) => one.sweeps, true],
    ["reads", (one) => estimate(one.read_bytes), true],
    ["writes", (one) => estimate(one.write_bytes), true],
    ["bytes", (one) => estimate(one.read_bytes) + estimate(one.write_bytes), true],
  ];
  if (report.segments.some((one) => one.launches !== undefined))
    columns.push(["launches", (one) => one.launches ?? 0, true]);
  if (timed) columns.push(["time", (one) => one.time_ms ?? 0, true]);
  if (report.segments.some((one) => one.gb_per_s !== undefined))
    columns.push(["GB/s", (one) => one.gb_per_s ?? 0, true]);
  if (shared) columns.push(["of a copy", (one) => share(one.time_ms, one.copy_ms) ?? 0, true]);
  const order = report.segments.map((segment, at) => ({ segment, at }));
  let by = columns.findIndex(([name]) => name === (timed ? "time" : "bytes"));
  let up = false;
  const element = h("div", { class: "page" });
  const draw = (): void => {
    const value = columns[by][1];
    order.sort((a, b) => {
      const [x, y] = [value(a.segment, a.at), value(b.segment, b.at)];
      return (x < y ? -1 : x > y ? 1 : a.at - b.at) * (up ? 1 : -1);
    });
    const heads = columns.map(([name, , number], i) =>
      h(
        "button",
        {
          class: `sort ${i === by ? (up ? "up" : "down") : ""}`,
          onclick: () => {
            [up, by] = [i === by ? !up : !number, i];
            draw();
          },
        },
        name,
      ),
    );
    const body = order.map(({ segment: one, at }) => (): HTMLElement => {
      const bytes = estimate(one.read_bytes) + estimate(one.write_bytes);
      const cell = (name: string): HTMLElement => {
        switch (name) {
          case "#":
            return h("td", { class: "number" }, at);
          case "segment":
            return h("td", {}, segmentLink(page, one.name));
          case "does":
            return h("td", { "data-field": "label" }, cropped(one.label, 60));
          case "kind":
            return h("td", {}, h("span", { class: `badge ${one.kind}` }, one.kind));
          case "ops":
            return h("td", { class: "number" }, exact(one.ops.length));
          case "sweeps":
            return h("td", { class: "number" }, exact(one.sweeps));
          case "reads":
            return h("td", { class: "number" }, amount(one.read_bytes, "read_bytes"));
          case "writes":
            return h("td", { class: "number" }, amount(one.write_bytes, "write_bytes"));
          case "bytes":
            return h(
              "td",
              {},
              h(
                "span",
                { class: "bar", "aria-hidden": "true" },
                h("span", { style: `width:${(100 * bytes) / total}%` }),
              ),
            );
          case "launches":
            return h("td", { class: "number" }, exact(one.launches));
          case "GB/s":
            return h(
              "td",
              { class: "number" },
              one.gb_per_s === undefined ? "–" : String(Number(one.gb_per_s.toPrecision(3))),
            );
          case "time":
            return h("td", { class: "number" }, ms(one.time_ms));
          default:
            return h("td", {}, meter(share(one.time_ms, one.copy_ms)));
        }
      };
      return h("tr", { "data-segment": one.name }, ...columns.map(([name]) => cell(name)));
    });
    element.replaceChildren(
      h("h2", {}, plural(report.segments.length, "segment")),
      totals(report),
      table(heads, body, "segments"),
    );
  };
  draw();
  return element;
}

function totals(report: Report): HTMLElement {
  const facts: [string, string | null][] = [
    ["bytes read", exact(report.read_bytes)],
    ["bytes written", exact(report.write_bytes)],
    ["crossing bytes", exact(report.crossing_bytes)],
    ["time", report.time_ms === undefined ? null : ms(report.time_ms)],
    ["a copy of the bytes", report.copy_ms === undefined ? null : ms(report.copy_ms)],
    ["of a copy's speed", report.copy_ms === undefined ? null : percent(share(report.time_ms, report.copy_ms))],
  ];
  return h(
    "dl",
    { class: "facts" },
    ...facts
      .filter(([, value]) => value !== null)
      .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
  );
}

// Decisions.

/** A sentence, folded where it is long. */
export function sentence(text: string): HTMLElement {
  return text.length <= 220
    ? h("p", {}, text)
    : h("details", {}, h("summary", {}, cropped(text, 160)), h("p", {}, text));
}

const WHY: Record<string, string> = {
  boundary: "a boundary lies between",
  refused: "no kernel can do both",
  price: "one kernel would cost more",
};

/** The compiler's sentence about a cut at a call. */
const CALL = "a call is not fused";

/** The reason of a cut in a few words. */
export function reason(why: Explain["cuts"][number]["why"]): string {
  const [first] = why.words;
  if (why.kind === "boundary" && first === CALL) return CALL;
  return WHY[why.kind] ?? why.kind;
}

export function prices(apart: Cost | null, together: Cost | null, names: [string, string]): HTMLElement | null {
  if (!apart && !together) return null;
  const sides = [
    [names[0], apart],
    [names[1], together],
  ].filter((side): side is [string, Cost] => side[1] !== null);
  const fields: [string, keyof Cost][] = [
    ["bytes read", "read_bytes"],
    ["bytes written", "write_bytes"],
    ["workspace", "workspace_bytes"],
    ["kernels", "kernels"],
    ["launches", "launches"],
    ["model's time, ns", "time_ns"],
  ];
  const row = ([name, field]: [string, keyof Cost]): HTMLElement =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, name),
      ...sides.map(([side, cost]) =>
        h(
          "td",
          { class: "number", "data-side": side, "data-field": field, "data-value": cost[field] },
          exact(cost[field]),
        ),
      ),
    );
  return h(
    "table",
    { class: "prices" },
    h("thead", {}, h("tr", {}, h("td", {}), ...sides.map(([name]) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, ...fields.map(row)),
  );
}

export function decisions(page: Page): HTMLElement {
  const { explain } = page.program;
  if (!explain) {
    return empty(
      "No decisions",
      "No pass of this pipeline decided which ops share a kernel: fuser-run, and fuser-opt with --segment, write the reasons into the page.",
    );
  }
  const extents = Object.entries(explain.extents).map(
    ([name, n]) => `${name} = ${n}${explain.assumed.includes(name) ? " (assumed)" : ""}`,
  );
  const head = h(
    "p",
    { class: "muted" },
    `for target '${explain.target}'${extents.length > 0 ? `, ${extents.join(", ")}` : ""}`,
  );
  const filter = h("input", {
    type: "search",
    placeholder: "filter by segment, value or reason",
    "aria-label": "filter decisions",
  });
  const kinds = h(
    "select",
    { "aria-label": "decisions shown" },
    h("option", { value: "cuts" }, `cuts (${exact(explain.cuts.length)})`),
    h("option", { value: "segments" }, `segments as decided (${exact(explain.segments.length)})`),
    h("option", { value: "refused" }, "refused"),
    h("option", { value: "accepted" }, "accepted"),
    h("option", { value: "later" }, `later passes (${exact(explain.later.length)})`),
  );
  if (explain.cuts.length === 0) kinds.value = "segments";
  const body = h("div", { class: "decisions" });
  const cuts = explain.cuts
    .map((cut) => ({
      text: `${cut.from} ${cut.to} ${cut.values.map((value) => value.name).join(" ")} ${cut.why.kind} ${cut.why.words.join(" ")}`,
      make: () =>
        h(
          "article",
          { "data-cut": `${cut.from} ${cut.to}`, "data-bytes": cut.bytes },
          h(
            "header",
            {},
            h("span", { class: "pair" }, segmentLink(page, cut.from), " → ", segmentLink(page, cut.to)),
            h("span", { class: `badge why-${cut.why.kind}` }, reason(cut.why)),
            h(
              "span",
              { class: "amount" },
              cut.view ? "a view: no bytes" : `${exact(cut.bytes)} bytes written and read`,
            ),
          ),
          h(
            "p",
            { class: "names" },
            cropped(cut.values.map((value) => `${value.name} (${exact(value.bytes)})`).join(", "), 400),
          ),
          ...cut.why.words.map(sentence),
          prices(cut.why.apart, cut.why.together, ["apart", "together"]),
        ),
      bytes: cut.bytes,
    }))
    .sort((a, b) => b.bytes - a.bytes);
  const segments = explain.segments
    .map((segment) => ({
      text: `${segment.name} ${segment.ops.join(" ")}`,
      bytes: segment.cost ? segment.cost.read_bytes + segment.cost.write_bytes : 0,
      make: () =>
        h(
          "article",
          {},
          h(
            "header",
            {},
            h("span", { class: "pair" }, segmentLink(page, segment.name)),
            h(
              "span",
              { class: "amount" },
              segment.cost
                ? `reads ${exact(segment.cost.read_bytes)}, writes ${exact(segment.cost.write_bytes)} bytes`
                : "",
            ),
          ),
          h(
            "p",
            {},
            `${plural(segment.ops.length, "op")}${segment.cost ? `, ${plural(segment.cost.launches, "launch", "launches")}, workspace ${exact(segment.cost.workspace_bytes)} bytes` : ""}`,
          ),
          segment.call && h("p", {}, segment.call),
          ...segment.refused.map((reason) => h("p", {}, `not better: ${reason.words}`)),
          segment.no_plan && h("p", {}, segment.no_plan.words),
        ),
    }))
    .sort((a, b) => b.bytes - a.bytes);
  const records = (outcome: string): { text: string; bytes: number; make: () => HTMLElement }[] =>
    explain.records
      .filter((one) => one.outcome === outcome)
      .map((one) => ({
        text: `${one.text} ${one.reason?.words ?? ""}`,
        bytes: 0,
        make: () =>
          h(
            "article",
            {},
            h(
              "header",
              {},
              h("span", { class: "pair" }, one.action),
              h("span", { class: "names" }, cropped(one.parts.join(" + "), 120)),
              h("span", { class: `badge ${outcome}` }, outcome),
            ),
            one.reason && h("p", {}, one.reason.words),
            !one.reason && h("p", {}, one.text),
            prices(one.before, one.after, ["before", "after"]),
          ),
      }));
  const later = explain.later.map((one) => ({
    text: `${one.pass} ${one.gone.join(" ")} ${one.again.map((again) => again.value).join(" ")}`,
    bytes: one.bytes_before - one.bytes_after,
    make: () =>
      h(
        "article",
        {},
        h(
          "header",
          {},
          h("span", { class: "pair" }, one.pass),
          h("span", { class: "amount" }, `${exact(one.bytes_before)} → ${exact(one.bytes_after)} bytes`),
        ),
        one.gone.length > 0 && h("p", {}, cropped(`gone: ${one.gone.map((name) => `@${name}`).join(", ")}`, 400)),
        one.again.length > 0 &&
          h(
            "p",
            {},
            cropped(
              `computed again: ${one.again.map((again) => `${again.value} in @${again.segment}`).join(", ")}`,
              1000,
            ),
          ),
      ),
  }));
  const draw = (): void => {
    const lists: Record<string, { text: string; make: () => HTMLElement }[]> = { cuts, segments, later };
    const list = lists[kinds.value] ?? records(kinds.value);
    const words = filter.value.trim().toLowerCase();
    const found = words ? list.filter((one) => one.text.toLowerCase().includes(words)) : list;
    const show = (from: number): void => {
      body.append(...found.slice(from, from + 100).map((one) => one.make()));
      if (found.length <= from + 100) return;
      const button = h(
        "button",
        {
          class: "more",
          onclick: () => {
            button.remove();
            show(from + 100);
          },
        },
        `${exact(found.length - from - 100)} more`,
      );
      body.append(button);
    };
    body.replaceChildren();
    if (found.length === 0)
      body.append(
        h(
          "p",
          { class: "muted" },
          words ? "Nothing matches." : kinds.value === "cuts" ? "No two segments share a value." : "None.",
        ),
      );
    show(0);
  };
  filter.addEventListener("input", draw);
  kinds.addEventListener("change", draw);
  draw();
  return h("div", { class: "page" }, h("h2", {}, "Decisions"), head, h("div", { class: "tools" }, kinds, filter), body);
}

// Memory.

export function memory(page: Page): HTMLElement {
  const { report } = page.program;
  if (!report || report.segments.length === 0)
    return empty("No memory to show", "The program is not segmented: nothing crosses from one kernel to another.");
  const at = new Map(report.segments.map((segment, i) => [segment.name, i]));
  type Life = { name: string; first: number; last: number; bytes: number };
  const lives = new Map<string, Life>();
  // A view has no memory: who reads its result keeps the values alive that it is made of.
  const views = new Map(report.segments.filter((one) => one.kind === "view").map((one) => [one.name, [] as Life[]]));
  for (const one of report.crossing) {
    const [first, last] = [at.get(one.from) ?? 0, at.get(one.to) ?? 0];
    const viewed = views.get(one.from);
    for (const life of viewed ?? []) life.last = Math.max(life.last, last);
    if (viewed) views.get(one.to)?.push(...viewed);
    else {
      const known = lives.get(one.value);
      const life = known ?? { name: one.value, first, last, bytes: page.model.estimate(one.bytes) };
      [life.first, life.last] = [Math.min(life.first, first), Math.max(life.last, last)];
      lives.set(one.value, life);
      views.get(one.to)?.push(life);
    }
  }
  const alive = report.segments.map(() => 0);
  for (const life of lives.values()) for (let i = life.first; i <= life.last; i++) alive[i] += life.bytes;
  const most = Math.max(...alive);
  const peak = alive.indexOf(most);
  const facts = h(
    "dl",
    { class: "facts" },
    report.peak_bytes !== undefined &&
      h(
        "div",
        {},
        h("dt", {}, "peak of the run: inputs, outputs, temporaries, scratch"),
        h("dd", { "data-field": "peak_bytes", "data-value": report.peak_bytes }, `${exact(report.peak_bytes)} bytes`),
      ),
    h("div", {}, h("dt", {}, "crossing bytes, each value once"), h("dd", {}, `${exact(report.crossing_bytes)} bytes`)),
    lives.size > 0 &&
      h("div", {}, h("dt", {}, `most at once, at @${report.segments[peak].name}`), h("dd", {}, `${exact(most)} bytes`)),
  );
  const view = h(
    "div",
    { class: "page" },
    h("h2", {}, "Memory between kernels"),
    h(
      "p",
      { class: "muted" },
      "Bytes of the values that one segment writes and another reads, from the segment that writes a value to the last that reads it, in the order in which segments run.",
    ),
    facts,
  );
  if (lives.size === 0) {
    view.append(h("p", {}, "No value crosses from one segment to another."));
    return view;
  }
  const [width, height, left, bottom] = [1000, 260, 70, 26];
  const x = (i: number): number => left + ((width - left - 10) * i) / alive.length;
  const y = (bytes: number): number => 10 + (height - bottom - 10) * (1 - bytes / (most || 1));
  let path = `M${x(0)} ${y(0)}`;
  alive.forEach((bytes, i) => {
    path += `V${y(bytes).toFixed(1)}H${x(i + 1).toFixed(1)}`;
  });
  const marks = [0, 0.5, 1].map((part) =>
    s(
      "g",
      {},
      s("line", { class: "gridline", x1: left, x2: width - 10, y1: y(most * part), y2: y(most * part) }),
      s("text", { class: "small", x: left - 6, y: y(most * part) + 4, "text-anchor": "end" }, short(most * part)),
    ),
  );
  const pointer = s("line", { class: "pointer", y1: 10, y2: height - bottom, x1: -9, x2: -9 });
  const told = h(
    "p",
    { class: "told", "aria-live": "polite" },
    "Move over the chart to see what is alive at a segment; click to go to it.",
  );
  const chart = s(
    "svg",
    {
      class: "chart",
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": `at most ${exact(most)} bytes at once, at segment ${report.segments[peak].name}`,
    },
    ...marks,
    s("path", { class: "area", d: `${path}V${y(0)}Z` }),
    pointer,
    s("text", { class: "small", x: left, y: height - 8 }, `@${report.segments[0].name}`),
    s(
      "text",
      { class: "small", x: width - 10, y: height - 8, "text-anchor": "end" },
      `@${report.segments[report.segments.length - 1].name}`,
    ),
  );
  const where = (event: MouseEvent): number => {
    const frame = chart.getBoundingClientRect();
    const part = (((event.clientX - frame.left) / frame.width) * width - left) / (width - left - 10);
    return Math.max(0, Math.min(alive.length - 1, Math.floor(part * alive.length)));
  };
  chart.addEventListener("mousemove", (event) => {
    const i = where(event);
    for (const end of ["x1", "x2"]) pointer.setAttribute(end, String(x(i + 0.5)));
    const here = [...lives.values()]
      .filter((life) => life.first <= i && i <= life.last)
      .sort((a, b) => b.bytes - a.bytes);
    told.textContent = `@${report.segments[i].name}: ${exact(alive[i])} bytes in ${plural(here.length, "value")}: ${here
      .slice(0, 6)
      .map((life) => `${life.name} ${short(life.bytes)}`)
      .join(", ")}${here.length > 6 ? ", …" : ""}`;
  });
  chart.addEventListener("click", (event) => {
    const item = page.model.segments.get(report.segments[where(event)].name);
    if (item) page.reveal(item);
  });
  const list = [...lives.values()].sort((a, b) => b.bytes * (b.last - b.first) - a.bytes * (a.last - a.first));
  const body = list.map(
    (life) => (): HTMLElement =>
      h(
        "tr",
        {},
        h("td", {}, life.name),
        h("td", { class: "number" }, exact(life.bytes)),
        h("td", {}, segmentLink(page, report.segments[life.first].name)),
        h("td", {}, segmentLink(page, report.segments[life.last].name)),
        h("td", { class: "number" }, exact(life.last - life.first)),
      ),
  );
  view.append(
    chart,
    told,
    h("h3", {}, "Values that hold memory longest"),
    table(["value", "bytes", "written by", "last read by", "segments between"], body, "values between segments"),
  );
  return view;
}

// Launches of a GPU.

export function launches(page: Page): HTMLElement {
  const list = page.program.report?.launches ?? [];
  if (list.length === 0) return empty("No launches", "Launches are told of a run on a GPU: fuser-run --device=cuda.");
  const body = list.map(
    (one) => (): HTMLElement =>
      h(
        "tr",
        {},
        h("td", {}, cropped(one.kernel, 60)),
        h("td", {}, segmentLink(page, one.segment)),
        h("td", { class: "number" }, exact(one.blocks)),
        h("td", { class: "number" }, exact(one.threads)),
        h("td", { class: "number" }, exact(one.shared_bytes)),
        h("td", { class: "number" }, exact(one.registers)),
        h("td", { class: "number" }, exact(one.blocks_per_multiprocessor)),
        h("td", {}, meter(one.occupancy)),
        h("td", {}, one.tensor_cores ? "tensor cores" : ""),
        h("td", {}, one.cublaslt ?? ""),
        h("td", { class: "number" }, ms(one.time_ms)),
      ),
  );
  const heads = [
    "kernel",
    "segment",
    "blocks",
    "threads",
    "shared bytes",
    "registers",
    "blocks per SM",
    "occupancy",
    "",
    "cuBLASLt",
    "time",
  ];
  return h(
    "div",
    { class: "page" },
    h("h2", {}, plural(list.length, "launch", "launches")),
    h("p", { class: "muted" }, page.program.report?.gpu ?? ""),
    table(heads, body, "launches"),
  );
}

// The source.

export class SourceView {
  readonly element: HTMLElement;
  private readonly list;
  private marked = new Set<number>();
  /** The line of the text that defines each value. */
  private readonly defined = new Map<string, number>();

  constructor(private readonly page: Page) {
    const lines = page.data.source.text.split("\n");
    // Ops that came from a model have its places: their lines in this text are those that define their results.
    lines.forEach((text, at) => {
      const defined = /^\s*(%[^=]*?)\s*=/.exec(text)?.[1] ?? "";
      for (const name of defined.split(/\s*,\s*/)) if (name) this.defined.set(name, this.defined.get(name) ?? at + 1);
    });
    const ops = new Map<number, Item>();
    for (const item of page.model.items) {
      if (item.kind !== "op") continue;
      for (const line of this.lines(item)) if (!ops.has(line)) ops.set(line, item);
    }
    this.list = rows(lines.length, 18, (index) => {
      const item = ops.get(index + 1);
      const segment = item && page.model.segmentOf(item);
      return h(
        "div",
        {
          class: `line ${this.marked.has(index + 1) ? "marked" : ""}`,
          onclick: () => {
            if (item) page.reveal(item);
          },
        },
        h("span", { class: "gutter" }, segment ? segment.label : ""),
        h("span", { class: "gutter number" }, index + 1),
        h("code", {}, lines[index] || " "),
      );
    });
    this.element = h("div", { class: "page text" }, h("h2", {}, page.data.source.file || "Source"), this.list.element);
  }

  /** The lines of the text that an op came from. */
  private lines(item: Item): number[] {
    const { nodes, values } = this.page.model.graph;
    const node = nodes[item.node];
    const own = (node.places ?? []).flatMap(([file, line]) =>
      isSource(this.page, file) && line !== undefined ? [line] : [],
    );
    if (own.length > 0) return own;
    return (node.out ?? []).flatMap((value) => this.defined.get(values[value].name) ?? []);
  }

  mark(item: Item): void {
    const lines = this.page.model.leaves(item).flatMap((leaf) => this.lines(leaf));
    this.marked = new Set(item.kind === "program" ? [] : lines);
    this.list.refresh();
  }

  show(): void {
    const first = Math.min(...this.marked);
    if (Number.isFinite(first)) this.list.show(first - 1);
  }
}

function isSource(page: Page, file: string): boolean {
  return file === page.data.source.file;
}

// Details of what is selected.

export function detail(page: Page, item: Item): HTMLElement {
  const { model } = page;
  const node = item.node >= 0 ? model.graph.nodes[item.node] : null;
  const parent = item.parent;
  const element = h(
    "section",
    { class: "detail", "aria-label": "details" },
    h(
      "nav",
      { class: "path", "aria-label": "levels around" },
      ...model
        .path(item)
        .slice(0, -1)
        .map((one) => h("button", { class: "link", onclick: () => page.reveal(one) }, cropped(one.label, 26))),
    ),
    h("h2", {}, item.label),
    h(
      "p",
      {},
      h("span", { class: `badge ${item.segment?.kind ?? item.kind}` }, item.segment?.kind ?? item.kind),
      " ",
      model.summary(item),
    ),
  );
  if (item.kind === "program") element.append(aboutRun(page));
  else if (item.kind === "group") element.append(aboutGroup(page, item));
  else if (item.segment) element.append(aboutSegment(page, item.segment));
  if (node?.attributes && item.kind !== "segment") element.append(h("p", { class: "code" }, node.attributes));
  for (const symbol of page.named(node?.attributes ?? ""))
    element.append(h("p", {}, h("button", { onclick: () => page.turn(symbol) }, `show @${symbol}`)));
  if (item.kind === "op" && node) {
    const made = (value: number): HTMLElement => {
      const maker = model.makerOf(value);
      const { name, type } = model.graph.values[value];
      return h(
        "li",
        {},
        maker ? h("button", { class: "link", onclick: () => page.reveal(maker) }, name) : h("b", {}, name),
        h("span", { class: "muted" }, ` ${type}${maker ? "" : ", an argument"}`),
      );
    };
    if (node.in && node.in.length > 0)
      element.append(h("h3", {}, "takes"), h("ul", {}, ...[...new Set(node.in)].map(made)));
    const users = [...new Set((node.out ?? []).flatMap((value) => model.users[value]))];
    if (users.length > 0) {
      element.append(
        h("h3", {}, "used by"),
        h(
          "ul",
          {},
          ...users
            .slice(0, 20)
            .map((user) =>
              h(
                "li",
                {},
                h(
                  "button",
                  { class: "link", onclick: () => page.reveal(model.ofNode[user]) },
                  cropped(model.ofNode[user].label, 44),
                ),
                model.ofNode[user].parent !== parent &&
                  h("span", { class: "muted" }, ` in ${model.ofNode[user].parent?.label ?? ""}`),
              ),
            ),
          users.length > 20 && h("li", { class: "muted" }, `${users.length - 20} more`),
        ),
      );
    }
    const segment = model.segmentOf(item);
    if (segment && segment !== parent) element.append(h("p", {}, "in ", segmentLink(page, segment.label.slice(1))));
  }
  if (item.kind !== "program") element.append(places(page, item));
  return element;
}

export function list(facts: [string, Node | string | null][], names = false): HTMLElement {
  return h(
    "table",
    { class: names ? "list mono" : "list" },
    h(
      "tbody",
      {},
      ...facts
        .filter(([, value]) => value !== null)
        .map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", { class: "number" }, value))),
    ),
  );
}

function aboutRun(page: Page): HTMLElement {
  const { report, explain } = page.program;
  const run: [string, Node | string | null][] = [
    ["written by", `${page.data.tool} ${page.data.version}`],
    ["target", explain?.target ?? null],
    [
      "device",
      report?.device
        ? `${report.device}${report.gpu ? `, ${report.gpu}` : ""}${report.threads ? `, ${plural(report.threads, "thread")}` : ""}`
        : null,
    ],
    ...Object.entries(report?.extents ?? explain?.extents ?? {}).map(([name, n]): [string, string] => [
      `[${name}]`,
      exact(n),
    ]),
  ];
  if (report) {
    run.push(
      ["segments", exact(report.segments.length)],
      ["bytes read", amount(report.read_bytes, "read_bytes")],
      ["bytes written", amount(report.write_bytes, "write_bytes")],
      ["bytes together", amount(report.total_bytes, "total_bytes")],
      ["crossing bytes", amount(report.crossing_bytes, "crossing_bytes")],
      ["time", report.time_ms === undefined ? null : ms(report.time_ms)],
      ["a copy of the bytes", report.copy_ms === undefined ? null : ms(report.copy_ms)],
      ["of a copy's speed", report.copy_ms === undefined ? null : meter(share(report.time_ms, report.copy_ms))],
      ["compiled in", report.compile_ms === undefined ? null : ms(report.compile_ms)],
      ["peak of memory", report.peak_bytes === undefined ? null : amount(report.peak_bytes, "peak_bytes")],
      ["check", report.check?.status ?? null],
    );
  }
  const element = h("div", {}, list(run), about(page.program.what_if));
  if (report?.check) {
    element.append(
      h("h3", {}, "outputs checked"),
      h(
        "ul",
        {},
        ...report.check.outputs
          .slice(0, 50)
          .map((output) =>
            h("li", {}, h("b", {}, output.name), ` ${output.status}`, h("span", { class: "muted" }, ` ${output.type}`)),
          ),
      ),
    );
  }
  return element;
}

function aboutGroup(page: Page, item: Item): HTMLElement {
  const segments = page.model.segmentsIn(item);
  if (segments.length === 0) return h("div");
  const times = segments.map((segment) => segment.time_ms).filter((time) => time !== undefined);
  return h(
    "div",
    {},
    list([
      ["bytes read", exact(sum(segments.map((one) => one.read_bytes)))],
      ["bytes written", exact(sum(segments.map((one) => one.write_bytes)))],
      ["time", times.length > 0 ? ms(times.reduce((a, b) => a + b, 0)) : null],
    ]),
    h(
      "p",
      { class: "muted" },
      "A group stands for neighbours in the order in which they run, so that a large program stays readable; the compiler knows none.",
    ),
  );
}

function aboutSegment(page: Page, segment: SegmentReport): HTMLElement {
  const element = h(
    "div",
    {},
    list([
      ["does", segment.label],
      ["bytes read", amount(segment.read_bytes, "read_bytes")],
      ["bytes written", amount(segment.write_bytes, "write_bytes")],
      ["sweeps", exact(segment.sweeps)],
      ["launches", segment.launches === undefined ? null : exact(segment.launches)],
      ["time", segment.time_ms === undefined ? null : ms(segment.time_ms)],
      ["a copy of its bytes", segment.copy_ms === undefined ? null : ms(segment.copy_ms)],
      ["of a copy's speed", segment.copy_ms === undefined ? null : meter(share(segment.time_ms, segment.copy_ms))],
      ["GB/s", segment.gb_per_s === undefined ? null : String(Number(segment.gb_per_s.toPrecision(4)))],
    ]),
  );
  for (const access of ["read", "write"] as const) {
    const values = segment.values.filter((value) => value.access === access);
    if (values.length === 0) continue;
    element.append(
      h("h3", {}, access === "read" ? "reads" : "writes"),
      list(
        values.slice(0, 40).map((value): [string, Node] => [value.name, amount(value.bytes)]),
        true,
      ),
    );
    if (values.length > 40) element.append(h("p", { class: "muted" }, `${values.length - 40} more`));
  }
  const { explain } = page.program;
  const about = explain?.segments.find((one) => one.name === segment.name);
  const words = [
    about?.call,
    ...(about?.refused ?? []).map((reason) => `not better: ${reason.words}`),
    about?.no_plan?.words,
  ].filter((one) => typeof one === "string");
  if (words.length > 0) element.append(h("h3", {}, "why it is as it is"), ...words.map((one) => h("p", {}, one)));
  // Prices are of the segments as they are now; the explanation is of those that the search drew.
  const told = page.program.what_if?.edges ?? explain?.cuts ?? [];
  const priced = new Set(told.map((cut) => `${cut.from} ${cut.to}`));
  const rest = (explain?.cuts ?? []).filter((cut) => !priced.has(`${cut.from} ${cut.to}`));
  const drawn = new Set(page.program.report?.crossing.map((one) => `${one.from} ${one.to}`));
  const cuts = [...told, ...rest.filter((cut) => drawn.has(`${cut.from} ${cut.to}`))]
    .filter((cut) => cut.from === segment.name || cut.to === segment.name)
    .sort((a, b) => b.bytes - a.bytes);
  if (cuts.length > 0) {
    element.append(h("h3", {}, "why it ends there"));
    for (const cut of cuts.slice(0, 8)) {
      element.append(
        h(
          "p",
          {},
          edgeLink(page, cut.from, cut.to),
          ` ${exact(cut.bytes)} bytes: `,
          cut.why.words[0] ?? reason(cut.why),
        ),
      );
    }
    if (cuts.length > 8)
      element.append(
        h(
          "details",
          {},
          h("summary", {}, `${exact(cuts.length - 8)} more`),
          ...cuts
            .slice(8, 200)
            .map((cut) => h("p", {}, edgeLink(page, cut.from, cut.to), ` ${exact(cut.bytes)} bytes`)),
          cuts.length > 200 && h("p", { class: "muted" }, "the rest under Decisions"),
        ),
      );
  }
  element.append(...cuttings(page, segment.name));
  for (const one of (page.program.report?.launches ?? [])
    .filter((launch) => launch.segment === segment.name)
    .slice(0, 8)) {
    element.append(
      h(
        "p",
        {},
        `${one.kernel}: ${plural(one.blocks, "block")} of ${exact(one.threads)}, occupancy ${percent(one.occupancy)}, ${ms(one.time_ms)}`,
      ),
    );
  }
  return element;
}

function places(page: Page, item: Item): HTMLElement {
  const found = page.model.places(item);
  const element = h("div", {});
  if (found.length === 0) return element;
  const source = page.data.source.text.split("\n");
  element.append(h("h3", {}, "comes from"));
  const shown = found.slice(0, 30).map((place) => {
    const [file, line] = place;
    if (line === undefined) return h("div", { class: "place" }, h("span", { class: "muted" }, file));
    const text = isSource(page, file) ? (source[line - 1] ?? "").trim() : "";
    return h(
      "div",
      { class: "place", "data-line": line },
      h("span", { class: "muted" }, isSource(page, file) ? `${line}` : `${file}:${line}`),
      text && h("code", {}, cropped(text, 120)),
    );
  });
  element.append(h("div", { class: "places" }, ...shown));
  if (found.length > 30) element.append(h("p", { class: "muted" }, `${found.length - 30} more lines`));
  return element;
}
