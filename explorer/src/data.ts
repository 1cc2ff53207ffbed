// The data of a page: `src/explorer` of the compiler writes them, docs/report-schema.md and docs/schemas tell what the fields of
// reports and explanations mean.

export type Bytes = number | string;

export interface ValueUse {
  name: string;
  access: "read" | "write";
  bytes: Bytes;
}

export interface SegmentReport {
  name: string;
  /** What it computes, as a name: `exp_sum_div_3`. */
  label: string;
  kind: string;
  ops: string[];
  sweeps: number;
  launches?: number;
  read_bytes: Bytes;
  write_bytes: Bytes;
  operations?: number;
  /** Nanoseconds by the cost model. */
  model_ns?: number;
  values: ValueUse[];
  time_ms?: number;
  copy_ms?: number;
  gb_per_s?: number;
}

export interface Crossing {
  value: string;
  from: string;
  to: string;
  bytes: Bytes;
}

export interface Launch {
  kernel: string;
  segment: string;
  blocks: number;
  threads: number;
  shared_bytes: number;
  tensor_cores: boolean;
  registers: number | null;
  blocks_per_multiprocessor: number;
  occupancy: number;
  time_ms: number;
  cublaslt?: string;
}

export interface CheckedOutput {
  name: string;
  type: string;
  status: string;
  error: number | null;
  bound: number | null;
}

/** The rates of a target. */
export interface Roofs {
  target: string;
  bytes_per_s: number;
  operations_per_s: number;
}

export interface Report {
  program: string;
  segments: SegmentReport[];
  crossing: Crossing[];
  read_bytes: Bytes;
  write_bytes: Bytes;
  total_bytes: Bytes;
  crossing_bytes: Bytes;
  roofs?: Roofs;
  device?: string;
  gpu?: string;
  threads?: number;
  extents?: Record<string, number>;
  time_ms?: number;
  compile_ms?: number;
  copy_ms?: number;
  peak_bytes?: number;
  launches?: Launch[];
  check?: { status: string; outputs: CheckedOutput[] };
}

export interface Cost {
  read_bytes: number;
  write_bytes: number;
  workspace_bytes: number;
  again_bytes?: number;
  wait_bytes?: number;
  kernels: number;
  launches: number;
  time_ns: number;
}

export interface Reason {
  name: string;
  text: string;
  words: string;
}

export interface Cut {
  from: string;
  to: string;
  values: { name: string; bytes: number }[];
  bytes: number;
  view: boolean;
  why: {
    kind: string;
    words: string[];
    refused: Reason | null;
    together: Cost | null;
    apart: Cost | null;
    through: string[];
    more_through: number;
  };
}

export interface DecisionRecord {
  action: string;
  parts: string[];
  ops: number;
  outcome: "accepted" | "refused";
  reason: Reason | null;
  before: Cost | null;
  after: Cost | null;
  text: string;
}

export interface Explain {
  program: string;
  target: string;
  extents: Record<string, number>;
  assumed: string[];
  segments: {
    name: string;
    ops: string[];
    cost: Cost | null;
    call: string | null;
    refused: Reason[];
    no_plan: Reason | null;
  }[];
  cuts: Cut[];
  total: Cost;
  records: DecisionRecord[];
  later: {
    pass: string;
    bytes_before: number;
    bytes_after: number;
    again: { value: string; segment: string }[];
    gone: string[];
  }[];
}

/** Prices of other groupings: `passes/fusion/src/segment/explain/what_if.rs` writes them. */
export interface WhatIf {
  most: number;
  asked: number;
  unasked_edges: number;
  unasked_segments: number;
  edges: Cut[];
  segments: {
    name: string;
    cost: Cost;
    places: number;
    asked: number;
    possible: number;
    cuts: { behind: string; first: string[]; values: { name: string; bytes: number }[]; cost: Cost }[];
  }[];
}

/** `[file, line]`, or `[name]` of a thing that a frontend named. */
export type Place = [string, number] | [string];

export interface GraphNode {
  op: string;
  up: number;
  symbol?: string;
  attributes?: string;
  places?: Place[];
  in?: number[];
  out?: number[];
  results?: [string, number][];
}

export interface Graph {
  symbol: string;
  inputs: number[];
  outputs: [string, number][];
  nodes: GraphNode[];
  values: { name: string; type: string; node: number }[];
}

export interface Program {
  report: Report | null;
  explain: Explain | null;
  what_if: WhatIf | null;
  graph: Graph;
}

/** A run of lines: the first, how many, their indentation. */
export type Run = [number, number, number];

export interface Stage {
  pass: string;
  about: string | null;
  texts: [number, number] | null;
}

export interface Module {
  programs: Program[];
  stages: Stage[];
  texts: Run[][];
  lines: string[];
}

export interface Data {
  format: number;
  tool: string;
  version: string;
  source: { file: string; text: string };
  modules: Module[];
}

export function read(): Data | null {
  const text = document.getElementById("data")?.textContent ?? "";
  const data: unknown = JSON.parse(text);
  return typeof data === "object" && data !== null ? (data as Data) : null;
}
