import "./style.css";
import { LSPPlugin } from "@codemirror/lsp-client";
import { EditorState, Prec, type Extension } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { basicSetup } from "codemirror";
import { h } from "../../../explorer/src/dom";
import { EXAMPLES, USUAL } from "./examples";
import { semanticColors } from "./highlight";
import { lenses } from "./lenses";
import { decode, encode, type State } from "./link";
import { Runner } from "./runner";
import { connect } from "./server";
import type { Outcome } from "./wasi";
import { words } from "./words";

const TOOLS: [name: string, about: string][] = [
  ["fuser-opt", "runs passes"],
  ["fuser-run", "runs the program, here in the interpreter"],
  ["fuser-translate", "reads and writes other formats"],
];
const THEMES = ["auto", "light", "dark"] as const;
const VIEWS = ["Output", "Messages", "Picture"] as const;
type View = (typeof VIEWS)[number];

const FILE = "program.fir";
const PICTURE = "picture.html";
/** Milliseconds without a change after which the command runs again. */
const PAUSE = 300;

interface Pass {
  name: string;
  doc: string;
}

async function load(): Promise<WebAssembly.Module> {
  const response = await fetch(new URL("fuser.wasm", document.baseURI));
  if (!response.ok) throw new Error(`fuser.wasm: ${response.status} ${response.statusText}`);
  return WebAssembly.compile(await response.arrayBuffer());
}

async function first(): Promise<State> {
  const shared = location.hash.length > 1 ? await decode(location.hash.slice(1)) : null;
  return shared ?? EXAMPLES.get("softmax.fir") ?? { tool: "fuser-opt", args: "", text: "" };
}

class Page {
  private readonly module: Promise<WebAssembly.Module>;
  private runner: Runner | null = null;
  private waiting: ReturnType<typeof setTimeout> | undefined;
  private view: View = "Output";
  private outcome: Outcome | null = null;

  private readonly tool = h("select", { id: "tool", "aria-label": "tool" });
  private readonly args = h("input", {
    id: "args",
    "aria-label": "arguments",
    spellcheck: "false",
    autocomplete: "off",
  });
  private readonly passes = h("select", { id: "passes", "aria-label": "add a pass" });
  private readonly examples = h("select", { id: "examples", "aria-label": "example" });
  private readonly status = h("span", { id: "status", role: "status", class: "muted" }, "loading");
  private readonly stop = h("button", { id: "stop", disabled: true, onclick: () => this.halt() }, "Stop");
  private readonly messages = h("pre", { id: "messages", role: "log", tabindex: 0, "aria-label": "messages" });
  private readonly picture = h("iframe", { id: "picture", title: "picture of the program", sandbox: "allow-scripts" });
  private readonly tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "results" });
  private readonly results = h("div", { class: "results", id: "results", role: "tabpanel" });
  /** What both editors have. */
  private readonly plain: Extension;
  private readonly source: EditorView;
  private readonly output: EditorView;

  constructor(app: HTMLElement) {
    this.module = load();
    const run = { key: "Mod-Enter", run: () => (void this.run(), true) };
    this.plain = [
      Prec.highest(keymap.of([run])),
      EditorView.updateListener.of((update) => update.docChanged && update.view === this.source && this.soon()),
      basicSetup,
    ];
    this.source = new EditorView({ extensions: [this.plain, named("program")] });
    this.output = new EditorView({ extensions: [this.plain, named("output"), EditorState.readOnly.of(true)] });
    this.build(app);
  }

  private build(app: HTMLElement): void {
    this.tool.append(...TOOLS.map(([name, about]) => h("option", { value: name, title: about }, name)));
    this.examples.append(
      h("option", { value: "" }, "Examples …"),
      ...[...EXAMPLES.keys()].map((name) => h("option", { value: name }, name)),
    );
    this.passes.append(h("option", { value: "" }, "+ pass"));
    this.tool.addEventListener("change", () => {
      this.args.value = USUAL[this.tool.value];
      this.soon();
    });
    this.args.addEventListener("input", () => this.soon());
    this.args.addEventListener("keydown", (event) => event.key === "Enter" && void this.run());
    this.passes.addEventListener("change", () => {
      this.args.value = `${this.args.value} --${this.passes.value}`.trim();
      this.passes.value = "";
      this.soon();
    });
    this.examples.addEventListener("change", () => {
      const example = EXAMPLES.get(this.examples.value);
      this.examples.value = "";
      if (example) this.show(example);
    });
    const theme = h("button", { id: "theme", title: "auto, light, dark" }, "auto");
    theme.addEventListener("click", () => {
      const { dataset } = document.documentElement;
      const next = THEMES[(THEMES.indexOf(dataset.theme as (typeof THEMES)[number]) + 1) % THEMES.length];
      dataset.theme = theme.textContent = next;
    });
    for (const name of VIEWS) {
      this.tabs.append(
        h(
          "button",
          { role: "tab", id: `tab-${name}`, "aria-controls": "results", onclick: () => this.open(name) },
          name,
        ),
      );
    }
    this.tabs.addEventListener("keydown", ({ key }) => {
      const step = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? VIEWS.length - 1 : 0;
      if (!step) return;
      this.open(VIEWS[(VIEWS.indexOf(this.view) + step) % VIEWS.length]);
      document.getElementById(`tab-${this.view}`)?.focus();
    });
    app.append(
      h(
        "header",
        {},
        h("h1", {}, "Fuser playground"),
        this.examples,
        h("span", { class: "command" }, this.tool, h("span", { class: "file" }, FILE), this.args),
        this.passes,
        h("button", { id: "run", title: "Ctrl+Enter", onclick: () => void this.run() }, "Run"),
        this.stop,
        h(
          "button",
          {
            id: "copy",
            title: "copies the output",
            onclick: () => void this.copy(this.output.state.doc.toString(), "the output"),
          },
          "Copy",
        ),
        h(
          "button",
          {
            id: "share",
            title: "copies an address that holds the program and the command",
            onclick: () => void this.share(),
          },
          "Share",
        ),
        theme,
      ),
      h(
        "main",
        {},
        h("section", { class: "source", "aria-label": "program" }, this.source.dom),
        h("section", { class: "right", "aria-label": "results" }, this.tabs, this.results),
      ),
      h("footer", {}, this.status),
    );
    this.open("Output");
  }

  async start(): Promise<void> {
    this.show(await first());
    addEventListener("hashchange", async () => {
      const state = await decode(location.hash.slice(1));
      if (state) this.show(state);
    });
    const module = await this.module;
    const runner = new Runner(module);
    const client = connect(module);
    const attach = (view: EditorView, extensions: Extension, uri: string): void =>
      view.setState(
        EditorState.create({
          doc: view.state.doc,
          extensions: [this.plain, extensions, client.plugin(uri, "fir"), semanticColors, lenses],
        }),
      );
    attach(this.source, named("program"), `file:///${FILE}`);
    attach(this.output, [named("output"), EditorState.readOnly.of(true)], "file:///output.fir");
    const passes = await runner.run({ args: ["fuser-opt", "--list-passes=json"], files: {} });
    const listed: Pass[] = passes?.exit === 0 ? JSON.parse(passes.stdout).passes : [];
    this.passes.append(...listed.map(({ name, doc }) => h("option", { value: name, title: doc }, name)));
    this.runner = runner;
    await this.run();
  }

  private show({ tool, args, text }: State): void {
    this.tool.value = tool;
    this.args.value = args;
    replace(this.source, text);
    this.soon();
  }

  private state(): State {
    return { tool: this.tool.value, args: this.args.value, text: this.source.state.doc.toString() };
  }

  private soon(): void {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => void this.run(), PAUSE);
  }

  /** Runs the command; its picture with it, where somebody looks at it. */
  private async run(): Promise<void> {
    clearTimeout(this.waiting);
    if (!this.runner) return;
    const { tool, args, text } = this.state();
    const drawn = this.view === "Picture" && tool !== "fuser-translate";
    const picture = drawn ? [`--report=html:${PICTURE}`] : [];
    this.tell("running");
    this.stop.disabled = false;
    const begun = performance.now();
    const outcome = await this.runner.run({ args: [tool, FILE, ...words(args), ...picture], files: { [FILE]: text } });
    if (!outcome) return;
    this.stop.disabled = true;
    this.outcome = outcome;
    const { exit } = outcome;
    const time = `${Math.round(performance.now() - begun)} ms`;
    this.tell(exit === null ? `cut short after ${time}` : `exit status ${exit}, ${time}`, exit !== 0);
    replace(this.output, outcome.stdout);
    this.messages.textContent = outcome.stderr;
    const page = outcome.files[PICTURE];
    if (page) this.picture.srcdoc = page;
    this.mark();
  }

  private halt(): void {
    this.runner?.stop();
    this.stop.disabled = true;
    this.tell("stopped", true);
  }

  private tell(text: string, wrong = false): void {
    this.status.textContent = text;
    this.status.classList.toggle("wrong", wrong);
  }

  private open(view: View): void {
    this.view = view;
    const element = { Output: this.output.dom, Messages: this.messages, Picture: this.picture }[view];
    this.results.replaceChildren(element);
    this.mark();
    if (view === "Picture") void this.run();
  }

  /** Marks the open tab, and whether there are messages. */
  private mark(): void {
    for (const tab of this.tabs.children) {
      const chosen = tab.id === `tab-${this.view}`;
      tab.setAttribute("aria-selected", String(chosen));
      tab.setAttribute("tabindex", chosen ? "0" : "-1");
    }
    const lines = this.outcome?.stderr.split("\n").length ?? 1;
    const tab = document.getElementById("tab-Messages");
    if (tab) tab.textContent = lines > 1 ? `Messages (${lines - 1} lines)` : "Messages";
  }

  private async share(): Promise<void> {
    history.replaceState(null, "", `#${await encode(this.state())}`);
    await this.copy(location.href, "the address, which holds the program,");
  }

  private async copy(text: string, what: string): Promise<void> {
    const done = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    this.tell(done ? `${what} is copied` : `the browser does not let a page copy ${what}`, !done);
  }
}

/** An editor's name for those who hear the page. */
function named(label: string): Extension {
  return EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" });
}

function replace(view: EditorView, text: string): void {
  const { length } = view.state.doc;
  if (view.state.doc.toString() !== text) view.dispatch({ changes: { from: 0, to: length, insert: text } });
  LSPPlugin.get(view)?.client.sync();
}

const app = document.getElementById("app");
if (app) {
  new Page(app).start().catch((error: unknown) => {
    const status = document.getElementById("status");
    if (status) status.textContent = `cannot start: ${error}`;
  });
}
