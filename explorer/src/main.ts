import "./style.css";
import { type Data, type Module, type Program, read } from "./data";
import { exact, h, ms, percent, plural, share, short } from "./dom";
import { GraphView } from "./graph";
import { type Item, Model } from "./model";
import { passes } from "./passes";
import { roofline } from "./roofline";
import { search } from "./search";
import { decisions, detail, empty, kernels, launches, memory, type Page, SourceView } from "./views";
import { edgeDetail } from "./whatif";

const THEMES = ["auto", "light", "dark"] as const;

const KEYS: [string, string][] = [
  ["1 … 8", "views"],
  ["/", "search"],
  ["?", "this list"],
  ["↑ ↓", "along what a box takes and what takes it"],
  ["→ ←", "unfold and in; fold and out"],
  ["Enter", "fold or unfold"],
  ["e", "along the edges of a box, with what they cost"],
  ["Home", "the program"],
  ["f", "fit"],
  ["+ −", "zoom; Ctrl and wheel"],
  ["t", "auto, light, dark"],
];

const LEGEND: [string, string][] = [
  ["kernel", "kernel"],
  ["library", "call of a library"],
  ["copy", "copy"],
  ["view", "view"],
  ["control", "loop or branch"],
  ["op pointwise", "pointwise"],
  ["op reduce", "reduction"],
  ["op shape", "shape, index"],
  ["op product", "product"],
  ["op cast", "cast"],
  ["op constant", "constant"],
];

function start(): void {
  const app = document.getElementById("app");
  if (!app) return;
  let data: Data | null = null;
  try {
    data = read();
  } catch {
    // Told below.
  }
  const programs = (data?.modules ?? []).flatMap((module) => module.programs.map((program) => ({ module, program })));
  if (data && programs.length === 0) {
    app.append(empty("No program", `${data.source.file || "The file"} has no task.program: there is nothing to draw.`));
    return;
  }
  if (!data) {
    app.append(
      empty(
        "No program",
        "This page has no data, or they are damaged: write it anew with fuser-run --report=html:FILE.",
      ),
    );
    return;
  }
  // The program that was run comes first, then the one with the most in it.
  const weight = ({ program }: { program: Program }): number =>
    (program.report?.time_ms !== undefined ? 1e12 : 0) + program.graph.nodes.length;
  const ordered = [...programs].sort((a, b) => weight(b) - weight(a));
  show(app, data, ordered, 0);
}

function show(app: HTMLElement, data: Data, programs: { module: Module; program: Program }[], at: number): void {
  const { module, program } = programs[at];
  const model = new Model(program);
  document.title = `${model.root.label} · Fuser`;
  const aside = h("aside", { class: "side", tabindex: -1 });
  const tell = (told: HTMLElement): void => {
    // Who came from a link in the details stays there.
    const inside = aside.contains(document.activeElement);
    aside.replaceChildren(told);
    if (inside) aside.focus();
  };
  const graph = new GraphView(
    model,
    (item) => {
      tell(detail(page, item));
      source.mark(item);
      address("graph", item === model.root ? "" : (nameOf(item) ?? ""));
    },
    (from, to) => tell(edgeDetail(page, from, to)),
  );
  const page: Page = {
    data,
    program,
    model,
    selected: () => graph.selected,
    reveal(item) {
      open("Graph");
      graph.reveal(item);
    },
    edge(from, to) {
      open("Graph");
      graph.selectEdge({ from, to });
    },
    named: (text) =>
      programs
        .map((one) => one.program.graph.symbol)
        .filter((symbol) => symbol !== program.graph.symbol && text.split(/[^\w$.@-]+/).includes(`@${symbol}`)),
    turn(symbol) {
      show(
        app,
        data,
        programs,
        programs.findIndex((one) => one.program.graph.symbol === symbol),
      );
    },
  };
  const source = new SourceView(page);
  const legend = h(
    "div",
    { class: "legend", "aria-label": "legend" },
    ...LEGEND.map(([name, text]) => h("span", {}, h("i", { class: name }), text)),
    h("span", {}, h("i", { class: "thick" }), "bytes through memory"),
    h("span", {}, h("i", { class: "thin" }), "stays in a kernel"),
  );
  const buttons = h(
    "div",
    { class: "zoom" },
    h("button", { "aria-label": "zoom in", onclick: () => graph.zoom(1.25) }, "+"),
    h("button", { "aria-label": "zoom out", onclick: () => graph.zoom(0.8) }, "−"),
    h("button", { onclick: () => graph.fit() }, "fit"),
  );
  graph.element.append(buttons);
  const picture = h("div", { class: "picture" }, h("div", { class: "canvas" }, graph.element, legend), aside);
  const views: [string, () => HTMLElement][] = [
    ["Graph", () => picture],
    ["Kernels", () => kernels(page)],
    ["Decisions", () => decisions(page)],
    ["Passes", () => passes(module, model.graph.symbol)],
    ["Memory", () => memory(page)],
    ["Roofline", () => roofline(page)],
  ];
  if (program.report?.launches) views.push(["Launches", () => launches(page)]);
  views.push(["Source", () => source.element]);
  const made = new Map<string, HTMLElement>();
  const main = h("main", { id: "main" });
  const tabs = h(
    "div",
    { class: "tabs", role: "tablist", "aria-label": "views" },
    ...views.map(([name], i) =>
      h(
        "button",
        { role: "tab", id: `tab-${name}`, "aria-controls": "main", title: `key ${i + 1}`, onclick: () => open(name) },
        name,
      ),
    ),
  );
  const open = (name: string): void => {
    const view = made.get(name) ?? views.find(([one]) => one === name)?.[1]();
    if (!view) return;
    made.set(name, view);
    if (main.firstChild !== view) main.replaceChildren(view);
    for (const tab of tabs.children) {
      tab.setAttribute("aria-selected", String(tab.id === `tab-${name}`));
      tab.setAttribute("tabindex", tab.id === `tab-${name}` ? "0" : "-1");
    }
    if (name === "Source") source.show();
    address(name.toLowerCase(), "");
  };
  tabs.addEventListener("keydown", (event) => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const list = [...tabs.children] as HTMLElement[];
    const next = list[list.indexOf(document.activeElement as HTMLElement) + by];
    if (by !== 0 && next) {
      next.click();
      next.focus();
      event.preventDefault();
    }
  });
  const help = h(
    "dialog",
    { class: "help", "aria-label": "keys" },
    h("h2", {}, "Keys"),
    h("dl", {}, ...KEYS.map(([key, text]) => h("div", {}, h("dt", {}, key), h("dd", {}, text)))),
    h("form", { method: "dialog" }, h("button", {}, "close")),
  );
  const theme = h("button", { class: "theme", title: "key t" });
  const turn = (next: (typeof THEMES)[number]): void => {
    document.documentElement.dataset.theme = next;
    theme.textContent = `theme: ${next}`;
  };
  theme.addEventListener("click", () =>
    turn(THEMES[(THEMES.indexOf((document.documentElement.dataset.theme ?? "auto") as "auto") + 1) % THEMES.length]),
  );
  turn((document.documentElement.dataset.theme ?? "auto") as "auto");
  const choice =
    programs.length > 1 &&
    h(
      "select",
      {
        "aria-label": "program",
        onchange: (event: Event) => {
          app.replaceChildren();
          show(app, data, programs, Number((event.target as HTMLSelectElement).value));
        },
      },
      ...programs.map((one, i) => h("option", { value: i, selected: i === at }, `@${one.program.graph.symbol}`)),
    );
  const find = search(model, (item) => page.reveal(item));
  app.replaceChildren(
    h(
      "header",
      { class: "top" },
      h("h1", {}, "Fuser"),
      choice || h("b", { class: "symbol" }, model.root.label),
      h("span", { class: "gist" }, gist(program)),
      find,
      theme,
      h("button", { "aria-label": "keys", title: "key ?", onclick: () => help.showModal() }, "?"),
    ),
    tabs,
    main,
    help,
  );
  keys?.abort();
  keys = new AbortController();
  document.addEventListener(
    "keydown",
    (event) => {
      const target = event.target as HTMLElement;
      if (target.matches("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey || help.open)
        return;
      const view = views[Number(event.key) - 1];
      if (view) open(view[0]);
      else if (event.key === "/") find.querySelector("input")?.focus();
      else if (event.key === "?") help.showModal();
      else if (event.key === "t") theme.click();
      else return;
      event.preventDefault();
    },
    { signal: keys.signal },
  );
  const go = ([view, ...names]: string[]): void => {
    const item = model.items.find((one) => names.includes(nameOf(one) ?? ""));
    if (item) page.reveal(item);
    else open(views.find(([one]) => one.toLowerCase() === view)?.[0] ?? "Graph");
  };
  const wanted = asked();
  open("Graph");
  graph.draw();
  graph.fit();
  graph.select(model.root);
  go(wanted);
  window.addEventListener("hashchange", () => go(asked()), { signal: keys.signal });
}

/** The name of a segment or of an op's first result, as the text has it: `@s0`, `%y`. */
function nameOf(item: Item): string | null {
  if (item.kind === "segment") return item.label;
  return item.kind === "op" ? item.label.split(" = ")[0] : null;
}

/** The view and the name that the address asks for: `#kernels`, `#graph/@s0`, and `#graph/%y` as typed or as encoded. */
function asked(): string[] {
  const [view, ...rest] = location.hash.slice(1).split("/");
  const name = rest.join("/");
  if (name === "") return [view];
  try {
    return [view, decodeURIComponent(name), name];
  } catch {
    return [view, name];
  }
}

/** Writes what is shown into the address, where the page has one of its own. */
function address(view: string, name: string): void {
  if (!location.protocol.startsWith("file") && !location.protocol.startsWith("http")) return;
  const hash = name === "" ? view : `${view}/${encodeURIComponent(name)}`;
  history.replaceState(null, "", `#${hash}`);
}

let keys: AbortController | null = null;

/** The facts about a program in one line. */
function gist(program: Program): string {
  const { report, graph } = program;
  const ops = graph.nodes.filter((node) => !["task.segment", "task.sweep", "task.phase"].includes(node.op)).length;
  const parts = [plural(ops, "op")];
  if (report && report.segments.length > 0)
    parts.push(
      plural(report.segments.length, "segment"),
      typeof report.total_bytes === "number" ? short(report.total_bytes) : exact(report.total_bytes),
    );
  if (report?.time_ms !== undefined) parts.push(ms(report.time_ms));
  const part = share(report?.time_ms, report?.copy_ms);
  if (part !== null) parts.push(`${percent(part)} of a copy`);
  return parts.join(" · ");
}

start();
