/** Node's HTTP server, set up for a function behind a gateway, and its way to an end. */

import { createServer } from "node:http";

import { StartFailed, say } from "./failure.mjs";

/** Longer than a gateway keeps an idle connection, so that it is never closed under a request. */
const KEEP_ALIVE_MS = 620_000;
/** Bytes of a request's head: what Envoy lets through by default, and a little more. */
const HEADERS_MAX = 64 * 1024;
/** After the drain: for what the function does on shutdown, before the process ends anyway. */
const LAST_MS = 2000;
const SECOND_MS = 1000;

/** A server that listens; throws `StartFailed`. */
export async function listen(front, { app, host, port }) {
  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_MS, maxHeaderSize: HEADERS_MAX, requestTimeout: 0 },
    (req, res) => front.answer(req, res),
  );
  if (app.upgrade) server.on("upgrade", app.upgrade);
  const listensAlready = process.getActiveResourcesInfo().includes("TCPServerWrap");
  await new Promise((settle, fail) => {
    server.once("error", (error) => fail(taken(error, { host, port, listensAlready })));
    server.listen({ host, port }, settle);
  });
  return server;
}

/** Drains on SIGTERM, then ends the process with 0. */
export function drainOnSignal(server, { front, app, drainSeconds }) {
  const drain = async () => {
    if (front.draining) return;
    front.drain();
    leaveAfter(drainSeconds * SECOND_MS + LAST_MS);
    const giveUp = setTimeout(() => front.giveUp(), drainSeconds * SECOND_MS);
    await closed(server);
    clearTimeout(giveUp);
    leaveAfter(LAST_MS);
    await app.close?.();
    process.exit(0);
  };
  for (const name of ["SIGTERM", "SIGINT"]) process.on(name, drain);
}

/** Once no connection is left; connections without a request are closed at once. */
function closed(server) {
  return new Promise((settle) => {
    server.close(settle);
    server.closeIdleConnections();
  });
}

function leaveAfter(milliseconds) {
  const last = setTimeout(() => {
    say("sless: still busy after the drain; leaving.");
    process.reallyExit(0);
  }, milliseconds);
  last.unref();
}

function taken(error, { host, port, listensAlready }) {
  const why = error.code === "EADDRINUSE" ? "Address already in use" : error.message;
  const cure = listensAlready
    ? " The code listens by itself while it is imported: leave its listen() away, or start it " +
      "as a program by a Procfile."
    : "";
  return new StartFailed("FunctionCrashed", `Port ${port} on ${host} cannot be had: ${why}.${cure}`);
}
