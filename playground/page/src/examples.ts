// Programs to begin with: those of the repository's examples, each with a command that shows something.

import type { State } from "./link";

const texts: Record<string, string> = import.meta.glob(
  ["../../../examples/*.{fir,mlir}", "../../../examples/models/*.fir"],
  {
    query: "?raw",
    import: "default",
    eager: true,
  },
);

/** A command of each tool that shows something of most programs. */
export const USUAL: Record<string, string> = {
  "fuser-opt": "--preseg --segment",
  "fuser-run": "--device=interp",
  "fuser-translate": "--emit=fir",
};

/** The commands of examples for which `fuser-opt` with its usual one shows little. */
const COMMANDS: Record<string, Omit<State, "text">> = {
  "gelu.fir": { tool: "fuser-run", args: "--device=interp --shape=N=8 --print=%y" },
  "mlp.mlir": { tool: "fuser-translate", args: "--emit=fir" },
  "softmax.fir": { tool: "fuser-opt", args: "--preseg --segment --remat --schedule" },
};

export const EXAMPLES: Map<string, State> = new Map(
  Object.entries(texts).map(([path, text]) => {
    const name = path.split("/examples/")[1];
    const command = COMMANDS[name] ?? { tool: "fuser-opt", args: USUAL["fuser-opt"] };
    return [name, { ...command, text }];
  }),
);
