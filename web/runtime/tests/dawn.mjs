// Dawn for Node, with Chromium's software in place of a GPU, as no other driver is sure to be here.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./support.mjs";

const icd = "/usr/lib/chromium/vk_swiftshader_icd.json";
if (existsSync(icd)) process.env.VK_ICD_FILENAMES ??= icd;

/** Where the package `webgpu` is. */
export const dawn = pathToFileURL(join(root, "target/web/tools/node_modules/webgpu/index.js")).href;
