// A Temporal whose operator lets nobody at search attributes: it answers each call by a gRPC status.
// Arguments: a JSON object of statuses by method; a method that is not in it answers an empty message.
import http2 from "node:http2";

const statuses = JSON.parse(process.argv[2]);
const server = http2.createServer();

server.on("stream", (stream, headers) => {
  const method = headers[":path"].split("/").pop();
  const status = String(statuses[method] ?? 0);
  const answer = { ":status": 200, "content-type": "application/grpc" };
  if (status !== "0") {
    stream.respond({ ...answer, "grpc-status": status, "grpc-message": "no" }, { endStream: true });
    return;
  }
  stream.respond(answer, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.end(Buffer.alloc(5)); // a frame of no bytes: every field has its default
});

server.listen(0, "127.0.0.1", () => console.log(server.address().port));
