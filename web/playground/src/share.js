// A model with its launch as a link: JSON, deflated, in the fragment of the address.

/** Longest model that a link may hold, in characters: a tampered link must not fill the memory. */
const MOST = 2_000_000;
const VERSION = 1;

export class LinkError extends Error {}

async function through(bytes, transform, most = Infinity) {
    const reader = new Blob([bytes]).stream().pipeThrough(transform).getReader();
    const parts = [];
    let size = 0;
    for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        size += value.length;
        if (size > most) {
            await reader.cancel();
            throw new LinkError(`it holds more than ${most.toLocaleString("en")} bytes`);
        }
        parts.push(value);
    }
    return new Uint8Array(await new Blob(parts).arrayBuffer());
}

const toText = (bytes) => {
    let binary = "";
    for (let at = 0; at < bytes.length; at += 8192) {
        binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
    }
    return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
};

const toBytes = (text) => {
    if (!/^[A-Za-z0-9_-]*$/.test(text)) throw new LinkError("it has characters that no link has");
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return Uint8Array.from(binary, (c) => c.charCodeAt(0));
};

/** A short checksum (FNV-1a): a link that was cut or changed is found out. */
function checksum(bytes) {
    let hash = 0x811c9dc5;
    for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
    return (hash >>> 0).toString(16).padStart(8, "0");
}

/** The fragment for `{source, launch}`. */
export async function encode({ source, launch }) {
    const bytes = new TextEncoder().encode(JSON.stringify({ source, launch }));
    const packed = await through(bytes, new CompressionStream("deflate-raw"));
    return `#m=${VERSION}.${checksum(bytes)}.${toText(packed)}`;
}

/** What a fragment holds; nothing for an empty one. Throws a `LinkError` that says what is broken. */
export async function decode(fragment) {
    if (!fragment || fragment === "#") return undefined;
    const parts = /^#m=(\d+)\.([0-9a-f]{8})\.(.*)$/.exec(fragment);
    if (!parts) throw new LinkError("it is not a link of the playground");
    const [, version, sum, text] = parts;
    if (Number(version) !== VERSION)
        throw new LinkError(`its version is ${version}, and this page reads ${VERSION}`);
    let bytes;
    try {
        bytes = await through(toBytes(text), new DecompressionStream("deflate-raw"), MOST);
    } catch (error) {
        if (error instanceof LinkError) throw error;
        throw new LinkError("its data cannot be unpacked");
    }
    if (checksum(bytes) !== sum) throw new LinkError("its data was changed or cut off");
    const found = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof found?.source !== "string") throw new LinkError("it holds no model");
    return { source: found.source, launch: sound(found.launch) };
}

/** Only what a launch may have, whatever the link holds. */
function sound(launch) {
    const found = { params: {} };
    const number = (value) => typeof value === "number" && Number.isFinite(value);
    for (const name of ["agents", "steps", "world", "seed"])
        if (number(launch?.[name])) found[name] = launch[name];
    for (const [name, value] of Object.entries(launch?.params ?? {})) {
        const values = Array.isArray(value) ? value : [value];
        if (values.every((one) => number(one) || typeof one === "boolean" || typeof one === "string")) {
            found.params[name] = value;
        }
    }
    return found;
}
