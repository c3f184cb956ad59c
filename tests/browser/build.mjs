// Builds the browser assets: node build.mjs [FOLDER] [default: src/web/assets].
import { build } from "esbuild";
import { fileURLToPath } from "node:url";
import { join } from "node:path";

const web = fileURLToPath(new URL("../../src/web/", import.meta.url));
const folder = process.argv[2] ?? join(web, "assets");

await build({
  entryPoints: [
    { in: join(web, "ts/main.ts"), out: "app" },
    { in: join(web, "css/app.css"), out: "app" },
  ],
  absWorkingDir: web,
  bundle: true,
  charset: "utf8",
  format: "esm",
  legalComments: "none",
  logLevel: "warning",
  minify: true,
  outdir: folder,
  target: ["es2022", "chrome111", "firefox113", "safari16.4"],
});
