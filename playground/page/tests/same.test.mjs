// The module says what the native tools say: every command of the lit files that it can run, byte for byte.
//
//   FUSER_BIN=target/release node --test playground/page/tests/same.test.mjs

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createServer } from "vite";

const page = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const root = resolve(page, "../..");
const bin = resolve(process.env.FUSER_BIN ?? join(root, "target/debug"));
const TOOLS = ["fuser-opt", "fuser-run", "fuser-translate"];

const vite = await createServer({
  root: page,
  server: { middlewareMode: true, ws: false },
  logLevel: "error",
  appType: "custom",
});
after(() => vite.close());
const { Process } = await vite.ssrLoadModule("/src/wasi.ts");
const { words } = await vite.ssrLoadModule("/src/words.ts");
const module = await WebAssembly.compile(readFileSync(join(root, "target/playground/fuser.wasm")));

/** Reasons for which a command is left out: the module has no shell, no files of other commands, no code generation and no host. */
const LEFT_OUT = [
  ["files or text of other commands", /%t|%\{|[$`<]|\bfor\b|>(?!&1| ?\/dev\/null)/],
  ["code generation", /--cpu|llvm|asm|ptx|emit=(artifact|llvm-ir|asm|ptx)|--device=(cpu|cuda)/],
  ["a target that is this machine's", /--target=cpu|--print-target|host|native/],
  ["a device of the system", /\/dev\/full/],
  ["time or place", /timing|--time|profile|watch|--version|\.tmp|timestamp/],
];

function* commands(file) {
  const text = readFileSync(file, "utf8");
  const lines = [...text.matchAll(/^.*?RUN:(.*)$/gm)].map((match) => match[1].trim());
  for (let i = 0; i < lines.length; i++) {
    let line = lines[i];
    while (line.endsWith("\\") && i + 1 < lines.length) line = line.slice(0, -1) + lines[++i];
    for (const part of line.split(/\|\||&&|[|;]/)) {
      const command = part
        .trim()
        .replace(/^\(|\)$/g, "")
        .replace(/^(not (--crash )?)+/, "")
        .trim();
      const [tool] = command.split(/\s/);
      if (TOOLS.includes(tool) && command.includes("%s")) yield { tool, command };
    }
  }
}

/** The files beside a lit file, as text by their paths from the root. */
function around(file) {
  const folder = dirname(file);
  const near = readdirSync(folder).map((name) => join(folder, name));
  const small = near.filter((path) => statSync(path).isFile() && statSync(path).size < 1 << 20);
  return Object.fromEntries(small.map((path) => [relative(root, path), readFileSync(path, "utf8")]));
}

/** Without the time of a run, and the bound of a check: a reference takes `exp` of the system's library, which rounds its own way. */
const steady = (text) => text.replace(/\d+\.\d+ ms/g, "~ ms").replace(/( (?:ok|FAILED) +\S+ +)\d\S+/g, "$1~");

const all = readdirSync(join(root, "lit-tests"), { recursive: true }).map((name) => `lit-tests/${name}`);
const files = all.filter((name) => /\.(fir|mlir|py|test)$/.test(name)).sort();
const left = new Map();
let compared = 0;

test("lit commands", async (t) => {
  for (const name of files) {
    const path = join(root, name);
    const beside = around(path);
    for (const { tool, command } of commands(path)) {
      const [reason] = LEFT_OUT.find(([, pattern]) => pattern.test(command)) ?? [];
      const interprets = tool !== "fuser-run" || /--device=interp|--help|--list/.test(command);
      const why = reason ?? (interprets ? null : "code generation");
      if (why) {
        left.set(why, (left.get(why) ?? 0) + 1);
        continue;
      }
      const plain = command.replace(/2?>&1|2?> ?\/dev\/null/g, "");
      const args = words(plain).map((word) =>
        word.replaceAll("%s", name).replaceAll("%S", dirname(name)).replaceAll("%p", dirname(name)),
      );
      await t.test(args.join(" "), () => {
        const native = spawnSync(join(bin, tool), args.slice(1), { cwd: root, encoding: "utf8", env: {}, input: "" });
        const { exit, stdout, stderr } = new Process(module, args, beside).run();
        assert.deepEqual([exit, steady(stdout), stderr], [native.status, steady(native.stdout), native.stderr]);
      });
      compared++;
    }
  }
  console.log(`${compared} commands compared; left out: ${[...left].map(([why, n]) => `${n} (${why})`).join(", ")}`);
  assert.ok(compared > 300, `${compared} commands`);
});
