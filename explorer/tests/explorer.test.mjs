// The page in a real browser: loading, folding, search, the slider, keys, dark and light, contrast.
//
//   FUSER_BIN=target/release node --test explorer/tests/explorer.test.mjs
//
// Needs Chromium (`FUSER_CHROMIUM` names it, else the system's) and the packages of `npm ci`.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import axe from "axe-core";
import { chromium } from "playwright-core";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const bin = resolve(process.env.FUSER_BIN ?? join(root, "target/debug"));
const places = [process.env.FUSER_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = places.find((path) => path && existsSync(path));
const folder = mkdtempSync(join(tmpdir(), "explorer-"));
const at = (name) => join(folder, name);

/** Milliseconds in which a page of 15,000 ops is there; on a slow or loaded machine, a multiple of it. */
const OPENED = 2000 * Number(process.env.FUSER_SLOW ?? 1);
/** Milliseconds of one fold. */
const FOLDED = 500 * Number(process.env.FUSER_SLOW ?? 1);

const tool = (name, args) => execFileSync(join(bin, name), args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });

/** A chain of blocks, each of ten ops with a boundary behind it. */
function large(ops) {
  const lines = ["task.program @large(%x0: tensor<64x32xf32>) -> tensor<64x32xf32> {"];
  const blocks = Math.ceil(ops / 10);
  for (let i = 0; i < blocks; i++) {
    lines.push(
      `  %a${i} = fusion.exp %x${i}`,
      `  %s${i} = fusion.sum %a${i} dims [1]`,
      `  %b${i} = fusion.broadcast %s${i} dims [0] shape [64, 32]`,
    );
    lines.push(
      `  %d${i} = fusion.div %a${i}, %b${i}`,
      `  %e${i} = fusion.tanh %d${i}`,
      `  %f${i} = fusion.mul %e${i}, %a${i}`,
      `  %g${i} = fusion.sub %f${i}, %d${i}`,
    );
    lines.push(
      `  %h${i} = fusion.abs %g${i}`,
      `  %i${i} = fusion.add %h${i}, %e${i}`,
      `  %x${i + 1} = fusion.segment_set %i${i}`,
    );
  }
  return [...lines, `  task.return %x${blocks}`, "}", ""].join("\n");
}

/** Many arguments and results of one kernel. */
function wide(count) {
  const each = (text) => Array.from({ length: count }, (_, i) => text(i)).join(", ");
  const ops = Array.from({ length: count }, (_, i) => `  %y${i} = fusion.exp %x${i}\n`).join("");
  return `task.program @a_program_with_a_long_name(${each((i) => `%x${i}: tensor<8xf32>`)}) -> (${each(() => "tensor<8xf32>")}) {\n${ops}  task.return ${each((i) => `%y${i}`)}\n}\n`;
}

let browser;
before(async () => {
  assert.ok(executablePath, "no Chromium");
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  tool("fuser-run", [
    join(root, "examples/softmax.fir"),
    "--repeat=1",
    `--report=html:${at("softmax.html")}`,
    `--report=json:${at("softmax.json")}`,
  ]);
  const passes = ["--preseg", "--segment", "--remat", "--schedule", "-o", "/dev/null"];
  const models = join(root, "examples/models");
  tool("fuser-opt", [
    join(models, "gpt2_block_backward.fir"),
    ...passes,
    `--report=html:${at("block.html")}`,
    `--report=json:${at("block.json")}`,
    `--explain=json:${at("explain.json")}`,
  ]);
  tool("fuser-opt", [
    join(models, "gpt2_block_backward.fir"),
    ...["--preseg", "--segment", "--remat", "-o", "drawn.fir", `--report=html:${at("drawn.html")}`],
  ]);
  tool("fuser-opt", ["drawn.fir", "-o", "/dev/null", `--explain=json:${at("drawn.json")}`]);
  tool("fuser-opt", [
    join(root, "examples/softmax.fir"),
    ...["--segment", "-o", "/dev/null", "--target=h100"],
    `--report=html:${at("gpu.html")}`,
    `--report=json:${at("gpu.json")}`,
  ]);
  writeFileSync(at("large.fir"), large(15_000));
  tool("fuser-opt", ["large.fir", "--segment", "-o", "/dev/null", `--report=html:${at("large.html")}`]);
  tool("fuser-opt", ["large.fir", "--cse", "-o", "/dev/null", `--report=html:${at("flat.html")}`]);
  writeFileSync(at("wide.fir"), wide(30));
  tool("fuser-opt", ["wide.fir", "--segment", "-o", "/dev/null", `--report=html:${at("wide.html")}`]);
  const placed = readFileSync(join(root, "examples/softmax.fir"), "utf8");
  writeFileSync(
    at("placed.fir"),
    placed.replace(/^( *%(\w+) +=.*)$/gm, (_, text, name) => {
      const own = name === "y" ? 9 : 3;
      return `${text} loc(callsite("own.py":${own}:1 at "model.py":7:1))`;
    }),
  );
  tool("fuser-opt", ["placed.fir", ...passes, `--report=html:${at("placed.html")}`]);
  const name = "</script><img src=x onerror=hit()>";
  writeFileSync(
    at("hostile.fir"),
    `task.program @"${name}"(%x: f32) -> f32 {\n  %y = fusion.exp %x loc("${name}":1:1)\n  task.return %y\n}\n`,
  );
  tool("fuser-opt", ["hostile.fir", "--segment", "-o", "/dev/null", `--report=html:${at("hostile.html")}`]);
});
after(() => browser?.close());

async function open(name, options = {}, hash = "") {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, ...options });
  const faults = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on(
    "request",
    (request) =>
      request.url().startsWith("file:") ||
      request.url().startsWith("data:") ||
      faults.push(`asks for ${request.url()}`),
  );
  const start = Date.now();
  await page.goto(`file://${at(name)}${hash}`);
  await page.waitForSelector(hash ? "main > *" : ".card");
  return { page, faults, took: Date.now() - start };
}

const json = (name) => JSON.parse(readFileSync(at(name), "utf8"));
const cards = (page) => page.locator(".card").count();
const card = (label) => `.card[data-label="${label}"]`;

test("a run shows the numbers of its report", async () => {
  const { page, faults } = await open("softmax.html");
  const report = json("softmax.json");
  const field = async (name) => Number(await page.locator(`.side [data-field="${name}"]`).getAttribute("data-value"));
  for (const name of ["read_bytes", "write_bytes", "total_bytes", "crossing_bytes", "peak_bytes"])
    assert.equal(await field(name), report[name], name);
  await page
    .locator(card("@s0"))
    .first()
    .click({ position: { x: 60, y: 12 } });
  for (const name of ["read_bytes", "write_bytes"]) assert.equal(await field(name), report.segments[0][name], name);
  assert.equal(await page.title(), "@softmax · Fuser");
  assert.deepEqual(faults, []);
});

test("tables, wires and decisions have the numbers of the reports", async () => {
  const { page, faults } = await open("block.html");
  const [report, explain] = [json("block.json"), json("explain.json")];
  await page.keyboard.press("2");
  for (const segment of report.segments) {
    const row = page.locator(`tr[data-segment="${segment.name}"]`);
    assert.equal(await row.locator('[data-field="label"]').textContent(), segment.label);
    for (const name of ["read_bytes", "write_bytes"])
      assert.equal(await row.locator(`[data-field="${name}"]`).getAttribute("data-value"), String(segment[name]));
  }
  await page.keyboard.press("3");
  const shown = await page
    .locator("article[data-cut]")
    .evaluateAll((list) => list.map((one) => [one.dataset.cut, Number(one.dataset.bytes)]));
  const expected = explain.cuts
    .map((cut) => [`${cut.from} ${cut.to}`, cut.bytes])
    .sort((a, b) => b[1] - a[1])
    .slice(0, 100);
  assert.deepEqual(shown, expected);
  await page.keyboard.press("1");
  const wires = await page.locator(".wire[data-bytes]").evaluateAll((list) =>
    list.map((one) => ({
      from: document.getElementById(`item-${one.dataset.from}`).dataset.label,
      to: document.getElementById(`item-${one.dataset.to}`).dataset.label,
      bytes: Number(one.dataset.bytes),
    })),
  );
  for (const wire of wires.filter((one) => /^@\w+$/.test(one.from) && /^@\w+$/.test(one.to))) {
    const crossing = report.crossing.filter((one) => `@${one.from}` === wire.from && `@${one.to}` === wire.to);
    assert.equal(
      wire.bytes,
      crossing.reduce((sum, one) => sum + one.bytes, 0),
      `${wire.from} ${wire.to}`,
    );
  }
  assert.deepEqual(faults, []);
});

const near = (actual, expected) => assert.ok(Math.abs(actual / expected - 1) < 1e-9, `${actual}, not ${expected}`);

test("the roofline has the operations, bytes and times of the report", async () => {
  for (const [name, timed] of [
    ["softmax", true],
    ["block", false],
    ["gpu", false],
  ]) {
    const { page, faults } = await open(`${name}.html`);
    const report = json(`${name}.json`);
    await page.keyboard.press("6");
    const value = (row, field) => row.locator(`[data-field="${field}"]`).getAttribute("data-value").then(Number);
    let points = 0;
    for (const segment of report.segments) {
      const bytes = segment.read_bytes + segment.write_bytes;
      const row = page.locator(`main tr[data-segment="${segment.name}"]`);
      if (!segment.operations || bytes === 0) {
        assert.equal(await row.count(), 0, segment.name);
        continue;
      }
      points++;
      // A run draws sweeps; a report from shapes has the model's time.
      assert.equal("model_ns" in segment, !timed, segment.name);
      const ms = timed ? segment.time_ms : segment.model_ns / 1e6;
      assert.equal(await value(row, "operations"), segment.operations);
      near(await value(row, "intensity"), segment.operations / bytes);
      near(await value(row, "rate"), (segment.operations / ms) * 1000);
      const point = page.locator(`.point[data-segment="${segment.name}"]`);
      near(Number(await point.getAttribute("data-rate")), (segment.operations / ms) * 1000);
    }
    assert.ok(points > 0);
    assert.equal(await page.locator(".point").count(), points);
    const roof = (of) => page.locator(`[data-roof="${of}"]`).getAttribute("data-value").then(Number);
    assert.equal(await roof("memory"), report.roofs.bytes_per_s);
    assert.equal(await roof("arithmetic"), report.roofs.operations_per_s);
    assert.equal(await page.locator('[data-roof="copy"]').count(), timed ? 1 : 0);
    // Roofs and points have one scale: what the model predicts lies below them.
    if (!timed) {
      const floats = await page
        .locator(".point")
        .evaluateAll((list) => list.map((one) => [Number(one.dataset.intensity), Number(one.dataset.rate)]));
      const { bytes_per_s, operations_per_s } = report.roofs;
      for (const [intensity, rate] of floats)
        assert.ok(rate <= Math.min(operations_per_s, bytes_per_s * intensity) * 1.001, `${name}: ${rate}`);
    }
    assert.deepEqual(faults, []);
  }
});

test("a point of the roofline leads to its kernel, by mouse and by keys", async () => {
  const { page, faults } = await open("block.html");
  await page.keyboard.press("6");
  const point = page.locator(".point").nth(2);
  const name = await point.getAttribute("data-segment");
  await point.click({ force: true });
  assert.equal(await page.locator(".card.selected").getAttribute("data-label"), `@${name}`);
  await page.keyboard.press("6");
  await page.locator(".roofline").focus();
  await page.keyboard.press("End");
  await page.keyboard.press("ArrowLeft");
  const chosen = await page.locator('.point[aria-selected="true"]').getAttribute("data-segment");
  assert.ok((await page.locator(".told").textContent()).startsWith(`@${chosen} `));
  await page.keyboard.press("Enter");
  assert.equal(await page.locator(".card.selected").getAttribute("data-label"), `@${chosen}`);
  assert.deepEqual(faults, []);
});

/** The data of a page. */
const data = async (page) => JSON.parse(await page.locator("#data").textContent());

test("an edge tells what its segments would cost as one, as --explain does", async () => {
  const { page, faults } = await open("drawn.html");
  const told = (await data(page)).modules[0].programs[0].what_if;
  const explain = json("drawn.json");
  assert.equal(told.unasked_edges + told.unasked_segments, 0);
  const order = (list) => [...list].sort((a, b) => (`${a.from} ${a.to}` < `${b.from} ${b.to}` ? -1 : 1));
  // Text gives names to values that have none.
  const unnamed = (list) => JSON.parse(JSON.stringify(list).replace(/%_(\d+)(_\d+)*/g, "%$1"));
  assert.deepEqual(order(unnamed(told.edges)), order(unnamed(explain.cuts)));
  assert.ok(told.edges.length > 3);
  const kinds = new Set();
  for (const cut of told.edges) {
    await page.keyboard.press("/");
    await page.keyboard.press("Control+a");
    await page.keyboard.type(`@${cut.from}`);
    await page.keyboard.press("Enter");
    await page.locator("svg.graph").focus();
    assert.equal(await page.locator(".side h2").textContent(), `@${cut.from}`);
    const more = page.locator(".side details:not([open]):has([data-edge]) > summary");
    if ((await more.count()) > 0) await more.click();
    await page.locator(`.side [data-edge="${cut.from} ${cut.to}"]`).first().click();
    assert.equal(await page.locator(".side h2").textContent(), `@${cut.from} → @${cut.to}`);
    for (const side of ["apart", "together"]) {
      const cost = cut.why[side];
      for (const field of ["read_bytes", "write_bytes", "kernels", "launches", "time_ns"]) {
        const cell = page.locator(`.side [data-side="${side}"][data-field="${field}"]`);
        if (cost) assert.equal(Number(await cell.getAttribute("data-value")), cost[field], `${side} ${field}`);
        else assert.equal(await cell.count(), 0);
      }
    }
    if (!cut.why.together) assert.ok((await page.locator(".side").textContent()).includes(cut.why.refused.words));
    kinds.add(cut.why.together ? "price" : "refusal");
    // Who came from a link stays in the details.
    assert.ok(await page.evaluate(() => document.activeElement.matches(".side")));
  }
  assert.equal(kinds.size, 2, [...kinds].join(", "));
  assert.deepEqual(faults, []);
});

test("edges open by a click on a wire and by a key", async () => {
  const { page, faults } = await open("drawn.html");
  const heading = page.locator(".side h2");
  await page.locator(".hit").first().dispatchEvent("click");
  assert.match(await heading.textContent(), /^@\w+ → @\w+$/);
  assert.equal(await page.locator(".wire.chosen").count(), 1);
  await page
    .locator(card("@s0"))
    .first()
    .click({ position: { x: 60, y: 12 }, force: true });
  await page.locator("svg.graph").focus();
  const seen = new Set();
  for (let i = 0; i < 3; i++) {
    await page.keyboard.press("e");
    seen.add(await heading.textContent());
  }
  for (const text of seen) assert.match(text, /^@\w+ → @\w+$/);
  assert.ok(
    [...seen].every((text) => text.includes("@s0")),
    [...seen].join(", "),
  );
  assert.deepEqual(faults, []);
});

test("a segment tells what it would cost in two parts, as the tool says of these two", async () => {
  const { page, faults } = await open("gpu.html");
  const program = (await data(page)).modules[0].programs[0];
  const [segment] = program.what_if.segments;
  assert.equal(segment.cuts.length, 3);
  await page
    .locator(card(`@${segment.name}`))
    .first()
    .click({ position: { x: 60, y: 12 } });
  const { ops } = json("gpu.json").segments[0];
  for (const cut of segment.cuts) {
    const rest = ops.filter((op) => !cut.first.includes(op));
    const grouping = { segments: [cut.first, rest].map((list, i) => ({ name: `p${i}`, ops: list })) };
    writeFileSync(at("parts.json"), JSON.stringify(grouping));
    tool("fuser-opt", [
      join(root, "examples/softmax.fir"),
      ...["--segment", "--target=h100", "-o", "/dev/null", "--segments-from=parts.json"],
      `--explain=json:${at("parts-explain.json")}`,
    ]);
    const { total } = json("parts-explain.json");
    assert.deepEqual(cut.cost, total, cut.behind);
    const row = page.locator(`.side tr[data-behind="${cut.behind}"]`);
    const value = (field) => row.locator(`[data-field="${field}"]`).getAttribute("data-value").then(Number);
    assert.equal(await value("bytes"), total.read_bytes + total.write_bytes + total.workspace_bytes);
    assert.equal(await value("time_ns"), total.time_ns);
    assert.equal(await value("kernels"), total.kernels);
  }
  const keys = segment.cuts.map(({ cost }) => cost.read_bytes + cost.write_bytes + cost.workspace_bytes);
  assert.deepEqual(
    keys,
    [...keys].sort((a, b) => a - b),
  );
  assert.deepEqual(faults, []);
});

test("questions are bounded, and the page says where the bound was hit", async () => {
  const { page } = await open("large.html");
  const told = (await data(page)).modules[0].programs[0].what_if;
  // Edges and places in segments have the bound each.
  assert.equal(told.asked, 400);
  assert.ok(told.unasked_edges + told.unasked_segments > 1000);
  const text = await page.locator('.side [data-field="unasked"]').textContent();
  assert.match(text, /at most 200 of edges and of places in segments; [\d,]+ edges and [\d,]+ segments were left out/);
  await page.close();
  const small = await open("gpu.html");
  assert.equal(await small.page.locator('.side [data-field="unasked"]').count(), 0);
});

test("levels fold and unfold, by mouse and by keys", async () => {
  const { page, faults } = await open("softmax.html");
  const all = await cards(page);
  await page
    .locator(`${card("@s0")} .fold`)
    .first()
    .click();
  assert.ok((await cards(page)) < all);
  await page.locator("svg.graph").focus();
  await page.keyboard.press("Enter");
  assert.equal(await cards(page), all);
  await page.keyboard.press("ArrowRight");
  assert.match(await page.locator(".card.selected").getAttribute("data-label"), /sweep 1/);
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  assert.equal(await page.locator(".card.selected").getAttribute("data-label"), "@s0");
  await page.keyboard.press("Home");
  assert.equal(await page.locator(".card.selected").getAttribute("data-label"), "@softmax");
  assert.deepEqual(faults, []);
});

test("an address opens a view or a box, and says what is shown", async () => {
  const { page, faults } = await open("block.html", {}, "#kernels");
  const tab = () => page.locator('.tabs [aria-selected="true"]').textContent();
  const hash = () => page.evaluate(() => decodeURIComponent(location.hash));
  assert.equal(await tab(), "Kernels");
  await page.keyboard.press("3");
  assert.equal(await hash(), "#decisions");
  const [first] = json("block.json").segments;
  await page.evaluate((name) => (location.hash = `#graph/@${name}`), first.name);
  await page.waitForSelector(".card.selected");
  assert.equal(await tab(), "Graph");
  assert.equal(await page.locator(".side h2").textContent(), `@${first.name}`);
  assert.equal(await hash(), `#graph/@${first.name}`);
  assert.deepEqual(faults, []);
  for (const typed of ["#graph/%y", "#graph/%25y"]) {
    const other = await open("softmax.html", {}, typed);
    await other.page.waitForSelector(".card.selected");
    assert.match(await other.page.locator(".side h2").textContent(), /^%y/);
    assert.deepEqual(other.faults, []);
  }
  for (const wrong of ["#nothing", "#graph/@none", "#%", "#graph/%"]) {
    const other = await open("block.html", {}, wrong);
    assert.equal(await other.page.locator('.tabs [aria-selected="true"]').textContent(), "Graph");
    assert.deepEqual(other.faults, []);
  }
});

test("lines of the text have their segments, with a model's places too", async () => {
  for (const name of ["softmax.html", "placed.html"]) {
    const { page, faults } = await open(name, {}, "#source");
    const lines = await page
      .locator(".text .line")
      .evaluateAll((list) =>
        list.map((line) => [line.querySelector(".gutter").textContent, line.querySelector("code").textContent]),
      );
    const defining = lines.filter(([, text]) => /^ *%\w+ += fusion\.(exp|sum|sub)/.test(text));
    assert.ok(defining.length > 0);
    assert.deepEqual(
      defining.filter(([segment]) => !segment.startsWith("@s")),
      [],
      name,
    );
    assert.deepEqual(faults, []);
  }
});

test("places that all ops have are left out", async () => {
  const { page } = await open("placed.html", {}, "#graph/@s0");
  const places = await page.locator(".side .place").allTextContents();
  assert.deepEqual(places, ["own.py:3", "own.py:9"]);
});

test("a cut at a call is named so", async () => {
  const { page } = await open("block.html", {}, "#decisions");
  const badges = await page.locator("article[data-cut] .badge").allTextContents();
  assert.ok(badges.includes("a call is not fused"), badges.join(", "));
});

test("search finds a value and unfolds what it is in", async () => {
  const { page, faults } = await open("large.html");
  await page.keyboard.press("/");
  await page.keyboard.type("%e777");
  await page.keyboard.press("Enter");
  assert.match(await page.locator(".card.selected").getAttribute("data-label"), /^%e777 = tanh/);
  assert.match(await page.locator(".side h2").textContent(), /^%e777/);
  await page.keyboard.press("/");
  await page.keyboard.type("zzz");
  assert.equal(await page.locator("#found li").textContent(), "nothing of this name");
  await page.keyboard.press("Escape");
  assert.ok(await page.locator("#found").isHidden());
  assert.deepEqual(faults, []);
});

test("the slider shows what each pass changed", async () => {
  const { page, faults } = await open("softmax.html");
  await page.keyboard.press("4");
  assert.equal(await page.locator(".stage h2").textContent(), "segment");
  assert.ok((await page.locator(".line.added").count()) > 0);
  assert.match(await page.locator(".line.added code").first().textContent(), /task\.segment @s0/);
  await page.locator("input[type=range]").focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.locator(".stage h2").textContent(), "schedule");
  await page.keyboard.press("Home");
  assert.notEqual(await page.locator(".stage h2").textContent(), "schedule");
  assert.deepEqual(faults, []);
});

test("every view opens by its key, on every page", async () => {
  for (const name of ["softmax.html", "block.html", "large.html", "flat.html", "hostile.html", "wide.html"]) {
    const { page, faults } = await open(name);
    for (const key of ["2", "3", "4", "5", "6", "7", "1"]) {
      await page.keyboard.press(key);
      assert.ok((await page.locator("main").textContent()).length > 10, `${name}, ${key}`);
    }
    await page.keyboard.press("?");
    assert.ok(await page.locator("dialog").isVisible());
    await page.keyboard.press("Escape");
    assert.deepEqual(faults, [], name);
    await page.close();
  }
});

test("15,000 ops open and fold at once", async () => {
  for (const name of ["large.html", "flat.html"]) {
    const { page, took } = await open(name);
    console.log(`# ${name}: opened in ${took} ms, ${await cards(page)} boxes`);
    assert.ok(took < OPENED, `${name}: ${took} ms`);
    const folds = [];
    await page.locator("svg.graph").focus();
    for (let i = 0; i < 5; i++) {
      const start = Date.now();
      await page.keyboard.press("ArrowRight");
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
      folds.push(Date.now() - start);
    }
    console.log(`# ${name}: unfolded in ${folds.join(", ")} ms`);
    assert.ok(Math.max(...folds) < FOLDED, `${name}: ${folds}`);
    assert.ok((await cards(page)) < 400, "only what is unfolded is drawn");
    await page.close();
  }
});

test("names of strangers are text", async () => {
  const { page, faults } = await open("hostile.html");
  assert.equal(await page.locator("img").count(), 0);
  assert.ok((await page.locator(".symbol").textContent()).includes("<img"));
  assert.deepEqual(faults, []);
});

test("boxes of one level do not overlap", async () => {
  for (const name of ["softmax.html", "block.html", "large.html", "wide.html"]) {
    const { page } = await open(name);
    const overlaps = await page.evaluate(() => {
      const boxes = [...document.querySelectorAll(".card:not(.open)")].map((one) => [
        one.dataset.label,
        one.querySelector(".frame").getBoundingClientRect(),
      ]);
      const found = [];
      boxes.forEach(([a, x], i) =>
        boxes.slice(i + 1).forEach(([b, y]) => {
          if (x.left < y.right - 1 && y.left < x.right - 1 && x.top < y.bottom - 1 && y.top < x.bottom - 1)
            found.push(`${a}, ${b}`);
        }),
      );
      return found;
    });
    assert.deepEqual(overlaps, [], name);
    // A label stays in its box.
    const wide = await page.evaluate(() =>
      [...document.querySelectorAll(".card")].flatMap((one) => {
        const frame = one.querySelector(".frame").getBoundingClientRect();
        return [...one.querySelectorAll(":scope > text")]
          .filter((text) => text.getBoundingClientRect().right > frame.right + 1)
          .map((text) => text.textContent);
      }),
    );
    assert.deepEqual(wide, [], name);
    const crossed = await page.evaluate(() =>
      [...document.querySelectorAll(".card.open")]
        .filter((one) => {
          const [label, facts] = [...one.querySelectorAll(":scope > text")].map((text) => text.getBoundingClientRect());
          return facts && facts.left < label.right;
        })
        .map((one) => one.dataset.label),
    );
    assert.deepEqual(crossed, [], name);
  }
});

/** The contrast of two colours as WCAG has it. */
function contrast(a, b) {
  const light = ([r, g, bl]) =>
    [r, g, bl]
      .map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4))
      .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
}

test("dark and light have the contrast of AA", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const { page } = await open("block.html", { colorScheme });
    const colour = (name) =>
      page.evaluate((variable) => {
        const probe = document.body.appendChild(document.createElement("i"));
        probe.style.color = `var(${variable})`;
        const found = getComputedStyle(probe)
          .color.match(/[\d.]+/g)
          .map(Number)
          .slice(0, 3);
        probe.remove();
        return found;
      }, name);
    const grounds = [
      "ground",
      "panel",
      "raised",
      "kernel",
      "library",
      "copy",
      "view",
      "control",
      "pointwise",
      "reduce",
      "shape",
      "product",
      "cast",
      "constant",
    ];
    for (const ground of grounds) {
      for (const text of ["text", "muted"]) {
        const found = contrast(await colour(`--${text}`), await colour(`--${ground}`));
        assert.ok(found >= 4.5, `${colorScheme}: ${text} on ${ground}: ${found.toFixed(2)}`);
      }
    }
    for (const ground of ["added", "removed", "mark"])
      assert.ok(contrast(await colour("--text"), await colour(`--${ground}`)) >= 4.5, ground);
    for (const ground of ["ground", "panel"])
      assert.ok(contrast(await colour("--accent"), await colour(`--${ground}`)) >= 4.5, ground);
    const bright = (await colour("--ground"))[0];
    assert.ok(colorScheme === "dark" ? bright < 60 : bright > 200);
    await page.evaluate(axe.source);
    for (const key of ["1", "2", "3", "4", "5", "6", "7"]) {
      await page.keyboard.press(key);
      const { violations } = await page.evaluate(() => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa"] }));
      assert.deepEqual(
        violations.map((one) => `${one.id}: ${one.nodes[0].html}`),
        [],
        `${colorScheme}, view ${key}`,
      );
    }
    await page.close();
  }
});

test("the theme turns by hand", async () => {
  const { page } = await open("softmax.html", { colorScheme: "light" });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.keyboard.press("t");
  assert.equal(await ground(), light);
  await page.keyboard.press("t");
  assert.notEqual(await ground(), light);
});
