/** What a fetch-style function may return, and the status, headers and pieces that it means. */

import { types } from "node:util";

const TEXT = "text/plain; charset=utf-8";
const BYTES = "application/octet-stream";
const JSON_TYPE = "application/json";

const NO_CONTENT = 204;
const OK = 200;
/** The server's affair, whatever the function says. */
const FRAMING = new Set(["transfer-encoding", "connection", "keep-alive"]);

/** Whether it is a Response: Node's own, or one of a package. */
export function isResponse(value) {
  return (
    value instanceof Response ||
    (typeof value?.headers?.forEach === "function" && typeof value.arrayBuffer === "function")
  );
}

/**
 * The reply that a result means; throws TypeError for what is none.
 *
 * `body` is null, bytes, or something iterable by `for await`; `type` is the content type if the
 * headers name none, null if the first piece is to tell.
 */
export function parseResult(result) {
  if (result === undefined || result === null) return reply(NO_CONTENT, null);
  if (isResponse(result)) return parseResponse(result);
  if (typeof result === "string") return reply(OK, Buffer.from(result), TEXT);
  if (isBytes(result)) return reply(OK, toBytes(result), BYTES);
  if (result instanceof Blob) return parseResponse(new Response(result));
  if (isStream(result)) return reply(OK, result, null);
  if (typeof result === "object") return reply(OK, Buffer.from(encodeJson(result)), JSON_TYPE);
  throw new TypeError(
    `The handler returned a ${typeof result}; it must be a Response, a string, bytes, an object ` +
      "for JSON, a stream or iterator, or nothing.",
  );
}

/** The content type that a stream's first piece tells. */
export function typeOf(piece) {
  return typeof piece === "string" ? TEXT : BYTES;
}

/** The bytes of one streamed piece; throws TypeError. */
export function encodePiece(piece) {
  if (typeof piece === "string") return Buffer.from(piece);
  if (isBytes(piece)) return toBytes(piece);
  throw new TypeError(`The handler streamed a ${typeof piece}; pieces are strings or bytes.`);
}

function reply(status, body, type = null) {
  return { status, headers: [], body, type };
}

function parseResponse(response) {
  // Node's own fetch has decoded the body that it passes on.
  const decoded = response.url && response.headers.get("content-encoding");
  const left = decoded ? new Set(["content-encoding", "content-length"]) : new Set();
  const headers = [];
  response.headers.forEach((value, name) => {
    if (!FRAMING.has(name) && !left.has(name)) headers.push([name, value]);
  });
  if (response.status < OK) throw new TypeError("The handler returned Response.error().");
  return { status: response.status, headers, body: response.body, type: null };
}

function isBytes(value) {
  return ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value);
}

function toBytes(value) {
  if (!ArrayBuffer.isView(value)) return Buffer.from(value);
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

/** An iterator or stream; an array or a map is none, though it can be iterated. */
function isStream(value) {
  if (typeof value[Symbol.asyncIterator] === "function") return true;
  return typeof value[Symbol.iterator] === "function" && typeof value.next === "function";
}

function encodeJson(value) {
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError("The handler returned what JSON cannot hold.");
  return text;
}
