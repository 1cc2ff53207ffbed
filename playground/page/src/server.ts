// The editor's side of the language server.

import { LSPClient, languageServerExtensions, type Transport } from "@codemirror/lsp-client";
import ServerWorker from "./server.worker?worker";

/** Elements that Markdown makes of what the server says. */
const KEPT = new Set(
  "A B BLOCKQUOTE BR CODE DIV EM H1 H2 H3 H4 HR I LI OL P PRE SPAN STRONG TABLE TBODY TD TH THEAD TR UL".split(" "),
);

/** Milliseconds that an answer may take: lenses of a large program wait for its segments. */
const PATIENCE = 60_000;

/** Markup without anything that runs or loads: names in programs are the input of strangers. */
function harmless(html: string): string {
  const { body } = new DOMParser().parseFromString(html, "text/html");
  for (const element of [...body.querySelectorAll("*")]) {
    if (!KEPT.has(element.tagName)) element.replaceWith(element.textContent ?? "");
    else for (const { name } of [...element.attributes]) if (name !== "class") element.removeAttribute(name);
  }
  return body.innerHTML;
}

function transport(worker: Worker): Transport {
  const handlers = new Map<(message: string) => void, (event: MessageEvent<string>) => void>();
  return {
    send: (message) => worker.postMessage(message),
    subscribe(handler) {
      const listener = ({ data }: MessageEvent<string>): void => handler(data);
      handlers.set(handler, listener);
      worker.addEventListener("message", listener);
    },
    unsubscribe(handler) {
      const listener = handlers.get(handler);
      if (listener) worker.removeEventListener("message", listener);
      handlers.delete(handler);
    },
  };
}

/** A client that is connected; to a new server whenever one has failed. */
export function connect(module: WebAssembly.Module): LSPClient {
  const client = new LSPClient({
    sanitizeHTML: harmless,
    extensions: languageServerExtensions(),
    timeout: PATIENCE,
  });
  const begin = (): void => {
    const worker = new ServerWorker();
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      worker.terminate();
      client.disconnect();
      begin();
    });
    worker.postMessage(module);
    client.connect(transport(worker));
  };
  begin();
  return client;
}
