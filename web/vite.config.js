// Builds the islands into the Python package. The same source gives the same bytes on every machine.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { defineConfig } from "vite";

const sha384 = (content) => `sha384-${createHash("sha384").update(content).digest("base64")}`;

/** The folder of the npm package that a bundled file is from, or null for our own. */
function packageOf(file) {
  if (!file.includes("/node_modules/")) return null;
  let folder = dirname(file);
  while (!existsSync(join(folder, "package.json")) || !readFileSync(join(folder, "package.json"), "utf8").includes('"version"')) {
    folder = dirname(folder);
  }
  return folder;
}

/** The licences of what is bundled, in full: they ask for that. */
function licences(bundle) {
  const folders = new Set();
  for (const chunk of Object.values(bundle)) {
    for (const file of Object.keys(chunk.modules ?? {})) {
      const folder = packageOf(file.replaceAll("\\", "/").replace(/^\0/, ""));
      if (folder !== null) folders.add(folder);
    }
  }
  const texts = [...folders].map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const text = readFileSync(join(folder, "LICENSE"), "utf8").replaceAll("\r\n", "\n").trim();
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  return `The scripts in this folder contain these libraries.\n\n${texts.sort().join(`\n${"-".repeat(72)}\n\n`)}`;
}

/** Adds LICENSES.txt, and manifest.json with the name of the entry and the hashes of all files. */
function records() {
  return {
    name: "depthgauge-records",
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        const chunks = Object.values(bundle).sort((a, b) => (a.fileName < b.fileName ? -1 : 1));
        const files = {};
        for (const chunk of chunks) {
          files[chunk.fileName] = { bytes: Buffer.byteLength(chunk.code), integrity: sha384(chunk.code) };
        }
        const entry = chunks.find((chunk) => chunk.isEntry).fileName;
        const text = `${JSON.stringify({ entry, files }, null, 2)}\n`;
        this.emitFile({ type: "asset", fileName: "LICENSES.txt", source: licences(bundle) });
        this.emitFile({ type: "asset", fileName: "manifest.json", source: text });
      },
    },
  };
}

export default defineConfig({
  publicDir: false,
  define: { "process.env.NODE_ENV": '"production"' },
  plugins: [records()],
  build: {
    outDir: "../src/depthgauge/serve/static/islands",
    emptyOutDir: true,
    target: "es2022",
    reportCompressedSize: false,
    chunkSizeWarningLimit: 600,
    // As a library: otherwise Vite wraps every import() in 2 KB of code that preloads style sheets.
    lib: { entry: { islands: "src/islands.ts" }, formats: ["es"] },
    rolldownOptions: {
      output: { entryFileNames: "[name]-[hash].js", chunkFileNames: "[name]-[hash].js", minify: true },
    },
  },
});
