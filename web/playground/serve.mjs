// Serves dist/ for a look at it: node serve.mjs [PORT]

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript",
    ".css": "text/css",
    ".wasm": "application/wasm",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".csv": "text/csv",
};

/** A server of a folder; resolves to `{url, close}`. */
export async function serve(folder, port = 0) {
    const server = createServer(async (request, response) => {
        const path = normalize(decodeURIComponent(new URL(request.url, "http://localhost").pathname));
        const file = join(folder, path.endsWith("/") ? `${path}index.html` : path);
        const found = file.startsWith(folder) && (await stat(file).catch(() => undefined));
        if (!found?.isFile()) {
            response.writeHead(404).end("not found");
            return;
        }
        const type = TYPES[extname(file)] ?? "application/octet-stream";
        response.writeHead(200, {
            "content-type": type,
            "cache-control": "no-cache",
            "content-length": found.size,
        });
        createReadStream(file).pipe(response);
    });
    await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
    return { url: `http://localhost:${server.address().port}/`, close: () => server.close() };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const { url } = await serve(
        fileURLToPath(new URL("dist", import.meta.url)),
        Number(process.argv[2] ?? 8000),
    );
    console.log(url);
}
