// The language server. It finds the bytes of segments once nobody has typed for a while.

import { frame, unframe } from "./frames";
import { Process } from "./wasi";

/** Longer than most pauses between two keystrokes, in milliseconds; as fuser-lsp has it. */
const PAUSE = 400;

let server: Process;
let waiting: ReturnType<typeof setTimeout> | undefined;

const send = (bytes: Uint8Array): void => unframe(bytes).forEach((message) => postMessage(message));

addEventListener("message", ({ data }: MessageEvent<WebAssembly.Module | string>) => {
  if (data instanceof WebAssembly.Module) {
    server = new Process(data);
    return;
  }
  send(server.answer(frame(data)));
  clearTimeout(waiting);
  waiting = setTimeout(() => send(server.costs()), PAUSE);
});
