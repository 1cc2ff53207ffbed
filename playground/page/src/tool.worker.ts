// Runs tools, one after the other. The page ends the worker to stop a run.

import { Process } from "./wasi";

export interface Job {
  args: string[];
  files: Record<string, string>;
}

let module: WebAssembly.Module;

addEventListener("message", ({ data }: MessageEvent<WebAssembly.Module | Job>) => {
  if (data instanceof WebAssembly.Module) module = data;
  else postMessage(new Process(module, data.args, data.files).run());
});
