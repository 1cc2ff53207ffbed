// A program as a tree that folds, and the edges between the children of any of its nodes.

import type { Bytes, Crossing, Graph, Place, Program, SegmentReport } from "./data";
import { ms, percent, plural, share, short } from "./dom";

export type Kind = "program" | "group" | "segment" | "sweep" | "phase" | "op";

export interface Item {
  id: number;
  kind: Kind;
  parent: Item | null;
  children: Item[];
  depth: number;
  /** Position among the nodes of the graph; -1 of what is not in the program's text. */
  node: number;
  label: string;
  segment: SegmentReport | null;
  /** Ops inside, itself included. */
  ops: number;
}

/** What goes from one child of an item to another. */
export interface Flow {
  from: Item;
  to: Item;
  /** Values, each once. */
  values: number[];
  /** Bytes that cross memory, one entry a value; none of what stays in a kernel. */
  bytes: Bytes[];
}

/** Children of one item that are drawn without groups between. */
const MOST_CHILDREN = 40;

const LEVELS: Record<string, Kind> = { "task.segment": "segment", "task.sweep": "sweep", "task.phase": "phase" };

export class Model {
  private shared: Set<string> | null = null;
  readonly root: Item;
  readonly items: Item[] = [];
  readonly graph: Graph;
  /** By position among the nodes. */
  readonly ofNode: Item[] = [];
  readonly segments = new Map<string, Item>();
  /** Ops that take a value, by its position. */
  readonly users: number[][];
  /** The value that a name means outside of segments. */
  private readonly outer = new Map<string, number>();
  private readonly crossing = new Map<string, Crossing>();
  private readonly flowsOf = new Map<Item, Flow[]>();

  constructor(readonly program: Program) {
    this.graph = program.graph;
    const { nodes, values } = this.graph;
    this.root = this.item("program", null, -1, `@${this.graph.symbol}`);
    const reports = new Map(program.report?.segments.map((segment) => [segment.name, segment]));
    this.users = values.map(() => []);
    nodes.forEach((node, at) => {
      const parent = node.up < 0 ? this.root : this.ofNode[node.up];
      const kind = LEVELS[node.op] ?? "op";
      const item = this.item(kind, parent, at, "");
      item.label = this.labelOf(item);
      this.ofNode[at] = item;
      if (kind === "segment") {
        item.segment = reports.get(node.symbol ?? "") ?? null;
        this.segments.set(node.symbol ?? "", item);
      }
      for (const value of new Set(node.in)) this.users[value].push(at);
      if (parent === this.root) for (const [name, value] of node.results ?? []) this.outer.set(name, value);
      if (parent === this.root) for (const value of node.out ?? []) this.outer.set(values[value].name, value);
    });
    for (const value of this.graph.inputs) this.outer.set(values[value].name, value);
    for (const one of program.report?.crossing ?? [])
      this.crossing.set(`${this.outer.get(one.value)} ${one.from} ${one.to}`, one);
    for (const item of [...this.items]) if (item.children.length > MOST_CHILDREN) this.group(item);
    this.measure();
  }

  private item(kind: Kind, parent: Item | null, node: number, label: string): Item {
    const item: Item = {
      id: this.items.length,
      kind,
      parent,
      children: [],
      depth: 0,
      node,
      label,
      segment: null,
      ops: 0,
    };
    this.items.push(item);
    parent?.children.push(item);
    return item;
  }

  private labelOf(item: Item): string {
    const { nodes, values } = this.graph;
    const node = nodes[item.node];
    if (item.kind === "segment") return `@${node.symbol ?? ""}`;
    if (item.kind !== "op") return `${item.kind} ${item.parent ? item.parent.children.length : 1}`;
    const out = (node.out ?? []).map((value) => values[value].name).join(", ");
    const operands = (node.in ?? []).map((value) => values[value].name).join(", ");
    const name = node.op.replace(/^fusion\./, "");
    return `${out}${out ? " = " : ""}${name}${operands ? ` ${operands}` : ""}`;
  }

  /** Puts groups of neighbours between an item and its many children, and groups of groups. */
  private group(item: Item): void {
    let level = item.children;
    // As many children on each level.
    const levels = Math.ceil(Math.log(level.length) / Math.log(MOST_CHILDREN));
    const most = Math.max(2, Math.ceil(level.length ** (1 / levels)));
    while (level.length > MOST_CHILDREN) {
      const count = Math.ceil(level.length / most);
      const next: Item[] = [];
      for (let i = 0; i < count; i++) {
        const inside = level.slice(
          Math.round((i * level.length) / count),
          Math.round(((i + 1) * level.length) / count),
        );
        const group = this.item("group", null, -1, "");
        group.children = inside;
        for (const child of inside) child.parent = group;
        next.push(group);
      }
      level = next;
    }
    item.children = level;
    for (const child of level) child.parent = item;
  }

  /** Depths, numbers of ops, labels of groups. */
  private measure(): void {
    const order: Item[] = [];
    const rest = [this.root];
    for (let item = rest.pop(); item; item = rest.pop()) {
      item.depth = item.parent ? item.parent.depth + 1 : 0;
      order.push(item);
      rest.push(...item.children);
    }
    for (const item of order.reverse()) {
      item.ops = item.children.reduce((sum, child) => sum + child.ops, item.kind === "op" ? 1 : 0);
      if (item.kind === "group") item.label = `${name(first(item))} … ${name(last(item))}`;
    }
  }

  /** The report's segments inside of an item. */
  segmentsIn(item: Item): SegmentReport[] {
    const found: SegmentReport[] = [];
    const rest = [item];
    for (let one = rest.pop(); one; one = rest.pop()) {
      if (one.kind === "segment") {
        if (one.segment) found.push(one.segment);
      } else rest.push(...[...one.children].reverse());
    }
    return found;
  }

  segmentOf(item: Item): Item | null {
    let one: Item | null = item;
    while (one && one.kind !== "segment") one = one.parent;
    return one;
  }

  /** The child of `item` that holds `inside`; none if it is elsewhere. */
  childOf(item: Item, inside: Item): Item | null {
    let one: Item | null = inside;
    while (one && one.depth > item.depth + 1) one = one.parent;
    return one?.parent === item ? one : null;
  }

  path(item: Item): Item[] {
    const path: Item[] = [];
    for (let one: Item | null = item; one; one = one.parent) path.unshift(one);
    return path;
  }

  leaves(item: Item): Item[] {
    const found: Item[] = [];
    const rest = [item];
    for (let one = rest.pop(); one; one = rest.pop()) {
      if (one.kind === "op") found.push(one);
      for (let i = one.children.length - 1; i >= 0; i--) rest.push(one.children[i]);
    }
    return found;
  }

  /** Bytes that go through memory for a value from one segment to another. */
  crossingBytes(value: number, from: Item | null, to: Item | null): Bytes | null {
    if (from === to) return null;
    const [a, b] = [from, to].map((item) => (item ? this.graph.nodes[item.node].symbol : ""));
    return this.crossing.get(`${value} ${a} ${b}`)?.bytes ?? null;
  }

  /** True of what goes between segments, or groups of them. */
  isEdge(flow: Flow): boolean {
    return [flow.from, flow.to].every((item) => item.kind === "group" || item.kind === "segment");
  }

  /** Segments in an item, itself included, by their names. */
  namesIn(item: Item): Set<string> {
    return new Set(this.segmentsIn(item).map((segment) => segment.name));
  }

  /** What goes between the children of an item. */
  flows(item: Item): Flow[] {
    const known = this.flowsOf.get(item);
    if (known) return known;
    const found = new Map<number, Flow>();
    for (const leaf of this.leaves(item)) {
      const to = this.childOf(item, leaf);
      for (const value of this.graph.nodes[leaf.node].in ?? []) {
        const maker = this.graph.values[value].node;
        const from = maker < 0 ? null : this.childOf(item, this.ofNode[maker]);
        if (!from || !to || from === to) continue;
        const key = from.id * this.items.length + to.id;
        const flow = found.get(key) ?? { from, to, values: [], bytes: [] };
        found.set(key, flow);
        if (flow.values.includes(value)) continue;
        flow.values.push(value);
        const bytes = this.crossingBytes(value, this.segmentOf(this.ofNode[maker]), this.segmentOf(leaf));
        if (bytes !== null) flow.bytes.push(bytes);
      }
    }
    const flows = [...found.values()];
    this.flowsOf.set(item, flows);
    return flows;
  }

  /** Bytes that the segments in an item read or write of a value; none where no report tells. */
  touched(item: Item, name: string, access: "read" | "write"): Bytes | null {
    const values = this.segmentsIn(item).flatMap((segment) => segment.values);
    const found = values.filter((value) => value.name === name && value.access === access);
    return found.length > 0 ? sum(found.map((value) => value.bytes)) : null;
  }

  /** The segment that computes the value of a name; none of an argument. */
  homeOf(name: string): Item | null {
    const value = this.graph.values.find((one) => one.name === name && one.node >= 0);
    const maker = value && this.ofNode[value.node];
    return maker ? this.segmentOf(maker) : null;
  }

  /** The value of a name as the report writes it; `undefined` where the graph has no such. */
  valueOf(name: string): number | undefined {
    return this.outer.get(name);
  }

  /** The op that makes a value; none of an argument. */
  makerOf(value: number): Item | null {
    const { node } = this.graph.values[value];
    return node < 0 ? null : this.ofNode[node];
  }

  /** The places of an item: its own, or those of the ops inside. */
  places(item: Item): Place[] {
    const found = new Map<string, Place>();
    const shared = this.sharedPlaces();
    for (const leaf of this.leaves(item))
      for (const place of this.graph.nodes[leaf.node].places ?? []) {
        const key = place.join(":");
        if (!shared.has(key)) found.set(key, place);
      }
    const isName = (place: Place): number => (place.length === 1 ? 1 : 0);
    return [...found.values()].sort(
      (a, b) => isName(a) - isName(b) || (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : (a[1] ?? 0) - (b[1] ?? 0)),
    );
  }
  /** The places that all ops have, such as the call that lowered the model: they say nothing about any one. */
  private sharedPlaces(): Set<string> {
    if (this.shared) return this.shared;
    const all = this.items
      .filter((item) => item.kind === "op")
      .map((item) => (this.graph.nodes[item.node].places ?? []).map((place) => place.join(":")))
      .filter((places) => places.length > 1);
    const [first, ...others] = all;
    let shared = new Set(others.length > 0 ? first : []);
    for (const places of others) {
      if (shared.size === 0) break;
      shared = new Set(places.filter((place) => shared.has(place)));
    }
    this.shared = shared;
    return shared;
  }

  /** The number that a polynomial over extents is at the lengths that decisions were made for. */
  estimate(bytes: Bytes): number {
    if (typeof bytes === "number") return bytes;
    const extents = { ...this.program.explain?.extents, ...this.program.report?.extents };
    let sum = 0;
    for (const term of bytes.replace(/\s/g, "").replace(/-/g, "+-").split("+").filter(Boolean)) {
      const factors = term
        .replace(/^-/, "-1*")
        .split("*")
        .map((factor) => {
          const [base, power] = factor.split("^");
          const number = /^-?\d+$/.test(base) ? Number(base) : (extents[base] ?? 1);
          return number ** Number(power ?? 1);
        });
      sum += factors.reduce((a, b) => a * b, 1);
    }
    return Number.isFinite(sum) ? Math.max(0, sum) : 0;
  }

  /** What the header of an open box says beside its name. */
  facts(item: Item): string {
    const segment = item.segment;
    if (!segment) return this.summary(item);
    const part = share(segment.time_ms, segment.copy_ms);
    const time = segment.time_ms === undefined ? "" : ` · ${ms(segment.time_ms)}`;
    return `${segment.kind}${time}${part === null ? "" : ` · ${percent(part)} of a copy`}`;
  }

  /** What a folded box says below its name. */
  lines(item: Item): string[] {
    const summary = this.summary(item);
    const segments =
      item.kind === "segment"
        ? item.segment
          ? [item.segment]
          : []
        : item.kind === "group"
          ? this.segmentsIn(item)
          : [];
    const lines = [item.segment ? `${item.segment.kind} · ${summary}` : summary];
    if (segments.length === 0 || item.segment?.kind === "view") return lines;
    if (item.segment) lines.unshift(item.segment.label);
    const bytes = (field: "read_bytes" | "write_bytes"): string => short(sum(segments.map((one) => one[field])));
    lines.push(`r ${bytes("read_bytes")} · w ${bytes("write_bytes")}`);
    const times = segments.map((one) => one.time_ms).filter((time) => time !== undefined);
    const part = share(item.segment?.time_ms, item.segment?.copy_ms);
    if (times.some((time) => time > 0))
      lines.push(`${ms(times.reduce((a, b) => a + b, 0))}${part === null ? "" : ` · ${percent(part)} of a copy`}`);
    return lines;
  }

  /** One sentence of an item: kind, ops. */
  summary(item: Item): string {
    if (item.kind === "op") return this.graph.values[this.graph.nodes[item.node].out?.[0] ?? -1]?.type ?? "";
    if (item.kind === "group" || item.kind === "program") {
      const segments = this.segmentsIn(item).length;
      return segments > 0 ? `${plural(segments, "segment")}, ${plural(item.ops, "op")}` : plural(item.ops, "op");
    }
    return plural(item.ops, "op");
  }
}

/** The sum of bytes; polynomials side by side. */
export function sum(list: Bytes[]): Bytes {
  const numbers = list.filter((bytes) => typeof bytes === "number").reduce((a, b) => a + b, 0);
  const texts = list.filter((bytes) => typeof bytes === "string");
  if (texts.length === 0) return numbers;
  const all = numbers > 0 ? [...texts, String(numbers)] : texts;
  return all.length > 3 ? `${all.slice(0, 3).join(" + ")} + …` : all.join(" + ");
}

function first(item: Item): Item {
  let one = item;
  while (one.kind === "group") one = one.children[0];
  return one;
}

function last(item: Item): Item {
  let one = item;
  while (one.kind === "group") one = one.children[one.children.length - 1];
  return one;
}

function name(item: Item): string {
  return item.kind === "op" ? item.label.split(" = ")[0] : item.label;
}
