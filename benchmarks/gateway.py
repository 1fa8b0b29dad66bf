"""What the gateway costs with 1, 1 000 and 5 000 functions.

Run with `python -m benchmarks.gateway`.

Envoy's CPU per request, memory, and the time from a change to Envoy routing it.
"""

import asyncio
import os
import tempfile
from pathlib import Path
from time import perf_counter, process_time

from sless.gateway.route import Endpoint, Route
from tests.component.gateway_rig import RunningGateway, running_gateway

COUNTS = (1, 1_000, 5_000)
REQUESTS = 20_000
CONNECTIONS = 16
CHANGES = 5
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
TICKS = os.sysconf("SC_CLK_TCK")


class Function(asyncio.Protocol):
    """Answers each request head at once."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep it to answer on."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """One answer for each empty line."""
        self.transport.write(ANSWER * data.count(b"\r\n\r\n"))


def cpu_seconds(pid: int) -> float:
    """User and system time so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory_mib(pid: int) -> int:
    """Resident now."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) // 1024


async def load(port: int, name: str, requests: int) -> None:
    """One connection's share."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for _ in range(requests):
        writer.write(b"GET /fn/team/%s/x HTTP/1.1\r\nHost: x\r\n\r\n" % name.encode())
        await reader.readuntil(b"\r\n\r\nok")
    writer.close()


async def measure(gateway: RunningGateway, count: int) -> None:
    """One line of the table."""
    server = await asyncio.get_running_loop().create_server(Function, "127.0.0.1", 0)
    endpoint = Endpoint("127.0.0.1", server.sockets[0].getsockname()[1])
    names = [f"function-{number}" for number in range(count)]
    routes = [Route("team", name, "uid", 1, (endpoint,)) for name in names]
    await gateway.route(*routes)
    # One is busy, on as many connections in each line: the question is what the others cost it.
    pid = gateway.envoy_pid()
    await load(gateway.port, names[-1], 500)
    before = cpu_seconds(pid)
    share = REQUESTS // CONNECTIONS
    await asyncio.gather(*(load(gateway.port, names[-1], share) for _ in range(CONNECTIONS)))
    per_request = (cpu_seconds(pid) - before) / (share * CONNECTIONS)
    moved = await measure_changes(gateway, routes, new_names=False)
    added = await measure_changes(gateway, routes, new_names=True)
    print(f"{count:9} {per_request * 1e6:11.0f} {memory_mib(pid):11}   {moved}   {added}")
    server.close()


async def measure_changes(gateway: RunningGateway, routes: list[Route], *, new_names: bool) -> str:
    """Medians over changes of one function among these: seconds, Envoy's and our own CPU."""
    pid = gateway.envoy_pid()
    figures = []
    for generation in range(2, 2 + CHANGES):
        name = f"new-{generation}" if new_names else routes[0].name
        changed = Route("team", name, "uid", generation, routes[0].endpoints)
        others = routes if new_names else routes[1:]
        before = (perf_counter(), cpu_seconds(pid), process_time())
        await gateway.route(changed, *others)
        after = (perf_counter(), cpu_seconds(pid), process_time())
        figures.append([late - early for early, late in zip(before, after, strict=True)])
    middle = [sorted(column)[CHANGES // 2] for column in zip(*figures, strict=True)]
    return " ".join(f"{value:6.2f}" for value in middle)


def main() -> None:
    """Print the table."""
    print("functions  µs/request  memory MiB   move: s  Envoy    we    add: s  Envoy    we")
    for count in COUNTS:
        with tempfile.TemporaryDirectory() as folder, running_gateway(Path(folder)) as gateway:
            asyncio.run(measure(gateway, count))


if __name__ == "__main__":
    main()
