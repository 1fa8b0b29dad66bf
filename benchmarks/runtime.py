"""What the function runtime costs: start-up, and CPU per request against bare uvicorn.

    python -m benchmarks.runtime [requests]

Ratios within one run are what to compare: the machine may be shared. The CPU is the server's own,
from /proc, so that the load generator does not count.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import uv

from sless.dependencies import Language
from sless.runtime import runtime_files
from tests.component.runtime.function_process import FunctionProcess, free_port, write_files

CONNECTIONS = 8
TICKS = os.sysconf("SC_CLK_TCK")

ASGI = """
async def app(scope, receive, send):
    assert scope["type"] == "http"
    head = [(b"content-type", b"text/plain"), (b"content-length", b"5")]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    await send({"type": "http.response.body", "body": b"hello"})
"""
WSGI = """
def app(environ, start_response):
    start_response("200 OK", [("content-type", "text/plain"), ("content-length", "5")])
    return [b"hello"]
"""
CODE: Mapping[str, Mapping[str, str]] = {
    "ASGI app": {"main.py": ASGI},
    "async handler": {"handler.py": "async def handler(request): return 'hello'"},
    "plain handler": {"handler.py": "def handler(request): return 'hello'"},
    "WSGI app": {"app.py": WSGI},
}
BARE = """
import uvicorn
from main import app
uvicorn.run(app, host="127.0.0.1", port=int(__import__("os").environ["PORT"]), http="h11",
            access_log=False, log_level="critical", loop="asyncio")
"""


def cpu_seconds(pid: int) -> float:
    """User and system time of that process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident_mib(pid: int) -> float:
    """Memory of that process, in MiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


async def load(port: int, requests: int) -> None:
    """So many requests over a few kept connections."""

    async def one(count: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(count):
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(5)
        writer.close()

    await asyncio.gather(*(one(requests // CONNECTIONS) for _ in range(CONNECTIONS)))


def measure(name: str, *, pid: int, port: int, requests: int) -> float:
    """Prints and answers the CPU per request, in microseconds."""
    asyncio.run(load(port, 400))
    before, began = cpu_seconds(pid), time.perf_counter()
    asyncio.run(load(port, requests))
    cpu = (cpu_seconds(pid) - before) / requests * 1e6
    rate = requests / (time.perf_counter() - began)
    print(
        f"{name:16} {cpu:6.0f} µs CPU a request, {rate:6.0f} a second, {resident_mib(pid):.0f} MiB"
    )
    return cpu


def measure_bare(folder: Path, site: Path, *, requests: int) -> float:
    """The same ASGI app on uvicorn alone."""
    code = write_files(folder / "bare", {"main.py": ASGI, "bare.py": BARE})
    port = free_port()
    environ = {"PYTHONPATH": f"{code}{os.pathsep}{site}", "PORT": str(port)}
    process = subprocess.Popen([sys.executable, code / "bare.py"], env=environ)
    try:
        wait_for_port(port)
        return measure("bare uvicorn", pid=process.pid, port=port, requests=requests)
    finally:
        process.kill()
        process.wait()


def wait_for_port(port: int) -> None:
    """Returns when something listens there."""

    async def connect() -> None:
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.02)
            else:
                writer.close()
                return

    asyncio.run(asyncio.wait_for(connect(), 20))


def lay_out(folder: Path) -> tuple[Path, Path]:
    """The runtime and its packages, as a build has them."""
    runtime = folder / "runtime"
    for name, content in runtime_files(Language.PYTHON).items():
        path = runtime / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    site = folder / "site"
    lock = Path(__file__).parents[1] / "requirements" / "function.txt"
    install = [uv.find_uv_bin(), "pip", "install", "--quiet", "--compile-bytecode"]
    subprocess.run([*install, "--target", str(site), "-r", str(lock)], check=True)
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(runtime)], check=True)
    return runtime, site


def main() -> None:
    """Prints one line per kind of function."""
    requests = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        runtime, site = lay_out(folder)
        bare = measure_bare(folder, site, requests=requests)
        for name, files in CODE.items():
            home = folder / name
            code = write_files(home / "code", files)
            program = (sys.executable, str(runtime / "launch.py"))
            with FunctionProcess(home, program, site, code) as function:
                started = cpu_seconds(function.pid)
                cost = measure(name, pid=function.pid, port=function.port, requests=requests)
                print(f"{'':16} {cost / bare:6.2f} of bare uvicorn; start-up {started:.2f} s CPU")


if __name__ == "__main__":
    main()
