/** A `(req, res)` function as an app. */

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
    if (isResponse(returned) && !res.headersSent) {
      throw new TypeError(
        `${this.where} takes two arguments, so it was called as (req, res), and returned a ` +
          "Response; take one argument, the Request, or export an object with a fetch method.",
      );
    }
  }
}
