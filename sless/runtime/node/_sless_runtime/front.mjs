/** What stands around every app: health, drain and errors. */

import { AsyncLocalStorage } from "node:async_hooks";

import { renderStack, say } from "./failure.mjs";

const OWN_PATH = /^\/_(?:[/?]|$)/;
const SERVER_ERROR = "The function raised an error; its log has the stack.\n";
const GOING_DOWN = "The function is shutting down.\n";

export class Front {
  #app;
  #requests = new AsyncLocalStorage();
  /** Responses under way. */
  #open = new Set();
  draining = false;

  constructor(app) {
    this.#app = app;
  }

  /** Answers one request; never throws. */
  answer(req, res) {
    if (this.draining) res.shouldKeepAlive = false;
    if (OWN_PATH.test(req.url)) return answerOwn(req, res, this.draining);
    this.#open.add(res);
    res.once("close", () => this.#open.delete(res));
    return this.#requests.run({ req, res }, async () => {
      try {
        await this.#app.answer(req, res);
      } catch (thrown) {
        fail(req, res, thrown);
      }
    });
  }

  /** Fails the request in which something was thrown that nobody caught; whether there was one. */
  failCurrent(thrown) {
    const current = this.#requests.getStore();
    if (current) fail(current.req, current.res, thrown);
    return current !== undefined;
  }

  /** From now on no connection outlives its answer. */
  drain() {
    this.draining = true;
    for (const res of this.#open) if (!res.headersSent) res.shouldKeepAlive = false;
  }

  /** Answers what is still under way: 503 where nothing was sent, a cut where something was. */
  giveUp() {
    for (const res of this.#open) {
      if (res.headersSent) res.destroy();
      else sendText(res, { status: 503, text: GOING_DOWN });
    }
  }
}

function answerOwn(req, res, draining) {
  const path = req.url.split("?", 1)[0];
  req.resume();
  if (path === "/_/health") sendStatus(res, 200, "alive");
  else if (path !== "/_/ready") sendStatus(res, 404, "unknown");
  else if (draining) sendStatus(res, 503, "draining");
  else sendStatus(res, 200, "ready");
}

/** The request and the stack on stderr, and a 500 if there is still time for one. */
function fail(req, res, thrown) {
  if (res.destroyed && thrown?.name === "AbortError") return; // the caller left
  const id = req.headers["x-request-id"];
  say(`sless: ${req.method} '${req.url.split("?", 1)[0]}' failed${id ? ` (request ${id})` : ""}`);
  say(renderStack(thrown));
  if (!res.headersSent) sendText(res, { status: 500, text: SERVER_ERROR });
  else if (!res.writableEnded) res.destroy();
}

function sendStatus(res, status, word) {
  sendWhole(res, { status, type: "application/json", text: `{"status":"${word}"}\n` });
}

function sendText(res, { status, text }) {
  for (const name of res.getHeaderNames()) res.removeHeader(name);
  sendWhole(res, { status, type: "text/plain; charset=utf-8", text });
}

function sendWhole(res, { status, type, text }) {
  res.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(text) });
  res.end(text);
}
