// The module says what the native tools say: every command of the lit files that it can run, byte for byte.
//
//   FUSER_BIN=target/release node --test playground/page/tests/same.test.mjs

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
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

/** Reasons for which a command is left out: the module has no shell, no code generation and no host. */
const LEFT_OUT = [
  ["words that only a shell knows", /[$`<]|\bfor\b|^\(/],
  ["code generation", /--cpu|llvm|asm|ptx|emit=(artifact|llvm-ir|asm|ptx)|--device=(cpu|cuda)|FUSER_CUDA/],
  ["a target that is this machine's", /--target=cpu|--print-target|host|native/],
  ["a device of the system", /\/dev\/(?!null)/],
  ["time or place", /timing|--time|profile|watch|--version|timestamp|perfetto/],
];

/** What separates commands, outside of quotes. */
const outside = (separator) => new RegExp(`(?:${separator})(?=(?:[^'"]|'[^']*'|"[^"]*")*$)`);

/** The commands of a lit file in order: lines of `RUN:`, cut at `&&` and `;`. */
function commands(file) {
  const lines = [...readFileSync(file, "utf8").matchAll(/^.*?RUN:(.*)$/gm)].map((match) => match[1].trim());
  const found = [];
  for (let i = 0; i < lines.length; i++) {
    let line = lines[i];
    while (line.endsWith("\\") && i + 1 < lines.length) line = line.slice(0, -1) + lines[++i];
    // A loop or a group is one command of the shell.
    if (/\bfor\b|\(/.test(line)) found.push(line);
    else found.push(...line.split(outside("&&|;")));
  }
  return found.map((line) => line.trim()).filter((line) => line);
}

/** The tool and the arguments of a command; none where it calls no tool. */
function call(command) {
  const first = command
    .split(outside("\\|"))[0]
    .replace(/^(not (--crash )?)+/, "")
    .replace(/2?>&1|[12]?> ?\S+/g, "")
    .trim();
  const [tool] = first.split(/\s/);
  return TOOLS.includes(tool) ? { tool, args: words(first) } : null;
}

/** The files of a folder by their paths in it, without those of more than 1 MiB. */
function listing(folder) {
  const names = readdirSync(folder, { recursive: true }).map(String);
  const small = names.filter((name) => {
    const found = statSync(join(folder, name));
    return found.isFile() && found.size < 1 << 20;
  });
  return Object.fromEntries(small.map((name) => [name, new Uint8Array(readFileSync(join(folder, name)))]));
}

/** True if a folder has links, or folders without files, which the files of a page cannot be. */
function isOdd(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const empty = (entry) => entry.isDirectory() && readdirSync(join(entry.parentPath, entry.name)).length === 0;
  return entries.some((entry) => entry.isSymbolicLink() || empty(entry));
}

/**
 * Without the time of a run, the errors and bounds of a check (a reference takes `exp` of the system's library, which rounds its own
 * way), and the system's numbers of its errors.
 */
const steady = (text) =>
  text
    .replace(/\d+\.\d+ ms/g, "~ ms")
    .replace(/( (?:ok|FAILED) +)\S+ +\S+ +(?:\[[^\]]*\]|-)/g, "$1~")
    .replace(/\(os error \d+\)/g, "(os error)");

const all = readdirSync(join(root, "lit-tests"), { recursive: true }).map((name) => `lit-tests/${name}`);
const files = all.filter((name) => /\.(fir|mlir|py|test)$/.test(name) && !name.includes("/Inputs/")).sort();
const left = new Map();
const decoder = new TextDecoder();
let compared = 0;
let written = 0;

/** Runs a command as it is, for the files that it leaves. */
function shell(command, cwd) {
  const PATH = [bin, "/usr/lib/llvm-22/bin", process.env.PATH].join(":");
  spawnSync("bash", ["-c", command], { cwd, env: { PATH, FUSER_CACHE_DIR: "" }, input: "", timeout: 60_000 });
}

/** Runs a tool on the files of `cwd` as a module, then natively, and compares everything that both leave. */
function compare({ tool, args }, cwd) {
  const before = listing(cwd);
  const { exit, stdout, stderr, files: after } = new Process(module, args, before).run();
  const native = spawnSync(join(bin, tool), args.slice(1), { cwd, encoding: "utf8", env: {}, input: "" });
  const found = [exit, steady(stdout), steady(stderr)];
  assert.deepEqual(found, [native.status, steady(native.stdout), steady(native.stderr)]);
  for (const [name, bytes] of Object.entries(listing(cwd))) {
    if (before[name] && Buffer.compare(before[name], bytes) === 0) continue;
    assert.equal(steady(after[name] ?? `no ${name}`), steady(decoder.decode(bytes)), name);
    written++;
  }
}

test("lit commands", async (t) => {
  for (const name of files) {
    const path = join(root, name);
    const found = commands(path);
    if (!found.some((command) => TOOLS.some((tool) => command.includes(tool)))) continue;
    const cwd = mkdtempSync(join(tmpdir(), "fuser-same-"));
    for (const folder of [dirname(name), "examples"]) {
      for (const [near, bytes] of Object.entries(listing(join(root, folder)))) {
        mkdirSync(dirname(join(cwd, folder, near)), { recursive: true });
        writeFileSync(join(cwd, folder, near), bytes);
      }
    }
    for (const command of found) {
      const temporary = `${basename(name)}.tmp`;
      const told = command
        .replaceAll("%s", name)
        .replaceAll(/%[Sp]/g, dirname(name))
        .replaceAll("%t", temporary)
        .replaceAll("%%", "%");
      const asked = call(told);
      const [reason] = LEFT_OUT.find(([, pattern]) => pattern.test(told)) ?? [];
      const interprets = asked?.tool !== "fuser-run" || /--device=interp|--help|--list/.test(told);
      const odd = isOdd(cwd) ? "links and empty folders" : null;
      const why = reason ?? (interprets ? odd : "code generation");
      if (asked && !why) {
        await t.test(asked.args.join(" "), () => compare(asked, cwd));
        compared++;
      } else if (asked || TOOLS.some((tool) => told.includes(tool))) {
        const told = why ?? "words that only a shell knows";
        left.set(told, (left.get(told) ?? 0) + 1);
      }
      // What calls no tool, and what writes files.
      const writes = /[|>]|-o |-dir|split|--output|report/.test(told);
      if (!asked || writes) shell(told, cwd);
    }
    rmSync(cwd, { recursive: true });
  }
  console.log(
    `${compared} commands and ${written} files compared; left out: ${[...left].map(([why, n]) => `${n} (${why})`).join(", ")}`,
  );
  assert.ok(compared > 300, `${compared} commands`);
});
