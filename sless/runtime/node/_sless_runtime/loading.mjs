/** Imports the function's module, and says what went wrong there. */

import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { builtinModules } from "node:module";
import { extname, join, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";

import { StartFailed, describe, renderStack, report, say } from "./failure.mjs";
import { ENDINGS, listOffers, readOffer } from "./offers.mjs";

/** Files that are asked for the place of a syntax error: each costs a start of Node. */
const CHECKED_FILES = 40;

/**
 * The object that a file exports under a name, dots within it included; throws `StartFailed`.
 *
 * It is boxed: some apps have a `then`, by which an async function would wait for them.
 */
export async function loadTarget(file, { name, code }) {
  const [first, ...inner] = name.split(".");
  let found = pick(await importFile(file, code), first);
  if (found === undefined) throw noExport(first, { file, code });
  let owner;
  for (const part of inner) {
    owner = found;
    found = found?.[part];
    if (found === undefined) {
      throw new StartFailed("HandlerNotFound", `${file}: '${name}' has no '${part}'.`);
    }
  }
  const target = typeof found === "function" && owner !== undefined ? found.bind(owner) : found;
  return { target };
}

/**
 * Has an end of the process while the function is imported told as its reason.
 *
 * Returns what to call once it is imported.
 */
export function watchImport(log) {
  const tell = (told) => {
    report(new StartFailed("HandlerImportFailed", told), log);
    process.reallyExit(1); // Node would go on to exit with the function's own code
  };
  const exits = (code) => tell(`The code called process.exit(${code}) while it was imported.`);
  const starves = () => tell("The code waits at its top level for something that never comes.");
  process.on("exit", exits);
  process.on("beforeExit", starves);
  return () => process.off("exit", exits).off("beforeExit", starves);
}

/** What an import threw, as a reason and a sentence, its stack in the log. */
export function importFailed(thrown, code) {
  const place = thrown instanceof SyntaxError ? findSyntaxError(thrown, code) : "";
  say(place ? `${place}\n${renderStack(thrown)}` : renderStack(thrown));
  return new StartFailed("HandlerImportFailed", explain(thrown, { code, place }));
}

async function importFile(file, code) {
  try {
    return await import(pathToFileURL(join(code, file)).href);
  } catch (thrown) {
    throw importFailed(thrown, code);
  }
}

/** An export by name; of CommonJS also what Node did not see by reading it. */
function pick(module, name) {
  const whole = module.default;
  if (name !== "default") return module[name] ?? whole?.[name];
  return whole?.__esModule && whole.default !== undefined ? whole.default : whole;
}

function explain(thrown, { code, place }) {
  const line = describe(thrown).split("; If ")[0];
  if (place) return `${line} (${place.split("\n")[0].replace(code + sep, "")})`;
  const absent = findAbsent(thrown);
  if (!absent) return line;
  const told = `${thrown.name}: Cannot find package '${absent}'`;
  return `${told}. Add ${absent} to the dependencies in package.json.`;
}

/** The package that was not there, if that is why. */
function findAbsent(thrown) {
  if (!["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"].includes(thrown?.code)) return null;
  const name = /^Cannot find (?:package|module) '([^']+)'/.exec(thrown.message)?.[1] ?? "";
  if (!name || /^[./]|^file:|^node:|^#/.test(name)) return null;
  const parts = name.split("/").slice(0, name.startsWith("@") ? 2 : 1);
  return builtinModules.includes(parts[0]) ? null : parts.join("/");
}

/** `file:line`, the line and a mark below it; Node keeps it to itself for some modules. */
function findSyntaxError(thrown, code) {
  const told = /^(?:file:\/\/)?(\/.*:\d+)\n/.exec(String(thrown.stack));
  if (told) return told[1];
  for (const path of findFiles(code).slice(0, CHECKED_FILES)) {
    const checked = spawnSync(process.execPath, ["--check", path], { encoding: "utf8" });
    const head = checked.stderr.split(/\n\s*\n/, 1)[0].replace(/^file:\/\//, "");
    if (checked.status !== 0 && checked.stderr.includes(thrown.message)) return head;
  }
  return "";
}

function findFiles(code) {
  return readdirSync(code, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && ENDINGS.includes(extname(entry.name)))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter((path) => !relative(code, path).split(sep).includes("node_modules"));
}

function noExport(name, { file, code }) {
  const offer = readOffer(join(code, file), file);
  const close = offer.names.find((each) => isClose(each, name));
  const hint = close ? ` Did you mean '${close}'?` : "";
  return new StartFailed(
    "HandlerNotFound",
    `${file} exports no '${name}'.${hint} ${listOffers([offer])}`,
  );
}

/** Whether two names differ by case, or by one letter or two neighbours swapped. */
function isClose(one, other) {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()];
  if ([...a].sort().join("") === [...b].sort().join("")) return true;
  if (Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  return Math.max(a.length, b.length) - start - end <= 1;
}
