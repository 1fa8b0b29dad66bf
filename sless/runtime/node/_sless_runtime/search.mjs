/** Level 1: which export of the code is the function. */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join, normalize } from "node:path";

import { hasProcfile } from "./command.mjs";
import { StartFailed } from "./failure.mjs";
import { loadTarget } from "./loading.mjs";
import { ENDINGS, listOffers, readOffer, readOffers } from "./offers.mjs";

const MODULES = ["handler", "index", "app", "main", "server"];
/** Exports, in the order they are looked for in each file. */
const NAMES = ["handler", "default", "app"];

/** The function's object and where it was found, as `module:export`; throws `StartFailed`. */
export async function findFunction(settings) {
  const { code, handler } = settings;
  const { file, name } = handler ? parseTarget(handler, code) : chooseCandidate(code);
  const where = `${withoutEnding(file)}:${name}`;
  return { ...(await loadTarget(file, { name, code })), where };
}

/** The file and export of `module:export`; throws `StartFailed`. */
function parseTarget(text, code) {
  const [module, name, ...more] = text.split(":");
  if (!module || !name || more.length > 0) {
    const hint = module ? `, perhaps ${withoutEnding(module)}:${name || "handler"}` : "";
    throw notFound(`The handler '${text}' must read module:export${hint}.`);
  }
  const file = findModule(module, code) ?? findModule(module.replaceAll(".", "/"), code);
  if (file) return { file, name };
  throw notFound(`There is no module '${module}' in the code. ${listOffers(readOffers(code))}`);
}

/** The path below the code of the file that a module's name means. */
function findModule(module, code) {
  const paths = [module, ...["", "/index"].flatMap((end) => ENDINGS.map((e) => module + end + e))];
  return paths.find((path) => ENDINGS.includes(extname(path)) && isFile(join(code, path)));
}

/** The first candidate that the files offer; throws `StartFailed` if none does. */
function chooseCandidate(code) {
  const main = readPackage(code).main;
  const modules = typeof main === "string" ? insertMain(normalize(main)) : MODULES;
  for (const module of modules) {
    const file = findModule(module, code);
    if (!file) continue;
    const offer = readOffer(join(code, file), file);
    const name = NAMES.find((each) => offer.names.includes(each)) ?? (offer.more && NAMES[0]);
    if (name) return { file, name };
  }
  throw notFound(renderAbsence(code, modules));
}

/** What package.json calls its main file comes right after a file called handler. */
function insertMain(main) {
  const rest = MODULES.slice(1).filter((module) => module !== withoutEnding(main));
  return [MODULES[0], main, ...rest];
}

function renderAbsence(code, modules) {
  const offers = readOffers(code);
  const web = hasProcfile(code) ? "a web line in the Procfile" : "a Procfile";
  return [
    `No handler was found. Looked for an export ${NAMES.join(", ")} in ${modules.join(", ")} `,
    `(${ENDINGS.join(", ")}), and ${web}. ${listOffers(offers)} ${advise(code, offers)}`,
  ]
    .join("")
    .trimEnd();
}

/** An example that would work, from the first file that has one. */
function advise(code, offers) {
  const offer = offers.find(({ names }) => names.length > 0);
  if (offer) {
    const target = `${withoutEnding(offer.file)}:${offer.names[0]}`;
    return `Name one with --handler module:export, for example --handler ${target}.`;
  }
  const start = readPackage(code).scripts?.start;
  if (typeof start === "string" && start) {
    return `The start script of package.json is not run; write 'web: ${start}' to a Procfile.`;
  }
  if (offers.length > 0) {
    return `If ${offers[0].file} is a server, write 'web: node ${offers[0].file}' to a Procfile.`;
  }
  return listBelow(code);
}

/** For code without a file at its top: where there is one. */
function listBelow(code) {
  for (const folder of readdirSync(code, { withFileTypes: true })) {
    if (!folder.isDirectory() || folder.name === "node_modules") continue;
    const found = readdirSync(join(code, folder.name)).filter((f) => ENDINGS.includes(extname(f)));
    if (found.length === 0) continue;
    const path = `${folder.name}/${found.sort()[0]}`;
    return `Below there is ${path}, which is named as --handler ${withoutEnding(path)}:export.`;
  }
  return "";
}

function readPackage(code) {
  try {
    return JSON.parse(readFileSync(join(code, "package.json"), "utf8")) ?? {};
  } catch {
    return {}; // Node says so itself where it matters
  }
}

function withoutEnding(path) {
  return ENDINGS.includes(extname(path)) ? path.slice(0, -extname(path).length) : path;
}

function isFile(path) {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function notFound(message) {
  return new StartFailed("HandlerNotFound", message);
}
