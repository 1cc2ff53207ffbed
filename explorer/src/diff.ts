// The difference between two texts, as lists of numbers of lines. Lines that stand once on each side pair up in order of place (patience); what
// is between them is compared the same way, and where nothing stands once, line by line from both ends.

export interface Change {
  kind: " " | "-" | "+";
  before: number;
  after: number;
}

interface Span {
  a0: number;
  a1: number;
  b0: number;
  b1: number;
}

export function diff(a: number[], b: number[]): Change[] {
  const pairs: [number, number][] = [];
  const rest: Span[] = [{ a0: 0, a1: a.length, b0: 0, b1: b.length }];
  for (let span = rest.pop(); span; span = rest.pop()) {
    let { a0, a1, b0, b1 } = span;
    while (a0 < a1 && b0 < b1 && a[a0] === b[b0]) pairs.push([a0++, b0++]);
    while (a0 < a1 && b0 < b1 && a[a1 - 1] === b[b1 - 1]) pairs.push([--a1, --b1]);
    if (a0 === a1 || b0 === b1) continue;
    const anchors = unique(a, b, { a0, a1, b0, b1 });
    if (anchors.length === 0) continue;
    let [i, j] = [a0, b0];
    for (const [x, y] of [...anchors, [a1, b1]]) {
      rest.push({ a0: i, a1: x, b0: j, b1: y });
      if (x < a1) pairs.push([x, y]);
      [i, j] = [x + 1, y + 1];
    }
  }
  pairs.sort((x, y) => x[0] - y[0]);
  const changes: Change[] = [];
  let [i, j] = [0, 0];
  for (const [x, y] of [...pairs, [a.length, b.length]]) {
    for (; i < x; i++) changes.push({ kind: "-", before: i, after: -1 });
    for (; j < y; j++) changes.push({ kind: "+", before: -1, after: j });
    if (x < a.length) changes.push({ kind: " ", before: i++, after: j++ });
  }
  return changes;
}

/** The longest ascending chain of lines that stand once on each side. */
function unique(a: number[], b: number[], { a0, a1, b0, b1 }: Span): [number, number][] {
  const once = (list: number[], from: number, to: number): Map<number, number> => {
    const found = new Map<number, number>();
    for (let i = from; i < to; i++) found.set(list[i], found.has(list[i]) ? -1 : i);
    return found;
  };
  const [inA, inB] = [once(a, a0, a1), once(b, b0, b1)];
  const both: [number, number][] = [];
  for (const [line, at] of inA) {
    const other = inB.get(line) ?? -1;
    if (at >= 0 && other >= 0) both.push([at, other]);
  }
  both.sort((x, y) => x[0] - y[0]);
  // Patience: tops of piles, each with the one before it in its chain.
  const tops: number[] = [];
  const before: number[] = [];
  both.forEach(([, y], index) => {
    let [low, high] = [0, tops.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (both[tops[middle]][1] < y) low = middle + 1;
      else high = middle;
    }
    before[index] = low > 0 ? tops[low - 1] : -1;
    tops[low] = index;
  });
  const chain: [number, number][] = [];
  for (let at = tops[tops.length - 1] ?? -1; at >= 0; at = before[at]) chain.push(both[at]);
  return chain.reverse();
}
