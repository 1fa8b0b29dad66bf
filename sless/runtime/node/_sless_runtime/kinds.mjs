/**
 * How an object is called, decided before the first request by what it is.
 *
 * A function of two arguments or more is `(req, res)`, as Node and Express have it; one of fewer is
 * `(Request) => Response`. What has a method `fetch` is fetch-style, whatever its arguments.
 */

import { Server } from "node:http";

import { StartFailed, describe, renderStack, say } from "./failure.mjs";
import { FetchApp } from "./fetching.mjs";
import { NodeApp } from "./listening.mjs";

const NODE_ARGUMENTS = 2;

/**
 * The app of an object: `answer(req, res)`, and `close()` for the end; throws `StartFailed`.
 *
 * `where` names the object in messages.
 */
export async function makeApp(target, where) {
  if (typeof target?.fetch === "function") return new FetchApp((request) => target.fetch(request));
  if (target instanceof Server) return serverApp(target, where);
  if (isFastify(target)) return fastifyApp(target, where);
  if (typeof target?.callback === "function") return new NodeApp(target.callback(), where); // Koa
  if (typeof target !== "function") throw notCallable(where, `is ${nameType(target)}`);
  if (/^class\b/.test(Function.prototype.toString.call(target))) {
    throw notCallable(where, "is a class; export an instance of it, or a function");
  }
  return target.length >= NODE_ARGUMENTS ? new NodeApp(target, where) : new FetchApp(target);
}

/** A server that does not listen: its listeners answer. */
function serverApp(server, where) {
  if (server.listening) {
    throw notCallable(where, "listens by itself; leave its listen() away, or name it in a Procfile");
  }
  const upgrade = (...args) => server.emit("upgrade", ...args);
  return new NodeApp((req, res) => void server.emit("request", req, res), where, {
    upgrade: server.listenerCount("upgrade") > 0 ? upgrade : null,
  });
}

async function fastifyApp(app, where) {
  try {
    await app.ready();
  } catch (thrown) {
    say(renderStack(thrown));
    throw new StartFailed("FunctionCrashed", `The app's startup failed: ${describe(thrown)}`);
  }
  return new NodeApp((req, res) => app.routing(req, res), where, { close: () => app.close() });
}

function isFastify(target) {
  return typeof target?.ready === "function" && typeof target.routing === "function";
}

function nameType(target) {
  if (target === null) return "null, which nobody can call";
  if (typeof target !== "object") return `a ${typeof target}, which nobody can call`;
  const names = Object.keys(target).slice(0, 5).join(", ");
  return `an object without a fetch method${names ? ` (it has ${names})` : ""}`;
}

function notCallable(where, problem) {
  return new StartFailed("HandlerNotFound", `${where} ${problem}.`);
}
