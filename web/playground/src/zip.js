// A ZIP archive of files that are stored as they are.

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
    return crc;
});

export function crc32(bytes) {
    let crc = 0xffffffff;
    for (const byte of bytes) crc = (crc >>> 8) ^ TABLE[(crc ^ byte) & 255];
    return (crc ^ 0xffffffff) >>> 0;
}

/** What both headers of a file say: version, flags, method, time (the first of 1980), checksum, sizes. */
function facts(view, at, { name, bytes, crc }) {
    view.setUint16(at, 20, true);
    // Names are UTF-8.
    view.setUint16(at + 2, 0x0800, true);
    view.setUint16(at + 8, 0x21, true);
    view.setUint32(at + 10, crc, true);
    view.setUint32(at + 14, bytes.length, true);
    view.setUint32(at + 18, bytes.length, true);
    view.setUint16(at + 22, name.length, true);
}

/** The archive of `[name, bytes]`s as a `Blob`. */
export function zip(files) {
    const [parts, directory] = [[], []];
    let [offset, directorySize] = [0, 0];
    for (const [path, bytes] of files) {
        const file = { name: new TextEncoder().encode(path), bytes, crc: crc32(bytes) };
        const local = new DataView(new ArrayBuffer(30));
        local.setUint32(0, 0x04034b50, true);
        facts(local, 4, file);
        const central = new DataView(new ArrayBuffer(46));
        central.setUint32(0, 0x02014b50, true);
        central.setUint16(4, 20, true);
        facts(central, 6, file);
        central.setUint32(42, offset, true);
        parts.push(local, file.name, bytes);
        directory.push(central, file.name);
        offset += 30 + file.name.length + bytes.length;
        directorySize += 46 + file.name.length;
    }
    const end = new DataView(new ArrayBuffer(22));
    end.setUint32(0, 0x06054b50, true);
    end.setUint16(8, files.length, true);
    end.setUint16(10, files.length, true);
    end.setUint32(12, directorySize, true);
    end.setUint32(16, offset, true);
    return new Blob([...parts, ...directory, end], { type: "application/zip" });
}
