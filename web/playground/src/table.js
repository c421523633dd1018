// Tables from CSV text: numbers in rows, with or without a line of names.

const ARRAYS = { f32: Float32Array, i32: Int32Array, u32: Uint32Array, bool: Uint32Array };

/** The values of a table of the manifest, row by row. Throws with the place of what does not fit. */
export function readTable(table, text) {
    const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "" && !line.startsWith("#"));
    const cells = (line) => line.split(/[,;\t]/).map((cell) => cell.trim().replace(/^"(.*)"$/, "$1"));
    const isName = (cell) =>
        Number.isNaN(Number(cell)) && !table.variants.includes(cell) && !/^(?:nan|true|false)$/i.test(cell);
    const start = lines.length > 0 && cells(lines[0]).every(isName) ? 1 : 0;
    const open = table.shape[0] === 0;
    const inner = (open ? table.shape.slice(1) : table.shape).reduce(
        (product, length) => product * length,
        1,
    );
    const width = inner * table.components;
    const values = [];
    for (const [at, line] of lines.slice(start).entries()) {
        for (const cell of cells(line)) values.push(number(table, cell, start + at + 1));
    }
    if (values.length === 0) throw new Error("the file holds no numbers");
    if (open ? values.length % width !== 0 : values.length !== width) {
        const wanted = open ? `a multiple of ${width}` : String(width);
        throw new Error(`the file holds ${values.length} numbers, and the table needs ${wanted}`);
    }
    const made = ARRAYS[table.scalar].from(values);
    return { values: made, rows: open ? values.length / width : (table.shape[0] ?? 1) };
}

function number(table, cell, line) {
    const variant = table.variants.indexOf(cell);
    if (variant >= 0) return variant;
    if (/^(?:true|false)$/i.test(cell)) return cell.toLowerCase() === "true" ? 1 : 0;
    const value = cell === "" ? NaN : Number(cell);
    if (Number.isNaN(value) && !/^nan$/i.test(cell))
        throw new Error(`line ${line}: \`${cell}\` is no number`);
    if (table.scalar !== "f32" && !Number.isInteger(value))
        throw new Error(`line ${line}: \`${cell}\` is no whole number`);
    return value;
}
