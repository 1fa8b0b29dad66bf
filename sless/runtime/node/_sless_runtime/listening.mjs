/** A `(req, res)` function as an app. */

import { ServerResponse } from "node:http";

import { isResponse } from "./results.mjs";

export class NodeApp {
  constructor(listener, where, { close = null, upgrade = null } = {}) {
    this.listener = listener;
    this.where = where;
    this.close = close;
    this.upgrade = upgrade;
  }

  /** Calls it; what it returns says nothing, since `res` may be ended any time later. */
  async answer(req, res) {
    const returned = await this.listener(req, res);
    const kind = nameMistake(returned);
    if (kind && !res.headersSent) {
      throw new TypeError(
        `${this.where} takes two arguments, so it was called as (req, res), and returned ${kind}; ` +
          "take one argument, the Request, or export an object with a fetch method.",
      );
    }
  }
}

/** What was returned by a function that was not meant to be called as (req, res), if so. */
function nameMistake(returned) {
  if (isResponse(returned)) return "a Response";
  const ofLambda = typeof returned?.statusCode === "number" && "body" in returned;
  return ofLambda && !(returned instanceof ServerResponse) ? "what AWS Lambda has it return" : null;
}
