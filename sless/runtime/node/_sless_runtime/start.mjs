/** Starts one function; the composition of everything else here. */

import { statSync } from "node:fs";

import { findCommand, runCommand } from "./command.mjs";
import { StartFailed, describe, renderStack, report, say } from "./failure.mjs";
import { Front } from "./front.mjs";
import { makeApp } from "./kinds.mjs";
import { importFailed, watchImport } from "./loading.mjs";
import { findFunction } from "./search.mjs";
import { drainOnSignal, listen } from "./server.mjs";
import { cleanEnvironment, parseSettings } from "./settings.mjs";

/** Runs the function; the process's exit code is 1 when it did not start. */
export async function run() {
  const log = process.env.SLESS_TERMINATION_LOG;
  try {
    const settings = parseSettings(process.env);
    await start(settings);
  } catch (thrown) {
    leave(thrown, log);
  }
}

async function start(settings) {
  if (!statSync(settings.code, { throwIfNoEntry: false })?.isDirectory()) {
    const message = `There is no folder ${settings.code} with the code.`;
    throw new StartFailed("HandlerNotFound", message);
  }
  process.chdir(settings.code);
  const command = findCommand(settings);
  cleanEnvironment(process.env, settings);
  if (command === null) await serve(settings);
  else process.exit(await runCommand(command, { environ: { ...process.env } }));
}

async function serve(settings) {
  const leaveEarly = () => process.reallyExit(0); // a container's first process ignores SIGTERM
  process.once("SIGTERM", leaveEarly);
  const app = await load(settings);
  const front = new Front(app);
  outliveErrors(front, settings);
  const server = await listen(front, { ...settings, app });
  drainOnSignal(server, { front, app, drainSeconds: settings.drainSeconds });
  process.off("SIGTERM", leaveEarly);
}

/** Imports the function; whatever ends the process meanwhile is told as the reason. */
async function load(settings) {
  const imported = watchImport(settings.log);
  const crash = (thrown) => leave(importFailed(thrown, settings.code), settings.log);
  process.on("uncaughtException", crash);
  const { target, where } = await findFunction(settings);
  const app = await makeApp(target, where);
  await new Promise(setImmediate); // for rejections that nobody awaited
  process.off("uncaughtException", crash);
  imported();
  return app;
}

/** What nobody caught fails its request; outside of one it ends the process, as Node has it. */
function outliveErrors(front, settings) {
  const heed = (thrown) => {
    if (front.failCurrent(thrown)) return;
    say(renderStack(thrown));
    const message = `Outside of any request: ${describe(thrown)}`;
    leave(new StartFailed("FunctionCrashed", message), settings.log);
  };
  process.on("uncaughtException", heed);
  process.on("unhandledRejection", heed);
}

/** Ends the process; what is no `StartFailed` is a defect of ours, and must not be silent. */
function leave(thrown, log) {
  if (thrown instanceof StartFailed) {
    report(thrown, log);
  } else {
    say(renderStack(thrown));
    report(new StartFailed("FunctionCrashed", describe(thrown)), log);
  }
  process.reallyExit(1); // by process.exit() `watchImport` would hear of it
}
