/** A `(Request) => Response` function as an app. */

import { Readable } from "node:stream";

import { encodePiece, parseResult, typeOf } from "./results.mjs";

const NO_BODY = new Set(["GET", "HEAD"]);
const EMPTY_STATUS = new Set([204, 205, 304]);
const BAD_REQUEST = 400;
const NOT_ALLOWED = 405;

export class FetchApp {
  /** `fetch` takes a Request. */
  constructor(fetch) {
    this.fetch = fetch;
    this.close = null;
    this.upgrade = null;
  }

  /** Calls it and sends what it returns; throws what it throws. */
  async answer(req, res) {
    const left = new AbortController();
    res.once("close", () => {
      if (!res.writableFinished) left.abort(new DOMException("The caller left.", "AbortError"));
    });
    let request;
    try {
      request = makeRequest(req, left.signal);
    } catch (error) {
      return refuse(req, res, error);
    }
    const { fetch } = this;
    const result = await fetch(request);
    if (res.headersSent) return; // it failed meanwhile, by what nobody caught
    await send(parseResult(result), { res, head: req.method === "HEAD", signal: left.signal });
  }
}

/** The request as the web has it; throws TypeError for what it does not have, such as TRACE. */
function makeRequest(req, signal) {
  const scheme = req.headers["x-forwarded-proto"] === "https" ? "https" : "http";
  const path = req.url.startsWith("/") ? req.url : `/${req.url}`;
  const url = `${scheme}://${req.headers.host || "localhost"}${path}`;
  const body = hasBody(req) ? Readable.toWeb(req) : null;
  const request = new Request(url, { method: req.method, body, duplex: "half", signal });
  for (let at = 0; at < req.rawHeaders.length; at += 2) {
    request.headers.append(req.rawHeaders[at], req.rawHeaders[at + 1]); // given above: copied
  }
  return request;
}

function hasBody(req) {
  if (NO_BODY.has(req.method)) return false;
  return "transfer-encoding" in req.headers || Number(req.headers["content-length"] ?? 0) > 0;
}

function refuse(req, res, error) {
  const status = /method/i.test(error.message) ? NOT_ALLOWED : BAD_REQUEST;
  req.resume();
  res.writeHead(status, { "content-type": "text/plain; charset=utf-8" });
  res.end(`${error.message}\n`);
}

/** Sends a reply; nothing before its first piece, so that until then an error can be a 500. */
async function send(reply, { res, head, signal }) {
  const { status, headers, body, type } = reply;
  if (body === null || Buffer.isBuffer(body)) {
    start(res, { status, headers, type, length: body?.length ?? 0 });
    res.end(head || EMPTY_STATUS.has(status) ? undefined : (body ?? undefined));
    return;
  }
  const pieces = iterate(body);
  const stop = () => void end(body, pieces);
  signal.addEventListener("abort", stop, { once: true });
  try {
    await sendPieces(pieces, { res, head, reply });
  } finally {
    signal.removeEventListener("abort", stop);
    await end(body, pieces);
  }
}

async function sendPieces(pieces, { res, head, reply }) {
  let first = await pieces.next();
  let second = first.done ? first : pieces.next();
  const type = first.done ? null : typeOf(first.value);
  const data = first.done ? Buffer.alloc(0) : encodePiece(first.value);
  const whole = first.done || (await isOver(second));
  start(res, { ...reply, type, length: whole ? data.length : null });
  if (head || EMPTY_STATUS.has(reply.status)) {
    second = Promise.resolve(second).catch(() => undefined);
    return res.end();
  }
  await write(res, data);
  for (let piece = await second; !piece.done; piece = await pieces.next()) {
    await write(res, encodePiece(piece.value));
  }
  res.end();
}

/** Whether there is no further piece, as far as that is known at once: then the length is. */
async function isOver(next) {
  const later = new Promise((settle) => setImmediate(settle, null));
  const piece = await Promise.race([next.catch(() => null), later]);
  return piece?.done ?? false;
}

function start(res, { status, headers, type, length }) {
  const cookies = headers.filter(([name]) => name === "set-cookie").map(([, value]) => value);
  for (const [name, value] of headers) res.setHeader(name, value);
  if (cookies.length > 0) res.setHeader("set-cookie", cookies);
  if (EMPTY_STATUS.has(status)) {
    res.removeHeader("content-length");
  } else {
    if (type && !res.hasHeader("content-type")) res.setHeader("content-type", type);
    if (length !== null && !res.hasHeader("content-length")) res.setHeader("content-length", length);
  }
  res.writeHead(status);
}

/** Writes a piece, and waits while the caller does not take what is there. */
function write(res, data) {
  if (res.destroyed) throw new DOMException("The caller left.", "AbortError");
  if (data.length === 0 || res.write(data)) return undefined;
  return new Promise((settle) => {
    const done = () => {
      res.off("drain", done);
      res.off("close", done);
      settle();
    };
    res.on("drain", done);
    res.on("close", done);
  });
}

function iterate(body) {
  if (body instanceof ReadableStream) {
    const reader = body.getReader();
    // Its own iterator would not be stopped while a piece is awaited.
    return { next: () => reader.read(), return: () => reader.cancel() };
  }
  return body[Symbol.asyncIterator]?.() ?? asynchronously(body);
}

async function* asynchronously(body) {
  yield* body;
}

/** Has a stream or generator stop and run its `finally`. */
async function end(body, pieces) {
  try {
    if (typeof body.destroy === "function") body.destroy();
    await pieces.return?.();
  } catch {
    // what it throws on being stopped is nobody's
  }
}
