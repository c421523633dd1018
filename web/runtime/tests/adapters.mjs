// Adapters that have less than this machine's, in a page.

/** What WebGPU promises everywhere. */
const LIMITS = {
  maxTextureDimension1D: 8192, maxTextureDimension2D: 8192, maxTextureDimension3D: 2048,
  maxTextureArrayLayers: 256, maxBindGroups: 4, maxBindGroupsPlusVertexBuffers: 24,
  maxBindingsPerBindGroup: 1000,
  maxDynamicUniformBuffersPerPipelineLayout: 8, maxDynamicStorageBuffersPerPipelineLayout: 4,
  maxSampledTexturesPerShaderStage: 16, maxSamplersPerShaderStage: 16, maxStorageBuffersPerShaderStage: 8,
  maxStorageTexturesPerShaderStage: 4, maxUniformBuffersPerShaderStage: 12,
  maxUniformBufferBindingSize: 65536, maxStorageBufferBindingSize: 134217728,
  minUniformBufferOffsetAlignment: 256, minStorageBufferOffsetAlignment: 256, maxVertexBuffers: 8,
  maxBufferSize: 268435456, maxVertexAttributes: 16, maxVertexBufferArrayStride: 2048,
  maxInterStageShaderVariables: 16, maxColorAttachments: 8, maxColorAttachmentBytesPerSample: 32,
  maxComputeWorkgroupStorageSize: 16384, maxComputeInvocationsPerWorkgroup: 256,
  maxComputeWorkgroupSizeX: 256, maxComputeWorkgroupSizeY: 256, maxComputeWorkgroupSizeZ: 64,
  maxComputeWorkgroupsPerDimension: 65535,
};

/**
 * Takes from all adapters what they `lack`, `features` and `limits` beyond the least ones, while a task runs.
 * Gives what it gives, and the descriptors of the devices that were asked for.
 */
export async function poorer(lack, task) {
  const { prototype } = GPUAdapter;
  const own = Object.getOwnPropertyDescriptors(prototype);
  const asked = [];
  const replace = (name, get) => Object.defineProperty(prototype, name, { get, configurable: true });
  if (lack.features) replace("features", () => new Set());
  if (lack.limits) replace("limits", () => LIMITS);
  prototype.requestDevice = function (descriptor = {}) {
    const { requiredFeatures = [], requiredLimits = {} } = descriptor;
    asked.push({ requiredFeatures: [...requiredFeatures], requiredLimits: { ...requiredLimits } });
    if (lack.features && asked.at(-1).requiredFeatures.length > 0) throw new TypeError("no features");
    return own.requestDevice.value.call(this, descriptor);
  };
  try {
    return { result: await task(), asked };
  } finally {
    const { features, limits, requestDevice } = own;
    Object.defineProperties(prototype, { features, limits, requestDevice });
  }
}

/** The names of limits that a descriptor asks for beyond the least ones. */
export function beyond({ requiredLimits }) {
  return Object.entries(requiredLimits)
    .filter(([name, value]) => (name.startsWith("min") ? value < LIMITS[name] : value > LIMITS[name]))
    .map(([name]) => name);
}

/** Outputs of a run on a GPU whose means are not those of the CPU. */
export function differences(gpu, cpu) {
  if (gpu.report.backend !== "gpu") return [`it ran on ${gpu.report.backend}`];
  const all = (run) => Object.entries({ ...run.outputs, ...run.worldOutputs });
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const expected = new Map(all(cpu));
  return all(gpu)
    .map(([name, values]) => ({ name, found: mean(values), wanted: mean(expected.get(name)) }))
    .filter(({ found, wanted }) => !(Math.abs(found - wanted) <= 5e-3 * Math.max(1, Math.abs(wanted))))
    .map(({ name, found, wanted }) => `${name}: ${found} for ${wanted}`);
}
