// The picture of the graph: boxes that fold, wires as wide as their bytes. Keyboard, mouse, zoom.

import { cropped, exact, grade, ms, s, share, short } from "./dom";
import { type Box, FACTS, HEADER, LABEL, Layout, pinText, type Wire } from "./layout";
import { type Flow, type Item, type Model, sum } from "./model";

/** Items of one level that are unfolded at once. */
const MOST_UNFOLDED = 12;
/** Items of a program that is fitted into its frame whenever it folds. */
const MOST_FITTED = 200;
/** The scale at which labels can be read. */
const READABLE = 0.68;

/** What an op does, by its name: the colour of its box. */
const FAMILIES: [string, RegExp][] = [
  ["reduce", /^(sum|max|min|max_num|min_num|prod|any|all|argmax|argmin|fold|mean|var|cum|scan|welford|norm)/],
  ["product", /^(matmul|dot|einsum|conv|contract|linear|attention)/],
  [
    "shape",
    /^(broadcast|expand|reshape|permute|transpose|slice|pad|cat|flip|squeeze|unsqueeze|repeat|gather|take|scatter|roll|select_row|copy|view|segment_set)/,
  ],
  ["constant", /^(constant|iota|full|random|rng)/],
  ["cast", /^(cast|bitcast|round_to)/],
];

export function family(op: string): string {
  const name = op.replace(/^.*?\./, "");
  if (op.startsWith("task.")) return "call";
  return FAMILIES.find(([, pattern]) => pattern.test(name))?.[0] ?? "pointwise";
}

export class GraphView {
  readonly element: HTMLElement;
  readonly layout: Layout;
  selected: Item;
  private readonly svg: SVGSVGElement;
  private readonly scene: SVGGElement;
  private view = { x: 0, y: 0, scale: 1 };
  private readonly at = new Map<Item, { x: number; y: number; box: Box }>();
  private readonly drawn = new Map<Item, SVGGElement>();
  /** The bytes of the widest wire in sight. */
  private widest = 1;
  /** True until somebody moves the picture. */
  private untouched = true;
  private folded = false;
  /** The edge that is selected, from one item to another. */
  private edge: { from: Item; to: Item } | null = null;

  constructor(
    private readonly model: Model,
    private readonly onSelect: (item: Item) => void,
    private readonly onEdge: (from: Item, to: Item) => void,
  ) {
    this.layout = new Layout(model);
    this.selected = model.root;
    this.scene = s("g");
    this.svg = s(
      "svg",
      { class: "graph", tabindex: 0, role: "tree", "aria-label": `Graph of ${model.root.label}` },
      this.scene,
    );
    this.element = document.createElement("div");
    this.element.className = "graph-frame";
    this.element.append(this.svg);
    this.listen();
    new ResizeObserver(() => {
      if (!this.folded && this.element.clientWidth > 0) this.fold();
      if (this.untouched) this.fit();
    }).observe(this.element);
  }

  /** The fold that a program is first shown in: level by level, as long as all labels can be read without scrolling. */
  private fold(): void {
    this.folded = true;
    const { root, items } = this.model;
    this.layout.set(root, true);
    const { clientWidth: width, clientHeight: height } = this.element;
    for (const kind of ["segment", "sweep", "phase"] as const) {
      const level = items.filter((item) => item.kind === kind && item.children.length > 0);
      if (level.length > MOST_UNFOLDED || root.children.some((child) => child.kind === "group")) break;
      for (const item of level) this.layout.set(item, true);
      const box = this.layout.whole();
      if (Math.min(width / box.width, height / box.height) >= READABLE) continue;
      for (const item of level) this.layout.set(item, false);
      break;
    }
    this.draw();
    this.select(this.selected);
  }

  draw(): void {
    const box = this.layout.whole();
    this.widest = 1;
    this.at.clear();
    this.drawn.clear();
    const wires = s("g", { class: "wires" });
    const boxes = s("g", { class: "boxes" });
    const rest = [{ item: this.model.root, x: 0, y: 0, box }];
    const labels = s("g", { class: "labels" });
    const open: SVGGElement[] = [];
    const boxesInSight = [box];
    for (const one of boxesInSight) {
      for (const wire of one.wires) this.widest = Math.max(this.widest, this.weight(wire));
      boxesInSight.push(...one.children.map((child) => child.box));
    }
    for (let one = rest.pop(); one; one = rest.pop()) {
      const { item, x, y } = one;
      this.at.set(item, { x, y, box: one.box });
      const element = this.card(item, x, y, one.box);
      this.drawn.set(item, element);
      // What is open lies under what is in it.
      if (this.layout.isOpen(item)) open.push(element);
      else boxes.append(element);
      for (const wire of one.box.wires) this.wire(wire, x, y, wires, labels);
      for (const pin of one.box.pins) {
        const text = pinText({ ...pin.pin, name: cropped(pin.pin.name, 28) }, short);
        boxes.append(
          s(
            "g",
            {
              class: `pin ${pin.pin.out ? "out" : "in"}`,
              transform: `translate(${x + pin.x} ${y + pin.y})`,
              "data-value": pin.pin.name,
            },
            s(
              "title",
              {},
              `${pin.pin.out ? "written" : "read"}: ${pin.pin.name}${pin.pin.bytes === null ? "" : `, ${exact(pin.pin.bytes)} bytes`}`,
            ),
            s("rect", { width: pin.width, height: 22, rx: 11 }),
            s("text", { x: pin.width / 2, y: 15, "text-anchor": "middle" }, text),
          ),
        );
      }
      for (const child of one.box.children)
        rest.push({ item: child.item, x: x + child.x, y: y + child.y, box: child.box });
    }
    this.scene.replaceChildren(...open, wires, boxes, labels);
    this.mark();
  }

  private card(item: Item, x: number, y: number, box: Box): SVGGElement {
    const { model } = this;
    const open = this.layout.isOpen(item);
    const folds = item.children.length > 0;
    const segment = item.segment;
    const op = item.kind === "op" ? model.graph.nodes[item.node].op : "";
    const kind =
      item.kind === "segment" ? (segment?.kind ?? "kernel") : item.kind === "op" ? `op ${family(op)}` : item.kind;
    const title = this.title(item);
    const card = s(
      "g",
      {
        class: `card ${kind} ${open ? "open" : ""}`,
        transform: `translate(${x} ${y})`,
        role: "treeitem",
        id: `item-${item.id}`,
        "data-label": item.label,
        "data-kind": item.kind,
        "aria-label": title,
        "aria-level": item.depth + 1,
        ...(folds ? { "aria-expanded": open ? "true" : "false" } : {}),
        onclick: (event: MouseEvent) => {
          event.stopPropagation();
          this.select(item);
        },
        ondblclick: (event: MouseEvent) => {
          event.stopPropagation();
          this.toggle(item);
        },
      },
      s("title", {}, title),
      s("rect", { class: "frame", width: box.width, height: box.height, rx: 7 }),
    );
    if (open) card.append(s("rect", { class: "head", width: box.width, height: HEADER, rx: 7 }));
    if (folds) {
      card.append(
        s(
          "g",
          {
            class: "fold",
            transform: "translate(6 7)",
            onclick: (event: MouseEvent) => {
              event.stopPropagation();
              this.toggle(item);
            },
          },
          s("rect", { width: 16, height: 16, rx: 4 }),
          s("path", { d: open ? "M4 8h8" : "M4 8h8M8 4v8" }),
        ),
      );
    }
    const left = folds ? 28 : 10;
    card.append(s("text", { class: "label", x: left, y: 19 }, cropped(item.label, LABEL)));
    if (open) {
      card.append(
        s(
          "text",
          { class: "small", x: box.width - 10, y: 19, "text-anchor": "end" },
          cropped(this.model.facts(item), FACTS),
        ),
      );
      return card;
    }
    model
      .lines(item)
      .forEach((line, i) => card.append(s("text", { class: "small", x: 10, y: 36 + i * 16 }, cropped(line, LABEL))));
    const part = share(segment?.time_ms, segment?.copy_ms);
    if (part !== null)
      card.append(
        s("rect", {
          class: `speed ${grade(part)}`,
          x: 1,
          y: box.height - 4,
          width: Math.max(2, (box.width - 2) * Math.min(1, part)),
          height: 3,
          rx: 1.5,
        }),
      );
    return card;
  }

  private title(item: Item): string {
    const { segment } = item;
    const attributes = item.node >= 0 ? (this.model.graph.nodes[item.node].attributes ?? "") : "";
    const parts = [item.label, item.kind === "op" ? attributes : item.kind, this.model.summary(item)];
    if (segment) {
      parts.push(
        segment.label,
        `reads ${exact(segment.read_bytes)} bytes`,
        `writes ${exact(segment.write_bytes)} bytes`,
      );
      if (segment.time_ms !== undefined) parts.push(ms(segment.time_ms));
    }
    return parts.filter(Boolean).join(", ");
  }

  /** The bytes of a wire, as a number. */
  private weight(wire: Wire): number {
    return wire.bytes.reduce<number>((all, one) => all + this.model.estimate(one), 0);
  }

  private wire(wire: Wire, x: number, y: number, wires: SVGGElement, labels: SVGGElement): void {
    if (wire.points.length < 2) return;
    const bytes = sum(wire.bytes);
    const memory = wire.bytes.length > 0;
    const width = memory ? 1.5 + 10.5 * Math.sqrt(Math.min(1, this.weight(wire) / this.widest)) : 1.2;
    const points = wire.points.map((point) => ({ x: x + point.x, y: y + point.y }));
    const names = wire.flow
      ? wire.flow.values.map((value) => this.model.graph.values[value].name)
      : [wire.pin?.name ?? ""];
    const text = `${names.slice(0, 12).join(", ")}${names.length > 12 ? ", …" : ""}${memory ? `: ${exact(bytes)} bytes through memory` : ""}`;
    wires.append(
      s(
        "path",
        {
          class: `wire ${memory ? "memory" : "inside"} ${wire.arc ? "arc" : ""}`,
          d: wire.arc ? arc(points) : curve(points),
          "stroke-width": width,
          "data-from": wire.flow?.from.id,
          "data-to": wire.flow?.to.id,
          "data-bytes": memory && wire.flow ? String(bytes) : undefined,
        },
        s("title", {}, text),
      ),
    );
    const { flow } = wire;
    if (flow && this.model.isEdge(flow)) {
      // A thin wire is hard to hit.
      const hit = {
        class: "hit",
        d: wire.arc ? arc(points) : curve(points),
        "data-from": flow.from.id,
        "data-to": flow.to.id,
        onclick: (event: MouseEvent) => {
          event.stopPropagation();
          this.selectEdge(flow);
        },
      };
      wires.append(s("path", hit, s("title", {}, text)));
    }
    // A value at the edge of a segment has its bytes beside its name.
    if (memory && !wire.arc && (wire.pin?.bytes ?? null) === null) {
      const middle = points[Math.floor(points.length / 2)];
      labels.append(
        s("text", { class: "amount", x: middle.x, y: middle.y + 4, "text-anchor": "middle" }, short(bytes)),
      );
    }
  }

  private mark(): void {
    for (const element of this.scene.querySelectorAll(".selected, .near")) element.classList.remove("selected", "near");
    this.drawn.get(this.shown(this.selected))?.classList.add("selected");
    const id = String(this.shown(this.selected).id);
    const ends = this.edge && [this.edge.from, this.edge.to].map((end) => String(this.shown(end).id));
    for (const wire of this.scene.querySelectorAll<SVGPathElement>(".wire")) {
      if (wire.dataset.from === id || wire.dataset.to === id) wire.classList.add("near");
      wire.classList.toggle("chosen", ends !== null && wire.dataset.from === ends[0] && wire.dataset.to === ends[1]);
    }
    this.svg.setAttribute("aria-activedescendant", `item-${id}`);
  }

  /** The item itself, or the folded one that it is in. */
  private shown(item: Item): Item {
    for (const one of this.model.path(item)) if (!this.layout.isOpen(one)) return one;
    return item;
  }

  /** Selects the edge from one item to another. */
  selectEdge({ from, to }: { from: Item; to: Item }): void {
    this.edge = { from, to };
    this.mark();
    this.onEdge(from, to);
  }

  select(item: Item, tell = true): void {
    this.edge = null;
    this.selected = item;
    this.mark();
    if (tell) this.onSelect(item);
  }

  /** Unfolds what an item is in, selects it and brings it into sight. */
  reveal(item: Item): void {
    for (const one of this.model.path(item).slice(0, -1)) this.layout.set(one, true);
    this.draw();
    this.select(item);
    this.center(item, true);
    this.svg.focus({ preventScroll: true });
  }

  toggle(item: Item, open = !this.layout.isOpen(item)): void {
    const before = this.at.get(item);
    // A small program is fitted anew; in a large one the rest would shrink away.
    if (this.model.items.length > MOST_FITTED) this.untouched = false;
    this.layout.set(item, open);
    this.draw();
    const after = this.at.get(item);
    // What was touched stays where it is.
    if (before && after && !this.untouched) {
      this.view.x += (before.x + before.box.width / 2 - after.x - after.box.width / 2) * this.view.scale;
      this.view.y += (before.y - after.y) * this.view.scale;
    }
    this.select(item);
    if (this.untouched) this.fit();
    else {
      this.place();
      if (open) this.center(item, false);
    }
  }

  private center(item: Item, always: boolean): void {
    const at = this.at.get(this.shown(item));
    if (!at) return;
    const { clientWidth: width, clientHeight: height } = this.element;
    if (width === 0) return;
    this.untouched = false;
    const { scale } = this.view;
    if (always && scale < 0.6) this.view.scale = 0.8;
    const [w, hgt] = [at.box.width * this.view.scale, at.box.height * this.view.scale];
    const [x, y] = [at.x * this.view.scale + this.view.x, at.y * this.view.scale + this.view.y];
    const inSight = x > 0 && y > 0 && x + Math.min(w, width - 20) < width && y + Math.min(hgt, height - 20) < height;
    if (always || !inSight) {
      this.view.x = (width - w) / 2 - at.x * this.view.scale;
      this.view.y = (hgt > height - 40 ? 20 : (height - hgt) / 2) - at.y * this.view.scale;
    }
    this.place();
  }

  fit(): void {
    const box = this.layout.whole();
    const { clientWidth: width, clientHeight: height } = this.element;
    if (width === 0) return;
    // Labels stay readable: what does not fit is scrolled to.
    const [across, down] = [(width - 24) / box.width, (height - 24) / box.height];
    const scale =
      down < 0.6 && across > down
        ? Math.max(0.6, Math.min(0.95, across))
        : Math.max(0.55, Math.min(1.25, across, down));
    this.view = { scale, x: (width - box.width * scale) / 2, y: Math.max(12, (height - box.height * scale) / 2) };
    if (box.height * scale > height) this.view.y = 12;
    this.untouched = true;
    this.place();
  }

  private place(): void {
    const { x, y, scale } = this.view;
    this.scene.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${scale.toFixed(4)})`);
  }

  zoom(factor: number, x = this.element.clientWidth / 2, y = this.element.clientHeight / 2): void {
    const scale = Math.max(0.08, Math.min(3, this.view.scale * factor));
    const by = scale / this.view.scale;
    this.view = { scale, x: x - (x - this.view.x) * by, y: y - (y - this.view.y) * by };
    this.untouched = false;
    this.place();
  }

  private listen(): void {
    this.svg.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        if (event.ctrlKey || event.metaKey) {
          const frame = this.element.getBoundingClientRect();
          this.zoom(Math.exp(-event.deltaY * 0.01), event.clientX - frame.left, event.clientY - frame.top);
          return;
        }
        this.untouched = false;
        this.view.x -= event.shiftKey ? event.deltaY : event.deltaX;
        this.view.y -= event.shiftKey ? 0 : event.deltaY;
        this.place();
      },
      { passive: false },
    );
    let from: { x: number; y: number } | null = null;
    this.svg.addEventListener("pointerdown", (event) => {
      from = { x: event.clientX - this.view.x, y: event.clientY - this.view.y };
    });
    this.svg.addEventListener("pointermove", (event) => {
      if (!from || event.buttons === 0) return;
      const [x, y] = [event.clientX - from.x, event.clientY - from.y];
      if (Math.hypot(x - this.view.x, y - this.view.y) < 3) return;
      this.untouched = false;
      [this.view.x, this.view.y] = [x, y];
      this.place();
    });
    addEventListener("pointerup", () => {
      from = null;
    });
    this.svg.addEventListener("keydown", (event) => {
      if (this.key(event)) event.preventDefault();
    });
  }

  private key(event: KeyboardEvent): boolean {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    const item = this.shown(this.selected);
    const go = (to: Item | null | undefined): boolean => {
      if (to) {
        this.select(to);
        this.center(to, false);
      }
      return true;
    };
    switch (event.key) {
      case "Enter":
      case " ":
        this.toggle(item);
        return true;
      case "ArrowRight": {
        if (item.children.length > 0 && !this.layout.isOpen(item)) {
          this.toggle(item, true);
          return true;
        }
        return go(this.layout.isOpen(item) ? item.children[0] : this.beside(item, 1));
      }
      case "ArrowLeft": {
        if (this.layout.isOpen(item) && item.parent) {
          this.toggle(item, false);
          return true;
        }
        return go(item.parent);
      }
      case "ArrowDown":
        return go(
          this.along(item, true) ?? this.beside(item, 1) ?? (this.layout.isOpen(item) ? item.children[0] : null),
        );
      case "ArrowUp":
        return go(this.along(item, false) ?? this.beside(item, -1) ?? item.parent);
      case "e": {
        const edges = this.edgesOf(item);
        const at = edges.findIndex((one) => one.from === this.edge?.from && one.to === this.edge.to);
        const next = edges[(at + 1) % edges.length];
        if (next) this.selectEdge(next);
        return true;
      }
      case "Home":
        return go(this.model.root);
      case "f":
        this.fit();
        return true;
      case "+":
      case "=":
        this.zoom(1.25);
        return true;
      case "-":
        this.zoom(0.8);
        return true;
      default:
        return false;
    }
  }

  /** The edges through memory that an item has. */
  private edgesOf(item: Item): Flow[] {
    const flows = item.parent ? this.model.flows(item.parent) : [];
    return flows.filter((flow) => (flow.from === item || flow.to === item) && this.model.isEdge(flow));
  }

  private beside(item: Item, by: number): Item | null {
    const siblings = item.parent?.children ?? [];
    return siblings[siblings.indexOf(item) + by] ?? null;
  }

  /** The first neighbour that takes what the item makes, or makes what it takes. */
  private along(item: Item, down: boolean): Item | null {
    if (!item.parent) return null;
    const flows = this.model.flows(item.parent);
    const flow = flows.find((one) => (down ? one.from : one.to) === item);
    return flow ? (down ? flow.to : flow.from) : null;
  }
}

/** From a box out to the side, and back in to another. */
function arc(points: { x: number; y: number }[]): string {
  const [from, start, out, back, end, to] = points.map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`);
  return `M${from}L${start}C${out} ${back} ${end}L${to}`;
}

/** A smooth line through points. */
function curve(points: { x: number; y: number }[]): string {
  const [first, ...rest] = points;
  let path = `M${first.x.toFixed(1)} ${first.y.toFixed(1)}`;
  for (let i = 0; i < rest.length; i++) {
    const [from, to] = [points[i], rest[i]];
    const middle = ((from.y + to.y) / 2).toFixed(1);
    path += `C${from.x.toFixed(1)} ${middle} ${to.x.toFixed(1)} ${middle} ${to.x.toFixed(1)} ${to.y.toFixed(1)}`;
  }
  return path;
}
