/**
 * Starts a function: `node launch.mjs`, with everything told by the environment.
 *
 * It needs Node.js 20 or newer and nothing besides.
 */

import { run } from "./_sless_runtime/start.mjs";

await run();
