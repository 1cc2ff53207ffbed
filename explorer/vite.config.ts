// One file with everything in it: script and style go into the page, with the licences of what is bundled in front.

import { readFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";

const BUNDLED = ["@dagrejs/dagre", "@dagrejs/graphlib"];

function notice(): string {
  const texts = BUNDLED.map((name) => {
    const text = readFileSync(new URL(`node_modules/${name}/LICENSE`, import.meta.url), "utf8");
    const { version } = JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url), "utf8"));
    return `${name} ${version}\n\n${text.trim()}`;
  });
  return `<!--\nGenerated from explorer/ by 'npm run build': do not edit.\n\nThis page holds parts of\n\n${texts.join("\n\n")}\n-->\n`;
}

function onePage(): Plugin {
  return {
    name: "one-page",
    enforce: "post",
    generateBundle(_, bundle) {
      const page = Object.values(bundle).find((file) => file.fileName === "index.html");
      if (page?.type !== "asset") return this.error("no page");
      let text = String(page.source);
      for (const [name, file] of Object.entries(bundle)) {
        if (file.type === "chunk") {
          // The data come before the script, and a module runs when the page is read.
          const code = file.code.replaceAll("</script", "<\\/script");
          text = text.replace(new RegExp(`<script[^>]*src="[^"]*${file.fileName}"[^>]*></script>\\s*`), "");
          text = text.replace("</body>", () => `<script type="module">${code.trim()}</script>\n  </body>`);
        } else if (name.endsWith(".css")) {
          text = text.replace(
            new RegExp(`<link[^>]*href="[^"]*${file.fileName}"[^>]*>\\s*`),
            () => `<style>${String(file.source).trim()}</style>`,
          );
        } else continue;
        delete bundle[name];
      }
      page.source = text.replace("<!doctype html>", () => `<!doctype html>\n${notice().trim()}`);
      page.fileName = "explorer.html";
    },
  };
}

export default defineConfig({
  plugins: [onePage()],
  build: { target: "es2022", modulePreload: false, assetsInlineLimit: Number.MAX_SAFE_INTEGER, cssCodeSplit: false },
});
