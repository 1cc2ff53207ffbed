// Colours by the language server's semantic tokens; of comments by themselves, which the server leaves to editors.

import { LSPPlugin } from "@codemirror/lsp-client";
import { RangeSetBuilder, StateEffect } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";

const COLORED = StateEffect.define<DecorationSet>();

/** Milliseconds after the last change. */
const PAUSE = 60;

async function colors(plugin: LSPPlugin, view: EditorView): Promise<DecorationSet> {
  plugin.client.sync();
  const { doc } = view.state;
  const params = { textDocument: { uri: plugin.uri } };
  const types = plugin.client.serverCapabilities?.semanticTokensProvider?.legend.tokenTypes ?? [];
  const { data } = await plugin.client.request<typeof params, { data: number[] }>(
    "textDocument/semanticTokens/full",
    params,
  );
  const marks: [number, number, string][] = [];
  for (let i = 0, line = 0, column = 0; i + 4 < data.length; i += 5) {
    column = data[i] === 0 ? column + data[i + 1] : data[i + 1];
    line += data[i];
    if (line >= doc.lines) break;
    const from = doc.line(line + 1).from + column;
    marks.push([from, Math.min(from + data[i + 2], doc.length), `tok-${types[data[i + 3]]}`]);
  }
  for (let i = 1; i <= doc.lines; i++) {
    const { from, text } = doc.line(i);
    const at = text.indexOf("//");
    if (at >= 0 && (text.slice(0, at).match(/"/g) ?? []).length % 2 === 0)
      marks.push([from + at, from + text.length, "tok-comment"]);
  }
  marks.sort((a, b) => a[0] - b[0]);
  const builder = new RangeSetBuilder<Decoration>();
  for (const [from, to, name] of marks) if (from < to) builder.add(from, to, Decoration.mark({ class: name }));
  return builder.finish();
}

export const semanticColors = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet = Decoration.none;
    private waiting: ReturnType<typeof setTimeout> | undefined;

    constructor(private readonly view: EditorView) {
      this.soon();
    }
    update(update: ViewUpdate): void {
      for (const effect of update.transactions.flatMap((one) => one.effects))
        if (effect.is(COLORED)) this.decorations = effect.value;
      if (!update.docChanged) return;
      this.decorations = this.decorations.map(update.changes);
      this.soon();
    }
    destroy(): void {
      clearTimeout(this.waiting);
    }
    private soon(): void {
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => void this.color(), PAUSE);
    }
    private async color(): Promise<void> {
      const plugin = LSPPlugin.get(this.view);
      if (!plugin) return;
      await plugin.client.initializing;
      const { doc } = this.view.state;
      // A newer text asks again.
      const found = await colors(plugin, this.view).catch(() => null);
      if (found && doc === this.view.state.doc) this.view.dispatch({ effects: COLORED.of(found) });
    }
  },
  { decorations: (plugin) => plugin.decorations },
);
