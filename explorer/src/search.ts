// Search by name: segments, values, ops, names of the model's own.

import { cropped, h } from "./dom";
import type { Item, Model } from "./model";

const MOST = 40;

export function search(model: Model, reveal: (item: Item) => void): HTMLElement {
  const entries = model.items
    .filter((item) => item.kind === "segment" || item.kind === "op")
    .map((item) => {
      const node = model.graph.nodes[item.node];
      const names = (node.places ?? []).filter((place) => place.length === 1).map((place) => place[0]);
      const results = (node.results ?? []).map(([name]) => name);
      return { item, text: [item.label, node.op, ...results, ...names].join(" ").toLowerCase() };
    });
  const list = h("ul", { class: "found", role: "listbox", id: "found", "aria-label": "found" });
  const input = h("input", {
    type: "search",
    class: "search",
    placeholder: "Search: %value, op, @segment",
    role: "combobox",
    "aria-expanded": "false",
    "aria-controls": "found",
    "aria-label": "search by name",
    autocomplete: "off",
    spellcheck: "false",
  });
  let found: Item[] = [];
  let at = 0;
  const close = (): void => {
    list.replaceChildren();
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
  };
  const take = (item: Item | undefined): void => {
    if (item) {
      close();
      reveal(item);
    }
  };
  const draw = (): void => {
    const words = input.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return close();
    const all = entries.filter((entry) => words.every((word) => entry.text.includes(word)));
    // What begins with the words comes first.
    const rank = (text: string): number =>
      text.startsWith(words[0]) || text.startsWith(`%${words[0]}`) || text.startsWith(`@${words[0]}`) ? 0 : 1;
    found = all
      .sort((a, b) => rank(a.text) - rank(b.text))
      .slice(0, MOST)
      .map((entry) => entry.item);
    at = Math.min(at, Math.max(0, found.length - 1));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    list.replaceChildren(
      ...found.map((item, i) => {
        const segment = model.segmentOf(item);
        return h(
          "li",
          {
            role: "option",
            id: `found-${i}`,
            "aria-selected": i === at ? "true" : "false",
            onmousedown: (event: MouseEvent) => {
              event.preventDefault();
              take(item);
            },
          },
          cropped(item.label, 60),
          h("span", { class: "muted" }, segment && segment !== item ? ` in ${segment.label}` : ""),
        );
      }),
    );
    if (found.length === 0) list.append(h("li", { class: "muted" }, "nothing of this name"));
    else if (all.length > MOST)
      list.append(h("li", { class: "muted" }, `${all.length - MOST} more: write more of the name`));
    input.setAttribute("aria-activedescendant", found.length > 0 ? `found-${at}` : "");
  };
  input.addEventListener("input", () => {
    at = 0;
    draw();
  });
  input.addEventListener("focus", draw);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") take(found[at]);
    else if (event.key === "Escape") {
      input.value = "";
      close();
      input.blur();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      at = Math.max(0, Math.min(found.length - 1, at + (event.key === "ArrowDown" ? 1 : -1)));
      draw();
      event.preventDefault();
    }
  });
  close();
  return h("div", { class: "search-frame" }, input, list);
}
