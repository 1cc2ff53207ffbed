// Places of what is unfolded. Each open item is laid out by itself, from the sizes of its children, and kept until something in it folds:
// what is folded costs nothing.

import { Graph, layout as layered } from "@dagrejs/dagre";
import type { Bytes } from "./data";
import { type Flow, type Item, type Model, sum } from "./model";

export interface Point {
  x: number;
  y: number;
}

/** A value that an open segment, or the program, reads or writes. */
export interface Pin {
  name: string;
  bytes: Bytes | null;
  /** Positions of its value, or of those that it stands for. */
  values: number[];
  out: boolean;
  more: number;
}

export interface Placed {
  item: Item;
  x: number;
  y: number;
  box: Box;
}
export interface PlacedPin {
  pin: Pin;
  x: number;
  y: number;
  width: number;
}
export interface Wire {
  flow: Flow | null;
  pin: Pin | null;
  points: Point[];
  arc: boolean;
  /** Bytes that go through memory; none of what stays in a kernel, or of which no report tells. */
  bytes: Bytes[];
}

/** The size of an item, and what is inside where it is open. Places are relative to its upper left corner. */
export interface Box {
  width: number;
  height: number;
  children: Placed[];
  pins: PlacedPin[];
  wires: Wire[];
}

export const HEADER = 30;
const PADDING = 14;
const PIN_HEIGHT = 22;
const CHARACTER = 7.3;
const SMALL = 6.7;
/** Wires for each child beyond which children stand in a column, and wires beside it. */
const DENSE = 3;
/** Values of an item that are drawn one by one. */
const MOST_PINS = 10;
/** Characters of the longest facts in a header. */
export const FACTS = 40;
/** Characters of the longest label. */
export const LABEL = 44;

export class Layout {
  private readonly open = new Set<Item>();
  private readonly boxes = new Map<Item, Box>();

  constructor(private readonly model: Model) {}

  isOpen(item: Item): boolean {
    return this.open.has(item);
  }

  /** Folds or unfolds an item. */
  set(item: Item, open: boolean): void {
    if (open === this.open.has(item) || (open && item.children.length === 0)) return;
    if (open) this.open.add(item);
    else this.open.delete(item);
    for (let one: Item | null = item; one; one = one.parent) this.boxes.delete(one);
  }

  /** Items in sight, in order. */
  visible(): Item[] {
    const found: Item[] = [];
    const rest = [this.model.root];
    for (let item = rest.pop(); item; item = rest.pop()) {
      found.push(item);
      if (this.open.has(item)) for (let i = item.children.length - 1; i >= 0; i--) rest.push(item.children[i]);
    }
    return found;
  }

  /** The box of the whole; what is inside comes first, so nothing recurses. */
  whole(): Box {
    const order = this.visible().filter((item) => !this.boxes.has(item));
    for (const item of order.reverse())
      this.boxes.set(item, this.open.has(item) ? this.inside(item) : this.folded(item));
    return this.box(this.model.root);
  }

  private box(item: Item): Box {
    return this.boxes.get(item) ?? this.folded(item);
  }

  private folded(item: Item): Box {
    const lines = this.model.lines(item);
    const small = Math.max(...lines.map((line) => line.length));
    const width = Math.max(
      90,
      Math.min(LABEL, item.label.length) * CHARACTER + (item.kind === "op" ? 20 : 40),
      Math.min(LABEL, small) * SMALL + 20,
    );
    return { width, height: 28 + lines.length * 16, children: [], pins: [], wires: [] };
  }

  private inside(item: Item): Box {
    const flows = this.model.flows(item);
    const dense = item.children.length > 12 && flows.length > DENSE * item.children.length;
    return dense || item.children.some((child) => child.kind === "group")
      ? this.column(item, flows)
      : this.layered(item, flows);
  }

  /** Children in the order in which they run, and what goes between them as arcs. */
  private column(item: Item, flows: Flow[]): Box {
    let y = HEADER + PADDING;
    let right = 0;
    const at = new Map<Item, { index: number; y: number; right: number }>();
    const children = item.children.map((child, index) => {
      const box = this.box(child);
      const placed = { item: child, x: PADDING, y, box };
      at.set(child, { index, y: y + Math.min(box.height / 2, 60), right: PADDING + box.width });
      right = Math.max(right, PADDING + box.width);
      y += box.height + 14;
      return placed;
    });
    let far = 0;
    // Arcs begin to the right of all boxes, so that none is covered.
    const wires = flows.flatMap((flow): Wire[] => {
      const [from, to] = [at.get(flow.from), at.get(flow.to)];
      if (!from || !to) return [];
      const out = 30 + 34 * Math.sqrt(Math.abs(to.y - from.y) / 12);
      far = Math.max(far, out);
      return [
        {
          flow,
          pin: null,
          arc: true,
          bytes: flow.bytes,
          points: [
            { x: from.right, y: from.y + 6 },
            { x: right, y: from.y + 6 },
            { x: right + out, y: from.y },
            { x: right + out, y: to.y },
            { x: right, y: to.y - 6 },
            { x: to.right, y: to.y - 6 },
          ],
        },
      ];
    });
    return {
      width: Math.max(right + far * 0.8 + PADDING, this.head(item)),
      height: y,
      children,
      pins: [],
      wires,
    };
  }

  private layered(item: Item, flows: Flow[]): Box {
    const graph = new Graph({ multigraph: true });
    const ranksep = flows.some((flow) => flow.bytes.length > 0) ? 36 : 20;
    graph.setGraph({ rankdir: "TB", nodesep: 16, ranksep, marginx: PADDING, marginy: PADDING });
    graph.setDefaultEdgeLabel(() => ({}));
    for (const child of item.children) {
      const { width, height } = this.box(child);
      graph.setNode(`c${child.id}`, { width, height });
    }
    flows.forEach((flow, i) =>
      graph.setEdge(`c${flow.from.id}`, `c${flow.to.id}`, { weight: 1 + Math.min(4, flow.bytes.length) }, `f${i}`),
    );
    const pins = this.pins(item);
    const pinWires: { pin: Pin; from: string; to: string; key: string; bytes: Bytes | null }[] = [];
    pins.forEach((pin, i) => {
      graph.setNode(`p${i}`, { width: pinWidth(pin), height: PIN_HEIGHT });
      const ends = pin.out ? this.makers(item, pin) : this.takers(item, pin);
      ends.forEach((end, n) => {
        const [from, to] = pin.out ? [`c${end.id}`, `p${i}`] : [`p${i}`, `c${end.id}`];
        graph.setEdge(from, to, {}, `p${i} ${n}`);
        const bytes = pin.bytes ?? this.model.touched(end, pin.name, pin.out ? "write" : "read");
        pinWires.push({ pin, from, to, key: `p${i} ${n}`, bytes });
      });
    });
    layered(graph as never);
    const node = (name: string): { x: number; y: number; width: number; height: number } => graph.node(name) as never;
    const moved = (points: Point[]): Point[] => points.map(({ x, y }) => ({ x, y: y + HEADER }));
    const children = item.children.map((child) => {
      const at = node(`c${child.id}`);
      return { item: child, x: at.x - at.width / 2, y: at.y - at.height / 2 + HEADER, box: this.box(child) };
    });
    const placed = pins.map((pin, i) => {
      const at = node(`p${i}`);
      return { pin, x: at.x - at.width / 2, y: at.y - at.height / 2 + HEADER, width: at.width };
    });
    const edge = (from: string, to: string, key: string): Point[] => {
      const found = graph.edge({ v: from, w: to, name: key }) as { points?: Point[] } | undefined;
      return moved(found?.points ?? []);
    };
    const wires: Wire[] = flows.map((flow, i) => ({
      flow,
      pin: null,
      arc: false,
      bytes: flow.bytes,
      points: edge(`c${flow.from.id}`, `c${flow.to.id}`, `f${i}`),
    }));
    wires.push(
      ...pinWires.map(({ pin, from, to, key, bytes }) => ({
        flow: null,
        pin,
        arc: false,
        bytes: bytes === null ? [] : [bytes],
        points: edge(from, to, key),
      })),
    );
    const size = graph.graph() as { width?: number; height?: number };
    const least = this.head(item);
    const width = Math.max(size.width ?? 0, least);
    const shift = (width - (size.width ?? 0)) / 2;
    for (const one of [...children, ...placed]) one.x += shift;
    for (const wire of wires) for (const point of wire.points) point.x += shift;
    return { width, height: (size.height ?? 0) + HEADER, children, pins: placed, wires };
  }

  /** What an open segment reads and writes by its report; arguments and results of the program. */
  private pins(item: Item): Pin[] {
    const { model } = this;
    let reads: Pin[] = [];
    let writes: Pin[] = [];
    if (item.kind === "segment" && item.segment) {
      const pin = (access: string): Pin[] =>
        (item.segment?.values ?? [])
          .filter((value) => value.access === access)
          .map((value) => ({
            name: value.name,
            bytes: value.bytes,
            values: [model.valueOf(value.name)].filter((one) => one !== undefined),
            out: access === "write",
            more: 0,
          }));
      [reads, writes] = [pin("read"), pin("write")];
    } else if (item.kind === "program" && item.children.length > 1) {
      const { values, inputs, outputs } = model.graph;
      const plain = (name: string, value: number, out: boolean): Pin => ({
        name,
        bytes: null,
        values: [value],
        out,
        more: 0,
      });
      reads = inputs
        .filter((value) => model.users[value].length > 0)
        .map((value) => plain(values[value].name, value, false));
      writes = outputs.map(([name, value]) => plain(name, value, true));
      // A program has many arguments: they would be wires from everywhere to everywhere.
      if (reads.length > MOST_PINS) reads = [];
      if (writes.length > MOST_PINS) writes = [];
    }
    return [...few(reads), ...few(writes)];
  }

  /** The width that the header of an open item needs. */
  private head(item: Item): number {
    const facts = Math.min(FACTS, this.model.facts(item).length);
    return Math.min(LABEL, item.label.length) * CHARACTER + facts * SMALL + 60;
  }

  private takers(item: Item, pin: Pin): Item[] {
    const users = pin.values.flatMap((value) => this.model.users[value]);
    const found = new Set(users.map((node) => this.model.childOf(item, this.model.ofNode[node])));
    return [...found].filter((one) => one !== null);
  }

  private makers(item: Item, pin: Pin): Item[] {
    const makers = pin.values.map((value) => this.model.makerOf(value));
    const found = new Set(makers.map((maker) => maker && this.model.childOf(item, maker)));
    return [...found].filter((one) => one !== null);
  }
}

function few(pins: Pin[]): Pin[] {
  if (pins.length <= MOST_PINS) return pins;
  const shown = pins.slice(0, MOST_PINS - 1);
  const rest = pins.slice(shown.length);
  const values = rest.flatMap((pin) => pin.values);
  const told = rest.map((pin) => pin.bytes).filter((one) => one !== null);
  const bytes = told.length > 0 ? sum(told) : null;
  return [...shown, { name: `+ ${rest.length} more`, bytes, values, out: pins[0].out, more: rest.length }];
}

export function pinText(pin: Pin, short: (bytes: Bytes) => string): string {
  return pin.bytes === null ? pin.name : `${pin.name}  ${short(pin.bytes)}`;
}

function pinWidth(pin: Pin): number {
  const bytes = pin.bytes === null ? 0 : typeof pin.bytes === "string" ? pin.bytes.length + 4 : 9;
  return (Math.min(28, pin.name.length) + bytes) * 6.9 + 20;
}
