// Counts what must not grow or repeat: buffers of a GPU, and bytes that are copied.

/** Counts the buffers of GPUs that are made from now on and not destroyed. */
export function countBuffers() {
  const buffers = new Set();
  const device = globalThis.GPUDevice?.prototype;
  if (device && !device.counted) {
    device.counted = buffers;
    const { createBuffer } = device;
    device.createBuffer = function (...args) {
      const buffer = createBuffer.apply(this, args);
      device.counted.add(buffer);
      return buffer;
    };
    const { destroy } = GPUBuffer.prototype;
    GPUBuffer.prototype.destroy = function () {
      device.counted.delete(this);
      return destroy.apply(this);
    };
  }
  return { alive: () => device?.counted.size ?? 0 };
}

/**
 * Counts the bytes that large copies move while a task runs: those between typed arrays and buffers, and into
 * new ones.
 */
export async function countCopies(task) {
  const LARGE = 1 << 20;
  let bytes = 0;
  const undo = [];
  const count = (prototype, name, size) => {
    const own = prototype[name];
    prototype[name] = function (...args) {
      const moved = size.call(this, args) ?? 0;
      if (moved >= LARGE) bytes += moved;
      return own.apply(this, args);
    };
    undo.push(() => (prototype[name] = own));
  };
  const typed = Object.getPrototypeOf(Float32Array.prototype);
  count(typed, "set", ([from]) => from.byteLength ?? 8 * from.length);
  const whole = function () {
    return this.byteLength;
  };
  for (const name of ["slice", "map", "toSorted", "with"]) count(typed, name, whole);
  count(ArrayBuffer.prototype, "slice", whole);
  count(globalThis, "structuredClone", ([value]) => value?.byteLength);
  for (const type of [Float32Array, Float64Array, Uint8Array, Int32Array, Uint32Array]) {
    count(type, "from", ([from]) => from.byteLength ?? 8 * from.length);
    // A view of a buffer copies nothing; one made of another array does.
    globalThis[type.name] = new Proxy(type, {
      construct(target, args, newTarget) {
        const [from] = args;
        const moved = ArrayBuffer.isView(from) ? from.byteLength : Array.isArray(from) ? 8 * from.length : 0;
        if (moved >= LARGE) bytes += moved;
        return Reflect.construct(target, args, newTarget === globalThis[type.name] ? target : newTarget);
      },
    });
    undo.push(() => (globalThis[type.name] = type));
  }
  try {
    const result = await task();
    return { result, bytes };
  } finally {
    for (const back of undo) back();
  }
}
