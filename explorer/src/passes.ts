// The pipeline: the text before and after each pass, changed lines marked.

import type { Module, Run } from "./data";
import { type Change, diff } from "./diff";
import { exact, h, plural, rows } from "./dom";
import { empty } from "./views";

/** Unchanged lines around a change. */
const CONTEXT = 3;

interface Line {
  kind: " " | "-" | "+" | "…";
  number: string;
  text: string;
}

export function passes(module: Module, about: string): HTMLElement {
  const own = module.stages.filter((stage) => stage.about === null || stage.about === about);
  const changing = own.filter((stage) => stage.texts !== null);
  if (own.length === 0) return empty("No passes", "The program is shown as it was given: no pass ran on it.");
  if (changing.length === 0) return empty("No pass changed anything", `${plural(own.length, "pass", "passes")} ran.`);
  const slider = h("input", {
    type: "range",
    min: 0,
    max: changing.length - 1,
    value: Math.max(
      0,
      changing.findIndex((stage) => stage.pass === "segment"),
    ),
    "aria-label": "pass",
  });
  const title = h("h2");
  const count = h("p", { class: "muted", "aria-live": "polite" });
  const whole = h("input", { type: "checkbox", id: "whole-text" });
  const steps = h("ol", { class: "steps" });
  const body = h("div", { class: "fill" });
  let at = 0;
  const alike = likeness(module.lines);
  own.forEach((stage) => {
    const index = changing.indexOf(stage);
    const label = `${stage.pass}${stage.about === null ? "" : ""}`;
    steps.append(
      h(
        "li",
        {},
        index < 0
          ? h("span", { class: "muted" }, label)
          : h("button", { "data-step": index, onclick: () => show(index) }, label),
      ),
    );
  });
  const show = (index: number): void => {
    at = index;
    slider.value = String(index);
    const stage = changing[index];
    slider.setAttribute("aria-valuetext", stage.pass);
    title.textContent = stage.pass;
    for (const button of steps.querySelectorAll("button")) {
      const here = button.dataset.step === String(index);
      button.setAttribute("aria-current", here ? "step" : "false");
      if (here) button.scrollIntoView({ block: "nearest" });
    }
    const [before, after] = (stage.texts ?? [0, 0]).map((text) => unpacked(module.texts[text]));
    if (before.numbers.length === 0 || after.numbers.length === 0) {
      count.textContent = "";
      body.replaceChildren(
        h("p", { class: "muted" }, "The text is left out: the texts of all passes together are too long for a page."),
      );
      return;
    }
    const changes = diff(before.numbers.map(alike), after.numbers.map(alike));
    const [gone, come] = ["-", "+"].map((kind) => changes.filter((change) => change.kind === kind).length);
    count.textContent = `${plural(come, "line")} added, ${exact(gone)} removed, of ${exact(after.numbers.length)}`;
    const lines = text(module, changes, before, after, whole.checked);
    const list = rows(lines.length, 18, (row) => {
      const line = lines[row];
      const name = { " ": "", "-": "removed", "+": "added", "…": "skipped" }[line.kind];
      return h(
        "div",
        { class: `line ${name}` },
        h("span", { class: "gutter number" }, line.number),
        h("span", { class: "sign" }, line.kind === "…" ? "" : line.kind),
        h("code", {}, line.text),
      );
    });
    body.replaceChildren(list.element);
    const first = lines.findIndex((line) => line.kind === "+" || line.kind === "-");
    if (whole.checked && first >= 0) list.show(first);
  };
  slider.addEventListener("input", () => show(Number(slider.value)));
  whole.addEventListener("change", () => show(at));
  const element = h(
    "div",
    { class: "page text passes" },
    h("aside", {}, h("h2", {}, "Passes"), steps),
    h(
      "div",
      { class: "stage" },
      h("div", { class: "tools" }, slider, h("label", {}, whole, " whole text")),
      title,
      count,
      body,
    ),
  );
  show(Number(slider.value));
  return element;
}

/** The number of the first line that says the same: the position that `segment` writes down beside each op is none of what it does. */
function likeness(lines: string[]): (line: number) => number {
  const first = new Map<string, number>();
  const known = lines.map((line, number) => {
    const bare = line
      .replace(/ \{task\.position = \d+\}/, "")
      .replace(/task\.position = \d+, /, "")
      .replace(/, task\.position = \d+/, "");
    const found = first.get(bare) ?? number;
    first.set(bare, found);
    return found;
  });
  return (line) => known[line];
}

function unpacked(runs: Run[]): { numbers: number[]; indents: number[] } {
  const [numbers, indents]: [number[], number[]] = [[], []];
  for (const [first, count, indent] of runs) {
    for (let i = 0; i < count; i++) {
      numbers.push(first + i);
      indents.push(indent);
    }
  }
  return { numbers, indents };
}

/** Lines to show; long unchanged parts become one. */
function text(
  module: Module,
  changes: Change[],
  before: ReturnType<typeof unpacked>,
  after: ReturnType<typeof unpacked>,
  whole: boolean,
): Line[] {
  const line = (change: Change): Line => {
    const side = change.kind === "-" ? before : after;
    const at = change.kind === "-" ? change.before : change.after;
    return {
      kind: change.kind,
      number: String(at + 1),
      text: " ".repeat(side.indents[at]) + module.lines[side.numbers[at]],
    };
  };
  if (whole) return changes.map(line);
  const near = new Uint8Array(changes.length);
  changes.forEach((change, i) => {
    if (change.kind !== " ") near.fill(1, Math.max(0, i - CONTEXT), Math.min(changes.length, i + CONTEXT + 1));
  });
  const lines: Line[] = [];
  for (let i = 0; i < changes.length; i++) {
    if (near[i]) {
      lines.push(line(changes[i]));
      continue;
    }
    const from = i;
    while (i + 1 < changes.length && !near[i + 1]) i++;
    lines.push({ kind: "…", number: "", text: `⋯ ${plural(i - from + 1, "line")} unchanged` });
  }
  return lines;
}
