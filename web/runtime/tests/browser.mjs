// Serves a folder, and drives headless Chromium over it.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import { root } from "./support.mjs";

const TYPES = {
  ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css",
  ".wasm": "application/wasm", ".svg": "image/svg+xml", ".json": "application/json",
};

/**
 * A plain file server; gives its address and its end. `mounts` has other folders by the beginnings of paths.
 */
export async function serve(folder, mounts = {}) {
  const others = Object.entries(mounts);
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://x").pathname));
    const [prefix, place] = others.find(([prefix]) => path.startsWith(prefix)) ?? ["/", folder];
    try {
      const rest = path.slice(prefix.length);
      const body = await readFile(join(place, path.endsWith("/") ? `${rest}index.html` : rest));
      response.writeHead(200, { "Content-Type": TYPES[extname(path) || ".html"] ?? "application/octet-stream" });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { address: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

/** A headless Chromium with WebGPU in software. */
export async function chromium() {
  const tools = join(root, "target/web/tools/node_modules/playwright-core/index.mjs");
  const { chromium } = await import(tools);
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", "--enable-unsafe-webgpu",
    ],
  });
}
