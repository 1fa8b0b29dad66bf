/**
 * Why a function did not start: one reason, one sentence, and the function's part of a stack.
 *
 * The reasons are words of the platform's error tree: HandlerNotFound, HandlerImportFailed and
 * FunctionCrashed.
 */

import { writeFileSync, writeSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";

/** Characters of a message: Kubernetes keeps 4096 bytes of a termination log. */
const MESSAGE_MAX = 1000;
const STDERR = 2;
const OWN_ROOT = fileURLToPath(new URL(".", import.meta.url));

/** The function cannot be started; the message is one sentence for its author. */
export class StartFailed extends Error {
  constructor(reason, message) {
    super(message);
    this.reason = reason;
  }
}

/** What was thrown, in one line, as a stack begins: `TypeError: no such colour`. */
export function describe(thrown) {
  if (!(thrown instanceof Error) && typeof thrown?.message !== "string") {
    return oneLine(`Thrown: ${inspect(thrown, { depth: 1 })}`);
  }
  const message = String(thrown.message).split("\nRequire stack:")[0];
  return oneLine(message ? `${thrown.name}: ${message}` : String(thrown.name));
}

/** A stack without the frames of the runtime and of Node itself; its causes below it. */
export function renderStack(thrown) {
  const lines = inspect(thrown).split("\n");
  return lines.filter((line) => !isForeignFrame(line)).join("\n");
}

/** Says it on stderr for people, and in the termination log as one line of JSON. */
export function report(failed, log) {
  const message = oneLine(failed.message).slice(0, MESSAGE_MAX);
  say(`sless: ${failed.reason}: ${message}`);
  if (log) {
    try {
      writeFileSync(log, `${JSON.stringify({ reason: failed.reason, message })}\n`);
    } catch {
      // stderr has it; there is nobody else to tell
    }
  }
}

/** Writes a line to stderr, at once: the process may end next. */
export function say(line) {
  const data = Buffer.from(`${line}\n`);
  for (let sent = 0; sent < data.length; ) {
    try {
      sent += writeSync(STDERR, data, sent);
    } catch (error) {
      if (error.code !== "EAGAIN") return; // nobody reads any more
    }
  }
}

function isForeignFrame(line) {
  return /^\s+at /.test(line) && (line.includes(OWN_ROOT) || /[( ]node:/.test(line));
}

function oneLine(text) {
  return text
    .split("\n")
    .map((part) => part.trim())
    .filter(Boolean)
    .join("; ");
}
