/**
 * Level 0: the function is a program that serves HTTP on $PORT.
 *
 * Its command comes from the settings or from the `web:` line of a Procfile. Node cannot become
 * another program, so it stays before it: signals go to the program, and its exit code is ours.
 */

import { spawn } from "node:child_process";
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { constants as system } from "node:os";
import { resolve } from "node:path";

import { StartFailed } from "./failure.mjs";

const WEB = /^web[ \t]*:[ \t]*(\S.*)$/m;
const FILLED_IN = /\$(?:(PORT|HOST)\b|\{(PORT|HOST)\}|\((PORT|HOST)\))/g;
const SHELL_ONLY = /[|&;<>()$`\\"'*?[\]{}#~=!]/;
const SEVERAL = /[;&|\n]/;
const ASSIGNMENT = /^[A-Za-z_]\w*=/;
const SHELL_WORDS =
  /^([.:]|break|case|cd|command|continue|eval|exec|exit|export|for|if|read|set|shift|source|test|trap|ulimit|umask|unset|until|wait|while)$/;
const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR2", "SIGWINCH"];
/** As shells count an end by a signal, where we cannot end so ourselves. */
const KILLED = 128;

/** What to run instead of a handler, if anything: settings, then handler, then Procfile. */
export function findCommand(settings) {
  if (settings.command !== null || settings.handler !== null) return settings.command;
  return findWebLine(settings.code);
}

/** Whether there is a Procfile, of whatever content. */
export function hasProcfile(code) {
  return readProcfile(code) !== null;
}

/** Runs the program to its end; the exit code. Throws `StartFailed` if there is none. */
export function runCommand(command, { environ }) {
  const words = typeof command === "string" ? shellWords(command) : fillIn(command, environ);
  if (typeof command === "string") checkLine(command, environ);
  else checkProgram(words[0], environ);
  return new Promise((settle, fail) => {
    const child = spawn(words[0], words.slice(1), { env: environ, stdio: "inherit" });
    for (const name of SIGNALS) process.on(name, () => child.kill(name));
    child.on("error", (error) => {
      fail(new StartFailed("HandlerNotFound", `${words[0]} cannot be run: ${error.message}.`));
    });
    child.on("exit", (code, signal) => {
      if (signal) endBy(signal);
      settle(code ?? KILLED + system.signals[signal]);
    });
  });
}

/** Ends this process as the program's ended; a container's first one outlives it. */
function endBy(signal) {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/** The command of the Procfile's `web` process, if there is one. */
function findWebLine(code) {
  return WEB.exec(readProcfile(code) ?? "")?.[1].trim() ?? null;
}

function readProcfile(code) {
  try {
    return readFileSync(resolve(code, "Procfile"), "utf8").replace(/^\ufeff/, "");
  } catch {
    return null;
  }
}

/**
 * The line, with `exec` before it if it is one plain command: a shell that stays would take
 * SIGTERM and leave the program behind.
 */
function shellWords(line) {
  const first = line.split(" ", 1)[0];
  const plain = !SEVERAL.test(line) && !SHELL_WORDS.test(first) && !/^[({[]/.test(first);
  const exec = ASSIGNMENT.test(line) ? "exec env" : "exec";
  return ["/bin/sh", "-c", plain ? `${exec} ${line}` : line];
}

/** A list's words with `$PORT` and `$HOST` filled in, and nothing else: no shell reads a list. */
function fillIn(words, environ) {
  return words.map((word) =>
    word.replace(FILLED_IN, (_, ...names) => environ[names.slice(0, 3).find(Boolean)] ?? ""),
  );
}

/** Only a plain first word is looked for; what else a shell can do is its own affair. */
function checkLine(line, environ) {
  const first = line.trim().split(/\s+/, 1)[0];
  if (first && !SHELL_ONLY.test(first) && !SHELL_WORDS.test(first)) checkProgram(first, environ);
}

function checkProgram(program, environ) {
  const folders = program.includes("/") ? ["."] : (environ.PATH ?? "").split(":");
  if (folders.some((folder) => isExecutable(resolve(folder, program)))) return;
  if (isFile(program)) {
    const cure = `chmod +x ${program}, or start it by its interpreter.`;
    throw new StartFailed("HandlerNotFound", `${program} is not executable: ${cure}`);
  }
  const cure = "add it to the code or, if a package brings it, to package.json.";
  throw new StartFailed("HandlerNotFound", `There is no program '${program}' to run: ${cure}`);
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return isFile(path);
  } catch {
    return false;
  }
}

function isFile(path) {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
