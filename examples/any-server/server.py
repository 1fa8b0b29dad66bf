"""A server of its own, with nothing but the standard library: any program will do."""

import os
import signal
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Hello(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = f"Hello from a server of its own, at {self.path}\n".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main():
    address = (os.environ.get("HOST", "0.0.0.0"), int(os.environ["PORT"]))
    server = ThreadingHTTPServer(address, Hello)

    def stop(_number, _frame):  # from another thread: shutdown waits for the loop below
        threading.Thread(target=server.shutdown).start()

    signal.signal(signal.SIGTERM, stop)
    server.serve_forever()


if __name__ == "__main__":
    main()
