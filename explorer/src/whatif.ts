// Prices of other groupings: what two segments would cost as one, and what one would cost as two.

import type { Cost, WhatIf } from "./data";
import { cropped, exact, h, plural } from "./dom";
import type { Item } from "./model";
import { amount, list, type Page, prices, reason, segmentLink, sentence } from "./views";

/** Records of moved and copied ops that are shown of one segment. */
const MOST_RECORDS = 5;

/** A button that shows the edge between two segments. */
export function edgeLink(page: Page, from: string, to: string): Node | string {
  const ends = [from, to].map((name) => page.model.segments.get(name));
  const [a, b] = ends;
  if (!a || !b) return `@${from} → @${to}`;
  return h(
    "button",
    { class: "link", "data-edge": `${from} ${to}`, onclick: () => page.edge(a, b) },
    `@${from} → @${to}`,
  );
}

/** Details of the edge from one item to another: two segments, or groups of them. */
export function edgeDetail(page: Page, from: Item, to: Item): HTMLElement {
  const element = h("section", { class: "detail", "aria-label": "details" });
  const [sources, targets] = [page.model.namesIn(from), page.model.namesIn(to)];
  const crossing = (page.program.report?.crossing ?? []).filter((one) => sources.has(one.from) && targets.has(one.to));
  element.append(h("h2", {}, `${from.label} → ${to.label}`));
  if (from.kind === "segment" && to.kind === "segment") {
    const [a, b] = [from, to].map((item) => item.label.slice(1));
    element.append(h("p", {}, segmentLink(page, a), " writes, ", segmentLink(page, b), " reads"));
    element.append(
      h("h3", {}, "crosses"),
      list(
        crossing.slice(0, 40).map((one): [string, Node] => [one.value, amount(one.bytes)]),
        true,
      ),
    );
    if (crossing.length > 40) element.append(h("p", { class: "muted" }, `${crossing.length - 40} more`));
    element.append(...together(page.program.what_if, a, b, page));
    return element;
  }
  const pairs = new Map(crossing.map((one) => [`${one.from} ${one.to}`, one]));
  const weight = (pair: string): number =>
    crossing
      .filter((one) => `${one.from} ${one.to}` === pair)
      .reduce((sum, one) => sum + page.model.estimate(one.bytes), 0);
  const ordered = [...pairs.values()]
    .map((one) => ({ one, bytes: weight(`${one.from} ${one.to}`) }))
    .sort((a, b) => b.bytes - a.bytes);
  element.append(
    h("h3", {}, plural(ordered.length, "edge")),
    h(
      "ul",
      {},
      ...ordered
        .slice(0, 40)
        .map(({ one, bytes }) =>
          h("li", {}, edgeLink(page, one.from, one.to), h("span", { class: "muted" }, ` ${exact(bytes)} bytes`)),
        ),
      ordered.length > 40 && h("li", { class: "muted" }, `${ordered.length - 40} more`),
    ),
  );
  return element;
}

/** The price of two segments together, or the reason that they cannot be. */
function together(whatIf: WhatIf | null, from: string, to: string, page: Page): HTMLElement[] {
  const head = h("h3", {}, "what if they were one kernel");
  const known = [...(whatIf?.edges ?? []), ...(page.program.explain?.cuts ?? [])];
  const cut = known.find((one) => one.from === from && one.to === to);
  if (!cut) {
    const text =
      whatIf && whatIf.unasked_edges > 0
        ? `Not asked: ${bound(whatIf)}`
        : "No price: no pass of this pipeline decided which ops share a kernel, or the two share no value.";
    return [head, h("p", { class: "muted" }, text)];
  }
  const { why } = cut;
  const parts: HTMLElement[] = [head, h("p", {}, h("span", { class: `badge why-${why.kind}` }, reason(why)))];
  if (why.together && why.through.length > 0)
    parts.push(
      h("p", {}, "One kernel would take in ", ...links(page, why.through, why.more_through), " as well, on the way."),
    );
  if (!why.together) parts.push(h("p", {}, `They cannot be one: ${why.refused?.words ?? "the model has no plan"}`));
  const table = prices(why.apart, why.together, ["apart", "together"]);
  if (table) parts.push(table);
  parts.push(...why.words.map(sentence));
  return parts;
}

function links(page: Page, names: string[], more: number): (Node | string)[] {
  return names
    .flatMap((name, i) => [i > 0 ? ", " : "", segmentLink(page, name)])
    .concat(more > 0 ? [`, ${more} more`] : []);
}

/** The sentence about what nobody asked. */
export function bound(whatIf: WhatIf): string {
  return `prices are asked for the largest bytes first, at most ${exact(whatIf.most)} of edges and of places in segments; ${plural(whatIf.unasked_edges, "edge")} and ${plural(whatIf.unasked_segments, "segment")} were left out.`;
}

/** The prices of a segment in two parts, and of moving and copying its ops. */
export function cuttings(page: Page, name: string): HTMLElement[] {
  const { what_if: whatIf, explain } = page.program;
  const parts: HTMLElement[] = [];
  const own = whatIf?.segments.find((one) => one.name === name);
  const divisible = (page.program.report?.segments.find((one) => one.name === name)?.ops.length ?? 0) > 1;
  if (own && own.asked > 0) {
    parts.push(h("h3", {}, "what if it were cut"));
    if (own.cuts.length > 0) parts.push(cutTable(page, own.cost, own.cuts));
    const asked =
      own.asked < own.places
        ? `${exact(own.asked)} of ${plural(own.places, "place")} were asked about, those first that the fewest bytes cross`
        : plural(own.places, "place");
    parts.push(
      h(
        "p",
        { class: "muted" },
        `${asked}; both parts are kernels at ${exact(own.possible)}${own.possible > own.cuts.length ? `, the best ${own.cuts.length} are shown` : ""}.`,
      ),
    );
  } else if (whatIf && divisible && whatIf.unasked_segments > 0) {
    parts.push(h("h3", {}, "what if it were cut"), h("p", { class: "muted" }, `Not asked: ${bound(whatIf)}`));
  }
  const again = (explain?.later ?? []).flatMap((later) =>
    later.again.filter((one) => one.segment === name).map((one) => one.value),
  );
  const moves = (explain?.records ?? []).filter(
    (record) =>
      (record.action === "copy" || record.action === "move") &&
      record.parts.some((part) => page.model.homeOf(part)?.label === `@${name}`),
  );
  if (again.length > 0 || moves.length > 0) parts.push(h("h3", {}, "computing values again"));
  if (again.length > 0)
    parts.push(
      h(
        "p",
        {},
        `It computes ${cropped(again.join(", "), 300)} again, which other segments compute, and does not read ${again.length === 1 ? "it" : "them"}.`,
      ),
    );
  for (const record of moves.slice(0, MOST_RECORDS)) {
    const text = `${record.action} ${record.parts.join(" → ")}: ${record.outcome}`;
    parts.push(h("p", { class: "names" }, cropped(text, 200)));
    if (record.reason) parts.push(sentence(record.reason.words));
    const table = prices(record.before, record.after, ["before", "after"]);
    if (table) parts.push(table);
  }
  if (moves.length > MOST_RECORDS)
    parts.push(h("p", { class: "muted" }, `${moves.length - MOST_RECORDS} more under Decisions`));
  return parts;
}

function cutTable(page: Page, whole: Cost, cuts: WhatIf["segments"][number]["cuts"]): HTMLElement {
  const bytes = (cost: Cost): number => cost.read_bytes + cost.write_bytes + cost.workspace_bytes;
  const row = (head: Node | string, cost: Cost, behind: string): HTMLElement => {
    const number = (field: string, value: number): HTMLElement =>
      h("td", { class: "number", "data-field": field, "data-value": value }, exact(value));
    return h(
      "tr",
      { "data-behind": behind },
      h("th", { scope: "row" }, head),
      number("bytes", bytes(cost)),
      number("time_ns", cost.time_ns),
      number("kernels", cost.kernels),
    );
  };
  return h(
    "table",
    { class: "prices" },
    h(
      "thead",
      {},
      h("tr", {}, h("td", {}), ...["bytes", "model's ns", "kernels"].map((head) => h("th", { scope: "col" }, head))),
    ),
    h(
      "tbody",
      {},
      row("as it is", whole, ""),
      ...cuts.map((cut) => row(behindLink(page, cut.behind), cut.cost, cut.behind)),
    ),
  );
}

function behindLink(page: Page, name: string): HTMLElement {
  const value = page.model.graph.values.find((one) => one.name === name && one.node >= 0);
  const maker = value && page.model.ofNode[value.node];
  return h(
    "span",
    {},
    "behind ",
    maker ? h("button", { class: "link", onclick: () => page.reveal(maker) }, cropped(name, 24)) : cropped(name, 24),
  );
}

/** The bound, where it was hit. */
export function about(whatIf: WhatIf | null): HTMLElement | null {
  if (!whatIf || whatIf.unasked_edges + whatIf.unasked_segments === 0) return null;
  return h("p", { class: "muted", "data-field": "unasked" }, `What if: ${bound(whatIf)}`);
}
