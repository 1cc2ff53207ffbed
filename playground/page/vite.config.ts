// A folder of static files that any web server shows, wherever it lies.

import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  build: { target: "es2022", outDir: "../../target/playground", emptyOutDir: false, modulePreload: false },
  worker: { format: "es" },
  server: { fs: { allow: ["../.."] } },
});
