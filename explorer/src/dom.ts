// Elements and numbers. Text goes in as text nodes alone: names of values are the input of strangers.

type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, string | number | boolean | undefined | ((event: never) => void)>;

function fill<E extends Element>(element: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false)
      element.append(typeof child === "number" ? String(child) : child);
  }
  return element;
}

export function h<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(name), attributes, children);
}

export function s<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** A whole number with its thousands apart; a polynomial as it is. */
export function exact(value: number | string | null | undefined): string {
  if (value === null || value === undefined) return "–";
  return typeof value === "number" ? grouped.format(value) : value;
}

/** Bytes in three figures: `16.8 MB`. */
export function short(value: number | string): string {
  if (typeof value === "string") return `${value} B`;
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let [size, unit] = [value, 0];
  while (size >= 999.5 && unit < units.length - 1) [size, unit] = [size / 1000, unit + 1];
  return `${unit === 0 ? size : Number(size.toPrecision(3))} ${units[unit]}`;
}

/** A number in three figures with a prefix: `16.8 G`. */
export function scaled(value: number): string {
  const prefixes = ["", " k", " M", " G", " T", " P", " E"];
  let [size, at] = [value, 0];
  while (size >= 999.5 && at < prefixes.length - 1) [size, at] = [size / 1000, at + 1];
  return `${Number(size.toPrecision(3))}${prefixes[at]}`;
}

export function ms(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (value >= 100) return `${grouped.format(value)} ms`;
  return value >= 1 ? `${Number(value.toPrecision(3))} ms` : `${Number((value * 1000).toPrecision(3))} µs`;
}

/** The part of a copy's speed that a time reaches; none where no copy was timed. */
export function share(time?: number, copy?: number): number | null {
  return time && copy ? copy / time : null;
}

export function percent(value: number | null): string {
  return value === null ? "–" : `${Math.round(value * 100)} %`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${exact(count)} ${count === 1 ? one : many}`;
}

export function cropped(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1))}…`;
}

/** A meter of a share, with its number beside it: colour is never the only sign. */
export function meter(value: number | null): HTMLElement {
  if (value === null) return h("span", { class: "muted" }, "–");
  const bar = h(
    "span",
    { class: `meter ${grade(value)}`, "aria-hidden": "true" },
    h("span", { style: `width:${Math.min(100, value * 100)}%` }),
  );
  return h("span", { class: "metered" }, bar, percent(value));
}

export function grade(value: number): "good" | "fair" | "poor" {
  return value >= 0.7 ? "good" : value >= 0.3 ? "fair" : "poor";
}

/** A list of so many rows of one height of which only those in sight are elements. */
export function rows(
  count: number,
  height: number,
  row: (index: number) => HTMLElement,
): { element: HTMLElement; show(index: number): void; refresh(): void } {
  const inside = h("div", { class: "rows-inside", style: `height:${count * height}px` });
  const element = h("div", { class: "rows", tabindex: 0 }, inside);
  let shown = [-1, -1];
  const draw = (): void => {
    const first = Math.max(0, Math.floor(element.scrollTop / height) - 20);
    const last = Math.min(count, first + Math.ceil((element.clientHeight || 800) / height) + 40);
    if (first === shown[0] && last === shown[1]) return;
    shown = [first, last];
    const made = [];
    for (let index = first; index < last; index++) {
      const one = row(index);
      one.style.top = `${index * height}px`;
      made.push(one);
    }
    inside.replaceChildren(...made);
  };
  const refresh = (): void => {
    shown = [-1, -1];
    draw();
  };
  element.addEventListener("scroll", draw);
  new ResizeObserver(draw).observe(element);
  draw();
  return {
    element,
    refresh,
    show(index) {
      element.scrollTop = Math.max(0, index * height - element.clientHeight / 3);
      draw();
    },
  };
}
