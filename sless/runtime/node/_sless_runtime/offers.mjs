/**
 * What the function's files export, read without running them.
 *
 * It is a look by patterns, not a parser: it decides which file is imported and what an error
 * lists, never what a module really exports.
 */

import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";

/** Names per file in a message; more would bury the sentence. */
const SHOWN_NAMES = 12;
const SHOWN_FILES = 8;
/** Of a file: beyond it, it is a bundle or data, and its exports are at its end. */
const READ_BYTES = 4 * 1024 * 1024;

export const ENDINGS = [".mjs", ".js", ".cjs"];

const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm;
const DECLARED = /(?:^|[;}])\s*export\s+(?:async\s+)?(?:function\s*\*?|class|const|let|var)\s+([\w$]+)/gm;
const LISTED = /(?:^|[;}])\s*export\s*\{([^}]*)\}/gm;
const DEFAULT = /(?:^|[;}])\s*export\s+default\b/m;
const ALL = /(?:^|[;}])\s*export\s*\*\s*from\b/m;
const PROPERTY = /(?:^|[^.\w$])(?:module\.)?exports\.([\w$]+)\s*=(?!=)/gm;
const DEFINED = /Object\.defineProperty\(\s*(?:module\.)?exports\s*,\s*["']([\w$]+)["']/gm;
const WHOLE = /(?:^|[^.\w$])module\.exports\s*=(?!=)\s*(\{[^}]*\})?/m;

/** The modules at the top of the code folder, sorted: file, exported names, may there be more. */
export function readOffers(code) {
  const files = readdirSync(code, { withFileTypes: true })
    .filter((entry) => entry.isFile() && ENDINGS.includes(extname(entry.name)))
    .map((entry) => entry.name)
    .sort();
  return files.map((file) => readOffer(join(code, file), file));
}

/** What one file exports. */
export function readOffer(path, file) {
  const text = readFileSync(path).subarray(0, READ_BYTES).toString().replace(COMMENT, "");
  const names = new Set();
  for (const [, name] of text.matchAll(DECLARED)) names.add(name);
  for (const [, list] of text.matchAll(LISTED)) addListed(names, list, /\bas\s+([\w$]+)\s*$/);
  for (const [, name] of text.matchAll(PROPERTY)) names.add(name);
  for (const [, name] of text.matchAll(DEFINED)) names.add(name);
  const whole = WHOLE.exec(text);
  if (DEFAULT.test(text) || whole) names.add("default");
  if (whole?.[1]) addListed(names, whole[1].slice(1, -1), /^\s*([\w$]+)\s*[:(]/);
  names.delete("__esModule");
  return { file, names: [...names], more: ALL.test(text) };
}

/** A sentence or more: `app.mjs exports: create, main.`. */
export function listOffers(offers) {
  if (offers.length === 0) return "The code has no JavaScript file at its top.";
  const told = offers.slice(0, SHOWN_FILES).map(tell);
  const more = offers.length - SHOWN_FILES;
  return [...told, ...(more > 0 ? [`And ${more} more files.`] : [])].join(" ");
}

function tell({ file, names }) {
  if (names.length === 0) return `${file} exports nothing.`;
  const rest = names.length > SHOWN_NAMES ? ", …" : "";
  return `${file} exports: ${names.slice(0, SHOWN_NAMES).join(", ")}${rest}.`;
}

function addListed(names, list, renamed) {
  for (const part of list.split(",")) {
    const name = renamed.exec(part)?.[1] ?? /^\s*(?:async\s+)?([\w$]+)/.exec(part)?.[1];
    if (name) names.add(name);
  }
}
