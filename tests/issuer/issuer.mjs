// A real OpenID Connect issuer on the loopback, for tests: `node issuer.mjs [port]`.
//
// Told by lines of JSON on standard input, each answered by one: {"keys": [private JWKs]} rotates
// to those keys; {} only answers. An answer: {"issuer": URL, "served": {path: requests}}.

import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { Provider } from "oidc-provider";

const AUDIENCE = "urn:sless";
const ALGORITHMS = ["RS256", "ES256", "EdDSA"];
const GROUPS = ["team-a", "team-b", "everybody"];

// oidc-provider warns on standard output of what is right for tests; answers are there.
console.info = console.warn = console.error;

let handle;
const served = {};
const server = createServer((request, response) => {
  const path = request.url.split("?")[0];
  served[path] = (served[path] ?? 0) + 1;
  handle(request, response);
});

function makeProvider(keys) {
  return new Provider(issuer, {
    jwks: { keys },
    // One client per algorithm: it asks for its tokens by its own name.
    clients: ALGORITHMS.map((algorithm) => ({
      client_id: algorithm,
      client_secret: "for tests",
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
    })),
    enabledJWA: { idTokenSigningAlgValues: ALGORITHMS },
    extraTokenClaims: () => ({ groups: GROUPS }),
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => AUDIENCE,
        getResourceServerInfo: (_context, resource, client) => ({
          audience: resource,
          scope: "",
          accessTokenFormat: "jwt",
          accessTokenTTL: 60,
          jwt: { sign: { alg: client.clientId } },
        }),
      },
    },
  });
}

await new Promise((resolve) => server.listen(Number(process.argv[2] ?? 0), "127.0.0.1", resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;

for await (const line of createInterface({ input: process.stdin })) {
  const { keys } = JSON.parse(line);
  if (keys) {
    handle = makeProvider(keys).callback();
  }
  process.stdout.write(`${JSON.stringify({ issuer, served })}\n`);
}
process.exit();
