// The page in a real browser: programs typed, every pass flag, links, the language server, the picture, keys, contrast.
//
//   FUSER_BIN=target/release node --test playground/page/tests/page.test.mjs
//
// Needs Chromium (`FUSER_CHROMIUM` names it, else the system's), the packages of `npm ci`, and what scripts/playground.sh builds.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, extname, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import axe from "axe-core";
import { chromium } from "playwright-core";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
const bin = resolve(process.env.FUSER_BIN ?? join(root, "target/debug"));
const site = join(root, "target/playground");
const places = [process.env.FUSER_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = places.find((path) => path && existsSync(path));
const folder = mkdtempSync(join(tmpdir(), "playground-"));
const KINDS = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };
/** Milliseconds in which a run of a small program is there; on a slow or loaded machine, a multiple of it. */
const RUN = 10_000 * Number(process.env.FUSER_SLOW ?? 1);

const server = createServer((request, response) => {
  const path = join(site, request.url === "/" ? "index.html" : new URL(request.url, "http://localhost").pathname);
  if (!existsSync(path)) return response.writeHead(404).end();
  response.writeHead(200, { "content-type": KINDS[extname(path)] ?? "text/plain" }).end(readFileSync(path));
});

let browser;
let address;
before(async () => {
  assert.ok(executablePath, "no Chromium");
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  address = `http://127.0.0.1:${server.address().port}/`;
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
});
after(async () => {
  await browser?.close();
  server.close();
});

async function open(at = "", options = {}) {
  const context = await browser.newContext({
    viewport: { width: 1400, height: 900 },
    permissions: ["clipboard-read", "clipboard-write"],
    ...options,
  });
  const page = await context.newPage();
  page.faults = [];
  page.on("pageerror", (error) => page.faults.push(String(error)));
  page.on("console", (message) => message.type() === "error" && page.faults.push(message.text()));
  await page.goto(address + at);
  await done(page);
  return page;
}

/** Waits for a run that began after the last change. */
async function done(page) {
  await page.waitForFunction(
    () => /^exit status|^cut short/.test(document.getElementById("status").textContent),
    null,
    { timeout: RUN },
  );
}

/** Replaces the program as somebody does who types, then the command; the text of both results. */
async function type(page, { tool, args, text }) {
  await page.selectOption("#tool", tool);
  await page.fill("#args", args);
  await page.click(".source .cm-content");
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
  await page.keyboard.press("Escape");
  await page.evaluate(() => (document.getElementById("status").textContent = "typed"));
  await page.keyboard.press("Control+Enter");
  await done(page);
  return results(page);
}

async function results(page) {
  const status = Number(/\d+/.exec(await page.textContent("#status"))[0]);
  await page.click("#copy");
  await page.waitForFunction(() => document.getElementById("status").textContent.endsWith("copied"));
  const output = await page.evaluate(() => navigator.clipboard.readText());
  await page.click("#tab-Messages");
  const messages = await page.textContent("#messages");
  await page.click("#tab-Output");
  return { output: steady(output), messages, status };
}

/** Without the time of a run. */
const steady = (text) => text.replace(/\d+\.\d+ ms/g, "~ ms");

/** The native tool on the same text. */
function native({ tool, args, text }) {
  writeFileSync(join(folder, "program.fir"), text);
  const split = args.split(" ").filter((arg) => arg);
  const run = spawnSync(join(bin, tool), ["program.fir", ...split], { cwd: folder, encoding: "utf8", env: {} });
  return { output: steady(run.stdout), messages: run.stderr, status: run.status };
}

const example = (name) => readFileSync(join(root, "examples", name), "utf8");

/** Programs as somebody types them: right ones, wrong ones, none. */
const TYPED = [
  ["fuser-opt", "", ""],
  ["fuser-opt", "", "task.program @f() {}"],
  [
    "fuser-opt",
    "--canonicalize",
    "task.program @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = fusion.exp %x\n  task.return %y\n}\n",
  ],
  [
    "fuser-opt",
    "--segment",
    "task.program @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = fusion.expp %x\n  task.return %z\n}\n",
  ],
  ["fuser-opt", "", "task.program @\u00e9t\u00e9(%\u03b1: tensor<3xf32>) -> tensor<3xf32> { task.return %\u03b1 }"],
  ["fuser-opt", "--no-such-pass", "module {}"],
  ["fuser-opt", "--print-op-generic", example("softmax.fir")],
  ["fuser-opt", "--preseg --segment --remat --schedule --lower", example("softmax.fir")],
  ["fuser-opt", "--segment --explain", example("issue_2473.fir")],
  ["fuser-opt", "--segment --stats -o /dev/null", example("rope.fir")],
  ["fuser-opt", "--preseg --segment --remat", example("layer_norm_backward.fir")],
  ["fuser-opt", "-p builtin.module(task.program(cse,dce)) --print-ir-after-all", example("dropout.fir")],
  ["fuser-opt", "--preseg --segment", example("models/gpt2_block_backward.fir")],
  ["fuser-opt", "--preseg --segment --remat --schedule", example("models/llama_block.fir")],
  ["fuser-opt", "--preseg --segment --schedule --target=h100", example("attention.fir")],
  [
    "fuser-opt",
    "--split-input-file --verify-diagnostics",
    "// expected-error@+1 {{expected}}\ntask.program\n// -----\nmodule {}\n",
  ],
  [
    "fuser-run",
    "--device=interp",
    "task.program @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = fusion.exp %x\n  task.return %y\n}\n",
  ],
  ["fuser-run", "--device=interp --shape=B=3,S=5,H=2", example("rope.fir")],
  ["fuser-run", "--device=interp --print=%y --shape=N=8", example("gelu.fir")],
  ["fuser-translate", "--emit=fir", example("mlp.mlir")],
  ["fuser-translate", "--emit=nvfuser", example("softmax.fir")],
  ["fuser-translate", "--emit=stablehlo", example("layer_norm.fir")],
].map(([tool, args, text]) => ({ tool, args, text }));

test("programs as they are typed", async (t) => {
  const page = await open();
  for (const state of TYPED) {
    await t.test(`${state.tool} ${state.args}`, async () => assert.deepEqual(await type(page, state), native(state)));
  }
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("every pass of the list", async (t) => {
  const page = await open();
  const text = example("softmax.fir");
  const passes = await page.$$eval("#passes option", (options) =>
    options.map((option) => option.value).filter((name) => name),
  );
  assert.ok(passes.length > 30, `${passes.length} passes`);
  for (const pass of passes) {
    await t.test(pass, async () => {
      await page.fill("#args", "");
      await page.selectOption("#passes", pass);
      const args = await page.inputValue("#args");
      assert.equal(args, `--${pass}`);
      const state = { tool: "fuser-opt", args, text };
      assert.deepEqual(await type(page, state), native(state));
    });
  }
  await page.context().close();
});

test("a link holds program and command", async () => {
  const state = { tool: "fuser-opt", args: "--segment", text: example("rope.fir") + "// \u00e9 \u{1f600}\n" };
  const page = await open();
  await type(page, state);
  await page.click("#share");
  await page.waitForFunction(() => location.hash.length > 1);
  const hash = await page.evaluate(() => location.hash);
  const other = await open(hash);
  assert.deepEqual(await results(other), native(state));
  assert.equal(await other.inputValue("#args"), state.args);
  const damaged = await open(`#${hash.slice(1, -40)}`);
  assert.equal((await results(damaged)).status, 0);
  for (const one of [page, other, damaged]) await one.context().close();
});

test("the language server tells errors, completes, hovers and colours", async () => {
  const page = await open();
  await type(page, TYPED[3]);
  await page.waitForSelector(".source .cm-lintRange-error");
  await type(page, TYPED[2]);
  await page.waitForFunction(() => !document.querySelector(".source .cm-lintRange-error"));
  await page.waitForSelector(".source .tok-keyword");
  await page.hover(".source .tok-keyword:has-text('fusion.exp')");
  await page.waitForSelector(".cm-lsp-hover-tooltip, .cm-tooltip-hover");
  assert.match(await page.textContent(".cm-tooltip-hover"), /exp/);
  await page.mouse.move(0, 0);
  await page.focus(".source .cm-content");
  await page.keyboard.press("Control+End");
  await page.keyboard.type("\n// end\ntask.pro");
  await page.waitForSelector(".cm-tooltip-autocomplete");
  assert.match(await page.textContent(".cm-tooltip-autocomplete"), /task\.program/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("lenses over programs and segments have their bytes", async () => {
  const page = await open();
  const state = { tool: "fuser-opt", args: "--segment", text: example("rope.fir") };
  await type(page, state);
  writeFileSync(join(folder, "program.fir"), state.text);
  const args = ["program.fir", "--segment", "-o", "/dev/null", "--report=json:report.json"];
  spawnSync(join(bin, "fuser-opt"), args, { cwd: folder, env: {} });
  const report = JSON.parse(readFileSync(join(folder, "report.json"), "utf8"));
  const number = (bytes) => (typeof bytes === "number" ? bytes.toLocaleString("en-US") : bytes);
  const bytes = (one) => `reads ${number(one.read_bytes)} bytes, writes ${number(one.write_bytes)} bytes`;
  const told = async (editor, count) => {
    const places = page.locator(`${editor} .lens`);
    await page.waitForFunction(
      ([at, least]) => document.querySelectorAll(`${at} .lens`).length >= least,
      [editor, count],
      { timeout: RUN },
    );
    return places.allTextContents();
  };
  const [whole] = await told(".source", 1);
  assert.ok(whole.includes(bytes(report)), whole);
  await page.click("#tab-Output");
  const drawn = await told(".results", 1 + report.segments.length);
  for (const segment of report.segments)
    assert.ok(
      drawn.some((text) => text.includes(bytes(segment))),
      drawn.join("\n"),
    );
  // Lenses stay where they are while somebody types, and follow what is typed.
  await page.click(".source .cm-content");
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("// one line more\n");
  await page.waitForFunction(() => {
    const lens = document.querySelector(".source .lens");
    return lens?.nextElementSibling?.textContent.includes("task.program");
  });
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("names are text, never markup", async () => {
  const name = '<img src=x onerror="document.title=1">';
  const page = await open();
  await type(page, {
    tool: "fuser-opt",
    args: "",
    text: `task.program @"${name.replaceAll('"', "'")}"(%x: tensor<4xf32>) -> tensor<4xf32> { task.return %x }`,
  });
  await page.waitForSelector(".source .tok-function");
  await page.hover(".source .tok-function");
  await page.waitForTimeout(1000);
  assert.equal(await page.$("img"), null);
  assert.notEqual(await page.title(), "1");
  await page.context().close();
});

test("the picture of the program", async () => {
  const page = await open();
  await page.click("#tab-Picture");
  const frame = page.frameLocator("#picture");
  await frame.locator("svg.graph").waitFor();
  assert.match(await frame.locator("#app").textContent(), /softmax/);
  await page.context().close();
});

test("a run that is stopped, and one that follows", async () => {
  const page = await open();
  const chain = Array.from({ length: 4000 }, (_, i) => `  %x${i + 1} = fusion.exp %x${i}\n`).join("");
  const long = `task.program @f(%x0: tensor<4xf32>) -> tensor<4xf32> {\n${chain}  task.return %x4000\n}\n`;
  await page.fill("#args", "--segment --remat --schedule");
  await page.click(".source .cm-content");
  await page.keyboard.press("Control+a");
  // Pasted: a browser inserts typed text a line at a time.
  await page.evaluate((text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    const event = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
    document.querySelector(".source .cm-content").dispatchEvent(event);
  }, long);
  await page.keyboard.press("Control+Enter");
  await page.click("#stop");
  assert.equal(await page.textContent("#status"), "stopped");
  assert.deepEqual(await type(page, TYPED[2]), native(TYPED[2]));
  await page.context().close();
});

for (const colorScheme of ["light", "dark"]) {
  test(`contrast and names, ${colorScheme}`, async () => {
    const page = await open("", { colorScheme });
    await page.waitForSelector(".source .tok-keyword");
    await page.evaluate(axe.source);
    for (const tab of ["Output", "Messages"]) {
      await page.click(`#tab-${tab}`);
      const { violations } = await page.evaluate(() => window.axe.run());
      assert.deepEqual(
        violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html)]),
        [],
      );
    }
    if (process.env.FUSER_SCREENSHOTS) {
      await page.click("#tab-Output");
      await page.screenshot({ path: join(process.env.FUSER_SCREENSHOTS, `playground-${colorScheme}.png`) });
    }
    await page.context().close();
  });
}
