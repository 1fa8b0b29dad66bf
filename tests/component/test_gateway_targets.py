"""Which requests reach which function, and with which target."""

import asyncio
import subprocess
from collections.abc import Iterator

import pytest

from tests.component.gateway_rig import (
    OK,
    RunningGateway,
    answering,
    call,
    function,
    request,
    running_gateway,
)

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningGateway]:
    with running_gateway(tmp_path_factory.mktemp("gateway")) as running:
        yield running


@pytest.mark.parametrize(
    ("asked", "seen"),
    [
        ("/", "/"),
        ("/?", "/?"),
        ("/x%2Fy?q=1", "/x%2Fy?q=1"),
        ("//x", "//x"),
        ("/./%2e/%2E%2e/../a;b=c", "/./%2e/%2E%2e/../a;b=c"),
        ("/a\\b%5C%00%zz", "/a\\b%5C%00%zz"),
        ("/x_y/_z/_?_/", "/x_y/_z/_?_/"),
        ("/x?a=/../_/&b=%2f_%2f", "/x?a=/../_/&b=%2f_%2f"),
        ("/" + "p" * 8_000, "/" + "p" * 8_000),
        ("", "/"),
        ("?q=1", "/?q=1"),
    ],
)
async def test_the_function_sees_the_raw_target(
    gateway: RunningGateway, asked: str, seen: str
) -> None:
    async with function(gateway, answering(OK)) as served:
        assert (await call(gateway.port, request(f"/fn/a/b{asked}"))).status == 200
    assert served.heads[0].split(b"\r\n")[0] == f"GET {seen} HTTP/1.1".encode()


@pytest.mark.parametrize(
    "target",
    [
        "/_/health",
        "/_",
        "/_/",
        "/_?x",
        "/_/ready?x",
        "//_/health",
        "/%5f/health",
        "/%5F%2Fhealth",
        "/_%2fhealth",
        "/%2f_/health",
        "/./_/health",
        "/x/../_/health",
        "/x/%2e%2E/_/health",
        "/../_/health",
        "/_;v=1/health",
        "/;v=1/_/health",
        "/\\_\\health",
        "/%5c_/health",
        "/_/../x",
    ],
)
async def test_the_runtimes_own_paths_are_not_reachable(
    gateway: RunningGateway, target: str
) -> None:
    async with function(gateway, answering(OK)) as served:
        answer = await call(gateway.port, request(f"/fn/a/b{target}"))
    assert (answer.status, answer.problem()["reason"]) == (404, "RouteNotFound")
    assert served.heads == []


@pytest.mark.parametrize(
    "target",
    [
        "/fn/a/bc/",
        "/fn/a/",
        "/fn/a/B/",
        "/fn/aa/b/",
        "/fn/a/x.kube-system.svc/",
        "/fn/a/@evil/",
        "/fn/a/b@evil:80/",
        "/fn/a/%62/",
        "/fn//a/b/",
        "/fn/a//b/",
        "/fn/x/../a/b/",
        "/fn/a%2fb/",
    ],
)
async def test_f11_what_is_no_function_is_not_found(gateway: RunningGateway, target: str) -> None:
    async with function(gateway, answering(OK)) as served:
        answer = await call(gateway.port, request(target))
    assert (answer.status, answer.problem()["reason"]) == (404, "FunctionNotFound")
    assert answer.problem()["layer"] == "gateway"
    assert served.heads == []


@pytest.mark.parametrize("target", ["/", "/fn", "/FN/a/b/", "//fn/a/b/", "/x?/fn/a/b/"])
async def test_other_addresses_are_not_found(gateway: RunningGateway, target: str) -> None:
    async with function(gateway, answering(OK)) as served:
        answer = await call(gateway.port, request(target))
    assert (answer.status, answer.problem()["reason"]) == (404, "RouteNotFound")
    assert served.heads == []


async def test_dots_cannot_leave_the_function(gateway: RunningGateway) -> None:
    async with function(gateway, answering(OK)) as served:
        await gateway.route(served.route("b"), served.route("c"))
        await call(gateway.port, request("/fn/a/b/../c/"))
    assert served.heads[0].startswith(b"GET /../c/ ")
    assert served.headers()["x-forwarded-prefix"] == "/fn/a/b"


@pytest.mark.parametrize("method", ["TRACE", "CONNECT"])
async def test_methods_meant_for_proxies_are_refused(gateway: RunningGateway, method: str) -> None:
    target = "evil.example:80" if method == "CONNECT" else "/fn/a/b/"
    async with function(gateway, answering(OK)) as served:
        answer = await call(gateway.port, request(target, method=method))
    assert (answer.status, answer.problem()["reason"]) == (405, "MethodNotAllowed")
    assert served.heads == []


@pytest.mark.parametrize("method", ["PROPFIND", "PATCH", "MKCOL", "OPTIONS"])
async def test_other_methods_are_the_functions_to_judge(
    gateway: RunningGateway, method: str
) -> None:
    async with function(gateway, answering(OK)) as served:
        assert (await call(gateway.port, request("/fn/a/b/", method=method))).status == 200
    assert served.heads[0].startswith(f"{method} / ".encode())


async def test_an_absolute_target_names_the_host(gateway: RunningGateway) -> None:
    async with function(gateway, answering(OK)) as served:
        await call(gateway.port, request("http://Other.example:81/fn/a/b/x?y"))
    assert served.heads[0].startswith(b"GET /x?y ")
    assert served.headers()["host"] == "Other.example:81"


async def test_http_1_0(gateway: RunningGateway) -> None:
    async with function(gateway, answering(OK)) as served:
        answer = await call(gateway.port, b"GET /fn/a/b/x HTTP/1.0\r\n\r\n")
    assert (answer.status, answer.body) == (200, b"ok")
    assert served.heads[0].startswith(b"GET /x HTTP/1.1\r\n")


@pytest.mark.parametrize("option", ["--http2", "--http2-prior-knowledge"])
async def test_http_2_in_clear_text(gateway: RunningGateway, option: str) -> None:
    async with function(gateway, answering(OK)) as served:
        address = f"http://127.0.0.1:{gateway.port}/fn/a/b/x"
        process = await asyncio.create_subprocess_exec(
            "curl", "-sS", option, "-d", "data", address, stdout=subprocess.PIPE
        )
        out, _ = await process.communicate()
    assert (process.returncode, out) == (0, b"ok")
    assert served.heads[0].startswith(b"POST /x HTTP/1.1\r\n")
