// Runs of tools, one at a time: a newer one ends an older.

import type { Job } from "./tool.worker";
import ToolWorker from "./tool.worker?worker";
import { type Outcome, TRAPPED } from "./wasi";

export class Runner {
  private worker: Worker | null = null;
  private cancel: (() => void) | null = null;

  constructor(private readonly module: WebAssembly.Module) {}

  /** The outcome; none if the run was stopped. */
  async run(job: Job): Promise<Outcome | null> {
    this.stop();
    const worker = (this.worker ??= this.begin());
    const outcome = await new Promise<Outcome | null>((resolve) => {
      this.cancel = () => resolve(null);
      worker.onmessage = ({ data }: MessageEvent<Outcome>) => resolve(data);
      worker.onerror = (event) => {
        event.preventDefault();
        this.end();
        resolve({ exit: null, stdout: "", stderr: TRAPPED, files: {} });
      };
      worker.postMessage(job);
    });
    if (outcome) this.cancel = null;
    return outcome;
  }

  /** Ends the run that goes on, if one does. */
  stop(): void {
    if (!this.cancel) return;
    this.end();
    this.cancel();
    this.cancel = null;
  }

  private begin(): Worker {
    const worker = new ToolWorker();
    worker.postMessage(this.module);
    return worker;
  }

  private end(): void {
    this.worker?.terminate();
    this.worker = null;
  }
}
