/** What the environment tells the runtime. */

import { dirname, isAbsolute, resolve } from "node:path";

import { StartFailed } from "./failure.mjs";

/** Seconds that running requests may take after SIGTERM, unless told otherwise. */
const DRAIN_SECONDS = 10;
const HIGHEST_PORT = 65535;

/** The variables that are the runtime's and not the function's. */
export const OWN_NAMES = [
  "SLESS_CODE",
  "SLESS_SITE",
  "SLESS_RUNTIME_SITE",
  "SLESS_HANDLER",
  "SLESS_COMMAND",
  "SLESS_TERMINATION_LOG",
  "SLESS_DRAIN_SECONDS",
  "SLESS_HOST",
];

/**
 * The settings in those variables; throws `StartFailed`.
 *
 * `command` is a line for the shell, a list of program and arguments, or null.
 */
export function parseSettings(environ) {
  return {
    host: environ.SLESS_HOST || "0.0.0.0",
    port: parsePort(environ.PORT ?? "8080"),
    code: resolve(environ.SLESS_CODE || "."),
    handler: environ.SLESS_HANDLER?.trim() || null,
    command: parseCommand(environ.SLESS_COMMAND?.trim() ?? ""),
    drainSeconds: parseSeconds(environ.SLESS_DRAIN_SECONDS),
    log: environ.SLESS_TERMINATION_LOG,
  };
}

/** Leaves the function its own environment. */
export function cleanEnvironment(environ, settings) {
  for (const name of OWN_NAMES) delete environ[name];
  environ.PORT = String(settings.port);
  environ.HOST = settings.host;
  environ.NODE_ENV ??= "production";
  // Who started us by a link has put there what else goes by the names of our programs.
  const node = isAbsolute(process.argv0) ? process.argv0 : process.execPath;
  const programs = [resolve(settings.code, "node_modules/.bin"), dirname(node)];
  environ.PATH = [...programs, ...(environ.PATH ? [environ.PATH] : [])].join(":");
}

function parsePort(text) {
  const port = Number(text);
  if (!/^[0-9]+$/.test(text) || port < 1 || port > HIGHEST_PORT) {
    throw new StartFailed("FunctionCrashed", `PORT is '${text}'; it must be 1 to 65535.`);
  }
  return port;
}

function parseSeconds(text) {
  if (!text) return DRAIN_SECONDS;
  const seconds = Number(text);
  if (!Number.isFinite(seconds)) {
    throw new StartFailed(
      "FunctionCrashed",
      `SLESS_DRAIN_SECONDS is '${text}'; it must be a number of seconds.`,
    );
  }
  return Math.max(seconds, 0);
}

function parseCommand(text) {
  if (!text.startsWith("[")) return text || null;
  let words;
  try {
    words = JSON.parse(text);
  } catch {
    return text; // `[ -f x ] && …` is a line for the shell, too
  }
  if (!words.length || !words.every((word) => typeof word === "string")) {
    throw new StartFailed(
      "HandlerNotFound",
      `The command ${text} must be a list of strings, program first.`,
    );
  }
  return words;
}
