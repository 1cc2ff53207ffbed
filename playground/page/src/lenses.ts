// Lines above programs and segments with their bytes: the language server's lenses.

import { LSPPlugin } from "@codemirror/lsp-client";
import { type EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate, WidgetType } from "@codemirror/view";
import { h } from "../../../explorer/src/dom";

/** Milliseconds without a change after which lenses are asked for. */
const PAUSE = 300;

interface Lens {
  range: { start: { line: number; character: number } };
  command?: { title: string };
}

class Line extends WidgetType {
  constructor(
    private readonly text: string,
    private readonly indent: string,
  ) {
    super();
  }
  eq(other: Line): boolean {
    return other.text === this.text && other.indent === this.indent;
  }
  toDOM(): HTMLElement {
    return h("div", { class: "lens" }, this.indent, h("span", { class: "lens-text" }, this.text));
  }
  get estimatedHeight(): number {
    return 18;
  }
}

const FOUND = StateEffect.define<DecorationSet>();

/** Widgets of a height of their own, which only a field of the state may give. */
const field = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(shown, transaction) {
    for (const effect of transaction.effects) if (effect.is(FOUND)) return effect.value;
    return shown.map(transaction.changes);
  },
  provide: (self) => EditorView.decorations.from(self),
});

function decorations(state: EditorState, lenses: Lens[]): DecorationSet {
  const lines = lenses
    .filter((lens) => lens.command && lens.range.start.line < state.doc.lines)
    .map((lens) => {
      const line = state.doc.line(lens.range.start.line + 1);
      const indent = /^\s*/.exec(line.text)?.[0] ?? "";
      const widget = new Line(lens.command?.title ?? "", indent);
      return Decoration.widget({ widget, block: true, side: -1 }).range(line.from);
    });
  return Decoration.set(lines, true);
}

const asking = ViewPlugin.fromClass(
  class {
    private waiting: ReturnType<typeof setTimeout> | undefined;

    constructor(private readonly view: EditorView) {
      this.soon();
    }
    update(update: ViewUpdate): void {
      if (update.docChanged) this.soon();
    }
    destroy(): void {
      clearTimeout(this.waiting);
    }
    private soon(): void {
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => void this.ask(), PAUSE);
    }
    private async ask(): Promise<void> {
      const plugin = LSPPlugin.get(this.view);
      if (!plugin) return;
      const { client } = plugin;
      await client.initializing;
      const { doc } = this.view.state;
      client.sync();
      const params = { textDocument: { uri: plugin.uri } };
      // Nothing is told of an outdated text: the newer one asks again.
      const found = await client.request<object, Lens[] | null>("textDocument/codeLens", params).catch(() => null);
      if (doc !== this.view.state.doc) return;
      this.view.dispatch({ effects: FOUND.of(decorations(this.view.state, found ?? [])) });
    }
  },
);

export const lenses = [field, asking];
